"""Polynomials of chapter 4 of Fu, Gonzalez & Lee: worked examples, problems, misprints, linear systems as oracle."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.arms import general

import adjoint as aj
from adjoint.errors import ArgumentError, SolveError
from adjoint.trajectory import (
    cubic,
    degree_seven,
    five_cubic,
    four_three_four,
    free_end_spline,
    normalised_coefficients,
    pick_and_place,
    quintic,
    three_five_three,
    withdrawn,
)

DEGREE = np.pi / 180
KNOTS = np.array([[30.0], [35.0], [95.0], [100.0]])
GENERAL = np.array([[10.0], [25.0], [70.0], [90.0]])
RATES = {"start_velocity": 5.0, "start_acceleration": 10.0, "goal_velocity": -4.0, "goal_acceleration": 6.0}
# scheme, degrees of its segments, and after which of them the two inner knots are
SCHEMES = {
    "4-3-4": (four_three_four, (4, 3, 4), (1, 2)),
    "3-5-3": (three_five_three, (3, 5, 3), (1, 2)),
    "5-cubic": (five_cubic, (3, 3, 3, 3, 3), (1, 4)),
}


def books(trajectory) -> list:
    """The book's coefficients of each segment of one joint, highest power first, without leading zeros."""
    return [np.trim_zeros(c[0, ::-1].round(12), "f") for c in normalised_coefficients(trajectory)]


def peaks(trajectory) -> tuple:
    x = trajectory(np.linspace(0, trajectory.duration, 200001))
    return np.abs(x.v).max(), np.abs(x.a).max()


def by_linear_solve(degrees, inner, knots, times, ends) -> np.ndarray:
    """Coefficients of one joint by all conditions as one linear system: a second formulation."""
    widths = np.array(degrees) + 1
    starts = np.concatenate([[0], np.cumsum(widths)])
    rows, right = [], []

    def condition(terms, value):
        row = np.zeros(starts[-1])
        for segment, s, order, sign in terms:
            for j in range(order, widths[segment]):
                falling = np.prod(np.arange(j - order + 1, j + 1), initial=1.0)
                row[starts[segment] + j] += sign * falling * s ** (j - order)
        rows.append(row)
        right.append(value)

    last = len(degrees) - 1
    for order in range(3):
        condition([(0, 0.0, order, 1)], (knots[0], *ends[0])[order])
        condition([(last, times[-1], order, 1)], (knots[3], *ends[1])[order])
        for k in range(last):
            condition([(k, times[k], order, 1), (k + 1, 0.0, order, -1)], 0.0)
    for k, knot in zip(inner, knots[1:3], strict=False):
        condition([(k, 0.0, 0, 1)], knot)
    c = np.linalg.solve(np.array(rows), np.array(right))
    padded = np.zeros((len(degrees), max(widths)))
    for k, width in enumerate(widths):
        padded[k, :width] = c[starts[k] : starts[k + 1]]
    return padded


# --- worked examples --------------------------------------------------------------------------------------------------


def test_434_from_rest_to_rest():
    trajectory = four_three_four(KNOTS, [0.4, 1.2, 0.4])
    for got, want in zip(
        books(trajectory), ([-2.5, 7.5, 0, 0, 30], [-45, 67.5, 37.5, 35], [2.5, -2.5, -7.5, 12.5, 95]), strict=True
    ):
        assert_allclose(got, want, atol=1e-10)
    inner = trajectory(trajectory.knots[1:3])
    assert_allclose(inner.v.ravel(), 31.25, atol=1e-10)
    assert_allclose(inner.a.ravel(), [93.75, -93.75], atol=1e-9)
    assert_allclose(peaks(trajectory), (59.375, 105.46875), rtol=1e-8)


def test_434_with_general_ends():
    got = books(four_three_four(GENERAL, [0.5, 1.0, 0.8], **RATES))
    assert_allclose(got[0], [-13.144444, 24.394444, 1.25, 2.5, 10], atol=1e-6)
    assert_allclose(got[1], [11.522222, -17.733333, 51.211111, 25], atol=1e-6)
    assert_allclose(got[2], [28.071111, -59.093333, 10.773333, 40.248889, 70], atol=1e-6)


def test_353_five_cubics_and_degree_7_through_the_same_knots():
    trajectory = three_five_three(KNOTS, [0.4, 1.2, 0.4])
    assert_allclose(books(trajectory)[1], [-180, 450, -390, 135, 45, 35], atol=1e-9)
    assert_allclose(books(trajectory)[2], [5, -15, 15, 95], atol=1e-10)
    assert_allclose(peaks(trajectory), (54.375, 187.5), rtol=1e-8)
    trajectory = five_cubic(KNOTS, [0.4] * 5)
    want = (
        [5, 0, 0, 30],
        [-25 / 3, 15, 15, 35],
        [20 / 3, -10, 20, 170 / 3],
        [-25 / 3, 10, 20, 220 / 3],
        [5, -15, 15, 95],
    )
    for got, expected in zip(books(trajectory), want, strict=True):
        assert_allclose(got, expected, atol=1e-9)
    assert_allclose(peaks(trajectory), (60, 187.5), rtol=1e-8)
    trajectory = degree_seven(KNOTS, [0.4, 1.2, 0.4])
    expected = [30, 0, 0, 135.5957, -185.86426, 121.34033, -42.08374, 6.01196]
    assert_allclose(trajectory.coefficients.ravel(), expected, atol=1e-5)
    assert_allclose(peaks(trajectory)[0], 59.613, atol=1e-3)


def test_degree_7_wanders():
    """Knots 0.2 s from the ends make it leave the range of its knots far behind."""
    trajectory = degree_seven([[30.0], [45.0], [85.0], [100.0]], [0.2, 1.6, 0.2])
    q = trajectory(np.linspace(0, 2, 20001)).q
    assert_allclose((q.min(), q.max()), (-5.10, 135.10), atol=0.01)


def test_five_cubics_with_general_ends():
    trajectory = five_cubic(GENERAL, [0.5, 0.4, 0.6, 0.5, 0.8], **RATES)
    assert_allclose([c[0] for c in books(trajectory)[1:4]], [-22.7378667, 66.6085636, -31.957197], atol=1e-6)
    x = trajectory(trajectory.knots[1:5])
    assert_allclose(x.q.ravel(), [25, 55.6621333, 30.569697, 70], atol=1e-6)
    assert_allclose(x.v.ravel(), [77.5, 18.966, 8.4068182, 85.4], atol=1e-6)
    assert_allclose(x.a.ravel(), [280, -572.67, 537.4727273, -229.5], atol=1e-6)


# --- problems ---------------------------------------------------------------------------------------------------------


def test_problems_41_and_42():
    """Six conditions need degree 5, or two quartics, or three cubics; two cubics are too few."""
    assert_allclose(quintic([30.0], [100.0], 2.0).coefficients.ravel(), [30, 0, 0, 87.5, -65.625, 13.125], atol=1e-10)
    assert_allclose(np.abs(cubic([30.0], [100.0], 2.0)([0.0, 2.0]).a), 105, rtol=1e-12)
    three = free_end_spline([[30.0], [100.0]], [0.5, 1.0, 0.5]).coefficients[:, 0]
    third = 140 / 3
    want = [30, 0, 0, third], [215 / 6, 35, 70, -third], [565 / 6, 35, -70, third]
    assert_allclose(three, want, atol=1e-12)
    none = 0.0, 0.0
    two = by_linear_solve((4, 4), (1,), [30.0, 65.0, None, 100.0], [1.0, 1.0], (none, none))
    assert_allclose(two, [[30, 0, 0, 70, -35], [65, 70, 0, -70, 35]], atol=1e-11)
    with pytest.raises(ValueError, match="square"):  # two cubics: 8 coefficients for 9 conditions
        by_linear_solve((3, 3), (), [30.0, None, None, 100.0], [1.0, 1.0], (none, none))


def test_problem_43_is_unreachable_as_stated_and_solved_nearby():
    """Two links of 1 m do not reach (1.96, 0.50)."""
    arm = aj.from_dh([[0, 0, 1, 0], [0, 0, 1, 0]], name="two links")

    def at(x, y):  # the position decides both angles, and the orientation follows from them
        c2 = (x * x + y * y - 2) / 2
        q2 = np.arccos(np.clip(c2, -1, 1))
        q1 = np.arctan2(y, x) - np.arctan2(np.sin(q2), 1 + np.cos(q2))
        T = aj.forward_kinematics(arm, [q1, q2], "tool").copy()
        T[:2, 3] = x, y
        return T

    with pytest.raises(SolveError, match="the start pose is out of reach"):
        pick_and_place(arm, at(1.96, 0.50), at(1.0, 0.75), "tool", lift=0.0, times=[0.5, 1, 0.5])
    trajectory = pick_and_place(arm, at(1.90, 0.50), at(1.0, 0.75), "tool", lift=0.0, times=[0.5, 1, 0.5])
    q = trajectory([0.0, trajectory.duration]).q / DEGREE
    assert_allclose(q, [[3.961, 21.565], [-14.448, 102.636]], atol=1e-3)


def matrix_of_434(t1, t2, tn) -> np.ndarray:
    """C of Eq. (4.3-46)."""
    return np.array([
        [1, 1, 0, 0, 0, 0, 0],
        [3 / t1, 4 / t1, -1 / t2, 0, 0, 0, 0],
        [6 / t1**2, 12 / t1**2, 0, -2 / t2**2, 0, 0, 0],
        [0, 0, 1, 1, 1, 0, 0],
        [0, 0, 1 / t2, 2 / t2, 3 / t2, -3 / tn, 4 / tn],
        [0, 0, 0, 2 / t2**2, 6 / t2**2, 6 / tn**2, -12 / tn**2],
        [0, 0, 0, 0, 0, 1, -1],
    ])  # fmt: skip


def test_problem_44_the_matrix_always_has_an_inverse():
    for t1, t2, tn in np.random.default_rng(0).uniform(0.1, 3, size=(50, 3)):
        det = 12 * (2 * t1 * t2 + t1 * tn + 3 * t2**2 + 2 * t2 * tn) / (t1**2 * t2**4 * tn**2)
        assert_allclose(np.linalg.det(matrix_of_434(t1, t2, tn)), det, rtol=1e-9)


def test_434_solves_the_books_own_equation():
    (v0, a0, vf, af), (t1, t2, tn) = RATES.values(), (0.5, 1.0, 0.8)
    d1, d2, dn = np.diff(GENERAL[:, 0])
    y = [d1 - a0 * t1**2 / 2 - v0 * t1, -a0 * t1 - v0, -a0, d2, -af * tn + vf, af, dn + af * tn**2 / 2 - vf * tn]
    a13, a14, a21, a22, a23, an3, an4 = np.linalg.solve(matrix_of_434(t1, t2, tn), y)
    got = books(four_three_four(GENERAL, [t1, t2, tn], **RATES))
    assert_allclose(got[0][:2], [a14, a13], atol=1e-9)
    assert_allclose(got[1][:3], [a23, a22, a21], atol=1e-9)
    assert_allclose(got[2][:2], [an4, an3 - 4 * an4], atol=1e-9)  # from t - 1 to t: Eq. (4.3-50)


def test_misprints_of_table_43_would_be_noticed():
    """As printed, without the 1/6 of a_f, σ is 24.561111; and a_2 with -2 a_1 t_2 needs t_2 = 1."""
    (v0, a0, vf, af), (t1, t2, tn) = RATES.values(), (0.5, 1.0, 0.8)
    d1, d2, dn = np.diff(GENERAL[:, 0])

    def sigma(share: float) -> float:
        g = tn / t2 + 2 * tn / t1 + 2 + 3 * t2 / t1
        f = 2 * d1 * (4 + 2 * tn / t2 + 2 * tn / t1 + 3 * t2 / t1) - d2 * t1 / t2 * (3 + tn / t2) + 2 * dn * t1 / tn
        f -= v0 * t1 * (6 + 6 * t2 / t1 + 4 * tn / t1 + 3 * tn / t2) + vf * t1
        return (f - a0 * t1 * tn * (5 / 3 + t1 / t2 + 2 * t1 / tn + 5 * t2 / (2 * tn)) + af * t1 * tn * share) / g

    right = books(four_three_four(GENERAL, [t1, t2, tn], **RATES))[0][1]
    assert_allclose(sigma(1 / 6), right, atol=1e-10)
    assert_allclose(sigma(1.0), 24.561111, atol=1e-6)
    slow = four_three_four(GENERAL, [0.5, 2.0, 0.8])
    inner = slow(slow.knots[1:3])
    (v1, _), (a1, a2) = inner.v.ravel(), inner.a.ravel()
    assert_allclose(a2, 6 * d2 / 4 - 6 * v1 / 2 - 2 * a1, atol=1e-9)
    assert abs(a2 - (6 * d2 / 4 - 6 * v1 / 2 - 2 * a1 * 2)) > 1


PUMA = aj.from_dh(
    [[0, 0, 0, -90 * DEGREE], [0, 0.1495, 0.432, 0], [0, 0, 0, 90 * DEGREE], [0, 0.432, 0, -90 * DEGREE],
     [0, 0, 0, 90 * DEGREE], [0, 0.0565, 0, 0]],
    name="puma of problem 4.5",
)  # fmt: skip
POSES = aj.forward_kinematics(PUMA, np.array([[90, 0, 90, 45, 60, 30], [45, 30, 100, -30, 45, 60]]) * DEGREE, "tool")
LIFT = 0.25 * 0.05625


def test_problem_45_the_given_poses_are_those_of_the_arm():
    assert_allclose(POSES[0, :3, 2], [-0.612, 0.5, -0.612], atol=5e-4)
    assert_allclose(1e3 * POSES[0, :3, 3], [-184.099, 892.25, -34.599], atol=5e-4)
    assert_allclose(1e3 * POSES[1, :3, 3], [412.876, 596.051, -545.869], atol=5e-4)


@pytest.mark.parametrize("scheme", ["4-3-4", "3-5-3", "5-cubic", "7"])
@pytest.mark.parametrize(
    ("lift_off", "set_down"),
    [
        ([89.424, 7.442, 73.962, 42.266, 66.625, 36.170], None),
        ([89.424, -8.596, 106.038, 48.654, 55.321, 23.111], [45.405, 24.964, 108.720, -32.003, 41.997, 63.132]),
    ],
)
def test_problem_45_both_elbows(scheme, lift_off, set_down):
    """Lift-off and set-down are 25 % of d6 out along -a; near the start the two elbows are two branches."""
    times = [0.4, 0.3, 0.5, 0.3, 0.4] if scheme == "5-cubic" else [0.4, 1.0, 0.4]
    start = np.array(lift_off) * DEGREE
    if set_down is None:  # on this branch the arm goes on with the other elbow
        trajectory = pick_and_place(PUMA, *POSES, "tool", lift=LIFT, times=times, scheme=scheme, start=start)
    else:
        found = aj.inverse_kinematics(PUMA, POSES[1], "tool")
        goal = aj.inverse.nearest_solution(PUMA, found, np.array(set_down) * DEGREE)
        back = pick_and_place(PUMA, *POSES[::-1], "tool", lift=LIFT, times=times[::-1], scheme=scheme, start=goal.q)
        trajectory = back.reversed()
    at = [times[0], sum(times) - times[-1]]
    T = aj.forward_kinematics(PUMA, trajectory(at).q, "tool")
    # The digest moved the printed pose, whose a has three digits; ours has them all.
    assert_allclose(1e3 * T[:, :3, 3], [[-175.493, 885.219, -25.993], [407.884, 598.090, -532.875]], atol=7e-3)
    assert_allclose(T[0], withdrawn(POSES[0], LIFT), atol=1e-9)
    assert_allclose(T[1], withdrawn(POSES[1], LIFT), atol=1e-9)
    q = trajectory(at).q / DEGREE
    assert_allclose(q[0], lift_off, atol=0.05)
    if set_down is not None:
        assert_allclose(q[1], set_down, atol=0.05)
    ends = trajectory([0.0, trajectory.duration])
    assert_allclose(aj.forward_kinematics(PUMA, ends.q, "tool"), POSES, atol=1e-9)
    assert_allclose(ends.v, 0, atol=1e-9)
    assert_allclose(ends.a, 0, atol=1e-8)


def test_problem_46_withdrawn_and_turned():
    T_initial, T_set_down = np.eye(4), np.eye(4)
    T_initial[:3, :3], T_initial[:3, 3] = np.diag([-1, 1, -1]), [0, 600, -100]
    T_set_down[:3, :3], T_set_down[:3, 3] = [[0, 1, 0], [1, 0, 0], [0, 0, -1]], [100, 400, -50]
    lift_off, final = withdrawn(T_initial, 14.0625, 60 * DEGREE), withdrawn(T_set_down, -14.0625, -60 * DEGREE)
    s = np.sqrt(3) / 2
    assert_allclose(lift_off[:3, :3], [[-0.5, 0, -s], [0, 1, 0], [s, 0, -0.5]], atol=1e-12)
    assert_allclose(lift_off[:3, 3], [0, 600, -85.9375], atol=1e-12)
    assert_allclose(final[:3, :3], [[0, 1, 0], [0.5, 0, -s], [-s, 0, -0.5]], atol=1e-12)
    assert_allclose(final[:3, 3], [100, 400, -64.0625], atol=1e-12)
    # Turned first: the way goes along the turned approach vector.
    for T, side, want in ((T_initial, 1, [12.1785, 600, -92.9688]), (T_set_down, -1, [100, 387.8215, -57.0312])):
        assert_allclose(withdrawn(withdrawn(T, 0, side * 60 * DEGREE), side * 14.0625)[:3, 3], want, atol=1e-4)


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_200_random_cases_against_a_linear_solve(scheme):
    make, degrees, inner = SCHEMES[scheme]
    rng = np.random.default_rng(1)
    knots, times = rng.uniform(-2, 2, size=(200, 4, 1)), rng.uniform(0.3, 2, size=(200, len(degrees)))
    v0, a0, vf, af = rng.normal(size=(4, 200, 1))
    rates = {"start_velocity": v0, "start_acceleration": a0, "goal_velocity": vf, "goal_acceleration": af}
    got = make(knots, times, **rates)
    for i in range(200):
        ends = (v0[i, 0], a0[i, 0]), (vf[i, 0], af[i, 0])
        want = by_linear_solve(degrees, inner, knots[i, :, 0], times[i], ends)
        assert_allclose(got[i].coefficients[:, 0], want, rtol=0, atol=1e-11 * np.abs(want).max())


def test_200_random_cases_of_degree_7():
    rng = np.random.default_rng(2)
    knots, times = rng.uniform(-2, 2, size=(200, 4, 2)), rng.uniform(0.3, 2, size=(200, 3))
    v0, a0, vf, af = rng.normal(size=(4, 200, 2))
    got = degree_seven(knots, times, start_velocity=v0, start_acceleration=a0, goal_velocity=vf, goal_acceleration=af)
    at = np.concatenate([np.zeros((200, 1)), np.cumsum(times, axis=1)], axis=1)
    x = got(at)
    size = np.abs(got.coefficients).max()
    assert_allclose(x.q, knots, atol=1e-13 * size)
    assert_allclose(x.v[:, [0, -1]], np.stack([v0, vf], axis=1), atol=1e-12 * size)
    assert_allclose(x.a[:, [0, -1]], np.stack([a0, af], axis=1), atol=1e-11 * size)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_reversal_and_scaling(scheme):
    """Backward, the same scheme with the knots and times in reverse; slower, the same path."""
    make, degrees, _ = SCHEMES[scheme]
    rng = np.random.default_rng(3)
    knots, times, rates = rng.normal(size=(4, 3)), rng.uniform(0.3, 2, size=len(degrees)), rng.normal(size=(2, 3))
    one = make(knots, times, start_velocity=rates[0], goal_acceleration=rates[1])
    back = make(knots[::-1], times[::-1], goal_velocity=-rates[0], start_acceleration=rates[1]).reversed()
    t = np.linspace(0, one.duration, 50)
    for got, want in zip(back(t), one(t), strict=True):
        assert_allclose(got[1:-1], want[1:-1], atol=1e-9)
    slow = make(knots, 3 * times, start_velocity=rates[0] / 3, goal_acceleration=rates[1] / 9)
    assert_allclose(slow(3 * t).q, one(t).q, atol=1e-11)


@pytest.mark.parametrize("scheme", [*SCHEMES, "7"])
def test_a_batch_is_a_loop(scheme):
    make, segments = (degree_seven, 3) if scheme == "7" else (SCHEMES[scheme][0], len(SCHEMES[scheme][1]))
    rng = np.random.default_rng(4)
    knots, times = rng.normal(size=(2, 5, 4, 3)), rng.uniform(0.5, 1, size=(5, segments))
    many = make(knots, times, start_velocity=[1.0, 0.0, -1.0])
    assert many.batch == (2, 5)
    for i in np.ndindex(2, 5):
        one = make(knots[i], times[i[1]], start_velocity=[1.0, 0.0, -1.0])
        assert_allclose(many[i].coefficients, one.coefficients, rtol=1e-13, atol=1e-13)
        assert_allclose(many[i].knots, one.knots, rtol=1e-15)


def test_normalised_coefficients_are_those_of_unit_time():
    one = quintic([0.0], [1.0], 2.0).followed_by(quintic([1.0], [0.0], 3.0))
    assert_allclose(normalised_coefficients(one)[:, 0, 3:], [[10, -15, 6], [-10, 15, -6]], atol=1e-12)


# --- pick and place ---------------------------------------------------------------------------------------------------


def test_pick_and_place_of_many_poses_is_a_loop():
    robot = aj.robots.puma560()
    rng = np.random.default_rng(0)
    q = np.array([0.3, -0.6, 2.2, 0.0, 1.1, 0.2]) + 0.3 * rng.uniform(-1, 1, size=(2, 4, 6))
    T_0, T_1 = aj.forward_kinematics(robot, q, "tool")
    many = pick_and_place(robot, T_0, T_1, "tool", lift=[0.05, 0.08], times=[0.4, 1.0, 0.4], start=q[0, 0])
    assert many.robot is robot and many.batch == (4,)
    for i in range(4):
        one = pick_and_place(robot, T_0[i], T_1[i], "tool", lift=[0.05, 0.08], times=[0.4, 1.0, 0.4], start=q[0, 0])
        assert_allclose(many[i].coefficients, one.coefficients, atol=1e-9)
    knots = aj.forward_kinematics(robot, many(many.knots[0]).q, "tool")
    assert_allclose(knots[:, 1], withdrawn(T_0, 0.05), atol=1e-9)
    assert_allclose(knots[:, 2], withdrawn(T_1, 0.08), atol=1e-9)


@pytest.mark.slow
def test_pick_and_place_of_an_arm_whose_branches_have_no_order():
    rng = np.random.default_rng(5)
    robot = general(rng)
    q = rng.uniform(-1, 1, size=6)
    T = aj.forward_kinematics(robot, [q, q + 0.2], robot.frame_names[-1])
    trajectory = pick_and_place(robot, T[0], T[1], robot.frame_names[-1], lift=0.02, times=[0.4, 1, 0.4], start=q)
    assert_allclose(trajectory([0.0, trajectory.duration]).q, [q, q + 0.2], atol=1e-6)


def test_poses_that_cannot_be_reached_are_named():
    robot = aj.robots.puma560()
    T = aj.forward_kinematics(robot, [[0.0, -0.5, 2.2, 0.0, 1.2, 0.0], [1.0, -0.4, 2.1, 0.0, 1.2, 0.5]], "tool")
    far = T.copy()
    far[:, 0, 3] += 2
    request = {"lift": 0.1, "times": [0.4, 1.0, 0.4]}
    with pytest.raises(SolveError, match="the start pose is out of reach"):
        pick_and_place(robot, far[0], T[1], "tool", **request)
    with pytest.raises(SolveError, match="the set-down pose of motion 1 is out of reach"):
        pick_and_place(robot, T[[0, 0]], np.stack([T[1], far[1]]), "tool", **request)
    with pytest.raises(SolveError, match="the lift-off pose is out of reach"):
        pick_and_place(robot, T[0], T[1], "tool", lift=[2.0, 0.1], times=[0.4, 1.0, 0.4])
    stiff = robot.replace(lower=np.full(6, 3.0), upper=np.full(6, 3.1))
    with pytest.raises(SolveError, match="at the start pose, every solution is outside the joint limits"):
        pick_and_place(stiff, T[0], T[1], "tool", **request)
    narrow = robot.replace(lower=[-0.2, *robot.lower[1:]], upper=[0.2, *robot.upper[1:]])
    with pytest.raises(SolveError, match=r"every solution is outside|no branch reaches all"):
        pick_and_place(narrow, T[0], T[1], "tool", **request)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scheme": "434"}, "did you mean '4-3-4'"),
        ({"lift": np.nan}, r"lift \[m\] must be one number or two"),
        ({"lift": [1, 2, 3]}, "one number or two"),
        ({"times": [1, 1, 0]}, r"times\[2\] is 0 s"),
        ({"scheme": "5-cubic"}, "must be 5 durations"),
        ({"T_goal": np.diag([1.0, 1, -1, 1])}, "T_goal is not a rigid motion"),
        ({"T_start": np.full((4, 4), np.nan)}, "T_start contains NaN"),
        ({"T_start": np.eye(3)}, "T_start must be poses"),
        ({"start": [0.0]}, "start"),
        ({"start": np.full(6, np.nan)}, "start contains NaN"),
        ({"start": np.zeros((3, 6)), "times": np.ones((2, 3))}, r"times \(2,\), start \(3,\)"),
        ({"T_start": np.stack([np.eye(4)] * 2), "T_goal": np.stack([np.eye(4)] * 3)}, r"T_start \(2,\), T_goal \(3,\)"),
        ({"scheme": ["4-3-4"]}, "no scheme"),
        ({"robot": "puma"}, "needs a Robot"),
    ],
)
def test_bad_requests_for_pick_and_place(change, says):
    robot = aj.robots.puma560()
    T = aj.forward_kinematics(robot, [[0.0, -0.5, 2.2, 0.0, 1.2, 0.0], [1.0, -0.4, 2.1, 0.0, 1.2, 0.5]], "tool")
    request = {"robot": robot, "T_start": T[0], "T_goal": T[1], "frame": "tool", "lift": 0.1, "times": [0.4, 1, 0.4]}
    with pytest.raises(ArgumentError, match=says):
        pick_and_place(**{**request, **change})


def test_bad_poses_to_withdraw():
    for given, says in (
        ((np.full((4, 4), np.nan), 0.1), "T contains NaN"),
        ((np.diag([1.0, 1, -1, 1]), 0.1), "T is not a rigid motion"),
        ((np.stack([np.eye(4)] * 3), [0.1, 0.2]), r"T \(3,\), distance \(2,\), turn \(\)"),
        ((np.eye(4), [0.1, 0.2, 0.3], [0.1, 0.2]), r"distance \(3,\), turn \(2,\)"),
    ):
        with pytest.raises(ArgumentError, match=says):
            withdrawn(*given)


def test_robots_with_joints_of_several_degrees_of_freedom_are_refused():
    robot = aj.robots.random_tree(0, 2, ["free", "revolute"])
    with pytest.raises(ArgumentError, match="free; pick_and_place is for joints with one degree"):
        pick_and_place(robot, np.eye(4), np.eye(4), "tool", lift=0.1, times=[1, 1, 1])


@pytest.mark.parametrize("make", [degree_seven, four_three_four, three_five_three])
@pytest.mark.parametrize(
    ("knots", "times", "rates", "says"),
    [
        (np.zeros((3, 2)), [1, 1, 1], {}, r"knots must be numbers \(\.\.\., N, n\), with 4 of them"),
        ([0, 1, 2, 3], [1, 1, 1], {}, "knots must be"),
        ("four", [1, 1, 1], {}, "knots must be"),
        (np.full((4, 1), np.nan), [1, 1, 1], {}, r"knots\[0, 0\] is nan"),
        (np.zeros((4, 1)), [1, 1], {}, "times must be 3 durations"),
        (np.zeros((4, 1)), [1, -1, 1], {}, r"times\[1\] is -1 s"),
        (np.zeros((4, 1)), [1, np.nan, 1], {}, r"times\[1\] is nan s"),
        (np.zeros((4, 1)), [1, 1, 1], {"start_velocity": [1.0, 2.0]}, "start_velocity"),
        (np.zeros((4, 1)), [1, 1, 1], {"goal_acceleration": np.inf}, "goal_acceleration"),
        (np.zeros((2, 4, 1)), np.ones((3, 3)), {}, "leading axes do not match: knots"),
    ],
)
def test_bad_input_is_named(make, knots, times, rates, says):
    with pytest.raises(ArgumentError, match=says) as error:
        make(knots, times, **rates)
    assert make.__name__ in str(error.value)


def test_five_cubics_need_five_times():
    with pytest.raises(ArgumentError, match="five_cubic: times must be 5 durations"):
        five_cubic(np.zeros((4, 1)), [1, 1, 1])
    with pytest.raises(ArgumentError, match="needs a Trajectory"):
        normalised_coefficients([1.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="withdrawn: T must be poses"):
        withdrawn(np.eye(3), 0.1)
    with pytest.raises(ArgumentError, match="finite"):
        withdrawn(np.eye(4), np.nan)
