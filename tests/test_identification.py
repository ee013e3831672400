"""Parameters from recordings: found within their own confidence intervals, refused where they cannot be found."""

import functools
import itertools

import numpy as np
import pytest
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint.dynamics.regressors import parameters
from adjoint.errors import ArgumentError, SolveError
from adjoint.identification import Samples, base_parameters, differentiate, identify, resample
from adjoint.identification.data import pick
from adjoint.identification.physical import _linearised, _problem, _value
from adjoint.identification.plausibility import doubts
from adjoint.lie import inertia

NOISE = 0.3  # [N m]


@functools.cache
def arm(name: str):
    """(the model, the true robot): other masses than the model's, and friction that the model lacks."""
    model = aj.robots.puma560() if name == "puma560" else aj.load(urdf(name))
    rng = np.random.default_rng(1)
    resists = {term: rng.uniform(0.5, 2, model.nv) for term in ("damping", "friction")}
    return model, model.replace(inertias=model.inertias * rng.uniform(0.8, 1.2, (len(model.body_names), 1)), **resists)


def record(robot, n: int, seed: int = 0, noise=NOISE) -> Samples:
    rng = np.random.default_rng(seed)
    q, (v, a) = aj.random_configuration(robot, n, rng=rng), rng.normal(size=(2, n, robot.nv))
    tau = aj.inverse_dynamics(robot, q, v, 3 * a) + noise * rng.normal(size=(n, robot.nv))
    return Samples(q, v, 3 * a, tau)


def truth(found, robot) -> np.ndarray:
    return found.base.to_base(parameters(robot, found.base.joints))


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560", "ur5_robot"])
def test_base_parameters_are_within_their_intervals(name):
    model, robot = arm(name)
    found = identify(model, record(robot, 1500))
    want = truth(found, robot)
    low, high = found.interval(0.9999).T  # 58 parameters at once
    assert ((low < want) & (want < high)).all()
    distance = (found.estimate - want) @ np.linalg.solve(found.covariance, found.estimate - want)
    assert 24 < distance < 110  # χ² of 58 degrees of freedom, beyond once in 10⁴ on either side
    np.testing.assert_allclose(found.noise, NOISE, rtol=0.1)  # 1/√(2 n) = 2 %
    assert (found.r_squared > 0.95).all()


@pytest.mark.parametrize("name", ["puma560", "ur5_robot"])
def test_robot_can_exist_and_predicts_what_it_has_not_seen(name):
    model, robot = arm(name)
    found = identify(model, record(robot, 1500))
    assert [inertia.faults(own) for own in found.robot.inertias] == [[]] * 6
    assert min(np.linalg.eigvalsh(inertia.pseudo_inertia.eager(own)).min() for own in found.robot.inertias) > 0
    assert (found.robot.damping > 0).all() and (found.robot.friction > 0).all() and (found.robot.armature >= 0).all()
    other = record(robot, 300, seed=9, noise=0)
    error = aj.inverse_dynamics(found.robot, *other[:3]) + found.offset - other.tau
    before = aj.inverse_dynamics(model, *other[:3]) - other.tau
    # 58 parameters from 9000 torques: errors of about 0.08 of the noise
    assert np.sqrt(np.mean(error**2)) < 0.2 * NOISE < 0.1 * np.sqrt(np.mean(before**2))
    assert found.deviation < 110
    close(found.predict(*other[:3]), other.tau, 0.01)


@pytest.mark.slow
def test_intervals_are_calibrated():
    """95 of 100 intervals hold the truth, and noise that differs by joint is found out."""
    robot = aj.robots.planar(2)
    robot = robot.replace(damping=[0.3, 0.2], friction=[0.5, 0.1])
    noise, hits, sizes = np.array([0.5, 0.05]), [], []
    for seed in range(60):
        found = identify(robot, record(robot, 120, seed, noise))
        low, high = found.interval(0.95).T
        hits.append((low < truth(found, robot)) & (truth(found, robot) < high))
        sizes.append(found.noise)
    # 60 · 13 intervals, those of one recording partly dependent: standard error below 0.02
    assert 0.91 < np.mean(hits) < 0.985
    np.testing.assert_allclose(np.mean(sizes, axis=0), noise, rtol=0.05)


def test_exact_data_give_exact_parameters():
    model, robot = arm("puma560")
    found = identify(model, record(robot, 200, noise=0))
    np.testing.assert_allclose(found.estimate, truth(found, robot), rtol=0, atol=1e-8)
    known = identify(model, record(robot, 200, noise=0), noise=np.ones(6))
    np.testing.assert_allclose(known.estimate, found.estimate, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(known.noise, np.ones(6))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar2", "ur5_robot"])
def test_a_perfect_model_stays_as_it_is(name):
    """Exact data of the model itself: nothing moves, and no motors are invented."""
    robot = aj.robots.planar(2) if name == "planar2" else aj.load(urdf(name)).replace(armature=np.zeros(6))
    robot = robot.replace(damping=np.full(robot.nv, 0.3), friction=np.full(robot.nv, 0.2))
    found = identify(robot, record(robot, 300, noise=0))
    np.testing.assert_allclose(found.robot.inertias[:, 0], robot.inertias[:, 0], rtol=1e-3)
    np.testing.assert_allclose(found.robot.armature, 0, atol=1e-3)
    assert found.robot.armature[0] == 0  # shows only together with the first body's inertia
    assert found.deviation < found.base.rank


@pytest.mark.slow
def test_few_samples_have_wide_intervals():
    """10 samples for 13 parameters: 7 degrees of freedom, of joint 2 some 3."""
    robot, few, hits = aj.robots.planar(2).replace(damping=[0.3, 0.2]), np.array([0.5, 0.05]), []
    for seed in range(60):
        found = identify(robot, record(robot, 10, seed, few), check=False)
        low, high = found.interval(0.95).T
        hits.append((low < truth(found, robot)) & (truth(found, robot) < high))
        assert 2.5 < found.freedom.min() < found.freedom.max() < 7
    assert 0.91 < np.mean(hits) < 0.99  # it was 0.78 with the degrees of freedom of all joints together
    with pytest.warns(UserWarning, match="few samples"):
        identify(robot, record(robot, 8, noise=few), check=False)
    assert np.isinf(identify(robot, record(robot, 8, noise=few), check=False, noise=few).freedom).all()


@pytest.mark.slow
def test_small_priors_are_solved():
    """A minimum with less weight on the model is nearer to the data, and is found at the border of what can exist."""
    model, robot = arm("puma560")
    s = record(robot, 300, noise=0.1)
    found = [identify(model, s, prior=prior) for prior in (1.0, 1e-4, 1e-6)]
    for one, next in itertools.pairwise(found):
        assert next.deviation <= one.deviation
        assert [inertia.faults(own) for own in next.robot.inertias] == [[]] * 6


@pytest.mark.slow
def test_torques_that_no_robot_has_are_not_solved_in_silence():
    model, robot = arm("puma560")
    s = record(robot, 300, noise=0)
    with pytest.raises(SolveError, match=r"the torques pull bodies to the border .* are signs and units right\?"):
        identify(model, s._replace(tau=-s.tau), check=False)


@pytest.mark.slow
def test_much_noise_leaves_a_robot_that_can_exist():
    model, robot = arm("puma560")
    with pytest.warns(UserWarning, match="less than 50% of the torque of .*joint6 is explained"):
        found = identify(model, record(robot, 60, noise=20.0), check=False)
    assert (found.estimate[found.base.selected >= 60] < 0).any()  # negative friction or motors, in the base parameters
    assert [inertia.faults(own) for own in found.robot.inertias] == [[]] * 6
    assert (found.robot.damping > 0).all() and (found.robot.armature >= 0).all()
    assert "WARNING: less than 50%" in found.summary()


@pytest.mark.slow
def test_without_joint_terms_and_with_mimics():
    model = aj.load(urdf("panda"))
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.9, 1.1, (9, 1))
    robot = model.replace(inertias=model.inertias * scale, damping=0 * model.damping, friction=0 * model.friction)
    found = identify(model, record(robot, 300, noise=0.01), joints=())
    low, high = found.interval(1 - 1e-6).T  # all of some 50 at once, but for one recording in 20 000
    assert ((low < truth(found, robot)) & (truth(found, robot) < high)).all()
    assert found.robot.damping is model.damping and not found.offset.any()


@pytest.mark.slow
def test_gradient_and_hessian_of_the_convex_problem():
    model, _ = arm("puma560")
    base = base_parameters(model, ("damping", "offset"))
    rng = np.random.default_rng(0)
    R, aim = np.triu(rng.normal(size=(base.rank, base.rank))), rng.normal(size=base.rank)
    problem, pi = _problem(base, np.ones(72, bool), R, aim, np.full((2, 6), 0.3))
    problem = problem._replace(prior=0.7)
    pi = pi * np.append(np.repeat(rng.uniform(0.5, 2, 6), 10), rng.uniform(0.5, 2, 12))
    pi = pi + np.append(np.zeros(66), rng.normal(size=6))
    A, r = _linearised(problem, pi)
    steps = 1e-6 * np.where(pi == 0, 1e-3, np.abs(pi))
    slope = [(_value(problem, pi + d) - _value(problem, pi - d)) / 2 for d in np.diag(steps)]
    np.testing.assert_allclose(slope, A.T @ r * steps, rtol=1e-4, atol=1e-7 * np.abs(slope).max())
    before = [_linearised(problem, pi - d) for d in np.diag(steps)]
    curve = [A.T @ r - B.T @ s for B, s in before]
    np.testing.assert_allclose(curve, steps[:, None] * (A.T @ A), rtol=1e-3, atol=1e-4 * np.abs(curve).max())


# --- recordings -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pieces_are_the_whole():
    model, robot = arm("puma560")
    whole = record(robot, 600)
    pieces = (pick(whole, slice(k, k + 130)) for k in range(0, 600, 130))
    one, many = identify(model, whole), identify(model, pieces)
    np.testing.assert_allclose(many.estimate, one.estimate, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(many.standard_error, one.standard_error, rtol=1e-6)
    np.testing.assert_allclose(many.robot.inertias, one.robot.inertias, rtol=1e-4, atol=1e-7)
    assert many.samples == 600


@pytest.mark.slow
def test_rows_with_nan_are_dropped_and_counted():
    model, robot = arm("puma560")
    s = record(robot, 400)
    clean = identify(model, Samples(s.q[10:], s.v[10:], s.a[10:], s.tau[10:]))
    s.q[:5, 2], s.tau[5:10] = np.nan, np.nan
    found = identify(model, s)
    assert (found.samples, found.dropped) == (390, 10)
    np.testing.assert_allclose(found.estimate, clean.estimate, rtol=1e-8, atol=1e-10)
    assert "390 samples (10 dropped with NaN)" in found.summary()
    with pytest.raises(ArgumentError, match="no samples; all 400 rows have NaN"):
        identify(model, s._replace(tau=s.tau * np.nan))
    with pytest.raises(ArgumentError, match="no samples"):
        identify(model, [])


def wrong(change, message: str):
    return pytest.param(change, message, id=message[:30])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        wrong(lambda s: s._replace(q=np.degrees(s.q)), "q_joint. reaches .* rad: degrees"),
        wrong(lambda s: s._replace(tau=1000 * s.tau), r"torques are 1000 times .* N mm\? divide by 1000"),
        wrong(lambda s: s._replace(tau=s.tau * [1, -1, 1, 1, 1, 1]), "tau of joint2 has the opposite sign"),
        wrong(lambda s: s._replace(tau=s.tau[:, [1, 0, 2, 3, 4, 5]]), "tau_joint1 looks like that of joint2"),
        wrong(
            lambda s: s._replace(v=s.v[:, :5]), r"v has shape \(300, 5\), it needs \(300, 6\): robot 'puma560', joint1"
        ),
        wrong(lambda s: s._replace(tau=s.tau[:-1]), r"tau has shape \(299, 6\)"),
        wrong(lambda s: s._replace(time=np.zeros(3)), "time has shape"),
        wrong(
            lambda s: s._replace(a=None),
            r"no v or a; samples = read_samples\(path, robot\).*differentiate\(robot, samples, cutoff",
        ),
        wrong(lambda s: s.q, "expected Samples.*got ndarray"),
        wrong(lambda s: tuple(s[:4]), r"expected Samples.*got ndarray; Samples\(\*data\)"),
        wrong(lambda s: 5, "expected Samples.*got int"),
        wrong(
            lambda s: s._replace(tau=np.where(np.arange(6) == 2, 3.0, s.tau)), "torque of joint joint3 is constant, 3"
        ),
        wrong(lambda s: Samples(s.q[:9], s.v[:9], s.a[:9], s.tau[:9]), "9 samples of 6 torques are too few for 58"),
    ],
)
def test_wrong_samples_are_explained(change, message):
    model, robot = arm("puma560")
    with pytest.raises(ArgumentError, match=message):
        identify(model, change(record(robot, 300)))


@pytest.mark.slow
def test_rates_in_degrees_are_seen_where_time_is_known():
    model, robot = arm("puma560")
    t = np.arange(400) * 0.01
    w = np.arange(1, 7)
    q, v, a = 0.3 * np.sin(np.outer(t, w)), 0.3 * w * np.cos(np.outer(t, w)), -0.3 * w * w * np.sin(np.outer(t, w))
    tau = aj.inverse_dynamics(robot, q, v, a)
    with pytest.raises(ArgumentError, match=r"v is 57.* times the rate of q over time; is v in degrees\?"):
        identify(model, Samples(q, np.degrees(v), np.degrees(a), tau, t))
    turning = model.replace(joint_types=("continuous",) * 6, lower=np.full(6, -np.inf), upper=np.full(6, np.inf))
    with pytest.raises(ArgumentError, match=r"v is 0.017.* times the rate of q over time; is q in degrees\?"):
        identify(turning, Samples(np.degrees(q), v, a, tau, t))
    with pytest.raises(ArgumentError, match=r"v is 1e\+03 times the rate of q over time; is time in ms\?"):
        identify(model, Samples(q, v, a, tau, 1000 * t))


def reordered(order: list[int]):
    return lambda s: Samples(*(None if x is None else x[:, order] for x in s))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        wrong(lambda s: s._replace(q=np.degrees(s.q)), r"identify: q in degrees\?"),
        wrong(lambda s: s._replace(v=np.degrees(s.v), a=np.degrees(s.a)), r"identify: v, a in degrees\?"),
        wrong(lambda s: Samples(*map(np.degrees, s[:3]), s.tau), r"identify: q, v, a in degrees\?"),
        wrong(lambda s: s._replace(tau=s.tau / 1000), r"torques are 0.001 times .* kN m\? multiply by 1000"),
        wrong(lambda s: s._replace(tau=-s.tau), "tau of shoulder_pan_joint, .* has the opposite sign"),
        wrong(reordered([1, 0, 2, 3, 4, 5]), "joints are with shoulder_pan_joint and shoulder_lift_joint exchanged"),
        wrong(reordered([2, 1, 0, 3, 4, 5]), "joints are in the order of the alphabet"),
        wrong(reordered([5, 4, 3, 2, 1, 0]), "joints are backwards; ours are shoulder_pan_joint, "),
    ],
)
def test_units_and_order_are_guessed_where_no_limit_and_no_time_tells(change, message):
    """All that is known is a model whose masses are off by a fifth, and that has no friction."""
    model, robot = arm("ur5_robot")
    turning = model.replace(lower=np.full(6, -np.inf), upper=np.full(6, np.inf))
    with pytest.raises(ArgumentError, match=message):
        identify(turning, change(record(robot, 300)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "ur5_robot", "panda"])
def test_a_bad_model_raises_no_doubts(name):
    model = aj.robots.puma560() if name == "puma560" else aj.load(urdf(name))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        resists = {term: rng.uniform(0, 3, model.nv) for term in ("damping", "friction")}
        robot = model.replace(inertias=model.inertias * rng.uniform(0.3, 3, (len(model.body_names), 1)), **resists)
        assert doubts(base_parameters(model), record(robot, 200, seed)) == []


@pytest.mark.slow
def test_too_little_motion_is_explained():
    model, robot = arm("puma560")
    s = record(robot, 300)
    still = s._replace(v=0 * s.v, a=0 * s.a)
    still = still._replace(tau=aj.inverse_dynamics(robot, *still[:3]))
    with pytest.raises(ArgumentError, match=r"excites too little: .* base parameters do not show.*excitation\(robot"):
        identify(model, still)
    locked = np.where(np.arange(6) == 5, 0.0, 1.0)  # joint 6 stays: its friction and its body's turning do not show
    held = Samples(s.q * locked, s.v * locked, s.a * locked, s.tau)
    with pytest.raises(ArgumentError, match=r"excites too little: .*(damping_joint6|Izz_link6)"):
        identify(model, held, check=False)


@pytest.mark.slow
def test_bad_options_are_refused():
    model, robot = arm("puma560")
    s = record(robot, 100)
    with pytest.raises(ArgumentError, match="noise must be 6 positive numbers"):
        identify(model, s, noise=[1, 2])
    with pytest.raises(ArgumentError, match="prior must be a positive"):
        identify(model, s, prior=0.0)
    with pytest.raises(ArgumentError, match="prior must be a positive"):
        identify(model, s, prior=np.nan)
    with pytest.raises(ArgumentError, match="robot 'planar0' has no joints that move"):
        identify(aj.robots.planar(0), s)
    with pytest.raises(ArgumentError, match="'armature', 'damping', 'friction', 'offset'"):
        identify(model, s, joints=("backlash",))
    with pytest.raises(ArgumentError, match="has no mass; a model with rough masses"):
        identify(model.replace(inertias=0 * model.inertias), s, check=False)


@pytest.mark.slow
def test_unidentifiable_requests_are_refused():
    model, robot = arm("puma560")
    found = identify(model, record(robot, 400))
    value, error = found.value("damping_joint3")
    assert abs(value - robot.damping[2]) < 5 * error
    with pytest.raises(ArgumentError, match="m_link1 of 'puma560' cannot be identified: no torque depends on it"):
        found.value("m_link1")
    with pytest.raises(ArgumentError, match="m_link3 of 'puma560' cannot be identified alone"):
        found.value("m_link3")


# --- the report -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_report_is_readable(tmp_path):
    robot = aj.robots.planar(2).replace(damping=[0.3, 0.2])
    found = identify(robot, record(robot, 200, noise=0.05), joints=("damping",))
    text = str(found)
    assert "Identification of 'planar2' from 200 samples" in text and "95 % interval" in text
    assert "Izz_link1 + x_link2² m_link2" in text and "damping_joint2" in text
    assert "8 base parameters from 200 samples" in repr(found)
    found.plot(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 20_000
    for level in (2, 0.0, np.nan, "95 %"):
        with pytest.raises(ArgumentError, match="level must be between 0 and 1"):
            found.interval(level)  # type: ignore[arg-type]


def test_a_constant_torque_has_no_r_squared():
    robot = aj.robots.planar(2)
    s = record(robot, 100)
    with pytest.warns(UserWarning, match="of the torque of joint2 is explained"):  # what is constant weighs most
        found = identify(robot, s._replace(tau=np.where([True, False], 2.0, s.tau)), check=False, joints=("offset",))
    assert np.isnan(found.r_squared[0]) and np.isfinite(found.r_squared[1])


def test_a_large_constant_part_takes_no_digits_from_r_squared():
    robot = aj.robots.planar(2)
    s = record(robot, 200)
    near = identify(robot, s, joints=("offset",), check=False).r_squared
    far = identify(robot, s._replace(tau=s.tau + 1e8), joints=("offset",), check=False).r_squared
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_long_groups_are_cut_between_terms():
    from adjoint.identification.base import short

    group = "Iyy_1 - (x_2² - z_2²) m_2 + 2 z_2 hz_2 + Iyy_2 - (a + b) m_3"
    assert short(group) == "Iyy_1 - (x_2² - z_2²) m_2 + 2 z_2 hz_2 + 2 more"
    assert short("a - (b + c) d") == "a - (b + c) d"


# --- from positions alone ---------------------------------------------------------------------------------------------


FRICTION = aj.robots.planar(2).replace(damping=[0.3, 0.2], friction=[0.6, 0.6])


@functools.cache
def swinging():
    """time, q, v, a of 20 s at 1 kHz, and the torques."""
    t = np.arange(20_000) * 1e-3
    f = 2 * np.pi * np.array([[0.3, 0.45, 1.1], [0.35, 0.8, 1.3]])[:, :, None]
    size = np.array([[0.8, 0.5, 0.3], [0.7, 0.5, 0.2]])[:, :, None]
    q, v, a = (
        np.sum(x, axis=1).T for x in (size * np.sin(f * t), size * f * np.cos(f * t), -size * f * f * np.sin(f * t))
    )
    return t, q, v, a, aj.inverse_dynamics(FRICTION, q, v, a)


def encoders(seed: int) -> Samples:
    """10 µrad noise of the encoders, 0.3 N m of the torques."""
    rng, (t, q, _, _, tau) = np.random.default_rng(seed), swinging()
    return Samples(q + 1e-5 * rng.normal(size=q.shape), None, None, tau + 0.3 * rng.normal(size=q.shape), t)


def test_rates_of_recorded_positions():
    t, _, v, a, _ = swinging()
    samples = differentiate(FRICTION, encoders(0), cutoff=10.0)
    at = np.searchsorted(t, samples.time - 1e-6)
    close(samples.v, v[at], 0.002)
    close(samples.a, a[at], 0.02)
    assert len(at) == pytest.approx((20 - 6 / 10) * 10 / 0.55, abs=2)


@pytest.mark.slow
def test_intervals_of_recorded_positions_are_calibrated():
    """Filtered noise is white in the samples that are kept, and dry friction, filtered alike, is not biased."""
    hits, friction = [], []
    for seed in range(24):
        found = identify(FRICTION, differentiate(FRICTION, encoders(seed), cutoff=10.0), joints=("damping", "friction"))
        low, high = found.interval(0.95).T
        hits.append((low < truth(found, FRICTION)) & (truth(found, FRICTION) < high))
        friction.append((found.estimate[-2:] - 0.6) / found.standard_error[-2:])
    assert 0.91 < np.mean(hits) < 0.99  # 240 intervals
    assert np.abs(np.mean(friction, axis=0)).max() < 0.7  # three standard errors of the mean; sign(v) itself: -6


def test_gaps_cut_recordings_and_are_counted():
    whole, t = encoders(0), swinging()[0]
    torn = whole._replace(q=whole.q.copy())
    torn.q[8000:8020] = np.nan  # and 0.5 s on, a part too short for the filter
    torn.q[8500:8511] = np.nan
    holes = pick(torn, (t < 15) | (t > 15.2))  # rows that are missing altogether
    clean, found = (differentiate(FRICTION, s, cutoff=10.0) for s in (whole, holes))
    lost = np.isnan(found.v).any(axis=1)
    assert ((found.time[lost] > 7.69) & (found.time[lost] < 8.82) | (abs(found.time[lost] - 15.1) < 0.41)).all()
    assert lost.sum() == pytest.approx((1.1 + 0.6) * 10 / 0.55, abs=3)
    kept = np.flatnonzero(~lost & (found.time < 7))
    np.testing.assert_allclose(found.v[kept], clean.v[kept], rtol=0, atol=1e-6)
    assert identify(FRICTION, found).dropped == lost.sum()


def test_short_gaps_are_bridged_and_counted():
    whole = encoders(0)
    torn = whole._replace(q=whole.q.copy(), time=whole.time.copy())
    torn.q[[0, 8000, 8001, 12_000]] = np.nan  # the first row has nothing before it
    torn.time[12_000] = np.nan
    clean = differentiate(FRICTION, pick(whole, slice(1, None)), cutoff=10.0)
    with pytest.warns(UserWarning, match="3 rows with NaN, in gaps of at most 10, are bridged by interpolation"):
        found = differentiate(FRICTION, torn, cutoff=10.0)
    assert np.isfinite(found.v[3:]).all()
    assert np.abs(np.interp(clean.time[5:-5], found.time[3:], found.v[3:, 0]) - clean.v[5:-5, 0]).max() < 0.02
    masked = whole._replace(q=np.ma.masked_array(whole.q, np.isnan(torn.q)))  # masked numbers are not known
    with pytest.warns(UserWarning, match="3 rows"):
        differentiate(FRICTION, masked, cutoff=10.0)


@pytest.mark.parametrize("row", [0, 1])
def test_wrapped_angles_are_told_where_a_gap_is_bridged(row):
    """Between 3.1 and -3.1 lies no 0: half a jump, which a gap in it leaves, is no motion."""
    t = np.arange(4000) * 1e-3
    q = np.stack([(2 * t + np.pi) % (2 * np.pi) - np.pi, np.sin(t)], 1)
    q[np.argmax(np.diff(q[:, 0]) < 0) + row] = np.nan
    with pytest.raises(ArgumentError, match="differentiate: q_joint1 jumps by more than π: wrapped"):
        differentiate(aj.robots.planar(2), Samples(q, None, None, 0 * q, t), cutoff=10.0)


def test_jittered_recordings_can_be_resampled():
    whole, rng = encoders(0), np.random.default_rng(1)
    t, q, _, _, tau = swinging()
    late = t + rng.uniform(0, 0.4e-3, t.shape)  # the clock's error; what was measured is right at the time stamp
    then = [np.stack([np.interp(late, t, x) for x in of.T], 1) for of in (q, tau)]
    jittered = whole._replace(time=late, q=then[0], tau=then[1])
    with pytest.raises(ArgumentError, match=r"0.000\d+ to 0.001\d+ s, mostly 0.001 s: samples = resample"):
        differentiate(FRICTION, jittered, cutoff=10.0)
    even = resample(FRICTION, jittered)
    assert np.ptp(np.diff(even.time)) < 1e-9 and len(even.time) in range(19_990, 20_001)
    found = differentiate(FRICTION, even, cutoff=10.0)
    v = swinging()[2]
    expected = np.stack([np.interp(found.time, t, x) for x in v.T], 1)
    close(found.v, expected, 0.002)
    finer = resample(FRICTION, pick(jittered, slice(0, 1000)), rate=2000.0)
    assert np.allclose(np.diff(finer.time), 5e-4)


def test_resampling_leaves_long_gaps_and_knows_orientations():
    robot = aj.robots.random_tree(0, 1, ["spherical"])
    t, w = np.arange(600) * 0.01, np.array([0.5, -1.0, 2.0])
    t = np.concatenate([t[:300], t[300:] + 0.2]) + 0.002 * np.sin(np.arange(600))
    q = aj.integrate(robot, np.array([1.0, 0, 0, 0]), t[:, None] * w)
    found = resample(robot, Samples(q, None, None, t[:, None] * w, t))
    inside = (found.time > t[299] + 1e-9) & (found.time < t[300] - 1e-9)
    assert inside.sum() in (19, 20, 21) and np.isnan(found.q[inside]).all() and np.isnan(found.tau[inside]).all()
    close(found.tau[~inside], found.time[~inside, None] * w, 1e-9)
    exact = aj.integrate(robot, np.array([1.0, 0, 0, 0]), found.time[~inside, None] * w)
    assert np.abs(aj.difference(robot, found.q[~inside], exact)).max() < 1e-6
    for samples, message in (
        (Samples(q, None, None, t[:, None] * w), "need time"),
        (Samples(q, None, None, t[:, None] * w, t[::-1]), "time must grow; sample 1 is at"),
        (Samples(q[:1], None, None, q[:1, :3], t[:1]), "two samples or more"),
    ):
        with pytest.raises(ArgumentError, match=message):
            resample(robot, samples)


def test_differences_know_orientations():
    robot = aj.robots.random_tree(0, 1, ["spherical"])
    t, w = np.arange(600) * 0.01, np.array([0.5, -1.0, 2.0])
    q = aj.integrate(robot, np.array([1.0, 0, 0, 0]), t[:, None] * w)
    found = differentiate(robot, Samples(q, None, None, np.zeros((600, 3)), t), cutoff=5.0)
    close(found.v, np.broadcast_to(w, found.v.shape), 1e-4)
    assert np.abs(found.a).max() < 1e-3


@pytest.mark.parametrize(
    ("time", "cutoff", "message"),
    [
        (None, 5.0, "samples need time"),
        (np.arange(500) ** 1.5, 5.0, r"time must grow in even steps.*resample\(robot, samples\)"),
        (-np.arange(500) * 0.01, 5.0, "time must grow in even steps; sample 1 is at -0.01 s, after one at 0 s"),
        (np.full(500, np.nan), 5.0, "0 samples without NaN are too few"),
        (np.arange(500) * 0.01, 50.0, "cutoff 50.0 Hz must be between 0 and 0.4 of the sampling rate 100 Hz"),
        (np.arange(500) * 0.01, "10 Hz", "cutoff 10 Hz Hz must be between"),
        (np.arange(500) * 10, 5.0, r"sampling rate 0.1 Hz; is time in ms\? It must be in s"),
        (np.arange(500) * 0.01, 0.5, "too short for a cutoff of 0.5 Hz"),
        (np.arange(400) * 0.01, 5.0, r"time has shape \(400,\), it needs \(500,\)"),
    ],
)
def test_bad_times_are_explained(time, cutoff, message):
    robot = aj.robots.planar(2)
    with pytest.raises(ArgumentError, match=message):
        differentiate(robot, Samples(np.zeros((500, 2)), None, None, np.zeros((500, 2)), time), cutoff)


def test_bad_positions_are_explained():
    robot, t = aj.robots.planar(2), np.arange(500) * 0.01
    with pytest.raises(ArgumentError, match=r"tau has shape \(500, 1\)"):
        differentiate(robot, Samples(np.zeros((500, 2)), None, None, np.zeros((500, 1)), t), 5.0)
    turning = np.stack([3 * t, 0 * t], axis=1)
    wrapped = (turning + np.pi) % (2 * np.pi) - np.pi
    with pytest.raises(ArgumentError, match=r"q_joint1 jumps by more than π: wrapped\? np.unwrap"):
        differentiate(robot, Samples(wrapped, None, None, 0 * turning, t), 5.0)
    found = differentiate(robot, Samples(np.unwrap(wrapped, axis=0), None, None, 0 * turning, t), 5.0)
    close(found.v, np.broadcast_to([3.0, 0.0], found.v.shape), 1e-9)


# --- numbers that no recording has ------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["q", "v", "a", "tau", "time"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e300, -1e155])
def test_numbers_beyond_any_recording(field, bad):
    """Infinite ones are dropped and counted like NaN, finite ones that are too large are named."""
    t = np.linspace(0, 5, 300)
    q, v, a = (np.stack([x(2 * t), x(3 * t)], 1) for x in (np.sin, np.cos, np.tan))
    a = np.clip(a, -3, 3)
    robot = aj.robots.planar(2)
    good = Samples(q, v, a, aj.inverse_dynamics(robot, q, v, a) + 0.1 * np.cos(5 * q), t)
    changed = getattr(good, field).copy()
    changed[3] = bad
    if np.isinf(bad):
        assert identify(robot, good._replace(**{field: changed}), joints=(), check=False).dropped == 1
    else:
        with pytest.raises(ArgumentError, match=f"identify: {field} reaches .* no recording in SI units"):
            identify(robot, good._replace(**{field: changed}), joints=(), check=False)


@pytest.mark.parametrize("noise", ["a", ["a", 1], np.inf, [1.0, np.inf], [1e-300, 1e300], [1.0], None])
def test_noise_that_is_none(noise):
    t = np.linspace(0, 5, 300)
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], 1)
    tau = np.zeros_like(q) if noise is None else q
    message = "all torques are 0" if noise is None else "noise must be 2 positive numbers"
    with pytest.raises(ArgumentError, match=message):
        identify(aj.robots.planar(2), Samples(q, q**2, q**3, tau), joints=(), noise=noise, check=False)


def test_the_plot_shows_the_whole_recording(tmp_path):
    robot, t = aj.robots.planar(2), np.arange(9000) * 1e-3
    q, v, a = (np.stack([x(2 * t), x(3 * t)], 1) for x in (np.sin, np.cos, lambda x: np.sin(2 * x)))
    samples = Samples(q, v, a, aj.inverse_dynamics(robot, q, v, a) + 0.1 * np.cos(7 * q), t)
    pieces = [pick(samples, slice(k, k + 1234)) for k in range(0, 9000, 1234)]
    found, same = (identify(robot, s, joints=(), check=False) for s in (samples, pieces))
    assert found.stride == 8 and np.array_equal(found.shown.time, t[::8])
    assert np.array_equal(found.shown.tau, samples.tau[::8])
    assert np.array_equal(same.shown.time, found.shown.time)
    from adjoint.identification import drawing

    axes = [[Recorder(), Recorder()] for _ in range(2)]
    drawing._draw_torques(found, ("joint1", "joint2"), axes)
    assert axes[0][0].drawn[0][0].max() == t[::8].max()
    assert axes[0][0].titles == ["torque [N m or N], every 8th of 9000 samples"]


class Recorder:
    """Stands for an axis of matplotlib."""

    def __init__(self):
        self.drawn, self.titles = [], []

    def plot(self, x, *rest, **_):
        self.drawn.append((x, *rest))

    def set_title(self, text, **_):
        self.titles.append(text)

    def __getattr__(self, name):
        return lambda *args, **options: None
