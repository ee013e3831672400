"""Two forms of rotations that `so3` and `se3` share, for one sample each."""

from __future__ import annotations

import numpy as np

__all__ = ["spanned", "unscaled_quat"]


def spanned(w, a, b, c):
    """a 1 + b [w] + c w wᵀ: exp, its derivatives and their inverses all have this form, since [w]² = w wᵀ - t² 1."""
    x, y, z = w
    bx, by, bz = b * x, b * y, b * z
    cx, cy = c * x, c * y
    xy, xz, yz = cx * y, cx * z, cy * z
    return np.array([[a + cx * x, xy - bz, xz + by], [xy + bz, a + cy * y, yz - bx], [xz - by, yz + bx, a + c * z * z]])


def unscaled_quat(R):
    """Return (w, v, v·v) for a quaternion (w, v) of R that has a length between 2 and 4, and w of either sign.

    It is that row of the matrix 4 q qᵀ whose diagonal entry is large, so that nothing cancels.
    """
    x, y, z = R[0, 0], R[1, 1], R[2, 2]
    wx, wy, wz = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    trace, x_first, y_first = x + y + z, (x >= y) & (x >= z), y >= z
    w, *v = np.where(
        trace > 0,
        np.array([1 + trace, wx, wy, wz]),
        np.where(
            x_first,
            np.array([wx, 1 + x - y - z, xy, xz]),
            np.where(y_first, np.array([wy, xy, 1 + y - x - z, yz]), np.array([wz, xz, yz, 1 + z - x - y])),
        ),
    )
    v = np.array(v)
    return w, v, np.dot(v, v)
