"""Types of what operators give, with the arithmetic of units, and hints where something does not fit."""

from __future__ import annotations

from functools import lru_cache

from ...world.units import UNITS
from ..instructions.expressions import Call, Expression, Literal, Quantity
from ..instructions.value_types import ANY, BOOLEAN, FRAME, NUMBER, ROTATION, TEXT, Dimension, Type
from .values import type_in_words

__all__: list[str] = []

ZERO, ZEROS = Type("zero"), Type("zeros")  # of 0 and of VECTOR(0, 0, 0), which fit any unit
UNIT_TYPES = {name: Type("scalar", unit.dimension) for name, unit in UNITS.items()}
_ANGLE: Dimension = (0, 0, 0, 1)
# Units that a hint writes for a dimension; forces and torques are those of the book.
_WRITTEN: dict[Dimension, str] = {
    (1, 0, 0, 0): "inches",
    _ANGLE: "deg",
    (0, 0, 1, 0): "seconds",
    (1, 1, -2, 0): "ounces",
    (2, 1, -2, 0): "in-lbs",
    (0, 0, -1, 1): "rpm",
    (0, 1, 0, 0): "kg",
    (1, 0, -1, 0): "m/s",
}
_WEIGHTS = {"oz": "ounces", "ozm": "ounces", "ounce_mass": "ounces", "lb": "lbf", "lbm": "lbf", "pound": "lbf",
            "pounds": "lbf", "kg": "kgf", "kilogram": "kgf", "kilograms": "kgf"}  # fmt: skip


def in_words(type: Type) -> str:
    """A type in words; 0 is a plain number."""
    if type is ZERO:
        return "a plain number"
    return "a vector without unit" if type is ZEROS else type_in_words(type)


@lru_cache(4096)  # programs may come from anywhere, with any number of units
def times(a: Dimension, b: Dimension, power: int = 1) -> Dimension:
    """The dimension of a product, or with the power -1 of a quotient."""
    return tuple(x + power * y for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


def _no_angle(dimension: Dimension) -> Dimension:
    """An angle times a length is a length: rad counts only where it stands alone or over time."""
    m, kg, s, rad = dimension
    return (m, kg, s, 0) if rad and (m or kg) else dimension


@lru_cache(4096)
def binary_type(operator: str, a: Type, b: Type) -> Type | None:
    """The type of `a operator b`, or None if it has no meaning."""
    if operator in ("and", "or"):
        return BOOLEAN if {a.kind, b.kind} <= {"boolean", "any"} else None
    if operator in ("<", "<=", ">", ">=", "=", "<>"):
        return _compared(operator, a, b)
    if "any" in (a.kind, b.kind) or "aggregate" in (a.kind, b.kind):
        return _loose(operator, a, b)
    if operator in ("+", "-"):
        return _added(operator, a, b)
    if operator == "*":
        return _multiplied(a, b)
    return _divided(operator, a, b)


def _compared(operator: str, a: Type, b: Type) -> Type | None:
    if "any" in (a.kind, b.kind) or same_unit(a, b):
        return BOOLEAN
    if operator in ("=", "<>"):
        vectors = {a.kind, b.kind} <= {"vector", "zeros"} and (a == b or ZEROS in (a, b))
        return BOOLEAN if vectors or (a.kind == b.kind and a.kind not in ("scalar", "vector")) else None
    return None


def same_unit(a: Type, b: Type) -> bool:
    """Whether both are scalars of the same unit."""
    if a is ZERO or b is ZERO:
        return {a.kind, b.kind} <= {"zero", "scalar"}
    return a.kind == "scalar" and a == b


def _loose(operator: str, a: Type, b: Type) -> Type | None:
    """What is known if one side is an aggregate or anything."""
    other = b if a.kind == "any" else a
    if operator in ("+", "-") and "frame" in (a.kind, b.kind):
        return FRAME if a.kind != "any" or b.kind != "frame" else None
    if a.kind == "any" and b.kind == "vector":
        return ANY  # a frame may be shifted
    if operator in ("+", "-", "mod"):
        return other if other.kind in ("scalar", "vector", "text") else ANY
    if operator == "*" and a.kind == "frame" and b.kind == "any":
        return ANY
    return ANY if not ({a.kind, b.kind} & {"boolean", "text", "event"}) else None


def _added(operator: str, a: Type, b: Type) -> Type | None:
    if a == b and a.kind in ("scalar", "vector", "zero", "zeros", "joints"):
        return a
    if a is ZERO and b.kind == "scalar":
        return b
    if b is ZERO and a.kind == "scalar":
        return a
    if {a.kind, b.kind} == {"zeros", "vector"}:
        return b if a is ZEROS else a
    if a.kind == "frame" and (b is ZEROS or (b.kind == "vector" and b.dimension == (1, 0, 0, 0))):
        return FRAME
    return TEXT if operator == "+" and a.kind == b.kind == "text" else None


def _multiplied(a: Type, b: Type) -> Type | None:
    a, b = (NUMBER if t is ZERO else Type("vector") if t is ZEROS else t for t in (a, b))
    kinds = (a.kind, b.kind)
    if kinds in (("scalar", "scalar"), ("scalar", "vector"), ("vector", "scalar")):
        kind = "vector" if "vector" in kinds else "scalar"
        return Type(kind, _no_angle(times(a.dimension, b.dimension)))
    if kinds == ("rotation", "vector"):
        return b
    if kinds == ("frame", "vector"):
        return b if b.dimension == (1, 0, 0, 0) or not any(b.dimension) else None
    if kinds == ("rotation", "rotation"):
        return ROTATION
    return FRAME if kinds in (("frame", "frame"), ("frame", "rotation")) else None


def _divided(operator: str, a: Type, b: Type) -> Type | None:
    a, b = (NUMBER if t is ZERO else Type("vector") if t is ZEROS else t for t in (a, b))
    if b.kind != "scalar":
        return None
    if operator == "mod":
        return a if a == b else None
    return Type(a.kind, times(a.dimension, b.dimension, -1)) if a.kind in ("scalar", "vector") else None


def fits(type: Type, needed: Type, any_unit: bool = False) -> bool:
    """Whether a value of a type may stand where another is needed. Aggregates may be anything that numbers make."""
    kind, wanted = type.kind, needed.kind
    if type == needed or kind == "any" or wanted == "any":
        return True
    if kind == "zero":
        return wanted == "scalar"
    if kind == "zeros":
        return wanted == "vector"
    if kind == "aggregate":
        return wanted in ("vector", "rotation", "frame", "joints")
    return kind == wanted and (any_unit or kind not in ("scalar", "vector"))


def unit_hint(expression: Expression, found: Type, needed: Type) -> str:
    """What to write instead, if only the unit is missing or another one is meant."""
    unit = _WRITTEN.get(needed.dimension, "")
    if found.kind not in ("scalar", "vector", "zero") or needed.kind not in ("scalar", "vector"):
        return ""
    if needed.kind == "vector" and found.kind != "vector":
        return "multiply it by a direction, such as X, Y or Z"
    if isinstance(expression, Quantity) and unit == "ounces" and expression.unit in _WEIGHTS:
        weight = _WEIGHTS[expression.unit]
        return f"{expression.unit} is a mass: write {expression.value:g}*{weight} for the force"
    if found == NUMBER and unit:
        if isinstance(expression, Literal) and not isinstance(expression.value, str):
            return f"write {expression.value:g}*{unit}"
        return f"multiply it by a unit, such as {unit}"
    if found.kind == "vector" and not any(found.dimension) and unit:
        if isinstance(expression, Call):
            return f"multiply it by a {'length' if unit == 'inches' else 'unit'}: {expression.function}(...)*{unit}"
        return f"multiply it by a length: 1*Z*{unit}" if unit == "inches" else f"multiply it by {unit}"
    if isinstance(expression, Quantity):
        if not any(needed.dimension):
            return f"write {expression.value:g}, without unit"
        return f"write a number times {unit}" if unit else ""
    return ""
