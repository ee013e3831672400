"""`from_unified_planning`: a problem of unified-planning as a planning task."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from ...errors import ArgumentError
from ...extras import package
from ..strips.task_types import OBJECT, Condition, Domain, Fact, Operator, Parameter, Problem
from .formulas import TOTAL_COST
from .requirements import with_needed

__all__ = ["from_unified_planning"]


def from_unified_planning(up_problem: Any) -> Problem:
    """A problem of unified-planning as a planning task of this library.

        >>> from adjoint.planning.pddl import book_task, to_unified_planning
        >>> from_unified_planning(to_unified_planning(book_task("blocks"))).initial == book_task("blocks").initial
        True

    Objects that operators name become constants of the domain, whose name is that of the problem with "-domain". An
    `ArgumentError` names what STRIPS cannot say, such as a conditional effect or a number in a condition.
    """
    model = package("unified_planning.model", "planning", "from_unified_planning")
    if not isinstance(up_problem, model.Problem):
        got = type(up_problem).__name__
        raise ArgumentError(f"from_unified_planning: a Problem of unified-planning is needed, got {got}")
    _check_class(up_problem, model)
    costs, minimise = _costs(up_problem, model)
    name = up_problem.name or "problem"
    fluents = up_problem.fluents
    numbers = [f for f in fluents if f.type.is_int_type() or f.type.is_real_type()]
    predicates = {f.name: _parameters(f.signature) for f in fluents if f.type.is_bool_type()}
    if len(predicates) + len(numbers) != len(fluents):
        raise _refused("fluents whose values are objects")
    functions = ({TOTAL_COST: ()} if minimise else {}) | {f.name: _parameters(f.signature) for f in numbers}
    operators = tuple(_operator(action, costs, model) for action in up_problem.actions)
    named = {term for operator in operators for term in _terms(operator) if not term.startswith("?")}
    kinds = {x.name: x.type.name for x in up_problem.all_objects}
    constants = {x: kind for x, kind in kinds.items() if x in named}
    domain = Domain(f"{name}-domain", operators, predicates, _types(up_problem), constants, functions)
    domain = dataclasses.replace(domain, requirements=with_needed(domain))
    objects = {x: kind for x, kind in kinds.items() if x not in named}
    initial, values = _initial(up_problem)
    goal = _condition(up_problem.goals)
    return Problem(name, domain, objects, initial, goal, values, minimise)


def _refused(what: object) -> ArgumentError:
    supported = "facts, their negations, equality of objects, and costs of actions"
    return ArgumentError(f"from_unified_planning: {what} cannot be said; there are {supported}")


def _check_class(up_problem: Any, model: Any) -> None:
    """Refuse what a problem may have beside actions and goals: it would be lost without a word."""
    if type(up_problem) is not model.Problem:
        raise _refused(f"a {type(up_problem).__name__}")
    for what in ("trajectory_constraints", "timed_effects", "timed_goals", "processes", "events"):
        if getattr(up_problem, what, None):
            raise _refused(f"'{what}' of the problem '{up_problem.name}'")
    for action in up_problem.actions:
        if type(action) is model.InstantaneousAction and action.simulated_effect is not None:
            raise _refused(f"the simulated effect of '{action.name}'")


def _types(up_problem: Any) -> dict[str, str]:
    """{type: the type above it}."""
    found = {}
    for kind in up_problem.user_types:
        for below in (kind, *kind.ancestors):
            if below.name != OBJECT:
                found[below.name] = OBJECT if below.father is None else below.father.name
    return found


def _parameters(signature: Any) -> tuple[Parameter, ...]:
    if not all(p.type.is_user_type() for p in signature):
        raise _refused("parameters that are no objects")
    return tuple(Parameter(f"?{p.name}", (p.type.name,)) for p in signature)


def _costs(up_problem: Any, model: Any) -> tuple[dict[Any, float | Fact], bool]:
    """{action: cost}, and whether the sum of costs shall be least."""
    metrics = up_problem.quality_metrics
    if not metrics or (len(metrics) == 1 and metrics[0].is_minimize_sequential_plan_length()):
        return dict.fromkeys(up_problem.actions, 1.0), False
    if len(metrics) > 1 or not metrics[0].is_minimize_action_costs():
        raise _refused(f"the metric {', '.join(map(str, metrics))}")
    found: dict[Any, float | Fact] = {}
    for action in up_problem.actions:
        cost = metrics[0].get_action_cost(action)
        found[action] = 0.0 if cost is None else _fact(cost) if cost.is_fluent_exp() else _number(cost)
    return found, True


def _operator(action: Any, costs: dict[Any, float | Fact], model: Any) -> Operator:
    if type(action) is not model.InstantaneousAction:
        raise _refused(f"the {type(action).__name__} '{action.name}'")
    adds: list[Fact] = []
    deletes: list[Fact] = []
    for effect in action.effects:
        if effect.is_conditional() or effect.is_forall() or not effect.value.is_bool_constant():
            raise _refused(f"the effect '{effect}' of '{action.name}'")
        (adds if effect.value.is_true() else deletes).append(_fact(effect.fluent))
    needs = _condition(action.preconditions)
    return Operator(action.name, _parameters(action.parameters), needs, tuple(adds), tuple(deletes), costs[action])


def _condition(expressions: Any) -> Condition:
    fields: dict[str, list[Fact]] = {"facts": [], "absent": [], "same": [], "different": []}
    for field, fact in (part for expression in expressions for part in _parts(expression)):
        fields[field].append(fact)
    return Condition(*map(tuple, fields.values()))  # type: ignore[arg-type]


def _parts(expression: Any, positive: bool = True) -> Iterator[tuple[str, Fact]]:
    """(field of the condition, fact) of everything that an expression asks for."""
    if expression.is_and() and positive:
        for part in expression.args:
            yield from _parts(part)
    elif expression.is_not() and positive:
        yield from _parts(expression.arg(0), False)
    elif expression.is_fluent_exp() and expression.type.is_bool_type():
        yield "facts" if positive else "absent", _fact(expression)
    elif expression.is_equals() and all(x.is_object_exp() or x.is_parameter_exp() for x in expression.args):
        a, b = map(_term, expression.args)
        yield "same" if positive else "different", (a, b)
    elif not (expression.is_true() and positive):
        raise _refused(f"the condition '{expression}'")


def _initial(up_problem: Any) -> tuple[frozenset[Fact], dict[Fact, float]]:
    """What is true at first, and the values of functions."""
    tells = any(value.is_true() or not value.is_bool_constant() for value in up_problem.fluents_defaults.values())
    given = up_problem.initial_values if tells else up_problem.explicit_initial_values  # the first are very many
    facts = frozenset(_fact(fluent) for fluent, value in given.items() if value.is_true())
    numbers = {_fact(fluent): _number(value) for fluent, value in given.items() if not value.is_bool_constant()}
    return facts, numbers


def _terms(operator: Operator) -> Iterator[str]:
    """All terms of an operator's conditions and effects."""
    needs = operator.needs
    cost = (operator.cost,) if isinstance(operator.cost, tuple) else ()
    for fact in (*needs.facts, *needs.absent, *operator.adds, *operator.deletes, *cost):
        yield from fact[1:]
    for pair in (*needs.same, *needs.different):
        yield from pair


def _fact(expression: Any) -> Fact:
    return (expression.fluent().name, *map(_term, expression.args))


def _term(expression: Any) -> str:
    if expression.is_object_exp():
        return expression.object().name
    if expression.is_parameter_exp():
        return f"?{expression.parameter().name}"
    raise _refused(f"the term '{expression}'")


def _number(expression: Any) -> float:
    if not (expression.is_int_constant() or expression.is_real_constant()):
        raise _refused(f"the number '{expression}'")
    return float(expression.constant_value())
