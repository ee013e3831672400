"""`ground`: from operators with variables to the actions that can ever apply, joined from facts that can become true.

A fact that can become true is matched with each condition that has its predicate; the other conditions of the operator
are joined from the facts that were found before. So only operators whose conditions can all become true are ever made,
however many objects there are: grounding is lazy.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from ...errors import ArgumentError, SolveError
from ..limits import check_kind, check_limits, check_not_negative
from .ground_tasks import GroundTask, mask_of
from .task_checks import check_task
from .task_types import Fact, Operator, Problem, fact_text

__all__ = ["ground"]

MOST_ACTIONS = 1_000_000
_MOST_BITS = 10**10  # actions times facts: about 5 GB

_Index = dict[tuple, list[Fact]]


class _Step(NamedTuple):
    """One condition of a join: facts of `index` under the key that the bound variables give bind further variables."""

    index: _Index
    key: Callable[[list[str]], Any]
    binds: tuple[tuple[int, int, frozenset[str]], ...]  # (position in the fact, variable, objects of its types)
    equal: tuple[tuple[int, int], ...]  # positions of the fact that must be the same


class _Join(NamedTuple):
    """What is done with a new fact: `first` and `fixed` match it, and the `steps` bind the other variables."""

    schema: _Schema
    first: _Step
    fixed: tuple[tuple[int, str], ...]  # positions of constants in the first condition
    steps: tuple[_Step, ...]


class _Schema:
    """An operator with slots in place of names: the variables first, then predicates and constants."""

    def __init__(self, operator: Operator, problem: Problem):
        self.operator = operator
        self.variables = {p.name: k for k, p in enumerate(operator.parameters)}
        self.choices = [problem.objects_of(p.types) for p in operator.parameters]
        self.allowed = [frozenset(names) for names in self.choices]
        positive = {term for fact in operator.needs.facts for term in fact[1:]}
        self.free = [k for name, k in self.variables.items() if name not in positive]
        self.slots = dict(self.variables)
        self.needs = [self.template(fact) for fact in operator.needs.facts]
        self.absent = [self.template(fact) for fact in operator.needs.absent]
        self.adds = [self.template(fact) for fact in operator.adds]
        self.deletes = [self.template(fact) for fact in operator.deletes]
        self.same = [self.template(pair) for pair in operator.needs.same]
        self.different = [self.template(pair) for pair in operator.needs.different]
        self.cost = None if isinstance(operator.cost, (int, float)) else self.template(operator.cost)
        self.constants = tuple(self.slots)[len(self.variables) :]
        self.bare: dict[Fact, _Step] = {}  # conditions without variables

    def call(self, named: tuple[str, ...], row: tuple[str, ...]) -> _Call:
        """The operator with these names in its slots."""
        return _Call(
            self,
            named,
            [fact(row) for fact in self.needs],
            [fact(row) for fact in self.absent] if self.absent else [],
            [fact(row) for fact in self.adds],
            [fact(row) for fact in self.deletes],
        )

    def template(self, fact: Fact) -> Callable[[tuple[str, ...]], Fact]:
        """The function from the names in all slots to the fact that they give in this place."""
        if len(fact) == 1:
            return lambda row: fact
        return itemgetter(*(self.slots.setdefault(term, len(self.slots)) for term in fact))


class _Call(NamedTuple):
    """An operator with objects, and the facts that it then needs, needs to be absent, adds and deletes."""

    schema: _Schema
    named: tuple[str, ...]  # the operator's name and the objects
    needs: list[Fact]
    absent: list[Fact]
    adds: list[Fact]
    deletes: list[Fact]


def ground(problem: Problem, *, max_actions: float = MOST_ACTIONS, max_seconds: float = math.inf) -> GroundTask:
    """All actions of a problem that can ever apply, if nothing is ever deleted, with the facts that they change.

        >>> from adjoint.planning.strips.task_types import Condition, Domain, Operator, Parameter, Problem
        >>> go = Operator("go", (Parameter("?a"), Parameter("?b")), Condition((("at", "?a"), ("road", "?a", "?b"))),
        ...               adds=(("at", "?b"),), deletes=(("at", "?a"),))
        >>> roads = {("road", "x", "y"), ("road", "y", "z"), ("road", "w", "x")}
        >>> task = ground(Problem("trip", Domain("map", (go,)), dict.fromkeys("wxyz", "object"),
        ...                       frozenset({("at", "x"), *roads}), Condition((("at", "z"),))))
        >>> task.calls                                         # nobody ever gets to w
        (('go', 'x', 'y'), ('go', 'y', 'z'))

    A `SolveError` says so if there are more than `max_actions`, or if they are not known after `max_seconds`.
    """
    check_kind("ground", problem, Problem, "the argument")
    check_limits("ground", max_actions=max_actions)
    check_not_negative("ground", max_seconds=max_seconds)
    check_task(problem)
    return checked_ground(problem, max_actions, max_seconds)


def checked_ground(problem: Problem, max_actions: float, max_seconds: float) -> GroundTask:
    """`ground` for a problem that was checked."""
    schemas = [_Schema(operator, problem) for operator in problem.domain.operators]
    reached = _Reached(problem, max_actions, max_seconds)
    return _numbered(problem, _possible(problem, _all_calls(schemas, reached), reached.check_time), reached.check_time)


# --- which calls there are --------------------------------------------------------------------------------------------


class _Reached:
    """The calls that can apply, and the facts that can become true by them, in the order in which they were found."""

    def __init__(self, problem: Problem, max_actions: float, max_seconds: float):
        self.problem, self.max_actions = problem, max_actions
        self.max_seconds, self.end = max_seconds, time.perf_counter() + max_seconds
        self.calls: list[_Call] = []
        self.facts = sorted(problem.initial)
        self.known = set(self.facts)
        self.seen: set[tuple[str, ...]] = set()

    def add(self, schema: _Schema, bound: list[str]) -> None:
        """Enter an operator with objects for its variables; those that no fact binds stand for any objects."""
        if not schema.free:
            self._enter(schema, tuple(bound))
            return
        choices = [schema.choices[k] if k in schema.free else (bound[k],) for k in range(len(bound))]
        for tried, objects in enumerate(product(*choices)):
            if not tried & 1023:
                self.check_time()
            self._enter(schema, objects)

    def _enter(self, schema: _Schema, objects: tuple[str, ...]) -> None:
        named = (schema.operator.name, *objects)
        row = objects + schema.constants
        if named in self.seen or not _fits(schema, row):
            return
        self.seen.add(named)
        call = schema.call(named, row)
        self.calls.append(call)
        if len(self.calls) > self.max_actions:
            raise SolveError(
                f"ground: problem '{self.problem.name}' has more than {self.max_actions:g} actions; "
                f"fewer objects, or operators with fewer variables, are needed"
            )
        for fact in call.adds:
            if fact not in self.known:
                self.known.add(fact)
                self.facts.append(fact)

    def check_time(self) -> None:
        """Raise a `SolveError` if too much time has passed."""
        if time.perf_counter() > self.end:
            named, limit = self.problem.name, self.max_seconds
            raise SolveError(f"ground: the actions of problem '{named}' are not known after {limit:g} seconds")


def _all_calls(schemas: list[_Schema], reached: _Reached) -> list[_Call]:
    """All operators with objects whose needs can become true, each once."""
    indices: dict[tuple[str, tuple[int, ...]], _Index] = defaultdict(lambda: defaultdict(list))
    joins: dict[str, list[_Join]] = defaultdict(list)
    for schema in schemas:
        for pivot, fact in enumerate(schema.operator.needs.facts):
            joins[fact[0]].append(_join(schema, pivot, indices))
            reached.check_time()
    entries: dict[str, list[tuple[Callable[[Fact], Any], _Index]]] = defaultdict(list)
    for (predicate, positions), index in indices.items():
        entries[predicate].append((_key([(k, "") for k in positions]), index))
    for schema in schemas:
        if not schema.needs:
            reached.add(schema, [""] * len(schema.variables))
    for fact in reached.facts:  # the list grows on the way
        for key, index in entries[fact[0]]:
            index[key(fact)].append(fact)
        reached.check_time()
        for join in joins[fact[0]]:
            _match(join, fact, reached)
    return reached.calls


def _fits(schema: _Schema, row: tuple[str, ...]) -> bool:
    if schema.same and any(len(set(pair(row))) > 1 for pair in schema.same):
        return False
    return not (schema.different and any(len(set(pair(row))) == 1 for pair in schema.different))


def _join(schema: _Schema, pivot: int, indices: dict[tuple[str, tuple[int, ...]], _Index]) -> _Join:
    """The order in which the needs of an operator are joined when a fact is its need number `pivot`."""
    needs = schema.operator.needs.facts
    bound: set[str] = set()
    first, fixed = _step(schema, needs[pivot], bound, indices, every=True)
    for fact in needs if not schema.bare else ():
        if schema.variables.keys().isdisjoint(fact[1:]):
            schema.bare[fact] = _step(schema, fact, set(), indices)[0]
    steps = [schema.bare[fact] for k, fact in enumerate(needs) if k != pivot and fact in schema.bare]
    rest = {k: fact for k, fact in enumerate(needs) if k != pivot and fact not in schema.bare}
    open_ = {k: schema.variables.keys() & set(fact[1:]) - bound for k, fact in rest.items()}
    sizes = {k: len(schema.variables.keys() & set(fact[1:])) for k, fact in rest.items()}
    users: dict[str, list[int]] = defaultdict(list)
    for k, variables in open_.items():
        for term in variables:
            users[term].append(k)
    heap = [(len(variables), len(variables) - sizes[k], k) for k, variables in open_.items()]
    heapify(heap)
    while heap:  # that with the fewest open variables comes next; of these, that with the most bound ones
        count, _, k = heappop(heap)
        if k not in open_ or count != len(open_[k]):
            continue  # it was entered with more open variables before
        new = open_.pop(k)
        steps.append(_step(schema, needs[k], bound, indices)[0])
        for other in sorted({other for term in new for other in users[term] if other in open_}):
            open_[other] -= new
            heappush(heap, (len(open_[other]), len(open_[other]) - sizes[other], other))
    return _Join(schema, first, fixed, tuple(steps))


def _step(
    schema: _Schema, fact: Fact, bound: set[str], indices: dict, every: bool = False
) -> tuple[_Step, tuple[tuple[int, str], ...]]:
    positions, slots, binds, equal, fixed = [], [], [], [], []
    new: dict[str, int] = {}
    for k, term in enumerate(fact[1:], 1):
        slot = schema.variables.get(term)
        if slot is None:
            fixed.append((k, term))
        if slot is None or term in bound:
            positions.append(k)
            slots.append((slot, term))
        elif term in new:
            equal.append((new[term], k))
        else:
            new[term] = k
            binds.append((k, slot, schema.allowed[slot]))
    bound |= set(new)
    key = _key(slots)
    index = {} if every else indices[fact[0], tuple(positions)]
    return _Step(index, key, tuple(binds), tuple(equal)), tuple(fixed)


def _key(slots: list[tuple[int | None, str]]) -> Callable[[Any], Any]:
    """The function from a row of names to those in some slots: a tuple, or the name itself if there is one slot."""
    if any(slot is None for slot, _ in slots) or not slots:
        only = len(slots) == 1
        return lambda bound: slots[0][1] if only else tuple(t if slot is None else bound[slot] for slot, t in slots)
    return itemgetter(*(slot for slot, _ in slots))


def _match(join: _Join, fact: Fact, reached: _Reached) -> None:
    """Enter all calls that a new fact and facts before it give."""
    first = join.first
    if join.fixed and any(fact[k] != term for k, term in join.fixed):
        return
    if first.equal and any(fact[a] != fact[b] for a, b in first.equal):
        return
    bound = [""] * len(join.schema.variables)
    for k, slot, allowed in first.binds:
        if fact[k] not in allowed:
            return
        bound[slot] = fact[k]
    if join.steps:
        _match_rest(join, bound, reached)
    else:
        reached.add(join.schema, bound)


def _match_rest(join: _Join, bound: list[str], reached: _Reached) -> None:
    """Enter all calls with facts for the other conditions; a stack has the facts that are still to be tried of each."""
    schema, steps, last, tried = join.schema, join.steps, len(join.steps) - 1, 0
    stack = [iter(steps[0].index.get(steps[0].key(bound), ()))]
    while stack:
        at = len(stack) - 1
        _, _, binds, equal = steps[at]
        for fact in stack[at]:
            if equal and any(fact[a] != fact[b] for a, b in equal):
                continue
            for k, slot, allowed in binds:
                if fact[k] not in allowed:
                    break
                bound[slot] = fact[k]
            else:
                if at == last:
                    reached.add(schema, bound)
                    continue
                following = steps[at + 1]
                stack.append(iter(following.index.get(following.key(bound), ())))
                break
        else:
            stack.pop()
        tried += 1
        if not tried & 1023:
            reached.check_time()


def _possible(problem: Problem, calls: list[_Call], check_time: Callable[[], None]) -> list[_Call]:
    """The calls without those that need the absence of a fact that is true forever, and what only these could give."""
    some_absent = any(call.absent for call in calls)
    while some_absent:  # until nothing changes: what was given by calls that went must go, too
        check_time()
        forever = problem.initial.difference(*(call.deletes for call in calls))
        given = problem.initial.union(*(call.adds for call in calls))
        left = [c for c in calls if forever.isdisjoint(c.absent) and given.issuperset(c.needs)]
        if len(left) == len(calls):
            break
        calls = left
    return calls


# --- from facts to numbers --------------------------------------------------------------------------------------------


def _numbered(problem: Problem, calls: list[_Call], check_time: Callable[[], None]) -> GroundTask:
    """The task with numbers for all facts that can change; the others are true forever, or never."""
    check_time()
    possible = problem.initial.union(*(call.adds for call in calls))
    forever = problem.initial.difference(*(call.deletes for call in calls))
    changing = possible - forever
    number = {fact: k for k, fact in enumerate(sorted(changing))}
    if len(calls) * len(number) > _MOST_BITS:  # actions have masks of all facts
        raise SolveError(
            f"ground: problem '{problem.name}' has {len(calls)} actions and {len(number)} facts, which need too much "
            f"memory; fewer objects, or operators with fewer variables, are needed"
        )
    asked = set(problem.goal.absent).union(*(call.absent for call in calls))
    opposite = {number[fact]: len(number) + k for k, fact in enumerate(sorted(asked & changing))}
    rows = []
    for k, call in enumerate(calls):
        if not k & 1023:
            check_time()
        rows.append(_row(number, opposite, call))
    facts = (*number, *(("not", *fact) for fact in sorted(asked & changing)))
    initial = mask_of(number[f] for f in problem.initial if f in number)
    initial |= mask_of(no for fact, no in opposite.items() if not initial >> fact & 1)
    goal, impossible = _goal(problem, number, opposite, possible)
    return GroundTask(
        problem,
        facts,
        tuple(call.named for call in calls),
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        tuple(row[2] for row in rows),
        _costs(problem, calls),
        initial,
        goal,
        impossible,
        forever,
    )


def _row(
    number: dict[Fact, int], opposite: dict[int, int], call: _Call
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The numbers of what an action needs, adds and deletes, with the opposites of facts."""
    n = {number[fact] for fact in call.needs if fact in number}
    a = {number[fact] for fact in call.adds if fact in number}
    d = {number[fact] for fact in call.deletes if fact in number} - a  # what is deleted and added is true afterwards
    if opposite:
        n |= {opposite[number[fact]] for fact in call.absent if fact in number}
        a, d = a | {opposite[k] for k in d if k in opposite}, d | {opposite[k] for k in a if k in opposite}
    return tuple(sorted(n)), tuple(sorted(a)), tuple(sorted(d))


def _goal(
    problem: Problem, number: dict[Fact, int], opposite: dict[int, int], possible: frozenset[Fact]
) -> tuple[tuple[int, ...], tuple[Fact, ...]]:
    wanted = [number[fact] for fact in problem.goal.facts if fact in number]
    wanted += [opposite[number[fact]] for fact in problem.goal.absent if fact in number]
    never = [fact for fact in problem.goal.facts if fact not in possible]
    never += [("not", *fact) for fact in problem.goal.absent if fact in possible and fact not in number]
    never += [("=", a, b) for a, b in problem.goal.same if a != b]
    never += [("not", "=", a, b) for a, b in problem.goal.different if a == b]
    return tuple(dict.fromkeys(wanted)), tuple(never)


def _costs(problem: Problem, calls: list[_Call]) -> tuple[float, ...]:
    if not problem.minimise:
        return (1.0,) * len(calls)
    found = []
    for call in calls:
        cost = call.schema.operator.cost
        if call.schema.cost is not None:
            fact = call.schema.cost(call.named[1:] + call.schema.constants)
            if fact not in problem.costs:
                raise ArgumentError(
                    f"problem '{problem.name}' has no number for {fact_text(fact)}, the cost of {fact_text(call.named)}"
                )
            cost = problem.costs[fact]
        assert not isinstance(cost, tuple)  # for the type checker: facts have become numbers
        if not 0 <= cost < math.inf:
            named = f"problem '{problem.name}': the cost of {fact_text(call.named)}"
            raise ArgumentError(f"{named} must be a number, 0 or more, got {cost}")
        found.append(float(cost))
    return tuple(found)
