"""Pictures of searches and AND/OR graphs: what is drawn, and that it can be read."""

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyBboxPatch

import adjoint as aj
from adjoint.planning.search import (
    AndOrProblem,
    a_star,
    and_or_example,
    ao_star,
    bar_path,
    bidirectional,
    breadth_first,
    explicit_graph,
    greedy_best_first,
    monkey_and_bananas,
    moving_blocks,
    plot_and_or,
    plot_search,
    tower_of_hanoi,
    weighted_a_star,
)

FIGURES = {
    "monkey": lambda: plot_search(breadth_first(monkey_and_bananas(), trace=True)),
    "bar": lambda: plot_search(a_star(bar_path(), trace=True)),
    "blocks": lambda: plot_search(a_star(moving_blocks(), trace=True)),
    "hanoi": lambda: plot_search(a_star(tower_of_hanoi(3), trace=True)),
    "Fig. 10.9": lambda: plot_and_or(ao_star(and_or_example(1))),
    "second": lambda: plot_and_or(ao_star(and_or_example(2))),
}


def boxes(figure) -> list:
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [p.get_window_extent(renderer) for p in figure.axes[0].patches if isinstance(p, FancyBboxPatch)]


@pytest.mark.parametrize("name", FIGURES)
def test_boxes_are_apart_inside_the_picture_and_hold_their_texts(name):
    figure = FIGURES[name]()
    renderer = FigureCanvasAgg(figure).get_renderer()
    found = boxes(figure)
    assert not any(a.overlaps(b) for a, b in combinations(found, 2))
    assert all(figure.bbox.contains(*corner) for box in found for corner in box.corners())
    for text in figure.axes[0].texts:
        shown = text.get_window_extent(renderer)
        assert not text.get_text() or all(figure.bbox.contains(*corner) for corner in shown.corners()), text
        if "\n" in text.get_text():
            assert any(box.contains(*shown.min) and box.contains(*shown.max) for box in found), text


def test_deep_trees_go_down():
    wide, deep = FIGURES["monkey"](), FIGURES["bar"]()
    assert wide.get_size_inches()[0] > wide.get_size_inches()[1]
    assert deep.get_size_inches()[0] <= 8.5 < 1.1 * deep.get_size_inches()[1]
    first, last = boxes(deep)[0], boxes(deep)[-1]
    assert first.y0 > last.y1


def test_what_is_shown():
    result = breadth_first(monkey_and_bananas(), trace=True)
    shown = [text.get_text() for text in plot_search(result).axes[0].texts]
    assert {*result.actions, "1", "12"} <= set(shown) and "(C, 1, C, 1)\ng = 4" in shown
    shown = [text.get_text() for text in FIGURES["Fig. 10.9"]().axes[0].texts]
    assert {"A\n4", "B\n1", "E\ninf", "F\n0"} <= set(shown)


def test_numbers_in_boxes_are_those_of_the_trace():
    """f is what the open list is ordered by, which is not g + h in every search."""
    for search in (a_star, weighted_a_star, greedy_best_first):
        result = search(bar_path(), trace=True)
        shown = [text.get_text() for text in plot_search(result).axes[0].texts]
        for step in result.trace or ():
            if step.h > 0:
                one, three = f"{step.g:g} + {step.h:g} = {step.f:g}", f"g = {step.g:g}, h = {step.h:g}, f = {step.f:g}"
                label = str(step.state).replace("'", "")
                assert any(text in (f"{label}\n{one}", f"{label}\n{three}") for text in shown)
                assert f"{label}\n{one}" not in shown or step.f == step.g + step.h


def test_states_are_no_formulas(tmp_path):
    """A dollar sign begins a formula in matplotlib, and a wrong one is an error when the picture is drawn."""
    graph = explicit_graph({"$\\q$": {"$5 to $6_": 1}}, "$\\q$", "$5 to $6_")
    plot_search(a_star(graph, trace=True), tmp_path / "picture.png")
    arcs = {"$\\q$": [(1, ("$x_",))]}
    plot_and_or(ao_star(AndOrProblem("$\\q$", arcs.get, "$x_".__eq__)), tmp_path / "reductions.png")
    assert (tmp_path / "picture.png").stat().st_size and (tmp_path / "reductions.png").stat().st_size


def test_what_cannot_be_drawn():
    with pytest.raises(aj.AdjointError, match="plot_search needs a trace"):
        plot_search(a_star(bar_path()))
    with pytest.raises(aj.AdjointError, match="bidirectional has two"):
        plot_search(bidirectional(bar_path(), trace=True))
    with pytest.raises(aj.AdjointError, match="too many for a legible picture"):
        plot_search(breadth_first(tower_of_hanoi(5), trace=True))
