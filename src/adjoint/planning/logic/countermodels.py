"""Countermodels: interpretations over a few objects in which axioms hold and a goal does not, so nothing can prove it.

Each clause is written without functions inside of other terms: P(f(x)) becomes f(x) ≠ y ∨ P(y). Over n objects it
stands for finitely many clauses of the propositions f(i) = j and P(i), for which `satisfiability` finds values.
Reference: McCune (2003), "Mace4 reference manual and guide", Argonne National Laboratory (the idea).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import product

from ...errors import ArgumentError
from ..limits import check_limits
from .clauses import Clause
from .formula_reader import formula
from .formulas import Formula
from .interpretations import Interpretation
from .resolution import clauses_of
from .satisfiability import satisfying
from .terms import Function, Term, Variable

__all__ = ["find_countermodel"]

_MOST_INSTANCES = 200_000
_EQUAL = "="  # no predicate has this name

Flat = tuple[bool, str, tuple[int, ...]]
"""A literal whose arguments are numbers of variables: whether it is positive, its name, and the numbers."""


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
    more than `max_objects` objects, or with infinitely many, or the time was too short. The Skolem functions sk1, ...
    name what the axioms, and the negated goal, say to exist.
    """
    if isinstance(axioms, str | Formula):
        raise ArgumentError(
            "find_countermodel: axioms are a list of formulas; put the one that was given into brackets"
        )
    if not isinstance(axioms, Iterable):
        raise ArgumentError(f"find_countermodel: axioms are a list of formulas, got {type(axioms).__name__}")
    check_limits("find_countermodel", max_objects=max_objects, max_seconds=max_seconds)
    read = [formula(text, f"axiom {i}") for i, text in enumerate(axioms, 1)]
    numbered, from_goal = clauses_of(read, formula(goal, "goal"))
    clauses = [x for _, x in numbered] + from_goal
    until = time.monotonic() + max_seconds
    for size in range(1, int(min(max_objects, _MOST_INSTANCES)) + 1):
        try:
            found = _model(clauses, size, until)
        except TimeoutError:
            return None
        if found is not None:
            return found
    return None


def _model(clauses: list[Clause], size: int, until: float) -> Interpretation | None:
    """An interpretation over `size` objects in which all clauses hold, or None."""
    flat = [_flattened(x) for x in clauses]
    functions = {(f[1], len(f[2]) - 1) for literals, _ in flat for f in literals if f[1].startswith(_EQUAL)}
    instances = sum(size**count for _, count in flat) + sum(size ** (arity + 2) for _, arity in functions)
    if instances > _MOST_INSTANCES:
        raise TimeoutError
    number: dict[tuple[str, tuple[int, ...]], int] = {}
    grounded = [x for literals, count in flat for x in _instances(literals, count, size, number)]
    grounded += [x for name, arity in sorted(functions) for x in _one_value(name, arity, size, number)]
    true = satisfying(grounded, until)
    if true is None:
        return None
    held = [atom for atom, n in number.items() if n in true]
    values = {(name[1:], objects[:-1]): objects[-1] for name, objects in held if name.startswith(_EQUAL)}
    return Interpretation(size, values, frozenset(x for x in held if not x[0].startswith(_EQUAL)))


def _flattened(x: Clause) -> tuple[list[Flat], int]:
    """The literals of a clause without functions inside of terms, and the number of its variables."""
    index: dict[Term, int] = {}
    literals: list[Flat] = []

    def number(term: Term) -> int:
        if term not in index:
            if isinstance(term, Function):
                arguments = tuple([number(inside) for inside in term.arguments])
                index[term] = len(index)
                literals.append((False, _EQUAL + term.name, (*arguments, index[term])))
            else:
                assert isinstance(term, Variable)
                index[term] = len(index)
        return index[term]

    for atom, positive in x.literals:
        literals.append((positive, atom.name, tuple([number(term) for term in atom.arguments])))
    return literals, len(index)


def _instances(literals: list[Flat], count: int, size: int, number: dict) -> list[tuple[int, ...]]:
    """A clause for all objects that its variables may stand for."""
    found = []
    for objects in product(range(size), repeat=count):
        clause = {}
        for positive, name, variables in literals:
            n = number.setdefault((name, tuple([objects[v] for v in variables])), len(number) + 1)
            clause[n if positive else -n] = None
        if not any(-n in clause for n in clause):
            found.append(tuple(clause))
    return found


def _one_value(name: str, arity: int, size: int, number: dict) -> list[tuple[int, ...]]:
    """Clauses that a function has at least one value, and not two."""
    found = []
    for arguments in product(range(size), repeat=arity):
        values = [number.setdefault((name, (*arguments, value)), len(number) + 1) for value in range(size)]
        found.append(tuple(values))
        found += [(-a, -b) for i, a in enumerate(values) for b in values[:i]]
    return found
