"""Signatures: boundaries as functions of one variable, and their moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats, truth
from .boundaries import boundary_points, real_floats
from .chain_codes import at_least_one

__all__ = [
    "Signature",
    "amplitude_moments",
    "distance_signature",
    "histogram_moments",
    "polygon_area",
    "polygon_centroid",
    "slope_density",
    "tangent_signature",
]

_MOST = 1e280  # powers of amplitudes whose sums do not overflow


class Signature(NamedTuple):
    """A signature: where it is sampled (`at`: angles [rad] or arc lengths [pixel]), and its `values` there, (n,)."""

    at: np.ndarray
    values: np.ndarray


def polygon_area(boundary) -> float:
    """The area inside a polygon (n, 2) [pixel²], positive if it runs clockwise as seen (from u to v).

    >>> polygon_area([[0, 0], [4, 0], [4, 2], [0, 2]])
    8.0
    """
    points = boundary_points(boundary, "polygon_area")
    u, v = (points - points[0]).T  # about a corner, so that nothing is lost far from the origin
    return float(u @ np.roll(v, -1) - v @ np.roll(u, -1)) / 2


def polygon_centroid(boundary) -> np.ndarray:
    """The centroid (2,) of the area inside a polygon (n, 2).

    >>> polygon_centroid([[0, 0], [4, 0], [4, 2], [0, 2]]).tolist()
    [2.0, 1.0]
    """
    points = boundary_points(boundary, "polygon_centroid")
    first, p = points[0], points - points[0]  # about a corner, so that nothing is lost far from the origin
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    if abs(cross.sum()) <= 1e-12 * np.abs(cross).sum() or not cross.any():
        raise ArgumentError("polygon_centroid: the polygon encloses no area, so it has no centroid")
    return first + cross @ (p + q) / (3 * cross.sum())


def distance_signature(boundary, samples: int = 360, *, center=None, unit: bool = False) -> Signature:
    """The distance r(θ) from the centroid to a closed boundary (n, 2), at `samples` equally spaced angles from 0.

    θ goes from u towards v, which is clockwise as seen. Where a ray meets the boundary several times, r is the
    farthest; where it does not, because the `center` (2,) lies outside, r is 0. With `unit`, the largest r is 1.

        >>> square = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
        >>> distance_signature(square, 8).values.round(3).tolist()
        [1.0, 1.414, 1.0, 1.414, 1.0, 1.414, 1.0, 1.414]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1, Fig. 8.29.
    """
    points, n = boundary_points(boundary, "distance_signature"), at_least_one(samples, "distance_signature: 'samples'")
    middle = polygon_centroid(points) if center is None else floats(center)
    if middle.shape != (2,) or not (np.abs(middle) < 1e100).all():
        raise ArgumentError(f"distance_signature: 'center' is {center!r:.60}; a pixel (u, v) is needed")
    truth(unit, "distance_signature: 'unit'")
    angles = np.arange(n) * (2 * np.pi / n)
    values = _farthest(points - middle, n)
    return Signature(angles, values / values.max() if unit and values.any() else values)


def _farthest(p: np.ndarray, n: int) -> np.ndarray:
    """Where n rays from the origin last meet the sides of a closed polygon: distances (n,), or 0."""
    step = np.diff(p, axis=0, append=p[:1])
    # Every side meets the few rays between the angles of its ends; angles are counted in steps from ray to ray.
    first = np.arctan2(p[:, 1], p[:, 0])
    turn = (np.roll(first, -1) - first + np.pi) % (2 * np.pi) - np.pi
    low, high = np.minimum(first, first + turn) * (n / (2 * np.pi)), np.maximum(first, first + turn) * (n / (2 * np.pi))
    low, high = np.ceil(low - 1e-9).astype(int), np.floor(high + 1e-9).astype(int)
    meets = np.maximum(high - low + 1, 0)
    side = np.repeat(np.arange(len(p)), meets)
    ray = np.arange(len(side)) - np.repeat(np.cumsum(meets) - meets, meets) + low[side]
    c, s = np.cos(ray * (2 * np.pi / n)), np.sin(ray * (2 * np.pi / n))
    a, d = p[side], step[side]
    across = c * d[:, 1] - s * d[:, 0]
    radial = np.abs(across) <= 1e-12 * np.hypot(*d.T)  # a side along its ray ends where its farther end is
    # Beyond the ends of a side, which rounding might give, the end counts.
    t = np.clip((s * a[:, 0] - c * a[:, 1]) / np.where(radial, 1.0, across), 0.0, 1.0)
    at = a + np.where(radial, 0.0, t)[:, None] * d
    r = np.where(radial, np.maximum(np.hypot(*a.T), np.hypot(*(a + d).T)), c * at[:, 0] + s * at[:, 1])
    values = np.zeros(n)
    np.maximum.at(values, ray % n, np.maximum(r, 0.0))
    return values


def tangent_signature(boundary, *, unwrap: bool = True) -> Signature:
    """The angle of each side of a closed boundary (n, 2) with the u axis [rad], against the arc length at its start.

    Angles go from u towards v, so that they grow by 2π around a boundary that runs clockwise as seen. They continue
    without jumps if `unwrap` is true, and otherwise lie in [0, 2π). Sides of length 0 are left out.

        >>> np.degrees(tangent_signature([[0, 0], [1, 0], [1, 1], [0, 1]]).values).tolist()
        [0.0, 90.0, 180.0, 270.0]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1; Ambler et al. (1975).
    """
    truth(unwrap, "tangent_signature: 'unwrap'")
    lengths, angles = _sides(boundary, "tangent_signature")
    arc = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    return Signature(arc, np.unwrap(angles) if unwrap else angles)


def _sides(boundary, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Lengths and angles in [0, 2π) of the sides of a closed polygon that have a length."""
    points = boundary_points(boundary, caller)
    du, dv = np.diff(points, axis=0, append=points[:1]).T
    lengths = np.hypot(du, dv)
    angles = np.arctan2(dv, du) % (2 * np.pi)
    if not lengths.any():
        raise ArgumentError(f"{caller}: all points of the boundary are one; it has no directions")
    return lengths[lengths > 0], np.where(angles < 2 * np.pi, angles, 0.0)[lengths > 0]


def slope_density(boundary, bins: int = 36) -> Signature:
    """The histogram of tangent angles of a closed boundary (n, 2): the part of its length that runs in each direction.

    Bin k is around the angle 2πk / bins, from u towards v. Straight sides make peaks. The values add up to 1.

        >>> slope_density([[0, 0], [2, 0], [2, 2], [0, 2]], bins=4).values.tolist()
        [0.25, 0.25, 0.25, 0.25]

    Reference: Fu, Gonzalez & Lee (1987), section 8.3.1; Nahin (1974).
    """
    n = at_least_one(bins, "slope_density: 'bins'")
    lengths, angles = _sides(boundary, "slope_density")
    k = np.floor(angles * (n / (2 * np.pi)) + 0.5 + 1e-9).astype(int) % n
    return Signature(np.arange(n) * (2 * np.pi / n), np.bincount(k, lengths, n) / lengths.sum())


def histogram_moments(levels, probabilities, highest: int = 4) -> np.ndarray:
    """The mean and the central moments μ₂ ... of a histogram: (..., highest), Σ (zᵢ - m)ⁿ p(zᵢ) for n >= 2.

    `levels` (L,) are the values zᵢ; `probabilities` (..., L) are scaled to the sum 1, so counts will do.

        >>> histogram_moments([0, 1, 2, 3], [0.1, 0.4, 0.3, 0.2]).round(4).tolist()
        [1.6, 0.84, 0.072, 1.4832]

    Reference: Fu, Gonzalez & Lee (1987), (8.3-1) to (8.3-4).
    """
    z, p = real_floats(levels), real_floats(probabilities)
    at_least_one(highest, "histogram_moments: 'highest'")
    if z.ndim != 1 or p.shape[-1:] != z.shape:
        raise ArgumentError(
            f"histogram_moments: levels {z.shape} and probabilities {p.shape} do not fit; (L,) and (..., L) are needed"
        )
    total = p.sum(axis=-1, keepdims=True)
    if not ((total > 0) & (total < np.inf)).all() or (p < 0).any():
        raise ArgumentError("histogram_moments: probabilities must be 0 or more, with a positive sum")
    with np.errstate(over="ignore"):
        small = (np.abs(z) ** highest < _MOST).all()
    if not small:
        raise ArgumentError(f"histogram_moments: levels have a NaN, or their power {highest} is beyond {_MOST:g}")
    p = p / total
    m = (p * z).sum(axis=-1)  # (8.3-2)
    off = z - m[..., None]
    return np.stack([m, *((p * off**n).sum(axis=-1) for n in range(2, highest + 1))], axis=-1)  # (8.3-1)


def amplitude_moments(values, highest: int = 4, *, bins: int | None = None) -> np.ndarray:
    """The mean of a signature's values (..., n), and their central moments μ₂ ...: an array (..., highest).

    With `bins` = K the amplitudes are first put into K equal increments from their least to their largest, as in the
    textbook; without, every value counts as it is.

        >>> circle, square = np.ones(8), distance_signature([[-1, -1], [1, -1], [1, 1], [-1, 1]]).values
        >>> amplitude_moments(circle)[1:].tolist(), amplitude_moments(square)[1:].round(4).tolist()
        ([0.0, 0.0, 0.0], [0.0139, 0.0014, 0.0005])

    Reference: Fu, Gonzalez & Lee (1987), (8.3-1), (8.3-2).
    """
    a = real_floats(values)
    if a.ndim < 1 or not a.shape[-1]:
        raise ArgumentError(f"amplitude_moments: the values have shape {a.shape}; (..., n) with n >= 1 is needed")
    n = at_least_one(highest, "amplitude_moments: 'highest'")
    with np.errstate(over="ignore"):
        small = (np.abs(a) ** n < _MOST).all()
    if not small:
        raise ArgumentError(f"amplitude_moments: values have a NaN, or their power {n} is beyond {_MOST:g}")
    if bins is None:
        m = a.mean(axis=-1)
        off = a - m[..., None]
        return np.stack([m, *((off**k).mean(axis=-1) for k in range(2, n + 1))], axis=-1)
    low, high, K = a.min(axis=-1), a.max(axis=-1), at_least_one(bins, "amplitude_moments: 'bins'")
    wide = np.where(high > low, high - low, 1.0)
    k = np.minimum(((a - low[..., None]) / wide[..., None] * K).astype(int), K - 1)
    p = (k[..., None] == np.arange(K)).mean(axis=-2)
    moments = histogram_moments((np.arange(K) + 0.5) / K, p, highest) * wide[..., None] ** np.arange(1, highest + 1)
    moments[..., 0] += low
    return moments
