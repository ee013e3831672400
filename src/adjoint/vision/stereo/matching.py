"""Disparities of rectified images, `match_stereo`, and the points of the world they mean, `reproject_disparity`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...model.input_checks import count, one_of, positive
from ..cameras.camera import Camera
from ..image_checks import colour, gray, opencv
from .pairs import StereoPair, need_pair

__all__ = ["StereoPoints", "match_stereo", "reproject_disparity"]

_MODES = {
    "two passes": "STEREO_SGBM_MODE_SGBM",
    "three ways": "STEREO_SGBM_MODE_SGBM_3WAY",
    "full": "STEREO_SGBM_MODE_HH",
}
_PARALLEL = 1e-6  # how far cameras of a rectified pair may differ


class StereoPoints(NamedTuple):
    """Points that a disparity image means; NaN where there is no disparity."""

    points: np.ndarray  # (rows, columns, 3) [m] in the world
    depth: np.ndarray  # (rows, columns) [m] along the optical axis of the left camera
    depth_sigma: np.ndarray  # (rows, columns) [m] its standard deviation: Z² σ / (f B)

    def covariance(self, pair: StereoPair) -> np.ndarray:
        """The covariances (rows, columns, 3, 3) [m²] of the points, of rank 1: their errors are along their rays."""
        along = (self.points - pair.left.T_world_camera[:3, 3]) * (self.depth_sigma / self.depth)[..., None]
        return along[..., :, None] * along[..., None, :]


def match_stereo(
    left, right, *, disparities: int = 64, least: int = 0, window: int = 5, smoothness: float = 1.0,
    uniqueness: int = 10, consistency: int = 1, speckles: tuple[int, float] = (100, 2.0), mode: str = "two passes",
) -> np.ndarray:  # fmt: skip
    """The disparity (rows, columns) [pixels] of each pixel of the `left` of two rectified images; NaN where unknown.

        >>> left = np.random.default_rng(0).integers(0, 255, (60, 120), dtype=np.uint8)
        >>> d = match_stereo(left, np.roll(left, -5, axis=1), disparities=16)
        >>> float(np.nanmedian(d))
        5.0

    Images are (rows, columns) or (rows, columns, 3) of 8 bits, and show one point in the same row: `rectify` makes them
    so. What the left image shows at (u, v), the right one shows at (u - d, v). This is OpenCV's semi-global block
    matching, with 1/16 pixel.

    - `disparities`, a multiple of 16, is how many are tried from `least` on: `least` <= d < `least` + `disparities`.
      The left `least` + `disparities` columns have no disparity, as the right image may not show them.
    - `window`, an odd number of pixels, is the width of blocks. `smoothness` scales OpenCV's usual penalties
      8 · window² and 32 · window² (times the channels) of neighbours that differ by 1, or by more.
    - `uniqueness` [%] is by how much the best match must beat the second; `consistency` [pixels] is how far the matches
      left to right and right to left may differ (negative: no check); `speckles` (pixels, disparity) removes regions of
      fewer pixels, within which neighbours differ by no more than this.
    - `mode` "two passes" looks along five directions, "full" along eight, "three ways" is faster.

    Reference: Hirschmüller (2008), "Stereo processing by semiglobal matching and mutual information", IEEE PAMI 30(2).
    """
    caller = "match_stereo"
    images = [colour(x, caller) if np.ndim(x) == 3 else gray(x, caller) for x in (left, right)]
    if images[0].shape != images[1].shape or any(x.dtype != np.uint8 for x in images):
        raise ArgumentError(
            f"{caller}: images must be of 8 bits and of one shape; they have {images[0].shape} {images[0].dtype} and "
            f"{images[1].shape} {images[1].dtype}. (255 * image).astype(np.uint8) converts levels from 0 to 1"
        )
    rows, columns = images[0].shape[:2]
    if count(disparities, f"{caller}: disparities") % 16 or not disparities >= 16:
        raise ArgumentError(f"{caller}: 'disparities' is {disparities}; it must be a multiple of 16")
    if isinstance(least, bool) or not isinstance(least, int | np.integer):
        raise ArgumentError(f"{caller}: 'least' must be a whole number of pixels, got {least!r:.60}")
    if not abs(least) + disparities < columns:
        raise ArgumentError(
            f"{caller}: 'least' {least} and 'disparities' {disparities} leave nothing of {columns} columns"
        )
    if count(window, f"{caller}: window") % 2 == 0 or window > min(rows, columns):
        raise ArgumentError(f"{caller}: 'window' is {window}; it must be odd, and not larger than the images")
    one_of(mode, _MODES, f"{caller}: mode")
    cv2 = opencv(caller)
    penalty = positive(smoothness, f"{caller}: smoothness") * (3 if images[0].ndim == 3 else 1) * window**2
    size, spread = speckles
    matcher = cv2.StereoSGBM_create(
        minDisparity=int(least), numDisparities=int(disparities), blockSize=int(window), P1=round(8 * penalty),
        P2=round(32 * penalty), disp12MaxDiff=int(consistency), uniquenessRatio=int(uniqueness),
        speckleWindowSize=int(size), speckleRange=int(np.ceil(spread)), mode=getattr(cv2, _MODES[mode]),
    )  # fmt: skip
    found = matcher.compute(*(np.ascontiguousarray(x) for x in images)).astype(np.float32)
    found *= 1 / 16
    found[found < least] = np.nan
    return found


@kernel(matrix=(3, 3), T=(4, 4))
def _disparity_point(u, v, disparity, sigma, baseline, matrix, T) -> StereoPoints:
    """The point (3,) of a pixel (u, v) of the left image with its disparity, its depth, and the error of the depth."""
    f = matrix[0, 0]
    Z = f * baseline / np.where(disparity > 0, disparity, np.nan)
    local = np.stack([(u - matrix[0, 2]) / f * Z, (v - matrix[1, 2]) / matrix[1, 1] * Z, Z])
    return StereoPoints(T[:3, :3] @ local + T[:3, 3], Z, Z * Z * sigma / (f * baseline))


def reproject_disparity(pair: StereoPair, disparity, *, sigma: float = 0.3) -> StereoPoints:
    """The points (rows, columns, 3) [m] of the world that a disparity image means, with the errors of their depths.

        >>> pair = StereoPair.aligned(Camera.pinhole((64, 48), focal_length=60), baseline=0.1)
        >>> found = reproject_disparity(pair, np.full((48, 64), 6.0), sigma=0.5)
        >>> float(found.depth[0, 0]), float(found.depth_sigma[0, 0].round(3))
        (1.0, 0.083)

    `pair` must be rectified (`rectify(...).pair`), and `disparity` (rows, columns) [pixels] belongs to its left image:
    Z = f B / d. `sigma` [pixels] is the standard deviation of disparities; that of the depth, to first order, is
    Z² σ / (f B). The error of a point is along its ray: `found.covariance(pair)` has the matrices. Pixels with NaN, and
    those with d <= 0, have NaN. Reference: (7.4-56) of Fu, Gonzalez & Lee (1987), with Z from the lens.
    """
    caller = "reproject_disparity"
    left, baseline = _rectified(pair, caller)
    d = np.asarray(disparity)
    columns, rows = left.size
    if d.shape != (rows, columns) or d.dtype.kind != "f":
        raise ArgumentError(
            f"{caller}: 'disparity' has shape {d.shape} and dtype {d.dtype}; floats {(rows, columns)} are needed, "
            "in pixels (OpenCV's 16-bit disparities are 16 times as large)"
        )
    sigma = positive(sigma, f"{caller}: sigma [pixels]")
    u, v = np.arange(float(columns)), np.arange(float(rows))[:, None]
    numbers = d.astype(float, copy=False)
    return _disparity_point(u, v, numbers, sigma, baseline, left.matrix, left.T_world_camera)


def _rectified(pair: StereoPair, caller: str) -> tuple[Camera, float]:
    """The left camera and the baseline [m] of a pair that must be rectified."""
    left, right, T = need_pair(pair, caller).left, pair.right, pair.T_left_right
    straight = np.abs(T[:3, :3] - np.eye(3)).max() < _PARALLEL and np.abs(T[1:3, 3]).max() < _PARALLEL * T[0, 3]
    same = left.size == right.size and np.allclose(left.matrix, right.matrix, rtol=_PARALLEL, atol=0)
    if not straight or not same or left.distorts or right.distorts or left.matrix[0, 1] != 0:
        raise ArgumentError(
            f"{caller}: the pair is not rectified: its cameras must be equal, without distortion and skew, and differ "
            "only by a shift along x; rectify(pair).pair is such a pair"
        )
    return left, float(T[0, 3])
