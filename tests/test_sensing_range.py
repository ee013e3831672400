"""Range sensors: fixtures X1-X5 of the textbook's chapter 6, inverses, derivatives, noise, and bad input."""

import numpy as np
import pytest

from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import so3
from adjoint.sensing.averaging import averaged, mean_confidence, readings_needed
from adjoint.sensing.light_sheet import (
    SheetOfLight,
    fit_light_plane,
    light_plane_point,
    light_plane_point_covariance,
    stripe_column,
    stripe_distance,
    stripe_distance_sigma,
    stripe_table,
)
from adjoint.sensing.noise import Noise, noise_sigma, noisy, quantised
from adjoint.sensing.phase_ranging import (
    PhaseRange,
    TwoPhaseRange,
    modulation_frequency,
    phase_demodulated,
    phase_distance,
    phase_distance_sigma,
    phase_samples,
    phase_shift,
    phase_shifts,
    unwrapped_distance,
    unwrapping_confidence,
)
from adjoint.sensing.time_of_flight import PulsedRange, flight_distance, flight_distance_sigma, flight_time
from adjoint.sensing.triangulation import Triangulation, triangulated, triangulated_sigma, triangulation_angles
from adjoint.sensing.ultrasonics import Ultrasonic, beam_distance, polaroid_ranger, sound_speed

P62 = SheetOfLight(columns=256, baseline=3.0, center_distance=2.0, first_distance=1.0)  # problem 6.2


# --- noise and averages -----------------------------------------------------------------------------------------------


def test_noise_is_added_wrapped_limited_and_rounded_in_this_order():
    x = np.linspace(-1, 8, 200)
    assert np.array_equal(noisy(x, Noise()), x)
    assert np.array_equal(noisy(x, Noise(bias=0.5)), x + 0.5)
    stepped = noisy(x, Noise(step=0.25, lower=0.0, upper=5.0))
    np.testing.assert_allclose(stepped / 0.25, np.round(stepped / 0.25), atol=1e-12)
    assert stepped.min() == 0.0 and stepped.max() == 5.0
    assert np.abs(stepped - np.clip(x, 0, 5)).max() <= 0.125 + 1e-12
    wrapped = noisy(x, Noise(period=1.0, step=0.1))
    assert wrapped.min() >= 0 and wrapped.max() < 1  # also what was rounded up to the period
    assert np.isnan(noisy(np.nan, Noise(sigma=1.0, step=0.1), rng=0))


def test_noise_has_the_deviation_that_it_states():
    """The sample deviation of N numbers scatters by σ/√(2N): 0.16 % here; five times that is allowed."""
    noise, x = Noise(sigma=0.2, step=0.5, bias=0.1), np.linspace(0, 10, 200_000)
    error = noisy(x, noise, rng=1) - x
    assert abs(error.std() / noise_sigma(noise) - 1) < 0.01 and abs(error.mean() - 0.1) < 0.005
    assert np.array_equal(noisy(x, noise, rng=3), noisy(x, noise, rng=3))
    several = Noise(sigma=(0.0, 1.0), bias=(1.0, 0.0))
    both = noisy(np.zeros((1000, 2)), several, rng=0)
    assert np.all(both[:, 0] == 1) and abs(both[:, 1].std() - 1) < 0.15


def test_quantised_is_the_nearest_step():
    x = np.linspace(-2, 2, 101)
    np.testing.assert_allclose(quantised(x, 0.3), 0.3 * np.floor(x / 0.3 + 0.5), atol=1e-15)
    assert np.array_equal(quantised(x, 0.0), x)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sigma": -1}, "sigma must be a finite number, 0 or more"),
        ({"step": np.nan}, "step"),
        ({"sigma": "loud"}, "sigma"),
        ({"period": 0.0}, "above 0"),
        ({"lower": 2.0, "upper": 1.0}, "not below upper"),
        ({"bias": [[1.0]]}, "bias"),
    ],
)
def test_bad_noise(given, said):
    with pytest.raises(ArgumentError, match=said):
        Noise(**given)


def test_bad_arguments_of_noisy():
    with pytest.raises(ArgumentError, match="'noise' must be a Noise, got float"):
        noisy(1.0, 0.1)
    with pytest.raises(ArgumentError, match=r"needs \(\.\.\., 2\)"):
        noisy(np.zeros(3), Noise(sigma=(1, 2)))
    with pytest.raises(ArgumentError, match="rng"):
        noisy(1.0, Noise(sigma=1.0), rng="dice")


def test_problem_6_5_averages():
    """X4: 153 664 readings with z = 1.96, 153 659 with the exact quantile; a bias is subtracted."""
    assert round((1.96 * 100 / 0.5) ** 2) == 153_664
    assert readings_needed(100.0, 0.5, 0.95) == 153_659
    assert mean_confidence(100.0, 0.5, 153_659) >= 0.95 > mean_confidence(100.0, 0.5, 153_658)
    assert readings_needed(0.0, 0.5) == 1


def test_averages_gain_the_root_of_their_number_and_keep_the_bias():
    """Of 4000 means of N = 25 readings, the spread is σ/5 within 5 · 1.1 %; the bias is as it was."""
    readings = noisy(np.full((4000, 25), 7.0), Noise(sigma=0.5, bias=0.3), rng=0)
    found = averaged(readings)
    assert abs(found.mean.std() / 0.1 - 1) < 0.056 and abs(found.mean.mean() - 7.3) < 0.01
    assert abs(averaged(readings, bias=0.3).mean.mean() - 7.0) < 0.01
    assert np.all(averaged(readings, sigma=0.5).sigma == 0.1) and found.readings == 25
    assert abs(np.mean(found.sigma**2) / 0.01 - 1) < 0.05


def test_bad_averages():
    with pytest.raises(ArgumentError, match="2 are needed"):
        averaged([1.0])
    with pytest.raises(ArgumentError, match="confidence must be between 0 and 1"):
        readings_needed(1.0, 0.1, 1.0)
    with pytest.raises(ArgumentError, match="accuracy must be a positive number"):
        readings_needed(1.0, 0.0)


# --- triangulation ----------------------------------------------------------------------------------------------------


def test_triangulation_is_the_law_of_sines():
    rng, sensor = np.random.default_rng(0), Triangulation(0.4)
    spot = np.stack([rng.uniform(-0.5, 1.0, 100), rng.uniform(0.1, 5.0, 100)], axis=1)
    angles = triangulation_angles(sensor, spot[:, 0], spot[:, 1])
    found = triangulated(sensor, *angles)
    scale = 1 / np.sin(angles.source + angles.detector)  # how ill-conditioned far spots are
    assert np.all(np.abs(found.distance - spot[:, 1]) < 1e-14 * scale**2)
    np.testing.assert_allclose(found.from_source, np.linalg.norm(spot, axis=1), rtol=1e-11)
    np.testing.assert_allclose(found.from_detector, np.linalg.norm(spot - [0.4, 0], axis=1), rtol=1e-11)


def test_right_angle_triangulation_is_a_tangent():
    theta = np.linspace(0.01, 1.5, 50)
    np.testing.assert_allclose(triangulated(Triangulation(0.4), theta).distance, 0.4 * np.tan(theta), rtol=1e-13)


def test_lines_that_do_not_meet():
    sensor = Triangulation(0.4)
    assert np.isnan(triangulated(sensor, 2.0, 1.2).distance) and np.isnan(triangulated(sensor, -0.1).distance)
    assert np.isfinite(triangulated(sensor, [2.0, 1.0], 1.2).distance).tolist() == [False, True]


def test_triangulation_errors_are_slopes():
    sensor, a, b = Triangulation(0.4, noise=Noise(sigma=2e-3)), np.array([0.3, 1.0, 1.4]), np.array([1.5, 1.0, 1.2])
    by_source, by_detector = (
        triangulated.jacobian(name)(sensor, a, b)[0] for name in ("source_angle", "detector_angle")
    )
    want = np.hypot(by_source * 1e-3, by_detector * 2e-3)
    np.testing.assert_allclose(
        triangulated_sigma(sensor, a, b, source_sigma=1e-3, detector_sigma=2e-3), want, rtol=1e-12
    )
    np.testing.assert_allclose(triangulated_sigma(sensor, a, b), np.abs(by_source) * 2e-3, rtol=1e-12)
    D = 0.4 * np.tan(a)
    np.testing.assert_allclose(triangulated_sigma(sensor, a, source_sigma=1.0), 0.4 + D * D / 0.4, rtol=1e-12)


# --- sheet of light ---------------------------------------------------------------------------------------------------


def test_problem_6_2_sheet_of_light():
    """X1: angles, half the width of the image, and distances of columns."""
    t_c, t_0 = 2 / 3, 1 / 3
    assert np.degrees(np.arctan(t_c)) == pytest.approx(33.690068, abs=1e-6)
    assert np.degrees(np.arctan(t_0)) == pytest.approx(18.434949, abs=1e-6)
    assert np.degrees(np.arctan(P62.half_field_tangent)) == pytest.approx(15.255119, abs=1e-6)
    assert 35 * P62.half_field_tangent == pytest.approx(9.545455, abs=1e-6)  # [mm] d
    table = {
        0: 1.0, 32: 1.22, 64: 1.458333, 96: 1.717391, 127: 1.990780, 128: 2.0, 129: 2.009246, 160: 2.309524, 192: 2.65,
        224: 3.026316, 255: 3.430676,
    }  # fmt: skip
    found = stripe_table(P62)
    assert found.shape == (256,)
    np.testing.assert_allclose(found[list(table)], list(table.values()), rtol=0, atol=5.1e-7)


def test_table_is_that_of_the_textbooks_angles():
    """(6.2-3) to (6.2-11) as they are printed, with α_k in (6.2-9); both halves of the image have one formula."""
    M, B, lam, k = 256, 3.0, 0.035, np.arange(256)
    a_c, a_0 = np.arctan(2 / 3), np.arctan(1 / 3)
    d = lam * np.tan(a_c - a_0)
    left = a_c - np.arctan(d * (M - 2 * k) / (M * lam))
    right = a_c + np.arctan(d * (2 * k - M) / (M * lam))
    np.testing.assert_allclose(left, right, rtol=1e-15)
    np.testing.assert_allclose(stripe_table(P62), B * np.tan(left), rtol=1e-13)


def test_sheet_of_light_is_a_ray_against_a_plane():
    """The camera is at the origin, the light at x = -B; the sheet is the plane x = -B, and z the distance."""
    a_c = np.arctan(2 / 3)
    axis, right = np.array([-np.cos(a_c), 0, np.sin(a_c)]), np.array([np.sin(a_c), 0, np.cos(a_c)])
    k = np.arange(256)
    rays = axis + np.outer(P62.half_field_tangent * (2 * k / 256 - 1), right)
    hit = light_plane_point(np.zeros(3), rays, [1.0, 0, 0], -3.0)
    np.testing.assert_allclose(hit.point[:, 2], stripe_table(P62), rtol=1e-12)
    np.testing.assert_allclose(hit.distance, np.linalg.norm(hit.point, axis=1), rtol=1e-13)


def test_stripe_column_is_the_inverse():
    k = np.linspace(-20, 300, 77)
    np.testing.assert_allclose(stripe_column(P62, stripe_distance(P62, k)), k, rtol=0, atol=1e-10)
    far = P62.replace(center_distance=6.0, first_distance=3.0)
    table = stripe_table(far.replace(columns=64))
    assert np.all(np.diff(table[np.isfinite(table)]) > 0)


def test_lines_of_sight_that_pass_the_sheet():
    wide = SheetOfLight(columns=100, baseline=0.1, center_distance=1.0, first_distance=0.1)
    table = stripe_table(wide)
    assert np.isnan(table[-1]) and np.isfinite(table[:55]).all() and (table[:55] > 0).all()


def test_stripe_errors_are_slopes():
    k = np.linspace(0, 255, 9)
    slope = stripe_distance.jacobian("column")(P62, k)
    np.testing.assert_allclose(stripe_distance_sigma(P62, k, sigma=0.5), 0.5 * slope, rtol=1e-12)
    noisy_one = P62.replace(noise=Noise(step=1.0))
    np.testing.assert_allclose(stripe_distance_sigma(noisy_one, k), slope / np.sqrt(12), rtol=1e-12)


def test_numbers_of_a_sensor_can_be_lifted():
    B = np.array([2.0, 3.0, 4.0])
    lifted = stripe_distance.bind(P62, lift="baseline")
    want = [stripe_distance(P62.replace(baseline=b), 40.0) for b in B]
    np.testing.assert_allclose(lifted(40.0, baseline=B), want, rtol=1e-14)
    h = 1e-6
    slope = (lifted(40.0, baseline=3 + h) - lifted(40.0, baseline=3 - h)) / (2 * h)
    np.testing.assert_allclose(lifted.jacobian("baseline")(40.0), slope, rtol=1e-8)


def test_sensors_are_values():
    same = SheetOfLight(256, 3, 2, 1)
    assert same == P62 and hash(same) == hash(P62) and same != P62.replace(columns=128) and same != 3
    assert PulsedRange(3e8) != Ultrasonic(1e-3, 1e-3, 0.1)
    with pytest.raises(AttributeError):
        P62.baseline = 2.0  # type: ignore[misc]
    with pytest.raises(ArgumentError, match="there is no 'size'; it has columns"):
        P62.replace(size=3)


def test_rays_and_planes_of_light():
    rng = np.random.default_rng(1)
    o, u, n = rng.normal(size=(3, 200, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    offset = rng.normal(size=200)
    hit = light_plane_point(o, u, n, offset)
    meets = np.isfinite(hit.distance)
    assert 0.3 < meets.mean() < 0.7
    # Distances grow as 1/cos of the angle to the normal, and rounding errors with them.
    error = np.abs(np.sum(n * hit.point, axis=1) - offset)[meets]
    assert np.all(error < 1e-14 * (1 + hit.distance[meets]))
    along = np.cross(hit.point - o, u)[meets]
    assert np.all(np.abs(along).max(axis=1) < 1e-13 * (1 + hit.distance[meets]))
    assert np.all(hit.distance[meets] >= 0)
    back = light_plane_point(o[~meets], -u[~meets], n[~meets], offset[~meets])
    assert np.isfinite(back.distance).all()
    assert np.isnan(light_plane_point([0, 0, 0.0], [1.0, 0, 0], [0, 0, 1.0], 1.0).point).all()  # parallel


def test_covariance_on_a_plane_of_light_is_that_of_samples():
    """Of N = 20 000 samples a variance is good to √(2/N) = 1 %; second-order terms are far smaller."""
    rng = np.random.default_rng(2)
    o, u, n = np.array([0.1, 0.2, 0.0]), np.array([0.3, -0.2, 1.0]), np.array([0.6, 0.0, 0.8])
    u /= np.linalg.norm(u)
    tangent = np.linalg.svd(u[None])[2][1:]
    tilted = u + 1e-3 * rng.normal(size=(20_000, 2)) @ tangent
    points = light_plane_point(o, tilted, n, 2.0 + 2e-3 * rng.normal(size=20_000)).point
    want = light_plane_point_covariance(o, u, n, 2.0, 1e-3, 2e-3)
    got = np.cov(points.T)
    assert np.abs(got - want).max() < 0.05 * np.abs(want).max()
    flat = light_plane_point_covariance(o, u, n, 2.0, 1e-3)
    np.testing.assert_allclose(flat @ n, 0, atol=1e-15)  # without errors of the plane, the point stays in it


def test_fit_of_a_plane_of_light():
    rng, R = np.random.default_rng(3), so3.exp([0.3, -0.5, 0.2])
    x = np.column_stack([rng.uniform(-1, 1, (40, 2)), np.full(40, 0.7)]) @ R.T
    found = fit_light_plane(x)
    np.testing.assert_allclose(found.normal, R[:, 2], atol=1e-14)
    assert found.offset == pytest.approx(0.7, abs=1e-14) and found.rms < 1e-14
    rough = fit_light_plane(x + 1e-3 * rng.normal(size=(40, 3)))
    assert 5e-4 < rough.rms < 1.6e-3
    with pytest.raises(SolveError, match="on a line"):
        fit_light_plane([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    with pytest.raises(ArgumentError, match="3 or more"):
        fit_light_plane([[0, 0, 0], [1, 1, 1]])
    with pytest.raises(ArgumentError, match=r"\(\.\.\., n, 3\)"):
        fit_light_plane(np.zeros((4, 2)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"columns": 1}, "columns must be 2 or more"),
        ({"columns": 2.5}, "whole number"),
        ({"baseline": 0.0}, "baseline must be finite, positive"),
        ({"baseline": np.inf}, "baseline must be finite"),
        ({"center_distance": 1.0}, "must differ"),
        ({"first_distance": [1.0, 2.0]}, "one number"),
        ({"noise": 0.1}, "noise must be a Noise, got float"),
    ],
)
def test_bad_sheets(given, said):
    with pytest.raises(ArgumentError, match=said):
        P62.replace(**given)


# --- time of flight and phase -----------------------------------------------------------------------------------------


def test_laser_times():
    """X2: 50 ps are 7.4948 mm; a modulation of 10 MHz is 29.98 m long; a He-Ne wave alone repeats after 316.4 nm."""
    laser = PulsedRange()
    assert flight_distance(laser, 50e-12) == pytest.approx(7.4948e-3, abs=5e-8)
    assert flight_distance(laser, 50e-12) / 0.0254 == pytest.approx(0.295, abs=5e-4)
    assert 2 * PhaseRange(10e6).ambiguity == pytest.approx(29.98, abs=5e-3)
    assert PhaseRange(299_792_458.0 / 632.8e-9).ambiguity == pytest.approx(316.4e-9, rel=1e-12)
    d = np.linspace(0, 4, 9)
    np.testing.assert_allclose(flight_distance(laser, flight_time(laser, d)), d, rtol=1e-15)
    assert flight_distance_sigma(laser, sigma=1e-11) == flight_distance.jacobian("time")(laser, 0.0) * 1e-11
    timed = laser.replace(noise=Noise(step=50e-12))
    readings = flight_distance(timed, noisy(flight_time(timed, np.linspace(1, 4, 3001)), timed.noise))
    assert abs((readings - np.linspace(1, 4, 3001)).std() / flight_distance_sigma(timed) - 1) < 0.03


def test_problems_6_3_and_6_4():
    """X3: 2.5 m and 5 m with the book's 3e8 m/s, 2.49827 m and 4.99654 m exactly; 30 MHz and 29.979 MHz for 5 m."""
    book, exact = PhaseRange(30e6, speed=3e8), PhaseRange(30e6)
    assert phase_distance(book, np.pi) == pytest.approx(2.5, rel=1e-15) and book.ambiguity == 5.0
    assert phase_distance(exact, np.pi) == pytest.approx(2.49827, abs=5e-6)
    assert exact.ambiguity == pytest.approx(4.99654, abs=5e-6)
    assert modulation_frequency(5.0, speed=3e8) == 30e6
    assert modulation_frequency(5.0) == pytest.approx(29.979e6, abs=500)


def test_phases_wrap_at_the_ambiguity():
    laser = PhaseRange(30e6)
    d = np.linspace(0, 30, 500)
    theta = phase_shift(laser, d)
    assert theta.min() >= 0 and theta.max() < 2 * np.pi
    np.testing.assert_allclose(phase_distance(laser, theta), np.mod(d, laser.ambiguity), atol=1e-13)
    np.testing.assert_allclose(phase_distance(laser, theta - 4 * np.pi), np.mod(d, laser.ambiguity), atol=1e-12)
    assert phase_shift(laser, laser.ambiguity) == 0  # the interval is open
    slope = phase_distance.jacobian("phase")(laser, 1.0)
    assert phase_distance_sigma(laser, sigma=0.02) == pytest.approx(0.02 * slope, rel=1e-15)


def test_four_samples_give_phase_and_intensity():
    laser, d = PhaseRange(30e6), np.linspace(0.0, 4.9, 100)
    samples = phase_samples(laser, d, 0.3, 1.5)
    found = phase_demodulated(samples)
    np.testing.assert_allclose(phase_distance(laser, found.phase), d, atol=1e-13)
    np.testing.assert_allclose(found.amplitude, 0.3, rtol=1e-14)
    np.testing.assert_allclose(found.intensity, 1.5, rtol=1e-14)
    many = noisy(np.tile(phase_samples(laser, 2.0, 0.3, 1.5), (20_000, 1)), Noise(sigma=0.01), rng=0)
    assert abs(phase_demodulated(many).phase.std() / (0.01 / (np.sqrt(2) * 0.3)) - 1) < 0.03


@pytest.mark.parametrize("pair", [(30e6, 31e6), (31e6, 30e6), (30e6, 47e6), (20e6, 10e6), (10e6, 30e6), (7e6, 5e6)])
def test_two_frequencies_are_unique_over_their_common_period(pair):
    laser = TwoPhaseRange(*pair, speed=3e8)
    g = np.gcd(int(pair[0]), int(pair[1]))
    assert laser.ambiguity == pytest.approx(3e8 / (2 * g))
    d = np.linspace(0, laser.ambiguity, 3000, endpoint=False)
    found = unwrapped_distance(laser, phase_shifts(laser, d))
    np.testing.assert_allclose(found.distance, d, atol=1e-9)
    assert found.misfit.max() < 1e-9
    for k in range(2):  # the wraps are those of each frequency
        one = PhaseRange(pair[k], speed=3e8)
        turns = (found.distance - phase_distance(one, phase_shift(one, d))) / one.ambiguity
        off = np.abs(turns - found.wraps[:, k])
        assert np.all(np.minimum(off, np.abs(off - laser.ratio[k])) < 1e-6)


def test_unwrapping_fails_as_often_as_it_says():
    """At 2 % failures, 20 000 trials scatter by 0.1 %; averaged phases beat the better one alone."""
    laser, sigma = TwoPhaseRange(30e6, 31e6), 0.03
    d = np.random.default_rng(0).uniform(1, laser.ambiguity - 1, 20_000)
    phases = noisy(phase_shifts(laser, d), laser.noise.__class__(sigma=sigma, period=2 * np.pi), rng=1)
    found = unwrapped_distance(laser, phases)
    right = np.abs(found.distance - d) < 1.0
    assert abs(right.mean() - unwrapping_confidence(laser, sigma=sigma)) < 0.006
    spread = (found.distance - d)[right].std()
    alone = float(phase_distance_sigma(PhaseRange(31e6), sigma=sigma))
    assert spread < 0.75 * alone
    assert spread == pytest.approx(laser.ambiguity * sigma / (2 * np.pi) / np.hypot(30, 31), rel=0.03)
    assert unwrapping_confidence(laser) == 1.0


def test_bad_pairs_of_frequencies():
    for pair in ((30e6, 30e6), (30.5, 31.0), (30e6, -1.0)):
        with pytest.raises(ArgumentError, match="TwoPhaseRange"):
            TwoPhaseRange(*pair)
    with pytest.raises(ArgumentError, match="ratio of smaller whole numbers"):
        TwoPhaseRange(30e6, 30e6 + 1)
    with pytest.raises(ArgumentError, match="'sensor' must be a PhaseRange, got TwoPhaseRange"):
        phase_distance(TwoPhaseRange(30e6, 31e6), 1.0)  # type: ignore[arg-type]


# --- ultrasound -------------------------------------------------------------------------------------------------------


def test_polaroid_echo_times():
    """S6: 0.9 to 35 ft at 344 m/s are 1.595 to 62.02 ms."""
    sonar = polaroid_ranger()
    times = flight_time(sonar, [0.9 * 0.3048, 35 * 0.3048])
    np.testing.assert_allclose(times, [1.595e-3, 62.02e-3], rtol=1e-4)
    assert sonar.least_distance == pytest.approx(0.9 * 0.3048) and sonar.greatest_distance == pytest.approx(10.668)
    assert sonar.beam_angle == pytest.approx(np.radians(30))
    assert 2 * flight_distance_sigma(sonar) == pytest.approx(0.0254)
    assert sound_speed(21.3) == pytest.approx(344, abs=0.1)


def test_a_beam_reads_the_nearest_point_that_it_hears():
    rng, sonar = np.random.default_rng(0), Ultrasonic(pulse=1e-4, ring_down=4e-4, period=0.02)
    points = rng.normal(size=(300, 40, 3)) * [0.3, 0.3, 0.5] + [0, 0, 0.5]
    d = np.linalg.norm(points, axis=-1)
    inside = points[..., 2] >= np.cos(np.radians(15)) * d
    heard = inside & (d >= 0.086) & (d < 3.44)
    want = np.where(heard, d, np.inf).min(axis=1)
    np.testing.assert_allclose(beam_distance(sonar, points), np.where(np.isfinite(want), want, np.nan), rtol=1e-15)
    assert np.isnan(beam_distance(sonar, np.zeros((0, 3))))
    assert np.isnan(beam_distance(sonar, [[0, 0, 0.05]])) and np.isnan(beam_distance(sonar, [[0, 0, 4.0]]))


def test_bad_ultrasonics():
    with pytest.raises(ArgumentError, match="ring_down must be finite, 0 or more"):
        Ultrasonic(1e-3, -1e-3, 0.1)
    with pytest.raises(ArgumentError, match="period"):
        Ultrasonic(1e-3, 1e-3, 1e-3)
    with pytest.raises(ArgumentError, match="'sensor' must be an Ultrasonic"):
        beam_distance(PulsedRange(), np.zeros((1, 3)))  # type: ignore[arg-type]


def test_errors_of_what_is_not_seen_are_nan():
    """Where there is no distance, there is no standard deviation of it."""
    sensor = Triangulation(0.3, noise=Noise(sigma=1e-3))
    angles = np.array([0.5, 1.5, 2.0, -0.1])
    np.testing.assert_array_equal(
        np.isnan(triangulated_sigma(sensor, angles)), np.isnan(triangulated(sensor, angles).distance)
    )
    sheet = SheetOfLight(256, 0.1, 2.0, 1.0, Noise(sigma=0.5))
    columns = np.array([-1e5, 0.0, 128.0, 1000.0])
    distances = stripe_distance(sheet, columns)
    np.testing.assert_array_equal(np.isnan(distances), [True, False, False, True])
    np.testing.assert_array_equal(np.isnan(stripe_distance_sigma(sheet, columns)), np.isnan(distances))
    assert np.isnan(light_plane_point_covariance([0, 0, 0], [0, 0, -1], [0, 0, 1], 2.0, 1e-3)).all()


def test_a_stripe_is_never_behind_the_baseline():
    sensor = SheetOfLight(256, 3.0, 2.0, 1.0)
    np.testing.assert_array_equal(np.isnan(stripe_distance(sensor, [-1e4, 0.0])), [True, False])
