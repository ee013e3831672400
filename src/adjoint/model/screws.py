"""Robots as products of exponentials: from screws to a `Robot`, and from a robot back to its screws.

The pose of the tool is f(q) = exp(A_1 q_1) ··· exp(A_n q_n) M, space form, or M exp(B_1 q_1) ··· exp(B_n q_n), body
form: (1) and (2) of Park (1994), "Computational aspects of the product-of-exponentials formula", IEEE TAC 39(3).
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
    """Screws (n, 6) of the bodies on the way to a frame, one per row, its `home` (4, 4), and the bodies' numbers.

    Screw k moves with the coordinate of `bodies[k]`: its own in q, or what its mimic makes of its leader's
    (`sweep.coordinates`). At `home` all of these are 0.
    """

    screws: np.ndarray
    home: np.ndarray
    bodies: tuple[int, ...]


def home_screws(robot: Robot, frame: str) -> tuple[list[int], list[np.ndarray], np.ndarray]:
    """Bodies on the way to a frame, the screws A_i (k, 6) of their joints in the base at home, the frame's home M.

    A_i = Ad(N_i) S_i, N_i = M_1 ··· M_i.
    """
    spot = robot.frame(frame)
    path, screws, N = robot.path(spot.body), [], np.eye(4)
    with eagerly():
        for i in path:
            N = se3.compose(N, robot.placements[i])
            screws.append(robot.screw(i) @ se3.Ad(N).T)
        return path, screws, se3.compose(N, spot.placement)


def space_screws(robot: Robot, frame: str) -> PoE:
    """A_i (n, 6) and M (4, 4) of f(q) = exp(A_1 q_1) ··· exp(A_n q_n) M, the placement of `frame` in the base.

    Every joint on the way to the frame must have one degree of freedom. Park (1994), (1).
    """
    bodies, screws, home = home_screws(robot, frame)
    for i in bodies:
        _require_one_dof(robot, i, frame)
    return PoE(np.array(screws).reshape(-1, 6), home, tuple(bodies))


def body_screws(robot: Robot, frame: str) -> PoE:
    """B_i (n, 6) and M (4, 4) of f(q) = M exp(B_1 q_1) ··· exp(B_n q_n): B_i = Ad(M⁻¹) A_i. Park (1994), (2)."""
    screws, home, bodies = space_screws(robot, frame)
    return PoE(np.array([se3.Ad_inv_action.eager(home, A) for A in screws]).reshape(-1, 6), home, bodies)


def change_frames(found: PoE, form: str, *, base=None, tool=None) -> PoE:
    """Screws and home of f' = P f Q: the same robot seen from another base frame, to another tool frame.

    `base` P (4, 4) is the placement of the old base frame in the new one, `tool` Q (4, 4) that of the new tool frame in
    the old one; the identity by default. Of the `form` "space", as `space_screws` gives it, A_i' = Ad(P) A_i, whatever
    Q is; of the form "body", B_i' = Ad(Q⁻¹) B_i, whatever P is; and M' = P M Q. Park (1994), §III.

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
    """A serial robot from its screws (n, 6), one per row, and the `home` placement M (4, 4) of its frame "tool".

    `form` is "space": screws A_i in the base frame, or "body": screws B_i in the tool frame, both at home. A screw is
    (w, v) with |w| = 1, or (0, v) with |v| = 1: revolute if its pitch w·v is 0, helical if not, prismatic if w = 0.
    `inertias` (n, 10) are given in the frames `links` (n, 4, 4), the link frames at home in the base frame, which
    become the body frames; without `links` all of them coincide with the base frame at home (M_i = 1, S_i = A_i).
    Limits [rad or m] are n numbers each, or one for all joints. Park (1994), (1) and (2).
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
    """A chain of n bodies "link1", "link2", ... with 1-dof joints "joint1", ..., straight from its arrays.

    `placements` (n, 4, 4) are the M_i, `screws` (n, 6) the S_i, `inertias` (n, 10) are 0 by default. The frame "tool"
    is fixed to the last body (to the base if n = 0) at `tool` (4, 4), the identity by default.
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
    try:
        found = np.broadcast_to(np.asarray(limit, float), n)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if np.isnan(found).any():
        raise ModelError(f"{label} must be one number, or {n} of them, got {limit!r}")
    return found
