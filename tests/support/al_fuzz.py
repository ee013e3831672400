"""Hostile texts of AL: soups of tokens, and programs with tokens that are lost, doubled, swapped or foreign."""

import re

import numpy as np

from adjoint.program.instructions import ProgramError, Source
from adjoint.program.languages.al import AL_WORDS, al_text, parse_al

_TOKEN = re.compile(r'\{[^}]*\}|"[^"\n]*"|[A-Za-z_]\w*|\d+\.?\d*|\s+|.', re.S)
_SIGNS = [*"<>=+-*/()[],;:.", "←", ":=", "<-", "<=", ">=", "<>", "⊗", "⊕", "≤", "¬", "{ c }", '"text"', "'in-lbf'"]
_ODD = ["\0", "{", "}", '"', "'", "\\", "é", "М", "\u202e", "\n", "\t", "1e999", "1e", "0x1", "$", "_", "½", "\x85"]
_NAMES = ["barm", "bhand", "A", "x", "m", "s", "inches", "deg", "ounces", "seconds", "nilrot", "X", "Z", "MOEV"]


def soup(rng: np.random.Generator) -> str:
    """Words, names, numbers and signs in any order."""
    vocabulary = [*AL_WORDS, *_SIGNS * 2, *_NAMES * 2, "1", "2.5", "90", ";", ";", ";", "\n"]
    if rng.random() < 0.1:
        vocabulary += _ODD
    count = int(rng.integers(1, 40))
    return " ".join(vocabulary[k] for k in rng.integers(0, len(vocabulary), count))


def mutated(text: str, rng: np.random.Generator) -> str:
    """A program of which some tokens were deleted, doubled, swapped or replaced."""
    tokens = _TOKEN.findall(text)
    first = int(rng.integers(0, len(tokens)))
    tokens = tokens[first : first + int(rng.integers(5, 120))] if rng.random() < 0.7 else tokens
    for _ in range(int(rng.integers(1, 6))):
        i, j = (int(k) for k in rng.integers(0, len(tokens), 2))
        match int(rng.integers(0, 5)):
            case 0:
                del tokens[i]
            case 1:
                tokens.insert(i, tokens[j])
            case 2:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 3:
                tokens[i] = str(rng.choice(list(AL_WORDS)))
            case _:
                tokens.insert(i, str(rng.choice(_ODD if rng.random() < 0.3 else _SIGNS)))
        if not tokens:
            return ""
    return "".join(tokens)


def judged(text: str) -> bool:
    """Whether a text is a program. A refusal has places inside the text; a program is the same after text and back."""
    try:
        program = parse_al(Source(text))
    except ProgramError as error:
        assert error.diagnostics
        assert error.position is not None, text
        for found in error.diagnostics:
            assert 0 <= found.span.start <= len(text) and found.span.end >= found.span.start, (found, text)
            assert found.message
        return False
    assert parse_al(Source(al_text(program))) == program, text
    return True
