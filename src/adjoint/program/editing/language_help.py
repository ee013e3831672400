"""What an editor asks about a program: what is wrong, what a word means, and which words may come here."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...world.units import UNITS
from ..instructions import Assign, Declare, Diagnostic, Label, Name, Procedure, ProgramError, Span, statements_in
from ..languages.front_ends import FRONT_ENDS, parse
from ..meaning import FUNCTIONS, check

__all__ = ["Completion", "completions", "findings", "hover"]

_WORD = re.compile(r"[A-Za-z_#.][A-Za-z_0-9]*")
_BEFORE = re.compile(r"[A-Za-z_#.][A-Za-z_0-9]*$")
_BASES = ("m", "kg", "s", "rad")


class Completion(NamedTuple):
    """A word that may be meant: its text, its kind ("keyword", "function", "unit", "variable"), and what it means."""

    text: str
    kind: str
    meaning: str


def findings(text: str, language: str, *, name: str = "program") -> tuple[Diagnostic, ...]:
    """All that is wrong or doubtful in a program: errors of syntax, or if there are none those of types and units.

    >>> [d.message for d in findings("BEGIN a  WAT ← 5*inchs;  END a.", "al")]
    ["'inchs' is not known"]
    """
    try:
        program = parse(text, language, name=name)
    except ProgramError as error:
        return error.diagnostics
    return check(program)


def hover(text: str, language: str, offset: int) -> tuple[str, Span] | None:
    """What the word at an offset of the text means, and where the word is; None if nothing is known of it."""
    word = next((m for m in _WORD.finditer(text) if m.start() <= offset < m.end()), None)
    if word is None:
        return None
    found = _meaning(word.group(), language) or _variable(word.group(), text, language)
    return (found, Span(*word.span())) if found else None


def completions(text: str, language: str, offset: int) -> tuple[Completion, ...]:
    """Words that begin like the one before an offset of the text, with their meanings."""
    begun = _BEFORE.search(text[max(0, offset - 100) : offset])
    start = begun.group().upper() if begun else ""
    known = [Completion(word, "keyword", meaning) for word, meaning in FRONT_ENDS[language].words.items()]
    if language in ("al", "aml"):
        known += [Completion(f.name, "function", f.summary) for f in FUNCTIONS.values()]
    if language == "al":
        known += [Completion(unit, "unit", _unit(unit)) for unit in UNITS if unit.isidentifier()]
    known += [Completion(name, "variable", meaning) for name, meaning in _variables(text, language).items()]
    found = {c.text: c for c in reversed(known) if c.text.upper().startswith(start)}
    return tuple(sorted(found.values(), key=lambda c: (c.kind != "variable", c.text.upper())))


def _meaning(word: str, language: str) -> str:
    words = {key.upper(): meaning for key, meaning in FRONT_ENDS[language].words.items()}
    if word.upper() in words:
        return words[word.upper()]
    if word.upper() in FUNCTIONS and language in ("al", "aml"):
        return FUNCTIONS[word.upper()].summary
    return _unit(word) if word in UNITS and language == "al" else ""


def _unit(name: str) -> str:
    unit = UNITS[name]
    powers = [f"{b}^{p}" if p != 1 else b for b, p in zip(_BASES, unit.dimension, strict=True) if p]
    return f"A unit: 1 {name} is {unit.factor:.10g} {' '.join(powers)}."


def _variable(word: str, text: str, language: str) -> str:
    return _variables(text, language).get(word, "")


def _variables(text: str, language: str) -> dict[str, str]:
    """{name: where it is defined} of the variables, procedures and labels of a program that can be read."""
    try:
        program = parse(text, language)
    except ProgramError:
        return {}
    found: dict[str, str] = {}
    for statement in statements_in(program):
        for name, what in _defined(statement):
            found.setdefault(name, f"{what} of this program, line {program.line_of(statement.at)}.")
    return found


def _defined(statement) -> list[tuple[str, str]]:
    """What a statement defines: names, and what they are."""
    if isinstance(statement, Assign) and isinstance(statement.target, Name):
        return [(statement.target.name, "A variable")]
    if isinstance(statement, Declare):
        return [(name, f"A {statement.type.kind}") for name in statement.names]
    if isinstance(statement, Procedure):
        return [(statement.name, "A procedure")]
    return [(statement.name, "A label")] if isinstance(statement, Label) else []
