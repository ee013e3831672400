"""The equations of motion in cosines and sines of sums of angles, for robots small enough that one can read them.

    M(q) q̈ + C(q, q̇) q̇ + φ(q) + friction = τ,

with the matrix C of the Christoffel symbols of M. The energies are computed in exact arithmetic (`trig`, `motion`),
differentiated, and written with as few terms as are found (`shortest_form`). Then the formulas are evaluated beside the
kernels `mass_matrix`, `coriolis_matrix`, `gravity_torque` and `inverse_dynamics`: formulas that do not agree with them
are never returned. PBP is Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", IJRR 14(6).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from ..dynamics.composite import mass_matrix
from ..dynamics.coriolis import coriolis_matrix
from ..dynamics.newton_euler import gravity_torque, inverse_dynamics
from ..errors import AdjointError, ArgumentError
from ..lazy import cached_property
from ..model.configuration import random_configuration
from ..model.input_checks import floats
from ..model.robot import Robot
from . import page
from .motion import kinetic_metric, motions, potential, require_small
from .naming import Symbols
from .parameters import Parameters, changed, filled, named, numbers_of, on_axes, values
from .shortest_form import shortest
from .trig import Frequency, TrigPoly, powers, variable

__all__ = [
    "Equations",
    "Values",
    "bases",
    "clean",
    "expanded_equations",
    "friction",
    "prove",
    "with_parameters",
    "written",
]


class Values(NamedTuple):
    """The numbers of the equations at one q, v, a: `M`, `C` (nv, nv), and `phi`, `friction`, `tau` (nv,)."""

    M: np.ndarray
    C: np.ndarray
    phi: np.ndarray
    friction: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Equations(page.Shown):
    """The equations M q̈ + C q̇ + φ + friction = τ of a robot as SymPy matrices; `equations_of_motion` makes them.

    `M`, `C` are (nv, nv) and `phi`, `friction`, `tau` (nv, 1), in the symbols q, dq, ddq and, if asked for, parameters
    of the robot; `symbols` has them all. C is linear in dq, and Ṁ - 2C is skew-symmetric.
    """

    robot: Robot
    symbols: Symbols
    M: sympy.ImmutableMatrix
    C: sympy.ImmutableMatrix
    phi: sympy.ImmutableMatrix
    friction: sympy.ImmutableMatrix

    @cached_property
    def tau(self) -> sympy.ImmutableMatrix:
        """The torques M q̈ + C q̇ + φ + friction (nv, 1)."""
        _, dq, ddq, *_ = self.symbols
        return self.M * sympy.Matrix(ddq) + self.C * sympy.Matrix(dq) + self.phi + self.friction

    def at(self, q, v, a, parameters: Mapping | None = None) -> Values:
        """Return the `Values` at q, v, a (nv,).

        `parameters` {name or symbol: number} replaces numbers of the robot that have symbols.
        """
        known = {s.name: s for s in self.symbols.parameters}
        if unknown := {str(s) for s in parameters or {}} - set(known):
            raise ArgumentError(
                f"at: no parameter {', '.join(sorted(unknown))}; there are {', '.join(known) or 'none'}"
            )
        other = {known[str(s)]: float(x) for s, x in (parameters or {}).items()}
        q, v, a = (floats(x) for x in (q, v, a))
        for name, x in {"q": q, "v": v, "a": a}.items():
            if x.shape != (self.robot.nv,):
                raise ArgumentError(f"at: {name} has shape {x.shape}; it takes one sample, of shape ({self.robot.nv},)")
        M, C, phi, friction = self._matrices(q, v, self.symbols.parameters | other)
        phi, friction = phi[:, 0], friction[:, 0]
        return Values(M, C, phi, friction, M @ a + C @ v + phi + friction)

    @cached_property
    def _function(self):
        """The function of q, q̇ and parameters that evaluates M, C, φ and friction."""
        q, dq, _, parameters, *_ = self.symbols
        formulas = [self.M, self.C, self.phi, self.friction]
        # dummify: the name of a symbol need not be valid in Python.
        return sympy.lambdify((q, dq, [*parameters]), formulas, "numpy", cse=True, dummify=True)

    def _matrices(self, q, v, given: Mapping) -> list:
        """Return M, C, φ and friction at q and v, for {symbol: number} of all parameters."""
        return self._function(q, v, [*given.values()])

    def verify(self, samples: int = 20) -> float:
        """Return the largest difference to the kernels at random q, v, a, relative to the size of each result.

        If some of the robot's numbers are symbols, every other sample is of a robot with other numbers.
        """
        rng, worst = np.random.default_rng(0), 0.0
        others = {s: x * rng.uniform(0.8, 1.2) for s, x in self.symbols.parameters.items()}
        robots = [(self.robot, {}), (with_parameters(self.robot, self.symbols, others), others)]
        for k in range(samples):
            robot, given = robots[k % 2 if others else 0]
            q = random_configuration(self.robot, rng=rng)
            v, a = rng.normal(size=(2, robot.nv))
            worst = np.maximum(worst, _difference(self.at(q, v, a, given), robot, q, v, a))
        return float(worst)

    def _sections(self) -> list[page.Section]:
        parts = {"M": self.M, "C": self.C, "phi": self.phi}
        if any(self.friction.flat()):
            parts["F"] = self.friction
        lines = [line for name, A in parts.items() for line in page.entries(name, A)]
        return [page.Section("", [page.Line(page.law("F" in parts)), *lines])]


# --- proof ------------------------------------------------------------------------------------------------------------


def with_parameters(robot: Robot, symbols: Symbols, given: Mapping) -> Robot:
    """Return the robot with other numbers, {symbol: number} for all of its symbols."""
    if given == symbols.parameters:
        return robot
    moved = on_axes(robot)
    own = numbers_of(moved)
    names = named(moved, own)
    exact = {s: sympy.Float(x, 17) for s, x in given.items()}
    numbers: dict[str, Any] = symbols.numbers  # SymPy's types do not say that `xreplace` gives a number here
    other = {name: float(e.xreplace(exact)) for name, e in numbers.items()}
    return changed(moved, filled(names, values(names, own) | other))


def prove(found: Equations) -> None:
    """Raise an `AdjointError` if the equations do not agree with the kernels."""
    error, name = found.verify(6), found.robot.name
    if not error <= 1e-11:  # this is also true for NaN
        raise AdjointError(
            f"equations of robot '{name}' differ from the kernels by {error:.1e}; please report this robot"
        )


def _difference(got: Values, robot: Robot, q, v, a) -> float:
    """Return the largest relative difference of the values to the kernels at one q, v, a."""
    M, tau = mass_matrix.eager(robot, q), inverse_dynamics.eager(robot, q, v, a)
    inertia, force = np.abs(M).max() or 1.0, np.abs(tau).max() or 1.0  # a point mass on an axis has no inertia about it
    want = [
        (got.M, M, inertia),
        (got.C, coriolis_matrix.eager(robot, q, v), inertia * np.abs(v).max()),
        (got.phi, gravity_torque.eager(robot, q), force),
        (got.tau, tau, force),
    ]
    return float(np.max([np.abs(mine - kernels).max() / size for mine, kernels, size in want]))


# --- from energies to equations ---------------------------------------------------------------------------------------


def expanded_equations(robot: Robot, symbols: Symbols, most_terms: int) -> Equations:
    """Return the expanded `Equations` of a robot, verified against the kernels."""
    moved, n = on_axes(robot), range(robot.nv)
    numbers = filled(named(moved, numbers_of(moved)), symbols.meaning)
    bodies = motions(moved, numbers, most_terms)
    M = clean(kinetic_metric(moved, bodies, numbers, most_terms))
    C = np.array([[_coriolis(M, k, j) for j in n] for k in n])
    require_small(robot, [*M.ravel(), *C.ravel()], most_terms)
    phi = clean(np.array([potential(bodies, numbers).slope(k) for k in n]))
    write = np.frompyfunc(functools.partial(written, symbols=symbols, bases=bases(moved)), 1, 1)
    found = Equations(
        robot=robot,
        symbols=symbols,
        M=sympy.ImmutableMatrix(write(M)),
        C=sympy.ImmutableMatrix(write(C)),
        phi=sympy.ImmutableMatrix(write(phi)),
        friction=friction(symbols, numbers),
    )
    prove(found)
    return found


def clean(polynomials: np.ndarray) -> np.ndarray:
    """Return the polynomials without the terms that are rounding errors.

    Such terms come from rotations whose cosines are not simple numbers, and hence not exact.
    """
    return np.asarray(np.frompyfunc(lambda f: f.without_noise(1e-14), 1, 1)(polynomials))


def _coriolis(M: np.ndarray, k: int, j: int) -> TrigPoly:
    """Return C_kj = Σ_i Γ_ijk q̇_i with Γ_ijk = ½ (∂_i m_kj + ∂_j m_ki - ∂_k m_ij), PBP (52)."""
    n, total = len(M), 0 * variable(0)
    for i in range(n):
        Gamma = (M[k, j].slope(i) + M[k, i].slope(j) - M[i, j].slope(k)) * Fraction(1, 2)
        total = total + Gamma * variable(n + i)
    return total


def friction(symbols: Symbols, numbers: Parameters) -> sympy.ImmutableMatrix:
    """Return damping · q̇ + friction · sign(q̇) (nv, 1)."""
    found = []
    for v, damping, dry in zip(symbols.dq, numbers.damping, numbers.friction, strict=True):
        c, f = (written(0 * variable(0) + x, symbols, ()) for x in (damping, dry))
        found.append(c * v + f * sympy.sign(v))
    return sympy.ImmutableMatrix(found)


def bases(robot: Robot) -> list[tuple[Frequency, ...]]:
    """Return the sets of angles that formulas may be written with: the coordinates, and their sums along parallel axes.

    In the second set, θ_k = q_k ± θ_j if the axis of joint k is parallel to that of joint j, the nearest joint before
    it that turns.
    """
    own: list[Frequency] = [((k, 1),) for k in range(robot.nv)]
    sums = list(own)
    for i in range(len(robot.body_names)) if not robot.mimics else ():
        w, j = robot.screw(i)[0, :3], i
        while w.any() and j >= 0:
            w, j = robot.placements[j, :3, :3] @ w, int(robot.parents[j])
            if j >= 0 and (before := robot.screw(j)[0, :3]).any():
                if abs(abs(w @ before) - 1) < 1e-12:
                    sign = round(float(w @ before))
                    sums[i] = (*((k, m * sign) for k, m in sums[j]), *own[i])
                break
    return [tuple(own)] if sums == own else [tuple(own), tuple(sums)]


# --- from polynomials to SymPy ----------------------------------------------------------------------------------------


def written(f: TrigPoly, symbols: Symbols, bases) -> sympy.Expr:
    """Return f as a SymPy expression: a sum of products of cosines and sines, with common factors outside."""
    of_waves: dict = defaultdict(list)
    simple = bool(symbols.parameters)
    for c, d, monomial, factors in shortest(f, bases or [()]):
        letters = [symbols.variables[k] ** power for k, power in powers(monomial).items()]
        of_waves[tuple(sorted(factors))].append(sympy.Mul(_number(c, d, simple), *letters))
    terms = [_factored(sympy.Add(*parts), simple) * _waves(factors, symbols.q) for factors, parts in of_waves.items()]
    return sympy.Add(*terms)


def _factored(e: sympy.Expr, is_exact: bool) -> sympy.Expr:
    """Return e with the common factor of its terms outside, or as a product if it is short and has exact numbers."""
    return sympy.factor(e) if is_exact and len(e.args) < 20 and not e.has(sympy.Float) else sympy.factor_terms(e)


def _waves(factors, q) -> sympy.Expr:
    """Return the product of the cosines and sines as a SymPy expression."""
    found = sympy.Integer(1)
    for is_sine, angles, power in factors:
        angle = sympy.Add(*(_number(Fraction(m), 1, True) * q[k] for k, m in angles))
        found = found * (sympy.sin(angle) if is_sine else sympy.cos(angle)) ** power
    return found


def _number(c: Fraction, radicand: int = 1, simple: bool = False) -> sympy.Expr:
    """Return c √radicand: exact if the fraction is a simple one, else with 15 digits.

    Where there are symbols (`simple`), fractions are kept up to denominators of 1000; in formulas of decimal numbers,
    5/3 and 1/2 are kept but not 41/50.
    """
    tens = c.denominator
    for prime in (2, 5):
        while tens % prime == 0:
            tens //= prime
    if c.denominator <= (1000 if simple else 48 if tens > 1 else 4):
        return sympy.Rational(c.numerator, c.denominator) * sympy.sqrt(radicand)
    return sympy.Float(float(c) * float(radicand) ** 0.5, 15)
