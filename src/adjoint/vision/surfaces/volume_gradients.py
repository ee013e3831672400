"""The gradient of a volume of voxels, by the operator of Zucker & Hummel (1981).

Fu, Gonzalez & Lee, "Robotics" (1987), §8.4.2. The operator is the best planar edge in a neighbourhood of 3 x 3 x 3
voxels: each of the 26 neighbours counts with the direction cosine of the way to it, x / (x² + y² + z²)^½ for the
component along x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile.front.arguments import unmasked
from ...errors import ArgumentError
from ...model.input_checks import floats, one_of, truth

__all__ = ["VolumeGradient", "volume_gradient"]


class VolumeGradient(NamedTuple):
    """The gradient of a volume (nx, ny, nz): `vectors` (nx, ny, nz, 3), their `magnitude`, and unit `directions`.

    A direction points to where values grow fastest, along the normal of a surface of equal values; it is 0 where the
    gradient is.
    """

    vectors: np.ndarray
    magnitude: np.ndarray

    @property
    def directions(self) -> np.ndarray:
        """(nx, ny, nz, 3) unit vectors along the gradient, or zeros."""
        return self.vectors / np.where(self.magnitude > 0, self.magnitude, 1)[..., None]


def volume_gradient(volume, *, spacing=1.0, norm: str = "euclidean", scaled: bool = True) -> VolumeGradient:
    """The `VolumeGradient` G = (∂f/∂x, ∂f/∂y, ∂f/∂z) of a `volume` f[x, y, z] (nx, ny, nz) (8.4-1).

        >>> x, y, z = np.indices((5, 5, 5))
        >>> volume_gradient(2 * x - y + 3 * z).vectors[2, 2, 2].round(12)
        array([ 2., -1.,  3.])

    - `spacing` is the distance of voxels, a number or (3,) along each axis; distances to neighbours are then true ones.
    - `norm` is "euclidean", (Gx² + Gy² + Gz²)^½ (8.4-2), or "absolute", |Gx| + |Gy| + |Gz| (8.4-3).
    - `scaled`: True divides by the response to a ramp of slope 1, which is 12.2757 for equal spacings, so that linear
      functions have their true gradient; False leaves the sums of the textbook's masks.

    Outside the volume, its border goes on. Truth values and whole numbers become float64; float32 stays.
    """
    try:
        f = np.asarray(unmasked(volume))
    except (TypeError, ValueError):
        f = np.zeros(0)
    if f.ndim != 3 or not f.size or f.dtype.kind not in "buif":
        raise ArgumentError(f"volume_gradient: the volume must be real numbers (nx, ny, nz), got shape {f.shape}")
    h = floats(spacing)
    if h.shape not in ((), (3,)) or not ((h > 1e-100) & (h < 1e100)).all():
        raise ArgumentError(f"volume_gradient: spacing must be a positive number or three, got {spacing!r:.60}")
    one_of(norm, ("euclidean", "absolute"), "volume_gradient: norm")
    scaled = truth(scaled, "volume_gradient: scaled")
    f = f.astype(np.result_type(f.dtype, np.float32) if f.dtype.kind == "f" else float, copy=False)
    parts = np.empty((3, *f.shape), f.dtype)
    for axis in range(3):
        _component(f, axis, np.broadcast_to(h, (3,)), scaled, parts[axis])
    if norm == "absolute":
        magnitude = np.abs(parts).sum(axis=0)
    else:
        magnitude = np.sqrt(np.einsum("i...,i...->...", parts, parts))
    return VolumeGradient(np.moveaxis(parts, 0, -1), magnitude)


def _component(f: np.ndarray, axis: int, h: np.ndarray, scaled: bool, out: np.ndarray) -> None:
    """Write the response of the mask along an axis; it is exactly 0 where values are equal.

    The mask is a difference along the axis times weights W (3, 3) across it: 1 in the middle, c_y and c_z beside it
    along the other two axes, and b at the corners. But for its middle, W is an outer product, so two sums of three
    replace one of nine.
    """
    from scipy.ndimage import correlate1d

    x, (y, z) = h[axis], np.delete(h, axis)
    c_y, c_z, b = x / np.hypot(x, y), x / np.hypot(x, z), x / np.sqrt(x * x + y * y + z * z)
    ramp = 2 * x * (1 + 2 * c_y + 2 * c_z + 4 * b) if scaled else 1.0
    steps = np.empty_like(f)
    along, into = np.moveaxis(f, axis, 0), np.moveaxis(steps, axis, 0)
    np.subtract(along[2:], along[:-2], out=into[1:-1])
    n = len(along) - 1
    into[0], into[n] = along[min(1, n)] - along[0], along[n] - along[max(n - 1, 0)]  # the border goes on
    # W[j, k] = p[j] q[k] but for the middle: corners b = p₁ q₁, sides c_y = p₁ q₀ (a step along y) and c_z = p₀ q₁.
    first, second = (k for k in range(3) if k != axis)
    correlate1d(steps, np.array([1, c_z / b, 1]) / ramp, first, output=out, mode="nearest")
    correlate1d(out, np.array([b, c_y, b]), second, output=out, mode="nearest")
    steps *= (1 - c_y * c_z / b) / ramp
    out += steps


def __dir__() -> list[str]:
    return __all__
