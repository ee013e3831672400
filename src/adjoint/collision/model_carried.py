"""Carried solids as capsules: spheres and capsules as they are, others covered from outside."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from ..errors import ArgumentError
from ..sensing.scene.solids import Box, Capsule, Cylinder, Mesh, Plane, Solid, Sphere, Textured
from .shape_fitting import fitted_capsule

__all__: list[str] = []

MOST_CAPSULES = 8  # of a box
SMALL_EXCESS = 0.005  # [m] a box that fewer capsules cover so well, or to 5 % of its longest edge, has no more of them


def covering_capsules(solid: Solid, caller: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Capsules that cover a solid: starts (k, 3), ends (k, 3), radii (k,) in its frame, and their excess [m].

    No point of the capsules is farther from the solid than the excess: 0 for spheres and capsules.
    """
    if isinstance(solid, Sphere):
        return np.zeros((1, 3)), np.zeros((1, 3)), np.array([solid.radius]), 0.0
    if isinstance(solid, Capsule):
        end = np.array([[0, 0, solid.length / 2]])
        return -end, end, np.array([solid.radius]), 0.0
    if isinstance(solid, Cylinder):
        return _box_cover((0.0, 0.0, solid.length / 2), float(solid.radius))
    if isinstance(solid, Box | Textured):
        x, y, z = (float(half) for half in solid.dimensions)
        return _box_cover((x, y, z), None)
    if isinstance(solid, Mesh):
        fit = fitted_capsule(np.asarray(solid.triangles.vertices, float))
        points = np.asarray(solid.triangles.vertices, float)
        # A surface point of the capsule may be this far from the nearest vertex at most.
        excess = float(fit.radius + np.linalg.norm(points - points.mean(axis=0), axis=1).max())
        return np.array([fit.start]), np.array([fit.end]), np.array([fit.radius]), min(excess, 2 * float(fit.radius))
    what = "half-space, which has no end" if isinstance(solid, Plane) else type(solid).__name__
    raise ArgumentError(
        f"{caller}: a robot cannot carry a {what}; carried solids are Sphere, Capsule, Box, Cylinder, Mesh"
    )


@lru_cache(maxsize=512)
def _box_cover(half: tuple[float, float, float], radius: float | None):
    """`_around_box`, computed once for each size; its arrays are not changed."""
    found = _around_box(np.array(half), None if radius is None else np.array([radius]))
    for array in found[:3]:
        array.setflags(write=False)
    return found


def _around_box(half: np.ndarray, radius: np.ndarray | None):
    """Capsules along the longest edge of a box, in a grid over its cross-section: few of them, with little excess.

    These are the fewest capsules with an excess of at most `SMALL_EXCESS`, or those with the least excess.

    A cell of the grid with the half edges (b, c) is covered by a capsule of the radius r = √(b² + c² + x²), whose
    segment ends x before the faces of the box; it reaches beyond the sides by r - min(b, c) at most, and beyond the
    ends by r - x. With a `radius` (1,) the cross-section is a disc, and the capsule is one.
    """
    axis = 2 if radius is not None else int(np.argmax(half))
    others = [i for i in range(3) if i != axis]
    best, small = None, max(SMALL_EXCESS, 0.1 * float(half.max()))
    grids = [(1, 1)] if radius is not None else product(range(1, MOST_CAPSULES + 1), repeat=2)
    for n, m in grids:
        if n * m > MOST_CAPSULES:
            continue
        b, c = (radius[0], radius[0]) if radius is not None else (half[others[0]] / n, half[others[1]] / m)
        across = b if radius is not None else float(np.hypot(b, c))
        for x in np.minimum(np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.5]) * across, half[axis]):
            r = float(np.hypot(across, x))
            excess = max(r - min(b, c), r - x)
            key = (n * m if excess <= small else MOST_CAPSULES + 1, round(excess, 12), n * m)
            if best is None or key < best[0]:
                best = key, n, m, x, r
    assert best is not None
    (_, excess, _), n, m, x, r = best
    starts = np.zeros((n * m, 3))
    for k, (i, j) in enumerate(product(range(n), range(m))):
        if radius is None:
            starts[k, others[0]] = half[others[0]] * ((2 * i + 1) / n - 1)
            starts[k, others[1]] = half[others[1]] * ((2 * j + 1) / m - 1)
    ends = starts.copy()
    starts[:, axis], ends[:, axis] = -(half[axis] - x), half[axis] - x
    return starts, ends, np.full(n * m, r), float(excess)
