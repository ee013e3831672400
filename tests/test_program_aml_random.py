"""AML with random programs: what it can say is read back, and no text raises anything but errors with places."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.program.instructions import Comment, Program, ProgramError, Source
from adjoint.program.languages.aml import aml_text, parse_aml
from tests.support.aml_programs import PIECES, expressions, programs

SAMPLE = """-- a part
pick: SUBR(bin, h);
    m: NEW MONITOR(<SLP, SRP>, 1, 0, h);
    DMOVE(<3>, <-1>, <1, 4, 4>, m);
    IF QMONITOR(m) EQ 1 AND NOT (h LT 2) THEN RETURN('it''s there')
    ELSE IF bin(2) GE 3 THEN BEGIN
        MOVE(GRIPPER, QPOSITION(GRIPPER) + 0.5);
        bin(2) = -SIN(30) * <1, 2, 3>;
    END;
END;
REPEAT
    x = DOT(base, <<15, 0, 0>, EULERROT(<180, 0, 0>)>);
UNTIL pick(<1, 2>, 3) EQ 'it''s there';
"""


def read(text):
    """What a text says, or None if it is refused with places."""
    try:
        return parse_aml(Source(text))
    except ProgramError as error:
        assert error.diagnostics and error.position is not None
        for found in error.diagnostics:
            assert 0 <= found.span.start <= found.span.end <= len(text)
            assert found.message
        return None


@pytest.mark.slow
@given(programs)
def test_what_aml_says_is_read_back(program):
    text = aml_text(program)
    again = parse_aml(Source(text))
    assert again == program
    assert aml_text(again) == text


@given(expressions)
def test_expressions_keep_their_order(expression):
    from adjoint.program.instructions import Print

    program = Program((Print((expression,)),))
    # A text that uses f(1) as an element needs no subroutine f; here none is defined, so calls of f are refused.
    try:
        text = aml_text(program)
    except ProgramError as error:
        assert "no function" in str(error)
        return
    assert parse_aml(Source(text)) == program


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(["", " "]))
def test_token_soups_are_read_or_refused(pieces, between):
    program = read(between.join(pieces))
    if program is not None:
        assert parse_aml(Source(aml_text(program))) == program


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    read(text)


@given(st.integers(0, len(SAMPLE)), st.integers(0, 6), st.sampled_from(["", *PIECES]))
def test_mutations_are_read_or_refused(at, length, piece):
    text = SAMPLE[:at] + piece + SAMPLE[at + length :]
    program = read(text)
    if program is not None:
        again = parse_aml(Source(aml_text(program)))
        assert again == program
        assert [s for s in again.statements if isinstance(s, Comment)] == [
            s for s in program.statements if isinstance(s, Comment)
        ]


def fuzzed(count: int, seed: int) -> int:
    """The number of texts, of this many with random changes, that were read."""
    rng = np.random.default_rng(seed)
    good = 0
    for _ in range(count):
        text = SAMPLE
        for _ in range(rng.integers(1, 4)):
            at, length = rng.integers(0, len(text) + 1), rng.integers(0, 12)
            piece = PIECES[rng.integers(len(PIECES))] if rng.random() < 0.7 else ""
            text = text[:at] + piece + text[at + length :]
        program = read(text)
        if program is not None:
            good += 1
            assert parse_aml(Source(aml_text(program))) == program
    return good


@pytest.mark.slow
def test_ten_thousand_changed_texts():
    assert 300 < fuzzed(10_000, seed=1) < 9_000


@settings(max_examples=20)
@given(st.integers(2, 2000), st.sampled_from(["(", "<", "-", "NOT ", "x(", "BEGIN ", "IF a THEN ", "REPEAT ", "1+("]))
def test_nesting_is_read_or_refused(count, piece):
    program = read(f"x = {piece * count}" if piece in ("(", "<", "-", "NOT ", "x(", "1+(") else piece * count)
    assert program is None
