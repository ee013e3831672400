"""The numbers of a robot under names, so that they can be symbols: m1, l1, c1, I1zz, g, ...

Body i is counted from 1, in the robot's order. Its frame is moved, without turning it, to the nearest point of its
joint's axis: then lengths appear only in placements and centres of mass, and not in screws a second time.

    m1                  mass of body 1
    c1, or c1x c1y c1z  centre of mass in the body's frame; one name if it lies on one of the frame's axes
    I1xx I1xy ...       moments of inertia about the centre of mass, along the frame's axes
    l1                  length of body 1: where the one joint on it is, if that is on one of the frame's axes (l0: base)
    p2x p2y p2z         where joint 2 is in the frame of the body that carries it, if there is no such length
    h1                  pitch of a screw joint [m/rad]
    g, or gx gy gz      gravity; one name, for its magnitude, if it is along one of the base's axes
    J1 d1 f1            armature, damping and dry friction of coordinate 1

All are in SI units. Lengths are coordinates and have signs. Numbers that are 0 have no name, and neither have the
directions of axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.joints import JOINTS
from ..model.robot import Robot

__all__ = ["Parameters", "changed", "filled", "inertia_matrix", "named", "numbers_of", "on_axes", "values"]


class Parameters(NamedTuple):
    """What can be a symbol in a robot of n bodies with `on_axes` frames: arrays of numbers, or of their names."""

    masses: np.ndarray  # (n,)
    lengths: np.ndarray  # (n, 3): translations of the M_i
    pitches: np.ndarray  # (n,)
    centers: np.ndarray  # (n, 3)
    moments: np.ndarray  # (n, 6): xx, xy, xz, yy, yz, zz about the centre
    gravity: np.ndarray  # (3,)
    armature: np.ndarray  # (nv,)
    damping: np.ndarray  # (nv,)
    friction: np.ndarray  # (nv,)


def on_axes(robot: Robot) -> Robot:
    """Return the robot with every frame moved, without turning it, to the nearest point of its joint's axis."""
    Q = np.tile(np.eye(4), (len(robot.body_names), 1, 1))
    for i, kind in enumerate(robot.joint_types):
        if JOINTS[kind].nv != 1:
            one = ", ".join(k for k, row in JOINTS.items() if row.nv == 1)
            raise ArgumentError(
                f"equations_of_motion: robot '{robot.name}': joint '{robot.body_joint_names[i]}' is {kind}; "
                f"closed forms are for joints with one degree of freedom: {one}"
            )
        w, v = np.split(robot.screw(i)[0], 2)
        Q[i, :3, 3] = -np.cross(w, v)  # this is 0 for a prismatic joint, which has no axis in a certain place
    return robot.reframed(Q)


# --- numbers ----------------------------------------------------------------------------------------------------------


def numbers_of(robot: Robot) -> Parameters:
    """Return the numbers of a robot with `on_axes` frames; those that are rounding errors are 0."""
    central = [_central(robot, i) for i in range(len(robot.body_names))]
    centers = np.array([c for c, _ in central]).reshape(-1, 3)
    moments = np.array([I for _, I in central]).reshape(-1, 6)
    length = np.abs(np.concatenate([robot.placements[:, :3, 3], centers])).max(initial=0.0)
    return Parameters(
        lengths=_snapped(robot.placements[:, :3, 3], length),
        pitches=_snapped(np.sum(robot.screws[:, :3] * robot.screws[:, 3:], axis=1), length),
        masses=robot.inertias[:, 0],
        centers=_snapped(centers, length),
        moments=_snapped(moments, np.abs(robot.inertias[:, 4:]).max(axis=1, initial=0.0)[:, None]),
        gravity=_snapped(robot.gravity, np.abs(robot.gravity).max()),
        armature=robot.armature,
        damping=robot.damping,
        friction=robot.friction,
    )


def _snapped(x: np.ndarray, scale) -> np.ndarray:
    """Return x, with 0 for numbers that are rounding errors beside `scale`."""
    return np.where(np.abs(x) > 1e-14 * scale, x, 0.0)


def _central(robot: Robot, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre of mass (3,) of body i, and the moments (6,) about it."""
    m, h, I = robot.inertias[i, 0], robot.inertias[i, 1:4], robot.inertias[i, 4:]
    if m == 0 and h.any():
        raise ArgumentError(
            f"equations_of_motion: body '{robot.body_names[i]}' has first moments {h.tolist()} but no mass"
        )
    c = h / m if m else h
    return c, I - _steiner(m, c)


def _steiner(m, c) -> np.ndarray:
    """Return m (|c|² 1 - c cᵀ) (6,): the moments about the origin minus those about the centre of mass at c."""
    x, y, z = c
    return np.array([m * (y * y + z * z), -m * x * y, -m * x * z, m * (x * x + z * z), -m * y * z, m * (x * x + y * y)])


# --- names ------------------------------------------------------------------------------------------------------------


def named(robot: Robot, numbers: Parameters) -> Parameters:
    """Return the names of the numbers: "" for a number that is 0, and "-g" if the number is -g."""
    children = robot.parents.tolist()
    bodies = range(len(robot.body_names))

    def each(letter: str, array: np.ndarray) -> np.ndarray:
        return np.array([f"{letter}{k}" if x else "" for k, x in enumerate(array, 1)], dtype=object)

    lengths = [
        _components(f"p{i + 1}", numbers.lengths[i], f"l{p + 1}" if children.count(p) == 1 else None)
        for i, p in enumerate(children)
    ]
    sides = ("xx", "xy", "xz", "yy", "yz", "zz")
    down = _components("g", numbers.gravity, "-g" if numbers.gravity.sum() < 0 else "g")
    return Parameters(
        lengths=_grid(lengths, 3),
        pitches=each("h", numbers.pitches),
        masses=each("m", numbers.masses),
        centers=_grid([_components(f"c{i + 1}", numbers.centers[i], f"c{i + 1}") for i in bodies], 3),
        moments=_grid(
            [[f"I{i + 1}{ab}" if x else "" for ab, x in zip(sides, numbers.moments[i], strict=True)] for i in bodies], 6
        ),
        gravity=_grid([down], 3)[0],
        armature=each("J", numbers.armature),
        damping=each("d", numbers.damping),
        friction=each("f", numbers.friction),
    )


def _components(letter: str, vector, alone: str | None) -> list[str]:
    """Return the names of the components that are not 0; if there is only one, its name is `alone`."""
    if alone and np.count_nonzero(vector) == 1:
        return [alone if x else "" for x in vector]
    return [f"{letter}{axis}" if x else "" for axis, x in zip("xyz", vector, strict=True)]


def _grid(rows: list[list[str]], width: int) -> np.ndarray:
    """Return rows of names as an array of objects."""
    return np.array(rows, dtype=object).reshape(-1, width)


def values(names: Parameters, numbers: Parameters) -> dict[str, float]:
    """Return {name: number}."""
    found = {}
    for words, array in zip(names, numbers, strict=True):
        for word, x in zip(words.ravel(), array.ravel(), strict=True):
            if word:
                found[word.lstrip("-")] = float(-x if word[0] == "-" else x)
    return found


def filled(names: Parameters, meaning: Mapping) -> Parameters:
    """Return arrays of what the names mean, and 0 where there is no name."""

    def one(name: str):
        return 0 if not name else -meaning[name[1:]] if name[0] == "-" else meaning[name]

    return Parameters(*[_objects([one(name) for name in array.ravel()], array.shape) for array in names])


def _objects(elements: list, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of objects of the given shape."""
    array = np.empty(len(elements), dtype=object)
    array[:] = elements
    return array.reshape(shape)


# --- back to a robot --------------------------------------------------------------------------------------------------


def inertia_matrix(m, c, moments) -> np.ndarray:
    """Return J = [I [h]; -[h] m1] (6, 6) about the frame's origin, of mass, centre of mass and moments about it.

    Park, Bobrow & Ploen (1995), (21).
    """
    xx, xy, xz, yy, yz, zz = moments + _steiner(m, c)
    x, y, z = c * m
    H = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.block([[np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), H], [-H, np.eye(3, dtype=int) * m]])


def changed(robot: Robot, p: Parameters) -> Robot:
    """Return the robot with `on_axes` frames and other numbers."""
    p = Parameters(*[array.astype(float) for array in p])
    placements, screws = robot.placements.copy(), robot.screws.copy()
    placements[:, :3, 3] = p.lengths
    turns = screws[:, :3].any(axis=1)
    screws[turns, 3:] = p.pitches[turns, None] * screws[turns, :3]
    moments = [I + _steiner(m, c) for m, c, I in zip(p.masses, p.centers, p.moments, strict=True)]
    inertias = np.column_stack([p.masses, p.masses[:, None] * p.centers, np.reshape(moments, (-1, 6))])
    same = {name: getattr(p, name) for name in ("gravity", "armature", "damping", "friction")}
    return robot.replace(placements=placements, screws=screws, inertias=inertias, **same)
