"""Inertia of a rigid body about a frame origin, as ten numbers linear in the mass distribution.

The array form is (10,): [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], where m = ∫dm [kg], h = ∫x dm = m · com [kg m]
and I = ∫(|x|² 1 - x xᵀ) dm [kg m²] about the frame origin, in frame axes (Ixy = -∫xy dm, as in the matrix I itself).
Inertias about one frame simply add: `a + b`, or `np.sum(..., axis=-2)`.
PBP = Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", IJRR 14(6).
"""

from typing import NamedTuple

import numpy as np

from adjoint.compile import kernel

from . import so3

__all__ = [
    "Central",
    "Moments",
    "add",
    "box",
    "central",
    "cylinder",
    "energy",
    "faults",
    "from_central",
    "from_matrix",
    "from_moments",
    "matrix",
    "moments",
    "momentum",
    "pseudo_inertia",
    "rod",
    "sphere",
    "transform",
]


class Moments(NamedTuple):
    """`mass` [kg], `first` moment h (3,) [kg m] and `second` moment I (3, 3) [kg m²], about the frame origin."""

    mass: np.ndarray
    first: np.ndarray
    second: np.ndarray


class Central(NamedTuple):
    """`mass` [kg], `com` (3,) [m] in the frame, `inertia` (3, 3) [kg m²] about the com, in frame axes."""

    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray


# --- build ------------------------------------------------------------------------------------------------------------

_MATRIX = np.array([[4, 5, 6], [5, 7, 8], [6, 8, 9]])  # where the entries of I_0 stand


def _pack(m, h, I_0):
    return np.array([m, h[0], h[1], h[2], I_0[0, 0], I_0[0, 1], I_0[0, 2], I_0[1, 1], I_0[1, 2], I_0[2, 2]])


def _unpack(inertia):
    return inertia[0], inertia[[1, 2, 3]], inertia[_MATRIX]


@kernel(first=3, second=(3, 3))
def from_moments(mass, first, second) -> np.ndarray:
    """Inertia (10,) of mass, first and second moments about the frame origin; reads the upper triangle of `second`."""
    return _pack(mass, first, second)


@kernel(com=3, inertia_at_com=(3, 3))
def from_central(mass, com, inertia_at_com) -> np.ndarray:
    """Inertia (10,) of mass [kg], com (3,) [m] and the inertia matrix about the com (3, 3) [kg m²], in frame axes."""
    # PBP (21): I = I_c - m [c]²
    h = mass * com
    return _pack(mass, h, inertia_at_com + np.dot(h, com) * np.eye(3) - np.outer(h, com))


@kernel(J=(6, 6))
def from_matrix(J) -> np.ndarray:
    """Inertia (10,) of a 6x6 inertia matrix, PBP (21); reads the upper triangle."""
    return _pack(J[5, 5], np.array([J[2, 4], J[0, 5], J[1, 3]]), J[:3, :3])


def _central_diagonal(mass, x, y, z):
    return np.array([mass, 0.0, 0.0, 0.0, x, 0.0, 0.0, y, 0.0, z])


@kernel(size=3)
def box(mass, size) -> np.ndarray:
    """Uniform box of `mass` [kg] with edges `size` = (x, y, z) [m], about its centre: (10,)."""
    x2, y2, z2 = size * size * (mass / 12)
    return _central_diagonal(mass, y2 + z2, x2 + z2, x2 + y2)


@kernel
def sphere(mass, radius) -> np.ndarray:
    """Uniform solid sphere of `mass` [kg] and `radius` [m], about its centre: (10,)."""
    i = 0.4 * mass * radius * radius
    return _central_diagonal(mass, i, i, i)


@kernel
def cylinder(mass, radius, length) -> np.ndarray:
    """Uniform solid cylinder of `mass` [kg], `radius` [m] and `length` [m] along z, about its centre: (10,)."""
    r2 = mass * radius * radius
    side = r2 / 4 + mass * length * length / 12
    return _central_diagonal(mass, side, side, r2 / 2)


@kernel
def rod(mass, length) -> np.ndarray:
    """Thin uniform rod of `mass` [kg] and `length` [m] along z, about its centre: (10,)."""
    return cylinder(mass, 0.0, length)


# --- read -------------------------------------------------------------------------------------------------------------


@kernel(inertia=10)
def moments(inertia) -> Moments:
    """`Moments` (mass, first, second) of an inertia (10,)."""
    return Moments(*_unpack(inertia))


@kernel(inertia=10)
def central(inertia) -> Central:
    """`Central` (mass, com, inertia about the com) of an inertia (10,) with mass > 0."""
    m, h, I_0 = _unpack(inertia)
    c = h / m
    return Central(m, c, I_0 - np.dot(h, c) * np.eye(3) + np.outer(h, c))


@kernel(inertia=10)
def matrix(inertia) -> np.ndarray:
    """J = [I [h]; -[h] m1], the symmetric 6x6 matrix of the kinetic energy ½ Vᵀ J V, V = (w, v); PBP (21)."""
    m, h, I_0 = _unpack(inertia)
    H = so3.hat(h)
    return np.block([[I_0, H], [-H, m * np.eye(3)]])


@kernel(inertia=10)
def pseudo_inertia(inertia) -> np.ndarray:
    """∫(x, 1)(x, 1)ᵀ dm = [½ tr(I) 1 - I, h; hᵀ, m] (4, 4): positive definite for
    the bodies that can exist, and only for them (Wensing, Kim & Slotine 2018).
    """
    m, h, I_0 = _unpack(inertia)
    return np.block([[0.5 * np.trace(I_0) * np.eye(3) - I_0, h[:, None]], [h[None, :], np.array([[m]])]])


# --- use --------------------------------------------------------------------------------------------------------------


@kernel(inertia=10, V=6)
def momentum(inertia, V) -> np.ndarray:
    """J V = (I w + h × v, m v - h × w) (6,): the momentum, a wrench, of a body moving with twist V; also J V̇."""
    m, h, I_0 = _unpack(inertia)
    w, v = V[:3], V[3:]
    return np.concatenate([I_0 @ w + np.cross(h, v), m * v - np.cross(h, w)])


@kernel(inertia=10, V=6)
def energy(inertia, V) -> np.ndarray:
    """Kinetic energy ½ Vᵀ J V [J] of a body moving with twist V (6,)."""
    return 0.5 * np.dot(V, momentum(inertia, V))


@kernel(T=(4, 4), inertia=10)
def transform(T, inertia) -> np.ndarray:
    """Inertia (10,) in frame a, given T = T_ab and the inertia in frame b: Ad(T)⁻ᵀ J Ad(T)⁻¹."""
    m, h, I_0 = _unpack(inertia)
    R, p = T[:3, :3], T[:3, 3]
    h = R @ h
    # ∫(|x|² 1 - x xᵀ) dm at x = R y + p, with p u + u p collecting the terms in Rh and in m p
    u = h + (0.5 * m) * p
    pu = 2 * np.dot(p, u)
    RI = R @ I_0
    # Only the upper triangle is computed.
    xx, xy, xz, yy, yz, zz = (
        np.dot(RI[i], R[j]) - (p[i] * u[j] + p[j] * u[i]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    )
    first = h + m * p
    return np.array([m, first[0], first[1], first[2], xx + pu, xy, xz, yy + pu, yz, zz + pu])


@kernel(a=10, b=10)
def add(a, b) -> np.ndarray:
    """Inertia (10,) of two bodies welded together, both about the same frame."""
    return a + b


# --- check ------------------------------------------------------------------------------------------------------------


def faults(inertia: np.ndarray, tolerance: float = 1e-9) -> list[str]:
    """Why no body of positive mass can have this inertia (10,); an empty list if one can. Plain Python, one inertia.

    `tolerance` is relative to the inertia about the com, so that flat and thin bodies (limiting cases) pass. Positive
    mass and the triangle inequality of the principal moments about the com together say that `pseudo_inertia` is
    positive semidefinite (Wensing, Kim & Slotine 2018): nothing else needs a test.
    """
    inertia = np.asarray(inertia, float)
    if inertia.shape != (10,):
        return [f"an inertia has 10 numbers [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], not shape {inertia.shape}"]
    if not np.all(np.isfinite(inertia)):
        return ["it contains NaN or infinity"]
    if inertia[0] <= 0:
        return [f"mass {inertia[0]:g} kg is not positive"]
    with np.errstate(all="ignore"):  # squares of numbers near the largest overflow
        about_com = central.eager(inertia).inertia
    if not np.all(np.isfinite(about_com)):
        return ["its numbers are too large or too small: moments about the com overflow"]
    x, y, z = np.linalg.eigvalsh(about_com)
    # Subtracting m[c]² leaves rounding errors of the size of the inertia about the origin.
    slack = tolerance * max(abs(x), abs(z)) + 1e-15 * np.abs(inertia[4:]).max()
    where = f"principal moments about the com ({x:g}, {y:g}, {z:g}) kg m²"
    if x < -slack:
        return [f"{where}: {x:g} is negative"]
    if x + y < z - slack:
        return [f"{where}: {x:g} + {y:g} < {z:g} breaks the triangle inequality: some mass is negative"]
    return []
