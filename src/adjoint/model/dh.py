"""Robots from Denavit-Hartenberg tables, and tables from the joint axes of any serial robot.

A row is (theta, d, a, alpha) [rad, m, m, rad]. References: K. S. Fu, R. C. Gonzalez & C. S. G. Lee, "Robotics" (1987),
§2.2.9-2.2.11; F. C. Park (1994), "Computational aspects of the product-of-exponentials formula for robot kinematics",
IEEE Trans. Autom. Control 39(3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ArgumentError, ModelError
from ..lie import se3
from .input_checks import motions, numbers
from .lines import across, common_normal, foot, frame_on_axis, screw_axis
from .parts import GRAVITY
from .robot import Robot
from .screws import serial, space_screws

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DH", "dh_matrix", "from_dh", "to_dh"]


class DH(NamedTuple):
    """A serial robot in classic Denavit-Hartenberg form, as `to_dh` returns it; its fields are arguments of `from_dh`.

    `table` (n, 4) has the rows (theta, d, a, alpha) [rad, m, m, rad]; `joints` has a letter R (revolute) or P
    (prismatic) for each; `base` (4, 4) is frame 0 in the robot's base frame; `tool` (4, 4) is the tip in frame n.
    """

    table: np.ndarray
    joints: str
    base: np.ndarray
    tool: np.ndarray


# --- table -> robot ---------------------------------------------------------------------------------------------------


def dh_matrix(theta: float, d: float, a: float, alpha: float, convention: str = "classic") -> np.ndarray:
    """Return the Denavit-Hartenberg matrix A (4, 4), the placement of a link in the one before it.

    `convention` is "classic": A = Rz(theta) Tz(d) Tx(a) Rx(alpha), Fu, Gonzalez & Lee (1987), eq. (2.2-29), or
    "modified": A = Rx(alpha) Tx(a) Rz(theta) Tz(d), Craig, "Introduction to Robotics", eq. (3.6). Angles are in rad and
    lengths in m. Sines and cosines of multiples of π/2 are exact.
    """
    (ct, st), (ca, sa) = _cos_sin(theta), _cos_sin(alpha)
    if _is_classic(convention):
        rows = [[ct, -ca * st, sa * st, a * ct], [st, ca * ct, -sa * ct, a * st], [0, sa, ca, d]]
    else:
        rows = [[ct, -st, 0, a], [ca * st, ca * ct, -sa, -sa * d], [sa * st, sa * ct, ca, ca * d]]
    return np.array([*rows, [0, 0, 0, 1]]) + 0.0  # this turns -0.0 into 0.0


def _cos_sin(angle: float) -> tuple[float, float]:
    c, s = np.cos(angle), np.sin(angle)
    return float(np.where(abs(c) < 1e-15, 0.0, c)), float(np.where(abs(s) < 1e-15, 0.0, s))


def _is_classic(convention: str) -> bool:
    if convention not in ("classic", "modified"):
        what = "'classic' (standard: Denavit and Hartenberg, Paul, Fu et al.) and 'modified' (Craig, Khalil)"
        raise ArgumentError(f"DH convention {convention!r}: there are {what}")
    return convention == "classic"


def from_dh(
    table,
    convention: str = "classic",
    *,
    joints: str | Sequence[str] | None = None,
    inertias=None,
    name: str = "robot",
    base=None,
    tool=None,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    gravity: Sequence[float] = GRAVITY,
) -> Robot:
    """Return the serial robot of a Denavit-Hartenberg table (n, 4); link i sits at A_i(q_i) in link i - 1.

        arm = from_dh([[0, 0.4, 0, -np.pi / 2], [0, 0, 0.3, 0], [0, 0, 0.2, 0]])           # three revolute joints

    - `table`: rows (theta, d, a, alpha) [rad, m, m, rad]. `convention`: "classic" or "modified", see `dh_matrix`.
    - `joints`: a letter R (revolute) or P (prismatic) for each row, such as "RRPRRR"; all R by default. q_i is added to
      theta of a revolute joint and to d of a prismatic one, so the entry of the table is the joint's offset.
    - `inertias` (n, 10): body frame i is Denavit-Hartenberg frame i, and inertia i is given in it; 0 by default.
    - `base` (4, 4): where link 1 starts in the frame "base". `tool` (4, 4): the frame "tool" in the last body frame.
    - `lower`, `upper` [rad or m]: limits, one number for all joints or n of them. `gravity` (3,) [m/s²].

    The robot has A_i = exp(P_i q_i) M_i = M_i exp(S_i q_i) with S_i = Ad(M_i⁻¹) P_i: Park (1994), §III, "Computational
    aspects of the product-of-exponentials formula for robot kinematics", IEEE Trans. Autom. Control 39(3).
    """
    label = f"from_dh: robot '{name}'"
    rows = numbers(table, (None, 4), f"{label}: table")
    types = _types(joints, len(rows), label)
    placements = np.array([dh_matrix(*row, convention=convention) for row in rows]).reshape(-1, 4, 4)
    if base is not None:
        base = motions(base, (4, 4), f"{label}: base")
        if len(rows):
            placements[0] = base @ placements[0]
        else:  # without links, the tool sits in frame 0
            tool = base if tool is None else base @ motions(tool, (4, 4), f"{label}: tool")
    screws = [_screw(kind, row, convention) for kind, row in zip(types, rows, strict=True)]
    return serial(
        name,
        types=types,
        placements=placements,
        screws=np.array(screws).reshape(-1, 6),
        inertias=inertias,
        tool=tool,
        lower=lower,
        upper=upper,
        gravity=gravity,
    )


def _types(joints: str | Sequence[str] | None, n: int, label: str) -> tuple[str, ...]:
    names = {"R": "revolute", "P": "prismatic"}
    try:
        letters = "R" * n if joints is None else "".join(joints).upper()
    except TypeError:
        letters = "?"
    if len(letters) != n or not set(letters) <= set(names):
        raise ModelError(f"{label}: joints is {joints!r}; it must have {n} letters, R (revolute) or P (prismatic)")
    return tuple(names[letter] for letter in letters)


def _screw(kind: str, row: np.ndarray, convention: str) -> np.ndarray:
    """Return S_i = Ad(M_i⁻¹) P_i in closed form.

    Classic P_i is along z_{i-1}; the modified convention has z_i itself on the axis of joint i.
    """
    _, _, a, alpha = row
    c, s = _cos_sin(alpha) if _is_classic(convention) else (1.0, 0.0)
    axis = np.array([0.0, s, c])
    if kind == "prismatic":
        return np.concatenate([np.zeros(3), axis])
    moment = a * np.array([0.0, c, -s]) if _is_classic(convention) else np.zeros(3)
    return np.concatenate([axis, moment]) + 0.0


# --- robot -> table ---------------------------------------------------------------------------------------------------


def to_dh(robot: Robot, tip: str | None = None) -> DH:
    """Return the classic Denavit-Hartenberg table of the joints on the way to the frame `tip`, as a `DH`.

    `tip` is the last of `robot.frame_names` by default. The frame "tool" of the robot
    `from_dh(**to_dh(robot)._asdict())` moves as the robot's `tip`, at every q. Frames are assigned at the home
    configuration by Fu, Gonzalez & Lee, "Robotics" (1987), Algorithm 2.1 (D1-D12), which leaves some choices open. Here
    frame 0 is as near to the base frame as axis 1 allows; x_i is within 90° of x_{i-1}, so that a may be negative; d =
    0 where axes are parallel; and the axis of a prismatic joint, which only has a direction, runs through the origin of
    the frame before it.

    Every joint on the way must be revolute, continuous or prismatic, and must not mimic another.
    """
    tip = robot.frame_names[-1] if tip is None else tip
    screws, home, bodies = space_screws(robot, tip)
    joints = "".join(_letter(robot, i) for i in bodies)
    frame = frame_0 = _first_frame(*screw_axis(screws[0], np.zeros(3))) if bodies else np.eye(4)
    rows = []
    for S in screws[1:]:
        after = _next_frame(frame, *screw_axis(S, frame[:3, 3]))
        rows.append(_row(frame, after))
        frame = after
    if bodies:  # D7: z_n is along z_{n-1}; x_n and the origin are as near to those of the tip as this allows
        after = frame_on_axis(across(home[:3, 0], frame[:3, 2], frame[:3, 0]), frame[:3, 2], foot(home[:3, 3], frame))
        rows.append(_row(frame, after))
        frame = after
    return DH(np.array(rows).reshape(-1, 4), joints, frame_0, se3.inverse.eager(frame) @ home)


def _letter(robot: Robot, i: int) -> str:
    letters = {"revolute": "R", "continuous": "R", "prismatic": "P"}
    kind, joint = robot.joint_types[i], robot.body_joint_names[i]
    if kind not in letters:
        raise ArgumentError(f"to_dh: joint '{joint}' is {kind}; a DH row is revolute, continuous or prismatic")
    if i in robot.mimics:
        raise ArgumentError(f"to_dh: joint '{joint}' is a mimic; every DH row has a coordinate of its own")
    return letters[kind]


def _first_frame(point: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return frame 0 (D1): z_0 on the first axis, the origin nearest to the base's, x_0 nearest to the base's x."""
    return frame_on_axis(across(np.eye(3)[0], z, np.eye(3)[1]), z, point)


def _next_frame(frame: np.ndarray, point: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the next frame (D3-D6): z on the next axis, x along the common normal of this frame's z axis and it."""
    x_0, z_0, o_0 = frame[:3, 0], frame[:3, 2], frame[:3, 3]
    normal, (_, foot) = common_normal(o_0, z_0, point, z)
    x = x_0 if normal is None else normal
    return frame_on_axis(-x if x @ x_0 < -_SIDEWAYS else x, z, foot)


_SIDEWAYS = 1e-9  # a direction that is at right angles up to rounding does not count as backwards


def _row(before: np.ndarray, after: np.ndarray) -> list[float]:
    """Return (theta, d, a, alpha) from frame i - 1 to frame i (D9-D12)."""
    (x_0, z_0, o_0), (x, z, o) = (T[:3, [0, 2, 3]].T for T in (before, after))
    return [_turn(x_0, x, z_0), _clean(float((o - o_0) @ z_0)), _clean(float((o - o_0) @ x)), _turn(z_0, z, x)]


def _turn(u_0: np.ndarray, u: np.ndarray, axis: np.ndarray) -> float:
    """Return the angle in (-π, π] from u_0 to u about the axis."""
    return float(np.arctan2(_clean(float(np.cross(u_0, u) @ axis)), _clean(float(u_0 @ u))))


def _clean(x: float) -> float:
    """Return x, or 0 if it is a rounding error."""
    return 0.0 if abs(x) < 1e-14 else x
