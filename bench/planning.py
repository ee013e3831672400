"""Task planning: blocks worlds from text to plan, reading of PDDL, and cells from a goal to motions, beside peers.

python bench/planning.py            one run, one core; writes bench/results/planning.json

Every planner gets the same texts, and every plan is checked by `validate` before anything is timed. Fast Downward runs
through unified-planning, with its default alias, from a problem that is in memory already; its time has the start of a
process, which everybody who calls it so pays. pymimir reads the texts and searches greedily, lazily, by FF.
"""

import contextlib
import functools
import logging
import os
import tempfile
from pathlib import Path

from common import in_time, one_core, quick_or_full, race, ratio_target, report, row, target

one_core()

import pymimir  # noqa: E402
from unified_planning.io import PDDLReader  # noqa: E402
from unified_planning.shortcuts import OneshotPlanner, get_environment  # noqa: E402

from adjoint.planning import (  # noqa: E402
    blocks_task,
    book_task,
    delivery_task,
    hanoi_task,
    plan_task,
    random_cell,
    read_task,
    solve,
    to_unified_planning,
    validate,
    write_domain,
    write_problem,
)

get_environment().credits_stream = None
logging.disable(logging.WARNING)
CELL_GOAL = "(and (on red green) (on green blue))"
FOLDER = Path(tempfile.mkdtemp())


def written(problem) -> tuple[Path, Path]:
    """The files of a domain and a problem."""
    paths = FOLDER / f"{problem.domain.name}.pddl", FOLDER / f"{problem.name}.pddl"
    paths[0].write_text(write_domain(problem.domain))
    paths[1].write_text(write_problem(problem))
    return paths


def by_fast_downward(problem) -> list[str]:
    with OneshotPlanner(name="fast-downward") as planner:
        plan = planner.solve(problem).plan
    return [" ".join((a.action.name, *map(str, a.actual_parameters))) for a in plan.actions]


@contextlib.contextmanager
def silent():
    """Nothing that C++ code writes reaches the screen."""
    kept = os.dup(1)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def by_mimir(domain: Path, task: Path) -> list[str]:
    problem = pymimir.Problem(pymimir.Domain(str(domain)), str(task))
    found = pymimir.gbfs_lazy(problem, problem.get_initial_state(), pymimir.FFHeuristic(problem))
    return [
        " ".join((a.get_action().get_name(), *(o.get_name() for o in a.get_objects()))) for a in found.solution
    ]  # fmt: skip


def planning() -> list[dict]:
    """Blocks from texts to plans."""
    rows = []
    for count in in_time(quick_or_full((15,), (15, 60))):
        problem = blocks_task(count, rng=0)
        domain, task = written(problem)
        theirs = to_unified_planning(problem)
        calls = {
            "adjoint": lambda d=domain, t=task: solve(d, t),
            "fast-downward": functools.partial(by_fast_downward, theirs),
            "pymimir": functools.partial(by_mimir, domain, task),
        }
        lengths = {}
        for name, call in calls.items():
            with silent():
                actions = list(call())
            assert validate(actions, problem), (name, validate(actions, problem).reason)
            lengths[name] = len(actions)
        print(f"{count} blocks, actions of the plans: {lengths}")
        with silent():
            laps = race(calls, rounds=9 if count < 30 else 3)
        rows.append(row(f"{count} blocks", "text to plan", "one call", laps, lengths=lengths))
    return rows


def optimal() -> list[dict]:
    """The best plan of the book's tasks, and of some larger ones, by A* with LM-cut."""
    rows = []
    tasks = {"book's blocks": book_task("blocks"), "6 blocks": blocks_task(6), "4 discs": hanoi_task(4)}
    for name, problem in tasks.items():
        laps = race({"adjoint": functools.partial(solve, problem, optimal=True)})
        rows.append(row(name, "best plan", "one call", laps, cost=solve(problem, optimal=True).cost))
    return rows


def reading() -> list[dict]:
    """PDDL of blocks worlds and deliveries into data."""
    rows = []
    for problem in (blocks_task(15), blocks_task(60), delivery_task(10)):
        domain, task = write_domain(problem.domain), write_problem(problem)
        assert read_task(domain, task).initial == problem.initial
        calls = {
            "adjoint": functools.partial(read_task, domain, task),
            "unified-planning": lambda d=domain, t=task: PDDLReader().parse_problem_string(d, t),
        }
        rows.append(row(problem.name, "read PDDL", "one call", race(calls)))
    return rows


def cells() -> list[dict]:
    """From a goal in a cell to actions with grasps and motions, when everything is compiled."""
    rows = []
    for seed, blocks in quick_or_full(((5, 4),), ((5, 4), (4, 5), (3, 6))):
        scene = random_cell(rng=seed, blocks=blocks)
        call = functools.partial(plan_task, scene.world, CELL_GOAL, movable=list(scene.blocks))
        plan = call()
        assert plan, plan.reason
        laps = race({"adjoint": call}, rounds=3)
        rows.append(row(f"cell of {blocks} blocks", "goal to motions", "one call", laps, actions=len(plan.actions)))
    return rows


def targets(rows: list[dict]) -> list[list]:
    """Rows (target, measured, wanted, verdict)."""
    found = []
    for r in rows:
        if r["what"] == "text to plan":
            small = r["subject"] == "15 blocks"
            found += ratio_target(r, "fast-downward", 8 if small else 1)
            found += ratio_target(r, "pymimir", 1) if small else []
        elif r["what"] == "read PDDL":
            found += ratio_target(r, "unified-planning", 20)
        elif r["what"] in ("best plan", "goal to motions"):
            found.append(target(f"{r['subject']}, {r['what']}, ms", 1e-6 * r["ours_ns"], "<= 1000"))
    return found


def main() -> None:
    rows: list[dict] = []
    for part in in_time((reading, planning, optimal, cells), name=lambda part: part.__name__):
        rows += part()
    report("planning", ("unified-planning", "up-fast-downward", "pymimir"), rows, targets(rows))


if __name__ == "__main__":
    main()
