"""Sensors for `simulate` that see what a camera on or beside a robot sees: pixels of points, and poses of a target."""

from __future__ import annotations

import numpy as np

from ...lie import se3
from ...model.robot import Robot
from ...simulation.sensors import Sensor, sensor
from ..cameras.camera import Camera
from .camera_scene import camera_numbers, in_pixels, placed, pose_of, shaped

__all__ = ["pixel_sensor", "target_pose_sensor"]


def _read_pixels(robot, p, t, q, v, wrenches):
    T, _ = placed(robot, p, q)
    X = np.stack([se3.act(T, x) for x in p.points])
    return in_pixels(X[:, :2] / X[:, 2:], p)


def pixel_sensor(
    points, *, robot: Robot, frame: str, camera: Camera, eye: str = "in hand", T_gripper_camera=None
) -> Sensor:
    """A sensor for `simulate`: the pixels (k, 2) at which a camera on or beside a robot sees `points` (k, 3) [m].

        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> seen = pixel_sensor(np.eye(3), robot=robot, frame="tool", camera=camera)

    Arguments are those of `image_servo`. Points behind the lens are mirrored through it, so that a law goes on.
    """
    caller = "pixel_sensor"
    numbers = camera_numbers(robot, frame, camera, eye, T_gripper_camera, caller)
    numbers["points"] = shaped(points, (None, 3), "points", caller, "places [m] are needed")
    return sensor(_read_pixels, name=caller, frame=frame, eye=eye, **numbers)


def _read_pose(robot, p, t, q, v, wrenches):
    return se3.compose(placed(robot, p, q)[0], p.T_target)


def target_pose_sensor(
    T_target, *, robot: Robot, frame: str, camera: Camera | None = None, eye: str = "in hand", T_gripper_camera=None
) -> Sensor:
    """A sensor for `simulate`: T_camera_target (4, 4) of a target at `T_target` in the base, or in `frame` if held.

    >>> seen = target_pose_sensor(se3.exp([0, 0, 0, 0.6, 0, -0.2]), robot=robot, frame="tool")
    """
    caller = "target_pose_sensor"
    numbers = camera_numbers(robot, frame, camera, eye, T_gripper_camera, caller, lens=False)
    return sensor(
        _read_pose, name=caller, frame=frame, eye=eye, T_target=pose_of(T_target, "T_target", caller), **numbers
    )
