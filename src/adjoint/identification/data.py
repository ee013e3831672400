"""`Samples` are recorded motions; `differentiate` and `resample` prepare them for `identify`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..display import shapes
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..model.configuration import difference, interpolate
from ..model.input_checks import positive
from ..model.needs import need_robot
from ..model.robot import Robot

__all__ = [
    "Samples",
    "angles",
    "checked_samples",
    "column_names",
    "differentiate",
    "each_piece",
    "finite_rows",
    "pick",
    "resample",
]


class Samples(NamedTuple):
    """A recording of n states: q (n, nq), v, a and tau (n, nv) in SI units, and time (n,) [s].

    A field is None if it is not known; NaN marks single values that are missing. `slide` (n, nv) is the direction of
    sliding that dry friction acts against. None means sign(v); `differentiate` sets it to the filtered sign(v).

        samples = Samples(q, v, a, tau, time)
    """

    q: Any
    v: Any
    a: Any
    tau: Any
    time: Any = None
    slide: Any = None

    def __repr__(self) -> str:
        n = len(self.q) if hasattr(self.q, "__len__") else 0
        return f"<Samples: {n} states{_span(self.time)}; {shapes(**self._asdict())} in SI units>"


def _span(time) -> str:
    """How long a recording lasts, and its mean rate, for people."""
    if not isinstance(time, np.ndarray) or time.ndim != 1 or len(time) < 2 or time.dtype.kind not in "fiu":
        return ""
    seconds = float(time[-1]) - float(time[0])
    rate = f" at {(len(time) - 1) / seconds:.4g} Hz" if seconds > 0 else ""
    return f" over {seconds:.4g} s{rate}"


def pick(samples: Samples, rows) -> Samples:
    """The samples of some rows, given by a slice, a mask or an array of row numbers."""
    return Samples(*(None if x is None else x[rows] for x in samples))


def column_names(robot: Robot) -> dict[str, list[str]]:
    """{field of `Samples`: the names that its columns have in files}."""
    rates = {field: [f"{field}_{name}" for name in dof_names(robot)] for field in ("v", "a", "tau", "slide")}
    return {"q": [f"q_{name}" for name in coordinate_names(robot)], **rates, "time": ["time"]}


def each_piece(samples: Samples | Iterable[Samples], caller: str) -> Iterator[Samples]:
    """The pieces of a recording one after the other; `Samples` are one piece."""
    if isinstance(samples, Samples):
        samples = [samples]
    if isinstance(samples, np.ndarray) or not isinstance(samples, Iterable):
        raise ArgumentError(_no_samples(samples, caller))
    yield from samples


def _no_samples(value, caller: str) -> str:
    """The message for a value that should have been `Samples`."""
    hint = "; Samples(*data) makes them of a tuple (q, v, a, tau)" if isinstance(value, np.ndarray) else ""
    return f"{caller}: expected Samples(q, v, a, tau), pieces of them or a file, got {type(value).__name__}{hint}"


def checked_samples(robot: Robot, samples: Samples, caller: str) -> Samples:
    """The samples as arrays of floats; an `ArgumentError` if one has another shape than the robot needs."""
    if not isinstance(samples, Samples):
        raise ArgumentError(_no_samples(samples, caller))
    found = Samples(*(None if x is None else _array(x, f, caller) for f, x in samples._asdict().items()))
    if found.q is None or found.tau is None:
        raise ArgumentError(f"{caller}: samples need q and tau")
    n = len(found.q) if found.q.ndim else 0
    sizes = {"q": robot.nq, **dict.fromkeys(("v", "a", "tau", "slide"), robot.nv)}
    for field, x in found._asdict().items():
        shape = (n, sizes[field]) if field in sizes else (n,)
        if x is not None and x.shape != shape:
            names = ", ".join(robot.joint_names)
            raise ArgumentError(
                f"{caller}: {field} has shape {x.shape}, it needs {shape}: robot '{robot.name}', {names}"
            )
    return found


def _array(value, field: str, caller: str) -> np.ndarray:
    """An array of floats, in which masked values are NaN."""
    try:
        if isinstance(value, np.ma.MaskedArray):
            value = np.where(np.ma.getmaskarray(value), np.nan, np.asarray(value, float))
        return np.asarray(value, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{caller}: {field} must be numbers: {error}") from None


# --- velocities and accelerations -------------------------------------------------------------------------------------

# Times in periods of the cutoff frequency, 1 / cutoff:
_INDEPENDENT = 0.55  # white noise, filtered forward and backward, is uncorrelated after this time
_EDGE = 3  # the length of the ends, which are dropped, as the filter knows their samples from one side only
_BRIDGED = 0.1  # the longest gap that is bridged by interpolation; a gap of one row always is
_LONG_GAP = 3  # `resample` gives NaN between samples that are more than this many usual time steps apart
MOST_ROWS = 1e9  # the largest number of samples that may be asked for
_UNITS = {"ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def differentiate(robot: Robot, samples: Samples, cutoff: float) -> Samples:
    """`Samples` with the velocities and accelerations of recorded q, tau and time, low-pass filtered without delay.

    Velocities are central differences of q. A Butterworth filter of fourth order runs over them forward and backward,
    and accelerations are central differences of the result. What is compared must be filtered alike, so the same filter
    runs over tau and over the direction of dry friction, sign(v), which becomes `slide`. Choose `cutoff` [Hz] about ten
    times the highest frequency of the motion.

    The result keeps every k-th sample, nearly two in each period 1/cutoff. The samples between them carry no new
    information after the filter, and would make the confidence intervals of `identify` too narrow.

    Gaps of one row with NaN, or of rows within a tenth of a period, are bridged by interpolation; a Python warning says
    how many. Longer gaps and missing rows cut the recording into parts. Three periods at both ends of each part, and
    all of a part shorter than ten periods, become NaN in the result; `identify` drops and counts these rows. Time must
    grow in even steps; `resample` makes them even.

        samples = differentiate(robot, Samples(q, None, None, tau, time), cutoff=10.0)
    """
    need_robot(robot, "differentiate")
    samples = checked_samples(robot, samples, "differentiate")
    if samples.time is None:
        raise ArgumentError("differentiate: samples need time (n,) [s]")
    whole = finite_rows(samples.q, samples.tau, samples.time)
    step = _time_step(samples.time[whole], cutoff)
    samples, whole = _bridged(robot, samples, whole, max(1, int(_BRIDGED / cutoff / step)))
    edge, stride = max(2, round(_EDGE / cutoff / step)), max(1, round(_INDEPENDENT / cutoff / step))
    found = np.full((4, len(whole), robot.nv), np.nan)
    for part in _parts(whole, samples.time, step, cutoff):
        _reject_wrapped(robot, samples.q[part], "differentiate")
        inner = slice(part.start + edge, part.stop - edge)
        found[:, inner] = _filtered(robot, samples.q[part], samples.tau[part], step, cutoff)[:, edge:-edge]
    v, a, tau, slide = found
    return pick(Samples(samples.q, v, a, tau, samples.time, slide), slice(edge, len(whole) - edge, stride))


def resample(robot: Robot, samples: Samples, rate: float | None = None) -> Samples:
    """The same recording at even steps of time, for recordings whose clock was uneven.

    The steps are 1/`rate` with `rate` in Hz; without `rate` they are the median step of the recording. Rows with NaN
    are left out first. Between two samples q is interpolated along the geodesic (orientations included) and all else
    linearly: a signal of frequency f is then off by at most (2π f dt)²/8 of its amplitude, where dt is the time between
    the samples. Inside gaps of more than three median steps the result is NaN.

        samples = resample(robot, samples, rate=500.0)
    """
    need_robot(robot, "resample")
    samples = checked_samples(robot, samples, "resample")
    if samples.time is None:
        raise ArgumentError("resample: samples need time (n,) [s]")
    samples = pick(samples, finite_rows(*samples))
    if len(samples.time) < 2:
        raise ArgumentError("resample: two samples or more are needed, without NaN")
    _need_growing(samples.time, "resample: time must grow")
    _reject_wrapped(robot, samples.q, "resample")
    steps = np.diff(samples.time)
    usual = float(np.median(steps))
    step = usual if rate is None else 1 / positive(rate, "resample: rate [Hz]")
    if not (samples.time[-1] - samples.time[0]) / step < MOST_ROWS:
        raise ArgumentError(f"resample: steps of {step:g} s are too short: more than {MOST_ROWS:g} samples")
    time = samples.time[0] + np.arange(int((samples.time[-1] - samples.time[0]) / step + 1e-9) + 1) * step
    found, at = _interpolated(robot, samples, time), _before(samples.time, time)
    in_gap = (steps[at] > _LONG_GAP * usual) & (time > samples.time[at]) & (time < samples.time[at + 1])
    for x in (found.q, found.v, found.a, found.tau, found.slide):
        if x is not None:
            x[in_gap] = np.nan
    return found


def finite_rows(*fields: np.ndarray | None) -> np.ndarray:
    """(n,) Which rows have neither NaN nor infinity in any field that is not None."""
    return np.asarray(np.isfinite(np.column_stack([x for x in fields if x is not None])).all(axis=1))


def _before(known: np.ndarray, time: np.ndarray) -> np.ndarray:
    """For each time the number of the last known time before it; the last known time of all is never chosen."""
    return np.clip(np.searchsorted(known, time, "right") - 1, 0, len(known) - 2)


def _interpolated(robot: Robot, samples: Samples, time: np.ndarray) -> Samples:
    """The samples at times between their own: q is interpolated along geodesics, all else linearly."""
    at = _before(samples.time, time)
    s = (time - samples.time[at]) / (samples.time[at + 1] - samples.time[at])
    fields = {
        name: x[at] + s[:, None] * (x[at + 1] - x[at])
        for name, x in samples._asdict().items()
        if x is not None and name not in ("q", "time")
    }
    q = interpolate(robot, samples.q[at], samples.q[at + 1], s)
    return samples._replace(q=q, time=time, **fields)


def _bridged(robot: Robot, samples: Samples, whole: np.ndarray, most: int) -> tuple[Samples, np.ndarray]:
    """The samples with gaps of up to `most` rows filled by interpolation, and which rows are then without NaN.

    `whole` (n,) says which rows are without NaN before. A Python warning says how many rows were filled.
    """
    edges = np.flatnonzero(np.diff(whole))  # the last rows before a change between whole and not
    runs = zip(edges[whole[edges]], edges[~whole[edges]][(not whole[0]) :], strict=False)
    short = [(i, j) for i, j in runs if j - i <= most]
    if not short:
        return samples, whole
    for i, j in short:
        _reject_wrapped(robot, samples.q[[i, j + 1]], "differentiate")  # half of a jump would look like a motion
    rows = np.array([k for i, j in short for k in range(i + 1, j + 1)])
    known = pick(samples._replace(v=None, a=None, slide=None), whole)
    times = np.interp(rows, np.flatnonzero(whole), known.time)
    filled = _interpolated(robot, known, times)
    q, tau, time, whole = samples.q.copy(), samples.tau.copy(), samples.time.copy(), whole.copy()
    q[rows], tau[rows], time[rows], whole[rows] = filled.q, filled.tau, times, True
    text = f"differentiate: {len(rows)} rows with NaN, in gaps of at most {most}, are bridged by interpolation"
    warnings.warn(text, stacklevel=3)
    return samples._replace(q=q, tau=tau, time=time), whole


def _need_growing(time: np.ndarray, what: str) -> None:
    """Raises an error that begins with `what` if a time is not later than the time before."""
    back = np.flatnonzero(~(np.diff(time) > 0))
    if len(back):
        k = int(back[0])
        raise ArgumentError(f"{what}; sample {k + 1} is at {time[k + 1]:.6g} s, after one at {time[k]:.6g} s")


def _filtered(robot: Robot, q: np.ndarray, tau: np.ndarray, step: float, cutoff: float) -> np.ndarray:
    """Filtered v, a, tau and slide (4, n, nv) of one part of a recording without gaps."""
    from scipy import signal

    band = signal.butter(4, 2 * step * cutoff, output="sos")
    pad = min(round(9 / cutoff / step), len(q) - 3)

    def low_pass(x):
        return signal.sosfiltfilt(band, x, axis=0, padlen=pad)

    v = low_pass(np.pad(difference(robot, q[:-2], q[2:]) / (2 * step), [(1, 1), (0, 0)], mode="edge"))
    return np.stack([v, np.gradient(v, step, axis=0), low_pass(tau), low_pass(np.sign(v))])


def _parts(whole: np.ndarray, time: np.ndarray, step: float, cutoff: float) -> list[slice]:
    """The stretches of rows without gaps that are long enough for the filter."""
    with np.errstate(invalid="ignore"):
        follows = whole[1:] & whole[:-1] & (np.diff(time) < 1.5 * step)
    starts = np.flatnonzero(np.append(True, ~follows))
    ends = np.append(starts[1:], len(whole))
    parts = [slice(int(i), int(j)) for i, j in zip(starts, ends, strict=True) if (j - i - 1) * step >= 10 / cutoff]
    if not parts:
        longest = float((ends - starts).max() - 1) * step
        raise ArgumentError(
            f"differentiate: {longest:g} s without a gap are too short for a cutoff of {cutoff:g} Hz: record 10 periods"
        )
    return parts


def _time_step(time: np.ndarray, cutoff: float) -> float:
    """The time step [s] of samples that are evenly spaced except for gaps.

    An `ArgumentError` says that they are not, or that they are too slow for a filter of this cutoff [Hz].
    """
    steps = np.diff(time)
    step = float(np.median(steps)) if len(steps) else 0.0
    _need_growing(time, "differentiate: time must grow in even steps")
    if not len(steps):
        raise ArgumentError(f"differentiate: {len(time)} samples without NaN are too few")
    if not ((np.abs(steps - step) < 0.1 * step) | (steps > 1.5 * step)).all():
        raise ArgumentError(
            f"differentiate: time must grow in even steps; these are {steps.min():.3g} to {steps.max():.3g} s, mostly "
            f"{step:.3g} s: samples = resample(robot, samples) makes them even"
        )
    if not (isinstance(cutoff, (int, float, np.number)) and 0 < cutoff < 0.4 / step):
        fits = [unit for unit, scale in _UNITS.items() if step >= 0.5 and 1e-5 < step * scale < 0.2]
        hint = f"; is time in {fits[0]}? It must be in s" if fits else ""
        raise ArgumentError(
            f"differentiate: cutoff {cutoff} Hz must be between 0 and 0.4 of the sampling rate {1 / step:g} Hz{hint}"
        )
    return step


def _reject_wrapped(robot: Robot, q: np.ndarray, caller: str) -> None:
    """Raises an error if an angle jumps by more than π between samples: it was wrapped into [-π, π] or [0, 2π]."""
    names, places = coordinate_names(robot), angles(robot)
    jumps = np.abs(np.diff(q[:, places], axis=0)).max(axis=0) > np.pi
    if jumps.any():
        joints = ", ".join(f"q_{names[k]}" for k in places[jumps])
        raise ArgumentError(f"{caller}: {joints} jumps by more than π: wrapped? np.unwrap(q, axis=0) undoes it")


def angles(robot: Robot) -> np.ndarray:
    """Places in q of the joints that turn and have one degree of freedom; mimicking joints have no place in q."""
    at = robot.layout.q_start
    bodies = [i for i in range(len(robot.body_names)) if i not in robot.mimics and len(robot.screw(i)) == 1]
    return np.array([at[i] for i in bodies if robot.screw(i)[0, :3].any()], int)
