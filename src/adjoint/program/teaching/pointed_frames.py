"""POINTY: declarations of frames, in any language, from what an arm points at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import ArgumentError, nearest
from ...lie import so3
from ...world import World, frame_from_points
from ...world.units import convert
from ..instructions import (
    NOWHERE,
    Aggregate,
    Assign,
    Binary,
    Call,
    Expression,
    Literal,
    Name,
    Program,
    Quantity,
    UnitName,
)  # fmt: skip
from ..languages.val.shapes import posed

__all__ = ["declare_frames", "pointed_frame"]

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


def declare_frames(
    frames: Mapping[str, np.ndarray], *, language: str = "al", unit: str = "inch", name: str = "frames"
) -> Program:
    """A program that declares frames at these poses {name: T (4, 4)}, in the form that a language has for it.

        >>> T = np.eye(4)
        >>> T[:3, 3] = [0.508, 0.381, 0.0]
        >>> declare_frames({"beam": T}, language="val").statements[0].target
        Name(name='beam')

    `to_text` writes it: AL's `beam <- FRAME(ROT(axis, angle*deg), VECTOR(x, y, z)*unit)`, with lengths in `unit`;
    VAL's `POINT beam = x,y,z,o,a,t` in mm and degrees; AML's `beam = <<x, y, z>, EULERROT(<a, b, c>)>` in inches and
    degrees.
    """
    convert(1.0, "m", unit)  # an error names the units of length
    if language not in _FORMS:
        raise ArgumentError(f"declare_frames: '{language}' has no frames; {nearest(language, list(_FORMS))}")
    form = _FORMS[language]
    rows = [Assign(Name(key), form(_checked(T, "declare_frames"), unit)) for key, T in frames.items()]
    return Program(tuple(rows), name, language)


def frame_formula(T, *, unit: str = "inch") -> Expression:
    """The expression of a pose T (4, 4): FRAME(ROT(axis, angle*deg), VECTOR(x, y, z)*unit)."""
    pose = _checked(T, "frame_formula")
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


def _checked(T, who: str) -> np.ndarray:
    pose = np.asarray(T, dtype=float)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise ArgumentError(f"{who}: a pose is finite and (4, 4); got {pose.shape}")
    return pose


def _al(T: np.ndarray, unit: str) -> Expression:
    return frame_formula(T, unit=unit)


def _val(T: np.ndarray, unit: str) -> Expression:
    """x, y, z in mm, and PUMA's angles O, A, T in degrees."""
    lengths = [Quantity(_number(convert(x, "m", "mm")), "mm") for x in T[:3, 3]]
    angles = [Quantity(_number(np.degrees(x)), "deg") for x in so3.to_oat(T[:3, :3])]
    return posed([*lengths, *angles], NOWHERE)


def _aml(T: np.ndarray, unit: str) -> Expression:
    """<<x, y, z>, EULERROT(<a, b, c>)> in inches and degrees: rotations about the fixed axes x, y and z."""
    lengths = Aggregate(tuple(Literal(_number(convert(x, "m", "inch"))) for x in T[:3, 3]))
    angles = Aggregate(tuple(Quantity(_number(np.degrees(x)), "deg") for x in so3.to_rpy(T[:3, :3])))
    return Aggregate((lengths, Call("EULERROT", (angles,))))


_FORMS = {"al": _al, "val": _val, "aml": _aml}
