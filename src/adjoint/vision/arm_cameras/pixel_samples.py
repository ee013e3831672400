"""Pixels of a target as samples of `adjoint.calibration`: one sample is one point of the target in one image."""

from __future__ import annotations

import numpy as np

from ...calibration.chain import NUMBERS, Chain, Numbers, Rows, twists
from ...calibration.measured import Reading
from ...compile import kernel, static
from ...lie import se3
from ..cameras.camera import Camera
from ..cameras.projection_slopes import pixel_slopes

__all__ = ["pixel_reading", "pixel_rows"]

_USUAL = 1.0  # [pixels] residuals above this are errors of the model more than noise
_NEAR, _FAR = 0.3, 1.0  # [m] depths of the points of generic views


@kernel(chain=static, eye_in_hand=static, q="nq", pixel=2, point=3, matrix=(3, 3), distortion=8, **NUMBERS)
def pixel_rows(
    chain: Chain, q, pixel, point, matrix, distortion, eye_in_hand: bool, placements, screws, gears, offsets, base,
    tool, radius, tilts,
) -> Rows:  # fmt: skip
    """The two rows of a measured `pixel` (2,): measured minus predicted, and the slopes (2, p) of the prediction.

    A camera in the hand is the frame of the chain, and `point` (3,) is one of the measuring frame, that of the target.
    A camera beside the arm is the measuring frame, and `point` is one of the chain's frame, which the hand holds.
    """
    T, V = twists(chain, q, Numbers(placements, screws, gears, offsets, base, tool, radius, tilts))
    V = np.stack(V, axis=-1)
    if eye_in_hand:
        found = pixel_slopes(point, T, matrix, distortion)
        return Rows(pixel - found.pixels, found.pose @ V)
    found = pixel_slopes(se3.act(T, point), np.eye(4), matrix, distortion)
    across = found.point @ T[:3, :3]  # a twist (w, v) of the frame moves its point by v + w × point
    turned = np.stack([np.cross(point, across[0]), np.cross(point, across[1])])
    return Rows(pixel - found.pixels, np.concatenate([turned, across], axis=-1) @ V)


def pixel_reading(pixels: np.ndarray, points: np.ndarray, camera: Camera, eye_in_hand: bool) -> Reading:
    """The `Reading` of pixels (n, k, 2) of target points (k, 3); pixels with NaN are not seen."""
    n, k = pixels.shape[:2]

    def generic(T: np.ndarray) -> dict[str, np.ndarray]:
        """Points that a camera somewhere else would see: what could be known of all poses T (n, 4, 4)."""
        rng = np.random.default_rng(0)
        u = rng.uniform(0.1, 0.9, (len(T), 2)) * (np.array(camera.size) - 1)
        depth = rng.uniform(_NEAR, _FAR, len(T))
        x = np.linalg.solve(camera.matrix, np.column_stack([u, np.ones(len(T))]).T).T * depth[:, None]
        return {"pixel": u, "point": se3.act(T if eye_in_hand else se3.inverse(T), x)}

    return Reading(
        kind="pixels",
        kernel=pixel_rows,
        samples={"pixel": pixels.reshape(n * k, 2), "point": np.tile(points, (n, 1))},
        fixed={"matrix": camera.matrix, "distortion": camera.distortion, "eye_in_hand": eye_in_hand},
        groups=(("pixel", "px", 2),),
        repeat=k,
        usual=_USUAL,
        generic=generic,
    )
