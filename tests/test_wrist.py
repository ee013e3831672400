"""Force sensors: gauges and wrenches (X8), calibration, what a wrist carries, payloads, and runs."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.control import Motor, joint_torque
from adjoint.errors import AdjointError, ArgumentError, SolveError
from adjoint.lie import inertia, se3, so3
from adjoint.sensing.joint_current import current_torque, current_torque_sigma, torque_current
from adjoint.sensing.noise import Noise, noisy
from adjoint.sensing.payloads import identify_payload, payload_regressor
from adjoint.sensing.tool_loads import pedestal_wrench, sensor_motion, tool_wrench
from adjoint.sensing.wrist_calibration import calibrate_wrist
from adjoint.sensing.wrist_gauges import (
    WristSensor,
    cross_bar_sensor,
    gauge_readings,
    gauge_sensor,
    resolved_force_matrix,
    resolved_wrench,
    resolved_wrench_covariance,
    tared,
    wrench_from_textbook,
    wrench_to_textbook,
    wrist_sensor_from_textbook,
)
from adjoint.sensing.wrist_runs import wrist_readings
from adjoint.simulation import applied, contact, moving_base, payload, plane, simulate

PUMA = aj.robots.puma560()
CROSS = cross_bar_sensor(lever=0.05, gain=100.0)


# --- gauges -----------------------------------------------------------------------------------------------------------


def test_resolved_force_matrix_has_the_textbooks_zeros():
    """(6.5-3) and X8: which gauges count for which component, and with which sign."""
    R_F = resolved_force_matrix(CROSS)
    rows = {  # numbers of gauges, from 1, with their signs
        "Fx": (3, -7), "Fy": (1, -5), "Fz": (2, 4, 6, 8), "Mx": (4, -8), "My": (6, -2), "Mz": (1, 3, 5, 7),
    }  # fmt: skip
    want = np.zeros((6, 8))
    for row, gauges in zip(want, rows.values(), strict=True):
        for k in gauges:
            row[abs(k) - 1] = np.sign(k)
    want[:3] *= 100
    want[3:] *= 100 * 0.05
    np.testing.assert_allclose(R_F, want, atol=1e-15)
    assert np.count_nonzero(want) == 16 and np.linalg.matrix_rank(R_F) == 6


def test_the_fixture_of_the_wrist():
    """X8: F = (10, -5, 20, .3, -.2, .1) in the textbook's order, and the readings of least norm."""
    F = wrench_from_textbook([10, -5, 20, 0.3, -0.2, 0.1])
    assert F.tolist() == [0.3, -0.2, 0.1, 10, -5, 20]
    w = [-0.02, 0.07, 0.055, 0.08, 0.03, 0.03, -0.045, 0.02]
    np.testing.assert_allclose(gauge_readings(CROSS, F), w, atol=1e-15)
    np.testing.assert_allclose(resolved_wrench(CROSS, w), F, atol=1e-13)
    np.testing.assert_allclose(resolved_force_matrix(CROSS) @ w, wrench_to_textbook(F), atol=1e-13)


def test_what_the_pseudoinverse_can_and_cannot_do():
    """R_F R* = 1 (6, 6); the textbook's R* R_F ≈ 1 (8, 8), (6.5-5), is missed by √2."""
    R, S = CROSS.matrix, CROSS.sensitivity
    np.testing.assert_allclose(R @ S, np.eye(6), atol=1e-14)
    assert np.linalg.norm(S @ R - np.eye(8)) == pytest.approx(np.sqrt(2), rel=1e-13)


def test_gauges_feel_forces_at_their_places():
    rng = np.random.default_rng(0)
    points, directions = rng.normal(size=(2, 12, 3))
    sensor = gauge_sensor(points, directions, gain=rng.uniform(1, 2, 12), offset=rng.normal(size=12))
    F = rng.normal(size=(50, 6))
    np.testing.assert_allclose(resolved_wrench(sensor, gauge_readings(sensor, F)), F, atol=1e-11)
    # A reading of one gauge alone is a force at its place.
    unit = directions[3] / np.linalg.norm(directions[3])
    alone = resolved_wrench(sensor, sensor.offset + np.eye(12)[3])
    force = alone[3:]
    np.testing.assert_allclose(np.cross(force, unit), 0, atol=1e-14)
    np.testing.assert_allclose(alone[:3], np.cross(points[3], force), atol=1e-14)


def test_covariance_of_a_wrench_is_that_of_samples():
    """Variances of 20 000 samples are good to 1 %."""
    sensor = CROSS.replace(noise=Noise(sigma=2e-3))
    w = noisy(np.tile(gauge_readings(sensor, np.ones(6)), (20_000, 1)), sensor.noise, rng=0)
    got, want = np.cov(resolved_wrench(sensor, w).T), resolved_wrench_covariance(sensor)
    scale = np.sqrt(np.outer(want.diagonal(), want.diagonal()))
    assert np.abs((got - want) / scale).max() < 0.05
    np.testing.assert_allclose(resolved_wrench_covariance(sensor, sigma=np.full(8, 2e-3)), want)


def test_textbook_order_and_back():
    x = np.random.default_rng(0).normal(size=(5, 6))
    assert np.array_equal(wrench_to_textbook(wrench_from_textbook(x)), x)
    assert wrist_sensor_from_textbook(resolved_force_matrix(CROSS)) == CROSS


def test_tare_and_change_of_tools():
    """Problem 6.11: a new gripper changes what is subtracted, not the matrix."""
    rng = np.random.default_rng(0)
    sensor = cross_bar_sensor(offset=rng.normal(size=8))
    hanging, touched = np.array([0.1, 0, 0, 0, 0, -12.0]), np.array([0, 0, 0, 3.0, 0, 1.0])
    w = noisy(np.tile(gauge_readings(sensor, hanging), (400, 1)), Noise(sigma=1e-3), rng=1)
    zeroed = tared(CROSS, w)
    found = resolved_wrench(zeroed, gauge_readings(sensor, hanging + touched))
    assert np.array_equal(zeroed.matrix, CROSS.matrix)
    np.testing.assert_allclose(found, touched, atol=5 * 0.2 / np.sqrt(400))
    own = tared(CROSS, w, wrench=hanging)  # the tool's weight is known: the offset of the gauges alone is left
    np.testing.assert_allclose(own.offset, sensor.offset, atol=5e-3 / np.sqrt(400))
    np.testing.assert_allclose(
        resolved_wrench(own, gauge_readings(sensor, hanging + touched)), hanging + touched, atol=0.05
    )


def test_bad_wrist_sensors():
    with pytest.raises(ArgumentError, match="rank below 6"):
        WristSensor(np.ones((6, 8)))
    with pytest.raises(ArgumentError, match=r"matrix must be numbers of shape \(6, n\)"):
        WristSensor(np.ones((5, 8)))
    with pytest.raises(ArgumentError, match="offset has 7 numbers; matrix has 8 gauges"):
        cross_bar_sensor(offset=np.zeros(7))
    with pytest.raises(ArgumentError, match=r"\(\.\.\., 8\) is needed"):
        resolved_wrench(CROSS, np.zeros(7))
    with pytest.raises(ArgumentError, match="lever must be a positive number"):
        cross_bar_sensor(lever=0)
    with pytest.raises(ArgumentError, match=r"both must be \(n, 3\)"):
        gauge_sensor(np.zeros((6, 3)), np.zeros((5, 3)))
    with pytest.raises(ArgumentError, match="tared: 'readings'"):
        tared(CROSS, np.full(8, np.nan))
    with pytest.raises(ArgumentError, match="'wrench'"):
        tared(CROSS, np.zeros(8), wrench=np.zeros((2, 6)))


# --- calibration ------------------------------------------------------------------------------------------------------


def loads(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 6)) * [1, 1, 1, 20, 20, 20]


def coupled(seed=0):
    """A sensor with 5 % of coupling between all gauges, and offsets."""
    rng = np.random.default_rng(seed)
    S = CROSS.sensitivity * (1 + 0.05 * rng.normal(size=(8, 6))) + 0.05 * np.abs(CROSS.sensitivity).max(
        axis=0
    ) * rng.normal(size=(8, 6))
    return WristSensor(np.linalg.pinv(S), 0.1 * rng.normal(size=8))


def test_calibration_finds_all_48_numbers():
    true, F = coupled(), loads(7)
    found = calibrate_wrist(F, gauge_readings(true, F))
    np.testing.assert_allclose(found.sensor.matrix, true.matrix, atol=1e-11 * np.abs(true.matrix).max())
    np.testing.assert_allclose(found.sensor.offset, true.offset, atol=1e-13)
    np.testing.assert_allclose(found.sensor.matrix @ found.sensitivity, np.eye(6), atol=1e-13)
    assert np.isnan(found.gauge_sigma).all()  # seven loads leave nothing over to tell the noise
    assert np.count_nonzero(np.abs(found.sensor.matrix) > 1e-6) == 48
    known = calibrate_wrist(F[:6], gauge_readings(true, F[:6]), offset=true.offset)
    np.testing.assert_allclose(known.sensor.matrix, true.matrix, atol=1e-10 * np.abs(true.matrix).max())
    tareless = gauge_readings(true.replace(offset=np.zeros(8)), F[:6])
    np.testing.assert_allclose(calibrate_wrist(F[:6], tareless, fit_offset=False).sensor.matrix, true.matrix, atol=1e-9)


def test_calibration_is_the_textbooks_least_squares():
    """(6.5-4) to (6.5-8) as printed, with more loads than needed, and noise."""
    true, F = coupled().replace(offset=np.zeros(8)), loads(20)
    W = noisy(gauge_readings(true, F), Noise(sigma=1e-3), rng=0)
    R_star = W.T @ np.linalg.pinv(F.T)
    R_F = np.linalg.inv(R_star.T @ R_star) @ R_star.T
    np.testing.assert_allclose(calibrate_wrist(F, W, fit_offset=False).sensor.matrix, R_F, atol=1e-9)


def test_errors_of_a_calibration_are_those_that_it_states():
    """400 calibrations: squared errors in units of the stated covariance have the mean 6, within 5 · √(12/400)."""
    true, F, rng = coupled(), loads(40), np.random.default_rng(1)
    clean, test = gauge_readings(true, F), np.array([0.5, -0.3, 0.2, 10.0, 5, -20])
    squares, sigmas = [], []
    for _ in range(400):
        found = calibrate_wrist(F, clean + 2e-3 * rng.normal(size=clean.shape))
        w = gauge_readings(true, test) + 2e-3 * rng.normal(size=8)
        error = resolved_wrench.eager(found.sensor, w) - test
        squares.append(error @ np.linalg.solve(found.wrench_covariance(test), error))
        sigmas.append(found.gauge_sigma)
    assert abs(np.mean(sigmas) / 2e-3 - 1) < 0.02
    assert abs(np.mean(squares) - 6) < 1.0
    assert "standard errors" in str(found) and "from 40 loads" in repr(found)


def test_missing_loads_are_named():
    weights = np.diag([1, 1, 1, 20.0, 20, 0])
    with pytest.raises(SolveError, match=r"5 of 6 .* are 0 in all loads: force z"):
        calibrate_wrist(weights, gauge_readings(CROSS, weights), fit_offset=False)
    rng = np.random.default_rng(0)
    F = rng.normal(size=(20, 3))
    hung = np.concatenate([np.cross([0, 0, 0.1], F), F], axis=1)  # all weights hang at one point
    with pytest.raises(SolveError, match=r"3 of 6 .*moment z, ") as error:
        calibrate_wrist(hung, gauge_readings(CROSS, hung))
    assert "moment y - 0.1 force x" in str(error.value) and "moment x + 0.1 force y" in str(error.value)
    with pytest.raises(SolveError, match="0 of 6"):
        calibrate_wrist(np.ones((9, 6)), np.ones((9, 8)))
    few = loads(5)
    with pytest.raises(SolveError, match="4 of 6"):
        calibrate_wrist(few, gauge_readings(CROSS, few))
    weak = loads(20)
    weak[:, 5] *= 0.01
    found = calibrate_wrist(weak, gauge_readings(CROSS, weak))
    assert len(found.weak) == 1 and "force z" in found.weak[0] and "WARNING" in str(found)
    assert calibrate_wrist(loads(20), gauge_readings(CROSS, loads(20))).weak == ()


def test_bad_calibrations():
    with pytest.raises(ArgumentError, match=r"\(k, 6\) and \(k, n\)"):
        calibrate_wrist(loads(8), np.zeros((7, 8)))
    with pytest.raises(ArgumentError, match="finite"):
        calibrate_wrist(np.full((8, 6), np.nan), np.zeros((8, 8)))
    with pytest.raises(ArgumentError, match="fit_offset must be True or False"):
        calibrate_wrist(loads(8), np.zeros((8, 8)), fit_offset="yes")  # type: ignore[arg-type]


# --- joints -----------------------------------------------------------------------------------------------------------


def test_current_of_a_motor_tells_its_torque():
    motor = Motor(resistance=2.0, torque_constant=0.05, inertia=4e-4, friction=1e-3, gear_ratio=0.01)
    i, v, a = 1.5, 0.7, -2.0
    volts = motor.resistance * i + motor.back_emf * v / motor.gear_ratio
    drive = joint_torque(motor, volts, v)  # of (5.3-14)-(5.3-16): without what the rotor takes
    assert current_torque(motor, i) == pytest.approx(drive, rel=1e-13)
    taken = motor.inertia / motor.gear_ratio**2 * a + motor.friction / motor.gear_ratio**2 * v
    assert current_torque(motor, i, v, a) == pytest.approx(drive - taken, rel=1e-13)
    assert torque_current(motor, current_torque(motor, i, v, a), v, a) == pytest.approx(i, rel=1e-13)
    assert current_torque_sigma(motor, 0.1) == pytest.approx(0.5)
    with pytest.raises(ArgumentError, match="needs a Motor; got float"):
        current_torque(1.0, 1.0)  # type: ignore[arg-type]


# --- what a wrist carries ---------------------------------------------------------------------------------------------


def states(robot, n=5, seed=0):
    rng = np.random.default_rng(seed)
    return aj.random_configuration(robot, n, rng=rng), *rng.normal(size=(2, n, robot.nv))


def branched():
    """A body with a gripper of two fingers, on an arm, with a sensor frame that is askew on the gripper."""
    rng = np.random.default_rng(3)
    builder = aj.Robot.builder("gripper", gravity=(0.3, -0.2, -9.7)).link("ground", inertia.box(5.0, [0.2, 0.2, 0.1]))
    parents = {"upper": "ground", "hand": "upper", "finger1": "hand", "finger2": "hand"}
    for name, parent in parents.items():
        own = inertia.transform(se3.exp(0.3 * rng.normal(size=6)), inertia.box(1.0, [0.1, 0.2, 0.3]))
        kind = "prismatic" if name.startswith("finger") else "revolute"
        builder.link(name, own).joint(f"to {name}", kind, parent, name, se3.exp(0.4 * rng.normal(size=6)))
    builder.frame("sensor", "hand", se3.exp([0.2, 0.4, -0.3, 0.1, 0.05, 0.2]))
    builder.frame("foot", "ground", se3.exp([0.5, 0.1, 0.3, 0.1, 0.2, -0.1]))
    return builder.build()


GRIPPER = branched()


@pytest.mark.parametrize(
    ("robot", "frame"), [(PUMA, "tool"), (PUMA, "link4"), (GRIPPER, "sensor"), (GRIPPER, "finger2")]
)
def test_tool_wrench_is_what_joint_torques_say(robot, frame):
    """Inverse dynamics with and without all that is beyond the sensor differ by -Jᵀ times the wrench."""
    q, v, a = states(robot)
    body = robot.frame(frame).body
    beyond = [i for i in range(len(robot.body_names)) if body in robot.path(i)]
    bare = robot.inertias.copy()
    bare[beyond] = 0
    without = robot.replace(inertias=bare)
    J = aj.jacobian(robot, q, frame)
    F = tool_wrench(robot, q, v, a, frame)
    change = aj.inverse_dynamics(robot, q, v, a) - aj.inverse_dynamics(without, q, v, a)
    inner = [robot.layout.v_start[i] for i in robot.path(body)]  # joints beyond the sensor drive what they carry
    want = -np.einsum("nij,ni->nj", J, F)
    np.testing.assert_allclose(change[:, inner], want[:, inner], atol=1e-11)


def test_tool_wrench_is_the_wrench_in_the_joint():
    q, v, a = states(PUMA)
    in_joint = aj.dynamics.body_motions_and_wrenches(PUMA, q, v, a).wrenches[:, 5]
    np.testing.assert_allclose(tool_wrench(PUMA, q, v, a, "link6"), -in_joint, atol=1e-12)


def test_a_tool_that_is_a_part_of_its_body():
    """With a payload on the hand and the sensor between both, the sensor feels the payload, and the fingers."""
    q, v, a = states(GRIPPER)
    tool = inertia.transform(se3.exp([0.1, 0.2, 0.3, 0.01, 0.02, 0.1]), inertia.box(0.7, [0.02, 0.05, 0.1]))
    loaded = GRIPPER.with_payload("sensor", tool)
    with_tool = tool_wrench(loaded, q, v, a, "sensor", tool=tool)
    hand = GRIPPER.frame("sensor").body
    massless = GRIPPER.inertias.copy()
    massless[hand] = 0
    alone = GRIPPER.replace(inertias=massless)
    np.testing.assert_allclose(
        with_tool, tool_wrench(alone.with_payload("sensor", tool), q, v, a, "sensor"), atol=1e-12
    )
    # With fingers apart from it, it is the regressor of a payload.
    motion = sensor_motion(PUMA, *states(PUMA), "tool")
    Y = payload_regressor(*motion)
    np.testing.assert_allclose(Y @ tool, tool_wrench(PUMA, *states(PUMA), "tool", tool=tool), atol=1e-12)


def test_weight_at_rest():
    q = states(PUMA)[0]
    zero = np.zeros(6)
    F = tool_wrench(PUMA, q, zero, zero, "tool")
    R = aj.forward_kinematics(PUMA, q, "tool")[:, :3, :3]
    weight = PUMA.inertias[-1, 0] * PUMA.gravity
    np.testing.assert_allclose(np.einsum("nij,nj->ni", R, F[:, 3:]), np.broadcast_to(weight, (5, 3)), atol=1e-12)
    moon = tool_wrench(PUMA, q, zero, zero, "tool", gravity=[0, 0, -1.62])
    np.testing.assert_allclose(np.linalg.norm(moon[:, 3:], axis=1), PUMA.inertias[-1, 0] * 1.62, rtol=1e-12)


def test_free_fall_is_weightless():
    """A sensor whose base falls with gravity, all joints at rest, carries nothing."""
    q = states(GRIPPER)[0]
    zero = np.zeros(GRIPPER.nv)
    fall = np.concatenate([np.zeros(3), GRIPPER.gravity])
    for frame in ("sensor", "foot"):
        F = tool_wrench(GRIPPER, q, zero, zero, frame, base_acceleration=fall)
        np.testing.assert_allclose(F, 0, atol=1e-12)


def test_a_pedestal_carries_the_robot():
    """At rest: the weight at the centre of mass. In motion: the wrench of a free joint under the whole robot."""
    q, v, a = states(GRIPPER)
    zero = np.zeros(GRIPPER.nv)
    F = pedestal_wrench(GRIPPER, q, zero, zero)
    # `mass` and `center_of_mass` are those of the moving bodies; the base stands on the sensor, too.
    arm, ground = GRIPPER.mass * GRIPPER.gravity, inertia.central(GRIPPER.base_inertia)
    base = ground.mass * GRIPPER.gravity
    want = np.cross(aj.center_of_mass(GRIPPER, q), arm) + np.cross(ground.com, base)
    assert ground.mass == pytest.approx(5.0)
    np.testing.assert_allclose(F[:, 3:], np.broadcast_to(arm + base, (5, 3)), rtol=1e-12)
    np.testing.assert_allclose(F[:, :3], want, atol=1e-11)

    rng = np.random.default_rng(0)
    V, dV, W = rng.normal(size=(3, 6))
    options = {
        "base_twist": V,
        "base_acceleration": dV,
        "applied_wrenches": np.stack([W, -W]),
        "frames": ("sensor", "foot"),
    }
    F = pedestal_wrench(GRIPPER, q, v, a, **options)
    builder = aj.Robot.builder("free", gravity=GRIPPER.gravity).link("space").link("ground", GRIPPER.base_inertia)
    builder.joint("free", "free", "space", "ground")
    for i, name in enumerate(GRIPPER.body_names):
        parent = GRIPPER.body_names[GRIPPER.parents[i]] if GRIPPER.parents[i] >= 0 else "ground"
        builder.link(name, GRIPPER.inertias[i])
        builder.joint(f"to {name}", GRIPPER.joint_types[i], parent, name, GRIPPER.placements[i], axis=_axis(GRIPPER, i))
    for name in ("sensor", "foot"):
        spot = GRIPPER.frame(name)
        builder.frame(name, GRIPPER.body_names[spot.body] if spot.body >= 0 else "ground", spot.placement)
    free = builder.build()
    at = np.concatenate([np.broadcast_to([0, 0, 0, 1.0, 0, 0, 0], (5, 7)), q], axis=1)
    rates = (
        np.concatenate([np.broadcast_to(V, (5, 6)), v], axis=1),
        np.concatenate([np.broadcast_to(dV, (5, 6)), a], axis=1),
    )
    loaded = {k: options[k] for k in ("applied_wrenches", "frames")}
    np.testing.assert_allclose(F, -aj.inverse_dynamics(free, at, *rates, **loaded)[:, :6], atol=1e-10)
    turned = tool_wrench(GRIPPER, q, v, a, "foot", **options)
    np.testing.assert_allclose(turned, se3.coAd_action(GRIPPER.frame("foot").placement, F), atol=1e-10)


def _axis(robot, i):
    S = robot.screw(i)[0]
    return S[:3] if robot.joint_types[i] == "revolute" else S[3:]


def test_frames_that_are_not_there():
    zero = np.zeros(6)
    with pytest.raises(AdjointError, match="has no frame 'wrist'"):
        tool_wrench(PUMA, zero, zero, zero, "wrist")


# --- payloads ---------------------------------------------------------------------------------------------------------

TOOL = inertia.transform(se3.exp([0.3, 0.2, 0.1, 0.01, 0.02, 0.08]), inertia.box(1.5, [0.05, 0.1, 0.2]))


def moved(n=60, seed=0):
    rng = np.random.default_rng(seed)
    g = 9.81 * so3.exp(rng.normal(size=(n, 3)))[:, 2]
    return g, rng.normal(size=(n, 6)), 5 * rng.normal(size=(n, 6))


def test_regressor_of_a_payload_is_newton_and_euler():
    g, V, dV = moved()
    J = inertia.matrix(TOOL)
    still = dV - np.concatenate([np.zeros_like(g), g], axis=1)
    got = payload_regressor(g, V, dV) @ TOOL
    h = V @ J.T  # F = J (V̇ - γ) - ad(V)ᵀ J V
    adT = np.array([se3.ad(x).T @ y for x, y in zip(V, h, strict=True)])
    np.testing.assert_allclose(got, -(still @ J.T - adT), atol=1e-11)


def test_all_ten_numbers_of_a_payload():
    g, V, dV = moved()
    offset = np.array([0.1, 0.2, 0.3, 1, 2, 3.0])
    found = identify_payload(payload_regressor(g, V, dV) @ TOOL + offset, g, twists=V, accelerations=dV)
    np.testing.assert_allclose(found.inertia, TOOL, atol=1e-12)
    np.testing.assert_allclose(found.offset, offset, atol=1e-11)
    assert found.unseen == () and found.physical and found.seen.all()
    assert found.mass == pytest.approx(1.5) and np.allclose(found.center, TOOL[1:4] / 1.5)


@pytest.mark.slow
def test_errors_of_a_payload_are_those_that_it_states():
    """100 recordings: squared errors in units of the stated covariance have the mean 10, within 5 · √(20/100)."""
    g, V, dV = moved(40)
    clean, rng = payload_regressor(g, V, dV) @ TOOL, np.random.default_rng(1)
    squares = []
    for _ in range(100):
        noise = rng.normal(size=clean.shape) * np.repeat([0.01, 0.1], 3)
        found = identify_payload(clean + noise, g, twists=V, accelerations=dV)
        error = found.estimate - TOOL
        squares.append(error @ np.linalg.solve(found.covariance, error))
        assert np.all(np.abs(found.noise / [0.01, 0.1] - 1) < 0.35)
    assert abs(np.mean(squares) - 10) < 2.2
    given = identify_payload(clean + noise, g, twists=V, accelerations=dV, noise=(0.01, 0.1))
    assert given.noise.tolist() == [0.01, 0.1]


def test_poses_at_rest_show_mass_and_centre_only():
    g = moved()[0]
    clean = payload_regressor(g, np.zeros(6), np.zeros(6)) @ TOOL
    found = identify_payload(clean, g)
    assert set(found.unseen) == {"Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"}
    assert "at rest: mass and centre only" in str(found) and "6 combinations not seen" in repr(found)
    assert found.mass == pytest.approx(1.5, rel=1e-12)
    np.testing.assert_allclose(found.center, TOOL[1:4] / 1.5, atol=1e-12)
    about_com = inertia.central(found.inertia).inertia
    np.testing.assert_allclose(about_com, 0, atol=1e-12)  # of a point mass
    np.testing.assert_allclose(found.estimate[4:], 0, atol=0)
    np.testing.assert_allclose(PUMA.with_payload("tool", found.inertia).inertias[-1, 0], PUMA.inertias[-1, 0] + 1.5)
    one = identify_payload(clean[:1], g[:1], fit_offset=False)  # the centre along gravity is not seen either
    assert one.mass == pytest.approx(1.5) and len(one.unseen) == 7 and "h" in one.unseen[-1]
    with pytest.raises(SolveError, match="do not show the mass: poses of the sensor must differ"):
        identify_payload(clean[:1], g[:1])


def test_noisy_payloads_can_exist():
    g, V, dV = moved(30, seed=2)
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(5):
        noise = rng.normal(size=(30, 6)) * np.repeat([0.3, 0.1], 3)
        found = identify_payload(payload_regressor(g, V, dV) @ TOOL + noise, g, twists=V, accelerations=dV)
        assert inertia.faults(found.inertia) == []
        seen.append(found.physical)
        assert found.mass == pytest.approx(1.5, rel=0.03)
        if not found.physical:
            assert inertia.faults(found.estimate) and "nearest that can" in str(found)
    assert not all(seen)


def test_bad_payloads():
    g, V, dV = moved(8)
    clean = payload_regressor(g, V, dV) @ TOOL
    with pytest.raises(ArgumentError, match="one row for each sample; got wrenches"):
        identify_payload(clean, g[:5])
    with pytest.raises(ArgumentError, match="finite"):
        identify_payload(np.full((8, 6), np.nan), g)
    with pytest.raises(SolveError, match="are signs right"):
        identify_payload(-clean, g, twists=V, accelerations=dV)
    with pytest.raises(ArgumentError, match="two positive numbers"):
        identify_payload(clean, g, noise=(0.0, 1.0))
    with pytest.raises(SolveError, match="free fall"):
        identify_payload(np.zeros((3, 6)), np.zeros((3, 3)), fit_offset=False)
    few = identify_payload(clean[:2], g[:2], twists=V[:2], accelerations=dV[:2], fit_offset=False)
    assert np.isfinite(few.inertia).all()


# --- runs -------------------------------------------------------------------------------------------------------------

Q = np.array([0.0, -1.2, -3.0, 0.0, 4.2 - 1.5 * np.pi, 0.0])


def held(**options):
    tool = aj.forward_kinematics(PUMA, Q, "tool")[:3, 3]
    wall = contact("tool", plane(tool - 0.01 * np.eye(3)[2]), stiffness=1e4)
    push = applied("tool", [0.1, 0, 0, 5.0, 1, 2], axes="world", start=0.05)
    return simulate(
        PUMA, aj.control.pd(Q, kp=200.0, kd=20.0), q=Q, duration=0.2, dt=1e-3, record=10, forces=[wall, push], **options
    )


@pytest.mark.slow
def test_wrist_of_a_run_minus_its_tool_is_what_touches_it():
    run = held()
    found = wrist_readings(run, "tool", CROSS.replace(noise=Noise(sigma=1e-4)), rng=0)
    outside = found.carried - tool_wrench(PUMA, run.q, run.v, run.a, "tool")
    np.testing.assert_allclose(outside, run.wrench("tool"), atol=1e-11)
    assert np.abs(run.wrench("tool")).max() > 10
    spread = np.sqrt(resolved_wrench_covariance(CROSS, sigma=1e-4).diagonal())
    error = (found.measured - found.carried) / spread
    assert np.abs(error).max() < 5 and abs(error.std() - 1) < 0.3
    assert found.gauges.shape == (21, 8) and np.array_equal(found.t, run.t)
    exact = wrist_readings(run, "tool", CROSS)
    np.testing.assert_allclose(exact.measured, exact.carried, atol=1e-10)


@pytest.mark.slow
def test_wrist_of_a_run_with_a_payload_a_batch_and_a_moving_base():
    """The robot of each instant counts: its payload, its lifted inertias, and its base."""
    heavier = np.stack([PUMA.inertias, 2 * PUMA.inertias])
    run = held(lift={"inertias": heavier})
    found = wrist_readings(run, "tool", CROSS)
    for k in range(2):
        robot = PUMA.replace(inertias=heavier[k])
        one = tool_wrench(robot, run.q[k], run.v[k], run.a[k], "tool")
        np.testing.assert_allclose(found.carried[k] - one, run.wrench("tool")[k], atol=1e-10)

    def shaken(t, size):
        return se3.from_rotation_translation(np.eye(3), np.stack([size * np.sin(9 * t), 0 * t, 0 * t]))

    load = inertia.sphere(0.8, 0.03)
    picked = payload("tool", 0.8, inertia=inertia.central(load).inertia)
    run = simulate(PUMA, q=Q, duration=0.1, dt=1e-3, record=10, base=moving_base(shaken, size=0.05), changes=picked)
    carried = wrist_readings(run, "tool", CROSS).carried
    x_dd = -0.05 * 81 * np.sin(9 * run.t)
    x_d = 0.05 * 9 * np.cos(9 * run.t)
    base = {"base_twist": x_d[:, None] * np.eye(6)[3], "base_acceleration": x_dd[:, None] * np.eye(6)[3]}
    want = tool_wrench(PUMA.with_payload("tool", load), run.q, run.v, run.a, "tool", **base)
    np.testing.assert_allclose(carried, want, atol=1e-11)
    inside = wrist_readings(run, "tool", CROSS, tool=load).carried
    alone = tool_wrench(PUMA, run.q, run.v, run.a, "tool", tool=load, **base)
    np.testing.assert_allclose(inside, alone, atol=1e-11)


def test_payload_from_a_run():
    """A wrist sensor weighs what a simulated arm swings, from noisy gauges."""
    loaded = PUMA.with_payload("tool", TOOL)
    run = simulate(loaded, q=Q, v=np.linspace(2, -2, 6), duration=0.5, dt=1e-3, record=5)
    found = wrist_readings(run, "tool", CROSS.replace(noise=Noise(sigma=1e-4)), tool=TOOL, rng=0)
    motion = sensor_motion(loaded, run.q, run.v, run.a, "tool")
    weighed = identify_payload(found.measured, motion.gravity, twists=motion.twist, accelerations=motion.acceleration)
    assert weighed.unseen == ()
    off = (weighed.estimate - TOOL) / weighed.standard_error
    assert np.abs(off).max() < 5
    assert weighed.mass == pytest.approx(1.5, abs=5 * weighed.standard_error[0])


def test_bad_runs(tmp_path):
    run = held()
    with pytest.raises(AdjointError, match="has no frame 'wrist'"):
        wrist_readings(run, "wrist", CROSS)
    with pytest.raises(ArgumentError, match=r"'run' must be a simulation\.Run, got ndarray"):
        wrist_readings(np.zeros(3), "tool", CROSS)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'sensor' must be a WristSensor"):
        wrist_readings(run, "tool", None)  # type: ignore[arg-type]
    path = run.save(tmp_path / "run.npz")
    again = type(run).load(path, PUMA)
    with pytest.raises(ArgumentError, match="from a file"):
        wrist_readings(again, "tool", CROSS)
