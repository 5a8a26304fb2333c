"""Registered operations in the one registry: what type their results have, and that they have it.

A type rule is Python that the specialiser reads, so that it knows the sizes of results while they are
symbols; called with arrays, it says what the function must have returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.core import ArrayType, Variable, type_of
from ..codegen.forms import FORMS
from ..codegen.naming import RESERVED
from ..codegen.primitives.elementwise import elementwise
from ..codegen.registered import REGISTERED, keep
from ..codegen.registry import PRIMITIVES, Primitive, primitive
from ..codegen.specialise import inline
from ..codegen.statements import STATEMENTS
from ..codegen.trees import call as call_tree
from ..codegen.trees import constant
from .keywords import taken
from .shapes import ShapeDtype


def made(name: str, function: Callable, type: Any) -> Primitive:
    """A primitive of the registry, under a name that no other has."""
    identifier = keep(
        function, name, lambda n: n in PRIMITIVES or n in FORMS or n in STATEMENTS or n in RESERVED
    )
    printed = lambda *trees, **static: call_tree(
        identifier, *trees, **{key: constant(value) for key, value in static.items()}
    )
    if type is None and isinstance(function, np.ufunc) and function.nout == 1:
        core = elementwise(identifier, function, printed=printed)
        core.implementation = Called(name, function, None)
    elif type == "elementwise":
        core = elementwise(identifier, function, printed=printed, dtype_of=floating)
        core.implementation = Called(name, function, None)
    elif callable(type):
        rule = TypeRule(name, type)
        core = primitive(identifier, Called(name, function, rule), rule.symbolic, printed=printed)
    else:
        del REGISTERED[identifier]
        raise TypeError(
            f"primitive {name!r} needs a type rule: type=function of the arguments that returns one of them, "
            "for a result like it, or (shape, dtype); a tuple of these for several results; or "
            "type='elementwise' for a function that broadcasts as NumPy's do"
        )
    REGISTERED[identifier] = core.implementation
    core.lowerings["numpy"] = function
    return core


def floating(types: tuple[ArrayType, ...]) -> np.dtype:
    """The dtype of the result of an elementwise function: the operands', floating-point at least."""
    kinds = [
        {"b": np.float64, "i": 0.0, "f": 0.0, "c": 0j}[t.dtype.kind] if t.weak else t.dtype for t in types
    ]
    found = np.result_type(*kinds)
    return found if found.kind in "fc" else np.dtype(np.float64)


class TypeRule:
    """A user's type rule: read for symbolic sizes, called for arrays."""

    def __init__(self, name: str, rule: Callable):
        self.name, self.rule = name, rule

    def symbolic(self, builder: Any, *operands: Any, **static: Any) -> Any:
        return self.types(inline(builder, self.rule, operands, taken(self.rule, static)))

    def concrete(self, operands: tuple, static: dict) -> Any:
        return self.types(self.rule(*map(np.asarray, operands), **taken(self.rule, static)))

    def types(self, answer: Any) -> Any:
        one = self.one(answer)
        if one is not None:
            return one
        several = tuple(map(self.one, answer)) if isinstance(answer, (tuple, list)) else (None,)
        if None in several:
            raise TypeError(
                f"the type rule of the primitive {self.name!r} returns {answer!r}; it returns an "
                "argument, for a result like it, or (shape, dtype), or a tuple of these"
            )
        return several

    def one(self, answer: Any) -> ArrayType | None:
        if isinstance(answer, ShapeDtype):
            return ArrayType(answer.dtype, answer.shape)
        if isinstance(answer, (Variable, np.ndarray, np.generic, float, complex)):
            of = type_of(answer)
            return ArrayType(of.dtype, of.shape)
        if isinstance(answer, (tuple, list)) and len(answer) == 2 and is_dtype(answer[1]):
            shape = answer[0] if isinstance(answer[0], (tuple, list)) else (answer[0],)
            return ArrayType(np.dtype(answer[1]), tuple(shape))
        return None


def is_dtype(value: Any) -> bool:
    if isinstance(value, (type, str, np.dtype)):
        try:
            np.dtype(value)
        except TypeError:
            return False
        return True
    return False


class Called:
    """The function on NumPy's values: its results are fresh, and of the types that were declared."""

    def __init__(self, name: str, function: Callable, rule: TypeRule | None):
        self.name, self.function, self.rule = name, function, rule
        self.__name__ = f"{name}_registered"
        self.__module__ = "registered"  # it may be another in another process

    def __call__(self, *operands: Any, weak: bool = False, **static: Any) -> Any:
        result = self.function(*operands, **static)
        if self.rule is None:
            return self.fresh(np.asarray(result), operands)
        types = self.rule.concrete(operands, static)
        if isinstance(types, ArrayType):
            return self.declared(result, types, operands)
        if not isinstance(result, (tuple, list)) or len(result) != len(types):
            raise TypeError(
                f"primitive {self.name!r} was registered with {len(types)} results, and its function "
                f"returned a {type(result).__name__}"
            )
        return tuple(self.declared(*pair, operands) for pair in zip(result, types, strict=True))

    def declared(self, result: Any, of: ArrayType, operands: tuple) -> Any:
        array = np.asarray(result)
        if array.dtype != of.dtype:
            if not (isinstance(result, (bool, int, float, complex)) and np.can_cast(array.dtype, of.dtype)):
                raise TypeError(
                    f"primitive {self.name!r} was registered with a result of dtype {of.dtype}, and "
                    f"its function returned one of dtype {array.dtype}"
                )
            array = array.astype(of.dtype)
        known = len(array.shape) == len(of.shape) and all(
            size is None or size == now for size, now in zip(of.shape, array.shape, strict=True)
        )
        if not known:
            raise ValueError(
                f"primitive {self.name!r} was registered with a result of shape {of.shape}, and its "
                f"function returned one of shape {array.shape}"
            )
        return self.fresh(array, operands)

    def fresh(self, array: np.ndarray, operands: tuple) -> Any:
        if array.ndim and any(isinstance(o, np.ndarray) and np.may_share_memory(array, o) for o in operands):
            array = array.copy()
        return array[()]
