"""`triangle_table`: which step of a plan, or the initial state, gives each later step what it needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from ...display import counted
from ...errors import ArgumentError
from ...lazy import cached_property
from ..strips.task_types import Fact, Plan
from .literals import opposite
from .support_links import givers, support_links
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
        found: dict[tuple[int, int], list[Fact]] = defaultdict(list)
        for row, giver in enumerate(givers(self.plan.actions), 1):
            for fact, column in _added(giver):
                found[row, column].append(fact)
        return {place: tuple(facts) for place, facts in found.items()}

    @cached_property
    def rows(self) -> tuple[tuple[tuple[int, tuple[Fact, ...]], ...], ...]:
        """For each row, from 1, its cells that have literals: (column, literals), from left to right."""
        found: list[list[tuple[int, tuple[Fact, ...]]]] = [[] for _ in range(self.N + 1)]
        for (row, column), literals_there in sorted(self.cells.items()):
            found[row - 1].append((column, literals_there))
        return tuple(map(tuple, found))

    @cached_property
    def needs(self) -> tuple[tuple[tuple[int, frozenset[Fact], frozenset[Fact]], ...], ...]:
        """`rows` with sets, which are compared fast: (column, facts that must be there, facts that must be absent)."""
        return tuple(tuple((column, *_parted(literals)) for column, literals in row) for row in self.rows)

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
        return tuple(self.head_givers(i))

    def head_givers(self, i: int) -> dict[Fact, int]:
        """{fact: step}: the add list of the first i steps together, and the steps that added the facts, in order."""
        self._check("head", i, 0, self.N)
        giver = next(islice(givers(self.plan.actions), i, None))
        return dict(sorted(_added(giver), key=itemgetter(1)))

    def _check(self, what: str, number: int, least: int, most: int) -> None:
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ArgumentError(f"the triangle table has no {what} {number}; there are {least} to {most}")

    def __str__(self) -> str:
        return table_text(self.plan.actions, self.cells)

    def _repr_html_(self) -> str:
        return table_html(self.plan.actions, self.cells)

    def __repr__(self) -> str:
        count = counted(sum(map(len, self.cells.values())), "literal")
        where = f"{count} in {counted(len(self.cells), 'cell')}"
        return f"<TriangleTable of {self.plan.problem.name}: {counted(self.N, 'step')}, {where}>"


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
    goal = plan.problem.goal
    for i, (state, action) in enumerate(zip(plan.states, (*plan.actions, None), strict=True), 1):
        if missing := (action.needs if action else goal).missing(state):
            what = f"step {i}, {action}" if action else "the goal"
            raise ArgumentError(f"triangle_table: the plan is not valid: {what} needs {' and '.join(missing)}")
    cells: dict[tuple[int, int], dict[Fact, None]] = defaultdict(dict)
    for literal, giver, user in support_links(plan.actions, goal):
        cells[user, giver][literal] = None
    return TriangleTable(plan, {place: tuple(found) for place, found in cells.items()})


def _parted(literals: tuple[Fact, ...]) -> tuple[frozenset[Fact], frozenset[Fact]]:
    absent = frozenset(opposite(x) for x in literals if x[0] == "not")
    return frozenset(x for x in literals if x[0] != "not"), absent


def _added(giver: Mapping[Fact, int]) -> Iterator[tuple[Fact, int]]:
    """The facts among literals that have a giver, with it."""
    return ((literal, step) for literal, step in giver.items() if literal[0] != "not")


def _check_plan(plan: Plan) -> None:
    if not isinstance(plan, Plan):
        inside = "; its .plan is one" if isinstance(getattr(plan, "plan", None), Plan) else ""
        raise ArgumentError(f"triangle_table: 'plan' must be a Plan, got {type(plan).__name__}{inside}")
    if not plan.solved:
        raise ArgumentError(f"triangle_table: there is no plan for '{plan.problem.name}': {plan.reason}")
