"""The same robot in other body frames: its motion does not depend on the frames in which its bodies are described.

S. R. Ploen & F. C. Park (1999), "Coordinate-invariant algorithms for robot dynamics", IEEE Trans. Robot. Autom. 15(6),
§II-C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..compile.front.inline import eagerly
from ..errors import ArgumentError
from ..lie import se3
from .input_checks import motions
from .joints import FRAMES, JOINTS
from .lines import common_normal, frame_on_axis, screw_axis
from .needs import need_numbers
from .whole_arrays import adjoint_actions, inverses, moved_inertias

if TYPE_CHECKING:
    from .robot import Robot

__all__ = ["axial_frames", "reframed"]


def reframed(robot: Robot, Q) -> Robot:
    """Return the same robot with other body frames: Q (n, 4, 4), or the name of a choice.

        fast = reframed(robot, "minimal")                   # or robot.reframed("minimal")

    Q_i = T_new,old takes coordinates in the old frame of body i to the new one; the base keeps its frame, Q_{-1} = 1.
    The names of bodies become names of the new frames, at T_i Q_i⁻¹ in space; all further frames (tools, links behind
    fixed joints) and shapes stay where they are. Results in q, v and tau do not change. Ploen & Park (1999),
    "Coordinate-invariant algorithms for robot dynamics", eqs. (15)-(26), with their J_i for the inertias:

        M_i' = Q_parent M_i Q_i⁻¹,   S_i' = Ad(Q_i) S_i,   J_i' = Ad(Q_i)⁻ᵀ J_i Ad(Q_i)⁻¹.

    These are the choices; with them, numbers within rounding errors of 0 or ±1 become 0 or ±1:

    - "joint": z is on the joint's axis, and the frame moves as little as possible. A joint of several degrees of
      freedom has a frame of its own, which becomes the body's.
    - "com": the origin is the centre of mass, and the axes keep their directions.
    - "space": all frames coincide with the base frame at home, so that M_i' = 1 and S_i' = A_i.
    - "minimal": algorithms need few operations. z is on the joint's axis; x is along the common normal to the next axis
      (as in modified Denavit-Hartenberg frames), or as in the parent, or as in "joint", whichever leaves the fewest
      multiplications in the M_i'. This choice looks at one body after the other, which takes about 1 ms for each.
    """
    need_numbers(robot, "reframed")
    if not isinstance(Q, str):
        n = len(robot.body_names)
        return _moved(robot, motions(Q, (n, 4, 4), f"robot '{robot.name}', reframed: Q"))
    if Q not in _CHOICES:
        raise ArgumentError(f"reframed: no choice {Q!r}; there are {', '.join(_CHOICES)}, or an array Q (n, 4, 4)")
    return _moved(robot, _CHOICES[Q](robot), _snapped)


def _moved(robot: Robot, Q: np.ndarray, rounded: Callable = lambda x, length: x) -> Robot:
    """Return the robot with body frames moved by Q; `rounded` removes rounding errors of placements and screws."""
    with_base = np.concatenate([Q, np.eye(4)[None]])  # the base is last, as index -1
    spot = {frame: i for i, frame in enumerate(robot.body_names)}
    length = _length(robot.placements)
    return robot.replace(
        placements=rounded(with_base[robot.parents] @ robot.placements @ inverses(Q), length),
        screws=rounded(adjoint_actions(Q[_bodies_of_screws(robot)], robot.screws), length),
        inertias=moved_inertias(Q, robot.inertias),
        frames=tuple(f._replace(placement=with_base[f.body] @ f.placement) for f in robot.frames),
        visuals=tuple(
            shape._replace(placement=Q[spot[shape.frame]] @ shape.placement) if shape.frame in spot else shape
            for shape in robot.visuals
        ),
        links=tuple(link._replace(placement=with_base[link.body] @ link.placement) for link in robot.links),
        specs=robot.specs,
        findings=robot.findings,
    )


def _bodies_of_screws(robot: Robot) -> np.ndarray:
    """Return the number of the body (n_dofs,) that each row of `robot.screws` belongs to."""
    return np.repeat(np.arange(len(robot.body_names)), np.diff(robot.layout.dof_start))


_NOISE = 2e-15  # rounding errors of the products that make new placements


def _snapped(x: np.ndarray, length: float) -> np.ndarray:
    """Return placements (..., 4, 4) or screws (n, 6) without the rounding errors of a few products.

    In rotations, and in directions of translation, numbers near 0 and ±1 become exact; lengths near 0 become 0,
    compared with `length`, the largest of the robot.
    """
    nearest = np.round(x)
    exact = np.where((np.abs(x - nearest) < _NOISE) & (np.abs(nearest) <= 1), nearest, x)
    near_zero = np.where(np.abs(x) < _NOISE * length, 0.0, x)
    if x.shape[-1] == 4:
        is_length = np.arange(4) == 3
    else:  # the lower half of a screw that turns is a length
        is_length = np.any(exact[:, :3], axis=1)[:, None] & (np.arange(6) >= 3)
    return np.where(is_length, near_zero, exact) + 0.0  # this turns -0.0 into 0.0


def _length(placements: np.ndarray) -> float:
    return float(np.abs(placements[:, :3, 3]).max(initial=0.0))


# --- the choices ------------------------------------------------------------------------------------------------------


def _joint(robot: Robot) -> np.ndarray:
    frames = np.empty((len(robot.body_names), 4, 4))
    single = np.array([kind not in FRAMES for kind in robot.joint_types], bool)
    starts = np.array(robot.layout.dof_start[:-1], int)
    frames[single] = axial_frames(robot.screws[starts[single]])
    for i in np.flatnonzero(~single).tolist():
        frames[i] = _joint_frame(robot.joint_types[i], robot.screw(i))
    return inverses(frames)


def _joint_frame(kind: str, S: np.ndarray) -> np.ndarray:
    """Return the joint's frame in the body's frame; its z is the axis of the joint."""
    if kind in FRAMES:
        with eagerly():
            return FRAMES[kind](S)
    return axial_frames(S)[0]


def axial_frames(S: np.ndarray) -> np.ndarray:
    """Return frames (n, 4, 4) with z on the axes of screws S (n, 6); the axis of a translation runs through 0."""
    w, v = S[:, :3], S[:, 3:]
    turns = np.any(w, axis=1, keepdims=True)
    T = np.tile(np.eye(4), (len(S), 1, 1))
    T[:, :3, :3] = _shortest(np.where(turns, w, v))
    T[:, :3, 3] = np.where(turns, np.cross(w, v), 0.0)
    return T


def _shortest(z: np.ndarray) -> np.ndarray:
    """Return rotations (n, 3, 3) that take the z axis to z (n, 3): the smallest turn, where z points upwards.

    Where z points downwards, it is the smallest turn to -z after half a turn about x.
    """
    side = np.where(z[:, 2] < 0, -1.0, 1.0)
    x, y, up = (side[:, None] * z).T
    K = np.zeros((len(z), 3, 3))  # [e_3 × z]
    K[:, 0, 2], K[:, 1, 2], K[:, 2, 0], K[:, 2, 1] = x, y, -x, -y
    R = np.eye(3) + K + K @ K / (1 + up)[:, None, None]
    return R * np.stack([np.ones(len(z)), side, side], axis=1)[:, None, :]


def _com(robot: Robot) -> np.ndarray:
    mass, first = robot.inertias[:, :1], robot.inertias[:, 1:4]
    Q = np.tile(np.eye(4), (len(mass), 1, 1))
    Q[:, :3, 3] = -first / np.where(mass > 0, mass, np.inf)  # a body without mass keeps its frame
    return Q


def _space(robot: Robot) -> np.ndarray:
    """Return Q_i = M_1 ··· M_i along the path to body i."""
    homes = np.empty_like(robot.placements)
    for i, parent in enumerate(robot.parents.tolist()):
        homes[i] = homes[parent] @ robot.placements[i] if parent >= 0 else robot.placements[i]
    return homes


# --- few operations ---------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """The axis of a joint in space at home; if it slides, only the direction z counts."""

    point: np.ndarray
    z: np.ndarray
    slides: bool


def _minimal(robot: Robot) -> np.ndarray:
    """Return Q for the cheapest choice of one candidate for each body.

    Dynamic programming from the tips to the base finds it.
    """
    homes, parents, length = _space(robot), robot.parents.tolist(), _length(robot.placements)
    frames = _candidates(robot, homes)
    cost = {i: np.zeros(len(candidates)) for i, candidates in frames.items()}  # of all bodies below
    best = {}
    for i in reversed(range(len(parents))):
        M = inverses(frames[parents[i]])[:, None] @ frames[i]  # (candidates of the parent, candidates of i, 4, 4)
        total = _operations(_snapped(M, length)) + cost[i]
        best[i] = total.argmin(axis=1)
        cost[parents[i]] = cost[parents[i]] + total.min(axis=1)
    chosen = {-1: 0}
    for i, parent in enumerate(parents):
        chosen[i] = best[i][chosen[parent]]
    return inverses(np.array([frames[i][chosen[i]] for i in range(len(parents))]).reshape(-1, 4, 4)) @ homes


def _operations(M: np.ndarray) -> np.ndarray:
    """Return a third of the number of multiplications and additions in a product T M, for a T without zeros."""
    R, p = M[..., :3, :3], M[..., :3, 3]
    multiplied = (R != 0) & (np.abs(R) != 1)
    return multiplied.sum((-2, -1)) + (R != 0).sum((-2, -1)) - 3 + 2 * (p != 0).sum(-1)


def _candidates(robot: Robot, homes: np.ndarray) -> dict[int, np.ndarray]:
    """Return {body: candidates (k, 4, 4) for its frame in space at home}, with z on the joint's axis.

    The first candidate is moved least. The second is as near to the parent's last candidate as the axis allows. The
    third has x along the common normal to the axis of the child with most descendants: this is the frame of modified
    Denavit-Hartenberg tables, M_i = Rx(alpha) Tx(a) Rz(theta) Tz(d). For a joint with several degrees of freedom, the
    joint's own frame is the only candidate.
    """
    single = [JOINTS[kind].nv == 1 for kind in robot.joint_types]
    lines = {i: _line(homes[i], robot.screw(i)[0]) for i in range(len(homes)) if single[i]}
    main = _main_children(robot)
    found = {-1: np.eye(4)[None]}
    for i, parent in enumerate(robot.parents.tolist()):
        least = homes[i] @ _joint_frame(robot.joint_types[i], robot.screw(i))
        found[i] = least[None]
        if single[i]:
            near = _near(found[parent][-1], lines[i])
            found[i] = np.stack([least, near, _on_normal(lines[main[i]], lines[i], near) if main[i] in lines else near])
    return found


def _line(home: np.ndarray, S: np.ndarray) -> _Line:
    A = se3.Ad_action.eager(home, S)
    return _Line(*screw_axis(A, np.zeros(3)), not A[:3].any())


_PARALLEL = 1e-3  # more than `lines.PARALLEL`: frames are free here, and a common normal far away is no help


def _near(frame: np.ndarray, own: _Line) -> np.ndarray:
    """Return the frame on the own axis nearest to `frame`: x is near that axis of `frame` which is most across z."""
    origin = frame[:3, 3]
    if not own.slides:
        origin = own.point + ((origin - own.point) @ own.z) * own.z
    most_across = np.argmin(np.round(np.abs(own.z @ frame[:3, :3]), 9))  # x before y before z
    return frame_on_axis(frame[:3, most_across], own.z, origin)


def _on_normal(other: _Line, own: _Line, default: np.ndarray) -> np.ndarray:
    """Return the frame with z on the own axis, and with x and the origin on the common normal with the other axis.

    What this leaves open, such as the sign of x, is as in the frame `default`.
    """
    origin, x_0 = default[:3, 3], default[:3, 0]
    point = origin if other.slides else other.point
    normal, (foot, _) = common_normal(origin, own.z, point, other.z, _PARALLEL)
    x = x_0 if normal is None else normal
    return frame_on_axis(-x if x @ x_0 < 0 else x, own.z, foot)


def _main_children(robot: Robot) -> list[int]:
    """Return for each body its child with most descendants, the first of equals, or -1 if it has no child."""
    n = len(robot.body_names)
    size, main = [1] * n, [-1] * n
    for i in reversed(range(n)):
        parent = int(robot.parents[i])
        if parent >= 0:
            size[parent] += size[i]
            if main[parent] < 0 or size[i] >= size[main[parent]]:
                main[parent] = i
    return main


_CHOICES: dict[str, Callable[[Robot], np.ndarray]] = {
    "joint": _joint,
    "com": _com,
    "space": _space,
    "minimal": _minimal,
}
