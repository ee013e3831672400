"""Clauses: disjunctions of literals, with the answer that a proof collects; which of them say less than others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import ArgumentError
from ...lazy import cached_property
from ..limits import check_kind
from .formulas import Atom
from .terms import Substitution, Term, Variable, call_text, replaced
from .unification import atom_replaced, matched

__all__ = ["Clause", "Literal"]

_MOST_STEPS = 500  # of a test of subsumption, which may take exponential time; beyond it nothing is subsumed


class Literal(NamedTuple):
    """An atom, or the negation of one.

    >>> print(Literal(Atom("P"), positive=False))
    ~P
    """

    atom: Atom
    positive: bool = True

    @property
    def key(self) -> tuple[str, int, bool]:
        """What a literal must share with another to be equal to it after a substitution."""
        return self.atom.name, len(self.atom.arguments), self.positive

    @property
    def opposite(self) -> tuple[str, int, bool]:
        """The key of the literals that this one may be resolved with."""
        return self.atom.name, len(self.atom.arguments), not self.positive

    def __str__(self) -> str:
        return f"{'' if self.positive else '~'}{self.atom}"


@dataclass(frozen=True, repr=False)
class Clause:
    """Literals of which at least one is true, whatever their variables stand for; without literals a contradiction.

        >>> Clause((Literal(Atom("P")), Literal(Atom("Q"), False)))
        <Clause P ∨ ~Q>

    `answers` are tuples of terms, one for each use of the goal: what the goal's variables stand for.
    """

    literals: tuple[Literal, ...]
    answers: tuple[tuple[Term, ...], ...] = ()

    def __post_init__(self):
        check_kind("Clause", self.literals, tuple, "literals")
        for x in self.literals:
            if not isinstance(x, Literal) or not isinstance(x.atom, Atom):
                raise ArgumentError(f"Clause: its literals are such as Literal(Atom('P')), got {x!r:.60}")

    @cached_property
    def with_answers(self) -> Clause:
        """The clause whose answers are literals, of a predicate that no text can name."""
        return Clause((*self.literals, *(Literal(Atom("the answer", answer)) for answer in self.answers)))

    @cached_property
    def keys(self) -> frozenset:
        """The keys of the literals."""
        return frozenset(literal.key for literal in self.literals)

    @cached_property
    def variables(self) -> frozenset[Variable]:
        """All variables of the literals and of the answers."""
        inside = [literal.atom.free for literal in self.literals]
        return frozenset().union(*inside, *(term.variables for answer in self.answers for term in answer))

    @cached_property
    def size(self) -> int:
        """The number of symbols of the literals."""
        return sum(1 + sum(term.size for term in literal.atom.arguments) for literal in self.literals)

    @cached_property
    def depth(self) -> int:
        """The levels of the deepest term."""
        return max((term.depth for literal in self.literals for term in literal.atom.arguments), default=0)

    def replaced(self, to: Substitution) -> Clause:
        """The clause with terms in the place of variables; literals that become equal are one."""
        answers = (tuple(replaced(term, to) for term in answer) for answer in self.answers)
        return clause((Literal(atom_replaced(atom, to), positive) for atom, positive in self.literals), answers)

    def __str__(self) -> str:
        shown = [str(literal) for literal in self.literals] or ["contradiction"]
        shown += [call_text("ANS", answer) for answer in self.answers]
        return " ∨ ".join(shown)

    def __repr__(self) -> str:
        return f"<Clause {self}>"


def clause(literals: Iterable[Literal], answers: Iterable[tuple[Term, ...]] = ()) -> Clause:
    """A clause that has every literal and every answer once."""
    return Clause(tuple(dict.fromkeys(literals)), tuple(dict.fromkeys(answers)))


def is_tautology(x: Clause) -> bool:
    """Whether a clause has an atom and its negation, so that it says nothing."""
    known = set(x.literals)
    return any(Literal(atom, not positive) in known for atom, positive in x.literals)


def subsumes(general: Clause, special: Clause) -> bool:
    """Whether a substitution makes all literals of `general` literals of `special`, which then says nothing new.

    Answers do not count, unless they are literals: see `Clause.with_answers`. A clause with more literals never
    subsumes one with fewer: its own factors would go.
    """
    if len(general.literals) > len(special.literals) or not general.keys <= special.keys:
        return False
    if general.depth > special.depth:  # a substitution makes no term less deep
        return False
    steps = 0
    ahead: list[tuple[int, Substitution]] = [(0, {})]
    while ahead and steps < _MOST_STEPS:
        at, known = ahead.pop()
        if at == len(general.literals):
            return True
        literal = general.literals[at]
        for other in special.literals:
            steps += 1
            if other.positive == literal.positive and (found := matched(literal.atom, other.atom, known)) is not None:
                ahead.append((at + 1, found))
    return False
