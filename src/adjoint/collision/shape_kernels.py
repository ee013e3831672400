"""Capsules about given axes around points, as kernels: one lane for each axis that a search tries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan

__all__ = ["AxisCapsule", "axis_capsule", "side_capsule"]

_STEPS = 10  # towards the middle of the points that are seen along an axis
_WIDER = (1.0, 1.015, 1.04, 1.08, 1.14, 1.22, 1.35)  # radii, in parts of the least one about an axis


class AxisCapsule(NamedTuple):
    """The capsule of least volume about an axis among those with some radii."""

    volume: np.ndarray
    radius: np.ndarray
    start: np.ndarray  # (3,), at the lower end along the axis
    end: np.ndarray


@kernel(points=(..., 3), axis=3, centre=3)
def axis_capsule(points, axis, centre) -> AxisCapsule:
    """The least capsule about the line along the unit vector `axis` through `centre` around points (n, 3).

    For a radius r, points at t along the axis and ρ from it are inside if the ends of its segment are at most
    min(t + √(r² - ρ²)) and at least max(t - √(r² - ρ²)); r is one of some multiples of max ρ.
    """
    return _capsule(points, axis, centre, np.zeros(3), -1.0)


@kernel(points=(..., 3), axis=3, normal=3)
def side_capsule(points, axis, normal, offset) -> AxisCapsule:
    """A small capsule along the unit vector `axis` around the points (n, 3) with normal · x >= offset.

    Its axis goes near the middle of the points as they are seen along it, found by steps towards the farthest of them
    as in Bădoiu & Clarkson (2003). Without any point, the volume is 0.
    """

    def middle(carry, x):
        total, count = carry
        inside = np.where(normal @ x >= offset, 1.0, 0.0)
        return (total + inside * x, count + inside), None

    (total, count), _ = scan(middle, (np.zeros(3), 0.0), points)
    centre = total / np.maximum(count, 1.0)

    def towards(centre, k):
        def farthest(carry, x):
            most, far = carry
            off = _off(x - centre, axis)
            size = off @ off
            further = (size > most) & (normal @ x >= offset)
            return (np.where(further, size, most), np.where(further, off, far)), None

        (_, far), _ = scan(farthest, (0.0, np.zeros(3)), points)
        return centre + far / (k + 2), None

    centre, _ = scan(towards, centre, np.arange(float(_STEPS)))
    found = _capsule(points, axis, centre, normal, offset)
    return AxisCapsule(np.where(count > 0, found.volume, 0.0), found.radius, found.start, found.end)


def _off(x, axis):
    return x - (x @ axis) * axis


def _capsule(points, axis, centre, normal, offset) -> AxisCapsule:
    def widest(most, x):
        off = _off(x - centre, axis)
        return np.where(normal @ x >= offset, np.maximum(most, off @ off), most), None

    square, _ = scan(widest, 0.0, points)
    radii = np.sqrt(square) * np.array(_WIDER)

    def ends(carry, x):
        low, high = carry
        along, off = (x - centre) @ axis, _off(x - centre, axis)
        reach = np.sqrt(np.maximum(radii * radii - off @ off, 0.0))
        inside = normal @ x >= offset
        low = np.where(inside, np.minimum(low, along + reach), low)
        return (low, np.where(inside, np.maximum(high, along - reach), high)), None

    huge = np.full(len(_WIDER), 1e300)
    (low, high), _ = scan(ends, (huge, -huge), points)
    volumes = np.pi * radii * radii * (np.maximum(high - low, 0.0) + 4 / 3 * radii)
    volume, radius, first, last = volumes[0], radii[0], low[0], high[0]
    for k in range(1, len(_WIDER)):
        smaller = volumes[k] < volume
        volume, radius = np.where(smaller, volumes[k], volume), np.where(smaller, radii[k], radius)
        first, last = np.where(smaller, low[k], first), np.where(smaller, high[k], last)
    # If the lower end comes after the upper one, any point between them is the centre of a ball around all.
    swapped = (first + last) / 2
    start, end = np.where(first > last, swapped, first), np.where(first > last, swapped, last)
    return AxisCapsule(volume, radius, centre + start * axis, centre + end * axis)
