"""Matching: facts that fit patterns with variables, by an index of words, and rules that a new fact may fire."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ..strips.task_types import Fact
from .rule_types import Rule, is_variable

__all__: list[str] = []

Bindings = Mapping[str, str]


def match(pattern: Fact, fact: Fact, bindings: Bindings) -> dict[str, str] | None:
    """The words of the pattern's variables, beside those that are known, that make it the fact; None if none do."""
    if len(pattern) != len(fact):
        return None
    found = dict(bindings)
    for ours, theirs in zip(pattern, fact, strict=True):
        if (found.setdefault(ours, theirs) if is_variable(ours) else ours) != theirs:
            return None
    return found


def filled(pattern: Fact, bindings: Bindings) -> Fact:
    """The pattern with words in the place of variables."""
    return tuple([bindings.get(word, word) for word in pattern])


class FactIndex:
    """Facts by their length, and by each of their words and its place."""

    def __init__(self) -> None:
        self.facts: dict[Fact, None] = {}
        self.by_length: dict[int, dict[Fact, None]] = defaultdict(dict)
        self.by_word: dict[tuple[int, int, str], dict[Fact, None]] = defaultdict(dict)

    def __contains__(self, fact: Fact) -> bool:
        return fact in self.facts

    def _homes(self, fact: Fact) -> list[dict[Fact, None]]:
        words = [self.by_word[len(fact), place, word] for place, word in enumerate(fact)]
        return [self.facts, self.by_length[len(fact)], *words]

    def add(self, fact: Fact) -> None:
        """Add a fact."""
        for home in self._homes(fact):
            home[fact] = None

    def remove(self, fact: Fact) -> None:
        """Remove a fact, if it is there."""
        for home in self._homes(fact):
            home.pop(fact, None)

    def matches(self, pattern: Fact, bindings: Bindings) -> Iterator[tuple[Fact, dict[str, str]]]:
        """The facts that fit a pattern, each with the words of all variables; fewest candidates are looked at."""
        wanted = filled(pattern, bindings)
        places = [(len(wanted), i, word) for i, word in enumerate(wanted) if not is_variable(word)]
        if len(places) == len(wanted):
            candidates = [wanted] if wanted in self.facts else []
        else:
            homes = [self.by_word.get(place, {}) for place in places]
            candidates = list(min(homes, key=len)) if homes else list(self.by_length[len(wanted)])
        for fact in candidates:
            found = match(wanted, fact, bindings)
            if found is not None:
                yield fact, found


class Triggers:
    """The conditions of rules that a new fact may meet."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.by_word: dict[tuple[int, int, str], list[tuple[Rule, int]]] = defaultdict(list)
        self.by_length: dict[int, list[tuple[Rule, int]]] = defaultdict(list)
        for rule in rules:
            for i, pattern in enumerate(rule.needs.facts):
                place = next((p for p, word in enumerate(pattern) if not is_variable(word)), None)
                if place is None:
                    self.by_length[len(pattern)].append((rule, i))
                else:
                    self.by_word[len(pattern), place, pattern[place]].append((rule, i))

    def of(self, fact: Fact) -> Iterator[tuple[Rule, int, dict[str, str]]]:
        """The rules, the numbers of their conditions, and words for variables with which the condition is the fact."""
        words = [self.by_word.get((len(fact), place, word), ()) for place, word in enumerate(fact)]
        for rows in (self.by_length.get(len(fact), ()), *words):
            for rule, i in rows:
                found = match(rule.needs.facts[i], fact, {})
                if found is not None:
                    yield rule, i, found


def joined(
    patterns: Sequence[Fact], left: frozenset[int], index: FactIndex, bindings: Bindings, until: float
) -> Iterator[dict[str, str]]:
    """All words for variables with which the patterns of the numbers `left` are facts.

    The pattern with the fewest free variables comes first, since it has the fewest facts. Nothing is found after the
    time `until` of `time.monotonic`.
    """
    if time.monotonic() > until:
        return
    if not left:
        yield dict(bindings)
        return
    best = min(left, key=lambda i: (sum(is_variable(w) for w in filled(patterns[i], bindings)), i))
    for _, found in index.matches(patterns[best], bindings):
        yield from joined(patterns, left - {best}, index, found, until)


def differs(rule: Rule, bindings: Bindings) -> bool:
    """Whether the words that must differ do."""
    return all(bindings.get(a, a) != bindings.get(b, b) for a, b in rule.needs.different)
