"""All sensors together: compiled, eager and exported kernels agree, and junk is refused or gives a result."""

import contextlib
import dataclasses
import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest
from support.c_code import run_c

import adjoint as aj
import adjoint.sensing
from adjoint.errors import AdjointError
from adjoint.sensing.capacitive_proximity import CapacitiveProximity
from adjoint.sensing.gating import gated_sonar
from adjoint.sensing.light_sheet import SheetOfLight
from adjoint.sensing.magnetic_proximity import HallProximity, InductiveProximity
from adjoint.sensing.noise import Noise
from adjoint.sensing.optical_proximity import OpticalProximity
from adjoint.sensing.phase_ranging import PhaseRange, TwoPhaseRange
from adjoint.sensing.slipping import SlipBall
from adjoint.sensing.tactile_arrays import TactileScan
from adjoint.sensing.time_of_flight import PulsedRange
from adjoint.sensing.touching import FingerSwitches, TouchRod
from adjoint.sensing.triangulation import Triangulation
from adjoint.sensing.ultrasonics import Ultrasonic
from adjoint.sensing.wrist_gauges import cross_bar_sensor

MODULES = [
    importlib.import_module(f"adjoint.sensing.{name}")
    for _, name, is_package in pkgutil.iter_modules(adjoint.sensing.__path__)
    if not is_package and name != "sensor_data"
]
PUBLIC = {name: getattr(module, name) for module in MODULES for name in module.__all__}
ROBOT = aj.robots.park3r()
FRAME = ROBOT.frame_names[-1]
MOTOR = aj.control.Motor(resistance=1.0, torque_constant=0.05, inertia=4e-4, gear_ratio=0.01)
SHEET = SheetOfLight(256, 3.0, 2.0, 1.0)
PHASE, TWO = PhaseRange(30e6), TwoPhaseRange(30e6, 31e6)
COIL, HALL = InductiveProximity(500, 2e-6, 3e-4, 2e-4), HallProximity(5e-3, 1e21, 1e-4, 0.1, 5e-3)
PLATE, EYES = CapacitiveProximity(1e-12, 3e-4, 0.1), OpticalProximity(4e-3, 6e-3, 40e-3)
SONAR = gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02)
HAND, ROD, BALL, WRIST = FingerSwitches(0.1, 1e-3), TouchRod(500.0, 5e-3), SlipBall(1e-3, 12), cross_bar_sensor()
X, Q = np.linspace(0.2, 0.9, 3), np.full(3, 0.3)
POINT, UP, STILL = np.array([0.0, 0, 0.015]), np.array([0.0, 0, -1]), np.zeros(6)
R = np.array([[100.0, np.inf], [50.0, 80.0]])
LOADS = np.random.default_rng(0).normal(size=(9, 6))
GRAVITY = 9.81 * np.array([[0, 0, 1.0], [0, 1, 0], [1, 0, 0], [0.6, 0.8, 0]])

KERNELS = {
    "quantised": (X, 0.3),
    "triangulated": (Triangulation(0.3), X, 1.2),
    "triangulation_angles": (Triangulation(0.3), X, 0.5),
    "triangulated_sigma": (Triangulation(0.3), X, 1.2),
    "stripe_distance": (SHEET, 100 * X),
    "stripe_column": (SHEET, 1 + X),
    "stripe_distance_sigma": (SHEET, 100 * X),
    "light_plane_point": (POINT, POINT + UP, UP, X),
    "light_plane_point_covariance": (POINT, POINT + UP, UP, X, 1e-3, 1e-3),
    "flight_time": (PulsedRange(), X),
    "flight_distance": (PulsedRange(), X),
    "flight_distance_sigma": (PulsedRange(),),
    "phase_shift": (PHASE, 9 * X),
    "phase_distance": (PHASE, 5 * X),
    "phase_distance_sigma": (PHASE,),
    "phase_samples": (PHASE, X, 1.0, 2.0),
    "phase_demodulated": (np.arange(4.0) ** 2,),
    "phase_shifts": (TWO, 100 * X),
    "unwrapped_distance": (TWO, np.array([[1.0, 2.0], [3.0, 0.5]])),
    "sound_speed": (20 * X,),
    "beam_distance": (Ultrasonic(1e-4, 4e-4, 0.02), np.tile(POINT * 20, (4, 1))),
    "gate_outputs": (SONAR, np.eye(3)[[0, 1, 2, 0, 1, 2]], 1e-5),
    "inductive_voltage": (COIL, 1e-3 * X, -0.1),
    "inductive_output": (COIL, X[:, None], 1e-3),
    "hall_voltage": (HALL, X),
    "hall_field": (HALL, X),
    "hall_field_near": (HALL, 1e-3 * X),
    "hall_detected": (HALL, 0.1 * X),
    "capacitance_change": (PLATE, 1e-2 * X, 1e-3, 2.0),
    "capacitive_distance": (PLATE, X, 1e-3, 2.0),
    "capacitive_detected": (PLATE, X),
    "oscillation": (PLATE, 1e-12 * X),
    "capacitive_phase": (PLATE, X),
    "capacitive_phase_change": (PLATE, 0.3 * X),
    "in_sensitive_volume": (EYES, POINT),
    "optical_intensity": (EYES, POINT, UP, X),
    "optical_detected": (EYES, X),
    "finger_contacts": (HAND, X, 0.5, 0.04),
    "centring_contacts": (HAND, X, X, 0.04),
    "centred": (HAND, X, X - 0.03),
    "rod_rotation": (ROD, X),
    "rod_force": (ROD, X),
    "rod_force_sigma": (ROD,),
    "slip_signal": (BALL, np.array([[0.1, 0.2], [-0.3, 0.1]])),
    "slip_vector": (BALL, 20 * X, 4.0),
    "wrench_from_textbook": (LOADS,),
    "wrench_to_textbook": (LOADS,),
    "resolved_wrench": (WRIST, LOADS @ np.ones((6, 8))),
    "gauge_readings": (WRIST, LOADS),
    "sensor_motion": (ROBOT, Q, Q, Q, FRAME),
    "tool_wrench": (ROBOT, Q, Q, Q, FRAME),
    "pedestal_wrench": (ROBOT, Q, Q, Q),
    "payload_regressor": (GRAVITY, STILL, STILL),
}
OTHERS = {
    "noisy": (X, Noise(sigma=0.1)),
    "noise_sigma": (Noise(sigma=0.1),),
    "averaged": (X,),
    "readings_needed": (1.0, 0.1, 0.9),
    "mean_confidence": (1.0, 0.1, 50),
    "stripe_table": (SHEET,),
    "fit_light_plane": (LOADS[:, :3],),
    "modulation_frequency": (5.0,),
    "unwrapping_confidence": (TWO,),
    "polaroid_ranger": (),
    "gated_sonar": (0.5,),
    "gating_waveforms": (SONAR, np.array([0.3]), 1e-4),
    "inductive_switching_distance": (COIL,),
    "sensitive_interval": (EYES,),
    "slip_direction": (BALL, np.arange(12.0)),
    "tactile_currents": (TactileScan("floating"), R),
    "tactile_sensitivity": (R,),
    "tactile_resistances": (TactileScan("floating"), 1 / np.full((2, 2), 100.0)),
    "current_torque": (MOTOR, X, X, X),
    "torque_current": (MOTOR, X, X, X),
    "current_torque_sigma": (MOTOR, 0.1),
    "gauge_sensor": (LOADS[:, :3], LOADS[:, 3:]),
    "cross_bar_sensor": (0.05, 100.0),
    "wrist_sensor_from_textbook": (WRIST.matrix,),
    "resolved_force_matrix": (WRIST,),
    "resolved_wrench_covariance": (WRIST,),
    "tared": (WRIST, np.zeros(8)),
    "calibrate_wrist": (LOADS, LOADS @ WRIST.sensitivity.T),
    "identify_payload": (np.arange(24.0).reshape(4, 6) + 50, GRAVITY),
}
OPTIONS = {"gated_sonar": {"pulse": 1e-4, "ring_down": 4e-4, "room_echo": 0.02}}
APART = {"wrist_readings"}  # needs a run, which tests/test_wrist.py has


def test_every_function_is_tried():
    functions = {k for k, x in PUBLIC.items() if hasattr(x, "eager") or inspect.isfunction(x)}
    assert functions == set(KERNELS) | set(OTHERS) | APART
    assert {k for k, x in PUBLIC.items() if hasattr(x, "eager")} == set(KERNELS)
    assert len(PUBLIC) == sum(len(module.__all__) for module in MODULES)  # no name is there twice


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_and_eager_agree(name):
    """Sums may be reassociated, and elementary functions differ by two units: 1e-13 of the largest result."""
    k, args = PUBLIC[name], KERNELS[name]
    got = k(*args)
    got = got if isinstance(got, tuple) else (got,)
    cores = {p.name: p for p in k.parameters}
    arrays = [(p, x) for p, x in zip(cores.values(), args, strict=False) if isinstance(x, np.ndarray)]
    shapes = [x.shape[: x.ndim - len(p.shape) - p.sequence] for p, x in arrays if not p.static]
    for index in np.ndindex(np.broadcast_shapes(*shapes)):
        one = [
            np.broadcast_to(x, (*np.broadcast_shapes(*shapes), *x.shape[x.ndim - len(p.shape) - p.sequence :]))[index]
            if isinstance(x, np.ndarray)
            else x
            for p, x in zip(cores.values(), args, strict=False)
        ]
        want = k.eager(*one)
        want = want if isinstance(want, tuple) else (want,)
        for a, b in zip(got, want, strict=True):
            b = np.asarray(b, float)
            np.testing.assert_allclose(a[index], b, rtol=1e-13, atol=1e-13 * np.nanmax(np.abs(b), initial=0.0))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stripe_distance", "unwrapped_distance", "resolved_wrench", "tool_wrench"])
def test_exported_c_agrees(name, tmp_path):
    k, args = PUBLIC[name], KERNELS[name]
    statics = {p.name: x for p, x in zip(k.parameters, args, strict=False) if p.static}
    bound = k.bind(**statics)
    inputs = [(p, np.asarray(x)) for p, x in zip(k.parameters, args, strict=False) if not p.static]
    cores = {"q": 1, "v": 1, "a": 1, "readings": 1}  # of arguments whose shape is that of a robot or sensor
    first = [x[0] if x.ndim > cores.get(p.name, len(p.shape)) else x for p, x in inputs]
    want = bound(*first)
    for got, x in zip(run_c(bound, first, tmp_path), want if isinstance(want, tuple) else (want,), strict=True):
        np.testing.assert_allclose(got, x, rtol=1e-12, atol=1e-12)


JUNK = [
    None, "junk", b"x", 1 + 2j, float("nan"), 1e300, -1, 10**400, object(), [[1], [2, 3]], {"a": 1}, np.zeros((0, 3)),
    np.zeros((2, 3, 4)), np.array([object(), 1], dtype=object), np.full(2, np.inf), np.full(2, 1e300), ("a", 1), "a\0b",
    np.ma.masked_array([1.0, 2.0], [True, False]), np.array(["2020", "2021"], "M8[D]"), test_every_function_is_tried,
]  # fmt: skip


@pytest.mark.parametrize("name", [*KERNELS, *OTHERS])
def test_junk_is_an_error_of_ours(name):
    """One argument after the other is replaced by junk: an `AdjointError`, or a result; no other exception."""
    args, options = (KERNELS | OTHERS)[name], OPTIONS.get(name, {})
    for k in range(len(args)):
        for bad in JUNK:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                with contextlib.suppress(AdjointError):
                    PUBLIC[name](*args[:k], bad, *args[k + 1 :], **options)


@pytest.mark.parametrize(
    "sensor",
    [SHEET, PHASE, TWO, COIL, HALL, PLATE, EYES, SONAR, HAND, ROD, BALL, WRIST, Triangulation(0.3), Noise(sigma=1.0)],
    ids=lambda s: type(s).__name__,
)
def test_junk_in_sensors(sensor):
    fields = [field.name for field in dataclasses.fields(sensor)]
    for name in fields:
        for bad in JUNK:
            with contextlib.suppress(AdjointError), np.errstate(all="ignore"):
                type(sensor)(**({k: getattr(sensor, k) for k in fields} | {name: bad}))
