"""The bench's functions at their small sizes: the gradients that are measured are right."""
import numpy as np
import pytest

import chainrule as cr
from chainrule.tools.bench.contenders import measured_derivative, positions
from chainrule.tools.bench.measure import distance, parts
from chainrule.tools.bench.report import geometric_means
from chainrule.tools.bench.row import copied, objective
from chainrule.tools.bench.run import ROWS, selected

BY_TITLE = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)


def gradient(row, cotangent, arguments):
    return cr.grad(objective(row.function), argnums=positions(row))(cotangent, *copied(arguments))


def slope(row, cotangent, arguments, direction, step):
    """The central difference of the objective along a direction, in double precision."""
    ends = []
    for sign in (step, -step):
        moved = list(copied(arguments))
        for k, part in zip(row.argnums, direction):
            moved[k] = moved[k] + sign * part
        ends.append(objective(row.function)(cotangent, *moved))
    return (ends[0] - ends[1]) / (2 * step)


def doubled(arguments):
    return tuple(a.astype(float) if getattr(a, "dtype", None) == np.float32 else a for a in arguments)


@BY_TITLE
def test_gradient_agrees_with_differences(row):
    cotangent, arguments = row.make(quick=True)
    got = gradient(row, cotangent, arguments)
    rng = np.random.default_rng(1)
    direction = [rng.standard_normal(np.shape(arguments[k])) for k in row.argnums]
    # several steps: one of them is small enough for the curvature and large enough for rounding
    wanted = [slope(row, cotangent, doubled(arguments), direction, step) for step in (1e-4, 1e-5, 1e-6)]
    along = sum(float(np.sum(g * d)) for g, d in zip(got, direction))
    scale = sum(float(np.sum(np.abs(g * d))) for g, d in zip(got, direction))
    bound = 1e-5 if any_single(arguments) else 1e-6
    assert scale > 0
    assert min(abs(along - value) for value in wanted) <= bound * scale


def any_single(arguments):
    return any(getattr(a, "dtype", None) == np.float32 for a in arguments)


@pytest.mark.parametrize("row", [row for row in ROWS if row.by_hand()], ids=lambda row: row.title)
def test_derivative_by_hand_agrees(row):
    cotangent, arguments = row.make(quick=True)
    ours = measured_derivative(row)(cotangent, *copied(arguments))
    theirs = row.by_hand()(cotangent, *copied(arguments))
    assert len(parts(theirs)) == len(parts(ours))
    assert distance(ours, theirs) < 1e-12


def test_blocks_of_the_jacobian_of_bundle_adjustment_agree_with_differences():
    (row,) = selected(["bundle_adjustment"])
    _, arguments = row.make(quick=True)
    *rest, seen = arguments
    by_camera, by_point, by_weight, of_weights = row.derivative(*arguments)
    count = len(seen)
    for k, block, places in ((0, by_camera, seen[:, 0]), (1, by_point, seen[:, 1])):
        for at in np.ndindex(rest[k].shape):
            errors = column(row, arguments, k, at)
            wanted = np.where((places == at[0])[:, None], block[:, :, at[1]], 0.0)
            np.testing.assert_allclose(errors[: 2 * count].reshape(count, 2), wanted, rtol=1e-6, atol=1e-7)
            np.testing.assert_array_equal(errors[2 * count :], 0.0)
    for k in range(count):
        errors = column(row, arguments, 2, (k,))
        np.testing.assert_allclose(errors[2 * k : 2 * k + 2], by_weight[k], rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(errors[2 * count + k], of_weights[k], rtol=1e-6, atol=1e-7)


def column(row, arguments, k, at, step=1e-6):
    """The central difference of the output by one element of one argument."""
    ends = []
    for moved in (step, -step):
        given = copied(arguments)
        given[k][at] += moved
        ends.append(row.function(*given))
    return (ends[0] - ends[1]) / (2 * step)


def test_rows_are_selected_by_words():
    assert [row.title for row in selected(["jacobi_"])] == ["jacobi_1d", "jacobi_2d"]
    assert selected([]) == ROWS
    assert len({row.title for row in ROWS}) == len(ROWS)


def test_geometric_mean_is_over_the_rows_that_have_the_ratio():
    rows = [{"ratios": {"gradient_over_hand": 2.0}}, {"ratios": {"gradient_over_hand": 8.0}}, {"ratios": {}}]
    means = geometric_means(rows)
    assert means["gradient_over_hand_geomean"] == pytest.approx(4)
    assert means["gradient_over_jax_best_geomean"] is None
