"""Whole state spaces: all states that can be reached, and all plans of least cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...errors import ArgumentError, SolveError
from .open_lists import MOST_EXPANDED, Budget, Node, Running
from .searches import COST
from .state_spaces import SearchProblem, checked_state

__all__ = ["Arc", "StateGraph", "all_optimal_plans", "count_optimal_plans", "reachable_states"]

_SAME = 1e-9  # costs that differ by less than this share of them count as equal


class Arc(NamedTuple):
    """An action from one state to another.

    >>> Arc("s", "go", "t").after
    't'
    """

    before: Any
    action: Any
    after: Any


@dataclass(frozen=True, repr=False)
class StateGraph:
    """The states that can be reached, in the order of their depth, and the arcs between them.

    >>> from adjoint.planning.search import moving_blocks
    >>> reachable_states(moving_blocks())
    <StateGraph: 13 states, 30 arcs>
    """

    states: tuple[Any, ...]
    arcs: tuple[Arc, ...]

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.states)

    def __repr__(self) -> str:
        return f"<StateGraph: {len(self.states)} states, {len(self.arcs)} arcs>"


def reachable_states(problem: SearchProblem, max_states: int = 100_000) -> StateGraph:
    """All states that actions can reach from the start, goals and what follows them included.

        >>> from adjoint.planning.search import tower_of_hanoi
        >>> len(reachable_states(tower_of_hanoi(3)))
        27

    An action that changes nothing, such as a step onto the same place, is an arc from a state to itself. If there are
    more than `max_states`, a `SolveError` says so. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.1.
    """
    states: dict[Any, None] = {problem.initial: None}
    arcs, waiting = [], [problem.initial]
    for state in waiting:
        for action in problem.actions(state):
            after = checked_state(problem.result(state, action), f"the result of action {action} in state {state}")
            arcs.append(Arc(state, action, after))
            if after not in states:
                if len(states) >= max_states:
                    raise SolveError(f"reachable_states: {problem.name} has more than {max_states} states")
                states[after] = None
                waiting.append(after)
    return StateGraph(tuple(states), tuple(arcs))


def count_optimal_plans(problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED) -> int:
    """The number of plans of least cost; 0 if there is no plan.

    >>> from adjoint.planning.search import missionaries_and_cannibals
    >>> count_optimal_plans(missionaries_and_cannibals())
    4
    """
    arcs, goals = _optimal_arcs(problem, max_expanded)
    ways = {problem.initial: 1}
    for after, into in arcs.items():  # states come in the order of their cost
        ways[after] = ways.get(after, 0) + sum(ways[arc.before] for arc in into)
    return sum(ways[goal] for goal in goals)


def all_optimal_plans(
    problem: SearchProblem, most: int = 1000, *, max_expanded: float = MOST_EXPANDED
) -> tuple[tuple[Any, ...], ...]:
    """All plans of least cost, each a tuple of actions, or the first `most` of them.

    >>> from adjoint.planning.search import monkey_and_bananas
    >>> all_optimal_plans(monkey_and_bananas())
    (('goto(B)', 'pushbox(C)', 'climbbox', 'grasp'),)
    """
    arcs, goals = _optimal_arcs(problem, max_expanded)
    plans: list[tuple[Any, ...]] = []
    unfinished: list[tuple[Any, tuple[Any, ...]]] = [(goal, ()) for goal in goals[::-1]]
    while unfinished and len(plans) < most:
        state, plan = unfinished.pop()
        if state == problem.initial:
            plans.append(plan)
        unfinished += [(arc.before, (arc.action, *plan)) for arc in reversed(arcs.get(state, ()))]
    return tuple(plans)


def _optimal_arcs(problem: SearchProblem, max_expanded: float) -> tuple[dict[Any, list[Arc]], list[Any]]:
    """{state: the arcs into it that lie on a cheapest way to it}, by rising cost, and the goals of least cost."""
    running, least = Running(problem, COST, Budget(max_expanded, math.inf), False), math.inf
    closed: list[Node] = []
    goals: dict[Any, None] = {}
    while (node := running.pop()) is not None and node.g <= least * (1 + _SAME):
        closed.append(node)
        if problem.is_goal(node.state):
            goals[node.state], least, node.closed = None, min(least, node.g), True
        else:
            running.expand(node)
    if running.stopped:
        raise SolveError(f"{problem.name}: {running.stopped} before all plans of least cost were known")
    into: dict[Any, list[Arc]] = {node.state: [] for node in closed}
    for node in closed:
        for action in () if node.state in goals else problem.actions(node.state):
            after = running.nodes.get(problem.result(node.state, action))  # an arc of infinite cost leads nowhere
            g = node.g + problem.cost(node.state, action)
            if after is not None and after.closed and abs(g - after.g) <= _SAME * max(1.0, g):
                _check_cost(problem, node, action, after)
                into[after.state].append(Arc(node.state, action, after.state))
    return into, list(goals)


def _check_cost(problem: SearchProblem, node: Node, action: Any, after: Node) -> None:
    if after.g <= node.g:
        raise ArgumentError(
            f"{problem.name}: action {action} in state {node.state} costs nothing; "
            "plans of least cost can be counted only if every action costs something"
        )
