"""Macros: schemata as operators, which planners use like any other, and plans with macros as plans without."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...errors import ArgumentError
from ..limits import check_kind
from ..strips.task_types import Action, Condition, Fact, Operator, Plan, Problem
from .plan_schemas import DifferenceGuard, PlanSchema, check_steps, checked_schema, schema_of

__all__ = ["expand", "macro_operator", "with_macros"]


def macro_operator(schema: PlanSchema) -> Operator:
    """The operator that does all steps of a schema at once: its effect is that of the steps one after the other.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> from adjoint.planning.learning import generalise
        >>> task = book_task("blocks")
        >>> calls = [("unstack", "c", "a"), ("putdown", "c")]
        >>> from dataclasses import replace
        >>> from adjoint.planning.strips import Condition
        >>> plan = Plan(replace(task, goal=Condition((("clear", "a"),))), tuple(task.action(*call) for call in calls))
        >>> macro = macro_operator(generalise(plan, "clear-below"))
        >>> macro, macro.adds, macro.deletes
        (<Operator (clear-below ?x ?y)>, (('clear', '?y'), ('ontable', '?x'), ...), (..., ('holding', '?x')))

    It needs what the steps need, and those parameters to differ whose equality would change the effect. Its cost is
    the sum of the steps' costs, which must be numbers.
    """
    checked_schema(schema, "macro_operator")
    if not schema.steps:
        raise ArgumentError(f"macro_operator: the schema '{schema.name}' has no steps")
    schema = _without_goal(schema)
    adds: dict[Fact, None] = {}
    deletes: dict[Fact, None] = {}
    guard = DifferenceGuard(schema.domain, schema.parameters, schema.example)
    pairs = dict.fromkeys(schema.needs.different)
    for step in schema.steps:
        # What an earlier step added must not be deleted in disguise, by another parameter for the same object.
        for gone in step.deletes:
            adds.pop(gone, None)
            if gone not in step.adds:
                pairs |= dict.fromkeys(pair for fact in adds for pair in guard.pairs(gone, fact))
        adds |= dict.fromkeys(step.adds)
        deletes |= dict.fromkeys(step.deletes)
    needs = replace(schema.needs, different=tuple(pairs))
    gone = tuple(fact for fact in deletes if fact not in adds)
    return Operator(schema.name, schema.parameters, needs, tuple(adds), gone, _cost(schema))


def _without_goal(schema: PlanSchema) -> PlanSchema:
    """The schema for no goal: it needs nothing that only the goal asked for, and has no parameters for that."""
    return schema_of(schema.name, schema.domain, schema.parameters, schema.steps, Condition(), schema.example)


def _cost(schema: PlanSchema) -> float:
    total = 0.0
    for step in schema.steps:
        operator = schema.domain.operator(step.name)
        cost = operator.cost if operator else 0.0
        if not isinstance(cost, (int, float)):
            raise ArgumentError(
                f"macro_operator: the cost of '{step.name}' is the function ({' '.join(cost)}); a macro has one number"
            )
        total += cost
    return total


def with_macros(problem: Problem, macros: Iterable[PlanSchema]) -> Problem:
    """The problem whose domain has the macros as further operators.

    >>> from adjoint.planning.pddl import book_task
    >>> from adjoint.planning.strips import Plan
    >>> from adjoint.planning.learning import generalise
    >>> task = book_task("fetch")
    >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
    >>> schema = generalise(Plan(task, tuple(task.action(*call) for call in calls)))
    >>> with_macros(task, [schema]).domain
    <Domain fetch: 3 operators (gothru pushthru gothru-pushthru), 2 predicates>
    """
    check_kind("with_macros", problem, Problem, "the problem")
    check_kind("with_macros", macros, Iterable, "the macros")
    operators = list(problem.domain.operators)
    for macro in macros:
        operator = macro_operator(macro)
        if any(operator.name == other.name for other in operators):
            raise ArgumentError(f"with_macros: the domain '{problem.domain.name}' has an operator '{operator.name}'")
        check_steps("with_macros", problem.domain, macro)
        operators.append(operator)
    return replace(problem, domain=replace(problem.domain, operators=tuple(operators)))


def expand(plan: Plan, macros: Iterable[PlanSchema]) -> Plan:
    """The plan with the steps of macros in their place, for the problem without macros.

    >>> from adjoint.planning.pddl import book_task
    >>> from adjoint.planning.strips import Plan
    >>> from adjoint.planning.learning import generalise, with_macros
    >>> task = book_task("fetch")
    >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
    >>> fetch = generalise(Plan(task, tuple(task.action(*call) for call in calls)), "fetch")
    >>> more = with_macros(task, [fetch])
    >>> print(*expand(Plan(more, (more.action("fetch", "rob", "d1", "r1", "r2", "b1", "d1", "r1"),)), [fetch]))
    (gothru rob d1 r1 r2) (pushthru rob b1 d1 r2 r1)
    """
    check_kind("expand", plan, Plan, "the plan")
    check_kind("expand", macros, Iterable, "the macros")
    known = {checked_schema(macro, "expand").name: macro for macro in macros}
    left = tuple(x for x in plan.problem.domain.operators if x.name not in known)
    problem = replace(plan.problem, domain=replace(plan.problem.domain, operators=left))
    actions: list[Action] = []
    for action in plan.actions:
        macro = known.get(action.name)
        if macro is None:
            actions.append(action)
        else:
            names = (p.name for p in _without_goal(macro).parameters)
            actions += macro.actions(dict(zip(names, action.arguments, strict=True)), problem.costs)
    return replace(plan, problem=problem, actions=tuple(actions))
