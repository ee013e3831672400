"""`doubts` guesses whether samples are in wrong units (degrees, N mm), have wrong signs or another order of joints."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..dynamics.regressors import coordinate_names, dof_names, parameters, regressor
from ..model.robot import Robot
from .base import BaseParameters
from .data import Samples, angles, pick

__all__ = ["doubts"]

_LOOKED_AT = 400  # the number of samples that are compared with predictions
_FAR = 30.0  # even a bad model does not predict torques that are this many times too large or too small
_FINE, _SURE = 0.5, 0.6  # agreements (of `_agreement`) above which there is no doubt, and that are no accident
# What a ratio of recorded to computed rates suggests.
_RATIOS = {"is {rate} in degrees?": 180 / np.pi, "is {of} in degrees?": np.pi / 180, "is time in ms?": 1e3}


def doubts(base: BaseParameters, samples: Samples) -> list[str]:
    """What looks wrong about the samples, in words; an empty list if nothing does.

    The torques are compared with those that the model predicts, which may be far off but not wrong in every respect.
    Where they disagree, other units, signs and orders of joints are tried, and one with which they agree far better is
    reported.
    """
    robot = base.robot
    found = [*_degrees(robot, samples), *_rates(robot, samples)]
    if found:
        return found[:1]  # the other doubts follow from the first
    samples = pick(samples, slice(None, None, -(-len(samples.q) // _LOOKED_AT)))
    predicted = _predicted(base, samples)
    found = _constant(robot, samples.tau, predicted)
    own = np.diag(_agreement(samples.tau, predicted))
    if found or own.min() > _FINE:
        return found
    explained = _explained(base, samples, own)
    return [explained] if explained else _size(samples.tau, predicted)


def _predicted(base: BaseParameters, samples: Samples) -> np.ndarray:
    """The torques (n, nv) that the model predicts."""
    Y = regressor(base.robot, *samples[:3], joints=base.joints)
    return Y @ parameters(base.robot, base.joints)


def _agreement(tau: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """(nv, nv) 2 x·y / (|x|² + |y|²) of each torque x and each prediction y over time, without their means.

    It is 1 if they are equal, -1 if they are opposite, and near 0 if they have nothing in common or different sizes.
    """
    x, y = tau - tau.mean(axis=0), predicted - predicted.mean(axis=0)
    lengths = np.sum(x**2, axis=0)[:, None] + np.sum(y**2, axis=0)
    return 2 * x.T @ y / np.where(lengths > 0, lengths, np.inf)


# --- without a prediction ---------------------------------------------------------------------------------------------


def _degrees(robot: Robot, samples: Samples) -> list[str]:
    """A sentence for each angle that is far outside its limits and would be inside them if it were in degrees."""
    largest, names = np.abs(samples.q).max(axis=0), coordinate_names(robot)
    limit = np.maximum(np.abs(robot.lower), np.abs(robot.upper))
    wrong = [k for k in angles(robot) if largest[k] > 2 * limit[k] and np.radians(largest[k]) < 1.2 * limit[k]]
    return [
        f"q_{names[k]} reaches {largest[k]:.3g} with a limit of {limit[k]:.3g} rad: degrees? np.radians converts"
        for k in wrong
    ]


def _rates(robot: Robot, samples: Samples) -> Iterator[str]:
    """A sentence if v is not the rate of q over time, and another if a is not the rate of v; none without time."""
    if samples.time is None or len(samples.time) < 10 or robot.nq != robot.nv:
        return
    for rate, of in (("v", "q"), ("a", "v")):
        x, dx = getattr(samples, of), getattr(samples, rate)
        with np.errstate(all="ignore"):
            slope = (x[2:] - x[:-2]) / (samples.time[2:] - samples.time[:-2])[:, None]
        steady = np.isfinite(slope).all(axis=1)
        want, got = np.linalg.norm(slope[steady], axis=0), np.linalg.norm(dx[1:-1][steady], axis=0)
        known = (want > 0) & (got > 0)
        ratios = got[known] / want[known]
        if known.any() and (np.abs(np.log(ratios)) > 1.5).all():
            ratio = float(np.median(ratios))
            hints = [text.format(rate=rate, of=of) for text, r in _RATIOS.items() if 0.7 < ratio / r < 1.4]
            yield "; ".join([f"{rate} is {ratio:.3g} times the rate of {of} over time", *hints])


def _constant(robot: Robot, tau: np.ndarray, predicted: np.ndarray) -> list[str]:
    """A sentence for each torque that is constant while the model's changes: its sensor does not measure."""
    changes = predicted.std(axis=0) > 0.05 * predicted.std(axis=0).max()
    dead = np.flatnonzero((np.ptp(tau, axis=0) == 0) & changes) if len(tau) > 1 else []
    return [f"the torque of joint {dof_names(robot)[k]} is constant, {tau[0, k]:g}" for k in dead]


def _size(tau: np.ndarray, predicted: np.ndarray) -> list[str]:
    """A sentence if the torques are far larger or smaller than predicted."""
    size = np.sqrt(np.mean(tau**2)) / max(float(np.sqrt(np.mean(predicted**2))), 1e-300)
    return [] if 1 / _FAR < size < _FAR else [f"torques are {size:.3g} times those that the model predicts"]


# --- explanations -----------------------------------------------------------------------------------------------------


def _explained(base: BaseParameters, samples: Samples, own: np.ndarray) -> str | None:
    """The change of the samples that makes them agree best with the model, in words; None if it may be an accident."""
    best, words = own, None
    for text, changed in _changes(base, samples):
        agreement = np.diag(_agreement(changed.tau, _predicted(base, changed)))
        if agreement.sum() > best.sum():
            best, words = agreement, text
    better = best - own > 0.5
    return words if better.any() and best[better].mean() > _SURE else None


def _changes(base: BaseParameters, samples: Samples) -> Iterator[tuple[str, Samples]]:
    """Common mistakes in words, each with the samples without it."""
    robot = base.robot
    yield from _units(robot, samples)
    agreement = _agreement(samples.tau, _predicted(base, samples))
    yield from _signs_and_order(dof_names(robot), samples, agreement)
    if robot.nq == robot.nv == len(robot.joint_names):
        yield from _orders(robot.joint_names, samples)


def _units(robot: Robot, samples: Samples) -> Iterator[tuple[str, Samples]]:
    """Angles in degrees, and torques in N mm or kN m."""
    turns = angles(robot)
    rates = np.array([robot.layout.v_start[list(robot.layout.q_start).index(k)] for k in turns], int)
    in_radians = {field: _scaled(getattr(samples, field), rates, np.pi / 180) for field in ("v", "a")}
    in_radians["q"] = _scaled(samples.q, turns, np.pi / 180)
    for fields in ("q", "va", "qva"):
        text = (
            f"{', '.join(fields)} in degrees? With np.radians of {'it' if fields == 'q' else 'them'}, the model agrees"
        )
        yield text, samples._replace(**{field: in_radians[field] for field in fields})
    for unit, factor in (("N mm? divide by 1000", 1e-3), ("kN m? multiply by 1000", 1e3)):
        yield (
            f"torques are {1 / factor:g} times what they should be: {unit}",
            samples._replace(tau=factor * samples.tau),
        )


def _scaled(x: np.ndarray, places: np.ndarray, factor: float) -> np.ndarray:
    """A copy of x (n, k) whose columns at `places` are multiplied by `factor`."""
    x = x.copy()
    x[:, places] *= factor
    return x


def _signs_and_order(names: tuple[str, ...], samples: Samples, agreement: np.ndarray) -> Iterator[tuple[str, Samples]]:
    """Torques with the opposite sign of the model's, and torques in another order of joints."""
    opposite = np.diag(agreement) < -_FINE
    if opposite.any():
        text = f"tau of {', '.join(itertools.compress(names, opposite))} has the opposite sign"
        yield text, samples._replace(tau=np.where(opposite, -samples.tau, samples.tau))
    order = linear_sum_assignment(-agreement)[1]
    if (order != np.arange(len(order))).any():
        pairs = ", ".join(f"tau_{names[k]} looks like that of {names[to]}" for k, to in enumerate(order) if k != to)
        tau = samples.tau[:, np.argsort(order)]
        yield f"the torques are in another order: {pairs}; ours is {', '.join(names)}", samples._replace(tau=tau)


def _orders(names: tuple[str, ...], samples: Samples) -> Iterator[tuple[str, Samples]]:
    """All columns in another order of the joints: alphabetic, backwards, or with two joints exchanged."""
    n = len(names)
    orders = {"in the order of the alphabet": sorted(range(n), key=names.__getitem__), "backwards": [*range(n)[::-1]]}
    for i, j in itertools.combinations(range(n), 2):
        swapped = list(range(n))
        swapped[i], swapped[j] = j, i
        orders[f"with {names[i]} and {names[j]} exchanged"] = swapped
    for text, order in orders.items():
        back = np.argsort(order)  # column k of the samples is our joint order[k]
        changed = {field: getattr(samples, field)[:, back] for field in ("q", "v", "a", "tau")}
        yield f"the joints are {text}; ours are {', '.join(names)}", samples._replace(**changed)
