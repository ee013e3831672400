"""Heuristics from the task in which nothing is ever deleted: h_max, h_add, FF's relaxed plans, and LM-cut.

A fact costs 0 where it is true, else the least cost of an action that adds it; an action costs its own cost and that of
the facts that it needs: the largest of them (h_max, which never says too much) or their sum (h_add).
Bonet & Geffner (2001); Hoffmann & Nebel (2001); Helmert & Domshlak (2009).
"""

from __future__ import annotations

import time
from heapq import heappop, heappush
from typing import NamedTuple

from ..limits import check_kind
from .ground_tasks import GroundTask, bits

__all__ = ["RelaxedPlan", "h_add", "h_ff", "h_max", "lm_cut", "relaxed_plan"]

_INF = float("inf")


def _is_hopeless(caller: str, task: GroundTask, state: int) -> bool:
    """Whether the goal has facts that can never become true; what is no state of a task is refused."""
    check_kind(caller, task, GroundTask, "the task")
    task.check_state(caller, state)
    return bool(task.impossible)


class RelaxedPlan(NamedTuple):
    """Actions that reach the goal where nothing is deleted: their `cost`, and those that `apply` at once."""

    cost: float
    actions: frozenset[int]
    apply: tuple[int, ...]


class _Costs(NamedTuple):
    """The cost of each fact, the action that gives it at this cost (-1 where it is true), and the need of each action
    that was met last, which is its dearest one (-1: it needs nothing, -2: not all needs were met)."""

    fact: list[float]
    giver: list[int]
    dearest: list[int]


def _explored(
    task: GroundTask, state: int, add: bool, *, prices: list[float] | None = None, until_goal: bool = True
) -> _Costs:
    """The costs of facts by Dijkstra's method: facts are settled in the order of their costs."""
    fact_cost, giver, dearest = [_INF] * len(task.facts), [-1] * len(task.facts), [-2] * len(task.calls)
    users, adds, waiting, sums = task.users, task.adds, task.need_counts.copy(), list(prices or task.costs)
    heap: list[tuple[float, int]] = [(0.0, fact) for fact in bits(state)]
    for _, fact in heap:
        fact_cost[fact] = 0.0
    for action in task.always:
        dearest[action] = -1
        for given in adds[action]:
            if sums[action] < fact_cost[given]:
                fact_cost[given], giver[given] = sums[action], action
                heappush(heap, (sums[action], given))
    left = set(task.goal) if until_goal else None
    while heap:
        cost, fact = heappop(heap)
        if cost > fact_cost[fact]:
            continue
        if left is not None:
            left.discard(fact)
            if not left:
                break
        for action in users[fact]:
            waiting[action] -= 1
            if waiting[action]:
                if add:
                    sums[action] += cost
                continue
            dearest[action] = fact
            total = sums[action] + cost
            for given in adds[action]:
                if total < fact_cost[given]:
                    fact_cost[given], giver[given] = total, action
                    heappush(heap, (total, given))
    return _Costs(fact_cost, giver, dearest)


def h_max(task: GroundTask, state: int) -> float:
    """The cost of the dearest fact of the goal, where nothing is deleted; it is at most the cost of any plan."""
    if _is_hopeless("h_max", task, state):
        return _INF
    costs = _explored(task, state, add=False).fact
    return max((costs[fact] for fact in task.goal), default=0.0)


def h_add(task: GroundTask, state: int) -> float:
    """The sum of the costs of the goal's facts, as if each were reached alone; it may be more than a plan's cost."""
    if _is_hopeless("h_add", task, state):
        return _INF
    costs = _explored(task, state, add=True).fact
    return sum(costs[fact] for fact in task.goal)


def h_ff(task: GroundTask, state: int) -> float:
    """The cost of a plan where nothing is deleted; infinite if there is none, and then there is no plan at all."""
    return relaxed_plan(task, state).cost


def relaxed_plan(task: GroundTask, state: int) -> RelaxedPlan:
    """A plan where nothing is deleted: from the goal backwards, each fact by the action that gives it at least cost."""
    if _is_hopeless("relaxed_plan", task, state):
        return RelaxedPlan(_INF, frozenset(), ())
    costs, giver, _ = _explored(task, state, add=True)
    if any(costs[fact] == _INF for fact in task.goal):
        return RelaxedPlan(_INF, frozenset(), ())
    open_facts, seen, actions = list(task.goal), set(task.goal), set()
    while open_facts:
        action = giver[open_facts.pop()]
        if action >= 0 and action not in actions:
            actions.add(action)
            for fact in task.needs[action]:
                if fact not in seen:
                    seen.add(fact)
                    open_facts.append(fact)
    apply = tuple(a for a in sorted(actions) if task.need_masks[a] & state == task.need_masks[a])
    return RelaxedPlan(sum(task.costs[a] for a in actions), frozenset(actions), apply)


# --- landmark cuts ----------------------------------------------------------------------------------------------------


def lm_cut(task: GroundTask, state: int, *, until: float = _INF) -> float:
    """The sum of the costs of disjoint sets of actions, of each of which every plan needs one; never too much.

    While the goal costs something (h_max), the actions that lead into the zone from which the goal is free form such a
    set: the cheapest of them is paid, and all of them get cheaper by that. Helmert & Domshlak (2009). After the time
    `until` of `time.perf_counter` the sum so far is the result, which is not too much either.
    """
    if _is_hopeless("lm_cut", task, state):
        return _INF
    prices, total = list(task.costs), 0.0
    while True:
        if time.perf_counter() > until:
            return total
        costs, _, dearest = _explored(task, state, add=False, prices=prices, until_goal=False)
        target = max(task.goal, key=lambda fact: costs[fact], default=None)
        if target is None or costs[target] == 0:
            return total
        if costs[target] == _INF:
            return _INF
        cut = _cut(task, state, prices, dearest, _free_zone(task, prices, dearest, target))
        least = min(prices[action] for action in cut)
        total += least
        for action in cut:
            prices[action] -= least


def _free_zone(task: GroundTask, prices: list[float], dearest: list[int], target: int) -> set[int]:
    """The facts from which the target is reached by actions that cost nothing, through their dearest needs."""
    zone, open_facts = {target}, [target]
    while open_facts:
        for action in task.adders[open_facts.pop()]:
            fact = dearest[action]
            if prices[action] == 0 and fact >= 0 and fact not in zone:
                zone.add(fact)
                open_facts.append(fact)
    return zone


def _cut(task: GroundTask, state: int, prices: list[float], dearest: list[int], zone: set[int]) -> list[int]:
    """The actions that lead from facts outside of the zone, reached through dearest needs, into the zone."""
    by_need: dict[int, list[int]] = {}
    for action, fact in enumerate(dearest):
        if fact != -2:
            by_need.setdefault(fact, []).append(action)
    reached, open_facts, cut = set(bits(state)), [-1, *bits(state)], []
    while open_facts:
        for action in by_need.get(open_facts.pop(), ()):
            if any(fact in zone for fact in task.adds[action]):
                cut.append(action)
                continue
            for fact in task.adds[action]:
                if fact not in reached:
                    reached.add(fact)
                    open_facts.append(fact)
    return cut
