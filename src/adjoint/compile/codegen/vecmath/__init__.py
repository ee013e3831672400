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

from ..ir import Builder, Value
from .circular import acos, asin, atan, atan2, cos, sin, sincos, tan
from .exponential import cosh, exp, exp2, expm1, sinh, tanh
from .logarithm import acosh, asinh, atanh, log, log1p, log2, log10
from .power import cbrt, hypot, pow
from .remainder import fmod, maximum, minimum, sign

__all__ = ["FUNCTIONS", "sincos"]

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
