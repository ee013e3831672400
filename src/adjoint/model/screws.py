"""Robots as products of exponentials: from screws to a `Robot`, and from a robot back to its screws.

The pose of the tool is f(q) = exp(A_1 q_1) ··· exp(A_n q_n) M in the space form, or M exp(B_1 q_1) ··· exp(B_n q_n) in
the body form: eqs. (1) and (2) of F. C. Park (1994), "Computational aspects of the product-of-exponentials formula for
robot kinematics", IEEE Trans. Autom. Control 39(3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..compile.front.inline import eagerly
from ..errors import ArgumentError, ModelError
from ..lie import se3
from .input_checks import motions, numbers
from .joints import JOINTS, UNIT, misfit
from .parts import GRAVITY, Frame
from .robot import Robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "PoE",
    "body_screws",
    "change_frames",
    "from_screws",
    "home_screws",
    "serial",
    "space_screws",
]


FORMS = ("space", "body")


class PoE(NamedTuple):
    """A frame as a product of exponentials: `screws` (n, 6), one per row, and the placement `home` (4, 4) of the frame.

    Screw k belongs to the joint of body number `bodies[k]`, and its coordinate is the q of this joint, or what the
    joint makes of its leader's q if it is a mimic. The frame is at `home` where all coordinates are 0. `space_screws`
    and `body_screws` return it.
    """

    screws: np.ndarray
    home: np.ndarray
    bodies: tuple[int, ...]


def home_screws(robot: Robot, frame: str) -> tuple[list[int], list[np.ndarray], np.ndarray]:
    """Return the bodies on the way to a frame, the screws A_i (k, 6) of their joints, and the frame's placement M.

    Screws and M are in the base frame at home: A_i = Ad(N_i) S_i with N_i = M_1 ··· M_i.
    """
    spot = robot.frame(frame)
    path, screws, N = robot.path(spot.body), [], np.eye(4)
    with eagerly():
        for i in path:
            N = se3.compose(N, robot.placements[i])
            screws.append(robot.screw(i) @ se3.Ad(N).T)
        return path, screws, se3.compose(N, spot.placement)


def space_screws(robot: Robot, frame: str) -> PoE:
    """Return the screws A_i (n, 6) and M (4, 4) of f(q) = exp(A_1 q_1) ··· exp(A_n q_n) M, as a `PoE`.

    f(q) is the placement of `frame` in the base frame. Every joint on the way to the frame must have one degree of
    freedom. Park (1994), "Computational aspects of the product-of-exponentials formula for robot kinematics", eq. (1).

        A, M, bodies = space_screws(robot, "tool")
    """
    bodies, screws, home = home_screws(robot, frame)
    for i in bodies:
        _require_one_dof(robot, i, frame)
    return PoE(np.array(screws).reshape(-1, 6), home, tuple(bodies))


def body_screws(robot: Robot, frame: str) -> PoE:
    """Return the screws B_i (n, 6) and M (4, 4) of f(q) = M exp(B_1 q_1) ··· exp(B_n q_n), as a `PoE`.

    f(q) is the placement of `frame` in the base frame; B_i = Ad(M⁻¹) A_i with the A_i of `space_screws`. Park (1994),
    "Computational aspects of the product-of-exponentials formula for robot kinematics", eq. (2).
    """
    screws, home, bodies = space_screws(robot, frame)
    return PoE(np.array([se3.Ad_inv_action.eager(home, A) for A in screws]).reshape(-1, 6), home, bodies)


def change_frames(found: PoE, form: str, *, base=None, tool=None) -> PoE:
    """Return the `PoE` of f' = P f Q: the same robot seen from another base frame, with another tool frame.

    `base` P (4, 4) is the placement of the old base frame in the new one, and `tool` Q (4, 4) that of the new tool
    frame in the old one; both are the identity by default. `form` says what `found` is: "space" screws, as
    `space_screws` returns them, become A_i' = Ad(P) A_i, whatever Q is; "body" screws become B_i' = Ad(Q⁻¹) B_i,
    whatever P is. In both forms M' = P M Q. Park (1994), §III.

        moved = change_frames(space_screws(robot, "tool"), "space", base=P)
        lifted = from_screws(moved.screws, moved.home)                      # stands at P
    """
    P, Q = (
        np.eye(4) if T is None else motions(T, (4, 4), f"change_frames: {name}")
        for name, T in (("base", base), ("tool", tool))
    )
    if not isinstance(found, PoE):
        raise ArgumentError(f"change_frames needs a PoE, as `space_screws` gives it, got {type(found).__name__}")
    if form not in FORMS:
        raise ArgumentError(f"change_frames: form is {form!r}; it must be 'space' or 'body'")
    with eagerly():
        X = se3.Ad(P) if form == "space" else se3.Ad(se3.inverse(Q))
    return PoE(found.screws @ X.T, P @ found.home @ Q, found.bodies)


def _require_one_dof(robot: Robot, i: int, frame: str) -> None:
    kind = robot.joint_types[i]
    if JOINTS[kind].nv != 1:
        raise ArgumentError(
            f"joint '{robot.body_joint_names[i]}', on the way to frame '{frame}', is {kind}; "
            "only joints with one degree of freedom are an exponential of one screw"
        )


def from_screws(
    screws,
    home,
    form: str = "space",
    *,
    inertias=None,
    links=None,
    name: str = "robot",
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    gravity: Sequence[float] = GRAVITY,
) -> Robot:
    """Return the serial robot with these screws (n, 6), one per row, and its frame "tool" at `home` M (4, 4).

        scara = from_screws([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -0.3, 0], [0, 0, 0, 0, 0, -1]], home)

    - `form`: "space" for screws A_i in the base frame, or "body" for screws B_i in the tool frame, both at home. A
      screw (w, v) with |w| = 1 is revolute if its pitch w·v is 0, else helical; (0, v) with |v| = 1 is prismatic.
    - `links` (n, 4, 4): the body frames at home, in the base frame. By default all coincide with the base frame at
      home, so that M_i = 1 and S_i = A_i. `inertias` (n, 10): given in these body frames; 0 by default.
    - `lower`, `upper` [rad or m]: limits, one number for all joints or n of them. `gravity` (3,) [m/s²].

    The tool is at exp(A_1 q_1) ··· exp(A_n q_n) M = M exp(B_1 q_1) ··· exp(B_n q_n): Park (1994), "Computational
    aspects of the product-of-exponentials formula for robot kinematics", IEEE Trans. Autom. Control 39(3), eqs. (1) and
    (2).
    """
    label = f"from_screws: robot '{name}'"
    A = numbers(screws, (None, 6), f"{label}: screws")
    home = motions(home, (4, 4), f"{label}: home")
    if form not in FORMS:
        raise ModelError(f"{label}: form is {form!r}; it must be 'space' or 'body'")
    if form == "body":
        A = np.array([se3.Ad_action.eager(home, B) for B in A]).reshape(-1, 6)
    n = len(A)
    L = np.broadcast_to(np.eye(4), (n, 4, 4)) if links is None else motions(links, (n, 4, 4), f"{label}: links")
    back = [se3.inverse.eager(link) for link in L]
    return serial(
        name,
        types=tuple(_type(A_i, f"{label}: screw {i + 1}") for i, A_i in enumerate(A)),
        placements=np.array([np.eye(4), *back[:-1]])[:n] @ L,
        screws=np.array([se3.Ad_action.eager(T, A_i) for T, A_i in zip(back, A, strict=True)]).reshape(-1, 6),
        inertias=inertias,
        tool=back[-1] @ home if n else home,
        lower=lower,
        upper=upper,
        gravity=gravity,
    )


def _type(A: np.ndarray, label: str) -> str:
    """Return the type of the joint that has the screw A (6,)."""
    w, v = A[:3], A[3:]
    kind = "prismatic" if not w.any() else "revolute" if abs(w @ v) <= UNIT * max(1, np.linalg.norm(v)) else "helical"
    if (why := misfit(kind, A[None])) is not None:
        raise ModelError(f"{label} = {A.tolist()} {why}")
    return kind


def serial(
    name: str,
    *,
    types: tuple[str, ...],
    placements,
    screws,
    inertias=None,
    tool=None,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    gravity: Sequence[float] = GRAVITY,
) -> Robot:
    """Return the chain of bodies "link1", "link2", ... with joints "joint1", ... of one degree of freedom each.

    `placements` (n, 4, 4) are the M_i, `screws` (n, 6) the S_i; `inertias` (n, 10) are 0 by default. The frame "tool"
    is fixed to the last body, or to the base if n = 0, at `tool` (4, 4), the identity by default.
    """
    n, label = len(types), f"robot '{name}'"
    tool = np.eye(4) if tool is None else motions(tool, (4, 4), f"{label}: tool")
    none = np.zeros(n)
    return Robot(
        name=name,
        body_names=tuple([f"link{i}" for i in range(1, n + 1)]),
        body_joint_names=tuple([f"joint{i}" for i in range(1, n + 1)]),
        joint_types=types,
        parents=np.arange(-1, n - 1),
        placements=placements,
        screws=screws,
        inertias=np.zeros((n, 10)) if inertias is None else numbers(inertias, (n, 10), f"{label}: inertias"),
        mimics={},
        lower=_limits(lower, n, f"{label}: lower"),
        upper=_limits(upper, n, f"{label}: upper"),
        velocity_limit=none + np.inf,
        effort_limit=none + np.inf,
        damping=none,
        friction=none,
        armature=none,
        frames=(Frame("tool", n - 1, tool),),
        gravity=numbers(gravity, (3,), f"{label}: gravity"),
    )


def _limits(limit, n: int, label: str) -> np.ndarray:
    """Return limits (n,) of one number for all joints, or of n numbers."""
    try:
        found = np.broadcast_to(np.asarray(limit, float), n)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if np.isnan(found).any():
        raise ModelError(f"{label} must be one number, or {n} of them, got {limit!r}")
    return found
