"""`equations_of_motion(robot)`: the equations of motion of a robot as formulas to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import ArgumentError
from ..model.input_checks import count
from ..model.needs import need_robot
from ..model.robot import Robot
from .expanded import Equations, expanded_equations
from .factored import factored_equations
from .naming import make_symbols
from .parameters import named, numbers_of, on_axes, values

__all__ = ["equations_of_motion"]

_FORMS = ("expanded", "factored")


def equations_of_motion(
    robot: Robot,
    *,
    names: Sequence[str] | None = None,
    symbols: bool | Mapping[str, object] = False,
    form: str = "expanded",
    most_terms: int = 1000,
) -> Equations:
    """Return the equations of motion M(q) q̈ + C(q, q̇) q̇ + φ(q) + friction = τ of a robot, as formulas in SymPy.

    The result is an `Equations`, verified against the kernels of `adjoint.dynamics`. It has the matrices `M`, `C`
    (nv, nv), `phi`, `friction`, `tau` (nv, 1); `latex()` and `to_html(path)` show them, `at(q, v, a)` evaluates them,
    and `verify()` compares them with the kernels. Every joint must have one degree of freedom; mimics and trees are
    welcome.

        >>> equations_of_motion(aj.robots.two_link()).M
        Matrix([
        [  cos(q2) + 5/3, cos(q2)/2 + 1/3],
        [cos(q2)/2 + 1/3,             1/3]])

    - `names` are those of the coordinates, by default q1, q2, ...; rates have a d before them, accelerations dd.
    - `symbols` says which of the robot's numbers are symbols. False leaves them all numbers, and True makes symbols of
      all that are not 0. A mapping {name of a number: polynomial} makes symbols of some, such as {"l1": "l", "c1":
      "l/2"}; a polynomial is a number, a text of numbers, names and + - * / **, or a SymPy expression.
    - `form` is "expanded", in cosines and sines of sums of angles, for small robots; or "factored", in inner products
      of the screws, for robots of any size.
    - `most_terms` is the number of terms above which an expanded form is refused: it takes long, and nobody reads it.

    The names of the numbers count bodies, joints and coordinates from 1: masses m1; centres of mass c1, or c1x c1y c1z;
    moments about them I1xx I1xy ...; lengths l1, or places of joints p2x p2y p2z; pitches h1; gravity g, or gx gy gz;
    armature, damping and dry friction J1 d1 f1. `adjoint.equations.parameters` explains them.

    The factored form is that of Park, Bobrow & Ploen (1995), (40) and (60)-(64).
    """
    need_robot(robot, "equations_of_motion")
    if not isinstance(form, str) or form not in _FORMS:
        raise ArgumentError(f"equations_of_motion: no form {form!r}; there are {', '.join(_FORMS)}")
    count(most_terms, "equations_of_motion: most_terms")
    if not robot.nv:
        raise ArgumentError(f"equations_of_motion: robot '{robot.name}' has no joints, nothing moves")
    if not robot.inertias.any() and not robot.armature.any():
        raise ArgumentError(
            f"equations_of_motion: robot '{robot.name}' has no inertia, all its masses are 0; see check(robot), and "
            "robot.replace(inertias=...), or give links their inertias when it is built"
        )
    moved = on_axes(robot)
    numbers = numbers_of(moved)
    chosen = make_symbols(robot, values(named(moved, numbers), numbers), names, symbols)
    return expanded_equations(robot, chosen, most_terms) if form == "expanded" else factored_equations(robot, chosen)
