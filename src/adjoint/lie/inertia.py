"""Inertia of a rigid body about the origin of a frame, as ten numbers that are linear in the mass distribution.

An inertia is an array (10,), [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], with the mass m = ∫dm [kg], the first
moment h = ∫x dm = m · com [kg m], and I = ∫(|x|² 1 - x xᵀ) dm [kg m²] about the origin of the frame, along its axes.
Ixy is the entry of that matrix, so Ixy = -∫xy dm. Inertias about one frame add: `a + b`, or `np.sum(..., axis=-2)`.

PBP is Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", IJRR 14(6).
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


def __dir__() -> list[str]:
    return __all__


class Moments(NamedTuple):
    """The `mass` [kg], `first` moment h (3,) [kg m] and `second` moment I (3, 3) [kg m²] about the frame's origin."""

    mass: np.ndarray
    first: np.ndarray
    second: np.ndarray


class Central(NamedTuple):
    """The `mass` [kg], centre of mass `com` (3,) [m], and `inertia` (3, 3) [kg m²] about it, along the frame's axes."""

    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray


# --- build ------------------------------------------------------------------------------------------------------------

_MATRIX = np.array([[4, 5, 6], [5, 7, 8], [6, 8, 9]])  # the places of the entries of I in an inertia (10,)


def _pack(m, h, I_0):
    """Return the inertia (10,) of mass, first moment and the upper triangle of the second moment."""
    return np.array([m, h[0], h[1], h[2], I_0[0, 0], I_0[0, 1], I_0[0, 2], I_0[1, 1], I_0[1, 2], I_0[2, 2]])


def _unpack(inertia):
    """Return mass, first moment (3,) and second moment (3, 3) of an inertia (10,)."""
    return inertia[0], inertia[[1, 2, 3]], inertia[_MATRIX]


@kernel(first=3, second=(3, 3))
def from_moments(mass, first, second) -> np.ndarray:
    """Return the inertia (10,) of `mass` [kg], `first` (3,) [kg m] and `second` (3, 3) [kg m²].

    Both moments are about the frame's origin. Only the upper triangle of `second` is read.
    """
    return _pack(mass, first, second)


@kernel(com=3, inertia_at_com=(3, 3))
def from_central(mass, com, inertia_at_com) -> np.ndarray:
    """Return the inertia (10,) of `mass` [kg], `com` (3,) [m] and `inertia_at_com` (3, 3) [kg m²].

    The inertia at the centre of mass is along the frame's axes. I = I_c + m (|c|² 1 - c cᵀ); Park, Bobrow & Ploen
    (1995), (21).
    """
    # PBP (21): I = I_c - m [c]²
    h = mass * com
    return _pack(mass, h, inertia_at_com + np.dot(h, com) * np.eye(3) - np.outer(h, com))


@kernel(J=(6, 6))
def from_matrix(J) -> np.ndarray:
    """Return the inertia (10,) of a 6x6 inertia matrix J; the inverse of `matrix`.

    Only the upper triangle of J is read; Park, Bobrow & Ploen (1995), (21).
    """
    return _pack(J[5, 5], np.array([J[2, 4], J[0, 5], J[1, 3]]), J[:3, :3])


def _central_diagonal(mass, x, y, z):
    """Return the inertia (10,) with the centre of mass at the origin and principal moments x, y, z."""
    return np.array([mass, 0.0, 0.0, 0.0, x, 0.0, 0.0, y, 0.0, z])


@kernel(size=3)
def box(mass, size) -> np.ndarray:
    """Return the inertia (10,) of a uniform box of `mass` [kg] with edges `size` = (x, y, z) [m], about its centre.

    >>> inertia.box(12.0, [1, 2, 3])
    array([12.,  0.,  0.,  0., 13.,  0.,  0., 10.,  0.,  5.])
    """
    x2, y2, z2 = size * size * (mass / 12)
    return _central_diagonal(mass, y2 + z2, x2 + z2, x2 + y2)


@kernel
def sphere(mass, radius) -> np.ndarray:
    """Return the inertia (10,) of a uniform solid sphere of `mass` [kg] and `radius` [m], about its centre."""
    i = 0.4 * mass * radius * radius
    return _central_diagonal(mass, i, i, i)


@kernel
def cylinder(mass, radius, length) -> np.ndarray:
    """Return the inertia (10,) of a uniform solid cylinder of `mass` [kg], about its centre.

    `radius` and `length` are in m; the cylinder's axis is the z axis.
    """
    r2 = mass * radius * radius
    side = r2 / 4 + mass * length * length / 12
    return _central_diagonal(mass, side, side, r2 / 2)


@kernel
def rod(mass, length) -> np.ndarray:
    """Return the inertia (10,) of a thin uniform rod of `mass` [kg] and `length` [m] along z, about its centre."""
    return cylinder(mass, 0.0, length)


# --- read -------------------------------------------------------------------------------------------------------------


@kernel(inertia=10)
def moments(inertia) -> Moments:
    """Return the `Moments` (mass, first, second) of an inertia (10,)."""
    return Moments(*_unpack(inertia))


@kernel(inertia=10)
def central(inertia) -> Central:
    """Return the `Central` form (mass, com, inertia about the com) of an inertia (10,) whose mass is not 0."""
    m, h, I_0 = _unpack(inertia)
    c = h / m
    return Central(m, c, I_0 - np.dot(h, c) * np.eye(3) + np.outer(h, c))


@kernel(inertia=10)
def matrix(inertia) -> np.ndarray:
    """Return J = [I [h]; -[h] m1], the symmetric 6x6 matrix of the kinetic energy ½ Vᵀ J V of a twist V = (w, v).

    Park, Bobrow & Ploen (1995), (21).
    """
    m, h, I_0 = _unpack(inertia)
    H = so3.hat(h)
    return np.block([[I_0, H], [-H, m * np.eye(3)]])


@kernel(inertia=10)
def pseudo_inertia(inertia) -> np.ndarray:
    """Return ∫(x, 1)(x, 1)ᵀ dm = [½ tr(I) 1 - I, h; hᵀ, m], a symmetric matrix (4, 4).

    It is positive definite for the bodies that can exist, and only for them (Wensing, Kim & Slotine 2018, "Linear
    matrix inequalities for physically consistent inertial parameter identification", IEEE RA-L 3(1)).
    """
    m, h, I_0 = _unpack(inertia)
    return np.block([[0.5 * np.trace(I_0) * np.eye(3) - I_0, h[:, None]], [h[None, :], np.array([[m]])]])


# --- use --------------------------------------------------------------------------------------------------------------


@kernel(inertia=10, V=6)
def momentum(inertia, V) -> np.ndarray:
    """Return J V = (I w + h × v, m v - h × w) (6,), the momentum of a body that moves with the twist V (6,).

    Momentum transforms like a wrench. The same product with an acceleration V̇ in the place of V is the wrench J V̇.
    """
    m, h, I_0 = _unpack(inertia)
    w, v = V[:3], V[3:]
    return np.concatenate([I_0 @ w + np.cross(h, v), m * v - np.cross(h, w)])


@kernel(inertia=10, V=6)
def energy(inertia, V) -> np.ndarray:
    """Return the kinetic energy ½ Vᵀ J V [J] of a body that moves with the twist V (6,)."""
    return 0.5 * np.dot(V, momentum(inertia, V))


@kernel(T=(4, 4), inertia=10)
def transform(T, inertia) -> np.ndarray:
    """Return the inertia (10,) in frame a of an inertia (10,) in frame b, given T = T_ab: Ad(T)⁻ᵀ J Ad(T)⁻¹."""
    m, h, I_0 = _unpack(inertia)
    R, p = T[:3, :3], T[:3, 3]
    h = R @ h
    # ∫(|x|² 1 - x xᵀ) dm with x = R y + p; p uᵀ + u pᵀ has the terms in R h and in m p together.
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
    """Return the inertia (10,) of two bodies that are welded together; both inertias are about the same frame."""
    return a + b


# --- check ------------------------------------------------------------------------------------------------------------


def faults(inertia: np.ndarray, tolerance: float = 1e-9) -> list[str]:
    """Return the reasons why no body of positive mass can have this inertia (10,): an empty list if one can.

    This is a plain Python function of one inertia, not a kernel. `tolerance` is relative to the inertia about the
    centre of mass, so that flat and thin bodies, which are limiting cases, pass.

    A positive mass, principal moments about the centre of mass that are not negative, and their triangle inequality
    together mean that `pseudo_inertia` is positive semidefinite (Wensing, Kim & Slotine 2018), so nothing else is
    tested.

        >>> inertia.faults([-1, 0, 0, 0, 1, 0, 0, 1, 0, 1])
        ['mass -1 kg is not positive']
    """
    inertia = np.asarray(inertia, float)
    if inertia.shape != (10,):
        return [f"an inertia has 10 numbers [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], not shape {inertia.shape}"]
    if not np.all(np.isfinite(inertia)):
        return ["it contains NaN or infinity"]
    if inertia[0] <= 0:
        return [f"mass {inertia[0]:g} kg is not positive"]
    with np.errstate(all="ignore"):  # the squares of very large numbers overflow
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
