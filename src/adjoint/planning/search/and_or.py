"""`ao_star`: the cheapest solution graph of an AND/OR graph, expanded only as far as it is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from ...display import counted
from ...errors import ArgumentError
from ..limits import check_kind, check_not_negative, not_negative
from .open_lists import MOST_EXPANDED, Budget
from .search_results import brief, table_text
from .state_spaces import checked_estimate, checked_state, checked_truth

__all__ = ["AndOrProblem", "AndOrResult", "HyperArc", "Revision", "ao_star"]


_PAIRS = "pairs (cost, (children, ...))"


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
    why: str = ""
    """why this node was expanded"""


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
        rows = [("", "expanded", "why", "arcs", "costs revised")]
        for k, step in enumerate(self.trace, 1):
            changed = ", ".join(f"{brief(n)} {old:g} -> {new:g}" for n, (old, new) in step.changed.items())
            rows.append((str(k), brief(step.node), step.why, str(step.arcs), changed or "none"))
        return "\n".join([*lines, table_text(rows)])

    def __repr__(self) -> str:
        size = counted(len(self.graph), "reduction")
        found = f"cost {self.cost:g}, {size}" if self.solved else f"no solution; {self.reason}"
        return f"<AndOrResult of {self.problem.name}: {found}; {counted(len(self.expanded), 'node')} expanded>"


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

    It is the cheapest if h is never larger than the true cost; a node that two others need counts for each. Graphs may
    have cycles: a solution graph has none, so that no node is needed for itself. Of equal hyperarcs the first is taken,
    unless another one was there before.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.3; Nilsson (1980). Costs are revised where an expansion changes them,
    by Knuth's (1977) form of Dijkstra's algorithm; on graphs without cycles this is the book's revision from below.
    """
    check_kind("ao_star", problem, AndOrProblem, "the problem")
    check_not_negative("ao_star", futility=futility)
    budget, reason = Budget(max_expanded, max_seconds, "ao_star"), ""
    growing, root = _Growing(problem, budget), problem.initial
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
    """The part of an AND/OR graph that AO* made so far, with the cost and the marked hyperarc of every node.

    The marked hyperarc of a node is one that gives its cost. Marked hyperarcs never lead back to their own node.
    """

    def __init__(self, problem: AndOrProblem, budget: Budget):
        self.problem, self.budget = problem, budget
        self.values: dict[Any, float] = {}
        self.arcs: dict[Any, tuple[HyperArc, ...]] = {}
        self.uses: dict[Any, list[tuple[Any, int]]] = {}  # {child: the nodes above and the numbers of their hyperarcs}
        self.marked: dict[Any, HyperArc] = {}
        self.solved: set[Any] = set()
        self.trace: list[Revision] = []
        self._meet(problem.initial)

    def _meet(self, node: Any) -> None:
        """Enters a node, unless it is there: two parents share one child."""
        if checked_state(node, "ao_star") not in self.values:
            terminal = checked_truth(self.problem.is_terminal(node), node, "is_terminal", "ao_star")
            self.values[node] = 0.0 if terminal else checked_estimate(self.problem.h(node), node, "ao_star")
            self.uses[node] = []
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
        """Adds the hyperarcs of a node, and revises the costs of the nodes above that it changes."""
        arcs = []
        for arc in _given_arcs(node, self.problem.arcs(node)):
            if self.budget.late:  # there may be very many arcs; the node stays open
                return
            arcs.append(_hyper_arc(node, arc))
        cost = self.values[self.problem.initial]
        why = f"first open node of the cheapest graph so far, cost {cost:g}" if self.trace else "start"
        self.arcs[node] = tuple(arcs)
        for k, arc in enumerate(arcs):
            for child in arc.children:
                self._meet(child)
            for child in dict.fromkeys(arc.children):
                self.uses[child].append((node, k))
        before = self._revise(node)
        changed = {n: (old, self.values[n]) for n, old in before.items() if old != self.values[n]}
        self.trace.append(Revision(node, len(arcs), changed, why))

    def _revise(self, tip: Any) -> dict[Any, float]:
        """Makes all values right after an expansion; the result is {node that was touched: its value before}.

        value(n) = min over its arcs of cost + sum of value(child), where no node may need itself. The values that were
        too small are forgotten first; from there on values only fall. The smallest is final first, as in Dijkstra's
        algorithm: a node is given a value when its children have theirs, and so never needs itself.
        """
        falls = any(self._arc_value(arc) < self.values[tip] for arc in self.arcs[tip])
        unknown, kept = ({tip: self.values[tip]}, []) if falls else self._too_small(tip)
        before, settled, order, waiting = dict(unknown), kept, count(), []
        if not falls:
            self.values.update(dict.fromkeys(unknown, math.inf))
        for node in unknown:
            for k, arc in enumerate(self.arcs[node]):
                if (value := self._arc_value(arc)) < self.values[node]:
                    waiting.append((value, k, next(order), node))
        heapify(waiting)
        while waiting:
            value, k, _, node = heappop(waiting)
            if value >= self.values[node]:
                continue
            before.setdefault(node, self.values[node])
            self.values[node], self.marked[node] = value, self.arcs[node][k]
            settled.append(node)
            for parent, j in self.uses[node]:
                value = self._arc_value(self.arcs[parent][j])
                if value < self.values[parent]:
                    heappush(waiting, (value, j, next(order), parent))
        self._mark_solved(settled)
        return before

    def _too_small(self, tip: Any) -> tuple[dict[Any, float], list[Any]]:
        """{node: its value} of the tip and the nodes above that lose their value, and nodes that keep it by other arcs.

        A node loses it if all arcs that give it lead to such nodes. They are met by rising values: a node of smaller
        value cannot need one of larger value, and so what is known of it is final.
        """
        lost: dict[Any, float] = {}
        kept, order = [], count()
        waiting = [(self.values[tip], next(order), tip)]
        while waiting:
            value, _, node = heappop(waiting)
            if node in lost or (node in self.marked and lost.keys().isdisjoint(self.marked[node].children)):
                continue
            others = (arc for arc in self.arcs[node] if self._supports(arc, value, lost))
            if (arc := next(others, None)) is not None:
                self.marked[node] = arc
                kept.append(node)
                continue
            lost[node] = value
            self.marked.pop(node, None)
            for parent, k in self.uses[node]:
                if self.marked.get(parent) is self.arcs[parent][k]:
                    heappush(waiting, (self.values[parent], next(order), parent))
        return lost, kept

    def _supports(self, arc: HyperArc, value: float, lost: Mapping[Any, float]) -> bool:
        """Whether an arc gives its node this value, with children that are smaller and so cannot need the node."""
        if not lost.keys().isdisjoint(arc.children) or self._arc_value(arc) != value:
            return False
        return all(self.values[child] < value for child in arc.children)

    def _mark_solved(self, waiting: list[Any]) -> None:
        """A node is solved if all children of its marked hyperarc are; what changes goes upward from these nodes."""
        for node in waiting:  # the list grows on the way
            solved = all(child in self.solved for child in self.marked[node].children)
            if solved != (node in self.solved):
                (self.solved.add if solved else self.solved.discard)(node)
                waiting += [p for p, k in self.uses[node] if self.marked.get(p) is self.arcs[p][k]]

    def _arc_value(self, arc: HyperArc) -> float:
        return arc.cost + sum(map(self.values.__getitem__, arc.children))


def _given_arcs(node: Any, given: Any) -> Iterable[Any]:
    """What the user's function gave, if it can be gone through; None stands for no arcs."""
    if not (given is None or isinstance(given, Iterable)):
        raise ArgumentError(f"ao_star: arcs of {node!r} must be a list of {_PAIRS}, got {given!r:.60}")
    return () if given is None else given


def _hyper_arc(node: Any, arc: Any) -> HyperArc:
    """One pair of the user's function, checked."""
    try:
        cost, given = arc
        children = tuple(given)
    except (TypeError, ValueError):
        raise ArgumentError(f"ao_star: arcs of {node!r} must be {_PAIRS}, got {arc!r:.60}") from None
    if isinstance(given, str):
        raise ArgumentError(f"ao_star: arcs of {node!r} must be {_PAIRS}, got the text {given!r:.60}")
    if (number := not_negative(cost)) is None:
        raise ArgumentError(f"ao_star: the cost of an arc of {node!r} must be a number >= 0, got {cost!r:.60}")
    return HyperArc(number, children)
