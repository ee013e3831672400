"""Kernels of a triangle table: what must be true so that the rest of the plan, from a step on, works."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import ArgumentError
from ..limits import check_kind
from ..strips.task_types import Fact
from .literals import state_of
from .triangle_tables import TriangleTable

__all__ = ["highest_kernel", "kernel"]


def kernel(table: TriangleTable, i: int) -> frozenset[Fact]:
    """The literals of all cells with row >= i and column < i: where they are true, steps i ... N reach the goal.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> from adjoint.planning.monitoring import triangle_table
        >>> task = book_task("blocks")
        >>> calls = "unstack c a, putdown c, pickup b, stack b c, pickup a, stack a b".split(", ")
        >>> table = triangle_table(Plan(task, tuple(task.action(*call.split()) for call in calls)))
        >>> sorted(kernel(table, 6))
        [('clear', 'b'), ('holding', 'a'), ('on', 'b', 'c')]

    Kernel N+1 is the goal. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    check_kind("kernel", table, TriangleTable, "the table")
    if isinstance(i, bool) or not isinstance(i, int) or not 1 <= i <= table.N + 1:
        raise ArgumentError(f"kernel: there is no kernel {i}; the table has 1 to {table.N + 1}")
    return frozenset(x for (row, column), facts in table.cells.items() if row >= i > column for x in facts)


def highest_kernel(table: TriangleTable, state: Iterable[Fact]) -> int:
    """The number of the highest kernel that is true in a state: the step to do next, N+1 at the goal, 0 if none is.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> from adjoint.planning.monitoring import triangle_table
        >>> task = book_task("monkey")
        >>> calls = "goto a b, pushbox b c, climbbox c, grasp".split(", ")
        >>> table = triangle_table(Plan(task, tuple(task.action(*call.split()) for call in calls)))
        >>> highest_kernel(table, {("mk", "c"), ("box", "c"), ("onfloor",)}), highest_kernel(table, {("hb",)})
        (3, 5)

    Each cell is looked at once at most. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    check_kind("highest_kernel", table, TriangleTable, "the table")
    return highest_true(table, state_of(state, "highest_kernel"))


def highest_true(table: TriangleTable, state: frozenset[Fact]) -> int:
    """`highest_kernel` of arguments that were checked."""
    # Going up from the goal, `k` is the highest kernel that the rows below still allow: a false literal of column c
    # excludes all kernels above c. At row k, everything that kernel k has is known to be true.
    k = table.N + 1
    for row, cells in zip(range(k, 0, -1), reversed(table.needs), strict=True):
        for column, present, absent in cells:
            if column >= k:
                break
            if not (present <= state and absent.isdisjoint(state)):
                k = column
                break
        if k in (row, 0):
            return k
    return 0
