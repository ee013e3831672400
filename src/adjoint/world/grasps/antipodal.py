"""Antipodal places of curved surfaces: lines through the part that are inside the friction cones of both ends."""

from __future__ import annotations

import numpy as np

from ..parts.sweeps import PartMesh
from ..state.grippers import Gripper
from .face_pairs import Sites, frames_along, hands_around
from .graspable import Graspable

__all__: list[str] = []

RAYS = 4  # from each point: along the normal, and in random directions of the friction cone


def antipodal_sites(
    thing: Graspable, gripper: Gripper, approaches: int, samples: int, friction: float, rng: np.random.Generator
) -> list[Sites]:
    """Sites at `samples` random points of the curved surface, whose opposite point is inside the friction cone."""
    if not thing.curved.any() or samples == 0:
        return []
    points, normals = (np.repeat(x, RAYS, axis=0) for x in _drawn(thing, samples, rng))
    rays = _in_cone(-normals, np.arctan(friction), rng)
    far, far_normals, alone = _opposite(thing.mesh, thing.normals, points, rays)
    cosine = np.minimum(np.einsum("ni,ni->n", rays, -normals), np.einsum("ni,ni->n", rays, far_normals))
    width = np.linalg.norm(far - points, axis=1)
    good = alone & (cosine > np.cos(np.arctan(friction))) & (width > 0)
    if not good.any():
        return []
    T = hands_around(
        frames_along(-rays[good]), (points + far)[good] / 2, 2 * np.pi * np.arange(approaches) / approaches
    )
    each = 2 * approaches
    n, tilt = len(T), np.arccos(np.clip(cosine[good], -1, 1))
    none = (("", ""),) * n
    return [Sites(T, np.repeat(width[good], each), np.zeros(n), np.repeat(tilt, each), ("antipodal",) * n, none)]


def _in_cone(axes: np.ndarray, angle: float, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors (n, 3) inside cones about axes (n, 3): every `RAYS`-th is the axis itself, others are random."""
    off = angle * np.sqrt(rng.random(len(axes))) * (np.arange(len(axes)) % RAYS > 0)
    around = rng.uniform(-np.pi, np.pi, len(axes))
    frames = frames_along(axes)
    side = frames[:, :, 1] * np.cos(around)[:, None] + frames[:, :, 2] * np.sin(around)[:, None]
    return np.cos(off)[:, None] * axes + np.sin(off)[:, None] * side


def _drawn(thing: Graspable, samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) that are uniform on the curved surface, and the normals (n, 3) there."""
    which = np.flatnonzero(thing.curved)
    a, b, c = thing.mesh.vertices[thing.mesh.faces[which]].transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    k = rng.choice(len(which), samples, p=area / area.sum())
    s, t = np.sqrt(rng.random(samples)), rng.random(samples)
    weights = np.stack([1 - s, s * (1 - t), s * t])[..., None]
    return weights[0] * a[k] + weights[1] * b[k] + weights[2] * c[k], thing.normals[which[k]]


def _opposite(
    mesh: PartMesh, normals: np.ndarray, points: np.ndarray, rays: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where rays (n, 3) from points (n, 3) leave the mesh for the last time, the normal there, and whether the part has
    nothing on the other side of the point, from where a finger comes.

    The rays meet triangles by the formula of Möller & Trumbore (1997).
    """
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    e1, e2 = b - a, c - a
    size = np.ptp(mesh.vertices, axis=0).max()
    far, far_normals, alone = np.array(points), np.array(rays), np.zeros(len(points), bool)
    for k, (p, d) in enumerate(zip(points, rays, strict=True)):
        h = np.cross(d, e2)
        det = np.einsum("mi,mi->m", e1, h)
        good = np.abs(det) > 1e-14 * size * size
        det = np.where(good, det, 1.0)
        s = p - a
        u = np.einsum("mi,mi->m", s, h) / det
        q = np.cross(s, e1)
        v, t = q @ d / det, np.einsum("mi,mi->m", e2, q) / det
        hit = good & (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9)
        alone[k] = not (hit & (t < -1e-6 * size)).any()
        ahead = np.where(hit, t, -np.inf)
        last = int(np.argmax(ahead))
        if ahead[last] > 1e-6 * size:
            far[k], far_normals[k] = p + ahead[last] * d, normals[last]
    return far, far_normals, alone
