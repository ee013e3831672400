"""Steps that several functions share: wider lanes, numbers in two parts, and single lanes for rare cases."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps

from ..ir import Builder, Value

Pair = tuple[Value, Value]

ONE = 0x3FF << 52  # the bits of 1.0
SPLIT = 0x3FE6A09E << 32  # the bits of sqrt(1/2), nearly
# The bits of 2**52. Combined (or) with an integer below 2**52, they are the float 2**52 + integer.
INTEGER = 0x433 << 52
ROUND = 1.5 * 2.0**52  # Added to a float of moderate size, it leaves the nearest integer in the low bits.

LN2 = 0.6931471805599453, 2.3190468138462996e-17
# The first part has few bits, so that its product with any exponent is exact.
LN2_SHORT = 0.6931471805601177, -1.7239444525614835e-13
LOG10_2_SHORT = 0.3010299956640665, -8.532344317057107e-14
LOG2_E = 1.4426950408889634, 2.0355273740931033e-17
LOG10_E = 0.4342944819032518, 1.098319650216765e-17
PI_2 = 1.5707963267948966
PI_REST = 3.8981718325193755e-17  # pi is the float64 nearest to it times (1 + PI_REST), to twice the precision.


# --- common steps -------------------------------------------------------------------------------


def in_double(function: Callable[..., Value]) -> Callable[..., Value]:
    """Let a float64 algorithm serve float32 lanes too: they are widened, and the result is rounded once at the end."""

    @wraps(function)
    def either(b: Builder, *args: Value) -> Value:
        if b.dtype == "f64":
            return function(b, *args)
        wide = widened(b)
        result = function(wide, *(widen(wide, b, a) for a in args))
        b.block = wide.block
        return narrow(b, wide, result)

    return either


def widened(b: Builder) -> Builder:
    """Return a float64 builder that continues the same function at the same width."""
    wide = copy(b)
    wide.dtype = "f64"
    return wide


def widen(wide: Builder, b: Builder, x: Value) -> Value:
    """Float32 lanes of `b` as float64 lanes of `wide`."""
    return wide.op(f"fpext {b.type('f')} {x.name} to {wide.type('f')}", "f")


def narrow(b: Builder, wide: Builder, x: Value) -> Value:
    """Float or integer lanes of a wide builder in the type of `b`."""
    cut = "fptrunc" if x.kind == "f" else "trunc"
    return b.op(f"{cut} {wide.type(x.kind)} {x.name} to {b.type(x.kind)}", x.kind)


def lane_by_lane(b: Builder, function: str, args: list[Value], kinds: str) -> list[Value]:
    """Call a scalar float64 function on every lane, for rare cases; `kinds` are those of the values that it returns.

    The lanes are taken apart in a function of its own, so that a rare case is a single call however often it occurs.
    """
    struct = "{" + ", ".join(b.type(k) for k in kinds) + "}"
    name = f"{function}.{b.suffix}"
    if not b.module.has(name):
        b.module.add(name, _lanes_function(Builder(b.module, b.width, b.dtype), name, function, len(args), kinds))
    operands = ", ".join(f"{b.type('f')} {a.name}" for a in args)
    got = b.op(f"call {struct} @{name}({operands})", "f")
    return [b.op(f"extractvalue {struct} {got.name}, {i}", k) for i, k in enumerate(kinds)]


def _lanes_function(b: Builder, name: str, function: str, arity: int, kinds: str) -> str:
    """The IR of the function that calls the scalar function on each lane."""
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


def fast_two_sum(a: Value, c: Value) -> Pair:
    """a + c exactly, in two parts, if |a| >= |c| or if a is a multiple of the last bit of c."""
    total = a + c
    return total, (a - total) + c


def two_sum(a: Value, c: Value) -> Pair:
    """a + c exactly, in two parts, whatever their order."""
    total = a + c
    part = total - a
    return total, (a - (total - part)) + (c - part)


def clamp(b: Builder, x: Value, low: float, high: float) -> Value:
    """x within [low, high]; NaN stays NaN."""
    x = b.select(x < low, low, x)
    return b.select(x > high, high, x)


def rough_reciprocal(b: Builder, x: Value) -> Value:
    """1/x within 6 % for 0 <= x < 2**1000, by one subtraction; that suffices to correct a residual of half an ulp."""
    return b.from_bits(0x7FDE623822FC16E6 - b.bits(x))


def quotient(b: Builder, n: Pair | Value, d: Pair) -> Pair:
    """n/d in two parts, to about twice the working precision, with one division."""
    n_hi, n_lo = n if isinstance(n, tuple) else (n, None)
    d_hi, d_lo = d
    w = 1.0 / d_hi
    q = n_hi * w
    rest = b.fma(-q, d_hi, n_hi)
    if n_lo is not None:
        rest = rest + n_lo
    return q, b.fma(-q, d_lo, rest) * w
