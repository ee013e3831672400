"""`PoseTrajectory`, the one way to hold a motion of a frame in space: pieces of products of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...compile import kernel, scan, static
from ...errors import ArgumentError
from ...lie import se3
from ..manifold import body_rates
from ..piecewise import Trajectory, joined, piece_at, pieced
from ..polynomials import Order, composed, extremes, rate, rates, shifted
from .checks import poses_of

__all__ = ["PoseSample", "PoseTrajectory", "exponentials", "pose_pieces"]

_SAME = 1e-9  # durations that differ by less than this, relative to them, are equal
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


class _Shape(NamedTuple):
    """What the machine code of a motion depends on: n = 6 m numbers of m exponents, of polynomials with `order`."""

    n: int
    order: int


def _moved(c, anchor, s) -> PoseSample:
    """The sample of A exp(ξ_1(s)) ··· exp(ξ_m(s)) from the polynomials c (6 m, order) of all ξ and A (16,)."""
    T, V, A = anchor.reshape(4, 4), np.zeros(6), np.zeros(6)
    x = rates(c, s)
    for k in range(0, c.shape[0], 6):
        own = [part[k : k + 6] for part in x]
        E, (v, a, _) = se3.exp(own[0]), body_rates(*own)
        # V ← Ad(E⁻¹) V + v, and d/dt Ad(E⁻¹) V = Ad(E⁻¹) V̇ + [Ad(E⁻¹) V, v]
        V, A = se3.Ad_inv_action(E, V), se3.Ad_inv_action(E, A)
        T, V, A = se3.compose(T, E), V + v, A + se3.bracket(V, v) + a
    return PoseSample(T, V, A)


@kernel(shape=static, c=("n", "order"), anchor=16)
def exponentials(shape: _Shape, c, anchor, s) -> PoseSample:
    """The sample of one piece, `_moved`, at the time s since its start."""
    return _moved(c, anchor, s)


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"), anchors=(..., 16))
def _pose_sample(shape: _Shape, starts, coefficients, anchors, end, t) -> PoseSample:
    """The sample at time t of pieces that start at `starts`; the last one ends at `end`."""
    s = np.clip(t, 0.0, end)
    rows = scan(lambda carry, row: (carry, np.concatenate([row[0].ravel(), row[1]])), 0.0, (coefficients, anchors))[1]
    start, row = piece_at(starts, rows, s, end, (shape.n * shape.order + 16,))
    found = _moved(row[:-16].reshape(shape.n, shape.order), row[-16:], s - start)
    inside = (t >= 0) & (t <= end)
    return PoseSample(found.T, *(np.where(inside, x, 0.0) for x in found[1:]))


@dataclass(frozen=True, eq=False)
class PoseTrajectory:
    """A motion of a frame in space, or a batch of them: pieces of products of exponentials, one after the other.

        >>> path = aj.trajectory.screw_motion(np.eye(4), se3.exp([0, 0, 1.0, 0.2, 0, 0]), duration=2.0)
        >>> T, twist, acceleration = path([0.0, 0.5, 1.0])
        >>> twist[1]
        array([0. , 0. , 0.5, 0.1, 0. , 0. ])

    Piece k is T(t) = A_k exp(ξ_1(s)) ··· exp(ξ_m(s)), where s = t - knots[k], A_k is a rigid motion and all ξ_j (6,)
    are polynomials. `coordinates` holds them: its coefficients are (..., K, 6 m, degree + 1), and its anchors
    (..., K, 16) are the A_k. `line`, `lines`, `paul_lines`, `screw_motion`, `arc`, `circle` and `pose_spline` make such
    motions. With another one or a constant pose, `C @ path @ tool` is the motion C(t) T(t) tool.
    """

    coordinates: Trajectory

    __array_ufunc__ = None  # so that array @ path asks the path

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def duration(self):
        """The duration [s]: a number, or an array of the shape of the batch."""
        return self.coordinates.duration

    @property
    def knots(self) -> np.ndarray:
        """The times (..., K + 1) [s] between which the pieces last."""
        return self.coordinates.knots

    @property
    def anchors(self) -> np.ndarray:
        """The rigid motions A_k (..., K, 4, 4)."""
        flat = np.asarray(self.coordinates.anchors)
        return flat.reshape(*flat.shape[:-1], 4, 4)

    @property
    def pieces(self) -> int:
        """The number K of pieces."""
        return self.coordinates.pieces

    @property
    def factors(self) -> int:
        """The number m of exponentials in a piece."""
        return self.coordinates.nv // 6

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return self.coordinates.degree

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch; () for one motion."""
        return self.coordinates.batch

    @property
    def shape(self) -> _Shape:
        """What the machine code of the motion depends on."""
        return _Shape(self.coordinates.nv, self.degree + 1)

    def __call__(self, t, *, hold: bool = False) -> PoseSample:
        """The `PoseSample` at times t [s], within 0 and `duration`; with `hold`, it rests before and after.

        Of a batch, t is one time, times (N,) for all of it, or (..., N) with leading axes that broadcast against the
        batch: T is (..., N, 4, 4).
        """
        return _pose_sample.bind(self.shape)(*self.coordinates.arguments(t, hold))

    def __getitem__(self, index) -> PoseTrajectory:
        """Some motions of a batch, by NumPy's rules for its axes."""
        return PoseTrajectory(self.coordinates[index])

    def __len__(self) -> int:
        """The length of the first axis of a batch."""
        return len(self.coordinates)

    # --- other motions made of it -------------------------------------------------------------------------------------

    def cut(self, start: float = 0.0, stop: float | None = None) -> PoseTrajectory:
        """The part from `start` to `stop` [s], which begins at time 0."""
        return PoseTrajectory(self.coordinates.cut(start, stop))

    def stretched(self, factor) -> PoseTrajectory:
        """The same path, lasting `factor` times as long."""
        return PoseTrajectory(self.coordinates.stretched(factor))

    def lasting(self, duration) -> PoseTrajectory:
        """The same path within another `duration` [s]."""
        return PoseTrajectory(self.coordinates.lasting(duration))

    def reversed(self) -> PoseTrajectory:
        """The same path backward: T(duration - t)."""
        return PoseTrajectory(self.coordinates.reversed())

    def joined_with(self, others: Sequence[PoseTrajectory]) -> PoseTrajectory:
        """This motion and then the others; `joined` calls it."""
        parts = [self, *others]
        if not all(isinstance(part, PoseTrajectory) for part in parts):
            raise ArgumentError(f"joined: {parts!r:.120} are motions of a frame and others")
        n = max(part.coordinates.nv for part in parts)
        return PoseTrajectory(joined([part._padded(n) for part in parts]))

    def _padded(self, n: int) -> Trajectory:
        """The coordinates, with exponents that stay 0 after the others, so that there are n."""
        c = self.coordinates.coefficients
        more = np.zeros((*c.shape[:-2], n - c.shape[-2], c.shape[-1]))
        return replace(self.coordinates, coefficients=np.concatenate([c, more], axis=-2))

    def timed(self, profile: Trajectory) -> PoseTrajectory:
        """The same path, run with another profile: T(σ(t)), where σ(t) is a trajectory of one coordinate.

        The path begins where the profile begins and ends where it ends, whatever the unit of σ: a number from 0 to 1,
        or a length in m. The path's own time goes with σ, and pieces stay polynomials, of the product of both degrees.

            >>> path = aj.trajectory.line(np.eye(4), se3.exp([0, 0, 0, 0.3, 0, 0]), duration=1.0)
            >>> path.timed(aj.trajectory.quintic([0.0], [0.3], duration=2.0))(1.0).twist[3:]
            array([0.28125, 0.     , 0.     ])
        """
        sigma = _own_time(self, profile)
        knots = sigma.knots
        if self.pieces > 1:
            knots = _sorted(knots, _passed(sigma, self.knots[..., 1:-1]))
        sigma = _recut(sigma, knots)
        k = _piece_numbers(self.knots, sigma(_middles(knots)).q[..., 0])
        inner = sigma.coefficients[..., 0, :].copy()  # of the time since the start of the path's piece
        inner[..., 0] -= _taken(self.knots, k, 0)
        c = composed(_taken(self.coordinates.coefficients, k, 2), inner[..., None, :])
        whole = Trajectory(knots, c, None, _taken(self.coordinates.anchors, k, 1))
        return PoseTrajectory(whole.without_empty_pieces())

    # --- algebra ------------------------------------------------------------------------------------------------------

    def inverse(self) -> PoseTrajectory:
        """T(t)⁻¹: how the other frame moves, seen from the moving one."""
        # (A exp(ξ_1) ··· exp(ξ_m))⁻¹ = A⁻¹ exp(-Ad(A) ξ_m) ··· exp(-Ad(A) ξ_1)
        turned = -_seen(self.anchors, self.coordinates.coefficients)
        parts = np.split(turned, self.factors, axis=-2)
        return self._with(np.concatenate(parts[::-1], axis=-2), se3.inverse(self.anchors))

    def __matmul__(self, other) -> PoseTrajectory:
        if isinstance(other, PoseTrajectory):
            return _product(self, other)
        B = poses_of(other, "PoseTrajectory @ T: T")[..., None, :, :]
        # exp(ξ) B = B exp(Ad(B⁻¹) ξ)
        return self._with(_seen(se3.inverse(B), self.coordinates.coefficients), se3.compose(self.anchors, B))

    def __rmatmul__(self, other) -> PoseTrajectory:
        B = poses_of(other, "T @ PoseTrajectory: T")[..., None, :, :]
        return self._with(self.coordinates.coefficients, se3.compose(B, self.anchors))

    def _with(self, coefficients: np.ndarray, anchors: np.ndarray) -> PoseTrajectory:
        flat = anchors.reshape(*anchors.shape[:-2], 16)
        return PoseTrajectory(replace(self.coordinates, coefficients=coefficients, anchors=flat))

    def __repr__(self) -> str:
        head, tail = repr(self.coordinates).removeprefix("<Trajectory: ").split(f"{self.coordinates.nv} joints, ")
        factors = "1 exponential" if self.factors == 1 else f"{self.factors} exponentials"
        return f"<PoseTrajectory: {head}{tail[:-1]}, {factors}>"


def pose_pieces(durations: np.ndarray, coefficients: np.ndarray, anchors: np.ndarray) -> PoseTrajectory:
    """The motion of pieces that last `durations` (..., K) [s].

    `coefficients` are (..., K, m, 6, degree + 1), and `anchors` (..., K, 4, 4).
    """
    c, A = coefficients, anchors
    c, A = c.reshape(*c.shape[:-3], -1, c.shape[-1]), A.reshape(*A.shape[:-2], 16)
    return PoseTrajectory(replace(pieced(None, durations, c), anchors=A).without_empty_pieces())


def _seen(T: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The coefficients (..., 6 m, order) of Ad(T) ξ, from those of all ξ."""
    xi = c.reshape(*c.shape[:-2], -1, 6, c.shape[-1])
    found = se3.Ad(T)[..., None, :, :] @ xi
    return found.reshape(*found.shape[:-3], -1, c.shape[-1])


def _product(a: PoseTrajectory, b: PoseTrajectory) -> PoseTrajectory:
    """The motion T_a(t) T_b(t)."""
    if not np.allclose(a.duration, b.duration, rtol=_SAME, atol=0.0):
        raise ArgumentError(f"a product of motions needs equal durations, got {a!r} and {b!r}")
    knots = _sorted(a.knots, np.minimum(b.knots[..., 1:-1], np.asarray(a.duration)[..., None]))
    a, b = (PoseTrajectory(_recut(x.coordinates, knots)) for x in (a, b))
    # A exp(ξ_1) ··· B exp(η_1) ··· = A B exp(Ad(B⁻¹) ξ_1) ··· exp(η_1) ···
    first, second = _seen(se3.inverse(b.anchors), a.coordinates.coefficients), b.coordinates.coefficients
    order = max(first.shape[-1], second.shape[-1])
    batch = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    c = np.zeros((*batch, first.shape[-2] + second.shape[-2], order))
    c[..., : first.shape[-2], : first.shape[-1]] = first
    c[..., first.shape[-2] :, : second.shape[-1]] = second
    found = a._with(c, se3.compose(a.anchors, b.anchors))
    return PoseTrajectory(found.coordinates.without_empty_pieces())


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


def _recut(trajectory: Trajectory, knots: np.ndarray) -> Trajectory:
    """The same trajectory with pieces between these knots (..., M + 1), among which are its own."""
    k = _piece_numbers(trajectory.knots, _middles(knots))
    c = shifted(_taken(trajectory.coefficients, k, 2), (knots[..., :-1] - _taken(trajectory.knots, k, 0))[..., None])
    anchors = None if trajectory.anchors is None else _taken(trajectory.anchors, k, 1)
    return Trajectory(knots, c, None, anchors)


def _own_time(path: PoseTrajectory, profile: Trajectory) -> Trajectory:
    """The profile, scaled so that it goes from 0 to the duration of the path."""
    if not isinstance(profile, Trajectory) or profile.nv != 1 or profile.anchors is not None:
        raise ArgumentError(f"timed: profile must be a Trajectory of one coordinate, got {profile!r:.120}")
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
