"""Poses from one image: points in space, flat targets with both solutions, outliers, covariance."""

import cv2
import numpy as np
import pytest
from support.camera_views import BOARD, LENS, poses_around, solid, views

from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import se3
from adjoint.vision.cameras import (
    Camera,
    camera_to_opencv,
    planar_poses,
    pose_from_points,
    project,
    refine_pose,
    visible,
)


@pytest.mark.parametrize(
    "target", [BOARD, solid(8), solid(4), BOARD[[0, 7, 40, 47]]], ids=["flat", "8", "4", "corners"]
)
def test_exact_pixels_give_the_exact_pose(target):
    for T, u in zip(T_all := poses_around(5, target), views(LENS, T_all, target), strict=True):
        found = pose_from_points(LENS, target, u)
        np.testing.assert_allclose(found.T_camera_target, T, atol=1e-8)
        assert found.rms < 1e-8 and found.inliers.all()


def test_the_minimum_is_that_of_opencv():
    T = poses_around(1, BOARD)
    u = views(LENS, T, BOARD, noise=0.5)[0]
    found = pose_from_points(LENS, BOARD, u)
    K, distortion, _, _ = camera_to_opencv(LENS)
    _, rvec, tvec = cv2.solvePnP(BOARD, u, K, distortion)
    rvec, tvec = cv2.solvePnPRefineLM(BOARD, u, K, distortion, rvec, tvec, (3, 200, 1e-14))
    want = np.eye(4)
    want[:3, :3], want[:3, 3] = cv2.Rodrigues(rvec)[0], np.ravel(tvec)
    twist = se3.log(se3.inverse(found.T_camera_target) @ want)
    assert np.abs(twist / np.sqrt(np.diag(found.covariance))).max() < 1e-3


@pytest.mark.parametrize("target", [BOARD, solid(30)], ids=["flat", "solid"])
def test_the_covariance_is_that_of_repeats(target):
    """χ² of the errors over 150 repeats has 900 degrees of freedom."""
    T, noise, repeats = poses_around(1, target)[0], 0.4, 150
    total = 0.0
    for k in range(repeats):
        u = views(LENS, T[None], target, noise, rng=k)[0]
        found = pose_from_points(LENS, target, u, noise=noise)
        twist = se3.log(se3.inverse(found.T_camera_target) @ T)
        total += twist @ np.linalg.solve(found.covariance, twist)
    assert abs(total - 6 * repeats) < 4 * np.sqrt(12 * repeats)


def test_outliers_are_left_out_or_weigh_little():
    target = solid(40)
    T = poses_around(1, target)
    u = views(LENS, T, target, 0.3)[0]
    rng = np.random.default_rng(2)
    wrong = rng.permutation(40)[:12]
    u[wrong] += rng.uniform(30, 100, (12, 2))
    found = pose_from_points(LENS, target, u, ransac=3.0)
    np.testing.assert_array_equal(np.flatnonzero(~found.inliers), np.sort(wrong))
    twist = se3.log(se3.inverse(found.T_camera_target) @ T[0])
    assert np.abs(twist / np.sqrt(np.diag(found.covariance))).max() < 4.5
    assert np.isnan(found.residuals[wrong]).all() and found.noise == pytest.approx(0.3, rel=0.3)
    robust = pose_from_points(LENS, target, u, loss="tukey", first=found.T_camera_target)
    twist = se3.log(se3.inverse(robust.T_camera_target) @ T[0])
    assert np.abs(twist).max() < 5e-3


def test_missing_points_are_left_out():
    T = poses_around(1, BOARD)
    u = views(LENS, T, BOARD)[0]
    u[10:20] = np.nan
    found = pose_from_points(LENS, BOARD, u)
    np.testing.assert_allclose(found.T_camera_target, T[0], atol=1e-9)
    np.testing.assert_array_equal(found.inliers, np.isfinite(u[:, 0]))


def test_refinement_is_one_kernel_for_many_targets():
    T = poses_around(20, BOARD)
    u = views(LENS, T, BOARD)
    rows = np.concatenate([np.broadcast_to(BOARD, (20, 48, 3)), u], axis=-1)
    first = T @ se3.exp(0.03 * np.random.default_rng(0).normal(size=(20, 6)))
    found = refine_pose(rows, first, LENS.matrix, LENS.distortion)
    np.testing.assert_allclose(found.T_camera_target, T, atol=1e-9)
    one = pose_from_points(LENS, BOARD, u[3], noise=0.1)
    np.testing.assert_allclose(0.01 * np.linalg.inv(found.information[3]), one.covariance, rtol=1e-6)
    behind = refine_pose(rows[0], se3.exp([0, 0, 0, 0, 0, -2.0]), LENS.matrix, LENS.distortion)
    np.testing.assert_allclose(behind.T_camera_target[2, 3], -2.0)  # it stays


# --- flat targets -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [None, se3.exp([0.4, -0.3, 1.0, 0.2, 0.1, 0.3])])
def test_both_poses_of_a_flat_target(turn):
    """The first is the true one; the second is a minimum, too. The plane may lie anyhow in the target's frame."""
    T = poses_around(6, BOARD)
    target = BOARD if turn is None else se3.act(turn, BOARD)
    u = views(LENS, T, BOARD)
    want = T if turn is None else T @ se3.inverse(turn)
    found = planar_poses(LENS, target, u)
    assert found.T_camera_target.shape == (6, 2, 4, 4)
    np.testing.assert_allclose(found.T_camera_target[:, 0], want, atol=1e-8)
    assert np.all(found.rms[:, 0] < 1e-8) and np.all(found.rms[:, 1] > 0.5)
    rough = planar_poses(LENS, target, u, refine=False)
    assert np.all(rough.rms[:, 1] >= found.rms[:, 1] - 1e-12)


def test_far_away_both_poses_explain_the_image():
    """A square of 4 cm seen from 4 m: the error of the other solution is below any noise, its tilt is mirrored."""
    square = 0.02 * np.array([[-1.0, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]])
    camera = Camera.pinhole((640, 480), focal_length=600)
    T = se3.exp([0.5, 0, 0, 0, 0, 0])
    T[2, 3] = 4.0
    found = planar_poses(camera, square, views(camera, T[None], square)[0])
    assert found.rms[1] < 0.05
    np.testing.assert_allclose(found.T_camera_target[0], T, atol=1e-6)
    np.testing.assert_allclose(found.T_camera_target[1, 1, 2], -T[1, 2], atol=0.05)


def test_samples_with_nan_have_nan():
    u = views(LENS, poses_around(2, BOARD), BOARD)
    u[0, 3] = np.nan
    found = planar_poses(LENS, BOARD, u)
    assert np.isnan(found.T_camera_target[0]).all() and np.isfinite(found.T_camera_target[1]).all()


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda u: pose_from_points(LENS, BOARD[:3], u[:3]), "3 seen points are too few"),
        (lambda u: pose_from_points(LENS, BOARD[:8], u[:8]), "lie on a line"),
        (lambda u: pose_from_points(LENS, BOARD, u[:8]), r"must be \(n, 3\) and \(n, 2\)"),
        (lambda u: pose_from_points(LENS, BOARD, u * np.nan), "0 seen points"),
        (lambda u: pose_from_points(LENS, BOARD, u, loss="l1"), "loss is 'l1'"),
        (lambda u: pose_from_points(LENS, BOARD, u, ransac=-1.0), "ransac"),
        (lambda u: pose_from_points(LENS, BOARD, u, first=np.zeros((4, 4))), "not a rigid motion"),
        (lambda u: planar_poses(LENS, solid(48), u), "points of a plane"),
        (lambda u: planar_poses(LENS, BOARD[:8], u[:8]), "not on a line"),
        (lambda u: planar_poses(LENS, BOARD, u[0]), "must be"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(views(LENS, poses_around(1, BOARD), BOARD)[0])


def test_points_that_no_pose_explains():
    rng = np.random.default_rng(0)
    with pytest.raises(SolveError, match="no pose has 4 points within"):
        pose_from_points(LENS, solid(20), rng.uniform(0, 480, (20, 2)), ransac=1e-3)


# --- hard views -------------------------------------------------------------------------------------------------------


def hard_views(count, target, seed, far, noise=0.0):
    """Cameras, poses and pixels of `target` at up to `far` [m], tilted by up to 80°, all in the image."""
    rng = np.random.default_rng(seed)
    while count:
        f, depth = rng.uniform(300, 1500), 10 ** rng.uniform(-0.3, np.log10(far))
        lens = Camera.pinhole((640, 480), focal_length=f, distortion=[rng.uniform(-0.3, 0.1), 0.02, 1e-3, -1e-3])
        way = rng.uniform(0, 2 * np.pi)
        turn = rng.uniform(0, 1.4) * np.array([np.cos(way), np.sin(way), 0])
        T = se3.exp([*turn, 0, 0, 0]) @ se3.exp([0, 0, rng.uniform(-3, 3), 0, 0, 0])
        T[:3, 3] = depth * np.array([*(rng.uniform(-150, 150, 2) / f), 1.0]) - T[:3, :3] @ target.mean(axis=0)
        if visible(lens.at(se3.inverse(T)), target).all():
            count -= 1
            yield lens, T, project(lens.at(se3.inverse(T)), target) + noise * rng.normal(size=(len(target), 2))


@pytest.mark.slow
def test_four_points_in_space_have_no_wrong_minimum():
    """One closed form ends in a wrong minimum of 18 pixels for one view in fifty."""
    for seed in range(200):
        target = np.random.default_rng(seed).uniform(-0.2, 0.2, (4, 3))
        lens, _, u = next(hard_views(1, target, seed, far=5.0))
        assert pose_from_points(lens, target, u).rms < 1e-6


@pytest.mark.slow
def test_far_boards_have_the_best_minimum():
    """No view has less residuals if the refinement begins at the true pose; valleys are curved there."""
    for lens, T, u in hard_views(150, BOARD, seed=1, far=20.0, noise=1.0):
        best = refine_pose(np.hstack([BOARD, u]), T, lens.matrix, lens.distortion)
        limit = np.sqrt(best.squares / len(BOARD)) * (1 + 1e-9)
        assert pose_from_points(lens, BOARD, u).rms <= limit
        assert planar_poses(lens, BOARD, u).rms[0] <= limit


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_robust_fits_of_far_boards_end(loss):
    for lens, _, u in hard_views(25, BOARD, seed=2, far=20.0, noise=0.3):
        u[::9] += [25.0, -20.0]
        found = pose_from_points(lens, BOARD, u, loss=loss)
        assert np.isfinite(found.covariance).all() and found.noise < 3


@pytest.mark.slow
def test_a_robust_fit_is_chosen_by_its_loss():
    """The second pose of the flat target has less squares with these outliers, but not less loss."""
    for lens, T, u in hard_views(20, BOARD, seed=5, far=1.0, noise=0.1):
        u[:8] += [40.0, 40.0]
        found = pose_from_points(lens, BOARD, u, loss="tukey")
        twist = se3.log(se3.inverse(found.T_camera_target) @ T)
        assert np.abs(twist / np.sqrt(np.diag(found.covariance))).max() < 5


def test_a_first_pose_behind_the_lens_is_refused():
    u = views(LENS, poses_around(1, BOARD), BOARD)[0]
    with pytest.raises(SolveError, match="pose_from_points: no first pose leads to a minimum"):
        pose_from_points(LENS, BOARD, u, first=se3.exp([0, 0, 0, 0, 0, -1.0]))


def test_flat_points_with_nan_are_refused():
    points = np.vstack([BOARD, [[np.nan] * 3]])
    with pytest.raises(ArgumentError, match="planar_poses: 'points' must be 4 or more finite points"):
        planar_poses(LENS, points, np.zeros((len(points), 2)))
