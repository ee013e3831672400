"""`SearchProblem`: a state space as functions, and `explicit_graph`, which makes one of a table of arcs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ...errors import ArgumentError
from ..limits import not_negative

__all__ = ["SearchProblem", "explicit_graph"]

State = Hashable
"""A state may be any Python object that can be a key of a dict."""
Step = Hashable
"""What leads from one state to the next: the name of an operator, or any other hashable object."""


def _one(state: Any, action: Any) -> float:
    return 1.0


def _nothing(state: Any) -> float:
    return 0.0


@dataclass(frozen=True, repr=False)
class SearchProblem:
    """A state space: where to start, what can be done, what comes of it, and what is wanted.

        >>> count = SearchProblem(1, lambda n: ("double", "add one"), lambda n, a: 2 * n if a == "double" else n + 1,
        ...                       is_goal=lambda n: n == 10)
        >>> count.result(5, "double")
        10

    - `initial` is the state at the start. States and actions are any hashable objects.
    - `actions(state)` are the actions that can be done in a state, and `result(state, action)` is the state afterwards.
    - `is_goal(state)` says whether a state is wanted. `cost(state, action)` is a number >= 0, and 1 by default.
    - `h(state)` estimates the cost from a state to the nearest goal, and is 0 by default. It is admissible if it is
      never larger than that cost, and `inf` says that no goal can be reached.
    - `goals` and `predecessors(state)`, the pairs (state before, action) that lead to a state, are for `bidirectional`.

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.
    """

    initial: State
    actions: Callable[[Any], Iterable[Any]]
    result: Callable[[Any, Any], Any]
    is_goal: Callable[[Any], bool]
    cost: Callable[[Any, Any], float] = _one
    h: Callable[[Any], float] = _nothing
    goals: tuple[State, ...] = ()
    predecessors: Callable[[Any], Iterable[tuple[Any, Any]]] | None = None
    name: str = "problem"

    def __post_init__(self):
        for field in fields(self)[1:6]:
            if not callable(getattr(self, field.name)):
                kind = type(getattr(self, field.name)).__name__
                of = "a state and an action" if field.name in ("result", "cost") else "a state"
                raise ArgumentError(f"SearchProblem: {field.name} must be a function of {of}, got {kind}")
        if self.predecessors is not None and not callable(self.predecessors):
            raise ArgumentError(f"SearchProblem: predecessors must be a function, got {self.predecessors!r:.60}")
        if not isinstance(self.goals, (tuple, list)):
            raise ArgumentError(f"SearchProblem: goals must be a tuple of states, got {self.goals!r:.60}")
        for state in (self.initial, *self.goals):
            checked_state(state, "SearchProblem: initial and goals")

    def __repr__(self) -> str:
        return f"<SearchProblem {self.name} from {self.initial}>"


def checked_state(state: Any, where: str) -> Any:
    """The state, if it can be a key of a dict; the message says `where` it comes from."""
    try:
        hash(state)
    except TypeError:
        raise ArgumentError(
            f"{where}: states must be hashable, such as numbers, texts, tuples, frozensets; got {type(state).__name__}"
        ) from None
    return state


def checked_cost(cost: Any, state: Any, action: Any, caller: str) -> float:
    """The cost of an arc as a float, if it is a number >= 0."""
    if (number := not_negative(cost)) is None:
        what = f"the cost of action {action} in state {state}"
        raise ArgumentError(f"{caller}: {what} must be a number >= 0, got {cost!r:.60}")
    return number


def checked_estimate(h: Any, state: Any, caller: str) -> float:
    """The estimate of a state as a float, if it is a number >= 0."""
    if (number := not_negative(h)) is None:
        raise ArgumentError(f"{caller}: h of state {state} must be a number >= 0, got {h!r:.60}")
    return number


def checked_truth(answer: Any, state: Any, name: str, caller: str) -> bool:
    """What the function of this name says of a state, if it is true or false."""
    try:
        return bool(answer)
    except (TypeError, ValueError):  # an array is neither
        raise ArgumentError(f"{caller}: {name} of state {state} must be True or False, got {answer!r:.60}") from None


def checked_actions(actions: Any, state: Any, caller: str) -> Iterable[Any]:
    """The actions of a state, if they can be gone through."""
    if not isinstance(actions, Iterable):
        raise ArgumentError(f"{caller}: actions of state {state} must be a list of actions, got {actions!r:.60}")
    return actions


def explicit_graph(
    arcs: Mapping[Any, Mapping[Any, float]],
    start: Any,
    goal: Any,
    h: Mapping[Any, float] | Callable[[Any], float] | None = None,
    name: str = "graph",
) -> SearchProblem:
    """The problem of going from one node of a graph to another.

        >>> graph = explicit_graph({"s": {"a": 1, "b": 4}, "a": {"b": 2}}, "s", "b")
        >>> [graph.cost("s", node) for node in graph.actions("s")]
        [1, 4]

    `arcs` is {node: {successor: cost}}; a node without successors may be left out. An action is the name of the next
    node. `h` is {node: estimate}, where absent nodes have 0, or a function. The problem has what `bidirectional` needs.
    """
    if not isinstance(arcs, Mapping) or not all(isinstance(x, Mapping) for x in arcs.values()):
        raise ArgumentError("explicit_graph: arcs must be {node: {successor: cost}}")
    nodes = set(arcs).union(*arcs.values())
    for which, node in (("start", start), ("goal", goal)):
        if checked_state(node, f"explicit_graph: {which}") not in nodes:
            shown = ", ".join(sorted(map(str, nodes))[:12])
            raise ArgumentError(f"explicit_graph: {which} {node!r} is no node of the graph; there are {shown}")
    if not (h is None or callable(h) or isinstance(h, Mapping)):
        raise ArgumentError(f"explicit_graph: h must be {{node: estimate}} or a function of a node, got {h!r:.60}")
    before: dict[Any, list[tuple[Any, Any]]] = {}
    for node, successors in arcs.items():
        for successor, cost in successors.items():
            checked_cost(cost, node, successor, "explicit_graph")
            before.setdefault(successor, []).append((node, successor))
    estimates = {} if h is None else h
    return SearchProblem(
        start,
        actions=lambda node: arcs.get(node, ()),
        result=lambda node, action: action,
        is_goal=lambda node: node == goal,
        cost=lambda node, action: arcs[node][action],
        h=estimates if callable(estimates) else lambda node: estimates.get(node, 0.0),
        goals=(goal,),
        predecessors=lambda node: before.get(node, ()),
        name=name,
    )
