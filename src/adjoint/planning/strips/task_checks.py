"""Checks of tasks that were made in Python: what the reader of PDDL sees to, for those that no text was read for."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import ArgumentError, nearest
from ..limits import check_kind
from .task_types import OBJECT, Condition, Domain, Operator, Problem

__all__: list[str] = []


def check_task(problem: Problem) -> None:
    """Refuse facts that are no tuples of words, and names that the task does not have; the message has their place."""
    where = f"problem '{problem.name}'"
    check_kind(where, problem.initial, frozenset, "initial")
    _check_facts(where, "initial", problem.initial)
    _check_condition(where, "goal", problem.goal)
    for name, kind in problem.all_objects.items():
        if kind != OBJECT and kind not in problem.domain.types:
            known = nearest(kind, [OBJECT, *problem.domain.types])
            raise ArgumentError(f"{where}: '{name}' is of type '{kind}', which the domain does not have; {known}")
    _check_goal(where, problem)
    for operator in problem.domain.operators:
        _check_operator(operator, problem.domain)


def _check_goal(where: str, problem: Problem) -> None:
    """Facts of a goal that nothing could ever make true, since their predicates or objects do not exist."""
    predicates = problem.domain.predicates
    for fact in (*problem.goal.facts, *problem.goal.absent):
        if predicates and fact[0] not in predicates:
            raise ArgumentError(f"{where}: the goal has no predicate '{fact[0]}'; {nearest(fact[0], list(predicates))}")
        if predicates and len(predicates[fact[0]]) != len(fact) - 1:
            needed = len(predicates[fact[0]])
            raise ArgumentError(f"{where}: goal {fact!r:.60} has {len(fact) - 1} objects; '{fact[0]}' takes {needed}")
        for name in fact[1:]:
            if name not in problem.all_objects:
                known = nearest(name, list(problem.all_objects))
                raise ArgumentError(f"{where}: the goal names '{name}', which is no object; {known}")


def _check_operator(operator: Operator, domain: Domain) -> None:
    where = f"operator '{operator.name}'"
    names = [parameter.name for parameter in operator.parameters]
    if len(set(names)) < len(names):
        raise ArgumentError(f"{where} has a variable twice: {' '.join(names)}")
    for parameter in operator.parameters:
        check_kind(where, parameter.types, tuple, f"the types of {parameter.name}")
        for kind in parameter.types:
            if kind != OBJECT and kind not in domain.types:
                raise ArgumentError(f"{where}: {parameter.name} has the type '{kind}', which the domain does not have")
    _check_condition(where, "needs", operator.needs)
    _check_facts(where, "adds", operator.adds)
    _check_facts(where, "deletes", operator.deletes)
    facts = (*operator.needs.facts, *operator.needs.absent, *operator.adds, *operator.deletes)
    unknown = [term for fact in facts for term in fact[1:] if term.startswith("?") and term not in names]
    if unknown:
        raise ArgumentError(f"{where}: {unknown[0]} is none of its variables; {nearest(unknown[0], names)}")
    if isinstance(operator.cost, bool) or not isinstance(operator.cost, (int, float, tuple)):
        raise ArgumentError(f"{where}: the cost must be a number or a fact of a function, got {operator.cost!r:.60}")


def _check_condition(where: str, what: str, condition: Condition) -> None:
    check_kind(where, condition, Condition, what)
    for name in ("facts", "absent", "same", "different"):
        _check_facts(where, f"{what}.{name}", getattr(condition, name))


def _check_facts(where: str, what: str, facts: Iterable) -> None:
    for fact in facts:
        if not (isinstance(fact, tuple) and fact and all(isinstance(word, str) for word in fact)):
            raise ArgumentError(f"{where}: {what} has {fact!r:.60}; a fact is a tuple such as ('on', 'a', 'b')")
