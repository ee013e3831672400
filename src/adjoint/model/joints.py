"""The table of joint types, `JOINTS`: every type answers the same questions, and nothing else knows of types.

A joint moves body i from its home placement M_i in the parent: f_{i-1,i}(q) = M_i J_i(q), Ploen & Park (1999), eq. (1).
The robot stores S_i (6, nv), the *constant* screws of this motion in the body's own frame: the body's twist relative to
its parent is S_i v_i for every q. With one degree of freedom, J = exp(S q). With several, J = Q J_std(q) Q⁻¹ and
S = Ad(Q) S_std, where Q is the frame of the joint in the body and J_std, S_std are those of the type. Q follows from S,
so S alone is stored.

Models have two types more, which no robot has. A universal joint becomes two revolute joints with a massless cross
between them, since its S would depend on q. A fixed joint makes one body of two links.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..lie import se3, series, so3

__all__ = ["BRACKETS", "FRAMES", "JOINTS", "UNIT", "JointType", "misfit", "standard_screws"]


class JointType(NamedTuple):
    """A row of the table `JOINTS`: the lengths of q and v, and functions of the joint's own q (nq,) and v (nv,)."""

    nq: int
    nv: int
    placement: Callable  # (q, S, varying) -> J(q) (4, 4); varying says that S is an input, not known numbers
    integrate: Callable  # (q, v) -> q after moving with constant v for unit time
    difference: Callable  # (q_0, q_1) -> v that moves q_0 to q_1 in unit time
    neutral: tuple[float, ...]  # q with J(q) = 1
    random: Callable  # (rng, lower, upper, shape) -> q (*shape, nq) inside the limits
    does: str  # what q and v mean, in words
    stated_by: tuple[str, ...] = ("axis", "screw")  # options of a model that say what its screws are
    turns: bool | None = None  # whether the screw of a joint with one degree of freedom turns; None if it may be any
    has_limits: bool = True  # q may have limits
    has_quaternion: bool = False  # the last four numbers of q are a unit quaternion, which has no limits


# --- one degree of freedom --------------------------------------------------------------------------------------------


def _screw(q, S, varying=False):
    """Return exp(S q) for one screw S = (w, v) with |w| = 1, or w = 0; Park (1994), Lemmas 1 and 2.

    Terms are grouped so that products of constants are formed once, when code is compiled.
    """
    if varying:
        return se3.exp(S[0] * q[0])
    angle = q[0]
    w, v = S[0, :3], S[0, 3:]
    if not np.any(w):
        return se3.from_rotation_translation(np.eye(3), v * angle)
    s, c = np.sin(angle), np.cos(angle)
    along, across = np.outer(w, w), np.eye(3) - np.outer(w, w)
    R = along + c * across + s * so3.hat.eager(w)
    return se3.from_rotation_translation(R, along @ v * angle + s * (across @ v) + (1 - c) * np.cross(w, v))


def _add(q, v):
    return q + v


def _subtract(q_0, q_1):
    return q_1 - q_0


def _random_scalar(rng, lower, upper, shape, unbounded):
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * unbounded, -unbounded))
    high = np.where(np.isfinite(upper), upper, low + 2 * unbounded)
    return 2 * rng.uniform(low / 2, high / 2, (*shape, len(low)))  # high - low alone could overflow


def _random_angle(rng, lower, upper, shape):
    return _random_scalar(rng, lower, upper, shape, np.pi)


def _random_length(rng, lower, upper, shape):
    return _random_scalar(rng, lower, upper, shape, 1.0)


# --- several degrees of freedom ---------------------------------------------------------------------------------------

_PLANAR = np.array([[0.0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]])


def _planar_frame(S):
    """Return Q (4, 4) of S = Ad(Q) S_std; the rows of S are the turn (z, p × z), then the slides (0, x) and (0, y)."""
    z = S[0, :3]
    return se3.from_rotation_translation(np.stack([S[1, 3:], S[2, 3:], z], axis=1), np.cross(z, S[0, 3:]))


def _spherical_frame(S):
    """Return Q (4, 4) of S with the rows (e_k, p × e_k): R has the columns e_k, and [p] R Rᵀ = [p] gives p."""
    R = S[:, :3].T
    moment = S[:, 3:].T @ R.T
    return se3.from_rotation_translation(R, so3.vee(moment))


def _free_frame(S):
    return _spherical_frame(S[:3])


FRAMES = {"planar": _planar_frame, "spherical": _spherical_frame, "free": _free_frame}
"""{type: function of S that returns the joint's frame Q in the body} for joints of several degrees of freedom."""


def _in_frame(Q, J):
    """Return Q J Q⁻¹."""
    return se3.compose(se3.compose(Q, J), se3.inverse(Q))


def _planar(q, S, varying=False):
    T = se3.from_rotation_translation(so3.rotation_z(q[2]), np.stack([q[0], q[1], 0 * q[0]]))
    return T if not varying and np.array_equal(S, _PLANAR) else _in_frame(_planar_frame(S), T)


def _orientation(quat):
    """Return the quaternion of a joint; raise `ArgumentError` if it is zero.

    Only eager code, which computes with numbers, can raise; compiled code returns NaN instead.
    """
    if quat.dtype.kind == "f" and not quat.any():
        raise ArgumentError(
            "q has a quaternion (0, 0, 0, 0), which is no orientation, so it is not a configuration: "
            "q = adjoint.neutral(robot) is one, random_configuration(robot) another"
        )
    return quat


def _spherical(q, S, varying=False):
    T = se3.from_rotation_translation(so3.from_quat_wxyz(_orientation(q)), np.zeros(3))
    return T if not varying and np.array_equal(S, np.eye(6)[:3]) else _in_frame(_spherical_frame(S), T)


def _pose(q):
    _orientation(q[3:])
    return se3.from_xyz_quat_wxyz(q)


def _free(q, S, varying=False):
    T = _pose(q)
    return T if not varying and np.array_equal(S, np.eye(6)) else _in_frame(_free_frame(S), T)


def _quat_product(p, q):
    a, u, b, v = p[0], p[1:], q[0], q[1:]
    return np.concatenate([np.stack([a * b - np.dot(u, v)]), a * v + b * u + np.cross(u, v)])


def _turn(quat, w):
    """Return quat · exp(w), of unit length: the body turns by w in its own frame."""
    c0, c1, _ = series.stumpff(np.dot(w, w) / 4, 2)  # cos(t/2), sin(t/2)/(t/2)
    q = _quat_product(series.moderate(_orientation(quat)), np.concatenate([np.stack([c0]), c1 / 2 * w]))
    return q / np.sqrt(np.dot(q, q))


def _planar_pose(q):
    return _planar(q, _PLANAR)


def _planar_integrate(q, v):
    zero = 0 * v[0]
    moved = se3.compose(_planar_pose(q), se3.exp(np.stack([zero, zero, v[0], v[1], v[2], zero])))
    return np.stack([moved[0, 3], moved[1, 3], q[2] + v[0]])


def _planar_difference(q_0, q_1):
    V = se3.log(se3.compose(se3.inverse(_planar_pose(q_0)), _planar_pose(q_1)))
    return np.stack([V[2], V[3], V[4]])


def _spherical_difference(q_0, q_1):
    return so3.log(so3.from_quat_wxyz(_orientation(q_0)).T @ so3.from_quat_wxyz(_orientation(q_1)))


def _free_integrate(q, v):
    moved = se3.compose(_pose(q), se3.exp(v))
    return np.concatenate([moved[:3, 3], _turn(q[3:], v[:3])])


def _free_difference(q_0, q_1):
    return se3.log(se3.compose(se3.inverse(_pose(q_0)), _pose(q_1)))


def _random_planar(rng, lower, upper, shape):
    xy = _random_length(rng, lower[:2], upper[:2], shape)
    return np.concatenate([xy, _random_angle(rng, lower[2:], upper[2:], shape)], axis=-1)


def _random_quat(rng, lower, upper, shape):
    q = rng.standard_normal((*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def _random_free(rng, lower, upper, shape):
    xyz = _random_length(rng, lower[:3], upper[:3], shape)
    return np.concatenate([xyz, _random_quat(rng, lower[3:], upper[3:], shape)], axis=-1)


# --- the table --------------------------------------------------------------------------------------------------------


def _scalar(random: Callable, does: str, **more) -> JointType:
    """The row of a type with one degree of freedom."""
    return JointType(1, 1, _screw, _add, _subtract, (0.0,), random, does, **more)


JOINTS: dict[str, JointType] = {
    "revolute": _scalar(_random_angle, "angle q [rad] about an axis", turns=True),
    "continuous": _scalar(_random_angle, "angle q [rad] about an axis, without limits", turns=True, has_limits=False),
    "prismatic": _scalar(_random_length, "distance q [m] along an axis", turns=False),
    "helical": _scalar(
        _random_angle, "angle q [rad] about an axis, with pitch [m/rad] along it", turns=True,
        stated_by=("axis", "pitch", "screw"),
    ),
    "screw": _scalar(_random_angle, "any constant screw S: J = exp(S q)", stated_by=("screw",)),
    "planar": JointType(
        3, 3, _planar, _planar_integrate, _planar_difference, (0.0, 0.0, 0.0), _random_planar,
        "q = (x, y, angle) in a plane, v = (turn rate, x, y velocity) in the body's frame",
    ),
    "spherical": JointType(
        4, 3, _spherical, _turn, _spherical_difference, (1.0, 0.0, 0.0, 0.0), _random_quat,
        "q = unit quaternion, scalar first, v = angular velocity in the body's frame",
        stated_by=("screw",), has_limits=False, has_quaternion=True,
    ),
    "free": JointType(
        7, 6, _free, _free_integrate, _free_difference, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), _random_free,
        "q = (x, y, z, unit quaternion), v = twist (w, v) in the body's frame",
        stated_by=("screw",), has_quaternion=True,
    ),
}  # fmt: skip
"""{name of a type of joint: its row of the table of joints}.

A new type of joint is a new row; its screws where they are standard go into `standard_screws`, and, if it has several
degrees of freedom, the frame of the joint into `FRAMES`. Readers and writers of files have tables of the names that
types have there.
"""


def standard_screws(kind: str, axis=(0.0, 0.0, 1.0), pitch: float = 0.0) -> np.ndarray:
    """Return S (nv, 6), one screw per row, of a joint at the body's origin; `axis` may have any length but 0."""
    axis = np.asarray(axis, float)
    axis = axis / np.linalg.norm(axis)
    if kind in ("revolute", "continuous", "helical"):
        return np.concatenate([axis, pitch * axis])[None]
    if kind == "prismatic":
        return np.concatenate([np.zeros(3), axis])[None]
    if kind == "planar":
        # If the normal is an axis of the body, the axes in the plane are the next two of x, y, z in cyclic order.
        x = np.roll(axis, 1) if np.count_nonzero(axis) == 1 else np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        x = np.abs(x) if np.count_nonzero(axis) == 1 else x / np.linalg.norm(x)
        y = np.cross(axis, x)
        return np.block([[axis, np.zeros(3)], [np.zeros(3), x], [np.zeros(3), y]])
    return {"spherical": np.eye(6)[:3], "free": np.eye(6)}[kind]


UNIT = 1e-9
"""The length of a unit screw may differ from 1 by this much, and the pitch of a revolute joint from 0."""


def misfit(kind: str, S: np.ndarray) -> str | None:
    """Return what is wrong with S (nv, 6) as the screws of a joint of this kind, or None if S fits.

    With one degree of freedom, |w| = 1, or w = 0 and |v| = 1; a prismatic joint has w = 0 and a revolute one w · v = 0.
    With several degrees of freedom, S = Ad(Q) S_std for some frame Q.
    """
    if kind in FRAMES:
        return None if _are_screws(kind, S) else f"is not that of a {kind} joint in any frame"
    w, v = S[0, :3], S[0, 3:]
    turns = bool(w.any())
    length, part = (np.linalg.norm(w), "w") if turns else (np.linalg.norm(v), "v")
    if turns and kind == "prismatic":
        return f"turns, w = {w.tolist()}; that of a prismatic joint is (0, v)"
    if not turns and kind != "screw" and kind != "prismatic":
        return f"does not turn, w = 0; that of a {kind} joint has |w| = 1"
    if not abs(length - 1) <= UNIT:
        return f"has |{part}| = {length:g}; it must be 1, so that q is in rad or m"
    if kind in ("revolute", "continuous") and abs(w @ v) > UNIT * max(1, np.linalg.norm(v)):
        return f"has pitch {w @ v:g} m/rad; with pitch a joint is helical, not {kind}"
    return None


_STANDARD = {kind: standard_screws(kind) for kind in FRAMES}


def _brackets(S: np.ndarray) -> np.ndarray:
    brackets = np.array([[se3.bracket.eager(a, b) for b in S] for a in S])
    return brackets @ S.T  # these are the components along the rows of S, which are orthonormal


BRACKETS = {kind: _brackets(S) for kind, S in _STANDARD.items()}
"""{type: c (nv, nv, nv)} for joints of several degrees of freedom: [S_i, S_j] = Σ_k c_ijk S_k, in any frame."""


def _are_screws(kind: str, S: np.ndarray) -> bool:
    """Return whether S = Ad(Q) S_std for some frame Q."""
    if np.array_equal(S, _STANDARD[kind]):
        return True
    with eagerly():
        Q = FRAMES[kind](S)
        rigid = np.allclose(Q[:3, :3] @ Q[:3, :3].T, np.eye(3), 0, UNIT) and np.linalg.det(Q[:3, :3]) > 0
        return rigid and np.allclose(_STANDARD[kind] @ se3.Ad(Q).T, S, UNIT, UNIT)
