"""numpy.fft."""
import numpy as np

from tests.functions.table import complexes, real, row

LINES = (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)
PLANES = (np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2, np.fft.fftn, np.fft.ifftn, np.fft.rfftn,
          np.fft.irfftn)

ROWS = [
    *[row(f"{f.__name__}", lambda x, f=f: f(x), real(6)) for f in LINES],
    *[row(f"{f.__name__} of an axis", lambda x, f=f: f(x, axis=0), real(5, 3), compiled=False)
      for f in LINES],
    *[row(f"{f.__name__}, longer", lambda x, f=f: f(x, n=8), real(5), compiled=False) for f in LINES],
    *[row(f"{f.__name__}, shorter", lambda x, f=f: f(x, n=4), real(5), compiled=False) for f in LINES],
    *[row(f"{f.__name__}, {norm}", lambda x, f=f, norm=norm: f(x, norm=norm), real(5),
          compiled=False)
      for f in LINES for norm in ("ortho", "forward")],
    *[row(f"{f.__name__} of complex", lambda x, f=f: f(x), complexes(5), any_dtype=False)
      for f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)],
    *[row(f"{f.__name__}", lambda x, f=f: f(x), real(4, 6)) for f in PLANES],
    row("fftn of two axes", lambda x: np.fft.fftn(x, axes=(0, 2)), real(2, 3, 4)),
    row("power spectrum", lambda x: np.abs(np.fft.rfft(x)) ** 2, real(7)),
    row("through the spectrum", lambda x: np.fft.irfft(np.fft.rfft(x) ** 2, 5), real(5), resized=False),
    row("fftshift", lambda x: np.fft.fftshift(x), real(3, 4)),
    row("fftshift of an axis", lambda x: np.fft.fftshift(x, axes=1), real(3, 5)),
    row("ifftshift", lambda x: np.fft.ifftshift(x), real(3, 5)),
    row("fftfreq", lambda x: x * np.fft.fftfreq(5, 0.1), real(5), resized=False),
    row("rfftfreq", lambda x: x * np.fft.rfftfreq(8), real(5), resized=False),
]
