"""POINTY: declarations of frames, in any language, from what an arm points at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import ArgumentError, nearest
from ...lie import so3
from ...world import World, frame_from_points
from ...world.units import convert
from ..instructions import Assign, Binary, Call, Expression, Literal, Name, Program, Quantity, UnitName

__all__ = ["declare_frames", "frame_formula", "pointed_frame"]

_DIGITS = 12  # decimals of the numbers that are written: far below what an arm can point at
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def pointed_frame(world: World, robot: str, configurations, *, pointer=(0.0, 0.0, 0.0)) -> np.ndarray:
    """The pose T_world_frame (4, 4) of a frame that an arm pointed at with its tool, from three configurations.

    `configurations` (3, nq) are those in which the tip of the pointer was at the frame's origin, at a point on its x
    axis, and at a point of its xy plane with y > 0. The `pointer` (3,) [m] is the tip in the tool frame of the robot:
    POINTY's bent pointer reaches where a hand cannot. Reference: Fu, Gonzalez & Lee (1987), Sec. 9.2.1.
    """
    if robot not in world.robots:
        raise ArgumentError(f"pointed_frame: the world has no robot '{robot}'; {nearest(robot, list(world.robots))}")
    q = np.asarray(configurations, dtype=float)
    nq = world.robots[robot].robot.nq
    if q.shape != (3, nq):
        raise ArgumentError(f"pointed_frame: configurations are three of '{robot}', (3, {nq}); got {q.shape}")
    tool = f"{robot}.{world.robots[robot].tool}"
    tip = np.append(np.asarray(pointer, dtype=float), 1.0)
    points = [(world.set_configuration(robot, x).pose(tool) @ tip)[:3] for x in q]
    return frame_from_points(*points)


def declare_frames(frames: Mapping[str, np.ndarray], *, unit: str = "inch", name: str = "frames") -> Program:
    """A program that declares frames at these poses {name: T (4, 4)}; `to_text(program, "al")` writes it.

        >>> T = np.eye(4)
        >>> T[:3, 3] = [0.508, 0.381, 0.0]
        >>> declare_frames({"beam": T}).statements[0].target
        Name(name='beam')

    Lengths are written in `unit`, and angles in degrees. AL, VAL and AML have words for such declarations.
    """
    convert(1.0, "m", unit)  # an error names the units of length
    return Program(tuple(Assign(Name(key), frame_formula(T, unit=unit)) for key, T in frames.items()), name)


def frame_formula(T, *, unit: str = "inch") -> Expression:
    """The expression of a pose T (4, 4): FRAME(ROT(axis, angle*deg), VECTOR(x, y, z)*unit)."""
    pose = np.asarray(T, dtype=float)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise ArgumentError(f"frame_formula: a pose is finite and (4, 4); got {pose.shape}")
    position = [_number(convert(x, "m", unit)) for x in pose[:3, 3]]
    place = Binary("*", Call("VECTOR", tuple(Literal(x) for x in position)), UnitName(unit))
    return Call("FRAME", (_rotation_formula(pose[:3, :3]), place))


def _rotation_formula(R: np.ndarray) -> Expression:
    """ROT(axis, angle*deg), with X, Y or Z for axes of the station, or nilrot."""
    axis, angle = so3.to_axis_angle(R)
    degrees = _number(np.degrees(float(angle)))
    if degrees == 0:
        return Name("nilrot")
    for key, direction in _AXES.items():
        for sign in (1.0, -1.0):
            if np.allclose(axis, sign * np.array(direction), rtol=0, atol=1e-12):
                return Call("ROT", (Name(key), Quantity(sign * degrees, "deg")))
    return Call("ROT", (Call("VECTOR", tuple(Literal(_number(x)) for x in axis)), Quantity(degrees, "deg")))


def _number(x: float) -> float:
    return round(float(x), _DIGITS) + 0.0  # without "-0.0"
