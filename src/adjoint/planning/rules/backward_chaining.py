"""Backward chaining: from a goal to the facts that support it; only what the goal needs is looked at, and asked for.

Every subgoal has one table of the facts found for it, and a list of rules that wait for more of them. So rules that
call themselves end, and find everything. A condition is looked at only if those before it hold.
References: Fu, Gonzalez & Lee (1987), Sec. 10.10.2; Tamaki & Sato (1986), "OLD resolution with tabulation".
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from ...errors import ArgumentError
from ..limits import check_limits
from ..strips.task_types import Fact
from .certainty import BELIEVED
from .conclusions import Conclusions, Question, conclusions
from .evidence import Evidence, Firing
from .matching import FactIndex, differs, filled, match
from .rule_types import Facts, KnowledgeBase, Rule, checked_certainty, fact_words, given_facts, is_variable, sentence

__all__ = ["backward_chain"]

_DEEPEST = 50  # absent facts that depend on absent facts


def backward_chain(
    rules: KnowledgeBase,
    goal: str | Fact,
    facts: Facts = (),
    *,
    ask: Callable[[Fact], float | bool | None] | None = None,
    max_firings: int = 10_000,
    max_seconds: float = 10.0,
) -> Conclusions:
    """Find all facts that fit a goal, which may have variables, from given facts and from answers to questions.

        >>> from adjoint.planning.rules import knowledge_base
        >>> rules = knowledge_base("IF ?x hums AND ?x has power THEN ?x runs CF 0.9    ASK ?x has power")
        >>> found = backward_chain(rules, "?machine runs", ["pump hums"], ask=lambda fact: 0.8)
        >>> found.answers
        {('pump', 'runs'): 0.72...}
        >>> found.questions
        (Question(fact=('pump', 'has', 'power'), rule='rule1', answer=0.8),)

    `answers` of the result are the facts that fit the goal; `facts` has all that was needed on the way, with the
    certainties that `forward_chain` gives, too.

    - A condition is looked at, from left to right, if all before it hold: if their certainties are above 0.2.
    - `ask(fact)` is called once for each askable fact without variables that is needed so and not given; it returns
      True, False, a certainty factor, or None for unknown.
    - Facts that must be absent are looked for with all rules before the rule concludes.
    - Rules that delete facts have no meaning here, and are refused.
    """
    if not isinstance(rules, KnowledgeBase):
        raise ArgumentError(f"backward_chain: a KnowledgeBase is needed, got {type(rules).__name__}")
    deleting = [rule.name for rule in rules.rules if rule.deletes]
    if deleting:
        raise ArgumentError(f"backward_chain: rule '{deleting[0]}' deletes facts; only forward_chain can use it")
    check_limits("backward_chain", max_firings=max_firings, max_seconds=max_seconds)
    if ask is not None and not callable(ask):
        raise ArgumentError(f"backward_chain: ask must be a function of a fact, got {type(ask).__name__}")
    wanted = fact_words(goal)
    given = given_facts(facts, "backward_chain")
    session = _Session(rules, given, ask, max_firings, time.monotonic() + max_seconds)
    evidence = session.solve(wanted)
    return conclusions(
        evidence,
        session.firings,
        session.told,
        goal=wanted,
        finished=not session.reason,
        reason=session.reason,
        questions=tuple(session.questions),
    )


class _Waiting(NamedTuple):
    """A rule whose first conditions hold, up to the number `at`, for the goal of a table."""

    rule: Rule
    at: int
    bindings: dict[str, str]
    table: _Table


@dataclass
class _Table:
    """A subgoal, the facts that fit it and whether rules were told that they are believed, and the rules that wait."""

    goal: Fact
    found: dict[Fact, bool] = field(default_factory=dict)
    waiting: list[_Waiting] = field(default_factory=list)


class _Heads:
    """What rules conclude, by the length and the first word that is no variable: few rules are looked at for a goal."""

    def __init__(self, rules: KnowledgeBase):
        self.by_place: dict[tuple[int, int], list[tuple[int, Rule, Fact]]] = defaultdict(list)
        self.by_word: dict[tuple[int, int, str], list[tuple[int, Rule, Fact]]] = defaultdict(list)
        heads = ((rule, head) for rule in rules.rules for head in rule.adds)
        for number, (rule, head) in enumerate(heads):
            place = next((k for k, word in enumerate(head) if not is_variable(word)), -1)
            self.by_place[len(head), place].append((number, rule, head))
            if place >= 0:
                self.by_word[len(head), place, head[place]].append((number, rule, head))

    def fitting(self, goal: Fact) -> Iterator[tuple[Rule, Fact]]:
        """The rules whose conclusions may fit a goal, in their order."""
        size = len(goal)
        found = list(self.by_place.get((size, -1), ()))
        for place, word in enumerate(goal):
            if is_variable(word):
                found += self.by_place.get((size, place), ())
            else:
                found += self.by_word.get((size, place, word), ())
        for _, rule, head in sorted(found, key=itemgetter(0)):
            yield rule, head


class _Session:
    """What several searches share: facts, answers to questions, and the budget."""

    def __init__(self, rules: KnowledgeBase, given: dict[Fact, float], ask, max_firings: int, until: float):
        self.rules, self.told, self.ask, self.heads = rules, dict(given), ask, _Heads(rules)
        self.max_firings, self.until, self.reason = max_firings, until, ""
        self.questions: list[Question] = []
        self.asked: set[Fact] = set()
        self.firings: list[Firing] = []
        self.absent: dict[Fact, bool] = {}
        self.stack: list[Fact] = []  # absent facts that are being looked for

    def solve(self, goal: Fact) -> Evidence:
        """The evidence for everything that a goal needs."""
        return _Search(self).run(goal)

    def question(self, fact: Fact, rule: str) -> None:
        """Ask for a fact, if it can be asked for, and was not yet."""
        askable = any(match(pattern, fact, {}) is not None for pattern in self.rules.askable)
        if self.ask is None or not askable or fact in self.told or fact in self.asked:
            return
        self.asked.add(fact)
        answer = self.ask(fact)
        if answer is None:
            return
        if isinstance(answer, bool):
            answer = 1.0 if answer else -1.0
        self.told[fact] = checked_certainty(answer, f"backward_chain: the answer about '{sentence(fact)}'")
        self.questions.append(Question(fact, rule, self.told[fact]))

    def is_absent(self, pattern: Fact) -> bool:
        """Whether no fact that fits the pattern is believed, after all rules were tried."""
        key = _canonical(pattern)
        if key not in self.absent:
            if key in self.stack or len(self.stack) >= _DEEPEST:
                raise ArgumentError(
                    f"backward_chain: whether '{sentence(pattern)}' is absent depends on itself, or on more than "
                    f"{_DEEPEST} other absent facts: {' -> '.join(sentence(x) for x in (*self.stack, key))}"
                )
            self.stack.append(key)
            certainty = _Search(self).run(key).certainty
            self.stack.pop()
            believed = (fact for fact, value in certainty.items() if value > BELIEVED)
            self.absent[key] = all(match(key, fact, {}) is None for fact in believed)
        return self.absent[key]

    def exhausted(self) -> bool:
        """Whether the budget has ended."""
        if len(self.firings) >= self.max_firings or time.monotonic() > self.until:
            self.reason = f"{len(self.firings)} rules were used, and the search had not ended"
        return bool(self.reason)


class _Search:
    """The tables of one goal and of all its subgoals.

    `ahead` is a stack, so a rule looks at its next condition when all rules were tried for the one before, and only
    with facts that are believed then. Where rules call themselves, facts that are believed later follow.
    """

    def __init__(self, session: _Session):
        self.session = session
        self.tables: dict[Fact, _Table] = {}
        self.homes: dict[Fact, list[_Table]] = defaultdict(list)  # the tables in which a fact was found
        self.ahead: list[_Waiting] = []
        self.index, self.evidence = FactIndex(), Evidence()
        self.fired: set[tuple[str, tuple]] = set()
        for fact in session.told:
            self.index.add(fact)

    def run(self, goal: Fact) -> Evidence:
        """Solve a goal; the evidence has everything that was found on the way."""
        self._open(_canonical(goal), "")
        while self.ahead and not self.session.exhausted():
            self._advance(self.ahead.pop())
            if not self.ahead:
                self._settle()
        for fact in self.evidence.certainty.keys() - self.homes.keys():
            del self.evidence.certainty[fact]  # a rule added it beside what was needed; other rules may add it, too
        return self.evidence

    def _settle(self) -> None:
        """Take the evidence in one order, where circles left out some, and go on with what is believed then."""
        before, self.evidence = self.evidence, self.evidence.in_one_order()
        if self.evidence is not before:
            self._deliver(list(self.evidence.certainty))

    def _open(self, key: Fact, rule: str) -> None:
        """Make the table of a subgoal, with what is told; all rules that may conclude it come next."""
        table = self.tables[key] = _Table(key)
        for fact, _ in list(self.index.matches(key, {})):
            self._found(table, fact)
            self._give(fact)
        if not any(map(is_variable, key)) and key not in self.index:
            self.session.question(key, rule)
            self._take_answers()
        for other, head in reversed(list(self.session.heads.fitting(key))):
            start = _head_bindings(head, key)
            if start is not None:
                self.ahead.append(_Waiting(other, 0, start, table))

    def _take_answers(self) -> None:
        """Take new answers, of this search or of one for an absent fact, into all tables that they fit."""
        for fact in list(islice(self.session.told, len(self.index.facts), None)):
            self.index.add(fact)
            for table in list(self.tables.values()):
                self._found(table, fact)
            self._give(fact)

    def _advance(self, waiting: _Waiting) -> None:
        """Look for the next condition of a rule, or conclude if there is none."""
        rule, at, bindings, _ = waiting
        if not differs(rule, bindings):
            return
        if at == len(rule.needs.facts):
            absent = all(map(self.session.is_absent, _filled_all(rule.needs.absent, bindings)))
            self._take_answers()
            if absent:
                self._conclude(waiting)
            return
        key = _canonical(filled(rule.needs.facts[at], bindings))
        if key not in self.tables:
            self.ahead.append(waiting)  # once more, after all that the new table puts above it
            self._open(key, rule.name)
            return
        table = self.tables[key]
        table.waiting.append(waiting)
        for fact in reversed(table.found):
            table.found[fact] = self.evidence.believes(fact)  # it may be believed no more, and be again
            if table.found[fact]:
                self._resume(waiting, fact)

    def _resume(self, waiting: _Waiting, fact: Fact) -> None:
        found = match(waiting.rule.needs.facts[waiting.at], fact, waiting.bindings)
        if found is not None:
            self.ahead.append(_Waiting(waiting.rule, waiting.at + 1, found, waiting.table))

    def _conclude(self, waiting: _Waiting) -> None:
        rule, _, bindings, table = waiting
        needs = rule.needs
        premises, absent, adds = (_filled_all(x, bindings) for x in (needs.facts, needs.absent, rule.adds))
        for fact in adds:
            self._found(table, fact)
        if (rule.name, premises) not in self.fired:
            self.fired.add((rule.name, premises))
            firing = Firing(rule, premises, absent, adds, (), tuple(sorted(bindings.items())))
            self.session.firings.append(firing)
            self._deliver(self.evidence.fire(firing))

    def _give(self, fact: Fact) -> None:
        self._deliver(self.evidence.give(fact, self.session.told[fact]))

    def _found(self, table: _Table, fact: Fact) -> None:
        """Put a fact into a table that it fits."""
        if fact not in table.found and match(table.goal, fact, {}) is not None:
            table.found[fact] = False
            self.homes[fact].append(table)
            self._deliver([fact])

    def _deliver(self, facts: list[Fact]) -> None:
        """Tell the rules that wait for facts which of them are believed now."""
        for fact in filter(self.evidence.believes, facts):
            for table in self.homes.get(fact, ()):
                if not table.found[fact]:
                    table.found[fact] = True
                    for waiting in table.waiting:
                        self._resume(waiting, fact)


def _filled_all(patterns: tuple[Fact, ...], bindings: dict[str, str]) -> tuple[Fact, ...]:
    return tuple(filled(pattern, bindings) for pattern in patterns)


def _canonical(pattern: Fact) -> Fact:
    """The pattern with the variables ?1, ?2, ... in their order, so that patterns of the same meaning are equal."""
    names: dict[str, str] = {}
    return tuple(names.setdefault(word, f"?{len(names) + 1}") if is_variable(word) else word for word in pattern)


def _head_bindings(head: Fact, goal: Fact) -> dict[str, str] | None:
    """Words for variables of a conclusion that the goal asks for; None if the conclusion cannot fit the goal.

    Variables of the goal ask for nothing; what is found is compared with the goal once more.
    """
    if len(head) != len(goal):
        return None
    found: dict[str, str] = {}
    for ours, wanted in zip(head, goal, strict=True):
        if not is_variable(wanted) and (found.setdefault(ours, wanted) if is_variable(ours) else ours) != wanted:
            return None
    return found
