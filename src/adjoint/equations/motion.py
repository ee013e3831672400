"""Kinetic and potential energy of a robot as trigonometric polynomials, by a recursion over its bodies.

The arithmetic is exact (see `trig`). PBP is Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics",
IJRR 14(6).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..model.robot import Robot
from .parameters import Parameters, inertia_matrix
from .trig import TrigPoly, exact, variable

__all__ = ["Motion", "kinetic_metric", "motions", "potential", "require_small", "space_screws_and_inertias"]

_exact = np.frompyfunc(exact, 1, 1)


class Motion(NamedTuple):
    """The placement R (3, 3), p (3,) of a body in the base, its inertia, and its twists.

    `twists` has the twist (6,) at the unit rate of each coordinate that moves the body.
    """

    R: np.ndarray
    p: np.ndarray
    twists: dict[int, np.ndarray]
    inertia: np.ndarray  # (6, 6)


def motions(robot: Robot, numbers: Parameters, most_terms: int) -> list[Motion]:
    """Return the motions of the bodies of a robot with `on_axes` frames, as functions of its coordinates.

    Coordinate k is variable k of a `TrigPoly` and, if it is an angle, also its angle k.
    """
    found: list[Motion] = []
    for i, parent in enumerate(robot.parents.tolist()):
        base = found[parent] if parent >= 0 else Motion(np.eye(3, dtype=int), np.zeros(3, int), {}, np.zeros((6, 6)))
        R, p, S = _joint(robot, numbers, i)
        twists = {k: _seen_from(R, p, V) for k, V in base.twists.items()}
        at, scale = _coordinate(robot, i)
        twists[at] = twists.get(at, 0) + S * scale
        J = inertia_matrix(numbers.masses[i], numbers.centers[i], numbers.moments[i])
        found.append(Motion(base.R @ R, base.p + base.R @ p, twists, J))
        require_small(robot, itertools.chain(*twists.values()), most_terms)
    return found


def require_small(robot: Robot, polynomials: Iterable, most_terms: int) -> None:
    """Raise an `ArgumentError` if the polynomials together have more than `most_terms` terms."""
    terms = sum(len(f.terms) for f in polynomials if isinstance(f, TrigPoly))
    if terms > most_terms:
        raise ArgumentError(
            f"equations_of_motion: the equations of robot '{robot.name}' with {robot.nv} coordinates have more than "
            f"{most_terms} terms, too many to read; form='factored' writes them as inner products, and most_terms=... "
            "allows more terms"
        )


def _coordinate(robot: Robot, i: int) -> tuple[int, TrigPoly]:
    """Return the coordinate that moves body i, and the multiplier of a mimic, which is 1 for other joints."""
    return robot.layout.v_start[i], exact(robot.mimics[i].multiplier if i in robot.mimics else 1.0)


def _joint(robot: Robot, numbers: Parameters, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the placement M_i exp(S_i q_i) of body i in its parent, as R and p, and S_i; its axis meets the origin."""
    at, scale = _coordinate(robot, i)
    q = scale * variable(at) + exact(robot.mimics[i].offset if i in robot.mimics else 0.0)
    M, (w, slide) = _rotation(robot.placements[i, :3, :3]), np.split(_rotation(robot.screw(i)[0]), 2)
    if not robot.screw(i)[0, :3].any():
        return M, numbers.lengths[i] + M @ (slide * q), np.concatenate([w, slide])
    along, (x, y, z) = np.outer(w, w), w
    # Park (1994), Lemma 1, with [w]² = w wᵀ - 1
    turn = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = along + (np.eye(3, dtype=int) - along) * q.cos() + turn * q.sin()
    slide = w * numbers.pitches[i]
    return M @ R, numbers.lengths[i] + M @ (slide * q), np.concatenate([w, slide])


def _rotation(x: np.ndarray) -> np.ndarray:
    """Return the entries of rotations or directions as exact numbers; entries below 1e-14 are 0."""
    return np.asarray(_exact(np.where(np.abs(x) > 1e-14, x, 0.0)))


def _seen_from(R, p, V) -> np.ndarray:
    """Return Ad(f⁻¹) V for f = (R, p)."""
    return np.concatenate([R.T @ V[:3], R.T @ (V[3:] - _cross(p, V[:3]))])


def _cross(a, b) -> np.ndarray:
    """Return a × b of expressions; `np.cross` before NumPy 2.3 fails where some products are whole numbers."""
    (x, y, z), (u, v, w) = a.astype(object), b.astype(object)  # Python's integers do not overflow
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u], dtype=object)


def kinetic_metric(robot: Robot, bodies: list[Motion], numbers: Parameters, most_terms: int) -> np.ndarray:
    """Return M (nv, nv) with armature: m_ij = Σ_l u_iᵀ J_l u_j over the bodies l, PBP (40)."""
    M = np.full((robot.nv, robot.nv), 0 * variable(0), dtype=object)
    for body in bodies:
        for j, u in body.twists.items():
            momentum = body.inertia @ u
            for i, w in body.twists.items():
                if i <= j:
                    M[i, j] = M[i, j] + w @ momentum
        require_small(robot, M.ravel(), most_terms)
    for i in range(robot.nv):
        M[i, i] = M[i, i] + numbers.armature[i]
        M[i:, i] = M[i, i:]
    return M


def potential(bodies: list[Motion], numbers: Parameters) -> TrigPoly:
    """Return the potential energy U = -Σ m g·p over the bodies' centres of mass, PBP (58)."""
    total = 0 * variable(0)
    for body, m, c in zip(bodies, numbers.masses, numbers.centers, strict=True):
        total = total - m * (numbers.gravity @ (body.p + body.R @ c))
    return total


def space_screws_and_inertias(robot: Robot, numbers: Parameters) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the joints' screws A_i (6,) and the bodies' inertias D_i (6, 6), seen from the base at home."""
    screws, inertias, homes = [], [], {-1: (np.eye(3, dtype=int), np.zeros(3, int))}
    for i, parent in enumerate(robot.parents.tolist()):
        R, p = homes[parent]
        R, p = R @ _rotation(robot.placements[i, :3, :3]), p + R @ numbers.lengths[i]
        homes[i] = R, p
        S = _joint(robot, numbers, i)[2]
        w = R @ S[:3]
        screws.append(np.concatenate([w, R @ S[3:] + _cross(p, w)]))
        back = np.array([_seen_from(R, p, e) for e in np.eye(6, dtype=int)])  # Ad(N⁻¹)ᵀ
        inertias.append(back @ inertia_matrix(numbers.masses[i], numbers.centers[i], numbers.moments[i]) @ back.T)
    return screws, inertias
