"""`execute_task`: actions one after the other, and after each a look at what is true: go on, repeat, skip or replan."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...display import counted
from ...errors import ArgumentError, nearest
from ...model.input_checks import count
from ...program.running.backends import Backend
from ...program.running.program_runs import ProgramRun
from ...world import World
from ..limits import check_kind
from ..monitoring import Decision, Execution, highest_kernel, triangle_table
from ..rules import Diagnosis, diagnose
from ..strips.task_types import Action, Fact, fact_text
from .learned_facts import Learned
from .manipulation import movable_parts, sensed_facts
from .perceptions import Look, NotSeen, perception
from .prepared_runs import run_refinement
from .refinements import Refinement, refine
from .symptoms import Expected, symptoms_of, symptoms_of_geometry
from .task_plans import TaskPlan, plan_task, putting_down
from .withdrawals import BACK_OFF, WITHDRAW, backing_off, withdrawal

__all__ = ["TaskEvent", "TaskRun", "execute_task"]

_REASONS = {
    "run": "step {} comes next", "replan": "no kernel is true", "done": "the goal is true", "failed": "no plan is left",
    WITHDRAW: "the robot may hide a part", BACK_OFF: "something stands too near to the hand",
}  # fmt: skip


class TaskEvent(NamedTuple):
    """What happened in one step of a task."""

    step: int
    time: float
    """[s] of motion before it"""
    kernel: int
    """the number of the highest true kernel, which is that of the next action; 0 if none is true"""
    what: str
    """"run", "replan", "done" or "failed" """
    action: Action | None
    facts: frozenset[Fact]
    """what was sensed before"""
    diagnosis: Diagnosis | None
    note: str

    def __str__(self) -> str:
        doing = f" {self.action}" if self.action is not None else ""
        why = f", {self.diagnosis.cause}" if self.diagnosis is not None else ""
        return (
            f"{self.time:6.1f} s  kernel {self.kernel}: {self.what}{doing}{why}{f' ({self.note})' if self.note else ''}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class TaskRun:
    """What `execute_task` did; it is true if the goal was `reached`.

    - `events` are the story, `runs` the `ProgramRun`s of the actions, in order; `reason` tells why the goal was not
      reached. `plans` are the plan at first, and those that were made on the way.
    - `world` is what is believed at the end, `actual` is what is true.
    """

    reached: bool
    reason: str
    events: tuple[TaskEvent, ...]
    runs: tuple[ProgramRun, ...]
    plans: tuple[TaskPlan, ...]
    world: World
    actual: World

    def __bool__(self) -> bool:
        return self.reached

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions that were run, in order."""
        return tuple(event.action for event in self.events if event.what == "run" and event.action is not None)

    @property
    def duration(self) -> float:
        """[s] of all runs."""
        return sum(run.duration for run in self.runs)

    @property
    def execution(self) -> Execution:
        """The decisions, with the triangle tables of all plans, as `plot_execution` draws them."""
        decisions, plan = [], 0
        for event in self.events:
            doing = event.action.name if event.action else ""
            told = _REASONS[doing if doing in _REASONS else event.what]
            reason = event.diagnosis.cause if event.diagnosis else told.format(event.kernel)
            decisions.append(Decision(event.facts, event.kernel, event.action, reason, plan))
            plan += event.what == "replan"
        tables = tuple(triangle_table(plan.plan) for plan in self.plans)
        return Execution(self.reached, self.reason or "the goal is true", tuple(decisions), tables)

    @property
    def story(self) -> str:
        """The events, a line for each."""
        return "\n".join(map(str, self.events))

    def __repr__(self) -> str:
        end = "goal reached" if self.reached else f"failed: {self.reason}"
        done = f"{counted(len(self.runs), 'action')}, {counted(len(self.plans) - 1, 'new plan')}"
        return f"<TaskRun: {done}, {self.duration:.3g} s: {end}>"


def execute_task(
    world: World, plan: TaskPlan, *, actual: World | None = None, backend: str | Backend = "kinematic",
    look: str | Look | None = None, disturb: Callable[[int, World], World] | None = None,
    on_event: Callable[[TaskEvent], Any] | None = None, max_steps: int = 60, max_plans: int = 6, max_tries: int = 4,
    **options: Any,
) -> TaskRun:  # fmt: skip
    """Carry out a plan in a world, and reach its goal also if something goes wrong on the way, as far as it can be.

        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.325])
        >>> for name, y in {"a": -0.1, "b": 0.15}.items():
        ...     w = w.add(name, cuboid(0.05, 0.05, 0.05), at=[0.5, y, -0.275])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.14]))
        >>> done = execute_task(w, plan_task(w, "(on a b)"))
        >>> done.reached, [event.kernel for event in done.events]
        (True, [1, 2, 3])

    Before each action the facts are sensed, and the highest true kernel of the plan's triangle table tells which action
    is next: actions whose effects are there are skipped, those that failed are repeated. If no kernel is true, or an
    action has no motions, a new plan is made, `max_plans` times at most. An action is run `max_tries` times in a row at
    most, and as often from the same facts. Motions are planned again where parts are not where they were. What was not
    expected is diagnosed by rules.

    - `actual` is the world as it is, if `world` is only believed. `look` tells how it is perceived: completely (None),
      by the camera of this name, or by a function of (believed, actual) that gives what is believed from now on. If it
      raises `NotSeen`, a robot steps aside, to where it was at first, and the next look may see more; of hidden parts,
      only those of the goal need be seen, at the end.
    - `backend` and `options` are those of `adjoint.program.run`.
    - `disturb(step, actual)` gives the world as it is before step 0, 1, ...; it may take a block away, or let a hand
      lose what it holds. `on_event(event)` is called with each `TaskEvent`.

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6 (kernels), Sec. 10.8.3 (error tests), Sec. 10.10.
    """
    if not isinstance(plan, TaskPlan):
        raise ArgumentError(f"execute_task: 'plan' must be a TaskPlan of plan_task, got {type(plan).__name__}")
    if not plan.solved:
        raise ArgumentError(f"execute_task: the plan has no motions: {plan.reason}")
    count(max_steps, "execute_task: max_steps")
    count(max_plans, "execute_task: max_plans")
    count(max_tries, "execute_task: max_tries")
    _check_options(options)
    for name, function in (("disturb", disturb), ("on_event", on_event)):
        if function is not None and not callable(function):
            raise ArgumentError(f"execute_task: '{name}' must be a function, got {function!r:.60}")
    actual = world if actual is None else actual
    _check(world, actual, look)
    _check_parts(world, plan.movable, "'world'")
    task = _Execution(plan, world, actual, perception(look, plan.movable), on_event)
    for step in range(max_steps):
        if disturb is not None:
            task.actual = _a_world(disturb(step, task.actual), "what 'disturb' gives")
        task.sense(step)
        if task.over(max_plans) or task.in_vain(max_tries):
            break
        if task.act(backend, options):
            break
    else:
        task.end("failed", f"{counted(max_steps, 'step')} did not suffice")
    reached = task.events[-1].what == "done"
    return TaskRun(
        reached, "" if reached else task.events[-1].note, tuple(task.events), tuple(task.runs), tuple(task.plans),
        task.believed, task.actual,
    )  # fmt: skip


def _check(world: World, actual: World, look: str | Look | None) -> None:
    for given, name in ((world, "'world'"), (actual, "'actual'")):
        sensors = list(_a_world(given, name).sensors)
        if isinstance(look, str) and look not in sensors:
            known = nearest(look, sensors) if sensors else "there are none"
            raise ArgumentError(f"execute_task: 'look' names {look!r:.60}, which is no camera of {name}; {known}")


def _check_parts(world: World, names: Collection[str], where: str) -> None:
    """Refuse a world that does not have the parts of the plan."""
    for name in sorted(names):
        if name not in world.parts:
            known = nearest(name, list(world.parts)) if world.parts else "there are none"
            raise ArgumentError(f"execute_task: {where} has no part '{name}', which the plan moves; {known}")


def _check_options(options: dict[str, Any]) -> None:
    known = ("arms", "inputs", "noise", "limit", "rng", "breakpoints", "images")
    for name in options:
        if name not in known:
            raise ArgumentError(f"execute_task: there is no option '{name}'; {nearest(name, known)}")


def _a_world(found, name: str) -> World:
    check_kind("execute_task", found, World, name)
    return found


@dataclass(eq=False)
class _Execution:
    """Where an execution stands."""

    plan: TaskPlan
    believed: World
    actual: World
    look: Look
    on_event: Callable[[TaskEvent], Any] | None
    events: list[TaskEvent] = field(default_factory=list)
    runs: list[ProgramRun] = field(default_factory=list)
    plans: list[TaskPlan] = field(default_factory=list)
    learned: list[Learned] = field(default_factory=list)
    seen: frozenset[Fact] = frozenset()
    step: int = 0
    kernel: int = 0
    unseen: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    ready: Refinement | None = None
    expected: Expected | None = None
    diagnosis: Diagnosis | None = None

    def __post_init__(self):
        self.start(self.plan)

    def start(self, plan: TaskPlan) -> None:
        """Follow a plan from now on."""
        self.plan, self.table = plan, triangle_table(plan.plan)
        self.plans.append(plan)
        self.learned = list(plan.learned)

    def sense(self, step: int) -> None:
        """Look, find the highest true kernel, and compare with what was expected."""
        self.step, self.unseen, self.hidden = step, (), frozenset()
        try:
            self.believed = _a_world(self.look(self.believed, self.actual), "what 'look' gives")
        except NotSeen as missing:
            self.believed, self.unseen = _a_world(missing.world, "the world of NotSeen"), missing.names
            self.hidden = missing.hidden
        _check_parts(self.believed, {*self.plan.movable, *self.unseen}, "what is seen")
        self._facts()
        again = self.expected is not None and self._done_last() == self._next()
        found = symptoms_of(self.expected, self.seen, self.believed, self.kernel > 0, again)
        self.diagnosis, self.expected = diagnose(found) if found else None, None

    def _facts(self) -> None:
        previous = {fact for fact in self.seen if fact[0] not in ("obstructs", "unreachable")}
        self.seen = sensed_facts(
            self.believed, movable=self.plan.movable, learned=self.learned, previous=previous, related=self.plan.related
        )
        self.kernel = highest_kernel(self.table, self.seen)

    def _done_last(self) -> Action | None:
        return next((event.action for event in reversed(self.events) if event.what == "run"), None)

    def _next(self) -> Action | None:
        return self.plan.actions[self.kernel - 1] if 0 < self.kernel <= len(self.plan.actions) else None

    def over(self, max_plans: int) -> bool:
        """Whether the goal is reached or out of reach; else an action is ready, after new plans if need be."""
        if self.unseen:
            return self._step_aside()
        while True:
            if self.kernel > len(self.plan.actions):
                return not self._looks_again() and self.end("done", "")
            if self.kernel and self._refined():
                return False
            if len(self.plans) > max_plans:
                return self.end("failed", f"{counted(max_plans, 'new plan')} did not suffice")
            new = plan_task(self.believed, self.plan.goal, movable=self._movable(), learned=self.learned)
            if not new.solved:
                return self._back_off(new)
            self._tell("replan", None, counted(len(new.actions), "action"))
            self.start(replace(new, found_movable=self.plan.found_movable))
            self._facts()

    def _movable(self) -> list[str]:
        """The movable parts; those that came later are among them, unless it was told which parts are movable."""
        known = [name for name in self.plan.movable if name in self.believed.parts]
        return sorted({*known, *movable_parts(self.believed)}) if self.plan.found_movable else known

    def _looks_again(self) -> bool:
        """Whether a robot that may hide parts of the goal steps aside first."""
        goal = self.plan.plan.problem.goal
        names = {name for fact in (*goal.facts, *goal.absent) for name in fact[1:]}
        aside = withdrawal(self.believed, self.plans[0].world, ()) if names & self.hidden else None
        self.ready = aside or self.ready
        return aside is not None

    def _step_aside(self) -> bool:
        """Whether the task is over because parts are lost; else the motion of a robot that may hide them is ready."""
        aside = withdrawal(self.believed, self.plans[0].world, self.unseen)
        if aside is None:
            return self.end("failed", f"nobody sees where {', '.join(self.unseen)} went")
        self.ready = aside
        return False

    def _back_off(self, failed: TaskPlan) -> bool:
        """Whether the task is over; else a robot that cannot move from where it stands is ready to back off."""
        stuck = [item for item in failed.learned if item.stuck]
        self.ready = backing_off(self.believed, [item.fact[1] for item in stuck])
        if self.ready is None:
            return self.end("failed", failed.reason)
        self.learned = [item for item in failed.learned if item not in stuck]
        self.diagnosis = None
        return False

    def _refined(self) -> bool:
        """Whether the next action has motions where things are now."""
        action = self.plan.actions[self.kernel - 1]
        kept = self.plan.refinements[self.kernel - 1]
        if self.ready is not None and self.ready.action == action and self.ready.fits(self.believed):
            return True
        if kept.fits(self.believed):
            self.ready = kept
            return True
        then = putting_down(self.plan.actions, self.kernel - 1)
        found = refine(self.believed, action, then=then, relations=self.plan.related, movable=self.plan.movable)
        if found.solved:
            self.ready = found
            return True
        self.learned += found.learned
        self.diagnosis = diagnose([*symptoms_of_geometry(found, self.seen), "kernel holds"])
        return False

    def in_vain(self, max_tries: int) -> bool:
        """Whether the task is over: the action that is ready was run often enough in a row, or from the same facts."""
        assert self.ready is not None
        runs = [event for event in self.events if event.what == "run"]
        row = len(runs) >= max_tries and {event.action for event in runs[-max_tries:]} == {self.ready.action}
        again = sum(event.action == self.ready.action and event.facts == self.seen for event in runs)
        if not row and again < max_tries:
            return False
        words = f"{self.ready.action} was run {counted(max_tries, 'time')} without lasting success"
        last = self.runs[-1].message if self.runs else ""
        return self.end("failed", f"{words}; at last: {last}" if last else words)

    def act(self, backend: str | Backend, options: dict[str, Any]) -> bool:
        """Run the action that is ready; whether the task is over, because the back end cannot go on."""
        ready = self.ready
        assert ready is not None
        self._tell("run", ready.action, "")
        same = self.actual is self.believed
        run = run_refinement(ready, self.believed, actual=None if same else self.actual, backend=backend, **options)
        self.runs.append(run)
        self.believed, self.actual = run.world, run.world if run.actual is None else run.actual
        aside = ready.action.name in (WITHDRAW, BACK_OFF)  # no action of the plan
        self.expected = None if aside else Expected(ready, ready.action.result(self.seen), run)
        self.ready = ready.following
        broken = run.error is not None and run.error.diagnostics[0].code == "backend"
        return broken and self.end("failed", run.message)

    def _tell(self, what: str, action: Action | None, note: str) -> None:
        time = sum(run.duration for run in self.runs)
        event = TaskEvent(self.step, time, self.kernel, what, action, self.seen, self.diagnosis, note)
        self.events.append(event)
        self.diagnosis = None
        if self.on_event is not None:
            self.on_event(event)

    def end(self, what: str, note: str) -> bool:
        """The task is over."""
        missing = [fact_text(fact) for fact in self.plan.plan.problem.goal.facts if fact not in self.seen]
        self._tell(what, None, note + (f"; missing: {' '.join(missing)}" if what == "failed" and missing else ""))
        return True


def __dir__() -> list[str]:
    return __all__
