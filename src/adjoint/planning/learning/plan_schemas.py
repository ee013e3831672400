"""`PlanSchema`: a plan with parameters for objects, what it needs, and which parameters must differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...errors import ArgumentError
from ...lazy import cached_property
from ..monitoring.literals import effects, literal_text, literals, opposite
from ..monitoring.triangle_tables import TriangleTable, triangle_table
from ..strips.task_types import OBJECT, Action, Condition, Domain, Fact, Operator, Parameter, Plan, Problem

__all__ = ["PlanSchema", "part_of", "schema_of"]


@dataclass(frozen=True, repr=False)
class PlanSchema:
    """A plan with parameters in the place of objects: it works wherever objects meet its `needs`.

    - `steps` are actions whose arguments are parameters, or constants of the domain.
    - `needs` has the facts of column 0 of the triangle table, and pairs of parameters that must be `different` because
      a step would otherwise delete what a later one needs. `goal` is what the plan was made for.
    - `example` {parameter: the object of the plan that it was learned from}.

        >>> from adjoint.planning.learning import generalise
        >>> from adjoint.planning.pddl import book_task, read_plan
        >>> task = book_task("fetch")
        >>> schema = generalise(read_plan("(gothru rob d1 r1 r2) \\n (pushthru rob b1 d1 r2 r1)", task))
        >>> schema.actions(schema.example)
        (<Action (gothru rob d1 r1 r2)>, <Action (pushthru rob b1 d1 r2 r1)>)

    Reference: Fu, Gonzalez & Lee (1987), Secs. 10.6 and 10.7, Fig. 10.18; Fikes, Hart & Nilsson (1972).
    """

    name: str
    domain: Domain
    parameters: tuple[Parameter, ...]
    steps: tuple[Action, ...]
    needs: Condition
    goal: Condition
    example: Mapping[str, str]

    @cached_property
    def table(self) -> TriangleTable:
        """The triangle table with parameters (Fig. 10.18)."""
        names = {p.name: p.types[0] for p in self.parameters}
        start = frozenset(self.needs.facts)
        return triangle_table(Plan(Problem(self.name, self.domain, names, start, self.goal), self.steps))

    def actions(self, binding: Mapping[str, str], costs: Mapping[Fact, float] | None = None) -> tuple[Action, ...]:
        """The steps with objects in the place of parameters."""
        found = []
        for step in self.steps:
            operator = self.domain.operator(step.name)
            assert operator is not None
            found.append(operator.ground(*(binding.get(x, x) for x in step.arguments), costs=costs or {}))
        return tuple(found)

    def __str__(self) -> str:
        lines = [f"schema {self.name}", *(f"  {k} {step}" for k, step in enumerate(self.steps, 1))]
        lines.append("  needs " + ", ".join(map(literal_text, literals(self.needs))))
        lines += [f"  {a} is not {b}" for a, b in self.needs.different]
        return "\n".join([*lines, "  for " + ", ".join(map(literal_text, literals(self.goal)))])

    def __repr__(self) -> str:
        names = " ".join(p.name for p in self.parameters)
        return f"<PlanSchema {self.name}({names}): {' '.join(map(str, self.steps))}>"


def schema_of(
    name: str, domain: Domain, parameters: Sequence[Parameter], steps: Sequence[Action], goal: Condition,
    example: Mapping[str, str],
) -> PlanSchema:  # fmt: skip
    """The schema of steps with parameters: what they need of the first state is found from the steps."""
    links = tuple(_support_links(steps, goal))
    wanted = dict.fromkeys(literal for literal, giver, _ in links if giver == 0)
    kinds = {p.name: p.types for p in parameters}
    given = (pair for step in steps for pair in step.needs.different)
    pairs = dict.fromkeys((*given, *_differences(steps, links, domain, kinds, example)))
    facts = tuple(x for x in wanted if x[0] != "not")
    absent = tuple(x[1:] for x in wanted if x[0] == "not")
    used = {x for fact in (*wanted, *((s.name, *s.arguments) for s in steps)) for x in fact[1:]}
    kept = tuple(p for p in parameters if p.name in used)
    shown = {p.name: example[p.name] for p in kept}
    return PlanSchema(name, domain, kept, tuple(steps), Condition(facts, absent, different=tuple(pairs)), goal, shown)


def part_of(schema: PlanSchema, kept: Sequence[int], goal: Condition) -> PlanSchema:
    """The schema with some of its steps only, which are numbered from 1, for another goal."""
    steps = [schema.steps[k - 1] for k in kept]
    if len(steps) == len(schema.steps) and goal == schema.goal:
        return schema
    return schema_of(schema.name, schema.domain, schema.parameters, steps, goal, schema.example)


def _support_links(steps: Sequence[Action], goal: Condition) -> Iterator[tuple[Fact, int, int]]:
    """(literal, the step that gives it or 0, the step that needs it) of all that steps and goal need."""
    giver: dict[Fact, int] = {}
    for i, step in enumerate((*steps, None), 1):
        for literal in literals(step.needs if step else goal):
            yield literal, giver.get(literal, 0), i
        for literal in effects(step) if step else ():
            giver.pop(opposite(literal), None)
            giver[literal] = i


def _differences(steps, links, domain: Domain, kinds, example) -> Iterator[tuple[str, str]]:
    """Pairs that must differ so that no step between giver and user takes away what the user needs."""
    for literal, giver, user in links:
        for step in steps[giver : user - 1]:
            for other in effects(step):
                yield from must_differ(opposite(other), literal, domain, kinds, example)
        if literal[0] == "not" and giver:  # what a step deletes and adds is true after it
            for fact in steps[giver - 1].adds:
                yield from must_differ(opposite(fact), literal, domain, kinds, example)


def must_differ(a: Fact, b: Fact, domain: Domain, kinds, example) -> Iterator[tuple[str, str]]:
    """A pair of terms that must differ so that two literals are never the same; none if they cannot be.

    Where several pairs would do, it is the first that differs in the example.
    """
    if a[0] != b[0] or len(a) != len(b) or a == b:
        return
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    if any(not _may_be_same(x, y, domain, kinds) for x, y in pairs):
        return
    x, y = next(((x, y) for x, y in pairs if example.get(x, x) != example.get(y, y)), pairs[0])
    order = list(kinds)
    yield (x, y) if x in kinds and (y not in kinds or order.index(x) < order.index(y)) else (y, x)


def _may_be_same(x: str, y: str, domain: Domain, kinds: Mapping[str, tuple[str, ...]]) -> bool:
    if x not in kinds and y not in kinds:
        return x == y
    first, second = (kinds.get(term) or (domain.constants.get(term, OBJECT),) for term in (x, y))
    return bool(types_meet(domain, first, second))


def types_meet(domain: Domain, first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The types of what belongs to one of the `first` types and to one of the `second`.

    >>> types_meet(Domain("d", (), types={"robot": "thing", "box": "thing"}), ("thing",), ("box", "robot"))
    ('box', 'robot')
    """
    low = [kind for kind in first if any(domain.is_a(kind, above) for above in second)]
    return tuple(dict.fromkeys([*low, *(k for k in second if any(domain.is_a(k, above) for above in first))]))


def lifted(operator: Operator, arguments: Sequence[str]) -> Action:
    """The step of an operator with parameters for arguments; its cost is known only with objects."""
    return replace(operator, cost=1.0).ground(*arguments)


def checked_schema(schema, caller: str) -> PlanSchema:
    """The schema, or an error if it is something else."""
    if not isinstance(schema, PlanSchema):
        raise ArgumentError(
            f"{caller}: a PlanSchema is needed, got {type(schema).__name__}; generalise(plan) makes one"
        )
    return schema
