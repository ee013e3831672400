"""Expressions of programs, as frozen data. Two are equal if they say the same, wherever they were written."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ...errors import ArgumentError, nearest
from ...world.units import UNITS
from .sources import NOWHERE, Span
from .value_types import Dimension

__all__ = [
    "Aggregate", "Binary", "Call", "Expression", "Here", "Index", "Literal", "Name", "Quantity", "Reading", "Unary",
    "UnitName", "Wrt",
]  # fmt: skip

UNARY = ("-", "not")
BINARY = ("+", "-", "*", "/", "mod", "<", "<=", ">", ">=", "=", "<>", "and", "or")
READINGS = ("force", "torque", "width", "joints", "sensor", "signal", "done", "monitor")


@dataclass(frozen=True)
class Expression:
    """An expression; `at` is where it was written."""

    at: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


def _check_finite(kind: str, value: float) -> None:
    try:
        finite = math.isfinite(value)
    except (TypeError, OverflowError):
        finite = False
    if not finite:
        given = value if isinstance(value, float) else f"a {type(value).__name__}"
        raise ArgumentError(f"{kind}: a number of a program is finite, and at most 1.8e308; got {given}")


@dataclass(frozen=True, eq=False)
class Literal(Expression):
    """A number without unit, a truth value, or a text."""

    value: float | bool | str

    def __post_init__(self):
        value = self.value
        if value.__class__ is float and value - value == 0.0:  # type: ignore[operator]
            return  # the usual case, quickly
        if not isinstance(value, str):
            _check_finite("Literal", value)

    # To Python True is 1.0, and to programs it is not.
    def __eq__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self.value == other.value and isinstance(self.value, bool) == isinstance(other.value, bool)

    def __hash__(self):
        return hash((Literal, self.value, isinstance(self.value, bool)))


@dataclass(frozen=True)
class Quantity(Expression):
    """A number with a unit: AL's 0.5*inches, VAL's 50 (mm). The unit is a name of `world.UNITS`."""

    value: float
    unit: str

    def __post_init__(self):
        if self.value.__class__ is not float or self.value - self.value != 0.0:
            _check_finite("Quantity", self.value)
        if self.unit not in UNITS:
            raise ArgumentError(f"Quantity: '{self.unit}' is no unit; {nearest(self.unit, list(UNITS))}")

    @property
    def dimension(self) -> Dimension:
        """The powers of (m, kg, s, rad) of the unit."""
        return UNITS[self.unit].dimension

    @property
    def si(self) -> float:
        """The number in SI units."""
        return self.value * UNITS[self.unit].factor


@dataclass(frozen=True)
class UnitName(Expression):
    """A unit alone, as in VECTOR(20, 0, 15)*inches. It is a name of `world.UNITS`."""

    unit: str

    def __post_init__(self):
        if self.unit not in UNITS:
            raise ArgumentError(f"UnitName: '{self.unit}' is no unit; {nearest(self.unit, list(UNITS))}")


@dataclass(frozen=True)
class Name(Expression):
    """The value of a variable, of a frame of the world, or of a constant such as X, Y, Z, nilrot, nilvect, station."""

    name: str


@dataclass(frozen=True)
class Unary(Expression):
    """An operator of one value: "-" or "not"."""

    operator: str
    value: Expression


@dataclass(frozen=True)
class Binary(Expression):
    """An operator of two values, one of `BINARY`.

    "*" multiplies what fits: number · quantity, rotation · vector, frame · frame (which post-multiplies), frame ·
    vector (a point), rotation · rotation. frame + vector shifts the frame along axes of the station.
    """

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Call(Expression):
    """A function of values, such as VECTOR, ROT, FRAME, TRANS, EULERROT, DOT, INVERSE, POS, ORIENT, or a procedure."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Wrt(Expression):
    """AL's `v WRT f`: the vector v, given along axes of the frame f, along axes of the station: R_f v."""

    value: Expression
    frame: Expression


@dataclass(frozen=True)
class Here(Expression):
    """Where an arm is now: AL's ⊗, VAL's HERE. With `joints` its configuration instead of the pose of its tool.

    Without a name, it is the arm or hand that the statement itself names, or that of the move in the body of whose
    guard the statement stands; elsewhere it is the only robot of the world. The same is true of a `Reading`.
    """

    arm: str = ""
    joints: bool = False


@dataclass(frozen=True)
class Reading(Expression):
    """What a sensor says now.

    - "force", "torque": along `axis` ("x", "y", "z"), what the surroundings exert on the hand [N, N m], along axes of
      the arm's force frame (those of the station, unless a move says otherwise).
    - "width": how far apart the fingers are [m].
    - "joints": values of joints of the arm, whose `number` is one number from 1, or an aggregate of them, as plain
      numbers: those of joints that slide count in `length_unit`, those of joints that turn in `angle_unit`.
    - "sensor": a sensor of the world, or of the back end, by `name`. "signal": the input line of this number.
    - "done": whether the arm rests.
    - "monitor": 1 if the monitor of this `name` has stopped the last move that it was asked in, else 0 (AML's
      QMONITOR).

    Without `arm`, it is the arm that `Here` means.
    """

    kind: str
    arm: str = ""
    axis: str = ""
    name: str = ""
    number: Expression | None = None
    length_unit: str = "m"
    angle_unit: str = "rad"

    def __post_init__(self):
        if self.kind not in READINGS:
            raise ArgumentError(f"Reading: '{self.kind}' is no reading; {nearest(self.kind, READINGS)}")
        if self.kind in ("force", "torque") and self.axis not in ("x", "y", "z"):
            raise ArgumentError(f"Reading: {self.kind} along '{self.axis}'; axes are x, y and z")


@dataclass(frozen=True)
class Aggregate(Expression):
    """AML's <a, b, ...>: a tuple of values."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Index(Expression):
    """An element of an aggregate or of a list; the first has the number 1."""

    value: Expression
    index: Expression
