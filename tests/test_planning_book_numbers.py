"""The book's examples and problems by their numbers, and what other planners and their collections of tasks say."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import unified_planning
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import GlobalStartTiming, get_environment
from unified_planning.test.examples import get_example_problems

import adjoint as aj
from adjoint.planning import (
    AndOrProblem,
    Condition,
    Parameter,
    Problem,
    SearchProblem,
    all_optimal_plans,
    ao_star,
    bar_path,
    blocks_task,
    book_task,
    count_optimal_plans,
    delivery_task,
    desk_task,
    desk_with_two_objects,
    from_unified_planning,
    ground,
    means_ends,
    missionaries_and_cannibals,
    monkey_task,
    moving_blocks,
    reachable_states,
    read_task,
    solve,
    to_unified_planning,
    tower_of_hanoi,
    uniform_cost,
    validate,
    write_domain,
    write_problem,
)

from .support.plan_checks import solved_by, up_validates

get_environment().credits_stream = None


def space(problem: Problem) -> SearchProblem:
    """The state space of a task of PDDL."""
    task = ground(problem)
    return SearchProblem(task.initial, task.applicable, task.result, task.is_goal, lambda s, a: task.costs[a])


@pytest.mark.parametrize(
    ("name", "states", "arcs", "steps"),
    [("blocks", 22, 42, 6), ("monkey", 13, 41, 4), ("fetch", 9, 16, 2), ("hanoi", 9, 24, 3)],
)
def test_state_spaces_of_the_book_s_tasks_in_pddl(name, states, arcs, steps):
    """W5 to W7; the arcs of the monkey have 13 that go where it is already. Each task has one best plan."""
    problem = space(book_task(name))
    graph = reachable_states(problem)
    assert (len(graph.states), len(graph.arcs)) == (states, arcs)
    assert count_optimal_plans(problem) == 1 and len(solve(book_task(name), optimal=True)) == steps


def test_moves_of_blocks():
    """Sec. 10.6: three moves apply at the start, and there is one best plan."""
    problem = moving_blocks()
    assert list(problem.actions(problem.initial)) == ["MOVE(B,T,C)", "MOVE(C,A,B)", "MOVE(C,A,T)"]
    assert all_optimal_plans(problem) == (("MOVE(C,A,T)", "MOVE(B,T,C)", "MOVE(A,T,B)"),)
    stack = moving_blocks("ABC", "A B C")  # taking a tower apart puts two blocks on the table in a row
    assert uniform_cost(stack).cost == 2


def test_three_blocks_of_chapter_9():
    """Fig. 9.5 and Table 9.9: B2 on B1 and B3 on the table become a tower of three."""
    blocks = book_task("blocks")
    places = {("ontable", "b1"), ("on", "b2", "b1"), ("ontable", "b3")}
    initial = frozenset({*places, ("clear", "b2"), ("clear", "b3"), ("handempty",)})
    goal = Condition((("on", "b3", "b2"), ("on", "b2", "b1")))
    task = replace(blocks, objects=dict.fromkeys(("b1", "b2", "b3"), "block"), initial=initial, goal=goal)
    assert [str(a) for a in solve(task, optimal=True)] == ["(pickup b3)", "(stack b3 b2)"]


def test_missionaries_and_cannibals_of_problem_10_1():
    problem = missionaries_and_cannibals()
    pairs = {state[:2] for state in reachable_states(problem)}
    assert pairs == {(m, c) for m in (0, 3) for c in range(4)} | {(1, 1), (2, 2)}
    trips = "2C,1C,2C,1C,2M,1M1C,2M,1C,2C,1M,1M1C".split(",")
    plan = tuple(f"{load} {('over', 'back')[k % 2]}" for k, load in enumerate(trips))
    assert plan in all_optimal_plans(problem)


def test_diagonals_of_problem_10_2():
    """The diagonals of a parallelogram bisect each other: a chart of reductions, with given facts as terminals."""
    given = {"AB parallel CD", "AC and BD are transversals", "opposite sides of a parallelogram are equal"}
    arcs = {
        "diagonals bisect": [(1, ("AE = EC", "BE = ED"))],
        "AE = EC": [(1, ("ABE congruent CDE",))],
        "BE = ED": [(1, ("ABE congruent CDE",))],
        "ABE congruent CDE": [
            (1, ("AE = EC", "BE = ED", "AB = CD")),  # three sides: needs what is to be proved
            (1, ("angle EAB = angle ECD", "AB = CD", "angle EBA = angle EDC")),
        ],
        "AB = CD": [(1, ("opposite sides of a parallelogram are equal",))],
        "angle EAB = angle ECD": [(1, ("AB parallel CD", "AC and BD are transversals"))],
        "angle EBA = angle EDC": [(1, ("AB parallel CD", "AC and BD are transversals"))],
    }
    found = ao_star(AndOrProblem("diagonals bisect", lambda node: arcs.get(node, ()), given.__contains__))
    assert found and found.graph["ABE congruent CDE"].children[0] == "angle EAB = angle ECD"
    assert len(found.graph) == 7 and found.cost == 11  # the triangles count for both halves


def test_the_bar_goes_away_from_its_goal_first():
    """Sec. 10.2.1: both best paths step away first and save two turns; with three turns the best costs 25."""
    problem = bar_path()
    plans = all_optimal_plans(problem)
    assert len(plans) == 2
    assert {problem.result(problem.initial, plan[0]) for plan in plans} == {(1, 2, 1)}
    turning = SearchProblem(
        (problem.initial, 0),
        lambda s: problem.actions(s[0]) if s[1] < 4 else (),
        lambda s, a: (problem.result(s[0], a), s[1] + (a == "turn")),
        lambda s: problem.is_goal(s[0]) and s[1] == 3,
        lambda s, a: problem.cost(s[0], a),
    )
    best = uniform_cost(turning)
    assert best.cost == 25 and len(best.actions) == 11


def test_towers_of_hanoi_of_problem_9_7():
    assert all_optimal_plans(tower_of_hanoi(2)) == (("1: A->B", "2: A->C", "1: B->C"),)


def test_the_desk_as_the_book_tells_it():
    """Sec. 10.5: the book's order is one of the 16 best, and CARRY fails first: nothing changes the desk's size."""
    told = (
        "WALK(R1), PICKUP(b1), PUTDOWN(b1), PICKUP(b2), PUTDOWN(b2), PUSH(desk,R2), WALK(R1), PICKUP(b1), "
        "CARRY(b1,R2), PLACE(b1,desk), WALK(R1), PICKUP(b2), CARRY(b2,R2), PLACE(b2,desk)"
    )
    assert tuple(told.split(", ")) in all_optimal_plans(desk_with_two_objects())
    found = means_ends(*desk_task())
    assert [a.name.upper() for a in found.actions] == [step.partition("(")[0] for step in told.split(", ")]
    carry, push = found.tree.children[0].children[:2]
    assert carry.text == "(carry desk r1 r2)" and carry.outcome == "failed"
    assert "no operator of the table gives (small desk)" in carry.children[0].outcome
    assert push.text == "(push desk r1 r2)" and push.outcome == "done"


def test_reductions_of_the_monkey():
    """Sec. 10.3: grasp needs the box at C and the monkey on it; pushbox needs the monkey at B; goto is primitive."""
    grasp = means_ends(*monkey_task()).tree.children[0].children[0]
    assert grasp.text == "(grasp)"
    box, climb = grasp.children[0].children
    assert [x.children[0].text for x in (box, climb)] == ["(pushbox b c)", "(climbbox c)"]
    walk = box.children[0].children[0].children[0].children[0]
    assert walk.text == "(goto a b)" and not walk.children


# --- other planners ---------------------------------------------------------------------------------------------------


def test_examples_of_unified_planning_are_solved_or_refused():
    """All examples that are STRIPS have the answer that is known, and their validator finds the plans right."""
    solved, refused = [], {}
    for name, example in get_example_problems().items():
        try:
            task = from_unified_planning(example.problem)
        except aj.ArgumentError as error:
            refused[name] = str(error)
            continue
        plan = solve(task)
        assert plan.solved == example.solvable, name
        if plan:
            assert up_validates(example.problem, plan), name
            solved.append(name)
    assert {"basic", "robot_loader", "robot_loader_adv", "hierarchical_blocks_world"} <= set(solved)
    assert "trajectory_constraints" in refused["robot_loader_weak_bridge"]
    assert "HierarchicalProblem" in refused["htn-go"]


def test_what_would_be_lost_is_refused():
    task = to_unified_planning(book_task("blocks"))
    timed = task.clone()
    timed.add_timed_goal(GlobalStartTiming(5), timed.goals[0])
    with pytest.raises(aj.ArgumentError, match="'timed_goals' of the problem"):
        from_unified_planning(timed)


@pytest.mark.parametrize("name", ["depot"])
def test_ipc_domains_that_packages_ship_are_solved(name):
    """Of the tasks that unified-planning ships, these are STRIPS; the readers, plans and validators agree."""
    folder = Path(unified_planning.__file__).parent / "test" / "pddl" / name
    files = folder / "domain.pddl", folder / "problem.pddl"
    theirs = PDDLReader().parse_problem(*map(str, files))
    for plan in (solve(*files), solve(*files, heuristic="ff")):
        assert plan and validate(plan) and up_validates(theirs, plan)


PICKED = [blocks_task(5, rng=k) for k in range(3)] + [delivery_task(2, trucks=2, rng=k) for k in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("problem", [*PICKED, desk_task()[0]], ids=lambda p: p.name)
def test_best_plans_cost_what_fast_downward_s_cost(problem):
    known = problem.domain.predicates or _predicates(problem)
    problem = replace(problem, domain=replace(problem.domain, predicates=known, types=_types(problem)))
    theirs = solved_by("fast-downward-opt", to_unified_planning(problem)).plan
    calls = [(a.action.name, *map(str, a.actual_parameters)) for a in theirs.actions]
    checked = validate(calls, problem)
    assert checked and solve(problem, optimal=True).cost == checked.cost


def _predicates(problem: Problem) -> dict:
    """The predicates of a task that does not name them: those of its facts."""
    operators = problem.domain.operators
    facts = {*problem.initial, *(f for o in operators for f in (*o.needs.facts, *o.needs.absent, *o.adds, *o.deletes))}
    return {f[0]: tuple(Parameter(f"?x{k}") for k in range(len(f) - 1)) for f in facts}


def _types(problem: Problem) -> Mapping[str, str]:
    return problem.domain.types or dict.fromkeys(problem.all_objects.values(), "object")


def test_a_task_of_one_text_with_everything_that_is_supported():
    task = read_task(
        """(define (domain all) (:requirements :typing :equality :negative-preconditions :action-costs)
        (:types a b - top top) (:constants k - a) (:predicates (on ?x - top ?y - (either a b)) (free))
        (:functions (total-cost) (way ?x ?y - top) - number)
        (:action put :parameters (?x ?y - top) :precondition (and (not (= ?x ?y)) (not (on ?x k)) (free))
          :effect (and (not (free)) (increase (total-cost) (way ?x ?y))))
        (:action drop :parameters (?x - a) :precondition (not (free)) :effect (and (free) (on ?x ?x)))
        (:action nothing :parameters () :effect (increase (total-cost) 0)))
        (define (problem p) (:domain all) (:objects x - a y - b)
        (:init (free) (= (way x y) 2) (= (way y x) 1) (= (way x k) 0) (= (way k x) 7) (= (way y k) 3) (= (way k y) 4))
        (:goal (and (on x x) (free) (not (on y x)))) (:metric minimize (total-cost)))"""
    )
    plan = solve(task, optimal=True)
    assert [str(a) for a in plan] == ["(put x k)", "(drop x)"] and plan.cost == 0 and validate(plan)
    assert read_task(write_domain(task.domain), write_problem(task)) == task
