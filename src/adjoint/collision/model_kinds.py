"""The kinds of obstacles that one kernel checks together: how their rows are read, and distances of capsules to them.

A row has ROW_SIZE numbers, in the frame of the robot's base; the last one is the margin of the obstacle:

| kind | columns |
|---|---|
| sphere | center (3), radius |
| capsule | start (3), way (3), radius, |way|², 1 / |way|² or 0 |
| box | rotation (9), center (3), half edges (3) |
| plane | normal out of the half-space (3), its height along the normal |
| cylinder | rotation (9), center (3), radius, half of the length |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .model_plan import Placed
from .pair_boxes import beyond, capsule_box, nearest_parameter
from .pair_cylinders import capsule_cylinder, capsule_cylinder_apart
from .pair_distances import PairDistance, capsule_capsule, capsule_plane

__all__: list[str] = []

ROW_SIZE = 16


class Kind(NamedTuple):
    """What kernels know of a kind of obstacle.

    - `near(row, center, radius)` says whether a ball may come closer to the obstacle than its margin.
    - `slack(row, shape)` is above 0 where a shape is farther away than the margin: for most kinds d² - reach².
    - `bound(row, point)` is at most the signed distance of a point; a solid around it in a ball of radius r is at least
      bound - r away. It is -∞ where no bound is known.
    - `pair(row, shape)` is the `PairDistance` of a shape and the obstacle, without the margin.
    """

    near: Callable[..., Any]
    slack: Callable[..., Any]
    bound: Callable[..., Any]
    pair: Callable[..., PairDistance]


def square(x):
    """|x|² of a vector."""
    return x @ x


def segment_square(a: Placed, start, way, length2, inverse):
    """The squared distance of the axis of a shape and a segment.

    The nearest point of the endless lines is clipped to the first segment, then the second, then the first again
    (Ericson 2005, section 5.1.9). For lines at an angle below 1e-6 the first step is left out; what this costs in
    distance is below 1e-10 of the lengths.
    """
    r = a.start - start
    b, c, f = a.way @ way, a.way @ r, way @ r
    det = a.square * length2 - b * b
    crossing = det > 1e-12 * a.square * length2
    s = np.clip(np.where(crossing, (b * f - c * length2) / np.where(crossing, det, 1.0), 0.0), 0.0, 1.0)
    t = np.clip((b * s + f) * inverse, 0.0, 1.0)
    s = np.clip((b * t - c) * a.inverse, 0.0, 1.0)
    return square(r + s * a.way - t * way)


def point_square(a: Placed, point):
    """The squared distance of the axis of a shape and a point."""
    r = point - a.start
    return square(r - np.clip((r @ a.way) * a.inverse, 0.0, 1.0) * a.way)


def segment_to_point(row, point):
    """The squared distance of the segment of a capsule's row and a point."""
    r = point - row[:3]
    return square(r - np.clip((r @ row[3:6]) * row[8], 0.0, 1.0) * row[3:6])


def pose_of(row):
    """The pose (4, 4) of a box or a cylinder."""
    R, p = row[:9].reshape(3, 3), row[9:12]
    return np.stack([np.stack([*R[i], p[i]]) for i in range(3)] + [np.array([0.0, 0, 0, 1])])


def in_box(row, point):
    """A point in the frame of a box or a cylinder."""
    return row[:9].reshape(3, 3).T @ (point - row[9:12])


# --- spheres and capsules ---------------------------------------------------------------------------------------------


def _sphere_near(row, center, radius):
    reach = radius + row[3] + row[15]
    return square(center - row[:3]) < reach * reach


def _sphere_slack(row, a: Placed):
    reach = a.radius + row[3] + row[15]
    return point_square(a, row[:3]) - reach * reach


def _sphere_bound(row, point):
    return np.sqrt(square(point - row[:3])) - row[3]


def _sphere_pair(row, a: Placed) -> PairDistance:
    return capsule_capsule(a.start, a.end, a.radius, row[:3], row[:3], row[3])


def _capsule_near(row, center, radius):
    reach = radius + row[6] + row[15]
    return segment_to_point(row, center) < reach * reach


def _capsule_slack(row, a: Placed):
    reach = a.radius + row[6] + row[15]
    return segment_square(a, row[:3], row[3:6], row[7], row[8]) - reach * reach


def _capsule_bound(row, point):
    return np.sqrt(segment_to_point(row, point)) - row[6]


def _capsule_pair(row, a: Placed) -> PairDistance:
    return capsule_capsule(a.start, a.end, a.radius, row[:3], row[:3] + row[3:6], row[6])


# --- boxes, half-spaces and cylinders ---------------------------------------------------------------------------------


def _box_near(row, center, radius):
    reach = radius + row[15]
    return square(beyond(in_box(row, center), row[12:15])) < reach * reach


def _box_slack(row, a: Placed):
    half, reach = row[12:15], a.radius + row[15]
    p, u = in_box(row, a.start), row[:9].reshape(3, 3).T @ a.way
    return square(beyond(p + nearest_parameter(p, u, half) * u, half)) - reach * reach


def _box_bound(row, point):
    core = np.sqrt(square(beyond(in_box(row, point), row[12:15])))
    return np.where(core > 0, core, -np.inf)  # inside, the depth may be anything


def _box_pair(row, a: Placed) -> PairDistance:
    return capsule_box(a.start, a.end, a.radius, pose_of(row), row[12:15])


def _plane_near(row, center, radius):
    return row[:3] @ center - row[3] < radius + row[15]


def _plane_slack(row, a: Placed):
    return row[:3] @ a.start + np.minimum(row[:3] @ a.way, 0.0) - row[3] - a.radius - row[15]


def _plane_bound(row, point):
    return row[:3] @ point - row[3]


def _plane_pair(row, a: Placed) -> PairDistance:
    up, zero = row[:3], np.zeros(3)
    T = np.stack([np.stack([0.0, 0.0, up[i], row[3] * up[i]]) for i in range(3)] + [np.array([*zero, 1.0])])
    return capsule_plane(a.start, a.end, a.radius, T)


def _cylinder_bound(row, point):
    x = in_box(row, point)
    side = np.maximum(np.sqrt(x[0] * x[0] + x[1] * x[1]) - row[12], 0.0)
    along = np.maximum(np.abs(x[2]) - row[13], 0.0)
    core = np.sqrt(side * side + along * along)
    return np.where(core > 0, core, -np.inf)


def _cylinder_near(row, center, radius):
    return _cylinder_bound(row, center) < radius + row[15]


def _cylinder_slack(row, a: Placed):
    return capsule_cylinder_apart(a.start, a.end, a.radius, pose_of(row), row[12], row[13], row[15]) - 0.5


def _cylinder_pair(row, a: Placed) -> PairDistance:
    return capsule_cylinder(a.start, a.end, a.radius, pose_of(row), row[12], row[13])


KINDS = {
    "sphere": Kind(_sphere_near, _sphere_slack, _sphere_bound, _sphere_pair),
    "capsule": Kind(_capsule_near, _capsule_slack, _capsule_bound, _capsule_pair),
    "box": Kind(_box_near, _box_slack, _box_bound, _box_pair),
    "plane": Kind(_plane_near, _plane_slack, _plane_bound, _plane_pair),
    "cylinder": Kind(_cylinder_near, _cylinder_slack, _cylinder_bound, _cylinder_pair),
}
"""The kinds, in the order of their rows in the table of a model."""
UNROLLED = ("sphere", "capsule", "box", "plane")  # short code, which is written out for each shape
