"""The lens of a camera: its numbers, distortion, and the inverse of it, for scenes and for the cameras of `vision`."""

from __future__ import annotations

import operator

import numpy as np

from ...compile import kernel, while_loop
from ...compile.front.arguments import as_input
from ...errors import ArgumentError
from .scene_checks import array

__all__ = ["distorted", "distortion_of", "image_size", "intrinsics", "largest_radius", "radial_factor", "undistorted"]

_STEPS, _CLOSE = 40, 1e-9  # Newton's iteration ends when its step was this small; then its error is about the square
_COEFFICIENTS = (0, 4, 5, 8)


def radial_factor(s, k):
    """ρ and dρ/ds at s = r², where k (8,) are OpenCV's coefficients."""
    N, D = 1 + s * (k[0] + s * (k[1] + s * k[4])), 1 + s * (k[5] + s * (k[6] + s * k[7]))
    dN, dD = k[0] + s * (2 * k[1] + 3 * s * k[4]), k[5] + s * (2 * k[6] + 3 * s * k[7])
    rho = N / D
    return rho, (dN - rho * dD) / D


@kernel(point=2, distortion=8)
def distorted(point, distortion) -> np.ndarray:
    """The point (x_d, y_d) (2,) where a lens with this `distortion` (8,) shows the `point` (x, y) of the plane z = 1.

        >>> distorted([0.5, 0.0], [-0.2, 0, 0, 0, 0, 0, 0, 0])
        array([0.475, 0.   ])

    The formula is that of `Camera`; Brown (1971), "Close-range camera calibration".
    """
    x, y, k = point[0], point[1], distortion
    s = x * x + y * y
    rho = (1 + s * (k[0] + s * (k[1] + s * k[4]))) / (1 + s * (k[5] + s * (k[6] + s * k[7])))
    two = 2 * x * y
    return np.stack([x * rho + k[2] * two + k[3] * (s + 2 * x * x), y * rho + k[2] * (s + 2 * y * y) + k[3] * two])


@kernel(point=2, distortion=8)
def undistorted(point, distortion, largest_radius=np.inf) -> np.ndarray:
    """The point (x, y) (2,) of the plane z = 1 that a lens shows at `point` (x_d, y_d): the inverse of `distorted`.

        >>> undistorted([0.475, 0.0], [-0.2, 0, 0, 0, 0, 0, 0, 0]).round(12) + 0.0
        array([0.5, 0. ])

    Newton's iteration ends with errors of about 1e-13. Where the model is not invertible, the result is NaN: no point
    with a radius below `largest_radius` (that of `Camera`) is shown there, or the lens would turn the image inside out.
    """
    k = distortion

    def slopes(x, y):
        s = x * x + y * y
        rho, slope = radial_factor(s, k)
        a = rho + 2 * slope * x * x + 2 * k[2] * y + 6 * k[3] * x
        b = 2 * slope * x * y + 2 * k[2] * x + 2 * k[3] * y
        d = rho + 2 * slope * y * y + 6 * k[2] * y + 2 * k[3] * x
        return a, b, d

    def body(carry):
        x, y, _ = carry
        a, b, d = slopes(x, y)
        miss = distorted(np.stack([x, y]), k) - point
        det = a * d - b * b
        dx, dy = (d * miss[0] - b * miss[1]) / det, (a * miss[1] - b * miss[0]) / det
        return x - dx, y - dy, dx * dx + dy * dy

    def goes_on(carry):
        x, y, step = carry
        return step > _CLOSE * _CLOSE * (1 + x * x + y * y)

    # Newton's steps do not pass the solution of a barrel or a pincushion if they begin at the distorted point.
    x, y, step = while_loop(goes_on, body, (point[0], point[1], 1.0 + 0.0 * point[0]), max_iterations=_STEPS)
    a, b, d = slopes(x, y)
    found = (step <= _CLOSE * _CLOSE * (1 + x * x + y * y)) & (a * d - b * b > 0) & (a + d > 0)
    found = found & (x * x + y * y <= largest_radius * largest_radius)
    return np.where(found, np.stack([x, y]), np.nan)


def largest_radius(distortion: np.ndarray) -> float:
    """The largest r = tan(angle to the axis) up to which the radial distortion r ρ(r) grows; infinity if always."""
    k1, k2, _, _, k3, k4, k5, k6 = distortion
    if not np.any([k1, k2, k3, k4, k5, k6]):
        return np.inf
    # In s = r²: r ρ = r N(s)/D(s) has the slope (N D + 2 s (N' D - N D')) / D².
    N, D = np.polynomial.Polynomial([1, k1, k2, k3]), np.polynomial.Polynomial([1, k4, k5, k6])
    slope = N * D + np.polynomial.Polynomial([0, 2]) * (N.deriv() * D - N * D.deriv())
    roots = np.concatenate([slope.trim().roots(), D.trim().roots()])
    real = roots.real[(np.abs(roots.imag) < 1e-12 * (1 + np.abs(roots))) & (roots.real > 0)]
    return float(np.sqrt(real.min())) if len(real) else np.inf


# --- checks -----------------------------------------------------------------------------------------------------------


def image_size(size, caller: str) -> tuple[int, int]:
    """The size (columns, rows) of an image as two positive whole numbers, or an `ArgumentError`."""
    try:
        columns, rows = (operator.index(n) for n in size)
    except (TypeError, ValueError):
        columns = rows = 0
    if columns < 1 or rows < 1:
        raise ArgumentError(f"{caller}: 'size' is {size!r:.60}; it must be (columns, rows), two positive whole numbers")
    return columns, rows


def intrinsics(matrix, caller: str) -> np.ndarray:
    """The intrinsic matrix K (3, 3), or an `ArgumentError` that says what K looks like."""
    K = array(matrix, (3, 3), "matrix", caller)
    if np.any(K[[1, 2, 2], [0, 0, 1]] != 0) or K[2, 2] != 1 or K[0, 0] == 0 or K[1, 1] == 0:
        raise ArgumentError(
            f"{caller}: 'matrix' must be [[fx, s, cx], [0, fy, cy], [0, 0, 1]] in pixels, with fx and fy not 0; "
            f"got {K.tolist()}"
        )
    return K


def distortion_of(values, caller: str) -> np.ndarray:
    """OpenCV's coefficients k1 k2 p1 p2 k3 k4 k5 k6 (8,), filled with zeros, or an `ArgumentError`."""
    found = np.array(as_input(() if values is None else values, "distortion", caller), dtype=float)
    found = found.reshape(-1) if found.ndim == 2 and 1 in found.shape else found  # OpenCV gives (1, n) or (n, 1)
    if found.ndim == 1 and len(found) in (12, 14) and not found[8:].any():
        found = found[:8]  # OpenCV appends thin prisms and tilts, which are 0 here
    if found.ndim != 1 or len(found) not in _COEFFICIENTS:
        raise ArgumentError(
            f"{caller}: 'distortion' has shape {found.shape}; OpenCV's k1 k2 p1 p2 [k3 [k4 k5 k6]] are needed: "
            "0, 4, 5 or 8 numbers; thin prisms and tilted sensors, numbers 9 to 14, are not known here"
        )
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: 'distortion' contains NaN or infinity")
    return np.concatenate([found, np.zeros(8 - len(found))])
