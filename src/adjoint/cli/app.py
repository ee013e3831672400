"""The program: all commands in one, grouped by task."""

import inspect
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from . import forces, formulas, keeping, models, motions, poses, racing, reaching, recordings, showing, simulating
from .guard import Commands

__all__ = ["app"]

app = typer.Typer(
    cls=Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_TASKS = {
    "See": (showing.demo, showing.view),
    "Look at a robot": (models.info, models.check, models.convert),
    "Compute": (poses.fk, reaching.ik, poses.jacobian, forces.torque),
    "Move": (simulating.simulate,),
    "Write mathematics": (formulas.equations, formulas.compile),
    "Learn from data": (recordings.identify, recordings.calibrate),
    "This program": (racing.bench,),
}


def _help(command: Callable) -> str:
    """Return the docstring of a command with every paragraph in one line; lines that are indented stay as they are."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


for _command in (keeping.info, keeping.clear, keeping.where):
    keeping.group.command(help=_help(_command))(_command)

for _command in (motions.make, motions.check, motions.retime, motions.sample, motions.plot):
    motions.group.command(help=_help(_command))(_command)

for _task, _commands in _TASKS.items():
    for _command in _commands:
        app.command(rich_help_panel=_task, help=_help(_command))(_command)
app.add_typer(motions.group, name="trajectory", rich_help_panel="Move")
app.add_typer(keeping.group, name="cache", rich_help_panel="This program")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"adjoint {sys.modules[__name__.partition('.')[0]].__version__}")
        raise typer.Exit


def overview(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Geometric robotics at the command line: kinematics, dynamics, motions and control of any robot.

    First steps:

      adjoint demo                          a robot at work, in your browser
      adjoint info puma560                  what a robot is
      adjoint check arm.urdf                what is wrong with a model
      adjoint torque arm.urdf --q 0,0.5,1   what holds it there
      adjoint COMMAND --help                examples, and what is printed

    ROBOT is a file, - for standard input, or a name such as puma560, planar:3 or panda.
    --json makes the output of a command readable by programs. The exit code is 0 if all
    is well, 1 if a check failed, 2 for wrong input.
    """
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


app.callback(invoke_without_command=True, help=_help(overview))(overview)
