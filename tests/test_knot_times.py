"""Least times between knots: Nelder & Mead as oracle, limits on fine grids, laws of scaling, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import adjoint as aj
from adjoint.errors import ArgumentError, SolveError
from adjoint.trajectory import free_end_spline, minimum_time_spline, spline
from adjoint.trajectory.knot_times import _kinematic, _layout, _Limits, _spline, _torques
from adjoint.trajectory.torque import true_torque

KNOTS = np.array([[30.0], [50.0], [80.0], [100.0]])
LIMITS = {"velocity": 100.0, "acceleration": 45.0, "jerk": 60.0}
EXACT = 1 + 1e-9  # rounding errors of samples


def stretched(u: np.ndarray, knots=KNOTS, limits=LIMITS) -> float:
    """The duration of the spline with times u, uniformly stretched until it keeps all limits: the digest's λ."""
    if (u <= 0).any():
        return np.inf
    one = free_end_spline(knots, u)
    h = np.diff(one.knots)[:, None]
    w = one(one.knots).a
    c = one.coefficients
    m = c[:, :, 1] + w[:-1] * h / 2  # m of the checks (4.4-67) to (4.4-69), with the right sign of ω_i
    peak = np.abs(m - w[:-1] * h / 2).max()
    peak = max(peak, np.abs(m + w[1:] * h / 2).max())
    turns = w[:-1] * w[1:] < 0
    inner = m + w[:-1] * w[1:] * h / (2 * np.where(turns, w[:-1] - w[1:], 1.0))
    peak = max(peak, np.abs(np.where(turns, inner, 0.0)).max())
    jerk = np.abs(6 * c[:, :, 3]).max()
    factor = (
        peak / limits["velocity"],
        (np.abs(w).max() / limits["acceleration"]) ** 0.5,
        (jerk / limits["jerk"]) ** (1 / 3),
    )
    return float(u.sum() * max(factor))


def keeps(trajectory, limits, grid: int = 20001) -> None:
    x = trajectory(np.linspace(0, trajectory.duration, grid))
    for name, rate in (("velocity", x.v), ("acceleration", x.a), ("jerk", x.jerk)):
        if limits.get(name) is not None:
            assert (np.abs(rate) <= np.asarray(limits[name]) * EXACT).all(), name


# --- the example of the textbook --------------------------------------------------------------------------------------


def test_better_than_uniform_times_and_no_worse_than_nelder_and_mead():
    """T = 4.3679 s with equal times, and 3.4075 s by the flexible polyhedron of the paper."""
    assert_allclose(stretched(np.ones(5)), 4.3679, atol=1e-4)
    polyhedron = minimize(stretched, np.ones(5), method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-7})
    found = minimum_time_spline(KNOTS, **LIMITS)
    assert_allclose(polyhedron.fun, 3.4075, atol=0.01)  # kinks stop it early; from other starts it comes nearer
    assert found.duration <= polyhedron.fun * (1 + 1e-9)
    assert found.duration <= 3.40753
    assert_allclose(np.diff(found.knots), [0.75, 0.5712, 0.7651, 0.5712, 0.75], atol=1e-4)
    keeps(found, LIMITS)
    x = found(np.linspace(0, found.duration, 20001))
    assert_allclose([np.abs(x.a).max(), np.abs(x.jerk).max()], [45, 60], rtol=1e-3)  # both limits are used


def test_the_result_is_a_spline_with_free_ends():
    found = minimum_time_spline(KNOTS, **LIMITS)
    same = free_end_spline(KNOTS, np.diff(found.knots))
    assert_allclose(found.coefficients, same.coefficients, atol=1e-9)
    x = found([0.0, found.duration])
    assert_allclose(x.v, 0, atol=1e-9)
    assert_allclose(x.a, 0, atol=1e-9)
    assert_allclose(found(found.knots[[0, 2, 3, 5]]).q, KNOTS, atol=1e-12)


def test_two_knots_have_a_known_best():
    """Rest to rest with three cubics: jerk +J until the acceleration A, down to -A, and back; symmetric."""
    found = minimum_time_spline([[0.0], [1.0]], acceleration=1.0, jerk=4.0)
    u, T = 1 / 4, np.diff(found.knots)
    assert_allclose(T[[0, 2]], u, rtol=1e-6)
    h = T[1] / 2  # the way: symmetric halves, each u of rising and h of falling acceleration
    half = u**3 * 4 / 6 + (u / 2) * h + h**2 / 2 - h**2 / 6
    assert_allclose(2 * half, 1.0, rtol=1e-6)


# --- many joints ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_ten_waypoints_of_seven_joints(seed):
    rng = np.random.default_rng(seed)
    knots = rng.uniform(-2, 2, size=(10, 7))
    limits = {"velocity": rng.uniform(1, 3, 7), "acceleration": rng.uniform(5, 10, 7), "jerk": rng.uniform(30, 80, 7)}
    found = minimum_time_spline(knots, **limits)
    keeps(found, limits)
    assert_allclose(found(found.knots[[0, *range(2, 10), 11]]).q, knots, atol=1e-9)
    assert_allclose(found([0.0, found.duration]).a, 0, atol=1e-9)
    # Nothing is gained by changing one time, or by random changes, after a stretch that keeps the limits.
    u = np.diff(found.knots)
    limited = _Limits(np.stack([limits["velocity"], *limits.values()]), None, np.full(7, np.inf))
    layout = _layout(knots, True)
    for change in (*(0.02 * np.eye(11)), *(-0.02 * np.eye(11)), *(0.01 * rng.normal(size=(100, 11)))):
        ratios, _, powers = _kinematic(_spline(layout, u * (1 + change)), limited.rates)
        longer = (np.abs(ratios) ** (1 / powers)).max() * (u * (1 + change)).sum()
        assert longer >= found.duration * (1 - 1e-7)


@pytest.mark.parametrize("free_ends", [True, False])
@pytest.mark.parametrize("names", [("velocity",), ("acceleration",), ("jerk",), ("velocity", "acceleration")])
def test_some_limits_alone(free_ends, names):
    knots = np.random.default_rng(7).normal(size=(5, 2))
    limits = {name: np.array([1.0, 2.0]) for name in names}
    found = minimum_time_spline(knots, free_ends=free_ends, **limits)
    keeps(found, limits)
    x = found(np.linspace(0, found.duration, 20001))
    rates = {"velocity": x.v, "acceleration": x.a, "jerk": x.jerk}
    assert max((np.abs(rates[name]) / [1.0, 2.0]).max() for name in names) > 0.999
    if not free_ends:
        assert_allclose(found.coefficients, spline(knots, durations=np.diff(found.knots)).coefficients, atol=1e-8)


def test_laws_of_scaling():
    """Ten times the way under ten times the limits takes as long; half V, A / 4 and J / 8 take twice as long."""
    knots = np.random.default_rng(3).normal(size=(6, 3))
    one = minimum_time_spline(knots, velocity=1.0, acceleration=2.0, jerk=10.0)
    large = minimum_time_spline(10 * knots + 3, velocity=10.0, acceleration=20.0, jerk=100.0)
    slow = minimum_time_spline(knots, velocity=1 / 2, acceleration=2 / 4, jerk=10 / 8)
    back = minimum_time_spline(knots[::-1], velocity=1.0, acceleration=2.0, jerk=10.0)
    assert_allclose([large.duration, slow.duration / 2, back.duration], one.duration, rtol=1e-7)


def test_tighter_limits_take_longer():
    knots = np.random.default_rng(4).normal(size=(6, 3))
    loose = minimum_time_spline(knots, velocity=2.0, acceleration=5.0).duration
    assert loose < minimum_time_spline(knots, velocity=2.0, acceleration=5.0, jerk=10.0).duration


def test_derivatives_are_those_of_differences():
    rng = np.random.default_rng(5)
    for free_ends in (True, False):
        layout = _layout(rng.normal(size=(5, 2)), free_ends)
        u = rng.uniform(0.5, 1.5, size=layout.segments)
        limits = rng.uniform(1, 2, size=(4, 2))
        _, J, _ = _kinematic(_spline(layout, u, np.eye(len(u))), limits)
        for i, step in enumerate(1e-6 * np.eye(len(u))):
            late, early = (_kinematic(_spline(layout, x), limits)[0] for x in (u + step, u - step))
            assert_allclose(J[:, i], (late - early) / 2e-6, atol=1e-6 * np.abs(J).max())


# --- torques ----------------------------------------------------------------------------------------------------------

TORQUES = np.array([60.0, 100.0, 50.0, 10.0, 10.0, 10.0])


def puma_knots(N: int = 5) -> np.ndarray:
    middle = np.array([0, -0.5, 2, 0, 1, 0])
    return middle + np.random.default_rng(0).uniform(-1, 1, (N, 6))


@pytest.mark.slow
@pytest.mark.parametrize("free_ends", [True, False])
@pytest.mark.parametrize("friction", [0.0, 2.0])
def test_torque_limits_hold_between_the_knots(free_ends, friction):
    """On a grid a hundred times finer than that of the optimiser, with dry friction and damping too."""
    robot = aj.robots.puma560().replace(friction=np.full(6, friction), damping=np.full(6, friction / 2))
    limits = {"acceleration": 20.0, "jerk": 500.0}
    found = minimum_time_spline(puma_knots(), robot=robot, torque=TORQUES, free_ends=free_ends, **limits)
    keeps(found, limits)
    x = found(np.linspace(0, found.duration, 3001))
    ratio = np.abs(true_torque(robot, x.q, x.v, x.a)) / TORQUES
    assert ratio.max() <= 1 + 1e-6
    assert ratio.max() > 0.99
    assert found.duration > minimum_time_spline(puma_knots(), robot=robot, free_ends=free_ends, **limits).duration


@pytest.mark.slow
def test_torques_alone_bound_the_time():
    robot = aj.robots.puma560()
    found = minimum_time_spline(puma_knots(3), robot=robot, torque=TORQUES)
    x = found(np.linspace(0, found.duration, 3001))
    assert 0.99 < (np.abs(true_torque(robot, x.q, x.v, x.a)) / TORQUES).max() <= 1 + 1e-6
    assert found.robot is robot


@pytest.mark.slow
def test_derivatives_of_torques_are_those_of_differences():
    robot = aj.robots.puma560()
    layout, limits = _layout(puma_knots(), True), _Limits(np.full((4, 6), np.inf), robot, TORQUES)
    u = np.linspace(0.5, 1.0, layout.segments)
    _, J = _torques(_spline(layout, u, np.eye(len(u))), limits)
    for i, step in enumerate(1e-6 * np.eye(len(u))):
        late, early = (_torques(_spline(layout, x), limits)[0] for x in (u + step, u - step))
        assert_allclose(J[:, i], (late - early) / 2e-6, atol=1e-6 * np.abs(J).max())


def test_a_load_that_no_motor_holds_is_named():
    with pytest.raises(SolveError, match=r"gravity and friction alone take .* of joint 'joint2'"):
        minimum_time_spline(puma_knots(), robot=aj.robots.puma560(), torque=[60.0, 1.0, 50.0, 10.0, 10.0, 10.0])


def test_limits_of_the_robot_are_taken():
    robot = aj.robots.puma560().replace(velocity_limit=np.full(6, 0.5))
    keeps(minimum_time_spline(puma_knots(), robot=robot), {"velocity": 0.5})


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knots", "options", "says"),
    [
        (KNOTS, {}, "no joint that moves has a limit"),
        (KNOTS, {"velocity": 0.0}, "the limit velocity is 0; a positive number is needed"),
        (KNOTS, {"velocity": -1.0}, "the limit velocity is -1"),
        (KNOTS, {"velocity": 1.0, "jerk": np.nan}, "the limit jerk is nan"),
        (KNOTS, {"acceleration": [1.0, 2.0]}, r"'acceleration' has shape \(2,\)"),
        (KNOTS, {"velocity": 1.0, "torque": 5.0}, "torque limits need a robot"),
        (KNOTS, {"velocity": 1.0, "robot": "puma"}, "needs a Robot"),
        (KNOTS, {"velocity": 1.0, "robot": aj.robots.puma560()}, "has 6 joints; knots of 1"),
        (KNOTS, {"velocity": 1.0, "free_ends": "yes"}, "free_ends must be True or False"),
        (KNOTS[[0, 1, 1, 2]], {"velocity": 1.0}, r"knots\[1\] and knots\[2\] are equal"),
        (KNOTS[:1], {"velocity": 1.0}, "at least 2"),
        (KNOTS * np.nan, {"velocity": 1.0}, r"knots\[0, 0\] is nan"),
        (KNOTS[None], {"velocity": 1.0}, "those of one trajectory"),
        (np.zeros((3, 7)), {"velocity": 1.0, "robot": aj.robots.random_tree(0, 1, ["free"])}, "one degree of freedom"),
    ],
)
def test_bad_input_is_named(knots, options, says):
    with pytest.raises(ArgumentError, match=says) as error:
        minimum_time_spline(knots, **options)
    assert "minimum_time_spline" in str(error.value)
