"""AML's numbers have no units: inches, degrees, ounces and seconds are understood. The instructions say them."""

from __future__ import annotations

from ....world.units import UNITS
from ...instructions.expressions import Aggregate, Binary, Expression, Literal, Quantity, UnitName

__all__: list[str] = []


def is_number(expression: Expression) -> bool:
    """Whether an expression is a plain number."""
    return isinstance(expression, Literal) and not isinstance(expression.value, bool | str)


def with_unit(expression: Expression, unit: str) -> Expression:
    """A plain value, or an aggregate of plain values, as a quantity: 20 is 20 deg, and x is x·deg."""
    if isinstance(expression, Literal) and is_number(expression):
        return Quantity(float(expression.value), unit, at=expression.at)
    if isinstance(expression, Aggregate):
        return Aggregate(tuple(with_unit(x, unit) for x in expression.items), at=expression.at)
    return Binary("*", expression, UnitName(unit, at=expression.at), at=expression.at)


def without_unit(expression: Expression, unit: str) -> Expression | None:
    """The plain value that `with_unit` made a quantity of, or None of something else."""
    if isinstance(expression, Quantity) and expression.dimension == UNITS[unit].dimension:
        same = UNITS[expression.unit].factor == UNITS[unit].factor
        return Literal(expression.value if same else expression.si / UNITS[unit].factor)
    if isinstance(expression, Aggregate):
        items = [without_unit(x, unit) for x in expression.items]
        return Aggregate(tuple(x for x in items if x is not None)) if None not in items else None
    if isinstance(expression, Binary) and expression.operator == "*" and _same(expression.right, unit):
        return expression.left
    return None


def counted_in(expression: Expression, unit: str) -> Expression | None:
    """What an expression divides by a unit, to be a plain number: the width of width/inch; None of something else."""
    if isinstance(expression, Binary) and expression.operator == "/" and _same(expression.right, unit):
        return expression.left
    return None


def _same(expression: Expression, unit: str) -> bool:
    return isinstance(expression, UnitName) and UNITS[expression.unit] == UNITS[unit]
