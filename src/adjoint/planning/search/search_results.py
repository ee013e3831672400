"""`SearchResult`: what every search returns, with the trace of its expansions if it was asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...display import counted
from .state_spaces import SearchProblem

__all__ = ["Expansion", "SearchResult", "Successor", "Trace"]

_WIDE = 44  # letters of a state or an action in a table


class Successor(NamedTuple):
    """What a search did with one successor of the state that it expanded.

    >>> Successor("goto(B)", ("B", 0, "B", 0), 1.0, 3.0, "new").verdict
    'new'
    """

    action: Any
    state: Any
    g: float
    """the cost of the way to it through the expanded state"""
    h: float
    verdict: str
    """new; cheaper (a better way to an open state); reopened (a better way to a closed one); worse; ancestor; closed
    (better, but the search opens no state twice); pruned (too deep, a dead end, or no better than a known solution)"""
    f: float = math.nan
    """what the open list is ordered by"""


class Expansion(NamedTuple):
    """One step of a search: the state that was chosen, its numbers, the reason of the choice, and its successors.

    >>> Expansion(1, "s", 0.0, 4.0, 4.0, "it was alone on the open list", ()).f
    4.0
    """

    order: int
    state: Any
    g: float
    """cost of the best known way to it, or the number of its arcs in searches that count arcs"""
    h: float
    f: float
    """what the open list is ordered by; the smallest is chosen"""
    why: str
    successors: tuple[Successor, ...]
    backward: bool = False
    """whether it belongs to the search from the goals"""


@dataclass(frozen=True, repr=False)
class Trace:
    """The expansions of a search in their order; `print` writes them as a table.

    >>> len(Trace((Expansion(1, "s", 0.0, 4.0, 4.0, "it was alone on the open list", ()),)))
    1
    """

    expansions: tuple[Expansion, ...] = ()

    def __len__(self) -> int:
        return len(self.expansions)

    def __iter__(self) -> Iterator[Expansion]:
        return iter(self.expansions)

    def __getitem__(self, index: int) -> Expansion:
        return self.expansions[index]

    def __str__(self) -> str:
        rows = [("", "state", "g", "h", "f", "successors")]
        for step in self.expansions:
            shown = [f"{brief(s.state)} {s.verdict}" for s in step.successors] or ["none"]
            mark = f"{step.order}{'b' if step.backward else ''}"
            rows.append((mark, brief(step.state), f"{step.g:g}", f"{step.h:g}", f"{step.f:g}", ", ".join(shown)))
        return table_text(rows)

    def __repr__(self) -> str:
        return f"<Trace of {counted(len(self), 'expansion')}>"


def brief(thing: Any) -> str:
    """A state or an action as text of one line; the middle of a long one is left out."""
    text = " ".join(str(thing).split())
    return text if len(text) <= _WIDE else f"{text[: _WIDE // 2 - 2]}...{text[-_WIDE // 2 + 1 :]}"


def table_text(rows: list[tuple[str, ...]]) -> str:
    """Rows as columns of text; the last column is as wide as it wants to be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = ("  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True, repr=False)
class SearchResult:
    """The way that a search found, or the `reason` why there is none. It is true if it is `solved`.

        >>> from adjoint.planning.search import a_star, monkey_and_bananas
        >>> a_star(monkey_and_bananas())
        <SearchResult of a_star: 4 actions, cost 4; 12 states expanded, 28 generated>

    `states` has one state more than there are `actions`. `cost` is infinite if nothing was found. `expanded` counts the
    states whose successors were made, and `generated` the successors. If h is admissible, the cost is at most `bound`
    times the least one; a search that promises nothing has inf.
    """

    problem: SearchProblem
    method: str
    solved: bool
    reason: str = ""
    actions: tuple[Any, ...] = ()
    states: tuple[Any, ...] = ()
    cost: float = math.inf
    bound: float = math.inf
    expanded: int = 0
    generated: int = 0
    trace: Trace | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return self.solved

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.actions)

    def explain(self) -> str:
        """The way step by step and, if the search kept a trace, why each state was chosen and what came of it."""
        lines = [f"{self.method} of {self.problem.name}: {self._outcome}"]
        if self.solved:
            lines.append(f"     {brief(self.states[0])}")
            lines += [
                f"{k:3d}. {brief(action)} -> {brief(state)}"
                for k, (action, state) in enumerate(zip(self.actions, self.states[1:], strict=True), 1)
            ]
        for step in self.trace or ():
            lines.append(f"expansion {step.order}: {brief(step.state)}, {step.why}")
            lines += [
                f"    {brief(s.action)} -> {brief(s.state)}: {s.verdict}, g = {s.g:g}, h = {s.h:g}"
                for s in step.successors
            ]
        return "\n".join(lines)

    @property
    def _outcome(self) -> str:
        found = f"{counted(len(self.actions), 'action')}, cost {self.cost:g}" if self.solved else "no solution"
        why = f" ({self.reason})" if self.reason else ""
        return f"{found}{why}; {counted(self.expanded, 'state')} expanded, {self.generated} generated"

    def __repr__(self) -> str:
        return f"<SearchResult of {self.method}: {self._outcome}>"
