"""The equations of motion in cosines and sines of sums of angles, for robots small enough to read them.

    M(q) q̈ + C(q, q̇) q̇ + φ(q) + friction = τ,

with C from the Christoffel symbols of M. Energies are computed in exact arithmetic (`trig`, `motion`), differentiated,
and written as shortly as found (`shortest`); then the formulas are evaluated beside the kernels `mass_matrix`,
`coriolis_matrix`, `gravity_torque`, `inverse_dynamics`: what does not agree is never returned. PBP = Park, Bobrow &
Ploen (1995), "A Lie group formulation of robot dynamics", IJRR 14(6).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

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
    """Numbers of the equations at one q, v, a: M, C (nv, nv), φ, friction, τ (nv,)."""

    M: np.ndarray
    C: np.ndarray
    phi: np.ndarray
    friction: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Equations(page.Shown):
    """M q̈ + C q̇ + φ + friction = τ as SymPy matrices in the symbols q, dq, ddq and, if asked for, robot parameters."""

    robot: Robot
    symbols: Symbols
    M: sympy.ImmutableMatrix
    C: sympy.ImmutableMatrix  # linear in dq; Ṁ - 2C is skew
    phi: sympy.ImmutableMatrix
    friction: sympy.ImmutableMatrix

    @cached_property
    def tau(self) -> sympy.ImmutableMatrix:
        """M q̈ + C q̇ + φ + friction (nv, 1)."""
        _, dq, ddq, *_ = self.symbols
        return self.M * sympy.Matrix(ddq) + self.C * sympy.Matrix(dq) + self.phi + self.friction

    def at(self, q, v, a, parameters: Mapping | None = None) -> Values:
        """The `Values` at q, v, a (nv,); `parameters` {name or symbol: number} for others than the robot's."""
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
        q, dq, _, parameters, *_ = self.symbols
        formulas = [self.M, self.C, self.phi, self.friction]
        return sympy.lambdify((q, dq, [*parameters]), formulas, "numpy", cse=True, dummify=True)  # names may be any

    def _matrices(self, q, v, given: Mapping) -> list:
        """M, C, φ, friction, for {symbol: number} of all parameters."""
        return self._function(q, v, [*given.values()])

    def verify(self, samples: int = 20) -> float:
        """The largest difference to the kernels at random q, v, a, relative to the size of each result.

        With symbols for the robot's numbers, every other sample is of a robot with other numbers.
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
        parts = {"M": self.M, "C": self.C, "phi": self.phi} | ({"F": self.friction} if any(self.friction) else {})
        lines = [line for name, A in parts.items() for line in page.entries(name, A)]
        return [page.Section("", [page.Line(page.law("F" in parts)), *lines])]


# --- proof ------------------------------------------------------------------------------------------------------------


def with_parameters(robot: Robot, symbols: Symbols, given: Mapping) -> Robot:
    """The robot with other numbers {symbol: number} for all of its symbols."""
    if given == symbols.parameters:
        return robot
    moved = on_axes(robot)
    own = numbers_of(moved)
    names = named(moved, own)
    exact = {s: sympy.Float(x, 17) for s, x in given.items()}
    other = {name: float(e.xreplace(exact)) for name, e in symbols.numbers.items()}
    return changed(moved, filled(names, values(names, own) | other))


def prove(found: Equations) -> None:
    """Raise if the equations do not agree with the kernels."""
    error, name = found.verify(6), found.robot.name
    if not error <= 1e-11:  # NaN is not
        raise AdjointError(
            f"equations of robot '{name}' differ from the kernels by {error:.1e}; please report this robot"
        )


def _difference(got: Values, robot: Robot, q, v, a) -> float:
    M, tau = mass_matrix.eager(robot, q), inverse_dynamics.eager(robot, q, v, a)
    inertia, force = np.abs(M).max() or 1.0, np.abs(tau).max() or 1.0  # point masses on an axis have none
    want = [
        (got.M, M, inertia),
        (got.C, coriolis_matrix.eager(robot, q, v), inertia * np.abs(v).max()),
        (got.phi, gravity_torque.eager(robot, q), force),
        (got.tau, tau, force),
    ]
    return float(np.max([np.abs(mine - kernels).max() / size for mine, kernels, size in want]))


# --- from energies to equations ---------------------------------------------------------------------------------------


def expanded_equations(robot: Robot, symbols: Symbols, most_terms: int) -> Equations:
    """M, C, φ of a robot as `Equations`, proven against the kernels."""
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
    """Without the terms that rotations leave whose cosines are not simple, and so not exact."""
    return np.asarray(np.frompyfunc(lambda f: f.without_noise(1e-14), 1, 1)(polynomials))


def _coriolis(M: np.ndarray, k: int, j: int) -> TrigPoly:
    """C_kj = Σ_i Γ_ijk q̇_i, Γ_ijk = ½ (∂_i m_kj + ∂_j m_ki - ∂_k m_ij), PBP (52)."""
    n, total = len(M), 0 * variable(0)
    for i in range(n):
        Gamma = (M[k, j].slope(i) + M[k, i].slope(j) - M[i, j].slope(k)) * Fraction(1, 2)
        total = total + Gamma * variable(n + i)
    return total


def friction(symbols: Symbols, numbers: Parameters) -> sympy.ImmutableMatrix:
    """damping · q̇ + friction · sign(q̇) (nv, 1)."""
    found = []
    for v, damping, dry in zip(symbols.dq, numbers.damping, numbers.friction, strict=True):
        c, f = (written(0 * variable(0) + x, symbols, ()) for x in (damping, dry))
        found.append(c * v + f * sympy.sign(v))
    return sympy.ImmutableMatrix(found)


def bases(robot: Robot) -> list[tuple[Frequency, ...]]:
    """Angles that formulas may be written with: the coordinates, and sums of them along runs of parallel axes.

    θ_k = q_k ± θ_j if the axis of k is parallel to that of joint j, the nearest before it that turns.
    """
    own: list[Frequency] = [((k, 1),) for k in range(robot.nv)]
    sums = list(own)
    for i in range(len(robot.body_names)) if not robot.mimics else ():
        w, j = robot.screw(i)[0, :3], i
        while w.any() and j >= 0:
            w, j = robot.placements[j, :3, :3] @ w, int(robot.parents[j])
            if j >= 0 and (before := robot.screw(j)[0, :3]).any():
                if abs(abs(w @ before) - 1) < 1e-12:
                    sign = round(w @ before)
                    sums[i] = (*((k, m * sign) for k, m in sums[j]), *own[i])
                break
    return [tuple(own)] if sums == own else [tuple(own), tuple(sums)]


# --- from polynomials to SymPy ----------------------------------------------------------------------------------------


def written(f: TrigPoly, symbols: Symbols, bases) -> sympy.Expr:
    """f as a SymPy expression: products of waves, each times what all terms with it have in common."""
    of_waves: dict = defaultdict(list)
    simple = bool(symbols.parameters)
    for c, d, monomial, factors in shortest(f, bases or [()]):
        letters = [symbols.variables[k] ** power for k, power in powers(monomial).items()]
        of_waves[tuple(sorted(factors))].append(sympy.Mul(_number(c, d, simple), *letters))
    terms = [_factored(sympy.Add(*parts), simple) * _waves(factors, symbols.q) for factors, parts in of_waves.items()]
    return sympy.Add(*terms)


def _factored(e: sympy.Expr, is_exact: bool) -> sympy.Expr:
    """What all terms have in common, outside; short polynomials with exact coefficients as products."""
    return sympy.factor(e) if is_exact and len(e.args) < 20 and not e.has(sympy.Float) else sympy.factor_terms(e)


def _waves(factors, q) -> sympy.Expr:
    found = sympy.Integer(1)
    for is_sine, angles, power in factors:
        angle = sympy.Add(*(_number(Fraction(m), 1, True) * q[k] for k, m in angles))
        found = found * (sympy.sin(angle) if is_sine else sympy.cos(angle)) ** power
    return found


def _number(c: Fraction, radicand: int = 1, simple: bool = False) -> sympy.Expr:
    """c √radicand: exact if the fraction is a simple one, else with 15 digits.

    Beside symbols fractions are kept up to denominators of 1000; among decimals, 5/3 and 1/2 but not 41/50.
    """
    tens = c.denominator
    for prime in (2, 5):
        while tens % prime == 0:
            tens //= prime
    if c.denominator <= (1000 if simple else 48 if tens > 1 else 4):
        return sympy.Rational(c.numerator, c.denominator) * sympy.sqrt(radicand)
    return sympy.Float(float(c) * float(radicand) ** 0.5, 15)
