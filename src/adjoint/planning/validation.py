"""`validate`: whether actions can be done one after the other, and reach the goal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import ArgumentError
from .strips.task_types import Action, Fact, Plan, Problem, fact_text

__all__ = ["Validation", "validate"]


class Validation(NamedTuple):
    """What `validate` found; it is true if the plan is `valid`."""

    valid: bool
    reason: str
    """what is wrong, with the number of the step; empty if nothing is"""
    step: int | None
    """the index of the first action that cannot be done, the number of actions if the goal is missed, else None"""
    state: frozenset[Fact]
    """the state at the end, or before the action that cannot be done"""
    cost: float

    def __bool__(self) -> bool:
        return self.valid


def validate(plan: Plan | Iterable[Action | tuple[str, ...] | str], problem: Problem | None = None) -> Validation:
    """Do the actions of a plan in a problem, and tell whether each applies and the goal holds at the end.

        >>> from adjoint.planning import book_task
        >>> print(validate(["(unstack c a)", "(stack c b)", "(pickup b)"], book_task("blocks")).reason)
        step 3, (pickup b): (clear b) does not hold

    `plan` is a `Plan`, or actions, calls such as ("stack", "a", "b"), or texts such as "(stack a b)". The operators are
    those of the problem: what an `Action` itself says of its effects does not count.
    """
    if isinstance(plan, Plan):
        problem = problem or plan.problem
        if not plan.solved:
            return Validation(False, f"there is no plan: {plan.reason}", 0, problem.initial, float("inf"))
    if not isinstance(problem, Problem):
        raise ArgumentError(f"validate: 'problem' must be a Problem, got {type(problem).__name__}")
    if isinstance(plan, str) or not isinstance(plan, Iterable):
        got = f"got {type(plan).__name__}; read_plan makes a Plan of a text"
        raise ArgumentError(f"validate: 'plan' must be a Plan or a list of actions, {got}")
    state, cost, step = problem.initial, 0.0, -1
    for step, given in enumerate(plan):
        call = _call(given, problem)
        wrong = _misfit(problem, call)
        if wrong:
            return Validation(False, f"step {step + 1}, {fact_text(call)}: {wrong}", step, state, cost)
        action = problem.action(*call)
        missing = action.needs.missing(state)
        if missing:
            reason = f"step {step + 1}, {action}: {' and '.join(missing)} do{'es' * (len(missing) == 1)} not hold"
            return Validation(False, reason, step, state, cost)
        state, cost = action.result(state), cost + problem.step_cost(action)
    missing = problem.goal.missing(state)
    if missing:
        return Validation(False, f"the goal is missed at the end: {' and '.join(missing)}", step + 1, state, cost)
    return Validation(True, "", None, state, cost)


def _call(given: Action | tuple[str, ...] | str, problem: Problem) -> tuple[str, ...]:
    """The names of an action: the operator and the objects. Names of PDDL have no case."""
    if isinstance(given, Action):
        return (given.name, *given.arguments)
    words = given.strip().removeprefix("(").removesuffix(")").split() if isinstance(given, str) else given
    if not isinstance(words, (tuple, list)) or not words or not all(isinstance(word, str) for word in words):
        raise ArgumentError(f"validate: {given!r:.60} is no action; \"(stack a b)\" and ('stack', 'a', 'b') are")
    name, *objects = words
    known = problem.all_objects
    return (
        name if problem.domain.operator(name) else name.lower(),
        *(word if word in known else word.lower() for word in objects),
    )


def _misfit(problem: Problem, call: tuple[str, ...]) -> str:
    """What is wrong with an action, or "" """
    operator = problem.domain.operator(call[0])
    return f"there is no operator '{call[0]}'" if operator is None else problem.misfit(operator, call[1:])
