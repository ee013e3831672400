"""Programs that run: time, threads, guards, watches, flow of control, the world, and every status."""

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.program.execution import Session, run
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
    Block,
    Call,
    CallProcedure,
    Case,
    Comment,
    Declare,
    DefineMonitor,
    Delay,
    Detach,
    For,
    ForceClause,
    Gosub,
    Goto,
    Guard,
    Here,
    If,
    Index,
    Label,
    Literal,
    Move,
    MoveHand,
    MoveJoints,
    Name,
    Parallel,
    Parameter,
    Pause,
    Print,
    Procedure,
    Program,
    ProgramError,
    Quantity,
    Reading,
    Repeat,
    Return,
    SetBase,
    SetConfiguration,
    SetSpeed,
    SetTool,
    Signal,
    SignalEvent,
    Source,
    Stop,
    Unary,
    Unwatch,
    Wait,
    WaitEvent,
    Watch,
    While,
)  # fmt: skip
from adjoint.program.languages.al import parse_al
from adjoint.program.running import RunLimits
from tests.support.al_programs import FOLDER
from tests.support.running_programs import (
    INCH,
    Q_UP,
    bolt_world,
    by,
    inches,
    less,
    number,
    on_force,
    plus,
    program,
    puma_world,
    put,
    seconds,
)  # fmt: skip

WORLD = puma_world()
OUNCE = 0.27801385095378125


def ran(*statements, world=WORLD, **options):
    return run(program(*statements), world, check=False, **options)


def said(*statements, **options):
    result = ran(*statements, **options)
    assert result.status == "done", result.message
    return result.printed


def show(*names):
    return Print(tuple(Name(n) for n in names))


def height(result):
    return result.poses("arm.tool")[:, 2, 3] / INCH


# --- flow of control --------------------------------------------------------------------------------------------------


def test_loops_and_branches():
    odd = Binary("=", Binary("mod", Name("i"), number(2)), number(1))
    assert said(
        put("i", 0), put("sum", 0),
        While(less("i", 5), (put("i", plus("i")), If(odd, (put("sum", Binary("+", Name("sum"), Name("i"))),)))),
        show("i", "sum"),
        Repeat((put("i", plus("i", -1)),), Binary("<=", Name("i"), number(2))), show("i"),
        For("k", number(3), number(1), number(-1), (show("k"),)),
        For("x", number(0), number(1), number(0.1), (put("last", Name("x")),)), show("last"),
        For("none", number(2), number(1), None, (Abort(Literal("no")),)),
    ) == ("5 9", "2", "3", "2", "1", "1")  # fmt: skip


def test_cases():
    def chosen(k):
        branches = (
            ((number(1), number(2)), (Print((Literal("low"),)),)),
            ((number(3),), (Print((Literal("three"),)),)),
        )
        return said(put("k", k), Case(Name("k"), branches, (Print((Literal("other"),)),)))[0]

    assert [chosen(k) for k in (1, 2, 3, 4)] == ["low", "low", "three", "other"]


def test_labels_gosub_and_goto_out_of_blocks():
    assert said(
        put("n", 0),
        Gosub("sub"),
        Gosub("sub"),
        Goto("end"),
        Label("sub"),
        put("n", plus("n")),
        Block((If(Binary("=", Name("n"), number(2)), (Block((Goto("back"),)),)),)),
        Return(),
        Label("back"),
        Print((Literal("second"),)),
        Return(),
        Label("end"),
        Comment("the end"),
        show("n"),
    ) == ("second", "2")


def test_procedures_have_variables_of_their_own():
    square = Procedure("square", (Parameter("x", NUMBER),), (Return(Binary("*", Name("x"), Name("x"))),), NUMBER)
    touch = Procedure(
        "touch", (Parameter("x"),), (Declare(NUMBER, ("y",)), put("y", 5), put("x", 7), put("shared", Name("y")))
    )
    factorial = Procedure("fact", (Parameter("n"),), (
        If(less("n", 2), (Return(number(1)),)),
        Return(Binary("*", Name("n"), Call("fact", (Binary("-", Name("n"), number(1)),)))),
    ))  # fmt: skip
    found = ran(
        square, touch, factorial, put("x", 3), put("y", 1),
        CallProcedure("touch", (Name("x"),)), show("x", "y", "shared"),
        put("z", Binary("+", Call("square", (Name("x"),)), Call("square", (number(4),)))), show("z"),
        Print((Call("fact", (number(5),)),)),
        While(Binary("<", Call("square", (Name("x"),)), number(30)), (put("x", plus("x")),)), show("x"),
    )  # fmt: skip
    assert found.printed == ("3 1 5", "25", "120", "6")


def test_arrays_and_aggregates():
    i = Name("i")
    assert said(
        Declare(NUMBER, ("a",), (number(0), number(2))),
        For("i", number(0), number(2), None, (Assign(Index(Name("a"), i), Binary("*", i, i)),)),
        Print((Index(Name("a"), number(2)), Name("a"))),
        put("g", Aggregate((number(1), Aggregate((number(2), number(3)))))),
        Assign(Index(Index(Name("g"), number(2)), number(1)), number(9)),
        show("g"),
    ) == ("4 [0, 1, 4]", "<1, <9, 3>>")
    assert (
        "has elements 0 to 2, and no 3"
        in ran(Declare(NUMBER, ("a",), (number(0), number(2))), Assign(Index(Name("a"), number(3)), number(0))).message
    )


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ((Goto("nowhere"),), "no label nowhere"),
        ((CallProcedure("nothing"),), "no procedure nothing"),
        ((Procedure("p", (Parameter("x"),), ()), CallProcedure("p")), "1 parameters, and 0 values"),
        ((Label("a"), Label("a")), "here twice"),
    ],
)
def test_programs_that_cannot_be_laid_out(statements, words):
    with pytest.raises(ProgramError, match=words):
        ran(*statements)


# --- time -------------------------------------------------------------------------------------------------------------


def test_time_passes_in_ticks_only():
    result = ran(put("i", 0), Delay(seconds(0.5)), put("i", 1), by(0, 0, 1), Delay(seconds(0.001)))
    moves = [e for e in result.trace if e.statement == "Move"]
    assert [e.kind for e in moves] == ["start", "end"] and moves[0].tick == 50
    assert len(result) == moves[1].tick + 2  # 0.001 s is one tick, and the run begins with a row of its own
    np.testing.assert_allclose(result.t, np.arange(len(result)) * 0.01)
    np.testing.assert_array_equal(np.unique(result.line), [0, 2, 4, 5])
    assert (result.line[1:51] == 2).all() and result.line[51] == 4
    assert len(ran(put("i", 0), show("i"))) == 1


@pytest.mark.parametrize("period", [0.001, 0.02])
def test_periods_change_nothing_but_ticks(period):
    coarse, fine = ran(by(0, 0, 2)), ran(by(0, 0, 2), period=period)
    assert abs(coarse.duration - fine.duration) < 0.03
    np.testing.assert_allclose(fine.world.pose("arm.tool"), coarse.world.pose("arm.tool"), atol=1e-9)


def test_a_guard_that_never_holds_changes_nothing():
    never = Guard(Binary("<", Call("DOT", (Call("POS", (Here(),)), Name("Z"))), Quantity(-9.0, "m")), ())
    plain, guarded = ran(by(0, 0, 2)), ran(by(0, 0, 2, guards=(never, on_force("z", 1e9))))
    np.testing.assert_array_equal(plain.q["arm"], guarded.q["arm"])
    np.testing.assert_array_equal(plain.t, guarded.t)
    assert [e[:4] for e in plain.trace] == [e[:4] for e in guarded.trace]


def test_guards_stop_the_move_and_run_their_body():
    start = WORLD.pose("arm.tool")[2, 3] / INCH
    above = Binary(">", Call("DOT", (Call("POS", (Here(),)), Name("Z"))), Quantity(start + 1.0, "inches"))
    result = ran(
        by(0, 0, 3, guards=(Guard(above, (put("hit", Literal(True)), Print((Literal("hit"),)))),)), show("hit")
    )
    z = height(result)
    assert result.printed == ("hit", "TRUE")
    guard = next(e for e in result.trace if e.kind == "guard")
    assert z[guard.tick] > start + 1 >= z[guard.tick - 1]  # the first tick at which it holds
    assert start + 1 < z[-1] < start + 2.5
    speed = np.abs(np.diff(result.q["arm"], axis=0)).max(axis=1)
    assert speed[-1] < speed[guard.tick]  # it has braked
    p = result.poses("arm.tool")[:, :3, 3]
    assert np.abs(p[:, :2] - p[0, :2]).max() < 1e-5  # on its way
    jump = np.abs(np.diff(result.q["arm"], 2, axis=0)).max() / 1e-4
    assert jump < 1.3 * 8.0


def test_of_two_guards_the_first_one_stops():
    guards = (on_force("z", 5.0, Print((Literal("z"),))), on_force("x", 5.0, Print((Literal("x"),))))
    forces = {"force z": lambda t: 10 * (t > 0.2), "force x": lambda t: 10 * (t > 0.1)}
    assert said(by(0, 0, 3, guards=guards), inputs=forces) == ("x",)


def test_guards_that_do_not_stop():
    body = (Print((Literal("seen"),)), Delay(seconds(5)), Print((Literal("later"),)))
    plain = ran(by(0, 0, 2))
    guarded = by(0, 0, 2, guards=(on_force("z", 5.0, *body, stops=False),))
    result = ran(guarded, Print((Literal("after"),)), inputs={"force z": 10.0})
    assert result.printed == ("seen", "later", "after")
    n = len(plain)
    np.testing.assert_array_equal(result.q["arm"][:n], plain.q["arm"])
    assert result.duration > 5
    stopped = ran(
        by(0, 0, 2, guards=(on_force("z", 5.0, Stop(), stops=False),)), inputs={"force z": lambda t: 10 * (t > 0.1)}
    )
    assert (
        stopped.status == "done"
        and len(stopped) < n
        and stopped.poses("arm.tool")[-1, 2, 3] < plain.poses("arm.tool")[-1, 2, 3]
    )


def test_a_jump_out_of_a_guard():
    found = said(
        put("n", 0),
        Label("again"),
        put("n", plus("n")),
        by(0, 0, 1, guards=(on_force("z", 5.0, If(less("n", 3), (Goto("again"),))),)),
        show("n"),
        inputs={"force z": 10.0},
    )
    assert found == ("3",)


# --- threads ----------------------------------------------------------------------------------------------------------


def two_arms():
    return WORLD.add_robot("other", aj.robots.puma560(), q=Q_UP, at=[0, 2, 0])


def test_parallel_branches_last_as_long_as_the_longest():
    w = two_arms()
    one, two = by(0, 0, 3, arm="arm"), by(0, 0, 1, arm="other")
    alone = [len(ran(s, world=w)) - 1 for s in (one, two)]
    both = ran(Parallel(((one,), (two, put("x", 1)))), show("x"), world=w)
    assert len(both) - 1 == max(alone) and both.printed == ("1",)
    for name in ("arm", "other"):
        single = ran(one if name == "arm" else two, world=w)
        np.testing.assert_array_equal(both.q[name][: len(single)], single.q[name])
    assert len(ran(Parallel(()), world=w)) == 1


def test_semaphores():
    found = ran(
        Declare(EVENT, ("ready",)),
        Parallel((
            (Delay(seconds(0.3)), SignalEvent("ready"), Print((Literal("signalled"),))),
            (WaitEvent("ready"), Print((Literal("went on"),)), SignalEvent("ready")),
            (WaitEvent("ready"), Print((Literal("third"),))),
        )),
    )  # fmt: skip
    assert found.status == "done" and len(found) == 31
    assert found.printed == ("signalled", "went on", "third")
    counted = ran(SignalEvent("e"), SignalEvent("e"), WaitEvent("e"), WaitEvent("e"))
    assert counted.status == "done"


def test_deadlock_is_named():
    found = ran(Parallel(((WaitEvent("a"), SignalEvent("b")), (WaitEvent("b"), SignalEvent("a")))))
    assert found.status == "failed" and "deadlock" in found.message
    assert "event a" in found.message and "event b" in found.message


def test_two_threads_cannot_move_one_arm():
    found = ran(Parallel(((by(0, 0, 1),), (by(0, 0, 2),))))
    assert found.status == "failed" and "'arm' is moving already" in found.message


# --- conditions in the background -------------------------------------------------------------------------------------


def pulse(*ticks):
    return lambda t: np.isin(np.rint(t / 0.01), ticks).astype(float)


def line(n):
    return Reading("signal", number=number(n))


def test_waits_hold_until_an_input():
    found = ran(Wait(line(1)), Print((Literal("on"),)), Wait(Unary("not", line(1))), Print((Literal("off"),)),
                inputs={"signal 1": lambda t: (t > 1.0) & (t < 7.0)})  # fmt: skip
    assert found.printed == ("on", "off") and [e.tick for e in found.trace if e.kind == "print"] == [101, 700]
    assert ran(Wait(line(1)), inputs={"signal 1": 1}).duration == 0


@pytest.mark.parametrize("interrupts", [False, True])
def test_watches_run_their_body(interrupts):
    watch = Watch("w", line(3), (Print((Literal("reacted"),)), put("done", 1)), interrupts=interrupts)
    plain = ran(by(0, 0, 3), by(0, 0, -1))
    found = ran(watch, by(0, 0, 3), Print((Literal("next"),)), by(0, 0, -1), inputs={"signal 3": pulse(10, 11, 30)})
    assert found.printed == ("reacted", "next") and found.variables["done"] == 1
    first_end = next(e.tick for e in plain.trace if e.kind == "end")
    at = next(e.tick for e in found.trace if e.kind == "print")
    assert (at < first_end) == interrupts and (interrupts or at == first_end)
    assert next(e.tick for e in found.trace if e.kind == "watch") == 10


def test_watches_react_again_and_end():
    again = Watch("w", line(3), (put("n", plus("n")),), once=False)
    ticks = pulse(10, 11, 20, 40, 90)
    found = ran(put("n", 0), again, Delay(seconds(0.6)), show("n"), Unwatch("w"), Delay(seconds(1)), show("n"),
                inputs={"signal 3": ticks})  # fmt: skip
    assert found.printed == ("3", "3") and found.duration == pytest.approx(1.6)


def test_monitors_stop_joints():
    """W4: DMOVE with MONITOR(<SLP, SRP>, 1, 0, F) stops at the first tick at which a reading leaves [0, F]."""
    w = aj.world.World().add_robot("rs1", aj.robots.gantry())
    sensors = Aggregate((Reading("sensor", name="SLP"), Reading("sensor", name="SRP")))
    define = DefineMonitor("m", sensors, number(1), number(0), number(2.0))
    drive = MoveJoints(
        number(3), number(10), relative=True, length_unit="inches", angle_unit="deg", monitors=(Name("m"),)
    )
    found = ran(define, drive, world=w, inputs={"SLP": lambda t: 10 * t, "SRP": 0.0})
    monitor = next(e for e in found.trace if e.kind == "monitor")
    assert monitor.tick == 21 and found.status == "done"
    assert 0 < found.world.robots["rs1"].q[2] < 10 * INCH
    untouched = ran(define, drive, world=w, inputs={"SLP": 1.0, "SRP": 2.0})
    np.testing.assert_allclose(untouched.world.robots["rs1"].q[2], 10 * INCH)


def test_noise_is_the_same_in_every_run():
    feel = by(0, 0, 3, guards=(on_force("z", 2.5),))
    runs = [ran(feel, inputs={"force z": 0.0}, noise={"force z": 1.0}, rng=seed) for seed in (1, 1, 2)]
    ends = [len(r) for r in runs]
    assert ends[0] == ends[1] and ends[0] < len(ran(feel))
    assert any(len(ran(feel, inputs={"force z": 0.0}, noise={"force z": 1.0}, rng=k)) != ends[0] for k in (2, 3, 4))


# --- the world --------------------------------------------------------------------------------------------------------


def test_assignments_move_frames_of_the_world():
    w = WORLD.add("beam", at=[0.5, 0.2, 0]).add("bore", at=[0, 0, 0.1], parent="beam", attachment="nonrigid")
    there = Call("FRAME", (Name("nilrot"), Call("VECTOR", (inches(20), inches(15), inches(0)))))
    found = ran(put("beam", there), put("x", Name("bore")), world=w)
    np.testing.assert_allclose(found.world.pose("beam")[:3, 3], [20 * INCH, 15 * INCH, 0])
    np.testing.assert_allclose(found.variables["x"][:3, 3], [20 * INCH, 15 * INCH, 0.1])
    assert "only moves move" in ran(put("arm", there), world=w).message


def test_an_affixed_frame_moves_to_its_goal():
    """W2: MOVE bolt_tip TO beam_bore sends the hand to (18, 15, 4), turned."""
    w = bolt_world(bolt=False)
    text = """
        feeder ← FRAME(nilrot, VECTOR(25, 20, 0)*inches);  beam ← FRAME(ROT(Z, 90*deg), VECTOR(20, 15, 0)*inches);
        bolt_tip ← feeder * TRANS(nilrot, nilvect);
        bolt_grasp ← bolt_tip * TRANS(ROT(X, 180*deg), VECTOR(0, 0, 1)*inches);
        beam_bore ← beam * TRANS(nilrot, VECTOR(0, 2, 3)*inches);
        MOVE barm TO bolt_grasp;  AFFIX bolt_tip TO barm;  AFFIX bolt_grasp TO bolt_tip;
        MOVE bolt_tip TO beam_bore;
    """
    found = run(parse_al(Source(f"BEGIN t {text} END t.")), w, check=False)
    assert found.status == "done", found.message
    hand = found.world.pose("barm.tool")
    np.testing.assert_allclose(hand[:3, 3] / INCH, [18, 15, 4], atol=1e-9)
    np.testing.assert_allclose(hand[:3, :3], [[0, 1, 0], [1, 0, 0], [0, 0, -1]], atol=1e-9)
    bore = found.variables["beam_bore"]
    np.testing.assert_allclose(found.world.pose("bolt_tip"), bore, atol=1e-9)
    np.testing.assert_allclose(found.world.pose("bolt_grasp")[:3, 3] / INCH, [18, 15, 4], atol=1e-9)
    T = found.poses("bolt_tip")
    assert np.isnan(T[0]).all() and not np.isnan(T[-1]).any()
    np.testing.assert_allclose(T[-1], bore, atol=1e-9)


def test_attach_with_a_pose_and_detach():
    w = WORLD.add("pen", at=[1, 1, 1])
    held = Attach(
        "pen", "arm", "rigid", Call("FRAME", (Name("nilrot"), Call("VECTOR", (inches(0), inches(0), inches(2)))))
    )
    found = ran(held, by(0, 0, 1), Detach("pen", "arm"), by(0, 0, -1), world=w)
    T = found.poses("pen")
    tool = found.poses("arm.tool")
    np.testing.assert_allclose(T[5, :3, 3], tool[5, :3, 3] + 2 * INCH * tool[5, :3, 2], atol=1e-12)
    np.testing.assert_allclose(T[-1], T[np.argmax(tool[:, 2, 3])], atol=1e-9)
    assert found.moved == ("pen",)
    assert "attached to 'world', not to 'arm'" in ran(Detach("pen", "arm"), world=w).message
    assert "no arm holds 'pen'" in ran(Move("pen", Here("arm")), world=w).message


def test_hands_take_parts_and_let_go():
    w = puma_world(gripper=True)
    w = w.add("pin", aj.world.cylinder(0.01, 0.06), at=w.pose("arm.tool"))
    found = ran(
        MoveHand("arm", True, Quantity(70.0, "mm")), MoveHand("arm", False), Print((Name("arm_width"),)),
        world=w, inputs={"arm_width": 0.0},
    )  # fmt: skip
    assert found.status == "done" and found.world.holding("arm") == ["pin"]
    np.testing.assert_allclose(found.width["arm"][-1], 0.02, atol=1e-6)
    carried = ran(MoveHand("arm", False), by(0, 0, 2), world=w)
    np.testing.assert_allclose(
        carried.poses("pin")[-1, :3, 3] - carried.poses("pin")[0, :3, 3], [0, 0, 2 * INCH], atol=1e-3
    )
    dropped = ran(MoveHand("arm", False), MoveHand("arm", True), world=w)
    assert dropped.world.holding("arm") == []
    kinds = [e.kind for e in dropped.trace if e.kind in ("grasp", "release")]
    assert kinds == ["grasp", "release"]


@pytest.mark.parametrize("there", [True, False])
def test_grasp_asks_for_a_width(there):
    w = puma_world(gripper=True)
    if there:
        w = w.add("pin", aj.world.cylinder(0.01, 0.06), at=w.pose("arm.tool"))
    least = Quantity(15.0, "mm")
    grasp = MoveHand("arm", False, least, grasp=True, otherwise="missed")
    rest = (Print((Literal("held"),)), Stop(), Label("missed"), Print((Literal("missed"),)))
    assert said(grasp, *rest, world=w) == (("held",) if there else ("missed",))
    alone = ran(MoveHand("arm", False, least, grasp=True), world=w)
    assert alone.status == ("done" if there else "aborted")


def test_hands_that_need_not_be_waited_for():
    w = puma_world(gripper=True)
    found = ran(MoveHand("arm", False, wait=False), by(0, 0, 3), world=w)
    together = len(ran(by(0, 0, 3), world=w))
    assert len(found) == 81 > together and found.width["arm"][1] < 0.08  # the run waits for the fingers at its end
    assert next(e.tick for e in found.trace if e.kind == "end" and e.statement == "Move") == together - 1
    last = ran(MoveHand("arm", False, wait=False), world=w)
    assert last.status == "done" and last.width["arm"][-1] == 0


def test_speeds_tools_and_bases():
    n = len(ran(by(0, 0, 2))) - 1
    half = ran(SetSpeed(number(0.5)), by(0, 0, 2), by(0, 0, -2))
    assert len(half) - 1 == pytest.approx(3 * n, abs=4)
    always = ran(SetSpeed(number(0.5), permanent=True), by(0, 0, 2), by(0, 0, -2))
    assert len(always) - 1 == pytest.approx(4 * n, abs=4)
    tool = Call("FRAME", (Name("nilrot"), Call("VECTOR", (inches(0), inches(0), inches(3)))))
    longer = ran(
        put("a", Here()), SetTool(tool), put("b", Here()), Move("arm", Name("a")), SetTool(None), put("c", Here())
    )
    v = longer.variables
    np.testing.assert_allclose(v["b"][:3, 3], v["a"][:3, 3] + 3 * INCH * v["a"][:3, 2], atol=1e-12)
    np.testing.assert_allclose(v["c"][:3, 3], v["a"][:3, 3] - 3 * INCH * v["a"][:3, 2], atol=1e-9)
    base = Call(
        "FRAME", (Call("ROT", (Name("Z"), Quantity(90.0, "deg"))), Call("VECTOR", (inches(1), inches(0), inches(0))))
    )
    seen = ran(SetBase(base), put("a", Here()), by(1, 0, 0))
    np.testing.assert_allclose(
        seen.world.pose("arm.tool")[:3, 3], WORLD.pose("arm.tool")[:3, 3] + [0, INCH, 0], atol=1e-9
    )


def test_flags_choose_the_arm():
    found = ran(SetConfiguration("noflip"), put("p", Here()), by(0, -2, 0, straight=False))
    assert found.status == "done" and found.world.robots["arm"].q[4] >= 0
    other = ran(SetConfiguration("righty"), Move("arm", Here()))
    q = other.world.robots["arm"].q
    if other.status == "done":
        assert aj.inverse.indicators(aj.robots.puma560(), q, "tool").arm == 1
        np.testing.assert_allclose(other.world.pose("arm.tool"), WORLD.pose("arm.tool"), atol=1e-9)
    else:
        assert "joint" in other.message


def test_nonstop_moves():
    two = ran(by(0, 0, 2), by(0, -2, 0))
    joined = ran(by(0, 0, 2, nonstop=True), by(0, -2, 0))
    assert joined.status == "done"
    np.testing.assert_allclose(joined.world.pose("arm.tool"), two.world.pose("arm.tool"), atol=1e-9)
    speed = np.abs(np.diff(joined.q["arm"], axis=0)).max(axis=1)
    assert speed[3:-3].min() > 0 and [e.kind for e in joined.trace if e.statement] == ["start", "end"] * 2
    assert set(joined.line[1:]) == {1, 2}


def test_forces_are_felt_along_axes():
    touch = {"arm force z": 5.0}
    assert said(Print((Reading("force", axis="z"),)), inputs=touch) == ("5",)
    turned = Call("ROT", (Name("X"), Quantity(180.0, "deg")))
    move = by(0, 0, 1, force_frame=turned, guards=(on_force("z", 4.0, Print((Literal("felt"),))),))
    assert said(move, inputs=touch) == ("felt",)
    comply = by(0, 0, -0.5, forces=(ForceClause("z", Quantity(-10.0, "ounces")),), duration=seconds(2))
    assert ran(comply).duration == 2.0


# --- ends -------------------------------------------------------------------------------------------------------------


def test_every_status():
    assert ran(put("i", 1)).status == "done"
    assert ran(put("i", 1), Stop(), Abort(Literal("no"))).status == "done"
    aborted = ran(by(0, 0, 1), Abort(Literal("No hole")), by(0, 0, 1))
    assert (aborted.status, aborted.message) == ("aborted", "No hole") and aborted.error is None
    failed = ran(by(0, 0, 1), by(90, 0, 0))
    assert failed.status == "failed" and failed.error is not None and failed.error.position == (2, 1)
    assert "leaves the arm's reach" in str(failed.error)
    assert ran(Wait(Literal(False)), limit=50).status == "limit"
    paused = ran(put("i", 1), Pause("look"), put("i", 2))
    assert (paused.status, paused.message, paused.variables["i"]) == ("paused", "look", 1)
    assert ran(Signal(number(2)), Signal(number(2), False)).signals == ((0, 2, True), (0, 2, False))


def test_an_abort_stops_all_arms():
    w = two_arms()
    found = ran(Parallel(((by(0, 0, 4, arm="arm"),), (Delay(seconds(0.2)), Abort(Literal("stop"))))), world=w)
    assert found.status == "aborted" and 21 < len(found) < len(ran(by(0, 0, 4), world=w))
    v = np.diff(found.q["arm"], axis=0) / 0.01
    assert np.abs(v[-1]).max() < 0.1 < np.abs(v[19]).max()


def test_runaway_programs_stop():
    loop = ran(put("i", 0), While(Literal(True), (put("i", plus("i")),)), limit=RunLimits(still=1000))
    assert loop.status == "limit" and "1000 statements without a tick" in loop.message
    assert "line" in loop.message or "Assign" in loop.message
    moving = ran(Label("a"), Delay(seconds(0.1)), Goto("a"), limit=200)
    assert moving.status == "limit" and len(moving) == 201 and "200 ticks" in moving.message
    endless = Procedure("p", (), (CallProcedure("p"),))
    assert "procedures have begun" in ran(endless, CallProcedure("p")).message
    sub = ran(Label("s"), Gosub("s"))
    assert sub.status == "limit"
    many = ran(Label("a"), Delay(seconds(0.01)), Goto("a"), limit=RunLimits(statements=500))
    assert many.status == "limit" and "500 statements" in many.message


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (Move("nobody", Here()), "no arm and no frame 'nobody'"),
        (Move("arm", number(3)), "to a frame or to joint values"),
        (by(0, 0, 1, speed=number(-1)), "a speed must be above 0"),
        (by(0, 0, 1, approach=Call("VECTOR", (number(0),) * 3)), "vector that is not 0"),
        (MoveHand("arm", True), "has no gripper"),
        (MoveJoints(number(9), number(1)), "numbers from 1 to 6"),
        (MoveJoints(number(1), Aggregate((number(1), number(2)))), "do not fit"),
        (If(number(3), ()), "true or false"),
        (Delay(Quantity(-1.0, "s")), "cannot be below 0"),
        (For("i", number(0), number(1), number(0), ()), "never end"),
        (show("unknown"), "unknown"),
        (Attach("ghost", "arm"), "no frame 'ghost'"),
        (MoveJoints(number(1), number(3.0)), "'joint1' would have to be at 171.9°"),
    ],
)
def test_what_fails_while_it_runs(statement, words):
    found = ran(put("x", 1), statement)
    assert found.status == "failed" and words in str(found.error)
    assert found.error is not None and found.error.position is not None


def test_check_comes_before_anything_moves():
    wrong = Program((Move("arm", Here()), Print((Name("nowhere"),))))
    with pytest.raises(ProgramError, match="nowhere"):
        run(wrong, WORLD)
    assert run(wrong, WORLD, check=False).status == "failed"


def test_bad_arguments():
    p = program(put("i", 1))
    for options, words in (
        ({"backend": "magic"}, "back end 'magic'"), ({"period": 0.0}, "period"), ({"limit": -1}, "limit"),
        ({"arms": {"barm": "nobody"}}, "nobody"), ({"inputs": {"signal 1": np.zeros((2, 2))}}, "signal 1"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=words):
            run(p, WORLD, **options)
    with pytest.raises(ArgumentError, match="Program"):
        run("MOVE", WORLD)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="World"):
        Session(p, None)  # type: ignore[arg-type]


# --- the book's insertion ---------------------------------------------------------------------------------------------


def insertion(**options):
    text = (FOLDER / "insertion_as_printed.al").read_text(encoding="utf-8")
    return parse_al(Source(text, "insertion_as_printed.al")), options


def places(result, *names):
    found = []
    for e in result.trace:
        if e.kind == "end" and e.statement in names:
            found.append(tuple(np.round(result.poses("barm.tool")[e.tick, :3, 3] / INCH, 6)))
    return found


def test_insertion_with_bolt_and_hole():
    """W3 (a): the statements as printed, with no force at the hole."""
    result = run(insertion()[0], bolt_world(), inputs={"force z": 0.0})
    assert result.status == "done", result.message
    assert places(result, "Move") == [(25, 20, 0), (25, 20, 8), (20, 15, 2), (20, 15, 1.9), (20, 15, 1)]
    widths = [
        result.width["barm"][e.tick] / INCH for e in result.trace if e.kind == "end" and e.statement == "MoveHand"
    ]
    np.testing.assert_allclose(widths, [1.5, 0.5], atol=1e-6)
    p = result.poses("barm.tool")[:, :3, 3] / INCH
    for via in ((25, 20, 5), (20, 15, 6)):
        assert np.linalg.norm(p - via, axis=1).min() < 0.2
    last = [e for e in result.trace if e.statement == "Move"][-2:]
    assert last[1].tick - last[0].tick == 500


def test_insertion_without_a_bolt():
    """W3 (b): four closings, an inch lower each time, then the program gives up."""
    result = run(insertion()[0], bolt_world(bolt=False), inputs={"force z": 0.0})
    assert (result.status, result.message) == ("aborted", "failed to grasp bolt")
    assert places(result, "Move") == [(25, 20, 0), (25, 20, -1), (25, 20, -2), (25, 20, -3), (25, 20, -4)]
    widths = [
        result.width["barm"][e.tick] / INCH for e in result.trace if e.kind == "end" and e.statement == "MoveHand"
    ]
    np.testing.assert_allclose(widths, [1.5] + [0.45, 1.5] * 4, atol=1e-6)


def test_insertion_into_a_plugged_hole():
    """W3 (c): 20 ounces against the hand, once it is above the bore."""
    free = run(insertion()[0], bolt_world(), inputs={"force z": 0.0})
    above = [e.tick for e in free.trace if e.kind == "end" and e.statement == "Move"][2]
    force = np.where(np.arange(above + 50) > above, 20 * OUNCE, 0.0)
    result = run(insertion()[0], bolt_world(), inputs={"force z": force})
    assert (result.status, result.message) == ("aborted", "No hole")
    assert places(result, "Move") == [(25, 20, 0), (25, 20, 8), (20, 15, 2)]


def test_declared_variables_have_no_value():
    found = ran(Declare(FRAME, ("f",)), Declare(LENGTH, ("l",)), Declare(BOOLEAN, ("b",)), put("b", Literal(True)))
    assert found.variables == {"f": None, "l": None, "b": True}
    assert "has no value" in ran(Declare(FRAME, ("f",)), show("f")).message
