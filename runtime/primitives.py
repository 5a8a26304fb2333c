"""Operations that users register: computed by a function that is called, not read.

Each is a primitive of the one registry (registered_types.py), with the derivative rules of a custom function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..codegen.errors import TypeMismatchError
from ..codegen.registered import keep
from ..codegen.registry import Primitive
from ..codegen.specialise import inline
from ..codegen.specialise.calls import call
from ..codegen.specialise.values import has_dynamic
from .custom_calls import emit_call
from .custom_functions import CustomFunction, Parts, Rules
from .keywords import taken
from .registered_types import made

BACKENDS = ("numpy", "numba", "cuda")


class PrimitiveFunction(CustomFunction):
    """A registered operation, as a function."""

    kind = "primitive"

    def __init__(self, name: str, function: Callable, type: Any = None):
        if not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(f"the name of a primitive is an identifier, and not {name!r}")
        if not callable(function):
            raise TypeError(f"primitive {name!r} needs a function, and was given a {kind_of(function)}")
        self.registered, self.implementation = name, function
        self.core = made(name, function, type)
        self.function, self.nondiff, self.rules = Raw(self.core, {}), (), Rules()
        self.__name__, self.__doc__ = name, getattr(function, "__doc__", None)

    @property
    def name(self) -> str:
        return self.registered

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.core.implementation(*arguments, **keywords)

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        refuse_arguments(s, self.name, arguments, keywords, node)
        raw = Raw(self.core, keywords)
        if not s.differentiating:
            return call(s, raw, arguments, {}, node)
        s.guard((self, "rules"), self.place("rules"), self.rules)
        rules = Rules(
            *(
                with_keywords(rule, keywords)
                for rule in (self.rules.jvp, self.rules.forward, self.rules.backward)
            )
        )
        arguments = [s.as_array(a) if isinstance(a, (list, tuple)) else a for a in arguments]
        remedy = (
            f"register one with {self.name}.defjvps or {self.name}.defvjps, keep it away from what is "
            "differentiated with stop_gradient, or use a function that has one"
        )
        return emit_call(s, self.name, raw, rules, (), arguments, node, remedy, turned=True)

    # rules

    def defjvp(self, jvp: Callable) -> Callable:
        """Register `jvp(primals, tangents)`, which returns the value and its tangent."""
        self.rules = replace(self.rules, jvp=jvp)
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Register, for each argument, `jvp(tangent, value, *arguments)`: its part of the value's tangent."""
        self.rules = replace(self.rules, jvp=Parts(self, jvps))

    def defvjp(self, fwd: Callable, bwd: Callable) -> None:
        """Register `fwd(*arguments)`, which returns (value, residuals), and `bwd(residuals, cotangent)`."""
        self.rules = replace(self.rules, forward=fwd, backward=bwd)

    def defvjps(self, *vjps: Callable | None) -> None:
        """Register, for each argument, `vjp(cotangent, value, *arguments)`: the argument's cotangent."""
        self.rules = replace(self.rules, forward=Kept(self, vjps), backward=Pulls(self, vjps))

    def defbatch(self, rule: Callable) -> Callable:
        """Register `rule(size, batched, *arguments)`, the results for a whole batch at once.

        Those arguments for which `batched` is true have the batch as their first axis, as all results have.
        """

        def batch(case: Any) -> Any:
            batched = tuple(case.batched(k) for k in range(len(case.given)))
            return inline(case.builder, rule, (case.size, batched, *case.operands), taken(rule, case.static))

        self.core.batch = batch
        return rule

    def lower(self, backend: str, code: Any) -> Any:
        """Register what computes it on a backend: "numpy", "numba" or "cuda"."""
        if backend not in BACKENDS:
            raise ValueError(f"there is no backend {backend!r}; the backends are {', '.join(BACKENDS)}")
        if backend == "cuda" and not isinstance(code, str):
            raise TypeError(
                f"{self.name}.lower('cuda', ...) needs CUDA C++ source, and was given a {kind_of(code)}"
            )
        if backend == "numpy":
            self.implementation = code
            self.core.implementation.function = code
        elif backend == "numba":
            code = keep(compiled(code, self.name), f"{self.core.name}_numba")
        self.core.lowerings[backend] = code
        self.function = Raw(self.core, {})
        return code


class Raw:
    """The operation itself, without rules, with its keywords."""

    def __init__(self, core: Primitive, keywords: dict):
        self.core, self.keywords = core, keywords

    def __call__(self, *arguments: Any) -> Any:
        return self.core.implementation(*arguments, **self.keywords)

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        arguments = [s.as_array(a) if isinstance(a, (list, tuple)) else a for a in arguments]
        found = s.builder.emit(self.core, *map(s.operand, arguments), **self.keywords)
        wrap = lambda value: s.wrap(value, self.core.elementwise)
        return tuple(map(wrap, found)) if isinstance(found, tuple) else wrap(found)


def kind_of(value: Any) -> str:
    return type(value).__name__


def refuse_arguments(s: Any, name: str, arguments: list, keywords: dict, node: Any) -> None:
    """Refuse what an operation cannot take: it is given arrays and numbers, and keywords that are known."""
    for argument in arguments:
        if not (s.number(argument) or isinstance(argument, (list, tuple))):
            raise TypeMismatchError(
                f"{name} was given a {kind_of(argument)}: a primitive takes arrays and numbers by position",
                "pass what is in it, and options as keywords",
                s.location(node),
            )
    for key, value in keywords.items():
        if has_dynamic(value):
            raise s.unsupported(
                f"the keyword {key} of the primitive {name} depends on values known only at run time",
                "pass it by position, as an argument",
                node,
            )
        if not printable(value):
            raise s.unsupported(
                f"the keyword {key} of the primitive {name} is a {kind_of(value)}",
                "give a number, a string, None, or a tuple of these; bind all else in the "
                "function that is registered",
                node,
            )


def printable(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(printable, value))
    return value is None or isinstance(value, (bool, int, float, complex, str))


# rules for each argument, as one


class WithKeywords:
    """A rule that is also given the keywords of the call."""

    def __init__(self, rule: Any, keywords: dict):
        self.function, self.keywords = rule, keywords

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        handed_on = isinstance(self.function, (Parts, PerArgument))
        known = dict(self.keywords) if handed_on else taken(self.function, self.keywords)
        return call(s, self.function, arguments, known, node)


def with_keywords(rule: Any, keywords: dict) -> Any:
    return WithKeywords(rule, keywords) if rule is not None and keywords else rule


class PerArgument:
    """Rules for the arguments one by one, of which one rule is made."""

    def __init__(self, custom: PrimitiveFunction, rules: tuple):
        self.custom, self.rules = custom, rules
        self.function = next((rule for rule in rules if rule is not None), None)

    def require(self, count: int) -> None:
        if len(self.rules) != count:
            raise TypeError(
                f"{self.custom.name}.defvjps was given {len(self.rules)} rules, and the function is "
                f"called with {count} arguments: give one for each, None for a zero derivative"
            )


class Kept(PerArgument):
    """A forward rule that keeps the arguments and the value."""

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        self.require(len(arguments))
        out = call(s, self.custom, arguments, keywords, node)
        return out, (out, *arguments)


class Pulls(PerArgument):
    """A backward rule that asks each argument's rule."""

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        residuals, cotangent = arguments
        return tuple(
            None if rule is None else call(s, rule, [cotangent, *residuals], taken(rule, keywords), node)
            for rule in self.rules
        )


def compiled(code: Any, name: str) -> Any:
    """A lowering for Numba as a compiled function: from a function, or the source of one."""
    import numba

    if isinstance(code, str):
        functions = [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
        if not functions:
            raise ValueError(f"the source that lowers {name} to Numba defines no function")
        namespace: dict[str, Any] = {"np": np, "numba": numba}
        exec(compile(code, f"<{name} for numba>", "exec"), namespace)
        code = namespace[functions[-1]]
    if hasattr(code, "py_func") or not callable(code):
        return code
    return numba.njit(error_model="numpy")(code)
