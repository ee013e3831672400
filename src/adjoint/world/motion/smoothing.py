"""`smooth_path`: paths that bend less and keep away from obstacles, by covariant gradient steps (CHOMP).

After Ratliff, Zucker, Bagnell & Srinivasa (2009), "CHOMP: gradient optimization techniques for efficient motion
planning", ICRA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from ...collision import CollisionModel, clearance, clearance_gradient, contacts, is_free
from ...errors import ArgumentError
from ...model.input_checks import count, positive
from .path_checks import checked_path, need_limits, need_model, path_is_free, path_length, plain_space, sampled, spread
from .spaces import ConfigurationSpace

__all__ = ["PathMeasures", "SmoothedPath", "smooth_path"]

_BENDING = 0.1  # the part of the path over which bending is evened out
_STEP_END = 1e-3  # steps below this part of the whole step end the descent
_ROUNDS = 4  # with obstacles that weigh more each time, if nothing free was found
_MEASURED = 200  # points at which measures are taken


class PathMeasures(NamedTuple):
    """What a path is like: its length [rad, m], its least clearance [m], and how much it bends.

    `smoothness` is ∫ |q''(s)|² ds over s in [0, 1], the part of the length: 0 for a straight path, more for bends.
    """

    length: float
    clearance: float
    smoothness: float


class SmoothedPath(NamedTuple):
    """A path (n, nq), its measures `before` and `after`; if not `improved`, it is the given path, and `reason` why."""

    path: np.ndarray
    improved: bool
    reason: str
    before: PathMeasures
    after: PathMeasures
    iterations: int


def smooth_path(
    model: CollisionModel, path, *, waypoints: int | None = None, clearance: float = 0.05, obstacles: float = 1.0,
    iterations: int = 150, resolution: float = 0.02,
) -> SmoothedPath:  # fmt: skip
    """A smooth path near a given one: less length and bending, kept away from obstacles by distances and gradients.

        >>> from adjoint.collision import collision_model
        >>> from adjoint.sensing import Sphere
        >>> model = collision_model(robot, [Sphere(0.1, T_world_solid=[1.5, 0, 0.5])], pairs=())
        >>> found = smooth_path(model, [q, q + [0.4, 0, 0, 0, 0, 0], q + [0.4, 0.4, 0, 0, 0, 0]])
        >>> found.improved, bool(found.after.length < found.before.length)
        (True, True)

    Parameters
    ----------
    path
        A free path (k, nq) within the limits of the joints, such as a planner gives it. Its ends stay.
    waypoints
        The number of points of the new path; by default one every 0.1 rad or m of the path, from 24 to 128.
    clearance
        The distance ε [m] below which obstacles count.
    obstacles
        How much they weigh, as a pure number; it is doubled up to three times if nothing free comes out.
    iterations
        The number of steps at most, of each of these rounds.
    resolution
        The distance [rad, m] of the points at which the result is checked.

    Returns
    -------
    A `SmoothedPath`. Of all paths on the way, the one with the least cost that is free at the resolution is taken; if
    there is none that is better than the given path, the result is the given path, and `reason` says so.

    The cost of q(s), s in [0, 1], is

        F = ½ ∫ |q'|² + ℓ² |q''|² ds + λ ∫ c(d(q)) ds,     ℓ = 0.1,    λ = 2 w L² / ε,

    with the clearance d of the model, the penalty c = (d - ε)² / 2ε for 0 < d < ε, ε/2 - d below 0, and the length L.
    With the banded matrix A of the first two terms, steps are covariant: q ← q - s A⁻¹ ∂F/∂q, so that a push at one
    waypoint bends the whole path smoothly. The distances and gradients of all waypoints are one call of machine code.
    """
    caller = "smooth_path"
    model = need_model(model, caller)
    space = plain_space(caller, model)
    given = space.unrolled(checked_path(caller, model, path))
    need_limits(caller, space, "path", given)
    near, weight = positive(clearance, f"{caller}: clearance"), positive(obstacles, f"{caller}: obstacles")
    steps, fine = count(iterations, f"{caller}: iterations"), positive(resolution, f"{caller}: resolution")
    length = path_length(given)
    before = _measures(model, given, fine)
    if length == 0:
        return SmoothedPath(given, False, "the path does not move", before, before, 0)
    _need_free(caller, model, given, fine)
    n = int(np.clip(np.ceil(length / 0.1), 24, 128)) if waypoints is None else count(waypoints, f"{caller}: waypoints")
    if n < 5:
        raise ArgumentError(f"{caller}: waypoints must be 5 or more; got {n}")
    used = 0
    for k in range(_ROUNDS):
        cost = _Cost(model, given[0], given[-1], n, near, 2 * weight * 2.0**k * length**2 / near)
        best, more = _descended(cost, space, spread(given, n), steps, fine)
        used += more
        if best is not None:
            return SmoothedPath(best, True, "", before, _measures(model, best, fine), used)
    reason = "no smoother path was free: the given one is kept; a larger clearance= keeps further away from obstacles"
    return SmoothedPath(given, False, reason, before, before, used)


def _need_free(caller: str, model: CollisionModel, path: np.ndarray, resolution: float) -> None:
    q = sampled(path, resolution)
    free = is_free(model, q)
    if not free.all():
        k = int(np.argmin(free))
        what = contacts(model, q[k])[0]
        raise ArgumentError(f"{caller}: the path is not free: at {k / (len(q) - 1):.0%} of its points {what}")


def _measures(model: CollisionModel, path: np.ndarray, resolution: float) -> PathMeasures:
    """The measures of a path; its bending is taken at equally spaced points, so that paths can be compared."""
    least = float(clearance(model, sampled(path, resolution)).min())
    bends = np.diff(spread(path, _MEASURED), 2, axis=0)
    return PathMeasures(path_length(path), least, float((bends**2).sum() * (_MEASURED - 1) ** 3))


@dataclass(frozen=True, eq=False)
class _Cost:
    """The cost of the inner waypoints x (n - 2, nq) of a path, its gradient, and the matrix of covariant steps."""

    model: CollisionModel
    start: np.ndarray
    goal: np.ndarray
    n: int
    near: float
    weight: float

    def __post_init__(self):
        h = 1 / (self.n - 1)
        rows = {1: np.array([-1.0, 1]) / h, 2: np.array([1.0, -2, 1]) / h**2}
        bands = np.zeros((3, self.n))
        for order, factor in ((1, h), (2, h * _BENDING**2)):
            stencil = rows[order]
            for i in range(self.n - order):
                for a in range(order + 1):
                    for b in range(a + 1):
                        bands[a - b, i + b] += factor * stencil[a] * stencil[b]
        inner = bands[:, 1:-1].copy()
        inner[1, -1] = inner[2, -2:] = 0.0
        object.__setattr__(self, "_factor", (cholesky_banded(inner, lower=True), True))

    def whole(self, x: np.ndarray) -> np.ndarray:
        """The path with its ends."""
        return np.concatenate([self.start[None], x, self.goal[None]])

    def at(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The cost, its gradient (n - 2, nq), and the clearances (n - 2,)."""
        h, q = 1 / (self.n - 1), self.whole(x)
        v, a = np.diff(q, axis=0) / h, np.diff(q, 2, axis=0) / h**2
        found = clearance_gradient(self.model, x)
        d, near = found.clearance, self.near
        inside = np.maximum(near - d, 0.0)
        deep = d < 0
        c = np.where(deep, near / 2 - d, inside**2 / (2 * near))
        slope = -np.where(deep, 1.0, inside / near)
        cost = 0.5 * h * ((v**2).sum() + _BENDING**2 * (a**2).sum()) + self.weight * h * c.sum()
        gradient = -np.diff(v, axis=0)
        bend = h * _BENDING**2 / h**2 * a
        gradient = gradient - 2 * bend
        gradient[:-1] += bend[1:]
        gradient[1:] += bend[:-1]
        return float(cost), gradient + (self.weight * h * slope)[:, None] * found.gradient, d

    def covariant(self, gradient: np.ndarray) -> np.ndarray:
        """A⁻¹ times a gradient."""
        return cho_solve_banded(self._factor, gradient)  # type: ignore[attr-defined]


def _descended(
    cost: _Cost, space: ConfigurationSpace, path: np.ndarray, iterations: int, resolution: float
) -> tuple[np.ndarray | None, int]:
    """The path of least cost that is free, of all paths on the way down from a path; None if there is none."""
    x, s, best, used = path[1:-1], 0.3, None, 0
    F, gradient, d = cost.at(x)
    first = F if (d > 0).all() else np.inf
    for used in range(1, iterations + 1):  # noqa: B007  # it is the result
        new = _within(x - s * cost.covariant(gradient), space)
        F_new, gradient_new, d_new = cost.at(new)
        if not F_new < F:
            s /= 2
            if s < _STEP_END:
                break
            continue
        small = F - F_new < 1e-5 * F
        x, F, gradient, d, s = new, F_new, gradient_new, d_new, min(1.3 * s, 1.0)
        # F falls at every step, so that the last free path is the best one.
        if (d > 0).all() and path_is_free(cost.model, cost.whole(x), resolution):
            best = cost.whole(x)
        if small:
            break
    return (best if first > F else None), used


def _within(x: np.ndarray, space: ConfigurationSpace) -> np.ndarray:
    return np.clip(x, space.lower, space.upper)
