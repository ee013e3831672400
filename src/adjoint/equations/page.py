"""Formulas as text, as LaTeX, and as HTML with MathML, which browsers render without a script or the network."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any, NamedTuple

import sympy

from ..errors import ArgumentError
from ..model.robot import Robot
from .naming import Symbols
from .notation import Latex, Mark, MathML, Text, Writer

__all__ = ["Line", "Section", "Shown", "entries", "law"]


class Line(NamedTuple):
    """A mark, and the expressions that it equals, one after the other."""

    left: Mark
    rights: tuple[Any, ...] = ()  # SymPy expressions and matrices


class Section(NamedTuple):
    """A title, a sentence of `text`, and `lines` of formulas; short lines may be set in columns."""

    title: str
    lines: list[Line]
    text: str = ""
    in_columns: bool = False


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
.formula { overflow-x: auto; padding: 0.15rem 0; } math { font-size: 1.1rem; }
.more { padding-left: 4rem; } .columns { columns: 10rem; }
"""


class Shown:
    """The ways to show formulas, for a class that has `robot`, `symbols` and `_sections`."""

    robot: Robot
    symbols: Symbols

    def _sections(self) -> list[Section]:
        """Return what is shown; the class that has the formulas defines it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(_text(section) for section in self._all())

    __repr__ = __str__

    def latex(self) -> str:
        """Return all formulas as LaTeX: headings, and one `align*` for each group of formulas."""
        return "\n".join(_latex(section, self.symbols) for section in self._all())

    def _repr_html_(self) -> str:
        return "\n".join(_html(section, self.symbols) for section in self._all())

    def to_html(self, path: str | Path) -> Path:
        """Write a page with all formulas in MathML, which any browser shows, and return its path."""
        path, title = Path(path), html.escape(f"Equations of motion: {self.robot.name}")
        if not path.parent.is_dir():
            raise ArgumentError(f"to_html: there is no folder '{path.parent}' for '{path.name}'")
        head = f'<meta charset="utf-8"/>\n<title>{title}</title>\n<style>{_STYLE}</style>'
        body = f"<h1>{title}</h1>\n{self._repr_html_()}"
        path.write_text(
            f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n', "utf-8"
        )
        return path

    def _all(self) -> list[Section]:
        """Return all sections, and after them the numbers of the robot that have symbols in the formulas."""
        sections = self._sections()
        used = {s for section in sections for line in section.lines for e in line.rights for s in e.free_symbols}
        numbers = [Line(("symbol", s), (sympy.Float(x, 15),)) for s, x in self.symbols.parameters.items() if s in used]
        return [*sections, Section("Numbers of this robot", numbers, "In SI units.", True)] if numbers else sections


# --- one section, three ways ------------------------------------------------------------------------------------------


def _text(section: Section) -> str:
    """Return a section as plain text."""
    write = Text()
    lines = []
    for line in section.lines:
        left, *rest = _sides(write, line)
        lines.append(" = ".join([left, *rest]).replace("\n", "\n" + " " * len(left + " = ")))
    return "\n".join([*filter(None, [section.title, section.text]), *lines])


def _latex(section: Section, symbols: Symbols) -> str:
    """Return a section as LaTeX."""
    write = Latex(symbols)
    rows = []
    for line in section.lines:
        left, *rest = _sides(write, line, r" \\ &\quad ")
        rows.append(f"{left} &= {' = '.join(rest)}" if rest else f"& {left}")
    heading = [rf"\subsection*{{{section.title}}}"] if section.title else []
    body = " \\\\\n".join(rows)
    return "\n".join([*heading, *filter(None, [section.text]), f"\\begin{{align*}}\n{body}\n\\end{{align*}}"])


def _html(section: Section, symbols: Symbols) -> str:
    """Return a section as HTML."""
    write = MathML(symbols)
    begin, end = '<div class="formula{}"><math displaystyle="true">', "</math></div>"
    break_ = f"{end}\n{begin.format(' more')}"
    lines = [begin.format("") + "<mo>=</mo>".join(_sides(write, line, break_)) + end for line in section.lines]
    heading = f"<h2>{html.escape(section.title)}</h2>" if section.title else ""
    text = f"<p>{html.escape(section.text)}</p>" if section.text else ""
    body = "\n".join(lines)
    body = f'<div class="columns">\n{body}\n</div>' if section.in_columns else body
    return "\n".join(filter(None, [heading, text, body]))


def _sides(write: Writer, line: Line, break_: str | None = None) -> list[str]:
    """Return the left and right sides of a line; `break_` is put where a long sum is broken into several rows."""
    return [write.mark(line.left), *(_broken(write, e, break_) for e in line.rights)]


_WIDE = 110  # characters of plain text in a row


def _broken(write: Writer, e: sympy.Basic, break_: str | None) -> str:
    """Return a formula in which a long sum is broken into several rows by `break_`."""
    if break_ is None or not isinstance(e, sympy.Add) or len(str(e)) <= _WIDE:
        return write.formula(e)
    rows: list[list] = [[]]
    terms: Any = e.as_ordered_terms()
    for term in terms:
        if rows[-1] and len(str(sympy.Add(*rows[-1], term))) > _WIDE:
            rows.append([])
        rows[-1].append(term)
    first, *others = (sympy.Add(*row, evaluate=False) for row in rows)
    return break_.join([write.formula(first), *(_signed(write, row) for row in others)])


def _signed(write: Writer, row: Any) -> str:
    """Return a row of a sum with the sign of its first term in front, also if that is a plus."""
    sign = "" if row.as_ordered_terms()[0].could_extract_minus_sign() else write.mark("+")
    return sign + write.formula(row)


# --- what is in them --------------------------------------------------------------------------------------------------


def entries(name: str, A: sympy.MatrixBase) -> list[Line]:
    """Return the lines of a matrix: one for a small matrix, else one for each entry that is not 0.

    Of a symmetric matrix only the entries on and above the diagonal are listed.
    """
    symmetric = A.rows > 1 and A.is_square and A == A.T
    if max(sum(len(str(e)) + 3 for e in A.row(i)) for i in range(A.rows)) <= _WIDE:
        return [Line(name, (A,))]
    found = []
    for i in range(A.rows):
        for j in range(i if symmetric else 0, A.cols):
            left: Mark = _entry(name, A, i, j)
            if symmetric and i != j:
                left = ("row", left, "=", _entry(name, A, j, i))
            if A[i, j] != 0:
                found.append(Line(left, (A[i, j],)))
    return found


def _entry(name: str, A: sympy.MatrixBase, i: int, j: int) -> Mark:
    """Return the mark of an entry of a matrix, such as M_12."""
    places = [i + 1] if A.cols == 1 else [i + 1, j + 1]
    return ("sub", name, ("" if A.rows < 10 else ",").join(map(str, places)))


def law(with_friction: bool) -> Mark:
    """Return the mark of M q̈ + C q̇ + φ = τ, with friction F on its left side if there is any."""
    friction = ("+", "F") if with_friction else ()
    return ("row", "M", ("ddot", "q"), "+", "C", ("dot", "q"), "+", "phi", *friction, "=", "tau")
