"""Runs of robot programs to look at: robots, parts and fingers in time, forces, and the text whose lines run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing.actors import Actor, Curves
from ..drawing.listings import Listing
from ..drawing.props import Prop
from ..drawing.style import finished, house_style, time_figure
from ..dynamics.regressors import coordinate_names, dof_names
from ..program.running.program_runs import ProgramRun
from ..world.state import World
from ..world.views.world_drawing import world_props
from .showing import motion_curves

__all__ = ["listing_of", "program_actors", "program_figure", "program_props"]

_TOLD = {"print", "guard", "monitor", "watch", "signal", "grasp", "release", "abort", "aborted", "failed", "limit"}


def kept_ticks(run: ProgramRun, rate: float) -> np.ndarray:
    """The ticks that are shown: `rate` a second, those at which a line begins or the world changes, and the last."""
    step = max(1, round(1.0 / (rate * run.period)))
    first = run.worlds[0][0]
    events = [tick - first for tick, _ in run.worlds]
    lines = np.flatnonzero(np.diff(run.line)) + 1
    # Just before the world changes, parts are still where they were.
    found = np.concatenate([np.arange(0, len(run), step), lines, events, np.array(events) - 1, [len(run) - 1]])
    return np.unique(np.clip(found.astype(int), 0, len(run) - 1))


def program_actors(run: ProgramRun, placed, kept: np.ndarray, curves: bool) -> list[Actor]:
    """The robots; `placed(world, name)` is a robot whose base frame is that of the world."""
    actors = []
    for name, q in run.q.items():
        robot = placed(run.start, name)
        actor = Actor(name, robot, run.t[kept], q[kept][None], hand=run.start.robots[name].gripper is None)
        if curves:
            v = np.gradient(q, run.period, axis=0) if len(q) > 1 else np.zeros_like(q)
            shown = motion_curves(robot, q[kept], v[kept]) if robot.nq == robot.nv else ()
            actor = actor._replace(curves=(*shown, *_forces(run, name, kept)))
        actors.append(actor)
    return actors


def _forces(run: ProgramRun, name: str, kept: np.ndarray) -> tuple[Curves, ...]:
    """The forces of the joints and those at the hand, if they are known, and the width of the hand."""
    found: tuple[Curves, ...] = ()
    tau = run.tau[name][kept]
    if np.isfinite(tau).any():
        found += (Curves("joint forces", "N m or N", dof_names(run.start.robots[name].robot), tau),)
    wrench = run.wrench[name][kept]
    if np.isfinite(wrench).any():
        found += (Curves("forces on the hand", "N", ("x", "y", "z"), wrench[:, 3:]),)
    if run.start.robots[name].gripper is not None:
        found += (Curves("width of the hand", "mm", ("width",), 1e3 * run.width[name][kept][:, None]),)
    return found


def program_props(run: ProgramRun, kept: np.ndarray) -> list[Prop]:
    """Parts that rest, parts that are carried, and fingers that open and close."""
    names, t = list(run.q), run.t[kept]
    fingers = _fingers(run, names, kept)
    props: dict[str, Prop] = {}
    for world in dict.fromkeys([run.start, *(w for _, w in run.worlds)]):  # parts may come later
        for prop in world_props(world, actors=names):
            props.setdefault(prop.name, prop)
    moved = set(run.moved)
    found = []
    for name, prop in props.items():
        if name in fingers:
            prop = prop._replace(poses=fingers[name], t=t)
        elif name in moved:
            poses = run.poses(name)[kept]
            poses = np.where(np.isnan(poses), poses[~np.isnan(poses[:, 0, 0])][0], poses)
            prop = prop._replace(poses=poses, t=t, actor=None, body=-1)
        found.append(prop)
    return found


def _fingers(run: ProgramRun, names: list[str], kept: np.ndarray) -> dict[str, np.ndarray]:
    """{name of a solid of a hand: poses (frames, 4, 4) in the body that carries it}; they are linear in the width."""
    found = {}
    for name in names:
        gripper = run.start.robots[name].gripper
        if gripper is None:
            continue
        width = run.width[name][kept]
        ends = [_hand(run.start.set_gripper(name, w), names, name) for w in (gripper.least, gripper.opening)]
        part = (width - gripper.least) / (gripper.opening - gripper.least)
        for solid, shut in ends[0].items():
            found[solid] = shut + part[:, None, None] * (ends[1][solid] - shut)
    return found


def _hand(world: World, names: list[str], robot: str) -> dict[str, np.ndarray]:
    solids = [p for p in world_props(world, actors=names) if p.name.startswith(f"{robot}.")]
    return {p.name: p.poses[0] for p in solids}


def listing_of(run: ProgramRun) -> Listing | None:
    """The text of the program with the line that runs at each tick, and what it did; None if there is no text."""
    source = run.program.source
    if source is None:
        return None
    first = run.worlds[0][0]
    at = {0: int(run.line[0])} | {int(k): int(run.line[k]) for k in np.flatnonzero(np.diff(run.line)) + 1}
    notes: dict[int, str] = {}
    for event in run.trace:
        if event.kind in _TOLD:
            told = " ".join(str(x) for x in event.data.values()) if event.data else ""
            notes[min(max(event.tick - first, 0), len(run) - 1)] = f"{event.kind} {told}".strip()[:120]
    notes[len(run) - 1] = f"{run.status}: {run.message}" if run.message else run.status
    ticks = sorted(set(at) | set(notes))
    lines, texts, line, note = [], [], 0, ""
    for k in ticks:
        line, note = at.get(k, line), notes.get(k, note)
        lines.append(line)
        texts.append(note)
    return Listing(source.name, source.text, run.t[ticks], np.array(lines), tuple(texts))


def program_figure(run: ProgramRun) -> Any:
    """Joints of each robot over time, the width of its hand, and the forces on it where they were read."""
    every = np.arange(len(run))
    rows: list[tuple[str, tuple[str, ...], np.ndarray]] = []
    for name, q in run.q.items():
        rows.append((f"{name} [rad or m]", coordinate_names(run.start.robots[name].robot), q))
        rows += [(f"{name}: {x.name} [{x.unit}]", x.labels, x.values) for x in _forces(run, name, every)]
    with house_style("plot"):
        figure = time_figure("plot", max(len(rows), 1))
        for axes, (label, names, values) in zip(figure.axes, rows, strict=False):
            axes.plot(run.t, values, label=names)
            axes.set_ylabel(label)
            if names != rows[0][1] and len(names) > 1:  # the legend of the figure is that of its first row
                axes.legend(loc="upper left")
        return finished(figure, repr(run).strip("<>"))
