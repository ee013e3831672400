"""AUTOPASS and RAPT: texts become instructions and texts again; whatever is wrong has a place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.program.instructions import (
    Abort,
    Assign,
    Attach,
    Binary,
    Block,
    Call,
    Comment,
    Delay,
    For,
    If,
    Literal,
    MoveHand,
    Name,
    Operate,
    Parallel,
    Place,
    Print,
    Program,
    ProgramError,
    Quantity,
    Reading,
    RelationClause,
    Repeat,
    Signal,
    Source,
    Stop,
    TaskState,
    Unary,
    Wait,
    While,
    statements_in,
)
from adjoint.program.languages.autopass import (
    AUTOPASS_WORDS,
    RAPT_WORDS,
    autopass_text,
    parse_autopass,
    parse_rapt,
    rapt_text,
)

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
LANGUAGES = {"autopass": (parse_autopass, autopass_text), "rapt": (parse_rapt, rapt_text)}
BLOCKS = """$$ the two states
STATE A: (Block1-face1 AGAINST table) (Block1-face3 AGAINST Block2-face1) (Block3-face1 AGAINST Table)
CHECK A
PLACE Block3 SO THAT (Block2-face3 AGAINST Block3-face1)
PLACE Block3 SO THAT (Block3-face1 AGAINST Table)
"""
BOLT = """PLACE bolt ON beam SUCH THAT bolt_tip IS ALIGNED WITH beam_bore;
DRIVE IN bolt AT bolt_grasp SUCH THAT TORQUE IS EQ 12.0 IN-LBS
USING air_driver;
"""


def rapt(text) -> Any:
    return parse_rapt(Source(text)).statements


def autopass(text) -> Any:
    return parse_autopass(Source(text)).statements


def message(parse, text):
    with pytest.raises(ProgramError) as caught:
        parse(Source(text, "demo"))
    return str(caught.value)


def same(program, language):
    parse, to_text = LANGUAGES[language]
    text = to_text(program)
    again = parse(Source(text))
    assert again.statements == program.statements, text
    assert to_text(again) == text
    return text


# --- what the book says -----------------------------------------------------------------------------------------------


def test_table_9_9_and_the_two_operations():
    comment, state, check, up, down = rapt(BLOCKS)
    assert comment == Comment("the two states")
    assert [(r.relation, r.first, r.second) for r in state.relations] == [
        ("against", "Block1.face1", "table"),
        ("against", "Block1.face3", "Block2.face1"),
        ("against", "Block3.face1", "Table"),
    ]
    assert check == TaskState("A", state.relations, "check")
    assert up == Place("Block3", relations=(RelationClause("against", "Block2.face3", "Block3.face1"),))
    assert down == Place("Block3", relations=(RelationClause("against", "Block3.face1", "Table"),))


def test_bolt_of_section_9_3_2():
    place, drive = autopass(BOLT)
    assert place == Place("bolt", "on", "beam", (RelationClause("aligned", "bolt_tip", "beam_bore"),))
    assert drive.final == Binary("=", Reading("torque", axis="z"), Quantity(12.0, "in-lbs"))
    assert (drive.action, drive.part, drive.place, drive.tool) == ("drive in", "bolt", "bolt_grasp", "air_driver")
    assert np.isclose(drive.final.right.si, 1.3558, atol=1e-4)


def test_all_clauses_of_table_9_10():
    place, operate = autopass("""
        PLACE egg IN box GRASPING egg.side SUCH THAT egg_tip IS AT DISTANCE 2 MM FROM box_floor AND FORCE GT 1 OZ
            WITH FORCE(X) LT 5 OZ AND TORQUE LT 1 IN-LBS AND HOLD;
        OPERATE driver WITH bit, socket AT 'bolt-head' ATTACHED RIGIDLY SUCH THAT TORQUE GE 3 NM CLOCKWISE
            SPEED 60 RPM BY puma AND HOLD;
    """)
    assert (place.grasp, place.hold) == ("egg.side", True)
    assert place.relations == (RelationClause("at_distance", "egg_tip", "box_floor", Quantity(2.0, "mm")),)
    assert place.final == Binary(">", Reading("force", axis="z"), Quantity(1.0, "ozf"))
    assert place.constraint == Binary(
        "and",
        Binary("<", Reading("force", axis="x"), Quantity(5.0, "ozf")),
        Binary("<", Reading("torque", axis="z"), Quantity(1.0, "in-lbs")),
    )
    assert operate == Operate(
        "driver", loads=("bit", "socket"), place="bolt-head", attachment="rigid",
        final=Binary(">=", Reading("torque", axis="z"), Quantity(3.0, "N-m")), turning="clockwise",
        speed=Quantity(60.0, "rpm"), hold=True, arm="puma",
    )  # fmt: skip


def test_flow_of_pl_i():
    loop, choice, both, group, until = autopass("""
        DO I = 1 TO 9 BY 2; PLACE part(I) IN tray.bin(I,J+1); END;
        IF I = 9 & NOT INPUT(2) THEN SIGNAL 1; ELSE DO; PUT LIST ('it''s', I); STOP; END;
        IN PARALLEL DO; DELAY 2 SEC; DO; I = 2 - 1 - I; WAIT (WIDTH > 2 MM); END; END;
        DO; ABORT 'no'; END;
        DO UNTIL (TRUE); SIGNAL 2 OFF; END;
    """)
    assert loop.body == (Place("part(I)", "in", "tray.bin(I,J+1)"),) and loop.step == Literal(2.0)
    assert choice.then == (Signal(Literal(1.0)),)
    assert choice.otherwise == (Print((Literal("it's"), Name("I"))), Stop())
    assert len(both.branches) == 2 and both.branches[0] == (Delay(Quantity(2.0, "s")),)
    assert both.branches[1][0].value == Binary("-", Binary("-", Literal(2.0), Literal(1.0)), Name("I"))
    assert group == Block((Abort(Literal("no")),))
    assert until == Repeat((Signal(Literal(2.0), False),), Literal(True))


def test_names_of_features():
    (place,) = rapt('PLACE a SO THAT (a-top-front ON Table.top) AND (a-pin.shaft FITS "left board.hole")')
    assert [(r.first, r.second) for r in place.relations] == [
        ("a.top-front", "Table.top"),
        ("a.pin.shaft", "left board.hole"),
    ]
    assert rapt_text(Program((place,))) == (
        'PLACE a SO THAT (a-top-front ON Table-top) AND (a-pin.shaft FITS "left board.hole");\n'
    )
    assert rapt("PLACE a SO THAT (a-b IS ALIGNED c-d)") == rapt("place a so that (a-b ALIGNED WITH c-d);")


def test_comments_stay():
    text = (
        "/* one */ DO; /* two */ STOP; /* three */ END; PLACE a /* four */ ON b; IF I THEN /* five */ STOP; /* six */"
    )
    words = [s.text for s in statements_in(parse_autopass(Source(text))) if isinstance(s, Comment)]
    assert words == ["one", "two", "three", "four", "five", "six"]
    printed = same(parse_autopass(Source(text)), "autopass")
    assert [printed.count(f"/* {word} */") for word in words] == [1] * 6
    assert same(parse_rapt(Source(BLOCKS + "$$ end")), "rapt").endswith("$$ end\n")


@pytest.mark.parametrize("text", [BOLT, BOLT.lower()])
def test_round_trip_of_the_bolt(text):
    assert same(parse_autopass(Source(text)), "autopass").startswith("PLACE bolt ON beam SUCH THAT")


@pytest.mark.parametrize("path", sorted([*EXAMPLES.glob("*.rapt"), *EXAMPLES.glob("*.autopass")]), ids=lambda p: p.name)
def test_examples_are_in_canonical_form(path):
    text = path.read_text()
    assert same(LANGUAGES[path.suffix[1:]][0](Source(text, path.name)), path.suffix[1:]) == text


# --- round trips of random programs -----------------------------------------------------------------------------------

NAMES = st.sampled_from(
    ["bolt", "beam_bore", "Block1.top", "bin(I,J+1)", "part(3).top", "left board", "on", "a-b", "x"]
)
VARIABLES = st.sampled_from(["I", "J", "count"])
NUMBERS = st.integers(-3, 9) | st.floats(-1e9, 1e9)
UNITS = st.sampled_from(["ozf", "lbf", "in-lbs", "in-lbf", "mm", "in", "rpm", "deg", "deg/s", "s", "N", "N-m", "m"])
QUANTITIES = st.builds(Quantity, NUMBERS.map(float), UNITS)
LENGTHS = st.builds(Quantity, NUMBERS.map(float), st.sampled_from(["mm", "in", "inches"]))
ATOMS = (
    st.builds(Literal, NUMBERS.map(float) | st.booleans() | st.sampled_from(["", "it's", "two words"]))
    | QUANTITIES
    | st.builds(Name, VARIABLES)
    | st.builds(Reading, st.sampled_from(["force", "torque"]), axis=st.sampled_from("xyz"))
    | st.builds(Reading, st.just("signal"), number=st.builds(Literal, st.just(2.0)))
    | st.sampled_from([Reading("width"), Reading("sensor", name="o'clock")])
)
OPERATORS = st.sampled_from(["+", "-", "*", "/", "mod", "<", "<=", ">", ">=", "=", "<>", "and", "or"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(Binary, OPERATORS, inner, inner)
        | st.builds(Unary, st.sampled_from(["-", "not"]), inner)
        | st.builds(Call, st.just("MIN"), st.lists(inner, max_size=2).map(tuple))
    ),
    max_leaves=6,
)
RELATIONS = st.builds(
    RelationClause, st.sampled_from(["against", "fits", "coplanar", "aligned", "on", "in_", "centred"]), NAMES, NAMES
) | st.builds(RelationClause, st.just("at_distance"), NAMES, NAMES, LENGTHS)
MAYBE = st.none() | EXPRESSIONS
CONDITION = MAYBE.filter(lambda x: not isinstance(x, Quantity))  # no number with a unit is one
PLACES = st.builds(
    Place, NAMES, st.sampled_from(["in", "on"]), NAMES, st.lists(RELATIONS, max_size=2).map(tuple),
    grasp=st.just("") | NAMES, constraint=CONDITION, final=CONDITION, hold=st.booleans(), arm=st.just("") | NAMES,
)  # fmt: skip
TOOLS = st.fixed_dictionaries({
    "tool": NAMES, "loads": st.lists(NAMES, max_size=2).map(tuple), "place": st.just("") | NAMES,
    "attachment": st.sampled_from(["", "rigid", "nonrigid", "conditional"]), "final": CONDITION,
    "turning": st.sampled_from(["", "clockwise"]), "speed": st.none() | st.just(Quantity(60.0, "rpm")),
    "hold": st.booleans(),
})  # fmt: skip
OPERATIONS = TOOLS.map(lambda fields: Operate(**fields)) | st.builds(
    lambda part, fields: Operate(action="drive in", part=part, **fields), NAMES, TOOLS
)
WORDS = st.text("abc *;'-", max_size=8).map(lambda text: text.replace("*/", "").strip())
SIMPLE = (
    PLACES
    | OPERATIONS
    | st.builds(Assign, st.builds(Name, VARIABLES), EXPRESSIONS)
    | st.builds(Signal, st.builds(Literal, st.just(1.0)), st.booleans())
    | st.builds(Comment, WORDS)
    | st.builds(Wait, ATOMS.filter(lambda x: not isinstance(x, Quantity)))
    | st.sampled_from([Stop(), Delay(Quantity(0.5, "s"))])
)
NO_UNIT = EXPRESSIONS.filter(lambda x: not isinstance(x, Quantity))
STATEMENTS = st.recursive(
    SIMPLE,
    lambda inner: (
        st.builds(Block, st.lists(inner, max_size=3).map(tuple))
        | st.builds(If, NO_UNIT, st.lists(inner, max_size=2).map(tuple), st.lists(inner, max_size=2).map(tuple))
        | st.builds(While, NO_UNIT, st.lists(inner, max_size=2).map(tuple))
        | st.builds(For, VARIABLES, EXPRESSIONS, EXPRESSIONS, MAYBE, st.lists(inner, max_size=2).map(tuple))
        | st.builds(Parallel, st.lists(st.lists(inner, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple))
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.lists(STATEMENTS, max_size=3))
@settings(max_examples=150)
def test_random_autopass_programs_survive_their_text(statements):
    same(Program(tuple(statements)), "autopass")


@given(
    st.lists(RELATIONS, min_size=1, max_size=3).map(tuple), NAMES, st.sampled_from(["check", "achieve"]), st.booleans()
)
@settings(max_examples=60)
def test_random_rapt_programs_survive_their_text(relations, name, purpose, named):
    state = TaskState(name, relations)
    again = TaskState(name if named else "", relations, purpose, "puma" if purpose == "achieve" else "")
    same(Program((state, Place(name, relations=relations, arm=name), again)), "rapt")


# --- what is wrong has a place ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLCE a ON b;", "demo:1:1: error: a statement is missing; 'PLCE' stands here\n    PLCE a ON b;\n    ^^^^\n"
         "    hint: did you mean 'PLACE'?"),
        ("PLACE bolt OM beam;", "demo:1:12: error: IN or ON is missing after PLACE bolt; 'OM' stands here\n"
         "    PLACE bolt OM beam;\n               ^^\n    hint: did you mean 'ON'?"),
        ("PLACE a ON b\n  SUCH THAT c IS ALINED WITH d;", "demo:2:18: error: a relation is missing after 'c'; 'ALINED' "
         "stands here\n      SUCH THAT c IS ALINED WITH d;\n                     ^^^^^^\n    hint: did you mean "
         "'ALIGNED' or 'IN'?"),
        ("DRIVE IN bolt AT head;", "demo:1:22: error: 'USING' and a tool are missing in DRIVE IN; ';' stands here"),
        ("OPERATE x SPEED 3 MM;", "demo:1:1: error: Operate: speed cannot be 3 mm"),
        ("OPERATE x SPEED 3;", "the unit of SPEED is missing; ';' stands here"),
        ("OPERATE x ATTACHED RIGID;", "hint: did you mean 'RIGIDLY'"),
        ("OPERATE x AT a AT b;", "demo:1:16: error: this clause stands here twice; 'AT' stands here"),
        ("OPERATE x SUCH THAT bolt IS TIGHT;", "a condition such as TORQUE IS EQ 12 IN-LBS is missing"),
        ("DO I = 1 TO 3; STOP;", "demo:1:21: error: 'END;' is missing after DO I; the text ends here"),
        ("STOP; END;", "demo:1:7: error: this END closes nothing; 'END' stands here"),
        ("PLACE a ON b SUCH THAT c IS AT DISTANCE 3 DEG FROM d;", "DISTANCE cannot be 3 deg"),
        ("PLACE bin(I*2) ON b;", "')' is missing after the indices; '*' stands here"),
        ("PLACE bin(1.5) ON b;", "an index is missing"),
        ("I = 1e999;", "demo:1:5: error: this number is too large"),
        ("DELAY 3 MM;", "Delay: duration cannot be 3 mm"),
        ("PLACE '' ON b;", "this name is empty"),
        ("PUT LIST ('a);", "''' has no meaning here"),
    ],
)  # fmt: skip
def test_messages_of_autopass(text, expected):
    assert expected in message(parse_autopass, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLACE A SO (x AGAINST y)", "demo:1:12: error: 'THAT' is missing after SO; '(' stands here"),
        ("PLACE A SO THAT x AGAINST y", "demo:1:17: error: '(' is missing before a relation after SO THAT; 'x' stands"),
        ("STATE A: (a AGAINST b)\nCHECK B", "demo:2:7: error: no state 'B' is defined above\n    CHECK B\n"
         "          ^\n    hint: there are A"),
        ("CHECK B", "hint: define it before: STATE A: (...) (...)"),
        ("STATE A: (a AGANST b)", "hint: did you mean 'AGAINST'"),
        ("STATE A: (a ON b) STATE A: (a ON c)", "demo:1:25: error: the state 'A' is defined twice"),
        ("MOVE A", "a statement begins with PLACE, STATE, CHECK or ACHIEVE; 'MOVE' stands here"),
        ("PLACE A SO THAT (a AT ANGLE 3 MM TO b)", "ANGLE cannot be 3 mm\n    PLACE A SO THAT (a AT ANGLE 3 MM TO b)"),
        ("PLACE А SO THAT (a ON b)", "it looks like 'A': write that"),
    ],
)  # fmt: skip
def test_messages_of_rapt(text, expected):
    assert expected in message(parse_rapt, text)


def test_all_findings_at_once():
    with pytest.raises(ProgramError) as caught:
        parse_autopass(Source("PLACE a; STOP; DRIVE bolt; I = ; DO; PLCE; END; PLACE b ON c"))
    assert [d.code for d in caught.value.diagnostics] == ["syntax"] * 5
    with pytest.raises(ProgramError) as caught:
        parse_rapt(Source("PLACE a; PLACE b SO THAT (c) PLACE d SO THAT (e ON f) CHECK G"))
    assert len(caught.value.diagnostics) == 3


@pytest.mark.parametrize(
    ("statement", "language", "words"),
    [
        (MoveHand("h", True), "autopass", "AUTOPASS has no words for the instruction MoveHand"),
        (MoveHand("h", True), "rapt", "RAPT has no words for the instruction MoveHand"),
        (Place("a", relations=(RelationClause("on", "b", "c"),)), "autopass", "PLACE without IN or ON"),
        (Place("a", "on", "b"), "rapt", "PLACE other than by relations"),
        (TaskState("A", ()), "rapt", "TaskState"),
        (Attach("a", "b"), "autopass", "the instruction Attach"),
        (Assign(Name("on"), Literal(1.0)), "autopass", "the variable 'on'"),
        (Operate("t", speed=Name("v")), "autopass", "this value"),
        (Place("a\nb", "on", "c"), "autopass", "several lines"),
        (Place('a"b', relations=(RelationClause("on", "b", "c"),)), "rapt", "the name"),
        (Place("a", "on", "b", relations=(RelationClause("touches", "b", "c"),)), "autopass", "relation 'touches'"),
    ],
)
def test_what_a_language_cannot_say(statement, language, words):
    with pytest.raises(ProgramError, match=words):
        LANGUAGES[language][1](Program((statement,)))


def test_words_are_explained():
    for words in (AUTOPASS_WORDS, RAPT_WORDS):
        assert all(word.isupper() for word in words)
        assert all("Example: " in text for text in words.values())


# --- hostile texts ----------------------------------------------------------------------------------------------------

PIECES = [
    *AUTOPASS_WORDS, *RAPT_WORDS, "(", ")", ";", ":", ",", ".", "=", "-", "&", "|", "^", "<", "1", "2.5", "I", "bolt",
    "'x'", '"x"', "/*", "*/", "$$", "\n", "IN-LBS", "OZ", "MM", "Block1-face1", "é", "\0", "#",
]  # fmt: skip


def survives(parse, text):
    try:
        parse(Source(text))
    except ProgramError as error:
        assert error.position is not None and error.diagnostics
        assert all(0 <= d.span.start <= d.span.end <= len(text) for d in error.diagnostics)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_fuzzed_texts_only_raise_program_errors(language):
    rng = np.random.default_rng(7)
    parse = LANGUAGES[language][0]
    seeds = [BLOCKS if language == "rapt" else BOLT, "DO I = 1 TO 3; IF I = 2 THEN STOP; END;"]
    for k in range(4000):
        if k % 2:
            text = " ".join(rng.choice(PIECES, rng.integers(1, 20)))
        else:
            text = list(seeds[k % 4 // 2])
            for _ in range(rng.integers(1, 6)):
                text[rng.integers(len(text))] = str(rng.choice([*"();:=-'\"/*$AIx1 ", "\n", ""]))
            text = "".join(text)
        survives(parse, text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000, "DO;" * 5000, "IF I THEN " * 5000, "I = " + "(" * 5000, "I = " + "-" * 5000 + "1;",
        "I = " + "NOT " * 5000 + "I;", "I = " + "MIN(" * 500 + ";", "I = INPUT(" * 300, "IN PARALLEL DO;" * 500,
        "PLACE a ON b SUCH THAT " + "(" * 3000, "STATE A: " + "(" * 3000, "\0" * 100, "/*" * 2000, "'" * 1001,
        "END;" * 300, "PLACE " + "x" * 50000 + " ON", "$$", "", ";" * 5000, "I = 1" + " + 1" * 20000 + ";",
    ],
    ids=lambda text: text[:12].strip(),
)  # fmt: skip
def test_hostile_texts(language, text):
    survives(LANGUAGES[language][0], text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_ten_megabytes_are_refused(language):
    with pytest.raises(ProgramError, match="at most 1000000"):
        LANGUAGES[language][0](Source("PLACE a ON b;" * 800_000))
