"""`anytime_a_star`: a solution soon, and better ones until the best is proved or the budget is used up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from .open_lists import MOST_EXPANDED, Budget, Running
from .search_results import SearchResult
from .searches import checked_weight, failure, ordered_by_f, solution
from .state_spaces import SearchProblem

__all__ = ["anytime_a_star"]


def anytime_a_star(
    problem: SearchProblem,
    weight: float = 3.0,
    *,
    max_expanded: float = MOST_EXPANDED,
    max_seconds: float = math.inf,
    trace: bool = False,
) -> Iterator[SearchResult]:
    """Solutions that get better, each with a `bound`: it costs at most so many times the least, if h is admissible.

        >>> from adjoint.planning.search import explicit_graph
        >>> graph = {"s": {"a": 2, "b": 1}, "a": {"g": 2}, "b": {"g": 2}}
        >>> for result in anytime_a_star(explicit_graph(graph, "s", "g", h={"b": 2}), weight=3):
        ...     print(result.cost, result.bound)
        4.0 1.3333333333333333
        3.0 1.0
        3.0 1.0

    The search is that of `weighted_a_star`, which goes on after a solution and leaves out states with g + h not below
    its cost. The least g + h of the open states is then a lower bound of all other solutions. The last result is the
    best one again: its bound is 1 if the open list is empty, and otherwise its `reason` says which budget was used up.
    There is always at least one result, which is false if no solution was found. The time runs from the call, also
    while nobody asks for the next result.
    Reference: Hansen & Zhou (2007).
    """
    weight = checked_weight(weight, "anytime_a_star")
    budget = Budget(max_expanded, max_seconds, "anytime_a_star")  # checked here, before the first result is asked for
    return _improving(Running(problem, ordered_by_f(weight), budget, trace), weight)


def _improving(running: Running, weight: float) -> Iterator[SearchResult]:
    best, bound = None, weight
    while (node := running.pop()) is not None:
        if not running.is_goal(node.state):
            running.expand(node)
            continue
        node.closed = True
        best = solution("anytime_a_star", running, node, bound)
        running.upper = best.cost
        bound = min(bound, _ratio(best.cost, running))
        best = replace(best, bound=bound)
        yield best
    if best is None:
        yield failure("anytime_a_star", running)
        return
    bound = min(bound, _ratio(best.cost, running))
    numbers = {"expanded": running.expanded, "generated": running.generated, "trace": running.trace}
    yield replace(best, bound=bound, reason=running.stopped, **numbers)


def _ratio(cost: float, running: Running) -> float:
    """How many times the least cost a known solution may cost: only open states can lead to better ones."""
    least = running.least_estimate()
    if least >= cost:
        return 1.0
    return cost / least if least > 0 else math.inf
