"""Linear planning, goal by goal: the Sussman anomaly in numbers, and how it ends."""

import math
from dataclasses import replace
from itertools import permutations

import pytest
from support.planning_tasks import breadth_first, facts, fetch, operator, plan_of, sussman

import adjoint as aj
from adjoint.planning.goal_stacking import goal_stack_plan
from adjoint.planning.monitoring import triangle_table
from adjoint.planning.strips.task_types import Condition, Domain, Problem

BC, AB = ("on", "b", "c"), ("on", "a", "b")


@pytest.mark.parametrize(("order", "steps", "undone"), [((BC, AB), 14, 2), ((AB, BC), 10, 1)])
def test_sussman_anomaly(order, steps, undone):
    """Either order of the goals undoes what was done; the best plan has 6 actions."""
    found = goal_stack_plan(sussman(), order)
    assert found and len(found) == steps
    assert sum(len(step.undone) for step in found.trace) == undone
    assert [step.goal for step in found.trace][:2] == list(order)
    triangle_table(found.plan)  # it is valid
    assert len(breadth_first(sussman())) == 6


def test_order_of_the_problem_is_the_default():
    assert goal_stack_plan(sussman()).plan == goal_stack_plan(sussman(), [BC, AB]).plan


def test_each_goal_is_solved_by_a_best_plan_for_it_alone():
    for step in goal_stack_plan(sussman()).trace:
        assert len(step.plan) == len(breadth_first(step.plan.problem))


def test_independent_goals_come_in_any_order():
    task = fetch("d1 r1 r2, d2 r2 r3", "in rob r1, in b1 r2, in b2 r2", "in b1 r1, in b2 r3")
    for order in permutations(task.goal.facts):
        found = goal_stack_plan(task, order)
        assert found and not any(step.undone for step in found.trace)
        triangle_table(found.plan)


def test_print_explains_each_action():
    text = str(goal_stack_plan(sussman(), [AB, BC]))
    assert "(putdown c), since (handempty) is needed by (pickup a)" in text
    assert "  undoes (on a b)" in text and text.endswith("10 actions")
    assert repr(goal_stack_plan(sussman(), [AB, BC])) == "<GoalStackPlan of s: 10 actions; goals undone 1 time>"


def test_goals_that_undo_each_other_forever_end():
    """One lamp for two rooms: each goal alone is easy, and linear planning goes round in a circle."""
    move = operator("move", "?a:room ?b:room", "lamp ?a", "lamp ?b", "lamp ?a")
    domain = Domain("lamps", (move,), types={"room": "object"})
    task = Problem(
        "lamp", domain, {"r1": "room", "r2": "room"}, frozenset(facts("lamp r1")), Condition(facts("lamp r1, lamp r2"))
    )
    found = goal_stack_plan(task)
    assert not found and found.plan.reason == "the goals undo each other again and again"
    short = goal_stack_plan(replace(sussman()), max_rounds=1)
    assert not short and "after 1 round (max_rounds)" in short.plan.reason


def test_rounds_without_a_limit():
    assert goal_stack_plan(sussman(), max_rounds=math.inf).plan == goal_stack_plan(sussman()).plan
    with pytest.raises(aj.ArgumentError, match="max_seconds must be a number above 0"):
        goal_stack_plan(sussman(), max_seconds=10**400)


def test_absent_goals():
    task = replace(sussman(), goal=Condition((), facts("on c a")))
    found = goal_stack_plan(task)
    assert str(found.plan.actions[0]) == "(unstack c a)" and len(found) == 1


def test_impossible_goal():
    task = replace(sussman(), goal=Condition(facts("on a a")))
    found = goal_stack_plan(task)
    assert not found and "there is no plan for (on a a)" in found.plan.reason


def test_bad_order():
    for order in ([AB], 5, [5], [None], [AB, ("on", "b", 5)], "ab"):
        with pytest.raises(aj.ArgumentError, match="must have each goal once"):
            goal_stack_plan(sussman(), order)
    with pytest.raises(aj.ArgumentError, match="the plan is not valid"):
        triangle_table(plan_of(sussman(), "pickup b"))
