"""A robot's numbers as inputs of an algorithm: what can be lifted, and the robot that stands for another meanwhile.

`inverse_dynamics.bind(robot, lift=("inertias",))` is the kernel with the robot's inertias as an input. Its algorithm
runs as always, on a stand-in: the same tree, with arrays of inputs in the place of numbers. Fields are lifted as they
are, and nothing checks what they are given: derivatives by `placements` are by the entries of a matrix. Where the
right derivatives are those along the group, or by a length, there are names of their own:

    offsets        x_i (6,) of every body:    M_i exp(x_i), 0 by default; seen from the body at home
    lengths        l_i of every body:         M_i with |p_i| = l_i and the direction of p_i kept, |p_i| by default
    frame_offsets  x_k (6,) of every frame:   its placement in its body times exp(x_k), 0 by default
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
"""Fields of a `Robot` that can be lifted as they are."""


def liftable(robot: RobotData) -> dict[str, np.ndarray]:
    """{name: the robot's own numbers} of all that can be lifted."""
    return {field: getattr(robot, field) for field in FIELDS} | {
        "offsets": np.zeros((len(robot.body_names), 6)),
        "lengths": np.linalg.norm(robot.placements[:, :3, 3], axis=1),
        "frame_offsets": np.zeros((len(robot.frames), 6)),
    }


def lifted_fields(robot: RobotData, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the robot that stands for this one, as far as they differ from its own."""
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
    """The placement T with |p| = length in the same direction; p = 0 has none, and stays."""
    p = T[:3, 3]
    return se3.from_rotation_translation(T[:3, :3], length * (p / (np.linalg.norm(p) or 1.0)))
