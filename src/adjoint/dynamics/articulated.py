"""Articulated inertias: forward dynamics and M⁻¹ b follow from them in O(n), the factors of M in O(n · depth).

Ĵ_i is the inertia that body i shows when all joints beyond it are free, PP (40). Joints with several degrees of freedom
are taken one screw s at a time, the last first: U = Ĵ s, Ω = s·U + armature, Π = U/Ω, then Ĵ - U Πᵀ goes on. So
M = W Ω Wᵀ with Ω diagonal and W unit upper triangular, PP Prop. 1, whatever the joints. PP as in `newton_euler`.

Mimics tie distant bodies together and have no such recursion: for robots with them M is formed and factored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..lie import inertia, se3, so3
from ..model.configuration import integrate, neutral
from ..model.joints import JOINTS
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..rolled import is_long, rolls
from ..sweep import each, forces, inward_keeping, joint_placements, known, outward, rates

__all__ = [
    "Articulated",
    "Pivot",
    "Symmetric",
    "articulated_inertias",
    "freed",
    "mass_matrix_pivots",
    "require_inertia",
]


class Symmetric(NamedTuple):
    """A symmetric 6x6 matrix [A B; Bᵀ C] in blocks (3, 3), A and C symmetric."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray

    def __add__(self, other: Symmetric) -> Symmetric:  # type: ignore[override]
        return Symmetric(self.A + other.A, self.B + other.B, self.C + other.C)

    def __matmul__(self, V) -> np.ndarray:
        """The wrench of a twist."""
        w, v = V[:3], V[3:]
        return np.concatenate([self.A @ w + self.B @ v, self.B.T @ w + self.C @ v])

    @staticmethod
    def of_inertia(numbers) -> Symmetric:
        """[I [h]; -[h] m] of ten numbers, Park, Bobrow & Ploen (1995), (21)."""
        m, h, I = inertia.moments(numbers)
        return Symmetric(I, so3.hat(h), m * np.eye(3))

    def moved(self, T) -> Symmetric:
        """Ad(T⁻¹)ᵀ X Ad(T⁻¹): the same matrix for twists and wrenches in the frame in which this one is at T."""
        R, P = T[:3, :3], so3.hat(T[:3, 3])
        A, B, C = _congruent(R, self.A), R @ self.B @ R.T, _congruent(R, self.C)
        B_moved = B + P @ C
        return Symmetric(_mirrored(A - B @ P + P @ B_moved.T), B_moved, C)

    def without(self, U, Pi) -> Symmetric:
        """X - U Πᵀ, with Π = U/Ω."""
        m, f, x, y = U[:3], U[3:], Pi[:3], Pi[3:]
        return Symmetric(
            _mirrored(self.A - np.outer(x, m)), self.B - np.outer(x, f), _mirrored(self.C - np.outer(y, f))
        )


def _congruent(R, X) -> np.ndarray:
    """R X Rᵀ of a symmetric X, only its upper triangle computed."""
    return _mirrored((R @ X) @ R.T)


def _mirrored(X) -> np.ndarray:
    """The symmetric matrix with the upper triangle of X: symmetry is known to us, not to the graph."""
    xx, xy, xz, yy, yz, zz = X[0, 0], X[0, 1], X[0, 2], X[1, 1], X[1, 2], X[2, 2]
    return np.stack([np.stack([xx, xy, xz]), np.stack([xy, yy, yz]), np.stack([xz, yz, zz])])


class Pivot(NamedTuple):
    """One degree of freedom: its screw s (6,), Ω = s·Ĵ s + armature, 1/Ω (dividing once), and Π = Ĵ s/Ω (6,)."""

    s: np.ndarray
    Omega: np.ndarray
    inverse: np.ndarray
    Pi: np.ndarray


NOTHING = Symmetric(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3)))


class Articulated(NamedTuple):
    """Ĵ_i of a body, and the pivots of its joint's degrees of freedom, in their order."""

    inertia: Symmetric
    pivots: list[Pivot]


def articulated_inertias(robot: Robot, f):
    """{i: Ĵ_i and its pivots}, from the tips inward; PP (40). Not for robots with mimics; see `require_inertia`."""

    def step(i, beyond: Symmetric) -> tuple[Symmetric, Articulated]:
        J = Symmetric.of_inertia(robot.inertias[i]) + beyond
        pivots, rest = freed(robot, i, J)
        return rest.moved(f[i]), Articulated(J, pivots)

    return inward_keeping(robot, step, NOTHING)[1]


def freed(robot: Robot, i, J: Symmetric) -> tuple[list[Pivot], Symmetric]:
    """The pivots of body i's joint, and what it lets through of the body's Ĵ."""
    return eliminated(J, robot.screw(i), rates(robot, robot.armature, i), known(robot, i, "screws", "armature"))


def eliminated(J: Symmetric, screws, armature, constant: bool) -> tuple[list[Pivot], Symmetric]:
    """The pivots of a joint with these screws (k, 6) and armature (k,), constants or not, and the rest of Ĵ."""
    pivots, rest = [], J
    for s, more in reversed(list(zip(screws, armature, strict=False))):
        U = rest @ s
        Omega = np.dot(s, U) + more
        inverse = 1 / Omega
        pivots.append(Pivot(s, Omega, inverse, U * inverse))
        rest = rest.without(U, U * inverse)
        if constant and more == 0:
            rest = _freed(rest, s)
    return pivots[::-1], rest


def _freed(X: Symmetric, s: np.ndarray) -> Symmetric:
    """X with X s = 0 written as exact zeros, where s is a coordinate axis: the graph cannot know that U·s/Ω = 1."""
    axis = np.flatnonzero(s)
    if len(axis) != 1:
        return X
    keep = np.where(np.arange(6) == axis[0], 0.0, 1.0)
    w, v = keep[:3], keep[3:]
    return Symmetric(X.A * np.outer(w, w), X.B * np.outer(w, v), X.C * np.outer(v, v))


@rolls
@kernel(robot=static, q="nq")
def mass_matrix_pivots(robot, q):
    """The diagonal Ω (nv,) of M = W Ω Wᵀ. Not for robots with mimics."""
    J = articulated_inertias(robot, joint_placements(robot, q))
    return forces(robot, each(robot, lambda i: np.stack([pivot.Omega for pivot in J[i].pivots])))


def require_inertia(robot: Robot) -> None:
    """`ArgumentError` if M(q) is singular whatever q is: M is analytic, so one configuration taken at random tells.

    Where it is singular at single configurations only, as a massless cross in gimbal lock, accelerations are infinite;
    so they are where inertias that are inputs are none.
    """
    if robot.varying.isdisjoint(("inertias", "armature")):
        robot = robot.stands_for[0] if robot.stands_for else robot
        (_require_pivots if is_long(robot) else _require_inertia)(robot)


@once_a_robot
def _require_pivots(robot: Robot) -> None:
    """The same in O(n)."""
    rng = np.random.default_rng(0)
    parts = [JOINTS[kind].neutral if JOINTS[kind].nv > 1 else rng.normal(size=1) for kind in robot.joint_types]
    Omega = mass_matrix_pivots(robot, np.concatenate(parts))
    bad = np.flatnonzero(~(Omega > 0) | ~np.isfinite(Omega))
    if len(bad):
        i = int(np.flatnonzero(np.array(robot.layout.v_start) <= bad[-1])[-1])
        raise no_inertia(robot, i, float(Omega[bad[-1]]))


@once_a_robot
def _require_inertia(robot: Robot) -> None:
    M, size = _anywhere(robot)
    for k in reversed(range(robot.nv)):
        if not M[k, k] > 1e-14 * size[k]:
            at = robot.layout.v_start
            i = max((i for i in range(len(at)) if i not in robot.mimics and at[i] <= k), key=at.__getitem__)
            raise no_inertia(robot, i, M[k, k])
        M = M - np.outer(M[:, k], M[k] / M[k, k])


def no_inertia(robot: Robot, i: int, Omega: float) -> ArgumentError:
    """What to say of a joint that nothing resists, or that less than nothing does."""
    where = f"robot '{robot.name}': body '{robot.body_names[i]}' and all beyond it have"
    joint = f"inertia against joint '{robot.body_joint_names[i]}' (Ω = {Omega:g})"
    if Omega < -1e-9:
        return ArgumentError(f"{where} negative {joint}; correct their masses or inertias; see check(robot)")
    return ArgumentError(
        f"{where} no {joint}, so its acceleration is not determined; give it mass or armature; see check(robot)"
    )


def _anywhere(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """M = Σ J_iᵀ 𝓘_i J_i at a configuration taken at random, and the size (nv,) of the terms summed on its diagonal."""
    length = np.abs(robot.placements[:, :3, 3]).max(initial=0) or 1.0
    leads = [robot.screw(i) for i in range(len(robot.body_names)) if i not in robot.mimics]
    turns = np.any(np.concatenate([np.zeros((0, 6)), *leads])[:, :3], axis=1)
    v = np.random.default_rng(0).normal(size=robot.nv) * np.where(turns, 1.0, length)
    M = np.diag(robot.armature)
    size = robot.armature
    with eagerly():
        f = joint_placements(robot, integrate(robot, neutral(robot), v))

        def step(i: int, J):
            return se3.Ad(se3.inverse(f[i])) @ J + robot.screw(i).T @ rates(robot, np.eye(robot.nv), i)

        J = outward(robot, step, np.zeros((6, robot.nv)))
        for i in f:
            I = inertia.matrix(robot.inertias[i])
            M = M + J[i].T @ I @ J[i]
            size = size + np.sum(np.abs(J[i]) * (np.abs(I) @ np.abs(J[i])), axis=0)
    return M, size
