"""Commands about a robot's model: `info`, `check` and `convert`."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import AdjointError, ArgumentError
from .guard import FAILED, in_options, note
from .options import FrameOption, Json, with_robot
from .output import number, print_json, print_line, print_lines, print_pairs, print_table, write_result
from .robots import frame_or_default

if TYPE_CHECKING:
    from ..model import Robot

__all__ = ["check", "convert", "info", "write_robot"]

_MOST = 200  # joints and bodies that are listed
_LARGE = 500  # of a robot with more coordinates, only what takes a time proportional to their number is computed
_SAMPLES = 4096

# --- info -------------------------------------------------------------------------------------------------------------


@with_robot
def info(robot: "Robot", frame: FrameOption = None, as_json: Json = False) -> None:
    """Show what a robot is: its tree, joints with limits, masses, frames, and what its functions cost.

    Examples:

      adjoint info puma560
      adjoint info arm.urdf --frame gripper
      cat arm.urdf | adjoint info -
      adjoint info panda --json | jq .joints[0]

    A body without a line before its name is the only child of the one above.
    The reach is how far the frame gets from the base in 4096 random configurations
    within the limits. Operations are those of one call of the compiled function.
    """
    tip = frame_or_default(robot, frame)
    data = _described(robot, tip)
    if as_json:
        print_json(data)
        return
    print_line(_title(robot), "bold")
    print_pairs(
        {
            "mass": f"{number(robot.mass)} kg moving" + _base_mass(robot),
            "gravity": " ".join(map(number, robot.gravity)) + " m/s²",
            "reach": f"{number(data['reach'], 4)} m, of frame '{tip}'" if data["reach"] is not None else "",
            "findings": _findings(robot),
        }
    )
    print_line()
    _print_tree(robot)
    print_line()
    _print_joints(robot)
    print_line()
    _print_operations(data["operations"])


def _title(robot: "Robot") -> str:
    n, joints = len(robot.body_names), len(robot.joint_names)
    return (
        f"{robot.name}: {n} {'body' if n == 1 else 'bodies'}, {joints} joint{'s' * (joints != 1)} "
        f"(nq {robot.nq}, nv {robot.nv}), {len(robot.frame_names)} frames"
    )


def _base_mass(robot: "Robot") -> str:
    return f", and {number(robot.base_inertia[0])} kg of the base" if robot.base_inertia[0] else ""


def _findings(robot: "Robot") -> str:
    """Say what the doctor found, if it is more than notes."""
    from ..model import check

    if len(robot.body_names) > _LARGE:
        return ""
    report = check(robot)
    counts = {"error": len(report.errors), "warning": len(report.warnings)}
    parts = [f"{n} {name}{'s' * (n > 1)}" for name, n in counts.items() if n]
    return f"{' and '.join(parts)}: adjoint check shows them" if parts else ""


def _print_tree(robot: "Robot") -> None:
    """Print a row for each body: its joint, mass and frames."""
    fixed: dict[int, list[str]] = {}
    for spot in robot.frames:
        fixed.setdefault(spot.body, []).append(spot.name)
    rows = [(robot.base_name, "", _mass(robot.base_inertia[0]), ", ".join(fixed.get(-1, [])))]
    for k, (branch, i) in enumerate(_tree(robot)):
        if k == _MOST:
            rows.append((f"... and {len(robot.body_names) - _MOST} more", "", "", ""))
            break
        joint = f"{robot.body_joint_names[i]} ({robot.joint_types[i]})"
        rows.append((branch + robot.body_names[i], joint, number(robot.inertias[i, 0]), ", ".join(fixed.get(i, []))))
    print_table(["body", "moved by joint", "mass [kg]", "frames fixed to it"], rows, fold="frames fixed to it")


def _mass(x: float) -> str:
    return number(x) if x else ""


def _tree(robot: "Robot") -> Iterator[tuple[str, int]]:
    """Yield (what is drawn before the name, number of the body) in depth-first order; only branchings indent."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(robot.parents.tolist()):
        children.setdefault(parent, []).append(i)
    stack = [(-1, "", "")]
    while stack:
        i, branch, below = stack.pop()
        if i >= 0:
            yield branch, i
        under = children.get(i, [])
        if len(under) == 1:
            stack.append((under[0], below, below))
        else:
            marks = [("└─ ", "   ")] + [("├─ ", "│  ")] * len(under)
            stack += [(k, below + a, below + b) for k, (a, b) in zip(reversed(under), marks, strict=False)]


def _print_joints(robot: "Robot") -> None:
    header = [
        "joint",
        "q",
        "type",
        "lower",
        "upper",
        "velocity",
        "effort",
        "damping",
        "friction",
        "armature",
        "follows",
    ]
    rows = []
    for joint in _joints(robot)[:_MOST]:
        limits = [_shown(joint[key]) for key in header[3:7]]
        cells = [*limits, *(_shown(joint[key]) if any(joint[key]) else "" for key in header[7:10])]
        rows.append([joint["name"], _place(joint["q"]), joint["type"], *cells, joint["follows"] or ""])
    print_table(header, rows, title="joints [rad, m, s, N]")


def _shown(values: list[float]) -> str:
    """Write the numbers of a joint's degrees of freedom: one if all are equal, and nothing if there is no limit."""
    shown = [number(x, 5) for x in values]
    return "".join(shown[:1]) if len(set(shown)) <= 1 else " ".join(x or "∞" for x in shown)


def _place(at: list[int]) -> str:
    return "" if not at else str(at[0]) if len(at) == 1 else f"{at[0]}-{at[-1]}"


def _print_operations(operations: dict[str, dict[str, int]]) -> None:
    header = ["operations of one call", "add", "mul", "div", "sqrt", "sin, cos", "compare"]
    print_table(header, [[name, *counts.values()] for name, counts in operations.items()])


def _described(robot: "Robot", tip: str) -> dict[str, Any]:
    """Return all that `info` knows, as data."""
    bodies = [
        {
            "name": name,
            "parent": robot.base_name if parent < 0 else robot.body_names[parent],
            "joint": joint,
            "mass": mass,
        }
        for name, parent, joint, mass in zip(
            robot.body_names, robot.parents.tolist(), robot.body_joint_names, robot.inertias[:, 0].tolist(), strict=True
        )
    ]
    return {
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": robot.mass,
        "base": {"name": robot.base_name, "mass": robot.base_inertia[0]},
        "gravity": robot.gravity,
        "frame": tip,
        "reach": _reach(robot, tip),
        "bodies": bodies,
        "joints": _joints(robot),
        "frames": [
            {"name": f.name, "body": robot.base_name if f.body < 0 else robot.body_names[f.body]} for f in robot.frames
        ],
        "operations": _operations(robot, tip),
    }


def _joints(robot: "Robot") -> list[dict[str, Any]]:
    """Return the joints of all bodies; those that follow another one have no place in q."""
    found = []
    fields = {"velocity": "velocity_limit", "effort": "effort_limit"}
    for body in robot.bodies:
        joint, mimic = body.joint, body.joint.mimic
        q, v = ([], []) if mimic else (list(range(robot.nq)[joint.q]), list(range(robot.nv)[joint.v]))
        row: dict[str, Any] = {"name": joint.name, "type": joint.type, "q": q, "v": v}
        row |= {name: getattr(robot, name)[q].tolist() for name in ("lower", "upper")}
        for name in ("velocity", "effort", "damping", "friction", "armature"):
            row[name] = getattr(robot, fields.get(name, name))[v].tolist()
        row["follows"] = None
        if mimic:
            row["follows"] = f"{number(mimic.multiplier)} × {robot.body_joint_names[mimic.source]}"
            row["follows"] += f" {mimic.offset:+.4g}" if mimic.offset else ""
        found.append(row)
    return found


def _reach(robot: "Robot", tip: str) -> float | None:
    """Return the largest distance [m] of the frame from the base, or None if joints slide without limits."""
    import numpy as np

    from ..kinematics import forward_kinematics
    from ..model import random_configuration

    if not 0 < robot.nq <= _LARGE:
        return None
    sliding = {"prismatic", "helical", "planar", "free", "screw"}
    kinds = [robot.joint_types[i] for i in robot.path(robot.frame(tip).body)]
    base = None
    if kinds and kinds[0] == "free":
        kinds, base = kinds[1:], robot.body_names[robot.path(robot.frame(tip).body)[0]]
    at = [robot.layout.q_start[i] for i in robot.path(robot.frame(tip).body) if robot.joint_types[i] == "prismatic"]
    if set(kinds) & sliding - {"prismatic"} or not np.isfinite(robot.upper[at] - robot.lower[at]).all():
        return None
    T = forward_kinematics(robot, random_configuration(robot, _SAMPLES, rng=0), tip, relative_to=base)
    return float(np.linalg.norm(T[:, :3, 3], axis=-1).max())


def _operations(robot: "Robot", tip: str) -> dict[str, dict[str, int]]:
    """Return {function: {class of operations: how many one call takes}}."""
    from .. import dynamics, kinematics

    bound = {
        "forward_kinematics": lambda: kinematics.forward_kinematics.bind(robot, frame=tip),
        "jacobian": lambda: kinematics.jacobian.bind(robot, frame=tip),
        "inverse_dynamics": lambda: dynamics.inverse_dynamics.bind(robot),
        "forward_dynamics": lambda: dynamics.forward_dynamics.bind(robot),
        "mass_matrix": lambda: dynamics.mass_matrix.bind(robot),
    }
    if robot.nv > _LARGE:  # its matrix would have n² numbers
        del bound["mass_matrix"]
    found = {}
    for name, bind in bound.items():
        try:
            found[name] = bind().operations._asdict()
        except AdjointError:  # the robot has no masses, or is too large for this function
            continue
    return found


# --- check ------------------------------------------------------------------------------------------------------------

Strict = Annotated[bool, typer.Option("--strict", help="Fail on warnings too, such as in continuous integration.")]


@with_robot
def check(robot: "Robot", strict: Strict = False, as_json: Json = False) -> None:
    """Examine a model: what cannot be true, what is most likely a mistake, and what is good to know.

    Examples:

      adjoint check arm.urdf
      adjoint check arm.urdf --strict && echo fine
      adjoint check arm.urdf --json

    An error cannot be true of any robot, such as a negative mass. A warning is most
    likely a mistake, such as limits in degrees. A note is good to know. Each finding
    has its line in the file. The exit code is 1 if there are errors, and with
    --strict also if there are warnings; otherwise it is 0.
    """
    from ..model import check

    report = check(robot)
    failed = bool(report.errors or (strict and report.warnings))
    if as_json:
        print_json({"robot": report.robot, "ok": not failed, "findings": [_finding(f) for f in report]})
    else:
        print_lines(in_options(str(report)), {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"})
    if failed:
        raise typer.Exit(FAILED)


def _finding(finding) -> dict[str, Any]:
    where = finding.where
    return {
        "level": finding.level,
        "code": finding.code,
        "element": finding.element,
        "message": in_options(finding.message),
        "file": where.file if where else None,
        "line": where.line if where else None,
    }


# --- convert ----------------------------------------------------------------------------------------------------------


class Format(StrEnum):
    """The formats that `convert` writes."""

    urdf = "urdf"
    mjcf = "mjcf"
    dh = "dh"
    poe = "poe"


class ScrewForm(StrEnum):
    """In which frame screws are."""

    space = "space"
    body = "body"


_OF_SUFFIX = {".urdf": "urdf", ".mjcf": "mjcf", ".xml": "mjcf"}


@with_robot
def convert(
    robot: "Robot",
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="The file to write, or - for standard output.", show_default=False),
    ],
    to: Annotated[
        Format | None, typer.Option("--to", help="The format; by default what the name of the file says.")
    ] = None,
    frame: FrameOption = None,
    form: Annotated[
        ScrewForm, typer.Option(help="Of poe: screws in the base frame, or in the tool frame.")
    ] = ScrewForm.space,
) -> None:
    """Convert a robot between URDF, MJCF, Denavit-Hartenberg tables and screws (products of exponentials).

    Examples:

      adjoint convert puma560 puma.urdf
      adjoint convert arm.urdf arm.xml             MJCF, for MuJoCo
      adjoint convert arm.urdf arm.dh.toml         a DH table; arm.poe.json has screws
      adjoint convert arm.urdf - --to dh           a table to read

    Tables are of the joints between the base and the frame (--frame). They end in
    .toml or .json, which are read back as ROBOT, or in .txt, for people. Masses go
    into a table only if all bodies are on the way to the frame.
    """
    kind = write_robot(robot, target, to, frame, str(form))
    if target != "-":
        note(f"wrote {target} ({kind})")


def write_robot(robot: "Robot", target: str, to: Any = None, frame: str | None = None, form: str = "space") -> str:
    """Write a robot into a file in the format that its name or `to` says; return the format."""
    from ..model import GRAVITY, to_mjcf, to_urdf

    kind = _format(target, to)
    if kind in ("dh", "poe"):
        text = _as_table(robot, kind, target, frame_or_default(robot, frame), form)
    else:
        text = (to_urdf if kind == "urdf" else to_mjcf)(robot.reframed("joint"))
        if kind == "urdf" and tuple(robot.gravity) != GRAVITY:
            note(f"URDF has no gravity; read it with --gravity {','.join(map(number, robot.gravity))}")
    write_result(target, text)
    return kind


def _format(target: str, to: Any) -> str:
    """Return the format that the option or the name of the file says."""
    parts = Path(target).name.lower().split(".")
    named = next((part for part in parts[1:-1] if part in ("dh", "poe")), None)
    found = str(to) if to else named or _OF_SUFFIX.get(Path(target).suffix.lower())
    if found is None:
        raise ArgumentError(
            f"convert: {target!r} does not say its format; give --to urdf, mjcf, dh or poe, or a name that ends in "
            ".urdf, .xml (MJCF), .dh.toml, .poe.json or the like"
        )
    return found


def _as_table(robot: "Robot", kind: str, target: str, tip: str, form: Any) -> str:
    """Return a table in the language that the file's name says; text for people if it says none."""
    from . import tables

    content = tables.dh_table(robot, tip) if kind == "dh" else tables.poe_table(robot, tip, str(form))
    if "inertias" not in content and robot.inertias.any():
        note(f"masses are left out: robot '{robot.name}' has bodies that are not on the way to frame '{tip}'")
    write = {".json": tables.as_json, ".toml": tables.as_toml, ".txt": tables.as_text}
    suffix = Path(target).suffix.lower() if target != "-" else ".txt"
    if suffix not in write:
        raise ArgumentError(f"convert: {target} must end in {', '.join(write)}: tables have these formats")
    return write[suffix](content)
