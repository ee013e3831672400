"""`rectify`: a pair of cameras, and their images, turned so that one point of the world is seen in one row of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...lie import se3
from ..cameras.camera import Camera
from ..cameras.projecting import rays
from ..cameras.undistortion import undistort_image
from .pairs import StereoPair, need_pair

__all__ = ["Rectified", "rectify"]

_BORDER = 17  # points on each side of the image's border that tell how large the rectified image must be
_BEHIND = 0.2  # the least sine of the angle between the baseline and the optical axes


class Rectified(NamedTuple):
    """A rectified `pair`, whose cameras are equal, parallel and without distortion, and its images, if some were given.

    A point that the left image shows at (u, v) is at (u - d, v) in the right one, with the disparity d = f B / Z >= 0.
    """

    pair: StereoPair
    left: np.ndarray | None
    right: np.ndarray | None


def rectify(pair: StereoPair, left=None, right=None, *, size=None) -> Rectified:
    """The rectified pair, and the images `left` and `right` as its cameras would show them: a `Rectified`.

        >>> camera = Camera.pinhole((64, 48), focal_length=60, distortion=[-0.1, 0, 0, 0])
        >>> pair = StereoPair(camera, camera.at(se3.exp([0.05, 0.1, 0.02, 0.1, 0.01, 0])))
        >>> flat = rectify(pair).pair
        >>> flat.T_left_right.round(12)[:3, :3] + 0.0
        array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]])

    Both cameras keep their lens centres and turn: x becomes the direction of the baseline, and z the mean of both
    optical axes, at right angles to it. Both get one focal length and one principal point, so that disparities of far
    points go to 0. `size` (columns, rows) is that of the left camera by default; the focal length is the largest with
    which the rectified images hold all of both images' fields of view, but not larger than those of the cameras. Images
    (rows, columns[, 3]) are resampled by OpenCV with linear interpolation; outside of what was seen they are 0.
    Reference: Fusiello, Trucco & Verri (2000), "A compact algorithm for rectification of stereo pairs", Machine Vision
    and Applications 12.
    """
    caller = "rectify"
    cameras = (need_pair(pair, caller).left, pair.right)
    R = _shared_axes(cameras, caller)
    size = cameras[0].size if size is None else size
    ends = np.concatenate([_border(camera) @ R for camera in cameras])  # directions in the shared axes
    if not (np.isfinite(ends).all() and (ends[:, 2] > 0.1).all()):
        raise ArgumentError(
            f"{caller}: the fields of view are too wide, or the cameras are turned too far from each other, for one "
            "common plane of images"
        )
    low, high = (f(ends[:, :2] / ends[:, 2:], axis=0) for f in (np.min, np.max))
    most = min(float(camera.matrix[k, k]) for camera in cameras for k in (0, 1))
    f = min(most, *((np.array(size) - 1) / (high - low)))
    u, v = (np.array(size) - 1) / 2 - f * (low + high) / 2
    K = np.array([[f, 0, u], [0, f, v], [0, 0, 1]])
    turned = [
        Camera(K, size, T_world_camera=se3.from_rotation_translation(R, c.T_world_camera[:3, 3])) for c in cameras
    ]
    images = [
        None if image is None else undistort_image(camera, image, onto=there)
        for image, camera, there in zip((left, right), cameras, turned, strict=True)
    ]
    return Rectified(StereoPair(turned[0], turned[1]), images[0], images[1])


def _shared_axes(cameras: tuple[Camera, Camera], caller: str) -> np.ndarray:
    """The axes (3, 3) of both rectified cameras in the world, as columns."""
    x = cameras[1].T_world_camera[:3, 3] - cameras[0].T_world_camera[:3, 3]
    x = x / np.linalg.norm(x)
    axis = cameras[0].T_world_camera[:3, 2] + cameras[1].T_world_camera[:3, 2]
    y = np.cross(axis, x)
    if np.linalg.norm(y) < _BEHIND * 2:
        raise ArgumentError(
            f"{caller}: one camera stands in front of the other, or they look in opposite directions: no rotation "
            "makes their images parallel to the baseline"
        )
    y = y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _border(camera: Camera) -> np.ndarray:
    """Directions (n, 3) in the world of pixels along the border of the image."""
    columns, rows = camera.size
    u, v = np.linspace(0, columns - 1, _BORDER), np.linspace(0, rows - 1, _BORDER)
    sides = [(u, 0 * u), (u, 0 * u + rows - 1), (0 * v, v), (0 * v + columns - 1, v)]
    return rays(camera, np.concatenate([np.stack(side, axis=-1) for side in sides])).directions
