"""Parts of runs: single runs of a batch, runs that go on in other processes, files that are not what they should be."""

import subprocess
import sys
import zipfile

import numpy as np
import pytest

import adjoint as aj
from adjoint import ArgumentError, control, simulate, simulation
from adjoint.simulation import Run

ROBOT = aj.robots.puma560()
START = np.linspace(-0.4, 0.6, 6)
TIMES = {"duration": 0.004, "dt": 0.001}
RNG = np.random.default_rng(0)
STARTS = START + RNG.normal(size=(2, 3, 6)) * 0.1


def swinging(t):
    return START + np.sin(t)


REFERENCES = {
    "one": START,
    "one for each": STARTS + 0.1,
    "one for each column": STARTS[0],
    "a trajectory": aj.trajectory.quintic(START, START + 1, 1.0),
    "a trajectory for each": aj.trajectory.quintic(STARTS, STARTS + 1, 1.0),
    "a trajectory for each column": aj.trajectory.quintic(STARTS[0], STARTS[0] + 1, 1.0),
    "a trajectory for each row": aj.trajectory.quintic(STARTS[:, :1], STARTS[:, :1] + 1, 1.0),
    "a function": swinging,
}
PICKED = [
    0, -1, (1, 2), (slice(None), 1), slice(0, 1), (0, slice(None, None, -1)), np.array([1, 0]), [0, 1],
    (np.array([0, 1]), np.array([2, 0])), np.array([[True, False, True], [False, True, False]]), ..., (..., 0), None,
    np.array([], int),
]  # fmt: skip


def push(robot, p, t, q, v):
    return p.size * np.ones(robot.nv)


def batch_of_runs(reference) -> Run:
    law = control.noisy(control.pd(reference, kp=1.0, kd=1.0), velocity=0.1, shape=(2, 3), rng=1)
    return simulate(
        ROBOT, law.replace(kp=RNG.uniform(50, 100, 3)), q=STARTS, lift={"gravity": ROBOT.gravity * np.ones((2, 3, 1))},
        forces=simulation.force(push, size=1.0).replace(size=RNG.normal(size=(2, 1))), **TIMES,
    )  # fmt: skip


@pytest.mark.parametrize("reference", REFERENCES)
def test_picked_runs_are_those_of_the_batch(reference):
    run = batch_of_runs(REFERENCES[reference])
    numbers = np.arange(6).reshape(2, 3)
    for index in PICKED:
        some, which = run[index], numbers[index]
        assert some.batch == which.shape
        for name in ("q", "v", "tau", "a", "error"):
            x = getattr(run, name).reshape(6, 5, 6)[which]
            np.testing.assert_array_equal(getattr(some, name), x, err_msg=f"{name} {index}")
        np.testing.assert_array_equal(some.energy.total, run.energy.total.reshape(6, 5)[which])
        np.testing.assert_array_equal(some.state[0].random, run.state[0].random.reshape(6, 5, 6)[which])
        assert repr(some).startswith("<Run of 'puma560'")


def test_a_batch_is_a_sequence_of_runs():
    start = np.linspace(-0.3, 0.3, 6)[:, None, None] * np.ones((6, 2, 6))
    many = simulate(ROBOT, q=start, duration=0.01, dt=0.001)
    rows = list(many)
    assert len(many) == len(rows) == 6
    assert rows[4].batch == (2,)
    assert np.array_equal(rows[4].q, many.q[4])
    one = rows[0][1]
    assert one  # it has a truth value, but no length
    for use in (len, list):
        with pytest.raises(ArgumentError, match="this is one run, not a batch, and has no len"):
            use(one)


def test_a_picked_run_goes_on_with_its_own_law():
    run = batch_of_runs(REFERENCES["a trajectory for each column"])
    surroundings = {"lift": {"gravity": ROBOT.gravity}, "forces": simulation.force(push, size=1.0)}
    one = run[1, 2]
    size = float(one.setup.numbers["force0_size"])
    surroundings["forces"] = surroundings["forces"].replace(size=size)
    more = simulate(ROBOT, one.setup.law, resume=one, **surroundings, **TIMES)
    assert more.batch == () and np.array_equal(more.q[0], one.q[-1])


@pytest.mark.parametrize(
    ("index", "message"),
    [(5, "out of bounds.*batch is"), ("a", "integers"), (1.0, "integers"), ((0, 0, 0), "too many indices")],
)
def test_bad_places_are_named(index, message):
    with pytest.raises(ArgumentError, match=message):
        simulate(ROBOT, q=STARTS, **TIMES)[index]
    with pytest.raises(ArgumentError, match="one run, not a batch"):
        simulate(ROBOT, q=START, **TIMES)[0]


# --- files ------------------------------------------------------------------------------------------------------------


def test_batches_with_several_axes_come_back_from_files(tmp_path):
    law = control.noisy(control.pd(STARTS, kp=1.0, kd=1.0), velocity=0.1, shape=(2, 3), rng=1)
    run = simulate(ROBOT, law, q=STARTS, **TIMES)
    path = run.save(tmp_path / "run.npz")
    back = Run.load(path, ROBOT, law)
    for name in ("q", "v", "tau", "a", "error"):
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name))
        np.testing.assert_array_equal(getattr(back[1, 2], name), getattr(run[1, 2], name))
    np.testing.assert_array_equal(back.energy.total, run.energy.total)
    without = Run.load(path, ROBOT)
    np.testing.assert_array_equal(without[0, 1].tau, run[0, 1].tau)
    whole = simulate(ROBOT, law, q=STARTS, duration=0.008, dt=0.001)
    on = simulate(ROBOT, law, resume=back, **TIMES)
    np.testing.assert_array_equal(on.q, whole.q[..., 4:, :])


def arrays(**changes) -> dict:
    run = simulate(ROBOT, q=STARTS, **TIMES)
    found = {"t": run.t, "q": run.q, "v": run.v, "dt": 0.001, "step": 4.0, "end_stopped": run.stopped, "tau": run.tau}
    return {k: np.asarray(x, float) for k, x in (found | changes).items() if x is not None}


@pytest.mark.parametrize(
    "changes",
    [
        {"dt": np.ones(2)}, {"dt": -1.0}, {"dt": np.nan}, {"dt": 0.0}, {"step": np.nan}, {"step": -1.0},
        {"step": np.ones((2, 2))}, {"q": None}, {"q": np.zeros(6)}, {"q": np.zeros((2, 3, 5, 5))},
        {"t": np.zeros((5, 1))}, {"t": np.zeros(0)}, {"end_stopped": np.zeros(7)}, {"tau": np.zeros(3)},
        {"v": np.zeros((5, 6))},
    ],
)  # fmt: skip
def test_hostile_files_are_refused(tmp_path, changes):
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays(**changes))
    with pytest.raises(ArgumentError):
        Run.load(path, ROBOT)


def test_files_of_another_state_are_refused(tmp_path):
    path = tmp_path / "bad.npz"
    law = control.pid(ROBOT, START, kp=1.0, ki=1.0, kd=1.0, period=0.001)
    for changes in ({}, {"state_0": np.zeros(6)}, {"state_x": np.zeros(6)}, {"state_1": np.zeros((2, 3, 5, 6))}):
        np.savez(path, **arrays(**changes))
        with pytest.raises(ArgumentError, match="state in it is not that of 'pid'"):
            Run.load(path, ROBOT, law)
    with pytest.raises(ArgumentError, match="null character"):
        Run.load("a\0.npz", ROBOT)


def test_a_run_of_another_robot_is_not_resumed():
    heavy = ROBOT.replace(inertias=ROBOT.inertias * 2)
    with pytest.raises(ArgumentError, match="of another robot"):
        simulate(heavy, resume=simulate(ROBOT, q=START, **TIMES), **TIMES)


# --- checkpoints ------------------------------------------------------------------------------------------------------

_PROGRAM = """
import os, signal, sys
import numpy as np
import adjoint as aj
from adjoint.simulation import checkpoints

robot = aj.robots.puma560()
path, kill, gain = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
goal = aj.trajectory.quintic(np.zeros(6), np.full(6, float(sys.argv[4])), 1.0)
checkpoints._SECONDS = 0.0
law = aj.control.law(lambda robot, p, state, t, q, v, reference: (p.k * (reference.q - q) - gain * v, state),
                     reference=goal, k=3.0)
told = []

def news(part):
    told.append(part)
    if len(told) == kill:
        os.kill(os.getpid(), signal.SIGKILL)

run = aj.simulate(robot, law, q=np.linspace(0, 1, 6), duration=0.4, dt=0.001, record=4, checkpoint=path, progress=news)
print(told[0], run.q.tobytes().hex())
"""


def checkpointed(path, kill=0, gain=2.0, goal=1.0):
    command = [sys.executable, "-c", _PROGRAM, str(path), str(kill), str(gain), str(goal)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.slow
def test_a_killed_run_goes_on_in_another_process(tmp_path):
    path, whole = tmp_path / "run.npz", tmp_path / "whole.npz"
    assert checkpointed(path, kill=3).returncode == -9  # the first news is what was done before
    assert zipfile.is_zipfile(path)
    rest = checkpointed(path)
    assert rest.returncode == 0, rest.stderr
    every = checkpointed(whole)
    assert rest.stdout.split()[1] == every.stdout.split()[1]
    assert float(rest.stdout.split()[0]) > float(every.stdout.split()[0])  # it did not begin anew
    for other in ({"gain": 2.5}, {"goal": 1.5}):  # the same names, another function or trajectory
        found = checkpointed(path, **other)
        assert found.returncode == 1 and "is of another run" in found.stderr, found.stderr


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    law = control.pd(START, kp=1.0)
    simulate(ROBOT, law, q=START, checkpoint=path, **TIMES)
    with np.load(path) as found:
        known = dict(found)
    for changes in ({"done": np.ones(3)}, {"row_0": np.zeros((2, 6))}):
        np.savez(path, **(known | changes))
        with pytest.raises(ArgumentError, match="damaged"):
            simulate(ROBOT, law, q=START, checkpoint=path, **TIMES)
    del known["row_1"]
    np.savez(path, **known)
    with pytest.raises(ArgumentError, match="damaged"):
        simulate(ROBOT, law, q=START, checkpoint=path, **TIMES)


_INTERRUPTED = """
import os, signal, sys, time
import numpy as np
import adjoint as aj

signal.signal(signal.SIGINT, signal.default_int_handler)
robot, q = aj.robots.puma560(), np.linspace(0, 1, 6)

def damped(t, q, v):
    return -v

for options in ({}, {"progress": lambda part: None}, {"checkpoint": sys.argv[1]}, {"trace": False}):
    short = {k: x for k, x in options.items() if k != "checkpoint"}
    aj.simulate(robot, damped, q=q, duration=1.0, dt=0.001, record=1000, **short)
    if os.fork() == 0:
        time.sleep(0.3)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)
    start = time.monotonic()
    try:
        aj.simulate(robot, damped, q=q, duration=1e5, dt=0.001, record=1000, **options)
    except KeyboardInterrupt:
        print(time.monotonic() - start - 0.3)
    os.wait()
"""


@pytest.mark.slow
def test_an_interruption_ends_a_run_within_a_second(tmp_path):
    command = [sys.executable, "-c", _INTERRUPTED, str(tmp_path / "run.npz")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout.split()
    assert len(found) == 4 and max(map(float, found)) < 1.0


# --- gradients --------------------------------------------------------------------------------------------------------

POSE = aj.forward_kinematics(ROBOT, START, "tool")
SOFT = {"stiffness": 500.0, "damping": 100.0, "inertia": 5.0, "period": 0.001}
LOOPS: dict = {
    "a stop": (control.pd(START, kp=50.0, kd=5.0), {"stop": lambda t, q, v: t > 0.0105}),
    "a period": (control.pid(ROBOT, START, kp=50.0, ki=5.0, kd=5.0, period=0.005), {}),
    "a sensor": (
        control.admittance(control.operational(ROBOT, POSE, "tool", kp=400.0, kd=40.0), **SOFT),
        {"forces": simulation.applied("tool", [0, 0, 0, 0, 0, 5.0])},
    ),
    "a payload": (control.pd(START, kp=50.0, kd=5.0), {"changes": simulation.payload("tool", 2.0, start=0.01)}),
    "a trajectory": (control.computed_torque(ROBOT, REFERENCES["a trajectory"], kp=100.0), {"integrator": "rk4"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_gradients_through_all_kinds_of_loops(name):
    law, options = LOOPS[name]

    def cost(q):
        return simulation.gradient(
            None, ROBOT, law, by="q", final_cost=squares, q=q, v=0.1 * START, duration=0.02, dt=0.001, **options
        )

    found, step = cost(START + 0.1), 1e-6
    moved = cost(START + 0.1 + step * np.concatenate([np.eye(6), -np.eye(6)])).value
    differences = (moved[:6] - moved[6:]) / (2 * step)
    # Central differences with steps h are exact to h², and round to 1e-16 / h of the cost, about 1.
    np.testing.assert_allclose(found.by["q"], differences, atol=1e-8, rtol=1e-7)


def squares(q, v):
    return q @ q + v @ v


# --- going on, with all that integrators carry ------------------------------------------------------------------------


def far(t, q, v):
    return q[0] < -0.35


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["adaptive", "variational"])
def test_runs_go_on_with_stops_memories_and_several_axes(integrator, tmp_path):
    law = control.pid(ROBOT, np.zeros(6), kp=50.0, ki=5.0, kd=5.0, period=0.002)
    options, q = {"dt": 0.001, "integrator": integrator, "stop": far}, START + np.linspace(0, 0.3, 4).reshape(2, 2, 1)
    whole, half = (simulate(ROBOT, law, q=q, duration=x, **options) for x in (0.04, 0.02))
    rest = simulate(ROBOT, law, resume=half, duration=0.02, **options)
    np.testing.assert_array_equal(np.concatenate([half.q, rest.q[..., 1:, :]], axis=-2), whole.q)
    np.testing.assert_array_equal(rest.stopped, whole.stopped)
    loaded = Run.load(half.save(tmp_path / "half.npz"), ROBOT, law)
    np.testing.assert_array_equal(simulate(ROBOT, law, resume=loaded, duration=0.02, **options).q, rest.q)
    np.testing.assert_array_equal(simulate(ROBOT, law, resume=half[1, 0], duration=0.02, **options).q, rest.q[1, 0])
    np.testing.assert_array_equal(simulate(ROBOT, law, q=q[1, 0], duration=0.04, **options).q, whole.q[1, 0])
