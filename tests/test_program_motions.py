"""Moves as motions: straight lines, via points, approaches, branches, limits, and joints by profiles."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.program.running import APPROACH_LENGTH, hand_in_tool, plan_joints, plan_move
from adjoint.program.running.joint_paths import profile, speed_limits
from adjoint.program.running.knot_configurations import UnreachableError
from adjoint.sensing import Box
from tests.support.running_programs import Q_UP, free_gantry, puma_world

WORLD = puma_world()
PUMA = WORLD.robots["arm"].robot
HERE = WORLD.pose("arm.tool")


def shifted(x=0.0, y=0.0, z=0.0, turn=None):
    T = np.array(HERE)
    T[:3, 3] += [x, y, z]
    if turn is not None:
        T[:3, :3] = T[:3, :3] @ aj.lie.so3.exp(np.asarray(turn, float))
    return T


def tools(motion):
    return np.asarray(aj.forward_kinematics(PUMA, motion.q, "tool"))


def with_start(motion):
    return np.concatenate([WORLD.robots["arm"].q[None], motion.q])


@pytest.mark.parametrize("turn", [None, (0.2, -0.1, 0.3)])
@pytest.mark.parametrize("by", [(0, -0.2, 0), (-0.1, 0, -0.1), (0, 0, 0.05)])
def test_straight_moves_are_straight(by, turn):
    goal = shifted(*by, turn)
    motion = plan_move(WORLD, "arm", goal, straight=True)
    T = tools(motion)
    way = goal[:3, 3] - HERE[:3, 3]
    along = (T[:, :3, 3] - HERE[:3, 3]) @ way / (way @ way)
    np.testing.assert_allclose(T[:, :3, 3], HERE[:3, 3] + along[:, None] * way, atol=1e-9)
    assert (np.diff(along) > -1e-12).all()
    np.testing.assert_allclose(T[-1], goal, atol=1e-9)
    # All turning is about one axis, and it keeps pace with the way.
    whole = aj.lie.so3.log(HERE[:3, :3].T @ goal[:3, :3])
    part = np.asarray(aj.lie.so3.log(HERE[:3, :3].T @ T[:, :3, :3]))
    np.testing.assert_allclose(part, along[:, None] * whole, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"straight": True}, {"approach": [0, 0, -1.0]}, {"via": "one"}])
def test_limits_of_speed_and_acceleration_hold(options):
    if options.get("via"):
        options = {"via": [shifted(-0.05, -0.1, 0.05)]}
    motion = plan_move(WORLD, "arm", shifted(0, -0.2, -0.02), **options)
    V, A = speed_limits(PUMA)
    q = with_start(motion)
    assert (np.abs(np.diff(q, axis=0)).max(axis=0) / 0.01 <= 1.001 * V).all()
    # Of lines, only what the table of configurations tells is bounded: curvature adds a little.
    assert (np.abs(np.diff(q, 2, axis=0)).max(axis=0) / 1e-4 <= 1.3 * A).all()
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-12)
    np.testing.assert_allclose(tools(motion)[-1], shifted(0, -0.2, -0.02), atol=1e-9)


@pytest.mark.parametrize("straight", [False, True])
def test_via_points_are_passed_without_a_stop(straight):
    via, goal = shifted(-0.05, -0.15, 0.0), shifted(-0.15, -0.2, 0.05)
    motion = plan_move(WORLD, "arm", goal, via=[via], straight=straight)
    p = tools(motion)[:, :3, 3]
    near = int(np.linalg.norm(p - via[:3, 3], axis=1).argmin())
    assert np.linalg.norm(p[near] - via[:3, 3]) < 3e-3  # ticks are discrete: it is passed between two of them
    inner = np.linalg.norm(motion.v[5:-5], axis=1)
    assert inner.min() > 0.02 and np.linalg.norm(motion.v[near]) > 0.02


def test_cubics_through_via_points_do_not_overshoot():
    via = [Q_UP + np.array([0.3, 0.1, 0, 0, 0, 0.5]), Q_UP + np.array([0.4, 0.1, 0.2, 0, 0, 0.2])]
    goal = Q_UP + np.array([0.5, 0.3, 0.2, 0, 0.1, 0])
    q = with_start(plan_move(WORLD, "arm", goal, via=via))
    knots = np.stack([Q_UP, *via, goal])
    assert (q <= knots.max(axis=0) + 1e-12).all() and (q >= knots.min(axis=0) - 1e-12).all()
    np.testing.assert_allclose(q[-1], goal, atol=0)


@pytest.mark.parametrize("length", [None, 0.05])
def test_approach_and_departure_are_straight(length):
    goal = shifted(-0.05, -0.2, -0.05)
    down = np.array([0, 0, -1.0]) * (1.0 if length is None else length)
    size = APPROACH_LENGTH if length is None else length
    motion = plan_move(WORLD, "arm", goal, approach=down, departure=-down)
    p = tools(motion)[:, :3, 3]
    ending = p[(p[:, 2] <= goal[2, 3] + size - 1e-9) & (np.arange(len(p)) > len(p) // 2)]
    assert len(ending) > 5 and np.abs(ending[:, :2] - goal[:2, 3]).max() < 1e-9
    begins = p[: int(np.argmax(p[:, 2] > HERE[2, 3] + size - 1e-9))]
    assert len(begins) > 5 and np.abs(begins[:, :2] - HERE[:2, 3]).max() < 1e-9
    assert np.linalg.norm(motion.v[3:-3], axis=1).min() > 0.01  # no stop where the pieces meet


def test_duration_and_speed_stretch():
    goal = shifted(0, -0.1, 0)
    plain, slow = plan_move(WORLD, "arm", goal), plan_move(WORLD, "arm", goal, speed=0.5)
    assert abs(len(slow.q) - 2 * len(plain.q)) <= 2
    assert len(plan_move(WORLD, "arm", goal, duration=5.0).q) == 500
    assert len(plan_move(WORLD, "arm", goal, duration=0.01).q) == len(plain.q)
    assert len(plan_move(WORLD, "arm", HERE).q) == 0
    rest = plan_move(WORLD, "arm", HERE, duration=0.3)
    assert rest.q.shape == (30, 6) and (rest.q == Q_UP).all()
    finer = plan_move(WORLD, "arm", goal, period=0.001)
    assert abs(len(finer.q) - 10 * len(plain.q)) <= 10


def test_configurations_are_chosen_by_flags_and_by_distance():
    goal = shifted(-0.05, -0.15, 0.0)
    near = plan_move(WORLD, "arm", goal)
    assert np.abs(near.q[-1] - Q_UP).max() < 1.0
    seen = set()
    for flags in (("lefty",), ("righty",), ("lefty", "below"), ("righty", "above"), ("flip",), ("noflip",)):
        try:
            q = plan_move(WORLD, "arm", goal, flags=flags).q[-1]
        except UnreachableError as error:  # the arm's limits may leave a branch no room
            assert error.code in ("limit", "branch")
            continue
        found = aj.inverse.indicators(PUMA, q, "tool")
        seen.add(flags)
        if flags[0] in ("lefty", "righty"):
            assert found.arm == (1 if flags[0] == "righty" else -1)
        if "below" in flags or "above" in flags:
            assert found.elbow == (1 if "above" in flags else -1)
        if flags[0] in ("flip", "noflip"):
            assert (q[4] < 0) == (flags[0] == "flip")
    assert len(seen) >= 3


def test_the_hand_is_between_the_fingers():
    hand = aj.world.Gripper(opening=0.06, depth=0.05, palm=0.02)
    w = aj.world.World().add_robot("arm", PUMA, q=Q_UP, gripper=hand)
    goal = w.pose("arm.tool") @ hand_in_tool(w, "arm")
    goal[2, 3] -= 0.05
    q = plan_move(w, "arm", goal).q[-1]
    np.testing.assert_allclose(w.set_configuration("arm", q).pose("arm.tool") @ hand.T_tool_grip, goal, atol=1e-9)


@pytest.mark.parametrize(
    ("goal", "straight", "code", "words"),
    [
        (shifted(3.0, 0, 0), False, "reach", "out of reach"),
        (shifted(0.5, 0, 0), True, "reach", "leaves the arm's reach"),
        (
            np.array([3.0, -0.8, 2.0, 0.3, 0.7, 0.0]),
            False,
            "limit",
            "'joint1' would have to be at 171.9°, and its limit",
        ),
        (np.zeros(5), False, "reach", "joint values"),
    ],
)
def test_what_cannot_be_reached(goal, straight, code, words):
    with pytest.raises(UnreachableError, match=words) as error:
        plan_move(WORLD, "arm", goal, straight=straight)
    assert error.value.code == code


@pytest.mark.slow
def test_moves_around_obstacles():
    goal = Q_UP + np.array([1.2, 0, 0, 0, 0, 0])
    wall = Box([0.3, 0.02, 0.3], T_world_solid=aj.lie.se3.from_rotation_translation(np.eye(3), [0.3, 0.45, 0.55]))
    w = WORLD.add("wall", wall)
    motion = plan_move(w, "arm", goal, avoiding=True)
    np.testing.assert_allclose(motion.q[-1], goal, atol=1e-9)


# --- joints -----------------------------------------------------------------------------------------------------------


def test_joints_move_as_aml_says():
    """W4: MOVE over 10 inches with speed, acceleration and deceleration 1 lasts 11 s."""
    w = aj.world.World().add_robot("rs1", aj.robots.gantry())
    inch = 0.0254
    motion = plan_joints(w, "rs1", [1, 4], [10 * inch, np.radians(20)], velocity=[inch, np.radians(2)],
                         acceleration=[inch, np.radians(2)], deceleration=[inch, np.radians(2)])  # fmt: skip
    assert len(motion.q) == 1100
    np.testing.assert_allclose(motion.q[-1], [10 * inch, 0, 0, np.radians(20), 0, 0], atol=0)
    then = w.set_configuration("rs1", motion.q[-1])
    moved = plan_joints(then, "rs1", [1, 3, 6], [inch, 2 * inch, np.radians(5)], relative=True).q[-1]
    np.testing.assert_allclose(moved, [11 * inch, 0, 2 * inch, np.radians(20), 0, np.radians(5)], atol=1e-15)


def test_profiles_of_unequal_slopes():
    one = profile(1.0, 2.0, 4.0)
    assert one.top < 2.0 and one.duration > 1.0
    t = np.linspace(0, one.duration, 2001)
    s = one.at(t)
    assert s[0] == 0 and s[-1] == 1 and (np.diff(s) >= 0).all()
    rate = np.gradient(s, t)
    assert rate.max() <= one.top + 1e-6
    bent = np.diff(rate[1:-1]) / np.diff(t)[1:-1]
    assert bent.max() < 2.0 + 0.02 and bent.min() > -4.0 - 0.02
    short = profile(100.0, 2.0, 4.0, first=0.5, last=0.2)
    s = short.at(np.linspace(0, short.duration, 1001))
    assert abs(s[-1] - 1) < 1e-12 and (np.diff(s) >= 0).all()


@pytest.mark.parametrize(
    ("joints", "values", "words"),
    [([7], [0.0], "no joint 7"), ([1], [9.0], "limit is 1.016 m"), ([5], [3.0], "limit is 100°")],
)
def test_joints_that_cannot_move(joints, values, words):
    w = aj.world.World().add_robot("rs1", aj.robots.gantry())
    with pytest.raises(UnreachableError, match=words):
        plan_joints(w, "rs1", joints, values)
    with pytest.raises(UnreachableError, match="above 0"):
        plan_joints(w, "rs1", [1], [0.5], velocity=-1.0)


def test_full_turns_are_counted_on_lines():
    """A line is followed with the turns that the joints have, not with those of the inverse kinematics."""
    q = np.array([0.5, 0.5, 0.5, 0.3, 0.2, 0.1 + 2 * np.pi])
    w = aj.world.World().add_robot("arm", free_gantry(), q=q)
    goal = np.array(w.pose("arm.tool"))
    goal[0, 3] += 0.2
    motion = plan_move(w, "arm", goal, straight=True)
    np.testing.assert_allclose(motion.q[:, 3:], np.broadcast_to(q[3:], (len(motion.q), 3)), atol=1e-9)


@pytest.mark.parametrize("options", [{"duration": 1e9}, {"speed": 1e-9}, {"duration": np.inf}])
@pytest.mark.parametrize("by", [0.0, 0.1])
def test_motions_that_would_hardly_ever_end_are_refused(options, by):
    if by or "duration" in options:
        with pytest.raises(UnreachableError, match="would last"):
            plan_move(WORLD, "arm", WORLD.robots["arm"].q + by, **options)
