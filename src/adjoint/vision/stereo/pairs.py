"""`StereoPair`: two cameras somewhere in the world, and their epipolar geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ...lazy import cached_property
from ...lie import se3, so3
from ...model.input_checks import positive
from ..cameras.camera import Camera

__all__ = ["StereoPair", "epipolar_distance", "epipolar_line", "essential_matrix", "fundamental_matrix", "need_pair"]


@dataclass(frozen=True, eq=False, repr=False)
class StereoPair:
    """Two cameras that look at one scene, `left` and `right`, each with its own lens and place in the world.

        >>> pair = StereoPair.aligned(Camera.pinhole((640, 480), focal_length=500), baseline=0.1)
        >>> pair
        <StereoPair of 640 x 480 and 640 x 480 pixels, baseline 100 mm>

    Arrays of cameras cannot be written to; `pair.moved(T)` carries both cameras elsewhere.
    """

    left: Camera
    right: Camera

    def __post_init__(self):
        for name in ("left", "right"):
            if not isinstance(getattr(self, name), Camera):
                raise ArgumentError(f"StereoPair: '{name}' must be a Camera, got {type(getattr(self, name)).__name__}")
        if not self.baseline > 0:
            raise ArgumentError("StereoPair: both cameras have their lens centres at one place; they see no depth")

    @classmethod
    def aligned(cls, camera: Camera, baseline: float) -> StereoPair:
        """The pair of a `camera`, as the left one, and an equal one `baseline` [m] to its right, along its x axis."""
        shift = se3.from_rotation_translation(np.eye(3), [positive(baseline, "StereoPair.aligned: baseline [m]"), 0, 0])
        return cls(camera, camera.at(camera.T_world_camera @ shift))

    def moved(self, T) -> StereoPair:
        """The pair carried by the motion T (4, 4) of the world."""
        T = np.asarray(T, float)
        return StereoPair(self.left.at(T @ self.left.T_world_camera), self.right.at(T @ self.right.T_world_camera))

    @cached_property
    def T_left_right(self) -> np.ndarray:
        """(4, 4) The pose of the right camera in the frame of the left one."""
        return self.left.T_camera_world @ self.right.T_world_camera

    @property
    def baseline(self) -> float:
        """[m] The distance between the lens centres."""
        return float(np.linalg.norm(self.T_left_right[:3, 3]))

    def __repr__(self) -> str:
        sizes = " and ".join(f"{columns} x {rows}" for columns, rows in (self.left.size, self.right.size))
        return f"<StereoPair of {sizes} pixels, baseline {1e3 * self.baseline:.4g} mm>"


def need_pair(pair, caller: str) -> StereoPair:
    """The pair itself, or an `ArgumentError`."""
    if not isinstance(pair, StereoPair):
        raise ArgumentError(f"{caller}: 'pair' must be a StereoPair, got {type(pair).__name__}")
    return pair


def essential_matrix(pair: StereoPair) -> np.ndarray:
    """The essential matrix E (3, 3) with x_rightᵀ E x_left = 0 for rays x = (x, y, 1) of one point, without distortion.

        >>> pair = StereoPair.aligned(Camera.pinhole((640, 480), focal_length=500), baseline=0.1)
        >>> essential_matrix(pair) @ [0.2, 0.1, 1] @ [0.15, 0.1, 1] == 0
        np.True_

    E = [t]× R with T_right_left = [R t; 0 1], t in metres. Reference: Longuet-Higgins (1981), Nature 293.
    """
    T = se3.inverse(need_pair(pair, "essential_matrix").T_left_right)
    return so3.hat(T[:3, 3]) @ T[:3, :3]


def fundamental_matrix(pair: StereoPair) -> np.ndarray:
    """The fundamental matrix F (3, 3) with p_rightᵀ F p_left = 0 for pixels p = (u, v, 1) of one point.

        >>> pair = StereoPair.aligned(Camera.pinhole((640, 480), focal_length=500), baseline=0.1)
        >>> F = fundamental_matrix(pair)

    F = K_right⁻ᵀ E K_left⁻¹. Pixels are those without distortion: see `undistort_points`.
    """
    need_pair(pair, "fundamental_matrix")
    return np.linalg.inv(pair.right.matrix).T @ essential_matrix(pair) @ np.linalg.inv(pair.left.matrix)


@kernel(F=(3, 3), pixel=2)
def epipolar_line(F, pixel) -> np.ndarray:
    """The line (a, b, c) (3,), a u + b v + c = 0 with a² + b² = 1, in the right image on which a `pixel` (2,) of the
    left image is seen; with F transposed, it is the line in the left image of a pixel of the right one.

        >>> pair = StereoPair.aligned(Camera.pinhole((640, 480), focal_length=500), baseline=0.1)
        >>> np.abs(epipolar_line(fundamental_matrix(pair), [100.0, 50.0])).round(9)     # v = 50
        array([ 0.,  1., 50.])
    """
    line = F @ np.stack([pixel[0], pixel[1], 1.0])
    return line / np.sqrt(line[0] ** 2 + line[1] ** 2)


@kernel(F=(3, 3), left=2, right=2)
def epipolar_distance(F, left, right) -> np.ndarray:
    """The distance [pixels] of the pixel `right` (2,) from the epipolar line of the pixel `left` (2,); 0 for one point.

    >>> pair = StereoPair.aligned(Camera.pinhole((640, 480), focal_length=500), baseline=0.1)
    >>> float(abs(epipolar_distance(fundamental_matrix(pair), [100.0, 50.0], [80.0, 53.0])))
    3.0
    """
    line = epipolar_line(F, left)
    return line[0] * right[0] + line[1] * right[1] + line[2]
