"""Range images with known truth: boxes, balls and cylinders on a floor, seen from the origin along z, with noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["RangeImage", "ball", "box", "cylinder", "plane", "range_image"]


class RangeImage(NamedTuple):
    """Points (rows, columns, 3) with noise, true surface numbers (rows, columns), -1 for none, and true normals."""

    points: np.ndarray
    surface: np.ndarray
    normals: np.ndarray


def plane(normal, offset):
    """The solid n·x ≤ d; each solid is a function of unit rays that gives (distance, normal, face)."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)

    def hit(rays):
        rate = rays @ n
        t = np.where(rate < 0, offset / np.where(rate == 0, 1, rate), np.inf)
        return np.where(t > 0, t, np.inf), np.broadcast_to(n, rays.shape), np.zeros(rays.shape[:-1], int)

    return hit


def box(R, center, size):
    """A box with faces 0 to 5, the last three with normals along the axes and the first three against them."""
    R, half = np.asarray(R, float), np.asarray(size) / 2
    normals = np.concatenate([-R.T, R.T])
    offsets = normals @ center + np.concatenate([half, half])

    def hit(rays):
        rate = rays @ normals.T
        with np.errstate(divide="ignore"):
            t = offsets / rate
        enter, leave = np.where(rate < 0, t, -np.inf), np.where(rate > 0, t, np.inf).min(axis=-1)
        face = enter.argmax(axis=-1)
        first = enter.max(axis=-1)
        return np.where((first < leave) & (first > 0), first, np.inf), normals[face], face

    return hit


def ball(center, radius):
    def hit(rays):
        b = rays @ np.asarray(center, float)
        under = b**2 - (np.dot(center, center) - radius**2)
        t = np.where(under > 0, b - np.sqrt(np.maximum(under, 0)), np.inf)
        normal = (np.where(np.isfinite(t), t, 0)[..., None] * rays - center) / radius
        return t, normal, np.zeros(rays.shape[:-1], int)

    return hit


def cylinder(center, axis, radius):
    """An endless cylinder."""
    a = np.asarray(axis, float) / np.linalg.norm(axis)

    def hit(rays):
        across, c = rays - (rays @ a)[..., None] * a, center - (center @ a) * a
        A, B, C = (across**2).sum(axis=-1), across @ c, c @ c - radius**2
        under = B**2 - A * C
        t = np.where(under > 0, (B - np.sqrt(np.maximum(under, 0))) / A, np.inf)
        at = np.where(np.isfinite(t), t, 0)[..., None] * across - c
        return t, at / radius, np.zeros(rays.shape[:-1], int)

    return hit


def range_image(solids, *, size=(120, 160), focal=160.0, sigma=0.0, rng=None) -> RangeImage:
    """What a camera at the origin sees of solids; noise of standard deviation sigma [m] is along the normals."""
    rows, columns = size
    v, u = np.mgrid[:rows, :columns]
    rays = np.stack([(u - columns / 2) / focal, (v - rows / 2) / focal, np.ones(size)], axis=-1)
    rays /= np.linalg.norm(rays, axis=-1)[..., None]
    nearest, normals, surface, first = np.full(size, np.inf), np.zeros((*size, 3)), np.full(size, -1), 0
    for solid in solids:
        t, n, face = solid(rays)
        closer = t < nearest
        nearest[closer], normals[closer], surface[closer] = t[closer], n[closer], first + face[closer]
        first += int(face.max()) + 1
    points = np.where(np.isfinite(nearest), nearest, np.nan)[..., None] * rays
    noise = sigma * np.random.default_rng(rng).normal(size=size)
    return RangeImage(points + noise[..., None] * normals, surface, normals)
