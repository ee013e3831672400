"""Planning with odd input: tasks that cannot be, huge ones, budgets, other arguments; all end, and tell why."""

import math
import time
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import adjoint as aj
from adjoint.planning import (
    AndOrProblem,
    Condition,
    Difference,
    DifferenceTable,
    Domain,
    Operator,
    Parameter,
    Plan,
    Problem,
    SearchProblem,
    a_star,
    all_optimal_plans,
    and_or_example,
    anytime_a_star,
    ao_star,
    bar_path,
    bidirectional,
    blocks_task,
    book_task,
    breadth_first,
    count_optimal_plans,
    depth_first,
    difference_table,
    explicit_graph,
    find_landmarks,
    goal_stack_plan,
    greedy_best_first,
    ground,
    iterative_deepening,
    means_ends,
    missionaries_and_cannibals,
    monkey_task,
    moving_blocks,
    reachable_states,
    read_plan,
    read_task,
    solve,
    together,
    tower_of_hanoi,
    uniform_cost,
    validate,
    weighted_a_star,
)
from adjoint.program import ProgramError

BLOCKS = book_task("blocks")


def task(actions: str, objects: str = "o", init: str = "", goal: str = "(g)", more: str = "") -> Problem:
    """A task of predicates (g), (p ?x), (e ?x ?y), with the costs total-cost and (w ?x)."""
    domain = f"(define (domain d) (:predicates (g) (p ?x) (e ?x ?y)) (:functions (total-cost) (w ?x)) {actions})"
    problem = f"(define (problem t) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}) {more})"
    return read_task(f"{domain}\n{problem}")


def names(stem: str, count: int) -> str:
    return " ".join(f"{stem}{k}" for k in range(count))


# --- tasks that are no tasks ------------------------------------------------------------------------------------------


def test_types_above_themselves_are_refused():
    circle = replace(BLOCKS, domain=replace(BLOCKS.domain, types={"block": "x", "x": "block"}))
    with pytest.raises(aj.ArgumentError, match="the type 'block' is above itself"):
        solve(circle)


def test_operators_need_names_of_their_own():
    with pytest.raises(aj.ArgumentError, match="two operators 'go'"):
        Domain("d", (Operator("go"), Operator("go", adds=(("g",),))))


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf])
def test_costs_that_are_none_are_refused(cost):
    operators = tuple(replace(operator, cost=cost) for operator in BLOCKS.domain.operators)
    odd = replace(BLOCKS, minimise=True, domain=replace(BLOCKS.domain, operators=operators))
    with pytest.raises(aj.ArgumentError, match="must be a number, 0 or more"):
        solve(odd)


def test_equalities_of_goals_count():
    clear = (("clear", "c"),)
    assert solve(replace(BLOCKS, goal=Condition(clear, same=(("a", "a"),), different=(("a", "b"),))))
    assert solve(replace(BLOCKS, goal=Condition(clear, same=(("a", "b"),)))).reason == "(= a b) can never become true"
    assert "not (= a a)" in solve(replace(BLOCKS, goal=Condition(clear, different=(("a", "a"),))), optimal=True).reason


GO = "(:action go :parameters (?x) :precondition (p ?x) :effect (and (g) (increase (total-cost) (w ?x))))"


def test_a_cost_without_a_value_matters_only_where_costs_count():
    free = task(GO, init="(p o)")
    plan = solve(free)
    assert [str(a) for a in plan] == ["(go o)"] and plan.cost == 1 and validate(plan)
    assert read_plan(plan.text, free).actions == plan.actions
    counted = replace(free, minimise=True)
    for use in (lambda: solve(counted), lambda: validate(["(go o)"], counted), lambda: counted.action("go", "o")):
        with pytest.raises(aj.ArgumentError, match=r"no number for \(w o\), the cost of \(go o\)"):
            use()
    with pytest.raises(ProgramError, match=r"the cost \(w o\) of this action has no value"):
        read_plan("(go o)", counted)


def test_facts_that_are_added_and_deleted_are_true_afterwards():
    both = task("(:action go :parameters (?x) :precondition (p ?x) :effect (and (p ?x) (not (p ?x)) (g)))",
                init="(p o)", goal="(and (g) (p o))")  # fmt: skip
    assert len(solve(both)) == len(solve(both, optimal=True)) == 1 and validate(solve(both))
    gone = replace(both, goal=Condition((("g",),), (("p", "o"),)))
    assert not solve(gone) and not validate(["(go o)"], gone)


# --- huge tasks -------------------------------------------------------------------------------------------------------

CHAIN = " ".join(f"(e ?x{k} ?x{k + 1})" for k in range(8))
HUGE = {
    "any objects": task(f"(:action go :parameters ({names('?x', 8)}) :effect (p ?x0))", names("o", 30)),
    "equal objects": task(
        f"(:action go :parameters ({names('?x', 8)}) :precondition (and (= ?x0 ?x1) (= ?x6 ?x7)) :effect (g))",
        names("o", 30), goal="(p o1)",
    ),
    "long joins": task(
        f"(:action go :parameters ({names('?x', 9)}) :precondition (and {CHAIN} (p ?x0) (p ?x8)) :effect (g))"
        "(:action make :parameters (?x) :precondition (e ?x ?x) :effect (p ?x))",
        names("o", 30), " ".join(f"(e o{i} o{j})" for i in range(30) for j in range(30) if i != j) + "(p o1)",
        goal="(p o2)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("optimal", [False, True])
def test_grounding_keeps_to_its_time(name, optimal):
    began = time.perf_counter()
    plan = solve(HUGE[name], optimal=optimal, max_seconds=0.1)
    assert not plan and ("0.1 seconds" in plan.reason or "never" in plan.reason)
    assert time.perf_counter() - began < 5  # not a claim of speed: without a limit it takes years


@pytest.mark.slow
def test_searches_for_best_plans_keep_to_their_time():
    """Pairs of facts and estimates of a large task take far longer than the time that is given."""
    began = time.perf_counter()
    assert solve(blocks_task(80), optimal=True, max_seconds=1).reason == "the limit of 1 seconds was reached"
    assert time.perf_counter() - began < 10
    with pytest.raises(aj.SolveError, match="not known after 0 seconds"):
        together(ground(BLOCKS), max_seconds=0)


@pytest.mark.slow
def test_operators_with_very_many_conditions():
    facts = [(f"p{k}",) for k in range(1200)]
    go = Operator("go", (), Condition(tuple(facts)), adds=(("g",),))
    wide = Problem("wide", Domain("d", (go,)), {}, frozenset(facts), Condition((("g",),)))
    assert len(solve(wide)) == 1
    assert not solve(replace(wide, initial=frozenset(facts[1:])))


def test_what_a_search_knows_when_its_time_is_over_is_right():
    """Successors that were not made before the end are still open: the bound does not promise more than is known."""

    def slow(n):
        time.sleep(0.01)
        return 0.0

    steps = SearchProblem(0, lambda n: range(1, 30), lambda n, a: n + a, lambda n: n >= 60, lambda n, a: 1.0 / a, slow)
    last = list(anytime_a_star(steps, max_seconds=0.15))[-1]
    assert "0.15 seconds" in last.reason and (not last or last.bound > 1)


def test_arcs_of_infinite_cost_lead_nowhere():
    graph = explicit_graph({"s": {"a": 1, "b": math.inf, "g": math.inf}, "a": {"g": 1, "s": math.inf}}, "s", "g")
    assert count_optimal_plans(graph) == 1 and a_star(graph).cost == 2


def test_means_ends_analysis_keeps_to_its_time():
    actions = (
        f"(:action go :parameters ({names('?x', 6)}) :precondition (and (p ?x0) (p ?x5)) :effect (g))"
        "(:action make :parameters (?x ?y) :precondition (e ?x ?y) :effect (p ?x))"
    )
    wide = task(actions, names("o", 40))
    found = means_ends(wide, difference_table(wide.domain, "g", "p"), max_seconds=0.1)
    assert not found and found.reason


def test_goal_stacking_ends_with_actions_that_nothing_needs():
    free = tuple(replace(operator, cost=0.0) for operator in BLOCKS.domain.operators)
    for seed in range(5):
        problem = blocks_task(4, rng=seed)
        odd = replace(problem, minimise=True, domain=replace(problem.domain, operators=free))
        found = goal_stack_plan(odd)
        assert str(found) and (validate(found.plan) if found else found.plan.reason)
    assert "seconds" in goal_stack_plan(blocks_task(8), max_seconds=1e-9).plan.reason
    assert str(goal_stack_plan(replace(BLOCKS, goal=Condition()))) == "0 actions"


# --- arguments of other kinds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: validate("(unstack c a)", BLOCKS), "a list of actions, got str; read_plan"),
        (lambda: validate(5, BLOCKS), "a list of actions, got int"),
        (lambda: validate([5], BLOCKS), "5 is no action"),
        (lambda: BLOCKS.action("stack", "a"), "'stack' takes 2 objects, not 1"),
        (lambda: solve(BLOCKS, heuristic=["ff"]), "is a name, one of lm_cut"),
        (lambda: ground(BLOCKS, max_actions="many"), "max_actions must be a number above 0"),
        (lambda: goal_stack_plan(3), "must be a Problem, got int"),
        (lambda: goal_stack_plan(BLOCKS, max_rounds="x"), "max_rounds must be a number above 0"),
        (lambda: a_star(3), "must be a SearchProblem, got int"),
        (lambda: a_star(SearchProblem(0, lambda n: None, lambda n, a: n, lambda n: False)), "actions of state 0"),
        (lambda: explicit_graph([1], "s", "g"), "arcs must be"),
        (lambda: explicit_graph({"s": {"g": 1}}, ["s"], "g"), "must be hashable"),
        (lambda: ao_star(3), "must be an AndOrProblem, got int"),
        (lambda: ao_star(and_or_example(1), "much"), "futility must be a number"),
        (lambda: ao_star(AndOrProblem(1, lambda n: 3, lambda n: False)), "must be a list of pairs"),
        (lambda: AndOrProblem(1, {}, lambda n: True), "arcs must be a function"),
        (lambda: ao_star(AndOrProblem(1, lambda n: np.array([1, 2]), lambda n: False)), "ao_star: arcs of 1 must be"),
        (
            lambda: ao_star(AndOrProblem(1, lambda n: [(None, (2,))], lambda n: False)),
            "ao_star: the cost of an arc of 1",
        ),
        (lambda: ao_star(AndOrProblem(1, lambda n: [(1, ([],))], lambda n: False)), "ao_star: states must be hashable"),
        (lambda: reachable_states(None), "reachable_states: the problem must be a SearchProblem"),
        (lambda: reachable_states(steps(), math.nan), "reachable_states: max_states must be a number above 0"),
        (lambda: reachable_states(steps(actions=lambda n: None)), "reachable_states: actions of state 0 must be"),
        (lambda: all_optimal_plans(steps(), -1), "all_optimal_plans: most must be a number above 0"),
        (lambda: weighted_a_star(steps(), 10**400), "weighted_a_star: weight must be a number >= 1"),
        (lambda: a_star(steps(), max_seconds=10**400), "a_star: max_seconds must be a number >= 0"),
        (lambda: explicit_graph({"s": {"g": 1}}, "s", "g", h=[1]), "explicit_graph: h must be"),
        (lambda: steps(goals=5), "goals must be a tuple of states, got 5"),
        (lambda: steps(predecessors=5), "predecessors must be a function"),
        (lambda: tower_of_hanoi("3"), "tower_of_hanoi: discs must be a whole number"),
        (lambda: tower_of_hanoi(2.5), "tower_of_hanoi: discs must be a whole number"),
        (lambda: missionaries_and_cannibals("a"), "people must be a whole number"),
        (lambda: moving_blocks(None), "moving_blocks: start must be a str, got NoneType"),
        (lambda: bar_path(5), "bar_path: blocked must be cells"),
        (lambda: DifferenceTable((5,)), "each of the rows must be a Difference, got int"),
        (lambda: means_ends(3, 4), "must be a Problem, got int"),
        (lambda: means_ends(monkey_task()[0], 4), "must be a DifferenceTable, got int"),
        (lambda: means_ends(*monkey_task(), max_depth="deep"), "max_depth must be 1 to 200"),
        (lambda: means_ends(*monkey_task(), max_seconds=0), "max_seconds must be a number above 0"),
        (lambda: difference_table(3), "must be a Domain, got int"),
        (lambda: difference_table(book_task("blocks").domain, ["on"]), "no operator changes"),
        (lambda: DifferenceTable((Difference("n", None, ("pickup",)),)), "the fact of row .n. is None"),
        (lambda: steps(cost=1), "cost must be a function of a state and an action, got int"),
        (lambda: solve(BLOCKS, heuristic=ground), "'heuristic' is a name, one of lm_cut, max"),
        (lambda: solve("blocks"), r"book_task\(name\) gives a task of the textbook"),
        (lambda: replace(BLOCKS, goal=None), "problem 's': goal must be a Condition, got NoneType"),
        (lambda: solve(replace(BLOCKS, goal=Condition(None))), "goal.facts must be a Collection, got NoneType"),
        (lambda: replace(BLOCKS, objects=["a"]), "problem 's': objects must be a Mapping, got list"),
        (lambda: Domain("d", ("go",)), "domain 'd': each of the operators must be an Operator, got str"),
        (lambda: Domain("d", None), "domain 'd': operators must be a tuple, got NoneType"),
        (lambda: Domain("d", (), types=["x"]), "domain 'd': types must be a Mapping, got list"),
        (lambda: Operator("g", ("?a",)), "operator 'g': each of the parameters must be a Parameter, got str"),
        (lambda: Plan(BLOCKS, ("(unstack c a)",)), "Plan: each of the actions must be an Action, got str"),
        (lambda: BLOCKS.action([3]), "has no operator"),
        (lambda: find_landmarks(ground(BLOCKS), max_seconds="x"), "find_landmarks: max_seconds must be a number >= 0"),
        (lambda: solve(BLOCKS, max_seconds=True), "solve: max_seconds must be a number >= 0, got True"),
        (lambda: means_ends(*monkey_task(), max_depth=True), "max_depth must be 1 to 200, got True"),
    ],
)
def test_arguments_of_other_kinds_are_named(call, message):
    with pytest.raises(aj.ArgumentError, match=message):
        call()


X = Parameter("?x", ("block",))


@pytest.mark.parametrize(
    "operator, message",
    [
        (Operator("g", (X,), Condition(same=(("?x", "?x", "?x"),))), "needs.same has .*; a pair such as"),
        (Operator("g", (X,), Condition(different=(("?x", "?q"),))), r"\?q is none of its variables"),
        (Operator("g", (X,), adds=(("on", "?x", "zz"),)), "operator 'g': there is no object 'zz'; there are a, b, c"),
        (Operator("g", (X,), cost=("far", "?y")), r"\?y is none of its variables"),
        (Operator("g", (X,), cost=("far", 3)), "cost has .*; a fact is a tuple"),
        (Operator("g", (X,), adds=(("not", "?x"),)), "'not' is no predicate"),
        (Operator("g", (X,), adds=None), "adds must be a Collection, got NoneType"),
    ],
)
def test_operators_speak_of_what_there_is(operator, message):
    with pytest.raises(aj.ArgumentError, match=message):
        solve(replace(BLOCKS, domain=replace(BLOCKS.domain, operators=(*BLOCKS.domain.operators, operator))))


def test_types_stand_below_types_that_there_are():
    with pytest.raises(aj.ArgumentError, match="type 'block' is below 'thng', which the domain does not have"):
        solve(replace(BLOCKS, domain=replace(BLOCKS.domain, types={"block": "thng"})))


def test_goals_that_are_true_need_no_actions_however_many_there_are():
    """The operator stands for 30^8 actions."""
    many = Operator("g", tuple(Parameter(f"?x{k}") for k in range(8)), adds=(("z", "?x0"),))
    objects = {f"o{k}": "object" for k in range(30)}
    done = Problem("b", Domain("d", (many,)), objects, frozenset({("y", "o1")}), Condition((("y", "o1"),)))
    plan = solve(done)
    assert plan and len(plan) == 0 and plan.statistics["ground_actions"] == 0
    with pytest.raises(aj.ArgumentError, match="there is no object 'o99'"):
        solve(replace(done, initial=done.initial | {("y", "o99")}))


def test_goals_that_compare_names_are_true_or_never():
    clear = (("clear", "c"),)
    never = replace(BLOCKS, goal=Condition(clear, same=(("a", "b"),)))
    found = means_ends(never, difference_table(never.domain))
    assert not found and found.plan.reason == "(= a b) can never become true"
    assert goal_stack_plan(never).plan.reason == "(= a b) can never become true"
    always = replace(BLOCKS, goal=Condition(clear, same=(("a", "a"),), different=(("a", "b"),)))
    assert means_ends(always, difference_table(always.domain)) and goal_stack_plan(always)


def test_a_stack_of_goals_tells_that_its_time_was_over():
    reason = goal_stack_plan(BLOCKS, max_seconds=1e-6).plan.reason
    assert reason.startswith("the limit of 1e-06 seconds was reached, at (on")


def steps(**parts) -> SearchProblem:
    """From 0 to 3, with steps of 1 and of 2 that other functions may take the place of."""
    functions = {"actions": lambda n: (1, 2), "result": lambda n, a: n + a, "is_goal": lambda n: n == 3}
    return SearchProblem(0, **{**functions, **parts})


SEARCHES = (breadth_first, depth_first, iterative_deepening, uniform_cost, greedy_best_first, a_star, weighted_a_star,
            count_optimal_plans)  # fmt: skip


@pytest.mark.parametrize("search", SEARCHES)
def test_what_functions_of_a_problem_give_is_checked(search):
    for cost in (None, "3", -1, math.nan, Decimal("nan"), 10**400, np.array([1, 2])):
        with pytest.raises(aj.ArgumentError, match=f"{search.__name__}: the cost of action . in state . must be"):
            search(steps(cost=lambda n, a, cost=cost: cost))
    for cost in (1, 0.5, Decimal("0.5"), Fraction(1, 2), np.float64(2)):
        assert search(steps(cost=lambda n, a, cost=cost: cost))
    with pytest.raises(aj.ArgumentError, match=f"{search.__name__}: is_goal of state 0 must be True or False"):
        search(steps(is_goal=lambda n: np.array([True, False])))
    with pytest.raises(aj.ArgumentError, match=f"{search.__name__}: the result of action 1 in state 0: states must be"):
        search(steps(result=lambda n, a: [n]))
    if search in (a_star, weighted_a_star, greedy_best_first):
        with pytest.raises(aj.ArgumentError, match=f"{search.__name__}: h of state 0 must be a number >= 0"):
            search(steps(h=lambda n: np.array([1, 2])))


def test_predecessors_are_pairs():
    def both(before):
        return bidirectional(steps(goals=(3, 3), predecessors=before, actions=lambda n: (1, 2)[: 3 - n]))

    assert both(lambda n: [(n - a, a) for a in (1, 2) if n >= a]).cost == 2
    for wrong in ([1], [(1, 2, 3)], [None], None, 5):
        with pytest.raises(aj.ArgumentError, match="bidirectional: predecessors of 3 must be pairs"):
            both(lambda n, wrong=wrong: wrong)


def test_names_with_large_letters_are_found():
    large = replace(
        BLOCKS,
        objects={"A": "block"},
        initial=frozenset({("clear", "A"), ("ontable", "A"), ("handempty",)}),
        goal=Condition((("holding", "A"),)),
    )
    for action in ("(pickup A)", "(PICKUP A)", ("pickup", "A")):
        assert validate([action], large)
    assert validate(["(UNSTACK C A)"], replace(BLOCKS, goal=Condition((("holding", "c"),))))
