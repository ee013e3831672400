"""Pieces of polynomials in time, one after the other: what motions of joints and motions of a frame have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..compile import row_at, scan, while_loop
from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.input_checks import floats
from .polynomials import mirrored, shifted
from .quantities import seconds

__all__ = [
    "ROUNDING",
    "InPieces",
    "Pieces",
    "common_batch",
    "frozen",
    "joined_pieces",
    "knots_after",
    "piece_at",
    "rates_inside",
]

ROUNDING = 1e-9
"""Times this little outside of a motion, as a fraction of its duration, are at its ends."""

_MANY = 32  # pieces: more are searched by halving
_CORE = {"knots": 1, "coefficients": 3, "rows": 2}  # how many axes each array has behind those of the batch


class Table(NamedTuple):
    """What a kernel that samples pieces gets of them, but the time: see `piece_at`."""

    arrays: tuple[np.ndarray, ...]  # starts (..., K), coefficients, and rows if there are any
    end: np.ndarray  # (...) [s]
    pieces: np.ndarray  # K, as a number


@dataclass(frozen=True, eq=False)
class Pieces:
    """K pieces, or a batch of them over leading axes. Piece k lasts from knots[k] to knots[k + 1] [s].

    In it, variable i is Σ_j coefficients[k, i, j] (t - knots[k])^j; `rows`, if there are any, are further numbers that
    belong to each piece. The arrays are read-only; those that the caller could write are copied. `of` is the name of
    what they are part of, for messages.
    """

    knots: np.ndarray  # (..., K + 1)
    coefficients: np.ndarray  # (..., K, n, degree + 1)
    rows: np.ndarray | None = None  # (..., K, m)
    of: str = "Trajectory"

    def __post_init__(self):
        for name in _CORE:
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozen(as_input(array, name, self.of)))
        self._check()

    def _check(self) -> None:
        """Raises `ArgumentError` unless shapes fit, all numbers are finite, and the knots do not decrease from 0 on."""
        arrays = self._arrays
        fit = all(array.ndim >= _CORE[name] for name, array in arrays.items()) and 0 not in self.coefficients.shape[-3:]
        fit = fit and self.knots.shape[-1] - 1 == self.count
        if not fit or (self.rows is not None and self.rows.shape[-2] != self.count):
            needed = "knots (..., K + 1), coefficients (..., K, n, degree + 1) and rows (..., K, m), if any, are needed"
            raise ArgumentError(f"{self.of}: {self._shapes} do not fit; {needed}")
        try:
            _ = self.batch
        except ValueError:
            raise ArgumentError(f"{self.of}: leading axes of {self._shapes} do not match") from None
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                place = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
                raise ArgumentError(f"{self.of}: {name}{list(place)} is {array[place]}; all numbers must be finite")
        if (self.knots[..., 0] != 0).any() or (self.knots[..., 1:] < self.knots[..., :-1]).any():
            raise ArgumentError(f"{self.of}: knots must not decrease, from 0 on, got {self.knots!r:.200}")

    # --- what they are ------------------------------------------------------------------------------------------------

    @property
    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: array for name in _CORE if (array := getattr(self, name)) is not None}

    @property
    def _shapes(self) -> str:
        return ", ".join(f"{name} {array.shape}" for name, array in self._arrays.items())

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch; () for one motion."""
        return np.broadcast_shapes(*(x.shape[: x.ndim - _CORE[name]] for name, x in self._arrays.items()))

    @property
    def count(self) -> int:
        """The number K of pieces."""
        return self.coefficients.shape[-3]

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return self.coefficients.shape[-1] - 1

    @property
    def duration(self) -> Any:
        """The duration [s]: a number, or an array (...) for a batch with knots of its own."""
        return float(self.knots[-1]) if self.knots.ndim == 1 else self.knots[..., -1]

    @property
    def shown(self) -> str:
        """The batch and the duration, for a `repr`."""
        ends = np.ravel(self.duration)
        low, high = (ends.min(), ends.max()) if ends.size else (0.0, 0.0)
        lasting = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
        return f"{self.batch} {lasting}" if self.batch else lasting

    def over(self, batch: tuple[int, ...]) -> dict[str, np.ndarray]:
        """{name: array with all axes of a batch} of the arrays that there are."""
        return {k: np.broadcast_to(x, (*batch, *x.shape[x.ndim - _CORE[k] :])) for k, x in self._arrays.items()}

    def renewed(self, **arrays) -> Pieces:
        """Pieces with some arrays in the place of these; the new arrays are ours."""
        return Pieces(**{**self._arrays, **{k: frozen(x, own=True) for k, x in arrays.items()}}, of=self.of)

    # --- samples ------------------------------------------------------------------------------------------------------

    @cached_property
    def many(self) -> bool:
        """Whether there are many pieces, so that `piece_at` halves their range."""
        return self.count > _MANY

    @cached_property
    def _tables(self) -> tuple[Table, Table]:
        """The `Table` for one time, and that for an axis of times, which comes after those of the batch."""
        arrays = [np.ascontiguousarray(x) for x in (self.knots[..., :-1], *list(self._arrays.values())[1:])]
        pieces = np.array(float(self.count))
        one = Table(tuple(arrays), self.knots[..., -1], pieces)
        if not self.batch:
            return one, one
        behind = [np.expand_dims(x, axis) for x, axis in zip(arrays, (-2, -4, -3), strict=False)]
        return one, Table(tuple(behind), self.knots[..., -1:], pieces)

    @cached_property
    def _end(self) -> float:
        """The duration of one motion; -1 of a batch."""
        return -1.0 if self.batch else float(self.knots[-1])

    def arguments(self, t, hold: bool) -> tuple:
        """The arguments of a kernel that samples the pieces: arrays of a `Table`, its end and number, and times t [s].

        Times outside are refused unless they are to `hold` the ends. Of a batch, t is one time, times (N,) for all of
        it, or (..., N) with leading axes that broadcast against the batch.
        """
        if type(t) is float and 0 <= t <= self._end:  # a control loop: no array is made
            arrays, end, pieces = self._tables[0]
            return *arrays, end, pieces, t
        t = as_input(t, "t", self.of).astype(float, copy=False)
        try:
            np.broadcast_shapes(t.shape[:-1], self.batch)
        except ValueError:
            raise ArgumentError(
                f"t has shape {t.shape}; a batch {self.batch} needs one time, (N,), or (..., N) whose leading axes "
                "broadcast against the batch"
            ) from None
        if not hold:
            self._require_inside(t)
        elif np.isnan(t).any():
            raise ArgumentError("t contains NaN, which is no time")
        arrays, end, pieces = self._tables[t.ndim > 0]
        return *arrays, end, pieces, t

    def _require_inside(self, t: np.ndarray) -> None:
        """Raises an `ArgumentError` if a time is outside by more than rounding errors; samplers clip the others."""
        end = self.knots[..., -1:] if t.ndim else self.knots[..., -1]
        if not (t.size and end.size):
            return
        least = end.min()
        if t.min() >= -ROUNDING * least and t.max() <= (1 + ROUNDING) * least:
            return
        t, end = np.broadcast_arrays(t, end)
        bad = ~((t >= -ROUNDING * end) & (t <= (1 + ROUNDING) * end))
        if bad.any():  # otherwise the ends of a batch differ, and each of the times is inside
            place = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(bad)))
            which = f" at t[{', '.join(map(str, place))}]" if t.ndim else ""
            raise ArgumentError(
                f"a trajectory of {np.atleast_1d(end)[place]:g} s has no time {np.atleast_1d(t)[place]:g} s{which}; "
                "with hold=True it rests before its start and after its end"
            )

    def __reduce__(self):
        return Pieces, (self.knots, self.coefficients, self.rows, self.of)

    # --- others made of them ------------------------------------------------------------------------------------------

    def chosen(self, index) -> Pieces:
        """Some of a batch, by NumPy's rules for its axes."""
        if not self.batch:
            raise ArgumentError(
                f"one trajectory of {self.count} pieces has no items; trajectory(t) is it at times t, "
                "trajectory.cut(start, stop) a part of it"
            )
        numbers = np.arange(np.prod(self.batch, dtype=int)).reshape(self.batch)
        try:
            places = numbers[index]
        except IndexError as error:
            raise ArgumentError(f"a batch {self.batch} of trajectories has no items {index!r:.60}: {error}") from None
        flat = {k: x.reshape(numbers.size, *x.shape[len(self.batch) :]) for k, x in self.over(self.batch).items()}
        return self.renewed(**{name: x[places] for name, x in flat.items()}).without_empty()

    def _of_batch(self, label: str, x: np.ndarray) -> np.ndarray:
        """Numbers (...) whose axes broadcast against the batch."""
        try:
            np.broadcast_shapes(x.shape, self.batch)
        except ValueError:
            raise ArgumentError(f"{label} has shape {x.shape}; the batch of trajectories is {self.batch}") from None
        return x

    def without_empty(self) -> Pieces:
        """The same, without pieces that last no time; of a batch, without those that last none in all of it."""
        kept = np.flatnonzero((np.diff(self.knots, axis=-1) > 0).reshape(-1, self.count).any(axis=0))
        if len(kept) in (0, self.count):
            return self
        rows = {} if self.rows is None else {"rows": self.rows[..., kept, :]}
        knots = np.concatenate([self.knots[..., kept], self.knots[..., -1:]], axis=-1)
        return self.renewed(knots=knots, coefficients=self.coefficients[..., kept, :, :], **rows)

    def cut(self, start, stop) -> Pieces:
        """The part from `start` to `stop` [s], numbers or arrays (...) for a batch, which begins at time 0."""
        end = np.asarray(self.duration)
        t_0 = self._of_batch("cut: start", floats(start))
        t_1 = end if stop is None else self._of_batch("cut: stop", floats(stop))
        if not np.all((t_0 >= 0) & (t_0 < t_1) & (t_1 <= end * (1 + ROUNDING))):
            raise ArgumentError(
                f"cut: a trajectory of {np.min(end):g} s has no part from {start!r:.60} to {stop!r:.60}; "
                "0 <= start < stop <= duration is needed"
            )
        t_0, t_1 = t_0[..., None], np.minimum(t_1, end)[..., None]
        first, last = np.clip(self.knots[..., :-1], t_0, t_1), np.clip(self.knots[..., 1:], t_0, t_1)
        moved = shifted(self.coefficients, (first - self.knots[..., :-1])[..., None])
        knots = np.concatenate([first, last[..., -1:]], axis=-1) - t_0
        return self.renewed(knots=knots, coefficients=moved).without_empty()

    def stretched(self, factor) -> Pieces:
        """The same, lasting `factor` (...) times as long."""
        times = self._of_batch("stretched: factor", floats(factor))
        if not np.all((times > 0) & (times < np.inf)):
            raise ArgumentError(f"stretched: factor must be a positive number, or an array of them, got {factor!r:.80}")
        return self.lasting(times * self.duration)

    def lasting(self, duration) -> Pieces:
        """The same within another `duration` (...) [s]."""
        new, old = self._of_batch("lasting: duration", seconds(duration, "lasting: duration")), self.knots[..., -1:]
        new = new[..., None]
        if np.any(old == 0):
            raise ArgumentError("lasting: a trajectory that lasts 0 s stands still, and cannot be stretched")
        powers = (new / old)[..., None, None] ** np.arange(self.degree + 1.0)
        return self.renewed(knots=self.knots / old * new, coefficients=self.coefficients / powers)

    def reversed(self) -> Pieces:
        """The same backward."""
        knots = self.knots[..., -1:] - self.knots[..., ::-1]
        back = mirrored(self.coefficients, np.diff(self.knots, axis=-1)[..., None])[..., ::-1, :, :]
        rows = {} if self.rows is None else {"rows": self.rows[..., ::-1, :]}
        return self.renewed(knots=knots, coefficients=back, **rows).without_empty()


class InPieces:
    """What motions of joints and of a frame have in common: their pieces of `variables`, and what is made of them."""

    variables: Pieces

    def _of(self, pieces: Pieces) -> Self:
        """A motion of the same kind with other pieces."""
        raise NotImplementedError

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch; () for one motion."""
        return self.variables.batch

    @property
    def pieces(self) -> int:
        """The number K of pieces."""
        return self.variables.count

    @property
    def duration(self) -> Any:
        """The duration [s]: a number, or an array (...) for a batch of motions with knots of their own."""
        return self.variables.duration

    def __getitem__(self, index) -> Self:
        """Some motions of a batch, by NumPy's rules for its axes."""
        return self._of(self.variables.chosen(index))

    def __len__(self) -> int:
        """The length of the first axis of a batch."""
        if not self.batch:
            raise TypeError("one motion has no length; its duration [s] is motion.duration")
        return self.batch[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        return True

    def cut(self, start=0.0, stop=None) -> Self:
        """The part from `start` to `stop` [s], numbers or arrays (...) for a batch, which begins at time 0."""
        return self._of(self.variables.cut(start, stop))

    def stretched(self, factor) -> Self:
        """The same path, lasting `factor` (...) times as long: the k-th rates are divided by its k-th power."""
        return self._of(self.variables.stretched(factor))

    def lasting(self, duration) -> Self:
        """The same path within another `duration` (...) [s]."""
        return self._of(self.variables.lasting(duration))

    def reversed(self) -> Self:
        """The same path backward, from its end at time 0 to its start."""
        return self._of(self.variables.reversed())


def common_batch(parts: Sequence[Pieces]) -> tuple[int, ...]:
    """The shape of the batch of all parts together."""
    try:
        return np.broadcast_shapes(*(part.batch for part in parts))
    except ValueError:
        shapes = ", ".join(str(part.batch) for part in parts)
        raise ArgumentError(f"followed_by: batches of different shapes: {shapes}") from None


def joined_pieces(parts: Sequence[Pieces]) -> Pieces:
    """The pieces of all parts, one after the other."""
    batch = common_batch(parts)
    order = max(part.degree for part in parts) + 1
    starts = np.cumsum([np.zeros(batch), *(np.broadcast_to(part.duration, batch) for part in parts)], axis=0)
    arrays = [part.over(batch) for part in parts]
    knots = [x["knots"][..., :-1] + start[..., None] for x, start in zip(arrays, starts, strict=False)]
    padded = [np.pad(x["coefficients"], [*[(0, 0)] * (len(batch) + 2), (0, order - 1 - p.degree)])
              for x, p in zip(arrays, parts, strict=True)]  # fmt: skip
    return Pieces(
        frozen(np.concatenate([*knots, starts[-1][..., None]], axis=-1), own=True),
        frozen(np.concatenate(padded, axis=-3), own=True),
        None if parts[0].rows is None else frozen(np.concatenate([x["rows"] for x in arrays], axis=-2), own=True),
        parts[0].of,
    ).without_empty()


def frozen(array: np.ndarray, *, own: bool = False) -> np.ndarray:
    """The array, read-only and contiguous; a copy of it if someone can write it, unless it is our `own`."""
    base = array if array.base is None else array.base
    fixed = isinstance(base, np.ndarray) and not (base.flags.writeable or array.flags.writeable)
    array = np.array(array, float, order="C", copy=None if own or fixed else True)
    array.flags.writeable = False
    return array


def knots_after(durations: np.ndarray) -> np.ndarray:
    """The knots (..., K + 1) between pieces that last `durations` (..., K) [s]."""
    return np.concatenate([np.zeros_like(durations[..., :1]), np.cumsum(durations, axis=-1)], axis=-1)


# --- inside kernels ---------------------------------------------------------------------------------------------------


def piece_at(many: bool, starts, tables: tuple, t, end, pieces) -> tuple:
    """The last piece that starts at or before t, and before the end: its start, and its row of each table.

    A few pieces are counted, which is quick because no comparison waits for another; of many, the range is halved.
    """

    def halved(bounds):
        low, high = bounds
        middle = np.floor(0.5 * (low + high))
        start = row_at(starts, middle)
        earlier = (start <= t) & (start < end)
        return np.where(earlier, middle, low), np.where(earlier, high, middle)

    if many:
        k, _ = while_loop(lambda bounds: bounds[1] - bounds[0] > 1, halved, (0.0 * t, pieces), max_iterations=64)
    else:
        k, _ = scan(lambda n, start: (n + np.where((start <= t) & (start < end), 1.0, 0.0), None), -1.0, starts)
    return row_at((starts, *tables), k)


def rates_inside(rates: Sequence, t, end) -> list:
    """The rates of a motion that rests before its start and after its end."""
    inside = (t >= -ROUNDING * end) & (t <= (1 + ROUNDING) * end)
    return [np.where(inside, x, 0.0) for x in rates]
