"""Exponentials and hyperbolic functions."""

from __future__ import annotations

from ..ir import Builder, Value
from .common import LN2, LOG2_E, ROUND, Pair, clamp, fast_two_sum, in_double, quotient

# --- exponentials -------------------------------------------------------------------------------

# `poly` is (exp r - 1 - r)/r**2 for |r| <= ln(2)/2. Adding `round` to a float leaves n + bias in its low bits, where n
# is the nearest integer and the bias is the sum of two biased exponents.
_EXP = {
    "f64": {
        "range": (-746.0, 710.0),
        "round": ROUND + 2046.0,
        "ln2": LN2,
        "poly": (
            2.0924438155674447e-09,
            2.5109045323453584e-08,
            2.755724277806261e-07,
            2.7557244180753317e-06,
            2.4801587360531108e-05,
            0.00019841269886159568,
            0.0013888888888866854,
            0.008333333333321615,
            0.0416666666666667,
            0.16666666666666677,
            0.5,
        ),
        "shift": 52,
    },
    "f32": {
        "range": (-104.0, 89.0),
        "round": 1.5 * 2.0**23 + 254.0,
        "ln2": (0.6931471824645996, -1.9046542121259336e-09),
        "poly": (
            0.001383662922307849,
            0.008369137533009052,
            0.041668105870485306,
            0.16666516661643982,
            0.4999999403953552,
        ),
        "shift": 23,
    },
}
EXP_POLY = _EXP["f64"]["poly"]
# `_EXP2` is (2**r - 1 - r ln 2)/r**2 for |r| <= 1/2. `_SINH` is (sinh r - r)/r**3 and `_COSH` is (cosh r - 1 -
# r**2/2)/r**4, both as polynomials in r**2 for |r| <= ln(2)/2.
_EXP2 = (
    4.4362952811893517e-10,
    7.0735783033504866e-09,
    1.0178184702537869e-07,
    1.321543661508995e-06,
    1.5252733546766633e-05,
    0.0001540353045405439,
    0.0013333558146686212,
    0.009618129107596993,
    0.05550410866482074,
    0.24022650695910122,
)
_SINH = (
    2.5109319047186593e-08,
    2.755724345466861e-06,
    0.00019841269886814862,
    0.008333333333321386,
    0.16666666666666677,
)
_COSH = (
    2.0921768671703347e-09,
    2.7557251820782096e-07,
    2.4801587349202154e-05,
    0.0013888888888873283,
    0.041666666666666685,
)


def scaled(b: Builder, y: Value, t: Value) -> Value:
    """y 2**n, where the low bits of t hold n + bias.

    It multiplies by two factors, so that only the result is rounded.
    """
    shift = _EXP[b.dtype]["shift"]
    k = b.bits(t)
    half = (k >> 1) << shift
    return y * b.from_bits(half) * b.from_bits((k << shift) - half)


def exp(b: Builder, x: Value) -> Value:
    """Exponential: 2**n exp(r), |r| <= ln(2)/2, exp(r) = 1 + r + r**2 p(r); 1.0 ulp."""
    k = _EXP[b.dtype]
    x = clamp(b, x, *k["range"])
    t = b.fma(x, LOG2_E[0], k["round"])
    n = t - k["round"]
    r = b.fma(n, -k["ln2"][1], b.fma(n, -k["ln2"][0], x))
    return scaled(b, b.fma(r * r, b.poly(r, k["poly"]), r) + 1.0, t)


@in_double
def exp2(b: Builder, x: Value) -> Value:
    """Power of two: 2**n 2**r, |r| <= 1/2; 0.8 ulp."""
    x = clamp(b, x, -1076.0, 1025.0)
    round_ = _EXP["f64"]["round"]
    t = x + round_
    r = x - (t - round_)
    p = r * LN2[0]
    one, rest = fast_two_sum(b.const(1.0), p)
    rest = b.fma(r, LN2[1], b.fma(r, LN2[0], -p)) + rest
    return scaled(b, one + b.fma(r * r, b.poly(r, _EXP2), rest), t)


def powers(b: Builder, x: Value, bias: float) -> tuple[Value, Value, Value]:
    """Return (t, r, e) with x = n ln 2 + r + e and |r| <= ln(2)/2; the low bits of t hold n + bias."""
    t = b.fma(x, LOG2_E[0], ROUND + bias)
    n = t - (ROUND + bias)
    r1 = b.fma(n, -LN2[0], x)  # exact
    r = b.fma(n, -LN2[1], r1)
    return t, r, b.fma(n, -LN2[1], r1 - r)


@in_double
def expm1(b: Builder, x: Value) -> Value:
    """exp(x) - 1 as 2 ((s - 1/2) + s (exp(r) - 1)), s = 2**(n-1); 1.1 ulp."""
    t, r, e = powers(b, clamp(b, x, -40.0, 710.0), 1022.0)
    s = b.from_bits(b.bits(t) << 52)
    start, start_lo = fast_two_sum(s, b.const(-0.5))
    hi = b.fma(s, r, start)
    lo = b.fma(s, r, start - hi) + start_lo
    half = hi + b.fma(s, b.fma(r * r, b.poly(r, EXP_POLY), e), lo)
    return b.select(b.abs(x) < 2.0**-54, x, half + half)


def _hyperbolic(b: Builder, x: Value) -> tuple[Pair, Pair]:
    """Return sinh(x)/2 and cosh(x)/2 for x >= 0, each in two parts, by the addition theorem at x = n ln 2 + r."""
    t, r, e = powers(b, x, 1021.0)
    up = b.from_bits(b.bits(t) << 52)  # 2**(n-2)
    down = b.select(x > 40.0, 0.0, b.from_bits((2042 << 52) - b.bits(up)))  # 2**(-n-2)
    s0, s0_lo = fast_two_sum(up, -down)
    c0, c0_lo = fast_two_sum(up, down)
    z = r * r
    s = b.fma(r * z, b.poly(z, _SINH), e)  # sinh r - r
    c = z * b.fma(z, b.poly(z, _COSH), 0.5)  # cosh r - 1
    s_hi, c_hi = b.fma(c0, r, s0), b.fma(s0, r, c0)
    s_lo = b.fma(c0, r, s0 - s_hi) + b.fma(c0, s, b.fma(s0, c, s0_lo))
    c_lo = b.fma(s0, r, c0 - c_hi) + b.fma(s0, s, b.fma(c0, c, c0_lo))
    return fast_two_sum(s_hi, s_lo), fast_two_sum(c_hi, c_lo)


@in_double
def sinh(b: Builder, x: Value) -> Value:
    """Hyperbolic sine; 0.9 ulp."""
    (half, _), _ = _hyperbolic(b, clamp(b, b.abs(x), 0.0, 710.6))
    return b.select(b.abs(x) < 2.0**-28, x, b.copysign(half + half, x))


@in_double
def cosh(b: Builder, x: Value) -> Value:
    """Hyperbolic cosine; 0.8 ulp."""
    _, (half, _) = _hyperbolic(b, clamp(b, b.abs(x), 0.0, 710.6))
    return half + half


@in_double
def tanh(b: Builder, x: Value) -> Value:
    """Hyperbolic tangent, the quotient of sinh and cosh; 1.0 ulp."""
    hi, lo = quotient(b, *_hyperbolic(b, clamp(b, b.abs(x), 0.0, 20.0)))
    return b.select(b.abs(x) < 2.0**-28, x, b.copysign(hi + lo, x))
