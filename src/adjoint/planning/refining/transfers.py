"""The steps of a transfer: a part is picked and put down by one grasp, or put down from the hand, and why not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...program.running.backends import ArmMotion
from ...program.tasks import placing
from ...program.tasks.task_edits import Step, TaskPhase
from ...program.tasks.tool_motions import first_contact
from ...world import PickAndPlace, Relation, World, plan_motion, plan_pick, plan_pick_and_place
from .free_places import free_places

__all__: list[str] = []

PERIOD = 0.01  # [s] between the ticks of motions
_PRESS = 2.0  # [N] with which a part is pressed on what it is put on, as in Place
_LANDING = 0.8  # [s] that a compliant motion lasts at least: force control goes down at 10 mm/s, and has 5 mm to go


@dataclass(frozen=True, eq=False)
class Transfer:
    """The steps of the pick and of the placement of a part; or the reasons why there are none.

    `reasons` {words: how often}, such as "blocked by 'b' at pick", are those of all grasps and places that were tried.
    """

    pick: tuple[Step, ...] = ()
    place: tuple[Step, ...] = ()
    plan: PickAndPlace | None = None
    reason: str = ""
    reasons: dict[str, int] = dataclasses.field(default_factory=dict)


def picked(world: World, robot: str, part: str) -> Transfer:
    """A pick alone: what comes later is not known."""
    plan = plan_pick(world, robot, part)
    if not plan.solved:
        return Transfer(reason=plan.reason, reasons=_reasons(plan))
    # The phases of a pick have no goal; any pose does.
    steps = placing.transfer_steps(world, dataclasses.replace(plan, T_goal=np.eye(4)), PERIOD, _PRESS, False)
    return Transfer(pick=tuple(steps), plan=plan)


def transferred(world: World, robot: str, part: str, onto: str, relations: Sequence[Relation] = ()) -> Transfer:
    """A pick and the placement that follows it, by one grasp that is good for both (Sec. 10.9.3)."""
    try:
        places = free_places(world, robot, part, onto, relations)
    except LookupError as error:
        return Transfer(reason=str(error), reasons={f"{error} at place": 1})
    reason, reasons = "", {}
    for T in places:
        plan = plan_pick_and_place(world, robot, part, T)
        if plan.solved:
            steps = _landed(placing.transfer_steps(world, plan, PERIOD, _PRESS, False))
            cut = steps.index(TaskPhase(f"free motion with '{part}'"))
            return Transfer(steps[:cut], steps[cut:], plan)
        found = _reasons(plan)
        reason = reason or plan.reason
        reasons = {why: reasons.get(why, 0) + found.get(why, 0) for why in {**reasons, **found}}
        if not any(why.endswith(" at place") or "transfer" in why for why in found):
            break  # it cannot be picked: no other place helps
    return Transfer(reason=reason, reasons=reasons)


def put(world: World, robot: str, part: str, onto: str, relations: Sequence[Relation] = ()) -> Transfer:
    """The placement of a part that is in the hand already."""
    try:
        places = free_places(world, robot, part, onto, relations)
    except LookupError as error:
        return Transfer(reason=str(error), reasons={f"{error} at place": 1})
    reasons: dict[str, int] = {}
    for T in places:
        try:
            steps = placing.held_steps(world, robot, part, [T], PERIOD, _PRESS, False)
        except LookupError as error:
            reasons[f"{error.args[0]} at place"] = 1
            continue
        if not (met := first_contact(world, steps)):
            return Transfer(place=_landed(steps))
        reasons[f"blocked by '{met}' at place"] = reasons.get(f"blocked by '{met}' at place", 0) + 1
    return Transfer(reason=next(iter(reasons)), reasons=reasons)


def _landed(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with time enough for compliant motions: a part that is let go above its goal would fall on it."""
    return tuple(
        _longer(step) if isinstance(step, ArmMotion) and step.compliance is not None else step for step in steps
    )


def _longer(motion: ArmMotion) -> ArmMotion:
    waits = max(0, round(_LANDING / PERIOD) - len(motion.q))
    q = np.concatenate([motion.q, np.repeat(motion.q[-1:], waits, axis=0)])
    v = np.concatenate([motion.v, np.zeros((waits, motion.v.shape[1]))])
    return dataclasses.replace(motion, q=q, v=v)


def _reasons(plan: PickAndPlace) -> dict[str, int]:
    """{reason: how often} of all grasps that were pruned or tried, and of the goal."""
    found = {} if plan.grasps is None else dict(plan.grasps.counts)
    for _, reason in plan.tried:
        found[reason] = found.get(reason, 0) + 1
    return found or {f"{plan.reason} at place": 1}


def start_fault(world: World, robot: str) -> str:
    """Why no motion of a robot can begin where it stands, or "": plans keep a distance from links and hands."""
    reason = plan_motion(world, robot, None, world.robots[robot].q).reason
    return reason if reason.startswith("start: ") else ""
