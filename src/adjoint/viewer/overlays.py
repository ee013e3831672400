"""What can be drawn over a robot, as numbers: axes of joints, ellipsoids, arrows, and the cloud of its workspace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics.dexterity import manipulability, singular_directions
from ..kinematics.forward import forward_kinematics
from ..kinematics.jacobians import jacobian
from ..lie import inertia as inertias
from ..lie import so3
from ..model.configuration import random_configuration
from ..model.robot import Robot
from ..rolled import is_long

__all__ = [
    "Cloud",
    "Ellipsoids",
    "frame_groups",
    "frame_poses",
    "inertia_ellipsoids",
    "joint_axes",
    "tool_arrows",
    "tool_ellipsoid",
    "workspace",
]

_FLAT = 0.02  # the least half axis of an ellipsoid, relative to the largest, so that it can be seen
_CLOUD = 100_000  # points


class Ellipsoids(NamedTuple):
    """Ellipsoids: quaternions (k, 4), centers (k, 3) and half axes (k, 3) [m]."""

    wxyz: np.ndarray
    xyz: np.ndarray
    axes: np.ndarray


class Cloud(NamedTuple):
    """Points (k, 3) [m] and how large a measure is there (k,), from 0 to 1."""

    points: np.ndarray
    measure: np.ndarray


def frame_groups(robot: Robot) -> list[tuple[int, str]]:
    """Numbers of frames, and names to write there: frames whose origins stay together have one label."""
    q = random_configuration(robot, 2, rng=1)
    places = np.concatenate([frame_poses(robot, one)[:, :3, 3] for one in q], axis=1).round(6)
    groups: dict[bytes, list[int]] = {}
    for k, place in enumerate(places + 0.0):
        groups.setdefault(place.tobytes(), []).append(k)
    return [(which[0], ", ".join(robot.frame_names[k] for k in which)) for which in groups.values()]


def frame_poses(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The placements (k, 4, 4) of all frames in `robot.frame_names`."""
    T = np.concatenate([forward_kinematics(robot, q), np.eye(4)[None]])
    frames = [robot.frame(name) for name in robot.frame_names]
    return np.stack([T[f.body] @ f.placement for f in frames])


def joint_axes(robot: Robot, q: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Arrows (k, 2, 3) [m] along the screw of every degree of freedom, and whether each turns (k,)."""
    T = forward_kinematics(robot, q)
    arrows, turns = [], []
    for i in range(len(robot.body_names)):
        for S in robot.screw(i):
            w, v = S[:3], S[3:]
            turning = bool(w.any())
            point = np.cross(w, v) / (w @ w) if turning else np.zeros(3)
            way = T[i, :3, :3] @ (w if turning else v)
            start = T[i, :3, :3] @ point + T[i, :3, 3]
            arrows.append([start - way * length / 2, start + way * length / 2])
            turns.append(turning)
    return np.array(arrows).reshape(-1, 2, 3), np.array(turns, bool)


def inertia_ellipsoids(robot: Robot, q: np.ndarray) -> Ellipsoids:
    """For every body with a mass, the solid ellipsoid of uniform density that has its mass and inertia."""
    heavy = [i for i in range(len(robot.body_names)) if robot.inertias[i, 0] > 0]
    if not heavy:
        return Ellipsoids(np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)))
    mass, com, tensor = inertias.central(robot.inertias[heavy])
    moments, R = np.linalg.eigh(tensor)
    R = R * np.sign(np.linalg.det(R))[:, None, None]
    # I_x = m (b² + c²)/5, so a² = 5 (I_y + I_z - I_x) / (2 m).
    squares = 5 * (moments.sum(axis=1, keepdims=True) - 2 * moments) / (2 * mass[:, None])
    T = forward_kinematics(robot, q)[heavy]
    xyz = (T[:, :3, :3] @ com[..., None])[..., 0] + T[:, :3, 3]
    axes = np.sqrt(np.maximum(squares, 0.0))
    axes = np.maximum(axes, _FLAT * np.maximum(axes.max(axis=1, keepdims=True), 1e-6))
    return Ellipsoids(so3.to_quat_wxyz(T[:, :3, :3] @ R), xyz, axes)


def tool_ellipsoid(robot: Robot, q: np.ndarray, frame: str, size: float, force: bool = False) -> Ellipsoids:
    """The ellipsoid of the velocities of a frame at joint rates of length 1, or of its forces at such torques.

    Its half axes are the singular values σ of the linear Jacobian, or 1/σ, in proportion, the largest `size` [m].
    """
    values, twists, _ = singular_directions(robot, q, frame, "world", "translation")
    if force:
        values = 1 / np.maximum(values, 1e-2 * max(float(values.max()), 1e-12))
    axes = size * values / max(float(values.max()), 1e-12)
    R = twists * np.sign(np.linalg.det(twists))
    xyz = forward_kinematics(robot, q, frame)[:3, 3]
    return Ellipsoids(so3.to_quat_wxyz(R)[None], xyz[None], np.maximum(axes, _FLAT * size)[None])


def tool_arrows(robot: Robot, q: np.ndarray, frame: str, size: float) -> np.ndarray:
    """Arrows (nv, 2, 3) [m]: the velocity of a frame at a unit rate of each joint, the longest of length `size`."""
    J = jacobian(robot, q, frame, "world")[3:]
    start = forward_kinematics(robot, q, frame)[:3, 3]
    longest = max(float(np.linalg.norm(J, axis=0).max(initial=0.0)), 1e-12)
    return np.stack([np.broadcast_to(start, J.T.shape), start + J.T * size / longest], axis=1)


def workspace(robot: Robot, frame: str, count: int = _CLOUD) -> Cloud:
    """Where a frame can be: `count` random configurations in one call, with its manipulability there.

    For long chains there are fewer points, and the measure is the distance from their middle.
    """
    q = random_configuration(robot, count if not is_long(robot) else min(count, 2000), rng=0)
    points = forward_kinematics(robot, q, frame)[:, :3, 3]
    if is_long(robot):
        measure = np.linalg.norm(points - points.mean(axis=0), axis=1)
    else:
        measure = manipulability(robot, q, frame, "translation")
    return Cloud(points, np.clip(measure / max(float(np.quantile(measure, 0.99)), 1e-12), 0.0, 1.0))
