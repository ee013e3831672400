"""Solid blocks: convex polyhedra with faces, edges and half-spaces, and where segments and rays meet them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats, motions

__all__ = ["Block", "box_block", "convex_block"]

_SAME_PLANE = 1e-9  # of a block's size: triangles of a hull within this are one face


@dataclass(frozen=True, eq=False)
class Block:
    """A convex polyhedron n·x ≤ c: `vertices` (n, 3) [m], and `normals` (f, 3) and `offsets` (f,) [m] of its faces.

    `edges` (m, 2) are pairs of numbers of vertices. `box_block` and `convex_block` make blocks.

        >>> box_block((0.1, 0.2, 0.3))
        <Block: 8 vertices, 12 edges, 6 faces>
    """

    vertices: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray
    edges: np.ndarray

    def __repr__(self) -> str:
        return f"<Block: {len(self.vertices)} vertices, {len(self.edges)} edges, {len(self.normals)} faces>"

    def moved(self, T_world_block) -> Block:
        """The block after a rigid motion (4, 4)."""
        T = motions(T_world_block, (4, 4), "Block.moved: T_world_block")
        R, p = T[:3, :3], T[:3, 3]
        normals = self.normals @ R.T
        return Block(self.vertices @ R.T + p, normals, self.offsets + normals @ p, self.edges)


def box_block(size, T_world_block=None) -> Block:
    """A box with edges of `size` (3,) [m], whose centre and axes are those of the frame `T_world_block` (4, 4).

    >>> box_block((0.1, 0.2, 0.3)).vertices.max(axis=0)
    array([0.05, 0.1 , 0.15])
    """
    size = floats(size)
    if size.shape != (3,) or not (np.isfinite(size) & (size > 0)).all():
        raise ArgumentError(f"box_block: size must be three positive numbers, got {size.tolist()}")
    signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    block = convex_block(signs * size)
    return block if T_world_block is None else block.moved(T_world_block)


def convex_block(points) -> Block:
    """The convex hull of `points` (n, 3) [m] as a `Block`: a wedge, a prism, a pyramid.

    >>> convex_block([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    <Block: 4 vertices, 6 edges, 4 faces>
    """
    from scipy.spatial import ConvexHull, QhullError

    points = floats(points)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ArgumentError(f"convex_block: points must be finite numbers (n, 3), got shape {points.shape}")
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise ArgumentError(
            "convex_block: the points lie in a plane, or are fewer than four; they span no block"
        ) from None
    tolerance = _SAME_PLANE * np.ptp(points, axis=0).max()
    planes: list[np.ndarray] = []  # one for each face; a hull has triangles
    face_of = []
    for plane in hull.equations:
        same = [k for k, other in enumerate(planes) if np.abs(plane - other).max() <= max(tolerance, 1e-9)]
        face_of.append(same[0] if same else len(planes))
        planes += [] if same else [plane]
    sides = Counter()
    for face, triangle in zip(face_of, hull.simplices.tolist(), strict=True):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            sides[face, *sorted((triangle[a], triangle[b]))] += 1
    edges = {(a, b) for (_, a, b), times in sides.items() if times == 1}  # twice: a diagonal inside a face
    kept = sorted({k for edge in edges for k in edge})
    number = {k: n for n, k in enumerate(kept)}
    pairs = np.array(sorted((number[a], number[b]) for a, b in edges))
    normals = np.array(planes)[:, :3]
    return Block(points[kept], normals, (normals @ points[kept].T).max(axis=1), pairs)


def hidden_interval(block: Block, a: np.ndarray, b: np.ndarray, eye: np.ndarray) -> np.ndarray:
    """The open intervals (k, 2) of t where the points a + t (b - a), t in 0 ... 1, of k segments are behind a block.

    `eye` (4,) is (x, y, z, 1), or (x, y, z, 0) for a direction towards the eye. In homogeneous coordinates, the way
    from a point to the eye is (a + t (b - a), 1) + s eye, s > 0. It is inside the block if (n, -c) · this < 0 for all
    faces, which is linear in t and s; s is eliminated (Fourier and Motzkin), since each lower bound must be below
    each upper one. Where nothing is hidden, the interval is empty: its start is not below its end.
    """
    at_a, at_b = (block.normals @ x.T - block.offsets[:, None] for x in (a, b))  # (f, k)
    size = np.abs(block.vertices - block.vertices.mean(axis=0)).max()
    at_a, at_b = (np.where(np.abs(x) < 1e-12 * size, 0.0, x) for x in (at_a, at_b))
    slope = block.normals @ eye[:3] - block.offsets * eye[3]
    low, high, flat = slope < -1e-12, slope > 1e-12, np.abs(slope) <= 1e-12
    # Bounds s > l(t) of faces that look away from the eye, and s > 0; s < h(t) of faces that look at it.
    zero = np.zeros((1, at_a.shape[1]))
    l_a, l_b = (np.concatenate([x[low] / -slope[low, None], zero]) for x in (at_a, at_b))
    h_a, h_b = (-x[high] / slope[high, None] for x in (at_a, at_b))
    f_a = np.concatenate([(l_a[:, None] - h_a[None]).reshape(-1, at_a.shape[1]), at_a[flat]])
    f_b = np.concatenate([(l_b[:, None] - h_b[None]).reshape(-1, at_a.shape[1]), at_b[flat]])
    # f(t) = f_a + t (f_b - f_a) must be negative.
    f_a, f_b = (np.where(np.abs(x) < 1e-12 * size, 0.0, x) for x in (f_a, f_b))
    change = f_b - f_a
    root = -f_a / np.where(change == 0, 1.0, change)
    start = np.where(change < 0, root, np.where((change == 0) & (f_a >= 0), 2.0, 0.0)).max(axis=0)
    end = np.where(change > 0, root, 1.0).min(axis=0)
    return np.stack([np.clip(start, 0, 2), np.clip(end, -1, 1)], axis=1)


def first_face(blocks: list[Block], point: np.ndarray, eye: np.ndarray) -> tuple[int, int, np.ndarray] | None:
    """The block, its face, and the place (3,) that is seen on the line of sight through a point, or None."""
    toward = eye[:3] - point if eye[3] else eye[:3]
    best = (-np.inf, -1, -1)
    for k, block in enumerate(blocks):
        rate, room = block.normals @ toward, block.offsets - block.normals @ point
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = room / rate
        upper = np.where(rate > 0, bound, np.inf)
        lower = np.where(rate < 0, bound, -np.inf).max(initial=-np.inf)
        face = int(np.argmin(upper))
        outside = ((rate == 0) & (room < 0)).any()
        if not outside and lower < upper[face] and best[0] < upper[face] < (1 if eye[3] else np.inf):
            best = (upper[face], k, face)
    if best[1] < 0:
        return None
    return best[1], best[2], point + best[0] * toward


def overlap(one: Block, other: Block) -> bool:
    """Whether the insides of two blocks have a common point."""
    size = max(np.ptp(block.vertices, axis=0).max() for block in (one, other))
    for first, second in ((one, other), (other, one)):  # a face often separates them
        if (first.normals @ second.vertices.T - first.offsets[:, None]).min(axis=1).max() > -1e-9 * size:
            return False
    from scipy.optimize import linprog

    normals, offsets = np.concatenate([one.normals, other.normals]), np.concatenate([one.offsets, other.offsets])
    room = linprog(
        [0, 0, 0, -1],
        np.column_stack([normals, np.ones(len(normals))]),
        offsets,
        bounds=[(None, None)] * 3 + [(None, size)],
    )
    return bool(room.x[3] > 1e-9 * size)


def __dir__() -> list[str]:
    return __all__
