"""Checks of tasks that were made in Python: what the reader of PDDL sees to, for those that no text was read for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ...display import counted
from ...errors import ArgumentError, nearest
from ..limits import check_each, check_kind
from .task_types import OBJECT, Condition, Fact, Operator, Problem, fact_text

__all__: list[str] = []

_NOT_PREDICATES = ("not",), ("=",)  # literals have these in the place of a predicate


def check_task(problem: Problem) -> None:
    """Refuse facts that are no tuples of words, and names that the task does not have; the message has their place."""
    where = f"problem '{problem.name}'"
    _check_facts(where, "initial", problem.initial)
    _check_condition(where, "goal", problem.goal)
    for name, kind in problem.domain.types.items():
        if kind != OBJECT and kind not in problem.domain.types:
            known = nearest(kind, [OBJECT, *problem.domain.types])
            raise ArgumentError(f"{where}: type '{name}' is below '{kind}', which the domain does not have; {known}")
    for name, kind in problem.all_objects.items():
        if kind != OBJECT and kind not in problem.domain.types:
            known = nearest(kind, [OBJECT, *problem.domain.types])
            raise ArgumentError(f"{where}: '{name}' is of type '{kind}', which the domain does not have; {known}")
    _check_known(f"{where}: initial", problem, problem.initial)
    _check_known(f"{where}: the goal", problem, (*problem.goal.facts, *problem.goal.absent))
    for operator in problem.domain.operators:
        _check_operator(operator, problem)


def _check_known(where: str, problem: Problem, facts: Iterable[Fact]) -> None:
    """Refuse facts whose predicates or objects do not exist, or with another number of objects than they take."""
    predicates, objects = problem.domain.predicates, problem.all_objects
    for fact in facts:
        if predicates and fact[0] not in predicates:
            raise ArgumentError(f"{where} has {fact_text(fact)}; {no_predicate(fact[0], predicates)}")
        if predicates and len(predicates[fact[0]]) != len(fact) - 1:
            raise ArgumentError(
                f"{where} has {fact_text(fact)}, with {counted(len(fact) - 1, 'object')}; '{fact[0]}' takes "
                f"{len(predicates[fact[0]])}"
            )
        for name in fact[1:]:
            if name not in objects:
                raise ArgumentError(f"{where} has {fact_text(fact)}; {no_object(name, objects)}")


def no_predicate(name: str, predicates: Iterable[str]) -> str:
    """That there is no predicate of a name, and which one may be meant."""
    return f"there is no predicate '{name}'; {nearest(name, list(predicates))}"


def no_object(name: str, objects: Iterable[str]) -> str:
    """That there is no object of a name, and which one may be meant."""
    return f"there is no object '{name}'; {nearest(name, list(objects))}"


def _check_operator(operator: Operator, problem: Problem) -> None:
    where = f"operator '{operator.name}'"
    names = [parameter.name for parameter in operator.parameters]
    if len(set(names)) < len(names):
        raise ArgumentError(f"{where} has a variable twice: {' '.join(names)}")
    for parameter in operator.parameters:
        check_kind(where, parameter.types, tuple, f"the types of {parameter.name}")
        for kind in parameter.types:
            if kind != OBJECT and kind not in problem.domain.types:
                raise ArgumentError(f"{where}: {parameter.name} has the type '{kind}', which the domain does not have")
    _check_condition(where, "needs", operator.needs)
    _check_facts(where, "adds", operator.adds)
    _check_facts(where, "deletes", operator.deletes)
    cost = operator.cost
    if isinstance(cost, tuple):
        _check_facts(where, "cost", [cost])
    elif isinstance(cost, bool) or not isinstance(cost, (int, float)):
        raise ArgumentError(f"{where}: the cost must be a number or a fact of a function, got {cost!r:.60}")
    for term in _terms(operator):
        if term.startswith("?") and term not in names:
            raise ArgumentError(f"{where}: {term} is none of its variables; {nearest(term, names)}")
        if term not in names and term not in problem.all_objects:
            raise ArgumentError(f"{where}: {no_object(term, problem.all_objects)}")


def _terms(operator: Operator) -> Iterator[str]:
    """The variables and objects that an operator speaks of."""
    needs, cost = operator.needs, operator.cost
    for fact in (*needs.facts, *needs.absent, *operator.adds, *operator.deletes):
        yield from fact[1:]
    yield from cost[1:] if isinstance(cost, tuple) else ()
    for pair in (*needs.same, *needs.different):
        yield from pair


def _check_condition(where: str, what: str, condition: Condition) -> None:
    check_kind(where, condition, Condition, what)
    for name in ("facts", "absent"):
        _check_facts(where, f"{what}.{name}", getattr(condition, name))
    for name in ("same", "different"):
        check_each(where, getattr(condition, name), tuple, f"{what}.{name}")
        for pair in getattr(condition, name):
            if len(pair) != 2 or not all(isinstance(word, str) for word in pair):
                raise ArgumentError(f"{where}: {what}.{name} has {pair!r:.60}; a pair such as ('?x', '?y') is needed")


def _check_facts(where: str, what: str, facts: Any) -> None:
    check_kind(where, facts, Collection, what)
    for fact in facts:
        if isinstance(fact, tuple) and fact[:1] in _NOT_PREDICATES:
            raise ArgumentError(f"{where}: {what} has {fact!r:.60}; '{fact[0]}' is no predicate, see Condition")
        if not (isinstance(fact, tuple) and fact and all(isinstance(word, str) for word in fact)):
            raise ArgumentError(f"{where}: {what} has {fact!r:.60}; a fact is a tuple such as ('on', 'a', 'b')")
