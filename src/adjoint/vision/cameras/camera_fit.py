"""Levenberg and Marquardt's method for the numbers of a camera and the poses of many views.

Each view has its own six numbers, which meet those of other views only through the camera. So the normal equations
have blocks: N = [[A, B], [Bᵀ, C]], where C consists of blocks (6, 6) on the diagonal, and the camera's step solves the
Schur complement (A - Σ Bᵢ Cᵢ⁻¹ Bᵢᵀ) x = a - Σ Bᵢ Cᵢ⁻¹ cᵢ. The work grows linearly with the number of views.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...calibration.robust import Loss, chi_square_quantile, loss_of
from ...compile import kernel
from ...errors import SolveError
from ...lie import se3
from .camera import Camera
from .projection_slopes import pixel_slopes

__all__ = ["COEFFICIENTS", "EXACT", "CameraFit", "CameraProblem", "camera_numbers", "fitted_camera", "residuals_of"]

COEFFICIENTS = ("fx", "fy", "cx", "cy", "skew", "k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")

_ITERATIONS = 200
_ENOUGH = 1e-9  # the fit ends where χ² would fall by less than this: steps below 3e-5 standard errors
_NEARLY = 1e-4  # and after many iterations: steps below 1 % of a standard error
_UNDECIDED = 25  # from this iteration on, directions that are not seen stay so
_UNSETTLED = 60  # from this iteration on, a robust loss keeps its noise: the median may change for ever
_BLIND = 1e-6  # singular values below this part of the largest are rounding errors
EXACT = 1e-6  # [pixels] the least noise, so that exact data have weights
_USUAL = 1.0  # [pixels] noise that is larger than this, as it is far from the solution, hides no direction


class CameraProblem(NamedTuple):
    """The views, and which combinations of a camera's numbers are estimated."""

    points: np.ndarray  # (v, n, 3) [m]
    pixels: np.ndarray  # (v, n, 2), 0 where nothing was seen
    seen: np.ndarray  # (v, n) 1.0 or 0.0
    basis: np.ndarray  # (13, p) changes of the numbers by one unit of each parameter
    scales: np.ndarray  # (p,) a parameter that is less certain than this is not seen
    noise: float | None  # [pixels] if it is known


class CameraFit(NamedTuple):
    """The numbers that fit best, and what is known about them."""

    numbers: np.ndarray  # (13,) in the order of COEFFICIENTS
    poses: np.ndarray  # (v, 4, 4) T_camera_target
    sigma: float  # [pixels] standard deviation of each coordinate
    covariance: np.ndarray  # (p, p)
    pose_covariance: np.ndarray  # (v, 6, 6) of twists in the target's frame: T_camera_target exp(ξ)
    unseen: np.ndarray  # (d, p) orthonormal directions in scaled parameters
    iterations: int


@kernel(point=3, pixel=2, T_camera_target=(4, 4), numbers=13)
def _rows(point, pixel, seen, T_camera_target, numbers):
    """The rows (2, 20) [slopes by 13 numbers | slopes by a twist of the target | residual]; 0 where nothing is seen."""
    K = np.array([[numbers[0], numbers[4], numbers[2]], [0, numbers[1], numbers[3]], [0, 0, 1]])
    found = pixel_slopes(point, se3.inverse(T_camera_target), np.stack(list(K)), numbers[5:])
    moments = np.stack([np.cross(point, found.point[0]), np.cross(point, found.point[1])])
    rows = np.concatenate(
        [found.intrinsics, found.distortion, moments, found.point, (pixel - found.pixels)[:, None]], axis=1
    )
    return np.where(seen > 0, rows, 0.0)


def camera_numbers(camera: Camera) -> np.ndarray:
    """The numbers (13,) of a camera in the order of COEFFICIENTS."""
    K = camera.matrix
    return np.concatenate([[K[0, 0], K[1, 1], K[0, 2], K[1, 2], K[0, 1]], camera.distortion])


def residuals_of(problem: CameraProblem, numbers: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """The residuals (v, n, 2) [pixels], measured minus predicted; 0 where nothing was seen."""
    return _rows(problem.points, problem.pixels, problem.seen, poses[:, None], numbers)[..., -1]


def _products(problem: CameraProblem, numbers, poses, sigma: float, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """The residuals (v, n, 2), and the products (v, p + 7, p + 7) of rows [camera | pose | residual] of each view."""
    rows = _rows(problem.points, problem.pixels, problem.seen, poses[:, None], numbers)
    residuals = rows[..., -1].copy()
    if loss.name != "squares":
        rows *= np.sqrt(loss.weights(np.linalg.norm(residuals, axis=-1) / sigma))[..., None, None]
    rows = rows.reshape(len(poses), -1, 20)
    all_numbers = np.swapaxes(rows, 1, 2) @ rows
    p = problem.basis.shape[1]
    choice = np.zeros((20, p + 7))
    choice[:13, :p], choice[13:, p:] = problem.basis, np.eye(7)
    return residuals, choice.T @ all_numbers @ choice


class _Blocks(NamedTuple):
    """The normal equations in units of the noise, with scaled parameters: [[A, Bᵀ], [B, C]] and right sides a, c."""

    A: np.ndarray  # (p, p)
    B: np.ndarray  # (v, 6, p)
    C: np.ndarray  # (v, 6, 6)
    a: np.ndarray  # (p,)
    c: np.ndarray  # (v, 6)


def _blocks(problem: CameraProblem, products: np.ndarray, sigma: float) -> _Blocks:
    p, scales = problem.basis.shape[1], problem.scales
    N = products / sigma**2
    A, a = N[:, :p, :p].sum(axis=0) * scales * scales[:, None], N[:, :p, -1].sum(axis=0) * scales
    return _Blocks(A, N[:, p:-1, :p] * scales, N[:, p:-1, p:-1], a, N[:, p:-1, -1])


def _eliminated(N: _Blocks, damping: float) -> tuple[np.ndarray, np.ndarray]:
    """The inverses C⁻¹ (v, 6, 6) and C⁻¹ B (v, 6, p), where the diagonal of C is made larger by the damping."""
    size = np.sqrt(np.diagonal(N.C, axis1=1, axis2=2))
    unit = N.C / (size[:, :, None] * size[:, None]) + damping * np.eye(6)  # metres and radians are made alike
    inverse = np.linalg.inv(unit) / (size[:, :, None] * size[:, None])
    return inverse, inverse @ N.B


class _Seen(NamedTuple):
    """What the views show of the scaled parameters: orthonormal directions, singular values, and the other ones."""

    directions: np.ndarray  # (r, p)
    values: np.ndarray  # (r,) 1 / standard error
    unseen: np.ndarray  # (p - r, p)


def _seen(N: _Blocks, sigma: float, most: int | None = None) -> _Seen:
    """The `_Seen` of the equations; at most `most` directions are seen."""
    _, coupling = _eliminated(N, 0.0)
    S = N.A - np.einsum("vij,vik->jk", N.B, coupling)
    e, V = np.linalg.eigh(0.5 * (S + S.T))
    s, V = np.sqrt(np.maximum(e[::-1], 0.0)), V.T[::-1]
    largest = np.sqrt(np.diag(N.A).max(initial=0.0))
    seen = (s > _BLIND * largest) & (s > min(sigma, _USUAL) / sigma)
    seen &= np.arange(len(s)) < (len(s) if most is None else most)
    return _Seen(V[seen], s[seen], V[~seen])


def _step(N: _Blocks, V: np.ndarray, damping: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The step (p,) of the scaled parameters along V (r, p), those (v, 6) of the poses, and how much χ² would fall."""
    inverse, coupling = _eliminated(N, damping)
    S = V @ (N.A + damping * np.diag(np.diag(N.A)) - np.einsum("vij,vik->jk", N.B, coupling)) @ V.T
    x = np.linalg.solve(S, V @ (N.a - np.einsum("vij,vi->j", coupling, N.c))) @ V
    poses = np.einsum("vij,vj->vi", inverse, N.c) - coupling @ x
    return x, poses, float(x @ N.a + np.sum(poses * N.c))


def _less_damping(damping: float, share: float) -> float:
    """The damping after a step that was good for this share of what it promised, by Nielsen's rule; 0 at last."""
    return damping * max(0.1, 1 - (2 * min(share, 1.0) - 1) ** 3) if damping > 1e-12 else 0.0


def _spread(problem: CameraProblem, residuals: np.ndarray, loss: Loss, used: int) -> float:
    """The standard deviation [pixels] of a coordinate: of all residuals, or of the better half with a robust loss."""
    squares = np.sum(residuals**2, axis=-1)[problem.seen > 0]
    usual = np.mean(squares) / 2 if loss.name == "squares" else np.median(squares) / chi_square_quantile(0.5, 2)
    rows = 2 * len(squares)
    return max(float(np.sqrt(usual * rows / max(rows - used, 0.5))), EXACT)


def fitted_camera(problem: CameraProblem, numbers: np.ndarray, poses: np.ndarray, loss: str, caller: str) -> CameraFit:
    """The `CameraFit` from first numbers (13,) and poses (v, 4, 4); Tukey's loss begins at the fit of Huber's."""
    if loss == "tukey":
        found = fitted_camera(problem, numbers, poses, "huber", caller)
        numbers, poses = found.numbers, found.poses
    law, used = loss_of(loss, 2), problem.basis.shape[1] + 6 * len(poses)
    sigma = problem.noise or _spread(problem, residuals_of(problem, numbers, poses), law, used)
    residuals, products = _products(problem, numbers, poses, sigma, law)
    damping, most, growth = 1e-4, None, 2.0
    for iteration in range(1, _ITERATIONS + 1):
        N = _blocks(problem, products, sigma)
        try:
            seen = _seen(N, sigma, most)
            step, pose_steps, gain = _step(N, seen.directions, damping)
        except np.linalg.LinAlgError:
            raise SolveError(f"{caller}: the points of some view do not determine its pose") from None
        most = None if iteration < _UNDECIDED else len(seen.values)
        trial, there = numbers + problem.basis @ (problem.scales * step), poses @ se3.exp(pose_steps)
        then, then_products = _products(problem, trial, there, sigma, law)
        before, after = (law.cost(np.linalg.norm(r, axis=-1)[problem.seen > 0] / sigma) for r in (residuals, then))
        if not after <= before + _ENOUGH + 1e-12 * before:  # NaN, too: a point would be behind the lens
            damping, growth = max(growth * damping, 1e-12), 2 * growth
            if damping > 1e12:
                break
            continue
        numbers, poses, residuals, products = trial, se3.project(there), then, then_products
        enough = _ENOUGH if iteration < _UNDECIDED else _NEARLY
        small = gain < enough + 1e-13 * before and damping < 1
        share = (before - after) / max(gain, enough)  # of what the step promised
        damping, growth = _less_damping(damping, 1.0 if small else share), 2.0
        settled = True
        if problem.noise is None and (law.name == "squares" or iteration < _UNSETTLED):
            old, sigma = sigma, _spread(problem, residuals, law, used)
            settled = abs(old - sigma) <= 1e-6 * sigma or sigma <= 10 * EXACT
        if law.name != "squares":
            residuals, products = _products(problem, numbers, poses, sigma, law)
        if small and settled:
            return _finished(problem, numbers, poses, sigma, law, most, iteration)
    raise SolveError(
        f"{caller}: no convergence after {iteration} iterations; do points and pixels belong together, in one order? "
        "Fewer terms in 'estimate', or a first camera, may help"
    )


def _finished(
    problem: CameraProblem, numbers, poses, sigma: float, law: Loss, most: int | None, iterations: int
) -> CameraFit:
    """The fit with its covariances: the inverse of the information, block by block."""
    _, products = _products(problem, numbers, poses, sigma, law)
    N = _blocks(problem, products, sigma)
    seen, (inverse, coupling) = _seen(N, sigma, most), _eliminated(N, 0.0)
    half = seen.directions / seen.values[:, None]
    scaled = half.T @ half
    of_poses = inverse + coupling @ scaled @ np.swapaxes(coupling, 1, 2)
    covariance = scaled * problem.scales * problem.scales[:, None]
    return CameraFit(numbers, poses, sigma, covariance, of_poses, seen.unseen, iterations)
