"""Sine, cosine, tangent and their inverses."""

from __future__ import annotations

from math import inf

from ..ir import Builder, Value
from .common import (
    PI_2,
    PI_REST,
    ROUND,
    Pair,
    fast_two_sum,
    in_double,
    lane_by_lane,
    narrow,
    quotient,
    rough_reciprocal,
    widen,
    widened,
)

# --- sine, cosine, tangent ----------------------------------------------------------------------

# `parts` add up to pi/2, for the reduction r = x - n pi/2 of |x| below `limit`: the first has all bits of its type, and
# n times the second is exact. `sin` and `cos` are (r - sin r)/r**3 and (cos r - 1 + r**2/2)/r**4, as polynomials in
# r**2. `sign` is the shift that moves bit 1 of a quadrant to the sign bit.
TRIG = {
    "f64": {
        "limit": 2.0**26,
        "round": ROUND,
        "parts": (1.5707963267948966, 6.123234014771656e-17, -1.9034889620193266e-25),
        "sin": (
            -1.5896897403364553e-10,
            2.505076006002797e-08,
            -2.75573137060136e-06,
            0.00019841269829855561,
            -0.008333333333322488,
            0.16666666666666632,
        ),
        "cos": (
            -1.1358741009354993e-11,
            2.087570525532464e-09,
            -2.7557314216166994e-07,
            2.4801587288999775e-05,
            -0.001388888888887334,
            0.041666666666666595,
        ),
        "sign": 62,
    },
    "f32": {
        "limit": 2.0**11,
        "round": 1.5 * 2.0**23,
        "parts": (1.570796251296997, 7.549533620476723e-08, 2.5633440682570896e-12),
        "sin": (0.0001951682206708938, -0.00833218265324831, 0.16666655242443085),
        "cos": (2.443066841806285e-05, -0.00138873013202101, 0.04166664555668831),
        "sign": 30,
    },
}

_TWO_OVER_PI = int(  # the first 1216 binary digits of 2/pi
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"
    "fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
    "56033046fc7b6bab",
    16,
)
# The digits in words of 64 bits, the last ones first; then zeros.
_WORDS = [_TWO_OVER_PI >> 64 * k & 2**64 - 1 for k in range(20)]

# Payne and Hanek's method for x = m 2**e. Digits of 2/pi whose product with m 2**e is a multiple of 4 are skipped. The
# product of the next 192 digits with m holds the quadrant (two bits) and the fraction. The fraction is known to
# 2**-137, and no float64 comes closer than 2**-62 to a multiple of pi/2. The function also runs for lanes with small x,
# whose results are not used: for these it only must not read outside of the words.
_PAYNE_HANEK = f"""@adjoint.reduce.digits = internal constant [20 x i64] [{", ".join(f"i64 {w}" for w in _WORDS)}]
define internal {{double, double, i64}} @adjoint.reduce(double %x) noinline {{
 %bits = bitcast double %x to i64
 %minus = lshr i64 %bits, 63
 %magnitude = and i64 %bits, {2**63 - 1}
 %exponent = lshr i64 %magnitude, 52
 %fraction = and i64 %bits, {2**52 - 1}
 %m = or i64 %fraction, {2**52}
 %skip = sub i64 2101, %exponent
 %skip.words = lshr i64 %skip, 6
 %first = call i64 @llvm.umin.i64(i64 %skip.words, i64 16)
 %p0 = getelementptr i64, ptr @adjoint.reduce.digits, i64 %first
 %p1 = getelementptr i64, ptr %p0, i64 1
 %p2 = getelementptr i64, ptr %p0, i64 2
 %p3 = getelementptr i64, ptr %p0, i64 3
 %w0 = load i64, ptr %p0
 %w1 = load i64, ptr %p1
 %w2 = load i64, ptr %p2
 %w3 = load i64, ptr %p3
 %d0 = call i64 @llvm.fshr.i64(i64 %w1, i64 %w0, i64 %skip)
 %d1 = call i64 @llvm.fshr.i64(i64 %w2, i64 %w1, i64 %skip)
 %d2 = call i64 @llvm.fshr.i64(i64 %w3, i64 %w2, i64 %skip)
 %d0.wide = zext i64 %d0 to i192
 %d1.wide = zext i64 %d1 to i192
 %d2.wide = zext i64 %d2 to i192
 %d1.up = shl i192 %d1.wide, 64
 %d2.up = shl i192 %d2.wide, 128
 %d01 = or i192 %d0.wide, %d1.up
 %window = or i192 %d01, %d2.up
 %m.wide = zext i64 %m to i192
 %turns = mul i192 %window, %m.wide
 %f = shl i192 %turns, 2
 %below = icmp slt i192 %f, 0
 %f.minus = sub i192 0, %f
 %f.abs = select i1 %below, i192 %f.minus, i192 %f
 %q.wide = lshr i192 %turns, 190
 %q.down = trunc i192 %q.wide to i64
 %up = zext i1 %below to i64
 %q = add i64 %q.down, %up
 %zeros.wide = call i192 @llvm.ctlz.i192(i192 %f.abs, i1 false)
 %zeros = trunc i192 %zeros.wide to i64
 %norm = shl i192 %f.abs, %zeros.wide
 %top.wide = lshr i192 %norm, 139
 %top = trunc i192 %top.wide to i64
 %next.wide = lshr i192 %norm, 86
 %next.bits = trunc i192 %next.wide to i64
 %next = and i64 %next.bits, {2**53 - 1}
 %scale.exponent = sub i64 {1023 - 53}, %zeros
 %scale.abs = shl i64 %scale.exponent, 52
 %odd = xor i64 %minus, %up
 %sign = shl i64 %odd, 63
 %scale.bits = or i64 %scale.abs, %sign
 %scale = bitcast i64 %scale.bits to double
 %top.f = sitofp i64 %top to double
 %hi = fmul double %top.f, %scale
 %next.f = sitofp i64 %next to double
 %next.s = fmul double %next.f, %scale
 %lo = fmul double %next.s, 0x3CA0000000000000
 %r = fmul double %hi, 0x3FF921FB54442D18
 %r.minus = fneg double %r
 %e1 = call double @llvm.fma.f64(double %hi, double 0x3FF921FB54442D18, double %r.minus)
 %e2 = call double @llvm.fma.f64(double %hi, double 0x3C91A62633145C07, double %e1)
 %e3 = call double @llvm.fma.f64(double %lo, double 0x3FF921FB54442D18, double %e2)
 %e = fneg double %e3
 %q.minus = sub i64 0, %q
 %negative = icmp ne i64 %minus, 0
 %q.signed = select i1 %negative, i64 %q.minus, i64 %q
 %out1 = insertvalue {{double, double, i64}} poison, double %r, 0
 %out2 = insertvalue {{double, double, i64}} %out1, double %e, 1
 %out3 = insertvalue {{double, double, i64}} %out2, i64 %q.signed, 2
 ret {{double, double, i64}} %out3
}}"""


def _quarter_turns(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return (r, e, q) with x = q pi/2 + r - e, where |r| <= pi/4 nearly, and e is the rounding error of r.

    q is an integer, known modulo 4.
    """
    k = TRIG[b.dtype]
    first, second, third = k["parts"]
    t = b.fma(x, 1 / PI_2, k["round"])
    n = t - k["round"]
    r1 = b.fma(n, -first, x)  # exact
    r = b.fma(n, -second, r1)
    e = b.fma(n, third, b.fma(n, second, r - r1))  # the inner fma is exact
    size = b.abs(x)
    far = size >= k["limit"]
    usual = [r, e, b.bits(t)]

    def reduce_far() -> list[Value]:
        exact = _huge_quarter_turns(b, x) if b.dtype == "f64" else _wide_quarter_turns(b, x)
        finite_far = far & (size < inf)  # an infinite x has given NaN already
        return [b.select(finite_far, new, old) for new, old in zip(exact, usual, strict=True)]

    r, e, q = b.rarely(far, usual, reduce_far)
    return r, e, q


def _huge_quarter_turns(b: Builder, x: Value) -> list[Value]:
    """The result of `_quarter_turns` by Payne and Hanek's method."""
    b.module.add("llvm.ctlz.i192", "declare i192 @llvm.ctlz.i192(i192, i1)")
    b.module.add("llvm.umin.i64", "declare i64 @llvm.umin.i64(i64, i64)")
    b.module.add("llvm.fshr.i64", "declare i64 @llvm.fshr.i64(i64, i64, i64)")
    b.module.add("llvm.fma.f64", "declare double @llvm.fma.f64(double, double, double)")
    b.module.add("adjoint.reduce", _PAYNE_HANEK)
    return lane_by_lane(b, "adjoint.reduce", [x], "ffi")


def _wide_quarter_turns(b: Builder, x: Value) -> list[Value]:
    """The result of `_quarter_turns` for float32 lanes, computed in float64."""
    wide = widened(b)
    r64, e64, q = _quarter_turns(wide, widen(wide, b, x))
    b.block = wide.block
    r = narrow(b, wide, r64)
    return [r, narrow(b, wide, widen(wide, b, r) - r64 + e64), narrow(b, wide, q)]


def _sin_tail(b: Builder, r: Value, e: Value) -> Pair:
    """Return (t, z) with sin(r - e) = r - t and z = (r - e)**2."""
    z = b.fma(r, r, r * (e * -2.0))
    return b.fma(r * z, b.poly(z, TRIG[b.dtype]["sin"]), e), z


def sincos(b: Builder, x: Value) -> Pair:
    """Sine and cosine; 0.9 ulp.

    Angles are reduced by Cody and Waite's method with FMA, very large ones by Payne and Hanek's; then come the
    polynomials of fdlibm.
    """
    k = TRIG[b.dtype]
    r, e, q = _quarter_turns(b, x)
    t, z = _sin_tail(b, r, e)
    s = r - t  # a difference, so that sin(-0) = -0
    c = b.fma(z, b.fma(z, b.poly(z, k["cos"]), -0.5), 1.0)
    odd = (q & 1) != 0

    def signed(quadrant: Value, y: Value) -> Value:
        return b.from_bits(b.bits(y) ^ ((quadrant & 2) << k["sign"]))

    return signed(q, b.select(odd, c, s)), signed(q + 1, b.select(odd, s, c))


def sin(b: Builder, x: Value) -> Value:
    """Sine; see `sincos`."""
    return sincos(b, x)[0]


def cos(b: Builder, x: Value) -> Value:
    """Cosine; see `sincos`."""
    return sincos(b, x)[1]


@in_double
def tan(b: Builder, x: Value) -> Value:
    """Tangent: the quotient of sine and cosine, both in two parts; 1.0 ulp."""
    r, e, q = _quarter_turns(b, x)
    t, z = _sin_tail(b, r, e)
    s = fast_two_sum(r, -t)
    w = b.fma(z, -0.5, 1.0)
    c = fast_two_sum(w, b.fma(z * z, b.poly(z, TRIG["f64"]["cos"]), b.fma(z, -0.5, 1.0 - w)))
    odd = (q & 1) != 0
    n = b.select(odd, -c[0], s[0]), b.select(odd, -c[1], s[1])
    d = b.select(odd, s[0], c[0]), b.select(odd, s[1], c[1])
    hi, lo = quotient(b, n, d)
    return b.select(x == 0.0, x, hi + lo)


# --- inverse circular functions -----------------------------------------------------------------

# `_ASIN` is (asin s - s)/s**3 as a polynomial in s**2 up to 1/4, `_ATAN` is (atan t - t)/t**3 as one in t**2 up to 1.
_ASIN = (
    0.03267700575116501,
    -0.021077467526647662,
    0.02176361414803036,
    0.0036829991742809436,
    0.01078653895534982,
    0.011397774529510452,
    0.013980961583716743,
    0.017351600085568138,
    0.022372215660308684,
    0.03038194268363371,
    0.04464285717511994,
    0.07499999999970264,
    0.16666666666666763,
)
_ATAN = (
    -8.691845380585618e-06,
    0.00010423272249231633,
    -0.000594501009848759,
    0.002156009379136229,
    -0.0056207912785352565,
    0.011329369487216958,
    -0.018626620221496904,
    0.026161899373478983,
    -0.03279207289933414,
    0.03821349192277998,
    -0.042865319106670456,
    0.047449722947799526,
    -0.05259445764997911,
    0.05881718587553903,
    -0.06666584103794969,
    0.07692299756618827,
    -0.09090908551083231,
    0.11111111086672068,
    -0.14285714285044976,
    0.19999999999990617,
    -0.33333333333333287,
)


def _angle(b: Builder, base: Value, t: Value, low: Value, z: Value, coefficients: tuple[float, ...]) -> Value:
    """base + (t + low) + t z p(z), where base stands for the multiple of pi/2 that is nearest to it."""
    total, rest = fast_two_sum(base, t)
    return total + b.fma(t * z, b.poly(z, coefficients), b.fma(base, PI_REST, low) + rest)


def _asin_argument(b: Builder, x: Value) -> tuple[Value, Value, Value, Value]:
    """Return (outer, s, low, z), where outer is |x| > 1/2.

    Where |x| <= 1/2, s = x. Elsewhere s + low = sqrt((1 - |x|)/2). z is the square of s + low.
    """
    size = b.abs(x)
    outer = size > 0.5
    z = b.select(outer, b.fma(size, -0.5, 0.5), x * x)
    root = b.sqrt(z)
    low = b.fma(-root, root, z) * (rough_reciprocal(b, root) * 0.5)
    return outer, b.select(outer, root, x), b.select(outer, low, 0.0), z


@in_double
def asin(b: Builder, x: Value) -> Value:
    """Arc sine: a polynomial inside 1/2, pi/2 - 2 asin sqrt((1 - |x|)/2) outside; 0.6 ulp."""
    outer, s, low, z = _asin_argument(b, b.abs(x))
    factor = b.select(outer, b.const(-2.0), 1.0)
    base = b.select(outer, b.const(PI_2), 0.0)
    return b.copysign(_angle(b, base, factor * s, factor * low, z, _ASIN), x)


@in_double
def acos(b: Builder, x: Value) -> Value:
    """Arc cosine: pi/2 - asin x inside 1/2, 2 asin sqrt((1 - |x|)/2) or its supplement outside; 0.6 ulp."""
    outer, s, low, z = _asin_argument(b, x)
    right = x > 0.0
    factor = b.select(outer, b.select(right, b.const(2.0), -2.0), -1.0)
    base = b.select(outer, b.select(right, b.const(0.0), 2 * PI_2), PI_2)
    return _angle(b, base, factor * s, factor * low, z, _ASIN)


def _atan_quotient(b: Builder, a: Value, c: Value, base: Value, back: Value) -> Value:
    """base + atan(a/c), or base - atan(a/c) where `back` is set, for 0 <= a <= c, a finite, c > 0."""
    t = a / c
    low = b.select(c < 2.0**1000, b.fma(-t, c, a) * rough_reciprocal(b, c), 0.0)  # the rounding error of the division
    return _angle(b, base, b.select(back, -t, t), b.select(back, -low, low), t * t, _ATAN)


@in_double
def atan(b: Builder, x: Value) -> Value:
    """Arc tangent: a polynomial inside 1, pi/2 - atan(1/|x|) outside; 1.2 ulp."""
    size = b.abs(x)
    outer = size > 1.0
    a, c = b.select(outer, 1.0, size), b.select(outer, size, 1.0)
    return b.copysign(_atan_quotient(b, a, c, b.select(outer, b.const(PI_2), 0.0), outer), x)


@in_double
def atan2(b: Builder, y: Value, x: Value) -> Value:
    """Angle of the point (x, y): atan of the smaller over the larger coordinate, put into its octant; 1.5 ulp."""
    across, up = b.abs(x), b.abs(y)
    steep = up > across
    a, c = b.select(steep, across, up), b.select(steep, up, across)
    both = (a == inf) & (c == inf)
    a, c = b.select(both, 1.0, a), b.select(both | (c == 0.0), 1.0, c)
    left = b.bits(x) < 0
    base = b.select(steep, b.const(PI_2), b.select(left, b.const(2 * PI_2), 0.0))
    return b.copysign(_atan_quotient(b, a, c, base, steep ^ left), y)
