"""The general arm with six revolute joints: all of its up to sixteen configurations, by eliminating five angles.

M. Raghavan & B. Roth (1990, "Kinematic analysis of the 6R manipulator of general geometry") write the closure of the
arm for a line: its point p and direction l. The products

    w = (p, l, p·p, p·l, p × l, (p·p) l - 2 (p·l) p)                                                     (14 numbers)

of a line that moves rigidly are linear combinations of those before the move. So SE(3) acts on (w, 1) by matrices, and
a joint's matrix is A_0 + A_1 cos θ + A_2 sin θ. The line d of joint j + 3 is not moved by it, so that

    E_j E_{j+1} E_{j+2} d = (E_0 ··· E_{j-1})⁻¹ T' (E_{j+4} ··· E_5)⁻¹ d

are 14 equations: linear in the 9 products of the cosines and sines of joints j+1 and j+2 on the left, and in 8 such
products on the right, which are eliminated. With half-angle tangents x of joint j+1 and y of joint j+2 the 6 equations
left, taken once as they are and once times x, are 12 linear equations for the 12 products x³y², ..., 1; their
determinant is 0. As a function of θ_j it is a trigonometric polynomial of degree 8. Its 17 coefficients follow from 17
values, and its 16 roots z = exp(i θ_j) are found together (Aberth's method); those on the unit circle are real.

The polynomial is well conditioned where its roots are wanted, on the circle. Newton's method makes them exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile import scan, while_loop
from ..lie import se3
from .axes import Axis, reversed_axis
from .chains import Answer, plain_chain
from .newton import distinct, measured, pose_and_twists, refined
from .subproblems import angle_of, perpendicular, rotated

__all__ = ["Elimination", "elimination", "solve_general"]

ROOTS, SAMPLES = 16, 17
_NEAR_CIRCLE = 0.02  # Newton's method is tried on roots with | |z|² - 1 | below
# The products (1, c, s) ⊗ (1, c, s) times (1 + x²)(1 + y²) as polynomials: rows 1, c, s; columns x², x, 1.
_HALF = np.array([[1.0, 0, 1], [-1, 0, 1], [0, 2, 0]])


class Elimination(NamedTuple):
    """How a general arm is eliminated: the first joint j of the left side, and whether the arm is reversed."""

    first: int
    backward: bool


# --- lines that move --------------------------------------------------------------------------------------------------


def line_products(a: Axis):
    """The products (w, 1) (15,) of an axis."""
    p, l = a.point, a.direction
    return np.concatenate([p, l, [p @ p, p @ l], np.cross(p, l), (p @ p) * l - 2 * (p @ l) * p, [1.0]])


def carried(T, w):
    """The products (15,) of a line after the rigid motion T (4, 4), of those before it; linear in w (15,)."""
    R, t = T[:3, :3], T[:3, 3]
    p, l, pp, pl, m, c, one = w[:3], w[3:6], w[6], w[7], w[8:11], w[11:14], w[14]
    p, l, m, c = R @ p, R @ l, R @ m, R @ c
    tt, tl = t @ t, t @ l
    return np.concatenate(
        [
            p + one * t,
            l,
            np.stack([pp + 2 * (t @ p) + one * tt, pl + tl]),
            m + np.cross(t, l),
            c - 2 * np.cross(t, m) - 2 * pl * t + tt * l - 2 * tl * t,
            np.stack([one]),
        ]
    )


def _joint_matrices(a: Axis) -> np.ndarray:
    """The matrices (3, 15, 15) of 1, cos θ and sin θ in the action of a joint on products."""
    at = []
    for angle in (0.0, np.pi / 2, np.pi):
        R, p, _ = pose_and_twists([a], [angle])
        at.append(np.array([carried(se3.from_rotation_translation(R, p), e) for e in np.eye(15)]).T)
    constant = (at[0] + at[2]) / 2
    return np.array([constant, (at[0] - at[2]) / 2, at[1] - constant])


class _Arm(NamedTuple):
    """An arm as an elimination sees it: the axes, with the matrices of the joints, and those of the joints back."""

    axes: list[Axis]
    forth: list[np.ndarray]
    back: list[np.ndarray]


def _arm(axes: Sequence[Axis]) -> _Arm:
    return _Arm(list(axes), [_joint_matrices(a) for a in axes], [_joint_matrices(reversed_axis(a)) for a in axes])


def _reversed_arm(arm: _Arm) -> _Arm:
    return _Arm([reversed_axis(a) for a in arm.axes[::-1]], arm.back[::-1], arm.forth[::-1])


def _seen_pose(how: Elimination, T):
    """The pose, inverted if the arm is reversed."""
    return se3.inverse(T) if how.backward else T


def _sides(how: Elimination, arm: _Arm, T) -> tuple[np.ndarray, Any]:
    """The left side (3, 14, 9), constants of 1, cos θ_j, sin θ_j; and the right side (14, 9) of the pose."""
    j, d = how.first, line_products(arm.axes[how.first + 3])
    left = np.stack([F @ d for F in arm.forth[j + 2]])  # (k, 15): the products of joint j + 2, then of j + 1, then of j
    left = np.einsum("jab,kb->jka", arm.forth[j + 1], left)
    left = np.einsum("iab,jkb->iajk", arm.forth[j], left)[:, :14]
    left = np.einsum("iajk,jx,ky->iaxy", left, _HALF, _HALF).reshape(3, 14, 9)
    after = d[None]
    for i in range(j + 4, 6):  # (E_{j+4} ··· E_5)⁻¹ d
        after = np.einsum("iab,kb->kia", arm.back[i], after).reshape(-1, 15)
    right = [carried(T, w) for w in after]
    for i in range(j):
        right = [arm.back[i][k] @ w for w in right for k in range(3)]
    # Each of the nine columns is a product of 1, cos, sin of two joints; the first column is constant.
    return left, np.stack([w[:14] for w in right], axis=1)


# --- elimination ------------------------------------------------------------------------------------------------------


def _reflector(x: list) -> tuple[list, Any, Any]:
    """Householder's vector v and factor τ with (1 - τ v vᵀ) x = (r, 0, ..., 0), and r."""
    n2 = sum(e * e for e in x)
    r = -np.copysign(np.sqrt(n2), x[0])
    v0 = x[0] - r
    norm2 = n2 - r * x[0]  # |v|² / 2
    return [v0, *x[1:]], 1 / np.where(norm2 > 0, norm2, 1.0), r


def _reflected(v: list, tau, x: list) -> list:
    """The vector x after the reflection (1 - τ v vᵀ)."""
    f = tau * sum(a * b for a, b in zip(v, x, strict=True))
    return [b - f * a for a, b in zip(v, x, strict=True)]


def _triangle(columns: list[list], rows: int) -> tuple[list[list], list]:
    """Householder's triangular factor of a matrix given by its columns, and the reflectors (v, τ)."""
    columns, reflectors = [list(c) for c in columns], []
    for k in range(min(len(columns), rows)):
        v, tau, r = _reflector(columns[k][k:])
        reflectors.append((v, tau))
        for c in range(k + 1, len(columns)):
            columns[c][k:] = _reflected(v, tau, columns[c][k:])
        columns[k][k:] = [r, *([0.0] * (rows - k - 1))]
    return columns, reflectors


def _eliminated(left: np.ndarray, right) -> tuple[Any, Any, list[list]]:
    """The 6 equations (3, 6, 9) without the right side; the 8 others (3, 8, 9), and the triangle they are solved with.

    The constant column of the right side is moved to the left: times (1 + x²)(1 + y²).
    """
    eight = [[right[r, k] for r in range(14)] for k in range(1, 9)]
    triangle, reflectors = _triangle(eight, 14)

    def transformed(_, column):
        x = [column[i] for i in range(14)]
        for k, (v, tau) in enumerate(reflectors):
            x = x[:k] + _reflected(v, tau, x[k:])
        return 0.0, np.stack(x)

    columns = np.concatenate([np.moveaxis(left, 1, 2).reshape(27, 14), right[:, :1].T])
    _, columns = scan(transformed, 0.0, columns)
    constant = columns[27]
    P = columns[:27].reshape(3, 9, 14)
    moved = np.stack([P[0, k] - (constant if k in (0, 2, 6, 8) else 0.0 * constant) for k in range(9)])
    P = np.stack([moved, P[1], P[2]])  # (3, 9, 14)
    return P[:, :, 8:], P[:, :, :8], triangle


def _twelve(six, c, s) -> list[list]:
    """The 12 x 12 matrix of the products x³y², ..., 1, by its columns, at θ_j with cosine and sine (c, s)."""
    S = six[0] + c * six[1] + s * six[2]  # (9, 6): columns x²y², x²y, x², xy², ...
    zero = [0.0] * 6
    upper = [[S[k, r] for r in range(6)] for k in range(9)]
    columns = [[*upper[k], *zero] for k in range(3)]
    columns += [[*upper[k + 3], *upper[k]] for k in range(6)]
    return columns + [[*zero, *upper[k + 6]] for k in range(3)]


def _determinant(six, c, s):
    """The determinant of the 12 x 12 matrix, up to its sign, which is the same at all angles."""
    columns, _ = _triangle(_twelve(six, c, s), 12)
    value = columns[0][0]
    for k in range(1, 12):
        value = value * columns[k][k]
    return value


# --- the roots of the trigonometric polynomial ------------------------------------------------------------------------

_ANGLES = 2 * np.pi * np.arange(SAMPLES) / SAMPLES
_DEGREES = np.arange(-8, 9)
_TO_REAL = np.cos(np.outer(_DEGREES, _ANGLES)) / SAMPLES  # Fourier's sums d_k = Σ D(θ) exp(-i k θ) / 17
_TO_IMAGINARY = -np.sin(np.outer(_DEGREES, _ANGLES)) / SAMPLES
_TURNED = 2 * np.pi * (np.arange(ROOTS) + 0.35) / ROOTS
_STARTS = np.where(np.arange(ROOTS) % 2, 0.9, 1.1)[:, None] * np.stack([np.cos(_TURNED), np.sin(_TURNED)], axis=1)


def _circle_polynomial(values):
    """The coefficients (17, 2), real and imaginary, of Σ_k d_k z^{k+8}, highest first, with a largest part of 1."""
    d = np.stack([_TO_REAL @ values, _TO_IMAGINARY @ values], axis=1)[::-1]
    return d / np.maximum(np.max(np.abs(d)), 1e-300)


def _aberth_step(d, z, others):
    """Aberth's correction of the root z (2,), which keeps away from the `others` (16, 2), z among them."""
    x, y = z[0], z[1]
    outside = x * x + y * y > 1  # there the reversed polynomial at 1/z is evaluated: no power overflows
    over = 1 / np.where(outside, x * x + y * y, 1.0)
    u, v = np.where(outside, x * over, x), np.where(outside, -y * over, y)
    pr, pi, dr, di = 0.0, 0.0, 0.0, 0.0
    for k in range(SAMPLES):
        dr, di = dr * u - di * v + pr, dr * v + di * u + pi
        a = np.where(outside, d[SAMPLES - 1 - k], d[k])
        pr, pi = pr * u - pi * v + a[0], pr * v + pi * u + a[1]
    # p'/p: of the polynomial itself, or (16 - w r'/r) w for w = 1/z and the reversed polynomial r
    n2 = pr * pr + pi * pi
    n2 = np.where(n2 > 0, n2, 1e-300)
    qr, qi = (dr * pr + di * pi) / n2, (di * pr - dr * pi) / n2
    er, ei = 16 - (u * qr - v * qi), -(u * qi + v * qr)
    lr, li = np.where(outside, er * u - ei * v, qr), np.where(outside, er * v + ei * u, qi)
    for k in range(ROOTS):
        ex, ey = x - others[k, 0], y - others[k, 1]
        e2 = ex * ex + ey * ey
        inverse = np.where(e2 > 0, 1 / np.where(e2 > 0, e2, 1.0), 0.0)
        lr, li = lr - ex * inverse, li + ey * inverse
    l2 = lr * lr + li * li
    scale = np.where(l2 > 0, 1 / np.where(l2 > 0, l2, 1.0), 0.0)
    return np.stack([lr * scale, -li * scale])


def circle_polynomial_roots(d):
    """All 16 complex roots (16, 2) of the polynomial with coefficients d (17, 2), highest first."""

    def step(state):
        z, _ = state

        def one(largest, own):
            delta = _aberth_step(d, own, z)
            return np.maximum(largest, delta @ delta), own - delta

        largest, z = scan(one, 0.0, z)
        return z, largest

    return while_loop(lambda state: state[1] > 1e-12, step, (_STARTS, 1.0), max_iterations=100)[0]


# --- the other angles -------------------------------------------------------------------------------------------------


def _null_vector(columns: list[list]) -> list:
    """The direction (12,) that the matrix with these columns makes smallest: one step of inverse iteration."""
    R, _ = _triangle(columns, 12)
    scale = sum(np.abs(R[k][k]) for k in range(12))
    pivots = [R[k][k] + np.copysign(1e-14 * scale + 1e-300, R[k][k]) for k in range(12)]
    y: list = []
    for k in range(12):  # Rᵀ y = b
        y.append((1.0 + 0.1 * k - sum((R[k][i] * y[i] for i in range(k)), 0.0)) / pivots[k])
    top = y[0] * y[0]
    for e in y[1:]:
        top = top + e * e
    y = [e / np.sqrt(top) for e in y]
    x: list = [None] * 12
    for k in reversed(range(12)):  # R x = y
        x[k] = (y[k] - sum((R[i][k] * x[i] for i in range(k + 1, 12)), 0.0)) / pivots[k]
    return x


def _half_angle(pairs: list[tuple]):
    """The angle 2 atan(a / b) of the pair (a, b) with the largest b² + a²."""
    a, b = pairs[0]
    for c, d in pairs[1:]:
        larger = c * c + d * d > a * a + b * b
        a, b = np.where(larger, c, a), np.where(larger, d, b)
    sign = np.where(b < 0, -1.0, 1.0)
    return 2 * np.arctan2(a * sign, b * sign)


def _back_substituted(triangle: list[list], b) -> list:
    """The solution (8,) of the triangular equations; a pivot of 0 gives 0."""
    size = sum(np.abs(triangle[k][k]) for k in range(8))
    x: list = [None] * 8
    for k in reversed(range(8)):
        rest = b[k] - sum((triangle[i][k] * x[i] for i in range(k + 1, 8)), 0.0)
        pivot = triangle[k][k]
        good = np.abs(pivot) > 1e-13 * size
        x[k] = np.where(good, rest / np.where(good, pivot, 1.0), 0.0)
    return x


def _angles(how: Elimination, axes: Sequence[Axis], T, theta, equations) -> list:
    """All six angles of the arm as the elimination sees it, for a root θ_j."""
    six, eight, triangle = equations
    c, s = np.cos(theta), np.sin(theta)
    v = _null_vector(_twelve(six, c, s))  # x^(3-i) y^(2-k) at 3 i + k
    x = _half_angle([(v[3 * i + k], v[3 * i + 3 + k]) for i in range(3) for k in range(3)])
    y = _half_angle([(v[3 * i + k], v[3 * i + k + 1]) for i in range(4) for k in range(2)])
    half = [_powers(angle) for angle in (x, y)]
    products = [a * b for a in half[0] for b in half[1]]
    E = eight[0] + c * eight[1] + s * eight[2]  # (9, 8)
    b = [sum(E[k, r] * products[k] for k in range(9)) for r in range(8)]
    # The products in the order of the right side: ⊗ of (1, c, s) of the two joints, without the constant.
    w = _back_substituted(triangle, b)
    outer, inner = (w[2], w[5]), (w[0], w[1])  # (c, s) alone, of the joint that was applied first and of the other
    later = np.arctan2(outer[1], outer[0]), np.arctan2(inner[1], inner[0])
    j = how.first
    known = {j: theta, j + 1: x, j + 2: y}
    pair = {2: (0, 1), 1: (5, 0), 0: (4, 5)}[j]
    known |= dict(zip(pair, later, strict=True))
    known[j + 3] = _left_over(axes, T, j + 3, known)
    return [known[i] for i in range(6)]


def _left_over(axes: Sequence[Axis], T, place: int, known: dict):
    """The angle of the joint at `place`, from the pose and the other angles."""
    k = axes[place].direction
    m = perpendicular(k)
    x = m
    for i in range(place + 1, 6):
        x = rotated(axes[i].direction, (np.cos(known[i]), -np.sin(known[i])), x)
    x = T[:3, :3] @ x
    for i in range(place):
        x = rotated(axes[i].direction, (np.cos(known[i]), -np.sin(known[i])), x)
    return angle_of((m @ x, np.cross(k, m) @ x))


def _powers(angle) -> list:
    """(x², x, 1) / (1 + x²) for the half-angle tangent x of an angle."""
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return [s * s, s * c, c * c]


def solve_general(how: Elimination, axes: Sequence[Axis], T) -> list[Answer]:
    """Sixteen answers of E_0 ··· E_5 = T (4, 4) for revolute axes; those that are exact are all there are."""
    arm = _arm(axes)
    arm, pose = _reversed_arm(arm) if how.backward else arm, _seen_pose(how, T)
    equations = _eliminated(*_sides(how, arm, pose))
    angles = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
    _, values = scan(lambda _, at: (0.0, _determinant(equations[0], at[0], at[1])), 0.0, angles)
    chain = plain_chain(axes, np.eye(4))
    roots = circle_polynomial_roots(_circle_polynomial(values))

    def completed(_, z):
        q = _angles(how, arm.axes, pose, np.arctan2(z[1], z[0]), equations)
        q = np.stack(q[::-1] if how.backward else q)
        found = refined(chain, T, q, np.abs(z @ z - 1) < _NEAR_CIRCLE)
        return 0.0, np.concatenate([found.q, np.stack([found.error2])])

    _, rows = scan(completed, 0.0, roots)
    return distinct(rows, chain)


def elimination(axes: Sequence[Axis]) -> Elimination | None:
    """The elimination with the best conditioned equations for an arm, or None if all of them are singular.

    Eliminations are singular if certain neighbouring axes meet or are parallel. At random poses the 12 x 12 matrix must
    have rank 11 at a root and rank 12 elsewhere, and the 8 products of the right side must follow from the others.
    """
    rng = np.random.default_rng(15)  # the same in every process
    if _always_singular(axes, rng):
        return None
    arm = _arm(axes)
    best, score = None, 1e-7
    for backward in (False, True):
        for first in range(3):
            how = Elimination(first, backward)
            seen = _reversed_arm(arm) if backward else arm
            worst = min(_conditioning(how, axes, seen, rng.uniform(-np.pi, np.pi, 6)) for _ in range(3))
            if worst > score:
                best, score = how, worst
    return best


def _always_singular(axes: Sequence[Axis], rng: np.random.Generator) -> bool:
    """Whether the joints of an arm move it in fewer than six ways, at random configurations."""
    chain = plain_chain(axes, np.eye(4))
    slopes = [measured(chain, np.eye(4), rng.uniform(-np.pi, np.pi, 6))[1] for _ in range(3)]
    return all(np.linalg.svd(J, compute_uv=False)[-1] < 1e-6 for J in slopes)


def _conditioning(how: Elimination, axes: Sequence[Axis], arm: _Arm, q) -> float:
    """How far the elimination is from singular at the pose of q."""
    R, p, _ = pose_and_twists(axes, q)
    left, right = _sides(how, arm, _seen_pose(how, se3.from_rotation_translation(R, p)))
    Q, _ = np.linalg.qr(right[:, 1:], mode="complete")
    theta = q[5 - how.first if how.backward else how.first]
    moved = left.copy()
    moved[0][:, [0, 2, 6, 8]] -= right[:, :1]
    six = np.moveaxis(np.einsum("ar,iak->irk", Q[:, 8:], moved), 1, 2)
    at_root, elsewhere = (
        np.linalg.svd(np.array(_twelve(six, np.cos(x), np.sin(x))), compute_uv=False) for x in (theta, theta + 1.0)
    )
    given = np.linalg.svd(right[:, 1:], compute_uv=False)
    return float(min(at_root[-2] / at_root[0], elsewhere[-1] / elsewhere[0], given[-1] / given[0]))
