"""Cameras as OpenCV, ROS, OpenGL and Blender write them, and cameras of resized, cropped and mirrored images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...lie import se3, so3
from ...model.input_checks import one_of, positive
from ...sensing.scene.lenses import image_size
from .camera import Camera
from .camera_checks import finite, motion

__all__ = [
    "OpenCVCamera",
    "camera_from_info",
    "camera_from_opencv",
    "camera_info",
    "camera_to_opencv",
    "crop_camera",
    "flip_camera",
    "from_camera_frame",
    "resize_camera",
    "to_camera_frame",
]

# The columns are the camera's axes x (right), y (down), z (forward) along the axes of the other frame.
_AXES = {
    "opencv": np.eye(3),
    "ros_optical": np.eye(3),
    "ros_body": np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]]),  # x forward, y left, z up
    "opengl": np.diag([1.0, -1, -1]),  # x right, y up, z backward
    "blender": np.diag([1.0, -1, -1]),
    "textbook": np.eye(3),  # with the origin in the image plane, λ behind the lens
}


# --- frames -----------------------------------------------------------------------------------------------------------


def to_camera_frame(T_world_frame, convention: str, *, focal_length: float | None = None) -> np.ndarray:
    """The pose T_world_camera (4, 4) for `Camera`, from the pose of the same camera in another convention.

        >>> forward = to_camera_frame(np.eye(4), "ros_body")[:3, 2]
        >>> forward
        array([1., 0., 0.])

    | `convention` | axes |
    |---|---|
    | "opencv", "ros_optical" | x right, y down, z forward: the same as `Camera` |
    | "ros_body" | x forward, y left, z up (REP 103) |
    | "opengl", "blender" | x right, y up, z backward |
    | "textbook" | those of "opencv", with the origin in the image plane, λ = `focal_length` [m] behind the lens |

    `T_world_frame` (4, 4) is the pose of the frame in the world, not its inverse.
    """
    return motion(T_world_frame, "T_world_frame", "to_camera_frame") @ _T_frame_camera(
        convention, focal_length, "to_camera_frame"
    )


def from_camera_frame(T_world_camera, convention: str, *, focal_length: float | None = None) -> np.ndarray:
    """The pose (4, 4) in another convention of a camera with the pose `T_world_camera`: inverse of `to_camera_frame`.

    >>> T = from_camera_frame(np.eye(4), "opengl")
    >>> T[:3, 2]                                                             # OpenGL's z points backward
    array([ 0.,  0., -1.])
    """
    T_frame_camera = _T_frame_camera(convention, focal_length, "from_camera_frame")
    return motion(T_world_camera, "T_world_camera", "from_camera_frame") @ se3.inverse(T_frame_camera)


def _T_frame_camera(convention: str, focal_length: float | None, caller: str) -> np.ndarray:
    one_of(convention, _AXES, f"{caller}: convention")
    if (convention == "textbook") != (focal_length is not None):
        raise ArgumentError(f"{caller}: 'focal_length' [m] belongs to the convention 'textbook', and it needs one")
    T = np.eye(4)
    T[:3, :3] = _AXES[convention]
    if focal_length is not None:
        T[2, 3] = positive(focal_length, f"{caller}: focal_length [m]")
    return T


# --- OpenCV and ROS ---------------------------------------------------------------------------------------------------


class OpenCVCamera(NamedTuple):
    """The numbers of a camera as functions of OpenCV take them; rvec and tvec are the world in the camera's frame."""

    matrix: np.ndarray  # (3, 3)
    distortion: np.ndarray  # (8,)
    rvec: np.ndarray  # (3,) [rad]
    tvec: np.ndarray  # (3,) [m]


def camera_to_opencv(camera: Camera) -> OpenCVCamera:
    """The matrix, distortion, rvec and tvec with which OpenCV's functions see what `camera` sees.

        >>> camera_to_opencv(Camera.pinhole((640, 480), 1.0)).rvec
        array([0., 0., 0.])

    OpenCV ignores the skew of a matrix.
    """
    T = camera.T_camera_world
    return OpenCVCamera(camera.matrix.copy(), camera.distortion.copy(), so3.log(T[:3, :3]), T[:3, 3].copy())


def camera_from_opencv(matrix, size, distortion=(), rvec=(0.0, 0.0, 0.0), tvec=(0.0, 0.0, 0.0)) -> Camera:
    """The `Camera` of OpenCV's numbers: `rvec`, `tvec` (3,) take points from the world to the camera.

    >>> K = [[500, 0, 320], [0, 500, 240], [0, 0, 1]]
    >>> camera_from_opencv(K, (640, 480), tvec=[0, 0, 2.0]).T_world_camera[:3, 3]
    array([ 0.,  0., -2.])
    """
    w, t = (finite(np.ravel(x), (3,), name, "camera_from_opencv") for x, name in ((rvec, "rvec"), (tvec, "tvec")))
    T_camera_world = se3.from_rotation_translation(so3.exp(w), t)
    return Camera(matrix, size, distortion, se3.inverse(T_camera_world) + 0.0)


_INFO = (
    "width", "height", "k", "d", "distortion_model", "binning_x", "binning_y", "roi", "x_offset", "y_offset",
)  # fmt: skip
_MODELS = {"plumb_bob": 5, "rational_polynomial": 8}  # {ROS's name: how many coefficients it has}


def camera_info(camera: Camera) -> dict[str, Any]:
    """The fields of ROS's message `sensor_msgs/CameraInfo` for a camera, as a dictionary of plain numbers and lists.

        >>> camera_info(Camera.pinhole((640, 480), focal_length=500))["distortion_model"]
        'plumb_bob'

    Names are those of ROS 2 (k, d, r, p). The pose is no part of the message; it belongs to its optical frame.
    """
    model = "rational_polynomial" if camera.distortion[5:].any() else "plumb_bob"
    return {
        "width": camera.size[0],
        "height": camera.size[1],
        "distortion_model": model,
        "d": camera.distortion[: _MODELS[model]].tolist(),
        "k": camera.matrix.ravel().tolist(),
        "r": np.eye(3).ravel().tolist(),
        "p": np.hstack([camera.matrix, np.zeros((3, 1))]).ravel().tolist(),
        "binning_x": 0,
        "binning_y": 0,
        "roi": {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False},
    }


def camera_from_info(info: Any, *, T_world_camera=None) -> Camera:
    """The `Camera` of a ROS `CameraInfo`: the message, or a dictionary with the names of ROS 1 (K, D) or ROS 2 (k, d).

        >>> camera_from_info(camera_info(Camera.pinhole((640, 480), focal_length=500)))
        <Camera 640 x 480 pixels, field of view 65.2° x 51.3°>

    The camera is that of the raw image: `r` and `p`, which belong to the rectified one, are not used. Binning and a
    region of interest are. Dictionaries from the YAML files of camera_calibration (image_width, camera_matrix, ...) do
    too. `T_world_camera` (4, 4) is the pose of the optical frame, the identity by default.
    """
    caller = "camera_from_info"
    fields = _info_fields(info)
    if not fields:
        raise ArgumentError(
            f"{caller}: 'info' must be a CameraInfo, or a dictionary with its fields, got {type(info).__name__}"
        )
    missing = [name for name in ("width", "height", "k") if name not in fields]
    if missing:
        raise ArgumentError(f"{caller}: the fields {', '.join(missing)} are missing; there are {', '.join(fields)}")
    model = fields.get("distortion_model") or "plumb_bob"
    if model not in _MODELS:
        raise ArgumentError(f"{caller}: distortion_model is {model!r}; it must be one of {', '.join(_MODELS)}")
    matrix = finite(np.ravel(fields["k"]), (9,), "k", caller).reshape(3, 3)
    T = np.eye(4) if T_world_camera is None else T_world_camera
    camera = Camera(matrix, (fields["width"], fields["height"]), fields.get("d", ()), T)
    roi = _info_fields(fields.get("roi") or {})
    if roi.get("width") and roi.get("height"):
        corner = (roi.get("x_offset", 0), roi.get("y_offset", 0))
        camera = crop_camera(camera, corner, (roi["width"], roi["height"]))
    across, down = (max(1, int(fields.get(name) or 1)) for name in ("binning_x", "binning_y"))
    if (across, down) != (1, 1):
        camera = resize_camera(camera, (camera.size[0] // across, camera.size[1] // down))
    return camera


def _info_fields(info: Any) -> dict[str, Any]:
    """The fields of a message, of a dictionary, or of a YAML file of camera_calibration, by the names of ROS 2."""
    if isinstance(info, Mapping):
        fields = {str(name).lower(): value for name, value in info.items()}
    else:
        fields = {name: getattr(info, name) for name in _INFO if hasattr(info, name)}
        fields |= {name: getattr(info, name.upper()) for name in ("k", "d") if hasattr(info, name.upper())}
    old = {"image_width": "width", "image_height": "height", "camera_matrix": "k", "distortion_coefficients": "d"}
    for name, ours in old.items():
        if name in fields:
            value = fields[name]
            fields.setdefault(ours, value["data"] if isinstance(value, Mapping) and "data" in value else value)
    return fields


# --- cameras of changed images ----------------------------------------------------------------------------------------


def resize_camera(camera: Camera, size) -> Camera:
    """The camera of the image that is resized to `size` (columns, rows), as by `cv2.resize`.

        >>> resize_camera(Camera.pinhole((640, 480), focal_length=500), (320, 240)).matrix[0]
        array([250. ,   0. , 159.5])

    Borders of the image stay borders: u + ½ is multiplied, because whole numbers are the centres of pixels.
    """
    size = image_size(size, "resize_camera")
    across, down = np.divide(size, camera.size)
    A = np.array([[across, 0, 0.5 * across - 0.5], [0, down, 0.5 * down - 0.5], [0, 0, 1]])
    return camera.replace(matrix=A @ camera.matrix, size=size)


def crop_camera(camera: Camera, corner, size) -> Camera:
    """The camera of a part of the image: `corner` (u, v) is its first pixel, `size` is (columns, rows).

        >>> crop_camera(Camera.pinhole((640, 480), focal_length=500), (100, 50), (200, 100)).matrix[:2, 2]
        array([219.5, 189.5])

    The part may reach beyond the image, as padded images do.
    """
    u, v = finite(corner, (2,), "corner", "crop_camera")
    A = np.array([[1, 0, -u], [0, 1, -v], [0, 0, 1]])
    return camera.replace(matrix=A @ camera.matrix, size=image_size(size, "crop_camera"))


def flip_camera(camera: Camera, direction: str = "left-right") -> Camera:
    """The camera of the mirrored image: "left-right" (np.fliplr), "up-down" (np.flipud) or "both" (turned by 180°).

        >>> flip_camera(Camera.pinhole((640, 480), focal_length=500)).matrix[0]
        array([-500. ,    0. ,  319.5])

    A mirrored image has a negative focal length in one direction. Pose and distortion stay as they are.
    """
    one_of(direction, ("left-right", "up-down", "both"), "flip_camera: direction")
    A, (columns, rows) = np.eye(3), camera.size
    if direction != "up-down":
        A[0, [0, 2]] = -1, columns - 1
    if direction != "left-right":
        A[1, [1, 2]] = -1, rows - 1
    return camera.replace(matrix=A @ camera.matrix + 0.0)
