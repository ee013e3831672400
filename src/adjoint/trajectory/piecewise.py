"""`Trajectory`, the one way to hold a motion of joints: pieces of polynomials in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from ..compile import kernel, scan, static
from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.configuration import integrate
from ..model.input_checks import floats
from ..model.robot import Robot
from .manifold import has_manifold_joints, local_rates
from .polynomials import mirrored, rates, shifted

__all__ = ["Sample", "Trajectory", "joined", "piece_at", "pieced", "seconds"]

Motion = TypeVar("Motion")
_ROUNDING = 1e-12  # times this little outside of a trajectory, as a fraction of its duration, are at its ends


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


def piece_at(starts, tables: tuple, t, end, shapes: tuple) -> tuple:
    """The last piece that starts at or before t, and before the end: its start, and its row of each table."""

    def later(carry, row):
        now = (t >= row[0]) & (row[0] < end)
        return tuple(np.where(now, new, old) for new, old in zip(row, carry, strict=True)), None

    found, _ = scan(later, (0.0 * t, *(np.zeros(shape) for shape in shapes)), (starts, *tables))
    return found


def _held(sample: Sample, t, end) -> Sample:
    """The sample, at rest before the start and after the end."""
    inside = (t >= 0) & (t <= end)
    return Sample(sample.q, *(np.where(inside, x, 0.0) for x in sample[1:]))


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"))
def _vector_sample(shape: _Shape, starts, coefficients, end, t) -> Sample:
    """The sample at time t of a trajectory whose pieces start at `starts`, and which ends at `end`."""
    s = np.clip(t, 0.0, end)
    start, c = piece_at(starts, (coefficients,), s, end, ((shape.n, shape.order),))
    return _held(Sample(*rates(c, s - start)), t, end)


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"), anchors=(..., "nq"))
def _manifold_sample(shape: _Shape, starts, coefficients, anchors, end, t) -> Sample:
    """The same on the manifold of a robot's configurations: q = anchor ∘ exp(x)."""
    s = np.clip(t, 0.0, end)
    shapes = (shape.n, shape.order), (shape.nq,)
    start, c, anchor = piece_at(starts, (coefficients, anchors), s, end, shapes)
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
    """

    knots: np.ndarray  # (..., K + 1) [s]
    coefficients: np.ndarray  # (..., K, nv, degree + 1)
    robot: Robot | None = None
    anchors: np.ndarray | None = None  # (..., K, nq), of robots with joints of several degrees of freedom

    def __post_init__(self):
        for name, array in (("knots", self.knots), ("coefficients", self.coefficients), ("anchors", self.anchors)):
            if array is not None:
                array = np.ascontiguousarray(array, float)
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch; () for one trajectory."""
        return np.broadcast_shapes(self.knots.shape[:-1], self.coefficients.shape[:-3])

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
    def duration(self):
        """The duration [s]: a number, or an array of the shape of the batch."""
        return float(self.knots[-1]) if self.knots.ndim == 1 else self.knots[..., -1]

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates: those of the robot's joints, if it is known."""
        if self.robot is not None and len(self.robot.joint_names) == self.nv:
            return tuple(self.robot.joint_names)
        return tuple(f"joint {i}" for i in range(self.nv))

    # --- samples ------------------------------------------------------------------------------------------------------

    @cached_property
    def _sampler(self):
        nq = self.nv if self.anchors is None else self.anchors.shape[-1]
        shape = _Shape(self.robot if self.anchors is not None else None, nq, self.nv, self.degree + 1)
        return (_vector_sample if self.anchors is None else _manifold_sample).bind(shape)

    def __call__(self, t, *, hold: bool = False) -> Sample:
        """The `Sample` at times t [s], within 0 and `duration`; with `hold`, it rests at its ends before and after.

        Of a batch, t is one time, times (N,) for all of it, or (..., N) with leading axes that broadcast against the
        batch: q is (..., N, nq).
        """
        return self._sampler(*self.arguments(t, hold))

    def arguments(self, t, hold: bool) -> tuple:
        """What a kernel that samples the pieces needs: starts, coefficients, anchors if there are any, end, and t."""
        t = np.asarray(t, float)
        end, many = self.knots[..., -1], t.ndim > 0
        if many and self.knots.ndim > 1:
            end = end[..., None]
        if not hold:
            t = self._inside(t, end)
        tables = [self.knots[..., :-1], self.coefficients, *([] if self.anchors is None else [self.anchors])]
        if many:  # the last axis of t comes after those of the batch
            tables = [np.expand_dims(x, axis) for x, axis in zip(tables, (-2, -4, -3), strict=False)]
        return *tables, end, t

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
        arrays = {"knots": (self.knots, 1), "coefficients": (self.coefficients, 3), "anchors": (self.anchors, 2)}
        chosen = {
            name: np.broadcast_to(x, (*self.batch, *x.shape[x.ndim - core :]))[index]
            for name, (x, core) in arrays.items()
            if x is not None
        }
        return replace(self, **chosen)

    def __len__(self) -> int:
        """The length of the first axis of a batch."""
        if not self.batch:
            raise TypeError("one trajectory has no length; its duration [s] is trajectory.duration")
        return self.batch[0]

    # --- other trajectories made of it --------------------------------------------------------------------------------

    def cut(self, start: float = 0.0, stop: float | None = None) -> Trajectory:
        """The part from `start` to `stop` [s], which begins at time 0."""
        end = np.asarray(self.duration)
        t_0 = floats(start)
        t_1 = end if stop is None else floats(stop)
        if not np.all((t_0 >= 0) & (t_0 < t_1) & (t_1 <= end * (1 + _ROUNDING))):
            raise ArgumentError(
                f"cut: a trajectory of {np.min(end):g} s has no part from {start!r} to {stop!r}; "
                "0 <= start < stop <= duration is needed"
            )
        t_0, t_1 = t_0[..., None], np.minimum(t_1, end)[..., None]
        first, last = np.clip(self.knots[..., :-1], t_0, t_1), np.clip(self.knots[..., 1:], t_0, t_1)
        moved = shifted(self.coefficients, (first - self.knots[..., :-1])[..., None])
        knots = np.concatenate([first, last[..., -1:]], axis=-1) - t_0
        return replace(self, knots=knots, coefficients=moved).without_empty_pieces()

    def without_empty_pieces(self) -> Trajectory:
        """The same, without pieces that last no time; of a batch, without those that last none in all of it."""
        h = np.diff(self.knots, axis=-1)
        kept = np.flatnonzero((h > 0).reshape(-1, self.pieces).any(axis=0))
        if len(kept) in (0, self.pieces):
            return self
        knots = np.concatenate([self.knots[..., kept], self.knots[..., -1:]], axis=-1)
        anchors = None if self.anchors is None else self.anchors[..., kept, :]
        return replace(self, knots=knots, coefficients=self.coefficients[..., kept, :, :], anchors=anchors)

    def stretched(self, factor) -> Trajectory:
        """The same path, lasting `factor` times as long: v, a and jerk are divided by its first to third power."""
        factor = floats(factor)
        if not np.all((factor > 0) & np.isfinite(factor)):
            raise ArgumentError(f"stretched: factor must be a positive number, got {factor.tolist()!r}")
        powers = factor[..., None, None, None] ** np.arange(self.degree + 1.0)
        return replace(self, knots=self.knots * factor[..., None], coefficients=self.coefficients / powers)

    def lasting(self, duration) -> Trajectory:
        """The same path within another `duration` [s]."""
        return self.stretched(floats(duration) / self.duration)

    def reversed(self) -> Trajectory:
        """The same path backward: q(duration - t)."""
        knots = self.knots[..., -1:] - self.knots[..., ::-1]
        back = mirrored(self.coefficients, np.diff(self.knots, axis=-1)[..., None])[..., ::-1, :, :]
        anchors = None if self.anchors is None else self.anchors[..., ::-1, :]
        return replace(self, knots=knots, coefficients=back, anchors=anchors)

    def __repr__(self) -> str:
        many = f"{self.batch} " if self.batch else ""
        low, high = np.min(self.duration), np.max(self.duration)
        lasting = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
        pieces = "1 piece" if self.pieces == 1 else f"{self.pieces} pieces"
        whose = f" of '{self.robot.name}'" if self.robot is not None else ""
        return f"<Trajectory{whose}: {many}{lasting}, {self.nv} joints, {pieces} of degree {self.degree}>"


def joined(trajectories: Sequence[Motion]) -> Motion:
    """The trajectories one after the other, as one; the end of each should be the start of the next.

    They are all motions of joints, `Trajectory`, or all motions of a frame, `PoseTrajectory`.
    """
    parts: list = list(trajectories)
    if parts and hasattr(parts[0], "joined_with"):  # motions of frames
        return parts[0].joined_with(parts[1:])
    if not parts or not all(isinstance(part, Trajectory) for part in parts):
        raise ArgumentError(f"joined needs a list of trajectories, got {trajectories!r:.60}")
    first = parts[0]
    for part in parts[1:]:
        if part.nv != first.nv or (part.anchors is None) != (first.anchors is None):
            raise ArgumentError(f"joined: {part!r} and {first!r} are of different joints")
    order = max(part.degree for part in parts) + 1
    batch = np.broadcast_shapes(*(part.batch for part in parts))
    starts = np.cumsum([np.zeros(batch), *(np.broadcast_to(part.duration, batch) for part in parts)], axis=0)

    def whole(x: np.ndarray, core: int) -> np.ndarray:
        return np.broadcast_to(x, (*batch, *x.shape[x.ndim - core :]))

    padded = [np.pad(p.coefficients, [(0, 0)] * (p.coefficients.ndim - 1) + [(0, order - 1 - p.degree)]) for p in parts]
    knots = [whole(part.knots[..., :-1], 1) + start[..., None] for part, start in zip(parts, starts, strict=False)]
    anchors = None if first.anchors is None else [whole(part.anchors, 2) for part in parts]  # type: ignore[arg-type]
    return Trajectory(  # type: ignore[return-value]
        np.concatenate([*knots, starts[-1][..., None]], axis=-1),
        np.concatenate([whole(c, 3) for c in padded], axis=-3),
        first.robot,
        None if anchors is None else np.concatenate(anchors, axis=-2),
    )


def seconds(value, label: str) -> np.ndarray:
    """Positive times [s], one or an array, or an `ArgumentError` that names `label`."""
    found = floats(value)
    if not np.all((found > 1e-150) & (found < 1e150)):
        raise ArgumentError(f"{label} must be a positive time [s], or an array of them, got {value!r:.80}")
    return found


def pieced(robot: Robot | None, durations: np.ndarray, coefficients: np.ndarray, anchors=None) -> Trajectory:
    """The trajectory of pieces that last `durations` (..., K) [s]."""
    knots = np.concatenate([np.zeros_like(durations[..., :1]), np.cumsum(durations, axis=-1)], axis=-1)
    return Trajectory(knots, coefficients, robot, anchors if has_manifold_joints(robot) else None)
