"""The reader and the bridge against unified-planning: its reader, its writer, its simulator, and the texts it ships."""

import re
import sys
from pathlib import Path

import pytest
import unified_planning
from unified_planning import model, shortcuts
from unified_planning.io import PDDLReader, PDDLWriter

from adjoint.errors import ArgumentError, MissingPackageError
from adjoint.planning import solve
from adjoint.planning.pddl import (
    BOOK_TASKS,
    blocks_task,
    book_task,
    delivery_task,
    from_unified_planning,
    hanoi_task,
    read_plan,
    read_task,
    to_unified_planning,
    write_domain,
    write_problem,
)
from adjoint.planning.strips.task_types import Problem
from adjoint.program.instructions import ProgramError

shortcuts.get_environment().credits_stream = None
TASKS = {name: book_task(name) for name in BOOK_TASKS}
TASKS |= {task.name: task for task in (blocks_task(6), hanoi_task(3), delivery_task(3, trucks=2))}
SHIPPED = Path(unified_planning.__file__).parent / "test"


def same_task(found: Problem, wanted: Problem) -> None:
    """Both say the same; unified-planning keeps no names of domains, no constants and no order of conditions."""
    assert found.domain.types == wanted.domain.types
    assert found.domain.predicates == wanted.domain.predicates
    assert found.domain.functions == wanted.domain.functions
    assert found.all_objects == wanted.all_objects
    assert found.initial == wanted.initial and found.costs == wanted.costs and found.minimise == wanted.minimise
    assert sorted(found.goal.facts) == sorted(wanted.goal.facts)
    assert [as_sets(x) for x in found.domain.operators] == [as_sets(x) for x in wanted.domain.operators]


def as_sets(operator) -> tuple:
    needs = [frozenset(facts) for facts in vars(operator.needs).values()]
    return operator.name, operator.parameters, *needs, set(operator.adds), set(operator.deletes), operator.cost


@pytest.mark.parametrize("name", TASKS)
def test_both_readers_read_the_same(name):
    task = TASKS[name]
    theirs = PDDLReader().parse_problem_string(write_domain(task.domain), write_problem(task))
    same_task(from_unified_planning(theirs), task)
    assert len(theirs.actions) == len(task.domain.operators) and len(theirs.all_objects) == len(task.all_objects)
    true = {str(fluent) for fluent, value in theirs.initial_values.items() if value.is_true()}
    assert true == {f"{fact[0]}({', '.join(fact[1:])})" if fact[1:] else fact[0] for fact in task.initial}


@pytest.mark.parametrize("name", TASKS)
def test_the_bridge_leads_there_and_back(name):
    task = TASKS[name]
    there = to_unified_planning(task)
    back = from_unified_planning(there)
    same_task(back, task)
    assert from_unified_planning(to_unified_planning(back)) == back
    theirs = PDDLReader().parse_problem_string(write_domain(task.domain), write_problem(task))
    # Whole numbers stay whole on the bridge, which Fast Downward wants; the reader makes all numbers real.
    assert there.kind.features == theirs.kind.features - {"REAL_NUMBERS_IN_ACTIONS_COST"}


@pytest.mark.parametrize("name", TASKS)
def test_texts_of_the_other_writer_are_read(name):
    task = TASKS[name]
    writer = PDDLWriter(to_unified_planning(task))
    # The other writer renames ?x to ?x_0 where variables of this name have different types.
    texts = (re.sub(r"(\?\w+)_0\b", r"\1", text) for text in (writer.get_domain(), writer.get_problem()))
    same_task(read_task(*texts), task)


def test_a_plan_runs_in_the_simulator_of_unified_planning():
    task = book_task("blocks")
    text = "(unstack c a)\n(putdown c)\n(pickup b)\n(stack b c)\n(pickup a)\n(stack a b)\n"
    theirs = to_unified_planning(task)
    simulator = shortcuts.SequentialSimulator(theirs)
    state = simulator.get_initial_state()
    for action, ours in zip(plan := read_plan(text, task), plan.states[1:], strict=True):
        objects = [theirs.object(name) for name in action.arguments]
        state = simulator.apply(state, theirs.action(action.name), objects)
        true = {str(f) for f in theirs.initial_values if state.get_value(f).is_true()}
        assert true == {f"{fact[0]}({', '.join(fact[1:])})" if fact[1:] else fact[0] for fact in ours}
    assert simulator.is_goal(state)


def test_the_texts_that_unified_planning_ships_are_read_or_refused_with_places():
    domains = sorted(SHIPPED.glob("*pddl/*/domain.pddl"))
    read, refused = {}, {}
    for path in domains:
        try:
            read[path.parent.name] = read_task(path, path.with_name("problem.pddl"))
        except ProgramError as error:
            assert error.position is not None
            refused[path.parent.name] = {
                m for d in error.diagnostics for m in re.findall(r"'([^']+)' is not", d.message)
            }
    assert len(read["depot"].domain.operators) == 5
    theirs = PDDLReader().parse_problem(SHIPPED / "pddl/depot/domain.pddl", SHIPPED / "pddl/depot/problem.pddl")
    same_task(from_unified_planning(theirs), read["depot"])
    assert refused["matchcellar"] == {":durative-action"} and "forall" in refused["citycar"]


def test_constants_of_operators_come_back():
    task = from_unified_planning(to_unified_planning(book_task("monkey")))
    assert task.domain.constants == {"c": "pos"} and task.objects == {"a": "pos", "b": "pos"}
    assert read_task(write_domain(task.domain), write_problem(task)) == task


def test_defaults_of_numbers_are_costs():
    problem = shortcuts.Problem("way")
    place = shortcuts.UserType("place")
    at = problem.add_fluent(shortcuts.Fluent("at", shortcuts.BoolType(), x=place), default_initial_value=False)
    far = problem.add_fluent(shortcuts.Fluent("far", shortcuts.IntType(), x=place, y=place), default_initial_value=2)
    a, b = problem.add_objects([model.Object(name, place) for name in "ab"]) or problem.all_objects
    go = shortcuts.InstantaneousAction("go", x=place, y=place)
    go.add_precondition(at(go.x))
    go.add_effect(at(go.x), False)
    go.add_effect(at(go.y), True)
    problem.add_action(go)
    problem.set_initial_value(at(a), True)
    problem.add_goal(at(b))
    problem.add_quality_metric(shortcuts.MinimizeActionCosts({go: far(go.x, go.y)}))
    task = from_unified_planning(problem)
    assert task.costs == {("far", x, y): 2.0 for x in "ab" for y in "ab"} and solve(task, optimal=True).cost == 2.0


def test_defaults_that_are_true_are_facts():
    problem = shortcuts.Problem("p")
    kind = shortcuts.UserType("lamp")
    problem.add_fluent(shortcuts.Fluent("lit", shortcuts.BoolType(), x=kind), default_initial_value=True)
    problem.add_objects([model.Object(name, kind) for name in "ab"])
    problem.set_initial_value(problem.fluent("lit")(problem.object("a")), False)
    assert from_unified_planning(problem).initial == {("lit", "b")}


def numeric(problem, action, on):
    level = problem.add_fluent("level", shortcuts.IntType(), default_initial_value=0)
    action.add_precondition(shortcuts.GT(level, 3))


def conditional(problem, action, on):
    action.add_effect(on, False, on)


def disjunctive(problem, action, on):
    problem.add_goal(shortcuts.Or(on, shortcuts.Not(on)))


def counted(problem, action, on):
    level = problem.add_fluent("level", shortcuts.IntType(), default_initial_value=0)
    action.add_increase_effect(level, 1)


def longest(problem, action, on):
    problem.add_quality_metric(shortcuts.Oversubscription({shortcuts.FluentExp(on): 3}))


def timed(problem, action, on):
    problem.add_action(shortcuts.DurativeAction("slow"))


@pytest.mark.parametrize("change", [numeric, conditional, disjunctive, counted, longest, timed])
def test_what_strips_cannot_say_is_refused(change):
    problem = shortcuts.Problem("p")
    on = problem.add_fluent("on", shortcuts.BoolType(), default_initial_value=False)
    action = shortcuts.InstantaneousAction("turn")
    action.add_effect(on, True)
    problem.add_action(action)
    from_unified_planning(problem)
    change(problem, action if change is timed else problem.action("turn"), on)
    with pytest.raises(ArgumentError, match=r"from_unified_planning: .* cannot be said; there are facts"):
        from_unified_planning(problem)


def test_what_unified_planning_cannot_say_is_refused():
    text = """(define (domain d) (:types a b) (:predicates (p ?x - (either a b))))
              (define (problem q) (:domain d) (:init) (:goal ()))"""
    with pytest.raises(ArgumentError, match=r"'p' has the variable \?x with several types, a or b; one is possible"):
        to_unified_planning(read_task(text))
    clash = (
        "(define (domain d) (:predicates (p) (a))) (define (problem q) (:domain d) (:objects p) (:init) (:goal (a)))"
    )
    with pytest.raises(ArgumentError, match=r"unified-planning refuses 'q': .*already defined"):
        to_unified_planning(read_task(clash))
    for convert in (to_unified_planning, from_unified_planning):
        with pytest.raises(ArgumentError, match=f"{convert.__name__}: a Problem .*is needed, got str"):
            convert("blocks")


def test_a_missing_package_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "unified_planning"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r"to_unified_planning needs unified_planning: .*adjoint\[planning\]"):
        to_unified_planning(book_task("blocks"))
    with pytest.raises(
        MissingPackageError, match=r"from_unified_planning needs unified_planning: .*adjoint\[planning\]"
    ):
        from_unified_planning(None)
