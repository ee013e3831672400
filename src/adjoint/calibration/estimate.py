"""`calibrate`: the numbers of a robot's kinematics from measurements of its tool.

The parametrisation is that of products of exponentials, see `chain`. It has no singularity where axes are parallel, and
redundant parameters do no harm: what no measurement can tell apart is found by a singular value decomposition, left as
the model has it, and named. References: F. C. Park (1994), "Computational aspects of the product-of-exponentials
formula for robot kinematics", IEEE Trans. Autom. Control 39(3); K. Okamura & F. C. Park (1996), "Kinematic calibration
using the product of exponentials formula", Robotica 14(4); R. He, Y. Zhao, S. Yang & S. Yang (2010),
"Kinematic-parameter identification for serial-robot calibration based on POE formula", IEEE Trans. Robot. 26(3).
"""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import ArgumentError, nearest
from ..identification.base import some
from ..model.input_checks import count, truth
from ..model.needs import need_robot
from ..model.robot import Robot
from ..randomness import Rng, generator
from .chain import Numbers
from .fit import Fit, Problem, Seen, fitted, lengths, linear, residuals_of, seen_directions, shown_elsewhere, subset
from .parameters import calibrated, changes
from .plausibility import raise_doubts
from .problem import configurations, generic_problem, set_up
from .report import Calibration, CrossValidation
from .robust import EFFICIENCY, LOSSES, outlier_length

__all__ = ["calibrate", "generic_split"]

_DEFAULT = ("screws", "offsets", "base", "tool")


def calibrate(
    robot: Robot,
    frame: str,
    q,
    measured,
    *,
    estimate=_DEFAULT,
    noise=None,
    loss: str = "squares",
    base=None,
    folds: int = 0,
    rng: Rng = 0,
    check: bool = True,
) -> Calibration:
    """The `Calibration` of a robot: its screws, offsets, base and tool from measurements, and a robot that has them.

        >>> q = random_configuration(robot, 40, rng=0)
        >>> found = calibrate(robot, "tool", q, forward_kinematics(robot.mounted(lie.se3.exp(0.01 * np.ones(6))), q,
        ...                                                        "tool"))
        >>> better = found.robot

    - `robot` is the model: the first guess, and what stays where measurements tell nothing. `frame` is the name of the
      frame that is measured. `q` (n, nq) [rad or m] are the joint positions that the encoders read.
    - `measured` is poses (n, 4, 4) or positions (n, 3) of the frame in the measuring frame [m], or one of `Poses`,
      `Positions` (several points), `Distances` (a ball bar), `OnPlane` and `OnSphere` (contacts). Samples with NaN are
      dropped and counted.
    - `estimate` names what is estimated: some of "screws" (the axes of the joints), "placements" (the home placements
      M_i as a whole), "offsets" (what encoders read at home), "gears" (factors of what they read), "base" (the robot's
      base in the measuring frame) and "tool" (the frame in its body). A mapping {family: names of joints} chooses
      joints; {"screws": None} means all.
    - `noise` is the standard deviation of the measurements: (rotation [rad], position [m]) of poses, one number [m] of
      all other kinds, or covariances (m, m) or (n, m, m) of the m numbers of a sample. With None it is estimated from
      what the fit leaves unexplained.
    - `loss` is "squares", or "huber" or "tukey" where some samples may be wrong altogether: see `robust`. Outliers are
      named in `found.outliers`.
    - `base` (4, 4) is a first guess of the base in the measuring frame. If it is None, poses and positions give one, if
      "base" is estimated; else it is the identity.
    - `folds` is the number of parts of a cross-validation, or 0 for none: each part is predicted by a calibration with
      the others (`rng` deals them out). `check=False` accepts measurements that look wrong, such as angles in degrees.

    With the placements B and X of base and tool, gear factors γ and offsets δ, the frame is at

        T = B M_1 exp(S_1 (γ_1 q_1 + δ_1)) ··· M_n exp(S_n (γ_n q_n + δ_n)) X,     S_i = Ad(exp(x_i)) S_i(model).

    The result minimises Σ ρ(|Σ^(-1/2) r|) of the residuals r; for poses r = log(T⁻¹ T_measured). A general arm with
    poses measured has 4 parameters for each joint that turns, 2 for each that slides, and 6 more; gears are further
    ones. `estimate` may well choose more: combinations that no measurement of this kind can tell (`found.gauge`) and
    those that these samples do not show (`found.unseen`) stay as in the model, and so do all frames but `frame` as far
    as possible. A Python warning tells that samples do not show something that others would: `choose_poses` finds them.

    References: Park (1994), "Computational aspects of the product-of-exponentials formula for robot kinematics", IEEE
    Trans. Autom. Control 39(3), eq. (1); Okamura & Park (1996), "Kinematic calibration using the product of
    exponentials formula", Robotica 14(4); He, Zhao, Yang & Yang (2010), "Kinematic-parameter identification for
    serial-robot calibration based on POE formula", IEEE Trans. Robot. 26(3).
    """
    need_robot(robot, "calibrate")
    if loss not in LOSSES:
        raise ArgumentError(f"calibrate: loss is {loss!r}; {nearest(loss, LOSSES)}")
    folds = count(folds, "calibrate: folds")
    problem, first, dropped = set_up(
        robot, frame, configurations(robot, q, "calibrate"), measured, estimate, noise, base, "calibrate"
    )
    if truth(check, "calibrate: check"):
        raise_doubts(robot, problem, first)
    fit = fitted(problem, first, loss)
    _need_enough(problem, fit)
    deal = generator(rng, "calibrate")
    validation = _validated(problem, fit, loss, folds, deal) if folds else None
    found = _calibration(robot, frame, problem, first, fit, loss, dropped, validation)
    for text in found.warnings:
        warnings.warn(f"calibrate: {text}", stacklevel=2)
    return found


def _calibration(
    robot: Robot, frame: str, problem: Problem, first, fit: Fit, loss: str, dropped: int, validation
) -> Calibration:
    """The `Calibration` that a fit is, from its `first` guess."""
    kept, seen, covariance = _certainty(problem, fit, loss)
    unseen, gauge = generic_split(robot, problem, fit.numbers, fit.sigma, seen.unseen)
    return Calibration(
        model=robot,
        frame=frame,
        robot=calibrated(robot, frame, fit.numbers),
        base=fit.numbers.base,
        radius=fit.numbers.radius if problem.reading.kind.endswith("sphere") else None,
        parameters=problem.parameters,
        values=changes(problem.chain, first, fit.numbers),
        covariance=covariance,
        problem=problem,
        first=first,
        numbers=fit.numbers,
        noise=_noise(problem, fit),
        noise_known=problem.whitening is not None,
        residuals=residuals_of(problem, fit.numbers),
        residuals_before=residuals_of(problem, first),
        lengths=lengths(problem, fit.linear.residuals, fit.sigma),
        outliers=np.flatnonzero(~kept),
        gauge_directions=gauge,
        unseen_directions=unseen,
        condition=float(seen.values[0] / seen.values[-1]) if len(seen.values) else np.inf,
        rank=len(seen.values),
        loss=loss,
        iterations=fit.iterations,
        dropped=dropped,
        validation=validation,
    )


def _need_enough(problem: Problem, fit: Fit) -> None:
    """Raises an error if there are not more measured numbers than the estimate uses."""
    n, rank = fit.linear.residuals.size, len(fit.seen.values)
    if n <= rank:
        raise ArgumentError(
            f"calibrate: {len(problem.q)} samples of {problem.reading.rows} numbers are too few: they determine {rank} "
            f"combinations of {len(problem.parameters)} parameters and leave nothing to tell the noise from; measure "
            "more poses, or estimate less"
        )
    if not rank:
        names = some([str(parameter) for parameter in problem.parameters])
        raise ArgumentError(f"calibrate: these samples show nothing of what is estimated: {names}")


def generic_split(
    robot: Robot, problem: Problem, numbers: Numbers, sigma: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of the span of some directions (d, p): those that as many samples at random poses would show, and the others."""
    samples = 40 + 4 * len(problem.parameters) // problem.reading.rows
    everywhere = generic_problem(robot, problem, numbers, samples)
    return shown_elsewhere(everywhere, numbers, sigma, directions, len(problem.q))


def _certainty(problem: Problem, fit: Fit, loss: str) -> tuple[np.ndarray, Seen, np.ndarray]:
    """Which samples (n,) are no outliers, what these show, and the covariance (p, p) of the parameters.

    For normal noise, the covariance of least squares is the bound of Cramér and Rao, (Σ Aᵀ Σ⁻¹ A)⁻¹; robust losses
    have this bound divided by their efficiency. Along directions that are not seen, the covariance is 0.
    """
    far = lengths(problem, fit.linear.residuals, fit.sigma) > outlier_length(problem.reading.rows, len(problem.q))
    if loss == "squares":
        kept, seen, efficiency = ~far, fit.seen, 1.0
    else:
        good = subset(problem, ~far)
        kept, efficiency = ~far, EFFICIENCY
        seen = seen_directions(good, linear(good, fit.numbers).products, fit.sigma)
    half = problem.scales * seen.directions / seen.values[:, None]
    return kept, seen, half.T @ half / efficiency


def _noise(problem: Problem, fit: Fit) -> np.ndarray:
    """The standard deviation of each group of measured numbers; of several known covariances it is the mean."""
    if problem.whitening is None:
        return fit.sigma
    roots = np.linalg.inv(problem.whitening)  # L of Σ = L Lᵀ
    variances = np.sum(roots**2, axis=-1).reshape(-1, problem.reading.rows).mean(axis=0)
    parts = problem._replace(whitening=None).groups
    return np.sqrt([variances[part].mean() for part in parts])


def _validated(problem: Problem, fit: Fit, loss: str, folds: int, rng: np.random.Generator) -> CrossValidation:
    """The errors of samples that the calibration has not seen, and of those that it has, for each group."""
    n = len(problem.q)
    if not 2 <= folds <= n:
        raise ArgumentError(f"calibrate: folds must be 0, or from 2 to the number of samples, {n}; got {folds}")
    part, parts = rng.permutation(n) % folds, problem._replace(whitening=None).groups
    unseen, seen = np.empty((n, problem.reading.rows)), []
    for k in range(folds):
        numbers = fitted(subset(problem, part != k), fit.numbers, loss).numbers
        residuals = residuals_of(problem, numbers)
        unseen[part == k] = residuals[part == k]
        seen.append(residuals[part != k])
    typical = _typical if loss != "squares" else _root_mean_square
    return CrossValidation(
        folds=folds,
        training=np.array([typical(np.concatenate(seen)[:, g]) for g in parts]),
        prediction=np.array([typical(unseen[:, g]) for g in parts]),
    )


def _root_mean_square(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)))


def _typical(x: np.ndarray) -> float:
    """A root mean square that outliers do not change: the median length over √m."""
    return float(np.median(np.linalg.norm(x, axis=1)) / np.sqrt(x.shape[1]))
