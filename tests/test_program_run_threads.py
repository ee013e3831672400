"""Threads that run: watches while others move or wait, variables of procedures in branches, and back ends that fail."""

import numpy as np
import pytest

from adjoint.program.execution import run
from adjoint.program.instructions import (
    EVENT,
    Abort,
    Binary,
    CallProcedure,
    Declare,
    Delay,
    Guard,
    Literal,
    MoveHand,
    Name,
    Parallel,
    Parameter,
    Print,
    Procedure,
    Quantity,
    Reading,
    Return,
    SignalEvent,
    Stop,
    Wait,
    WaitEvent,
    Watch,
    While,
)  # fmt: skip
from adjoint.program.instructions.expressions import Call
from adjoint.program.running import RunLimits
from adjoint.program.running.driver import DriverBackend
from adjoint.program.running.driver_mocks import mock_robot
from adjoint.program.running.driver_sockets import SocketDriver
from adjoint.program.running.dynamic import DynamicBackend
from adjoint.world import cylinder
from tests.support.running_programs import by, number, plus, program, puma_world, put, seconds

WORLD = puma_world()


def ran(*statements, world=WORLD, **options):
    return run(program(*statements), world, check=False, **options)


def say(*values):
    return Print(tuple(Literal(x) if isinstance(x, str) else x for x in values))


def line(n):
    """Input line n is on."""
    return Reading("signal", number=number(n))


def on_from(tick, to=2000):
    ticks = np.arange(2000)
    return ((ticks >= tick) & (ticks < to)).astype(float)


def react(*body, **rest):
    return Watch("w", line(2), body, **rest)


# --- watches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tick", [9, 10, 11, 12, 40])
def test_a_watch_sees_an_edge_next_to_another_event(tick):
    result = ran(
        react(say("reacted")), Wait(line(1)), Delay(seconds(1.0)), say("end"),
        inputs={"signal 1": on_from(10), "signal 2": on_from(tick)},
    )  # fmt: skip
    assert result.printed == ("reacted", "end")
    assert next(e.tick for e in result.trace if e.kind == "watch") == tick


def test_a_condition_that_stays_true_over_other_events_is_one_edge():
    result = ran(
        react(say("reacted"), once=False), Wait(line(1)), Delay(seconds(1.0)), say("end"),
        inputs={"signal 1": on_from(10), "signal 2": on_from(5, 30)},
    )  # fmt: skip
    assert result.printed == ("reacted", "end")


def test_a_watch_that_holds_during_the_last_move_still_reacts():
    result = ran(react(say("reacted")), by(0, 0, -2), inputs={"signal 2": on_from(20)})
    assert (result.status, result.printed) == ("done", ("reacted",))


def test_branches_wait_until_the_body_of_a_watch_has_ended():
    result = ran(
        react(say("reacted"), Delay(seconds(1.0)), say("body ends")),
        Parallel(((Delay(seconds(0.5)), say("a")), (Delay(seconds(0.6)), say("b")))), say("after"),
        inputs={"signal 2": on_from(20)},
    )  # fmt: skip
    assert (result.status, result.printed) == ("done", ("reacted", "body ends", "a", "b", "after"))
    assert result.duration == pytest.approx(1.2)


@pytest.mark.parametrize("interrupts", [False, True])
def test_moves_of_branches_end_or_brake_before_the_body_of_a_watch(interrupts):
    move = by(0, 0, -4)
    result = ran(
        react(by(0, 1, 0), say("body"), interrupts=interrupts), Parallel(((move, say("a")),)),
        inputs={"signal 2": on_from(20)},
    )  # fmt: skip
    assert (result.status, result.printed) == ("done", ("body", "a"))
    depth = result.poses("arm.tool")[-1, 2, 3] - result.poses("arm.tool")[0, 2, 3]
    assert depth == pytest.approx(-4 * 0.0254, abs=1e-6) if not interrupts else -0.08 < depth < -0.02


@pytest.mark.parametrize("own", [False, True])
def test_an_event_that_is_signalled_while_a_body_runs_is_not_lost(own):
    watch = react(say("reacted"), Delay(seconds(1.0)))
    waits = (watch, WaitEvent("e"), say("got")) if own else (WaitEvent("e"), say("got"))
    signals = (Delay(seconds(0.5)), SignalEvent("e"))
    before = (Declare(EVENT, ("e",)),) if own else (Declare(EVENT, ("e",)), watch)
    result = ran(*before, Parallel((waits, signals)), say("after"), inputs={"signal 2": on_from(20)})
    assert (result.status, result.printed) == ("done", ("reacted", "got", "after"))


# --- variables of procedures ------------------------------------------------------------------------------------------


def test_branches_in_a_procedure_have_its_variables():
    f = Procedure("f", (Parameter("x"),), (
        Parallel(((put("x", plus("x")), say(Name("x"))), (Delay(seconds(0.1)), say(Name("x"))))), say(Name("x")),
    ))  # fmt: skip
    result = ran(put("x", 1), f, CallProcedure("f", (number(7),)), say(Name("x")))
    assert (result.status, result.printed) == ("done", ("8", "8", "8", "1"))


def test_the_body_of_a_guard_that_does_not_stop_has_the_variables_of_its_procedure():
    guard = Guard(line(2), (say(Name("x")),), False)
    f = Procedure("f", (Parameter("x"),), (by(0, 0, -2, guards=(guard,)),))
    assert ran(f, CallProcedure("f", (number(7),)), inputs={"signal 2": on_from(20)}).printed == ("7",)


def test_a_watch_of_the_main_program_means_variables_of_the_main_program():
    f = Procedure("f", (Parameter("x"),), (by(0, 0, -2), say("x in f", Name("x"))))
    reads = Watch("v", Binary(">", Name("x"), number(5)), (say("never"),), interrupts=True)
    result = ran(
        put("x", 1), f, reads, react(put("x", 3), interrupts=True), CallProcedure("f", (number(7),)),
        say("x", Name("x")), inputs={"signal 2": on_from(20)},
    )  # fmt: skip
    assert (result.status, result.printed) == ("done", ("x in f 7", "x 3"))


def test_results_of_procedures_go_to_the_caller():
    twice = Procedure("twice", (Parameter("x"),), (Return(Binary("+", Name("x"), Name("x"))),))
    outer = Procedure("outer", (Parameter("x"),), (Return(Call("twice", (Name("x"),))),))
    assert ran(twice, outer, put("y", Call("outer", (number(4),))), say(Name("y"))).printed == ("8",)


# --- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [Stop(), Abort(Literal("halt"))])
def test_arms_brake_on_their_way_when_a_program_ends(end):
    result = ran(Parallel(((by(0, 0, -4),), (Delay(seconds(0.3)), end))))
    speeds = np.abs(np.diff(result.q["arm"], axis=0)).max(axis=1) / result.period
    assert speeds[-1] < 0.1 * speeds.max()
    places = result.poses("arm.tool")[:, :3, 3]
    np.testing.assert_allclose(places[:, :2], np.tile(places[0, :2], (len(places), 1)), atol=1e-5)


def test_a_driver_that_fails_ends_the_run_and_keeps_what_happened():
    with mock_robot(WORLD, fault="lost", fault_tick=12) as mock, SocketDriver(mock.host, mock.port) as driver:
        result = ran(say("go"), by(0, 0, -2), backend=DriverBackend(driver))
    assert result.status == "failed" and "lost at tick 12" in result.message
    assert result.printed == ("go",) and len(result) == 12 and result.error is not None
    assert result.error.position == (2, 1)
    assert [tick for kind, tick in mock.log if kind == "tick"] == list(range(1, 13))


def test_numbers_that_are_none_end_a_dynamic_run():
    result = ran(say("go"), by(0, 0, -2), backend=DynamicBackend(stiffness=1e6))
    assert result.status == "failed" and "a 'dt' below 0.001 s" in result.message
    assert result.printed == ("go",) and all(np.isfinite(q).all() for q in result.q.values())


def test_forces_of_one_arm_given_from_outside_do_not_hide_those_of_another():
    world = WORLD.add_robot("other", WORLD.robots["arm"].robot, q=WORLD.robots["arm"].q, at=[3, 0, 0])
    guard = Guard(Binary("<", Reading("force", axis="z"), number(-1e9)), ())
    one = ran(by(0, 0, -2, arm="other", guards=(guard,)), world=world, inputs={"arm force z": 0.0})
    assert np.isfinite(one.wrench["other"][1:]).all()


def test_two_threads_cannot_move_one_hand():
    world = puma_world(gripper=True)
    branches = [(MoveHand("arm", False, Quantity(mm, "mm")),) for mm in (10.0, 60.0)]
    result = ran(Parallel(tuple(branches)), world=world)
    assert result.status == "failed" and "'arm.hand' is moving already" in result.message
    again = ran(MoveHand("arm", False, wait=False), MoveHand("arm", True, Quantity(50.0, "mm")), world=world)
    assert again.status == "done" and again.world.robots["arm"].width == pytest.approx(0.05)


def test_the_trace_of_a_run_has_a_limit():
    loop = While(Literal(True), (put("x", 1), Delay(seconds(0.01))))
    result = ran(loop, limit=RunLimits(events=500))
    assert result.status == "limit" and "500 events" in result.message and len(result.trace) < 520


def test_a_part_is_handed_over_when_the_first_hand_opens():
    world = puma_world(gripper=True)
    known = world.robots["arm"]
    world = world.add("pin", cylinder(0.01, 0.05), at=world.pose("arm.tool"))
    world = world.add_robot("b", known.robot, q=known.q, gripper=known.gripper)
    both = Parallel(((MoveHand("arm", False),), (MoveHand("b", False),)))
    closed = ran(both, world=world)
    assert closed.status == "done" and closed.world.holding("arm") == ["pin"] and closed.world.holding("b") == []
    done = ran(both, MoveHand("arm", True), by(0, 0, 1, arm="b"), world=world)
    assert done.status == "done" and done.world.holding("b") == ["pin"] and done.world.holding("arm") == []
    assert done.world.pose("pin")[2, 3] == pytest.approx(world.pose("pin")[2, 3] + 0.0254, abs=1e-6)
