"""What is compiled gives what NumPy gives: values and gradients, many rows in one program.

These are slow to compile, and can be run apart: pytest -m compiled, pytest -m "not compiled".
"""
import numpy as np
import pytest

import chainrule as cr
from tests.functions.checks import chosen, close, cotangent_of, leaves, outcome
from tests.functions.every_row import TABLE

pytestmark = pytest.mark.compiled
TOGETHER = 12


def chunks():
    for subject, every in TABLE.items():
        rows = [row for row in every if row.compiled]
        for start in range(0, len(rows), TOGETHER):
            yield pytest.param(rows[start:start + TOGETHER], id=f"{subject} from {start}")


def value_and_gradient(function, cotangent):
    def both(*given):
        value, pullback = cr.vjp(function, *given)
        return value, pullback(cotangent)

    return both


def program_of(row):
    """What is compiled of a row, and its arguments: the value, with the gradient where there is one."""
    if not (row.order and row.positions):
        return row.function, row.arguments()
    function, given = chosen(row, row.arguments())
    return value_and_gradient(function, cotangent_of(row.generator(), function(*given))), given


def together(functions, counts):
    """One function of all operands, which calls each function with its own."""
    def all_of_them(*operands):
        results, start = [], 0
        for function, count in zip(functions, counts):
            results.append(function(*operands[start:start + count]))
            start += count
        return results

    return all_of_them


def run_together(functions, arguments):
    """The compiled results; if the program fails, of each function by itself, to see which it is."""
    compiled = cr.jit(together(functions, [len(given) for given in arguments]))
    try:
        return compiled(*[a for given in arguments for a in given])
    except Exception:
        return [outcome(lambda *a: cr.jit(function)(*a), given) for function,
                given in zip(functions, arguments)]


def agree(found, expected):
    if isinstance(found, Exception):
        raise found
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert getattr(one, "dtype", type(one)) == getattr(other, "dtype", type(other))
    single = any(getattr(other, "dtype", None) == np.float32 for other in leaves(expected))
    close(leaves(found), leaves(expected), 1e-6 if single else 1e-9, "compiled against eager")


@pytest.mark.parametrize("rows", chunks())
def test_compiled(rows):
    functions, arguments = zip(*map(program_of, rows))
    found = run_together(functions, arguments)
    problems = []
    for row, one, function, given in zip(rows, found, functions, arguments, strict=True):
        try:
            agree(one, function(*given))
        except Exception as error:
            problems.append(f"{row.name}: {type(error).__name__}: {error}")
    assert not problems, "\n".join(problems)
