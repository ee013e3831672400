"""`Trajectory`, the one way to hold a motion of joints: pieces of polynomials in time."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, scan, static
from ..compile.front.arguments import as_input
from ..dynamics.regressors import dof_names
from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.configuration import difference, integrate
from ..model.input_checks import floats
from ..model.needs import need_robot
from ..model.robot import Robot
from .along import Torques, check_joints, torques
from .draw import draw_trajectory
from .extrema import Extrema, extrema
from .limits import LimitReport, limits_hold
from .manifold import has_manifold_joints, local_rates
from .polynomials import mirrored, rates, shifted
from .storage import read_arrays, save

__all__ = ["Sample", "Trajectory", "joined", "pieced", "seconds"]

_ROUNDING = 1e-12  # times this little outside of a trajectory, as a fraction of its duration, are at its ends
_SHORTEST = 1e-40  # [s] its seventh power, and that of its inverse, are floating-point numbers
_JUMP = 1e-6  # [rad or m] trajectories are joined if the next one starts this near to the end of the one before
_CORE = {"knots": 1, "coefficients": 3, "anchors": 2}  # how many axes each array has behind those of the batch


class Sample(NamedTuple):
    """Position q (..., nq), velocity v, acceleration a and jerk (..., nv) of a trajectory at some times."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    jerk: np.ndarray


class _Shape(NamedTuple):
    """What the machine code of a trajectory depends on; `robot` only if it has joints of several degrees of freedom."""

    robot: Robot | None
    nq: int
    n: int
    order: int


def _piece(starts, coefficients, t, end, shape: tuple) -> tuple:
    """The last piece that starts at or before t, and before the end: its start and its coefficients."""

    def later(carry, row):
        start, c = row
        now = (t >= start) & (start < end)
        return (np.where(now, start, carry[0]), np.where(now, c, carry[1])), None

    found, _ = scan(later, (0.0 * t, np.zeros(shape)), (starts, coefficients))
    return found


def _held(sample: Sample, t, end) -> Sample:
    """The sample, at rest before the start and after the end."""
    inside = (t >= 0) & (t <= end)
    return Sample(sample.q, *(np.where(inside, x, 0.0) for x in sample[1:]))


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"))
def _vector_sample(shape: _Shape, starts, coefficients, end, t) -> Sample:
    """The sample at time t of a trajectory whose pieces start at `starts`, and which ends at `end`."""
    s = np.clip(t, 0.0, end)
    start, c = _piece(starts, coefficients, s, end, (shape.n, shape.order))
    return _held(Sample(*rates(c, s - start)), t, end)


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"), anchors=(..., "nq"))
def _manifold_sample(shape: _Shape, starts, coefficients, anchors, end, t) -> Sample:
    """The same on the manifold of a robot's configurations: q = anchor ∘ exp(x)."""
    s = np.clip(t, 0.0, end)
    rows = scan(lambda carry, row: (carry, np.concatenate([row[0].ravel(), row[1]])), 0.0, (coefficients, anchors))[1]
    start, row = _piece(starts, rows, s, end, (shape.n * shape.order + shape.nq,))
    c, anchor = row[: -shape.nq].reshape(shape.n, shape.order), row[-shape.nq :]
    x = rates(c, s - start)
    q = integrate(shape.robot, anchor, x[0])  # type: ignore[arg-type]
    return _held(Sample(q, *local_rates(shape.robot, *x)), t, end)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of joints in time, or a batch of them: pieces of polynomials, one after the other.

        trajectory = quintic(q_start, q_goal, duration=2.0)
        q, v, a, jerk = trajectory([0.0, 0.5, 1.0])

    Piece k lasts from knots[k] to knots[k + 1] [s], and knots[0] is 0. In it, coordinate i is Σ_j c_ij (t - knots[k])^j
    with c = coefficients[k]. With a `robot` that has joints of several degrees of freedom, these are coordinates about
    anchors[k]: q = anchor ∘ exp(x). Leading axes of the arrays are those of the batch; `trajectory[i]` is one of it.

        trajectory.extrema().v.highest                      # (n,) exact, with the times at_highest
        print(trajectory.limits_hold(robot))                # which joint exceeds which limit, when, and by how much
        trajectory.cut(0.5, 1.0).reversed().save("back.npz")
    """

    knots: np.ndarray  # (..., K + 1) [s]
    coefficients: np.ndarray  # (..., K, nv, degree + 1)
    robot: Robot | None = None
    anchors: np.ndarray | None = None  # (..., K, nq), of robots with joints of several degrees of freedom

    def __post_init__(self):
        for name in _CORE:
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, _frozen(as_input(array, name, "Trajectory")))
        _check(self)

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch; () for one trajectory."""
        anchors = () if self.anchors is None else self.anchors.shape[:-2]
        return np.broadcast_shapes(self.knots.shape[:-1], self.coefficients.shape[:-3], anchors)

    @property
    def pieces(self) -> int:
        """The number K of pieces."""
        return self.coefficients.shape[-3]

    @property
    def nv(self) -> int:
        """The number of coordinates that move."""
        return self.coefficients.shape[-2]

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return self.coefficients.shape[-1] - 1

    @property
    def duration(self) -> Any:
        """The duration [s]: a number, or an array (...) for a batch of trajectories with knots of their own."""
        return float(self.knots[-1]) if self.knots.ndim == 1 else self.knots[..., -1]

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names (nv) of the coordinates: those of the robot's joints, if it is known."""
        return tuple(f"joint {i}" for i in range(self.nv)) if self.robot is None else dof_names(self.robot)

    # --- samples ------------------------------------------------------------------------------------------------------

    @cached_property
    def _sampler(self):
        nq = self.nv if self.anchors is None else self.anchors.shape[-1]
        shape = _Shape(self.robot if self.anchors is not None else None, nq, self.nv, self.degree + 1)
        return (_vector_sample if self.anchors is None else _manifold_sample).bind(shape)

    def __call__(self, t, *, hold: bool = False) -> Sample:
        """The `Sample` at times t [s], within 0 and `duration`; with `hold`, it rests at its ends before and after.

        Of a batch, t is one time, times (N,) for all of it, or (..., N) with leading axes that broadcast against the
        batch: q is (..., N, nq). At a knot, the sample is that of the piece which starts there.
        """
        t = as_input(t, "t", "Trajectory").astype(float, copy=False)
        many, end = t.ndim > 0, self.knots[..., -1]
        if many and self.knots.ndim > 1:
            end = end[..., None]
        try:
            np.broadcast_shapes(t.shape[:-1], self.batch)
        except ValueError:
            raise ArgumentError(
                f"t has shape {t.shape}; a batch {self.batch} of trajectories needs one time, (N,), or (..., N) whose "
                "leading axes broadcast against the batch"
            ) from None
        if not hold:
            t = self._inside(t, end)
        elif np.isnan(t).any():
            raise ArgumentError("t contains NaN, which is no time")
        tables = [self.knots[..., :-1], self.coefficients, *([] if self.anchors is None else [self.anchors])]
        if many:  # the last axis of t comes after those of the batch
            tables = [np.expand_dims(x, axis) for x, axis in zip(tables, (-2, -4, -3), strict=False)]
        return self._sampler(*tables, end, t)

    def _inside(self, t: np.ndarray, end) -> np.ndarray:
        """The times, clipped to the trajectory if they are outside by no more than rounding errors."""
        slack = _ROUNDING * end
        if not np.all((t >= -slack) & (t <= end + slack)):
            t, end = np.broadcast_arrays(t, end)
            bad = ~((t >= -_ROUNDING * end) & (t <= (1 + _ROUNDING) * end))
            place = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(bad)))
            which = f" at t[{', '.join(map(str, place))}]" if t.ndim else ""
            raise ArgumentError(
                f"a trajectory of {np.atleast_1d(end)[place]:g} s has no time {np.atleast_1d(t)[place]:g} s{which}; "
                "with hold=True it rests before its start and after its end"
            )
        return np.clip(t, 0.0, end)

    def __getitem__(self, index) -> Trajectory:
        """Some trajectories of a batch, by NumPy's rules for its axes."""
        if not self.batch:
            raise ArgumentError(
                f"one trajectory of {self.pieces} pieces has no items; trajectory(t) is it at times t, "
                "trajectory.cut(start, stop) a part of it"
            )
        chosen = {name: x[index] for name, x in self._arrays(self.batch).items()}
        return _without_empty_pieces(self.robot, **chosen)

    def _arrays(self, batch: tuple[int, ...]) -> dict[str, np.ndarray]:
        """{name: array with all axes of the batch} of the arrays that there are."""
        found = {name: getattr(self, name) for name in _CORE if getattr(self, name) is not None}
        return {name: np.broadcast_to(x, (*batch, *x.shape[x.ndim - _CORE[name] :])) for name, x in found.items()}

    def __len__(self) -> int:
        """The length of the first axis of a batch."""
        if not self.batch:
            raise TypeError("one trajectory has no length; its duration [s] is trajectory.duration")
        return self.batch[0]

    def __bool__(self) -> bool:
        return True

    # --- what it does -------------------------------------------------------------------------------------------------

    def extrema(self) -> Extrema:
        """The lowest and highest q, v, a and jerk of every joint, (..., n) each, and when [s] they are first reached.

            >>> at = quintic([0.0, 1.0], [1.0, 0.0], duration=2.0).extrema()
            >>> at.v.highest, at.v.at_highest
            (array([0.9375, 0.    ]), array([1., 0.]))

        They are exact to rounding errors, at ends of pieces or at roots of derivatives; where a or jerk jumps at a
        knot, the values on both sides count. Rates of joints of several degrees of freedom are no polynomials: theirs
        are the tops of dense samples, refined until rounding. Coordinates of quaternions have NaN.
        """
        return extrema(self)

    def torques(self, robot: Robot | None = None, t=None) -> Torques:
        """The torques tau (..., N, n) [N m or N] of inverse dynamics, with dry friction, at times t [s].

            t, tau = trajectory.torques(robot)

        Without t, the times are dense on every piece. `robot` is by default the one the trajectory was made with.
        """
        return torques(self, robot, t)

    def limits_hold(
        self, robot: Robot | None = None, *, velocity=None, acceleration=None, jerk=None, torque: bool = True,
        tolerance: float = 1e-9,
    ) -> LimitReport:  # fmt: skip
        """Whether positions, velocities, torques keep the robot's limits at every time: a `LimitReport`.

            report = trajectory.limits_hold(robot, acceleration=10.0)
            if not report:
                print(report)       # limit exceeded: velocity of joint 'elbow' is 3.2 rad/s at 0.41 s, ...
            report.worst.joint, report.worst.time, report.worst.excess
            report.reach["velocity"].excess                 # (..., n), below 0 where the limit holds

        Robots have no limits of `acceleration` and `jerk`; give them, as a number or (n,), to have them looked at.
        `velocity` takes the place of the robot's own limits. Extrema of q, v, a and jerk are those of `extrema`;
        torques are looked at unless `torque` is False, and their peaks are tops of dense samples, refined until
        rounding. A limit holds if it is exceeded by no more than the fraction `tolerance`.
        """
        return limits_hold(self, robot, velocity, acceleration, jerk, torque, tolerance)

    def plot(self, path: str | os.PathLike[str], robot: Robot | None = None) -> Path:
        """Draws position, velocity, acceleration and, of a known robot, torque over time; limits are dotted.

        It returns the path of the file, whose ending says what it is: .png, .pdf, .svg. This needs matplotlib.
        """
        return draw_trajectory(self, Path(path), robot)

    # --- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the trajectory into a .npz, .json or .csv file, exact to the last bit; .csv takes no batch.

        The file appears, or is replaced, when everything is written. The robot is not in it; give it to `load`.
        """
        return save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], robot: Robot | None = None) -> Trajectory:
        """The trajectory that `save` wrote; files of anything else are refused with an `ArgumentError`.

            >>> saved = quintic([0.0], [1.0], duration=2.0).save("move.json")
            >>> Trajectory.load("move.json")
            <Trajectory: 2 s, 1 joint, 1 piece of degree 5>

        The robot, if it is given, must have as many degrees of freedom; trajectories with joints of several degrees of
        freedom need one.
        """
        arrays = read_arrays(path)
        try:
            return cls(robot=robot, **arrays)
        except ArgumentError as error:
            raise ArgumentError(f"{os.fsdecode(path)}: {error}") from None

    # --- other trajectories made of it --------------------------------------------------------------------------------

    def cut(self, start=0.0, stop=None) -> Trajectory:
        """The part from `start` to `stop` [s], numbers or arrays (...) for a batch, which begins at time 0."""
        end = np.asarray(self.duration)
        t_0 = floats(start)
        t_1 = end if stop is None else floats(stop)
        if not np.all((t_0 >= 0) & (t_0 < t_1) & (t_1 <= end * (1 + _ROUNDING))):
            raise ArgumentError(
                f"cut: a trajectory of {np.min(end):g} s has no part from {start!r:.60} to {stop!r:.60}; "
                "0 <= start < stop <= duration is needed"
            )
        t_0, t_1 = t_0[..., None], np.minimum(t_1, end)[..., None]
        first, last = np.clip(self.knots[..., :-1], t_0, t_1), np.clip(self.knots[..., 1:], t_0, t_1)
        moved = shifted(self.coefficients, (first - self.knots[..., :-1])[..., None])
        knots = np.concatenate([first, last[..., -1:]], axis=-1) - t_0
        return _without_empty_pieces(self.robot, knots, moved, self.anchors)

    def stretched(self, factor) -> Trajectory:
        """The same path, lasting `factor` (...) times as long: v, a, jerk are divided by its first to third power."""
        times = floats(factor)
        if not np.all((times > 0) & (times < np.inf)):
            raise ArgumentError(f"stretched: factor must be a positive number, or an array of them, got {factor!r:.80}")
        return self.lasting(times * self.duration)

    def lasting(self, duration) -> Trajectory:
        """The same path within another `duration` (...) [s]."""
        new, old = seconds(duration, "lasting: duration")[..., None], self.knots[..., -1:]
        powers = (new / old)[..., None, None] ** np.arange(self.degree + 1.0)
        return replace(self, knots=self.knots / old * new, coefficients=self.coefficients / powers)

    def reversed(self) -> Trajectory:
        """The same path backward: q(duration - t)."""
        knots = self.knots[..., -1:] - self.knots[..., ::-1]
        back = mirrored(self.coefficients, np.diff(self.knots, axis=-1)[..., None])[..., ::-1, :, :]
        anchors = None if self.anchors is None else self.anchors[..., ::-1, :]
        return _without_empty_pieces(self.robot, knots, back, anchors)

    def __repr__(self) -> str:
        many = f"{self.batch} " if self.batch else ""
        low, high = np.min(self.duration), np.max(self.duration)
        lasting = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
        pieces = "1 piece" if self.pieces == 1 else f"{self.pieces} pieces"
        whose = f" of '{self.robot.name}'" if self.robot is not None else ""
        joints = "1 joint" if self.nv == 1 else f"{self.nv} joints"
        return f"<Trajectory{whose}: {many}{lasting}, {joints}, {pieces} of degree {self.degree}>"


def _frozen(array: np.ndarray, *, own: bool = False) -> np.ndarray:
    """The array, read-only and contiguous; a copy of it if it can be written, unless it is our `own`."""
    array = np.array(array, float, order="C", copy=None if own or not array.flags.writeable else True)
    array.flags.writeable = False
    return array


def _check(x: Trajectory) -> None:
    """Raises `ArgumentError` unless shapes fit, all numbers are finite, and the knots increase from 0."""
    shapes = f"knots {x.knots.shape}, coefficients {x.coefficients.shape}"
    shapes += "" if x.anchors is None else f", anchors {x.anchors.shape}"
    needed = "knots (..., K + 1), coefficients (..., K, nv, degree + 1) and anchors (..., K, nq), if any, are needed"
    arrays = {name: array for name in _CORE if (array := getattr(x, name)) is not None}
    fit = all(array.ndim >= _CORE[name] for name, array in arrays.items()) and 0 not in x.coefficients.shape[-3:]
    if not fit or {x.knots.shape[-1] - 1, *([] if x.anchors is None else x.anchors.shape[-2:-1])} != {x.pieces}:
        raise ArgumentError(f"Trajectory: {shapes} do not fit; {needed}")
    try:
        np.broadcast_shapes(*(array.shape[: array.ndim - _CORE[name]] for name, array in arrays.items()))
    except ValueError:
        raise ArgumentError(f"Trajectory: leading axes of {shapes} do not match") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            place = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
            raise ArgumentError(f"Trajectory: {name}{list(place)} is {array[place]}; all numbers must be finite")
    h = np.diff(x.knots, axis=-1)
    if np.any(x.knots[..., 0] != 0) or np.any(h < 0) or not np.all((h > 0).reshape(-1, x.pieces).any(axis=0)):
        raise ArgumentError(f"Trajectory: knots must increase, from 0 on, got {x.knots!r:.200}")
    if x.robot is not None:
        need_robot(x.robot, "Trajectory")
        check_joints(x.robot, x.nv, x.anchors, "Trajectory")
    elif x.anchors is not None:
        raise ArgumentError("Trajectory: anchors belong to joints of several degrees of freedom; give the robot too")


def _without_empty_pieces(robot: Robot | None, knots, coefficients, anchors=None) -> Trajectory:
    """The trajectory without pieces that last no time; of a batch, without those that last none in all of it."""
    kept = np.flatnonzero((np.diff(knots, axis=-1) > 0).reshape(-1, knots.shape[-1] - 1).any(axis=0))
    if len(kept) < knots.shape[-1] - 1:
        knots = np.concatenate([knots[..., kept], knots[..., -1:]], axis=-1)
        anchors = None if anchors is None else anchors[..., kept, :]
        coefficients = coefficients[..., kept, :, :]
    return Trajectory(_frozen(knots, own=True), _frozen(coefficients, own=True), robot, anchors)


def joined(trajectories: Iterable[Trajectory]) -> Trajectory:
    """The trajectories one after the other, as one; each must start where the one before it ends.

        >>> from adjoint.trajectory import quintic
        >>> there = quintic([0.0], [1.0], duration=2.0)
        >>> joined([there, there.reversed()])
        <Trajectory: 4 s, 1 joint, 2 pieces of degree 5>
    """
    several = isinstance(trajectories, Iterable) and not isinstance(trajectories, Trajectory)
    parts = list(trajectories) if several else []
    if not parts or not all(isinstance(part, Trajectory) for part in parts):
        raise ArgumentError(f"joined needs a list of trajectories, got {trajectories!r:.60}")
    try:
        batch = np.broadcast_shapes(*(part.batch for part in parts))
    except ValueError:
        shapes = ", ".join(str(part.batch) for part in parts)
        raise ArgumentError(f"joined: batches of different shapes: {shapes}") from None
    for k in range(1, len(parts)):
        _check_joint(parts[k - 1], parts[k], k)
    order = max(part.degree for part in parts) + 1
    starts = np.cumsum([np.zeros(batch), *(np.broadcast_to(part.duration, batch) for part in parts)], axis=0)
    arrays = [part._arrays(batch) for part in parts]
    knots = [x["knots"][..., :-1] + start[..., None] for x, start in zip(arrays, starts, strict=False)]
    padded = [np.pad(x["coefficients"], [*[(0, 0)] * (len(batch) + 2), (0, order - 1 - p.degree)])
              for x, p in zip(arrays, parts, strict=True)]  # fmt: skip
    return _without_empty_pieces(
        next((part.robot for part in parts if part.robot is not None), None),
        np.concatenate([*knots, starts[-1][..., None]], axis=-1),
        np.concatenate(padded, axis=-3),
        None if parts[0].anchors is None else np.concatenate([x["anchors"] for x in arrays], axis=-2),
    )


def _check_joint(before: Trajectory, after: Trajectory, k: int) -> None:
    """Raises `ArgumentError` unless trajectory number k begins where the one before it ends."""
    robots = before.robot, after.robot
    if before.nv != after.nv or (None not in robots and robots[0] != robots[1]):
        raise ArgumentError(f"joined: trajectories {k - 1} and {k} are of different joints: {before!r} and {after!r}")
    end = np.asarray(before.duration)
    stop = before(end).q if not end.ndim else before(end[..., None]).q[..., 0, :]
    start = after(0.0).q
    gap = np.abs(start - stop if before.anchors is None else difference(before.robot, stop, start))  # type: ignore[arg-type]
    if not np.all(gap <= _JUMP * (1 + np.abs(stop).max(axis=-1, keepdims=True))):
        *_, i = np.unravel_index(np.argmax(gap), gap.shape)
        raise ArgumentError(
            f"joined: trajectory {k} does not start where trajectory {k - 1} ends: "
            f"'{before.joint_names[int(i)]}' would jump by {gap.max():.6g}"
        )


def seconds(value, label: str) -> np.ndarray:
    """Positive times [s], one or an array, whose powers are numbers; or an `ArgumentError` that names `label`."""
    found = floats(value)
    if not np.all((found > _SHORTEST) & (found < 1 / _SHORTEST)):
        raise ArgumentError(f"{label} must be a positive time [s], or an array of them, got {value!r:.80}")
    return found


def pieced(robot: Robot | None, durations: np.ndarray, coefficients: np.ndarray, anchors=None) -> Trajectory:
    """The trajectory of pieces that last `durations` (..., K) [s]; it keeps the array of coefficients, read-only."""
    knots = np.concatenate([np.zeros_like(durations[..., :1]), np.cumsum(durations, axis=-1)], axis=-1)
    anchors = anchors if has_manifold_joints(robot) else None
    return Trajectory(_frozen(knots, own=True), _frozen(coefficients, own=True), robot, anchors)
