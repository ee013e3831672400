"""How VAL's distances, angles and locations look as expressions: mm, degrees, and axes of the tool made explicit."""

from __future__ import annotations

from ...instructions.expressions import Aggregate, Binary, Call, Expression, Literal, Name, Quantity, Unary
from ...instructions.statements import MoveJoints

__all__: list[str] = []

READY = MoveJoints(
    Aggregate(tuple(Literal(float(k)) for k in range(1, 7))),
    Aggregate(tuple(Literal(angle) for angle in (0.0, -90.0, 90.0, 0.0, 0.0, 0.0))),
    length_unit="mm",
    angle_unit="deg",
)
_NILROT = Name("nilrot")
_ZERO_MM, _ZERO_DEG, _RIGHT_ANGLE = Quantity(0.0, "mm"), Quantity(0.0, "deg"), Quantity(90.0, "deg")
_HUNDRED = Literal(100.0)


def watch_name(line: Expression, on: bool) -> str:
    """The name of the monitor of an input line, by which IGNORE ends it."""
    number = line.name if isinstance(line, Name) else str(int(line.value)) if isinstance(line, Literal) else "?"
    return f"signal {'' if on else '-'}{number}"


def negative(amount: Expression) -> Expression:
    """An amount with the other sign; twice, it is the amount again."""
    if isinstance(amount, Quantity):
        return Quantity(0.0 - amount.value, amount.unit, at=amount.at)
    return amount.value if isinstance(amount, Unary) else Unary("-", amount, at=amount.at)


def fraction(percent: Expression) -> Expression:
    """A part of the full speed, of an expression in percent that is no plain number."""
    return Binary("/", percent, _HUNDRED, at=percent.at)


def shift(x: Expression, y: Expression, z: Expression, at) -> Call:
    """The transformation that shifts and does not turn."""
    return Call("TRANS", (_NILROT, Call("VECTOR", (x, y, z), at=at)), at=at)


def back(location: Expression, distance: Expression, at) -> Binary:
    """The location this far behind another, along the other's own -Z axis."""
    return Binary("*", location, shift(_ZERO_MM, _ZERO_MM, negative(distance), at), at=at)


def posed(amounts: list[Expression], at) -> Call:
    """The frame of x, y, z, O, A, T.

    R = Rz(O) B Ry(A) Rz(T), Fu, Gonzalez & Lee (1987), (2.3-22), and B = Rz(-90°) Ry(90°). The numbers stay as they
    were written: RPY(0, A + 90°, O - 90°) * RPY(0, 0, T).
    """
    x, y, z, o, a, t = amounts
    turned = Call("RPY", (_ZERO_DEG, Binary("+", a, _RIGHT_ANGLE), Binary("-", o, _RIGHT_ANGLE)), at=at)
    R = Binary("*", turned, Call("RPY", (_ZERO_DEG, _ZERO_DEG, t), at=at), at=at)
    return Call("FRAME", (R, Call("VECTOR", (x, y, z), at=at)), at=at)


def based(x: Expression, y: Expression, z: Expression, angle: Expression, at) -> Call:
    """The frame that BASE names."""
    return Call("FRAME", (Call("RPY", (_ZERO_DEG, _ZERO_DEG, angle), at=at), Call("VECTOR", (x, y, z), at=at)), at=at)


# --- and back ---------------------------------------------------------------------------------------------------------


def as_vector(expression: Expression) -> tuple[Expression, ...] | None:
    """The three amounts of a vector."""
    if isinstance(expression, Call) and expression.function.upper() == "VECTOR" and len(expression.arguments) == 3:
        return expression.arguments
    return None


def as_shift(expression: Expression) -> tuple[Expression, ...] | None:
    """The three amounts of a transformation that does not turn."""
    if isinstance(expression, Call) and expression.function.upper() == "TRANS" and len(expression.arguments) == 2:
        turn, position = expression.arguments
        if turn == _NILROT:
            return as_vector(position)
    return None


def as_back(expression: Expression) -> tuple[Expression, Expression] | None:
    """The location and the distance of `back`."""
    if isinstance(expression, Binary) and expression.operator == "*":
        amounts = as_shift(expression.right)
        known = amounts is not None and isinstance(amounts[2], Quantity | Unary)
        if amounts is not None and known and amounts[0] == amounts[1] == _ZERO_MM:
            return expression.left, negative(amounts[2])
    return None


def as_posed(expression: Expression) -> tuple[Expression, ...] | None:
    """The six amounts of `posed`."""
    found = _rotation_and_position(expression)
    if found is None:
        return None
    R, position = found
    if not (isinstance(R, Binary) and R.operator == "*"):
        return None
    first, last = as_rpy(R.left), as_rpy(R.right)
    if first is None or last is None or last[:2] != (_ZERO_DEG, _ZERO_DEG) or first[0] != _ZERO_DEG:
        return None
    altitude, orientation = first[1:]
    if not (isinstance(altitude, Binary) and altitude.operator == "+" and altitude.right == _RIGHT_ANGLE):
        return None
    if not (isinstance(orientation, Binary) and orientation.operator == "-" and orientation.right == _RIGHT_ANGLE):
        return None
    return (*position, orientation.left, altitude.left, last[2])


def as_based(expression: Expression) -> tuple[Expression, ...] | None:
    """The four amounts of `based`."""
    found = _rotation_and_position(expression)
    angles = None if found is None else as_rpy(found[0])
    if found is None or angles is None or angles[:2] != (_ZERO_DEG, _ZERO_DEG):
        return None
    return (*found[1], angles[2])


def as_rpy(expression: Expression) -> tuple[Expression, ...] | None:
    """The three angles of RPY."""
    if isinstance(expression, Call) and expression.function.upper() == "RPY" and len(expression.arguments) == 3:
        return expression.arguments
    return None


def as_percent(expression: Expression) -> Expression | None:
    """The percentage of `fraction`."""
    if isinstance(expression, Binary) and expression.operator == "/" and expression.right == _HUNDRED:
        return expression.left
    return None


def _rotation_and_position(expression: Expression) -> tuple[Expression, tuple[Expression, ...]] | None:
    if isinstance(expression, Call) and expression.function.upper() == "FRAME" and len(expression.arguments) == 2:
        position = as_vector(expression.arguments[1])
        if position is not None:
            return expression.arguments[0], position
    return None
