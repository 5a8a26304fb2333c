"""What the reverse pass emits and refuses: activity, dtypes, what is kept, and work per read."""
import math

import numpy as np
import pytest

from chainrule.autodiff import forward, reverse, split
from chainrule.autodiff.activity import Activity
from chainrule.codegen.core import FLOAT, Assign, Block, Program, Variable, walk
from chainrule.codegen.dead_code import remove_dead_code
from chainrule.codegen.errors import Location, NotDifferentiableError
from chainrule.codegen.registry import PRIMITIVES, Primitive
from tests.autodiff import test_loops
from tests.autodiff.differences import check, program_of, run

R = np.random.default_rng(5)
V, M = R.standard_normal(5), R.standard_normal((4, 4))


def gradient(function, *arguments, cotangent=1.0, active=None):
    """A bare gradient: the reverse program without its primal results, and its value."""
    program = program_of(function, *arguments)
    active = active or tuple(np.asarray(a).dtype.kind in "fc" for a in arguments)
    made = reverse(program, active)
    made.body.results = made.results[len(program.results):]
    made = remove_dead_code(made)
    return made, run(made, [*arguments, cotangent])


def names(program):
    return [s.primitive.name for s in walk(program.body) if isinstance(s, Assign)]


def test_a_bare_gradient_has_no_dead_primal_code():
    made, (bar,) = gradient(lambda x: np.sum(np.exp(x) * 0.0 + np.sin(x)), V)
    np.testing.assert_allclose(bar, np.cos(V))
    assert names(made).count("sin") == 0


def test_nothing_is_emitted_for_what_does_not_matter():
    def f(x, y):
        unused = np.sin(x) * y
        k = int(x.shape[0]) + 1
        return np.sum(x) * k * np.sum(y)

    program = program_of(f, V, V)
    activity = Activity(program, (True, False))
    first = [s for s in program.body.statements if s.targets and s.targets[0].name == "unused"]
    assert first and all(t not in activity for s in first for t in s.targets)
    made, (bar,) = gradient(f, V, V, active=(True, False))
    assert "sin" not in names(made)
    np.testing.assert_allclose(bar, np.full(5, 6 * V.sum()))


def made_of(name):
    return Primitive(name, lambda x: x, lambda builder, x: x.type)


def test_no_rule_is_refused_where_it_stands():
    x, y = Variable("x", FLOAT), Variable("y", FLOAT)
    where = Location("model.py", 7, text="    y = mystery(x)")
    program = Program("f", (x,), Block([Assign((y,), made_of("mystery"), (x,), {}, where)], (y,)))
    for derive in (forward, reverse):
        with pytest.raises(NotDifferentiableError, match="mystery has no derivative rule") as caught:
            derive(program, (True,))
        assert caught.value.location == where and caught.value.remedy
        assert len(derive(program, (False,)).results) >= 1  # not asked for


def test_a_keyword_that_a_rule_does_not_take_is_refused():
    x, y = Variable("x", FLOAT), Variable("y", FLOAT)
    primitive = made_of("odd")
    primitive.vjp[0] = primitive.jvp[0] = lambda t, out, x: t
    for static, fine in (({"mode": "wrap"}, False), ({"mode": None}, True)):
        program = Program("f", (x,), Block([Assign((y,), primitive, (x,), static)], (y,)))
        for derive in (forward, reverse):
            if fine:
                derive(program, (True,))
            else:
                with pytest.raises(NotDifferentiableError, match="mode='wrap'"):
                    derive(program, (True,))


def test_single_precision_stays_single():
    x = V.astype(np.float32)
    for f in (lambda x: np.sum(x * 2.0 + np.float32(3)), lambda x: np.sum(np.sin(x)[1:] * x[:-1])):
        _, (bar,) = gradient(f, x, cotangent=np.float32(1))
        assert bar.dtype == np.float32


def test_widened_values_give_cotangents_of_their_own_dtype():
    x = V.astype(np.float32)
    _, (bar, other) = gradient(lambda x, y: np.sum(x * y), x, V)
    assert bar.dtype == np.float32 and other.dtype == np.float64


def test_complex_follows_the_transpose():
    z = V + 1j * V[::-1]
    _, (bar,) = gradient(lambda z: np.sum(np.real(z * z)), z)
    np.testing.assert_allclose(bar, 2 * z)  # JAX's convention: no conjugate
    _, (bar,) = gradient(lambda x: np.sum(np.imag(x * (1 + 2j))), V)
    np.testing.assert_allclose(bar, np.full(5, 2.0))
    assert bar.dtype == np.float64


@pytest.mark.parametrize("shapes", [((3, 1), (4,)), ((1,), (3, 4)), ((), (3,)), ((2, 1, 4), (3, 1))])
def test_broadcast_operands(shapes):
    arguments = [R.standard_normal(s) if s else 0.7 for s in shapes]
    check(lambda x, y: x * y + np.sin(x) - y / (2 + x * x), *arguments)


def test_the_other_side_of_where_gives_no_nan():
    x = np.array([1.5, 0.0, -2.0])
    with np.errstate(all="ignore"):
        for f, want in [
            (lambda x: np.sum(np.where(x > 0, np.log(x) * x, 0.0)), [np.log(1.5) + 1, 0, 0]),
            (lambda x: np.sum(np.where(x > 0, np.sqrt(x * 4.0), -x)), [1 / math.sqrt(1.5), -1, -1]),
            (lambda x: np.sum(np.where(x == 0, 1.0, np.sin(x) / x)),
             [math.cos(1.5) / 1.5 - math.sin(1.5) / 2.25, 0, -(math.cos(2) / 2 - math.sin(2) / 4)]),
            (lambda x: np.sum(np.where(x > 0, np.where(x > 1, 1 / x, np.log(x)), x)), [-1 / 2.25, 1, 1]),
            (lambda x: np.sum(np.where(x > 0, x ** 0.5, 0.0) + x), [1 + 0.5 / math.sqrt(1.5), 1, 1]),
        ]:
            _, (bar,) = gradient(f, x)
            np.testing.assert_allclose(bar, want, rtol=1e-12)


def test_a_write_that_is_overwritten_gives_nothing():
    def f(x):
        y = np.zeros(1)
        y[0] = np.sqrt(abs(x[0]))
        y[0] = x[0] - 1
        return np.sum(y)

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(gradient(f, np.array([0.0, 1.0]))[1][0], [1, 0])


def test_an_indexed_read_adds_to_one_element():
    def f(x):
        total = 0.0
        for i in range(x.shape[0]):
            total = total + x[i] * x[i]
        return total

    made, (bar,) = gradient(f, V)
    np.testing.assert_allclose(bar, 2 * V)
    loops = [s for s in made.body.statements if not isinstance(s, Assign)]
    inside = [s for loop in loops for s in walk(loop.body) if isinstance(s, Assign)]
    assert [s.primitive.name for s in inside if s.targets[0].type.shape] == ["index_add"]


def tape_ranks(function, x):
    """The ranks of what is kept: arrays allocated for tapes, and the elements of stacks."""
    made, _ = gradient(function, x, cotangent=np.asarray(function(x)))
    ranks = []
    for s in walk(made.body):
        if isinstance(s, Assign) and s.primitive.name == "stack":
            ranks.append(s.static["element"].ndim)
        elif isinstance(s, Assign) and s.primitive.name == "empty":
            ranks.append(s.targets[0].type.ndim)
    return ranks


def test_an_array_written_in_place_is_put_back_not_kept():
    spd = M @ M.T + 4 * np.eye(4)
    # One number for each element written: of the diagonal (in an array), and below it (on a stack).
    assert sorted(tape_ranks(test_loops.cholesky, spd)) == [0, 1]
    assert tape_ranks(test_loops.gauss_seidel, M) == [3]


def test_a_loop_that_is_linear_keeps_nothing():
    def heat(u):
        v = u.copy()
        for t in range(4):
            v[1:-1] = u[1:-1] + 0.1 * (u[2:] + u[:-2] - 2 * u[1:-1])
            u, v = v, u.copy()
        return u

    assert tape_ranks(heat, V) == []
    check(heat, V)


def test_what_is_cheap_is_computed_again():
    def f(x):
        y = x
        for i in range(3):
            a = y * x + i
            b = a * a - y
            y = b / (1 + a * a)
        return y

    assert tape_ranks(f, 0.3) == [1]  # y alone
    check(f, 0.3)


def test_a_swapped_index_of_the_array_itself():
    def f(x):
        y = x.copy()
        for i in range(3):
            k = int(y[i] > 0)
            y[k] = y[i] * y[k] + y[4]
            y[3 - k] = y[k] * y[3 - k]
        return y

    check(f, V)


def test_in_place_through_branches_and_inner_loops():
    def f(x):
        y = x.copy()
        for i in range(1, 5):
            if x[i] > 0:
                y[i] = y[i] * y[i - 1] * y[i - 1]
            for j in range(i):
                y[j] = np.sin(y[j]) * y[i] + y[:i] @ y[:i]
                if j == 1:
                    y[i] = y[i] * y[j]
            y[0] = y[0] * y[i] + y[1:] @ y[1:]
        return y

    check(f, V * 0.5)


def test_in_place_in_a_while_loop():
    def f(x):
        y = x.copy()
        k = 0
        while k < 3 and y[k] < 10.0:
            y[k + 1] = y[k] * y[k + 1] + y[:k] @ y[:k]
            k = k + 1
        return y

    check(f, V)


def test_variables_of_an_enclosing_program_are_constants():
    x, c, y = Variable("x", FLOAT), Variable("c", FLOAT), Variable("y", FLOAT)
    program = Program("f", (x,), Block([Assign((y,), PRIMITIVES["multiply"], (x, c))], (y,)))
    made = reverse(program, (True,))
    assert made.parameters[0] is not x and len(made.results) == 2
    assert c in {v for s in made.body.statements for v in s.operands}


def test_the_pullback_needs_only_what_it_reads():
    first, second = split(program_of(lambda x: np.sum(np.exp(x)), V), (True,))
    assert len(first.results) == 2 and len(second.parameters) == 2
    first, second = split(program_of(lambda x: np.sum(3.0 * x), V), (True,))
    assert all(v.type.shape == () for v in second.parameters)
