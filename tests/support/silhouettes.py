"""Regions and polygons that tests of shapes, codes and matching share."""

import numpy as np
from scipy import ndimage


def largest(image: np.ndarray) -> np.ndarray:
    """The largest 8-connected region of a binary image."""
    labels = np.asarray(ndimage.label(image, np.ones((3, 3)))[0])  # type: ignore[index]
    return labels == 1 + np.argmax(np.bincount(labels.ravel())[1:])


def blob(
    rng: np.random.Generator, rows: int = 14, columns: int = 16, smooth: float = 1.0, *, solid: bool = False
) -> np.ndarray:
    """A random image (rows, columns) with one 8-connected region, which may touch the border; solid: without holes."""
    while True:
        image = ndimage.gaussian_filter(rng.random((rows, columns)), smooth) > 0.5
        if image.any():
            found = largest(image)
            return np.asarray(ndimage.binary_fill_holes(found)) if solid else found


def star(n: int = 5, outer: float = 30.0, inner: float = 12.0, turn: float = 0.3, center=(40.0, 35.0)) -> np.ndarray:
    """The corners (2n, 2) of a star, clockwise as seen."""
    angles = turn + np.arange(2 * n) * np.pi / n
    radii = np.where(np.arange(2 * n) % 2, inner, outer)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) * radii[:, None] + center


def area(points: np.ndarray) -> float:
    """The area inside of a polygon, positive if it runs from u to v."""
    u, v = np.asarray(points, float).T
    return float((u * np.roll(v, -1) - v * np.roll(u, -1)).sum() / 2)


def length(points: np.ndarray) -> float:
    """The length of a closed polygon."""
    return float(np.hypot(*(np.roll(points, -1, axis=0) - points).T).sum())


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points turned about the origin, from u towards v."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points, float) @ np.array([[c, s], [-s, c]])
