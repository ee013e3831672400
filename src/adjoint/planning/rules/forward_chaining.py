"""Forward chaining: rules fire from the facts towards conclusions, one at a time, the best of those that apply.

Only what a new fact makes possible is matched, so a cycle does not look at all rules and facts again.
References: Fu, Gonzalez & Lee (1987), Sec. 10.10.2; Forgy (1981), "OPS5 user's manual", Carnegie-Mellon University.
"""

from __future__ import annotations

import heapq
import time
from typing import NamedTuple

from ...errors import ArgumentError
from ..limits import check_limits
from ..strips.task_types import Fact
from .conclusions import Conclusions, conclusions
from .evidence import Evidence, Firing
from .matching import FactIndex, Triggers, differs, filled, joined
from .rule_types import Facts, KnowledgeBase, Rule, given_facts

__all__ = ["forward_chain"]

_MOST_PROPOSED = 500_000  # rules with facts for their conditions; more would fill the memory


def forward_chain(
    rules: KnowledgeBase, facts: Facts, *, max_firings: int = 10_000, max_seconds: float = 10.0
) -> Conclusions:
    """Fire rules until none applies any more, and tell what they concluded.

        >>> from adjoint.planning.rules import knowledge_base
        >>> rules = knowledge_base("IF parent ?x ?y AND parent ?y ?z THEN grandparent ?x ?z")
        >>> found = forward_chain(rules, ["parent ann bob", "parent bob carl"])
        >>> found.firings[0].adds
        (('grandparent', 'ann', 'carl'),)

    `facts` are facts, or {fact: certainty factor}. Of several rules that apply, the first by this order fires:

    1. Refraction: no rule fires twice with the same facts, unless one of them was deleted and added again.
    2. The highest salience.
    3. Specificity: the most conditions, as in R1.
    4. Recency: the newest facts; then the order of the rules.

    A condition holds if the certainty of its fact is above 0.2; what a rule adds gets the certainty of the rule times
    the least of its conditions, and several pieces of evidence are combined by `combine`. Rules that add and delete
    facts may go on forever; then the budget ends them, and the result is not `finished`.
    """
    if not isinstance(rules, KnowledgeBase):
        raise ArgumentError(f"forward_chain: a KnowledgeBase is needed, got {type(rules).__name__}")
    check_limits("forward_chain", max_firings=max_firings, max_seconds=max_seconds)
    given = given_facts(facts, "forward_chain")
    engine = _Engine(rules, time.monotonic() + max_seconds)
    for fact, certainty in given.items():
        engine.changed(engine.evidence.give(fact, certainty))
    reason = engine.stopped
    while not reason and (ready := engine.best() or engine.settled()) is not None:
        if len(engine.firings) >= max_firings:
            reason = f"{len(engine.firings)} rules have fired, and others still apply"
            break
        engine.fire(ready)
        reason = engine.stopped
    return conclusions(engine.evidence, engine.firings, given, finished=not reason, reason=reason)


class _Ready(NamedTuple):
    """A rule with facts for its conditions; the smallest `order` fires first. `tags` tell when the facts came."""

    order: tuple
    tags: tuple[int, ...]
    rule: Rule
    premises: tuple[Fact, ...]
    bindings: dict[str, str]


class _Engine:
    """The working memory, and the agenda of rules that may fire."""

    def __init__(self, rules: KnowledgeBase, until: float):
        self.until = until
        self.place = {rule.name: i for i, rule in enumerate(rules.rules)}
        self.triggers = Triggers(rules.rules)
        self.index, self.evidence = FactIndex(), Evidence()
        self.tags: dict[Fact, int] = {}
        self.clock = 0
        self.agenda: list[_Ready] = []
        self.blocked: list[_Ready] = []  # a fact that must be absent is there
        self.seen: set[tuple[int, tuple[int, ...]]] = set()  # for refraction
        self.firings: list[Firing] = []
        for rule in rules.rules:
            if not rule.needs.facts:
                self._propose(rule, {})

    @property
    def stopped(self) -> str:
        """Why no more rules may fire: the time is over, or more of them apply than can be kept; else ""."""
        if len(self.seen) > _MOST_PROPOSED:
            return f"{len(self.firings)} rules have fired, and more than {_MOST_PROPOSED} others apply"
        late = time.monotonic() > self.until
        return f"{len(self.firings)} rules have fired, and the time is over before it is known what applies" * late

    def changed(self, facts: list[Fact]) -> None:
        """Take notice of facts whose certainty changed: they come, or they go."""
        for fact in facts:
            believed = self.evidence.believes(fact)
            if believed and fact not in self.index:
                self._enter(fact)
            elif not believed and fact in self.index:
                self._leave(fact)

    def _enter(self, fact: Fact) -> None:
        if fact not in self.tags:
            self.clock += 1
            self.tags[fact] = self.clock
        self.index.add(fact)
        for rule, i, bindings in self.triggers.of(fact):
            others = frozenset(range(len(rule.needs.facts))) - {i}
            for found in joined(rule.needs.facts, others, self.index, bindings, self.until):
                self._propose(rule, found)
                if len(self.seen) > _MOST_PROPOSED:
                    return

    def _leave(self, fact: Fact) -> None:
        self.index.remove(fact)
        for ready in self.blocked:
            heapq.heappush(self.agenda, ready)
        self.blocked.clear()

    def _propose(self, rule: Rule, bindings: dict[str, str]) -> None:
        """Put a rule on the agenda, unless it was there with the same facts."""
        if not differs(rule, bindings):
            return
        premises = tuple(filled(pattern, bindings) for pattern in rule.needs.facts)
        tags, place = tuple(self.tags[fact] for fact in premises), self.place[rule.name]
        if (place, tags) in self.seen:
            return
        self.seen.add((place, tags))
        newest = tuple(sorted(-tag for tag in tags))
        order = (-rule.salience, -rule.specificity, newest, place, tags)
        heapq.heappush(self.agenda, _Ready(order, tags, rule, premises, bindings))

    def best(self) -> _Ready | None:
        """Take the first rule of the agenda whose conditions still hold."""
        while self.agenda:
            ready = heapq.heappop(self.agenda)
            if any(self.tags.get(fact) != tag for fact, tag in zip(ready.premises, ready.tags, strict=True)):
                continue  # one of its facts was deleted
            if not all(fact in self.index for fact in ready.premises):
                self.seen.discard((self.place[ready.rule.name], ready.tags))  # it may come back with its facts
            elif any(any(True for _ in self.index.matches(p, ready.bindings)) for p in ready.rule.needs.absent):
                self.blocked.append(ready)
            else:
                return ready
        return None

    def settled(self) -> _Ready | None:
        """Take the evidence in one order, where circles left out some, and what applies then that did not before."""
        before, self.evidence = self.evidence, self.evidence.in_one_order()
        if self.evidence is before:
            return None
        self.changed(list(self.evidence.certainty))
        return self.best()

    def fire(self, ready: _Ready) -> None:
        """Do what a rule says: first it deletes, then it adds."""
        rule, bindings = ready.rule, ready.bindings
        patterns = rule.needs.absent, rule.adds, rule.deletes
        absent, adds, deletes = (tuple(filled(x, bindings) for x in all_) for all_ in patterns)
        firing = Firing(rule, ready.premises, absent, adds, deletes, tuple(sorted(bindings.items())))
        self.firings.append(firing)
        changed = self.evidence.fire(firing)
        for fact in firing.deletes:
            if fact in self.evidence.certainty and fact not in firing.adds:
                self.evidence.forget(fact)
                self._leave(fact)
                self.tags.pop(fact, None)
        self.changed([fact for fact in changed if fact in self.evidence.certainty])
