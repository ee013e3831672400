"""STRIPS: grounding, heuristics, landmarks, plans and their validation, against brute force and other planners."""

import itertools
import random
from dataclasses import replace

import pytest
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import PlanValidator, get_environment

import adjoint as aj
from adjoint.planning import (
    BOOK_TASKS,
    HEURISTICS,
    Condition,
    Domain,
    Operator,
    Parameter,
    Problem,
    blocks_task,
    book_task,
    book_text,
    delivery_task,
    exclusive_goals,
    find_landmarks,
    ground,
    h_add,
    h_ff,
    h_max,
    hanoi_task,
    lm_cut,
    solve,
    to_unified_planning,
    together,
    validate,
)
from adjoint.planning.solving import without_needless
from adjoint.planning.strips.ground_tasks import bits
from adjoint.planning.strips.task_types import fact_text

from .support.plan_checks import solved_by

get_environment().credits_stream = None

SMALL = [
    *(book_task(name) for name in sorted(BOOK_TASKS)),
    blocks_task(4, rng=1), blocks_task(4, rng=2), hanoi_task(3), delivery_task(2, rng=0),
]  # fmt: skip


# --- random tasks, and all their states ------------------------------------------------------------------------------


def random_task(seed: int) -> Problem:
    """Operators over a few objects, with types, negative conditions, equalities and costs, drawn by a seed."""
    draw = random.Random(seed)
    objects = {f"o{k}": draw.choice(["t", "u"]) for k in range(draw.randint(2, 4))}
    predicates = {"p": 0, "q": 1, "r": 1, "s": 2}

    def fact(terms):
        name = draw.choice(list(predicates))
        return (name, *(draw.choice(terms) for _ in range(predicates[name])))

    operators = []
    for k in range(draw.randint(2, 5)):
        parameters = tuple(Parameter(f"?x{j}", (draw.choice(["t", "u", "object"]),)) for j in range(draw.randint(1, 2)))
        terms = [p.name for p in parameters] + draw.choice([[], ["o0"]])
        needs = tuple(fact(terms) for _ in range(draw.randint(0, 2)))
        absent = tuple(fact(terms) for _ in range(draw.randint(0, 1)))
        pairs = tuple((p.name, "o1") for p in parameters[:1]) if draw.random() < 0.2 else ()
        operators.append(
            Operator(
                f"op{k}",
                parameters,
                Condition(needs, absent, different=pairs),
                tuple(fact(terms) for _ in range(draw.randint(1, 2))),
                tuple(fact(terms) for _ in range(draw.randint(0, 2))),
                float(draw.randint(0, 3)),
            )
        )
    kinds = {name: tuple(Parameter(f"?a{k}") for k in range(size)) for name, size in predicates.items()}
    domain = Domain("random", tuple(operators), kinds, {"t": "object", "u": "object"})
    initial = frozenset(fact(list(objects)) for _ in range(3))
    goal = tuple(dict.fromkeys(fact(list(objects)) for _ in range(draw.randint(1, 2))))
    absent = tuple(x for x in (fact(list(objects)) for _ in range(draw.randint(0, 1))) if x not in goal)
    return Problem("random", domain, objects, initial, Condition(goal, absent), minimise=draw.random() < 0.5)


def all_actions(problem: Problem):
    """All operators with all objects of the right types: the second formulation of grounding."""
    for operator in problem.domain.operators:
        choices = [problem.objects_of(p.types) for p in operator.parameters]
        for objects in itertools.product(*choices):
            yield operator.ground(*objects, costs=problem.costs)


def cheapest(problem: Problem, most: int = 3000) -> float | None:
    """The least cost of a plan by going through all states; None if there are more than `most`."""
    actions = list(all_actions(problem))
    best, todo, done = {problem.initial: 0.0}, [problem.initial], set()
    while todo:
        state = min(todo, key=best.__getitem__)
        todo.remove(state)
        if problem.goal.holds(state):
            return best[state]
        done.add(state)
        if len(best) > most:
            return None
        for action in actions:
            if action.applies(state):
                after, cost = action.result(state), best[state] + problem.step_cost(action)
                if after not in done and cost < best.get(after, float("inf")):
                    best[after] = cost
                    if after not in todo:
                        todo.append(after)
    return float("inf")


TINY = [random_task(seed) for seed in range(150)]


@pytest.mark.parametrize("problem", SMALL, ids=lambda p: p.name)
def test_states_are_the_same_with_numbers_and_with_facts(problem):
    """A walk over the ground task and over the operators with all objects: the same actions apply, states are equal."""
    task, actions, draw = ground(problem), list(all_actions(problem)), random.Random(0)
    state, numbers = problem.initial, task.initial
    for _ in range(30):
        assert task.facts_of(numbers) == state
        assert task.state_of(state) == numbers
        apply = [a for a in actions if a.applies(state)]
        numbered = task.applicable(numbers)
        assert sorted(map(str, apply)) == sorted(fact_text(task.calls[k]) for k in numbered)
        assert task.is_goal(numbers) == problem.goal.holds(state)
        if not apply:
            break
        k = draw.choice(numbered)
        state, numbers = task.action(k).result(state), task.result(numbers, k)


def test_random_walks_of_random_tasks_agree():
    walked = 0
    for problem in TINY:
        task, actions = ground(problem), list(all_actions(problem))
        state, numbers, draw = problem.initial, task.initial, random.Random(1)
        for _ in range(8):
            assert task.facts_of(numbers) == state, problem
            apply = sorted(str(a) for a in actions if a.applies(state))
            assert apply == sorted(fact_text(task.calls[k]) for k in task.applicable(numbers))
            assert (task.is_goal(numbers) and not task.impossible) == problem.goal.holds(state)
            if not apply:
                break
            k = draw.choice(task.applicable(numbers))
            state, numbers = task.action(k).result(state), task.result(numbers, k)
            walked += 1
    assert walked > 500


# --- plans ------------------------------------------------------------------------------------------------------------


def test_solve_is_right_about_random_tasks():
    """Whether there is a plan, and what the best one costs: all states are gone through, beside three searches."""
    solved = unsolved = 0
    for problem in TINY:
        least = cheapest(problem)
        if least is None:
            continue
        fast, best = solve(problem), solve(problem, optimal=True)
        blind = solve(problem, optimal=True, heuristic="blind")
        assert fast.solved == best.solved == blind.solved == (least < float("inf")), problem
        if fast:
            solved += 1
            assert best.cost == blind.cost == least
            assert fast.cost >= least
            assert validate(fast) and validate(best) and validate(blind)
        else:
            unsolved += 1
            assert fast.reason and best.reason
    assert solved > 30 and unsolved > 30


def test_heuristics_never_say_too_much_and_are_in_order():
    for problem in TINY + SMALL:
        least = cheapest(problem)
        if least is None:
            continue
        task = ground(problem)
        if task.impossible:
            assert least == float("inf")
            continue
        low, cut, add, ff = (h(task, task.initial) for h in (h_max, lm_cut, h_add, h_ff))
        assert low <= cut <= least, problem
        assert low <= ff and low <= add
        if least < float("inf"):
            assert ff < float("inf") and add < float("inf")


@pytest.mark.parametrize("problem", SMALL, ids=lambda p: p.name)
def test_every_plan_makes_all_landmarks_true(problem):
    task = ground(problem)
    marks = find_landmarks(task)
    plans = [solve(problem, heuristic=h) for h in HEURISTICS] + [solve(problem), solve(problem, optimal=True)]
    for plan in plans:
        seen = frozenset().union(*plan.states)
        for fact in marks.facts:
            name = task.facts[fact]
            assert name in seen if name[0] != "not" else any(name[1:] not in s for s in plan.states)


def test_landmarks_are_those_without_which_the_relaxed_goal_is_unreachable():
    """The definition: where all actions that add a landmark are missing, the goal cannot be reached any more."""
    checked = 0
    for problem in [*TINY, *SMALL]:
        task = ground(problem)
        if task.impossible:
            continue
        found = set(find_landmarks(task).facts)
        if h_ff(task, task.initial) == float("inf"):
            continue
        expected = set(task.goal)
        for fact in range(len(task.facts)):
            if task.initial >> fact & 1:
                continue
            reached = set(bits(task.initial))
            growing = True
            while growing:
                before = len(reached)
                for needs, adds in zip(task.needs, task.adds, strict=True):
                    if fact not in adds and reached.issuperset(needs):
                        reached.update(adds)
                growing = len(reached) > before
            # An action that adds the fact beside others may be needed for these: only facts that need it count.
            if not reached.issuperset(task.goal):
                expected.add(fact)
        new = {fact for fact in found if not task.initial >> fact & 1}
        assert new <= expected
        checked += len(new)
    assert checked > 50


def with_full_hands(problem: Problem) -> Problem:
    """A blocks world whose operators say twice that the hand is not empty."""
    full, operators = (("handfull",),), []
    for operator in problem.domain.operators:
        if operator.name in ("pickup", "unstack"):
            operators.append(replace(operator, adds=(*operator.adds, *full)))
        else:
            needs = replace(operator.needs, facts=(*operator.needs.facts, *full))
            operators.append(replace(operator, needs=needs, deletes=(*operator.deletes, *full)))
    predicates = {**problem.domain.predicates, "handfull": ()}
    return replace(problem, domain=replace(problem.domain, operators=tuple(operators), predicates=predicates))


def test_facts_that_say_the_same_twice_do_not_mislead_the_search():
    """What comes along with a landmark orders nothing: else ten thousands of states were expanded here."""
    for problem in (blocks_task(15, rng=2), blocks_task(25, rng=0)):
        plan = solve(with_full_hands(problem), max_expanded=1000)
        assert plan and validate(plan), plan.reason
        assert len(plan) <= 1.2 * len(solve(problem))


def test_pairs_that_exclude_each_other_never_meet():
    for problem in SMALL[:6]:
        task = ground(problem)
        rows = together(task)
        todo, seen = [task.initial], {task.initial}
        while todo and len(seen) < 400:
            state = todo.pop()
            for fact in bits(state):
                assert state & ~rows[fact] == 0
            for k in task.applicable(state):
                after = task.result(state, k)
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
    assert not exclusive_goals(ground(book_task("blocks")))


def test_the_book_s_plans():
    """W5 to W7: the only best plans of the blocks, the monkey, the box and two discs."""
    expected = {
        "blocks": "(unstack c a) (putdown c) (pickup b) (stack b c) (pickup a) (stack a b)",
        "monkey": "(goto a b) (pushbox b c) (climbbox c) (grasp)",
        "fetch": "(gothru rob d1 r1 r2) (pushthru rob b1 d1 r2 r1)",
        "hanoi": "(move d1 d2 pb) (move d2 pa pc) (move d1 pb d2)",
    }
    for name, actions in expected.items():
        assert " ".join(map(str, solve(book_text(name), optimal=True))) == actions
        assert " ".join(map(str, solve(book_text(name)))) == actions
    assert len(solve(hanoi_task(3), optimal=True)) == 7


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pyperplan", "fast-downward-opt"])
@pytest.mark.parametrize("problem", [*SMALL[:4], blocks_task(5, rng=3), hanoi_task(3)], ids=lambda p: p.name)
def test_other_planners_find_no_shorter_plans(problem, engine):
    theirs = solved_by(engine, to_unified_planning(problem)).plan
    ours = solve(problem, optimal=True)
    texts = [f"({a.action.name} {' '.join(map(str, a.actual_parameters))}".strip() + ")" for a in theirs.actions]
    assert validate([t.replace(" )", ")") for t in texts], problem)
    assert len(ours) == len(theirs.actions) if engine.endswith("opt") else len(ours) <= len(theirs.actions)


@pytest.mark.slow
def test_sixty_blocks_and_many_deliveries():
    for problem in (blocks_task(30, rng=1), blocks_task(60, rng=2), delivery_task(20, rng=1), hanoi_task(7)):
        plan = solve(problem)
        assert plan and validate(plan), plan.reason


def test_plans_have_no_action_that_can_be_left_out():
    for seed in range(20):
        problem = blocks_task(6, rng=seed)
        task, plan = ground(problem), solve(problem)
        for k in range(len(plan)):
            assert not validate([*plan.actions[:k], *plan.actions[k + 1 :]], problem)
        numbers = [task.calls.index((a.name, *a.arguments)) for a in plan]
        first = task.action(task.applicable(task.initial)[0])
        back = next(k for k in task.applicable(task.state_of(first.result(problem.initial)))
                    if task.action(k).result(first.result(problem.initial)) == problem.initial)  # fmt: skip
        longer = [task.applicable(task.initial)[0], back, *numbers]
        assert len(without_needless(task, longer)) <= len(numbers)


# --- the validator ----------------------------------------------------------------------------------------------------


def broken(plan, draw: random.Random, problem: Problem):
    """A plan with a step left out, doubled, swapped with another, or with another object."""
    actions = [(a.name, *a.arguments) for a in plan]
    if not actions:
        return actions
    k, j = draw.randrange(len(actions)), draw.randrange(len(actions))
    kind = draw.randrange(5)
    if kind == 0:
        del actions[k]
    elif kind == 1:
        actions.insert(k, actions[j])
    elif kind == 2:
        actions[k], actions[j] = actions[j], actions[k]
    elif kind == 3 and len(actions[k]) > 1:
        operator = problem.domain.operator(actions[k][0])
        assert operator is not None
        parameter = operator.parameters[0]
        actions[k] = (actions[k][0], draw.choice(problem.objects_of(parameter.types)), *actions[k][2:])
    return actions


@pytest.mark.slow
def test_the_validator_agrees_with_that_of_unified_planning():
    """1000 random plans, right and broken."""
    draw, right = random.Random(0), 0
    tasks = [blocks_task(4, rng=k) for k in range(6)] + SMALL[:4] + [delivery_task(2, rng=k) for k in range(2)]
    theirs = [to_unified_planning(problem) for problem in tasks]
    plans = [solve(problem) for problem in tasks]
    with PlanValidator(name="sequential_plan_validator") as validator:
        for _ in range(1000):
            k = draw.randrange(len(tasks))
            actions = broken(plans[k], draw, tasks[k]) if draw.random() < 0.75 else list(plans[k])
            calls = [a if isinstance(a, tuple) else (a.name, *a.arguments) for a in actions]
            steps = [
                ActionInstance(
                    theirs[k].action(name), tuple(theirs[k].object(x) for x in objects)
                )
                for name, *objects in calls
            ]  # fmt: skip
            said = validator.validate(theirs[k], SequentialPlan(steps))  # pyright: ignore[reportAttributeAccessIssue]
            verdict = said.status.name == "VALID"
            ours = validate(calls, tasks[k])
            assert bool(ours) == verdict, (calls, ours.reason)
            right += verdict
    assert 200 < right < 800


def test_the_validator_says_what_is_wrong():
    problem = book_task("blocks")
    for actions, reason, step in [
        (["(unstack c a)", "(stack c b)", "(pickup b)"], "step 3, (pickup b): (clear b) and (handempty)", 2),
        (["(unstack c a)"], "the goal is missed at the end: (on b c) and (on a b)", 1),
        (["(fly a)"], "step 1, (fly a): there is no operator 'fly'", 0),
        ([("stack", "a")], "'stack' takes 2 objects, not 1", 0),
        ([("stack", "a", "z")], "there is no object 'z'", 0),
    ]:
        found = validate(actions, problem)
        assert not found and found.step == step and reason.split(" and ")[0] in found.reason
    with pytest.raises(aj.ArgumentError, match="is no action"):
        validate([()], problem)
    with pytest.raises(aj.ArgumentError, match="must be a Problem"):
        validate([("stack", "a", "b")])


# --- what cannot be done ----------------------------------------------------------------------------------------------


def with_goal(problem: Problem, *facts) -> Problem:
    return replace(problem, goal=Condition(facts))


def test_reasons_of_what_has_no_plan():
    blocks = blocks_task(15)
    never = with_goal(blocks, ("on", "b1", "b2"), ("on", "b2", "b1"))
    assert solve(never).reason == "(on b1 b2) and (on b2 b1) can never hold together"
    assert solve(never, optimal=True).reason == "(on b1 b2) and (on b2 b1) can never hold together"
    lost = with_goal(book_task("fetch"), ("in", "d1", "r1"))
    assert solve(lost).reason == "(in d1 r1) can never become true"
    ring = with_goal(blocks_task(4), ("on", "b1", "b2"), ("on", "b2", "b3"), ("on", "b3", "b1"))
    assert "all " in solve(ring).reason and "were expanded" in solve(ring).reason
    large = with_goal(blocks, ("on", "b1", "b2"), ("on", "b2", "b3"), ("on", "b3", "b1"))
    assert solve(large, max_expanded=700).reason == "the limit of 700 expanded states was reached"
    assert solve(large, max_seconds=0.2).reason == "the limit of 0.2 seconds was reached"
    done = with_goal(blocks, *sorted(blocks.initial)[:3])
    assert solve(done) and len(solve(done)) == 0


def test_bad_options():
    problem = book_task("blocks")
    with pytest.raises(aj.ArgumentError, match=r"no heuristic 'fff'; did you mean 'ff'"):
        solve(problem, heuristic="fff")
    with pytest.raises(aj.ArgumentError, match="never says too much: lm_cut, max, blind; 'ff' may"):
        solve(problem, heuristic="ff", optimal=True)
    with pytest.raises(aj.ArgumentError, match="max_seconds must be a number >= 0"):
        solve(problem, max_seconds=-1)
    with pytest.raises(aj.ArgumentError, match="must be a Problem"):
        ground("blocks")
    with pytest.raises(aj.SolveError, match="more than 3 actions"):
        ground(problem, max_actions=3)
    cost = replace(problem.domain.operators[0], cost=("effort", "?x"))
    dear = replace(problem, domain=replace(problem.domain, operators=(cost,)), minimise=True)
    with pytest.raises(aj.ArgumentError, match=r"no number for \(effort b\), the cost of \(pickup b\)"):
        solve(dear)
