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
_PACKAGES = {"pinocchio": "pin", "mujoco": "mujoco"}  # for pip
_BATCH = 4096
_AGREE = 1e-6  # results that differ by more, in relation to their size, are no race
_LONG = 0.15  # [s] that one measurement takes


class Call(NamedTuple):
    """A function of a system: `run` is timed, and `result` gives its result in our terms at the first sample."""

    run: Callable[[], Any]
    result: Callable[[], Any]


class Task(NamedTuple):
    """A robot without friction, the frame that is looked at, and states of it (B, n)."""

    robot: "Robot"
    frame: str
    q: "np.ndarray"
    v: "np.ndarray"
    a: "np.ndarray"


class Row(NamedTuple):
    """What was found about one function: our times of a call and of a sample of a batch [s], and those of peers.

    `first` is the time [s] of our first call. `differences` are by how much results of peers differ from ours, relative
    to their size; who differs too much has no time.
    """

    call: float
    batch: float
    first: float
    peers: dict[str, float]
    differences: dict[str, float]


def bench(
    robot: Annotated[
        str, typer.Argument(help="As for info; by default the Stanford arm.", show_default=False)
    ] = "stanford",
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long one measurement takes.", min=0.001)
    ] = _LONG,
    as_json: Json = False,
) -> None:
    """Race kinematics and dynamics of a robot against Pinocchio and MuJoCo, as far as they are installed.

    Examples:

      adjoint bench
      adjoint bench panda --json

    Results are compared first; what differs is not timed. Times are microseconds of one call from Python, the best of
    ten rounds in which the systems take turns; "batch" is the time for one of 4096 samples in one call. × says how many
    times as long the peer takes for one sample as our single call, and ×batch as a sample of our batch. Friction and
    motor inertia are left out, since the systems treat them differently. pip install pin mujoco installs the peers.
    """
    task, peers = _task(find_robot(robot)), {}
    for name, enter in {"pinocchio": _pinocchio, "mujoco": _mujoco}.items():
        try:
            peers[name] = enter(task)
        except AdjointError as error:
            note(f"{name} does not take part: {error}")
        except ImportError as error:
            note(f"{name} does not take part: {error}; pip install {_PACKAGES[name]}")
    rows = {}
    with progress("bench") as tell:
        for k, name in enumerate(_FUNCTIONS):
            rows[name] = _raced(
                task, name, {peer: calls[name] for peer, calls in peers.items() if name in calls}, seconds
            )
            tell((k + 1) / len(_FUNCTIONS))
    (_print_json if as_json else _print)(task.robot, list(peers), rows)
    differ = [f"{peer}: {name}" for name, row in rows.items() for peer in row.differences if peer not in row.peers]
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
    return Task(bare, frame_or_default(bare, None), q, v, a)


def _with_leaders_locked(robot: "Robot") -> "Robot":
    """Return the robot without joints that others follow, such as fingers: peers treat them differently."""
    from ..model import neutral

    leaders = sorted({mimic.source for mimic in robot.mimics.values()})
    if not leaders:
        return robot
    home, names = neutral(robot), [robot.body_joint_names[i] for i in leaders]
    note(f"locked, because other joints follow: {', '.join(names)}")
    return robot.locked({name: home[robot.layout.q_start[i]] for name, i in zip(names, leaders, strict=True)})


# --- the race ---------------------------------------------------------------------------------------------------------


def _raced(task: Task, name: str, peers: dict[str, Call], seconds: float) -> Row:
    """Compare the results of one function, and measure all who agree."""
    import numpy as np

    bound, args = _ours(task, name)
    one = [x[0] for x in args]
    start = time.perf_counter()
    ours = bound(*one)
    first = time.perf_counter() - start
    differences = {}
    for peer, call in peers.items():
        call.run()
        differences[peer] = float(np.abs(ours - call.result()).max() / max(1.0, np.abs(ours).max()))
    out = bound(*args)
    calls = {"call": lambda: bound(*one), "batch": lambda: bound(*args, out=out)}
    calls |= {peer: call.run for peer, call in peers.items() if differences[peer] < _AGREE}
    best = _best(calls, seconds)
    return Row(best.pop("call"), best.pop("batch") / _BATCH, first, best, differences)


def _ours(task: Task, name: str) -> tuple[Callable, list["np.ndarray"]]:
    """Return our function of the robot, and its arguments for the whole batch."""
    from .. import dynamics, kinematics

    statics = {"forward_kinematics": {"frame": task.frame}, "jacobian": {"frame": task.frame, "expressed": "world"}}
    function = getattr(kinematics if name in statics else dynamics, name)
    bound = function.bind(task.robot, **statics.get(name, {}))
    given = {"q": task.q, "v": task.v, "a": task.a, "tau": task.a}
    return bound, [given[p.name] for p in bound.parameters if p.name in given]


def _best(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Return the shortest time [s] of a call of each, of ten rounds; they take turns, so that all meet one load."""
    counts, best = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        counts[name] = max(1, int(seconds / 10 / max(time.perf_counter() - start, 1e-7)))
    for _ in range(10):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / counts[name])
    return best


# --- peers ------------------------------------------------------------------------------------------------------------


def _need_plain(robot: "Robot", peer: str) -> None:
    """Raise `ArgumentError` if a robot's coordinates are other ones in a peer."""
    odd = next((k for k in robot.joint_types if k not in ("revolute", "prismatic", "continuous")), None)
    if odd:
        raise ArgumentError(f"robot '{robot.name}' has {odd} joints, whose coordinates differ in {peer}")


def _pinocchio(task: Task) -> dict[str, Call]:
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

    def columns() -> None:  # of a robot with one joint, a matrix becomes a vector
        kept["J"] = pin.computeFrameJacobian(model, data, q, frame, aligned)

    def matrix() -> "np.ndarray":
        M = np.triu(pin.crba(model, data, q).reshape(model.nv, model.nv))
        return (M + np.triu(M, 1).T)[np.ix_(at, at)]

    return {
        "forward_kinematics": Call(place, lambda: data.oMf[frame].homogeneous),
        "jacobian": Call(columns, lambda: np.roll(kept["J"].reshape(6, model.nv), 3, axis=0)[:, at]),
        "inverse_dynamics": Call(lambda: pin.rnea(model, data, q, v, a), lambda: data.tau[at]),
        "forward_dynamics": Call(lambda: pin.aba(model, data, q, v, a), lambda: data.ddq[at]),
        "mass_matrix": Call(lambda: pin.crba(model, data, q), matrix),
    }


def _mujoco(task: Task) -> dict[str, Call]:
    """Return the calls of MuJoCo; it has no Jacobian of a frame by itself."""
    import numpy as np

    from ..extras import package
    from ..model import to_mjcf

    mujoco, robot = package("mujoco", "mjcf", "bench"), task.robot
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
        "inverse_dynamics": Call(inverse, lambda: data.qfrc_inverse[vs].copy()),
        "forward_dynamics": Call(forward, lambda: data.qacc[vs].copy()),
        "mass_matrix": Call(compose, matrix),
    }


def _full_matrix(mujoco: Any, model: Any, data: Any, full: "np.ndarray") -> None:
    """Write MuJoCo's mass matrix as a full matrix; the arguments of its function changed between versions."""
    try:
        mujoco.mj_fullM(model, data, full)
    except TypeError:
        mujoco.mj_fullM(model, full, data.qM)


# --- results ----------------------------------------------------------------------------------------------------------


def _print(robot: "Robot", peers: list[str], rows: dict[str, Row]) -> None:
    header, table = ["function", "ours", "batch"], []
    for peer in peers:
        header += [peer, "×", "×batch"]
    for name, row in rows.items():
        cells = [name, f"{1e6 * row.call:.2f}", f"{1e6 * row.batch:.3f}"]
        for peer in peers:
            took = row.peers.get(peer)
            if took is None:
                cells += ["differs" if peer in row.differences else "", "", ""]
            else:
                cells += [f"{1e6 * took:.2f}", f"{took / row.call:.1f}", f"{took / row.batch:.0f}"]
        table.append(cells)
    print_line(f"{robot.name}, {robot.nv} degrees of freedom: µs for one sample", "bold")
    print_table(header, table)
    total = sum(row.first for row in rows.values())
    print_line(f"the first calls took {number(total, 3)} s together, with compilation where it was not on disk")
    for peer in peers:
        worst = max((row.differences[peer] for row in rows.values() if peer in row.differences), default=0.0)
        print_line(f"results of {peer} differ by at most {worst:.1e}, relative to their size")


def _print_json(robot: "Robot", peers: list[str], rows: dict[str, Row]) -> None:
    functions = {
        name: {
            "call": row.call,
            "batch": row.batch,
            "first_call": row.first,
            "peers": {
                peer: {
                    "call": row.peers.get(peer),
                    "difference": difference,
                    "ratio_call": row.peers[peer] / row.call if peer in row.peers else None,
                    "ratio_batch": row.peers[peer] / row.batch if peer in row.peers else None,
                }
                for peer, difference in row.differences.items()
            },
        }
        for name, row in rows.items()
    }
    print_json({"robot": robot.name, "nv": robot.nv, "batch": _BATCH, "peers": peers, "seconds": functions})
