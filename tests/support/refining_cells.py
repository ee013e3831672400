"""Cells with a PUMA, a table and cubes, and an exact check of what arms do in them."""

from __future__ import annotations

from itertools import combinations

import adjoint as aj
from adjoint.collision.solid_distances import solid_distance
from adjoint.program.running.motion_contacts import motion_contacts
from adjoint.world import Gripper, World, cuboid
from adjoint.world.predicates.contact_gaps import placed_solids

SIDE = 0.05
TABLE_TOP = -0.3


def height(level: int) -> float:
    """The middle of a cube on the table (0), on a cube on the table (1), ..."""
    return TABLE_TOP + SIDE * (level + 0.5)


def blocks_world(**places: tuple[float, float, int]) -> World:
    """A PUMA before a table with cubes at {name: (x, y, level)}."""
    world = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, TABLE_TOP - 0.025])
    for name, (x, y, level) in places.items():
        world = world.add(name, cuboid(SIDE, SIDE, SIDE), at=[x, y, height(level)])
    hand = Gripper(opening=0.08, depth=0.045, T_tool_grip=[0, 0, 0.14])
    return world.add_robot("arm", aj.robots.puma560(), q=[0, -1.2, 0.3, 0, 0.5, 0], gripper=hand)


def sussman_world() -> World:
    """C on A, and B beside them."""
    return blocks_world(a=(0.5, -0.1, 0), c=(0.5, -0.1, 1), b=(0.5, 0.15, 0))


def contacts_of(run, tolerance: float = 1e-3) -> list[str]:
    """What links, hand and carried parts meet more deeply than `tolerance` [m] in a run, by hulls at every tick."""
    found, ticks = [], [tick for tick, _ in run.worlds]
    own = _own(run.start, tolerance)
    for (first, world), last in zip(run.worlds, [*ticks[1:], len(run.t)], strict=True):
        for robot, q in run.q.items():
            rows = q[first - ticks[0] : last - ticks[0]]
            if len(rows) and world.robots[robot].gripper is not None:
                world = world.set_gripper(robot, float(run.width[robot][first - ticks[0]]))
            if len(rows):
                found += [str(m.contact) for m in motion_contacts(world, robot, rows, tolerance, False, own)]
    return found


def _own(world: World, tolerance: float) -> frozenset:
    """Pairs of links that touch before anything moves: the robot is modelled like that."""
    found = []
    for name, known in world.robots.items():
        met = motion_contacts(world, name, known.q[None], tolerance, False, frozenset())
        found += [frozenset((m.contact.a, m.contact.b)) for m in met if m.own]
    return frozenset(found)


def overlaps(world: World, names, tolerance: float = 1.5e-3) -> list[tuple[str, str]]:
    """Pairs of parts whose solids are inside of each other by more than `tolerance` [m]."""
    return [
        (a, b)
        for a, b in combinations(names, 2)
        for one in placed_solids(world, a)
        for other in placed_solids(world, b)
        if solid_distance(one, other).distance < -tolerance
    ]
