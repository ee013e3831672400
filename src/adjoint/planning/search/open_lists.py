"""One running search: its open list, what it knows of each state, and the step that expands a state.

All searches of this folder are this step with another order of the open list.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from ...display import counted
from ..limits import check_kind, check_not_negative
from .search_results import Expansion, Successor, Trace
from .state_spaces import (
    SearchProblem,
    checked_actions,
    checked_cost,
    checked_estimate,
    checked_state,
    checked_truth,
)

__all__: list[str] = []

MOST_EXPANDED = 1_000_000
"""The states that a search expands at most, unless it is told otherwise."""


class Node:
    """What a search knows of a state: the best way to it so far, and whether it was expanded since that was found."""

    __slots__ = ("action", "closed", "g", "h", "parent", "state")

    def __init__(self, state: Any, g: float, h: float, parent: Node | None = None, action: Any = None):
        self.state, self.g, self.h, self.parent, self.action, self.closed = state, g, h, parent, action, False

    def way(self) -> Iterator[Node]:
        """The nodes from this one back to the start."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent


class Order(NamedTuple):
    """How the open list is ordered, and when a state is worth opening.

    Of two open states, the one with the smaller `rank(g, h)` is chosen, a pair of numbers; of equal ones, the one that
    was opened first. With `arcs`, g counts arcs instead of their costs.
    """

    rank: Callable[[float, float], tuple[float, float]]
    text: str
    """what `rank` is, for traces"""
    informed: bool = True
    """whether h is used at all"""
    arcs: bool = False
    reopens: bool = True
    """whether a closed state is opened again when a better way to it is found"""
    deepest: float = math.inf
    """states with a larger g are left out"""


class Budget:
    """The number of expansions and the seconds that a search, or several together, may take.

    `caller` is the function that was called, for messages. The time runs from the beginning.
    """

    def __init__(self, max_expanded: float, max_seconds: float, caller: str = "search"):
        check_not_negative(caller, max_expanded=max_expanded, max_seconds=max_seconds)
        self.max_expanded, self.max_seconds = float(max_expanded), float(max_seconds)
        self.left, self.caller, self.end = self.max_expanded, caller, time.perf_counter() + self.max_seconds

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.end

    @property
    def used_up(self) -> str:
        """Which part of the budget is used up, as a reason; empty if something of each is left."""
        if self.left <= 0:
            return f"the limit of {self.max_expanded:g} expanded states was reached"
        return self.out_of_time if self.late else ""

    @property
    def out_of_time(self) -> str:
        """The reason of a search that ends because its time is over."""
        return f"the limit of {self.max_seconds:g} seconds was reached"


class Running:
    """A search in progress. `pop` chooses the next state, and `expand` opens its successors."""

    def __init__(self, problem: SearchProblem, order: Order, budget: Budget, trace: bool, backward: bool = False):
        check_kind(budget.caller, problem, SearchProblem, "the problem")
        self.problem, self.order, self.budget, self.backward = problem, order, budget, backward
        self.open: list[tuple[tuple[float, float], int, float, Node]] = []
        self.nodes: dict[Any, Node] = {}
        self.hopeless: set[Any] = set()  # states of which h says that no goal can be reached
        self.upper = math.inf  # only ways that cost less are wanted
        self.expanded = self.generated = 0
        self.cut = False  # whether a state was left out because it is too deep
        self.stopped = ""  # the part of the budget that was used up
        self.steps: list[Expansion] | None = [] if trace else None
        self._number = count()
        self.start(problem.initial)

    def start(self, state: Any) -> None:
        """Opens a state at which the search begins."""
        self._push(Node(state, 0.0, self._estimate(state)))

    def _estimate(self, state: Any) -> float:
        if not self.order.informed:
            return 0.0
        h = checked_estimate(self.problem.h(state), state, self.budget.caller)
        if h == math.inf:
            self.hopeless.add(state)
        return h

    def is_goal(self, state: Any) -> bool:
        """Whether a state is wanted."""
        return checked_truth(self.problem.is_goal(state), state, "is_goal", self.budget.caller)

    def _push(self, node: Node) -> None:
        self.nodes[node.state] = node
        heappush(self.open, (self.order.rank(node.g, node.h), next(self._number), node.g, node))

    def _live(self, entry: tuple) -> bool:
        """Whether an entry of the open list still counts: no better way was found since, and it can lead to one."""
        _, _, g, node = entry
        return g == node.g and not node.closed and g + node.h < self.upper

    def top(self) -> float:
        """The first number by which the next state is ranked; infinite if the open list is empty."""
        while self.open and not self._live(self.open[0]):
            heappop(self.open)
        return self.open[0][0][0] if self.open else math.inf

    def least_estimate(self) -> float:
        """The least g + h of all open states: no solution that is still to be found costs less, if h is admissible."""
        return min((entry[2] + entry[3].h for entry in self.open if self._live(entry)), default=math.inf)

    def pop(self) -> Node | None:
        """The best open state, or None if there is none or the budget is used up (`stopped` then says so)."""
        while self.open:
            if self._live(entry := heappop(self.open)):
                self.stopped = self.budget.used_up
                if not self.stopped:
                    return entry[3]
                heappush(self.open, entry)
                return None
        return None

    def expand(self, node: Node) -> list[Node]:
        """Closes a state and opens its successors; the result are those that are new or have a better way now."""
        problem, arcs, nodes, caller = self.problem, self.order.arcs, self.nodes, self.budget.caller
        better: list[Node] = []
        why, successors = ("", None) if self.steps is None else (self._why(node), [])
        node.closed = True
        self.expanded += 1
        self.budget.left -= 1
        for action in checked_actions(problem.actions(node.state), node.state, caller):
            if self.budget.late:  # there may be very many actions; `pop` tells that the time is over
                node.closed = False
                self._push(node)
                break
            state = problem.result(node.state, action)
            g = node.g + (1.0 if arcs else checked_cost(problem.cost(node.state, action), node.state, action, caller))
            self.generated += 1
            try:
                child = nodes.get(state)
            except TypeError:
                checked_state(state, f"{caller}: the result of action {action} in state {node.state}")
                raise
            if new := child is None:
                child = Node(state, g, self._estimate(state))
            verdict = "worse" if not new and g >= child.g else self._verdict(child, g, new)
            if verdict in _OPENED:
                child.g, child.parent, child.action, child.closed = g, node, action, False
                self._push(child)
                better.append(child)
            if successors is not None:
                loops = verdict == "worse" and any(child is before for before in node.way())
                f = self.order.rank(g, child.h)[0]
                successors.append(Successor(action, state, g, child.h, "ancestor" if loops else verdict, f))
        if self.steps is not None:
            rank = self.order.rank(node.g, node.h)[0]
            step = Expansion(0, node.state, node.g, node.h, rank, why, tuple(successors or ()), self.backward)
            self.steps.append(step._replace(order=len(self.steps) + 1))
        return better

    def _verdict(self, child: Node, g: float, new: bool) -> str:
        """What becomes of a successor with a new or better g (Sec. 10.2.2, steps 6 to 8 of the general search)."""
        if g > self.order.deepest:
            self.cut = True
            return "pruned"
        if g + child.h >= self.upper:  # h is infinite in a dead end
            return "pruned"
        if new:
            return "new"
        if not child.closed:
            return "cheaper"
        return "reopened" if self.order.reopens else "closed"

    def _why(self, node: Node) -> str:
        """Why this state was chosen and no other open one."""
        rank = self.order.rank(node.g, node.h)
        rivals = [entry[0] for entry in self.open if self._live(entry)]
        if not rivals:
            return "it was alone on the open list"
        why = f"it has the least {self.order.text} = {rank[0]:g} of {counted(len(rivals) + 1, 'open state')}"
        ties = [other for other in rivals if other[0] == rank[0]]
        same = ties.count(rank)
        if not ties:
            return why
        why = f"{why}, and of the {len(ties) + 1} that have it, "
        if not same:
            return f"{why}it has the largest g"
        return f"{why}{f'{same + 1} have the largest g; of these ' * (same < len(ties))}it was opened first"

    @property
    def trace(self) -> Trace | None:
        """The expansions so far, if they were kept."""
        return None if self.steps is None else Trace(tuple(self.steps))


_OPENED = frozenset({"new", "cheaper", "reopened"})
