"""Linear quadratic regulators: Riccati's equations, regulators of robots at rest, and along trajectories."""

import numpy as np
import pytest
from support.worked_examples import acrobot

import adjoint as aj
from adjoint import control
from adjoint.control.references import Rows
from adjoint.errors import ArgumentError, SolveError
from adjoint.simulation import simulate

UPRIGHT = np.array([np.pi, 0.0])
ELBOW = np.array([[0.0], [1.0]])
NEARBY = UPRIGHT + np.array([0.02, -0.02])
POSE = np.array([0.1, -0.5, 0.3, 0.2, 0.4, 0.1])


def systems(count: int):
    """Random linear systems with weights: A (n, n), B (n, m), Q, R."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        n, m = rng.integers(2, 7), rng.integers(1, 4)
        root = rng.normal(size=(n, n))
        yield rng.normal(size=(n, n)), rng.normal(size=(n, m)), root @ root.T, np.diag(rng.uniform(0.1, 2, m))


# --- linear systems ---------------------------------------------------------------------------------------------------


def test_double_integrator():
    """A textbook's case: with Q = 1 and R = 1 the gains are 1 and √3, and the poles (-√3 ± i) / 2."""
    K, P, poles = control.lqr_gains([[0, 1], [0, 0]], [[0], [1]], 1.0, 1.0)
    np.testing.assert_allclose(K, [[1, np.sqrt(3)]], atol=1e-12)
    np.testing.assert_allclose(P, [[np.sqrt(3), 1], [1, np.sqrt(3)]], atol=1e-12)
    np.testing.assert_allclose(np.sort_complex(poles), [-np.sqrt(3) / 2 - 0.5j, -np.sqrt(3) / 2 + 0.5j], atol=1e-12)


@pytest.mark.parametrize("system", list(systems(5)), ids=range(5))
def test_riccati_equations_hold_and_the_loop_is_stable(system):
    A, B, Q, R = system
    K, P, poles = control.lqr_gains(A, B, Q, R)
    left = A.T @ P + P @ A - P @ B @ np.linalg.solve(R, B.T @ P) + Q
    assert np.abs(left).max() < 1e-9 * np.abs(P).max() * np.abs(A).max()
    assert np.real(poles).max() < 0
    K, P, poles = control.dlqr_gains(A, B, Q, R)
    assert np.abs(Q + A.T @ P @ (A - B @ K) - P).max() < 1e-9 * np.abs(P).max()
    assert np.abs(poles).max() < 1
    x = start = np.ones(len(A))
    paid = 0.0
    for _ in range(2000):
        u = -K @ x
        paid, x = paid + x @ Q @ x + u @ R @ u, A @ x + B @ u
    assert paid == pytest.approx(start @ P @ start, rel=1e-9)  # P is the cost to go


def test_a_part_that_no_input_moves():
    with pytest.raises(SolveError, match=r"no input acts on the part of its motion with the eigenvalue 1"):
        control.lqr_gains(np.diag([1.0, -1.0]), [[0], [1]], 1.0, 1.0)
    with pytest.raises(SolveError, match="Q does not weigh the part"):
        control.lqr_gains(np.zeros((2, 2)), np.eye(2), np.diag([1.0, 0.0]), 1.0)
    with pytest.raises(SolveError, match="eigenvalue 2"):
        control.dlqr_gains(np.diag([2.0, 0.5]), [[0], [1]], 1.0, 1.0)
    assert control.dlqr_gains(np.diag([0.5, 2.0]), [[0], [1]], 1.0, 1.0).K.shape == (1, 2)  # 0.5 decays by itself


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": np.ones((2, 3))}, r"A \(2, 3\) and B \(2, 1\) must be"),
        ({"A": np.full((2, 2), np.nan)}, "A or B contains NaN"),
        ({"Q": [1.0, 2.0, 3.0]}, r"Q has shape \(3,\); it must be a number, \(2,\) or \(2, 2\)"),
        ({"Q": [[1.0, 2.0], [0.0, 1.0]]}, "Q must be a symmetric matrix"),
        ({"Q": -1.0}, "Q must be positive semidefinite; its least eigenvalue is -1"),
        ({"R": 0.0}, "R must be positive definite; its least eigenvalue is 0"),
        ({"R": np.nan}, "R must be a symmetric matrix of finite numbers"),
    ],
)
def test_bad_systems(change, message):
    given = {"A": np.zeros((2, 2)), "B": [[0.0], [1.0]], "Q": 1.0, "R": 1.0} | change
    with pytest.raises(ArgumentError, match=message):
        control.lqr_gains(**given)


# --- robots at rest ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_acrobot_balances_by_its_elbow_alone():
    robot = acrobot()
    hold = control.lqr(robot, UPRIGHT, Q=[10.0, 10.0, 1.0, 1.0], R=1.0, actuation=ELBOW)
    run = simulate(robot, hold, q=NEARBY, v=[0.0, 0.05], duration=8.0, dt=0.002)
    assert np.all(run.tau[:, 0] == 0)
    assert np.abs(run.q[-1] - UPRIGHT).max() < 1e-4 * 0.05 / 0.02
    fallen = simulate(robot, q=NEARBY, v=[0.0, 0.05], duration=8.0, dt=0.002)
    assert np.abs(fallen.q - UPRIGHT).max() > 1  # without the law it falls
    many = hold.replace(K=hold.numbers["K"] * np.array([1.0, 1.1])[:, None, None])
    both = simulate(robot, many, q=NEARBY, v=[0.0, 0.05], duration=8.0, dt=0.002)
    np.testing.assert_array_equal(both.q[0], run.q)


@pytest.mark.slow
def test_gains_of_a_sampled_law_tend_to_those_in_continuous_time():
    robot = aj.robots.puma560()
    K = control.lqr(robot, POSE, Q=100.0, R=1e-2).numbers["K"]
    # The error of a gain is of first order in the period.
    rough, fine = (control.lqr(robot, POSE, Q=100.0, R=1e-2, period=h).numbers["K"] for h in (1e-4, 5e-5))
    assert np.abs(rough - K).max() / np.abs(fine - K).max() == pytest.approx(2, rel=0.1)
    assert np.abs(2 * fine - rough - K).max() < 0.1 * np.abs(fine - K).max()


@pytest.mark.slow
def test_sampled_law_holds_a_puma_and_costs_what_its_gains_promise():
    """Near the goal, the sum of (xᵀ Q x + uᵀ R u) period of a run is xᵀ P x at its start, to first order in |x|."""
    robot, h = aj.robots.puma560(), 0.005
    hold = control.lqr(robot, POSE, Q=100.0, R=1e-2, period=h)
    tau = aj.inverse_dynamics(robot, POSE, np.zeros(6), np.zeros(6))
    A, B = aj.linearize(robot, POSE, np.zeros(6), tau, dt=h)
    P = control.dlqr_gains(A, B, h * 100.0, h * 1e-2).P
    e = 1e-4 * np.array([1.0, -1, 1, -1, 1, -1])
    run = simulate(robot, hold, q=POSE + e, v=np.zeros(6), duration=12.0, dt=h, integrator="rk4")
    x = np.concatenate([run.q - POSE, run.v], axis=1)
    paid = h * (100.0 * np.sum(x**2) + 1e-2 * np.sum((run.tau - tau) ** 2))
    assert paid == pytest.approx(np.append(e, 0 * e) @ P @ np.append(e, 0 * e), rel=1e-3)


@pytest.mark.slow
def test_orientations_are_held_on_their_manifold():
    """A body on a spherical joint, like a pendulum that stands: errors go along the shortest rotation."""
    from adjoint.lie import inertia

    body = inertia.from_central(2.0, [0.0, 0.0, 0.5], np.diag([0.1, 0.12, 0.05]))
    robot = aj.model.Builder("top").link("base").link("body", body).joint("ball", "spherical", "base", "body").build()
    start = aj.integrate(robot, aj.neutral(robot), np.array([0.4, -0.3, 2.0]))
    hold = control.lqr(robot, aj.neutral(robot), Q=10.0, R=0.1)
    run = simulate(robot, hold, q=start, v=np.zeros(3), duration=10.0, dt=0.002)
    assert aj.distance(robot, run.q[-1], aj.neutral(robot)) < 1e-4


def test_a_robot_that_cannot_be_held():
    """Without gravity, an acrobot whose elbow alone has a motor keeps its angular momentum."""
    robot = acrobot(gravity=(0.0, 0.0, 0.0))
    with pytest.raises(SolveError, match=r"lqr: no feedback was found .* no input acts on .* eigenvalue 0"):
        control.lqr(robot, UPRIGHT, Q=1.0, R=1.0, actuation=ELBOW)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros(3)}, r"'q' has shape \(3,\)"),
        ({"q": np.zeros((4, 2))}, "holds one configuration"),
        ({"q": [np.nan, 0.0]}, "no equilibrium"),
        ({"tau": [0.0, 5.0]}, "q is no equilibrium under tau; the robot would accelerate by"),
        ({"q": [1.0, 0.0], "actuation": ELBOW}, "these motors cannot hold the robot at q; they lack"),
        ({"actuation": np.ones((3, 1))}, r"actuation has shape \(3, 1\)"),
        ({"period": -0.1}, "lqr: period must be a positive number"),
        ({"Q": np.ones(3)}, "Q has shape"),
        ({"R": -1.0}, "R must be positive definite"),
    ],
)
def test_bad_regulators(change, message):
    given = {"q": UPRIGHT, "Q": 1.0, "R": 1.0} | change
    with pytest.raises(ArgumentError, match=message):
        control.lqr(acrobot(), **given)


# --- along trajectories -----------------------------------------------------------------------------------------------


def follower(motion, robot=None, **options):
    weights = {"Q": 100.0, "R": 1e-3, "period": 0.005} | options
    return control.tvlqr(robot or aj.robots.puma560(), motion, **weights)


@pytest.mark.slow
def test_tvlqr_at_rest_is_the_stationary_regulator():
    rest = aj.trajectory.quintic(POSE, POSE, 0.5)
    rows = follower(rest).reference.rows
    stationary = control.lqr(aj.robots.puma560(), POSE, Q=100.0, R=1e-3, period=0.005).numbers
    np.testing.assert_allclose(rows.K, np.broadcast_to(stationary["K"], rows.K.shape), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(rows.tau, np.broadcast_to(stationary["tau"], rows.tau.shape), atol=1e-12)


@pytest.mark.slow
def test_gains_are_those_of_the_least_squares_problem_over_all_steps():
    """A second formulation: all inputs of 20 steps as the unknowns of one quadratic problem."""
    motion, steps, h = aj.trajectory.quintic(POSE, POSE + 0.5, 0.2), 20, 0.01
    robot = aj.robots.puma560()
    K = follower(motion, period=h, Q_end=50.0).reference.rows.K
    middle = motion((np.arange(steps) + 0.5) * h)
    tau = aj.inverse_dynamics(robot, *middle[:3])
    A, B = aj.linearize(robot, middle.q, middle.v, tau, dt=h)
    states, x_0 = [np.zeros((12, 6 * steps))], np.eye(12)
    firsts = [x_0]  # x_k = firsts[k] x_0 + states[k] u
    for k in range(steps):
        now = A[k] @ states[-1]
        now[:, 6 * k : 6 * k + 6] += B[k]
        states.append(now)
        firsts.append(A[k] @ firsts[-1])
    weights = [h * 100.0] * steps + [50.0]
    H = h * 1e-3 * np.eye(6 * steps) + sum(w * s.T @ s for w, s in zip(weights, states, strict=True))
    g = sum(w * s.T @ f for w, s, f in zip(weights, states, firsts, strict=True))
    first = np.linalg.solve(H, g)[:6]  # u_0 = -first x_0
    np.testing.assert_allclose(K[0], first, rtol=1e-6, atol=1e-6 * np.abs(first).max())


@pytest.mark.slow
def test_tvlqr_follows_and_returns_to_the_motion():
    robot, motion = aj.robots.puma560(), aj.trajectory.quintic(POSE, POSE + 1.0, 1.0)
    off = []
    for h in (0.01, 0.005):
        law = follower(motion, period=h)
        run = simulate(robot, law, q=POSE, v=np.zeros(6), duration=1.0, dt=h, integrator="rk4")
        off.append(np.abs(run.q - motion(run.t, hold=True).q).max())
    assert off[0] / off[1] == pytest.approx(4, rel=0.3)  # joint forces at the middle of periods: of second order
    pushed = POSE + 0.1 * np.random.default_rng(0).normal(size=(3, 6))
    run = simulate(robot, law, q=pushed, v=np.zeros(6), duration=5.0, dt=h, integrator="rk4")
    error = np.abs(run.q - motion(run.t, hold=True).q).max(axis=-1)
    assert np.all(error[:, -1] < 0.01 * error[:, 0])
    one = simulate(robot, law, q=pushed[1], v=np.zeros(6), duration=5.0, dt=h, integrator="rk4")
    np.testing.assert_array_equal(run.q[1], one.q)


@pytest.mark.slow
def test_batch_of_trajectories():
    robot, rest = acrobot(), np.zeros(2)
    goals = np.array([[1.0, 0.5], [-0.5, 1.0]])
    both = follower(aj.trajectory.quintic(np.zeros((2, 2)), goals, 0.5), robot)
    run = simulate(robot, both, q=rest + 0.05, v=rest, duration=1.0, dt=0.005)
    for k in range(2):
        one = follower(aj.trajectory.quintic(rest, goals[k], 0.5), robot)
        np.testing.assert_allclose(one.reference.rows.K, both.reference.rows.K[k], rtol=1e-9, atol=1e-9)
        single = simulate(robot, one, q=rest + 0.05, v=rest, duration=1.0, dt=0.005)
        np.testing.assert_allclose(run.q[k], single.q, atol=1e-9)


@pytest.mark.slow
def test_one_instant_and_c_code():
    law = follower(aj.trajectory.quintic(POSE, POSE + 1.0, 1.0))
    rows = law.reference.rows
    tau, _ = law(aj.robots.puma560(), None, 7 * 0.005, rows.q[7], rows.v[7] + 0.01)
    np.testing.assert_allclose(tau, rows.tau[7] - 0.01 * rows.K[7, :, 6:].sum(axis=1), rtol=1e-12)
    assert "tvlqr" in law.source("c", aj.robots.puma560())


def test_rows_change_when_their_period_begins():
    rows = Rows({"x": np.arange(5.0)}, {"x": np.zeros(())}, 0.1)
    times = np.array([-1.0, 0.0, 0.05, 0.1, 0.3, 3 * 0.1 - 1e-12, 0.39, 0.4, 9.0])
    np.testing.assert_array_equal(rows.at(times)["x"], [0, 0, 0, 1, 3, 3, 3, 4, 4])
    many = Rows({"x": np.arange(30.0).reshape(2, 5, 3)}, {"x": np.zeros(3)}, 0.1)
    assert many.at(times)["x"].shape == (2, 9, 3)
    np.testing.assert_array_equal(many.at(0.25)["x"], [[6, 7, 8], [21, 22, 23]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trajectory": POSE}, "tvlqr needs a Trajectory; got ndarray"),
        ({"period": 0.3}, "the duration 1 s is not a whole number of periods of 0.3 s"),
        ({"period": 0.0}, "tvlqr: period must be a positive number"),
        ({"Q": -1.0}, "Q must be positive semidefinite"),
        ({"R": 0.0}, "R must be positive definite"),
        ({"Q_end": np.ones(5)}, "Q_end has shape"),
    ],
)
def test_bad_followers(change, message):
    given = {"trajectory": aj.trajectory.quintic(POSE, POSE + 1, 1.0), "Q": 1.0, "R": 1.0, "period": 0.01} | change
    with pytest.raises(ArgumentError, match=message):
        control.tvlqr(aj.robots.puma560(), **given)
