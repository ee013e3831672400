"""Chains of point masses, planar and spatial, in which angles or torsions are soft and bonds are hard.

Mass i is at x_i, and the chain starts at the origin, which is held. A planar chain has relative angles θ_i and lengths
L_i. A spatial chain has torsions, angles and lengths, with T_i = Rx(torsion_i) Rz(angle_i) Tx(length_i): angle_i is the
angle between bonds i - 1 and i, and torsion_i turns bond i about bond i - 1. The axes x and -y of the base stand for
the two bonds before the first.

A length involves two masses, an angle three and a torsion four, so H is banded. det G is Π m_i² L_i² for a planar chain
and Π m_i³ L_i⁴ sin²(angle_i) for a spatial one. See Fixman (1974), PNAS 71(8), and Lee, Wang & Chirikjian (2007), §2.2.
"""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..lie import so3
from ..model.input_checks import numbers
from .partition import Partition, soft_mask

__all__ = ["PLANAR", "SPATIAL", "planar_partition", "planar_positions", "spatial_partition", "spatial_positions"]


def __dir__() -> list[str]:
    return __all__


PLANAR = ("angle", "length")
"""The coordinates of each mass of a planar chain, in their order."""

SPATIAL = ("torsion", "angle", "length")
"""The coordinates of each mass of a chain in space, in their order."""


def planar_positions(angles, lengths) -> np.ndarray:
    """Return the positions x_i (n, 2) of a planar chain with relative angles (n,) [rad] and lengths (n,)."""
    heading = np.cumsum(angles)
    return np.cumsum(np.asarray(lengths)[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0)


def planar_partition(angles, lengths, masses, soft=("angle",)) -> Partition:
    """Return the `Partition` of a planar chain with coordinates (θ_i, L_i), mass by mass.

    `angles` (n,) [rad] are relative, `lengths` and `masses` are (n,). `soft` has names among "angle" and "length", or
    truth values (n, 2); the angles are soft by default.

        >>> solve(planar_partition([0.3], [2.0], [5.0]), [1.0]).round(3)  # 1 / (m L²)
        array([0.05])
    """
    angles, lengths, masses = _chain(angles=angles, lengths=lengths, masses=masses)
    n = len(masses)
    heading = np.cumsum(angles)
    along = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    # The heading φ_i = θ_1 + ... + θ_i has ∂φ_i/∂x_i = n_i/L_i, with the unit vector n_i across the bond.
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / lengths[:, None]
    before = np.concatenate([np.zeros((1, 2)), across])[:-1]
    rows = np.zeros((n, 2, 3, 2))  # derivatives of the coordinates by x_i, x_{i-1}, x_{i-2}
    rows[:, 0] = np.stack([across, -across - before, before], axis=1)
    rows[:, 1, :2] = np.stack([along, -along], axis=1)
    logdet_G = 2 * np.sum(np.log(masses) + np.log(lengths))
    return _partition(rows, masses, soft_mask(soft, PLANAR, n), logdet_G)


def spatial_positions(torsions, angles, lengths) -> np.ndarray:
    """Return the positions x_i (n, 3) of a spatial chain with torsions and angles (n,) [rad] and lengths (n,)."""
    return np.cumsum(np.asarray(lengths)[:, None] * _bonds(torsions, angles), axis=0)


def _bonds(torsions, angles) -> np.ndarray:
    """Return the unit vectors (n, 3) along the bonds."""
    R, found = np.eye(3), np.empty((len(torsions), 3))
    turns = so3.rotation_x(np.asarray(torsions)) @ so3.rotation_z(np.asarray(angles))
    for i, turn in enumerate(turns):
        R = R @ turn
        found[i] = R[:, 0]
    return found


def spatial_partition(torsions, angles, lengths, masses, soft=("torsion",)) -> Partition:
    """Return the `Partition` of a spatial chain with coordinates (torsion_i, angle_i, L_i), mass by mass.

    `torsions` and `angles` are (n,) [rad], `lengths` and `masses` are (n,). `soft` has names among "torsion", "angle"
    and "length", or truth values (n, 3); the torsions are soft by default. No angle may be a multiple of π.
    """
    torsions, angles, lengths, masses = _chain(torsions=torsions, angles=angles, lengths=lengths, masses=masses)
    n, sine = len(masses), np.sin(angles)
    if n and np.abs(sine).min() < 1e-12:
        i = int(np.argmin(np.abs(sine)))
        raise ArgumentError(f"angle {i + 1} is {angles[i]:g} rad: where bonds are in line, torsions are not defined")
    rows = _spatial_rows(_bonds(torsions, angles), lengths, angles)
    logdet_G = np.sum(3 * np.log(masses) + 4 * np.log(lengths) + 2 * np.log(np.abs(sine)))
    return _partition(rows, masses, soft_mask(soft, SPATIAL, n), logdet_G)


def _spatial_rows(bonds: np.ndarray, lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return ∂(torsion_i, angle_i, L_i)/∂(x_i, x_{i-1}, x_{i-2}, x_{i-3}) (n, 3, 4, 3); Blondel & Karplus (1996)."""
    # Two bonds of the base come first: u_{-1} = -y and u_0 = x, at a right angle, with normal z.
    u = np.concatenate([[[0.0, -1, 0], [1, 0, 0]], bonds])
    L_2, L_1, L = (np.concatenate([[1.0, 1.0], lengths])[k : k + len(bonds), None] for k in range(3))
    sine, cosine = np.concatenate([[1.0], np.sin(angles)])[:, None], np.concatenate([[0.0], np.cos(angles)])[:, None]
    normals = np.cross(u[:-1], u[1:]) / sine
    before, normal, u_1, u_0 = normals[:-1], normals[1:], u[1:-1], u[2:]
    # A length grows as the end of its bond moves along it.
    none = np.zeros_like(bonds)
    length = [u_0, -u_0, none, none]
    # An angle grows as the ends of its two bonds move across them, in their plane.
    end, start = np.cross(normal, u_0) / L, np.cross(normal, u_1) / L_1
    angle = [end, -end - start, start, none]
    # A torsion grows as the ends of three bonds move across their planes; the middle bond is a lever for both ends.
    head, tail = normal / (L * sine[1:]), -before / (L_2 * sine[:-1])
    lever = (L * cosine[1:] * head - L_2 * cosine[:-1] * tail) / L_1
    torsion = [head, -head - lever, lever - tail, tail]
    return np.stack([np.stack(parts, axis=1) for parts in (torsion, angle, length)], axis=1)


def _chain(**arrays) -> list[np.ndarray]:
    """Return the arrays (n,) of finite numbers; lengths and masses must be positive."""
    n = np.size(arrays["masses"])
    found = [numbers(value, (n,), name) for name, value in arrays.items()]
    for name, values in zip(arrays, found, strict=True):
        if name in ("lengths", "masses") and np.any(values <= 0):
            i = int(np.argmin(values))
            raise ArgumentError(f"{name} must be positive; that of mass {i + 1} is {values[i]:g}")
    return found


def _partition(rows: np.ndarray, masses: np.ndarray, soft: np.ndarray, logdet_G: float) -> Partition:
    """Return the `Partition` of rows (n, coordinates, masses i, i - 1, ..., dimension).

    The masses before the first one are held.
    """
    from scipy import sparse

    n, k, reach, dim = rows.shape
    mass = np.arange(n)[:, None, None, None] - np.arange(reach)[:, None]
    at_row = k * np.arange(n)[:, None, None, None] + np.arange(k)[:, None, None]
    free = np.broadcast_to(mass >= 0, rows.shape)
    i = np.broadcast_to(at_row, rows.shape)[free]
    j = np.broadcast_to(dim * mass + np.arange(dim), rows.shape)[free]
    moves = sparse.coo_array((rows[free], (i, j)), shape=(k * n, dim * n)).tocsr()
    inverse_masses = sparse.diags_array(np.repeat(1 / masses, dim), format="csr")
    return Partition(moves[soft.ravel()], moves[~soft.ravel()], inverse_masses, float(logdet_G))
