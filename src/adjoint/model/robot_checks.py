"""Checks of the fields of a `Robot`, for all elements at once, whenever a robot is made or changed.

Loaders and builders check what they read and name file and line. The checks here make sure that no robot can be made,
by `replace` or otherwise, that the algorithms would misread.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError
from .input_checks import nearest_motions
from .joints import JOINTS, UNIT, misfit

if TYPE_CHECKING:
    from .robot_data import RobotData

__all__ = ["ARRAYS", "check_mimics", "check_names", "check_numbers", "check_screws", "rigid_placements"]

# Field -> its shape, one letter for each axis: n bodies, d degrees of freedom with those of mimics (`n_dofs`), q and v
# for nq and nv, T for ten, and digits for themselves.
ARRAYS = {
    "parents": "n", "placements": "n44", "screws": "d6", "inertias": "nT", "lower": "q", "upper": "q",
    "velocity_limit": "v", "effort_limit": "v", "damping": "v", "friction": "v", "armature": "v",
    "gravity": "3", "base_inertia": "T",
}  # fmt: skip
_MAY_BE_INFINITE = ("lower", "upper", "velocity_limit", "effort_limit")
_FINITE = tuple(field for field in ARRAYS if field not in ("parents", *_MAY_BE_INFINITE))


def _error(robot: RobotData, message: str) -> ArgumentError:
    return ArgumentError(f"robot '{robot.name}': {message}")


# --- structure --------------------------------------------------------------------------------------------------------


def check_names(robot: RobotData) -> None:
    """Check that every body has a name, a joint name and a type of `JOINTS`, and that names are texts that differ."""
    n = len(robot.body_names)
    if not isinstance(robot.name, str):
        raise ArgumentError(f"a robot is called {robot.name!r}; its name must be text")
    for field in ("body_names", "body_joint_names", "joint_types"):
        values = getattr(robot, field)
        if len(values) != n:
            raise _error(robot, f"{field} has {len(values)} entries, it needs {n}, one for each body")
    for what, names in (("frame", robot.frame_names), ("joint", robot.body_joint_names)):
        if bad := [name for name in names if not isinstance(name, str) or not name]:
            raise _error(robot, f"a {what} is called {bad[0]!r}; names are text, and not empty")
        if len(set(names)) < len(names):
            twice = Counter(names).most_common(1)[0][0]
            raise _error(robot, f"a second {what} of name '{twice}'; names must differ, and bodies are frames too")
    kinds = {kind if isinstance(kind, str) else repr(kind) for kind in robot.joint_types}
    if not JOINTS.keys() >= kinds:
        unknown = ", ".join(sorted(map(repr, kinds - JOINTS.keys())))
        raise _error(robot, f"joint_types has {unknown}; there are {', '.join(JOINTS)}")


def check_mimics(robot: RobotData) -> None:
    """Check that joints that follow or lead have one coordinate, leaders follow nobody, and numbers are finite."""
    n = len(robot.body_names)
    for i, mimic in robot.mimics.items():
        if not (0 <= i < n and 0 <= mimic.source < n):
            raise _error(robot, f"mimics has body {i} follow body {mimic.source}; bodies are 0 to {n - 1}")
        if mimic.source in robot.mimics:
            raise _error(robot, f"body {i} mimics body {mimic.source}, which is a mimic; name the one that leads it")
        for k in (i, mimic.source):
            if JOINTS[robot.joint_types[k]].nq != 1:
                kind, joint = robot.joint_types[k], robot.body_joint_names[k]
                raise _error(robot, f"joint '{joint}' is {kind}; only joints of one coordinate mimic or are mimicked")
        if not np.isfinite(mimic[1:]).all():
            raise _error(robot, f"mimics[{i}] = {mimic} contains NaN or infinity")


# --- numbers ----------------------------------------------------------------------------------------------------------


def check_numbers(robot: RobotData) -> None:
    """Check that parents come first, numbers but limits are finite, and frames are fixed to bodies or to the base."""
    n = len(robot.body_names)
    if (robot.parents >= np.arange(n)).any() or (robot.parents < -1).any():
        raise _error(robot, f"parents come before their children, or are -1: {robot.parents}")
    finite = [getattr(robot, field).reshape(-1) for field in _FINITE]
    finite += [frame.placement.reshape(-1) for frame in robot.frames]
    if not np.isfinite(np.concatenate(finite)).all():
        for field in _FINITE:
            if not np.isfinite(getattr(robot, field)).all():
                raise _error(robot, f"{field} contains NaN or infinity{_row(robot, field)}")
        bad = next(frame for frame in robot.frames if not np.isfinite(frame.placement).all())
        raise _error(robot, f"the placement of frame '{bad.name}' contains NaN or infinity")
    if np.isnan(np.concatenate([getattr(robot, field) for field in _MAY_BE_INFINITE])).any():
        bad = next(field for field in _MAY_BE_INFINITE if np.isnan(getattr(robot, field)).any())
        raise _error(robot, f"{bad} contains NaN; no limit is -inf or inf")
    for i, kind in enumerate(robot.joint_types):
        if JOINTS[kind].has_quaternion:
            _check_no_limits(robot, i)
    for frame in robot.frames:
        if not -1 <= frame.body < n:
            raise _error(
                robot, f"frame '{frame.name}' is fixed to body {frame.body}; bodies are 0 to {n - 1}, -1 the base"
            )


def _check_no_limits(robot: RobotData, i: int) -> None:
    stop = robot.layout.q_start[i] + JOINTS[robot.joint_types[i]].nq
    if np.isfinite(robot.lower[stop - 4 : stop]).any() or np.isfinite(robot.upper[stop - 4 : stop]).any():
        raise _error(robot, f"joint '{robot.body_joint_names[i]}' has limits on its quaternion; they must be infinite")


def _row(robot: RobotData, field: str) -> str:
    """Return ", for body '...'" of the first row that is not finite, or "" if the field has no row for each body."""
    array = getattr(robot, field)
    if ARRAYS[field][0] != "n":
        return ""
    bad = int(np.argmin(np.isfinite(array.reshape(len(array), -1)).all(axis=1)))
    return f", for body '{robot.body_names[bad]}'"


def rigid_placements(robot: RobotData) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the placements (n, 4, 4) of the bodies and those (4, 4) of the frames, as `nearest_motions` makes them."""
    n = len(robot.body_names)
    given = np.concatenate([robot.placements.reshape(-1, 4), *(frame.placement for frame in robot.frames)])
    T, bad = nearest_motions(given.reshape(-1, 4, 4))
    if bad is not None:
        name = f"body '{robot.body_names[bad]}'" if bad < n else f"frame '{robot.frames[bad - n].name}'"
        raise _error(robot, f"the placement of {name} is not a rigid motion [R p; 0 1] with R Rᵀ = 1, det R = 1")
    if T.base is given:  # `nearest_motions` has changed nothing
        return robot.placements, [frame.placement for frame in robot.frames]
    return T[:n], list(T[n:])


_TURNS = {kind: row.turns for kind, row in JOINTS.items() if row.turns is not None}


def check_screws(robot: RobotData) -> None:
    """Check that the screws of every joint are those of its type.

    A quick test of all bodies at once finds the doubtful ones, which `misfit` looks at one by one.
    """
    first = robot.screws[robot.layout.dof_start[:-1]]
    w, v = first[:, :3], first[:, 3:]
    with np.errstate(all="ignore"):  # a square that overflows makes the screw doubtful
        turns, pitch, square = w.any(axis=1), np.vecdot(w, v), np.vecdot(w, w)
        if not turns.all():
            square = np.where(turns, square, np.vecdot(v, v))
    doubtful = np.maximum(np.abs(square - 1), np.abs(pitch)) > UNIT
    doubtful |= turns != np.array([_TURNS.get(kind, -1) for kind in robot.joint_types])
    for i in np.flatnonzero(doubtful).tolist():
        why = misfit(robot.joint_types[i], robot.screw(i))
        if why is not None:
            raise _error(robot, f"the screw of joint '{robot.body_joint_names[i]}' {why}")
