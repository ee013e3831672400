"""Typical uses, right and wrong, as a type checker sees them. `test_typing.py` runs pyright on this file.

A line that ends in `# wrong: rule` must be an error of that rule; every other line must be none.
"""
# ruff: noqa: B018

from typing import NamedTuple, assert_type

import numpy as np

import adjoint as aj
from adjoint.compile import Kernel
from adjoint.lie import se3

robot = aj.robots.puma560()
q = np.zeros(robot.nq)
v = np.zeros((100, robot.nv))

# Functions of the library keep their signatures, and their results are known.
assert_type(aj.inverse_dynamics(robot, q, v, v), np.ndarray)
assert_type(aj.mass_matrix(robot, [0.0] * 6), np.ndarray)
assert_type(aj.forward_kinematics(robot, q, "tool"), np.ndarray)
assert_type(aj.jacobian(robot, q, "tool", "world"), np.ndarray)
assert_type(aj.mass_matrix_factors(robot, q), aj.dynamics.MassFactors)
assert_type(aj.inverse_dynamics_derivatives(robot, q, v, v), aj.dynamics.TorqueDerivatives)
assert_type(se3.exp(np.zeros(6)), np.ndarray)
aj.inverse_dynamics(robot, q, v, v, gravity=[0, 0, -1.62])
aj.inverse_dynamics(robot, q, v, v, out=np.empty((100, 6)))
aj.mass_matrix_factors(robot, q).W.shape

aj.inverse_dynamics("robot", q, v, v)  # wrong: reportArgumentType
aj.inverse_dynamics("robot")  # wrong: reportCallIssue
aj.inverse_dynamics(robot, q, v)  # wrong: reportCallIssue
aj.inverse_dynamics(robot, q, v, v, gravty=None)  # wrong: reportCallIssue
aj.forward_kinematics(robot, q, 3)  # wrong: reportArgumentType
aj.mass_matrix_factors(robot, q).L  # wrong: reportAttributeAccessIssue
aj.rnea(robot, q, v, v)  # wrong: reportAttributeAccessIssue

# What a kernel can do is typed.
assert_type(aj.mass_matrix.eager(robot, q), np.ndarray)
bound = aj.inverse_dynamics.bind(robot)
assert_type(bound, Kernel[..., np.ndarray])
assert_type(bound(q, v, v), np.ndarray)
assert_type(bound.jacobian("q")(q, v, v), np.ndarray)
assert_type(bound.packed(q, v, v), np.ndarray)
assert_type(bound.source("c"), str)
assert_type(bound.threads, int)
aj.mass_matrix.eager("robot", q)  # wrong: reportArgumentType
bound.jacobin("q")  # wrong: reportAttributeAccessIssue
bound.jacobian(3)  # wrong: reportArgumentType


# So are kernels that users write.
class Polar(NamedTuple):
    radius: np.ndarray
    angle: np.ndarray


@aj.kernel(p=2)
def polar(p, length: float = 1.0) -> Polar:
    return Polar(length * np.hypot(p[0], p[1]), np.arctan2(p[1], p[0]))


@aj.kernel
def double(x: float) -> float:
    return 2 * x


assert_type(polar([1.0, 2.0]), Polar)
assert_type(polar.eager([1.0, 2.0], length=2.0), Polar)
assert_type(double(1.0), float)
polar([1.0, 2.0], size=3.0)  # wrong: reportCallIssue
polar([1.0, 2.0]).x  # wrong: reportAttributeAccessIssue
double("x")  # wrong: reportArgumentType

# Models and configurations.
assert_type(aj.load("robot.urdf"), aj.Robot)
assert_type(aj.neutral(robot), np.ndarray)
assert_type(aj.random_configuration(robot, 100, rng=0), np.ndarray)
assert_type(aj.integrate(robot, q, v), np.ndarray)
aj.random_configuration(robot, 100, 0)  # wrong: reportCallIssue
aj.check("robot")  # wrong: reportArgumentType
robot.masses  # wrong: reportAttributeAccessIssue

# Gains and dimensions are numbers or arrays.
T, six = np.eye(4), np.ones(6)
held = aj.control.pd(q, kp=six, kd=six)
aj.control.pd(q, kp=100.0, kd=20.0, gravity="yes")  # wrong: reportArgumentType
aj.control.operational(robot, T, "tool", kp=six, kd=six, posture=q, null_kp=six, null_kd=six)
aj.control.parallel(robot, T, "tool", force=six, kp=six, kd=six, force_kp=six, force_ki=1.0, period=0.001)
touch = aj.simulation.contact("tool", aj.simulation.plane([0, 0, 1], normal=np.array([0, 0, 1.0])), stiffness=1e4)
aj.simulation.friction(viscous=six, coulomb=six)
assert_type(aj.simulate(robot, held, q=q, duration=1.0, dt=0.001, forces=touch), aj.simulation.Run)
