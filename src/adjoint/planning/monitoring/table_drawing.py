"""`plot_table`: a triangle table as the book draws it, with a kernel marked and facts lit where they are true."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from ...display import counted
from ...drawing.style import CURVES, house_style, new_figure
from ..limits import check_kind
from ..strips.task_types import Fact
from .kernels import highest_kernel
from .literals import literal_holds, literal_text, state_of
from .triangle_tables import TriangleTable

__all__ = ["plot_table"]

_TRUE, _FALSE, _PLAIN = "#2a9d6f", "#c4453a", "#2b2f36"
_LINE, _LETTER = 0.19, 0.075  # inches: the height of a line and the width of a letter of 8 points


def plot_table(table: TriangleTable, state: Iterable[Fact] | None = None) -> Any:
    """A figure of a triangle table; with a `state`, true facts are green, false ones red, and the kernel is marked.

        >>> from adjoint.planning.pddl import book_task
        >>> from adjoint.planning.strips import Plan
        >>> from adjoint.planning.monitoring import triangle_table
        >>> task = book_task("monkey")
        >>> calls = "goto a b, pushbox b c, climbbox c, grasp".split(", ")
        >>> plan = Plan(task, tuple(task.action(*call.split()) for call in calls))
        >>> plot_table(triangle_table(plan), task.initial)
        <Figure size ...>

    The kernel of step i is the rectangle of all cells in row i and below, left of column i. The figure needs
    matplotlib, the extra `[plot]`. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6, Fig. 10.14.
    """
    check_kind("plot_table", table, TriangleTable, "the table")
    now = None if state is None else state_of(state, "plot_table")
    widths, heights = column_widths(table), row_heights(table)
    with house_style("plot_table"):
        figure = new_figure("plot_table", (sum(widths) + 0.7, sum(heights) + 0.65), layout=None)
        axes = figure.add_axes((0, 0, 1, 1))
        draw_table(axes, table, now, widths, heights)
        axes.set_title(_title(table, now), loc="left", x=0.02, y=1.0, pad=-16)
    return figure


def _title(table: TriangleTable, state: Set[Fact] | None) -> str:
    if state is None:
        wanted = [literal_text(x) for facts in table.row(table.N + 1).values() for x in facts]
        return f"{counted(table.N, 'step')} to " + " ".join(wanted[:3]) + (" ..." if len(wanted) > 3 else "")
    k = highest_kernel(table, state)
    if k == 0:
        return "No kernel is true: the plan does not help here"
    return f"Kernel {k} is true: " + (
        "the goal is reached" if k > table.N else f"{table.plan.actions[k - 1]} comes next"
    )


def column_widths(table: TriangleTable) -> list[float]:
    """The widths [inch] of columns 0 ... N: of their widest literal or step."""
    longest = [len(str(action)) + 2 for action in table.plan.actions]
    texts = [
        max((len(literal_text(x)) for facts in table.column(c).values() for x in facts), default=3)
        for c in range(table.N + 1)
    ]
    return [_LETTER * max(text, step) + 0.16 for text, step in zip(texts, [3, *longest], strict=True)]


def row_heights(table: TriangleTable) -> list[float]:
    """The heights [inch] of rows 1 ... N+1: of their longest list."""
    return [_LINE * max(1, *map(len, table.row(r).values()), 1) + 0.12 for r in range(1, table.N + 2)]


def draw_table(axes, table: TriangleTable, state: Set[Fact] | None, widths: list[float], heights: list[float]) -> None:
    """Draws the triangle on axes whose unit is an inch; y goes down."""
    x = [sum(widths[:c]) for c in range(len(widths) + 1)]
    y = [sum(heights[:r]) for r in range(len(heights) + 1)]
    k = 0 if state is None else highest_kernel(table, state)
    axes.set(xlim=(-0.4, x[-1] + 0.3), ylim=(y[-1] + 0.15, -0.5))
    axes.set_axis_off()
    axes.text(x[0] + 0.08, -0.06, "0", color="#5c6570", va="bottom")
    for r in range(1, table.N + 2):
        axes.text(-0.1, (y[r - 1] + y[r]) / 2, str(r), ha="right", va="center", color="#5c6570")
        for c in range(min(r, table.N) + 1):
            inside = 0 < k <= r and c < k
            _draw_cell(axes, (x[c], y[r - 1], widths[c], heights[r - 1]), step=r == c, inside=inside, due=r == c == k)
            if r == c:
                weight = "bold" if r == k else "normal"
                text = f"{r} {table.plan.actions[r - 1]}"
                axes.text(x[c] + 0.08, (y[r - 1] + y[r]) / 2, text, va="center", fontsize=8, weight=weight)
            for n, literal in enumerate(table.cells.get((r, c), ())):
                colour = _PLAIN if state is None else _TRUE if literal_holds(literal, state) else _FALSE
                at = x[c] + 0.08, y[r - 1] + 0.06 + _LINE * (n + 0.5)
                axes.text(*at, literal_text(literal), va="center", fontsize=8, color=colour)
    if k:
        _draw_frame(axes, (x[0], y[k - 1], x[min(k, table.N + 1)] - x[0], y[-1] - y[k - 1]))


def _draw_cell(axes, box: tuple[float, float, float, float], *, step: bool, inside: bool, due: bool) -> None:
    from matplotlib.patches import Rectangle

    left, top, width, height = box
    colour = "#fbe3cc" if due else "#eef0f3" if step else "#e8f4ee" if inside else "white"
    axes.add_patch(Rectangle((left, top), width, height, facecolor=colour, edgecolor="#b9bfc7", lw=0.8))


def _draw_frame(axes, box: tuple[float, float, float, float]) -> None:
    from matplotlib.patches import Rectangle

    left, top, width, height = box
    axes.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=CURVES[0], lw=2.0, zorder=5))
