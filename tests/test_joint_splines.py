"""Splines through knots: SciPy as oracle, conditions at the ends, continuity on the manifold, misprints of the book."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline, make_smoothing_spline
from scipy.optimize import minimize

import adjoint as aj
from adjoint.errors import ArgumentError, SolveError
from adjoint.model.configuration import difference, random_configuration
from adjoint.trajectory import b_spline, free_end_spline, smoothing_spline, spline

rng = np.random.default_rng(0)
ENDS = ("clamped", "natural", "not-a-knot")
KNOTS = np.arange(10.0).reshape(5, 2)
TIMES = np.arange(5.0)


def request(N: int = 8, n: int = 3, batch: tuple = ()) -> tuple:
    """Knots, their times from 0, and rates at both ends."""
    u = rng.uniform(0.2, 2, size=(*batch, N - 1))
    times = np.concatenate([np.zeros((*batch, 1)), np.cumsum(u, axis=-1)], axis=-1)
    names = "start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration"
    return rng.normal(size=(*batch, N, n)), times, dict(zip(names, rng.normal(size=(4, *batch, n)), strict=True))


def effective(rates: dict, degree: int, ends: str) -> dict:
    """Those of the rates that have an effect."""
    used = {"clamped": "velocity", "natural": "acceleration", "not-a-knot": "none"}[ends]
    return {name: x for name, x in rates.items() if degree == 5 or name.endswith(used)}


def jumps(trajectory, orders: int) -> list[float]:
    """The largest differences of the derivatives up to an order from the end of a piece to the start of the next."""
    h = np.diff(trajectory.knots, axis=-1)[..., None]
    c, found = trajectory.coefficients, []
    for _ in range(orders + 1):
        end = (c * h[..., None] ** np.arange(c.shape[-1])).sum(axis=-1)
        found.append(np.abs(end[..., :-1, :] - c[..., 1:, :, 0]).max(initial=0.0))
        c = c[..., 1:] * np.arange(1, c.shape[-1])
    return found


# --- interpolating ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ends", "N"), [(e, N) for e in ENDS for N in (2, 3, 4, 9) if e != "not-a-knot" or N > 3])
def test_cubic_splines_are_those_of_scipy(ends, N):
    q, times, rates = request(N)
    v_0, v_1, a_0, a_1 = rates.values()
    conditions = {"clamped": ((1, v_0), (1, v_1)), "natural": ((2, a_0), (2, a_1)), "not-a-knot": "not-a-knot"}[ends]
    want = np.moveaxis(CubicSpline(times, q, bc_type=conditions).c[::-1], 0, -1)
    got = spline(q, times, ends=ends, **effective(rates, 3, ends))
    assert_allclose(got.coefficients, want, atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize("N", [2, 3, 9])
def test_quintic_splines_are_those_of_scipy(N):
    q, times, rates = request(N)
    v_0, v_1, a_0, a_1 = rates.values()
    want = make_interp_spline(times, q, k=5, bc_type=([(1, v_0), (2, a_0)], [(1, v_1), (2, a_1)]))
    got = spline(q, times, degree=5, **rates)
    t = np.linspace(0, times[-1], 200)
    for order, x in enumerate(got(t)):
        size = np.abs(want(t, order)).max()
        assert_allclose(x[1:-1], want(t, order)[1:-1], atol=1e-10 * size)
    assert max(jumps(got, 4)) < 1e-9 * np.abs(got.coefficients).max()


def test_a_spline_through_samples_of_a_cubic_is_this_cubic():
    c = rng.normal(size=(4, 2))
    t = np.array([0.0, 0.4, 1.0, 1.1, 2.0])
    q = t[:, None] ** np.arange(4) @ c
    for ends in ENDS[::2]:
        rates = {"start_velocity": c[1], "goal_velocity": c[1] + 4 * c[2] + 12 * c[3]}
        got = spline(q, t, ends=ends, **effective(rates, 3, ends))
        assert_allclose(got.coefficients[0].T, c, atol=1e-11)


def test_times_and_durations_are_two_ways_to_say_the_same():
    q, times, _ = request()
    one = spline(q, times + 5.0)
    assert_allclose(one.knots, times, atol=1e-14)
    assert_allclose(spline(q, durations=np.diff(times)).coefficients, one.coefficients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("degree", "ends"), [*((3, ends) for ends in ENDS), (5, "clamped")])
def test_a_batch_is_a_loop(degree, ends):
    q, times, rates = request(6, 2, (3, 4))
    rates = effective(rates, degree, ends)
    many = spline(q, times, degree=degree, ends=ends, **rates)
    for i in np.ndindex(3, 4):
        one = spline(q[i], times[i], degree=degree, ends=ends, **{name: x[i] for name, x in rates.items()})
        assert_allclose(many[i].coefficients, one.coefficients, rtol=1e-12, atol=1e-12)


# --- on the manifold --------------------------------------------------------------------------------------------------


def smooth_knots(robot, N: int) -> np.ndarray:
    """Configurations, each a moderate step from the one before."""
    q = [random_configuration(robot, rng=rng)]
    for _ in range(N - 1):
        q.append(aj.integrate(robot, q[-1], 0.5 * rng.normal(size=robot.nv)))
    return np.array(q)


ROBOT = aj.robots.random_tree(3, 5, ["free", "spherical", "revolute", "prismatic", "planar"])


@pytest.mark.slow
@pytest.mark.parametrize("degree", [3, 5])
def test_splines_on_the_manifold(degree):
    """They pass all knots, with continuous velocity and acceleration, and v and a are the derivatives of q and v."""
    q, times = smooth_knots(ROBOT, 6), np.cumsum([0.0, 1.0, 0.5, 1.5, 1.0, 0.7])
    v_0, v_1 = rng.normal(size=(2, ROBOT.nv))
    one = spline(q, times, degree=degree, robot=ROBOT, start_velocity=v_0, goal_velocity=v_1)
    assert_allclose(difference(ROBOT, one(times).q, q), 0.0, atol=1e-12)
    ends = one([0.0, times[-1]])
    assert_allclose(ends.v, [v_0, v_1], atol=1e-11)
    h = 1e-7
    before, after = one(times[1:-1] - h), one(times[1:-1] + h)
    size = np.abs(one(np.linspace(0, times[-1], 100)).jerk).max()
    assert_allclose(before.v, after.v, atol=10 * h * size)
    assert_allclose(before.a, after.a, atol=10 * h * size)
    t, h = np.linspace(0.1, times[-1] - 0.1, 33), 1e-5
    x, early, late = one(t), one(t - h), one(t + h)
    assert_allclose(difference(ROBOT, early.q, late.q) / (2 * h), x.v, atol=1e-6 * size)
    assert_allclose((late.v - early.v) / (2 * h), x.a, atol=1e-6 * size)


def test_ordinary_joints_of_such_a_robot_move_on_the_very_cubic_spline():
    q, times = smooth_knots(ROBOT, 5), np.array([0.0, 1.0, 1.5, 2.5, 3.0])
    one = spline(q, times, robot=ROBOT)
    at = ROBOT.layout
    t = np.linspace(0, 3, 50)
    for i, kind in enumerate(ROBOT.joint_types):
        if kind in ("revolute", "prismatic"):
            want = CubicSpline(times, q[:, at.q_start[i]], bc_type="clamped")
            assert_allclose(one(t).q[:, at.q_start[i]], want(t), atol=1e-12)
            assert_allclose(one(t).a[:-1, at.v_start[i]], want(t, 2)[:-1], atol=1e-10)


def test_a_batch_on_the_manifold_is_a_loop():
    q, times = np.stack([smooth_knots(ROBOT, 4) for _ in range(3)]), np.array([0.0, 1.0, 2.0, 2.5])
    many = spline(q, times, robot=ROBOT)
    for i in range(3):
        assert_allclose(many[i].coefficients, spline(q[i], times, robot=ROBOT).coefficients, atol=1e-11)


# --- free end knots ---------------------------------------------------------------------------------------------------


def test_the_spline_of_lin_chang_and_luh():
    one = free_end_spline([[30.0], [50.0], [80.0], [100.0]], np.ones(5))
    x = one(one.knots)
    assert_allclose(x.q.ravel(), [30, 32.77777778, 50, 80, 97.22222222, 100], atol=1e-8)
    assert_allclose(x.v.ravel(), [0, 25 / 3, 80 / 3, 80 / 3, 25 / 3, 0], atol=1e-12)
    assert_allclose(x.a.ravel(), [0, 50 / 3, 20, -20, -50 / 3, 0], atol=1e-12)
    dense = one(np.linspace(0, 5, 5001))
    assert_allclose([np.abs(y).max() for y in dense[1:]], [31.666667, 20, 40], atol=1e-4)


@pytest.mark.parametrize("N", [2, 3, 4, 8])
def test_free_end_splines_meet_all_conditions(N):
    """Against a system of all conditions: every knot, four rates at the ends, and three continuous derivatives."""
    q, _, rates = request(N)
    u = rng.uniform(0.2, 2, size=N + 1)
    one = free_end_spline(q, u, **rates)
    v_0, v_1, a_0, a_1 = rates.values()
    x, size = one([0.0, one.duration]), np.abs(one.coefficients).max()
    given = one.knots[[0, *range(2, N), -1]]
    assert_allclose(one(given).q, q, atol=1e-13 * size)
    assert_allclose(x.v, [v_0, v_1], atol=1e-12 * size)
    assert_allclose(x.a, [a_0, a_1], atol=1e-11 * size)
    assert max(jumps(one, 2)) < 1e-12 * size


def test_free_end_splines_of_a_batch_and_in_reverse():
    q, _, rates = request(5, 2, (3,))
    u = rng.uniform(0.3, 1, size=(3, 6))
    many = free_end_spline(q, u, **rates)
    v_0, v_1, a_0, a_1 = rates.values()
    back = free_end_spline(
        q[:, ::-1], u[:, ::-1], start_velocity=-v_1, goal_velocity=-v_0, start_acceleration=a_1, goal_acceleration=a_0
    ).reversed()
    for i in range(3):
        one = free_end_spline(q[i], u[i], **{name: x[i] for name, x in rates.items()})
        assert_allclose(many[i].coefficients, one.coefficients, rtol=1e-12, atol=1e-12)
        assert_allclose(back[i].coefficients, one.coefficients, rtol=1e-9, atol=1e-9)


def matrix_of_lin(u: np.ndarray, *, as_printed: bool = False) -> np.ndarray:
    """A of Eq. (4.4-65), for n - 1 = len(u) segments."""
    A = np.diag(2 * (u[:-1] + u[1:])) + np.diag(u[1:-1], 1) + np.diag(u[1:-1], -1)
    A[0, 0] += u[0] + u[0] ** 2 / u[1]
    A[1, 0] += (1 if as_printed else -1) * u[0] ** 2 / u[1]
    A[-1, -1] += u[-1] + u[-1] ** 2 / u[-2]
    A[-2, -1] -= u[-1] ** 2 / u[-2]
    return A


def test_problem_411_the_diagonal_dominates_each_column():
    for _ in range(200):
        u = 10.0 ** rng.uniform(-2, 2, size=rng.integers(4, 10))
        A = np.abs(matrix_of_lin(u))
        assert (2 * np.diag(A) > A.sum(axis=0)).all()


def test_the_misprinted_sign_of_a21_makes_another_spline():
    u, q = np.array([1.0, 0.5, 1.0, 1.0, 1.0]), np.array([30.0, 50.0, 80.0, 100.0])
    e = np.array([30.0, 30.0, 50.0, 80.0, 100.0, 100.0])
    b = 6 * (np.diff(e)[1:] / u[1:] - np.diff(e)[:-1] / u[:-1])
    one = free_end_spline(q[:, None], u)
    w = one(one.knots[1:-1]).a.ravel()
    assert_allclose(np.linalg.solve(matrix_of_lin(u), b), w, atol=1e-10)
    assert np.abs(np.linalg.solve(matrix_of_lin(u, as_printed=True), b) - w).max() > 1
    # The last entry of b, printed with 6 q_{n-2} / (u_{n-1} u_{n-2}), is right only by chance, for u_{n-1} = 1.
    assert_allclose(b[-1], 6 * ((100 - 100) / u[-1] - 100 / u[-2]) + 6 * 80 / u[-2], atol=1e-10)


# --- smoothing --------------------------------------------------------------------------------------------------------


def noisy(N: int = 40) -> tuple[np.ndarray, np.ndarray]:
    t = np.cumsum(rng.uniform(0.01, 0.05, size=N))
    return t - t[0], np.stack([np.sin(3 * t), t**2], axis=1) + 0.02 * rng.normal(size=(N, 2))


def cost(trajectory, t, y, w, smoothness) -> float:
    """Σ w (x - y)² + λ ∫ ẍ² dt, with the integral of the square of linear accelerations in closed form."""
    a = trajectory(t).a
    bending = (np.diff(t)[:, None] * (a[:-1] ** 2 + a[:-1] * a[1:] + a[1:] ** 2) / 3).sum()
    return (w[:, None] * (trajectory(t).q - y) ** 2).sum() + smoothness * bending


@pytest.mark.slow
def test_a_smoothing_spline_has_the_least_cost():
    """No other cubic spline with the same velocities at its ends costs less."""
    t, y = noisy(12)
    w, smoothness = rng.uniform(0.5, 2, size=12), 1e-3
    v = {"start_velocity": [1.0, 0.0], "goal_velocity": [0.0, -1.0]}
    one = smoothing_spline(y, t, smoothness=smoothness, weights=w, **v)
    least = cost(one, t, y, w, smoothness)
    x = one(t).q
    best = minimize(
        lambda z: cost(spline(z.reshape(x.shape), t, **v), t, y, w, smoothness), x.ravel() + 1e-3, method="BFGS",
        options={"gtol": 1e-9},
    )  # fmt: skip
    assert least <= best.fun * (1 + 1e-9)
    assert_allclose(best.x, x.ravel(), atol=1e-4)


def test_a_smoothing_spline_of_free_ends_is_near_that_of_scipy():
    """SciPy's has no acceleration at its ends; with its own velocities there, ours is the same spline."""
    t, y = noisy()
    for k in range(2):
        want = make_smoothing_spline(t, y[:, k], lam=1e-4)
        v = {"start_velocity": float(want(t[0], 1)), "goal_velocity": float(want(t[-1], 1))}
        got = smoothing_spline(y[:, k : k + 1], t, smoothness=1e-4, weights=np.ones(len(t)), **v)
        assert_allclose(got(t).q[:, 0], want(t), atol=1e-9)


def test_tolerance_is_kept_and_used():
    t, y = noisy()
    one = smoothing_spline(y, t, tolerance=[0.03, 0.05], start_velocity=3.0, goal_velocity=0.0)
    off = np.abs(one(t).q - y)
    assert (off.max(axis=0) <= [0.03, 0.05]).all()
    assert (off.max(axis=0) > [0.0299, 0.0499]).all()
    assert_allclose(one(t[[0, -1]]).q, y[[0, -1]], atol=1e-12)  # start and goal are exact
    assert_allclose(one(t[[0, -1]]).v, [[3, 3], [0, 0]], atol=1e-9)
    assert max(jumps(one, 2)) < 1e-9 * np.abs(one.coefficients).max()


def test_smoothing_has_the_interpolating_spline_and_the_cubic_as_its_limits():
    t, y = noisy()
    assert_allclose(smoothing_spline(y, t, smoothness=0.0).coefficients, spline(y, t).coefficients, atol=1e-6)
    flat = smoothing_spline(y, t, tolerance=10.0)
    want = spline(y[[0, -1]], t[[0, -1]])
    assert_allclose(flat(t).q, want(t).q, atol=1e-4)
    many = smoothing_spline(np.stack([y, 2 * y]), t, smoothness=1e-4)
    assert_allclose(
        many[1].coefficients, 2 * smoothing_spline(y, t, smoothness=1e-4).coefficients, rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("weights", [None, np.full(5, 1e-300), np.full(5, 1e-12)])
def test_smoothness_that_is_too_large_and_extreme_times(weights):
    for smoothness in (1e30, 1e300):
        with pytest.raises(SolveError, match="too large for times between knots"):
            smoothing_spline(KNOTS**2, TIMES, smoothness=smoothness, weights=weights)
    for unit in (1e-38, 1e38):
        one = smoothing_spline(KNOTS**2, TIMES * unit, tolerance=0.1)
        assert np.abs(one(one.knots).q - KNOTS**2).max() <= 0.1 * (1 + 1e-9)


# --- B-splines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_b_splines_are_those_of_scipy(degree):
    points = rng.normal(size=(9, 2))
    got = b_spline(points, 3.0, degree=degree)
    segments = 9 - degree
    knots = np.concatenate([np.zeros(degree), np.linspace(0, 3, segments + 1), np.full(degree, 3.0)])
    want, t = BSpline(knots, points, degree), np.linspace(0, 3, 100)[1:-1]
    for order, x in enumerate(got(t)[: degree + 1]):
        assert_allclose(x, want(t, order), atol=1e-9)
    assert got.pieces == segments
    if degree > 1:
        assert max(jumps(got, degree - 1)) < 1e-9 * np.abs(got.coefficients).max()


def test_b_splines_of_a_batch_stay_in_the_hull_and_rest_where_points_are_equal():
    points = rng.normal(size=(4, 8, 2))
    points[:, 1], points[:, 2] = points[:, 0], points[:, 0]
    many = b_spline(points, [1.0, 2.0, 3.0, 4.0])
    assert_allclose(many.duration, [1, 2, 3, 4])
    x = many([0.0])
    assert_allclose(x.q[:, 0], points[:, 0], atol=1e-14)
    assert_allclose(np.concatenate([x.v, x.a]), 0, atol=1e-11)
    q = many(many.knots[:, -1:] * np.linspace(0, 1, 50)).q
    assert (q <= points.max(axis=1, keepdims=True) + 1e-12).all()
    assert (q >= points.min(axis=1, keepdims=True) - 1e-12).all()


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: spline(KNOTS, [0, 1, 2, 2, 3]), r"times\[2\] is 2 and times\[3\] is 2"),
        (lambda: spline(KNOTS, [0, 1, np.nan, 2, 3]), r"times\[1\] is 1 and times\[2\] is nan"),
        (lambda: spline(KNOTS, TIMES[1:]), "times must be those of the 5 knots"),
        (lambda: spline(KNOTS), "either the times of its 5 knots or the durations"),
        (lambda: spline(KNOTS, TIMES, durations=[1] * 4), "either the times"),
        (lambda: spline(KNOTS, durations=[1, 1, 0, 1]), r"durations\[2\] is 0 s"),
        (lambda: spline(KNOTS[:1], [0.0]), "at least 2"),
        (lambda: spline(KNOTS * np.nan, TIMES), r"knots\[0, 0\] is nan"),
        (lambda: spline(KNOTS, TIMES, ends="clampt"), "did you mean 'clamped'"),
        (lambda: spline(KNOTS, TIMES, degree=4), "degree must be 3 or 5"),
        (lambda: spline(KNOTS, TIMES, degree=5, ends="foo"), "no ends 'foo'"),
        (lambda: spline(KNOTS, TIMES, degree=5, ends="natural"), "ends='natural' is of cubics"),
        (lambda: spline(KNOTS, TIMES, goal_acceleration=1.0), "goal_acceleration has no effect .* ends='clamped'"),
        (lambda: spline(KNOTS, TIMES, ends="natural", start_velocity=1.0), "start_velocity has no effect"),
        (lambda: spline(KNOTS, TIMES, ends="not-a-knot", goal_velocity=[0.0, 1.0]), "goal_velocity has no effect"),
        (lambda: spline(KNOTS, [0, 1e-300, 1, 2, 3]), r"times\[0\] is 0 and times\[1\] is 1e-300"),
        (lambda: spline(KNOTS, [0, 1, 2, 3, 1e200]), r"times\[4\] is 1e\+200"),
        (lambda: spline(np.zeros((2, ROBOT.nq)), [0, 1], robot=ROBOT), r"knots has a quaternion \(0, 0, 0, 0\)"),
        (lambda: smoothing_spline(KNOTS, TIMES, smoothness=np.inf), "smoothness must be a positive number"),
        (lambda: spline(KNOTS[:3], TIMES[:3], ends="not-a-knot"), "needs at least 4 knots"),
        (lambda: spline(KNOTS, TIMES, start_velocity=[1.0, 2.0, 3.0]), "start_velocity"),
        (lambda: spline(KNOTS, TIMES, robot=aj.robots.puma560()), "knots"),
        (lambda: spline(KNOTS, TIMES, robot="puma"), "needs a Robot"),
        (lambda: spline(np.zeros((2, 5, 1)), np.tile(TIMES, (3, 1))), "leading axes do not match"),
        (lambda: free_end_spline(KNOTS, [1] * 5), "durations must be 6 durations"),
        (lambda: free_end_spline(KNOTS, [1, 1, 1, 1, 1, -1]), r"durations\[5\] is -1 s"),
        (lambda: free_end_spline(KNOTS, [1] * 6, robot=ROBOT), "for joints of one degree of freedom"),
        (lambda: free_end_spline(KNOTS, [1] * 6, robot=aj.robots.puma560()), "has 6 joints; knots of 2"),
        (lambda: smoothing_spline(KNOTS, TIMES), "either a tolerance"),
        (lambda: smoothing_spline(KNOTS, TIMES, tolerance=0.1, smoothness=1), "either a tolerance"),
        (lambda: smoothing_spline(KNOTS, TIMES, tolerance=0.0), "tolerance must be a positive number"),
        (lambda: smoothing_spline(KNOTS, TIMES, smoothness=-1.0), "smoothness must be a positive number"),
        (lambda: smoothing_spline(KNOTS, TIMES, smoothness=1.0, weights=[1, 2]), "weights must be 5 positive"),
        (lambda: smoothing_spline(KNOTS[:2], TIMES[:2], smoothness=1.0), "at least 3"),
        (lambda: b_spline(KNOTS, 1.0), "control_points must be numbers"),
        (lambda: b_spline(KNOTS, 0.0, degree=3), "duration must be a positive time"),
        (lambda: b_spline(KNOTS, 1.0, degree=2.5), "degree must be a whole number"),
        (lambda: b_spline(KNOTS, 1.0, degree=3, robot=ROBOT), "for joints of one degree of freedom"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ArgumentError, match=says):
        call()
