"""Symbols in texts: a reader of productions that says where a text is wrong, and sentences as tuples of symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...errors import ArgumentError

__all__ = ["Reader", "Token", "listed", "quoted", "symbols_of"]

_TOKENS = re.compile(
    r"""(?P<arrow>->|→)|(?P<bar>\|)|(?P<end>[;\n])|(?P<skip>(?:[^\S\n]|\#[^\n]*)+)
    |<(?P<nonterminal>[^<>\n]+)>|"(?P<terminal>[^"\n]+)"
    |(?P<capital>[A-Z][0-9_']*)|(?P<letter>[a-z][0-9_']*)|(?P<other>.)""",
    re.VERBOSE,
)
_KIND = {"nonterminal": "nonterminal", "capital": "nonterminal", "arrow": "->", "bar": "|", "end": "end"}
_LONGEST = 1_000_000  # characters of a text of productions


class Token(NamedTuple):
    """A piece of a text: its `kind`, "nonterminal", "terminal", "->", "|" or "end", its `name`, and where it begins."""

    kind: str
    name: str
    place: int


class Reader:
    """A text of productions, piece by piece; errors name line and column."""

    def __init__(self, text: str, caller: str):
        if not isinstance(text, str) or len(text) > _LONGEST:
            got = f"{len(text)} characters" if isinstance(text, str) else type(text).__name__
            raise ArgumentError(f"{caller}: a text of at most {_LONGEST} characters is needed, got {got}")
        self.text, self.caller, self.at = text, caller, 0
        self.tokens = [
            Token(_KIND.get(kind, "terminal"), match[kind], match.start())
            for match in _TOKENS.finditer(text)
            if (kind := str(match.lastgroup)) != "skip"
        ]

    def error(self, message: str) -> ArgumentError:
        """The error that something is wrong at the piece that comes next."""
        place = self.tokens[self.at].place if self.at < len(self.tokens) else len(self.text)
        before = self.text[:place]
        line, column = before.count("\n") + 1, place - before.rfind("\n")
        found = f"there is {self.tokens[self.at].name!r}" if self.at < len(self.tokens) else "the text ends"
        return ArgumentError(f"{self.caller}: line {line}, column {column}: {message}; {found}")

    def peek(self) -> Token | None:
        """The next piece, or None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def skip(self, kind: str) -> bool:
        """Whether the next piece is of this kind, or is this mark and not between quotes; it is then read."""
        token = self.peek()
        if token is None or (kind != token.kind and self.text[token.place] != kind):
            return False
        self.at += 1
        return True

    def expect(self, kind: str, where: str) -> None:
        """Read a piece of this kind, or raise the error that it is missing."""
        if not self.skip(kind):
            raise self.error(f"'{kind}' is needed {where}")

    def more_rules(self) -> bool:
        """Whether another rule follows; the ends of the rule before are read."""
        at = self.at
        while self.skip("end"):
            pass
        if 0 < at == self.at < len(self.tokens):
            raise self.error("a production ends with ';', '|' or a new line")
        return self.at < len(self.tokens)

    def nonterminal(self, what: str) -> str:
        """Read a nonterminal."""
        token = self.peek()
        if token is None or token.kind != "nonterminal":
            raise self.error(f"{what} must be a nonterminal, a capital letter or <name>")
        self.at += 1
        return token.name

    def symbol(self) -> Token | None:
        """Read a nonterminal or terminal, or None if the next piece is neither; `|` may follow on a new line."""
        token = self.peek()
        if token is not None and token.name == "\n" and self.at + 1 < len(self.tokens):
            if self.tokens[self.at + 1].kind == "|":
                self.at += 1
            return None
        if token is None or token.kind not in ("nonterminal", "terminal"):
            return None
        self.at += 1
        return token


def quoted(names: Iterable[str]) -> str:
    """The names between quotes, in order, with commas."""
    return ", ".join(map(repr, sorted(names)))


def symbols_of(sentence: str | Sequence[str], alphabet: Iterable[str], caller: str) -> tuple[str, ...]:
    """The sentence as a tuple of symbols.

    In a text, spaces separate symbols, and at each place the longest symbol of the alphabet that fits is read; a
    character that begins none stays a symbol of its own, which no language with this alphabet has.
    """
    if isinstance(sentence, str):
        if all(len(symbol) == 1 for symbol in alphabet):
            return tuple(sentence.replace(" ", "") if " " not in alphabet else sentence)
        longest = sorted(alphabet, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest)) or r"(?!)"
        return tuple(found for found in re.findall(f"{pattern}|[^ ]", sentence, re.DOTALL))
    try:
        found = tuple(sentence)
    except TypeError:
        found = (0,)
    if not all(isinstance(symbol, str) for symbol in found):
        raise ArgumentError(f"{caller}: a sentence is a text or a sequence of symbols, got {sentence!r:.80}")
    return found  # type: ignore[return-value]


def listed(chosen) -> tuple:
    """The items of pairs (last item, pairs before), which alternatives share, from the first on; None has no items."""
    found = []
    while chosen is not None:
        item, chosen = chosen
        found.append(item)
    return tuple(reversed(found))


def __dir__() -> list[str]:
    return __all__
