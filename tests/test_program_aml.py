"""AML: the book's statements as instructions and as text, typical mistakes, and hostile texts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint.program.instructions import (
    ANY,
    FRAME,
    NUMBER,
    Abort,
    Aggregate,
    Assign,
    Attach,
    Binary,
    Call,
    Comment,
    Declare,
    DefineMonitor,
    Delay,
    For,
    Goto,
    If,
    Index,
    Literal,
    Move,
    MoveHand,
    MoveJoints,
    Name,
    Parameter,
    Print,
    Procedure,
    Program,
    ProgramError,
    Quantity,
    Reading,
    Return,
    Signal,
    Source,
    Stop,
    Unary,
    UnitName,
    Wait,
    While,
    expressions_in,
    statements_in,
)
from adjoint.program.languages.aml import AML_WORDS, aml_text, parse_aml
from adjoint.program.languages.aml.words import FUNCTIONS, OPERATORS, RESERVED
from adjoint.program.meaning import check
from adjoint.program.texts.cursor import MOST_FINDINGS

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "programs").glob("*.aml"))
A, B = Name("a"), Name("b")


def read(text):
    return parse_aml(Source(text, "test.aml")).statements


def one(text) -> Any:
    (statement,) = read(text)
    return statement


def value(text) -> Any:
    return one(f"x = {text};").value


def numbers(*values):
    return Aggregate(tuple(Literal(float(v)) for v in values))


def refused(text):
    with pytest.raises(ProgramError) as error:
        parse_aml(Source(text, "test.aml"))
    assert error.value.position is not None
    return error.value


def moved(joints, values, relative=False, **more):
    return MoveJoints(joints, values, relative, length_unit="inch", angle_unit="deg", **more)


# --- the book's statements --------------------------------------------------------------------------------------------


def test_moves_of_table_9_4():
    assert one("MOVE(<1, 4>, <10, 20>);") == moved(numbers(1, 4), numbers(10, 20))
    assert one("DMOVE(<1, 3, 6>, <1, 2, 5>);") == moved(numbers(1, 3, 6), numbers(1, 2, 5), True)
    assert one("dmove(3, -1.0)") == moved(Literal(3.0), Literal(-1.0), True)


def test_speeds_and_fingers_of_table_9_5():
    speeds = dict(zip(("speed", "acceleration", "deceleration"), numbers(1, 2, 3).items, strict=True))
    assert one("MOVE(<1, 4>, <10, 20>, <1, 2, 3>);") == moved(numbers(1, 4), numbers(10, 20), **speeds)
    assert one("MOVE(GRIPPER, 2.5);") == MoveHand("", True, Quantity(2.5, "inch"), either_way=True)
    assert one("MOVE(<GRIPPER>, <2.5>);") == one("MOVE(GRIPPER, 2.5);")
    by = Binary("+", Reading("width"), Binary("*", A, UnitName("inch")))
    assert one("DMOVE(GRIPPER, a);") == MoveHand("", True, by, either_way=True)


def test_monitors_of_table_9_6():
    sensors = Aggregate((Reading("sensor", name="SLP"), Reading("sensor", name="SRP")))
    monitor = DefineMonitor("fmons", sensors, Literal(1.0), Literal(0.0), Name("F"))
    assert read("fmons = MONITOR(<SLP, SRP>, 1, 0, F); DMOVE(<3>, <1>, fmons);") == (
        monitor,
        moved(numbers(3), numbers(1), True, monitors=(Name("fmons"),)),
    )
    both = one("MOVE(<1>, <2>, <1, 1, 1>, <m, n>);")
    assert isinstance(both, MoveJoints) and both.monitors == (Name("m"), Name("n")) and both.speed == Literal(1.0)
    assert one("MOVE(<1>, <2>, <>, <m, n>);") == moved(numbers(1), numbers(2), monitors=(Name("m"), Name("n")))
    assert one("MOVE(GRIPPER, 0, m);").monitors == (Name("m"),)
    assert one("MOVE(<1>, <2>, slow, m);").acceleration == Index(Name("slow"), Literal(2.0))


def test_frames_are_aggregates():
    turned = Call("EULERROT", (Aggregate(tuple(Quantity(x, "deg") for x in (0.0, 0.0, 90.0))),))
    assert value("<<20, 15, 0>, EULERROT(<0, 0, 90>)>") == Aggregate((numbers(20, 15, 0), turned))
    assert value("DOT(a, b)") == Call("DOT", (A, B))
    assert value("EULERROT(a)") == Call("EULERROT", (Binary("*", A, UnitName("deg")),))


def test_readings():
    units = {"length_unit": "inch", "angle_unit": "deg"}
    assert value("QPOSITION(<1, 5>)") == Reading("joints", number=numbers(1, 5), **units)
    assert value("QPOSITION(GRIPPER)") == Binary("/", Reading("width"), UnitName("inch"))
    assert value("QMONITOR(m)") == Reading("monitor", name="m")
    assert value("FORCE(z)") == Binary("/", Reading("force", axis="z"), UnitName("ozf"))
    assert value("SENSIO('light')") == Reading("sensor", name="light")
    line = Reading("signal", number=Literal(3.0))
    assert value("SENSIO(3)") == value("SENSIO(3) = 1") == value("SENSIO(3) NE 0") == line
    assert value("SENSIO(3) = 0") == Unary("not", line)
    assert value("DEFIO(3)") == Literal(3.0)
    assert value("<SLP, 3>").items[0] == Reading("sensor", name="SLP")


# --- expressions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, same",
    [
        ("a + b * 2", "a + (b * 2)"),
        ("a - b - 2", "(a - b) - 2"),
        ("-a * b", "(-a) * b"),
        ("-2 * a", "(-2) * a"),
        ("NOT a < b AND b > 2 OR a", "((NOT (a LT b)) AND (b GT 2)) OR a"),
        ("a <> b", "a NE b"),
        ("a = b", "a EQ b"),
        ("a <= b OR a >= b", "a LE b OR a GE b"),
        ("<a, (a < b), a LT b>", "<a, a LT b, a LT b>"),
        ("a(2)(1)", "a[2][1]"),
        ("a(2, 1)", "a(2)(1)"),
        ("<<1, 2>, <>>", "< <1, 2>, < > >"),
        ("<1,2>(1)", "(<1, 2>)(1)"),
        ("'it''s'", '"it\'s"'),
        ("7 MOD 3 / 2", "(7 MOD 3) / 2"),
        ("+a", "a"),
    ],
)
def test_two_ways_to_say_the_same(text, same):
    assert value(text) == value(same)
    again = aml_text(Program(read(f"x = {text};")))
    assert read(again) == read(f"x = {text};")


def test_a_sign_belongs_to_its_number():
    assert value("-2") == Literal(-2.0) and value("-(2)") == Unary("-", Literal(2.0))
    assert value("a - 2") == Binary("-", A, Literal(2.0)) and value("a - -2") == Binary("-", A, Literal(-2.0))


def test_elements_and_calls():
    """f(3) calls the subroutines of the text, wherever they stand, and is the third element of anything else."""
    call, *_ = read("x = f(3); f: SUBR(a); RETURN(a); END;")
    assert call == Assign(Name("x"), Call("f", (Literal(3.0),)))
    assert value("f(3)") == Index(Name("f"), Literal(3.0))
    assert read("f[2] = f(3); f: SUBR(a); RETURN(a); END;")[0] == Assign(
        Index(Name("f"), Literal(2.0)), Call("f", (Literal(3.0),))
    )
    assert value("DOT(a, b)(1)") == Index(Call("DOT", (A, B)), Literal(1.0))


def test_angles_are_in_degrees():
    assert value("SIN(30)") == Call("SIN", (Quantity(30.0, "deg"),))
    assert value("ASIN(a)") == Binary("/", Call("ASIN", (A,)), UnitName("deg"))


# --- statements -------------------------------------------------------------------------------------------------------


def test_subroutines_and_their_variables():
    procedure = one("grip: SUBR(w, f); tries: NEW 0; x, y: NEW; n: NEW REAL; RETURN(tries); END;")
    assert procedure == Procedure(
        "grip",
        (Parameter("w"), Parameter("f")),
        (
            Declare(ANY, ("tries",)),
            Assign(Name("tries"), Literal(0.0)),
            Declare(ANY, ("x", "y")),
            Declare(NUMBER, ("n",)),
            Return(Name("tries")),
        ),
        ANY,
    )
    assert one("stop: SUBR; QUIT; RETURN; END;") == Procedure("stop", (), (Stop(), Return()))


def test_flow_of_control():
    assert one("IF a LT b THEN QUIT ELSE IF b THEN ABORT ELSE BEGIN END;") == If(
        Binary("<", A, B), (Stop(),), (If(B, (Abort(Literal("")),), ()),)
    )
    assert one("WHILE a DO BEGIN QUIT; QUIT; END;") == While(A, (Stop(), Stop()))
    dangling = one("IF a THEN IF b THEN QUIT ELSE ABORT('x');")
    assert dangling == If(A, (If(B, (Stop(),), (Abort(Literal("x")),)),))
    assert read(aml_text(Program((dangling,)))) == (dangling,)
    outer = If(A, (If(B, (Stop(),)),), (Abort(Literal("x")),))
    assert read(aml_text(Program((outer,)))) == (outer,)


def test_other_statements():
    assert one("DELAY(2);") == Delay(Quantity(2.0, "s"))
    assert one("DISPLAY('bin', a);") == Print((Literal("bin"), A))
    assert read("WRITEO(1, 1); WRITEO(a, 0);") == (Signal(Literal(1.0)), Signal(A, False))
    assert one("WAIT(SENSIO(3) EQ 1);") == Wait(Reading("signal", number=Literal(3.0)))
    assert one("WAITMOVE;") == Wait(Reading("done"))


def test_comments_are_kept_at_their_statements():
    text = "-- first\nx = <1, -- inside\n 2>; -- after\nIF a THEN -- why\n QUIT; --\n--   last"
    program = parse_aml(Source(text))
    found = [s.text for s in statements_in(program) if isinstance(s, Comment)]
    assert found == ["first", "inside", "after", "why", "", "  last"]
    assert parse_aml(Source(aml_text(program))) == program


def test_everything_remembers_its_place():
    text = "-- go\nx = <1, a + 2>;\nMOVE(<1, 2>, x, m);\nIF x(1) > 2 THEN DELAY(0.5);\n"
    program = parse_aml(Source(text))
    for thing in [*statements_in(program), *expressions_in(program)]:
        assert text[thing.at.start : thing.at.end].strip(), thing
    assert [program.line_of(s.at) for s in program.statements] == [1, 2, 3, 4]
    assert text[slice(*program.statements[1].value.items[1].at)] == "a + 2"  # type: ignore[attr-defined]


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_are_in_the_printed_layout(path):
    text = path.read_text(encoding="utf-8")
    program = parse_aml(Source(text, path.name))
    assert aml_text(program) + "\n" == text
    assert check(program) == ()


def test_the_page_shows_the_example():
    page = (EXAMPLES[0].parents[2] / "docs" / "programs_aml.md").read_text(encoding="utf-8")
    (pallet,) = [path for path in EXAMPLES if path.stem == "pallet"]
    assert pallet.read_text(encoding="utf-8") in page


def test_layout():
    text = "if a<b then begin x=1;y(2):=<1,-2.5>;end else while not c do dmove(3,-1)\n;repeat z=1 until a>b"
    assert aml_text(parse_aml(Source(text))) == (
        "IF a LT b THEN BEGIN\n"
        "    x = 1;\n"
        "    y(2) = <1, -2.5>;\n"
        "END ELSE BEGIN\n"
        "    WHILE NOT c DO DMOVE(3, -1);\n"
        "END;\n"
        "REPEAT\n"
        "    z = 1;\n"
        "UNTIL a GT b;"
    )


@pytest.mark.parametrize(
    "statement, says",
    [
        (Move("", Name("f")), "the instruction Move"),
        (Attach("a", "b"), "the instruction Attach"),
        (Goto("x"), "the instruction Goto"),
        (For("i", A, B, None, ()), "the instruction For"),
        (Assign(Name("end"), A), "'end' is a word of AML"),
        (Assign(Name("a.b"), A), "letters, digits and _"),
        (Assign(A, Quantity(2.0, "inch")), "2 inch; its numbers have no units"),
        (Assign(A, Literal("a\nb")), "no ends of lines"),
        (Assign(A, Call("VECTOR", (A, A, A))), "no function VECTOR"),
        (Assign(A, Call("SIN", (A,))), "count in deg"),
        (MoveJoints(A, B), "count in m and rad"),
        (moved(A, B, speed=A), "together"),
        (moved(A, B, speed_fraction=A), "a fraction of the full speed"),
        (MoveHand("", True, Quantity(1.0, "inch")), "MOVE(GRIPPER"),
        (Declare(FRAME, ("f",)), "REAL"),
        (Procedure("p", (Parameter("f", FRAME),), ()), "have no types"),
        (If(A, (Procedure("p", (), ()),)), "inside something else"),
    ],
    ids=lambda x: x if isinstance(x, str) else type(x).__name__,
)
def test_what_aml_cannot_say(statement, says):
    with pytest.raises(ProgramError) as error:
        aml_text(Program((statement,)))
    assert says in str(error.value)


def test_all_that_cannot_be_said_is_named_at_once():
    with pytest.raises(ProgramError) as error:
        aml_text(Program((Goto("x"), Stop(), While(A, (Goto("y"), Attach("a", "b"))))))
    assert len(error.value.diagnostics) == 3


def test_other_units_of_the_same_kind_are_counted_in_those_of_aml():
    assert aml_text(Program((MoveHand("", True, Quantity(50.8, "mm"), either_way=True),))) == "MOVE(GRIPPER, 2);"
    assert aml_text(Program((Delay(Quantity(0.5, "min")),))) == "DELAY(30);"


def test_every_word_is_explained():
    assert set(AML_WORDS) >= RESERVED and set(FUNCTIONS) <= set(AML_WORDS)
    assert {key for key in OPERATORS if key.isalpha()} <= set(AML_WORDS)
    assert all(word == word.upper() and text.endswith((".", ";", ";.")) for word, text in AML_WORDS.items())


# --- mistakes ---------------------------------------------------------------------------------------------------------

TABLE_9_3 = """T6 = DOT(base, <<15, 0, 0>, EULERROT(<180, 0, 0>));
E = DOT(T6, <<0, 0, 5>, EULERROT(<0, 0, 0>));
bolt_tip = DOT(feeder, <<0, 0, 0>, EULERROT(<0, 0, 0>));
"""


def test_the_brackets_that_the_printed_table_lost():
    error = refused(TABLE_9_3)
    assert [error.source.position(d.span.start) for d in error.diagnostics] == [(1, 50), (2, 44), (3, 55)]  # type: ignore[union-attr]
    assert str(error).startswith(
        "test.aml:1:50: error: ',' or '>' is missing; ')' stands here\n"
        "    T6 = DOT(base, <<15, 0, 0>, EULERROT(<180, 0, 0>));\n"
        "                                                     ^\n"
        "    hint: the '<' at line 1, column 16 is open: close it with '>'\n"
    )


GOLDEN = {
    "MOV(<1>, <2>);": """test.aml:1:1: error: 'MOV' is neither a statement of AML nor a subroutine of this text
    MOV(<1>, <2>);
    ^^^
    hint: did you mean 'MOVE' or 'DMOVE' or 'WAITMOVE'?""",
    "x = 1\ny = 2;": """test.aml:1:5: error: ';' is missing after '1'
    x = 1
        ^
    hint: the next statement begins on line 2 with 'y'""",
    "IF a THEN x = 1; ELSE x = 2;": """test.aml:1:18: error: ELSE is out of place; 'ELSE' stands here
    IF a THEN x = 1; ELSE x = 2;
                     ^^^^
    hint: a ';' before ELSE ends the IF: remove it""",
    "MOVE(<1, 2>, <10>);": """test.aml:1:6: error: MOVE names 2 joints and gives 1 values
    MOVE(<1, 2>, <10>);
         ^^^^^^^^^^^^""",
    "MOVE(<1, GRIPPER>, <1, 2>);": """test.aml:1:10: error: GRIPPER is no value; 'GRIPPER' stands here
    MOVE(<1, GRIPPER>, <1, 2>);
             ^^^^^^^
    hint: GRIPPER stands alone in MOVE, DMOVE and QPOSITION: MOVE(GRIPPER, 2.5)""",
    "ABORT('no part);": """test.aml:1:7: error: this string has no end on its line
    ABORT('no part);
          ^^^^^^^^^^
    hint: close it with '""",
    "IF a < b\n  x = 1;": """test.aml:2:3: error: THEN is missing after the condition of IF; 'x' stands here
      x = 1;
      ^""",
    "WHILE a < b DOO x = 1;": """test.aml:1:13: error: DO is missing after the condition of WHILE; 'DOO' stands here
    WHILE a < b DOO x = 1;
                ^^^
    hint: did you mean 'DO'?""",
    "m = MONITOR(<SLP>, 0, F);": """test.aml:1:5: error: MONITOR needs 4 values; it got 3
    m = MONITOR(<SLP>, 0, F);
        ^^^^^^^^^^^^^^^^^^^^
    hint: write MONITOR(<SLP, SRP>, 1, 0, f): sensors, type of the test, lowest and highest value""",
    "WHILE a < 3 DO BEGIN a = a + 1;": """test.aml:1:32: error: END is missing; the text ends here
    WHILE a < 3 DO BEGIN a = a + 1;
                                   ^
    hint: the BEGIN at line 1, column 16 is open""",
    "x = <1, a < 2>;": """test.aml:1:11: error: ',' or '>' is missing; '<' stands here
    x = <1, a < 2>;
              ^
    hint: the '<' at line 1, column 5 is open: close it with '>'; inside < > comparisons are words: LT""",
    "MOVE(<1>, <2>, <1, 2>);": """test.aml:1:16: error: speeds are three numbers; here are 2
    MOVE(<1>, <2>, <1, 2>);
                   ^^^^^^
    hint: write <speed, acceleration, deceleration>; several monitors stand after it: MOVE(<1>, <2>, <>, <m, n>)""",
    "x = 5 {inches};": """test.aml:1:7: error: '{' has no meaning here
    x = 5 {inches};
          ^
test.aml:1:14: error: '}' has no meaning here
    x = 5 {inches};
                 ^""",
}


@pytest.mark.parametrize("text", GOLDEN, ids=lambda text: text[:20])
def test_typical_mistakes(text):
    assert str(refused(text)) == GOLDEN[text]


def test_all_findings_come_at_once():
    error = refused("MOV(1);\nx = 1 +;\nIF a THEN BEGIN y = ; z = 2; END;\nWHIL a DO QUIT;\nQUIT;\nEND;\n")
    assert [error.source.position(d.span.start).line for d in error.diagnostics] == [1, 2, 3, 4, 6]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text, says",
    [
        ("AMOVE(<1>, <2>);", "write MOVE"),
        ("FOR i = 1 TO 3 DO QUIT;", "WHILE"),
        ("x = IF a THEN 1 ELSE 2;", "IF gives no value"),
        ("x: STATIC 0;", "STATIC is not offered"),
        ("DOT(a, b);", "DOT gives a value"),
        ("GRIPPER = 2;", "another name"),
        ("f: SUBR(a, a); END;", "two parameters"),
        ("BEGIN f: SUBR; END; END;", "begins inside"),
        ("f: SUBR; g: SUBR; END; END;", "begins inside"),
        ("x = a < b < c;", "compared once more"),
        ("x = 1e999;", "too large"),
        ("WRITEO(1, 5);", "set to 1 or 0"),
        ("MOVE(GRIPPER, 1, <1, 1, 1>);", "a speed of their own"),
        ("a(1) = MONITOR(SLP, 1, 0, 1);", "name of its own"),
        ("x = (1 + 2;", "the '(' at line 1, column 5 is open"),
        ("x = a[1;", "the '[' at line 1, column 6 is open"),
        ("IF a := 1 THEN QUIT;", "compare with EQ"),
        ("x := <1, 2>>;", "a value is missing"),
    ],
)
def test_other_mistakes(text, says):
    assert says in str(refused(text))


# --- hostile texts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, says",
    [
        ("x = " + "(" * 5000, "nested more than 100"),
        ("x = " + "<" * 5000, "nested more than 100"),
        ("x = " + "NOT " * 5000 + "a;", "nested more than 100"),
        ("x = " + "- " * 5000 + "a;", "nested more than 100"),
        ("BEGIN " * 5000, "nested more than 100"),
        ("IF a THEN " * 5000 + "QUIT;", "nested more than 100"),
        ("x = a" + "(1)" * 5000 + ";", "more than 20 times"),
        ("x = 1" + "+1" * 5000 + ";", "more than 100 levels"),
        ("DISPLAY(1" + "+1" * 5000 + ");", "more than 100 levels"),
        ("x = 1;" * 200_000, "characters"),
        ("x = 1;\0", "control character"),
        ("МOVE(<1>, <2>);", "it looks like 'M'"),
        ("x = “text”;", "has no meaning"),
        ("x = 1 − 2;", "it looks like '-'"),
        ("END;" * 5000, "out of place"),
        ("x = " + "'" * 9999, "is missing"),
        ("x = '" + "a" * 9999, "no end"),
    ],
    ids=lambda x: repr(x[:20]),
)
def test_hostile_texts_are_refused(text, says):
    assert says in str(refused(text))


def test_long_texts_that_are_not_deep_are_read():
    n = 1000
    assert len(read("x = <1, 2, 3>;\n" * n)) == n
    assert len(value("<" + ", ".join(["1"] * n) + ">").items) == n
    assert len(refused("x = ;" * n).diagnostics) == MOST_FINDINGS


def test_printing_what_is_too_deep():
    deep = A
    for _ in range(3000):
        deep = Unary("not", deep)
    with pytest.raises(ProgramError, match="deep"):
        aml_text(Program((Assign(A, deep),)))


def test_numbers_keep_every_digit():
    for x in [0.1, 1 / 3, 1e-300, 123456789.125, 1e22, -np.pi]:
        assert value(aml_text(Program((Assign(A, Literal(x)),)))[4:-1]) == Literal(x)
