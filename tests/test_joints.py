"""Joints: every row of the table, in the body's own frame and in any other, obeys the same laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.laws import check, mul

from adjoint import kernel
from adjoint.compile.front.inline import eagerly
from adjoint.lie import se3, so3
from adjoint.model import JOINTS
from adjoint.model.joints import standard_screws

KINDS = list(JOINTS)
SLANTED = (1.0, -2.0, 0.5)
FRAMES = ["body", "slanted axis", "elsewhere"]  # S_std, other axes, S = Ad(Q) S_std
QUATERNION = {"spherical": slice(0, 4), "free": slice(3, 7)}


def screws(kind: str, frame: str, seed: int = 0) -> np.ndarray:
    """S (nv, 6) of a joint, one screw per row."""
    rng = np.random.default_rng(seed)
    if kind == "screw":
        S = se3.screw.eager(np.array([0.0, 0, 1]), np.zeros(3), 0.3)[None]
    else:
        axis = SLANTED if frame == "slanted axis" else (0.0, 0.0, 1.0)
        S = standard_screws(kind, axis, 0.2 if kind == "helical" else 0.0)
    return mul(se3.Ad.eager(se3.random(rng=rng)), S) if frame == "elsewhere" else S


def sample(kind: str, seed: int = 0):
    """(q, v) of one joint, away from every special place."""
    row, rng = JOINTS[kind], np.random.default_rng(seed)
    free = np.full(row.nq, np.inf)
    return row.random(rng, -free, free, ()), rng.uniform(0.2, 0.8, row.nv) * rng.choice([-1, 1], row.nv)


def motion(kind, q, S):
    """J(q) (4, 4), in plain NumPy."""
    with eagerly():
        return JOINTS[kind].placement(q, S)


def moved(kind, q, v, t=1.0):
    """q after moving with v for the time t."""
    with eagerly():
        return JOINTS[kind].integrate(q, v * t)


def tangent(kind, q_0, q_1):
    """v that moves q_0 to q_1 in unit time."""
    with eagerly():
        return JOINTS[kind].difference(q_0, q_1)


def rigid(T):
    check(T[:3, :3] @ T[:3, :3].T, np.eye(3))
    assert np.linalg.det(T[:3, :3]) > 0
    check(T[3], [0, 0, 0, 1], units=0)


every_kind = pytest.mark.parametrize("kind", KINDS)
every_frame = pytest.mark.parametrize("frame", FRAMES)


# --- the table --------------------------------------------------------------------------------------------------------


@every_kind
def test_sizes(kind):
    row = JOINTS[kind]
    q, v = sample(kind)
    assert q.shape == (row.nq,) == (len(row.neutral),)
    assert screws(kind, "body").shape == (row.nv, 6)
    assert moved(kind, q, v).shape == (row.nq,)
    assert tangent(kind, q, q).shape == (row.nv,)
    assert row.does


@every_kind
@every_frame
def test_neutral_is_the_identity(kind, frame):
    check(motion(kind, np.array(JOINTS[kind].neutral), screws(kind, frame)), np.eye(4))


@every_kind
@every_frame
def test_motions_are_rigid(kind, frame):
    for seed in range(5):
        rigid(motion(kind, sample(kind, seed)[0], screws(kind, frame, seed)))


@every_kind
def test_standard_screws_lead_where_the_coordinates_say(kind):
    """One degree of freedom: exp(S q); planar: x, y and the angle; free and spherical: translation and quaternion."""
    q, _ = sample(kind)
    S = screws(kind, "body")
    T = motion(kind, q, S)
    if JOINTS[kind].nv == 1:
        check(T, se3.exp.eager(S[0] * q[0]))
    elif kind == "planar":
        check(T, se3.from_rotation_translation.eager(so3.rotation_z.eager(q[2]), np.array([q[0], q[1], 0])))
    else:
        quat, p = q[-4:], np.concatenate([q[:-4], np.zeros(3)])[:3]
        check(T, se3.from_rotation_translation.eager(so3.from_quat_wxyz.eager(quat), p))


@every_kind
def test_joints_move_with_their_frame(kind):
    """S = Ad(Q) S_std moves as Q J_std Q⁻¹: the frame found in S is the one that was put in."""
    q, _ = sample(kind, 3)
    Q = se3.random(rng=8)
    S = screws(kind, "body")
    expected = Q @ motion(kind, q, S) @ np.linalg.inv(Q)
    check(motion(kind, q, mul(se3.Ad.eager(Q), S)), expected)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -2), (0, -1, 0), SLANTED])
def test_axes_need_not_be_unit_vectors(axis):
    unit = np.array(axis) / np.linalg.norm(axis)
    check(standard_screws("revolute", axis), [[*unit, 0, 0, 0]])
    check(standard_screws("prismatic", axis), [[0, 0, 0, *unit]])
    check(standard_screws("helical", axis, 0.5), [[*unit, *(0.5 * unit)]])
    turn, x, y = standard_screws("planar", axis)
    check(turn, [*unit, 0, 0, 0])
    check(np.cross(x[3:], y[3:]), unit)  # right-handed and orthonormal, as |x| = |y| = 1
    check([np.linalg.norm(x[3:]), np.linalg.norm(y[3:])], [1, 1])
    check([*x[:3], *y[:3]], np.zeros(6), units=0)


def test_planar_joints_use_the_body_axes_where_they_can():
    check(standard_screws("planar", (0, 0, 1))[1:, 3:], [[1, 0, 0], [0, 1, 0]], units=0)
    check(standard_screws("planar", (1, 0, 0))[1:, 3:], [[0, 1, 0], [0, 0, 1]], units=0)


# --- velocities -------------------------------------------------------------------------------------------------------


@every_kind
@every_frame
def test_the_body_twist_is_S_v(kind, frame):
    """vee(J⁻¹ dJ/dt) = S v along q(t) = integrate(q, v t), by forward derivatives through the kernels.

    The one-parameter property makes it hold at every t, not only where the motion starts.
    """
    S, row = screws(kind, frame), JOINTS[kind]

    @kernel(q=row.nq, v=row.nv)
    def along(q, v, t):
        return row.placement(row.integrate(q, v * t), S)

    for seed, t in enumerate((0.0, 0.7)):
        q, v = sample(kind, seed)
        T, rate = along.jvp.eager(q, v, t, 0 * q, 0 * v, 1.0)
        check(se3.vee.eager(np.linalg.inv(T) @ rate), v @ S)


@every_kind
@every_frame
def test_the_body_twist_by_differences(kind, frame):
    """The same law by central differences: h² times third derivatives of order |v|³ (at most 40) plus eps / h."""
    S, h = screws(kind, frame), 1e-5
    q, v = sample(kind, 5)
    T = motion(kind, q, S)
    ahead, behind = (motion(kind, moved(kind, q, v, s * h), S) for s in (1, -1))
    twist = se3.vee.eager(np.linalg.inv(T) @ (ahead - behind) / (2 * h))
    np.testing.assert_allclose(twist, v @ S, rtol=0, atol=2e-9)


# --- the configuration manifold ---------------------------------------------------------------------------------------


def same_place(kind, q, other):
    """Equal as configurations: quaternions up to sign, angles of planar joints as they are."""
    q, other = np.array(q), np.array(other)
    if kind in QUATERNION and q[QUATERNION[kind]] @ other[QUATERNION[kind]] < 0:
        other[QUATERNION[kind]] *= -1
    check(q, other)


@every_kind
def test_difference_undoes_integrate(kind):
    for seed in range(5):
        q, v = sample(kind, seed)
        check(tangent(kind, q, moved(kind, q, v)), v)


@every_kind
def test_integrate_undoes_difference(kind):
    for seed in range(5):
        q_0, q_1 = sample(kind, seed)[0], sample(kind, seed + 50)[0]
        if kind == "planar":
            q_1[2] = q_0[2] + 0.9 * (q_1[2] - q_0[2]) / 2  # the short way: less than half a turn
        same_place(kind, moved(kind, q_0, tangent(kind, q_0, q_1), 1.0), q_1)


@every_kind
def test_motion_along_v_is_a_one_parameter_group(kind):
    q, v = sample(kind, 2)
    there = moved(kind, moved(kind, q, v, 0.3), v, 1.4)
    same_place(kind, there, moved(kind, q, v, 1.7))
    same_place(kind, moved(kind, there, v, -1.7), q)
    same_place(kind, moved(kind, q, v, 0.0), q)


@every_kind
@every_frame
def test_integrate_is_the_exponential(kind, frame):
    """J(integrate(q, v)) = J(q) exp(S v), whatever frame the joint has: v moves the body along constant screws."""
    S = screws(kind, frame)
    q, v = sample(kind, 7)
    after = motion(kind, moved(kind, q, v), S)
    check(after, motion(kind, q, S) @ se3.exp.eager(v @ S))


@pytest.mark.parametrize("kind", list(QUATERNION))
def test_the_sign_of_a_quaternion_means_nothing(kind):
    q_0, v = sample(kind, 1)
    q_1, _ = sample(kind, 2)
    part = QUATERNION[kind]
    flipped = q_0.copy()
    flipped[part] *= -1
    S = screws(kind, "elsewhere")
    check(motion(kind, flipped, S), motion(kind, q_0, S), units=2)
    check(tangent(kind, flipped, q_1), tangent(kind, q_0, q_1), units=10)
    after, before = moved(kind, flipped, v), moved(kind, q_0, v)
    check(after[part], -before[part], units=2)


@pytest.mark.parametrize("kind", list(QUATERNION))
def test_quaternions_stay_of_unit_length(kind):
    q, v = sample(kind, 4)
    for _ in range(1000):
        q = moved(kind, q, v, 0.1)
    np.testing.assert_allclose(np.linalg.norm(q[QUATERNION[kind]]), 1, rtol=0, atol=4e-16)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.floats(-9, 0))
def test_difference_undoes_integrate_however_small(kind, seed, exponent):
    """Steps from 1e-9 to 1: the error is that of the coordinates, not of the step."""
    q, v = sample(kind, seed)
    v = v * 10.0**exponent
    np.testing.assert_allclose(tangent(kind, q, moved(kind, q, v)), v, rtol=0, atol=1e-14)


# --- derivatives and machine code -------------------------------------------------------------------------------------


@every_kind
def test_derivatives_at_neutral_are_finite_and_right(kind):
    """d integrate / dv at v = 0 and d difference / dq_1 at q_1 = q_0 are inverse to each other on the tangent space."""
    row = JOINTS[kind]
    q, zero = np.array(row.neutral), np.zeros(row.nv)
    D = kernel(v=row.nv)(lambda v: row.integrate(q, v)).jacobian("v").eager(zero)
    E = kernel(end=row.nq)(lambda end: row.difference(q, end)).jacobian("end").eager(q)
    assert np.all(np.isfinite(D)) and np.all(np.isfinite(E))
    check(E @ D, np.eye(row.nv))


@every_kind
def test_compiled_is_eager(kind):
    rng = np.random.default_rng(6)
    row, S = JOINTS[kind], screws(kind, "elsewhere")
    free = np.full(row.nq, np.inf)
    q, v = row.random(rng, -free, free, (5,)), rng.standard_normal((5, row.nv))

    @kernel(q=row.nq, v=row.nv)
    def everything(q, v):
        after = row.integrate(q, v)
        return np.concatenate([np.ravel(row.placement(q, S)), after, row.difference(q, after)])

    check(everything(q, v), [everything.eager(*x) for x in zip(q, v, strict=True)], units=50)


@pytest.mark.parametrize("kind", KINDS)
def test_random_is_inside_the_limits(kind):
    """Limits on both sides, on one side, on none; quaternions are of unit length instead."""
    row, rng = JOINTS[kind], np.random.default_rng(0)
    n = QUATERNION[kind].start if kind in QUATERNION else row.nq
    for low, high in [(-0.2, 0.3), (5.0, np.inf), (-np.inf, -5.0), (-np.inf, np.inf), (1.0, 1.0)]:
        lower, upper = np.full(row.nq, low), np.full(row.nq, high)
        q = row.random(rng, lower, upper, (3, 40))
        assert q.shape == (3, 40, row.nq)
        assert np.all(q[..., :n] >= low) and np.all(q[..., :n] <= high)
        assert high == low or np.all(np.ptp(q.reshape(-1, row.nq), axis=0) > 0.1)
        if kind in QUATERNION:
            np.testing.assert_allclose(np.linalg.norm(q[..., QUATERNION[kind]], axis=-1), 1, rtol=1e-15)
