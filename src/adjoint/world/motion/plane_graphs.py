"""Visibility graphs of grown obstacles, and the shortest ways through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from ...errors import ArgumentError
from ...model.input_checks import floats
from .plane_polygons import convex_pieces, grown_pieces, named_polygons, turned
from .plane_regions import ForbiddenRegion, forbidden_region

__all__ = ["PlanePlan", "VisibilityGraph", "visibility_graph"]


class VisibilityGraph(NamedTuple):
    """Points (n, 2) in the plane, and the pairs of them (m, 2) that see each other, with their distances (m,) [m]."""

    nodes: np.ndarray
    edges: np.ndarray
    lengths: np.ndarray


class PlanePlan(NamedTuple):
    """A motion in the plane, or why there is none.

    - `path`: corners (k, 2) of the way of the reference point [m], or (k, 3) with the angles [rad]; None without a way.
    - `length`: of the way of the reference point [m]; with turns, `cost` adds the turns times their weight.
    - `reason`: why there is no path; empty if there is one.
    - `graph`: what was searched; `region`: what was forbidden, or the regions of all slices of angles.
    """

    path: np.ndarray | None
    length: float
    cost: float
    reason: str
    graph: VisibilityGraph
    region: ForbiddenRegion | tuple[ForbiddenRegion, ...]

    @property
    def found(self) -> bool:
        """Whether there is a path."""
        return self.path is not None


def visibility_graph(region: ForbiddenRegion, points=()) -> VisibilityGraph:
    """The visibility graph of a forbidden region: its corners and more points, and who sees whom.

        >>> region = forbidden_region([np.array([[1, 0], [4, 0], [4, 3], [1, 3.0]])])
        >>> graph = visibility_graph(region, [[0, 1], [6, 1]])
        >>> len(graph.nodes), len(graph.edges)                             # all but the two diagonals and four others
        (6, 8)

    The shortest path between two points that keeps out of polygons is a chain of its edges (Lozano-Pérez & Wesley
    1979). The first nodes are the `points` (n, 2), then come the corners of all polygons that are not inside of others.
    """
    corners = list(region.polygons) or [np.zeros((0, 2))]
    nodes = np.concatenate([np.reshape(points, (-1, 2)), *corners]).astype(float)
    given = len(nodes) - sum(map(len, corners))
    kept = region.points_free(nodes)
    kept[:given] = True
    nodes = nodes[kept]
    return _graph(region, nodes)


def _graph(region: ForbiddenRegion, nodes: np.ndarray) -> VisibilityGraph:
    i, j = np.triu_indices(len(nodes), 1)
    seen = region.segments_free(nodes[i], nodes[j])
    edges = np.stack([i[seen], j[seen]], axis=1)
    return VisibilityGraph(nodes, edges, np.linalg.norm(nodes[i[seen]] - nodes[j[seen]], axis=1))


def shortest_way(n: int, edges: np.ndarray, lengths: np.ndarray, start: int, goal: int) -> list[int]:
    """The nodes of the shortest way through a graph with n nodes, or an empty list."""
    # A length of 0 would be no edge of a sparse matrix.
    lengths = np.maximum(lengths, 1e-300)
    matrix = coo_array((lengths, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    far, before = dijkstra(matrix, directed=False, indices=start, return_predecessors=True)
    if not np.isfinite(far[goal]):
        return []
    way = [goal]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    return way[::-1]


# --- obstacles --------------------------------------------------------------------------------------------------------


def need_outside(caller: str, name: str, x: np.ndarray, region: ForbiddenRegion) -> None:
    """Raise an `ArgumentError` if the robot's position x overlaps obstacles; it names them."""
    hit = region.names_at(x[:2])
    if hit:
        names = " and ".join(f"'{name}'" for name in hit)
        where = ", ".join(f"{c:g}" for c in x)
        raise ArgumentError(f"{caller}: at the {name} ({where}) the robot overlaps obstacle {names}; move one of them")


def need_within(caller: str, ends: Sequence[np.ndarray], pieces: tuple[np.ndarray, ...], bounds) -> None:
    """Raise an `ArgumentError` if a robot of these pieces is not inside of the bounds at its start or goal (2 or 3,).

    The walls around the bounds are of a finite width: what is beyond them is free, but not meant.
    """
    box = bounds_box(caller, bounds)
    for name, x in zip(("start", "goal"), ends, strict=True):
        points = np.concatenate([turned(p, x[2]) if len(x) == 3 else p for p in pieces]) + x[:2]
        if box is None:
            continue
        beyond = np.stack([box[0] - points, points - box[1]], axis=1).max(axis=0)  # (lower or upper, x or y)
        if beyond.max() > 1e-9 * np.abs(box).max():
            side = ("left", "lower", "right", "upper")[int(np.argmax(beyond))]
            where = ", ".join(f"{c:g}" for c in x)
            raise ArgumentError(f"{caller}: at the {name} ({where}) the robot is beyond the '{side} bound'; move it")


def obstacle_pieces(caller: str, obstacles, bounds, robot) -> dict[str, tuple[np.ndarray, ...]]:
    """The convex pieces of all obstacles by their names, and four walls around the bounds."""
    found = {name: convex_pieces(p) for name, p in named_polygons(caller, obstacles).items()}
    return found | {name: (wall,) for name, wall in walls(caller, bounds, robot).items()}


def bounds_box(caller: str, bounds) -> np.ndarray | None:
    """The bounds as an array (2, 2) of two corners, or None."""
    if bounds is None:
        return None
    box = floats(bounds)
    if box.shape != (2, 2) or not (box[1] > box[0]).all() or not np.isfinite(box).all():
        raise ArgumentError(
            f"{caller}: bounds must be (low, high), two corners (2,) with low < high; got {bounds!r:.60}"
        )
    return box


def walls(caller: str, bounds, robot) -> dict[str, np.ndarray]:
    """Four rectangles around the bounds, thicker than the robot is long; none without bounds."""
    box = bounds_box(caller, bounds)
    if box is None:
        return {}
    (a, b), (c, d) = box
    t = (c - a) + (d - b) + (0.0 if robot is None else float(np.ptp(floats(robot), axis=0).sum()))

    def rectangle(x0, y0, x1, y1):
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])

    return {
        "left bound": rectangle(a - t, b - t, a, d + t),
        "right bound": rectangle(c, b - t, c + t, d + t),
        "lower bound": rectangle(a - t, b - t, c + t, b),
        "upper bound": rectangle(a - t, d, c + t, d + t),
    }


def grown_region(solids: dict[str, tuple[np.ndarray, ...]], robot: tuple[np.ndarray, ...]) -> ForbiddenRegion:
    """What is forbidden for the reference point of a robot, given as convex pieces."""
    grown = [(name, piece) for name, pieces in solids.items() for piece in grown_pieces(pieces, robot)]
    return forbidden_region([piece for _, piece in grown], [name for name, _ in grown])
