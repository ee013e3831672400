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
    found |= {f"state_{k}": x for k, x in enumerate(leaves(run.state))}
    return found | {f"end_{k}": x for k, x in run.end.ends.items()}


def _columns(run: Run) -> dict[str, np.ndarray]:
    """The columns of the table of a run: one row for each time, run after run."""
    many = int(np.prod(run.batch, dtype=int))
    found = {"run": np.repeat(np.arange(many), len(run.t))} if run.batch else {}
    found["t"] = np.tile(run.t, many)
    names = {"q": coordinate_names(run.robot)} | dict.fromkeys(("v", "a", "tau"), dof_names(run.robot))
    for field, joints in names.items():
        table = np.broadcast_to(getattr(run, field), (*run.batch, len(run.t), len(joints))).reshape(-1, len(joints))
        found |= {f"{field}_{name}": column for name, column in zip(joints, table.T, strict=True)}
    return found


def read_run(path: str | os.PathLike[str], robot: Robot, controller) -> tuple:
    """The parts of a run that `write_run` wrote into a .npz file; see `Run.load`."""
    source = run_path(path, "Run.load", ".npz")
    if not source.is_file():
        raise ArgumentError(f"{source}: {'it is no file' if source.exists() else 'there is no such file'}")
    found = read_npz(source)
    missing = [name for name in ("t", "q", "v", "dt", "step", "end_stopped") if name not in found]
    if missing:
        raise ArgumentError(f"{source}: not a file of a run: {', '.join(missing)} missing")
    t, q, v = found["t"], found["q"], found["v"]
    setup = set_up(robot, controller, float(found["dt"]), "semi_implicit", 1, Surroundings())
    states = [found[k] for k in sorted((k for k in found if k.startswith("state_")), key=lambda k: int(k[6:]))]
    _check(source, setup, t, q, v, states, controller)
    ends = {k[4:]: x for k, x in found.items() if k.startswith("end_")}
    shapes = setup.plan.state.shapes if controller is not None else [x.shape[q.ndim - 1 :] for x in states]
    last = [x[(..., -1, *(slice(None) for _ in core))] for x, core in zip(states, shapes, strict=True)]
    end = Moment(int(found["step"]), q[..., -1, :], v[..., -1, :], last, ends)
    state = setup.plan.state.build(states) if controller is not None else tuple(states)
    return setup, t, q, v, state, end, {k: found[k] for k in _KNOWN if k in found}


def _check(source: Path, setup: Setup, t, q, v, states: list, controller) -> None:
    """Raises `ArgumentError` if the arrays of a file are not those of a run of this robot and controller."""
    robot, times = setup.robot, t.shape[:1]
    if t.ndim != 1 or not t.size or q.shape[-2:] != (*times, robot.nq) or v.shape[-2:] != (*times, robot.nv):
        raise ArgumentError(
            f"{source}: t {t.shape}, q {q.shape} and v {v.shape} are not those of a run of robot '{robot.name}', "
            f"which has {robot.nq} coordinates and {robot.nv} degrees of freedom"
        )
    if controller is not None and [x.shape[q.ndim - 1 :] for x in states] != list(setup.plan.state.shapes):
        raise ArgumentError(f"{source}: the controller's state in it is not that of '{setup.law.name}'")  # type: ignore[union-attr]
