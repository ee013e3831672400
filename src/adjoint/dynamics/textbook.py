"""The three formulations of Fu, Gonzalez & Lee, "Robotics" (1987), chapter 3, and probing, as the book has them.

They are for serial arms of revolute and prismatic joints. The book's arms are in Denavit-Hartenberg frames, of which
its formulas need one property only: the axis of revolute joint i goes through the origin of frame i - 1. Arms of
`from_dh` have it, and keep their frames. For any other arm, frame i is moved to the nearest point of axis i + 1. Frame
i, and link i with it, is at A_i(q_i) in frame i - 1, and z_{i-1} is the direction of joint i there, (0, 0, 1) in the
book. All torques include the robot's armature, damping and friction, and equal `inverse_dynamics`.

Gravity is the physical vector g in Lagrange-Euler and d'Alembert; in Newton-Euler the base accelerates upward instead.
Equation numbers are those of the book.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import inertia, se3
from ..model.needs import need_numbers
from ..model.reframe import reframed
from ..model.robot import Robot
from ..sweep import joint_placements
from .newton_euler import friction_force, inverse_dynamics

__all__ = [
    "Coefficients",
    "Count",
    "DAlembert",
    "LagrangeEuler",
    "NewtonEuler",
    "OperationCounts",
    "generalized_dalembert",
    "lagrange_euler",
    "newton_euler_base",
    "newton_euler_link",
    "operation_counts",
    "probing",
]


def __dir__() -> list[str]:
    return __all__


class _Arm(NamedTuple):
    """An arm at some q as the book sees it; each list has an entry for each link."""

    A: list  # A_i (4, 4): frame i in frame i - 1
    z: list  # direction (3,) of joint i in frame i - 1
    turns: list[bool]  # whether joint i is revolute
    bodies: list[inertia.Central]  # mass, centre of mass s̄_i and inertia about it, in frame i
    pseudo: list  # J_i (4, 4): ∫(x, 1)(x, 1)ᵀ dm about the origin of frame i, (3.2-18)

    @property
    def to_base(self) -> list:
        """⁰A_i (4, 4) for i = 0, ..., n."""
        found = [np.eye(4)]
        for A in self.A:
            found.append(se3.compose(found[-1], A))
        return found


_TURNS = {"revolute": True, "continuous": True, "prismatic": False}


def _arm(robot: Robot, q, caller: str) -> _Arm:
    """The arm of a robot at q."""
    _require_arm(robot, caller)
    base, moved = _on_axes(robot)
    f = joint_placements(moved, q)
    turns = [_TURNS[kind] for kind in moved.joint_types]
    f[0] = se3.compose(se3.inverse.eager(base), f[0])
    P = [_seen_from_parent(moved, i) for i in f]
    return _Arm(
        A=list(f.values()),
        z=[S[:3] if turn else S[3:] for S, turn in zip(P, turns, strict=True)],
        turns=turns,
        bodies=[_central(J) for J in moved.inertias],
        pseudo=[inertia.pseudo_inertia.eager(J) for J in moved.inertias],
    )


def _require_arm(robot: Robot, caller: str) -> None:
    """Raise an `ArgumentError` unless the robot is a serial arm of revolute and prismatic joints."""
    need_numbers(robot, caller)
    where = f"{caller}: robot '{robot.name}'"
    if not robot.body_names:
        raise ArgumentError(f"{where} has no joints; the book's arms have at least one")
    for i, (name, kind) in enumerate(zip(robot.body_joint_names, robot.joint_types, strict=True)):
        if kind not in _TURNS:
            raise ArgumentError(f"{where}: joint '{name}' is {kind}; the book's arms have {', '.join(_TURNS)} joints")
        if i in robot.mimics:
            raise ArgumentError(f"{where}: joint '{name}' is a mimic; every joint of the book's arms moves on its own")
        if robot.parents[i] != i - 1:
            raise ArgumentError(f"{where}: joint '{name}' starts a branch; the book's arms are serial")


def _seen_from_parent(robot: Robot, i: int) -> np.ndarray:
    """P_i = Ad(M_i) S_i (6,): the joint's screw in the parent's frame."""
    return se3.Ad_action.eager(robot.placements[i], robot.screw(i)[0])


def _on_axes(robot: Robot) -> tuple[np.ndarray, Robot]:
    """Frame 0 (4, 4) in the base, and the robot with frame i on axis i + 1."""
    points = [np.cross(P[:3], P[3:]) for P in (_seen_from_parent(robot, i) for i in range(len(robot.body_names)))]
    shifts = np.tile(np.eye(4), (len(points) + 1, 1, 1))
    shifts[: len(points), :3, 3] = np.array(points)  # a prismatic joint has w = 0, which leaves the frame where it is
    back = [se3.inverse.eager(T) for T in shifts[1:]]
    return shifts[0], reframed(robot, np.array(back))


def _central(J: np.ndarray) -> inertia.Central:
    """Mass, centre of mass and inertia about it; those of a link without mass are at the frame's origin."""
    m, h, I = inertia.moments.eager(J)
    return inertia.central.eager(J) if m > 0 else inertia.Central(m, h, I)


# --- Lagrange-Euler, §3.2 ---------------------------------------------------------------------------------------------


class LagrangeEuler(NamedTuple):
    """The terms of the torques tau (n,) = D a + h + c + friction, as Lagrange-Euler has them.

    D (n, n) is the inertia, h (n,) are the Coriolis and centrifugal torques, and c (n,) are those of gravity.
    """

    D: np.ndarray
    h: np.ndarray
    c: np.ndarray
    tau: np.ndarray


@kernel(robot=static, q="nq", v="nv", a="nv")
def lagrange_euler(robot: Robot, q, v, a) -> LagrangeEuler:
    """The Lagrange-Euler equations of an arm, τ = D a + h + c + friction, as `LagrangeEuler`, in O(n⁴).

    D_ik = Σ_j Tr(U_jk J_j U_jiᵀ), h_i = Σ_km h_ikm v_k v_m, h_ikm = Σ_j Tr(U_jkm J_j U_jiᵀ), c_i = -Σ_j m_j g U_ji r̄_j:
    Fu, Gonzalez & Lee (1987), eqs. (3.2-24)-(3.2-34). q, v and a are (n,).

        >>> D, h, c, tau = textbook.lagrange_euler.eager(robot, q, v, a)
    """
    arm, n = _arm(robot, q, "lagrange_euler"), robot.nv
    U, links = _slopes(arm), range(n)

    def coefficient(U_j: dict, which: tuple, i: int):
        """Σ_j Tr(U_j,which J_j U_jiᵀ) over the links beyond all joints in question."""
        terms = (np.trace(U_j[j, *which] @ arm.pseudo[j] @ U[j, i].T) for j in range(max(*which, i), n))
        return sum(terms, 0.0)

    D = _array([[coefficient(U, (k,), i) for k in links] for i in links]) + np.diag(robot.armature)  # (3.2-31)
    U_2 = _second_slopes(arm)
    H = _array([[[coefficient(U_2, (k, m), i) for m in links] for k in links] for i in links])  # (3.2-33)
    g = np.concatenate([robot.gravity, np.zeros(1)])
    # (3.2-34); m r̄ and m are the last column of J
    c = _array([-sum((g @ U[j, i] @ arm.pseudo[j][:, 3] for j in range(i, n)), 0.0) for i in links])
    h = (H @ v) @ v
    return LagrangeEuler(D, h, c, D @ a + h + c + friction_force(robot, v))


def _array(nested: list):
    """The array of numbers in nested lists."""
    return np.stack([_array(row) if isinstance(row, list) else row for row in nested])


def _generators(arm: _Arm) -> list:
    """The matrices Q_i (4, 4) with ∂A_i/∂q_i = Q_i A_i, (3.2-8), (3.2-9)."""
    zero = np.zeros(3)
    screws = [np.concatenate([z, zero] if turn else [zero, z]) for z, turn in zip(arm.z, arm.turns, strict=True)]
    return [se3.hat.eager(S) for S in screws]


def _between(arm: _Arm) -> dict:
    """{(i, j): A_{i+1} ··· A_j} (4, 4) for 0 <= i <= j <= n."""
    found = {}
    for i in range(len(arm.A) + 1):
        found[i, i] = np.eye(4)
        for j in range(i, len(arm.A)):
            found[i, j + 1] = se3.compose(found[i, j], arm.A[j])
    return found


def _slopes(arm: _Arm) -> dict:
    """{(i, j): U_ij = ∂⁰A_i/∂q_j = ⁰A_{j-1} Q_j ʲ⁻¹A_i} (4, 4), (3.2-11); links and joints counted from 0, j <= i."""
    A, Q = _between(arm), _generators(arm)
    return {(i, j): A[0, j] @ Q[j] @ A[j, i + 1] for i in range(len(Q)) for j in range(i + 1)}


def _second_slopes(arm: _Arm) -> dict:
    """{(i, j, k): U_ijk = ∂U_ij/∂q_k} (4, 4), (3.2-13), the same for (i, k, j)."""
    A, Q = _between(arm), _generators(arm)
    found = {}
    for i in range(len(Q)):
        for k in range(i + 1):
            for j in range(k + 1):
                found[i, j, k] = found[i, k, j] = A[0, j] @ Q[j] @ A[j, k] @ Q[k] @ A[k, i + 1]
    return found


# --- Newton-Euler, §3.3 -----------------------------------------------------------------------------------------------


class NewtonEuler(NamedTuple):
    """The torques tau (n,), and the motion and wrench of each link, (n, 3) each.

    `w` and `dw` are its angular velocity and acceleration, `dv` is the acceleration of its origin and `a` that of its
    centre of mass, both against free fall. `f` is the force and `n` the moment, about origin i - 1, that link i - 1
    exerts on link i.
    """

    tau: np.ndarray
    w: np.ndarray
    dw: np.ndarray
    dv: np.ndarray
    a: np.ndarray
    f: np.ndarray
    n: np.ndarray


@kernel(robot=static, q="nq", v="nv", a="nv")
def newton_euler_base(robot: Robot, q, v, a) -> NewtonEuler:
    """The Newton-Euler equations of an arm with everything along the axes of the base, as `NewtonEuler`, in O(n).

    Reference: Fu, Gonzalez & Lee (1987), eqs. (3.3-28)-(3.3-46), Table 3.2. q, v and a are (n,).
    """
    arm = _arm(robot, q, "newton_euler_base")
    T = arm.to_base
    R = [frame[:3, :3] for frame in T]
    seen = _Seen(
        z=[R[i] @ z for i, z in enumerate(arm.z)],
        step=[T[i + 1][:3, 3] - T[i][:3, 3] for i in range(robot.nv)],
        com=[R[i + 1] @ body.com for i, body in enumerate(arm.bodies)],
        inertia=[R[i + 1] @ body.inertia @ R[i + 1].T for i, body in enumerate(arm.bodies)],
        turn=[np.eye(3)] * robot.nv,
    )
    return _newton_euler(robot, arm, seen, v, a)


@kernel(robot=static, q="nq", v="nv", a="nv")
def newton_euler_link(robot: Robot, q, v, a) -> NewtonEuler:
    """The Newton-Euler equations of an arm with link i along the axes of frame i, as `NewtonEuler`, in O(n).

    Reference: Fu, Gonzalez & Lee (1987), eqs. (3.3-47)-(3.3-59), Table 3.3, the method of Luh, Walker & Paul (1980), in
    which inertias stay constant. q, v and a are (n,).
    """
    arm = _arm(robot, q, "newton_euler_link")
    turn = [A[:3, :3].T for A in arm.A]
    seen = _Seen(
        z=[R @ z for R, z in zip(turn, arm.z, strict=True)],
        step=[R @ A[:3, 3] for R, A in zip(turn, arm.A, strict=True)],
        com=[body.com for body in arm.bodies],
        inertia=[body.inertia for body in arm.bodies],
        turn=turn,
    )
    return _newton_euler(robot, arm, seen, v, a)


class _Seen(NamedTuple):
    """The numbers of each link along the axes chosen for it.

    They are the joint axis z_{i-1}, the way p*_i from origin i - 1 to origin i, the centre of mass s̄_i, the inertia
    about it, and the rotation (3, 3) to these axes from those of link i - 1.
    """

    z: list
    step: list
    com: list
    inertia: list
    turn: list


def _newton_euler(robot: Robot, arm: _Arm, seen: _Seen, v, a) -> NewtonEuler:
    """Motions outward, forces inward, by Table 3.2 (axes of the base) and Table 3.3 (axes of the links)."""
    w, dw, dv = np.zeros(3), np.zeros(3), -robot.gravity  # (3.3-46)
    motions = []
    for i, R in enumerate(seen.turn):
        w, dw, dv = _moved_on(arm.turns[i], R @ w, R @ dw, R @ dv, seen.z[i], seen.step[i], v[i], a[i])
        motions.append((w, dw, dv, dv + _carried(w, dw, seen.com[i])))  # (3.3-39), (3.3-53)
    f, n, tau, wrenches = np.zeros(3), np.zeros(3), [], []
    for i in reversed(range(robot.nv)):
        w, dw, _, a_com = motions[i]
        F = arm.bodies[i].mass * a_com  # (3.3-36), (3.3-54)
        N = seen.inertia[i] @ dw + np.cross(w, seen.inertia[i] @ w)  # (3.3-37), (3.3-55)
        n = n + np.cross(seen.step[i], f) + np.cross(seen.step[i] + seen.com[i], F) + N  # (3.3-44), (3.3-57)
        f = f + F  # (3.3-43), (3.3-56)
        tau.append(np.dot(n if arm.turns[i] else f, seen.z[i]))  # (3.3-45), (3.3-58)
        wrenches.append((f, n))
        f, n = seen.turn[i].T @ f, seen.turn[i].T @ n
    by_link = (np.stack(x) for x in (*zip(*motions, strict=True), *zip(*wrenches[::-1], strict=True)))
    return NewtonEuler(np.stack(tau[::-1]) + robot.armature * a + friction_force(robot, v), *by_link)


def _moved_on(turns: bool, w, dw, dv, z, step, rate, acceleration):
    """ω, ω̇ and v̇ of link i from those of link i - 1: (3.3-28), (3.3-29), (3.3-35), and (3.3-50)-(3.3-52)."""
    if turns:
        dw = dw + z * acceleration + np.cross(w, z * rate)
        w = w + z * rate
        return w, dw, dv + _carried(w, dw, step)
    return w, dw, dv + _carried(w, dw, step) + z * acceleration + 2 * np.cross(w, z * rate)


def _carried(w, dw, r):
    """ω̇ × r + ω × (ω × r): the acceleration of a point at r on a turning link, relative to its origin."""
    return np.cross(dw, r) + np.cross(w, np.cross(w, r))


# --- generalized d'Alembert, §3.4 -------------------------------------------------------------------------------------


class DAlembert(NamedTuple):
    """The terms of τ = (D_rot + D_tran) a + h_rot + h_tran + c + friction.

    What it takes to turn the links (rot) is kept apart from what it takes to move their centres of mass (tran).
    """

    D_rot: np.ndarray  # (n, n), with armature
    D_tran: np.ndarray  # (n, n)
    h_rot: np.ndarray  # (n,)
    h_tran: np.ndarray  # (n,)
    c: np.ndarray  # (n,)
    tau: np.ndarray  # (n,)


@kernel(robot=static, q="nq", v="nv", a="nv")
def generalized_dalembert(robot: Robot, q, v, a) -> DAlembert:
    """The generalized d'Alembert equations of an arm with revolute joints only, as `DAlembert`, in O(n³).

    τ = (D_rot + D_tran) a + h_rot + h_tran + c + friction: Fu, Gonzalez & Lee (1987), eqs. (3.4-24)-(3.4-28). q, v and
    a are (n,).
    """
    arm, links = _arm(robot, q, "generalized_dalembert"), range(robot.nv)
    _require_turning(robot)
    T = arm.to_base
    origins = [T[i][:3, 3] for i in range(robot.nv + 1)]
    centers = [se3.act(T[s + 1], arm.bodies[s].com) for s in links]
    z = [T[i][:3, :3] @ arm.z[i] for i in links]
    # z_{i-1} × (r̄_s - p_{i-1}): how joint i moves the centre of link s, and ˢR_0 z_{i-1}
    moves = {(s, i): np.cross(z[i], centers[s] - origins[i]) for s in links for i in range(s + 1)}
    Z = {(s, i): T[s + 1][:3, :3].T @ z[i] for s in links for i in range(s + 1)}
    masses, inertias = [b.mass for b in arm.bodies], [b.inertia for b in arm.bodies]

    def each_pair(term):
        pairs = {(i, j): sum((term(s, i, j) for s in range(j, robot.nv)), 0.0) for j in links for i in range(j + 1)}
        return _array([[pairs[min(i, j), max(i, j)] for j in links] for i in links])

    def each_joint(term):
        return _array([sum((term(s, i) for s in range(i, robot.nv)), 0.0) for i in links])

    D_rot = each_pair(lambda s, i, j: Z[s, i] @ inertias[s] @ Z[s, j]) + np.diag(robot.armature)  # (3.4-25)
    D_tran = each_pair(lambda s, i, j: masses[s] * np.dot(moves[s, j], moves[s, i]))
    accelerations = [_center_acceleration(z, origins, centers[s], v, s) for s in links]
    h_tran = each_joint(lambda s, i: masses[s] * np.dot(accelerations[s], moves[s, i]))  # (3.4-26)
    gyration = [_gyration(Z, v, s) for s in links]
    h_rot = each_joint(  # (3.4-27)
        lambda s, i: (
            Z[s, i] @ inertias[s] @ gyration[s].dw + np.cross(Z[s, i], gyration[s].w) @ inertias[s] @ gyration[s].w
        )
    )
    c = each_joint(lambda s, i: -masses[s] * np.dot(robot.gravity, moves[s, i]))  # (3.4-28)
    tau = (D_rot + D_tran) @ a + h_rot + h_tran + c + friction_force(robot, v)
    return DAlembert(D_rot, D_tran, h_rot, h_tran, c, tau)


def _require_turning(robot: Robot) -> None:
    """Raise an `ArgumentError` unless all joints are revolute."""
    for name, kind in zip(robot.body_joint_names, robot.joint_types, strict=True):
        if not _TURNS[kind]:
            raise ArgumentError(
                f"generalized_dalembert: robot '{robot.name}': joint '{name}' is {kind}; the method is for revolute "
                "joints; `lagrange_euler` and `newton_euler_link` take both"
            )


def _center_acceleration(z: list, origins: list, center, v, s: int):
    """Σ_k W_k × (W_k × b_k) + G_k × b_k (3,) of (3.4-26): the acceleration of the centre of link s at constant rates.

    W_k is the angular velocity of link k, G_k its rate, and b_k the way from origin k - 1 to origin k; the last one
    ends at the centre.
    """
    w, dw, found = np.zeros(3), np.zeros(3), np.zeros(3)
    for k in range(s + 1):
        dw = dw + np.cross(w, v[k] * z[k])
        w = w + v[k] * z[k]
        found = found + _carried(w, dw, (center if k == s else origins[k + 1]) - origins[k])
    return found


class _Gyration(NamedTuple):
    """Angular velocity (3,) of a link along its own axes, and its rate (3,) at constant joint rates."""

    w: np.ndarray
    dw: np.ndarray


def _gyration(Z: dict, v, s: int) -> _Gyration:
    """Σ_p v_p Z_p and Σ_j v_j Z_j × Σ_{k>j} v_k Z_k of (3.4-27), with Z_i = ˢR_0 z_{i-1}."""
    turns = [v[i] * Z[s, i] for i in range(s + 1)]
    dw = sum((np.cross(turns[j], turns[k]) for k in range(s + 1) for j in range(k)), np.zeros(3))
    return _Gyration(sum(turns, np.zeros(3)), dw)


# --- probing, and operation counts ------------------------------------------------------------------------------------


class Coefficients(NamedTuple):
    """The terms of τ = D a + h + c + friction.

    D (nv, nv) is the inertia, h (nv,) are the Coriolis and centrifugal torques, and c (nv,) are those of gravity.
    """

    D: np.ndarray
    h: np.ndarray
    c: np.ndarray


@kernel(robot=static, q="nq", v="nv")
def probing(robot: Robot, q, v) -> Coefficients:
    """The `Coefficients` of τ = D a + h + c + friction, for any robot, from inverse dynamics alone.

    c is the torque at rest, h is the torque of moving on with v less c, and column k of D is the torque of a unit
    acceleration of joint k, at rest and without gravity: Fu, Gonzalez & Lee (1987), problems 3.11 and 3.12.
    """
    rest = np.zeros(robot.nv)
    c = inverse_dynamics(robot, q, rest, rest)
    h = inverse_dynamics(robot, q, v, rest) - c - friction_force(robot, v)
    D = [inverse_dynamics(robot, q, rest, e, gravity=np.zeros(3)) for e in np.eye(robot.nv)]
    return Coefficients(np.stack(D, axis=1) if D else np.zeros((0, 0)), h, c)


class Count(NamedTuple):
    """Numbers of multiplications and additions."""

    muls: int
    adds: int


class OperationCounts(NamedTuple):
    """The operations of one method: of its graph here, of the book's Table 3.5, and of the book's own table for it.

    Tables 3.1 (Lagrange-Euler) and 3.4 (Newton-Euler) do not agree with Table 3.5; d'Alembert has no table of its own.
    """

    graph: Count
    compared: Count
    derived: Count | None


def operation_counts(robot: Robot) -> dict[str, OperationCounts]:
    """{method: `OperationCounts`} of a revolute arm, as the book compares them; sines and cosines are not counted.

    The book is Fu, Gonzalez & Lee (1987), "Robotics". All arms with the same number of joints have the same counts
    there.
    """
    n = robot.nv

    def of_graph(method) -> Count:
        operations = method.bind(robot).operations
        return Count(operations.muls, operations.adds)

    return {
        "Lagrange-Euler": OperationCounts(
            of_graph(lagrange_euler),
            Count(_of(n, 128 / 3, 512 / 3, 739 / 3, 160 / 3, 0), _of(n, 98 / 3, 781 / 6, 559 / 3, 245 / 6, 0)),
            Count(_of(n, 128 / 3, 512 / 3, 844 / 3, 76 / 3, 0), _of(n, 98 / 3, 781 / 6, 637 / 3, 107 / 6, 0)),
        ),
        "Newton-Euler": OperationCounts(
            of_graph(newton_euler_link),
            Count(_of(n, 132, 0), _of(n, 111, -4)),
            Count(_of(n, 117, -24), _of(n, 103, -21)),
        ),
        "generalized d'Alembert": OperationCounts(
            of_graph(generalized_dalembert),
            Count(_of(n, 13 / 6, 105 / 2, 268 / 3, 69), _of(n, 4 / 3, 44, 146 / 3, 45)),
            None,
        ),
    }


def _of(n: int, *coefficients: float) -> int:
    """The value at n of a polynomial that has whole values; its coefficients come with the highest power first."""
    return round(float(np.polyval(coefficients, n)))
