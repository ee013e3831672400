"""How symbols and small constructions are written: as plain text, as LaTeX and as MathML.

A mark is a word, or a tuple of a construction and the marks in it: ("row", a, b, ...), ("sub", a, below),
("subsup", a, below, above), ("sup", a, above), ("dot", a), ("ddot", a), or ("symbol", a SymPy symbol). SymPy's own
printers write everything else.
"""

from __future__ import annotations

import html
import re
from typing import Any
from xml.dom import minidom

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.str import StrPrinter

from .naming import Symbols

__all__ = ["Latex", "Mark", "MathML", "Text", "Writer"]

Mark = str | tuple

_DIGITS = 6  # of decimal numbers
_GREEK: dict[str, str] = dict(zip("alpha beta gamma delta theta phi psi omega tau".split(), "αβγδθφψωτ", strict=True))

# These characters are commands in the mathematical mode of LaTeX.
_ESCAPED = str.maketrans({c: rf"\{c}" for c in "%$&#{}_"} | {"\\": r"\backslash{}", "~": r"\sim{}", "^": r"\wedge{}"})


class Writer:
    """One way of writing: `mark` writes marks and `formula` writes SymPy expressions."""

    def __init__(self, symbols: Symbols | None = None):
        self._rates, self._last = {}, {}
        for q, *rates in zip(symbols.q, symbols.dq, symbols.ddq, strict=True) if symbols else ():
            for rate, dots in zip(rates, ("dot", "ddot"), strict=True):
                # SymPy orders factors by name, so this puts rates after parameters.
                last = sympy.Symbol("\uffff" + rate.name)
                self._last[rate], self._rates[last] = last, (dots, q)

    def mark(self, m: Mark) -> str:
        """Return a mark as a string."""
        if isinstance(m, str):
            return self._word(m)
        how, *parts = m
        return self._symbol(*parts) if how == "symbol" else getattr(self, f"_{how}")(*map(self.mark, parts))

    def formula(self, e: sympy.Basic) -> str:
        """Return a SymPy expression as a string, with six digits of decimal numbers."""
        return self._print(e.xreplace({x: sympy.Float(x, _DIGITS) for x in e.atoms(sympy.Float)} | self._last))

    def _symbol(self, s: sympy.Symbol) -> str:
        dots, s = self._rates.get(s, ("", s))
        # Names such as q1, I1zz, theta_1 or shoulder_pan are a word and its subscript.
        parts = re.fullmatch(r"([A-Za-z]+)_?(\d\w*)", s.name) or re.fullmatch(r"([^_]+)_(.+)", s.name)
        base, *below = parts.groups() if parts else [s.name]
        top = (dots, base) if dots else base
        return self.mark(("sub", top, *below) if below else top)

    def _word(self, word: str) -> str:
        raise NotImplementedError

    def _print(self, e: sympy.Basic) -> str:
        raise NotImplementedError


class Text(Writer):
    """Plain text, in which symbols have their names."""

    def __init__(self):
        super().__init__()

    def _symbol(self, s: sympy.Symbol) -> str:
        return s.name

    def _word(self, word: str) -> str:
        return word

    def _row(self, *parts: str) -> str:
        return re.sub(r" (?=[,>\])])|(?<=[<\[(]) ", "", " ".join(parts))

    def _sub(self, a: str, below: str) -> str:
        return f"{a}{below}" if a.isalpha() else f"{a}_{below}"

    def _subsup(self, a: str, below: str, above: str) -> str:
        return f"{a}_{below}^{above}" if below.isalnum() else f"{a}_({below.replace(' ', '')})^{above}"

    def _sup(self, a: str, above: str) -> str:
        return f"{a}^{above}" if above.isalnum() else f"{a}^({above})"

    def _dot(self, a: str) -> str:
        return f"d{a}"

    def _ddot(self, a: str) -> str:
        return f"dd{a}"

    def _print(self, e: sympy.Basic) -> str:
        return _TextPrinter({"full_prec": False}).doprint(e)


class Latex(Writer):
    """LaTeX for its mathematical mode."""

    def _word(self, word: str) -> str:
        known = {"<": r"\langle ", ">": r"\rangle ", "sum": r"\sum", ",": r",\;", "phi": r"\varphi", "⋯": r"\cdots "}
        if word in known:
            return known[word]
        if word in _GREEK:
            return rf"\{word}"
        escaped = word.translate(_ESCAPED)
        return escaped if len(word) == 1 or not word[0].isalpha() else rf"\mathrm{{{escaped}}}"

    def _row(self, *parts: str) -> str:
        return " ".join(parts)

    def _sub(self, a: str, below: str) -> str:
        return f"{a}_{{{below}}}"

    def _subsup(self, a: str, below: str, above: str) -> str:
        return f"{a}_{{{below}}}^{{{above}}}"

    def _sup(self, a: str, above: str) -> str:
        return f"{a}^{{{above}}}"

    def _dot(self, a: str) -> str:
        return rf"\dot{{{a}}}"

    def _ddot(self, a: str) -> str:
        return rf"\ddot{{{a}}}"

    def _print(self, e: sympy.Basic) -> str:
        return _LatexPrinter(self).doprint(e)


class MathML(Writer):
    """MathML as browsers render it: only the core language, and no named entities, so that it is XML too."""

    def _word(self, word: str) -> str:
        known = {"<": "⟨", ">": "⟩", "sum": "∑", "-": "−"}
        if word in known or not word[0].isalnum():
            return f"<mo>{html.escape(known.get(word, word))}</mo>"
        return f"<mn>{word}</mn>" if word.isdigit() else f"<mi>{html.escape(_GREEK.get(word, word))}</mi>"

    def _row(self, *parts: str) -> str:
        return f"<mrow>{''.join(parts)}</mrow>"

    def _sub(self, a: str, below: str) -> str:
        return f"<msub>{a}{below}</msub>"

    def _subsup(self, a: str, below: str, above: str) -> str:
        return f"<msubsup>{a}{below}{above}</msubsup>"

    def _sup(self, a: str, above: str) -> str:
        return f"<msup>{a}{above}</msup>"

    def _dot(self, a: str) -> str:
        return f"<mover>{a}<mo>˙</mo></mover>"

    def _ddot(self, a: str) -> str:
        return f"<mover>{a}<mo>¨</mo></mover>"

    def _print(self, e: sympy.Basic) -> str:
        found = _MathMLPrinter(self).doprint(e)
        for sympys, ours in (("&InvisibleTimes;", "\u2062"), ("&#xd7;", "×"), ("<mo>-</mo>", "<mo>−</mo>")):
            found = found.replace(sympys, ours)
        return found


# --- SymPy's printers, with our symbols -------------------------------------------------------------------------------


class _TextPrinter(StrPrinter):
    def _print_MatrixBase(self, e):
        return e.table(self, colsep=",  ", align="left")


class _LatexPrinter(LatexPrinter):
    def __init__(self, writer: Writer):
        super().__init__()
        self._write = writer.mark

    def _print_Symbol(self, expr, style="plain"):
        return self._write(("symbol", expr))

    def _print_InnerProduct(self, e):
        return self._write(e.mark)


def _element(mathml: str) -> Any:
    """Return the XML element that the text describes."""
    return minidom.parseString(mathml).documentElement


class _MathMLPrinter(MathMLPresentationPrinter):
    def __init__(self, writer: Writer):
        super().__init__()
        self._write = writer.mark

    def _print_Symbol(self, sym, style="plain"):
        return _element(self._write(("symbol", sym)))

    def _print_InnerProduct(self, e):
        return _element(self._write(e.mark))

    def _print_MatrixBase(self, m):
        """Write a matrix with borders as its brackets, which grow with it in every font."""
        table = super()._print_MatrixBase(m).getElementsByTagName("mtable")[0]
        table.setAttribute("style", "border: solid; border-width: 0 1.5px; border-radius: 4px")
        table.setAttribute("displaystyle", "true")
        return table

    def _print_Pow(self, e):
        """Write cos² x rather than cos(x)²."""
        if not (e.base.func in (sympy.sin, sympy.cos) and e.exp.is_Integer and e.exp > 1):
            return super()._print_Pow(e)
        row: Any = self._print(e.base)
        power: Any = self.dom.createElement("msup")
        row.replaceChild(power, row.firstChild)
        power.appendChild(_element(f"<mi>{e.base.func}</mi>"))
        power.appendChild(self._print(e.exp))
        return row
