"""Logarithms and inverse hyperbolic functions."""

from __future__ import annotations

from math import inf, nan

from ..ir import Builder, Value
from .common import (
    INTEGER,
    LN2_SHORT,
    LOG2_E,
    LOG10_2_SHORT,
    LOG10_E,
    ONE,
    ROUND,
    SPLIT,
    Pair,
    fast_two_sum,
    in_double,
    quotient,
    two_sum,
)

# --- logarithms -----------------------------------------------------------------------------------

# All logarithms are k ln 2 + 2 atanh(n/d), with n and d exact in two parts. `_ATANH` is (atanh s - s)/s**3 as a
# polynomial in s**2 for |s| <= 0.2; `ATANH_LONG` is ((atanh s - s)/s**3 - 1/3)/s**2 for |s| <= 0.172.
_ATANH = (
    0.06941965237240458,
    0.06583726172857342,
    0.07695742314116746,
    0.09090827110908795,
    0.11111112247821889,
    0.14285714277009592,
    0.20000000000032206,
    0.3333333333333329,
)
ATANH_LONG = (
    0.05998789518141125,
    0.05836894519643438,
    0.0666818409140971,
    0.07692277775058275,
    0.09090909444849568,
    0.11111111108689131,
    0.1428571428572288,
    0.19999999999999987,
)
THIRD = 0.3333333333333333, 1.850371707708594e-17


def exponent(b: Builder, x: Value) -> tuple[Value, Value]:
    """Return (k, m) with x = m 2**k and sqrt(1/2) <= m < sqrt(2) nearly, for finite x > 0."""
    tiny = x < 2.0**-1022
    i = b.bits(b.select(tiny, x * 2.0**54, x)) + (ONE - SPLIT)
    bias = b.select(tiny, b.const(2.0**52 + 1023 + 54), 2.0**52 + 1023)
    return b.from_bits((i >> 52) | INTEGER) - bias, b.from_bits((i & (2**52 - 1)) + SPLIT)


def _log_quotient(b: Builder, n: Pair | Value, d: Pair) -> Pair:
    """log((d + n)/(d - n)) = 2 atanh(n/d), in two parts."""
    s, rest = quotient(b, n, d)
    z = s * s
    twice = s + s
    return twice, b.fma(twice * z, b.poly(z, _ATANH), rest + rest)


def _log_parts(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return (k, hi, lo) with log x = k ln 2 + hi + lo."""
    k, m = exponent(b, x)
    d = m + 1.0
    return (k, *_log_quotient(b, m - 1.0, (d, m - (d - 1.0))))


def _with_exponent(b: Builder, k: Value, unit: tuple[float, float], hi: Value, lo: Value) -> Value:
    """k unit + hi + lo, where `unit` has two parts."""
    total, rest = fast_two_sum(k * unit[0], hi)
    return total + (b.fma(k, unit[1], lo) + rest)


def _log_domain(b: Builder, x: Value, y: Value, zero: float = 0.0) -> Value:
    """y, or the value of a logarithm where it has none: at its pole x = zero, beyond the pole, at infinity and NaN."""
    y = b.select(x < inf, y, x)
    return b.select(x > zero, y, b.select(x == zero, b.const(-inf), nan))


@in_double
def log(b: Builder, x: Value) -> Value:
    """Natural logarithm; 0.6 ulp."""
    k, hi, lo = _log_parts(b, x)
    return _log_domain(b, x, _with_exponent(b, k, LN2_SHORT, hi, lo))


def _log_to_base(b: Builder, x: Value, factor: tuple[float, float], unit: tuple[float, float]) -> Value:
    """log(x) times a factor in two parts; `unit` is the same factor times ln 2."""
    k, hi, lo = _log_parts(b, x)
    p = hi * factor[0]
    rest = b.fma(lo, factor[0], b.fma(hi, factor[1], b.fma(hi, factor[0], -p)))
    return _log_domain(b, x, _with_exponent(b, k, unit, p, rest))


@in_double
def log2(b: Builder, x: Value) -> Value:
    """Logarithm to base 2, exact for powers of two; 0.6 ulp."""
    return _log_to_base(b, x, LOG2_E, (1.0, 0.0))


@in_double
def log10(b: Builder, x: Value) -> Value:
    """Logarithm to base 10, exact for powers of ten; 0.6 ulp."""
    return _log_to_base(b, x, LOG10_E, LOG10_2_SHORT)


def _log1p(b: Builder, x: Value, low: Value | None = None, doublings: Value | None = None) -> Value:
    """log(1 + x + low) + doublings * ln 2, for finite x > -1."""
    huge = x > 2.0**200  # there, adding 1 changes nothing; x is scaled so that g below is a normal number
    x = b.select(huge, x * 2.0**-100, x)
    k, _ = exponent(b, x + 1.0)
    g = b.from_bits(b.bits(ROUND + 1023.0 - k) << 52)  # 2**-k
    scaled = x * g
    n_hi, n_lo = fast_two_sum(g - 1.0, scaled)
    d_hi, d_lo = fast_two_sum(g + 1.0, scaled)
    if low is not None:
        n_lo, d_lo = b.fma(low, g, n_lo), b.fma(low, g, d_lo)
    hi, lo = _log_quotient(b, (n_hi, n_lo), (d_hi, d_lo))
    k = k + b.select(huge, b.const(100.0), 0.0)
    return _with_exponent(b, k if doublings is None else k + doublings, LN2_SHORT, hi, lo)


@in_double
def log1p(b: Builder, x: Value) -> Value:
    """log(1 + x); 0.6 ulp."""
    y = b.select(b.abs(x) < 2.0**-54, x, _log1p(b, x))
    return _log_domain(b, x, y, -1.0)


def _root(b: Builder, hi: Value, lo: Value) -> Pair:
    """sqrt(hi + lo) in two parts; it is 0 for hi = 0."""
    s = b.sqrt(hi)
    rest = b.fma(-s, s, hi) + lo
    return s, b.select(hi > 0.0, rest * 0.5 / s, 0.0)


@in_double
def asinh(b: Builder, x: Value) -> Value:
    """Inverse hyperbolic sine: log1p(|x| + (sqrt(x**2 + 1) - 1)), or log(2 |x|) far out; 0.6 ulp."""
    size = b.abs(x)
    far = size > 2.0**60
    a = b.select(far, 1.0, size)
    square = a * a
    inside = a < 1.0
    large, small = b.select(inside, b.const(1.0), square), b.select(inside, square, 1.0)
    hi, lo = fast_two_sum(large, small)
    s, s_lo = _root(b, hi, lo + b.fma(a, a, -square))
    near, near_lo = fast_two_sum(a, s - 1.0)
    low = b.select(far, 0.0, near_lo + s_lo)
    y = _log1p(b, b.select(far, size, near), low, b.select(far, b.const(1.0), 0.0))
    return b.select((size < 2.0**-28) | ~(size < inf), x, b.copysign(y, x))


@in_double
def acosh(b: Builder, x: Value) -> Value:
    """Inverse hyperbolic cosine: log1p(u + sqrt(u**2 + 2 u)), u = x - 1, or log(2 x) far out; 0.6 ulp."""
    far = x > 2.0**60
    u = b.select(far, 1.0, x - 1.0)
    square, double = u * u, u + u
    low_half = u < 2.0
    large, small = b.select(low_half, double, square), b.select(low_half, square, double)
    hi, lo = fast_two_sum(large, small)
    s, s_lo = _root(b, hi, lo + b.fma(u, u, -square))
    near, near_lo = fast_two_sum(s, u)
    low = b.select(far, 0.0, near_lo + s_lo)
    y = _log1p(b, b.select(far, x, near), low, b.select(far, b.const(1.0), 0.0))
    return b.select(x < 1.0, nan, b.select(x < inf, y, x))


@in_double
def atanh(b: Builder, x: Value) -> Value:
    """Inverse hyperbolic tangent: half the logarithm of (1 + |x|)/(1 - |x|); 0.6 ulp."""
    size = b.abs(x)
    n, n_lo = fast_two_sum(b.const(1.0), size)
    d, d_lo = fast_two_sum(b.const(1.0), -size)
    # The difference of the bits of n and d is nearly log2(n/d) times 2**52, so its nearest multiple of 2**52 gives k.
    k = (b.bits(n) - b.bits(d) + (1 << 51)) >> 52
    scale = b.from_bits((k << 52) + ONE)
    d, d_lo = d * scale, d_lo * scale
    below, below_lo = two_sum(d, n)
    hi, lo = _log_quotient(b, (n - d, n_lo - d_lo), (below, below_lo + (n_lo + d_lo)))
    y = 0.5 * _with_exponent(b, b.from_bits(k | INTEGER) - 2.0**52, LN2_SHORT, hi, lo)
    y = b.select(size < 1.0, y, b.select(size == 1.0, b.const(inf), nan))
    return b.copysign(y, x)
