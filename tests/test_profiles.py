"""Trapezoidal and S-curve motions: limits hold, nothing faster exists, and every degenerate case is one of the rule."""

import numpy as np
import pytest
import ruckig
from scipy.optimize import linprog
from support.pieces import EPS, jumps, peaks, sampled_peaks

import adjoint as aj
from adjoint.errors import ArgumentError, SolveError
from adjoint.model.configuration import difference
from adjoint.trajectory import Trajectory, s_curve, trapezoidal

MAKERS = {
    "trapezoidal": lambda start, goal, V, A, J, **more: trapezoidal(start, goal, velocity=V, acceleration=A, **more),
    "s_curve": lambda start, goal, V, A, J, **more: s_curve(start, goal, velocity=V, acceleration=A, jerk=J, **more),
}
SMOOTH = {"trapezoidal": 2, "s_curve": 3}  # the order of the derivative that has a limit, and jumps
# Rounding: the largest rate is a product of some ten rounded numbers, and each joint divides by the common direction.
ROUNDED = 40 * EPS


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(16)


def log_uniform(rng: np.random.Generator, low: float, high: float, shape) -> np.ndarray:
    return np.exp(rng.uniform(np.log(low), np.log(high), shape))


def many(rng: np.random.Generator, count: int, n: int = 4) -> tuple:
    """Starts, goals and limits of all sizes, so that each of the degenerate cases is among them."""
    start, step = rng.normal(size=(count, n)), rng.normal(size=(count, n)) * log_uniform(rng, 1e-3, 1e2, (count, 1))
    return start, start + step, *(log_uniform(rng, 0.1, 10, (count, n)) for _ in range(3))


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_limits_hold_and_one_of_them_is_reached(name, rng):
    start, goal, *limits = many(rng, 1000)
    trajectory, some = (MAKERS[name](start[:k], goal[:k], *(x[:k] for x in limits)) for k in (1000, 50))
    for order, limit in enumerate(limits[: SMOOTH[name]], 1):
        # A knot is rounded too: at its end, a piece has a rate that belongs to a time later by T ε.
        slack = ROUNDED * limit + EPS * trajectory.knots[:, -1:] * peaks(trajectory, order + 1)
        assert (peaks(trajectory, order) <= limit + slack).all()
        assert (sampled_peaks(some, order) <= (limit + slack)[:50]).all()
    # Of the highest derivative with a limit, some joint is at it.
    np.testing.assert_allclose((peaks(trajectory, SMOOTH[name]) / limit).max(axis=-1), 1.0, rtol=ROUNDED)


@pytest.mark.parametrize("name", MAKERS)
def test_all_joints_move_on_one_line_from_rest_to_rest(name, rng):
    start, goal, *limits = many(rng, 500)
    trajectory = MAKERS[name](start, goal, *limits)
    size = np.abs(start) + np.abs(goal)
    for order in range(SMOOTH[name]):
        assert jumps(trajectory, order) < 10
    first, last = trajectory(0.0), trajectory(np.asarray(trajectory.duration)[:, None])
    np.testing.assert_array_equal(first.q, start)
    assert (np.abs(last.q[:, 0] - goal) < 4 * EPS * size).all()
    np.testing.assert_array_equal(first.v, 0.0)
    late = EPS * trajectory.knots[:, -1:]  # the rounding of knots
    assert (np.abs(last.v[:, 0]) <= 8 * EPS * peaks(trajectory, 1) + late * peaks(trajectory, 2)).all()
    if name == "s_curve":
        np.testing.assert_array_equal(first.a, 0.0)
        assert (np.abs(last.a[:, 0]) <= 8 * EPS * peaks(trajectory, 2) + late * peaks(trajectory, 3)).all()
    t = rng.uniform(size=20) * np.asarray(trajectory.duration)[:, None]
    v, step = trajectory(t).v, goal - start
    size = peaks(trajectory, 1).max(axis=-1) * np.abs(step).max(axis=-1)
    assert (np.abs(v * step[:, None, :1] - v[..., :1] * step[:, None]) <= 8 * EPS * size[:, None, None]).all()


@pytest.mark.parametrize("name", MAKERS)
def test_a_batch_is_a_loop(name, rng):
    start, goal, *limits = many(rng, 20)
    trajectory = MAKERS[name](start, goal, *limits)
    for k in range(20):
        one = MAKERS[name](start[k], goal[k], *(x[k] for x in limits))
        np.testing.assert_array_equal(trajectory.knots[k], one.knots)
        np.testing.assert_array_equal(trajectory.coefficients[k], one.coefficients)
    assert MAKERS[name](start[:, None], goal, *limits).batch == (20, 20)
    assert MAKERS[name](np.zeros((0, 3)), np.ones(3), 1.0, 1.0, 1.0).batch == (0,)


@pytest.mark.parametrize("name", MAKERS)
def test_the_way_back_is_the_same_backward(name, rng):
    start, goal, *limits = many(rng, 200)
    there, back = MAKERS[name](start, goal, *limits), MAKERS[name](goal, start, *limits)
    np.testing.assert_array_equal(there.knots, back.knots)
    t = np.linspace(0, 1, 50) * np.asarray(there.duration)[:, None]
    size = (np.abs(start) + np.abs(goal))[:, None]
    assert (np.abs(there.reversed()(t).q - back(t).q) < 30 * EPS * size).all()


@pytest.mark.parametrize("name", MAKERS)
def test_scaling_laws(name, rng):
    start, goal, V, A, J = many(rng, 200)
    T = MAKERS[name](start, goal, V, A, J).duration
    k = log_uniform(rng, 0.1, 10, (200, 1))
    faster = MAKERS[name](start, goal, k * V, k**2 * A, k**3 * J).duration
    larger = MAKERS[name](k * start, k * goal, k * V, k * A, k * J).duration
    np.testing.assert_allclose(faster, T / k[:, 0], rtol=20 * EPS)
    # start and goal are rounded after they are scaled, and their difference loses digits
    lost = EPS * (np.abs(start) + np.abs(goal)).max(axis=1) / np.abs(goal - start).max(axis=1)
    assert (np.abs(larger / T - 1) < 20 * EPS + 4 * lost).all()


# --- nothing is faster ------------------------------------------------------------------------------------------------


def farthest(T: float, V: float, A: float, J: float | None, cells: int = 150) -> float:
    """How far a motion from rest to rest gets in time T under its limits: a linear program over its rates in cells.

    The highest rate is constant in each cell and the limits of the others hold at the ends of cells.
    """
    h = T / cells
    sums = np.tril(np.ones((cells, cells)))
    if J is None:
        v = h * sums  # velocities at the ends of cells, from accelerations
        middle = v - 0.5 * h * np.eye(cells)
        found = linprog(-h * middle.sum(0), v, np.full(cells, V), v[-1:], [0.0], (-A, A))
    else:
        a = h * sums
        v = h * sums @ (a - 0.5 * h * np.eye(cells))
        x = h * (v - 0.5 * h * a + h**2 / 6 * np.eye(cells)).sum(0)
        rows = np.concatenate([v, a, -a])
        most = np.concatenate([np.full(cells, V), np.full(2 * cells, A)])
        found = linprog(-x, rows, most, np.stack([v[-1], a[-1]]), [0.0, 0.0], (-J, J))
    return -found.fun


CASES = {  # distance and limits, at which all phases are there, or some are missing
    "all": (6.0, 2.0, 2.0, 4.0),
    "no cruise": (2.0, 10.0, 2.0, 4.0),
    "no constant acceleration": (6.0, 0.5, 2.0, 4.0),
    "jerk only": (0.1, 2.0, 2.0, 4.0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", MAKERS)
def test_a_shorter_time_is_not_enough(name, case):
    L, V, A, J = CASES[case]
    trajectory = MAKERS[name]([0.0], [L], V, A, J)
    jerk = J if name == "s_curve" else None
    # In cells, distances are too short by less than 1 %, as switches lie within cells: h² A = (T / 150)² A.
    assert farthest(trajectory.duration, V, A, jerk) == pytest.approx(L, rel=0.01)
    assert farthest(0.98 * trajectory.duration, V, A, jerk) < 0.99 * L


def test_phases_that_are_missing():
    pieces = {case: np.diff(MAKERS["s_curve"]([0.0], [L], *limits).knots) for case, (L, *limits) in CASES.items()}
    assert (pieces["all"] > 0.1).all()
    lasting = {"no cruise": [0, 1, 2, 4, 5, 6], "no constant acceleration": [0, 2, 3, 4, 6], "jerk only": [0, 2, 4, 6]}
    for case, some in lasting.items():
        np.testing.assert_array_equal(np.flatnonzero(pieces[case] > 1e-9), some)


def ruckig_duration(L: float, V: float, A: float, J: float) -> float:
    otg, given, found = ruckig.Ruckig(1), ruckig.InputParameter(1), ruckig.Trajectory(1)
    given.target_position, given.max_velocity, given.max_acceleration, given.max_jerk = [L], [V], [A], [J]
    otg.calculate(given, found)
    return found.duration


def test_an_s_curve_of_one_joint_lasts_as_long_as_ruckigs(rng):
    L, V, A, J = log_uniform(rng, 1e-2, 1e2, 500), *log_uniform(rng, 0.1, 10, (3, 500))
    ours = s_curve(np.zeros((500, 1)), L[:, None], velocity=V[:, None], acceleration=A[:, None], jerk=J[:, None])
    theirs = [ruckig_duration(*case) for case in zip(L, V, A, J, strict=True)]
    # Ruckig's own tolerance of the goal is 1e-8 of position.
    np.testing.assert_allclose(ours.duration, theirs, rtol=1e-9)
    for case in range(3):  # all kinds of profiles are among them
        assert (np.diff(ours.knots)[:, [1, 3, 0][case]] > 1e-9).any()


def test_a_high_jerk_limit_makes_a_trapezoid(rng):
    start, goal, V, A, _ = many(rng, 50)
    soft = s_curve(start, goal, velocity=V, acceleration=A, jerk=1e9)
    hard = trapezoidal(start, goal, velocity=V, acceleration=A)
    # A ramp with jerk lasts longer by A / J.
    slower = np.asarray(soft.duration) - hard.duration
    assert (slower > -1e-12).all() and (slower < 2e-7).all()


def test_closed_forms():
    assert trapezoidal([0.0], [3.0], velocity=1.0, acceleration=2.0).duration == 3.5
    assert trapezoidal([0.0], [0.5], velocity=10.0, acceleration=2.0).duration == pytest.approx(2 * np.sqrt(0.25))
    assert s_curve([0.0], [2.0], velocity=np.inf, acceleration=np.inf, jerk=1.0).duration == pytest.approx(4.0)
    # The second joint has half of the way, and a fourth of the limit: it decides.
    both = trapezoidal([0.0, 0.0], [4.0, 2.0], velocity=[1.0, 0.25], acceleration=1.0)
    np.testing.assert_allclose(peaks(both, 1), [0.5, 0.25])
    # Joint 0 decides the velocity and joint 1 the acceleration: the line is slower than each of them alone.
    limits = {"velocity": [1.0, 9.0], "acceleration": [9.0, 1.0]}
    both = trapezoidal([0.0, 0.0], [4.0, 4.0], **limits)
    alone = [
        trapezoidal([0.0], [4.0], velocity=limits["velocity"][i], acceleration=limits["acceleration"][i]).duration
        for i in range(2)
    ]
    assert both.duration == 5.0 and max(alone) < 4.5


# --- special requests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_joints_that_do_not_move(name):
    some = MAKERS[name]([1.0, 2.0], [1.0, 3.0], 1.0, 1.0, 1.0)
    alone = MAKERS[name]([2.0], [3.0], 1.0, 1.0, 1.0)
    assert some.duration == alone.duration
    np.testing.assert_array_equal(some(0.3 * some.duration).q, [1.0, *alone(0.3 * some.duration).q])
    none = MAKERS[name]([1.0, 2.0], [1.0, 2.0], 1.0, 1.0, 1.0)
    assert none.duration == 0 and np.isfinite(none.coefficients).all()
    np.testing.assert_array_equal(none(0.0).q, [1.0, 2.0])
    np.testing.assert_array_equal(none(5.0, hold=True).q, [1.0, 2.0])
    waits = MAKERS[name]([1.0, 2.0], [1.0, 2.0], 1.0, 1.0, 1.0, duration=3.0)
    assert waits.duration == 3.0
    for value, expected in zip(waits([0.0, 1.0, 3.0]), ([1.0, 2.0], 0.0, 0.0, 0.0), strict=True):
        np.testing.assert_array_equal(value, np.broadcast_to(expected, (3, 2)))
    mixed = MAKERS[name](np.zeros((2, 1)), [[0.0], [1.0]], 1.0, 1.0, 1.0)
    T = mixed.knots[1, -1]
    assert mixed.knots[0, -1] == 0 and T > 0 and np.isfinite(mixed.coefficients).all()
    np.testing.assert_array_equal(mixed([[0.0], [T]]).q.ravel(), [0.0, 1.0])


@pytest.mark.parametrize("name", MAKERS)
def test_tiny_and_huge_motions_are_finite(name):
    for L in (5e-324, 1e-310, 1e-200, 1e50):
        for duration in (None, 1e30):
            found = MAKERS[name]([0.0, 0.0], [L, 0.3 * L], np.inf, 1.0, 1.0, duration=duration)
            assert np.isfinite(found.coefficients).all() and np.isfinite(found.knots).all()
            assert (np.diff(found.knots) >= 0).all()
            assert found(found.duration).q[0] == pytest.approx(L, rel=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_a_longer_duration_is_the_same_motion_slower(name, rng):
    start, goal, *limits = many(rng, 200)
    shortest = MAKERS[name](start, goal, *limits)
    duration = np.asarray(shortest.duration) * log_uniform(rng, 1, 100, 200)
    slow = MAKERS[name](start, goal, *limits, duration=duration)
    np.testing.assert_array_equal(slow.duration, duration)
    same = shortest.lasting(duration)
    np.testing.assert_allclose(slow.knots, same.knots, rtol=20 * EPS, atol=0)
    size = np.abs(same.coefficients).max(axis=(-3, -2), keepdims=True)
    assert (np.abs(slow.coefficients - same.coefficients) < 20 * EPS * size).all()
    again = MAKERS[name](start, goal, *limits, duration=shortest.duration)
    np.testing.assert_array_equal(again.coefficients, shortest.coefficients)


@pytest.mark.parametrize("name", MAKERS)
def test_too_short_a_duration_is_refused_with_the_shortest(name):
    T = MAKERS[name]([0.0], [1.0], 1.0, 1.3, 1.7).duration
    with pytest.raises(SolveError, match=rf"^{name}: the duration is 1 s, but the limits need {T:.17g} s at least"):
        MAKERS[name]([0.0], [1.0], 1.0, 1.3, 1.7, duration=1.0)
    assert MAKERS[name]([0.0], [1.0], 1.0, 1.3, 1.7, duration=float(f"{T:.17g}")).duration == T
    with pytest.raises(SolveError, match=r"the duration of trajectory \[1\] is 1 s"):
        MAKERS[name](np.zeros((3, 1)), [1.0], 1.0, 1.3, 1.7, duration=[9.0, 1.0, 0.5])


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_joints_of_several_degrees_of_freedom_turn_about_one_axis(name, rng):
    robot = aj.robots.random_tree(3, 5, ("spherical", "revolute", "free", "prismatic"))
    start, goal = (aj.random_configuration(robot, rng=seed) for seed in (0, 1))
    limits = 1.0 + np.arange(robot.nv) / robot.nv
    trajectory = MAKERS[name](start, goal, limits, 2 * limits, 3 * limits, robot=robot)
    assert isinstance(trajectory, Trajectory) and trajectory.robot is robot
    first, last = trajectory(0.0), trajectory(trajectory.duration)
    np.testing.assert_allclose(difference(robot, first.q, start), 0, atol=1e-14)
    np.testing.assert_allclose(difference(robot, last.q, goal), 0, atol=1e-13)
    samples = trajectory(np.linspace(0, trajectory.duration, 200))
    assert (np.abs(samples.v) / limits).max() <= 1 + 1e-12 and (np.abs(samples.a) / limits).max() <= 2 + 1e-12
    whole = difference(robot, start, goal)
    np.testing.assert_allclose(samples.v, (samples.v @ whole / (whole @ whole))[:, None] * whole, atol=1e-12)


# --- bad input --------------------------------------------------------------------------------------------------------

GOOD = {"start": [0.0, 0.0], "goal": [1.0, 2.0], "velocity": 1.0, "acceleration": 2.0, "jerk": 3.0}
BAD = [
    ({"start": [np.nan, 0.0]}, "start contains NaN or infinity"),
    ({"goal": [np.inf, 0.0]}, "goal contains NaN or infinity"),
    ({"goal": [0.0]}, "start has 2 coordinates and goal 1"),
    ({"start": [], "goal": []}, "no joint at all"),
    ({"start": "here"}, "start"),
    ({"velocity": 0.0}, "the limit velocity is 0; a positive number is needed"),
    ({"velocity": [1.0, -2.0]}, r"the limit velocity\[1\] is -2; a positive number"),
    ({"velocity": np.nan}, "the limit velocity is nan"),
    ({"velocity": None}, "needs limits of velocities"),
    ({"velocity": [1.0, 2.0, 3.0]}, r"argument 'velocity' has shape \(3,\); \(..., 2\) is needed"),
    ({"acceleration": -1.0}, "the limit acceleration is -1"),
    ({"duration": 0.0}, "duration must be a positive time"),
    ({"duration": -1.0}, "duration must be a positive time"),
    ({"duration": np.nan}, "duration must be a positive time"),
    ({"start": np.zeros((3, 2)), "duration": [9.0, 9.0]}, "leading axes do not match"),
    ({"start": [-1e308, 0.0], "goal": [1e308, 0.0]}, "overflows"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
@pytest.mark.parametrize("maker", [trapezoidal, s_curve])
def test_bad_input_is_refused(maker, change, message):
    given = GOOD | change
    if maker is trapezoidal:
        del given["jerk"]
    with pytest.raises(ArgumentError, match=message) as error:
        maker(**given)
    assert str(error.value).startswith(maker.__name__)


def test_limits_that_must_be_finite():
    with pytest.raises(ArgumentError, match="the limit acceleration is inf; a positive finite number is needed"):
        trapezoidal([0.0], [1.0], velocity=1.0, acceleration=np.inf)
    with pytest.raises(ArgumentError, match="the limit jerk is inf; a positive finite number is needed"):
        s_curve([0.0], [1.0], velocity=1.0, acceleration=1.0, jerk=np.inf)


def test_a_robots_own_velocity_limits_are_the_default():
    robot = aj.robots.puma560().replace(velocity_limit=np.arange(1.0, 7.0))
    start, goal = np.zeros(6), np.full(6, 3.0)
    for make in (
        lambda **more: trapezoidal(start, goal, acceleration=20.0, **more),
        lambda **more: s_curve(start, goal, acceleration=20.0, jerk=200.0, **more),
    ):
        own, given = make(robot=robot), make(velocity=robot.velocity_limit)
        assert own.robot is robot and np.array_equal(own.knots, given.knots)
        with pytest.raises(ArgumentError, match="needs limits of velocities"):
            make()
