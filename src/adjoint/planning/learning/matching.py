"""Objects for parameters: bindings that make a condition true in a state, and that make effects what is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..monitoring.literals import literal_holds, opposite
from ..strips.task_types import Condition, Fact, Parameter, Problem

__all__ = ["Matcher"]

Binding = Mapping[str, str]

_DEEPEST = 250  # facts that are matched one within the other, each a generator: Python's stack has an end


class Matcher:
    """The search for objects of a problem that parameters may stand for; it ends after `budget` trials.

    `exhausted` tells that the budget was spent, so that there may be more matches than were found.
    """

    def __init__(self, problem: Problem, parameters: Sequence[Parameter], budget: int):
        self._able = {p.name: problem.objects_of(p.types) for p in parameters}
        self._left = budget

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self._left <= 0

    def _too_deep(self, count: int) -> bool:
        """Whether so many facts are too many to be matched; then the budget is spent."""
        if count > _DEEPEST:
            self._left = 0
        return count > _DEEPEST

    def unified(self, pattern: Fact, fact: Fact, binding: Binding) -> dict[str, str] | None:
        """The binding with which a pattern becomes a fact, or None."""
        self._left -= 1
        if pattern[0] != fact[0] or len(pattern) != len(fact):
            return None
        found = dict(binding)
        for term, thing in zip(pattern[1:], fact[1:], strict=True):
            if term not in self._able:
                if term != thing:
                    return None
            elif found.setdefault(term, thing) != thing or thing not in self._able[term]:
                return None
        return found

    def matches(self, condition: Condition, state: frozenset[Fact], binding: Binding) -> Iterator[dict[str, str]]:
        """All bindings of all parameters with which a condition holds in a state."""
        if self._too_deep(len(condition.facts) + len(self._able)):
            return
        by_predicate: dict[str, list[Fact]] = {}
        for fact in sorted(state):
            by_predicate.setdefault(fact[0], []).append(fact)
        for found in self._extended(list(dict.fromkeys(condition.facts)), by_predicate, dict(binding)):
            for full in self._completed(found):
                bound = bound_condition(condition, full)
                if all(a != b for a, b in bound.different) and all(
                    literal_holds(opposite(fact), state) for fact in bound.absent
                ):
                    yield full

    def _extended(self, patterns: list[Fact], by_predicate, binding: dict[str, str]) -> Iterator[dict[str, str]]:
        """Bindings of the patterns' parameters; the pattern with the fewest facts that fit comes first."""
        if not patterns:
            yield binding
            return
        best: list[dict[str, str]] | None = None
        at = 0
        for k, pattern in enumerate(patterns):
            if self.exhausted:
                return
            fits = [
                u
                for fact in by_predicate.get(pattern[0], ())
                if (u := self.unified(pattern, fact, binding)) is not None
            ]
            if best is None or len(fits) < len(best):
                best, at = fits, k
            if len(fits) < 2:
                break
        rest = patterns[:at] + patterns[at + 1 :]
        for fit in best or ():
            yield from self._extended(rest, by_predicate, fit)

    def _completed(self, binding: dict[str, str]) -> Iterator[dict[str, str]]:
        """Bindings in which parameters that no fact speaks of stand for any object."""
        free = next((name for name in self._able if name not in binding), None)
        if free is None:
            yield binding
            return
        for thing in self._able[free]:
            self._left -= 1
            if self.exhausted:
                return
            yield from self._completed({**binding, free: thing})

    def covers(
        self, wanted: Sequence[Fact], patterns: Sequence[Fact], binding: Binding, least: int
    ) -> Iterator[tuple[dict[str, str], tuple[Fact, ...]]]:
        """Bindings with which at least so many wanted facts are among the patterns, and the patterns that they are."""
        if least > len(wanted) or self._too_deep(len(wanted)) or self.exhausted:
            return
        if not wanted:
            yield dict(binding), ()
            return
        for pattern in patterns:
            found = self.unified(pattern, wanted[0], binding)
            if found is not None:
                for full, used in self.covers(wanted[1:], patterns, found, least - 1):
                    yield full, (pattern, *used)
        yield from self.covers(wanted[1:], patterns, binding, least)


def bound_condition(condition: Condition, binding: Binding) -> Condition:
    """A condition with objects in the place of parameters."""
    parts = (condition.facts, condition.absent, condition.same, condition.different)
    return Condition(*(tuple(tuple(binding.get(x, x) for x in fact) for fact in part) for part in parts))  # type: ignore[arg-type]
