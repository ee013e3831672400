"""`plot`: figures of whatever the library has to show, in one style."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..drawing.plots import draw_robot
from ..drawing.style import saved_figure
from ..errors import ArgumentError
from ..extras import package
from ..model.robot import Robot
from ..polymer.atoms import Polymer
from ..program.running.program_runs import ProgramRun
from ..simulation.run_figures import run_figure
from ..simulation.runs import Run
from ..trajectory.draw import motion_figure, pose_figure, trajectory_figure
from ..trajectory.optimal.motion import Motion
from ..trajectory.piecewise import Trajectory
from ..trajectory.poses.pose_trajectory import PoseTrajectory
from .programs_shown import program_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot"]


def plot(thing, q=None, *, path: str | os.PathLike[str] | None = None, **options) -> Figure:
    """A matplotlib `Figure` of a robot at q, a run, a trajectory or a molecule; with a `path`, it is also saved there.

        >>> figure = plot(robots.puma560(), [0.3, -0.8, 0.5, 0.0, 0.6, 0.0], axes=True, path="arm.png")

    - A `Robot` or a `Polymer` is drawn in space at q (nq,), or at q (k, nq), where all but the first are pale. By
      default the joints of a robot are at 0, or as near as limits allow, and a molecule is as it was made. The options
      are those of `drawing.plots.draw_robot`: view, frames, axes, names, center_of_mass, floor, meshes, vector, size.
    - A `ProgramRun` is drawn over time: joints, widths of hands, and the forces that were read.
    - A `Run`, a `Trajectory`, a `Motion` and a `PoseTrajectory` are drawn over time. A trajectory takes `robot=`, whose
      limits and torques are then drawn too.

    The path may end with .png, .pdf or .svg. Notebooks show the figure. This needs matplotlib: pip install
    'adjoint[plot]'.
    """
    package("matplotlib", "plot", "plot")
    if path is not None and not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"plot: path must be the path of a file, got {type(path).__name__}")
    figure = _figure(thing, q, options)
    if path is not None:
        saved_figure(figure, path, "plot")
    return figure


def _figure(thing, q, options: dict[str, Any]) -> Any:
    if isinstance(thing, Polymer):
        return _drawn(thing.robot, thing.q if q is None else q, options)
    if isinstance(thing, Robot):
        return _drawn(thing, q, options)
    if not isinstance(thing, (Run, ProgramRun, Trajectory, Motion, PoseTrajectory)):
        known = "a Robot, Polymer, Run, ProgramRun, Trajectory, Motion or PoseTrajectory"
        raise ArgumentError(f"plot draws {known}, got {type(thing).__name__}")
    if q is not None:
        raise ArgumentError(f"plot: q belongs to a robot, not to a {type(thing).__name__}")
    _refuse(thing, options, *(["robot"] if isinstance(thing, Trajectory) else []))
    if isinstance(thing, Trajectory):
        return trajectory_figure(thing, **options)
    if isinstance(thing, Run):
        return run_figure(thing)
    if isinstance(thing, ProgramRun):
        return program_figure(thing)
    if isinstance(thing, Motion):
        return motion_figure(thing)
    return pose_figure(thing)


def _drawn(robot: Robot, q, options: dict[str, Any]) -> Any:
    _refuse(robot, options, *(draw_robot.__kwdefaults__ or {}))
    return draw_robot(robot, q, **options)


def _refuse(thing, options: dict[str, Any], *known: str) -> None:
    """Raises an error about options that a thing does not have."""
    if unknown := [name for name in options if name not in known]:
        has = f"; it has {', '.join(known)}" if known else "; it has none"
        raise ArgumentError(f"plot: a {type(thing).__name__} has no option {unknown[0]!r}{has}")
