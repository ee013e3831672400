"""Axioms and a goal as clauses, made within a time: what `prove` and `find_countermodel` begin with."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...errors import ArgumentError, SolveError
from .clause_forms import clauses_by_steps, fresh_names
from .clauses import Clause
from .formula_reader import formula
from .formulas import Exists, Formula, Not, signature
from .terms import Variable

__all__: list[str] = []


class Problem(NamedTuple):
    """The clauses of axioms and of a negated goal."""

    given: list[tuple[int, Clause]]  # the clauses of the axioms, with the numbers of these
    from_goal: list[Clause]  # the clauses of the negated goal, with answers
    variables: tuple[Variable, ...]  # what an answer tells
    signature: set[tuple[str, int]]  # the functions of the formulas, as names with numbers of arguments


def read_problem(caller: str, axioms: Iterable[str | Formula], goal: Formula, until: float) -> Problem:
    """The clauses of axioms and of the negated goal; a `TimeoutError` after the time `until` of `time.monotonic`."""
    if isinstance(axioms, str | Formula):
        raise ArgumentError(f"{caller}: axioms are a list of formulas; put the one that was given into brackets")
    if not isinstance(axioms, Iterable):
        raise ArgumentError(f"{caller}: axioms are a list of formulas, got {type(axioms).__name__}")
    read = [formula(text, f"axiom {i}") for i, text in enumerate(_in_time(axioms, until), 1)]
    known = signature(goal).union(*(signature(x) for x in _in_time(read, until)))
    names = fresh_names({name for name, _ in known})
    given: list[tuple[int, Clause]] = []
    for number, axiom in enumerate(_in_time(read, until), 1):
        with _named(f"axiom {number}"):
            given += [(number, found) for found in clauses_by_steps(axiom, names).clauses]
    inside, variables = _stripped(goal)
    # What the goal's Skolem functions name depends on the answer, so no answer can name it.
    with _named("goal"):
        negated = clauses_by_steps(Not(inside), names, always=variables).clauses
    from_goal = [Clause(x.literals, (variables,) if variables else ()) for x in negated]
    return Problem(given, from_goal, variables, known)


def _in_time(items: Iterable, until: float) -> Iterator:
    for item in items:
        if time.monotonic() > until:
            raise TimeoutError
        yield item


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors say which formula is too large."""
    try:
        yield
    except (ArgumentError, SolveError) as error:
        raise type(error)(f"{name}: {error}") from None


def _stripped(goal: Formula) -> tuple[Formula, tuple[Variable, ...]]:
    """A goal without the ∃ in front of it, and its variables that an answer tells."""
    bound = []
    free = sorted(goal.free, key=lambda v: v.name)
    while isinstance(goal, Exists) and goal.variable not in (*bound, *free):
        bound.append(goal.variable)
        goal = goal.inside
    return goal, (*bound, *free)
