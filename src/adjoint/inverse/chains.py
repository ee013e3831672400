"""The chain of joints between the base and a frame, as axes at home: what inverse kinematics sees of a robot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..lie import se3, so3
from ..model.robot import Robot
from ..model.screws import home_screws
from .axes import CONSTANT_NOISE, Axis, moved

__all__ = [
    "Answer",
    "Chain",
    "Gear",
    "at_base",
    "chain_of",
    "in_units",
    "joint_motion",
    "plain_chain",
    "with_lock",
]


class Gear(NamedTuple):
    """How a joint follows a coordinate: its angle or length is factor · q[coordinate] + offset."""

    coordinate: int
    factor: float = 1.0
    offset: float = 0.0

    def follow(self, q):
        """The joint's angle or length, for the coordinate q."""
        return q if (self.factor, self.offset) == (1, 0) else self.factor * q + self.offset

    def lead(self, x):
        """The coordinate that gives the joint the angle or length x."""
        return x if (self.factor, self.offset) == (1, 0) else (x - self.offset) / self.factor


class Chain(NamedTuple):
    """T = E_0 ··· E_n M: the axes, the coordinates they follow, and the frame's placement M (4, 4) at home.

    `names` are those of the joints, `places` the places of the coordinates in q. Lengths of axes and placements are in
    units of the arm's `size` [m], so that tolerances mean the same for all arms; coordinates are in rad and m.
    """

    axes: tuple[Axis, ...]
    gears: tuple[Gear, ...]
    home: np.ndarray
    places: tuple[int, ...]
    names: tuple[str, ...]
    size: float

    @property
    def count(self) -> int:
        """The number of coordinates."""
        return len(self.places)

    @property
    def turns(self) -> tuple[bool, ...]:
        """Whether full turns of each coordinate change nothing: it and all that follow it turn whole turns."""
        found = [True] * self.count
        for a, g in zip(self.axes, self.gears, strict=True):
            found[g.coordinate] &= a.kind == "R" and g.factor == round(g.factor)
        return tuple(found)

    @property
    def is_plain(self) -> bool:
        """Whether every joint has a coordinate of its own."""
        return len(self.axes) == self.count


class Answer(NamedTuple):
    """Coordinates of a chain (angles in [-π, π], and lengths), and whether they are exact."""

    q: tuple
    exact: Any


def plain_chain(axes, home) -> Chain:
    """The chain of axes with a coordinate each, in their order."""
    n = len(axes)
    return Chain(tuple(axes), tuple(Gear(i) for i in range(n)), home, tuple(range(n)), ("",) * n, 1.0)


def chain_of(robot: Robot, frame: str) -> Chain:
    """The chain from the base to `frame`; an `ArgumentError` names a joint that is no revolute or prismatic one."""
    bodies, screws, home = home_screws(robot, frame)
    axes = [_axis(robot, frame, body, S) for body, S in zip(bodies, screws, strict=True)]
    size, gears, places = _size(axes, home), [], []
    for body, a in zip(bodies, axes, strict=True):
        place = robot.layout.q_start[body]
        if place not in places:
            places.append(place)
        mimic = robot.mimics.get(body)
        factor, offset = (1.0, 0.0) if mimic is None else mimic[1:]
        unit = size if a.kind == "P" else 1.0
        gears.append(Gear(places.index(place), factor / unit, offset / unit))
    axes = [a._replace(point=_tidy(a.point / size)) for a in axes]
    names = tuple(robot.body_joint_names[i] for i in bodies)
    home = home.copy()
    home[:3, 3] /= size
    return Chain(tuple(axes), tuple(gears), _tidy(home), tuple(places), names, size)


def _size(axes: list[Axis], home: np.ndarray) -> float:
    """The power of 2 [m] near the largest distance between axes and frame; lengths divided by it keep their digits."""
    points = [*(a.point for a in axes if a.kind == "R"), home[:3, 3]]
    far = max(float(np.linalg.norm(x - y)) for x in points for y in points)
    return float(2.0 ** np.round(np.log2(far))) if far > 0 else 1.0


def _axis(robot: Robot, frame: str, body: int, screws: np.ndarray) -> Axis:
    kind = robot.joint_types[body]
    if kind not in ("revolute", "continuous", "prismatic"):
        raise ArgumentError(
            f"inverse_kinematics of robot '{robot.name}', frame '{frame}': joint '{robot.body_joint_names[body]}' is "
            f"{kind}; closed forms exist for revolute and prismatic joints, and `find_configuration` takes all joints"
        )
    w, v = screws[0, :3], screws[0, 3:]
    return Axis("P", _tidy(v), np.zeros(3)) if kind == "prismatic" else Axis("R", _tidy(w), _tidy(np.cross(w, v)))


def _tidy(x: np.ndarray) -> np.ndarray:
    """x without rounding errors of 0 and ±1, which would cost multiplications in every sample."""
    x = np.where(np.abs(x) < CONSTANT_NOISE, 0.0, x)
    return np.where(np.abs(np.abs(x) - 1) < CONSTANT_NOISE, np.sign(x), x)


def in_units(chain: Chain, T):
    """The pose T (4, 4), with its position in units of the arm's size."""
    return se3.from_rotation_translation(T[:3, :3], T[:3, 3] / chain.size)


def at_base(chain: Chain, T):
    """The motion T' = T M⁻¹ (4, 4) of the base's frame that the joints make, for a pose T (4, 4) in units."""
    return se3.compose(T, se3.inverse(chain.home))


def joint_motion(a: Axis, q):
    """The motion E(q) (4, 4) of a joint."""
    if a.kind == "P":
        return se3.from_rotation_translation(np.eye(3), q * a.direction)
    R = so3.from_axis_angle(a.direction, q)
    return se3.from_rotation_translation(R, a.point - R @ a.point)


def with_lock(axes, T, place: int, value) -> tuple[list[Axis], np.ndarray]:
    """The other axes and the pose T' they must reach, if the joint at `place` stays at `value`.

    E_0 ··· E_n = (E_0 ··· E_{j-1}) (E'_{j+1} ··· E'_n) E_j, where the later axes are those that E_j has moved.
    """
    E = joint_motion(axes[place], value)
    back = se3.inverse(E)
    if place == 0:
        return list(axes[1:]), back @ T
    return [*axes[:place], *(moved(E, a) for a in axes[place + 1 :])], T @ back
