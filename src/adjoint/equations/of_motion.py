"""`equations(robot)`: the equations of motion of a robot as formulas to read."""

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
    """M(q) q̈ + C(q, q̇) q̇ + φ(q) + friction = τ of a robot, as formulas in SymPy that equal the kernels.

    The result has `M`, `C` (nv, nv), `phi`, `friction`, `tau` (nv, 1); `latex()`, `to_html(path)`; `at(q, v, a)`,
    `verify()`. Joints have one degree of freedom; mimics and trees are welcome.

    `names`: of the coordinates, q1, q2, ... by default; rates have a d before them, accelerations dd.
    `symbols`: False for the robot's numbers, True for symbols instead of all that are not 0; or {name of a number:
    polynomial} for some, such as {"l1": "l", "c1": "l/2"}: a number, text of numbers, names, + - * / **, or a SymPy
    expression. Names of numbers, by bodies, joints and coordinates counted from 1 (more in `equations.parameters`):
    masses m1; centres c1, or c1x c1y c1z; moments about them I1xx I1xy ...; lengths l1, or places of joints p2x p2y
    p2z; pitches h1; gravity g, or gx gy gz; armature, damping, dry friction J1 d1 f1.
    `form`: "expanded", in cosines and sines of sums of angles, for small robots; or "factored", in inner products of
    the screws, Park, Bobrow & Ploen (1995), (40) and (60)-(64), for robots of any size.
    `most_terms`: expanded forms with more terms than that are refused: they take long, and nobody reads them.
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
