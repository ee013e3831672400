"""Friction and stops: joints that stick, slide and creep as the laws say, and stops that give no energy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.sliders import G, energy, slider, value

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.simulation import dry_friction, force, friction, joint_stops, payload, simulate

SLOPE = 0.5  # rad


def on_slope(mass: float, mu: float):
    """A block on a slope with the friction μ m g cos(slope)."""
    gravity = (G * np.sin(SLOPE), 0.0, -G * np.cos(SLOPE))
    return slider(mass, gravity, friction=mu * mass * G * np.cos(SLOPE))


# --- dry friction that holds ------------------------------------------------------------------------------------------


def test_a_block_on_a_slope_sticks_below_the_angle_of_friction_and_slides_above():
    start, steps = np.array([0.3]), 1000
    held = simulate(on_slope(2.0, 1.001 * np.tan(SLOPE)), q=start, duration=1.0, dt=1e-3, integrator=dry_friction())
    assert np.all(held.v == 0) and np.all(held.q == start)
    mu = 0.7 * np.tan(SLOPE)
    slid = simulate(on_slope(2.0, mu), q=start, duration=1.0, dt=1e-3, integrator=dry_friction())
    # One rounding of about 1e-16 in each of 1000 steps.
    a = G * (np.sin(SLOPE) - mu * np.cos(SLOPE))
    np.testing.assert_allclose(slid.v[:, 0], a * slid.t, rtol=0, atol=steps * 1e-15)


def test_a_block_that_slides_uphill_stops_and_stays():
    mu, v_0, dt = 1.5 * np.tan(SLOPE), -2.0, 1e-3
    run = simulate(on_slope(1.0, mu), v=np.array([v_0]), duration=1.0, dt=dt, integrator=dry_friction())
    a = G * (np.sin(SLOPE) + mu * np.cos(SLOPE))
    stop = -v_0 / a
    assert np.all(run.v[run.t >= stop + dt] == 0) and np.all(run.v[run.t <= stop] < 0)
    # Semi-implicit steps are behind by half a step times the speed that is lost.
    np.testing.assert_allclose(run.q[-1, 0], v_0 * stop / 2, rtol=0, atol=dt * abs(v_0))


def test_other_integrators_chatter_where_this_one_holds():
    """The reason for `dry_friction`: friction · sign(v) turns around with every step."""
    robot = on_slope(2.0, 1.5 * np.tan(SLOPE))
    run = simulate(robot, duration=0.1, dt=1e-3)
    assert np.abs(run.v).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("limits", [(0.5,) * 3, (1, 1e-3, 100), (0, 3, 0.1)])
def test_the_law_of_coulomb_holds_at_the_end_of_every_step(limits):
    robot, dt = aj.robots.park3r(), 1e-3
    rough, limits = robot.replace(friction=np.array(limits, float)), np.array(limits, float)
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=(20, 3)), 0.3 * rng.normal(size=(20, 3)) * rng.integers(0, 2, (20, 3))
    run = simulate(rough, q=q, v=v, duration=20 * dt, dt=dt, integrator=dry_friction())
    now, then = run.v[:, :-1], run.v[:, 1:]
    free = now + dt * aj.forward_dynamics(robot.replace(friction=0.0), run.q[:, :-1], now, np.zeros(3))
    impulse = np.einsum("...ij,...j", aj.mass_matrix(robot, run.q[:, :-1]), then - free)
    # The impulses come from a linear equation with the condition of M, about 1e2 here.
    slack = 1e-11 * dt * max(limits.max(), 1)
    assert np.all(np.abs(impulse) <= dt * limits + slack)
    slides = then != 0
    np.testing.assert_allclose(
        impulse[slides], (-dt * limits * np.sign(then))[slides], rtol=0, atol=slack, err_msg="sliding"
    )


@pytest.mark.slow
def test_friction_takes_energy_and_never_gives_any():
    robot = aj.robots.park3r().replace(friction=np.full(3, 0.5), gravity=(0, 0, 0))
    v = np.random.default_rng(0).normal(size=(8, 3))
    run = simulate(robot, q=np.full(3, 0.4), v=v, duration=0.5, dt=2e-4, integrator=dry_friction())
    E = energy(robot, run.q, run.v)
    taken = 2e-4 * np.cumsum((0.5 * np.abs(run.v[:, 1:])).sum(axis=-1), axis=-1)
    # What is lost is the work of friction, ∫ μ |v| dt, but for the error of the steps, which is of first order in dt.
    np.testing.assert_allclose(E[:, :1] - E[:, 1:], taken, rtol=0, atol=3e-3 * E.max())
    assert taken.max() > 0.5


@pytest.mark.slow
def test_without_friction_it_is_the_semi_implicit_method():
    robot, q = aj.robots.park3r().replace(friction=0.0), np.full(3, 0.3)
    one = simulate(robot, q=q, duration=0.1, dt=1e-3, integrator=dry_friction())
    other = simulate(robot, q=q, duration=0.1, dt=1e-3)
    np.testing.assert_allclose(one.v, other.v, rtol=0, atol=1e-10)


def test_a_batch_of_limits():
    robot = slider(1.0, (0, 0, -G), axis=(0, 0, 1), friction=1.0)
    limits = np.array([[5.0], [9.0], [10.0], [20.0]])
    run = simulate(robot, duration=0.1, dt=1e-3, integrator=dry_friction(), lift={"friction": limits})
    np.testing.assert_allclose(run.v[:, -1], np.minimum(limits - G, 0) * 0.1, rtol=0, atol=1e-13)
    assert np.all(run.v[2:] == 0)
    single = [simulate(robot.replace(friction=x), duration=0.1, dt=1e-3, integrator=dry_friction()) for x in limits]
    assert np.array_equal(run.q, [one.q for one in single])


def test_a_load_that_is_picked_breaks_the_hold():
    robot = slider(1.0, (0, 0, -G), axis=(0, 0, 1), friction=15.0)
    held = payload("block", 1.0, start=0.05, end=0.1)
    run = simulate(robot, duration=0.2, dt=1e-3, integrator=dry_friction(), changes=held)
    assert np.all(run.v[run.t <= 0.05] == 0)
    falls = (run.t > 0.0505) & (run.t < 0.1)
    np.testing.assert_allclose(run.v[falls, 0], -(G - 7.5) * (run.t[falls] - 0.05), rtol=0, atol=1e-13)
    stop = 0.1 + (G - 7.5) * 0.05 / (15 - G)
    assert np.all(run.v[run.t > stop + 1e-3] == 0)


def test_stick_slip_has_the_period_of_its_closed_form():
    """A block behind a spring whose end moves steadily: it sticks until the spring pulls F_s, and slides at F_k."""
    m, k, pull, slides, holds, fade = 1.5, 400.0, 0.1, 4.0, 6.0, 1e-6
    robot = slider(m, friction=slides)
    spring = force(_towed, stiffness=k, speed=pull)
    law = dry_friction(breakaway=holds / slides, stribeck_velocity=fade)
    run = simulate(robot, duration=4.0, dt=1e-4, integrator=law, forces=spring)
    w = np.sqrt(k / m)
    slip = 2 * (np.pi - np.arctan((holds - slides) * w / (k * pull))) / w
    stick = 2 * (holds - slides) / (k * pull)
    starts = run.t[1:][(run.v[1:, 0] > 0) & (run.v[:-1, 0] == 0)]
    # A start and a stop are late by up to a step each, and the growing pull takes a while to reach the Stribeck speed.
    late = np.sqrt(2 * m * fade / (k * pull))
    np.testing.assert_allclose(np.diff(starts), slip + stick, rtol=0, atol=late + 2e-4)
    np.testing.assert_allclose(starts[0], holds / (k * pull), rtol=0, atol=2e-4)
    assert len(starts) >= 10


def _towed(robot, p, t, q, v):
    return p.stiffness * (p.speed * t - q)


def test_the_distance_of_a_block_that_is_let_go():
    """It is v²/(2 a), and its slope v/a is not hidden by the stop at the end."""
    robot, dt = slider(1.0, friction=2.0), 1e-3
    ends = [
        simulate(robot, v=np.array([v]), duration=1.0, dt=dt, integrator=dry_friction()).q[-1, 0] for v in (1.0, 1.02)
    ]
    np.testing.assert_allclose(np.diff(ends)[0] / 0.02, 1.01 / 2.0, rtol=0, atol=dt)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sweeps": 0}, "sweeps must be 1 or more"), ({"sweeps": 1.5}, "sweeps must be a whole number"),
        ({"breakaway": 0.5}, "breakaway is 0.5"), ({"breakaway": np.nan}, "breakaway must be a positive number"),
        ({"stribeck_velocity": 0.0}, "stribeck_velocity must be a positive number"),
    ],
)  # fmt: skip
def test_dry_friction_of_bad_numbers(given, says):
    with pytest.raises(ArgumentError, match=says):
        dry_friction(**given)


def test_the_same_dry_friction_has_the_same_code():
    assert dry_friction() == dry_friction() and hash(dry_friction()) == hash(dry_friction())
    assert dry_friction() != dry_friction(sweeps=7)


# --- smooth friction --------------------------------------------------------------------------------------------------

CURVE = {"viscous": 0.3, "coulomb": 2.0, "stribeck": 1.0, "stribeck_velocity": 0.05, "smoothing": 1e-4}


def test_the_stribeck_curve():
    robot, v = slider(2.0), np.linspace(-1, 1, 41)[:, None]
    run = simulate(robot, v=v, duration=1e-3, dt=1e-3, forces=friction(**CURVE))
    want = -0.3 * v - (2 + np.exp(-((v / 0.05) ** 2))) * v / np.hypot(v, 1e-4)
    np.testing.assert_allclose(2.0 * run.a[:, 0], want, rtol=0, atol=1e-14)


@pytest.mark.parametrize("r", [0.1, 0.5, 0.9])
def test_a_loaded_joint_creeps_as_stated(r):
    eps, level = 1e-3, 3.0
    robot = slider(1.0, (r * level, 0, 0))
    run = simulate(robot, duration=0.02, dt=1e-5, record=100, forces=friction(coulomb=level, smoothing=eps))
    # The creep is reached like exp(-t · level/ε · (1 - r²)^1.5), which is exp(-5) at least at r = 0.9, t = 0.02.
    settled = np.exp(-0.02 * level / eps * (1 - r * r) ** 1.5)
    np.testing.assert_allclose(run.v[-1, 0], eps * r / np.sqrt(1 - r * r), rtol=settled + 1e-9)


@pytest.mark.slow
def test_stick_slip_with_the_stribeck_curve_has_the_period_of_a_stiff_solver():
    m, k, speed = 1.0, 100.0, 0.05
    curve = {"viscous": 0.3, "coulomb": 2.0, "stribeck": 1.0, "stribeck_velocity": 0.02, "smoothing": 1e-3}

    def rates(t, x):
        v = x[1]
        level = curve["coulomb"] + curve["stribeck"] * np.exp(-((v / curve["stribeck_velocity"]) ** 2))
        drag = curve["viscous"] * v + level * v / np.hypot(v, curve["smoothing"])
        return [v, (k * (speed * t - x[0]) - drag) / m]

    run = simulate(
        slider(m), duration=8.0, dt=5e-5, record=10, forces=[friction(**curve), force(_towed, stiffness=k, speed=speed)]
    )
    reference = solve_ivp(rates, (0, 8), [0, 0], "LSODA", t_eval=run.t, rtol=1e-10, atol=1e-12)

    def slips(v):
        """The times at which the block begins to slip: v rises through 0.05 m/s."""
        k = np.flatnonzero((v[:-1] < 0.05) & (v[1:] >= 0.05))
        return run.t[k] + (0.05 - v[k]) / (v[k + 1] - v[k]) * (run.t[1] - run.t[0])

    ours, theirs = slips(run.v[:, 0]), slips(reference.y[1])
    assert len(ours) == len(theirs) >= 8
    # Steps of dt shift each event by about dt; the periods between them agree to a thousandth.
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), rtol=1e-3)


def test_a_batch_of_frictions_and_numbers_for_each_joint():
    robot, v = aj.robots.puma560(), np.full(6, 0.5)
    each = friction(coulomb=np.arange(6.0))
    tau = value(each, robot, 0.0, np.zeros(6), v)
    np.testing.assert_allclose(tau, -np.arange(6.0), rtol=1e-5)
    batch = friction(coulomb=0.0).replace(coulomb=np.array([0.0, 1.0, 5.0]))
    run = simulate(slider(1.0), v=np.array([1.0]), duration=0.1, dt=1e-3, forces=batch)
    np.testing.assert_allclose(run.v[:, -1, 0], [1.0, 0.9, 0.5], rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"coulomb": -1.0}, "friction: coulomb is -1.0; it must be a finite number, 0 or more"),
        ({"viscous": np.nan}, "viscous is nan"),
        ({"smoothing": 0.0}, "smoothing is 0.0; it must be a finite number, positive"),
        ({"stribeck_velocity": -0.1}, "stribeck_velocity is -0.1"), ({"coulomb": "much"}, "coulomb"),
    ],
)  # fmt: skip
def test_friction_of_bad_numbers(given, says):
    with pytest.raises(ArgumentError, match=says):
        friction(**given)


def test_friction_of_the_wrong_number_of_joints():
    with pytest.raises(ArgumentError, match=r"coulomb has shape \(3,\); robot 'slider' needs a number or \(1,\)"):
        simulate(slider(), duration=0.1, dt=0.1, forces=friction(coulomb=np.ones(3)))


# --- stops ------------------------------------------------------------------------------------------------------------


def test_a_stop_of_critical_damping_is_passed_by_as_much_as_stated():
    robot, u, rate = slider(2.0, lower=-np.inf, upper=0.5), 1.0, 100.0
    run = simulate(
        robot, q=np.array([0.4]), v=np.array([u]), duration=0.5, dt=1e-4, forces=joint_stops(robot, rate=rate)
    )
    # The step at which the stop is met is late by up to 1e-4 s, and so is the depth by up to u · 1e-4 · 2.
    np.testing.assert_allclose(run.q.max() - 0.5, u / (np.e * rate), rtol=0, atol=2e-4 * u)
    assert run.v[-1, 0] <= 0


@pytest.mark.parametrize("ramp", [0.0, 0.01])
@pytest.mark.parametrize("damping", [0.0, 5.0, 400.0])
def test_stops_give_no_energy(damping, ramp):
    robot = slider(2.0, lower=-0.1, upper=0.1)
    stops = joint_stops(robot, stiffness=2e4, damping=damping, ramp=ramp)
    run = simulate(robot, v=np.array([[1.0], [-2.0]]), duration=2.0, dt=1e-4, record=10, forces=stops)
    beyond = np.maximum(np.abs(run.q[..., 0]) - 0.1, 0)
    E = (run.v[..., 0] ** 2 + 1e4 * beyond**2).T  # m v²/2 + k d²/2
    # Semi-implicit steps keep E to (ω dt)/2 = 0.5 % while a spring is compressed, and at each end of a contact.
    assert np.all(E[0] * 1.01 >= E)
    free = beyond.T == 0
    if damping:
        speeds = [E[free[:, k], k] for k in (0, 1)]
        assert all(np.all(np.diff(x) <= 1e-12) for x in speeds) and all(x[-1] < 0.9 * x[0] for x in speeds)


def test_stops_never_pull():
    robot = slider(1.0, lower=-0.1, upper=0.1)
    stops = joint_stops(robot, stiffness=100.0, damping=50.0)
    q, v = np.array([0.11]), np.array([-5.0])
    assert value(stops, robot, 0.0, q, v) == 0 and value(stops, robot, 0.0, -q, -v) == 0
    assert value(stops, robot, 0.0, q, -v) < 0 < value(stops, robot, 0.0, -q, v)


def test_a_ramp_makes_the_force_continuous():
    robot = slider(1.0, lower=-0.1, upper=0.1)
    sharp, smooth = (joint_stops(robot, stiffness=100.0, damping=50.0, ramp=ramp) for ramp in (0.0, 0.01))
    depths = 0.1 + np.linspace(0, 0.02, 2001)
    forces = [[value(x, robot, 0.0, np.array([d]), np.ones(1))[0] for d in depths] for x in (sharp, smooth)]
    # The ramp's steepest slope is 1.5/0.01, so 1e-5 m further the force grows by 50 · 150 · 1e-5 and the spring's 1e-3.
    assert np.abs(np.diff(forces[0])).max() > 40 and np.abs(np.diff(forces[1])).max() < 0.075 + 0.0011


@pytest.mark.slow
def test_stops_of_an_arm_by_its_own_inertias():
    robot = aj.robots.puma560()
    stops = joint_stops(robot)
    v = np.random.default_rng(1).normal(size=(4, 6))
    run = simulate(robot, q=(robot.lower + robot.upper) / 2, v=3 * v, duration=2.0, dt=1e-3, record=10, forces=stops)
    assert np.all(run.q < robot.upper + 0.3) and np.all(run.q > robot.lower - 0.3)
    free = simulate(robot, q=(robot.lower + robot.upper) / 2, v=3 * v, duration=2.0, dt=1e-3, record=10)
    assert np.any((free.q > robot.upper + 0.3) | (free.q < robot.lower - 0.3))


def test_joints_without_limits_have_no_stops():
    robot = aj.robots.random_tree(5, 6, ["free", "revolute", "spherical", "prismatic"])
    stops = joint_stops(robot, stiffness=10.0, damping=0.0)
    limited = [b.joint for b in robot.bodies if b.joint.type in ("revolute", "prismatic")]
    q = aj.neutral(robot)
    for joint in limited:
        q[joint.q] = robot.upper[joint.q] + 0.1
    tau = value(stops, robot, 0.0, q, np.zeros(robot.nv))
    want = np.zeros(robot.nv)
    for joint in limited:
        want[joint.v] = -1.0
    np.testing.assert_allclose(tau, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"lower": [0.0, 1.0]}, r"'lower' must be \(1,\)"), ({"upper": [np.nan]}, "without NaN"),
        ({"lower": [1.0], "upper": [0.0]}, r"lower\[0\] is 1, above upper\[0\]"),
        ({"stiffness": -1.0, "damping": 1.0}, "stiffness is -1"), ({"damping": [1.0, 2.0]}, "'damping' has shape"),
        ({"rate": 0.0}, "rate must be a positive number"), ({"ramp": -1.0}, "ramp is -1"),
        ({"q": [[0.0]]}, "'q' has shape"),
    ],
)  # fmt: skip
def test_stops_of_bad_numbers(given, says):
    with pytest.raises(ArgumentError, match=says):
        joint_stops(slider(1.0, lower=-1.0, upper=1.0), **given)


def test_stops_of_a_robot_without_limits():
    with pytest.raises(ArgumentError, match="no joint of one coordinate with a finite limit"):
        joint_stops(slider())
    with pytest.raises(ArgumentError, match="joint_stops needs a Robot"):
        joint_stops(None)  # type: ignore[arg-type]
