"""Every function that is known, and every primitive with a rule, is exercised by a row of the table."""
import pytest

import chainrule as cr
from chainrule.codegen.build import Builder
from chainrule.codegen.registry import FUNCTIONS, METHODS, PRIMITIVES, Primitive, has_derivative
from chainrule.codegen.specialise import library
from chainrule.codegen.specialise.builtin_functions import BUILTINS
from chainrule.runtime.pullbacks import Plain
from tests.functions.checks import chosen, outcome
from tests.functions.every_row import ROWS

# Made by passes, in every program or in loops of unknown length; tests/codegen and tests/autodiff have them.
# Collectives are only for what vmap maps, and tests/runtime/test_vmap.py has them;
# the quantiles are random.gamma's, in tests/chainrule/test_random_derivatives.py, and what is to be like XLA
# random.normal's, in tests/codegen/primitives/test_multiply_add.py.
ELSEWHERE = {"print", "check_same", "check_index", "check", "size", "stack", "push", "pop", "psum",
             "all_gather",
             "psum_scatter", "all_to_all", "ppermute", "gamma_quantile", "alias", "cofactor_along",
             "multiply_add", "xla_log"}


@pytest.fixture(scope="module")
def reached():
    """Names of primitives that were emitted, and the compositions that were read, for all rows."""
    primitives, compositions = set(), set()
    emit, emit_library = Builder.emit, library.emit_library

    def seeing_emit(self, primitive, *operands, **static):
        primitives.add(primitive.name)
        return emit(self, primitive, *operands, **static)

    def seeing_library(s, function, known, *rest):
        compositions.add(known)
        return emit_library(s, function, known, *rest)

    Builder.emit, library.emit_library = seeing_emit, seeing_library
    try:
        for row in ROWS:
            function, given = chosen(row, row.arguments())
            differentiated = row.order and row.positions
            outcome(lambda *a: cr.vjp(function,
                                      *a) if differentiated else Plain(row.function)(*row.arguments()), given)
    finally:
        Builder.emit, library.emit_library = emit, emit_library
    return primitives, compositions


def test_primitives(reached):
    with_rules = {name for name, primitive in PRIMITIVES.items() if has_derivative(primitive)}
    assert sorted(with_rules - reached[0] - ELSEWHERE) == []


def test_functions(reached):
    """The methods of ufuncs are made alike, from one definition: a row for each definition is enough."""
    code = {known.__code__ for known in reached[1] if hasattr(known, "__code__")}
    missed = [f"{function.__module__}.{function.__qualname__}" for function, known in FUNCTIONS.items()
              if not isinstance(known, Primitive) and known not in reached[1] and function not in BUILTINS
              and getattr(known, "__code__", None) not in code]
    assert missed == []


def test_methods(reached):
    missed = [name for name, known in METHODS.items()
              if not isinstance(known, Primitive) and known not in reached[1]]
    assert missed == []
