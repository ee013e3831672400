"""Ultrasonic proximity with gating logic: the waveforms A to F of the textbook's Fig. 6.15, as a state machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile import kernel, scan, static
from ..errors import ArgumentError
from ..model.input_checks import one_of, positive
from .noise import QUIET, Noise
from .sensor_data import SensorData, need_sensor, readings_of

__all__ = ["GateOutputs", "GatedSonar", "GatingWaveforms", "gate_outputs", "gated_sonar", "gating_waveforms"]


@dataclass(frozen=True, eq=False)
class GatedSonar(SensorData):
    """An ultrasonic proximity sensor; all times [s] count from the start of a pulse.

        >>> sonar = GatedSonar(pulse=1e-4, window_start=5e-4, window_end=2.9e-3, period=0.02)

    The transducer sends for `pulse`, and every `period` again. An echo counts if it is back between `window_start` Δt_1
    and `window_end` Δt_1 + Δt_2. `ring_down` is the time in which the ringing falls to a hundredth, for the waveform B.
    `noise` is that of the sampled echo signal B. `gated_sonar` chooses the times for a distance.
    """

    pulse: float
    window_start: float
    window_end: float
    period: float
    ring_down: float = 0.0
    speed: float = 344.0
    noise: Noise = QUIET

    POSITIVE = ("pulse", "window_end", "period", "speed")
    NOT_NEGATIVE = ("window_start", "ring_down")

    def __post_init__(self):
        super().__post_init__()
        if not self.pulse <= self.window_start < self.window_end <= self.period:
            raise ArgumentError(
                "GatedSonar: times must be in the order pulse <= window_start < window_end <= period, got "
                f"{self.pulse:g}, {self.window_start:g}, {self.window_end:g}, {self.period:g} s"
            )

    @property
    def least_distance(self):
        """The distance v Δt_1 / 2 [m] where detection begins."""
        return self.speed * self.window_start / 2

    @property
    def greatest_distance(self):
        """The distance v (Δt_1 + Δt_2) / 2 [m] where detection ends."""
        return self.speed * self.window_end / 2


def gated_sonar(
    distance, *, pulse, ring_down, room_echo, speed: float = 344.0, timed_from: str = "start"
) -> GatedSonar:
    """The `GatedSonar` that detects objects up to `distance` [m].

    The window opens when the transducer is quiet, `pulse` + `ring_down` [s] after the start of a pulse, and closes with
    the echo from `distance`; the next pulse comes when echoes of the room have died out, after `room_echo` [s].
    `timed_from` says from where the last two count: the "start" or the "end" of the pulse. Fu, Gonzalez & Lee (1987),
    problem 6.7:

        >>> sonar = gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02)
        >>> round(sonar.window_end, 6), round(sonar.least_distance, 6)
        (0.002907, 0.086)
    """
    one_of(timed_from, ("start", "end"), "gated_sonar: timed_from")
    given = {"distance": distance, "pulse": pulse, "room_echo": room_echo, "speed": speed}
    d, sent, room, v = (positive(x, f"gated_sonar: {name}") for name, x in given.items())
    ringing = positive(ring_down, "gated_sonar: ring_down", or_zero=True)
    late = sent if timed_from == "end" else 0.0
    least = v * (sent + ringing) / 2
    if not d > least:
        raise ArgumentError(f"gated_sonar: distance must be above {least:.4g} m, where ringing ends, got {distance!r}")
    return GatedSonar(sent, sent + ringing, 2 * d / v + late, room + late, ring_down=ringing, speed=v)


class GateOutputs(NamedTuple):
    """The signals E, the latched echo, and F, the output (0 or 1), and the `distance` [m] of the last echo."""

    E: np.ndarray
    F: np.ndarray
    distance: np.ndarray


@kernel(sensor=static, signals=(..., 3))
def gate_outputs(sensor: GatedSonar, signals, dt) -> GateOutputs:
    """The outputs E, F and the distance (n,) of the gating logic, for sampled `signals` (n, 3): A, C and D, 0 or 1.

    `dt` [s] is the time from sample to sample. A is the transmit gate, C tells that sound is heard, D is the window.

    - E is set by C while D is high, and cleared at the end of a pulse in A;
    - F is set when E rises, and cleared when a pulse in A occurs while E is low.

    So F stays high from hit to hit, and falls at the second pulse after the last hit: one cycle after a miss. The
    distance, v times half the time from the start of the pulse to the echo, answers problem 6.6: it is kept from echo
    to echo, and NaN before the first. Fu, Gonzalez & Lee (1987), section 6.3.4.

        >>> sonar = GatedSonar(pulse=1e-3, window_start=2e-3, window_end=9e-3, period=0.01)
        >>> hit = [[1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]                  # one cycle, every 2.5 ms
        >>> miss = [[1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
        >>> gate_outputs(sonar, hit + miss + miss, 2.5e-3).F
        array([0., 0., 1., 1., 1., 1., 1., 1., 0., 0., 0., 0.])
    """
    need_sensor(sensor, GatedSonar, "gate_outputs")

    def step(state, now):
        E, F, A_before, since, distance = state
        A, C, D = now[0] > 0.5, now[1] > 0.5, now[2] > 0.5
        starts, ends = A & ~(A_before > 0.5), ~A & (A_before > 0.5)
        since = np.where(starts, 0.0, since + dt)
        low = E < 0.5
        latched = (C & D) | (~low & ~ends)
        rises = latched & low
        F = np.where(rises, 1.0, np.where(A & low, 0.0, F))
        E = np.where(latched, 1.0, 0.0)
        distance = np.where(rises, sensor.speed * since / 2, distance)
        return (E, F, np.where(A, 1.0, 0.0), since, distance), (E, F, distance)

    zero = 0.0 * dt
    _, (E, F, distance) = scan(step, (zero, zero, zero, zero, zero + np.nan), signals)
    return GateOutputs(E, F, distance)


class GatingWaveforms(NamedTuple):
    """The waveforms (n,) of Fig. 6.15 at the times `t` (n,) [s], and the `distance` (n,) [m] of the last echo.

    `A` is the transmit gate, `B` the envelope of the sound, `C` says that B is above its threshold, `D` is the window,
    `E` the latched echo and `F` the output. All but B are 0 or 1.
    """

    t: np.ndarray
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    E: np.ndarray
    F: np.ndarray
    distance: np.ndarray


def gating_waveforms(
    sensor: GatedSonar, distances, dt, *, echo: float = 0.5, threshold: float = 0.1, rng=None
) -> GatingWaveforms:
    """The waveforms of cycles in which an object is at `distances` (k,) [m], NaN for none; sampled every `dt` [s].

    B is 1 while the transducer sends, then falls to a hundredth in `sensor.ring_down`; the sound comes back
    with the strength `echo`. C is 1 where B is above `threshold`. An echo from so far away that the next pulse is out
    before it is heard in the next cycle, where it counts for an object that is nearer.

        >>> sonar = gated_sonar(0.5, pulse=1e-4, ring_down=4e-4, room_echo=0.02)
        >>> gating_waveforms(sonar, [0.3, np.nan, np.nan], 1e-5).F.reshape(3, -1)[:, [1, -1]]
        array([[0., 1.],
               [1., 1.],
               [0., 0.]])
    """
    from .noise import noisy

    need_sensor(sensor, GatedSonar, "gating_waveforms")
    d = readings_of(distances, "distances", "gating_waveforms", None)
    dt = positive(dt, "gating_waveforms: dt")
    if d.ndim != 1 or not len(d) or (d < 0).any():
        raise ArgumentError(f"gating_waveforms: 'distances' has shape {d.shape}; (k,), 0 or more or NaN, is needed")
    if not dt <= sensor.pulse:
        raise ArgumentError(f"gating_waveforms: dt must be at most the pulse, {sensor.pulse:g} s, got {dt:g}")
    t = dt * np.arange(round(len(d) * sensor.period / dt))
    starts = sensor.period * np.arange(len(d))
    since = t - sensor.period * np.floor(t / sensor.period + 1e-9)
    B = _envelope(sensor, t[:, None] - starts).sum(axis=1)
    heard = ~np.isnan(d)
    B = B + echo * _envelope(sensor, t[:, None] - (starts + 2 * d / sensor.speed)[heard]).sum(axis=1)
    B = noisy(B, sensor.noise, rng=rng)
    A, C = since < sensor.pulse - 1e-9 * dt, threshold < B
    D = (since > sensor.window_start) & (since < sensor.window_end)
    out = gate_outputs(sensor, np.stack([A, C, D], axis=1).astype(float), dt)
    return GatingWaveforms(t, A.astype(float), B, C.astype(float), D.astype(float), *out)


def _envelope(sensor: GatedSonar, age: np.ndarray) -> np.ndarray:
    """The strength of a pulse of this age [s]: 1 while it is sent, then it falls a hundredfold in each ring-down."""
    over = age - sensor.pulse
    fading = 100.0 ** (-np.maximum(over, 0.0) / sensor.ring_down) if sensor.ring_down else 0.0 * age
    return np.where(age < 0, 0.0, np.where(over < 0, 1.0, fading))
