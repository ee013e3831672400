"""How many operations one sample of a program takes."""

from __future__ import annotations

from collections import Counter

from .expressions import Expr, reachable
from .operations import OPS
from .program import Program

__all__ = ["count_by_class", "count_operations"]

_COUNTED = ("add", "mul", "div", "sqrt", "transcendental", "compare")


def count_operations(program: Program, length: int = 1) -> tuple[int, ...]:
    """Return how many operations of each class one sample takes.

    The classes are additions, multiplications, divisions, square roots, transcendental functions, and comparisons or
    choices. The body of a loop is counted once for each iteration; `length` is the length of the program's sequences.
    """
    counts = _count(program.nodes, length)
    return tuple(counts.get(k, 0) for k in _COUNTED)


def count_by_class(nodes: list[Expr]) -> dict[str, int]:
    """Return how many operations of each class are among these nodes; the bodies of loops are not counted."""
    counts: dict[str, int] = {}
    for op, n in Counter([x.op for x in nodes]).items():
        if op in OPS:
            counts[OPS[op].counted] = counts.get(OPS[op].counted, 0) + n
    return counts


def _count(nodes: list[Expr], length: int) -> dict[str, int]:
    counts = count_by_class(nodes)
    for x in nodes:
        if x.op == "loop":
            for k, n in _count(reachable(x.value.roots), length).items():
                counts[k] = counts.get(k, 0) + n * (length if x.value.length is None else x.value.length)
    return counts
