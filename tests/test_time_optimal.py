"""The fastest motions along paths: closed forms, a second library, limits between all points, and refusals."""

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from support.robots import urdf

import adjoint as aj
from adjoint.compile import kernel, static
from adjoint.trajectory import Trajectory, cubic, phase_plane, quintic, time_optimal
from adjoint.trajectory.polynomials import turning_points

PATHS = np.random.default_rng(0).uniform(-1, 1, (6, 10, 7))  # ten points for seven joints
VELOCITY, ACCELERATION = np.linspace(1.5, 2.5, 7), np.linspace(4, 6, 7)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="toppra has wheels for Linux only")


def panda(effort: float = 1.0, speed: float = 1.0, **changes) -> aj.Robot:
    """A Panda without fingers, whose limits of torques and velocities are multiplied by factors."""
    robot = aj.load(urdf("panda"))
    robot = robot.locked({robot.joint_names[-1]: 0.02})
    limits = {"effort_limit": effort * robot.effort_limit, "velocity_limit": speed * robot.velocity_limit}
    return robot.replace(**limits, **changes)


def panda_paths(count: int) -> np.ndarray:
    """Random paths through six points, well within the limits of the joints."""
    robot = panda()
    half = 0.5 * (robot.upper - robot.lower)
    return robot.lower + half + 0.5 * half * np.random.default_rng(1).uniform(-1, 1, (count, 6, 7))


def pendulum(**changes) -> aj.Robot:
    """A mass of 1 kg at 1 m from a horizontal axis, level at q = 0."""
    return aj.robots.planar(1).replace(**changes)


def fine(trajectory, parts: int) -> tuple:
    """Samples (..., G, parts + 1, n) of v, a and jerk, and of q, at equal steps of time in all pieces."""
    k = trajectory.knots
    t = k[..., :-1, None] + np.arange(parts + 1) / parts * np.diff(k)[..., None]
    q, v, a, jerk = trajectory(np.minimum(t, k[..., -1:, None]).reshape(*k.shape[:-1], -1))
    shape = (*t.shape, trajectory.nv)
    return v.reshape(shape), a.reshape(shape), jerk.reshape(shape), q.reshape(shape)


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [4, 100])
def test_a_straight_line_without_velocity_limits_is_bang_bang(grid):
    """The longest of d, with the limit a, takes 2 √(d / a); an even grid has the switching point."""
    trajectory = time_optimal([[0.0, 1.0], [3.0, 0.0]], acceleration=[2.0, 5.0], grid=grid)
    assert_allclose(trajectory.duration, 2 * np.sqrt(3 / 2.0), rtol=1e-12)
    assert_allclose(trajectory(trajectory.duration / 2).v, [np.sqrt(6.0), -np.sqrt(6.0) / 3], rtol=1e-9)


@pytest.mark.parametrize(("start", "goal"), [(0.0, 0.0), (1.0, 0.0), (0.5, 2.0)])
def test_a_straight_line_is_a_trapezoid(start, goal):
    """With v²/2a on both sides within grid points: T = (v - v_0)/a + (v - v_1)/a + what is left at v."""
    v, a, d = 2.0, 4.0, 3.0
    up, down = (v**2 - start**2) / (2 * a), (v**2 - goal**2) / (2 * a)
    expected = (2 * v - start - goal) / a + (d - up - down) / v
    trajectory = time_optimal(
        [[0.0], [d]], velocity=v, acceleration=a, grid=240, start_speed=start / d, goal_speed=goal / d
    )
    assert_allclose(trajectory.duration, expected, rtol=1e-5)  # a switch inside an interval h costs h² / 8 at most
    assert_allclose(trajectory([0.0, trajectory.duration]).v[:, 0], [start, goal], atol=1e-12)


def test_a_pendulum_with_a_torque_limit_follows_its_energy():
    """I ṡ²/2 = ∫(τ - m g l cos s) ds from the start, and with -τ to the goal, for a path q = s."""
    robot = pendulum()
    I, weight, tau = aj.mass_matrix(robot, [0.0])[0, 0], aj.gravity_torque(robot, [0.0])[0], 25.0
    start, goal = -1.0, 1.5

    def squared(s):
        rise = weight * np.array([np.sin(s) - np.sin(start), np.sin(s) - np.sin(goal)])
        return 2 / I * np.min([tau * (s - start) - rise[0], tau * (goal - s) - rise[1]], axis=0)

    s = np.linspace(start, goal, 2001)[1:-1]
    switch = s[np.argmin(np.abs((s - start) * tau - (goal - s) * tau + weight * (np.sin(start) - np.sin(goal))))]
    expected = sum(quad(lambda s: squared(s) ** -0.5, *ends)[0] for ends in ((start, switch), (switch, goal)))
    found = time_optimal([[start], [goal]], robot=robot, torque=tau, velocity=False, parameters=[start, goal], grid=400)
    assert_allclose(found.duration, expected, rtol=1e-3)
    assert found.duration > expected * (1 - 1e-6)


# --- laws -------------------------------------------------------------------------------------------------------------


def test_the_motion_passes_through_scipys_spline():
    plane = phase_plane(PATHS[0], acceleration=1.0)
    q = time_optimal(PATHS[0], acceleration=1.0)
    expected = CubicSpline(np.linspace(0, 1, 10), PATHS[0])(plane.s)
    assert_allclose(q(q.knots).q, expected, atol=1e-12)


def test_four_times_the_acceleration_halves_the_time():
    """Without velocity limits, time is scaled as a whole."""
    once, four = (time_optimal(PATHS, acceleration=f * ACCELERATION) for f in (1, 4))
    assert_allclose(once.duration, 2 * four.duration, rtol=1e-12)
    once, twice = (time_optimal(PATHS, velocity=f * VELOCITY, acceleration=f**2 * ACCELERATION) for f in (1, 2))
    assert_allclose(once.duration, 2 * twice.duration, rtol=1e-12)


def test_parameters_only_name_the_points():
    """Twice the parameters are half the speeds, and the same motion."""
    s = np.linspace(3, 5, 10)
    once = time_optimal(PATHS[0], velocity=VELOCITY, acceleration=ACCELERATION)
    twice = time_optimal(PATHS[0], velocity=VELOCITY, acceleration=ACCELERATION, parameters=s)
    assert_allclose(once.knots, twice.knots, rtol=1e-9)


def test_a_path_backward_takes_as_long():
    """Limits are symmetric in time; on a grid, the greedy motion is not, by the grid's error."""
    for grid, error in ((100, 3e-3), (400, 8e-4)):
        there, back = (
            time_optimal(W, velocity=VELOCITY, acceleration=ACCELERATION, grid=grid).duration
            for W in (PATHS, PATHS[:, ::-1])
        )
        assert_allclose(there, back, rtol=error)


def test_a_path_backward_against_gravity_takes_as_long_without_friction():
    robot = panda(0.8, 5.0, damping=np.zeros(7))
    W = panda_paths(3)
    there, back = (time_optimal(x, robot=robot, grid=200).duration for x in (W, W[:, ::-1]))
    assert_allclose(there, back, rtol=5e-3)


def test_batches_are_loops_to_the_last_bit():
    whole = time_optimal(PATHS.reshape(2, 3, 10, 7), velocity=VELOCITY, acceleration=ACCELERATION)
    assert whole.batch == (2, 3)
    for k, W in enumerate(PATHS):
        one = time_optimal(W, velocity=VELOCITY, acceleration=ACCELERATION)
        assert_array_equal(one.knots, whole.knots[divmod(k, 3)])
        assert_array_equal(one.coefficients, whole.coefficients[divmod(k, 3)])


def test_batches_with_torques_are_loops_to_the_last_bit():
    robot, W = panda(0.7, 4.0), panda_paths(5)
    whole = time_optimal(W, robot=robot)
    for one, knots in zip((time_optimal(x, robot=robot) for x in W), whole.knots, strict=True):
        assert_array_equal(one.knots, knots)


def test_a_trajectory_is_a_path():
    """The parameter is its time; the spline itself gives the same motion as its points, and quintics are straight."""
    spline = CubicSpline(np.linspace(0, 1, 10), PATHS[0])
    path = aj.trajectory.Trajectory(spline.x, spline.c[::-1].transpose(1, 2, 0))
    limits = {"velocity": VELOCITY, "acceleration": ACCELERATION}
    assert_allclose(time_optimal(path, **limits).knots, time_optimal(PATHS[0], **limits).knots, rtol=1e-9)
    way = np.array([[1.0, 2.0], [1.0, 1.0]])
    paths = quintic([1.0, 2.0] - way, [1.0, 2.0], [1.0, 3.0], start_velocity=0.3 * way, goal_velocity=0.2 * way)
    found = time_optimal(paths, velocity=1.0, acceleration=1.0, grid=400)
    assert_allclose(found.duration, [3.0, 2.0], rtol=1e-2)
    assert found.degree == 10


# --- limits between the points of the grid ----------------------------------------------------------------------------


def test_velocities_and_accelerations_are_within_limits_everywhere():
    trajectory = time_optimal(PATHS, velocity=VELOCITY, acceleration=ACCELERATION)
    v, a, *_ = fine(trajectory, 100)
    assert np.all(np.abs(v) <= VELOCITY * (1 + 1e-12))
    assert np.all(np.abs(a) <= ACCELERATION * (1 + 1e-9))  # second derivatives of sums of seven terms


def test_some_limit_holds_the_motion_back_at_nearly_every_time():
    """Not where an interval has a switch inside, nor where the hull of a fast change is wider than its values."""
    for grid, few in ((100, 0.1), (400, 0.02)):
        v, a, *_ = fine(time_optimal(PATHS, velocity=VELOCITY, acceleration=ACCELERATION, grid=grid), 10)
        share = np.maximum(np.abs(v) / VELOCITY, np.abs(a) / ACCELERATION).max(axis=(-2, -1))
        assert np.mean(share < 0.99) < few


@pytest.mark.slow
@pytest.mark.parametrize(("effort", "speed"), [(1.0, 1.0), (0.7, 4.0)])
@pytest.mark.parametrize("friction", [False, True])
def test_torques_are_within_limits_between_the_points_of_the_grid(effort, speed, friction):
    robot = panda(effort, speed)
    if friction:
        robot = robot.replace(damping=np.full(7, 0.5), friction=np.full(7, 0.3))
    trajectory = time_optimal(panda_paths(16), robot=robot)
    for parts, over in ((10, 1e-5), (100, 5e-5)):
        v, a, _, q = fine(trajectory, parts)
        v = np.where(np.abs(v) < 1e-9, 0.0, v)  # at rest, where rounding must not decide about dry friction
        tau = aj.inverse_dynamics(robot, q, v, a)
        assert np.all(np.abs(v) <= robot.velocity_limit * (1 + 1e-12))
        assert np.all(np.abs(tau) <= robot.effort_limit * (1 + over))
    if speed > 1:
        share = np.max(np.abs(tau) / robot.effort_limit, axis=(-2, -1))
        assert np.mean(share > 0.98) > 0.8  # and torques are what holds it back


def test_an_arm_too_weak_to_hold_itself_can_still_swing_through():
    """At 1.2 of the gravity at the level, a push from below carries it past the level, without a rest there."""
    robot = pendulum()
    weight = aj.gravity_torque(robot, [0.0])[0]
    found = time_optimal([[-1.4], [1.4]], robot=robot, torque=0.9 * weight, velocity=False, grid=200)
    v, a, _, q = fine(found, 10)
    assert np.all(np.abs(aj.inverse_dynamics(robot, q, v, a)) <= 0.9 * weight * (1 + 1e-5))


# --- toppra -----------------------------------------------------------------------------------------------------------


def toppra_duration(W, grid, *, velocity=None, acceleration=None, robot=None) -> float:
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("ERROR")
    path = toppra.SplineInterpolator(np.linspace(0, 1, len(W)), W)
    limits = []
    if velocity is not None:
        limits.append(constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)))
    if acceleration is not None:
        limits.append(constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1)))
    if robot is not None:
        bounds = np.stack([-robot.effort_limit, robot.effort_limit], axis=1)
        limits.append(
            constraint.JointTorqueConstraint(
                lambda q, v, a: aj.inverse_dynamics(robot, q, v, a),
                bounds,
                np.zeros(robot.nv),
                discretization_scheme=constraint.DiscretizationType.Interpolation,
            )
        )
    points = np.linspace(0, 1, grid + 1)
    solver: Any = algorithm.TOPPRA(limits, path, gridpoints=points, parametrizer="ParametrizeConstAccel")
    return solver.compute_trajectory(0, 0).duration


def grid_errors(durations: list[float]) -> np.ndarray:
    """The errors of durations on grids of 100 and 400 intervals, if they are proportional to the intervals' length."""
    coarse, finer = durations
    return np.array([4, 1]) / 3 * (coarse - finer)


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("speeds", [True, False])
def test_durations_are_those_of_toppra_within_the_grids_error(speeds):
    limits = {"acceleration": ACCELERATION} | ({"velocity": VELOCITY} if speeds else {})
    for W in PATHS[:3]:
        ours = [time_optimal(W, grid=grid, **limits).duration for grid in (100, 400)]
        theirs = [toppra_duration(W, grid, **limits) for grid in (100, 400)]
        allowed = grid_errors(ours) + grid_errors(theirs)
        assert np.all(np.abs(np.subtract(ours, theirs)) < allowed)
        assert np.all(allowed < 0.05 * theirs[1])
        limit = [np.subtract(x, grid_errors(x))[1] for x in (ours, theirs)]
        assert_allclose(*limit, rtol=2e-3)


@on_linux
@pytest.mark.slow
def test_durations_with_torque_limits_are_those_of_toppra():
    """Of a Panda, and of the textbook's arm with two links."""
    two = aj.robots.two_link().replace(effort_limit=np.array([80.0, 25.0]))
    cases = [(panda(0.8, 4.0, damping=np.zeros(7)), W) for W in panda_paths(2)]
    cases.append((two, np.array([[0.0, 0.0], [0.5, 1.0], [1.5, 0.5], [2.0, -0.5]])))
    for robot, W in cases:
        speeds = {"velocity": robot.velocity_limit} if np.isfinite(robot.velocity_limit).all() else {}
        ours = [time_optimal(W, robot=robot, grid=grid).duration for grid in (100, 400)]
        theirs = [toppra_duration(W, grid, robot=robot, **speeds) for grid in (100, 400)]
        allowed = np.abs(grid_errors(ours)) + np.abs(grid_errors(theirs)) + 1e-4 * ours[0]  # torques at 0.9999
        assert np.all(np.abs(np.subtract(ours, theirs)) < allowed)
        assert np.all(allowed < 0.05 * theirs[1])


# --- the phase plane --------------------------------------------------------------------------------------------------


def test_the_phase_plane_of_a_trapezoid():
    plane = phase_plane([[0.0], [1.0]], velocity=2.0, acceleration=8.0, grid=8)
    assert_allclose(plane.switches, [0.25, 0.75])
    assert_allclose(plane.speed, np.sqrt(np.minimum(4.0, 16 * np.minimum(plane.s, 1 - plane.s))), atol=1e-12)
    assert_allclose(plane.maximum_speed, 2.0)
    assert_allclose(plane.controllable, np.sqrt(np.minimum(4.0, 16 * (1 - plane.s))), atol=1e-12)
    assert [str(name).split()[0] for name in plane.active[[0, 3, 7]]] == ["acceleration", "velocity", "acceleration"]


def test_the_phase_plane_of_a_batch():
    plane = phase_plane(PATHS, velocity=VELOCITY, acceleration=ACCELERATION)
    assert np.all(plane.speed <= plane.controllable * (1 + 1e-9))
    assert np.all(plane.controllable <= plane.maximum_speed * (1 + 1e-9))
    duration = np.sum(2 * np.diff(plane.s) / (plane.speed[:, 1:] + plane.speed[:, :-1]), axis=-1)
    assert_allclose(duration, time_optimal(PATHS, velocity=VELOCITY, acceleration=ACCELERATION).duration, rtol=1e-12)
    assert plane.switches.shape[0] == len(PATHS) and not np.isnan(plane.switches[:, 0]).any()
    robot = panda(0.7, 4.0)
    assert any("torque of joint 'panda_joint" in name for name in phase_plane(panda_paths(1)[0], robot=robot).active)


# --- bounded jerk -----------------------------------------------------------------------------------------------------


def test_bounded_jerk_closed_forms():
    """A quarter of the time with +j, half with -j, a quarter with +j; and the S-curve d / v + v / a + a / j."""
    for grid, error in ((100, 4e-3), (300, 2e-3)):
        found = time_optimal([[0.0], [1.0]], acceleration=1.0, jerk=1.0, grid=grid)
        assert 0 < found.duration / 32 ** (1 / 3) - 1 < error
        found = time_optimal([[0.0], [1.0]], velocity=0.5, acceleration=1.0, jerk=10.0, grid=grid)
        assert 0 < found.duration / 2.6 - 1 < error


@pytest.mark.slow
def test_bounded_jerk_keeps_all_limits_and_costs_little():
    limits = {"velocity": VELOCITY, "acceleration": ACCELERATION}
    found = time_optimal(PATHS[:3], jerk=30.0, **limits)
    v, a, jerk, q = fine(found, 100)
    assert np.all(np.abs(v) <= VELOCITY * (1 + 1e-9))
    assert np.all(np.abs(a) <= ACCELERATION * (1 + 1e-9))
    assert np.all(np.abs(jerk) <= 30 * (1 + 1e-6))
    for ends, at in ((v, [0, 0]), (v, [-1, -1]), (a, [0, 0]), (a, [-1, -1])):
        assert_allclose(ends[(slice(None), *at)], 0.0, atol=1e-9)
    assert np.max(np.abs(a[:, 1:, 0] - a[:, :-1, -1])) < 1e-6  # accelerations are continuous
    assert_allclose(q[:, [0, -1], [0, -1]], PATHS[:3, [0, -1]], atol=1e-9)
    shortest = time_optimal(PATHS[:3], grid=1600, **limits).duration
    assert np.all((found.duration > shortest) & (found.duration < 1.05 * shortest))


@pytest.mark.slow
def test_bounded_jerk_with_torques():
    robot = panda(0.8, 4.0)
    W = panda_paths(2)[0]
    found = time_optimal(W, robot=robot, jerk=500.0)
    v, a, jerk, q = fine(found, 30)
    assert np.all(np.abs(aj.inverse_dynamics(robot, q, v, a)) <= robot.effort_limit)
    assert np.all(np.abs(jerk) <= 500 * (1 + 1e-6))
    assert found.duration < 1.2 * time_optimal(W, robot=robot).duration


# --- turning points ---------------------------------------------------------------------------------------------------


class Order(NamedTuple):
    order: int


@kernel(of=static, c="order")
def turned(of, c, h):
    return np.stack(turning_points([c[k] for k in range(of.order)], h))


@pytest.mark.parametrize("order", [3, 4, 5])
def test_turning_points_are_the_roots_of_the_derivative(order):
    for c in np.random.default_rng(2).normal(size=(50, order)):
        found = turned(Order(order), c, 1.0)
        assert np.all((found >= 0) & (found <= 1)) and np.all(np.diff(found) >= 0)
        roots = np.polynomial.Polynomial(c).deriv().roots()
        for root in roots[np.abs(roots.imag) < 1e-12].real:
            assert root < 0 or root > 1 or np.min(np.abs(found - root)) < 1e-9


@pytest.mark.parametrize("c", [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, -1.0, 1.0, 0], [0, 0, -1.5, 1.0]])
def test_turning_points_of_degenerate_polynomials(c):
    found = turned(Order(4), c, 1.0)
    for root in {(0, -1.0, 1.0, 0): [0.5], (0, 0, -1.5, 1.0): [0.0, 1.0], (0, 0, 1.0, 0): [0.0]}.get(tuple(c), []):
        assert root in found


# --- refusals ---------------------------------------------------------------------------------------------------------

LINE = [[0.0, 0.0], [1.0, 1.0]]
BAD = {
    "a path needs 2 waypoints or more": {"path": [[0.0, 1.0]]},
    "needs waypoints (..., N, n) or a Trajectory": {"path": [0.0, 1.0]},
    "waypoints[1, 0] is nan": {"path": [[0.0, 0.0], [np.nan, 1.0]]},
    "waypoints[2] repeats the one before": {"path": [[0.0, 0], [1, 1], [1, 1], [2, 0]]},
    "the path has no length": {"path": np.ones((4, 2))},
    "waypoints[1, 1] repeats the one before": {"path": [[[0.0], [1]], [[1.0], [1]]]},
    "the limit velocity is 0; a positive number is needed": {"velocity": 0.0},
    "the limit acceleration[1] is -1; a positive number is needed": {"acceleration": [1.0, -1.0]},
    "argument 'acceleration' has shape (3,)": {"acceleration": np.ones(3)},
    "needs limits of accelerations or torques": {"acceleration": None},
    "limits of torques need a robot": {"torque": 5.0},
    "the limit jerk is nan": {"jerk": np.nan},
    "start_speed and goal_speed must be 0": {"jerk": 1.0, "start_speed": 0.1},
    "parameters must be 2 increasing numbers": {"parameters": [1.0, 1.0]},
    "grid must be a number of intervals": {"grid": 0},
    "grid must be a whole number": {"grid": 1.5},
    "start_speed must be 0 or a positive number": {"start_speed": -1.0},
    "goal_speed must be 0 or a positive number": {"goal_speed": np.inf},
    "start_speed has shape (3,), and the batch of paths ()": {"start_speed": np.zeros(3)},
    "the path has 2 joints, robot 'puma560' 6": {"robot": aj.robots.puma560()},
    "needs a Robot": {"robot": "puma"},
    "the path has a corner at s = 1, in joint 0": {
        "path": cubic([0.0], [1.0], 1.0, goal_velocity=1.0).followed_by(cubic([1.0], [3.0], 1.0))
    },
    "the path jumps at s = 1": {"path": Trajectory([0.0, 1.0, 2.0], [[[0.0, 1.0]], [[2.0, 1.0]]])},
    "parameters are for waypoints": {"path": cubic([0.0], [1.0], 1.0), "parameters": [0, 1]},
    "the path stands still at s = 1": {
        "path": cubic([0.0], [1.0], 1.0, start_velocity=1.0).followed_by(
            cubic([1.0], [1.0], 1.0), cubic([1.0], [2.0], 1.0, goal_velocity=1.0)
        )
    },
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arguments_are_named(message):
    arguments = {"path": LINE, "acceleration": 1.0} | BAD[message]
    with pytest.raises(aj.ArgumentError) as error:
        time_optimal(arguments.pop("path"), **arguments)
    assert message in str(error.value)


UNSOLVABLE = {
    "start_speed = 3 is too high for the velocity limit 2 of joint 1; at most 2 is possible at s = 0": {
        "velocity": [9.0, 2.0], "start_speed": 3.0,
    },
    "goal_speed = 3 is too high for the velocity limit 2 of joint 0; at most 2 is possible at s = 1": {
        "velocity": 2.0, "goal_speed": 3.0,
    },
    "start_speed = 3 is too high: at most 1.41421 is possible at s = 0": {"start_speed": 3.0},
    "start_speed = 0 is too low: at least 2.64575 is needed at s = 0 to arrive with goal_speed = 3": {
        "goal_speed": 3.0,
    },
    "no limit holds for the joints that move": {"path": [[0.0, 0.0], [1.0, 0.0]], "acceleration": [np.inf, 1.0]},
}  # fmt: skip


@pytest.mark.parametrize("message", UNSOLVABLE)
def test_what_cannot_be_done_is_named(message):
    arguments = {"path": LINE, "acceleration": 1.0} | UNSOLVABLE[message]
    with pytest.raises(aj.SolveError) as error:
        time_optimal(arguments.pop("path"), **arguments)
    assert message in str(error.value)


def test_an_arm_too_weak_to_hold_itself_is_named():
    robot = pendulum()
    weight = aj.gravity_torque(robot, [0.0])[0]
    with pytest.raises(aj.SolveError, match=r"gravity alone takes .* at s = 0.* of path \[1\]; its torque limit is"):
        time_optimal([[[-1.5], [-1.4]], [[0.0], [1.0]]], robot=robot, torque=0.5 * weight)
    with pytest.raises(aj.SolveError, match=r"torques must be able to hold the robot .* at s = "):
        time_optimal([[-1.4], [1.4]], robot=robot, torque=0.9 * weight, velocity=False, jerk=1e3)


def test_paths_of_joints_with_several_degrees_of_freedom_are_refused():
    robot = aj.robots.random_tree(0, 3, types=("spherical",))
    with pytest.raises(aj.ArgumentError, match="spherical"):
        time_optimal(np.outer([0.0, 1.0], np.ones(robot.nv)), robot=robot, acceleration=1.0)


def test_chord_lengths_as_parameters():
    """Points at uneven distances on a straight line: by their chords, the spline is that line at a constant rate."""
    points = np.array([0.0, 0.01, 0.3, 1.0])[:, None] * [1.0, -0.5]
    by_chord = time_optimal(points, velocity=1.0, acceleration=2.0, parameters="chord", grid=400)
    straight = time_optimal(points[[0, -1]], velocity=1.0, acceleration=2.0, grid=400)
    assert abs(by_chord.duration / straight.duration - 1) < 1e-2
    lengths = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    same = time_optimal(points, velocity=1.0, acceleration=2.0, parameters=lengths, grid=400)
    assert np.array_equal(same.knots, by_chord.knots)
    with pytest.raises(aj.ArgumentError, match="the path has no length"):
        time_optimal(np.zeros((3, 2)), acceleration=1.0, parameters="chord")


def test_a_motion_from_rest_is_no_path_but_its_points_are():
    move = quintic([0.0, 0.0], [1.0, -0.5], 2.0)
    with pytest.raises(aj.ArgumentError, match=r"the path starts at rest, .* parameters='chord'"):
        time_optimal(move, velocity=1.0, acceleration=2.0)
    with pytest.raises(aj.ArgumentError, match="the path ends at rest"):
        time_optimal(cubic([0.0], [1.0], 1.0, start_velocity=1.0), acceleration=2.0)
    points = move(np.linspace(0, move.duration, 20)).q
    fast = time_optimal(points, velocity=1.0, acceleration=2.0, parameters="chord")
    assert abs(fast.duration - 1.5) < 0.03  # a trapezoid of joint 0: 1 / 1 + 1 / 2 s
