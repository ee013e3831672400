"""Proximity sensors: the gating logic of ultrasound (X5), two cones of light (X6), magnets and capacitors."""

import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.sensing.capacitive_proximity import (
    CapacitiveProximity,
    capacitance_change,
    capacitive_detected,
    capacitive_distance,
    capacitive_phase,
    capacitive_phase_change,
    oscillation,
)
from adjoint.sensing.gating import GatedSonar, gate_outputs, gated_sonar, gating_waveforms
from adjoint.sensing.magnetic_proximity import (
    HallProximity,
    InductiveProximity,
    hall_detected,
    hall_field,
    hall_field_near,
    hall_voltage,
    inductive_output,
    inductive_switching_distance,
    inductive_voltage,
)
from adjoint.sensing.noise import Noise
from adjoint.sensing.optical_proximity import (
    OpticalProximity,
    in_sensitive_volume,
    optical_detected,
    optical_intensity,
    sensitive_interval,
)

# --- ultrasound with gates --------------------------------------------------------------------------------------------

P67 = gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02)  # problem 6.7


def test_problem_6_7():
    """X5: the window from 0.5 ms to 2.907 ms (3.007 from the pulse's end), the next pulse at 20 (20.1) ms, 0.086 m."""
    assert P67.window_start == pytest.approx(0.5e-3) and P67.window_end == pytest.approx(2.907e-3, abs=5e-7)
    assert P67.period == 0.02 and P67.least_distance == pytest.approx(0.086) and P67.greatest_distance == 0.5
    late = gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02, timed_from="end")
    assert late.window_end == pytest.approx(3.007e-3, abs=5e-7) and late.period == pytest.approx(0.0201)


def by_hand(A, C, D):
    """E and F of waveforms, by rules applied edge by edge, as S10 states them."""
    E, F, es, fs = 0, 0, [], []
    for k in range(len(A)):
        before = A[k - 1] if k else 0
        was = E
        if before and not A[k]:
            E = 0  # the end of a pulse in A clears E
        if C[k] and D[k]:
            E = 1  # an echo while D is high
        if A[k] and not was:
            F = 0  # a pulse in A while E is low
        if E and not was:
            F = 1  # E rises
        es.append(E)
        fs.append(F)
    return np.array(es), np.array(fs)


def test_gates_obey_the_rules_for_any_signals():
    rng = np.random.default_rng(0)
    signals = (rng.random((200, 60, 3)) < [0.3, 0.3, 0.5]).astype(float)
    found = gate_outputs(P67, signals, 1e-5)
    for s, E, F in zip(signals, found.E, found.F, strict=True):
        want = by_hand(*s.T)
        assert np.array_equal(E, want[0]) and np.array_equal(F, want[1])


def cycles(hits, length=40):
    """The output F at the end of each cycle, before the next pulse, and just after its own pulse."""
    d = np.where(np.array(hits, bool), 0.3, np.nan)
    w = gating_waveforms(P67, d, P67.period / (50 * length))
    F = w.F.reshape(len(hits), -1)
    return F[:, 1], F[:, -1], w


def test_output_stays_through_hits_and_falls_one_cycle_after_a_miss():
    hits = [0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0]
    start, end, w = cycles(hits)
    for k, hit in enumerate(hits):
        last = hits[k - 1] if k else 0
        # Through the pulse of its own cycle, F stays if the last cycle had an echo; at the end it knows of its own.
        assert start[k] == float(bool(last)) and end[k] == float(bool(hit or last)), k
    E = w.E.reshape(len(hits), -1)
    assert np.array_equal(E[:, -1], hits)
    assert np.nanmax(w.distance) == pytest.approx(0.3, abs=344 * 2e-5) and np.isnan(w.distance[0])


@pytest.mark.parametrize("distance", [0.05, 0.085, 0.09, 0.3, 0.49, 0.52, 1.5])
def test_only_objects_in_the_window_are_detected(distance):
    """The ringing of the pulse itself has died out when the window opens."""
    w = gating_waveforms(P67, [distance] * 3, 1e-6)
    inside = P67.least_distance < distance < P67.greatest_distance
    # An echo that begins before the window opens may still sound in it: so near objects are detected, as in reality.
    assert w.F[-1] == float(inside or distance < P67.least_distance)
    assert np.array_equal(w.A, w.t % P67.period < P67.pulse - 1e-12)


def test_echoes_from_beyond_one_period_are_heard_in_the_next_cycle():
    far = P67.greatest_distance / 2 + 344 * P67.period / 2
    w = gating_waveforms(P67, [far, np.nan, np.nan], 1e-5)
    F = w.F.reshape(3, -1)
    assert F[0, -1] == 0 and F[1, -1] == 1
    assert np.nanmax(w.distance) == pytest.approx(P67.greatest_distance / 2, abs=344e-5)


def test_noise_of_the_sound_can_trigger_the_gate():
    loud = P67.replace(noise=Noise(sigma=0.05))
    assert gating_waveforms(P67, [np.nan] * 2, 1e-5).F[-1] == 0
    assert gating_waveforms(loud, [np.nan] * 2, 1e-5, rng=0).F[-1] == 1


def test_bad_gates():
    with pytest.raises(ArgumentError, match="in the order"):
        GatedSonar(1e-3, 5e-4, 2e-3, 0.02)
    with pytest.raises(ArgumentError, match=r"distance must be above 0\.086 m"):
        gated_sonar(0.05, pulse=1e-4, ring_down=4e-4, room_echo=0.02)
    with pytest.raises(ArgumentError, match="timed_from"):
        gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02, timed_from="middle")
    with pytest.raises(ArgumentError, match="dt must be at most the pulse"):
        gating_waveforms(P67, [0.3], 1e-3)
    with pytest.raises(ArgumentError, match="'distances'"):
        gating_waveforms(P67, [[0.3]], 1e-5)
    with pytest.raises(ArgumentError, match="'distances'"):
        gating_waveforms(P67, [], 1e-5)


# --- magnets ----------------------------------------------------------------------------------------------------------

COIL = InductiveProximity(turns=500, flux=2e-6, reach=3e-4, threshold=2e-4)
HALL = HallProximity(current=5e-3, carriers=1e21, thickness=1e-4, field=0.1, threshold=5e-3)


@pytest.mark.parametrize("seconds", [0.01, 0.1, 1.0])
def test_integral_of_the_pulse_does_not_depend_on_the_speed(seconds):
    """An object comes from 3 mm to 0.2 mm and leaves again; the rule is second order: errors of (dt/T)² ~ 1e-6."""
    t = np.linspace(0, seconds, 4001)
    x = t / seconds
    d = 2e-4 + 2.8e-3 * (1 + np.cos(2 * np.pi * x)) / 2
    rate = -2.8e-3 * np.pi / seconds * np.sin(2 * np.pi * x)
    v = inductive_voltage(COIL, d, rate)
    out = inductive_output(COIL, v[:, None], t[1] - t[0])
    flux = COIL.turns * COIL.flux * (np.exp(-d / COIL.reach) - np.exp(-d[0] / COIL.reach))
    np.testing.assert_allclose(out.integral, flux, atol=2e-5 * flux.max())
    assert np.array_equal(out.detected, out.integral > COIL.threshold)
    assert np.all(v[(x > 0) & (x < 0.49)] > 0) and np.all(v[(x > 0.51) & (x < 1)] < 0)  # enters, then leaves
    near = d < inductive_switching_distance(COIL)
    assert np.mean(near == out.detected) > 0.995


def test_pulses_grow_with_speed_and_vanish_at_rest():
    v = inductive_voltage(COIL, 1e-4, [-0.1, -0.2, 0.0, 0.1])
    assert v[1] == pytest.approx(2 * v[0], rel=1e-14) and v[2] == 0 and v[3] == -v[0]
    np.testing.assert_allclose(
        inductive_voltage(COIL, [1e-4, 4e-4], -0.1)[1] / v[0], np.exp(-1), rtol=1e-13
    )  # within a fraction of a millimetre
    with pytest.raises(ArgumentError, match="never reached"):
        inductive_switching_distance(COIL.replace(threshold=1.0))


def test_hall_voltage_drops_when_something_comes():
    assert hall_voltage(HALL, 0.1) == pytest.approx(5e-3 * 0.1 / (1e21 * 1.602176634e-19 * 1e-4), rel=1e-14)
    B = np.linspace(0, 0.2, 11)
    np.testing.assert_allclose(hall_field(HALL, hall_voltage(HALL, B)), B, rtol=1e-14)
    d = np.linspace(0, 1e-2, 400)
    v = hall_voltage(HALL, hall_field_near(HALL, d))
    assert np.all(np.diff(v) > 0)  # the nearer, the lower
    seen = hall_detected(HALL, v)
    edge = -HALL.reach * np.log(HALL.threshold / (HALL.weakening * float(hall_voltage(HALL, HALL.field))))
    assert np.array_equal(seen, (d < edge).astype(float)) and 0 < seen.mean() < 1


# --- capacitors -------------------------------------------------------------------------------------------------------

PLATE = CapacitiveProximity(capacitance=1e-12, area=3e-4, threshold=0.1)


def test_capacitance_falls_off_and_depends_on_the_material():
    d = np.linspace(1e-3, 3e-2, 100)
    metal, glass, wood = (capacitance_change(PLATE, d, w, e) for w, e in ((0, 1), (0.01, 6.0), (0.01, 2.0)))
    assert np.all(np.diff(metal) < 0) and np.all(metal > glass) and np.all(glass > wood)
    np.testing.assert_allclose(capacitive_distance(PLATE, metal), d, rtol=1e-13)
    np.testing.assert_allclose(capacitive_distance(PLATE, wood, 0.01, 2.0), d, rtol=1e-12)
    # The plates of a capacitor with the gap d: C = ε0 A / d.
    assert metal[0] * 1e-12 == pytest.approx(8.8541878128e-12 * 3e-4 / 1e-3, rel=1e-12)


def test_oscillator_and_comparison_are_one_rule():
    change = np.linspace(-0.1, 0.3, 81)
    seen = capacitive_detected(PLATE, change)
    assert np.array_equal(seen, change > 0.1)
    assert np.array_equal(oscillation(PLATE, 1e-12 * (1 + change) * (1 + 1e-15)), change * (1 + 1e-14) > 0.1)


def test_phase_is_proportional_to_small_changes():
    x = 2 * np.pi * PLATE.drive_frequency * PLATE.drive_resistance * PLATE.capacitance
    change = np.linspace(-0.5, 2, 50)
    want = np.arctan(x * (1 + change)) - np.arctan(x)
    np.testing.assert_allclose(capacitive_phase(PLATE, change), want, atol=1e-15)
    np.testing.assert_allclose(capacitive_phase_change(PLATE, want), change, atol=1e-13)
    slope = capacitive_phase.jacobian("change")(PLATE, 0.0)
    assert slope == pytest.approx(x / (1 + x * x), rel=1e-13)
    assert slope == pytest.approx(0.5, abs=1e-4)  # the greatest there is, as ω R C is nearly 1


# --- light ------------------------------------------------------------------------------------------------------------

EYES = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)  # problem 6.8


def test_problem_6_8():
    """X6: the edges x = -2 + 0.2 z and 8 - 0.2 z, 2 + 0.1 z and 4 - 0.1 z meet at 25 and 10 mm."""
    np.testing.assert_allclose(sensitive_interval(EYES), [10e-3, 25e-3], rtol=1e-14)
    z = np.linspace(0, 41, 83)
    x = np.linspace(-6, 12, 181)
    grid = np.stack(np.meshgrid(x, z, indexing="ij"), axis=-1)
    X, Z = grid[..., 0], grid[..., 1]
    inside = (X >= -2 + 0.2 * Z) & (X <= 2 + 0.1 * Z) & (X >= 4 - 0.1 * Z) & (X <= 8 - 0.2 * Z)
    edges = np.stack([X + 2 - 0.2 * Z, 2 + 0.1 * Z - X, X - 4 + 0.1 * Z, 8 - 0.2 * Z - X])
    clear = np.abs(edges).min(axis=0) > 1e-9  # not on an edge
    points = np.stack([X - 3, 0 * X, Z], axis=-1) * 1e-3  # the sensor's frame is between the lenses
    assert np.array_equal(in_sensitive_volume(EYES, points)[clear] > 0, inside[clear])
    assert inside.any()


def test_sensitive_volume_in_space():
    """Each cone is the set of points on segments from its lens to its vertex: membership by solving for them."""
    rng = np.random.default_rng(0)
    p = rng.uniform([-4e-3, -3e-3, -5e-3], [4e-3, 3e-3, 45e-3], (20_000, 3))
    seen = np.ones(len(p), bool)
    for side in (-1, 1):
        vertex = np.array([-side * 3e-3, 0, 40e-3])
        with np.errstate(divide="ignore"):
            s = p[:, 2] / 40e-3
            foot = (p - s[:, None] * vertex) / (1 - s)[:, None]  # where the line from the vertex meets the lens
        seen &= (s >= 0) & (s <= 1) & (np.linalg.norm(foot[:, :2] - [side * 3e-3, 0], axis=1) <= 2e-3)
    found = in_sensitive_volume(EYES, p) > 0
    assert np.array_equal(found, seen) and 50 < found.sum() < 5000
    assert p[found, 2].min() > 10e-3 and p[found, 2].max() < 25e-3
    wide = EYES.replace(lens_diameter=8e-3)
    assert sensitive_interval(wide)[0] == 0.0 and in_sensitive_volume(wide, [0, 0, 1e-6]) == 1


def test_intensity_is_seen_inside_alone_and_falls_with_distance():
    z = np.linspace(5e-3, 30e-3, 51)
    points = np.stack([0 * z, 0 * z, z], axis=1)
    light = optical_intensity(EYES, points, [0, 0, -1.0], 0.8)
    inside = in_sensitive_volume(EYES, points) > 0
    assert np.array_equal(light > 0, inside) and np.all(np.diff(light[inside]) < 0)
    r2 = z**2 + 9e-6
    np.testing.assert_allclose(light[inside], (0.8 * z**2 / (np.pi * r2**3))[inside], rtol=1e-13)
    assert np.all(optical_intensity(EYES, points, [0, 0, 1.0]) == 0)  # a surface that looks away
    bright = EYES.replace(threshold=float(light[inside].mean()))
    assert 0 < optical_detected(bright, light).sum() < inside.sum()


@pytest.mark.parametrize("name", ["lens_diameter", "separation", "vertex_distance", "power"])
def test_bad_eyes(name):
    with pytest.raises(ArgumentError, match=f"OpticalProximity: {name} must be finite, positive, got -1"):
        EYES.replace(**{name: -1.0})
