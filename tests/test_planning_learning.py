"""Schemata and macros: Fig. 10.18, schemata that hold for all objects they allow, and macros that equal their steps."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.planning_tasks import (
    BLOCKS,
    book_fetch_plan,
    breadth_first,
    facts,
    fetch,
    fetch_plan,
    operator,
    plan_of,
    sussman,
    sussman_plan,
)  # fmt: skip

import adjoint as aj
from adjoint.planning.learning import (
    MacroStore,
    MacroUse,
    PlanSchema,
    expand,
    generalise,
    instantiate,
    learn_differences,
    macro_operator,
    relevant_part,
    with_macros,
)  # fmt: skip
from adjoint.planning.learning.matching import bound_condition
from adjoint.planning.learning.plan_schemas import types_meet
from adjoint.planning.monitoring import monitor, triangle_table
from adjoint.planning.search import Difference, DifferenceTable
from adjoint.planning.strips.task_types import Condition, Domain, Operator, Parameter, Plan, Problem
from adjoint.planning.validation import validate

SEEDS = st.integers(0, 2**32 - 1)


def same_up_to_names(found: list, wanted: list) -> bool:
    """Whether two lists of tuples of words become equal by renaming words that begin with "?" one to one."""
    there, back = {}, {}
    for a, b in zip((x for f in found for x in f), (x for f in wanted for x in f), strict=True):
        if a.startswith("?") != b.startswith("?") or there.setdefault(a, b) != b or back.setdefault(b, a) != a:
            return False
        if not a.startswith("?") and a != b:
            return False
    return True


def test_generalised_plan_of_the_box():
    """Fig. 10.18: go to a neighbouring room, push the box on to a third one, maybe; ROBOT stays."""
    schema = generalise(book_fetch_plan())
    steps = [(step.name, *step.arguments) for step in schema.steps]
    assert same_up_to_names(
        [*steps, *schema.needs.facts, *schema.goal.facts],
        [("gothru", "?p3", "?p2", "?p5"), ("pushthru", "?p6", "?p8", "?p5", "?p9"),
         ("inroom", "ROBOT", "?p2"), ("connects", "?p3", "?p2", "?p5"),
         ("inroom", "?p6", "?p5"), ("connects", "?p8", "?p5", "?p9"), ("inroom", "?p6", "?p9")],
    )  # fmt: skip
    cells = {place: len(literals) for place, literals in schema.table.cells.items()}
    assert cells == {(1, 0): 2, (2, 0): 2, (2, 1): 1, (3, 2): 1}
    assert schema.table.surviving[3, 2] == (("inroom", "ROBOT", "?b2"), ("inroom", "?x", "?b2"))
    # If the box were the robot, step 1 would take it out of its room: the print lacks this.
    assert schema.needs.different == (("?x", "ROBOT"),)


def test_types_exclude_what_must_differ():
    schema = generalise(fetch_plan())
    assert schema.needs.different == ()
    assert {p.name: p.types for p in schema.parameters} == {
        "?k": ("robot",), "?d": ("door",), "?a": ("room",), "?b": ("room",), "?x": ("box",),
        "?d2": ("door",), "?b2": ("room",),
    }  # fmt: skip
    assert schema.example == {"?k": "rob", "?d": "d1", "?a": "r1", "?b": "r2", "?x": "b1", "?d2": "d1", "?b2": "r1"}


def test_blocks_that_must_differ():
    schema = generalise(sussman_plan())
    assert [str(step) for step in schema.steps] == [
        "(unstack ?x ?y)", "(putdown ?x)", "(pickup ?x2)", "(stack ?x2 ?x)", "(pickup ?y)", "(stack ?y ?x2)",
    ]  # fmt: skip
    assert set(schema.needs.different) == {("?x", "?y"), ("?x", "?x2"), ("?y", "?x2")}


def random_walk(rng: np.random.Generator, length: int) -> Plan:
    """A plan of the random operators below, whose goal is a part of its last state."""
    domain = random_domain(rng)
    objects = {"a": "left", "b": "left", "c": "right", "d": "right"}
    names = [(f"p{k}", x) for k in range(3) for x in objects] + [("q", x, y) for x in objects for y in objects]
    problem = Problem("walk", domain, objects, frozenset(f for f in names if rng.random() < 0.5), Condition())
    state, done = problem.initial, []
    actions = [
        op.ground(*xs)
        for op in domain.operators
        for xs in product(*(problem.objects_of(p.types) for p in op.parameters))
    ]
    for _ in range(length):
        able = [action for action in actions if action.applies(state)]
        if not able:
            break
        done.append(able[rng.integers(len(able))])
        state = done[-1].result(state)
    goal = [f for f in names if rng.random() < 0.15]
    return Plan(
        replace(
            problem, goal=Condition(tuple(f for f in goal if f in state), tuple(f for f in goal if f not in state))
        ),
        tuple(done),
    )


def random_domain(rng: np.random.Generator) -> Domain:
    """Operators of two typed variables and a constant, with random needs and effects, of which some are absences."""
    operators = []
    for k in range(4):
        kinds = [str(rng.choice(["left", "right", "object"])) for _ in range(2)]
        parameters = tuple(Parameter(f"?v{n}", (kind,)) for n, kind in enumerate(kinds))
        terms = ["?v0", "?v1", "k"]
        able = [(f"p{n}", x) for n in range(3) for x in terms] + [("q", x, y) for x in terms[:2] for y in terms[:2]]
        parts = [tuple(able[i] for i in rng.permutation(len(able))[: rng.integers(0, most)]) for most in (3, 2, 4, 4)]
        needs = Condition(parts[0], tuple(f for f in parts[1] if f not in parts[0]))
        operators.append(Operator(f"o{k}", parameters, needs, parts[2], parts[3]))
    types = {"left": "object", "right": "object"}
    return Domain("random", tuple(operators), types=types, constants={"k": "object"})


def bindings(schema, problem, rng, most=150):
    """Some bindings of all parameters by objects of their types, the example among them."""
    able = [problem.objects_of(p.types) for p in schema.parameters]
    yield schema.example
    for _ in range(most):
        yield {p.name: str(rng.choice(things)) for p, things in zip(schema.parameters, able, strict=True)}


@pytest.mark.slow
@given(SEEDS)
def test_schema_works_wherever_its_needs_hold(seed):
    """Soundness of generalisation, and its guard: no binding that meets the needs breaks a step or misses the goal."""
    rng = np.random.default_rng(seed)
    plan = random_walk(rng, 4)
    schema = generalise(plan)
    for binding in bindings(schema, plan.problem, rng):
        needs, goal = bound_condition(schema.needs, binding), bound_condition(schema.goal, binding)
        state = frozenset(needs.facts)
        if needs.holds(state):
            assert validate(Plan(replace(plan.problem, initial=state, goal=goal), schema.actions(binding))).reason == ""
    needs = bound_condition(schema.needs, schema.example)
    assert needs.holds(plan.problem.initial) and schema.actions(schema.example) == plan.actions


@pytest.mark.slow
@given(SEEDS)
def test_macro_equals_its_steps(seed):
    """The composition law: where the macro applies, its result is that of the steps one after the other."""
    rng = np.random.default_rng(seed)
    plan = random_walk(rng, 3)
    if not plan.actions:
        return
    schema = generalise(plan)
    macro = macro_operator(schema)
    itself = macro.ground(*(schema.example[p.name] for p in macro.parameters))
    assert itself.applies(plan.problem.initial) and itself.result(plan.problem.initial) == plan.states[-1]
    for binding in bindings(schema, plan.problem, rng):
        action = macro.ground(*(binding[p.name] for p in macro.parameters))
        extra = {f for f in plan.problem.initial if rng.random() < 0.5} - set(action.needs.absent)
        state = frozenset(action.needs.facts) | extra
        if action.applies(state):
            after = state
            for step in schema.actions(binding):
                assert step.applies(after)
                after = step.result(after)
            assert action.result(state) == after


def test_macro_can_be_done_where_it_was_learned():
    """Two lamps light the same hall, and the curtain takes away what both of them gave."""
    lamp = operator("lamp", "?l:object ?r:object", "in ?l ?r", "warm ?l, bright ?r", "")
    curtain = operator("curtain", "?r:object", "", "dark ?r", "bright ?r")
    start = frozenset(facts("in l1 hall, in l2 hall"))
    goal = Condition(facts("warm l1, warm l2, dark hall"))
    objects = dict.fromkeys(("l1", "l2", "hall"), "object")
    task = Problem("lamps", Domain("lamps", (lamp, curtain)), objects, start, goal)
    plan = plan_of(task, "lamp l1 hall, lamp l2 hall, curtain hall")
    schema = generalise(plan, "evening")
    assert len(breadth_first(with_macros(task, [schema]))) == 1
    action = macro_operator(schema).ground(*schema.example.values())
    assert action.applies(start) and action.result(start) == plan.states[-1]


def test_guard_is_needed():
    """Fikes' method alone would unstack a block and then stack it on itself: all facts that it needs are there."""
    schema = generalise(plan_of(replace(sussman(), goal=Condition(facts("on c b"))), "unstack c a, stack c b"))
    assert schema.needs.different == (("?x", "?y2"),)
    careless = {"?x": "c", "?y": "a", "?y2": "c"}
    assert bound_condition(replace(schema.needs, different=()), careless).holds(sussman().initial)
    assert "(clear c) does not hold" in validate(Plan(sussman(), schema.actions(careless))).reason
    assert not bound_condition(schema.needs, careless).holds(sussman().initial)


def test_instantiate_finds_objects():
    schema = generalise(fetch_plan())
    third = instantiate(schema, fetch(goal="in b1 r3"))
    assert [str(a) for a in third] == ["(gothru rob d1 r1 r2)", "(pushthru rob b1 d2 r2 r3)"]
    assert validate(third)
    fixed = instantiate(schema, fetch("d1 r1 r2, d9 r1 r2", goal="in b1 r1"), {"?d2": "d9"})
    assert [str(a) for a in fixed][1] == "(pushthru rob b1 d9 r2 r1)"


@pytest.mark.slow
def test_a_long_plan_fits_the_task_it_was_learned_from():
    """48 steps: the search alone would end by its budget before it found the objects."""
    blocks = [f"b{k}" for k in range(25)]
    start = facts("handempty") + tuple((name, block) for block in blocks for name in ("clear", "ontable"))
    goal = Condition(tuple(("on", *pair) for pair in pairwise(blocks)))
    task = Problem("tower", BLOCKS, dict.fromkeys(blocks, "block"), frozenset(start), goal)
    pairs = list(pairwise(blocks))[::-1]
    plan = plan_of(task, ", ".join(f"pickup {a}, stack {a} {b}" for a, b in pairs))
    schema = generalise(plan)
    assert len(plan) == 48 and len(schema.needs.different) == 25 * 24 / 2
    assert instantiate(schema, task).actions == plan.actions
    assert not instantiate(schema, replace(task, initial=task.initial - {("clear", "b3")}), budget=1000)


@pytest.mark.slow
def test_long_plans():
    """2000 steps that have the same parameters again and again; the table is a hundred million letters."""
    step = operator("inc", "?a:object ?b:object", "at ?a, next ?a ?b", "at ?b", "at ?a")
    names = [f"c{k}" for k in range(2001)]
    nexts = frozenset(("next", *pair) for pair in pairwise(names))
    start, goal = nexts | {("at", "c0")}, Condition((("at", "c2000"),))
    task = Problem("count", Domain("count", (step,)), dict.fromkeys(names, "object"), start, goal)
    plan = Plan(task, tuple(step.ground(a, b) for a, b in pairwise(names)))
    schema = generalise(plan)
    assert len(schema.parameters) == 2001 and len({p.name for p in schema.parameters}) == 2001
    assert instantiate(schema, task).actions == plan.actions
    assert schema.table.head_adds(2000) == (("at", schema.steps[-1].arguments[1]),)
    assert str(triangle_table(plan)).endswith("+") and len(triangle_table(plan).surviving) == 2000
    states = list(plan.states)
    assert len(monitor(plan, lambda: states[0], lambda action: states.pop(0)).actions) == 2000


def test_instantiate_says_why_not():
    schema = generalise(fetch_plan())
    far = instantiate(schema, fetch("d1 r1 r2, d2 r2 r3, d3 r3 r4", "in rob r1, in b1 r3", "in b1 r4"))
    assert not far and far.reason == "no objects were found that the schema 'gothru-pushthru' fits"
    other = instantiate(schema, replace(fetch(), goal=Condition(facts("con d1 r3 r1"))))
    assert other.reason == "the schema 'gothru-pushthru' never adds (con d1 r3 r1)"
    hurried = instantiate(schema, fetch(goal="in b1 r3"), budget=3)
    assert not hurried and "in 3 trials" in hurried.reason


FIVE = "d1 r1 r2, d2 r2 r3, d3 r3 r4, d4 r4 r5, d5 r5 r1"


@pytest.mark.slow
def test_macro_saves_expansions_in_five_rooms():
    """Boxes of five rooms in a ring shall come to r1: with the macro breadth-first search expands far fewer states."""
    task = fetch(FIVE, "in rob r1, in b1 r2, in b2 r5, in b3 r2", "in b1 r1, in b2 r1, in b3 r1")
    store = MacroStore().learn(fetch_plan(), "fetch")
    plain, short = breadth_first(task), breadth_first(with_macros(task, store))
    assert len(plain) == 6 and [a.name for a in short] == ["fetch", "fetch", "fetch"]
    assert (plain.statistics["expanded"], short.statistics["expanded"]) == (162, 52)
    full = expand(short, store.macros)
    assert full.problem == task and len(full) == 6 and validate(full)


def test_planner_of_the_library_uses_macros():
    from adjoint.planning.solving import solve

    task = fetch(FIVE, "in rob r1, in b1 r2, in b2 r5", "in b1 r1, in b2 r1")
    store = MacroStore().learn(fetch_plan(), "fetch")
    plain = solve(task, optimal=True, heuristic="blind")
    short = solve(with_macros(task, store), optimal=True, heuristic="blind")
    assert len(short) == 2 and short.statistics["expanded"] < plain.statistics["expanded"]
    assert validate(expand(short, store.macros), task) and len(plain) == 4


def test_cost_of_a_macro_is_that_of_its_steps():
    heavy = replace(sussman().domain, operators=tuple(replace(op, cost=2.5) for op in BLOCKS.operators))
    plan = plan_of(replace(sussman(), domain=heavy, goal=Condition(facts("ontable c"))), "unstack c a, putdown c")
    assert macro_operator(generalise(plan)).cost == 5.0


def found_part(*given, **options) -> MacroUse:
    use = relevant_part(*given, **options)
    assert use is not None
    return use


def test_very_long_tasks_keep_to_their_budget():
    """Hundreds of facts and parameters are matched without Python's stack, and thousands end with what was found."""
    lamp = Parameter("?x")
    light = Operator("light", (lamp,), Condition((("off", "?x"),)), (("on", "?x"),), (("off", "?x"),))
    domain = Domain("lamps", (light,), {"on": (lamp,), "off": (lamp,)})

    def task_of(names: list[str]) -> Problem:
        dark, lit = frozenset(("off", x) for x in names), Condition(tuple(("on", x) for x in names))
        return Problem("p", domain, dict.fromkeys(names, "object"), dark, lit)

    def macro_and_task(count: int) -> tuple[PlanSchema, Problem]:
        task, other = (task_of([f"{name}{k}" for k in range(count)]) for name in ("lamp", "lantern"))
        return generalise(Plan(task, tuple(task.action("light", name) for name in task.objects))), other

    macro, other = macro_and_task(300)
    plan = instantiate(macro, other)
    assert plan and validate(plan) and len(plan) == 300
    macro, other = macro_and_task(1200)
    assert "no objects were found in 100000 trials" in instantiate(macro, other, budget=100_000).reason
    part = found_part(macro, other)
    assert part.reached and set(part.reached) <= set(other.goal.facts)


def test_a_macro_of_many_steps_fits_where_it_was_learned():
    """The shortest part that reaches the last place is all of it: every shorter head is tried before."""
    go = Operator(
        "go", (Parameter("?a"), Parameter("?b")), Condition((("at", "?a"), ("next", "?a", "?b"))), (("at", "?b"),),
        (("at", "?a"),),
    )  # fmt: skip
    names = [f"n{k}" for k in range(151)]
    start = frozenset({("at", "n0"), *(("next", a, b) for a, b in pairwise(names))})
    task = Problem("way", Domain("ways", (go,)), dict.fromkeys(names, "object"), start, Condition((("at", "n150"),)))
    macro = generalise(Plan(task, tuple(task.action("go", a, b) for a, b in pairwise(names))))
    assert len(found_part(macro, task, budget=1000).actions) == 150
    backwards = dict(zip(names, names[::-1], strict=True))
    turned = frozenset(tuple(backwards.get(x, x) for x in fact) for fact in start)
    other = replace(task, initial=turned, goal=Condition((("at", "n0"),)))
    assert len(found_part(macro, other).actions) == 150


def test_schemata_belong_to_the_operators_of_their_domain():
    """An operator of the same name may do something else."""
    x = Parameter("?x")
    first = Operator("go", (x,), Condition((("p", "?x"),)), (("q", "?x"), ("r", "?x")))
    second = Operator("go", (x,), Condition((("p", "?x"),)), (("q", "?x"),), (("p", "?x"),))
    one, two = (
        Problem("t", Domain(name, (op,)), {"o": "object"}, frozenset({("p", "o")}), Condition((("q", "o"),)))
        for name, op in (("a", first), ("b", second))
    )
    schema = generalise(Plan(one, (one.action("go", "o"),)))
    for use in (instantiate, relevant_part):
        with pytest.raises(aj.ArgumentError, match=f"{use.__name__}: the schema 'go-macro' has the step 'go', which"):
            use(schema, two)
    store = MacroStore((schema,))
    assert store.find(two) == () and len(store.find(one)) == 1


def test_macros_need_what_their_steps_need():
    """Facts of the goal that were true at first belong to the schema, and not to the macro."""
    task = replace(sussman(), goal=Condition((*facts("clear a"), *facts("ontable b"))))
    schema = generalise(Plan(task, (task.action("unstack", "c", "a"),)))
    macro = macro_operator(schema)
    assert len(schema.needs.facts) == 4 and len(schema.parameters) == 3
    assert len(macro.needs.facts) == 3 and len(macro.parameters) == 2
    larger = with_macros(sussman(), [schema])
    plan = Plan(larger, (larger.action(macro.name, "c", "a"),))
    assert [str(a) for a in expand(plan, [schema])] == ["(unstack c a)"]


def test_relevant_part_of_a_macro():
    """Sec. 10.7: the shortest head that reaches most of what is wanted, and only the steps it needs."""
    macro = generalise(sussman_plan(), "tower")
    assert found_part(macro, sussman()).kept == (1, 2, 3, 4, 5, 6)
    clear = found_part(macro, sussman(), [("clear", "a")])
    assert clear.kept == (1,) and [str(a) for a in clear.actions] == ["(unstack c a)"]
    flat = Problem("flat", BLOCKS, dict.fromkeys("abc", "block"), frozenset(facts(
        "clear a, clear b, clear c, ontable a, ontable b, ontable c, handempty")),
        Condition(facts("on a c")))  # fmt: skip
    assert relevant_part(macro, flat) is None  # each part that stacks begins with a block on another one


def test_edited_macro_leaves_out_what_is_not_needed():
    """The box alone is wanted, but the macro also fetched another one in between."""
    task = fetch(start="in rob r1, in b1 r2, in b2 r2", goal="in b1 r1, in b2 r1")
    plan = plan_of(task, "gothru rob d1 r1 r2, pushthru rob b1 d1 r2 r1, gothru rob d1 r1 r2, pushthru rob b2 d1 r2 r1")
    macro = generalise(plan)
    use = found_part(macro, task, [("in", "b1", "r1")])
    assert use.kept == (1, 2) and use.reached == (("in", "b1", "r1"),)
    assert [str(a) for a in use.actions] == ["(gothru rob d1 r1 r2)", "(pushthru rob b1 d1 r2 r1)"]
    both = found_part(macro, task)
    assert both.kept == (1, 2, 3, 4) and len(both.reached) == 2


@given(SEEDS)
def test_edited_part_works_and_reaches_what_the_plan_reached(seed):
    rng = np.random.default_rng(seed)
    plan = random_walk(rng, 4)
    new = [f for f in plan.states[-1] - plan.problem.initial if rng.random() < 0.7]
    if not new:
        return
    use = relevant_part(generalise(plan), plan.problem, sorted(new))
    assert use is not None, "the example itself reaches all of them"
    assert set(use.reached) == set(new)
    assert validate(Plan(replace(plan.problem, goal=Condition(tuple(use.reached))), use.actions)).reason == ""
    assert len(use.kept) <= len(plan)


def test_store_ranks_and_keeps_one_of_equals():
    store = MacroStore().learn(fetch_plan()).learn(fetch_plan())
    assert len(store) == 1
    walk = plan_of(fetch(goal="in rob r2"), "gothru rob d1 r1 r2")
    store = store.learn(walk)
    found = store.find(fetch())
    assert [use.part.name for use in found] == ["gothru-pushthru"]
    assert [len(use.actions) for use in store.find(fetch(), [("in", "rob", "r2")])] == [1, 1]
    other = plan_of(fetch(goal="in b1 r1, in rob r1"), "gothru rob d1 r1 r2, pushthru rob b1 d1 r2 r1")
    assert [macro.name for macro in store.learn(other)] == ["gothru-pushthru", "gothru-macro", "gothru-pushthru-2"]


def test_meet_of_types():
    domain = Domain("d", (), types={"robot": "thing", "box": "thing", "crate": "box"})
    assert types_meet(domain, ("thing",), ("box",)) == ("box",)
    assert types_meet(domain, ("robot",), ("box",)) == ()
    assert types_meet(domain, ("robot", "box"), ("crate", "robot")) == ("robot", "crate")


def test_constants_of_operators_stay():
    """The bananas hang above c: the schema of the monkey's plan pushes the box to c, and nowhere else."""
    from adjoint.planning.pddl import book_task

    schema = generalise(plan_of(book_task("monkey"), "goto a b, pushbox b c, climbbox c, grasp"))
    assert [str(step) for step in schema.steps] == ["(goto ?w ?u)", "(pushbox ?u c)", "(climbbox c)", "(grasp)"]
    assert schema.needs.facts == (("mk", "?w"), ("onfloor",), ("box", "?u"))


def test_difference_table_learns_from_plans():
    table = DifferenceTable((Difference("hold", ("holding", "?x"), ("unstack", "pickup", "magnet")),))
    learned = learn_differences(table, [sussman_plan()])
    assert learned.rows[0] == Difference("hold", ("holding", "?x"), ("pickup", "unstack", "magnet"))
    rows = {row.name: row.operators for row in learned.rows[1:]}
    assert rows == {"handempty": ("putdown", "stack"), "clear": ("putdown", "unstack", "stack"), "on": ("stack",)}
    assert learn_differences(table, []) == table


def test_print_of_a_schema():
    assert [generalise(plan).name for plan in (fetch_plan(), sussman_plan())] == [
        "gothru-pushthru",
        "unstack-to-stack-6",
    ]
    text = str(generalise(book_fetch_plan(), "fetch"))
    assert text.splitlines()[0] == "schema fetch" and "  ?x is not ROBOT" in text
    assert repr(generalise(fetch_plan(), "f")).startswith("<PlanSchema f(?k ?d ?a ?b ?x ?d2 ?b2): (gothru ?k")
    assert repr(MacroStore().learn(fetch_plan(), "f")) == "<MacroStore: 1 macro (f)>"


def _priced() -> Plan:
    drive = operator("drive", "?a:room ?b:room", "at ?a", "at ?b", "at ?a", cost=("far", "?a", "?b"))
    domain = Domain("d", (drive,), types={"room": "object"})
    task = Problem(
        "p",
        domain,
        {"r": "room", "s": "room"},
        frozenset(facts("at r")),
        Condition(facts("at s")),
        {("far", "r", "s"): 3.0},
    )
    return plan_of(task, "drive r s")


def test_steps_have_the_costs_of_their_objects():
    again = instantiate(generalise(_priced()), _priced().problem)
    assert again.actions[0].cost == 3.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generalise(plan_of(sussman(), "pickup b, pickup a")), r"step 2, \(pickup a\) needs \(clear a\)"),
        (lambda: generalise(sussman_plan(), 5), "generalise: the name must be a str, got int"),
        (lambda: instantiate(sussman_plan(), sussman()), "a PlanSchema is needed, got Plan"),
        (lambda: instantiate(generalise(fetch_plan()), fetch(), {"?kk": "rob"}), r"no parameter '\?kk'; did you mean"),
        (lambda: instantiate(generalise(fetch_plan()), fetch(), {"?k": "bob"}), "no object 'bob' for"),
        (lambda: instantiate(generalise(fetch_plan()), fetch(), {"?k": "b1"}), r"'b1' is no robot, which \?k must be"),
        (lambda: macro_operator(generalise(Plan(fetch(goal="in b1 r2")))), "the schema 'nothing' has no steps"),
        (lambda: macro_operator(generalise(_priced())), r"the cost of 'drive' is the function \(far \?a \?b\)"),
        (lambda: instantiate(generalise(fetch_plan()), fetch(), ["?k"]), "the binding must be a Mapping, got list"),
        (lambda: instantiate(generalise(fetch_plan()), fetch(), {"?k": ["rob"]}), r"no object \['rob'\] for"),
        (lambda: relevant_part(None, fetch()), "relevant_part: a PlanSchema is needed, got NoneType"),
        (lambda: relevant_part(generalise(fetch_plan()), fetch(), 5), "wanted must be an Iterable, got int"),
        (lambda: with_macros(fetch(), None), "the macros must be an Iterable, got NoneType"),
        (lambda: expand(fetch_plan(), 5), "the macros must be an Iterable, got int"),
        (lambda: MacroStore(5), "macros must be a tuple, got int"),
        (lambda: MacroStore((fetch_plan(),)), "MacroStore: a PlanSchema is needed, got Plan"),
        (lambda: learn_differences(DifferenceTable(()), None), "the plans must be an Iterable, got NoneType"),
        (lambda: with_macros(fetch(), [generalise(fetch_plan(), "gothru")]), "has an operator 'gothru'"),
        (lambda: with_macros(fetch(), [generalise(sussman_plan())]), "'unstack', which the domain 'fetch' has not"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(aj.ArgumentError, match=message):
        call()


@pytest.mark.parametrize("budget", [None, "x", float("nan"), -1, 0, True])
def test_bad_budgets(budget):
    schema = generalise(fetch_plan())
    for call in (instantiate, relevant_part):
        assert call(schema, fetch(), budget=float("inf"))
        with pytest.raises(aj.ArgumentError, match=f"{call.__name__}: budget must be a number above 0"):
            call(schema, fetch(), budget=budget)
