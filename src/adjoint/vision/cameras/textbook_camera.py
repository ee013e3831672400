"""The camera of Fu, Gonzalez & Lee (1987), section 7.4: perspective matrices, and a camera on a pan-tilt gimbal.

In the book the image plane is z = 0 of the camera's axes, the centre of the lens is at z = λ, and the camera sees
points with z > λ, upside down. Its image coordinates (x, y) are metres on that plane. Its rotations (7.4-9) to (7.4-11)
turn points clockwise: they are the transposes of those of its chapter 2, and of `lie.so3`. Frames of `Camera` have the
same axes, with the origin in the lens: X_camera = X_book - (0, 0, λ), and (x, y) = -λ (X, Y)/Z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile import kernel, static
from ...errors import ArgumentError
from ...lie import se3
from ...model.input_checks import one_of, positive
from ...sensing.scene.lenses import image_size
from .camera import Camera
from .camera_checks import finite, points_of

__all__ = [
    "GimbalCamera",
    "book_image_point",
    "book_object_point",
    "book_to_pixels",
    "clockwise_matrix",
    "gimbal_camera",
    "gimbal_image_point",
    "gimbal_matrix",
    "gimbal_project",
    "inverse_perspective_matrix",
    "perspective_matrix",
    "pixels_to_book",
    "scaling_matrix",
    "translation_matrix",
]


_NO_OFFSET = np.zeros(3)

# --- homogeneous matrices, 7.4.1 --------------------------------------------------------------------------------------


@kernel(by=3)
def translation_matrix(by) -> np.ndarray:
    """The matrix (4, 4) that moves points by `by` (3,) [m]. Fu, Gonzalez & Lee (1987), (7.4-7).

    >>> translation_matrix([1.0, 2, 3]) @ [0, 0, 0, 1]
    array([1., 2., 3., 1.])
    """
    return se3.from_rotation_translation(np.eye(3), by)


@kernel(factors=3)
def scaling_matrix(factors) -> np.ndarray:
    """The matrix (4, 4) that stretches points by `factors` (3,) along the axes. Fu, Gonzalez & Lee (1987), (7.4-8).

    >>> scaling_matrix([1.0, 2, 3]) @ [1, 1, 1, 1]
    array([1., 2., 3., 1.])
    """
    x, y, z = factors
    return np.array([[x, 0, 0, 0], [0, y, 0, 0], [0, 0, z, 0], [0, 0, 0, 1]])


@kernel(axis=static)
def clockwise_matrix(angle, axis: str = "z") -> np.ndarray:
    """The matrix (4, 4) that turns points clockwise by an `angle` [rad] about an axis, seen against its direction.

        >>> clockwise_matrix(np.pi / 2, "z").round(12) @ [1, 0, 0, 1] + 0.0
        array([ 0., -1.,  0.,  1.])

    It is the inverse, and the transpose, of the usual rotation by this angle: it turns the axes counterclockwise and
    keeps the points. `axis` is "x", "y" or "z". Fu, Gonzalez & Lee (1987), (7.4-9) to (7.4-11).
    """
    one_of(axis, ("x", "y", "z"), "clockwise_matrix: axis")
    c, s = np.cos(angle), np.sin(angle)
    if axis == "x":  # (7.4-10)
        return np.array([[1, 0, 0, 0], [0, c, s, 0], [0, -s, c, 0], [0, 0, 0, 1]])
    if axis == "y":  # (7.4-11)
        return np.array([[c, 0, -s, 0], [0, 1, 0, 0], [s, 0, c, 0], [0, 0, 0, 1]])
    return np.array([[c, s, 0, 0], [-s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # (7.4-9)


# --- perspective, 7.4.2 -----------------------------------------------------------------------------------------------


@kernel
def perspective_matrix(focal_length) -> np.ndarray:
    """The matrix P (4, 4) of a lens with the focal length λ [m]: c_h = P w_h. Fu, Gonzalez & Lee (1987), (7.4-22).

    >>> perspective_matrix(0.5)[3]
    array([ 0.,  0., -2.,  1.])
    """
    return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, -1 / focal_length, 1]])


@kernel
def inverse_perspective_matrix(focal_length) -> np.ndarray:
    """The inverse (4, 4) of `perspective_matrix`. Fu, Gonzalez & Lee (1987), (7.4-26).

        >>> np.allclose(inverse_perspective_matrix(0.035) @ perspective_matrix(0.035), np.eye(4))
        True

    An image point (x, y, 0) alone does not tell its object point: P⁻¹ (x, y, 0, 1) is the image point itself, as the
    book shows in (7.4-28). `book_object_point` asks for the missing coordinate.
    """
    return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1 / focal_length, 1]])


@kernel(point=3)
def book_image_point(point, focal_length) -> np.ndarray:
    """The image coordinates (x, y) (2,) [m] of a `point` (X, Y, Z) [m] in the book's camera axes; NaN if Z <= λ.

        >>> book_image_point([0.2, 0.1, 1.5], 0.035).round(6)
        array([-0.004778, -0.002389])

    x = λ X / (λ - Z), y = λ Y / (λ - Z). Fu, Gonzalez & Lee (1987), (7.4-18) and (7.4-19).
    """
    X, Y, Z = point
    scale = focal_length / np.where(focal_length < Z, focal_length - Z, np.nan)
    return np.stack([X * scale, Y * scale])


@kernel(image_point=2)
def book_object_point(image_point, Z, focal_length) -> np.ndarray:
    """The point (X, Y, Z) (3,) [m] with a known Z that is seen at `image_point` (x, y) [m], in the book's camera axes.

        >>> book_object_point(book_image_point([0.2, 0.1, 1.5], 0.035), 1.5, 0.035).round(12)
        array([0.2, 0.1, 1.5])

    X = x (λ - Z) / λ, Y = y (λ - Z) / λ. Fu, Gonzalez & Lee (1987), (7.4-30), (7.4-31), (7.4-36) and (7.4-37).
    """
    scale = (focal_length - Z) / focal_length
    return np.stack([image_point[0] * scale, image_point[1] * scale, Z])


# --- the gimbal camera, 7.4.3 -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class GimbalCamera:
    """The textbook's camera on a gimbal: it pans about z, then tilts about its own x axis, and does not roll.

        >>> GimbalCamera(position=(0, 0, 1.0), pan=np.radians(135), tilt=np.radians(135), focal_length=0.035)
        <GimbalCamera at (0, 0, 1) m, pan 135.0°, tilt 135.0°, focal length 35 mm>

    - `position` (3,) [m] is the centre of the gimbal in the world, w0 in the book.
    - `pan` [rad] is the angle θ between the world's X axis and the camera's x axis; `tilt` [rad] is the angle α between
      the Z axes. With both 0 the camera looks along the world's Z axis.
    - `focal_length` [m] is λ; `offset` (3,) [m] is r, from the gimbal's centre to the middle of the image plane, along
      the camera's axes.

    Fu, Gonzalez & Lee (1987), section 7.4.3.
    """

    position: np.ndarray
    pan: float
    tilt: float
    focal_length: float
    offset: np.ndarray = (0.0, 0.0, 0.0)  # type: ignore[assignment]

    def __post_init__(self):
        fixed = {name: finite(getattr(self, name), (3,), name, "GimbalCamera") for name in ("position", "offset")}
        fixed |= {name: float(finite(getattr(self, name), (), name, "GimbalCamera")) for name in ("pan", "tilt")}
        fixed |= {"focal_length": positive(self.focal_length, "GimbalCamera: focal_length [m]")}
        for name, value in fixed.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        place = ", ".join(f"{x:g}" for x in self.position)
        return (
            f"<GimbalCamera at ({place}) m, pan {np.degrees(self.pan):.1f}°, tilt {np.degrees(self.tilt):.1f}°, "
            f"focal length {1e3 * self.focal_length:g} mm>"
        )


@kernel(position=3, offset=3)
def _gimbal_matrix(position, pan, tilt, focal_length, offset):
    # (7.4-38) to (7.4-41): c_h = P C R G w_h
    G, C = translation_matrix(-position), translation_matrix(-offset)
    R = clockwise_matrix(tilt, "x") @ clockwise_matrix(pan, "z")
    return perspective_matrix(focal_length) @ C @ R @ G


def gimbal_matrix(gimbal: GimbalCamera) -> np.ndarray:
    """The matrix A = P C R G (4, 4), c_h = A w_h, of a `GimbalCamera`. Fu, Gonzalez & Lee (1987), (7.4-41).

    >>> A = gimbal_matrix(GimbalCamera((0, 0, 1.0), 0.0, 0.0, focal_length=0.5))
    >>> c = A @ [0.1, 0.2, 2.0, 1]
    >>> c[:2] / c[3]
    array([-0.1, -0.2])
    """
    return _gimbal_matrix(gimbal.position, gimbal.pan, gimbal.tilt, gimbal.focal_length, gimbal.offset)


@kernel(point=3, position=3, offset=3)
def gimbal_image_point(point, position, pan, tilt, focal_length, offset=_NO_OFFSET) -> np.ndarray:
    """The image coordinates (x, y) (2,) [m] of a `point` (3,) [m] of the world, for a gimbal camera by its numbers.

        >>> angles = np.linspace(2.2, 2.5, 5)
        >>> gimbal_image_point([1, 1, 0.2], [0, 0, 1.0], angles, angles, 0.035).shape
        (5, 2)

    Points that are not in front of the lens have NaN. The arguments are those of `GimbalCamera`. Fu, Gonzalez & Lee
    (1987), (7.4-42) and (7.4-43).
    """
    dX, dY, dZ = point - position
    ct, st, ca, sa = np.cos(pan), np.sin(pan), np.cos(tilt), np.sin(tilt)
    x = dX * ct + dY * st - offset[0]
    y = -dX * st * ca + dY * ct * ca + dZ * sa - offset[1]
    below = -dX * st * sa + dY * ct * sa - dZ * ca + offset[2] + focal_length
    scale = focal_length / np.where(below < 0, below, np.nan)
    return np.stack([x * scale, y * scale])


def gimbal_project(gimbal: GimbalCamera, points) -> np.ndarray:
    """The image coordinates (..., 2) [m] of `points` (..., 3) [m] of the world. NaN marks points behind the lens.

        >>> gimbal = GimbalCamera((0, 0, 1.0), np.radians(135), np.radians(135), 0.035, offset=(0.03, 0.02, 0.02))
        >>> gimbal_project(gimbal, [1, 1, 0.2]).round(6)
        array([ 0.000695, -0.009599])

    Fu, Gonzalez & Lee (1987), (7.4-42) and (7.4-43). The book prints y = +0.009 for this example, with a wrong sign.
    """
    points = points_of(points, 3, "points", "gimbal_project")
    g = gimbal
    return gimbal_image_point(points, g.position, g.pan, g.tilt, g.focal_length, g.offset)


# --- to and from `Camera` ---------------------------------------------------------------------------------------------


def gimbal_camera(gimbal: GimbalCamera, size, pixel_size: float, *, center=None) -> Camera:
    """The `Camera` that a `GimbalCamera` is, with an image of `size` (columns, rows) and square pixels.

        >>> gimbal = GimbalCamera((0, 0, 1.0), np.radians(135), np.radians(135), 0.035)
        >>> gimbal_camera(gimbal, (512, 512), 25e-6).matrix[0, 0].round(6)
        np.float64(1400.0)

    `pixel_size` [m] is the width of a pixel on the image plane, and `center` (u, v) is the pixel of its middle. Pixels
    are those of the image turned upright: u = u0 - x / pixel_size, v = v0 - y / pixel_size.
    """
    columns, rows = image_size(size, "gimbal_camera")
    f = gimbal.focal_length / positive(pixel_size, "gimbal_camera: pixel_size [m]")
    # The world in the book's axes is C R G; the lens is at z = λ of them.
    T_book_world = _gimbal_matrix(gimbal.position, gimbal.pan, gimbal.tilt, np.inf, gimbal.offset)
    T_lens_world = translation_matrix([0.0, 0.0, -gimbal.focal_length]) @ T_book_world
    return Camera.pinhole((columns, rows), focal_length=f, center=center, T_world_camera=se3.inverse(T_lens_world))


def book_to_pixels(camera: Camera, image_points, focal_length: float) -> np.ndarray:
    """The pixels (..., 2) of a camera for the book's image coordinates (x, y) (..., 2) [m]; `focal_length` [m] is λ.

        >>> camera = Camera.pinhole((512, 512), focal_length=1400)
        >>> book_to_pixels(camera, [0.0, 25e-6], 0.035)
        array([255.5, 254.5])

    The book's image is inverted: (u, v, 1) = K (-x/λ, -y/λ, 1). A distorted camera has no such coordinates.
    """
    points = points_of(image_points, 2, "image_points", "book_to_pixels")
    K = _undistorted_matrix(camera, "book_to_pixels")
    return points @ (-K[:2, :2].T / positive(focal_length, "book_to_pixels: focal_length [m]")) + K[:2, 2]


def pixels_to_book(camera: Camera, pixels, focal_length: float) -> np.ndarray:
    """The book's image coordinates (x, y) (..., 2) [m] of `pixels` (..., 2): the inverse of `book_to_pixels`.

    >>> camera = Camera.pinhole((512, 512), focal_length=1400)
    >>> pixels_to_book(camera, [255.5, 254.5], 0.035).round(9) + 0.0
    array([0.0e+00, 2.5e-05])
    """
    pixels = points_of(pixels, 2, "pixels", "pixels_to_book")
    K = _undistorted_matrix(camera, "pixels_to_book")
    scale = positive(focal_length, "pixels_to_book: focal_length [m]")
    return (pixels - K[:2, 2]) @ (-scale * np.linalg.inv(K[:2, :2]).T)


def _undistorted_matrix(camera: Camera, caller: str) -> np.ndarray:
    if camera.distorts:
        raise ArgumentError(
            f"{caller}: the book's camera has no distortion, this one has; take camera.replace(distortion=()) and "
            "undistort_points first"
        )
    return camera.matrix
