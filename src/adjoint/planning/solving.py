"""`solve`: from a goal to a plan, by landmarks and relaxed plans (fast), or by A* (a best plan)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from ..display import counted
from ..errors import ArgumentError, SolveError, nearest
from .pddl.task_reader import PathOrText, read_task
from .search.open_lists import Budget
from .search.searches import GREEDY, first_goal, ordered_by_f
from .search.state_spaces import SearchProblem
from .strips.ground_tasks import GroundTask
from .strips.grounding import MOST_ACTIONS, checked_ground
from .strips.landmark_search import Outcome, landmark_search
from .strips.mutexes import exclusive_goals
from .strips.relaxation import h_add, h_ff, h_max, lm_cut
from .strips.task_checks import check_task
from .strips.task_types import Domain, Fact, Plan, Problem, fact_text

__all__ = ["HEURISTICS", "solve"]

HEURISTICS: dict[str, Callable[[GroundTask, int], float]] = {
    "lm_cut": lm_cut,
    "max": h_max,
    "ff": h_ff,
    "add": h_add,
    "blind": lambda task, state: 0.0,
}
"""The heuristics of `solve` by their names: functions of a `GroundTask` and a state."""

_NEVER_TOO_MUCH = ("lm_cut", "max", "blind")  # A* gives best plans with these alone
_PART = 0.2  # of the time, for the check of pairs
_SHARE = 0.5  # of the time of the search until now, for the same check within the fast search
_LOOK_CLOSER = 500  # expansions after which pairs of goals are checked for contradictions


def solve(
    domain: Domain | Problem | PathOrText, problem: Problem | PathOrText | None = None, *, optimal: bool = False,
    heuristic: str = "", max_expanded: float = math.inf, max_seconds: float = 60.0,
) -> Plan:  # fmt: skip
    """Find actions that lead from the initial state of a problem to its goal.

        >>> from adjoint.planning import book_text, solve
        >>> plan = solve(book_text("blocks"))
        >>> print(*plan)
        (unstack c a) (putdown c) (pickup b) (stack b c) (pickup a) (stack a b)

    - `domain` and `problem` are PDDL texts, paths of files, or data; a text may have both definitions, and a `Problem`
      knows its domain.
    - The plan is found fast: by landmarks, and by relaxed plans where these do not suffice, without actions that it can
      do without. With `optimal` no plan costs less (A* with the heuristic "lm_cut").
    - `heuristic` names another one of `HEURISTICS`: greedy search by it, or A* if the plan shall be `optimal`.

    If there is no plan, or none within the budgets, the result is false, and its `reason` tells why.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6; Richter & Westphal (2010); Helmert & Domshlak (2009).
    """
    task_of = read_task(domain, problem)
    _check_options(optimal, heuristic)
    began, budget = time.perf_counter(), Budget(max_expanded, max_seconds, "solve")
    check_task(task_of)
    if task_of.goal.holds(task_of.initial):  # there may be too many actions to ground, and none is needed
        return Plan(task_of, statistics=_statistics(began))
    task = None
    try:
        task = checked_ground(task_of, MOST_ACTIONS, max_seconds)
        if task.impossible:
            outcome = Outcome(None, contradiction(task, budget), 0, 0)
        elif optimal or heuristic:
            outcome = _by_heuristic(task, heuristic or "lm_cut", optimal, budget)
        else:
            outcome = landmark_search(task, _stop(task, budget), max(0.0, budget.end - time.perf_counter()))
    except SolveError as error:  # the time was over before a search could begin
        calls = 0 if task is None else len(task.calls)
        return Plan(task_of, (), False, budget.used_up or str(error), _statistics(began, calls))
    actions, reason = outcome.actions, ""
    if actions is None:
        all_seen = f"no goal can be reached: all {counted(outcome.expanded, 'reachable state')} were expanded"
        reason = outcome.reason or contradiction(task, budget) or all_seen
    elif not optimal:
        actions = without_needless(task, actions)
    numbers = _statistics(began, len(task.calls), outcome.expanded, outcome.generated)
    return Plan(task_of, tuple(map(task.action, actions or ())), not reason, reason, numbers)


def _statistics(began: float, calls: int = 0, expanded: int = 0, generated: int = 0) -> dict[str, float]:
    seconds = time.perf_counter() - began
    return {"expanded": expanded, "generated": generated, "ground_actions": calls, "seconds": seconds}


def without_needless(task: GroundTask, actions: list[int]) -> list[int]:
    """The actions without those that can be left out together with all that then do not apply any more.

    Nakhost & Müller (2010): each action is left out in turn; if the goal is reached all the same, it stays out.
    """
    at, state = 0, task.initial
    while at < len(actions):
        after, rest = state, []
        for action in actions[at + 1 :]:
            if task.need_masks[action] & after == task.need_masks[action]:
                after = task.result(after, action)
                rest.append(action)
        if task.is_goal(after):
            actions = actions[:at] + rest
        else:
            state = task.result(state, actions[at])
            at += 1
    return actions


def _by_heuristic(task: GroundTask, heuristic: str, optimal: bool, budget: Budget) -> Outcome:
    if reason := contradiction(task, budget):
        return Outcome(None, reason, 0, 0)
    if heuristic == "lm_cut":
        h = partial(lm_cut, until=budget.end)
    else:
        h = HEURISTICS[heuristic]
    problem = SearchProblem(
        initial=task.initial,
        actions=task.applicable,
        result=task.result,
        is_goal=task.is_goal,
        cost=lambda state, action: task.costs[action],
        h=lambda state: h(task, state),
    )
    found = first_goal("solve", problem, ordered_by_f(1.0) if optimal else GREEDY, budget, trace=False)
    return Outcome(list(found.actions) if found.solved else None, found.reason, found.expanded, found.generated)


def _stop(task: GroundTask, budget: Budget) -> Callable[[int], str]:
    """The function that tells a search after each expansion why it should end, or ""."""
    began, look_closer = time.perf_counter(), float(_LOOK_CLOSER)

    def stop(expanded: int) -> str:
        nonlocal look_closer
        if expanded >= look_closer:  # for half as long as the search took until now; if that is too short, again later
            try:
                facts = exclusive_goals(task, max_seconds=_SHARE * (time.perf_counter() - began))
                look_closer = math.inf
            except SolveError:
                facts, look_closer = (), 4.0 * expanded
            if facts:
                return _contradicting(facts)
        budget.left = budget.max_expanded - expanded
        return budget.used_up

    return stop


def contradiction(task: GroundTask, budget: Budget) -> str:
    """Why the goal can never hold, or "": facts of it that never become true, or exclude each other.

    Looking for pairs takes at most a part of the time that is left, since large tasks have very many.
    """
    try:
        return _contradicting(exclusive_goals(task, max_seconds=_PART * max(budget.end - time.perf_counter(), 0.0)))
    except SolveError:
        return ""


def _contradicting(facts: tuple[Fact, ...]) -> str:
    """What `exclusive_goals` found, in words."""
    if len(facts) == 1:
        return f"{_told(facts[0])} can never become true"
    return f"{_told(facts[0])} and {_told(facts[1])} can never hold together" if facts else ""


def _told(fact: Fact) -> str:
    return f"not {fact_text(fact[1:])}" if fact[0] == "not" else fact_text(fact)


def _check_options(optimal: bool, heuristic: str) -> None:
    if not isinstance(heuristic, str):
        raise ArgumentError(f"solve: 'heuristic' is a name, one of {', '.join(HEURISTICS)}; got {heuristic!r:.40}")
    if heuristic and heuristic not in HEURISTICS:
        raise ArgumentError(f"solve: there is no heuristic '{heuristic}'; {nearest(heuristic, list(HEURISTICS))}")
    if optimal and heuristic and heuristic not in _NEVER_TOO_MUCH:
        raise ArgumentError(
            f"solve: 'optimal' needs a heuristic that never says too much: {', '.join(_NEVER_TOO_MUCH)}; "
            f"'{heuristic}' may"
        )
