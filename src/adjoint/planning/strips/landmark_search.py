"""Greedy search by landmarks, with relaxed plans where landmarks alone do not lead on: plans fast, not the best ones.

The state with the fewest landmarks to come is expanded first. If that makes no progress for a while, relaxed plans of
the expanded states order further queues of their successors, and all queues take turns until there is progress again.
Successors by helpful actions have queues of their own, which come first after progress. Several queues, their turns and
their boost are those of LAMA (Richter & Westphal 2010).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from .ground_tasks import GroundTask, mask_of
from .landmarks import Landmarks, Wanted, find_landmarks
from .relaxation import RelaxedPlan, relaxed_plan

__all__: list[str] = []

_PATIENCE = 60  # expansions without progress after which relaxed plans are made
_BOOST = 1000  # turns that queues of helpful successors get after progress
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
    """States that wait: by landmarks that are left, and by the relaxed plans of the states before them.

    The two queues of `helpful` successors have states of the other two, again: those that a relaxed plan leads to.
    """

    def __init__(self) -> None:
        self.by_landmarks: list[tuple[float, int, _Node]] = []
        self.by_plans: list[tuple[float, int, _Node]] = []
        self.helpful_by_landmarks: list[tuple[float, int, _Node]] = []
        self.helpful_by_plans: list[tuple[float, int, _Node]] = []
        self.turns = [0, 0, 0, 0]
        self.serial = 0

    @property
    def _all(self) -> tuple[list[tuple[float, int, _Node]], ...]:
        return self.helpful_by_plans, self.helpful_by_landmarks, self.by_plans, self.by_landmarks

    def push(self, node: _Node, left: int, plan_cost: float, helpful: bool) -> None:
        self.serial += 1
        heappush(self.by_landmarks, (left, self.serial, node))
        if plan_cost < _INF:
            heappush(self.by_plans, (plan_cost, self.serial, node))
            if helpful:
                heappush(self.helpful_by_plans, (plan_cost, self.serial, node))
                heappush(self.helpful_by_landmarks, (left, self.serial, node))

    def pop(self, taking_turns: bool) -> _Node:
        """The next state by landmarks, or that of the queue whose turn it is."""
        if not taking_turns:
            return heappop(self.by_landmarks)[-1]
        k = min((k for k in range(4) if self._all[k]), key=self.turns.__getitem__)
        self.turns[k] += 1
        return heappop(self._all[k])[-1]

    def boost(self) -> None:
        """After progress, helpful successors come first for a while."""
        self.turns[0] -= _BOOST
        self.turns[1] -= _BOOST


def landmark_search(task: GroundTask, stop: Callable[[int], str], max_seconds: float) -> Outcome:
    """Search greedily; `stop(expanded)` is "" or the reason to give up. `max_seconds` bounds the landmarks alone."""
    marks = find_landmarks(task, max_seconds=max_seconds)
    queues, seen, done = _Queues(), {task.initial}, set()
    true = marks.true_in(task.initial)
    reached = marks.accepted(0, true)
    start = _Node(task.initial, None, -1, true, reached, marks.wanted(reached))
    queues.push(start, marks.left(reached, start.wanted, true), _INF, False)
    least_left, least_cost, quiet, expanded = 1 << 60, _INF, 0, 0
    while queues.by_landmarks:  # every state waits there, so that all have been seen when it is empty
        node = queues.pop(quiet > _PATIENCE)
        if node.state in done:
            continue
        done.add(node.state)
        if task.is_goal(node.state):
            return Outcome(_path(node), "", expanded, queues.serial)
        if reason := stop(expanded):
            return Outcome(None, reason, expanded, queues.serial)
        expanded, quiet = expanded + 1, quiet + 1
        plan = None
        if quiet > _PATIENCE:
            plan = relaxed_plan(task, node.state)
            if plan.cost == _INF:
                continue
        left = _expand(task, marks, node, queues, seen, plan)
        if left < least_left or (plan and plan.cost < least_cost):
            quiet = quiet if quiet > _PATIENCE else 0
            least_left, least_cost = min(left, least_left), min(plan.cost if plan else _INF, least_cost)
            queues.boost()
    return Outcome(None, "", expanded, queues.serial)


def _expand(
    task: GroundTask, marks: Landmarks, node: _Node, queues: _Queues, seen: set[int], plan: RelaxedPlan | None
) -> int:
    """Put all new successors of a state into the queues, and return the least number of landmarks left of one."""
    least, cost, wanted_facts = 1 << 60, _INF if plan is None else plan.cost, _wanted_facts(task, node.state, plan)
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
        helpful = bool(add[action] & wanted_facts) or reached != node.reached
        queues.push(_Node(after, node, action, true, reached, wanted), left, cost, helpful)
    return least


def _wanted_facts(task: GroundTask, state: int, plan: RelaxedPlan | None) -> int:
    """The bits of the facts that a relaxed plan makes true on its way, as far as they are not true yet."""
    if plan is None:
        return 0
    return mask_of({fact for action in plan.actions for fact in task.needs[action]}.union(task.goal)) & ~state


def _path(node: _Node) -> list[int]:
    actions = []
    while node.parent is not None:
        actions.append(node.action)
        node = node.parent
    return actions[::-1]
