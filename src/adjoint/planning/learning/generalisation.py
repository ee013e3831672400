"""`generalise`: from a plan to a schema that keeps only what its proof needs to be the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import reduce

from ...errors import ArgumentError
from ..limits import check_kind
from ..monitoring.literals import literals, opposite
from ..monitoring.support_links import support_links
from ..monitoring.triangle_tables import triangle_table
from ..strips.task_types import OBJECT, Action, Condition, Domain, Fact, Operator, Parameter, Plan
from .matching import bound_condition
from .plan_schemas import PlanSchema, lifted, schema_of, types_meet

__all__ = ["generalise"]

Terms = dict[str, str]
"""Union-find: {term: another term that it is the same as}; the ends of the chains stand for their classes."""


def generalise(plan: Plan, name: str = "") -> PlanSchema:
    """The schema of a plan: objects become parameters, which are the same only where the plan needs them to be.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> task = book_task("fetch")
        >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
        >>> print(generalise(Plan(task, tuple(task.action(*call) for call in calls))))
        schema gothru-pushthru
          1 (gothru ?k ?d ?a ?b)
          2 (pushthru ?k ?x ?d2 ?b ?b2)
          needs (in ?k ?a), (con ?d ?a ?b), (in ?x ?b), (con ?d2 ?b ?b2)
          for (in ?x ?b2)

    Each occurrence of an object in the initial state, in the goal and in the steps is a parameter of its own at first.
    Then what a step needs is made the same as the effect that gave it, and what it deletes as the effects that it took
    away; so the door of the second step need not be that of the first. Objects that operators name themselves stay.
    Parameters that must differ are found, too.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6, Fig. 10.18; Fikes, Hart & Nilsson (1972).
    """
    check_kind("generalise", name, str, "the name")
    triangle_table(plan)  # its errors tell what is wrong with the plan
    steps, terms, goal = _fresh(plan)
    order = {term: k for k, term in enumerate(terms)}
    same = (pair for one, other in _same_literals(plan, steps, goal) for pair in zip(one[1:], other[1:], strict=True))
    for x, y in (*same, *(pair for step in steps for pair in step.needs.same)):
        _join(terms, order, x, y)
    domain, example, kinds = plan.problem.domain, _objects(plan, steps, goal), _kinds(plan, steps, goal)
    classes: dict[str, list[str]] = {}
    for term in terms:
        classes.setdefault(_end(terms, term), []).append(term)
    names = _named(classes)
    parameters = [
        Parameter(new, _common(domain, [kinds[x] for x in classes[end]], example[end]))
        for end, new in names.items()
        if new.startswith("?")
    ]
    of = {term: names[_end(terms, term)] for term in terms}
    made = [lifted(_operator(domain, step.name), [of[x] for x in step.arguments]) for step in steps]
    shown = {of[term]: thing for term, thing in example.items()}
    return schema_of(name or _title(plan), domain, parameters, made, bound_condition(goal, of), shown)


def _title(plan: Plan) -> str:
    """The name of a schema that has none: its steps, or the first and the last of many."""
    names = [action.name for action in plan]
    title = "-".join(names) or "nothing" if len(names) <= 4 else f"{names[0]}-to-{names[-1]}-{len(names)}"
    return f"{title}-macro" if plan.problem.domain.operator(title) else title


def _operator(domain: Domain, name: str) -> Operator:
    operator = domain.operator(name)
    if operator is None:
        raise ArgumentError(f"generalise: the domain '{domain.name}' has no operator '{name}'")
    return operator


def _fresh(plan: Plan) -> tuple[list[Action], Terms, Condition]:
    """The steps and the goal with a term of its own, such as "?x.2", for each argument; constants of schemata stay."""
    steps, terms = [], {}
    for i, action in enumerate(plan.actions, 1):
        operator = _operator(plan.problem.domain, action.name)
        steps.append(lifted(operator, [f"{p.name}.{i}" for p in operator.parameters]))
        needs = steps[-1].needs
        facts = (*needs.facts, *needs.absent, *steps[-1].adds, *steps[-1].deletes)
        terms |= {x: x for fact in (("", *steps[-1].arguments), *facts) for x in fact[1:]}
    last = len(plan) + 1

    def fresh(facts: tuple[Fact, ...], kind: str) -> tuple[Fact, ...]:
        return tuple((f[0], *(f"?{kind}{k}{n}.{last}" for n in range(1, len(f)))) for k, f in enumerate(facts, 1))

    goal = Condition(fresh(plan.problem.goal.facts, "g"), fresh(plan.problem.goal.absent, "n"))
    terms |= {x: x for fact in (*goal.facts, *goal.absent) for x in fact[1:]}
    return steps, terms, goal


def _same_literals(plan: Plan, steps: list[Action], goal: Condition) -> Iterator[tuple[Fact, Fact]]:
    """Pairs of a need and the effect that gave it, and of a deletion and each effect that it took away."""
    gave = [
        dict(zip((*map(opposite, act.deletes), *act.adds), (*map(opposite, step.deletes), *step.adds), strict=True))
        for act, step in zip(plan.actions, steps, strict=True)
    ]
    needs = (made for needs in (*(step.needs for step in steps), goal) for made in literals(needs))
    for made, (real, giver, _) in zip(needs, support_links(plan.actions, plan.problem.goal), strict=True):
        if giver:
            yield made, gave[giver - 1][real]
    # All effects, not the last one alone: a macro that adds a fact in one step must know which other deletes it.
    added: dict[Fact, list[Fact]] = defaultdict(list)
    for action, step in zip(plan.actions, steps, strict=True):
        for real, made in zip(action.deletes, step.deletes, strict=True):
            if made not in step.adds:
                yield from ((made, other) for other in added.pop(real, ()))
        for real, made in zip(action.adds, step.adds, strict=True):
            added[real].append(made)


def _objects(plan: Plan, steps: list[Action], goal: Condition) -> dict[str, str]:
    """{term: the object of the plan}."""
    found = {
        x: thing
        for step, act in zip(steps, plan, strict=True)
        for x, thing in zip(step.arguments, act.arguments, strict=True)
    }
    wanted = plan.problem.goal
    for made, real in zip((*goal.facts, *goal.absent), (*wanted.facts, *wanted.absent), strict=True):
        found |= dict(zip(made[1:], real[1:], strict=True))
    return found


def _kinds(plan: Plan, steps: list[Action], goal: Condition) -> dict[str, tuple[str, ...]]:
    """{term: types} by the parameters of operators, and for goals by those of predicates."""
    domain, found = plan.problem.domain, {}
    for step in steps:
        parameters = _operator(domain, step.name).parameters
        found |= {x: p.types for x, p in zip(step.arguments, parameters, strict=True)}
    for fact in (*goal.facts, *goal.absent):
        known = domain.predicates.get(fact[0], ())
        found |= {x: p.types for x, p in zip(fact[1:], known, strict=False)}
        found |= {x: (OBJECT,) for x in fact[1:] if x not in found}
    return found


def _common(domain: Domain, kinds: list[tuple[str, ...]], thing: str) -> tuple[str, ...]:
    """The types that a parameter may have in all of its places."""
    found = reduce(lambda a, b: types_meet(domain, a, b), kinds)
    if not found:
        places = ", ".join(sorted({" or ".join(kind) for kind in kinds}))
        raise ArgumentError(f"generalise: '{thing}' of the plan has places of types without a common one: {places}")
    return found


def _end(terms: Terms, term: str) -> str:
    """The end of a term's chain; the chain becomes shorter on the way."""
    while (above := terms.get(term, term)) != term:
        terms[term] = terms.get(above, above)
        term = above
    return term


def _join(terms: Terms, order: dict[str, int], x: str, y: str) -> None:
    """Makes two terms the same; a constant, or else the one that was there first, stands for both."""
    x, y = sorted((_end(terms, x), _end(terms, y)), key=lambda term: (term.startswith("?"), order.get(term, 0)))
    terms[y] = x


def _named(classes: dict[str, list[str]]) -> dict[str, str]:
    """{end of a class: its name}: that of its first variable, with a number if it is taken; constants keep theirs."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    numbers: Counter[str] = Counter()  # the highest that was tried for a name
    for end in classes:
        name = base = end.rpartition(".")[0] if end.startswith("?") else end
        while end.startswith("?") and name in taken:
            numbers[base] = max(numbers[base] + 1, 2)
            name = f"{base}{numbers[base]}"
        taken.add(name)
        found[end] = name
    return found
