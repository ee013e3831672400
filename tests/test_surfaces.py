"""Planar patches of range images with known truth, and the gradient of volumes."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import chi2
from support.range_images import ball, box, cylinder, plane, range_image

from adjoint.errors import ArgumentError
from adjoint.lie import so3
from adjoint.vision.surfaces import planar_patches, volume_gradient

FLOOR = plane([0, -1, -0.6], -1.4)
TURNED = so3.exp.eager([0.5, 0.6, 0.2])
BOX = box(TURNED, [-0.25, 0.1, 1.6], [0.4, 0.5, 0.3])
BALL = ball(np.array([0.35, 0.1, 1.5]), 0.22)
ROLLER = cylinder(np.array([0, -0.45, 1.9]), [1, 0.1, 0], 0.15)


def scene(solids, sigma, *, size=(240, 320), rng=0):
    return range_image(solids, size=size, focal=size[1], sigma=sigma, rng=rng)


# --- patches ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [1e-5, 1e-4, 1e-3, 3e-3])
def test_a_scene_becomes_its_planes_and_curved_surfaces(sigma):
    """A floor in two parts, three faces of a box; a ball and a roller. Limbs of round bodies stay undefined."""
    image = scene([FLOOR, BOX, BALL, ROLLER], sigma)
    for found in (planar_patches(image.points, sigma=sigma), planar_patches(image.points)):
        assert found.classes[:7] == ("P",) * 5 + ("C",) * 2 and set(found.classes[7:]) <= {"U"}
        for label, kind in enumerate(found.classes, 1):
            true = image.surface[found.labels == label]
            most = np.bincount(true).argmax()
            if kind != "U":
                assert (true == most).mean() > 0.97
                assert (most in (5, 6)) == (kind == "C")
        assert (found.labels[np.isin(image.surface, [0, 2, 3, 4])] > 0).mean() > 0.98
        # The median cell includes round ones, which are not flat.
        assert found.sigma == pytest.approx(sigma, rel=0.12) or sigma < 1e-4


@pytest.mark.slow
def test_planes_are_found_within_their_covariance():
    sigma, errors = 1e-3, []
    n = np.array([0, -1, -0.6]) / np.hypot(1, 0.6)
    true = np.append(-TURNED[:, 2], 0.0)
    true[3] = true[:3] @ (np.array([-0.25, 0.1, 1.6]) - 0.15 * TURNED[:, 2])
    for seed in range(30):
        found = planar_patches(scene([FLOOR, BOX], sigma, rng=seed).points, sigma=sigma)
        assert (found.planes[np.array(found.classes) == "P", 2] < 0).all()  # towards the sensor
        for want in (np.append(n, -1.4), true):
            row = np.argmin(np.abs(found.planes - want).max(axis=1))
            off, covariance = found.planes[row] - want, found.covariances[row]
            errors.append(off @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ off)
            assert found.rms[row] == pytest.approx(sigma, rel=0.05)
    # Each is chi-squared with three degrees of freedom; points far beyond an edge that happen to fit make some more.
    assert np.mean(errors) < 1.5 * 3 and np.mean(np.array(errors) < chi2.ppf(0.99, 3)) > 0.9
    assert np.mean(errors) > 0.6 * 3


def test_a_ball_and_a_roller_are_curved_whatever_their_size():
    for radius in (0.2, 0.4, 1.5):
        image = scene([ball(np.array([0, 0, 1.2 + radius]), radius)], 3e-4, size=(160, 160))
        found = planar_patches(image.points, sigma=3e-4)
        assert found.classes[0] == "C" and "P" not in found.classes, radius
        assert np.isnan(found.planes).all() and np.isnan(found.covariances).all()


def test_a_plane_is_one_patch_with_holes_or_without():
    rng = np.random.default_rng(3)
    image = scene([plane([0.2, 0.3, -1], -2)], 5e-4, size=(123, 157))
    holes = rng.random(image.points.shape[:2]) < 0.2
    points = image.points.copy()
    points[holes] = np.nan
    points[40:60, 70:90] = np.inf
    found = planar_patches(points, sigma=5e-4)
    assert found.classes == ("P",) and (found.labels[np.isfinite(points).all(axis=-1)] == 1).mean() > 0.999
    assert not found.labels[holes].any()
    whole = planar_patches(image.points, sigma=5e-4)
    assert whole.classes == ("P",) and whole.counts[0] >= 0.999 * whole.labels.size
    n = np.array([0.2, 0.3, -1]) / np.linalg.norm([0.2, 0.3, -1])
    np.testing.assert_allclose(whole.planes[0], [*n, -2], atol=6 * np.sqrt(np.diag(whole.covariances[0]).max()))


def test_two_sheets_at_a_small_step_are_two_surfaces():
    """A step of ten times the noise of a cell's centre, 10 σ / 8, is seen."""
    v, u = np.mgrid[:128, :128] / 128.0
    sigma = 1e-3
    rng = np.random.default_rng(0)
    z = 2 + np.where(u < 0.5, 0.0, 10 * sigma) + sigma * rng.normal(size=u.shape)
    found = planar_patches(np.stack([u, v, z], axis=-1), sigma=sigma)
    assert found.classes == ("P", "P")
    level = 2 + np.where(u < 0.5, 0.0, z * 0)
    flat = planar_patches(np.stack([u, v, level + sigma * rng.normal(size=u.shape)], axis=-1), sigma=sigma)
    assert flat.classes == ("P",)


def test_noise_may_differ_from_pixel_to_pixel():
    rng = np.random.default_rng(1)
    v, u = np.mgrid[:96, :96] / 96.0
    sigma = 1e-4 + 2e-3 * u
    points = np.stack([u, v, 2 + 0.3 * u + sigma * rng.normal(size=u.shape)], axis=-1)
    assert planar_patches(points, sigma=sigma).classes == ("P",)
    assert planar_patches(points, sigma=1e-4).classes != ("P",)


def test_results_move_with_the_points():
    """A rigid motion of points and viewpoint moves planes and keeps labels."""
    image = scene([FLOOR, BOX], 1e-3)
    R, p = so3.exp.eager([0.3, -1.0, 2.0]), np.array([5.0, -3.0, 2.0])
    here, there = (
        planar_patches(image.points, sigma=1e-3),
        planar_patches(image.points @ R.T + p, sigma=1e-3, viewpoint=p),
    )
    assert np.array_equal(here.labels, there.labels)
    flat = np.array(here.classes) == "P"
    np.testing.assert_allclose(there.planes[flat, :3], here.planes[flat, :3] @ R.T, atol=1e-9)
    np.testing.assert_allclose(there.planes[flat, 3], here.planes[flat, 3] + there.planes[flat, :3] @ p, atol=1e-9)


def test_nothing_is_found_where_nothing_is():
    found = planar_patches(np.full((20, 30, 3), np.nan))
    assert found.classes == () and not found.labels.any() and found.planes.shape == (0, 4)
    noise = np.random.default_rng(0).normal(size=(64, 64, 3))
    assert "P" not in planar_patches(noise, sigma=1e-3).classes
    assert planar_patches(np.zeros((1, 1, 3))).classes == ()
    assert planar_patches(np.zeros((40, 40, 3))).classes in ((), ("U",))  # all points are one


@pytest.mark.parametrize(
    "points, options, message",
    [
        (np.zeros((5, 5)), {}, r"\(rows, columns, 3\).*depth_points"),
        (np.zeros((5, 5, 2)), {}, "rows, columns, 3"),
        (np.zeros((0, 5, 3)), {}, "rows, columns, 3"),
        ("points", {}, "rows, columns, 3"),
        (np.zeros((5, 5, 3), complex), {}, "rows, columns, 3"),
        (np.zeros((9, 9, 3)), {"sigma": -1.0}, "sigma must be positive"),
        (np.zeros((9, 9, 3)), {"sigma": np.ones(3)}, "sigma must be positive"),
        (np.zeros((9, 9, 3)), {"sigma": np.nan}, "sigma"),
        (np.zeros((9, 9, 3)), {"cell": 2}, "cell is 2"),
        (np.zeros((9, 9, 3)), {"viewpoint": (0, 0)}, "viewpoint"),
        (np.zeros((9, 9, 3)), {"crease": 0}, "crease"),
        (np.zeros((9, 9, 3)), {"smallest": 1.5}, "smallest"),
    ],
)
def test_bad_input_of_patches(points, options, message):
    with pytest.raises(ArgumentError, match=message):
        planar_patches(points, **options)


# --- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (0.7, 1.1, 2.0)])
def test_the_sums_are_those_of_all_27_weights(spacing):
    f = np.random.default_rng(0).normal(size=(7, 5, 6))
    ways = (np.indices((3, 3, 3)) - 1) * np.array(spacing)[:, None, None, None]
    length = np.linalg.norm(ways, axis=0)
    length[1, 1, 1] = 1
    want = np.stack([ndimage.correlate(f, way / length, mode="nearest") for way in ways], axis=-1)
    np.testing.assert_allclose(volume_gradient(f, spacing=spacing, scaled=False).vectors, want, atol=1e-13)


def test_the_mask_is_that_of_zucker_and_hummel():
    impulse = np.zeros((5, 5, 5))
    impulse[2, 2, 2] = 1
    # The response to an impulse is the mirrored mask.
    mask = volume_gradient(impulse, scaled=False).vectors[1:4, 1:4, 1:4, 0][::-1, ::-1, ::-1]
    assert mask[2, 1, 1] == 1 and not mask[1].any() and np.array_equal(mask[2], -mask[0])
    np.testing.assert_allclose(mask[2, 1, 2], np.sqrt(2) / 2)
    np.testing.assert_allclose(mask[2, 2, 2], np.sqrt(3) / 3)
    x = np.indices((5, 5, 5))[0].astype(float)
    assert volume_gradient(x, scaled=False).vectors[2, 2, 2, 0] == pytest.approx(12.2757, abs=5e-5)


@pytest.mark.parametrize("spacing", [1.0, 0.01, (0.5, 1.0, 3.0)])
def test_linear_functions_have_their_gradient(spacing):
    slope = np.array([2.0, -1.0, 0.5])
    x = np.moveaxis(np.indices((6, 7, 8)), 0, -1) * np.broadcast_to(spacing, 3)
    found = volume_gradient(x @ slope, spacing=spacing)
    inner = (slice(1, -1),) * 3
    np.testing.assert_allclose(found.vectors[inner], np.broadcast_to(slope, found.vectors[inner].shape), rtol=1e-10)
    np.testing.assert_allclose(found.magnitude[inner], np.linalg.norm(slope), rtol=1e-10)
    np.testing.assert_allclose(found.directions[inner], np.broadcast_to(slope / np.linalg.norm(slope), (4, 5, 6, 3)))
    absolute = volume_gradient(x @ slope, spacing=spacing, norm="absolute")
    np.testing.assert_allclose(absolute.magnitude[inner], 3.5, rtol=1e-10)


def test_constants_have_none_and_directions_point_upwards():
    """The textbook says that the gradient is normal to the direction of greatest change; it points along it."""
    flat = volume_gradient(np.full((4, 5, 6), 0.1))
    assert not flat.vectors.any() and not flat.directions.any()
    x = np.moveaxis(np.indices((21, 21, 21)), 0, -1) - 10.0
    r = np.linalg.norm(x, axis=-1)
    far = r > 4  # voxels of curvature
    inner = np.zeros(far.shape, bool)
    inner[1:-1, 1:-1, 1:-1] = True
    found = volume_gradient(r)
    along = (found.directions * x).sum(axis=-1)[far & inner] / r[far & inner]
    assert along.min() > 0.999
    np.testing.assert_allclose(found.magnitude[far & inner], 1, atol=0.04)


def test_rotations_of_the_cube_rotate_gradients():
    f = np.random.default_rng(0).normal(size=(6, 6, 6))
    here, there = volume_gradient(f).vectors, volume_gradient(np.transpose(f, (1, 2, 0))).vectors
    np.testing.assert_allclose(there, np.transpose(here, (1, 2, 0, 3))[..., [1, 2, 0]], atol=1e-15)
    np.testing.assert_allclose(volume_gradient(f[::-1]).vectors[..., 0], -here[::-1, ..., 0], atol=1e-15)


def test_smoothing_makes_it_sobel_like():
    """On a blurred step, Zucker-Hummel and SciPy's Sobel agree up to a few percent."""
    f = ndimage.gaussian_filter((np.indices((20, 20, 20)).sum(axis=0) > 30).astype(float), 2)
    own, sobel = volume_gradient(f).vectors, np.stack([ndimage.sobel(f, k) / 32 for k in range(3)], axis=-1)
    inner = (slice(2, -2),) * 3
    np.testing.assert_allclose(own[inner], sobel[inner], atol=0.03 * np.abs(sobel).max())


@pytest.mark.parametrize("kind", [bool, np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_volumes_of_any_type(kind):
    f = np.random.default_rng(0).integers(0, 2, (4, 5, 6))
    found = volume_gradient(f.astype(kind))
    assert found.vectors.dtype == (np.float32 if kind is np.float32 else np.float64)
    np.testing.assert_allclose(found.vectors, volume_gradient(f.astype(float)).vectors, atol=1e-6)


@pytest.mark.parametrize(
    "volume, options",
    [
        (np.zeros((4, 4)), {}),
        (np.zeros((0, 4, 4)), {}),
        ("volume", {}),
        (np.zeros((3, 3, 3), complex), {}),
        (np.zeros((3, 3, 3)), {"spacing": 0}),
        (np.zeros((3, 3, 3)), {"spacing": (1, 2)}),
        (np.zeros((3, 3, 3)), {"norm": "largest"}),
        (np.zeros((3, 3, 3)), {"scaled": 1}),
    ],
)
def test_bad_volumes(volume, options):
    with pytest.raises(ArgumentError, match="volume_gradient"):
        volume_gradient(volume, **options)


def test_one_voxel_has_no_gradient():
    assert not volume_gradient([[[3.0]]]).vectors.any()
