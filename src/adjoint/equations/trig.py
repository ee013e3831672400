"""Exact arithmetic with trigonometric polynomials, which describe the dynamics of joints with one degree of freedom.

A `TrigPoly` is a sum of terms c √d x^p cos(f·q) and c √d x^p sin(f·q). Here c is rational, d a square-free integer, x^p
a monomial of variables (coordinates, rates, masses, lengths ...), and f are the frequencies of the angles q. Products
of cosines and sines are turned into sums at once, and the first frequency is positive, so that the form is unique: two
polynomials are equal if and only if their terms are. Nothing is ever rounded.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Frequency", "Key", "TrigPoly", "exact", "powers", "rational_root", "split_sign", "variable"]

Frequency = tuple[tuple[int, int | Fraction], ...]
"""A sum of angles: pairs (number of an angle, multiple), in order of the numbers; () is the angle 0."""


class Key(NamedTuple):
    """A term without its coefficient.

    The monomial is the integer Σ power · 256^variable, so that the product of two monomials is the sum of their
    integers.
    """

    frequency: Frequency
    is_sine: bool
    monomial: int
    radicand: int


class TrigPoly:
    """The terms {Key: coefficient}, immutable; they add, subtract and multiply, also with rational numbers."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Key, Fraction]):
        self.terms = {key: c for key, c in terms.items() if c}

    def __add__(self, other):
        found = dict(self.terms)
        for key, c in _terms(other).items():
            found[key] = found.get(key, 0) + c
        return TrigPoly(found)

    def __neg__(self):
        return TrigPoly({key: -c for key, c in self.terms.items()})

    def __sub__(self, other):
        return self + -1 * other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        found: dict[Key, Fraction] = defaultdict(Fraction)
        right = _terms(other).items()
        for (f, odd_f, m, d), a in self.terms.items():
            for (g, odd_g, n, e), b in right:
                common = math.gcd(d, e)  # √d √e = common √(d e / common²)
                for angles, is_sine, factor in _product(f, odd_f, g, odd_g):
                    found[Key(angles, is_sine, m + n, d * e // common**2)] += factor * common * a * b
        return TrigPoly(found)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other) -> bool:
        return not (self - other).terms

    __hash__ = None  # type: ignore[assignment]

    def slope(self, k: int) -> TrigPoly:
        """Return the derivative by coordinate k, which is angle k and variable k; a screw joint has both."""
        found: dict[Key, Fraction] = defaultdict(Fraction)
        for (f, odd, m, d), c in self.terms.items():
            found[Key(f, not odd, m, d)] += c * dict(f).get(k, 0) * (1 if odd else -1)
            if power := powers(m).get(k, 0):
                found[Key(f, odd, m - (1 << 8 * k), d)] += c * power
        return TrigPoly(found)

    def without_noise(self, tolerance: float) -> TrigPoly:
        """Return the polynomial without terms below `tolerance` times the largest, which rounded rotations leave."""
        size = {key: abs(float(c)) * math.sqrt(key.radicand) for key, c in self.terms.items()}
        least = tolerance * max(size.values(), default=0.0)
        return TrigPoly({key: c for key, c in self.terms.items() if size[key] >= least})

    def sin(self) -> TrigPoly:
        """Return the sine of this polynomial, which must be a sum of multiples of coordinates and a number."""
        angles, offset = self._angles()
        return _wave(angles, True) * exact(math.cos(offset)) + _wave(angles, False) * exact(math.sin(offset))

    def cos(self) -> TrigPoly:
        """Return the cosine of this polynomial; see `sin`."""
        angles, offset = self._angles()
        return _wave(angles, False) * exact(math.cos(offset)) - _wave(angles, True) * exact(math.sin(offset))

    def _angles(self) -> tuple[Frequency, float]:
        """Return the multiples of the coordinates, and the number, of which this polynomial is the sum."""
        parts = [(powers(key.monomial), c) for key, c in self.terms.items()]
        angles = sorted((k, int(c) if c.denominator == 1 else c) for variables, c in parts for k in variables)
        return tuple(angles), float(sum(c for variables, c in parts if not variables))


def _terms(x) -> dict[Key, Fraction]:
    """Return the terms of a polynomial or of a rational number."""
    return x.terms if isinstance(x, TrigPoly) else {Key((), False, 0, 1): Fraction(x)} if x else {}


def variable(k: int) -> TrigPoly:
    """Return variable k. Coordinates come first: coordinate k is variable k and, if it is an angle, also angle k."""
    return TrigPoly({Key((), False, 1 << 8 * k, 1): Fraction(1)})


def powers(monomial: int) -> dict[int, int]:
    """Return {variable: power} of the variables in a monomial."""
    digits = monomial.to_bytes((monomial.bit_length() + 7) // 8, "little")
    return {k: power for k, power in enumerate(digits) if power}


# --- products of cosines and sines ------------------------------------------------------------------------------------


def _wave(angles: Frequency, is_sine: bool) -> TrigPoly:
    """Return the cosine or sine of a sum of angles."""
    angles, sign = split_sign(angles)
    if not angles and is_sine:
        return TrigPoly({})
    return TrigPoly({Key(angles, is_sine, 0, 1): Fraction(sign if is_sine else 1)})


def split_sign(angles: Frequency) -> tuple[Frequency, int]:
    """Return the angles with the first multiple made positive, and the sign: cos(-x) = cos x, sin(-x) = -sin x."""
    if not angles or angles[0][1] > 0:
        return angles, 1
    return tuple((k, -c) for k, c in angles), -1


@functools.lru_cache(maxsize=100_000)
def _product(f: Frequency, odd_f: bool, g: Frequency, odd_g: bool) -> tuple[tuple[Frequency, bool, Fraction], ...]:
    """Return a product of two waves as a sum of (angles, whether it is a sine, factor).

    cos f cos g = ½ (cos(f - g) + cos(f + g)),  sin f sin g = ½ (cos(f - g) - cos(f + g)),
    sin f cos g = ½ (sin(f - g) + sin(f + g)),  cos f sin g = ½ (sin(f + g) - sin(f - g)).
    """
    if not f or not g:  # one of them is cos 0 = 1
        return ((f or g, odd_f or odd_g, Fraction(1)),)
    half, is_sine = Fraction(1, 2), odd_f != odd_g
    found = []
    for sign, weight in ((-1, -half if odd_g and not odd_f else half), (1, -half if odd_f and odd_g else half)):
        angles, flip = split_sign(_combined(f, g, sign))
        if angles or not is_sine:
            found.append((angles, is_sine, weight * (flip if is_sine else 1)))
    return tuple(found)


def _combined(f: Frequency, g: Frequency, sign: int) -> Frequency:
    """Return f + sign · g."""
    total = dict(f)
    for k, c in g:
        total[k] = total.get(k, 0) + sign * c
    return tuple(sorted((k, c) for k, c in total.items() if c))


# --- numbers ----------------------------------------------------------------------------------------------------------

_CLOSE = 4e-14  # largest relative difference between a number and the simple number that it stands for


def exact(x: float) -> TrigPoly:
    """Return the number that a float stands for: a simple fraction, a multiple of a small root, or its decimals."""
    c, d = rational_root(float(x))
    return TrigPoly({Key((), False, 0, d): c})


def rational_root(x: float) -> tuple[Fraction, int]:
    """Return (c, d) with x = c √d: 1/3 for 0.3333333333333333, (1/2) √2 for 0.7071067811865476, 0.82 for 0.82."""
    simple = Fraction(x).limit_denominator(10_000)
    if abs(simple - Fraction(x)) <= _CLOSE * abs(x):
        return simple, 1
    square = Fraction(x * x).limit_denominator(100)
    if abs(square - Fraction(x * x)) <= _CLOSE * x * x:
        root, d = _without_squares(square.numerator * square.denominator)
        return Fraction(root, square.denominator) * (1 if x > 0 else -1), d
    return Fraction(repr(x)), 1


def _without_squares(n: int) -> tuple[int, int]:
    """Return (r, d) with n = r² d, where d is square-free."""
    root = 1
    for r in range(2, math.isqrt(n) + 1):
        while n % (r * r) == 0:
            n, root = n // (r * r), root * r
    return root, n
