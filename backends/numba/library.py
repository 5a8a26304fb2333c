"""Calls that Numba cannot make: each becomes a function that steps out to Python, to be seen in the source.

>>> import numpy as np
>>> from ...codegen.build import Builder
>>> from ...codegen.registry import PRIMITIVES
>>> from ...codegen.core import INT
>>> x = Variable("x", ArrayType(np.dtype(float), (Variable("n", INT),)))
>>> builder = Builder()
>>> _ = builder.emit(PRIMITIVES["sort"], x, axis=0)
>>> calls = Calls()
>>> calls.function(builder.block.statements[-1]).printed
'numpy_sort'
>>> print(calls.texts[0])
@numba.njit
def numpy_sort(x):
    with numba.objmode(result="float64[::1]"):
        result = np.ascontiguousarray(np.sort(x))
    return result
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ...codegen.core import ArrayType, Assign, Operand, Variable, variables_in
from ...codegen.errors import Location
from ...codegen.expressions import Expressions
from ...codegen.forms import FORMS
from ...codegen.registry import Primitive
from ...codegen.statements import STATEMENTS, filled
from ...codegen.trees import constant, method, raised
from ...codegen.trees import name as tree_of
from ...codegen.unparse import unparse
from ...codegen.wishes import NOUNS
from .forms import form

PARAMETERS = "xyzuvw"
# Calls that may end in an exception, which is to name the user's line.
RAISING = frozenset({"check", "inv", "solve", "cholesky", "svd", "eigh", "eig", "qr"})
# Of small matrices these are computed without the library, up to so many rows: it takes longer to be called.
SMALL = frozenset({"solve", "inv", "det", "cofactor"})
LARGEST_SMALL = 16


class Calls:
    """The functions of a module that call a library, one for each operation and types of operands."""

    def __init__(self):
        self.made: dict[tuple, Primitive] = {}
        self.python: dict[tuple, str] = {}
        self.texts: list[str] = []
        self.locations: list[Location | None] = []
        self.constants: list[str] = []

    def function(self, statement: Assign) -> Primitive:
        """The operation that calls the function for a statement, on the variables that it reads."""
        variables = list(dict.fromkeys(variables_in(statement.operands)))
        parameters = {
            v: f"{PARAMETERS[k]}" if k < len(PARAMETERS) else f"x{k}" for k, v in enumerate(variables)
        }
        results = (
            ["result"]
            if len(statement.targets) == 1
            else [f"result{k}" for k in range(len(statement.targets))]
        )
        expression = self.expression(statement, parameters)
        types = ", ".join(f'{name}="{numba_type(t.type)}"' for name, t in zip(results, statement.targets))
        body = self.body(statement, results, expression)
        if statement.primitive.name in RAISING:
            body = [self.in_python(statement, body, results[: len(statement.targets)], parameters.values())]
        head = f"({', '.join(parameters.values())}):"
        inside = f"    with numba.objmode({types}):" if types else "    with numba.objmode():"
        lines = [
            head,
            *small(statement, parameters),
            inside,
            *("        " + line for line in body),
            *([f"    return {', '.join(results)}"] * bool(types)),
        ]
        key = tuple(lines)
        if key not in self.made:
            base = f"numpy_{statement.primitive.name}"
            taken = [p.printed for p in self.made.values()]
            name = next(n for n in (base, *(f"{base}_{k}" for k in range(2, 999))) if n not in taken)
            traits = {"effect": statement.primitive.effect}
            noun = NOUNS.get(statement.primitive.name, statement.primitive.name)
            special = noun in FORMS or noun in STATEMENTS
            self.made[key] = form(f"{noun}_of" if special else noun, name, **traits)
            self.texts.append(f"@numba.njit\ndef {name}" + "\n".join(lines))
            self.locations.append(None)
        return self.made[key]

    def in_python(self, statement: Assign, body: list[str], results: list[str], parameters: Any) -> str:
        """A call of a Python function with this body: tracebacks show its frame, unlike that of objmode."""
        key = (*body, statement.location)
        if key not in self.python:
            name = f"python_{statement.primitive.name}"
            taken = list(self.python.values())
            name = next(n for n in (name, *(f"{name}_{k}" for k in range(2, 999))) if n not in taken)
            ending = [f"return {', '.join(results)}"] * bool(results)
            lines = [f"def {name}({', '.join(parameters)}):", *("    " + line for line in (*body, *ending))]
            self.python[key] = name
            self.texts.append("\n".join(lines))
            self.locations.append(statement.location)
        made = f"{self.python[key]}({', '.join(parameters)})"
        return f"{', '.join(results)} = {made}" if results else made

    def constant(self, value: np.ndarray) -> Primitive:
        """The operation that gives a fresh copy of an array known in advance."""
        name = f"constant_array_{len(self.constants) + 1}"
        self.constants.append(f"{name} = {unparse(constant(value)).strip()}")
        return form("values", lambda: method(tree_of(name), "copy"), allocates=True)

    def expression(self, statement: Assign, names: dict[Variable, str]) -> str:
        """The call as NumPy source."""
        if statement.primitive.effect:
            static = [f"{k}={v!r}" for k, v in statement.static.items() if k != "template"]
            shown = [restored(o, unparse(Expressions(names, {}).tree(o)).strip()) for o in statement.operands]
            if statement.primitive.name == "callback":
                return f"CALLBACKS[{statement.static['function']!r}]({', '.join(shown)})"
            if statement.primitive.name == "check":
                values = [gast.parse(text).body[0].value for text in shown[1:]]
                error = raised(statement.static["exception"], filled(statement.static["message"], values))
                return unparse(error).strip()
            if "template" in statement.static:
                shown = [f"{statement.static['template']!r}.format({', '.join(shown)})"]
            return f"print({', '.join([*shown, *static])})"
        try:
            return unparse(Expressions(names, {}).expression(statement)).strip()
        except (NotImplementedError, TypeError, ValueError):
            return registered(statement, names)

    def body(self, statement: Assign, results: list[str], expression: str) -> list[str]:
        if not statement.targets:
            return [expression]
        if len(results) == 1:
            return [f"{results[0]} = {contiguous(expression, statement.targets[0].type)}"]
        lines = [f"{', '.join(results)} = {expression}"]
        for name, target in zip(results, statement.targets):
            if target.type.shape:
                lines.append(f"{name} = {contiguous(name, target.type)}")
        return lines


def small(statement: Assign, names: dict[Variable, str]) -> list[str]:
    """What a function does first: compute the result of small matrices itself, where they allow it."""
    name, types = statement.primitive.name, [getattr(o, "type", None) for o in statement.operands]
    if name not in SMALL or any(of is None or of.ndim > 2 or of.dtype.char not in "fd" for of in types):
        return []
    if len({of.dtype for of in types}) > 1:
        return []
    operands = [names[operand] for operand in statement.operands]
    vector = types[-1].ndim == 1
    if vector:
        operands[-1] = f"{operands[-1]}.reshape((len({operands[-1]}), 1))"
    return [
        f"    if len({operands[0]}) <= {LARGEST_SMALL}:",
        f"        result, found = support.small_{name}({', '.join(operands)})",
        "        if found:",
        f"            return result{'[:, 0].copy()' if vector else ''}",
    ]


def registered(statement: Assign, names: dict[Variable, str]) -> str:
    """A call of the primitive itself, where NumPy has nothing of the kind."""
    to = Expressions(names, {})
    operands = [unparse(to.tree(operand)).strip() for operand in statement.operands]
    static = [f"{key}={value!r}" for key, value in statement.static.items()]
    return f'PRIMITIVES["{statement.primitive.name}"]({", ".join([*operands, *static])})'


def restored(operand: Operand, text: str) -> str:
    """What Numba hands to Python, as NumPy's program has it: a number in its own dtype."""
    if not isinstance(operand, Variable) or operand.type.weak or operand.type.shape:
        return text
    return f"np.{operand.type.dtype.name}({text})"


def contiguous(expression: str, of: ArrayType) -> str:
    return f"np.ascontiguousarray({expression})" if of.shape else expression


def numba_type(of: ArrayType) -> str:
    """A type in Numba's notation, as of a C-contiguous array."""
    scalar = "boolean" if of.dtype.kind == "b" else of.dtype.name
    return scalar + (f"[{':, ' * (of.ndim - 1)}::1]" if of.ndim else "")


def read(statement: Assign) -> tuple[Operand, ...]:
    """The variables that a call passes."""
    return tuple(dict.fromkeys(variables_in(statement.operands)))
