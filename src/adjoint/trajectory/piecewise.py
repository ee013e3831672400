"""`Trajectory`, the one way to hold a motion of joints: pieces of polynomials in time."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..compile import kernel, static
from ..drawing.style import saved_figure
from ..dynamics.regressors import dof_names
from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.configuration import difference, integrate
from ..model.needs import need_robot
from ..model.robot import Robot
from .along import Torques, check_joints, torques
from .draw import trajectory_figure
from .extrema import Extrema, extrema
from .limits import LimitReport, limits_hold
from .manifold import has_manifold_joints, local_rates
from .pieces import InPieces, Pieces, common_batch, frozen, joined_pieces, knots_after, piece_at, rates_inside
from .polynomials import rates
from .storage import read_arrays, save

__all__ = ["Sample", "Trajectory", "pieced"]

_JUMP = 1e-6  # [rad or m] trajectories are joined if the next one starts this near to the end of the one before


class Sample(NamedTuple):
    """Position q (..., nq), velocity v, acceleration a and jerk (..., nv) of a trajectory at some times."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    jerk: np.ndarray


class _Shape(NamedTuple):
    """What the machine code of a trajectory depends on; `robot` only if it has joints of several degrees of freedom."""

    robot: Robot | None
    nq: int
    n: int
    order: int
    many: bool  # whether there are many pieces


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"))
def _vector_sample(shape: _Shape, starts, coefficients, end, pieces, t) -> Sample:
    """The sample at time t of a trajectory of so many `pieces`, which start at `starts`; it ends at `end`."""
    s = np.clip(t, 0.0, end)
    start, c = piece_at(shape.many, starts, (coefficients,), s, end, pieces)
    q, *moving = rates(c, s - start)
    return Sample(q, *rates_inside(moving, t, end))


@kernel(shape=static, starts=(...,), coefficients=(..., "n", "order"), anchors=(..., "nq"))
def _manifold_sample(shape: _Shape, starts, coefficients, anchors, end, pieces, t) -> Sample:
    """The same on the manifold of a robot's configurations: q = anchor ∘ exp(x)."""
    s = np.clip(t, 0.0, end)
    start, c, anchor = piece_at(shape.many, starts, (coefficients, anchors), s, end, pieces)
    x = rates(c, s - start)
    q = integrate(shape.robot, anchor, x[0])  # type: ignore[arg-type]
    return Sample(q, *rates_inside(local_rates(shape.robot, *x), t, end))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Trajectory(InPieces):
    """A motion of joints in time, or a batch of them: pieces of polynomials, one after the other.

        trajectory = quintic(q_start, q_goal, duration=2.0)
        q, v, a, jerk = trajectory([0.0, 0.5, 1.0])

    Piece k lasts from knots[k] to knots[k + 1] [s], and knots[0] is 0. In it, coordinate i is Σ_j c_ij (t - knots[k])^j
    with c = coefficients[k]. With a `robot` that has joints of several degrees of freedom, these are coordinates about
    anchors[k]: q = anchor ∘ exp(x). Leading axes of the arrays are those of the batch; `trajectory[i]` is one of it.

        trajectory.extrema().v.highest                      # (n,) exact, with the times at_highest
        print(trajectory.limits_hold(robot))                # which joint exceeds which limit, when, and by how much
        trajectory.cut(0.5, 1.0).reversed().save("back.npz")
    """

    knots: np.ndarray  # (..., K + 1) [s]
    coefficients: np.ndarray  # (..., K, nv, degree + 1)
    robot: Robot | None = None
    anchors: np.ndarray | None = None  # (..., K, nq), of robots with joints of several degrees of freedom
    variables: Pieces = field(init=False, repr=False)  # the same numbers, with all that pieces can do

    def __post_init__(self):
        pieces = Pieces(self.knots, self.coefficients, self.anchors)
        for name, array in (("knots", pieces.knots), ("coefficients", pieces.coefficients), ("anchors", pieces.rows)):
            object.__setattr__(self, name, array)
        object.__setattr__(self, "variables", pieces)
        if self.robot is not None:
            need_robot(self.robot, "Trajectory")
            check_joints(self.robot, self.nv, self.anchors, "Trajectory")
        elif self.anchors is not None:
            raise ArgumentError("Trajectory: anchors belong to joints of several degrees of freedom; give the robot")

    def __reduce__(self):
        return Trajectory, (self.knots, self.coefficients, self.robot, self.anchors)

    def _of(self, pieces: Pieces) -> Trajectory:
        """A trajectory of the same joints."""
        return Trajectory(pieces.knots, pieces.coefficients, self.robot, pieces.rows)

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def nv(self) -> int:
        """The number of coordinates that move."""
        return self.coefficients.shape[-2]

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return self.variables.degree

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names (nv) of the coordinates: those of the robot's joints, if it is known."""
        return tuple(f"joint {i}" for i in range(self.nv)) if self.robot is None else dof_names(self.robot)

    # --- samples ------------------------------------------------------------------------------------------------------

    @cached_property
    def _sampler(self):
        """The kernel that samples it."""
        nq = self.nv if self.anchors is None else self.anchors.shape[-1]
        robot = self.robot if self.anchors is not None else None
        shape = _Shape(robot, nq, self.nv, self.degree + 1, self.variables.many)
        return (_vector_sample if self.anchors is None else _manifold_sample).bind(shape)

    def __call__(self, t, *, hold: bool = False) -> Sample:
        """The `Sample` at times t [s], within 0 and `duration`; with `hold`, it rests at its ends before and after.

        Of a batch, t is one time, times (N,) for all of it, or (..., N) with leading axes that broadcast against the
        batch: q is (..., N, nq). At a knot, the sample is that of the piece which starts there.
        """
        return self._sampler(*self.variables.arguments(t, hold))

    @property
    def _last(self) -> Sample:
        """The sample (..., n) at the end."""
        return Sample(*(x[..., 0, :] for x in self(self.knots[..., -1:])))

    # --- what it does -------------------------------------------------------------------------------------------------

    def extrema(self) -> Extrema:
        """The lowest and highest q, v, a and jerk of every joint, (..., n) each, and when [s] they are first reached.

            >>> at = quintic([0.0, 1.0], [1.0, 0.0], duration=2.0).extrema()
            >>> at.v.highest, at.v.at_highest
            (array([0.9375, 0.    ]), array([1., 0.]))

        They are exact to rounding errors, at ends of pieces or at roots of derivatives; where a or jerk jumps at a
        knot, the values on both sides count. Rates of joints of several degrees of freedom are no polynomials: theirs
        are the tops of samples, at least 32 on each piece as in `limits_hold`, refined until rounding. Coordinates of
        quaternions have NaN.
        """
        return extrema(self)

    def torques(self, robot: Robot | None = None, t=None) -> Torques:
        """The torques tau (..., N, n) [N m or N] of inverse dynamics, with dry friction, at times t [s].

            t, tau = trajectory.torques(robot)

        Without t, the times are dense on every piece. `robot` is by default the one the trajectory was made with.
        """
        return torques(self, robot, t)

    def limits_hold(
        self, robot: Robot | None = None, *, velocity=None, acceleration=None, jerk=None, torque=True,
        tolerance: float = 1e-9,
    ) -> LimitReport:  # fmt: skip
        """Whether positions, velocities, torques keep the robot's limits at every time: a `LimitReport`.

            report = trajectory.limits_hold(robot, acceleration=10.0)
            if not report:
                print(report)       # limit exceeded: velocity of joint 'elbow' is 3.2 rad/s at 0.41 s, ...
            report.worst.joint, report.worst.time, report.worst.excess
            report.reach["velocity"].excess                 # (..., n), below 0 where the limit holds

        Robots have no limits of `acceleration` and `jerk`; give them, as a number or (n,), to have them looked at.
        `velocity` and `torque` take the place of the robot's own limits, and with `torque=False` torques are not looked
        at. Without any robot, only the limits given are. Extrema of q, v, a and jerk are those of `extrema`. No motor
        follows a velocity that jumps at a knot, so such a jump is told first; jumps of the acceleration are told if
        there are limits of jerk. A limit holds if it is exceeded by no more than the fraction `tolerance`.

        Peaks of torques are the highest three tops of samples, refined until rounding. Samples are 1/32 of a piece
        apart, or less where the joints together turn by more than 0.2 rad in that time, down to 1/1024; a peak that is
        narrower may be missed.
        """
        return limits_hold(self, robot, velocity, acceleration, jerk, torque, tolerance)

    def plot(self, path: str | os.PathLike[str], robot: Robot | None = None) -> Path:
        """Draws position, velocity, acceleration and, of a known robot, torque over time; limits are dotted.

        It returns the path of the file, whose ending says what it is: .png, .pdf, .svg. This needs matplotlib.
        `adjoint.plot(trajectory)` gives the figure, without a file.
        """
        return saved_figure(trajectory_figure(self, robot), path, "Trajectory.plot")

    # --- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the trajectory into a .npz, .json or .csv file, exact to the last bit; .csv takes no batch.

        The file appears, or is replaced, when everything is written. The robot is not in it; give it to `load`.
        """
        return save(self.variables, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], robot: Robot | None = None) -> Trajectory:
        """The trajectory that `save` wrote; files of anything else are refused with an `ArgumentError`.

            >>> saved = quintic([0.0], [1.0], duration=2.0).save("move.json")
            >>> Trajectory.load("move.json")
            <Trajectory: 2 s, 1 joint, 1 piece of degree 5>

        The robot, if it is given, must have as many degrees of freedom; trajectories with joints of several degrees of
        freedom need one.
        """
        arrays = read_arrays(path)
        try:
            return cls(robot=robot, **arrays)
        except ArgumentError as error:
            raise ArgumentError(f"{os.fsdecode(path)}: {error}") from None

    # --- other trajectories made of it --------------------------------------------------------------------------------

    def followed_by(self, *others: Trajectory) -> Trajectory:
        """This trajectory and then the others, as one; each must start where the one before it ends.

        >>> there = quintic([0.0], [1.0], duration=2.0)
        >>> there.followed_by(there.reversed())
        <Trajectory: 4 s, 1 joint, 2 pieces of degree 5>
        """
        parts = [self, *others]
        if not all(isinstance(part, Trajectory) for part in parts):
            raise ArgumentError(f"followed_by needs trajectories of joints, got {others!r:.120}")
        for k, (before, after) in enumerate(pairwise(parts)):
            _check_meeting(before, after, k)
        whole = joined_pieces([part.variables for part in parts])
        robot = next((part.robot for part in parts if part.robot is not None), None)
        return Trajectory(whole.knots, whole.coefficients, robot, whole.rows)

    def __repr__(self) -> str:
        pieces = "1 piece" if self.pieces == 1 else f"{self.pieces} pieces"
        whose = f" of '{self.robot.name}'" if self.robot is not None else ""
        joints = "1 joint" if self.nv == 1 else f"{self.nv} joints"
        return f"<Trajectory{whose}: {self.variables.shown}, {joints}, {pieces} of degree {self.degree}>"


def _check_meeting(before: Trajectory, after: Trajectory, k: int) -> None:
    """Raises `ArgumentError` unless trajectory number k + 1 begins where trajectory number k ends."""
    robots = before.robot, after.robot
    if before.nv != after.nv or (None not in robots and robots[0] != robots[1]):
        raise ArgumentError(f"followed_by: different joints move in {before!r} and {after!r}")
    if (before.anchors is None) != (after.anchors is None):
        raise ArgumentError(
            f"followed_by: different kinds of joints move in {before!r} and {after!r}: those of one have several "
            "degrees of freedom"
        )
    common_batch([before.variables, after.variables])
    start, stop = after(0.0).q, before._last.q
    gap = np.abs(start - stop if before.anchors is None else difference(before.robot, stop, start))  # type: ignore[arg-type]
    if not np.all(gap <= _JUMP * (1 + np.abs(stop).max(axis=-1, keepdims=True))):
        *_, i = np.unravel_index(np.argmax(gap), gap.shape)
        raise ArgumentError(
            f"followed_by: trajectory {k + 1} does not start where trajectory {k} ends: "
            f"'{before.joint_names[int(i)]}' would jump by {gap.max():.6g}"
        )


def pieced(robot: Robot | None, durations: np.ndarray, coefficients: np.ndarray, anchors=None) -> Trajectory:
    """The trajectory of pieces that last `durations` (..., K) [s]; it keeps the array of coefficients, read-only."""
    anchors = anchors if has_manifold_joints(robot) else None
    return Trajectory(frozen(knots_after(durations), own=True), frozen(coefficients, own=True), robot, anchors)
