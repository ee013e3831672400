"""SE(3): the laws, the accuracy at 60 digits, screws, frames and bad input."""

import mpmath as mp
import numpy as np
import pytest
from support import laws
from support.laws import SE3, check

from adjoint.compile import kernel
from adjoint.errors import AdjointError
from adjoint.lie import se3, so3

mp.mp.dps = 60


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("shape", "dtype", "kind"), laws.CASES, ids=str)
def test_law(law, shape, dtype, kind):
    law(SE3, *laws.algebra_samples(SE3, shape, dtype, kind))


# --- accuracy ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_accuracy_of_exp():
    assert laws.accuracy_of_exp(SE3) <= laws.ACCURACY


@pytest.mark.slow
def test_accuracy_of_log():
    assert laws.accuracy_of_log(SE3) <= laws.ACCURACY


@pytest.mark.slow
@pytest.mark.parametrize(("name", "oracle"), [("dexp", laws.mp_dexp), ("dexp_inv", laws.mp_dexp_inv)])
def test_accuracy_of_jacobians(name, oracle):
    assert laws.accuracy_of_jacobian(SE3, name, oracle) <= laws.ACCURACY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "oracle"), [("exp", laws.mp_exp), ("dexp", laws.mp_dexp), ("dexp_inv", laws.mp_dexp_inv)]
)
def test_accuracy_of_derivatives(name, oracle):
    # One order of differentiation turns an error ε of a closed form into about 2ε/t, and t >= 2 there.
    assert laws.accuracy_of_derivative(SE3, name, oracle) <= laws.ACCURACY


@pytest.mark.slow
def test_accuracy_of_log_derivative():
    assert laws.accuracy_of_log_derivative(SE3) <= laws.ACCURACY


@kernel(V=6)
def along_the_screw(V, s):
    return se3.log(se3.exp(s * V))


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-4, 0.199, 0.201, 1.99, 2.01, 3.0])
def test_second_derivatives(angle):
    """log(exp(sV)) = sV: slope V, curvature 0, on both sides of every switch.

    A rounding error ε of a closed form becomes some ε/t² in the second derivative, times |V|² here: 2000 units.
    """
    V = np.concatenate([angle * np.array([1, 2, 3]) / np.sqrt(14), laws.LINEAR])
    check(along_the_screw.jacobian("s")(V, 1.0), V)
    check(along_the_screw.hessian("s")(V, 1.0), np.zeros(6), units=2000)


# --- compiled = eager -------------------------------------------------------------------------------------------------


SIGNATURES = {
    "from_rotation_translation": "R3", "from_xyz_quat_wxyz": "7", "screw": "33s", "prismatic": "3", "project": "T",
    "rotation": "T", "translation": "T", "to_xyz_quat_wxyz": "T", "screw_parameters": "6", "hat": "6", "vee": "T",
    "bracket": "66", "ad": "6", "coad": "6", "coad_action": "66", "exp": "6", "log": "T", "inverse": "T",
    "compose": "TT", "act": "T3", "Ad": "T", "Ad_action": "T6", "Ad_inv_action": "T6", "coAd": "T", "coAd_action": "T6",
    "coAd_inv_action": "T6", "left_jacobian": "6", "left_jacobian_inv": "6", "right_jacobian": "6",
    "right_jacobian_inv": "6", "interpolate": "TTs", "distance": "TT",
    "log_branch": "Ts", "body_velocity": "TT", "space_velocity": "TT", "body_derivative": "TT",
    "space_derivative": "TT",
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_compiled_equals_eager(name):
    laws.compiled_equals_eager(se3, name, SIGNATURES[name])


def test_every_public_kernel_is_compared():
    assert laws.public_kernels(se3) == set(SIGNATURES) | {"ad_action", "dexp", "dexp_inv"}


# --- frames, screws, distance -----------------------------------------------------------------------------------------


def test_parts_and_pose(rng):
    T = se3.random(5, rng=rng)
    check(se3.from_rotation_translation(se3.rotation(T), se3.translation(T)), T, units=0)
    check(se3.from_xyz_quat_wxyz(se3.to_xyz_quat_wxyz(T)), T)
    check(se3.to_xyz_quat_wxyz(se3.identity()), [0, 0, 0, 1, 0, 0, 0], units=0)


def test_random_is_batched_and_scaled(rng):
    T = se3.random(2000, rng=rng, scale=0.1)
    assert T.shape == (2000, 4, 4)
    assert 0.095 < np.std(T[:, :3, 3]) < 0.105  # 6000 samples: standard error 0.0009


def test_inverse_Ad_actions(rng):
    T, V, F = se3.random(4, rng=rng), rng.standard_normal((4, 6)), rng.standard_normal((4, 6))
    check(se3.Ad_inv_action(T, V), se3.Ad_action(se3.inverse(T), V))
    check(se3.coAd_inv_action(T, F), se3.coAd_action(se3.inverse(T), F))
    check(np.sum(se3.coAd_inv_action(T, F) * se3.Ad_action(T, V), -1), np.sum(F * V, -1))  # power is frame-free


def test_screw_and_back(rng):
    direction, point, pitch = rng.standard_normal((6, 3)), rng.standard_normal((6, 3)), rng.standard_normal(6)
    S = se3.screw(direction, point, pitch)
    back = se3.screw_parameters(2.5 * S)
    check(back.magnitude, np.full(6, 2.5))
    check(back.pitch, pitch)
    check(np.sum(back.point * back.direction, -1), np.zeros(6))
    check(back.magnitude[:, None] * se3.screw(back.direction, back.point, back.pitch), 2.5 * S)
    # A point of the axis only slides along it, by pitch times angle.
    check(se3.act(se3.exp(1.3 * S), point), point + 1.3 * pitch[:, None] * back.direction)


def test_translations_are_screws_of_infinite_pitch():
    S = se3.prismatic([0.0, 2.0, 0.0])
    check(S, [0, 0, 0, 0, 1, 0], units=0)
    check(se3.screw([0.0, 2.0, 0.0], [5.0, 6.0, 7.0], np.inf), S, units=0)
    back = se3.screw_parameters(3 * S)
    assert back.pitch == np.inf and back.magnitude == 3
    check(back.direction, [0, 1, 0], units=0)
    still = se3.screw_parameters(np.zeros(6))
    assert still.magnitude == 0 and np.all(np.isfinite(still.direction))


def test_interpolation_is_a_screw_motion(rng):
    A, B = se3.random(4, rng=rng), se3.random(4, rng=rng)
    check(se3.interpolate(A, B, 0.0), A)
    check(se3.interpolate(A, B, 1.0), B)
    check(se3.interpolate(A, se3.interpolate(A, B, 0.5), 0.5), se3.interpolate(A, B, 0.25))


def test_distance(rng):
    A, B, C = se3.random((3, 50), rng=rng)
    for length in (1.0, 0.1):
        ab = se3.distance(A, B, length)
        check(ab, se3.distance(B, A, length))
        check(ab, se3.distance(C @ A, C @ B, length))  # left-invariant
        assert np.all(ab <= se3.distance(A, C, length) + se3.distance(C, B, length) + 1e-14)
    assert se3.distance(A[0], A[0]) < 1e-15
    check(se3.distance(np.eye(4), se3.from_rotation_translation(so3.rotation_z(0.5), [0.0, 0.0, 0.0]), 2.0), 1.0)


# --- branches of log, derivatives of functions ------------------------------------------------------------------------


def test_branches_of_log_without_rotation_and_at_a_half_turn(rng):
    p = rng.standard_normal((5, 3))
    moved = se3.from_rotation_translation(np.eye(3), p)
    for turns in (-1, 0, 2):
        V = se3.log_branch(moved, float(turns))
        check(V[:, 3:], p)
        check(V[:, :3], 2 * np.pi * turns * p / np.linalg.norm(p, axis=1)[:, None])
        check(se3.exp(V), moved)
    check(se3.log_branch(np.eye(4), np.array([0.0, 1.0])), [[0] * 6, [2 * np.pi, 0, 0, 0, 0, 0]])
    half = se3.from_rotation_translation(np.diag([-1.0, 1, -1]), p)
    one, other = se3.log_branch(half, 0.0), se3.log_branch(half, -1.0)
    check(one[:, :3], -other[:, :3])
    check(one, se3.log(half))
    check(se3.exp(other), half)


@kernel(T=(4, 4))
def gaze(T):
    """Where a camera at T sees a point: two numbers."""
    x, y, z = se3.act(se3.inverse(T), np.array([0.3, -0.2, 9.0]))
    return np.stack([x / z, y / z])


@kernel(T=(4, 4))
def gaze_slope(T):
    """(2, 6): inside a kernel, row by row."""
    slopes = gaze.jacobian("T")(T)
    return np.stack([se3.body_derivative(T, slopes[0]), se3.body_derivative(T, slopes[1])])


@kernel(T=(4, 4), V=6)
def gaze_moved(T, V):
    return gaze(se3.compose(T, se3.exp(V)))


@kernel(T=(4, 4), V=6)
def gaze_moved_in_space(T, V):
    return gaze(se3.compose(se3.exp(V), T))


@pytest.mark.slow
def test_lie_derivatives_of_a_function(rng):
    """LWC (16): the slope by entries, in a batch or in a kernel, and the derivative by the twist of a motion."""
    T = se3.random(20, rng=rng, scale=0.3)
    slopes, still = gaze.jacobian("T")(T), np.zeros(6)
    want = gaze_moved.jacobian("V")(T, still)
    scale = np.abs(want).max(axis=(1, 2), keepdims=True)
    check(se3.body_derivative(T[:, None], slopes) / scale, want / scale, units=1000)
    check(gaze_slope(T) / scale, want / scale, units=1000)
    want = gaze_moved_in_space.jacobian("V")(T, still)
    scale = np.abs(want).max(axis=(1, 2), keepdims=True)
    check(se3.space_derivative(T[:, None], slopes) / scale, want / scale, units=1000)


# --- worked examples --------------------------------------------------------------------------------------------------


def test_park_example_1():
    """Park (1994), Example 1: 3R arm with screws A_i and home M, against its closed form."""
    L1, L2, q = 0.8, 0.6, np.array([0.4, -0.7, 1.1])
    A = np.array([[0, 0, 1, 0, 0, 0], [0, -1, 0, 0, 0, 0], [0, -1, 0, 0, 0, -L1]])
    M = se3.from_rotation_translation(np.eye(3), [L1 + L2, 0, 0])
    E = se3.exp(A * q[:, None])
    T = E[0] @ E[1] @ E[2] @ M
    k = L1 * np.cos(q[1]) + L2 * np.cos(q[1] + q[2])
    height = L1 * np.sin(q[1]) + L2 * np.sin(q[1] + q[2])
    check(T[:3, 3], [np.cos(q[0]) * k, np.sin(q[0]) * k, height])
    check(T[:3, :3], so3.rotation_z(q[0]) @ so3.rotation_y(-(q[1] + q[2])))


def test_park_lemma_4_at_trace_minus_one():
    """A half turn about z through (1, 0, 0), with a shift: v = (1 - [w]/2 + [w]²/π²) p."""
    w, p = np.array([0, 0, np.pi]), np.array([2.0, 0, 0.3])
    W = so3.hat(w)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.diag([-1, -1, 1]), p
    check(se3.log(T), np.concatenate([w, p - W @ p / 2 + W @ W @ p / np.pi**2]))


def test_fgl_camera_and_cube():
    """FGL problem 2.8: base<-cube composed of camera frames, given in the digest."""
    base_cam = np.array([[0, -1, 0, 10], [-1, 0, 0, 20], [0, 0, -1, 10], [0, 0, 0, 1.0]])
    cam_cube = np.array([[1, 0, 0, 10], [0, 0, 1, -1], [0, -1, 0, 5], [0, 0, 0, 1.0]])
    check(se3.compose(base_cam, cam_cube), [[0, 0, -1, 11], [-1, 0, 0, 10], [0, 1, 0, 5], [0, 0, 0, 1]], units=0)


# --- bad input beside good input --------------------------------------------------------------------------------------


def test_nan_stays_in_its_sample(rng):
    V = rng.standard_normal((9, 6))
    good = se3.exp(V)
    V[4, 1] = np.nan
    mixed = se3.exp(V)
    assert np.all(np.isnan(mixed[4, :3, :3]))
    check(np.delete(mixed, 4, 0), np.delete(good, 4, 0), units=0)
    logs = se3.log(mixed)
    assert np.all(np.isnan(logs[4])) and np.all(np.isfinite(np.delete(logs, 4, 0)))


@pytest.mark.parametrize(
    "call", [lambda: se3.exp(np.zeros(5)), lambda: se3.log(np.eye(3)), lambda: se3.act(np.eye(4), np.zeros(4))]
)
def test_wrong_shapes_are_refused(call):
    with pytest.raises(AdjointError):
        call()


def test_zero_direction_gives_nan():
    assert np.all(np.isnan(se3.prismatic(np.zeros(3))[3:]))
    assert np.any(np.isnan(se3.screw(np.zeros(3), np.zeros(3), 0.0)))
