"""PD, PID, servos and computed torque: worked examples of the textbook, laws of control, and exported C."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from support.c_code import run_c
from support.trees import frictionless

import adjoint as aj
from adjoint import control
from adjoint.control import Integral, Motor, computed_torque, pd, pid, servo, servo_design, through_drive, with_motors
from adjoint.dynamics import textbook
from adjoint.lie import inertia as inertias
from adjoint.simulation import force, simulate
from adjoint.trajectory import quintic

ARM = aj.robots.two_link()
PUMA = aj.robots.puma560()
SWING = quintic(np.radians([30.0, 10.0]), np.radians([100.0, 60.0]), 2.0)
DEGREES = np.radians(1.0)
MOTOR = Motor(resistance=1.6, torque_constant=0.2, inertia=2e-4, friction=1e-4, gear_ratio=0.02)


def tracked(law, robot=ARM, start=(0.0, 0.0), dt=1e-4, record=100, duration=2.0) -> np.ndarray:
    """The errors q_d - q (N, 2) [°] of a run along the swing, from an error at the start."""
    target = SWING(0.0)
    q = target.q - np.asarray(start) * DEGREES
    run = simulate(robot, law, q=q, v=target.v, duration=duration, dt=dt, record=record, integrator="rk4")
    return (SWING(run.t).q - run.q) / DEGREES


# --- computed torque: the textbook's two-link arm, D10 ----------------------------------------------------------------


def test_torques_of_d10():
    q, v, a = np.radians([30.0, 60.0]), np.array([1.0, 2.0]), np.array([0.5, -1.0])
    D, c = aj.mass_matrix(ARM, q), aj.gravity_torque(ARM, q)
    h = aj.bias_force(ARM, q, v) - c
    np.testing.assert_allclose(D, [[2.166667, 0.583333], [0.583333, 0.333333]], atol=5e-7)
    np.testing.assert_allclose(h, [-3.464102, 0.433013], atol=5e-7)
    np.testing.assert_allclose(c, [12.738627, 0], atol=5e-7)
    for form in ("newton_euler", "lagrange"):  # no error: the law gives the torques of the motion
        tau, _ = computed_torque(ARM, None, kp=100.0, form=form)(ARM, None, 0.0, q, v, control.Target(q, v, a))
        np.testing.assert_allclose(tau, [9.774526, 0.391346], atol=5e-7)
    tau, _ = computed_torque(ARM, None, kp=100.0, form="diagonal")(ARM, None, 0.0, q, v, control.Target(q, v, a))
    np.testing.assert_allclose(tau, np.diag(D) * a + c, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["newton_euler", "lagrange"])
def test_an_error_at_the_start_decays_critically(form):
    """e = e_0 (1 + 10 t) e^(-10 t); the law is held for dt, so the difference is c dt + O(dt²), with c of order 10 |e|.

    The extrapolation 2 e(dt/2) - e(dt) leaves O((10 dt)²) of |e_0|.
    """
    law, t = computed_torque(ARM, SWING, kp=100.0, form=form), np.linspace(0, 2, 201)
    expected = np.outer((1 + 10 * t) * np.exp(-10 * t), [2.0, -1.0])
    coarse, fine = (tracked(law, start=(2, -1), dt=dt, record=round(0.01 / dt)) for dt in (2e-4, 1e-4))
    ratio = np.abs(fine - expected).max() / np.abs(coarse - expected).max()
    np.testing.assert_allclose(ratio, 0.5, atol=0.01)
    found = 2 * fine - coarse
    np.testing.assert_allclose(found, expected, atol=2 * (10 * 2e-4) ** 2 * 2)
    np.testing.assert_allclose(found[30], [0.398297, -0.199148], atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "mass", "expected"), [("newton_euler", 1.1, (0.333, 1.044)), ("diagonal", 1.0, (0.318, 2.382))]
)
def test_wrong_masses_and_missing_couplings_of_d10(form, mass, expected):
    """Printed to 0.001°; the extrapolation takes the first order of the hold away, and leaves some (10 dt)² of 2°."""
    law, plant = computed_torque(ARM, SWING, kp=100.0, kd=20.0, form=form), aj.robots.two_link(mass_2=mass)
    coarse, fine = tracked(law, plant, dt=2e-4, record=5), tracked(law, plant, dt=1e-4, record=10)
    np.testing.assert_allclose(np.abs(2 * fine - coarse).max(axis=0), expected, atol=5e-4)


@pytest.mark.slow
def test_the_exact_model_tracks_exactly_up_to_the_hold():
    """The torque of an instant is held for dt: ë + 20 ė + 100 e = d, where |d| is at most the change of M⁻¹ τ in dt.

    So |e| <= max|d| / 100, and halving dt halves the error.
    """
    law, dt = computed_torque(ARM, SWING, kp=100.0), 1e-4
    at = SWING(np.linspace(0, 2, 2001))
    M_inverse = np.linalg.inv(aj.mass_matrix(ARM, at.q))
    tau = aj.inverse_dynamics(ARM, at.q, at.v, at.a)
    change = np.einsum("kij,kj->ki", M_inverse[1:], np.diff(tau, axis=0)) * dt / 1e-3
    coarse, fine = tracked(law, dt=dt), tracked(law, dt=dt / 2, record=200)
    assert 0 < np.abs(coarse).max() < np.abs(change).max() / 100 / DEGREES < 0.02
    np.testing.assert_allclose(np.abs(fine).max() / np.abs(coarse).max(), 0.5, atol=0.01)


def test_many_plants_at_once_are_the_single_ones():
    law, masses = computed_torque(ARM, SWING, kp=100.0), (0.9, 1.0, 1.1)
    plants = [aj.robots.two_link(mass_2=m) for m in masses]
    options = {"q": SWING(0.0).q, "duration": 0.2, "dt": 1e-3}
    many = simulate(ARM, law, lift={"inertias": np.stack([x.inertias for x in plants])}, **options)
    for k, plant in enumerate(plants):
        np.testing.assert_allclose(many.q[k], simulate(plant, law, **options).q, rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("robot", [ARM, aj.robots.random_tree(3, 4), aj.robots.stanford()], ids=lambda r: r.name)
def test_both_full_forms_agree(robot):
    rng = np.random.default_rng(0)
    robot = robot.replace(damping=rng.uniform(0, 1, robot.nv), friction=rng.uniform(0, 1, robot.nv))
    q = aj.integrate(robot, aj.neutral(robot), rng.normal(size=(4, robot.nv)))
    goal = aj.integrate(robot, aj.neutral(robot), rng.normal(size=robot.nv))
    v = rng.normal(size=(4, robot.nv))
    kp, kd = rng.uniform(10, 100, (2, robot.nv))
    newton, lagrange = (
        computed_torque(robot, goal, kp=kp, kd=kd, form=form)(robot, None, 0.0, q, v).tau
        for form in ("newton_euler", "lagrange")
    )
    np.testing.assert_allclose(newton, lagrange, rtol=0, atol=1e-12 * np.abs(newton).max())
    a = kp * aj.difference(robot, q, np.broadcast_to(goal, q.shape)) - kd * v
    np.testing.assert_allclose(newton, aj.inverse_dynamics(robot, q, v, a), rtol=0, atol=1e-13 * np.abs(newton).max())


def test_damping_is_critical_by_default():
    kp = np.array([25.0, 100.0])
    np.testing.assert_array_equal(computed_torque(ARM, None, kp=kp).numbers["kd"], [10, 20])
    np.testing.assert_array_equal(computed_torque(ARM, None, kp=kp, kd=3.0).numbers["kd"], 3)


def test_operations_of_problem_5_3():
    """Newton-Euler takes 678 multiplications and 597 additions for six joints; gains take 2n and 4n more.

    Table 3.5 of the book says 792 and 662. The law here takes fewer of both.
    """
    counts = textbook.operation_counts(PUMA)["Newton-Euler"]
    assert counts.derived == (678, 597) and counts.compared == (792, 662)
    found = computed_torque(PUMA, None, kp=100.0 * np.ones(6)).kernel().operations
    assert found.muls < 678 + 12 and found.adds < 597 + 24


# --- PD ---------------------------------------------------------------------------------------------------------------


def test_pd_is_its_formula():
    rng = np.random.default_rng(1)
    q, v, goal, rate = rng.normal(size=(4, 6))
    kp, kd = rng.uniform(1, 9, (2, 6))
    target = control.Target(goal, rate, np.zeros(6))
    tau, state = pd(None, kp=kp, kd=kd)(PUMA, None, 0.0, q, v, target)
    np.testing.assert_allclose(tau, kp * (goal - q) + kd * (rate - v), rtol=1e-14)
    assert state is None
    tau, _ = pd(None, kp=kp, kd=kd, rate="output")(PUMA, None, 0.0, q, v, target)
    np.testing.assert_allclose(tau, kp * (goal - q) - kd * v, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("robot", [ARM, aj.robots.random_tree(3, 4)], ids=lambda r: r.name)
def test_feed_forward_is_gravity_and_coriolis_without_friction(robot):
    """(5.3-63) and (5.3-64); together they are the bias force of the robot without friction."""
    rng = np.random.default_rng(2)
    robot = robot.replace(damping=rng.uniform(0, 1, robot.nv), friction=rng.uniform(0, 1, robot.nv))
    q = aj.integrate(robot, aj.neutral(robot), rng.normal(size=robot.nv))
    v = rng.normal(size=robot.nv)
    for flags in ({"gravity": True}, {"coriolis": True}, {"gravity": True, "coriolis": True}):
        tau, _ = pd(q, kp=1.0, kd=0.0, **flags)(robot, None, 0.0, q, v)
        g = {} if "gravity" in flags else {"gravity": np.zeros(3)}
        moving = v if "coriolis" in flags else 0 * v
        expected = aj.bias_force(frictionless(robot), q, moving, **g)
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * max(np.abs(expected).max(), 1))


def test_gravity_takes_the_error_of_pd_away():
    """At rest kp e = gravity without feed-forward, and e = 0 with it."""
    goal, kp = np.array([0.4, 0.3]), 200.0
    options = {"q": goal, "duration": 20.0, "dt": 1e-3, "record": 1000}
    sagging = simulate(ARM, pd(goal, kp=kp, kd=40.0), **options).q[-1]
    np.testing.assert_allclose(kp * (goal - sagging), aj.gravity_torque(ARM, sagging), rtol=1e-9)
    assert np.abs(goal - sagging).max() > 0.05
    held = simulate(ARM, pd(goal, kp=kp, kd=40.0, gravity=True), **options).q[-1]
    np.testing.assert_allclose(held, goal, rtol=0, atol=1e-12)


def test_feed_forward_of_another_model():
    lighter = aj.robots.two_link(mass_2=0.5)
    q = np.array([0.4, 0.3])
    tau, _ = pd(q, kp=1.0, gravity=True, model=lighter)(ARM, None, 0.0, q, 0 * q)
    np.testing.assert_allclose(tau, aj.gravity_torque(lighter, q), rtol=1e-14)


# --- PID --------------------------------------------------------------------------------------------------------------


def wheel(inertia=1.0) -> aj.Robot:
    body = inertias.from_central.eager(1.0, np.zeros(3), inertia * np.eye(3))
    builder = aj.Robot.builder("wheel", gravity=(0, 0, 0)).link("base").link("wheel", body)
    return builder.joint("axle", "revolute", "base", "wheel", axis=(0, 0, 1)).build()


def test_pid_integrates_its_error():
    rng = np.random.default_rng(3)
    q, v, goal = rng.normal(size=(3, 6))
    found, state = pid(PUMA, goal, kp=2.0, ki=3.0, kd=4.0, period=0.01), None
    e, total = goal - q, np.zeros(6)
    for k in range(4):
        tau, state = found(PUMA, state, 0.01 * k, q, v)
        total = total + 0.01 * e
        np.testing.assert_allclose(tau, 2 * e + 3 * total - 4 * v, rtol=1e-13)
        np.testing.assert_allclose(state.integral, total, rtol=1e-14)


def test_the_integral_takes_constant_disturbances_away():
    """PD rests at e = τ / kp, PID at e = 0, with the integral at τ / ki."""
    robot, push = wheel(), force(_push, torque=np.array([-3.0]))
    goal, dt = np.array([1.0]), 1e-3
    options = {"q": goal, "duration": 30.0, "dt": dt, "record": 1000, "forces": push}
    left = simulate(robot, pd(goal, kp=100.0, kd=20.0), **options)
    np.testing.assert_allclose(goal - left.q[-1], 3 / 100, rtol=1e-9)
    none = simulate(robot, pid(robot, goal, kp=100.0, ki=100.0, kd=20.0, period=dt), **options)
    np.testing.assert_allclose(none.q[-1], goal, rtol=0, atol=1e-9)
    np.testing.assert_allclose(none.state.integral[-1], 3 / 100, rtol=1e-8)


def _push(robot, p, t, q, v):
    return p.torque


def _clipped(inside, robot, p, state, t, q, v, reference):
    tau, inner = inside(state[1], t, q, v, reference)
    return np.clip(tau, -p.most, p.most), (state[0], inner)


def test_clamping_keeps_the_integral_from_winding_up():
    """A long step of a wheel that its friction keeps at 1 rad/s; only one of the laws stops to integrate meanwhile."""
    robot, goal, dt = wheel().replace(damping=[2.0]), np.array([10.0]), 1e-3
    gains = {"kp": 20.0, "ki": 5.0, "kd": 2.0, "period": dt}
    options = {"q": np.zeros(1), "duration": 30.0, "dt": dt, "record": 100}
    clamped = simulate(robot, pid(robot, goal, limit=2.0, **gains), **options)
    winding = simulate(robot, control.wrapped(pid(robot, goal, **gains), _clipped, name="clip", most=2.0), **options)
    assert np.abs(clamped.tau).max() == np.abs(winding.tau).max() == 2.0
    assert clamped.q.max() - 10 < 0.1 < 5 < winding.q.max() - 10
    assert np.abs(clamped.state.integral).max() < 0.1 * np.abs(winding.state[1].integral).max()
    np.testing.assert_allclose(clamped.q[-1], goal, atol=1e-2)


def test_the_integral_goes_on_if_its_error_leads_back():
    """Beyond the limit because of the rate, with an error that pulls back: the integral follows its error."""
    law = pid(wheel(), np.zeros(1), kp=1.0, ki=1.0, kd=10.0, period=0.1, limit=1.0)
    tau, state = law(wheel(), None, 0.0, [0.5], [-2.0])  # e = -0.5, kd ė = 20
    assert tau == 1.0
    np.testing.assert_allclose(state.integral, [-0.05], rtol=1e-14)
    tau, state = law(wheel(), None, 0.0, [-0.5], [-2.0])
    assert tau == 1.0 and state.integral == 0


@pytest.mark.slow
def test_the_pumas_controller():
    """W4, C1: set points every 28 ms, a PID servo every 0.875 ms, gains of critical damping at the largest inertia."""
    home, goal = np.array([0.0, -0.5, 0.5, 0, 0.3, 0]), np.array([0.6, -0.2, 0.9, 0.5, -0.3, 1.0])
    motion = quintic(home, goal, 32 * 0.875e-3 * 50)  # 50 set points
    inertia = np.diagonal(aj.mass_matrix(PUMA, home))
    omega = 40.0
    law = pid(PUMA, motion, kp=omega**2 * inertia, ki=omega**3 * inertia / 5, kd=2 * omega * inertia, period=0.875e-3)
    run = simulate(PUMA, law, q=home, duration=motion.duration * 2, dt=0.875e-3, record=32)
    moving = np.abs(motion(run.t, hold=True).q - run.q).max(axis=0)
    assert moving.max() < np.radians(5) and np.abs(run.q[-1] - goal).max() < 1e-3
    assert run.state.integral.shape == (101, 6)


def test_a_batch_of_pid_laws():
    law, ki = pid(ARM, np.zeros(2), kp=100.0, ki=1.0, kd=20.0, period=1e-3), np.array([0.0, 5.0, 50.0])
    options = {"q": 0.1 * np.ones(2), "duration": 0.05, "dt": 1e-3}
    many = simulate(ARM, law.replace(ki=ki), **options)
    assert many.state.integral.shape == (3, 51, 2)
    for k in range(3):
        np.testing.assert_array_equal(many.q[k], simulate(ARM, law.replace(ki=ki[k]), **options).q)


# --- servos and drives ------------------------------------------------------------------------------------------------


def test_a_servo_is_a_voltage_through_a_motor():
    rng = np.random.default_rng(4)
    q, v, goal = 0.1 * rng.normal(size=(3, 6))
    kp, kd, n = 3.0, 0.2, MOTOR.gear_ratio
    voltage = (kp * (goal - q) - kd * v) / n
    tau, _ = servo(MOTOR, goal, kp=kp, kd=kd)(PUMA, None, 0.0, q, v)
    np.testing.assert_allclose(tau, control.joint_torque(MOTOR, voltage, v), rtol=1e-13)
    tau, _ = servo(MOTOR, goal, kp=kp, kd=kd, voltage_limit=5.0)(PUMA, None, 0.0, q, v)
    np.testing.assert_allclose(tau, control.joint_torque(MOTOR, np.clip(voltage, -5, 5), v), rtol=1e-13)
    tau, _ = servo(MOTOR, goal, kp=kp, kd=kd, back_emf=False)(PUMA, None, 0.0, q, v)
    np.testing.assert_allclose(tau, control.joint_torque(MOTOR, voltage, 0.0), rtol=1e-13)


def test_feed_forward_of_a_servo_cancels_gravity():
    q = np.array([0.3, -0.4, 0.8, 0.1, 0.5, 0.2])
    tau, _ = servo(MOTOR, q, kp=3.0, gravity=True, coriolis=True)(PUMA, None, 0.0, q, 0 * q)
    np.testing.assert_allclose(tau, aj.gravity_torque(PUMA, q), rtol=0, atol=1e-13 * np.abs(tau).max())


def test_a_motor_for_every_joint():
    rng = np.random.default_rng(5)
    resistance, ratio = rng.uniform(1, 2, 6), rng.uniform(0.01, 0.1, 6)
    q, v = 0.1 * rng.normal(size=(2, 6))
    one_by_one = [
        dataclasses.replace(MOTOR, resistance=R, gear_ratio=n) for R, n in zip(resistance, ratio, strict=True)
    ]
    whole = dataclasses.replace(MOTOR, resistance=resistance, gear_ratio=ratio)
    found, expected = (servo(x, np.zeros(6), kp=3.0, kd=0.2)(PUMA, None, 0.0, q, v).tau for x in (one_by_one, whole))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_feed_forward_of_gravity_takes_the_error_at_rest_away():
    """The textbook's claim of Sec. 5.3.3, and (5.3-53) for what gravity leaves: T_e = n τ_G at the shaft."""
    goal = np.array([0.3, -0.4, 0.8, 0.1, 0.5, 0.2])
    robot = with_motors(PUMA.replace(armature=np.zeros(6), friction=np.zeros(6)), MOTOR)
    for forward in (False, True):
        law = servo(MOTOR, goal, kp=6.0, kd=0.3, gravity=forward)
        q = simulate(robot, law, q=goal, duration=10.0, dt=1e-3, record=1000).q[-1]
        expected = servo_design.step_error(MOTOR, 6.0, disturbance=0.02 * aj.gravity_torque(robot, q))
        np.testing.assert_allclose(goal - q, 0 * q if forward else expected, rtol=0, atol=1e-9)
    assert np.abs(expected).max() > 1e-3


def test_a_drive_with_the_right_table_is_the_law_itself_up_to_saturation():
    curve = control.friction_curve(slope=10.0, friction_voltage=0.5, limit=12.0)
    rng = np.random.default_rng(6)
    q, v = rng.normal(size=(2, 50, 6))
    inner = pd(np.zeros(6), kp=60.0, kd=5.0)
    plain, driven = (x(PUMA, None, 0.0, q, v).tau for x in (inner, through_drive(inner, curve)))
    least = np.where(v > 0, -125.0, -115.0)  # along the motion, and against it, where friction helps to brake
    expected = np.clip(plain, least, least + 240)
    np.testing.assert_allclose(driven, expected, rtol=0, atol=1e-12)
    assert (driven != plain).any()


def test_a_drive_without_a_table_of_its_friction_gets_stuck():
    """Converted with the slope alone, τ = k V, a joint under PD stays where kp |e| is below the friction k V_φ."""
    slope, V = 10.0, 0.5
    drive = control.friction_curve(slope=slope, friction_voltage=V, limit=12.0)
    naive = control.VoltageTorqueCurve([-12.0, 12.0], [-slope * 12, slope * 12])
    e = np.array([0.9, 1.1]) * slope * V / 100.0  # just below, just above
    inner = pd(np.zeros(1), kp=100.0, kd=0.0)
    tau = through_drive(inner, drive, table=naive)(wheel(), None, 0.0, -e[:, None], np.zeros((2, 1))).tau
    np.testing.assert_allclose(tau[:, 0], [0, 0.1 * slope * V], atol=1e-12)
    right = through_drive(inner, drive)(wheel(), None, 0.0, -e[:, None], np.zeros((2, 1))).tau
    np.testing.assert_allclose(right[:, 0], 100 * e, rtol=1e-13)


def test_a_drive_in_a_simulation_with_a_pid_inside():
    """States of the law inside are kept: its integral overcomes the friction that the table does not know."""
    robot, goal, dt = wheel(), np.array([0.03]), 1e-3
    drive = control.friction_curve(slope=10.0, friction_voltage=0.5, limit=12.0)
    naive = control.VoltageTorqueCurve([-12.0, 12.0], [-120.0, 120.0])
    start = {"q": np.zeros(1), "duration": 1.0, "dt": dt, "record": 10}
    stuck = simulate(robot, through_drive(pd(goal, kp=100.0, kd=20.0), drive, table=naive), **start)
    np.testing.assert_array_equal(stuck.q, 0)  # kp e = 3 N m, friction 5 N m
    law = pid(robot, goal, kp=100.0, ki=200.0, kd=20.0, period=dt)
    freed = simulate(robot, through_drive(law, drive, table=naive), **start)
    assert freed.q[-1] > 0.01 and freed.state[1].integral.shape == (101, 1)


# --- all laws: compiled, eager, exported ------------------------------------------------------------------------------

CURVE = control.friction_curve(slope=10.0, friction_voltage=0.5, limit=12.0)
ALL = {
    "pd": pd(0.1 * np.ones(2), kp=100.0, kd=20.0 * np.ones(2), gravity=True),
    "pid": pid(ARM, np.zeros(2), kp=100.0, ki=10.0, kd=20.0, period=1e-3, limit=80.0, coriolis=True),
    "servo": servo(MOTOR, np.zeros(2), kp=3.0, kd=0.2, voltage_limit=24.0, gravity=True, coriolis=True),
    "drive": through_drive(pd(np.zeros(2), kp=100.0, kd=20.0), CURVE),
    "newton_euler": computed_torque(ARM, np.zeros(2), kp=100.0),
    "lagrange": computed_torque(ARM, np.zeros(2), kp=100.0, form="lagrange"),
    "diagonal": computed_torque(ARM, np.zeros(2), kp=100.0, form="diagonal"),
}


def instants(law, rows: int):
    """Some instants, and a state for those laws that have one."""
    q, v = np.random.default_rng(7).normal(size=(2, rows, 2))
    return q, v, Integral(0.01 * q) if isinstance(law.state, Integral) else law.state


@pytest.mark.parametrize("name", [name for name in ALL if name != "drive"])
def test_compiled_laws_equal_eager_ones(name):
    law = ALL[name]
    q, v, state = instants(law, 5)
    many = law(ARM, state, 0.0, q, v)
    p = SimpleNamespace(**dict(law.parts.options), **law.numbers)
    for k in range(5):
        own = None if state is None else Integral(state.integral[k])
        target = control.Target(law.reference, np.zeros(2), np.zeros(2))
        tau, new = law.parts.function(ARM, p, own, 0.0, q[k], v[k], target)
        np.testing.assert_allclose(many.tau[k], tau, rtol=0, atol=1e-12 * np.abs(tau).max())
        if own is not None:
            np.testing.assert_allclose(many.state.integral[k], new.integral, rtol=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_exported_c_equals_the_compiled_law(name, tmp_path):
    law = ALL[name]
    q, v, state = instants(law, 1)
    expected = law(ARM, state, 0.0, q, v)
    states = [] if not isinstance(state, Integral) else [state.integral[0]]
    args = [np.zeros(1), q[0], v[0], law.reference, np.zeros(2), np.zeros(2), *states, *law.numbers.values()]
    assert f"void {law.name}(" in law.source("c", ARM)
    found = run_c(law.kernel(ARM), args, tmp_path)
    scale = np.abs(expected.tau).max()
    np.testing.assert_allclose(found[0], expected.tau[0], rtol=0, atol=1e-12 * scale)
    if states:
        np.testing.assert_allclose(found[1], expected.state.integral[0], rtol=1e-14)


def test_the_same_law_made_twice_shares_its_machine_code():
    one, two = (computed_torque(PUMA, None, kp=kp) for kp in (100.0, 50.0))
    assert one.plan(PUMA) == two.plan(PUMA) and hash(one.plan(PUMA)) == hash(two.plan(PUMA))
    assert servo(MOTOR, None, kp=1.0).plan(PUMA) == servo(MOTOR, None, kp=2.0).plan(PUMA)


# --- bad input --------------------------------------------------------------------------------------------------------

GAINS = {"kp": 1.0, "ki": 1.0, "kd": 1.0}
BAD = [
    (lambda: pd(np.zeros(6), kp=-1.0), "pd: kp must be finite and positive or 0, got -1.0"),
    (lambda: pd(np.zeros(6), kp=[1.0, np.nan]), r"pd: kp must be finite and positive or 0, got nan at place 1"),
    (lambda: pd(np.zeros(6), kp=np.ones((2, 6))), r"pd: kp has shape \(2, 6\); it must be a number or \(nv,\)"),
    (lambda: pd(np.zeros(6), kp=1.0, rate="speed"), "pd: rate is 'speed'; it must be 'error' or 'output'"),
    (lambda: pd(np.zeros(6), kp=1.0, gravity=9.81), "pd: gravity must be True or False, got 9.81"),
    (lambda: pd(np.zeros(6), kp=1.0, model=3), "pd needs a Robot, got 3"),
    (lambda: pd(np.zeros(6), kp=np.ones(5))(PUMA, None, 0.0, np.zeros(6), np.zeros(6)), r"kp has shape \(5,\); robot"),
    (
        lambda: servo([MOTOR] * 5, np.zeros(6), kp=1.0)(PUMA, None, 0.0, np.zeros(6), np.zeros(6)),
        r"servo: resistance has shape \(5,\); robot 'puma560' needs a number or \(6,\)",
    ),
    (lambda: pid(PUMA, np.zeros(6), **GAINS, period=0.0), "pid: period must be a positive number, got 0.0"),
    (lambda: pid(PUMA, np.zeros(6), **GAINS, period=0.1, limit=0.0), "pid: limit must be finite and positive, got 0"),
    (lambda: pid(PUMA, np.zeros(6), **GAINS | {"ki": np.ones(5)}, period=0.1), r"pid: ki has shape \(5,\); .* \(6,\)"),
    (lambda: pid("puma", np.zeros(6), **GAINS, period=0.1), "pid needs a Robot, got 'puma'"),
    (lambda: servo(1.0, np.zeros(6), kp=1.0), "servo needs a Motor; got float"),
    (lambda: servo([MOTOR, 1.0], np.zeros(6), kp=1.0), "servo needs a Motor; got float"),
    (lambda: servo([], np.zeros(6), kp=1.0), "servo: several motors, one for each joint"),
    (lambda: servo(MOTOR, np.zeros(6), kp=1.0, voltage_limit=-1.0), "servo: voltage_limit must be finite and pos"),
    (lambda: servo(MOTOR, np.zeros(6), kp=1.0, back_emf=0.1), "servo: back_emf must be True or False"),
    (lambda: computed_torque(PUMA, None, kp=-1.0), "computed_torque: kp must be finite and positive or 0, got -1"),
    (lambda: computed_torque(PUMA, None, kp=np.ones(2)), r"computed_torque: kp has shape \(2,\); .* \(6,\)"),
    (lambda: computed_torque(PUMA, None, kp=1.0, form="full"), "form is 'full'; there are 'newton_euler', 'lagrange'"),
    (lambda: computed_torque(None, None, kp=1.0), "computed_torque needs a Robot, got None"),
    (lambda: through_drive(pd(np.zeros(6), kp=1.0), 3.0), "drive must be a VoltageTorqueCurve; got float"),
    (lambda: through_drive(pd(np.zeros(6), kp=1.0), CURVE, table=1.0), "table must be a VoltageTorqueCurve; got float"),
    (lambda: through_drive(3.0, CURVE), "needs a Law; got float"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_named(call, message):
    with pytest.raises(aj.ArgumentError, match=message):
        call()
