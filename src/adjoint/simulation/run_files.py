"""Runs in files: .npz with all of a run, and .parquet as a table for other tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..compile.graph.nested import leaves
from ..dynamics.regressors import coordinate_names, dof_names
from ..errors import ArgumentError
from ..extras import package
from ..files import read_npz, whole_file
from ..model.robot import Robot
from .advance import Moment
from .setups import Setup, Surroundings, set_up

if TYPE_CHECKING:
    from .runs import Run

__all__ = ["arrays_of_run", "read_run", "run_path", "write_arrays", "write_run"]

_KNOWN = ("tau", "a", "kinetic", "potential")  # what is computed from the states, and kept in files


def run_path(path, caller: str, *suffixes: str) -> Path:
    """The path, if it ends in one of the suffixes."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"{caller}: path must be a str or os.PathLike, got {type(path).__name__}")
    found = Path(os.fsdecode(path))
    if "\0" in str(found):
        raise ArgumentError(f"{caller}: {str(found)!r} has a null character, which no file's name has")
    if found.suffix.lower() not in suffixes:
        raise ArgumentError(f"{caller}: {found} must end in {' or '.join(suffixes)}")
    return found


def write_run(run: Run, path: str | os.PathLike[str]) -> Path:
    """Writes a run into a file; see `Run.save`."""
    target = run_path(path, "Run.save", ".npz", ".parquet")
    if target.suffix.lower() == ".npz":
        known = {"tau": run.tau, "a": run.a, "kinetic": run.energy.kinetic, "potential": run.energy.potential}
        return write_arrays(target, arrays_of_run(run) | known)
    arrow, parquet = (package(name, "data", "Run.save") for name in ("pyarrow", "pyarrow.parquet"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        parquet.write_table(arrow.table(_columns(run)), unfinished)
    return target


def write_arrays(target: Path, arrays: dict[str, np.ndarray]) -> Path:
    """Writes arrays into a .npz file, which appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **{k: np.asarray(x, float) for k, x in arrays.items()})  # type: ignore[arg-type]
    return target


def arrays_of_run(run: Run) -> dict[str, np.ndarray]:
    """The states of a run, and what is needed to go on from its end."""
    found = {"t": run.t, "q": run.q, "v": run.v, "dt": np.array(run.setup.dt), "step": np.array(run.end.step)}
    found |= {f"state_{k}": x for k, x in enumerate(leaves(run.state))} | _marks(run.robot)
    return found | {f"end_{k}": x for k, x in run.end.ends.items()}


def _marks(robot: Robot) -> dict[str, np.ndarray]:
    """What tells robots apart, as numbers: the fingerprint in pieces of 40 bits, and the letters of the name."""
    pieces = [int(robot.fingerprint[k : k + 10], 16) for k in range(0, 40, 10)]
    return {"robot": np.array(pieces, float), "robot_name": np.array([ord(letter) for letter in robot.name], float)}


def _columns(run: Run) -> dict[str, np.ndarray]:
    """The columns of the table of a run: one row for each time, run after run."""
    many = int(np.prod(run.batch, dtype=int))
    found = {"run": np.repeat(np.arange(many), len(run.t))} if run.batch else {}
    found["t"] = np.tile(run.t, many)
    names = {"q": coordinate_names(run.robot)} | dict.fromkeys(("v", "a", "tau"), dof_names(run.robot))
    for field, joints in names.items():
        table = np.broadcast_to(getattr(run, field), (*run.batch, len(run.t), len(joints))).reshape(
            many * len(run.t), len(joints)
        )
        found |= {f"{field}_{name}": column for name, column in zip(joints, table.T, strict=True)}
    return found


def read_run(path: str | os.PathLike[str], robot: Robot, controller) -> tuple:
    """The parts of a run that `write_run` wrote into a .npz file; see `Run.load`."""
    source = run_path(path, "Run.load", ".npz")
    if not source.is_file():
        raise ArgumentError(f"{source}: {'it is no file' if source.exists() else 'there is no such file'}")
    found = read_npz(source)
    if {"mark", "done"} <= set(found):
        raise ArgumentError(
            f"{source}: this is a checkpoint of `simulate`, not a file of Run.save; the same call of simulate with "
            "checkpoint= goes on from it, and gives the run"
        )
    missing = [name for name in ("t", "q", "v", "dt", "step", "end_stopped") if name not in found]
    if missing:
        raise ArgumentError(f"{source}: not a file of a run: {', '.join(missing)} missing")
    t, q, v = found["t"], found["q"], found["v"]
    dt, step = (_one_number(found[name], f"{source}: {name}") for name in ("dt", "step"))
    setup = set_up(robot, controller, dt, "semi_implicit", 1, Surroundings())
    _check(source, setup, found)
    states = [] if controller is None else [found[f"state_{k}"] for k in range(len(setup.plan.state.shapes))]
    shapes = setup.plan.state.shapes
    last = [x[(..., -1, *(slice(None) for _ in core))] for x, core in zip(states, shapes, strict=True)]
    ends = {k[4:]: x for k, x in found.items() if k.startswith("end_")}
    end = Moment(int(step), q[..., -1, :], v[..., -1, :], last, ends)
    known = {k: found[k] for k in _KNOWN if k in found}
    return setup, t, q, v, setup.plan.state.build(states), end, known


def _one_number(x: np.ndarray, label: str) -> float:
    if x.shape != () or not 0 <= x < 2**53:
        raise ArgumentError(f"{label} is {x.tolist()!r:.40}; it must be one number, 0 or more")
    return float(x)


def _named(found: dict[str, np.ndarray]) -> str:
    """The name of the robot in a file."""
    letters = found.get("robot_name", np.zeros(0)).ravel()[:60]
    return repr("".join(chr(int(x)) if 32 <= x < 0xD800 else "?" for x in letters))


def _check(source: Path, setup: Setup, found: dict[str, np.ndarray]) -> None:
    """Raises `ArgumentError` if the arrays of a file are not those of a run of this robot and controller."""
    robot, t, q, v = setup.robot, *(found[name] for name in "tqv")
    if t.ndim != 1 or not t.size or q.shape[-2:] != (*t.shape, robot.nq) or v.shape != (*q.shape[:-1], robot.nv):
        raise ArgumentError(
            f"{source}: t {t.shape}, q {q.shape} and v {v.shape} are not those of a run of robot '{robot.name}', "
            f"which has {robot.nq} coordinates and {robot.nv} degrees of freedom"
        )
    for name, mark in _marks(robot).items():
        if name in found and not np.array_equal(found[name], mark):  # a file need not have it
            raise ArgumentError(
                f"{source}: the run is of another robot, {_named(found)}, not of '{robot.name}' as it is"
            )
    batch = q.shape[:-2]
    wanted = {"end_stopped": batch} | dict.fromkeys(("tau", "a"), v.shape)
    wanted |= dict.fromkeys(("kinetic", "potential"), (*batch, *t.shape))
    for name, shape in wanted.items():
        if name in found and found[name].shape != shape:
            raise ArgumentError(f"{source}: {name} has shape {found[name].shape}; it must be {shape}")
    if setup.law is not None:
        states = {k: x.shape for k, x in found.items() if k.startswith("state_")}
        if states != {f"state_{k}": (*batch, *t.shape, *core) for k, core in enumerate(setup.plan.state.shapes)}:
            raise ArgumentError(f"{source}: the controller's state in it is not that of '{setup.law.name}'")
