"""Derivative rules held against differences and against each other, as plain NumPy."""

import numpy as np


def results(value):
    """A primitive's results as a tuple of arrays."""
    return tuple(map(np.asarray, value)) if isinstance(value, tuple) else (np.asarray(value),)


def random_like(rng, x):
    x = np.asarray(x)
    value = rng.standard_normal(x.shape)
    if x.dtype.kind == "c":
        value = value + 1j * rng.standard_normal(x.shape)
    return value.astype(x.dtype)


def inner(a, b):
    """The pairing of cotangents and tangents: no conjugate."""
    pairs = [(x, y) for x, y in zip(a, b) if x is not None and y is not None]
    return sum(np.sum(np.asarray(x) * np.asarray(y)).real for x, y in pairs)


def fitted(cotangent, x):
    """What the reverse pass does to any cotangent: sums what broadcasting repeated, and casts."""
    cotangent, x = np.asarray(cotangent), np.asarray(x)
    cotangent = cotangent.sum(axis=tuple(range(cotangent.ndim - x.ndim)))
    stretched = tuple(i for i, size in enumerate(x.shape) if size == 1 and cotangent.shape[i] != 1)
    cotangent = cotangent.sum(axis=stretched, keepdims=True)
    assert cotangent.shape == x.shape
    return (cotangent if x.dtype.kind == "c" else cotangent.real).astype(x.dtype)


def check_rule(primitive, *operands, operand=0, numeric=True, tolerance=1e-6, invariant=None, **static):
    """Check the rules for one operand of one primitive at one point.

    `invariant` takes the results to what does not depend on a free choice (signs of eigenvectors).
    """
    rng = np.random.default_rng(3)
    x = operands[operand]
    t = random_like(rng, x)
    out = primitive(*operands, **static)
    several = isinstance(out, tuple)
    shaped = out if several else (out,)
    forward = primitive.jvp[operand](t, out, *operands, **static)
    forward = forward if several else (forward,)
    # The forward pass gives a tangent its result's shape where an operand was broadcast.
    shapes = [result.shape for result in results(out)]
    forward = tuple(p if p is None else np.broadcast_to(p, s) for p, s in zip(forward, shapes))
    for part, result in zip(forward, results(out)):
        assert part is None or np.asarray(part).dtype.itemsize <= max(result.dtype.itemsize, 8)
    ct = tuple(random_like(rng, part) for part in shaped)
    reverse = primitive.vjp[operand](ct if several else ct[0][()], out, *operands, **static)
    loose = 2e-3 if np.asarray(x).dtype in (np.float32, np.complex64) else 1e-9
    np.testing.assert_allclose(inner((fitted(reverse, x),), (t,)), inner(ct, forward), rtol=loose, atol=loose)
    if not numeric:
        return
    wide = lambda a: np.asarray(a, np.result_type(a, np.float64))
    moved = lambda h: primitive(*(wide(x) + h * t if i == operand else o for i, o in enumerate(operands)),
                                **static)
    h = 1e-6
    if invariant is not None:
        high, low = results(invariant(moved(h))), results(invariant(moved(-h)))
        step = tuple(wide(o) + h * np.asarray(f) for o, f in zip(shaped, forward))
        back = tuple(wide(o) - h * np.asarray(f) for o, f in zip(shaped, forward))
        pairs = zip(results(invariant(step)), results(invariant(back)))
        forward = tuple((a - b) / (2 * h) for a, b in pairs)
    else:
        high, low = results(moved(h)), results(moved(-h))
    for part, a, b in zip(forward, high, low):
        expected = (a - b) / (2 * h)
        rough = max(tolerance, loose)
        np.testing.assert_allclose(0 if part is None else part, expected, rtol=rough * 10, atol=rough * 10)
