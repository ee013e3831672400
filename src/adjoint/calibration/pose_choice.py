"""`choose_poses`: of many candidate poses, those whose measurements show the parameters best.

The information of a set of poses is M = Σ Aᵀ Σ⁻¹ A, with the slopes A of each measurement; M⁻¹ is the covariance of the
parameters. D-optimal poses maximise det M: they make the volume of the confidence ellipsoid smallest. Only directions
that measurements of this kind can show count. Poses are added one by one, and then exchanged for better ones: Fedorov
(1972), "Theory of Optimal Experiments".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..lie import se3
from ..model.input_checks import count as whole_number
from ..model.needs import need_robot
from ..model.robot import Robot
from .chain import placement
from .estimate import generic_split
from .fit import blocks
from .measured import Distances, Measured, Poses, Positions
from .problem import configurations, set_up
from .unseen import in_words

__all__ = ["PoseChoice", "choose_poses"]

_USUAL_NOISE = 1e-3  # [rad or m]: the relative noise of rotations and positions that is assumed if none is given
_WEAK = 1e-9  # the information that is assumed before the first pose, as a part of the mean of all candidates
_ROUNDS = 20
_BETTER = 1e-9  # an exchange must raise log det M by more than this


class PoseChoice(NamedTuple):
    """Poses that `choose_poses` has chosen: their numbers `rows` (count,) among the candidates, and `q` (count, nq).

    `log_det` is log det M of the chosen (and known) poses over the r directions that can be seen, in units of scaled
    parameters; `errors` (p,) [rad, m or 1] are the standard errors that a calibration with these poses would have;
    `unseen` names what they do not show, though some pose would.
    """

    rows: np.ndarray
    q: np.ndarray
    log_det: float
    errors: np.ndarray
    names: tuple[str, ...]
    unseen: tuple[str, ...]


def choose_poses(
    robot: Robot,
    frame: str,
    candidates,
    count: int,
    *,
    measured: Measured | None = None,
    estimate=("screws", "offsets", "base", "tool"),
    noise=None,
    base=None,
    known=None,
) -> PoseChoice:
    """The `PoseChoice` of `count` of the `candidates` (c, nq) whose measurements show the parameters of a robot best.

        >>> candidates = random_configuration(robot, 300, rng=0)
        >>> chosen = choose_poses(robot, "tool", candidates, 20)
        >>> chosen.q.shape
        (20, 6)

    - `candidates` are configurations that the robot can reach without collisions, where the instrument sees the tool.
    - `measured` says what will be measured: `Poses()` by default, `Positions(points=...)`, `Distances(center=...)`,
      `OnPlane(...)` or `OnSphere(...)`; measured numbers in it are not looked at. `estimate`, `noise` and `base` are
      the arguments of `calibrate`; without `noise`, 1 mrad and 1 mm are assumed.
    - `known` (k, nq) are poses that have been measured already: the choice then adds what they do not show.

    The choice maximises log det Σ Aᵀ Σ⁻¹ A over the directions of the parameters that can be seen at all: poses are
    added one by one, then exchanged as long as this helps. Fedorov (1972), "Theory of Optimal Experiments"; for robots,
    Sun & Hollerbach (2008), "Observability index selection for robot calibration", IEEE ICRA.
    """
    need_robot(robot, "choose_poses")
    candidates = configurations(robot, candidates, "choose_poses")
    known = np.zeros((0, robot.nq)) if known is None else configurations(robot, known, "choose_poses")
    q = np.concatenate([candidates, known])
    if not np.isfinite(q).all():
        bad = int(np.argmin(np.isfinite(q).all(axis=1)))
        raise ArgumentError(f"choose_poses: candidate or known pose {bad} has NaN or infinity")
    if not 1 <= whole_number(count, "choose_poses: count") <= len(candidates):
        raise ArgumentError(f"choose_poses: count is {count}; there are {len(candidates)} candidates")
    base = np.eye(4) if base is None else base
    problem, numbers, _ = set_up(
        robot, frame, q, _planned(Poses() if measured is None else measured, len(q)), estimate, noise, base,
        "choose_poses",
    )  # fmt: skip
    if problem.reading.repeat != 1:
        raise ArgumentError(f"choose_poses: views with several {problem.reading.kind} cannot be chosen; give Poses()")
    if problem.reading.kind == "poses":  # where nothing is wrong, the slopes are those of equation (2) of `chain`
        T = placement(problem.chain, q, **numbers._asdict())
        problem = problem._replace(reading=problem.reading._replace(samples={"measured": T}))
    sigma = np.full(len(problem.groups), _USUAL_NOISE if noise is None else 1.0)
    visible, _ = generic_split(robot, problem, numbers, sigma, np.eye(len(problem.parameters)))
    rows = np.concatenate([both[..., :-1] for _, both in blocks(problem, numbers)])
    rows = rows * problem.scales @ visible.T / (_USUAL_NOISE if noise is None else 1.0)
    chosen = _exchanged(rows, len(candidates), count)
    return _choice(problem.parameters, problem.scales, visible, rows, chosen, candidates)


def _planned(measured: Measured, n: int) -> Measured:
    """The measurement with numbers in place of those that are not measured yet."""
    if isinstance(measured, Poses):
        return Poses(np.broadcast_to(se3.identity(), (n, 4, 4)))
    if isinstance(measured, Positions):
        return measured._replace(p=np.zeros((n, len(np.atleast_2d(measured.points)), 3)))
    return measured._replace(d=np.zeros(n)) if isinstance(measured, Distances) else measured


def _exchanged(rows: np.ndarray, candidates: int, count: int) -> np.ndarray:
    """The numbers of `count` of the first `candidates` blocks of rows (n, m, r) that make log det M largest."""
    products = np.swapaxes(rows, 1, 2) @ rows
    r = rows.shape[-1]
    M = products[candidates:].sum(axis=0) + _WEAK * np.trace(products.mean(axis=0)) / r * np.eye(r)
    free, chosen = np.ones(candidates, bool), []
    for _ in range(count):
        best = int(np.argmax(np.where(free, _gains(rows[:candidates], M), -np.inf)))
        free[best] = False
        chosen.append(best)
        M = M + products[best]
    for _ in range(_ROUNDS):
        swapped = False
        for k, old in enumerate(chosen):
            without = M - products[old]
            gains = _gains(rows[:candidates], without)
            best = int(np.argmax(np.where(free, gains, -np.inf)))
            if free[best] and gains[best] > gains[old] + _BETTER:
                free[[old, best]] = True, False
                chosen[k], M, swapped = best, without + products[best], True
        if not swapped:
            break
    return np.array(sorted(chosen))


def _gains(rows: np.ndarray, M: np.ndarray) -> np.ndarray:
    """log det (M + AᵀA) - log det M = log det (1 + A M⁻¹ Aᵀ) (n,) of blocks A (m, r) of rows (n, m, r)."""
    half = rows @ np.linalg.inv(np.linalg.cholesky(M)).T
    return np.linalg.slogdet(np.eye(rows.shape[1]) + half @ np.swapaxes(half, 1, 2))[1]


def _choice(parameters, scales, visible, rows, chosen: np.ndarray, candidates: np.ndarray) -> PoseChoice:
    """The `PoseChoice` of the candidates number `chosen`."""
    used = np.concatenate([rows[chosen], rows[len(candidates) :]]).reshape(-1, rows.shape[-1])
    _, s, V = np.linalg.svd(used, full_matrices=True)
    s = np.pad(s, (0, len(V) - len(s)))
    seen = s > 1e-7 * s.max(initial=0.0)
    half = scales * (V[seen] @ visible) / s[seen, None]
    return PoseChoice(
        rows=chosen,
        q=candidates[chosen],
        log_det=float(2 * np.sum(np.log(s[seen]))) if seen.all() else -np.inf,
        errors=np.sqrt(np.sum(half**2, axis=0)),
        names=tuple(map(str, parameters)),
        unseen=in_words(V[~seen] @ visible, parameters),
    )
