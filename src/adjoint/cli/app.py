"""The program: all commands in one, grouped by task."""

import inspect
import re
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from . import (
    forces,
    formulas,
    keeping,
    models,
    motions,
    poses,
    programs,
    racing,
    reaching,
    recordings,
    showing,
    simulating,
    tasks,
)
from .guard import Commands

__all__ = ["app"]

_TASKS = {
    "See": (showing.demo, showing.view),
    "Look at a robot": (models.info, models.check, models.convert),
    "Compute": (poses.fk, reaching.ik, poses.jacobian, forces.torque),
    "Move": (simulating.simulate,),
    "Plan": (tasks.plan,),
    "Write mathematics": (formulas.equations, formulas.compile),
    "Learn from data": (recordings.identify, recordings.calibrate),
    "This program": (racing.bench,),
}
_GROUPS = {  # {name: (task, what it is, or a function that also does something without a command, commands)}
    "trajectory": (
        "Move",
        "Make motions of joints, check them against limits, change their times, and draw them.",
        (motions.make, motions.check, motions.retime, motions.sample, motions.plot),
    ),
    "program": (
        "Move",
        programs.program,
        (programs.run, programs.check, programs.format, programs.trace),
    ),
    "cache": (
        "This program",
        "Show or clear the compiled functions that are kept on disk.",
        (keeping.info, keeping.clear, keeping.where),
    ),
}


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
    show_help(ctx)


def show_help(ctx: typer.Context) -> None:
    """Print what a group of commands has, if none of them is asked for."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def _flowing(command: Callable) -> str:
    """Return the docstring of a command with every paragraph in one line; lines that are indented stay as they are."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    text = "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)
    return re.sub(r"(?=\[[a-z])", r"\\", text)  # [mm] is a unit, not a style


def _assembled() -> typer.Typer:
    program = typer.Typer(
        cls=Commands,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback(invoke_without_command=True, help=_flowing(overview))(overview)
    for task, commands in _TASKS.items():
        for command in commands:
            program.command(rich_help_panel=task, help=_flowing(command))(command)
    for name, (task, what, commands) in _GROUPS.items():
        group = typer.Typer(cls=Commands)
        alone, told = (show_help, what) if isinstance(what, str) else (what, _flowing(what))
        group.callback(invoke_without_command=True, help=told)(alone)
        for command in commands:
            group.command(help=_flowing(command))(command)
        program.add_typer(group, name=name, rich_help_panel=task)
    return program


app = _assembled()
"""The program."""
