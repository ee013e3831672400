"""The rules of inference for clauses: resolution and factoring."""

from __future__ import annotations

from collections.abc import Iterator

from ..limits import check_kind
from .clauses import Clause
from .formulas import Atom
from .terms import Term, Variable
from .unification import atom_replaced, unified_atoms

__all__ = ["resolvents"]


def resolvents(a: Clause, b: Clause) -> Iterator[Clause]:
    """All clauses that follow from two clauses by resolving a literal of one with the opposite of the other.

        >>> from adjoint.planning.logic import clause_form
        >>> a, b = clause_form("(P(?x) | Q(?x)) & (~P(A) | R)").clauses
        >>> list(resolvents(a, b))
        [<Clause Q(A) ∨ R>]

    Reference: Robinson (1965), "A machine-oriented logic based on the resolution principle", Journal of the ACM 12.
    """
    check_kind("resolvents", a, Clause, "a")
    check_kind("resolvents", b, Clause, "b")
    b = _apart(b, a.variables)
    for i, first in enumerate(a.literals):
        for j, second in enumerate(b.literals):
            if first.opposite != second.key or (to := unified_atoms(first.atom, second.atom)) is None:
                continue
            rest = a.literals[:i] + a.literals[i + 1 :] + b.literals[:j] + b.literals[j + 1 :]
            yield Clause(rest, a.answers + b.answers).replaced(to)


def factors(a: Clause) -> Iterator[Clause]:
    """All clauses that follow from a clause by making two of its literals one."""
    for i, first in enumerate(a.literals):
        for second in a.literals[i + 1 :]:
            if first.key == second.key and (to := unified_atoms(first.atom, second.atom)) is not None:
                yield a.replaced(to)


def _apart(x: Clause, used: frozenset[Variable]) -> Clause:
    """The clause with other names for variables that are `used`."""
    clash = x.variables & used
    if not clash:
        return x
    names = {v.name for v in x.variables | used}
    to: dict[Variable, Term] = {}
    for variable in sorted(clash, key=lambda v: v.name):
        stem, number = variable.name.rstrip("0123456789") or "x", 1
        while f"{stem}{number}" in names:
            number += 1
        names.add(f"{stem}{number}")
        to[variable] = Variable(f"{stem}{number}")
    return x.replaced(to)


def set_apart(atom: Atom) -> Atom:
    """The atom with names for its variables that no other formula has."""
    return atom_replaced(atom, {v: Variable(f"{v.name}'") for v in atom.free})
