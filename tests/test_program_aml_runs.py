"""Programs in AML that run: W4's numbers, frames of Tables 9.2 and 9.3, monitors, pallets, and the tower of Hanoi."""

from pathlib import Path

import numpy as np
import pytest

from adjoint.lie import so3
from adjoint.program.instructions import Source
from adjoint.program.languages.aml import parse_aml
from adjoint.program.meaning import evaluate
from adjoint.world import INCH
from tests.support.aml_cells import UNITS, cell, inches, ran

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"


def example(name, **options):
    return ran((EXAMPLES / f"{name}.aml").read_text(encoding="utf-8"), **options)


def value(text):
    """The value of an expression of AML."""
    (statement,) = parse_aml(Source(f"x = {text};")).statements
    return evaluate(statement.value)  # type: ignore[attr-defined]


def close(actual, expected, atol=1e-9):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


# --- moves ------------------------------------------------------------------------------------------------------------


def test_moves_are_absolute_or_relative():
    first = ran("MOVE(<1, 4>, <10, 20>);")
    assert first.status == "done"
    close(inches(first), [10, 0, 0, 20, 0, 0])
    second = ran("DMOVE(<1, 3, 6>, <1, 2, 5>);", first.world)
    close(inches(second), [11, 0, 2, 20, 0, 5])


@pytest.mark.parametrize(
    "distance, v, a, d", [(10, 1, 1, 1), (10, 2, 1, 4), (3, 1.5, 2, 2), (1, 5, 1, 1), (1, 10, 4, 1)]
)
def test_how_long_a_move_lasts(distance, v, a, d):
    """A trapezoid: d/v + v/2 (1/a + 1/d), which is d/v + v/a for equal rates; a triangle if v is not reached."""
    peak = min(v, np.sqrt(2 * distance / (1 / a + 1 / d)))
    expected = distance / peak + peak / 2 * (1 / a + 1 / d)
    run = ran(f"MOVE(<1>, <{distance}>, <{v}, {a}, {d}>);")
    assert expected - 1e-9 <= run.duration <= expected + 0.0101
    speed = np.diff(run.q["arm"][:, 0] / INCH) / 0.01
    assert speed.max() <= v * (1 + 1e-6) and abs(inches(run)[0] - distance) < 1e-9


def test_ten_inches_at_one_inch_per_second_last_eleven_seconds():
    assert ran("MOVE(<1>, <10>, <1, 1, 1>);").duration == pytest.approx(11.0, abs=1e-9)


def test_positions_are_read_in_inches_and_degrees():
    run = ran(
        "MOVE(<1, 4>, <10, 20>); p = QPOSITION(<1, 4>); z = QPOSITION(3); MOVE(GRIPPER, 2.5); w = QPOSITION(GRIPPER);"
    )
    close(run.variables["p"], [10, 20])
    close([run.variables["z"], run.variables["w"]], [0, 2.5])


def test_fingers_open_and_close_to_an_opening():
    run = ran("MOVE(GRIPPER, 3); DMOVE(GRIPPER, -1.25);")
    assert run.status == "done"
    assert run.world.robots["arm"].width == pytest.approx(1.75 * INCH)


# --- monitors ---------------------------------------------------------------------------------------------------------

GUARDED = "m = MONITOR(<SLP, SRP>, 1, 0, 10); DMOVE(<3>, <1>, <1, 1, 1>, m); hit = QMONITOR(m);"


@pytest.mark.parametrize("sensor", ["SLP", "SRP"])
@pytest.mark.parametrize("reading", [12.0, -0.5])
@pytest.mark.parametrize("at", [0.35, 0.9])
def test_a_monitor_stops_at_the_first_tick_outside_of_its_range(sensor, reading, at):
    inputs = {"SLP": 5.0, "SRP": 0.0, sensor: lambda t: np.where(np.asarray(t) > at + 1e-9, reading, 0.0)}
    run = ran(GUARDED, inputs=inputs)
    free = ran(GUARDED, inputs={"SLP": 0.0, "SRP": 10.0})
    (event,) = [e for e in run.trace if e.kind == "monitor"]
    assert event.tick == round(at / 0.01) + 1
    # Up to that tick the motion is the free one, and then the arm brakes.
    np.testing.assert_array_equal(run.q["arm"][: event.tick + 1], free.q["arm"][: event.tick + 1])
    assert run.variables["hit"] == 1 and free.variables["hit"] == 0
    assert inches(run)[2] < inches(free)[2] == pytest.approx(1.0)
    assert len(run.t) < len(free.t)


def test_a_monitor_is_asked_afresh_by_every_move():
    text = GUARDED + " DMOVE(<3>, <0.2>, <1, 1, 1>, m); again = QMONITOR(m);"
    run = ran(text, inputs={"SLP": lambda t: np.where(np.abs(np.asarray(t) - 0.5) < 0.05, 12.0, 0.0), "SRP": 0.0})
    assert run.variables["hit"] == 1
    assert run.variables["again"] in (0, 1)
    later = ran(
        GUARDED + " DELAY(1); DMOVE(<3>, <0.2>, <1, 1, 1>, m); again = QMONITOR(m);",
        inputs={"SLP": lambda t: np.where(np.abs(np.asarray(t) - 0.5) < 0.05, 12.0, 0.0), "SRP": 0.0},
    )
    assert (later.variables["hit"], later.variables["again"]) == (1, 0)


def test_a_monitor_stops_the_fingers():
    text = (
        "MOVE(GRIPPER, 4); m = MONITOR(SLP, 1, 0, 10); MOVE(GRIPPER, 0, m); hit = QMONITOR(m); w = QPOSITION(GRIPPER);"
    )
    free = ran(text, inputs={"SLP": 0.0})
    assert free.variables["hit"] == 0 and free.variables["w"] == pytest.approx(0)
    open_at = float(np.argmax(free.width["arm"] >= 4 * INCH - 1e-9)) * 0.01
    run = ran(text, inputs={"SLP": lambda t: np.where(np.asarray(t) > open_at + 0.1, 20.0, 0.0)})
    assert run.variables["hit"] == 1 and 0.1 < run.variables["w"] < 3.9


def test_a_line_stops_a_move():
    text = "m = MONITOR(<3>, 1, 0, 0); DMOVE(<1>, <20>, <5, 9, 9>, m); IF SENSIO(3) = 1 THEN DISPLAY('there');"
    run = ran(text, inputs={"signal 3": lambda t: np.asarray(t) > 1.0})
    assert run.printed == ("there",) and inches(run)[0] < 10


def test_guarded_moves():
    met = example("guarded", inputs={"SLP": lambda t: np.where(np.asarray(t) > 2.5, 20.0, 0.0), "SRP": 0.0})
    assert met.status == "done" and met.printed[0].startswith("met something at")
    missed = example("guarded", inputs={"SLP": 0.0, "SRP": 0.0})
    assert (missed.status, inches(missed)[2]) == ("aborted", pytest.approx(6.0))
    assert "nothing there" in missed.message


# --- frames -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slot, turn", list(enumerate([so3.rotation_x, so3.rotation_y, so3.rotation_z])))
def test_one_angle_of_eulerrot(slot, turn):
    angles = [0.0] * 3
    angles[slot] = 65.0
    close(value(f"EULERROT(<{', '.join(map(str, angles))}>)"), turn(np.radians(65.0)), 1e-15)


def test_eulerrot_turns_about_fixed_axes_x_then_y_then_z():
    """The book does not determine the order; this is the one that is documented here."""
    a, b, c = np.radians([20.0, 30.0, 40.0])
    close(value("EULERROT(<20, 30, 40>)"), so3.rotation_z(c) @ so3.rotation_y(b) @ so3.rotation_x(a), 1e-15)


FLIPPED, TURNED = np.diag([1.0, -1, -1]), np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
FRAMES = {
    "base": ((20, 0, 15), np.eye(3)),
    "beam": ((20, 15, 0), TURNED),
    "feeder": ((25, 20, 0), np.eye(3)),
    "T6": ((35, 0, 15), FLIPPED),
    "E": ((35, 0, 10), FLIPPED),
    "bolt_tip": ((25, 20, 0), np.eye(3)),
    "bolt_grasp": ((25, 20, 1), np.eye(3)),
    "beam_bore": ((18, 15, 3), TURNED),
    "grasp": ((4, 6, 0), so3.rotation_y(np.radians(65.0))),
}


def test_frames_of_tables_9_2_and_9_3():
    found = example("frames").variables
    for name, (p, R) in FRAMES.items():
        frame = found[name]
        position, rotation = (frame[:3, 3], frame[:3, :3]) if isinstance(frame, np.ndarray) else frame
        close(position, p, 1e-12)
        close(rotation, R, 1e-12)


def test_arithmetic_goes_element_by_element():
    assert value("<1, 2, 3> + <10, 20, 30>") == (11, 22, 33)
    assert value("2 * <1, <2, 3>>") == (2, (4, 6))
    assert value("-<1, 2>") == (-1, -2)
    assert value("<<1, 2>, <3, 4>>(2)(1)") == 3
    assert value("(<1, 2> = <1, 2>) AND NOT (<1, 2> = <1, 3>)") is True
    assert value("SIN(30) + ATAN2(1, 1) + 7 MOD 4") == pytest.approx(0.5 + 45 + 3)


# --- whole programs ---------------------------------------------------------------------------------------------------


def test_nine_parts_go_into_nine_bins():
    run = example("pallet")
    assert run.status == "done" and run.variables["n"] == 9
    assert [(line, on) for _, line, on in run.signals] == [(1, True)]
    assert run.printed == ("the tray is full: 9 parts",)
    q, width = run.q["arm"] / UNITS, run.width["arm"] / INCH
    low = np.flatnonzero((np.abs(q[1:, 2] - 1) < 1e-9) & (np.abs(width[1:] - 2) < 1e-9) & (width[:-1] < 2 - 1e-9)) + 1
    bins = [tuple(q[k, :2].round(6)) for k in low if q[k, 0] > 6]
    assert bins == [(12 + 2.4 * i, 6 + 1.6 * j) for j in range(3) for i in range(3)]


def test_the_tower_of_hanoi():
    run = example("hanoi")
    assert run.status == "done" and run.variables["stack"] == (0, 0, 2)
    assert run.variables["moves"] == 3
    five = (EXAMPLES / "hanoi.aml").read_text(encoding="utf-8").replace("<2, 0, 0>", "<5, 0, 0>")
    assert ran(five.replace("hanoi(2,", "hanoi(5,").replace("travel = 5", "travel = 7")).variables["moves"] == 31


def test_where_a_joint_cannot_go():
    run = ran("x = 1;\nMOVE(<1>, <90>);")
    assert run.status == "failed" and run.error is not None
    assert run.error.position is not None and run.error.position.line == 2
    assert ran("MOVE(<7>, <1>);").status == "failed"


@pytest.mark.slow
def test_a_loop_without_end_is_stopped():
    assert ran("WHILE TRUE DO x = 1;", cell()).status == "limit"
