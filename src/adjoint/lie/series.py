"""The scalar functions in the closed forms of SO(3) and SE(3), accurate at the angle 0 and, where they exist, at π.

All are smooth functions of t², where t is the rotation angle, so that neither values nor derivatives meet √0 or 0/0.
Below a switch they use a Taylor polynomial, above it the closed form. `np.where` evaluates both, so each gets a
harmless operand where it is not selected. Both sides agree with mpmath to a relative error of about 1e-15
(tests/test_so3.py). In float32 the switches are the same: the polynomials are then longer than needed, and the relative
error is a few times 6e-8.

The Stumpff functions are cₙ(t²) = Σₖ (-t²)ᵏ / (2k+n)!:

    c₀ = cos t,  c₁ = sin t / t,  c₂ = (1 - cos t)/t²,  c₃ = (t - sin t)/t³,  ...
    cₙ = 1/n! - t² cₙ₊₂,   dcₙ/d(t²) = (n cₙ₊₂ - cₙ₊₁)/2.

Lemma 4 is that of Park (1994), "Computational aspects of the product-of-exponentials formula ...", IEEE TAC 39(3).
"""

from math import factorial

import numpy as np

__all__ = [
    "cosc",
    "cot_half",
    "cot_half_and_slope",
    "horner",
    "log_scale",
    "log_scales",
    "moderate",
    "norm",
    "sinc",
    "stumpff",
    "unit",
]


def horner(x, coefficients):
    """Return the polynomial Σₖ aₖ xᵏ, where `coefficients` are a₀, a₁, ..."""
    total = coefficients[-1]
    for a in coefficients[-2::-1]:
        total = total * x + a
    return total


def _taylor(term, reach):
    """Return the coefficients (-1)ᵏ term(k), up to the first k with |term(k)| reachᵏ below 1e-17 of |term(0)|."""
    count = next(k for k in range(99) if term(k) * reach**k < 1e-17 * term(0))
    return [(-1) ** k * term(k) for k in range(count)]


# These are values of t². Above t = 2 the closed forms of c₃, c₄ and k lose at most two bits to cancellation; above
# t = 3 so do those of c₅ and c₆, in which terms cancel twice.
_SWITCH = 4.0
_SWITCH_HIGH = 9.0
_STUMPFF = [_taylor(lambda k, n=n: 1 / factorial(2 * k + n), _SWITCH if n < 4 else _SWITCH_HIGH) for n in range(7)]
_COT = _taylor(lambda k: (2 * k + 2) / factorial(2 * k + 4), _SWITCH)  # c₃ - 2 c₄
_ARCTAN_SWITCH = 0.01  # tan²(t/2); only second derivatives suffer from cancellation, so a short polynomial is enough
_ARCTAN = _taylor(lambda k: 1 / (2 * k + 1), _ARCTAN_SWITCH)


def stumpff(t2, last: int) -> tuple:
    """Return (c₀, ..., c_last) at t2 = t² >= 0, for 2 <= last <= 6, with one sine and one cosine, those of t/2."""
    small = t2 < (_SWITCH if last < 5 else _SWITCH_HIGH)
    x = np.where(small, t2, 0.0)
    near = {n: horner(x, _STUMPFF[n]) for n in (last, last - 1)}
    for n in range(last - 2, 0, -1):
        near[n] = 1 / factorial(n) - x * near[n + 2]
    t = np.sqrt(np.where(small, 1.0, t2))
    a = 1 / t
    a2 = a * a
    # Half angles: 1 - cos t = 2 sin²(t/2) keeps its relative accuracy near t = 2π.
    s, c = np.sin(0.5 * t), np.cos(0.5 * t)
    far = {1: 2 * s * c * a, 2: 2 * s * s * a2}
    for n in range(3, last + 1):
        far[n] = (1 / factorial(n - 2) - far[n - 2]) * a2
    selected = [np.where(small, near[n], far[n]) for n in range(1, last + 1)]
    return (1 - t2 * selected[1], *selected)


def sinc(t2):
    """Return sin t / t at t2 = t²."""
    return stumpff(t2, 2)[1]


def cosc(t2):
    """Return (1 - cos t) / t² at t2 = t²."""
    return stumpff(t2, 2)[2]


def cot_half(t2):
    """Return k = (1 - (t/2) cot(t/2)) / t² at t2 = t², for 0 <= t < 2π; Park (1994), Lemma 4.

    k is 1/12 at t = 0 and 1/π² at t = π.
    """
    _, _, c2, c3, c4 = stumpff(t2, 4)
    return (c3 - 2 * c4) / (2 * c2)


def cot_half_and_slope(t2):
    """Return (k, (1/t) dk/dt): `cot_half` k, and twice its derivative by t². They are (1/12, 1/360) at t = 0."""
    _, _, c2, c3, c4, c5, c6 = stumpff(t2, 6)
    half = 0.5 / c2
    return (c3 - 2 * c4) * half, (c5 - 4 * c6) * half


def log_scale(w, n2):
    """Return r = 2 atan(|v|/w) / |v|, so that r v is the rotation vector of the quaternion (w, v); n2 = v·v.

    The quaternion may have any length but zero.
    """
    small = n2 < _ARCTAN_SWITCH * w * w
    n = np.sqrt(np.where(small, 1.0, n2))
    a = 1 / np.where(small, w, n)
    near = horner(n2 * a * a, _ARCTAN)  # at tan²(t/2), or at 1 where it is not selected
    sign = np.where(w < 0, -1.0, 1.0)  # (w, v) and (-w, -v) are one rotation; w = 0 (t = π) counts as positive
    return 2 * a * np.where(small, near, sign * np.arctan2(n, sign * w))


def log_scales(w, n2):
    """Return (r, k): r is `log_scale`, and k is that of `cot_half`.

    k follows from (t/2) cot(t/2) = r w / 2 without another sine or cosine.
    """
    r = log_scale(w, n2)
    r2 = r * r
    t2 = r2 * n2
    small = t2 < _SWITCH
    # k = (c₃ - 2 c₄) / (2 c₂), and 2 c₂ = 4 sin²(t/2) / t² = 4 / (r² (w² + v²)).
    near = horner(np.where(small, t2, 0.0), _COT) * r2 * (0.25 * (w * w + n2))
    return r, np.where(small, near, (1 - 0.5 * r * w) / np.where(small, 1.0, t2))


def moderate(x):
    """Return x, multiplied by a power of 2 if its largest entry is beyond 1e150 or below 1e-140.

    Then x · x is finite, and not 0 unless x is. This serves directions and quaternions of any length in float64. In
    float32 the squares of lengths below 1e-19 or above 1e19 are out of range. The factor is piecewise constant, so
    derivatives do not see it; they need lengths between 1e-75 and 1e75.
    """
    largest = np.max(np.abs(x))
    return x * np.where(largest > 1e150, 2.0**-600, np.where(largest < 1e-140, 2.0**600, 1.0))


def unit(x):
    """Return x / |x| of a vector x of any length but zero."""
    x = moderate(x)
    return x / np.sqrt(np.dot(x, x))


def norm(x):
    """Return |x|; its derivative at x = 0 is 0 instead of NaN."""
    x2 = np.dot(x, x)
    zero = x2 == 0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, x2)))
