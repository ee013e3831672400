"""`Operate`: a tool goes to a place, turns a screw until its torque is reached, and comes back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lie import se3
from ...world import World, feature_frame, plan_pick
from ...world.state.part_contents import features_of
from ...world.state.placements import inverted
from ..instructions import Binary, Expression, Operate, Quantity, Reading
from ..running.backends import ArmMotion, HandMotion
from .feature_names import faces_along, found_part, named, need_part
from .placing import held_steps
from .task_edits import CarryPart, FastenPart, Step, TakePart, TaskPhase, applied
from .tool_motions import reach, sampled, straight, straight_path

__all__ = ["SCREW_PITCH", "SCREW_SPEED", "SCREW_STIFFNESS"]

SCREW_PITCH = 1.25e-3
"""[m] How far a screw goes in with each turn."""
SCREW_STIFFNESS = 2.0
"""[N m/rad] How fast the torque of a screw rises with the angle after it is seated."""
SCREW_SPEED = 10 * np.pi
"""[rad/s] How fast tools turn, unless the program says so: 300 turns a minute."""
_STANDOFF = 0.05  # [m] before the place of work
_ROLLS = 8  # angles of a tool about its axis that are tried


class _Seat(NamedTuple):
    """What a screw goes into: the part, and how far [m] the screw is from being seated on it."""

    onto: str
    depth: float


def operate_steps(world: World, statement: Operate, robot: str, period: float) -> tuple[Step, ...]:
    """The steps of an `Operate`; a `LookupError` says why there are none."""
    if statement.turning == "counterclockwise":
        raise LookupError("only screws with right-handed threads are driven in: CLOCKWISE")
    torque = _torque(statement.final)
    T_place, owner = _place_of(world, statement)
    driven = need_part(world, statement.part) if statement.part else owner
    if not driven:
        raise LookupError(f"'{statement.place}' belongs to no part that the tool could turn")
    axis = T_place[:3, 0]
    seat = _seat(world, driven, axis)
    steps, home = _with_tool(world, statement, robot, period)
    start = applied(world, steps)
    tip = _tip(start, statement, robot)
    # The tip looks against the outward axis of the place, at any angle about it.
    flip = np.diag([-1.0, 1.0, -1.0, 1.0])
    rolls = [T_place @ se3.exp([a, 0, 0, 0, 0, 0]) @ flip for a in 2 * np.pi / _ROLLS * np.arange(_ROLLS)]
    targets = np.array([T @ inverted(tip) for T in rolls])
    found = reach(start, robot, targets, _STANDOFF * axis)
    if found.free is None or found.approach is None:
        raise LookupError(f"'{robot}' cannot bring '{statement.tool}' to its place: {found.reason}")
    steps += [TaskPhase(f"free motion with '{statement.tool}'"), sampled(robot, found.free, period)]
    steps += [TaskPhase(f"guarded approach to '{driven}'"), sampled(robot, found.approach, period)]
    steps += _driven(applied(world, steps), statement, robot, driven, seat, axis, torque, period)
    if statement.hold:
        return tuple(steps)
    now = applied(world, steps)
    back = straight(now, robot, now.robots[robot].q, _STANDOFF * axis)
    steps += [] if back is None else [TaskPhase("guarded departure"), sampled(robot, back, period)]
    if home is not None:
        steps += held_steps(applied(world, steps), robot, *home, period, 2.0, False)
    return tuple(steps)


def _torque(final: Expression | None) -> float:
    """The torque [N m] at which the tool stops; 0 stops it when the screw is seated."""
    if final is None:
        return 0.0
    if isinstance(final, Binary) and final.operator in ("=", ">=", ">"):
        left, right = final.left, final.right
        if isinstance(left, Reading) and left.kind == "torque" and isinstance(right, Quantity):
            if right.dimension != (2, 1, -2, 0) or right.value < 0:
                raise LookupError(f"a torque cannot be {right.value:g} {right.unit}")
            return right.si
    raise LookupError("a tool stops at a torque: SUCH THAT TORQUE IS EQ 12 IN-LBS")


def _place_of(world: World, statement: Operate) -> tuple[np.ndarray, str]:
    """The frame (4, 4) of the place of work in the world, x outwards, and the part that it belongs to."""
    name = statement.place or statement.part
    if not name:
        raise LookupError("the place of work is missing: AT bolt_head")
    side = named(world, name)
    if side.feature is None:
        up = faces_along(world, side.part, np.array([0.0, 0.0, 1.0]))
        if not up:
            raise LookupError(f"no face of '{side.part}' looks up; name a feature of it as the place of work")
        side = side._replace(feature=up[0])
    assert side.feature is not None
    T = side.feature.T_part_feature
    return (world.pose(side.part) @ T if side.part else T), side.part


def _seat(world: World, driven: str, axis: np.ndarray) -> _Seat:
    """The face below the head of a screw: the screw's uppermost face that looks down, and the next face under it."""
    below = faces_along(world, driven, -axis)
    if not below:
        raise LookupError(f"no face of '{driven}' looks along the axis of the tool")
    T = np.array(world.pose(driven))
    head = T[:3, :3] @ below[-1].origin + T[:3, 3]
    found = []
    for name in world.parts:
        if name == driven:
            continue
        for face in faces_along(world, name, axis):
            U = world.pose(name) @ face.T_part_feature
            gap = float((head - U[:3, 3]) @ axis)
            at = (head - U[:3, 3]) @ U[:3, 1:3]
            outline = face.outline
            inside = outline is None or bool(((outline.min(0) <= at) & (at <= outline.max(0))).all())
            if gap > -1e-6 and inside:
                found.append(_Seat(name, max(gap, 0.0)))
    if not found:
        raise LookupError(f"there is nothing under '{driven}' that it could be driven into")
    return min(found, key=lambda seat: seat.depth)


def _with_tool(world: World, statement: Operate, robot: str, period: float):
    """The steps that take the tool, if it is a part that is not in the hand, and where it goes afterwards."""
    steps: list[Step] = []
    tool = found_part(world, statement.tool)
    if tool == robot or statement.tool in (robot, f"{robot}.{world.robots[robot].tool}"):
        return steps, None
    if tool is None or tool not in world.parts:
        need_part(world, statement.tool)
    assert tool is not None
    held = world.holding(robot)
    if tool in held:
        return steps, None
    if held:
        raise LookupError(f"'{robot}' holds '{held[0]}', not '{tool}'")
    plan = plan_pick(world, robot, tool)
    if not plan.solved or plan.grasp is None:
        raise LookupError(f"'{robot}' cannot take '{tool}': {plan.reason}")
    apart = plan.phases[0].before.robots[robot].width
    steps.append(HandMotion(robot, apart, apart > world.robots[robot].width))
    for phase in plan.phases:
        if phase.trajectory is None:
            steps += [HandMotion(robot, plan.grasp.width, False), TakePart(robot, tool, plan.grasp.width)]
        else:
            steps += [TaskPhase(f"{phase.name}: '{tool}'"), sampled(robot, phase.trajectory, period)]
    return steps, (tool, [world.pose(tool)])


def _tip(world: World, statement: Operate, robot: str) -> np.ndarray:
    """The frame (4, 4) of the tool's tip in the robot's tool frame, x out of the tip."""
    known = world.robots[robot]
    tool = found_part(world, statement.tool)
    if tool is None or tool == robot or tool not in world.parts:
        T = np.eye(4) if known.gripper is None else np.asarray(known.gripper.T_tool_grip)
        return feature_frame(T[:3, 3], T[:3, 2], T[:3, 1])
    features = features_of(world.parts[tool])
    tips = [f for name, f in features.items() if name.split(".")[-1] in ("tip", "bit")]
    tips += [f for f in features.values() if f.kind == "shaft"]
    if not tips:
        raise LookupError(f"the tool '{tool}' has neither a feature 'tip' nor a shaft")
    return world.pose(tool, f"{robot}.{known.tool}") @ tips[0].T_part_feature


def _driven(
    world: World, statement: Operate, robot: str, driven: str, seat: _Seat, axis: np.ndarray, torque: float,
    period: float,
) -> list[Step]:  # fmt: skip
    """The spindle turns: the screw goes in by its pitch with each turn, is seated, and then its torque rises."""
    speed = SCREW_SPEED if statement.speed is None else _constant(statement.speed)
    angle = 2 * np.pi * seat.depth / SCREW_PITCH
    tight = torque / SCREW_STIFFNESS
    q, v = _sinking(world, robot, seat.depth * -axis, angle / speed, tight / speed, period)
    T = np.array(world.pose(driven))
    T[:3, 3] -= seat.depth * axis
    turn = se3.exp([*(-(angle + tight) * axis), 0, 0, 0])[:3, :3]
    T[:3, :3] = turn @ T[:3, :3]
    words = f"'{driven}' is fastened to '{seat.onto}': {(angle + tight) / (2 * np.pi):.2f} turns, {torque:.4g} N m"
    return [
        CarryPart(robot, driven),
        TaskPhase(f"'{statement.tool}' drives '{driven}' in"),
        ArmMotion(robot, q, v),
        FastenPart(driven, seat.onto, T, statement.attachment or "rigid", words),
    ]


def _constant(value: Expression) -> float:
    if not isinstance(value, Quantity) or not value.si > 0:
        raise LookupError("the speed of a tool is a constant above 0, such as 60 RPM")
    return value.si


def _sinking(world: World, robot: str, way: np.ndarray, sinking: float, tightening: float, period: float):
    """Configurations and velocities at every tick: the tool follows the screw at an even speed, then rests."""
    q0 = world.robots[robot].q
    path = straight_path(world, robot, q0, way)
    if path is None:
        raise LookupError(f"'{robot}' cannot follow the screw: the way down is out of reach")
    total = sinking + tightening
    ticks = max(1, int(np.ceil(total / period - 1e-9)))
    if ticks > 1_000_000:
        raise LookupError("the tool would turn for more than a million ticks; a higher SPEED helps")
    t = np.minimum(period * np.arange(1, ticks + 1), total)
    s = np.minimum(t / sinking, 1.0) if sinking > 0 else np.ones(ticks)
    grid = np.linspace(0, 1, len(path))
    q = np.stack([np.interp(s, grid, column) for column in path.T], axis=1)
    v = np.diff(np.concatenate([q0[None], q]), axis=0) / period
    v[-1] = 0.0
    return q, v
