"""Programs: what a traced function computes, and how its arguments and results are laid out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from .graph import Expr, Graph, reachable
from .ops import OPS

__all__ = ["Operand", "Program", "array_size", "count_operations"]

_COUNTED = ("add", "mul", "div", "sqrt", "transcendental", "compare")


@dataclass(frozen=True)
class Operand:
    """One argument or result: its core shape, and whether it is a sequence with one more leading axis."""

    name: str
    shape: tuple[int, ...]
    sequence: bool = False

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n


@dataclass(frozen=True)
class Program:
    """Nodes for every element of every output (for a sequence, its one buffer), all in one graph."""

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    results: tuple[tuple[Expr, ...], ...]
    graph: Graph

    @property
    def roots(self) -> list[Expr]:
        return [e for result in self.results for e in result]

    @property
    def elements(self) -> list[Expr]:
        """Those of all outputs that are no sequences."""
        return [e for o, r in zip(self.outputs, self.results, strict=True) if not o.sequence for e in r]

    @cached_property
    def nodes(self) -> list[Expr]:
        """All that the results depend on, arguments before results."""
        return reachable(self.roots)


def array_size(x: Expr) -> int:
    """Numbers of an array: a given one, or what a loop stacks; 0 of any other node, or if only a call can tell."""
    if x.op == "stacked":
        loop = x.args[0].value
        return len(loop.ys[x.value]) * (loop.length or 0)
    return len(x.args) if x.op == "array" else 0


def count_operations(program: Program) -> tuple[int, ...]:
    """Additions, multiplications, divisions, square roots, transcendental functions, comparisons and selections."""
    counts = _count(program.nodes)
    return tuple(counts.get(k, 0) for k in _COUNTED)


def _count(nodes: list[Expr]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for op, n in Counter([x.op for x in nodes]).items():
        if op in OPS:
            counts[OPS[op].counted] = counts.get(OPS[op].counted, 0) + n
    for x in nodes:
        if x.op == "loop":
            for k, n in _count(reachable(x.value.roots)).items():
                counts[k] = counts.get(k, 0) + n * (x.value.length or 1)
    return counts
