import numpy as np
import pytest

from tests.codegen.compositions.comparing import agree, rows

rng = np.random.default_rng(0)
x, y = rng.normal(size=(4, 6)), rng.normal(size=5)
z = x + 1j * rng.normal(size=(4, 6))
s = x.astype(np.float32)
i = np.arange(6)
ONE = [np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft]
MANY = [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn, np.fft.fft2, np.fft.ifft2, np.fft.rfft2,
        np.fft.irfft2]
COMPLEX = {np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft, np.fft.fftn, np.fft.ifftn, np.fft.irfftn,
           np.fft.fft2, np.fft.ifft2}

CASES = rows(
    *[(f, a, n, axis, norm) for f in ONE for a in (x, z, s) if a.dtype.kind != "c" or f in COMPLEX
      for n in (None, 3, 4, 8, 0) for axis in (0, -1) for norm in (None, "ortho", "forward", "backward")],
    *[(f, a) for f in ONE for a in (y, i, [1.0, 2, 3], y[:1], x[::2, ::-2])],
    *[(f, a, k) for f in MANY for a in (x, z, s) if a.dtype.kind != "c" or f in COMPLEX
      for k in ({}, {"s": (3, 7)}, {"axes": (1, 0)}, {"norm": "ortho"}, {"s": (5, 3), "axes": (0, 1)},
                {"s": (4, -1), "axes": (0, 1)})],
    (np.fft.fftn, x, {"axes": (1,)}), (np.fft.fft, x, None, 5), (np.fft.fft, y, {"norm": "bad"}),
    *[(f, a, *axes) for f in (np.fft.fftshift, np.fft.ifftshift) for a in (x, y)
      for axes in ((), (0,), ((0,),))],
    *[(f, n, *d) for f in (np.fft.fftfreq, np.fft.rfftfreq) for n in (1, 2, 5, 8) for d in ((), (0.1,))],
)


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_agrees_with_numpy(function, args, kwargs):
    agree(function, args, kwargs)
