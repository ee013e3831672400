"""`PlanSchema`: a plan with parameters for objects, what it needs, and which parameters must differ."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from ...errors import ArgumentError
from ...lazy import cached_property
from ..monitoring.literals import effects, literal_text, literals, opposite
from ..monitoring.support_links import SupportLink, support_links
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
    links = tuple(support_links(steps, goal))
    wanted = dict.fromkeys(literal for literal, giver, _ in links if giver == 0)
    given = (pair for step in steps for pair in step.needs.different)
    pairs = dict.fromkeys((*given, *_differences(steps, links, DifferenceGuard(domain, parameters, example))))
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


def _differences(
    steps: Sequence[Action], links: Sequence[SupportLink], guard: DifferenceGuard
) -> Iterator[tuple[str, str]]:
    """Pairs that must differ so that no step between giver and user takes away what the user needs."""
    takers: dict[tuple[str, int], list[tuple[int, Fact]]] = defaultdict(list)  # by what they may take, in their order
    for k, step in enumerate(steps, 1):
        for taken in map(opposite, effects(step)):
            takers[taken[0], len(taken)].append((k, taken))
    for literal, giver, user in links:
        able = takers.get((literal[0], len(literal)), [])
        first, last = (bisect_left(able, k, key=itemgetter(0)) for k in (giver + 1, user))
        taken = [fact for _, fact in able[first:last]]
        if literal[0] == "not" and giver:  # what a step deletes and adds is true after it
            taken += map(opposite, steps[giver - 1].adds)
        for fact in dict.fromkeys(taken):
            yield from guard.pairs(fact, literal)


class DifferenceGuard:
    """Finds parameters that must differ so that two literals are never the same."""

    def __init__(self, domain: Domain, parameters: Sequence[Parameter], example: Mapping[str, str]):
        self.domain, self.example = domain, example
        self.kinds = {p.name: p.types for p in parameters}
        self.order = {name: k for k, name in enumerate(self.kinds)}
        self.meeting: dict[tuple[tuple[str, ...], tuple[str, ...]], bool] = {}

    def pairs(self, a: Fact, b: Fact) -> Iterator[tuple[str, str]]:
        """A pair of terms that must differ so that two literals are never the same; none if they cannot be.

        Where several pairs would do, it is the first that differs in the example.
        """
        if a[0] != b[0] or len(a) != len(b) or a == b:
            return
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        if not all(self._may_be_same(x, y) for x, y in pairs):
            return
        example, last = self.example, len(self.order)
        x, y = next(((x, y) for x, y in pairs if example.get(x, x) != example.get(y, y)), pairs[0])
        yield (x, y) if self.order.get(x, last) < self.order.get(y, last) else (y, x)

    def _may_be_same(self, x: str, y: str) -> bool:
        if x not in self.kinds and y not in self.kinds:
            return False  # two names
        kinds = self._types(x), self._types(y)
        if kinds not in self.meeting:
            self.meeting[kinds] = bool(types_meet(self.domain, *kinds))
        return self.meeting[kinds]

    def _types(self, term: str) -> tuple[str, ...]:
        return self.kinds.get(term) or (self.domain.constants.get(term, OBJECT),)


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


def unknown_step(domain: Domain, schema: PlanSchema) -> str:
    """The name of a step's operator that a domain does not have, or has in another way; "" if it has all of them."""
    steps = dict.fromkeys(step.name for step in schema.steps)
    return next((name for name in steps if domain.operator(name) != schema.domain.operator(name)), "")


def check_steps(caller: str, domain: Domain, schema: PlanSchema) -> None:
    """Refuse a schema with a step that a domain does not have."""
    if name := unknown_step(domain, schema):
        which = f"which the domain '{domain.name}' has not"
        raise ArgumentError(f"{caller}: the schema '{schema.name}' has the step '{name}', {which}")


def checked_schema(schema, caller: str) -> PlanSchema:
    """The schema, or an error if it is something else."""
    if not isinstance(schema, PlanSchema):
        raise ArgumentError(
            f"{caller}: a PlanSchema is needed, got {type(schema).__name__}; generalise(plan) makes one"
        )
    return schema
