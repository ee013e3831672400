"""Newton's method on the pose: it takes an answer that is nearly right to one that is right to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile import scan, while_loop
from ..definite import positive_solve
from ..lie import so3
from .axes import Axis
from .chains import Answer, Chain

__all__ = ["Refined", "distinct", "measured", "pose_and_twists", "refined"]

CLOSED = 2e-11  # [rad, sizes of the arm] an answer whose pose differs by less is exact
_FAR = 1e-3  # the damping of far poses, where nothing is gained by short steps
_SAME = 1e-7  # [rad, m] answers that differ by less are the same
_SMALL = 1e-28  # of the squared error: no step makes it smaller


class Refined(NamedTuple):
    """Coordinates (n,), and the square of the error that they leave; lengths count in sizes of the arm."""

    q: Any
    error2: Any


def pose_and_twists(axes: Sequence[Axis], q) -> tuple:
    """The rotation and position of E_0(q_0) ··· E_n(q_n), and each joint as seen there: its direction and a point."""
    R, p, seen = np.eye(3), np.zeros(3), []
    for a, x in zip(axes, q, strict=True):
        d = R @ a.direction
        if a.kind == "P":
            seen.append((d, None))
            p = p + x * d
        else:
            point = R @ a.point + p
            seen.append((d, point))
            R = R @ so3.from_axis_angle(a.direction, x)
            p = point - R @ a.point
    return R, p, seen


def measured(chain: Chain, T, q, held: int | None = None) -> tuple:
    """The error e (6,) of the pose at coordinates q (n,), and the Jacobian J (6, n): how q turns and moves the frame.

    e is the rotation vector and the translation from the frame to T, so that Jᵀ e is the slope of -|e|²/2. The
    coordinate `held` does not move: its column is 0.
    """
    R, p, seen = pose_and_twists(chain.axes, [g.follow(q[g.coordinate]) for g in chain.gears])
    R, p = R @ chain.home[:3, :3], R @ chain.home[:3, 3] + p
    columns = [np.zeros(6) for _ in range(chain.count)]
    for (d, x), g in zip(seen, chain.gears, strict=True):
        if g.coordinate != held:
            own = np.concatenate([np.zeros(3), d] if x is None else [d, np.cross(d, p - x)])
            columns[g.coordinate] = columns[g.coordinate] + g.factor * own
    e = np.concatenate([so3.log(T[:3, :3] @ R.T), T[:3, 3] - p])
    return e, np.stack(columns, axis=1)


def refined(chain: Chain, T, q, active, most: int = 12, held: int | None = None) -> Refined:
    """The coordinates after damped steps of Newton's method towards the pose T (4, 4), if `active` (a truth value).

    The step is (JᵀJ + μ)⁻¹ Jᵀ e with μ = λ |e|², up to a bound, which keeps the convergence quadratic and the step
    bounded where J is singular (Yamashita & Fukushima, 2001). A step that does not make the error less is tried again
    with 10 λ. Where the pose cannot be reached, the steps lead to the least error.
    """

    def step(state):
        q, e, J, damping, _ = state
        e2 = e @ e
        A = J.T @ J + (damping * np.minimum(e2, _FAR) + 1e-18) * np.eye(chain.count)
        move = positive_solve(A, J.T @ e)
        e_new, J_new = measured(chain, T, q + move, held)
        e2_new = e_new @ e_new
        better = e2_new < e2

        def kept(x, y):
            return np.where(better, x, y)

        damping = kept(np.maximum(0.1 * damping, 1.0), 10 * damping)
        on = (e2_new > _SMALL) & (damping < 1e8) & (move @ move > _SMALL)
        return kept(q + move, q), kept(e_new, e), kept(J_new, J), damping, np.where(on, 1.0, 0.0)

    e, J = measured(chain, T, q, held)
    start = (q, e, J, 1.0, np.where(active & (e @ e > _SMALL), 1.0, 0.0))
    q, e, *_ = while_loop(lambda state: state[-1] > 0, step, start, max_iterations=most)
    return Refined(q, e @ e)


def distinct(rows, chain: Chain) -> list[Answer]:
    """The answers of rows (k, n + 1) of coordinates and squared errors: exact if no exact row before is the same.

    Angles are wrapped to [-π, π]; full turns make no difference.
    """
    n, turns = chain.count, np.array(chain.turns)
    q = np.where(turns, _wrapped(rows[:, :n]), rows[:, :n])
    closed = rows[:, n] < CLOSED**2

    def first(_, own):
        row, before = own
        apart = q - row
        same = np.max(np.abs(np.where(turns, _wrapped(apart), apart)), axis=1) < _SAME
        return 0.0, np.max(np.where(same & closed, before, 0.0))

    _, known = scan(first, 0.0, (q, np.tril(np.ones((len(rows), len(rows))), -1)))
    return [Answer(tuple(q[k]), closed[k] & (known[k] == 0)) for k in range(len(rows))]


def _wrapped(angle):
    """Any angle, in [-π, π]."""
    return angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
