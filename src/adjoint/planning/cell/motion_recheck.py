"""`recheck`: a second look at all motions of a task, tick by tick, among the parts as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...program.running.motion_contacts import motion_contacts
from ...program.running.program_runs import ProgramRun
from ...world.state import World
from ..refining import TaskRun

__all__ = ["CellContact", "recheck"]

_FINGER = "finger"  # as contacts call it
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
    """Check all motions of a task again, by convex hulls at every tick, with parts and hands as they really were.

    `befores` are the worlds as they were before each action. What a robot touches more deeply than `tolerance` [m] is a
    contact; a robot that touches itself before anything moves is modelled like that, and fingers that close on the part
    that they take may push it.
    """
    deepest: dict[tuple[int, str, str], float] = {}
    own = _own_contacts(run.plans[0].world, robot)
    for step, (done, action, before) in enumerate(zip(run.runs, run.actions, befores, strict=False)):
        pushed = frozenset(frozenset((_FINGER, name)) for name in action.arguments[1:2])
        for world, q in _pieces(done, before, done.world if done.actual is None else done.actual, robot):
            ignored = own if len(q) > 1 else own | pushed  # a hand that opens or closes is as wide for one tick only
            for met in motion_contacts(world, robot, q, tolerance, False, ignored):
                key = step, met.contact.a, met.contact.b
                deepest[key] = max(deepest.get(key, 0.0), float(-met.contact.distance))
    return tuple(CellContact(*key, depth) for key, depth in deepest.items())


def _own_contacts(world: World, robot: str) -> frozenset[frozenset[str]]:
    met = motion_contacts(world, robot, world.robots[robot].q[None], _TOUCH, False, frozenset())
    return frozenset(frozenset((m.contact.a, m.contact.b)) for m in met if m.own)


def _pieces(run: ProgramRun, before: World, after: World, robot: str) -> Iterator[tuple[World, np.ndarray]]:
    """Worlds as they were and configurations (N, n): one for each time in which the hand was as wide and held the same.

    What the hand holds is in it as it really is, as far as one of the worlds at both ends tells.
    """
    first = run.worlds[0][0]
    bounds = [tick - first for tick, _ in run.worlds] + [len(run)]
    taken = False
    for (_, believed), a, b in zip(run.worlds, bounds[:-1], bounds[1:], strict=True):
        held = [name for name in believed.holding(robot) if name in before.parts]
        taken |= bool(held)
        world = before if held or not taken else after
        holders = {name: next(x for x in (after, before, believed) if name in x.holding(robot)) for name in held}
        world = world.changed(frames=world.frames | {name: x.frames[name] for name, x in holders.items()})
        for k, m in pairwise(_steady(run.width[robot][a:b])):
            yield world.set_gripper(robot, float(run.width[robot][a + k])), run.q[robot][a + k : a + m]


def _steady(width: np.ndarray) -> list[int]:
    """The ends of the times in which a hand is as wide, 0 and the number of all ticks included."""
    return [0, *(np.flatnonzero(np.diff(width)) + 1).tolist(), len(width)] if len(width) else []
