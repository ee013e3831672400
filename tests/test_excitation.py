"""Excitation: inside the limits at every time, at rest at both ends, and better than chance."""

import functools

import numpy as np
import pytest
from support.robots import urdf

import adjoint as aj
from adjoint.errors import ArgumentError, SolveError
from adjoint.identification import Samples, base_parameters, excitation, identify


@functools.cache
def ur5():
    return aj.load(urdf("ur5_robot"))


@functools.cache
def planned(rounds: int):
    return excitation(ur5(), 8.0, rounds=rounds, acceleration_limit=5.0)


def information(motion) -> float:
    base = base_parameters(ur5(), ("armature", "damping", "friction", "offset"))
    _, q, v, a = motion.samples(20.0)
    Y = (base.regressor(q, v, a) / base.sizes).reshape(-1, base.rank)
    return np.linalg.slogdet(Y.T @ Y)[1] / base.rank


@pytest.mark.slow
def test_motion_is_inside_its_limits_and_at_rest_at_the_ends():
    robot, motion = ur5(), planned(4)
    _, q, v, a = motion.at(np.linspace(0, 8, 5003))
    limits = motion.limits
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (limits.lower >= robot.lower).all() and (limits.upper <= robot.upper).all()
    assert (np.abs(v) <= robot.velocity_limit).all() and (np.abs(a) <= 5.0).all()
    assert np.abs(a).max() > 0.9 * 5.0  # and makes use of them
    for t in (0.0, 8.0):
        _, _, v, a = motion.at(t)
        assert np.abs(v).max() < 1e-12 and np.abs(a).max() < 1e-10
    assert set(motion.usage()) == {"position", "velocity", "acceleration"}
    assert "condition" in repr(motion)


def test_velocity_and_acceleration_are_derivatives():
    motion, h = planned(4), 1e-5
    t = np.linspace(0, 8, 40)
    after, now, before = motion.at(t + h), motion.at(t), motion.at(t - h)
    np.testing.assert_allclose((after.q - before.q) / (2 * h), now.v, atol=1e-8)
    np.testing.assert_allclose((after.v - before.v) / (2 * h), now.a, atol=1e-7)


@pytest.mark.slow
def test_optimisation_tells_more():
    assert information(planned(4)) > information(planned(0)) + 0.05  # per parameter: errors 2.5 % smaller


@pytest.mark.slow
def test_planned_motion_identifies_the_arm():
    robot, rng = ur5().replace(damping=np.full(6, 0.5), friction=np.full(6, 0.7)), np.random.default_rng(0)
    time, q, v, a = planned(4).samples(100.0)
    tau = aj.inverse_dynamics(robot, q, v, a) + 0.2 * rng.normal(size=v.shape)
    found = identify(ur5(), Samples(q, v, a, tau, time))
    assert found.condition < 200 and abs(found.value("friction_elbow_joint")[0] - 0.7) < 0.1


def test_torques_stay_inside_given_limits():
    robot = aj.robots.planar(2)
    motion = excitation(robot, 5.0, torque_limit=[40.0, 12.0], rounds=2, joints=("damping",))
    _, q, v, a = motion.at(np.linspace(0, 5, 2000))
    assert (np.abs(aj.inverse_dynamics(robot, q, v, a)) <= [40.0, 12.0]).all()
    assert 0.5 < motion.usage()["torque"] <= 1.0


@pytest.mark.slow
def test_other_joints_stay():
    """A spherical joint that stays, of whose body the others show all that can be told."""
    robot = aj.robots.random_tree(2, 5, ["revolute", "prismatic", "revolute", "revolute", "spherical"])
    assert "spherical" in robot.joint_types
    motion = excitation(robot, 5.0, rounds=0, joints=()).samples(10.0, periods=2)
    assert motion.q.shape == (101, robot.nq)
    for body in robot.bodies:
        if body.joint.type == "spherical":
            np.testing.assert_array_equal(motion.q[:, body.joint.q], np.broadcast_to([1, 0, 0, 0], (101, 4)))
        else:
            assert np.ptp(motion.q[:, body.joint.q]) > 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"torque_limit": 0.01}, "less than holding 'planar2' still needs"),
        ({"torque_limit": -1.0}, "torque_limit must be positive"),
        ({"acceleration_limit": [1.0, 2.0, 3.0]}, "acceleration_limit must be positive, one number or 2"),
        ({"harmonics": 1}, "harmonics must be 2 to"),
        ({"duration": 0.0}, "duration .* positive"),
    ],
)
def test_bad_requests_are_explained(options, message):
    with pytest.raises(ArgumentError, match=message):
        excitation(aj.robots.planar(2), rounds=0, joints=(), **options)


def test_nothing_to_move():
    with pytest.raises(ArgumentError, match="no joint of one degree of freedom"):
        excitation(aj.robots.random_tree(2, 1, ["free"]))
    with pytest.raises(ArgumentError, match=r"rate .* must be a positive"):
        planned(4).samples(0.0)


def test_joints_without_room_are_named():
    robot = aj.robots.planar(3)
    stuck = robot.replace(lower=[-1, 0.5, -1], upper=[1, 0.5, 1])
    with pytest.raises(ArgumentError, match="joint2 of robot 'planar3' has no room"):
        excitation(stuck, rounds=0)


@pytest.mark.slow
def test_what_stays_dark_is_named():
    floating = aj.robots.random_tree(1, 3, ["free", "revolute", "revolute"])
    with pytest.raises(SolveError, match=r"of \d+ base parameters of .* do not show, or not apart.*and \d+ more"):
        excitation(floating, rounds=0)
