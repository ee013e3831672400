"""Base parameters: the combinations of a robot's parameters that its torques depend on, and no others.

Mass on the axis of a joint may belong to either of its two bodies, a vertical first axis feels no weight, and so on: of
the p parameters of τ = Y π only b combinations matter, which is the rank of Y over all motions (Gautier & Khalil 1990,
"Direct calculation of minimum set of inertial parameters of serial robots", IEEE Trans. Robot. Autom. 6(3); Gautier
1991, "Numerical calculation of the base inertial parameters of robots", J. Robotic Systems 8(4)).
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
    """The b base parameters β = π[selected] + K π[dependent] of a robot: τ = Y π = Y[:, selected] β in every motion."""

    robot: Robot
    joints: tuple[str, ...]  # the joint terms among the parameters, as in `regressor`
    names: tuple[str, ...]  # (p,) of all parameters π
    selected: np.ndarray  # (b,) places in π
    dependent: np.ndarray  # (p - b,)
    K: np.ndarray  # (b, p - b)
    sizes: np.ndarray  # (b,) root mean squares of the selected columns of Y over random motions
    margin: tuple[float, float]  # least new part of a selected column, largest of a dependent one; both of unit columns

    @property
    def rank(self) -> int:
        """b, the number of base parameters."""
        return len(self.selected)

    @property
    def matrix(self) -> np.ndarray:
        """B (b, p) of β = B π."""
        B = np.zeros((self.rank, len(self.names)))
        B[:, self.selected], B[:, self.dependent] = np.eye(self.rank), self.K
        return B

    def to_base(self, pi) -> np.ndarray:
        """β (..., b) of parameters π (..., p)."""
        pi = vectors(pi, len(self.names), "pi", "to_base")
        return pi[..., self.selected] + pi[..., self.dependent] @ self.K.T

    def regressor(self, q, v, a, slide=None) -> np.ndarray:
        """Y[:, selected] (..., nv, b) of motions; `slide` (..., nv), if any, takes the place of sign(v) in friction."""
        Y = regressor(self.robot, q, v, a, joints=self.joints)
        if slide is not None and "friction" in self.joints:
            nv = self.robot.nv
            first = 10 * len(self.robot.body_names) + nv * self.joints.index("friction")
            Y[..., range(nv), range(first, first + nv)] = slide
        return Y[..., self.selected]

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """(b,) The base parameters in words, such as "Izz_link1 + Iyy_link2 + x_link2² m_link2".

        A factor is written with the lengths x, y, z of the bodies' home placements where they give it, to 9 digits.
        """
        powers, owners = _length_powers(self.robot, self.joints), _owners(self.robot, self.joints)
        return tuple(self._in_words(k, powers, owners) for k in range(self.rank))

    def _in_words(self, k: int, powers: np.ndarray, owners: np.ndarray) -> str:
        own = self.selected[k]
        text = self.names[own]
        for factor, at in zip(self.K[k], self.dependent, strict=True):
            if factor:
                choices = _expressions(self.robot, int(owners[own]), int(owners[at]))
                words = _in_words(abs(factor), choices.get(int(powers[own] - powers[at]), []))
                text += " ".join(["", "-" if factor < 0 else "+", *filter(None, [words, self.names[at]])])
        return text

    def place(self, name: str) -> int:
        """Which base parameter is the parameter `name` alone; an `ArgumentError` says why none is."""
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
        """The condition number of R (b, b), with RᵀR the sum of YᵀY of a motion; base parameters that it hardly shows.

        Columns are in units of their usual sizes; of these, singular values below 1e-8 are taken for rounding errors.
        """
        _, values, V = np.linalg.svd(R / self.sizes)
        hidden = np.linalg.norm(V[values <= _BLIND * values[0]], axis=0)
        return float(values[0] / max(values[-1], 1e-300)), [short(self.groups[k]) for k in np.flatnonzero(hidden > 0.1)]

    def _coupled(self, at: int) -> list[int]:
        """The base parameters that the parameter number `at` is part of."""
        return np.flatnonzero(self.matrix[:, at]).tolist()

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Parameters that no torque depends on."""
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
    """The group, or its first terms and how many more there are."""
    found = re.split(r" (?=[+-] [^()]*(?:\(|$))", group)  # at signs that are not inside parentheses
    return group if len(found) <= terms else f"{' '.join(found[:terms])} + {len(found) - terms} more"


def some(names: list[str], most: int = 6) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def base_parameters(
    robot: Robot, joints: tuple[str, ...] = (), *, rng: Rng = 0, tolerance: float = 1e-6
) -> BaseParameters:
    """The `BaseParameters` of a robot, with some of the `joints` terms "armature", "damping", "friction" and "offset".

    The regressor at random states, more than enough of them, shows which columns depend on others: from the base to the
    tips, a column is selected if the part of it that the selected ones before leave unexplained is larger than
    `tolerance` times the column. So parameters of outer bodies are grouped with those of inner ones, as the papers do.
    `margin` tells how clear the decision was: rounding errors leave 1e-13; axes that should meet and in a file of few
    digits miss each other by 1e-8 m leave about as much, and no measurement will find what they make identifiable.
    """
    need_robot(robot, "base_parameters")
    if not (isinstance(tolerance, (int, float)) and 0 < tolerance < 1):
        raise ArgumentError(f"base_parameters: tolerance must be between 0 and 1, got {tolerance!r}")
    names = parameter_names(robot, joints)
    W = _random_regressor(robot, joints, generator(rng, "base_parameters"))
    sizes = np.linalg.norm(W, axis=0)
    acts = sizes > 1e-10 * sizes.max(initial=0.0)
    W = W / np.where(acts, sizes, np.inf)  # unit columns, or zeros
    # Second moments before first ones before masses: then factors of relations are products of lengths, not quotients.
    inertial = np.arange(10 * len(robot.body_names)).reshape(-1, 10)
    order = [*inertial[:, [4, 5, 6, 7, 8, 9, 1, 2, 3, 0]].ravel(), *range(inertial.size, len(names))]
    selected, margin = _independent(W, order, tolerance)
    dependent = np.setdiff1d(np.arange(len(names)), selected)
    R, z = least_squares(W[:, selected], W[:, dependent])
    K = solve_triangular(R, z) if R.size else z  # SciPy before 1.14 solves no empty systems
    K = np.where(np.abs(K) > _NOISE, K, 0.0) * sizes[dependent] / sizes[selected][:, None]
    return BaseParameters(robot, joints, names, selected, dependent, K, sizes[selected], margin)


_BLIND = 1e-8  # singular values of a regressor, of the largest, that rounding errors explain
_NOISE = 1e-9  # rounding errors of relations between unit columns, which the least margin allowed makes a million times


def _random_regressor(robot: Robot, joints: tuple[str, ...], rng: np.random.Generator) -> np.ndarray:
    """R (p, p): RᵀR is the mean of YᵀY over random states; that is all that lengths and angles of columns need."""
    p = len(parameter_names(robot, joints))
    n = 20 + 4 * p // max(robot.nv, 1)
    q, (v, a) = random_configuration(robot, n, rng=rng), rng.normal(size=(2, n, robot.nv))
    Y = regressor(robot, q, v, 3 * a, joints=joints).reshape(n * robot.nv, p)
    return triangle(Y) / np.sqrt(max(len(Y), 1))


def _independent(W: np.ndarray, order: list[int], tolerance: float) -> tuple[np.ndarray, tuple[float, float]]:
    """The columns of W, of length 1 or 0, that are independent of those before in `order`; the margin of it."""
    basis, selected, kept, left = np.zeros((len(W), 0)), [], 1.0, 0.0
    for k in order:
        column = W[:, k]
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)  # twice is enough (Kahan)
        new = float(np.linalg.norm(rest))
        if new > tolerance:
            basis, kept = np.column_stack([basis, rest / new]), min(kept, new)
            selected.append(k)
        else:
            left = max(left, new)
    return np.array(sorted(selected), int), (kept, left)


# --- in words ---------------------------------------------------------------------------------------------------------

_MATCH = 1e-9  # how near a number is to an expression that is it


def _length_powers(robot: Robot, joints: tuple[str, ...]) -> np.ndarray:
    """(p,) Powers of a length in the units of the parameters: kg mᵏ, of those that may be grouped."""
    turns = np.array(
        [bool(s[:3].any()) for i in range(len(robot.body_names)) if i not in robot.mimics for s in robot.screw(i)]
    )
    inertial = np.tile([0, 1, 1, 1, 2, 2, 2, 2, 2, 2], len(robot.body_names))
    return np.concatenate([inertial, *(np.where(turns, 2, 0) for _ in joints)]).astype(int)


def _owners(robot: Robot, joints: tuple[str, ...]) -> np.ndarray:
    """(p,) The bodies that the parameters belong to; a joint's are its body's."""
    n = len(robot.body_names)
    moved = [i for i in range(n) if i not in robot.mimics for _ in robot.screw(i)]
    return np.concatenate([np.repeat(np.arange(n), 10), *(np.array(moved, int) for _ in joints)])


@once_a_robot(most=256)
def _expressions(robot: Robot, inner: int, outer: int) -> dict[int, list[tuple[str, float]]]:
    """{power: [(text, value)]}: what factors of that power of a length may be, the simplest first.

    The lengths are x, y, z of the bodies' home placements in their parents: those between two bodies before the others.
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
    """Positive sums and differences of two and three of the first terms, in parentheses."""
    found = []
    for size in (2, 3):
        for some in itertools.combinations(terms[:9], size):
            for signs in itertools.product((1, -1), repeat=size):
                value = sum(sign * x for sign, (_, x) in zip(signs, some, strict=True))
                parts = sorted(zip(signs, some, strict=True), key=lambda part: -part[0])  # what is added first
                text = "".join(f" {'+' if sign > 0 else '-'} {name}" for sign, (name, _) in parts)
                found += [(f"({text[3:]})", value)] if value > 0 else []
    return found


def _in_words(factor: float, choices: list[tuple[str, float]]) -> str:
    """The factor as an expression of the choices, twice one or half of one, or as a number."""
    for times, multiple in ((1, ""), (2, "2"), (0.5, "½")):
        for text, value in choices:
            if abs(factor - times * value) < _MATCH * factor:
                return " ".join(filter(None, [multiple, text]))
    return f"{factor:.6g}"
