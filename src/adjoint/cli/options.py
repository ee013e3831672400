"""What several commands take: the robot with its options, frames, values, and how results are shown."""

import contextlib
import functools
import inspect
import io
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .robots import find_robot, matching_files, robot_names

__all__ = ["Degrees", "Expressed", "FrameOption", "Json", "Out", "QOption", "with_robot"]

_PANEL = "Robot"


def _complete_robot(incomplete: str) -> list[str]:
    return [name for name in robot_names() if name.startswith(incomplete)] + matching_files(incomplete)


def _complete_frame(ctx: typer.Context, incomplete: str) -> list[str]:
    given = next((word for word in (ctx.params.get("robot"), *ctx.args) if word and word != "-"), None)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            names = find_robot(given or "").frame_names
    except Exception:  # there is no robot yet, or none of this name: then there is nothing to offer
        return []
    return [name for name in names if name.startswith(incomplete)]


class Base(StrEnum):
    """How the base of a robot stands."""

    fixed = "fixed"
    free = "free"


RobotName = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A file (URDF, MJCF, or a table that convert wrote), - for standard input, a name of the catalog "
        "(puma560, planar:3), or of example-robot-data or robot_descriptions (panda, ur5, g1).",
        autocompletion=_complete_robot,
        show_default=False,
    ),
]
BaseOption = Annotated[
    Base | None,
    typer.Option(
        "--base", help="Whether the base is fixed or moves freely; files of URDF do not say.", rich_help_panel=_PANEL
    ),
]
PackageOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--package-dir",
        metavar="FOLDER",
        help="A folder with packages, for meshes named package://.",
        rich_help_panel=_PANEL,
    ),
]
GravityOption = Annotated[
    str | None,
    typer.Option(
        "--gravity", metavar="X,Y,Z", help="Gravity in m/s²; one number g means 0,0,-g.", rich_help_panel=_PANEL
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
Degrees = Annotated[
    bool,
    typer.Option(
        "--degrees",
        help="Numbers that you give without a unit are degrees if they are angles, and tables "
        "show degrees. JSON, and files that are written, have radians.",
    ),
]
QOption = Annotated[
    str | None,
    typer.Option(
        "--q",
        metavar="NUMBERS|FILE",
        help="Joint positions: 0,0.1,... or '0 0.1 ...', with ; between samples; 30deg and pi/2 are numbers too. One "
        "number alone is for all joints. Or a file: q.csv, data.npz:q. Or - for CSV on standard input, neutral, random "
        "or random:7. By default neutral.",
    ),
]
FrameOption = Annotated[
    str | None,
    typer.Option(
        "--frame",
        metavar="NAME",
        help="The frame; by default 'tool', or else the last frame.",
        autocompletion=_complete_frame,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="FILE", help="Write all numbers into a .csv or .npz file; - is CSV on standard output."
    ),
]


class Expressed(StrEnum):
    """How twists are expressed."""

    world = "world"
    body = "body"
    space = "space"


def with_robot(command: Callable) -> Callable:
    """Return the command with the argument ROBOT and its options in the place of its first parameter, the robot."""
    first, *rest = inspect.signature(command).parameters.values()
    own = {"base": BaseOption, "package_dir": PackageOption, "gravity": GravityOption}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        first.replace(name="robot", annotation=RobotName, kind=keyword),
        *(p.replace(kind=keyword) for p in rest),
        *(inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in own.items()),
    ]

    @functools.wraps(command)
    def run(*, robot: str, base: Any, package_dir: Any, gravity: Any, **options: Any) -> Any:
        found = find_robot(robot, None if base is None else str(base), tuple(package_dir or ()), gravity)
        return command(found, **options)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__
    return run
