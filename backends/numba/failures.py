"""Exceptions of compiled code whose text shows values.

Numba would take long to compile the making of a text. It raises a template and the values,

    raise IndexError("index {} is out of bounds for axis 0 with size {}", i, n)

and the text is made outside:

>>> str(told(IndexError("index {} is out of bounds for axis 0 with size {}", 7, 5)))
'index 7 is out of bounds for axis 0 with size 5'
"""

from __future__ import annotations

from typing import Any

import gast

from ...codegen.core import Assign, type_of
from ...codegen.expressions import Expressions
from ...codegen.statements import negated, written
from ...codegen.trees import call, constant
from .forms import form

check = form("check_values", None, effect=True)


@written("check_values")
def check_statement(made: Assign, to: Expressions, target: str) -> list[Any]:
    """A check whose message shows values; of several indices, the first that fails is shown."""
    test, *values = (to.tree(operand, True) for operand in made.operands)
    if type_of(made.operands[1]).shape:
        index, size = values
        values[0] = call("support.first_outside", index, size)
    error = call(made.static["exception"], constant(made.static["message"]), *values)
    return [gast.If(negated(test), [gast.Raise(error, None)], [])]


def told(error: Exception) -> Exception:
    """The exception with its values in its text."""
    template, *values = error.args or ("",)
    if values and isinstance(template, str) and template.count("{}") == len(values):
        error.args = (template.format(*values),)
    return error
