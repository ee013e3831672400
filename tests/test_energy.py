"""Energies and momenta: what the motion of the dynamics does to them, by the compiler's derivatives along it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.trees import ALL, close, frictionless, on_free_base, sample, tree
from support.worked_examples import PUMA_LIKE, RPR, RRR, digits, puma_like_example, rpr_example, rrr_example

import adjoint as aj
from adjoint import kernel, robots, static
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.energy import (
    centroidal_momentum,
    centroidal_momentum_matrix,
    kinetic_energy,
    momentum,
    potential_energy,
)
from adjoint.dynamics.forward import forward_dynamics
from adjoint.dynamics.newton_euler import gravity_torque, inverse_dynamics
from adjoint.lie import inertia, se3
from adjoint.model import Robot

every_robot = pytest.mark.parametrize("robot", ALL, ids=lambda r: f"{r.name}-{r.nv}")


@kernel(robot=static, q="nq", v="nv", a="nv")
def energy_along(robot, q, v, a, t):
    """T + U a short time t later: exact to first order in t."""
    later = aj.integrate(robot, q, v, t)
    return kinetic_energy(robot, later, v + a * t) + potential_energy(robot, later)


@kernel(robot=static, q="nq", v="nv", a="nv")
def momentum_along(robot, q, v, a, t):
    return momentum(robot, aj.integrate(robot, q, v, t), v + a * t)


@kernel(robot=static, q="nq", dq="nv")
def potential_moved(robot, q, dq):
    return potential_energy(robot, aj.integrate(robot, q, dq))


def rate(along, robot, q, v, a):
    """d/dt at t = 0."""
    return along.bind(robot).jacobian("t").eager(q, v, a, 0.0)


@every_robot
def test_kinetic_energy_is_half_the_square_of_the_velocity(robot):
    q, v, _ = sample(robot)
    close(kinetic_energy.eager(robot, q, v), v @ mass_matrix.eager(robot, q) @ v / 2, 1e-13)


@pytest.mark.parametrize("seed", range(2))
def test_power_balance(seed):
    """d(T + U)/dt = v · (τ - friction)."""
    robot = tree(seed)
    q, v, tau = sample(robot, seed)
    a = forward_dynamics.eager(robot, q, v, tau)
    friction = robot.damping * v + robot.friction * np.sign(v)
    assert v @ friction > 0.1
    gained = rate(energy_along, robot, q, v, a)
    assert abs(gained - v @ (tau - friction)) < 1e-11 * np.sum(np.abs(v) * (np.abs(tau) + np.abs(a)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_gravity_is_the_gradient_of_the_potential(seed):
    robot = tree(seed)
    q, _, _ = sample(robot, seed)
    gradient = potential_moved.bind(robot).jacobian("dq").eager(q, np.zeros(robot.nv))
    close(gravity_torque.eager(robot, q), gradient)
    g = np.array([1.0, -2.0, 3.0])
    want = -robot.mass * g @ aj.center_of_mass.eager(robot, q)
    close(potential_energy.eager(robot, q, gravity=g), want, 1e-14)
    assert np.shape(potential_energy(robot, q[None], gravity=np.ones((3, 1, 3)))) == (3, 1)


def test_potential_of_a_robot_without_mass_is_zero():
    robot = robots.park3r().replace(inertias=np.zeros((3, 10)))
    assert potential_energy(robot, np.zeros(3)) == 0
    with pytest.raises(aj.errors.ArgumentError, match="no centre of mass"):
        centroidal_momentum(robot, np.zeros(3), np.zeros(3))


# --- momentum ---------------------------------------------------------------------------------------------------------


@every_robot
def test_momentum_is_a_sum_over_bodies(robot):
    q, v, _ = sample(robot)
    total = np.zeros(6)
    for body in robot.bodies:
        J, T = aj.jacobian.eager(robot, q, body.name), aj.forward_kinematics.eager(robot, q, body.name)
        total += np.linalg.inv(se3.Ad.eager(T)).T @ inertia.matrix.eager(body.inertia) @ J @ v
    close(momentum.eager(robot, q, v), total)
    com, A = aj.center_of_mass.eager(robot, q), centroidal_momentum_matrix.eager(robot, q)
    about_com = np.concatenate([total[:3] - np.cross(com, total[3:]), total[3:]])
    close(centroidal_momentum.eager(robot, q, v), about_com)
    close(A @ v, about_com)
    close(A[3:], robot.mass * aj.center_of_mass_jacobian.eager(robot, q))


@pytest.mark.parametrize("seed", range(2))
def test_momentum_changes_by_gravity_and_the_wrenches_from_outside(seed):
    """Of a floating robot: what its joints do cancels."""
    robot, rng = on_free_base(tree(seed)), np.random.default_rng(seed)
    q, v, tau = sample(robot, seed)
    tau[:6] = 0
    F = rng.normal(size=(2, 6))
    frames = ("tool", robot.body_names[0])
    a = forward_dynamics.eager(robot, q, v, tau, applied_wrenches=F, frames=frames)
    weight = robot.mass * robot.gravity
    outside = np.concatenate([np.cross(aj.center_of_mass.eager(robot, q), weight), weight])
    for wrench, name in zip(F, frames, strict=True):
        T = aj.forward_kinematics.eager(robot, q, name)
        outside += np.linalg.inv(se3.Ad.eager(T)).T @ wrench
    close(rate(momentum_along, robot, q, v, a), outside, 1e-10)


@pytest.mark.parametrize("seed", range(2))
def test_the_torque_of_a_free_joint_is_the_wrench_on_its_body(seed):
    """The first six torques of a floating robot, moved to the base, and its weight change its momentum."""
    robot = on_free_base(frictionless(tree(seed)))
    q, v, a = sample(robot, seed)
    push = inverse_dynamics.eager(robot, q, v, a)[:6]
    T = se3.from_xyz_quat_wxyz.eager(q[:7])
    weight = robot.mass * robot.gravity
    outside = np.concatenate([np.cross(aj.center_of_mass.eager(robot, q), weight), weight])
    outside += np.linalg.inv(se3.Ad.eager(T)).T @ push
    close(rate(momentum_along, robot, q, v, a), outside, 1e-10)


@kernel(robot=static, q="nq", v="nv", tau="nv")
def state_rate(robot, q, v, tau):
    """q̇ and v̇, in one vector."""
    dq = aj.integrate.bind(robot).jacobian("dt")(q, v, 0.0)
    return np.concatenate([dq, forward_dynamics(robot, q, v, tau)])


@pytest.mark.slow
def test_a_floating_robot_keeps_its_momentum_and_energy():
    """Two seconds of tumbling without gravity, torques, friction: conserved to the accuracy of the integration."""
    bodies = tree(0).inertias
    builder = Robot.builder("tumbler", base="free", gravity=(0, 0, 0)).link("trunk", bodies[0])
    for i, kind in enumerate(("revolute", "spherical", "prismatic")):
        home = se3.random(rng=i, scale=0.4)
        builder.link(f"limb{i}", bodies[i + 1]).joint(f"j{i}", kind, "trunk", f"limb{i}", home)
    robot = builder.build()
    q, v, _ = sample(robot)
    fn, rest = state_rate.bind(robot), np.zeros(robot.nv)
    motion = solve_ivp(
        lambda t, x: fn(x[: robot.nq], x[robot.nq :], rest), (0, 2), np.concatenate([q, v]), "DOP853",
        t_eval=[0, 0.7, 2], rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    q, v = motion.y[: robot.nq].T, motion.y[robot.nq :].T
    assert np.linalg.norm(aj.difference(robot, q[0], q[-1])) > 1
    p, E = momentum(robot, q, v), kinetic_energy(robot, q, v)
    close(p, np.broadcast_to(p[0], p.shape), 1e-8)
    close(E, np.full(3, E[0]), 1e-8)
    assert np.abs(centroidal_momentum(robot, q, v)[:, 3:] - p[0, 3:]).max() < 1e-8 * np.abs(p).max()


# --- numbers of the papers' examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "robot, state, kinetic, potential, twist",
    [
        (rrr_example(), RRR, 0.1449661296, -2.651853888,
         [0.2068641447, -0.2, 0.6687355424, -0.07173560909, 0.3071538967, -0.06967067093]),
        (rpr_example(), RPR, 0.1722029703, 22.81401535,
         [0.4257014552, 1.047760103, 0.2166684631, -0.1901945201, 0.2149507101, 0.2270978625]),
        (puma_like_example(), PUMA_LIKE, 0.08417864669, None,
         [0.3330873796, 0.04299815908, 0.05958725282, 0.006079615931, 0.1443809339, -0.01325180625]),
    ],
    ids=["RRR", "RPR", "PUMA-like"],
)  # fmt: skip
def test_examples(robot, state, kinetic, potential, twist):
    q, v, _ = state
    digits(kinetic_energy.eager(robot, q, v), kinetic)
    if potential is not None:
        digits(potential_energy.eager(robot, q), potential)
    digits(aj.frame_twist.eager(robot, q, v, robot.body_names[-1]), twist)
