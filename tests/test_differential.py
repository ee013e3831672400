"""The differential step: the conditions of Karush, Kuhn and Tucker hold, and SciPy's bounded solver finds the same."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.robots import urdf

import adjoint as aj
from adjoint import goals, kernel, robots
from adjoint.errors import ArgumentError
from adjoint.goals.problem import problem_of
from adjoint.goals.qp import BoxSolution, box_minimum
from adjoint.lie import se3, so3

PUMA = robots.puma560().replace(velocity_limit=np.array([2.0, 2, 3, 4, 4, 6]))


@kernel(H=(5, 5), g=5, lower=5, upper=5, active=5)
def solve(H, g, lower, upper, active) -> BoxSolution:
    """A program of five variables."""
    return box_minimum(H, g, lower, upper, active)


def assert_optimal(H, g, lower, upper, x, slack):
    """x is within its bounds, and z = g - H x pushes against them, or vanishes."""
    z = g - np.einsum("...ij,...j->...i", H, x)
    assert np.all((x >= lower) & (x <= upper))
    assert np.all(z[x < upper] <= slack) and np.all(z[x > lower] >= -slack)


def programs(n: int) -> tuple:
    """Random programs, some of them badly conditioned, whose variables meet all, some or none of their bounds."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(n, 3 + n % 2, 5))
    H = np.swapaxes(A, 1, 2) @ A + 1e-4 * np.eye(5)
    middle, width = rng.normal(size=(n, 5)), rng.uniform(0, 1, (n, 5)) * rng.choice([0.0, 0.1, 1.0, 10.0], (n, 1))
    return H, 3 * rng.normal(size=(n, 5)), middle - width, middle + width


def test_programs_are_solved_exactly():
    H, g, lower, upper = programs(4000)
    found = solve(H, g, lower, upper, np.zeros(5))
    assert_optimal(H, g, lower, upper, found.x, slack=1e-9 * np.abs(g).max())
    assert np.all((found.active != 0) == ((found.x == lower) | (found.x == upper)))
    wrong = solve(H, g, lower, upper, np.random.default_rng(1).integers(-1, 2, (4000, 5)))
    np.testing.assert_allclose(wrong.x, found.x, rtol=0, atol=1e-7)  # the condition of H is up to 1e6
    again = solve(H, g, lower, upper, found.active)
    np.testing.assert_allclose(again.x, found.x, rtol=0, atol=1e-7)
    assert np.mean(again.steps == 1) > 0.99  # the guess is right, but for rounding
    assert found.steps.max() < 100


def test_programs_without_bounds_and_with_one_bound():
    H, g, _, upper = programs(100)
    endless = np.full(5, np.inf)
    free = solve(H, g, -endless, endless, np.ones(5))  # a guess that names a bound at infinity
    np.testing.assert_allclose(np.einsum("nij,nj->ni", H, free.x), g, rtol=0, atol=1e-9)
    half = solve(H, g, -endless, upper, np.zeros(5))
    assert_optimal(H, g, -np.tile(endless, (100, 1)), upper, half.x, slack=1e-8)


def reference(robot, q, wanted, dt, gain=1.0, damping=1e-6) -> np.ndarray:
    """The step of one sample towards one pose by SciPy: bounded least squares of twist and rotation vector."""
    ((frame, T),) = wanted.items()
    data = problem_of(robot, wanted, 1.0, "test").data
    w = data[12:16][[0, 0, 0, 1, 2, 3]]
    at = aj.forward_kinematics(robot, q, frame)
    r = w * np.concatenate([so3.log(T[:3, :3] @ at[:3, :3].T), T[:3, 3] - at[:3, 3]])
    J = w[:, None] * aj.jacobian(robot, q, frame, "world")
    A, b = np.concatenate([J, np.sqrt(damping) * np.eye(robot.nv)]), np.concatenate([gain * r, np.zeros(robot.nv)])
    most = robot.velocity_limit * dt
    bounds = np.clip(robot.lower - q, -most, most), np.clip(robot.upper - q, -most, most)
    return lsq_linear(A, b, bounds, method="bvls", tol=1e-14).x / dt


def test_steps_are_those_of_a_reference_solver():
    q = aj.random_configuration(PUMA, 60, rng=0)
    T = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 60, rng=1), "tool")
    for dt, gain in ((0.01, 1.0), (0.3, 0.5)):
        step = goals.differential_step(PUMA, q, {"tool": T}, dt, gain=gain, damping=1e-3)
        want = [reference(PUMA, x, {"tool": t}, dt, gain, 1e-3) for x, t in zip(q, T, strict=True)]
        np.testing.assert_allclose(step.v, want, rtol=0, atol=1e-8 / dt)
        assert 0 < np.mean(step.active != 0) < 1


def test_steps_keep_all_limits_and_lead_back_inside():
    rng = np.random.default_rng(2)
    q = rng.uniform(PUMA.lower - 0.3, PUMA.upper + 0.3, (500, 6))  # many joints are outside
    dt = 0.05
    step = goals.differential_step(PUMA, q, {"tool": np.eye(4)}, dt)
    after, slack = q + step.v * dt, 1e-12
    assert np.isfinite(step.v).all() and np.all(np.abs(step.v) <= PUMA.velocity_limit + slack)
    inside = (q >= PUMA.lower) & (q <= PUMA.upper)
    assert np.all(((after >= PUMA.lower - slack) & (after <= PUMA.upper + slack))[inside])
    above, below = q > PUMA.upper, q < PUMA.lower
    home = np.minimum(PUMA.velocity_limit * dt, np.maximum(q - PUMA.upper, PUMA.lower - q))
    assert np.all((q - after)[above] >= home[above] - slack) and np.all((after - q)[below] >= home[below] - slack)


def test_a_robot_without_limits_takes_newton_steps():
    free = PUMA.replace(velocity_limit=np.full(6, np.inf))
    q = np.array([0.1, -0.5, 0.4, 0.3, 0.8, 0.2])
    T = aj.forward_kinematics(free, q, "tool") @ se3.exp(np.full(6, 1e-4))
    step = goals.differential_step(free, q, {"tool": T}, 0.1, limits=False, damping=1e-12)
    after = goals.goal_errors(free, {"tool": T}, q + step.v * 0.1)
    assert not step.active.any() and after[0] < 1e-6  # the error is squared: (1e-4)² times the curvature


def test_warm_start_gives_the_same_answer_in_fewer_iterations():
    q = aj.random_configuration(PUMA, 300, rng=3)
    T = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 300, rng=4), "tool")
    cold = goals.differential_step(PUMA, q, {"tool": T}, 0.02)
    near = q + 1e-3
    first, second = (goals.differential_step(PUMA, near, {"tool": T}, 0.02, warm=w) for w in (None, cold))
    np.testing.assert_allclose(second.v, first.v, rtol=0, atol=1e-9)
    assert second.iterations.mean() < 0.6 * first.iterations.mean()


def test_objectives_use_only_what_goals_leave_free():
    """The goals' part J v is that without objectives; Lagrange's conditions hold for the rest."""
    q, dt, damping = aj.random_configuration(PUMA, 50, rng=5), 0.1, 1e-4
    p = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 50, rng=6), "tool")[:, :3, 3]
    options = {"dt": dt, "gain": 0.3, "damping": damping}
    alone = goals.differential_step(PUMA, q, {"tool": p}, **options)
    both = goals.differential_step(PUMA, q, {"tool": p}, objectives=goals.posture(np.zeros(6)), **options)
    J = aj.jacobian(PUMA, q, "tool", "world")[:, 3:]
    served = np.einsum("nij,nj->ni", J, both.v - alone.v)
    np.testing.assert_allclose(served, 0, rtol=0, atol=1e-6)
    assert np.abs(both.v - alone.v).max() > 0.1
    most = PUMA.velocity_limit * dt
    low, high = np.clip(PUMA.lower - q, -most, most), np.clip(PUMA.upper - q, -most, most)
    for k in range(50):
        x = both.v[k] * dt
        z = 0.3 * (0 - q[k]) - (1 + damping) * x  # the pull of the objective: x - gain (0 - q), and the damping
        free = (x > low[k] + 1e-12) & (x < high[k] - 1e-12)
        y = np.linalg.lstsq(J[k][:, free].T, z[free], rcond=1e-10)[0]
        rest = z - J[k].T @ y
        if np.linalg.matrix_rank(J[k][:, free], tol=1e-6) == 3:  # otherwise y is not unique
            assert np.abs(rest[free]).max(initial=0) < 1e-5
            assert np.all(rest[x >= high[k] - 1e-12] > -1e-5) and np.all(rest[x <= low[k] + 1e-12] < 1e-5)


@pytest.mark.slow
def test_steps_lead_a_humanoid_to_its_goals():
    robot = aj.load(urdf("g1_29dof_rev_1_0"), base="free")
    q = np.clip(aj.neutral(robot), robot.lower, robot.upper)
    feet = ["left_ankle_roll_link", "right_ankle_roll_link"]
    wanted = [goals.pose(f, aj.forward_kinematics(robot, q, f)) for f in feet]
    wanted.append(goals.position("left_rubber_hand", aj.forward_kinematics(robot, q, "left_rubber_hand")[:3, 3] + 0.1))
    wanted.append(goals.center_of_mass(aj.center_of_mass(robot, q) - [0.0, 0, 0.02], weight=(1, 1, 0.1)))
    step = None
    for _ in range(150):
        step = goals.differential_step(robot, q, wanted, 0.02, gain=0.2, warm=step)
        q = aj.integrate(robot, q, step.v, 0.02)
        assert np.all((q >= robot.lower - 1e-9) & (q <= robot.upper + 1e-9))
    assert goals.goal_errors(robot, wanted, q).max() < 1e-3


def test_batches_broadcast_and_nan_stays_alone():
    q = aj.random_configuration(PUMA, 4, rng=7)
    whole = goals.differential_step(PUMA, q, {"tool": np.eye(4)}, 0.01)
    one = goals.differential_step(PUMA, q[2], {"tool": np.eye(4)}, 0.01)
    assert whole.v.shape == (4, 6) and np.array_equal(one.v, whole.v[2])
    q[1, 0] = np.nan
    found = goals.differential_step(PUMA, q, {"tool": np.eye(4)}, 0.01)
    assert np.isnan(found.v[1]).any() and np.array_equal(np.delete(found.v, 1, 0), np.delete(whole.v, 1, 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dt": 0}, r"dt \[s\] must be a positive number"),
        ({"gain": -1}, "gain must be a positive number"),
        ({"damping": 0}, "damping must be a positive number"),
        ({"q": np.zeros(5)}, r"'q' has shape \(5,\)"),
        ({"goals": {"hand": np.eye(4)}}, "has no frame 'hand'"),
        ({"velocity_limit": 1.0}, "'velocity_limit' has shape"),
        ({"warm": np.zeros(6)}, "warm must be a DifferentialStep"),
        ({"robot": robots.random_tree(0, 60, ["revolute"])}, "at most 48 bodies"),
    ],
)
def test_bad_input_is_told(change, message):
    given = {"robot": PUMA, "q": np.zeros(6), "goals": {"tool": np.eye(4)}, "dt": 0.01} | change
    with pytest.raises(ArgumentError, match=message):
        goals.differential_step(**given)


@pytest.mark.parametrize("angle", [0.1, np.pi / 2, 2.6, 3.1, np.pi])
def test_a_frame_turns_to_its_target_on_the_shortest_way(angle):
    """A share `gain` of the angle that is left is gone after a step, however large the angle is."""
    robot = aj.robots.puma560().replace(lower=-np.inf, upper=np.inf)
    q, dt, gain = np.array([0.3, -0.8, 2.0, 0.4, 0.9, 0.1]), 0.01, 1e-3
    T = aj.forward_kinematics(robot, q, "tool")
    axis = np.array([0.6, 0.0, 0.8])
    target = T @ se3.from_rotation_translation(so3.exp(angle * axis), np.zeros(3))
    for goal in (goals.pose("tool", target), goals.orientation("tool", target[:3, :3])):
        step = goals.differential_step(robot, q, goal, dt, gain=gain, damping=1e-12)
        turned = aj.jacobian(robot, q, "tool", "body") @ step.v * dt
        np.testing.assert_allclose(np.linalg.norm(turned[:3]), gain * angle, rtol=1e-6)
        np.testing.assert_allclose(np.abs(turned[:3] @ axis), gain * angle, rtol=1e-6)
