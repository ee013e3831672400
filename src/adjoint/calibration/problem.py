"""From the arguments of `calibrate` and `choose_poses` to a problem for `fit`: checks, first numbers, generic poses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..lie import se3, so3
from ..model.configuration import random_configuration
from ..model.input_checks import motions, vectors
from ..model.robot import Robot
from .chain import Numbers, placement
from .fit import Problem, subset
from .measured import Reading, as_reading, whitening
from .parameters import chosen, first_numbers, make_chain, parameter_list

__all__ = ["Setup", "configurations", "generic_problem", "set_up"]

_CONTACT_STEPS, _CONTACT = 30, 1e-9  # Newton's steps to a contact, and how near [m] a point must come
_LONGEST = 0.5  # [rad or m] the longest of these steps


class Setup(NamedTuple):
    """A problem, its first numbers, and how many samples were dropped since they have NaN or infinity."""

    problem: Problem
    numbers: Numbers
    dropped: int


def configurations(robot: Robot, q, caller: str) -> np.ndarray:
    """The argument q as numbers (n, nq)."""
    q = vectors(q, robot.nq, "q", caller)
    if q.ndim != 2:
        raise ArgumentError(f"{caller}: q has shape {q.shape}; (n, {robot.nq}) is needed, one row for each sample")
    return q


def set_up(robot: Robot, frame: str, q: np.ndarray, measured, estimate, noise, base, caller: str) -> Setup:
    """The `Setup` of the arguments; the base is placed by the measurements if it is estimated and not given."""
    families = chosen(robot, frame, estimate, caller)
    reading = as_reading(measured, len(q), caller)
    q = q if reading.repeat == 1 else np.repeat(q, reading.repeat, axis=0)
    chain = make_chain(robot, frame, families, reading)
    W = None if noise is None else whitening(noise, reading, len(q), caller)
    problem = Problem(chain, parameter_list(robot, frame, chain), reading, q, W)
    fields = [q, *reading.samples.values()]
    whole = np.all([np.isfinite(x).reshape(len(x), -1).all(axis=1) for x in fields], axis=0)
    dropped = int(np.sum(~whole))
    if dropped:
        problem = subset(problem, whole)
    if not len(problem.q):
        raise ArgumentError(f"{caller}: no samples{f'; all {dropped} have NaN or infinity' if dropped else ''}")
    B = np.eye(4) if base is None else motions(base, (4, 4), f"{caller}: base")
    numbers = first_numbers(robot, frame, B, 0.0)
    if base is None and chain.base:
        numbers = numbers._replace(base=_aligned(problem, numbers))
    return Setup(problem, numbers._replace(radius=_first_radius(problem, numbers)), dropped)


def _aligned(problem: Problem, numbers: Numbers) -> np.ndarray:
    """The placement (4, 4) of the base that brings the model near to measured poses or positions, else 1.

    Poses: T_measured T⁻¹ of each sample is one guess, and their mean is taken. Positions: the rigid motion between two
    sets of points, by a singular value decomposition; Kabsch (1976), Acta Crystallographica A32.
    """
    reading = problem.reading
    if "measured" not in reading.samples:
        return np.eye(4)
    T = placement(problem.chain, problem.q, **numbers._asdict())
    measured = reading.samples["measured"]
    if reading.kind == "poses":
        return se3.project(np.mean(measured @ se3.inverse(T), axis=0))
    points = (T[:, None, :3, :3] @ reading.fixed["points"][..., None])[..., 0] + T[:, None, :3, 3]
    x, y = points.reshape(-1, 3), measured.reshape(-1, 3)
    R = so3.project((y - y.mean(axis=0)).T @ (x - x.mean(axis=0)))
    return se3.from_rotation_translation(R, y.mean(axis=0) - R @ x.mean(axis=0))


def _first_radius(problem: Problem, numbers: Numbers) -> float:
    """The sphere's radius [m], or the mean distance of the model's points from its centre if it is estimated."""
    reading = problem.reading
    if reading.radius is not None:
        return reading.radius
    T = placement(problem.chain, problem.q, **numbers._asdict())
    x = T[:, :3, :3] @ reading.fixed["point"] + T[:, :3, 3]
    return float(np.mean(np.linalg.norm(x - reading.fixed["center"], axis=1)))


# --- generic poses ----------------------------------------------------------------------------------------------------


def generic_problem(robot: Robot, problem: Problem, numbers: Numbers, samples: int) -> Problem:
    """The same problem at random configurations, which show all that measurements of this kind can show.

    Measurements are those of the given numbers. If the tool keeps touching something, it does so there as well.
    """
    q, chain, reading = random_configuration(robot, samples, rng=0), problem.chain, problem.reading
    W = problem.whitening
    W = np.mean(W, axis=0) if W is not None and W.ndim == 3 else W
    if reading.is_contact:
        q = _touching(problem._replace(whitening=None), numbers, q)
        return problem._replace(q=q, whitening=W)
    T = placement(chain, q, **numbers._asdict())
    return problem._replace(q=q, reading=reading._replace(samples=_readings(reading, T)), whitening=W)


def _readings(reading: Reading, T: np.ndarray) -> dict[str, np.ndarray]:
    """What would be read where the frame is at T (n, 4, 4)."""
    if reading.generic is not None:
        return reading.generic(T)
    if reading.kind == "poses":
        return {"measured": T}
    if reading.kind == "distances":
        x = T[:, :3, :3] @ reading.fixed["point"] + T[:, :3, 3]
        return {"length": np.linalg.norm(x - reading.fixed["center"], axis=1)}
    return {"measured": (T[:, None, :3, :3] @ reading.fixed["points"][..., None])[..., 0] + T[:, None, :3, 3]}


def _touching(problem: Problem, numbers: Numbers, q: np.ndarray) -> np.ndarray:
    """Those of the configurations q (n, nq) that reach the contact by Newton's method, or all if none does."""
    single = tuple(
        joint._replace(tilts=0, placement=False, gear=False, offset=not joint.screws) for joint in problem.chain.joints
    )
    chain = problem.chain._replace(joints=single, base=False, tool=False, radius=False)
    kernel, fixed = problem.reading.kernel, problem.reading.fixed
    if problem.chain.radius:
        fixed = fixed | {"length": numbers.radius}
    spread = np.eye(problem.chain.nq)[[joint.start for joint in single if joint.offset]]  # several may share one q
    factors = np.array([gear for gear, joint in zip(numbers.gears, single, strict=True) if joint.offset])
    residual = np.full(len(q), np.inf)
    for _ in range(_CONTACT_STEPS):
        found = kernel(chain, q, **fixed, **numbers._asdict())
        residual, slopes = found.residual[:, 0], (found.slopes[:, 0] * factors) @ spread
        step = slopes * (residual / np.maximum(np.sum(slopes**2, axis=1), 1e-12))[:, None]
        q = q + step * np.minimum(1.0, _LONGEST / np.maximum(np.linalg.norm(step, axis=1), 1e-12))[:, None]
    touches = np.abs(residual) < _CONTACT
    return q[touches] if touches.any() else q
