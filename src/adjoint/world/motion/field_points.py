"""Control points on the links of a robot, and distances of points to solids, for fields of force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...collision.shapes_of_links import LinkShapes, link_shapes
from ...compile import kernel
from ...errors import ArgumentError
from ...lie import se3
from ...model.input_checks import floats, positive
from ...model.needs import need_robot
from ...model.robot import Robot
from ...sensing.scene.scenes import Scene
from ...sensing.scene.solids import Box, Capsule, Cylinder, Plane, Solid, Sphere

__all__ = ["ControlPoints", "PointDistance", "control_points", "point_solid_distance"]

SOLID_ROW = 17  # numbers of a solid in the table of a field
_BOX, _CYLINDER, _PLANE = 0.0, 1.0, 2.0
_TINY = 1e-300


# --- control points ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ControlPoints:
    """Points on the bodies of a robot, each the centre of a ball that obstacles push: `control_points` makes them.

    `bodies` (m,) are the numbers of the bodies, `points` (m, 3) [m] are in their frames, and `radii` (m,) [m].
    """

    bodies: np.ndarray
    points: np.ndarray
    radii: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.bodies)

    def __repr__(self) -> str:
        return f"<ControlPoints: {len(self)} on {len(set(self.bodies.tolist()))} bodies>"


def control_points(
    robot: Robot, shapes: LinkShapes | None = None, *, at: Iterable | None = None, radius=0.0, spacing: float = 1.5
) -> ControlPoints:
    """Control points on the links of a robot: balls that cover its link shapes, or points that are given.

        >>> points = control_points(robot)                                    # balls that cover all links
        >>> two = control_points(robot, at=["tool", ("link3", [0.1, 0, 0])])  # the origin of a frame, a point

    Parameters
    ----------
    shapes
        Capsules around the links (`collision.link_shapes`), by default those of the robot. The balls on the axis of a
        capsule of radius r are at most `spacing` r apart, and have the radius √(r² + (gap / 2)²): they cover it.
    at
        Instead of shapes: names of frames, or pairs (name of a frame, point (3,) in that frame [m]).
    radius
        The radius [m] of the balls about the points `at`, one number or one for each.

    With one point, a field moves a point; the links behind it may hit what the point avoids. With balls that cover the
    links, none of them touches an obstacle as long as no ball does. Fu, Gonzalez & Lee (1987), Sec. 10.9.2.
    """
    need_robot(robot, "control_points")
    if at is not None:
        return _points_at(robot, at, radius)
    if not positive(spacing, "control_points: spacing") <= 10:
        raise ArgumentError("control_points: spacing, in radii of the capsules, must not be above 10")
    found = link_shapes(robot) if shapes is None else shapes
    bodies, points, radii, names = [], [], [], []
    for body, a, b, r, name in zip(found.bodies, found.starts, found.ends, found.radii, found.names, strict=True):
        if body < 0:
            continue
        length = float(np.linalg.norm(b - a))
        n = int(np.ceil(length / (spacing * r) - 1e-9)) + 1 if length > 0 else 1
        gap = length / (n - 1) if n > 1 else 0.0
        for s in np.linspace(0, 1, n):
            bodies.append(int(body))
            points.append(a + s * (b - a))
            radii.append(float(np.hypot(r, gap / 2)))
            names.append(name)
    if not bodies:
        raise ArgumentError(
            f"control_points: no link of robot '{robot.name}' that moves has a shape; give points by at="
        )
    return ControlPoints(np.array(bodies), np.array(points), np.array(radii), tuple(names))


def _points_at(robot: Robot, at: Iterable, radius) -> ControlPoints:
    bodies, points, names = [], [], []
    for spot in at:
        name, x = (spot, np.zeros(3)) if isinstance(spot, str) else spot
        frame, x = robot.frame(name), floats(x)
        if x.shape != (3,) or not np.isfinite(x).all():
            raise ArgumentError(f"control_points: the point in frame '{name}' must be finite numbers (3,)")
        bodies.append(frame.body)
        points.append(frame.placement[:3, :3] @ x + frame.placement[:3, 3])
        names.append(name)
    if not bodies:
        raise ArgumentError("control_points: at= names no point; it is a list of frames or of pairs (frame, point)")
    radii = floats(radius)
    if radii.shape not in ((), (len(bodies),)) or not (radii >= 0).all():
        raise ArgumentError(
            f"control_points: radius must be a number >= 0, or {len(bodies)} of them; got {radius!r:.60}"
        )
    return ControlPoints(np.array(bodies), np.array(points), np.broadcast_to(radii, len(bodies)).copy(), tuple(names))


# --- solids as rows ---------------------------------------------------------------------------------------------------


class PointDistance(NamedTuple):
    """The signed distance [m] of a point to the surface of a solid, and the unit vector (3,) along which it grows."""

    distance: Any
    away: Any


@kernel(point=3, row=SOLID_ROW)
def point_solid_distance(point, row) -> PointDistance:
    """The signed distance of a point (3,) to a solid, given as a row (17,) of `solid_rows`; below 0 inside.

    A row is (R (9), c (3), h (3), r, kind): pose, sizes, and a kind. Of kind 0 is a box with half edges h, whose
    corners are rounded by r: a ball if h = 0, a capsule if h = (0, 0, l / 2). Of kind 1 is a cylinder with radius h_x
    and half length h_z, of kind 2 the half-space below c along the axis z.
    """
    R, half, kind = row[:9].reshape(3, 3), row[12:15], row[16]
    p = R.T @ (point - row[9:12])
    sign = np.where(p < 0, -1.0, 1.0)
    e = np.abs(p) - half
    box, out_of_box = _corner_distance(e)
    rho2 = p[0] * p[0] + p[1] * p[1]
    rho = np.sqrt(np.where(rho2 > _TINY, rho2, 1.0))
    radial = np.where(rho2 > _TINY, p[:2] / rho, np.stack([1.0, 0.0]))
    can, out_of_can = _corner_distance(np.stack([np.where(rho2 > _TINY, rho, 0.0) - half[0], e[2]]))
    can_away = np.stack([radial[0] * out_of_can[0], radial[1] * out_of_can[0], sign[2] * out_of_can[1]])
    is_can, is_plane = kind == _CYLINDER, kind == _PLANE
    distance = np.where(is_plane, p[2], np.where(is_can, can, box) - row[15])
    away = np.where(is_plane, np.array([0.0, 0, 1]), np.where(is_can, can_away, sign * out_of_box))
    return PointDistance(distance, R @ away)


def _corner_distance(e):
    """The distance to a corner region {e <= 0} of a point with coordinates e (n,) over its faces, and its gradient."""
    over = np.maximum(e, 0.0)
    d2 = over @ over
    outside = d2 > _TINY
    d = np.sqrt(np.where(outside, d2, 1.0))
    deepest, best = e[0], np.stack([1.0] + [0.0] * (len(e) - 1))
    for k in range(1, len(e)):
        unit = np.stack([1.0 if j == k else 0.0 for j in range(len(e))])
        best, deepest = np.where(e[k] > deepest, unit, best), np.maximum(deepest, e[k])
    return np.where(outside, d, deepest), np.where(outside, over / d, best)


def solid_rows(solids: Scene | Sequence[Solid], T_world_base: np.ndarray, caller: str) -> np.ndarray:
    """The rows (n, 17) of solids, in the frame of a robot's base; hulls and meshes become boxes around them."""
    T_base_world = se3.inverse.eager(T_world_base)
    return np.array([_row(k, s, T_base_world @ s.T_world_solid, caller) for k, s in enumerate(solids)]).reshape(-1, 17)


def _row(k: int, solid: Solid, T: np.ndarray, caller: str) -> np.ndarray:
    half, radius, kind = np.zeros(3), 0.0, _BOX
    center = np.zeros(3)
    if isinstance(solid, Sphere):
        radius = solid.radius
    elif isinstance(solid, Capsule):
        radius, half = solid.radius, np.array([0, 0, solid.length / 2])
    elif isinstance(solid, Box):
        half = solid.dimensions
    elif isinstance(solid, Cylinder):
        half, kind = np.array([solid.radius, solid.radius, solid.length / 2]), _CYLINDER
    elif isinstance(solid, Plane):
        kind = _PLANE
    elif isinstance(solid, Solid) and solid.bounds is not None:
        low, high = solid.bounds
        half, center = (high - low) / 2, (high + low) / 2
    else:
        raise ArgumentError(f"{caller}: obstacle {k} must be a solid with a surface; got {type(solid).__name__}")
    return np.concatenate([T[:3, :3].reshape(9), T[:3, :3] @ center + T[:3, 3], half, [radius, kind]])
