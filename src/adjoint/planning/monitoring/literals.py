"""Literals: facts, and the absence of facts, which is written ("not", predicate, arguments ...)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from contextlib import suppress

from ...errors import ArgumentError
from ..strips.task_types import Action, Condition, Fact, fact_text

__all__ = ["effects", "literal_holds", "literal_text", "literals", "opposite", "state_of"]


def literals(condition: Condition) -> tuple[Fact, ...]:
    """What a condition asks of a state: its facts, and the absence of others.

    >>> literals(Condition(facts=(("clear", "a"),), absent=(("wet", "a"),)))
    (('clear', 'a'), ('not', 'wet', 'a'))
    """
    return (*condition.facts, *map(opposite, condition.absent))


def opposite(literal: Fact) -> Fact:
    """The literal that is true where this one is false."""
    return literal[1:] if literal[0] == "not" else ("not", *literal)


def literal_holds(literal: Fact, state: Set[Fact]) -> bool:
    """Whether a fact is in a state, or an absent fact is not."""
    return literal[1:] not in state if literal[0] == "not" else literal in state


def effects(action: Action) -> tuple[Fact, ...]:
    """The literals that are true after an action because of it; a fact that it both deletes and adds is true."""
    gone = (fact for fact in action.deletes if fact not in action.adds)
    return tuple(dict.fromkeys((*action.adds, *map(opposite, gone))))


def literal_text(literal: Fact) -> str:
    """A literal as a reader writes it: (clear a), or not (clear a)."""
    return f"not {fact_text(literal[1:])}" if literal[0] == "not" else fact_text(literal)


def state_of(facts: Iterable[Fact], caller: str, known: Set[Fact] = frozenset()) -> frozenset[Fact]:
    """The facts as a state, or an error that names a thing that is no fact; those that are `known` are not checked."""
    if isinstance(facts, (str, bytes)) or not isinstance(facts, Iterable):
        raise ArgumentError(f"{caller}: a state must be a set of facts, got {facts!r:.60}")
    found, state = list(facts), frozenset()
    with suppress(TypeError):  # there is a list in it, which is no fact
        state = frozenset(found)
        found = state - known
    for fact in found:
        if not (isinstance(fact, tuple) and fact and all(isinstance(term, str) for term in fact)):
            raise ArgumentError(f"{caller}: {fact!r:.60} is no fact; ('on', 'a', 'b') is one")
    return state
