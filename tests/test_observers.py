"""Observers: velocities from positions, disturbances from momenta, and states by Kalman filters."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import solve_discrete_are
from support.c_code import run_c
from support.control_laws import asked, cart, constant, floating, position_probe, velocity_probe

import adjoint as aj
from adjoint import control
from adjoint.control import state_of
from adjoint.errors import ArgumentError, SolveError
from adjoint.simulation import force, simulate

PUMA = aj.robots.puma560()
ARM = aj.robots.two_link()
CART = cart(2.0)
T = 0.001
START = np.linspace(-0.5, 0.5, 6)


def push(robot, p, t, q, v):
    return p.size + np.zeros(robot.nv)


def computed(robot, **gains):
    return control.computed_torque(robot, np.zeros(robot.nq), **({"kp": 100.0, "kd": 20.0} | gains))


# --- velocities -------------------------------------------------------------------------------------------------------


def motions(robot, steps=30):
    """Positions (steps, nq) of a motion with constant velocity, and that velocity (nv,)."""
    v = np.random.default_rng(1).normal(size=robot.nv)
    q = aj.random_configuration(robot, rng=0)
    return np.array([aj.integrate(robot, q, v, T * k) for k in range(steps)]), v


@pytest.mark.parametrize("robot", [PUMA, floating()], ids=["puma", "floating"])
def test_differences_of_positions(robot):
    q, v = motions(robot)
    wrong = np.full((len(q), robot.nv), 1e6)  # the measured velocity, which does not count
    found, state = asked(control.differenced_velocity(velocity_probe(robot), T), robot, q, wrong, T * np.arange(len(q)))
    assert np.all(found[0] == 0)
    # q is rounded to 1e-16 or so, and differences of it are divided by T
    np.testing.assert_allclose(found[1:], np.tile(v, (len(q) - 1, 1)), rtol=0, atol=16 * 2.0**-52 * np.abs(q).max() / T)
    np.testing.assert_array_equal(state_of(state, control.Differenced).q, q[-1])


def test_differences_of_positions_with_a_filter():
    q, v = motions(PUMA)
    law = control.differenced_velocity(velocity_probe(PUMA), T, cutoff=200.0)
    found, _ = asked(law, PUMA, q, 0 * q, T * np.arange(len(q)))
    wanted = v * (1 - np.exp(-0.2 * np.arange(len(q))))[:, None]  # the filter starts at the first velocity, 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    inside = control.low_pass(velocity_probe(PUMA), 200.0, T, of="velocity")
    np.testing.assert_array_equal(found, asked(control.differenced_velocity(inside), PUMA, q, 0 * q, T * q[:, 0])[0])


def test_encoders_alone_are_nearly_as_good_as_velocities():
    """A robot under computed torque with velocities from counts of encoders comes to rest within a few counts."""
    law = control.quantised(control.differenced_velocity(computed(PUMA), T, cutoff=300.0), position=1e-5)
    run = simulate(PUMA, law, q=START, duration=2.0, dt=T, record=20)
    assert np.abs(run.q[-10:]).max() < 3e-5
    plain = simulate(PUMA, computed(PUMA), q=START, duration=2.0, dt=T, record=20)
    assert np.abs(run.q - plain.q).max() < 0.02


@pytest.mark.parametrize("robot", [PUMA, floating()], ids=["puma", "floating"])
def test_velocity_observer_has_its_poles(robot):
    """The same as the linear system x ← (1 - K C) A x + K y, whose eigenvalues are both exp(-ω T)."""
    q, v = motions(robot, 200)
    law = control.velocity_observer(velocity_probe(robot), 100.0, T)
    found, state = asked(law, robot, q, np.zeros((200, robot.nv)), T * np.arange(200))
    z = np.exp(-0.1)
    A, K, C = np.array([[1, T], [0, 1]]), np.array([[1 - z * z], [(1 - z) ** 2 / T]]), np.array([[1.0, 0]])
    closed = (np.eye(2) - K @ C) @ A
    np.testing.assert_allclose(np.poly(closed), np.poly([z, z]), rtol=1e-14)
    x, wanted = np.zeros(2), []
    for k in range(200):
        x = closed @ x + K[:, 0] * T * k
        wanted.append(x[1])
    # errors are v times those of a joint with unit velocity, whatever the motions of the joint are
    np.testing.assert_allclose(found, np.array(wanted)[:, None] * v, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[-1], v, atol=1e-5 * np.abs(v).max())
    assert np.abs(aj.difference(robot, state_of(state, control.Observed).q, q[-1])).max() < 1e-7


@pytest.mark.slow
def test_velocity_observer_hears_less_noise_than_differences():
    """Noise σ in positions: differences have σ √2 / T; the observer has far less."""
    sigma, n = 1e-4, 5000
    rng = np.random.default_rng(0)
    q = sigma * rng.normal(size=(n, 1))
    zero, t = np.zeros((n, 1)), T * np.arange(n)
    found = {
        "differences": asked(control.differenced_velocity(velocity_probe(CART), T), CART, q, zero, t)[0],
        "observer": asked(control.velocity_observer(velocity_probe(CART), 50.0, T), CART, q, zero, t)[0],
    }
    spread = {k: x[1000:].std() for k, x in found.items()}
    z = np.exp(-0.05)
    factor = np.sqrt(2 * (1 - z) ** 3 / (1 + z) ** 3)  # variance reduction of the fading-memory filter, times T² / σ²
    # 4000 samples: the standard deviation of a spread is 1.4 %; estimates of the observer are alike for about 30 steps
    assert abs(spread["differences"] / (sigma * np.sqrt(2) / T) - 1) < 0.07
    assert abs(spread["observer"] / (sigma * factor / T) - 1) < 0.3


# --- disturbances -----------------------------------------------------------------------------------------------------


def test_disturbance_of_a_cart_with_its_time_constant():
    """r' = ω (d - r): after k instants r = d (1 - exp(-ω k T)), exactly, since the cart's steps are exact."""
    law = control.disturbance_observer(constant(3.0, CART), 20.0, T, compensate=False)
    run = simulate(CART, law, duration=0.4, dt=T, forces=force(push, size=5.0))
    found = state_of(run.state, control.Disturbance).torque[:, 0]
    k = np.maximum(np.arange(len(found)) - 1, 0)  # the state at t is that before the law is asked at t
    np.testing.assert_allclose(found, 5 * (1 - np.exp(-20 * T * k)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.interp(1 / 20, T * k, found), 5 * (1 - np.exp(-1)), rtol=1e-3)
    np.testing.assert_array_equal(run.tau, np.full_like(run.tau, 3))


def test_compensated_cart_moves_as_if_nothing_pushed():
    law = control.disturbance_observer(constant(3.0, CART), 20.0, T)
    run = simulate(CART, law, duration=2.0, dt=T, forces=force(push, size=5.0))
    np.testing.assert_allclose(run.tau[-1], 3 - 5, rtol=1e-12)
    np.testing.assert_allclose(run.a[-1], 3 / 2.0, rtol=1e-12)


def _error_of_estimate(dt, robot=PUMA):
    """The largest error of the estimate while the arm moves fast, beside that of the ideal filter."""
    size = np.linspace(1, 6, robot.nv)
    law = control.disturbance_observer(computed(robot), 30.0, dt, compensate=False)
    run = simulate(
        robot,
        law,
        q=np.linspace(-1, 1, robot.nv),
        v=np.linspace(2, -2, robot.nv),
        duration=0.4,
        dt=dt,
        forces=force(push, size=size),
    )
    found = state_of(run.state, control.Disturbance).torque
    return np.abs(found - size * (1 - np.exp(-30 * run.t))[:, None]).max()


@pytest.mark.slow
def test_disturbance_of_an_arm_in_motion():
    """Differences of momenta are those of the model to the first order of the period."""
    errors = [_error_of_estimate(dt) for dt in (1e-3, 5e-4, 2.5e-4)]
    for coarse, fine in itertools.pairwise(errors):
        assert 1.8 < coarse / fine < 2.2


def test_disturbance_observer_takes_away_the_error_of_rest():
    """Under computed torque a constant push d leaves the error M⁻¹ d / kp; with the observer it leaves none."""
    size = np.linspace(1, 6, 6)
    law, gust = computed(PUMA), force(push, size=size)
    plain = simulate(PUMA, law, q=START, duration=3.0, dt=T, forces=gust, record=100)
    left = plain.q[-1]
    # at rest 100 M(q) (0 - q) = -d
    np.testing.assert_allclose(100 * aj.mass_matrix(PUMA, left) @ left, size, rtol=1e-6)
    law = control.disturbance_observer(law, 50.0, T)
    watched = simulate(PUMA, law, q=START, duration=3.0, dt=T, forces=gust, record=100)
    assert np.abs(watched.q[-1]).max() < 1e-8
    np.testing.assert_allclose(state_of(watched.state, control.Disturbance).torque[-1], size, rtol=1e-6)


def test_disturbance_of_a_free_body():
    """Also where joints have several degrees of freedom: a push on a floating robot is found."""
    robot = floating()
    law = control.disturbance_observer(constant(0.0, robot), 100.0, T, compensate=False)
    q = aj.random_configuration(robot, rng=1)
    size = np.linspace(0.1, 0.4, 7)
    run = simulate(robot, law, q=q, duration=0.1, dt=1e-3, forces=force(push, size=size))
    found = state_of(run.state, control.Disturbance).torque[-1]
    fine = simulate(robot, law.replace(period=1e-4), q=q, duration=0.1, dt=1e-4, forces=force(push, size=size))
    finer = state_of(fine.state, control.Disturbance).torque[-1]
    # 10 time constants have passed; the error left is of the first order of the period
    assert np.abs(finer - size).max() < 0.2 * np.abs(found - size).max() + 1e-4


def test_a_batch_of_disturbances():
    law = control.disturbance_observer(constant(0.0, CART), 50.0, T).replace(
        disturbance_bandwidth=np.array([20.0, 50, 80])
    )
    run = simulate(CART, law, duration=0.1, dt=T, forces=force(push, size=1.0).replace(size=np.array([1.0, 2, 3])))
    found = state_of(run.state, control.Disturbance).torque[:, -1, 0]
    np.testing.assert_allclose(
        found, [d * (1 - np.exp(-w * T * 99)) for d, w in zip([1, 2, 3], [20, 50, 80], strict=True)], rtol=1e-9
    )


# --- Kalman filters ---------------------------------------------------------------------------------------------------


def free_model(n, sigma):
    one = np.eye(n)
    G = np.concatenate([T * T / 2 * one, T * one])
    return np.block([[one, T * one], [0 * one, one]]), G @ (sigma**2 * G.T)


def riccati(A, C, Q, R):
    """The covariance before a measurement, the one after it, and the gain, in the steady state."""
    P = solve_discrete_are(A.T, C.T, Q, R)
    K = np.linalg.solve(C @ P @ C.T + R, C @ P).T
    return P, P - K @ C @ P, K


def test_covariance_becomes_that_of_the_riccati_equation():
    law = control.kalman(velocity_probe(ARM), process=50.0, measurement=[1e-4, 2e-4], period=T)
    q = np.zeros((3000, 2))
    _, state = asked(law, ARM, q, q, T * np.arange(3000))
    A, Q = free_model(2, 50.0)
    _, after, K = riccati(A, np.eye(2, 4), Q, np.diag([1e-8, 4e-8]))
    np.testing.assert_allclose(state_of(state, control.Estimate).covariance, after, rtol=1e-7, atol=1e-14)
    steady = control.kalman(velocity_probe(ARM), process=50.0, measurement=[1e-4, 2e-4], period=T, steady=True)
    np.testing.assert_allclose(steady.numbers["kalman_gain"], K, rtol=1e-9)


def test_a_linear_model_with_any_measurements():
    """A, B of `linearize` about a rest; measured are the sum of angles and one velocity."""
    rest, C = np.array([0.3, 0.5]), np.array([[1.0, 1, 0, 0], [0, 0, 0, 1]])
    hold = aj.dynamics.gravity_torque(ARM, rest)
    system = aj.linearize(ARM, rest, np.zeros(2), hold, dt=T)
    Q, R = np.diag([1e-9, 1e-9, 1e-5, 2e-5]), np.array([[1e-6, 2e-7], [2e-7, 1e-5]])
    given = {"process": Q, "measurement": R, "period": T, "model": system, "about": (rest, hold), "C": C}
    before, after, K = riccati(system.A, C, Q, R)
    law = control.kalman(velocity_probe(ARM), **given, start=before)  # it is steady from the start
    for steps in (1, 50):
        _, state = asked(law, ARM, np.tile(rest, (steps, 1)), np.zeros((steps, 2)), T * np.arange(steps))
        np.testing.assert_allclose(state_of(state, control.Estimate).covariance, after, rtol=1e-8, atol=1e-14)
    steady = control.kalman(velocity_probe(ARM), **given, steady=True)
    np.testing.assert_allclose(steady.numbers["kalman_gain"], K, rtol=1e-8, atol=1e-12)


def test_the_filter_is_that_of_the_textbook():
    """Step by step beside a second formulation, in information form: P⁻¹ ← P⁻¹ + Cᵀ R⁻¹ C."""
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=(2, 12, 2))
    C, R = rng.normal(size=(3, 4)), np.diag([0.1, 0.2, 0.3])
    A, Q = free_model(2, 5.0)
    law = control.kalman(velocity_probe(ARM), process=5.0, measurement=R, period=T, C=C, start=2.0)
    found, state = asked(law, ARM, q, v, T * np.arange(12))
    x, P = np.concatenate([q[0], np.zeros(2)]), 4 * np.eye(4)
    for k in range(12):
        if k:
            x, P = A @ x, A @ P @ A.T + Q
        P = np.linalg.inv(np.linalg.inv(P) + C.T @ np.linalg.solve(R, C))
        x = x + P @ C.T @ np.linalg.solve(R, C @ (np.concatenate([q[k], v[k]]) - x))
        np.testing.assert_allclose(found[k], x[2:], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(state_of(state, control.Estimate).covariance, P, rtol=1e-9, atol=1e-12)


def test_errors_are_as_large_as_the_filter_says():
    """With the noise that the model assumes, xᵀ P⁻¹ x of the error x has the mean of χ², 2 nv."""
    lanes, steps, sigma, encoder = 4000, 60, 30.0, 1e-3
    rng = np.random.default_rng(0)
    law = control.kalman(velocity_probe(ARM), process=sigma, measurement=encoder, period=0.01, start=1.0)
    q, v, state = rng.normal(size=(lanes, 2)), rng.normal(size=(lanes, 2)), None
    for k in range(steps):
        measured = q + encoder * rng.normal(size=q.shape)
        _, state = law(ARM, state, 0.01 * k, measured, v)
        x = np.concatenate([q - state[0].q, v - state[0].v], axis=1)
        P = state[0].covariance
        if k > 5:  # the first covariance of positions is not that of the first measurement
            size = np.einsum("ki,ki->k", x, np.linalg.solve(P, x[..., None])[..., 0])
            assert abs(size.mean() - 4) < 5 * np.sqrt(8 / lanes)
        a = sigma * rng.normal(size=q.shape)
        q, v = q + 0.01 * v + 0.005 * 0.01 * a, v + 0.01 * a
    assert stats.kstest(size, "chi2", (4,)).pvalue > 1e-6


def test_a_steady_filter_is_the_limit_of_the_other():
    run = {}
    for steady in (False, True):
        law = control.kalman(computed(ARM), process=50.0, measurement=1e-5, period=T, steady=steady)
        run[steady] = simulate(ARM, law, q=[0.5, -0.5], duration=2.0, dt=T, record=50)
        assert (state_of(law.state, control.Estimate).covariance is None) == steady
    assert np.abs(run[True].q[-1]).max() < 1e-6 and np.abs(run[False].q[-1] - run[True].q[-1]).max() < 1e-6


def test_a_model_that_knows_the_torques_needs_no_lag():
    """With A, B of the cart itself, errors of the estimate decay with the eigenvalues of (1 - K C) A, to rounding."""
    A, B = np.array([[1, T], [0, 1]]), np.array([[T * T / 2], [T]]) / 2.0
    given = {"process": 100.0, "measurement": 1e-3, "period": T}
    pd = control.pd(np.zeros(1), kp=50.0, kd=10.0)
    errors = {}
    for name, model, steps in (
        ("linear", (A, B), "rk4"),
        ("dynamics", "dynamics", "semi_implicit"),
        ("free", "free", "rk4"),
    ):
        law = control.kalman(pd, **given, model=model, robot=CART)
        run = simulate(CART, law, q=[1.0], v=[-3.0], duration=1.0, dt=T, integrator=steps)
        errors[name] = np.abs(state_of(run.state, control.Estimate).v[1:, 0] - run.v[:-1, 0])
    _, _, K = riccati(A, np.array([[1.0, 0]]), 1e4 * np.outer(B * 2, B * 2), np.array([[1e-6]]))
    slowest = np.abs(np.linalg.eigvals((np.eye(2) - K @ np.array([[1.0, 0]])) @ A)).max()
    assert slowest**990 < 1e-12
    assert errors["linear"][-10:].max() < 1e-10 and errors["dynamics"][-10:].max() < 1e-10
    assert errors["free"][100:400].max() > 0.03  # it lags where the cart accelerates


def test_the_extended_filter_finds_velocities_of_an_arm():
    """Positions only, an unknown start velocity: with the model's dynamics, the error vanishes; else it lags."""
    v, errors = np.array([1.0, -2.0]), {}
    for model in ("free", "dynamics"):
        law = control.kalman(constant(0.0, ARM), process=20.0, measurement=1e-4, period=T, model=model)
        run = simulate(ARM, law, q=[0.5, -1.0], v=v, duration=1.0, dt=T)
        estimate = state_of(run.state, control.Estimate)
        errors[model] = np.abs(estimate.v[1:] - run.v[:-1])[500:].max()
    assert errors["dynamics"] < 1e-8 and errors["free"] > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("robot", [ARM, floating()], ids=["two_link", "floating"])
def test_the_derivative_of_the_extended_filter(robot):
    """P ← A P Aᵀ with A of differences of the step itself; nothing is measured (R is huge), and there is no noise."""
    n, rng = robot.nv, np.random.default_rng(0)
    q, v, tau = aj.random_configuration(robot, rng=0), rng.normal(size=n), rng.normal(size=n)
    P = np.cov(rng.normal(size=(2 * n, 50)))
    law = control.kalman(constant(0.0, robot), process=0.0, measurement=1e9, period=T, model="dynamics")
    before = control.Estimate(q, v, P, tau, np.array(1.0))
    after = state_of(law(robot, (before, None), 0.0, q, v).state, control.Estimate)

    def step(x):
        moved = v + x[n:]
        start = aj.integrate(robot, q, x[:n])
        moved = moved + T * aj.forward_dynamics(robot, start, moved, tau)
        return aj.integrate(robot, start, moved, T), moved

    def error(x):
        return np.concatenate([aj.difference(robot, step(np.zeros(2 * n))[0], step(x)[0]), step(x)[1]])

    h = 1e-5
    A = np.stack([(error(h * x) - error(-h * x)) / (2 * h) for x in np.eye(2 * n)], axis=1)
    # on poses, -T ad(v) of A is of the first order of T: (T |v|)² / 2 is left out
    atol = (1e-8 if robot is ARM else T * T * (np.abs(v).sum() + 1) ** 2) * np.abs(P).max()
    np.testing.assert_allclose(after.covariance, A @ P @ A.T, rtol=0, atol=atol)
    np.testing.assert_allclose(after.v, step(np.zeros(2 * n))[1], rtol=1e-9)


def test_a_kalman_filter_of_a_floating_robot():
    robot = floating()
    q, v = motions(robot, 400)
    law = control.kalman(velocity_probe(robot), process=10.0, measurement=1e-5, period=T)
    found, _ = asked(law, robot, q, np.zeros((400, robot.nv)), T * np.arange(400))
    np.testing.assert_allclose(found[-1], v, rtol=0, atol=1e-4)


# --- together ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_observers_around_each_other_and_in_c(tmp_path):
    law = control.disturbance_observer(computed(ARM), 50.0, T)
    law = control.quantised(control.kalman(law, process=20.0, measurement=1e-4), position=1e-4)
    law = control.sampled(control.noisy(law, position=1e-5, rng=1))
    run = simulate(ARM, law, q=[0.2, 0.3], duration=2.0, dt=T / 2, forces=force(push, size=1.0), record=10)
    assert np.abs(run.q[-1]).max() < 2e-2
    estimates = state_of(run.state, control.Disturbance).torque[-50:]
    np.testing.assert_allclose(estimates.mean(0), 1.0, atol=0.2)
    kernel, rng = law.kernel(ARM), np.random.default_rng(0)
    parts = [x[-1] for x in _leaves(run.state)]
    args = [np.array(2.0), *rng.normal(size=(5, 2)), *parts, *law.numbers.values()]
    for x, y in zip(run_c(kernel, args, tmp_path), kernel(*args), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
    for x, y in zip(kernel.eager(*args), kernel(*args), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def _leaves(tree):
    if tree is None:
        return []
    return [x for part in tree for x in _leaves(part)] if isinstance(tree, tuple) else [tree]


PD = control.pd(np.zeros(2), kp=1.0, kd=1.0)
NAN = float("nan")


def filtered(**changes):
    return control.kalman(PD, **({"process": 1.0, "measurement": 1.0, "period": T, "robot": ARM} | changes))


EYE = (np.eye(4), np.zeros((4, 2)))
BAD = [
    (lambda: control.differenced_velocity(PD, T), "differenced_velocity: the law 'pd' has no model of its own"),
    (lambda: control.differenced_velocity(PD, robot=ARM), "differenced_velocity: the law 'pd' has no period"),
    (lambda: control.differenced_velocity(PD, -T, robot=ARM), "differenced_velocity: period must be a positive number"),
    (lambda: control.differenced_velocity(PD, T, cutoff=-1.0, robot=ARM), "differenced_velocity: cutoff must be fini"),
    (lambda: control.differenced_velocity(None, T), "differenced_velocity needs a Law; got NoneType"),
    (lambda: control.velocity_observer(PD, 0.0, T, robot=ARM), "velocity_observer: bandwidth must be finite"),
    (lambda: control.velocity_observer(PD, [1, 2, 3], T, robot=ARM), r"velocity_observer: bandwidth has .*\(2,\)"),
    (lambda: control.disturbance_observer(PD, NAN, T, robot=ARM), "disturbance_observer: bandwidth must be finite"),
    (lambda: control.disturbance_observer(PD, 1.0, T, compensate=1, robot=ARM), "compensate must be True or False"),
    (lambda: filtered(process=-1.0), "kalman: process must be 0 or more, or a symmetric matrix"),
    (lambda: filtered(process=-np.eye(4)), "kalman: process must be 0 or more, or a symmetric matrix"),
    (lambda: filtered(process=np.triu(np.ones((4, 4)))), "kalman: process must be 0 or more, or a symmetric matrix"),
    (lambda: filtered(process=np.ones(3)), r"kalman: process has shape \(3,\); it must be finite: a number, \(2,\) or"),
    (lambda: filtered(measurement=NAN), r"kalman: measurement has shape \(\); it must be finite"),
    (lambda: filtered(measurement=np.eye(3)), r"kalman: measurement has shape \(3, 3\)"),
    (lambda: filtered(measurement=0.0), "kalman: measurement must be positive, or a positive definite matrix"),
    (lambda: filtered(measurement=np.ones((2, 2))), "kalman: measurement must be positive, or a positive definite"),
    (lambda: filtered(start=np.ones((3, 3))), r"kalman: start has shape \(3, 3\)"),
    (lambda: filtered(model="exact"), "kalman: model is 'exact'; it must be one of 'free', 'dynamics'"),
    (lambda: filtered(model=(np.eye(4),)), r"kalman: model has 1 parts; a linear model is a pair \(A, B\)"),
    (lambda: filtered(model=(np.eye(3), np.eye(3))), r"kalman: A must be finite numbers of shape \(4, 4\)"),
    (lambda: filtered(model=(np.eye(4), np.eye(4))), r"kalman: B must be finite numbers of shape \(4, 2\)"),
    (lambda: filtered(about=(np.zeros(2), np.zeros(2))), "kalman: about belongs to a linear model"),
    (lambda: filtered(model=EYE, about=np.zeros(3)), r"kalman: about must be a pair \(q, tau\)"),
    (lambda: filtered(model=EYE, about=(np.zeros(3), np.zeros(2))), r"kalman: q of about must be finite numbers"),
    (lambda: filtered(C=np.ones(4)), r"kalman: C must be finite numbers of shape \(m, 4\); got shape \(4,\)"),
    (lambda: filtered(C=np.ones((0, 4))), r"kalman: C must have a row"),
    (lambda: filtered(steady=1), "kalman: steady must be True or False"),
    (lambda: filtered(steady=True, model="dynamics"), "kalman: the model 'dynamics' has no steady gain"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD, ids=[m[:40] for _, m in BAD])
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_no_steady_state():
    """An unstable motion that is not measured has none; nor has a batch of periods one gain."""
    grows = (1.1 * np.eye(4), np.zeros((4, 2)))
    with pytest.raises(SolveError, match="kalman: no steady state exists for this A, C, Q and R"):
        filtered(steady=True, model=grows, C=np.eye(1, 4), measurement=1.0)
    many = control.low_pass(PD, 1.0, T, robot=ARM).replace(period=np.array([0.001, 0.002]))
    with pytest.raises(ArgumentError, match="kalman: a steady gain needs one period"):
        control.kalman(many, process=1.0, measurement=1.0, steady=True)


def test_position_probe_sees_what_kalman_estimates():
    law = control.kalman(position_probe(CART), process=1.0, measurement=1.0, period=T)
    tau, state = law(CART, None, 0.0, [0.7], [0.0])
    np.testing.assert_allclose(tau, [0.7])
    np.testing.assert_allclose(state_of(state, control.Estimate).q, [0.7])
