"""From what was expected and what is there to the symptoms that `diagnose` understands."""

from __future__ import annotations

from typing import NamedTuple

from ...program.running.program_runs import ProgramRun
from ...world import World
from ..strips.task_types import Action, Fact
from .learned_facts import is_near
from .refinements import PUTS, Refinement

__all__: list[str] = []

_NARROW = 2e-3  # [m] fingers that are so much nearer than a part is wide hold nothing


class Expected(NamedTuple):
    """What should be true after an action: the facts, and the world where it was refined to end."""

    refinement: Refinement
    facts: frozenset[Fact]
    run: ProgramRun


def symptoms_of(expected: Expected | None, seen: frozenset[Fact], world: World, kernel: bool, again: bool) -> list[str]:
    """What is not as it was expected; empty if all is well."""
    if expected is None:
        return []
    found = [*_of_hand(expected, seen), *_of_parts(expected, seen, world), *_of_run(expected)]
    if found:
        found += ["kernel holds"] * kernel + ["retried already"] * again
    return list(dict.fromkeys(found))


def _of_hand(expected: Expected, seen: frozenset[Fact]) -> list[str]:
    action, run = expected.refinement.action, expected.run
    robot, part = action.arguments[:2]
    if action.name != "pick" or ("holding", robot, part) in seen:
        return []
    grasp = expected.refinement.grasp
    missed = "nothing" in run.message or (grasp is not None and run.width[robot][-1] < grasp.width - _NARROW)
    return ["width below expected"] if missed else ["part lost", "during transfer"]


def _of_parts(expected: Expected, seen: frozenset[Fact], world: World) -> list[str]:
    there, lost = expected.refinement.after, {fact for fact in expected.facts - seen if fact[0] == "on"}
    held = {fact[2] for fact in seen | expected.facts if fact[0] == "holding"}
    moved = [x for x in there.parts if x not in held and x in world.parts and not is_near(world.pose(x), there.pose(x))]
    return ["part moved"] if lost or moved else []


def _of_run(expected: Expected) -> list[str]:
    """A run that did not come to its end, but for hands that closed on nothing, was stopped by something."""
    return [] if expected.run.status == "done" or "nothing" in expected.run.message else ["collision felt"]


def symptoms_of_geometry(failed: Refinement, seen: frozenset[Fact]) -> list[str]:
    """The symptoms of an action that has no motions where things are now."""
    action: Action = failed.action
    if action.name in PUTS and any(fact[0] == "on" and fact[2] == action.arguments[2] for fact in seen):
        return ["goal blocked"]
    return ["collision predicted" if any(x.fact[0] == "obstructs" for x in failed.learned) else "pose unreachable"]
