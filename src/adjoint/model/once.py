"""`once_a_robot`: a decorator that keeps the results of a function in the robot they belong to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .robot_data import RobotData

__all__ = ["once_a_robot"]


def once_a_robot(function: Callable[..., Any] | None = None, *, most: int = 8) -> Any:
    """Decorate a function of a robot so that the robot keeps its result; both are freed together.

    If the function takes further arguments, the robot keeps the results for the last `most` values of them.
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
