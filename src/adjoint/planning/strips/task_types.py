"""Planning tasks as data: facts, operators with typed variables, domains, problems, ground actions and plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ...display import counted
from ...errors import ArgumentError, nearest
from ...lazy import cached_property
from ...program.instructions.sources import NOWHERE, Source, Span
from ..limits import check_each, check_kind

__all__ = ["Action", "Condition", "Domain", "Fact", "Operator", "Parameter", "Plan", "Problem", "fact_text"]

Fact = tuple[str, ...]
"""A predicate and its arguments, such as ("on", "a", "b"); arguments that begin with "?" are variables."""

OBJECT = "object"
"""The type that every other type belongs to."""

_NOTHING: Mapping = MappingProxyType({})


def fact_text(fact: Fact) -> str:
    """A fact or an action as PDDL writes it.

    >>> fact_text(("on", "a", "b"))
    '(on a b)'
    """
    return f"({' '.join(fact)})"


class Parameter(NamedTuple):
    """A variable of an operator, and the types whose objects it may stand for (one of them is enough)."""

    name: str
    """it begins with "?" """
    types: tuple[str, ...] = (OBJECT,)


@dataclass(frozen=True)
class Condition:
    """What must hold: all `facts`, none of `absent`, and terms that are the same or differ.

    >>> Condition(facts=(("clear", "?x"),), different=(("?x", "?y"),))
    Condition: (clear ?x), ?x is not ?y
    """

    facts: tuple[Fact, ...] = ()
    absent: tuple[Fact, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    different: tuple[tuple[str, str], ...] = ()

    def holds(self, state: frozenset[Fact] | set[Fact]) -> bool:
        """Whether the condition, which has no variables, holds in a state."""
        return (
            all(fact in state for fact in self.facts)
            and not any(fact in state for fact in self.absent)
            and all(a == b for a, b in self.same)
            and all(a != b for a, b in self.different)
        )

    def missing(self, state: frozenset[Fact] | set[Fact]) -> tuple[str, ...]:
        """What does not hold in a state, as text; empty if the condition holds."""
        return (
            *(fact_text(fact) for fact in self.facts if fact not in state),
            *(f"not {fact_text(fact)}" for fact in self.absent if fact in state),
            *(f"{a} is {b}" for a, b in self.same if a != b),
            *(f"{a} is not {b}" for a, b in self.different if a == b),
        )

    @property
    def contradiction(self) -> str:
        """Why no state meets a condition without variables, or "": names that are compared are what they are."""
        never = [f"(= {a} {b})" for a, b in self.same if a != b]
        never += [f"not (= {a} {b})" for a, b in self.different if a == b]
        return f"{never[0]} can never become true" if never else ""

    def __repr__(self) -> str:
        parts = [fact_text(fact) for fact in self.facts]
        parts += [f"not {fact_text(fact)}" for fact in self.absent]
        parts += [f"{a} is {b}" for a, b in self.same] + [f"{a} is not {b}" for a, b in self.different]
        return f"Condition: {', '.join(parts) or 'nothing'}"


@dataclass(frozen=True, repr=False)
class Operator:
    """An operator of STRIPS: what it needs, what it deletes and adds, with variables for objects.

        >>> x = Parameter("?x", ("block",))
        >>> putdown = Operator("putdown", (x,), Condition((("holding", "?x"),)),
        ...                    adds=(("ontable", "?x"), ("handempty",)), deletes=(("holding", "?x"),))
        >>> putdown.ground("a").adds
        (('ontable', 'a'), ('handempty',))

    The state after it is s' = (s - deletes) ∪ adds: a fact that is in both lists is true afterwards. `cost` is a number
    or a fact of a function of the problem, such as ("distance", "?a", "?b").
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    needs: Condition = Condition()
    adds: tuple[Fact, ...] = ()
    deletes: tuple[Fact, ...] = ()
    cost: float | Fact = 1.0
    at: Span = field(default=NOWHERE, compare=False)

    def __post_init__(self):
        where = f"operator '{self.name}'"
        check_each(where, self.parameters, Parameter, "parameters")
        check_kind(where, self.needs, Condition, "needs")

    def ground(self, *arguments: str, costs: Mapping[Fact, float] = _NOTHING) -> Action:
        """The action with objects in place of the variables. Types are not checked here.

        `costs` are the values of functions; a cost without a value is 1.
        """
        if len(arguments) != len(self.parameters):
            raise ArgumentError(f"'{self.name}' takes {counted(len(self.parameters), 'object')}, not {len(arguments)}")
        to = dict(zip((p.name for p in self.parameters), arguments, strict=True))
        needs = self.needs
        condition = Condition(
            _replaced(needs.facts, to),
            _replaced(needs.absent, to),
            tuple((to.get(a, a), to.get(b, b)) for a, b in needs.same),
            tuple((to.get(a, a), to.get(b, b)) for a, b in needs.different),
        )
        cost = self.cost if isinstance(self.cost, (int, float)) else costs.get(_replaced((self.cost,), to)[0], 1.0)
        return Action(
            self.name, arguments, condition, _replaced(self.adds, to), _replaced(self.deletes, to), float(cost)
        )

    def __repr__(self) -> str:
        return f"<Operator {fact_text((self.name, *(p.name for p in self.parameters)))}>"


def _replaced(facts: tuple[Fact, ...], to: Mapping[str, str]) -> tuple[Fact, ...]:
    return tuple(tuple(map(to.get, fact, fact)) for fact in facts)


@dataclass(frozen=True, repr=False)
class Action:
    """An operator with objects in the place of its variables; `str` writes it as PDDL does.

    >>> print(Action("stack", ("a", "b")))
    (stack a b)
    """

    name: str
    arguments: tuple[str, ...] = ()
    needs: Condition = Condition()
    adds: tuple[Fact, ...] = ()
    deletes: tuple[Fact, ...] = ()
    cost: float = 1.0

    def applies(self, state: frozenset[Fact]) -> bool:
        """Whether everything that the action needs holds in a state."""
        return self.needs.holds(state)

    def result(self, state: frozenset[Fact]) -> frozenset[Fact]:
        """The state, a set of facts, after the action: (state - deletes) ∪ adds; whether it applies is not checked."""
        return (state - frozenset(self.deletes)) | frozenset(self.adds)

    def __str__(self) -> str:
        return fact_text((self.name, *self.arguments))

    def __repr__(self) -> str:
        return f"<Action {self}>"


@dataclass(frozen=True, repr=False)
class Domain:
    """What can be true, and what can be done: types, constants, predicates, functions and operators.

    - `types` {type: the type above it}; "object" is above all. `constants` {name: type}.
    - `predicates` and `functions` {name: parameters}. Numbers of functions are costs only.
    """

    name: str
    operators: tuple[Operator, ...]
    predicates: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict)
    requirements: tuple[str, ...] = (":strips",)
    source: Source | None = field(default=None, compare=False)

    def __post_init__(self):
        where = f"domain '{self.name}'"
        check_each(where, self.operators, Operator, "operators")
        for name in ("predicates", "types", "constants", "functions"):
            check_kind(where, getattr(self, name), Mapping, name)
        names = [operator.name for operator in self.operators]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentError(f"domain '{self.name}' has two operators '{twice}'; each needs a name of its own")

    @cached_property
    def _operator_of(self) -> dict[str, Operator]:
        return {operator.name: operator for operator in self.operators}

    def operator(self, name: str) -> Operator | None:
        """The operator of a name, or None."""
        return self._operator_of.get(name) if isinstance(name, str) else None

    def is_a(self, kind: str, above: str) -> bool:
        """Whether a type is another one, or stands below it."""
        return above in self.ancestors(kind)

    def ancestors(self, kind: str) -> tuple[str, ...]:
        """A type and all types above it, the nearest first, with "object" at the end."""
        found = {kind: None}
        while kind != OBJECT:
            kind = self.types.get(kind, OBJECT)
            if kind in found:
                raise ArgumentError(f"domain '{self.name}': the type '{kind}' is above itself; types form a tree")
            found[kind] = None
        return tuple(found)

    def __repr__(self) -> str:
        names = " ".join(operator.name for operator in self.operators)
        can, tells = counted(len(self.operators), "operator"), counted(len(self.predicates), "predicate")
        return f"<Domain {self.name}: {can} ({names}), {tells}>"


@dataclass(frozen=True, repr=False)
class Problem:
    """A task: objects, what is true at first, and what shall be true at the end.

    - `objects` {name: type}, without the constants of the domain. `initial` has everything that is true.
    - `costs` {fact of a function: number}. With `minimise`, plans are compared by the sum of their actions' costs, else
      by the number of their actions.
    """

    name: str
    domain: Domain
    objects: Mapping[str, str]
    initial: frozenset[Fact]
    goal: Condition
    costs: Mapping[Fact, float] = field(default_factory=dict)
    minimise: bool = False
    source: Source | None = field(default=None, compare=False)

    def __post_init__(self):
        where = f"problem '{self.name}'"
        kinds = {"domain": Domain, "objects": Mapping, "initial": frozenset, "goal": Condition, "costs": Mapping}
        for name, kind in kinds.items():
            check_kind(where, getattr(self, name), kind, name)

    @cached_property
    def all_objects(self) -> dict[str, str]:
        """{name: type} of the domain's constants and the problem's objects."""
        return {**self.domain.constants, **self.objects}

    @cached_property
    def _of_type(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for name, kind in self.all_objects.items():
            for above in self.domain.ancestors(kind):
                found.setdefault(above, []).append(name)
        return {kind: tuple(names) for kind, names in found.items()}

    def objects_of(self, types: tuple[str, ...]) -> tuple[str, ...]:
        """The objects that have one of the types, or a type below it, in the order of the problem."""
        if len(types) == 1:
            return self._of_type.get(types[0], ())
        return tuple(dict.fromkeys(name for kind in types for name in self._of_type.get(kind, ())))

    def action(self, name: str, *arguments: str) -> Action:
        """The action of an operator of the domain with these objects.

        Where costs are minimised, an `ArgumentError` names a cost that the problem gives no number.
        """
        operator = self.domain.operator(name)
        if operator is None:
            known = nearest(name, [x.name for x in self.domain.operators])
            raise ArgumentError(f"domain '{self.domain.name}' has no operator '{name}'; {known}")
        if wrong := self.misfit(operator, arguments):
            raise ArgumentError(f"problem '{self.name}': an action of '{name}' is not possible: {wrong}")
        found = operator.ground(*arguments, costs=self.costs)
        if self.minimise and (missing := self.unknown_cost(operator, arguments)):
            raise ArgumentError(f"problem '{self.name}' has no number for {fact_text(missing)}, the cost of {found}")
        return found

    def misfit(self, operator: Operator, arguments: Sequence[str]) -> str:
        """Why an operator cannot have these objects: their number, their names or their types; "" if it can."""
        if len(arguments) != len(operator.parameters):
            return f"'{operator.name}' takes {counted(len(operator.parameters), 'object')}, not {len(arguments)}"
        for parameter, name in zip(operator.parameters, arguments, strict=True):
            if not isinstance(name, str) or name not in self.all_objects:
                return f"there is no object '{name}'"
            if name not in self.objects_of(parameter.types):
                return f"'{name}' is no {' or '.join(parameter.types)}, which {parameter.name} must be"
        return ""

    def unknown_cost(self, operator: Operator, arguments: Sequence[str]) -> Fact | None:
        """The fact of a function that is the cost of an operator with these objects, if it has no value, else None."""
        if isinstance(operator.cost, (int, float)):
            return None
        names = [p.name for p in operator.parameters]
        fact = _replaced((operator.cost,), dict(zip(names, arguments, strict=True)))[0]
        return None if fact in self.costs else fact

    def step_cost(self, action: Action) -> float:
        """What an action counts in this problem: its cost with `minimise`, else 1."""
        return action.cost if self.minimise else 1.0

    def __repr__(self) -> str:
        parts = [*map(fact_text, self.goal.facts), *(f"not {fact_text(fact)}" for fact in self.goal.absent)]
        goal = " ".join(parts[:6]) + (" ..." if len(parts) > 6 else "")
        return (
            f"<Problem {self.name} of {self.domain.name}: {counted(len(self.all_objects), 'object')}, "
            f"{counted(len(self.initial), 'fact')}, goal {goal}>"
        )


@dataclass(frozen=True, repr=False)
class Plan:
    """The actions that lead from a problem's initial state to its goal, or the `reason` why there are none.

    A plan is true if it is `solved`, and iterates over its actions. `statistics` tell what the search did, such as
    {"expanded": 12, "generated": 40, "seconds": 0.001}.
    """

    problem: Problem
    actions: tuple[Action, ...] = ()
    solved: bool = True
    reason: str = ""
    statistics: Mapping[str, float] = field(default_factory=dict, compare=False)

    def __post_init__(self):
        check_kind("Plan", self.problem, Problem, "the problem")
        check_each("Plan", self.actions, Action, "actions")

    def __bool__(self) -> bool:
        return self.solved

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __getitem__(self, k: int) -> Action:
        return self.actions[k]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def cost(self) -> float:
        """The sum of what the actions count (see `Problem.step_cost`); infinite if there is no plan."""
        return sum(map(self.problem.step_cost, self.actions)) if self.solved else float("inf")

    @cached_property
    def states(self) -> tuple[frozenset[Fact], ...]:
        """The states before the first action, between the actions, and after the last one."""
        found = [self.problem.initial]
        for action in self.actions:
            found.append(action.result(found[-1]))
        return tuple(found)

    @property
    def text(self) -> str:
        """The plan as a file of PDDL's validators has it: an action a line, and the cost as a comment."""
        return "".join(f"{action}\n" for action in self.actions) + f"; cost = {self.cost:g}\n"

    def __repr__(self) -> str:
        if not self.solved:
            return f"<Plan of {self.problem.name}: none; {self.reason}>"
        shown = " ".join(map(str, self.actions[:12])) + (" ..." if len(self.actions) > 12 else "")
        return f"<Plan of {self.problem.name}: {counted(len(self.actions), 'action')}, cost {self.cost:g}: {shown}>"
