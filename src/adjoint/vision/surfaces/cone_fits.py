"""Fits of generalized cones to points: the axis first, then cross sections along it, then all numbers together.

Points are seen in coordinates of the spine: z along it, and ρ, φ across it. The surface is ρ = s(z) r(φ), with a
sweeping rule s that is piecewise linear, and a section r(φ) = 1 + Σ aₖ cos kφ + bₖ sin kφ, k = 2 ... H. (k = 1 would
be a shift of the axis.) Distances from it, to first order (ρ - s r) / (1 + (s' r)² + (r'/r)²)^½, are made smallest by
Gauss-Newton steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError, SolveError
from ...lie import so3
from ...model.input_checks import count, floats, one_of
from .cones import GeneralizedCone
from .spines import arc_spine, spine_coordinates

__all__ = ["ConeFit", "fit_cone"]

_FEW = 500  # points of trials
_POSE = ("tilt x", "tilt y", "shift x", "shift y", "curvature x", "curvature y")


class ConeFit(NamedTuple):
    """A generalized cone that fits points: the `cone`, and how well it does.

    - `residuals` (n,) [m] are the distances of points from its surface, positive outside, and `rms` [m] is their size.
    - `sigma` [m] is the noise of points along normals that explains them, (Σ r² / (n - p))^½.
    - `numbers` (p,), their `names` and their `covariance` (p, p): tilts [rad] and shifts [m] of the axis from `frame`,
      curvatures [1/m], radii [m] at the knots, and the coefficients of the section.
    - `frame` (4, 4) is where the search began: its z axis is the first axis.
    """

    cone: GeneralizedCone
    rms: float
    sigma: float
    residuals: np.ndarray
    numbers: np.ndarray
    names: tuple[str, ...]
    covariance: np.ndarray
    frame: np.ndarray

    @property
    def axis(self) -> np.ndarray:
        """(3,) The unit direction of the spine where it begins."""
        return self.cone.spine.frames[0, :3, 2]

    @property
    def start(self) -> np.ndarray:
        """(3,) [m] The point where the spine begins."""
        return self.cone.spine.frames[0, :3, 3]

    def __repr__(self) -> str:
        return f"<ConeFit: {self.cone!r}, rms {self.rms:.3g} m>"


def fit_cone(points, *, knots=2, harmonics: int = 0, spine: str = "straight", axis=None) -> ConeFit:
    """The `ConeFit` of a generalized cone to `points` (n, 3) [m] of its side, as a range sensor sees them.

        >>> rng = np.random.default_rng(0)
        >>> z, a = rng.uniform(0, 1, 500), rng.uniform(0, 3, 500)                         # seen from one side
        >>> r = 0.1 + 0.05 * z
        >>> points = np.stack([r * np.cos(a), r * np.sin(a), z], axis=1) + 1e-4 * rng.normal(size=(500, 3))
        >>> found = fit_cone(points)
        >>> found.cone.scales.round(3), np.abs(found.axis).round(3)
        (array([0.1 , 0.15]), array([0., 0., 1.]))

    - `knots` of the sweeping rule: their number, 2 for a cylinder or a cone, or their parameters (k,) from 0 to 1,
      such as (0, 0.5, 1) for a diameter that is constant and then linear.
    - `harmonics` H of the section: 0 is a circle, 2 nearly an ellipse, 4 nearly a square.
    - `spine` is "straight" or "arc".
    - `axis` (3,), if it is known roughly, is where the search begins. By default, all three principal axes of the
      points are tried, and the best fit is taken.

    The cone ends where the points do; which end of it comes first is of no meaning unless `axis` is given. The
    textbook calls this trial and error; a `SolveError` says if all trials fail.
    """
    x = floats(points)
    if x.ndim != 2 or x.shape[1:] != (3,) or not np.isfinite(x).all():
        raise ArgumentError(f"fit_cone: points must be finite numbers (n, 3), got shape {x.shape}")
    one_of(spine, ("straight", "arc"), "fit_cone: spine")
    t = _knots(knots)
    harmonics = count(harmonics, "fit_cone: harmonics")
    shape = _Shape(t, harmonics, spine == "arc")
    if len(x) < 3 * shape.size:
        raise ArgumentError(
            f"fit_cone: {len(x)} points are too few for {shape.size} numbers; {3 * shape.size} are needed"
        )
    few = x[:: max(1, len(x) // max(_FEW, 10 * shape.size))]
    starts = [_first(few, direction, shape) for direction in _axes(x, axis)]
    trials = [
        trial for start in starts if start is not None and (trial := _refined(few, *start, shape, 30)) is not None
    ]
    for trial in sorted(trials, key=lambda trial: trial.mean_square):
        found = _refined(x, trial.frame, trial.numbers, shape, 100)
        if found is not None:
            return _result(x, found, shape)
    raise SolveError("fit_cone: the points are not those of the side of a cone; no trial of an axis came near")


class _Trial(NamedTuple):
    """Where a search has come: the mean of squared distances [m²], the frame, numbers, and ends along the spine."""

    mean_square: float
    frame: np.ndarray
    numbers: np.ndarray
    ends: tuple[float, float]


class _Shape(NamedTuple):
    """What is fitted: knots (k,) of the rule from 0 to 1, harmonics of the section, and whether the spine is an arc."""

    knots: np.ndarray
    harmonics: int
    arc: bool

    @property
    def orders(self) -> np.ndarray:
        return np.arange(2, self.harmonics + 1)

    @property
    def pose(self) -> int:
        return 6 if self.arc else 4

    @property
    def size(self) -> int:
        return self.pose + len(self.knots) + 2 * len(self.orders)


def _knots(knots) -> np.ndarray:
    if not np.iterable(knots):
        n = count(knots, "fit_cone: knots")
        if n < 2:
            raise ArgumentError("fit_cone: two knots are needed at least")
        return np.linspace(0, 1, n)
    t = floats(knots)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all() or t[0] != 0 or t[-1] != 1:
        raise ArgumentError("fit_cone: knots must be a whole number, or rise from 0 to 1")
    return t


def _axes(x: np.ndarray, axis) -> list[np.ndarray]:
    """Directions with which to begin."""
    if axis is None:
        found = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2]
        return [a * np.sign(a[np.argmax(np.abs(a))]) for a in found]
    given = floats(axis)
    if given.shape != (3,) or not 0 < np.linalg.norm(given) < np.inf:
        raise ArgumentError("fit_cone: axis must be a direction (3,)")
    return [given / np.linalg.norm(given)]


def _frame(origin: np.ndarray, z: np.ndarray) -> np.ndarray:
    z = z / np.linalg.norm(z)
    x = np.eye(3)[np.argmin(np.abs(z))]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3] = np.column_stack([x, np.cross(z, x), z, origin])
    return T


def _hats(z: np.ndarray, ends: tuple[float, float], knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (n, k) of the values at knots for a function that is linear between them, and for its slope."""
    at = ends[0] + (ends[1] - ends[0]) * knots
    piece = np.clip(np.searchsorted(at, z, side="right") - 1, 0, len(at) - 2)
    width = at[piece + 1] - at[piece]
    share = (z - at[piece]) / width
    rows = np.arange(len(z))
    value, slope = np.zeros((2, len(z), len(at)))
    value[rows, piece], value[rows, piece + 1] = 1 - share, share
    slope[rows, piece], slope[rows, piece + 1] = -1 / width, 1 / width
    return value, slope


def _first(x: np.ndarray, direction: np.ndarray, shape: _Shape) -> tuple[np.ndarray, np.ndarray] | None:
    """A frame along the axis, and radii at the knots, from linear equations.

    Points with ρ = s(z) about a line (c + c' z, d + d' z) have x² + y² = 2 x (c + c' z) + 2 y (d + d' z) + g(z), up to
    second order in c' and d'; g is piecewise linear, about s² - c² - d².
    """
    T = _frame(x.mean(axis=0), direction)
    for _ in range(5):
        p = (x - T[:3, 3]) @ T[:3, :3]
        z = p[:, 2]
        ends = (float(z.min()), float(z.max()))
        if not ends[1] - ends[0] > 1e-9 * np.abs(p).max():
            return None
        hats, _ = _hats(z, ends, shape.knots)
        flat = 2 * p[:, :2]
        A = np.concatenate([flat, flat * z[:, None] / (ends[1] - ends[0]), hats], axis=1)
        found, _, rank, _ = np.linalg.lstsq(A, (p[:, :2] ** 2).sum(axis=1), rcond=1e-10)
        if rank < A.shape[1]:
            return None
        tilt = found[2:4] / (ends[1] - ends[0])
        size = np.linalg.norm(tilt)
        tilt = tilt * min(1.0, 1.0 / max(size, 1e-12))  # no more than 45° at a time
        T = _frame(T[:3, 3] + T[:3, :2] @ found[:2], T[:3, :3] @ np.append(tilt, 1.0))
        if size < 1e-3:
            break
    p = (x - T[:3, 3]) @ T[:3, :3]
    hats, _ = _hats(p[:, 2], (float(p[:, 2].min()), float(p[:, 2].max())), shape.knots)
    radii = np.linalg.lstsq(hats, np.linalg.norm(p[:, :2], axis=1), rcond=None)[0]
    numbers = np.zeros(shape.size)
    numbers[shape.pose : shape.pose + len(radii)] = np.maximum(radii, 1e-3 * np.abs(radii).max())
    return T, numbers


def _split(numbers: np.ndarray, shape: _Shape):
    """The numbers of the pose (6,), of the rule (k,), and of the section (2, H - 1)."""
    pose = np.zeros(6)
    pose[: shape.pose] = numbers[: shape.pose]
    rule, section = np.split(numbers[shape.pose :], [len(shape.knots)])
    return pose, rule, section.reshape(2, -1)


def _distances(local: np.ndarray, numbers: np.ndarray, ends, shape: _Shape) -> tuple[np.ndarray, np.ndarray]:
    """Distances (n,) of points from the surface, and their slopes (n, p) by the numbers."""
    pose, rule, section = _split(numbers, shape)
    parts = (pose[:2], pose[2:4], pose[4:])
    x, y, z = spine_coordinates(local, *parts).T
    slopes = spine_coordinates.jacobian("tilt", "shift", "curvature")(local, *parts)
    by_pose = np.concatenate(list(slopes), axis=-1)[..., : shape.pose]  # (n, 3, pose)
    rho = np.maximum(np.hypot(x, y), 1e-300)
    across = np.stack([x / rho, y / rho], axis=1)
    around = np.stack([-y / rho**2, x / rho**2], axis=1)
    angle = np.arctan2(y, x)[:, None] * shape.orders
    cosines = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    turned = np.concatenate([-shape.orders * np.sin(angle), shape.orders * np.cos(angle)], axis=1)
    r, r_slope = 1 + cosines @ section.ravel(), turned @ section.ravel()
    hats, rises = _hats(z, ends, shape.knots)
    s, s_slope = hats @ rule, rises @ rule
    weight = 1 / np.sqrt(1 + (s_slope * r) ** 2 + (s * r_slope / rho) ** 2)
    d_pose = np.einsum("ni,nij->nj", across, by_pose[:, :2]) - (s_slope * r)[:, None] * by_pose[:, 2]
    d_pose -= (s * r_slope)[:, None] * np.einsum("ni,nij->nj", around, by_pose[:, :2])
    J = np.concatenate([d_pose, -r[:, None] * hats, -s[:, None] * cosines], axis=1)
    return weight * (rho - s * r), weight[:, None] * J


def _refined(x: np.ndarray, T: np.ndarray, numbers: np.ndarray, shape: _Shape, steps: int) -> _Trial | None:
    """The trial after steps of Levenberg and Marquardt, or None if it has left all sense."""
    local = (x - T[:3, 3]) @ T[:3, :3]
    for _ in range(3):  # the ends move with the axis, by little
        pose, _, _ = _split(numbers, shape)
        z = spine_coordinates(local, pose[:2], pose[2:4], pose[4:])[:, 2]
        ends = (float(z.min()), float(z.max()))
        if not (np.isfinite(z).all() and ends[1] > ends[0]):
            return None
        numbers, cost = _descended(local, numbers, ends, shape, steps)
    if (_split(numbers, shape)[1] < 0).any() or not np.isfinite(cost):
        return None
    return _Trial(cost / len(x), T, numbers, ends)


def _descended(local, numbers, ends, shape: _Shape, steps: int) -> tuple[np.ndarray, float]:
    """Numbers with the smallest sum of squares that so many steps find, and that sum."""
    r, J = _distances(local, numbers, ends, shape)
    cost, damping = float(r @ r), 1e-3
    for _ in range(steps):
        H, g = J.T @ J, J.T @ r
        size = np.diag(H) + 1e-12 * np.trace(H) + 1e-300  # no number is quite without effect
        step = -np.linalg.solve(H + np.diag(damping * size), g)
        tried, J_tried = _distances(local, numbers + step, ends, shape)
        better = float(tried @ tried)
        if better < cost:
            done = cost - better < 1e-12 * cost
            numbers, r, J, cost, damping = numbers + step, tried, J_tried, better, max(damping / 5, 1e-12)
            if done:
                break
        else:
            damping *= 8
            if damping > 1e8:
                break
    return numbers, cost


def _result(x: np.ndarray, trial: _Trial, shape: _Shape) -> ConeFit:
    _, T, numbers, ends = trial
    local = (x - T[:3, 3]) @ T[:3, :3]
    residuals, J = _distances(local, numbers, ends, shape)
    pose, rule, section = _split(numbers, shape)
    sigma = np.sqrt(residuals @ residuals / (len(x) - len(numbers)))
    covariance = sigma**2 * np.linalg.pinv(J.T @ J, hermitian=True)
    start = np.eye(4)
    start[:3, :3] = so3.exp.eager(np.array([pose[0], pose[1], 0.0]))
    start[:2, 3] = pose[2:4]
    line = arc_spine(T @ start, 1.0, curvature=pose[4:])  # from z = 0 on
    first = line.at(ends[0])  # along the screw; it may begin before z = 0
    # The screw motion of an arc carries its own curvature with it.
    spine = arc_spine(first, ends[1] - ends[0], curvature=pose[4:])
    angle = 2 * np.pi / 128 * np.arange(128)
    waves = np.concatenate([np.cos(np.outer(angle, shape.orders)), np.sin(np.outer(angle, shape.orders))], axis=1)
    radius = 1 + waves @ section.ravel()
    outline = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    names = (*_POSE[: shape.pose], *(f"radius at {t:g}" for t in shape.knots))
    names += tuple(f"{wave} {k} φ" for wave in ("cos", "sin") for k in shape.orders)
    cone = GeneralizedCone(outline, spine, shape.knots, rule)  # type: ignore[arg-type]
    rms = float(np.sqrt(np.mean(residuals**2)))
    return ConeFit(cone, rms, float(sigma), residuals, numbers, names, covariance, T)


def __dir__() -> list[str]:
    return __all__
