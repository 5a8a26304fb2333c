"""Functions that join arrays and take them apart."""
import numpy as np

from tests.functions.table import real, row

ROWS = [
    row("concatenate", lambda x, y: np.concatenate([x, y]), real(2, 4), real(3, 4)),
    row("concatenate along an axis", lambda x, y: np.concatenate((x, y, x), axis=-1), real(3, 1), real(3, 4)),
    row("concatenate of everything", lambda x, y: np.concatenate((x, y), axis=None), real(2, 3), real(2)),
    row("stack", lambda x, y: np.stack([x, y]), real(3, 4), real(3, 4)),
    row("stack along an axis", lambda x, y: np.stack([x, y], axis=-1), real(3, 4), real(3, 4)),
    row("vstack", lambda x, y: np.vstack([x, y]), real(4), real(3, 4)),
    row("hstack", lambda x, y: np.hstack([x, y]), real(3, 1), real(3, 4)),
    row("hstack of vectors", lambda x, y: np.hstack((x, y)), real(3), real(2)),
    row("dstack", lambda x, y: np.dstack([x, y]), real(3, 4), real(3, 4)),
    row("column_stack", lambda x, y: np.column_stack([x, y]), real(3), real(3, 2)),
    row("block", lambda x, y: np.block([[x, y], [y.T, np.ones((2, 2))]]), real(3, 3), real(3, 2)),
    row("append", lambda x: np.append(x, 1.0), real(3)),
    row("append along an axis", lambda x, y: np.append(x, y, axis=0), real(2, 3), real(1, 3)),
    row("split", lambda x: np.split(x, 3), real(6)),
    row("split at places", lambda x: np.split(x, [1, 3], axis=1), real(3, 4)),
    row("array_split", lambda x: np.array_split(x, 3), real(7)),
    row("hsplit", lambda x: np.hsplit(x, 2), real(3, 4)),
    row("vsplit", lambda x: np.vsplit(x, [1]), real(3, 4)),
    row("dsplit", lambda x: np.dsplit(x, 2), real(2, 3, 4)),
    row("unstack", lambda x: np.unstack(x, axis=1), real(3, 4)),
    row("delete", lambda x: np.delete(x, 1), real(4)),
    row("delete along an axis", lambda x: np.delete(x, [0, 2], axis=1), real(3, 4)),
    row("insert", lambda x: np.insert(x, 1, 5.0), real(4)),
    row("insert along an axis", lambda x, y: np.insert(x, 2, y, axis=0), real(3, 4), real(4)),
    row("meshgrid", lambda x, y: np.meshgrid(x, y), real(3), real(4)),
    row("meshgrid by index", lambda x, y: np.meshgrid(x, y, indexing="ij"), real(3), real(4)),
    row("array of numbers", lambda x, y: np.array([[x, 1.0], [y, x * y]]), real(), real()),
    row("array of arrays", lambda x, y: np.array([x, y, x * y]), real(3), real(3)),
    row("asarray of a list", lambda x: np.asarray([x[0], x[1] ** 2]), real(2), resized=False),
]
