"""`plan_task`: from a goal to a sequence of actions with their motions, by turns of search and geometry."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...display import counted
from ...errors import ArgumentError
from ...model.input_checks import count
from ...world import World
from ..limits import check_limits
from ..solving import solve
from ..strips.task_types import Action, Plan, Problem, fact_text
from .goal_facts import goal_condition, kept_goal
from .learned_facts import Learned, learned
from .manipulation import part_kinds, problem_of, sensed_facts
from .refinements import PUTS, Refinement, refine
from .told_relations import Related

__all__ = ["TaskPlan", "TaskRound", "plan_task"]

_FEW = 300  # states that a search for the shortest plan may expand


class TaskRound(NamedTuple):
    """One turn of search and geometry: the `actions` that were found, and the one that `failed`, or None."""

    actions: tuple[Action, ...]
    failed: Action | None
    learned: tuple[Learned, ...]
    """what the failure taught"""


@dataclass(frozen=True, eq=False, repr=False)
class TaskPlan:
    """A goal of a world, the actions that reach it, and their motions; or the `reason` why there are none.

    - `plan` has the actions as symbols, `refinements` has one `Refinement` for each of them.
    - `rounds` tell what was tried, `learned` has the facts that geometry told; `explanation` says it in words.
    - `goal` is as it was given, and `related` {("on", a, b): relations} is what its relations say.
    - `movable` are the parts that robots may move.
    """

    world: World
    goal: Any
    plan: Plan
    refinements: tuple[Refinement, ...] = ()
    rounds: tuple[TaskRound, ...] = ()
    learned: tuple[Learned, ...] = ()
    related: Related = field(default_factory=dict)
    movable: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    found_movable: bool = False
    """whether `movable` was found from the world, so that parts that come later may be movable, too"""

    @property
    def solved(self) -> bool:
        """Whether there are motions that reach the goal."""
        return not self.reason

    def __bool__(self) -> bool:
        return self.solved

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions, in order."""
        return self.plan.actions

    @property
    def end(self) -> World:
        """The world after all actions, if nothing goes wrong."""
        return self.refinements[-1].after if self.refinements else self.world

    @property
    def duration(self) -> float:
        """[s] of all motions of arms."""
        return sum(refinement.duration for refinement in self.refinements)

    @property
    def explanation(self) -> str:
        """What was tried and learned, a line for each round, and how it ended."""
        lines = []
        for k, turn in enumerate(self.rounds, 1):
            found = " ".join(map(str, turn.actions))
            lines.append(f"round {k}: {found or 'nothing is to be done'}")
            if turn.failed is not None:
                lines.append(f"    {turn.failed} cannot be done")
            lines += [f"    learned {fact_text(item.fact)}: {item.reason}" for item in turn.learned]
        return "\n".join([*lines, self.reason or f"all {len(self.actions)} actions have motions"])

    def __repr__(self) -> str:
        if not self.solved:
            return f"<TaskPlan: failed: {self.reason}>"
        found = f"{counted(len(self.actions), 'action')} in {counted(len(self.rounds), 'round')}"
        return f"<TaskPlan: {found}, {self.duration:.3g} s of motion>"


def plan_task(
    world: World, goal, *, movable: Collection[str] | None = None, learned: Collection[Learned] = (),
    max_rounds: int = 8, max_seconds: float = 60.0,
) -> TaskPlan:  # fmt: skip
    """Plan how robots reach a goal: actions by search, their motions by geometry, in turns until both agree.

        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.325])
        >>> for name, y in {"a": -0.1, "b": 0.15}.items():
        ...     w = w.add(name, cuboid(0.05, 0.05, 0.05), at=[0.5, y, -0.275])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.14]))
        >>> plan = plan_task(w, "(on a b)")
        >>> print(*plan.actions)
        (pick arm a table) (stack arm a b)

    - The goal, `movable` and `learned` are those of `problem_of`.
    - If an action has no motions, what stands in the way becomes a fact, such as (obstructs b a), and the search begins
      again, with the additional precondition that b has been moved away. It begins at the world at hand if the parts of
      the fact are where they were at first, else where the failed action was to begin. After `max_rounds` it ends.
    - `max_seconds` bounds the searches and refinements; a refinement under way comes to its end.

    Reference: Fu, Gonzalez & Lee (1987), Secs. 9.3, 10.6, 10.8.3.
    """
    began = time.perf_counter()
    count(max_rounds, "plan_task: max_rounds")
    check_limits("plan_task", max_seconds=max_seconds)
    kinds = part_kinds(world, movable)
    if "robot" not in kinds.values():
        bare = f"{', '.join(world.robots)} has no gripper" if world.robots else "there is none"
        raise ArgumentError(f"plan_task: no robot of the world could act: {bare}; add_robot(..., gripper=) adds one")
    goal, found_movable = kept_goal(goal), movable is None
    movable = tuple(sorted(name for name, kind in kinds.items() if kind == "movable"))
    problem = problem_of(world, goal, movable=movable, learned=learned)
    _, related = goal_condition(world, goal, problem.domain, kinds)
    search = _Search(world, goal, movable, related, list(learned))
    reason = search.run(max_rounds, began + max_seconds)
    final = problem_of(world, goal, movable=movable, learned=search.learned)
    actions = () if reason else tuple(regrounded(final, search.actions))
    return TaskPlan(
        world, goal, Plan(final, actions, not reason, reason), () if reason else tuple(search.refinements),
        tuple(search.rounds), tuple(search.learned), related, movable, reason,
        time.perf_counter() - began, found_movable,
    )  # fmt: skip


class _Search:
    """The turns of search and geometry, and what they have found so far."""

    def __init__(self, world: World, goal, movable, related: Related, learned: list[Learned]):
        self.world, self.goal, self.movable, self.related, self.learned = world, goal, movable, related, learned
        self.actions: list[Action] = []
        self.refinements: list[Refinement] = []
        self.rounds: list[TaskRound] = []

    def run(self, max_rounds: int, until: float) -> str:
        """Search and refine in turns; the reason why there is no plan, "" if there is one."""
        for _ in range(max_rounds):
            left = until - time.perf_counter()
            if left <= 0:
                return "the time for planning is over; the learned facts tell how far it came"
            now = self.refinements[-1].after if self.refinements else self.world
            plan = _shortest(problem_of(now, self.goal, movable=self.movable, learned=self.learned), left)
            if not plan.solved:
                return self._hopeless(plan.reason)
            failed = self._refine(now, plan)
            if failed is None:
                self.rounds.append(TaskRound(plan.actions, None, ()))
                return ""
            self.rounds.append(TaskRound(plan.actions, failed.action, failed.learned))
            self.learned += failed.learned
            if all(item.holds_in(self.world) for item in failed.learned):
                self.actions, self.refinements = [], []
        return self._hopeless(f"{counted(max_rounds, 'round')} of search and geometry did not suffice")

    def _refine(self, now: World, plan: Plan) -> Refinement | None:
        """Enter refinements of the plan's actions; the one that failed, or None."""
        for refinement in refinements_of(now, plan.actions, self.related, self.movable):
            if not refinement.solved:
                return refinement
            if reason := self._without_effect(refinement):
                fact = ("unreachable", *refinement.action.arguments)
                return replace(refinement, reason=reason, learned=(learned(refinement.before, fact, reason),))
            self.actions.append(refinement.action)
            self.refinements.append(refinement)
        return None

    def _without_effect(self, refinement: Refinement) -> str:
        """What is missing after motions that should have made it true, by the predicates of the world, or ""."""
        there = sensed_facts(refinement.after, movable=self.movable, learned=self.learned, related=self.related)
        wanted = (fact for fact in refinement.action.adds if fact[0] in ("on", "holding"))
        missing = [fact_text(fact) for fact in wanted if fact not in there]
        return f"after {refinement.action}, {' and '.join(missing)} would not be true" if missing else ""

    def _hopeless(self, reason: str) -> str:
        told = "; ".join(dict.fromkeys(f"{fact_text(item.fact)}: {item.reason}" for item in self.learned))
        facts = sensed_facts(self.world, movable=self.movable)
        resting = {fact[1] for fact in facts if fact[0] == "on"} | {fact[2] for fact in facts if fact[0] == "holding"}
        loose = "".join(f"; '{name}' lies on nothing" for name in self.movable if name not in resting)
        return f"{reason}{loose}; geometry says {told}" if told else reason + loose


def _shortest(problem: Problem, max_seconds: float) -> Plan:
    """A plan of the fewest actions if a short search finds one, since motions take longer than a search; else any."""
    best = solve(problem, optimal=True, max_expanded=_FEW, max_seconds=max_seconds)
    return best if best.solved else solve(problem, max_seconds=max_seconds)


def refinements_of(world: World, actions: tuple[Action, ...], related: Related, movable) -> Iterator[Refinement]:
    """The refinements of actions, one after the other; the last one may have failed."""
    k = 0
    while k < len(actions):
        found = refine(world, actions[k], then=putting_down(actions, k), relations=related, movable=movable)
        yield found
        if not found.solved:
            return
        if found.following is not None and found.following.action == actions[k + 1]:
            yield found.following
            found, k = found.following, k + 1
        world, k = found.after, k + 1


def putting_down(actions: tuple[Action, ...], k: int) -> Action | None:
    """The action that puts down what action k picks, if that is the next one of its robot; else None."""
    action = actions[k]
    if action.name != "pick":
        return None
    later = next((x for x in actions[k + 1 :] if x.arguments[0] == action.arguments[0]), None)
    same = later is not None and later.name in PUTS and later.arguments[1] == action.arguments[1]
    return later if same else None


def regrounded(problem: Problem, actions: list[Action]) -> Iterator[Action]:
    """The same actions with the preconditions of a problem's domain."""
    return (problem.action(action.name, *action.arguments) for action in actions)


def __dir__() -> list[str]:
    return __all__
