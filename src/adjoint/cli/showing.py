"""Commands with something to see: `view` in the browser, and `demo`."""

import tempfile
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .cell_demo import show_cell
from .guard import note
from .motions import read_trajectory
from .options import with_robot
from .output import print_line

if TYPE_CHECKING:
    import numpy as np

    from ..model import Robot
    from ..simulation import Run
    from ..trajectory import Trajectory

__all__ = ["demo", "view"]

Open = Annotated[bool, typer.Option("--open", help="Open the page in your browser.")]

# --- view -------------------------------------------------------------------------------------------------------------


@with_robot
def view(
    robot: "Robot",
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", metavar="FILE", help="Play a run that simulate wrote; several are compared."),
    ] = None,
    trajectory: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Play a motion that trajectory make wrote; likewise.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Write one .html file that needs nothing else, and end."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Who can see it: this computer alone, or 0.0.0.0 for the network.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="The port of the page; by default the first free one from 8080 on.", min=1),
    ] = None,
    open_page: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Whether your browser opens it; by default where there is a screen."),
    ] = None,
) -> None:
    """Show a robot in the browser: move its joints, drag its tool, play motions and runs.

    Examples:

      adjoint view puma560
      adjoint view panda --trajectory move.npz
      adjoint view arm.urdf --run run.npz --save run.html

    The page is served until Ctrl-C. With --save, a file is written that works from disk and can be sent. This needs
    viser and trimesh, which the extra view of adjoint installs.
    """
    from .. import viewer

    thing = _thing(robot, run or [], trajectory or [])
    if save is not None:
        viewer.page(thing).save(save)
        note(f"wrote {save}")
        if open_page:
            webbrowser.open(save.absolute().as_uri())
        return
    with viewer.view(thing, host=host, port=port, open_browser=open_page) as shown:
        shown.wait()


def _thing(robot: "Robot", runs: list[Path], trajectories: list[Path]) -> Any:
    """Return what is to be seen: the robot, one run or motion, or several by name."""
    from ..simulation import Run

    found: dict[str, Any] = {}
    for path in (*runs, *trajectories):
        name = next(name for name in (path.stem, str(path), f"{path} ({len(found)})") if name not in found)
        found[name] = Run.load(path, robot) if len(found) < len(runs) else read_trajectory(robot, path)
    return robot if not found else found if len(found) > 1 else next(iter(found.values()))


# --- demo -------------------------------------------------------------------------------------------------------------

_MASS, _TAKEN = 2.5, 1.1  # [kg] of the part, and when [s] the hand takes it
_STEP = 0.001  # [s]


def demo(
    which: Annotated[
        str, typer.Argument(metavar="[arm|cell]", help="A pick and place under two controllers, or a whole cell.")
    ] = "arm",
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Where files are written; by default a temporary one."),
    ] = None,
    goal: Annotated[
        str, typer.Option(metavar="PDDL", help="What shall be true in the cell, such as '(on red blue)'.")
    ] = "",
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Which random cell; --goal fits its blocks.", min=0)] = 3,
    open_page: Open = False,
) -> None:
    """A PUMA 560 picks a part and places it: planned, checked, simulated under two controllers, shown in a page.

    Examples:

      adjoint demo --open
      adjoint demo cell --open
      adjoint demo cell --seed 7 --goal "(and (on red blue) (on blue green))"

    The page has an animation and the numbers of the run. The other files are the robot as a table, the motion and
    the runs, for the commands that the demo ends with. The cell has a camera, which is calibrated, and blocks, which
    it finds; the arm stacks them under computed torque that does not know their masses, while someone moves a block.
    This needs the extras vision and plot.
    """
    if which not in ("arm", "cell"):
        raise ArgumentError(f"there is no demo '{which}'; there are arm and cell")
    if goal and which != "cell":
        raise ArgumentError("--goal is for the cell: adjoint demo cell --goal ...")
    began = time.perf_counter()
    place = Path(tempfile.mkdtemp(prefix="adjoint-demo-")) if folder is None else folder
    place.mkdir(parents=True, exist_ok=True)
    page = show_cell(place, goal, seed, began) if which == "cell" else _show_arm(place, began)
    if open_page:
        webbrowser.open(page.absolute().as_uri())


def _show_arm(place: Path, began: float) -> Path:
    """Plan, check and simulate a pick and place; the page that shows it."""
    robot = _puma()
    motion = _planned(robot)
    verdict = str(motion.limits_hold(robot))
    print_line(f"1  plan: {motion.duration:g} s, {motion.pieces} polynomials; {verdict}")
    runs = {name: _simulated(robot, motion, name) for name in ("PD with gravity", "computed torque")}
    print_line(
        f"2  simulate: {round(motion.duration / _STEP)} steps, dry friction, a part of {_MASS} kg from {_TAKEN} s on"
    )
    rows = []
    for name, run in runs.items():
        error = _tool_error(robot, run, motion)
        rows.append((name, f"{error.max():.1f} mm", f"{error[-1]:.1f} mm", f"{_effort(robot, run):.0f} %"))
        print_line(
            f"   {name}: tool off by {rows[-1][1]} at most, {rows[-1][2]} at the end; torque {rows[-1][3]} of its limit"
        )
    _write_files(place, robot, motion, runs)
    page = place / "puma.html"
    _write_page(page, verdict, rows, runs, time.perf_counter() - began)
    print_line(f"3  page: {page.absolute()}", "bold")
    print_line(f"took {time.perf_counter() - began:.1f} s; now try")
    for command in ("info", "trajectory check", "simulate"):
        file = place / "puma.dh.toml"
        more = {"trajectory check": f" {place / 'motion.npz'}", "simulate": f" --trajectory {place / 'motion.npz'}"}
        print_line(f"  adjoint {command} {file}{more.get(command, '')}")
    return page


def _puma() -> "Robot":
    """Return the PUMA with limits of velocity and torque, and friction; these numbers are assumed."""
    import numpy as np

    from ..robots import puma560

    return puma560().replace(
        velocity_limit=np.array([3.0, 3, 4, 6, 6, 6]),
        effort_limit=np.array([97.0, 186, 89, 24, 20, 21]),
        damping=np.array([6.0, 10, 4, 0.4, 0.4, 0.2]),
    )


def _hand(x: float, y: float, z: float, turn: float = 0.0) -> "np.ndarray":
    """Return the pose of a hand that looks down, turned about the vertical by `turn` [rad]."""
    import numpy as np

    from ..lie import se3, so3

    return se3.from_rotation_translation(so3.from_rpy([np.pi, 0, turn]), [x, y, z])


def _planned(robot: "Robot") -> "Trajectory":
    """Return the motion from a ready pose to the part, and from there to the goal."""
    import numpy as np

    from .. import trajectory

    ready, part, goal = _hand(0.45, 0.0, 0.1), _hand(0.45, -0.4, -0.3), _hand(0.2, 0.55, -0.2, turn=np.pi / 2)
    there = trajectory.pick_and_place(robot, ready, part, "tool", lift=0.1, times=[0.3, 0.5, 0.3])
    at_part = there(there.duration).q
    back = trajectory.pick_and_place(robot, part, goal, "tool", lift=0.1, times=[0.4, 0.9, 0.4], start=at_part)
    rest = trajectory.quintic(back(back.duration).q, back(back.duration).q, duration=0.3, robot=robot)
    return there.followed_by(back, rest)


def _simulated(robot: "Robot", motion: "Trajectory", name: str, omega: float = 20.0) -> "Run":
    """Simulate the arm under a controller that knows neither the dry friction nor the part in the hand."""
    import numpy as np

    from .. import control, simulation
    from ..dynamics import mass_matrix

    inertia = np.diagonal(mass_matrix(robot, motion(0.0).q))
    law = (
        control.pd(motion, kp=omega**2 * inertia, kd=2 * omega * inertia, gravity=True, model=robot)
        if name.startswith("PD")
        else control.computed_torque(robot, motion, kp=omega**2)
    )
    friction = simulation.friction(coulomb=np.array([5.0, 5, 3, 0.5, 0.5, 0.5]), smoothing=0.02)
    part = simulation.payload("tool", _MASS, com=(0, 0, 0.05), start=_TAKEN)
    seconds = round(motion.duration / _STEP) * _STEP
    return simulation.simulate(
        robot, law, q=motion(0.0).q, duration=seconds, dt=_STEP, record=10, forces=friction, changes=part
    )


def _tool_error(robot: "Robot", run: "Run", motion: "Trajectory") -> "np.ndarray":
    """Return by how much the tool is off its way [mm], at the times of the run."""
    import numpy as np

    from ..kinematics import forward_kinematics

    there, wanted = (forward_kinematics(robot, q, "tool")[:, :3, 3] for q in (run.q, motion(run.t, hold=True).q))
    return 1e3 * np.linalg.norm(there - wanted, axis=-1)


def _effort(robot: "Robot", run: "Run") -> float:
    """Return the largest torque, in percent of its limit."""
    import numpy as np

    return float(100 * np.abs(run.tau / robot.effort_limit).max())


def _write_files(place: Path, robot: "Robot", motion: "Trajectory", runs: dict[str, "Run"]) -> None:
    from . import tables

    (place / "puma.dh.toml").write_text(tables.as_toml(tables.dh_table(robot, "tool")) + "\n", encoding="utf-8")
    motion.save(place / "motion.npz")
    for name, run in runs.items():
        run.save(place / f"{name.split()[0].lower()}.npz")


def _write_page(page: Path, verdict: str, rows: list[tuple], runs: dict[str, "Run"], seconds: float) -> None:
    """Write the page: the animation of both runs, and what was found."""
    from ..drawing.reports import framed, report_text, table
    from ..files import whole_file
    from ..simulation import animate

    with tempfile.TemporaryDirectory() as place:
        film = animate(runs, Path(place) / "film.html").read_text(encoding="utf-8")
    text = report_text(
        "A PUMA 560 picks and places",
        [
            framed(film, "the arm under two controllers"),
            "The hand goes from a ready pose to a part, and carries it to its goal; it comes and leaves along its "
            "approach vector. Before anything moves, positions, speeds and torques are checked along the whole motion: "
            f"{verdict}.",
            f"At {_TAKEN} s the hand takes a part of {_MASS} kg. No controller is told of it, nor of the dry friction "
            "in the joints. The errors are those of the tool.",
            table(("controller", "largest error", "error at the end", "torque, of its limit"), rows),
            f"Planning, checking and both simulations took {seconds:.1f} s, with the compilation of what was not on "
            "disk yet.",
        ],
    )
    with whole_file(page) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
