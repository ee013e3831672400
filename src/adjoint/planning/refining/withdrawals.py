"""A robot steps aside, so that a camera sees what it hides."""

from __future__ import annotations

from ...program.tasks.tool_motions import limits_of, sampled
from ...world import World, plan_motion
from ..strips.task_types import Action
from .refinements import Refinement
from .transfers import PERIOD

__all__: list[str] = []

WITHDRAW = "withdraw"  # the name of the action
_NEAR = 0.02  # [rad, m] a robot that is so near to where it goes is there


def withdrawal(world: World, start: World) -> Refinement | None:
    """The motion that brings the first robot that has left its place in `start` back to it; None if there is none."""
    for name, known in world.robots.items():
        home = start.robots[name].q
        if abs(known.q - home).max() < _NEAR:
            continue
        limits = limits_of(world, name)
        way = plan_motion(world, name, None, home, velocity=limits.velocity, acceleration=limits.acceleration)
        if way.solved and way.trajectory is not None:
            action = Action(WITHDRAW, (name,))
            return Refinement(
                action, world, world.set_configuration(name, home), (sampled(name, way.trajectory, PERIOD),)
            )
    return None
