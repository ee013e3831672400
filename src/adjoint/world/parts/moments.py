"""Volumes and their first and second moments, as symmetric matrices P = ∫ (x, 1)(x, 1)ᵀ dV (4, 4).

P[3, 3] is the volume [m³], P[:3, 3] the first moment [m⁴], P[:3, :3] = ∫ x xᵀ dV [m⁵]. These matrices of disjoint
solids add, and a solid at the pose T has T P Tᵀ; so parallel axes and rotations need no formulas of their own.
"""

from __future__ import annotations

import numpy as np

__all__ = ["ball_moments", "cuboid_moments", "half_ball_moments", "inertia_of", "lathed_moments", "mesh_moments"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)  # exact for polynomials up to degree 5


def cuboid_moments(x: float, y: float, z: float) -> np.ndarray:
    """The moments (4, 4) of a cuboid about its centre."""
    return x * y * z * np.diag([x * x / 12, y * y / 12, z * z / 12, 1.0])


def ball_moments(radius: float) -> np.ndarray:
    """The moments (4, 4) of a ball about its centre."""
    return 4 / 3 * np.pi * radius**3 * np.diag([radius**2 / 5] * 3 + [1.0])


def half_ball_moments(radius: float) -> np.ndarray:
    """The moments (4, 4) of the half z ≥ 0 of a ball, about the centre of the ball."""
    P = ball_moments(radius) / 2
    P[2, 3] = P[3, 2] = np.pi * radius**4 / 4
    return P


def lathed_moments(profile: np.ndarray) -> np.ndarray:
    """The moments (4, 4) of a polygon (k, 2) of (radius r, height z), counterclockwise, turned about the z axis.

    With Green's theorem ∬ rᵃ zᵇ dr dz = ∮ rᵃ⁺¹ zᵇ dz / (a + 1), and Gauss' rule on each side, which is exact:

        V = 2π ∬ r,   ∫ z dV = 2π ∬ r z,   ∫ z² dV = 2π ∬ r z²,   ∫ x² dV = ∫ y² dV = π ∬ r³.
    """
    following = np.roll(profile, -1, axis=0)
    s = (_NODES[:, None] + 1) / 2
    r = profile[:, 0] * (1 - s) + following[:, 0] * s
    z = profile[:, 1] * (1 - s) + following[:, 1] * s
    dz = _WEIGHTS[:, None] / 2 * (following[:, 1] - profile[:, 1])
    volume, first, second = (np.pi * np.sum(r**2 * z**b * dz) for b in (0, 1, 2))
    across = np.pi / 4 * np.sum(r**4 * dz)
    P = np.diag([across, across, second, volume])
    P[2, 3] = P[3, 2] = first
    return P


def mesh_moments(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The moments (4, 4) of what a closed mesh encloses: the sum over tetrahedra from a point to every triangle.

    A tetrahedron of the volume v with the corners x₁..x₄ has ∫ (x, 1)(x, 1)ᵀ dV = v/20 (Σ yᵢ yᵢᵀ + s sᵀ) with
    yᵢ = (xᵢ, 1) and s = Σ yᵢ. The point is the middle of the vertices, which keeps rounding errors small.
    """
    if not len(faces):
        return np.zeros((4, 4))
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    a, b, c = (vertices - middle)[faces].transpose(1, 0, 2)
    v = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    y = np.ones((4, len(faces), 4))
    y[0, :, :3], y[1, :, :3], y[2, :, :3], y[3, :, :3] = a, b, c, 0.0
    s = y.sum(axis=0)
    P = (np.einsum("i,kij,kil->jl", v, y, y) + np.einsum("i,ij,il->jl", v, s, s)) / 20
    T = np.eye(4)
    T[:3, 3] = middle
    return T @ P @ T.T


def inertia_of(P: np.ndarray) -> np.ndarray:
    """The inertia (10,) of `adjoint.lie.inertia` of moments (4, 4): [m, h, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]."""
    S = P[:3, :3]
    second = np.trace(S) * np.eye(3) - S
    return np.array([P[3, 3], *P[:3, 3], *second[np.triu_indices(3)]]) + 0.0
