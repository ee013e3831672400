"""Nonlinear decoupled feedback: outputs obey their own linear equations, of arms and of other systems."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import adjoint as aj
from adjoint import control
from adjoint.control import decoupling_law
from adjoint.errors import ArgumentError, SolveError
from adjoint.simulation import simulate

TWO = aj.robots.two_link()


# --- arms -------------------------------------------------------------------------------------------------------------


def test_book_arm():
    """D11: α_1 = 8, α_0 = λ = 16, w = (1, -0.5): θ(0.5) = w (1 - 3 e⁻²). Held forces err by O(dt), so two steps do."""
    w = np.array([1.0, -0.5])
    law = control.decoupled(TWO, w, alpha_0=16.0, alpha_1=8.0, scale=16.0)
    coarse, fine = (simulate(TWO, law, duration=0.5, dt=dt, integrator="rk4").q[-1] for dt in (2e-4, 1e-4))
    extrapolated = 2 * fine - coarse
    np.testing.assert_allclose(extrapolated, [0.593994, -0.296997], atol=6e-7)
    np.testing.assert_allclose(extrapolated, w * (1 - 3 * np.exp(-2)), atol=1e-7)


def test_tracking_form_is_computed_torque():
    robot, rng = aj.robots.puma560(), np.random.default_rng(0)
    path = aj.trajectory.quintic(np.zeros(6), np.ones(6), duration=1.0)
    q, v = rng.normal(size=(2, 10, 6))
    law = control.decoupled(robot, path, alpha_0=100.0, alpha_1=20.0)
    same = control.computed_torque(robot, path, kp=100.0, kd=20.0)
    np.testing.assert_allclose(law(robot, None, 0.3, q, v).tau, same(robot, None, 0.3, q, v).tau, rtol=1e-13)


def test_input_form_and_tracking_form_agree():
    """w = (a_d + α_1 v_d + α_0 q_d)/λ makes (5.6-24) track."""
    rng = np.random.default_rng(1)
    (q_d, v_d, a_d), (q, v) = rng.normal(size=(3, 2)), rng.normal(size=(2, 5, 2))
    w = (a_d + 8 * v_d + 16 * q_d) / 4
    inputs = control.decoupled(TWO, w, alpha_0=16.0, alpha_1=8.0, scale=4.0)
    tracks = control.decoupled(TWO, control.Target(q_d, v_d, a_d), alpha_0=16.0, alpha_1=8.0)
    np.testing.assert_allclose(inputs(TWO, None, 0.0, q, v).tau, tracks(TWO, None, 0.0, q, v).tau, rtol=1e-12)


def test_input_may_be_a_function_of_time():
    law = control.decoupled(TWO, lambda t: np.stack([np.sin(t), 0 * t]), alpha_0=16.0, alpha_1=8.0, scale=16.0)
    run = simulate(TWO, law, duration=0.2, dt=1e-3)
    constant = law.replace(reference=np.array([np.sin(0.1), 0.0]))
    np.testing.assert_allclose(run.tau[100], constant(TWO, None, 0.1, run.q[100], run.v[100]).tau, rtol=1e-12)


def test_batch_equals_single_runs():
    alphas = np.array([9.0, 16.0, 25.0])
    law = control.decoupled(TWO, [1.0, -0.5], alpha_0=16.0, alpha_1=8.0, scale=16.0)
    run = simulate(TWO, law.replace(alpha_0=alphas, scale=alphas), duration=0.2, dt=1e-3)
    for k, alpha in enumerate(alphas):
        one = simulate(TWO, law.replace(alpha_0=alpha, scale=alpha), duration=0.2, dt=1e-3)
        np.testing.assert_array_equal(run.q[k], one.q)
    assert "decoupled(" in law.source("c")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha_0": -1.0, "alpha_1": 8.0}, "decoupled: alpha_0 must be finite and positive, got -1"),
        ({"alpha_0": 1.0, "alpha_1": [1.0, np.inf]}, "alpha_1 must be finite and positive, got inf at place 1"),
        ({"alpha_0": 1.0, "alpha_1": 8.0, "scale": [1.0] * 3}, r"scale has shape \(3,\)"),
    ],
)
def test_bad_gains(options, words):
    with pytest.raises(ArgumentError, match=words):
        control.decoupled(TWO, np.zeros(2), **options)


def test_bad_input_w():
    with pytest.raises(ArgumentError, match="decoupled: argument 'reference' has shape"):
        control.decoupled(TWO, np.zeros(3), alpha_0=1.0, alpha_1=1.0, scale=1.0)


# --- other systems ----------------------------------------------------------------------------------------------------


def arm_drift(x):
    return np.concatenate([x[2:], aj.forward_dynamics(TWO, x[:2], x[2:], np.zeros(2))])


def arm_inputs(x):
    return np.concatenate([np.zeros((2, 2)), np.linalg.inv(aj.mass_matrix(TWO, x[:2]))])


def first_two(x):
    return x[:2]


@pytest.mark.slow
def test_general_form_of_an_arm_is_the_law_of_the_arm():
    x = np.random.default_rng(2).normal(size=(50, 4))
    found = decoupling_law(arm_drift, arm_inputs, first_two, x, alpha=[[16.0, 8.0], [25.0, 10.0]])
    assert found.degrees == (2, 2)
    law = control.decoupled(TWO, [1.0, -0.5], alpha_0=[16.0, 25.0], alpha_1=[8.0, 10.0], scale=[16.0, 25.0])
    want = law(TWO, None, 0.0, x[:, :2], x[:, 2:]).tau
    got = found.law(x, [1.0, -0.5])
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())
    np.testing.assert_allclose(found.outputs(x), np.stack([x[:, :2], x[:, 2:]], axis=-1), rtol=1e-14)
    scaled = found.law(x, [1.0, -0.5], scale=[0.0, 0.0])
    np.testing.assert_allclose(scaled, found.law(x, [0.0, 0.0]), rtol=1e-13, atol=1e-13)


ELASTIC = {"I": 0.5, "J": 0.2, "k": 20.0, "m": 4.0}


def elastic_drift(x):
    """An elastic joint: I θ'' + m sin θ + k (θ - φ) = 0 and J φ'' + k (φ - θ) = u, x = (θ, θ', φ, φ')."""
    I, J, k, m = ELASTIC.values()
    return np.stack([x[1], (k * (x[2] - x[0]) - m * np.sin(x[0])) / I, x[3], k * (x[0] - x[2]) / J])


def elastic_inputs(x):
    return np.array([[0.0], [0.0], [0.0], [1 / ELASTIC["J"]]])


def first(x):
    return x[:1]


def test_elastic_joint_has_degree_four():
    x = np.random.default_rng(3).normal(size=(20, 4))
    found = decoupling_law(elastic_drift, elastic_inputs, first, x, poles=6.0)
    assert found.degrees == (4,)
    I, J, k, m = ELASTIC.values()
    np.testing.assert_allclose(found.matrix(x), np.full((20, 1, 1), k / I / J), rtol=1e-13)
    # The derivatives of θ by hand: θ'' from the equation of motion, θ''' its derivative.
    y = found.outputs(x)[:, 0]
    np.testing.assert_allclose(y[:, 2], (k * (x[:, 2] - x[:, 0]) - m * np.sin(x[:, 0])) / I, rtol=1e-12)
    third = (k * (x[:, 3] - x[:, 1]) - m * np.cos(x[:, 0]) * x[:, 1]) / I
    np.testing.assert_allclose(y[:, 3], third, rtol=1e-11, atol=1e-11)
    outer = decoupling_law(elastic_drift, elastic_inputs, lambda x: x[2:3], x, poles=6.0)  # the motor's angle
    assert outer.degrees == (2,)


def test_elastic_joint_obeys_its_linear_equation():
    """(d/dt + ω)⁴ y = ω⁴ w, from any state: compared with the matrix exponential."""
    start, w, omega = np.array([0.5, -1.0, 0.3, 2.0]), np.array([0.8]), 6.0
    found = decoupling_law(elastic_drift, elastic_inputs, first, start, poles=omega)

    def rate(t, x):
        return elastic_drift(x) + elastic_inputs(x) @ found.law(x, w)

    end = solve_ivp(rate, (0, 0.7), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    companion = np.diag(np.ones(3), 1)
    companion[3] = -np.array([omega**4, 4 * omega**3, 6 * omega**2, 4 * omega])
    rest = np.array([w[0], 0, 0, 0])
    want = rest + expm(0.7 * companion) @ (found.outputs(start)[0] - rest)
    np.testing.assert_allclose(found.outputs(end)[0], want, atol=1e-7)  # rtol of the solver times the size of θ'''


def wheels(x):
    """A unicycle at (x, y), heading θ, driven with speed and turning rate."""
    c, s = np.cos(x[2]), np.sin(x[2])
    return np.stack([np.stack([c, 0.0]), np.stack([s, 0.0]), np.stack([0.0, 1.0])])


@pytest.mark.slow
def test_unicycle_needs_a_point_ahead_of_its_axle():
    x = [[0.0, 0.0, 0.3], [1.0, 2.0, -1.0]]

    def ahead(x):
        return x[:2] + 0.1 * np.stack([np.cos(x[2]), np.sin(x[2])])

    found = decoupling_law(lambda x: np.zeros(3), wheels, ahead, x, poles=[2.0, 3.0])
    assert found.degrees == (1, 1)
    np.testing.assert_allclose(np.linalg.det(found.matrix(x)), 0.1, rtol=1e-13)
    u = found.law(x, [[1.0, 1.0], [0.0, 0.0]])
    y = np.stack([ahead(np.array(k)) for k in x])
    rate = np.einsum("kij,kj->ki", found.matrix(x), u)
    np.testing.assert_allclose(rate, np.array([2.0, 3.0]) * (np.array([[1.0, 1], [0, 0]]) - y), rtol=1e-12)
    with pytest.raises(SolveError, match=r"relative degrees \(1, 1\) is singular at state 0, x = \[0.0, 0.0, 0.3\]"):
        decoupling_law(lambda x: np.zeros(3), wheels, first_two, x, poles=2.0)


@pytest.mark.slow
def test_unicycle_with_an_integrator_is_singular_at_rest():
    """Speed as a state: y = (x, y) has degrees (2, 2), and det D* is the speed."""

    def drift(x):
        return np.stack([x[3] * np.cos(x[2]), x[3] * np.sin(x[2]), 0.0, 0.0])

    def inputs(x):
        return np.array([[0.0, 0], [0, 0], [0, 1], [1, 0]])

    found = decoupling_law(drift, inputs, first_two, [0.0, 0, 0.3, 0.5], poles=2.0)
    assert found.degrees == (2, 2)
    x = np.array([[0.0, 0, 0.3, 0.5], [0, 0, 0.3, 0.0], [0, 0, 1.0, -2.0]])
    np.testing.assert_allclose(np.abs(np.linalg.det(found.matrix(x))), np.abs(x[:, 3]), atol=1e-15)
    u = found.law(x, [1.0, 1.0])
    assert np.isfinite(u[[0, 2]]).all()
    assert not np.isfinite(u[1]).all() or np.abs(u[1]).max() > 1e10  # a robot at rest: only its own sample
    with pytest.raises(SolveError, match="singular at state 1"):
        decoupling_law(drift, inputs, first_two, x, poles=2.0)


def test_rounding_is_no_input():
    """cos² + sin² does not depend on x, but its slope is rounding; the degree of y is still 2."""

    def output(x):
        return np.stack([x[0] + np.cos(x[1]) ** 2 + np.sin(x[1]) ** 2])

    states = np.random.default_rng(5).normal(size=(100, 2))
    found = decoupling_law(
        lambda x: np.stack([x[1], 0.0]), lambda x: np.array([[0.0], [1.0]]), output, states, poles=1.0
    )
    assert found.degrees == (2,)


def double(x):
    return np.stack([x[1], 0.0])


def push(x):
    return np.array([[0.0], [1.0]])


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ((double, push, first), {}, ArgumentError, "give either poles or alpha"),
        ((double, push, first), {"poles": 1.0, "alpha": [[1, 2]]}, ArgumentError, "give either poles or alpha"),
        ((double, push, first), {"poles": -1.0}, ArgumentError, "poles must be finite and positive"),
        ((double, push, first), {"alpha": [[1.0]]}, ArgumentError, r"alpha must have \(2,\) finite numbers"),
        ((3, push, first), {"poles": 1.0}, ArgumentError, "A must be a function of x, got int"),
        ((double, push, first_two), {"poles": 1.0}, ArgumentError, "as many outputs as inputs"),
        ((lambda x: x[:1], push, first), {"poles": 1.0}, ArgumentError, r"A, B, C give shapes \(1,\)"),
        (
            (double, lambda x: np.array([[1.0], [0.0]]), lambda x: x[1:]),
            {"poles": 1.0},
            SolveError,
            "depends on an inp",
        ),
    ],
)
def test_bad_systems(given, options, error, words):
    with pytest.raises(error, match=words):
        decoupling_law(*given, [0.1, 0.2], **options)


def test_bad_states():
    with pytest.raises(ArgumentError, match="x must be finite states"):
        decoupling_law(double, push, first, [np.nan, 0.0], poles=1.0)
