"""Images as a camera without distortion would see them."""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...model.input_checks import one_of
from ...sensing.scene.lenses import distorted
from ..image_checks import colour, gray, opencv, opencv_image
from .camera import Camera, need_camera
from .lens_model import ideal_point, pixel_on_image

__all__ = ["undistort_image", "undistortion_map"]

_OUTSIDE, _FAR = -1e4, 1e9  # a pixel outside of every image, and a radius that has no limit in single precision
_INTERPOLATIONS = {"nearest": "INTER_NEAREST", "linear": "INTER_LINEAR", "cubic": "INTER_CUBIC"}


@kernel(onto=(3, 3), R=(3, 3), matrix=(3, 3), distortion=8, onto_distortion=8)
def _place(u, v, onto, R, matrix, distortion, largest_radius, onto_distortion=None):
    """The pixel of a camera that shows what the pixel (u, v) of another one shows, which is turned by R."""
    x, y = ideal_point(u, v, onto, onto_distortion, np.inf)
    X, Y, Z = R @ np.stack([x, y, 1.0 + 0.0 * x])
    over = 1 / np.where(Z > 0, Z, np.nan)
    x, y = X * over, Y * over
    seen = x * x + y * y <= largest_radius * largest_radius  # farther out the polynomials fold back
    x, y = distorted(np.stack([x, y]), distortion)
    return np.where(seen, pixel_on_image(x, y, matrix), _OUTSIDE)


def undistortion_map(camera: Camera, onto: Camera | None = None) -> np.ndarray:
    """The pixels (rows, columns, 2) of `camera` that show what each pixel of the camera `onto` shows, as float32.

        >>> camera = Camera.pinhole((64, 48), 1.0, distortion=[-0.2, 0, 0, 0])
        >>> undistortion_map(camera).shape
        (48, 64, 2)

    `onto` is the same camera without distortion by default; it may have another matrix, another size, and another
    orientation, but it must be at the same place. What `camera` cannot show is at (-10000, -10000), outside of every
    image. Single precision is good for about 1e-4 pixels, and `cv2.remap` rounds to 1/32.
    """
    need_camera(camera, "undistortion_map")
    onto = camera.replace(distortion=()) if onto is None else onto
    if not np.allclose(onto.T_world_camera[:3, 3], camera.T_world_camera[:3, 3], rtol=0, atol=1e-9):
        raise ArgumentError("undistortion_map: the camera 'onto' must be at the same place; it may only be turned")
    columns, rows = onto.size
    R = camera.T_world_camera[:3, :3].T @ onto.T_world_camera[:3, :3]
    u, v = np.arange(columns, dtype=np.float32), np.arange(rows, dtype=np.float32)[:, None]
    numbers = (onto.matrix, R, camera.matrix, camera.distortion, np.array(min(camera.largest_radius, _FAR)))
    options = {"onto_distortion": onto.distortion.astype(np.float32)} if onto.distorts else {}
    return _place(u, v, *(x.astype(np.float32) for x in numbers), **options)


def undistort_image(camera: Camera, image, *, onto: Camera | None = None, interpolation: str = "linear") -> np.ndarray:
    """The image that a camera without distortion would see at the same place, or that the camera `onto` would see.

        >>> camera = Camera.pinhole((64, 48), 1.0, distortion=[-0.2, 0, 0, 0])
        >>> undistort_image(camera, np.zeros((48, 64), np.uint8)).shape
        (48, 64)

    `image` (rows, columns[, 3]) belongs to `camera`. Pixels that it does not show are 0. `interpolation` is "linear",
    "nearest" or "cubic" (`cv2.remap`); `onto` is explained at `undistortion_map`, which serves a whole film:
    `cv2.remap(image, undistortion_map(camera), None, cv2.INTER_LINEAR)`.
    """
    caller = "undistort_image"
    need_camera(camera, caller)
    cv2 = opencv(caller)
    one_of(interpolation, _INTERPOLATIONS, f"{caller}: interpolation")
    picture = colour(image, caller) if np.ndim(image) == 3 else gray(image, caller)
    if picture.shape[:2] != camera.size[::-1]:
        raise ArgumentError(f"{caller}: the image has shape {picture.shape}; the camera's is {camera.size[::-1]}")
    places = undistortion_map(camera, onto)
    found = cv2.remap(opencv_image(picture), places, None, getattr(cv2, _INTERPOLATIONS[interpolation]))
    return found.astype(picture.dtype, copy=False)
