"""Stereo: points and their images are inverse to each other, covariances are those of experiments, and real pairs."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.trees import close

from adjoint.compile import check_grads
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.vision.cameras import Camera, looking_at, on_plane, project, rays, undistort_points
from adjoint.vision.stereo import (
    StereoPair,
    aligned_covariance,
    aligned_images,
    aligned_point,
    calibrate_stereo,
    epipolar_distance,
    epipolar_line,
    essential_matrix,
    fundamental_matrix,
    match_stereo,
    rectify,
    reproject_disparity,
    triangulate,
)

LENS = [-0.2, 0.05, 0.001, -0.001, 0.01]


def cameras(distortion=LENS) -> list[Camera]:
    """Three cameras about 1.4 m from the origin, which they look at."""
    camera = Camera.pinhole((640, 480), 1.0, distortion=distortion)
    return [camera.at(looking_at(p, [0, 0, 0])) for p in ([1, 0, 1.0], [0, 1, 1.2], [-0.5, 0.7, 1])]


def scene(n=50, seed=0) -> np.ndarray:
    return 0.15 * np.random.default_rng(seed).normal(size=(n, 3))


# --- the textbook's aligned stereo ------------------------------------------------------------------------------------


def test_the_worked_example():
    """X12 of the digest."""
    x_1, y_1, x_2 = aligned_images([0.2, 0.1, 1.5], 0.035, 0.1)
    close([x_1, y_1, x_2], [-0.0047781570, -0.0023890785, -0.0071672355], 1e-8)
    close(aligned_point(-0.0047781570, -0.0023890785, -0.0071672355, 0.035, 0.1), [0.2, 0.1, 1.5], 1e-7)


def test_aligned_points_and_images_are_inverse():
    rng = np.random.default_rng(0)
    points = rng.uniform([-1, -1, 0.1], [1, 1, 9], (200, 3))
    images = aligned_images(points, 0.035, 0.1)
    assert (images.x_2 < images.x_1).all()  # images are inverted, and camera 2 stands at -B
    close(aligned_point(*images, 0.035, 0.1), points, 1e-10)
    assert np.isnan(aligned_images([0.0, 0, 0.03], 0.035, 0.1).x_1)  # behind the lens
    assert np.isnan(aligned_point(0.001, 0.0, 0.001, 0.035, 0.1)).all()  # no disparity


def test_the_book_s_frame_is_that_of_a_pair():
    """With x_cv = X, Z_cv = Z - λ, camera 2 is the left one of an upright pair: u_2 - u_1 = -(x_2 - x_1) / pixel."""
    focal_length, baseline, pixel = 0.035, 0.1, 1e-5
    camera = Camera.pinhole((4000, 3000), focal_length=focal_length / pixel)
    left = camera.at(se3.from_rotation_translation(np.eye(3), [-baseline, 0, 0]))
    pair = StereoPair(left, camera)
    point = np.array([0.2, 0.1, 1.5])
    book = aligned_images(point, focal_length, baseline)
    seen = [project(c, point - [0, 0, focal_length]) for c in (pair.right, pair.left)]
    close(seen[1][0] - seen[0][0], -(book.x_2 - book.x_1) / pixel, 1e-10)
    close(seen[0] - camera.matrix[:2, 2], -np.array([book.x_1, book.y_1]) / pixel, 1e-10)


def test_aligned_covariance_is_that_of_experiments():
    sigma, rng = 2e-6, np.random.default_rng(1)
    images = np.array(aligned_images([0.3, -0.2, 1.5], 0.035, 0.1))
    noisy = images + sigma * rng.normal(size=(40_000, 3))
    found = aligned_point(*noisy.T, 0.035, 0.1)
    C = aligned_covariance(*images, 0.035, 0.1, sigma)
    close(np.cov(found.T), C, 0.03)  # four standard errors of a variance of 40 000 samples are 2.8 %
    close(np.sqrt(C[2, 2]), np.sqrt(2) * sigma * (1.5 - 0.035) ** 2 / (0.035 * 0.1), 1e-12)


@pytest.mark.slow
def test_derivatives_of_aligned_stereo():
    check_grads(aligned_point, -0.004, -0.002, -0.007, 0.035, 0.1)


# --- epipolar geometry and triangulation ------------------------------------------------------------------------------


def test_pixels_of_one_point_obey_the_epipolar_constraint():
    first, second, _ = cameras()
    pair = StereoPair(first, second)
    a, b = (undistort_points(camera, project(camera, scene())) for camera in (first, second))
    F, E = fundamental_matrix(pair), essential_matrix(pair)
    assert np.abs(epipolar_distance(F, a, b)).max() < 1e-9
    assert np.abs(epipolar_distance(F.T, b, a)).max() < 1e-9
    s = np.linalg.svd(E, compute_uv=False)  # two equal singular values, the baseline, and 0
    close(s, [pair.baseline, pair.baseline, 0], 1e-12)
    line = epipolar_line(F, a[0])
    close(line[:2] @ line[:2], 1.0, 1e-12)
    away = b[0] + 3 * line[:2]  # three pixels at right angles to the line
    close(epipolar_distance(F, a[0], away), 3.0, 1e-9)


def test_triangulation_inverts_projection():
    every, points = cameras(), scene()
    pixels = np.stack([project(camera, points) for camera in every], axis=1)
    found = triangulate(every, pixels)
    close(found.points, points, 1e-10)
    close(found.linear, points, 1e-9)
    assert found.error.max() < 1e-8
    close(triangulate(StereoPair(*every[:2]), pixels[:, :2]).points, points, 1e-10)
    T = se3.random(rng=3)  # everything carried elsewhere
    moved = triangulate([camera.at(T @ camera.T_world_camera) for camera in every], pixels)
    close(moved.points, se3.act(T, points), 1e-9)


def test_triangulation_is_at_the_bound():
    """Errors over 20 000 repeats have the covariance that is given, and residuals the expected size."""
    every, sigma, rng = cameras(), np.array([0.3, 0.5, 0.8]), np.random.default_rng(2)
    x = np.array([0.1, -0.05, 0.12])
    pixels = np.stack([project(camera, x) for camera in every])
    noisy = pixels + sigma[:, None] * rng.normal(size=(20_000, 3, 2))
    found = triangulate(every, noisy, sigma=sigma)
    e = found.points - x
    C = triangulate(every, pixels, sigma=sigma).covariance
    close(np.cov(e.T), C, 0.04)
    chi2 = np.einsum("ni,nij,nj->n", e, np.linalg.inv(found.covariance), e)
    low, high = stats.chi2.ppf([1e-5, 1 - 1e-5], 3 * len(e))
    assert low < chi2.sum() < high
    assert abs(np.mean(found.error**2) - 1) < 0.03
    linear = found.linear - x
    assert np.trace(np.cov(e.T)) < np.trace(np.cov(linear.T))  # the refinement is better than the mean of rays


def test_triangulation_agrees_with_opencv():
    """Without noise OpenCV's linear method finds the same points."""
    import cv2

    first, second, _ = cameras(())
    a, b = (project(camera, scene()) for camera in (first, second))
    X = cv2.triangulatePoints(first.projection_matrix, second.projection_matrix, a.T.copy(), b.T.copy())
    close(triangulate([first, second], np.stack([a, b], axis=1)).points, (X[:3] / X[3]).T, 1e-6)


def test_cameras_that_do_not_see_a_point_are_left_out():
    every, points = cameras(), scene(4)
    pixels = np.stack([project(camera, points) for camera in every], axis=1)
    pixels[1, 2] = pixels[2, :2] = np.nan
    found = triangulate(every, pixels)
    close(found.points[[0, 1, 3]], points[[0, 1, 3]], 1e-10)
    assert np.isnan(found.points[2]).all()  # one camera is left
    assert (np.linalg.eigvalsh(found.covariance[1]) > np.linalg.eigvalsh(found.covariance[0]) / 3).all()
    behind = np.array([[100.0, 240], [500.0, 240]])  # rays that part
    assert np.isnan(triangulate(StereoPair.aligned(Camera.pinhole((640, 480), 1.0), 0.1), behind).points).all()


def test_bad_arguments_of_triangulation():
    every = cameras()
    for error, call in (
        ("two or more Cameras", lambda: triangulate(every[:1], np.zeros((1, 2)))),
        (r"\(\.\.\., 3, 2\) is needed", lambda: triangulate(every, np.zeros((2, 2)))),
        ("'sigma' \\[pixels\\] must be positive", lambda: triangulate(every, np.zeros((3, 2)), sigma=0)),
        ("must be a Camera", lambda: StereoPair(every[0], None)),
        ("lens centres at one place", lambda: StereoPair(every[0], every[0])),
        ("'pair' must be a StereoPair", lambda: essential_matrix(every)),
    ):
        with pytest.raises(ArgumentError, match=error):
            call()


# --- rectification ----------------------------------------------------------------------------------------------------


def crooked() -> StereoPair:
    """Two different cameras, the right one turned and displaced in all directions."""
    left = Camera.pinhole((320, 240), 1.0, distortion=LENS).at(se3.exp([0.1, 0.2, -0.1, 1, 2, 3]))
    right = Camera.pinhole((300, 260), 1.1, distortion=[0.05, 0, 0, 0])
    return StereoPair(left, right.at(left.T_world_camera @ se3.exp([0.05, -0.1, 0.08, 0.2, 0.03, -0.02])))


def in_front(pair: StereoPair, n=100) -> np.ndarray:
    rng = np.random.default_rng(0)
    return se3.act(pair.left.T_world_camera, rng.uniform([-0.3, -0.3, 1], [0.3, 0.3, 3], (n, 3)))


def test_rectified_pairs_see_a_point_in_one_row():
    pair = crooked()
    flat = rectify(pair).pair
    points = in_front(pair)
    a, b = project(flat.left, points), project(flat.right, points)
    assert np.abs(a[:, 1] - b[:, 1]).max() < 1e-9
    depth = se3.act(flat.left.T_camera_world, points)[:, 2]
    close(a[:, 0] - b[:, 0], flat.left.matrix[0, 0] * flat.baseline / depth, 1e-10)
    close(flat.baseline, pair.baseline, 1e-12)
    corners = [[0, 0], [319, 0], [0, 239], [319, 239]]  # all of the left image is in the rectified one
    seen = project(flat.left, flat.left.T_world_camera[:3, 3] + rays(pair.left, corners).directions)
    assert (seen > -0.6).all() and (seen < np.array(flat.left.size) - 0.4).all()


def test_rectified_images_show_the_same_scene():
    """A pattern on a plane, drawn for the crooked cameras, is found by the rectified ones, level by level."""
    pair = crooked()
    plane = pair.left.T_world_camera @ se3.from_rotation_translation(np.eye(3), [0, 0, 2.0])
    images = [pattern(camera, plane) for camera in (pair.left, pair.right)]
    found = rectify(pair, *images)
    want = [pattern(camera, plane) for camera in (found.pair.left, found.pair.right)]
    for got, right in zip((found.left, found.right), want, strict=True):
        assert got is not None
        inside = got > 0
        assert inside.mean() > 0.3 and got.dtype == np.float64
        assert np.median(np.abs(got - right)[inside]) < 0.003  # linear interpolation


def pattern(camera: Camera, plane: np.ndarray) -> np.ndarray:
    """A smooth pattern (rows, columns) on the plane z = 0 of a frame, between 0.5 and 1.5."""
    columns, rows = camera.size
    u, v = np.meshgrid(np.arange(columns), np.arange(rows))
    x = se3.act(se3.inverse(plane), on_plane(camera, np.stack([u, v], axis=-1).astype(float), plane))
    return np.nan_to_num(1 + 0.25 * np.sin(9 * x[..., 0]) + 0.25 * np.cos(7 * x[..., 1]))


def test_pairs_that_cannot_be_rectified():
    camera = Camera.pinhole((64, 48), 1.0)
    behind = StereoPair(camera, camera.at(se3.from_rotation_translation(np.eye(3), [0, 0, -1.0])))
    with pytest.raises(ArgumentError, match="stands in front of the other"):
        rectify(behind)
    apart = StereoPair(camera, camera.at(se3.exp([0, 3.0, 0, 0.5, 0, 0])))
    with pytest.raises(ArgumentError, match=r"in front of the other|too wide"):
        rectify(apart)
    with pytest.raises(ArgumentError, match="the image has shape"):
        rectify(StereoPair.aligned(camera, 0.1), np.zeros((5, 5)), np.zeros((5, 5)))


# --- matching ---------------------------------------------------------------------------------------------------------


def test_shifted_images_have_their_shift_as_disparity():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 255, (80, 160), dtype=np.uint8)
    for image in (left, np.stack([left, left[::-1], left], axis=-1)):
        d = match_stereo(image, np.roll(image, -7, axis=1), disparities=16)
        assert d.dtype == np.float32 and np.nanmedian(np.abs(d - 7)) < 0.1
        assert np.isnan(d[:, :16]).all()


def test_bad_arguments_of_matching():
    image = np.zeros((40, 60), np.uint8)
    for error, call in (
        ("must be of 8 bits", lambda: match_stereo(image.astype(float), image)),
        ("of one shape", lambda: match_stereo(image, image[:30])),
        ("multiple of 16", lambda: match_stereo(image, image, disparities=20)),
        ("leave nothing of 60 columns", lambda: match_stereo(image, image, disparities=64)),
        ("'window' is 4", lambda: match_stereo(image, image, disparities=16, window=4)),
        ("mode is 'best'", lambda: match_stereo(image, image, disparities=16, mode="best")),
        ("no pixels", lambda: match_stereo(image[:0], image[:0])),
        ("not rectified", lambda: reproject_disparity(crooked(), np.ones((240, 320)))),
        ("floats", lambda: reproject_disparity(StereoPair.aligned(Camera.pinhole((60, 40), 1.0), 0.1), image)),
    ):
        with pytest.raises(ArgumentError, match=error):
            call()


def test_disparities_mean_the_points_that_made_them():
    camera = Camera.pinhole((64, 48), focal_length=80).at(se3.random(rng=1))
    pair = StereoPair.aligned(camera, 0.12)
    rng = np.random.default_rng(0)
    d = rng.uniform(1, 20, (48, 64))
    d[3, 4], d[5, 6] = np.nan, -2.0
    found = reproject_disparity(pair, d, sigma=0.4)
    assert np.isnan(found.points[3, 4]).all() and np.isnan(found.depth[5, 6])
    u = project(pair.left, found.points)
    close(u[10, 20], [20.0, 10.0], 1e-9)
    close((u - project(pair.right, found.points))[20, 30], [d[20, 30], 0.0], 1e-9)
    # the error of the depth, and of the point along its ray, by an experiment
    many = d.copy()
    many[:] = 8 + 0.4 * rng.normal(size=d.shape)
    spread = reproject_disparity(pair, many, sigma=0.4)
    mean = reproject_disparity(pair, np.full_like(d, 8.0), sigma=0.4)
    close(np.std(spread.depth - mean.depth), mean.depth_sigma[0, 0], 0.1)
    C = mean.covariance(pair)[7, 9]
    along = mean.points[7, 9] - pair.left.T_world_camera[:3, 3]
    close(C, np.outer(along, along) * (mean.depth_sigma[7, 9] / mean.depth[7, 9]) ** 2, 1e-12)


@pytest.mark.slow
def test_a_real_pair_with_known_disparities():
    """The motorcycle of the Middlebury 2014 data, a quarter of its size: most disparities are found to a pixel."""
    from skimage import data

    left, right, true = data.stereo_motorcycle()
    found = match_stereo(left, right, disparities=96)
    known = np.isfinite(true) & (true > 0)
    both = known & np.isfinite(found)
    assert both.sum() > 0.65 * known.sum()
    assert np.mean(np.abs(found - true)[both] < 1.0) > 0.9
    # intrinsics of skimage's docstring: focal length 994.978 px, baseline 193.001 mm, doffs 32.778 px
    rows, columns = true.shape
    camera = Camera(np.array([[994.978, 0, 311.193], [0, 994.978, 254.877], [0, 0, 1]]), (columns, rows))
    pair = StereoPair.aligned(camera, 0.193001)
    points = reproject_disparity(pair, found + 32.778)
    want = 994.978 * 0.193001 / (true + 32.778)
    assert np.nanmedian(np.abs(points.depth - want)[both] / want[both]) < 0.005


def toolbox_pair(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A real pair of the Machine Vision Toolbox, in gray and smaller."""
    import cv2
    import mvtbdata

    folder, part = Path(mvtbdata.__file__).parent / "images", {"rocks2": 0.5, "walls": 0.25}[name]
    both = [cv2.imread(str(folder / f"{name}-{side}.png"), cv2.IMREAD_GRAYSCALE) for side in "lr"]
    left, right = (cv2.resize(x, None, fx=part, fy=part, interpolation=cv2.INTER_AREA) for x in both)
    return left, right


@pytest.mark.slow
def test_rocks_are_matched():
    """A rectified pair: the right image at u - d shows nearly the left image's levels."""
    left, right = toolbox_pair("rocks2")
    d = match_stereo(left, right, disparities=112)
    assert np.mean(np.isfinite(d[:, 112:])) > 0.8
    v, u = np.nonzero(np.isfinite(d))
    there = np.rint(u - d[v, u]).astype(int)
    inside = (there >= 0) & (there < right.shape[1])
    gap = np.abs(left[v[inside], u[inside]].astype(int) - right[v[inside], there[inside]])
    assert np.median(gap) <= 8


@pytest.mark.slow
def test_walls_obey_an_epipolar_constraint():
    """A pair that is not rectified: features that OpenCV matches are near the epipolar lines of its matrix."""
    left, right = toolbox_pair("walls")
    import cv2

    finder = cv2.ORB.create(2000)
    (a, da), (b, db) = (finder.detectAndCompute(image, None) for image in (left, right))
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(da, db)
    p, r = (np.array([k.pt for k in points]) for points in (a, b))
    p, r = p[[m.queryIdx for m in matches]], r[[m.trainIdx for m in matches]]
    F, good = cv2.findFundamentalMat(p, r, cv2.FM_RANSAC, 1.0, 0.999)
    far = np.abs(epipolar_distance(F, p, r))
    good = good.ravel() > 0
    assert good.sum() > 100 and far[good].max() < 1.5 and np.median(far[~good]) > 3


# --- calibration ------------------------------------------------------------------------------------------------------


def target_views(n=8, sigma=0.0, seed=0):
    """Pixels of a board in two cameras: (pixels_left, pixels_right, points, true pair)."""
    rng, pair = np.random.default_rng(seed), crooked()
    points = np.array([[x, y, 0] for x in np.linspace(-0.2, 0.2, 6) for y in np.linspace(-0.15, 0.15, 5)])
    T = se3.exp(np.concatenate([0.35 * rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3))], axis=1))
    T[:, 2, 3] += 1.5
    world = se3.act((pair.left.T_world_camera @ T)[:, None], points)
    pixels = [project(camera, world) for camera in (pair.left, pair.right)]
    return *(u + sigma * rng.normal(size=u.shape) for u in pixels), points, pair


def test_stereo_calibration_is_exact_without_noise():
    left, right, points, pair = target_views()
    right[2, 5:] = np.nan  # what a camera does not see
    left[3] = np.nan
    found = calibrate_stereo(left, right, points, pair.left, pair.right.at(np.eye(4)))
    close(found.pair.T_left_right, pair.T_left_right, 1e-9)
    close(found.pair.left.T_world_camera, pair.left.T_world_camera, 1e-12)
    assert np.nanmax(np.abs(found.residuals)) < 1e-6 and "8 views" in repr(found)


def test_stereo_calibration_is_at_the_bound_and_agrees_with_opencv():
    import cv2

    total, repeats = 0.0, 25
    for seed in range(repeats):
        left, right, points, pair = target_views(sigma=0.3, seed=seed)
        found = calibrate_stereo(left, right, points, pair.left, pair.right, noise=0.3)
        e = se3.log(se3.inverse(pair.T_left_right) @ found.pair.T_left_right)
        total += e @ np.linalg.solve(found.covariance, e)
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 6 * repeats)
    assert low < total < high
    free = calibrate_stereo(left, right, points, pair.left, pair.right)
    assert abs(free.noise - 0.3) < 0.03
    a, b = pair.left, pair.right
    few = [np.float32(points)] * len(left), list(np.float32(left)), list(np.float32(right))
    lenses = [x.copy() for x in (a.matrix, a.distortion, b.matrix, b.distortion)]
    out = cv2.stereoCalibrate(
        *few, *lenses, a.size, flags=cv2.CALIB_FIX_INTRINSIC,
        criteria=(cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 200, 1e-12),
    )  # fmt: skip
    theirs = se3.inverse(se3.from_rotation_translation(out[5], out[6][:, 0]))
    assert np.abs(se3.log(se3.inverse(theirs) @ free.pair.T_left_right) / free.standard_error).max() < 0.3


def test_bad_views_of_stereo_calibration():
    left, right, points, pair = target_views(3)
    for error, given in (
        ("pixels have shapes", (left[:2], right, points, pair.left, pair.right)),
        ("'target_points' has shape", (left, right, points[:, :2], pair.left, pair.right)),
        ("must be Cameras", (left, right, points, pair, pair.right)),
        ("in no view both cameras", (left * np.nan, right, points, pair.left, pair.right)),
    ):
        with pytest.raises(ArgumentError, match=error):
            calibrate_stereo(*given)


def test_the_least_disparity_is_a_whole_number():
    image = np.zeros((40, 80), np.uint8)
    with pytest.raises(ArgumentError, match="match_stereo: 'least' must be a whole number of pixels, got 'a'"):
        match_stereo(image, image, least="a")  # type: ignore[arg-type]
