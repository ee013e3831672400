"""`MacroStore`: what was learned from solved plans, and the part of it that helps with wanted facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...display import counted
from ..limits import check_kind, check_limits
from ..monitoring.literals import state_of
from ..monitoring.triangle_tables import TriangleTable
from ..strips.task_types import Action, Condition, Fact, Plan, Problem
from .generalisation import generalise
from .matching import Matcher
from .plan_schemas import PlanSchema, check_steps, checked_schema, part_of, unknown_step

__all__ = ["MacroStore", "MacroUse", "relevant_part"]


class MacroUse(NamedTuple):
    """A part of a macro that can be done now: its `actions`, and the wanted facts that it reaches."""

    actions: tuple[Action, ...]
    reached: tuple[Fact, ...]
    part: PlanSchema
    """the macro with the `kept` steps alone"""
    kept: tuple[int, ...]
    """numbers of the macro's steps, from 1"""
    binding: dict[str, str]


@dataclass(frozen=True, repr=False)
class MacroStore:
    """Macros that were learned; a store does not change, `learn` gives a larger one.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> task = book_task("fetch")
        >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
        >>> store = MacroStore().learn(Plan(task, tuple(task.action(*call) for call in calls)))
        >>> print(*store.find(task, [("in", "rob", "r2")])[0].actions)
        (gothru rob d1 r1 r2)

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.7.
    """

    macros: tuple[PlanSchema, ...] = ()

    def __post_init__(self):
        check_kind("MacroStore", self.macros, tuple, "macros")
        for macro in self.macros:
            checked_schema(macro, "MacroStore")

    def learn(self, plan: Plan, name: str = "") -> MacroStore:
        """The store with the schema of a plan, too, unless it has one with the same steps, needs and goal."""
        schema = generalise(plan, name)
        if any(_contents(schema) == _contents(other) for other in self.macros):
            return self
        taken, number, title = {macro.name for macro in self.macros}, 2, schema.name
        while title in taken:
            title, number = f"{schema.name}-{number}", number + 1
        return MacroStore((*self.macros, generalise(plan, title)))

    def find(
        self, problem: Problem, wanted: Sequence[Fact] | None = None, *, budget: int = 100_000
    ) -> tuple[MacroUse, ...]:
        """Parts of macros that can be done in the initial state and reach wanted facts: most facts, fewest steps first.

        `wanted` are by default the facts of the goal that are not true yet. Macros with steps that the domain does not
        have are left out; `budget` is that of `relevant_part`, for each macro.
        """
        check_kind("find", problem, Problem, "the problem")
        known = (macro for macro in self.macros if not unknown_step(problem.domain, macro))
        found = (relevant_part(macro, problem, wanted, budget=budget) for macro in known)
        return tuple(sorted(filter(None, found), key=lambda use: (-len(use.reached), len(use.actions))))

    def __len__(self) -> int:
        return len(self.macros)

    def __iter__(self) -> Iterator[PlanSchema]:
        return iter(self.macros)

    def __repr__(self) -> str:
        return f"<MacroStore: {counted(len(self.macros), 'macro')} ({', '.join(macro.name for macro in self.macros)})>"


def _contents(schema: PlanSchema) -> tuple:
    return schema.steps, schema.needs, schema.goal, schema.parameters


def relevant_part(
    macro: PlanSchema, problem: Problem, wanted: Sequence[Fact] | None = None, *, budget: int = 100_000
) -> MacroUse | None:
    """The shortest part of a macro that reaches the most of the wanted facts and can be done in the initial state.

        >>> from adjoint.planning.pddl import book_task, read_plan
        >>> task = book_task("fetch")
        >>> macro = generalise(read_plan("(gothru rob d1 r1 r2) \\n (pushthru rob b1 d1 r2 r1)", task))
        >>> relevant_part(macro, task, [("in", "rob", "r2")]).kept
        (1,)

    Row i+1 of the triangle table, without column 0, is the add list of the first i steps. The head with the largest
    share of the wanted facts is taken, the shortest of equals; of its steps those stay that add a wanted fact, or give
    something to a step that stays. The objects that the macro was learned from are tried first. The search ends after
    `budget` trials, with the best of what it has seen; None if nothing helps.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.7.
    """
    checked_schema(macro, "relevant_part")
    check_kind("relevant_part", problem, Problem, "the problem")
    check_limits("relevant_part", budget=budget)
    check_steps("relevant_part", problem.domain, macro)
    given = problem.goal.facts if wanted is None else wanted
    check_kind("relevant_part", given, Iterable, "wanted")
    new = state_of(facts := tuple(given), "relevant_part") - problem.initial
    facts = tuple(x for x in facts if x in new)
    matcher = Matcher(problem, macro.parameters, budget)
    options = []
    for i in range(1, len(macro.steps) + 1):
        for binding, used in matcher.covers(facts, macro.table.head_adds(i), {}, 1):
            options.append((-len(used), i, len(options), binding, used))
    for _, i, _, binding, used in sorted(options):
        kept = needed_steps(macro.table, i, used)
        part = part_of(macro, kept, Condition(tuple(dict.fromkeys(used))))
        bound = {name: thing for name, thing in binding.items() if name in part.example}
        learned = dict(part.example) | bound
        fits = matcher.holds(part.needs, learned)
        for full in [learned] if fits else matcher.matches(part.needs, bound, part.example):
            actions = part.actions(full, problem.costs)
            state = Plan(problem, actions).states[-1]
            return MacroUse(actions, tuple(x for x in facts if x in state), part, kept, full)
    return None


def needed_steps(table: TriangleTable, head: int, wanted: Sequence[Fact]) -> tuple[int, ...]:
    """The steps of a head that add wanted facts, which are true after it, and all that give them what they need."""
    added = table.head_givers(head)
    givers = [added[fact] for fact in wanted if fact in added]
    kept: set[int] = set()
    while givers:
        step = givers.pop()
        if step not in kept:
            kept.add(step)
            givers += [column for column in table.row(step) if column > 0]
    return tuple(sorted(kept))
