"""What the commands about programs take: the program, the world, inputs, and how it runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .robots import matching_files

__all__ = [
    "OPENING",
    "ArmOption",
    "File",
    "GripperOption",
    "InputOption",
    "Language",
    "LanguageOption",
    "LimitOption",
    "PeriodOption",
    "Place",
    "PlaceOption",
    "RobotOption",
    "SpeedOption",
    "StartOption",
    "WorldOption",
]


class Language(StrEnum):
    """Languages of programs, which are the suffixes of their files, too."""

    al = "al"
    val = "val"
    aml = "aml"
    autopass = "autopass"
    rapt = "rapt"


class Place(StrEnum):
    """Where programs run."""

    kinematic = "kinematic"
    dynamic = "dynamic"


OPENING = 0.1  # [m] of the hand that --robot has
_SUFFIXES = tuple(f".{language}" for language in Language)
_WORLD = "World"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A program; its suffix is its language: .al, .val, .aml, .autopass, .rapt. - is standard input.",
        autocompletion=lambda incomplete: matching_files(incomplete, _SUFFIXES),
        show_default=False,
    ),
]
LanguageOption = Annotated[
    Language | None, typer.Option("--language", help="The language; by default what the suffix of the file says.")
]
WorldOption = Annotated[
    Path | None,
    typer.Option("--world", metavar="FILE", help="The world, as World.to_json wrote it.", rich_help_panel=_WORLD),
]
RobotOption = Annotated[
    str | None,
    typer.Option(
        "--robot",
        metavar="ROBOT",
        help="A world with this robot alone, named 'arm': a name of the catalog or a model file.",
        rich_help_panel=_WORLD,
    ),
]
GripperOption = Annotated[
    float,
    typer.Option("--gripper", metavar="METRES", help="How far the hand of --robot opens.", rich_help_panel=_WORLD),
]
StartOption = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="NUMBERS", help="Joints of --robot at the start, as --q of fk.", rich_help_panel=_WORLD
    ),
]
ArmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arm",
        metavar="NAME=ROBOT",
        help="Which robot of the world a name of the program means, such as barm=left.",
        rich_help_panel=_WORLD,
    ),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=VALUE",
        help="What comes from outside: 'signal 3=1', 'force z=-2.5', or a sensor. 'signal 3=0,1.5:1' is 0 at first, "
        "and 1 from 1.5 s on.",
    ),
]
PlaceOption = Annotated[Place, typer.Option("--backend", help="Arms that follow exactly, or with masses and contact.")]
PeriodOption = Annotated[float, typer.Option(metavar="SECONDS", help="The time between two ticks.")]
LimitOption = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="The longest time that a program runs; by default 10000 s.")
]
SpeedOption = Annotated[
    float | None,
    typer.Option(metavar="FRACTION", help="The part of the full speed of all moves that do not say their own."),
]
