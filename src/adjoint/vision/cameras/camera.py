"""`Camera`: a pinhole with lens distortion, somewhere in the world."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ...lie import se3
from ...model.input_checks import positive
from ...sensing.scene.lenses import distortion_of, image_size, intrinsics, largest_radius
from .camera_checks import finite, motion

__all__ = ["Camera", "looking_at", "need_camera"]


@dataclass(frozen=True, eq=False, repr=False)
class Camera:
    """A pinhole camera with lens distortion: where it is, and which pixel shows which direction.

        >>> camera = Camera.pinhole((640, 480), field_of_view=np.pi / 3)
        >>> camera
        <Camera 640 x 480 pixels, field of view 60.0° x 46.8°>
        >>> camera.at(looking_at([0, 0, 2.0], target=[0.5, 0, 0])).T_world_camera[:3, 3]
        array([0., 0., 2.])

    - `matrix` (3, 3) is K = [[fx, s, cx], [0, fy, cy], [0, 0, 1]] in pixels. (u, v) = (column, row), and whole numbers
      are the centres of pixels, so that the middle of an image is ((columns - 1)/2, (rows - 1)/2). A focal length is
      negative only where the image is mirrored (`flip_camera`).
    - `size` is (columns, rows) of the image.
    - `distortion` (8,) is OpenCV's k1 k2 p1 p2 k3 k4 k5 k6; 0, 4 or 5 numbers are filled with zeros.
    - `T_world_camera` (4, 4) is the pose of the camera's frame in the world: x points right, y down in the image, and
      z forward along the optical axis, as in OpenCV and in optical frames of ROS. The origin is the lens centre.

    A point (X, Y, Z) of the camera's frame, with x = X/Z, y = Y/Z, r² = x² + y², is seen at

        (u, v, 1) = K (x_d, y_d, 1),
        x_d = x ρ + 2 p1 x y + p2 (r² + 2 x²),    ρ = (1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶),
        y_d = y ρ + p1 (r² + 2 y²) + 2 p2 x y.

    Arrays of a camera cannot be written to; `replace` and `at` give changed cameras. Reference: Brown (1971),
    "Close-range camera calibration"; OpenCV's module calib3d.
    """

    matrix: np.ndarray
    size: tuple[int, int]
    distortion: np.ndarray = ()  # type: ignore[assignment]
    T_world_camera: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self):
        T = np.eye(4) if self.T_world_camera is None else motion(self.T_world_camera, "T_world_camera", "Camera")
        fixed = {
            "matrix": intrinsics(self.matrix, "Camera"),
            "size": image_size(self.size, "Camera"),
            "distortion": distortion_of(self.distortion, "Camera"),
            "T_world_camera": T,
        }
        for name, value in fixed.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def pinhole(
        cls, size, field_of_view=None, *, focal_length=None, center=None, distortion=(), T_world_camera=None
    ) -> Camera:
        """A camera with square pixels, from its field of view or its focal length.

            >>> Camera.pinhole((640, 480), focal_length=500).matrix
            array([[500. ,   0. , 319.5],
                   [  0. , 500. , 239.5],
                   [  0. ,   0. ,   1. ]])

        `field_of_view` [rad] is the angle between the left and the right border of the image; `focal_length` [pixels]
        is given instead of it. `center` (u, v) [pixels] is the principal point, the middle of the image by default.
        """
        columns, rows = image_size(size, "Camera.pinhole")
        if (field_of_view is None) == (focal_length is None):
            raise ArgumentError("Camera.pinhole: give either 'field_of_view' [rad] or 'focal_length' [pixels]")
        if focal_length is None:
            angle = positive(field_of_view, "Camera.pinhole: field_of_view [rad]")
            if angle >= np.pi:
                raise ArgumentError(f"Camera.pinhole: 'field_of_view' is {angle:g} rad; it must be below π")
            f = 0.5 * columns / np.tan(0.5 * angle)
        else:
            f = positive(focal_length, "Camera.pinhole: focal_length [pixels]")
        middle = ((columns - 1) / 2, (rows - 1) / 2)
        u, v = middle if center is None else finite(center, (2,), "center", "Camera.pinhole")
        T = np.eye(4) if T_world_camera is None else T_world_camera
        return cls(np.array([[f, 0, u], [0, f, v], [0, 0, 1]]), (columns, rows), distortion, T)

    def at(self, T_world_camera) -> Camera:
        """The same camera at another place: `T_world_camera` (4, 4) is the new pose of its frame."""
        return dataclasses.replace(self, T_world_camera=T_world_camera)

    def replace(self, **changes) -> Camera:
        """A camera with other values of some fields: `matrix`, `size`, `distortion`, `T_world_camera`.

        >>> ideal = Camera.pinhole((64, 48), 1.0, distortion=[-0.2, 0, 0, 0]).replace(distortion=())
        """
        names = [field.name for field in dataclasses.fields(self)]
        unknown = set(changes) - set(names)
        if unknown:
            raise ArgumentError(f"Camera.replace: there is no field '{min(unknown)}'; there are {', '.join(names)}")
        return dataclasses.replace(self, **changes)

    @cached_property
    def T_camera_world(self) -> np.ndarray:
        """(4, 4) The pose of the world in the camera's frame: OpenCV's "extrinsics"."""
        T = se3.inverse.eager(self.T_world_camera)
        T.setflags(write=False)
        return T

    @property
    def projection_matrix(self) -> np.ndarray:
        """(3, 4) P = K [R | t] of world points, without distortion: λ (u, v, 1) = P (X, Y, Z, 1)."""
        return self.matrix @ self.T_camera_world[:3]

    @property
    def field_of_view(self) -> np.ndarray:
        """(2,) The angles [rad] between left and right border, and between upper and lower border, without distortion.

        They are measured in the planes through the optical axis.
        """
        (fx, _, cx), (_, fy, cy) = self.matrix[:2]
        far, near = np.array(self.size) - 0.5 - (cx, cy), np.array([-0.5 - cx, -0.5 - cy])
        return np.abs(np.arctan(far / (fx, fy)) - np.arctan(near / (fx, fy)))

    @property
    def distorts(self) -> bool:
        """True if any coefficient of the distortion is not 0."""
        return bool(self.distortion.any())

    @cached_property
    def largest_radius(self) -> float:
        """The largest r = tan(angle to the axis) up to which the radial distortion r ρ(r) grows; infinity if always.

        Farther out the model folds the image back, so pixels have no unique ray there.
        """
        return largest_radius(self.distortion)

    def __repr__(self) -> str:
        across, down = np.degrees(self.field_of_view)
        bent = ", distorted" if self.distorts else ""
        x, y, z = self.T_world_camera[:3, 3]
        moved = "" if np.array_equal(self.T_world_camera, np.eye(4)) else f", at ({x:.3f}, {y:.3f}, {z:.3f}) m"
        return (
            f"<Camera {self.size[0]} x {self.size[1]} pixels, field of view {across:.1f}° x {down:.1f}°{bent}{moved}>"
        )


def need_camera(camera, caller: str) -> None:
    """Raise an `ArgumentError` if `camera` is no `Camera`."""
    if not isinstance(camera, Camera):
        raise ArgumentError(f"{caller}: 'camera' must be a Camera, got {type(camera).__name__}")


def looking_at(position, target, up=None) -> np.ndarray:
    """The pose T_world_camera (4, 4) of a camera at `position` (3,) [m] that looks at `target` (3,) [m].

        >>> looking_at([0, 0, 2.0], target=[0, 0, 0])[:3, 2]                 # from above
        array([ 0.,  0., -1.])

    `up` (3,) is the direction of the world that points to the upper border of the image: z of the world by default,
    or y for a camera that looks straight up or down.
    """
    caller = "looking_at"
    p, goal = finite(position, (3,), "position", caller), finite(target, (3,), "target", caller)
    z = goal - p
    if not np.linalg.norm(z) > 0:
        raise ArgumentError(f"{caller}: 'position' and 'target' are the same point, {p.tolist()}")
    choices = (np.eye(3)[2], np.eye(3)[1]) if up is None else (finite(up, (3,), "up", caller),)
    across = [np.cross(z, u) for u in choices]
    x = next((x for x, u in zip(across, choices, strict=True) if _is_across(x, z, u)), None)
    if x is None:
        raise ArgumentError(f"{caller}: the camera looks along 'up', {choices[0].tolist()}; give another direction")
    z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
    T = np.eye(4)
    T[:3] = np.stack([x, np.cross(z, x), z, p], axis=1) + 0.0
    return T


def _is_across(x: np.ndarray, z: np.ndarray, up: np.ndarray) -> bool:
    """Whether x = z × up tells a direction."""
    return bool(np.linalg.norm(x) > 1e-9 * np.linalg.norm(z) * np.linalg.norm(up))
