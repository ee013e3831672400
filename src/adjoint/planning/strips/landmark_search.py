"""Greedy search by landmarks, with relaxed plans where landmarks alone do not lead on: plans fast, not the best ones.

The state with the fewest landmarks to come is expanded first. If that makes no progress for a while, relaxed plans of
the expanded states order a second queue of their successors, and both queues take turns until there is progress again.
The idea of several queues is that of LAMA (Richter & Westphal 2010).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from .ground_tasks import GroundTask
from .landmarks import Landmarks, Wanted, find_landmarks
from .relaxation import relaxed_plan

__all__: list[str] = []

_PATIENCE = 60  # expansions without progress after which relaxed plans are made
_INF = float("inf")


class Outcome(NamedTuple):
    """What a search ends with: the numbers of the actions, or None and the reason; and what it did."""

    actions: list[int] | None
    reason: str
    expanded: int
    generated: int


class _Node(NamedTuple):
    state: int
    parent: _Node | None
    action: int
    true: int
    reached: int
    wanted: Wanted


class _Queues:
    """States that wait: by landmarks that are left, and by the relaxed plans of the states before them."""

    def __init__(self) -> None:
        self.by_landmarks: list[tuple[int, int, _Node]] = []
        self.by_plans: list[tuple[float, bool, int, _Node]] = []
        self.serial = 0

    def push(self, node: _Node, left: int, plan_cost: float, helpful: bool) -> None:
        self.serial += 1
        heappush(self.by_landmarks, (left, self.serial, node))
        if plan_cost < _INF:
            heappush(self.by_plans, (plan_cost, not helpful, -self.serial, node))

    def pop(self, plans_first: bool) -> _Node:
        if plans_first and self.by_plans:
            return heappop(self.by_plans)[-1]
        return heappop(self.by_landmarks)[-1]


def landmark_search(task: GroundTask, stop: Callable[[int], str]) -> Outcome:
    """Search greedily; `stop(expanded)` is "" or the reason to give up."""
    marks = find_landmarks(task)
    queues, seen, done = _Queues(), {task.initial}, set()
    true = marks.true_in(task.initial)
    reached = marks.accepted(0, true)
    start = _Node(task.initial, None, -1, true, reached, marks.wanted(reached))
    queues.push(start, marks.left(reached, start.wanted, true), _INF, False)
    least_left, least_cost, quiet, expanded = 1 << 60, _INF, 0, 0
    while queues.by_landmarks:  # every state waits there, so that all have been seen when it is empty
        node = queues.pop(quiet > _PATIENCE and expanded % 2 == 1)
        if node.state in done:
            continue
        done.add(node.state)
        if task.is_goal(node.state):
            return Outcome(_path(node), "", expanded, queues.serial)
        if reason := stop(expanded):
            return Outcome(None, reason, expanded, queues.serial)
        expanded, quiet = expanded + 1, quiet + 1
        cost, helpful = _INF, frozenset()
        if quiet > _PATIENCE:
            cost, helpful, _ = relaxed_plan(task, node.state)
            if cost == _INF:
                continue
        left = _expand(task, marks, node, queues, seen, cost, helpful)
        if left < least_left or cost < least_cost:
            least_left, least_cost, quiet = min(left, least_left), min(cost, least_cost), 0
    return Outcome(None, "", expanded, queues.serial)


def _expand(
    task: GroundTask, marks: Landmarks, node: _Node, queues: _Queues, seen: set[int], cost: float, helpful: frozenset
) -> int:
    """Put all new successors of a state into the queues, and return the least number of landmarks left of one."""
    least = 1 << 60
    keep, add, state = task.keep_masks, task.add_masks, node.state
    for action in task.applicable(state):
        after = state & keep[action] | add[action]
        if after in seen:
            continue
        seen.add(after)
        true = node.true & marks.keeps[action] | marks.adds[action]
        reached = marks.accepted(node.reached, true) if true & ~node.reached else node.reached
        wanted = node.wanted if reached == node.reached else marks.wanted(reached)
        left = marks.left(reached, wanted, true)
        least = min(left, least)
        queues.push(_Node(after, node, action, true, reached, wanted), left, cost, action in helpful)
    return least


def _path(node: _Node) -> list[int]:
    actions = []
    while node.parent is not None:
        actions.append(node.action)
        node = node.parent
    return actions[::-1]
