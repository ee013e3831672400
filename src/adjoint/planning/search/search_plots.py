"""Pictures of small searches: `plot_search` for state spaces, `plot_and_or` for AND/OR graphs. They need matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...drawing.style import house_style, new_figure, saved_figure
from ...errors import ArgumentError
from ...extras import package
from ..limits import check_kind
from .and_or import AndOrResult
from .search_results import Expansion, SearchResult, Successor, brief
from .tree_layout import columns_and_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_and_or", "plot_search"]

_MOST = 60  # nodes that a picture can show legibly
_WAY, _EXPANDED, _OPEN, _LINE, _FAINT = "#e07b22", "#dcebf8", "#ffffff", "#7b838d", "#c8ccd2"
_LETTER, _SMALL = 0.068, 0.056  # widths of a letter in boxes and of one beside arcs [inch]
_ROW, _HALF, _PAGE = 0.56, 0.17, 8.5  # distance of rows, half the height of a box, and what a page can show [inch]


def plot_search(result: SearchResult, path: str | Path | None = None) -> Figure:
    """A picture of a search: the tree of best ways, the order of expansions, g, h and f, and the solution.

        >>> from adjoint.planning.search import a_star, bar_path
        >>> figure = plot_search(a_star(bar_path(), trace=True), "search.png")

    The search must have been run with `trace=True`. Blue states were expanded in the order of their numbers, white ones
    were still open, and grey lines are successors that were known by a better way. f is what the open list is ordered
    by: a box has "g + h = f" or, if f is something else, the three numbers. The action that leads to a state
    stands above it, or on its arrow where a deep tree is drawn from the top down. With a `path` (.png, .pdf, .svg) the
    picture is also written. More than 60 states are refused.
    """
    check_kind("plot_search", result, SearchResult, "the result")
    if result.trace is None:
        raise ArgumentError(f"plot_search needs a trace: {result.method}(problem, trace=True)")
    if any(step.backward for step in result.trace):
        raise ArgumentError("plot_search draws searches from the start only; bidirectional has two")
    _check_size("plot_search", {s.state for step in result.trace for s in step.successors})
    parents, numbers, labels, others = _search_tree(result)
    children: dict[Any, list[Any]] = {}
    for child, (parent, _) in parents.items():
        children.setdefault(parent, []).append(child)
    way = set(zip(result.states, result.states[1:], strict=False))
    arcs = [(parent, child, (parent, child) in way) for child, (parent, _) in parents.items()]
    actions = {child: brief(action) for child, (_, action) in parents.items()}
    drawing = _Drawing("plot_search", columns_and_rows(result.problem.initial, children), labels, actions)
    for before, after in others:
        drawing.link(before, after, _FAINT, 0.7, bend=0.15)
    for before, after, wanted in sorted(arcs, key=lambda arc: arc[2]):
        drawing.link(before, after, _WAY if wanted else _LINE, 2.2 if wanted else 0.9)
    for state in labels:
        drawing.box(state, _EXPANDED if state in numbers else _OPEN, state in result.states, numbers.get(state, ""))
    return drawing.done(repr(result)[len("<SearchResult of ") : -1], path)


def _search_tree(result: SearchResult) -> tuple[dict, dict[Any, str], dict[Any, str], list[tuple[Any, Any]]]:
    """{state: its parent and action}, {state: numbers of its expansions}, {state: label}, and arcs not in the tree."""
    assert result.trace is not None
    parents: dict[Any, tuple[Any, Any]] = {}
    numbers: dict[Any, list[int]] = {}
    labels = {result.problem.initial: brief(result.problem.initial)}
    others: dict[tuple[Any, Any], None] = {}
    for step in result.trace:
        numbers.setdefault(step.state, []).append(step.order)
        labels[step.state] = _numbered(step)
        for s in step.successors:
            if s.verdict in ("new", "cheaper", "reopened"):
                if s.state in parents:
                    others[parents[s.state][0], s.state] = None
                parents[s.state] = (step.state, s.action)
                labels[s.state] = _numbered(s)
            elif s.verdict in ("worse", "closed"):
                others[step.state, s.state] = None
    known = [arc for arc in others if parents.get(arc[1], (None,))[0] != arc[0] and arc[1] in labels]
    return parents, {state: ", ".join(map(str, n)) for state, n in numbers.items()}, labels, known


def _numbered(step: Expansion | Successor) -> str:
    shown = brief(step.state).replace("'", "")
    if not (math.isfinite(step.h) and step.h > 0):
        return f"{shown}\ng = {step.g:g}"
    if step.f == step.g + step.h:
        return f"{shown}\n{step.g:g} + {step.h:g} = {step.f:g}"
    return f"{shown}\ng = {step.g:g}, h = {step.h:g}, f = {step.f:g}"


def plot_and_or(result: AndOrResult, path: str | Path | None = None) -> Figure:
    """A picture of the AND/OR graph that AO* made: costs, the order of expansions, and the solution graph.

        >>> from adjoint.planning.search import and_or_example, ao_star
        >>> figure = plot_and_or(ao_star(and_or_example()), "reductions.png")

    A curve joins the arcs of which all are needed, with the cost of the reduction beside it. With a `path` (.png, .pdf,
    .svg) the picture is also written. More than 60 nodes are refused.
    """
    check_kind("plot_and_or", result, AndOrResult, "the result")
    _check_size("plot_and_or", result.values)
    children = {node: [c for arc in arcs for c in arc.children] for node, arcs in result.arcs.items()}
    labels = {node: f"{brief(node)}\n{value:g}" for node, value in result.values.items()}
    numbers = {node: str(k) for k, node in enumerate(result.expanded, 1)}
    drawing = _Drawing("plot_and_or", columns_and_rows(result.problem.initial, children), labels)
    needed = {result.problem.initial} | {c for arc in result.graph.values() for c in arc.children}
    for node, arcs in result.arcs.items():
        for k, arc in enumerate(arcs):
            wanted = result.graph.get(node) is arc
            style = (_WAY, 2.2) if wanted else (_LINE, 0.9)
            drawing.fan(node, arc.children, *style, f"{arc.cost:g}", (k + 1) / (len(arcs) + 1))
    for node in labels:
        terminal = node not in result.arcs and result.problem.is_terminal(node)
        fill = _EXPANDED if node in numbers else "#dff0e3" if terminal else _OPEN
        drawing.box(node, fill, result.solved and node in needed, numbers.get(node, ""))
    return drawing.done(repr(result)[len("<AndOrResult of ") : -1], path)


def _check_size(caller: str, nodes: Iterable[Any]) -> None:
    if (size := len(set(nodes))) > _MOST:
        raise ArgumentError(f"{caller}: {size} nodes are too many for a legible picture; {_MOST} can be drawn")


class _Drawing:
    """A picture of boxes, in inches: the root is at the left, or on top if the picture would become too wide."""

    def __init__(
        self,
        caller: str,
        places: Mapping[Any, tuple[int, float]],
        labels: Mapping[Any, str],
        actions: Mapping[Any, str] | None = None,
    ):
        self.caller, self.labels, self.actions = caller, labels, actions or {}
        self.width = {n: 0.2 + _LETTER * max(map(len, label.split("\n"))) for n, label in labels.items()}
        above = {n: 0.05 + _SMALL * (len(self.actions[n]) + 3) if n in self.actions else 0.0 for n in labels}
        across = _across(places, {n: max(self.width[n], above[n]) for n in labels}, 0.4 if actions else 0.85)
        down = _downward(places, self.width, max(above.values()))
        self.down = across[1][0] > max(_PAGE, down[1][0])
        self.at, size = down if self.down else across
        if not self.down:
            self.width = {n: max(self.width[n], above[n]) for n in labels}
        with house_style(caller):
            self.figure = new_figure(caller, size)
            self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, size[0]), ylim=(0, size[1]))
        self.axes.set_axis_off()
        self.patches = package("matplotlib.patches", "plot", caller)

    def box(self, node: Any, fill: str, wanted: bool, number: str) -> None:
        """A node with its label, the number of its expansion, and the action that leads to it."""
        (x, y), width = self.at[node], self.width[node]
        line = {"edgecolor": _WAY, "linewidth": 1.8} if wanted else {"edgecolor": _LINE, "linewidth": 0.8}
        corners = (x - width / 2, y - _HALF), width, 2 * _HALF
        round_ = "round,pad=0,rounding_size=0.06"
        self.axes.add_patch(self.patches.FancyBboxPatch(*corners, boxstyle=round_, facecolor=fill, zorder=3, **line))
        self.text(x, y - 0.01, self.labels[node], ha="center", va="center", fontsize=7.5, linespacing=1.1, zorder=4)
        small = {"fontsize": 6.5, "va": "center", "zorder": 4}
        spot = (x - width / 2 - 0.05, y) if self.down else (x - width / 2, y + 0.24)
        side = "right" if self.down else "left"  # where no arrow ends
        self.text(*spot, number, ha=side, color="#2f7fc8", **small)
        if not self.down:
            self.text(x + width / 2, y + 0.24, self.actions.get(node, ""), ha="right", color="#4a515a", **small)

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        """Letters as they are: a dollar sign begins no formula."""
        self.axes.text(x, y, text, parse_math=False, **style)

    def ends(self, before: Any, after: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        """The points at which a line leaves one box and meets another."""
        (x0, y0), (x1, y1) = self.at[before], self.at[after]
        if not self.down and x1 > x0:
            return (x0 + self.width[before] / 2, y0), (x1 - self.width[after] / 2, y1)
        if y1 == y0:  # beside each other
            side = math.copysign(0.5, x1 - x0)
            return (x0 + side * self.width[before], y0), (x1 - side * self.width[after], y1)
        up = math.copysign(_HALF, y1 - y0)
        return (x0, y0 + up), (x1, y1 - up)

    def link(self, before: Any, after: Any, color: str, width: float, bend: float = 0.0) -> None:
        """An arrow between two nodes, with the action on it if the arrow goes down."""
        start, end = self.ends(before, after)
        self.arrow(start, end, color, width, bend)
        if self.down and not bend:
            spot = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
            style = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            options = {"ha": "center", "va": "center", "fontsize": 6.5, "color": "#4a515a", "zorder": 2.5}
            self.text(*spot, self.actions.get(after, ""), bbox=style, **options)

    def arrow(self, start: tuple, end: tuple, color: str, width: float, bend: float = 0.0) -> None:
        """An arrow between two points."""
        shape = self.patches.FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=8, shrinkA=0, shrinkB=0, color=color, linewidth=width,
            connectionstyle=f"arc3,rad={bend}", zorder=1 if bend else 2,
        )  # fmt: skip
        self.axes.add_patch(shape)

    def fan(self, node: Any, children: tuple, color: str, width: float, text: str, share: float) -> None:
        """A hyperarc: arrows to all children, joined by a curve if there are several."""
        (x, y), width_of = self.at[node], self.width[node]
        x, y = (x + width_of * (share - 0.5), y - _HALF) if self.down else (x + width_of / 2, y + 0.26 * (0.5 - share))
        angles = []
        for child in children:
            end = self.ends(node, child)[1]
            self.arrow((x, y), end, color, width)
            angles.append(math.atan2(end[1] - y, end[0] - x))
        if len(children) > 1:
            low, high = math.degrees(min(angles)), math.degrees(max(angles))
            arc = self.patches.Arc((x, y), 0.56, 0.56, theta1=low, theta2=high, color=color, linewidth=width, zorder=2)
            self.axes.add_patch(arc)
        middle = (min(angles) + max(angles)) / 2 if angles else 0.0
        spot = (x + 0.42 * math.cos(middle), y + 0.42 * math.sin(middle))
        style = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        self.text(*spot, text, ha="center", va="center", fontsize=7, color=color, bbox=style, zorder=2.5)

    def done(self, title: str, path: str | Path | None) -> Figure:
        """The figure with its title; with a path, it is written."""
        width, height = self.figure.get_size_inches()
        letters = max(20, int(width / _LETTER))
        shown = title if len(title) <= letters else f"{title[: letters - 3]}..."
        self.text(0.15, height - 0.08, shown, ha="left", va="top", fontsize=8.5, fontweight="bold")
        if path is not None:
            saved_figure(self.figure, path, self.caller)
        return self.figure


_Places = dict[Any, tuple[float, float]]


def _across(places: Mapping[Any, tuple[int, float]], width: Mapping[Any, float], gap: float) -> tuple[_Places, tuple]:
    """The middles of boxes and the size of a picture with the root at the left; columns are as wide as their boxes."""
    widths = [0.0] * (1 + max(column for column, _ in places.values()))
    for node, (column, _) in places.items():
        widths[column] = max(widths[column], width[node])
    left = [0.15 + sum(widths[:k]) + gap * k for k in range(len(widths))]
    last = max(row for _, row in places.values())
    at = {n: (left[c] + widths[c] / 2, 0.3 + _ROW * (last - row)) for n, (c, row) in places.items()}
    return at, (max(4.0, left[-1] + widths[-1] + 0.15), 0.95 + _ROW * last)


def _downward(places: Mapping[Any, tuple[int, float]], width: Mapping[Any, float], gap: float) -> tuple[_Places, tuple]:
    """The same with the root on top: what was a column is a row."""
    last = max(column for column, _ in places.values())
    pitch = max(max(width.values()) + 0.25, gap)
    at = {n: (0.15 + pitch * (row + 0.5), 0.3 + 1.3 * _ROW * (last - c)) for n, (c, row) in places.items()}
    return at, (max(4.0, 0.3 + pitch * (1 + max(row for _, row in places.values()))), 0.95 + 1.3 * _ROW * last)
