"""Lifting: a robot's numbers become inputs of a kernel, so that it can vary them and differentiate by them.

`inverse_dynamics.bind(robot, lift=("inertias",))` is the kernel that has the robot's inertias as a further input. Its
algorithm runs unchanged on a stand-in, a `LiftedRobot`: the same tree, with inputs in the place of some numbers. The
fields of `FIELDS` are lifted as they are, and nothing checks their values: derivatives by `placements`, for example,
are derivatives by the entries of matrices. Three more names vary placements as rigid motions, or by a length:

    offsets        x_i (6,) of every body:    M_i becomes M_i exp(x_i), a motion seen from the body at home; default 0
    lengths        l_i of every body:         M_i gets |p_i| = l_i and keeps the direction of p_i; default |p_i|
    frame_offsets  x_k (6,) of every frame:   its placement in its body is multiplied by exp(x_k); default 0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..lie import se3
from .parts import Frame
from .robot_data import RobotData

__all__ = ["FIELDS", "liftable", "lifted_fields"]

FIELDS = ("inertias", "screws", "placements", "armature", "damping", "friction", "gravity")
"""The fields of a `Robot` that can be lifted as they are."""


def liftable(robot: RobotData) -> dict[str, np.ndarray]:
    """Return {name: the robot's own numbers} for all that can be lifted."""
    return {field: getattr(robot, field) for field in FIELDS} | {
        "offsets": np.zeros((len(robot.body_names), 6)),
        "lengths": np.linalg.norm(robot.placements[:, :3, 3], axis=1),
        "frame_offsets": np.zeros((len(robot.frames), 6)),
    }


def lifted_fields(robot: RobotData, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return {field: value} for the fields in which the stand-in with these inputs differs from the robot."""
    if "placements" in arrays and "lengths" in arrays:
        raise ArgumentError(f"robot '{robot.name}': lift either placements or lengths, which say the same")
    found: dict[str, Any] = {field: arrays[field] for field in FIELDS if field in arrays}
    M = list(found.get("placements", robot.placements))
    if "lengths" in arrays:
        M = [_stretched(T, length) for T, length in zip(M, arrays["lengths"], strict=True)]
    if "offsets" in arrays:
        M = [se3.compose(T, se3.exp(x)) for T, x in zip(M, arrays["offsets"], strict=True)]
    if M and ("lengths" in arrays or "offsets" in arrays):
        found["placements"] = np.stack(M)
    if "frame_offsets" in arrays:
        places = zip(robot.frames, arrays["frame_offsets"], strict=True)
        found["frames"] = tuple(Frame(f.name, f.body, se3.compose(f.placement, se3.exp(x))) for f, x in places)
    return found


def _stretched(T: np.ndarray, length):
    """Return the placement T with |p| = length and the direction of p; p = 0 has no direction and stays 0."""
    p = T[:3, 3]
    return se3.from_rotation_translation(T[:3, :3], length * (p / (np.linalg.norm(p) or 1.0)))
