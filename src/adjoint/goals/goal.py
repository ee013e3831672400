"""Goals as data, and the functions that make them: `pose`, `position`, `orientation`, `axis`, `line`, `plane`, ..."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..kinematics.dexterity import PARTS
from ..model.input_checks import floats, vectors
from ..model.rigidity import EXACT, corrected, off_motion, off_rotation
from .kinds import Task

__all__ = [
    "Goal",
    "axis",
    "center_of_mass",
    "distance",
    "line",
    "look_at",
    "manipulability",
    "orientation",
    "plane",
    "pose",
    "position",
    "posture",
]


@dataclass(frozen=True, eq=False)
class Goal:
    """A goal of `find_configuration`; `pose`, `position` and the other functions of `adjoint.goals` make one.

    `target` (..., n) is what is to be reached, one row for each problem. `weights` are relative to those of the other
    goals. `tolerance` says which error counts as met, for each part of the goal; None takes that of the search.
    """

    task: Task
    target: np.ndarray
    weights: np.ndarray
    tolerance: np.ndarray | None

    def __repr__(self) -> str:
        where = "" if self.task.frame is None else f" of '{self.task.frame}'"
        return f"<goal {self.task.kind}{where}, targets {self.target.shape[:-1]}>"


_ONE = 1.0  # the weight of a pose, if none is given: control loops make a pose in every step
_ALIKE = np.ones(4)


def pose(frame: str, T, *, relative_to: str | None = None, weight=_ONE, tolerance=None) -> Goal:
    """The goal that a frame is at T = [R p; 0 1] (..., 4, 4), seen from the base or from the frame `relative_to`.

    Its error has two parts: |2 x| = 2 sin(angle / 2) [rad] with the quaternion (c, x) between the two orientations,
    and the distance [m]. `weight` and `tolerance` are one number, or two: for the orientation, and for the position.
    T is rigid; a T with NaN is a problem without an answer, and leaves the others alone.

        >>> hand = aj.goals.pose("tool", forward_kinematics(robot, q, "tool"))
        >>> found = find_configuration(robot, hand)
    """
    T = _rigid(T, "pose", 4)
    target = T.reshape((*T.shape[:-2], 16))[..., :12]
    weights = _ALIKE if weight is _ONE else _weights(weight, 2, "pose")[[0, 1, 1, 1]]
    return Goal(Task("pose", frame, relative_to), target, weights, _tolerance(tolerance, 2, "pose"))


def position(
    frame: str, p, *, point=(0.0, 0.0, 0.0), relative_to: str | None = None, weight=1.0, tolerance=None
) -> Goal:
    """The goal that a point of a frame is at p (..., 3) [m], in the base or in the frame `relative_to`.

    `point` (..., 3) [m] is given in the frame, and is its origin by default. The error is p - (p_frame + R point).
    `weight` is one number, or one for each axis, where 0 leaves the axis free; `tolerance` is in m.

        >>> fingertip = aj.goals.position("tool", [0.3, 0.2, 0.4], point=[0, 0, 0.1])
    """
    target = _joined("position", p=(p, 3), point=(point, 3))
    return Goal(
        Task("position", frame, relative_to), target, _weights(weight, 3, "position"),
        _tolerance(tolerance, 1, "position"),
    )  # fmt: skip


def orientation(frame: str, R, *, relative_to: str | None = None, weight=1.0, tolerance=None) -> Goal:
    """The goal that a frame has the orientation R (..., 3, 3), seen from the base or from the frame `relative_to`.

    The error is 2 x, where (c, x) is the quaternion between both orientations: |2 x| = 2 sin(angle / 2) [rad].

        >>> upright = aj.goals.orientation("tool", np.eye(3))
    """
    R = _rigid(R, "orientation", 3)
    return Goal(
        Task("orientation", frame, relative_to), R.reshape(*R.shape[:-2], 9), _weights(weight, 1, "orientation"),
        _tolerance(tolerance, 1, "orientation"),
    )  # fmt: skip


def axis(
    frame: str, direction, *, axis=(0.0, 0.0, 1.0), relative_to: str | None = None, weight=1.0, tolerance=None
) -> Goal:
    """The goal that an axis of a frame, z by default, has a `direction` (..., 3) in the base or in `relative_to`.

    `axis` (..., 3) is given in the frame. Both may have any length but zero. The error d - R a of the unit vectors has
    the length 2 sin(angle / 2) [rad]; turns about the axis are free.

        >>> down = aj.goals.axis("tool", [0, 0, -1])
    """
    target = _joined("axis", axis=(_unit(axis, "axis", "axis"), 3), d=(_unit(direction, "direction", "axis"), 3))
    return Goal(Task("axis", frame, relative_to), target, _weights(weight, 1, "axis"), _tolerance(tolerance, 1, "axis"))


def look_at(
    frame: str, point, *, axis=(0.0, 0.0, 1.0), relative_to: str | None = None, weight=1.0, tolerance=None
) -> Goal:
    """The goal that an axis of a frame, z by default, points from the frame's origin to `point` (..., 3) [m].

    The point is given in the base or in the frame `relative_to`. The error u - R a, with the unit vector u along the
    line of sight, has the length 2 sin(angle / 2) [rad].

        >>> camera = aj.goals.look_at("tool", [0.5, 0.0, 0.2])
    """
    target = _joined("look_at", axis=(_unit(axis, "axis", "look_at"), 3), point=(point, 3))
    return Goal(
        Task("look_at", frame, relative_to), target, _weights(weight, 1, "look_at"), _tolerance(tolerance, 1, "look_at")
    )


def distance(
    frame: str, value, *, point=(0.0, 0.0, 0.0), relative_to: str | None = None, weight=1.0, tolerance=None
) -> Goal:
    """The goal that a frame's origin p has the distance `value` (...) [m] from `point` (..., 3) [m].

    The point is given in the base or in the frame `relative_to`, and is its origin by default: so the distance between
    two frames is `distance(a, 0.3, relative_to=b)`. The error is value - |p - point|.

        >>> apart = aj.goals.distance("tool", 0.5, point=[0.1, 0, 0.3])
    """
    value = as_input(value, "value", "distance").astype(float, copy=False)
    if np.any(value < 0):
        raise ArgumentError(f"distance: value is {value.min():g} m; a distance is not negative")
    target = _joined("distance", point=(point, 3), value=(value[..., None], 1))
    return Goal(
        Task("distance", frame, relative_to), target, _weights(weight, 1, "distance"),
        _tolerance(tolerance, 1, "distance"),
    )  # fmt: skip


def line(frame: str, point, direction, *, relative_to: str | None = None, weight=1.0, tolerance=None) -> Goal:
    """The goal that a frame's origin p is on the line through `point` (..., 3) [m] along `direction` (..., 3).

    Both are given in the base or in the frame `relative_to`; the direction may have any length but zero. The error
    (1 - d dᵀ) (point - p), with d of unit length, has the length of the distance from the line [m].

        >>> edge = aj.goals.line("tool", [0.4, 0.0, 0.3], [0, 1, 1])
    """
    target = _joined("line", point=(point, 3), direction=(_unit(direction, "direction", "line"), 3))
    return Goal(Task("line", frame, relative_to), target, _weights(weight, 1, "line"), _tolerance(tolerance, 1, "line"))


def plane(frame: str, point, normal, *, relative_to: str | None = None, weight=1.0, tolerance=None) -> Goal:
    """The goal that a frame's origin p is in the plane through `point` (..., 3) [m] that `normal` (..., 3) stands on.

    Both are given in the base or in the frame `relative_to`; the normal may have any length but zero. The error
    n · (point - p), with n of unit length, is the distance from the plane [m].

        >>> table = aj.goals.plane("tool", [0.0, 0.0, 0.3], [0, 0, 1])
    """
    target = _joined("plane", point=(point, 3), normal=(_unit(normal, "normal", "plane"), 3))
    return Goal(
        Task("plane", frame, relative_to), target, _weights(weight, 1, "plane"), _tolerance(tolerance, 1, "plane")
    )


def center_of_mass(c, *, weight=1.0, tolerance=None) -> Goal:
    """The goal that the centre of mass of all moving bodies is at c (..., 3) [m], in the base.

    `weight` is one number, or one for each axis: (1, 1, 0) leaves the height free.

        >>> balanced = aj.goals.center_of_mass([0.0, 0.0, 0.6], weight=(1, 1, 0))
    """
    target = vectors(c, 3, "c", "center_of_mass")
    return Goal(
        Task("center_of_mass"), target, _weights(weight, 3, "center_of_mass"),
        _tolerance(tolerance, 1, "center_of_mass"),
    )  # fmt: skip


def posture(q, *, weight=1.0, tolerance=None) -> Goal:
    """The goal that the configuration is q (..., nq); it is mostly used as an objective, or for some joints alone.

    The error is `difference(robot, q_now, q)`. `weight` is one number, or one for each degree of freedom (nv,), where
    0 leaves it free.

        >>> found = find_configuration(robot, {"tool": [0.4, 0.1, 0.5]}, objectives=aj.goals.posture(np.zeros(6)))
    """
    target = as_input(q, "q", "posture").astype(float, copy=False)
    if target.ndim == 0:
        raise ArgumentError("posture: q is one number; it must be a configuration (..., nq)")
    return Goal(Task("posture"), target, _weights(weight, None, "posture"), _tolerance(tolerance, 1, "posture"))


def manipulability(
    frame: str, *, least=None, part: str = "all", relative_to: str | None = None, weight=1.0, tolerance=None
) -> Goal:
    """The goal that Yoshikawa's measure w = √det(J Jᵀ) of a frame is at least `least` (...), or as large as possible.

    With `least` the error is log(least / w), and 0 where w is larger. Without `least` it is an objective: log w grows.
    `part` is "all", "rotation" or "translation", as for `kinematics.manipulability`.

        >>> dexterous = aj.goals.manipulability("tool", least=0.05)
    """
    if part not in PARTS:
        raise ArgumentError(f"manipulability: part is {part!r}; it must be one of {', '.join(map(repr, PARTS))}")
    kind = "most_manipulability" if least is None else "manipulability"
    limit = np.ones(0) if least is None else as_input(least, "least", "manipulability").astype(float)[..., None]
    if np.any(limit <= 0):
        raise ArgumentError(f"manipulability: least is {limit.min():g}; it must be positive")
    return Goal(
        Task(kind, frame, relative_to, part), np.log(limit), _weights(weight, 1, "manipulability"),
        _tolerance(tolerance, 1, "manipulability"),
    )  # fmt: skip


# --- checks -----------------------------------------------------------------------------------------------------------


def _rigid(value, caller: str, n: int) -> np.ndarray:
    """Motions (..., 4, 4), n = 4, or rotations (..., 3, 3), n = 3, `corrected` if need be."""
    T = as_input(value, "T" if n == 4 else "R", caller)
    if T.shape[-2:] != (n, n):
        raise ArgumentError(f"{caller}: the target has shape {T.shape}; (..., {n}, {n}) is needed")
    T = T.astype(float, copy=False)
    rigid = (off_motion(T) if n == 4 else off_rotation(T)) <= EXACT
    return T if (rigid if T.ndim == 2 else rigid.all()) else corrected(T, f"{caller}: the target")


def _unit(value, name: str, caller: str) -> np.ndarray:
    """Directions (..., 3), scaled to length 1."""
    x = vectors(value, 3, name, caller)
    size = np.linalg.norm(x, axis=-1, keepdims=True)
    if np.any(size == 0):
        raise ArgumentError(f"{caller}: {name} is (0, 0, 0), which is no direction")
    return x / size


def _joined(caller: str, **parts: tuple) -> np.ndarray:
    """Vectors of several sizes side by side, with their leading axes broadcast."""
    arrays = [vectors(value, size, name, caller) for name, (value, size) in parts.items()]
    try:
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in zip(parts, arrays, strict=True))
        raise ArgumentError(f"{caller}: the leading axes of the arguments do not match: {shapes}") from None
    return np.concatenate([np.broadcast_to(x, (*shape, x.shape[-1])) for x in arrays], axis=-1)


def _weights(value, count: int | None, caller: str) -> np.ndarray:
    """Weights (count,) of one number or so many; if `count` is None, it is not known yet, and one number stays (1,)."""
    if type(value) is float and 0 <= value < np.inf:
        return np.full(count or 1, value)
    w = floats(value)
    good = np.isfinite(w).all() and np.all(w >= 0) and w.ndim <= 1
    if not good or (count is not None and w.shape not in ((), (count,))):
        many = "" if count == 1 else f", or {'nv' if count is None else count} of them"
        raise ArgumentError(f"{caller}: weight must be a number, 0 or more{many}, got {value!r}")
    return np.full(count or 1, float(w)) if w.ndim == 0 else w


def _tolerance(value, count: int, caller: str) -> np.ndarray | None:
    """Tolerances (count,) of one number or so many, or None."""
    if value is None:
        return None
    t = floats(value)
    if t.shape not in ((), (count,)) or not np.all(t > 0):
        many = "" if count == 1 else f", or {count} of them"
        raise ArgumentError(f"{caller}: tolerance must be a positive number{many}, got {value!r}")
    return np.broadcast_to(t, (count,))
