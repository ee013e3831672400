"""A report as one HTML file: text, tables, figures, images and pages of robots, in light and dark.

A report is a list of parts. What begins with "<" is HTML; all else is a paragraph.
"""

from __future__ import annotations

import html
import io
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..extras import package

__all__ = ["INK", "drawn", "figure", "framed", "image", "report_text", "table"]

INK = "#0a0b0c"  # stands for the colour of the page's text
_INCH = 62  # [pixel] of figures at least, so that their text can be read
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 0 1rem 3rem; }
h1, h2 { line-height: 1.2; margin: 2rem 0 0.5rem; }
svg { width: 100%; height: auto; }
iframe { width: 100%; height: min(32rem, 105vw); border: 1px solid #8885; border-radius: 10px; }
img { width: 100%; height: auto; border-radius: 6px; }
figure { margin: 0; } figcaption { font-size: 0.85rem; opacity: 0.8; }
.images { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 0.8rem; }
.wide { overflow-x: auto; }
pre { overflow-x: auto; padding: 0.6rem 0.8rem; border: 1px solid #8884; border-radius: 6px; font-size: 0.85rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { padding: 0.3rem 0.6rem; text-align: right; border-bottom: 1px solid #8884; }
td:first-child, th:first-child, table.words td, table.words th { text-align: left; }
td:first-child, th:first-child { white-space: nowrap; }
"""


@contextmanager
def figure(parts: list[str], size: tuple[float, float], columns: int = 1) -> Iterator[tuple]:
    """Gives a figure and its axes, beside each other; when they are drawn, they become a part of the report."""
    mpl = package("matplotlib", "plot", "report")
    inked = "text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "legend.labelcolor"
    without = "axes.spines.top", "axes.spines.right", "legend.frameon"
    looks: dict[Any, Any] = dict.fromkeys(inked, INK) | dict.fromkeys(without, False)
    with mpl.rc_context(looks):
        made = package("matplotlib.figure", "plot", "report").Figure(figsize=size, layout="constrained")
        yield made, *made.subplots(1, columns, squeeze=False)[0]
        parts.append(drawn(made, transparent=True))


def drawn(made: Any, *, transparent: bool = False) -> str:
    """A figure as a part of the report, which can be scrolled if it is wide.

    The text of a transparent figure has the colour of the page's text.
    """
    text = io.StringIO()
    made.savefig(text, format="svg", transparent=transparent)
    picture = text.getvalue()[text.getvalue().index("<svg") :].replace(INK, "currentColor")
    return f"<div class='wide'><div style='min-width: {made.get_size_inches()[0] * _INCH:.0f}px'>{picture}</div></div>"


def image(pixels: Any, caption: str = "") -> str:
    """An image (rows, columns[, 3]) of 0 ... 255 with a caption."""
    file = io.BytesIO()
    gray = {"cmap": "gray", "vmin": 0, "vmax": 255} if pixels.ndim == 2 else {}
    package("matplotlib.image", "plot", "report").imsave(file, pixels, format="png", **gray)
    said = html.escape(caption)
    source = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    return f'<figure><img alt="{said}" src="{source}"><figcaption>{said}</figcaption></figure>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: bool = False) -> str:
    """A table with a line of heads; `words` stand at the left, numbers at the right."""
    lines = [f"<tr>{''.join(f'<th>{html.escape(x)}</th>' for x in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{html.escape(x)}</td>' for x in row)}</tr>" for row in rows]
    return f"<div class='wide'><table{' class=words' * words}>{''.join(lines)}</table></div>"


def framed(page: str, title: str = "animation") -> str:
    """The text of a page, inside the report."""
    return f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(page)}"></iframe>'


def report_text(title: str, parts: Sequence[str]) -> str:
    """The text of the report."""
    body = "\n".join(x if x.startswith("<") else f"<p>{html.escape(x)}</p>" for x in parts)
    told = html.escape(title)
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{told}</title>"
    return f"<!doctype html><html lang='en'>{head}<style>{_STYLE}</style><h1>{told}</h1>\n{body}</html>\n"
