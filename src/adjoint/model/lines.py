"""Lines in space, such as the axes of joints: their common normals, and the frames that stand on them."""

from __future__ import annotations

import numpy as np

from ..lie import se3

__all__ = ["PARALLEL", "across", "common_normal", "foot", "frame_on_axis", "screw_axis"]

PARALLEL = 1e-8
"""Lines count as parallel if the sine of the angle between them is below this.

The common normal of almost parallel axes lies far away, and numbers so large lose digits. Dropping the tilt below this
angle, and losing digits above it, both cost about 1e-8 at the worst.
"""

_COINCIDENT = 1e-12  # [m], parallel lines at most this far apart count as one


def screw_axis(S: np.ndarray, through: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the axis of a screw S (6,): its point nearest to the origin, and its unit direction.

    A translation has no axis of its own; the line through the point `through` is taken.
    """
    w, v = S[:3], S[3:]
    return (np.cross(w, v), w) if w.any() else (through, v)


def common_normal(
    o_0: np.ndarray, z_0: np.ndarray, o_1: np.ndarray, z_1: np.ndarray, parallel: float = PARALLEL
) -> tuple[np.ndarray | None, tuple[np.ndarray, np.ndarray]]:
    """Return the common normal of the lines (o_0, z_0) and (o_1, z_1), and its foot on each line.

    The normal is a unit vector of either sign, or None if the lines coincide. On parallel lines the feet are o_0 and
    the point opposite to it.
    """
    n, gap = np.cross(z_0, z_1), o_1 - o_0
    sine = np.linalg.norm(n)
    if sine < parallel:
        across = gap - (gap @ z_0) * z_0
        distance = np.linalg.norm(across)
        return (None if distance < _COINCIDENT else across / distance), (o_0, o_0 + across)
    n = n / sine
    foot_0 = o_0 + z_0 * (np.cross(gap, z_1) @ n / sine)
    foot_1 = o_1 + z_1 * (np.cross(gap, z_0) @ n / sine)
    return n, (foot_0, foot_1)


def across(x: np.ndarray, z: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Return the unit vector at right angles to z that is nearest to x, or to `otherwise` if x is along z."""
    u = x - (x @ z) * z
    if np.linalg.norm(u) < 1e-6:
        u = otherwise - (otherwise @ z) * z
    return u / np.linalg.norm(u)


def foot(point: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Return the point of the frame's z axis that is nearest to `point`."""
    z, o = frame[:3, 2], frame[:3, 3]
    return o + ((point - o) @ z) * z


def frame_on_axis(x: np.ndarray, z: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the frame (4, 4) with this z axis and origin, and with its x axis as near to `x` as z allows."""
    x = across(x, z, x)
    return se3.from_rotation_translation.eager(np.stack([x, np.cross(z, x), z], axis=1), origin)
