"""The twists of a camera that bring it to its goal: image-based, partitioned and position-based servoing.

All of them are twists (ω, v) of the camera, seen from itself. With s, s* (k, 2) the image points and their goals on the
plane z = 1, e = s - s*, and L (2k, 6) the interaction matrices one below the other,

    image:          (ω, v) = -λ L⁺ e                                                                                (1)
    partitioned:    (ω_x, ω_y, v_x, v_y) = -L_xy⁺ (λ e' + c),   ω_z = λ α,   v_z = λ Z ln(σ*/σ)                      (2)
    position:       (ω, v) = λ log E   or   λ (log R_E, t_E),   E = T_camera_goal                                   (3)

where α is the angle by which the points are turned about their middle m, and σ their spread about it; e' compares them
with the goal, turned by α and scaled by σ/σ* about its own middle, and c = (m_y ω_z + m_x v_z/Z, -m_x ω_z + m_y v_z/Z)
is how turning and advancing shift the middle. Pure image servoing turns about the optical axis along spirals: for half
a turn the camera retreats without end (Chaumette 1998). The partitioned law leaves the optical axis to α and σ, so it
does not. Corke and Hutchinson's law has e in the place of e', which becomes unstable for turns beyond a right angle.
References: Chaumette & Hutchinson (2006), "Visual
servo control", IEEE Robotics & Automation Magazine 13(4); Corke & Hutchinson (2001), "A new partitioned approach to
image-based visual servo control", IEEE Trans. Robotics and Automation 17(4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel, static
from ...definite import positive_solve
from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import floats, one_of
from .interaction import interaction_matrix

__all__ = ["METHODS", "PATHS", "camera_twist", "image_based_twist", "pose_based_twist"]

METHODS = ("image", "partitioned")
PATHS = ("straight", "screw")


class Points(NamedTuple):
    """The structure of `_image_based_twist`: how many points, and the method."""

    count: int
    method: str


def camera_twist(s, goal, depths, method: str, gain, damping):
    """The twist (6,) of equations (1) or (2) for image points s, goal (k, 2) at `depths` (k,); it can be traced."""
    L = np.concatenate([interaction_matrix(s[i], depths[i]) for i in range(len(goal))])
    e = (s - goal).reshape(-1)
    if method == "image":
        return -gain * _pseudo_solve(L, e, damping)
    middle, wanted = np.mean(s, axis=0), np.mean(goal, axis=0)
    a, b = s - middle, goal - wanted
    turned = np.arctan2(np.sum(b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]), np.sum(a * b))
    ratio = 0.5 * np.log(np.sum(b * b) / np.sum(a * a))
    w_z, v_z = gain * turned, gain * np.mean(depths) * ratio
    near = v_z / np.mean(depths)
    drift = np.stack([middle[1] * w_z + middle[0] * near, middle[1] * near - middle[0] * w_z])
    c, d = np.cos(turned) * np.exp(-ratio), np.sin(turned) * np.exp(-ratio)
    there = wanted + np.stack([c * b[:, 0] - d * b[:, 1], d * b[:, 0] + c * b[:, 1]], axis=-1)
    rest = (gain * (s - there) + drift).reshape(-1)
    w_x, w_y, v_x, v_y = -_pseudo_solve(L[:, [0, 1, 3, 4]], rest, damping)
    return np.stack([w_x, w_y, w_z, v_x, v_y, v_z])


def _pseudo_solve(L, e, damping):
    """(LᵀL + μ² 1)⁻¹ Lᵀ e."""
    return positive_solve(L.T @ L + damping**2 * np.eye(L.shape[1]), L.T @ e)


@kernel(points=static, s=("count", 2), goal=("count", 2), depths="count")
def _image_based_twist(points: Points, s, goal, depths, gain, damping):
    return camera_twist(s, goal, depths, points.method, gain, damping)


def image_based_twist(s, goal, depths, *, gain=1.0, method: str = "image", damping=0.0) -> np.ndarray:
    """The twist (..., 6), (ω, v), of a camera that moves image points `s` (..., k, 2) towards `goal` (..., k, 2).

        >>> goal = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
        >>> image_based_twist(1.1 * goal, goal, np.ones(4)).round(3) + 0.0                  # back off
        array([ 0.   ,  0.   ,  0.   ,  0.   ,  0.   , -0.091])

    - Image points are (x, y) on the plane z = 1: `undistort_points`, minus the principal point, over the focal length.
    - `depths` (..., k) [m] are those of the points along the optical axis: the present ones, those at the goal, or a
      guess. `gain` λ [1/s] is the rate at which errors decay: ė = -λ e, as far as k points can move so.
    - `method` is "image", -λ L⁺ e, or "partitioned", which leaves the optical axis to the turn and the spread of the
      points. `damping` μ keeps twists small near singularities, such as three points with the camera on their cylinder.

    Three points are the least; four determine the pose. Formulas and references are those of the module.
    """
    caller = "image_based_twist"
    one_of(method, METHODS, f"{caller}: method")
    s, goal, depths = floats(s), floats(goal), floats(depths)
    if s.shape[-1:] != (2,) or s.ndim < 2 or goal.shape[-2:] != s.shape[-2:] or depths.shape[-1:] != s.shape[-2:-1]:
        raise ArgumentError(
            f"{caller}: 's' has shape {s.shape}, 'goal' {goal.shape} and 'depths' {depths.shape}; (..., k, 2), "
            "(..., k, 2) and (..., k) are needed"
        )
    if s.shape[-2] < 3:
        raise ArgumentError(f"{caller}: {s.shape[-2]} points do not determine six velocities; three are the least")
    return _image_based_twist(Points(s.shape[-2], method), s, goal, depths, floats(gain), floats(damping))


@kernel(T_camera_target=(4, 4), T_camera_target_goal=(4, 4), path=static)
def pose_based_twist(T_camera_target, T_camera_target_goal, gain=1.0, path: str = "straight") -> np.ndarray:
    """The twist (6,), (ω, v), of a camera that brings a target from its pose to its pose at the goal, both (4, 4).

        >>> goal = se3.exp([0, 0, 0, 0, 0, 0.5])
        >>> pose_based_twist(se3.exp([0, 0, 0, 0, 0, 0.8]), goal, 2.0).round(12) + 0.0
        array([0. , 0. , 0. , 0. , 0. , 0.6])

    E = T_camera_target T_camera_target_goal⁻¹ is the goal of the camera, seen from the camera. With `path` "straight",
    (ω, v) = λ (log R_E, t_E): the lens centre goes straight to its goal. With "screw", (ω, v) = λ log E: the camera
    moves along one screw. Either way the pose arrives exponentially with the `gain` λ [1/s].
    """
    E = se3.compose(T_camera_target, se3.inverse(T_camera_target_goal))
    if path == "screw":
        return gain * se3.log(E)
    return gain * np.concatenate([so3.log(E[:3, :3]), E[:3, 3]])
