"""Functions that expressions call: vectors, rotations and frames, and functions of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...lie import se3, so3
from ..instructions.value_types import ANGLE, FRAME, JOINTS, NUMBER, ROTATION, VECTOR, Type, vector

__all__ = ["FUNCTIONS", "FunctionParameter", "ProgramFunction"]


class FunctionParameter(NamedTuple):
    """A parameter of a function: its `name`, and the `types` that it takes, in any unit if `any_unit`."""

    name: str
    types: tuple[Type, ...]
    any_unit: bool = False


class ProgramFunction(NamedTuple):
    """A function that expressions of programs call, by its name without regard to case.

    `compute` takes values (all of which may have a leading axis of ticks) and returns one. `result` is the type of the
    result; where it depends on those of the arguments, `infer` tells it from them. With `repeats` the last parameter
    may be given any number of times. `needs` is "same" if all arguments have the same unit. With `by_kind` the first
    argument of `compute` is the sequence of the kinds of all others.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    result: Type
    compute: Callable[..., Any]
    summary: str
    infer: Callable[[Sequence[Type]], Type] | None = None
    repeats: bool = False
    needs: str = ""
    by_kind: bool = False

    @property
    def form(self) -> str:
        """How it is called, such as "ROT(axis, angle)"."""
        return f"{self.name}({', '.join(p.name for p in self.parameters)}{', ...' if self.repeats else ''})"


def _vector(x, y, z):
    return np.stack(np.broadcast_arrays(x, y, z), -1).astype(float)


def _rotated(axis, angle):
    return so3.from_axis_angle(axis, angle)


def _moved(kinds: Sequence[str], first, *others):
    """Products of frames and rotations, of these with vectors (points of frames), and inner products of vectors."""
    kind = kinds[0]
    for other_kind, other in zip(kinds[1:], others, strict=True):
        kind, first = product(kind, first, other_kind, other)
    return first


def product(kind: str, a, other_kind: str, b) -> tuple[str, Any]:
    """The kind and the product of frames, rotations and vectors, with or without ticks before their axes."""
    if other_kind == "vector":
        if kind == "vector":
            return "scalar", (a * b).sum(-1)
        turned = (a[..., :3, :3] @ b[..., None])[..., 0]
        return "vector", turned + a[..., :3, 3] if kind == "frame" else turned
    if kind == other_kind:
        return kind, a @ b
    if kind == "vector":
        raise ValueError("a vector is the last factor")
    zero = np.zeros(3)
    if kind == "rotation":
        return "frame", se3.from_rotation_translation(a, zero) @ b
    return "frame", a @ se3.from_rotation_translation(b, zero)


def inverse(value) -> Any:
    """The inverse of frames or rotations."""
    value = np.asarray(value, float)
    if value.shape[-1] == 3:
        return np.swapaxes(value, -1, -2)
    return se3.inverse(value)


def _orientation(value):
    value = np.asarray(value)
    return value[..., :3, :3]


def _constructed(origin, on_x, in_xy):
    """The frame with this origin whose x axis goes through a point, and whose xy plane contains another."""
    points = [p[..., :3, 3] if np.ndim(p) >= 2 and np.shape(p)[-2:] == (4, 4) else np.asarray(p) for p in
              (origin, on_x, in_xy)]  # fmt: skip
    o, x, y = np.broadcast_arrays(*points)
    with np.errstate(all="ignore"):
        x = _unit(x - o)
        z = _unit(np.cross(x, y - o))
    return se3.from_rotation_translation(np.stack([x, np.cross(z, x), z], -1), o)


def _unit(v):
    with np.errstate(all="ignore"):
        return v / np.linalg.norm(v, axis=-1)[..., None]


def _euler_rotation(angles, second=None, third=None):
    if second is not None:
        angles = _vector(angles, second, third)
    angles = np.asarray(angles, float)
    if angles.shape[-1:] != (3,):
        raise ValueError("three angles are needed")
    return so3.rotation_z(angles[..., 2]) @ so3.rotation_y(angles[..., 1]) @ so3.rotation_x(angles[..., 0])


def _smallest(*values):
    return _folded(np.minimum, values)


def _largest(*values):
    return _folded(np.maximum, values)


def _folded(combine, values):
    result = values[0]
    for value in values[1:]:
        result = combine(result, value)
    return result


def _numeric(function) -> Callable[..., Any]:
    """A function of NumPy that gives NaN instead of a warning where it has no value."""

    def compute(*values):
        with np.errstate(all="ignore"):
            result = function(*values)
        return result if np.ndim(result) else float(result)

    return compute


# --- the table --------------------------------------------------------------------------------------------------------


def _scalar_of(types: Sequence[Type]) -> Type:
    """The type of numbers in the unit of the first argument."""
    return Type("scalar", types[0].dimension)


def _root(types: Sequence[Type]) -> Type:
    """The type of the square root; the root of a length has no unit that programs know."""
    dimension = types[0].dimension
    if any(k % 2 for k in dimension):
        return Type("any")
    return Type("scalar", tuple(k // 2 for k in dimension))  # type: ignore[arg-type]


def _same(types: Sequence[Type]) -> Type:
    return next((t for t in types if any(t.dimension)), types[0])


def _of_product(types: Sequence[Type]) -> Type:
    kinds = [t.kind for t in types]
    if "any" in kinds or "aggregate" in kinds:
        return FRAME if "frame" in kinds and "vector" not in kinds else Type("any")
    if kinds[-1] == "vector":
        if len(kinds) == 2 and kinds[0] == "vector":
            return Type("scalar", tuple(a + b for a, b in zip(types[0].dimension, types[1].dimension, strict=True)))  # type: ignore[arg-type]
        return types[-1]
    return FRAME if "frame" in kinds else ROTATION


def _of_cross(types: Sequence[Type]) -> Type:
    a, b = types[0].dimension, types[1].dimension
    return Type("vector", tuple(x + y for x, y in zip(a, b, strict=True)))  # type: ignore[arg-type]


_SCALAR, _VECTOR_KIND, _TURN = Type("scalar"), Type("vector"), Type("rotation")


def _p(text: str, *types: Type, any_unit: bool = False) -> FunctionParameter:
    return FunctionParameter(text, types, any_unit)


def _table() -> dict[str, ProgramFunction]:
    number, quantity = _p("x", NUMBER), _p("x", _SCALAR, any_unit=True)
    arrow, angle, pose = _p("v", _VECTOR_KIND, any_unit=True), _p("angle", ANGLE), _p("frame", FRAME)
    turned = (_p("rotation", ROTATION), _p("position", VECTOR))
    F = ProgramFunction
    rows = [
        F("VECTOR", (_p("x", _SCALAR, any_unit=True), _p("y", _SCALAR, any_unit=True), _p("z", _SCALAR, any_unit=True)),
          VECTOR, _vector, "The vector of three numbers of the same unit: VECTOR(20, 15, 0)*inches.",
          lambda types: Type("vector", _same(types).dimension), needs="same"),
        F("ROT", (_p("axis", vector(), VECTOR), angle), ROTATION, _rotated,
          "The rotation by an angle about an axis: ROT(Z, 90*deg)."),
        F("FRAME", turned, FRAME, se3.from_rotation_translation,
          "The frame with this rotation and this position, in the station."),
        F("TRANS", turned, FRAME, se3.from_rotation_translation,
          "The transformation that turns and shifts; frame*TRANS(nilrot, v) is the frame shifted along its own axes."),
        F("EULERROT", (_p("angles", Type("aggregate"), vector(rad=1), vector()),), ROTATION, _euler_rotation,
          "AML's rotation by angles about the fixed axes x, y and z, in this order: EULERROT(<0, 0, 90>)."),
        F("RPY", (_p("roll", ANGLE), _p("pitch", ANGLE), _p("yaw", ANGLE)), ROTATION, _euler_rotation,
          "The rotation by roll, pitch and yaw about the fixed axes x, y and z, in this order."),
        F("DOT", (_p("a", FRAME, ROTATION, _VECTOR_KIND, any_unit=True),
                  _p("b", FRAME, ROTATION, _VECTOR_KIND, any_unit=True)), FRAME, _moved,
          "The product of frames or rotations, also with a vector (AML); of two vectors the inner product.",
          _of_product, repeats=True, by_kind=True),
        F("CROSS", (_p("a", _VECTOR_KIND, any_unit=True), _p("b", _VECTOR_KIND, any_unit=True)), VECTOR, np.cross,
          "The cross product of two vectors.", _of_cross),
        F("INVERSE", (_p("frame", FRAME, ROTATION),), FRAME, inverse, "The inverse of a frame or of a rotation.",
          lambda types: types[0]),
        F("POS", (pose,), VECTOR, lambda T: T[..., :3, 3], "The position of a frame [m]."),
        F("ORIENT", (_p("frame", FRAME, ROTATION),), ROTATION, _orientation, "The rotation of a frame."),
        F("AXIS", (_p("rotation", ROTATION, FRAME),), vector(),
          lambda R: so3.to_axis_angle(_orientation(R)).axis, "The axis about which a rotation turns."),
        F("ANGLE", (_p("rotation", ROTATION, FRAME),), ANGLE,
          lambda R: so3.to_axis_angle(_orientation(R)).angle,
          "The angle by which a rotation turns, from 0 to 180*deg."),
        F("CONSTRUCT", (_p("origin", VECTOR, FRAME), _p("on_x", VECTOR, FRAME), _p("in_xy", VECTOR, FRAME)), FRAME,
          _constructed, "The frame of three points: its origin, a point on its x axis, and a point in its xy plane."),
        F("CONFIGURATION", (quantity,), JOINTS, lambda *x: np.stack(np.broadcast_arrays(*x), -1).astype(float),
          "The configuration of an arm, a value for each joint: CONFIGURATION(90*deg, 0*deg, 5*inches).", repeats=True),
        F("NORM", (arrow,), NUMBER, lambda v: np.linalg.norm(v, axis=-1), "The length of a vector.", _scalar_of),
        F("UNIT", (arrow,), vector(), _unit, "The vector of length 1 in the direction of a vector."),
        F("SQRT", (quantity,), NUMBER, _numeric(np.sqrt), "The square root.", _root),
        F("SIN", (angle,), NUMBER, _numeric(np.sin), "The sine of an angle."),
        F("COS", (angle,), NUMBER, _numeric(np.cos), "The cosine of an angle."),
        F("TAN", (angle,), NUMBER, _numeric(np.tan), "The tangent of an angle."),
        F("ASIN", (number,), ANGLE, _numeric(np.arcsin), "The angle with this sine, from -90*deg to 90*deg."),
        F("ACOS", (number,), ANGLE, _numeric(np.arccos), "The angle with this cosine, from 0 to 180*deg."),
        F("ATAN2", (_p("y", _SCALAR, any_unit=True), quantity), ANGLE, _numeric(np.arctan2),
          "The angle of the point (x, y), from -180*deg to 180*deg.", needs="same"),
        F("ABS", (quantity,), NUMBER, _numeric(np.abs), "The absolute value.", _scalar_of),
        F("INT", (number,), NUMBER, _numeric(np.trunc), "The whole part of a number, cut towards 0."),
        F("ROUND", (number,), NUMBER, _numeric(np.rint), "The whole number that is nearest."),
        F("SIGN", (quantity,), NUMBER, _numeric(np.sign), "1 of positive numbers, -1 of negative ones, 0 of 0."),
        F("EXP", (number,), NUMBER, _numeric(np.exp), "The exponential function."),
        F("LOG", (number,), NUMBER, _numeric(np.log), "The natural logarithm."),
        F("MIN", (quantity,), NUMBER, _numeric(_smallest), "The smallest of numbers of the same unit.", _same,
          repeats=True, needs="same"),
        F("MAX", (quantity,), NUMBER, _numeric(_largest), "The largest of numbers of the same unit.", _same,
          repeats=True, needs="same"),
    ]  # fmt: skip
    table = {row.name: row for row in rows}
    return table | {"LOC": table["POS"]._replace(name="LOC")}


FUNCTIONS: dict[str, ProgramFunction] = _table()
"""{NAME: function} of the functions that every program knows; they are found without regard to case."""
