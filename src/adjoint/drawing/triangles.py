"""Meshes of triangles, and those of simple solids around the origin, along z. Faces are seen from outside
counterclockwise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

__all__ = ["Mesh", "along", "ball", "bar", "box", "drum", "joined", "lathe", "limb", "moved", "tube"]


class Mesh(NamedTuple):
    """Triangles: `vertices` (k, 3) [m] of float32, and `faces` (m, 3), the numbers of the three vertices of each."""

    vertices: np.ndarray
    faces: np.ndarray


def moved(mesh: Mesh, T: np.ndarray) -> Mesh:
    """The mesh at the placement T (4, 4)."""
    return Mesh((mesh.vertices @ T[:3, :3].T + T[:3, 3]).astype(np.float32), mesh.faces)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Several meshes as one."""
    first = np.cumsum([0, *(len(x.vertices) for x in meshes)])
    faces = [x.faces + k for x, k in zip(meshes, first, strict=False)]
    return Mesh(np.concatenate([x.vertices for x in meshes]), np.concatenate(faces).astype(np.int32))


def box(x: float, y: float, z: float) -> Mesh:
    """A box with edges x, y, z [m]."""
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * [x / 2, y / 2, z / 2]
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in squares for face in ((a, b, c), (a, c, d))]
    return Mesh(corners.astype(np.float32), np.array(faces, np.int32))


def lathe(outline: Sequence[tuple[float, float]], sides: int = 24) -> Mesh:
    """What a lathe turns about z: `outline` has pairs (radius, height) [m], upwards; it begins and ends at radius 0."""
    angles = 2 * np.pi * np.arange(sides) / sides
    rings = [(r * np.cos(angles), r * np.sin(angles), np.full(sides, h)) for r, h in outline]
    vertices = np.concatenate([np.stack(ring, axis=-1) for ring in rings])
    this = np.arange(sides)
    following = (this + 1) % sides
    faces = []
    for k, (low, high) in enumerate(pairwise(outline)):
        a, b = sides * k, sides * (k + 1)
        if low[0] > 0:
            faces.append(np.stack([a + this, a + following, b + following], axis=-1))
        if high[0] > 0:
            faces.append(np.stack([a + this, b + following, b + this], axis=-1))
    return Mesh(vertices.astype(np.float32), np.concatenate(faces).astype(np.int32))


def tube(radius: float, length: float, top: float | None = None, sides: int = 24) -> Mesh:
    """A cylinder, or a cone that ends with the radius `top` [m]."""
    h = length / 2
    return lathe([(0, -h), (radius, -h), (radius if top is None else top, h), (0, h)], sides)


def ball(radius: float, length: float = 0.0, sides: int = 20) -> Mesh:
    """A ball; with a length, a capsule: a cylinder of this length between two halves of a ball [m]."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, max(2, sides // 4 * 2) + 2)  # an even number: none is 0
    outline = [(radius * np.cos(a), radius * np.sin(a) + np.copysign(length / 2, a)) for a in angles[1:-1]]
    ends = radius + length / 2
    return lathe([(0.0, -ends), *((float(r), float(h)) for r, h in outline), (0.0, ends)], sides)


def drum(radius: float, length: float, bevel: float = 0.15, sides: int = 24) -> Mesh:
    """A cylinder whose edges are cut off at 45°, by `bevel` of the smaller of its radius and half its length [m]."""
    h = length / 2
    b = bevel * min(radius, h)
    return lathe([(0, -h), (radius - b, -h), (radius, b - h), (radius, h - b), (radius - b, h), (0, h)], sides)


def limb(radius: float, end: float, length: float, waist: float = 0.15, sides: int = 24, rings: int = 9) -> Mesh:
    """A smooth body of a link from z = 0, with a radius there, to z = `length`, with the radius `end` [m].

    In the middle it is thinner, by the fraction `waist`.
    """
    s = np.linspace(0, 1, rings)
    radii = ((1 - s) * radius + s * end) * (1 - waist * np.sin(np.pi * s) ** 2)
    outline = [(0.0, 0.0), *zip(radii.tolist(), (length * s).tolist(), strict=True), (0.0, length)]
    return lathe(outline, sides)


def bar(x: float, y: float, start: float, end: float) -> Mesh:
    """A bar with edges x and y, from z = `start` to z = `end` [m]."""
    return Mesh(box(x, y, end - start).vertices + np.array([0, 0, (start + end) / 2], np.float32), box(1, 1, 1).faces)


def along(point: np.ndarray, direction: np.ndarray, side: np.ndarray | None = None) -> np.ndarray:
    """The placement (4, 4) at a point whose z axis has a direction (3,), not 0, and whose x axis is near `side`."""
    z = direction / np.linalg.norm(direction)
    x = np.eye(3)[np.argmin(np.abs(z))] if side is None else side
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([np.cross(y, z), y, z], axis=1), point
    return T
