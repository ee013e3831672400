"""Pictures of searches and AND/OR graphs: what is drawn, and that it can be read."""

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyBboxPatch

import adjoint as aj
from adjoint.planning.search import (
    a_star,
    and_or_example,
    ao_star,
    bar_path,
    bidirectional,
    breadth_first,
    monkey_and_bananas,
    moving_blocks,
    plot_and_or,
    plot_search,
    tower_of_hanoi,
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


def test_what_cannot_be_drawn():
    with pytest.raises(aj.AdjointError, match="plot_search needs a trace"):
        plot_search(a_star(bar_path()))
    with pytest.raises(aj.AdjointError, match="bidirectional has two"):
        plot_search(bidirectional(bar_path(), trace=True))
    with pytest.raises(aj.AdjointError, match="too many for a legible picture"):
        plot_search(breadth_first(tower_of_hanoi(5), trace=True))
