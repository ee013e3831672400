"""`equations(robot)`: the equations of motion of a robot as formulas to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import ArgumentError
from ..robot.model import Robot, need_robot
from .expanded import Equations, expanded_equations
from .factored import factored_equations
from .naming import make_symbols
from .parameters import named, numbers_of, on_axes, values

__all__ = ["equations"]

_FORMS = ("expanded", "factored")


def equations(
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
    `symbols`: False for the robot's numbers, True for symbols instead of all of them: m1, l1, c1, I1zz, g ..., see
    `closed_forms.parameters`; or {name of a number: expression} for some, such as {"l1": "l", "c1": "l/2"}.
    `form`: "expanded", in cosines and sines of sums of angles, for small robots; or "factored", in inner products of
    the screws, Park, Bobrow & Ploen (1995), (40) and (60)-(64), for robots of any size.
    `most_terms`: expanded forms with more terms than that are refused: they take long, and nobody reads them.
    """
    need_robot(robot, "equations")
    if form not in _FORMS:
        raise ArgumentError(f"equations: no form {form!r}; there are {', '.join(_FORMS)}")
    if not robot.nv:
        raise ArgumentError(f"equations: robot '{robot.name}' has no joints, nothing moves")
    moved = on_axes(robot)
    numbers = numbers_of(moved)
    chosen = make_symbols(robot, values(named(moved, numbers), numbers), names, symbols)
    return expanded_equations(robot, chosen, most_terms) if form == "expanded" else factored_equations(robot, chosen)
