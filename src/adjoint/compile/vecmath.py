"""Elementary functions as inlined, branch-free SIMD arithmetic.

Every entry of `FUNCTIONS` emits one NumPy function through a `Builder`, at any width, for "f64" and "f32". They keep
this contract:

- at most 2 units in the last place from the exact value over the *whole* range: huge arguments, subnormal arguments
  and results; most are within 1 (each docstring states the worst float64 error seen);
- signed zeros, infinities, NaN and domain errors exactly as NumPy and C99 Annex F have them;
- a lane depends on nothing but its own arguments: any width, any position gives the same bits;
- self-contained code: no calls out, no tables in memory. The two rare cases that need long integer arithmetic (huge
  angles, huge quotients in `fmod`) go one lane at a time through an internal function, outside the hot path.

Most float32 functions run their float64 algorithm on lanes widened for the purpose; `sincos` and `exp` are native.

Polynomials are minimax fits made for the ranges given here, except that their forms follow the classic ones of fdlibm.
A number carried in two parts `hi, lo` means the unevaluated sum hi + lo.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from math import inf, nan

from adjoint.compile.ir import Builder, Value

__all__ = ["FUNCTIONS", "sincos"]

Pair = tuple[Value, Value]

_ONE = 0x3FF << 52  # the bits of 1.0
_SPLIT = 0x3FE6A09E << 32  # the bits of sqrt(1/2), nearly
_INTEGER = 0x433 << 52  # the bits of 2**52: or-ed to an integer below 2**52 they make the float 2**52 + integer
_ROUND = 1.5 * 2.0**52  # added to a float of moderate size, it leaves the nearest integer in the low bits

_LN2 = 0.6931471805599453, 2.3190468138462996e-17
_LN2_SHORT = 0.6931471805601177, -1.7239444525614835e-13  # the first part times any exponent is exact
_LOG10_2_SHORT = 0.3010299956640665, -8.532344317057107e-14
_LOG2_E = 1.4426950408889634, 2.0355273740931033e-17
_LOG10_E = 0.4342944819032518, 1.098319650216765e-17
_PI_2 = 1.5707963267948966
_PI_REST = 3.8981718325193755e-17  # pi = fl(pi) * (1 + this), to twice the precision


# --- common steps -------------------------------------------------------------------------------


def _in_double(function: Callable[..., Value]) -> Callable[..., Value]:
    """Let a float64 algorithm serve float32 lanes too: widen them, compute, round once at the end."""

    @wraps(function)
    def either(b: Builder, *args: Value) -> Value:
        if b.dtype == "f64":
            return function(b, *args)
        wide = _wide(b)
        result = function(wide, *(_widen(wide, b, a) for a in args))
        b.block = wide.block
        return _narrow(b, wide, result)

    return either


def _wide(b: Builder) -> Builder:
    """A float64 builder that continues the same function at the same width."""
    wide = copy(b)
    wide.dtype = "f64"
    return wide


def _widen(wide: Builder, b: Builder, x: Value) -> Value:
    return wide.op(f"fpext {b.type('f')} {x.name} to {wide.type('f')}", "f")


def _narrow(b: Builder, wide: Builder, x: Value) -> Value:
    """Float or integer lanes of a wide builder in the type of `b`."""
    cut = "fptrunc" if x.kind == "f" else "trunc"
    return b.op(f"{cut} {wide.type(x.kind)} {x.name} to {b.type(x.kind)}", x.kind)


def _lane_by_lane(b: Builder, function: str, args: list[Value], kinds: str) -> list[Value]:
    """Call a scalar float64 function that returns a struct of `kinds` on every lane; for cold paths.

    The lanes are taken apart in a function of its own, so that a cold path is one call however often it occurs.
    """
    struct = "{" + ", ".join(b.type(k) for k in kinds) + "}"
    name = f"{function}.{b.suffix}"
    if not b.module.has(name):
        b.module.add(name, _lanes_function(Builder(b.module, b.width, b.dtype), name, function, len(args), kinds))
    operands = ", ".join(f"{b.type('f')} {a.name}" for a in args)
    got = b.op(f"call {struct} @{name}({operands})", "f")
    return [b.op(f"extractvalue {struct} {got.name}, {i}", k) for i, k in enumerate(kinds)]


def _lanes_function(b: Builder, name: str, function: str, arity: int, kinds: str) -> str:
    scalar = {"f": "double", "i": "i64"}
    one = "{" + ", ".join(scalar[k] for k in kinds) + "}"
    struct = "{" + ", ".join(b.type(k) for k in kinds) + "}"
    out = ["poison"] * len(kinds)
    for lane in range(b.width):
        given = [f"%a{i}" for i in range(arity)]
        if b.width > 1:
            given = [b.op(f"extractelement {b.type('f')} {a}, i32 {lane}", "f").name for a in given]
        got = b.op(f"call {one} @{function}({', '.join(f'double {a}' for a in given)})", "f").name
        for i, k in enumerate(kinds):
            part = b.op(f"extractvalue {one} {got}, {i}", k).name
            if b.width > 1:
                part = b.op(f"insertelement {b.type(k)} {out[i]}, {scalar[k]} {part}, i32 {lane}", k).name
            out[i] = part
    result = "poison"
    for i, k in enumerate(kinds):
        result = b.op(f"insertvalue {struct} {result}, {b.type(k)} {out[i]}, {i}", "f").name
    arguments = ", ".join(f"{b.type('f')} %a{i}" for i in range(arity))
    head = f"define internal {struct} @{name}({arguments}) noinline {{"
    return "\n".join([head, *b.lines, f" ret {struct} {result}", "}"])


def _fast_two_sum(a: Value, c: Value) -> Pair:
    """a + c exactly, if |a| >= |c| or a is a multiple of the last bit of c."""
    total = a + c
    return total, (a - total) + c


def _two_sum(a: Value, c: Value) -> Pair:
    """a + c exactly, whatever their order."""
    total = a + c
    part = total - a
    return total, (a - (total - part)) + (c - part)


def _clamp(b: Builder, x: Value, low: float, high: float) -> Value:
    """x within [low, high]; NaN stays."""
    x = b.select(x < low, low, x)
    return b.select(x > high, high, x)


def _rough_reciprocal(b: Builder, x: Value) -> Value:
    """1/x within 6 %, 0 <= x < 2**1000, in one subtraction: enough to correct for a residual of half an ulp."""
    return b.from_bits(0x7FDE623822FC16E6 - b.bits(x))


def _quotient(b: Builder, n: Pair | Value, d: Pair) -> Pair:
    """n/d to about twice the working precision, with one division."""
    n_hi, n_lo = n if isinstance(n, tuple) else (n, None)
    d_hi, d_lo = d
    w = 1.0 / d_hi
    q = n_hi * w
    rest = b.fma(-q, d_hi, n_hi)
    if n_lo is not None:
        rest = rest + n_lo
    return q, b.fma(-q, d_lo, rest) * w


# --- sine, cosine, tangent ----------------------------------------------------------------------

# x - n pi/2 with pi/2 in parts: the first has all bits, n times the second is exact below the limit. `sin` and `cos`
# are the polynomials of (r - sin r)/r**3 and (cos r - 1 + r**2/2)/r**4 in r**2.
_TRIG = {
    "f64": {
        "limit": 2.0**26,
        "round": _ROUND,
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

# x = m 2**e: the digits of 2/pi that make multiples of 4 with m 2**e are skipped, the next 192 times m are the quadrant
# (two bits) and the fraction, known to 2**-137 while no float64 comes closer than 2**-62 to a multiple of pi/2.
_PAYNE_HANEK = f"""define internal {{double, double, i64}} @adjoint.reduce(double %x) noinline {{
 %bits = bitcast double %x to i64
 %minus = lshr i64 %bits, 63
 %magnitude = and i64 %bits, {2**63 - 1}
 %exponent = lshr i64 %magnitude, 52
 %fraction = and i64 %bits, {2**52 - 1}
 %m = or i64 %fraction, {2**52}
 %skip = sub i64 2101, %exponent
 %skip.wide = zext i64 %skip to i1216
 %digits = lshr i1216 {_TWO_OVER_PI}, %skip.wide
 %window = trunc i1216 %digits to i192
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
    """x = q pi/2 + r - e with |r| <= pi/4 nearly and e the rounding error of r; q is an integer, known modulo 4."""
    k = _TRIG[b.dtype]
    first, second, third = k["parts"]
    t = b.fma(x, 1 / _PI_2, k["round"])
    n = t - k["round"]
    r1 = b.fma(n, -first, x)  # exact
    r = b.fma(n, -second, r1)
    e = b.fma(n, third, b.fma(n, second, r - r1))  # the inner part is exact
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
    """The same by Payne and Hanek's method."""
    b.module.add("llvm.ctlz.i192", "declare i192 @llvm.ctlz.i192(i192, i1)")
    b.module.add("llvm.fma.f64", "declare double @llvm.fma.f64(double, double, double)")
    b.module.add("adjoint.reduce", _PAYNE_HANEK)
    return _lane_by_lane(b, "adjoint.reduce", [x], "ffi")


def _wide_quarter_turns(b: Builder, x: Value) -> list[Value]:
    """The same for float32 lanes in float64."""
    wide = _wide(b)
    r64, e64, q = _quarter_turns(wide, _widen(wide, b, x))
    b.block = wide.block
    r = _narrow(b, wide, r64)
    return [r, _narrow(b, wide, _widen(wide, b, r) - r64 + e64), _narrow(b, wide, q)]


def _sin_tail(b: Builder, r: Value, e: Value) -> Pair:
    """(t, z) with sin(r - e) = r - t and z = (r - e)**2."""
    z = b.fma(r, r, r * (e * -2.0))
    return b.fma(r * z, b.poly(z, _TRIG[b.dtype]["sin"]), e), z


def sincos(b: Builder, x: Value) -> Pair:
    """Sine and cosine: Cody-Waite reduction with FMA, or Payne-Hanek far out, then fdlibm's two kernels; 0.9 ulp."""
    k = _TRIG[b.dtype]
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


@_in_double
def tan(b: Builder, x: Value) -> Value:
    """Tangent: the quotient of sine and cosine, both in two parts; 1.0 ulp."""
    r, e, q = _quarter_turns(b, x)
    t, z = _sin_tail(b, r, e)
    s = _fast_two_sum(r, -t)
    w = b.fma(z, -0.5, 1.0)
    c = _fast_two_sum(w, b.fma(z * z, b.poly(z, _TRIG["f64"]["cos"]), b.fma(z, -0.5, 1.0 - w)))
    odd = (q & 1) != 0
    n = b.select(odd, -c[0], s[0]), b.select(odd, -c[1], s[1])
    d = b.select(odd, s[0], c[0]), b.select(odd, s[1], c[1])
    hi, lo = _quotient(b, n, d)
    return b.select(x == 0.0, x, hi + lo)


# --- inverse circular functions -----------------------------------------------------------------

# (asin s - s)/s**3 in s**2 up to 1/4, and (atan t - t)/t**3 in t**2 up to 1.
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
    """base + (t + low) + t z p(z), where base stands for the exact multiple of pi/2 nearest to it."""
    total, rest = _fast_two_sum(base, t)
    return total + b.fma(t * z, b.poly(z, coefficients), b.fma(base, _PI_REST, low) + rest)


def _asin_argument(b: Builder, x: Value) -> tuple[Value, Value, Value, Value]:
    """(outer, s, low, z): s = x inside |x| <= 1/2, s + low = sqrt((1 - |x|)/2) outside, and z its square."""
    size = b.abs(x)
    outer = size > 0.5
    z = b.select(outer, b.fma(size, -0.5, 0.5), x * x)
    root = b.sqrt(z)
    low = b.fma(-root, root, z) * (_rough_reciprocal(b, root) * 0.5)
    return outer, b.select(outer, root, x), b.select(outer, low, 0.0), z


@_in_double
def asin(b: Builder, x: Value) -> Value:
    """Arc sine: a polynomial inside 1/2, pi/2 - 2 asin sqrt((1 - |x|)/2) outside; 0.6 ulp."""
    outer, s, low, z = _asin_argument(b, b.abs(x))
    factor = b.select(outer, b.const(-2.0), 1.0)
    base = b.select(outer, b.const(_PI_2), 0.0)
    return b.copysign(_angle(b, base, factor * s, factor * low, z, _ASIN), x)


@_in_double
def acos(b: Builder, x: Value) -> Value:
    """Arc cosine: pi/2 - asin x inside 1/2, 2 asin sqrt((1 - |x|)/2) or its supplement outside; 0.6 ulp."""
    outer, s, low, z = _asin_argument(b, x)
    right = x > 0.0
    factor = b.select(outer, b.select(right, b.const(2.0), -2.0), -1.0)
    base = b.select(outer, b.select(right, b.const(0.0), 2 * _PI_2), _PI_2)
    return _angle(b, base, factor * s, factor * low, z, _ASIN)


def _atan_quotient(b: Builder, a: Value, c: Value, base: Value, back: Value) -> Value:
    """base + atan(a/c), or minus it where `back`, for 0 <= a <= c, a finite, c > 0."""
    t = a / c
    low = b.select(c < 2.0**1000, b.fma(-t, c, a) * _rough_reciprocal(b, c), 0.0)  # what the division rounded off
    return _angle(b, base, b.select(back, -t, t), b.select(back, -low, low), t * t, _ATAN)


@_in_double
def atan(b: Builder, x: Value) -> Value:
    """Arc tangent: a polynomial inside 1, pi/2 - atan(1/|x|) outside; 1.2 ulp."""
    size = b.abs(x)
    outer = size > 1.0
    a, c = b.select(outer, 1.0, size), b.select(outer, size, 1.0)
    return b.copysign(_atan_quotient(b, a, c, b.select(outer, b.const(_PI_2), 0.0), outer), x)


@_in_double
def atan2(b: Builder, y: Value, x: Value) -> Value:
    """Angle of the point (x, y): atan of the smaller over the larger coordinate, put into its octant; 1.5 ulp."""
    across, up = b.abs(x), b.abs(y)
    steep = up > across
    a, c = b.select(steep, across, up), b.select(steep, up, across)
    both = (a == inf) & (c == inf)
    a, c = b.select(both, 1.0, a), b.select(both | (c == 0.0), 1.0, c)
    left = b.bits(x) < 0
    base = b.select(steep, b.const(_PI_2), b.select(left, b.const(2 * _PI_2), 0.0))
    return b.copysign(_atan_quotient(b, a, c, base, steep ^ left), y)


# --- exponentials -------------------------------------------------------------------------------

# (exp r - 1 - r)/r**2 for |r| <= ln(2)/2. `round` leaves n + bias in the low bits, the sum of two biased exponents.
_EXP = {
    "f64": {
        "range": (-746.0, 710.0),
        "round": _ROUND + 2046.0,
        "ln2": _LN2,
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
_EXP_POLY = _EXP["f64"]["poly"]
# (2**r - 1 - r ln 2)/r**2 for |r| <= 1/2; (sinh r - r)/r**3 and (cosh r - 1 - r**2/2)/r**4 in r**2 for |r| <= ln(2)/2
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


def _scaled(b: Builder, y: Value, t: Value) -> Value:
    """y 2**n with n + bias in the low bits of t, in two factors so that the only rounding is that of the result."""
    shift = _EXP[b.dtype]["shift"]
    k = b.bits(t)
    half = (k >> 1) << shift
    return y * b.from_bits(half) * b.from_bits((k << shift) - half)


def exp(b: Builder, x: Value) -> Value:
    """Exponential: 2**n exp(r), |r| <= ln(2)/2, exp(r) = 1 + r + r**2 p(r); 1.0 ulp."""
    k = _EXP[b.dtype]
    x = _clamp(b, x, *k["range"])
    t = b.fma(x, _LOG2_E[0], k["round"])
    n = t - k["round"]
    r = b.fma(n, -k["ln2"][1], b.fma(n, -k["ln2"][0], x))
    return _scaled(b, b.fma(r * r, b.poly(r, k["poly"]), r) + 1.0, t)


@_in_double
def exp2(b: Builder, x: Value) -> Value:
    """Power of two: 2**n 2**r, |r| <= 1/2; 0.8 ulp."""
    x = _clamp(b, x, -1076.0, 1025.0)
    round_ = _EXP["f64"]["round"]
    t = x + round_
    r = x - (t - round_)
    p = r * _LN2[0]
    one, rest = _fast_two_sum(b.const(1.0), p)
    rest = b.fma(r, _LN2[1], b.fma(r, _LN2[0], -p)) + rest
    return _scaled(b, one + b.fma(r * r, b.poly(r, _EXP2), rest), t)


def _powers(b: Builder, x: Value, bias: float) -> tuple[Value, Value, Value]:
    """(t, r, e) with x = n ln 2 + r + e, |r| <= ln(2)/2, and n + bias in the low bits of t."""
    t = b.fma(x, _LOG2_E[0], _ROUND + bias)
    n = t - (_ROUND + bias)
    r1 = b.fma(n, -_LN2[0], x)  # exact
    r = b.fma(n, -_LN2[1], r1)
    return t, r, b.fma(n, -_LN2[1], r1 - r)


@_in_double
def expm1(b: Builder, x: Value) -> Value:
    """exp(x) - 1 as 2 ((s - 1/2) + s (exp(r) - 1)), s = 2**(n-1); 1.1 ulp."""
    t, r, e = _powers(b, _clamp(b, x, -40.0, 710.0), 1022.0)
    s = b.from_bits(b.bits(t) << 52)
    start, start_lo = _fast_two_sum(s, b.const(-0.5))
    hi = b.fma(s, r, start)
    lo = b.fma(s, r, start - hi) + start_lo
    half = hi + b.fma(s, b.fma(r * r, b.poly(r, _EXP_POLY), e), lo)
    return b.select(b.abs(x) < 2.0**-54, x, half + half)


def _hyperbolic(b: Builder, x: Value) -> tuple[Pair, Pair]:
    """Halves of sinh x and cosh x in two parts each, x >= 0, by the addition theorem at x = n ln 2 + r."""
    t, r, e = _powers(b, x, 1021.0)
    up = b.from_bits(b.bits(t) << 52)  # 2**(n-2)
    down = b.select(x > 40.0, 0.0, b.from_bits((2042 << 52) - b.bits(up)))  # 2**(-n-2)
    s0, s0_lo = _fast_two_sum(up, -down)
    c0, c0_lo = _fast_two_sum(up, down)
    z = r * r
    s = b.fma(r * z, b.poly(z, _SINH), e)  # sinh r - r
    c = z * b.fma(z, b.poly(z, _COSH), 0.5)  # cosh r - 1
    s_hi, c_hi = b.fma(c0, r, s0), b.fma(s0, r, c0)
    s_lo = b.fma(c0, r, s0 - s_hi) + b.fma(c0, s, b.fma(s0, c, s0_lo))
    c_lo = b.fma(s0, r, c0 - c_hi) + b.fma(s0, s, b.fma(c0, c, c0_lo))
    return _fast_two_sum(s_hi, s_lo), _fast_two_sum(c_hi, c_lo)


@_in_double
def sinh(b: Builder, x: Value) -> Value:
    """Hyperbolic sine; 0.9 ulp."""
    (half, _), _ = _hyperbolic(b, _clamp(b, b.abs(x), 0.0, 710.6))
    return b.select(b.abs(x) < 2.0**-28, x, b.copysign(half + half, x))


@_in_double
def cosh(b: Builder, x: Value) -> Value:
    """Hyperbolic cosine; 0.8 ulp."""
    _, (half, _) = _hyperbolic(b, _clamp(b, b.abs(x), 0.0, 710.6))
    return half + half


@_in_double
def tanh(b: Builder, x: Value) -> Value:
    """Hyperbolic tangent, the quotient of the two; 1.0 ulp."""
    hi, lo = _quotient(b, *_hyperbolic(b, _clamp(b, b.abs(x), 0.0, 20.0)))
    return b.select(b.abs(x) < 2.0**-28, x, b.copysign(hi + lo, x))


# --- logarithms -----------------------------------------------------------------------------------

# All are k ln 2 + 2 atanh(n/d), with n and d exact in two parts. The polynomial is (atanh s - s)/s**3 in s**2 for
# |s| <= 0.2; the long one is ((atanh s - s)/s**3 - 1/3)/s**2 for |s| <= 0.172.
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
_ATANH_LONG = (
    0.05998789518141125,
    0.05836894519643438,
    0.0666818409140971,
    0.07692277775058275,
    0.09090909444849568,
    0.11111111108689131,
    0.1428571428572288,
    0.19999999999999987,
)
_THIRD = 0.3333333333333333, 1.850371707708594e-17


def _exponent(b: Builder, x: Value) -> tuple[Value, Value]:
    """(k, m) with x = m 2**k, sqrt(1/2) <= m < sqrt(2) nearly, for finite x > 0."""
    tiny = x < 2.0**-1022
    i = b.bits(b.select(tiny, x * 2.0**54, x)) + (_ONE - _SPLIT)
    bias = b.select(tiny, b.const(2.0**52 + 1023 + 54), 2.0**52 + 1023)
    return b.from_bits((i >> 52) | _INTEGER) - bias, b.from_bits((i & (2**52 - 1)) + _SPLIT)


def _log_quotient(b: Builder, n: Pair | Value, d: Pair) -> Pair:
    """log((d + n)/(d - n)) = 2 atanh(n/d)."""
    s, rest = _quotient(b, n, d)
    z = s * s
    twice = s + s
    return twice, b.fma(twice * z, b.poly(z, _ATANH), rest + rest)


def _log_parts(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """(k, hi, lo) with log x = k ln 2 + hi + lo."""
    k, m = _exponent(b, x)
    d = m + 1.0
    return (k, *_log_quotient(b, m - 1.0, (d, m - (d - 1.0))))


def _with_exponent(b: Builder, k: Value, unit: tuple[float, float], hi: Value, lo: Value) -> Value:
    """k unit + hi + lo."""
    total, rest = _fast_two_sum(k * unit[0], hi)
    return total + (b.fma(k, unit[1], lo) + rest)


def _log_domain(b: Builder, x: Value, y: Value, zero: float = 0.0) -> Value:
    """y, or what a logarithm is at its pole x = zero, beyond it, at infinity and NaN."""
    y = b.select(x < inf, y, x)
    return b.select(x > zero, y, b.select(x == zero, b.const(-inf), nan))


@_in_double
def log(b: Builder, x: Value) -> Value:
    """Natural logarithm; 0.6 ulp."""
    k, hi, lo = _log_parts(b, x)
    return _log_domain(b, x, _with_exponent(b, k, _LN2_SHORT, hi, lo))


def _log_to_base(b: Builder, x: Value, factor: tuple[float, float], unit: tuple[float, float]) -> Value:
    """log(x) times a factor in two parts, the same factor of ln 2 being `unit`."""
    k, hi, lo = _log_parts(b, x)
    p = hi * factor[0]
    rest = b.fma(lo, factor[0], b.fma(hi, factor[1], b.fma(hi, factor[0], -p)))
    return _log_domain(b, x, _with_exponent(b, k, unit, p, rest))


@_in_double
def log2(b: Builder, x: Value) -> Value:
    """Logarithm to base 2, exact for powers of two; 0.6 ulp."""
    return _log_to_base(b, x, _LOG2_E, (1.0, 0.0))


@_in_double
def log10(b: Builder, x: Value) -> Value:
    """Logarithm to base 10, exact for powers of ten; 0.6 ulp."""
    return _log_to_base(b, x, _LOG10_E, _LOG10_2_SHORT)


def _log1p(b: Builder, x: Value, low: Value | None = None, doublings: Value | None = None) -> Value:
    """log(1 + x + low) + doublings * ln 2, for finite x > -1."""
    huge = x > 2.0**200  # where the one does not matter; keeps g below normal
    x = b.select(huge, x * 2.0**-100, x)
    k, _ = _exponent(b, x + 1.0)
    g = b.from_bits(b.bits(_ROUND + 1023.0 - k) << 52)  # 2**-k
    scaled = x * g
    n_hi, n_lo = _fast_two_sum(g - 1.0, scaled)
    d_hi, d_lo = _fast_two_sum(g + 1.0, scaled)
    if low is not None:
        n_lo, d_lo = b.fma(low, g, n_lo), b.fma(low, g, d_lo)
    hi, lo = _log_quotient(b, (n_hi, n_lo), (d_hi, d_lo))
    k = k + b.select(huge, b.const(100.0), 0.0)
    return _with_exponent(b, k if doublings is None else k + doublings, _LN2_SHORT, hi, lo)


@_in_double
def log1p(b: Builder, x: Value) -> Value:
    """log(1 + x); 0.6 ulp."""
    y = b.select(b.abs(x) < 2.0**-54, x, _log1p(b, x))
    return _log_domain(b, x, y, -1.0)


def _root(b: Builder, hi: Value, lo: Value) -> Pair:
    """sqrt(hi + lo) in two parts; hi = 0 gives 0."""
    s = b.sqrt(hi)
    rest = b.fma(-s, s, hi) + lo
    return s, b.select(hi > 0.0, rest * 0.5 / s, 0.0)


@_in_double
def asinh(b: Builder, x: Value) -> Value:
    """Inverse hyperbolic sine: log1p(|x| + (sqrt(x**2 + 1) - 1)), or log(2 |x|) far out; 0.6 ulp."""
    size = b.abs(x)
    far = size > 2.0**60
    a = b.select(far, 1.0, size)
    square = a * a
    inside = a < 1.0
    large, small = b.select(inside, b.const(1.0), square), b.select(inside, square, 1.0)
    hi, lo = _fast_two_sum(large, small)
    s, s_lo = _root(b, hi, lo + b.fma(a, a, -square))
    near, near_lo = _fast_two_sum(a, s - 1.0)
    low = b.select(far, 0.0, near_lo + s_lo)
    y = _log1p(b, b.select(far, size, near), low, b.select(far, b.const(1.0), 0.0))
    return b.select((size < 2.0**-28) | ~(size < inf), x, b.copysign(y, x))


@_in_double
def acosh(b: Builder, x: Value) -> Value:
    """Inverse hyperbolic cosine: log1p(u + sqrt(u**2 + 2 u)), u = x - 1, or log(2 x) far out; 0.6 ulp."""
    far = x > 2.0**60
    u = b.select(far, 1.0, x - 1.0)
    square, double = u * u, u + u
    low_half = u < 2.0
    large, small = b.select(low_half, double, square), b.select(low_half, square, double)
    hi, lo = _fast_two_sum(large, small)
    s, s_lo = _root(b, hi, lo + b.fma(u, u, -square))
    near, near_lo = _fast_two_sum(s, u)
    low = b.select(far, 0.0, near_lo + s_lo)
    y = _log1p(b, b.select(far, x, near), low, b.select(far, b.const(1.0), 0.0))
    return b.select(x < 1.0, nan, b.select(x < inf, y, x))


@_in_double
def atanh(b: Builder, x: Value) -> Value:
    """Inverse hyperbolic tangent: half the logarithm of (1 + |x|)/(1 - |x|); 0.6 ulp."""
    size = b.abs(x)
    n, n_lo = _fast_two_sum(b.const(1.0), size)
    d, d_lo = _fast_two_sum(b.const(1.0), -size)
    # the difference of their bits is, nearly enough, the logarithm of the quotient: its nearest integer is k
    k = (b.bits(n) - b.bits(d) + (1 << 51)) >> 52
    scale = b.from_bits((k << 52) + _ONE)
    d, d_lo = d * scale, d_lo * scale
    below, below_lo = _two_sum(d, n)
    hi, lo = _log_quotient(b, (n - d, n_lo - d_lo), (below, below_lo + (n_lo + d_lo)))
    y = 0.5 * _with_exponent(b, b.from_bits(k | _INTEGER) - 2.0**52, _LN2_SHORT, hi, lo)
    y = b.select(size < 1.0, y, b.select(size == 1.0, b.const(inf), nan))
    return b.copysign(y, x)


# --- powers ---------------------------------------------------------------------------------------


def _log_long(b: Builder, x: Value) -> Pair:
    """log x to about 65 bits, for finite x > 0."""
    k, m = _exponent(b, x)
    d = m + 1.0
    s, s_lo = _quotient(b, m - 1.0, (d, m - (d - 1.0)))
    z = s * s
    z_lo = b.fma(s + s, s_lo, b.fma(s, s, -z))
    w, w_lo = _fast_two_sum(b.const(_THIRD[0]), z * b.poly(z, _ATANH_LONG))
    cube = s * z
    cube_lo = b.fma(s_lo, z, b.fma(s, z_lo, b.fma(s, z, -cube)))
    t = cube * w
    t_lo = b.fma(cube_lo, w, b.fma(cube, w_lo + _THIRD[1], b.fma(cube, w, -t)))
    hi, lo1 = _fast_two_sum(k * _LN2_SHORT[0], s + s)
    hi, lo2 = _fast_two_sum(hi, t + t)
    return _fast_two_sum(hi, b.fma(k, _LN2_SHORT[1], (s_lo + t_lo) * 2.0) + lo1 + lo2)


def _exp_long(b: Builder, x: Value, low: Value) -> Value:
    """exp(x + low)."""
    t, r, e = _powers(b, _clamp(b, x, -746.0, 710.0), 2046.0)
    r, e = _fast_two_sum(r, e + low)
    one, rest = _fast_two_sum(b.const(1.0), r)
    return _scaled(b, one + (b.fma(r * r, b.poly(r, _EXP_POLY), e) + rest), t)


@_in_double
def pow(b: Builder, x: Value, y: Value) -> Value:
    """x**y as exp(y log|x|) with the logarithm in two parts, and the special cases of C99; 0.8 ulp."""
    size = b.abs(x)
    log_hi, log_lo = _log_long(b, size)
    log_hi = b.select(size == 0.0, -inf, b.select(size == inf, inf, log_hi))
    times = _clamp(b, y, -(2.0**70), 2.0**70)  # beyond, the result is 0, 1 or infinite already
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


# m**(-1/3) for 1 <= m < 2, to 17 bits
_CBRT = (
    -0.017019102310558663,
    0.1560721391052549,
    -0.5978746644101313,
    1.2437884600845073,
    -1.5660309324835027,
    1.7810583517375091,
)


@_in_double
def cbrt(b: Builder, x: Value) -> Value:
    """Cube root: a polynomial and a Halley step for the inverse root, then one Newton step; 0.5 ulp."""
    size = b.abs(x)
    tiny = size < 2.0**-1022
    i = b.bits(b.select(tiny, size * 2.0**54, size))
    k = b.from_bits((i >> 52) | _INTEGER) - b.select(tiny, b.const(2.0**52 + 1023 + 54), 2.0**52 + 1023)
    third = b.rint(k * (1 / 3))
    left = b.fma(third, -3.0, k)  # -1, 0 or 1
    up, down = left > 0.0, left < 0.0
    m = b.from_bits((i & (2**52 - 1)) + _ONE)
    r = b.poly(m, _CBRT) * b.select(up, b.const(2 ** (-1 / 3)), b.select(down, b.const(2 ** (1 / 3)), 1.0))
    m = m * b.select(up, b.const(2.0), b.select(down, b.const(0.5), 1.0))
    h = b.fma(-(m * r), r * r, 1.0)
    r = b.fma(r * h, b.fma(h, 2 / 9, 1 / 3), r)
    root = m * r * r
    square = root * root
    rest = b.fma(-root, square, m) - root * b.fma(root, root, -square)
    root = b.fma(rest, r * r * (1 / 3), root)
    root = root * b.from_bits(b.bits(third + (_ROUND + 1023.0)) << 52)
    return b.select((size > 0.0) & (size < inf), b.copysign(root, x), x)


@_in_double
def hypot(b: Builder, x: Value, y: Value) -> Value:
    """sqrt(x**2 + y**2) without overflow, the sum in two parts; 0.8 ulp."""
    x, y = b.abs(x), b.abs(y)
    a, c = b.select(y > x, y, x), b.select(y > x, x, y)
    big, small = a > 2.0**500, a < 2.0**-400
    scale = b.select(big, b.const(2.0**-600), b.select(small, b.const(2.0**600), 1.0))
    back = b.select(big, b.const(2.0**600), b.select(small, b.const(2.0**-600), 1.0))
    a, c = a * scale, c * scale
    a2, c2 = a * a, c * c
    hi, lo = _fast_two_sum(a2, c2)
    s = b.sqrt(hi)
    rest = b.fma(-s, s, hi) + (lo + b.fma(a, a, -a2) + b.fma(c, c, -c2))
    root = b.fma(rest, _rough_reciprocal(b, s) * 0.5, s) * back
    return b.select((x == inf) | (y == inf), inf, root)


# --- remainder, rounding, comparison ----------------------------------------------------------------

# Long division of the significands, eleven bits at a time; x >= y > 0, both finite.
_LONG_DIVISION = f"""define internal {{double}} @adjoint.fmod(double %x, double %y) noinline {{
entry:
 %xb = bitcast double %x to i64
 %yb = bitcast double %y to i64
 %xf = lshr i64 %xb, 52
 %yf = lshr i64 %yb, 52
 %xm = and i64 %xb, {2**52 - 1}
 %ym = and i64 %yb, {2**52 - 1}
 %xn = or i64 %xm, {2**52}
 %yn = or i64 %ym, {2**52}
 %xsub = icmp eq i64 %xf, 0
 %ysub = icmp eq i64 %yf, 0
 %mx = select i1 %xsub, i64 %xm, i64 %xn
 %my = select i1 %ysub, i64 %ym, i64 %yn
 %ex = call i64 @llvm.umax.i64(i64 %xf, i64 1)
 %ey = call i64 @llvm.umax.i64(i64 %yf, i64 1)
 %digits = sub i64 %ex, %ey
 %first = urem i64 %mx, %my
 br label %loop
loop:
 %left = phi i64 [%digits, %entry], [%less, %step]
 %r = phi i64 [%first, %entry], [%next, %step]
 %done = icmp eq i64 %left, 0
 br i1 %done, label %end, label %step
step:
 %take = call i64 @llvm.umin.i64(i64 %left, i64 11)
 %less = sub i64 %left, %take
 %more = shl i64 %r, %take
 %next = urem i64 %more, %my
 br label %loop
end:
 %units = uitofp i64 %r to double
 %least = fmul double %units, 0x0000000000000001
 %e = sub i64 %ey, 1
 %e1 = lshr i64 %e, 1
 %e2 = sub i64 %e, %e1
 %f1 = add i64 %e1, 1023
 %f2 = add i64 %e2, 1023
 %s1b = shl i64 %f1, 52
 %s2b = shl i64 %f2, 52
 %s1 = bitcast i64 %s1b to double
 %s2 = bitcast i64 %s2b to double
 %up = fmul double %least, %s1
 %result = fmul double %up, %s2
 %out = insertvalue {{double}} poison, double %result, 0
 ret {{double}} %out
}}"""


@_in_double
def fmod(b: Builder, x: Value, y: Value) -> Value:
    """C's remainder, exact: one fused step while the quotient fits 53 bits, long division beyond."""
    a, d = b.abs(x), b.abs(y)
    quotient = a / d
    usual = b.fma(-b.trunc(quotient), d, a)
    usual = b.select(usual < 0.0, usual + d, usual)  # the quotient was rounded up to an integer
    usual = b.select(d == inf, a, usual)
    far = (quotient >= 2.0**53) & (a < inf) & (d > 0.0)

    def divide_far() -> list[Value]:
        b.module.add("llvm.umax.i64", "declare i64 @llvm.umax.i64(i64, i64)")
        b.module.add("llvm.umin.i64", "declare i64 @llvm.umin.i64(i64, i64)")
        b.module.add("adjoint.fmod", _LONG_DIVISION)
        one = b.const(1.0)
        (exact,) = _lane_by_lane(b, "adjoint.fmod", [b.select(far, a, one), b.select(far, d, one)], "f")
        return [b.select(far, exact, usual)]

    (r,) = b.rarely(far, [usual], divide_far)
    r = b.select((a < inf) & (d > 0.0), r, nan)
    return b.copysign(b.select(y != y, y, r), x)


def sign(b: Builder, x: Value) -> Value:
    """-1, 0 or 1; NaN for NaN."""
    return b.select((x < 0.0) | (x > 0.0), b.copysign(1.0, x), b.abs(x))


def minimum(b: Builder, x: Value, y: Value) -> Value:
    """The smaller; NaN if either is."""
    return b.select(x != x, x, b.select(x < y, x, y))


def maximum(b: Builder, x: Value, y: Value) -> Value:
    """The larger; NaN if either is."""
    return b.select(x != x, x, b.select(x > y, x, y))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "exp": exp,
    "expm1": expm1,
    "exp2": exp2,
    "log": log,
    "log1p": log1p,
    "log2": log2,
    "log10": log10,
    "pow": pow,
    "fmod": fmod,
    "hypot": hypot,
    "cbrt": cbrt,
    "sqrt": Builder.sqrt,
    "floor": Builder.floor,
    "ceil": Builder.ceil,
    "trunc": Builder.trunc,
    "rint": Builder.rint,
    "abs": Builder.abs,
    "sign": sign,
    "copysign": Builder.copysign,
    "minimum": minimum,
    "maximum": maximum,
}
