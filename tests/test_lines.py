"""Straight lines by Paul's drive transform and by Taylor's quaternions: the textbook's problems 4.6 to 4.10."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import adjoint as aj
from adjoint.lie import se3, so3
from adjoint.trajectory import (
    circle,
    drive,
    drive_transform,
    in_next_frame,
    line,
    lines,
    paul_lines,
    pose_spline,
    s_curve,
    segment_durations,
    task_pose,
)

# Problem 4.7, with the sign of A's third diagonal element corrected: as printed, A mirrors.
A = np.array([[-1.0, 0, 0, 5], [0, 1, 0, 10], [0, 0, -1, 15], [0, 0, 0, 1]])
B = np.array([[0.0, -1, 0, 20], [0, 0, 1, 30], [-1, 0, 0, 5], [0, 0, 0, 1]])
A_8 = A.copy()
A_8[:3, 3] = 10, 10, 10
B_8 = B.copy()
B_8[:3, 3] = 10, 30, 10
rng = np.random.default_rng(0)


def angle(T, S):
    return np.degrees(so3.distance(T[..., :3, :3], S[..., :3, :3]))


def test_problem_4_7():
    x = drive_transform(A, B)
    assert np.abs(x[:3] - [-15, 20, 10]).max() < 1e-14
    assert np.abs(np.degrees(x[3:]) - [90, 90, -90]).max() < 1e-13
    path = paul_lines([A, B], 1.0)
    quarter = [[-0.92388, -0.38268, 0, 8.75], [-0.35355, 0.85355, 0.38268, 15], [-0.14645, 0.35355, -0.92388, 12.5]]
    half = [[-0.70711, -0.70711, 0, 12.5], [-0.5, 0.5, 0.70711, 20], [-0.5, 0.5, -0.70711, 10]]
    last = [[-0.38268, -0.92388, 0, 16.25], [-0.35355, 0.14645, 0.92388, 25], [-0.85355, 0.35355, -0.38268, 7.5]]
    for t, expected in ((0.25, quarter), (0.5, half), (0.75, last)):
        assert np.abs(path(t).T[:3] - expected).max() < 6e-6  # five decimals are printed
        assert np.abs(A @ drive(x, t) - path(t).T).max() < 1e-14


def test_problems_4_8_and_4_9():
    path = line(A_8, B_8, 1.0)
    assert np.abs(so3.to_quat_wxyz(A_8[:3, :3].T @ B_8[:3, :3]) - [0.5, -0.5, -0.5, -0.5]).max() < 1e-15
    assert np.abs(3 * path(0.5).T[:3, :3] - [[-2, -2, 1], [-1, 2, 2], [-2, 1, -2]]).max() < 1e-14
    one, two = 0.9106836025, 0.2440169359
    third = 1 / 3
    quarter = [[-one, -third, two], [-two, one, third], [-third, two, -one]]
    assert np.abs(path(0.25).T[:3, :3] - quarter).max() < 1e-10
    assert np.abs(path(0.75).T[:3, :3] - [[-third, -one, two], [-two, third, one], [-one, two, -third]]).max() < 1e-10
    assert np.abs(path([0.25, 0.5, 0.75]).T[:, :3, 3] - [[10, 15, 10], [10, 20, 10], [10, 25, 10]]).max() < 1e-14


def test_two_rotations_are_no_geodesic():
    paul, taylor = paul_lines([A_8, B_8], 1.0), line(A_8, B_8, 1.0)
    off = angle(paul(0.5).T, taylor(0.5).T)
    assert abs(off - np.degrees(np.arcsin(1 / 3))) < 1e-6 and round(float(off), 2) == 19.47
    assert np.abs(paul(0.5).T[:3, 3] - taylor(0.5).T[:3, 3]).max() < 1e-14


def test_mirrored_frames_of_the_printed_problem_are_refused():
    printed = A.copy()
    printed[2, 2] = 1.0  # det R = -1
    for make in (lambda: paul_lines([printed, B], 1.0), lambda: lines([printed, B], 1.0)):
        with pytest.raises(aj.ArgumentError, match=r"poses\[0\] is not a rigid motion"):
            make()


def test_problem_4_6():
    """25 % of d6 = 56.25 mm along the approach vector a, then ±60 degrees about s, at both ends of a pick and place."""
    start = np.array([[-1.0, 0, 0, 0], [0, 1, 0, 600], [0, 0, -1, -100], [0, 0, 0, 1]])
    set_down = np.array([[0.0, 1, 0, 100], [1, 0, 0, 400], [0, 0, -1, -50], [0, 0, 0, 1]])
    r, z = 0.75**0.5, 14.0625
    lift_off = start @ se3.exp([0, 0, 0, 0, 0, -z]) @ se3.exp([0, np.pi / 3, 0, 0, 0, 0])
    assert np.abs(lift_off[:3] - [[-0.5, 0, -r, 0], [0, 1, 0, 600], [r, 0, -0.5, -85.9375]]).max() < 1e-13
    final = set_down @ se3.exp([0, 0, 0, 0, 0, z]) @ se3.exp([0, -np.pi / 3, 0, 0, 0, 0])
    assert np.abs(final[:3] - [[0, 1, 0, 100], [0.5, 0, -r, 400], [-r, 0, -0.5, -64.0625]]).max() < 1e-13
    for T_0, T_1 in ((start, lift_off), (set_down, final)):
        for path in (line(T_0, T_1, 1.0), paul_lines([T_0, T_1], 1.0)):  # equal: both turn about s
            assert np.abs(path(0.5).T - T_0 @ drive(drive_transform(T_0, T_1), 0.5)).max() < 1e-13
            assert np.abs(path(0.3).T[:3, 1] - T_0[:3, 1]).max() < 1e-15


def test_problem_4_10_and_the_product_of_two_quarter_turns():
    """60 degrees about j, then 120 about i; and 90 about k, then 90 about j, all about fixed axes."""
    R = so3.rotation_x(np.radians(120)) @ so3.rotation_y(np.radians(60))
    assert np.abs(so3.to_quat_wxyz(R) - [0.4330127, 0.75, 0.25, 0.4330127]).max() < 1e-7
    axis, turn = so3.to_axis_angle(R)
    assert abs(np.degrees(turn) - 128.682) < 1e-3 and np.abs(axis - [0.83205, 0.27735, 0.48038]).max() < 5e-6
    W = so3.rotation_y(np.pi / 2) @ so3.rotation_z(np.pi / 2)
    assert np.abs(so3.to_quat_wxyz(W) - 0.5).max() < 1e-15
    twist = line(np.eye(4), se3.from_rotation_translation(W, np.zeros(3)), 1.0)(0.3).twist
    assert np.abs(twist[:3] - np.radians(120) / np.sqrt(3)).max() < 1e-14


@pytest.mark.parametrize("make", [paul_lines, lines])
def test_lines_end_at_their_poses(make):
    P = se3.random(200, rng=0).reshape(100, 2, 4, 4)
    path = make(P, 1.0)
    assert np.abs(path([0.0, 1.0]).T - P).max() < 1e-13
    p = path(np.linspace(0, 1, 5)).T[..., :3, 3]
    assert np.abs(np.diff(p, 2, axis=-2)).max() < 1e-14
    moved = make(A / [1, 1, 1, 1] @ P, 1.0)(0.3).T  # another base frame changes nothing
    assert np.abs(moved - A @ path(0.3).T).max() < 1e-12


def test_drive_transforms():
    P, Q = se3.random((2, 200), rng=1)
    x = drive_transform(P, Q)
    assert ((x[:, 4] >= 0) & (x[:, 4] <= np.pi)).all()
    assert np.abs(P @ drive(x, 1.0) - Q).max() < 1e-14 and np.abs(drive(x, 0.0) - np.eye(4)).max() < 1e-15
    half = P @ drive(x, 0.5)  # the approach vector is half-way in the plane of both
    a, b, m = P[:, :3, 2], Q[:, :3, 2], half[:, :3, 2]
    assert np.abs(np.cross(a + b, m)).max() < 1e-14
    # The way back is the same way.
    assert np.abs(Q @ drive(drive_transform(Q, P), 0.25) - P @ drive(x, 0.75)).max() < 1e-12
    # Parallel approach vectors: ψ = 0, and all is turned about them.
    assert np.abs(drive_transform(np.eye(4), se3.exp([0, 0, 1.0, 1, 2, 3]))[3:] - [0, 0, 1]).max() < 1e-15
    over = se3.from_rotation_translation(so3.rotation_x(np.pi) @ so3.rotation_z(0.4), [1.0, 2, 3])
    x = drive_transform(np.eye(4), over)
    assert x[3] == 0 and abs(x[4] - np.pi) < 1e-15 and np.abs(drive(x, 1.0) - over).max() < 1e-15


# --- transitions ------------------------------------------------------------------------------------------------------


def test_transitions_of_the_digest():
    """Paul: ΔB = -1, ΔC = 2, T = 2, τ = 0.5. Taylor: a corner of a square within 1 s each, τ = 0.2."""
    # ΔB is the place at t = -τ: the segment before it has the speed 2.
    P = se3.from_rotation_translation(np.eye(3), [[-4.0, 0, 0], [0, 0, 0], [2, 0, 0]])
    for make in (paul_lines, lines):
        path = make(P, 2.0, blend=0.5)
        x, v, a = (s[..., 3] for s in (path([1.5, 2.0, 2.5]).T[:, 0], path([1.5, 2.5]).twist, path([2.0]).acceleration))
        assert np.abs(x - [-1, -0.125, 0.5]).max() < 1e-14 and np.abs(v - [2, 1]).max() < 1e-14
        assert abs(a[0] + 1) < 1e-14
        P_2 = se3.from_rotation_translation(np.eye(3), [[0.0, 0, 0], [1, 0, 0], [1, 1, 0]])
        corner = make(P_2, 1.0, blend=0.2)(1.0)
        assert np.abs(corner.T[:3, 3] - [0.95, 0.05, 0]).max() < 1e-15
        assert np.abs(corner.acceleration[3:] - [-2.5, 2.5, 0]).max() < 1e-13


def test_taylors_transition_is_the_corrected_one():
    P = se3.random(3, rng=5)
    T_1, T_2, tau = 1.0, 1.5, 0.3
    w_1, w_2 = (so3.log(a[:3, :3].T @ b[:3, :3]) for a, b in ((P[0], P[1]), (P[1], P[2])))
    path = lines(P, [T_1, T_2], blend=tau)
    for t in np.linspace(-tau, tau, 9):
        before, after = (tau - t) ** 2 / (4 * tau * T_1), (tau + t) ** 2 / (4 * tau * T_2)
        p = P[1, :3, 3] - before * (P[1] - P[0])[:3, 3] + after * (P[2] - P[1])[:3, 3]
        R = P[1, :3, :3] @ so3.exp(-before * w_1) @ so3.exp(after * w_2)
        T = path(T_1 + t).T
        assert np.abs(T[:3, 3] - p).max() < 1e-14 and np.abs(T[:3, :3] - R).max() < 1e-14
    step = (P[2] - P[1])[:3, 3] / T_2 - (P[1] - P[0])[:3, 3] / T_1
    assert abs(np.linalg.norm(path(T_1).T[:3, 3] - P[1, :3, 3]) - tau / 4 * np.linalg.norm(step)) < 1e-14


@pytest.mark.parametrize("make", [paul_lines, lines])
def test_the_twist_is_continuous_at_transitions(make):
    P = se3.random((50, 5), rng=2)
    path = make(P, [1.0, 2.0, 1.5, 1.0], blend=[0.4, 0.6, 0.5])
    eps = 1e-8
    t = path.knots[0, 1:-1]
    before, after = path(t - eps), path(t + eps)
    assert np.abs(before.T - after.T).max() < 1e-6
    # Accelerations are below 1e3, so that the twist changes by less than 2e-8 · 1e3.
    assert np.abs(before.twist - after.twist).max() < 2e-5
    # Far from the corners both are the lines themselves.
    single = make(P[:, 1:3], 2.0)
    assert np.abs(path([1.5, 2.0, 2.3]).T - single([0.5, 1.0, 1.3]).T).max() < 1e-12


def test_pauls_transition_along_one_drive_changes_nothing():
    # A corner on the way of one drive: the motion goes on as if it were not there.
    x = np.array([0.5, -0.3, 0.2, 0.7, 1.2, -0.8])
    P = A @ drive(x, np.array([0.0, 0.5, 1.0]))
    path, whole = paul_lines(P, 1.0, blend=0.4), paul_lines(P[[0, 2]], 2.0)
    t = np.linspace(0, 2, 21)
    assert np.abs(path(t).T - whole(t).T).max() < 1e-13


def test_sharp_corners_and_full_blends():
    P = se3.random(4, rng=3)
    for make in (lines, paul_lines):
        sharp = make(P, 1.0)
        assert sharp.pieces == 3 and np.abs(sharp([0.0, 1.0, 2.0, 3.0]).T - P).max() < 1e-13
        full = make(P, 1.0, blend=[0.5, 0.5])
        assert full.pieces == 4  # no time is left for the middle segment
        mixed = make(P, 1.0, blend=[0.0, 0.3])
        assert np.abs(mixed(1.0).T - P[1]).max() < 1e-13
        with pytest.raises(aj.ArgumentError, match="segment 1 lasts 1 s, which is less"):
            make(P, 1.0, blend=0.6)
        for bad in (-0.1, np.nan, [0.1, 0.1, 0.1]):
            with pytest.raises(aj.ArgumentError, match="blend"):
                make(P, 1.0, blend=bad)
        with pytest.raises(aj.ArgumentError, match=r"durations has shape \(2,\); for 4 poses \(\.\.\., 3\)"):
            make(P, [1.0, 1.0])
        with pytest.raises(aj.ArgumentError, match="has 1 pose; at least 2"):
            make(P[:1], 1.0)


# --- frames and tools -------------------------------------------------------------------------------------------------


def test_bolt_and_bracket():
    """The textbook's example: BASE T6 E = F P_i, with P_0 in INIT, P_1 to P_3 in B0, P_4 and P_5 in BR."""
    BASE, INIT, B0, BR, E, P_00, P_11, P_33, P_44 = se3.random(9, rng=4)
    INIT, B0, BR = (se3.inverse(BASE) @ F for F in (INIT, B0, BR))  # seen from the arm's base
    P_01 = in_next_frame(P_00, INIT, E, B0, E)
    assert np.abs(P_01 - se3.inverse(B0) @ INIT @ P_00).max() < 1e-13
    assert np.abs(task_pose(B0, P_01, E) - task_pose(INIT, P_00, E)).max() < 1e-13
    P_34 = in_next_frame(P_33, B0, E, BR, E)
    assert np.abs(P_34 - se3.inverse(BR) @ B0 @ P_33).max() < 1e-13
    way = B0 @ paul_lines([P_01, P_11], 1.0) @ se3.inverse(E)
    assert np.abs(way(0.0).T - task_pose(INIT, P_00, E)).max() < 1e-12
    assert np.abs(way(1.0).T - task_pose(B0, P_11, E)).max() < 1e-12
    other = in_next_frame(P_33, B0, E, BR, P_44)  # another tool
    assert np.abs(task_pose(BR, other, P_44) - task_pose(B0, P_33, E)).max() < 1e-13


@pytest.mark.slow
def test_a_conveyor_carries_the_line():
    belt = line(A_8, A_8 @ se3.exp([0, 0, 0, 0, 2.0, 0]), 2.0)
    P, tool = se3.random(2, rng=6), se3.random(rng=7)
    path = belt @ paul_lines(P, 2.0) @ se3.inverse(tool)
    t = np.linspace(0, 2, 9)
    assert np.abs(path(t).T - task_pose(belt(t).T, paul_lines(P, 2.0)(t).T, tool)).max() < 1e-13
    # Motions of frames that are functions become splines.
    table = circle(np.eye(4), [0.2, 0, 0], [0, 0, 1], 1.0, 2.0, turned=True)
    times = np.linspace(0, 2, 21)
    spline = pose_spline(table(times).T, times, start_twist=table(0.0).twist, goal_twist=table(2.0).twist)
    assert np.abs((spline @ paul_lines(P, 2.0))(t).T - (table @ paul_lines(P, 2.0))(t).T).max() < 1e-10


def test_durations_of_segments_are_those_of_the_slower_of_way_and_turn():
    """T7: the time of a segment follows from its distance and the speeds that are given."""
    poses = np.stack([np.eye(4), se3.exp([0, 0, 0, 0.3, 0, 0]), se3.exp([0, 0, 0.5, 0.3, 0, 0])])
    assert_allclose(segment_durations(poses, speed=0.2)[0], 1.5, rtol=1e-14)
    assert_allclose(segment_durations(poses, speed=0.2, turn_speed=0.1)[1], 5.0, rtol=1e-14)
    assert segment_durations(np.stack([poses, poses]), speed=1.0).shape == (2, 2)
    for given, message in (
        ({}, "there is no limit of its speed"),
        ({"speed": 0.0}, "the limit speed is 0"),
        ({"turn_speed": [1.0, 2.0]}, "'turn_speed' has shape"),
    ):
        with pytest.raises(aj.ArgumentError, match=message):
            segment_durations(poses, **given)
    with pytest.raises(aj.ArgumentError, match="repeats the one before"):
        segment_durations(poses[[0, 0]], speed=1.0)


def test_the_length_of_a_path_is_that_of_its_way():
    T = se3.exp([0, 0, 0.5, 0.3, 0.1, 0])
    assert_allclose(line(np.eye(4), T, 2.0).length, np.linalg.norm(T[:3, 3]), rtol=1e-14)
    round_trip = circle(np.eye(4), [0.05, 0, 0], [0, 0, 1.0], duration=3.0)
    assert_allclose(round_trip.length, 0.1 * np.pi, rtol=1e-13)
    profile = s_curve([0.0], [round_trip.length], velocity=0.02, acceleration=0.1, jerk=1.0)
    slow = round_trip.timed(profile)
    assert_allclose(slow.length, round_trip.length, rtol=1e-9)
    speeds = np.linalg.norm(slow(np.linspace(0, slow.duration, 1001)).twist[:, 3:], axis=1)
    assert_allclose(speeds.max(), 0.02, rtol=1e-9)
    both = line(np.eye(4), np.stack([T, T @ T]), 1.0).length
    assert both.shape == (2,) and both[0] < both[1]
