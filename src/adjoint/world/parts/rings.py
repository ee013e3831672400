"""Convex pieces of solids of revolution, as points: pieces that cover the solid, or that are inside it."""

from __future__ import annotations

import numpy as np

from .outlines import convex_polygons
from .sweeps import lathed

__all__ = ["ring_points"]


def ring_points(profile: np.ndarray, facets: int, fit: str) -> list[np.ndarray]:
    """Points (k, 3) of convex hulls for a polygon of (radius, height) that turns about z.

    Together the hulls cover the solid (`fit` "out"), are inside it ("in"), or fill the polyhedron with its corners on
    the circles ("on"). A convex piece P of the outline with a side on the axis is one hull, with its corners at
    1/cos(π/n) of the radius, or at the radius. Of any other piece, `facets` sectors are made: prisms along the circle
    about their middle direction u. A point of the radius r has r cos(π/n) ≤ u ≤ r in its sector; so prisms over the
    hull of P and cos(π/n) P cover the ring, and those over what P and cos(π/n) P have in common are inside it.
    """
    c = np.cos(np.pi / facets)
    found = []
    for piece in convex_polygons(profile):
        points = profile[piece]
        if (points[:, 0] == 0).sum() == 2:
            found.append(lathed(points / [c, 1.0] if fit == "out" else points, facets).vertices)
            continue
        shrunk = points * [c, 1.0]
        section = {"out": np.concatenate([points, shrunk]), "in": _common(points, shrunk), "on": shrunk}[fit]
        if len(section) < 3:
            continue
        u, z = section.T
        for k in range(facets):
            angle = 2 * np.pi * (k + 0.5) / facets
            along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
            ends = [u[:, None] * (along + s * np.tan(np.pi / facets) * across) for s in (-1, 1)]
            found.append(np.concatenate([np.column_stack([xy, z]) for xy in ends]))
    return found


def _common(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The corners of what two convex polygons (k, 2), counterclockwise, have in common (Sutherland & Hodgman 1974)."""
    left = list(a)
    for p, q in zip(b, np.roll(b, -1, axis=0), strict=True):
        normal = np.array([p[1] - q[1], q[0] - p[0]])  # to the inside
        away = [float((x - p) @ normal) for x in left]
        kept = []
        for k, x in enumerate(left):
            y, f, g = left[(k + 1) % len(left)], away[k], away[(k + 1) % len(left)]
            if f >= 0:
                kept.append(x)
            if f * g < 0:
                kept.append(x + (y - x) * f / (f - g))
        left = kept
    return np.array(left).reshape(-1, 2)
