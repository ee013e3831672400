"""Sessions: steps, breakpoints, checkpoints, edited programs, jumps; traces and replays; programs as JSON."""

import json

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import AdjointError, ArgumentError
from adjoint.program.execution import Session, replay, run
from adjoint.program.instructions import (
    Aggregate,
    Assign,
    Attach,
    Delay,
    If,
    Index,
    Literal,
    MoveHand,
    Name,
    Parallel,
    Pause,
    Print,
    Program,
    ProgramError,
    Quantity,
    Reading,
    SetSpeed,
    Signal,
    Source,
    Wait,
    Watch,
    While,
)  # fmt: skip
from adjoint.program.languages.al import parse_al
from adjoint.program.running import Checkpoint, program_from_json, program_to_json, read_trace, write_trace
from tests.support.al_programs import programs
from tests.support.running_programs import (
    Q_UP,
    bolt_world,
    by,
    less,
    number,
    on_force,
    plus,
    program,
    puma_world,
    put,
    seconds,
)  # fmt: skip

WORLD = puma_world(gripper=True)


def same(a, b):
    """Two runs are equal to the last bit."""
    assert (a.status, a.message, a.printed, a.signals) == (b.status, b.message, b.printed, b.signals)
    np.testing.assert_array_equal(a.t, b.t)
    np.testing.assert_array_equal(a.line, b.line)
    for name in a.q:
        np.testing.assert_array_equal(a.q[name], b.q[name])
        np.testing.assert_array_equal(a.width[name], b.width[name])
        np.testing.assert_array_equal(a.wrench[name], b.wrench[name])
    assert a.world == b.world


def joined(first, second):
    """The arrays of a run that was cut in two."""
    np.testing.assert_array_equal(first.t[-1], second.t[0])
    found = {"t": np.concatenate([first.t, second.t[1:]]), "line": np.concatenate([first.line, second.line[1:]])}
    for name in first.q:
        found[name] = np.concatenate([first.q[name], second.q[name][1:]])
        found[f"{name} width"] = np.concatenate([first.width[name], second.width[name][1:]])
    return found


def busy_program():
    """A program with most of what a checkpoint has to keep."""
    return program(
        put("n", 0),
        put("g", Aggregate((number(1), Literal("a"), Literal(True)))),
        Watch("w", Reading("signal", number=number(3)), (put("n", plus("n")), Print((Name("n"),))), once=False),
        SetSpeed(number(0.7), permanent=True),
        MoveHand("arm", False, Quantity(40.0, "mm")),
        by(0, 0, 2, guards=(on_force("z", 50.0),)),
        Parallel(((Delay(seconds(0.3)), put("a", 1)), (by(0, -2, 0), put("b", 2)))),
        While(less("n", 3), (put("n", plus("n")), by(0, 0, -0.5))),
        Wait(Reading("signal", number=number(4))),
        Print((Name("n"), Index(Name("g"), number(2)))),
    )


INPUTS = {
    "signal 3": np.isin(np.arange(400), [20, 21, 95]).astype(float),
    "signal 4": (np.arange(400) > 260).astype(float),
    "force z": 0.0,
}


@pytest.mark.parametrize("tick", [0, 13, 30, 60, 95, 120, 200, 255])
def test_two_halves_are_the_whole(tick):
    p = busy_program()
    whole = run(p, WORLD, inputs=INPUTS, check=False)
    session = Session(p, WORLD, inputs=INPUTS, check=False)
    first = session.go_on(until=tick * 0.01)
    checkpoint = session.checkpoint()
    assert first.t[-1] == pytest.approx(tick * 0.01) and checkpoint.time == first.t[-1]
    again = Checkpoint.from_json(checkpoint.to_json())
    assert again == checkpoint and again.program == p and again.world == session.world
    second = Session.restore(again).go_on()
    found = joined(first, second)
    np.testing.assert_array_equal(found["t"], whole.t)
    np.testing.assert_array_equal(found["line"], whole.line)
    np.testing.assert_array_equal(found["arm"], whole.q["arm"])
    np.testing.assert_array_equal(found["arm width"], whole.width["arm"])
    assert first.printed + second.printed == whole.printed and second.status == "done"
    assert second.world == whole.world and second.variables == whole.variables
    # The session itself is not disturbed by its checkpoint.
    same(session.go_on(), whole)


def test_dynamic_runs_go_on_from_checkpoints():
    p = program(by(0, 0, 1), by(0, -1, 0))
    whole = run(p, WORLD, backend="dynamic", check=False)
    session = Session(p, WORLD, backend="dynamic", check=False)
    session.go_on(until=0.2)
    text = session.checkpoint().to_json()
    second = Session.restore(Checkpoint.from_json(text)).go_on()
    np.testing.assert_allclose(second.q["arm"], whole.q["arm"][20:], atol=1e-12)


def test_steps_show_every_statement():
    p = program(put("i", 0), While(less("i", 2), (put("i", plus("i")),)), by(0, 0, 1))
    session = Session(p, WORLD, check=False)
    lines, values = [], []
    while session.status == "running":
        lines.append(session.line)
        values.append(session.variables.get("i"))
        session.step()
    assert session.status == "done" and session.statement is None and session.line == 0
    assert values == [None, 0, 0, 1, 1, 2, 2] and lines[0] == 1 and lines[-1] == 3
    assert session.time > 0


def test_breakpoints_and_pauses():
    p = program(put("i", 0), put("i", 1), by(0, 0, 1), Pause("wait"), put("i", 2))
    session = Session(p, WORLD, check=False, breakpoints=[2, 3])
    assert session.go_on().status == "paused" and session.line == 2 and session.variables == {"i": 0}
    session.go_on()
    assert session.line == 3 and session.variables == {"i": 1} and session.time == 0
    session.breakpoints.clear()
    session.go_on(until=0.1)
    assert session.time == pytest.approx(0.1) and session.line == 3
    session.go_on()
    assert session.status == "paused" and session.result.message == "wait" and session.variables["i"] == 1
    assert session.go_on().status == "done" and session.variables["i"] == 2
    assert session.go_on().status == "done"  # nothing more happens


def test_edited_programs_go_on():
    before = program(put("i", 1), by(0, 0, 1), Print((Literal("old"),)))
    session = Session(before, WORLD, check=False)
    session.go_on(until=0.1)
    kept = session.checkpoint()
    after = program(put("new", 5), put("i", 1), by(0, 0, 1), put("i", 3), Print((Name("i"), Literal("new"))))
    found = Session.restore(kept, after).go_on()
    assert found.printed == ("3 new",) and found.status == "done" and "new" not in found.variables
    np.testing.assert_array_equal(found.q["arm"][-1], run(before, WORLD, check=False).q["arm"][-1])
    with pytest.raises(ProgramError, match="no Move of line 2"):
        Session.restore(kept, program(put("i", 1), by(0, 0, 2)))
    stopped = Session(program(put("i", 1), Pause(), put("i", 2)), WORLD, check=False)
    stopped.go_on()
    edited = program(put("i", 1), Pause(), put("i", 7))
    assert Session.restore(stopped.checkpoint(), edited).go_on().variables == {"i": 7}


def test_jumps():
    p = program(put("i", 0), put("i", plus("i")), by(0, 0, 1), Print((Name("i"),)))
    session = Session(p, WORLD, check=False)
    session.go_on(until=0.1)
    session.jump(2)
    assert session.line == 2
    result = session.go_on()
    assert result.printed == ("2",) and session.status == "done"
    session.jump(p.statements[3])
    assert session.go_on().printed == ("2", "2")
    with pytest.raises(ArgumentError, match="begins on line 9"):
        session.jump(9)


def test_tasks_can_be_stepped_into_a_checkpoint_of_json():
    session = Session(busy_program(), WORLD, inputs=INPUTS, check=False)
    session.go_on(until=0.5)
    data = json.loads(session.checkpoint().to_json())
    assert data["checkpoint"] == 1 and {"program", "world", "variables", "threads", "tick"} <= set(data)
    assert data["tick"] == 50


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"checkpoint": 2}', "nonsense", "[" * 100_000])
def test_damaged_checkpoints_are_refused(text):
    with pytest.raises(ArgumentError, match=r"Checkpoint\.from_json"):
        Checkpoint.from_json(text)


def test_hostile_checkpoints_are_refused():
    session = Session(busy_program(), WORLD, inputs=INPUTS, check=False)
    session.go_on(until=0.5)
    data = session.checkpoint().data
    rng = np.random.default_rng(5)
    for key in data:
        for bad in (None, 3, "x", [], {}, [[]], {"a": 1}, [None, None, None]):
            if data[key] == bad:
                continue
            broken = json.dumps({**data, key: bad})
            try:
                Session.restore(Checkpoint.from_json(broken)).go_on(until=float(rng.uniform(0.5, 0.7)))
            except AdjointError:
                continue


# --- traces -----------------------------------------------------------------------------------------------------------


def test_replay_is_equal(tmp_path):
    p = busy_program()
    inputs = {**INPUTS, "signal 4": lambda t: t > 2.6, "force z": lambda t: 0.1 * np.sin(t)}
    first = run(p, WORLD, inputs=inputs, noise={"force z": 0.5}, rng=7, check=False)
    write_trace(first, tmp_path / "run.jsonl")
    first.to_jsonl(tmp_path / "again.jsonl")
    assert (tmp_path / "run.jsonl").read_text() == (tmp_path / "again.jsonl").read_text()
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert lines[0]["backend"] == "kinematic" and lines[1]["kind"] == "start" and lines[1]["line"] == 1
    trace = read_trace(tmp_path / "run.jsonl")
    assert [e[:5] for e in trace.events] == [e[:5] for e in first.trace]
    for source in (first, trace, tmp_path / "run.jsonl"):
        found = replay(source, p, WORLD)
        assert found.equal and not found.difference
        same(found.run, first)


def test_replay_names_the_first_difference():
    p = program(put("i", 0), by(0, 0, 1), Print((Name("i"),)))
    first = run(p, WORLD, check=False)
    other = replay(first, program(put("i", 1), by(0, 0, 1), Print((Name("i"),))), WORLD)
    assert not other.equal and "line 1, set: 'data' was {'i': 0.0} and is {'i': 1.0}" in other.difference
    longer = replay(first, program(put("i", 0), by(0, 0, 1.001), Print((Name("i"),))), WORLD)
    assert "line 2, end Move" in longer.difference
    more = replay(first, program(put("i", 0), by(0, 0, 1), Print((Name("i"),)), put("j", 1)), WORLD)
    assert "done" in more.difference
    moved = replay(first, p, WORLD.add("extra", at=[1, 1, 1]))
    assert not moved.equal and "world" in moved.difference


def test_traces_have_what_sensors_said():
    read = run(program(put("f", Reading("force", axis="z")), If(Reading("signal", number=number(2)), ())), WORLD,
               inputs={"force z": 3.0, "signal 2": 1}, check=False)  # fmt: skip
    found = [e.data for e in read.trace if e.kind == "read"]
    assert found == [{"force z": 3.0}, {"signal 2": True}]
    guarded = run(program(by(0, 0, 2, guards=(on_force("z", 1.0),)), Signal(number(3))), WORLD, check=False,
                  inputs={"force z": 2.0})  # fmt: skip
    guard = next(e for e in guarded.trace if e.kind == "guard")
    assert guard.data["guard"] == 1 and len(guard.data["arm joints"]) == 6 and guard.line == 1


@pytest.mark.parametrize("text", ["", "x", '{"trace": 1}', '{"trace": 1}\n{"tick": 1}\n{"inputs": {}}', "[]\n[]"])
def test_damaged_traces_are_refused(tmp_path, text):
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(ArgumentError, match="read_trace"):
        read_trace(tmp_path / "bad.jsonl")


def test_worlds_at_all_times():
    w = WORLD.add("pin", aj.world.cylinder(0.01, 0.06), at=WORLD.pose("arm.tool"))
    result = run(program(MoveHand("arm", False), by(0, 0, 2), Attach("spot", "world")), w.add("spot"), check=False)
    assert result.status == "done" and result.moved == ("pin",)
    T = result.poses("pin")
    for k in (0, 30, 60, len(result) - 1):
        now = result.world_at(float(result.t[k]))
        np.testing.assert_allclose(now.pose("pin"), T[k], atol=1e-12)
        np.testing.assert_array_equal(now.robots["arm"].q, result.q["arm"][k])
    with pytest.raises(ArgumentError, match="lasts from 0"):
        result.world_at(99.0)
    with pytest.raises(ArgumentError, match="no frame 'nobody'"):
        result.poses("nobody")


# --- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(programs()))
def test_programs_as_json(name):
    p = parse_al(Source(programs()[name], name))
    again = program_from_json(program_to_json(p))
    assert again == p and again.source == p.source and again.language == "al"
    spans = [(s.at, t.at) for s, t in zip(p.statements, again.statements, strict=True)]
    assert all(a == b for a, b in spans)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "nonsense", '{"name": "", "language": "al", "source": null, "statements": [{"is": "Program"}]}',
     '{"name": "", "language": "al", "source": null, "statements": [{"is": "Delay"}]}',
     '{"name": "", "language": "al", "source": null, "statements": [{"is": "Label", "name": "a", "bad": 1}]}',
     '{"name": "", "language": "al", "source": 3, "statements": []}', "[" * 100_000],
)  # fmt: skip
def test_damaged_programs_are_refused(text):
    with pytest.raises(ArgumentError, match="program_from_json"):
        program_from_json(text)


def test_a_run_that_felt_the_world():
    """Forces of contact are asked for only where a program reads them."""
    w = bolt_world()
    result = run(Program((Assign(Name("x"), Reading("width")),)), w)
    assert result.variables["x"] == pytest.approx(2 * 0.0254) and np.isnan(result.wrench["barm"]).all()
    assert np.shape(Q_UP) == (6,)


# --- steps over procedures, and jumps into what has begun -------------------------------------------------------------


def calling():
    """A program whose procedure has two statements on lines of their own, like a parsed text."""
    lines = ['BEGIN "p"', "SCALAR x;", "PROCEDURE f(SCALAR y);", "BEGIN", "x := y;", "x := x + 1;", "END;"]
    text = "\n".join([*lines, "x := 0;", "f(3);", "x := x * 2;", "END;"])
    return parse_al(Source(text, "p"))


def test_steps_go_into_procedures_or_over_them():
    lines = {}
    for over in (False, True):
        session, lines[over] = Session(calling(), aj.world.World(), check=False), []
        while session.step(over).status == "paused":
            lines[over].append(session.line)
    assert lines[False][-3:] == [5, 6, 10] and lines[True][-2:] == [9, 10]
    stopped = Session(calling(), aj.world.World(), check=False, breakpoints=[6])
    while stopped.line != 9:
        stopped.step(over=True)
    stopped.step(over=True)
    assert stopped.line == 6


def test_jumps_stay_in_what_has_begun():
    session = Session(calling(), aj.world.World(), check=False, breakpoints=[6])
    with pytest.raises(ArgumentError, match="has not begun"):
        session.jump(5)
    session.go_on()
    session.jump(5)
    assert session.line == 5
    assert session.go_on().variables["x"] == 3.0 and session.line == 6
    assert session.go_on().variables["x"] == 8.0
    guarded = program(by(0, 0, -2, guards=(on_force("z", 1.0, Delay(seconds(1.0))),)))
    with pytest.raises(ArgumentError, match="has not begun"):
        Session(guarded, WORLD, check=False).jump(Delay(seconds(1.0)))


def test_arms_brake_before_a_jump_and_errors_are_forgotten():
    session = Session(program(by(0, 0, -4), put("n", 1), Print((Name("none"),))), WORLD, check=False)
    session.go_on(until=0.25)
    session.jump(2)
    q = session.result.q["arm"]
    assert len(q) > 28 and np.abs(q[-1] - q[-2]).max() < 0.2 * np.abs(np.diff(q, axis=0)).max()
    assert session.go_on().status == "failed" and session.result.error is not None
    session.jump(2)
    assert session.result.error is None


# --- hostile checkpoints ----------------------------------------------------------------------------------------------


def _places(data, path=()):
    """The paths of all values inside of JSON, but for long rows of numbers."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data[:8]) if isinstance(data, list) else ()
    for k, x in pairs:
        yield (*path, k)
        yield from _places(x, (*path, k))


@pytest.mark.slow
@pytest.mark.parametrize("until", [0.3, 0.95, 1.1])
def test_whatever_is_in_a_checkpoint_it_runs_or_is_refused(until):
    session = Session(busy_program(), WORLD, inputs=INPUTS, check=False)
    session.go_on(until=until)
    good = json.loads(session.checkpoint().to_json())
    places = [p for p in _places(good) if p[0] != "world"]
    junk = [None, -1, 10**400, 1e308, float("nan"), "x", [], {}, True, [[]], 1.5, -(10**9), "arm", 10**9]
    rng = np.random.default_rng(7)
    for k in rng.permutation(len(places))[:150]:
        data, path = json.loads(json.dumps(good)), places[k]
        inside = data
        for key in path[:-1]:
            inside = inside[key]
        if rng.random() < 0.2:
            del inside[path[-1]]
        else:
            inside[path[-1]] = junk[rng.integers(len(junk))]
        try:
            again = Session.restore(Checkpoint.from_json(json.dumps(data)), limit=800)
            result = again.go_on()
        except AdjointError:
            continue
        assert all(np.isfinite(q).all() for q in result.q.values()), path


def test_speeds_without_measure_and_signals_without_number_are_no_crash():
    fast = run(program(SetSpeed(number(1e308)), by(0, 0, -1)), WORLD, check=False)
    assert fast.status == "done" and len(fast) == 2
    assert run(program(Wait(Reading("signal"))), WORLD, check=False).status == "failed"
