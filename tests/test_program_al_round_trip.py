"""AL: random instructions survive the way to text and back, and random texts are programs or refused with a place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.al_fuzz import judged, mutated, soup
from support.al_programs import programs

from adjoint.program.instructions import (
    ANY,
    BOOLEAN,
    EVENT,
    FORCE,
    FRAME,
    JOINTS,
    LENGTH,
    NUMBER,
    ROTATION,
    TEXT,
    TURNING,
    VECTOR,
    Abort,
    Assign,
    Attach,
    Binary,
    Block,
    Call,
    CallProcedure,
    Case,
    Comment,
    Declare,
    Delay,
    Detach,
    For,
    ForceClause,
    Guard,
    Here,
    If,
    Index,
    Literal,
    Locate,
    Move,
    MoveHand,
    Name,
    Parallel,
    Parameter,
    Pause,
    Print,
    Procedure,
    Program,
    Quantity,
    Reading,
    Repeat,
    Return,
    SetSpeed,
    Signal,
    SignalEvent,
    Source,
    Stop,
    Unary,
    UnitName,
    Unwatch,
    Wait,
    WaitEvent,
    Watch,
    While,
    Wrt,
    vector,
)
from adjoint.program.instructions.expressions import BINARY
from adjoint.program.languages.al import al_text, parse_al
from adjoint.world import UNITS

# Names that are words of AL elsewhere, units (which the first statement declares), and plain ones.
NAMES = st.sampled_from(["a", "b1", "feeder", "barm", "x_", "FRAME", "vector", "Force", "DURATION", "value", "m", "s"])
MAYBE = st.one_of(st.just(""), st.sampled_from(["barm", "hand2"]))
NUMBERS = st.one_of(st.integers(-100, 100).map(float), st.floats(allow_nan=False, allow_infinity=False))
TEXTS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=8)
UNIT = st.sampled_from(sorted(UNITS))
TYPES = st.sampled_from(
    [NUMBER, LENGTH, FORCE, TURNING, vector(), VECTOR, ROTATION, FRAME, TEXT, BOOLEAN, EVENT, JOINTS]
)


def _readings(inner):
    arm = MAYBE
    return st.one_of(
        st.builds(Reading, st.sampled_from(["force", "torque"]), arm, st.sampled_from("xyz")),
        st.builds(Reading, st.sampled_from(["width", "done"]), arm),
        st.builds(lambda arm, name: Reading("sensor", arm, name=name), arm, TEXTS),
        st.builds(lambda arm, number: Reading("joints", arm, number=number), arm, inner),
        st.builds(lambda number: Reading("signal", number=number), inner),
    )


LEAVES = st.one_of(
    st.builds(Literal, st.one_of(NUMBERS, st.booleans(), TEXTS)),
    st.builds(Quantity, NUMBERS, UNIT),
    st.builds(UnitName, UNIT),
    st.builds(Name, NAMES),
    st.builds(Here, MAYBE, st.booleans()),
)
FUNCTIONS = st.sampled_from(["VECTOR", "frame", "Rot", "TRANS", "peg"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from(BINARY), inner, inner),
        st.builds(Unary, st.sampled_from(["-", "not"]), inner),
        st.builds(Wrt, inner, inner),
        st.builds(Index, inner, inner),
        st.builds(Call, FUNCTIONS, st.lists(inner, max_size=3).map(tuple)),
        _readings(inner),
    ),
    max_leaves=12,
)
VALUES = EXPRESSIONS.filter(lambda e: not isinstance(e, Quantity))  # whose unit a clause might refuse
COMMENTS = st.builds(Comment, TEXTS.map(lambda t: " ".join(t.replace("}", "").split())))


def _several(strategy, most=3):
    return st.lists(strategy, max_size=most).map(tuple)


def _optional(strategy):
    return st.one_of(st.none(), strategy)


def _targets():
    name = st.builds(Name, NAMES)
    return st.one_of(
        name, st.builds(Index, name, EXPRESSIONS), st.builds(Index, st.builds(Index, name, VALUES), VALUES)
    )


def _simple():
    e = EXPRESSIONS
    return st.one_of(
        COMMENTS,
        st.builds(Assign, _targets(), e),
        st.builds(Declare, TYPES, st.lists(NAMES, min_size=1, max_size=3).map(tuple), _optional(st.tuples(e, e))),
        st.builds(MoveHand, MAYBE, st.booleans(), _optional(VALUES), st.booleans()),
        st.builds(Attach, NAMES, NAMES, st.sampled_from(["rigid", "nonrigid", "conditional"]), _optional(VALUES)),
        st.builds(Detach, NAMES, MAYBE),
        st.builds(Locate, NAMES, NAMES, MAYBE),
        st.builds(SetSpeed, VALUES, st.just(True)),
        st.builds(CallProcedure, NAMES, _several(e)),
        st.builds(Return, _optional(e)),
        st.builds(Abort, e),
        st.builds(Print, _several(e)),
        st.builds(Pause, TEXTS),
        st.builds(Delay, VALUES.filter(lambda v: not (isinstance(v, Literal) and isinstance(v.value, str)))),
        st.builds(Signal, VALUES, st.booleans()),
        st.builds(Wait, VALUES),
        st.builds(SignalEvent, NAMES),
        st.builds(WaitEvent, NAMES),
        st.builds(Unwatch, NAMES),
        st.just(Stop()),
    )


def _moves(body):
    return st.builds(
        Move,
        MAYBE,
        VALUES,
        _several(EXPRESSIONS),
        straight=st.booleans(),
        approach=_optional(VALUES),
        departure=_optional(VALUES),
        duration=_optional(VALUES),
        speed=_optional(VALUES),
        forces=st.lists(
            st.builds(ForceClause, st.sampled_from("xyz"), VALUES, st.booleans()),
            max_size=3,
            unique_by=lambda f: (f.axis, f.rotates),
        ).map(tuple),
        force_frame=_optional(VALUES),
        guards=_several(st.builds(Guard, VALUES, body, st.booleans()), 2),
        avoiding=st.booleans(),
        nonstop=st.booleans(),
    )


def _compound(statement):
    body = _several(statement)
    e, v = EXPRESSIONS, VALUES
    parameters = st.lists(
        st.builds(Parameter, NAMES, st.one_of(st.just(ANY), TYPES)), max_size=3, unique_by=lambda p: p.name
    ).map(tuple)
    branch = st.tuples(st.lists(e, min_size=1, max_size=2).map(tuple), body)
    return st.one_of(
        _moves(body),
        st.builds(Block, body, st.sampled_from(["", "", "inner", "MOVES", "two words", "SCALAR", "a"])),
        st.builds(If, v, body, body),
        st.builds(While, v, body),
        st.builds(Repeat, body, v),
        st.builds(For, NAMES, e, e, _optional(e), body),
        st.builds(Case, e, st.lists(branch, max_size=3).map(tuple), body),
        st.builds(Parallel, _several(body)),
        st.builds(Watch, MAYBE, v, body, st.booleans(), st.booleans()),
        st.builds(Procedure, NAMES, parameters, body, _optional(TYPES)),
    )


STATEMENTS = st.recursive(_simple(), _compound, max_leaves=8)
UNITS_AS_NAMES = Declare(NUMBER, ("m", "s"))


def _same(program: Program) -> None:
    text = al_text(program)
    again = parse_al(Source(text))
    assert again == program, text
    assert repr(again.statements) == repr(program.statements), text  # True is not 1, and 0 is not -0
    assert al_text(again) == text


@given(EXPRESSIONS)
def test_expressions(expression):
    """Any expression of AL is read again as it was."""
    _same(Program((UNITS_AS_NAMES, Assign(Name("x"), expression))))


@pytest.mark.slow
@settings(max_examples=300)
@given(_several(STATEMENTS, 5), st.sampled_from(["", "task", "two words", "IF"]))
def test_programs(statements, name):
    """Any program of AL is read again as it was, comments included."""
    _same(Program((UNITS_AS_NAMES, *statements), name))


@given(st.text(max_size=60))
def test_any_text(text):
    """Any text is a program, or is refused with places inside it."""
    judged(text)


@pytest.mark.parametrize("seed", range(2))
def test_fuzzed_texts(seed):
    """Soups of tokens and mutated programs are programs, or are refused with places inside them."""
    _fuzz(seed, 400)


@pytest.mark.slow
def test_many_fuzzed_texts():
    """As above, ten thousand times."""
    _fuzz(2, 10_000)


def _fuzz(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    texts = list(programs().values())
    found = [judged(soup(rng) if k % 2 else mutated(texts[k // 2 % len(texts)], rng)) for k in range(count)]
    assert any(found) and not all(found)
