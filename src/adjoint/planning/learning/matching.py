"""Objects for parameters: bindings that make a condition true at first, and that make effects what is wanted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from ...lazy import cached_property
from ..rules.matching import FactIndex, match
from ..strips.task_types import Condition, Fact, Parameter, Problem

__all__ = ["Matcher"]

Binding = Mapping[str, str]


class Matcher:
    """The search for objects of a problem that parameters may stand for; it ends after `budget` trials.

    `exhausted` tells that the budget was spent, so that there may be more matches than were found.
    """

    def __init__(self, problem: Problem, parameters: Sequence[Parameter], budget: int):
        self._able = {p.name: dict.fromkeys(problem.objects_of(p.types)) for p in parameters}
        self._initial, self._left = problem.initial, budget

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self._left <= 0

    @cached_property
    def _index(self) -> FactIndex:
        found = FactIndex()
        for fact in sorted(self._initial):
            found.add(fact)
        return found

    def matches(self, condition: Condition, binding: Binding, names: Iterable[str]) -> Iterator[dict[str, str]]:
        """All bindings of the parameters of these names with which a condition holds in the initial state."""
        names = tuple(names)
        for found in self._extended(tuple(dict.fromkeys(condition.facts)), dict(binding)):
            for full in self._completed(found, names):
                if self.holds(condition, full):
                    yield full

    def holds(self, condition: Condition, binding: Binding) -> bool:
        """Whether a condition holds in the initial state with objects of the right types; this is no trial."""
        known = all(binding[name] in able for name, able in self._able.items() if name in binding)
        return known and bound_condition(condition, binding).holds(self._initial)

    def _extended(self, patterns: tuple[Fact, ...], binding: dict[str, str]) -> Iterator[dict[str, str]]:
        """Bindings of the patterns' parameters; the pattern with the fewest facts that fit comes first."""
        waiting = [(patterns, binding)]
        while waiting and not self.exhausted:
            left, bound = waiting.pop()
            if left:
                rest, fits = self._fewest(left, bound)
                waiting += [(rest, fit) for fit in reversed(fits)]
            else:
                yield bound

    def _fewest(self, patterns: tuple[Fact, ...], binding: Binding) -> tuple[tuple[Fact, ...], list[dict[str, str]]]:
        """The bindings with which the pattern that the fewest facts fit is a fact, and the other patterns."""
        best, at = self._fits(patterns[0], binding), 0
        for k in range(1, len(patterns)):
            if len(best) < 2 or self.exhausted:
                break
            fits = self._fits(patterns[k], binding)
            if len(fits) < len(best):
                best, at = fits, k
        return patterns[:at] + patterns[at + 1 :], best

    def _fits(self, pattern: Fact, binding: Binding) -> list[dict[str, str]]:
        fits = [found for _, found in self._index.matches(pattern, binding) if self._of_types(pattern, found)]
        self._left -= max(1, len(fits))
        return fits

    def _of_types(self, pattern: Fact, binding: Binding) -> bool:
        return all(binding[term] in self._able[term] for term in pattern[1:] if term in self._able)

    def _completed(self, binding: dict[str, str], names: Sequence[str]) -> Iterator[dict[str, str]]:
        """Bindings in which parameters that no fact speaks of stand for any object."""
        free = [name for name in names if name not in binding]
        for things in product(*(self._able[name] for name in free)):
            if self.exhausted:
                return
            self._left -= 1
            yield binding | dict(zip(free, things, strict=True))

    def covers(
        self, wanted: Sequence[Fact], patterns: Sequence[Fact], binding: Binding, least: int
    ) -> Iterator[tuple[dict[str, str], tuple[Fact, ...]]]:
        """Bindings with which at least so many wanted facts are among the patterns, and the patterns that they are."""
        alike: dict[tuple[str, int], list[Fact]] = defaultdict(list)
        for pattern in patterns:
            alike[pattern[0], len(pattern)].append(pattern)
        stack: list[Iterator[tuple[dict[str, str], tuple[Fact, ...]]]] = [iter([(dict(binding), ())])]
        while stack and not self.exhausted:  # the last iterator has the choices for the fact before wanted[at]
            at = len(stack) - 1
            choice = next(stack[-1], None)
            if choice is None:
                stack.pop()
            elif len(choice[1]) + len(wanted) - at < least:
                continue
            elif at == len(wanted):
                yield choice
            else:
                stack.append(self._choices(wanted[at], alike[wanted[at][0], len(wanted[at])], *choice))

    def _choices(
        self, fact: Fact, patterns: Sequence[Fact], binding: dict[str, str], used: tuple[Fact, ...]
    ) -> Iterator[tuple[dict[str, str], tuple[Fact, ...]]]:
        """What a wanted fact may be: each of the patterns that can become it, or, last, none of them."""
        for pattern in patterns:
            self._left -= 1
            if self.exhausted:
                return
            found = match(pattern, fact, binding)
            if found is not None and self._of_types(pattern, found):
                yield found, (*used, pattern)
        yield binding, used


def bound_condition(condition: Condition, binding: Binding) -> Condition:
    """A condition with objects in the place of parameters."""
    parts = (condition.facts, condition.absent, condition.same, condition.different)
    return Condition(*(tuple(tuple(binding.get(x, x) for x in fact) for fact in part) for part in parts))  # type: ignore[arg-type]
