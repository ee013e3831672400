"""`plan_in_plane`: shortest motions of a polygon among polygons, with or without turns.

A free-space method of Fu, Gonzalez & Lee (1987), Sec. 10.9.2, after Lozano-Pérez & Wesley (1979) and Lozano-Pérez
(1983).
"""

from __future__ import annotations

import numpy as np

from .plane_graphs import (
    PlanePlan,
    grown_region,
    need_outside,
    need_within,
    obstacle_pieces,
    shortest_way,
    visibility_graph,
)
from .plane_polygons import robot_pieces
from .plane_slices import plan_in_slices, plane_pose, slice_count, turn_weight

__all__ = ["plan_in_plane"]


def plan_in_plane(
    robot, obstacles, start, goal, *, rotate: int | bool = False, bounds=None, turn_cost: float | None = None
) -> PlanePlan:
    """The shortest motion of a polygon among polygons, from start to goal.

        >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]                    # its reference point is its lower left corner
        >>> plan = plan_in_plane(square, [[[2, 1], [4, 1], [4, 3], [2, 3]]], start=[0, 1], goal=[6, 1])
        >>> plan.path.tolist(), round(plan.length, 4)
        ([[0.0, 1.0], [1.0, 0.0], [4.0, 0.0], [6.0, 1.0]], 6.6503)

    Parameters
    ----------
    robot
        The robot as a simple polygon (m, 2) [m] around its reference point, the origin; None stands for a point.
    obstacles
        Simple polygons (k, 2), as a sequence or {name: polygon}. They may touch and overlap.
    start, goal
        Positions (2,) of the reference point; with `rotate`, (3,) with the angle [rad] of the robot, counterclockwise.
    rotate
        False: the robot keeps its orientation, and the path is the shortest. A whole number n >= 4: the robot may turn.
        The circle of angles is cut into n slices, and in each of them the robot is replaced by a polygon that contains
        it at all angles of the slice (`swept_polygon`). So the path is safe, and shortest for these swept robots; a
        passage narrower than they are is found with more slices.
    bounds
        (low, high), two corners of a rectangle in which the whole robot stays; None is the whole plane.
    turn_cost
        The cost [m/rad] of a turn; the default is the distance of the robot's farthest corner from its reference point.

    Returns
    -------
    A `PlanePlan`, whose `reason` tells why there is no path. A robot may touch obstacles; a passage that is exactly as
    wide as the robot is closed. The obstacles grow by the mirrored robot (`grow_obstacle`), and the path is the
    shortest one of the visibility graph. An `ArgumentError` names the obstacle that start or goal overlaps.
    """
    caller = "plan_in_plane"
    turns = 0 if rotate is False or rotate is None else slice_count(caller, "rotate", rotate)
    size = 3 if turns else 2
    ends = [plane_pose(caller, name, x, size) for name, x in (("start", start), ("goal", goal))]
    solids = obstacle_pieces(caller, obstacles, bounds, robot)
    pieces = robot_pieces(caller, robot)
    need_within(caller, ends, pieces, bounds)
    if turns:
        return plan_in_slices(pieces, solids, ends[0], ends[1], turns, turn_weight(caller, pieces, turn_cost))
    region = grown_region(solids, pieces)
    for name, x in zip(("start", "goal"), ends, strict=True):
        need_outside(caller, name, x, region)
    graph = visibility_graph(region, ends)
    way = shortest_way(len(graph.nodes), graph.edges, graph.lengths, 0, 1)
    if not way:
        return PlanePlan(None, np.inf, np.inf, "the grown obstacles separate start and goal", graph, region)
    path = graph.nodes[way]
    length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
    return PlanePlan(path, length, length, "", graph, region)
