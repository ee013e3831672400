"""What laws of interaction are tried with: walls, moving targets, and errors of a frame's pose by differentiation."""

from functools import lru_cache

import numpy as np

import adjoint as aj
from adjoint.control import PoseTarget
from adjoint.lie import se3, so3


def wall(robot, p, t, q, v):
    """A compliant half space n · x < offset without friction, as a wrench at the origin of the frame p.at."""
    T, velocity = aj.forward_kinematics(robot, q, p.at), aj.jacobian(robot, q, p.at, "world")[3:] @ v
    depth = p.offset - p.normal @ T[:3, 3]
    push = np.maximum(p.stiffness * depth - p.damping * (p.normal @ velocity), 0.0)
    return np.concatenate([np.zeros(3), T[:3, :3].T @ (np.where(depth > 0, push, 0.0) * p.normal)])


def wall_at(frame: str, normal, offset: float, stiffness, damping: float = 0.0):
    """The wall as a force of `simulate`."""
    normal = np.asarray(normal, float)
    made = aj.simulation.force(
        wall, frame=frame, at=frame, normal=normal, offset=offset, stiffness=1.0, damping=damping
    )
    return made.replace(stiffness=stiffness)


def swinging(t):
    """A pose that moves and turns in time, with its body twist and the rate of that, by differentiation."""
    twist = aj.kernel(lambda t: se3.vee(se3.inverse(swinging_pose(t)) @ swinging_pose.jvp(t, 1.0)[1]))
    return PoseTarget(swinging_pose(t), twist(t), twist.jvp(t, 1.0)[1])


@aj.kernel
def swinging_pose(t):
    R = so3.exp(np.stack([0.9 * np.sin(2 * t), 0.6 * t + 0.0, 1.1 * np.cos(3 * t)]))
    return se3.from_rotation_translation(R, np.stack([0.4 + 0.1 * np.cos(2 * t), 0.2 * np.sin(t), 0.3 + 0.1 * t]))


@lru_cache
def moving_error(robot, frame: str):
    """The function (t, q, v, a) -> (e, ė, ë) of a frame's error towards `swinging_pose`, by differentiation."""
    error = _error_kernel(robot, frame)

    @aj.kernel(q=robot.nq, v=robot.nv)
    def rate(t, q, v):
        T, T_rate = swinging_pose.jvp(t, 1.0)
        return error.jvp(T, q, T_rate, v)[1]

    @aj.kernel(q=robot.nq, v=robot.nv, a=robot.nv)
    def derivatives(t, q, v, a):
        e_dot, e_ddot = rate.jvp(t, q, v, 1.0, v, a)
        return np.stack([error(swinging_pose(t), q), e_dot, e_ddot])

    return lambda *args: np.moveaxis(derivatives(*args), -2, 0)


@lru_cache
def resting_error(robot, frame: str):
    """The function (T_d, q, v, a) -> (e, ė, ë) of a frame's error towards a pose at rest, by differentiation."""
    error = _error_kernel(robot, frame)

    @aj.kernel(T=(4, 4), q=robot.nq, v=robot.nv)
    def rate(T, q, v):
        return error.jvp(T, q, np.zeros((4, 4)), v)[1]

    @aj.kernel(T=(4, 4), q=robot.nq, v=robot.nv, a=robot.nv)
    def derivatives(T, q, v, a):
        e_dot, e_ddot = rate.jvp(T, q, v, np.zeros((4, 4)), v, a)
        return np.stack([error(T, q), e_dot, e_ddot])

    return lambda *args: np.moveaxis(derivatives(*args), -2, 0)


def _error_kernel(robot, frame: str):
    @aj.kernel(T_d=(4, 4), q=robot.nq)
    def error(T_d, q):
        T = aj.forward_kinematics(robot, q, frame)
        return np.concatenate([so3.log(T_d[:3, :3] @ T[:3, :3].T), T_d[:3, 3] - T[:3, 3]])

    return error
