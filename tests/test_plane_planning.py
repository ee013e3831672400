"""Motions in the plane: Minkowski sums, visibility graphs, slices of angles, and freeways."""

import heapq
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import adjoint as aj
from adjoint.collision import edges_free, is_free
from adjoint.errors import ArgumentError
from adjoint.sensing import Box, Sphere
from adjoint.world.motion.plane_freeway_plans import plan_by_freeways
from adjoint.world.motion.plane_freeways import find_freeways
from adjoint.world.motion.plane_graphs import visibility_graph
from adjoint.world.motion.plane_grids import configuration_grid, plan_on_grid
from adjoint.world.motion.plane_plans import plan_in_plane
from adjoint.world.motion.plane_polygons import (
    area,
    checked_polygon,
    convex_pieces,
    grow_obstacle,
    minkowski_sum,
    swept_polygon,
)
from adjoint.world.motion.plane_regions import forbidden_region, segment_inside

from .support.gantries import collision_model, flat_arm, gantry

SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
BAR = np.array([[-1.5, -0.2], [1.5, -0.2], [1.5, 0.2], [-1.5, 0.2]])
ELL = np.array([[0, 0], [2, 0], [2, 0.5], [0.5, 0.5], [0.5, 2], [0, 2.0]])
DOOR = {"low": [[3, -5], [4, -5], [4, -0.5], [3, -0.5]], "high": [[3, 0.5], [4, 0.5], [4, 5], [3, 5]]}
ROOM = ([-3, -5], [10, 5])


def rectangle(x0, y0, x1, y1):
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)


def star(rng, corners=9, spikes=0.7):
    """A random simple polygon, star-shaped about the origin, in general not convex."""
    angles = (np.arange(corners) + rng.uniform(0, 0.7, corners)) * 2 * np.pi / corners
    radii = rng.uniform(1 - spikes, 1, corners)
    return radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def convex(rng, corners=7):
    points = rng.normal(size=(corners + 4, 2))
    return points[ConvexHull(points).vertices]


def turned(p, angle):
    c, s = np.cos(angle), np.sin(angle)
    return p @ np.array([[c, s], [-s, c]])


def winding(polygon, points):
    """How often a polygon winds around points (n, 2): an inside test that knows no convex pieces."""
    d = polygon - points[:, None]
    a = np.arctan2(d[..., 1], d[..., 0])
    return np.rint(((np.roll(a, -1, axis=1) - a + np.pi) % (2 * np.pi) - np.pi).sum(axis=1) / (2 * np.pi))


def signs(a, b, c):
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])


def overlap(p, q):
    """Whether two polygons in general position overlap: edges cross, or one is inside of the other."""
    a, b, c, d = p[:, None], np.roll(p, -1, 0)[:, None], q[None], np.roll(q, -1, 0)[None]
    crossing = (signs(a, b, c) * signs(a, b, d) < 0) & (signs(c, d, a) * signs(c, d, b) < 0)
    return crossing.any() or winding(p, q[:1])[0] != 0 or winding(q, p[:1])[0] != 0


def borders_apart(p, q):
    """The least distance between corners of one polygon and edges of the other."""

    def corner_distance(x, y):
        e = np.roll(y, -1, 0) - y
        t = np.clip(((x[:, None] - y) * e).sum(-1) / (e * e).sum(-1), 0, 1)
        return np.linalg.norm(x[:, None] - y - t[..., None] * e, axis=-1).min()

    return min(corner_distance(p, q), corner_distance(q, p))


# --- polygons ---------------------------------------------------------------------------------------------------------


def test_grown_obstacle_of_the_fixture():
    (grown,) = grow_obstacle(rectangle(2, 1, 4, 3), SQUARE)
    assert {tuple(c) for c in grown} == {(1, 0), (4, 0), (4, 3), (1, 3)}


def test_shortest_path_of_the_fixture():
    plan = plan_in_plane(SQUARE, [rectangle(2, 1, 4, 3)], [0, 1], [6, 1])
    assert plan.path is not None and plan.path.tolist() == [[0, 1], [1, 0], [4, 0], [6, 1]]
    assert plan.length == pytest.approx(np.sqrt(2) + 3 + np.sqrt(5), abs=1e-14)
    assert round(plan.length, 4) == 6.6503
    assert plan.found and not plan.reason


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_minkowski_sums_are_hulls_of_all_sums(seed):
    rng = np.random.default_rng(seed)
    a, b = convex(rng), convex(rng)
    sums = (a[:, None] + b).reshape(-1, 2)
    expected = sums[ConvexHull(sums).vertices]
    found = minkowski_sum(a, b)
    assert len(found) <= len(a) + len(b)
    assert area(found) == pytest.approx(area(expected), rel=1e-12)
    for corner in expected:
        assert np.abs(found - corner).max(axis=1).min() < 1e-9


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_point_is_in_the_grown_obstacle_where_the_robot_hits_it(seed):
    rng = np.random.default_rng(seed)
    robot, obstacle = 0.6 * star(rng) + rng.uniform(-0.5, 0.5, 2), star(rng)
    region = forbidden_region(grow_obstacle(obstacle, robot))
    for x in rng.uniform(-2, 2, (40, 2)):
        if borders_apart(robot + x, obstacle) > 1e-6:
            assert region.points_free(x) == (not overlap(robot + x, obstacle))


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_convex_pieces_are_convex_and_make_up_the_polygon(seed):
    rng = np.random.default_rng(seed)
    p = star(rng, corners=int(rng.integers(4, 16)))
    pieces = convex_pieces(p)
    assert sum(map(area, pieces)) == pytest.approx(abs(area(p)), rel=1e-9)
    for piece in pieces:
        assert (signs(np.roll(piece, 1, 0), piece, np.roll(piece, -1, 0)) > 0).all()
    points = rng.uniform(-1, 1, (60, 2))
    inside = forbidden_region(pieces).inside(points).any(axis=1)
    assert np.array_equal(inside, winding(p, points) != 0)
    # Hertel and Mehlhorn leave at most 4 times the least number, which is at most the number of reflex corners + 1.
    turns = signs(np.roll(p, 1, 0), p, np.roll(p, -1, 0)) * np.sign(area(p))
    assert len(pieces) <= 1 + 2 * (turns < 0).sum()


def test_orientation_and_straight_corners_do_not_matter():
    clockwise = [[0, 0], [0, 2], [2, 2], [2, 1], [2, 0], [1, 0]]
    assert np.array_equal(checked_polygon("f", "p", clockwise)[:, 0].sum(), 4.0)
    assert len(convex_pieces(clockwise)) == 1 and len(convex_pieces(clockwise)[0]) == 4
    assert len(convex_pieces(ELL)) == 2
    assert sum(map(area, convex_pieces(ELL))) == pytest.approx(1.75)


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_swept_polygons_contain_the_polygon_at_all_angles(seed):
    rng = np.random.default_rng(seed)
    p, start = star(rng) + rng.normal(size=2), rng.uniform(-4, 4)
    end = start + rng.uniform(0.01, 1.5)
    region = forbidden_region([swept_polygon(p, start, end)])
    for angle in np.linspace(start, end, 13):
        heights = turned(p, angle) @ region.planes[0, :, :2].T - region.planes[0, :, 2]
        assert heights.max() < 1e-9
    reach = np.linalg.norm(p, axis=1).max()
    swept = np.linalg.norm(swept_polygon(p, start, end), axis=1).max()
    assert swept <= reach / np.cos((end - start) / 2) + 1e-12


@pytest.mark.parametrize(
    "polygon, words",
    [
        ([[0, 0], [1, 1], [1, 0], [0, 1]], "crosses or touches itself"),
        ([[0, 0], [2, 0], [2, 2], [1, 0], [0, 2]], "crosses or touches itself"),
        ([[0, 0], [3, 0], [1, 0], [1, 1]], "crosses or touches itself"),
        ([[0, 0], [1, 1], [2, 2]], "no area"),
        ([[0, 0], [0, 0], [0, 0]], "no area"),
        ([[0, 0], [1, 0]], "three or more"),
        ([[0, 0], [1, 0], [np.nan, 1]], "three or more"),
        ("square", "three or more"),
    ],
)
def test_bad_polygons_are_named(polygon, words):
    with pytest.raises(ArgumentError, match=words):
        plan_in_plane(SQUARE, {"good": rectangle(5, 5, 6, 6), "bad": polygon}, [0, 0], [1, 1])
    with pytest.raises(ArgumentError, match="obstacle 'bad'"):
        plan_in_plane(SQUARE, {"bad": polygon}, [0, 0], [1, 1])
    with pytest.raises(ArgumentError, match="robot"):
        plan_in_plane(polygon, [], [0, 0], [1, 1])


def test_bad_sums_and_sweeps():
    with pytest.raises(ArgumentError, match="polygon 'b' is not convex; grow_obstacle"):
        minkowski_sum(SQUARE, ELL)
    with pytest.raises(ArgumentError, match="less than π"):
        swept_polygon(SQUARE, 0.0, 4.0)


# --- segments and visibility ------------------------------------------------------------------------------------------


def test_segments_inside_of_a_square():
    planes = forbidden_region([SQUARE]).planes[0]
    starts = np.array([[-1, 0.5], [0.2, 0.2], [0, 0], [1, 1], [-1, -1], [0, 2]])
    ends = np.array([[3, 0.5], [0.4, 0.6], [1, 0], [0, 1], [0, 0], [2, 2.0]])
    found = segment_inside(starts, ends, planes, 1e-9)
    parts = np.maximum(found.leave - found.enter, 0)
    assert parts == pytest.approx([0.25, 1, 1, 1, 0, 0], abs=1e-8)
    assert found.side[:4].tolist() == [0, 0, 1, 1]  # counterclockwise along an edge: the square is on the left
    assert segment_inside(ends[2], starts[2], planes, 1e-9).side == -1


def test_passages_of_no_width_are_closed_and_borders_are_open():
    touching = forbidden_region([rectangle(0, 0, 1, 1), rectangle(1, 0, 2, 1)])
    assert not touching.segments_free([[1, -1.0]], [[1, 2.0]])[0]  # between the two
    assert touching.segments_free([[-1, 1.0]], [[3, 1.0]])[0]  # along both
    assert touching.segments_free([[0, -1.0]], [[0, 2.0]])[0]
    shifted = forbidden_region([rectangle(0, 0, 1, 1), rectangle(1, 1, 2, 2)])
    assert shifted.segments_free([[1, -1.0]], [[1, 3.0]])[0]  # first right of it, then left: never both
    partly = forbidden_region([rectangle(0, 0, 1, 1), rectangle(1, 0.9, 2, 2)])
    assert not partly.segments_free([[1, -1.0]], [[1, 3.0]])[0]
    crossed = forbidden_region([rectangle(0, 0, 3, 1), rectangle(1, -1, 2, 2)])
    assert not crossed.segments_free([[0.5, 0.5]], [[2.5, 0.5]])[0]


def test_a_robot_as_wide_as_the_passage_goes_around():
    gap = [rectangle(2, 1, 4, 5), rectangle(2, -4, 4, 0)]
    plan = plan_in_plane(SQUARE, gap, [0, 0], [6, 0])
    assert plan.length > 7.0
    plan = plan_in_plane(0.999 * SQUARE, gap, [0, 0], [6, 0])
    assert plan.length == pytest.approx(6.0)
    closed = plan_in_plane(SQUARE, gap, [0, 0], [6, 0], bounds=([-1, -3], [8, 4]))
    assert not closed.found and closed.length == np.inf and "separate" in closed.reason


def brute_force(polygons, start, goal):
    """The shortest way through all corners, by samples of segments and Dijkstra's method with a heap."""
    nodes = np.concatenate([[start, goal], *polygons])
    part = np.linspace(0, 1, 401)[:, None]

    def seen(a, b):
        x = a + part * (b - a)
        return not any((_depth(p, x) > 1e-6).any() for p in polygons)

    far, queue = {0: 0.0}, [(0.0, 0)]
    while queue:
        d, k = heapq.heappop(queue)
        if k == 1:
            return d
        for j in range(len(nodes)):
            new = d + np.linalg.norm(nodes[k] - nodes[j])
            if j != k and new < far.get(j, np.inf) and seen(nodes[k], nodes[j]):
                far[j] = new
                heapq.heappush(queue, (new, j))
    return np.inf


def _depth(polygon, x):
    """How deep points are inside of a convex polygon."""
    e = np.roll(polygon, -1, 0) - polygon
    n = np.stack([e[:, 1], -e[:, 0]], axis=1) / np.linalg.norm(e, axis=1, keepdims=True)
    return -(((x[:, None] - polygon) * n).sum(-1)).max(axis=1)


@pytest.mark.parametrize("seed", range(12))
def test_visibility_paths_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    polygons = [0.7 * convex(rng, 5) + rng.uniform(0, 6, 2) for _ in range(6)]  # they overlap now and then
    start, goal = np.array([-2.0, 3.0]), np.array([8.0, 3.0])
    plan = plan_in_plane(None, polygons, start, goal)
    assert plan.length == pytest.approx(brute_force(polygons, start, goal), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_laws_of_shortest_paths(seed):
    rng = np.random.default_rng(seed)
    obstacles = [star(rng) * rng.uniform(0.6, 1.2) + rng.uniform([1, 0], [6, 6]) for _ in range(7)]
    robot = 0.3 * star(rng)
    start, goal = np.array([-1.5, 3.0]), np.array([8.5, 3.0])
    plan = plan_in_plane(robot, obstacles, start, goal)
    assert plan.length >= np.linalg.norm(goal - start)  # no way is shorter than the straight one
    back = plan_in_plane(robot, obstacles, goal, start)
    assert back.length == pytest.approx(plan.length, rel=1e-12)
    fewer = plan_in_plane(robot, obstacles[:-2], start, goal)
    assert fewer.length <= plan.length + 1e-12  # an obstacle more never makes it shorter
    smaller = plan_in_plane(0.5 * robot, obstacles, start, goal)
    larger = plan_in_plane(1.3 * robot, obstacles, start, goal)
    inside = min(winding(robot, np.zeros((1, 2))))
    if inside:  # only then is the smaller robot inside of the larger one
        assert smaller.length <= plan.length <= larger.length
    angle, shift = rng.uniform(0, 6), rng.normal(size=2) * 5
    moved = plan_in_plane(
        turned(robot, angle), [turned(p, angle) + shift for p in obstacles],
        turned(start, angle) + shift, turned(goal, angle) + shift,
    )  # fmt: skip
    assert moved.length == pytest.approx(plan.length, rel=1e-9)
    for a, b in pairwise(plan.path):  # dense check, with the polygons as they were given
        for s in np.linspace(0, 1, 60):
            x = a + s * (b - a)
            for p in obstacles:
                assert borders_apart(robot + x, p) < 1e-6 or not overlap(robot + x, p)


def test_many_collinear_corners():
    blocks = [rectangle(x, y, x + 1, y + 1) for x in range(0, 8, 2) for y in range(0, 8, 2)]
    plan = plan_in_plane(None, blocks, [-1, 1], [8, 1])
    assert plan.length == pytest.approx(9.0)  # straight along four upper edges
    plan = plan_in_plane(0.5 * SQUARE, blocks, [-1, 1.2], [8, 1.2])
    assert plan.length == pytest.approx(9.0)
    graph = visibility_graph(plan.region)
    assert np.isfinite(graph.lengths).all() and len(graph.nodes) == 4 * len(blocks)


def test_start_inside_an_obstacle_is_said_with_its_name():
    obstacles = {"desk": rectangle(2, 1, 4, 3), "shelf": rectangle(5, 0, 7, 2)}
    with pytest.raises(ArgumentError, match=r"start \(1.5, 1\).*overlaps obstacle 'desk'"):
        plan_in_plane(SQUARE, obstacles, [1.5, 1], [9, 9])
    with pytest.raises(ArgumentError, match=r"goal.*'shelf'"):
        plan_in_plane(SQUARE, obstacles, [0, 0], [5, 1])
    with pytest.raises(ArgumentError, match=r"goal.*'right bound'"):
        plan_in_plane(SQUARE, obstacles, [0, 0], [9, 4], bounds=([-1, -1], [9.5, 6]))
    plan_in_plane(SQUARE, obstacles, [1.0, 1], [9, 9])  # it touches the desk


@pytest.mark.parametrize(
    "options, words",
    [
        ({"start": [0, 0, 0]}, "start must be a position"),
        ({"goal": [0, np.inf]}, "goal must be a position"),
        ({"rotate": 3}, "rotate must be False or a number of slices"),
        ({"rotate": True}, "rotate must be False or a number of slices"),
        ({"rotate": 8}, "start must be a position and an angle"),
        ({"bounds": ([0, 0], [0, 1])}, "bounds must be"),
        ({"obstacles": 3}, "obstacles must be"),
    ],
)
def test_bad_calls_of_plan_in_plane(options, words):
    call = {"robot": SQUARE, "obstacles": [], "start": [0, 0], "goal": [1, 1]} | options
    with pytest.raises(ArgumentError, match=words):
        plan_in_plane(**call)


def test_without_obstacles_the_way_is_straight():
    plan = plan_in_plane(SQUARE, [], [0, 0], [3, 4])
    assert plan.length == 5 and len(plan.path) == 2
    plan = plan_in_plane(None, [], [1, 1], [1, 1])
    assert plan.length == 0


# --- turns ------------------------------------------------------------------------------------------------------------


def dense(path, steps=40):
    """Many points (n, 3) of a path (k, 3)."""
    return np.concatenate([a + np.linspace(0, 1, steps)[:, None] * (b - a) for a, b in pairwise(path)])


def assert_free(path, robot, obstacles):
    """A dense check of a path (k, 3) with the polygons as they were given."""
    solids, reach = [np.asarray(p, float) for p in obstacles], np.linalg.norm(robot, axis=1).max()
    for x in dense(path):
        placed = turned(robot, x[2]) + x[:2]
        for p in solids:
            if (x[:2] + reach >= p.min(axis=0)).all() and (x[:2] - reach <= p.max(axis=0)).all():
                assert borders_apart(placed, p) < 1e-7 or not overlap(placed, p)


@pytest.mark.slow
def test_a_bar_turns_to_pass_a_door():
    start, goal = [0, 0, np.pi / 2], [7, 1, np.pi / 2]
    plan = plan_in_plane(BAR, DOOR, start, goal, rotate=32, bounds=ROOM)
    assert plan.path is not None and plan.length < 7.5
    assert plan.path[0] == pytest.approx(start) and plan.path[-1, :2] == pytest.approx(goal[:2])
    assert np.cos(plan.path[-1, 2] - goal[2]) == pytest.approx(1)
    assert_free(plan.path, BAR, DOOR.values())
    upright = turned(BAR, np.pi / 2)
    assert not plan_in_plane(upright, DOOR, start[:2], goal[:2], bounds=ROOM).found  # without turns there is no way
    coarse = plan_in_plane(BAR, DOOR, start, goal, rotate=8, bounds=ROOM)
    assert not coarse.found and "rotate=16" in coarse.reason


@pytest.mark.slow
def test_turning_is_never_worse_than_not_turning():
    rng = np.random.default_rng(5)
    obstacles = [0.9 * star(rng, 6) + x for x in ([2, 0], [3.5, 1.8], [4, -1.5])]
    for angle in (0.0, 0.4, 2.0):
        fixed = plan_in_plane(turned(ELL * 0.3, angle), obstacles, [-1, 0], [7, 0])
        free = plan_in_plane(ELL * 0.3, obstacles, [-1, 0, angle], [7, 0, angle + 2 * np.pi], rotate=8)
        assert free.cost <= fixed.cost + 1e-9
        assert_free(free.path, ELL * 0.3, obstacles)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_turning_paths_are_free(seed):
    rng = np.random.default_rng(seed)
    obstacles = [star(rng, 6) * 0.8 + rng.uniform([1, -3], [7, 3]) for _ in range(6)]
    robot = ELL * 0.5 - 0.3
    start, goal = [-2, 0, 0.3], [10, 0, 2.0]
    plan = plan_in_plane(robot, obstacles, start, goal, rotate=12)
    assert plan.found
    assert plan.length >= 12 - 1e-9
    assert_free(plan.path, robot, obstacles)


def test_the_obstacle_at_the_angle_of_the_start_is_named():
    with pytest.raises(ArgumentError, match="'low'"):
        plan_in_plane(BAR, DOOR, [3.5, 0, 0.5], [7, 0, 0], rotate=16)
    plan_in_plane(BAR, DOOR, [3.5, 0, 0.0], [7, 0, 0], rotate=16)


# --- freeways ---------------------------------------------------------------------------------------------------------


def test_the_spine_of_a_corridor_is_its_middle():
    (f,) = find_freeways([rectangle(0, 1, 4, 2), rectangle(1, -3, 6, -2)])
    assert np.abs(f.along) == pytest.approx([1, 0])
    assert f.point(0.3)[1] == pytest.approx(-0.5)
    assert f.radii == pytest.approx([1.5, 1.5])
    assert sorted(f.point(f.cone)[:, 0]) == pytest.approx([1, 4])  # where both edges are
    assert f.low < min(f.cone) and f.high > max(f.cone)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_spines_are_equally_far_from_their_edges_and_cones_are_free(seed):
    rng = np.random.default_rng(seed)
    obstacles = [convex(rng, 4) * 0.7 + x for x in ([0, 0], [4, 0.5], [1.5, 4])]
    room = ([-4, -4], [8, 8])
    region = forbidden_region(obstacles)
    for f in find_freeways({str(k): p for k, p in enumerate(obstacles)}, bounds=room):
        part = rng.uniform(0, 1, 20)
        s = f.cone[0] + part * (f.cone[1] - f.cone[0])
        r = f.radii[0] + part * (f.radii[1] - f.radii[0])
        inside = f.point(s) + ((1 - 1e-6) * rng.uniform(-1, 1, 20) * r)[:, None] * f.across
        assert region.points_free(inside).all()
        assert region.points_free(f.point(rng.uniform(f.low, f.high, 20))).all()
        for name in f.edges:  # the nearest point of both obstacles, across the spine, is at the radius
            if name != "bounds":
                p = obstacles[int(name)]
                assert _depth(p, f.point(s) + (1.001 * r)[:, None] * f.across).max() > 0 or (
                    _depth(p, f.point(s) - (1.001 * r)[:, None] * f.across).max() > 0
                )


def test_paths_on_freeways_keep_to_the_middle():
    wall = 1.2
    corridor = {
        "upper": rectangle(0, wall, 8, wall + 1), "lower": rectangle(0, -wall - 1, 8, -wall),
    }  # fmt: skip
    robot = 0.4 * (SQUARE - 0.5)
    plan = plan_by_freeways(robot, corridor, [-1, 0.6, 0], [9, -0.6, 0], bounds=([-3, -4], [11, 4]))
    assert plan.found
    assert_free(plan.path, robot, corridor.values())
    way = dense(plan.path)
    inside = way[(way[:, 0] > 0) & (way[:, 0] < 8)]
    assert len(inside) > 20 and np.abs(inside[:, 1]).max() < 1e-9
    shortest = plan_in_plane(robot, corridor, [-1, 0.6], [9, -0.6])
    assert plan.length > shortest.length


def test_a_bar_passes_a_door_on_freeways():
    start, goal = [0, 0, np.pi / 2], [7, 1, np.pi / 2]
    plan = plan_by_freeways(BAR, DOOR, start, goal, slices=32, bounds=ROOM)
    assert plan.found
    assert_free(plan.path, BAR, DOOR.values())
    way = dense(plan.path)
    through = way[(way[:, 0] > 2) & (way[:, 0] < 5)]
    assert np.abs(through[:, 1]).max() < 1e-9  # in the middle of the door
    assert plan.length >= plan_in_plane(BAR, DOOR, start, goal, rotate=32, bounds=ROOM).length - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_paths_on_freeways_are_free(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[x, y] for x in (1.5, 5, 8.5) for y in (-3, 0.5, 4)])
    obstacles = [0.9 * star(rng, 7, spikes=0.4) + c + rng.uniform(-0.4, 0.4, 2) for c in centres]
    robot = np.array([[-0.4, -0.1], [0.4, -0.1], [0.4, 0.1], [-0.4, 0.1]])
    plan = plan_by_freeways(robot, obstacles, [-1, -1, 0.0], [11, 2, 1.0], bounds=([-2, -5.5], [12, 6.5]), slices=12)
    assert plan.found, plan.reason
    assert_free(plan.path, robot, obstacles)


def test_freeways_tell_why_they_fail():
    args = (BAR, DOOR, [0, 0, 0], [7, 0, 0])
    wide = np.array([[-1.5, -0.7], [1.5, -0.7], [1.5, 0.7], [-1.5, 0.7]])
    closed = plan_by_freeways(wide, *args[1:], bounds=ROOM)
    assert not closed.found and "do not connect" in closed.reason
    none = plan_by_freeways(BAR, [], [0, 0, 0], [1, 0, 0])
    assert not none.found and "no freeways" in none.reason and "bounds" in none.reason
    alone = plan_by_freeways(wide, [DOOR["low"], DOOR["high"]], [0, 0, 0], [7, 0, 0])
    assert not alone.found and "wide enough" in alone.reason
    with pytest.raises(ArgumentError, match="slices must be a number of slices"):
        plan_by_freeways(*args, slices=2)
    with pytest.raises(ArgumentError, match="off_spine_cost"):
        plan_by_freeways(*args, off_spine_cost=0.5)
    with pytest.raises(ArgumentError, match="turn_cost"):
        plan_by_freeways(*args, turn_cost=-1)
    with pytest.raises(ArgumentError, match="'high'"):
        plan_by_freeways(BAR, DOOR, [3.5, 0, 1.0], [7, 0, 0])


# --- grids of joint space ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm_model():
    posts = [Sphere(0.25, T_world_solid=[1.2, 1.2, 0], name="ball"), Box([0.4, 0.4, 0.4], T_world_solid=[-1.0, 0.8, 0])]
    return collision_model(flat_arm(), posts)


@pytest.mark.slow
def test_cells_are_free_where_their_centres_are(arm_model):
    grid = configuration_grid(arm_model, (50, 40))
    assert grid.free.shape == (50, 40) and 0.3 < grid.free.mean() < 1
    rng = np.random.default_rng(0)
    for _ in range(50):
        i, j = rng.integers(0, (50, 40))
        q = np.array([grid.axes[0][i], grid.axes[1][j]])
        assert grid.free[i, j] == is_free(arm_model, q) and grid.cell(q) == (i, j)
        assert grid.cell(q + np.array([2, -2]) * np.pi) == (i, j)  # joints go round
    assert "50 x 40 cells" in repr(grid)


@pytest.mark.slow
def test_paths_through_cells_are_free_and_go_round(arm_model):
    grid = configuration_grid(arm_model, 90)
    rng, done = np.random.default_rng(1), 0
    component = grid.components
    while done < 12:
        start, goal = rng.uniform(-np.pi, np.pi, (2, 2))
        if not is_free(arm_model, np.array([start, goal])).all():
            continue
        plan = plan_on_grid(grid, start, goal)
        if plan.path is not None:
            assert edges_free(arm_model, plan.path[:-1], plan.path[1:], resolution=0.01).all()
            assert plan.path[0] == pytest.approx(start)
            turns = (plan.path[-1] - goal) / (2 * np.pi)
            assert turns == pytest.approx(np.rint(turns), abs=1e-9)
            short = (goal - start + np.pi) % (2 * np.pi) - np.pi
            assert plan.length >= np.linalg.norm(short) - 1e-9
        else:
            cells = component[grid.cell(start)], component[grid.cell(goal)]
            assert cells[0] != cells[1] or -1 in cells
        done += 1
    across = plan_on_grid(grid, [3.0, -2.5], [-3.0, -2.5])
    assert across.found and across.length < 1.0  # through the seam at π


def test_a_grid_of_a_gantry_agrees_with_the_visibility_graph():
    ball = gantry(0.001)
    lock = ball.locked({"slide_ball": 0.0})
    model = collision_model(lock, [Box([1.0, 2.0, 0.5], T_world_solid=[0, 0.5, 0], name="wall")])
    plan = plan_on_grid(configuration_grid(model, 121), [-1.5, 0.5], [1.5, 0.5])
    exact = plan_in_plane(None, [rectangle(-0.5, -0.5, 0.5, 1.5)], [-1.5, 0.5], [1.5, 0.5])
    assert exact.length <= plan.length <= 1.12 * exact.length  # ways along axes and diagonals are 8 % longer at most


@pytest.mark.slow
def test_walled_in_goals_and_bad_grids(arm_model):
    ball = gantry(0.05).locked({"slide_ball": 0.0})
    ring = [Box([0.2, 1.4, 1], T_world_solid=[x, 0, 0]) for x in (-0.6, 0.6)]
    ring += [Box([1.4, 0.2, 1], T_world_solid=[0, y, 0]) for y in (-0.6, 0.6)]
    model = collision_model(ball, ring)
    grid = configuration_grid(model, 80)
    assert grid.components.max() == 1
    plan = plan_on_grid(grid, [0, 0], [2, 2])
    assert not plan.found and "80 x 80" in plan.reason and plan.length == np.inf
    with pytest.raises(ArgumentError, match="goal: link"):
        plan_on_grid(grid, [0, 0], [0.6, 0])
    with pytest.raises(ArgumentError, match="3 cells or more"):
        configuration_grid(model, 2)
    with pytest.raises(ArgumentError, match="or 2 of them"):
        configuration_grid(model, (5, 5, 5))
    with pytest.raises(ArgumentError, match="grids are for one to three"):
        configuration_grid(collision_model(aj.robots.puma560(), [], pairs=()), 10)


def test_grids_need_joints_that_move():
    arm = aj.robots.planar(2)
    stuck = arm.replace(lower=np.array([-1.0, 0.5]), upper=np.array([1.0, 0.5]))
    name = arm.joint_names[1]
    with pytest.raises(ArgumentError, match=f"joint '{name}' cannot move, both of its limits are 0.5; .*Robot.locked"):
        configuration_grid(collision_model(stuck, [], pairs=()), 10)
    free = configuration_grid(collision_model(stuck.locked({name: 0.5}), [], pairs=()), 11)
    assert free.cell([0.0]) == (5,)


# --- what users and enemies do ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [None, SQUARE])
def test_beyond_the_walls_around_the_bounds_is_not_free(robot):
    """The walls have a width, and there is a way outside of them."""
    with pytest.raises(ArgumentError, match=r"start \(-20, 0\).*'left bound'"):
        plan_in_plane(robot, [], [-20, 0], [-19, 0], bounds=([0, 0], [2, 2]))
    with pytest.raises(ArgumentError, match=r"goal \(0.5, 19, 0\).*'upper bound'"):
        plan_in_plane(robot, [], [0.5, 0.5, 0], [0.5, 19, 0], bounds=([0, 0], [2, 2]), rotate=8)


def test_polygons_of_many_corners_are_cut_quickly():
    """A star with 200 spikes has 200 reflex corners, and at least 101 pieces; it took 40 s once."""
    a = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    star = np.where(np.arange(400) % 2, 1.0, 0.5)[:, None] * np.stack([np.cos(a), np.sin(a)], axis=1)
    pieces = convex_pieces(star)
    assert 101 <= len(pieces) <= 4 * 101
    areas = [np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) / 2 for x, y in (p.T for p in (star, *pieces))]
    np.testing.assert_allclose(sum(areas[1:]), areas[0], rtol=1e-12)


@pytest.mark.slow
def test_plans_with_turns_do_not_depend_on_the_unit():
    bar = np.array([[-0.5, -0.1], [0.5, -0.1], [0.5, 0.1], [-0.5, 0.1]])
    obstacles = [rectangle(-2, 0.25, -0.2, 3), rectangle(0.3, -3, 2, -0.3), rectangle(-2, -3, -0.9, -0.5)]
    costs = []
    for s in (1.0, 1e-6):
        ends = (np.array([-3 * s, 0, 0]), np.array([0.05 * s, 2 * s, np.pi / 2]))
        costs.append(plan_in_plane(s * bar, [s * np.asarray(p) for p in obstacles], *ends, rotate=16).cost / s)
    np.testing.assert_allclose(costs[1], costs[0], rtol=1e-9)
