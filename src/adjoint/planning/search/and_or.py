"""`ao_star`: the cheapest solution graph of an AND/OR graph, expanded only as far as it is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from ...errors import ArgumentError
from ..limits import check_kind
from .open_lists import MOST_EXPANDED, Budget
from .search_results import brief, table_text
from .state_spaces import checked_cost, checked_estimate, checked_state

__all__ = ["AndOrProblem", "AndOrResult", "HyperArc", "Revision", "ao_star"]


class HyperArc(NamedTuple):
    """One way to reduce a problem: all children must be solved, and the reduction itself has a cost.

    >>> HyperArc(3.0, ("B", "C")).children
    ('B', 'C')
    """

    cost: float
    children: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class AndOrProblem:
    """A problem and the ways to reduce it to others: an AND/OR graph as functions.

        >>> fetch = AndOrProblem("fetch", {"fetch": [(1, ("find", "bring"))]}.get, {"find", "bring"}.__contains__)
        >>> fetch.arcs("fetch")
        [(1, ('find', 'bring'))]

    - `arcs(node)` are pairs (cost, (children, ...)): one pair is enough to solve the node, and all children of a pair
      must be solved. None or no pairs mean that the node cannot be reduced.
    - `is_terminal(node)` says whether a node is solved as it is, at no cost.
    - `h(node)` estimates the cost of the node's solution; it is 0 by default.

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.3.
    """

    initial: Hashable
    arcs: Callable[[Any], Iterable[tuple[float, tuple[Any, ...]]] | None]
    is_terminal: Callable[[Any], bool]
    h: Callable[[Any], float] = lambda node: 0.0
    name: str = "AND/OR problem"

    def __post_init__(self):
        for name in ("arcs", "is_terminal", "h"):
            if not callable(getattr(self, name)):
                kind = type(getattr(self, name)).__name__
                raise ArgumentError(f"AndOrProblem: {name} must be a function of a node, got {kind}")

    def __repr__(self) -> str:
        return f"<AndOrProblem {self.name}: {self.initial}>"


class Revision(NamedTuple):
    """One step of AO*: the node that was expanded, and the nodes whose cost is another one after it.

    >>> Revision("B", 2, {"B": (0.0, 1.0)}).changed["B"]
    (0.0, 1.0)
    """

    node: Any
    arcs: int
    """the number of its hyperarcs"""
    changed: Mapping[Any, tuple[float, float]]
    """{node: its cost before and after}"""


@dataclass(frozen=True, repr=False)
class AndOrResult:
    """The solution graph {node: the hyperarc to take}, or the `reason` why there is none; it is true if it is `solved`.

    `values` are the costs that AO* knew of all nodes at its end, `arcs` the graph that it made, `expanded` the nodes
    in the order in which they were expanded. A part that two nodes share counts twice.
    """

    problem: AndOrProblem
    solved: bool
    reason: str
    cost: float
    graph: Mapping[Any, HyperArc]
    expanded: tuple[Any, ...]
    values: Mapping[Any, float] = field(default_factory=dict, compare=False)
    arcs: Mapping[Any, tuple[HyperArc, ...]] = field(default_factory=dict, compare=False)
    trace: tuple[Revision, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        return self.solved

    def explain(self) -> str:
        """The solution graph, and a table of what each expansion changed."""
        lines = [repr(self)[1:-1]]
        for node, arc in self.graph.items():
            lines.append(f"  {brief(node)}: {' and '.join(map(brief, arc.children))}, cost {arc.cost:g}")
        rows = [("", "expanded", "arcs", "costs revised")]
        for k, step in enumerate(self.trace, 1):
            changed = ", ".join(f"{brief(n)} {old:g} -> {new:g}" for n, (old, new) in step.changed.items())
            rows.append((str(k), brief(step.node), str(step.arcs), changed or "none"))
        return "\n".join([*lines, table_text(rows)])

    def __repr__(self) -> str:
        found = f"cost {self.cost:g}, {len(self.graph)} reductions" if self.solved else f"no solution; {self.reason}"
        return f"<AndOrResult of {self.problem.name}: {found}; {len(self.expanded)} nodes expanded>"


def ao_star(
    problem: AndOrProblem,
    futility: float = math.inf,
    *,
    max_expanded: float = MOST_EXPANDED,
    max_seconds: float = math.inf,
) -> AndOrResult:
    """The cheapest solution graph of an AND/OR graph, by AO*; nothing that costs more than `futility` is wanted.

        >>> from adjoint.planning.search import and_or_example
        >>> found = ao_star(and_or_example(1))
        >>> found.cost, found.expanded, found.graph["B"].children
        (4.0, ('A', 'B', 'E'), ('F',))

    It is the cheapest if h is never larger than the true cost. Graphs may have cycles: a hyperarc that needs the node
    it comes from cannot be part of a solution and is left out as a whole. Of equal hyperarcs the first is taken.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.3; Nilsson (1980). Costs are revised by Knuth's (1977) form of
    Dijkstra's algorithm, which agrees with the book's order from below on graphs without cycles.
    """
    check_kind("ao_star", problem, AndOrProblem, "the problem")
    if not isinstance(futility, (int, float)) or not futility >= 0:
        raise ArgumentError(f"ao_star: futility must be a number >= 0, got {futility!r}")
    growing, budget, reason = _Growing(problem), Budget(max_expanded, max_seconds), ""
    root = problem.initial
    while not reason and root not in growing.solved:
        if growing.values[root] == math.inf:
            reason = "no solution exists"
        elif growing.values[root] > futility:
            reason = f"every solution costs at least {growing.values[root]:g}, more than futility = {futility:g}"
        elif not (reason := budget.used_up):
            growing.expand(growing.next_tip())
            budget.left -= 1
    if not reason and growing.values[root] > futility:
        reason = f"the cheapest solution costs {growing.values[root]:g}, more than futility = {futility:g}"
    cost = math.inf if reason else growing.values[root]
    graph = {} if reason else growing.marked_graph()
    order = tuple(step.node for step in growing.trace)
    return AndOrResult(
        problem, not reason, reason, cost, graph, order, growing.values, growing.arcs, tuple(growing.trace)
    )


class _Growing:
    """The part of an AND/OR graph that AO* made so far, with the cost and the marked hyperarc of every node."""

    def __init__(self, problem: AndOrProblem):
        self.problem = problem
        self.values: dict[Any, float] = {}
        self.arcs: dict[Any, tuple[HyperArc, ...]] = {}
        self.parents: dict[Any, dict[Any, None]] = {}
        self.marked: dict[Any, HyperArc] = {}
        self.solved: set[Any] = set()
        self.trace: list[Revision] = []
        self._meet(problem.initial)

    def _meet(self, node: Any) -> None:
        """Enters a node, unless it is there: two parents share one child."""
        if checked_state(node, "ao_star") not in self.values:
            terminal = self.problem.is_terminal(node)
            self.values[node] = 0.0 if terminal else checked_estimate(self.problem.h(node), node)
            self.parents[node] = {}
            if terminal:
                self.solved.add(node)

    def next_tip(self) -> Any:
        """The first node without arcs that marked hyperarcs lead to, from left to right."""
        waiting, seen = [self.problem.initial], set()
        while waiting:
            node = waiting.pop()
            if node in seen or node in self.solved:
                continue
            if node not in self.arcs:
                return node
            seen.add(node)
            waiting += reversed(self.marked[node].children)
        raise AssertionError("a graph that is not solved has a tip")

    def marked_graph(self) -> dict[Any, HyperArc]:
        """The marked hyperarcs that the initial node leads to, from the top."""
        found: dict[Any, HyperArc] = {}
        waiting = [self.problem.initial]
        for node in waiting:
            if node in self.marked and node not in found:
                found[node] = self.marked[node]
                waiting += self.marked[node].children
        return found

    def expand(self, node: Any) -> None:
        """Adds the hyperarcs of a node, and revises the costs of all nodes that can lead to it."""
        given = self.problem.arcs(node) or ()
        if not isinstance(given, Iterable):
            raise ArgumentError(f"arcs of {node!r} must be a list of pairs (cost, (children, ...)), got {given!r:.60}")
        arcs = [_hyper_arc(node, arc) for arc in given]
        self.arcs[node] = tuple(arcs)
        for arc in arcs:
            for child in arc.children:
                self._meet(child)
                self.parents[child][node] = None
        above = self._ancestors(node)
        before = {n: self.values[n] for n in above}
        self._revise(above)
        changed = {n: (old, self.values[n]) for n, old in before.items() if old != self.values[n]}
        self.trace.append(Revision(node, len(arcs), changed))

    def _ancestors(self, node: Any) -> list[Any]:
        """The node and all nodes from which a path leads to it, the nearest first."""
        found = {node: None}
        waiting = [node]
        for below in waiting:
            for parent in self.parents[below]:
                if parent not in found:
                    found[parent] = None
                    waiting.append(parent)
        return waiting

    def _revise(self, above: list[Any]) -> None:
        """value(n) = min over its arcs of cost + sum of value(child), for nodes whose other descendants are right.

        The smallest value is final first, as in Dijkstra's algorithm. A hyperarc counts when all its children are
        final, and so never needs its own node.
        """
        open_, uses = set(above), {}
        ready = []
        for node in above:
            self.values[node] = math.inf
            self.marked.pop(node, None)
            self.solved.discard(node)
            for k, arc in enumerate(self.arcs[node]):
                missing = {child for child in arc.children if child in open_}
                entry = [len(missing), node, k, arc]
                if not missing:
                    ready.append((self._arc_value(arc), k, len(ready), entry))
                for child in missing:
                    uses.setdefault(child, []).append(entry)
        heapify(ready)
        number = len(ready)
        while ready:
            value, _, _, (_, node, _, arc) = heappop(ready)
            if node not in open_ or value == math.inf:
                continue
            open_.discard(node)
            self.values[node], self.marked[node] = value, arc
            if all(child in self.solved for child in arc.children):
                self.solved.add(node)
            for entry in uses.get(node, ()):
                entry[0] -= 1
                if entry[0] == 0 and entry[1] in open_:
                    number += 1
                    heappush(ready, (self._arc_value(entry[3]), entry[2], number, entry))

    def _arc_value(self, arc: HyperArc) -> float:
        return arc.cost + sum(self.values[child] for child in arc.children)


def _hyper_arc(node: Any, arc: Any) -> HyperArc:
    """One pair of the user's function, checked."""
    try:
        cost, children = arc
        children = tuple(children)
    except (TypeError, ValueError):
        raise ArgumentError(f"arcs of {node!r} must be pairs (cost, (children, ...)), got {arc!r}") from None
    if isinstance(arc[1], str):
        raise ArgumentError(f"arcs of {node!r} must be pairs (cost, (children, ...)), got the text {arc[1]!r}")
    return HyperArc(checked_cost(cost, node, children), children)
