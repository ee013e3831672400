"""Difference-operator tables of means-ends analysis: which difference matters most, and which operators reduce it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import NamedTuple

from ...errors import ArgumentError, nearest
from ..limits import check_kind
from ..strips.task_types import Action, Condition, Domain, Fact, Operator, Problem, fact_text
from .search_results import table_text

__all__ = ["Difference", "DifferenceTable", "difference_table"]

_MOST_TRIED = 5_000  # objects for the variables of an operator that are tried to reduce one difference


class Difference(NamedTuple):
    """A row of the table: a kind of fact that is missing, and the operators to try, in their order.

    >>> Difference("move robot", ("robot-at", "?place"), ("walk",)).operators
    ('walk',)
    """

    name: str
    fact: Fact
    """terms that begin with "?" stand for any object"""
    operators: tuple[str, ...]
    absent: bool = False
    """whether the difference is a fact that is true and should not be"""

    def matches(self, lack: Lack) -> bool:
        """Whether this row is about what a state lacks."""
        return self.absent == lack.absent and _unified(self.fact, lack.fact) is not None


class Lack(NamedTuple):
    """One fact that should be true and is not, or, if it is `absent`, the other way round."""

    fact: Fact
    absent: bool = False

    def __str__(self) -> str:
        return f"not {fact_text(self.fact)}" if self.absent else fact_text(self.fact)


@dataclass(frozen=True)
class DifferenceTable:
    """The differences in the order of their importance; `print` writes the table of Fig. 10.12.

        >>> print(DifferenceTable((Difference("move robot", ("robot-at", "?place"), ("walk", "carry")),)))
        difference  fact               operators
        move robot  (robot-at ?place)  walk, carry

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.5, Fig. 10.12.
    """

    rows: tuple[Difference, ...]

    def row(self, lack: Lack) -> int | None:
        """The number of the first row that is about a lack, or None: no operator of the table can reduce it."""
        return next((k for k, row in enumerate(self.rows) if row.matches(lack) and row.operators), None)

    def __str__(self) -> str:
        rows = [(row.name, str(Lack(row.fact, row.absent)), ", ".join(row.operators)) for row in self.rows]
        return table_text([("difference", "fact", "operators"), *rows])


def difference_table(domain: Domain, *predicates: str) -> DifferenceTable:
    """The table that follows from a domain's operators, for these predicates in this order.

    >>> from adjoint.planning.search import monkey_task
    >>> print(difference_table(monkey_task()[0].domain, "has-bananas", "box-at"))
    difference   fact             operators
    has-bananas  (has-bananas)    grasp
    box-at       (box-at ?1)      pushbox
    not box-at   not (box-at ?1)  pushbox
    """
    check_kind("difference_table", domain, Domain, "the domain")
    shapes = {fact[0]: len(fact) for operator in domain.operators for fact in (*operator.adds, *operator.deletes)}
    rows = []
    for absent in (False, True):
        for predicate in predicates:
            if predicate not in shapes:
                known = nearest(predicate, list(shapes))
                raise ArgumentError(f"difference_table: no operator changes '{predicate}'; {known}")
            effects = [(op.name, op.deletes if absent else op.adds) for op in domain.operators]
            names = tuple(name for name, facts in effects if any(fact[0] == predicate for fact in facts))
            fact = (predicate, *(f"?{k}" for k in range(1, shapes[predicate])))
            if names:
                rows.append(Difference(f"{'not ' if absent else ''}{predicate}", fact, names, absent))
    return DifferenceTable(tuple(rows))


def checked_table(table: DifferenceTable, domain: Domain) -> DifferenceTable:
    """The table, if the domain has all its operators."""
    for row in table.rows:
        for name in row.operators:
            if domain.operator(name) is None:
                known = nearest(name, [operator.name for operator in domain.operators])
                raise ArgumentError(f"row '{row.name}' of the table has no operator of the domain: '{name}'; {known}")
    return table


def lacks(wanted: Condition, state: frozenset[Fact]) -> tuple[Lack, ...]:
    """What is not as a condition wants it, in the condition's order."""
    return (
        *(Lack(fact) for fact in wanted.facts if fact not in state),
        *(Lack(fact, absent=True) for fact in wanted.absent if fact in state),
    )


def relevant_actions(problem: Problem, table: DifferenceTable, lack: Lack, state: frozenset[Fact]) -> Iterator[Action]:
    """The actions that end a lack, operator by operator as the table lists them.

    Of one operator, those come first whose own lacks matter least. If all its actions need something that no operator
    of the table can change, only the first is given, which shows why.
    """

    def importance(action: Action) -> tuple[int, ...]:
        rows = (table.row(missing) for missing in lacks(action.needs, state))
        return tuple(sorted((1 if row is None else -row for row in rows), reverse=True))

    row = table.row(lack)
    for name in () if row is None else table.rows[row].operators:
        operator = problem.domain.operator(name)
        assert operator is not None  # checked_table saw to that
        found = sorted(_achievers(problem, operator, lack), key=importance)
        yield from [action for action in found if importance(action)[:1] != (1,)] or found[:1]


def _achievers(problem: Problem, operator: Operator, lack: Lack) -> Iterator[Action]:
    """The actions of an operator after which a lack is none."""
    seen = set()
    for effect in operator.deletes if lack.absent else operator.adds:
        bound = _unified(effect, lack.fact)
        if bound is None:
            continue
        choices = [[x for x in problem.objects_of(p.types) if bound.get(p.name, x) == x] for p in operator.parameters]
        for arguments in islice(product(*choices), _MOST_TRIED):
            action = operator.ground(*arguments, costs=problem.costs)
            terms = all(a == b for a, b in action.needs.same) and all(a != b for a, b in action.needs.different)
            if terms and arguments not in seen and (lack.fact in action.adds) != lack.absent:
                seen.add(arguments)
                yield action


def _unified(pattern: Fact, fact: Fact) -> dict[str, str] | None:
    """What the variables of a pattern stand for in a fact, or None if it is no instance of the pattern."""
    if len(pattern) != len(fact):
        return None
    bound: dict[str, str] = {}
    for term, value in zip(pattern, fact, strict=True):
        if (bound.setdefault(term, value) if term.startswith("?") else term) != value:
            return None
    return bound
