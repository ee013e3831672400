"""Units by the words that programs use: 10 * ounces, 90 * deg."""

from __future__ import annotations

from ...errors import ArgumentError, nearest
from ...world.units import UNITS
from .formula_words import UnitWord

__all__ = ["N", "cm", "deg", "degrees", "inch", "inches", "lbf", "meters", "mm", "ms", "newtons", "ounces", "ozf",
           "rad", "rpm", "seconds", "unit"]  # fmt: skip


def unit(name: str) -> UnitWord:
    """A unit by its name in `world.UNITS`, for formulas: 12 * unit("in-lbs").

    >>> (12 * unit("in-lbs")).expression
    Quantity(value=12.0, unit='in-lbs')
    """
    if name not in UNITS:
        raise ArgumentError(f"unit: '{name}' is no unit; {nearest(name, list(UNITS))}")
    return UnitWord(name)


N = UnitWord("N")
"""Newtons."""
newtons = UnitWord("newtons")
"""Newtons."""
ozf = UnitWord("ozf")
"""Ounces, as forces."""
ounces = UnitWord("ounces")
"""Ounces, as forces."""
lbf = UnitWord("lbf")
"""Pounds, as forces."""
mm = UnitWord("mm")
"""Millimetres."""
cm = UnitWord("cm")
"""Centimetres."""
meters = UnitWord("meters")
"""Metres."""
inch = UnitWord("inch")
"""Inches."""
inches = UnitWord("inches")
"""Inches."""
deg = UnitWord("deg")
"""Degrees."""
degrees = UnitWord("degrees")
"""Degrees."""
rad = UnitWord("rad")
"""Radians."""
rpm = UnitWord("rpm")
"""Turns per minute."""
seconds = UnitWord("seconds")
"""Seconds."""
ms = UnitWord("ms")
"""Milliseconds."""
