"""Whole state spaces: all states that can be reached, and all plans of least cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from ...display import counted
from ...errors import ArgumentError, SolveError
from ..limits import check_kind, check_limits
from .open_lists import MOST_EXPANDED, Budget, Node, Running
from .search_results import brief
from .searches import COST
from .state_spaces import SearchProblem, checked_actions, checked_cost, checked_state

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
        return f"<StateGraph: {counted(len(self.states), 'state')}, {counted(len(self.arcs), 'arc')}>"


def reachable_states(
    problem: SearchProblem, max_states: float = 100_000, *, max_seconds: float = math.inf
) -> StateGraph:
    """All states that actions can reach from the start, goals and what follows them included.

        >>> from adjoint.planning.search import tower_of_hanoi
        >>> len(reachable_states(tower_of_hanoi(3)))
        27

    An action that changes nothing, such as a step onto the same place, is an arc from a state to itself. If there are
    more than `max_states`, or if `max_seconds` are over, a `SolveError` says so.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.1.
    """
    caller = "reachable_states"
    check_kind(caller, problem, SearchProblem, "the problem")
    check_limits(caller, max_states=max_states)
    budget = Budget(math.inf, max_seconds, caller)
    states: dict[Any, None] = {problem.initial: None}
    arcs, waiting = [], [problem.initial]
    for state in waiting:
        for action in checked_actions(problem.actions(state), state, caller):
            if budget.late:
                raise SolveError(f"{caller}: {problem.name}: {budget.out_of_time} before all states were known")
            where = f"{caller}: the result of action {action} in state {state}"
            after = checked_state(problem.result(state, action), where)
            arcs.append(Arc(state, action, after))
            if after not in states:
                if len(states) >= max_states:
                    raise SolveError(f"{caller}: {problem.name} has more than {max_states} states")
                states[after] = None
                waiting.append(after)
    return StateGraph(tuple(states), tuple(arcs))


def count_optimal_plans(
    problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED, max_seconds: float = math.inf
) -> int:
    """The number of plans of least cost; 0 if there is no plan.

        >>> from adjoint.planning.search import missionaries_and_cannibals
        >>> count_optimal_plans(missionaries_and_cannibals())
        4

    A plan ends at the first goal that it comes to. Costs that differ by less than a share of 1e-9 count as equal. An
    `ArgumentError` says so if there are infinitely many plans of least cost, since actions that cost nothing go round
    in a circle on the way; a `SolveError` says which budget was used up.
    """
    arcs, goals = _optimal_arcs(problem, Budget(max_expanded, max_seconds, "count_optimal_plans"))
    ways: dict[Any, int] = {}
    for state, into in arcs.items():  # the states before come first
        ways[state] = (state == problem.initial) + sum(ways[arc.before] for arc in into)
    return sum(ways[goal] for goal in goals)


def all_optimal_plans(
    problem: SearchProblem,
    most: float = 1000,
    *,
    max_expanded: float = MOST_EXPANDED,
    max_seconds: float = math.inf,
) -> tuple[tuple[Any, ...], ...]:
    """All plans of least cost, each a tuple of actions, or the first `most` of them.

        >>> from adjoint.planning.search import monkey_and_bananas
        >>> all_optimal_plans(monkey_and_bananas())
        (('goto(B)', 'pushbox(C)', 'climbbox', 'grasp'),)

    These are the plans that `count_optimal_plans` counts.
    """
    check_limits("all_optimal_plans", most=most)
    budget = Budget(max_expanded, max_seconds, "all_optimal_plans")
    arcs, goals = _optimal_arcs(problem, budget)
    plans: list[tuple[Any, ...]] = []
    unfinished: list[tuple[Any, tuple[Any, ...]]] = [(goal, ()) for goal in goals[::-1]]
    while unfinished and len(plans) < most:
        _check_time(problem, budget)
        state, plan = unfinished.pop()
        if state == problem.initial:
            plans.append(plan)
        unfinished += [(arc.before, (arc.action, *plan)) for arc in reversed(arcs[state])]
    return tuple(plans)


def _optimal_arcs(problem: SearchProblem, budget: Budget) -> tuple[dict[Any, list[Arc]], list[Any]]:
    """{state: the arcs into it}, of plans of least cost alone, and the goals at which these plans end.

    Every state stands behind those from which arcs lead to it.
    """
    running, least = Running(problem, COST, budget, False), math.inf
    closed: list[Node] = []
    goals: list[Any] = []
    while (node := running.pop()) is not None and node.g <= least * (1 + _SAME):
        closed.append(node)
        if running.is_goal(node.state):
            least, node.closed = min(least, node.g), True
            goals.append(node.state)
        else:
            running.expand(node)
    if running.stopped:
        raise SolveError(_unfinished(problem, budget, running.stopped))
    into = _cheapest_arcs(running, closed, frozenset(goals))
    wanted = dict.fromkeys(goals)
    waiting = list(goals)
    for state in waiting:
        new = [arc.before for arc in into[state] if arc.before not in wanted]
        wanted.update(dict.fromkeys(new))
        waiting += dict.fromkeys(new)
    before = {state: [arc.before for arc in into[state]] for state in wanted}
    try:
        return {state: into[state] for state in TopologicalSorter(before).static_order()}, goals
    except CycleError as error:
        circle = " -> ".join(map(brief, error.args[1]))
        raise ArgumentError(
            f"{budget.caller}: {problem.name} has infinitely many plans of least cost, "
            f"since the actions of the circle {circle} cost nothing"
        ) from None


def _cheapest_arcs(running: Running, closed: list[Node], goals: frozenset[Any]) -> dict[Any, list[Arc]]:
    """{state: the arcs into it that lie on a cheapest way to it}, for the states that the search closed."""
    problem, budget = running.problem, running.budget
    into: dict[Any, list[Arc]] = {node.state: [] for node in closed}
    for node in closed:
        for action in () if node.state in goals else problem.actions(node.state):
            _check_time(problem, budget)
            after = running.nodes.get(problem.result(node.state, action))
            g = node.g + checked_cost(problem.cost(node.state, action), node.state, action, budget.caller)
            # An arc of infinite cost leads nowhere, though infinite costs are equal.
            if after is not None and after.closed and math.isfinite(g) and math.isclose(g, after.g, rel_tol=_SAME):
                into[after.state].append(Arc(node.state, action, after.state))
    return into


def _check_time(problem: SearchProblem, budget: Budget) -> None:
    if budget.late:
        raise SolveError(_unfinished(problem, budget, budget.out_of_time))


def _unfinished(problem: SearchProblem, budget: Budget, reason: str) -> str:
    return f"{budget.caller}: {problem.name}: {reason} before all plans of least cost were known"
