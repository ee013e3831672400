"""Tasks of the planning competitions that the package pddlgym ships: read or refused with a place, solved, checked."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import get_environment

from adjoint.planning import Problem, read_task, solve, to_unified_planning, validate
from adjoint.program.instructions.diagnostics import ProgramError

from .support.plan_checks import solved_by, up_validates

get_environment().credits_stream = None

found = importlib.util.find_spec("pddlgym")
assert found is not None and found.origin, "the tests need the files of pddlgym: pip install --no-deps pddlgym"
FOLDER = Path(found.origin).parent / "pddl"  # only its files are used: the package asks for an old Pillow
NAMES = sorted(path.stem for path in FOLDER.glob("*.pddl") if (FOLDER / path.stem).is_dir())
LARGE = {"manygrid", "toomanyblocks"}  # 98 000 actions; a text that unified-planning reads for 15 s

# What is more than STRIPS, and the word that names it.
REFUSED = {
    "derivedblocks": ":derived", "equalityblocks": "forall", "equalityblocks2": "or",
    "explodingblocks": "probabilistic", "fridge": "exists", "manyexplodingblockssmallpiles": "probabilistic",
    "manytireworld": "probabilistic",
    "quantifiedblocks": "forall", "quantifiedblocks2": "exists", "quantifiedblocks3": "or", "river": "probabilistic",
    "tireworld": "probabilistic", "navigation1": "probabilistic",
    **{f"navigation{k}": "this '(' is not closed" for k in range(2, 11)},  # their files end too early
}  # fmt: skip


def tasks(name: str, most: int = 2) -> list[tuple[Path, Path]]:
    return [(FOLDER / f"{name}.pddl", path) for path in sorted((FOLDER / name).glob("*.pddl"))[:most]]


def up_task(domain: Path, problem: Path):
    """The task as unified-planning reads it; None if it refuses it, as a type and an object have the same name."""
    try:
        return PDDLReader().parse_problem(str(domain), str(problem))
    except Exception:  # it raises errors of its own, of pyparsing, and others
        return None


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_more_than_strips_is_refused_with_its_place(name):
    for domain, problem in tasks(name):
        with pytest.raises(ProgramError, match=r"pddl:\d+:\d+: error: ") as error:
            read_task(domain, problem)
        assert REFUSED[name] in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", [x for x in NAMES if x not in REFUSED and x not in LARGE])
def test_tasks_of_competitions_are_solved_as_others_would(name):
    for domain, problem in tasks(name):
        task, theirs = read_task(domain, problem), up_task(domain, problem)
        plan = solve(task, max_expanded=20_000)
        if plan:
            assert validate(plan) and validate(list(plan), task), problem.name
            assert theirs is None or up_validates(theirs, plan), problem.name
        else:
            assert "never" in plan.reason or "all" in plan.reason, (problem.name, plan.reason)  # no budget ended it
            assert _is_unsolvable(task), problem.name


def _is_unsolvable(task: Problem) -> bool:
    """Whether Fast Downward proves it; predicates and operators of one name are not for unified-planning."""
    operators = tuple(replace(operator, name=f"do-{operator.name}") for operator in task.domain.operators)
    renamed = replace(task, domain=replace(task.domain, operators=operators))
    return solved_by("fast-downward", to_unified_planning(renamed)).status.name == "UNSOLVABLE_PROVEN"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gripper", "manylogistics", "manyferry", "hiking", "maze", "searchandrescue_level4"])
def test_best_plans_are_as_short_as_those_of_fast_downward(name):
    domain, problem = tasks(name)[0]
    theirs = solved_by("fast-downward-opt", up_task(domain, problem)).plan
    ours = solve(domain, problem, optimal=True, max_seconds=60)
    assert ours and len(ours) == len(theirs.actions)
