"""Indices of every kind, reading and writing, and the functions that take indices."""
import numpy as np

from tests.functions.table import integers, real, row

PLACES = np.array([2, 0, 2, 1])
GRID = np.array([[0, 1], [2, 2]])
MASK = np.array([True, False, True, True])


def written(write):
    """The row's function: a copy of its first operand, written to."""
    def function(x, *rest):
        y = x.copy()
        write(y, *rest)
        return y

    return function


def set_item(y, v):
    y[1] = v


def set_slice(y, v):
    y[1:3] = v


def set_step(y, v):
    y[::-2, 1] = v


def set_places(y, v):
    y[np.array([0, 2])] = v


def set_mask(y, v):
    y[y > 0.5] = v


def set_where(y, v):
    y[..., None, 0] = v


def add_slice(y, v):
    y[:, 1:] += v


def scale_places(y, v):
    y[np.array([2, 0])] *= v


def through_view(y, v):
    part = y[1:].T
    part[0] = v
    part += v


def through_reshape(y, v):
    z = np.zeros((3, 4))
    z[...] = y
    z.reshape(-1)[3] = v
    y += z.ravel().reshape(3, 4)


def add_at(y, v):
    np.add.at(y, np.array([1, 1, 0]), v)


def subtract_at(y, v):
    np.subtract.at(y, np.array([1, 1, 0]), v)


def multiply_at(y, v):
    np.multiply.at(y, np.array([2, 0]), v)


def divide_at(y, v):
    np.divide.at(y, np.array([2, 0, 0]), v)


def maximum_at(y, v):
    np.maximum.at(y, np.array([2, 0, 0]), v)


def minimum_at(y, v):
    np.minimum.at(y, np.array([2, 0, 0]), v)


def into(y, v):
    np.multiply(y[0], v, out=y[1])


def into_selected(y, v):
    np.log(y * v, out=y, where=y * v > 0.1)


def copied_to(y, v):
    np.copyto(y, v)


def copied_where(y, v):
    np.copyto(y, v, where=y > 0)


def diagonal_filled(y, v):
    np.fill_diagonal(y, v[0])


def put_along(y, v):
    np.put_along_axis(y, np.array([[0], [2], [1]]), v[0], axis=1)


def put(y, v):
    np.put(y, [0, 5], v[:2])


def put_method(y, v):
    y.put([0, 5], v[:2])


def placed(y, v):
    np.place(y, y > 0.5, v)


def put_masked(y, v):
    np.putmask(y, y > 0.5, v[0])


def filled(y, v):
    y[0] = 1
    y[1].fill(v[0])


WRITES = (set_item, set_slice, set_step, set_places, set_mask, set_where, add_slice, scale_places,
          through_view, through_reshape, add_at, subtract_at, multiply_at, divide_at, maximum_at, minimum_at,
          into, into_selected, copied_to, copied_where, diagonal_filled, put_along, put, put_method, placed,
          put_masked, filled)
VALUE_SHAPES = {"set_step": (2,), "set_mask": (), "set_where": (3, 1), "add_slice": (3,),
                "through_view": (2,), "through_reshape": ()}

READS = {
    "x[1]": lambda x: x[1],
    "x[-1, 2]": lambda x: x[-1, 2],
    "x[1:]": lambda x: x[1:],
    "x[:, ::-1]": lambda x: x[:, ::-1],
    "x[2:0:-1, ::2]": lambda x: x[2:0:-1, ::2],
    "x[..., 0]": lambda x: x[..., 0],
    "x[None, 1]": lambda x: x[None, 1],
    "x[:, None]": lambda x: x[:, None],
    "x[places]": lambda x: x[np.array([2, 0, 2, 1])],
    "x[:, places]": lambda x: x[:, np.array([3, 3, 0])],
    "x[grid]": lambda x: x[GRID],
    "x[rows, columns]": lambda x: x[np.array([0, 2, 2]), np.array([1, 3, 3])],
    "x[list, slice]": lambda x: x[[0, 2], 1:],
    "x[mask]": lambda x: x[x > 0.3],
    "x[:, mask]": lambda x: x[:, MASK],
    "x[row mask]": lambda x: x[np.array([True, False, True])],
    "x[()]": lambda x: x[()],
    "x[np.ix_]": lambda x: x[np.ix_([0, 2], [1, 3, 3])],
    "x[x.argmax]": lambda x: x.ravel()[x.argmax()],
}

ROWS = [
    *[row(name, function, real(3, 4)) for name, function in READS.items()],
    *[row(f"writing: {write.__name__}", written(write), real(3, 4),
          real(*VALUE_SHAPES.get(write.__name__, (4,))), any_dtype=False, resized=False) for write in WRITES],
    row("x[None, None] of a number", lambda x: np.sum(x[None, None] ** 2, axis=1), real()),
    row("x[i]", lambda x, i: x[i], real(4, 3), integers(5, high=4), any_dtype=False),
    row("x[i, j]", lambda x, i, j: x[i, j], real(3, 3), integers(4), integers(4), any_dtype=False),
    row("take", lambda x: np.take(x, PLACES), real(3, 4)),
    row("take along an axis", lambda x: np.take(x, GRID, axis=1), real(3, 4)),
    row("take, wrapped", lambda x: np.take(x, [5, -7], axis=0, mode="wrap"), real(3, 4)),
    row("take, clipped", lambda x: np.take(x, [5, -7], axis=0, mode="clip"), real(3, 4)),
    row("x.take", lambda x: x.take([0, 2, 2], axis=1), real(3, 4)),
    row("take_along_axis", lambda x: np.take_along_axis(x, np.argsort(x, axis=0), axis=0), real(3, 4)),
    row("take_along_axis of an operand", lambda x, i: np.take_along_axis(x, i, 1), real(3, 4),
        integers(3, 2, high=4),
        any_dtype=False),
    row("choose", lambda x, y: np.choose(np.array([0, 1, 1]), [x, y]), real(3), real(3), resized=False),
    row("x.choose", lambda x, y: np.array([0, 1, 1]).choose([x, y]), real(3), real(3), resized=False),
    row("compress", lambda x: np.compress([True, False, True], x, axis=0), real(3, 4), resized=False),
    row("x.compress", lambda x: x.compress([True, False, True], axis=0), real(3, 4), resized=False),
    row("extract", lambda x: np.extract(x > 0, x), real(3, 4)),
    row("unravel_index", lambda x: x[np.unravel_index(np.argmax(x), x.shape)], real(3, 4)),
    row("ravel_multi_index", lambda x: x.ravel()[np.ravel_multi_index((1, 2), (3, 4))], real(3, 4),
        resized=False),
    row("iteration over rows", lambda x: [r * 2 for r in x], real(3, 4), resized=False),
    row("unpacking", lambda x: unpacked(x), real(3, 4), resized=False),
]


def unpacked(x):
    first, *rest = x
    return first * rest[0] + rest[-1]
