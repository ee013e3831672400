"""`PlanMemory`: solved tasks, and their plans for tasks that are similar."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...display import counted
from ...errors import AdjointError, ArgumentError
from ...files import whole_file
from ..limits import check_kind, check_limits
from ..monitoring.triangle_tables import triangle_table
from ..pddl.plan_reader import read_plan
from ..pddl.task_reader import read_task
from ..pddl.task_writer import write_domain, write_problem
from ..strips.task_types import Plan, Problem
from ..validation import validate
from .generalisation import generalise
from .instances import instantiate
from .task_distances import task_distance

__all__ = ["Candidate", "PlanMemory", "load_memory"]


class Candidate(NamedTuple):
    """A plan of memory for a new task; it is true if its plan works."""

    distance: float
    """of the old task from the new one"""
    plan: Plan
    """for the new task; false if the old plan cannot be adapted, with the reason"""
    how: str
    """"renaming" of objects, "schema" if the plan had to be generalised, or "discarded" """
    source: Plan
    exact: bool = True
    """whether all renamings were compared; else the time was over, and another renaming may be nearer"""

    def __bool__(self) -> bool:
        return self.plan.solved


@dataclass(frozen=True, repr=False)
class PlanMemory:
    """Plans that solved their tasks; a memory does not change, `remember` gives a larger one.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Condition, Plan
        >>> from dataclasses import replace
        >>> task = book_task("fetch")
        >>> calls = [("gothru", "rob", "d1", "r1", "r2"), ("pushthru", "rob", "b1", "d1", "r2", "r1")]
        >>> memory = PlanMemory().remember(Plan(task, tuple(task.action(*call) for call in calls)))
        >>> best = memory.recall(replace(task, goal=Condition((("in", "b1", "r3"),))))[0]
        >>> best.how, round(best.distance, 3), best.plan
        ('schema', 0.095, <Plan of p: 2 actions, cost 2: (gothru rob d1 r1 r2) (pushthru rob b1 d2 r2 r3)>)

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.7 (PULP-I).
    """

    plans: tuple[Plan, ...] = ()

    def __post_init__(self):
        check_kind("PlanMemory", self.plans, tuple, "plans")
        for plan in self.plans:
            check_kind("PlanMemory", plan, Plan, "each of `plans`")

    def remember(self, plan: Plan) -> PlanMemory:
        """The memory with a plan, which must be valid; one that is there already does not come twice."""
        triangle_table(plan)
        return self if plan in self.plans else PlanMemory((*self.plans, plan))

    def recall(self, problem: Problem, *, max_seconds: float = 10.0) -> tuple[Candidate, ...]:
        """Candidates for a problem: those whose plans work, then those that do not, each by rising distance.

        The renamings are looked for in `max_seconds` altogether; a candidate tells whether its own is `exact`.
        """
        check_kind("recall", problem, Problem, "the problem")
        check_limits("recall", max_seconds=max_seconds)
        found, until = [], time.monotonic() + max_seconds
        for k, source in enumerate(self.plans):
            share = (until - time.monotonic()) / (len(self.plans) - k)
            near = task_distance(source.problem, problem, max_seconds=max(share, 1e-3))
            plan, how = _adapted(source, problem, near.renaming)
            found.append(Candidate(near.distance, plan, how, source, near.exact))
        return tuple(sorted(found, key=lambda candidate: (not candidate, candidate.distance)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the memory as JSON, from which `load_memory` reads it; tasks and plans in it are texts of PDDL."""
        tasks = [
            {"domain": write_domain(p.problem.domain), "problem": write_problem(p.problem), "plan": p.text}
            for p in self.plans
        ]
        target = _path("save", path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as unfinished:
            unfinished.write_text(json.dumps({"plan_memory": 1, "tasks": tasks}, indent=1), encoding="utf-8")
        return target

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __repr__(self) -> str:
        return (
            f"<PlanMemory: {counted(len(self.plans), 'plan')} ({', '.join(plan.problem.name for plan in self.plans)})>"
        )


def _adapted(source: Plan, problem: Problem, renaming: dict[str, str]) -> tuple[Plan, str]:
    """The plan with other objects, or that of its schema if the renamed plan does not work."""
    calls = [(action.name, *(renaming.get(x, x) for x in action.arguments)) for action in source]
    checked = validate(calls, problem)
    if checked:
        return Plan(problem, tuple(problem.action(*call) for call in calls)), "renaming"
    if all(problem.domain.operator(x.name) == source.problem.domain.operator(x.name) for x in source):
        plan = instantiate(generalise(source), problem)
        if plan:
            return plan, "schema"
    return Plan(problem, (), False, f"the plan of '{source.problem.name}' fails here: {checked.reason}"), "discarded"


def _path(caller: str, path) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"{caller}: the path of a file is needed, got {type(path).__name__}")
    return Path(path)


def load_memory(path: str | os.PathLike[str]) -> PlanMemory:
    """Read a memory that `PlanMemory.save` wrote. Nothing in the file is trusted: all plans are checked again.

    >>> load_memory(PlanMemory().save("kitchen.json"))
    <PlanMemory: 0 plans ()>
    """
    where = _path("load_memory", path)
    try:
        data = json.loads(where.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"{where}: the file cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{where}: no JSON: {error}") from None
    if not isinstance(data, dict) or set(data) != {"plan_memory", "tasks"} or data["plan_memory"] != 1:
        raise ArgumentError(f"{where}: no memory of plans; the file must have 'plan_memory': 1 and 'tasks'")
    if not isinstance(data["tasks"], list):
        raise ArgumentError(f"{where}: 'tasks' must be a list, got {type(data['tasks']).__name__}")
    memory = PlanMemory()
    for number, task in enumerate(data["tasks"], 1):
        memory = memory.remember(_read(task, f"{where}: task {number}"))
    return memory


def _read(task, label: str) -> Plan:
    names = ("domain", "problem", "plan")
    if not isinstance(task, dict) or set(task) != set(names) or not all(isinstance(task[x], str) for x in names):
        raise ArgumentError(f"{label} must have the texts 'domain', 'problem' and 'plan'")
    for name in ("domain", "problem"):
        if not task[name].lstrip().startswith("("):  # a text, never the path of another file
            raise ArgumentError(f"{label}: '{name}' must be a text of PDDL, which begins with (")
    try:
        plan = read_plan(task["plan"], read_task(task["domain"], task["problem"]))
    except AdjointError as error:
        raise ArgumentError(f"{label}: {error}") from None
    if not (checked := validate(plan)):
        raise ArgumentError(f"{label}: the plan does not work: {checked.reason}")
    return plan
