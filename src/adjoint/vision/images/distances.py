"""Distances between pixels that depend on coordinates alone, and distance transforms.

Fu, Gonzalez & Lee (1987), §7.5.3; distances along paths are in `connectivity`.
"""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...errors import ArgumentError
from ..image_checks import binary

__all__ = ["distance_transform", "pixel_distance"]

_METRICS = ("euclidean", "city-block", "chessboard")


def _metric(metric, caller: str) -> None:
    if metric not in _METRICS:
        raise ArgumentError(f"{caller}: metric is {metric!r:.60}; it must be one of {', '.join(map(repr, _METRICS))}")


@kernel(p=2, q=2)
def pixel_distance(p, q, metric: str = "euclidean"):
    """The distance between two pixels p and q, both (u, v), which may lie between grid points.

    It is D_e = √(Δu² + Δv²), or D₄ = |Δu| + |Δv| ("city-block"), or D₈ = max(|Δu|, |Δv|) ("chessboard").

        >>> [float(pixel_distance([0, 0], [3, 4], metric)) for metric in ("euclidean", "city-block", "chessboard")]
        [5.0, 7.0, 4.0]

    Fu, Gonzalez & Lee (1987), (7.5-1) to (7.5-3).
    """
    _metric(metric, "pixel_distance")
    away = np.abs(p - q)
    if metric == "city-block":
        return away[0] + away[1]
    if metric == "chessboard":
        return np.maximum(away[0], away[1])
    return np.hypot(away[0], away[1])


def distance_transform(image, metric: str = "euclidean") -> np.ndarray:
    """The distance (rows, columns) of each pixel of an object to the nearest pixel of the background; 0 there.

    It is float64 for the euclidean metric and int32 for "city-block" and "chessboard". In an image without background
    there is nothing near, and the distance is inf, or -1.

        >>> distance_transform(np.array([[0, 1, 1], [1, 1, 1], [1, 1, 1]]), "city-block")
        array([[0, 1, 2],
               [1, 2, 3],
               [2, 3, 4]], dtype=int32)

    It wraps `scipy.ndimage.distance_transform_edt` and `distance_transform_cdt`. Fu, Gonzalez & Lee (1987), §7.5.3.
    """
    from scipy import ndimage  # slow to load

    _metric(metric, "distance_transform")
    f = binary(image, "distance_transform")
    if metric == "euclidean":
        if f.all():
            return np.full(f.shape, np.inf)
        return ndimage.distance_transform_edt(f)  # type: ignore[return-value]
    return ndimage.distance_transform_cdt(f, "taxicab" if metric == "city-block" else "chessboard")  # type: ignore[return-value]
