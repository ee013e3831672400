"""VAL: what its lines mean, that texts and instructions are two forms of the same, and what is said of mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from adjoint.lie import se3, so3
from adjoint.program.instructions import (
    Assign,
    Binary,
    CallProcedure,
    Comment,
    Delay,
    Gosub,
    Goto,
    Here,
    If,
    Label,
    Literal,
    Move,
    MoveHand,
    MoveJoints,
    Name,
    Parallel,
    Pause,
    Print,
    Procedure,
    Program,
    ProgramError,
    Quantity,
    Reading,
    Return,
    SetBase,
    SetConfiguration,
    SetSpeed,
    SetTool,
    Signal,
    Source,
    Span,
    Stop,
    Unary,
    UnitName,
    Unwatch,
    Wait,
    Watch,
    While,
)  # fmt: skip
from adjoint.program.languages.val import VAL_WORDS, parse_val, val_text
from adjoint.program.languages.val.val_instructions import INSTRUCTIONS
from adjoint.program.meaning.evaluation import evaluate
from adjoint.program.meaning.scopes import VariableScope
from tests.support.val_texts import EXAMPLES, lines_of_val, programs_of_val


def read(text: str) -> tuple[Any, ...]:
    return parse_val(Source(text)).statements


def one(text: str) -> Any:
    (statement,) = read(text)
    return statement


def value(expression, **variables):
    return evaluate(expression, VariableScope(variables))


class Arm(VariableScope):
    """Variables, and an arm that is somewhere."""

    def __init__(self, T, **variables):
        super().__init__(variables)
        self.T = T

    def here(self, arm, joints):
        return self.T


def message_of(text: str) -> str:
    with pytest.raises(ProgramError) as caught:
        parse_val(Source(text, "t.val"))
    return str(caught.value)


def moved(p):
    return se3.from_rotation_translation(np.eye(3), np.array(p, float))


RNG = np.random.default_rng(21)
A, B, C, D = (
    se3.from_rotation_translation(so3.from_oat(RNG.uniform(-1, 1, 3)), RNG.uniform(-1, 1, 3)) for _ in range(4)
)

# --- what lines mean --------------------------------------------------------------------------------------------------


def test_moves():
    assert one("MOVE BIN") == Move("", Name("BIN"))
    assert one("moves bin") == Move("", Name("bin"), straight=True)
    assert one("MOVE #REST") == Move("", Name("#REST"))
    hand, move = read("MOVEST BIN,30")
    assert hand == MoveHand("", True, Quantity(30.0, "mm"), wait=False, either_way=True)
    assert move == Move("", Name("BIN"), straight=True)


def test_approach_backs_off_along_the_axis_of_the_location():
    move = one("APPROS A,50")
    assert move.straight
    np.testing.assert_allclose(value(move.to, A=A), A @ moved([0, 0, -0.05]), atol=1e-15)
    np.testing.assert_allclose(value(one("APPRO A,2*H+1").to, A=A, H=7.0), A @ moved([0, 0, -0.015]))


def test_depart_backs_off_along_the_axis_of_the_tool():
    move = one("DEPARTS 40")
    np.testing.assert_allclose(evaluate(move.to, Arm(B)), B @ moved([0, 0, -0.04]), atol=1e-15)
    np.testing.assert_allclose(evaluate(one("DRAW 1,2,-3").to, Arm(B)), moved([1e-3, 2e-3, -3e-3]) @ B)


def test_shift_goes_along_axes_of_the_station():
    shifted = one("SHIFT A BY 10,,-5")
    assert shifted.target == Name("A")
    np.testing.assert_allclose(value(shifted.value, A=A), moved([0.01, 0, -0.005]) @ A)


def test_points_have_the_angles_of_the_puma():
    for o, a, t in RNG.uniform(-180, 180, (20, 3)).tolist():
        expected = so3.from_oat(np.deg2rad([o, a, t]))
        T = value(one(f"POINT P = 1,-2,3.5,{o},{a},{t}").value)
        np.testing.assert_allclose(T[:3, :3], expected, atol=1e-14)
        np.testing.assert_allclose(T[:3, 3], [0.001, -0.002, 0.0035])
        assert one(f"SET P = TRANS(1,-2,3.5,{o},{a},{t})") == one(f"POINT P = 1,-2,3.5,{o},{a},{t}")
    # with all angles 0 the hand points along -y; with A = 90° it points down
    np.testing.assert_allclose(value(one("POINT P = 0,0,0,0,0,0").value)[:3, 2], [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(value(one("POINT P = 0,0,0,0,90,0").value)[:3, 2], [0, 0, -1], atol=1e-15)


def test_products_of_locations():
    np.testing.assert_allclose(value(one("SET X1 = A:B:C").value, A=A, B=B, C=C), A @ B @ C)
    np.testing.assert_allclose(value(one("SET Q = INVERSE(A):B").value, A=A, B=B), np.linalg.inv(A) @ B, atol=1e-14)
    assert one("INVERSE Q = A:B") == one("SET Q = INVERSE(A:B)")
    np.testing.assert_allclose(value(one("SET Q = A:TRANS(1,2,3)").value, A=A), A @ moved([1e-3, 2e-3, 3e-3]))
    # HERE A:B makes B such that A:B is where the arm is
    made = one("HERE A:B")
    assert made.target == Name("B")
    np.testing.assert_allclose(A @ evaluate(made.value, Arm(C, A=A)), C, atol=1e-14)


def test_frames_of_points():
    made = value(one("FRAME F = A,B,C,D").value, A=A, B=B, C=C, D=D)
    a, b, c, d = (T[:3, 3] for T in (A, B, C, D))
    np.testing.assert_allclose(made[:3, 3], d)
    np.testing.assert_allclose(made[:3, 0], (b - a) / np.linalg.norm(b - a))
    inside = made[:3, :3].T @ (c - a)
    assert inside[1] > 0 and abs(inside[2]) < 1e-14
    assert one("FRAME F = A,B,C,D") == one("SET F = FRAME(A,B,C,D)")
    np.testing.assert_allclose(value(one("SET F = FRAME(A,B,C)").value, A=A, B=B, C=C)[:3, 3], a)


def test_joints():
    drive = one("DRIVE 4,-30.5,50")
    assert drive == MoveJoints(
        Literal(4.0), Literal(-30.5), True, length_unit="mm", angle_unit="deg", speed_fraction=Literal(0.5)
    )
    ready = one("READY")
    assert not ready.relative and value(ready.values) == (0, -90, 90, 0, 0, 0) and ready.angle_unit == "deg"
    assert value(one("POINT #P = 90,0,0,0,0,45").value) == pytest.approx((np.pi / 2, 0, 0, 0, 0, np.pi / 4))
    assert one("HERE #P") == Assign(Name("#P"), Here(joints=True))


def test_hand():
    assert one("OPEN") == MoveHand("", True, wait=False)
    assert one("OPENI 40") == MoveHand("", True, Quantity(40.0, "mm"))
    assert one("CLOSE") == MoveHand("", False, wait=False)
    assert one("CLOSEI") == MoveHand("", False)
    assert read("GRASP 20,90\n90 STOP")[0] == MoveHand("", False, Quantity(20.0, "mm"), grasp=True, otherwise="90")
    assert one("GRASP W").width == Binary("*", Name("W"), UnitName("mm"))


def test_settings():
    assert one("SPEED 33") == SetSpeed(Literal(0.33))
    assert one("SPEED 7 ALWAYS") == SetSpeed(Literal(0.07), permanent=True)
    assert value(one("SPEED S").fraction, S=25.0) == 0.25
    assert [s.flag for s in read("LEFTY\nRIGHTY\nABOVE\nBELOW\nFLIP\nNOFLIP")] == [
        "lefty", "righty", "above", "below", "flip", "noflip"]  # fmt: skip
    assert one("FLIP") == SetConfiguration("flip")
    assert one("TOOL") == SetTool() and one("TOOL GRIP") == SetTool(Name("GRIP"))
    assert one("BASE") == SetBase() and one("BASE DESK") == SetBase(Name("DESK"))
    base = value(one("BASE 100,0,-20,90").base)
    np.testing.assert_allclose(
        base, se3.from_rotation_translation(so3.rotation_z(np.pi / 2), [0.1, 0, -0.02]), atol=1e-16
    )
    assert one("DELAY 0.5") == Delay(Quantity(0.5, "s"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7/2", 3), ("-7/2", -3), ("7%4", 3), ("2+3*4", 14), ("(2+3)*4", 20), ("10-3-2", 5), ("-(I)*2", -10), ("--3", 3),
     ("100/7*7", 98), ("I*I-1", 24)],
)  # fmt: skip
def test_whole_numbers(text, expected):
    assert value(one(f"SETI N = {text}").value, I=5.0) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("EQ", (0, 1, 0)), ("NE", (1, 0, 1)), ("LT", (1, 0, 0)), ("GT", (0, 0, 1)), ("LE", (1, 1, 0)), ("GE", (0, 1, 1))],
)
def test_relations(word, expected):
    statement = read(f"10 IF I {word} 3 THEN 10")[1]
    assert isinstance(statement, If) and statement.then == (Goto("10"),)
    assert tuple(bool(value(statement.condition, I=i)) for i in (2.0, 3.0, 4.0)) == tuple(map(bool, expected))


def test_input_and_output():
    assert read("SIGNAL 1,-2") == (Signal(Literal(1.0)), Signal(Literal(2.0), on=False))
    on, off = Reading("signal", number=Literal(3.0)), Unary("not", Reading("signal", number=Literal(4.0)))
    assert one("WAIT 3") == Wait(on)
    assert one("WAIT 3,-4") == Wait(Binary("and", on, off))
    assert read("10 IFSIG -4 THEN 10")[1] == If(off, (Goto("10"),))
    assert read("TYPE TRAY FULL ; so it is") == (Comment("so it is"), one('TYPE "TRAY FULL"'))
    assert read("TYPE TRAY FULL") == (Print((Literal("TRAY FULL"),)),) == read('TYPE "TRAY FULL"')
    assert one('TYPE "N = ",N') == Print((Literal("N = "), Name("N")))
    assert one("TYPEI N") == Print((Name("N"),))
    assert one("PAUSE FILL IT") == Pause("FILL IT") == one('PAUSE "FILL IT"')


def test_reactions():
    watch = one("REACTI 5,RESCUE")
    assert watch == Watch(
        "signal 5", Reading("signal", number=Literal(5.0)), (CallProcedure("RESCUE"),), interrupts=True, once=True
    )
    assert not one("REACT -5,RESCUE").interrupts and not one("REACT -5,RESCUE ALWAYS").once
    assert one("IGNORE 5") == Unwatch(watch.name)
    assert one("IGNORE -5") == Unwatch(one("REACT -5,RESCUE").name)


def test_programs_of_a_text():
    text = (
        "; first\n.PROGRAM main\n GOSUB place ; call\n GOSUB 10\n STOP\n10 RETURN\n.END\n.PROGRAM PLACE\n10 OPENI\n.END"
    )
    program = parse_val(Source(text))
    assert program.name == "main" and program.language == "val"
    place = Procedure("place", (), (Label("10"), MoveHand("", True)))
    assert program.statements == (
        Comment("first"), Comment("call"), CallProcedure("place"), Gosub("10"), Stop(), Label("10"), Return(), place
    )  # fmt: skip
    outside = parse_val(Source(".PROGRAM SUB\n READY\n.END\n MOVE A"))
    assert (
        outside.name == ""
        and isinstance(outside.statements[0], Procedure)
        and outside.statements[1] == Move("", Name("A"))
    )


def test_names_keep_their_first_spelling():
    assert read("MOVE Feeder\nMOVE FEEDER\nmove feeder") == 3 * (Move("", Name("Feeder")),)


def test_places_of_statements_in_the_text():
    source = Source("; go\n10  MOVE  A ; there\n")
    comment, there, label, move = statements = parse_val(source).statements
    assert [source[x.at] for x in (comment, there, label, move)] == ["; go", "; there", "10", "MOVE  A"]
    assert isinstance(move, Move) and source[move.to.at] == "A" and len(statements) == 4
    assert Span(0, 4) == comment.at


def test_every_word_is_explained():
    assert set(INSTRUCTIONS) <= set(VAL_WORDS)
    assert all((len(text) > 20 and text.endswith((".", ")"))) or text[-1].isalnum() for text in VAL_WORDS.values())


# --- text and instructions are two forms of the same ------------------------------------------------------------------


def round_trip(text: str) -> None:
    program = parse_val(Source(text))
    written = val_text(program)
    again = parse_val(Source(written))
    assert again == program
    assert val_text(again) == written


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_read_written_and_read(name):
    round_trip(EXAMPLES[name])
    assert sum(isinstance(s, Comment) for s in parse_val(Source(EXAMPLES[name])).statements) == sum(
        line.lstrip().startswith(";") for line in EXAMPLES[name].splitlines()
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "\n\n", "10\n20", "10 ; a\n; b", ".PROGRAM\n.END", ".PROGRAM a\n.END\n.PROGRAM b\n.END", "TYPE", "PAUSE",
        'TYPE "  a ; b "', "MOVE A:(B:C):D", "MOVE HERE:TRANS(0,0,H)", "APPRO A,-H", "APPRO A,-5", "SPEED 0.1",
        "SPEED 99.99999999999999", "SETI A = B*C", "SET A = B:C", "SETI I = 1\nSETI J = I\nSETI K = I*J",
        "SETI I = 3 - -5", "; a\n;\n;; b", ".PROGRAM a ; x\n.END ; y", "SETI I = A - (B - C) / (D * E) % 7",
        "SIGNAL N,-N", "IGNORE N", "DELAY T", "DELAY T*2", "MOVET #A,W",
    ],
)  # fmt: skip
def test_odd_texts_are_read_written_and_read(text):
    round_trip(text)


@pytest.mark.slow
@given(programs_of_val())
def test_random_programs_are_read_written_and_read(text):
    round_trip(text)


@given(lines_of_val)
def test_random_lines_in_any_case(line):
    if "THEN" in line or "GOTO" in line or "GRASP" in line or "GOSUB" in line or '"' in line:
        return
    if line.split(" ")[0] in ("TYPE", "PAUSE", "REMARK"):
        return
    upper, lower = parse_val(Source(line.upper())), parse_val(Source(line.lower()))
    assert val_text(upper).upper() == val_text(lower).upper()


def test_units_of_other_languages_are_converted():
    inch = Program((Move("", Binary("+", Name("A"), Name("v"))),))
    with pytest.raises(ProgramError, match=r"VAL has no words for the operator '\+' as a location \(Move\)"):
        val_text(inch)
    program = Program((MoveHand("", True, Quantity(1.0, "inch")), Delay(Quantity(2.0, "min"))))
    assert val_text(program) == "        OPENI 25.4\n        DELAY 120\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (While(Literal(True), ()), "VAL has no words for While"),
        (Parallel(((Stop(),),)), "VAL has no words for Parallel"),
        (Move("barm", Name("A")), "'barm': VAL has one arm"),
        (Move("", Name("A"), via=(Name("B"),)), "via = "),
        (Move("", Name("two words")), "the name 'two words'"),
        (MoveHand("bhand", True), "'bhand': VAL has one arm with one hand"),
        (SetSpeed(Literal(2.0)), "the speed 2, which is not between 0 and 1"),
        (If(Literal(True), (Stop(),)), "a branch that is no jump"),
        (Goto("again"), "the label 'again', which is no number"),
        (Assign(Name("i"), Literal(2.5)), "the number 2.5, which is not whole"),
        (Procedure("p", (), (), result=None), None),
        (Print((Literal('"\n'),)), "the text"),
        (Print((Literal("a\x00b"),)), "the text"),
        (Comment("a\u202eb"), "the text"),
        (Watch("door", Reading("signal", number=Literal(1.0)), (CallProcedure("p"),)), "the name 'door'"),
    ],
)  # fmt: skip
def test_what_val_cannot_say_is_named(statement, message):
    if message is None:
        assert ".PROGRAM p" in val_text(Program((statement,)))
        return
    with pytest.raises(ProgramError) as caught:
        val_text(Program((Stop(), statement)))
    assert message in str(caught.value)


def test_names_that_differ_in_case_are_refused():
    with pytest.raises(ProgramError, match="differ in case: Bin and BIN"):
        val_text(Program((Move("", Name("Bin")), Move("", Name("BIN")))))


def test_numbers_keep_all_digits():
    for percent in RNG.uniform(0, 1, 200).tolist():
        text = val_text(Program((SetSpeed(Literal(percent)),)))
        assert one(text).fraction == Literal(percent)


# --- mistakes ---------------------------------------------------------------------------------------------------------

# Each message: the text, the place, the message, what is underlined, and the hint.
MISTAKES = [
    ('MOOVE BIN', '1:1', "'MOOVE' is no instruction", 5,
     "did you mean 'MOVE' or 'MOVET' or 'MOVES'?"),
    ('  APPRO FEED 50', '1:14', "',' is missing after the location; '50' stands here", 2,
     'write APPRO location,distance'),
    ('10 STOP\n10 STOP', '2:1', 'the label 10 is there twice', 2,
     'line 1 has it, too'),
    ('10 GOTO 11', '1:9', 'there is no label 11', 2,
     "did you mean '10'?"),
    ('10 IF I LT 3 10', '1:14', "'THEN' is missing after the condition of IF; '10' stands here", 2,
     'write IF a EQ b THEN label'),
    ('SPEED 0', '1:7', 'a speed of 0 % is not possible', 1,
     'it is above 0, and at most 100, the full speed'),
    ('I = I + 1', '1:1', "'I' is no instruction", 1,
     'write SET for locations, or SETI for whole numbers'),
    ('SETI I = 1.5', '1:10', '1.5 is no whole number', 3,
     'variables of VAL are whole numbers'),
    ('SHIFT BIN 60,0,0', '1:11', "'BY' is missing after the location; '60' stands here", 2,
     'write SHIFT location BY dx,dy,dz'),
    ('APPRO #P,50', '1:7', "the name of a location is missing; '#P' stands here", 2,
     '# begins a precision point: only HERE, POINT, SET and MOVE take it'),
    ('COARSE', '1:1', 'COARSE has no meaning here', 6,
     'moves end at their goals here; leave it out'),
    ('.PROGRAM A\nSTOP', '1:1', 'this .PROGRAM has no .END', 10,
     'end it with .END'),
    ('POINT A = 1,2,3', '1:16', '6 numbers are needed, and 3 are given; the text ends here', 1,
     'write POINT location = x,y,z,o,a,t'),
    ('SIGNAL 0', '1:8', '0 is no number of a line', 1,
     'lines are numbered from 1'),
    ('MOVE BIN 50', '1:10', "MOVE ends before this; '50' stands here", 2,
     'write MOVE location'),
    ('IF I IS 3 THEN 10\n10', '1:6', "a relation is missing; 'IS' stands here", 2,
     'write IF a EQ b THEN label'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message", "marks", "hint"), MISTAKES)
def test_messages_of_typical_mistakes(text, place, message, marks, hint):
    line, column = map(int, place.split(":"))
    shown = text.split("\n")[line - 1]
    marked = " " * (column - 1) + "^" * marks
    expected = [f"t.val:{place}: error: {message}", f"    {shown}", f"    {marked}", f"    hint: {hint}"]
    assert message_of(text) == "\n".join(expected)


def test_all_mistakes_are_found_at_once_and_in_order():
    text = "\n".join(row[0].split("\n")[0] for row in MISTAKES if not row[0].startswith((".", "10")))
    with pytest.raises(ProgramError) as caught:
        parse_val(Source(text))
    lines = [Source(text).position(d.span.start).line for d in caught.value.diagnostics]
    assert set(lines) == set(range(1, text.count("\n") + 2)) and lines == sorted(lines)
