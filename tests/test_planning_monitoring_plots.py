"""Pictures of triangle tables and executions: what is drawn where, in which colour."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from support.planning_tasks import fetch, fetch_plan, sussman, sussman_plan

import adjoint as aj
from adjoint.planning.monitoring import Execution, monitor, plot_execution, plot_table, triangle_table
from adjoint.planning.strips.task_types import Plan


def texts(figure) -> dict[str, str]:
    return {text.get_text(): text.get_color() for text in figure.axes[0].texts}


def test_table_shows_all_literals_and_steps():
    table = triangle_table(sussman_plan())
    shown = [text.get_text() for text in plot_table(table).axes[0].texts]
    assert sorted(x for x in shown if x.startswith("(")) == sorted(
        f"({' '.join(fact)})" for literals in table.cells.values() for fact in literals
    )
    assert [x for x in shown if " (" in x] == [f"{k} {a}" for k, a in enumerate(table.plan, 1)]


def test_kernel_is_marked_and_facts_are_lit():
    table = triangle_table(fetch_plan())
    figure = plot_table(table, fetch().initial)
    colours = texts(figure)
    assert colours["(in rob r1)"] == colours["(in b1 r2)"] == "#2a9d6f" and colours["(in b1 r1)"] == "#c4453a"
    assert figure.axes[0].get_title(loc="left") == "Kernel 1 is true: (gothru rob d1 r1 r2) comes next"
    assert "No kernel is true" in plot_table(table, set()).axes[0].get_title(loc="left")
    assert "the goal is reached" in plot_table(table, {("in", "b1", "r1")}).axes[0].get_title(loc="left")


def test_texts_fit_into_their_cells():
    figure = plot_table(triangle_table(sussman_plan()), sussman().initial)
    renderer = FigureCanvasAgg(figure).get_renderer()
    axes = figure.axes[0]
    cells = [patch.get_window_extent(renderer) for patch in axes.patches]
    for text in axes.texts:
        if "(" in text.get_text():
            box = text.get_window_extent(renderer)
            assert any(c.x0 <= box.x0 and box.x1 <= c.x1 and c.y0 <= box.y0 and box.y1 <= c.y1 for c in cells), text


def test_table_of_nothing_to_do():
    assert plot_table(triangle_table(Plan(fetch(goal="in b1 r2"))), fetch().initial).axes


def test_film_has_a_picture_for_each_decision():
    states = list(sussman_plan().states)
    execution = monitor(sussman_plan(), lambda: states[0], lambda action: states.pop(0))
    figure = plot_execution(execution)
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.patches]
    assert titles == [*(f"{k}. {a}" for k, a in enumerate(execution.actions, 1)), "the goal is true"]
    stuck = monitor(sussman_plan(), lambda: sussman().initial, lambda action: None)
    assert plot_execution(stuck).axes[3].get_title(loc="left") == "gives up"
    lost = monitor(sussman_plan(), set, lambda action: None)
    assert plot_execution(lost).axes[0].get_title(loc="left") == "no kernel is true"


def test_bad_input():
    with pytest.raises(aj.ArgumentError, match="an Execution is needed, got Plan"):
        plot_execution(sussman_plan())  # type: ignore[arg-type]
    with pytest.raises(aj.ArgumentError, match="the execution has no decisions"):
        plot_execution(Execution(True, "", (), ()))
    with pytest.raises(aj.ArgumentError, match="plot_table: the table must be a TriangleTable, got NoneType"):
        plot_table(None)  # type: ignore[arg-type]
    with pytest.raises(aj.ArgumentError, match="a state must be a set of facts"):
        plot_table(triangle_table(sussman_plan()), "on a b")  # type: ignore[arg-type]
