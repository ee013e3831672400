"""Motions of a frame: samples, pieces of them, products, profiles; screw motions, arcs and splines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import adjoint as aj
from adjoint.lie import se3, so3
from adjoint.trajectory import (
    PoseTrajectory,
    arc,
    circle,
    cubic,
    line,
    lines,
    paul_lines,
    pose_spline,
    quintic,
    screw_motion,
)
from adjoint.trajectory.polynomials import composed

rng = np.random.default_rng(0)
POSES = se3.compose(se3.random(rng=1), se3.exp(np.cumsum(0.6 * rng.normal(size=(5, 6)), axis=0)))
TIMES = np.array([0.0, 1.0, 2.0, 3.5, 4.0])
QUINTIC = quintic([0.0], [1.0], duration=4.0)
MOTIONS = {
    "line": line(POSES[0], POSES[1], 4.0),
    "gentle line": line(POSES[0], POSES[1], profile=QUINTIC),
    "lines": lines(POSES, 1.0, blend=0.3),
    "Paul's lines": paul_lines(POSES, [0.5, 1.5, 1.0, 1.0], blend=[0.2, 0.3, 0.4]),
    "timed lines": paul_lines(POSES, 1.0, blend=0.3).timed(QUINTIC),
    "screw": screw_motion(POSES[0], POSES[1], 4.0),
    "arc": arc(POSES[0], [0.3, 0.2, 0.1], POSES[1], 4.0),
    "circle": circle(POSES[0], [0.3, 0.2, 0.1], [1, 2, 3], 9.0, 4.0),
    "wheel": circle(POSES[0], [0.3, 0.2, 0.1], [1, 2, 3], 4.0, 4.0, turned=True),
    "spline": pose_spline(POSES, TIMES),
    "timed spline": pose_spline(POSES, TIMES).timed(QUINTIC),
    "conveyor": circle(POSES[0], [0, 0, 0], [0, 0, 1], 1.0, 4.0) @ lines(POSES, 1.0, blend=0.2) @ POSES[3],
}
each = pytest.mark.parametrize("path", MOTIONS.values(), ids=MOTIONS.keys())


def times_inside(path: PoseTrajectory, eps: float, n: int = 40) -> np.ndarray:
    """Times that are no nearer than eps to a knot."""
    t = np.linspace(0, path.duration, n + 2)[1:-1]
    return t[np.abs(t[:, None] - path.knots).min(axis=1) > eps]


@each
def test_twist_and_acceleration_are_derivatives(path):
    eps = 1e-4
    t = times_inside(path, eps)
    T, V, A = path(t)
    after, before = path(t + eps), path(t - eps)
    # Central differences are off by eps²/6 times the third derivative, some 1e3 at most here, and by rounding / eps.
    assert np.abs(se3.body_velocity(T, (after.T - before.T) / (2 * eps)) - V).max() < 1e-5
    assert np.abs((after.twist - before.twist) / (2 * eps) - A).max() < 1e-4
    R = T[:, :3, :3]
    assert np.abs(R @ R.mT - np.eye(3)).max() < 1e-13


@each
def test_parts_stretched_reversed_and_joined_motions_are_the_same_path(path):
    end = path.duration
    t = np.linspace(0, end, 33)
    T, V, A = path(t)
    slow = path.lasting(2.5 * end)(2.5 * t)
    assert np.abs(slow.T - T).max() < 1e-11
    assert np.abs(2.5 * slow.twist - V).max() < 1e-9 * (1 + np.abs(V).max())
    t = times_inside(path, 1e-6)
    T, V, A = path(t)
    back = path.reversed()(end - t)
    assert np.abs(back.T - T).max() < 1e-10 and np.abs(back.twist + V).max() < 1e-8
    assert np.abs(back.acceleration - A).max() < 1e-6
    cut = path.cut(0.3 * end, 0.9 * end)
    inner = t[(t > 0.3 * end) & (t < 0.9 * end)]
    assert np.abs(cut(inner - 0.3 * end).T - path(inner).T).max() < 1e-10
    whole = path.cut(0, 0.3 * end).followed_by(cut, path.cut(0.9 * end))
    assert np.isclose(whole.duration, end) and np.abs(whole(t).T - T).max() < 1e-10


def test_different_motions_are_joined():
    both = MOTIONS["line"].followed_by(MOTIONS["arc"].reversed(), MOTIONS["spline"])
    assert both.duration == 12 and both.factors == 3
    for k, path in enumerate((MOTIONS["line"], MOTIONS["arc"].reversed(), MOTIONS["spline"])):
        assert np.abs(both(4 * k + 1.3).T - path(1.3).T).max() < 1e-13
    with pytest.raises(aj.ArgumentError, match="needs motions of a frame"):
        MOTIONS["line"].followed_by(QUINTIC)


@pytest.mark.slow
@each
def test_products_and_inverses(path):
    t = np.linspace(0, 4, 50)
    other, A = MOTIONS["spline"], POSES[2]
    T, S = path(t).T, other(t).T
    assert np.abs((path @ other)(t).T - T @ S).max() < 1e-12
    assert np.abs((other @ path)(t).T - S @ T).max() < 1e-12
    assert np.abs(path.inverse()(t).T @ T - np.eye(4)).max() < 1e-12
    assert np.abs((A @ path)(t).T - A @ T).max() < 1e-13 and np.abs((path @ A)(t).T - T @ A).max() < 1e-13
    assert np.abs((A @ path)(t).twist - path(t).twist).max() < 1e-13  # body twists know nothing of the base
    seen = se3.Ad_inv_action(A, path(t).twist)
    assert np.abs((path @ A)(t).twist - seen).max() < 1e-12 * (1 + np.abs(seen).max())
    with pytest.raises(aj.ArgumentError, match="equal durations"):
        _ = path @ other.lasting(3.0)
    with pytest.raises(aj.ArgumentError, match="not a rigid motion"):
        _ = path @ np.diag([1.0, 1, -1, 1])


@pytest.mark.slow
def test_batches_are_their_samples():
    ends = se3.random((3, 2), rng=0)
    times = np.array([1.0, 2.0, 3.0])
    for make in (line, screw_motion):
        paths = make(ends[:, 0], ends[:, 1], times)
        assert paths.batch == (3,) and len(paths) == 3
        some = paths(times[:, None] * [0.0, 0.4, 1.0])
        assert some.T.shape == (3, 3, 4, 4)
        for k in range(3):
            one = make(ends[k, 0], ends[k, 1], times[k])
            for x, y in zip(one(times[k] * np.array([0.0, 0.4, 1.0])), some, strict=True):
                assert np.array_equal(x, y[k])
            assert np.array_equal(paths[k](0.3).T, one(0.3).T)
    rows = se3.compose(ends[:, :1], se3.exp(0.4 * np.cumsum(rng.normal(size=(3, 4, 6)), axis=1)))
    for make in (lambda P: lines(P, 1.0, blend=0.3), lambda P: paul_lines(P, 1.0, blend=0.3),
                 lambda P: pose_spline(P, [0, 1, 2, 3]),
                 lambda P: lines(P, 1.0, blend=0.3).timed(cubic([0.0], [1.0], 2.0))):  # fmt: skip
        t = np.linspace(0, make(rows[0]).duration, 9)
        many = make(rows)(t)
        for k in range(3):
            for x, y in zip(make(rows[k])(t), many, strict=True):
                assert np.abs(x - y[k]).max() < 1e-10
    assert arc(ends[:, 0], np.zeros(3), ends[:, 1], 1.0)(0.5).T.shape == (3, 4, 4)
    assert line(ends[0, 0], ends[0, 1], times)(0.5).T.shape == (3, 4, 4)


def test_many_times_are_one_call_and_a_motion_can_be_held():
    path = MOTIONS["spline"]
    t = rng.uniform(0, 4, size=(7, 5))
    assert path(t).T.shape == (7, 5, 4, 4) and path(t).twist.shape == (7, 5, 6)
    for name in ("line", "spline"):
        held = MOTIONS[name]([-1.0, 5.0], hold=True)
        assert np.array_equal(held.T, MOTIONS[name]([0.0, 4.0]).T) and not held.twist.any()
    with pytest.raises(aj.ArgumentError, match="has no time 5 s"):
        path(5.0)


# --- profiles ---------------------------------------------------------------------------------------------------------


def test_composed_polynomials():
    c, inner = rng.normal(size=(2, 4)), rng.normal(size=3)
    s = np.linspace(-1, 1, 7)
    found = composed(c, inner)
    assert found.shape == (2, 7)
    for k in range(2):
        y = np.polynomial.polynomial.polyval(np.polynomial.polynomial.polyval(s, inner), c[k])
        assert np.abs(np.polynomial.polynomial.polyval(s, found[k]) - y).max() < 1e-12


@pytest.mark.parametrize("name", ["line", "lines", "Paul's lines", "spline", "arc"])
def test_a_timed_path_is_the_path_at_the_times_of_its_profile(name):
    path = MOTIONS[name]
    profile = cubic([0.0], [0.2], 1.0).followed_by(cubic([0.2], [0.2], 0.5), quintic([0.2], [0.5], 2.0))
    timed = path.timed(profile)
    t = times_inside(timed, 1e-6, 100)
    sigma = profile(t)
    s, ds = sigma.q[:, 0] / 0.5 * path.duration, sigma.v / 0.5 * path.duration
    dds = sigma.a / 0.5 * path.duration
    T, V, A = path(s)
    assert timed.duration == profile.duration
    assert np.abs(timed(t).T - T).max() < 1e-11
    assert np.abs(timed(t).twist - V * ds).max() < 1e-9
    assert np.abs(timed(t).acceleration - (A * ds**2 + V * dds)).max() < 1e-7
    assert np.abs(timed([0.0, timed.duration]).T - path([0.0, path.duration]).T).max() < 1e-12


def test_profiles_are_of_any_unit_but_go_forward():
    path = MOTIONS["line"]
    t = np.linspace(0, 4, 9)
    for start, goal in ((0.0, 1.0), (3.0, -2.0), (0.0, 0.25)):
        assert np.abs(path.timed(quintic([start], [goal], 4.0))(t).T - MOTIONS["gentle line"](t).T).max() < 1e-13
    with pytest.raises(aj.ArgumentError, match=r"must go forward.*from 0 to 1, and back"):
        path.timed(quintic([0.0], [1.0], 1.0, start_velocity=-3.0))
    with pytest.raises(aj.ArgumentError, match="from 1 to 1"):
        path.timed(quintic([1.0], [1.0], 1.0))
    with pytest.raises(aj.ArgumentError, match="a Trajectory of one coordinate"):
        path.timed(quintic([0.0, 0.0], [1.0, 1.0], 1.0))
    for given in ({}, {"duration": 1.0, "profile": QUINTIC}):
        with pytest.raises(aj.ArgumentError, match="screw_motion needs either a duration"):
            screw_motion(POSES[0], POSES[1], **given)


# --- screw motions and arcs -------------------------------------------------------------------------------------------


def test_screw_motions_are_geodesics():
    path = screw_motion(POSES[0], POSES[1], 2.0)
    T, V, A = path(np.linspace(0, 2, 11))
    assert np.abs(V - V[0]).max() < 1e-15 and np.abs(A).max() < 1e-15
    assert np.abs(T - se3.interpolate(POSES[0], POSES[1], np.linspace(0, 1, 11))).max() < 1e-14
    # Any part of it is the screw motion between its ends.
    part = screw_motion(path(0.5).T, path(1.5).T, 1.0)(np.linspace(0, 1, 5))
    assert np.abs(part.T - path(np.linspace(0.5, 1.5, 5)).T).max() < 1e-14
    L, B = se3.random(2, rng=3)
    moved = screw_motion(L @ POSES[0] @ B, L @ POSES[1] @ B, 2.0)(np.linspace(0, 2, 11))
    assert np.abs(moved.T - L @ T @ B).max() < 1e-13


def test_an_arc_is_on_its_circle():
    T_0, T_1 = POSES[:2]
    via = np.array([0.3, 0.2, 0.1])
    path = arc(T_0, via, T_1, 1.0)
    T, V, _ = path(np.linspace(0, 1, 201))
    p = T[:, :3, 3]
    assert np.abs(T[0] - T_0).max() < 1e-14 and np.abs(T[-1] - T_1).max() < 1e-13
    x = np.linalg.lstsq(2 * (p[1:] - p[0]), (p[1:] ** 2).sum(axis=1) - (p[0] ** 2).sum(), rcond=None)[0]
    radii = np.linalg.norm(p - x, axis=1)
    assert np.ptp(radii) < 1e-12 * radii[0]
    speed = np.linalg.norm(V[:, 3:], axis=1)  # of the origin
    assert np.ptp(speed) < 1e-12 * speed[0]
    step = 0.5 * speed[0] / 200  # `via` is on the arc, half a step from a sample at most
    assert np.linalg.norm(p - via, axis=1).min() < 1.01 * step
    turn = so3.log(so3.compose(so3.inverse(T[0, :3, :3]), T[:, :3, :3]))
    assert np.abs(turn - np.linspace(0, 1, 201)[:, None] * turn[-1]).max() < 1e-12


@pytest.mark.parametrize("angle", [0.3, 3.0, 5.0])
def test_arcs_of_any_length(angle):
    held = circle(np.eye(4), [0, 1, 0], [0, 0, 1], angle, 1.0)
    via, goal = held(0.4).T[:3, 3], held(1.0).T
    t = np.linspace(0, 1, 9)
    assert np.abs(arc(np.eye(4), via, goal, 1.0)(t).T - held(t).T).max() < 1e-13
    expected = np.stack([np.sin(t * angle), 1 - np.cos(t * angle), 0 * t], axis=1)
    assert np.abs(held(t).T[:, :3, 3] - expected).max() < 1e-14
    assert np.abs(held(t).T[:, :3, :3] - np.eye(3)).max() < 1e-15
    turned = circle(np.eye(4), [0, 1, 0], [0, 0, 2], angle, 1.0, turned=True)(t)
    assert np.abs(turned.T[:, :3, 3] - held(t).T[:, :3, 3]).max() < 1e-14
    assert np.abs(turned.T[:, :3, :3] - so3.rotation_z(t * angle)).max() < 1e-14
    assert np.abs(turned.twist - turned.twist[0]).max() < 1e-14


# --- splines ----------------------------------------------------------------------------------------------------------


def test_splines_go_through_poses_with_continuous_accelerations():
    path = pose_spline(POSES, TIMES, start_twist=[0.1, 0, 0, 0, 0.2, 0], goal_twist=np.ones(6))
    assert np.abs(path(TIMES).T - POSES).max() < 1e-13
    assert np.abs(path(0.0).twist - [0.1, 0, 0, 0, 0.2, 0]).max() < 1e-13 and np.abs(path(4.0).twist - 1).max() < 1e-12
    eps = 1e-9
    for before, after in zip(path(TIMES[1:-1] - eps)[1:], path(TIMES[1:-1] + eps)[1:], strict=True):
        assert np.abs(before - after).max() < 2 * eps * 100  # the derivatives are some 10
    # The polynomials are cubic: the equations of continuity hold.
    c = path.exponents
    assert np.abs(c[..., 4:]).max() < 1e-11 * np.abs(c).max()


def test_splines_do_not_depend_on_the_choice_of_frames():
    t = np.linspace(0, 4, 50)
    L, B = se3.random(2, rng=3)
    path = pose_spline(POSES, TIMES)(t)
    moved = pose_spline(L @ POSES @ B, TIMES)(t)
    assert np.abs(moved.T - L @ path.T @ B).max() < 1e-11
    assert np.abs(moved.twist - se3.Ad_inv_action(B, path.twist)).max() < 1e-11
    later = pose_spline(POSES, TIMES + 7.0)(t)
    assert np.abs(later.T - path.T).max() < 1e-12


def test_splines_of_translations_are_cubic_splines():
    from scipy.interpolate import CubicSpline

    p = rng.normal(size=(6, 3))
    times = np.array([0.0, 0.5, 1.5, 2.0, 3.0, 3.5])
    path = pose_spline(se3.from_rotation_translation(np.eye(3), p), times)
    t = np.linspace(0, 3.5, 40)
    spline = CubicSpline(times, p, bc_type="clamped")
    assert np.abs(path(t).T[:, :3, 3] - spline(t)).max() < 1e-13
    assert np.abs(path(t).acceleration[:, 3:] - spline(t, 2)).max() < 1e-11


@pytest.mark.parametrize(("ratio", "turn", "twist"), [(100, 1.5, 0), (100, 2.5, 0), (1, 1.0, 80), (1, 1.0, 200)])
def test_splines_are_cubic_for_uneven_times_and_large_twists(ratio, turn, twist):
    """Powers 4 and 5 vanish. A fixed point in place of Newton's method stays away from some of these."""
    local = np.random.default_rng(3)
    steps = local.normal(size=(60, 6, 6)) * [1, 1, 1, 0.2, 0.2, 0.2]
    steps[..., :3] *= turn / np.linalg.norm(steps[..., :3], axis=-1, keepdims=True)
    poses = [np.broadcast_to(np.eye(4), (60, 4, 4))]
    for k in range(6):
        poses.append(poses[-1] @ se3.exp(steps[:, k]))
    times = np.concatenate([np.zeros((60, 1)), np.cumsum(ratio ** local.uniform(size=(60, 6)), axis=-1)], axis=-1)
    twists = {"start_twist": [0, twist, 0, 0, 0, 0], "goal_twist": [twist, 0, 0, 0, 0, 0]}
    path = pose_spline(np.stack(poses, axis=1), times, **twists)
    c = path.exponents[..., 0, :, :] * np.diff(path.knots)[..., None, None] ** np.arange(6)
    assert np.all(np.abs(c[..., 4:]).max(axis=(1, 2, 3)) < 1e-9 * np.abs(c[..., 3]).max(axis=(1, 2)))


def test_splines_with_senseless_twists_and_times():
    for twist in (1e60, 1e200, 1e300):
        with pytest.raises((aj.ArgumentError, aj.SolveError), match="too large"):
            pose_spline(POSES[:3], [0, 1, 2], start_twist=np.full(6, twist))
    for times, twist in (([0, 1], [1e7] * 6), ([0, 1], [1e300] * 6), ([0, 1e-20], [0, 0, 0, 1e300, 0, 0])):
        with pytest.raises(aj.ArgumentError, match="are too large, or times are too uneven"):
            pose_spline(POSES[:2], times, goal_twist=twist)
    with pytest.raises(aj.ArgumentError, match="times are too uneven"):
        pose_spline(POSES[:3], [0, 1e-9, 1])
    for times in ([0, 1e-60, 1], [0, 1, 1e200]):
        with pytest.raises(aj.ArgumentError, match="times must grow"):
            pose_spline(POSES[:3], times)
    with pytest.raises(aj.ArgumentError, match=r"poses \(2,\), times \(\), start_twist \(3,\)"):
        pose_spline(np.stack([POSES] * 2), TIMES, start_twist=np.zeros((3, 6)))
    with pytest.raises(aj.ArgumentError, match="at least 2 poses"):
        pose_spline(POSES[:1], [0.0])


def test_two_poses_and_equal_poses():
    path = pose_spline(POSES[:2], [0.0, 2.0])
    assert np.abs(path([0.0, 2.0]).T - POSES[:2]).max() < 1e-14 and not path([0.0]).twist.any()
    still = pose_spline([POSES[0]] * 3, [0.0, 1.0, 2.0])(0.7)
    assert np.abs(still.T - POSES[0]).max() < 1e-15 and not still.twist.any()
    rest = line(POSES[0], POSES[0], 1.0)(0.3)
    assert np.abs(rest.T - POSES[0]).max() < 1e-14 and np.abs(rest.twist).max() < 1e-14


def test_wrong_poses_times_and_points_are_refused():
    mirrored, nan = POSES.copy(), POSES.copy()
    mirrored[2, :3, 2] *= -1
    nan[3, 0, 0] = np.nan
    for make, name in ((lambda P: lines(P, 1.0), "lines"), (lambda P: pose_spline(P, TIMES), "pose_spline")):
        with pytest.raises(aj.ArgumentError, match=rf"{name}: poses\[2\] is not a rigid motion"):
            make(mirrored)
        with pytest.raises(aj.ArgumentError, match=rf"{name}: poses\[3\] contains NaN"):
            make(nan)
        with pytest.raises(aj.ArgumentError, match="must be poses of shape"):
            make(np.eye(4))
    with pytest.raises(aj.ArgumentError, match="line: T_1 is not a rigid motion"):
        line(POSES[0], mirrored[2], 1.0)
    for bad in (0.0, -1.0, np.nan, np.inf, "soon"):
        with pytest.raises(aj.ArgumentError, match="line: duration must be a positive time"):
            line(POSES[0], POSES[1], bad)
    with pytest.raises(aj.ArgumentError, match=r"times\[1\] is 1 and times\[2\] is 1"):
        pose_spline(POSES, [0, 1, 1, 2, 3])
    with pytest.raises(aj.ArgumentError, match=r"those of the 5 knots \[s\], \(\.\.\., 5\)"):
        pose_spline(POSES, [0, 1])
    turned = se3.from_rotation_translation(so3.rotation_z([0.0, 3.0, 3.1]), np.zeros(3))
    with pytest.raises(aj.ArgumentError, match=r"poses 0 and 1 differ by 171\.9 degrees"):
        pose_spline(turned, [0, 1, 2])
    with pytest.raises(aj.ArgumentError, match="start_twist contains NaN"):
        pose_spline(POSES, TIMES, start_twist=np.full(6, np.nan))
    p_0, p_1 = POSES[0][:3, 3], POSES[1][:3, 3]
    for via in (0.3 * p_0 + 0.7 * p_1, p_0):
        with pytest.raises(aj.ArgumentError, match="lie on a straight line"):
            arc(POSES[0], via, POSES[1], 1.0)
    with pytest.raises(aj.ArgumentError, match="axis must have a direction"):
        circle(POSES[0], np.zeros(3), np.zeros(3), 1.0, 1.0)
    with pytest.raises(aj.ArgumentError, match="leading axes do not match"):
        line(POSES[:2], POSES[:3], 1.0)


def test_arcs_end_where_they_should_however_flat_they_are():
    """The end is exact to rounding, and the way passes `via`; circles that are too large for that are refused."""
    T_0, T_1 = POSES[0], POSES[1].copy()
    step = T_1[:3, 3] - T_0[:3, 3]
    aside = np.cross(step, [0.3, 0.5, -0.2])
    for height in (1.0, 1e-3, 1e-6, 1e-8):
        via = T_0[:3, 3] + 0.5 * step + height * aside
        path = arc(T_0, via, T_1, 1.0)
        assert np.abs(path(1.0).T - T_1).max() < 1e-14
        assert np.linalg.norm(path(0.5).T[:3, 3] - via) < 1e-14
    for far in (1e8, 1e12):
        with pytest.raises(aj.ArgumentError, match="straight line"):
            arc(np.eye(4), [far, 1.0, 0.0], se3.exp([0, 0, 0, 2.0, 0, 0]), 1.0)
    tiny = arc(np.eye(4), [1e-170, 1e-170, 0], se3.exp([0, 0, 0, 2e-170, 0, 0]), 1.0)
    assert_allclose(tiny(1.0).T[:3, 3], [2e-170, 0, 0], atol=1e-184)
    wide = [circle(T_0, np.zeros(3), [0, 0, size], 1.0, 1.0)(1.0).T for size in (1.0, 1e200, 1e-300)]
    assert_array_equal(wide[1:], wide[:1] * 2)


def test_batches_that_do_not_match_are_named():
    three, two = line(POSES[:3], POSES[1:4], 1.0), line(POSES[1:3], POSES[2:4], 1.0)
    profile = aj.trajectory.quintic(np.zeros((2, 1)), np.ones((2, 1)), 1.0)
    for call, message in (
        (lambda: three.followed_by(two), r"batches of different shapes: \(3,\), \(2,\)"),
        (lambda: three @ two, r"first \(3,\), second \(2,\)"),
        (lambda: three @ POSES[:2], r"motion \(3,\), T \(2,\)"),
        (lambda: POSES[:2] @ three, r"T \(2,\), motion \(3,\)"),
        (lambda: three.timed(profile), r"timed: leading axes do not match: motion \(3,\), profile \(2,\)"),
        (lambda: line(POSES[:3], POSES[1], profile=profile), r"motion \(3,\), profile \(2,\)"),
    ):
        with pytest.raises(aj.ArgumentError, match=message):
            call()
    still = aj.trajectory.trapezoidal([1.0], [1.0], velocity=1.0, acceleration=1.0)
    with pytest.raises(aj.ArgumentError, match="the profile lasts 0 s"):
        line(POSES[0], POSES[1], profile=still)


def test_empty_batches_of_motions():
    none = np.zeros((0, 3, 4, 4)) + np.eye(4)
    one, other, axis = none[:, 0], np.eye(4), [0.0, 0.0, 1.0]
    for path in (
        line(one, other, 1.0), screw_motion(one, other, 1.0), lines(none, 1.0, blend=0.1), paul_lines(none, 1.0),
        pose_spline(none, [0.0, 1.0, 2.0]), arc(one, axis, POSES[1], 1.0), circle(one, axis, axis, 1.0, 1.0),
    ):  # fmt: skip
        assert path.batch == (0,)
        assert path.reversed().cut(0.2).batch == (0,)
        assert (path @ other @ path).exponents.shape[0] == 0


def test_the_words_of_a_motion():
    assert repr(MOTIONS["line"]) == "<PoseTrajectory: 4 s, 1 piece of 2 exponentials>"
    assert "(3,) 4 s" in repr(line(POSES[:3], POSES[1:4], 4.0))
