"""`learn_differences`: a difference table that knows which operators worked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..limits import check_kind
from ..monitoring.triangle_tables import triangle_table
from ..search.difference_tables import Difference, DifferenceTable, Lack
from ..strips.task_types import Fact, Plan

__all__ = ["learn_differences"]


def learn_differences(table: DifferenceTable, plans: Iterable[Plan]) -> DifferenceTable:
    """The difference table after the experience of plans that worked: what helped most is tried first.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> task = book_task("blocks")
        >>> calls = "unstack c a, putdown c, pickup b, stack b c, pickup a, stack a b".split(", ")
        >>> plan = Plan(task, tuple(task.action(*call.split()) for call in calls))
        >>> table = DifferenceTable((Difference("hold it", ("holding", "?x"), ("unstack", "pickup")),))
        >>> print(learn_differences(table, [plan]))
        difference  fact            operators
        hold it     (holding ?x)    pickup, unstack
        handempty   (handempty)     putdown, stack
        ...

    Each literal that a step gave to another step, or to the goal, counts for the step's operator. The operators of a
    row are put in the order of their counts; equals keep their order. Differences that the table lacks get a row at
    its end. Reference: Fu, Gonzalez & Lee (1987), Secs. 10.5 and 10.7, Fig. 10.12.
    """
    check_kind("learn_differences", table, DifferenceTable, "the table")
    check_kind("learn_differences", plans, Iterable, "the plans")
    rows = list(table.rows)
    counts: list[Counter[str]] = [Counter() for _ in rows]
    for plan in plans:
        cells = triangle_table(plan).cells
        for (_, column), literals in sorted(cells.items()):
            for literal in literals if column else ():
                lack = Lack(literal[1:], absent=True) if literal[0] == "not" else Lack(literal)
                at = next((k for k, row in enumerate(rows) if row.matches(lack)), len(rows))
                if at == len(rows):
                    rows.append(_new_row(lack.fact, lack.absent))
                    counts.append(Counter())
                counts[at][plan.actions[column - 1].name] += 1
    return DifferenceTable(tuple(_reordered(row, count) for row, count in zip(rows, counts, strict=True)))


def _new_row(fact: Fact, absent: bool) -> Difference:
    name = f"not {fact[0]}" if absent else fact[0]
    return Difference(name, (fact[0], *(f"?{k}" for k in range(1, len(fact)))), (), absent)


def _reordered(row: Difference, count: Counter[str]) -> Difference:
    names = dict.fromkeys((*row.operators, *count))
    return row._replace(operators=tuple(sorted(names, key=lambda name: -count[name])))
