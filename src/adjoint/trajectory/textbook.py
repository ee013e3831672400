"""Polynomials through lift-off and set-down knots, as in chapter 4 of Fu, Gonzalez & Lee (1987), "Robotics".

Equation numbers are those of the book. Its segments have normalised time, from 0 to 1; those of a `Trajectory` are in
seconds, and `normalised_coefficients` gives the book's. Where the book has misprints, the formulas here are right:

| place | printed | right |
|---|---|---|
| Table 4.3, f | a_f t_1 t_n | a_f t_1 t_n / 6 |
| Table 4.3, a_2 | -2 a_1 t_2 | -2 a_1 |
| Table 4.3, h_n | ± a_f t_n² / 2 in the powers 4 and 3 | ± a_f t_n² |
| Eq. (4.3-57) | ḣ | ḧ |
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel
from ..errors import ArgumentError
from .checks import common_batch, end_rates, knot_positions, segment_times
from .piecewise import Trajectory, pieced

__all__ = ["degree_seven", "five_cubic", "four_three_four", "normalised_coefficients", "three_five_three"]


def degree_seven(
    knots, times, *, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0, goal_acceleration=0.0
) -> Trajectory:
    """The single polynomial of degree 7 through start, lift-off, set-down and goal: Eq. (4.3-1).

    `knots` are (..., 4, n), `times` (..., 3) [s] the durations between them; the rates at both ends are (..., n) or one
    number for all joints. A polynomial of so high a degree may wander far from its knots; the other schemes do less so.

        >>> trajectory = degree_seven([[30.0], [35.0], [95.0], [100.0]], [0.4, 1.2, 0.4])
        >>> trajectory.coefficients.round(4).ravel().tolist()
        [30.0, 0.0, 0.0, 135.5957, -185.8643, 121.3403, -42.0837, 6.012]
    """
    start, goal = (start_velocity, start_acceleration), (goal_velocity, goal_acceleration)
    knots, times, first, last = _request("degree_seven", knots, times, 3, start, goal)
    c = _degree_seven(knots, times, first, last)
    return pieced(None, times[..., 0, :].sum(axis=-1, keepdims=True), c[..., None, :, :])


def four_three_four(
    knots, times, *, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0, goal_acceleration=0.0
) -> Trajectory:
    """The 4-3-4 trajectory through start, lift-off, set-down and goal: Eqs. (4.3-2) to (4.3-50), Table 4.3.

    `knots` are (..., 4, n), `times` (..., 3) [s] the durations t_1, t_2, t_n of the segments, of degrees 4, 3 and 4;
    the rates at both ends are (..., n) or one number for all joints. Velocity and acceleration are continuous.

        >>> trajectory = four_three_four([[30.0], [35.0], [95.0], [100.0]], [0.4, 1.2, 0.4])
        >>> normalised_coefficients(trajectory)[1].round(9).tolist()               # the cubic between the knots
        [[35.0, 37.5, 67.5, -45.0, 0.0]]
    """
    start, goal = (start_velocity, start_acceleration), (goal_velocity, goal_acceleration)
    return _segments(_four_three_four, *_request("four_three_four", knots, times, 3, start, goal))


def three_five_three(
    knots, times, *, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0, goal_acceleration=0.0
) -> Trajectory:
    """The 3-5-3 trajectory through start, lift-off, set-down and goal: Table 4.4.

    Arguments are those of `four_three_four`. The velocities at lift-off and set-down depend on the outer segments
    alone, so short ones make the middle one fast.

        >>> trajectory = three_five_three([[30.0], [35.0], [95.0], [100.0]], [0.4, 1.2, 0.4])
        >>> normalised_coefficients(trajectory)[1].round(9).tolist()
        [[35.0, 45.0, 135.0, -390.0, 450.0, -180.0]]
    """
    start, goal = (start_velocity, start_acceleration), (goal_velocity, goal_acceleration)
    return _segments(_three_five_three, *_request("three_five_three", knots, times, 3, start, goal))


def five_cubic(
    knots, times, *, start_velocity=0.0, start_acceleration=0.0, goal_velocity=0.0, goal_acceleration=0.0
) -> Trajectory:
    """The trajectory of five cubics through start, lift-off, set-down and goal: Eqs. (4.3-51) to (4.3-114).

    `knots` are (..., 4, n), `times` (..., 5) [s]. The third and the fourth of the six knots of five segments are not
    given but come out, so that velocity and acceleration are continuous. Rates are as in `four_three_four`.

        >>> trajectory = five_cubic([[30.0], [35.0], [95.0], [100.0]], [0.4] * 5)
        >>> trajectory(trajectory.knots).q.round(4).ravel().tolist()
        [30.0, 35.0, 56.6667, 73.3333, 95.0, 100.0]
    """
    start, goal = (start_velocity, start_acceleration), (goal_velocity, goal_acceleration)
    return _segments(_five_cubic, *_request("five_cubic", knots, times, 5, start, goal))


def normalised_coefficients(trajectory: Trajectory) -> np.ndarray:
    """The coefficients (..., K, n, degree + 1) in the book's time t of each segment, 0 to 1: h(t) = Σ_j c_j t^j.

    The book prints the highest power first, `[..., ::-1]`. Velocities are ḣ / t_k and accelerations ḧ / t_k², with the
    duration t_k of the segment: Eq. (4.3-2).
    """
    if not isinstance(trajectory, Trajectory):
        raise ArgumentError(f"normalised_coefficients needs a Trajectory, got {trajectory!r:.60}")
    h = np.diff(trajectory.knots, axis=-1)[..., None, None]
    return trajectory.coefficients * h ** np.arange(trajectory.degree + 1.0)


def _request(caller: str, knots, times, segments: int, start: tuple, goal: tuple) -> tuple:
    """Knots (..., n, 4), times (..., 1, segments), and rates (..., n, 2) at start and goal, of one batch."""
    knots = knot_positions(caller, knots, least=4, most=4)
    times = segment_times(caller, times, segments)
    n = knots.shape[-1]
    first, last = (end_rates(caller, n, v, a, label) for (v, a), label in ((start, "start"), (goal, "goal")))
    batch = common_batch(caller, knots=(knots, 2), times=(times, 1), start=(first, 2), goal=(last, 2))
    wide = [np.broadcast_to(x, (*batch, *x.shape[-2:])).swapaxes(-1, -2) for x in (knots, first, last)]
    return wide[0], np.broadcast_to(times, (*batch, segments))[..., None, :], *wide[1:]


def _segments(scheme, knots, times, first, last) -> Trajectory:
    """The trajectory of the segments that the kernel of a scheme gives for one joint."""
    return pieced(None, times[..., 0, :], np.moveaxis(scheme(knots, times, first, last), -2, -3))


# --- one joint --------------------------------------------------------------------------------------------------------


def _in_seconds(segments: list, times) -> np.ndarray:
    """Coefficients (K, order) in seconds, from those of normalised time, the constant first; short ones get zeros."""
    order = max(map(len, segments))
    rows = [
        np.stack([c / t**j for j, c in enumerate(segment)] + [0.0 * t] * (order - len(segment)))
        for segment, t in zip(segments, times, strict=True)
    ]
    return np.stack(rows)


@kernel(knots=4, times=3, start=2, goal=2)
def _degree_seven(knots, times, start, goal) -> np.ndarray:
    """The eight coefficients [per second] of Eq. (4.3-1).

    It is the quintic q_5 of the six conditions at both ends, and s³ (1 - s)³ (α + β s), which changes none of them; α
    and β follow from the two knots in between. s is the time over the whole duration.
    """
    T = times[0] + times[1] + times[2]
    s1, s2 = times[0] / T, (times[0] + times[1]) / T
    first = np.stack([knots[0], start[0] * T, start[1] * T * T])
    last = np.stack([knots[3], goal[0] * T, goal[1] * T * T])
    c = _quintic(first, last)
    y1, y2 = (
        (theta - sum(c[j] * s**j for j in range(6))) / (s * (1 - s)) ** 3
        for theta, s in ((knots[1], s1), (knots[2], s2))
    )
    beta = (y2 - y1) / (times[1] / T)
    alpha = y1 - beta * s1
    bump = (0.0, 0.0, 0.0, 1.0, -3.0, 3.0, -1.0, 0.0, 0.0)  # s³ (1 - s)³; the last entry is the one before the first
    c = [*c, 0.0 * T, 0.0 * T]
    return np.stack([(c[j] + alpha * bump[j] + beta * bump[j - 1]) / T**j for j in range(8)])


def _quintic(first, last) -> list:
    """The quintic over unit time between two states (x, ẋ, ẍ), as in Table 4.4."""
    x0, v0, a0 = first
    x1, v1, a1 = last
    d = x1 - x0
    return [
        x0,
        v0,
        a0 / 2,
        10 * d - 6 * v0 - 4 * v1 - 3 * a0 / 2 + a1 / 2,
        -15 * d + 8 * v0 + 7 * v1 + 3 * a0 / 2 - a1,
        6 * d - 3 * v0 - 3 * v1 - a0 / 2 + a1 / 2,
    ]


@kernel(knots=4, times=3, start=2, goal=2)
def _four_three_four(knots, times, start, goal) -> np.ndarray:
    """Coefficients (3, 5) [per second]: Table 4.3, corrected, which solves Eq. (4.3-46) for σ = a_13.

    det C = 12 (2 t1 t2 + t1 tn + 3 t2² + 2 t2 tn) / (t1² t2⁴ tn²) > 0, so there is always one solution (problem 4.4).
    """
    (t1, t2, tn), (v0, a0), (vf, af) = times, start, goal
    d1, d2, dn = knots[1] - knots[0], knots[2] - knots[1], knots[3] - knots[2]
    g = tn / t2 + 2 * tn / t1 + 2 + 3 * t2 / t1
    f = (
        2 * d1 * (4 + 2 * tn / t2 + 2 * tn / t1 + 3 * t2 / t1)
        - d2 * t1 / t2 * (3 + tn / t2)
        + 2 * dn * t1 / tn
        - v0 * t1 * (6 + 6 * t2 / t1 + 4 * tn / t1 + 3 * tn / t2)
        - vf * t1
        - a0 * t1 * tn * (5 / 3 + t1 / t2 + 2 * t1 / tn + 5 * t2 / (2 * tn))
        + af * t1 * tn / 6
    )
    sigma = f / g
    v1 = 4 * d1 / t1 - 3 * v0 - a0 * t1 - sigma / t1
    a1 = 12 * d1 / t1**2 - 12 * v0 / t1 - 5 * a0 - 6 * sigma / t1**2
    v2 = 3 * d2 / t2 - 2 * v1 - a1 * t2 / 2
    a2 = 6 * d2 / t2**2 - 6 * v1 / t2 - 2 * a1
    h1 = [knots[0], v0 * t1, a0 * t1**2 / 2, sigma, d1 - v0 * t1 - a0 * t1**2 / 2 - sigma]
    h2 = [knots[1], v1 * t2, a1 * t2**2 / 2, d2 - v1 * t2 - a1 * t2**2 / 2]
    h3 = 4 * dn - 3 * v2 * tn - a2 * tn**2 - vf * tn
    h4 = -3 * dn + 2 * v2 * tn + a2 * tn**2 / 2 + vf * tn
    return _in_seconds([h1, h2, [knots[2], v2 * tn, a2 * tn**2 / 2, h3, h4]], (t1, t2, tn))


def _outer_cubics(d1, dn, t1, tn, start, goal) -> tuple:
    """The first and the last cubic without their constants, and (v, a) where they meet the middle: Table 4.4."""
    (v0, a0), (vf, af) = start, goal
    first = [v0 * t1, a0 * t1**2 / 2, d1 - v0 * t1 - a0 * t1**2 / 2]
    last = [
        3 * dn - 2 * vf * tn + af * tn**2 / 2,
        -3 * dn + 3 * vf * tn - af * tn**2,
        dn - vf * tn + af * tn**2 / 2,
    ]
    after_first = 3 * d1 / t1 - 2 * v0 - a0 * t1 / 2, 6 * d1 / t1**2 - 6 * v0 / t1 - 2 * a0
    before_last = 3 * dn / tn - 2 * vf + af * tn / 2, -6 * dn / tn**2 + 6 * vf / tn - 2 * af
    return first, last, after_first, before_last


@kernel(knots=4, times=3, start=2, goal=2)
def _three_five_three(knots, times, start, goal) -> np.ndarray:
    """Coefficients (3, 6) [per second]: Table 4.4."""
    t1, t2, tn = times
    first, last, (v1, a1), (v2, a2) = _outer_cubics(knots[1] - knots[0], knots[3] - knots[2], t1, tn, start, goal)
    middle = _quintic((knots[1], v1 * t2, a1 * t2**2), (knots[2], v2 * t2, a2 * t2**2))
    return _in_seconds([[knots[0], *first], middle, [knots[2], *last]], (t1, t2, tn))


@kernel(knots=4, times=5, start=2, goal=2)
def _five_cubic(knots, times, start, goal) -> np.ndarray:
    """Coefficients (5, 4) [per second]: Eqs. (4.3-51) to (4.3-114)."""
    t1, t2, t3, t4, tn = times
    first, last, (v1, a1), (v4, a4) = _outer_cubics(knots[1] - knots[0], knots[3] - knots[2], t1, tn, start, goal)
    u = t2 + t3 + t4
    k1 = knots[2] - knots[1] - v1 * u - a1 * u**2 / 2
    k2 = (v4 - v1 - a1 * u - (a4 - a1) * u / 2) / 3
    k3 = (a4 - a1) / 6
    c = 3 * u**2 - 3 * u * t2 + t2**2
    d = 3 * t4**2 + 3 * t3 * t4 + t3**2
    x1 = k1 * (u - t2) + k2 * (t4**2 - d) - k3 * ((u - t4) * d + t4**2 * (t4 - t2))
    x2 = -k1 * (u + t3) + k2 * (c - t4**2) + k3 * ((u - t4) * c + t4**2 * (u - t2))
    D = u * (u - t2) * (u - t4)
    # Each cubic ends where the next one begins: a_j3 = t_j² x_j / D. The third, x3, makes the fourth end at set-down.
    theta, v, a, middle = knots[1], v1, a1, []
    for t, cube in ((t2, t2**2 * x1 / D), (t3, t3**2 * x2 / D)):
        middle.append([theta, v * t, a * t**2 / 2, cube])
        theta, v, a = theta + v * t + a * t**2 / 2 + cube, v + a * t + 3 * cube / t, a + 6 * cube / t**2
    middle.append([theta, v * t4, a * t4**2 / 2, knots[2] - theta - v * t4 - a * t4**2 / 2])
    return _in_seconds([[knots[0], *first], *middle, [knots[2], *last]], (t1, t2, t3, t4, tn))
