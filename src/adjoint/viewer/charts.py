"""Charts beside the scene: lines over time, with a line at the time that is shown."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import viser

    from ..drawing.actors import Curves

__all__ = ["Chart", "legend", "line_color"]

_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22")
_MOST_LINES = 12
_NOW = "#7f7f7f"


def legend(names: tuple[str, ...]) -> str:
    """Names in the colors of their lines, as HTML."""
    words = [f'<span style="color:{line_color(k)}">■</span>&nbsp;{html.escape(n)}' for k, n in enumerate(names)]
    more = f" and {len(names) - _MOST_LINES} more" if len(names) > _MOST_LINES else ""
    return f'<div style="padding:0 1em;font-size:.75em;line-height:1.5">{" ".join(words[:_MOST_LINES])}{more}</div>'


def line_color(k: int) -> str:
    """The color of line number k."""
    return _COLORS[k % len(_COLORS)]


class Chart:
    """One chart of the lines in `curves`, at times t (k,) [s]; of many lines, the first twelve."""

    def __init__(self, gui: viser.GuiApi, t: np.ndarray, curves: Curves, height: int = 165):
        self._t = t
        names = curves.labels[:_MOST_LINES]
        series: list[Any] = [{"label": "t"}]
        series += [
            {"label": name, "stroke": line_color(k), "width": 1.5, "points": {"show": False}}
            for k, name in enumerate(names)
        ]
        series.append({"label": "now", "stroke": _NOW, "width": 1.5, "points": {"show": False}})
        self._set(t, curves.values)
        self._handle = gui.add_uplot(
            self._data(float(t[0])), tuple(series), title=f"{curves.name.capitalize()} [{curves.unit}]", height=height,
            scales=self._scales(), axes=({"stroke": _NOW}, {"stroke": _NOW, "size": 55}),
            legend={"show": False}, cursor={"show": True}, padding=(4, 8, 0, 0),
        )  # fmt: skip

    def _set(self, t: np.ndarray, values: np.ndarray) -> None:
        """The lines; what is not finite is 0."""
        self._t, lines = np.asarray(t, float), np.nan_to_num(values[:, :_MOST_LINES], posinf=0.0, neginf=0.0)
        self._lines = lines
        low, high = float(lines.min(initial=0.0)), float(lines.max(initial=0.0))
        self._ends = (low, high) if high > low else (low, low + 1.0)

    def _scales(self) -> dict[str, Any]:
        """The lowest value is at the bottom, where the line of the time that is shown lies flat."""
        low, high = self._ends
        times = float(self._t[0]), max(float(self._t[-1]), float(self._t[0]) + 1e-9)
        return {"x": {"time": False, "range": times}, "y": {"range": (low, high + 0.05 * (high - low))}}

    def _data(self, now: float) -> tuple[np.ndarray, ...]:
        """All lines, and one more that jumps up at the time `now`: three times are added for it."""
        a, b = float(self._t[0]), float(self._t[-1])
        little = 1e-4 * max(b - a, 1e-9)
        near = np.clip(now + little * np.array([-1.0, 0.0, 1.0]), a, b)
        t = np.unique(np.concatenate([self._t, near]))
        lines = [np.interp(t, self._t, self._lines[:, k]) for k in range(self._lines.shape[1])]
        low, high = self._ends
        return t, *lines, np.where(t == near[1], high, low)

    def show(self, now: float) -> None:
        """Move the line to another time."""
        self._handle.data = self._data(now)

    def replace(self, t: np.ndarray, values: np.ndarray, now: float | None = None) -> None:
        """Show other values (k, m) at other times (k,)."""
        self._set(t, values)
        self._handle.scales = self._scales()
        self._handle.data = self._data(float(t[-1]) if now is None else now)
