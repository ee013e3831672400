"""SO(3): the laws, the accuracy at 60 digits, that of the scalar functions below it, orientation angles, bad input."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import laws
from support.laws import SO3, check

from adjoint.compile import kernel
from adjoint.errors import AdjointError
from adjoint.lie import series, so3

mp.mp.dps = 60


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("shape", "dtype", "kind"), laws.CASES, ids=str)
def test_law(law, shape, dtype, kind):
    law(SO3, *laws.algebra_samples(SO3, shape, dtype, kind))


# --- accuracy ---------------------------------------------------------------------------------------------------------


def mp_stumpff(n, x):
    return mp.nsum(lambda k: (-x) ** k / mp.factorial(2 * k + n), [0, mp.inf], method="d")


def mp_cot_half(x):
    return (mp_stumpff(3, x) - 2 * mp_stumpff(4, x)) / (2 * mp_stumpff(2, x))


# Dense around the switches at t² = 4 and 9, and up to just before the first zero of c₁ at t = π, where "relative" ends.
SQUARES = [0.0, 1e-24, 1e-16, 1e-8, 1e-3, 0.5, *np.linspace(3.9, 4.1, 9), 6.0, *np.linspace(8.7, 9.1, 9)]


@pytest.mark.parametrize("last", range(2, 7))
def test_accuracy_of_stumpff(last):
    for x, n in product(SQUARES, range(1, last + 1)):
        exact = mp_stumpff(n, mp.mpf(float(x)))
        # c₁ passes through 0 at t = π: near it its error is one rounding error of 1, not of c₁.
        scale = max(abs(exact), mp.mpf(1) / 2) if n == 1 else abs(exact)
        assert abs(series.stumpff(float(x), last)[n] - exact) <= 1.2e-15 * scale


def test_accuracy_of_the_other_series():
    for x in map(float, SQUARES):
        t2 = mp.mpf(x)
        k, slope = mp_cot_half(t2), 2 * mp.diff(mp_cot_half, t2)
        assert abs(series.cot_half(x) - k) <= 1.2e-15 * k
        assert abs(series.cot_half_and_slope(x)[1] - slope) <= 2e-15 * slope
        # A quaternion of length 3 with this angle, rounded: log_scales must return to t and k.
        half = mp.sqrt(t2) / 2
        w, n = float(3 * mp.cos(half)), float(3 * mp.sin(half))
        r, k_log = series.log_scales(w, n * n)
        assert abs(r * n - 2 * half) <= 1.2e-15 * 2 * half
        assert abs(k_log - k) <= 1.2e-15 * k


def test_accuracy_of_exp():
    assert laws.accuracy_of_exp(SO3) <= laws.ACCURACY


def test_accuracy_of_log():
    assert laws.accuracy_of_log(SO3) <= laws.ACCURACY


@pytest.mark.slow
@pytest.mark.parametrize(("name", "oracle"), [("dexp", laws.mp_dexp), ("dexp_inv", laws.mp_dexp_inv)])
def test_accuracy_of_jacobians(name, oracle):
    assert laws.accuracy_of_jacobian(SO3, name, oracle) <= laws.ACCURACY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "oracle"), [("exp", laws.mp_exp), ("dexp", laws.mp_dexp), ("dexp_inv", laws.mp_dexp_inv)]
)
def test_accuracy_of_derivatives(name, oracle):
    # One order of differentiation turns an error ε of a closed form into about 2ε/t, and t >= 2 there.
    assert laws.accuracy_of_derivative(SO3, name, oracle) <= laws.ACCURACY


@pytest.mark.slow
def test_accuracy_of_log_derivative():
    assert laws.accuracy_of_log_derivative(SO3) <= laws.ACCURACY


READERS = ["log", "to_quat_wxyz", "to_axis_angle", "to_euler_zxz", "to_euler_zyz", "to_rpy", "to_oat"]


@pytest.mark.parametrize("name", READERS)
def test_derivatives_of_readers_are_finite_where_they_degenerate(name):
    """At the identity, half turns and gimbal lock, where unguarded formulas have √0, 0/0 or atan2(0, 0) inside."""
    u = np.array([0.6, 0.0, 0.8])
    half_turns = [np.diag(d) for d in ([1.0, -1, -1], [-1.0, 1, -1], [-1.0, -1, 1])] + [2 * np.outer(u, u) - np.eye(3)]
    locked = [so3.rotation_y(np.pi / 2), so3.rotation_y(-np.pi / 2), so3.rotation_x(np.pi / 2)]
    found = getattr(so3, name).jacobian("R")(np.stack([np.eye(3), *half_turns, *locked]))
    for J in found if isinstance(found, tuple) else (found,):
        assert np.all(np.isfinite(J))


# --- compiled = eager -------------------------------------------------------------------------------------------------

SIGNATURES = {
    "rotation_x": "s", "rotation_y": "s", "rotation_z": "s", "from_quat_wxyz": "4", "from_axis_angle": "3s",
    "from_euler_zxz": "3", "from_euler_zyz": "3", "from_rpy": "3", "from_oat": "3", "project": "R", "to_quat_wxyz": "R",
    "to_axis_angle": "R", "to_euler_zxz": "R", "to_euler_zyz": "R", "to_rpy": "R", "to_oat": "R", "hat": "3",
    "vee": "R", "bracket": "33", "coad": "3", "coad_action": "33", "exp": "3", "log": "R", "inverse": "R",
    "compose": "RR", "act": "R3", "Ad": "R", "coAd": "R", "coAd_action": "R3", "left_jacobian": "3",
    "left_jacobian_inv": "3", "right_jacobian": "3", "right_jacobian_inv": "3", "slerp": "RRs", "distance": "RR",
    "log_branch": "Rs", "body_velocity": "RR", "space_velocity": "RR", "body_derivative": "RR",
    "space_derivative": "RR", "euler_zxz_jacobian": "3", "euler_zxz_jacobian_inv": "3",
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_compiled_equals_eager(name):
    laws.compiled_equals_eager(so3, name, SIGNATURES[name])


def test_every_public_kernel_is_compared():
    aliases = {"ad", "ad_action", "Ad_action", "dexp", "dexp_inv"}
    assert laws.public_kernels(so3) == set(SIGNATURES) | aliases


# --- quaternions, axis and angle --------------------------------------------------------------------------------------


def test_quaternions(rng):
    R = so3.random(40, rng=rng)
    q = so3.to_quat_wxyz(R)
    check(np.linalg.norm(q, axis=-1), np.ones(40))
    assert np.all(q[:, 0] >= 0)
    check(so3.from_quat_wxyz(q), R)
    check(so3.from_quat_wxyz(-3 * q), R)  # sign and length do not matter
    check(so3.to_quat_wxyz(np.eye(3)), [1, 0, 0, 0], units=0)
    check(so3.from_quat_wxyz([np.cos(0.2), 0, 0, np.sin(0.2)]), so3.rotation_z(0.4))


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (1, 1, 0), (-1, 2, -2), (0, -3, 4)])
def test_half_turns(axis):
    """At angle π all pivots but one may vanish: every representation must still return to R = 2uuᵀ - 1."""
    u = np.asarray(axis) / np.linalg.norm(axis)
    R = 2 * np.outer(u, u) - np.eye(3)
    check(so3.exp(so3.log(R)), R)
    check(np.linalg.norm(so3.log(R)), np.pi)
    check(so3.from_quat_wxyz(so3.to_quat_wxyz(R)), R)
    check(so3.from_axis_angle(*so3.to_axis_angle(R)), R)
    w = so3.log(R)
    assert w[np.argmax(np.abs(w))] > 0


def test_log_forgives_rounding_errors_of_R(rng):
    """R perturbed by one unit per entry, at 0 and π: the angle moves by about as much, and nothing is NaN."""
    for R in (np.eye(3), np.diag([-1.0, -1, 1]), np.diag([1.0, -1, -1])):
        noisy = R + 1.1e-16 * rng.choice([-1, 0, 1], (50, 3, 3))
        check(so3.exp(so3.log(noisy)), np.broadcast_to(R, noisy.shape))


def test_axis_angle(rng):
    axis, angle = so3.to_axis_angle(so3.from_axis_angle([1.0, 2.0, 3.0], 0.7))
    check(axis, np.array([1, 2, 3]) / np.sqrt(14))
    check(angle, 0.7)
    check(so3.from_axis_angle([1.0, 2.0, 3.0], 0.7), so3.exp(0.7 * np.array([1, 2, 3]) / np.sqrt(14)))
    R = so3.random(20, rng=rng)
    check(so3.from_axis_angle(*so3.to_axis_angle(R)), R)
    axis, angle = so3.to_axis_angle(np.eye(3))
    assert angle == 0 and axis.tolist() == [1, 0, 0]


# --- branches of log, derivatives of functions ------------------------------------------------------------------------


def test_branches_of_log_at_a_half_turn_and_at_the_identity():
    """The two logarithms of length π are opposite; of the identity, k turns about x are logarithms."""
    u = np.array([0.6, 0.0, -0.8])
    R = 2 * np.outer(u, u) - np.eye(3)
    w = so3.log_branch(R, np.array([-1.0, 0.0]))
    check(w, np.pi * np.array([[0.6, 0, -0.8], [-0.6, 0, 0.8]]))  # log has its largest entry positive
    check(so3.log_branch(np.eye(3), np.arange(-1, 2)), 2 * np.pi * np.outer([-1, 0, 1], [1, 0, 0]))


@kernel(R=(3, 3))
def tilt(R):
    """A function that is not one of rotations alone: off the group it is anything."""
    return np.exp(R[2, 0]) * R[0, 1] + R[1, 1] ** 3 + np.sum(R * R) ** 2


@kernel(R=(3, 3), w=3)
def tilt_turned(R, w):
    return tilt(R @ so3.exp(w))


@kernel(R=(3, 3), w=3)
def tilt_turned_in_space(R, w):
    return tilt(so3.exp(w) @ R)


@kernel(angles=3)
def tilt_of_angles(angles):
    return tilt(so3.from_euler_zxz(angles))


@pytest.mark.slow
def test_lie_derivatives_of_a_function(rng):
    """LWC (13) three ways: from the slope by entries, by the rotation vector of a turn, by Euler angles, (17)."""
    angles = rng.uniform(0.3, 2.5, (20, 3))
    R = so3.from_euler_zxz(angles)
    found, still = so3.body_derivative(R, tilt.jacobian("R")(R)), np.zeros(3)
    check(found, tilt_turned.jacobian("w")(R, still), units=2000)
    by_angles = tilt_of_angles.jacobian("angles")(angles)[:, None]
    check(found, (by_angles @ so3.euler_zxz_jacobian_inv(angles))[:, 0], units=1e4)  # 1/sin θ < 4
    check(so3.space_derivative(R, tilt.jacobian("R")(R)), tilt_turned_in_space.jacobian("w")(R, still), units=2000)


def test_euler_zxz_jacobian(rng):
    """LWC (11) and (12): columns (Rᵀ ∂R/∂angle)^vee; and its inverse."""
    angles = rng.uniform(0.1, 3.0, (20, 3))
    slopes = np.moveaxis(so3.from_euler_zxz.jacobian("angles")(angles), -1, 1)  # (20, 3 angles, 3, 3)
    columns = so3.body_velocity(so3.from_euler_zxz(angles)[:, None], slopes)
    J = so3.euler_zxz_jacobian(angles)
    check(J, np.swapaxes(columns, 1, 2))
    check(np.linalg.det(J), -np.sin(angles[:, 1]))
    check(J @ so3.euler_zxz_jacobian_inv(angles), np.broadcast_to(np.eye(3), J.shape), units=2000)


# --- orientation angles -----------------------------------------------------------------------------------------------

TRIPLES = ["euler_zxz", "euler_zyz", "rpy", "oat"]
QUARTERS = list(product(np.pi / 2 * np.arange(-2, 3), repeat=3))  # every degenerate case, signed zeros included

# F6, X13 and problem 2.1 of the digest of FGL chapters 2-3; six printed decimals.
PRINTED = [
    ("euler_zxz", (30, 50, -70), "0.598210 0.703875 0.383022 -0.352089 0.660239 -0.663414 -0.719846 0.262003 0.642788"),
    ("euler_zxz", (10, 20, 30), "0.771281 -0.633718 0.059391 0.613092 0.714610 -0.336824 0.171010 0.296198 0.939693"),
    ("euler_zyz", (10, 20, 30), "0.714610 -0.613092 0.336824 0.633718 0.771281 0.059391 -0.296198 0.171010 0.939693"),
    ("oat", (30, 20, -50), "-0.773337 0.425669 0.469846 -0.192630 0.548295 -0.813798 -0.604023 -0.719846 -0.342020"),
    ("oat", (0, 0, 0), "0 1 0 0 0 -1 -1 0 0"),
    # The book's roll φ = 10, pitch θ = 20, yaw ψ = 30 is our (roll, pitch, yaw) = (30, 20, 10).
    ("rpy", (30, 20, 10), "0.925417 0.018028 0.378522 0.163176 0.882564 -0.440970 -0.342020 0.469846 0.813798"),
]


@pytest.mark.parametrize(("name", "degrees", "printed"), PRINTED)
def test_printed_orientations(name, degrees, printed):
    R = getattr(so3, f"from_{name}")(np.deg2rad(degrees))
    np.testing.assert_allclose(
        R.ravel(), [float(x) for x in printed.split()], atol=5.1e-7
    )  # half a unit of the last printed digit
    check(getattr(so3, f"to_{name}")(R), np.deg2rad(degrees))


def test_composite_rotation():
    """FGL problem 2.1: about fixed axes z by 30°, x by 60°, y by 90°: later turns multiply from the left."""
    z, x, y = np.deg2rad([30, 60, 90])
    R = so3.rotation_y(y) @ so3.rotation_x(x) @ so3.rotation_z(z)
    printed = [[0.433013, 0.75, 0.5], [0.25, 0.433013, -0.866025], [-0.866025, 0.5, 0]]
    np.testing.assert_allclose(R, printed, atol=5.1e-7)


@pytest.mark.parametrize("name", TRIPLES)
def test_triples_return_to_R(name, rng):
    R = np.concatenate([so3.random(200, rng=rng), getattr(so3, f"from_{name}")(np.array(QUARTERS))])
    angles = getattr(so3, f"to_{name}")(R)
    check(getattr(so3, f"from_{name}")(angles), R)
    assert np.all(angles > -np.pi) and np.all(angles <= np.pi)


@pytest.mark.parametrize("name", TRIPLES)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_degenerate_triples_are_deterministic(name, zero):
    """Exact degenerate rotations, with zeros of either sign: same triple, whose free angle is 0."""
    free = 0 if name == "rpy" else 2
    middles = (0, np.pi) if "euler" in name else (np.pi / 2, -np.pi / 2)
    for middle, other in product(middles, (0.0, np.pi / 2, np.pi, -0.4)):
        triple = np.array([other, middle, 0.0] if free == 2 else [0.0, middle, other])
        R = getattr(so3, f"from_{name}")(triple)
        R = np.where(np.abs(R) < 1e-15, zero, R)
        found = getattr(so3, f"to_{name}")(R)
        assert found[free] == 0
        check(found, triple)


def test_rpy_is_urdf_order():
    check(so3.from_rpy([0.3, 0.0, 0.0]), so3.rotation_x(0.3))
    check(so3.from_rpy([0.0, 0.3, 0.0]), so3.rotation_y(0.3))
    check(so3.from_rpy([0.0, 0.0, 0.3]), so3.rotation_z(0.3))


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(TRIPLES), st.lists(st.floats(-50, 50), min_size=3, max_size=3))
def test_any_triple_is_read_back_as_the_same_rotation(name, angles):
    R = getattr(so3, f"from_{name}")(angles)
    check(getattr(so3, f"from_{name}")(getattr(so3, f"to_{name}")(R)), R)


# --- projection, interpolation, distance ------------------------------------------------------------------------------


def test_project_is_the_polar_factor(rng):
    U, V = so3.random(60, rng=rng), so3.random(60, rng=rng)
    sigma = np.sort(rng.uniform(0.2, 5, (60, 3)))[:, ::-1]
    # Conditioning of the polar factor is σ₁/(σ₂ + σ₃) <= 12.5 here.
    check(so3.project(U * sigma[:, None, :] @ V), U @ V, units=500)
    nearly_singular = U * np.array([1.0, 1e-1, 1e-9]) @ V
    R = so3.project(nearly_singular)
    check(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape))


def test_project_refuses_reflections_and_singular_matrices():
    for M in (np.diag([1.0, 1, -1]), np.zeros((3, 3)), np.diag([1.0, 1, 0])):
        assert np.all(np.isnan(so3.project(np.stack([M, np.eye(3)]))[0]))
        check(so3.project(np.stack([M, np.eye(3)]))[1], np.eye(3))


def test_slerp_and_distance(rng):
    A, B, C = so3.random((3, 30), rng=rng)
    check(so3.slerp(A, B, 0.0), A)
    check(so3.slerp(A, B, 1.0), B)
    ab = so3.distance(A, B)
    check(so3.distance(A, so3.slerp(A, B, 0.3)), 0.3 * ab)
    check(ab, so3.distance(C @ A, C @ B))  # bi-invariant
    check(ab, so3.distance(A @ C, B @ C))
    assert np.all(ab <= so3.distance(A, C) + so3.distance(C, B) + 1e-14)
    assert so3.distance(A[0], A[0]) < 1e-15


def test_slope_of_the_distance_is_finite_at_zero():
    assert np.all(np.isfinite(so3.distance.jacobian("R_0")(np.eye(3), np.eye(3))))


def test_random_is_uniform(rng):
    R = so3.random((40, 250), rng=rng)
    assert R.shape == (40, 250, 3, 3)
    # Each entry has mean 0 and variance 1/3; 10⁴ samples: standard error 0.006, five of them allowed.
    assert np.max(np.abs(R.mean((0, 1)))) < 0.03
    # Haar: the angle has density (1 - cos t)/π, mean π/2 + 2/π.
    assert abs(np.linalg.norm(so3.log(R), axis=-1).mean() - (np.pi / 2 + 2 / np.pi)) < 0.04


# --- bad input beside good input --------------------------------------------------------------------------------------


def test_nan_stays_in_its_sample(rng):
    R = so3.random(9, rng=rng)
    good = so3.log(R)
    for i, j in product(range(3), repeat=2):
        bad = R.copy()
        bad[4, i, j] = np.nan
        mixed = so3.log(bad)
        assert np.all(np.isnan(mixed[4]))
        check(np.delete(mixed, 4, 0), np.delete(good, 4, 0), units=0)


def test_zero_axis_and_zero_quaternion_give_nan():
    assert np.all(np.isnan(so3.from_axis_angle(np.zeros(3), 1.0)))
    assert np.all(np.isnan(so3.from_quat_wxyz(np.stack([np.zeros(4), np.ones(4)]))[0]))


@pytest.mark.parametrize("call", [lambda: so3.exp(np.zeros(4)), lambda: so3.log(np.eye(4)), lambda: so3.hat(1.0)])
def test_wrong_shapes_are_refused(call):
    with pytest.raises(AdjointError):
        call()


# --- lengths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1e-305, 1e-200, 1e-146, 1e-140, 1e-70, 1e70, 1e150, 1e154, 1e200, 1e307])
def test_quaternions_and_axes_of_any_length(length, rng):
    """Squares of their lengths overflow, or vanish; the rotations are right all the same, compiled and eagerly."""
    q = rng.normal(size=(50, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    expected = so3.from_quat_wxyz(q)
    with np.errstate(all="raise", under="ignore"):
        assert np.abs(so3.from_quat_wxyz(length * q) - expected).max() < 1e-15
        assert np.abs(so3.from_quat_wxyz.eager(length * q[0]) - expected[0]).max() < 1e-15
        assert np.abs(so3.from_axis_angle(length * q[:, :3], 0.7) - so3.from_axis_angle(q[:, :3], 0.7)).max() < 1e-15
    slope = so3.from_quat_wxyz.jacobian("q")
    if 1e-75 < length < 1e75:  # fourth powers are numbers
        assert np.abs(slope(length * q) * length - slope(q)).max() < 1e-13


def test_float32_quaternions_of_moderate_length(rng):
    q = rng.normal(size=4).astype(np.float32)
    for length in (1e-15, 1.0, 1e15):
        assert np.abs(so3.from_quat_wxyz(np.float32(length) * q) - so3.from_quat_wxyz(q)).max() < 1e-5
    assert np.isnan(so3.from_quat_wxyz(np.zeros(4))).any()
