"""Clause form, step by step: from any formula to clauses, which are satisfiable if, and only if, the formula is.

Reference: Chang & Lee (1973), "Symbolic Logic and Mechanical Theorem Proving", Chap. 4, to which Fu, Gonzalez & Lee
(1987), Sec. 10.4 refer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import NamedTuple

from ...display import counted
from ...errors import SolveError
from ..limits import check_kind
from .clauses import Clause, Literal, clause, is_tautology
from .formula_reader import formula
from .formulas import (
    TALLEST,
    And,
    Atom,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    formula_replaced,
    signature,
    with_parts,
)  # fmt: skip
from .terms import Function, Variable

__all__ = ["ClauseForm", "Step", "clause_form"]

MOST_CLAUSES = 5_000
_LARGEST = 100_000  # connectives and atoms


class Step(NamedTuple):
    """A formula on the way to clauses, and what was done to get it.

    >>> clause_form("P -> Q").steps[1]
    Step(done='without ⇒ and ⇔', formula=formula('~P ∨ Q'))
    """

    done: str
    formula: Formula


@dataclass(frozen=True, repr=False)
class ClauseForm:
    """The clauses of a formula, and the `steps` that lead to them; `print` shows all of it.

    >>> clause_form("P & (Q | R)")
    <ClauseForm: 2 clauses>
    """

    steps: tuple[Step, ...]
    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        wide = max(len(step.done) for step in self.steps)
        lines = [f"{step.done:{wide}}  {step.formula}" for step in self.steps]
        return "\n".join([*lines, *(f"{'clause':{wide}}  {x}" for x in self.clauses)])

    def __repr__(self) -> str:
        return f"<ClauseForm: {counted(len(self.clauses), 'clause')}>"


def clause_form(text: str | Formula, *, taken: Collection[str] = ()) -> ClauseForm:
    """The clauses of a formula, with all steps: implications, negations, names, Skolem functions, ∀, and ∨ over ∧.

        >>> print(clause_form("~exists x. forall y. P(x, y) -> Q"))
        formula             ~(∃x. ∀y. P(x, y) ⇒ Q)
        without ⇒ and ⇔     ~(∃x. ∀y. ~P(x, y) ∨ Q)
        ~ at atoms          ∀x. ∃y. P(x, y) ∧ ~Q
        different names     ∀x. ∃y. P(x, y) ∧ ~Q
        Skolem functions    ∀x. P(x, sk1(x)) ∧ ~Q
        ∀ understood        P(?x, sk1(?x)) ∧ ~Q
        ∨ inside ∧          P(?x, sk1(?x)) ∧ ~Q
        clause              P(?x, sk1(?x))
        clause              ~Q

    Free variables are understood as bound by ∀. Skolem functions have names that neither the formula nor `taken` has.
    The clauses are satisfiable if the formula is; without ∃ they are equivalent to it. A formula that takes more
    than 5000 clauses while it is multiplied out, or that has more than 100,000 parts without ⇔, is refused with a
    `SolveError`.
    Reference: Chang & Lee (1973), "Symbolic Logic and Mechanical Theorem Proving", Chap. 4.
    """
    read = formula(text)
    check_kind("clause_form", taken, Collection, "taken")
    return clauses_by_steps(read, fresh_names({*taken, *(name for name, _ in signature(read))}))


def fresh_names(taken: Collection[str]) -> Iterator[str]:
    """Names for Skolem functions, none of which is taken, and none of which comes twice."""
    return (name for i in count(1) if (name := f"sk{i}") not in taken)


def clauses_by_steps(x: Formula, names: Iterator[str], always: Collection[Variable] = ()) -> ClauseForm:
    """The clauses of a formula and the steps to them, with Skolem functions of these names.

    The variables `always` are arguments of all Skolem functions.
    """
    start = _small(x)
    implied = _without_implications(start)
    inward = _negations_inward(implied)
    named = _renamed(inward, {v.name for v in inward.free}, {})
    skolem = _skolemised(named, names, {}, always)
    bare = _without_for_all(skolem)
    clauses = _telling(_distributed(bare))
    steps = [
        Step("formula", start),
        Step("without ⇒ and ⇔", implied),
        Step("~ at atoms", inward),
        Step("different names", named),
        Step("Skolem functions", skolem),
        Step("∀ understood", bare),
    ]
    # Formulas have a limited height, so very many or very long clauses are not joined to one formula.
    if clauses and len(clauses) + max(len(x.literals) for x in clauses) < TALLEST:
        steps.append(Step("∨ inside ∧", reduce(And, map(_as_formula, clauses))))
    return ClauseForm(tuple(steps), tuple(clauses))


def _small(x: Formula) -> Formula:
    if x.size > _LARGEST:
        raise SolveError(f"clause_form: without ⇔ the formula has {x.size} parts; {_LARGEST} are possible")
    return x


def _without_implications(x: Formula) -> Formula:
    parts = tuple([_without_implications(part) for part in x.parts])
    match x:
        case Implies():
            return Or(Not(parts[0]), parts[1])
        case Iff():
            a, b = parts
            return _small(And(Or(Not(a), b), Or(Not(b), a)))
    return with_parts(x, parts)


_DUAL = {And: Or, Or: And, ForAll: Exists, Exists: ForAll}


def _negations_inward(x: Formula, positive: bool = True) -> Formula:
    """The formula, or its negation, with ~ only in front of atoms, by the laws of de Morgan and of quantifiers."""
    match x:
        case Atom():
            return x if positive else Not(x)
        case Not(inside):
            return _negations_inward(inside, not positive)
        case ForAll(variable, inside) | Exists(variable, inside):
            kind = type(x) if positive else _DUAL[type(x)]
            return kind(variable, _negations_inward(inside, positive))
    kind = type(x) if positive else _DUAL[type(x)]
    return kind(*[_negations_inward(part, positive) for part in x.parts])


def _renamed(x: Formula, used: set[str], to: dict[Variable, Variable]) -> Formula:
    """The formula in which every quantifier has a variable of its own; `used` collects their names."""
    if isinstance(x, ForAll | Exists):
        name = _new_name(x.variable.name, used)
        used.add(name)
        return type(x)(Variable(name), _renamed(x.inside, used, to | {x.variable: Variable(name)}))
    if isinstance(x, Atom):
        return formula_replaced(x, to)
    return with_parts(x, tuple([_renamed(part, used, to) for part in x.parts]))


def _new_name(name: str, used: Collection[str]) -> str:
    return name if name not in used else next(n for i in count(1) if (n := f"{name}{i}") not in used)


def _skolemised(
    x: Formula, names: Iterator[str], to: dict[Variable, Function], always: Collection[Variable]
) -> Formula:
    """The formula with functions in the place of ∃, of all variables that stand in the formula of ∃.

    These variables belong to ∀ around it; variables of ∀ that the formula of ∃ does not have cannot matter to it.
    """
    match x:
        case Exists(variable, inside):
            needed = frozenset(always).union(*(to.get(v, v).variables for v in x.free))
            chosen = Function(next(names), tuple(sorted(needed, key=lambda v: v.name)))
            return _skolemised(inside, names, to | {variable: chosen}, always)
        case Atom():
            return formula_replaced(x, to)
    return with_parts(x, tuple([_skolemised(part, names, to, always) for part in x.parts]))


def _without_for_all(x: Formula) -> Formula:
    if isinstance(x, ForAll):
        return _without_for_all(x.inside)
    return with_parts(x, tuple([_without_for_all(part) for part in x.parts]))


def _distributed(x: Formula) -> list[Clause]:
    """The clauses of a formula of ∧, ∨ and literals, by P ∨ (Q ∧ R) ≡ (P ∨ Q) ∧ (P ∨ R)."""
    match x:
        case And(left, right):
            found = _distributed(left) + _distributed(right)
        case Or(left, right):
            first, second = _distributed(left), _distributed(right)
            if len(first) * len(second) > MOST_CLAUSES:
                raise SolveError(f"clause_form: multiplying out the formula takes more than {MOST_CLAUSES} clauses")
            found = _telling(clause((*a.literals, *b.literals)) for a in first for b in second)
        case Not(Atom() as atom):
            found = [Clause((Literal(atom, False),))]
        case Atom():
            found = [Clause((Literal(x),))]
        case _:
            raise AssertionError(x)
    return found


def _telling(clauses: Iterable[Clause]) -> list[Clause]:
    """The clauses that say something, each of them once, whatever the order of its literals."""
    found: dict[frozenset[Literal], Clause] = {}
    for x in clauses:
        if not is_tautology(x):
            found.setdefault(frozenset(x.literals), x)
    return list(found.values())


def _as_formula(x: Clause) -> Formula:
    return reduce(Or, [atom if positive else Not(atom) for atom, positive in x.literals])
