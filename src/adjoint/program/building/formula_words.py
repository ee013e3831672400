"""Axes, vectors, rotations, frames and units as formulas: what formulas begin with."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ..instructions.expressions import Call, Literal, Name, Quantity, UnitName
from ..instructions.value_types import FRAME, ROTATION
from ..meaning.constants import CONSTANTS
from ..meaning.operator_types import UNIT_TYPES
from .formulas import Formula, formula, leaf, made_formula, number_formula

__all__ = ["X", "Y", "Z", "frame_at", "function_of", "nilrot", "nilvect", "rot", "station", "trans", "xyz"]


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
            number = number_formula(float(other)).expression
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
    return made_formula(Call(name, tuple(g.expression for g in given)), Call(name, tuple(leaf(g) for g in given)))


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
