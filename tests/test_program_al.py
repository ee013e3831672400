"""AL: the statements of the book's tables, frames with their numbers, and what is said about mistakes."""

from typing import Any

import numpy as np
import pytest
from support import al_grammar
from support.al_programs import FOLDER, PROBLEM_9_1, TABLES, examples, programs

import adjoint as aj
from adjoint.program.instructions import (
    Abort,
    Aggregate,
    Assign,
    Attach,
    Binary,
    Block,
    Comment,
    Declare,
    ForceClause,
    Goto,
    Guard,
    Here,
    If,
    Label,
    Literal,
    Move,
    MoveHand,
    Name,
    Parallel,
    Print,
    Program,
    ProgramError,
    Quantity,
    Reading,
    SetConfiguration,
    Source,
    Statement,
    Stop,
    Unary,
    UnitName,
    Wrt,
    expressions_in,
    scalar,
    statements_in,
)
from adjoint.program.languages.al import AL_WORDS, al_text, parse_al
from adjoint.program.languages.al.words import READINGS, RESERVED, STATEMENTS
from adjoint.program.meaning import check, evaluate
from adjoint.program.running.sessions import BasicSession
from adjoint.world import UNITS, Gripper, World

INCH = 0.0254


def parsed(text: str) -> Program:
    return parse_al(Source(text, "test.al"))


def statements(text: str) -> Any:
    return parsed(text).statements


def only(text: str) -> Any:
    (statement,) = parsed(text).statements
    return statement


def value(text: str):
    return only(f"x ← {text};").value


def without_comments(thing) -> Any:
    """Instructions without their comments, which lark's grammar ignores."""
    if isinstance(thing, tuple):
        return tuple(without_comments(x) for x in thing if not isinstance(x, Comment))
    if isinstance(thing, (Statement, Guard)):
        return type(thing)(**{k: without_comments(getattr(thing, k)) for k in thing.__dataclass_fields__ if k != "at"})
    return thing


# --- the tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*TABLES, *PROBLEM_9_1])
def test_second_grammar(name):
    """A grammar of lark, which shares no line with the parser, finds the same instructions."""
    text = {**TABLES, **PROBLEM_9_1}[name]
    assert al_grammar.instructions(text).statements == without_comments(parsed(text).statements)


@pytest.mark.parametrize("name", programs())
def test_round_trip(name):
    """Text, instructions, text: the same instructions again, with all comments; the second text is the first."""
    program = parsed(programs()[name])
    text = al_text(program)
    again = parsed(text)
    assert again == program
    assert repr(again.statements) == repr(program.statements)  # True is not 1
    assert al_text(again) == text
    comments = [s for s in statements_in(program) if isinstance(s, Comment)]
    assert len(comments) == programs()[name].count("{")


@pytest.mark.parametrize("name", programs())
def test_places(name):
    """Every statement and every expression of a program remembers where it was written."""
    program = parsed(programs()[name])
    assert program.source is not None
    for thing in [*statements_in(program), *expressions_in(program)]:
        if isinstance(thing, (Statement, Name)):
            assert 0 <= thing.at.start < thing.at.end <= len(program.source.text), thing
        if isinstance(thing, Name):
            assert program.source[thing.at] == thing.name


def test_motion_statements():
    """Tables 9.4 and 9.5."""
    a, b, c, d = [s for s in parsed(TABLES["table 9.4"]).statements if isinstance(s, Move)]
    assert a == Move("barm", Name("A")) and b == Move("barm", Name("bolt_grasp"))
    assert c == Move("barm", Name("bolt_grasp"), via=(Name("A"),))
    one_inch = Binary("*", Binary("*", Literal(1.0), Name("Z")), UnitName("inches"))
    assert d == Move("barm", Binary("-", Here(), one_inch))
    up, opened = without_comments(parsed(TABLES["table 9.5"]).statements)
    assert up == Move("barm", Name("A"), departure=Wrt(Name("Z"), Name("feeder")), duration=Quantity(5, "seconds"))
    assert opened == MoveHand("bhand", True, Quantity(2.5, "inches"))


def test_force_statements():
    """Table 9.6: a guarded and a compliant move."""
    guarded, compliant = without_comments(parsed(TABLES["table 9.6"]).statements)
    felt = Binary(">", Reading("force", axis="z"), Quantity(10, "ounces"))
    assert guarded.guards == (Guard(felt, (Abort(Literal("No Hole")),)),)
    forces = [("z", -10), ("x", 0), ("y", 0)]
    assert compliant.forces == tuple(ForceClause(axis, Quantity(f, "ounces")) for axis, f in forces)


def test_affixment():
    """Both samples of Sec. 9.3; = assigns, too."""
    first, second = statements(TABLES["section 9.3.1"])
    assert first == Attach("beam_bore", "beam", "rigid") and isinstance(second, Assign)
    assert parsed(TABLES["section 9.3.2"]).statements == (
        Attach("bolt_tip", "barm", "nonrigid"),
        Move("bolt_tip", Name("beam_bore")),
    )


def test_missing_semicolon_of_table_9_3():
    """The ';' that the book's Table 9.3 lacks is asked for where it belongs; it is the only finding."""
    text = TABLES["table 9.3"].replace("nilvect);", "nilvect)")
    with pytest.raises(ProgramError) as caught:
        parsed(text)
    (found,) = caught.value.diagnostics
    line = next(n for n, line in enumerate(text.split("\n"), 1) if "bolt_tip ←" in line)
    assert caught.value.position == (line, len(text.split("\n")[line - 1]) + 1)
    assert "';' is missing" in found.message and "';'" in found.hint


# --- what the words mean ----------------------------------------------------------------------------------------------


def _frames(*texts: str, **known):
    """The frames that assignments make, in inches."""
    scope = dict(known)
    for text in texts:
        for statement in parsed(text).statements:
            assert isinstance(statement, Assign) and isinstance(statement.target, Name)
            scope[statement.target.name] = evaluate(statement.value, scope)
    return scope


def test_frames_of_tables():
    """The frames of Tables 9.2 and 9.3, by hand (W1)."""
    found = _frames(TABLES["table 9.2"], TABLES["table 9.3"])
    turned, flipped = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.diag([1, -1, -1])
    expected = {
        "base": (np.eye(3), (20, 0, 15)),
        "beam": (turned, (20, 15, 0)),
        "feeder": (np.eye(3), (25, 20, 0)),
        "T6": (flipped, (35, 0, 15)),
        "E": (flipped, (35, 0, 10)),
        "bolt_tip": (np.eye(3), (25, 20, 0)),
        "bolt_grasp": (np.eye(3), (25, 20, 1)),
        "beam_bore": (turned, (18, 15, 3)),
    }
    assert found.keys() == expected.keys()
    for name, (R, p) in expected.items():
        np.testing.assert_allclose(found[name][:3, :3], R, atol=1e-15, err_msg=name)
        np.testing.assert_allclose(found[name][:3, 3] / INCH, p, atol=1e-13, err_msg=name)


def test_frames_of_insertion():
    """The frames of Table 9.7 (W3), from its own text."""
    assigns = [s for s in parsed(TABLES["table 9.7"]).statements if isinstance(s, Assign)]
    scope = {}
    for s in assigns:
        assert isinstance(s.target, Name)
        scope[s.target.name] = evaluate(s.value, scope)
    expected = {"bolt_grasp": (25, 20, 0), "bolt_tip": (25, 20, 0.5), "beam_bore": (20, 15, 1), "A": (25, 20, 5)}
    expected |= {"B": (25, 20, 8), "C": (20, 15, 6), "D": (20, 15, 2)}
    for name, p in expected.items():
        np.testing.assert_allclose(scope[name][:3, 3] / INCH, p, atol=1e-13, err_msg=name)
    assert scope["bolt_diameter"] == 0.5 * INCH and scope["grasped"] is False


def test_frames_of_corrected_insertion():
    """In the corrected program the hand points down, and the tip ends where the printed program sends the hand."""
    scope = {}
    for s in parsed(examples()["insertion.al"]).statements:
        if isinstance(s, Assign) and isinstance(s.target, Name):
            scope[s.target.name] = evaluate(s.value, scope)
    for name, p in {
        "bolt_grasp": (25, 20, 0.5),
        "A": (25, 20, 5.5),
        "D": (20, 15, 2),
        "beam_bore": (20, 15, 1),
    }.items():
        np.testing.assert_allclose(scope[name][:3, 3] / INCH, p, atol=1e-13, err_msg=name)
        np.testing.assert_allclose(scope[name][:3, 2], (0, 0, -1), atol=1e-15, err_msg=name)


@pytest.mark.parametrize("name, p", list(zip(PROBLEM_9_1, [(4, 6, 0), (1.6905, 6, -3.6252)], strict=True)))
def test_problem_9_1(name, p):
    """Prob. 9.1 in both of its readings."""
    grasp = _frames(PROBLEM_9_1[name], block=np.eye(4))["grasp"]
    R = [[0.4226, 0, 0.9063], [0, 1, 0], [-0.9063, 0, 0.4226]]
    np.testing.assert_allclose(grasp[:3, :3], R, atol=5e-5)
    np.testing.assert_allclose(grasp[:3, 3] / INCH, p, atol=5e-5)


@pytest.mark.parametrize("name", examples())
def test_examples_are_sound(name):
    """The example programs have no wrong types, units or names."""
    program = parsed(examples()[name])
    assert check(program) == ()
    assert program.name == ("insertion" if "insertion" in name else name.removesuffix(".al"))
    assert FOLDER.name == "programs"


def _run(name: str):
    hand = Gripper(opening=0.1, depth=0.05, breadth=0.02, T_tool_grip=np.eye(4))
    q = [0, -0.8, 2.4, 0, 1.0, 0]
    world = World().add_robot("puma", aj.robots.puma560(), q=q, at=[0, 0, 0.3], gripper=hand)
    return BasicSession(parsed(examples()[name]), world).go_on()


@pytest.mark.slow
def test_tower_of_hanoi():
    """Prob. 9.7: a disk is carried three times, and none ever lies on a smaller one."""
    result = _run("hanoi.al")
    assert result.status == "done"
    carried = [tuple(int(float(x)) for x in line.split() if x.strip(".").isdigit()) for line in result.printed]
    pegs = {1: [2, 1], 2: [], 3: []}  # sizes of disks from below
    for start, goal in carried:
        disk = pegs[start].pop()
        assert not pegs[goal] or pegs[goal][-1] > disk
        pegs[goal].append(disk)
    assert len(carried) == 3 and pegs == {1: [], 2: [], 3: [2, 1]}


@pytest.mark.slow
def test_pallet():
    """Prob. 9.3: the hand goes from the feeder to the nine bins, row by row; then there is one message."""
    result = _run("pallet.al")
    assert result.status == "done" and result.printed == ("tray full",)
    p = result.poses("puma.tool")[:, :3, 3]
    bins = [(0.35 + 0.06 * column, 0.15 + 0.04 * row, 0.1) for row in range(3) for column in range(3)]
    places = np.array([(0.4, -0.25, 0.1), *bins])
    near = np.linalg.norm(p[:, None] - places, axis=-1) < 1e-4
    visits = [int(np.argmax(row)) for row in near if row.any()]
    visits = [place for k, place in enumerate(visits) if k == 0 or visits[k - 1] != place]
    assert visits == [place for n in range(1, 10) for place in (0, n)]


# --- the language -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["←", "=", ":=", "<-", " <-"])
def test_assignments(sign):
    """All signs assign, also before a minus; a < -1 stays a comparison."""
    assert only(f"x{sign}-1;") == Assign(Name("x"), Literal(-1.0))
    assert only(f"x {sign} a <-1;") == Assign(Name("x"), Binary("<", Name("a"), Literal(-1.0)))
    assert only(f"x[2] {sign} 1;").target.index == Literal(2.0)


@pytest.mark.parametrize("sign", ["⊗", "⊕", "HERE", "GRINCH", "here", "grinch"])
def test_present_position(sign):
    """All signs and words of the present position."""
    assert only(f"MOVE barm TO {sign};") == Move("barm", Here())


def test_values():
    """Precedences, quantities and units."""
    assert value("-Z WRT feeder") == Unary("-", Wrt(Name("Z"), Name("feeder")))
    assert value("0.5*inches") == Quantity(0.5, "inches") and value("-10*ounces") == Quantity(-10.0, "ounces")
    assert value("(2)*inches") == Binary("*", Literal(2.0), UnitName("inches"))
    assert value("2*(inches)") == Binary("*", Literal(2.0), UnitName("inches"))
    assert value("VECTOR(1, 2, 3)*inches").right == UnitName("inches")
    assert value("a*2*inches") == Binary("*", Binary("*", Name("a"), Literal(2.0)), UnitName("inches"))
    assert value("5*sec") == Quantity(5.0, "seconds")
    assert value("12*'in-lbf'") == Quantity(12.0, "in-lbf")
    a, b, c = Name("a"), Name("b"), Name("c")
    assert value("a - b - c") == Binary("-", Binary("-", a, b), c)
    assert value("a OR b AND NOT c = 1") == Binary(
        "or", a, Binary("and", b, Unary("not", Binary("=", c, Literal(1.0))))
    )
    assert value("a + b*c < 2") == Binary("<", Binary("+", a, Binary("*", b, c)), Literal(2.0))


def test_variables_hide_units():
    """A name with a value of its own is no unit any more; the unit is then written between apostrophes."""
    before, assigned, after, still = statements("x ← 2*m; m ← 3; y ← 2*m; z ← 2*'m';")
    assert before.value == still.value == Quantity(2.0, "m")
    assert assigned.target == Name("m") and after.value == Binary("*", Literal(2.0), Name("m"))
    assert value("2*in") == Quantity(2.0, "in") and "in" in UNITS
    first, second = statements("FOR s ← 1 UNTIL 3 DO x ← s; MOVE barm TO s;")
    assert first.body[0].value == second.to == Name("s")


def test_words_in_any_case():
    """Words of AL are the same in capitals and small letters; names are not."""
    text = 'if NOT Found then begin Move barm to A via B with duration = 2*seconds end else abort("no");'
    assert only(text) == If(
        Unary("not", Name("Found")),
        (Move("barm", Name("A"), via=(Name("B"),), duration=Quantity(2.0, "seconds")),),
        (Abort(Literal("no")),),
    )


def test_programs_and_fragments():
    """A program is a block that a '.' ends, or whose name ends the text; all else are statements."""
    assert parsed("BEGIN hop x ← 1; END hop.").name == "hop"
    assert parsed("BEGIN hop x ← 1; END hop").name == "hop"
    assert parsed("BEGIN hop; x ← 1; END hop.").statements == parsed("x ← 1;").statements
    assert parsed('BEGIN "two words" x ← 1; END "two words".').name == "two words"
    assert parsed("BEGIN x ← 1; END.").statements == parsed("x ← 1").statements
    assert parsed("BEGIN x ← 1; END").statements == (Block(parsed("x ← 1").statements),)
    assert statements("BEGIN hop END; y ← 1;")[0].body == parsed("hop()").statements
    assert parsed("") == parsed(" \n ; ; ") and parsed("{ alone }").statements == (Comment("alone"),)


def test_comments():
    """Comments inside a statement come before it; comments in a block stay there."""
    found = statements("x ← { one } 1; { two } IF a THEN BEGIN { three } b; { four } END; { five }")
    assert [type(s).__name__ for s in found] == ["Comment", "Assign", "Comment", "If", "Comment"]
    assert [s.text for s in found[3].then if isinstance(s, Comment)] == ["three", "four"]
    branches = only("COBEGIN { a } x; { b } BEGIN y; z END; { c } COEND;").branches
    assert [[s.text for s in b if isinstance(s, Comment)] for b in branches] == [["a"], ["b"], ["c"]]
    assert isinstance(only("COBEGIN x; COEND"), Parallel)


def test_declarations():
    """Lists share bounds as in ALGOL; words of units give scalars and vectors a unit."""
    assert only("SCALAR a, b;") == Declare(scalar(), ("a", "b"))
    assert only("DISTANCE SCALAR a;") == Declare(scalar(m=1), ("a",))
    assert only("SCALAR ARRAY a, b[1:3];").bounds == (Literal(1.0), Literal(3.0))
    first, second = statements("SCALAR a[1:2], b;")
    assert first.bounds is not None and second.bounds is None


def test_words_are_explained():
    """Every word of the language has an explanation, for editors, that ends with a full stop or an example."""
    assert set(STATEMENTS) <= set(AL_WORDS) and set(RESERVED) <= set(AL_WORDS) and set(READINGS) <= set(AL_WORDS)
    assert all(len(text) > 10 for text in AL_WORDS.values())


# --- mistakes ---------------------------------------------------------------------------------------------------------

MISTAKES = [
    (
        "no semicolon",
        "MOVE barm TO A\nOPEN bhand TO 2*inches;",
        """\
test.al:1:15: error: ';' is missing behind this statement
    MOVE barm TO A
                  ^
    hint: end the statement with ';'""",
    ),
    (
        "no THEN",
        'IF bhand < 1*inches\n    ABORT("lost");',
        """\
test.al:2:5: error: 'THEN' is missing behind the condition of IF; 'ABORT' stands here
        ABORT("lost");
        ^^^^^
    hint: write THEN before it""",
    ),
    (
        "misspelt statement",
        "MOEV barm TO A;",
        """\
test.al:1:1: error: 'MOEV' begins no statement
    MOEV barm TO A;
    ^^^^
    hint: did you mean 'MOVE'?""",
    ),
    (
        "misspelt clause",
        "MOVE barm TO A WITH DURATON = 5*seconds;",
        """\
test.al:1:21: error: WITH needs the word of a clause; 'DURATON' stands here
    MOVE barm TO A WITH DURATON = 5*seconds;
                        ^^^^^^^
    hint: did you mean 'DURATION'?""",
    ),
    (
        "misspelt WITH",
        "MOVE barm TO A\n    WIHT DURATION = 5*seconds;",
        """\
test.al:2:5: error: this belongs to no clause of the statement before it; 'WIHT' stands here
        WIHT DURATION = 5*seconds;
        ^^^^
    hint: did you mean 'WITH'?""",
    ),
    (
        "unclosed BEGIN",
        "BEGIN task\n    IF a > 1 THEN BEGIN\n        x ← 1;\nEND task.",
        """\
test.al:2:19: error: this BEGIN has no END before the END of 'task'
        IF a > 1 THEN BEGIN
                      ^^^^^
    hint: every BEGIN needs an END""",
    ),
    (
        "other name",
        "BEGIN task\n    x ← 1;\nEND tusk.",
        """\
test.al:3:5: error: this END is for 'tusk', but the block that began in line 1 is 'task'
    END tusk.
        ^^^^
    hint: write END task""",
    ),
    (
        "semicolon before ELSE",
        "IF a > 1 THEN x ← 1;\nELSE x ← 2;",
        """\
test.al:2:1: error: there is no IF that this ELSE belongs to; 'ELSE' stands here
    ELSE x ← 2;
    ^^^^
    hint: leave out the ';' before ELSE""",
    ),
    (
        "no parenthesis",
        "x ← FRAME(nilrot, VECTOR(1, 2, 3)*inches;",
        """\
test.al:1:41: error: ')' is missing, which closes the '(' of line 1; ';' stands here
    x ← FRAME(nilrot, VECTOR(1, 2, 3)*inches;
                                            ^
    hint: write ')' before it""",
    ),
    (
        "no time",
        "MOVE barm TO A WITH DURATION = 5*inches;",
        """\
test.al:1:32: error: DURATION needs a time, and 5*inches is none
    MOVE barm TO A WITH DURATION = 5*inches;
                                   ^^^^^^^^
    hint: write 5*seconds""",
    ),
    (
        "no UNTIL",
        "DO\n    x ← x + 1;\nWHILE x < 3;",
        """\
test.al:1:1: error: this DO has no UNTIL
    DO
    ^^
    hint: a loop is DO ... UNTIL condition, or WHILE condition DO ...
test.al:3:12: error: 'DO' is missing behind the condition of WHILE; ';' stands here
    WHILE x < 3;
               ^
    hint: write DO before it""",
    ),
    (
        "no axis",
        "MOVE barm TO A ON FORCE(Q) > 1*ounces DO STOP;",
        """\
test.al:1:25: error: an axis is missing; 'Q' stands here
    MOVE barm TO A ON FORCE(Q) > 1*ounces DO STOP;
                            ^
    hint: axes are X, Y and Z; WITH FORCE_FRAME = f of a move turns them""",
    ),
    (
        "chained",
        "IF 1 < x < 3 THEN STOP;",
        """\
test.al:1:10: error: a comparison is compared once more; '<' stands here
    IF 1 < x < 3 THEN STOP;
             ^
    hint: join comparisons by AND: a < b AND b < c""",
    ),
    (
        "comment",
        "x ← 1; { never closed\ny ← 2;",
        """\
test.al:1:8: error: this comment has no end
    x ← 1; { never closed
           ^
    hint: close it with }""",
    ),
    (
        "look-alike",
        "МOVE barm TO A;",
        """\
test.al:1:1: error: 'М' (U+041C CYRILLIC CAPITAL LETTER EM) has no meaning here
    МOVE barm TO A;
    ^
    hint: it looks like 'M': write that""",
    ),
    (
        "a word as name",
        "step ← 3;",
        """\
test.al:1:1: error: 'step' is a word of AL, and no name
    step ← 3;
    ^^^^
    hint: give the variable another name""",
    ),
    (
        "several",
        "MOEV barm TO A;\nx ← (1 + 2;\nIF x > 1 TEHN STOP;\nOPEN bhand TO 2*deg;\nEND",
        """\
test.al:1:1: error: 'MOEV' begins no statement
    MOEV barm TO A;
    ^^^^
    hint: did you mean 'MOVE'?
test.al:2:11: error: ')' is missing, which closes the '(' of line 2; ';' stands here
    x ← (1 + 2;
              ^
    hint: write ')' before it
test.al:3:10: error: 'THEN' is missing behind the condition of IF; 'TEHN' stands here
    IF x > 1 TEHN STOP;
             ^^^^
    hint: did you mean 'THEN'?
test.al:4:15: error: OPEN ... TO needs a width, and 2*deg is none
    OPEN bhand TO 2*deg;
                  ^^^^^
    hint: write 2*inches
test.al:5:1: error: there is no BEGIN that this END ends
    END
    ^^^""",
    ),
]


@pytest.mark.parametrize("text, message", [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_mistakes(text, message):
    """What is said about typical mistakes: place, text underlined, and what would be right."""
    with pytest.raises(ProgramError) as caught:
        parsed(text)
    assert str(caught.value) == message


HOSTILE = {
    "10 MB": ("x ← 1;" * 1_700_000, "characters; a program has at most"),
    "NUL": ("x ← 1; { a\0b }", "U+0000"),
    "text that runs backwards": ('PRINT("\u202e");', "RIGHT-TO-LEFT OVERRIDE"),
    "invisible letter": ("x\u200by ← 1;", "ZERO WIDTH SPACE"),
    "parentheses": ("x ← " + "(" * 100_000, "nested more than"),
    "brackets": ("x ← " + "a[" * 100_000, "nested more than"),
    "calls": ("x ← " + "f(" * 100_000, "nested more than"),
    "minus": ("x ← " + "-" * 100_000 + "1;", "nested more than"),
    "NOT": ("x ← " + "NOT " * 100_000 + "y;", "nested more than"),
    "all operators": ("x ← " + "a OR a AND a = a + a * (" * 10_000, "nested more than"),
    "blocks": ("BEGIN " * 100_000, "nested more than"),
    "conditions": ("IF a THEN " * 50_000, "nested more than"),
    "loops": ("DO " * 100_000, "nested more than"),
    "monitors": ("MOVE a TO b ON c DO " * 20_000, "nested more than"),
    "a long sum": ("x ← " + "a + " * 5_000 + "a;", "more than 100 levels"),
    "a long chain of WRT": ("x ← a" + " WRT a" * 5_000 + ";", "more than 100 levels"),
    "indices": ("x" + "[1]" * 5_000 + " ← 1;", "more than 100 levels"),
    "mistakes": ("MOEV b TO c;\n" * 50_000, "begins no statement"),
    "closing words": ("END " * 200_000, "no BEGIN"),
    "quotes": ('"' * 900_001, "no end"),
    "braces": ("{" * 900_000, "no end"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name):
    """Texts that would fill the stack, the memory or the screen are refused, with a place and few words."""
    text, message = HOSTILE[name]
    with pytest.raises(ProgramError, match=message.replace("+", "[+]")) as caught:
        parsed(text)
    assert caught.value.position is not None
    assert len(caught.value.diagnostics) <= 100 and len(str(caught.value)) < 10_000


# --- what has no words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement, words",
    [
        (SetConfiguration("lefty"), "SetConfiguration"),
        (Assign(Name("x"), Aggregate((Literal(1.0),))), "Aggregate"),
        (Assign(Name("to"), Literal(1.0)), "word of AL"),
        (Assign(Name("x"), Name("seconds")), "as a unit"),
        (Assign(Name("x y"), Literal(1.0)), "no name"),
        (Print((Literal("two\nlines"),)), "one line"),
        (Goto("there"), "Goto"),
    ],
)
def test_no_words(statement, words):
    """The printer names what AL cannot say, all of it at once."""
    with pytest.raises(ProgramError, match=words) as caught:
        al_text(Program((statement, Stop(), Label("here"))))
    assert len(caught.value.diagnostics) == 2 and "Label" in str(caught.value)


def test_too_deep_to_print():
    """A program made in Python that is nested without end is refused."""
    deep = Literal(1.0)
    for _ in range(5000):
        deep = Unary("-", deep)
    with pytest.raises(ProgramError, match="nested too deep"):
        al_text(Program((Assign(Name("x"), deep),)))
