"""A robot steps aside, so that a camera sees what it hides; or backs off what stands too near to its hand."""

from __future__ import annotations

from collections.abc import Collection

from ...program.tasks.tool_motions import first_contact, limits_of, sampled, straight
from ...world import World, plan_motion
from ...world.predicates.contact_gaps import up_of
from ..strips.task_types import Action
from .refinements import Refinement
from .transfers import PERIOD, start_fault

__all__: list[str] = []

WITHDRAW, BACK_OFF = "withdraw", "back-off"  # the names of the actions
_NEAR = 0.02  # [rad, m] a robot that is so near to where it goes is there
_CLEAR = 0.03  # [m] between the tips of the fingers and what stood between them


def withdrawal(world: World, start: World, unseen: Collection[str]) -> Refinement | None:
    """The motion that brings the first robot that has left its place in `start` back to it; None if there is none.

    Parts that nobody sees are not where they are believed, so nothing need go round them.
    """
    without = world
    for part in unseen:
        without = without.remove(part)
    for name, known in world.robots.items():
        home = start.robots[name].q
        if abs(known.q - home).max() < _NEAR:
            continue
        limits = limits_of(world, name)
        way = plan_motion(without, name, None, home, velocity=limits.velocity, acceleration=limits.acceleration)
        if way.solved and way.trajectory is not None:
            action = Action(WITHDRAW, (name,))
            return Refinement(
                action, world, world.set_configuration(name, home), (sampled(name, way.trajectory, PERIOD),)
            )
    return None


def backing_off(world: World, robots: Collection[str]) -> Refinement | None:
    """The straight motion of a hand out of where no plan could begin: back along its fingers, or up with what it holds.

    Plans keep a distance from links. A part that came between open fingers may be nearer, and touch nothing.
    """
    for name in robots:
        known = world.robots[name]
        if known.gripper is None or not start_fault(world, name):
            continue
        fingers = (world.pose(f"{name}.{known.tool}") @ known.gripper.T_tool_grip)[:3, 2]
        off = up_of(world) if world.holding(name) else -fingers
        way = straight(world, name, known.q, (known.gripper.depth + _CLEAR) * off)
        if way is None:
            continue
        motion = sampled(name, way, PERIOD)
        after = world.set_configuration(name, motion.q[-1])
        if not first_contact(world, [motion]) and not start_fault(after, name):
            return Refinement(Action(BACK_OFF, (name,)), world, after, (motion,))
    return None
