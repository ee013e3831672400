"""`plan_by_freeways`: motions of a polygon along the spines of freeways, with turns where there is room for them."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from .plane_freeways import Freeway, find_freeways
from .plane_graphs import PlanePlan, VisibilityGraph, need_within, obstacle_pieces, shortest_way
from .plane_polygons import cross, robot_pieces, swept_hull, turned
from .plane_slices import Layer, Link, joined_path, layers_of, plane_pose, short_angle, slice_count, turn_weight

__all__ = ["plan_by_freeways"]


def plan_by_freeways(
    robot, obstacles, start, goal, *, bounds=None, slices: int = 16, turn_cost: float | None = None,
    off_spine_cost: float = 4.0,
) -> PlanePlan:  # fmt: skip
    """A motion of a polygon that keeps to the middle between obstacles: along the spines of freeways.

        >>> bar = [[-0.5, -0.1], [0.5, -0.1], [0.5, 0.1], [-0.5, 0.1]]
        >>> walls = [[[0, 1], [4, 1], [4, 2], [0, 2]], [[0, -2], [4, -2], [4, -1], [0, -1]]]
        >>> plan = plan_by_freeways(bar, walls, [0, 0.5, 0], [4, -0.5, 0], bounds=([-2, -3], [6, 3]))
        >>> plan.found
        True

    Parameters
    ----------
    robot, obstacles, bounds, turn_cost
        As in `plan_in_plane`.
    start, goal
        Positions and angles (3,) [m, m, rad].
    slices
        How many slices the circle of angles is cut into, 4 or more.
    off_spine_cost
        How many times as much a metre costs between start or goal and the spines.

    At a point of a spine an orientation is feasible if the box around the robot, along the spine, fits between all
    obstacles. As the robot moves along, obstacles grow into intervals of the spine, by the front and the back of the
    box. The robot turns only where spines cross and at start and goal, and leaves spines only there. So the path keeps
    away from obstacles, but it is not the shortest, and there may be none although one exists: robots that must turn
    while they move between walls, or open space that no two edges enclose. `plan_in_plane` finds those.
    """
    caller = "plan_by_freeways"
    n = slice_count(caller, "slices", slices)
    ends = [plane_pose(caller, name, x, 3) for name, x in (("start", start), ("goal", goal))]
    solids, pieces = obstacle_pieces(caller, obstacles, bounds, robot), robot_pieces(caller, robot)
    need_within(caller, ends, pieces, bounds)
    weight = turn_weight(caller, pieces, turn_cost)
    if not off_spine_cost >= 1:
        raise ArgumentError(f"{caller}: off_spine_cost must be 1 or more; got {off_spine_cost!r:.60}")
    layers, links, first, last = layers_of(caller, pieces, solids, ends[0], ends[1], n)
    freeways = find_freeways(obstacles, bounds=bounds)
    points, on = _spine_points(freeways, np.stack([ends[0][:2], ends[1][:2]]))
    bodies = [_layer_body(pieces, layer) for layer in layers]
    shapes = [p for found in solids.values() for p in found]
    edges, costs, feasible = _spine_edges(freeways, on, bodies, shapes, points)
    more = [_end_edges(layers, points, feasible, off_spine_cost), _turn_edges(layers, links, feasible, weight)]
    edges = np.concatenate([edges, *(e for e, _ in more)])
    costs = np.concatenate([costs, *(c for _, c in more)])
    N = len(layers)  # the state of point p in layer k is p N + k
    way = shortest_way(len(points) * N, edges, costs, first, N + last)
    middles = np.array([layer.middle for layer in layers])
    states = np.column_stack([np.repeat(points, N, axis=0), np.tile(middles, len(points))])
    graph, regions = VisibilityGraph(states, edges, costs), tuple(layer.region for layer in layers)
    if not way:
        return PlanePlan(None, np.inf, np.inf, _reason(freeways, feasible, edges, N, n), graph, regions)
    at = np.array(way)
    path = joined_path(at % N, points[at // N], links, ends[0][2], ends[1][2])
    steps = np.diff(path, axis=0)
    length = float(np.linalg.norm(steps[:, :2], axis=1).sum())
    return PlanePlan(path, length, length + weight * float(np.abs(steps[:, 2]).sum()), "", graph, regions)


def _reason(freeways, feasible: np.ndarray, edges: np.ndarray, N: int, n: int) -> str:
    """Why there is no way: no freeways, none that is wide enough, start or goal off them, or no connection."""
    if not freeways:
        return "there are no freeways: no two edges of obstacles face each other; give bounds"
    if not feasible[2:].any():
        return f"no freeway is wide enough for the robot with {n} slices of angles"
    for name, k in (("start", 0), ("goal", 1)):
        if not ((edges // N == k).any(axis=1) & (edges // N != k).any(axis=1)).any():
            return f"no freeway can be reached from the {name} on a straight line"
    return "the freeways that are wide enough for the robot do not connect start and goal; plan_in_plane may find a way"


def _spine_points(freeways: tuple[Freeway, ...], ends: np.ndarray) -> tuple[np.ndarray, list[tuple]]:
    """Start, goal, crossings of spines and feet of both ends: points (n, 2), and (numbers, stations) by freeway."""
    points, numbers, stations = list(ends), [[] for _ in freeways], [[] for _ in freeways]

    def add(x: np.ndarray, *where: tuple[int, float]) -> None:
        for k, s in where:
            numbers[k].append(len(points))
            stations[k].append(s)
        points.append(x)

    for i, f in enumerate(freeways):
        for end in ends:
            s = float(np.clip((end - f.origin) @ f.along, f.low, f.high))
            add(f.point(s), (i, s))
        for j, g in enumerate(freeways[:i]):
            turn = cross(f.along, g.along)
            if abs(turn) < 1e-9:
                continue
            s, t = (cross(g.origin - f.origin, x) / turn for x in (g.along, f.along))
            if f.low <= s <= f.high and g.low <= t <= g.high:
                add(f.point(s), (i, float(s)), (j, float(t)))
    orders = [np.argsort(s) for s in stations]
    on = [(np.array(p, int)[o], np.array(s)[o]) for p, s, o in zip(numbers, stations, orders, strict=True)]
    return np.array(points), on


def _layer_body(pieces: tuple[np.ndarray, ...], layer: Layer) -> np.ndarray:
    """The corners (k, 2) of what the robot sweeps in a layer."""
    if layer.low == layer.high:
        return np.concatenate([turned(p, layer.low) for p in pieces])
    return np.concatenate([swept_hull(p, layer.low, layer.high) for p in pieces])


def _spine_edges(freeways, on, bodies, shapes, points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges along the spines with their lengths, and which points are feasible in which layers, (n, layers)."""
    N = len(bodies)
    feasible, edges, lengths = np.zeros((len(points), N), bool), [np.zeros((0, 2), int)], [np.zeros(0)]
    for f, (numbers, stations) in zip(freeways, on, strict=True):
        stretch = _stretches(f, stations, bodies, shapes)  # (points, layers), -1 where the robot does not fit
        feasible[numbers] |= stretch >= 0
        same = (stretch[1:] == stretch[:-1]) & (stretch[1:] >= 0)
        i, k = np.nonzero(same)
        edges.append(np.stack([numbers[i] * N + k, numbers[i + 1] * N + k], axis=1))
        lengths.append((stations[1:] - stations[:-1])[i])
    return np.concatenate(edges), np.concatenate(lengths), feasible


def _stretches(f: Freeway, stations: np.ndarray, bodies: list[np.ndarray], shapes: list[np.ndarray]) -> np.ndarray:
    """Which free stretch of a spine stations are on, (stations, layers); -1 where the robot's box hits something."""
    frame = np.stack([f.along, f.across], axis=1)
    low, high = (np.array([reduce(b @ frame, axis=0) for b in bodies]) for reduce in (np.min, np.max))  # (layers, 2)
    blocked = []
    for p in shapes:
        s, y = ((p - f.origin) @ frame).T
        a, b = _band_stations(s, y, low[:, 1], high[:, 1])
        blocked.append((a - high[:, 0], b - low[:, 0]))  # the obstacle grows by the front and the back of the box
    starts, ends = (np.array(x) for x in zip(*blocked, strict=True))  # (shapes, layers), NaN where nothing is hit
    at = stations[:, None, None]
    inside = ((at > starts + 1e-12) & (at < ends - 1e-12)).any(axis=1)
    # Two stations are on one stretch if no obstacle is between them: count those that end before each of them.
    passed = (at >= ends - 1e-12).sum(axis=1)
    return np.where(inside, -1, passed)


def _band_stations(s: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest station of a convex polygon (s, y) between lines y = low and y = high (layers,)."""
    s2, y2 = np.roll(s, -1), np.roll(y, -1)
    rows = [np.where((y > low[:, None]) & (y < high[:, None]), s, np.nan)]
    for level in (low, high):
        rise = np.where(y2 == y, np.nan, y2 - y)
        part = (level[:, None] - y) / rise
        rows.append(np.where((part >= 0) & (part <= 1), s + part * (s2 - s), np.nan))
    found = np.concatenate(rows, axis=1)
    some = (y.min() < high - 1e-12) & (y.max() > low + 1e-12)  # touching is free
    least = np.where(np.isnan(found), np.inf, found).min(axis=1)
    most = np.where(np.isnan(found), -np.inf, found).max(axis=1)
    return np.where(some, least, np.nan), np.where(some, most, np.nan)


def _end_edges(layers: list[Layer], points: np.ndarray, feasible: np.ndarray, price: float):
    """Straight lines from start and goal to points of spines; start and goal become feasible where they are free."""
    N, edges, costs = len(layers), [], []
    for k, layer in enumerate(layers):
        feasible[:2, k] = layer.region.points_free(points[:2])
        there = np.flatnonzero(feasible[2:, k]) + 2
        for end in np.flatnonzero(feasible[:2, k]):
            seen = there[layer.region.segments_free(np.broadcast_to(points[end], (len(there), 2)), points[there])]
            edges.append(np.stack([np.full(len(seen), end * N + k), seen * N + k], axis=1))
            costs.append(price * np.linalg.norm(points[seen] - points[end], axis=1))
    return np.concatenate([np.zeros((0, 2), int), *edges]), np.concatenate([np.zeros(0), *costs])


def _turn_edges(layers: list[Layer], links: list[Link], feasible: np.ndarray, weight: float):
    """Changes of the layer at points that are feasible in both."""
    N, edges, costs = len(layers), [], []
    for link in links:
        p = np.flatnonzero(feasible[:, link.a] & feasible[:, link.b])
        edges.append(np.stack([p * N + link.a, p * N + link.b], axis=1))
        turn = sum(abs(short_angle(layers[k].middle - link.angle)) for k in (link.a, link.b))
        costs.append(np.full(len(p), weight * turn))
    return np.concatenate(edges), np.concatenate(costs)
