"""Fourier descriptors: boundaries as complex numbers, in the frequency domain."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import count
from .boundaries import Boundary, boundary_points, real_floats
from .chain_codes import at_least_one, resampled

__all__ = ["fourier_boundary", "fourier_descriptors", "fourier_invariants", "resampled_boundary"]


def resampled_boundary(boundary, samples: int) -> np.ndarray:
    """Points (samples, 2), equally far apart along a closed boundary (n, 2), from its first point on.

    >>> resampled_boundary([[0, 0], [2, 0], [2, 2], [0, 2]], 8)[:3].tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    """
    points = boundary_points(boundary, "resampled_boundary")
    return resampled(points, at_least_one(samples, "resampled_boundary: 'samples'"))


def fourier_descriptors(boundary) -> np.ndarray:
    """The Fourier descriptors F (..., M), complex, of closed boundaries (..., M, 2).

    F(k) = 1/M Σ (u + jv) e^(-2πjkm/M), with the sum over all points m.

    F(0) is the mean of the points. F(k) and F(M - k) have the frequencies k and -k. A boundary that runs clockwise as
    seen has its largest descriptor at k = 1. All points should be equally far apart (`resampled_boundary`).

    Moving the boundary changes F(0) alone; scaling multiplies all F; turning by φ (from u to v) multiplies them by
    e^jφ; starting m points later multiplies F(k) by e^(2πjkm/M).

        >>> F = fourier_descriptors([[1, 0], [0, 1], [-1, 0], [0, -1]])
        >>> F.round(12).real.tolist()
        [0.0, 1.0, 0.0, 0.0]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1, with the transform (7.6-4).
    """
    given = boundary.points if isinstance(boundary, Boundary) else boundary
    points = real_floats(given)
    if points.ndim < 2 or points.shape[-1] != 2 or not points.shape[-2]:
        raise ArgumentError(f"fourier_descriptors: the boundary has shape {points.shape}; (..., M, 2) is needed")
    z = np.ascontiguousarray(_moderate(points, "fourier_descriptors")).view(complex)[..., 0]
    return np.fft.fft(z, axis=-1, norm="forward")


def fourier_boundary(descriptors, keep: int | None = None, *, samples: int | None = None) -> np.ndarray:
    """The boundaries (..., samples, 2) of Fourier descriptors F (..., M), of which the lowest `keep` count.

    The lowest frequencies are 0, 1, -1, 2, -2 and so on: at both ends of F. With all of them, and `samples` = M, which
    is the default, this is the inverse of `fourier_descriptors`.

        >>> square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
        >>> fourier_boundary(fourier_descriptors(square)).round(12).tolist()
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1, (7.6-5).
    """
    F = _complex(descriptors, "fourier_boundary")
    M = F.shape[-1]
    n = M if samples is None else count(samples, "fourier_boundary: samples")
    kept = M if keep is None else min(count(keep, "fourier_boundary: keep"), M)
    if kept > n or not n:
        raise ArgumentError(f"fourier_boundary: {n} samples do not show {kept} descriptors; ask for more samples")
    positive, negative = kept // 2 + (kept > 0), (kept - 1) // 2  # frequency 0 is among the first
    padded = np.zeros((*F.shape[:-1], n), complex)
    padded[..., :positive] = F[..., :positive]
    if negative:
        padded[..., -negative:] = F[..., -negative:]
    z = np.fft.ifft(padded, axis=-1, norm="forward")
    return np.stack([z.real, z.imag], axis=-1)


def fourier_invariants(descriptors, keep: int = 10) -> np.ndarray:
    """What of Fourier descriptors (..., M) does not change if the object is moved, turned or scaled: (..., keep).

    These are the sizes |F(k)| / |F(1)| for k = -1, 2, -2, 3, ... They do not depend on where the boundary starts,
    either. Boundaries must run clockwise as seen, as outer ones of this library do; those of holes are reversed first.
    Beyond the M - 2 frequencies that there are, they are 0.

        >>> circle = np.stack([np.cos(np.arange(8)), np.sin(np.arange(8))], axis=-1)
        >>> fourier_invariants(fourier_descriptors(resampled_boundary(circle, 64)), 3).shape
        (3,)
    """
    F = _complex(descriptors, "fourier_invariants")
    n, M = count(keep, "fourier_invariants: keep"), F.shape[-1]
    if M < 2:
        raise ArgumentError("fourier_invariants: one descriptor has no shape; a boundary of 2 or more points is needed")
    sizes = np.abs(F)
    if not (sizes[..., 1] > 1e-9 * sizes[..., 1:].max(axis=-1)).all():
        raise ArgumentError(
            "fourier_invariants: a boundary has no part of frequency 1, by which others are divided: it is one point, "
            "or runs counter-clockwise as seen; reverse its points"
        )
    k = np.arange(2, 2 + n)
    frequencies = np.where(k % 2 == 0, -(k // 2), (k + 1) // 2)
    shown = np.abs(frequencies) <= np.where(frequencies > 0, M // 2, (M - 1) // 2)
    return np.where(shown, sizes[..., np.where(shown, frequencies, 0)] / sizes[..., 1, None], 0.0)


def _complex(descriptors, caller: str) -> np.ndarray:
    try:
        F = np.asarray(descriptors)
    except (TypeError, ValueError):
        F = np.asarray(None)
    if F.ndim < 1 or F.dtype.kind not in "fciu" or not F.shape[-1]:
        raise ArgumentError(f"{caller}: descriptors (..., M), complex numbers, are needed; got {F.dtype} {F.shape}")
    return _moderate(F.astype(complex), caller)


def _moderate(values: np.ndarray, caller: str) -> np.ndarray:
    """The values, or an `ArgumentError` if a sum of them might overflow."""
    if not (np.abs(values) < 1e100).all():
        raise ArgumentError(f"{caller}: there is a NaN, or a number beyond 1e100; finite numbers are needed")
    return values
