"""Difference-operator tables of means-ends analysis: which difference matters most, and which operators reduce it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

from ...errors import ArgumentError, nearest
from ..limits import check_each, check_kind
from ..rules.matching import FactIndex, joined, match
from ..strips.task_types import Action, Condition, Domain, Fact, Operator, Problem, fact_text
from .search_results import table_text

__all__ = ["Difference", "DifferenceTable", "difference_table"]

_NEEDED = "a tuple such as ('on', '?x', '?y') is needed"
_MOST_TRIED = 5_000  # choices of objects for the variables of an operator that are tried to reduce one difference


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
        return self.absent == lack.absent and match(self.fact, lack.fact, {}) is not None

    def may_give(self, pattern: Fact) -> bool:
        """Whether the operators of this row may give a fact of a pattern."""
        return not self.absent and bool(self.operators) and (self.fact[0], len(self.fact)) == (pattern[0], len(pattern))


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

    def __post_init__(self):
        check_each("DifferenceTable", self.rows, Difference, "rows")
        for row in self.rows:
            if not (isinstance(row.fact, tuple) and row.fact and all(isinstance(word, str) for word in row.fact)):
                raise ArgumentError(f"DifferenceTable: the fact of row '{row.name}' is {row.fact!r:.60}; {_NEEDED}")

    def row(self, lack: Lack) -> int | None:
        """The number of the first row that is about a lack, or None: no operator of the table can reduce it."""
        return next((k for k, row in enumerate(self.rows) if row.matches(lack) and row.operators), None)

    def __str__(self) -> str:
        rows = [(row.name, str(Lack(row.fact, row.absent)), ", ".join(row.operators)) for row in self.rows]
        return table_text([("difference", "fact", "operators"), *rows])


def difference_table(domain: Domain, *predicates: str) -> DifferenceTable:
    """The table that follows from a domain's operators, for these predicates in this order, the most important first.
    Without predicates, it has all that operators change, in the order of the operators, which may be a poor one.

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
        for predicate in predicates or shapes:
            if not isinstance(predicate, str) or predicate not in shapes:
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


def relevant_actions(
    problem: Problem, table: DifferenceTable, lack: Lack, state: frozenset[Fact], until: float
) -> Iterator[tuple[list[Action], str]]:
    """The actions that end a lack, for each operator that the table lists, and its name if it has more than were tried.

    Of one operator, those come first whose own lacks matter least. If all its actions need something that no operator
    of the table can change, only the first is given, which shows why. Nothing is found after the time `until` of
    `time.monotonic`.
    """
    places = {name: k for k, name in enumerate(problem.all_objects)}

    def importance(action: Action) -> tuple[tuple[int, ...], list[int]]:
        rows = (table.row(missing) for missing in lacks(action.needs, state))
        lacking = tuple(sorted((1 if row is None else -row for row in rows), reverse=True))
        return lacking, [places[name] for name in action.arguments]

    row = table.row(lack)
    for name in () if row is None else table.rows[row].operators:
        operator = problem.domain.operator(name)
        assert operator is not None  # checked_table saw to that
        needs, arguments_for = operator.needs.facts, partial(_arguments, problem, operator, lack, state, until)
        tried = arguments_for([fact for fact in needs if not any(row.may_give(fact) for row in table.rows)])
        cut = len(tried) > _MOST_TRIED
        if cut:  # those that apply already are not missed at least
            tried |= arguments_for(needs)
        tried = tried or arguments_for(())
        actions = [operator.ground(*arguments, costs=problem.costs) for arguments in tried]
        ordered = sorted((action for action in actions if _ends(action, lack)), key=importance)
        hopeful = [action for action in ordered if importance(action)[0][:1] != (1,)]
        yield hopeful or ordered[:1], name if cut else ""


def _arguments(
    problem: Problem, operator: Operator, lack: Lack, state: frozenset[Fact], until: float, needed: Sequence[Fact]
) -> dict[tuple[str, ...], None]:
    """The objects with which an operator may end a lack, and with which the conditions `needed` are true in a state.

    If there are more than `_MOST_TRIED`, the result has one more than that.
    """
    found: dict[tuple[str, ...], None] = {}
    predicates = {fact[0] for fact in needed}
    index = FactIndex()
    for fact in sorted(fact for fact in state if fact[0] in predicates):
        index.add(fact)
    for effect in operator.deletes if lack.absent else operator.adds:
        bound = match(effect, lack.fact, {})
        if bound is None:
            continue
        for row in joined(needed, frozenset(range(len(needed))), index, bound, until):
            for arguments in product(
                *([x for x in problem.objects_of(p.types) if row.get(p.name, x) == x] for p in operator.parameters)
            ):
                found[arguments] = None
                if len(found) > _MOST_TRIED:
                    return found
    return found


def _ends(action: Action, lack: Lack) -> bool:
    """Whether a lack is none after an action, whose names are those that it wants to be the same or different."""
    needs = action.needs
    if any(a != b for a, b in needs.same) or any(a == b for a, b in needs.different):
        return False
    return (lack.fact in action.adds) != lack.absent
