"""Calibration of cameras: linear equations and their degeneracies, the fit against OpenCV, covariance, and words."""

import warnings
from pathlib import Path

import cv2
import numpy as np
import pytest
from support.camera_views import BOARD, LENS, poses_around, solid, views

from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.vision.cameras import (
    Camera,
    GimbalCamera,
    calibrate_camera,
    chessboard_corners,
    chessboard_points,
    decompose_projection,
    direct_linear_transform,
    gimbal_matrix,
    gimbal_project,
    looking_at,
    project,
)

# --- the direct linear transform --------------------------------------------------------------------------------------

X11_POINTS = np.array(
    [[0.5, 1, 0], [1, 0.5, 0], [1.2, 0.9, 0.4], [0.8, 1.3, 0.1], [0.6, 0.7, 0.3], [1.5, 1.1, 0.25], [1, 1, 0.2]]
)
X11_IMAGES = np.array(
    [[-0.0080767, -0.0005715], [0.0095744, -0.0005715], [0.0059711, -0.0149379], [-0.0069415, -0.0084444],
     [-0.0013073, -0.0043358], [0.0061676, -0.0147795]]
)  # fmt: skip
X9 = GimbalCamera((0, 0, 1.0), np.radians(135), np.radians(135), 0.035, offset=(0.03, 0.02, 0.02))


def test_the_textbook_camera_is_found_from_seven_points():
    """X11: rows 1, 2 and 4 of A = P C R G, up to scale, from points of the gimbal camera of X9."""
    images = gimbal_project(X9, X11_POINTS)
    np.testing.assert_allclose(images[:6], X11_IMAGES, atol=5e-8)
    A = gimbal_matrix(X9)[[0, 1, 3]]
    np.testing.assert_allclose(A[2], [-14.28571429, -14.28571429, 20.20305089, -18.63162232], rtol=1e-9)
    found = direct_linear_transform(X11_POINTS, images)
    scale = A[2, 3] / found.matrix[2, 3]
    np.testing.assert_allclose(scale * found.matrix, A, rtol=0, atol=1e-10 * np.abs(A).max())
    assert found.rms < 1e-15 and found.singular_values.shape == (12,)


def test_the_decomposition_of_the_textbook_camera():
    """The book's image is inverted, so its camera is one with λ in metres that is turned by 180° about its axis."""
    found = decompose_projection(gimbal_matrix(X9)[[0, 1, 3]], (10, 10))
    np.testing.assert_allclose(found.matrix, np.diag([0.035, 0.035, 1]), atol=1e-12)
    x = found.projection_matrix @ np.array([1, 1, 0.2, 1])
    np.testing.assert_allclose(x[:2] / x[2], gimbal_project(X9, [1, 1, 0.2]), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_projection_matrices_come_apart_and_together(seed):
    rng = np.random.default_rng(seed)
    K = np.array([[rng.uniform(300, 900), rng.normal(), 320], [0, rng.uniform(300, 900), 240], [0, 0, 1]])
    camera = Camera(K, (640, 480), (), se3.random(rng=rng))
    found = decompose_projection(rng.choice([-3.0, 0.2]) * camera.projection_matrix, (640, 480))
    np.testing.assert_allclose(found.matrix, K, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(found.T_world_camera, camera.T_world_camera, atol=1e-11)


def test_a_parallel_projection_is_no_camera():
    with pytest.raises(ArgumentError, match="lens centre is at infinity"):
        decompose_projection([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], (10, 10))


def scene(n=12, rng=0):
    camera = Camera.pinhole((640, 480), 1.0).at(looking_at([0.3, 0.2, -1], [0, 0, 0], up=[0, -1, 0]))
    X = np.random.default_rng(rng).uniform(-0.3, 0.3, (n, 3))
    return camera, X, project(camera, X)


def test_missing_points_are_left_out():
    camera, X, u = scene()
    u[[1, 5]] = np.nan
    found = direct_linear_transform(X, u)
    P = camera.projection_matrix / np.linalg.norm(camera.projection_matrix[2, :3])
    np.testing.assert_allclose(found.matrix, P, atol=1e-9)
    np.testing.assert_array_equal(np.isnan(found.residuals[:, 0]), np.isnan(u[:, 0]))


def test_noise_has_the_residuals_that_it_should():
    """12 points give 24 equations with 11 unknowns; algebraic and geometric residuals nearly agree here."""
    _, X, u = scene(100)
    found = direct_linear_transform(X, u + 0.5 * np.random.default_rng(1).normal(size=u.shape))
    assert found.rms == pytest.approx(0.5 * np.sqrt(2 * (1 - 11 / 200)), rel=0.15)  # one standard deviation is 5 %


def on_twisted_cubic():
    """Points on a twisted cubic (t, t², t³) through the lens centre, which no number of points determines."""
    t = np.linspace(0.4, 1.2, 12)
    camera = Camera.pinhole((640, 480), 1.0).at(looking_at([-0.5, 0.25, -0.125], [0.8, 0.7, 0.6], up=[0, -1, 0]))
    X = np.stack([t, t**2, t**3], axis=1)
    return X, project(camera, X)


def on_line():
    camera, X, _ = scene()
    X = np.outer(np.linspace(-1, 1, 12), [0.1, 0.2, 0.15])
    return X, project(camera, X)


def on_plane_only(noise=0.0):
    camera, X, _ = scene()
    X[:, 2] = 0.3 * X[:, 0] - 0.1 * X[:, 1]
    return X, project(camera, X) + noise * np.random.default_rng(0).normal(size=(12, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (on_plane_only, r"rank 8 of 11.*coplanar"),
        (lambda: on_plane_only(0.3), "coplanar"),
        (on_line, "collinear"),
        (on_twisted_cubic, "twisted cubic"),
        (lambda: [x[:5] for x in scene()[1:]], "5 points are too few"),
        (lambda: (scene()[1], np.full((12, 2), 7.0)), "all pixels are the same"),
        (lambda: (scene()[1], scene()[2] * np.nan), "0 points are too few"),
        (lambda: (scene()[1], scene()[2][:, ::-1]), "u and v exchanged"),
        (lambda: (scene()[1], scene()[2][3:]), r"must be \(n, 3\) and \(n, 2\)"),
        (lambda: (scene()[2], scene()[2]), r"'points' has shape \(12, 2\)"),
    ],
)  # fmt: skip
def test_degenerate_points_are_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        direct_linear_transform(*make())


# --- the fit ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [BOARD, solid()], ids=["flat", "solid"])
def test_exact_views_give_the_exact_camera(target):
    T = poses_around(8, target)
    found = calibrate_camera(target, views(LENS, T, target), (640, 480))
    np.testing.assert_allclose(found.camera.matrix, LENS.matrix, atol=1e-6)
    np.testing.assert_allclose(found.camera.distortion, LENS.distortion, atol=1e-7)
    np.testing.assert_allclose(found.T_camera_target, T, atol=1e-8)
    assert found.rms < 1e-9 and not found.unseen


def test_the_optimum_is_that_of_opencv():
    u = views(LENS, poses_around(12, BOARD), BOARD, noise=0.3).astype(np.float32).astype(float)
    found = calibrate_camera(BOARD, u, (640, 480))
    X = [BOARD.astype(np.float32)] * len(u)
    rms, K, distortion, rvecs, tvecs = cv2.calibrateCamera(
        X, list(u.astype(np.float32)), (640, 480), None, None, criteria=(3, 1000, 1e-15)
    )
    # Both stop where χ² is within 1e-9 or so of its minimum, which is 3e-5 standard errors; points of float32 differ
    # from BOARD by 1e-8 m, 1e-5 pixels, 3e-5 of the noise.
    want = np.array([K[0, 0], K[1, 1], K[0, 2], K[1, 2], *np.ravel(distortion)[:5]])
    assert np.abs((found.values - want) / found.standard_error).max() < 1e-3
    assert found.rms <= rms * (1 + 1e-6)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = cv2.Rodrigues(rvecs[3])[0], np.ravel(tvecs[3])
    twist = se3.log(se3.inverse(found.T_camera_target[3]) @ T)
    assert np.abs(twist / np.sqrt(np.diag(found.pose_covariance[3]))).max() < 1e-3


@pytest.mark.slow
def test_the_covariance_is_that_of_repeated_calibrations():
    """Errors in units of the covariance have the mean square p over 60 repeats: χ² with 60 p degrees of freedom."""
    T, repeats, noise = poses_around(8, BOARD), 60, 0.3
    truth = np.concatenate([LENS.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], LENS.distortion[:5]])
    total, poses, sigmas = 0.0, 0.0, []
    for k in range(repeats):
        found = calibrate_camera(BOARD, views(LENS, T, BOARD, noise, rng=k), (640, 480), noise=noise)
        error = found.values - truth
        total += error @ np.linalg.solve(found.covariance, error)
        twist = se3.log(se3.inverse(found.T_camera_target[2]) @ T[2])
        poses += twist @ np.linalg.solve(found.pose_covariance[2], twist)
        sigmas.append(calibrate_camera(BOARD, views(LENS, T, BOARD, noise, rng=k), (640, 480)).noise)
    for value, p in ((total, 9), (poses, 6)):
        assert abs(value - repeats * p) < 4 * np.sqrt(2 * repeats * p)  # four standard deviations
    freedom = 2 * 8 * 48 - 9 - 48
    assert abs(np.mean(np.square(sigmas)) / noise**2 - 1) < 4 * np.sqrt(2 / freedom / repeats)


def test_missing_corners_and_views_do_no_harm():
    T = poses_around(10, BOARD)
    u = views(LENS, T, BOARD)
    u[2, 5:30] = np.nan
    u[4] = np.nan
    u[7, 3:] = np.nan  # three corners are too few
    found = calibrate_camera(BOARD, u, (640, 480))
    np.testing.assert_allclose(found.camera.matrix, LENS.matrix, atol=1e-6)
    used = np.isfinite(found.T_camera_target[:, 0, 0])
    np.testing.assert_array_equal(np.flatnonzero(~used), [4, 7])
    np.testing.assert_allclose(found.T_camera_target[used], T[used], atol=1e-8)
    np.testing.assert_array_equal(found.seen[2], np.isfinite(u[2, :, 0]))
    assert "8 views (2 left out)" in str(found)


def test_lists_of_different_lengths_are_views_too():
    T = poses_around(6, BOARD)
    u = views(LENS, T, BOARD)
    lengths = [48, 30, 20, 48, 40, 44]
    found = calibrate_camera([BOARD[:n] for n in lengths], [x[:n] for x, n in zip(u, lengths, strict=True)], (640, 480))
    np.testing.assert_allclose(found.camera.matrix, LENS.matrix, atol=1e-5)
    assert found.seen.sum() == sum(lengths)
    flat = calibrate_camera(BOARD[:, :2], u, (640, 480))  # a flat target may be given without z
    np.testing.assert_allclose(flat.camera.matrix, LENS.matrix, atol=1e-6)


def test_what_is_estimated_can_be_chosen():
    plain = Camera.pinhole((640, 480), focal_length=600, distortion=[-0.1, 0, 0, 0])
    u = views(plain, poses_around(6, BOARD), BOARD, noise=0.1)
    found = calibrate_camera(BOARD, u, (640, 480), estimate=("f", "k1"))
    assert found.names == ("f", "k1") and found.covariance.shape == (2, 2)
    assert found.camera.matrix[0, 0] == found.camera.matrix[1, 1]
    np.testing.assert_array_equal(found.camera.matrix[:2, 2], [319.5, 239.5])
    for name, truth in (("f", 600), ("k1", -0.1)):
        value, error = found.value(name)
        assert abs(value - truth) < 4 * error
    more = calibrate_camera(BOARD, u, (640, 480))
    assert more.value("fx")[1] > found.value("f")[1]  # fewer unknowns are known better
    only_poses = calibrate_camera(BOARD, u, (640, 480), estimate=(), first=plain)
    assert only_poses.camera.matrix[0, 0] == 600 and only_poses.covariance.shape == (0, 0)
    assert only_poses.rms == pytest.approx(0.1 * np.sqrt(2), rel=0.1)
    with pytest.raises(ArgumentError, match="no parameter 'fz'"):
        found.value("fz")


def test_a_rational_lens_and_skew_are_found():
    lens = Camera([[600, 1.5, 320], [0, 610, 240], [0, 0, 1]], (640, 480), [0.3, 0.05, 0, 0, 0, 0.5, 0.1, 0])
    u = views(lens, poses_around(30, BOARD), BOARD)
    names = ("fx", "fy", "cx", "cy", "skew", "k1", "k2", "k4", "k5")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # k1 and k4 are hard to tell apart, also without noise
        found = calibrate_camera(BOARD, u, (640, 480), estimate=names, noise=1e-3)
    assert found.rms < 1e-4
    np.testing.assert_allclose(found.camera.matrix[0, 1], 1.5, atol=1e-2)


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_wrong_points_do_not_spoil_a_robust_fit(loss):
    u = views(LENS, poses_around(8, BOARD), BOARD, noise=0.2)
    rng = np.random.default_rng(5)
    wrong = rng.permutation(8 * 48)[:12]
    u.reshape(-1, 2)[wrong] += rng.uniform(20, 60, (12, 2))
    found = calibrate_camera(BOARD, u, (640, 480), loss=loss)
    truth = np.concatenate([LENS.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], LENS.distortion[:5]])
    limit = 4.5 if loss == "tukey" else 8  # Huber's loss bounds what outliers do, Tukey's forgets them
    assert np.abs((found.values - truth) / found.standard_error).max() < limit
    assert set(map(tuple, np.stack(np.divmod(wrong, 48), axis=1))) <= set(map(tuple, found.outliers))
    assert found.noise == pytest.approx(0.2, rel=0.15)
    with pytest.warns(UserWarning, match="too far off to be noise"):
        calibrate_camera(BOARD, u, (640, 480))


# --- what views do not show -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_views_face_on_do_not_show_the_focal_length(noise):
    T = np.tile(np.eye(4), (6, 1, 1))
    T[:, :3, 3] = np.random.default_rng(0).uniform([-0.2, -0.15, 0.4], [0.0, 0.0, 0.6], (6, 3))
    with pytest.warns(UserWarning, match="focal length and the distance cannot be told apart"):
        found = calibrate_camera(BOARD, views(LENS, T, BOARD, noise), (640, 480))
    assert any(text.startswith("fx + ") for text in found.unseen)
    assert "unseen  pixels  fx" in str(found) and found.warnings
    # The scale of the images is all that is seen of f and z.
    np.testing.assert_allclose(
        found.T_camera_target[:, 2, 3] / found.camera.matrix[0, 0], T[:, 2, 3] / 610, rtol=1e-6 if noise == 0 else 0.02
    )


def test_one_tilt_does_not_show_everything():
    with pytest.warns(UserWarning, match="at one angle"):
        found = calibrate_camera(BOARD, views(LENS, poses_around(1, BOARD), BOARD, 0.1), (640, 480))
    assert found.unseen and set(found.unseen[0].split(":")[0].split()) >= {"fx", "fy"}


def test_points_near_the_middle_do_not_show_the_rim_of_the_lens():
    """A few pixels around the middle tell nothing of k3, and much noise hides it."""
    small = chessboard_points((4, 4), 0.015)
    ideal = Camera.pinhole((640, 480), focal_length=600)
    with pytest.warns(UserWarning, match="of the way to the corners of the image"):
        calibrate_camera(
            small,
            views(ideal, poses_around(6, small), small, 0.5),
            (640, 480),
            estimate=("k1", "k2", "k3"),
            first=ideal,
        )


@pytest.mark.slow
def test_a_thousand_views_are_no_trouble():
    T = poses_around(1000, BOARD)
    found = calibrate_camera(BOARD, views(LENS, T, BOARD, 0.2), (640, 480))
    truth = np.concatenate([LENS.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], LENS.distortion[:5]])
    assert np.abs((found.values - truth) / found.standard_error).max() < 4.5
    assert "and 988 more" in str(found)


# --- real images ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fourteen_real_chessboards(tmp_path):
    import mvtbdata  # the Machine Vision Toolbox's images

    folder = Path(mvtbdata.__file__).parent / "images" / "calibration"
    images = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in sorted(folder.glob("left*.jpg"))]
    assert len(images) == 14
    u = np.array([chessboard_corners(image, (9, 6)) for image in images])
    X = chessboard_points((9, 6), 0.025)
    found = calibrate_camera(X, u, (640, 480))
    assert np.isfinite(found.T_camera_target).all() and not found.unseen
    assert found.rms < 0.2  # 0.406 with corners refined in windows of 11 pixels, which reach neighbours in view 1
    rms, K, distortion, _, _ = cv2.calibrateCamera(
        [X.astype(np.float32)] * 14, list(u.astype(np.float32)), (640, 480), None, None, criteria=(3, 1000, 1e-15)
    )
    want = np.array([K[0, 0], K[1, 1], K[0, 2], K[1, 2], *np.ravel(distortion)[:5]])
    assert np.abs((found.values - want) / found.standard_error).max() < 1e-2
    assert found.rms <= rms * (1 + 1e-5)
    assert found.plot(tmp_path / "plots" / "camera.png").stat().st_size > 10_000
    assert "<CameraCalibration from 756 points in 14 views" in repr(found)
    assert "<table>" in found._repr_html_()


# --- bad input --------------------------------------------------------------------------------------------------------


def good(n=4):
    return views(LENS, poses_around(n, BOARD), BOARD)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibrate_camera(BOARD[:40], good(), (640, 480)), "and 1 sets of up to 40 points"),
        (lambda: calibrate_camera(BOARD, good()[..., 0], (640, 480)), "'pixels' has shape"),
        (lambda: calibrate_camera(BOARD, good(), (480,)), "'size'"),
        (lambda: calibrate_camera(BOARD, good() * np.nan, (640, 480)), "no view has 4 or more seen points"),
        (lambda: calibrate_camera(BOARD * [1, 0, 0], good(), (640, 480)), "not on one line"),
        (lambda: calibrate_camera(BOARD, good(), (640, 480), estimate=("fx", "k7")), "estimate has 'k7'"),
        (lambda: calibrate_camera(BOARD, good(), (640, 480), estimate=("f", "fx")), "'f' stands for fx and fy"),
        (lambda: calibrate_camera(BOARD, good(), (640, 480), loss="cauchy"), "loss is 'cauchy'"),
        (lambda: calibrate_camera(BOARD, good(), (640, 480), noise=-1.0), "noise"),
        (lambda: calibrate_camera(BOARD, good(), (640, 480), first=LENS.replace(size=(64, 48))), "images' size"),
        (lambda: calibrate_camera(solid(4), views(LENS, poses_around(1, BOARD), solid(4)), (640, 480)), "8 equations"),
        (lambda: calibrate_camera(None, good(), (640, 480)), "'points'"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_corners_of_opencv_have_a_middle_axis():
    """cv2.findChessboardCorners gives (n, 1, 2)."""
    points, pixels = BOARD, good()
    plain = calibrate_camera(points, pixels, (640, 480))
    for given in (np.asarray(pixels)[:, :, None], [np.asarray(u)[:, None] for u in pixels]):
        np.testing.assert_array_equal(calibrate_camera(points, given, (640, 480)).camera.matrix, plain.camera.matrix)


@pytest.mark.parametrize("size", [(480, 640), (64, 48)])
def test_a_size_into_which_no_pixels_fit_is_refused(size):
    with pytest.raises(ArgumentError, match=r"size is \(columns, rows\), which is image.shape\[1::-1\]"):
        calibrate_camera(BOARD, good(), size)
