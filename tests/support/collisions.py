"""Pairs of solids for tests of distances: random and degenerate ones, what coal and 50 digits say about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import coal
import mpmath
import numpy as np
from scipy.spatial.transform import Rotation

from adjoint.collision.collision_solids import ConvexHull
from adjoint.collision.pair_boxes import capsule_box, capsule_box_apart
from adjoint.collision.pair_cylinders import capsule_cylinder, capsule_cylinder_apart
from adjoint.collision.pair_distances import PairDistance, capsule_capsule, capsule_plane, capsules_apart
from adjoint.collision.pair_hulls import capsule_hull, capsule_hull_apart

HULL = ConvexHull(np.random.default_rng(7).normal(size=(24, 3)) * [0.5, 0.3, 0.4])
ROWS = HULL.tables.rows


def random_poses(rng: np.random.Generator, n: int, spread: float = 0.5) -> np.ndarray:
    """Poses (n, 4, 4) with all rotations and normal positions."""
    T = np.tile(np.eye(4), (n, 1, 1))
    T[:, :3, :3] = Rotation.random(n, rng=rng).as_matrix()
    T[:, :3, 3] = spread * rng.normal(size=(n, 3))
    return T


def capsules(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends (n, 3), (n, 3) and radii (n,) of capsules; every tenth is a ball, and every eleventh has no radius."""
    a0 = 0.7 * rng.normal(size=(n, 3))
    a1 = a0 + 0.6 * rng.normal(size=(n, 3))
    a1[::10] = a0[::10]
    radius = rng.uniform(0.01, 0.3, n)
    radius[::11] = 0.0
    return a0, a1, radius


class Kind(NamedTuple):
    """A kind of pairs: a capsule and another solid b, which has a pose or two ends."""

    kernel: Callable[..., PairDistance]
    apart: Callable | None
    others: Callable  # (rng, n) -> the arguments after the capsule
    moved: Callable  # (T, *others) -> those arguments of the solid moved by T (4, 4)
    beyond: Callable  # (points (n, 3), *others) -> the signed distance (n,) of points and solid b, at most 0 inside
    width: Callable  # (directions (n, k, 3), *others) -> the support function (n, k) of solid b


def _to(T, x):
    return x @ T[:3, :3].T + T[:3, 3]


def _into(T, x):
    return np.einsum("nji,nj->ni", T[:, :3, :3], x - T[:, :3, 3])


def _segment_distance(x, b0, b1):
    u = b1 - b0
    t = np.sum((x - b0) * u, axis=1) / np.maximum(np.sum(u * u, axis=1), 1e-300)
    return np.linalg.norm(b0 + np.clip(t, 0, 1)[:, None] * u - x, axis=1)


def _box_distance(x, T, half):
    q = np.abs(_into(T, x)) - half
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def _cylinder_distance(x, T, radius, half):
    local = _into(T, x)
    q = np.stack([np.hypot(local[:, 0], local[:, 1]) - radius, np.abs(local[:, 2]) - half], axis=1)
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def _hull_side(x, T, rows):
    """At most 0 inside the hull, and 0 on its surface; outside it is a lower bound of the distance."""
    return (_into(T, x) @ rows[:, :3].T - rows[:, 3]).max(axis=1)


def _turned(T, n):
    return np.einsum("nji,nkj->nki", T[:, :3, :3], n)


def _box_width(n, T, half):
    return np.einsum("nki,ni->nk", n, T[:, :3, 3]) + np.einsum("nki,ni->nk", np.abs(_turned(T, n)), half)


def _cylinder_width(n, T, radius, half):
    m = _turned(T, n)
    size = radius[:, None] * np.hypot(m[..., 0], m[..., 1]) + half[:, None] * np.abs(m[..., 2])
    return np.einsum("nki,ni->nk", n, T[:, :3, 3]) + size


def _hull_width(n, T, rows):
    return np.einsum("nki,ni->nk", n, T[:, :3, 3]) + (_turned(T, n) @ HULL.points.T).max(axis=2)


def _capsule_width(n, b0, b1, radius):
    ends = [np.einsum("nki,ni->nk", n, b) for b in (b0, b1)]
    return np.maximum(*ends) + radius[:, None]


KINDS = {
    "capsule": Kind(
        capsule_capsule,
        capsules_apart,
        capsules,
        lambda T, b0, b1, r: (_to(T, b0), _to(T, b1), r),
        lambda x, b0, b1, r: _segment_distance(x, b0, b1) - r,
        _capsule_width,
    ),
    "box": Kind(
        capsule_box,
        capsule_box_apart,
        lambda rng, n: (random_poses(rng, n), rng.uniform(0.05, 0.9, (n, 3))),
        lambda T, pose, half: (T @ pose, half),
        _box_distance,
        _box_width,
    ),
    "cylinder": Kind(
        capsule_cylinder,
        capsule_cylinder_apart,
        lambda rng, n: (random_poses(rng, n), rng.uniform(0.05, 0.9, n), rng.uniform(0.05, 0.9, n)),
        lambda T, pose, r, half: (T @ pose, r, half),
        _cylinder_distance,
        _cylinder_width,
    ),
    "hull": Kind(
        capsule_hull,
        capsule_hull_apart,
        lambda rng, n: (random_poses(rng, n), ROWS),
        lambda T, pose, rows: (T @ pose, rows),
        _hull_side,
        _hull_width,
    ),
    "plane": Kind(
        capsule_plane,
        None,
        lambda rng, n: (random_poses(rng, n),),
        lambda T, pose: (T @ pose,),
        lambda x, pose: _into(pose, x)[:, 2],
        lambda n, pose: np.full(n.shape[:2], np.inf),
    ),
}


# --- 50 digits --------------------------------------------------------------------------------------------------------


def exact_distance(a0, a1, ra, point_distance: Callable):
    """The distance of a capsule and a convex solid, from the distance of a point (three numbers) and the solid.

    Along the segment it is convex, so that golden sections find its minimum: 120 of them shorten a bracket by 1e-25.
    """
    p, u = [mpmath.mpf(x) for x in a0], [mpmath.mpf(y) - mpmath.mpf(x) for x, y in zip(a0, a1, strict=True)]

    def at(t):
        return point_distance([x + t * y for x, y in zip(p, u, strict=True)])

    low, high, ratio = mpmath.mpf(0), mpmath.mpf(1), (mpmath.sqrt(5) - 1) / 2
    s, t = high - ratio * (high - low), low + ratio * (high - low)
    fs, ft = at(s), at(t)
    for _ in range(120):
        if fs <= ft:
            high, t, ft = t, s, fs
            s = high - ratio * (high - low)
            fs = at(s)
        else:
            low, s, fs = s, t, ft
            t = low + ratio * (high - low)
            ft = at(t)
    return min(fs, ft, at(mpmath.mpf(0)), at(mpmath.mpf(1))) - mpmath.mpf(ra)


def exact_to_segment(b0, b1, rb) -> Callable:
    """The distance of a point and a capsule."""
    b0, b1 = [mpmath.mpf(x) for x in b0], [mpmath.mpf(x) for x in b1]
    u = [y - x for x, y in zip(b0, b1, strict=True)]
    u2 = sum(x * x for x in u)

    def distance(x):
        t = sum((y - z) * w for y, z, w in zip(x, b0, u, strict=True)) / u2 if u2 else mpmath.mpf(0)
        t = min(max(t, mpmath.mpf(0)), mpmath.mpf(1))
        return mpmath.sqrt(sum((y - z - t * w) ** 2 for y, z, w in zip(x, b0, u, strict=True))) - mpmath.mpf(rb)

    return distance


def exact_to_box(half) -> Callable:
    """The distance of a point outside and a box about the origin; 0 inside."""
    return lambda x: mpmath.sqrt(sum(max(abs(y) - mpmath.mpf(h), 0) ** 2 for y, h in zip(x, half, strict=True)))


def exact_to_cylinder(radius, half) -> Callable:
    """The distance of a point outside and a cylinder about the origin; 0 inside."""
    r, h = mpmath.mpf(radius), mpmath.mpf(half)
    return lambda x: mpmath.sqrt(max(mpmath.sqrt(x[0] ** 2 + x[1] ** 2) - r, 0) ** 2 + max(abs(x[2]) - h, 0) ** 2)


# --- coal -------------------------------------------------------------------------------------------------------------


def coal_poses(a0, a1) -> list:
    """Poses of coal's capsules with these ends (n, 3): their middles, with z along them."""
    axis = a1 - a0
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    z = np.where(length > 0, axis / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    x = np.cross(z, np.where(np.abs(z[:, :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    R = np.stack([x, np.cross(z, x), z], axis=2)
    return [coal_pose(r, p) for r, p in zip(R, (a0 + a1) / 2, strict=True)]


def coal_pose(R, p):
    """A pose of coal."""
    T = coal.Transform3s()
    T.setRotation(R)
    T.setTranslation(p)
    return T
