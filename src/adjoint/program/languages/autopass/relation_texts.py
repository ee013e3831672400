"""What RAPT and AUTOPASS share: words of relations, units, comments, and statements that are made with their place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....errors import ArgumentError
from ....world.units import UNITS
from ...instructions.diagnostics import Diagnostic, ProgramError
from ...instructions.expressions import Expression, Quantity
from ...instructions.programs import Program
from ...instructions.sources import NOWHERE, Span
from ...instructions.statements import Comment, RelationClause, Statement
from ...texts.cursor import Cursor, Unexpected
from ...texts.number_texts import number_text

__all__: list[str] = []

# {relation: (first word, word that may follow it)}; the words of those with a value are AT DISTANCE 2 MM FROM.
RELATIONS = {
    "against": ("AGAINST", ""),
    "fits": ("FITS", ""),
    "coplanar": ("COPLANAR", "WITH"),
    "aligned": ("ALIGNED", "WITH"),
    "parallel": ("PARALLEL", "TO"),
    "perpendicular": ("PERPENDICULAR", "TO"),
    "on": ("ON", ""),
    "in_": ("IN", ""),
    "centred": ("CENTRED", "ON"),
    "coincident": ("COINCIDENT", "WITH"),
}
WITH_VALUE = {"at_distance": ("DISTANCE", "FROM", "m"), "at_angle": ("ANGLE", "TO", "rad")}
_KINDS = {words[0]: kind for kind, words in RELATIONS.items()} | {"FIT": "fits", "CENTERED": "centred"}
_VALUES = {words[0]: kind for kind, words in WITH_VALUE.items()}
RELATION_WORDS = frozenset({*_KINDS, *_VALUES, "IS", "WITH", "TO", "FROM", "AT"})

# The book's OZ and LBS are forces here, not masses.
_OTHER_UNITS = {"OZ": "ozf", "LB": "lbf", "LBS": "lbf", "SEC": "s", "NM": "N-m", "M": "m", "N": "N", "G": "g"}
_UNIT_OF = {name.upper(): name for name in UNITS if name.replace("-", "").replace("/", "").isalpha()} | _OTHER_UNITS
_WORD_OF = {unit: word for word, unit in _UNIT_OF.items()} | {"ozf": "OZ", "lbf": "LBS", "s": "SEC", "N-m": "N-M"}


def unit_at(cursor: Cursor) -> str:
    """Go past a unit such as RPM, IN-LBS or DEG/S, and return its name in `UNITS`; "" if none is here."""
    if cursor.kind != "name":
        return ""
    tokens, k = cursor.tokens, cursor.index
    joined = "".join(tokens.texts[k : k + 3]) if cursor.ahead() in ("-", "/") else ""
    if joined.upper() in _UNIT_OF:
        for _ in range(3):
            cursor.next()
        return _UNIT_OF[joined.upper()]
    unit = _UNIT_OF.get(cursor.key, "")
    if unit:
        cursor.next()
    return unit


def number_at(cursor: Cursor) -> float:
    """Go past a number."""
    at = cursor.here()
    value = float(cursor.next())
    if not math.isfinite(value):
        raise Unexpected(Diagnostic("this number is too large", at, code="size"))
    return value


def quantity_at(cursor: Cursor, what: str) -> Quantity:
    """Go past a number with a unit."""
    start = cursor.start
    minus = cursor.accept("-")
    if cursor.kind != "number":
        raise cursor.unexpected(f"the number of {what} is missing")
    number = number_at(cursor)
    unit = unit_at(cursor)
    if not unit:
        raise cursor.unexpected(f"the unit of {what} is missing", hint="write MM, IN, DEG, OZ, IN-LBS, RPM, ...")
    return Quantity(-number if minus else number, unit, at=cursor.since(start))


def quantity_text(value: Expression | None, language: str) -> str:
    """A number with its unit."""
    if not isinstance(value, Quantity) or value.unit not in _WORD_OF:
        raise cannot_say(language, "this value", None if value is None else value.at)
    return f"{number_text(value.value)} {_WORD_OF[value.unit]}"


def relation_at(cursor: Cursor, feature: Callable[[Cursor], str]) -> RelationClause:
    """Go past `a [IS] RELATION b`; `feature` goes past the name of a feature."""
    start = cursor.start
    first = feature(cursor)
    cursor.accept("IS")
    value = None
    if cursor.key == "AT" and cursor.ahead() in _VALUES:
        cursor.next()
        word = cursor.next().upper()
        kind = _VALUES[word]
        value = quantity_at(cursor, word)
        base = WITH_VALUE[kind][2]
        if value.dimension != UNITS[base].dimension:
            message = f"{word} cannot be {value.value:g} {value.unit}"
            raise Unexpected(Diagnostic(message, value.at, f"give it in units of {base}", code="unit"))
        cursor.expect(WITH_VALUE[kind][1], f"after {word} and its value")
    else:
        found = _KINDS.get(cursor.key) if cursor.kind == "name" else None
        if found is None:
            raise cursor.unexpected(f"a relation is missing after '{first}'", choices=[*_KINDS, "AT"])
        kind = found
        cursor.next()
        if RELATIONS[kind][1]:
            cursor.accept(RELATIONS[kind][1])
    second = feature(cursor)
    return RelationClause(kind, first, second, value, at=cursor.since(start))


def relation_text(clause: RelationClause, feature: Callable[[str], str], language: str) -> str:
    """`a RELATION b` with the names as `feature` writes them."""
    first, second = feature(clause.first), feature(clause.second)
    if clause.relation in RELATIONS and clause.value is None:
        return f"{first} {' '.join(filter(None, RELATIONS[clause.relation]))} {second}"
    if clause.relation in WITH_VALUE and clause.value is not None:
        word, after, _ = WITH_VALUE[clause.relation]
        return f"{first} AT {word} {quantity_text(clause.value, language)} {after} {second}"
    raise cannot_say(language, f"the relation '{clause.relation}'", clause.at)


class NoWords(Exception):
    """A language has no words for something, which was written at `at`."""

    def __init__(self, message: str, at: Span):
        super().__init__(message)
        self.message, self.at = message, at


def said(program: Program, write: Callable[[Statement], list[str]]) -> str:
    """The lines that `write` gives for each statement, or a `ProgramError` with all that has no words."""
    lines: list[str] = []
    found: list[Diagnostic] = []
    for statement in program.statements:
        try:
            lines += write(statement)
        except NoWords as error:
            found.append(Diagnostic(error.message, error.at if error.at.start >= 0 else statement.at, code="language"))
        except RecursionError:
            found.append(Diagnostic("this is nested too deep for a text", statement.at, code="size"))
    if found:
        raise ProgramError(found, program.source)
    return "".join(f"{line}\n" for line in lines)


def cannot_say(language: str, what: str, at: Span | None = None) -> NoWords:
    """The exception of a printer that meets what its language has no words for."""
    return NoWords(f"{language} has no words for {what}", NOWHERE if at is None else at)


def made(kind: type, cursor: Cursor, start: int, *args: Any, **fields: Any) -> Any:
    """A statement or clause with its place; a value with a wrong unit is reported there."""
    try:
        return kind(*args, **fields, at=cursor.since(start))
    except ArgumentError as error:
        raise Unexpected(Diagnostic(str(error), cursor.since(start), code="unit")) from None


class Comments:
    """The comments of a text that have not yet become statements, in order."""

    def __init__(self, cursor: Cursor, text_of: Callable[[str], str]):
        self._all = [
            Comment(text_of(text.replace("\r\n", "\n")), at=Span(offset, offset + len(text)))
            for offset, text in cursor.tokens.comments
        ]
        self._next = 0

    def before(self, offset: int, body: list[Statement]) -> None:
        """Append the comments that begin before an offset."""
        while self._next < len(self._all) and self._all[self._next].at.start < offset:
            body.append(self._all[self._next])
            self._next += 1
