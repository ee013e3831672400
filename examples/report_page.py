"""A report as one HTML file: text, tables, figures and animations, in light and dark, with nothing from elsewhere."""

import html
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

INK = "#0a0b0c"  # stands for the colour of the page's text
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 0 1rem 3rem; }
h1, h2 { line-height: 1.2; margin: 2rem 0 0.5rem; }
svg { width: 100%; min-width: 34rem; height: auto; }
iframe { width: 100%; height: min(32rem, 105vw); border: 1px solid #8885; border-radius: 10px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { padding: 0.3rem 0.6rem; text-align: right; border-bottom: 1px solid #8884; }
td:first-child, th:first-child { text-align: left; white-space: nowrap; }
"""


@contextmanager
def figure(parts: list[str], size: tuple[float, float], columns: int = 1) -> Iterator[tuple]:
    """Gives a figure and its axes, beside each other; when they are drawn, they become a part of the report."""
    inked = "text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "legend.labelcolor"
    without = "axes.spines.top", "axes.spines.right", "legend.frameon"
    looks: dict[Any, Any] = dict.fromkeys(inked, INK) | dict.fromkeys(without, False)
    with mpl.rc_context(looks):
        drawn, text = Figure(figsize=size, layout="constrained"), io.StringIO()
        yield drawn, *drawn.subplots(1, columns, squeeze=False)[0]
        drawn.savefig(text, format="svg", transparent=True)
    picture = text.getvalue()[text.getvalue().index("<svg") :].replace(INK, "currentColor")
    parts.append(f"<div class='wide'>{picture}</div>")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a line of heads."""
    lines = [f"<tr>{''.join(f'<th>{html.escape(x)}</th>' for x in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{html.escape(x)}</td>' for x in row)}</tr>" for row in rows]
    return f"<div class='wide'><table>{''.join(lines)}</table></div>"


def animation(page: Path) -> str:
    """A page that `Run.animate` wrote, inside the report."""
    return f'<iframe title="animation" srcdoc="{html.escape(page.read_text(encoding="utf-8"))}"></iframe>'


def write(path: Path, title: str, parts: Sequence[str]) -> None:
    """Writes the report; parts that are not HTML are paragraphs."""
    body = "\n".join(x if x.startswith("<") else f"<p>{html.escape(x)}</p>" for x in parts)
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{title}</title>"
    page = f"<!doctype html><html lang='en'>{head}<style>{STYLE}</style><h1>{title}</h1>\n{body}</html>\n"
    path.write_text(page, encoding="utf-8")
