"""Triangle tables, kernels and the monitor: the book's tables, the meaning of kernels, and faults of many kinds."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.planning_tasks import (
    book_fetch_plan,
    breadth_first,
    facts,
    fetch,
    fetch_plan,
    plan_of,
    random_plan,
    sussman,
    sussman_plan,
)  # fmt: skip

import adjoint as aj
from adjoint.planning import book_task, solve
from adjoint.planning.monitoring import Execution, decide, highest_kernel, kernel, monitor, triangle_table
from adjoint.planning.monitoring.literals import literal_holds
from adjoint.planning.strips.task_types import Condition, Domain, Operator, Plan, Problem

SEEDS = st.integers(0, 2**32 - 1)


def sets(cells) -> dict:
    return {place: set(literals) for place, literals in cells.items()}


def test_triangle_table_of_the_blocks():
    """Fig. 10.14, with HANDEMPTY in cell (1, 0), which the print has lost."""
    table = triangle_table(sussman_plan())
    assert sets(table.cells) == {
        (1, 0): set(facts("clear c, handempty, on c a")), (2, 1): {("holding", "c")},
        (3, 0): set(facts("clear b, ontable b")), (3, 2): {("handempty",)},
        (4, 2): {("clear", "c")}, (4, 3): {("holding", "b")},
        (5, 0): {("ontable", "a")}, (5, 1): {("clear", "a")}, (5, 4): {("handempty",)},
        (6, 4): {("clear", "b")}, (6, 5): {("holding", "a")},
        (7, 4): {("on", "b", "c")}, (7, 6): {("on", "a", "b")},
    }  # fmt: skip
    assert table.N == 6
    assert table.row(6) == {4: (("clear", "b"),), 5: (("holding", "a"),)}
    assert table.column(4) == {5: (("handempty",),), 6: (("clear", "b"),), 7: (("on", "b", "c"),)}


def test_triangle_table_of_the_box():
    """Fig. 10.17: what the goal does not need is not in `cells`, but survives."""
    table = triangle_table(book_fetch_plan())
    assert sets(table.cells) == {
        (1, 0): set(facts("inroom ROBOT r1, connects d1 r1 r2")),
        (2, 0): set(facts("inroom b1 r2, connects d1 r2 r1")), (2, 1): {("inroom", "ROBOT", "r2")},
        (3, 2): {("inroom", "b1", "r1")},
    }  # fmt: skip
    assert sets(table.surviving) == {
        (2, 1): {("inroom", "ROBOT", "r2")}, (3, 2): set(facts("inroom ROBOT r1, inroom b1 r1")),
    }  # fmt: skip
    assert table.head_adds(0) == () and table.head_adds(1) == (("inroom", "ROBOT", "r2"),)


def test_kernels_of_the_blocks():
    table = triangle_table(sussman_plan())
    assert kernel(table, 4) == set(facts("clear a, clear c, holding b, ontable a"))
    assert kernel(table, 5) == set(facts("clear a, clear b, handempty, on b c, ontable a"))
    assert kernel(table, 6) == set(facts("clear b, holding a, on b c"))
    assert kernel(table, 7) == set(facts("on b c, on a b"))
    assert kernel(table, 1) == sussman().initial


def brute_force(table, state) -> int:
    true = [i for i in range(1, table.N + 2) if all(literal_holds(x, state) for x in kernel(table, i))]
    return max(true, default=0)


def test_fast_scan_equals_brute_force_on_all_states_of_the_blocks():
    """All 4096 assignments of the 12 fluents of the table, which the book's scan looks at cell by cell."""
    table = triangle_table(sussman_plan())
    fluents = sorted({x for literals in table.cells.values() for x in literals})
    assert len(fluents) == 12
    kernels = {i: kernel(table, i) for i in range(1, 8)}
    count = 0
    for state in chain.from_iterable(combinations(fluents, n) for n in range(13)):
        there = set(state)
        assert highest_kernel(table, there) == max((i for i in kernels if kernels[i] <= there), default=0)
        count += 1
    assert count == 4096


@given(SEEDS)
def test_fast_scan_equals_brute_force_on_random_plans(seed):
    rng = np.random.default_rng(seed)
    table = triangle_table(random_plan(rng))
    for _ in range(20):
        state = {(f"f{k}",) for k in range(6) if rng.random() < 0.5}
        assert highest_kernel(table, state) == brute_force(table, state)


@given(SEEDS)
def test_rest_of_the_plan_works_where_its_kernel_is_true_and_only_there(seed):
    """The law of kernels. Of the literals of a kernel each is needed: without it, the rest of the plan fails."""
    rng = np.random.default_rng(seed)
    plan = random_plan(rng)
    table = triangle_table(plan)
    for _ in range(20):
        state = frozenset((f"f{k}",) for k in range(6) if rng.random() < 0.5)
        for i in range(1, table.N + 2):
            after, works = state, True
            for action in plan.actions[i - 1 :]:
                works = works and action.applies(after)
                after = action.result(after)
            works = works and plan.problem.goal.holds(after)
            assert works == all(literal_holds(x, state) for x in kernel(table, i))


@given(SEEDS)
def test_rows_columns_and_survivors(seed):
    plan = random_plan(np.random.default_rng(seed))
    table = triangle_table(plan)
    for i, (state, action) in enumerate(zip(plan.states, (*plan.actions, None), strict=True), 1):
        needs = action.needs if action else plan.problem.goal
        row = [x for literals in table.row(i).values() for x in literals]
        assert sorted(row) == sorted({*needs.facts, *(("not", *x) for x in needs.absent)})
        assert set(table.head_adds(i - 1)) <= state
        untouched = plan.problem.initial - {x for a in plan.actions[: i - 1] for x in (*a.adds, *a.deletes)}
        assert state == set(table.head_adds(i - 1)) | untouched
    assert all(row > column for row, column in table.cells)


class World:
    """A world in which actions have their effects, unless `faults` {number of the action: new state} says otherwise."""

    def __init__(self, state, faults=None):
        self.state, self.faults, self.done = frozenset(state), faults or {}, []

    def sense(self):
        return self.state

    def act(self, action):
        self.done.append(str(action))
        assert action.applies(self.state), f"{action} does not apply"
        self.state = frozenset(self.faults.get(len(self.done), action.result(self.state)))


def test_monitor_does_the_plan_if_nothing_happens():
    world, plan = World(sussman().initial), sussman_plan()
    execution = monitor(plan, world.sense, world.act)
    assert execution and execution.reached and execution.actions == plan.actions
    assert [d.kernel for d in execution.decisions] == [1, 2, 3, 4, 5, 6, 7]
    assert all(d.reason == f"step {d.kernel} comes next" for d in execution.decisions[:-1])


def fault() -> frozenset:
    """After four steps the arm grabs B instead of A."""
    state = sussman_plan().states[4]
    return (state - set(facts("on b c, handempty, clear b"))) | set(facts("holding b, clear c"))


def test_monitor_repeats_what_a_fault_has_undone():
    """Sec. 10.6: the arm grabs B instead of A; the monitor stacks B again and goes on."""
    world = World(sussman().initial, {5: fault()})
    execution = monitor(triangle_table(sussman_plan()), world.sense, world.act)
    assert execution.reached
    assert world.done[:5] == ["(unstack c a)", "(putdown c)", "(pickup b)", "(stack b c)", "(pickup a)"]
    assert world.done[5:] == ["(stack b c)", "(pickup a)", "(stack a b)"]
    assert [d.kernel for d in execution.decisions] == [1, 2, 3, 4, 5, 4, 5, 6, 7]
    assert "lost" in execution.decisions[5].reason


def test_perception_must_report_all_that_changed():
    """The book adds HOLDING(B) and deletes ON(B,C) only: no kernel is true before CLEAR(C) is reported, too."""
    table = triangle_table(sussman_plan())
    partly = (sussman_plan().states[4] - {("on", "b", "c")}) | {("holding", "b")}
    assert highest_kernel(table, partly) == 0
    assert highest_kernel(table, partly | {("clear", "c")}) == 4
    assert highest_kernel(table, fault()) == 4
    assert decide(table, partly).reason == "no kernel is true"


def test_monitor_leaves_out_needless_steps():
    state = set(facts("ontable c, clear c, ontable b, clear b, ontable a, clear a, handempty"))
    world = World(state)
    execution = monitor(sussman_plan(), world.sense, world.act)
    assert world.done == ["(pickup b)", "(stack b c)", "(pickup a)", "(stack a b)"]
    assert execution.decisions[0].reason == "steps 1 to 2 are not needed"
    there = World(facts("on b c, on a b, ontable c, clear a, handempty"))
    execution = monitor(sussman_plan(), there.sense, there.act)
    assert execution.reached and not there.done and execution.actions == ()


def test_monitor_replans_where_no_kernel_is_true():
    """Someone puts B on C on A: the plan does not help, another one does."""
    tower = facts("ontable a, on c a, on b c, clear b, handempty")
    world = World(sussman().initial, {1: tower})
    assert not monitor(sussman_plan(), World(tower).sense, world.act).reached

    def replan(state):
        return breadth_first(Problem("again", sussman().domain, sussman().objects, state, sussman().goal))

    world = World(sussman().initial, {1: tower})
    execution = monitor(sussman_plan(), world.sense, world.act, replan=replan)
    assert execution.reached and len(execution.tables) == 2
    assert [d.plan for d in execution.decisions][:3] == [0, 0, 1]
    assert sussman().goal.holds(world.state)


def test_monitor_counts_in_words():
    once = monitor(sussman_plan(), lambda: sussman().initial, lambda action: None, max_tries=1)
    assert once.reason == "(unstack c a) was done 1 time (max_tries) without lasting success"
    assert "did not reach the goal after 1 action;" in repr(once)


def test_monitor_looks_at_new_facts_alone_but_at_all_of_them():
    world = World(sussman().initial)
    sensed = iter([sussman().initial, [*sussman().initial, "on a b"]])
    with pytest.raises(aj.ArgumentError, match=r"sense\(\): 'on a b' is no fact"):
        monitor(sussman_plan(), lambda: next(sensed), world.act)


def test_monitor_gives_up_in_bounded_time():
    stuck = World(sussman().initial)
    execution = monitor(sussman_plan(), stuck.sense, lambda action: None, max_tries=4)
    assert not execution and len(execution.actions) == 4
    assert execution.reason == "(unstack c a) was done 4 times (max_tries) without lasting success"
    execution = monitor(sussman_plan(), stuck.sense, lambda a: None, replan=lambda s: sussman_plan(), max_replans=2)
    assert len(execution.actions) == 3 * 3 and "2 other plans were tried (max_replans)" in execution.reason
    execution = monitor(sussman_plan(), lambda: set(), lambda a: None, replan=lambda s: None)
    assert execution.reason == "no kernel is true, and replanning found no plan"
    none = Plan(sussman(), (), False, "the arm is broken")
    execution = monitor(sussman_plan(), lambda: set(), lambda a: None, replan=lambda s: none)
    assert execution.reason.endswith("found no plan: the arm is broken")


@given(SEEDS)
def test_monitor_ends_and_tells_the_truth_in_a_world_of_faults(seed):
    """Any fault after any action: the goal holds exactly if the execution says so, and all actions were possible."""
    rng = np.random.default_rng(seed)
    plan = random_plan(rng)
    faults = {k: {(f"f{n}",) for n in range(6) if rng.random() < 0.5} for k in range(1, 30) if rng.random() < 0.4}
    world = World(plan.problem.initial, faults)
    execution = monitor(plan, world.sense, world.act)
    assert execution.reached == plan.problem.goal.holds(world.state) or "max_tries" in execution.reason
    assert len(execution.actions) <= 3 * len(plan)
    assert [str(a) for a in execution.actions] == world.done


def test_absent_facts_have_a_giver():
    """A lamp must be off before it is changed: the switch gives the absence."""
    off = Operator("off", (), Condition((("lit",),)), (), (("lit",),))
    change = Operator("change", (), Condition((), (("lit",),)), (("new",),))
    problem = Problem(
        "lamp", Domain("lamp", (off, change)), {}, frozenset({("lit",)}), Condition((("new",),), (("lit",),))
    )
    table = triangle_table(plan_of(problem, "off, change"))
    assert table.cells == {
        (1, 0): (("lit",),),
        (2, 1): (("not", "lit"),),
        (3, 1): (("not", "lit"),),
        (3, 2): (("new",),),
    }
    assert highest_kernel(table, {("lit",)}) == 1 and highest_kernel(table, set()) == 2
    assert highest_kernel(table, {("new",)}) == 3 and highest_kernel(table, {("new",), ("lit",)}) == 1


def test_goal_that_is_true_at_first():
    done = fetch(goal="in b1 r2")
    table = triangle_table(Plan(done))
    assert table.cells == {(1, 0): (("in", "b1", "r2"),)} and table.N == 0
    assert monitor(table, lambda: done.initial, pytest.fail).reached
    assert highest_kernel(table, set()) == 0


def test_print_shows_the_triangle():
    text = str(triangle_table(fetch_plan()))
    assert text.splitlines()[2] == "1 | (in rob r1)    | 1 (gothru rob d1 r1 r2) |"
    assert "2 (pushthru rob b1 d1 r2 r1)" in text and max(map(len, text.splitlines())) < 90
    assert len({len(line) for line in text.splitlines()[-3:]}) == 1
    shown = triangle_table(fetch_plan())._repr_html_()
    assert shown.count("<tr>") == 4 and "(in b1 r2)<br>(con d1 r2 r1)" in shown


def test_execution_prints_its_decisions():
    world = World(sussman().initial, {5: fault()})
    execution = monitor(sussman_plan(), world.sense, world.act)
    assert "kernel 4  (stack b c): step 4 did not work, or its effects are lost" in str(execution)
    assert repr(execution) == "<Execution: reached the goal after 8 actions; the goal is true>"
    assert execution._repr_html_().count("<tr>") == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: triangle_table("plan"), "'plan' must be a Plan, got str"),
        (lambda: triangle_table(Plan(sussman(), (), False, "no way")), "there is no plan for 's': no way"),
        (lambda: triangle_table(plan_of(sussman(), "pickup b, pickup a")), r"step 2, \(pickup a\) needs \(clear a\)"),
        (lambda: triangle_table(Plan(sussman())), r"the goal needs \(on b c\) and \(on a b\)"),
        (lambda: kernel(triangle_table(sussman_plan()), 8), "no kernel 8; the table has 1 to 7"),
        (lambda: triangle_table(sussman_plan()).row(0), "no row 0; there are 1 to 7"),
        (lambda: highest_kernel(triangle_table(sussman_plan()), "(on a b)"), "a state must be a set of facts"),
        (lambda: highest_kernel(triangle_table(sussman_plan()), ["on a b"]), "'on a b' is no fact"),
        (lambda: monitor(sussman_plan(), lambda: None, print), r"sense\(\): a state must be a set of facts, got None"),
        (lambda: monitor(sussman_plan(), set, print, max_tries=True), "'max_tries' must be a whole number.* got True"),
        (lambda: kernel(triangle_table(sussman_plan()), True), "no kernel True"),
        (lambda: highest_kernel(triangle_table(sussman_plan()), [(["a"],)]), r"\(\['a'\],\) is no fact"),
        (lambda: monitor(sussman_plan(), set, print, max_tries=0), "'max_tries' must be a whole number of at least 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(aj.ArgumentError, match=message):
        call()


def test_execution_is_frozen():
    with pytest.raises(AttributeError):
        Execution(True, "", (), ()).reached = False  # type: ignore[misc]


def test_names_that_the_task_does_not_know_are_told():
    """Names have no case in PDDL, but facts are compared letter by letter."""
    plan = solve(book_task("blocks"))
    for fact, words in ((("on", "A", "b"), "there is no object 'A'; did you mean 'a'"), (("onn", "a", "b"), "'onn'")):
        found = monitor(plan, lambda fact=fact: {fact}, print)
        assert not found.reached and found.reason.startswith("no kernel is true; (on") and words in found.reason
    assert monitor(plan, lambda: {("on", "a", "b")}, print).reason == "no kernel is true"
