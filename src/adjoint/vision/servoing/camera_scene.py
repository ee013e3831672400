"""What laws and sensors of visual servoing share: where the camera is, what its lens does, and checks of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...kinematics.forward import forward_kinematics
from ...lie import se3
from ...model.input_checks import floats, nearest_motions, one_of, positive
from ...model.needs import need_robot
from ...model.robot import Robot
from ...sensing.scene.lenses import distorted, undistorted
from ..cameras.camera import Camera
from ..cameras.projecting import undistort_points

__all__ = ["camera_numbers", "damping_of", "goal_points", "image_points", "in_pixels", "placed", "pose_of", "shaped"]

EYES = ("in hand", "beside arm")


# --- what the camera sees ---------------------------------------------------------------------------------------------


def placed(robot: Robot, p, q):
    """T_carrier_camera, and its inverse, where the carrier is the frame in the hand, or T_base_camera and its inverse.

    Returns the pose of the points' frame in the camera, and T_frame_camera.
    """
    T = forward_kinematics(robot, q, p.frame)
    if p.eye == "in hand":
        return se3.inverse(se3.compose(T, p.T_gripper_camera)), p.T_gripper_camera
    T_camera_frame = se3.compose(se3.inverse(p.T_base_camera), T)
    return T_camera_frame, se3.inverse(T_camera_frame)


def in_pixels(s, p):
    """Pixels (k, 2) of image points (k, 2)."""
    if p.lens:
        s = np.stack([distorted(x, p.distortion) for x in s])
    K = p.matrix
    return np.stack([np.stack([K[0, 0] * x + K[0, 1] * y + K[0, 2], K[1, 1] * y + K[1, 2]]) for x, y in s])


def image_points(pixels, p):
    """Image points (k, 2) on the plane z = 1 of pixels (k, 2)."""
    K, found = p.matrix, []
    for u, v in pixels:
        y = (v - K[1, 2]) / K[1, 1]
        x = np.stack([(u - K[0, 2] - K[0, 1] * y) / K[0, 0], y])
        found.append(undistorted(x, p.distortion, p.largest_radius) if p.lens else x)
    return np.stack(found)


# --- checks -----------------------------------------------------------------------------------------------------------


def camera_numbers(robot, frame, camera, eye, T_gripper_camera, caller: str, lens: bool = True) -> dict[str, Any]:
    """The numbers of the camera and of its place."""
    need_robot(robot, caller)
    robot.frame(frame)
    one_of(eye, EYES, f"{caller}: eye")
    if not isinstance(camera, Camera) and (lens or eye == "beside arm"):
        raise ArgumentError(f"{caller}: 'camera' must be a Camera, got {type(camera).__name__}")
    if eye == "beside arm" and T_gripper_camera is not None:
        raise ArgumentError(f"{caller}: a camera beside the arm is at camera.T_world_camera, not at 'T_gripper_camera'")
    found: dict[str, Any] = {}
    if eye == "in hand":
        T = np.eye(4) if T_gripper_camera is None else pose_of(T_gripper_camera, "T_gripper_camera", caller)
        found["T_gripper_camera"] = T
    else:
        found["T_base_camera"] = np.array(camera.T_world_camera)
    if lens:
        radius = min(camera.largest_radius, 1e6)  # numbers of a law are finite
        found |= {"matrix": np.array(camera.matrix), "distortion": np.array(camera.distortion), "lens": camera.distorts}
        found["largest_radius"] = radius
    return found


def goal_points(pixels, camera, caller: str) -> np.ndarray:
    """The goal (k, 2) on the plane z = 1."""
    found = shaped(pixels, (None, 2), "goal_pixels", caller, "pixels (u, v) are needed")
    if len(found) < 3:
        raise ArgumentError(f"{caller}: {len(found)} points do not determine six velocities; three are the least")
    if not isinstance(camera, Camera):
        raise ArgumentError(f"{caller}: 'camera' must be a Camera, got {type(camera).__name__}")
    straight = undistort_points(camera, found)
    if not np.isfinite(straight).all():
        raise ArgumentError(f"{caller}: 'goal_pixels' has pixels outside of what the lens can show")
    K = camera.matrix
    y = (straight[:, 1] - K[1, 2]) / K[1, 1]
    return np.stack([(straight[:, 0] - K[0, 2] - K[0, 1] * y) / K[0, 0], y], axis=-1)


def shaped(value, shape: tuple[int | None, ...], name: str, caller: str, why: str) -> np.ndarray:
    """The value as finite numbers of a shape, in which None stands for any length; else an `ArgumentError`."""
    found = floats(value)
    fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    if not fits or not np.isfinite(found).all():
        wanted = str(shape).replace("None", "k")
        raise ArgumentError(f"{caller}: '{name}' has shape {found.shape}; finite numbers {wanted}: {why}")
    return found


def pose_of(value, name: str, caller: str) -> np.ndarray:
    """The value as a rigid motion (4, 4), or an `ArgumentError`."""
    found = floats(value)
    fixed, bad = nearest_motions(found[None]) if found.shape == (4, 4) and np.isfinite(found).all() else (found, 0)
    if bad is not None:
        raise ArgumentError(f"{caller}: '{name}' must be a rigid motion (4, 4), [R p; 0 1] with R Rᵀ = 1, det R = 1")
    return fixed[0]


def damping_of(value, caller: str) -> float | None:
    """The damping of joints, a positive number or None, or an `ArgumentError`."""
    return None if value is None else positive(value, f"{caller}: joint_damping")
