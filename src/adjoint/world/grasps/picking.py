"""`plan_pick` and `plan_pick_and_place`: a robot takes a part, and puts it down where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...collision.collision_models import CollisionModel
from ...errors import ArgumentError
from ...model.input_checks import count, positive
from ...randomness import Rng, generator
from ...sensing.scene.scene_checks import number
from ...trajectory import Trajectory
from ..motion.plan_timing import Limits
from ..motion.planning import plan_motion
from ..motion.spaces import configuration_space
from ..predicates.contact_gaps import up_of
from ..relations.conflicts import ContradictionError
from ..state import World
from ..state.placements import inverted
from .candidates import open_widths
from .grasp_results import Grasp, Grasps
from .grasp_search import HAND, Site, goal_blocked, searched, site_of
from .pick_plans import PickAndPlace, PickPhase
from .place_goals import falling, goal_poses, put_down
from .straight_moves import checked, straight_from, timed

__all__ = ["plan_pick", "plan_pick_and_place"]


class _Task(NamedTuple):
    """What all steps of a plan share."""

    site: Site
    limits: Limits
    approach: float
    lift: float
    slow: float
    grip_time: float
    tries: int
    plan: dict[str, Any]  # options of `plan_motion`
    rng: np.random.Generator
    caller: str


def plan_pick(
    world: World, robot: str, part: str, *, approach: float | None = None, lift: float = 0.06, slow: float = 0.3,
    grip_time: float = 0.5, tries: int = 10, velocity=None, acceleration=None, error: float = 0.002,
    rank_weights=(1.0, 1.0, 1.0), friction: float = 0.5, approaches: int = 8, positions: int = 3, samples: int = 24,
    spread: float = 0.01, rng: Rng = 0, **planning,
) -> PickAndPlace:  # fmt: skip
    """Plan how a robot of a world takes a part and lifts it: the first four phases of `plan_pick_and_place`.

    The arguments are those of `plan_pick_and_place`, without a goal.
    """
    options = {"friction": friction, "approaches": approaches, "positions": positions, "samples": samples}
    task = _task("plan_pick", world, robot, part, approach, lift, slow, grip_time, tries, velocity, acceleration,
                 spread, rng, planning)  # fmt: skip
    grasps = searched(task.site, None, error, rank_weights, options, task.rng, task.caller)
    return _first(task, grasps, None, [])


def plan_pick_and_place(
    world: World, robot: str, part: str, goal, *, may_fall: bool = False, approach: float | None = None,
    lift: float = 0.06, slow: float = 0.3, grip_time: float = 0.5, tries: int = 10, velocity=None, acceleration=None,
    error: float = 0.002,
    rank_weights=(1.0, 1.0, 1.0), friction: float = 0.5, approaches: int = 8, positions: int = 3, samples: int = 24,
    spread: float = 0.01, wanted: Callable[[Grasp], bool] | None = None, rng: Rng = 0, **planning,
) -> PickAndPlace:  # fmt: skip
    """Plan how a robot of a world takes a part and puts it down at a goal: a `PickAndPlace`, or the reason why not.

        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.3])
        >>> w = w.add("block", cuboid(0.04, 0.04, 0.06), at=[0.5, 0.2, -0.245])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.12]))
        >>> plan = plan_pick_and_place(w, "arm", "block", [0.5, -0.2, -0.245])
        >>> [phase.name for phase in plan.phases]
        ['move', 'approach', 'close', 'depart', 'transfer', 'approach place', 'open', 'depart place']
        >>> np.round(plan.end.pose("block")[:3, 3], 9)
        array([ 0.5  , -0.2  , -0.245])

    The goal is one of these:

    - a pose (4, 4) or position (3,) of the part in the world, or several (k, 4, 4) of which any will do;
    - relations of the part, as `placements` takes them: all families are tried, and some placements of families that
      leave freedoms;
    - a name, "table" or "table.top": the part is put on this face, with the face on which it lies now.

    A part that gravity would not hold at its goal is not put there, unless it `may_fall`: then it is on its own there.
    Else it ends with a conditional attachment to what carries it.

    One grasp is chosen for the pick and the place together, by `find_grasps`, which explains `error`, `rank_weights`,
    `friction`, `approaches`, `positions`, `samples` and `spread`; `wanted(grasp)` may refuse some of them. The best
    `tries` grasps are planned one after the other, until one succeeds:

    - "move": free motion to the pre-grasp, `approach` [m] before the grasp (the fingers' depth and 3 cm by default);
      the fingers open by the `spread` wider than the part;
    - "approach": straight along the z axis of the grip frame; "close": the fingers close, in `grip_time` [s];
    - "depart": straight up by `lift` [m], or back along the z axis where there is no room above;
    - "transfer": free motion with the part in the hand, which the collision model carries;
    - "approach place": straight down, or forward; "open": the part lies on what carries it there;
    - "depart place": straight back along the z axis of the grip frame.

    Straight motions are checked every 5 mm: the arm by its collision model, the hand and the part as convex solids,
    which may touch but not overlap. Free motions are those of `plan_motion`, to which `planning` options go (margin,
    resolution, iterations, ...); there hand and part are covered by capsules that are a few mm larger, so free motions
    begin and end away from neighbours. Straight motions have the part `slow` of the limits `velocity` and
    `acceleration`, which are as in `plan_motion`. The same `rng` gives the same plan. Reference: Fu, Gonzalez & Lee
    (1987), Secs. 10.9.2, 10.9.3.
    """
    options = {"friction": friction, "approaches": approaches, "positions": positions, "samples": samples}
    task = _task("plan_pick_and_place", world, robot, part, approach, lift, slow, grip_time, tries, velocity,
                 acceleration, spread, rng, planning)  # fmt: skip
    try:
        goals = goal_poses(world, part, goal, task.rng, task.caller)
    except ContradictionError as error_:
        return _failed(task, f"goal: {error_}")
    by = goal_blocked(task.site, goals)
    if (by != "").all():
        return _failed(task, f"goal: '{part}' would be inside '{by[0]}'")
    tried: list[tuple[Grasp, str]] = []
    result, fault = None, ""
    for T in [T for T, name in zip(goals, by, strict=True) if not name]:
        if not may_fall and (why := falling(world, part, T)):
            fault = fault or why
            continue
        grasps = searched(task.site, T, error, rank_weights, options, task.rng, task.caller)
        grasps = grasps if wanted is None else grasps.kept(wanted, "not wanted")
        result = _first(task, grasps, T, tried)
        if result.solved:
            return result
    return _failed(task, f"goal: '{part}' would fall: {fault}") if result is None else result


def _task(
    caller, world, robot, part, approach, lift, slow, grip_time, tries, velocity, acceleration, spread, rng, planning
) -> _Task:
    site = site_of(world, robot, part, spread, caller)
    arm = site.known.robot
    if not configuration_space(arm).plain:
        raise ArgumentError(
            f"{caller}: robot '{robot}' has joints with several degrees of freedom; plain ones are needed"
        )
    own = np.where(np.isfinite(arm.velocity_limit) & (arm.velocity_limit > 0), arm.velocity_limit, 1.0)
    v = np.broadcast_to(own if velocity is None else np.asarray(velocity, float), own.shape)
    a = np.broadcast_to(4 * v if acceleration is None else np.asarray(acceleration, float), own.shape)
    before = site.gripper.depth + 0.03 if approach is None else positive(approach, f"{caller}: approach")
    part_of = number(slow, "slow", caller, least=0, most=1, above=True)
    if taken := {"rng", "timing", "tool", "roadmap", "keep"} & set(planning):
        raise ArgumentError(f"{caller}: option '{min(taken)}' of plan_motion cannot be given here")
    return _Task(
        site, Limits(v, a, None), before, positive(lift, f"{caller}: lift"), part_of,
        positive(grip_time, f"{caller}: grip_time", or_zero=True), count(tries, f"{caller}: tries"),
        {"velocity": v, "acceleration": a} | planning, generator(rng, caller), caller,
    )  # fmt: skip


def _failed(task: _Task, reason: str, grasps: Grasps | None = None, T_goal=None, tried=()) -> PickAndPlace:
    site = task.site
    return PickAndPlace(False, reason, site.robot, site.part, None, grasps, T_goal, (), site.world, tuple(tried))


def _first(task: _Task, grasps: Grasps, T_goal: np.ndarray | None, tried: list[tuple[Grasp, str]]) -> PickAndPlace:
    """The plan of the first grasp that has one."""
    if not len(grasps):
        return _failed(task, grasps.reason, grasps, T_goal, tried)
    site, before = task.site, len(tried)
    for k in range(min(len(grasps), task.tries)):
        grasp = grasps[k]
        phases, reason = _planned(task, grasp, *grasps.configurations(k), T_goal)
        if not reason:
            return PickAndPlace(
                True, "", site.robot, site.part, grasp, grasps, T_goal, tuple(phases), site.world, tuple(tried)
            )
        tried.append((grasp, reason))
    new = [reason for _, reason in tried[before:]]
    most = max(dict.fromkeys(new), key=new.count)
    return _failed(
        task, f"{len(new)} of {len(grasps)} grasps were tried; most ({new.count(most)}) failed: {most}", grasps, T_goal,
        tried,
    )  # fmt: skip


# --- one grasp --------------------------------------------------------------------------------------------------------


class _Ends(NamedTuple):
    """Straight motions at one place: `empty` from the grasp back, `full` from the grasp up or back, with the part."""

    q: np.ndarray
    empty: np.ndarray  # (m, k, nq)
    full: np.ndarray  # (m, l, nq)


def _planned(
    task: _Task, grasp: Grasp, q_pick: np.ndarray, q_place: np.ndarray, T_goal: np.ndarray | None
) -> tuple[list[PickPhase], str]:
    """The phases with one grasp, or the reason why there are none."""
    site = task.site
    apart = float(open_widths(site.gripper, np.array(grasp.width), site.spread))
    pick, reason = _ends(task, grasp, q_pick, site.T_world_part, apart)
    if pick is None:
        return [], f"{reason} at pick"
    place = None
    if T_goal is not None:
        place, reason = _ends(task, grasp, q_place, T_goal, apart)
        if place is None:
            return [], f"{reason} at place"
    start = site.world.set_gripper(site.robot, apart)
    phases: list[PickPhase] = []
    # 1, 2: to the part.
    move = plan_motion(start, site.robot, None, pick.empty[:, -1], rng=task.rng, **task.plan)
    if not move.solved or move.trajectory is None:
        return [], f"no motion to the pick ({move.reason})"
    k = _nearest(pick.empty[:, -1], move.path[-1])
    _add(task, phases, "move", move.trajectory, start)
    _add(task, phases, "approach", timed(_shifted(pick.empty[k, ::-1], move.path[-1]), task.limits, task.slow), None)
    # 3, 4: the part is in the hand.
    q_now = phases[-1].after.robots[site.robot].q
    held = phases[-1].after.grasp(site.robot, site.part, width=grasp.width)
    phases.append(PickPhase("close", None, task.grip_time, phases[-1].after, held))
    _add(task, phases, "depart", timed(_shifted(pick.full[k], q_now, 0), task.limits, task.slow), None)
    if place is None or T_goal is None:
        return phases, ""
    # 5, 6: to the goal.
    goals = place.full[:, -1]
    move = plan_motion(phases[-1].after, site.robot, None, goals, rng=task.rng, **task.plan)
    if not move.solved or move.trajectory is None:
        return [], f"no transfer ({move.reason})"
    k = _nearest(goals, move.path[-1])
    _add(task, phases, "transfer", move.trajectory, None)
    down = _shifted(place.full[k, ::-1], move.path[-1])
    _add(task, phases, "approach place", timed(down, task.limits, task.slow), None)
    # 7, 8: the part is left alone.
    free = put_down(phases[-1].after, site.part, T_goal, apart)
    phases.append(PickPhase("open", None, task.grip_time, phases[-1].after, free))
    q_now = free.robots[site.robot].q
    _add(task, phases, "depart place", timed(_shifted(place.empty[k], q_now, 0), task.limits, task.slow), None)
    return phases, ""


def _ends(
    task: _Task, grasp: Grasp, q: np.ndarray, T_part: np.ndarray, apart: float
) -> tuple[_Ends | None, str]:  # fmt: skip
    """The straight motions at one place for all configurations (m, nq) that have both, or the reason why none has."""
    site, T = task.site, T_part @ grasp.T_part_grip
    back = -task.approach * T[:3, 2]
    empty = straight_from(site, q, T, back)
    empty = checked(site, empty, site.arm_model(T_part), apart, [*site.around, *site.part_at(T_part)])
    good = empty.reason == ""
    if not good.any():
        return None, f"its approach is {empty.reason[0]}"
    model, hold, reason = _holding_model(site, grasp), inverted(grasp.T_part_grip), ""
    for way in (task.lift * up_of(site.world), back):
        full = checked(site, straight_from(site, q[good], T, way), model, grasp.width, site.around, hold)
        fine = full.reason == ""
        if fine.any():
            return _Ends(q[good][fine], empty.q[good][fine], full.q[fine]), ""
        reason = reason or str(full.reason[0])
    return None, f"its departure is {reason}"


def _holding_model(site: Site, grasp: Grasp) -> CollisionModel:
    """The arm with the part in its hand, which it must not hit; hand and part are checked exactly elsewhere."""
    T = np.asarray(site.gripper.T_tool_grip) @ inverted(grasp.T_part_grip)
    held = [(site.known.tool, s.replace(T_world_solid=T @ s.T_world_solid)) for s in site.held]
    names = (*HAND, *(s.name for s in site.held))
    pairs = {(a, s.name) for a in names for s in site.model.obstacles}
    return site.model.with_carried([*site.model.carried, *held], ignore=pairs)


def _nearest(ends: np.ndarray, q: np.ndarray) -> int:
    """The row of `ends` (m, nq) that q is, up to full turns."""
    d = ends - q
    return int(np.argmin(np.abs(np.exp(1j * d) - 1).max(axis=1)))


def _shifted(path: np.ndarray, q: np.ndarray, at: int = 0) -> np.ndarray:
    """The path (k, nq) with full turns added, so that it begins at q."""
    return path + 2 * np.pi * np.rint((q - path[at]) / (2 * np.pi))


def _add(task: _Task, phases: list[PickPhase], name: str, motion: Trajectory, before: World | None) -> None:
    """Append the phase of a motion to the list."""
    world = phases[-1].after if before is None else before
    end = motion(motion.duration).q
    after = world.set_configuration(task.site.robot, end)
    phases.append(PickPhase(name, motion, float(motion.duration), world, after))
