"""Samples that look wrong: degrees, N mm, signs, the order of joints. What units are cannot be known, only guessed."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..dynamics.regressor import coordinate_names, dof_names, parameters, regressor
from ..robot.model import Robot
from .base import BaseParameters
from .data import Samples

__all__ = ["doubts"]

_TURNS = ("revolute", "helical")  # whose q is an angle with limits
_FAR = 30.0  # how many times too large or small torques are that no bad model explains
_SURE, _UNSURE = 0.9, 0.5  # correlations that say so, or say nothing


def doubts(base: BaseParameters, samples: Samples) -> list[str]:
    """What looks wrong about samples, in words; an empty list if nothing does.

    Torques are compared with those that the model predicts, which may be wrong by much, but not in every respect.
    """
    robot, joints = base.robot, base.joints
    Y = regressor(robot, samples.q, samples.v, samples.a, joints=joints)
    predicted = Y @ parameters(robot, joints)
    return [*_degrees(robot, samples), *_rates(robot, samples), *_torques(robot, samples.tau, predicted)]


def _degrees(robot: Robot, samples: Samples) -> list[str]:
    """The first angle far outside its limits that would be inside them as degrees."""
    largest, names = np.abs(samples.q).max(axis=0), coordinate_names(robot)
    for i, kind in enumerate(robot.joint_types):
        k = robot._layout.q_start[i]
        limit = max(abs(robot.lower[k]), abs(robot.upper[k])) if kind in _TURNS else np.inf
        if largest[k] > 2 * limit and np.radians(largest[k]) < 1.2 * limit:
            return [
                f"q_{names[k]} reaches {largest[k]:.3g} with a limit of {limit:.3g} rad: degrees? np.radians converts"
            ]
    return []


def _rates(robot: Robot, samples: Samples) -> list[str]:
    """Velocities that are not the rates of q, or accelerations not those of v, if time is known."""
    if samples.time is None or len(samples.time) < 10 or robot.nq != robot.nv:
        return []
    found = []
    for rate, of in (("v", "q"), ("a", "v")):
        x, dx = getattr(samples, of), getattr(samples, rate)
        with np.errstate(all="ignore"):
            slope = (x[2:] - x[:-2]) / (samples.time[2:] - samples.time[:-2])[:, None]
        steady = np.isfinite(slope).all(axis=1)
        want, got = np.linalg.norm(slope[steady], axis=0), np.linalg.norm(dx[1:-1][steady], axis=0)
        wrong = (want > 0) & (got > 0) & (np.abs(np.log(np.where(got > 0, got, 1) / np.where(want > 0, want, 1))) > 1.5)
        if wrong.all():
            ratio = float(np.median(got / want))
            unit = (
                f"; is {rate} in degrees?"
                if 40 < ratio < 80
                else f"; is {of} in degrees?"
                if 40 < 1 / ratio < 80
                else ""
            )
            found.append(f"{rate} is {ratio:.3g} times the rate of {of} over time{unit}")
    return found


def _torques(robot: Robot, tau: np.ndarray, predicted: np.ndarray) -> list[str]:
    names = dof_names(robot)
    size = np.sqrt(np.mean(tau**2)) / max(float(np.sqrt(np.mean(predicted**2))), 1e-300)
    if not 1 / _FAR < size < _FAR:
        unit = "; N mm? divide by 1000" if 200 < size < 5000 else "; kN m?" if size < 1 / 200 else ""
        return [f"torques are {size:.3g} times those that the model predicts{unit}"]
    x, y = (t - t.mean(axis=0) for t in (tau, predicted))
    lengths = np.outer(np.linalg.norm(x, axis=0), np.linalg.norm(y, axis=0))
    correlation = x.T @ y / np.where(lengths > 0, lengths, np.inf)
    own = np.diag(correlation)
    order = linear_sum_assignment(-correlation)[1]
    moved = order != np.arange(len(order))
    if moved.any() and correlation[moved, order[moved]].min() > _SURE and own[moved].max() < _UNSURE:
        pairs = ", ".join(f"tau_{names[k]} looks like that of {names[order[k]]}" for k in np.flatnonzero(moved))
        return [f"the joints are in another order: {pairs}; ours is {', '.join(names)}"]
    opposite = np.flatnonzero(own < -_SURE)
    return [f"tau of {', '.join(names[k] for k in opposite)} has the opposite sign"] if len(opposite) else []
