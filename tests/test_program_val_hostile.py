"""VAL from anywhere: nothing but a `ProgramError` with a position, in bounded time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.program.instructions import Label, ProgramError, Source
from adjoint.program.languages.val import parse_val, val_text
from tests.support.val_texts import EXAMPLES, WORDS


def attempt(text: str) -> bool:
    """Whether a text is a program; if it is none, all findings have places in it, and if it is one, it is written."""
    source = Source(text)
    try:
        program = parse_val(source)
    except ProgramError as error:
        assert error.position is not None and error.diagnostics
        for finding in error.diagnostics:
            assert 0 <= finding.span.start <= finding.span.end <= len(text) + 1
            assert finding.message
        return False
    assert parse_val(Source(val_text(program))) == program
    return True


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_soups_of_tokens(text):
    attempt(text)


@pytest.mark.parametrize("word", ["PAUSE", "TYPE", "REMARK", "HERE", "BY", "LT", "nilrot", "Flip"])
def test_words_of_the_language_are_no_names(word):
    assert not attempt(f"OPEN {word}") and not attempt(f"SET {word} = A") and not attempt(f"GOSUB {word}")


@given(st.text(max_size=40))
def test_soups_of_characters(text):
    attempt(text)


def mutated(text: str, rng: np.random.Generator) -> str:
    """A text with a few pieces removed, doubled, exchanged or put in."""
    for _ in range(rng.integers(1, 5)):
        a, b = sorted(rng.integers(0, len(text) + 1, 2).tolist())
        b = min(b, a + 12)
        kind = rng.integers(4)
        word = WORDS[rng.integers(len(WORDS))]
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind == 1:
            text = text[:b] + text[a:b] + text[b:]
        elif kind == 2:
            text = text[:a] + word + text[b:]
        else:
            text = f"{text[:a]} {word} {text[a:]}"
    return text


@pytest.mark.slow
def test_many_mutated_texts():
    rng = np.random.default_rng(9)
    lines = "\n".join(EXAMPLES.values()).splitlines()
    count = 0
    for k in range(10_000):
        if k % 10:
            first = rng.integers(len(lines))
            text = "\n".join(lines[first : first + rng.integers(1, 8)])
        else:
            text = " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(1, 40)))
        count += attempt(mutated(text, rng))
    assert count > 100


# --- texts that want to hurt ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MOVE A\n" * 1_500_000, "the text has 10500000 characters"),
        ("MOVE \0", "U+0000"),
        ("\u041cOVE A", "it looks like 'M'"),
        ("MOVE \u0391", "it looks like 'A'"),
        ("SETI I = \u0663", "ARABIC-INDIC DIGIT THREE"),
        ("MOVE A\u202e", "U+202E"),
        ('TYPE "no end', "this string has no end on its line"),
        ("SETI I = 1" + "+1" * 150_000, "more than 100 operators"),
        ("SETI I = " + "(" * 150_000, "nested more than 100 deep"),
        ("SETI I = " + "-" * 150_000 + "I", "nested more than 100 deep"),
        ("MOVE " + "(" * 150_000, "nested more than 100 deep"),
        ("MOVE " + "INVERSE(" * 100_000, "nested more than 100 deep"),
        ("MOVE A" + ":A" * 150_000, "more than 100 locations"),
        ("WAIT 1" + ",1" * 150_000, "more than 100 lines"),
        ("POINT #A = 1" + ",1" * 150_000, "more than 100 joints"),
        ("SETI I = " + "9" * 900_000, "too large"),
        ("SPEED 1e" + "9" * 900_000, "too large"),
        ("SPEED 1e-" + "9" * 900_000, "too large an exponent"),
        ("DELAY 1e999", "too large"),
        ("9" * 900_000, "more than 9 digits"),
        ("X" * 900_000, "is no instruction"),
        (".PROGRAM A\n" * 40_000, "before the next one begins"),
        ("GOTO 1\n" * 40_000, "there is no label 1"),
        ("1\n" * 150_000, "the label 1 is there twice"),
        ("x" * 10 + "\n" + "(\n" * 150_000, "an instruction is missing"),
    ],
    ids=range(25),
)
def test_hostile_texts_are_refused(text, message):
    with pytest.raises(ProgramError) as caught:
        parse_val(Source(text))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 20_000 and len(caught.value.diagnostics) <= 110


def test_a_text_of_labels_alone_is_read():
    count = 20_000
    statements = parse_val(Source("\n".join(map(str, range(count))))).statements
    assert len(statements) == count and statements[-1] == Label(str(count - 1))


def test_a_label_that_is_missing_among_many():
    text = "\n".join(map(str, range(50_000))) + "\nGOTO 999999" * 200
    with pytest.raises(ProgramError, match="there is no label 999999"):
        parse_val(Source(text))


def test_a_long_line_of_lines_is_read():
    assert len(parse_val(Source("SIGNAL " + ",".join(map(str, range(1, 101))))).statements) == 100
