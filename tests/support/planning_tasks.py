"""Planning tasks made of operators, without PDDL, and breadth-first plans for them that need no planner."""

from collections import deque
from dataclasses import replace
from itertools import product

import numpy as np

from adjoint.planning.strips.task_types import Action, Condition, Domain, Operator, Parameter, Plan, Problem


def facts(text: str) -> tuple[tuple[str, ...], ...]:
    """Facts from a text such as "on a b, clear a"."""
    return tuple(tuple(fact.split()) for fact in text.split(",") if fact.strip())


def operator(name: str, parameters: str, needs: str, adds: str, deletes: str, absent: str = "", **more) -> Operator:
    """An operator from texts; parameters are "?x:block ?y:block"."""
    variables = tuple(Parameter(p.split(":")[0], tuple(p.split(":")[1].split("|"))) for p in parameters.split())
    condition = Condition(facts(needs), facts(absent), different=more.pop("different", ()))
    return Operator(name, variables, condition, facts(adds), facts(deletes), **more)


BLOCKS = Domain(
    "fgl",
    (
        operator("pickup", "?x:block", "ontable ?x, clear ?x, handempty", "holding ?x",
                 "ontable ?x, clear ?x, handempty"),
        operator("putdown", "?x:block", "holding ?x", "ontable ?x, clear ?x, handempty", "holding ?x"),
        operator("stack", "?x:block ?y:block", "holding ?x, clear ?y", "handempty, on ?x ?y, clear ?x",
                 "holding ?x, clear ?y"),
        operator(
            "unstack", "?x:block ?y:block", "handempty, clear ?x, on ?x ?y", "holding ?x, clear ?y",
            "handempty, clear ?x, on ?x ?y",
        ),
    ),
    types={"block": "object"},
)  # fmt: skip

FETCH = Domain(
    "fetch",
    (
        operator("gothru", "?k:robot ?d:door ?a:room ?b:room", "in ?k ?a, con ?d ?a ?b", "in ?k ?b", "in ?k ?a"),
        operator(
            "pushthru", "?k:robot ?x:box ?d:door ?a:room ?b:room", "in ?x ?a, in ?k ?a, con ?d ?a ?b",
            "in ?k ?b, in ?x ?b", "in ?k ?a, in ?x ?a",
        ),
    ),
    types={"thing": "object", "room": "object", "door": "object", "robot": "thing", "box": "thing"},
)  # fmt: skip

BOOK_FETCH = Domain(
    "book",
    (
        operator("gothru", "?d:object ?a:object ?b:object", "inroom ROBOT ?a, connects ?d ?a ?b",
                 "inroom ROBOT ?b", "inroom ROBOT ?a"),
        operator(
            "pushthru", "?x:object ?d:object ?a:object ?b:object", "inroom ?x ?a, inroom ROBOT ?a, connects ?d ?a ?b",
            "inroom ROBOT ?b, inroom ?x ?b", "inroom ROBOT ?a, inroom ?x ?a",
        ),
    ),
    constants={"ROBOT": "object"},
)  # fmt: skip
"""The operators as the book writes them: ROBOT is a constant inside them."""


def sussman() -> Problem:
    """The blocks of Sec. 10.6: C is on A; B shall be on C, and A on B."""
    start = frozenset(facts("clear b, clear c, on c a, ontable a, ontable b, handempty"))
    return Problem("s", BLOCKS, dict.fromkeys("abc", "block"), start, Condition(facts("on b c, on a b")))


def sussman_plan() -> Plan:
    return plan_of(sussman(), "unstack c a, putdown c, pickup b, stack b c, pickup a, stack a b")


def fetch(doors: str = "d1 r1 r2, d2 r2 r3", start: str = "in rob r1, in b1 r2", goal: str = "in b1 r1") -> Problem:
    """The robot fetches a box (Fig. 10.15); doors connect rooms in both directions."""
    there = facts(doors)
    rooms = sorted({room for door in there for room in door[1:]})
    both = {("con", d, a, b) for d, a, b in there} | {("con", d, b, a) for d, a, b in there}
    names = {"rob": "robot"} | {fact[1]: "box" for fact in facts(start) if fact[1] != "rob"}
    objects = names | dict.fromkeys(rooms, "room") | {door[0]: "door" for door in there}
    return Problem("p", FETCH, objects, frozenset(both) | set(facts(start)), Condition(facts(goal)))


def fetch_plan() -> Plan:
    return plan_of(fetch(), "gothru rob d1 r1 r2, pushthru rob b1 d1 r2 r1")


def book_fetch_plan() -> Plan:
    """The plan of Fig. 10.17 with the operators as the book writes them."""
    start = "inroom ROBOT r1, inroom b1 r2, connects d1 r1 r2, connects d1 r2 r1, connects d2 r2 r3, connects d2 r3 r2"
    names = dict.fromkeys("b1 d1 d2 r1 r2 r3".split(), "object")
    problem = Problem("p", BOOK_FETCH, names, frozenset(facts(start)), Condition(facts("inroom b1 r1")))
    return plan_of(problem, "gothru d1 r1 r2, pushthru b1 d1 r2 r1")


def plan_of(problem: Problem, calls: str) -> Plan:
    """A plan from a text such as "pickup a, stack a b"."""
    return Plan(problem, tuple(problem.action(*call.split()) for call in calls.split(",") if call.strip()))


def ground_actions(problem: Problem) -> list[Action]:
    """All actions of a problem, by all combinations of objects."""
    found = []
    for op in problem.domain.operators:
        for names in product(*(problem.objects_of(p.types) for p in op.parameters)):
            action = op.ground(*names, costs=problem.costs)
            if all(a != b for a, b in action.needs.different):
                found.append(action)
    return found


def breadth_first(problem: Problem, most: int = 200_000) -> Plan:
    """A plan with the fewest actions; `statistics` count the expanded states."""
    actions = ground_actions(problem)
    parents: dict = {problem.initial: None}
    queue, expanded = deque([problem.initial]), 0
    while queue and expanded < most:
        state = queue.popleft()
        if problem.goal.holds(state):
            way = []
            while parents[state] is not None:
                state, action = parents[state]
                way.append(action)
            return Plan(problem, tuple(reversed(way)), statistics={"expanded": expanded})
        expanded += 1
        for action in actions:
            if action.applies(state) and (after := action.result(state)) not in parents:
                parents[after] = state, action
                queue.append(after)
    return Plan(problem, (), False, "all states were searched", {"expanded": expanded})


def random_problem(rng: np.random.Generator, size: int = 6) -> Problem:
    """A task of random operators without variables over `size` facts, which need, add and delete some of them."""
    names = [(f"f{k}",) for k in range(size)]

    def some(most: int) -> tuple:
        return tuple(names[k] for k in rng.permutation(size)[: rng.integers(0, most + 1)])

    operators = []
    for k in range(8):
        chosen = some(3)
        cut = int(rng.integers(0, len(chosen) + 1))
        operators.append(Operator(f"o{k}", (), Condition(chosen[:cut], chosen[cut:]), some(2), some(2)))
    start = frozenset(some(3))
    return Problem("random", Domain("random", tuple(operators)), {}, start, Condition())


def random_plan(rng: np.random.Generator, length: int = 6) -> Plan:
    """A random walk of a random task, whose goal is a part of its last state: some facts, and some absent facts."""
    problem = random_problem(rng)
    state, done = problem.initial, []
    for _ in range(length):
        able = [action for action in ground_actions(problem) if action.applies(state)]
        if not able:
            break
        done.append(able[rng.integers(len(able))])
        state = done[-1].result(state)
    names = [(f"f{k}",) for k in range(6)]
    goal = [name for name in names if rng.random() < 0.5]
    condition = Condition(tuple(f for f in goal if f in state), tuple(f for f in goal if f not in state))
    return Plan(replace(problem, goal=condition), tuple(done))
