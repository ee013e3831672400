"""Checks of tasks that were made in Python: what the reader of PDDL sees to, for those that no text was read for."""

from __future__ import annotations

from collections.abc import Iterable

from ...display import counted
from ...errors import ArgumentError, nearest
from ..limits import check_kind
from .task_types import OBJECT, Condition, Domain, Fact, Operator, Problem, fact_text

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
    _check_known(f"{where}: initial", problem, problem.initial)
    _check_known(f"{where}: the goal", problem, (*problem.goal.facts, *problem.goal.absent))
    for operator in problem.domain.operators:
        _check_operator(operator, problem.domain)


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
