"""Optimal control by shooting: laws of optimality, other solvers, limits, manifolds, and predictive control."""

from types import SimpleNamespace

import casadi
import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.robots import urdf
from support.worked_examples import acrobot

import adjoint as aj
from adjoint import control
from adjoint.compile import kernel
from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import inertia
from adjoint.simulation import ilqr, simulate
from adjoint.simulation.integrators import INTEGRATORS, Integrator
from adjoint.simulation.shooting.box import box_minimum

UPRIGHT = np.array([np.pi, 0.0])
POSE = np.array([0.0, -1.5, 1.5, -1.0, -1.5, 0.0])
GOAL = POSE + np.array([1.0, 0.5, -0.7, 0.4, 0.3, 0.2])


def effort(robot, p, t, q, v, tau):
    return p.r * tau @ tau


def effort_and_speed(robot, p, t, q, v, tau):
    return 1e-4 * tau @ tau + 1e-3 * v @ v


def miss(robot, p, t, q, v):
    e = aj.difference(robot, q, p.goal)
    return p.w * (e @ e) + p.w / 100 * (v @ v)


def on_the_way(robot, p, t, q, v, tau):
    return p.r * tau @ tau + q @ q + v @ v


def at_the_end(robot, p, t, q, v):
    x = np.concatenate([q, v])
    return x @ p.P @ x


def total_cost(robot, cost, final, p, q, v, tau, dt) -> float:
    """The cost of a motion under joint forces (N, nv), by a plain loop."""
    paid = 0.0
    for k, u in enumerate(tau):
        paid += dt * cost(robot, p, k * dt, q, v, u)
        v = v + dt * aj.forward_dynamics(robot, q, v, u)
        q = aj.integrate(robot, q, v, dt)
    return paid + final(robot, p, len(tau) * dt, q, v)


# --- quadratic problems -----------------------------------------------------------------------------------------------


def test_a_quadratic_problem_takes_one_step_and_costs_what_riccati_says():
    """Sliders are linear: with the stationary cost to go at the end, the cost is xᵀ P x, with the gains of LQR."""
    body = inertia.from_central(2.0, [0.0, 0.0, 0.0], np.eye(3))
    robot = (
        aj.model.Builder("slider", gravity=(0, 0, 0))
        .link("0")
        .link("1", body)
        .joint("x", "prismatic", "0", "1")
        .build()
    )
    h, q, v = 0.05, np.array([1.0]), np.array([-0.5])
    A = np.array([[1, h], [0, 1]])
    B = np.array([[h * h / 2.0], [h / 2.0]])  # v' = v + h τ / m, q' = q + h v'
    K, P, _ = control.dlqr_gains(A, B, h, 0.1 * h)
    motion = ilqr(robot, on_the_way, at_the_end, q=q, v=v, steps=40, dt=h, r=0.1, P=P)
    x = np.append(q, v)
    assert motion.success
    assert motion.iterations == 1
    assert motion.cost == pytest.approx(x @ P @ x, rel=1e-12)
    np.testing.assert_allclose(motion.K, np.broadcast_to(K, (40, 1, 2)), rtol=1e-9)
    assert motion.gradient < 1e-12


@pytest.mark.parametrize("size", [1, 2, 5])
def test_box_minimum(size):
    """Projected Newton steps against SciPy's bounded least squares: |L x + L⁻ᵀ g|² has the same minimum."""
    rng = np.random.default_rng(size)

    @kernel(H=(size, size), g=size, lower=size, upper=size, start=size)
    def solved(H, g, lower, upper, start):
        return box_minimum(H, g, lower, upper, start).x

    for _ in range(20):
        root = rng.normal(size=(size, size)) + np.eye(size)
        g, lower, upper = rng.normal(size=size) * 3, -rng.uniform(0, 1, size), rng.uniform(0, 1, size)
        upper[0] = np.inf
        H = root.T @ root
        known = lsq_linear(root, -np.linalg.solve(root.T, g), (lower, upper), tol=1e-14)
        x = solved(H, g, lower, upper, rng.normal(size=size))
        np.testing.assert_allclose(x, known.x, atol=1e-6 * np.linalg.cond(H))
        slope = H @ x + g  # the conditions of Karush, Kuhn and Tucker, which tell more than SciPy's digits
        assert np.all((x >= lower) & (x <= upper))
        assert np.all(slope[x > lower] < 1e-10 * np.abs(H).max() * 10)
        assert np.all(slope[x < upper] > -1e-10 * np.abs(H).max() * 10)


# --- robots -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ur5_reaches_its_goal_at_the_cost_that_crocoddyl_finds():
    robot = aj.load(urdf("ur5_robot"))
    motion = ilqr(robot, effort_and_speed, miss, q=POSE, steps=200, dt=0.01, goal=GOAL, w=1000.0)
    assert motion.success
    assert motion.cost == pytest.approx(0.05973150158470157, rel=1e-9)  # crocoddyl 3.2.1, SolverDDP, the same problem
    assert np.all(np.diff(motion.history) <= 0)
    assert np.abs(motion.q[-1] - GOAL).max() < 1e-3
    run = simulate(robot, motion.law(), q=POSE, v=np.zeros(6), duration=2.0, dt=0.01)
    np.testing.assert_allclose(run.q, motion.q, atol=1e-12)
    np.testing.assert_allclose(run.tau[:-1], motion.tau, atol=1e-10)
    pushed = simulate(robot, motion.law(), q=POSE + 0.02, v=np.zeros(6), duration=2.0, dt=0.01)
    assert np.abs(pushed.q[-1] - GOAL).max() < 0.1 * 0.02  # the gains lead back to the goal


@pytest.mark.slow
def test_no_joint_force_can_be_changed_for_the_better():
    """Derivatives of the whole cost, by differences of a plain loop, are 0, or hold the force at its limit."""
    robot, problem = acrobot(), two_link_problem()
    motion = ilqr(robot, effort, miss, **problem, limits=6.0)
    p, step, still = SimpleNamespace(**problem), 1e-4, np.zeros(2)
    held = np.abs(motion.tau) == 6.0
    assert held.any()
    assert motion.cost == pytest.approx(total_cost(robot, effort, miss, p, still, still, motion.tau, 0.02), rel=1e-12)
    for k in range(0, 30, 3):
        for i in range(2):
            change = np.zeros((30, 2))
            change[k, i] = step
            costs = [total_cost(robot, effort, miss, p, still, still, motion.tau + s * change, 0.02) for s in (1, -1)]
            slope = (costs[0] - costs[1]) / (2 * step)
            # Differences of costs of 0.06 have errors of 1e-16 / 1e-4, and the search leaves slopes of √1e-10.
            assert slope * motion.tau[k, i] < 0 if held[k, i] else abs(slope) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("most", [6.0, 15.0])
def test_acrobot_swings_up_by_its_elbow(most):
    robot, rest = acrobot(), np.zeros(2)
    motion = ilqr(
        robot, effort, miss, q=rest, steps=200, dt=0.02, limits=[0.0, most], second_order=True,
        goal=UPRIGHT, r=1e-2, w=100.0,
    )  # fmt: skip
    assert motion.success
    assert np.all(motion.tau[:, 0] == 0)
    assert np.all(motion.K[:, 0] == 0)
    assert np.all(np.abs(motion.tau) <= most)
    assert (np.abs(motion.tau).max() == most) == (most == 6.0)  # the smaller limit is reached
    assert motion.gradient < 1e-5 * motion.cost / 1e-2
    assert np.abs(motion.q[-1] - UPRIGHT).max() < 0.01
    run = simulate(robot, motion.law(), q=rest, v=rest, duration=4.0, dt=0.02)
    np.testing.assert_array_equal(run.q, motion.q)  # x = 0 all along: the same arithmetic


def two_link_problem() -> dict:
    return {"q": np.zeros(2), "steps": 30, "dt": 0.02, "goal": np.array([0.6, -0.4]), "r": 1e-3, "w": 100.0}


def by_ipopt(robot, most, q, steps, dt, goal, r, w) -> float:
    """The least cost of the same problem, as a nonlinear program in all states and joint forces.

    With a limit of 100 N m, which clips first steps only, `ilqr` finds another local minimum (0.0580625).
    """
    dynamics = aj.forward_dynamics.bind(robot).symbolic()
    opti = casadi.Opti()
    Q, V, U = opti.variable(2, steps + 1), opti.variable(2, steps + 1), opti.variable(2, steps)
    opti.subject_to(Q[:, 0] == q)
    opti.subject_to(V[:, 0] == 0)
    for k in range(steps):
        opti.subject_to(V[:, k + 1] == V[:, k] + dt * dynamics(Q[:, k], V[:, k], U[:, k]))
        opti.subject_to(Q[:, k + 1] == Q[:, k] + dt * V[:, k + 1])
    opti.subject_to(opti.bounded(-most, U, most))
    opti.minimize(dt * r * casadi.sumsqr(U) + w * casadi.sumsqr(Q[:, -1] - goal) + w / 100 * casadi.sumsqr(V[:, -1]))
    opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.tol": 1e-10})
    return opti.solve().value(opti.f)


@pytest.mark.slow
@pytest.mark.parametrize("second_order", [False, True])
@pytest.mark.parametrize("most", [6.0, 1e4])
def test_ipopt_finds_the_same_cost(second_order, most):
    robot, problem = acrobot(), two_link_problem()
    motion = ilqr(robot, effort, miss, **problem, limits=most, second_order=second_order)
    assert motion.success
    assert motion.cost == pytest.approx(by_ipopt(robot, most, **problem), rel=1e-6)
    assert (np.abs(motion.tau).max() == most) == (most == 6.0)


@pytest.mark.slow
def test_dynamic_programming_of_second_order_converges_quadratically():
    robot, problem = acrobot(), two_link_problem()
    first = ilqr(robot, effort, miss, **problem, tolerance=1e-13)
    second = ilqr(robot, effort, miss, **problem, tolerance=1e-13, second_order=True)
    assert second.iterations < first.iterations
    assert second.cost == pytest.approx(float(first.cost), rel=1e-10)
    left = (second.history - second.cost)[-4:-1] / second.cost
    assert left[2] < 1e-2 * left[1] < 1e-4 * left[0]  # each step gains more digits than the one before


@pytest.mark.slow
def test_the_structure_of_eulers_method_changes_nothing():
    """The same integrator under another name takes the way for any integrator, with derivatives of the step itself."""
    robot, problem = acrobot(), two_link_problem()
    other = Integrator(INTEGRATORS["semi_implicit"].step, 1)
    known = ilqr(robot, effort, miss, **problem)
    found = ilqr(robot, effort, miss, **problem, integrator=other)
    np.testing.assert_allclose(found.history, known.history, rtol=1e-9)
    np.testing.assert_allclose(found.K, known.K, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("second_order", [False, True])
def test_a_body_turns_on_its_manifold(second_order):
    """A body on a spherical joint turns by half a turn and more: quaternions have four numbers, errors three."""
    body = inertia.from_central(2.0, [0.0, 0.0, 0.3], np.diag([0.1, 0.15, 0.05]))
    robot = aj.model.Builder("top").link("0").link("1", body).joint("ball", "spherical", "0", "1").build()
    start = aj.neutral(robot)
    goal = aj.integrate(robot, start, np.array([0.5, -1.0, 2.5]))
    motion = ilqr(
        robot, effort, miss, q=start, steps=40, dt=0.025, goal=goal, r=1e-2, w=100.0, integrator="rk4",
        second_order=second_order,
    )  # fmt: skip
    assert motion.success
    assert aj.distance(robot, motion.q[-1], goal) < 0.02
    np.testing.assert_allclose(np.linalg.norm(motion.q, axis=1), 1, atol=1e-12)
    run = simulate(robot, motion.law(), q=start, v=np.zeros(3), duration=1.0, dt=0.025, integrator="rk4")
    np.testing.assert_allclose(run.q, motion.q, atol=1e-9)
    step, p = 1e-4, SimpleNamespace(goal=goal, r=1e-2, w=100.0)

    def paid(tau):
        tape = control.law(_played, reference=control.references.Rows(tau, np.zeros(3), 0.025), follows=None)
        run = simulate(robot, tape, q=start, v=np.zeros(3), duration=1.0, dt=0.025, integrator="rk4")
        return 0.025 * p.r * np.sum(tau**2) + miss(robot, p, 1.0, run.q[-1], run.v[-1])

    for k, i in ((0, 0), (20, 2)):
        change = np.zeros((40, 3))
        change[k, i] = step
        assert abs(paid(motion.tau + change) - paid(motion.tau - change)) / (2 * step) < 1e-5


def _played(robot, p, state, t, q, v, reference):
    return reference, state


@pytest.mark.slow
@pytest.mark.parametrize("second_order", [False, True])
def test_a_batch_of_problems_is_each_of_them(second_order):
    """One problem has a search of its own, with less work between kernels; it takes the same way to the last bit."""
    robot, problem = acrobot(), two_link_problem()
    goals = np.array([[1.5, -0.7], [0.3, 0.4], [-2.0, 1.0]])
    starts = np.array([[0.0, 0.0], [0.1, 0.0], [0.5, -1.0]])
    options = {"limits": 15.0, "second_order": second_order}
    many = ilqr(robot, effort, miss, **problem | {"q": starts}, **options, batch={"goal": goals})
    assert many.success.shape == (3,)
    assert many.K.shape == (3, 30, 2, 4)
    for k in range(3):
        one = ilqr(robot, effort, miss, **problem | {"q": starts[k], "goal": goals[k]}, **options)
        np.testing.assert_array_equal(one.tau, many.tau[k])
        np.testing.assert_array_equal(one.K, many.K[k])
        np.testing.assert_array_equal(one.history, many.history[k, : len(one.history)])
        assert one.iterations == many.iterations[k]
    run = simulate(robot, many.law(), q=starts, v=np.zeros(2), duration=0.6, dt=0.02)
    np.testing.assert_allclose(run.q, many.q, atol=1e-12)
    assert "converged" in repr(many)


def test_a_search_that_ends_early_says_so():
    problem = two_link_problem()
    motion = ilqr(acrobot(), effort, miss, **problem, limits=15.0, iterations=2)
    assert not motion.success
    assert "it has not converged after 2 iterations; the cost is" in motion.message
    assert motion.history.shape == (3,)


def test_a_start_that_is_not_finite():
    def infinite(robot, p, t, q, v, tau):
        return 1 / (tau @ tau - tau @ tau + p.zero)

    with pytest.raises(SolveError, match="the cost of the motion under the first joint forces is not finite"):
        ilqr(acrobot(), infinite, q=np.zeros(2), steps=5, dt=0.01, zero=0.0)


def endless(robot, p, t, q, v):
    return -np.exp(v @ v)


def test_a_cost_that_has_no_least_value_stays_finite():
    """Where a motion overflows, its cost may be -inf, which is no gain."""
    motion = ilqr(acrobot(), effort, endless, q=np.zeros(2), v=[0.5, 0.0], steps=20, dt=0.02, r=1e-3)
    assert np.isfinite(motion.history).all()
    assert not motion.success


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros(3)}, r"'q' has shape \(3,\)"),
        ({"q": [np.nan, 0.0]}, "ilqr: q contains NaN"),
        ({"tau": np.zeros((7, 2))}, "leading axes of q, v, tau and numbers do not match"),
        ({"dt": 0.0}, "ilqr: dt must be a positive number"),
        ({"steps": 0}, "steps must be 1 or more"),
        ({"steps": 2.5}, "steps must be a whole number"),
        ({"limits": [1.0, 2.0, 3.0]}, r"limits must be a number, \(2,\), or \(2, 2\)"),
        ({"limits": -1.0}, "limits must be a number"),
        ({"limits": 0.0}, "limits leave no joint force to choose"),
        ({"integrator": "midpoint?"}, "integrator is 'midpoint\\?'; there are"),
        ({"second_order": 1}, "second_order must be True or False"),
        ({"tolerance": -1}, "tolerance must be a positive number"),
        ({"batch": {"speed": 1.0}}, "there is no parameter 'speed'"),
        ({"goal": [np.nan, 0.0]}, "'goal' contains NaN"),
        ({"final": 3}, "final must be a function; got int"),
        ({"cost": 3}, "ilqr needs a function; got int"),
    ],
)
def test_bad_problems(change, message):
    given = {"cost": effort, "final": miss} | two_link_problem() | change
    with pytest.raises(ArgumentError, match=message):
        ilqr(acrobot(), given.pop("cost"), given.pop("final"), **given)


# --- predictive control with CasADi -----------------------------------------------------------------------------------


def predictive_controller(robot, goal, horizon: int, dt: float, most: float):
    """A function (q, v) -> τ that solves a nonlinear program over the horizon, from the last solution on."""
    n, dynamics = robot.nv, aj.forward_dynamics.bind(robot).symbolic()
    opti = casadi.Opti()
    Q, V, U = opti.variable(n, horizon + 1), opti.variable(n, horizon + 1), opti.variable(n, horizon)
    q, v = opti.parameter(n), opti.parameter(n)
    opti.subject_to([Q[:, 0] == q, V[:, 0] == v, opti.bounded(-most, casadi.vec(U), most)])
    for k in range(horizon):
        opti.subject_to(V[:, k + 1] == V[:, k] + dt * dynamics(Q[:, k], V[:, k], U[:, k]))
        opti.subject_to(Q[:, k + 1] == Q[:, k] + dt * V[:, k + 1])
    opti.minimize(10 * casadi.sumsqr(Q - goal) + 0.1 * casadi.sumsqr(V) + 1e-5 * casadi.sumsqr(U))
    opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})

    def control(q_now, v_now):
        opti.set_value(q, q_now)
        opti.set_value(v, v_now)
        found = opti.solve()
        opti.set_initial(found.value_variables())
        return found.value(U[:, 0])

    return control


@pytest.mark.slow
def test_predictive_control_with_casadi():
    robot, goal, dt = acrobot(), np.array([2.0, -1.0]), 0.05
    control = predictive_controller(robot, goal, horizon=10, dt=dt, most=25.0)
    q, v, used = np.zeros(2), np.zeros(2), []
    for _ in range(40):
        used.append(control(q, v))
        run = simulate(robot, aj.control.law(_held, follows=None, tau=used[-1]), q=q, v=v, duration=dt, dt=dt / 5)
        q, v = run.q[-1], run.v[-1]
    assert np.abs(used).max() <= 25.0 + 1e-6
    assert np.abs(used).max() > 24.9  # the limit matters
    assert np.abs(q - goal).max() < 0.02
    assert np.abs(v).max() < 0.05


def _held(robot, p, state, t, q, v, reference):
    return p.tau, state
