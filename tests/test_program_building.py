"""Programs made in Python: the same instructions as from texts, units, lines of Python, and what is refused."""

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint.program.building as b
from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.program.building import X, Z, deg, inch, inches, mm, nilrot, nilvect, ounces, rot, seconds, trans, xyz
from adjoint.program.instructions import (
    FRAME,
    NUMBER,
    Abort,
    Assign,
    Attach,
    Binary,
    Call,
    CallProcedure,
    Case,
    Comment,
    Delay,
    For,
    Goto,
    Guard,
    Here,
    If,
    Label,
    Literal,
    Locate,
    Move,
    MoveHand,
    MoveJoints,
    Name,
    Parallel,
    Place,
    Print,
    Procedure,
    Program,
    ProgramError,
    Quantity,
    Reading,
    RelationClause,
    Repeat,
    SetConfiguration,
    SetSpeed,
    Signal,
    SignalEvent,
    Source,
    Unary,
    Wait,
    WaitEvent,
    Watch,
    While,
    statements_in,
)  # fmt: skip
from adjoint.program.languages.al import parse_al
from adjoint.program.meaning import check, evaluate

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"


def insertion() -> Program:
    """The insertion of a bolt, Table 9.7 with its corrections."""
    t = b.task("insertion")
    arm = t.arm("barm")
    hand, force = arm.hand, arm.force
    diameter = t.let("bolt_diameter", 0.5 * inches)
    height = t.let("bolt_height", 1 * inches)
    tries = t.let("tries", 0)
    grasped = t.let("grasped", False)

    beam = t.frame("beam", b.frame_at(rot(Z, 90 * deg), xyz(20, 15, 0) * inches))
    feeder = t.frame("feeder", b.frame_at(nilrot, xyz(25, 20, 0) * inches))
    tip = t.frame("bolt_tip", feeder * trans(rot(X, 180 * deg), nilvect))
    grasp = t.frame("bolt_grasp", feeder @ trans(rot(X, 180 * deg), xyz(0, 0, 0.5) * inches))
    bore = t.frame("beam_bore", beam * trans(rot(X, 180 * deg), xyz(0, 0, 1) * inches))
    A = t.frame("A", grasp + 5 * Z * inches)
    B = t.frame("B", grasp + 8 * Z * inches)
    C = t.frame("C", bore + 5 * Z * inches)
    D = t.frame("D", bore + height * Z)

    hand.open(diameter + 1 * inches)
    arm.move(grasp, via=[A], approach=-Z.wrt(feeder))
    with t.repeat(until=grasped | (tries > 3)):
        hand.close(0.9 * diameter)
        with t.when(hand.width < 0.99 * diameter):
            hand.open(diameter + 1 * inches)
        with t.otherwise():
            t.let("grasped", True)
        t.let("tries", tries + 1)
    with t.when(~grasped):
        t.abort("failed to grasp bolt")
    arm.attach(tip)
    arm.move(B, via=[A], departure=Z.wrt(feeder))
    arm.move(D, carrying="bolt_tip", via=[C], approach=-Z.wrt(beam))
    with arm.move(arm.here - 0.1 * Z * inches).on(force.z > 10 * ounces):
        t.abort("No hole")
    arm.move(
        bore, carrying="bolt_tip", straight=True, duration=5 * seconds,
        forces={"z": -10 * ounces, "x": 0 * ounces, "y": 0 * ounces},
    )  # fmt: skip
    return t.program()


def without_comments(body):
    """Bodies without comments, since Python's comments are no statements."""
    if isinstance(body, tuple):
        return tuple(without_comments(x) for x in body if not isinstance(x, Comment))
    if hasattr(body, "__dataclass_fields__"):
        changes = {n: without_comments(v) for n, v in vars(body).items() if isinstance(v, tuple) and n != "at"}
        changes |= {n: without_comments(v) for n, v in vars(body).items() if hasattr(v, "__dataclass_fields__")}
        if isinstance(body, Here | Reading):
            changes["arm"] = ""  # AL means the only arm
        return replace(body, **changes)
    return body


def test_the_insertion_is_that_of_the_text():
    text = (EXAMPLES / "insertion.al").read_text(encoding="utf-8")
    assert without_comments(insertion().statements) == without_comments(
        parse_al(Source(text, "insertion.al")).statements
    )


def test_a_program_is_checked_printed_and_pickled():
    program = insertion()
    assert check(program) == ()
    assert pickle.loads(pickle.dumps(program)) == program
    assert program.language == "python" and program.name == "insertion"
    assert pickle.loads(pickle.dumps(10 * ounces + 2 * ounces)).expression == (10 * ounces + 2 * ounces).expression
    assert pickle.loads(pickle.dumps(ounces)).unit == "ounces"


def test_statements_know_their_lines_of_python():
    program = insertion()
    source = program.source
    assert source is not None and source.name == "test_program_building.py"
    lines = [source.line(program.line_of(s.at)) for s in statements_in(program)]
    assert all(program.line_of(s.at) > 0 for s in statements_in(program))
    shown = " ".join(lines)
    assert "hand.open(diameter + 1 * inches)" in shown and "with t.repeat(until=" in shown
    move = next(s for s in statements_in(program) if isinstance(s, Move))
    assert move.to.at == move.at and "arm.move(grasp" in source[move.at]
    guard = next(s for s in statements_in(program) if isinstance(s, Move) and s.guards).guards[0]
    assert "force.z > 10 * ounces" in source[guard.at]


def test_errors_name_the_file_and_the_line():
    t = b.task("wrong")
    arm = t.arm()
    arm.move(b.Formula(Name("feeder")) + b.Formula(Name("nowhere")))
    t.add(Delay(b.Formula(Literal(3.0)).expression))  # a wrong statement, past the checks of the builder
    program = t.program()
    text = str(ProgramError(check(program), program.source))
    assert re.search(r"test_program_building.py:\d+:\d+: error: the duration of a delay needs a time", text)
    assert "t.add(Delay(" in text


def test_files_that_cannot_be_read_have_lines_nevertheless():
    code = "from adjoint.program.building import task\nt = task('x')\n\n\nt.stop()\nprogram = t.program()\n"
    scope: dict = {}
    exec(compile(code, "/nowhere/cell.py", "exec"), scope)
    program = scope["program"]
    assert program.line_of(program.statements[0].at) == 5 and program.source.name == "cell.py"


# --- formulas ---------------------------------------------------------------------------------------------------------


def test_operators_build_expressions():
    x, y = b.formula(2.0), b.Formula(Name("y"), NUMBER)
    rows = {"+": x + y, "-": x - y, "*": x * y, "/": x / y, "mod": x % y, "<": x < y, "<=": x <= y, ">": x > y,
            ">=": x >= y, "=": x == y, "<>": x != y}  # fmt: skip
    for operator, made in rows.items():
        assert made.expression == Binary(operator, Literal(2.0), Name("y"))
    assert (3 - y).expression == Binary("-", Literal(3.0), Name("y"))
    assert (1 / y).expression == Binary("/", Literal(1.0), Name("y"))
    assert ((x < y) & (y < 3)).expression == Binary("and", (x < y).expression, (y < 3).expression)
    assert (~(x < y)).expression == Unary("not", (x < y).expression)
    assert (xyz(1, 2, 3) * inches)[1].type == (1 * inch).type
    assert (1 * inch / seconds).type.dimension == (1, 0, -1, 0)
    assert b.function_of("SQRT", (4 * inch) * (1 * inch)).type == (1 * inch).type


def test_arrays_are_constants():
    rng = np.random.default_rng(3)
    for T in (se3.random(rng=rng), np.eye(4), se3.from_rotation_translation(so3.rotation_x(np.pi), np.ones(3))):
        np.testing.assert_allclose(evaluate(b.formula(T).expression), T, atol=1e-12)
    np.testing.assert_allclose(evaluate(b.formula(np.array([1.0, 2, 3])).expression), [1, 2, 3])
    np.testing.assert_allclose(evaluate(b.formula(so3.rotation_z(0.3)).expression), so3.rotation_z(0.3), atol=1e-12)
    np.testing.assert_allclose(evaluate((np.array([1.0, 2, 3]) * inches).expression), np.array([1, 2, 3]) * 0.0254)
    np.testing.assert_array_equal(evaluate(b.formula(np.arange(6.0)).expression), np.arange(6.0))
    shifted = np.eye(4) @ b.trans(nilrot, 1 * Z * inches)
    assert shifted.type == FRAME
    t = b.task("poses")
    t.arm("puma").move(np.eye(4), via=["feeder", np.zeros(6)])
    move = t.program().statements[0]
    assert isinstance(move, Move) and move.via[0] == Name("feeder")


@pytest.mark.parametrize("bad", [
    np.eye(5), np.full(3, np.nan), 2 * np.eye(4), -np.eye(3), np.inf, 10**400, 1j, np.complex128(1), object(),
])  # fmt: skip
def test_bad_constants_are_refused(bad):
    with pytest.raises(ArgumentError, match="formula"):
        b.formula(bad)


units = st.sampled_from(["mm", "inch", "deg", "rad", "s", "N", "ozf", "in-lbs", "kg", "rpm", "m/s"])


@given(units, units, st.floats(-10, 10).filter(bool), st.sampled_from("+-"))
def test_units_are_checked_when_formulas_are_made(first, second, x, operator):
    a, c = x * b.unit(first), 2.0 * b.unit(second)
    same = a.type == c.type
    if same:
        made = a + c if operator == "+" else a - c
        assert made.type == a.type and (a < c).type.kind == "boolean"
        return
    with pytest.raises(ArgumentError, match="both sides need the same unit"):
        _ = a + c if operator == "+" else a - c
    with pytest.raises(ArgumentError, match="both sides need the same unit"):
        _ = a < c


@given(units, st.floats(-10, 10).filter(bool))
def test_units_of_arguments_are_checked(name, x):
    t = b.task("units")
    arm = t.arm("barm")
    value = x * b.unit(name)
    needs = {"s": lambda: t.delay(value), "mm inch": lambda: arm.hand.open(value), "N ozf": lambda: press(arm, value)}
    for fine, make in needs.items():
        if name in fine.split():
            make()
        else:
            with pytest.raises(ArgumentError, match="must be a"):
                make()


def press(arm, value):
    arm.move("bore", forces={"z": value})


@pytest.mark.parametrize(
    "make, words",
    [
        (
            lambda t, a: a.move("A", duration=5),
            "'duration' must be a time [s], got a plain number; write 5*seconds",
        ),
        (lambda t, a: a.move("A", forces={"z": 10}), "write 10*ounces"),
        (lambda t, a: a.move("A", forces={"w": 10 * ounces}), "axes are x, y and z"),
        (lambda t, a: a.move(3 * inch), "move: 'to' must be a frame, got a length"),
        (lambda t, a: a.move("A", until=a.force.z), "move: 'until' must be a truth value, got a force [N]"),
        (lambda t, a: a.move("A", approach=3 * inch), "move: 'approach' must be a vector"),
        (lambda t, a: a.move_joints({1: 3}), "move_joints: 'values[1]' must be an angle [rad]"),
        (lambda t, a: a.move_joints({}), "such as {1: 30 * deg}"),
        (lambda t, a: a.hand.open(3), "open: 'width' must be a length [m], got a plain number; write 3*inches"),
        (lambda t, a: a.set_configuration("left"), "lefty"),
        (lambda t, a: t.delay(3), "write 3*seconds"),
        (
            lambda t, a: (t.let("x", 3 * mm), t.let("x", 3 * deg)),
            "'x' is a length",
        ),
        (lambda t, a: t.frame("f", 3 * mm), "frame: 'f' must be a frame"),
        (lambda t, a: t.when(3), "when: 'condition' must be a truth value"),
        (lambda t, a: t.otherwise(), "there is no `when`"),
        (lambda t, a: t.abort(3), "abort: 'message' must be a text"),
        (lambda t, a: t.place("p", on="a", into="b"), "not both"),
        (lambda t, a: t.place("p", so_that=["against"]), "so_that"),
        (lambda t, a: t.add("x"), "add: a statement is needed"),
        (lambda t, a: t.attach(3 * mm, "b"), "the name of a frame"),
        (lambda t, a: bool(a.force.z > 3 * ounces), "join conditions with & | ~"),
        (lambda t, a: list(Z), "how many elements"),
        (lambda t, a: rot(Z, 90), "the angle of ROT needs an angle [rad], and 90 is a plain number; write 90*deg"),
        (lambda t, a: b.function_of("SQUARE", 3), "there is no function 'SQUARE'"),
        (lambda t, a: b.unit("inchs"), "did you mean 'inches'"),
        (lambda t, a: b.task(3), "task: a task has a name"),  # type: ignore[arg-type]
        (lambda t, a: np.eye(4) * inches, "has none"),
        (lambda t, a: Z.wrt(3 * mm), "wrt: 'frame' must be a frame"),
    ],
)
def test_bad_calls_are_refused(make, words):
    t = b.task("bad")
    with pytest.raises(ArgumentError) as found:
        make(t, t.arm("barm"))
    assert words in str(found.value)


def test_what_python_cannot_join_stays_a_type_error():
    with pytest.raises(TypeError):
        _ = Z + object()  # type: ignore[operator]


# --- flow of control --------------------------------------------------------------------------------------------------


def only(make) -> Any:
    t = b.task("one")
    make(t)
    (statement,) = t.program().statements
    return statement


def test_blocks():
    t = b.task("flow")
    n = t.let("n", 1)
    with t.when(n < 2):
        t.stop()
    with t.otherwise_when(n < 3):
        t.pause("here")
    with t.otherwise():
        t.signal(3, on=False)
    chain = t.program().statements[1]
    assert isinstance(chain, If) and isinstance(chain.otherwise[0], If)
    assert chain.otherwise[0].otherwise == (Signal(Literal(3.0), False),)
    with pytest.raises(ArgumentError, match="has its otherwise already"):
        t.otherwise()

    with t.loop_while(n < 5), t.count("i", 0, 2) as i:
        t.let("n", n + i)
    with t.select(n) as case:
        with case.of(1, 2):
            t.stop()
        with case.otherwise():
            t.print("n", n)
    with t.parallel() as both:
        with both.branch():
            t.event("ready").signal()
        with both.branch():
            t.event("ready").wait()
    loop, chosen, threads = t.program().statements[2:]
    assert loop == While(
        (n < 5).expression, (For("i", Literal(0.0), Literal(2.0), None, (Assign(Name("n"), (n + i).expression),)),)
    )
    assert isinstance(chosen, Case) and chosen.otherwise == (Print((Literal("n"), Name("n"))),)
    assert threads == Parallel(((SignalEvent("ready"),), (WaitEvent("ready"),)))
    with pytest.raises(ArgumentError, match="inside its branches"), t.parallel():
        t.stop()
    assert check(t.program()) == ()


def test_procedures_monitors_and_labels():
    t = b.task("parts")
    arm = t.arm("puma")
    with t.procedure("bring", part=FRAME, times=NUMBER) as (part, times):
        t.label("again")
        arm.move(part)
        t.let("k", times + 1)
        t.goto("again")
    t.call("bring", t.frame("feeder"), 2)
    with t.watch("door", t.line(3), interrupts=True):
        t.abort("the door is open")
    t.unwatch("door")
    bring, call, watch = t.program().statements[:3]
    assert isinstance(bring, Procedure) and bring.body[0] == Label("again") and bring.body[-1] == Goto("again")
    assert call == CallProcedure("bring", (Name("feeder"), Literal(2.0)))
    assert isinstance(watch, Watch) and watch.condition == Reading("signal", number=Literal(3.0))
    assert check(t.program()) == ()


def test_single_statements():
    assert only(lambda t: t.attach("a", "b", rigidly=True, at=np.eye(4))).attachment == "rigid"
    assert only(lambda t: t.arm("barm").attach("tip")) == Attach("tip", "barm")
    assert only(lambda t: t.detach(t.frame("a"), "b")).parent == "b"
    assert only(lambda t: t.locate("bolt", "eye", found="seen")) == Locate("bolt", "eye", "seen")
    relation = ("against", "block-top", "table-top")
    assert only(lambda t: t.place("block", on="table", so_that=[relation])) == Place(
        "block", "on", "table", (RelationClause(*relation),)
    )
    assert only(lambda t: t.wait(t.line(1))) == Wait(Reading("signal", number=Literal(1.0)))
    assert only(lambda t: t.comment("so")) == Comment("so")
    assert only(lambda t: t.arm("a").set_speed(0.5)) == SetSpeed(Literal(0.5), True, "a")
    assert only(lambda t: t.arm("a").set_configuration("lefty")) == SetConfiguration("lefty", "a")
    assert only(lambda t: t.arm("a").hand.grasp(3 * mm, otherwise="10")) == MoveHand(
        "a", False, Quantity(3.0, "mm"), grasp=True, otherwise="10"
    )
    joints = only(lambda t: t.arm("a").move_joints({1: 30 * deg, 3: 2 * inch}, by=True))
    assert isinstance(joints, MoveJoints) and joints.relative and joints.arm == "a"
    until = only(lambda t: t.arm("a").move("goal", until=t.sensor("touch") > 0.5))
    assert until.guards == (Guard(Binary(">", Reading("sensor", name="touch"), Literal(0.5))),)
    assert isinstance(only(lambda t: t.arm("a").set_tool(np.eye(4))).tool, Call)


def test_open_blocks_and_failed_blocks():
    t = b.task("open")
    with t.when(t.line(1)), pytest.raises(ArgumentError, match="still open"):
        t.program()
    with pytest.raises(RuntimeError, match="outside"), t.when(t.line(2)):
        t.stop()
        raise RuntimeError("outside")
    assert len(t.program().statements) == 1  # what failed leaves nothing behind
    move = t.arm("a").move("goal")
    t.stop()
    with pytest.raises(ArgumentError, match="must be the last statement"), move.on(t.line(1)):
        t.abort("late")


def test_repeat_of_the_example_is_at_its_line():
    program = insertion()
    loop = next(s for s in program.statements if isinstance(s, Repeat))
    assert isinstance(loop.body[1], If) and loop.body[1].at.start > loop.at.start
    assert isinstance(program.statements[-5], Abort | If | Attach | Move)
