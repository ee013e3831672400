"""Powers and roots."""

from __future__ import annotations

from math import inf, nan

from ..ir import Builder, Value
from .common import INTEGER, LN2_SHORT, ONE, ROUND, Pair, clamp, fast_two_sum, in_double, quotient, rough_reciprocal
from .exponential import EXP_POLY, powers, scaled
from .logarithm import ATANH_LONG, THIRD, exponent

# --- powers ---------------------------------------------------------------------------------------


def _log_long(b: Builder, x: Value) -> Pair:
    """log x in two parts, to about 65 bits, for finite x > 0."""
    k, m = exponent(b, x)
    d = m + 1.0
    s, s_lo = quotient(b, m - 1.0, (d, m - (d - 1.0)))
    z = s * s
    z_lo = b.fma(s + s, s_lo, b.fma(s, s, -z))
    w, w_lo = fast_two_sum(b.const(THIRD[0]), z * b.poly(z, ATANH_LONG))
    cube = s * z
    cube_lo = b.fma(s_lo, z, b.fma(s, z_lo, b.fma(s, z, -cube)))
    t = cube * w
    t_lo = b.fma(cube_lo, w, b.fma(cube, w_lo + THIRD[1], b.fma(cube, w, -t)))
    hi, lo1 = fast_two_sum(k * LN2_SHORT[0], s + s)
    hi, lo2 = fast_two_sum(hi, t + t)
    return fast_two_sum(hi, b.fma(k, LN2_SHORT[1], (s_lo + t_lo) * 2.0) + lo1 + lo2)


def _exp_long(b: Builder, x: Value, low: Value) -> Value:
    """exp(x + low), where `low` is far smaller than x."""
    t, r, e = powers(b, clamp(b, x, -746.0, 710.0), 2046.0)
    r, e = fast_two_sum(r, e + low)
    one, rest = fast_two_sum(b.const(1.0), r)
    return scaled(b, one + (b.fma(r * r, b.poly(r, EXP_POLY), e) + rest), t)


@in_double
def pow(b: Builder, x: Value, y: Value) -> Value:
    """x**y as exp(y log|x|) with the logarithm in two parts, and the special cases of C99; 0.8 ulp."""
    size = b.abs(x)
    log_hi, log_lo = _log_long(b, size)
    log_hi = b.select(size == 0.0, -inf, b.select(size == inf, inf, log_hi))
    times = clamp(b, y, -(2.0**70), 2.0**70)  # beyond these limits the result is 0, 1 or infinite already
    product = times * log_hi
    low = b.select(b.abs(product) < 800.0, b.fma(times, log_lo, b.fma(times, log_hi, -product)), 0.0)
    power = _exp_long(b, product, low)
    half = y * 0.5
    whole, odd = b.rint(y) == y, b.rint(half) != half
    minus = b.bits(x) < 0
    power = b.select(minus & whole & odd, -power, power)
    power = b.select((x < 0.0) & (x > -inf) & ~whole, nan, power)
    power = b.select((x != x) | (y != y), x + y, power)
    return b.select((x == 1.0) | (y == 0.0), 1.0, power)


# A polynomial for m**(-1/3), 1 <= m < 2, accurate to 17 bits.
_CBRT = (
    -0.017019102310558663,
    0.1560721391052549,
    -0.5978746644101313,
    1.2437884600845073,
    -1.5660309324835027,
    1.7810583517375091,
)


@in_double
def cbrt(b: Builder, x: Value) -> Value:
    """Cube root: a polynomial and a Halley step for the inverse root, then one Newton step; 0.5 ulp."""
    size = b.abs(x)
    tiny = size < 2.0**-1022
    i = b.bits(b.select(tiny, size * 2.0**54, size))
    k = b.from_bits((i >> 52) | INTEGER) - b.select(tiny, b.const(2.0**52 + 1023 + 54), 2.0**52 + 1023)
    third = b.rint(k * (1 / 3))
    left = b.fma(third, -3.0, k)  # -1, 0 or 1
    up, down = left > 0.0, left < 0.0
    m = b.from_bits((i & (2**52 - 1)) + ONE)
    r = b.poly(m, _CBRT) * b.select(up, b.const(2 ** (-1 / 3)), b.select(down, b.const(2 ** (1 / 3)), 1.0))
    m = m * b.select(up, b.const(2.0), b.select(down, b.const(0.5), 1.0))
    h = b.fma(-(m * r), r * r, 1.0)
    r = b.fma(r * h, b.fma(h, 2 / 9, 1 / 3), r)
    root = m * r * r
    square = root * root
    rest = b.fma(-root, square, m) - root * b.fma(root, root, -square)
    root = b.fma(rest, r * r * (1 / 3), root)
    root = root * b.from_bits(b.bits(third + (ROUND + 1023.0)) << 52)
    return b.select((size > 0.0) & (size < inf), b.copysign(root, x), x)


@in_double
def hypot(b: Builder, x: Value, y: Value) -> Value:
    """sqrt(x**2 + y**2) without overflow, the sum in two parts; 0.8 ulp."""
    x, y = b.abs(x), b.abs(y)
    a, c = b.select(y > x, y, x), b.select(y > x, x, y)
    big, small = a > 2.0**500, a < 2.0**-400
    scale = b.select(big, b.const(2.0**-600), b.select(small, b.const(2.0**600), 1.0))
    back = b.select(big, b.const(2.0**600), b.select(small, b.const(2.0**-600), 1.0))
    a, c = a * scale, c * scale
    a2, c2 = a * a, c * c
    hi, lo = fast_two_sum(a2, c2)
    s = b.sqrt(hi)
    rest = b.fma(-s, s, hi) + (lo + b.fma(a, a, -a2) + b.fma(c, c, -c2))
    root = b.fma(rest, rough_reciprocal(b, s) * 0.5, s) * back
    return b.select((x == inf) | (y == inf), inf, root)
