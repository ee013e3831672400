"""One style for all figures: their colors, letters and lines, how they are written, and how notebooks show them."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..extras import package
from ..files import whole_file

__all__ = ["CURVES", "finished", "house_style", "new_figure", "saved_figure", "time_figure"]

CURVES = (
    "#e07b22", "#2f7fc8", "#2a9d6f", "#b65aa2", "#c9a227", "#5c6570", "#c4453a", "#48b8c4", "#8c6bd1", "#8a9a3b",
)  # fmt: skip
"""The colors of curves, in order; the first are those of the robots in animations."""

_WIDTH = 100  # letters that fit beside each other below the figure
_INK = "#2b2f36"
_STYLE = {
    "font.size": 9.0, "axes.titlesize": 10.0, "axes.labelsize": 9.0, "legend.fontsize": 8.5,
    "xtick.labelsize": 8.0, "ytick.labelsize": 8.0, "text.color": _INK, "axes.labelcolor": _INK,
    "axes.edgecolor": "#8a9099", "axes.linewidth": 0.8, "xtick.color": "#5c6570", "ytick.color": "#5c6570",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e8eb",
    "grid.linewidth": 0.7, "axes.axisbelow": True, "lines.linewidth": 1.5, "legend.frameon": False,
    "figure.dpi": 110.0, "savefig.dpi": 160.0, "pdf.fonttype": 42, "svg.fonttype": "none",
}  # fmt: skip


@contextlib.contextmanager
def house_style(caller: str) -> Iterator[Any]:
    """What is drawn inside has the style of the library; it gives the module matplotlib, the extra `[plot]`."""
    matplotlib = package("matplotlib", "plot", caller)
    cycle = package("cycler", "plot", caller).cycler(color=CURVES)
    with matplotlib.rc_context({**_STYLE, "axes.prop_cycle": cycle}):
        yield matplotlib


def new_figure(caller: str, size: tuple[float, float], **options) -> Any:
    """A figure of a size [inch], which shows itself in notebooks, whether or not pyplot is in use there."""
    figure = package("matplotlib.figure", "plot", caller).Figure(figsize=size, **options)
    figure._repr_png_ = functools.partial(_png, figure)
    return figure


def _png(figure) -> bytes:
    """The figure as notebooks show it."""
    with house_style("a figure"):
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=110)
        return file.getvalue()


def time_figure(caller: str, rows: int) -> Any:
    """A figure with so many rows over one axis of time."""
    figure = new_figure(caller, (8, 2.6 * rows), layout="constrained")
    figure.subplots(rows, 1, sharex=True)
    return figure


def finished(figure, title: str) -> Any:
    """The figure over time with its title, the name of its axis, and the legend of its first row."""
    figure.axes[0].set_title(title, fontsize=9 if len(title) > 60 else None, loc="left")
    figure.axes[-1].set_xlabel("time [s]")
    lines, names = figure.axes[0].get_legend_handles_labels()
    columns = max(1, min(6, len(names), _WIDTH // (max(map(len, names), default=0) + 6)))
    figure.legend(lines, names, loc="outside lower center", ncols=columns)
    for axes in figure.axes:
        axes.margins(x=0)
    return figure


def saved_figure(figure, path, caller: str) -> Path:
    """Writes a figure into a file whose ending says what it is: .png, .pdf, .svg; it appears whole or not at all."""
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise ArgumentError(f"{caller}: {target}: the ending must be one of {', '.join(known)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with house_style(caller), whole_file(target) as unfinished:
        figure.savefig(unfinished, format=kind)
    return target
