"""`goal_stack_plan`: one goal after the other, as the first planners did, and how the goals undo each other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..display import counted
from ..errors import ArgumentError
from .limits import check_kind, check_limits
from .monitoring.literals import literal_holds, literal_text, literals
from .monitoring.triangle_tables import triangle_table
from .solving import solve
from .strips.task_types import Action, Condition, Fact, Plan, Problem

__all__ = ["GoalStackPlan", "GoalStep", "goal_stack_plan"]


class GoalStep(NamedTuple):
    """One goal that was pursued: the actions for it, and the goals that they have undone."""

    goal: Fact
    plan: Plan
    """a best plan for this goal alone, from the state that was reached before"""
    undone: tuple[Fact, ...]

    def __str__(self) -> str:
        lines = [f"goal {literal_text(self.goal)}", *(f"  {text}" for text in _purposes(self.plan))]
        return "\n".join([*lines, *(f"  undoes {literal_text(goal)}" for goal in self.undone)])


@dataclass(frozen=True, repr=False)
class GoalStackPlan:
    """A plan that was made goal by goal, and its `trace`; `print` explains each action. It is true if it is solved."""

    plan: Plan
    trace: tuple[GoalStep, ...]

    def __bool__(self) -> bool:
        return self.plan.solved

    @property
    def reason(self) -> str:
        """Why there is no plan."""
        return self.plan.reason

    def __len__(self) -> int:
        return len(self.plan)

    def __str__(self) -> str:
        end = counted(len(self.plan), "action") if self.plan else self.plan.reason
        return "\n".join([*map(str, self.trace), end])

    def __repr__(self) -> str:
        undone = sum(len(step.undone) for step in self.trace)
        said = counted(len(self.plan), "action") if self.plan else f"none; {self.plan.reason}"
        return f"<GoalStackPlan of {self.plan.problem.name}: {said}; goals undone {counted(undone, 'time')}>"


def goal_stack_plan(
    problem: Problem, order: Sequence[Fact] | None = None, *, max_rounds: float = 10, max_seconds: float = 60.0
) -> GoalStackPlan:
    """Plan for the goals one by one, each by a best plan for it alone, and again from the first until all are true.

        >>> from adjoint.planning.pddl import book_task
        >>> print(goal_stack_plan(book_task("blocks"), [("on", "a", "b"), ("on", "b", "c")]))
        goal (on a b)
          (unstack c a), since (clear a) is needed by (pickup a)
          (putdown c), since (handempty) is needed by (pickup a)
          (pickup a), since (holding a) is needed by (stack a b)
          (stack a b), since (on a b) is the goal
        goal (on b c)
          (unstack a b), since (clear b) is needed by (pickup b)
          ...
          undoes (on a b)
        goal (on a b)
          ...
        10 actions

    Such linear planning is neither complete nor optimal: the best plan of this task, the Sussman anomaly, has 6
    actions. `order` is that of the goals, by default that of the problem; an absent fact is ("not", ...). It ends when
    all goals are true, when a state comes back at the beginning of a round, after `max_rounds` rounds or `max_seconds`.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    check_kind("goal_stack_plan", problem, Problem, "the problem")
    check_limits("goal_stack_plan", max_rounds=max_rounds, max_seconds=max_seconds)
    goals, end = _ordered(problem, order), time.perf_counter() + max_seconds
    state, seen, trace = problem.initial, set(), []
    if never := problem.goal.contradiction:
        return _failed(problem, trace, never)
    while len(seen) < max_rounds:
        if problem.goal.holds(state):
            return GoalStackPlan(Plan(problem, _actions(trace)), tuple(trace))
        if state in seen:
            return _failed(problem, trace, "the goals undo each other again and again")
        seen.add(state)
        for goal in goals:
            if literal_holds(goal, state):
                continue
            left = max(end - time.perf_counter(), 0.0)
            plan = solve(_alone(problem, state, goal), optimal=True, max_seconds=left)
            if not plan:
                reason = f"there is no plan for {literal_text(goal)}: {plan.reason}"
                if time.perf_counter() >= end:
                    reason = f"the limit of {max_seconds:g} seconds was reached, at {literal_text(goal)}"
                return _failed(problem, trace, reason)
            after = plan.states[-1]
            undone = tuple(x for x in goals if literal_holds(x, state) and not literal_holds(x, after))
            trace.append(GoalStep(goal, plan, undone))
            state = after
    if problem.goal.holds(state):
        return GoalStackPlan(Plan(problem, _actions(trace)), tuple(trace))
    return _failed(problem, trace, f"the goals were not all true after {counted(len(seen), 'round')} (max_rounds)")


def _ordered(problem: Problem, order: Sequence[Fact] | None) -> tuple[Fact, ...]:
    goals = literals(problem.goal)
    if order is None:
        return goals
    try:
        given = tuple(map(tuple, order))
        fits = sorted(given) == sorted(goals)
    except TypeError:  # what is given cannot be gone through or compared
        given, fits = (), False
    if not fits:
        wanted = ", ".join(map(literal_text, goals))
        raise ArgumentError(f"goal_stack_plan: 'order' must have each goal once: {wanted}; got {order!r:.200}")
    return given


def _alone(problem: Problem, state: frozenset[Fact], goal: Fact) -> Problem:
    wanted = Condition((), (goal[1:],)) if goal[0] == "not" else Condition((goal,))
    return replace(problem, initial=state, goal=wanted)


def _actions(trace: Sequence[GoalStep]) -> tuple[Action, ...]:
    return tuple(action for step in trace for action in step.plan)


def _failed(problem: Problem, trace: Sequence[GoalStep], reason: str) -> GoalStackPlan:
    return GoalStackPlan(Plan(problem, (), False, reason), tuple(trace))


def _purposes(plan: Plan) -> list[str]:
    """What each action is there for: the last need that it gives something to, as the triangle table tells."""
    table, found = triangle_table(plan), []
    for j, action in enumerate(plan, 1):
        if not table.column(j):  # actions that cost nothing may be in a best plan without need
            found.append(f"{action}, which nothing needs")
            continue
        row, facts = max(table.column(j).items())
        user = f"needed by {plan.actions[row - 1]}" if row <= table.N else "the goal"
        found.append(f"{action}, since {' and '.join(map(literal_text, facts))} is {user}")
    return found
