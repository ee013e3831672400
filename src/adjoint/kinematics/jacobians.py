"""Jacobians of frames: the twist V = J v, its derivatives, and statics tau = Jᵀ F.

Twists of a frame b relative to a (the base, unless `relative_to` says otherwise), angular part first, come in three
expressions; T_ab = [R p; 0 1] is the placement of b in a:

- "body":  vee(T_ab⁻¹ Ṫ_ab), seen from b;
- "space": vee(Ṫ_ab T_ab⁻¹), seen from a, at a's origin;
- "world": (w, ṗ), the angular velocity and the velocity of b's origin, along a's axes.

Each is J v with columns ±Ad(T_si) S_i, screws of the joints on the way seen from s = b ("body") or s = a; Park (1994).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..errors import ArgumentError
from ..lie import se3
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..rolled import is_long, rolls
from ..sweep import columns, joint_placement, onward, outward_keeping, rates
from .forward import frame_placement
from .route import crossings, seen_screws, way

__all__ = [
    "frame_acceleration",
    "frame_twist",
    "jacobian",
    "jacobian_rate",
    "kinematic_hessian",
    "static_torque",
]

EXPRESSIONS = ("body", "space", "world")
_statics = {"robot": static, "frame": static, "expressed": static, "relative_to": static}


class _Column(NamedTuple):
    """The screws (6, k) of the joint of `body`, seen from s; `sign`: how they move the end of the way from s."""

    body: int
    sign: float
    screws: np.ndarray


def _columns(robot: Robot, q, frame: str, expressed: str, relative_to: str | None) -> tuple[list[_Column], float]:
    """The joints between two frames, in the order of the way from s, and the sign that makes its end's motion b's."""
    _check(robot, frame, expressed)
    if expressed == "body":  # from b to a: what moves a relative to b moves b the other way
        crossed, _ = crossings(robot, q, frame, relative_to)
        return [_Column(c.body, c.sign, seen_screws(robot, c.body, c.T)) for c in crossed], -1.0
    crossed, T_ab = crossings(robot, q, relative_to, frame)
    if expressed == "world":  # twists are taken at b's origin: count placements from there
        crossed = [c._replace(T=_from_point(c.T, T_ab[:3, 3])) for c in crossed]
    return [_Column(c.body, c.sign, seen_screws(robot, c.body, c.T)) for c in crossed], 1.0


def _from_point(T, p):
    return se3.from_rotation_translation(T[:3, :3], T[:3, 3] - p)


def _brackets(W, screws) -> np.ndarray:
    """[W, c] (6, k) of the columns c of `screws`."""
    return np.stack([se3.bracket(W, screws[:, k]) for k in range(screws.shape[1])], axis=-1)


def _cross_below(screws, u) -> np.ndarray:
    """(0, w × u) (6, k) of the columns (w, v) of `screws`."""
    zero = np.zeros(3)
    return np.stack([np.concatenate([zero, np.cross(screws[:3, k], u)]) for k in range(screws.shape[1])], axis=-1)


@kernel(q="nq", **_statics)
def jacobian(robot, q, frame, expressed="body", relative_to=None):
    """J (6, nv) of a frame at q (nq,): its twist is V = J v.

    Rows are angular, then linear: [1] and [m] in the columns of joints that turn, 0 and [1] in those that slide.

    `expressed` is "body", "space" or "world"; `relative_to` names the frame it moves against, instead of the base.
    Columns of joints that do not move it are zero; a joint that others mimic moves with all of them.
    """
    found, of_b = _columns(robot, q, frame, expressed, relative_to)
    return columns(robot, {c.body: (of_b * c.sign) * c.screws for c in found}, np.zeros(6))


@kernel(q="nq", v="nv", **_statics)
def jacobian_rate(robot, q, v, frame, expressed="body", relative_to=None):
    """J̇ = dJ/dt (6, nv) when q moves with v (nv,): then V̇ = J a + J̇ v. Arguments as for `jacobian`."""
    found, of_b = _columns(robot, q, frame, expressed, relative_to)
    W, moved = np.zeros(6), {}
    for i, sign, c in found:
        # Seen from s, body i moves with W_i, so ċ_i = [W_i, c_i]; W_i includes joint i on the way down only.
        before, W = W, W + sign * (c @ rates(robot, v, i))
        moved[i] = _brackets(W if sign > 0 else before, c)
    if expressed == "world":  # the point at which twists are taken moves with ṗ
        moved = {i: moved[i] + _cross_below(c, W[3:]) for i, _, c in found}
    return columns(robot, {i: (of_b * sign) * moved[i] for i, sign, _ in found}, np.zeros(6))


@kernel(q="nq", **_statics)
def kinematic_hessian(robot, q, frame, expressed="body", relative_to=None):
    """H (6, nv, nv) with H[:, i, j] = ∂J[:, i]/∂q_j, along the motions that v describes: J̇ = H v.

    Arguments as for `jacobian`. Not symmetric in i and j: order matters on a group. With c_i the columns seen from s,
    ∂c_i/∂q_j = ±[c_j, c_i] for joints j between s and i.
    """
    found, of_b = _columns(robot, q, frame, expressed, relative_to)
    rows = {}
    for k, (i, sign, c) in enumerate(found):
        between = found[: k + 1] if sign > 0 else found[:k]
        moved = {j: (of_b * sign * s) * _each_bracket(d, c) for j, s, d in between}
        if expressed == "world":
            for j, s, d in found:
                own = (sign * s) * np.stack([_cross_below(c, d[3:, m]) for m in range(d.shape[1])], axis=-1)
                moved[j] = moved[j] + own if j in moved else own
        rows[i] = np.swapaxes(columns(robot, moved, np.zeros((6, c.shape[1]))), 1, 2)
    return np.swapaxes(columns(robot, rows, np.zeros((6, robot.nv))), 1, 2)


def _each_bracket(d, c) -> np.ndarray:
    """[d_m, c_k] as (6, k, m)."""
    return np.stack([_brackets(d[:, m], c) for m in range(d.shape[1])], axis=-1)


# --- motion and statics without forming Jacobians ---------------------------------------------------------------------


def _motion(robot: Robot, q, v, a, frame: str, relative_to: str | None):
    """Twist V of b relative to a, and V̇, both seen from b: a recursion along the way from a to b."""
    _, up, down, b = way(robot, relative_to, frame)
    V, dV = np.zeros(6), np.zeros(6)
    for i in (*up, *down):
        f, S = joint_placement(robot, q, i), robot.screw(i).T
        Sv, Sa = S @ rates(robot, v, i), S @ rates(robot, a, i)
        if i in down:
            # Ploen & Park (1999), (2), (3): V_i = Ad(f⁻¹) V + S v,  V̇_i = Ad(f⁻¹) V̇ + [V_i, S v] + S a
            V = se3.Ad_inv_action(f, V) + Sv
            dV = se3.Ad_inv_action(f, dV) + se3.bracket(V, Sv) + Sa
        else:  # the same, solved for the parent's
            dV = se3.Ad_action(f, dV - se3.bracket(V, Sv) - Sa)
            V = se3.Ad_action(f, V - Sv)
    return se3.Ad_inv_action(b.placement, V), se3.Ad_inv_action(b.placement, dV)


def _turned(T, V):
    """(R w, R v): a twist along the axes of another frame, at the same point."""
    R = T[:3, :3]
    return np.concatenate([R @ V[:3], R @ V[3:]])


@kernel(q="nq", v="nv", **_statics)
def frame_twist(robot, q, v, frame, expressed="body", relative_to=None):
    """Twist V = J v (6,) [rad/s, m/s] of a frame when q moves with v (nv,). Arguments as for `jacobian`."""
    _check(robot, frame, expressed)
    V, _ = _motion(robot, q, v, np.zeros(robot.nv), frame, relative_to)
    if expressed == "body":
        return V
    T_ab = crossings(robot, q, relative_to, frame)[1]
    return se3.Ad_action(T_ab, V) if expressed == "space" else _turned(T_ab, V)


@kernel(q="nq", v="nv", a="nv", **_statics)
def frame_acceleration(robot, q, v, a, frame, expressed="body", relative_to=None):
    """V̇ = J a + J̇ v (6,) [rad/s², m/s²], the rate of `frame_twist`; in "world", p̈ is the acceleration of the origin."""
    _check(robot, frame, expressed)
    V, dV = _motion(robot, q, v, a, frame, relative_to)
    if expressed == "body":
        return dV
    T_ab = crossings(robot, q, relative_to, frame)[1]
    if expressed == "space":
        return se3.Ad_action(T_ab, dV)  # d/dt Ad(T) V = Ad(T) (V̇ + [V, V])
    # Park, Bobrow & Ploen (1995), (76): the origin accelerates with v̇ + w × v
    return _turned(T_ab, dV + np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])]))


@kernel(q="nq", exerted_wrench=6, **_statics)
def static_torque(robot, q, exerted_wrench, frame, expressed="body", relative_to=None):
    """tau = Jᵀ F (nv,) with which the frame exerts the wrench F = (m, f) (6,) [N m, N] on its surroundings, at rest.

    It holds against the wrench -F on the robot (`applied_wrenches` of `inverse_dynamics`), gravity left out of account.
    F is dual to the twist in the same expression, so F · V is power: "world" is the force at the frame's origin and the
    moment about it, along the base's axes.
    """
    found, of_b = _columns(robot, q, frame, expressed, relative_to)
    return columns(robot, {c.body: (of_b * c.sign) * (exerted_wrench @ c.screws) for c in found}, np.zeros(()))


# --- robots with many bodies ------------------------------------------------------------------------------------------


@rolls
@kernel(robot=static, q="nq")
def space_screws(robot, q):
    """c_i = Ad(T_0i) S_i (6, nv): the screws of all joints seen from the base."""
    step = onward(robot, q)

    def place(i, T):
        T = step(i, T)
        return T, seen_screws(robot, i, T)

    return columns(robot, outward_keeping(robot, place, np.eye(4)), np.zeros(6))


@rolls
@kernel(robot=static, q="nq", v="nv")
def space_screw_rates(robot, q, v):
    """ċ_i = [W_i, c_i] (6, nv) of `space_screws` when q moves with v; W_i is the twist of body i seen from the base."""
    step = onward(robot, q)

    def move(i, parent: tuple) -> tuple:
        T = step(i, parent[0])
        c = seen_screws(robot, i, T)
        W = parent[1] + c @ rates(robot, v, i)
        return (T, W), _brackets(W, c)

    return columns(robot, outward_keeping(robot, move, (np.eye(4), np.zeros(6))), np.zeros(6))


class _Between:
    """Two frames a and b of a robot with many bodies: how the joints between them move b against a."""

    def __init__(self, robot: Robot, q: np.ndarray, frame: str, relative_to: str | None):
        a, b = robot.base_name if relative_to is None else relative_to, frame
        self.robot, self.q = robot, q
        self.T_a, self.T_b = (frame_placement(robot, q, name)[..., None, :, :] for name in (a, b))
        self.moves_a, self.moves_b = (_movers(robot, robot.frame(name).body) for name in (a, b))
        self.c = np.swapaxes(space_screws(robot, q), -1, -2)  # (..., nv, 6)
        self.own = (self.moves_b - self.moves_a)[:, None] * self.c

    def seen(self, x: np.ndarray, expressed: str) -> np.ndarray:
        """Twists x (..., nv, 6) seen from the base as `expressed` says."""
        if expressed == "body":
            return se3.Ad_inv_action(self.T_b, x)
        x = se3.Ad_inv_action(self.T_a, x)
        if expressed == "space":
            return x
        p = (se3.inverse(self.T_a) @ self.T_b)[..., :3, 3]
        return np.concatenate([x[..., :3], x[..., 3:] + np.cross(x[..., :3], p)], axis=-1)

    def columns(self, expressed: str) -> np.ndarray:
        """Jᵀ (..., nv, 6)."""
        return self.seen(self.own, expressed)

    def rates(self, v: np.ndarray, expressed: str) -> np.ndarray:
        """J̇ᵀ (..., nv, 6): ċ - [W, c], W being the twist of the frame that sees them."""
        dc = (self.moves_b - self.moves_a)[:, None] * np.swapaxes(space_screw_rates(self.robot, self.q, v), -1, -2)
        W = _times((self.moves_b if expressed == "body" else self.moves_a) * v, self.c)
        found = self.seen(dc - se3.bracket(W[..., None, :], self.own), expressed)
        if expressed == "world":  # the point at which twists are taken moves with ṗ
            dp = _times(v, self.columns("world"))[..., None, 3:]
            found[..., 3:] += np.cross(self.columns("space")[..., :3], dp)
        return found


def _times(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Σ_k x_k row_k (..., 6)."""
    return np.einsum("...n,...nk->...k", x, rows)


@once_a_robot
def _movers(robot: Robot, body: int) -> np.ndarray:
    """1 for the degrees of freedom (nv,) that move a body against the base, else 0."""
    found, start = np.zeros(robot.nv), robot.layout.v_start
    for i in robot.path(body):
        found[start[i] : start[i] + len(robot.screw(i))] = 1
    return found


def _for_many_bodies(compute: Callable) -> Callable:
    """What `Kernel.instead` takes, of a function (between, given, expressed) of robots with many bodies."""

    def make(statics: dict, names: tuple[str, ...]) -> Callable | None:
        robot, frame, expressed = statics["robot"], statics["frame"], statics["expressed"]
        if not is_long(robot):
            return None
        _check(robot, frame, expressed)
        return lambda given: compute(_Between(robot, given["q"], frame, statics["relative_to"]), given, expressed)

    return make


@jacobian.instead
@_for_many_bodies
def _jacobian(between: _Between, given: dict, expressed: str) -> np.ndarray:
    return np.ascontiguousarray(np.swapaxes(between.columns(expressed), -1, -2))


@jacobian_rate.instead
@_for_many_bodies
def _jacobian_rate(between: _Between, given: dict, expressed: str) -> np.ndarray:
    return np.ascontiguousarray(np.swapaxes(between.rates(given["v"], expressed), -1, -2))


@frame_twist.instead
@_for_many_bodies
def _frame_twist(between: _Between, given: dict, expressed: str) -> np.ndarray:
    return _times(given["v"], between.columns(expressed))


@frame_acceleration.instead
@_for_many_bodies
def _frame_acceleration(between: _Between, given: dict, expressed: str) -> np.ndarray:
    return _times(given["a"], between.columns(expressed)) + _times(given["v"], between.rates(given["v"], expressed))


@static_torque.instead
@_for_many_bodies
def _static_torque(between: _Between, given: dict, expressed: str) -> np.ndarray:
    return np.einsum("...nk,...k->...n", between.columns(expressed), given["exerted_wrench"])


def _check(robot: Robot, frame: str, expressed: str) -> None:
    robot.frame(frame)  # one frame, and not None, which would be the base
    if expressed not in EXPRESSIONS:
        others = {"local": "body", "local_world_aligned": "world"}
        meant = others.get(str(expressed).lower())
        hint = f"; Pinocchio's {expressed} is {meant!r} here" if meant else ""
        raise ArgumentError(f"expressed is {expressed!r}; it must be one of {', '.join(map(repr, EXPRESSIONS))}{hint}")
