"""Every function that is known, and every primitive with a rule, is exercised by a row of the table."""
import numpy as np
import pytest

import chainrule as cr
from chainrule.codegen.build import Builder
from chainrule.codegen.registry import FUNCTIONS, METHODS, PRIMITIVES, Primitive, has_derivative
from chainrule.codegen.specialise import calls
from chainrule.runtime.pullbacks import Plain
from tests.functions.checks import chosen
from tests.functions.every_row import ROWS

# What no row can call by itself, and where it is tested instead.
ELSEWHERE = {
    "print": "tests/codegen", "check_same": "tests/codegen", "check_index": "tests/codegen", "check": "tests/codegen",
}


@pytest.fixture(scope="module")
def reached():
    """Names of primitives that were emitted, and the compositions that were read, for all rows."""
    primitives, compositions = set(), set()
    emit, library = Builder.emit, calls.emit_library

    def seeing_emit(self, primitive, *operands, **static):
        primitives.add(primitive.name)
        return emit(self, primitive, *operands, **static)

    def seeing_library(s, function, known, *rest):
        compositions.add(known)
        return library(s, function, known, *rest)

    Builder.emit, calls.emit_library = seeing_emit, seeing_library
    try:
        for row in ROWS:
            arguments = row.arguments()
            with np.errstate(all="ignore"):
                if row.order and row.positions:
                    function, given = chosen(row, arguments)
                    cr.vjp(function, *given)
                else:
                    Plain(row.function)(*arguments)
    finally:
        Builder.emit, calls.emit_library = emit, library
    return primitives, compositions


def test_primitives(reached):
    with_rules = {name for name, primitive in PRIMITIVES.items() if has_derivative(primitive)}
    assert with_rules - reached[0] - set(ELSEWHERE) == set()


def test_functions(reached):
    missed = [function for function, known in FUNCTIONS.items()
              if not isinstance(known, Primitive) and known not in reached[1]]
    assert missed == []


def test_methods(reached):
    missed = [name for name, known in METHODS.items() if not isinstance(known, Primitive) and known not in reached[1]]
    assert missed == []
