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
    Wrt,
)  # fmt: skip
from ..instructions.value_types import AGGREGATE, ANY, BOOLEAN, FRAME, JOINTS, ROTATION, TEXT, Type
from ..meaning.expression_types import ExpressionChecker
from ..meaning.operator_types import fits, in_words, unit_hint

__all__ = ["Formula", "formula"]


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
        return made_formula(Unary("-", self.expression), Unary("-", leaf(self)))

    def __invert__(self):
        return made_formula(Unary("not", self.expression), Unary("not", leaf(self)))

    def __getitem__(self, number):
        index = formula(number)
        return made_formula(Index(self.expression, index.expression), Index(leaf(self), leaf(index)))

    def __iter__(self) -> NoReturn:
        raise ArgumentError("formula: how many elements a formula has is not known while the program is made")

    def wrt(self, frame) -> Formula:
        """The vector, given along axes of a `frame`, along axes of the station: AL's WRT."""
        other = frame_formula(frame, "wrt", "frame")
        return made_formula(Wrt(self.expression, other.expression), Wrt(leaf(self), leaf(other)))


def leaf(value: Formula) -> Expression:
    """What stands for a formula while another around it is checked; constants stay, so that hints can name them."""
    return (
        value.expression if isinstance(value.expression, Literal | Quantity) else _Typed(value.type, value.expression)
    )


def made_formula(expression: Expression, outline: Expression) -> Formula:
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
    return made_formula(Binary(operator, a.expression, b.expression), Binary(operator, leaf(a), leaf(b)))


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
    if isinstance(value, int | float | np.integer | np.floating):
        return number_formula(value)  # type: ignore[arg-type]
    if isinstance(value, str):
        return Formula(Literal(value), TEXT)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple | list):
        return Formula(Aggregate(tuple(formula(item).expression for item in value)), AGGREGATE)
    raise ArgumentError(f"formula: a number, a text, an array or a formula is needed, got {type(value).__name__}")


def number_formula(value: float) -> Formula:
    """The formula of a plain number."""
    try:
        number = float(value)
    except OverflowError:  # a whole number of Python beyond 1.8e308
        number = np.inf
    if not np.isfinite(number):
        raise ArgumentError(f"formula: a number of a program is finite, got {number}")
    literal = Literal(number)
    return Formula(literal, _FormulaChecker().type_of(literal))


def _array(value: np.ndarray) -> Formula:
    array = np.asarray(value, float)
    if not np.isfinite(array).all():
        raise ArgumentError("formula: an array has values that are not finite")
    if array.shape == ():
        return number_formula(float(array))
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
