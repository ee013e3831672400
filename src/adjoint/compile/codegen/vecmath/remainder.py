"""Remainder, sign and extrema."""

from __future__ import annotations

from math import inf, nan

from ..ir import Builder, Value
from .common import in_double, lane_by_lane

# --- remainder, rounding, comparison ----------------------------------------------------------------

# The exact remainder of x >= y > 0, both finite, by long division of the significands, eleven bits at a time.
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


@in_double
def fmod(b: Builder, x: Value, y: Value) -> Value:
    """C's remainder, exact: one fused step while the quotient fits into 53 bits, long division beyond that."""
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
        (exact,) = lane_by_lane(b, "adjoint.fmod", [b.select(far, a, one), b.select(far, d, one)], "f")
        return [b.select(far, exact, usual)]

    (r,) = b.rarely(far, [usual], divide_far)
    r = b.select((a < inf) & (d > 0.0), r, nan)
    return b.copysign(b.select(y != y, y, r), x)


def sign(b: Builder, x: Value) -> Value:
    """-1, 0 or 1; NaN for NaN."""
    return b.select((x < 0.0) | (x > 0.0), b.copysign(1.0, x), b.abs(x))


def minimum(b: Builder, x: Value, y: Value) -> Value:
    """The smaller of x and y; NaN if either is NaN."""
    return b.select(x != x, x, b.select(x < y, x, y))


def maximum(b: Builder, x: Value, y: Value) -> Value:
    """The larger of x and y; NaN if either is NaN."""
    return b.select(x != x, x, b.select(x > y, x, y))
