"""Expressions of programs as Python formulas: operators build the same frozen data that the languages give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ...errors import ArgumentError
from ...lie import so3
from ..instructions.expressions import (
    Aggregate,
    Binary,
    Call,
    Expression,
    Index,
    Literal,
    Name,
    Quantity,
    Unary,
    UnitName,
    Wrt,
)  # fmt: skip
from ..instructions.value_types import AGGREGATE, ANY, BOOLEAN, FRAME, JOINTS, ROTATION, TEXT, Type
from ..meaning.constants import CONSTANTS
from ..meaning.expression_types import ExpressionChecker
from ..meaning.operator_types import UNIT_TYPES, fits, in_words, unit_hint

__all__ = ["Formula", "X", "Y", "Z", "formula", "frame_at", "function_of", "nilrot", "nilvect", "rot", "station",
           "trans", "xyz"]  # fmt: skip


class _Typed(Expression):
    """An expression of which only the type is known, and its text for messages."""

    def __init__(self, type: Type, expression: Expression):
        object.__setattr__(self, "at", expression.at)
        object.__setattr__(self, "type", type)


class _FormulaChecker(ExpressionChecker):
    def __init__(self):
        super().__init__(None)
        self.rules[_Typed] = lambda e: e.type

    def other_name(self, name: str) -> Type | None:
        return None


class Formula:
    """An expression of a program that operators of Python build: `feeder * trans(nilrot, 5 * Z * inches)`.

    `expression` is the frozen expression, `type` its type and unit. + - * / % and comparisons are those of programs,
    & | ~ are "and", "or" and "not"; @ is the product of frames. `==` and `!=` make comparisons, too. What does not fit
    is an `ArgumentError` here, before anything runs:

        >>> from adjoint.program.building import deg, inches
        >>> 3 * inches + 90 * deg
        Traceback (most recent call last):
        adjoint.errors.ArgumentError: formula: a length [m] + an angle [rad]: both sides need the same unit; ...
    """

    __slots__ = ("expression", "type")
    __array_ufunc__ = None  # NumPy leaves operators to this class

    def __init__(self, expression: Expression, type: Type = ANY):
        self.expression, self.type = expression, type

    def __repr__(self) -> str:
        return f"Formula({self.expression}, {in_words(self.type)})"

    def __bool__(self) -> bool:
        raise ArgumentError(
            "formula: a formula has no truth value while the program is made; join conditions with & | ~, "
            "each in parentheses, and branch with `with task.when(condition):`"
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return Formula, (self.expression, self.type)

    def __add__(self, other):
        return _joined("+", self, other)

    def __radd__(self, other):
        return _joined("+", other, self)

    def __sub__(self, other):
        return _joined("-", self, other)

    def __rsub__(self, other):
        return _joined("-", other, self)

    def __mul__(self, other):
        return _joined("*", self, other)

    def __rmul__(self, other):
        return _joined("*", other, self)

    __matmul__, __rmatmul__ = __mul__, __rmul__

    def __truediv__(self, other):
        return _joined("/", self, other)

    def __rtruediv__(self, other):
        return _joined("/", other, self)

    def __mod__(self, other):
        return _joined("mod", self, other)

    def __lt__(self, other):
        return _joined("<", self, other)

    def __le__(self, other):
        return _joined("<=", self, other)

    def __gt__(self, other):
        return _joined(">", self, other)

    def __ge__(self, other):
        return _joined(">=", self, other)

    def __eq__(self, other):  # type: ignore[override]
        return _joined("=", self, other)

    def __ne__(self, other):  # type: ignore[override]
        return _joined("<>", self, other)

    def __and__(self, other):
        return _joined("and", self, other)

    __rand__ = __and__

    def __or__(self, other):
        return _joined("or", self, other)

    __ror__ = __or__

    def __neg__(self):
        return _made(Unary("-", self.expression), Unary("-", _leaf(self)))

    def __invert__(self):
        return _made(Unary("not", self.expression), Unary("not", _leaf(self)))

    def __getitem__(self, number):
        index = formula(number)
        return _made(Index(self.expression, index.expression), Index(_leaf(self), _leaf(index)))

    def __iter__(self) -> NoReturn:
        raise ArgumentError("formula: how many elements a formula has is not known while the program is made")

    def wrt(self, frame) -> Formula:
        """The vector, given along axes of a `frame`, along axes of the station: AL's WRT."""
        other = frame_formula(frame, "wrt", "frame")
        return _made(Wrt(self.expression, other.expression), Wrt(_leaf(self), _leaf(other)))


def _leaf(value: Formula) -> Expression:
    """What stands for a formula while another around it is checked; constants stay, so that hints can name them."""
    return (
        value.expression if isinstance(value.expression, Literal | Quantity) else _Typed(value.type, value.expression)
    )


def _made(expression: Expression, outline: Expression) -> Formula:
    """The formula of an expression; its `outline` has the types of the formulas inside."""
    checker = _FormulaChecker()
    found = checker.type_of(outline)
    if checker.found:
        first = checker.found[0]
        raise ArgumentError(f"formula: {first.message}{'; ' + first.hint if first.hint else ''}")
    return Formula(expression, found)


def _joined(operator: str, left, right) -> Any:
    try:
        a, b = formula(left), formula(right)
    except ArgumentError:
        return NotImplemented
    return _made(Binary(operator, a.expression, b.expression), Binary(operator, _leaf(a), _leaf(b)))


# --- constants --------------------------------------------------------------------------------------------------------


def formula(value) -> Formula:
    """The formula of a number, a truth value, a text, an array or a formula.

        >>> formula(3.0) + 4
        Formula(Binary(operator='+', left=Literal(value=3.0), right=Literal(value=4.0)), a plain number)

    Arrays are in SI units: (3,) is a vector of lengths [m], (3, 3) a rotation, (4, 4) a frame, another (n,) a
    configuration of joints. Tuples and lists are aggregates.
    """
    if isinstance(value, Formula):
        return value
    made = getattr(value, "as_formula", None)
    if made is not None:
        return made()
    if isinstance(value, bool | np.bool_):
        return Formula(Literal(bool(value)), BOOLEAN)
    if isinstance(value, int | float | np.number):
        return _number(float(value))
    if isinstance(value, str):
        return Formula(Literal(value), TEXT)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple | list):
        return Formula(Aggregate(tuple(formula(item).expression for item in value)), AGGREGATE)
    raise ArgumentError(f"formula: a number, a text, an array or a formula is needed, got {type(value).__name__}")


def _number(value: float) -> Formula:
    if not np.isfinite(value):
        raise ArgumentError(f"formula: a number of a program is finite, got {value}")
    literal = Literal(value)
    return Formula(literal, _FormulaChecker().type_of(literal))


def _array(value: np.ndarray) -> Formula:
    array = np.asarray(value, float)
    if not np.isfinite(array).all():
        raise ArgumentError("formula: an array has values that are not finite")
    if array.shape == ():
        return _number(float(array))
    if array.shape == (3,):
        return Formula(Call("VECTOR", tuple(Quantity(float(x), "m") for x in array)), Type("vector", (1, 0, 0, 0)))
    if array.shape == (3, 3):
        return Formula(_turned(array), ROTATION)
    if array.shape == (4, 4):
        if not np.allclose(array[3], [0, 0, 0, 1]):
            raise ArgumentError("formula: the last row of a frame (4, 4) is 0, 0, 0, 1")
        return Formula(Call("FRAME", (_turned(array[:3, :3]), _array(array[:3, 3]).expression)), FRAME)
    if array.ndim == 1:
        return Formula(Call("CONFIGURATION", tuple(Literal(float(x)) for x in array)), JOINTS)
    raise ArgumentError(f"formula: an array (3,), (3, 3), (4, 4) or (n,) is needed, got the shape {array.shape}")


def _turned(R: np.ndarray) -> Expression:
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
        raise ArgumentError("formula: the matrix (3, 3) is no rotation")
    if np.array_equal(R, np.eye(3)):
        return Name("nilrot")
    axis, angle = so3.to_axis_angle(R)
    return Call("ROT", (Call("VECTOR", tuple(Literal(float(x)) for x in axis)), Quantity(float(angle), "rad")))


def fitted(value, types: Sequence[Type], caller: str, argument: str) -> Expression:
    """The expression of an argument, which must be of one of these types, or an `ArgumentError`."""
    found = formula(value)
    if any(fits(found.type, t) for t in types):
        return found.expression
    hint = unit_hint(found.expression, found.type, types[0])
    needed = " or ".join(in_words(t) for t in types)
    raise ArgumentError(
        f"{caller}: '{argument}' must be {needed}, got {in_words(found.type)}{'; ' + hint if hint else ''}"
    )


def frame_formula(value, caller: str, argument: str) -> Formula:
    """A frame: a formula, a pose (4, 4), or the name of a frame of the world."""
    if isinstance(value, str):
        return Formula(Name(value), FRAME)
    found = formula(value)
    if found.type.kind not in ("frame", "rotation", "joints", "aggregate", "any"):
        raise ArgumentError(f"{caller}: '{argument}' must be a frame, got {in_words(found.type)}")
    return found


# --- units and functions ----------------------------------------------------------------------------------------------


class UnitWord:
    """A unit that numbers and formulas are multiplied by: 10 * ounces, xyz(20, 15, 0) * inches."""

    __slots__ = ("unit",)
    __array_ufunc__ = None

    def __init__(self, unit: str):
        self.unit = unit

    def __repr__(self) -> str:
        return f"unit({self.unit!r})"

    def __reduce__(self):
        return UnitWord, (self.unit,)

    def as_formula(self) -> Formula:
        """The unit alone, as an expression."""
        return Formula(UnitName(self.unit), UNIT_TYPES[self.unit])

    def __rmul__(self, other) -> Formula:
        if isinstance(other, int | float | np.number) and not isinstance(other, bool):
            number = _number(float(other)).expression
            assert isinstance(number, Literal)
            return Formula(Quantity(float(number.value), self.unit), UNIT_TYPES[self.unit])
        if isinstance(other, np.ndarray):
            if other.shape != (3,):
                raise ArgumentError(f"formula: a vector (3,) has one unit, an array {other.shape} has none")
            return xyz(*other) * self
        return formula(other) * self

    __mul__ = __rmul__

    def __rtruediv__(self, other) -> Formula:
        return formula(other) / self.as_formula()

    def __truediv__(self, other) -> Formula:
        return self.as_formula() / formula(other)


def function_of(name: str, *arguments) -> Formula:
    """A function of programs (`meaning.FUNCTIONS`) of formulas: function_of("SQRT", x).

    >>> function_of("NORM", xyz(3, 4, 0)).type
    Type(kind='scalar', dimension=(0, 0, 0, 0))
    """
    given = [formula(argument) for argument in arguments]
    return _made(Call(name, tuple(g.expression for g in given)), Call(name, tuple(_leaf(g) for g in given)))


def xyz(x, y, z) -> Formula:
    """The vector of three numbers of the same unit: xyz(20, 15, 0) * inches. AL's VECTOR."""
    return function_of("VECTOR", x, y, z)


def rot(axis, angle) -> Formula:
    """The rotation by an angle about an axis: rot(Z, 90 * deg). AL's ROT."""
    return function_of("ROT", axis, angle)


def frame_at(rotation, position) -> Formula:
    """The frame with this rotation and this position in the station. AL's FRAME."""
    return function_of("FRAME", rotation, position)


def trans(rotation, shift) -> Formula:
    """The transformation that turns and shifts; frame * trans(...) is a frame relative to another. AL's TRANS."""
    return function_of("TRANS", rotation, shift)


X = Formula(Name("X"), CONSTANTS["X"][0])
"""The x axis, a vector without unit."""
Y = Formula(Name("Y"), CONSTANTS["Y"][0])
"""The y axis, a vector without unit."""
Z = Formula(Name("Z"), CONSTANTS["Z"][0])
"""The z axis, a vector without unit."""
nilrot = Formula(Name("nilrot"), ROTATION)
"""No rotation."""
nilvect = Formula(Name("nilvect"), CONSTANTS["nilvect"][0])
"""No shift."""
station = Formula(Name("station"), FRAME)
"""The frame of the station."""
