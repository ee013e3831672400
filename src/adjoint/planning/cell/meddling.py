"""`random_goal` and `Meddler`: what someone wants of a cell, and someone who moves blocks while the arm works."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ...errors import ArgumentError
from ...program.running.motion_contacts import motion_contacts
from ...randomness import Rng, generator
from ...world.state import World
from ..limits import check_kind
from .cell_scenes import ROBOT, TABLE, CellScene, free_pose, part_size

__all__ = ["Meddler", "random_goal"]

_TRIES = 200


def random_goal(scene: CellScene, *, rng: Rng) -> str:
    """A tower of two to four blocks of a cell, in a random order, as a goal of PDDL.

    >>> from adjoint.planning.cell import random_cell
    >>> random_goal(random_cell(rng=0, blocks=3), rng=4)
    '(and (on red green) (on green blue))'
    """
    check_kind("random_goal", scene, CellScene, "the first argument")
    rng = generator(rng, "random_goal")
    names = [str(name) for name in rng.permutation(list(scene.blocks))]
    count = int(rng.integers(2, min(4, len(names)) + 1))
    facts = [f"(on {a} {b})" for a, b in pairwise(names[:count])]
    return facts[0] if len(facts) == 1 else f"(and {' '.join(facts)})"


@dataclass
class Meddler:
    """Someone who takes a block, from the hand or from the top of a tower, and puts it elsewhere, before some steps.

        run_cell(scene, goal, disturb=Meddler({2, 5}, rng=0))

    Half of the time the block goes to a free place of the table, else onto another block. `done` {step: sentence} tells
    what happened.
    """

    steps: Collection[int]
    rng: Rng = 0
    done: dict[int, str] = field(default_factory=dict)

    def __post_init__(self):
        given = self.steps if isinstance(self.steps, Collection) and not isinstance(self.steps, str) else ["none"]
        if not all(isinstance(step, int | np.integer) for step in given):
            raise ArgumentError(f"Meddler: 'steps' must be a collection such as {{2, 5}}, got {self.steps!r}")
        self.rng = generator(self.rng, "Meddler")

    def __call__(self, step: int, world: World) -> World:
        if step not in self.steps:
            return world
        assert isinstance(self.rng, np.random.Generator)
        tops = _tops(world)
        if not tops:
            return world
        name = tops[self.rng.integers(len(tops))]
        others = [top for top in tops if top != name and top not in world.holding(ROBOT)]
        carrier = others[self.rng.integers(len(others))] if others and self.rng.random() < 0.5 else TABLE
        moved = _on_table(world, name, self.rng) if carrier == TABLE else _onto(world, name, carrier)
        if moved is None or _in_the_arm(moved, name):
            return world
        where = "out of the hand, " if name in world.holding(ROBOT) else ""
        self.done[step] = f"someone takes {name} {where}and puts it on {carrier}"
        return moved


def _in_the_arm(world: World, name: str) -> bool:
    """Whether a block is where the arm or its hand is."""
    met = motion_contacts(world, ROBOT, world.robots[ROBOT].q[None], 0.0, False, frozenset())
    return any(name in (m.contact.a, m.contact.b) for m in met)


def _tops(world: World) -> list[str]:
    """The blocks on which nothing lies, also that in the hand."""
    below = {placed.parent for placed in world.frames.values()}
    return [name for name in world.parts if name != TABLE and name not in below]


def _on_table(world: World, name: str, rng: np.random.Generator) -> World | None:
    """The world with a block on a free place of the table; None if none was found."""
    pose = free_pose(world, name, part_size(world.parts[name])[2], rng, _TRIES)
    return None if pose is None else _put(world, name, TABLE, pose)


def _onto(world: World, name: str, carrier: str) -> World:
    T = np.array(world.pose(carrier))
    T[2, 3] += (part_size(world.parts[carrier])[2] + part_size(world.parts[name])[2]) / 2
    return _put(world, name, carrier, T)


def _put(world: World, name: str, carrier: str, T: np.ndarray) -> World:
    world = world.release(name) if name in world.holding(ROBOT) else world
    return world.detach(name).move(name, T).attach(name, carrier, "conditional")
