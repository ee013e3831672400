"""What an editor asks about a program: what is wrong, what a word means, and which words may come here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...errors import ArgumentError, nearest
from ...world.state import World
from ...world.units import UNITS
from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.expressions import Index, Name
from ..instructions.programs import Program, statements_in
from ..instructions.sources import Span
from ..instructions.statements import (
    Assign,
    Declare,
    DefineMonitor,
    For,
    Label,
    Locate,
    Procedure,
    SignalEvent,
    Statement,
    Watch,
)
from ..languages.front_ends import FRONT_ENDS, parse
from ..meaning import FUNCTIONS, check

__all__ = ["Completion", "completions", "findings", "hover"]

_WORD = re.compile(r"[A-Za-z_#.][A-Za-z_0-9]*")
_LONGEST_WORD = 200  # characters of a word that are looked at, on either side of the cursor
# Where a text that cannot be read defines something: name ← value, name = value, name: NEW 3, name[2] <- value
_DEFINES = re.compile(
    r"(?<![A-Za-z_0-9#])([A-Za-z_#][A-Za-z_0-9]{0,100})(?:\[[^\]\n]{0,100}\])?[ \t]{0,20}(?:←|<-|:|=)"
)
_BASES = ("m", "kg", "s", "rad")
_MOST = 500  # completions of one answer
_SHOWN = 80  # characters of a line in a meaning


class Completion(NamedTuple):
    """A word that may be meant: its text, its kind ("keyword", "function", "unit", "variable"), and what it means."""

    text: str
    kind: str
    meaning: str


def findings(
    text: str, language: str, *, name: str = "program", world: World | None = None,
    arms: Mapping[str, str] | None = None,
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """All that is wrong or doubtful in a program: errors of syntax, or if there are none those of types and units.

        >>> [d.hint for d in findings("BEGIN a  r ← ROT(Z, 90);  END a.", "al")]
        ['write 90*deg']

    Spans count characters of the `text`. With a `world` the names are looked up in it, as `check` does.
    """
    mark = len(text) - len(text.removeprefix("\ufeff"))  # a byte order mark, which `parse` does not count
    try:
        found = check(parse(text, _known(language, "findings"), name=name), world, arms=arms)
    except ProgramError as error:
        found = error.diagnostics
    return found if not mark else tuple([_moved(d, mark) for d in found])


def hover(text: str, language: str, offset: int) -> tuple[str, Span] | None:
    """What the word at an offset of the text means, and where the word is; None if nothing is known of it.

        >>> hover("BEGIN a  w ← 5*inches;  END a.", "al", 16)
        ('A length of 25.4 mm: 2.5*inches', Span(start=15, end=21))

    A name of the program, exactly as it is written, goes before a word of the language that differs in its case: x may
    be a variable, and X the axis.
    """
    words = FRONT_ENDS[_known(language, "hover")].words
    at = _word_at(text, offset)
    if at is None:
        return None
    word = text[at.start : at.end]
    found = _names(text, language).get(word) or _meaning(word, language, words)
    return (found, at) if found else None


def completions(text: str, language: str, offset: int) -> tuple[Completion, ...]:
    """Words that begin like the one before an offset of the text, with their meanings; names of the program go first.

    >>> [c.text for c in completions("BEGIN a  bolt ← 5*inches; bo", "al", 28)]
    ['bolt', 'BOOLEAN']
    """
    words = FRONT_ENDS[_known(language, "completions")].words
    offset = min(max(offset, 0), len(text))
    first = offset
    while first > max(0, offset - _LONGEST_WORD) and _WORD.fullmatch("a" + text[first - 1]):
        first -= 1
    if first and text[first - 1] in "#.":
        first -= 1
    start = text[first:offset].upper()
    rest = text[:first] + " " * (offset - first) + text[offset:]  # the word that is being written is no name yet
    known = [Completion(name, "variable", meaning) for name, meaning in _names(text, language, rest).items()]
    known += [Completion(word, "keyword", meaning) for word, meaning in words.items()]
    if language in ("al", "aml"):
        known += [Completion(f.name, "function", f.summary) for f in FUNCTIONS.values()]
    if language == "al":
        known += [Completion(unit, "unit", _unit(unit)) for unit in UNITS if unit.isidentifier()]
    found: dict[str, Completion] = {}
    for completion in known:
        if completion.text.upper().startswith(start):
            found.setdefault(completion.text, completion)
    return tuple(sorted(found.values(), key=lambda c: (c.kind != "variable", c.text.upper(), c.text))[:_MOST])


def _known(language: str, who: str) -> str:
    if language not in FRONT_ENDS:
        raise ArgumentError(f"{who}: {language!r:.60} is no language{nearest(str(language), list(FRONT_ENDS))}")
    return language


def _moved(diagnostic: Diagnostic, by: int) -> Diagnostic:
    d, (start, end) = diagnostic, diagnostic.span
    return d if start < 0 else Diagnostic(d.message, Span(start + by, end + by), d.hint, d.severity, d.code)


def _word_at(text: str, offset: int) -> Span | None:
    """The word that has the character at an offset."""
    if not 0 <= offset < len(text):
        return None
    first = max(text.rfind("\n", 0, offset) + 1, offset - _LONGEST_WORD)
    for found in _WORD.finditer(text, first, min(len(text), offset + _LONGEST_WORD)):
        if found.start() <= offset < found.end():
            return Span(*found.span())
        if found.start() > offset:
            return None
    return None


def _meaning(word: str, language: str, words: Mapping[str, str]) -> str:
    """What a word of the language means: as it is written, or else without regard to its case."""
    if word in words:
        return words[word]
    if language == "al" and word in UNITS:
        return _unit(word)
    if language in ("al", "aml") and word.upper() in FUNCTIONS:
        return FUNCTIONS[word.upper()].summary
    return next((meaning for key, meaning in words.items() if key.upper() == word.upper()), "")


def _unit(name: str) -> str:
    unit = UNITS[name]
    powers = [f"{b}^{p}" if p != 1 else b for b, p in zip(_BASES, unit.dimension, strict=True) if p]
    return f"A unit: 1 {name} is {unit.factor:.10g} {' '.join(powers)}."


# --- names of a program -----------------------------------------------------------------------------------------------


def _names(text: str, language: str, instead: str | None = None) -> dict[str, str]:
    """{name: what it is, and where it is defined} of the variables, procedures and labels of a program.

    Of a text that cannot be read, which is the rule while somebody writes, these are the names before marks that
    define; `instead` is then looked at.
    """
    found: dict[str, str] = {}
    try:
        program = parse(text, language)
    except ProgramError:
        text = text if instead is None else instead
        words = set(FRONT_ENDS[language].words)
        words |= {case(word) for word in words if len(word) > 1 for case in (str.upper, str.lower)}
        for match in _DEFINES.finditer(text):
            if match.group(1) not in words:  # x is a name even where X is the axis
                found.setdefault(match.group(1), "A name of this program.")
        return found
    for statement in statements_in(program):
        for name, what in _defined(statement):
            if name not in found:
                found[name] = f"{what} of this program, {_where(program, statement)}"
    return found


def _where(program: Program, statement: Statement) -> str:
    line = program.line_of(statement.at)
    if program.source is None or not line:
        return "which is made by it."
    shown = program.source.line(line).strip()
    return f"line {line}: {shown[:_SHOWN]}{'...' if len(shown) > _SHOWN else ''}"


def _defined(statement: Statement) -> Iterator[tuple[str, str]]:
    """What a statement defines: names, and what they are."""
    match statement:
        case Assign(target=Name(name=name)) | Assign(target=Index(value=Name(name=name))):
            yield name, "A variable"
        case Declare():
            for name in statement.names:
                yield name, f"A {statement.type.kind}"
        case Procedure():
            yield statement.name, "A procedure"
            for parameter in statement.parameters:
                yield parameter.name, f"A parameter of {statement.name}"
        case For():
            yield statement.variable, "A variable of a loop"
        case Label():
            yield statement.name, "A label"
        case DefineMonitor() | Watch():
            yield statement.name, "A monitor"
        case SignalEvent():
            yield statement.event, "An event"
        case Locate() if statement.found:
            yield statement.found, "A truth value"
