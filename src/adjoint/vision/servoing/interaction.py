"""How points in an image move when the camera does: the interaction matrix, as kernels.

A camera that moves with the twist (ω, v), seen from itself, sees a point X of its frame move with Ẋ = -v - ω × X. Of
the image point s = (x, y) = (X/Z, Y/Z) this is ṡ = L (ω, v) with

    L = [ x y      -(1 + x²)    y    -1/Z    0     x/Z ]
        [ 1 + y²   -x y        -x     0     -1/Z   y/Z ]                                                            (1)

Angular velocities come first, as in all twists of this library; the literature has v first. References: Weiss,
Sanderson & Neuman (1987), IEEE J. Robotics and Automation 3(5); Chaumette & Hutchinson (2006), "Visual servo control",
IEEE Robotics & Automation Magazine 13(4), (11).
"""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...sensing.scene.lenses import undistorted
from ..cameras.projection_slopes import pixel_slopes

__all__ = ["interaction_matrix", "pixel_interaction"]


@kernel(point=2)
def interaction_matrix(point, depth) -> np.ndarray:
    """The matrix L (2, 6) of ṡ = L (ω, v): how a `point` s = (x, y) of the plane z = 1 moves with the camera.

        >>> interaction_matrix([0.0, 0.0], 2.0) + 0.0
        array([[ 0. , -1. ,  0. , -0.5,  0. ,  0. ],
               [ 1. ,  0. ,  0. ,  0. , -0.5,  0. ]])

    `depth` Z [m] is the distance of the point along the optical axis. Reference: Chaumette & Hutchinson (2006), (11),
    with the angular velocity first.
    """
    x, y = point
    near = 1 / depth
    zero = 0.0 * near
    return np.stack([
        np.stack([x * y, -(1 + x * x), y, -near, zero, x * near]),
        np.stack([1 + y * y, -x * y, -x, zero, -near, y * near]),
    ])  # fmt: skip


@kernel(pixel=2, matrix=(3, 3), distortion=8)
def pixel_interaction(pixel, depth, matrix, distortion=None, largest_radius=np.inf) -> np.ndarray:
    """The matrix (2, 6) [pixels/s] of how a `pixel` (u, v) moves with the twist (ω, v) of a camera, lens and all.

        >>> from adjoint.vision.cameras import Camera
        >>> camera = Camera.pinhole((640, 480), focal_length=500)
        >>> pixel_interaction([319.5, 239.5], 2.0, camera.matrix)[0, 1:4] + 0.0
        array([-500.,    0., -250.])

    `depth` Z [m] is the distance of the point along the optical axis; `matrix`, `distortion` and `largest_radius` are
    those of a `Camera`. It is the derivative `pose` of `project_derivatives`.
    """
    y = (pixel[1] - matrix[1, 2]) / matrix[1, 1]
    x = (pixel[0] - matrix[0, 2] - matrix[0, 1] * y) / matrix[0, 0]
    if distortion is not None:
        x, y = undistorted(np.stack([x, y]), distortion, largest_radius)
    lens = np.zeros(8) if distortion is None else distortion
    return pixel_slopes(np.stack([x * depth, y * depth, depth]), np.eye(4), matrix, lens).pose
