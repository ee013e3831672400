"""`Place`: a part is picked, carried and placed so that relations hold, in the four phases of a transfer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kinematics import forward_kinematics
from ...trajectory import Trajectory
from ...world import Grasp, PickAndPlace, World, plan_pick_and_place
from ...world.grasps.grasp_search import goal_blocked, site_of
from ...world.grasps.place_goals import falling
from ...world.predicates.contact_gaps import up_of
from ...world.state.part_contents import features_of
from ..instructions import Binary, Expression, Place, Quantity, Reading
from ..running.backends import ArmMotion, Compliance, HandMotion
from .feature_names import named, need_part
from .task_edits import PutPart, Step, TakePart, TaskPhase, applied
from .task_goals import MOST, goal_choices, goals_of
from .tool_motions import first_contact, reach, sampled, straight, tool_targets

__all__: list[str] = []

_LIFT = 0.06  # [m] of departures and approaches
_FINISH = 0.005  # [m] before the goal where the compliant motion begins
_PRESS = 2.0  # [N] with which a part is pressed on what it is put on, at most
_NAMES = {
    "move": "free motion to '{part}'",
    "approach": "guarded approach to '{part}'",
    "depart": "guarded departure with '{part}'",
    "transfer": "free motion with '{part}'",
    "depart place": "guarded departure",
}


def place_steps(world: World, statement: Place, robot: str, period: float) -> tuple[Step, ...]:
    """The steps of a `Place`; a `LookupError` says why there are none."""
    part = need_part(world, statement.part)
    goals = goals_of(world, part, goal_choices(world, statement))
    press = _press(statement.constraint, statement.final)
    held = world.holding(robot)
    if part in held:
        return held_steps(world, robot, part, goals, period, press, statement.hold)
    if held:
        raise LookupError(f"'{robot}' holds '{held[0]}' already; it can take nothing else")
    plan = _planned(world, robot, part, goals, statement.grasp)
    return tuple(transfer_steps(world, plan, period, press, statement.hold))


def _planned(world: World, robot: str, part: str, goals: list[np.ndarray], grasp: str) -> PickAndPlace:
    blocked = goal_blocked(site_of(world, robot, part, 0.01, "PLACE"), goals)
    free = [T for T, by in zip(goals, blocked, strict=True) if not by]
    stable = [T for T in free[: 4 * MOST] if not falling(world, part, T)][:MOST]
    wanted = None if not grasp else _holding_by(world, part, grasp)
    plan = plan_pick_and_place(world, robot, part, np.array(stable or free[:1] or goals[:1]), wanted=wanted)
    if not plan.solved:
        by = f", by '{grasp}'" if grasp else ""
        raise LookupError(f"'{robot}' cannot place '{part}'{by}: {plan.reason}")
    return plan


def _holding_by(world: World, part: str, grasp: str) -> Callable[[Grasp], bool]:
    """Whether a grasp holds a part by a feature: a finger on the face, or the fingers' middle at the feature."""
    side = named(world, grasp)
    if side.part != part or side.feature is None:
        raise LookupError(f"'{grasp}' is no feature of '{part}', by which it could be held")
    feature = side.feature

    def wanted(found: Grasp) -> bool:
        if feature.kind == "face" and feature.name in features_of(world.parts[part]):
            return feature.name in found.faces
        T = found.T_part_grip
        along = (T[:3, 3] - feature.origin) @ feature.axis
        off = T[:3, 3] - feature.origin - along * feature.axis
        low = -feature.length if np.isfinite(feature.length) else -0.01
        return bool(np.linalg.norm(off) < 0.01 and low - 1e-9 <= along <= 0.01)

    return wanted


def _press(*conditions: Expression | None) -> float:
    """The force [N] of the compliant motion: half of the least bound that a condition sets, or the default."""
    bounds, todo = [2 * _PRESS], [x for x in conditions if x is not None]
    while todo:
        value = todo.pop()
        if isinstance(value, Binary):
            todo += [value.left, value.right]
            left, right = value.left, value.right
            if isinstance(left, Reading) and left.kind == "force" and isinstance(right, Quantity):
                bounds += [abs(right.si)] if value.operator in ("<", "<=") and right.value else []
    return min(bounds) / 2


def transfer_steps(world: World, plan: PickAndPlace, period: float, press: float, hold: bool) -> list[Step]:
    """The steps of a plan that picks and places a part: free, guarded and compliant motions, hands, and edits."""
    robot, part, grasp = plan.robot, plan.part, plan.grasp
    assert grasp is not None and plan.T_goal is not None  # the plan is solved
    apart = plan.phases[0].before.robots[robot].width
    steps: list[Step] = []
    if abs(apart - world.robots[robot].width) > 1e-9:
        steps.append(HandMotion(robot, apart, apart > world.robots[robot].width))
    for phase in plan.phases:
        if phase.name == "close":
            steps += [HandMotion(robot, grasp.width, False), TakePart(robot, part, grasp.width)]
        elif phase.name == "open":
            if hold:
                break
            steps += [HandMotion(robot, apart, True), PutPart(robot, part, plan.T_goal, apart)]
        elif phase.trajectory is not None and phase.name == "approach place":
            steps += _finish(world, robot, part, phase.trajectory, phase.before, period, press)
        elif phase.trajectory is not None:
            words = _NAMES[phase.name].format(part=part)
            steps += [TaskPhase(words), sampled(robot, phase.trajectory, period)]
    return steps


def _finish(
    world: World, robot: str, part: str, motion: Trajectory, before: World, period: float, press: float
) -> list[Step]:
    """The guarded approach to a goal, and the compliant motion of the last millimetres, which presses the part on."""
    whole = sampled(robot, motion, period)
    known = before.robots[robot].robot
    tool = before.robots[robot].tool
    from_end = np.linalg.norm(_points(known, tool, whole.q) - _points(known, tool, whole.q[-1:]), axis=1)
    cut = int(np.argmax(from_end <= _FINISH))
    down = -up_of(world)
    selected = np.concatenate([np.zeros(3), np.abs(down) > 0.9]).astype(bool)
    force = Compliance(np.eye(3), np.concatenate([np.zeros(3), press * down]), selected)
    steps: list[Step] = []
    if cut:
        steps += [TaskPhase(f"guarded approach with '{part}'"), ArmMotion(robot, whole.q[:cut], whole.v[:cut])]
    last = ArmMotion(robot, whole.q[cut:], whole.v[cut:], force if selected.any() else None)
    return [*steps, TaskPhase(f"compliant motion of '{part}' to its goal"), last]


def _points(robot: Any, tool: str, q: np.ndarray) -> np.ndarray:
    from_base = forward_kinematics(robot, q, tool)
    return from_base[..., :3, 3]


def held_steps(
    world: World, robot: str, part: str, goals: list[np.ndarray], period: float, press: float, hold: bool
) -> tuple[Step, ...]:
    """A part that is in the hand already goes to one of its goals, straight up and down if there is room for that."""
    steps: list[Step] = _rise(world, robot, part, period)
    start = applied(world, steps)
    reason = ""
    for T in [T for T in goals if hold or not falling(start, part, T)][:MOST]:
        target = tool_targets(start, robot, part, T)
        for way in _ways(world, robot, target):
            found = reach(start, robot, target[None], way)
            if found.free is None or found.approach is None:
                reason = reason or found.reason
                continue
            moves: list[Step] = [TaskPhase(f"free motion with '{part}'"), sampled(robot, found.free, period)]
            moves += _finish(world, robot, part, found.approach, applied(start, moves), period, press)
            if met := first_contact(start, moves):
                reason = reason or f"the way to it is blocked by '{met}'"
                continue
            steps += moves
            return tuple(steps) if hold else (*steps, *_let_go(applied(world, steps), robot, part, T, period))
    raise LookupError(f"'{robot}' cannot place '{part}': {reason or 'it would fall from all placements'}")


def _rise(world: World, robot: str, part: str, period: float) -> list[Step]:
    """The straight motion with a part from where it is: the first way that touches nothing, or none."""
    for way in _ways(world, robot, _tool(world, robot)):
        motion = straight(world, robot, world.robots[robot].q, way)
        if motion is not None and not first_contact(world, [sampled(robot, motion, period)]):
            return [TaskPhase(f"guarded departure with '{part}'"), sampled(robot, motion, period)]
    return []


def _tool(world: World, robot: str) -> np.ndarray:
    """The pose (4, 4) of a robot's tool."""
    return np.asarray(world.pose(f"{robot}.{world.robots[robot].tool}"))


def _ways(world: World, robot: str, T_world_tool: np.ndarray) -> list[np.ndarray]:
    """The straight ways (3,) [m] off a place of the tool: up, or back along the fingers if there is no room above."""
    gripper = world.robots[robot].gripper
    up = _LIFT * up_of(world)
    return [up] if gripper is None else [up, -_LIFT * (T_world_tool @ gripper.T_tool_grip)[:3, 2]]


def _let_go(world: World, robot: str, part: str, T: np.ndarray, period: float) -> list[Step]:
    known = world.robots[robot]
    steps: list[Step] = []
    width = known.width
    if known.gripper is not None:
        width = min(known.gripper.opening, width + 0.01)
        steps.append(HandMotion(robot, width, True))
    steps.append(PutPart(robot, part, T, width))
    if known.gripper is not None:
        away = straight(world, robot, known.q, _ways(world, robot, _tool(world, robot))[-1])
        steps += [] if away is None else [TaskPhase("guarded departure"), sampled(robot, away, period)]
    return steps
