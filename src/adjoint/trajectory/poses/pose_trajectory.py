"""`PoseTrajectory`, the one way to hold a motion of a frame in space: pieces of products of exponentials."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...compile import kernel, scan, static
from ...errors import ArgumentError
from ...lazy import cached_property
from ...lie import se3
from ..manifold import body_rates
from ..pieces import InPieces, Pieces, common_batch, joined_pieces, knots_after, piece_at, rates_inside
from ..piecewise import Trajectory
from ..polynomials import Order, composed, extremes, rate, rates, shifted
from ..quantities import broadcast
from ..storage import read_arrays, save
from .checks import poses_of

__all__ = ["PoseSample", "PoseTrajectory", "Shape", "piece_sample", "pose_pieces"]

_SAME = 1e-9  # durations that differ by less than this, relative to them, are equal
_JUMP = 1e-6  # motions are joined if the next one starts this near to the end of the one before
_PARTS, _NODES = 4, 8  # of each piece, over which speeds are summed by Gauss's rule
_HALVINGS = 60  # of a profile's time, at which it passes a knot of the path
_BACK = 1e-9  # a profile may go back by this much, relative to its mean speed


class PoseSample(NamedTuple):
    """Poses T (..., 4, 4) of a frame at some times, its body twist (..., 6) = (w, v), and the twist's derivative.

    With T = T_ab, twist = vee(T⁻¹ Ṫ) [rad/s, m/s] is that of b relative to a, seen from b; acceleration (..., 6) is
    its derivative by time [rad/s², m/s²].
    """

    T: np.ndarray
    twist: np.ndarray
    acceleration: np.ndarray


class Shape(NamedTuple):
    """What the machine code of a motion depends on.

    There are m exponents, polynomials with `order` coefficients of the variables σ, which are polynomials with `inner`
    coefficients of time. A row of `size` numbers holds the A and the exponents of a piece.
    """

    m: int
    order: int
    inner: int
    many: bool  # whether there are many pieces

    @property
    def size(self) -> int:
        return 16 + 6 * self.m * self.order


def _moved(shape: Shape, c, row, s) -> PoseSample:
    """The sample of A exp(ξ_1(σ_1(s))) ··· exp(ξ_m(σ_m(s))), from the polynomials c (m, inner) of all σ and a row."""
    sigma = np.stack(rates(c, s)[:3], axis=-1)  # (m, 3)

    def further(carry, own):
        T, V, A = carry
        (y, y_1, y_2), xi = own
        x, x_1, x_2, _ = rates(xi, y)
        x_1, x_2 = x_1 * y_1, x_2 * y_1**2 + x_1 * y_2
        E, (v, a, _) = se3.exp(x), body_rates(x, x_1, x_2, 0 * x)
        # V ← Ad(E⁻¹) V + v, and d/dt Ad(E⁻¹) V = Ad(E⁻¹) V̇ + [Ad(E⁻¹) V, v]
        V, A = se3.Ad_inv_action(E, V), se3.Ad_inv_action(E, A)
        return (se3.compose(T, E), V + v, A + se3.bracket(V, v) + a), None

    start = row[:16].reshape(4, 4), np.zeros(6), np.zeros(6)
    (T, V, A), _ = scan(further, start, (sigma, row[16:].reshape(shape.m, 6, shape.order)))
    return PoseSample(T, V, A)


@kernel(shape=static, c=("m", "inner"), row=("size",))
def piece_sample(shape: Shape, c, row, s) -> PoseSample:
    """The sample of one piece, `_moved`, at the time s since its start."""
    return _moved(shape, c, row, s)


@kernel(shape=static, starts=(...,), coefficients=(..., "m", "inner"), rows=(..., "size"))
def _pose_sample(shape: Shape, starts, coefficients, rows, end, pieces, t) -> PoseSample:
    """The sample at time t of so many `pieces`, which start at `starts`; the last one ends at `end`."""
    s = np.clip(t, 0.0, end)
    start, c, row = piece_at(shape.many, starts, (coefficients, rows), s, end, pieces)
    T, *moving = _moved(shape, c, row, s - start)
    return PoseSample(T, *rates_inside(moving, t, end))


@dataclass(frozen=True, eq=False)
class PoseTrajectory(InPieces):
    """A motion of a frame in space, or a batch of them: pieces of products of exponentials, one after the other.

        >>> path = aj.trajectory.screw_motion(np.eye(4), se3.exp([0, 0, 1.0, 0.2, 0, 0]), duration=2.0)
        >>> T, twist, acceleration = path([0.0, 0.5, 1.0])
        >>> twist[1].round(4) + 0.0
        array([0. , 0. , 0.5, 0.1, 0. , 0. ])

    Piece k is T(t) = A_k exp(ξ_1(σ_1)) ··· exp(ξ_m(σ_m)), where A_k is a rigid motion, all ξ_j (6,) are polynomials,
    and the variables σ_j are polynomials of the time since knots[k]: `variables` holds them. `line`,
    `lines`, `paul_lines`, `screw_motion`, `arc`, `circle` and `pose_spline` make such motions. With another motion or a
    constant pose, `C @ path @ tool` is the motion C(t) T(t) tool.
    """

    variables: Pieces  # polynomials of the m variables; the rows (..., K, size) are all A_k and ξ_j
    order: int  # the number of coefficients of the polynomials ξ_j

    __array_ufunc__ = None  # so that array @ path asks the path

    # --- what it is ---------------------------------------------------------------------------------------------------

    def _of(self, pieces: Pieces) -> PoseTrajectory:
        return PoseTrajectory(pieces, self.order)

    @property
    def knots(self) -> np.ndarray:
        """The times (..., K + 1) [s] between which the pieces last."""
        return self.variables.knots

    @property
    def anchors(self) -> np.ndarray:
        """The rigid motions A_k (..., K, 4, 4)."""
        rows = np.asarray(self.variables.rows)
        return rows[..., :16].reshape(*rows.shape[:-1], 4, 4)

    @property
    def exponents(self) -> np.ndarray:
        """The coefficients (..., K, m, 6, order) of the ξ_j, those of low powers first."""
        rows = np.asarray(self.variables.rows)
        return rows[..., 16:].reshape(*rows.shape[:-1], self.factors, 6, self.order)

    @property
    def factors(self) -> int:
        """The number m of exponentials in a piece."""
        return self.variables.coefficients.shape[-2]

    @cached_property
    def length(self) -> Any:
        """The length [m] of the way of the frame's origin, ∫ |v| dt: a number, or an array (...) for a batch."""
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        h = np.diff(self.knots, axis=-1)[..., None] / _PARTS
        starts = self.knots[..., :-1, None] + h * np.arange(_PARTS)
        t = starts[..., None] + h[..., None] * (nodes + 1) / 2  # (..., K, parts, nodes)
        v = np.linalg.norm(self(t.reshape(*t.shape[:-3], -1)).twist[..., 3:], axis=-1)
        w = np.broadcast_to(h[..., None] * weights / 2, t.shape).reshape(*t.shape[:-3], -1)
        found = np.sum(v * w, axis=-1)
        return found if self.batch else float(found)

    @property
    def shape(self) -> Shape:
        """What the machine code of the motion depends on."""
        return Shape(self.factors, self.order, self.variables.degree + 1, self.variables.many)

    @cached_property
    def _sampler(self):
        """The kernel that samples it."""
        return _pose_sample.bind(self.shape)

    def __call__(self, t, *, hold: bool = False) -> PoseSample:
        """The `PoseSample` at times t [s], within 0 and `duration`; with `hold`, it rests before and after.

        Of a batch, t is one time, times (N,) for all of it, or (..., N) with leading axes that broadcast against the
        batch: T is (..., N, 4, 4).
        """
        return self._sampler(*self.variables.arguments(t, hold))

    # --- other motions made of it -------------------------------------------------------------------------------------

    def followed_by(self, *others: PoseTrajectory) -> PoseTrajectory:
        """This motion and then the others, each of which must start where the one before it ends."""
        parts = [self, *others]
        if not all(isinstance(part, PoseTrajectory) for part in parts):
            raise ArgumentError(f"followed_by needs motions of a frame, got {others!r:.120}")
        common_batch([part.variables for part in parts])
        for k, (before, after) in enumerate(pairwise(parts)):
            end = before(before.knots[..., -1:]).T[..., 0, :, :]
            gap = np.abs(after(0.0).T - end).max(initial=0.0)
            if not gap <= _JUMP * (1 + np.abs(end).max(initial=0.0)):
                raise ArgumentError(f"followed_by: motion {k + 1} does not start where motion {k} ends: {gap:.6g} off")
        m, order = max(part.factors for part in parts), max(part.order for part in parts)
        return PoseTrajectory(joined_pieces([part._padded(m, order) for part in parts]), order)

    def _padded(self, m: int, order: int) -> Pieces:
        """The variables, with exponents that stay 0 after the others, so that there are m."""
        c, xi = self.variables.coefficients, self.exponents
        more, higher = m - self.factors, order - self.order
        c = np.pad(c, [*[(0, 0)] * (c.ndim - 2), (0, more), (0, 0)])
        xi = np.pad(xi, [*[(0, 0)] * (xi.ndim - 3), (0, more), (0, 0), (0, higher)])
        return self.variables.renewed(coefficients=c, rows=_rows(self.anchors, xi))

    def timed(self, profile: Trajectory) -> PoseTrajectory:
        """The same path, run with another profile: T(σ(t)), where σ(t) is a trajectory of one coordinate.

        The path begins where the profile begins and ends where it ends, whatever the unit of σ; between them its own
        time goes in proportion to σ. So if the path runs at a constant speed, as a line, an arc or `lines` with
        `segment_durations` do, a profile from 0 to its `length` [m] has the speed of the frame in m/s.

            >>> path = aj.trajectory.line(np.eye(4), se3.exp([0, 0, 0, 0.3, 0, 0]), duration=1.0)
            >>> path.timed(aj.trajectory.quintic([0.0], [0.3], duration=2.0))(1.0).twist[3:]
            array([0.28125, 0.     , 0.     ])
        """
        sigma = _own_time(self, profile)
        knots = sigma.knots
        if self.pieces > 1:
            knots = _sorted(knots, _passed(sigma, self.knots[..., 1:-1]))
        k = _piece_numbers(self.knots, sigma(_middles(knots)).q[..., 0])
        inner = _recut(sigma.knots, sigma.coefficients, knots)[..., 0, :].copy()
        inner[..., 0] -= _taken(self.knots, k, 0)  # the time since the start of the path's piece
        c = composed(_taken(self.variables.coefficients, k, 2), inner[..., None, :])
        return _of_pieces(knots, c, _taken(self.variables.rows, k, 1), self.order)

    # --- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the motion into a .npz, .json or .csv file, exact to the last bit; .csv takes no batch."""
        return save(self.variables, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PoseTrajectory:
        """The motion that `save` wrote; files of anything else are refused with an `ArgumentError`.

        >>> saved = aj.trajectory.line(np.eye(4), se3.exp([0, 0, 0, 0.3, 0, 0]), duration=1.0).save("line.json")
        >>> aj.trajectory.PoseTrajectory.load("line.json").length
        0.3
        """
        arrays = read_arrays(path)
        rows = arrays.get("anchors")
        try:
            if rows is None:
                raise ArgumentError("it is no motion of a frame: it has no anchors")
            found = Pieces(arrays["knots"], arrays["coefficients"], rows, "PoseTrajectory")
            order, rest = divmod(rows.shape[-1] - 16, 6 * found.coefficients.shape[-2])
            if order < 1 or rest:
                raise ArgumentError(f"it is no motion of a frame: its anchors are rows of {rows.shape[-1]} numbers")
            poses_of(rows[..., :16].reshape(*rows.shape[:-1], 4, 4), "anchors")
        except ArgumentError as error:
            raise ArgumentError(f"{os.fsdecode(path)}: {error}") from None
        return cls(found, order)

    # --- algebra ------------------------------------------------------------------------------------------------------

    def inverse(self) -> PoseTrajectory:
        """T(t)⁻¹: how the other frame moves, seen from the moving one."""
        # (A exp(ξ_1) ··· exp(ξ_m))⁻¹ = A⁻¹ exp(-Ad(A) ξ_m) ··· exp(-Ad(A) ξ_1)
        back = -_seen(self.anchors, self.exponents)[..., ::-1, :, :]
        rows = _rows(se3.inverse(self.anchors), back)
        c = self.variables.coefficients[..., ::-1, :]
        return PoseTrajectory(self.variables.renewed(coefficients=c, rows=rows), self.order)

    def __matmul__(self, other) -> PoseTrajectory:
        if isinstance(other, PoseTrajectory):
            return _product(self, other)
        B = poses_of(other, "PoseTrajectory @ T: T")[..., None, :, :]
        broadcast("PoseTrajectory @ T", motion=self.batch, T=B.shape[:-3])
        # exp(ξ) B = B exp(Ad(B⁻¹) ξ)
        rows = _rows(se3.compose(self.anchors, B), _seen(se3.inverse(B), self.exponents))
        return PoseTrajectory(self.variables.renewed(rows=rows), self.order)

    def __rmatmul__(self, other) -> PoseTrajectory:
        B = poses_of(other, "T @ PoseTrajectory: T")[..., None, :, :]
        broadcast("T @ PoseTrajectory", T=B.shape[:-3], motion=self.batch)
        rows = _rows(se3.compose(B, self.anchors), self.exponents)
        return PoseTrajectory(self.variables.renewed(rows=rows), self.order)

    def __repr__(self) -> str:
        pieces = "1 piece" if self.pieces == 1 else f"{self.pieces} pieces"
        factors = "1 exponential" if self.factors == 1 else f"{self.factors} exponentials"
        return f"<PoseTrajectory: {self.variables.shown}, {pieces} of {factors}>"


def pose_pieces(durations: np.ndarray, exponents: np.ndarray, anchors: np.ndarray) -> PoseTrajectory:
    """The motion of pieces that last `durations` (..., K) [s].

    `exponents` are polynomials in time, (..., K, m, 6, order), and `anchors` are (..., K, 4, 4).
    """
    m, _, order = exponents.shape[-3:]
    time = np.broadcast_to([0.0, 1.0], (*durations.shape, m, 2))
    return _of_pieces(knots_after(durations), time, _rows(anchors, exponents), order)


def _of_pieces(knots: np.ndarray, coefficients: np.ndarray, rows: np.ndarray, order: int) -> PoseTrajectory:
    """The motion of these pieces, without those that last no time."""
    return PoseTrajectory(Pieces(knots, coefficients, rows, "PoseTrajectory").without_empty(), order)


def _rows(anchors: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """The numbers (..., K, size) of all pieces."""
    batch = np.broadcast_shapes(anchors.shape[:-2], exponents.shape[:-3])
    parts = [np.broadcast_to(anchors, (*batch, 4, 4)), np.broadcast_to(exponents, (*batch, *exponents.shape[-3:]))]
    return np.concatenate([x.reshape(*batch, prod(x.shape[len(batch) :])) for x in parts], axis=-1)


def _seen(T: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """The coefficients (..., K, m, 6, order) of Ad(T) ξ, from those of all ξ."""
    return se3.Ad(T)[..., None, :, :] @ xi


def _product(a: PoseTrajectory, b: PoseTrajectory) -> PoseTrajectory:
    """The motion T_a(t) T_b(t)."""
    broadcast("PoseTrajectory @ PoseTrajectory", first=a.batch, second=b.batch)
    if not np.allclose(a.duration, b.duration, rtol=_SAME, atol=0.0):
        raise ArgumentError(f"a product of motions needs equal durations, got {a!r} and {b!r}")
    knots = _sorted(a.knots, np.minimum(b.knots[..., 1:-1], np.asarray(a.duration)[..., None]))
    a, b = (_with_knots(x, knots) for x in (a, b))
    # A exp(ξ_1) ··· B exp(η_1) ··· = A B exp(Ad(B⁻¹) ξ_1) ··· exp(η_1) ···
    xi = _stacked(_seen(se3.inverse(b.anchors), a.exponents), b.exponents, -3)
    c = _stacked(a.variables.coefficients, b.variables.coefficients, -2)
    return _of_pieces(knots, c, _rows(se3.compose(a.anchors, b.anchors), xi), xi.shape[-1])


def _stacked(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    """Polynomials x and y along an axis, those of lower degree with zeros, leading axes broadcast."""
    order = max(x.shape[-1], y.shape[-1])
    batch = np.broadcast_shapes(x.shape[:axis], y.shape[:axis])
    parts = [np.pad(z, [*[(0, 0)] * (z.ndim - 1), (0, order - z.shape[-1])]) for z in (x, y)]
    return np.concatenate([np.broadcast_to(z, (*batch, *z.shape[axis:])) for z in parts], axis=axis)


# --- pieces between other knots ---------------------------------------------------------------------------------------


def _sorted(knots: np.ndarray, more: np.ndarray) -> np.ndarray:
    """All knots (..., N + M) in order."""
    batch = np.broadcast_shapes(knots.shape[:-1], more.shape[:-1])
    both = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in (knots, more)]
    return np.sort(np.concatenate(both, axis=-1), axis=-1)


def _middles(knots: np.ndarray) -> np.ndarray:
    return 0.5 * (knots[..., 1:] + knots[..., :-1])


def _piece_numbers(knots: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The numbers (..., M) of the pieces between knots (..., K + 1) in which the times t (..., M) are."""
    return np.sum(t[..., None] >= knots[..., None, 1:-1], axis=-1)


def _taken(x, k: np.ndarray, core: int) -> np.ndarray:
    """The pieces k (..., M) of x (..., K, ...), whose last `core` axes belong to one piece."""
    batch = np.broadcast_shapes(x.shape[: x.ndim - core - 1], k.shape[:-1])
    x = np.broadcast_to(x, (*batch, *x.shape[x.ndim - core - 1 :]))
    k = np.broadcast_to(k, (*batch, k.shape[-1])).reshape(*batch, k.shape[-1], *([1] * core))
    return np.take_along_axis(x, k, axis=-core - 1)


def _recut(own: np.ndarray, coefficients: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """The polynomials between knots (..., M + 1), from those between their `own` knots, which are among these."""
    k = _piece_numbers(own, _middles(knots))
    return shifted(_taken(coefficients, k, 2), (knots[..., :-1] - _taken(own, k, 0))[..., None])


def _with_knots(path: PoseTrajectory, knots: np.ndarray) -> PoseTrajectory:
    """The same motion with pieces between these knots (..., M + 1), among which are its own."""
    own = path.variables
    rows = _taken(own.rows, _piece_numbers(own.knots, _middles(knots)), 1)
    return PoseTrajectory(
        own.renewed(knots=knots, coefficients=_recut(own.knots, own.coefficients, knots), rows=rows), path.order
    )


def _own_time(path: PoseTrajectory, profile: Trajectory) -> Trajectory:
    """The profile, scaled so that it goes from 0 to the duration of the path."""
    if not isinstance(profile, Trajectory) or profile.nv != 1 or profile.anchors is not None:
        raise ArgumentError(f"timed: profile must be a Trajectory of one coordinate, got {profile!r:.120}")
    broadcast("timed", motion=path.batch, profile=profile.batch)
    if np.any(profile.duration == 0):
        raise ArgumentError("timed: the profile lasts 0 s; it must go from one number to another in some time")
    ends = profile(profile.knots[..., [0, -1]]).q[..., 0]
    first, last = ends[..., 0], ends[..., 1]
    scale = np.asarray(path.duration) / np.where(last == first, np.nan, last - first)
    c = profile.coefficients * scale[..., None, None, None]
    c[..., 0] -= (first * scale)[..., None, None]
    h = np.diff(profile.knots, axis=-1)[..., None]
    slope = rate(c)
    slowest = extremes(Order(slope.shape[-1]), slope, h).lowest
    mean = np.asarray(path.duration / profile.duration)[..., None, None]
    if not np.all(slowest >= -_BACK * mean):
        ends = f"{np.ravel(first)[0]:g} to {np.ravel(last)[0]:g}" + ", and back" * bool(np.isfinite(scale).all())
        raise ArgumentError(f"timed: the profile must go forward, from one number to another; it goes from {ends}")
    return replace(profile, coefficients=c)


def _passed(sigma: Trajectory, levels: np.ndarray) -> np.ndarray:
    """Times (..., M) at which a profile that never goes back passes `levels` (..., M), by bisection."""
    end = np.asarray(sigma.duration)[..., None]
    shape = np.broadcast_shapes(end.shape[:-1], levels.shape[:-1], sigma.batch)
    low, high = np.zeros((*shape, levels.shape[-1])), np.broadcast_to(end, (*shape, levels.shape[-1]))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        beyond = sigma(middle).q[..., 0] > levels
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return 0.5 * (low + high)
