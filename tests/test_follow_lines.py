"""Motions of joints that follow motions of a frame, and bounded deviation joint paths."""

import numpy as np
import pytest
from support.robots import urdf

import adjoint as aj
from adjoint.inverse import choice, follow_path
from adjoint.lie import se3, so3
from adjoint.trajectory import (
    bounded_deviation,
    circle,
    joint_motion,
    line,
    lines,
    paul_lines,
    pose_spline,
    quintic,
    screw_motion,
)

puma = aj.robots.puma560()
ur5 = aj.load(urdf("ur5_robot"))
panda = aj.load(urdf("panda"))
START = {
    "puma560": np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0]),
    "ur5": np.array([0.3, -1.2, 1.5, -0.8, -1.4, 0.2]),
    "panda": np.array([0, -0.3, 0.1, -2, 0.1, 1.7, 0.7, 0.02]),
}
ARMS = [(puma, "tool"), (ur5, "tool0"), (panda, "panda_hand")]
arms = pytest.mark.parametrize(("robot", "frame"), ARMS, ids=["puma", "ur5", "panda"])


def poses(robot, frame):
    """Three poses that the arm reaches on the branch of its start."""
    T = np.tile(aj.forward_kinematics(robot, START[robot.name], frame), (3, 1, 1))
    T[1:, :3, 3] += [[-0.2, 0.15, -0.1], [-0.25, 0.05, 0.0]]
    T[1:, :3, :3] = T[1:, :3, :3] @ so3.rotation_x(0.4)
    return T


def off(robot, frame, path, motion, n):
    """The largest errors [m, rad] of the frame at n times."""
    t = np.linspace(0, path.duration, n)
    T, P = aj.forward_kinematics(robot, motion(t).q, frame), path(t).T
    return np.linalg.norm((T - P)[:, :3, 3], axis=1).max(), so3.distance(T[:, :3, :3], P[:, :3, :3]).max()


@pytest.mark.slow
@arms
def test_the_frame_follows_its_path(robot, frame):
    P, q = poses(robot, frame), START[robot.name]
    gentle = quintic([0.0], [1.0], 2.0)
    for path in (
        line(P[0], P[1], profile=gentle),
        lines(P, 1.0, blend=0.2),
        paul_lines(P, 1.0, blend=0.2).timed(gentle),
        pose_spline(P, [0.0, 1.0, 2.0]),
        circle(P[0], P[0, :3, 3] + [-0.05, 0, 0], [0, 0, 1], 3.0, 2.0),
    ):
        for tolerance in (1e-3, 1e-6):
            motion = joint_motion(robot, path, frame, start=q, tolerance=tolerance, samples=4)
            assert max(off(robot, frame, path, motion, 100 * motion.pieces + 1)) < tolerance
        t = np.linspace(0, 2, 12)[1:-1]
        sample = motion(t)
        twist = aj.kinematics.frame_twist(robot, sample.q, sample.v, frame)
        assert np.abs(twist - path(t).twist).max() < 1e-3
        assert np.abs(motion(0.0).q - q).max() < 1e-6 and motion.duration == 2
        # Position and velocity are continuous, with one-sided accelerations of the path.
        eps = 1e-9
        inner = motion.knots[1:-1]
        assert np.abs(motion(inner - eps).v - motion(inner + eps).v).max() < 1e-6


@arms
def test_accelerations_are_those_of_the_frame_and_the_joints_move_least(robot, frame):
    P, q = poses(robot, frame), START[robot.name]
    path = pose_spline(P, [0.0, 1.0, 2.0])
    motion = joint_motion(robot, path, frame, start=q, tolerance=1e-7)
    t = motion.knots[1:-1]
    sample, goal = motion(t), path(t)
    assert np.abs(aj.kinematics.frame_twist(robot, sample.q, sample.v, frame) - goal.twist).max() < 1e-9
    a = aj.kinematics.frame_acceleration(robot, sample.q, sample.v, sample.a, frame)
    assert np.abs(a - goal.acceleration).max() < 1e-8
    J = aj.jacobian(robot, sample.q, frame)
    least = (np.linalg.pinv(J) @ goal.twist[..., None])[..., 0]
    assert np.abs(sample.v - least).max() < 1e-9
    # Along the solution of dq/dt = J⁺ V the acceleration is the rate of this velocity.
    eps = 1e-5
    rate = (motion(t + eps).v - motion(t - eps).v) / (2 * eps)
    assert np.abs(rate - sample.a).max() < 1e-3


def test_joints_that_do_not_move_the_frame_stay():
    P = poses(panda, "panda_hand")
    motion = joint_motion(panda, line(P[0], P[1], 1.0), "panda_hand", start=START["panda"])
    assert np.abs(motion(np.linspace(0, 1, 9)).q[:, 7] - 0.02).max() < 1e-12


def test_without_a_start_a_branch_is_chosen_that_goes_through():
    """The wrist would be singular half-way on one branch of the PUMA; others pass."""
    q = np.array([0.3, -0.8, 2.0, 0.3, 0.0, 0.0])
    T, V = aj.forward_kinematics(puma, q, "tool"), np.array([0.3, 0.2, 0, 0.05, 0, 0])
    path = screw_motion(T @ se3.exp(-V), T @ se3.exp(V), 1.0)
    motion = joint_motion(puma, path, "tool")
    assert max(off(puma, "tool", path, motion, 3001)) < 1e-6
    near = aj.inverse.nearest_solution(  # with the same shoulder and elbow
        puma, aj.inverse_kinematics(puma, path(0.0).T, "tool"), q, weights=[100, 100, 100, 1, 1, 1]
    )
    start = near.q
    words = r"cannot follow its path at t = 0\.4.* the arm is singular.* Without start= another branch goes all the way"
    with pytest.raises(aj.SolveError, match=words):
        joint_motion(puma, path, "tool", start=start)


@pytest.mark.slow
def test_paths_that_cannot_be_followed_say_where_and_why():
    q = START["puma560"]
    T = aj.forward_kinematics(puma, q, "tool")
    with pytest.raises(aj.SolveError, match=r"'tool' of 'puma560' cannot .* at t = .* of the way: the pose is out"):
        joint_motion(puma, line(T, T @ se3.exp([0, 0, 0, 0, 0, 1.0]), 1.0), "tool", start=q)
    narrow = puma.replace(upper=np.where(np.arange(6) == 0, 0.4, puma.upper))
    away = line(T, se3.exp([0, 0, 0.5, 0, 0, 0]) @ T, 1.0)
    with pytest.raises(aj.SolveError, match=r"at t = 0\.\d+ s.*(joint1|limit)"):
        joint_motion(narrow, screw_motion(T, se3.exp([0, 0, 0.5, 0, 0, 0]) @ T, 1.0), "tool", start=q)
    assert joint_motion(puma, away, "tool", start=q).pieces
    T = aj.forward_kinematics(panda, START["panda"], "panda_hand")
    with pytest.raises(aj.SolveError, match=r"'panda_hand' of 'panda' .* out of reach or singular"):
        joint_motion(panda, line(T, T @ se3.exp([0, 0, 0, 0, 0, 2.0]), 1.0), "panda_hand", start=START["panda"])
    tight = panda.replace(upper=np.where(np.arange(8) == 0, 0.05, panda.upper))
    with pytest.raises(aj.SolveError, match=r"at t = 0\.\d+ s.* joint 'panda_joint1' would pass its limit 0\.05"):
        joint_motion(tight, screw_motion(T, se3.exp([0, 0, 0.5, 0, 0, 0]) @ T, 1.0), "panda_hand", start=START["panda"])


def test_wrong_arguments_of_joint_motions_are_refused():
    P = poses(puma, "tool")
    path = line(P[0], P[1], 1.0)
    for bad, words in (
        ({"path": P[0]}, "path must be one PoseTrajectory"),
        ({"path": line(P[:2], P[1:], 1.0)}, "path must be one PoseTrajectory"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"start": np.zeros(5)}, "'start' has shape"),
        ({"start": np.zeros((2, 6))}, "start has shape"),
        ({"start": np.full(6, np.nan)}, "start contains NaN"),
        ({"frame": "hand"}, "hand"),
    ):
        given = {"path": path, "frame": "tool"} | bad
        with pytest.raises(aj.AdjointError, match=words):
            joint_motion(puma, **given)
    with pytest.raises(aj.ArgumentError, match="needs a Robot"):
        joint_motion(path, path, "tool")


# --- bounded deviation joint paths ------------------------------------------------------------------------------------


def two_links(x, y) -> tuple[np.ndarray, np.ndarray]:
    """A pose and the configuration with θ2 > 0 of an arm with two links of 1 m."""
    t_2 = np.arccos((x * x + y * y - 2) / 2)
    q = np.array([np.arctan2(y, x) - np.arctan2(np.sin(t_2), 1 + np.cos(t_2)), t_2])
    return se3.from_rotation_translation(np.eye(3), [x, y, 0.0]), q


two = aj.from_dh([[0, 0, 1, 0], [0, 0, 1, 0]], name="two links")


@pytest.mark.parametrize(
    ("ends", "counts"),
    [(((1.5, 0.0), (0.5, 1.5)), (3, 9, 33, 65)), (((1.2, -1.0), (1.2, 1.0)), (5, 9, 33, 129))],
)
def test_knots_of_the_digest(ends, counts):
    (T_0, q_0), (T_1, q_1) = (two_links(*end) for end in ends)
    for bound, count in zip((0.1, 0.01, 0.001, 1e-4), counts, strict=True):
        path = bounded_deviation(two, T_0, T_1, "tool", position=bound, start=q_0)
        assert len(path.q) == count and path.position <= bound
        assert np.abs(path.q[[0, -1]] - [q_0, q_1]).max() < 1e-7 and (path.q[:, 1] > 0).all()
        p = aj.forward_kinematics(two, path.q, "tool")[:, :3, 3]
        assert np.abs(p - ((1 - path.at)[:, None] * T_0[:3, 3] + path.at[:, None] * T_1[:3, 3])).max() < 1e-7


def test_deviations_of_the_levels():
    (T_0, q_0), (T_1, _) = two_links(1.5, 0.0), two_links(0.5, 1.5)
    for level, expected in enumerate((0.29254, 0.08925, 0.02375, 0.00609, 0.00155, 0.00039)):
        path = bounded_deviation(two, T_0, T_1, "tool", position=expected + 1e-5, start=q_0)
        assert len(path.q) <= 2**level + 1 and abs(path.position - expected) < 6e-6


def test_a_puma_stays_near_the_line():
    P, q = poses(puma, "tool"), START["puma560"]
    for bound in (1e-2, 1e-3, 1e-4):
        path = bounded_deviation(puma, P[0], P[1], "tool", position=bound, angle=5 * bound, start=q)
        assert path.position <= bound and path.angle <= 5 * bound
        T = aj.forward_kinematics(puma, path.q, "tool")
        assert np.abs(T - line(P[0], P[1], 1.0)(path.at).T).max() < 1e-11
        motion = path.trajectory(2.0)
        way = line(P[0], P[1], 2.0)
        t = np.linspace(0, 2, 2001)
        d = np.linalg.norm((aj.forward_kinematics(puma, motion(t).q, "tool") - way(t).T)[:, :3, 3], axis=1).max()
        assert d < 1.2 * bound  # only middles are tested
    assert len(set(follow_path(puma, T, "tool", start=q).branch)) == 1
    best = bounded_deviation(puma, P[0], P[1], "tool", position=1e-3)  # any branch
    assert np.abs(np.diff(best.q[[0, -1]], axis=0)).max() < 1.0


def test_an_arm_without_a_closed_form_stays_near_the_line():
    P, q = poses(panda, "panda_hand"), START["panda"]
    path = bounded_deviation(panda, P[0], P[1], "panda_hand", position=1e-3, angle=1e-2, start=q)
    T = aj.forward_kinematics(panda, path.q, "panda_hand")
    assert np.abs(T - line(P[0], P[1], 1.0)(path.at).T).max() < 1e-7 and 3 <= len(path.q) < 30
    assert np.abs(path.q[0] - q).max() < 1e-6


def test_bounded_deviation_says_which_start_or_duration_is_wrong():
    P, q = poses(puma, "tool"), np.full(6, np.nan)
    with pytest.raises(aj.ArgumentError, match="bounded_deviation: start contains NaN"):
        bounded_deviation(puma, P[0], P[1], "tool", position=1e-3, start=q)
    with pytest.raises(aj.ArgumentError, match="joint_motion: start contains NaN"):
        joint_motion(puma, line(P[0], P[1], 1.0), "tool", start=q)
    with pytest.raises(aj.ArgumentError, match=r"duration must be one time \[s\], got an array of shape \(2,\)"):
        bounded_deviation(puma, P[0], P[1], "tool", position=1e-3).trajectory([1.0, 2.0])


def test_bounded_deviation_says_what_is_wrong():
    P, q = poses(puma, "tool"), START["puma560"]
    far = P[1].copy()
    far[0, 3] = 5.0
    with pytest.raises(aj.SolveError, match="has 'tool' at T_1: it is out of reach"):
        bounded_deviation(puma, P[0], far, "tool", position=1e-3, angle=1e-2, start=q)
    with pytest.raises(aj.SolveError, match=r"after 2 levels the frame is still .* m and .* rad"):
        bounded_deviation(puma, P[0], P[1], "tool", position=1e-6, angle=1e-6, start=q, levels=2)
    across = se3.exp([0, 0, 3.0, 0, 0, 0]) @ P[0]  # on the other side of the base, which the line passes too near
    with pytest.raises(aj.SolveError, match=r"'tool' at .*% of the line: the line is out of reach there"):
        bounded_deviation(puma, P[0], across, "tool", position=1e-3, angle=1e-3)
    for bad, words in (
        ({"position": 0.0}, "position"),
        ({"angle": -1.0}, "angle"),
        ({"levels": -1}, "levels"),
        ({"T_0": np.diag([1.0, 1, -1, 1])}, "T_0 is not a rigid motion"),
        ({"T_0": P}, "must be one pose each"),
    ):
        given = {"T_0": P[0], "T_1": P[1], "position": 1e-3, "start": q} | bad
        with pytest.raises(aj.ArgumentError, match=words):
            bounded_deviation(puma, frame="tool", **given)


# --- the path on one branch, without a search -------------------------------------------------------------------------


@pytest.mark.parametrize(("robot", "frame"), ARMS[:2], ids=["puma", "ur5"])
def test_a_path_on_one_branch_is_what_the_search_finds(robot, frame, monkeypatch):
    rng = np.random.default_rng(5)
    quick = choice._on_one_branch
    taken = 0
    for trial in range(24):
        q, goal = aj.random_configuration(robot, 2, rng=rng)
        s = np.linspace(0, 1, (1, 2, 30)[trial % 3])[:, None]
        T = aj.forward_kinematics(robot, q + 0.4 * s * (goal - q), frame)
        start = None if trial % 2 else q
        found = follow_path(robot, T, frame, start=start)
        results = []
        monkeypatch.setattr(choice, "_on_one_branch", lambda *x, keep=results: keep.append(quick(*x)))
        searched = follow_path(robot, T, frame, start=start)
        monkeypatch.setattr(choice, "_on_one_branch", quick)
        taken += results[0] is not None
        assert np.allclose(found.q, searched.q, atol=1e-12, rtol=0, equal_nan=True)
        assert np.array_equal(found.branch, searched.branch) and found.jumps == searched.jumps
    assert taken >= 6
