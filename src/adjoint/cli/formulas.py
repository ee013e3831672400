"""Commands that write a robot's mathematics: `equations` as formulas, `compile` as program text."""

import inspect
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, nearest
from .guard import note
from .options import Expressed, FrameOption, Json, with_robot
from .output import print_json, write_result
from .robots import frame_or_default

if TYPE_CHECKING:
    from ..compile import Kernel
    from ..model import Robot

__all__ = ["compile", "equations"]

TextOut = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write it into a file.")]

# --- equations --------------------------------------------------------------------------------------------------------


class Formulas(StrEnum):
    """How formulas are written."""

    text = "text"
    latex = "latex"
    html = "html"


class EquationForm(StrEnum):
    """Forms of equations."""

    expanded = "expanded"
    factored = "factored"


@with_robot
def equations(
    robot: "Robot",
    to: Annotated[Formulas | None, typer.Option("--to", help="By default text, or what the file's name says.")] = None,
    form: Annotated[
        EquationForm, typer.Option(help="Expanded, for small robots; or factored, for robots of any size.")
    ] = EquationForm.expanded,
    symbols: Annotated[
        bool, typer.Option("--symbols", help="Masses, lengths and so on are symbols, not numbers.")
    ] = False,
    most_terms: Annotated[
        int, typer.Option(metavar="N", help="An expanded form with more terms is refused.", min=1)
    ] = 1000,
    out: TextOut = None,
    as_json: Json = False,
) -> None:
    """The equations of motion M ddq + C dq + phi + F = tau of a robot, as formulas to read.

    Examples:

      adjoint equations two_link
      adjoint equations two_link --symbols --to latex
      adjoint equations planar:3 --out planar3.html
      adjoint equations puma560 --form factored

    dq and ddq are velocities and accelerations of the joints, phi is the force of gravity, and F that of friction, if
    there is any. The formulas were compared with the compiled functions before they are shown. Expanded forms are in
    sines and cosines of sums of angles; factored ones are inner products of the joints' screws. This needs SymPy, which
    the extra sym of adjoint installs.
    """
    from ..equations import equations_of_motion

    kind = str(to) if to else _kind(out)
    found = equations_of_motion(robot, symbols=symbols, form=str(form), most_terms=most_terms)
    to_file = out not in (None, "-")
    if kind == "html" and not to_file and not as_json:
        raise ArgumentError("equations: a page needs a file: --out equations.html")
    if kind == "html" and to_file:
        found.to_html(str(out))
    elif to_file or not as_json:
        write_result(out, str(found) if kind == "text" else found.latex())
    if as_json:
        print_json({"robot": robot.name, "form": str(form), "text": str(found), "latex": found.latex()})
    if to_file:
        note(f"wrote {out}")


def _kind(out: str | None) -> str:
    endings = {"tex": "latex", "html": "html", "htm": "html"}
    return endings.get((out or "").rpartition(".")[2].lower(), "text")


# --- compile ----------------------------------------------------------------------------------------------------------


class Language(StrEnum):
    """Languages of program text."""

    c = "c"
    llvm = "llvm"
    asm = "asm"


def kernels() -> dict[str, "Kernel"]:
    """Return {name: function} of all functions of a robot that can be written as program text."""
    from .. import dynamics, inverse, kinematics
    from ..compile import Kernel

    named = {name: getattr(module, name) for module in (kinematics, dynamics, inverse) for name in module.__all__}
    found = {name: value for name, value in named.items() if isinstance(value, Kernel)}
    return {name: k for name, k in found.items() if "robot" in inspect.signature(k).parameters}


def _complete_function(incomplete: str) -> list[str]:
    return [name for name in kernels() if name.startswith(incomplete)]


@with_robot
def compile(
    robot: "Robot",
    function: Annotated[
        str,
        typer.Option(
            "--function", metavar="NAME", help="A function of a robot; an unknown name lists them.",
            autocompletion=_complete_function,
        ),
    ] = "inverse_dynamics",
    to: Annotated[Language, typer.Option("--to", help="C99, LLVM's IR, or the assembly of this machine.")] = Language.c,
    frame: FrameOption = None,
    expressed: Annotated[
        Expressed, typer.Option(help="Of jacobian and the like: how twists are expressed.")
    ] = Expressed.body,
    derivative: Annotated[
        str | None, typer.Option(metavar="INPUT", help="Write the derivative by this input, such as q.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the C function.")] = None,
    out: TextOut = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Write a function of a robot as program text: self-contained C99, LLVM's IR, or assembly.

    Examples:

      adjoint compile puma560 --function forward_dynamics --out fd.c
      adjoint compile arm.urdf --function jacobian --frame gripper --to llvm
      adjoint compile arm.urdf --function inverse_dynamics --derivative q

    The robot's numbers are constants in the text, and the function has no loops over joints, no allocations and no
    branches that depend on data. A comment at the top of the C file explains its arguments.
    """
    kernel = _bound(robot, function, frame, str(expressed))
    kernel = kernel.jacobian(derivative) if derivative else kernel
    text = kernel.source(str(to), name)
    if as_json:
        data = {"robot": robot.name, "function": function, "language": str(to), "source": text}
        print_json(data | {"operations": kernel.operations._asdict()})
        return
    write_result(out, text)
    if out not in (None, "-"):
        note(f"wrote {out}: {sum(kernel.operations)} operations")


def _bound(robot: "Robot", function: str, frame: str | None, expressed: str) -> "Kernel":
    """Return the function of this robot, with a frame if it needs one."""
    known = kernels()
    if function not in known:
        near = nearest(function, list(known))
        every = "" if near.startswith("did you mean") else f"there are {', '.join(sorted(known))}"
        raise ArgumentError(f"compile: no function {function!r} of a robot; {every or near}")
    taken = inspect.signature(known[function]).parameters
    given: dict[str, Any] = {"frame": frame_or_default(robot, frame)} if "frame" in taken else {}
    given |= {"expressed": expressed} if "expressed" in taken else {}
    return known[function].bind(robot, **given)
