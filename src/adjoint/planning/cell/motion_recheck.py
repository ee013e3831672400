"""`recheck`: a second look at all motions of a task, tick by tick, among the parts as they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...program.running.motion_contacts import motion_contacts
from ...program.running.program_runs import ProgramRun
from ...world.state import World
from ..refining import TaskRun

__all__ = ["CellContact", "recheck"]

_TOUCH = 2e-3  # [m] what the arm, its hand and its part may be inside of others: they touch what they put down


class CellContact(NamedTuple):
    """A collision: of the link, hand or held part `a` with `b`, `depth` [m] deep, in a numbered action."""

    step: int
    a: str
    b: str
    depth: float


def recheck(
    run: TaskRun, befores: Sequence[World], robot: str, *, tolerance: float = _TOUCH
) -> tuple[CellContact, ...]:
    """Check all motions of a task again, by convex hulls at every tick, with parts where they really were.

    `befores` are the worlds as they were before each action. What a robot touches more deeply than `tolerance` [m] is a
    contact; a robot that touches itself before anything moves is modelled like that.
    """
    found: list[CellContact] = []
    own = _own_contacts(run.plans[0].world, robot)
    for step, (done, before) in enumerate(zip(run.runs, befores, strict=False)):
        for world, q in _pieces(done, before, done.world if done.actual is None else done.actual, robot):
            met = motion_contacts(world, robot, q, tolerance, False, own)
            found += [CellContact(step, m.contact.a, m.contact.b, float(-m.contact.distance)) for m in met]
    return tuple(found)


def _own_contacts(world: World, robot: str) -> frozenset[frozenset[str]]:
    met = motion_contacts(world, robot, world.robots[robot].q[None], _TOUCH, False, frozenset())
    return frozenset(frozenset((m.contact.a, m.contact.b)) for m in met if m.own)


def _pieces(run: ProgramRun, before: World, after: World, robot: str):
    """Worlds as they were and configurations (N, n): one for each time in which the hand held the same."""
    first = run.worlds[0][0]
    bounds = [tick - first for tick, _ in run.worlds] + [len(run)]
    taken = False
    for (_, believed), a, b in zip(run.worlds, bounds[:-1], bounds[1:], strict=True):
        held = set(believed.holding(robot))
        taken |= bool(held)
        true = before if held or not taken else after
        frames = {name: placed for name, placed in true.frames.items() if name not in held and name in believed.parts}
        world = believed.changed(frames=believed.frames | frames)
        if b > a:
            yield world.set_gripper(robot, float(run.width[robot][a:b].max())), run.q[robot][a:b]
