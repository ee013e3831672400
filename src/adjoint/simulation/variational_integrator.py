"""`variational`: the discrete equations of Euler and Lagrange, in O(n) for a robot of n bodies.

In a step of the time h every mass point of a robot moves along a straight line, from its place at q to its place at q'
= q ∘ exp(d). The kinetic energy of this motion, times h, is the discrete Lagrangian L(q, q'), and the step solves

    p = -∂L/∂q - F⁻,    p' = ∂L/∂q' + F⁺,    p = M(q) v,

where F⁻ and F⁺ are the impulses of forces at both ends: half of h times gravity there, and the shares that they have in
the impulse h F of all other forces, at the middle of the step. The map (q, p) -> (q', p') is symplectic, and what the
robot's symmetries conserve is conserved.

The recursion over the bodies is that of Lee, Liu, Park & Srinivasa (2016), "A linear-time variational integrator for
multibody systems", WAFR. The paper gives a body the energy of the screw motion log(T⁻¹ T') instead, in which a fast
translation disturbs a rotation: its error is that of m |v|² t²/12 beside the energy of rotation, where t is the angle
of a step. Straight lines, as Moser & Veselov (1991) have them for a single body (Commun. Math. Phys. 139), know no such
term, and need no logarithms. Marsden & West (2001), "Discrete mechanics and variational integrators", Acta Numerica 10,
have the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compile import while_loop
from ..dynamics.articulated import articulated_inertias
from ..dynamics.factorization import factored, solve_factored
from ..dynamics.forward import accelerations_outward, leftover, solve_mass_matrix
from ..dynamics.newton_euler import gravity_torque, mass_matrix_product
from ..lie import inertia, se3, series
from ..model.configuration import integrate
from ..model.input_checks import positive
from ..model.robot import Robot
from ..sweep import forces, inward_keeping, joint_placements, outward, rates
from ..trajectory.manifold import joint_places
from .steps import Integrator

__all__ = ["variational"]

_MOST = 50  # iterations of a step
_ENOUGH = 1e-8  # a step whose last correction is larger than this part of it has no solution


# --- displacements of bodies ------------------------------------------------------------------------------------------


class _Displacement(NamedTuple):
    """A rigid motion by the scalar and vector part of its unit quaternion, and its translation.

    Small motions keep all their digits in the last two, which they would lose in a matrix beside its ones.
    """

    scalar: Any
    vector: Any
    translation: Any

    def turned(self, x):
        """R x - x."""
        across = np.cross(2 * self.vector, x)
        return self.scalar * across + np.cross(self.vector, across)

    def seen_from(self, f) -> _Displacement:
        """f⁻¹ T f."""
        Rt, p = f[:3, :3].T, f[:3, 3]
        return _Displacement(self.scalar, Rt @ self.vector, Rt @ (self.turned(p) + self.translation))

    def inverted(self) -> _Displacement:
        """The inverse rotation, without a translation."""
        return _Displacement(self.scalar, -self.vector, np.zeros(3))

    def then(self, other: _Displacement) -> _Displacement:
        """The product of this motion and the other."""
        a, u, b, w = self.scalar, self.vector, other.scalar, other.vector
        p = self.translation + other.translation + self.turned(other.translation)
        return _Displacement(a * b - np.dot(u, w), a * w + b * u + np.cross(u, w), p)


def _displacement(screws, d, constant: bool) -> _Displacement:
    """The motion exp(S d) of a joint by d (k,); `constant` says that its screws (k, 6) are known numbers."""
    if len(screws) == 1 and constant:  # these are unit screws: Park (1994), Lemma 2, by half angles
        w, v = screws[0, :3], screws[0, 3:]
        if not np.any(w):
            return _Displacement(1.0, np.zeros(3), v * d[0])
        s, c = np.sin(0.5 * d[0]), np.cos(0.5 * d[0])
        along = np.dot(w, v) * w
        return _Displacement(c, s * w, along * d[0] + 2 * s * c * (v - along) + 2 * s * s * np.cross(w, v))
    w, v = np.split(screws.T @ d, 2)
    t2 = np.dot(w, w)
    half = series.stumpff(t2 / 4, 2)
    _, c1, c2, c3 = series.stumpff(t2, 3)
    return _Displacement(half[0], half[1] / 2 * w, c1 * v + np.cross(c2 * w, v) + (c3 * np.dot(w, v)) * w)


# --- momenta ----------------------------------------------------------------------------------------------------------


def _displacements(robot: Robot, f, d) -> Any:
    """{i: T⁻¹ T'} of the bodies while the joints, with the placements f, move by d (nv,)."""

    def step(i, parent: _Displacement) -> _Displacement:
        own = _displacement(robot.screw(i), rates(robot, d, i), "screws" not in robot.varying)
        return parent.seen_from(f[i]).then(own)

    return outward(robot, step, _Displacement(1.0, np.zeros(3), np.zeros(3)))


def _momentum(J, moved: _Displacement, side: float):
    """h times the momentum (6,) of a body, seen from its frame at the start (side 1) or at the end (side -1) of a step.

    It is ∫ (x × y, y) dm with y = R x + p - x, or Rᵀ y at the end; with R = 1 + 2c [u] + 2 [u]², the unit quaternion
    (c, u) and the moments of the body, which are m, ∫ x dm and I.
    """
    m, first, I = inertia.moments(J)
    u, p = moved.vector, moved.translation
    Iu, linear = I @ u, m * p + moved.turned(first)
    angular = 2 * (moved.scalar * Iu + side * np.cross(u, Iu))
    if side < 0:
        back = moved.inverted()
        p, linear = p + back.turned(p), linear + back.turned(linear)
    return np.concatenate([angular + np.cross(first, p), linear])


def _momenta(robot: Robot, f, moved, d, h, side: float):
    """-∂L/∂q (side 1) at the placements f at the start of the step, or ∂L/∂q' (side -1) at those at its end, (nv,)."""

    def step(i, beyond) -> tuple:
        wrench = _momentum(robot.inertias[i], moved[i], side) + beyond
        return se3.coAd_inv_action(f[i], wrench), robot.screw(i) @ wrench

    _, own = inward_keeping(robot, step, np.zeros(6))
    # Armature has the energy ½ α (d/h)². A variation η of a joint at the start changes its d by -dexp⁻¹(d) η.
    rotors = _by_joint(robot, robot.armature * d, lambda p, d: se3.dexp_inv(side * d).T @ p, d)
    return (forces(robot, own) + rotors) / h


def _by_joint(robot: Robot, p, function: Callable, d):
    """Momenta or forces p (nv,), changed by a function of those (6,) of joints with several degrees of freedom."""
    parts = [p[at] if S is None else S @ function(p[at] @ S, d[at] @ S) for _, at, S in joint_places(robot)]
    return np.concatenate([np.zeros(0), *parts])


def _share(robot: Robot, F, d, side: float):
    """The share of forces F (nv,) at the middle q ∘ exp(d/2) that acts at the start (side 1) or at the end (side -1).

    A variation η at that end moves the middle by ½ dexp(d/2) dexp⁻¹(d) η, with -d for d at the end.
    """

    def share(F, d):
        return se3.dexp_inv(side * d).T @ (se3.dexp(side * 0.5 * d).T @ F)

    return 0.5 * _by_joint(robot, F, share, d)


def _solver(robot: Robot, q, f) -> Callable:
    """The function b -> M(q)⁻¹ b, with all that does not depend on b computed once; Ploen & Park (1999), (62)-(68)."""
    if robot.mimics:
        factors = factored(robot, q)
        return lambda b: solve_factored(factors, b)
    pivots = {i: J.pivots for i, J in articulated_inertias(robot, f).items()}

    def solve(b):
        def leave(i, beyond) -> tuple:
            left, wrench = leftover(pivots[i], rates(robot, b, i), beyond)
            return se3.coAd_inv_action(f[i], wrench), ([pivot.Pi for pivot in pivots[i]], left)

        _, left = inward_keeping(robot, leave, np.zeros(6))
        return accelerations_outward(robot, f, left, np.zeros(6), None)

    return solve


# --- the step ---------------------------------------------------------------------------------------------------------


class _Search(NamedTuple):
    """The displacement d (nv,) of the joints, its last correction, and the one before."""

    d: Any
    change: Any
    before: Any


@dataclass(frozen=True)
class _Variational:
    """One step; the equations are solved until corrections are so small a part of the displacement."""

    tolerance: float

    def __call__(self, robot: Robot, plant, t, q, v, h, memory) -> tuple:
        middle, enough = t + 0.5 * h, max(self.tolerance, _ENOUGH)
        actual = plant.robot(middle)
        f = joint_placements(actual, q)
        # Viscous friction at the middle resists a change of d as armature does.
        solve = _solver(plant.robot(middle, armature=actual.armature + 0.5 * h * actual.damping), q, f)
        p = mass_matrix_product(actual, q, v) - 0.5 * h * gravity_torque(actual, q)
        # The sign of v at the start is taken for the whole step: inside it, no iteration would find an end to sticking.
        dry = actual.friction * np.sign(v)

        def force(d):
            return plant.forces(middle, integrate(robot, q, d, 0.5), d / h) - dry

        def correct(now: _Search) -> _Search:
            momentum = _momenta(actual, f, _displacements(actual, f, now.d), now.d, h, 1.0)
            change = h * solve(p + h * _share(robot, force(now.d), now.d, 1.0) - momentum)
            return _Search(now.d + change, _size(change), now.change)

        def goes_on(now: _Search):
            size = _size(now.d)
            better = (now.change < now.before) | (now.change > enough * size)
            return (now.change > self.tolerance * size) & better

        end = while_loop(goes_on, correct, _Search(h * v, np.inf, np.inf), max_iterations=_MOST)
        d = np.where(end.change <= enough * _size(end.d), end.d, np.nan)
        q_new = integrate(robot, q, d)
        momentum = _momenta(actual, joint_placements(actual, q_new), _displacements(actual, f, d), d, h, -1.0)
        p_new = momentum + h * _share(robot, force(d), d, -1.0) - 0.5 * h * gravity_torque(actual, q_new)
        return q_new, solve_mass_matrix(actual, q_new, p_new), memory


def _size(x):
    return np.max(np.abs(np.concatenate([np.zeros(1), x])))


def variational(tolerance: float = 1e-15) -> Integrator:
    """The variational integrator of order 2, for long runs: momenta are kept, and energy has no drift.

    Its steps solve the discrete equations of Euler and Lagrange in O(n), by iterations with M⁻¹ that end when a
    correction is `tolerance` times the displacement, or when rounding lets corrections shrink no further. The state of
    a run becomes NaN if the iterations do not converge: dt is too long for the stiffness or the speed then.

        >>> run = aj.simulation.simulate(robot, q=q, v=v, duration=0.1, dt=0.01, integrator="variational")

    Forces other than gravity are those at the middle of a step; dry friction has the sign of v at its start. There are
    no closed loops and no moving bases. Derivatives of a run are `jvp` only. References: Lee, Liu, Park & Srinivasa
    (2016), "A linear-time variational integrator for multibody systems"; the head of this file says what differs.
    """
    return Integrator(_Variational(positive(tolerance, "variational: tolerance")), 2)
