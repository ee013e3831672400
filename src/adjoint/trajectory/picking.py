"""`pick_and_place`: from two poses to a motion of joints that leaves the first and reaches the second head-on."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError, SolveError, nearest
from ..inverse.choice import middle_of_limits, nearest_copy, nearest_solution
from ..inverse.closed_form import Solutions, inverse_kinematics
from ..inverse.meaning import branches
from ..lie import se3, so3
from ..model.input_checks import floats
from ..model.needs import need_coordinates, need_robot
from ..model.robot import Robot
from .checks import common_batch, given_start, segment_times
from .piecewise import Trajectory
from .poses.checks import poses_of
from .quantities import broadcast
from .textbook import degree_seven, five_cubic, four_three_four, three_five_three

__all__ = ["pick_and_place", "withdrawn"]

_SCHEMES = {"4-3-4": four_three_four, "3-5-3": three_five_three, "5-cubic": five_cubic, "7": degree_seven}
_FIRST = 1e6  # the weight of the way from `start` to the first knot: it decides, unless branches meet there
_POSES = ("start", "lift-off", "set-down", "goal")


def withdrawn(T, distance, turn=0.0) -> np.ndarray:
    """Poses T (..., 4, 4), moved back along their approach vector a by `distance` [m], and turned about s by `turn`.

    The columns of a pose are n, s, a and p in the textbook, and this one is [R Rot(s, turn), p - distance · a]: it is
    where a hand waits before it goes down to T, or where it is first after it has lifted off. `turn` is in rad.

        >>> T = np.diag([-1.0, 1.0, -1.0, 1.0])                             # a hand that looks down, at the origin
        >>> withdrawn(T, 0.1)[:3, 3].tolist()
        [0.0, 0.0, 0.1]
    """
    T = poses_of(T, "withdrawn: T")
    distance, turn = floats(distance), floats(turn)
    if not (np.isfinite(distance).all() and np.isfinite(turn).all()):
        raise ArgumentError("withdrawn: distance [m] and turn [rad] must be finite numbers, or arrays of them")
    broadcast("withdrawn", T=T.shape[:-2], distance=distance.shape, turn=turn.shape)
    back = -distance[..., None] * np.array([0.0, 0.0, 1.0])
    return T @ se3.from_rotation_translation(so3.rotation_y(turn), back)


def pick_and_place(
    robot: Robot, T_start, T_goal, frame: str, *, lift, times, scheme: str = "4-3-4", start=None, redundancy=None,
    turn=0.0, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0, goal_acceleration=0.0,
) -> Trajectory:  # fmt: skip
    """The motion of a frame from pose T_start to pose T_goal (..., 4, 4), by lift-off and set-down knots.

        >>> T = forward_kinematics(robot, [[0.0, -0.5, 2.2, 0.0, 1.2, 0.0], [1.0, -0.4, 2.1, 0.0, 1.2, 0.5]], "tool")
        >>> pick_and_place(robot, T[0], T[1], "tool", lift=0.1, times=[0.4, 1.0, 0.4])
        <Trajectory of 'puma560': 1.8 s, 6 joints, 3 pieces of degree 4>

    Parameters
    ----------
    robot, frame
        An arm with inverse kinematics, and the name of the frame whose poses are given.
    T_start, T_goal
        Poses of the frame in the base (..., 4, 4), lengths in m. The third column is the approach vector a.
    lift
        The way [m] from the start to the lift-off knot, and from the set-down knot to the goal, out along -a: one
        number for both, or two. `turn` [rad] turns the hand about its own s axis there, see `withdrawn`.
    times
        The durations [s] of the segments (..., 3), or (..., 5) with the scheme "5-cubic".
    scheme
        "4-3-4", "3-5-3", "5-cubic" or "7": `four_three_four`, `three_five_three`, `five_cubic`, `degree_seven`, which
        also explain the rates at both ends.
    start
        A configuration (..., nq) near which the motion begins; the nearest branch is taken, with its turns. Without it,
        the branch is the one that moves the joints least, begun near the middle of the joint limits.
    redundancy
        The parameter that `inverse_kinematics` needs for arms with seven joints.

    All four knots are on one branch of the inverse kinematics, inside the joint limits, and full turns are added so
    that no joint jumps. A `SolveError` names the pose that is out of reach, or what stops each branch. Between the
    knots the joints follow the polynomials, and may pass their limits a little. Fu, Gonzalez & Lee (1987), §4.3.
    """
    caller = "pick_and_place"
    need_robot(robot, caller)
    need_coordinates(robot, f"{caller} is")
    if not isinstance(scheme, str) or scheme not in _SCHEMES:
        raise ArgumentError(f"{caller}: no scheme {scheme!r:.60}; {nearest(scheme, list(_SCHEMES))}")
    times = segment_times(caller, times, 5 if scheme == "5-cubic" else 3)
    lifts, turns = (_pair(x, label) for x, label in ((lift, "lift [m]"), (turn, "turn [rad]")))
    T_0, T_1 = (poses_of(T, f"{caller}: {label}") for T, label in ((T_start, "T_start"), (T_goal, "T_goal")))
    start = given_start(caller, robot, start, batch=True)
    near = {} if start is None else {"start": (start, 1)}
    common_batch(caller, T_start=(T_0, 2), T_goal=(T_1, 2), times=(times, 1), **near)
    four = T_0, withdrawn(T_0, lifts[0], turns[0]), withdrawn(T_1, lifts[1], turns[1]), T_1
    found = [inverse_kinematics(robot, T, frame, redundancy=redundancy) for T in four]
    knots = _on_one_branch(robot, found, start, frame)
    rates = {"start_velocity": start_velocity, "start_acceleration": start_acceleration}
    rates |= {"goal_velocity": goal_velocity, "goal_acceleration": goal_acceleration}
    moved = _SCHEMES[scheme](knots, times, **rates)
    return Trajectory(moved.knots, moved.coefficients, robot)


def _pair(value, label: str) -> np.ndarray:
    found = floats(value)
    if found.shape not in ((), (2,)) or not np.isfinite(found).all():
        raise ArgumentError(f"pick_and_place: {label} must be one number or two, got {value!r:.60}")
    return np.broadcast_to(found, 2)


def _on_one_branch(robot: Robot, found: list[Solutions], start, frame: str) -> np.ndarray:
    """The knots (..., 4, nq), all on the branch nearest to `start`, or on the one that moves least."""
    batch = np.broadcast_shapes(*(x.exact.shape[:-1] for x in found), () if start is None else np.shape(start)[:-1])
    k = found[0].exact.shape[-1]
    if not any(branch.roots for branch in branches(robot, frame).branches) and k > 1:
        return _nearest_in_turn(robot, found, start, batch)
    q = np.broadcast_to((middle_of_limits(robot) if start is None else start)[..., None, :], (*batch, k, robot.nq))
    cost, usable, knots = np.zeros((*batch, k)), [], []
    for i, (solutions, exact) in enumerate(found):
        copy, inside = nearest_copy(robot, solutions, q)
        usable.append(np.broadcast_to(inside & exact, (*batch, k)))
        if i > 0 or start is not None:
            cost = cost + (_FIRST if i == 0 else 1.0) * ((copy - q) ** 2).sum(axis=-1)
        q = np.broadcast_to(copy, (*batch, k, robot.nq))
        knots.append(q)
    whole = np.all(usable, axis=0)
    if not whole.any(axis=-1).all():
        _explain(np.array(usable), [np.broadcast_to(x.exact, (*batch, k)) for x in found], whole)
    best = np.where(whole, cost, np.inf).argmin(axis=-1)
    return np.take_along_axis(np.stack(knots, axis=-2), best[..., None, None, None], axis=-3)[..., 0, :, :]


def _nearest_in_turn(robot: Robot, found: list[Solutions], start, batch: tuple) -> np.ndarray:
    """The knots of an arm whose branches have no names: each is the solution nearest to the one before."""
    q, knots = np.broadcast_to(middle_of_limits(robot) if start is None else start, (*batch, robot.nq)), []
    for label, solutions in zip(_POSES, found, strict=True):
        q = nearest_solution(robot, solutions, q).q
        if np.isnan(q).any():
            raise SolveError(f"pick_and_place: the {label} pose is out of reach, or outside of the joint limits")
        knots.append(np.broadcast_to(q, (*batch, robot.nq)))
    return np.stack(knots, axis=-2)


def _explain(usable: np.ndarray, exact: list[np.ndarray], whole: np.ndarray) -> None:
    """Raise the `SolveError` that says why no branch reaches all four poses, of the first sample without one."""
    place = tuple(np.argwhere(~whole.any(axis=-1))[0])
    which = f" of motion {', '.join(map(str, place))}" if place else ""
    for i, label in enumerate(_POSES):
        if not exact[i][place].any():
            raise SolveError(f"pick_and_place: the {label} pose{which} is out of reach")
        if not usable[(i, *place)].any():
            raise SolveError(f"pick_and_place: at the {label} pose{which}, every solution is outside the joint limits")
    stops = [
        f"branch {b} misses the {' and the '.join(_POSES[i] for i in range(4) if not usable[(i, *place, b)])}"
        for b in range(whole.shape[-1])
    ]
    raise SolveError(f"pick_and_place: no branch reaches all four poses{which}: {'; '.join(stops)}")
