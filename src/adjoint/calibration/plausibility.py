"""Do measurements look wrong: angles in degrees, lengths in mm, poses inverted?"""

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
    """Raises an `ArgumentError` if the samples fit much better read in another way, or are far outside limits."""
    turns = angles(robot)
    over = np.maximum(problem.q - robot.upper, robot.lower - problem.q)[:, turns]
    if turns.size and over.max() > 2 * np.pi:
        name = robot.joint_names[int(np.argmax(over.max(axis=0)))]
        _raise(f"q of joint '{name}' is up to {over.max():.3g} rad beyond its limits: is it in degrees?")
    if "measured" not in problem.reading.samples:
        return
    points = _measured_points(problem)
    here = _misfit(problem, numbers, problem.q, points)
    if here < _FAR:
        return
    in_degrees = problem.q.copy()
    in_degrees[:, turns] = np.deg2rad(in_degrees[:, turns])
    if _misfit(problem, numbers, in_degrees, points) < _BETTER * here:
        _raise("q fits the measurements much better if it is in degrees; it must be in rad")
    if _misfit(problem, numbers, problem.q, 1e-3 * points) < _BETTER * here:
        _raise("positions fit the model much better if they are in mm; they must be in m")
    if problem.reading.kind == "poses":
        back = se3.inverse(problem.reading.samples["measured"])[:, :3, 3]
        if _misfit(problem, numbers, problem.q, back) < _BETTER * here:
            _raise("poses fit the model much better if they are inverted; they must be those of the frame in the base")


def _raise(text: str) -> None:
    raise ArgumentError(f"calibrate: {text} (check=False takes the samples as they are)")


def _measured_points(problem: Problem) -> np.ndarray:
    """One measured point (n, 3) of each sample."""
    measured = problem.reading.samples["measured"]
    return measured[:, :3, 3] if problem.reading.kind == "poses" else measured[:, 0]


def _misfit(problem: Problem, numbers: Numbers, q: np.ndarray, points: np.ndarray) -> float:
    """How far distances between measured points are from the model's, as a part of the mean distance of the model.

    Distances between points do not depend on the base.
    """
    T = placement(problem.chain, q, **numbers._asdict())
    x = T[:, :3, 3] if problem.reading.kind == "poses" else se3.act(T, problem.reading.fixed["points"][0])
    half = len(x) // 2
    ours, theirs = (np.linalg.norm(a[:half] - a[half : 2 * half], axis=1) for a in (x, points))
    return float(np.median(np.abs(ours - theirs)) / max(np.mean(ours), 1e-9)) if half else 0.0
