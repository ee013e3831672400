"""From a text to nested lists of words, and from a list back to its place in the text."""

from __future__ import annotations

import re
import unicodedata

from ...lazy import cached_property
from ...program.instructions.diagnostics import Diagnostic, ProgramError
from ...program.instructions.sources import Source, Span
from ...program.texts.scanner import HIDDEN

__all__: list[str] = []

LONGEST = 10_000_000  # characters of a text
_DEEPEST = 50  # parentheses that are open at the same time
_MOST_FINDINGS = 100  # a text that has more is read no further
# The group is empty for comments. Many texts write "-block" for "- block".
_TOKEN = re.compile(r";[^\n]*|([()]|-(?![0-9.])|[^\s();]+)")


class Form(list):
    """A list in parentheses: its items are words (str) and forms.

    `start` and `end` are the numbers of its two parentheses among the tokens. Forms are equal only to themselves, for
    each has its own place in the text.
    """

    __slots__ = ("end", "start")
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__
    __ne__ = object.__ne__

    start: int
    end: int

    @property
    def head(self) -> str:
        """The first item if it is a word, else ""."""
        return self[0] if self and isinstance(self[0], str) else ""


NO_FORM = Form()
"""It takes the place of a section that a text does not have."""


class Findings:
    """What is wrong in a text. Places are looked up only when something is: a right text never asks for them."""

    def __init__(self, source: Source):
        self.source = source
        self.diagnostics: list[Diagnostic] = []

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The places of all tokens."""
        return [found.span() for found in _TOKEN.finditer(self.source.text) if found[1]]

    def span(self, form: Form, item: int | None = None) -> Span:
        """The place of a form, or of an item of it; items beyond the last one are at the closing parenthesis."""
        if item is not None and item >= len(form):
            return Span(*self._spans[form.end])
        if item is None:
            return Span(self._spans[form.start][0], self._spans[form.end][1])
        token = form.start + 1 + sum(1 if isinstance(x, str) else x.end - x.start + 1 for x in form[:item])
        return Span(*self._spans[token]) if isinstance(form[item], str) else self.span(form[item])

    def add(self, message: str, form: Form, item: int | None = None, *, hint: str = "", code: str = "syntax") -> None:
        """Note what is wrong with a form, or with an item of it; a text with very many findings is read no further."""
        self.diagnostics.append(Diagnostic(message, self.span(form, item), hint, code=code))
        if len(self.diagnostics) >= _MOST_FINDINGS:
            self.raise_all()

    def token_error(self, message: str, token: int, hint: str = "") -> ProgramError:
        """The error about a single token, after which nothing else can be said."""
        return ProgramError(Diagnostic(message, Span(*self._spans[token]), hint, code="syntax"), self.source)

    def line(self, token: int) -> int:
        """The number of the line of a token."""
        return self.source.position(self._spans[token][0]).line

    def raise_all(self) -> None:
        """Raise a `ProgramError` with everything that was found, in the order of the text; nothing if all is well."""
        if self.diagnostics:
            raise ProgramError(sorted(self.diagnostics, key=lambda d: d.span), self.source)


def forms_of(findings: Findings) -> Form:
    """The outermost forms of a text. A `ProgramError` tells which parenthesis is open, or closes nothing."""
    source = findings.source
    _check_characters(source)
    words = [word for word in _TOKEN.findall(source.text.lower()) if word]
    here, around = Form(), []
    here.start, here.end = -1, len(words)
    for token, word in enumerate(words):
        if word == "(":
            around.append(here)
            here = Form()
            here.start = token
            around[-1].append(here)
            if len(around) > _DEEPEST:
                raise findings.token_error(f"more than {_DEEPEST} parentheses are open here", token)
        elif word == ")":
            if not around:
                raise _closes_nothing(here, token, findings)
            here.end = token
            here = around.pop()
        else:
            here.append(word)
    if around:
        raise _still_open([*around[1:], here], words, findings)
    return here


def _check_characters(source: Source) -> None:
    """Refuse texts that are too long, and characters that nobody can see."""
    if len(source.text) > LONGEST:
        message = f"the text has {len(source.text)} characters; at most {LONGEST} are read"
        raise ProgramError(Diagnostic(message, Span(0, 0), code="size"), Source("", source.name))
    hidden = HIDDEN.search(source.text)
    if hidden:
        named = unicodedata.name(hidden[0], "a control character")
        message = f"U+{ord(hidden[0]):04X} {named} has no meaning here"
        raise ProgramError(Diagnostic(message, Span(*hidden.span()), code="syntax"), source)


def _closes_nothing(outermost: Form, token: int, findings: Findings) -> ProgramError:
    """What to say about a closing parenthesis too many: where its form ended already."""
    closed = next((x for x in outermost if isinstance(x, Form)), None)
    hint = ""
    if closed is not None:
        hint = (
            f"'({closed.head}' of line {findings.line(closed.start)} ends in line {findings.line(closed.end)} already"
        )
    return findings.token_error("this ')' closes nothing", token, hint)


def _still_open(opened: list[Form], words: list[str], findings: Findings) -> ProgramError:
    """What to say about an open parenthesis: sections stand at depth 1, so one that is deeper shows which is open."""
    around: list[int] = []
    for token, word in enumerate(words):
        if word == "(":
            around.append(token)
            if len(around) > 2 and words[token + 1 : token + 2] and words[token + 1].startswith(":"):
                section = f"'({words[token + 1]}' of line {findings.line(token)}"
                return findings.token_error("this '(' is not closed", around[1], f"close it before {section}")
        elif word == ")":
            around.pop()
    inner = opened[-1]
    return findings.token_error("this '(' is not closed", inner.start, "write ')' at the end of what it opens")
