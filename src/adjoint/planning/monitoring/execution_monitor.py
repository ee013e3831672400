"""`monitor`: a plan is carried out by looking at the world before every step, and by doing what the kernels say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...display import counted, html_table
from ...errors import ArgumentError
from ...model.input_checks import count
from ..limits import check_kind
from ..strips.task_checks import no_object, no_predicate
from ..strips.task_types import Action, Fact, Plan, Problem, fact_text
from .kernels import highest_true
from .literals import state_of
from .triangle_tables import TriangleTable, triangle_table

__all__ = ["Decision", "Execution", "decide", "monitor"]


class Decision(NamedTuple):
    """What `decide` makes of a state: the step to do, and why."""

    state: frozenset[Fact]
    kernel: int
    """the number of the highest true kernel, 0 if there is none"""
    action: Action | None
    """the step to do; None at the goal, and if no kernel is true"""
    reason: str
    plan: int = 0
    """which of `Execution.tables` it is about"""


@dataclass(frozen=True, repr=False)
class Execution:
    """How a plan was carried out: whether the goal was `reached`, the `reason` why it ended, and all `decisions`.

    `tables` are those of the first plan, and of those that replanning gave.
    """

    reached: bool
    reason: str
    decisions: tuple[Decision, ...]
    tables: tuple[TriangleTable, ...]

    def __bool__(self) -> bool:
        return self.reached

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions that were done, in order."""
        return tuple(decision.action for decision in self.decisions if decision.action)

    def __str__(self) -> str:
        rows = [f"{k:3}  kernel {d.kernel}  {d.action or '-'}: {d.reason}" for k, d in enumerate(self.decisions)]
        return "\n".join([*rows, self.reason])

    def _repr_html_(self) -> str:
        rows = [(k, d.plan, d.kernel, str(d.action or ""), d.reason) for k, d in enumerate(self.decisions)]
        return html_table("Execution", ["step", "plan", "kernel", "action", "reason"], rows, [self.reason])

    def __repr__(self) -> str:
        said = "reached the goal" if self.reached else "did not reach the goal"
        return f"<Execution: {said} after {counted(len(self.actions), 'action')}; {self.reason}>"


def decide(table: TriangleTable, state: Iterable[Fact], after: int = 0) -> Decision:
    """The next step of a plan in a state: that of the highest true kernel.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> from adjoint.planning.monitoring import triangle_table
        >>> task = book_task("monkey")
        >>> calls = "goto a b, pushbox b c, climbbox c, grasp".split(", ")
        >>> table = triangle_table(Plan(task, tuple(task.action(*call.split()) for call in calls)))
        >>> decide(table, {("mk", "c"), ("box", "c"), ("onfloor",)}, after=1)
        Decision(state=..., kernel=3, action=<Action (climbbox c)>, reason='step 2 is not needed', plan=0)

    `after` is the step that was done last, for the reason alone.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    check_kind("decide", table, TriangleTable, "the table")
    return _decision(table, state_of(state, "decide"), count(after, "decide: after"))


def _decision(table: TriangleTable, state: frozenset[Fact], after: int) -> Decision:
    k = highest_true(table, state)
    action = table.plan.actions[k - 1] if 1 <= k <= table.N else None
    return Decision(state, k, action, _why(k, after, table.N) if k else _why_none(table.plan.problem, state))


def _why_none(problem: Problem, state: frozenset[Fact]) -> str:
    """That no kernel is true, and a fact that the task does not know, which may be misspelt."""
    predicates, objects = problem.domain.predicates, problem.all_objects
    for fact in sorted(state):
        if predicates and fact[0] not in predicates:
            return f"no kernel is true; {fact_text(fact)} was sensed, and {no_predicate(fact[0], predicates)}"
        if unknown := [name for name in fact[1:] if name not in objects]:
            return f"no kernel is true; {fact_text(fact)} was sensed, and {no_object(unknown[0], objects)}"
    return "no kernel is true"


def _why(k: int, after: int, N: int) -> str:
    left_out = f"step {after + 1} is" if k == after + 2 else f"steps {after + 1} to {k - 1} are"
    skipped = f"{left_out} not needed" if k > after + 1 else ""
    if k == N + 1:
        return "; ".join(filter(None, ["the goal is true", skipped]))
    if skipped:
        return skipped
    return f"step {k} comes next" if k == after + 1 else f"step {k} did not work, or its effects are lost"


def monitor(
    plan: Plan | TriangleTable, sense: Callable[[], Iterable[Fact]], act: Callable[[Action], object], *,
    replan: Callable[[frozenset[Fact]], Plan | None] | None = None, max_tries: int = 3, max_replans: int = 3,
) -> Execution:  # fmt: skip
    """Carry out a plan: sense the state, find the highest true kernel, do its step, and so on until the goal is true.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> task = book_task("monkey")
        >>> calls = "goto a b, pushbox b c, climbbox c, grasp".split(", ")
        >>> world = [task.initial]
        >>> monitor(Plan(task, tuple(task.action(*call.split()) for call in calls)),
        ...         sense=lambda: world[-1], act=lambda action: world.append(action.result(world[-1])))
        <Execution: reached the goal after 4 actions; the goal is true>

    - Steps whose effects are there already are left out; steps that failed are done again, each at most `max_tries`
      times. `sense` must report every fact that changed: a state that lost only some of them matches no kernel.
    - If no kernel is true, or a step was tried too often, `replan(state)` gives another plan, at most `max_replans`
      times. Without it, or if it gives none, the execution ends.

    The result knows all decisions. It always ends: after (max_replans + 1) plans of `max_tries` times their steps.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    _check_limits(max_tries, max_replans)
    for name, function in (("sense", sense), ("act", act), ("replan", replan)):
        if not callable(function) and (name != "replan" or function is not None):
            raise ArgumentError(f"monitor: '{name}' must be a function, got {type(function).__name__}")
    tables = [plan if isinstance(plan, TriangleTable) else triangle_table(plan)]
    decisions: list[Decision] = []
    tries: Counter[int] = Counter()
    after = 0
    while True:
        before = decisions[-1].state if decisions else frozenset()
        decision = _decision(tables[-1], state_of(sense(), "monitor: sense()", before), after)
        k, action = decision.kernel, decision.action
        trouble = "" if k else decision.reason
        if action and tries[k] == max_tries:
            trouble = f"{action} was done {counted(max_tries, 'time')} (max_tries) without lasting success"
            decision = decision._replace(action=None, reason=trouble)
        decisions.append(decision._replace(plan=len(tables) - 1))
        if trouble:
            other, trouble = _another(replan, decision.state, trouble, len(tables) - 1, max_replans)
            if other is None:
                return Execution(False, trouble, tuple(decisions), tuple(tables))
            tables.append(other)
            tries.clear()
            after = 0
        elif action is None:
            return Execution(True, "the goal is true", tuple(decisions), tuple(tables))
        else:
            act(action)
            tries[k] += 1
            after = k


def _check_limits(max_tries: int, max_replans: int) -> None:
    for name, number, least in (("max_tries", max_tries, 1), ("max_replans", max_replans, 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ArgumentError(f"monitor: '{name}' must be a whole number of at least {least}, got {number!r:.60}")


def _another(replan, state: frozenset[Fact], trouble: str, used: int, most: int) -> tuple[TriangleTable | None, str]:
    """The table of another plan, or None and the reason why there is none."""
    if replan is None:
        return None, trouble
    if used == most:
        return (
            None,
            f"{trouble}, and {counted(most, 'other plan')} {'was' if most == 1 else 'were'} tried (max_replans)",
        )
    plan = replan(state)
    if not plan:
        reason = f": {plan.reason}" if plan is not None else ""
        return None, f"{trouble}, and replanning found no plan{reason}"
    return triangle_table(plan), ""
