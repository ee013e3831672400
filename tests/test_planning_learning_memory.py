"""Memories of plans: the distance of tasks against brute force and as a metric, recall, adaptation, and files."""

import json
import time
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.planning_tasks import BLOCKS, breadth_first, facts, fetch, fetch_plan, plan_of, sussman, sussman_plan

import adjoint as aj
from adjoint.planning import blocks_task
from adjoint.planning.learning import PlanMemory, load_memory, task_distance
from adjoint.planning.pddl import book_task
from adjoint.planning.solving import solve
from adjoint.planning.strips.task_types import Condition, Domain, Problem
from adjoint.planning.validation import validate

SEEDS = st.integers(0, 2**32 - 1)


def random_task(rng: np.random.Generator, most: int = 4) -> Problem:
    """A task of a few objects of two types with random facts; its goal has an absent fact at times."""
    objects = {f"o{k}": str(rng.choice(["left", "right"])) for k in range(rng.integers(1, most + 1))} | {"z": "left"}
    able = [("p", x) for x in (*objects, "k")] + [("q", x, y) for x in objects for y in objects]
    chosen = [tuple(f for f in able if rng.random() < share) for share in (0.3, 0.2, 0.1)]
    domain = Domain("d", (), types={"left": "object", "right": "object"}, constants={"k": "left"})
    return Problem(
        "t",
        domain,
        objects,
        frozenset(chosen[0]),
        Condition(chosen[1], tuple(f for f in chosen[2] if f not in chosen[1])),
    )


def jaccard(a: set, b: set) -> float:
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def brute_force(first: Problem, second: Problem) -> float:
    """The formula itself: all injective maps of objects, with new names where the second task has too few."""
    names = list(first.objects)
    targets = [*second.objects, *(f"new{k}" for k in range(len(names)))]
    best = 1.0
    for chosen in permutations(targets, len(names)):
        to = dict(zip(names, chosen, strict=True))
        if any(b in second.objects and first.objects[a] != second.objects[b] for a, b in to.items()):
            continue

        def renamed(found, to=to):
            return {(f[0], *(to.get(x, x) for x in f[1:])) for f in found}

        def goal(task, rename):
            return rename(task.goal.facts) | {("not", *f) for f in rename(task.goal.absent)}

        d = 2 / 3 * jaccard(goal(first, renamed), goal(second, set))
        best = min(best, d + 1 / 3 * jaccard(renamed(first.initial), set(second.initial)))
    return best


@given(SEEDS)
def test_distance_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    first, second = random_task(rng, 2), random_task(rng, 3)
    found = task_distance(first, second)
    assert found.exact and found.distance == pytest.approx(brute_force(first, second), abs=1e-12)
    assert len(set(found.renaming.values())) == len(found.renaming)
    assert all(first.objects[a] == second.objects[b] for a, b in found.renaming.items())


@given(SEEDS)
def test_distance_is_a_metric(seed):
    rng = np.random.default_rng(seed)
    a, b, c = (random_task(rng) for _ in range(3))
    ab, bc, ac = (task_distance(*pair).distance for pair in ((a, b), (b, c), (a, c)))
    assert ab == pytest.approx(task_distance(b, a).distance, abs=1e-12)
    assert ac <= ab + bc + 1e-12 and 0 <= ab <= 1


@given(SEEDS)
def test_distance_is_zero_for_other_names(seed):
    rng = np.random.default_rng(seed)
    task = random_task(rng)
    to = {name: f"n{k}" for name, k in zip(task.objects, rng.permutation(len(task.objects)), strict=True)}

    def renamed(found):
        return tuple((f[0], *(to.get(x, x) for x in f[1:])) for f in found)

    goal = Condition(renamed(task.goal.facts), renamed(task.goal.absent))
    other = replace(
        task, objects={to[x]: k for x, k in task.objects.items()}, initial=frozenset(renamed(task.initial)), goal=goal
    )
    assert task_distance(task, other).distance == pytest.approx(0, abs=1e-12)


def test_distances_by_hand():
    """Goals are the same after b and c change names; of the initial facts 4 of 8 are."""
    other = replace(sussman(), goal=Condition(facts("on c b, on a c")))
    assert task_distance(sussman(), other).distance == pytest.approx(1 / 3 * (1 - 4 / 8))
    assert task_distance(sussman(), fetch()).distance == 1.0


def test_distance_has_a_budget():
    rng = np.random.default_rng(5)
    names = [f"b{k}" for k in range(30)]
    tasks = []
    for _ in range(2):
        start = frozenset(("on", str(rng.choice(names)), str(rng.choice(names))) for _ in range(40))
        tasks.append(Problem("t", BLOCKS, dict.fromkeys(names, "block"), start, Condition(facts("on b1 b2"))))
    found = task_distance(*tasks, budget=100)
    assert not found.exact and 0 < found.distance < 1


def test_objects_without_facts_and_operators_do_not_count():
    spare = replace(sussman(), objects={**sussman().objects, "spare": "block", "other": "block"})
    fewer = replace(sussman(), domain=replace(BLOCKS, operators=BLOCKS.operators[:2]))
    assert all(
        task_distance(*pair).distance == 0 for pair in ((sussman(), spare), (spare, sussman()), (sussman(), fewer))
    )
    assert task_distance(sussman(), replace(spare, initial=sussman().initial | {("clear", "spare")})).distance > 0


@pytest.mark.slow
def test_recall_ends_in_time_and_says_so():
    memory = PlanMemory().remember(sussman_plan())
    for k in range(3):
        memory = memory.remember(solve(blocks_task(25, rng=k)))
    began = time.perf_counter()
    found = memory.recall(blocks_task(25, rng=9), max_seconds=0.5)
    assert time.perf_counter() - began < 10  # the bounds end where one is found; the search alone goes on for longer
    assert len(found) == 4 and not all(candidate.exact for candidate in found)
    assert all(0 <= candidate.distance <= 1 for candidate in found)
    assert all(candidate.exact for candidate in PlanMemory().remember(sussman_plan()).recall(sussman()))


def test_recall_by_renaming():
    """The tower of other blocks, with other names, comes back at distance 0."""
    memory = PlanMemory().remember(fetch_plan()).remember(sussman_plan())
    start = frozenset(facts("clear y, clear z, on z x, ontable x, ontable y, handempty"))
    task = Problem("new", BLOCKS, dict.fromkeys("xyz", "block"), start, Condition(facts("on y z, on x y")))
    best, other = memory.recall(task)
    assert best and best.how == "renaming" and best.distance == 0 and best.source == sussman_plan()
    assert [str(a) for a in best.plan][:2] == ["(unstack z x)", "(putdown z)"] and validate(best.plan, task)
    assert not other and other.how == "discarded" and other.distance == 1
    assert (
        other.plan.reason == "the plan of 'p' fails here: step 1, (gothru rob d1 r1 r2): there is no operator 'gothru'"
    )


def test_recall_by_schema_where_names_do_not_suffice():
    """The box shall go to a third room: the old plan pushes it back, its schema need not."""
    task = fetch(goal="in b1 r3")
    best = PlanMemory().remember(fetch_plan()).recall(task)[0]
    assert best.how == "schema" and [str(a) for a in best.plan] == [
        "(gothru rob d1 r1 r2)",
        "(pushthru rob b1 d2 r2 r3)",
    ]


def test_plans_whose_needs_fail_are_discarded_though_they_are_near():
    near = fetch("d1 r1 r2, d2 r2 r3", "in rob r3, in b1 r2", "in b1 r1")
    old = fetch("d1 r1 r2, d2 r2 r3", "in rob r2, in b1 r2", "in b1 r1")
    memory = PlanMemory().remember(plan_of(old, "pushthru rob b1 d1 r2 r1")).remember(fetch_plan())
    first, second = memory.recall(near)
    assert first and first.source == fetch_plan() and validate(first.plan, near)
    assert not second and "(in rob r2) does not hold" in second.plan.reason


@pytest.mark.slow
@given(SEEDS)
def test_recalled_plans_are_valid(seed):
    rng = np.random.default_rng(seed)
    memory = PlanMemory()
    for _ in range(3):
        memory = memory.remember(breadth_first(random_fetch(rng)))
    task = random_fetch(rng)
    found = memory.recall(task)
    assert [bool(c) for c in found] == sorted((bool(c) for c in found), reverse=True)
    for candidate in found:
        assert not candidate or validate(candidate.plan, task)
    usable = [c.distance for c in found if c]
    assert usable == sorted(usable)


def random_fetch(rng: np.random.Generator) -> Problem:
    rooms = [f"r{k}" for k in range(1, 5)]
    doors = ", ".join(f"d{k} r{k} r{k + 1}" for k in range(1, 4))
    robot, box, goal = (str(rng.choice(rooms)) for _ in range(3))
    return fetch(doors, f"in rob {robot}, in b1 {box}", f"in b1 {goal}")


def test_memory_comes_back_from_its_file(tmp_path):
    memory = PlanMemory().remember(solve(book_task("blocks"))).remember(solve(book_task("fetch")))
    path = memory.save(tmp_path / "memory.json")
    assert load_memory(path).plans == memory.plans
    assert memory.remember(memory.plans[0]) is memory and len(memory) == 2 and list(memory)[1].problem.name == "p"
    assert repr(memory) == "<PlanMemory: 2 plans (s, p)>"


def stored(tmp_path, change) -> str:
    path = PlanMemory().remember(solve(book_task("blocks"))).save(tmp_path / "memory.json")
    data = json.loads(path.read_text())
    path.write_text(json.dumps(change(data)))
    return str(path)


def task_with(**parts):
    def change(data):
        data["tasks"][0] |= parts
        return data

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: [data], "no memory of plans"),
        (lambda data: data | {"plan_memory": 2}, "no memory of plans"),
        (lambda data: data | {"tasks": {}}, "'tasks' must be a list, got dict"),
        (lambda data: data | {"tasks": [3]}, "task 1 must have the texts 'domain', 'problem' and 'plan'"),
        (task_with(extra=1), "task 1 must have the texts"),
        (task_with(plan=["(pickup b)"]), "task 1 must have the texts"),
        (task_with(domain="/etc/hostname"), r"'domain' must be a text of PDDL, which begins with \("),
        (task_with(plan="(pickup b)"), "task 1: the plan does not work: the goal is missed"),
        (task_with(plan="(pickup a)"), r"task 1: the plan does not work: step 1, \(pickup a\)"),
        (task_with(plan="(fly a)"), "memory.json: task 1: .*fly"),
        (task_with(problem="(define (problem"), "memory.json: task 1: .*problem"),
        (task_with(domain="(define"), "memory.json: task 1: domain:1"),
    ],
)
def test_bad_files(tmp_path, change, message):
    path = stored(tmp_path, change)
    with pytest.raises(aj.AdjointError, match=message):
        load_memory(path)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_files_that_are_no_json(tmp_path, text):
    path = tmp_path / "memory.json"
    path.write_text(text)
    with pytest.raises(aj.ArgumentError, match="no JSON"):
        load_memory(path)


def test_bad_arguments():
    with pytest.raises(aj.ArgumentError, match="two Problems are needed, got Plan"):
        task_distance(sussman_plan(), sussman())  # type: ignore[arg-type]
    for budget in ({"budget": None}, {"budget": "x"}, {"budget": float("nan")}, {"max_seconds": -1}):
        with pytest.raises(aj.ArgumentError, match=f"task_distance: {next(iter(budget))} must be a number above 0"):
            task_distance(sussman(), sussman(), **budget)
    memory = PlanMemory().remember(sussman_plan())
    with pytest.raises(aj.ArgumentError, match="recall: max_seconds must be a number above 0"):
        memory.recall(sussman(), max_seconds=None)  # type: ignore[arg-type]
    with pytest.raises(aj.ArgumentError, match="recall: the problem must be a Problem, got NoneType"):
        PlanMemory().recall(None)  # type: ignore[arg-type]
    with pytest.raises(aj.ArgumentError, match="PlanMemory: each of `plans` must be a Plan, got int"):
        PlanMemory((5,))  # type: ignore[arg-type]
    for call, caller in ((memory.save, "save"), (load_memory, "load_memory")):
        with pytest.raises(aj.ArgumentError, match=f"{caller}: the path of a file is needed, got NoneType"):
            call(None)  # type: ignore[arg-type]
    with pytest.raises(aj.ArgumentError, match="the plan is not valid"):
        PlanMemory().remember(plan_of(sussman(), "pickup a"))
