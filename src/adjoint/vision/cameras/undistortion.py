"""Images as a camera without distortion would see them."""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...model.input_checks import one_of
from ..image_checks import colour, gray, opencv, opencv_image
from .camera import Camera
from .projecting import project, rays

__all__ = ["undistort_image", "undistortion_map"]

_INTERPOLATIONS = {"nearest": "INTER_NEAREST", "linear": "INTER_LINEAR", "cubic": "INTER_CUBIC"}


def undistortion_map(camera: Camera, onto: Camera | None = None) -> np.ndarray:
    """The pixels (rows, columns, 2) of `camera` that show what each pixel of the camera `onto` shows, as float32.

        >>> camera = Camera.pinhole((64, 48), 1.0, distortion=[-0.2, 0, 0, 0])
        >>> undistortion_map(camera).shape
        (48, 64, 2)

    `onto` is the same camera without distortion by default; it may have another matrix, another size, and another
    orientation, but it must be at the same place. What `camera` cannot show has NaN.
    """
    onto = camera.replace(distortion=()) if onto is None else onto
    if not np.allclose(onto.T_world_camera[:3, 3], camera.T_world_camera[:3, 3], rtol=0, atol=1e-9):
        raise ArgumentError("undistortion_map: the camera 'onto' must be at the same place; it may only be turned")
    T = camera.T_world_camera.copy()
    T[:3, 3] = 0.0
    directions = rays(onto).directions
    found = project(camera.at(T), directions)
    if np.isfinite(camera.largest_radius):  # farther out the polynomials fold back
        local = directions @ camera.T_world_camera[:3, :3]
        found[np.hypot(local[..., 0], local[..., 1]) > camera.largest_radius * local[..., 2]] = np.nan
    return found.astype(np.float32)


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
    cv2 = opencv(caller)
    one_of(interpolation, _INTERPOLATIONS, f"{caller}: interpolation")
    picture = colour(image, caller) if np.ndim(image) == 3 else gray(image, caller)
    if picture.shape[:2] != camera.size[::-1]:
        raise ArgumentError(f"{caller}: the image has shape {picture.shape}; the camera's is {camera.size[::-1]}")
    places = np.nan_to_num(undistortion_map(camera, onto), nan=-1e4)
    found = cv2.remap(opencv_image(picture), places, None, getattr(cv2, _INTERPOLATIONS[interpolation]))
    return found.astype(picture.dtype, copy=False)
