"""Elementary functions as inlined, branch-free SIMD arithmetic.

Every entry of `FUNCTIONS` emits one NumPy function through a `Builder`, at any width, for "f64" and "f32". All of them
keep this contract:

- Results are at most 2 units in the last place (ulp) from the exact value over the *whole* range, with huge arguments,
  subnormal arguments and subnormal results. Most are within 1; each docstring states the worst float64 error seen.
- Signed zeros, infinities, NaN and domain errors are exactly those of NumPy and of C99 Annex F.
- A lane depends on nothing but its own arguments: any width and any position give the same bits.
- The code is self-contained: it makes no calls out, and reads no tables in memory. There are two rare exceptions that
  need long integer arithmetic (huge angles, huge quotients in `fmod`): these go one lane at a time through an internal
  function, outside the usual path.

Most float32 functions widen their lanes and run the float64 algorithm; `sincos` and `exp` have float32 algorithms.

Polynomials are minimax fits made for the ranges given here, and have the classic forms of fdlibm. A number carried in
two parts `hi, lo` means the unevaluated sum hi + lo.
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
