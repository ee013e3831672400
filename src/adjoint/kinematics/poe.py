"""The product of exponentials as Park (1994) prints it: space form, body form, direct Jacobians.

With N_i the home placement of body i, A_i = Ad(N_i) S_i are its joint's screws seen from the base at home,
B_i = Ad(M⁻¹) A_i those seen from the frame, whose home placement is M. For a joint with several degrees of freedom,
exp(A q) stands for N_i J_i(q) N_i⁻¹. All are equal to the recursions of `forward` and `jacobian`.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..lie import se3
from ..robot.joints import JOINTS
from ..robot.model import Robot
from ..robot.screws import home_screws
from ..sweep import columns, coordinates

__all__ = ["body_form", "body_jacobian_direct", "space_form", "space_jacobian_direct"]


def _exponentials(robot: Robot, q, path: list[int], screws: list[np.ndarray]) -> list[np.ndarray]:
    varying = not robot.varying.isdisjoint(("screws", "placements", "frames"))
    placements = [JOINTS[robot.joint_types[i]].placement for i in path]
    return [J(coordinates(robot, q, i), S, varying) for J, i, S in zip(placements, path, screws, strict=True)]


def _seen(screws: list[np.ndarray], M: np.ndarray) -> list[np.ndarray]:
    """Ad(M⁻¹) A of screws (k, 6), one per row."""
    return [A @ se3.Ad(se3.inverse(M)).T for A in screws]


@kernel(robot=static, q="nq", frame=static)
def space_form(robot, q, frame):
    """T_0f = exp(A_1 q_1) ... exp(A_n q_n) M (4, 4), Park (1994), (1)."""
    path, A, M = home_screws(robot, frame)
    T = np.eye(4)
    for E in _exponentials(robot, q, path, A):
        T = se3.compose(T, E)
    return se3.compose(T, M)


@kernel(robot=static, q="nq", frame=static)
def body_form(robot, q, frame):
    """T_0f = M exp(B_1 q_1) ... exp(B_n q_n) (4, 4), Park (1994), (2)."""
    path, A, M = home_screws(robot, frame)
    T = M
    for E in _exponentials(robot, q, path, _seen(A, M)):
        T = se3.compose(T, E)
    return T


@kernel(robot=static, q="nq", frame=static)
def space_jacobian_direct(robot, q, frame):
    """J (6, nv), "space": columns Ad(exp(A_1 q_1) ... exp(A_i q_i)) A_i; Park (1994), direct method."""
    path, A, _ = home_screws(robot, frame)
    X, own = np.eye(4), {}
    for i, S, E in zip(path, A, _exponentials(robot, q, path, A), strict=True):
        # One degree of freedom: exp(A_i q_i) fixes A_i, and the product may stop before it.
        X, before = se3.compose(X, E), X
        own[i] = _moved(before if len(S) == 1 else X, S)
    return columns(robot, own, np.zeros(6))


@kernel(robot=static, q="nq", frame=static)
def body_jacobian_direct(robot, q, frame):
    """J (6, nv), "body": columns Ad(exp(-B_n q_n) ... exp(-B_{i+1} q_{i+1})) B_i; Park (1994), direct method."""
    path, A, M = home_screws(robot, frame)
    B = _seen(A, M)
    X, own = np.eye(4), {}
    for i, S, E in reversed(list(zip(path, B, _exponentials(robot, q, path, B), strict=True))):
        own[i] = _moved(X, S)
        X = se3.compose(X, se3.inverse(E))
    return columns(robot, own, np.zeros(6))


def _moved(X, screws) -> np.ndarray:
    """Ad(X) S (6, k) of screws (k, 6)."""
    return np.stack([se3.Ad_action(X, S) for S in screws], axis=-1)
