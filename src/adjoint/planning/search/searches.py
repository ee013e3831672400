"""The searches that stop at the first goal they choose: one loop, and six orders of the open list."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

from ...display import counted
from ...errors import ArgumentError
from ..limits import check_not_negative, not_negative
from .open_lists import MOST_EXPANDED, Budget, Node, Order, Running
from .search_results import SearchResult
from .state_spaces import SearchProblem, checked_cost

__all__ = [
    "a_star",
    "breadth_first",
    "depth_first",
    "greedy_best_first",
    "iterative_deepening",
    "uniform_cost",
    "weighted_a_star",
]


def _f(weight: float, g: float, h: float) -> tuple[float, float]:
    """f = g + w h; of equal f, a larger g is nearer to a goal."""
    return (g + weight * h, -g)


BREADTH = Order(lambda g, h: (g, 0.0), "depth", informed=False, arcs=True)
DEPTH = Order(lambda g, h: (0.0 - g, 0.0), "-depth", informed=False, arcs=True)
COST = Order(lambda g, h: (g, 0.0), "g", informed=False)
GREEDY = Order(lambda g, h: (h, 0.0), "h", reopens=False)


def ordered_by_f(weight: float) -> Order:
    """The order of A* and of its weighted forms."""
    return Order(partial(_f, weight), "f = g + h" if weight == 1 else f"f = g + {weight:g} h")


def breadth_first(
    problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED, max_seconds: float = math.inf, trace: bool = False
) -> SearchResult:
    """The way with the fewest actions: states are expanded in the order of their depth.

        >>> from adjoint.planning.search import explicit_graph
        >>> breadth_first(explicit_graph({"s": {"a": 1, "g": 9}, "a": {"g": 1}}, "s", "g")).actions
        ('g',)

    The budgets end a search that finds nothing; `reason` then names the one that was used up. With `trace`, the result
    tells about every expansion. All searches of this file have these three arguments.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.2.
    """
    return first_goal("breadth_first", problem, BREADTH, Budget(max_expanded, max_seconds, "breadth_first"), trace)


def depth_first(
    problem: SearchProblem,
    max_depth: float = math.inf,
    *,
    max_expanded: float = MOST_EXPANDED,
    max_seconds: float = math.inf,
    trace: bool = False,
) -> SearchResult:
    """Some way: the deepest open state is expanded first, but none that has `max_depth` actions before it.

        >>> from adjoint.planning.search import explicit_graph
        >>> graph = {"s": {"a": 1, "b": 1}, "a": {"c": 1}, "b": {"g": 1}, "c": {"g": 1}}
        >>> depth_first(explicit_graph(graph, "s", "g")).actions
        ('a', 'c', 'g')

    With a bound, a state that is met again at a smaller depth is expanded again, so that every goal within the bound is
    found. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.2.
    """
    order = _bounded(max_depth, "depth_first")
    return first_goal("depth_first", problem, order, Budget(max_expanded, max_seconds, "depth_first"), trace)


def iterative_deepening(
    problem: SearchProblem,
    max_depth: float = math.inf,
    *,
    max_expanded: float = MOST_EXPANDED,
    max_seconds: float = math.inf,
    trace: bool = False,
) -> SearchResult:
    """The way with the fewest actions, by depth-first searches with the bounds 0, 1, 2, ...

        >>> from adjoint.planning.search import explicit_graph
        >>> iterative_deepening(explicit_graph({"s": {"a": 1, "g": 9}, "a": {"g": 1}}, "s", "g")).actions
        ('g',)

    The numbers of expansions are those of all rounds together; the trace is that of the last round.
    """
    _bounded(max_depth, "iterative_deepening")
    budget = Budget(max_expanded, max_seconds, "iterative_deepening")
    expanded = generated = depth = 0
    while True:
        bound = min(depth, max_depth)
        found = first_goal("iterative_deepening", problem, _bounded(bound, ""), budget, trace)
        expanded, generated, depth = expanded + found.expanded, generated + found.generated, depth + 1
        if found or bound == max_depth or not found.reason.startswith(_TOO_DEEP):
            return replace(found, expanded=expanded, generated=generated)


def uniform_cost(
    problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED, max_seconds: float = math.inf, trace: bool = False
) -> SearchResult:
    """The cheapest way, without an estimate: states are expanded in the order of their cost g (Dijkstra's algorithm).

    >>> from adjoint.planning.search import explicit_graph
    >>> uniform_cost(explicit_graph({"s": {"a": 1, "g": 9}, "a": {"g": 1}}, "s", "g")).cost
    2.0
    """
    return first_goal(
        "uniform_cost", problem, COST, Budget(max_expanded, max_seconds, "uniform_cost"), trace, bound=1.0
    )


def greedy_best_first(
    problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED, max_seconds: float = math.inf, trace: bool = False
) -> SearchResult:
    """Some way, often soon: the state with the least estimate h is expanded first, and none twice.

    >>> from adjoint.planning.search import explicit_graph
    >>> graph = {"s": {"a": 1, "b": 1}, "a": {"g": 9}, "b": {"g": 1}}
    >>> greedy_best_first(explicit_graph(graph, "s", "g", h={"a": 1, "b": 2})).cost
    10.0
    """
    return first_goal(
        "greedy_best_first", problem, GREEDY, Budget(max_expanded, max_seconds, "greedy_best_first"), trace
    )


def a_star(
    problem: SearchProblem, *, max_expanded: float = MOST_EXPANDED, max_seconds: float = math.inf, trace: bool = False
) -> SearchResult:
    """The cheapest way: the state with the least f = g + h is expanded first, and with the largest g of equal ones.

        >>> from adjoint.planning.search import explicit_graph
        >>> graph = {"s": {"a": 1, "b": 1}, "a": {"g": 9}, "b": {"g": 1}}
        >>> a_star(explicit_graph(graph, "s", "g", h={"a": 1, "b": 1})).actions
        ('b', 'g')

    The way is the cheapest if h is admissible, which means never larger than the true cost to a goal. h need not be
    consistent: a closed state is opened again when a cheaper way to it is found. A goal is known when it is chosen,
    not when it is generated, because a cheaper way to it may come later.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.2; Hart, Nilsson & Raphael (1968).
    """
    return first_goal(
        "a_star", problem, ordered_by_f(1.0), Budget(max_expanded, max_seconds, "a_star"), trace, bound=1.0
    )


def weighted_a_star(
    problem: SearchProblem,
    weight: float = 2.0,
    *,
    max_expanded: float = MOST_EXPANDED,
    max_seconds: float = math.inf,
    trace: bool = False,
) -> SearchResult:
    """A way that costs at most `weight` times the least, if h is admissible: the order is f = g + weight h.

        >>> from adjoint.planning.search import explicit_graph
        >>> graph = {"s": {"a": 2, "b": 1}, "a": {"g": 2}, "b": {"g": 2}}
        >>> weighted_a_star(explicit_graph(graph, "s", "g", h={"b": 2}), weight=3).cost
        4.0

    Larger weights expand fewer states most of the time. Reference: Pohl (1970).
    """
    weight = checked_weight(weight, "weighted_a_star")
    budget = Budget(max_expanded, max_seconds, "weighted_a_star")
    return first_goal("weighted_a_star", problem, ordered_by_f(weight), budget, trace, bound=weight)


_TOO_DEEP = "no goal within depth"


def first_goal(
    method: str, problem: SearchProblem, order: Order, budget: Budget, trace: bool, bound: float = math.inf
) -> SearchResult:
    """The general search of Sec. 10.2.2, with the goal test on expansion; `bound` is what the method promises."""
    running = Running(problem, order, budget, trace)
    while (node := running.pop()) is not None:
        if running.is_goal(node.state):
            return solution(method, running, node, bound)
        running.expand(node)
    return failure(method, running)


def solution(method: str, running: Running, node: Node, bound: float) -> SearchResult:
    """The result of a search that ends at a node."""
    nodes = list(node.way())[::-1]
    actions, states = tuple(n.action for n in nodes[1:]), tuple(n.state for n in nodes)
    cost = way_cost(running.problem, states, actions, running.budget.caller)
    numbers = (running.expanded, running.generated, running.trace)
    return SearchResult(running.problem, method, True, "", actions, states, cost, bound, *numbers)


def way_cost(problem: SearchProblem, states: tuple, actions: tuple, caller: str) -> float:
    """The sum of the costs of the actions. It may be less than g of the last node: an earlier one may be open again."""
    total = 0.0
    for state, action in zip(states, actions, strict=False):
        total += checked_cost(problem.cost(state, action), state, action, caller)
    return total


def failure(method: str, running: Running) -> SearchResult:
    """The result of a search that has no state left, or no budget."""
    depth = f"{_TOO_DEEP} {running.order.deepest:g}" if running.cut else ""
    all_seen = f"all {counted(len(running.nodes), 'reachable state')} were expanded"
    if running.hopeless:
        ruled_out = counted(len(running.hopeless), "state")
        all_seen = f"h = inf rules out {ruled_out}, and all others that were found were expanded"
    reason = running.stopped or depth or f"no goal can be reached: {all_seen}"
    numbers = {"expanded": running.expanded, "generated": running.generated, "trace": running.trace}
    return SearchResult(running.problem, method, False, reason, **numbers)


def _bounded(max_depth: float, caller: str) -> Order:
    """The depth-first order with a bound; without one, no state needs to be expanded twice."""
    check_not_negative(caller, max_depth=max_depth)
    return DEPTH._replace(deepest=max_depth, reopens=max_depth < math.inf)


def checked_weight(weight: Any, caller: str) -> float:
    """The weight of h, if it is a number >= 1."""
    number = not_negative(weight)
    if number is None or not 1 <= number < math.inf:
        raise ArgumentError(f"{caller}: weight must be a number >= 1, got {weight!r:.60}")
    return number
