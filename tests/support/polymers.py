"""Polymers for the tests: configurations, positions of atoms, and a determinant of constraints."""

import numpy as np

import adjoint as aj


def angle(a, b, c):
    u, v = a - b, c - b
    return np.arccos(np.sum(u * v, -1) / np.linalg.norm(u, axis=-1) / np.linalg.norm(v, axis=-1))


def turned(made, seed=0, shape=()):
    """Configurations with the base where it is, and every torsion at random."""
    q = aj.random_configuration(made.robot, shape, rng=seed)
    first = made.robot.nq - sum(kind == "continuous" for kind in made.robot.joint_types)
    q[..., :first] = made.q[:first]
    return q


def eager_positions(made, q):
    """`positions` without a compiler, for chains that are used once."""
    T = aj.forward_kinematics.eager(made.robot, q)
    T = np.concatenate([T, np.eye(4)[None]])[[atom.body for atom in made.atoms]]
    return np.array([T_b[:3, :3] @ atom.position + T_b[:3, 3] for T_b, atom in zip(T, made.atoms, strict=True)])


def bead_logdet(m: float, x) -> float:
    """log det H_22 of the constraints b_i · b_i and b_i · b_(i+1) of a chain at x (n, 3): Σ (∂h/∂x)(∂h/∂x)ᵀ/m."""
    n, b = len(x), np.diff(x, axis=0)
    rows = []
    for i in range(n - 1):
        rows.append(np.zeros((n, 3)))
        rows[-1][i], rows[-1][i + 1] = -2 * b[i], 2 * b[i]
    for i in range(n - 2):
        rows.append(np.zeros((n, 3)))
        rows[-1][i], rows[-1][i + 1], rows[-1][i + 2] = -b[i + 1], b[i + 1] - b[i], b[i]
    A = np.array(rows).reshape(len(rows), -1)
    return np.linalg.slogdet(A @ A.T / m)[1]
