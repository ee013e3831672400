"""Shortest motions of a polygon that may turn: its angles in slices, and a visibility graph in each of them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import floats
from .plane_graphs import PlanePlan, VisibilityGraph, grown_region, need_outside, shortest_way
from .plane_polygons import cross, swept_hull, turned
from .plane_regions import ForbiddenRegion

__all__: list[str] = []

_TURN = 2 * np.pi


def slice_count(caller: str, label: str, n) -> int:
    """The number of slices, or an `ArgumentError`."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 4:
        either = "False or " if label == "rotate" else ""
        raise ArgumentError(f"{caller}: {label} must be {either}a number of slices, 4 or more; got {n!r:.60}")
    return int(n)


def plane_pose(caller: str, name: str, x, size: int) -> np.ndarray:
    """A start or goal as numbers (size,), or an `ArgumentError`."""
    found = floats(x)
    if found.shape != (size,) or not np.isfinite(found).all():
        what = "a position (2,)" if size == 2 else "a position and an angle (3,), since the robot turns,"
        raise ArgumentError(f"{caller}: {name} must be {what} of finite numbers; got {x!r:.60}")
    return found


def turn_weight(caller: str, pieces: tuple[np.ndarray, ...], turn_cost) -> float:
    """The cost of a turn [m/rad]: by default the way of the robot's farthest corner."""
    weight = max(float(np.linalg.norm(p, axis=1).max()) for p in pieces) if turn_cost is None else float(turn_cost)
    if not 0 <= weight < np.inf:
        raise ArgumentError(f"{caller}: turn_cost must be a finite number that is not negative; got {turn_cost!r:.60}")
    return weight


class Layer(NamedTuple):
    """All angles from `low` to `high` [rad], and what is forbidden if the robot may have each of them."""

    low: float
    high: float
    region: ForbiddenRegion

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


class Link(NamedTuple):
    """Two layers, by their numbers, that have an angle [rad] in common."""

    a: int
    b: int
    angle: float


def angle_slices(robot: tuple[np.ndarray, ...], solids: dict, n: int) -> list[Layer]:
    """The circle of angles in n slices, with the obstacles grown by what the robot's pieces sweep in each."""
    ends = _TURN * np.arange(n + 1) / n
    return [
        Layer(a, b, grown_region(solids, tuple(swept_hull(p, a, b) for p in robot))) for a, b in pairwise(ends.tolist())
    ]


def exact_layer(robot: tuple[np.ndarray, ...], solids: dict, angle: float) -> Layer:
    """A layer of one angle only."""
    angle = float(angle % _TURN)
    return Layer(angle, angle, grown_region(solids, tuple(turned(p, angle) for p in robot)))


def slice_links(n: int) -> list[Link]:
    """The links of each slice with the next one around the circle."""
    return [Link(k, (k + 1) % n, _TURN * (k + 1) / n) for k in range(n)]


def layers_of(
    caller: str, robot, solids: dict, start: np.ndarray, goal: np.ndarray, n: int
) -> tuple[list[Layer], list[Link], int, int]:
    """Slices, and layers of the two angles at the ends; their links; the numbers of the layers of start and goal."""
    layers, links = angle_slices(robot, solids, n), slice_links(n)
    ends = []
    for name, x in (("start", start), ("goal", goal)):
        layer = exact_layer(robot, solids, x[2])
        need_outside(caller, name, x, layer.region)
        links += [
            Link(len(layers), k, layer.low)
            for k in range(n)
            if layers[k].low - 1e-12 <= layer.low <= layers[k].high + 1e-12
        ]
        ends.append(len(layers))
        layers.append(layer)
    if np.isclose(layers[ends[0]].low, layers[ends[1]].low, rtol=0, atol=1e-12):
        links.append(Link(ends[0], ends[1], layers[ends[0]].low))
    return layers, links, ends[0], ends[1]


def _edge_crossings(a: ForbiddenRegion, b: ForbiddenRegion) -> np.ndarray:
    """The points (n, 2) at which edges of the polygons of one region cross those of the other."""
    if not a.polygons:
        return np.zeros((0, 2))
    p, u, q, v = (np.concatenate(x) for r in (a, b) for x in (r.polygons, [np.roll(p, -1, 0) - p for p in r.polygons]))
    apart, den = q[None] - p[:, None], cross(u[:, None], v[None])
    lengths = np.linalg.norm(u, axis=1)[:, None] * np.linalg.norm(v, axis=1)
    safe = np.where(np.abs(den) > 1e-12 * lengths, den, np.inf)  # others are parallel
    s, t = cross(apart, v[None]) / safe, cross(apart, u[:, None]) / safe
    hit = (s > 0) & (s < 1) & (t > 0) & (t < 1) & np.isfinite(safe)
    i, j = np.nonzero(hit)
    return p[i] + s[i, j][:, None] * u[i]


class _States(NamedTuple):
    """Points in layers: the layer and the point of each state, and all points (n, 2)."""

    layer: np.ndarray
    point: np.ndarray
    points: np.ndarray


def _states(layers: list[Layer], links: list[Link], ends: np.ndarray) -> _States:
    """Which points can be corners of a path in which layers: corners of a layer, and those of its neighbours."""
    points, own = [ends], [np.array([0, 1])] * len(layers)
    count = 2

    def add(new: np.ndarray, where: set[int]) -> None:
        nonlocal count
        for k in where:
            own[k] = np.append(own[k], np.arange(count, count + len(new)))
        points.append(new)
        count += len(new)

    beside = {k: {k} for k in range(len(layers))}
    for link in links:
        beside[link.a].add(link.b)
        beside[link.b].add(link.a)
        add(_edge_crossings(layers[link.a].region, layers[link.b].region), {link.a, link.b})
    for k, layer in enumerate(layers):
        add(np.concatenate([*layer.region.polygons, np.zeros((0, 2))]), beside[k])
    all_points = np.concatenate(points)
    kept = [ids[layer.region.points_free(all_points[ids])] for ids, layer in zip(own, layers, strict=True)]
    return _States(np.repeat(np.arange(len(layers)), list(map(len, kept))), np.concatenate(kept), all_points)


def _edges(layers: list[Layer], links: list[Link], states: _States, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Edges between states and their costs: straight lines in one layer, and changes of the layer at a point."""
    edges, costs = [], []
    for k, layer in enumerate(layers):
        here = np.flatnonzero(states.layer == k)
        i, j = np.triu_indices(len(here), 1)
        x = states.points[states.point[here]]
        seen = layer.region.segments_free(x[i], x[j])
        edges.append(np.stack([here[i[seen]], here[j[seen]]], axis=1))
        costs.append(np.linalg.norm(x[i[seen]] - x[j[seen]], axis=1))
    for link in links:
        a, b = (np.flatnonzero(states.layer == k) for k in link[:2])
        _, i, j = np.intersect1d(states.point[a], states.point[b], assume_unique=True, return_indices=True)
        turn = sum(abs(short_angle(layers[k].middle - link.angle)) for k in link[:2])
        edges.append(np.stack([a[i], b[j]], axis=1))
        costs.append(np.full(len(i), weight * turn))
    return np.concatenate(edges), np.concatenate(costs)


def short_angle(angle: float) -> float:
    """The angle in [-π, π) that differs by full turns."""
    return (angle + np.pi) % _TURN - np.pi


def plan_in_slices(robot, solids: dict, start: np.ndarray, goal: np.ndarray, n: int, weight: float) -> PlanePlan:
    """`plan_in_plane` with turns: the shortest way through the layers of angles, each with its visibility graph."""
    layers, links, first, last = layers_of("plan_in_plane", robot, solids, start, goal, n)
    states = _states(layers, links, np.stack([start[:2], goal[:2]]))
    edges, costs = _edges(layers, links, states, weight)
    ends = [int(np.flatnonzero((states.layer == k) & (states.point == p))[0]) for k, p in ((first, 0), (last, 1))]
    way = shortest_way(len(states.layer), edges, costs, *ends)
    middles = np.array([layer.middle for layer in layers])
    graph = VisibilityGraph(np.column_stack([states.points[states.point], middles[states.layer]]), edges, costs)
    regions = tuple(layer.region for layer in layers)
    if not way:
        reason = (
            f"with {n} slices of angles the grown obstacles separate start and goal; "
            f"more slices, such as rotate={2 * n}, may open a narrow passage"
        )
        return PlanePlan(None, np.inf, np.inf, reason, graph, regions)
    path = joined_path(states.layer[way], states.points[states.point[way]], links, start[2], goal[2])
    steps = np.diff(path, axis=0)
    length = float(np.linalg.norm(steps[:, :2], axis=1).sum())
    return PlanePlan(path, length, length + weight * float(np.abs(steps[:, 2]).sum()), "", graph, regions)


def joined_path(layers: np.ndarray, points: np.ndarray, links: list[Link], start: float, goal: float) -> np.ndarray:
    """The path (k, 3) through layers: the angle changes along each stretch in one layer, or at one point."""
    common = {frozenset(link[:2]): link.angle for link in links}
    changes = np.flatnonzero(np.diff(layers)) + 1
    rows, angle = [], start
    for a, b in zip([0, *changes], [*changes, len(layers)], strict=True):
        end = goal if b == len(layers) else common[frozenset((int(layers[b - 1]), int(layers[b])))]
        end = angle + short_angle(end - angle)
        x = points[a:b]
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        part = way / way[-1] if way[-1] > 0 else np.linspace(0, 1, len(x)) if len(x) > 1 else np.zeros(1)
        rows.append(np.column_stack([x, angle + part * (end - angle)]))
        if len(x) == 1:
            rows.append(np.array([[*x[0], end]]))
        angle = end
    path = np.concatenate(rows)
    path = path[np.append(True, np.abs(np.diff(path, axis=0)).max(axis=1) > 0)]
    steps = np.diff(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    goes_on = np.abs(steps[1:] - steps[:-1]).max(axis=1, initial=0.0) < 1e-12
    return path[np.concatenate([[True], ~goes_on, [True]])[: len(path)]]
