"""Goals as facts: from tuples, from a PDDL text, or from relations between faces of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import ArgumentError, nearest
from ...program.instructions.diagnostics import ProgramError
from ...program.instructions.sources import Source, Span
from ...world import Relation, World
from ...world.predicates.contact_gaps import up_of
from ...world.state.part_contents import features_of
from ..pddl.task_reader import read_problem
from ..strips.task_types import Condition, Domain, Fact, fact_text

__all__: list[str] = []

_Found = dict[Fact, tuple[Relation, ...]]
_WHO = "problem_of"
_UP = 0.7  # the cosine of what looks up: within about 45 degrees
_MOVABLE = (
    "a part is movable if it lies on another one, without a gap, is not rigidly attached, and fits between fingers; "
    "movable= names parts that are movable in any case"
)
_KINDS = "facts such as ('on', 'a', 'b'), a PDDL text such as '(and (on a b) (on b c))', a Condition, or relations"


def kept_goal(goal) -> Any:
    """The goal as it can be read more than once: facts and relations that come one by one are kept in a list."""
    if isinstance(goal, str | Condition | Relation | Mapping) or _is_fact(goal) or not isinstance(goal, Iterable):
        return goal
    found = list(goal)
    if not found:
        raise ArgumentError(f"{_WHO}: the goal has nothing in it; it must be {_KINDS}")
    return found


def goal_condition(world: World, goal, domain: Domain, kinds: Mapping[str, str]) -> tuple[Condition, _Found]:
    """A goal as a condition, and the relations behind its facts; an `ArgumentError` names what there is not."""
    if isinstance(goal, str):
        return _read(goal, domain, kinds), {}
    if isinstance(goal, Condition):
        found, related = goal, {}
    else:
        items = [goal] if isinstance(goal, Relation) or _is_fact(goal) else goal
        if not isinstance(items, Iterable) or isinstance(items, Mapping):
            raise ArgumentError(f"{_WHO}: 'goal' must be {_KINDS}; got {type(goal).__name__}")
        found, related = _from_items(world, list(items))
    for fact in (*found.facts, *found.absent):
        _check(fact, domain, kinds)
    return found, related


def goal_text(goal) -> str:
    """A goal in words: a PDDL text as it is, facts and relations one after the other."""
    if isinstance(goal, str | Condition):
        return str(goal).removeprefix("Condition: ")
    items = [goal] if isinstance(goal, Relation) or _is_fact(goal) else goal
    return ", ".join(str(item) if isinstance(item, Relation) else fact_text(item) for item in items)


def _is_fact(goal) -> bool:
    return isinstance(goal, tuple) and bool(goal) and all(isinstance(term, str) for term in goal)


def _from_items(world: World, items: list) -> tuple[Condition, _Found]:
    facts = [item for item in items if _is_fact(item)]
    relations = [item for item in items if isinstance(item, Relation)]
    if len(facts) + len(relations) < len(items):
        wrong = next(item for item in items if not _is_fact(item) and not isinstance(item, Relation))
        raise ArgumentError(f"{_WHO}: a goal is made of {_KINDS}; got {wrong!r:.60}")
    for relation in relations:
        _check_sides(world, relation)
    related: _Found = {}
    pairs = {frozenset(fact[1:]): fact for relation in relations if (fact := _lies(world, relation)) is not None}
    for relation in relations:
        fact = pairs.get(frozenset(_parts(relation)))
        if fact is None:
            raise ArgumentError(
                f"{_WHO}: no predicate tells '{relation}': which part lies on which? Add on(first, second) of the same "
                "two parts"
            )
        plain = all(isinstance(side, str) and "." not in side for side in (relation.first, relation.second))
        related[fact] = related.get(fact, ()) + (() if plain else (relation,))
    return Condition(tuple(dict.fromkeys((*facts, *related)))), {f: r for f, r in related.items() if r}


def _check_sides(world: World, relation: Relation) -> None:
    """Refuse a relation of parts or features that do not exist."""
    for side in (relation.first, relation.second):
        part, _, feature = side.partition(".") if isinstance(side, str) else ("", "", "")
        if part and part not in world.parts:
            raise ArgumentError(f"{_WHO}: '{relation}' names '{part}'; {nearest(part, list(world.parts))}")
        known = features_of(world.parts[part]) if feature else {}
        if feature and feature not in known:
            raise ArgumentError(f"{_WHO}: part '{part}' has no feature '{feature}'; {nearest(feature, list(known))}")


def _lies(world: World, relation: Relation) -> Fact | None:
    """The fact ("on", a, b) that a relation of faces says, or None."""
    first, second = _parts(relation)
    if relation.kind == "on":
        return "on", first, second
    if relation.kind != "against":
        return None
    one, two = (_looks_up(world, side) for side in (relation.first, relation.second))
    # What lies below looks up. If no face does, that which looks down lies on the other one.
    if (two > _UP) != (one > _UP):
        return ("on", first, second) if two > _UP else ("on", second, first)
    if max(one, two) <= _UP and (one < -_UP) != (two < -_UP):
        return ("on", first, second) if one < -_UP else ("on", second, first)
    return None


def _parts(relation: Relation) -> tuple[str, str]:
    first, second = (side.partition(".")[0] for side in relation.sides)
    return first, second


def _looks_up(world: World, side) -> float:
    """The cosine between a face's normal and the vertical, where its part is now."""
    if not isinstance(side, str):
        return float(side.axis @ up_of(world))
    part, _, face = side.partition(".")
    return float(np.asarray(world.pose(part))[:3, :3] @ features_of(world.parts[part])[face].axis @ up_of(world))


def _read(text: str, domain: Domain, kinds: Mapping[str, str]) -> Condition:
    """The goal of a PDDL text; PDDL has no case, so names of parts are found whatever their case."""
    if not text.lstrip().startswith("("):
        raise ArgumentError(f"{_WHO}: the goal {text!r:.60} must stand in parentheses, such as '(on a b)'")
    small: dict[str, str] = {}
    for name in kinds:
        if name.lower() in small:
            raise ArgumentError(
                f"{_WHO}: PDDL cannot tell '{name}' from '{small[name.lower()]}'; give the goal as facts"
            )
        small[name.lower()] = name
    objects = " ".join(f"{name} - {kinds[name]}" for name in kinds if name not in domain.constants)
    head = f"(define (problem task) (:domain {domain.name}) (:objects {objects}) (:init) (:goal "
    try:
        found = read_problem(f"{head}{text}))", domain, name="goal").goal
    except ProgramError as error:  # places are told in the text that was given
        shifted = (
            replace(d, span=_within(d.span, len(head), len(text)), hint=_MOVABLE if _says_fixed(d.message) else d.hint)
            for d in error.diagnostics
        )
        raise ProgramError(tuple(shifted), Source(text, "goal")) from None
    facts, absent = (
        tuple(tuple(small.get(x, x) for x in fact) for fact in some) for some in (found.facts, found.absent)
    )
    return Condition(facts, absent, found.same, found.different)


def _says_fixed(message: str) -> bool:
    return "is of type fixed" in message and "must be of type movable" in message


def _within(span: Span, start: int, length: int) -> Span:
    """A piece of a text that begins at `start` of a longer one."""
    begin, end = (min(max(place - start, 0), length) for place in span)
    return Span(begin, end)


def _check(fact: Fact, domain: Domain, kinds: Mapping[str, str]) -> None:
    if fact[0] not in domain.predicates:
        raise ArgumentError(f"{_WHO}: there is no predicate '{fact[0]}'; {nearest(fact[0], list(domain.predicates))}")
    parameters = domain.predicates[fact[0]]
    if len(fact) - 1 != len(parameters):
        raise ArgumentError(
            f"{_WHO}: {fact_text(fact)} has {len(fact) - 1} arguments; '{fact[0]}' has {len(parameters)}"
        )
    for term, parameter in zip(fact[1:], parameters, strict=True):
        if term not in kinds:
            raise ArgumentError(f"{_WHO}: {fact_text(fact)} names '{term}'; {nearest(term, list(kinds))}")
        if not any(domain.is_a(kinds[term], kind) for kind in parameter.types):
            wanted = " or ".join(parameter.types)
            hint = f"; {_MOVABLE}" if kinds[term] == "fixed" else ""
            raise ArgumentError(f"{_WHO}: in {fact_text(fact)}, '{term}' is {kinds[term]}, not {wanted}{hint}")
