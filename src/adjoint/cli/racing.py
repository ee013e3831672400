"""The command `bench`: a short race of this library beside the peers that are installed."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..errors import AdjointError, ArgumentError
from .guard import FAILED, note
from .options import Json
from .output import number, print_json, print_line, print_table, progress
from .robots import find_robot, frame_or_default

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot

__all__ = ["bench"]

_FUNCTIONS = ("forward_kinematics", "jacobian", "inverse_dynamics", "forward_dynamics", "mass_matrix")
_BATCH = 4096
_AGREE = 1e-6  # results that differ by more, in relation to their size, are no race
_LONG = 0.15  # [s] that one measurement takes


class Entry(NamedTuple):
    """How long one function of a peer takes [s], and by how much its result differs from ours, relative to its size."""

    seconds: float
    difference: float


class Task(NamedTuple):
    """A robot without friction, the frame that is looked at, and states of it (B, n)."""

    robot: "Robot"
    frame: str
    q: "np.ndarray"
    v: "np.ndarray"
    a: "np.ndarray"
    ours: dict[str, "np.ndarray"]  # our results at the first sample


def bench(
    robot: Annotated[
        str, typer.Argument(help="As for info; by default the Stanford arm.", show_default=False)
    ] = "stanford",
    seconds: Annotated[float, typer.Option(help="How long one measurement takes.", min=0.001)] = _LONG,
    as_json: Json = False,
) -> None:
    """Race kinematics and dynamics of a robot against Pinocchio and MuJoCo, as far as they are installed.

    Examples:

      adjoint bench
      adjoint bench panda --json

    Results are compared first; what differs is not timed against. Times are microseconds of one call from Python,
    the best of several repeats; "batch" is the time for one of 4096 samples in one call. × says how many times as long
    the peer takes for one sample as our single call, and ×batch as a sample of our batch. Friction and motor inertia
    are left out, since the systems treat them differently. pip install pin mujoco installs the peers.
    """
    found = find_robot(robot)
    with progress("bench") as tell:
        task = _task(found)
        tell(0.1)
        times, compiled = _ours(task, seconds, lambda part: tell(0.1 + 0.5 * part))
        peers = {}
        for k, (name, enter) in enumerate({"pinocchio": _pinocchio, "mujoco": _mujoco}.items()):
            try:
                peers[name] = _raced(task, enter(task), seconds)
            except (ImportError, AdjointError) as error:
                note(f"{name} does not take part: {error}")
            tell(0.8 + 0.2 * k)
    differ = [
        f"{name}: {f}" for name, entries in peers.items() for f, e in entries.items() if not e.difference < _AGREE
    ]
    if as_json:
        _print_json(task.robot, times, compiled, peers)
    else:
        _print(task.robot, times, compiled, peers)
    if differ:
        note(f"results differ: {', '.join(differ)}")
        raise typer.Exit(FAILED)


def _task(robot: "Robot") -> Task:
    import numpy as np

    from ..model import random_configuration

    if not robot.nv or len(robot.body_names) > 500:
        raise ArgumentError(f"bench: robot '{robot.name}' has {robot.nv} degrees of freedom; it takes 1 to 500")
    bare = _with_leaders_locked(robot).replace(armature=0.0, damping=0.0, friction=0.0)
    q, rng = random_configuration(bare, _BATCH, rng=0), np.random.default_rng(0)
    v, a = rng.normal(size=(2, _BATCH, bare.nv))
    return Task(bare, frame_or_default(bare, None), q, v, a, {})


def _with_leaders_locked(robot: "Robot") -> "Robot":
    """Return the robot without joints that others follow, such as fingers: peers treat them differently."""
    from ..model import neutral

    leaders = sorted({mimic.source for mimic in robot.mimics.values()})
    if not leaders:
        return robot
    home, names = neutral(robot), [robot.body_joint_names[i] for i in leaders]
    note(f"locked, because other joints follow: {', '.join(names)}")
    return robot.locked({name: home[robot.layout.q_start[i]] for name, i in zip(names, leaders, strict=True)})


# --- this library -----------------------------------------------------------------------------------------------------


def _ours(
    task: Task, seconds: float, tell: Callable[[float], None]
) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """Return {function: times of one call and of a sample of a batch [s]}, and the times of the first calls [s]."""
    from .. import dynamics, kinematics

    robot, given = task.robot, {"q": task.q, "v": task.v, "a": task.a}
    times, first = {}, {}
    for k, name in enumerate(_FUNCTIONS):
        function = getattr(kinematics, name, None) or getattr(dynamics, name)
        statics = {"forward_kinematics": {"frame": task.frame}}.get(name, {})
        statics = {"frame": task.frame, "expressed": "world"} if name == "jacobian" else statics
        bound = function.bind(robot, **statics)
        args = [given["a" if p.name == "tau" else p.name] for p in bound.parameters if p.name in ("q", "v", "a", "tau")]
        start = time.perf_counter()
        task.ours[name] = bound(*(x[0] for x in args))
        first[name] = time.perf_counter() - start
        one, out = [x[0] for x in args], bound(*args)
        times[name] = _best(lambda: bound(*one), seconds), _best(lambda: bound(*args, out=out), seconds) / _BATCH  # noqa: B023
        tell((k + 1) / len(_FUNCTIONS))
    return times, first


def _best(call: Callable[[], Any], seconds: float) -> float:
    """Return the shortest time [s] of one call, of five rounds that take `seconds` together."""
    start = time.perf_counter()
    call()
    count = max(1, int(seconds / 5 / max(time.perf_counter() - start, 1e-7)))
    rounds = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - start) / count)
    return min(rounds)


# --- peers ------------------------------------------------------------------------------------------------------------


def _raced(task: Task, calls: dict[str, tuple[Callable, Callable]], seconds: float) -> dict[str, Entry]:
    """Return the entries of a peer, whose calls are pairs: what is timed, and the result in our terms."""
    import numpy as np

    found = {}
    for name, (call, result) in calls.items():
        call()
        ours, theirs = task.ours[name], result()
        difference = float(np.abs(ours - theirs).max() / max(1.0, np.abs(ours).max()))
        found[name] = Entry(_best(call, seconds) if difference < _AGREE else float("nan"), difference)
    return found


def _need_plain(robot: "Robot", peer: str) -> None:
    """Raise `ArgumentError` if a robot's coordinates are other ones in a peer."""
    odd = next((k for k in robot.joint_types if k not in ("revolute", "prismatic", "continuous")), None)
    if odd:
        raise ArgumentError(f"robot '{robot.name}' has {odd} joints, whose coordinates differ in {peer}")


def _pinocchio(task: Task) -> dict[str, tuple[Callable, Callable]]:
    """Return the calls of Pinocchio; its joints are in another order, and continuous ones are (cos, sin)."""
    import numpy as np
    import pinocchio as pin  # pyright: ignore[reportMissingImports]

    from ..model import to_urdf

    robot = task.robot
    _need_plain(robot, "Pinocchio")
    model = pin.buildModelFromXML(to_urdf(robot.reframed("joint")))
    model.gravity.linear = robot.gravity
    data, ids = model.createData(), [model.getJointId(name) for name in robot.joint_names]
    at = [model.idx_vs[k] for k in ids]
    q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for k, x in zip(ids, task.q[0], strict=True):
        q[model.idx_qs[k] : model.idx_qs[k] + model.nqs[k]] = [x] if model.nqs[k] == 1 else [np.cos(x), np.sin(x)]
    v[at], a[at] = task.v[0], task.a[0]
    frame, aligned = model.getFrameId(task.frame), pin.LOCAL_WORLD_ALIGNED
    kept: dict[str, Any] = {}

    def place() -> None:
        pin.forwardKinematics(model, data, q)
        pin.updateFramePlacement(model, data, frame)

    def columns() -> None:
        kept["J"] = pin.computeFrameJacobian(model, data, q, frame, aligned)

    def matrix() -> "np.ndarray":
        M = np.triu(pin.crba(model, data, q))
        return (M + np.triu(M, 1).T)[np.ix_(at, at)]

    return {
        "forward_kinematics": (place, lambda: data.oMf[frame].homogeneous),
        "jacobian": (columns, lambda: np.roll(kept["J"], 3, axis=0)[:, at]),
        "inverse_dynamics": (lambda: pin.rnea(model, data, q, v, a), lambda: data.tau[at]),
        "forward_dynamics": (lambda: pin.aba(model, data, q, v, a), lambda: data.ddq[at]),
        "mass_matrix": (lambda: pin.crba(model, data, q), matrix),
    }


def _mujoco(task: Task) -> dict[str, tuple[Callable, Callable]]:
    """Return the calls of MuJoCo; it has no Jacobian of a frame by itself."""
    import mujoco  # pyright: ignore[reportMissingImports]
    import numpy as np

    from ..model import to_mjcf

    robot = task.robot
    _need_plain(robot, "MuJoCo")
    model: Any = mujoco.MjModel.from_xml_string(to_mjcf(robot.reframed("joint")))
    data: Any = mujoco.MjData(model)
    joints = [model.joint(name) for name in robot.joint_names]
    qs, vs = ([int(x[0]) for x in (getattr(j, field) for j in joints)] for field in ("qposadr", "dofadr"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    full = np.zeros((model.nv, model.nv))
    data.qpos[qs], data.qvel[vs] = task.q[0], task.v[0]
    mujoco.mj_forward(model, data)

    def inverse() -> None:
        data.qacc[vs] = task.a[0]
        mujoco.mj_inverse(model, data)

    def forward() -> None:
        data.qfrc_applied[vs] = task.a[0]
        mujoco.mj_forward(model, data)

    def compose() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)

    def matrix() -> "np.ndarray":
        _full_matrix(mujoco, model, data, full)
        return full[np.ix_(vs, vs)]

    return {
        "inverse_dynamics": (inverse, lambda: data.qfrc_inverse[vs].copy()),
        "forward_dynamics": (forward, lambda: data.qacc[vs].copy()),
        "mass_matrix": (compose, matrix),
    }


def _full_matrix(mujoco: Any, model: Any, data: Any, full: "np.ndarray") -> None:
    """Write MuJoCo's mass matrix as a full matrix; the arguments of its function changed between versions."""
    try:
        mujoco.mj_fullM(model, data, full)
    except TypeError:
        mujoco.mj_fullM(model, full, data.qM)


# --- results ----------------------------------------------------------------------------------------------------------


def _print(
    robot: "Robot",
    times: dict[str, tuple[float, float]],
    compiled: dict[str, float],
    peers: dict[str, dict[str, Entry]],
) -> None:
    header = ["function", "ours", "batch"]
    for name in peers:
        header += [name, "×", "×batch"]
    rows = []
    for f, (one, many) in times.items():
        row: list[Any] = [f, f"{1e6 * one:.2f}", f"{1e6 * many:.3f}"]
        for entries in peers.values():
            entry = entries.get(f)
            if entry is None or entry.seconds != entry.seconds:
                row += ["" if entry is None else "differs", "", ""]
            else:
                row += [f"{1e6 * entry.seconds:.2f}", f"{entry.seconds / one:.1f}", f"{entry.seconds / many:.0f}"]
        rows.append(row)
    print_line(f"{robot.name}, {robot.nv} degrees of freedom: µs for one sample", "bold")
    print_table(header, rows)
    total = sum(compiled.values())
    print_line(f"the first calls took {number(total, 3)} s together, with compilation where it was not on disk")
    for name, entries in peers.items():
        worst = max((e.difference for e in entries.values()), default=0.0)
        print_line(f"results of {name} differ by at most {worst:.1e}, relative to their size")


def _print_json(
    robot: "Robot",
    times: dict[str, tuple[float, float]],
    compiled: dict[str, float],
    peers: dict[str, dict[str, Entry]],
) -> None:
    ours = {f: {"call": one, "batch": many, "first_call": compiled[f]} for f, (one, many) in times.items()}
    others = {
        name: {
            f: {"call": e.seconds, "difference": e.difference, "ratio_call": e.seconds / times[f][0],
                "ratio_batch": e.seconds / times[f][1]}
            for f, e in entries.items()
        }
        for name, entries in peers.items()
    }  # fmt: skip
    print_json({"robot": robot.name, "nv": robot.nv, "batch": _BATCH, "seconds": {"adjoint": ours, **others}})
