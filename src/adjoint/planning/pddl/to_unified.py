"""`to_unified_planning`: a planning task as a problem of unified-planning, which knows many planners."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ...errors import ArgumentError
from ...extras import package
from ..strips.task_types import OBJECT, Condition, Fact, Operator, Parameter, Problem
from .formulas import TOTAL_COST

__all__ = ["to_unified_planning"]


def to_unified_planning(problem: Problem) -> Any:
    """A planning task as a `Problem` of unified-planning, for its planners, validators and compilers.

        >>> from adjoint.planning.pddl import book_task
        >>> up_problem = to_unified_planning(book_task("blocks"))
        >>> [action.name for action in up_problem.actions]
        ['pickup', 'putdown', 'stack', 'unstack']

    Constants become objects. An `ArgumentError` names what unified-planning does not know: variables with several
    types, and the same name for two things. Reference: Micheli et al. (2025), "Unified Planning: Modeling, manipulating
    and solving AI planning problems in Python".
    """
    if not isinstance(problem, Problem):
        raise ArgumentError(f"to_unified_planning: a Problem is needed, got {type(problem).__name__}")
    shortcuts = package("unified_planning.shortcuts", "planning", "to_unified_planning")
    exceptions = package("unified_planning.exceptions", "planning", "to_unified_planning")
    try:
        return _Converter(problem, shortcuts).converted()
    except (exceptions.UPException, AssertionError) as error:
        raise ArgumentError(f"to_unified_planning: unified-planning refuses '{problem.name}': {error}") from None


class _Converter:
    """The state of one conversion: what stands for each type, predicate and object. `up` is the package."""

    def __init__(self, problem: Problem, up: Any):
        self.problem, self.up = problem, up
        self.result = up.Problem(problem.name)
        self.types: dict[str, Any] = {}

    def converted(self) -> Any:
        problem, up = self.problem, self.up
        domain = problem.domain
        for kind in domain.types:
            self.result._add_user_type(self._type(kind))  # types that nothing uses, too
        for name, parameters in domain.predicates.items():
            signature = self._signature(parameters, name)
            self.result.add_fluent(up.Fluent(name, up.BoolType(), signature), default_initial_value=False)
        broken = {fact[0] for fact, value in problem.costs.items() if value != int(value)}
        for name, parameters in domain.functions.items():
            if name != TOTAL_COST:  # Fast Downward wants whole numbers
                number = up.RealType() if name in broken else up.IntType()
                self.result.add_fluent(up.Fluent(name, number, self._signature(parameters, name)))
        for name, kind in problem.all_objects.items():
            self.result.add_object(name, self._type(kind))
        objects = {name: self.result.object(name) for name in problem.all_objects}
        actions = [self._action(operator, objects) for operator in domain.operators]
        self.result.add_actions(actions)
        self._enter_problem(objects)
        if problem.minimise:
            costs = {a: self._cost(o, a, objects) for o, a in zip(domain.operators, actions, strict=True)}
            self.result.add_quality_metric(up.MinimizeActionCosts(costs))
        return self.result

    def _enter_problem(self, objects: Mapping[str, Any]) -> None:
        """Enter the initial state and the goal."""
        for fact in sorted(self.problem.initial):
            self.result.set_initial_value(self._fluent(fact, objects), True)
        for fact, value in self.problem.costs.items():
            self.result.set_initial_value(self._fluent(fact, objects), self._number(value, fact))
        for part in self._parts(self.problem.goal, objects):
            self.result.add_goal(part)

    def _number(self, value: float, fact: Fact) -> Any:
        whole = self.result.fluent(fact[0]).type.is_int_type()
        return int(value) if whole else value

    def _type(self, kind: str) -> Any:
        """What stands for a type. Only tasks that use "object" itself have one of this name."""
        if kind not in self.types:
            above = self.problem.domain.types.get(kind, OBJECT)
            top = kind == OBJECT or (above == OBJECT and not self._uses_object)
            self.types[kind] = self.up.UserType(kind, None if top else self._type(above))
        return self.types[kind]

    @property
    def _uses_object(self) -> bool:
        domain = self.problem.domain
        lists = [*domain.predicates.values(), *domain.functions.values(), *(x.parameters for x in domain.operators)]
        kinds = {kind for parameters in lists for parameter in parameters for kind in parameter.types}
        return OBJECT in kinds.union(self.problem.all_objects.values())

    def _signature(self, parameters: tuple[Parameter, ...], who: str) -> OrderedDict[str, Any]:
        for name, types in parameters:
            if len(types) > 1:
                several = f"'{who}' has the variable {name} with several types, {' or '.join(types)}"
                raise ArgumentError(f"to_unified_planning: {several}; one is possible")
        return OrderedDict((name[1:], self._type(types[0])) for name, types in parameters)

    def _action(self, operator: Operator, objects: Mapping[str, Any]) -> Any:
        action = self.up.InstantaneousAction(operator.name, self._signature(operator.parameters, operator.name))
        terms = self._terms(operator, action, objects)
        for part in self._parts(operator.needs, terms):
            action.add_precondition(part)
        for fact in operator.adds:
            action.add_effect(self._fluent(fact, terms), True)
        for fact in operator.deletes:
            if fact not in operator.adds:  # what is added as well is true afterwards
                action.add_effect(self._fluent(fact, terms), False)
        return action

    def _terms(self, operator: Operator, action: Any, objects: Mapping[str, Any]) -> dict[str, Any]:
        return {**objects, **{p.name: action.parameter(p.name[1:]) for p in operator.parameters}}

    def _cost(self, operator: Operator, action: Any, objects: Mapping[str, Any]) -> Any:
        if isinstance(operator.cost, tuple):
            return self._fluent(operator.cost, self._terms(operator, action, objects))
        whole = operator.cost == int(operator.cost)
        return self.up.Int(int(operator.cost)) if whole else self.up.Real(Fraction(operator.cost))

    def _parts(self, condition: Condition, terms: Mapping[str, Any]) -> list[Any]:
        up = self.up
        equal = [up.Equals(terms[a], terms[b]) for a, b in condition.same]
        differ = [up.Not(up.Equals(terms[a], terms[b])) for a, b in condition.different]
        absent = [up.Not(self._fluent(fact, terms)) for fact in condition.absent]
        return [*(self._fluent(fact, terms) for fact in condition.facts), *absent, *equal, *differ]

    def _fluent(self, fact: Fact, terms: Mapping[str, Any]) -> Any:
        return self.result.fluent(fact[0])(*(terms[term] for term in fact[1:]))
