"""`bidirectional`: two searches, from the start and from the goals, until nothing better can lie between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ...display import counted
from ...errors import ArgumentError
from .open_lists import MOST_EXPANDED, Budget, Node, Running
from .search_results import SearchResult, Trace
from .searches import COST, way_cost
from .state_spaces import SearchProblem, checked_truth

__all__ = ["bidirectional"]


def bidirectional(
    problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED, max_seconds: float = math.inf, trace: bool = False
) -> SearchResult:
    """The cheapest way, by two uniform-cost searches that meet; the problem needs `goals` and `predecessors`.

        >>> from adjoint.planning.search import explicit_graph
        >>> bidirectional(explicit_graph({"s": {"a": 1, "g": 9}, "a": {"g": 1}}, "s", "g")).states
        ('s', 'a', 'g')

    The first meeting need not lie on the cheapest way. The search stops when the least g of the open states on both
    sides together is no less than the cheapest way found so far. The way is the cheapest to one of the `goals`.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.2; Nicholson (1966) for the rule of stopping.
    """
    budget = Budget(max_expanded, max_seconds, "bidirectional")
    forward = Running(problem, COST, budget, trace)
    backward = Running(_reversed(problem), COST, budget, trace, backward=True)
    for goal in list(dict.fromkeys(problem.goals))[1:]:
        backward.start(goal)
    steps, cost, meeting = [], math.inf, None
    if problem.initial in problem.goals:
        cost, meeting = 0.0, problem.initial
    while forward.top() + backward.top() < cost:
        # The side with fewer open states has less to do until both meet.
        side, other = (forward, backward) if len(forward.open) <= len(backward.open) else (backward, forward)
        if (node := side.pop()) is None:
            return _ended(problem, (forward, backward), side.stopped, steps if trace else None)
        for child in side.expand(node):
            there = other.nodes.get(child.state)
            if there is not None and child.g + there.g < cost:
                cost, meeting = child.g + there.g, child.state
        if side.steps:
            steps.append(side.steps[-1]._replace(order=len(steps) + 1))
    if cost == math.inf:
        seen = counted(forward.expanded + backward.expanded, "state")
        reason = f"no goal can be reached: the two searches did not meet, and {seen} were expanded"
        return _ended(problem, (forward, backward), reason, steps if trace else None)
    nodes = (forward.nodes[meeting], backward.nodes[meeting])
    return _joined(_ended(problem, (forward, backward), "", steps if trace else None), *nodes)


def _reversed(problem: SearchProblem) -> SearchProblem:
    """The problem from a goal to the start: an action is a pair (state before, action of the problem)."""
    if problem.predecessors is None or not problem.goals:
        raise ArgumentError(
            f"bidirectional: {problem.name} needs goals=(state, ...) and predecessors=, a "
            "function of a state that gives the pairs (state before, action) that lead to it"
        )
    for goal in problem.goals:
        if not checked_truth(problem.is_goal(goal), goal, "is_goal", "bidirectional"):
            raise ArgumentError(f"bidirectional: {goal} is one of the goals, but is_goal says that it is none")
    return SearchProblem(
        problem.goals[0],
        actions=partial(_arcs_into, problem.predecessors),
        result=lambda state, arc: arc[0],
        is_goal=lambda state: state == problem.initial,
        cost=lambda state, arc: problem.cost(*arc),
        name=f"{problem.name}, backward",
    )


def _arcs_into(predecessors: Callable[[Any], Any], state: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs (state before, action) of a state, checked."""
    given = predecessors(state)
    for pair in given if isinstance(given, Iterable) else (given,):
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            needed = "must be pairs (state before, action)"
            raise ArgumentError(f"bidirectional: predecessors of {state} {needed}, got {pair!r:.60}")
        yield tuple(pair)


def _ended(problem: SearchProblem, sides: tuple[Running, Running], reason: str, steps: list | None) -> SearchResult:
    """The result without a way, and with the numbers of both sides."""
    expanded, generated = (sum(getattr(side, name) for side in sides) for name in ("expanded", "generated"))
    trace = None if steps is None else Trace(tuple(steps))
    return SearchResult(problem, "bidirectional", False, reason, expanded=expanded, generated=generated, trace=trace)


def _joined(ended: SearchResult, here: Node, there: Node) -> SearchResult:
    """The result with the way from the start to the meeting, and from there to a goal."""
    problem, before, after = ended.problem, list(here.way())[::-1], list(there.way())
    states = tuple(node.state for node in (*before, *after[1:]))
    actions: tuple[Any, ...] = tuple(node.action for node in before[1:]) + tuple(n.action[1] for n in after[:-1])
    for state, action, following in zip(states, actions, states[1:], strict=False):
        if problem.result(state, action) != following:
            raise ArgumentError(
                f"bidirectional: predecessors of {following} has ({state}, {action}), "
                f"but that action leads to {problem.result(state, action)}"
            )
    cost = way_cost(problem, states, actions, "bidirectional")
    return SearchResult(
        problem, ended.method, True, "", actions, states, cost, 1.0, ended.expanded, ended.generated, ended.trace
    )
