"""Programs: what a traced function computes, and how its arguments and results are laid out.

Machine code runs on groups of samples. It keeps the inputs of a group, and its results, in memory called *tiles*: a
tile has one vector for each element, and the lanes of a vector belong to the samples of the group.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...lazy import cached_property
from .expressions import Expr, Graph, copied, reachable

__all__ = ["Operand", "Program", "Tile", "array_size", "stack_of"]


@dataclass(frozen=True)
class Operand:
    """One argument or result: its core shape, and whether it is a sequence, which has one more leading axis."""

    name: str
    shape: tuple[int, ...]
    sequence: bool = False
    note: str = field(default="", compare=False)  # text that an error about its shape adds

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n


class Tile(NamedTuple):
    """Where the elements of the results are in the tile of results.

    `places[k]` is the number of the vector that holds element k of all results. Elements that are the same node share
    one vector (as in symmetric matrices, or zeros). If all that a loop stacks is among the results, the loop stacks it
    into the tile itself: `stacks` has the first vector of such a stack, by the id of its node.
    """

    places: list[int]
    stacks: dict[int, int]


@dataclass(frozen=True)
class Program:
    """A traced function: the nodes of every result, all in one graph.

    `results[k]` has one node for each element of output k; of a sequence it has one node, the buffer of all its rows.
    """

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    results: tuple[tuple[Expr, ...], ...]
    graph: Graph

    def copy(self) -> Program:
        """Return the same program in a graph of its own."""
        graph = Graph()
        found = iter(copied(graph, self.roots))
        return replace(self, results=tuple(tuple([next(found) for _ in r]) for r in self.results), graph=graph)

    @property
    def roots(self) -> list[Expr]:
        """The nodes of all outputs, one after the other."""
        return [e for result in self.results for e in result]

    @property
    def elements(self) -> list[Expr]:
        """The elements of all outputs that are not sequences."""
        return [e for o, r in zip(self.outputs, self.results, strict=True) if not o.sequence for e in r]

    @cached_property
    def tile(self) -> Tile:
        """Where the elements of the results are in the tile of results."""
        return _tile(self.elements)

    @cached_property
    def repetitions(self) -> float:
        """The number of elements of the results that are not zero, divided by the number of nodes of the program."""
        return sum(e.number() != 0 for e in self.elements) / max(len(self.nodes), 1)

    @cached_property
    def nodes(self) -> list[Expr]:
        """All nodes that the results depend on, arguments before results."""
        return reachable(self.roots)


def stack_of(e: Expr) -> Expr:
    """Return the array that an element is read from, or e itself if it is not an element of an array."""
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
    """Return how many numbers an array has: given elements, a row of another one, or what a loop stacks.

    The answer is 0 for any other node, and for stacks whose length is known only when the kernel is called.
    """
    if x.op == "stacked":
        loop = x.args[0].value
        return len(loop.ys[x.value]) * (loop.length or 0)
    if x.op == "row":
        return x.value[0]
    return len(x.args) if x.op == "array" else 0
