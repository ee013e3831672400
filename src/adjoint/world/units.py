"""Units at the boundary: the book's inches, degrees and ounces become SI units here, and nowhere else.

Everything inside the library is in m, rad, kg, s and N. `UNITS` has the exact factors; the constants are for programs
that read well: `force > 10 * OZF`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError, nearest

__all__ = [
    "DEGREE",
    "INCH",
    "IN_LBF",
    "LBF",
    "OZF",
    "STANDARD_GRAVITY",
    "UNITS",
    "Unit",
    "convert",
    "si",
]


class Unit(NamedTuple):
    """A unit: `factor` times it is in SI units; `dimension` has the powers of (m, kg, s, rad)."""

    factor: float
    dimension: tuple[int, int, int, int]


STANDARD_GRAVITY = 9.80665
"""[m/s²] The acceleration that defines units of force, exact (BIPM 2019)."""
INCH = 0.0254
"""[m] An inch, exact since 1959."""
DEGREE = float(np.pi / 180)
"""[rad] A degree."""
# The force that a mass weighs under standard gravity. The products are correctly rounded: they come from integers.
LBF = 4.4482216152605
"""[N] A pound-force, 0.45359237 kg · 9.80665 m/s², exact."""
OZF = 4.4482216152605 / 16
"""[N] An ounce-force, a sixteenth of a pound-force."""
IN_LBF = 0.1129848290276167
"""[N m] An inch-pound, 0.0254 m · 4.4482216152605 N."""

_POUND = 0.45359237  # kg, exact since 1959
_LENGTH, _MASS, _TIME, _ANGLE = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_SPEED, _ACCELERATION, _TURNING = (1, 0, -1, 0), (1, 0, -2, 0), (0, 0, -1, 1)
_FORCE, _TORQUE, _DENSITY = (1, 1, -2, 0), (2, 1, -2, 0), (-3, 1, 0, 0)
_INERTIA, _PRESSURE, _POWER = (2, 1, 0, 0), (-1, 1, -2, 0), (2, 1, -3, 0)


def _table() -> dict[str, Unit]:
    rows = [
        ("m meter meters metre metres", 1.0, _LENGTH),
        ("mm millimeter millimeters millimetre millimetres", 1e-3, _LENGTH),
        ("cm centimeter centimeters centimetre centimetres", 1e-2, _LENGTH),
        ("km kilometer kilometers kilometre kilometres", 1e3, _LENGTH),
        ("um micrometer micrometers", 1e-6, _LENGTH),
        ("in inch inches", INCH, _LENGTH),
        ("ft foot feet", 0.3048, _LENGTH),
        ("rad radian radians", 1.0, _ANGLE),
        ("deg degree degrees", DEGREE, _ANGLE),
        ("rev revolution revolutions turn turns", 2 * np.pi, _ANGLE),
        ("kg kilogram kilograms", 1.0, _MASS),
        ("g gram grams", 1e-3, _MASS),
        ("lb lbm pound pounds", _POUND, _MASS),
        ("oz ozm ounce_mass", _POUND / 16, _MASS),
        ("s second seconds", 1.0, _TIME),
        ("ms millisecond milliseconds", 1e-3, _TIME),
        ("min minute minutes", 60.0, _TIME),
        ("h hour hours", 3600.0, _TIME),
        ("m/s", 1.0, _SPEED),
        ("m/s^2", 1.0, _ACCELERATION),
        ("rpm", np.pi / 30, _TURNING),
        ("rad/s", 1.0, _TURNING),
        ("deg/s", DEGREE, _TURNING),
        ("N newton newtons", 1.0, _FORCE),
        ("kgf", STANDARD_GRAVITY, _FORCE),
        ("lbf pound-force pounds-force", LBF, _FORCE),
        # The book weighs forces in ounces and torques in inch-pounds; "oz" is the mass.
        ("ozf ounce ounces ounce-force ounces-force", OZF, _FORCE),
        ("N*m N-m Nm", 1.0, _TORQUE),
        ("in-lbf in-lb in-lbs inch-pound inch-pounds", IN_LBF, _TORQUE),
        ("ozf-in oz-in", IN_LBF / 16, _TORQUE),
        ("ft-lbf ft-lb foot-pound foot-pounds", 1.3558179483314003, _TORQUE),
        ("kg/m^3", 1.0, _DENSITY),
        ("g/cm^3", 1e3, _DENSITY),
        ("lb/in^3", 27679.90471020312, _DENSITY),
        ("kg*m^2", 1.0, _INERTIA),
        ("Pa pascal", 1.0, _PRESSURE),
        ("W watt", 1.0, _POWER),
        ("1", 1.0, (0, 0, 0, 0)),
    ]
    return {name: Unit(float(factor), dimension) for names, factor, dimension in rows for name in names.split()}


UNITS: dict[str, Unit] = _table()
"""All units by their names, of which some have several; `si` and `convert` take products of them, too."""

_LONG = 100  # characters of the name of a unit
_BASES = ("m", "kg", "s", "rad")


def si(value, unit: str) -> Any:
    """A `value` (any shape) given in a `unit`, in SI units: m, rad, kg, s, N, N m and their products.

        >>> si(10, "inch")
        0.254
        >>> si([10, 12], "in-lbf").round(4)
        array([1.1298, 1.3558])

    `unit` is a name of `UNITS`, or a product such as "ozf*in", "deg/s" or "kg/m^3", read from left to right. The
    factors are exact: 1 in = 25.4 mm, 1 lb = 0.45359237 kg, 1 lbf = 1 lb · 9.80665 m/s². "ounce" is the book's force;
    the mass is "oz".
    """
    number, found = _number(value, "si"), _unit(unit, "si")
    return number * found.factor


def convert(value, from_unit: str, to_unit: str) -> Any:
    """A `value` (any shape) given in one unit, in another of the same dimension.

    >>> convert(1, "inch", "mm")
    25.4
    >>> convert(1, "inch", "degree")
    Traceback (most recent call last):
    adjoint.errors.ArgumentError: convert: 'inch' is in m and 'degree' in rad; a unit in m is needed: ...
    """
    number = _number(value, "convert")
    a, b = _unit(from_unit, "convert"), _unit(to_unit, "convert")
    if a.dimension != b.dimension:
        same = [name for name, unit in UNITS.items() if unit.dimension == a.dimension]
        choices = f": {', '.join(same[:12])}" if same else ""
        raise ArgumentError(
            f"convert: '{from_unit}' is in {_dimension(a)} and '{to_unit}' in {_dimension(b)}; "
            f"a unit in {_dimension(a)} is needed{choices}"
        )
    if a == b:
        return number * 1.0
    # The quotient of the decimals, rounded once: 0.0254 / 0.001 is 25.4, as floats it is not.
    return number * float(Fraction(repr(a.factor)) / Fraction(repr(b.factor)))


def _number(value, caller: str) -> Any:
    found = np.asarray(as_input(value, "value", caller), float)
    return found if found.ndim else float(found)


def _unit(name: str, caller: str) -> Unit:
    """The unit of a name, or of a product of names with * / ^."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONG:
        raise ArgumentError(f"{caller}: a unit must be a name such as 'inch' or 'kg/m^3', got {name!r:.60}")
    name = name.strip()
    if name in UNITS:
        return UNITS[name]
    factor, dimension = 1.0, np.zeros(4, int)
    pieces = re.split(r"([*/])", name)
    for sign, piece in zip(["*", *pieces[1::2]], pieces[::2], strict=True):
        base, hat, power = piece.strip().partition("^")
        if base not in UNITS or (hat and not re.fullmatch(r"-?\d", power)):
            raise ArgumentError(f"{caller}: unknown unit {piece.strip()!r} in {name!r}; {_hint(base)}")
        k = int(power or 1) * (1 if sign == "*" else -1)
        factor *= UNITS[base].factor ** k
        dimension += np.multiply(UNITS[base].dimension, k)
    if not 1e-300 < factor < 1e300:
        raise ArgumentError(f"{caller}: the unit {name!r:.60} is beyond the range of numbers; its powers are too high")
    return Unit(factor, tuple(dimension.tolist()))  # type: ignore[arg-type]


def _hint(base: str) -> str:
    """The name that is meant by another case or spelling, or names that are alike."""
    folded = {name.lower(): name for name in UNITS}
    other = folded.get(base.lower())
    return f"did you mean '{other}'?" if other else nearest(base, list(UNITS))


def _dimension(unit: Unit) -> str:
    """The dimension in SI units, such as "m kg s^-2"."""
    powers = [b if k == 1 else f"{b}^{k}" for b, k in zip(_BASES, unit.dimension, strict=True) if k]
    return " ".join(powers) or "1"


def __dir__() -> list[str]:
    return __all__
