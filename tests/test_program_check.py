"""What `check` finds in programs: types, units, names, flow of control, and names of a world."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as aj
from adjoint.program.instructions import (
    BOOLEAN,
    EVENT,
    FRAME,
    LENGTH,
    NUMBER,
    Abort,
    Aggregate,
    Assign,
    Attach,
    Binary,
    Call,
    CallProcedure,
    Case,
    Comment,
    Declare,
    DefineMonitor,
    Delay,
    For,
    ForceClause,
    Goto,
    Guard,
    Here,
    If,
    Index,
    Label,
    Literal,
    Locate,
    Move,
    MoveHand,
    MoveJoints,
    Name,
    Parallel,
    Parameter,
    Place,
    Print,
    Procedure,
    Program,
    ProgramError,
    Quantity,
    Reading,
    RelationClause,
    Repeat,
    Return,
    SignalEvent,
    Source,
    Span,
    Stop,
    Unary,
    UnitName,
    Unwatch,
    Wait,
    WaitEvent,
    Watch,
    While,
    Wrt,
)  # fmt: skip
from adjoint.program.meaning import check, evaluate
from adjoint.program.meaning.checker import _Checker
from adjoint.program.meaning.values import kind_of


def number(x):
    return Literal(float(x))


def call(name, *arguments):
    return Call(name, arguments)


def triple(x, y, z):
    return Binary("*", call("VECTOR", number(x), number(y), number(z)), UnitName("inches"))


NIL = Name("nilrot")
INCH, DEG, OZ = Quantity(1.0, "inch"), Quantity(90.0, "deg"), Quantity(10.0, "oz")
DOWN = Binary("*", Binary("*", number(1), Name("Z")), UnitName("inches"))
FELT = Binary(">", Reading("force", axis="z"), Quantity(10.0, "ounces"))


def let(name, value):
    return Assign(Name(name), value)


def found(*statements, world=None, arms=None, errors_only=False):
    """What is found, as "message | hint"."""
    diagnostics = check(Program(statements), world, arms=arms)
    return [f"{d.message} | {d.hint}" for d in diagnostics if not errors_only or d.severity == "error"]


def one(*statements, **options) -> str:
    texts = found(*statements, **options)
    assert len(texts) == 1, texts
    return texts[0]


INSERTION = (
    Comment("the values"),
    let("bolt_diameter", Quantity(0.5, "inches")),
    let("tries", number(0)),
    let("grasped", Literal(False)),
    let("beam", call("FRAME", call("ROT", Name("Z"), DEG), triple(20, 15, 0))),
    let("feeder", call("FRAME", NIL, triple(25, 20, 0))),
    let("bolt_grasp", Binary("*", Name("feeder"), call("TRANS", NIL, Name("nilvect")))),
    let("A", Binary("*", Name("feeder"), call("TRANS", NIL, Binary("*", Name("bolt_diameter"), Name("Z"))))),
    MoveHand("bhand", True, Binary("+", Name("bolt_diameter"), INCH)),
    Move("barm", Name("bolt_grasp"), (Name("A"),), approach=Unary("-", Wrt(Name("Z"), Name("feeder")))),
    Repeat(
        (
            MoveHand("bhand", False, Binary("*", number(0.9), Name("bolt_diameter"))),
            If(
                Binary("<", Name("bhand"), Name("bolt_diameter")),
                (
                    Move("barm", Binary("-", Here(), DOWN)),
                ),
                (let("grasped", Literal(True)),),
            ),
            let("tries", Binary("+", Name("tries"), number(1))),
        ),
        Binary("or", Name("grasped"), Binary(">", Name("tries"), number(3))),
    ),
    If(Unary("not", Name("grasped")), (Abort(Literal("failed to grasp bolt")),)),
    Attach("bolt_grasp", "barm"),
    Move(
        "bolt_grasp", Name("beam"), straight=True, duration=Quantity(5.0, "seconds"),
        forces=(ForceClause("z", Quantity(-10.0, "ounces")), ForceClause("x", number(0))),
        guards=(Guard(FELT, (Abort(Literal("No hole")),)),),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def world():
    w = aj.world.World().add_robot("puma", aj.robots.puma560())
    for name in ("feeder", "beam", "bolt_tip"):
        w = w.add(name, at=np.eye(4))
    return w


def test_a_right_program_has_no_findings():
    assert found(*INSERTION) == []


def test_a_right_program_fits_the_world(world):
    assert found(*INSERTION, world=world) == []


@pytest.mark.parametrize(
    "statement, words, hint",
    [
        (let("r", call("ROT", Name("Z"), number(90))), "needs an angle [rad], and 90 is", "write 90*deg"),
        (let("r", call("ROT", number(1), DEG)), "the axis of ROT needs a vector", ""),
        (let("v", call("VECTOR", INCH, number(2), number(0))), "another argument is", "write 2*inches"),
        (let("f", call("FRAME", NIL, call("VECTOR", *[number(1)] * 3))), "a vector without unit", "length"),
        (let("s", call("SIN", number(30))), "the angle of SIN", "write 30*deg"),
        (let("x", Binary("+", INCH, DEG)), "a length [m] + an angle [rad]: both sides need the same unit", "inches"),
        (let("x", Binary("<", INCH, number(0.5))), "a length [m] < a plain number", "write 0.5*inches"),
        (let("f", Binary("+", Name("station"), INCH)), "a frame + a length [m]", "multiply the length by an axis"),
        (let("f", Binary("-", Here(), Name("Z"))), "a frame - a vector without unit", "1*Z*inches"),
        (let("f", Binary("+", triple(1, 0, 0), Here())), "a vector [m] + a frame", "frame first"),
        (let("x", Binary("*", Name("X"), Name("Y"))), "a vector without unit", "DOT(v, w) or CROSS(v, w)"),
        (let("x", Binary("*", NIL, Name("station"))), "a rotation * a frame", ""),
        (let("b", Binary("and", number(1), Name("true"))), "a plain number and a truth value", "comparisons"),
        (let("b", Unary("not", INCH)), "NOT needs a truth value", "parentheses"),
        (let("f", Unary("-", Name("station"))), "'-' needs a number or a vector", "INVERSE"),
        (let("v", Wrt(INCH, Name("station"))), "WRT needs a vector", ""),
        (let("v", Wrt(Name("Z"), INCH)), "WRT needs a frame", ""),
        (let("x", call("SQRT", INCH, INCH)), "SQRT(x) takes 1 argument, and here are 2", ""),
        (let("x", call("ROTT", INCH)), "there is no function 'ROTT'", "'ROT'"),
        (let("x", Index(Literal("abc"), number(1))), "which has no elements", ""),
        (let("x", Index(Name("Z"), INCH)), "an index needs a plain number", ""),
        (Move("", number(3)), "the goal of a move needs a frame", ""),
        (Move("", Here(), (triple(1, 0, 0),)), "a via point needs a frame", ""),
        (Move("", Here(), duration=number(5)), "DURATION needs a time [s]", "write 5*seconds"),
        (Move("", Here(), approach=number(5)), "APPROACH needs a vector", "by a direction"),
        (Move("", Here(), approach=INCH), "APPROACH needs a vector", "by a direction"),
        (let("x", Binary("=", Name("X"), triple(1, 2, 3))), "both sides need the same unit", ""),
        (Move("", Here(), force_frame=number(5)), "FORCE_FRAME needs a frame", ""),
        (Move("", Here(), forces=(ForceClause("z", number(10)),)), "FORCE(Z) needs a force [N]", "write 10*ounces"),
        (Move("", Here(), forces=(ForceClause("z", Binary("*", number(2), OZ)),)), "FORCE(Z) needs", ""),
        (Move("", Here(), forces=(ForceClause("z", Quantity(1.0, "N"), True),)), "TORQUE(Z) needs a torque", "in-lbs"),
        (Move("", Here(), guards=(Guard(Reading("force", axis="z")),)), "the condition of ON needs a truth value", ""),
        (MoveHand("", True, number(2)), "the width of a hand needs a length [m]", "write 2*inches"),
        (Delay(number(2)), "the duration of a delay needs a time [s]", "write 2*seconds"),
        (If(number(1)), "the condition of IF needs a truth value", ""),
        (While(number(1)), "the condition of WHILE", ""),
        (Repeat((), number(1)), "the condition of UNTIL", ""),
        (Wait(number(1)), "the condition of WAIT", ""),
        (Watch("w", number(1)), "the condition of ON", ""),
        (Abort(number(1)), "the message of ABORT needs a text", ""),
        (For("i", number(1), INCH, None, ()), "the last value of FOR is a length [m]", "without unit"),
        (For("i", Literal("a"), Literal("b"), None, ()), "FOR counts numbers", ""),
        (Case(number(1), (((INCH,), ()),)), "CASE selects by a plain number", "without unit"),
        (Print((Binary("+", INCH, DEG),)), "both sides need the same unit", ""),
        (MoveJoints(number(1), call("NOTHING")), "there is no function 'NOTHING'", ""),
        (Parallel(((let("x", Binary("+", INCH, DEG)),), ())), "both sides need the same unit", ""),
    ],
)  # fmt: skip
def test_what_does_not_fit(statement, words, hint):
    text = one(statement)
    assert words in text.partition(" | ")[0] and hint in text.partition(" | ")[2]


# --- variables --------------------------------------------------------------------------------------------------------


def test_variables_keep_type_and_unit():
    assert "'x' is a length [m], and this is an angle [rad]" in one(let("x", INCH), let("x", DEG))
    assert one(let("x", INCH), let("x", number(3))) == "'x' is a length [m], and 3 is a plain number | write 3*inches"
    assert found(let("x", number(0)), let("x", INCH), let("x", Quantity(2.0, "mm"))) == []
    assert "'x' is a length" in one(let("x", number(0)), let("x", INCH), let("x", number(3)))
    assert "'x' is a plain number" in one(let("x", number(0)), let("x", Name("true")))
    assert found(let("v", call("VECTOR", number(0), number(0), number(0))), let("v", triple(1, 2, 3))) == []
    branches = If(Name("true"), (let("x", INCH),), (let("x", DEG),))
    assert "'x' is a length [m]" in one(branches)


def test_declared_variables_and_arrays():
    assert "'x' is a length [m]" in one(Declare(LENGTH, ("x", "y")), let("x", number(3)))
    array = Declare(LENGTH, ("bins",), (number(0), number(8)))
    assert found(array, Assign(Index(Name("bins"), number(3)), INCH)) == []
    assert "this element is a length [m]" in one(array, Assign(Index(Name("bins"), number(3)), DEG))
    assert "the bounds of an array" in one(Declare(LENGTH, ("bins",), (number(0), INCH)))
    assert found(Declare(EVENT, ("e",)), SignalEvent("e"), WaitEvent("e")) == []


def test_units_are_multiplied_and_divided():
    area = Binary("*", INCH, INCH)
    assert found(let("x", call("SQRT", area)), let("x", INCH)) == []
    assert found(let("x", call("SQRT", INCH)), let("x", DEG)) == []  # a root without a known unit is not judged
    speed = Binary("/", INCH, Quantity(1.0, "s"))
    assert found(let("x", Binary("*", speed, Quantity(2.0, "s"))), let("x", INCH)) == []
    assert "a speed [m/s]" in one(let("x", INCH), let("x", speed))
    assert "an area [m^2]" in one(let("x", INCH), let("x", area))
    torque = Binary("*", INCH, Quantity(1.0, "N"))
    assert found(Move("", Here(), forces=(ForceClause("z", torque, True),))) == []
    assert found(let("x", Binary("*", Quantity(3.0, "rad"), INCH)), let("x", INCH)) == []  # an arc is a length
    assert found(let("n", call("NORM", triple(1, 2, 3))), let("n", INCH)) == []
    assert found(let("n", call("MAX", number(0), INCH)), let("n", INCH)) == []
    assert found(let("n", call("DOT", triple(1, 2, 3), Name("Z"))), let("n", INCH)) == []
    assert found(let("x", Binary("mod", INCH, INCH)), let("x", INCH)) == []
    assert found(let("w", Name("bhand")), let("w", INCH), let("w", Reading("width"))) == []


def test_hands_are_read_and_not_written():
    assert "'bhand' is a hand" in found(let("bhand", INCH))[0]


def test_aggregates_are_checked_loosely():
    pair = Aggregate((number(1), number(2)))
    assert found(
        let("base", Aggregate((Aggregate((number(20),) * 3), call("EULERROT", Aggregate((DEG,) * 3))))),
        let("T6", call("DOT", Name("base"), Name("base"))),
        let("a", Binary("+", pair, pair)),
        let("b", Index(pair, number(1))),
        Move("", Name("T6")),
        DefineMonitor("m", Aggregate((Name("SLP"), Name("SRP"))), number(1), number(0), Quantity(3.0, "N")),
        MoveJoints(pair, pair, monitors=(Name("m"),)),
    ) == []  # fmt: skip


def test_a_place_that_only_the_world_knows_may_be_shifted():
    shift = Call("VECTOR", (Quantity(1.0, "mm"),) * 3)
    moves = let("place", Name("TRAY")), let("place", Binary("+", Name("place"), shift)), Move("", Name("place"))
    assert found(*moves) == []


# --- flow of control --------------------------------------------------------------------------------------------------


def test_labels():
    assert "there is no label '20' | did you mean '2'" in found(Label("2"), Goto("20"))[0]
    assert found(Label("10"), Goto("10")) == []
    assert "stands twice" in one(Label("10"), Label("10"))
    assert "there is no label 'lost'" in one(MoveHand("", False, grasp=True, otherwise="lost"))
    own = Procedure("p", (), (Label("10"), Goto("10")))
    assert "there is no label '10'" in one(own, Goto("10"))


def test_statements_that_nothing_reaches():
    for end in (Stop(), Goto("1"), Abort(Literal("x"))):
        text = one(Label("1"), end, Comment("fine"), Delay(Quantity(1.0, "s")), Delay(Quantity(1.0, "s")))
        assert "nothing reaches this statement" in text
        assert found(Label("1"), end, Label("2"), Delay(Quantity(1.0, "s"))) == []
    assert check(Program((Stop(), Stop())))[0].severity == "warning"


def test_procedures():
    bring = Procedure(
        "bring", (Parameter("part", FRAME), Parameter("n", NUMBER)),
        (Declare(LENGTH, ("x",)), Move("", Name("part")), Return(Name("n"))), NUMBER,
    )  # fmt: skip
    assert found(CallProcedure("bring", (Here(), number(1))), bring, let("x", DEG)) == []
    assert "takes 2 arguments, and here is 1" in one(bring, CallProcedure("bring", (Here(),)))
    assert "'n' of bring needs a plain number" in one(bring, CallProcedure("bring", (Here(), INCH)))
    assert "there is no procedure 'brin' | did you mean 'bring'?" in one(bring, CallProcedure("brin"))
    assert found(bring, let("y", Binary("+", call("bring", Here(), number(1)), number(2)))) == []
    assert "returns no value" in one(Procedure("p", (), ()), let("y", call("p")))
    assert "this procedure returns no value" in one(Procedure("p", (), (Return(number(1)),)))
    assert "the value of RETURN needs" in one(Procedure("p", (), (Return(INCH),), NUMBER))
    assert found(Procedure("p", (), (Return(Name("true")),), BOOLEAN)) == []


def test_events_and_monitors():
    assert "nothing signals the event 'ready'" in one(WaitEvent("ready"))
    assert found(Parallel(((SignalEvent("ready"),), (WaitEvent("ready"),)))) == []
    assert "there is no monitor 'signal 2'" in one(Watch("signal 1", Name("true")), Unwatch("signal 2"))


# --- names ------------------------------------------------------------------------------------------------------------


def test_unknown_names_without_and_with_a_world(world):
    program = (let("feeder", Here()), Move("", Name("feedr")))
    without = check(Program(program))[0]
    assert without.severity == "warning" and without.hint == "did you mean 'feeder'?"
    with_world = check(Program(program), world)[0]
    assert with_world.severity == "error" and with_world.hint == "did you mean 'feeder'?"
    assert found(Move("", Name("TRAY"))) == []  # a frame of a world that is not known
    assert "has no value yet here" in one(Move("", Name("A"), at=Span(0, 1)), Assign(Name("A"), Here(), at=Span(5, 6)))


def test_names_of_the_world(world):
    assert found(Move("barm", Name("beam")), MoveHand("bhand", True), let("beam", Here()), world=world) == []
    assert "'beam' is a frame" in one(let("beam", INCH), world=world)
    assert "there is no arm 'robbie'" in one(Move("robbie", Name("beam")), world=world)
    assert found(Move("robbie", Name("beam")), world=world, arms={"robbie": "puma"}) == []
    assert "no arm carries 'tip'" in one(let("tip", Here()), Move("tip", Name("beam")), world=world)
    assert found(let("tip", Here()), Attach("tip", "barm"), Move("tip", Name("beam")), world=world) == []
    assert "there is no frame 'bolt'" in one(Attach("bolt", "barm"), world=world)
    assert "there is no frame or arm 'nobody'" in one(Attach("beam", "nobody"), world=world)
    assert "the world has no sensor 'eye'" in found(Locate("beam", "eye", "seen"), If(Name("seen")), world=world)[0]
    relation = RelationClause("against", "beam-face3", "table-face1")
    assert "there is no place 'table-face1'" in one(Place("beam", relations=(relation,)), world=world)
    two = world.add_robot("other", aj.robots.puma560())
    assert "which arm? The world has 2 robots" in one(let("x", Here()), world=two)


def test_findings_are_in_the_order_of_the_text_with_places():
    text = "x = 1*deg + 1*inch;\nr = ROT(Z, 90);"
    first = Binary("+", Quantity(1.0, "deg"), Quantity(1.0, "inch"), at=Span(4, 18))
    angle = Literal(90.0, at=Span(31, 33))
    program = Program(
        (
            Assign(Name("x"), first, at=Span(0, 18)),
            Assign(Name("r"), call("ROT", Name("Z"), angle), at=Span(20, 34)),
        ),
        source=Source(text, "two.al"),
    )
    diagnostics = check(program)
    assert [d.span for d in diagnostics] == [first.at, angle.at]
    shown = str(ProgramError(diagnostics, program.source))
    assert "two.al:2:12: error: the angle of ROT needs an angle [rad], and 90 is a plain number" in shown


def doubled(count):
    return [(k + 1, Name(f"x{k}" if k else "x")) for k in range(count)]


def test_hostile_programs_end():
    deep = number(1)
    for _ in range(50_000):
        deep = Binary("+", deep, number(1))
    assert "nested too deep" in one(let("x", deep))
    powers = check(Program((let("x", INCH), *(let(f"x{k}", Binary("*", x, x)) for k, x in doubled(1500)))))
    assert powers == ()
    many = check(Program(tuple(let(f"x{k}", Binary("+", INCH, DEG)) for k in range(1000))))
    assert len(many) == 200


# --- what is checked is what is evaluated -----------------------------------------------------------------------------

leaves = st.sampled_from(
    [
        Literal(2.0), Literal(0.0), INCH, DEG, Quantity(2.0, "N"), Name("X"), Name("Z"), NIL, Name("nilvect"),
        Name("station"), Name("true"), Literal("text"), triple(1, 2, 3),
    ]
)  # fmt: skip


def trees(inner):
    operators = st.sampled_from(["+", "-", "*", "/", "mod", "<", "<=", "=", "<>", "and", "or"])
    names = st.sampled_from(["VECTOR", "ROT", "FRAME", "DOT", "POS", "INVERSE", "NORM", "SIN", "MAX", "ABS", "UNIT"])
    return st.one_of(
        st.builds(Binary, operators, inner, inner),
        st.builds(Unary, st.sampled_from(["-", "not"]), inner),
        st.builds(Wrt, inner, inner),
        st.builds(Index, inner, st.sampled_from([Literal(1.0), Literal(2.0)])),
        st.builds(Call, names, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    )


@settings(max_examples=400)
@given(st.recursive(leaves, trees, max_leaves=8))
def test_what_passes_has_the_type_that_was_found(expression):
    checker = _Checker(Program(()), None, None)
    type = checker.type_of(expression)
    if any(d.severity == "error" for d in checker.found):
        return
    try:
        value = evaluate(expression)
    except ProgramError as error:
        assert error.diagnostics[0].code == "value", str(error)  # division by 0, the unit vector of 0
        return
    if type.kind not in ("any", "zero", "zeros"):
        assert kind_of(value) == type.kind


def test_vectors_of_one_unit_are_compared():
    zeros = call("VECTOR", number(0), number(0), number(0))
    for a, b in ((triple(1, 2, 3), triple(0, 0, 1)), (Name("X"), Name("Y")), (zeros, triple(1, 2, 3)), (zeros, zeros)):
        for operator in ("=", "<>"):
            assert not found(If(Binary(operator, a, b)))
    assert found(If(Binary("<", Name("X"), Name("Y"))))


def test_names_in_capitals_find_those_of_the_world():
    """VAL is written in capitals, and parts of worlds mostly are not."""
    world = aj.world.World().add("block", at=[0.5, 0.2, 0.0]).add_robot("puma", aj.robots.puma560())
    for name in ("BLOCK", "BLOK"):
        (found,) = check(aj.program.parse(f"        MOVE {name}\n", "val"), world)
        assert found.hint == "did you mean 'block'?", name
    (found,) = check(aj.program.parse("        MOVE QQQQ\n", "val"), world)
    assert found.hint.startswith("there are ")
