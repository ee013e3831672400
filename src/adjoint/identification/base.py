"""Base parameters are the combinations of a robot's parameters that its torques depend on.

The torques τ = Y π are linear in the p parameters π, but not every parameter can be told from torques. A point mass on
the axis of a joint, for example, may belong to either of the two bodies that the joint connects, and a body that turns
about a vertical first axis shows no weight. Only b combinations of the parameters matter, where b is the rank of Y over
all motions. See Gautier & Khalil (1990), "Direct calculation of minimum set of inertial parameters of serial robots",
IEEE Trans. Robot. Autom. 6(3), and Gautier (1991), "Numerical calculation of the base inertial parameters of robots",
J. Robotic Systems 8(4).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..display import html_table
from ..dynamics.regressors import parameter_names, regressor
from ..errors import ArgumentError, nearest
from ..lazy import cached_property
from ..model.configuration import random_configuration
from ..model.input_checks import vectors
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..randomness import Rng, generator
from .linear import least_squares, triangle

__all__ = ["BaseParameters", "base_parameters", "short", "some"]


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters:
    """The b base parameters β = π[selected] + K π[dependent] of a robot: τ = Y π = Y[:, selected] β in every motion.

    `base_parameters` makes this object. π (p,) are the parameters that `adjoint.dynamics.parameters` lists: ten
    inertial parameters of each body, then the joint terms that were asked for. `print(base)` shows the combinations.
    """

    robot: Robot
    joints: tuple[str, ...]  # the joint terms among the parameters, as in `regressor`
    names: tuple[str, ...]  # (p,) names of all parameters π
    selected: np.ndarray  # (b,) places in π of the parameters that each base parameter is named after
    dependent: np.ndarray  # (p - b,) places in π of all other parameters
    K: np.ndarray  # (b, p - b) how much of each dependent parameter belongs to each base parameter
    sizes: np.ndarray  # (b,) root mean squares of the selected columns of Y over random motions
    # Of columns with length 1: the least part of a selected column, and the largest part of a dependent one, that the
    # columns selected before it do not explain.
    margin: tuple[float, float]

    @property
    def rank(self) -> int:
        """b, the number of base parameters."""
        return len(self.selected)

    @property
    def matrix(self) -> np.ndarray:
        """The matrix B (b, p) that maps all parameters to the base parameters: β = B π."""
        B = np.zeros((self.rank, len(self.names)))
        B[:, self.selected], B[:, self.dependent] = np.eye(self.rank), self.K
        return B

    def to_base(self, pi) -> np.ndarray:
        """The base parameters β (..., b) of the parameters π (..., p)."""
        pi = vectors(pi, len(self.names), "pi", "to_base")
        return pi[..., self.selected] + pi[..., self.dependent] @ self.K.T

    def regressor(self, q, v, a, slide=None) -> np.ndarray:
        """The matrix Y[:, selected] (..., nv, b) with τ = Y[:, selected] β, for q (..., nq), v and a (..., nv).

        `slide` (..., nv), if it is given, takes the place of sign(v) in the columns of dry friction.
        """
        Y = regressor(self.robot, q, v, a, joints=self.joints)
        if slide is not None and "friction" in self.joints:
            nv = self.robot.nv
            first = 10 * len(self.robot.body_names) + nv * self.joints.index("friction")
            Y[..., range(nv), range(first, first + nv)] = slide
        return Y[..., self.selected]

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The b base parameters in words, such as "Izz_link1 + Iyy_link2 + x_link2² m_link2".

        A factor is written as an expression of the lengths x, y, z of the bodies' home placements if one is found that
        agrees to 9 digits, and as a number otherwise.
        """
        powers, owners = _length_powers(self.robot, self.joints), _owners(self.robot, self.joints)
        return tuple(self._in_words(k, powers, owners) for k in range(self.rank))

    def _in_words(self, k: int, powers: np.ndarray, owners: np.ndarray) -> str:
        """The base parameter number k in words; `powers` and `owners` are those of all parameters."""
        own = self.selected[k]
        text = self.names[own]
        for factor, at in zip(self.K[k], self.dependent, strict=True):
            if factor:
                choices = _expressions(self.robot, int(owners[own]), int(owners[at]))
                words = _factor_in_words(abs(factor), choices.get(int(powers[own] - powers[at]), []))
                text += " ".join(["", "-" if factor < 0 else "+", *filter(None, [words, self.names[at]])])
        return text

    def place(self, name: str) -> int:
        """The number of the base parameter that is the parameter `name` alone.

        If there is none, an `ArgumentError` says why: no torque depends on it, or only combinations with others count.
        """
        if not isinstance(name, str) or name not in self.names:
            raise ArgumentError(f"robot '{self.robot.name}' has no parameter {name!r}; {nearest(name, self.names)}")
        at = self.names.index(name)
        robot, coupled = f"'{self.robot.name}'", self._coupled(at)
        if not coupled:
            raise ArgumentError(f"{name} of {robot} cannot be identified: no torque depends on it")
        k = int(coupled[0])
        if at != self.selected[k] or self.K[k].any():
            where = ", and of ".join(short(self.groups[k]) for k in coupled[:3])
            raise ArgumentError(f"{name} of {robot} cannot be identified alone: torques tell the value of {where}")
        return k

    def dark(self, R: np.ndarray) -> tuple[float, list[str]]:
        """The condition number of R (b, b), and the names of the base parameters that a motion hardly shows.

        RᵀR is the sum of YᵀY over the motion. The columns of R are divided by their usual `sizes` first; singular
        values below 1e-8 of the largest one are then taken for rounding errors.
        """
        _, values, V = np.linalg.svd(R / self.sizes)
        hidden = np.linalg.norm(V[values <= _BLIND * values[0]], axis=0)
        return float(values[0] / max(values[-1], 1e-300)), [short(self.groups[k]) for k in np.flatnonzero(hidden > 0.1)]

    def _coupled(self, at: int) -> list[int]:
        """Numbers of the base parameters that the parameter number `at` is part of."""
        return np.flatnonzero(self.matrix[:, at]).tolist()

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Names of the parameters that no torque depends on."""
        return tuple(self.names[at] for at, column in zip(self.dependent, self.K.T, strict=True) if not column.any())

    def __repr__(self) -> str:
        terms = f", with {', '.join(self.joints)}" if self.joints else ""
        return f"<BaseParameters of '{self.robot.name}': {self.rank} of {len(self.names)} parameters{terms}>"

    def _repr_html_(self) -> str:
        note = f"without effect: {', '.join(self.without_effect) or 'none'}"
        return html_table(repr(self), ["", "base parameter"], enumerate(self.groups), [note])

    def __str__(self) -> str:
        lines = [f"{self.rank} base parameters of '{self.robot.name}', of {len(self.names)} parameters:"]
        lines += [f"  {group}" for group in self.groups]
        return "\n".join([*lines, f"  without effect: {', '.join(self.without_effect) or 'none'}"])


def short(group: str, terms: int = 3) -> str:
    """A base parameter in words, cut after its first terms with a note how many more there are."""
    found = re.split(r" (?=[+-] [^()]*(?:\(|$))", group)  # at signs that are not inside parentheses
    return group if len(found) <= terms else f"{' '.join(found[:terms])} + {len(found) - terms} more"


def some(names: list[str], most: int = 6) -> str:
    """The first of the names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def base_parameters(
    robot: Robot, joints: tuple[str, ...] = (), *, rng: Rng = 0, tolerance: float = 1e-6
) -> BaseParameters:
    """The `BaseParameters` of a robot: the combinations of its parameters that torques depend on.

    `joints` names the terms of each joint that count as parameters besides the inertias: some of "armature", "damping",
    "friction" and "offset".

    The regressor Y is evaluated at random states (`rng`), more than enough of them. Its columns are then looked at from
    the base to the tips: a column is selected if the part of it that the columns selected before do not explain is
    larger than `tolerance` times the column. Parameters of outer bodies are so grouped with those of inner bodies.

    `margin` of the result tells how clear the decision was. Rounding errors leave about 1e-13. Two axes that should
    meet, but miss each other by 1e-8 m because a file has few digits, leave about 1e-8, and no measurement can identify
    what such a gap seems to make identifiable.

    >>> base = base_parameters(robots.puma560())
    >>> base.rank, len(base.names)
    (36, 60)

    See Gautier (1991), "Numerical calculation of the base inertial parameters of robots", J. Robotic Systems 8(4).
    """
    need_robot(robot, "base_parameters")
    if not (isinstance(tolerance, (int, float)) and 0 < tolerance < 1):
        raise ArgumentError(f"base_parameters: tolerance must be between 0 and 1, got {tolerance!r}")
    names = parameter_names(robot, joints)
    W = _random_regressor(robot, joints, generator(rng, "base_parameters"))
    sizes = np.linalg.norm(W, axis=0)
    acts = sizes > 1e-10 * sizes.max(initial=0.0)
    W = W / np.where(acts, sizes, np.inf)  # unit columns, or zeros
    # Second moments come before first moments, and these before masses: so the factors in K are products of lengths.
    inertial = np.arange(10 * len(robot.body_names)).reshape(-1, 10)
    order = [*inertial[:, [4, 5, 6, 7, 8, 9, 1, 2, 3, 0]].ravel(), *range(inertial.size, len(names))]
    selected, margin = _independent(W, order, tolerance)
    dependent = np.setdiff1d(np.arange(len(names)), selected)
    R, z = least_squares(W[:, selected], W[:, dependent])
    K = solve_triangular(R, z) if R.size else z  # SciPy before 1.14 solves no empty systems
    K = np.where(np.abs(K) > _NOISE, K, 0.0) * sizes[dependent] / sizes[selected][:, None]
    return BaseParameters(robot, joints, names, selected, dependent, K, sizes[selected], margin)


_BLIND = 1e-8  # singular values of a regressor below this part of the largest are taken for rounding errors
_NOISE = 1e-9  # rounding errors of K for columns of length 1: 1e-15, over a margin of 1e-6


def _random_regressor(robot: Robot, joints: tuple[str, ...], rng: np.random.Generator) -> np.ndarray:
    """R (p, p), where RᵀR is the mean of YᵀY over random states: its columns have the lengths and angles of Y's."""
    p = len(parameter_names(robot, joints))
    n = 20 + 4 * p // max(robot.nv, 1)
    q, (v, a) = random_configuration(robot, n, rng=rng), rng.normal(size=(2, n, robot.nv))
    Y = regressor(robot, q, v, 3 * a, joints=joints).reshape(n * robot.nv, p)
    return triangle(Y) / np.sqrt(max(len(Y), 1))


def _independent(W: np.ndarray, order: list[int], tolerance: float) -> tuple[np.ndarray, tuple[float, float]]:
    """Numbers of the columns of W that do not depend on the columns before them in `order`, and the `margin` of that.

    The columns have length 1 or 0. This is Gram-Schmidt orthogonalisation.
    """
    basis, selected, kept, left = np.zeros((len(W), 0)), [], 1.0, 0.0
    for k in order:
        column = W[:, k]
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)  # a second time removes what rounding left ("twice is enough", Kahan)
        new = float(np.linalg.norm(rest))
        if new > tolerance:
            basis, kept = np.column_stack([basis, rest / new]), min(kept, new)
            selected.append(k)
        else:
            left = max(left, new)
    return np.array(sorted(selected), int), (kept, left)


# --- in words ---------------------------------------------------------------------------------------------------------

_MATCH = 1e-9  # relative error within which a number is written as an expression


def _length_powers(robot: Robot, joints: tuple[str, ...]) -> np.ndarray:
    """The powers k (p,) of the metre in the units kg mᵏ of the parameters, for those that occur in one group."""
    turns = np.array(
        [bool(s[:3].any()) for i in range(len(robot.body_names)) if i not in robot.mimics for s in robot.screw(i)]
    )
    inertial = np.tile([0, 1, 1, 1, 2, 2, 2, 2, 2, 2], len(robot.body_names))
    return np.concatenate([inertial, *(np.where(turns, 2, 0) for _ in joints)]).astype(int)


def _owners(robot: Robot, joints: tuple[str, ...]) -> np.ndarray:
    """Numbers (p,) of the bodies that the parameters belong to; terms of a joint belong to the body that it moves."""
    n = len(robot.body_names)
    moved = [i for i in range(n) if i not in robot.mimics for _ in robot.screw(i)]
    return np.concatenate([np.repeat(np.arange(n), 10), *(np.array(moved, int) for _ in joints)])


@once_a_robot(most=256)
def _expressions(robot: Robot, inner: int, outer: int) -> dict[int, list[tuple[str, float]]]:
    """{power: [(text, value)]}: expressions with the unit metre^power that a factor may be, the simplest first.

    They are made of the lengths x, y, z of the bodies' home placements in their parents. The lengths between the bodies
    number `inner` and `outer` come first.
    """
    path = robot.path(outer)
    between = path[path.index(inner) + 1 :] if inner in path else []
    singles: list[tuple[str, float]] = []
    for i in dict.fromkeys([*between, inner, *path]):
        for axis, x in zip("xyz", np.abs(robot.placements[i, :3, 3]).tolist(), strict=True):
            if x > 0 and not any(abs(x - known) < _MATCH * x for _, known in singles):
                singles.append((f"{axis}_{robot.body_names[i]}", x))
    squares = [(f"{s}²", x * x) for s, x in singles]
    products = [(f"{s} {t}", x * y) for (s, x), (t, y) in itertools.combinations(singles, 2)]
    return {0: [("", 1.0)], 1: [*singles, *_sums(singles)], 2: [*squares, *products, *_sums(squares)]}


def _sums(terms: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """All positive sums and differences of two or three of the first nine terms, in parentheses."""
    found = []
    for size in (2, 3):
        for some in itertools.combinations(terms[:9], size):
            for signs in itertools.product((1, -1), repeat=size):
                value = sum(sign * x for sign, (_, x) in zip(signs, some, strict=True))
                parts = sorted(zip(signs, some, strict=True), key=lambda part: -part[0])  # what is added comes first
                text = "".join(f" {'+' if sign > 0 else '-'} {name}" for sign, (name, _) in parts)
                found += [(f"({text[3:]})", value)] if value > 0 else []
    return found


def _factor_in_words(factor: float, choices: list[tuple[str, float]]) -> str:
    """The factor as one of the choices, twice or half of one of them, or else as a number."""
    for times, multiple in ((1, ""), (2, "2"), (0.5, "½")):
        for text, value in choices:
            if abs(factor - times * value) < _MATCH * factor:
                return " ".join(filter(None, [multiple, text]))
    return f"{factor:.6g}"
