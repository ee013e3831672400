"""The product of exponentials as in Park (1994): space form, body form, direct and recursive Jacobians.

F. C. Park (1994), "Computational aspects of the product-of-exponentials formula for robot kinematics", IEEE Trans.
Autom. Control 39(3). With N_i the home placement of body i, A_i = Ad(N_i) S_i are its joint's screws seen from the base
at home, and B_i = Ad(M⁻¹) A_i are those seen from the frame, whose home placement is M. For a joint with several
degrees of freedom, exp(A q) stands for N_i J_i(q) N_i⁻¹. All results equal those of `forward_kinematics` and
`jacobian`.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel, static
from ..lie import se3
from ..model.joints import JOINTS
from ..model.robot import Robot
from ..model.screws import home_screws
from ..sweep import columns, coordinates, joint_placement

__all__ = [
    "body_form",
    "body_jacobian_direct",
    "body_jacobian_recursive",
    "space_form",
    "space_jacobian_direct",
]


def __dir__() -> list[str]:
    return __all__


def _exponentials(robot: Robot, q, path: list[int], screws: list[np.ndarray]) -> list[np.ndarray]:
    """The motions exp(A_i q_i) (4, 4) of the joints on a path."""
    varying = not robot.varying.isdisjoint(("screws", "placements", "frames"))
    placements = [JOINTS[robot.joint_types[i]].placement for i in path]
    return [J(coordinates(robot, q, i), S, varying) for J, i, S in zip(placements, path, screws, strict=True)]


def _seen(screws: list[np.ndarray], M: np.ndarray) -> list[np.ndarray]:
    """Ad(M⁻¹) A of screws (k, 6), one per row."""
    return [A @ se3.Ad(se3.inverse(M)).T for A in screws]


@kernel(robot=static, q="nq", frame=static)
def space_form(robot: Robot, q, frame) -> np.ndarray:
    """The placement T_0f = exp(A_1 q_1) ... exp(A_n q_n) M (4, 4) of a frame at q (nq,); Park (1994), eq. (1).

    It equals `forward_kinematics(robot, q, frame)`.
    """
    path, A, M = home_screws(robot, frame)
    T = np.eye(4)
    for E in _exponentials(robot, q, path, A):
        T = se3.compose(T, E)
    return se3.compose(T, M)


@kernel(robot=static, q="nq", frame=static)
def body_form(robot: Robot, q, frame) -> np.ndarray:
    """The placement T_0f = M exp(B_1 q_1) ... exp(B_n q_n) (4, 4) of a frame at q (nq,); Park (1994), eq. (2).

    It equals `forward_kinematics(robot, q, frame)`.
    """
    path, A, M = home_screws(robot, frame)
    T = M
    for E in _exponentials(robot, q, path, _seen(A, M)):
        T = se3.compose(T, E)
    return T


@kernel(robot=static, q="nq", frame=static)
def space_jacobian_direct(robot: Robot, q, frame) -> np.ndarray:
    """The "space" Jacobian J (6, nv) of a frame at q (nq,), by the direct method of Park (1994).

    Its columns are Ad(exp(A_1 q_1) ... exp(A_i q_i)) A_i. It equals `jacobian(robot, q, frame, "space")`.
    """
    path, A, _ = home_screws(robot, frame)
    X, own = np.eye(4), {}
    for i, S, E in zip(path, A, _exponentials(robot, q, path, A), strict=True):
        # One degree of freedom: exp(A_i q_i) fixes A_i, and the product may stop before it.
        X, before = se3.compose(X, E), X
        own[i] = _moved(before if len(S) == 1 else X, S)
    return columns(robot, own, np.zeros(6))


@kernel(robot=static, q="nq", frame=static)
def body_jacobian_direct(robot: Robot, q, frame) -> np.ndarray:
    """The "body" Jacobian J (6, nv) of a frame at q (nq,), by the direct method of Park (1994).

    Its columns are Ad(exp(-B_n q_n) ... exp(-B_{i+1} q_{i+1})) B_i. It equals `jacobian(robot, q, frame, "body")`.
    """
    path, A, M = home_screws(robot, frame)
    B = _seen(A, M)
    X, own = np.eye(4), {}
    for i, S, E in reversed(list(zip(path, B, _exponentials(robot, q, path, B), strict=True))):
        own[i] = _moved(X, S)
        X = se3.compose(X, se3.inverse(E))
    return columns(robot, own, np.zeros(6))


@kernel(robot=static, q="nq", frame=static)
def body_jacobian_recursive(robot: Robot, q, frame) -> np.ndarray:
    """The "body" Jacobian J (6, nv) of a frame at q (nq,), by the recursive method of Park (1994).

    It belongs to the local form f = M_1 exp(S_1 q_1) ··· M_n exp(S_n q_n) and equals `jacobian(robot, q, frame,
    "body")`. The columns are Ad(X_i) S_i, where X_i takes the frame of body i to that of `frame`, from the tip inward:

        X_n = T⁻¹,   X_{i-1} = X_i f_{i-1,i}⁻¹,   f_{i-1,i} = M_i exp(S_i q_i),

    with the placement T of the frame in its body. In frames with z on the joints' axes, S_i = (e_3, 0), the walk takes
    the paper's 42n - 78 multiplications and 30n - 57 additions, and 3 and 4 more for f_{n-1,n}⁻¹, beside the f_{i-1,i}
    themselves. (The recursion that the paper prints, V_i = Ad(f_{i-1,i}⁻¹) V_{i-1} + S_i q̇_i, gives J v only: this is
    `frame_twist`.)
    """
    spot = robot.frame(frame)
    X, own = se3.inverse(spot.placement), {}
    for i in reversed(robot.path(spot.body)):
        own[i] = _moved(X, robot.screw(i))
        f = joint_placement(robot, q, i)
        R = X[:3, :3] @ f[:3, :3].T
        X = se3.from_rotation_translation(R, X[:3, 3] - R @ f[:3, 3])  # X f⁻¹, in 36 multiplications
    return columns(robot, own, np.zeros(6))


def _moved(X, screws) -> np.ndarray:
    """Ad(X) S (6, k) of screws (k, 6)."""
    return np.stack([se3.Ad_action(X, S) for S in screws], axis=-1)
