"""Sensors in a scene: lidars, ultrasonic beams, optical proximity and tactile pads against what geometry says."""

import numpy as np
import pytest
from support.solid_scenes import box_mesh, icosphere, random_scene

from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.sensing.optical_proximity import OpticalProximity, sensitive_interval
from adjoint.sensing.scene import (
    Box,
    Cylinder,
    Mesh,
    Plane,
    RangeNoise,
    Scene,
    Sphere,
    Textured,
    beam_directions,
    beam_echo,
    cast_rays,
    lidar_directions,
    lidar_scan,
    noisy_distances,
    proximity_signal,
    range_sigma,
    tactile_imprint,
)
from adjoint.sensing.ultrasonics import polaroid_ranger

DOWN = np.diag([1.0, -1, -1, 1])  # z points down


def above(height, turn=(0.0, 0.0, 0.0)):
    """Poses at a height that look down, tilted by a rotation vector."""
    T = np.tile(DOWN, (*np.shape(height), 1, 1))
    T[..., :3, :3] = DOWN[:3, :3] @ so3.exp(np.array(turn))
    T[..., 2, 3] = height
    return T


# --- lidar ------------------------------------------------------------------------------------------------------------


def test_a_lidar_in_a_room_measures_its_walls():
    room = Scene([Box([4.0, 6, 3])])
    azimuths = np.linspace(-np.pi, np.pi, 720, endpoint=False)
    scan = lidar_scan(room, np.eye(4), azimuths)
    x, y = np.cos(azimuths), np.sin(azimuths)
    with np.errstate(divide="ignore"):
        want = np.minimum(2 / np.abs(x), 3 / np.abs(y))
    np.testing.assert_allclose(scan.distance[0], want, rtol=1e-12)
    np.testing.assert_allclose(scan.point[0], want[:, None] * np.stack([x, y, 0 * x], axis=1), atol=1e-12)
    assert (scan.solid == 0).all()


def test_scans_of_several_poses_are_those_of_each():
    scene = random_scene(np.random.default_rng(0), 12, meshes=2)
    T = se3.random(5, rng=1)
    a, e = np.linspace(-1, 1, 60), np.radians([-10.0, 0, 10])
    scans = lidar_scan(scene, T, a, e)
    assert scans.distance.shape == (5, 3, 60) and scans.point.shape == (5, 3, 60, 3)
    for k in range(5):
        one = lidar_scan(scene, T[k], a, e)
        np.testing.assert_allclose(scans.distance[k], one.distance, rtol=1e-13)
        d = lidar_directions(a, e[:, None]) @ T[k, :3, :3].T
        np.testing.assert_allclose(one.distance, cast_rays(scene, T[k, :3, 3], d).distance, rtol=1e-12)
    nearest = lidar_scan(scene, T, a, e, nearest=0.5, farthest=1.5)
    inside = (scans.distance >= 0.5) & (scans.distance <= 1.5)
    np.testing.assert_array_equal(np.isfinite(nearest.distance), inside)
    assert np.isnan(nearest.point[~inside]).all() and (nearest.solid[~inside] == -1).all()


def test_noise_grows_with_distance_and_incidence():
    noise = RangeNoise(sigma=0.01, linear=0.002, quadratic=0.0005)
    d, c = np.array([1.0, 5.0, 5.0]), np.array([1.0, 1.0, -0.5])
    sigma = range_sigma(d, c, 0.01, 0.002, 0.0005)
    np.testing.assert_allclose(sigma, [0.0125, 0.0325, 0.065], rtol=1e-14)
    many = noisy_distances(np.tile(d, (20000, 1)), c, noise, rng=0)
    np.testing.assert_allclose(many.std(axis=0), sigma, rtol=4 / np.sqrt(2 * 20000))
    np.testing.assert_allclose(many.mean(axis=0), d, atol=4 * sigma.max() / np.sqrt(20000))
    lost = noisy_distances(np.ones(20000), 1.0, RangeNoise(dropout=0.3), rng=1)
    assert abs(np.isinf(lost).mean() - 0.3) < 4 * np.sqrt(0.21 / 20000)
    assert noisy_distances([np.inf, np.nan], 1.0, noise, rng=0)[0] == np.inf
    assert np.isnan(noisy_distances([np.inf, np.nan], 1.0, noise, rng=0)[1])
    assert (noisy_distances(np.full(1000, 0.001), 1.0, RangeNoise(sigma=1.0), rng=2) >= 0).all()


def test_noise_of_a_lidar_on_a_tilted_wall():
    wall = Scene([Plane(T_world_solid=se3.from_xyz_quat_wxyz([3.0, 0, 0, 1, 0, -1, 0]))])  # its normal is -x
    a = np.tile(np.linspace(-1.2, 1.2, 9), 3000)
    clean, scan = lidar_scan(wall, np.eye(4), a), lidar_scan(wall, np.eye(4), a, noise=RangeNoise(sigma=0.01), rng=3)
    np.testing.assert_allclose(clean.distance[0], 3 / np.cos(a), rtol=1e-12)
    error = (scan.distance - clean.distance).reshape(3000, 9)
    np.testing.assert_allclose(error.std(axis=0), 0.01 / np.cos(a[:9]), rtol=4 / np.sqrt(6000))
    lost = lidar_scan(wall, np.eye(4), a, noise=RangeNoise(grazing=1.0), rng=4)
    np.testing.assert_array_equal(np.isfinite(lost.distance[0]), np.abs(a) <= 1.0)


def test_bad_scans_are_named():
    scene = Scene([Plane()])
    for call, words in (
        (lambda: lidar_scan(scene, np.eye(3), [0]), "T_world_lidar"),
        (lambda: lidar_scan(scene, np.eye(4), [[0]]), "lists of angles"),
        (lambda: lidar_scan(scene, np.eye(4), [np.nan]), "finite"),
        (lambda: lidar_scan(scene, np.eye(4), [0], nearest=-1), "nearest"),
        (lambda: RangeNoise(sigma=-1), "sigma"),
        (lambda: RangeNoise(dropout=2), "dropout"),
        (lambda: noisy_distances([1.0], [1.0], "much"), "RangeNoise"),
        (lambda: noisy_distances([1.0], [1.0], RangeNoise(), rng="dice"), "rng"),
    ):
        with pytest.raises(ArgumentError, match=words):
            call()


# --- beams ------------------------------------------------------------------------------------------------------------


def test_rays_of_a_beam_fill_its_cone_evenly():
    d = beam_directions(np.arange(4000.0), 4000.0, 0.4)
    np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1, rtol=1e-14)
    angle = np.arccos(np.minimum(d[:, 2], 1))
    assert angle.max() == pytest.approx(0.4, abs=1e-9)
    for part in (0.1, 0.2, 0.3):  # the part of a cap's area within an angle
        assert np.mean(angle <= part) == pytest.approx((1 - np.cos(part)) / (1 - np.cos(0.4)), abs=2e-3)
    assert np.abs(d[:, :2].mean(axis=0)).max() < 1e-3


def test_echoes_come_from_the_nearest_surface_at_right_angles():
    sonar = polaroid_ranger()
    options = {"beam": sonar.beam_angle, "nearest": sonar.least_distance, "farthest": sonar.greatest_distance}
    floor = Scene([Plane()])
    for tilt in (0.0, 0.1, 0.2, 0.25):  # the foot of the perpendicular is in the beam: d is the height
        echo = beam_echo(floor, above(2.0, (tilt, 0, 0)), rays=4000, **options)
        assert echo.distance == pytest.approx(2.0, rel=1e-3)
        assert np.linalg.norm(echo.point) < 0.1
    # At a larger tilt the beam meets the floor nowhere at right angles, but some sound comes back up to a limit.
    tilt, half = 0.5, sonar.beam_angle / 2
    echo = beam_echo(floor, above(2.0, (tilt, 0, 0)), rays=20000, incidence=0.4, **options)
    assert echo.distance == pytest.approx(2.0 / np.cos(tilt - half), rel=3e-3)
    silent = beam_echo(floor, above(2.0, (tilt, 0, 0)), incidence=tilt - half - 0.02, **options)
    assert silent.distance == np.inf and silent.solid == -1 and np.isnan(silent.point).all()
    assert beam_echo(floor, above(0.2), **options).distance == np.inf  # it still rings
    assert beam_echo(floor, above(11.0), **options).distance == np.inf  # the echo is too late


def test_a_beam_sees_what_is_beside_its_axis():
    scene = Scene([Plane(), Sphere(0.1, T_world_solid=[0.3, 0, 1.0])])
    echo = beam_echo(scene, above(2.5), beam=0.6, rays=20000, incidence=0.3)
    assert echo.solid == 1
    assert echo.distance == pytest.approx(np.hypot(0.3, 1.5) - 0.1, rel=2e-3)
    heights = np.array([1.5, 2.0, 2.5])
    many = beam_echo(scene, above(heights), beam=0.6, rays=2000)
    one = [float(beam_echo(scene, above(h), beam=0.6, rays=2000).distance) for h in heights]
    np.testing.assert_allclose(many.distance, one, rtol=1e-12)
    with pytest.raises(ArgumentError, match="beam"):
        beam_echo(scene, above(1.0), beam=4.0)
    with pytest.raises(ArgumentError, match="rays"):
        beam_echo(scene, above(1.0), rays=2.5)


def test_the_pencil_of_an_optical_sensor():
    """Problem 6.8: lenses of 4 mm, 6 mm apart, each cone ends 40 mm before the other lens: 10 mm to 25 mm are seen."""
    sensor = OpticalProximity(lens_diameter=4e-3, separation=6e-3, vertex_distance=40e-3)
    first, last = sensitive_interval(sensor)
    np.testing.assert_allclose([first, last], [0.010, 0.025], rtol=1e-12)
    heights = np.linspace(0.005, 0.035, 121)
    signal = proximity_signal(Scene([Plane()]), sensor, above(heights), rays=2000)
    seen = heights[signal > 0]
    assert first - 1e-9 <= seen.min() < 0.0115 and 0.0235 < seen.max() <= last + 1e-9
    assert signal.max() == pytest.approx(1.0) and heights[np.argmax(signal)] == pytest.approx(0.02, abs=0.002)
    assert (proximity_signal(Scene(), sensor, above(heights)) == 0).all()
    blocked = Scene([Plane(), Box([0.002, 0.01, 0.002], T_world_solid=[0.0025, 0, 0.012])])  # before the detector
    free = proximity_signal(Scene([Plane()]), sensor, above(0.017))
    assert proximity_signal(blocked, sensor, above(0.017)) < free
    with pytest.raises(ArgumentError):
        proximity_signal(Scene([Plane()]), "sensor", above(0.01))  # type: ignore[arg-type]


# --- touch ------------------------------------------------------------------------------------------------------------


def test_the_imprint_of_a_ball_is_a_cap():
    """The depth at a distance s of the middle is h - (R - √(R² - s²)), and its volume is π h² (R - h/3)."""
    R, h, k = 0.01, 0.001, 1e9
    ball = Sphere(R, T_world_solid=[0, 0, R - h])
    pad = tactile_imprint(Scene([ball]), np.eye(4), taxels=(201, 201), size=(0.02, 0.02), stiffness=k)
    s2 = (pad.positions**2).sum(axis=-1)
    want = np.where(s2 < R * R, np.maximum(h - (R - np.sqrt(np.maximum(R * R - s2, 0))), 0), 0)
    np.testing.assert_allclose(pad.penetration, want, atol=1e-15)
    assert pad.force.sum() == pytest.approx(k * np.pi * h * h * (R - h / 3), rel=1e-3)
    np.testing.assert_allclose(pad.wrench, [0, 0, 0, 0, 0, -pad.force.sum()], atol=1e-9)


def test_the_wrench_of_a_pad_is_that_of_its_forces():
    pose = se3.random(rng=5)
    block = Box([0.006, 0.004, 0.01], T_world_solid=pose @ se3.from_xyz_quat_wxyz([0.004, -0.003, 0.0045, 1, 0, 0, 0]))
    pad = tactile_imprint(Scene([block]), pose, taxels=(40, 50), size=(0.025, 0.02))
    np.testing.assert_allclose(pad.penetration.max(), 0.0005, rtol=1e-9)
    middle = pad.positions[pad.penetration > 0].mean(axis=0)
    np.testing.assert_allclose(middle, [0.004, -0.003], atol=3e-4)
    f = pad.force.ravel()
    arms = np.concatenate([pad.positions.reshape(-1, 2), np.zeros((len(f), 1))], axis=1)
    forces = np.stack([0 * f, 0 * f, -f], axis=1)
    np.testing.assert_allclose(pad.wrench[:3], np.cross(arms, forces).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(pad.wrench[3:], forces.sum(axis=0), atol=1e-12)
    assert f.sum() == pytest.approx(1e8 * 0.006 * 0.004 * 0.0005, rel=0.1)


def test_deep_imprints_are_as_deep_as_the_skin():
    for solid in (
        Box([1, 1, 1]),
        Sphere(1.0),
        Cylinder(1.0, 1.0),
        Mesh(icosphere(2)),
        Mesh(box_mesh([1, 1, 1])),
        Plane(T_world_solid=[0, 0, 0.5]),
        Plane(T_world_solid=se3.from_xyz_quat_wxyz([0, 0, -0.5, 0, 1, 0, 0])),  # a ceiling
    ):
        assert (tactile_imprint(Scene([solid]), np.eye(4), thickness=0.005).penetration == 0.005).all()
    ceiling = Plane(T_world_solid=se3.from_xyz_quat_wxyz([0, 0, -0.002, 0, 1, 0, 0]))
    np.testing.assert_allclose(tactile_imprint(Scene([ceiling]), np.eye(4)).penetration, 0.002, rtol=1e-9)
    card = Textured([1, 1], np.zeros((1, 1)), T_world_solid=[0, 0, -0.001])  # a thin sheet, with z either way
    for thin in (card, card.at(se3.from_xyz_quat_wxyz([0, 0, -0.001, 0, 1, 0, 0]))):
        np.testing.assert_allclose(tactile_imprint(Scene([thin]), np.eye(4)).penetration, 0.001, rtol=1e-9)
    for empty in (Scene(), Scene([Sphere(0.01, T_world_solid=[0, 0, 0.02])])):
        assert (tactile_imprint(empty, np.eye(4)).penetration == 0).all()


def test_pads_at_several_poses_and_bad_pads():
    ball = Scene([Sphere(0.01)])
    heights = np.array([-0.0095, -0.009, -0.02])
    T = np.tile(np.eye(4), (3, 1, 1))
    T[:, 2, 3] = heights
    pads = tactile_imprint(ball, T, taxels=(9, 9))
    np.testing.assert_allclose(pads.penetration.max(axis=(1, 2)), [0.0005, 0.001, 0], atol=1e-9)
    assert pads.wrench.shape == (3, 6) and pads.positions.shape == (9, 9, 2)
    for options, words in (
        ({"taxels": (0, 4)}, "taxels"),
        ({"taxels": 4}, "taxels"),
        ({"size": (0, 1)}, "size"),
        ({"thickness": 0}, "thickness"),
        ({"stiffness": -1}, "stiffness"),
    ):
        with pytest.raises(ArgumentError, match=words):
            tactile_imprint(ball, np.eye(4), **options)
