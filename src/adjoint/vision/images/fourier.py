"""Fourier transforms with the scaling of the textbook.

Fu, Gonzalez & Lee (1987), §7.6.1: of a row, the factor 1/N stands before the forward sum alone; of an image, 1/N stands
before both. NumPy calls the first `norm="forward"` and the second `norm="ortho"`.
"""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError

__all__ = ["fourier_1d", "fourier_2d", "inverse_fourier_1d", "inverse_fourier_2d"]


def _numbers(values, dimensions: int, caller: str) -> np.ndarray:
    f = np.asarray(values)
    if f.dtype.kind not in "buifc" or f.ndim < dimensions or 0 in f.shape[-dimensions:]:
        needed = "(..., N)" if dimensions == 1 else "(..., rows, columns)"
        raise ArgumentError(f"{caller}: numbers of shape {needed} are needed, got {f.dtype} of shape {f.shape}")
    return f.astype(np.float32) if f.dtype == np.float16 else f


def fourier_1d(values) -> np.ndarray:
    """The transform F(u) = 1/N Σ f(x) exp(-2πi u x / N) of the last axis of numbers (..., N), complex.

        >>> fourier_1d([1.0, 1.0, 1.0, 1.0]).real
        array([1., 0., 0., 0.])

    It wraps `scipy.fft.fft`. Fu, Gonzalez & Lee (1987), (7.6-4).
    """
    from scipy import fft  # slow to load

    return fft.fft(_numbers(values, 1, "fourier_1d"), norm="forward")  # type: ignore[return-value]


def inverse_fourier_1d(values) -> np.ndarray:
    """The numbers f(x) = Σ F(u) exp(2πi u x / N), complex (..., N), whose transform is `values`.

        >>> inverse_fourier_1d(fourier_1d([1.0, 2.0, 4.0])).real.round(12)
        array([1., 2., 4.])

    It wraps `scipy.fft.ifft`. Fu, Gonzalez & Lee (1987), (7.6-5).
    """
    from scipy import fft

    return fft.ifft(_numbers(values, 1, "inverse_fourier_1d"), norm="forward")  # type: ignore[return-value]


def fourier_2d(image) -> np.ndarray:
    """The transform F(u, v) = 1/√(NM) Σ f(x, y) exp(-2πi (u x / N + v y / M)) of an image of N rows and M columns.

    Here x and u count rows, y and v columns, as in the textbook, whose images are square, so that the factor is 1/N. It
    takes batches (..., rows, columns). The result is complex64 for float32 images, else complex128.

        >>> abs(fourier_2d(np.ones((4, 4))))[0, 0]
        np.float64(4.0)

    It wraps `scipy.fft.fft2`. Fu, Gonzalez & Lee (1987), (7.6-6).
    """
    from scipy import fft

    return fft.fft2(_numbers(image, 2, "fourier_2d"), norm="ortho")  # type: ignore[return-value]


def inverse_fourier_2d(values) -> np.ndarray:
    """The image f(x, y) = 1/√(NM) Σ F(u, v) exp(2πi (u x / N + v y / M)), complex, whose transform is `values`.

        >>> f = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> bool(np.allclose(inverse_fourier_2d(fourier_2d(f)), f))
        True

    It wraps `scipy.fft.ifft2`. Fu, Gonzalez & Lee (1987), (7.6-7).
    """
    from scipy import fft

    return fft.ifft2(_numbers(values, 2, "inverse_fourier_2d"), norm="ortho")  # type: ignore[return-value]
