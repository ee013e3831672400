"""Convex pieces that cover a solid of revolution, as points."""

from __future__ import annotations

import numpy as np

from .outlines import convex_polygons
from .sweeps import lathed

__all__ = ["covering_points"]


def covering_points(profile: np.ndarray, facets: int) -> list[np.ndarray]:
    """Points (k, 3) of convex hulls that together cover a polygon of (radius, height) turned about z.

    The hulls touch the surface from outside: their corners are at 1/cos(π/n) of its radius. A convex piece of the
    outline with a side on the axis is one hull; any other is `facets` sectors, each the hull of its two ends.
    """
    grow = 1 / np.cos(np.pi / facets)
    found = []
    for piece in convex_polygons(profile):
        points = profile[piece]
        if (points[:, 0] == 0).sum() == 2:
            found.append(lathed(points * [grow, 1.0], facets).vertices)
            continue
        for k in range(facets):
            middle = 2 * np.pi * (k + 0.5) / facets
            angles = middle + np.array([-1, 1])[:, None] * np.pi / facets
            # Inner corners stay on the surface, where the chord between them is nearer to the axis than the surface.
            reach = np.concatenate([points, points * [grow, 1.0]])
            x, y = reach[:, 0] * np.cos(angles), reach[:, 0] * np.sin(angles)
            found.append(np.column_stack([x.ravel(), y.ravel(), np.tile(reach[:, 1], 2)]))
    return found
