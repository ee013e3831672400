"""Predicates: whether parts touch, lie on, in, above or near each other, and whether robots hold them.

Each is evaluated from the geometry of a world by a number, such as a gap, and two thresholds. It becomes true where the
number is at most `enter`, becomes false above `leave`, and in between stays what it `was`. So a fact does not flicker
while the number wavers about one limit.
"""

from __future__ import annotations

import numpy as np

from ...errors import ArgumentError
from ...lie import so3
from ...sensing.scene.scene_checks import number
from ..relations.sources import Source
from ..state.grippers import gripper_solids
from ..state.world_edits import known_robot
from ..state.worlds import World
from .contact_gaps import Gap, gaps, need_part, placed_solids, up_of

__all__ = [
    "is_above",
    "is_aligned",
    "is_clear",
    "is_holding",
    "is_inside",
    "is_near",
    "is_on",
    "is_touching",
]

ENTER, LEAVE = 1e-3, 2e-3
"""Gaps [m] at which contacts begin and end."""
_STEEP = np.radians([40.0, 50.0])  # tilts of a contact from up at which it begins and ends to carry


def decided(value: float, enter: float, leave: float, was: bool) -> bool:
    """Schmitt's trigger: True up to `enter`, False above `leave`, and what it was in between."""
    return value <= (leave if was else enter)


def _limits(enter, leave, caller: str) -> tuple[float, float]:
    enter, leave = number(enter, "enter", caller), number(leave, "leave", caller)
    if not enter <= leave:
        raise ArgumentError(f"{caller}: enter must be at most leave, got {enter:g} and {leave:g}")
    return enter, leave


def _two(world: World, a, b, caller: str) -> None:
    need_part(world, a, caller)
    need_part(world, b, caller)
    if a == b:
        raise ArgumentError(f"{caller}: '{a}' is compared with itself; two different parts are needed")


def is_touching(world: World, a: str, b: str, *, was: bool = False, enter=ENTER, leave=LEAVE) -> bool:
    """Whether two parts touch: their signed distance is at most `enter` [m], or `leave` if they touched before.

    >>> from adjoint.sensing import Box
    >>> box = Box([0.1, 0.1, 0.1])
    >>> is_touching(World().add("a", box).add("b", box, at=[0, 0, 0.1]), "a", "b")
    True
    """
    caller = "is_touching"
    _two(world, a, b, caller)
    enter, leave = _limits(enter, leave, caller)
    return bool(gaps(placed_solids(world, a), placed_solids(world, b), leave if was else enter))


def is_near(world: World, a: str, b: str, distance: float, *, was: bool = False, leave: float | None = None) -> bool:
    """Whether two parts are at most `distance` [m] apart; it ends at `leave`, by default a tenth farther.

    >>> from adjoint.sensing import Box
    >>> box = Box([0.1, 0.1, 0.1])
    >>> w = World().add("a", box).add("b", box, at=[0, 0, 0.15])
    >>> is_near(w, "a", "b", 0.06), is_near(w, "a", "b", 0.048), is_near(w, "a", "b", 0.048, was=True)
    (True, False, True)
    """
    caller = "is_near"
    _two(world, a, b, caller)
    distance = number(distance, "distance", caller, least=0)
    enter, leave = _limits(distance, 1.1 * distance if leave is None else leave, caller)
    return bool(gaps(placed_solids(world, a), placed_solids(world, b), leave if was else enter))


def carried(found: list[Gap], up: np.ndarray, was: bool) -> bool:
    """Whether one of the gaps is a contact that carries: its normal looks up."""
    steepest = np.cos(_STEEP[1] if was else _STEEP[0])
    return any(gap.normal @ up >= steepest for gap in found)


def is_on(world: World, a: str, b: str, *, was: bool = False, enter=ENTER, leave=LEAVE) -> bool:
    """Whether part a lies on part b: they touch, and the contact is below a, tilted by at most 40°.

        >>> from adjoint.sensing import Box
        >>> box = Box([0.1, 0.1, 0.1])
        >>> w = World().add("table", box).add("cup", box, at=[0, 0, 0.1])
        >>> is_on(w, "cup", "table"), is_on(w, "table", "cup")
        (True, False)

    `enter` and `leave` [m] are gaps; a part that was on b stays so up to 50°.
    """
    caller = "is_on"
    _two(world, a, b, caller)
    enter, leave = _limits(enter, leave, caller)
    found = gaps(placed_solids(world, a), placed_solids(world, b), leave if was else enter)
    return carried(found, up_of(world), was)


def is_clear(world: World, a: str, *, was: bool = True, enter=ENTER, leave=LEAVE) -> bool:
    """Whether nothing lies on part a; parts that robots hold do not count.

    >>> from adjoint.sensing import Box
    >>> box = Box([0.1, 0.1, 0.1])
    >>> w = World().add("table", box).add("cup", box, at=[0, 0, 0.1])
    >>> is_clear(w, "cup"), is_clear(w, "table")
    (True, False)
    """
    need_part(world, a, "is_clear")
    lifted = lifted_parts(world)
    others = (part for part in world.parts if part != a and can_rest(part, a, lifted))
    return not any(is_on(world, part, a, was=not was, enter=enter, leave=leave) for part in others)


def lifted_parts(world: World) -> list[tuple[set[str], set[str]]]:
    """For each robot the frames that it holds, and those with all that they carry, such as the cup on a tray."""
    held = [world.holding(robot) for robot in world.robots]
    return [({*names}, {*names, *(below for name in names for below in world.carried_by(name))}) for names in held]


def can_rest(a: str, b: str, lifted: list[tuple[set[str], set[str]]]) -> bool:
    """Whether part a can lie on b: no robot holds a, and a robot that carries a carries b, too."""
    return not any(a in held or (a in carried and b not in carried) for held, carried in lifted)


def is_holding(world: World, robot: str, part: str, *, was: bool = False, enter=ENTER, leave=LEAVE) -> bool:
    """Whether a robot holds a part: the part is attached to its tool, or both fingers of its gripper touch the part.

        >>> from adjoint.sensing import Box
        >>> box = Box([0.1, 0.1, 0.1])
        >>> w = World().add_robot("arm", robot).add("cup", box, at=[2, 0, 0])
        >>> is_holding(w, "arm", "cup"), is_holding(w.grasp("arm", "cup"), "arm", "cup")
        (False, True)

    Fingers hold it if they touch it from opposite sides. `enter` and `leave` [m] are the gaps of both.
    """
    caller = "is_holding"
    need_part(world, part, caller)
    known = known_robot(world, robot, caller)
    enter, leave = _limits(enter, leave, caller)
    if part in world.holding(robot):
        return True
    if known.gripper is None:
        return False
    T = world.pose(f"{robot}.{known.tool}")
    fingers = [box.at(T @ box.T_world_solid) for box in gripper_solids(known.gripper, known.width)[1:]]
    solids = placed_solids(world, part)
    found = [gaps(solids, [finger], leave if was else enter) for finger in fingers]
    if not all(found):
        return False
    return any(one.normal @ other.normal < -0.7 for one in found[0] for other in found[1])


def is_inside(world: World, a: str, b: str, *, was: bool = False, enter=ENTER, leave=LEAVE) -> bool:
    """Whether part a is inside of the box of part b: no corner of a is farther out of it than `enter` [m].

        >>> from adjoint.sensing import Box
        >>> w = World().add("crate", Box([0.4, 0.4, 0.2])).add("cup", Box([0.1, 0.1, 0.1]))
        >>> is_inside(w, "cup", "crate"), is_inside(w, "crate", "cup")
        (True, False)

    The box of b is the smallest one along the axes of its frame, so a crate that is open above holds what stands in it.
    """
    caller = "is_inside"
    _two(world, a, b, caller)
    enter, leave = _limits(enter, leave, caller)
    source = Source(world, caller)
    out = sticks_out(world.pose(a), source.corners(a), world.pose(b), source.corners(b))
    return decided(out, enter, leave, was)


def sticks_out(T_world_a: np.ndarray, corners_a: np.ndarray, T_world_b: np.ndarray, corners_b: np.ndarray) -> float:
    """How far [m] the corners (k, 3) of part a reach out of the box around those of part b along the axes of b."""
    low, high = corners_b.min(axis=0), corners_b.max(axis=0)
    seen = (_moved(T_world_a, corners_a) - T_world_b[:3, 3]) @ T_world_b[:3, :3]
    return float(np.maximum(low - seen, seen - high).max())


def is_above(world: World, a: str, b: str, *, was: bool = False, enter=ENTER, leave=LEAVE) -> bool:
    """Whether part a is above part b: all of it is higher, and its middle is over the rectangle of b, seen from above.

        >>> from adjoint.sensing import Box
        >>> box = Box([0.1, 0.1, 0.1])
        >>> w = World().add("table", box).add("cup", box, at=[0, 0, 0.5])
        >>> is_above(w, "cup", "table"), is_above(w, "table", "cup")
        (True, False)

    `enter` and `leave` [m] are by how much a may be too low or beside the rectangle.
    """
    caller = "is_above"
    _two(world, a, b, caller)
    enter, leave = _limits(enter, leave, caller)
    source = Source(world, caller)
    up = up_of(world)
    upper, lower = _moved(world.pose(a), source.corners(a)), _moved(world.pose(b), source.corners(b))
    too_low = (lower @ up).max() - (upper @ up).min()
    across = np.eye(3) - np.outer(up, up)
    side = np.linalg.svd(across)[0][:, :2]
    middle, ground = (upper.min(axis=0) + upper.max(axis=0)) / 2 @ side, lower @ side
    beside = np.maximum(ground.min(axis=0) - middle, middle - ground.max(axis=0)).max()
    return decided(float(max(too_low, beside)), enter, leave, was)


def is_aligned(
    world: World, a: str, b: str, *, was: bool = False, angle: float = 0.01, distance: float = 1e-3, leave: float = 2.0
) -> bool:
    """Whether the x axes of two features or frames lie on one line, up to an `angle` [rad] and a `distance` [m].

        >>> w = World().add("pin").add("bore", at=[0.5, 0.0004, 0])
        >>> is_aligned(w, "pin", "bore"), is_aligned(w, "pin", "bore", distance=0.0003)
        (True, False)

    `a` and `b` are places of the world such as "peg.shaft". The sense of the axes does not count. What was aligned
    stays so up to `leave` times both limits.
    """
    caller = "is_aligned"
    T, U = world.pose(a), world.pose(b)
    angle = number(angle, "angle", caller, least=0, above=True)
    distance = number(distance, "distance", caller, least=0, above=True)
    leave = number(leave, "leave", caller, least=1)
    x, y = T[:3, 0], U[:3, 0]
    cross = so3.hat(x) @ y
    turn = np.arctan2(np.linalg.norm(cross), abs(x @ y))
    gap = T[:3, 3] - U[:3, 3]
    offset = np.linalg.norm(gap - (gap @ y) * y)
    return decided(float(max(turn / angle, offset / distance)), 1.0, leave, was)


def _moved(T: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ T[:3, :3].T + T[:3, 3]


def __dir__() -> list[str]:
    return __all__
