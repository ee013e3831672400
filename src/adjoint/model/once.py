"""Results that are kept in the robot they are of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .robot_data import RobotData

__all__ = ["once_a_robot"]


def once_a_robot(function: Callable[..., Any] | None = None, *, most: int = 8) -> Any:
    """A decorator for functions of a robot: a result is kept in the robot it is of, and freed with it.

    If the function takes further values, each robot keeps its results for the last `most` of them.
    """
    if function is None:
        return functools.partial(once_a_robot, most=most)

    @functools.wraps(function)
    def found(robot: RobotData, *values):
        known = robot.results.setdefault(function, {})
        try:
            return known[values]
        except KeyError:
            pass
        result = function(robot, *values)
        if len(known) >= most:
            known.pop(next(iter(known)), None)
        known[values] = result
        return result

    return found
