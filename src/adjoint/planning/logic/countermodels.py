"""Countermodels: interpretations over a few objects in which axioms hold and a goal does not, so nothing can prove it.

Each clause is written without functions inside of other terms: P(f(x)) becomes f(x) ≠ y ∨ P(y). Over n objects it
stands for finitely many clauses of the propositions f(i) = j and P(i), for which `satisfiability` finds values.
Reference: McCune (2003), "Mace4 reference manual and guide", Argonne National Laboratory (the idea).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from ..limits import check_limits
from .clauses import Clause
from .formula_reader import formula
from .formulas import Formula
from .interpretations import Interpretation
from .problems import Problem, read_problem
from .satisfiability import satisfying
from .terms import Function, Term

__all__ = ["find_countermodel"]

_MOST_INSTANCES = 200_000
_FUNCTION, _RELATION = "function", "relation"


class _Cell(NamedTuple):
    """A proposition: that a relation holds of objects, or that a function of objects has the last one as its value."""

    kind: str
    name: str
    objects: tuple[int, ...]


def find_countermodel(
    axioms: Iterable[str | Formula], goal: str | Formula, *, max_objects: int = 4, max_seconds: float = 10.0
) -> Interpretation | None:
    """An interpretation of the fewest objects in which the axioms hold and the goal does not; None if none was found.

        >>> print(find_countermodel(["exists x. P(x)"], "forall x. P(x)"))
        objects: 0, 1
        sk1 = 1
        sk2 = 0
        P(1) is true
        everything else is false

    It shows that the goal does not follow from the axioms. That none was found shows nothing: there may be one with
    more than `max_objects` objects, or with infinitely many, or the time was too short. Every name of the formulas has
    a meaning, and the Skolem functions sk1, ... name what the axioms, and the negated goal, say to exist.
    Reference: McCune (2003), "Mace4 reference manual and guide", Argonne National Laboratory.
    """
    check_limits("find_countermodel", max_objects=max_objects, max_seconds=max_seconds)
    until = time.monotonic() + max_seconds
    try:
        problem = read_problem("find_countermodel", axioms, formula(goal, "goal"), until)
        for size in range(1, int(min(max_objects, _MOST_INSTANCES)) + 1):
            if (found := _model(problem, size, until)) is not None:
                return found
    except TimeoutError:
        pass
    return None


def _model(problem: Problem, size: int, until: float) -> Interpretation | None:
    """An interpretation over `size` objects in which all clauses hold, or None; a `TimeoutError` if it is not known."""
    flat = [_flattened(x) for x in (*(found for _, found in problem.given), *problem.from_goal)]
    # A name that only tautologies have stands in no clause, and yet it needs a meaning.
    functions = problem.signature | {
        (f.name, len(f.objects) - 1) for literals, _ in flat for _, f in literals if f.kind == _FUNCTION
    }
    instances = sum(size**count for _, count in flat) + sum(size ** (arity + 2) for _, arity in functions)
    if instances > _MOST_INSTANCES or time.monotonic() > until:
        raise TimeoutError
    number: dict[_Cell, int] = {}
    grounded = [x for literals, count in flat for x in _instances(literals, count, size, number)]
    grounded += [x for name, arity in sorted(functions) for x in _one_value(name, arity, size, number)]
    true = satisfying(grounded, until)
    if true is None:
        return None
    held = [cell for cell, n in number.items() if n in true]
    values = {(x.name, x.objects[:-1]): x.objects[-1] for x in held if x.kind == _FUNCTION}
    return Interpretation(size, values, frozenset((x.name, x.objects) for x in held if x.kind == _RELATION))


def _flattened(x: Clause) -> tuple[list[tuple[bool, _Cell]], int]:
    """The literals of a clause without functions inside of terms, and the number of its variables.

    A literal is whether it is positive, and a cell that has numbers of variables in the place of objects.
    """
    index: dict[Term, int] = {}
    literals: list[tuple[bool, _Cell]] = []

    def number(term: Term) -> int:
        if term not in index:
            if isinstance(term, Function):
                arguments = tuple([number(inside) for inside in term.arguments])
                index[term] = len(index)
                literals.append((False, _Cell(_FUNCTION, term.name, (*arguments, index[term]))))
            else:
                index[term] = len(index)
        return index[term]

    for atom, positive in x.literals:
        literals.append((positive, _Cell(_RELATION, atom.name, tuple([number(term) for term in atom.arguments]))))
    return literals, len(index)


def _instances(
    literals: list[tuple[bool, _Cell]], count: int, size: int, number: dict[_Cell, int]
) -> list[tuple[int, ...]]:
    """A clause for all objects that its variables may stand for."""
    found = []
    for objects in product(range(size), repeat=count):
        clause = {}
        for positive, (kind, name, variables) in literals:
            cell = _Cell(kind, name, tuple([objects[v] for v in variables]))
            n = number.setdefault(cell, len(number) + 1)
            clause[n if positive else -n] = None
        if not any(-n in clause for n in clause):
            found.append(tuple(clause))
    return found


def _one_value(name: str, arity: int, size: int, number: dict[_Cell, int]) -> list[tuple[int, ...]]:
    """Clauses that a function has at least one value, and not two."""
    found = []
    for arguments in product(range(size), repeat=arity):
        cells = [_Cell(_FUNCTION, name, (*arguments, value)) for value in range(size)]
        values = [number.setdefault(cell, len(number) + 1) for cell in cells]
        found.append(tuple(values))
        found += [(-a, -b) for i, a in enumerate(values) for b in values[:i]]
    return found
