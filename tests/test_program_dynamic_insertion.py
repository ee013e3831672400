"""The book's AL insertion program in dynamics: a bolt in a bore, no bolt, no hole (W3 of the fixtures)."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import adjoint as aj
from adjoint.program.running.driver import DriverBackend
from adjoint.program.running.driver_mocks import mock_robot
from adjoint.program.running.driver_records import RecordedDriver, RecordingDriver
from adjoint.program.running.driver_sockets import SocketDriver
from adjoint.program.running.dynamic import DynamicBackend
from adjoint.world import INCH, OZF

TEXT = (Path(__file__).parents[1] / "examples" / "programs" / "insertion.al").read_text(encoding="utf-8")
PROGRAM = aj.program.parse(TEXT, "al")


def line_of(words):
    return next(k for k, line in enumerate(TEXT.splitlines(), 1) if words in line)


@lru_cache(maxsize=8)
def ran(bolt=True, bore=True, **cell):
    world = aj.program.insertion_world(bolt=bolt, bore=bore, **cell)
    return aj.program.run(PROGRAM, world, backend="dynamic")


def widths(run):
    """The widths [in] at which the hand turned round, or came to rest."""
    way = np.sign(np.diff(run.width["puma"], append=run.width["puma"][-1]))
    turns = np.flatnonzero((way[:-1] != 0) & (way[1:] != way[:-1])) + 1
    return run.width["puma"][turns] / INCH


@pytest.mark.slow
def test_the_bolt_gets_into_the_bore():
    run = ran()
    assert (run.status, run.message) == ("done", "")
    T = run.world.pose("bolt")
    np.testing.assert_allclose(T[:3, 3] / INCH, [20, 15, 1], atol=2e-3)
    assert T[2, 2] > np.cos(1e-3)  # upright
    np.testing.assert_allclose(widths(run), [1.5, 0.5], atol=1e-6)
    assert run.world.holding("puma")


@pytest.mark.slow
def test_it_presses_with_ten_ounces_and_gives_way_sideways():
    run = ran()
    pressing = run.line == line_of("MOVE bolt_tip TO beam_bore")
    assert abs(pressing.sum() * run.period - 5.0) < 0.05
    f = run.wrench["puma"][pressing, 3:] / OZF
    late = f[-200:]
    np.testing.assert_allclose(late[:, 2], 10.0, rtol=0.02)
    np.testing.assert_allclose(late[:, :2], 0.0, atol=0.2)
    before = run.line < line_of("MOVE bolt_tip TO beam_bore")
    assert np.nanmax(np.abs(run.wrench["puma"][before])) < 0.1  # nothing is touched on the way


@pytest.mark.slow
def test_a_bore_that_is_a_little_off_is_found_by_giving_way():
    run = ran(shift=(0.006, -0.005))  # the clearance is 0.01 in
    assert run.status == "done"
    tip = run.world.pose("bolt")[:3, 3] / INCH
    assert abs(tip[2] - 1) < 2e-3 and np.hypot(tip[0] - 20.006, tip[1] - 14.995) < 0.0105


@pytest.mark.slow
def test_without_a_bolt_it_fails_to_grasp():
    run = ran(bolt=False)
    assert (run.status, run.message) == ("aborted", "failed to grasp bolt")
    np.testing.assert_allclose(widths(run), [1.5, 0.45, 1.5, 0.45, 1.5, 0.45, 1.5, 0.45, 1.5], atol=1e-6)
    assert not run.world.holding("puma") and run.variables["tries"] == 4


@pytest.mark.slow
def test_without_a_bore_there_is_no_hole():
    run = ran(bore=False)
    assert (run.status, run.message) == ("aborted", "No hole")
    feeling = run.line == line_of("ON FORCE(Z) > 10*ounces")
    f = run.wrench["puma"][feeling, 5] / OZF
    assert f.max() > 10 and feeling.sum() < 40
    tip = run.world.pose("bolt")[:3, 3] / INCH
    assert 1.9 < tip[2] < 1.96 and np.abs(tip[:2] - [20, 15]).max() < 5e-3


@pytest.mark.slow
def test_the_same_run_is_the_same_to_the_last_bit():
    again = aj.program.run(PROGRAM, aj.program.insertion_world(), backend=DynamicBackend())
    assert again.world == ran().world and np.array_equal(again.q["puma"], ran().q["puma"])
    assert aj.program.replay(ran(), PROGRAM, aj.program.insertion_world()).equal


@pytest.mark.slow
def test_a_session_goes_on_from_a_checkpoint_in_the_middle():
    session = aj.program.Session(PROGRAM, aj.program.insertion_world(), backend="dynamic")
    session.breakpoints.add(line_of("MOVE bolt_tip TO D"))
    assert session.go_on().status == "paused"
    kept = aj.program.Checkpoint.from_json(session.checkpoint().to_json())
    end = aj.program.Session.restore(kept, backend="dynamic").go_on()
    assert end.status == "done" and end.world == ran().world


@pytest.mark.slow
def test_it_runs_on_a_robot_behind_a_socket(tmp_path):
    world = aj.program.insertion_world()
    with mock_robot(world, stops={"puma": 0.5 * INCH}) as mock:
        driver = RecordingDriver(SocketDriver(mock.host, mock.port, timeout=5.0), tmp_path / "run.jsonl")
        run = aj.program.run(PROGRAM, world, backend=DriverBackend(driver))
    assert run.status == "done" and run.world.holding("puma")
    np.testing.assert_allclose(run.world.pose("bolt")[:3, 3] / INCH, [20, 15, 1], atol=1e-3)
    again = aj.program.run(PROGRAM, world, backend=DriverBackend(RecordedDriver(tmp_path / "run.jsonl")))
    assert again.world == run.world
    with mock_robot(world, fault="lost", fault_tick=200) as mock:
        lost = aj.program.run(PROGRAM, world, backend=DriverBackend(SocketDriver(mock.host, mock.port)))
    assert lost.status == "failed" and "lost at tick 200" in lost.message and len(lost) == 200 and mock.halted
