"""Teach and playback: configurations that someone led an arm through, to be edited and played at any speed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...model.robot import Robot
from ...trajectory import Trajectory, time_optimal
from ..instructions import Call, Expression, Literal, Move, MoveHand, Program, Quantity, Statement

__all__ = ["Lesson", "TaughtPoint", "lesson_from_json", "lesson_trajectory"]


class TaughtPoint(NamedTuple):
    """A configuration that was recorded: q (nq,), the width of the hand [m] or None, whether the arm stops there."""

    q: tuple[float, ...]
    width: float | None = None
    stops: bool = True
    name: str = ""


@dataclass(frozen=True)
class Lesson:
    """What was taught: points in their order. Every edit gives a new lesson.

        >>> lesson = Lesson("arm").record(q).record(q + 0.1, width=0.02).insert(1, q + 0.05, stops=False)
        >>> [point.stops for point in lesson.points]
        [True, False, True]

    An arm is led slowly, and its configuration recorded at each press (`record`); the points are edited (`insert`,
    `delete`, `replace`), played slowly (`run` of `program()` with a low speed, `dry_run`), and then at full speed.
    Reference: Fu, Gonzalez & Lee (1987), Secs. 1.6 and 9.1.
    """

    robot: str = ""
    points: tuple[TaughtPoint, ...] = ()

    def record(self, q, *, width: float | None = None, stops: bool = True, name: str = "") -> Lesson:
        """The lesson with a further point at its end. With `stops` false it is passed without a stop."""
        return replace(self, points=(*self.points, _point(q, width, stops, name, self.points, "Lesson.record")))

    def insert(self, index: int, q, *, width: float | None = None, stops: bool = True, name: str = "") -> Lesson:
        """The lesson with a further point before the point of this index, counted from 0."""
        at = self._index(index, "Lesson.insert", len(self.points) + 1)
        point = _point(q, width, stops, name, self.points, "Lesson.insert")
        return replace(self, points=(*self.points[:at], point, *self.points[at:]))

    def delete(self, index: int) -> Lesson:
        """The lesson without the point of this index."""
        at = self._index(index, "Lesson.delete", len(self.points))
        return replace(self, points=self.points[:at] + self.points[at + 1 :])

    def replace_point(self, index: int, **changes: Any) -> Lesson:
        """The lesson in which a point has another `q`, `width`, `stops` or `name`."""
        at = self._index(index, "Lesson.replace_point", len(self.points))
        unknown = sorted(set(changes) - set(TaughtPoint._fields))
        if unknown:
            raise ArgumentError(
                f"Lesson.replace_point: a point has no {', '.join(unknown)}; it has q, width, stops, name"
            )
        new = self.points[at]._replace(**changes)
        point = _point(new.q, new.width, new.stops, new.name, self.points, "Lesson.replace_point")
        return replace(self, points=(*self.points[:at], point, *self.points[at + 1 :]))

    def program(self, *, speed: float = 1.0, name: str = "lesson") -> Program:
        """The lesson as a robot program, at a fraction of the full speed: `run(lesson.program(speed=0.1), world)`.

        Points without a stop are via points of the next point with one. The hand moves where its width changes.
        """
        if not 0 < speed <= 1:
            raise ArgumentError(
                f"Lesson.program: speed is a part of the full speed, above 0 and at most 1; got {speed}"
            )
        if not self.points:
            raise ArgumentError("Lesson.program: the lesson has no points; record one first")
        pace = None if speed == 1 else Literal(float(speed))
        statements: list[Statement] = []
        via: list[Expression] = []
        width: float | None = None
        for k, point in enumerate(self.points):
            hand_moves = point.width is not None and point.width != width
            if not point.stops and not hand_moves and k < len(self.points) - 1:
                via.append(joints_expression(point.q))
                continue
            statements.append(Move(self.robot, joints_expression(point.q), via=tuple(via), speed=pace))
            via = []
            if point.width is not None and hand_moves:
                opens = width is None or point.width > width
                statements.append(MoveHand(self.robot, opens, Quantity(point.width, "m")))
                width = point.width
        return Program(tuple(statements), name)

    def to_json(self) -> str:
        """The lesson as JSON, from which `lesson_from_json` makes an equal one."""
        rows = [{"q": list(p.q), "width": p.width, "stops": p.stops, "name": p.name} for p in self.points]
        return json.dumps({"lesson": 1, "robot": self.robot, "points": rows})

    def _index(self, index: int, who: str, count: int) -> int:
        if not -count <= index < count:
            raise ArgumentError(f"{who}: there is no point {index}; the lesson has {len(self.points)}")
        return index % count


def lesson_from_json(text: str) -> Lesson:
    """The lesson that `Lesson.to_json` wrote; an `ArgumentError` names what is wrong in the text."""
    try:
        data = json.loads(text)
        rows = [(row["q"], row["width"], row["stops"], row["name"]) for row in data["points"]]
        lesson = Lesson(str(data["robot"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArgumentError(f"lesson_from_json: this is no lesson: {error}") from None
    for q, width, stops, name in rows:
        lesson = lesson.record(q, width=width, stops=bool(stops), name=str(name))
    return lesson


def lesson_trajectory(lesson: Lesson, robot: Robot, *, speed: float = 1.0, acceleration=None) -> Trajectory:
    """One smooth motion through all points of a lesson without a stop, within the robot's velocities times `speed`.

    A cubic spline goes through the points, and is run as fast as the limits allow. `acceleration` [rad/s², m/s²] is a
    number or (nv,); by default the robot needs half a second to its full velocity.
    """
    if len(lesson.points) < 2:
        raise ArgumentError(f"lesson_trajectory: a motion needs two points; the lesson has {len(lesson.points)}")
    if not 0 < speed <= 1:
        raise ArgumentError(f"lesson_trajectory: speed is above 0 and at most 1; got {speed}")
    limits = np.where(np.isfinite(robot.velocity_limit), robot.velocity_limit, 1.0)
    waypoints = np.array([p.q for p in lesson.points])
    kept = np.r_[True, np.any(np.diff(waypoints, axis=0) != 0, axis=1)]
    fastest = limits * speed
    brisk = 2.0 * limits * speed if acceleration is None else acceleration
    return time_optimal(waypoints[kept], velocity=fastest, acceleration=brisk, parameters="chord")


def joints_expression(q) -> Call:
    """The expression of a configuration: CONFIGURATION(...) of numbers in rad and m."""
    return Call("CONFIGURATION", tuple(Literal(float(x)) for x in q))


def _point(q, width, stops: bool, name: str, others: tuple[TaughtPoint, ...], who: str) -> TaughtPoint:
    """A point, if its numbers are finite and as many as those of the others."""
    try:
        numbers = np.asarray(q, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise ArgumentError(f"{who}: q is a configuration of finite numbers (nq,); got {q!r}")
    if others and len(others[0].q) != numbers.size:
        raise ArgumentError(f"{who}: q has {numbers.size} numbers, and other points have {len(others[0].q)}")
    if width is not None and not (isinstance(width, int | float | np.floating) and 0 <= width < np.inf):
        raise ArgumentError(f"{who}: the width of a hand is a length [m], 0 or more; got {width!r}")
    return TaughtPoint(tuple(float(x) for x in numbers), None if width is None else float(width), bool(stops), name)
