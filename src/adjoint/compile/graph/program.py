"""Programs: what a traced function computes, and how its arguments and results are laid out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...lazy import cached_property
from .expressions import Expr, Graph, copied, reachable

__all__ = ["Operand", "Program", "Tile", "array_size", "stack_of"]


@dataclass(frozen=True)
class Operand:
    """One argument or result: its core shape, and whether it is a sequence with one more leading axis."""

    name: str
    shape: tuple[int, ...]
    sequence: bool = False
    note: str = field(default="", compare=False)  # what an error about its shape adds

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n


class Tile(NamedTuple):
    """The place of each element of the results in their tile; equal ones share one (symmetric matrices, zeros).

    What a loop stacks, if all of it is a result, is stacked there: node of the stack -> its first place.
    """

    places: list[int]
    stacks: dict[int, int]


@dataclass(frozen=True)
class Program:
    """Nodes for every element of every output (for a sequence, its one buffer), all in one graph."""

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    results: tuple[tuple[Expr, ...], ...]
    graph: Graph

    def copy(self) -> Program:
        """The same program in a graph of its own."""
        graph = Graph()
        found = iter(copied(graph, self.roots))
        return replace(self, results=tuple(tuple([next(found) for _ in r]) for r in self.results), graph=graph)

    @property
    def roots(self) -> list[Expr]:
        return [e for result in self.results for e in result]

    @property
    def elements(self) -> list[Expr]:
        """Those of all outputs that are no sequences."""
        return [e for o, r in zip(self.outputs, self.results, strict=True) if not o.sequence for e in r]

    @cached_property
    def tile(self) -> Tile:
        """Where the elements of the results are."""
        return _tile(self.elements)

    @cached_property
    def repetitions(self) -> float:
        """Elements of the results, zeros aside, for every node of the program."""
        return sum(e.number() != 0 for e in self.elements) / max(len(self.nodes), 1)

    @cached_property
    def nodes(self) -> list[Expr]:
        """All that the results depend on, arguments before results."""
        return reachable(self.roots)


def stack_of(e: Expr) -> Expr:
    """The array that an element is read from; itself, if it is none."""
    return e.args[0] if e.op == "item" else e


def _tile(elements: list[Expr]) -> Tile:
    items: dict[int, set[int]] = {}
    for e in elements:
        if stack_of(e).op == "stacked":
            items.setdefault(stack_of(e).id, set()).add(e.value)
    places: dict[int, int] = {}
    stacks: dict[int, int] = {}
    count = 0
    for e in elements:
        if e.id in places:
            continue
        stack = stack_of(e)
        if len(items.get(stack.id, ())) == array_size(stack) > 0:
            if stack.id not in stacks:
                stacks[stack.id], count = count, count + array_size(stack)
            places[e.id] = stacks[stack.id] + e.value
        else:
            places[e.id], count = count, count + 1
    return Tile([places[e.id] for e in elements], stacks)


def array_size(x: Expr) -> int:
    """Numbers of an array: a given one, or what a loop stacks; 0 of any other node, or if only a call can tell."""
    if x.op == "stacked":
        loop = x.args[0].value
        return len(loop.ys[x.value]) * (loop.length or 0)
    return len(x.args) if x.op == "array" else 0
