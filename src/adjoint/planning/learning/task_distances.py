"""`task_distance`: how unlike two tasks are if the objects of one may be renamed to those of the other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import ArgumentError
from ..limits import check_limits
from ..monitoring.literals import literals
from ..strips.task_types import Fact, Problem

__all__ = ["TaskDistance", "task_distance"]

_GOAL = 2 / 3  # the weight of goals; the initial states have the rest
_DEEPEST = 400  # objects that are renamed by search


class TaskDistance(NamedTuple):
    """The distance of two tasks, from 0 (the same facts up to names) to 1, and the renaming that it belongs to."""

    distance: float
    renaming: dict[str, str]
    """{object of the first task: object of the second}"""
    exact: bool
    """whether all renamings were compared; else the distance is an upper bound"""


def task_distance(
    first: Problem, second: Problem, *, budget: int = 1_000_000, max_seconds: float = 10.0
) -> TaskDistance:
    """The semantic distance of two tasks: the least share of facts that differ, over all renamings of objects.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Condition
        >>> from dataclasses import replace
        >>> blocks = book_task("blocks")
        >>> other = replace(blocks, goal=Condition((("on", "c", "b"), ("on", "a", "c"))))
        >>> round(task_distance(blocks, other).distance, 4), task_distance(blocks, blocks).distance
        (0.1667, 0.0)

    With a renaming r, goals G and initial states I,

        d = min over r of  2/3 J(r(G1), G2) + 1/3 J(r(I1), I2),     J(A, B) = 1 - |A ∩ B| / |A ∪ B|.

    A renaming maps objects to objects of the same type, no two to one; constants of domains keep their names. J is
    Jaccard's distance, so d is symmetric, obeys the triangle inequality, and is 0 only if goals and initial states are
    the same up to names. Operators, and objects of which no fact speaks, do not count. The book asks for such a measure
    and gives no formula. The search ends after `budget` looks at facts, or `max_seconds`, with an upper bound.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.7 (PULP-I).
    """
    for task in (first, second):
        if not isinstance(task, Problem):
            raise ArgumentError(f"task_distance: two Problems are needed, got {type(task).__name__}")
    check_limits("task_distance", budget=budget, max_seconds=max_seconds)
    search = _Search(_Facts(first, second), budget, time.monotonic() + max_seconds)
    search.extend({}, 0)
    return TaskDistance(max(search.best, 0.0), search.renaming, search.left > 0)


class _Facts:
    """The facts of two tasks, and what they have in common under a renaming."""

    def __init__(self, first: Problem, second: Problem):
        self.kinds, self.targets = dict(first.objects), dict(second.objects)
        self.parts = []  # (weight, facts of the first task, facts of the second)
        for weight, a, b in (
            (_GOAL, literals(first.goal), literals(second.goal)),
            (1 - _GOAL, first.initial, second.initial),
        ):
            self.parts.append((weight, sorted(set(a)), frozenset(b)))
        self.count = sum(len(facts) for _, facts, _ in self.parts) + 1
        uses = Counter(x for fact in first.initial for x in set(fact[1:]))
        for fact in literals(first.goal):
            uses.update(dict.fromkeys(fact[1:], self.count))
        self.order = sorted(self.kinds, key=lambda name: -uses[name])  # objects of goals and of many facts come first

    def least(self, renaming: Mapping[str, str | None]) -> float:
        """The least distance of all renamings that extend this one; the distance itself if it has all objects."""
        total = 0.0
        for weight, facts, others in self.parts:
            same, open_ = 0, Counter()
            for fact in facts:
                if any(x in self.kinds and x not in renaming for x in fact[1:]):
                    open_[fact[: 1 + (fact[0] == "not")]] += 1
                elif self.renamed(fact, renaming) in others:
                    same += 1
            there = Counter(fact[: 1 + (fact[0] == "not")] for fact in others)
            same = min(same + sum(min(n, there[key]) for key, n in open_.items()), len(others))
            union = len(facts) + len(others) - same
            total += weight * (1 - same / union) if union else 0.0
        return total

    def renamed(self, fact: Fact, renaming: Mapping[str, str | None]) -> tuple:
        """The fact with other names; an object that the second task has no counterpart for becomes None."""
        return (fact[0], *(renaming.get(x, x) if x in self.kinds else x for x in fact[1:]))


@dataclass
class _Search:
    """Branch and bound over renamings, object by object."""

    facts: _Facts
    left: float
    until: float
    best: float = 2.0
    renaming: dict[str, str] = field(default_factory=dict)

    def extend(self, renaming: dict[str, str | None], at: int) -> None:
        """Tries all objects for the object at this place of the order, the most promising first."""
        if at >= _DEEPEST or time.monotonic() > self.until:
            self.left = 0
        if at == len(self.facts.order) or self.left <= 0:
            self._note(renaming, at)
            return
        name = self.facts.order[at]
        options = []
        for k, other in enumerate(self._able(name, renaming, at)):
            options.append((self.facts.least({**renaming, name: other}), other != name, k, other))
            self.left -= self.facts.count
        for bound, _, _, other in sorted(options, key=lambda option: option[:3]):
            if bound >= self.best - 1e-12 or (self.left <= 0 and self.best <= 1):
                return
            self.extend({**renaming, name: other}, at + 1)

    def _note(self, renaming: dict[str, str | None], at: int) -> None:
        """Compares a renaming with the best one; objects that it lacks get the first that are free."""
        full = dict(renaming)
        for k in range(at, len(self.facts.order)):
            name = self.facts.order[k]
            free = list(self._able(name, full, k))
            full[name] = name if name in free else free[0]
        distance = self.facts.least(full)
        if distance < self.best - 1e-12:
            self.best, self.renaming = distance, {a: b for a, b in full.items() if b is not None}

    def _able(self, name: str, renaming: Mapping[str, str | None], at: int) -> Iterator[str | None]:
        """Objects of the same type that are free; none at all only if there are fewer of them than are needed."""
        kind, taken = self.facts.kinds[name], set(renaming.values())
        free = [other for other, k in self.facts.targets.items() if k == kind and other not in taken]
        yield from free
        if sum(self.facts.kinds[x] == kind for x in self.facts.order[at:]) > len(free):
            yield None
