"""Sources, spans, diagnostics, tokens and cursors of robot programs."""

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.errors import ArgumentError
from adjoint.program.instructions import (
    Abort,
    Assign,
    Binary,
    Block,
    Call,
    Delay,
    Diagnostic,
    ForceClause,
    Guard,
    If,
    Literal,
    Move,
    MoveHand,
    Name,
    Program,
    ProgramError,
    Quantity,
    Reading,
    SetConfiguration,
    Source,
    Span,
    While,
    expressions_in,
    rendered,
    statements_in,
)
from adjoint.program.texts.cursor import LONGEST_CHAIN, Cursor, Unexpected, climb
from adjoint.program.texts.scanner import LONGEST, Words, scan

PASCAL = Words(comment=r"\{[^}]*\}", operators=("<=", ">=", "<>", "<", ">", "=", "+", "-", "*", "/", "(", ")", ";"))
PATTERN = PASCAL.pattern()


@given(st.text(alphabet="ab \n\r\t", max_size=60), st.integers(-5, 80))
def test_positions_count_like_an_editor(text, offset):
    line, column = Source(text).position(offset)
    clipped = min(max(offset, 0), len(text))
    assert line == text.count("\n", 0, clipped) + 1
    assert column == clipped - (text.rfind("\n", 0, clipped) + 1) + 1
    assert Source(text).lines == text.count("\n") + 1
    assert Source(text).line(line) == text.split("\n")[line - 1].rstrip("\r")


def test_a_message_shows_the_place():
    source = Source("a <- 1;\nbeam <- ROT(Z, 90);\n", "insertion.al")
    span = Span(source.text.index("90"), source.text.index("90") + 2)
    found = rendered(Diagnostic("ROT needs an angle", span, "write 90*deg"), source)
    assert found.splitlines() == [
        "insertion.al:2:16: error: ROT needs an angle",
        "    beam <- ROT(Z, 90);",
        "                   ^^",
        "    hint: write 90*deg",
    ]
    error = ProgramError(Diagnostic("ROT needs an angle", span), source)
    assert error.position == (2, 16) and "2:16" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert again.diagnostics == error.diagnostics and str(again) == str(error)
    assert ProgramError(Diagnostic("made in Python")).position is None


@given(st.text(max_size=200), st.integers(0, 250), st.integers(0, 250))
def test_every_message_can_be_shown(text, start, length):
    shown = rendered(Diagnostic("wrong", Span(start, start + length)), Source(text))
    assert all(c in "\n\t" or c.isprintable() for c in shown.removeprefix("program"))
    assert max(map(len, shown.split("\n"))) < 220


def test_many_findings_are_cut():
    error = ProgramError([Diagnostic(f"finding {k}", Span(k, k + 1)) for k in range(50)], Source("x" * 60))
    assert "finding 19" in str(error) and "finding 20" not in str(error) and "and 30 more" in str(error)
    assert len(error.diagnostics) == 50


def test_units_are_checked_when_a_statement_is_made():
    assert Delay(Quantity(5, "seconds")).duration == Quantity(5, "seconds")
    with pytest.raises(ArgumentError, match="duration cannot be 5 inch"):
        Delay(Quantity(5, "inch"))
    with pytest.raises(ArgumentError, match="width cannot be 10 ounces"):
        MoveHand("hand", True, Quantity(10, "ounces"))
    with pytest.raises(ArgumentError, match=r"'inhc' is no unit.*'inch'"):
        Quantity(1, "inhc")
    with pytest.raises(ArgumentError, match=r"flag 'leftie'.*'lefty'"):
        SetConfiguration("leftie")
    with pytest.raises(ArgumentError, match="axis 'w'"):
        ForceClause("w", Quantity(1, "N"))
    with pytest.raises(ArgumentError, match="axes are x, y and z"):
        Reading("force", axis="up")


def test_where_something_was_written_does_not_count():
    assert Name("a", at=Span(3, 4)) == Name("a") and hash(Name("a", at=Span(3, 4))) == hash(Name("a"))
    assert Program((Abort(Literal("x")),), "p", "al") == Program((Abort(Literal("x")),), "p", "val")
    assert Program((Abort(Literal("x")),), "p") != Program((Abort(Literal("x")),), "q")


def test_walks_meet_everything_once_in_order():
    guard = Guard(Binary(">", Reading("force", axis="z"), Quantity(10, "ozf")), (Abort(Literal("No hole")),))
    inner = Move("arm", Call("DOT", (Name("a"), Name("b"))), guards=(guard,))
    loop = While(Name("c"), (inner, If(Name("d"), (Block((Assign(Name("e"), Literal(1)),)),))))
    kinds = [type(s).__name__ for s in statements_in(Program((loop, Delay(Quantity(1, "s"))), "p"))]
    assert kinds == ["While", "Move", "Abort", "If", "Block", "Assign", "Delay"]
    names = [e.name for e in expressions_in(loop) if isinstance(e, Name)]
    assert names == ["c", "a", "b", "d", "e"]


def test_tokens():
    tokens = scan(Source("Move a <= 1.5e-3; { why }\n x"), PATTERN)
    assert tokens.texts == ["Move", "a", "<=", "1.5e-3", ";", "x", ""]
    assert tokens.keys == ["MOVE", "A", "<=", "", ";", "X", ""]
    assert tokens.kinds == ["name", "name", "operator", "number", "operator", "name", "end"]
    assert tokens.comments == [(18, "{ why }")] and len(tokens) == 7


def test_ends_of_lines_are_tokens_where_they_count():
    words = Words(comment=r";[^\n]*", operators=(",",), lines=True)
    assert scan(Source("MOVE A ; go\n\nSTOP"), words.pattern()).kinds == "name name newline newline name end".split()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a \0 b", "U+0000", ""),
        ("МOVE", "U+041C", "'M'"),
        ("a – b", "EN DASH", "'-'"),
        ("a\N{FULLWIDTH PLUS SIGN}b", "FULLWIDTH", "'+'"),
        ('say "hello\n', "string has no end", "close it"),
        ("a ? b", "'?' has no meaning", ""),
        ("a \u202e b", "U+202E", ""),
    ],
)
def test_what_is_no_token_is_named(text, message, hint):
    with pytest.raises(ProgramError, match=re.escape(message)) as caught:
        scan(Source(text), PATTERN)
    assert hint in caught.value.diagnostics[0].hint and caught.value.position is not None


def test_a_text_has_an_end():
    with pytest.raises(ProgramError, match="characters"):
        scan(Source("a" * (LONGEST + 1)), PATTERN)
    with pytest.raises(ProgramError) as caught:
        scan(Source("\0" * 1000), PATTERN)
    assert len(caught.value.diagnostics) == 20


OPERATORS = {"+": (1, "+"), "-": (1, "-"), "*": (2, "*"), "/": (2, "/")}


def _operand(cursor):
    if cursor.accept("("):
        cursor.deeper()
        inner = climb(cursor, OPERATORS, _operand)
        cursor.expect(")", "after the expression in parentheses")
        cursor.shallower()
        return inner
    if cursor.kind != "number":
        raise cursor.unexpected("a number is missing")
    return Literal(float(cursor.next()))


def _value(expression):
    if isinstance(expression, Literal):
        return expression.value
    a, b = _value(expression.left), _value(expression.right)
    return {"+": a + b, "-": a - b, "*": a * b, "/": a / (b or 1)}[expression.operator]


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from("+-*")), min_size=1, max_size=12))
def test_precedences_are_those_of_python(pieces):
    text = "".join(f"{n} {op} " for n, op in pieces) + "1"
    cursor = Cursor(scan(Source(text), PATTERN), Source(text))
    expression = climb(cursor, OPERATORS, _operand)
    assert _value(expression) == eval(text)
    assert Source(text)[expression.at] == text


def test_a_cursor_says_what_is_missing():
    text = "(1 + 2"
    with pytest.raises(Unexpected, match="is missing after the expression in parentheses; the text ends here"):
        _operand(Cursor(scan(Source(text), PATTERN), Source(text)))
    with pytest.raises(Unexpected, match="nested more than 100"):
        _operand(Cursor(scan(Source("(" * 5000), PATTERN), Source("(" * 5000)))
    cursor = Cursor(scan(Source("THNE x"), PATTERN), Source("THNE x"))
    with pytest.raises(Unexpected) as caught:
        cursor.expect("THEN", "after the condition of IF")
    assert "THEN" in caught.value.diagnostic.hint


def test_long_chains_and_foreign_digits_are_refused():
    text = "1" + " + 1" * (LONGEST_CHAIN + 1)
    with pytest.raises(Unexpected, match="operators"):
        climb(Cursor(scan(Source(text), PATTERN), Source(text)), OPERATORS, _operand)
    text = "1" + " + 1" * (LONGEST_CHAIN - 1)
    assert _value(climb(Cursor(scan(Source(text), PATTERN), Source(text)), OPERATORS, _operand)) == LONGEST_CHAIN
    with pytest.raises(ProgramError, match="ARABIC-INDIC DIGIT"):
        scan(Source("1 + \N{ARABIC-INDIC DIGIT FIVE}"), PATTERN)
    cursor = Cursor(scan(Source("x"), PATTERN), Source("x"))
    assert cursor.unexpected("a number is missing").diagnostic.hint == ""
