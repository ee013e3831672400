"""Laws of plans of least cost, of AO* on graphs with cycles, and of what traces say, on random graphs."""

import math
import random
from itertools import count

import pytest

import adjoint as aj
from adjoint.planning.search import (
    AndOrProblem,
    AndOrResult,
    SearchProblem,
    a_star,
    all_optimal_plans,
    anytime_a_star,
    ao_star,
    breadth_first,
    count_optimal_plans,
    depth_first,
    explicit_graph,
    greedy_best_first,
    reachable_states,
    uniform_cost,
    weighted_a_star,
)

# --- plans of least cost ----------------------------------------------------------------------------------------------


def cheapest_ways(arcs: dict, start, goal) -> list[tuple]:
    """The cheapest ways without a state twice, by trying all."""
    found, unfinished = [], [(start, (), 0.0)]
    while unfinished:
        state, way, cost = unfinished.pop()
        if state == goal:
            found.append((cost, way))
            continue
        for after, more in arcs.get(state, {}).items():
            if after not in (start, *way) and cost + more < math.inf:
                unfinished.append((after, (*way, after), cost + more))
    least = min(found, default=(math.inf,))[0]
    return sorted(way for cost, way in found if cost == least)


@pytest.mark.parametrize("unit", [1.0, 2.0**-40])
def test_optimal_plans_are_those_of_brute_force(unit):
    """Costs are infinite, zero and small; a circle that costs nothing is refused, if it lies on a cheapest way."""
    several = refused = 0
    for seed in range(300):
        draw = random.Random(seed)
        nodes = range(draw.randint(2, 6))
        costs = [0.0, unit, unit, 2 * unit, math.inf]
        arcs = {a: {b: draw.choice(costs) for b in nodes if b != a and draw.random() < 0.5} for a in nodes}
        problem = explicit_graph({**arcs, "start": {0: unit}}, "start", nodes[-1])
        ways = cheapest_ways({**arcs, "start": {0: unit}}, "start", nodes[-1])
        try:
            plans = all_optimal_plans(problem, math.inf)
        except aj.ArgumentError as error:
            assert "infinitely many plans" in str(error)
            with pytest.raises(aj.ArgumentError, match="infinitely many plans of least cost, since the actions"):
                count_optimal_plans(problem)
            refused += 1
            continue
        assert sorted(plans) == ways and count_optimal_plans(problem) == len(ways)
        several += len(ways) > 1
    assert several > 10 and refused > 3


@pytest.mark.parametrize(
    ("graph", "plans"),
    [
        ({"s": {"g": math.inf, "a": 1}, "a": {"g": 1}}, 1),
        ({"s": {"a": 1}, "a": {"g": 1, "s": math.inf}}, 1),
        ({"s": {"g": math.inf}}, 0),
        ({"s": {"g": 3e-10, "a": 1e-10}, "a": {"g": 1e-10}}, 1),
        ({"s": {"g": 0.3, "a": 0.1}, "a": {"g": 0.2}}, 2),  # 0.1 + 0.2 is not quite 0.3
        ({"s": {"a": 0, "g": 1}}, 1),
        ({"s": {"a": 0, "g": 0}, "a": {"g": 0}}, 2),
        ({"s": {"a": 1, "b": 1}, "a": {"b": 0, "g": 1}, "b": {"a": 0}, "g": {}, "c": {"c": 0}}, None),
        ({"s": {"b": 1, "g": 1}, "b": {"c": 0}, "c": {"b": 0}}, 1),  # the circle lies beside the way
    ],
)
def test_numbers_of_optimal_plans(graph, plans):
    problem = explicit_graph(graph, "s", "g")
    if plans is None:
        with pytest.raises(aj.ArgumentError, match=r"of the circle (a -> b -> a|b -> a -> b) cost nothing"):
            count_optimal_plans(problem)
    else:
        assert count_optimal_plans(problem) == plans == len(all_optimal_plans(problem))


def test_whole_state_spaces_keep_to_their_time():
    ways = SearchProblem(0, lambda n: count(), lambda n, a: 0, lambda n: False)  # endless, and leads nowhere
    deep = SearchProblem(0, lambda n: (1, 2), lambda n, a: n + 1, lambda n: n == 200)
    for call in (reachable_states, count_optimal_plans, all_optimal_plans):
        with pytest.raises(aj.SolveError, match=f"{call.__name__}: problem: the limit of 0.05 seconds was reached"):
            call(ways, max_seconds=0.05)
    assert count_optimal_plans(deep) == 2**200
    with pytest.raises(aj.SolveError, match=r"all_optimal_plans: problem: the limit of 0.1 seconds"):
        all_optimal_plans(deep, math.inf, max_seconds=0.1)


def test_searches_keep_to_their_time_among_known_states():
    ways = SearchProblem(0, lambda n: count(), lambda n, a: 0, lambda n: False)
    for search in (breadth_first, depth_first, uniform_cost, a_star, greedy_best_first, weighted_a_star):
        assert search(ways, max_seconds=0.05).reason == "the limit of 0.05 seconds was reached"
    assert "0.05 seconds" in list(anytime_a_star(ways, max_seconds=0.05))[-1].reason


# --- AO* --------------------------------------------------------------------------------------------------------------


def least_costs(arcs: dict, leaves: dict) -> dict:
    """{node: least cost} by sweeps over all arcs, from above, with the costs of nodes without arcs."""
    values = {**dict.fromkeys(arcs, math.inf), **leaves}
    for _ in values:
        for node in arcs.keys() - leaves.keys():
            ways = [cost + sum(values[child] for child in children) for cost, children in arcs[node]]
            values[node] = min([values[node], *ways])
    return values


def graph_cost(found: AndOrResult, node, above: tuple = ()) -> float:
    """The cost of a solution graph, which must have no cycle."""
    assert node not in above
    if node not in found.graph:
        assert found.problem.is_terminal(node)
        return 0.0
    arc = found.graph[node]
    assert arc in found.arcs[node]
    return arc.cost + sum(graph_cost(found, child, (*above, node)) for child in arc.children)


def test_ao_star_with_cycles_and_any_estimate():
    """What AO* knows at its end are the least costs of its graph, though it revises only what an expansion changes."""
    solved = rose = fell = 0
    for seed in range(400):
        draw = random.Random(seed)
        nodes = range(draw.randint(2, 11))
        costs = draw.choice([[0.0, 1.0], [0.0, 1.0, 2.0, 5.0], [0.0, 3.0, math.inf]])
        sizes = [1, 1, 2, 2, 3]
        arcs = {
            a: [
                (draw.choice(costs), tuple(draw.choices(nodes, k=draw.choice(sizes))))
                for _ in range(draw.randint(0, 4))
            ]
            for a in nodes
        }
        terminals = dict.fromkeys((n for n in nodes if n and draw.random() < 0.3), 0.0)
        least = least_costs(arcs, terminals)
        admissible = seed % 2 == 0
        h = {n: least[n] * 0.75 if admissible else draw.choice([0.0, 2.0, 9.0, math.inf]) for n in nodes}
        found = ao_star(AndOrProblem(0, arcs.get, terminals.__contains__, h.get))
        tips = {n: terminals.get(n, h[n]) for n in found.values if n not in found.arcs}
        assert found.values == least_costs({n: arcs[n] for n in found.arcs}, tips)
        if found:
            solved += 1
            assert graph_cost(found, 0) == found.cost == found.values[0] >= least[0]
        if admissible:
            assert found.solved == (least[0] < math.inf) and (not found or found.cost == least[0])
        rose += any(after > before for step in found.trace for before, after in step.changed.values())
        fell += any(after < before for step in found.trace for before, after in step.changed.values())
    assert solved > 80 and rose > 100 and fell > 20


def test_arcs_that_lead_back_are_left_out_only_where_they_are_needed():
    """A needs B, and B needs A or C: the arc from B to A takes no part, and that from A to B does."""
    arcs = {"A": [(1.0, ("B",))], "B": [(0.0, ("A",)), (5.0, ("C",))]}
    found = ao_star(AndOrProblem("A", arcs.get, "C".__contains__))
    assert found.cost == 6 and {n: arc.children for n, arc in found.graph.items()} == {"A": ("B",), "B": ("C",)}
    assert [arc.children for arc in found.arcs["B"]] == [("A",), ("C",)]


def test_ao_star_explains_its_steps():
    arcs = {"A": [(1.0, ("B",))], "B": [(2.0, ("C",))]}
    found = ao_star(AndOrProblem("A", arcs.get, "C".__contains__))
    assert [step.why for step in found.trace] == ["start", "first open node of the cheapest graph so far, cost 1"]
    assert all(step.why in found.explain() for step in found.trace)


# --- traces -----------------------------------------------------------------------------------------------------------


def test_the_reasons_of_choices_are_true():
    """Who was opened first is looked up in the trace itself."""
    first = 0
    for seed in range(200):
        draw = random.Random(seed)
        nodes = range(draw.randint(4, 12))
        arcs = {a: {b: draw.choice([1, 1, 2]) for b in nodes if b != a and draw.random() < 0.35} for a in nodes}
        h = {b: draw.choice([0, 1]) for b in nodes}
        trace = a_star(explicit_graph({**arcs, "end": {}}, 0, "end", h=h), trace=True).trace
        assert trace is not None
        opened = {0: (h[0], 0.0, 0)}  # {state: (f, -g, number of its opening)}
        number = count(1)
        for step in trace:
            ties = [x for x in opened.values() if x[0] == step.f]
            mine = opened.pop(step.state)
            if "opened first" in step.why:
                first += 1
                rivals = [x for x in ties if x[1] == mine[1]] if "have the largest g" in step.why else ties
                assert mine == min(rivals) and len({x[1] for x in rivals}) == 1 and len(rivals) > 1
            for s in step.successors:
                if s.verdict in ("new", "cheaper", "reopened"):
                    opened[s.state] = (s.f, -s.g, next(number))
    assert first > 100


def test_reasons_with_ties():
    graph = {"s": {"c": 1, "x": 1}, "x": {"a": 1, "b": 1}, "c": {"g": 9}, "a": {"g": 9}, "b": {"g": 9}}
    h = {"s": 5, "x": 3, "c": 4, "a": 3, "b": 3}
    trace = a_star(explicit_graph(graph, "s", "g", h=h), trace=True).trace
    assert trace is not None
    why = "it has the least f = g + h = 5 of 3 open states, and of the 3 that have it, "
    assert trace[2].state == "a" and trace[2].why == why + "2 have the largest g; of these it was opened first"


def test_failures_tell_what_was_ruled_out():
    graph = {"s": {"a": 1, "b": 1}, "a": {"g": 1}, "b": {}}
    for h, reason in (({"a": math.inf}, "h = inf rules out 1 state, and all others"), ({}, "")):
        found = a_star(explicit_graph(graph, "s", "g", h=h))
        assert bool(found) == (not reason) and reason in found.reason
    cut = explicit_graph({"s": {"a": 1}, "g": {}}, "s", "g")
    assert a_star(cut).reason == "no goal can be reached: all 2 reachable states were expanded"


def test_numbers_of_depth_first_searches_have_no_minus_zero():
    trace = depth_first(explicit_graph({"s": {"g": 1}}, "s", "g"), trace=True).trace
    assert "-0" not in str(trace)
