"""Laws of a matrix Lie group, written once, applied to SO(3) and SE(3); and the mpmath oracle to measure both against.

A law takes a `Group` and three elements x, y, z of its algebra (any batch shape, float64 or float32) and asserts.
`check` compares with a tolerance in units of the dtype's rounding error: entries are of order one to ten, and each law
chains at most about ten small matrix products, whose errors add up to some tens of units; 200 leaves room for unlucky
batches, and is still 4e-14.
"""

from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import NamedTuple

import mpmath as mp
import numpy as np

from adjoint.lie import se3, so3


class Group(NamedTuple):
    name: str
    lie: ModuleType
    dim: int  # of the algebra
    size: int  # of the matrices


SO3 = Group("SO3", so3, 3, 3)
SE3 = Group("SE3", se3, 6, 4)

SHAPES = [(), (3,), (2, 3)]
DTYPES = [np.float64, np.float32]
KINDS = ["far", "near identity", "near pi"]
CASES = list(product(SHAPES, DTYPES, KINDS))


def algebra_samples(group: Group, shape, dtype, kind: str, seed: int = 0) -> list[np.ndarray]:
    """Three elements of the algebra: angles in (0, 3), around 1e-9, or just below π (by many rounding errors)."""
    rng = np.random.default_rng(seed)
    gap = 1e-9 if dtype == np.float64 else 1e-4

    def one():
        x = rng.standard_normal((*shape, group.dim))
        axis = x[..., :3] / np.linalg.norm(x[..., :3], axis=-1, keepdims=True)
        angle = rng.uniform(0.1, 1.0, (*shape, 1)) * {"far": 3.0, "near identity": 1e-9, "near pi": gap}[kind]
        x[..., :3] = axis * (np.pi - angle if kind == "near pi" else angle)
        return x.astype(dtype)

    return [one() for _ in range(3)]


def check(actual, expected, units: float = 200.0):
    """Equal to within `units` rounding errors of the dtype of `actual`, relative to the largest entry or 1."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=units * np.finfo(actual.dtype).eps * scale)


def mul(A, x):
    """Matrix times vector, batched."""
    return np.einsum("...ij,...j->...i", A, x)


# --- the laws ---------------------------------------------------------------------------------------------------------


def keeps_dtype_and_shape(group, x, y, z):
    T = group.lie.exp(x)
    assert T.shape == (*x.shape[:-1], group.size, group.size) and T.dtype == x.dtype
    assert group.lie.log(T).shape == x.shape and group.lie.log(T).dtype == x.dtype


def group_axioms(group, x, y, z):
    g = group.lie
    a, b, c = g.exp(x), g.exp(y), g.exp(z)
    one = np.broadcast_to(g.identity().astype(x.dtype), a.shape)
    check(g.compose(g.compose(a, b), c), g.compose(a, g.compose(b, c)))
    check(g.compose(a, one), a)
    check(g.compose(one, a), a)
    check(g.compose(a, g.inverse(a)), one)
    check(g.compose(g.inverse(a), a), one)
    check(g.compose(a, b), a @ b)


def rotations_stay_rotations(group, x, y, z):
    R = group.lie.compose(group.lie.exp(x), group.lie.exp(y))[..., :3, :3]
    check(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape))
    check(np.linalg.det(R), np.ones(R.shape[:-2]))


def action_is_an_action(group, x, y, z):
    g = group.lie
    a, b, point = g.exp(x), g.exp(y), z[..., -3:]
    check(g.act(g.compose(a, b), point), g.act(a, g.act(b, point)))
    check(g.act(g.inverse(a), g.act(a, point)), point)


def exp_and_log_are_inverse(group, x, y, z):
    g = group.lie
    check(g.log(g.exp(x)), x)
    check(g.exp(g.log(g.exp(x))), g.exp(x))
    check(g.exp(-x), g.inverse(g.exp(x)))


def one_parameter_subgroup(group, x, y, z):
    s, t = x.dtype.type(0.25), x.dtype.type(1.5)
    check(group.lie.compose(group.lie.exp(s * x), group.lie.exp(t * x)), group.lie.exp((s + t) * x))


def hat_and_vee_are_inverse(group, x, y, z):
    check(group.lie.vee(group.lie.hat(x)), x, units=0)


def Ad_is_a_homomorphism(group, x, y, z):
    g = group.lie
    a, b = g.exp(x), g.exp(y)
    check(g.Ad(g.compose(a, b)), g.Ad(a) @ g.Ad(b))
    check(mul(g.Ad(a), z), g.vee(a @ g.hat(z) @ g.inverse(a)))
    check(g.compose(g.compose(a, g.exp(z)), g.inverse(a)), g.exp(g.Ad_action(a, z)))


def ad_is_the_bracket(group, x, y, z):
    g = group.lie
    check(g.bracket(x, y), g.vee(g.hat(x) @ g.hat(y) - g.hat(y) @ g.hat(x)))
    check(g.ad_action(x, y), mul(g.ad(x), y))
    check(g.bracket(x, y), -g.bracket(y, x))


def jacobi_identity(group, x, y, z):
    b = group.lie.bracket
    check(b(x, b(y, z)) + b(y, b(z, x)) + b(z, b(x, y)), np.zeros_like(x), units=2000)  # terms of order 30 cancel


def Ad_preserves_brackets(group, x, y, z):
    g = group.lie
    a = g.exp(x)
    check(g.Ad_action(a, g.bracket(y, z)), g.bracket(g.Ad_action(a, y), g.Ad_action(a, z)), units=2000)


def duality(group, x, y, z):
    g = group.lie
    a = g.exp(x)
    check(np.sum(g.coAd_action(a, y) * z, -1), np.sum(y * g.Ad_action(a, z), -1), units=1000)
    check(np.sum(g.coad_action(x, y) * z, -1), np.sum(y * g.ad_action(x, z), -1), units=1000)


def actions_match_matrices(group, x, y, z):
    g = group.lie
    a = g.exp(x)
    check(g.Ad_action(a, y), mul(g.Ad(a), y))
    check(g.coAd_action(a, y), mul(g.coAd(a), y))
    check(g.coad_action(x, y), mul(g.coad(x), y))
    check(g.coAd(a), np.swapaxes(g.Ad(a), -1, -2), units=0)
    check(g.coad(x), np.swapaxes(g.ad(x), -1, -2), units=0)


def jacobians_are_consistent(group, x, y, z):
    g = group.lie
    one = np.broadcast_to(np.eye(group.dim), g.ad(x).shape)
    check(g.left_jacobian(x) @ g.left_jacobian_inv(x), one)
    check(g.right_jacobian(x) @ g.right_jacobian_inv(x), one)
    check(g.left_jacobian(x) @ g.right_jacobian_inv(x), g.Ad(g.exp(x)))
    check(mul(g.left_jacobian(x), x), x)
    assert g.dexp is g.left_jacobian and g.dexp_inv is g.left_jacobian_inv


def project_is_idempotent_and_nearest(group, x, y, z):
    T = group.lie.exp(x)
    check(group.lie.project(T), T)
    stretch = np.ones((group.size, group.size), T.dtype)
    stretch[:3, :3] = 1.5
    check(group.lie.project(T * stretch), T)


def every_branch_of_log_returns(group, x, y, z):
    g = group.lie
    T, t = g.exp(x), np.linalg.norm(x[..., :3], axis=-1)
    for turns in (-2, -1, 0, 1, 3):
        V = g.log_branch(T, x.dtype.type(turns))
        # Angles are 20 rad large, and of a small rotation whole turns shift the axis by 20/t times the translation.
        near = float(np.max(1 / t)) if turns and group.dim == 6 else 1.0
        check(g.exp(V), T, units=4000 * max(1.0, near))
        check(np.linalg.norm(V[..., :3], axis=-1), np.abs(t + 2 * np.pi * turns), units=1000)
    check(g.log_branch(T, x.dtype.type(0)), g.log(T))


def velocities_are_seen_from_both_sides(group, x, y, z):
    g = group.lie
    T = g.exp(x)
    check(g.body_velocity(T, T @ g.hat(y)), y)
    check(g.space_velocity(T, g.hat(y) @ T), y)
    check(g.space_velocity(T, T @ g.hat(y)), g.Ad_action(T, y))


def derivatives_of_functions_are_dual_to_velocities(group, x, y, z):
    """Any matrix is the slope of a function: <slope, T [y]> = f' · y, and both sides differ by Ad."""
    g = group.lie
    T, slope = g.exp(x), g.exp(z)  # of order one, in every entry
    body, space = g.body_derivative(T, slope), g.space_derivative(T, slope)
    check(np.sum(body * y, -1), np.sum(slope * (T @ g.hat(y)), (-2, -1)), units=1000)
    check(np.sum(space * y, -1), np.sum(slope * (g.hat(y) @ T), (-2, -1)), units=1000)
    check(body, g.coAd_action(T, space), units=1000)


LAWS: list[Callable] = [
    keeps_dtype_and_shape,
    group_axioms,
    rotations_stay_rotations,
    action_is_an_action,
    exp_and_log_are_inverse,
    one_parameter_subgroup,
    hat_and_vee_are_inverse,
    Ad_is_a_homomorphism,
    ad_is_the_bracket,
    jacobi_identity,
    Ad_preserves_brackets,
    duality,
    actions_match_matrices,
    jacobians_are_consistent,
    every_branch_of_log_returns,
    velocities_are_seen_from_both_sides,
    derivatives_of_functions_are_dual_to_velocities,
    project_is_idempotent_and_nearest,
]


# --- compiled = eager -------------------------------------------------------------------------------------------------


def public_kernels(module) -> set[str]:
    return {name for name, value in vars(module).items() if hasattr(value, "eager") and not name.startswith("_")}


def compiled_equals_eager(module, name, signature):
    """One compiled call on a batch of five, against five eager calls.

    Signature letters: T (4, 4), R (3, 3), s scalar, j inertia (10,), a digit: a vector of that length.
    """
    rng, function = np.random.default_rng(1), getattr(module, name)
    kinds = {"T": se3.random, "R": so3.random, "s": lambda n, rng: rng.uniform(0.1, 0.9, n)}
    args = [
        kinds[letter](5, rng=rng) if letter in kinds else rng.standard_normal((5, 10 if letter == "j" else int(letter)))
        for letter in signature
    ]
    fields = tuple if isinstance(function(*args), tuple) else lambda value: (value,)
    for i in range(5):
        for compiled, eager in zip(fields(function(*args)), fields(function.eager(*[a[i] for a in args])), strict=True):
            # Both do the same few dozen operations; sums may be reassociated and sines differ by two units.
            check(compiled[i], np.asarray(eager), units=20)


# --- the oracle: 60 digits, matrix exponentials only, so it shares no formula with the library ------------------------

ANGLES = [0.0, 1e-12, 1e-8, 1e-4, 0.3, 1.0, 1.999999, 2.000001, 2.999999, 3.000001, np.pi - 1e-12, np.pi]
AXES = [(0, 0, 1), (1, 2, 3), (-2, 1e-3, 1), (-1, -1, -1)]
LINEAR = (0.7, -1.1, 0.4)
# Relative to the norm of the result. Some ten roundings of 1e-16 happen on the way; 1e-14 leaves room.
ACCURACY = 1e-14


def twists(group: Group, angles=ANGLES) -> list[np.ndarray]:
    """Elements of the algebra at the angles where formulas switch or degenerate."""
    found = []
    for axis, angle in product(AXES, angles):
        w = np.asarray(axis) / np.linalg.norm(axis) * angle
        found.append(np.concatenate([w, LINEAR])[: group.dim])
    return found


def mp_hat(group: Group, x):
    a, b, c = x[:3]
    rows = [[0, -c, b], [c, 0, -a], [-b, a, 0]]
    if group is SO3:
        return mp.matrix(rows)
    return mp.matrix([[*row, v] for row, v in zip(rows, x[3:], strict=True)] + [[0, 0, 0, 0]])


def mp_ad(group: Group, x):
    W = mp_hat(SO3, x[:3])
    if group is SO3:
        return W
    ad = mp.zeros(6)
    ad[:3, :3] = W
    ad[3:, 3:] = W
    ad[3:, :3] = mp_hat(SO3, x[3:])
    return ad


def mp_exp(group: Group, x):
    return mp.expm(mp_hat(group, x), method="taylor")


def mp_dexp(group: Group, x):
    """∫₀¹ exp(s ad x) ds, the upper right block of exp [[ad x, 1], [0, 0]]."""
    n = group.dim
    block = mp.zeros(2 * n)
    block[:n, :n] = mp_ad(group, x)
    block[:n, n:] = mp.eye(n)
    return mp.expm(block, method="taylor")[:n, n:]


def mp_dexp_inv(group: Group, x):
    return mp_dexp(group, x) ** -1


def mp_vector(x):
    return [mp.mpf(float(value)) for value in x]


def to_numpy(M) -> np.ndarray:
    return np.array(M.tolist(), dtype=float) if isinstance(M, mp.matrix) else np.array(M, dtype=float)


def relative_error(actual, exact) -> float:
    """|actual - exact| / |exact|, Frobenius, the difference taken at 60 digits."""
    exact = mp.matrix(exact)
    actual = mp.matrix(np.asarray(actual, float).tolist())
    size = mp.norm(exact, 2) if exact.cols == 1 else mp.mnorm(exact, "f")
    gap = mp.norm(actual - exact, 2) if exact.cols == 1 else mp.mnorm(actual - exact, "f")
    return float(gap / size) if size else float(gap)


def accuracy_of_exp(group):
    found = twists(group, [*ANGLES, 4.0, 6.2, 20.0])
    return max(relative_error(group.lie.exp(x), mp_exp(group, mp_vector(x))) for x in found)


def accuracy_of_log(group):
    """Worst error of log(T) for T exact, then rounded to double."""
    worst = 0.0
    for X in exact_twists(group):
        V = group.lie.log(to_numpy(mp_exp(group, X)))
        worst = max(worst, min(relative_error(V, Y) for Y in branches(group, X)))
    return worst


def exact_twists(group):
    """The twists, but with an angle of exactly π (to 60 digits) for the last."""
    for x in twists(group):
        X, t = mp_vector(x), float(np.linalg.norm(x[:3]))
        turn = mp.pi / mp.norm(mp.matrix(X[:3])) if abs(t - np.pi) < 1e-14 else 1
        yield [value * turn for value in X[:3]] + X[3:]


def branches(group, X):
    """X, and at angle π also the twist of the opposite axis with the same exponential."""
    if abs(mp.norm(mp.matrix(X[:3])) - mp.pi) > 1e-15:
        return [mp.matrix(X)]
    flipped = [-value for value in X[:3]]
    if group is SE3:  # exp(X) = (R, p), p = A(w) v, and v' = A(-w)⁻¹ p
        flipped += list(mp_dexp_inv(SO3, flipped) * (mp_dexp(SO3, X[:3]) * mp.matrix(X[3:])))
    return [mp.matrix(X), mp.matrix(flipped)]


def accuracy_of_jacobian(group, name, oracle):
    """Worst error of the matrix function `name`, of the algebra, against its oracle."""
    return max(relative_error(getattr(group.lie, name)(x), oracle(group, mp_vector(x))) for x in twists(group))


def accuracy_of_derivative(group, name, oracle):
    """Worst error of the derivative of `name` along a fixed direction, against central differences at 60 digits."""
    jacobian = getattr(group.lie, name).jacobian(group_argument(group, name))
    direction = np.array([0.3, -0.5, 0.9, 0.2, 0.8, -0.6])[: group.dim]
    step, D = mp.mpf(10) ** -20, mp.matrix(direction.tolist())
    worst = 0.0
    for x in twists(group):
        X = mp.matrix(mp_vector(x))
        exact = (oracle(group, list(X + step * D)) - oracle(group, list(X - step * D))) / (2 * step)
        worst = max(worst, relative_error(jacobian(x) @ direction, exact))
    return worst


def accuracy_of_log_derivative(group):
    """Worst error of d log(T) along T' = hat(e) T, which is dexp_inv(log T) e."""
    jacobian = group.lie.log.jacobian(group_argument(group, "log"))
    direction = np.array([0.3, -0.5, 0.9, 0.2, 0.8, -0.6])[: group.dim]
    D, worst = mp_hat(group, direction.tolist()), 0.0
    for X in exact_twists(group):
        T = mp_exp(group, X)
        J = jacobian(to_numpy(T))
        slope = np.einsum("ijk,jk->i", J, to_numpy(D * T))
        exact = [mp_dexp_inv(group, list(Y)) * mp.matrix(direction.tolist()) for Y in branches(group, X)]
        worst = max(worst, min(relative_error(slope, E) for E in exact))
    return worst


def group_argument(group, name):
    return {"log": "R" if group is SO3 else "T"}.get(name, "w" if group is SO3 else "V")
