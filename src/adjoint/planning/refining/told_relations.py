"""Whether parts lie as the relations of a goal say, and not just somewhere on each other: the fact (as-told a b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...world import Relation, World
from ...world.relations.relation_systems import relation_system
from ...world.relations.sources import Source
from ..strips.task_types import Condition, Domain, Fact, Operator, Problem

__all__: list[str] = []

AS_TOLD = "as-told"
_OFF = 8e-3, 0.08  # [m], [rad] by which relations may be missed: cameras see parts this well

Related = Mapping[Fact, Sequence[Relation]]
"""{("on", a, b): the relations that tell how a shall lie on b}"""


def told_facts(world: World, related: Related) -> set[Fact]:
    """The facts ("as-told", a, b) of parts that lie as their relations say."""
    return {(AS_TOLD, *fact[1:]) for fact, relations in related.items() if not missed_by(world, fact[1], relations)}


def missed_by(world: World, part: str, relations: Sequence[Relation]) -> bool:
    """Whether a part does not lie as relations say, where it is now."""
    system = relation_system(Source(world, "problem_of"), [part], relations)
    angles, distances = system.misses(system.variables(np.array([world.pose(part)])))
    return bool((angles > _OFF[1]).any() or (distances > _OFF[0]).any())


def with_told(problem: Problem, related: Related) -> Problem:
    """The task in which the goal asks for relations, too: who puts a part down puts it as they say."""
    if not related:
        return problem
    goal = problem.goal
    facts = (*goal.facts, *((AS_TOLD, *fact[1:]) for fact in related))
    wanted = Condition(tuple(dict.fromkeys(facts)), goal.absent, goal.same, goal.different)
    return replace(problem, domain=_telling(problem.domain), goal=wanted)


def _telling(domain: Domain) -> Domain:
    operators = tuple(_tells(operator) for operator in domain.operators)
    return replace(domain, operators=operators, predicates={**domain.predicates, AS_TOLD: domain.predicates["on"]})


def _tells(operator: Operator) -> Operator:
    where = operator.parameters[-1].name
    fact = (AS_TOLD, "?part", where)
    if operator.name == "pick":
        return replace(operator, deletes=(*operator.deletes, fact))
    return replace(operator, adds=(*operator.adds, fact))
