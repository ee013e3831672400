"""Resolution: `prove` finds a contradiction between axioms and a negated goal, and what the goal's variables stand for.

The search keeps two lists of clauses. Those of the support, which come from the goal, wait in the order of their size;
the smallest is taken, and resolved with all that were taken before and with the axioms. So every step has to do with
the goal, and every clause is tried at last, since there are only finitely many of each size. Clauses that say nothing
new, and those with a literal that no axiom fits, are left out.
References: Robinson (1965), Journal of the ACM 12; Wos, Robinson & Carson (1965), Journal of the ACM 12 (set of
support); Green (1969), "Application of theorem proving to problem solving" (answers).
"""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Iterable

from ...errors import ArgumentError, SolveError
from ..limits import check_limits
from .clause_forms import clause_form, names_in
from .clauses import Clause, Literal, is_tautology, subsumes
from .formula_reader import formula
from .formulas import Atom, Exists, Formula, Not
from .proofs import Proof, ProofStep, negated
from .resolving import factors, resolvents, set_apart
from .terms import Variable
from .unification import unified_atoms

__all__ = ["prove"]

_DEEPEST = 40  # levels of a term
_LARGEST = 300  # symbols of a clause
_MOST_OPEN = 5  # open goals that a proof reports


def prove(
    axioms: Iterable[str | Formula],
    goal: str | Formula,
    *,
    support: str = "goal",
    max_clauses: int = 5_000,
    max_seconds: float = 10.0,
) -> Proof:
    """Prove that a goal follows from axioms, by resolution, and find what the goal says to exist.

        >>> proof = prove(["forall x. MAN(x) -> MORTAL(x)", "MAN(JOHN)"], "exists y. MORTAL(y)")
        >>> print(proof)
        ∃y. MORTAL(y): proved
           1  ~MORTAL(?y) ∨ ANS(?y)       negated goal
           2  ~MAN(?x) ∨ MORTAL(?x)       axiom 1
           3  ~MAN(?x) ∨ ANS(?x)          1 and 2 resolve
           4  MAN(JOHN)                   axiom 2
           5  contradiction ∨ ANS(JOHN)   3 and 4 resolve
          answer  y = JOHN
        >>> prove(["P -> Q"], "Q").status
        'not provable'

    The answer has the variables of the goal that are free, or bound by ∃ in front of it. With `support="goal"` each
    step has to do with the goal, which finds every proof if the axioms are consistent. With `support="all"` axioms are
    resolved with each other, too: contradictory axioms prove everything. Predicate logic is undecidable, so the search
    ends after `max_clauses` were kept or after `max_seconds`. Whether a goal does not follow at all,
    `find_countermodel` may tell. Equality has no meaning of its own.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    if support not in ("goal", "all"):
        raise ArgumentError(f"prove: support is 'goal' or 'all', got {support!r:.60}")
    if isinstance(axioms, str | Formula):
        raise ArgumentError("prove: axioms are a list of formulas; put the one that was given into brackets")
    if not isinstance(axioms, Iterable):
        raise ArgumentError(f"prove: axioms are a list of formulas, got {type(axioms).__name__}")
    check_limits("prove", max_clauses=max_clauses, max_seconds=max_seconds)
    read = [formula(text, f"axiom {i}") for i, text in enumerate(axioms, 1)]
    target = formula(goal, "goal")
    given, from_goal = clauses_of(read, target)
    search = _Search([*(found for _, found in given), *from_goal], max_clauses, max_seconds)
    for number, found in given:
        search.add(found, (), f"axiom {number}", waits=support == "all")
    for found in from_goal:
        search.add(found, (), "negated goal", waits=True)
    variables = [v.name for v in stripped(target)[1]]
    return search.proof(target, variables)


def stripped(goal: Formula) -> tuple[Formula, tuple[Variable, ...]]:
    """A goal without the ∃ in front of it, and its variables that an answer tells."""
    bound = []
    free = sorted(goal.free, key=lambda v: v.name)
    while isinstance(goal, Exists) and goal.variable not in (*bound, *free):
        bound.append(goal.variable)
        goal = goal.inside
    return goal, (*bound, *free)


def clauses_of(axioms: list[Formula], goal: Formula) -> tuple[list[tuple[int, Clause]], list[Clause]]:
    """The clauses of the axioms with the numbers of these, and those of the negated goal, which have answers."""
    taken = set().union(*(names_in(x) for x in (*axioms, goal)))
    numbered = []
    for number, axiom in enumerate(axioms, 1):
        for found in clause_form(axiom, taken=taken).clauses:
            numbered.append((number, found))
            taken |= {f for literal in found.literals for f in names_in(literal.atom)}
    inside, variables = stripped(goal)
    from_goal = clause_form(Not(inside), taken=taken).clauses
    return numbered, [Clause(x.literals, (variables,) if variables else ()) for x in from_goal]


# --- search -----------------------------------------------------------------------------------------------------------


class _Search:
    """The clauses that are known, where they come from, and those that wait to be resolved."""

    def __init__(self, inputs: list[Clause], max_clauses: int, max_seconds: float):
        self.inputs: dict[tuple, list[Atom]] = defaultdict(list)  # the atoms of all inputs, by the keys of the literals
        for literal in (literal for found in inputs for literal in found.literals):
            self.inputs[literal.key].append(set_apart(literal.atom))
        self.max_clauses, self.max_seconds = max_clauses, max_seconds
        self.start = time.monotonic()
        self.known: list[ProofStep] = []
        self.waiting: list[tuple[int, int]] = []  # a heap of (size, number of the clause)
        self.partners: dict[tuple, dict[int, Clause]] = defaultdict(dict)  # those that are resolved with, by their keys
        self.by_key: dict[tuple, list[Clause]] = defaultdict(list)  # all that are known, by the key of one literal
        self.open: list[tuple[int, Literal]] = []  # literals that nothing fits, with the sizes of their clauses
        self.generated = self.dropped = 0
        self.end = -1  # the number of the contradiction
        self.reason = ""  # which budget has ended

    def add(self, found: Clause, parents: tuple[int, ...], how: str, waits: bool) -> None:
        """Keep a clause unless it says nothing new."""
        self.generated += 1
        if self.end >= 0 or self._is_spent():
            return
        if is_tautology(found) or self._is_hopeless(found, waits) or self._is_subsumed(found):
            return
        if found.depth > _DEEPEST or found.size > _LARGEST:
            self.dropped += 1
            return
        number = len(self.known)
        self.known.append(ProofStep(found, parents, how))
        if not found.literals:
            self.end = number
            return
        self.by_key[found.literals[0].key].append(found)
        if waits:
            heapq.heappush(self.waiting, (found.size, number))
        else:
            self._becomes_partner(number)
        for factor in factors(found):
            self.add(factor, (number,), "factor", waits)
            if self.reason:
                return

    def _is_spent(self) -> bool:
        """Whether a budget has ended; the reason tells which."""
        if len(self.known) > self.max_clauses:
            self.reason = f"more than {self.max_clauses} clauses were kept"
        elif time.monotonic() - self.start > self.max_seconds:
            self.reason = f"{self.max_seconds:g} s have passed"
        return bool(self.reason)

    def _is_hopeless(self, found: Clause, waits: bool) -> bool:
        """Whether the clause has a literal that can never be resolved, since no input has its opposite.

        All literals of a search are instances of those of the inputs, so a contradiction never needs such a clause.
        """
        pure = [x for x in found.literals if not self._fits(x)]
        if waits:
            self.open += [(found.size, literal) for literal in pure]
        return bool(pure)

    def _fits(self, literal: Literal) -> bool:
        return any(unified_atoms(literal.atom, other) is not None for other in self.inputs[literal.opposite])

    def _is_subsumed(self, found: Clause) -> bool:
        return any(subsumes(other, found) for key in found.keys for other in self.by_key[key])

    def _becomes_partner(self, number: int) -> None:
        found = self.known[number].clause
        for key in found.keys:
            self.partners[key][number] = found

    def proof(self, goal: Formula, variables: list[str]) -> Proof:
        """Resolve until there is a contradiction, nothing is left, or too much was done."""
        while self.end < 0 and self.waiting and not self._is_spent():
            self._take(heapq.heappop(self.waiting)[1])
        reason = self.reason
        if not reason and self.dropped:
            reason = f"{self.dropped} clauses were too large to be kept"
        statistics = {"generated": self.generated, "kept": len(self.known), "seconds": time.monotonic() - self.start}
        if self.end < 0:
            status = "budget" if reason else "not provable"
            return Proof(goal, status, (), (), self._open_goals(), reason, statistics)
        steps = self._steps()
        answers = tuple(dict(zip(variables, answer, strict=True)) for answer in steps[-1].clause.answers)
        return Proof(goal, "proved", steps, answers, (), "", statistics)

    def _take(self, number: int) -> None:
        """Resolve a clause of the support with all partners, itself included."""
        given = self.known[number].clause
        if self._says_less(number):
            return
        self._becomes_partner(number)
        opposite = {literal.opposite for literal in given.literals}
        for partner, other in {n: c for key in opposite for n, c in self.partners[key].items()}.items():
            try:
                for found in resolvents(given, other):
                    self.add(found, (number, partner), "resolve", True)
            except (ArgumentError, SolveError):  # terms grew beyond what can be kept
                self.dropped += 1
            if self.end >= 0 or self.reason:
                return

    def _says_less(self, number: int) -> bool:
        """Whether a clause that was found later, but taken before, subsumes this one."""
        given = self.known[number].clause
        taken = (self.partners[key].items() for key in given.keys)
        return any(n > number and subsumes(other, given) for items in taken for n, other in items)

    def _open_goals(self) -> tuple[Formula, ...]:
        """The literals that were needed and that no clause can give, those of the smallest clauses first."""
        found = [negated(literal) for _, literal in sorted(self.open, key=lambda item: item[0])]
        return tuple({str(x): x for x in found}.values())[:_MOST_OPEN]

    def _steps(self) -> tuple[ProofStep, ...]:
        """The steps that lead to the contradiction, each after those that it follows from, with numbers from 1."""
        number_of: dict[int, int] = {}
        ahead = [self.end]
        while ahead:
            last = ahead[-1]
            missing = [parent for parent in self.known[last].parents if parent not in number_of]
            if missing:
                ahead += missing[::-1]
                continue
            number_of.setdefault(ahead.pop(), len(number_of) + 1)
        found = [self.known[old] for old in number_of]
        return tuple(ProofStep(x.clause, tuple(number_of[parent] for parent in x.parents), x.how) for x in found)
