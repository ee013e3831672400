"""Torques along trajectories, limits that hold or not, and pictures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.model.catalog import random_tree
from adjoint.trajectory import LimitReport, cubic, quintic, s_curve, spline, trapezoidal
from adjoint.trajectory.draw import trajectory_figure
from adjoint.trajectory.limits import torque_peaks

NAMES = aj.robots.puma560().joint_names


def arm(**changes):
    return aj.robots.puma560().replace(**{"velocity_limit": 2.0, "effort_limit": 100.0} | changes)


def move(robot=None, **changes):
    return quintic(np.zeros(6), np.full(6, 0.7), **{"duration": 1.5, "robot": robot} | changes)


# --- torques ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_torques_are_inverse_dynamics():
    robot = arm(damping=0.3)
    x = move(robot)
    t, tau = x.torques()
    q, v, a, _ = x(t)
    assert_array_equal(t[[0, -1]], [0.0, 1.5])
    assert_allclose(tau, aj.inverse_dynamics(robot, q, v, a), atol=1e-12)
    assert_array_equal(move().torques(robot, 0.4).tau, x.torques(t=0.4).tau)


def test_torques_have_dry_friction():
    smooth, dry = (move(arm(friction=f)).torques(t=[0.5, 0.7]).tau for f in (0.0, 3.0))
    assert_allclose(dry - smooth, 3.0)


def test_torques_of_batches_have_times_of_their_own():
    x = quintic(np.zeros((4, 6)), np.random.default_rng(0).normal(size=(4, 6)), [1.0, 2.0, 3.0, 4.0], robot=arm())
    t, tau = x.torques()
    assert (t.shape, tau.shape) == ((4, 257), (4, 257, 6))
    assert_allclose(x[2].torques().tau, tau[2], atol=1e-12)


def test_torques_need_a_robot_that_fits():
    with pytest.raises(ArgumentError, match="torques needs a robot"):
        move().torques()
    with pytest.raises(ArgumentError, match="'puma560' has 6 degrees of freedom, the trajectory has 1"):
        cubic([0.0], [1.0], 1.0).torques(arm())
    with pytest.raises(ArgumentError, match="needs a Robot"):
        move().torques("puma")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="torques: argument 't'"):
        move().torques(arm(), "a")


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_that_hold():
    report = move().limits_hold(arm())
    assert report
    assert isinstance(report, LimitReport)
    assert set(report.reach) == {"position", "velocity", "torque"}
    assert str(report).startswith("all limits hold; nearest to its limit: ")
    assert report.worst.excess < 0
    assert report.holds.shape == ()


def test_each_kind_of_limit_is_found_and_named():
    robot = arm()
    peak = move().extrema()
    cases = {
        "position": ({}, robot.replace(upper=np.where(np.arange(6) == 2, 0.5, robot.upper)), 0.2, "joint3"),
        "velocity": ({}, arm(velocity_limit=[9, 9, 9, 9, 0.5, 9]), peak.v.highest[4] - 0.5, "joint5"),
        "acceleration": ({"acceleration": [1.0, 9, 9, 9, 9, 9]}, robot, peak.a.highest[0] - 1, "joint1"),
        "jerk": ({"jerk": [99, 5.0, 99, 99, 99, 99]}, robot, peak.jerk.highest[1] - 5, "joint2"),
    }
    for kind, (more, limited, excess, joint) in cases.items():
        report = move().limits_hold(limited, **more)
        assert not report, kind
        worst = report.worst
        assert (worst.kind, worst.joint) == (kind, joint)
        assert_allclose(worst.excess, excess, rtol=1e-12)
        assert_allclose(worst.value - worst.limit, worst.excess, rtol=1e-12)
        text = str(report)
        assert text.startswith("limit exceeded: ")
        assert f"{kind} of joint '{joint}'" in text
        assert f"at {worst.time:.6g} s" in text
        assert f"{worst.excess:.3g} rad" in text
        assert text in repr(report)


def test_torque_peaks_are_refined():
    """No sample of a grid 1000 times as dense is beyond them, and at their times the torque is theirs."""
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 3, 6))
    robot = arm(effort_limit=20.0)
    parts = [quintic(q[k], q[k + 1], 0.8, start_velocity=v[k], goal_velocity=v[k + 1]) for k in range(2)]
    x = parts[0].followed_by(parts[1])
    at = x.limits_hold(robot).reach["torque"]
    tau = x.torques(robot, np.linspace(0, x.duration, 64001)).tau
    assert np.all(np.abs(at.value) >= np.abs(tau).max(axis=0) * (1 - 1e-13))
    assert_allclose(np.abs(at.value), np.abs(tau).max(axis=0), rtol=1e-7)
    for k in range(6):
        assert_allclose(x.torques(robot, at.time[k]).tau[k], at.value[k], rtol=1e-12)
    assert_allclose(at.excess, np.abs(at.value) - 20.0)


def test_torque_peaks_beside_jumps_are_found():
    """Dry friction jumps where a joint turns round, here just after the torque of gravity was largest."""
    robot = arm(friction=5.0)
    x = move().followed_by(move().reversed())
    at = x.limits_hold(robot).reach["torque"]
    tau = x.torques(robot, np.concatenate([np.linspace(0, 3, 3001), 1.5 + np.array([-1e-9, 1e-9])])).tau
    assert np.all(np.abs(at.value) >= np.abs(tau).max(axis=0) * (1 - 1e-8))


@pytest.mark.parametrize(("friction", "durations"), [((5.0, 8.0, 4.0, 1.0, 1.0, 1.0), (2.0, 4.0)), (0.0, (0.5, 4.0))])
def test_no_torque_peak_hides_behind_jumps_or_between_samples(friction, durations):
    """Jumps of dry friction look like high tops; joints that turn by many rad in a piece have many narrow ones."""
    robot, turns = arm(friction=friction), 1.0 if friction else 40.0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = spline(rng.uniform(-turns, turns, size=(9, 6)), durations=rng.uniform(*durations, size=8))
        peaks = torque_peaks(x, robot)
        largest = np.abs(x.torques(robot, np.linspace(0, x.duration, 40001)).tau).max(axis=0)
        assert np.all(np.abs(peaks.tau) >= (1 - 1e-6) * largest)


def test_empty_batches_keep_all_limits():
    x = quintic(np.zeros((0, 6)), np.ones((0, 6)), duration=1.0)
    report = x.limits_hold(arm())
    assert report.holds.shape == (0,)
    assert report
    assert report.worst.excess == -np.inf
    assert report.reach["torque"].value.shape == (0, 6)
    assert x.torques(arm()).tau.shape == (0, 257, 6)


def test_torques_are_left_out_on_demand():
    robot = arm(effort_limit=0.1)
    assert not move().limits_hold(robot)
    assert move().limits_hold(robot, torque=False)


def test_a_limit_that_is_just_reached_holds():
    x, robot = move(), arm()
    peak = float(x.extrema().v.highest[0])
    assert x.limits_hold(robot, velocity=peak)
    assert x.limits_hold(robot, velocity=peak * (1 - 1e-10))
    assert not x.limits_hold(robot, velocity=peak * (1 - 1e-8))
    assert not x.limits_hold(robot, velocity=peak * (1 - 1e-10), tolerance=0.0)
    assert x.limits_hold(robot, velocity=peak / 1.05, tolerance=0.06)


def test_batches_name_the_trajectory():
    goals = np.full((2, 3, 6), 0.2)
    goals[1, 2, 3] = 1.5
    x = quintic(np.zeros(6), goals, 1.0)
    report = x.limits_hold(arm())
    assert not report
    assert_array_equal(report.holds, [[True, True, True], [True, True, False]])
    assert report.worst.index == (1, 2)
    assert "trajectory [1, 2]: velocity of joint 'joint4'" in str(report)
    one = x[1, 2].limits_hold(arm())
    for kind, reach in report.reach.items():
        for many, single in zip(reach, one.reach[kind], strict=True):
            assert_allclose(many[1, 2] if many.ndim > 1 else many, single, rtol=1e-10, atol=1e-9)


def test_robots_without_limits():
    free = aj.robots.puma560().replace(lower=-np.inf, upper=np.inf)
    report = move().limits_hold(free)
    assert report
    assert report.worst.excess == -np.inf
    assert str(report) == "all limits hold: there are none"


@pytest.mark.slow
def test_limits_of_trees():
    """Joints of several degrees of freedom have limits of velocity and torque, and none of quaternions."""
    robot = random_tree(0, 7)
    q = aj.random_configuration(robot, 2, rng=0)
    x = quintic(q[0], q[1], 2.0, robot=robot)
    report = x.limits_hold(velocity=1e9)
    assert report.reach["position"].excess.shape == (robot.nq,)
    assert report.reach["torque"].excess.shape == (robot.nv,)
    peak = max(np.abs(x(np.linspace(0, 2, 2001)).v).max(axis=0))
    assert not x.limits_hold(velocity=0.99 * peak, torque=False).reach["velocity"].excess.max() < 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"velocity": 0.0}, "the limit velocity is 0; a positive number is needed"),
        ({"velocity": [1.0, 2.0]}, r"'velocity' has shape \(2,\)"),
        ({"acceleration": np.nan}, "the limit acceleration is nan"),
        ({"jerk": -1.0}, "the limit jerk is -1"),
        ({"jerk": "much"}, "'jerk' is a str"),
        ({"torque": -5.0}, "the limit torque is -5"),
        ({"torque": "strong"}, "'torque' is a str"),
        ({"tolerance": -1.0}, "tolerance must be"),
        ({"tolerance": np.inf}, "tolerance must be"),
    ],
)
def test_bad_limits_are_named(given, message):
    with pytest.raises(ArgumentError, match=message):
        move().limits_hold(arm(), **given)


def test_limits_need_a_robot():
    with pytest.raises(ArgumentError, match="limits_hold needs a robot"):
        move().limits_hold()


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_plots_have_a_row_for_each_rate_and_for_torque(tmp_path):
    x = move().followed_by(move().reversed())
    assert x.plot(tmp_path / "new" / "a.png") == tmp_path / "new" / "a.png"
    plain, loaded = trajectory_figure(x), trajectory_figure(x, arm())
    assert [len(figure.axes) for figure in (plain, loaded)] == [3, 4]
    assert loaded.axes[3].get_ylabel() == "torque [N m or N]"
    curves = loaded.axes[1].get_lines()[:6]
    assert_allclose(max(line.get_ydata().max() for line in curves), x.extrema().v.highest.max(), rtol=1e-3)
    assert [text.get_text() for text in loaded.legends[0].get_texts()] == list(NAMES)


def test_a_picture_is_written(tmp_path):
    path = cubic([0.0], [1.0], 1.0).plot(tmp_path / "cubic.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_pictures_that_cannot_be_drawn(tmp_path):
    with pytest.raises(ArgumentError, match=r"one trajectory, this is a batch \(2,\): trajectory\[i\]"):
        cubic(np.zeros((2, 1)), np.ones((2, 1)), 1.0).plot(tmp_path / "a.png")
    with pytest.raises(ArgumentError, match=r"a\.xyz"):
        cubic([0.0], [1.0], 1.0).plot(tmp_path / "a.xyz")


# --- jumps, and limits without a robot --------------------------------------------------------------------------------


def test_a_velocity_that_jumps_is_told_whatever_the_limits():
    there = quintic(np.zeros(6), np.full(6, 0.5), 1.0, goal_velocity=1.0, robot=arm())
    on = quintic(np.full(6, 0.5), np.full(6, 1.0), 1.0, robot=arm())
    report = there.followed_by(on).limits_hold()
    assert not report and report.worst.kind == "velocity jump" and report.worst.time == 1.0
    assert_allclose(report.worst.value, 1.0, rtol=1e-12)
    assert "velocity of joint 'joint1' jumps by 1 rad/s at 1 s" in str(report)
    assert there.followed_by(there.reversed()).limits_hold().reach["velocity jump"].value[0] == pytest.approx(2.0)
    smooth = there.followed_by(quintic(np.full(6, 0.5), np.full(6, 1.0), 1.0, start_velocity=1.0, robot=arm()))
    assert "velocity jump" not in smooth.limits_hold().reach


def test_accelerations_that_jump_are_told_if_jerk_has_a_limit():
    x = trapezoidal([0.0], [1.0], velocity=1.0, acceleration=2.0)
    assert x.limits_hold(velocity=1.0, acceleration=2.0)
    report = x.limits_hold(acceleration=2.0, jerk=100.0)
    assert not report and report.worst.kind == "acceleration jump" and report.worst.value == pytest.approx(2.0)
    assert s_curve([0.0], [1.0], velocity=1.0, acceleration=2.0, jerk=10.0).limits_hold(jerk=10.0)


def test_limits_without_a_robot():
    x = quintic([0.0, 0.0], [1.0, 2.0], 1.0)
    report = x.limits_hold(velocity=2.0)
    assert not report and report.worst.joint == "joint 1" and set(report.reach) == {"velocity"}
    assert x.limits_hold(velocity=[1.9, 3.8], acceleration=20.0)
    with pytest.raises(ArgumentError, match="needs a robot"):
        x.limits_hold()


def test_limits_of_torques_may_be_given():
    x = move(arm())
    largest = x.limits_hold(torque=1e6).reach["torque"].value
    assert x.limits_hold(torque=np.abs(largest) * 1.001) and not x.limits_hold(torque=np.abs(largest) * 0.999)


def test_exactly_at_a_limit_is_no_excess_in_words():
    x = trapezoidal([0.0], [1.0], velocity=1.0, acceleration=2.0)
    words = str(x.limits_hold(velocity=1.0, acceleration=2.0))
    assert "is at its limit" in words and "beyond" not in words
