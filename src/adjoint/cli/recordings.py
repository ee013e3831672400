"""Commands that learn a robot's numbers from data: `identify` its masses and friction, `calibrate` its geometry."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .guard import note
from .models import write_robot
from .options import FrameOption, Json, with_robot
from .output import print_json, print_lines, progress
from .robots import frame_or_default
from .values import parsed_number

if TYPE_CHECKING:
    from ..model import Robot

__all__ = ["calibrate", "identify"]

DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help="The recording, as above.", show_default=False)]
RobotOut = Annotated[
    str | None,
    typer.Option("--out", metavar="FILE", help="Write the better robot, as convert does: .urdf, .xml, .dh.toml."),
]
PlotOut = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw a picture: .png, .pdf or .svg.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="OURS=THEIRS", help="A column has another name in the file: q_elbow=joint_3/position."
    ),
]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Accept data that look wrong, such as angles in degrees.")]


def _renamed(columns: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in columns or ()]
    wrong = next((ours for ours, equals, theirs in pairs if not equals or not theirs), None)
    if wrong is not None:
        raise ArgumentError(f"--column: {wrong!r} must be OURS=THEIRS, such as q_elbow=joint_3/position")
    return {ours: theirs for ours, _, theirs in pairs}


# --- identify ---------------------------------------------------------------------------------------------------------


@with_robot
def identify(
    robot: "Robot",
    data: DataArgument,
    cutoff: Annotated[
        float | None,
        typer.Option(
            metavar="HZ", help="Of a filter, where velocities are missing: ten times the motion's highest frequency."
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(metavar="HZ", help="Of a file without a column time.")] = None,
    column: Columns = None,
    prior: Annotated[
        float, typer.Option(metavar="NUMBER", help="How much the model is trusted where data tell nothing.")
    ] = 1.0,
    no_check: NoCheck = False,
    out: RobotOut = None,
    plot: PlotOut = None,
    as_json: Json = False,
) -> None:
    """Find masses, inertias and friction of a robot from a recording of motions and torques.

    Examples:

      adjoint identify puma560 recording.csv --out better.urdf
      adjoint identify arm.urdf log.csv --cutoff 20 --column time=t --column q_elbow=pos3
      adjoint identify arm.urdf recording.csv --plot torques.png --json

    DATA is a .csv or .parquet file with the columns q_<joint>, v_<joint>, a_<joint>, tau_<joint>, in SI units and
    radians. With time in place of v and a, --cutoff differentiates positions. The table shows how much of each
    torque is explained (R²), and the combinations of parameters that torques can tell, with 95 % intervals.
    """
    from ..identification import differentiate, identify, read_samples

    with progress("identify"):
        samples = read_samples(data, robot, columns=_renamed(column), rate=rate)
        if samples.v is None or samples.a is None:
            if cutoff is None:
                raise ArgumentError(f"identify: {data} has no velocities or accelerations; --cutoff HZ computes them")
            samples = differentiate(robot, samples, cutoff)
        found = identify(robot, samples, prior=prior, check=not no_check)
    _finish(found, out, plot)
    if not as_json:
        print_lines(found.summary(), {"WARNING": "yellow", "Identification": "bold"})
        return
    columns = zip(found.base.groups, found.estimate, found.standard_error, found.interval(), strict=True)
    parameters = [{"name": g, "estimate": e, "standard_error": s, "interval": i} for g, e, s, i in columns]
    result = {"robot": robot.name, "samples": found.samples, "condition": found.condition, "noise": found.noise}
    result |= {"r_squared": found.r_squared, "deviation": found.deviation, "warnings": list(found.warnings)}
    print_json(result | {"parameters": parameters})


def _finish(found: Any, out: str | None, plot: Path | None) -> None:
    """Write the better robot and the picture."""
    if out is not None:
        write_robot(found.robot, out)
        note(f"wrote {out}")
    if plot is not None:
        note(f"wrote {found.plot(plot)}")


# --- calibrate --------------------------------------------------------------------------------------------------------


class Loss(StrEnum):
    """How much samples count that do not fit."""

    squares = "squares"
    huber = "huber"
    tukey = "tukey"


@with_robot
def calibrate(
    robot: "Robot",
    data: DataArgument,
    frame: FrameOption = None,
    estimate: Annotated[
        str, typer.Option(metavar="LIST", help="Some of screws, placements, offsets, gears, base, tool.")
    ] = "screws,offsets,base,tool",
    noise: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Of measurements: rad,m of poses, or one number in m.")
    ] = None,
    loss: Annotated[
        Loss, typer.Option(help="huber or tukey, where some samples may be altogether wrong.")
    ] = Loss.squares,
    folds: Annotated[int, typer.Option(metavar="N", help="Parts of a cross-validation; 0 is none.", min=0)] = 0,
    column: Columns = None,
    no_check: NoCheck = False,
    out: RobotOut = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write all numbers into .json, or parameters into .csv."),
    ] = None,
    plot: PlotOut = None,
    as_json: Json = False,
) -> None:
    """Find a robot's true geometry from measurements of its tool: axes, encoder offsets, base and tool.

    Examples:

      adjoint calibrate puma560 poses.csv --out calibrated.urdf
      adjoint calibrate arm.urdf positions.csv --frame tcp --estimate offsets,tool --loss huber

    DATA is a .csv file: q_<joint>, what the encoders read, and x, y, z with qw, qx, qy, qz (poses), x, y, z alone
    (positions), or distance; units in the names, such as x [mm], are understood. The table shows the residuals before
    and after, and each parameter with its error.
    """
    from ..calibration import calibrate, read_measurements

    tip, recording = frame_or_default(robot, frame), read_measurements(data, robot, columns=_renamed(column))
    if recording.measured is None:
        raise ArgumentError(
            f"calibrate: {data} has no measured columns; contacts are calibrated in Python, see calibrate"
        )
    options: dict[str, Any] = {"noise": _noise(noise), "loss": str(loss), "folds": folds, "check": not no_check}
    with progress("calibrate"):
        found = calibrate(robot, tip, recording.q, recording.measured, estimate=tuple(_words(estimate)), **options)
    _finish(found, out, plot)
    if report is not None:
        found.save(report)
        note(f"wrote {report}")
    if not as_json:
        print_lines(found.summary(), {"WARNING": "yellow", "Calibration": "bold"})
        return
    rows = zip(found.names, found.values, found.standard_error, [p.unit for p in found.parameters], strict=True)
    parameters = [{"name": n, "change": x, "standard_error": s, "unit": unit} for n, x, s, unit in rows]
    result = {"robot": robot.name, "frame": tip, "rank": found.rank, "condition": found.condition, "base": found.base}
    print_json(result | {"warnings": list(found.warnings), "parameters": parameters})


def _words(text: str) -> list[str]:
    return [word for word in text.replace(",", " ").split() if word]


def _noise(text: str | None) -> Any:
    if text is None:
        return None
    found = [parsed_number(word) for word in _words(text)]
    if not found or None in found or len(found) > 2:
        raise ArgumentError(f"--noise: {text!r} must be one number, or two of poses: rad,m")
    return found[0] if len(found) == 1 else tuple(found)
