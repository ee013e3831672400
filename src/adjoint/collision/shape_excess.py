"""How far the surface of a capsule is from a mesh at most: a bound by branching over patches of the surface."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from ..lazy import cached_property
from .shape_fitting import Fit

__all__ = ["MeshSamples", "excess_of", "inside_depth", "surface_samples"]

_SAMPLES = 6000  # wanted points on a mesh
_ROUGH = 1500  # of these points, for estimates
_NEARLY = 0.03  # neighbours may be farther than the nearest by this part: samples on an axis have very many
_FINE = 0.025  # patches are divided until the bound is so near to a true distance, in parts of the radius
_PATCHES = 25_000  # at most, at one level
_LONGEST = 1000  # patches along a capsule at first: those of a wire, nearly without a radius, are longer than wide


class MeshSamples:
    """Points on triangles (m, 3, 3), and the distance from any point to the triangles, never too small."""

    def __init__(self, triangles: np.ndarray):
        self.triangles = triangles
        self.points, self.owner = _spread(triangles, _SAMPLES)

    @cached_property
    def tree(self) -> KDTree:
        """All samples."""
        return KDTree(self.points)

    @cached_property
    def rough(self) -> KDTree:
        """Some of the samples, for estimates."""
        return KDTree(self.points[:: max(len(self.points) // _ROUGH, 1)])

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Distances (n,) [m] from points (n, 3) to the triangles with the nearest samples: at least the true ones."""
        _, nearest = self.tree.query(points, k=min(3, len(self.points)), eps=_NEARLY)
        nearest = np.asarray(nearest).reshape(len(points), -1)
        found = [_to_triangles(points, self.triangles[self.owner[column]]) for column in nearest.T]
        return np.min(found, axis=0)


def excess_of(fit: Fit, mesh: MeshSamples, others: list[Fit]) -> float:
    """An upper bound [m] of the distance from points of a capsule's surface that no other capsule covers to a mesh.

    A patch of the surface with the half diagonal h about a point has no point farther than h plus the distance there.
    Patches are divided as long as they could matter, and left out where they lie inside one of `others`.
    """
    length = float(np.linalg.norm(fit.end - fit.start))
    along, around = length + np.pi * fit.radius, 2 * np.pi * fit.radius  # the profile from pole to pole, the girth
    if fit.radius == 0:
        return 0.0
    n, m = int(np.clip(np.ceil(along / fit.radius), 3, _LONGEST)), 6
    u, turn = (x.reshape(-1) for x in np.meshgrid((np.arange(n) + 0.5) / n, (np.arange(m) + 0.5) / m))
    least = 0.0
    while True:
        half = float(np.hypot(along / n, around / m) / 2)
        points = _surface(fit, length, u * along, turn * 2 * np.pi)
        matters = np.ones(len(u), bool)
        covered = np.zeros(len(u), bool)
        for other in others:
            depth = inside_depth(other, points)
            matters &= depth < half
            covered |= depth >= 0
        u, turn, points, covered = u[matters], turn[matters], points[matters], covered[matters]
        if not len(u):
            return least
        distance = mesh.distance(points)
        least = max(least, float(distance[~covered].max(initial=0.0)))
        far = distance + half
        keep = far > least + _FINE * fit.radius
        if not keep.any() or 4 * np.count_nonzero(keep) > _PATCHES:
            return float(far.max())
        n, m = 2 * n, 2 * m
        u = (u[keep][:, None] + np.array([-0.5, -0.5, 0.5, 0.5]) / n).reshape(-1)
        turn = (turn[keep][:, None] + np.array([-0.5, 0.5, -0.5, 0.5]) / m).reshape(-1)


def inside_depth(fit: Fit, points: np.ndarray) -> np.ndarray:
    """How deep (n,) points (n, 3) are inside a capsule [m]; negative outside."""
    way = fit.end - fit.start
    square = float(way @ way)
    part = np.clip((points - fit.start) @ way / square, 0.0, 1.0) if square > 0 else np.zeros(len(points))
    return fit.radius - np.linalg.norm(points - fit.start - part[:, None] * way, axis=1)


def surface_samples(fit: Fit, count: int) -> np.ndarray:
    """About `count` points (k, 3) that are spread over the surface of a capsule."""
    length = float(np.linalg.norm(fit.end - fit.start))
    along = length + np.pi * fit.radius
    if fit.radius == 0:
        return np.linspace(fit.start, fit.end, count)
    m = max(int(np.sqrt(count * 2 * np.pi * fit.radius / along)), 6)
    u, turn = np.meshgrid((np.arange(-(-count // m)) + 0.5) / -(-count // m), np.arange(m) / m)
    return _surface(fit, length, u.reshape(-1) * along, turn.reshape(-1) * 2 * np.pi)


def _surface(fit: Fit, length: float, along: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the surface, at a length `along` the profile from the pole at the start, and an angle."""
    r = fit.radius
    z = (fit.end - fit.start) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    quarter = np.pi * r / 2
    first = np.clip(along / r, 0.0, np.pi / 2)  # the angle from the first pole, then the cylinder, then the last pole
    last = np.clip((along - quarter - length) / r, 0.0, np.pi / 2)
    height = np.clip(along - quarter, 0.0, length) + r * (np.sin(last) - np.cos(first))
    off = r * np.sin(first) * np.cos(last)
    return fit.start + height[:, None] * z + off[:, None] * (np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y)


def _spread(triangles: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """About `count` points (k, 3) or more that are spread over triangles, and the number (k,) of the triangle of each.

    Large triangles have a grid of points; of those that are smaller than the spacing, some have their middle.
    """
    size = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1) / 2
    longest = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    spacing = np.sqrt(max(size.sum(), 1e-3 * longest.max() ** 2) / count)
    parts = np.clip(np.ceil(longest / spacing), 1, 64).astype(int) if spacing > 0 else np.ones(len(triangles), int)
    small = np.flatnonzero(parts == 1)
    if len(small) > count:
        total = np.cumsum(size[small])
        wanted = int(2 * total[-1] / spacing**2) + 1
        chosen = np.searchsorted(total, (np.arange(wanted) + 0.5) / wanted * total[-1])
        small = small[np.unique(np.minimum(chosen, len(small) - 1))]
    points, owner = [triangles[small].mean(axis=1)], [small]
    for k in np.unique(parts[parts > 1]):
        chosen = np.flatnonzero(parts == k)
        i, j = np.nonzero(np.add.outer(np.arange(k + 1), np.arange(k + 1)) <= k)
        weights = np.stack([i, j, k - i - j], axis=1) / k  # (p, 3)
        points.append(np.einsum("pc,tcx->tpx", weights, triangles[chosen]).reshape(-1, 3))
        owner.append(np.repeat(chosen, len(weights)))
    return np.concatenate(points), np.concatenate(owner)


def _to_triangles(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The distance (n,) from each point (n, 3) to its own triangle (n, 3, 3)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    edges = [(a, b), (b, c), (c, a)]
    found = np.min([_to_segments(points, *edge) for edge in edges], axis=0)
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1)
    inner = np.all(
        [np.einsum("ij,ij->i", np.cross(normal, end - start), points - start) >= 0 for start, end in edges], axis=0
    )
    flat = np.abs(np.einsum("ij,ij->i", normal, points - a)) / np.where(size > 0, size, 1.0)
    return np.where(inner & (size > 0), np.minimum(flat, found), found)


def _to_segments(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    way = end - start
    square = np.einsum("ij,ij->i", way, way)
    part = np.einsum("ij,ij->i", points - start, way) / np.where(square > 0, square, 1.0)
    return np.linalg.norm(points - start - np.clip(part, 0.0, 1.0)[:, None] * way, axis=1)
