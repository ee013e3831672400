"""Programs on robots behind a driver: a mock over a socket, faults of all kinds, records and their replay."""

import contextlib
import json
import socket
import threading
import time

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.program.running.backends import ArmMotion, Compliance, HandMotion
from adjoint.program.running.driver import DriverBackend
from adjoint.program.running.driver_messages import (
    MOST_BYTES,
    DriverError,
    DriverReading,
    SetPoint,
    line_of,
    message_of,
    reading_data,
    reading_of,
    set_point_data,
    set_points_of,
)
from adjoint.program.running.driver_mocks import mock_robot
from adjoint.program.running.driver_records import RecordedDriver, RecordingDriver
from adjoint.program.running.driver_sockets import SocketDriver
from adjoint.world import Gripper, World, cylinder

Q = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
PERIOD = 0.01


def cell():
    hand = Gripper(opening=0.05, depth=0.05, breadth=0.02, T_tool_grip=np.eye(4))
    return World().add_robot("arm", aj.robots.puma560(), q=Q, gripper=hand, width=0.04)


def way(by=0.1, ticks=20):
    s = np.linspace(0, 1, ticks + 1)[1:, None]
    q = Q + by * (3 * s**2 - 2 * s**3)
    return ArmMotion("arm", q, np.gradient(q, PERIOD, axis=0))


def run(backend, world, motions, ticks, state=None):
    """Ticks of what motions make happen, as the machine does: the world and the state."""
    state = backend.start(world, PERIOD) if state is None else state
    left = dict(motions)
    for _ in range(ticks):
        ahead = backend.ahead(world, state, left, 1, True)
        assert ahead.ticks == 1
        world, state = backend.commit(world, state, ahead, 1)
        for key, motion in list(left.items()):
            if isinstance(motion, ArmMotion) and len(motion.q) > 1:
                left[key] = ArmMotion(motion.robot, motion.q[1:], motion.v[1:], motion.compliance)
            if key in ahead.ended:
                del left[key]
    return world, state, left


def connected(mock, **options):
    return DriverBackend(SocketDriver(mock.host, mock.port, timeout=options.pop("timeout", 0.5)), **options)


def test_a_motion_over_the_socket_ends_where_it_was_planned():
    with mock_robot(
        cell(), wrench=lambda tick, name: [0, 0, 0, 0, 0, tick], readings=lambda t: {"signal 3": t}
    ) as mock:
        backend = connected(mock)
        world, state, left = run(backend, cell(), {"arm": way()}, 20)
        assert not left and mock.host == "127.0.0.1" and mock.log[-1] == ("tick", 20)
        np.testing.assert_array_equal(world.robots["arm"].q, way().q[-1])
        ahead = backend.ahead(world, state, {}, 1, True)
        assert ahead.wrench["arm"][0, 5] == 20 and ahead.readings["signal 3"][0] == 20
        stop = backend.brake(world, state, "arm", PERIOD)
        assert stop.robot == "arm" and not stop.v[-1].any()


def test_looking_ahead_sends_nothing():
    with mock_robot(cell()) as mock:
        backend = connected(mock)
        state = backend.start(cell(), PERIOD)
        for _ in range(3):
            backend.ahead(cell(), state, {"arm": way()}, 1, True)
        assert mock.log == [("begin", 0)]


def test_a_hand_that_is_stopped_by_a_part_holds_it():
    w = cell()
    w = w.add("pin", cylinder(0.006, 0.04), at=w.pose("arm.tool"))
    with mock_robot(w, stops={"arm": 0.012}, finger_speed=0.2) as mock:
        backend = connected(mock)
        held, state, left = run(backend, w, {"arm.hand": HandMotion("arm", 0.005, False)}, 22)
        assert not left and held.holding("arm") == ["pin"] and abs(held.robots["arm"].width - 0.012) < 1e-9
        free, _, left = run(backend, held, {"arm.hand": HandMotion("arm", 0.02, True)}, 8, state)
        assert not left and not free.holding("arm") and abs(free.robots["arm"].width - 0.02) < 1e-9
    with mock_robot(cell(), finger_speed=0.2) as mock:
        world, _, left = run(connected(mock), cell(), {"arm.hand": HandMotion("arm", 0.005, False)}, 22)
        assert not left and not world.holding("arm") and world.robots["arm"].width == 0.005


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("late", "not answered within"),
        ("lost", "connection to the robot is lost"),
        ("garbage", "no JSON"),
        ("oversized", "more than"),
        ("other tick", "not 'reading' of tick 3"),
        ("fault", "too hot"),
        ("nan", "NaN is no number"),
        ("other version", "version 99"),
    ],
)
def test_faults_are_clear_errors_and_the_robot_stops(fault, message):
    with mock_robot(cell(), fault=fault, fault_tick=3) as mock:
        backend = connected(mock, timeout=0.15)
        with pytest.raises(DriverError, match=message):
            run(backend, cell(), {"arm": way()}, 20)
        assert backend.driver.line is None  # type: ignore[attr-defined]
        np.testing.assert_array_equal(mock.q["arm"], way().q[2])  # it does not go on
    assert mock.halted


def test_limits_are_checked_before_anything_is_sent():
    with mock_robot(cell()) as mock:
        backend = connected(mock)
        beyond = np.tile(Q, (400, 1))
        beyond[:, 4] += 0.01 * np.arange(1, 401)
        with pytest.raises(DriverError, match=r"joint 5 of robot 'arm' would go to 1\.75.*have been stopped"):
            run(backend, cell(), {"arm": ArmMotion("arm", beyond, np.zeros_like(beyond))}, 400)
        assert mock.log[-1][1] < 110
    with mock_robot(cell()) as mock, pytest.raises(DriverError, match="would move at 10 a second; 3 is allowed"):
        run(connected(mock), cell(), {"arm": ArmMotion("arm", (Q + 0.1)[None], np.zeros((1, 6)))}, 1)
    with mock_robot(cell()) as mock, pytest.raises(DriverError, match="not finite"):
        run(connected(mock), cell(), {"arm": ArmMotion("arm", (Q * np.nan)[None], np.zeros((1, 6)))}, 1)


def test_the_mock_obeys_its_limits_by_itself():
    with mock_robot(cell()) as mock:
        driver = SocketDriver(mock.host, mock.port)
        driver.begin({"arm": 6}, PERIOD)
        with pytest.raises(DriverError, match="cannot go so fast"):
            driver.exchange(1, {"arm": SetPoint(tuple(Q + 1), (0.0,) * 6)})
        driver.begin({"arm": 6}, PERIOD)
        with pytest.raises(DriverError, match="limits of its joints"):
            driver.exchange(1, {"arm": SetPoint((9.0,) * 6, (0.0,) * 6)})
        with pytest.raises(DriverError, match="no connection"):
            driver.exchange(2, {})
        with pytest.raises(DriverError, match="no robot 'leg'"):
            driver.begin({"leg": 6}, PERIOD)


def test_a_robot_that_is_elsewhere_is_refused():
    with mock_robot(cell().set_configuration("arm", Q + 0.3)) as mock, pytest.raises(DriverError, match="not where"):
        connected(mock).start(cell(), PERIOD)


class Stuck:
    """A driver whose robot does not move."""

    halted = False

    def begin(self, joints, period):
        return DriverReading({"arm": tuple(Q)})

    def exchange(self, tick, points):
        return DriverReading({"arm": tuple(Q)})

    def halt(self):
        self.halted = True


def test_a_robot_that_does_not_follow_is_stopped():
    driver = Stuck()
    with pytest.raises(DriverError, match=r"off its set point by 0\.09.* at tick 12"):
        run(DriverBackend(driver, following=0.09), cell(), {"arm": way(0.15)}, 20)
    assert driver.halted


def test_what_was_sent_and_read_is_recorded_and_runs_again(tmp_path):
    path = tmp_path / "run.jsonl"
    compliance = Compliance(np.eye(3), np.arange(6.0), np.array([0, 0, 0, 0, 0, 1], bool))
    motion = ArmMotion("arm", way().q, way().v, compliance)
    with mock_robot(cell(), wrench=lambda tick, name: [0, 0, 0, 0, 0, np.sin(tick)]) as mock:
        driver = RecordingDriver(SocketDriver(mock.host, mock.port), path)
        once = run(DriverBackend(driver), cell(), {"arm": motion}, 20)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 21 and lines[1]["sent"]["arm"]["wrench"] == list(range(6)) and lines[5]["tick"] == 5
    replayed = RecordedDriver(path)
    again = run(DriverBackend(replayed), cell(), {"arm": motion}, 20)
    assert len(replayed) == 20 and again[0] == once[0] and again[1].reading == once[1].reading
    with pytest.raises(DriverError, match="tick 1 the program sends robot 'arm' elsewhere"):
        run(DriverBackend(RecordedDriver(path)), cell(), {"arm": way(0.101)}, 20)
    with pytest.raises(DriverError, match="ends after 20 ticks"):
        run(DriverBackend(RecordedDriver(path)), cell(), {"arm": motion}, 21)


def test_a_record_of_a_run_that_failed_tells_why(tmp_path):
    path = tmp_path / "run.jsonl"
    with mock_robot(cell(), fault="fault", fault_tick=4) as mock, pytest.raises(DriverError, match="too hot"):
        run(DriverBackend(RecordingDriver(SocketDriver(mock.host, mock.port), path)), cell(), {"arm": way()}, 20)
    with pytest.raises(DriverError, match=r"the record has an error at tick 4: .*too hot"):
        run(DriverBackend(RecordedDriver(path)), cell(), {"arm": way()}, 20)


@pytest.mark.parametrize(
    "text", [b"", b"[]\n", b"{}\n", b"\xff\n", b'{"adjoint": 1, "type": "tick"}\n', b"[" * 100_000]
)
def test_damaged_records_are_refused(tmp_path, text):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(text)
    with pytest.raises(DriverError):
        RecordedDriver(path).begin({"arm": 6}, PERIOD)
    with pytest.raises(ArgumentError, match="cannot be read"):
        RecordedDriver(tmp_path / "none.jsonl")


def test_messages_go_both_ways():
    point = SetPoint((1.0, 2.0), (0.5, -0.5), 0.02, (0.0,) * 6, (True,) + (False,) * 5, tuple(np.eye(3).ravel()))
    assert set_points_of({"arm": json.loads(json.dumps(set_point_data(point)))}, "x") == {"arm": point}
    reading = DriverReading({"arm": (1.0, 2.0)}, {}, {"arm": 0.02}, {"arm": (0.0,) * 6}, {"signal 1": 1.0})
    assert reading_of(json.loads(json.dumps(reading_data(reading))), "x") == reading
    assert message_of(line_of({"type": "halt"}), "x") == {"adjoint": 1, "type": "halt"}


@pytest.mark.parametrize(
    "data",
    [
        None, [], {"q": {"arm": ["1"]}}, {"q": {"arm": [True]}}, {"q": {"arm": [0.0] * 100}},
        {"wrench": {"arm": [1.0]}}, {"width": {"arm": "wide"}}, {"readings": {"": 1.0}},
        {"q": {f"r{k}": [] for k in range(100)}}, {"q": {"arm": [1e999]}},
    ],
)  # fmt: skip
def test_bad_readings_are_refused(data):
    with pytest.raises(DriverError):
        reading_of(data, "the robot")


def test_bad_messages_and_arguments_are_refused():
    with pytest.raises(DriverError, match="longer"):
        line_of({"type": "x" * MOST_BYTES})
    for points in (None, {"arm": []}, {"arm": {"q": [1.0]}}, {"arm": {"q": [], "v": [], "selected": [2] * 6}}):
        with pytest.raises(DriverError):
            set_points_of(points, "x")
    with pytest.raises(ArgumentError, match="port"):
        SocketDriver(port=0)
    with pytest.raises(ArgumentError, match="timeout"):
        SocketDriver(port=1, timeout=-1)
    with pytest.raises(ArgumentError, match="'fault' is 'fire'"), mock_robot(cell(), fault="fire"):
        pass
    with pytest.raises(DriverError, match="no robot answers"):
        SocketDriver(port=1, timeout=0.2).begin({}, PERIOD)


# --- robots and programs that behave badly ----------------------------------------------------------------------------


def test_a_robot_that_answers_byte_by_byte_is_too_late():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip():
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                for _ in range(100):
                    connection.sendall(b"{")
                    time.sleep(0.05)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        driver = SocketDriver(port=server.getsockname()[1], timeout=0.2)
        with driver, pytest.raises(DriverError, match="not answered within"):
            driver.begin({"arm": 6}, PERIOD)
        thread.join(timeout=5.0)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "message",
    [
        {"type": "tick", "tick": None, "points": {}},
        {"type": "tick", "tick": 10**400, "points": {}},
        {"type": "tick", "tick": 1, "points": {"arm": {"q": [10**400] * 6, "v": []}}},
        {"type": "begin", "joints": 3},
        {"type": "begin", "joints": {"arm": 6}, "period": "x"},
        {"type": "begin", "joints": {"arm": 6}, "period": 0},
        {"type": "dance"},
    ],
)
def test_the_mock_answers_bad_messages_with_a_fault(message):
    with mock_robot(cell()) as mock, socket.create_connection((mock.host, mock.port), timeout=2.0) as connection:
        connection.sendall((json.dumps({"adjoint": 1} | message) + "\n").encode())
        assert json.loads(connection.makefile().readline())["type"] == "fault"


@pytest.mark.parametrize("field", ["q", "v", "wrench", "width"])
def test_set_points_that_are_no_numbers_are_never_sent(field):
    motion, hand = way(), HandMotion("arm", 0.02, False)
    if field == "q":
        motion.q[0, 2] = np.nan
    elif field == "v":
        motion.v[0, 2] = np.nan
    elif field == "wrench":
        compliance = Compliance(np.eye(3), np.full(6, np.nan), np.ones(6, bool))
        motion = ArmMotion("arm", motion.q, motion.v, compliance)
    else:
        hand = HandMotion("arm", np.nan, False)
    with mock_robot(cell()) as mock:
        backend = connected(mock)
        with pytest.raises(DriverError, match="not finite"):
            run(backend, cell(), {"arm": motion, "arm.hand": hand}, 1)
        backend.driver.halt()
    assert not [kind for kind, _ in mock.log if kind == "tick"]


class Stubborn:
    """A driver whose second answer is what it is told."""

    def __init__(self, answer):
        self.answer, self.halts = answer, 0

    def begin(self, joints, period):
        return DriverReading({"arm": tuple(Q)})

    def exchange(self, tick, points):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def halt(self):
        self.halts += 1


@pytest.mark.parametrize(
    "answer, error",
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError("cable"), OSError),
        (DriverReading({"arm": (np.nan,) * 6}), DriverError),
        (DriverReading({"arm": tuple(Q)}, wrench={"arm": (np.inf,) * 6}), DriverError),
        (DriverReading({}), DriverError),
    ],
)
def test_whatever_goes_wrong_the_robots_are_told_to_stop(answer, error):
    driver = Stubborn(answer)
    with pytest.raises(error):
        run(DriverBackend(driver), cell(), {"arm": way()}, 2)
    assert driver.halts == 1
