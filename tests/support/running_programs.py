"""Worlds and statements for tests of programs that run: a PUMA, a gantry with the book's bolt, and short words."""

from dataclasses import replace

import numpy as np

import adjoint as aj
from adjoint.program.instructions import (
    Assign,
    Binary,
    Call,
    Expression,
    Guard,
    Here,
    Literal,
    Move,
    Name,
    Program,
    Quantity,
    Reading,
    Source,
    Span,
    Statement,
)  # fmt: skip

INCH = 0.0254
Q_UP = np.radians([15.0, -45.0, 150.0, 10.0, 60.0, 5.0])


def puma_world(*, gripper: bool = False, q=Q_UP) -> aj.world.World:
    """A PUMA "arm" at a configuration far from its singularities, with a hand between whose fingers its tool is."""
    hand = aj.world.Gripper(opening=0.08, T_tool_grip=np.eye(4)) if gripper else None
    return aj.world.World().add_robot("arm", aj.robots.puma560(), q=q, gripper=hand)


def number(value: float) -> Literal:
    """A number without a unit."""
    return Literal(float(value))


def inches(value: float) -> Quantity:
    """A length."""
    return Quantity(float(value), "inches")


def seconds(value: float) -> Quantity:
    """A time."""
    return Quantity(float(value), "s")


def shifted(x: float, y: float, z: float, arm: str = "") -> Expression:
    """Where an arm is, moved by inches along axes of the station."""
    vector = Call("VECTOR", (inches(x), inches(y), inches(z)))
    return Binary("+", Here(arm), vector)


def by(x: float, y: float, z: float, arm: str = "arm", **rest) -> Move:
    """A straight move by inches along axes of the station."""
    return Move(arm, shifted(x, y, z, arm), **{"straight": True, **rest})


def put(name: str, value) -> Assign:
    """A variable gets a number, or the value of an expression."""
    return Assign(Name(name), value if isinstance(value, Expression) else number(value))


def less(a: str, b: float) -> Binary:
    """Whether a variable is below a number."""
    return Binary("<", Name(a), number(b))


def plus(a: str, b: float = 1.0) -> Binary:
    """A variable and a number, added."""
    return Binary("+", Name(a), number(b))


def on_force(axis: str, above: float, *body: Statement, stops: bool = True) -> Guard:
    """ON FORCE(axis) > above [N] DO body."""
    return Guard(Binary(">", Reading("force", axis=axis), Quantity(above, "N")), tuple(body), stops)


def program(*statements: Statement) -> Program:
    """A program whose statements stand on lines of their own: the text is their names."""
    lines, placed, at = [], [], 0
    for s in statements:
        text = type(s).__name__
        placed.append(_placed(s, Span(at, at + len(text))))
        lines.append(text)
        at += len(text) + 1
    return Program(tuple(placed), "test", "python", Source("\n".join(lines), "test"))


def _placed(statement: Statement, span: Span) -> Statement:
    return replace(statement, at=span)


def free_gantry() -> aj.Robot:
    """A gantry whose wrist goes round, so that its hand points down or up, and whose slides reach below the table."""
    robot = aj.robots.gantry(travel=(1.5, 1.5, 1.0), hand=0.05)
    lower, upper = np.array(robot.lower), np.array(robot.upper)
    lower[3:], upper[3:] = -7.0, 7.0
    return robot.replace(lower=lower, upper=upper)


def bolt_world(*, bolt: bool = True) -> aj.world.World:
    """The workspace of Table 9.7 with a gantry "barm"; the bolt stands where the hand of the printed program goes."""
    hand = aj.world.Gripper(opening=2 * INCH, depth=0.05, thickness=0.008, T_tool_grip=np.eye(4), tip=0.004)
    w = aj.world.World(gravity=[0, 0, 0])
    w = w.add_robot("barm", free_gantry(), q=[0.5, 0.3, 0.6, 0, 0, 0], gripper=hand, at=[0, 0, -0.3])
    if bolt:
        w = w.add("bolt", aj.world.cylinder(0.25 * INCH, INCH), at=np.array([25, 20, 0]) * INCH)
    return w
