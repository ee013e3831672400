"""Laws that switch: Bellman's equation of the least time, Lyapunov's function of sliding modes, and the book's arm."""

import numpy as np
import pytest

import adjoint as aj
from adjoint import control
from adjoint.control import Target
from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import inertia
from adjoint.simulation import simulate

TWO = aj.robots.two_link()
GOAL = np.radians([60.0, 30.0])
START = np.zeros(2)


def slider(g: float) -> aj.Robot:
    """A ball of 1 kg that slides along x, with gravity g [m/s²] along x."""
    builder = aj.Robot.builder("slider").link("ground").link("ball", inertia.sphere.eager(1.0, 0.1))
    return builder.joint("rail", "prismatic", "ground", "ball", axis=(1, 0, 0)).build().replace(gravity=(g, 0, 0))


# --- least time -------------------------------------------------------------------------------------------------------


def test_book_minimum_time():
    assert abs(control.minimum_time(1.0, -2.0, 3.0) - 1.29099) < 5e-6  # D11
    x, low, high = np.random.default_rng(0).uniform(0.1, 3, (3, 50))
    np.testing.assert_allclose(control.minimum_time(-x, -high, low), control.minimum_time(x, -low, high), rtol=1e-14)
    np.testing.assert_allclose(control.minimum_time(x, -low, high), np.sqrt(2 * x * (1 / high + 1 / low)), rtol=1e-14)


def test_time_obeys_bellmans_equation():
    """Along the switching law the time left falls at the rate 1; with any other input it falls slower."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-2, 2, (2, 1000))
    low, high, h = -2.0, 3.0, 1e-3
    gap = x - control.switching_curve(y, low, high)
    away = np.abs(gap) > 0.02  # so far that a step of h does not cross the curve
    x, y, gap = x[away], y[away], gap[away]

    def fall(u):
        later = control.minimum_time(x + h * y + h * h * u / 2, low, high, y + h * u)
        return (control.minimum_time(x, low, high, y) - later) / h

    np.testing.assert_allclose(fall(np.where(gap > 0, low, high)), 1.0, rtol=1e-11)  # rounding / h
    assert (fall(rng.uniform(low, high, len(x))) < 1 + 1e-11).all()


def test_curve_is_where_braking_ends_at_rest():
    y = np.linspace(-2, 2, 41)
    x = control.switching_curve(y, -2.0, 3.0)
    u = np.where(y < 0, 3.0, -2.0)
    t = -y / u
    np.testing.assert_allclose(x + y * t + u * t**2 / 2, 0, atol=1e-15)
    np.testing.assert_allclose(control.minimum_time(x, -2.0, 3.0, y), t, atol=1e-15)


def test_slider_takes_the_least_time():
    """D11: forces ±2.5 N against a weight of 0.5 N are accelerations from -2 to 3. The layer costs a time of O(1/ω)."""
    robot, bandwidths = slider(0.5), np.array([50.0, 100.0, 200.0, 400.0])
    law = control.bang_bang(robot, [0.0], limit=2.5).replace(bandwidth=bandwidths)
    run = simulate(robot, law, q=np.ones((4, 1)), duration=2.0, dt=1e-4)
    x, band, brake = run.q[..., 0], 1e-5, 3.0
    ideal = control.minimum_time(1.0, -2.0, 3.0) - np.sqrt(2 * band / brake)  # when the fastest motion enters the band
    late = run.t[[np.flatnonzero(np.abs(row) > band)[-1] for row in x]] - ideal
    # The linear end starts at |x| = a/ω² and e-folds in √2/ω; the allowed speed is a/(√2 ω) below the curve before.
    folds = np.maximum(np.log(brake / bandwidths**2 / band), 0)
    assert (late > -2e-4).all()
    assert (late < np.sqrt(2) / bandwidths * (folds + 2)).all()
    assert late[-1] < 0.01 * ideal
    assert (np.abs(x[:, -1]) < 1e-12).all()
    assert (np.abs(run.tau) <= 2.5).all()
    full = np.abs(run.tau[..., 0]) > 0.9 * 2.5  # along the curve it brakes with a little less than the bound
    assert (full[:, run.t < 1.2].mean(axis=1) > 1 - 10 / bandwidths).all()


def test_arm_comes_to_rest_within_its_limits():
    limit = np.array([60.0, 25.0])
    law = control.bang_bang(TWO, GOAL, limit=limit)
    run = simulate(TWO, law, q=START, duration=2.0, dt=1e-4, record=10)
    assert np.abs(run.q[-1] - GOAL).max() < 1e-9
    assert (np.abs(run.tau) <= limit).all()
    # The last part of the motion is that of M (e'' + √2 ω e' + ω² e) = 0: it decays by exp(-35 t), ω = 50.
    late = np.abs(run.q - GOAL).max(axis=1)
    assert late[1000] < late[700] * np.exp(-0.3 * 25)


def test_batch_of_goals_and_limits_equals_single_runs():
    goals = np.radians([[60.0, 30], [20, -40], [-30, 10]])
    law = control.bang_bang(TWO, GOAL, limit=np.array([60.0, 25.0]))
    many = law.replace(reference=goals, limit=np.array([[60.0, 25], [50, 30], [90, 40]]))
    run = simulate(TWO, many, q=START, duration=0.5, dt=1e-3)
    for k in range(3):
        one = law.replace(reference=goals[k], limit=many.numbers["limit"][k])
        np.testing.assert_array_equal(run.q[k], simulate(TWO, one, q=START, duration=0.5, dt=1e-3).q)
    tau = many(TWO, None, 0.0, run.q[:, 100], run.v[:, 100]).tau
    np.testing.assert_allclose(tau, run.tau[:, 100], rtol=1e-12)
    assert "bang_bang(" in law.source("c")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"limit": 5.0}, SolveError, "does not hold gravity at the goal"),
        ({"limit": -5.0}, ArgumentError, "bang_bang: limit must be finite and positive, got -5"),
        ({"limit": [60.0, np.nan]}, ArgumentError, "limit must be finite and positive, got nan at place 1"),
        ({"limit": [1.0, 2.0, 3.0]}, ArgumentError, r"bang_bang: limit has shape \(3,\)"),
        ({"limit": 60.0, "bandwidth": 0.0}, ArgumentError, "bandwidth must be finite and positive"),
        ({}, ArgumentError, "limit must be finite and positive, got inf"),
    ],
)
def test_bad_bounds(options, error, words):
    with pytest.raises(error, match=words):
        control.bang_bang(TWO, GOAL, **options)


def test_bad_goal():
    with pytest.raises(ArgumentError, match="bang_bang: argument 'goal' has shape"):
        control.bang_bang(TWO, np.zeros(3), limit=60.0)
    with pytest.raises(ArgumentError, match="bang_bang needs a Robot"):
        control.bang_bang("puma", np.zeros(3), limit=60.0)


# --- sliding modes ----------------------------------------------------------------------------------------------------

BOOK = control.sliding_mode(TWO, GOAL, slope=5.0, gain=np.array([60.0, 25.0]))


def sliding(run, goal=GOAL, slope=5.0):
    return slope * (run.q - goal) + run.v


def test_book_arm_slides():
    """D11: s = 0 at 0.24 s, then errors decay at the rate 5, and are below 0.03 degrees after 2 s."""
    run = simulate(TWO, BOOK, q=START, duration=2.0, dt=1e-4)
    e = run.q - GOAL
    first = run.t[np.argmax(np.abs(sliding(run)).max(axis=1) < 0.02)]
    assert abs(first - 0.24) < 0.005
    rate = np.log(np.abs(e[4000, 0] / e[8000, 0])) / 0.4
    assert abs(rate - 5) < 0.05
    assert np.degrees(np.abs(e[-1])).max() < 0.03


def test_layer_ends_chattering():
    """Total variation of the forces while it slides: without a layer every step jumps by 2 K or not at all."""
    laws = BOOK.replace(layer=np.array([0.0, 0.1]))
    run = simulate(TWO, laws, q=START, duration=2.0, dt=1e-4)
    variation = np.abs(np.diff(run.tau[:, 5000:], axis=1)).sum(axis=1)
    assert (variation[0] > 1e5).all()
    assert (variation[1] < 50).all()
    assert (np.abs(run.q[:, -1] - GOAL) <= 0.1 / 5).all()  # |e| <= φ/c


@pytest.mark.parametrize("layer", [0.02, 0.1, 0.5])
def test_layer_bounds_tracking_errors(layer):
    """|e| <= φ/c and |ė| <= 2 φ of a pendulum whose mass is 50 % off, on a fast sine; s = 0 at the start."""
    plant, c, w = aj.robots.planar(1, mass=1.5), 8.0, 6.0

    def path(t):
        return np.stack([np.sin(w * t)])

    nominal = aj.robots.planar(1)
    law = control.sliding_mode(nominal, path, slope=c, gain=40.0, layer=layer, equivalent=True)
    run = simulate(plant, law, q=[0.0], v=[w], duration=3.0, dt=1e-4, record=10)
    e, de = run.q[:, 0] - np.sin(w * run.t), run.v[:, 0] - w * np.cos(w * run.t)
    target = Target(np.sin(w * run.t)[:, None], w * np.cos(w * run.t)[:, None], -w * w * np.sin(w * run.t)[:, None])
    need = control.switching_gain(plant, run.q, run.v, target, slope=c, model=nominal)
    assert need < 40.0  # so that the layer is not left
    assert np.abs(e).max() <= layer / c
    assert np.abs(de).max() <= 2 * layer
    assert np.abs(e).max() > 0.05 * layer / c  # the bound is not idle


@pytest.mark.slow
def test_equivalent_control_keeps_s():
    """ṡ = c ė + a - a_d = 0 to rounding, on a PUMA, for a reference that moves."""
    robot, rng = aj.robots.puma560(), np.random.default_rng(3)
    q, v, dv, a_d = rng.normal(size=(4, 20, 6))
    slope = rng.uniform(1, 10, 6)
    tau = control.equivalent_control(robot, q, v, slope, dv, a_d)
    rate = slope * (v - dv) + aj.forward_dynamics(robot, q, v, tau) - a_d
    assert np.abs(rate).max() < 1e-13 * np.linalg.cond(aj.mass_matrix(robot, q)).max() * np.abs(slope * v).max()
    still = control.equivalent_control(robot, q, v, slope)
    np.testing.assert_allclose(still, aj.inverse_dynamics(robot, q, v, -slope * v), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("equivalent", [False, True])
def test_sufficient_gain_makes_lyapunovs_function_fall(equivalent):
    """V = ½ sᵀ M s: with K of `switching_gain` V̇ <= -margin Σ |s_i| at all states, of a plant that is not the model."""
    rng, robot = np.random.default_rng(4), aj.robots.puma560()
    model = robot.replace(inertias=1.2 * robot.inertias) if equivalent else None
    q, v = rng.uniform(-1, 1, (2, 200, 6))
    target, slope = Target(*rng.uniform(-1, 1, (3, 6))), rng.uniform(1, 5, 6)
    K = control.switching_gain(robot, q, v, target, slope=slope, margin=0.5, model=model)
    law = control.sliding_mode(model or robot, target, slope=slope, gain=K, equivalent=equivalent)
    e, de = q - target.q, v - target.v
    s = slope * e + de
    tau = law(robot, None, 0.0, q, v, target).tau
    ds = slope * de + aj.forward_dynamics(robot, q, v, tau) - target.a
    M, C = aj.mass_matrix(robot, q), aj.coriolis_matrix(robot, q, v)
    rate = np.einsum("ki,kij,kj->k", s, M, ds) + np.einsum("ki,kij,kj->k", s, C, s)  # ½ Ṁ = ½ (C + Cᵀ)
    assert (rate <= -0.5 * np.abs(s).sum(axis=1) + 1e-9).all()


def test_sliding_batch_equals_single_runs():
    slopes = np.array([3.0, 5.0, 8.0])
    run = simulate(TWO, BOOK.replace(slope=slopes, layer=0.05), q=START, duration=0.3, dt=1e-3)
    for k, slope in enumerate(slopes):
        one = simulate(TWO, BOOK.replace(slope=slope, layer=0.05), q=START, duration=0.3, dt=1e-3)
        np.testing.assert_array_equal(run.q[k], one.q)


def test_follows_a_trajectory_with_a_payload():
    """The quintic of D10 with a second link that is 10 % heavier: computed torque is off by 1 degree, this by 0.1."""
    path = aj.trajectory.quintic(np.radians([30.0, 10]), np.radians([100.0, 60]), duration=2.0)
    law = control.sliding_mode(TWO, path, slope=10.0, gain=np.array([6.0, 3.0]), layer=0.05, equivalent=True)
    run = simulate(aj.robots.two_link(mass_2=1.1), law, q=path(0.0).q, duration=2.0, dt=1e-3)
    assert np.abs(run.q - path(run.t).q).max() < 0.05 / 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"slope": 0.0, "gain": 1.0}, "sliding_mode: slope must be finite and positive, got 0"),
        ({"slope": 1.0, "gain": [1.0, -2.0]}, "gain must be finite and positive, got -2 at place 1"),
        ({"slope": 1.0, "gain": 1.0, "layer": -0.1}, "layer must be finite and positive or 0"),
        ({"slope": [1.0] * 3, "gain": 1.0}, r"slope has shape \(3,\); it must be a number or \(2,\)"),
        ({"slope": "much", "gain": 1.0}, "slope must be finite and positive, got 'much'"),
        ({"slope": 1.0, "gain": 1.0, "equivalent": "yes"}, "equivalent must be True or False"),
    ],
)
def test_bad_sliding_modes(options, words):
    with pytest.raises(ArgumentError, match=words):
        control.sliding_mode(TWO, GOAL, **options)


def test_bad_states_of_gains():
    with pytest.raises(ArgumentError, match="switching_gain: argument 'q' has shape"):
        control.switching_gain(TWO, np.zeros(3), START, GOAL, slope=5.0)
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        control.switching_gain(TWO, [np.nan, 0], START, GOAL, slope=5.0)
