"""The report of a cell at work: the film, what the camera saw, the plan, how it was watched, and the torques."""

from __future__ import annotations

import html
from itertools import pairwise

import numpy as np

from ..display import counted
from ..drawing.pages import page_text
from ..drawing.reports import drawn, figure, framed, image, report_text, table
from ..dynamics import inverse_dynamics
from ..planning.cell import CellLook, CellRun, draw_sightings
from ..planning.cell.cell_scenes import ROBOT, block_mass
from ..planning.monitoring import plot_execution, plot_table, triangle_table
from ..planning.refining import TaskEvent, joined_run
from ..planning.refining.goal_facts import goal_text
from ..program.running.program_runs import ProgramRun
from ..world.parts import Part
from ..world.state import World
from .worlds_shown import shown_world

__all__ = ["cell_report"]

_MOST_LOOKS = 6  # images of looks with surprises


def cell_report(run: CellRun, title: str, meshes: bool, rate: float) -> str:
    """The text of the report of a run; the film has `rate` frames a second."""
    parts = [*_film(run, meshes, rate), _outcome(run), *_camera(run), *_sights(run)]
    if run.plan is not None and run.plan.solved:
        parts += _plan(run)
    if run.run is not None:
        parts += [*_watching(run), *_torques(run)]
    return report_text(title, [*parts, *_effort(run)])


def _film(run: CellRun, meshes: bool, rate: float) -> list[str]:
    if run.run is None or not run.run.runs:
        return []
    shown = shown_world(run.run, rate, False, "page")
    assert shown is not None
    page = page_text("the cell", shown.actors, shown.props, meshes=meshes, listing=shown.listing)
    return [framed(page, "the arm at work")]


def _outcome(run: CellRun) -> str:
    goal = f"The goal is {goal_text(run.goal)}. "
    if not run.reached or run.run is None:
        return f"{goal}It was not reached: {run.reason}."
    plans, runs = len(run.run.plans) - 1, run.run.runs
    more = f", after {counted(plans, 'new plan')}" if plans else ""
    return f"{goal}It was reached in {counted(len(runs), 'action')} and {run.run.duration:.1f} s of motion{more}."


def _camera(run: CellRun) -> list[str]:
    found = run.calibration
    if found is None:
        return []
    photo = np.repeat(found.photo[..., None], 3, axis=2) if found.photo.ndim == 2 else np.array(found.photo)
    for u, v in np.rint(found.corners).astype(int):
        photo[max(v - 2, 0) : v + 3, max(u - 2, 0) : u + 3] = (255, 90, 30)
    return [
        "<h2>The camera is calibrated</h2>",
        f"The arm shows a chessboard in {found.photos} ways; nobody knows how the hand holds it. From its corners come "
        f"the lens and the place of the camera: {1e3 * found.turn_error:.2f} mrad and {1e3 * found.shift_error:.2f} mm "
        f"from the truth, with a focal length that is {100 * found.focal_error:.3f} % off.",
        f"<div class='images'>{image(photo, 'one of the photos, and the corners that were found')}</div>",
    ]


def _sights(run: CellRun) -> list[str]:
    first = run.looks[0]
    rows = [[name, *_sight(first, name, part)] for name, part in run.scene.blocks.items()]
    picture = draw_sightings(first.image, run.camera, first.seen, run.scene.blocks)
    return [
        "<h2>The camera looks</h2>",
        "The program knows shapes and colours of the blocks. Where they are, it has from this image; what they weigh, "
        "it does not know.",
        image(picture, "what the camera sees, and what was found in it"),
        table(["block", "lies on", "seen off by [mm]", "believed [kg]", "true [kg]"], rows),
    ]


def _sight(look: CellLook, name: str, part: Part) -> list[str]:
    """What the camera saw of a block, and what the block weighs; a block need not be seen, nor be there at all."""
    seen, true = look.seen, look.actual
    below, off = seen.below.get(name, "not seen"), ""
    if name in seen.poses and name in true.parts:
        off = f"{1e3 * np.linalg.norm((seen.poses[name] - true.pose(name))[:3, 3]):.2f}"
    return [below, off, f"{block_mass(part):.2f}", f"{block_mass(true.parts[name]):.2f}" if name in true.parts else ""]


def _plan(run: CellRun) -> list[str]:
    assert run.plan is not None
    actions = "\n".join(f"{k}  {action}" for k, action in enumerate(run.plan.actions, 1))
    return [
        "<h2>The plan</h2>",
        f"Search and geometry agree after {counted(len(run.plan.rounds), 'round')} on "
        f"{counted(len(run.plan.actions), 'action')}, each with a grasp and motions that touch nothing:",
        f"<pre>{html.escape(actions)}</pre>",
        "The triangle table tells what each action needs (its row), and which earlier action gives it (the column).",
        drawn(plot_table(triangle_table(run.plan.plan))),
    ]


def _watching(run: CellRun) -> list[str]:
    assert run.run is not None
    why = [_why(run, event) for event in run.run.events]
    rows = [
        [f"{e.time:.1f} s", str(e.kernel), e.what, str(e.action or ""), words]
        for e, words in zip(run.run.events, why, strict=True)
    ]
    odd = {
        e.step: f"{e.time:.1f} s: {words}"
        for e, words in zip(run.run.events, why, strict=True)
        if e.diagnosis is not None
    }
    looks = [
        image(draw_sightings(run.looks[k + 1].image, run.camera, run.looks[k + 1].seen, run.scene.blocks), words)
        for k, words in list(odd.items())[:_MOST_LOOKS]
        if k + 1 < len(run.looks)
    ]
    return [
        "<h2>The plan is watched</h2>",
        "Before each action the camera looks. The highest true kernel of the table tells which action is next: what is "
        "done already is skipped, what was undone is repeated, and where no kernel is true, a new plan is made.",
        table(["time", "kernel", "what", "action", "why"], rows, words=True),
        *([f"<div class='images'>{''.join(looks)}</div>"] if looks else []),
        "Each small triangle is a decision: green facts are true, red ones are not, and the frame is the kernel.",
        drawn(plot_execution(run.run.execution)),
    ]


def _why(run: CellRun, event: TaskEvent) -> str:
    """What the program makes of an event, and what someone had done, which only the report knows."""
    told = event.diagnosis.cause if event.diagnosis is not None else event.note
    moved = ", ".join(moved_before(run, event.step))
    return f"{told}: someone had moved {moved}" if moved and event.diagnosis is not None else told


def moved_before(run: CellRun, step: int) -> list[str]:
    """The blocks that someone moved between the end of an action and the look before the numbered step."""
    assert run.run is not None
    if not (step + 1 < len(run.looks) and step <= len(run.run.runs)):
        return []
    now, last = run.looks[step + 1].actual, run.run.runs[step - 1] if step else None
    was = run.scene.world if last is None else last.world if last.actual is None else last.actual
    return [
        name
        for name in run.scene.blocks
        if name in was.frames and name in now.frames and not np.allclose(was.pose(name), now.pose(name), atol=1e-6)
    ]


def _torques(run: CellRun) -> list[str]:
    assert run.run is not None
    if not run.run.runs:
        return []
    joined = joined_run(run.run)
    needed, held = motion_torques(joined, run.scene.world)
    exerted = joined.tau[ROBOT]  # NaN in kinematics
    if np.isfinite(exerted).any():
        tau, told = exerted, "The controller exerted these torques while the hand held what is shaded."
    else:
        tau, told = needed, "The motion needs these torques, with the true masses of what the hand holds (shaded)."
    parts = ["<h2>Torques</h2>", told]
    with figure(parts, (8, 3.4)) as (made, axes):
        axes.plot(joined.t, tau, lw=1, label=[f"joint {k}" for k in range(1, tau.shape[1] + 1)])
        for begin, end, name in held:
            axes.axvspan(begin, end, color="#8888", alpha=0.35, lw=0)
            axes.text((begin + end) / 2, axes.get_ylim()[1], name, ha="center", va="bottom", fontsize=8)
        axes.set(xlabel="time [s]", ylabel="torque [N m]", xlim=(0, joined.t[-1]))
        made.legend(loc="outside lower center", ncols=6, fontsize=8)
    return parts


def motion_torques(run: ProgramRun, actual: World) -> tuple[np.ndarray, list[tuple[float, float, str]]]:
    """Torques (N, n) [N m] of the cell's arm along a run, and (begin, end, block) of the times when it holds one."""
    q = run.q[ROBOT]
    v = np.gradient(q, run.period, axis=0)
    a = np.gradient(v, run.period, axis=0)
    tau, held = np.zeros_like(q), []
    first = run.worlds[0][0]
    bounds = [tick - first for tick, _ in run.worlds] + [len(run)]
    for (_, world), (begin, end) in zip(run.worlds, pairwise(bounds), strict=True):
        true = {name: part for name, part in actual.parts.items() if name in world.parts}
        robot = world.changed(parts=world.parts | true).mounted(ROBOT)
        tau[begin:end] = inverse_dynamics(robot, q[begin:end], v[begin:end], a[begin:end])
        held += [(run.t[begin], run.t[end - 1], name) for name in world.holding(ROBOT) if end > begin]
    return tau, _merged(held)


def _merged(held: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Spans of the same block that follow each other become one."""
    found: list[tuple[float, float, str]] = []
    for begin, end, name in held:
        if found and found[-1][2] == name and begin - found[-1][1] < 0.1:
            found[-1] = (found[-1][0], end, name)
        else:
            found.append((begin, end, name))
    return found


def _effort(run: CellRun) -> list[str]:
    words = {"calibrate": "photos, and the calibration", "look": "the first look", "plan": "actions and motions",
             "run": "the run, with all looks and new plans"}  # fmt: skip
    rows = [[words.get(name, name), f"{seconds:.1f} s"] for name, seconds in run.seconds.items()]
    parts = ["<h2>What it took</h2>", table(["step", "computed in"], rows)]
    if run.run is not None:
        met = ", ".join(f"{c.a} and {c.b} by {1e3 * c.depth:.1f} mm" for c in run.contacts) or "nothing touched"
        fell = f"{', '.join(run.dropped)} fell" if run.dropped else "nothing fell"
        parts.append(
            "A second look at all motions, by convex hulls at every tick and with the blocks where they really were, "
            f"says: {met}; {fell}."
        )
    return parts
