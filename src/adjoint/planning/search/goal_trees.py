"""`means_ends`: means-ends analysis, with the tree of goals that explains its plan."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...display import counted
from ...errors import ArgumentError
from ..limits import check_kind, check_limits
from ..strips.task_types import Action, Condition, Fact, Plan, Problem, fact_text
from .difference_tables import DifferenceTable, Lack, checked_table, lacks, relevant_actions

__all__ = ["Goal", "MeansEndsResult", "means_ends"]

_DEEPEST = 200  # goals inside goals that Python's stack bears with ease


class Goal(NamedTuple):
    """A goal of means-ends analysis: transform a state, reduce a difference, or apply an operator.

    `outcome` is "done", or says why it failed. `children` are the goals that it led to, in the order of their attempts:
    all that are done belong to a transform or an apply, and one of them to a reduce.
    """

    kind: str
    text: str
    outcome: str
    children: tuple[Goal, ...] = ()

    def lines(self, indent: str = "") -> Iterator[str]:
        """The tree as lines of text."""
        waiting = [(indent, self)]  # no recursion, since trees may be deep
        while waiting:
            indent, goal = waiting.pop()
            yield f"{indent}{goal.kind} {goal.text}" + ("" if goal.outcome == "done" else f": {goal.outcome}")
            waiting += [(indent + "  ", child) for child in reversed(goal.children)]


@dataclass(frozen=True, repr=False)
class MeansEndsResult:
    """The plan of means-ends analysis and the tree of its goals; it is true if there is a plan."""

    plan: Plan
    tree: Goal

    def __bool__(self) -> bool:
        return self.plan.solved

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the plan."""
        return self.plan.actions

    @property
    def reason(self) -> str:
        """Why there is no plan; empty if there is one."""
        return self.plan.reason

    def explain(self) -> str:
        """The tree of goals, one a line: goals inside goals are indented, and failed ones say why."""
        return "\n".join(self.tree.lines())

    def __repr__(self) -> str:
        goals = counted(int(self.plan.statistics["goals"]), "goal")
        found = counted(len(self.actions), "action") if self.plan.solved else f"no plan; {self.reason}"
        return f"<MeansEndsResult of {self.plan.problem.name}: {found}; {goals}>"


def means_ends(
    problem: Problem, table: DifferenceTable, *, max_depth: int = 60, max_goals: int = 20_000, max_seconds: float = 60.0
) -> MeansEndsResult:
    """A plan by means-ends analysis, as the General Problem Solver makes it.

        >>> from adjoint.planning.search import monkey_task
        >>> found = means_ends(*monkey_task())
        >>> print(*found.actions)
        (goto a b) (pushbox b c) (climbbox c) (grasp)

    The difference of the highest row of the `table` is reduced first: its operators are tried in turn, and what an
    operator needs becomes a goal of its own. A goal that is met again inside itself fails, as one does that has
    `max_depth` others around or before it; after `max_goals` or `max_seconds` the analysis gives up. The plan need not
    be short, and the order of the rows decides whether there is one at all. Goals about objects that are not named are
    not supported.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.5, Figs. 10.11 and 10.12.
    """
    check_kind("means_ends", problem, Problem, "the problem")
    check_kind("means_ends", table, DifferenceTable, "the table")
    if isinstance(max_depth, bool) or not isinstance(max_depth, int) or not 1 <= max_depth <= _DEEPEST:
        raise ArgumentError(f"means_ends: max_depth must be 1 to {_DEEPEST}, got {max_depth!r}")
    check_limits("means_ends", max_goals=max_goals, max_seconds=max_seconds)
    analysis = _Analysis(problem, checked_table(table, problem.domain), max_depth, max_goals, max_seconds)
    top = _Attempt("transform", "the initial state")
    if never := problem.goal.contradiction:
        return MeansEndsResult(Plan(problem, (), False, never, {"goals": 0}), top.frozen())
    try:
        _, actions = next(analysis.transform(top, problem.initial, problem.goal, frozenset(), 0), (None, None))
    except RecursionError:
        actions, analysis.gave_up = None, "the goals are too deep for Python's stack"
    reason = "" if actions is not None else analysis.gave_up or f"every attempt failed: {top.outcome}"
    if reason and not analysis.gave_up and analysis.left_out:
        reason += f"; not tried were {' and '.join(analysis.left_out)}"
    plan = Plan(problem, actions or (), actions is not None, reason, {"goals": analysis.goals})
    return MeansEndsResult(plan, top.frozen())


class _Attempt:
    """A goal while it is worked on."""

    def __init__(self, kind: str, text: str):
        self.kind, self.text, self.outcome = kind, text, "failed"
        self.children: list[_Attempt] = []

    def frozen(self) -> Goal:
        below = [self]
        for attempt in below:
            below += attempt.children
        done: dict[_Attempt, Goal] = {}
        for attempt in reversed(below):  # children come before their parents
            children = tuple(done[child] for child in attempt.children)
            done[attempt] = Goal(attempt.kind, attempt.text, attempt.outcome, children)
        return done[self]


State = frozenset[Fact]
Ways = Iterator[tuple[State, tuple[Action, ...]]]
"""The states in which a goal is reached, each with the actions that lead there; more are made on demand."""
Active = frozenset[tuple[State, Condition]]
"""The transform goals that are being worked on."""


class _Analysis:
    """The three methods of Fig. 10.11. Each gives its ways one by one, so that a failure later on asks for the next."""

    def __init__(self, problem: Problem, table: DifferenceTable, max_depth: int, max_goals: int, max_seconds: float):
        self.problem, self.table, self.max_depth, self.max_goals = problem, table, max_depth, max_goals
        self.max_seconds, self.end = max_seconds, time.monotonic() + max_seconds
        self.goals, self.gave_up = 1, ""
        self.left_out: dict[str, None] = {}  # what was not tried

    def _begin(self, above: _Attempt, kind: str, text: str) -> _Attempt:
        self.goals += 1
        if self.goals > self.max_goals:
            self.gave_up = f"the limit of {self.max_goals} goals was reached"
        self._look_at_clock()
        above.children.append(_Attempt(kind, text))
        return above.children[-1]

    def _look_at_clock(self) -> None:
        if time.monotonic() > self.end:
            self.gave_up = f"the limit of {self.max_seconds:g} seconds was reached"

    def transform(self, goal: _Attempt, state: State, wanted: Condition, active: Active, depth: int) -> Ways:
        """AND: reduce the greatest difference, and transform what comes of it."""
        missing = lacks(wanted, state)
        if not missing:
            goal.outcome = "done"
            yield state, ()
            return
        goal.outcome = self._obstacle(state, wanted, missing, active, depth)
        if goal.outcome:
            return
        active |= {(state, wanted)}
        greatest = min(missing, key=lambda lack: self.table.row(lack) or 0)
        for after, first in self._reduce(goal, greatest, state, active, depth):
            for last, rest in self.transform(goal, after, wanted, active, depth + 1):
                yield last, first + rest
        goal.outcome = self.gave_up or f"no way to get {greatest}"

    def _obstacle(self, state: State, wanted: Condition, missing: tuple[Lack, ...], active: Active, depth: int) -> str:
        """Why a transform goal is hopeless; empty if it is not."""
        if self.gave_up:
            return self.gave_up
        for lack in missing:
            if self.table.row(lack) is None:
                return f"no operator of the table gives {lack}"
        if (state, wanted) in active:
            return "this goal is met again inside itself"
        if depth < self.max_depth:
            return ""
        self.left_out[f"goals deeper than max_depth = {self.max_depth}"] = None
        return f"it is deeper than {self.max_depth} goals"

    def _reduce(self, above: _Attempt, lack: Lack, state: State, active: Active, depth: int) -> Ways:
        """OR: one of the table's operators."""
        row = self.table.row(lack)
        assert row is not None  # _obstacle saw to that
        goal = self._begin(above, "reduce", f"'{self.table.rows[row].name}': get {lack}")
        for actions, cut in relevant_actions(self.problem, self.table, lack, state, self.end):
            if cut:
                self.left_out[f"some of the very many objects for '{cut}'"] = None
            for action in actions:
                for way in self._apply(goal, action, state, active, depth):
                    goal.outcome = "done"
                    yield way
                if self.gave_up:
                    break
            self._look_at_clock()
            if self.gave_up:
                break
        goal.outcome = self.gave_up or "no operator is left"

    def _apply(self, above: _Attempt, action: Action, state: State, active: Active, depth: int) -> Ways:
        """AND: transform the state into one in which the action applies, and apply it."""
        goal = self._begin(above, "apply", str(action))
        needs = goal
        if not action.applies(state):
            needs = self._begin(goal, "transform", f"until {_text(action.needs)}")
        for ready, first in self.transform(needs, state, action.needs, active, depth + 1):
            goal.outcome = "done"
            yield action.result(ready), (*first, action)
            goal.outcome = "given up, because what follows fails"


def _text(condition: Condition) -> str:
    return " ".join([*map(fact_text, condition.facts), *(f"not {fact_text(fact)}" for fact in condition.absent)])
