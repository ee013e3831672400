"""`instantiate`: a schema becomes a plan for another problem."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import ArgumentError, nearest
from ..limits import check_kind, check_limits
from ..monitoring.literals import literal_text
from ..strips.task_types import Plan, Problem
from ..validation import validate
from .matching import Matcher
from .plan_schemas import PlanSchema, check_steps, checked_schema

__all__ = ["instantiate"]


def instantiate(
    schema: PlanSchema, problem: Problem, binding: Mapping[str, str] | None = None, *, budget: int = 100_000
) -> Plan:
    """The plan of a schema that solves a problem: objects are found that meet its needs and the goal of the problem.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Condition, Plan
        >>> from adjoint.planning.learning import generalise
        >>> from dataclasses import replace
        >>> task = book_task("fetch")
        >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
        >>> schema = generalise(Plan(task, tuple(task.action(*call) for call in calls)))
        >>> print(*instantiate(schema, replace(task, goal=Condition((("in", "b1", "r3"),)))))
        (gothru rob d1 r1 r2) (pushthru rob b1 d2 r2 r3)

    `binding` {parameter: object} fixes some or all of the parameters. If no objects fit, the plan is false, and its
    `reason` tells why. The objects that the schema was learned from are tried first; the search ends after `budget`
    trials. An `ArgumentError` says so if the problem's domain does not have the operators of the steps.
    """
    checked_schema(schema, "instantiate")
    check_kind("instantiate", problem, Problem, "the problem")
    check_limits("instantiate", budget=budget)
    check_steps("instantiate", problem.domain, schema)
    given = checked_binding(schema, problem, {} if binding is None else binding)
    wanted = [fact for fact in problem.goal.facts if fact not in problem.initial]
    adds = schema.table.head_adds(len(schema.steps))
    lacking = [fact for fact in wanted if fact[0] not in {x[0] for x in adds}]
    if lacking:
        return Plan(problem, (), False, f"the schema '{schema.name}' never adds {literal_text(lacking[0])}")
    plan = Plan(problem, schema.actions({**schema.example, **given}, problem.costs))
    if validate(plan):
        return plan
    matcher = Matcher(problem, schema.parameters, budget)
    for cover, _ in matcher.covers(wanted, adds, given, len(wanted)):
        for full in matcher.matches(schema.needs, cover, schema.example):
            plan = Plan(problem, schema.actions(full, problem.costs))
            if validate(plan):
                return plan
    ended = f" in {budget} trials" if matcher.exhausted else ""
    return Plan(problem, (), False, f"no objects were found{ended} that the schema '{schema.name}' fits")


def checked_binding(schema: PlanSchema, problem: Problem, binding: Mapping[str, str]) -> dict[str, str]:
    """The binding, if its parameters and its objects exist and fit."""
    check_kind("instantiate", binding, Mapping, "the binding")
    kinds = {p.name: p.types for p in schema.parameters}
    for name, thing in binding.items():
        if name not in kinds:
            raise ArgumentError(
                f"the schema '{schema.name}' has no parameter {name!r:.60}; {nearest(name, list(kinds))}"
            )
        if not isinstance(thing, str) or thing not in problem.all_objects:
            known = nearest(thing, list(problem.all_objects))
            raise ArgumentError(f"the problem '{problem.name}' has no object {thing!r:.60} for {name}; {known}")
        if thing not in problem.objects_of(kinds[name]):
            raise ArgumentError(f"'{thing}' is no {' or '.join(kinds[name])}, which {name} must be")
    return dict(binding)
