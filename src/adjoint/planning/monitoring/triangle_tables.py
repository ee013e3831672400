"""`triangle_table`: which step of a plan, or the initial state, gives each later step what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import ArgumentError
from ...lazy import cached_property
from ..strips.task_types import Fact, Plan
from .literals import effects, literals, opposite
from .table_text import table_html, table_text

__all__ = ["TriangleTable", "triangle_table"]

Cells = Mapping[tuple[int, int], tuple[Fact, ...]]


@dataclass(frozen=True, repr=False)
class TriangleTable:
    """The triangle table of a plan of N steps: rows 1 ... N+1, columns 0 ... N.

    - `cells` {(row, column): literals}: what step `row` needs and step `column` gave; row N+1 is the goal, column 0 the
      initial state. An absent fact is the literal ("not", ...).
    - `surviving` {(row, column): facts}: all facts that step `column` added and that are still true before step `row`,
      needed or not. So row i+1 of it is the add list of the first i steps.

    `print` shows the triangle:

        >>> from adjoint.planning.pddl import book_task, read_plan
        >>> steps = "(goto a b) \\n (pushbox b c) \\n (climbbox c) \\n (grasp)"
        >>> print(triangle_table(read_plan(steps, book_task("monkey"))))
            0
          +-----------+--------------+
        1 | (mk a)    | 1 (goto a b) |
        ...

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6, Figs. 10.14 and 10.17.
    """

    plan: Plan
    cells: Cells

    @cached_property
    def surviving(self) -> Cells:
        """{(row, column): all facts that step `column` added and that are still true before step `row`}."""
        found: dict[tuple[int, int], tuple[Fact, ...]] = {}
        giver: dict[Fact, int] = {}
        for row, action in enumerate((*self.plan.actions, None), 1):
            for fact, column in giver.items():
                found[row, column] = (*found.get((row, column), ()), fact)
            for fact in action.deletes if action else ():
                giver.pop(fact, None)
            giver |= dict.fromkeys(action.adds if action else (), row)
        return found

    @cached_property
    def rows(self) -> tuple[tuple[tuple[int, tuple[Fact, ...]], ...], ...]:
        """For each row, from 1, its cells that have literals: (column, literals), from left to right."""
        found: list[list[tuple[int, tuple[Fact, ...]]]] = [[] for _ in range(self.N + 1)]
        for (row, column), literals_there in sorted(self.cells.items()):
            found[row - 1].append((column, literals_there))
        return tuple(map(tuple, found))

    @property
    def N(self) -> int:
        """The number of steps."""
        return len(self.plan)

    def row(self, i: int) -> dict[int, tuple[Fact, ...]]:
        """{column: literals}: what step i needs (for N+1 the goal), by the step that gives it."""
        self._check("row", i, 1, self.N + 1)
        return dict(self.rows[i - 1])

    def column(self, j: int) -> dict[int, tuple[Fact, ...]]:
        """{row: literals}: what step j (for 0 the initial state) gives, by the step that needs it."""
        self._check("column", j, 0, self.N)
        return {r: self.cells[r, j] for r in range(j + 1, self.N + 2) if (r, j) in self.cells}

    def head_adds(self, i: int) -> tuple[Fact, ...]:
        """The add list of the first i steps together: row i+1 without column 0 (Sec. 10.7)."""
        self._check("head", i, 0, self.N)
        return tuple(fact for j in range(1, i + 1) for fact in self.surviving.get((i + 1, j), ()))

    def _check(self, what: str, number: int, least: int, most: int) -> None:
        if not isinstance(number, int) or not least <= number <= most:
            raise ArgumentError(f"the triangle table has no {what} {number}; there are {least} to {most}")

    def __str__(self) -> str:
        return table_text(self.plan.actions, self.cells)

    def _repr_html_(self) -> str:
        return table_html(self.plan.actions, self.cells)

    def __repr__(self) -> str:
        count = sum(map(len, self.cells.values()))
        return (
            f"<TriangleTable of {self.plan.problem.name}: {self.N} steps, {count} literals in {len(self.cells)} cells>"
        )


def triangle_table(plan: Plan) -> TriangleTable:
    """The triangle table of a plan that is valid.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> task = book_task("fetch")
        >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
        >>> table = triangle_table(Plan(task, tuple(task.action(*call) for call in calls)))
        >>> table.row(2)
        {0: (('in', 'b1', 'r2'), ('con', 'd1', 'r2', 'r1')), 1: (('in', 'rob', 'r2'),)}

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    _check_plan(plan)
    cells: dict[tuple[int, int], tuple[Fact, ...]] = {}
    giver: dict[Fact, int] = {}  # {literal that is true now: the step that made it so}; 0 for those that are not here
    for i, (state, action) in enumerate(zip(plan.states, (*plan.actions, None), strict=True), 1):
        needs = action.needs if action else plan.problem.goal
        if missing := needs.missing(state):
            what = f"step {i}, {action}" if action else "the goal"
            raise ArgumentError(f"triangle_table: the plan is not valid: {what} needs {' and '.join(missing)}")
        for literal in dict.fromkeys(literals(needs)):
            place = i, giver.get(literal, 0)
            cells[place] = (*cells.get(place, ()), literal)
        for literal in effects(action) if action else ():
            giver.pop(opposite(literal), None)
            giver[literal] = i
    return TriangleTable(plan, cells)


def _check_plan(plan: Plan) -> None:
    if not isinstance(plan, Plan):
        raise ArgumentError(f"triangle_table: 'plan' must be a Plan, got {type(plan).__name__}")
    if not plan.solved:
        raise ArgumentError(f"triangle_table: there is no plan for '{plan.problem.name}': {plan.reason}")
