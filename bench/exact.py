"""Kinematics and dynamics in 50 digits, as references for accuracy: plain formulas on arrays of mpmath's numbers.

They take a robot's numbers as they are, and share no code with the library. Twists are (ω, v), all joints revolute.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 50


def exact(x) -> np.ndarray:
    """An array of floats as exact numbers."""
    return np.array([mp.mpf(float(e)) for e in np.ravel(x)], dtype=object).reshape(np.shape(x))


def hat(w) -> np.ndarray:
    o = mp.mpf(0)
    return np.array([[o, -w[2], w[1]], [w[2], o, -w[0]], [-w[1], w[0], o]])


def exp_se3(V) -> np.ndarray:
    """The exponential of a twist, by Taylor's series of 4x4 matrices."""
    A = np.full((4, 4), mp.mpf(0))
    A[:3, :3], A[:3, 3] = hat(V[:3]), V[3:]
    return np.array(mp.expm(mp.matrix(A.tolist()), method="taylor").tolist(), dtype=object)


def Ad(T) -> np.ndarray:
    """The adjoint matrix of a rigid motion, of twists (ω, v)."""
    R, p = T[:3, :3], T[:3, 3]
    found = np.full((6, 6), mp.mpf(0))
    found[:3, :3] = found[3:, 3:] = R
    found[3:, :3] = hat(p) @ R
    return found


def inverse(T) -> np.ndarray:
    """The inverse of a 4x4 matrix, which need not be a rotation to 50 digits."""
    return np.array(mp.inverse(mp.matrix(T.tolist())).tolist(), dtype=object)


def ad_transposed(V, W) -> np.ndarray:
    """ad_Vᵀ W of a twist V and a momentum W."""
    ad = np.full((6, 6), mp.mpf(0))
    ad[:3, :3] = ad[3:, 3:] = hat(V[:3])
    ad[3:, :3] = hat(V[3:])
    return ad.T @ W


class Exact:
    """One configuration of a robot: placements of all bodies, and what follows from them."""

    def __init__(self, robot, q):
        self.robot, n = robot, robot.nv
        self.parents, self.order = robot.parents, [robot.joint(name).v for name in robot.body_joint_names]
        self.S = [exact(robot.screw(i)[0]) for i in range(n)]
        self.inertia = [spatial_inertia(x) for x in robot.inertias]
        self.relative, self.T = [], {-1: exact(np.eye(4))}
        for i in range(n):
            angle = mp.mpf(float(q[self.order[i]][0]))
            self.relative.append(exact(robot.placements[i]) @ exp_se3(self.S[i] * angle))
            self.T[i] = self.T[self.parents[i]] @ self.relative[i]
        self.up = [Ad(inverse(X)) for X in self.relative]

    def placement(self, frame: str) -> np.ndarray:
        found = self.robot.frame(frame)
        return self.T[found.body] @ exact(found.placement)

    def inverse_dynamics(self, v, a, gravity=True) -> np.ndarray:
        """Joint forces, by the recursion of Newton and Euler."""
        n, zero = self.robot.nv, exact(np.zeros(6))
        g = exact(np.concatenate([np.zeros(3), -self.robot.gravity * gravity]))
        V, A, F = {-1: zero}, {-1: g}, []
        for i in range(n):
            X, p, k = self.up[i], self.parents[i], self.order[i]
            own = self.S[i] * v[k][0]
            V[i] = X @ V[p] + own
            A[i] = X @ A[p] + bracket(V[i], own) + self.S[i] * a[k][0]
            momentum = self.inertia[i] @ V[i]
            F.append(self.inertia[i] @ A[i] - ad_transposed(V[i], momentum))
        tau = exact(np.zeros(n))
        for i in reversed(range(n)):
            tau[self.order[i]] = [F[i] @ self.S[i]]
            if self.parents[i] >= 0:
                F[self.parents[i]] = F[self.parents[i]] + self.up[i].T @ F[i]
        return tau

    def mass_matrix(self) -> np.ndarray:
        n = self.robot.nv
        zero, unit = exact(np.zeros(n)), exact(np.eye(n))
        return np.stack([self.inverse_dynamics(zero, e, gravity=False) for e in unit], axis=1)

    def forward_dynamics(self, v, tau) -> np.ndarray:
        rest = tau - self.inverse_dynamics(v, exact(np.zeros(self.robot.nv)))
        M = mp.matrix(self.mass_matrix().tolist())
        return np.array(list(mp.lu_solve(M, mp.matrix(rest.tolist()))), dtype=object)


def bracket(V, W) -> np.ndarray:
    """[V, W] of twists."""
    w = hat(V[:3])
    return np.concatenate([w @ W[:3], w @ W[3:] + hat(V[3:]) @ W[:3]])


def spatial_inertia(x) -> np.ndarray:
    """The 6x6 inertia from (m, hx, hy, hz, xx, xy, xz, yy, yz, zz) about the origin of the body, for twists (ω, v)."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = exact(x)
    found, H = np.full((6, 6), mp.mpf(0)), hat([hx, hy, hz])
    found[:3, :3] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    found[:3, 3:], found[3:, :3] = H, -H
    for k in range(3, 6):
        found[k, k] = m
    return found


def units(found, want) -> float:
    """The largest error of an array's entries, in units of 2⁻⁵² times the largest entry."""
    want = np.asarray(want, dtype=object)
    size = max(abs(x) for x in want.ravel())
    return float(max(abs(x - y) for x, y in zip(exact(found).ravel(), want.ravel(), strict=True)) / size * 2**52)
