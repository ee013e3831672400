"""PDDL in and out: the tasks of the book, random tasks that are written and read again, generators and plans."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.errors import ArgumentError
from adjoint.planning.pddl import (
    BOOK_TASKS,
    blocks_task,
    book_task,
    book_text,
    delivery_task,
    hanoi_task,
    read_domain,
    read_plan,
    read_problem,
    read_task,
    write_domain,
    write_problem,
)
from adjoint.planning.strips.task_types import Condition, Domain, Operator, Parameter, Plan, Problem
from adjoint.program.instructions import Source

# ---- the tasks of the book, Fu, Gonzalez & Lee (1987)


def test_the_operators_of_blocks_are_those_of_the_book():
    """Sec. 10.6: what each operator of the hand needs, it deletes, but for CLEAR(x) of what is put down."""
    domain = book_task("blocks").domain
    pickup, putdown, stack, unstack = domain.operators
    assert [operator.name for operator in domain.operators] == ["pickup", "putdown", "stack", "unstack"]
    x, xy = (Parameter("?x", ("block",)),), (Parameter("?x", ("block",)), Parameter("?y", ("block",)))
    assert pickup.parameters == putdown.parameters == x and stack.parameters == unstack.parameters == xy
    assert set(pickup.needs.facts) == {("ontable", "?x"), ("clear", "?x"), ("handempty",)}
    assert set(stack.adds) == {("handempty",), ("on", "?x", "?y"), ("clear", "?x")}
    assert set(unstack.adds) == {("holding", "?x"), ("clear", "?y")}
    for operator in domain.operators:
        assert set(operator.deletes) == set(operator.needs.facts) and operator.cost == 1.0


def test_the_tasks_of_the_book_have_the_objects_and_facts_of_the_book():
    blocks, fetch, hanoi, monkey = map(book_task, BOOK_TASKS)
    assert blocks.objects == dict.fromkeys("abc", "block")
    facts = "clear b,clear c,on c a,ontable a,ontable b,handempty"
    assert blocks.initial == {tuple(fact.split()) for fact in facts.split(",")}
    assert blocks.goal == Condition((("on", "b", "c"), ("on", "a", "b"))) and not blocks.minimise
    assert monkey.all_objects == dict.fromkeys("cab", "pos") and monkey.objects == dict.fromkeys("ab", "pos")
    assert fetch.domain.types == {
        "thing": "object",
        "room": "object",
        "door": "object",
        "robot": "thing",
        "box": "thing",
    }
    assert fetch.domain.ancestors("box") == ("box", "thing", "object")
    assert fetch.objects_of(("thing",)) == ("rob", "b1")
    assert len(fetch.initial) == 6 and len(hanoi.initial) == 12 and set(hanoi.objects.values()) == {"object"}


BOOK_PLANS = {
    "blocks": "(unstack c a) (putdown c) (pickup b) (stack b c) (pickup a) (stack a b)",
    "fetch": "(gothru rob d1 r1 r2) (pushthru rob b1 d1 r2 r1)",
    "hanoi": "(move d1 d2 pb) (move d2 pa pc) (move d1 pb d2)",
    "monkey": "(goto a b) (pushbox b c) (climbbox c) (grasp)",
}


@pytest.mark.parametrize("name", BOOK_TASKS)
def test_the_plans_of_the_book_reach_the_goals(name):
    task = book_task(name)
    plan = read_plan(BOOK_PLANS[name].replace(") (", ")\n("), task)
    assert all(action.applies(state) for action, state in zip(plan, plan.states, strict=False))
    assert task.goal.holds(plan.states[-1]) and not any(map(task.goal.holds, plan.states[:-1]))


# ---- texts and files


def test_domain_and_problem_may_be_texts_files_or_data(tmp_path):
    whole = book_task("blocks")
    first, second = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    first.write_text(write_domain(whole.domain))
    second.write_text("\ufeff; a comment (with parentheses\n" + write_problem(whole), encoding="utf-8")
    for domain in (whole.domain, first, str(first), first.read_text(), book_text("blocks")):
        for problem in (whole, second, str(second), second.read_text(encoding="utf-8"), book_text("blocks")):
            assert read_task(domain, problem) == whole
    assert read_domain(first).source == Source(first.read_text(), str(first))
    assert read_domain(first.read_text(), name="mine").source == Source(first.read_text(), "mine")


def test_case_and_layout_do_not_matter():
    text = book_text("fetch")
    bare = "".join(line.partition(";")[0] + " " for line in text.splitlines())
    for other in (
        text.upper(),
        bare,
        bare.replace("(", "\n(\t").replace(")", " ) ; (end\r\n"),
        bare.replace("- ", "-"),
    ):
        assert read_task(other) == read_task(text)


def test_sections_may_stand_in_any_order():
    text = "(define (domain d) (:action a :effect (p k)) (:predicates (p ?x - t)) (:constants k - t) (:types t))"
    domain = read_domain(text)
    assert domain.operators[0].adds == (("p", "k"),) and domain.requirements == (":strips", ":typing")


@pytest.mark.parametrize("nothing", ["", ":precondition ()", ":precondition (and)", ":precondition (and (and) ())"])
def test_empty_conditions_ask_for_nothing(nothing):
    assert read_domain(f"(define (domain d) (:action a {nothing} :effect (and)))").operators == (Operator("a"),)


def test_conditions_and_effects_are_sorted_into_their_fields():
    text = """(define (domain d) (:predicates (p ?x) (q)) (:functions (total-cost) - number (price ?x) - number)
      (:action a :parameters (?x ?y)
       :precondition (and (p ?x) (and (not (q)) (= ?x ?y)) (not (= ?y ?x)) (p ?x))
       :effect (and (q) (and (not (p ?y))) (increase (total-cost) (price ?x))))
      (:action free))"""
    first, second = read_domain(text).operators
    assert first.needs == Condition((("p", "?x"),), (("q",),), (("?x", "?y"),), (("?y", "?x"),))
    assert (first.adds, first.deletes, first.cost) == ((("q",),), (("p", "?y"),), ("price", "?x"))
    assert second.cost == 0.0  # with total-cost an action without a cost is free
    needed = (":negative-preconditions", ":equality", ":action-costs")
    assert read_domain(text).requirements == (":strips", *needed)


def test_places_of_operators_are_in_the_source():
    for operator in book_task("monkey").domain.operators:
        piece = Source(book_text("monkey"))[operator.at]
        assert piece.startswith(f"(:action {operator.name}\n") and piece.count("(") == piece.count(")")


def test_either_takes_objects_of_each_type():
    text = """(define (domain d) (:types a b c - object aa - a)
       (:predicates (p ?x - (either a b)) (any ?x)) (:action go :parameters (?y - (either aa b)) :effect (p ?y)))
       (define (problem q) (:domain d) (:objects x - aa y - b z - c) (:init (p x) (p y) (any z)) (:goal (p x)))"""
    task = read_task(text)
    assert task.domain.predicates["p"] == (Parameter("?x", ("a", "b")),)
    assert task.objects_of(task.domain.operators[0].parameters[0].types) == ("x", "y")
    assert read_task(write_domain(task.domain), write_problem(task)) == task


def test_facts_that_are_not_true_may_be_said_at_first():
    text = book_text("blocks").replace("(on c a)", "(on c a) (not (on a c))")
    assert read_task(text).initial == book_task("blocks").initial


# ---- round trips

NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True).filter(
    lambda name: (
        name not in ("and", "or", "not", "imply", "forall", "exists", "when", "either", "define", "object")
        and name not in ("increase", "decrease", "assign")
    )
)
NUMBERS = st.integers(0, 9).map(float) | st.floats(0, 1e6, allow_subnormal=False)


@st.composite
def tasks(draw) -> Problem:
    """A random task of all that can be said."""
    kinds = draw(st.lists(NAMES, max_size=4, unique=True))
    types = {kind: draw(st.sampled_from(["object", *kinds[:k]])) for k, kind in enumerate(kinds)}
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    type_of = {name: draw(st.sampled_from(["object", *kinds])) for name in names}
    constants = {name: type_of[name] for name in names[: draw(st.integers(0, 2))]}
    unions = st.lists(st.sampled_from(["object", *kinds]), min_size=1, max_size=2, unique=True).map(tuple)

    def signature(most: int) -> tuple[Parameter, ...]:
        return tuple(Parameter(f"?v{k}", draw(unions)) for k in range(draw(st.integers(0, most))))

    predicates = {name: signature(2) for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))}
    counts = draw(st.booleans())
    functions = {"total-cost": (), "f": signature(2)} if counts else {}
    bare = Domain("d", (), predicates, types, constants, functions)

    def facts(table: dict, terms: dict, most: int) -> tuple:
        """Random facts of a table about terms that have the right types."""
        found = []
        for name in draw(st.lists(st.sampled_from(sorted(table)), max_size=most)):
            fits = [
                [term for term, ks in terms.items() if all(any(bare.is_a(k, t) for t in p.types) for k in ks)]
                for p in table[name]
            ]
            if all(fits):
                found.append((name, *(draw(st.sampled_from(terms)) for terms in fits)))
        return tuple(dict.fromkeys(found))

    def condition(terms: dict) -> Condition:
        wanted = facts(predicates, terms, 3)
        absent = tuple(fact for fact in facts(predicates, terms, 2) if fact not in wanted)
        return Condition(wanted, absent)

    operators = []
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        parameters = signature(3)
        terms = {name: (kind,) for name, kind in constants.items()} | dict(parameters)
        needs = condition(terms)
        if len(terms) > 1:
            pair = tuple(sorted(terms)[:2])
            needs = dataclasses.replace(needs, **{draw(st.sampled_from(["same", "different"])): (pair,)})
        priced = facts({"f": functions["f"]}, terms, 1) if counts else ()
        cost = priced[0] if priced else draw(NUMBERS) if counts else 1.0
        changes = facts(predicates, terms, 2), facts(predicates, terms, 2)
        operators.append(Operator(name, parameters, needs, *changes, cost))
    domain = dataclasses.replace(bare, operators=tuple(operators))
    domain = dataclasses.replace(domain, requirements=read_domain(write_domain(domain)).requirements)
    terms = {name: (kind,) for name, kind in type_of.items()}
    costs = {fact: draw(NUMBERS) for fact in facts({"f": functions["f"]}, terms, 3)} if counts else {}
    objects = {name: kind for name, kind in type_of.items() if name not in constants}
    initial = frozenset(facts(predicates, terms, 5))
    return Problem("p", domain, objects, initial, condition(terms), costs, minimise=counts and draw(st.booleans()))


@pytest.mark.slow
@given(tasks())
def test_random_tasks_are_the_same_after_writing_and_reading(task):
    domain, problem = write_domain(task.domain), write_problem(task)
    again = read_task(domain, problem)
    assert again == task and list(again.objects) == list(task.objects)
    assert read_task(domain + problem) == task
    assert (write_domain(again.domain), write_problem(again)) == (domain, problem)


def test_costs_bring_their_function_and_their_requirement():
    domain = Domain("d", (Operator("a", cost=2.5), Operator("b")))
    again = read_domain(write_domain(domain))
    assert [operator.cost for operator in again.operators] == [2.5, 1.0]
    assert again.functions == {"total-cost": ()} and again.requirements == (":strips", ":action-costs")
    assert write_domain(again) == write_domain(domain)


@pytest.mark.parametrize("name", ["Block", "block 1", "", "?x", "and", "3", "a)", "b;c"])
def test_names_that_pddl_has_not_are_refused(name):
    task = book_task("blocks")
    for wrong in (
        lambda: write_domain(dataclasses.replace(task.domain, predicates={name: ()})),
        lambda: write_domain(dataclasses.replace(task.domain, operators=(Operator(name),))),
        lambda: write_problem(dataclasses.replace(task, objects={name: "block"})),
    ):
        with pytest.raises(ArgumentError, match="is no name of PDDL; names have small letters"):
            wrong()


def test_variables_and_costs_that_pddl_has_not_are_refused():
    with pytest.raises(ArgumentError, match="variable 'xy' of 'a' must begin with '\\?'"):
        write_domain(Domain("d", (Operator("a", (Parameter("xy"),)),)))
    for cost in (-1.0, float("inf"), float("nan")):
        with pytest.raises(ArgumentError, match="PDDL has no cost"):
            write_domain(Domain("d", (Operator("a", cost=cost),)))


# ---- tasks of any size


def test_every_block_is_in_one_tower():
    for n in (1, 2, 7, 30):
        task = blocks_task(n)
        assert len(task.objects) == n and task.domain == book_task("blocks").domain
        for facts in (task.initial, set(task.goal.facts)):
            placed = [fact[1] for fact in facts if fact[0] in ("on", "ontable")]
            carrying = [fact[2] for fact in facts if fact[0] == "on"]
            assert sorted(placed) == sorted(task.objects) and len(set(carrying)) == len(carrying)
            below = {fact[1]: fact[2] for fact in facts if fact[0] == "on"}
            for block in task.objects:  # every tower ends on the table
                for _ in range(n):
                    block = below.get(block, block)
                assert ("ontable", block) in facts
        clear = {fact[1] for fact in task.initial if fact[0] == "clear"}
        assert clear == set(task.objects) - {fact[2] for fact in task.initial if fact[0] == "on"}


def test_large_tasks_are_the_same_after_writing_and_reading():
    task = blocks_task(1000)
    assert read_problem(write_problem(task), task.domain) == task


def test_random_tasks_depend_on_their_seed_alone():
    assert (
        blocks_task(8) == blocks_task(8, rng=0) == blocks_task(8, rng=np.random.default_rng(0)) != blocks_task(8, rng=1)
    )
    assert delivery_task(3, rng=4) == delivery_task(3, rng=4) != delivery_task(3, rng=5)


def moves(n: int, start: str, to: str, over: str):
    """(disc, peg it leaves, peg it comes to) of the well-known recursion."""
    if n:
        yield from moves(n - 1, start, over, to)
        yield f"d{n}", start, to
        yield from moves(n - 1, over, to, start)


@pytest.mark.parametrize("n", range(1, 7))
def test_hanoi_has_its_plan_of_two_to_the_n_less_one_moves(n):
    task = hanoi_task(n)
    state, count = task.initial, 0
    pegs = {"pa": ["pa", *(f"d{k}" for k in range(n, 0, -1))], "pb": ["pb"], "pc": ["pc"]}
    for disc, start, to in moves(n, "pa", "pc", "pb"):
        action = task.action("move", pegs[start].pop(), pegs[start][-1], pegs[to][-1])
        assert action.arguments[0] == disc and action.applies(state)
        pegs[to].append(disc)
        state, count = action.result(state), count + 1
    assert task.goal.holds(state) and count == 2**n - 1
    assert dataclasses.replace(hanoi_task(2), name="h") == book_task("hanoi")


def test_deliveries_have_ways_that_no_detour_shortens():
    task = delivery_task(4, 5, 2)
    places = task.objects_of(("place",))
    way = np.array([[task.costs["distance", a, b] for b in places] for a in places])
    assert (way == way.T).all() and (way[:, :, None] <= way[:, None, :] + way.T[None]).all()
    assert len(task.objects_of(("truck",))) == 2 and len(task.goal.facts) == 4
    drive = task.action("drive", "truck1", places[0], places[1])
    assert task.step_cost(drive) == way[0, 1] and drive.applies(task.initial)
    assert not task.action("drive", "truck1", places[0], places[0]).applies(task.initial)


@pytest.mark.parametrize("make", [blocks_task, hanoi_task, delivery_task])
@pytest.mark.parametrize("size", [0, -1, 2.5, "three", 10**9])
def test_sizes_that_are_none_are_refused(make, size):
    with pytest.raises(ArgumentError, match=f"{make.__name__}: the number of .* must be between 1 and 10000"):
        make(size)
    with pytest.raises(ArgumentError, match=r"the book has no task 'hannoi'; did you mean 'hanoi'\?"):
        book_task("hannoi")


def test_tasks_made_in_python_can_be_read_when_they_are_written():
    """They may have no predicates, and may minimise costs that are all 1; what cannot be read again is refused."""
    x = Parameter("?x")
    go = Operator("go", (x,), adds=(("at", "?x"),))
    task = Problem("t", Domain("d", (go,)), {"o": "object"}, frozenset(), Condition((("at", "o"),)), minimise=True)
    again = read_task(write_domain(task.domain), write_problem(task))
    assert again.domain.operators == (go,) and list(again.domain.predicates) == ["at"] and again.goal == task.goal
    assert not again.minimise  # all cost 1, so the number of actions is what counts
    dear = dataclasses.replace(task, domain=Domain("d", (dataclasses.replace(go, cost=2.0),)))
    again = read_task(write_domain(dear.domain), write_problem(dear))
    assert again.minimise and again.domain.operators[0].cost == 2
    for goal, words in ((("at", "ü"), "there is no object 'ü'"), (("on", "o"), "there is no predicate 'on'")):
        with pytest.raises(ArgumentError, match=words):
            write_problem(dataclasses.replace(task, goal=Condition((goal,))))


# ---- plans


def test_plans_are_read_as_they_are_written():
    task = delivery_task(1)
    (goal,) = task.goal.facts
    steps = ("load", "parcel1", "truck1", "home"), ("drive", "truck1", "home", goal[2])
    plan = Plan(task, tuple(task.action(*step) for step in (*steps, ("unload", "parcel1", "truck1", goal[2]))))
    again = read_plan(plan.text, task)
    assert again == plan and again.cost == 2 + task.costs["distance", "home", goal[2]]
    assert task.goal.holds(again.states[-1])


def test_plans_of_validators_have_times_and_comments():
    task = book_task("blocks")
    text = (
        "; found by a planner\n\n  1.001: (PUTDOWN C) [1]\n0.000: (unstack c a) [1.000] ; first\r\n2 : ( pickup  b )\n"
    )
    assert [str(action) for action in read_plan(text, task)] == ["(unstack c a)", "(putdown c)", "(pickup b)"]
    assert len(read_plan("; cost = 0 (unit cost)\n", task)) == 0
    assert [str(x) for x in read_plan("0: (putdown a)\n0: (putdown b)", task)] == ["(putdown a)", "(putdown b)"]


def test_a_plan_may_be_read_that_does_not_apply():
    plan = read_plan("(putdown c)", book_task("blocks"))
    assert not plan.actions[0].applies(plan.problem.initial)
