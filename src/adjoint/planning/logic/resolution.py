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
from dataclasses import replace
from typing import NamedTuple

from ...display import counted
from ...errors import ArgumentError, SolveError
from ..limits import check_limits
from .clauses import Clause, Literal, is_tautology, subsumes
from .formula_reader import formula
from .formulas import Atom, Formula
from .problems import Problem, read_problem
from .proofs import Proof, ProofStep, negated
from .resolving import factors, resolvents, set_apart
from .terms import DEEPEST
from .unification import are_unifiable, unified_rows

__all__ = ["prove"]

_SYMBOLS = 10  # of a clause, for each level that a term may have
_MOST_OPEN = 5  # open goals that a proof reports


def prove(
    axioms: Iterable[str | Formula],
    goal: str | Formula,
    *,
    support: str = "goal",
    max_clauses: int = 5_000,
    max_seconds: float = 10.0,
    max_depth: int = 100,
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

    The answer has the variables of the goal that are free, or bound by ∃ in front of it. If the first proof has several
    answers, of which one must be right, the search begins again, for a proof with a single one. With `support="goal"`
    each step has to do with the goal, which finds every proof if the axioms are consistent. With `support="all"` axioms
    are resolved with each other, too: contradictory axioms prove everything.

    Predicate logic is undecidable, so a search ends after `max_clauses` were kept, and all work after `max_seconds`.
    Clauses are left out if they have more than `max_depth` levels of functions, or more than ten times as many symbols,
    unless an axiom or the goal has more itself; no term has more than 200 levels. Whether a goal does not follow at
    all, `find_countermodel` may tell.
    Equality has no meaning of its own.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    if support not in ("goal", "all"):
        raise ArgumentError(f"prove: support is 'goal' or 'all', got {support!r:.60}")
    check_limits("prove", max_clauses=max_clauses, max_seconds=max_seconds, max_depth=max_depth)
    limits = _Limits(max_clauses, max_seconds, max_depth, time.monotonic())
    target = formula(goal, "goal")
    try:
        problem = read_problem("prove", axioms, target, limits.until)
    except TimeoutError:
        return Proof(target, "budget", reason=limits.out_of_time(), statistics=limits.statistics(0, 0))
    first = _Search(problem, support, limits).proof(target)
    if len(first.answers) < 2:
        return first
    second = _Search(problem, support, limits, one_answer=True).proof(target)
    counts = (int(first.statistics[x] + second.statistics[x]) for x in ("generated", "kept"))
    why = second.reason or "none follows from the axioms"
    found = second or replace(first, reason=f"no single answer was found: {why}")
    return replace(found, statistics=limits.statistics(*counts))


class _Limits(NamedTuple):
    clauses: float
    seconds: float
    depth: float
    start: float

    @property
    def until(self) -> float:
        return self.start + self.seconds

    def out_of_time(self) -> str:
        return f"{self.seconds:g} s have passed"

    def statistics(self, generated: int, kept: int) -> dict[str, float]:
        return {"generated": generated, "kept": kept, "seconds": time.monotonic() - self.start}


# --- search -----------------------------------------------------------------------------------------------------------


class _Search:
    """The clauses that are known, where they come from, and those that wait to be resolved.

    Where one answer is wanted, clauses whose answers cannot be made one are needless, and answers count as literals in
    tests of subsumption, so that no clause goes for one with other answers. Then every single answer is found.
    Reference: Kunen (1996), "The semantics of answer literals", Journal of Automated Reasoning 17.
    """

    def __init__(self, problem: Problem, support: str, limits: _Limits, *, one_answer: bool = False):
        inputs = [*(found for _, found in problem.given), *problem.from_goal]
        self.inputs: dict[tuple, list[Atom]] = defaultdict(list)  # the atoms of all inputs, by the keys of the literals
        for literal in (literal for found in inputs for literal in found.literals):
            self.inputs[literal.key].append(set_apart(literal.atom))
        self.limits, self.variables = limits, [v.name for v in problem.variables]
        self.one_answer = one_answer
        self.deepest = max([min(limits.depth, DEEPEST), *(found.depth for found in inputs)])
        self.largest = max([_SYMBOLS * self.deepest, *(found.size for found in inputs)])
        self.known: list[ProofStep] = []
        self.waiting: list[tuple[int, int]] = []  # a heap of (size, number of the clause)
        self.partners: dict[tuple, dict[int, Clause]] = defaultdict(dict)  # those that are resolved with, by their keys
        self.facts: set[Literal] = set()  # the literals of known clauses that are one literal without variables
        self.by_key: dict[tuple, list[Clause]] = defaultdict(list)  # all others that are known, by a literal's key
        self.open: list[tuple[int, Literal]] = []  # literals that nothing fits, with the sizes of their clauses
        self.generated = self.dropped = 0
        self.end = -1  # the number of the contradiction
        self.reason = ""  # which budget has ended
        for number, found in problem.given:
            self.add(found, (), f"axiom {number}", waits=support == "all")
        for found in problem.from_goal:
            self.add(found, (), "negated goal", waits=True)

    def add(self, found: Clause, parents: tuple[int, ...], how: str, waits: bool) -> None:
        """Keep a clause, and its factors, unless it says nothing new."""
        self.generated += 1
        if self.end >= 0 or self._is_spent():
            return
        try:
            if not self._is_needless(found, waits):
                self._keep(found, parents, how, waits)
        except (ArgumentError, SolveError):  # terms grew beyond what is possible
            self.dropped += 1

    def _is_needless(self, found: Clause, waits: bool) -> bool:
        if self.one_answer and unified_rows(found.answers) is None:
            return True
        return is_tautology(found) or self._is_hopeless(found, waits) or self._is_subsumed(found)

    def _keep(self, found: Clause, parents: tuple[int, ...], how: str, waits: bool) -> None:
        if found.depth > self.deepest or found.size > self.largest:
            self.dropped += 1
            return
        number = len(self.known)
        self.known.append(ProofStep(found, parents, how))
        if not found.literals:
            self._finish(number)
            return
        if len(found.literals) == 1 and not found.variables and not found.answers:
            self.facts.add(found.literals[0])
        else:
            self.by_key[found.literals[0].key].append(found)
        if waits:
            heapq.heappush(self.waiting, (found.size, number))
        else:
            self._becomes_partner(number)
        for factor in factors(found):
            self.add(factor, (number,), "factor", waits)
            if self.reason:
                return

    def _finish(self, number: int) -> None:
        """End with a contradiction, in which answers that can be made one are made one."""
        found = self.known[number].clause
        if len(found.answers) > 1 and (to := unified_rows(found.answers)) is not None:
            self.known.append(ProofStep(found.replaced(to), (number,), "factor"))
        self.end = len(self.known) - 1

    def _is_spent(self) -> bool:
        """Whether a budget has ended; the reason tells which."""
        if len(self.known) > self.limits.clauses:
            self.reason = f"more than {self.limits.clauses} clauses were kept"
        elif time.monotonic() > self.limits.until:
            self.reason = self.limits.out_of_time()
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
        return any(are_unifiable(literal.atom, other) for other in self.inputs[literal.opposite])

    def _is_subsumed(self, found: Clause) -> bool:
        if not self.facts.isdisjoint(found.literals):
            return True
        return any(self._subsumes(other, found) for key in found.keys for other in self.by_key[key])

    def _subsumes(self, general: Clause, special: Clause) -> bool:
        """Whether a clause says nothing new; where one answer is wanted, its answers must be nothing new, too."""
        return subsumes(general.with_answers, special.with_answers) if self.one_answer else subsumes(general, special)

    def _becomes_partner(self, number: int) -> None:
        found = self.known[number].clause
        for key in found.keys:
            self.partners[key][number] = found

    def proof(self, goal: Formula) -> Proof:
        """Resolve until there is a contradiction, nothing is left, or too much was done."""
        while self.end < 0 and self.waiting and not self._is_spent():
            self._take(heapq.heappop(self.waiting)[1])
        statistics = self.limits.statistics(self.generated, len(self.known))
        if self.end < 0:
            reason = self.reason or self._what_was_dropped()
            status = "budget" if reason else "not provable"
            return Proof(goal, status, (), (), self._open_goals(), reason, statistics)
        steps = self._steps()
        answers = tuple(dict(zip(self.variables, answer, strict=True)) for answer in steps[-1].clause.answers)
        return Proof(goal, "proved", steps, answers, (), "", statistics)

    def _what_was_dropped(self) -> str:
        if not self.dropped:
            return ""
        left_out = counted(self.dropped, "clause")
        return f"the search left out {left_out} of more than {self.deepest} levels or {self.largest} symbols"

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
        return any(n > number and self._subsumes(other, given) for items in taken for n, other in items)

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
