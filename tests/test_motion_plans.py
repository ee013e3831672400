"""Motion plans: paths that are free, motions in time that are free too, and reasons where there is none."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given, settings
from support import planning_scenes as scenes
from support.robots import urdf

import adjoint as aj
from adjoint.collision import collision_model, contacts, is_free
from adjoint.errors import ArgumentError
from adjoint.model.catalog import random_tree
from adjoint.sensing import Box, Plane, Scene, Sphere
from adjoint.world.motion import MotionPlan, plan_motion
from adjoint.world.motion.edge_checks import Checker, edge_steps, free_edges, free_path, free_steps
from adjoint.world.motion.spaces import configuration_space
from adjoint.world.motion.tree_search import Budget, StraightWays, Tree, connect_trees
from adjoint.world.parts import cuboid
from adjoint.world.relations import against, placements
from adjoint.world.state import World


def planar(limit: float | None = None) -> aj.Robot:
    """Two links of 1 m in the plane, whose joints have limits or turn freely."""
    robot = aj.robots.planar(2)
    return robot if limit is None else robot.replace(lower=np.full(2, -limit), upper=np.full(2, limit))


def posts(places, radius=0.15) -> list[Sphere]:
    return [Sphere(radius, T_world_solid=[x, y, 0.0], name=f"post {k}") for k, (x, y) in enumerate(places)]


ARM, TURNING = planar(3.0), planar()
POSTS = posts([(1.2, 0.9), (-0.9, 1.2), (0.3, -1.5)])
MODEL = collision_model(ARM, POSTS, pairs=())


@pytest.fixture(scope="module")
def panda() -> aj.Robot:
    return scenes.panda(urdf("panda"))


def free_pair(model, seed: int) -> np.ndarray:
    """Two random free configurations (2, nq)."""
    q = aj.random_configuration(model.robot, 512, rng=seed)
    return q[is_free(model, q)][:2]


# --- spaces and ways --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [ARM, TURNING, aj.robots.puma560()], ids=["limits", "turns", "puma"])
def test_differences_lead_to_the_other_end_and_nearest_is_nearest(robot):
    space, rng = configuration_space(robot), np.random.default_rng(1)
    a, b = 3 * space.random(rng, 50), space.random(rng, 50)
    v = space.difference(a, b)
    turned = (space.moved(a, v, np.ones(50)) - b) / (2 * np.pi)
    np.testing.assert_allclose(turned, np.where(space.turning, np.rint(turned), 0.0), atol=1e-12)
    assert np.all(np.abs(v[:, space.turning]) <= np.pi + 1e-12)
    every = np.linalg.norm(space.difference(b, a[:, None]), axis=-1)
    np.testing.assert_array_equal(space.nearest(b, (b * b).sum(axis=1), a), every.argmin(axis=1))


@pytest.mark.slow
def test_free_bases_move_on_their_manifold():
    robot = random_tree(3, 1, types=("free",))
    space = configuration_space(robot)
    q = space.random(np.random.default_rng(0), 4)
    v = space.difference(q[0], q[1:])
    end = space.moved(q[0], v, np.ones(3))
    signs = np.sign(np.sum(end[:, 3:] * q[1:, 3:], axis=1))  # both signs of a quaternion are one orientation
    np.testing.assert_allclose(end[:, :3], q[1:, :3], atol=1e-12)
    np.testing.assert_allclose(end[:, 3:] * signs[:, None], q[1:, 3:], atol=1e-12)
    wall = Box([0.2, 3.0, 1.2], T_world_solid=[1.5, 0, 0], name="wall")
    plan = plan_motion([wall], robot, [0, 0, 0, 1.0, 0, 0, 0], [3.0, 0, 0, 0, 1, 0, 0], velocity=1.0, acceleration=2.0)
    assert plan.solved, plan.reason
    assert len(plan.path) > 2
    assert plan.recheck().free
    assert plan.trajectory is not None and plan.trajectory.limits_hold(velocity=1.0, acceleration=2.0)
    np.testing.assert_allclose(np.linalg.norm(plan.path[:, 3:], axis=1), 1.0, atol=1e-12)


@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_ways_are_free_where_all_their_points_are(seed):
    rng = np.random.default_rng(seed)
    space = configuration_space(ARM)
    q, v = space.random(rng, 6), rng.normal(size=(6, 2))
    checker = Checker.of(space, lambda x: np.sin(3 * x[:, 0]) + np.cos(5 * x[:, 1]) < 1.2, 0.07)
    for way in range(6):
        n = int(edge_steps(v[way : way + 1], 0.07)[0])
        good = checker.free(q[way] + np.arange(1, n + 1)[:, None] / n * v[way])
        assert free_edges(checker, q, v)[way] == good.all()
        first = n if good.all() else int(np.argmin(good))
        assert free_steps(checker, q[way : way + 1], v[way : way + 1], np.array([n]))[0] == first


def test_trees_lose_what_grew_from_a_node_that_is_cut():
    tree = Tree(np.array([[0.0, 0.0], [9.0, 9.0]]))
    tree.add(np.array([[1.0, 0.0], [8.0, 9.0]]), np.array([0, 1]))
    tree.add(np.array([[2.0, 0.0], [7.0, 9.0], [0.0, 1.0]]), np.array([2, 3, 0]))
    tree.add(np.array([[3.0, 0.0], [6.0, 9.0]]), np.array([4, 5]))
    tree.cut([2])
    np.testing.assert_array_equal(tree.nodes, [[0, 0], [9, 9], [8, 9], [7, 9], [0, 1], [6, 9]])
    np.testing.assert_array_equal(tree.squares, (tree.nodes**2).sum(axis=1))
    np.testing.assert_array_equal(tree.branch(5), [[9, 9], [8, 9], [7, 9], [6, 9]])
    assert tree.line(5) == [5, 3, 2, 1]


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_paths_past_thin_posts_are_free_at_the_resolution(seed):
    rng = np.random.default_rng(seed)
    space = configuration_space(ARM)
    wall, gap = rng.uniform(-1, 1), rng.uniform(-2, 2)

    def free(q):  # a wall that is thinner than the steps of trees, with a gap
        return (np.abs(q[:, 0] - wall) > 0.03) | (np.abs(q[:, 1] - gap) < 0.4)

    checker, ends = Checker.of(space, free, 0.05), np.array([[-2.5, 0.0], [2.5, 0.0]])
    found = connect_trees(StraightWays(checker), ends[0], ends[1:], rng, Budget(2000, np.inf))
    assert found.path is not None
    np.testing.assert_array_equal(found.path[[0, -1]], ends)
    assert free_path(checker, found.path)


# --- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_plans_are_valid_or_tell_why(seed):
    rng = np.random.default_rng(seed)
    robot = ARM if seed % 2 else TURNING
    places = rng.uniform(-2.2, 2.2, (rng.integers(1, 7), 2))
    model = collision_model(robot, posts(places, radius=rng.uniform(0.05, 0.3)), pairs=())
    start, goal = aj.random_configuration(robot, 2, rng=rng)
    plan = plan_motion(model, None, start, goal, iterations=60, rng=seed, timing="time_optimal")
    if not plan:
        assert plan.reason.startswith(("start: ", "goal: ", "no path within the budget of 60"))
        return
    np.testing.assert_array_equal(plan.path[0], start)
    turns = (plan.path[-1] - goal) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.rint(turns) if robot is TURNING else 0.0, atol=1e-12)
    assert configuration_space(robot).inside(plan.path).all()
    assert plan.recheck().free  # as it was checked,
    if plan.clearance() > 1e-2:  # and between these points, unless they nearly touch
        assert plan.recheck(finer=40).free
    assert plan.trajectory is not None
    q = plan.trajectory(np.array([0.0, plan.trajectory.duration])).q
    np.testing.assert_allclose(q, plan.path[[0, -1]], atol=1e-9)


def reachable(model, start, goal, n: int = 180) -> tuple[bool, bool]:
    """Whether a grid of the torus connects two points: if only cells far from obstacles count; and if all do."""
    step = 2 * np.pi / n
    axis = -np.pi + step * np.arange(n)
    free = is_free(model, np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1))
    cells = [tuple(np.rint((q + np.pi) / step).astype(int) % n) for q in (start, goal)]

    def connected(grid, corners: bool) -> bool:
        tiled = np.tile(grid, (3, 3))  # three turns show what is connected across the seams
        label: Any = scipy.ndimage.label(tiled, np.ones((3, 3)) if corners else None)[0]  # type: ignore
        turns = label.reshape(3, n, 3, n).transpose(1, 3, 0, 2).reshape(n * n, 9)  # labels of a cell in all turns
        seen: set = set()
        todo = {int(label[cells[0][0] + n, cells[0][1] + n])} - {0}
        while todo:  # which belong together
            seen |= todo
            todo = set(np.unique(turns[np.isin(turns, list(todo)).any(axis=1)]).tolist()) - seen - {0}
        return int(label[cells[1][0] + n, cells[1][1] + n]) in seen

    wide = scipy.ndimage.binary_erosion(np.tile(free, (3, 3)), np.ones((3, 3)), iterations=3)[n : 2 * n, n : 2 * n]
    return connected(wide, False), connected(free, True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_planar_arm_finds_a_way_where_a_grid_does(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-np.pi, np.pi, 4)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1) * rng.uniform(0.8, 1.7, 4)[:, None]
    model = collision_model(TURNING, posts(places, radius=0.2), pairs=())
    start, goal = free_pair(model, seed)
    sure, possible = reachable(model, start, goal)
    plan = plan_motion(model, None, start, goal, iterations=2000 if possible else 60, timing=None, resolution=0.02)
    if sure:
        assert plan.solved, plan.reason
    if not possible:
        assert not plan.solved
        assert "no path within the budget" in plan.reason


@pytest.mark.slow
def test_a_narrow_passage_is_found():
    """The outer link must be pushed out between two posts: both joints move together."""
    model = collision_model(TURNING, posts([(1.5, 0.38), (1.5, -0.38)], radius=0.12), pairs=())
    start, goal = np.array([-1.2, 2.4]), np.array([0.0, 0.0])
    assert is_free(model, np.stack([start, goal])).all()
    assert reachable(model, start, goal)[1]
    plan = plan_motion(model, None, start, goal)
    assert plan.solved
    assert plan.recheck().free


def test_the_same_seed_gives_the_same_plan():
    start, goal = free_pair(MODEL, 3)
    one, same, other = (plan_motion(MODEL, None, start, goal, rng=k, timing=None) for k in (5, 5, 6))
    np.testing.assert_array_equal(one.path, same.path)
    assert other.solved


def test_shortcuts_keep_the_ends_and_shorten():
    for seed in range(6):
        start, goal = free_pair(MODEL, seed)
        rough = plan_motion(MODEL, None, start, goal, shortcut=False, timing=None)
        short = plan_motion(MODEL, None, start, goal, timing=None)
        assert short.length <= rough.length + 1e-12
        np.testing.assert_array_equal(short.path[[0, -1]], rough.path[[0, -1]])
        assert short.statistics.first_length == pytest.approx(rough.length)


@pytest.mark.slow
def test_smooth_paths_are_free():
    start, goal = np.array([-0.6, 0.5]), np.array([1.9, 0.4])
    plan = plan_motion(MODEL, None, start, goal, smooth=True, timing=None)
    assert plan.solved
    assert plan.recheck().free


# --- worlds, scenes and goals -----------------------------------------------------------------------------------------


def test_worlds_scenes_and_lists_are_the_same_to_a_plan():
    start, goal = free_pair(MODEL, 2)
    world = World().add_robot("arm", ARM, q=start)
    for post in POSTS:
        world = world.add(post.name, post)
    plans = [
        plan_motion(POSTS, ARM, start, goal, timing=None),
        plan_motion(Scene(POSTS), ARM, start, goal, timing=None),
        plan_motion(world, "arm", None, goal, timing=None),
    ]
    for plan in plans:
        assert plan.solved
        np.testing.assert_allclose(plan.path, plans[0].path, atol=1e-9)


@pytest.mark.slow
def test_poses_positions_and_goals_are_reached():
    robot = aj.robots.puma560()
    model = collision_model(robot, [Box([0.3, 0.3, 0.3], T_world_solid=[0.7, 0.0, 0.9], name="box")], pairs=())
    start, goal = free_pair(model, 1)
    T = aj.forward_kinematics(robot, goal, "tool")
    for target in (
        T,
        np.stack([T, T]),
        {"tool": T},
        {"tool": T[:3, 3]},
        aj.goals.pose("tool", T),
        [aj.goals.position("tool", T[:3, 3])],
    ):
        plan = plan_motion(model, None, start, target, tool="tool", timing=None)
        assert plan.solved, plan.reason
        found = aj.forward_kinematics(robot, plan.path[-1], "tool")
        np.testing.assert_allclose(found[:3, 3], T[:3, 3], atol=1e-5)
    branches = plan_motion(model, None, start, T, tool="tool", timing=None).statistics.goals
    exact = aj.inverse.with_turns(robot, aj.inverse_kinematics(robot, T, "tool"))
    assert 1 <= branches <= exact.exact.sum()
    several = plan_motion(model, None, start, np.stack([goal, start]), timing=None)
    np.testing.assert_array_equal(several.path[-1], start)  # the nearest of all


@pytest.mark.slow
def test_a_robot_elsewhere_reaches_poses_of_the_world():
    robot = aj.robots.puma560()
    world = World().add_robot("arm", robot, q=np.zeros(6), at=[1.0, 2.0, 0.3], tool="tool")
    goal = np.array([0.4, -0.3, 0.2, 0.1, 0.5, 0.0])
    T = world.set_configuration("arm", goal).pose("arm.tool")
    plan = plan_motion(world, "arm", None, T, timing=None)
    assert plan.solved
    np.testing.assert_allclose(world.set_configuration("arm", plan.path[-1]).pose("arm.tool"), T, atol=1e-6)


@pytest.mark.slow
def test_what_a_robot_holds_moves_with_it():
    """A post beyond the reach of the arm is in the way of a rod in its hand, and the plan goes around it."""
    start, goal = np.array([-0.5, 0.0]), np.array([0.5, 0.0])
    world = World().add("post", Sphere(0.1, T_world_solid=[2.4, 0.0, 0.0])).add_robot("arm", ARM, q=start)
    assert len(plan_motion(world, "arm", None, goal, timing=None).path) == 2  # straight on
    tool = world.robots["arm"].tool  # in whose frame the outer link points
    along = world.pose(f"arm.{tool}")[:3, :3].T @ [
        np.cos(start[0]),
        np.sin(start[0]),
        0.0,
    ]  # where the outer link points
    rod = [Sphere(0.05, T_world_solid=x * along, name=f"bead {k}") for k, x in enumerate((0.2, 0.3, 0.4))]
    for bead in rod:
        world = world.add(bead.name, bead, parent=f"arm.{tool}")
    plan = plan_motion(world, "arm", None, goal, timing=None)
    assert plan.solved, plan.reason
    assert len(plan.path) > 2
    assert plan.recheck().free
    q = plan.samples(0.01)
    for bead in rod:
        T = aj.forward_kinematics(ARM, q, tool)
        p = T[:, :3, 3] + T[:, :3, :3] @ bead.T_world_solid[:3, 3]
        assert np.linalg.norm(p - [2.4, 0, 0], axis=1).min() > 0.15


# --- reasons ----------------------------------------------------------------------------------------------------------


def test_reasons_name_what_is_wrong():
    free, _ = free_pair(MODEL, 0)
    q = aj.random_configuration(ARM, 512, rng=0)
    hit = q[~is_free(MODEL, q)][0]
    words = str(contacts(MODEL, hit)[0])
    assert plan_motion(MODEL, None, hit, free).reason.startswith(f"start: {words}")
    assert plan_motion(MODEL, None, free, hit).reason.startswith(f"goal: {words}")
    names = ARM.joint_names
    assert plan_motion(MODEL, None, [4.0, 0.0], free).reason == f"start: joint '{names[0]}' is 4, above its limit 3"
    assert plan_motion(MODEL, None, free, [0.0, -5.0]).reason == f"goal: joint '{names[1]}' is -5, below its limit -3"
    far = {ARM.frame_names[-1]: [5.0, 0.0, 0.0]}
    assert "no configuration within the limits meets it" in plan_motion(MODEL, None, free, far).reason
    many = plan_motion(MODEL, None, free, np.stack([hit, hit + 1e-3]))
    assert "2 configurations found, none of them free" in many.reason
    plan = plan_motion(MODEL, None, free, hit)
    assert not plan
    assert plan.path.shape == (0, 2)
    assert "failed" in repr(plan)
    with pytest.raises(ArgumentError, match="has no path"):
        plan.recheck()


def test_budgets_end_a_search():
    cage = posts([(np.cos(a) * 1.5, np.sin(a) * 1.5) for a in np.linspace(-0.9, 0.9, 9)], radius=0.12)
    model = collision_model(ARM, cage, pairs=())
    start, goal = np.array([0.0, 2.6]), np.array([2.5, 0.0])
    assert is_free(model, np.stack([start, goal])).all()
    one = plan_motion(model, None, start, goal, iterations=1, shortcut=False, timing=None)
    assert one.solved or "no path within the budget of 1 iterations" in one.reason
    walls = collision_model(ARM, posts([(np.cos(a), np.sin(a)) for a in (0.8, -0.8)], radius=0.3), pairs=())
    shut = plan_motion(walls, None, [0.0, 0.0], [3.0, 0.0], iterations=30, timing=None)
    assert shut.reason.startswith("no path within the budget of 30 iterations: the trees have ")
    late = plan_motion(walls, None, [0.0, 0.0], [3.0, 0.0], iterations=10**6, time_limit=0.05, timing=None)
    assert late.reason.startswith("no path within the budget of 0.")


def test_a_plan_to_where_the_robot_is():
    q, _ = free_pair(MODEL, 0)
    plan = plan_motion(MODEL, None, q, q)
    assert plan.solved
    assert plan.length == 0
    assert plan.trajectory is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "astar"}, "method"),
        ({"timing": "soon"}, "timing"),
        ({"resolution": 0.0}, "resolution"),
        ({"finer": -1.0}, "finer"),
        ({"iterations": -1}, "iterations"),
        ({"velocity": [1.0, 2.0, 3.0]}, "velocity"),
        ({"acceleration": 0.0}, "acceleration"),
        ({"jerk": 5.0}, "jerk needs timing='jerk_limited'"),
        ({"margin": 0.1}, "margin"),
        ({"tool": "hook"}, "hook"),
        ({"start": [0.0, np.nan]}, "start"),
        ({"start": [0.0]}, "start"),
        ({"start": None}, "start is None"),
        ({"goal": np.zeros((2, 2, 2))}, "goal"),
        ({"goal": [0.0, np.inf]}, "finite"),
        ({"goal": {}}, "no frame"),
        ({"world": "shelf"}, "world must be"),
        ({"robot": aj.robots.puma560()}, "robot must be that of the CollisionModel"),
        ({"method": "prm", "keep": aj.goals.plane("link2", [0, 0, 0], [0, 0, 1])}, "rrt_connect"),
    ],
)  # fmt: skip
def test_bad_arguments_are_told(change, message):
    given_ = {"world": MODEL, "robot": None, "start": [0.0, 0.0], "goal": [0.1, 0.1]} | change
    positional = [given_.pop(name) for name in ("world", "robot", "start", "goal")]
    with pytest.raises(ArgumentError, match=message):
        plan_motion(*positional, **given_)


# --- motions in time --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("timing", ["time_optimal", "jerk_limited"])
def test_motions_keep_their_limits_and_are_free(timing):
    start, goal = np.array([-0.6, 0.5]), np.array([1.9, 0.4])
    options = {"jerk": 60.0} if timing == "jerk_limited" else {}
    plan = plan_motion(MODEL, None, start, goal, timing=timing, velocity=2.0, acceleration=[5.0, 8.0], **options)
    assert plan.solved, plan.reason
    assert len(plan.path) > 2
    motion = plan.trajectory
    assert motion is not None and motion.limits_hold(velocity=2.0, acceleration=[5.0, 8.0], **options)
    np.testing.assert_allclose(motion(np.array([0.0, motion.duration])).v, 0.0, atol=1e-6)
    assert plan.recheck(finer=10).free
    q = motion(np.linspace(0, motion.duration, 500)).q
    assert configuration_space(ARM).inside(q).all()


def test_corners_are_rounded_no_further_than_free():
    """A curve through a corner beside a post stays outside of it."""
    start, goal = free_pair(MODEL, 8)
    plan = plan_motion(MODEL, None, start, goal, shortcut=False)
    assert plan.trajectory is not None
    q = plan.trajectory(np.linspace(0, plan.trajectory.duration, 2000)).q
    assert is_free(MODEL, q).all()


# --- real arms --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", list(scenes.SCENES))
def test_a_panda_in_scenes(panda, name):
    model = collision_model(panda, scenes.scene_of(name))
    problems = scenes.random_problems(panda, lambda q: is_free(model, q), scenes.SCENES[name][1], 6, 1)
    solved = 0
    for start, goal in problems:
        plan = plan_motion(model, None, start, goal)
        solved += plan.solved
        assert plan.solved or "no path within" in plan.reason
        if not plan.solved:
            continue
        assert plan.recheck(finer=4).free
        proved = plan.certify()
        assert not proved.colliding.any() or plan.clearance(0.005) < 5e-3
    assert solved >= 5


@pytest.mark.slow
def test_plans_are_free_for_exact_meshes(panda):
    """The capsules have the links in them, so that no mesh touches anything along a plan, ten times finer."""
    model = collision_model(panda, scenes.scene_of("table"), margin=0.005)
    start, goal = scenes.random_problems(panda, lambda q: is_free(model, q), scenes.SCENES["table"][1], 1, 3)[0]
    plan = plan_motion(model, None, start, goal)
    assert plan.solved
    assert plan.recheck(finer=10).free
    exact = plan.recheck(finer=1, exact=True)
    assert exact.free, exact.reason


def test_a_plan_shows_itself():
    plan = plan_motion(MODEL, None, *free_pair(MODEL, 1))
    assert isinstance(plan, MotionPlan)
    assert plan.robot is ARM
    assert "waypoints" in repr(plan)
    assert free_path(Checker.of(configuration_space(ARM), lambda q: is_free(MODEL, q), 0.05), plan.path)
    floor = collision_model(ARM, [Plane(T_world_solid=[0, 0, -1.0])], pairs=())
    assert plan_motion(floor, ARM, [0.0, 0.0], [1.0, 1.0]).certify().free.all()


@pytest.mark.slow
def test_a_held_part_is_placed_by_relations():
    robot = aj.robots.puma560()
    down = [aj.goals.position("tool", [0.4, -0.3, 0.3]), aj.goals.axis("tool", [0, 0, -1])]
    q = aj.find_configuration(robot, down).q
    world = (
        World().add("table", cuboid(0.4, 0.4, 0.05), at=[0.55, 0.15, -0.25]).add_robot("arm", robot, q=q, tool="tool")
    )
    world = world.add("box", cuboid(0.06, 0.06, 0.1), parent="arm.tool", at=[0, 0, 0.06])
    relation = against("box.top", "table.top")
    plan = plan_motion(world, "arm", None, relation, standoff=0.03)
    assert plan.solved, plan.reason
    assert plan.recheck().free
    then = world.set_configuration("arm", plan.path[-1])
    face, top = then.pose("box.top"), then.pose("table.top")
    np.testing.assert_allclose(face[:3, 0], -top[:3, 0], atol=1e-5)  # the outward normals are opposed
    assert (face[:3, 3] - top[:3, 3]) @ top[:3, 0] == pytest.approx(0.03, abs=1e-5)
    same = plan_motion(world, "arm", None, placements(world, "box", relation), standoff=[0, 0, 0.03], timing=None)
    assert same.solved
    shut = [relation, against("box.top", "table.bottom")]
    assert plan_motion(world, "arm", None, shut).reason.startswith("goal: ")
    with pytest.raises(ArgumentError, match="holds 'box'"):
        plan_motion(world, "arm", None, against("table.top", "table.bottom"))
    with pytest.raises(ArgumentError, match="standoff"):
        plan_motion(world, "arm", None, relation, standoff=[1, 2])
    with pytest.raises(ArgumentError, match="needs a World"):
        plan_motion(MODEL, None, [0.0, 0.0], relation)


def test_a_robot_of_a_world_may_be_given_itself():
    """By its name, as the robot that the world has once, or as one that the world does not have."""
    wall = World().add("wall", cuboid(0.2, 0.2, 0.2), at=[5.0, 0, 0])
    known = wall.add_robot("arm", ARM, q=[0.1, 0.2])
    plans = [plan_motion(w, r, s, [1.0, 1.0], timing=None) for w, r, s in (
        (known, "arm", None), (known, ARM, None), (wall, ARM, [0.1, 0.2]),
    )]  # fmt: skip
    assert all(np.array_equal(plan.path, plans[0].path) for plan in plans)
    with pytest.raises(ArgumentError, match="the world has this robot as 'arm' and 'other'; give its name"):
        plan_motion(known.add_robot("other", ARM, at=[9.0, 0, 0]), ARM, None, [1.0, 1.0])
    with pytest.raises(ArgumentError, match="plan_motion: the world has no robot 'amr'"):
        plan_motion(known, "amr", None, [1.0, 1.0])
    assert (
        "look like degrees" in plan_motion(known, "arm", None, [90.0, 45.0]).reason or not np.isfinite(ARM.upper).all()
    )
