"""From text to tokens: one regular expression for each language. What is no token is refused, and named."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ..instructions.diagnostics import Diagnostic, ProgramError
from ..instructions.sources import Source, Span

__all__: list[str] = []

LONGEST = 1_000_000  # characters of a program; a text beyond it is no program, and would only take memory
_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"  # \d would take digits of all scripts
_STRING = r'"[^"\n]*"'
_MOST = 20  # characters that are refused in one message
# Characters that no editor shows, or that make a line look like another one, not even in comments and strings.
HIDDEN = re.compile("[\\0-\\x08\\x0b\\x0e-\\x1f\\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Words:
    """The regular expressions of a language's tokens; `operators` are tried in order, so longer ones come first.

    With `lines` the end of a line is a token; else it is white space. Names are compared without regard to case.
    """

    comment: str
    operators: tuple[str, ...]
    string: str = _STRING
    name: str = _NAME
    number: str = _NUMBER
    lines: bool = False

    def pattern(self) -> re.Pattern[str]:
        """The expression with a group for each kind of token."""
        operators = "|".join(re.escape(x) for x in self.operators)
        groups = [
            ("space", r"[ \t\r\f]+" if self.lines else r"[ \t\r\f\n]+"),
            ("comment", self.comment),
            ("number", self.number),
            ("name", self.name),
            ("string", self.string),
            ("operator", operators),
        ]
        if self.lines:
            groups.insert(0, ("newline", r"\n"))
        return re.compile("|".join(f"(?P<{kind}>{expression})" for kind, expression in groups))


class Tokens:
    """The tokens of a text, as lists of the same length, with one of the kind "end" at the end.

    `kinds` are "name", "number", "string", "operator", "newline" and "end"; `keys` are what parsers compare: names and
    operators in capitals, else "". `comments` are (offset, text) of all comments.
    """

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.keys: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.comments: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self.kinds)


def scan(source: Source, pattern: re.Pattern[str]) -> Tokens:
    """The tokens of a text; a `ProgramError` names all characters that no token begins with."""
    text = source.text
    if len(text) > LONGEST:
        message = f"the text has {len(text)} characters; a program has at most {LONGEST}"
        raise ProgramError(Diagnostic(message, Span(0, 0), code="size"), Source("", source.name))
    hidden = [found.start() for found, _ in zip(HIDDEN.finditer(text), range(_MOST), strict=False)]
    if hidden:
        raise ProgramError([_refused(source, offset) for offset in hidden], source)
    tokens, wrong, at = Tokens(), [], 0
    kinds, keys, texts, starts, ends = tokens.kinds, tokens.keys, tokens.texts, tokens.starts, tokens.ends
    match = pattern.match
    while at < len(text):
        found = match(text, at)
        if found is None:
            wrong.append(at)
            at += 1
            if len(wrong) == _MOST:
                break
            continue
        kind, end = found.lastgroup, found.end()
        if kind == "comment":
            tokens.comments.append((at, text[at:end]))
        elif kind != "space":
            piece = text[at:end]
            kinds.append(kind)  # type: ignore[arg-type]
            texts.append(piece)
            keys.append(piece.upper() if kind == "name" else piece if kind == "operator" else "")
            starts.append(at)
            ends.append(end)
        at = end
    if wrong:
        raise ProgramError([_refused(source, offset) for offset in wrong], source)
    kinds.append("end")
    keys.append("")
    texts.append("")
    starts.append(len(text))
    ends.append(len(text))
    return tokens


def _refused(source: Source, offset: int) -> Diagnostic:
    """What to say about a character that begins no token."""
    c = source.text[offset]
    if c == '"':
        return Diagnostic(
            "this string has no end on its line", Span(offset, offset + 1), 'close it with "', code="syntax"
        )
    named = f"U+{ord(c):04X} {unicodedata.name(c, 'a control character')}"
    shown = f"'{c}' ({named})" if not c.isascii() or not c.isprintable() else f"'{c}'"
    shown = shown if c.isprintable() else named
    plain = unicodedata.normalize("NFKC", c)
    like = plain if plain != c and plain.isascii() and plain.isprintable() else _LOOK_ALIKE.get(c, "")
    hint = f"it looks like '{like}': write that" if like else ""
    return Diagnostic(f"{shown} has no meaning here", Span(offset, offset + 1), hint, code="syntax")


# Letters of other alphabets and marks of word processors that are often taken for ASCII.
_LOOK_ALIKE = dict(zip("АВЕКМНОРСТХаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXaeopcyxijsABEZHIKMNOPTYX", strict=True)) | {
    "–": "-",
    "—": "-",
    "−": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "×": "*",
    "·": "*",
    "∗": "*",
}
