"""Types of values in programs: what they are, and in which unit."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "ACCELERATION",
    "AGGREGATE",
    "ANGLE",
    "ANY",
    "BOOLEAN",
    "EVENT",
    "FORCE",
    "FRAME",
    "JOINTS",
    "LENGTH",
    "NUMBER",
    "ROTATION",
    "SPEED",
    "TEXT",
    "TIME",
    "TORQUE",
    "TURNING",
    "VECTOR",
    "Type",
    "scalar",
    "vector",
]  # fmt: skip

Dimension = tuple[int, int, int, int]
_NONE: Dimension = (0, 0, 0, 0)


class Type(NamedTuple):
    """The type of a value: its `kind`, and for scalars and vectors the powers of (m, kg, s, rad) of its unit.

    Kinds are "scalar", "vector" (3,), "rotation" (3, 3), "frame" (4, 4), "joints" (nq,), "boolean", "text",
    "aggregate" (a tuple of values), "event" (a semaphore) and "any".
    """

    kind: str
    dimension: Dimension = _NONE


def scalar(m: int = 0, kg: int = 0, s: int = 0, rad: int = 0) -> Type:
    """The type of numbers whose unit has these powers."""
    return Type("scalar", (m, kg, s, rad))


def vector(m: int = 0, kg: int = 0, s: int = 0, rad: int = 0) -> Type:
    """The type of vectors (3,) whose unit has these powers."""
    return Type("vector", (m, kg, s, rad))


NUMBER = scalar()
"""A number without a unit."""
LENGTH = scalar(m=1)
"""A length [m]."""
ANGLE = scalar(rad=1)
"""An angle [rad]."""
TIME = scalar(s=1)
"""A time [s]."""
SPEED = scalar(m=1, s=-1)
"""A speed [m/s]."""
TURNING = scalar(rad=1, s=-1)
"""A rate of turning [rad/s]."""
ACCELERATION = scalar(m=1, s=-2)
"""An acceleration [m/s²]."""
FORCE = scalar(m=1, kg=1, s=-2)
"""A force [N]."""
TORQUE = scalar(m=2, kg=1, s=-2)
"""A torque [N m]."""
VECTOR = vector(m=1)
"""A vector of lengths [m]."""
ROTATION = Type("rotation")
"""A rotation matrix (3, 3)."""
FRAME = Type("frame")
"""A pose (4, 4): AL's FRAME and TRANS."""
JOINTS = Type("joints")
"""A configuration (nq,), VAL's precision point."""
BOOLEAN = Type("boolean")
"""True or false."""
TEXT = Type("text")
"""A string."""
AGGREGATE = Type("aggregate")
"""A tuple of values, AML's <...>."""
EVENT = Type("event")
"""A semaphore: a count of signals that nobody has waited for yet."""
ANY = Type("any")
"""Any value."""
