"""Where the joints of a robot are on its bodies: axes, and the points on them at which links begin and end.

Link i lies along the common perpendicular of its own joint's axis and the next one, as Denavit and Hartenberg see it;
the piece of an axis between two such feet is the offset at the joint. Every point is in the frame of a body.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.joints import FRAMES
from ..model.robot import Robot

__all__ = ["Axis", "Layout", "axis_of", "joint_layout", "tip_of", "up_of", "upright"]

_PARALLEL = 1e-6  # sine of the angle between axes that count as parallel


class Axis(NamedTuple):
    """The axis of a joint in the frame of a body: a point (3,), a direction (3,), 0 if there is not one axis.

    `kind` is "turn", "thread", "slide", "ball", "plane" or "free".
    """

    point: np.ndarray
    direction: np.ndarray
    kind: str


class Layout(NamedTuple):
    """Points on the joints' axes: `arrival[i]` in the parent of body i, where the parent's part ends; `start[i]`, where
    the link of body i begins, and `own[i]`, the axis of its joint, in body i; `tip[i]` is its end if it has no child.
    """

    own: list[Axis]
    arrival: list[np.ndarray]
    start: list[np.ndarray]
    tip: dict[int, np.ndarray]
    children: dict[int, list[int]]


def up_of(robot: Robot) -> np.ndarray:
    """The unit vector (3,) against gravity; z without gravity."""
    size = np.linalg.norm(robot.gravity)
    return -robot.gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def upright(robot: Robot) -> np.ndarray:
    """The rotation (3, 3) after which gravity points down, along -z; without gravity, z is up."""
    up = up_of(robot)
    x = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
    x = x - (x @ up) * up
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(up, x), up])


def axis_of(robot: Robot, body: int) -> Axis:
    """The axis of the joint of a body, in the body's frame."""
    kind, screws = robot.joint_types[body], robot.screw(body)
    if kind in FRAMES:
        point = _center(robot, body) if kind == "free" else FRAMES[kind](screws)[:3, 3]
        normal = screws[0, :3] if kind == "planar" else np.zeros(3)
        return Axis(point, normal, {"free": "free", "spherical": "ball", "planar": "plane"}[kind])
    w, v = screws[0, :3], screws[0, 3:]
    if not w.any():
        return Axis(np.zeros(3), v, "slide")
    return Axis(np.cross(w, v), w, "thread" if abs(w @ v) > 1e-9 else "turn")


def joint_layout(robot: Robot) -> Layout:
    """Where the links of a robot begin and end."""
    n = len(robot.body_names)
    parents = robot.parents.tolist()
    own = [axis_of(robot, i) for i in range(n)]
    children: dict[int, list[int]] = {i: [] for i in range(-1, n)}
    for i, parent in enumerate(parents):
        children[parent].append(i)
    base = Axis(np.zeros(3), up_of(robot), "turn")
    arrival, start, tip = [np.zeros(3)] * n, [np.zeros(3)] * n, {}
    far = _size(robot, own)
    for i in range(-1, n):
        here = own[i] if i >= 0 else base
        for k, c in enumerate(children[i]):
            there = _moved(own[c], robot.placements[c])
            leaving, arrival[c] = _feet(here, there)
            branches = len(children[i]) > 1 or not here.direction.any()
            outside = max(np.linalg.norm(arrival[c]), np.linalg.norm(leaving)) > far  # axes are nearly parallel
            if branches or outside:
                leaving, arrival[c] = _nearest(here, np.zeros(3)), _nearest(there, robot.placements[c, :3, 3])
            if k == 0 and i >= 0:
                start[i] = leaving
        if not children[i] and i >= 0:
            tip[i] = tip_of(robot, i)
            start[i] = _nearest(here, tip[i])
    return Layout(own, arrival, start, tip, children)


def tip_of(robot: Robot, body: int) -> np.ndarray:
    """Where the last body of a branch ends: its farthest further frame; else its origin, or its center of mass."""
    own = axis_of(robot, body)
    joint = _nearest(own, np.zeros(3)) if own.kind in ("turn", "thread") else np.zeros(3)
    frames = [f.placement[:3, 3] for f in robot.frames if f.body == body]
    if frames or joint.any():
        return max([*frames, np.zeros(3)], key=lambda x: float(np.linalg.norm(x - joint)))
    mass, first_moment = robot.inertias[body, 0], robot.inertias[body, 1:4]
    return first_moment / mass if mass > 0 else joint


def _center(robot: Robot, body: int) -> np.ndarray:
    """The center of mass of a body, or its origin if it has no mass."""
    mass, first_moment = robot.inertias[body, 0], robot.inertias[body, 1:4]
    return first_moment / mass if mass > 0 else np.zeros(3)


def _size(robot: Robot, own: list[Axis]) -> float:
    """How far from the origins of their bodies joints and frames may be [m]."""
    spots = [
        robot.placements[:, :3, 3],
        *(x.point[None] for x in own),
        *(f.placement[None, :3, 3] for f in robot.frames),
    ]
    return 1.01 * float(np.linalg.norm(np.concatenate(spots), axis=-1).max(initial=0.0))


def _moved(axis: Axis, T: np.ndarray) -> Axis:
    return Axis(T[:3, :3] @ axis.point + T[:3, 3], T[:3, :3] @ axis.direction, axis.kind)


def _nearest(axis: Axis, x: np.ndarray) -> np.ndarray:
    """The point of an axis that is nearest to x; its only point, if it has no direction."""
    return axis.point + axis.direction * (axis.direction @ (x - axis.point))


def _feet(a: Axis, b: Axis) -> tuple[np.ndarray, np.ndarray]:
    """The points of two axes that are nearest to each other; of parallel ones, those nearest to the origin."""
    if not a.direction.any():
        return a.point, _nearest(b, a.point)
    if not b.direction.any():
        return _nearest(a, b.point), b.point
    normal = np.cross(a.direction, b.direction)
    size = normal @ normal
    if size < _PARALLEL**2:
        return _nearest(a, np.zeros(3)), _nearest(b, np.zeros(3))
    between = b.point - a.point
    s = np.cross(between, b.direction) @ normal / size
    t = np.cross(between, a.direction) @ normal / size
    return a.point + s * a.direction, b.point + t * b.direction
