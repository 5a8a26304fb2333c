"""What is compiled gives what plain NumPy gives: values and gradients, many rows in one program.

These are slow to compile, and can be run apart: pytest -m compiled, pytest -m "not compiled".
"""
import numpy as np
import pytest

import chainrule as cr
from tests.functions.checks import chosen, close, cotangent_of, leaves, outcome, same_value
from tests.functions.every_row import TABLE

pytestmark = pytest.mark.compiled
TOGETHER = 12


def chunks():
    for subject, rows in TABLE.items():
        for start in range(0, len(rows), TOGETHER):
            yield pytest.param(rows[start:start + TOGETHER], id=f"{subject} from {start}")


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
    found = outcome(compiled, [a for given in arguments for a in given])
    if not isinstance(found, Exception):
        return found
    return [outcome(cr.jit(together([f], [len(given)])), given) for f, given in zip(functions, arguments)]


def report(rows, problems):
    assert not problems, "\n".join(f"{rows[k].name}: {problem}" for k, problem in problems)


def compare(rows, found, expected, same):
    problems = []
    for k, (one, other) in enumerate(zip(found, expected, strict=True)):
        try:
            if isinstance(one, Exception):
                raise one
            same(one, other, rows[k])
        except Exception as error:
            problems.append((k, f"{type(error).__name__}: {error}"))
    report(rows, problems)


@pytest.mark.parametrize("rows", chunks())
def test_value(rows):
    arguments = [row.arguments() for row in rows]
    found = run_together([row.function for row in rows], arguments)
    expected = [row.function(*given) for row, given in zip(rows, arguments)]
    compare(rows, found, expected, lambda one, other, row: same_value(one, other, 10 * row.tolerance))


def pulled(function, cotangent):
    def gradient(*given):
        return cr.vjp(function, *given)[1](cotangent)

    return gradient


@pytest.mark.parametrize("rows", chunks())
def test_gradient(rows):
    rows = [row for row in rows if row.order and row.positions]
    functions, arguments = [], []
    for row in rows:
        function, given = chosen(row, row.arguments())
        functions.append(pulled(function, cotangent_of(row.generator(), function(*given))))
        arguments.append(given)
    found = run_together(functions, arguments)
    expected = [function(*given) for function, given in zip(functions, arguments)]
    same = lambda one, other, row: close(leaves(one), leaves(other), 1e-9, "compiled against eager")
    compare(rows, found, expected, same)
