"""All goals of a problem together, for one sample: their errors and slopes, weighted and stacked.

Compiled code depends on the `Tasks`; targets, weights and tolerances of all goals are one vector, the `data`, so that
they may differ from sample to sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..lazy import cached_property
from ..model.robot import Robot
from .kinds import KINDS, Task

__all__ = [
    "Rows", "Tasks", "Wishes", "cost_of", "cut", "observed", "rows_of", "seed_cost", "squared_parts", "task_errors",
]  # fmt: skip


class Sizes(NamedTuple):
    """How many numbers a task has: target, weights, tolerances, what it looks at, and small motions of its target."""

    target: int
    weights: int
    tolerances: int
    seen: int
    tangent: int

    @property
    def data(self) -> int:
        """The length of the task's part of the data: its target, its weights, and the inverses of its tolerances."""
        return self.target + self.weights + self.tolerances


@dataclass(frozen=True)
class Tasks:
    """The tasks of a problem, and the sizes of their numbers."""

    tasks: tuple[Task, ...]
    sizes: tuple[Sizes, ...]

    @classmethod
    def of(cls, robot: Robot, tasks: tuple[Task, ...]) -> Tasks:
        """The tasks of a robot."""
        kinds = [KINDS[task.kind] for task in tasks]
        counts = [(k.targets(robot), k.weights(robot), len(k.parts), k.looks(robot), k.tangent(robot)) for k in kinds]
        return cls(tasks, tuple(Sizes(*sizes) for sizes in counts))

    @cached_property
    def _hash(self) -> int:
        return hash((self.tasks, self.sizes))

    def __hash__(self) -> int:  # every call of a kernel asks for it
        return self._hash

    @cached_property
    def fingerprint(self) -> str:
        """A text on which compiled code depends; it is the same in every process."""
        return repr(self)

    @cached_property
    def n_data(self) -> int:
        """The length of the data of one sample."""
        return sum(sizes.data for sizes in self.sizes)

    @cached_property
    def n_seen(self) -> int:
        """How many numbers all tasks look at."""
        return sum(sizes.seen for sizes in self.sizes)

    @cached_property
    def n_tangent(self) -> int:
        """How many numbers a small motion of all targets has."""
        return sum(sizes.tangent for sizes in self.sizes)

    @cached_property
    def as_wishes(self) -> Wishes:
        """The same tasks, as those of objectives."""
        return Wishes(self.tasks, self.sizes)

    def split(self, data) -> list[tuple]:
        """[(task, target, weights, 1 / tolerances)] of the data of one sample."""
        parts = cut(data, [n for sizes in self.sizes for n in sizes[:3]])
        return [(task, *parts[3 * k : 3 * k + 3]) for k, task in enumerate(self.tasks)]


def cut(x, lengths: Sequence[int]) -> list:
    """The parts of x (..., n) along its last axis, of these lengths."""
    ends = np.cumsum([0, *lengths]).tolist()
    return [x[..., a:b] for a, b in pairwise(ends)]


@dataclass(frozen=True)
class Wishes(Tasks):
    """The tasks of objectives, of which a kernel takes data of their own."""

    __hash__ = Tasks.__hash__

    @property
    def n_wishes(self) -> int:
        """The length of the data of one sample."""
        return self.n_data


class Rows(NamedTuple):
    """The weighted errors r (m,) and their slopes J (m, nv), ṙ = -J v; and `over` = max (|e| / tolerance)² of parts."""

    r: np.ndarray
    J: np.ndarray
    over: np.ndarray


def rows_of(robot: Robot, tasks: Tasks, q, data, *, straight: bool = False) -> Rows:
    """The `Rows` of all tasks at q (nq,); with `straight`, rotations are compared by their rotation vectors.

    Steps along those are as large as the angles that are left; the errors 2 sin(angle / 2) suit minimisation better.
    """
    r, J, over = [], [], []
    for task, target, weights, sharpness in tasks.split(data):
        kind = KINDS[task.kind]
        seen, w = kind.seen(robot, q, task), kind.spread(weights)
        if straight and kind.straight is not None:
            e, slope = kind.straight(robot, q, task, seen, target)
        else:
            e, slope = kind.error(robot, seen, target), kind.slope(robot, q, task, seen, target)
        r.append(w * e)
        J.append(w[:, None] * slope)
        over += [size * s * s for size, s in zip(squared_parts(kind, w, e), sharpness, strict=True)]
    return Rows(np.concatenate(r), np.concatenate(J), np.max(np.stack(over)))


def squared_parts(kind, w, e) -> list:
    """|e|² of each part of an error; rows without weight do not count."""
    counted = np.where(w > 0, e, 0.0)
    return [counted[rows] @ counted[rows] for rows in kind.parts]


@kernel(robot=static, tasks=static, q="nq", data="n_data")
def task_errors(robot: Robot, tasks: Tasks, q, data) -> np.ndarray:
    """The error |e| of each task at q (nq,), that of its worst part: (number of tasks,)."""
    found = []
    for task, target, weights, _ in tasks.split(data):
        kind = KINDS[task.kind]
        e = kind.error(robot, kind.seen(robot, q, task), target)
        found.append(np.sqrt(np.max(np.stack(squared_parts(kind, kind.spread(weights), e)))))
    return np.stack(found)


@kernel(robot=static, tasks=static, q="nq")
def observed(robot: Robot, tasks: Tasks, q) -> np.ndarray:
    """All numbers that the tasks look at, at q (nq,)."""
    return np.concatenate([KINDS[task.kind].seen(robot, q, task) for task in tasks.tasks])


def seed_cost(robot: Robot, tasks: Tasks, seen: list, data):
    """|r|² of a configuration at which the tasks see `seen`, one array for each task."""
    return sum(
        KINDS[task.kind].cost(robot, own, target, weights)
        for own, (task, target, weights, _) in zip(seen, tasks.split(data), strict=True)
    )


def cost_of(robot: Robot, tasks: Tasks, q, data):
    """|r|² at q (nq,)."""
    return seed_cost(robot, tasks, [KINDS[task.kind].seen(robot, q, task) for task in tasks.tasks], data)
