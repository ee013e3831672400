"""`page`: robots and their motions in one HTML file, to send, to keep, or to put into other pages."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from pathlib import Path

from ..drawing.pages import page_text
from ..errors import ArgumentError
from ..files import whole_file
from ..model.input_checks import positive, truth
from ..model.robot import Robot
from ..planning.cell import CellRun
from ..polymer.atoms import Polymer
from .cell_reports import cell_report
from .showing import actors_of, named
from .worlds_shown import Shown, shown_world

__all__ = ["Page", "page"]

_HEIGHT = 480  # of a page inside another [pixels]


@dataclass(frozen=True, repr=False)
class Page:
    """An HTML page that shows robots: `text` is all of it. Notebooks display it.

    page(robot).save("arm.html")
    """

    title: str
    text: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page into an .html file, which appears whole or not at all."""
        if not isinstance(path, str | os.PathLike):
            raise ArgumentError(f"Page.save: path must be a str or os.PathLike, got {type(path).__name__}")
        target = Path(os.fsdecode(path))
        if target.suffix.lower() not in (".html", ".htm"):
            raise ArgumentError(f"Page.save: {target} must end in .html or .htm")
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as unfinished:
            unfinished.write_text(self.text, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        """The page inside another one, as notebooks show it."""
        style = f"width:100%;height:{_HEIGHT}px;border:0;border-radius:8px"
        return f'<iframe style="{style}" title="{html.escape(self.title)}" srcdoc="{html.escape(self.text)}"></iframe>'

    def __repr__(self) -> str:
        return f"<Page '{self.title}', {len(self.text) / 1e6:.2f} MB>"


def page(
    thing, *, robot: Robot | Polymer | None = None, q=None, title: str | None = None, meshes: bool = True,
    curves: bool = True, frames_per_second: float = 50.0, arrange: str | None = None,
) -> Page:  # fmt: skip
    """A page that shows a robot, or a motion of it, or several: one HTML file that needs no network and no server.

        page(robot).save("arm.html")                                    # sliders; pull the tool, and the joints follow
        page(run).save("run.html")                                      # plays, with plots of joints and energy
        page({"PD": one, "computed torque": other}).save("both.html")
        page(trajectory, robot=robot)                                   # notebooks show it
        page(world).save("cell.html")                                   # its robots, and its parts beside them
        page(plan_motion(world, "arm", None, goal)).save("plan.html")   # a plan among its obstacles
        page(aj.program.run(program, world)).save("program.html")       # a program, with the line that runs

    `thing` is a `Robot`, a `Polymer`, a `Run`, a `Trajectory` (with its `robot`, if it does not know it), a `Motion`,
    states of a molecule (with the `Polymer` as `robot`), or several of them in a list or a dictionary {name: ...}. It
    may also be a `World`, a world that `aj.world.follow` follows, a `MotionPlan`, a `PickAndPlace`, a `Scene`, or a
    `ProgramRun`, whose program is shown beside it; what a robot holds goes where its hand goes. A `TaskRun` has the
    story of its task beside it, and the page of a `CellRun` is a report: camera, plan, triangle tables and torques.
    Of a batch, all members are shown: over each other ("together": the first in full, the others as ghosts), or "side
    by side", which is the default for more than 50. A click on a robot, or its number, chooses the one whose curves and
    pose are shown. A run that is lost stays where it was.

    - `q` (nq,) is where a robot stands at first; with (k, nq) there are k of it.
    - `meshes=False` draws robots from their kinematics, even if their files have meshes. Pages are then smaller.
    - `curves=False` leaves out the plots beside a motion, and what must be computed for them.
    - `frames_per_second` of a motion are kept at most; the page goes smoothly from one to the next.
    """
    if robot is not None and not isinstance(robot, Robot | Polymer):
        raise ArgumentError(f"page: robot must be a Robot or a Polymer, got {type(robot).__name__}")
    rate = positive(frames_per_second, "page: frames_per_second")
    if isinstance(thing, CellRun):
        title = "A cell at work" if title is None else title
        return Page(title, cell_report(thing, title, truth(meshes, "page: meshes"), rate))
    options = truth(meshes, "page: meshes"), truth(curves, "page: curves")
    shown = shown_world(thing, rate, options[1], "page")
    if shown is None:
        actors = actors_of(named(thing, "page"), "page", robot=robot, q=q, rate=rate, curves=options[1])
        shown = Shown(", ".join(dict.fromkeys(actor.robot.name for actor in actors)), actors, [])
    elif robot is not None or q is not None:
        raise ArgumentError(f"page: a {type(thing).__name__} knows where its robots are; leave out robot and q")
    if title is None:
        title = shown.title
    elif not isinstance(title, str):
        raise ArgumentError(f"page: title must be a str, got {type(title).__name__}")
    return Page(title, _text(title, shown, options[0], arrange))


def _text(title: str, shown: Shown, meshes: bool, arrange: str | None) -> str:
    return page_text(title, shown.actors, shown.props, meshes=meshes, arrange=arrange, listing=shown.listing)
