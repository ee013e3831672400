"""`plot_execution`: a film of the kernels that were true while a plan was carried out."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ...drawing.style import CURVES, house_style, new_figure
from ...errors import ArgumentError
from ..strips.task_types import Fact
from .execution_monitor import Decision, Execution
from .literals import literal_holds
from .triangle_tables import TriangleTable

__all__ = ["plot_execution"]

_TRUE, _FALSE, _INSIDE = "#2a9d6f", "#c4453a", "#e8f4ee"
_BESIDE = 5  # pictures in one row


def plot_execution(execution: Execution) -> Any:
    """A figure with a small triangle for each decision: which facts were true, which kernel, and which step it called.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> from adjoint.planning.monitoring import monitor
        >>> task = book_task("monkey")
        >>> calls = "goto a b, pushbox b c, climbbox c, grasp".split(", ")
        >>> world = [task.initial]
        >>> plot_execution(monitor(Plan(task, tuple(task.action(*call.split()) for call in calls)),
        ...     sense=lambda: world[-1], act=lambda action: world.append(action.result(world[-1]))))
        <Figure size ...>

    A dot is a fact of a cell: green if it is true, red if not. The figure needs matplotlib, the extra `[plot]`.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    if not isinstance(execution, Execution):
        inside = "; its .execution is one" if hasattr(execution, "execution") else ""
        raise ArgumentError(f"plot_execution: an Execution is needed, got {type(execution).__name__}{inside}")
    decisions = execution.decisions
    if not decisions:
        raise ArgumentError("plot_execution: the execution has no decisions that could be drawn")
    rows = -(-len(decisions) // _BESIDE)
    with house_style("plot_execution"):
        figure = new_figure("plot_execution", (2.1 * min(_BESIDE, len(decisions)), 2.35 * rows), layout="constrained")
        places = figure.subplots(rows, min(_BESIDE, len(decisions)), squeeze=False).flatten()
        for axes in places:
            axes.set_axis_off()
        steps = 0
        for axes, decision in zip(places, decisions, strict=False):
            steps += decision.action is not None
            _draw_frame(axes, execution.tables[decision.plan], decision)
            axes.set_title(_caption(decision, steps), fontsize=8.5, loc="left", color=_colour(decision))
    return figure


def _caption(decision: Decision, steps: int) -> str:
    if decision.action:
        return f"{steps}. {decision.action}"
    return (
        "no kernel is true" if decision.kernel == 0 else "the goal is true" if "goal" in decision.reason else "gives up"
    )


def _colour(decision: Decision) -> str:
    usual = decision.action is None or "next" in decision.reason
    return "#2b2f36" if usual and decision.kernel else CURVES[6]


def _draw_frame(axes, table: TriangleTable, decision: Decision) -> None:
    from matplotlib.patches import Rectangle

    k, last = decision.kernel, table.N + 1
    for r in range(1, last + 1):
        for c in range(min(r, table.N) + 1):
            colour = "#f2c08c" if r == c == k else "#dfe3e8" if r == c else _INSIDE if 0 < k <= r and c < k else "white"
            axes.add_patch(Rectangle((c, r - 1), 1, 1, facecolor=colour, edgecolor="#b9bfc7", lw=0.6))
            if r == c:
                axes.text(c + 0.5, r - 0.5, str(r), ha="center", va="center", fontsize=6.5, color="#5c6570")
            _draw_dots(axes, (c + 0.5, r - 0.5), table.cells.get((r, c), ()), decision.state)
    if k:
        axes.add_patch(Rectangle((0, k - 1), k, last - k + 1, fill=False, edgecolor=CURVES[0], lw=1.8, zorder=5))
    axes.set(xlim=(-0.1, last + 0.1), ylim=(last + 0.1, -0.1), aspect="equal")


def _draw_dots(axes, centre: tuple[float, float], literals: tuple[Fact, ...], state: Set[Fact]) -> None:
    """Draws a dot for each literal, beside each other and at most three in a line."""
    lines = [literals[n : n + 3] for n in range(0, len(literals), 3)]
    for i, line in enumerate(lines):
        for j, literal in enumerate(line):
            x = centre[0] + 0.28 * (j - (len(line) - 1) / 2)
            y = centre[1] + 0.28 * (i - (len(lines) - 1) / 2)
            axes.plot(x, y, "o", ms=3.6, color=_TRUE if literal_holds(literal, state) else _FALSE)
