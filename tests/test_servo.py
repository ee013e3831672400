"""The DC motor and its servo: worked examples of the textbook, SciPy's linear systems, and simulated joints."""

import dataclasses

import numpy as np
import pytest
from scipy import linalg, signal

import adjoint as aj
from adjoint import control
from adjoint.control import Motor, loaded, servo, torque_drive, with_motors
from adjoint.control import servo_design as design
from adjoint.lie import inertia as inertias
from adjoint.simulation import force, simulate

# Derived example D9: R_a = 1, K_a = K_b = 0.05, n = 0.01, f_eff = 5e-4, J_0 = 4e-4, ω_0 = 50.
AT_REST = Motor(resistance=1.0, torque_constant=0.05, gear_ratio=0.01, friction=5e-4, inertia=4e-4)
HEAVY = dataclasses.replace(AT_REST, inertia=1e-3)
RESONANCE = {"resonance": 50.0, "at_inertia": 4e-4}
# The same joint in parts: rotor and load, whose sums are J_eff = 4e-4 and f_eff = 5e-4.
ROTOR = dataclasses.replace(AT_REST, inertia=1e-4, friction=3e-4)
LOAD_INERTIA, LOAD_FRICTION = 3.0, 2.0


def one_joint(inertia=LOAD_INERTIA, damping=0.0) -> aj.Robot:
    """A wheel with this inertia about its axis, without gravity."""
    body = inertias.from_central.eager(1.0, np.zeros(3), inertia * np.eye(3))
    builder = aj.Robot.builder("wheel", gravity=(0, 0, 0)).link("base").link("wheel", body)
    return builder.joint("axle", "revolute", "base", "wheel", axis=(0, 0, 1), damping=damping).build()


def random_motors(seed: int, shape=()) -> Motor:
    rng = np.random.default_rng(seed)
    low_high = {
        "resistance": (0.5, 3), "torque_constant": (0.02, 0.3), "gear_ratio": (0.005, 1), "friction": (1e-5, 1e-3),
        "inertia": (1e-4, 1e-3), "back_emf": (0.02, 0.3),
    }  # fmt: skip
    return Motor(**{k: rng.uniform(*x, shape) for k, x in low_high.items()})


# --- the textbook's numbers -------------------------------------------------------------------------------------------


def test_motor_constants_of_d9():
    np.testing.assert_allclose(control.motor_gain(AT_REST), 16.667, atol=5e-4)
    np.testing.assert_allclose(control.motor_time_constant(AT_REST), 0.13333, atol=5e-6)


def test_gain_bounds_of_d9():
    kp = design.largest_kp(AT_REST, **RESONANCE)
    np.testing.assert_allclose(kp, 5, rtol=1e-15)
    assert design.largest_kp(HEAVY, **RESONANCE) == kp  # the same for every load
    np.testing.assert_allclose(design.smallest_kd(AT_REST, kp), 0.34, rtol=1e-14)
    np.testing.assert_allclose(design.poles(design.closed_loop(AT_REST, kp, 0.34)), -25, rtol=1e-6)  # double: √eps
    omega_r = design.resonance(HEAVY.inertia, measured=50.0, at_inertia=4e-4)
    np.testing.assert_allclose(omega_r, 31.623, atol=5e-4)
    np.testing.assert_allclose(design.natural_frequency(HEAVY, kp), 15.811, atol=5e-4)
    np.testing.assert_allclose(design.natural_frequency(HEAVY, kp), omega_r / 2, rtol=1e-14)  # (5.3-39)
    np.testing.assert_allclose(design.smallest_kd(HEAVY, kp), 0.572456, atol=5e-7)
    np.testing.assert_allclose(design.damping_ratio(HEAVY, kp, 0.34), 0.6325, atol=5e-5)


def test_a_negative_bound_of_the_rate_gain_is_zero():
    """D9: the formula gives -0.168, since back-EMF alone damps the joint: ζ > 1 without any rate gain."""
    motor = Motor(resistance=1.6, torque_constant=0.26, friction=1.5e-4, inertia=3e-4)
    kp = design.largest_kp(motor, resonance=16 * np.pi, at_inertia=3e-4)
    formula = (1.6 * 16 * np.pi * 3e-4 - 1.6 * 1.5e-4 - 0.26**2) / 0.26  # (5.3-46), with J_eff = J_0
    np.testing.assert_allclose(formula, -0.168, atol=5e-4)
    assert design.smallest_kd(motor, kp) == 0
    assert design.damping_ratio(motor, kp, 0.0) > 1


def test_errors_that_stay_of_d9():
    np.testing.assert_allclose(design.step_error(AT_REST, 5.0, disturbance=0.02), 8e-4, rtol=1e-14)
    ramp = {"velocity": 0.5, "disturbance": 0.02}
    np.testing.assert_allclose(design.ramp_error(AT_REST, 5.0, 0.34, **ramp), 6.8e-3, rtol=1e-14)
    np.testing.assert_allclose(design.ramp_error(AT_REST, 5.0, 0.34, **ramp, rate="output"), 0.0408, rtol=1e-14)
    # (5.3-54): at the largest gain the error of a step is 4 n T_e / (ω_0² J_0)
    np.testing.assert_allclose(4 * 0.01 * 0.02 / (50**2 * 4e-4), 8e-4, rtol=1e-14)


def test_the_zero_lets_a_step_overshoot():
    """D9: 6.17 % in spite of ζ = 1; without the zero (Problem 5.1) there is no overshoot."""
    t = np.linspace(0, 1, 20001)
    _, with_zero = signal.step(design.closed_loop(AT_REST, 5.0, 0.34), T=t)
    _, without = signal.step(design.closed_loop(AT_REST, 5.0, 0.34, rate="output"), T=t)
    np.testing.assert_allclose(100 * (with_zero.max() - 1), 6.17, atol=5e-3)
    assert without.max() < 1 + 1e-9


def test_timing_of_the_puma_and_of_the_sampling_rule():
    assert 28 / 0.875 == 32  # W4: servo periods between two set points
    np.testing.assert_allclose(design.sampling_period(2 * np.pi * 4), 12.5e-3, rtol=1e-15)  # W8
    np.testing.assert_allclose(1 / 60, 16.67e-3, atol=5e-6)  # W8; the book's "16 ms"
    # 60 Hz admit natural frequencies up to 3 Hz by the rule: half of resonances of 6 Hz, of "5 to 10 Hz", (5.3-39)
    np.testing.assert_allclose(design.sampling_period(2 * np.pi * 3), 1 / 60, rtol=1e-14)


# --- transfer functions -----------------------------------------------------------------------------------------------


def state_space(motor: Motor) -> tuple:
    """θ_m, θ̇_m and the current, from the equations (5.3-13)-(5.3-16): a second formulation."""
    J, f, L, R = motor.inertia, motor.friction, motor.inductance, motor.resistance
    K, K_b = motor.torque_constant, motor.back_emf
    if L == 0:
        A, B = [[0, 1], [0, -(f + K * K_b / R) / J]], [[0], [K / (R * J)]]
    else:
        A, B = [[0, 1, 0], [0, -f / J, K / J], [0, -K_b / L, -R / L]], [[0], [0], [1 / L]]
    return np.array(A, float), np.array(B, float), np.eye(1, len(A)), np.zeros((1, 1))


@pytest.mark.parametrize("inductance", [0.0, 2e-3])
@pytest.mark.parametrize("seed", range(3))
def test_transfer_functions_are_those_of_the_equations(inductance, seed):
    motor = dataclasses.replace(random_motors(seed), inductance=inductance)
    A, B, C, D = state_space(motor)
    s = 1j * np.array([0.3, 5.0, 80.0])
    expected = np.array([(C @ np.linalg.solve(x * np.eye(len(A)) - A, B) + D).item() for x in s])

    def at(transfer):
        return np.polyval(transfer.numerator, s) / np.polyval(transfer.denominator, s)

    np.testing.assert_allclose(at(control.motor_transfer(motor)), expected, rtol=1e-12)
    np.testing.assert_allclose(at(control.joint_transfer(motor)), motor.gear_ratio * expected, rtol=1e-12)
    # Feedback of V_a = (kp + kd s) e / n
    kp, kd, n = 7.0, 0.2, motor.gear_ratio
    G = (kp + kd * s) / n * n * expected
    np.testing.assert_allclose(at(design.open_loop(motor, kp, kd)), G, rtol=1e-12)
    np.testing.assert_allclose(at(design.closed_loop(motor, kp, kd)), G / (1 + G), rtol=1e-12)
    # A torque D at the shaft is a voltage -(R + L s) D / K_a
    joint = n * expected / (1 + G)
    pushed = -joint * (motor.resistance + motor.inductance * s) / motor.torque_constant
    np.testing.assert_allclose(at(design.disturbance_transfer(motor, kp, kd)), pushed, rtol=1e-12)
    inner = expected / (1 + kd * s * expected)  # the rate of the output is fed back
    np.testing.assert_allclose(at(design.open_loop(motor, kp, kd, rate="output")), kp * inner, rtol=1e-12)
    closed = design.closed_loop(motor, kp, kd, rate="output")
    np.testing.assert_allclose(at(closed), kp * inner / (1 + kp * inner), rtol=1e-12)


def test_simple_forms_of_the_transfer_function():
    """K / (s (T_m s + 1)), (5.3-21)."""
    numerator, denominator = control.motor_transfer(AT_REST)
    scale = denominator[-2]
    np.testing.assert_allclose(numerator / scale, [control.motor_gain(AT_REST)], rtol=1e-14)
    np.testing.assert_allclose(denominator / scale, [control.motor_time_constant(AT_REST), 1, 0], rtol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_gains_give_the_poles_that_they_promise(seed):
    motor = random_motors(seed)
    kp = design.gain_for_frequency(motor, 30.0)
    np.testing.assert_allclose(design.natural_frequency(motor, kp), 30, rtol=1e-14)
    kd = design.smallest_kd(motor, kp) + 0.1
    zeta, found = design.damping_ratio(motor, kp, kd), design.poles(design.closed_loop(motor, kp, kd))
    np.testing.assert_allclose(np.prod(found).real, 30.0**2, rtol=1e-12)
    np.testing.assert_allclose(-np.sum(found).real, 2 * zeta * 30, rtol=1e-12)
    assert zeta > 1 and (np.imag(found) == 0).all() and (np.real(found) < 0).all()


def test_final_values_are_the_steady_state_errors():
    """The final value theorem on (5.3-47), with s → 0 taken numerically at s = 1e-7."""
    s = 1e-7
    for rate in ("error", "output"):
        closed, pushed = (
            design.closed_loop(AT_REST, 5.0, 0.34, rate=rate),
            design.disturbance_transfer(AT_REST, 5.0, 0.34),
        )
        G, H = (np.polyval(x.numerator, s) / np.polyval(x.denominator, s) for x in (closed, pushed))
        limit = s * ((1 - G) * 0.5 / s**2 - H * 0.02 / s)
        found = design.ramp_error(AT_REST, 5.0, 0.34, velocity=0.5, disturbance=0.02, rate=rate)
        np.testing.assert_allclose(found, limit, rtol=1e-4)


def test_arrays_of_motors_are_the_single_motors():
    motors, kp, kd = random_motors(0, (2, 3)), np.array([[2.0], [5.0]]), 0.3
    for k in np.ndindex(2, 3):
        fields = dataclasses.fields(Motor)
        one = Motor(**{f.name: np.broadcast_to(getattr(motors, f.name), (2, 3))[k] for f in fields})
        gain = kp[k[0], 0]
        for name in ("closed_loop", "open_loop", "disturbance_transfer"):
            many, single = getattr(design, name)(motors, kp, kd), getattr(design, name)(one, gain, kd)
            for x, y in zip(many, single, strict=True):
                np.testing.assert_array_equal(np.broadcast_to(x, (2, 3, x.shape[-1]))[k], y)
        roots = np.sort_complex(design.poles(design.closed_loop(one, gain, kd)))
        np.testing.assert_allclose(
            np.sort_complex(design.poles(design.closed_loop(motors, kp, kd))[k]), roots, rtol=1e-9
        )
        for name in ("smallest_kd", "natural_frequency"):
            assert getattr(design, name)(motors, kp)[k] == getattr(design, name)(one, gain)
        np.testing.assert_array_equal(
            design.sampled_poles(motors, kp, kd, period=1e-3)[k], design.sampled_poles(one, gain, kd, period=1e-3)
        )
        np.testing.assert_allclose(
            design.largest_period(motors, kp, kd)[k], design.largest_period(one, gain, kd), rtol=1e-14
        )


# --- the load, and the robot ------------------------------------------------------------------------------------------


def test_a_load_seen_at_the_motor_and_a_rotor_seen_at_the_joint():
    """J_eff = J_m + n² J_L, (5.3-13), and J_eff / n² = J_L + armature; the same for friction."""
    whole = loaded(ROTOR, LOAD_INERTIA, LOAD_FRICTION)
    np.testing.assert_allclose([whole.inertia, whole.friction], [4e-4, 5e-4], rtol=1e-14)
    robot = with_motors(one_joint(damping=LOAD_FRICTION), ROTOR)
    M = aj.mass_matrix(robot, np.zeros(1))
    np.testing.assert_allclose(M[0, 0] * ROTOR.gear_ratio**2, whole.inertia, rtol=1e-14)
    np.testing.assert_allclose(robot.damping[0] * ROTOR.gear_ratio**2, whole.friction, rtol=1e-14)
    braked = with_motors(one_joint(damping=LOAD_FRICTION), ROTOR, back_emf=True)
    with_emf = (5e-4 + 0.05**2 / 1.0) / 0.01**2
    np.testing.assert_allclose(braked.damping, with_emf, rtol=1e-14)


def test_torque_and_voltage_are_inverse():
    motor, rng = random_motors(4, (6,)), np.random.default_rng(0)
    tau, v = rng.normal(size=(2, 10, 6))
    voltage = control.joint_voltage(motor, tau, v)
    np.testing.assert_allclose(control.joint_torque(motor, voltage, v), tau, atol=1e-11)  # volts of up to 1e2, / n²
    stalled = control.joint_torque(motor, 1.0, 0.0)
    np.testing.assert_allclose(stalled, motor.torque_constant / (motor.resistance * motor.gear_ratio), rtol=1e-14)
    free = control.joint_torque(motor, motor.back_emf, motor.gear_ratio)  # 1 rad/s of the motor's shaft
    np.testing.assert_allclose(free, 0, atol=1e-13 * np.abs(stalled).max())


# --- simulated joints -------------------------------------------------------------------------------------------------


def simulated(law, *, duration=0.4, dt, v=0.0, robot=None, **options) -> np.ndarray:
    robot = robot or with_motors(one_joint(damping=LOAD_FRICTION), ROTOR)
    record = round(0.01 / dt)
    run = simulate(
        robot, law, q=np.zeros(1), v=[v], duration=duration, dt=dt, integrator="rk4", record=record, **options
    )
    return run.q[:, 0]


def assert_first_order(run, expected, omega, dt=1e-3):
    """A law that is held for dt differs from the continuous one by c dt + O(dt²); in units of 1/ω, c is of order 1.

    Halving dt halves the difference, up to a relative O(ω dt), and extrapolation leaves O((ω dt)²).
    """
    coarse, fine = run(dt) - expected, run(dt / 2) - expected
    scale = np.abs(expected).max()
    assert 0.01 * omega * dt * scale < np.abs(coarse).max() < 10 * omega * dt * scale
    np.testing.assert_allclose(np.abs(fine).max() / np.abs(coarse).max(), 0.5, atol=2 * omega * dt)
    np.testing.assert_allclose(2 * fine - coarse, 0, atol=5 * (omega * dt) ** 2 * scale)


@pytest.mark.parametrize(("kp", "kd"), [(5.0, 0.0), (5.0, 0.34), (5.0, 0.6)])
def test_a_simulated_servo_follows_the_transfer_function(kp, kd):
    """A constant reference has the rate 0: the loop is that of Problem 5.1, without a zero; P alone is (5.3-26)."""
    t = np.linspace(0, 0.4, 41)
    _, expected = signal.step(design.closed_loop(AT_REST, kp, kd, rate="output"), T=t)
    law = servo(ROTOR, np.ones(1), kp=kp, kd=kd)
    omega = design.natural_frequency(AT_REST, kp) * max(2 * float(design.damping_ratio(AT_REST, kp, kd)), 1)
    assert_first_order(lambda dt: simulated(law, dt=dt), expected, omega)


def test_a_simulated_servo_overshoots_after_the_kick_of_a_step():
    """(5.3-29) differentiates the step: the impulse K_v δ(t) throws the joint to θ̇ = K_a K_v / (R_a J_eff) at once."""
    t, kick = np.linspace(0, 0.4, 41), 0.05 * 0.34 / (1.0 * 4e-4)
    _, expected = signal.step(design.closed_loop(AT_REST, 5.0, 0.34), T=t)
    law = servo(ROTOR, np.ones(1), kp=5.0, kd=0.34)
    assert_first_order(lambda dt: simulated(law, dt=dt, v=kick), expected, 50.0)
    assert simulated(law, dt=1e-4, v=kick).max() > 1.06


@pytest.mark.parametrize(("rate", "final"), [("error", 6.8e-3), ("output", 0.0408)])
def test_a_simulated_ramp_leaves_the_error_of_the_formula(rate, final):
    """D9, with T_e = 0.02 N m at the shaft, which is T_e / n at the joint, against the motion."""
    law = servo(ROTOR, _ramp, kp=5.0, kd=0.34, rate=rate)
    push = force(lambda robot, p, t, q, v: p.torque * np.ones(1), torque=-0.02 / 0.01)
    q = simulated(law, dt=1e-3, duration=2.0, forces=push)
    np.testing.assert_allclose(0.5 * 2.0 - q[-1], final, rtol=1e-10)  # transients are e^-50; a held torque is constant


def _ramp(t):
    return np.stack([0.5 * t])


def test_a_batch_of_servos_is_the_single_ones():
    law, kp = servo(ROTOR, np.ones(1), kp=5.0, kd=0.34), np.array([2.0, 5.0, 9.0])
    robot = with_motors(one_joint(damping=LOAD_FRICTION), ROTOR)
    options = {"q": np.zeros(1), "duration": 0.1, "dt": 1e-3, "integrator": "rk4"}
    many = simulate(robot, law.replace(kp=kp), **options)
    for k in range(3):
        np.testing.assert_array_equal(many.q[k], simulate(robot, law.replace(kp=kp[k]), **options).q)


def test_saturation_of_the_voltage():
    """A large step: the motor runs at the limit's no-load speed n K V, (5.3-21), and arrives without further ado."""
    limit = 2.0
    law = servo(ROTOR, np.array([10.0]), kp=50.0, kd=0.34, voltage_limit=limit)
    robot = with_motors(one_joint(damping=LOAD_FRICTION), ROTOR)
    run = simulate(robot, law, q=np.zeros(1), duration=2.0, dt=1e-3, integrator="rk4")
    speed = 0.01 * control.motor_gain(AT_REST) * limit
    T_m = control.motor_time_constant(AT_REST)
    np.testing.assert_allclose(run.v[:, 0], speed * -np.expm1(-run.t / T_m), atol=speed * 1e-3 / T_m)  # held for dt


# --- the sampled servo ------------------------------------------------------------------------------------------------

CASES = {
    "critical": (torque_drive(2.0), 50.0, 20.0),
    "light": (torque_drive(2.0), 50.0, 1.0),
    "heavy": (torque_drive(2.0), 50.0, 90.0),
    "friction": (torque_drive(2.0, 3.0), 50.0, 20.0),
    "undamped feedback": (torque_drive(2.0, 3.0), 50.0, 0.0),
    "motor": (loaded(ROTOR, LOAD_INERTIA, LOAD_FRICTION), 5.0, 0.34),
    "P of a motor": (loaded(ROTOR, LOAD_INERTIA, LOAD_FRICTION), 5.0, 0.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("period", [1e-6, 1e-3, 0.02, 0.3])
def test_sampled_poles_are_those_of_a_zero_order_hold(name, period):
    """SciPy's discretisation, by a matrix exponential, is a second formulation."""
    motor, kp, kd = CASES[name]
    A, B, _, _ = state_space(motor)
    Phi = linalg.expm(np.block([[A, B], [np.zeros((1, 3))]]) * period)
    closed = Phi[:2, :2] - Phi[:2, 2:] @ np.array([[kp, kd]])
    found = design.sampled_poles(motor, kp, kd, period=period)
    scale = np.abs(closed).max()  # sums and products, as single poles near a double one are known to √eps only
    np.testing.assert_allclose(found.sum().real, np.trace(closed), rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found.prod().real, np.linalg.det(closed), rtol=0, atol=1e-11 * scale**2)


@pytest.mark.parametrize("name", CASES)
def test_the_largest_period_separates_stable_from_unstable(name):
    motor, kp, kd = CASES[name]
    T = design.largest_period(motor, kp, kd)
    radii = np.abs(design.sampled_poles(motor, kp, kd, period=T * np.array([1e-3, 0.3, 0.999, 1.001]))).max(axis=-1)
    assert (radii[:3] < 1).all() and radii[3] > 1


def test_the_largest_period_without_friction():
    """min(2 kd / kp, 2 J / kd), from Jury's conditions."""
    J, kp, kd = np.random.default_rng(0).uniform(0.5, 5, (3, 50))
    expected = np.minimum(2 * kd / kp, 2 * J / kd)
    np.testing.assert_allclose(design.largest_period(torque_drive(J), kp, kd), expected, rtol=1e-14)
    nearly = design.largest_period(torque_drive(J, 1e-9), kp, kd)  # the search, at no friction to speak of
    np.testing.assert_allclose(nearly, expected, rtol=1e-8)
    assert design.largest_period(torque_drive(1.0), 1.0, 0.0) == 0


@pytest.mark.parametrize("name", CASES)
def test_a_simulated_servo_is_stable_just_below_and_unstable_just_above(name):
    """The law of `simulate` is held for a step, as the theory assumes; back-EMF acts in between, so it is damping."""
    motor, kp, kd = CASES[name]
    robot = with_motors(one_joint().replace(inertias=np.zeros((1, 10))), motor, back_emf=True)
    law = servo(motor, np.zeros(1), kp=kp, kd=kd, back_emf=False)
    for factor in (0.97, 1.03):
        T = factor * float(design.largest_period(motor, kp, kd))
        q = simulate(robot, law, q=np.ones(1), duration=400 * T, dt=T, integrator="rk4").q[:, 0]
        # q obeys a linear recursion with the two poles. RK4 ends the series of the exact step at its fifth term, which
        # takes x³/120, x⁴/120 and x⁵/120 of what kp, kd and friction do in it; products of two such terms are below 4.
        x, J = robot.damping[0] / robot.armature[0] * T, motor.resistance * motor.inertia / motor.torque_constant
        cut = (x**3 * T * T * kp / J + x**4 * T * kd / J + x**5) / 120
        found = design.sampled_poles(motor, kp, kd, period=T)
        missed = q[2:] - found.sum().real * q[1:-1] + found.prod().real * q[:-2]
        assert (np.abs(missed) <= (4 * cut + 1e-13) * np.maximum.accumulate(np.abs(q))[2:]).all()
        first, last = np.abs(q[:50]).max(), np.abs(q[-50:]).max()
        assert (last < first) if factor < 1 else (last > first)


def test_margin_of_the_textbooks_rule():
    """At ζ = 1 the rule's period is π/10 of the largest, both poles stay real, and the slower is 24 % slower."""
    omega = 7.0
    joint, T = torque_drive(1.0), design.sampling_period(omega)
    np.testing.assert_allclose(design.largest_period(joint, omega**2, 2 * omega) / T, 10 / np.pi, rtol=1e-14)
    found = design.sampled_poles(joint, omega**2, 2 * omega, period=T)
    assert (np.imag(found) == 0).all()
    rates = -np.log(np.real(found)) / (T * omega)
    np.testing.assert_allclose(np.sort(rates), [0.76, 2.00], atol=5e-3)


def test_the_textbooks_rule_fails_for_stiff_damping():
    """The rule looks at ω_n alone, but the smallest time constant is about 1 / (2 ζ ω_n): ζ > 10/π is unstable."""
    omega, joint = 7.0, torque_drive(1.0)
    for zeta, stable in ((0.99 * np.pi / 40, False), (1.01 * np.pi / 40, True), (3.1, True), (3.3, False)):
        found = design.sampled_poles(joint, omega**2, 2 * zeta * omega, period=design.sampling_period(omega))
        assert bool(np.abs(found).max() < 1) is stable


def test_fast_sampling_is_the_continuous_servo():
    """z = e^(s T): the condition of Problem 5.4 is T far below the time constants; the difference falls as T."""
    exact = np.sort_complex(design.poles(design.closed_loop(AT_REST, 5.0, 0.6)))
    missed = []
    for T in (1e-4, 5e-5):
        z = design.sampled_poles(AT_REST, 5.0, 0.6, period=T)
        missed.append(np.abs(np.sort_complex(np.log(z) / T) - exact).max())
    np.testing.assert_allclose(missed[1] / missed[0], 0.5, atol=0.02)


# --- the curve from voltage to torque ---------------------------------------------------------------------------------


CURVE = control.friction_curve(slope=2.0, friction_voltage=1.0, limit=12.0, friction_torque=5.0, braking_slope=3.0)


def test_the_points_of_the_textbooks_curve():
    """Fig. 5.9: no torque at V_φ while moving on; F_φ at V_φ against the motion; flat beyond the limits."""
    torque = control.curve_torque
    assert torque(CURVE, 1.0, 0.3) == 0 and torque(CURVE, 1.0, -0.3) == 5
    assert torque(CURVE, -1.0, -0.3) == 0 and torque(CURVE, -1.0, 0.3) == -5
    np.testing.assert_allclose(torque(CURVE, [3.0, 12.0, 50.0], 1.0), [4, 22, 22], rtol=1e-15)
    np.testing.assert_allclose(torque(CURVE, [3.0, 12.0, 50.0], -1.0), [5 + 6, 5 + 33, 5 + 33], rtol=1e-15)


def test_a_joint_at_rest_stays_until_friction_is_overcome():
    V = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    np.testing.assert_allclose(control.curve_torque(CURVE, V, 0.0), [-4, 0, 0, 0, 0, 0, 4], atol=1e-15)


def test_dry_friction_alone():
    """By default F_φ is 2 k V_φ: τ = k V - k V_φ sgn(v)."""
    curve, rng = control.friction_curve(slope=2.0, friction_voltage=1.0, limit=12.0), np.random.default_rng(0)
    V, v = rng.uniform(-12, 12, 100), rng.normal(size=100)
    np.testing.assert_allclose(control.curve_torque(curve, V, v), 2 * V - 2 * np.sign(v), atol=1e-13)


def test_the_curve_and_its_inverse():
    rng = np.random.default_rng(1)
    tau, v = rng.uniform(-21, 21, 200), rng.choice([-1.0, 0.0, 1.0], 200)
    V = control.curve_voltage(CURVE, tau, v)
    np.testing.assert_allclose(control.curve_torque(CURVE, V, v), tau, atol=1e-13)
    assert control.curve_voltage(CURVE, 1e3, 1.0) == 12 and control.curve_voltage(CURVE, 0.0, 0.0) == 0


def test_a_curve_for_every_joint():
    curves = control.friction_curve(slope=np.array([1.0, 2.0]), friction_voltage=1.0, limit=12.0)
    assert curves.voltages.shape == (2, 4)
    for k, slope in enumerate((1.0, 2.0)):
        one = control.friction_curve(slope=slope, friction_voltage=1.0, limit=12.0)
        V, v = np.full((5, 2), 4.0), np.linspace(-1, 1, 10).reshape(5, 2)
        np.testing.assert_array_equal(control.curve_torque(curves, V, v)[:, k], control.curve_torque(one, V, v)[:, k])


# --- bad input --------------------------------------------------------------------------------------------------------

PLAIN = {"resistance": 1.0, "torque_constant": 0.05, "inertia": 1e-4}
NO_MOTOR = "needs a Motor; got float"
INDUCTIVE = dataclasses.replace(AT_REST, inductance=1e-3)
BAD = [
    (lambda: Motor(**PLAIN | {"resistance": 0.0}), "Motor: resistance is 0.0; it must be a finite number, positive"),
    (lambda: Motor(**PLAIN, friction=[0.0, -1.0]), r"Motor: friction\[1\] is -1.0; .* 0 or more"),
    (lambda: Motor(**PLAIN, gear_ratio=np.nan), "Motor: gear_ratio is nan"),
    (lambda: Motor(**PLAIN | {"inertia": "much"}), "Motor: inertia is 'much'"),
    (lambda: Motor(**PLAIN | {"inertia": [1, 2]}, friction=[1, 2, 3]), "shapes of its numbers do not match"),
    (lambda: loaded(AT_REST, -1.0), "loaded: inertia is -1.0"),
    (lambda: loaded(1.0), "loaded " + NO_MOTOR),
    (lambda: with_motors(1.0, AT_REST), "with_motors needs a Robot"),
    (lambda: with_motors(one_joint(), 1.0), "with_motors " + NO_MOTOR),
    (lambda: design.closed_loop(1.0, 1.0), "open_loop " + NO_MOTOR),
    (lambda: design.closed_loop(AT_REST, 0.0), "open_loop: kp is 0.0; it must be a finite number, positive"),
    (lambda: design.closed_loop(AT_REST, 1.0, -1.0), "open_loop: kd is -1.0"),
    (lambda: design.closed_loop(AT_REST, 1.0, rate="speed"), "rate is 'speed'; it must be one of 'error', 'output'"),
    (lambda: design.poles(([1.0], [0.0, 1.0])), "poles: the first coefficient"),
    (lambda: design.step_error(AT_REST, 1.0, disturbance=np.inf), "step_error: disturbance must be finite"),
    (lambda: design.sampling_period(0.0), "sampling_period: frequency is 0.0"),
    (lambda: design.sampled_poles(AT_REST, 1.0, period=-1.0), "sampled_poles: period is -1.0"),
    (lambda: design.largest_period(INDUCTIVE, 1.0, 1.0), "leaves .* inductance out"),
    (lambda: servo(INDUCTIVE, np.ones(1), kp=1.0), "leaves .* inductance out"),
    (lambda: control.VoltageTorqueCurve([1.0, 0.0], [0.0, 1.0]), "voltages must be two or more .* that increase"),
    (lambda: control.VoltageTorqueCurve([0.0, 1.0], [0.0, 1.0, 2.0]), r"shape \(2,\), torques \(3,\)"),
    (lambda: control.VoltageTorqueCurve(1.0, 2.0), "voltages must be two or more"),
    (lambda: control.friction_curve(slope=1.0, friction_voltage=2.0, limit=1.0), "limit must be above"),
    (lambda: control.friction_curve(slope=-1.0, friction_voltage=2.0, limit=1.0), "friction_curve: slope is -1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_named(call, message):
    with pytest.raises(aj.AdjointError, match=message) as found:
        call()
    assert type(found.value) is aj.ArgumentError
