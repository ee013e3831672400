"""Grounding: what can never be true, what needs too much memory, and tasks made in Python that are wrong."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from adjoint.errors import ArgumentError, SolveError
from adjoint.planning import (
    Condition,
    Domain,
    Operator,
    Parameter,
    Problem,
    book_task,
    exclusive_goals,
    find_landmarks,
    ground,
    h_add,
    h_ff,
    h_max,
    lm_cut,
    read_task,
    relaxed_plan,
    solve,
    to_unified_planning,
    together,
    validate,
    write_domain,
)

LOCKED = """(define (domain d) (:requirements :strips :negative-preconditions) (:predicates (locked) (key) (opened))
 (:action make :precondition (not (locked)) :effect (key))
 (:action open :precondition (key) :effect (opened)))
(define (problem p) (:domain d) (:init (locked)) (:goal (opened)))"""


def test_what_only_impossible_actions_give_is_never_true():
    """(make) needs the absence of what is true forever, so (key) never comes, and nothing can be opened."""
    for options in ({}, {"optimal": True}, {"heuristic": "ff"}):
        plan = solve(LOCKED, **options)
        assert not plan and plan.reason == "(opened) can never become true"
    task = ground(read_task(LOCKED))
    assert task.calls == () and task.impossible == (("opened",),) and not task.is_goal(task.initial)
    assert {h(task, task.initial) for h in (h_max, h_add, h_ff, lm_cut)} == {math.inf}
    assert exclusive_goals(task) == (("opened",),)


def test_tasks_that_need_too_much_memory_are_refused():
    """100 x 100 x 100 places of three things: a million actions, each with masks of a million facts."""
    things, x = [f"o{k}" for k in range(50)], tuple(Parameter(f"?{n}") for n in "abc")
    fact = ("at", *(p.name for p in x))
    put = Operator("put", x, adds=(fact,))
    back = Operator("back", x, Condition((fact,)), deletes=(fact,))
    domain = Domain("many", (put, back), {"at": x})
    task = Problem("many", domain, dict.fromkeys(things, "object"), frozenset(), Condition((("at", "o1", "o2", "o3"),)))
    with pytest.raises(SolveError, match="250000 actions and 125000 facts, which need too much memory"):
        ground(task)


def test_arguments_that_are_no_tasks_or_states_are_named():
    blocks = book_task("blocks")
    task = ground(blocks)
    for h in (h_max, h_add, h_ff, lm_cut, relaxed_plan):
        with pytest.raises(ArgumentError, match="the task must be a GroundTask, got Problem"):
            h(blocks, 0)
        for state in (-1, 1 << 99, blocks.initial):
            with pytest.raises(ArgumentError, match="a state of this task is a whole number of"):
                h(task, state)
    for function in (find_landmarks, together, exclusive_goals):
        with pytest.raises(ArgumentError, match="the task must be a GroundTask, got Problem"):
            function(blocks)
    for call in (lambda: ground(blocks, max_seconds=math.nan), lambda: together(task, max_seconds="x")):
        with pytest.raises(ArgumentError, match="max_seconds must be a number >= 0"):
            call()
    with pytest.raises(ArgumentError, match="write_domain: the argument must be a Domain, got Problem"):
        write_domain(blocks)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goal": Condition(("on", "a", "b"))}, r"problem 's': goal.facts has 'on'; a fact is a tuple"),
        ({"goal": Condition((("onn", "a", "b"),))}, r"the goal has \(onn a b\); there is no predicate 'onn'; did you"),
        ({"goal": Condition((("on", "a"),))}, r"the goal has \(on a\), with 1 object; 'on' takes 2"),
        ({"goal": Condition((), (("on", "a", "q"),))}, r"the goal has \(on a q\); there is no object 'q'"),
        ({"initial": frozenset({("on", "a")})}, r"initial has \(on a\), with 1 object; 'on' takes 2"),
        ({"initial": frozenset({("on", "a", "zz")})}, r"initial has \(on a zz\); there is no object 'zz'"),
        ({"initial": frozenset({("onn", "a", "b")})}, r"initial has \(onn a b\); there is no predicate 'onn'"),
        ({"initial": frozenset({("on", 3, "b")})}, r"initial has \('on', 3, 'b'\)"),
        ({"objects": {"a": "blok"}}, "'a' is of type 'blok', which the domain does not have; did you mean 'block'"),
    ],
)
def test_tasks_made_in_python_are_checked(change, message):
    with pytest.raises(ArgumentError, match=message):
        solve(replace(book_task("blocks"), **change))


def test_actions_have_objects_that_exist_and_fit():
    blocks = book_task("blocks")
    for arguments, words in ((("z",), "there is no object 'z'"), ((1,), "there is no object '1'"), ((), "takes 1 obj")):
        with pytest.raises(ArgumentError, match=f"an action of 'pickup' is not possible: .*{words}"):
            blocks.action("pickup", *arguments)
    with pytest.raises(ArgumentError, match=r"'b1' is no room, which .* must be"):
        book_task("fetch").action("gothru", "rob", "d1", "b1", "r1")
    away = replace(blocks, goal=Condition((("on", "a", "b"),), (("clear", "a"),)))
    assert "goal (on a b) not (clear a)" in repr(away)


def test_operators_made_in_python_are_checked():
    x, block = Parameter("?x"), Parameter("?x", "block")
    for operator, message in (
        (Operator("go", (x, x)), r"operator 'go' has a variable twice: \?x \?x"),
        (Operator("go", (x,), adds=(("at", "?y"),)), r"operator 'go': \?y is none of its variables"),
        (Operator("go", (block,)), r"the types of \?x must be a tuple"),
        (Operator("go", (x,), cost=None), "the cost must be a number or a fact"),
    ):
        task = Problem("p", Domain("d", (operator,)), {}, frozenset(), Condition())
        with pytest.raises(ArgumentError, match=message):
            ground(task)


def test_fractional_costs_reach_unified_planning():
    task = read_task("""(define (domain d) (:requirements :action-costs) (:predicates (g)) (:functions (total-cost))
     (:action a :effect (and (g) (increase (total-cost) 0.5))))
    (define (problem p) (:domain d) (:init) (:goal (g)) (:metric minimize (total-cost)))""")
    (cost,) = to_unified_planning(task).quality_metrics[0].costs.values()
    assert cost.constant_value() == 0.5 and solve(task, optimal=True).cost == 0.5


def test_facts_in_every_order_are_joined_without_all_pairs():
    """Of conditions with one open variable, that which shares a bound one comes first: 600 roads, not 600² pairs."""
    places = [f"p{k}" for k in range(600)]
    facts = {("place", p) for p in places} | {("road", a, b) for a, b in pairwise(places)}
    go = Operator(
        "go", (Parameter("?a"), Parameter("?b")),
        Condition((("place", "?a"), ("place", "?b"), ("at", "?a"), ("road", "?a", "?b"))),
        adds=(("at", "?b"),), deletes=(("at", "?a"),),
    )  # fmt: skip
    goal = Condition((("at", places[-1]),))
    trip = Problem(
        "trip", Domain("map", (go,)), dict.fromkeys(places, "object"), frozenset({("at", "p0"), *facts}), goal
    )
    assert len(ground(trip, max_seconds=5.0).calls) == 599
    assert validate(solve(trip))
