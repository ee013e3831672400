"""Unification: the most general substitution that makes two terms or atoms equal; and matching, in one direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import ArgumentError, SolveError
from .formula_reader import term
from .formulas import Atom
from .terms import Function, Substitution, Term, Variable, replaced

__all__ = ["substitute", "unify"]

_MOST_STEPS = 100_000


def unify(a: str | Term | Atom, b: str | Term | Atom) -> dict[Variable, Term] | None:
    """The most general substitution that makes two terms, or two atoms, equal; None if there is none.

        >>> unify("P(?x, f(?y))", "P(g(?y), f(A))")
        {term('?y'): term('A'), term('?x'): term('g(A)')}
        >>> print(unify("?x", "f(?x)"))    # no term contains itself
        None

    The result is idempotent: none of its variables stands in one of its terms. Every other substitution that makes both
    equal is an instance of it. Reference: Robinson (1965), "A machine-oriented logic based on the resolution
    principle", Journal of the ACM 12.
    """
    return _unified([(_as_term(a, "unify"), _as_term(b, "unify"))])


def substitute(x: str | Term | Atom, to: Substitution) -> Term | Atom:
    """The term or the atom with terms in the place of its variables, all at the same time.

        >>> print(substitute("P(?x, ?y)", {Variable("x"): Variable("y"), Variable("y"): term("A")}))
        P(?y, A)

    Reference: Robinson (1965), "A machine-oriented logic based on the resolution principle", Journal of the ACM 12.
    """
    if not isinstance(to, Mapping) or not all(isinstance(v, Variable) for v in to):
        raise ArgumentError("substitute: a dict {Variable: term} is needed, such as {Variable('x'): term('A')}")
    terms = {variable: _as_term(value, "substitute") for variable, value in to.items()}
    return atom_replaced(x, terms) if isinstance(x, Atom) else replaced(_as_term(x, "substitute"), terms)


def _as_term(x, caller: str) -> Term:
    """What is given as a term; an atom is unified as a term of the same text would be."""
    if isinstance(x, Atom):
        return Function(x.name, x.arguments)
    if not isinstance(x, str | Variable | Function):
        raise ArgumentError(f"{caller}: a term or an atom is needed, such as 'f(?x)', got {type(x).__name__}")
    return term(x, caller)


def atom_replaced(atom: Atom, to: Substitution) -> Atom:
    """The atom with terms in the place of its variables."""
    return Atom(atom.name, tuple([replaced(x, to) for x in atom.arguments])) if not atom.free.isdisjoint(to) else atom


def unified_atoms(a: Atom, b: Atom) -> dict[Variable, Term] | None:
    """The most general substitution that makes two atoms equal, or None."""
    return _unified(list(zip(a.arguments, b.arguments, strict=True))) if _alike(a, b) else None


def are_unifiable(a: Atom, b: Atom) -> bool:
    """Whether a substitution makes two atoms equal, without its terms, which may be large."""
    return _alike(a, b) and _bindings(list(zip(a.arguments, b.arguments, strict=True))) is not None


def unified_rows(rows: Sequence[tuple[Term, ...]]) -> dict[Variable, Term] | None:
    """The most general substitution that makes rows of as many terms equal, or None."""
    return _unified([pair for row in rows[1:] for pair in zip(rows[0], row, strict=True)])


def _alike(a: Atom, b: Atom) -> bool:
    return a.name == b.name and len(a.arguments) == len(b.arguments)


def _unified(pairs: list[tuple[Term, Term]]) -> dict[Variable, Term] | None:
    """The most general substitution that makes the terms of each pair equal, or None."""
    bound = _bindings(pairs)
    return None if bound is None else _resolved(bound)


def _bindings(pairs: list[tuple[Term, Term]]) -> dict[Variable, Term] | None:
    """What variables must be to make the terms of each pair equal, by terms that have bound variables, too; or None."""
    bound: dict[Variable, Term] = {}
    pairs = pairs[::-1]
    for _ in range(_MOST_STEPS):
        if not pairs:
            return bound
        a, b = (_value(x, bound) for x in pairs.pop())
        if a is b or a == b:
            continue
        if isinstance(b, Variable) and not isinstance(a, Variable):
            a, b = b, a
        if isinstance(a, Variable):
            if _occurs(a, b, bound):
                return None
            bound[a] = b
        elif a.name != b.name or len(a.arguments) != len(b.arguments):  # type: ignore[union-attr]
            return None
        else:
            pairs.extend(reversed(list(zip(a.arguments, b.arguments, strict=True))))  # type: ignore[union-attr]
    raise SolveError(f"unify: the terms are not unified after {_MOST_STEPS} steps; they are too large")


def _value(x: Term, bound: dict[Variable, Term]) -> Term:
    while isinstance(x, Variable) and x in bound:
        x = bound[x]
    return x


def _occurs(variable: Variable, x: Term, bound: dict[Variable, Term]) -> bool:
    """Whether a variable stands in a term, or in what the term's variables are bound to (the occurs check)."""
    seen, ahead = set(), list(x.variables)
    while ahead:
        found = ahead.pop()
        if found == variable:
            return True
        if found not in seen and found in bound:
            seen.add(found)
            ahead.extend(bound[found].variables)
    return False


def _resolved(bound: dict[Variable, Term]) -> dict[Variable, Term]:
    """The bindings with nothing left to replace in them. The occurs check has seen that they end."""
    done: dict[Variable, Term] = {}
    for variable in bound:
        ahead = [variable]
        while ahead:
            inner = [x for x in bound[ahead[-1]].variables if x in bound and x not in done]
            if inner:
                ahead += inner
                continue
            last = ahead.pop()
            if last not in done:
                done[last] = replaced(bound[last], done)
    return done


def matched(pattern: Atom, atom: Atom, known: Substitution) -> dict[Variable, Term] | None:
    """What the variables of `pattern` alone must be, beside what is `known`, to make it the atom; or None."""
    if not _alike(pattern, atom):
        return None
    found = dict(known)
    pairs: list[tuple[Term, Term]] = list(zip(pattern.arguments, atom.arguments, strict=True))
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, Variable):
            if found.setdefault(a, b) != b:
                return None
        elif isinstance(b, Variable) or a.name != b.name or len(a.arguments) != len(b.arguments):
            return None
        elif a.variables:
            pairs.extend(zip(a.arguments, b.arguments, strict=True))
        elif a != b:
            return None
    return found
