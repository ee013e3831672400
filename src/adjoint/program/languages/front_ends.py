"""`parse` and `to_text`: from the text of a program in any language to instructions, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import NamedTuple

from ...errors import ArgumentError, nearest
from ..instructions import Program, Source
from .al import AL_WORDS, al_text, parse_al
from .aml import AML_WORDS, aml_text, parse_aml
from .autopass import AUTOPASS_WORDS, RAPT_WORDS, autopass_text, parse_autopass, parse_rapt, rapt_text
from .val import VAL_WORDS, parse_val, val_text

__all__ = ["FRONT_ENDS", "FrontEnd", "language_of", "parse", "to_text"]


class FrontEnd(NamedTuple):
    """A language: its parser, its printer, and its words with an explanation of each."""

    title: str
    parse: Callable[[Source], Program]
    text: Callable[[Program], str]
    words: Mapping[str, str]


FRONT_ENDS: dict[str, FrontEnd] = {
    "al": FrontEnd("AL", parse_al, al_text, AL_WORDS),
    "val": FrontEnd("VAL", parse_val, val_text, VAL_WORDS),
    "aml": FrontEnd("AML", parse_aml, aml_text, AML_WORDS),
    "autopass": FrontEnd("AUTOPASS", parse_autopass, autopass_text, AUTOPASS_WORDS),
    "rapt": FrontEnd("RAPT", parse_rapt, rapt_text, RAPT_WORDS),
}
"""The languages by their names, which are the suffixes of their files, too."""


def parse(text: str, language: str | None = None, *, name: str = "program") -> Program:
    """Read a robot program: the instructions that a text says, in "al", "val", "aml", "autopass" or "rapt".

        >>> program = parse("BEGIN hop  MOVE barm TO A;  END hop.", "al")
        >>> program.statements
        (Move(mover='barm', to=Name(name='A'), ...),)

    `name` is that of the file, for messages; without `language` its suffix tells the language. A `ProgramError` has all
    findings with line, column, the text underlined and a suggestion. Nothing is executed, and no file is opened.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"parse: a program is a text, got {type(text).__name__}")
    front_end = FRONT_ENDS[language_of(name) if language is None else _known(language, "parse")]
    return front_end.parse(Source(text.removeprefix("\ufeff"), name))


def to_text(program: Program, language: str | None = None) -> str:
    """The text of a program in its own language, or in another; `parse` reads the same instructions from it.

        >>> print(to_text(parse("begin hop move barm to A end hop.", "al")), end="")
        BEGIN hop
            MOVE barm TO A;
        END hop.

    A `ProgramError` names every instruction for which the language has no words, such as a semaphore in AML. Units that
    are the same under another name may change it, as "inches" and "in" do.
    """
    if not isinstance(program, Program):
        raise ArgumentError(f"to_text: a Program is needed, got {type(program).__name__}")
    if language is None and program.language not in FRONT_ENDS:
        raise ArgumentError(
            f"to_text: a program made in Python has no language of its own; name one of {', '.join(FRONT_ENDS)}"
        )
    return FRONT_ENDS[_known(language or program.language, "to_text")].text(program)


def language_of(path: str) -> str:
    """The language of a file, by its suffix: "al" of "insertion.al"."""
    suffix = PurePath(path).suffix.lower().lstrip(".")
    if suffix in FRONT_ENDS:
        return suffix
    raise ArgumentError(f"the name '{path}' does not tell a language; the suffixes are .{', .'.join(FRONT_ENDS)}")


def _known(language: str, who: str) -> str:
    if language not in FRONT_ENDS:
        raise ArgumentError(f"{who}: '{language}' is no language; {nearest(language, list(FRONT_ENDS))}")
    return language
