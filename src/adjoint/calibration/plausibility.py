"""Do measurements look wrong: angles in degrees, lengths in mm?"""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..identification.data import angles
from ..lie import se3
from ..model.robot import Robot
from .chain import Numbers, placement
from .fit import Problem

__all__ = ["raise_doubts"]

_FAR = 0.1  # a mean misfit above this part of the spread of what is measured is a reason to look for mistakes
_BETTER = 0.2  # a correction that leaves less than this part of the misfit is believed


def raise_doubts(robot: Robot, problem: Problem, numbers: Numbers) -> None:
    """Raises an `ArgumentError` if the samples fit much better with other units, or are far outside limits."""
    turns = angles(robot)
    over = np.maximum(problem.q - robot.upper, robot.lower - problem.q)[:, turns]
    if turns.size and over.max() > 2 * np.pi:
        name = robot.joint_names[int(np.argmax(over.max(axis=0)))]
        _raise(f"q of joint '{name}' is up to {over.max():.3g} rad beyond its limits: is it in degrees?")
    if "measured" not in problem.reading.samples:
        return
    here = _misfit(problem, numbers, problem.q, 1.0)
    if here < _FAR:
        return
    in_degrees = problem.q.copy()
    in_degrees[:, turns] = np.deg2rad(in_degrees[:, turns])
    if _misfit(problem, numbers, in_degrees, 1.0) < _BETTER * here:
        _raise("q fits the measurements much better if it is in degrees; it must be in rad")
    if _misfit(problem, numbers, problem.q, 1e-3) < _BETTER * here:
        _raise("positions fit the model much better if they are in mm; they must be in m")


def _raise(text: str) -> None:
    raise ArgumentError(f"calibrate: {text} (check=False takes the samples as they are)")


def _misfit(problem: Problem, numbers: Numbers, q: np.ndarray, unit: float) -> float:
    """How far distances between measured points are from the model's, as a part of the mean distance of the model.

    Distances between points do not depend on the base.
    """
    T = placement(problem.chain, q, **numbers._asdict())
    measured = problem.reading.samples["measured"]
    if problem.reading.kind == "poses":
        x, y = T[:, :3, 3], unit * measured[:, :3, 3]
    else:
        x, y = se3.act(T, problem.reading.fixed["points"][0]), unit * measured[:, 0]
    half = len(x) // 2
    ours, theirs = (np.linalg.norm(a[:half] - a[half : 2 * half], axis=1) for a in (x, y))
    return float(np.median(np.abs(ours - theirs)) / max(np.mean(ours), 1e-9)) if half else 0.0
