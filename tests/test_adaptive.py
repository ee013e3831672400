"""Adaptive laws: least squares against normal equations, the book's examples, and a PUMA with an unknown load."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as aj
from adjoint import control, kernel, lie, scan
from adjoint.control import Fit, Target, recursive_least_squares
from adjoint.control.adaptive import self_tuning_step
from adjoint.dynamics import linearize
from adjoint.errors import ArgumentError
from adjoint.model.configuration import integrate
from adjoint.simulation import simulate
from adjoint.simulation.integrators import Integrator

PUMA = aj.robots.puma560()
START = np.array([0.0, -0.5, 0.5, 0.0, 0.3, 0.0])
MOTION = aj.trajectory.quintic(START, START + np.array([1.0, 0.6, -0.7, 0.5, 0.4, 0.5]), duration=2.0)
LOADED = PUMA.with_payload("tool", lie.inertia.sphere(2.27, 0.05))  # the book's largest load, 5 lb


def degrees_off(law, plant, dt, motion=MOTION, **options):
    """The largest errors of all joints in degrees, (..., N)."""
    q = motion(0.0).q
    run = simulate(plant, law, q=q, v=0 * q, dt=dt, integrator="rk4", **{"duration": 2.0} | options)
    return np.degrees(np.abs(run.q - motion(run.t, hold=True).q)).max(axis=-1)


# --- least squares ----------------------------------------------------------------------------------------------------


def normal_equations(start, rows, y, old, noise):
    """θ and P of min Σ old^(N-j) (y_j - θ·ψ_j)² / noise + old^N (θ - θ_0)·P_0⁻¹ (θ - θ_0), from the equations."""
    weights = old ** np.arange(len(y))[::-1] / noise
    prior = old ** len(y) * np.linalg.inv(start.P)
    P = np.linalg.inv(prior + (rows.T * weights) @ rows)
    return Fit(P @ (prior @ start.theta + (rows.T * weights) @ y), P)


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 40), st.floats(0.8, 1.0), st.booleans())
def test_each_form_solves_its_normal_equations(seed, n, count, rho, forget):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(count, n)), rng.normal(size=count)
    start = Fit(rng.normal(size=n), 100 * np.eye(n))
    found = start
    for psi, measured in zip(rows, y, strict=True):
        found = recursive_least_squares(found, psi, measured, rho, forget=forget)
    # As printed, (5.8-33) weighs all measurements alike, and its P is ρ times that of the equations: D17 of the digest
    want = normal_equations(start, rows, y, rho if forget else 1.0, 1.0 if forget else rho)
    # P_0 / P is at most 100 · 40 · 5² or so; errors of rounding grow by it
    np.testing.assert_allclose(found.P, want.P, rtol=0, atol=1e-10 * np.abs(want.P).max())
    np.testing.assert_allclose(found.theta, want.theta, rtol=0, atol=1e-10 * (1 + np.abs(want.theta).max()))
    np.testing.assert_array_equal(found.P, found.P.T)


def test_the_printed_form_is_ordinary_least_squares():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    found = Fit(np.zeros(4), 1e8 * np.eye(4))
    for psi, measured in zip(rows, y, strict=True):
        found = recursive_least_squares(found, psi, measured, 0.95, forget=False)
    # the prior weighs 1e-8, and rounding of 1e8 leaves 1e-8 of P
    np.testing.assert_allclose(found.P, 0.95 * np.linalg.inv(rows.T @ rows), atol=1e-7)
    np.testing.assert_allclose(found.theta, np.linalg.lstsq(rows, y, rcond=None)[0], atol=1e-7)


def test_several_outputs_share_one_matrix():
    rng = np.random.default_rng(1)
    P, theta, psi, y = np.diag(rng.uniform(1, 2, 3)), rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=2)
    both = recursive_least_squares(Fit(theta, P), psi, y, 0.9)
    for k in range(2):
        one = recursive_least_squares(Fit(theta[:, k], P), psi, y[k], 0.9)
        np.testing.assert_allclose(both.theta[:, k], one.theta, rtol=1e-14)
        np.testing.assert_array_equal(both.P, one.P)


@kernel(rows=(..., 4), y=(...,))
def estimated(rows, y, forgetting, limit=1e300):
    def step(estimate, x):
        return recursive_least_squares(estimate, x[0], x[1], forgetting, limit=limit), None

    return scan(step, Fit(np.zeros(4), 1e6 * np.eye(4)), (rows, y))[0]


@pytest.mark.slow
@pytest.mark.parametrize("rho", [1.0, 0.99])
def test_a_million_steps_keep_p_symmetric_and_positive(rho):
    rng = np.random.default_rng(2)
    rows, truth = rng.normal(size=(10**6, 4)), np.array([1.0, -2.0, 3.0, 0.5])
    y = rows @ truth + 0.1 * rng.normal(size=10**6)
    found = estimated(rows, y, rho)
    np.testing.assert_array_equal(found.P, found.P.T)
    last = slice(-5000, None) if rho < 1 else slice(None)  # 0.99^5000 is 1e-22
    weights = rho ** np.arange(10**6)[::-1][last]
    want = np.linalg.inv((rows[last].T * weights) @ rows[last])
    np.testing.assert_allclose(found.P, want, rtol=0, atol=1e-8 * want.max())
    np.testing.assert_allclose(found.theta, want @ (rows[last].T * weights) @ y[last], rtol=0, atol=1e-9)


def test_without_excitation_p_stays_below_its_limit():
    rows, y = np.tile([1.0, 0, 0, 0], (5000, 1)), np.ones(5000)
    free = estimated(rows, y, 0.95)
    assert np.trace(free.P) > 1e90  # 1e6 / 0.95^5000: this is why there is a limit
    held = estimated(rows, y, 0.95, 4e6)
    assert np.trace(held.P) <= 4e6 and held.theta[0] == pytest.approx(1.0, rel=1e-6)


# --- model reference --------------------------------------------------------------------------------------------------

WEIGHTS = (0.05, 0.3, 1.0)  # k2, k1, k0 of example D13 of the digest


@kernel(steps=(...,))
def d13(steps, factor, printed):
    """α/a and β/b of example D13 after explicit Euler steps of 1 ms; `printed` 1 has (5.8-8) as the book prints it."""
    a, b, (k_2, k_1, k_0), h = 1 / 16, 1 / 2, WEIGHTS, 1e-3

    def step(now, k):
        y, dy, x, dx, u, du, w, dw, alpha, beta = now
        r = np.sign(np.sin(k * h))
        ddy, ddx = (r - b * dy - y) / a, (r - beta * dx - x) / alpha
        E = k_2 * (ddy - ddx) + k_1 * (dy - dx) + k_0 * (y - x)
        ddu, ddw = (-ddy - b * du - u) / a, (-(printed * ddy + (1 - printed) * dy) - b * dw - w) / a
        rates = [dy, ddy, dx, ddx, du, ddu, dw, ddw]
        rates += [factor * E * (k_2 * ddu + k_1 * du + k_0 * u), factor * E * (k_2 * ddw + k_1 * dw + k_0 * w)]
        return now + h * np.stack(rates), None

    end, _ = scan(step, np.concatenate([np.zeros(8), np.array([2 * a, 0.6 * b])]), steps)
    return end[8:] / np.array([a, b])


def test_gains_converge_as_in_the_digest():
    steps = np.arange(60_000.0)
    np.testing.assert_allclose(d13(steps, 1.0, 0.0), 1.0, atol=5e-4)
    np.testing.assert_allclose(d13(steps, 5.0, 0.0), 1.0, atol=2e-3)
    for factor, printed in ((10.0, 0.0), (1.0, 1.0), (5.0, 1.0)):
        found = d13(steps, factor, printed)
        assert not (np.abs(found - 1) < 10).all()  # it diverges


def slider():
    """A mass of 0.5 kg on a rail, without gravity and friction."""
    robot = aj.robots.random_tree(0, 1, ["prismatic"])
    zero = np.zeros(1)
    return robot.replace(gravity=np.zeros(3), damping=zero, friction=zero, armature=zero)


def square(t):
    r = np.sign(np.sin(t)) * np.ones(1)
    return Target(r, 0 * r, 0 * r)


def _euler(robot, acceleration, t, q, v, h, memory):
    return integrate(robot, q, v, h), v + h * acceleration(t, q, v), memory


EULER = Integrator(_euler, 1)


def test_the_law_is_the_example():
    law = control.model_reference(
        slider(), square, frequency=4.0, start=(2.0, 0.6), weights=WEIGHTS, gravity=False, bound=1e6, period=1e-3
    )
    many = law.replace(rate=np.array([1.0, 5.0, 10.0]))
    end = simulate(slider(), many, q=np.zeros(1), duration=60.0, dt=1e-3, record=60_000, integrator=EULER).state
    ratios = np.stack([end.alpha * 16, end.beta * 2], axis=-1)[:, -1, 0]
    # the law learns of an acceleration when the period is over, so its last step is missing
    for k, factor in enumerate((1.0, 5.0)):
        np.testing.assert_allclose(ratios[k], d13(np.arange(59_999.0), factor, 0.0), rtol=1e-6)
    assert not (np.abs(ratios[2] - 1) < 10).all()


def test_gains_find_an_inertia_that_is_not_known():
    robot = slider()
    J = aj.mass_matrix(robot, np.zeros(1))[0, 0]
    law = control.model_reference(robot, square, frequency=4.0, inertia=0.5 * J, gravity=False)
    run = simulate(robot, law, q=np.zeros(1), duration=60.0, dt=1e-3, record=100)
    kp, kd = control.servo_gains(run.state.alpha[-1], run.state.beta[-1], 0.5 * J)
    np.testing.assert_allclose([J / kp * 16, kd / kp * 2], 1.0, atol=5e-3)
    # the state is that before the instant, so its y is one period old; q is a period ahead of an explicit step
    late = 2 * abs(run.v).max() * 1e-3
    np.testing.assert_allclose(run.q[-100:], run.state.y[-100:], atol=late)  # it moves like the model


def test_servo_gains_make_the_wanted_joint():
    kp, kd = control.servo_gains(0.1, 0.4, 3.0, 0.5)
    np.testing.assert_allclose([3.0 / kp, (0.5 + kd) / kp], [0.1, 0.4])


def test_the_model_stays_on_a_smooth_reference():
    law = control.model_reference(PUMA, MOTION, frequency=20.0, rate=0.1)
    run = simulate(PUMA, law, q=START, duration=2.0, dt=1e-3)
    wanted = MOTION(run.t).q - START
    # the state is that before the instant, so its y is one period old; Euler's error is of the order of a period, too
    np.testing.assert_allclose(run.state.y[1:], wanted[:-1], atol=1e-3)
    assert np.degrees(np.abs(run.q - MOTION(run.t).q)).max() < 0.2


# --- self-tuning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_time_series_of_the_digest(seed):
    rng = np.random.default_rng(seed)
    truth = np.array([0.02, 1.5, -0.7, 0.1, 0.05])
    estimate, ys, us, u, errors = (
        Fit(np.array([0, 0, 0, 0.05, 0]), 1e3 * np.eye(5)),
        np.zeros(2),
        np.zeros(2),
        0.0,
        [],
    )
    for k in range(400):
        y = truth @ np.concatenate([[1.0], ys, us]) + 1e-4 * rng.normal()
        errors.append(y - np.sin(0.05 * k))
        wanted = np.sin(0.05 * (k + 2))
        estimate, coming = self_tuning_step(estimate, ys, us, u, y, wanted, forgetting=0.99, penalty=1e-4)
        ys, us, u = np.array([y, ys[0]]), np.array([u, us[0]]), coming
    np.testing.assert_allclose(estimate.theta, truth, atol=1.2e-3)  # D14: (0.020, 1.499, -0.699, 0.100, 0.050)
    assert np.sqrt(np.mean(np.square(errors[200:]))) == pytest.approx(1e-3, rel=0.1)  # D14


def test_self_tuning_starts_with_the_joint_itself():
    # A mass on a rail is exactly the series that the law starts with, so it learns nothing and follows exactly.
    robot, motion = slider(), aj.trajectory.quintic([0.0], [0.3], duration=1.0)
    law = control.self_tuning(robot, motion, penalty=0.0, period=0.01)
    run = simulate(robot, law, q=np.zeros(1), duration=1.0, dt=0.01, integrator="rk4")
    # its reference two instants ahead is a Taylor series, which neglects the jerk, at most 60 · 0.3 m/s³
    assert np.abs(run.q - motion(run.t).q).max() < 60 * 0.3 * (0.02**3 / 6 + 0.02**2 / 2 / 10.0)
    np.testing.assert_allclose(run.state.theta[-1], run.state.theta[0], atol=1e-8)


@pytest.mark.slow
def test_self_tuning_carries_loads():
    law = control.self_tuning(PUMA, MOTION)
    assert degrees_off(law, PUMA, 0.005).max() < 0.01
    off = degrees_off(law, LOADED, 0.005, duration=10.0)
    assert off.max() < 0.1 and off[-1] < 0.02  # measured: 0.032 and 0.002
    fixed = degrees_off(law.replace(forgetting=1.0, state=law.state._replace(P=0 * law.state.P)), LOADED, 0.005)
    assert not fixed.max() < 10  # without learning, couplings and load make the inverse of the series unstable


def test_self_tuning_fails_where_couplings_are_strong():
    # A limit of the method: the rods' inertia matrix is far from diagonal, and one joint's force is noise to the other.
    arm, motion = aj.robots.two_link(), aj.trajectory.quintic(np.radians([30.0, 10]), np.radians([100.0, 60]), 2.0)
    assert not degrees_off(control.self_tuning(arm, motion, period=0.01), arm, 0.01, motion).max() < 90
    geared = arm.replace(armature=np.full(2, 20.0))
    loaded = aj.robots.two_link(mass_2=1.5).replace(armature=np.full(2, 20.0))
    off = degrees_off(control.self_tuning(geared, motion, period=0.01), loaded, 0.01, motion)
    assert off.max() < 0.5 and off[-1] < 0.1


# --- perturbations ----------------------------------------------------------------------------------------------------

TWO_LINK = aj.robots.two_link()
SWING = aj.trajectory.quintic(np.radians([30.0, 10.0]), np.radians([100.0, 60.0]), duration=2.0)


def joint_errors(law, mass, motion=SWING):
    """The largest and the last error of both joints of the two-link arm [deg]."""
    plant = aj.robots.two_link(mass_2=mass)
    run = simulate(plant, law, q=motion(0.0).q, v=np.zeros(2), duration=2.0, dt=0.01, integrator="rk4")
    off = np.degrees(np.abs(run.q - motion(run.t).q))
    return off.max(axis=0), off[-1]


@pytest.mark.slow
def test_the_two_link_arm_of_the_digest():
    pd = control.computed_torque(TWO_LINK, SWING, kp=100.0, kd=20.0)
    largest, last = joint_errors(pd, 1.5)
    np.testing.assert_allclose(largest, [1.66, 5.14], atol=5e-3)  # D18
    assert last.max() == pytest.approx(5.0, abs=5e-3)
    law = control.perturbation(TWO_LINK, SWING, R=1e-4, forgetting=0.95, uncertainty=np.full(6, 100.0))
    law = law.replace(limit=1e300)  # the digest forgets without a limit
    largest, last = joint_errors(law, 1.5)
    np.testing.assert_allclose(largest, [1.25, 0.35], atol=0.02)
    assert (last < 0.25).all()
    for mass in (0.9, 1.1, 1.3, 1.5):  # joint 2 gains much; joint 1 does not always, as D18 says and Table 5.2 does not
        (pd_largest, pd_last), (largest, last) = joint_errors(pd, mass), joint_errors(law, mass)
        assert largest[1] < pd_largest[1] / 8 and last[1] < pd_last[1] / 12
        assert largest[0] > pd_largest[0] or mass > 1.2


def test_the_start_is_the_held_linear_system():
    law = control.perturbation(PUMA, MOTION, period=0.02)
    q, zero = START, np.zeros(6)
    tau = aj.gravity_torque(PUMA, q)
    A, B = linearize(PUMA, q, zero, tau)
    h = 0.02
    # the series of a u that is held; (5.8-37) prints B h + A B h² + A² B h³ / 2
    held, printed = B * h + A @ B * h**2 / 2 + A @ A @ B * h**3 / 6, B * h + A @ B * h**2 + A @ A @ B * h**3 / 2
    error = [np.abs(law.state.theta[12:].T - x).max() for x in (held, printed)]
    assert error[0] < 1e-2 * error[1]


def test_a_known_arm_needs_no_feedback():
    law = control.perturbation(TWO_LINK, SWING)
    target = SWING(0.7)
    tau, state = law(TWO_LINK, None, 0.7, target.q, target.v)
    np.testing.assert_allclose(tau, aj.inverse_dynamics(TWO_LINK, *target[:3]), rtol=1e-12)
    np.testing.assert_array_equal(state.theta, law.state.theta)


@pytest.mark.slow
@pytest.mark.parametrize("make", [control.perturbation, control.resolved_motion_adaptive], ids=lambda f: f.__name__)
def test_perturbation_control_carries_a_load(make):
    computed = degrees_off(control.computed_torque(PUMA, MOTION, kp=100.0, kd=20.0), LOADED, 0.01)
    off = degrees_off(make(PUMA, MOTION), LOADED, 0.01)
    assert off.max() < computed.max() / 2 and off[-1] < computed[-1] / 10


def test_the_book_counts_more_operations():
    n = 6
    table = 8 * n**3 + 32 * n**2 + 5 * n + 40, 8 * n**3 + 29 * n**2 + 2 * n + 17  # W5: identification and control
    assert 8 * 27 + 32 * 9 + 15 + 40 == 559 and 8 * 27 + 29 * 9 + 6 + 17 == 500  # the book's n = 3
    ours = control.perturbation(PUMA, START).kernel(PUMA).operations  # with the nominal torques
    assert ours.muls < table[0] and ours.adds < table[1]
    space = control.resolved_motion_adaptive(PUMA, START).kernel(PUMA).operations
    assert space.muls < 1386 + 3348 and space.adds < 988 + 3118  # W7, Table 5.3


def test_rates_of_yaw_pitch_and_roll():
    # (5.8-49) has the opposite signs; these are (5.7-7). `resolved_motion_adaptive` does without these angles.
    rng = np.random.default_rng(3)
    for angles in rng.uniform(-1.2, 1.2, size=(20, 3)):
        omega = rng.normal(size=3)
        (_, b, c), h = angles, 1e-6
        S = np.array(
            [
                [np.cos(c), np.sin(c), 0],
                [-np.sin(c) * np.cos(b), np.cos(c) * np.cos(b), 0],
                [np.cos(c) * np.sin(b), np.sin(c) * np.sin(b), np.cos(b)],
            ]
        ) / np.cos(b)
        turn = lie.so3.exp(omega * h) @ lie.so3.from_rpy(angles)
        there = lie.so3.from_rpy(angles + h * S @ omega)
        assert np.abs(turn - there).max() < 100 * h * h


# --- all of them ------------------------------------------------------------------------------------------------------

GEARED = TWO_LINK.replace(armature=np.full(2, 20.0))
LAWS = [
    control.model_reference(GEARED, SWING, frequency=20.0, rate=0.1),
    control.self_tuning(GEARED, SWING),
    control.perturbation(GEARED, SWING, bias=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_batch_is_many_runs(law):
    loads = np.stack([aj.robots.two_link(mass_2=m).inertias for m in (0.9, 1.0, 1.2)])
    h = float(law.numbers["period"])
    many = simulate(GEARED, law, q=SWING(0.0).q, duration=20 * h, dt=h, lift={"inertias": loads})
    for k in range(3):
        one = simulate(GEARED, law, q=SWING(0.0).q, duration=20 * h, dt=h, lift={"inertias": loads[k]})
        np.testing.assert_allclose(many.q[k], one.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(many.tau[k], one.tau, rtol=0, atol=1e-5 * np.abs(one.tau).max())


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (control.model_reference, {"frequency": -1.0}, "model_reference: frequency must be finite and positive, got"),
        (control.model_reference, {"frequency": np.nan}, "model_reference: frequency"),
        (control.model_reference, {"frequency": [1.0, 2.0]}, r"frequency has shape \(2,\); it must be a number or"),
        (control.model_reference, {"frequency": 5.0, "weights": (1.0, 2.0)}, "weights must be three numbers"),
        (control.model_reference, {"frequency": 5.0, "start": 1.0}, "start must be a pair"),
        (control.model_reference, {"frequency": 5.0, "period": 0.0}, "model_reference: period must be a positive"),
        (control.model_reference, {"frequency": 5.0, "gravity": "yes"}, "gravity must be True or False"),
        (control.self_tuning, {"order": 1}, "order must be 2 or more"),
        (control.self_tuning, {"order": 2.5}, "order must be a whole number"),
        (control.self_tuning, {"forgetting": 1.1}, "forgetting must be above 0 and at most 1, got 1.1"),
        (control.self_tuning, {"penalty": -1.0}, "penalty must be a positive number or 0"),
        (control.perturbation, {"Q": np.ones(3)}, r"Q has shape \(3,\); it must be a number or \(12,\)"),
        (control.perturbation, {"R": 0.0}, "perturbation: R must be finite and positive"),
        (control.perturbation, {"uncertainty": -1.0}, "perturbation: uncertainty must be finite and positive"),
        (control.perturbation, {"bias": 1.0}, "bias must be True or False"),
        (control.resolved_motion_adaptive, {"frame": "hand"}, "hand"),
        (control.resolved_motion_adaptive, {"period": -0.01}, "resolved_motion_adaptive: period"),
    ],
)  # fmt: skip
def test_bad_numbers_are_named(make, options, message):
    with pytest.raises(aj.AdjointError, match=message):
        make(PUMA, MOTION, **options)


def test_bad_robots_and_references_are_named():
    free = aj.robots.random_tree(2, 1, ["free"])
    with pytest.raises(ArgumentError, match="joints of several degrees of freedom"):
        control.self_tuning(free, None)
    with pytest.raises(ArgumentError, match="perturbation needs a reference"):
        control.perturbation(PUMA, None)
    with pytest.raises(ArgumentError, match="model_reference"):
        control.model_reference("puma", START, frequency=5.0)
    with pytest.raises(ArgumentError, match="needs"):
        control.perturbation(PUMA, np.zeros(5))
    with pytest.raises(ArgumentError, match=r"perturbation: the reference is a batch of shape \(4,\)"):
        control.perturbation(PUMA, np.zeros((4, 6)))


def test_poses_need_six_joints():
    with pytest.raises(ArgumentError, match="has 2 degrees of freedom; the pose of a frame needs six or more"):
        control.resolved_motion_adaptive(aj.robots.two_link(), np.zeros(2), frame="tool")
