"""Evidence: the certainties of facts that rules support, kept up to date while rules fire."""

from __future__ import annotations

from collections import defaultdict, deque
from heapq import heappop, heappush
from typing import NamedTuple

from ..strips.task_types import Fact
from .certainty import BELIEVED, combine, combined
from .rule_types import Rule

__all__ = ["Firing"]

_SAME = 1e-12  # certainties that differ by less are the same


class Firing(NamedTuple):
    """A rule with words for its variables: the facts that it used and missed, and what it added and deleted.

    >>> from adjoint.planning.rules import forward_chain, knowledge_base
    >>> print(forward_chain(knowledge_base("IF part ?x THEN pack ?x"), ["part cup"]).firings[0])
    rule1 with ?x = cup
    """

    rule: Rule
    premises: tuple[Fact, ...]
    absent: tuple[Fact, ...]
    adds: tuple[Fact, ...]
    deletes: tuple[Fact, ...]
    bindings: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        values = ", ".join(f"{variable} = {word}" for variable, word in self.bindings)
        return f"{self.rule.name}{f' with {values}' if values else ''}"


class Evidence:
    """The certainties of facts, from what is given and from firings; each change reaches all that depends on it.

    A firing that would support its own premises is no evidence, so a circle of rules does not make itself certain.
    What counts as evidence has no circles. Which firing of a circle is left out depends on the order in which they
    came; `in_one_order` gives the evidence that does not.
    """

    def __init__(self) -> None:
        self.certainty: dict[Fact, float] = {}
        self.given: dict[Fact, float] = {}
        self.reasons: dict[Fact, list[Firing]] = defaultdict(list)  # all evidence, for explanations
        self.settled: dict[Fact, float] = {}  # evidence from premises that were deleted since
        self.support: dict[Fact, dict[int, Firing]] = defaultdict(dict)  # all other evidence, by the firings' numbers
        self.uses: dict[Fact, dict[int, Firing]] = defaultdict(dict)  # the evidence that a fact gives
        self.level: dict[Fact, int] = defaultdict(int)  # above the levels of all facts that are evidence for it
        self.fired: list[Firing] = []
        self.circular = False  # whether a firing was left out
        self.forgot = False  # whether a fact was deleted

    def give(self, fact: Fact, certainty: float) -> list[Fact]:
        """Tell a fact. The result are the facts whose certainty changed, as in `fire`."""
        self.given[fact] = certainty
        return self._update(fact)

    def fire(self, firing: Firing) -> list[Fact]:
        """Take the evidence of a firing."""
        self.fired.append(firing)
        number, changed = len(self.fired), []
        for fact in firing.adds:
            if self._is_circular(fact, firing.premises):
                self.circular = True
                continue
            self.support[fact][number] = firing
            self.reasons[fact].append(firing)
            for premise in firing.premises:
                self.uses[premise][number] = firing
            changed += self._update(fact)
        return changed

    def forget(self, fact: Fact) -> None:
        """Delete a fact. What followed from it stays, with the certainty that it has."""
        self.forgot = True
        for number, firing in self.uses.pop(fact, {}).items():
            for added in firing.adds:
                if self.support[added].pop(number, None) is not None:
                    self.settled[added] = combine(self.settled.get(added, 0.0), self.strength(firing))
        for known in (self.certainty, self.given, self.settled, self.reasons, self.support):
            known.pop(fact, None)

    def in_one_order(self) -> Evidence:
        """The evidence of the same firings in the order of their names and facts: each as soon as its premises hold.

        So certainties do not depend on the order of what was given, of rules, and of goals. It is this evidence itself
        if there were no circles, where the order is no matter, and if facts were deleted, where it decides.
        """
        if self.forgot or not self.circular:
            return self
        again = Evidence()
        for fact, certainty in self.given.items():
            again.give(fact, certainty)
        firings = sorted(self.fired, key=lambda firing: (firing.rule.name, firing.premises, firing.bindings))
        left = dict.fromkeys(range(len(firings)))
        users: dict[Fact, list[int]] = defaultdict(list)
        for k, firing in enumerate(firings):
            for premise in firing.premises:
                users[premise].append(k)
        ready = [k for k in left if again.supports(firings[k])]  # sorted, so it is a heap
        while ready:
            k = heappop(ready)
            if k in left and again.supports(firings[k]):
                del left[k]
                for fact in again.fire(firings[k]):
                    for other in users[fact]:
                        heappush(ready, other)
        for k in left:  # premises that were believed for a while: they give nothing
            again.fire(firings[k])
        again.certainty = {fact: again.certainty.get(fact, 0.0) for fact in self.certainty}
        return again

    def believes(self, fact: Fact) -> bool:
        """Whether the certainty of a fact is high enough for a condition."""
        return self.certainty.get(fact, 0.0) > BELIEVED

    def supports(self, firing: Firing) -> bool:
        """Whether all premises of a firing are believed."""
        return all(map(self.believes, firing.premises))

    def strength(self, firing: Firing) -> float:
        """The certainty factor that a firing gives: that of the rule times the least of its premises."""
        least = min((self.certainty.get(fact, 0.0) for fact in firing.premises), default=1.0)
        return firing.rule.certainty * least if least > BELIEVED else 0.0

    def _followers(self, fact: Fact) -> list[Fact]:
        return [x for number, firing in self.uses[fact].items() for x in firing.adds if number in self.support[x]]

    def _is_circular(self, fact: Fact, premises: tuple[Fact, ...]) -> bool:
        """Whether one of the premises is the fact, or follows from it; if not, the fact gets a level above theirs.

        Evidence leads to higher levels only, so only facts up to the level of the premises can lead to them.
        """
        highest = max((self.level[premise] for premise in premises), default=0)
        if self.level[fact] > highest:
            return False
        seen, ahead = {fact}, [fact]
        while ahead:
            new = [x for x in self._followers(ahead.pop()) if x not in seen and self.level[x] <= highest]
            seen.update(new)
            ahead += new
        if not seen.isdisjoint(premises):
            return True
        raised = deque([(fact, highest + 1)])
        while raised:
            here, level = raised.popleft()
            if self.level[here] < level:
                self.level[here] = level
                raised += [(x, level + 1) for x in self._followers(here)]
        return False

    def _update(self, fact: Fact) -> list[Fact]:
        """Compute the certainty of a fact, and of all that follows from it."""
        changed, ahead = [], deque([fact])
        while ahead:
            here = ahead.popleft()
            told = [known[here] for known in (self.given, self.settled) if here in known]
            value = combined([*told, *map(self.strength, self.support[here].values())])
            if here not in self.certainty or abs(value - self.certainty[here]) > _SAME:
                self.certainty[here] = value
                changed.append(here)
                ahead += self._followers(here)
        return changed
