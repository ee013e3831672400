"""`simulate`: one loop of controller, plant and integrator; batches, records, interruptions, files, gradients."""

import numpy as np
import pyarrow.parquet as parquet
import pytest

import adjoint as aj
from adjoint import ArgumentError, DerivativeError, TraceError, control, simulate, simulation
from adjoint.compile.graph.nested import leaves
from adjoint.simulation import Run, advance, checkpoints, gradients, progress, rollouts, running, sensors, setups

ROBOT = aj.robots.puma560()
START = np.linspace(-0.4, 0.6, 6)
PATH = aj.trajectory.quintic(START, START + 0.5, 0.4)
TIMES = {"duration": 0.2, "dt": 0.001}
AXES = control.pd(np.zeros(6), kp=1.0, kd=1.0).replace(kp=np.ones(6))  # six laws, where gains of six joints are meant


def tracking(**numbers):
    return control.computed_torque(ROBOT, PATH, **({"kp": 100.0, "kd": 20.0} | numbers))


def push(robot, p, t, q, v):
    return np.where(t < 0.1, p.size, 0.0) * np.ones(robot.nv)


def pull(robot, p, t, q, v):
    return np.concatenate([np.zeros(3), p.force])


# --- the loop ---------------------------------------------------------------------------------------------------------


def test_a_run_is_the_loop_that_one_would_write():
    law, q, v, dt = tracking(), START + 0.1, np.zeros(6), 0.001
    run = simulate(ROBOT, law, q=q, v=v, **TIMES)
    for k in range(20):
        tau, _ = law(None, None, k * dt, q, v)
        a = aj.forward_dynamics(ROBOT, q, v, tau)
        np.testing.assert_allclose(run.tau[k], tau, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(run.a[k], a, rtol=1e-9, atol=1e-9)
        v = v + dt * a
        q = q + dt * v
        np.testing.assert_allclose(run.q[k + 1], q, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.t, np.arange(201) * dt, rtol=1e-15)


def test_runs_of_a_batch_are_single_runs_bit_for_bit():
    rng = np.random.default_rng(0)
    q, gains = START + rng.normal(size=(11, 6)) * 0.1, rng.uniform(50, 150, (11, 1))
    inertias = ROBOT.inertias * rng.uniform(0.8, 1.2, (11, 1, 1))
    force = simulation.force(push, size=3.0)
    sizes = rng.normal(size=11)
    paths = aj.trajectory.quintic(q, q + 0.5, 0.2)
    law = control.computed_torque(ROBOT, paths, kp=np.full(6, 100.0), kd=20.0).replace(kp=gains * np.ones(6))
    every = simulate(ROBOT, law, q=q, forces=force.replace(size=sizes), lift={"inertias": inertias}, **TIMES)
    for k in (0, 6, 10):
        one = simulate(
            ROBOT, law.replace(reference=paths[k], kp=gains[k] * np.ones(6)), q=q[k],
            forces=force.replace(size=sizes[k]), lift={"inertias": inertias[k]}, **TIMES,
        )  # fmt: skip
        assert np.array_equal(every.q[k], one.q)
        assert np.array_equal(every.v[k], one.v)
        picked = every[k]
        assert np.array_equal(picked.q, one.q)
        for name in ("tau", "a", "error"):
            assert np.array_equal(getattr(picked, name), getattr(one, name)), name
            assert np.array_equal(getattr(every, name)[k], getattr(one, name)), name
        assert np.array_equal(every.energy.total[k], one.energy.total)


@pytest.mark.parametrize("record", [2, 25, 200])
@pytest.mark.parametrize("reference", ["sampled", "constant", "function"])
def test_recording_seldom_keeps_the_same_states(record, reference):
    goal = {"sampled": PATH, "constant": START, "function": lambda t: START + np.sin(t)}[reference]
    law = tracking().replace(reference=goal)
    all_steps = simulate(ROBOT, law, q=START, **TIMES)
    seldom = simulate(ROBOT, law, q=START, record=record, **TIMES)
    assert np.array_equal(seldom.t, all_steps.t[::record])
    # The machine code of the two loops may round products and sums differently.
    np.testing.assert_allclose(seldom.q, all_steps.q[::record], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(seldom.tau, all_steps.tau[::record], rtol=1e-6, atol=1e-6)


def test_compiled_is_eager():
    law, times = tracking(), {"duration": 0.006, "dt": 0.001}
    run = simulate(ROBOT, law, q=START + 0.1, record=2, **times)
    start = advance.Moment.start(run.setup, START + 0.1, np.zeros(6))
    given = advance.kernel_inputs(run.setup, start, 3)
    eager = rollouts.rollout_kernel(run.setup.plan).eager(**given)
    np.testing.assert_allclose(run.q[1:], eager.q, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.v[1:], eager.v, rtol=1e-10, atol=1e-11)


def test_controllers_in_python_give_the_same():
    law = tracking()
    q = START + np.linspace(0, 0.1, 3)[:, None]
    machine = simulate(ROBOT, law, q=q, duration=0.05, dt=0.001, record=5)
    python = simulate(ROBOT, law, q=q, duration=0.05, dt=0.001, record=5, trace=False)
    function = simulate(
        ROBOT, lambda t, q, v: law(None, None, t, q, v).tau, q=q, duration=0.05, dt=0.001, record=5, trace=False
    )
    assert "controller in Python" in repr(function) and "computed_torque" in repr(python)
    assert "no controller" in repr(simulate(ROBOT, q=START, duration=0.01, dt=0.001))
    for run in (python, function):
        np.testing.assert_allclose(run.q, machine.q, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(run.tau, machine.tau, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(run.a, machine.a, rtol=1e-7, atol=1e-7)


def test_laws_with_a_state_or_a_batch_are_asked_in_python():
    law = control.pid(ROBOT, START, kp=50.0, ki=20.0, kd=5.0, period=0.002)
    law = law.replace(kp=np.array([40.0, 50.0, 60.0]))
    options = {"q": START + 0.1, "duration": 0.02, "dt": 0.001, "record": 4}
    machine, python = (simulate(ROBOT, law, trace=trace, **options) for trace in (True, False))
    for one, other in ((machine.q, python.q), (machine.tau, python.tau), (machine.a, python.a)):
        assert one.shape[0] == 3
        np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-8)
    for one, other in zip(leaves(machine.state), leaves(python.state), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-10)
    on = simulate(ROBOT, law, resume=python, duration=0.02, dt=0.001)
    whole = simulate(ROBOT, law, **(options | {"duration": 0.04}))
    np.testing.assert_allclose(on.q[:, -1], whole.q[:, -1], rtol=1e-9)


def test_a_law_that_cannot_be_traced_is_told_the_way_out():
    def law(robot, p, state, t, q, v, reference):
        return (-q if q[0] > 0 else -v), state

    with pytest.raises(TraceError, match=r"traced also with trace=False.*plain function f\(t, q, v\)"):
        simulate(ROBOT, control.law(law, follows=None), q=START, trace=False, **TIMES)


def test_plain_functions_are_controllers():
    run = simulate(ROBOT, lambda t, q, v: -5.0 * v, q=START, **TIMES)
    np.testing.assert_allclose(run.tau, -5 * run.v, rtol=1e-12)


def branching(t, q, v):
    return -q if q[0] > 0 else -v


def test_what_cannot_be_traced_is_told_and_runs_in_python_if_asked():
    with pytest.raises(TraceError, match=r"controller 'branching' cannot become machine code.*np.where.*") as error:
        simulate(ROBOT, branching, q=START, **TIMES)
    assert "trace=False" in str(error.value)
    run = simulate(ROBOT, branching, q=START, duration=0.01, dt=0.001, trace="if possible")
    assert run.finite


def test_a_law_with_a_period_is_asked_every_period():
    law = control.pid(ROBOT, START, kp=50.0, ki=20.0, kd=5.0, period=0.004)
    run = simulate(ROBOT, law, q=START + 0.1, **TIMES)
    tau = run.tau[:-1].reshape(50, 4, 6)
    assert np.array_equal(tau, np.broadcast_to(tau[:, :1], tau.shape))
    assert not np.array_equal(tau[0], tau[1])
    same = simulate(ROBOT, control.sampled(law, robot=ROBOT), q=START + 0.1, **TIMES)
    assert np.array_equal(run.q, same.q)
    every = simulate(ROBOT, law.replace(period=0.001), q=START + 0.1, **TIMES)
    assert not np.array_equal(every.tau[0], every.tau[1])
    with pytest.raises(ArgumentError, match=r"period 0\.0015 s, which is not a whole number of steps"):
        simulate(ROBOT, law.replace(period=0.0015), q=START, **TIMES)


# --- surroundings -----------------------------------------------------------------------------------------------------


def test_forces_on_joints_and_at_frames_act():
    force = np.array([3.0, -2.0, 5.0])
    forces = [simulation.force(push, size=2.0), simulation.force(pull, frame="tool", force=force)]
    run = simulate(ROBOT, q=START, forces=forces, **TIMES)
    wrench = np.concatenate([np.zeros(3), force])
    for k, size in ((0, 2.0), (150, 0.0)):
        a = aj.forward_dynamics(ROBOT, run.q[k], run.v[k], np.full(6, size), applied_wrenches=wrench, frames="tool")
        np.testing.assert_allclose(run.a[k], a, rtol=1e-11, atol=1e-11)


def test_numbers_of_the_robot_change_in_time():
    lighter = simulation.change(
        lambda robot, p, t: {"gravity": robot.gravity * np.where(t < 0.1, 1.0, p.part)}, part=0.0
    )
    run = simulate(ROBOT, q=START, changes=lighter, **TIMES)
    free = aj.forward_dynamics(ROBOT, run.q[150], run.v[150], np.zeros(6), gravity=np.zeros(3))
    np.testing.assert_allclose(run.a[150], free, rtol=1e-11, atol=1e-11)
    assert run.energy.potential[150] == 0
    assert run.energy.potential[50] != 0


def test_a_stop_freezes_single_runs():
    starts = START + np.linspace(0, 0.3, 5)[:, None]
    run = simulate(ROBOT, q=starts, stop=lambda t, q, v: v[1] > 0.8, **TIMES)
    early = np.isfinite(run.stopped)
    assert early.any()
    for k in np.flatnonzero(early):
        first = int(np.argmax(run.v[k, :, 1] > 0.8))
        assert run.stopped[k] == pytest.approx(run.t[first])
        assert np.array_equal(run.q[k, first:], np.broadcast_to(run.q[k, first], run.q[k, first:].shape))
    assert "stopped early" in repr(run)


def test_nan_in_one_run_marks_that_run_alone():
    q = np.tile(START, (9, 1))
    clean = simulate(ROBOT, tracking(), q=q, **TIMES)
    q[4, 2] = np.nan
    run = simulate(ROBOT, tracking(), q=q, **TIMES)
    assert run.finite.tolist() == [k != 4 for k in range(9)]
    assert np.array_equal(np.delete(run.q, 4, 0), np.delete(clean.q, 4, 0))
    assert "1 not finite" in repr(run)


def height(robot, p, t, q, v, wrenches):
    return aj.forward_kinematics(robot, q, "tool")[2, 3]


def reading(robot, p, state, t, q, v, reference):
    return np.zeros(6), (p.height, p.wrench)


def test_sensors_replace_numbers_of_the_law():
    law = control.law(
        reading, follows=None, state=(0.0, np.zeros(6)), height=0.0, wrench=np.zeros(6), frame="tool"
    )  # fmt: skip
    weight = simulation.force(pull, frame="tool", force=np.array([0.0, 1.0, 2.0]))
    altimeter = {"height": simulation.sensor(height)}
    run = simulate(ROBOT, law, q=START, forces=weight, sensors=altimeter, **TIMES)
    heights, wrenches = run.state
    expected = aj.forward_kinematics(ROBOT, run.q[:-1], "tool")[:, 2, 3]
    np.testing.assert_allclose(heights[1:], expected, rtol=1e-12)
    np.testing.assert_allclose(wrenches[1:], np.tile([0, 0, 0, 0, 1.0, 2.0], (200, 1)), rtol=1e-15)


def test_a_wrench_is_felt_at_every_frame_of_its_body():
    robot = ROBOT.with_frame("tip", "tool", aj.lie.se3.from_rotation_translation.eager(np.eye(3), [0.0, 0.1, 0.0]))
    felt = sensors.felt_wrench(robot, "tool", [("tip", np.array([0, 0, 0, 0, 0, 5.0]))])
    np.testing.assert_allclose(felt, [0.5, 0, 0, 0, 0, 5.0], atol=1e-15)  # r x F = (0, 0.1, 0) x (0, 0, 5)


def test_limits_are_enforced_where_one_asks_for_it():
    weak = ROBOT.replace(effort_limit=np.full(6, 5.0), lower=START - 0.1, upper=START + 0.1)
    law = control.pd(START + 1, kp=400.0, kd=20.0)
    free = simulate(weak, law, q=START, **TIMES)
    assert np.abs(free.tau).max() > 5
    assert free.q[-1].max() > weak.upper.max()
    assert np.abs(simulate(weak, control.saturated(law), q=START, **TIMES).tau).max() <= 5
    stopped = simulate(weak, control.saturated(law), q=START, forces=simulation.joint_stops(weak), **TIMES)
    assert np.all(stopped.q < weak.upper + 0.01)


def test_the_wrench_of_a_run_is_what_its_law_was_told(tmp_path):
    law = control.law(reading, follows=None, state=(0.0, np.zeros(6)), height=0.0, wrench=np.zeros(6), frame="tool")
    heights = np.array([0.0, 0.1, 0.2])
    surface = simulation.plane((0, 0, aj.forward_kinematics(ROBOT, START, "tool")[2, 3] + 0.1))
    touch = simulation.contact("tool", surface, stiffness=1e3, damping=0.1).replace(stiffness=1e3 * (1 + heights))
    forces = [touch, simulation.force(push, size=1.0), simulation.applied("link6", [0, 0, 0, 1.0, 0, 0])]
    assert ROBOT.frame("link6").body == ROBOT.frame("tool").body
    run = simulate(ROBOT, law, q=START, forces=forces, **TIMES)
    found = run.wrench("tool")
    assert found.shape == (3, 201, 6)
    np.testing.assert_allclose(found[:, :-1], run.state[1][:, 1:], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(run[1].wrench("tool"), found[1])
    assert not run.wrench("link3").any()  # nothing acts on that body
    assert not simulate(ROBOT, q=START, **TIMES).wrench("tool").any()
    with pytest.raises(ArgumentError, match="has no frame 'toe'"):
        run.wrench("toe")
    with pytest.raises(ArgumentError, match="this run is from a file"):
        Run.load(run[0].save(tmp_path / "run.npz"), ROBOT, law).wrench("tool")


def test_randomised_robots_are_possible_and_within_bounds():
    found = simulation.randomised(ROBOT, (4, 5), mass=0.2, center=0.02, damping=0.5, gravity=0.01, rng=0)
    masses, centers = found["inertias"][..., 0], found["inertias"][..., 1:4] / found["inertias"][..., :1]
    own = ROBOT.inertias
    assert masses.shape == (4, 5, 6)
    assert (np.abs(masses / own[:, 0] - 1) <= 0.2 + 1e-12).all()
    assert (np.abs(centers - own[:, 1:4] / own[:, :1]) <= 0.02 + 1e-12).all()
    before, after = (aj.lie.inertia.central(x) for x in (own, found["inertias"]))
    np.testing.assert_allclose(
        after.inertia / masses[..., None, None],
        before.inertia / own[:, :1, None] + 0 * after.inertia,
        rtol=1e-9,
        atol=1e-12,
    )
    assert np.ptp(np.linalg.norm(found["gravity"], axis=-1)) > 0
    for options, message in (({}, "nothing varies"), ({"mass": 2.0}, "a part, from 0 to 1"), ({"mass": -1}, "mass"),
                             ({"mass": 0.1, "center": -1.0}, "center must be")):  # fmt: skip
        with pytest.raises(ArgumentError, match=message):
            simulation.randomised(ROBOT, 3, **options)


# --- interruptions ----------------------------------------------------------------------------------------------------


def sums(robot, p, state, t, q, v, reference):
    return p.ki * state + p.kp * (reference.q - q) - 5 * v, state + (reference.q - q) * 0.001


def integral():
    return control.law(sums, reference=PATH, state=np.zeros(6), kp=50.0, ki=20.0)


def test_two_halves_are_the_whole_bit_for_bit(tmp_path):
    q = START + np.linspace(0, 0.1, 3)[:, None]
    options = {"dt": 0.001, "record": 5, "integrator": "rk4"}
    whole = simulate(ROBOT, integral(), q=q, duration=0.2, **options)
    first = simulate(ROBOT, integral(), q=q, duration=0.08, **options)
    from_file = Run.load(first.save(tmp_path / "first.npz"), ROBOT, integral())
    for half in (first, from_file):
        second = simulate(ROBOT, integral(), resume=half, duration=0.12, **options)
        assert np.array_equal(np.concatenate([first.q, second.q[:, 1:]], axis=1), whole.q)
        assert np.array_equal(np.concatenate([first.state, second.state[:, 1:]], axis=1), whole.state)
        assert np.array_equal(np.concatenate([first.t, second.t[1:]]), whole.t)


class Enough(Exception):
    pass


def test_a_checkpoint_goes_on_after_an_interruption(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_SECONDS", 0.0)
    whole = simulate(ROBOT, integral(), q=START, **TIMES)
    file, parts = tmp_path / "run.npz", []

    def interrupt(part):
        parts.append(part)
        if part > 0.05:
            raise Enough

    with pytest.raises(Enough):
        simulate(ROBOT, integral(), q=START, checkpoint=file, progress=interrupt, **TIMES)
    assert file.exists()
    assert 0 < parts[-1] < 1
    with pytest.raises(ArgumentError, match="is of another run"):
        simulate(ROBOT, integral(), q=START + 1, checkpoint=file, **TIMES)
    resumed = simulate(ROBOT, integral(), q=START, checkpoint=file, **TIMES)
    assert np.array_equal(resumed.q, whole.q)
    assert np.array_equal(resumed.state, whole.state)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_run_loses_nothing(tmp_path, error):
    """Also if the last checkpoint was written a moment ago."""
    whole, file, parts = simulate(ROBOT, integral(), q=START, **TIMES), tmp_path / "run.npz", []

    def interrupt(part):
        parts.append(part)
        if part > 0.05:
            raise error

    with pytest.raises(error):
        simulate(ROBOT, integral(), q=START, checkpoint=file, progress=interrupt, **TIMES)
    told: list[float] = []
    resumed = simulate(ROBOT, integral(), q=START, checkpoint=file, progress=told.append, **TIMES)
    assert told[0] == parts[-1]  # it goes on where the other ended
    assert np.array_equal(resumed.q, whole.q)
    with pytest.raises(ArgumentError, match=r"this is a checkpoint of `simulate`.* checkpoint= goes on from it"):
        Run.load(file, ROBOT)


def test_the_time_left_counts_only_what_this_call_did(capsys, monkeypatch):
    clock = iter([0.0, 0.0, 4.0])  # [s] made, told of 0.9, told of 0.95
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.Progress.shown(True) as news:
        news.tell(0.9)
        news.tell(0.95)
    first, second = capsys.readouterr().err.split("\r")[1:]
    assert "left" not in first
    assert "95%, 4 s left" in second


def test_runs_of_many_steps_need_memory_only_for_what_they_keep(monkeypatch):
    """The times of steps are computed only for a reference that is sampled, and blocks go in pieces."""
    setup = setups.set_up(ROBOT, None, 1e-6, "semi_implicit", 10**8, setups.Surroundings())
    inputs = advance.kernel_inputs(setup, running.start_of_run(setup, START, None), 10)
    assert max(np.size(x) for x in inputs.values()) == 10
    whole = simulate(ROBOT, q=START, record=5, **TIMES)
    monkeypatch.setattr(advance, "_MOST_BLOCKS", 7)
    assert np.array_equal(simulate(ROBOT, q=START, record=5, **TIMES).q, whole.q)


def test_a_single_run_that_goes_wrong_is_told(caplog):
    wild = control.pd(START, kp=1e7, kd=1e5)
    options = {"q": START + 0.1, "duration": 1.0, "dt": 0.001, "record": 100}
    run = simulate(ROBOT, wild, **options)
    assert not run.finite
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("adjoint", "WARNING")
    assert "is not finite from t = 0.1 s on" in record.message
    simulate(ROBOT, wild.replace(kp=np.array([1.0, 1e7])), **options)
    assert len(caplog.records) == 1  # in a batch, run.finite tells


def test_long_references_go_in_pieces(monkeypatch):
    whole = simulate(ROBOT, tracking(), q=START, record=5, **TIMES)
    monkeypatch.setattr(advance, "_MOST_SAMPLES", 1000)
    assert np.array_equal(simulate(ROBOT, tracking(), q=START, record=5, **TIMES).q, whole.q)


def test_progress_is_told(capsys):
    parts: list[float] = []
    simulate(ROBOT, q=START, progress=parts.append, **TIMES)
    assert parts[-1] == 1.0
    assert parts == sorted(parts)
    simulate(ROBOT, q=START, progress=True, **TIMES)
    assert "100%" in capsys.readouterr().err


# --- files and pictures -----------------------------------------------------------------------------------------------


def test_files_hold_all_of_a_run(tmp_path):
    run = simulate(ROBOT, tracking(), q=START + np.linspace(0, 0.1, 3)[:, None], record=10, **TIMES)
    read = Run.load(run.save(tmp_path / "run.npz"), ROBOT, tracking())
    for name in ("t", "q", "v", "tau", "a", "stopped", "error"):
        assert np.array_equal(getattr(read, name), getattr(run, name)), name
    assert np.array_equal(read.energy.total, run.energy.total)
    table = parquet.read_table(run.save(tmp_path / "run.parquet")).to_pydict()
    assert table["run"] == np.repeat([0, 1, 2], 21).tolist()
    assert table["q_joint2"] == run.q[:, :, 1].ravel().tolist()
    assert table["tau_joint6"] == run.tau[:, :, 5].ravel().tolist()


def test_files_that_are_no_runs_are_refused(tmp_path):
    run = simulate(ROBOT, integral(), q=START, **TIMES)
    file = run.save(tmp_path / "run.npz")
    with pytest.raises(ArgumentError, match="not those of a run of robot"):
        Run.load(file, aj.from_dh([[0, 0, 1, 0]] * 2))
    with pytest.raises(ArgumentError, match="the controller's state in it is not that of 'computed_torque'"):
        Run.load(file, ROBOT, tracking())
    with pytest.raises(ArgumentError, match="the run is of another robot, 'puma560', not of 'puma560' as it is"):
        Run.load(file, ROBOT.replace(damping=np.ones(6)), integral())
    with pytest.raises(ArgumentError, match="the run is of another robot, 'puma560', not of 'stanford'"):
        Run.load(file, aj.robots.stanford())
    with pytest.raises(ArgumentError, match="no such file"):
        Run.load(tmp_path / "none.npz", ROBOT)
    (tmp_path / "bad.npz").write_bytes(file.read_bytes()[:400])
    with pytest.raises(ArgumentError, match=r"bad\.npz"):
        Run.load(tmp_path / "bad.npz", ROBOT)
    with pytest.raises(ArgumentError, match=r"\.npz or \.parquet"):
        run.save(tmp_path / "run.csv")
    PATH.save(tmp_path / "path.npz")
    with pytest.raises(ArgumentError, match="not a file of a run"):
        Run.load(tmp_path / "path.npz", ROBOT)


@pytest.mark.slow
def test_pictures_appear(tmp_path):
    run = simulate(ROBOT, tracking(), q=START + np.linspace(0, 0.1, 3)[:, None], record=10, **TIMES)
    for target in (run.plot(tmp_path / "a.png"), run[0].plot(tmp_path / "b.pdf"), run.animate(tmp_path / "c.gif")):
        assert target.stat().st_size > 1000
    page = run[0].animate(tmp_path / "d.html", frames_per_second=10).read_text(encoding="utf-8")
    assert "<canvas" in page
    with pytest.raises(ArgumentError, match=r"\.gif or \.html"):
        run.animate(tmp_path / "d.txt")


# --- physics ----------------------------------------------------------------------------------------------------------


def test_energy_of_a_passive_robot_is_kept():
    robot = ROBOT.replace(damping=0.0, friction=0.0)
    drifts = []
    for dt in (0.002, 0.001):
        total = simulate(robot, q=START, duration=0.2, dt=dt, integrator="rk4").energy.total
        drifts.append(np.abs(total - total[0]).max())
    # The method is of order 4: half the step, a sixteenth of the error or less.
    assert drifts[1] < drifts[0] / 12 or drifts[1] < 1e-12 * abs(total[0])


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0.0}, "dt must be a positive number"),
        ({"dt": -1e-3}, "dt must be a positive number"),
        ({"duration": -1.0}, "duration must be a positive number"),
        ({"duration": 0.0107, "dt": 0.001}, "not a whole number of steps of dt = 0.001 s; 0.011 s is"),
        ({"duration": 1e-5, "dt": 0.001}, "not a whole number of steps of dt = 0.001 s; 0.001 s is"),
        (
            {"duration": 1e6, "dt": 1e-6},
            r"no memory for 10{12} states of 1 run, 9.6e\+04 GB; record=k keeps every k-th",
        ),
        ({"record": 7}, "record=7 does not divide the 200 steps of the run; 8 does, or take duration=0.203"),
        ({"duration": 1.08085, "record": 10}, "not a whole number of steps of dt = 0.001 s; 1.09 s is"),
        ({"record": 0}, "record must be 1 or more"),
        ({"q": np.zeros(5)}, r"'q' has shape \(5,\)"),
        ({"q": np.zeros((2, 6)), "v": np.zeros((3, 6))}, r"leading axes do not match: q \(2,\), v \(3,\)"),
        ({"integrator": "magic"}, "integrator is 'magic'; there are 'semi_implicit'"),
        ({"controller": 3}, "controller must be a Law, a function"),
        ({"controller": control.law(sums, state=np.zeros(6), kp=1.0, ki=1.0)}, "has no reference"),
        ({"controller": control.law(sums, kp=1.0)}, r"law.replace\(reference=.*follows=None"),
        ({"controller": lambda t, q, v: q[:3]}, r"tau of shape \(3,\)"),
        ({"controller": lambda t, q, v: None}, r"must return tau \(6,\); got None"),
        ({"controller": lambda t, q, v: None, "trace": False}, r"must return tau of shape \(6,\); got None"),
        ({"controller": lambda q, v: -q}, r"controller 'lambda' must take \(t, q, v\)"),
        ({"controller": AXES, "q": np.zeros((4, 6))}, r"q \(4,\).* kp \(6,\)\. .*make the law with kp of shape \(6,\)"),
        ({"controller": AXES.replace(kd=np.ones(3))}, r"do not match: .* kp \(6,\), kd \(3,\)"),
        ({"controller": control.pd(np.zeros(6), kp=np.ones(5), kd=1.0)}, "kp|broadcast|shape"),
        ({"forces": 3}, "forces takes Force objects; got int"),
        ({"forces": simulation.force(pull, frame="nose", force=np.zeros(3))}, "nose"),
        ({"lift": {"masses": np.ones(6)}}, "lift has no 'masses'; robot 'puma560' has inertias"),
        ({"lift": {"damping": np.ones(5)}}, r"lift\['damping'\] has shape \(5,\)"),
        ({"lift": 3}, "lift must be a dict"),
        ({"sensors": {"height": simulation.sensor(height)}}, "no number of the law; there is no law"),
        ({"trace": 2}, "trace must be True, False"),
        ({"progress": 3}, "progress must be"),
        ({"checkpoint": "run.txt"}, "must end in .npz"),
        ({"resume": 3, "q": None}, "resume must be a Run"),
        ({"stop": 3}, "stop must be a function"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        simulate(ROBOT, **({"q": START} | TIMES | options))


def test_a_run_with_another_controller_is_not_resumed():
    run = simulate(ROBOT, integral(), q=START, **TIMES)
    with pytest.raises(ArgumentError, match="another dt, integrator or controller"):
        simulate(ROBOT, tracking(), resume=run, **TIMES)
    with pytest.raises(ArgumentError, match="either resume or q and v"):
        simulate(ROBOT, integral(), resume=run, q=START, **TIMES)


# --- gradients --------------------------------------------------------------------------------------------------------


def effort(t, q, v, tau):
    return q @ q + 1e-4 * (tau @ tau)


def speed(q, v):
    return v @ v


@pytest.mark.slow
def test_gradients_are_differences_of_costs():
    force = simulation.force(pull, frame="tool", force=np.array([1.0, 2.0, 3.0]))
    options = {"q": START, "duration": 0.06, "dt": 0.001, "forces": force}
    names = ("q", "v", "kp", "kd", "inertias", "force0_force")
    law = control.pd(PATH, kp=np.full(6, 40.0), kd=3.0)
    found = simulation.gradient(effort, ROBOT, law, by=names, final_cost=speed, **options)

    def value(q=START, v=0 * START, inertias=ROBOT.inertias, force0_force=force.numbers["force"], **numbers):
        return simulation.gradient(
            effort, ROBOT, law.replace(**numbers), by="q", final_cost=speed, lift={"inertias": inertias},
            **(options | {"q": q, "forces": force.replace(force=force0_force)}), v=v,
        ).value  # fmt: skip

    rng = np.random.default_rng(1)
    points = {"q": START, "v": np.zeros(6), "kp": np.full(6, 40.0), "kd": np.array(3.0)}
    points |= {"inertias": ROBOT.inertias, "force0_force": force.numbers["force"]}
    for name, x in points.items():
        way = rng.normal(size=x.shape) * np.maximum(np.abs(x), 1e-2)
        h = 1e-4
        # Central differences: their error is h² of third derivatives, and rounding of 1e-13 / h.
        slope = (value(**{name: x + h * way}) - value(**{name: x - h * way})) / (2 * h)
        assert np.sum(found.by[name] * way) == pytest.approx(slope, rel=1e-5, abs=1e-7), name


def test_gradients_of_a_batch_are_those_of_single_runs():
    law = control.pd(PATH, kp=40.0, kd=3.0)
    q = START + np.linspace(0, 0.1, 3)[:, None]
    options = {"by": ("q", "kp"), "duration": 0.02, "dt": 0.001}
    every = simulation.gradient(effort, ROBOT, law, q=q, **options)
    one = simulation.gradient(effort, ROBOT, law, q=q[1], **options)
    assert np.array_equal(every.by["q"][1], one.by["q"])
    assert every.by["kp"].shape == (3,)


@pytest.mark.slow
def test_gradients_of_long_runs_go_through_blocks(monkeypatch):
    """Runs that are too long to keep all states are done again, block by block."""
    law = control.pd(PATH, kp=np.full(6, 40.0), kd=3.0)
    options = {"by": ("q", "v", "kp", "inertias"), "q": START, "duration": 0.06, "dt": 0.001, "final_cost": speed}
    kept = simulation.gradient(effort, ROBOT, law, **options)
    monkeypatch.setattr(gradients, "MOST_KEPT", 1000)
    again = simulation.gradient(effort, ROBOT, law, **options)
    assert again.value == pytest.approx(kept.value, rel=1e-13)
    for name, x in kept.by.items():
        np.testing.assert_allclose(again.by[name], x, rtol=1e-11, atol=1e-12 * np.abs(x).max())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "mass"}, "no 'mass' to differentiate by; there are .*kp"),
        ({"by": "gain"}, "there are armature, .*inertias, kd, kp, .*q, .*v"),
        ({"by": ()}, "by needs a name"),
        (
            {"cost": lambda q, v: q @ q},
            r"cost must be a function cost\(t, q, v, tau\) or cost\(t, .*reference\); .*q, v",
        ),
        (
            {"final_cost": lambda t, q, v: q @ q},
            r"final_cost must be a function final_cost\(q, v\); it takes \(t, q, v",
        ),
        ({"cost": None}, "give a cost"),
        ({"cost": lambda t, q, v, tau: q}, r"cost must give one number; it gives shape \(6,\)"),
    ],
)
def test_bad_gradients_are_named(options, message):
    law = control.pd(PATH, kp=40.0, kd=3.0)
    given = {"cost": effort, "by": "kp", "duration": 0.02, "dt": 0.001, "q": START} | options
    with pytest.raises(ArgumentError, match=message):
        simulation.gradient(given.pop("cost"), ROBOT, law, **given)


def from_path(t, q, v, tau, reference):
    return (reference.q - q) @ (reference.q - q) + 0.1 * (reference.v - v) @ (reference.v - v)


def moving(t):
    return START + 0.3 * np.sin(4 * t)


@pytest.mark.parametrize("reference", [PATH, START + 0.1, moving])
def test_a_cost_may_compare_with_the_reference(reference):
    """The cost is the sum over the states of a run, where the reference is that of the run."""
    law = control.pd(reference, kp=40.0, kd=3.0)
    options = {"q": START, "duration": 0.02, "dt": 0.001}
    found = simulation.gradient(from_path, ROBOT, law, by="kp", **options)
    run = simulate(ROBOT, law, **options)
    q, v = (np.broadcast_to(x, run.q.shape) for x in (run.reference.q, run.reference.v))
    each = np.sum((q - run.q) ** 2 + 0.1 * (v - run.v) ** 2, axis=1)
    assert found.value == pytest.approx(0.001 * each[:-1].sum(), rel=1e-12)
    assert found.by["kp"] != 0


def test_a_cost_with_a_reference_needs_a_law_that_follows_one():
    with pytest.raises(ArgumentError, match="there is no law that follows one"):
        simulation.gradient(from_path, ROBOT, by="q", **TIMES)


def weighted(t, q, v, tau, weight=2.0):
    return weight * (q @ q)


def test_a_default_is_no_reference():
    options = {"by": "q", "q": START, "duration": 0.001, "dt": 0.001}
    assert simulation.gradient(weighted, ROBOT, **options).value == pytest.approx(0.002 * START @ START, rel=1e-12)


@pytest.mark.parametrize("integrator", ["adaptive", "variational"])
def test_integrators_without_gradients_are_named(integrator):
    with pytest.raises(DerivativeError, match=r"gradient: .*'rkmk4', 'implicit' and dry_friction"):
        simulation.gradient(effort, ROBOT, by="q", q=START, duration=0.01, dt=0.001, integrator=integrator)


def wrong_size(robot, p, t, q, v):
    return np.zeros(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop": lambda t, q, v: q > 0}, r"must give one truth value, such as .*; it gives shape \(6,\)"),
        ({"forces": simulation.force(wrong_size)}, r"force number 0, on the joints, gives shape \(3,\); .* \(6,\)"),
        (
            {"forces": [simulation.friction(), simulation.force(wrong_size, frame="tool")]},
            r"force number 1, at frame 'tool', gives shape \(3,\)",
        ),
        ({"forces": simulation.payload("tool", 1.0)}, "takes Force objects; got Change, which goes to changes="),
        ({"forces": simulation.dry_friction()}, "takes Force objects; got Integrator, which goes to integrator="),
        ({"changes": simulation.friction()}, "takes Change objects; got Force, which goes to forces="),
    ],
)
def test_surroundings_of_the_wrong_kind_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        simulate(ROBOT, q=START, **options, **TIMES)


def test_arguments_that_gradient_lacks_are_named():
    with pytest.raises(ArgumentError, match="gradient: there is no argument 'record'; surroundings are forces"):
        simulation.gradient(None, ROBOT, by="q", final_cost=lambda q, v: q @ q, record=4, **TIMES)
