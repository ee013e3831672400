"""The pose of a circle from one image: both solutions, the construction of Chen & Huang, noise, and ellipses."""

import cv2
import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.vision.cameras import (
    Camera,
    circle_poses,
    cone_circles,
    conic_ellipse,
    ellipse_conic,
    project,
)

LENS = Camera([[520, 0, 330], [0, 500, 235], [0, 0, 1]], (640, 480), [-0.2, 0.05, 0.001, 0.001])
ANGLES = np.linspace(0, 2 * np.pi, 60, endpoint=False)
R = 0.1


def edge(T, angles=ANGLES) -> np.ndarray:
    """Points (n, 3) of a circle in the camera's frame."""
    return R * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1) @ T[:3, :3].T + T[:3, 3]


def circle(rng, tilt=(0.1, 1.2)) -> np.ndarray:
    """A pose T_camera_circle whose normal, z, is on the camera's side."""
    axis = rng.uniform(0, 2 * np.pi)
    T = se3.exp(np.append(rng.uniform(*tilt) * np.array([np.cos(axis), np.sin(axis)]), [0, 0, 0, 0]))
    T = T @ se3.exp([np.pi, 0, 0, 0, 0, 0])  # z towards the camera
    T[:3, 3] = rng.uniform([-0.2, -0.15, 0.7], [0.2, 0.15, 1.5])
    return T if T[:3, 2] @ T[:3, 3] < 0 else T @ se3.exp([np.pi, 0, 0, 0, 0, 0])


def cone_of(T) -> np.ndarray:
    """The cone of a circle, by a formulation of its own: points of its plane have (q - c)² = r²."""
    n, c = T[:3, 2], T[:3, 3]
    d = n @ c
    # The ray x meets the plane at q = d x / (n · x).
    return np.eye(3) * d * d - d * (np.outer(c, n) + np.outer(n, c)) + (c @ c - R * R) * np.outer(n, n)


def test_both_circles_are_on_the_cone():
    rng = np.random.default_rng(0)
    for _ in range(50):
        T = circle(rng)
        found = cone_circles(rng.choice([-3.0, 0.1]) * cone_of(T), R)
        best = np.argmin(np.linalg.norm(found.normals - T[:3, 2], axis=1))
        np.testing.assert_allclose(found.centers[best], T[:3, 3], atol=1e-9)
        np.testing.assert_allclose(found.normals[best], T[:3, 2], atol=1e-8)
        for center, normal in zip(*found, strict=True):
            assert normal @ center < 0 < center[2]
            frame = np.linalg.svd(normal[None])[2][1:]
            X = center + R * (np.cos(ANGLES)[:, None] * frame[0] + np.sin(ANGLES)[:, None] * frame[1])
            Q = cone_of(T)
            assert np.abs(np.einsum("ni,ij,nj->n", X, Q, X)).max() < 1e-10 * np.abs(Q).max()


def test_the_chords_of_chen_and_huang():
    """The chord of the largest apex angle is along e2; the diameter in the plane that bisects it has the middle c."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        T = circle(rng)
        Q = cone_of(T)
        Q = Q * -np.sign(np.linalg.det(Q))
        values, axes = np.linalg.eigh(Q)
        e2 = axes[:, 1]  # λ3 < 0 < λ2 <= λ1
        found = cone_circles(Q, R)
        for center, normal in zip(*found, strict=True):
            across = np.cross(normal, e2)
            ends = center + R * np.outer([1, -1], across)  # the diameter
            assert np.abs(ends @ e2).max() < 1e-9  # its plane holds e1 and e3 and bisects the largest angle
            assert np.abs(np.einsum("ni,ij,nj->n", ends, Q, ends)).max() < 1e-9
            np.testing.assert_allclose(np.abs(np.cross(across, e2) @ normal), 1, atol=1e-12)
        # The largest apex angle of rays of the cone is that in the plane of e2 and e3.
        t = np.sqrt(-values[0] / values[1:])
        assert t[0] >= t[1]


def test_eager_and_compiled_agree():
    Q = cone_of(circle(np.random.default_rng(5)))
    for eager, compiled in zip(cone_circles.eager(Q, R), cone_circles(Q, R), strict=True):
        np.testing.assert_allclose(eager, compiled, rtol=1e-10, atol=1e-12)


def test_face_on_both_solutions_are_one():
    T = se3.exp([np.pi, 0, 0, 0, 0, 0])
    T[2, 3] = 1.0
    found = cone_circles(cone_of(T), R)
    # The tilt is the root of rounding errors, √(1e-16).
    np.testing.assert_allclose(found.centers, [[0, 0, 1]] * 2, atol=1e-7)
    np.testing.assert_allclose(found.normals, [[0, 0, -1]] * 2, atol=1e-6)
    camera = Camera.pinhole((640, 480), focal_length=500)
    seen = circle_poses(camera, project(camera, edge(T)), R, noise=0.1)
    np.testing.assert_allclose(seen.T_camera_circle[:, :3, 3], [[0, 0, 1]] * 2, atol=1e-6)
    assert np.isinf(np.diagonal(seen.covariance, axis1=-2, axis2=-1)[:, :2]).all()  # the tilt is not seen
    assert np.isfinite(seen.covariance[:, 4, 4]).all()  # the distance is


@pytest.mark.parametrize("refine", [False, True])
def test_exact_edges_give_the_exact_pose(refine):
    rng = np.random.default_rng(2)
    T = np.array([circle(rng) for _ in range(30)])
    pixels = np.array([project(LENS, edge(t)) for t in T])
    pixels[3, 5:12] = np.nan  # a part of the edge is hidden
    found = circle_poses(LENS, pixels, R, refine=refine)
    assert found.T_camera_circle.shape == (30, 2, 4, 4)
    best = np.linalg.norm(found.T_camera_circle[:, :, :3, 2] - T[:, None, :3, 2], axis=-1).argmin(axis=1)
    chosen = found.T_camera_circle[np.arange(30), best]
    np.testing.assert_allclose(chosen[:, :3, 2:], T[:, :3, 2:], atol=1e-7)
    assert found.rms.max() < 1e-9
    R_ = chosen[:, :3, :3]
    np.testing.assert_allclose(R_ @ R_.mT, np.broadcast_to(np.eye(3), (30, 3, 3)), atol=1e-12)


def test_errors_are_as_the_covariance_says():
    """χ² of 1000 repeats has 5000 degrees of freedom; second-order bias is small against 0.2 pixels of noise."""
    rng = np.random.default_rng(3)
    T = circle(rng, tilt=(0.7, 0.8))
    pixels = project(LENS, edge(T)) + 0.2 * rng.normal(size=(1000, 60, 2))
    found = circle_poses(LENS, pixels, R, noise=0.2)
    best = np.linalg.norm(found.T_camera_circle[:, :, :3, 2] - T[:3, 2], axis=-1).argmin(axis=1)
    F, C = found.T_camera_circle[np.arange(1000), best], found.covariance[np.arange(1000), best]
    turn = np.einsum("bji,bj->bi", F[:, :3, :3], np.cross(F[:, :3, 2], T[:3, 2]))
    move = np.einsum("bji,bj->bi", F[:, :3, :3], T[:3, 3] - F[:, :3, 3])
    error = np.concatenate([turn[:, :2], move], axis=1)
    chi = np.einsum("bi,bij,bj->b", error, np.linalg.inv(C), error)
    assert abs(chi.mean() - 5) < 4 * np.sqrt(10 / 1000)
    estimated = circle_poses(LENS, pixels, R).noise
    assert np.sqrt(np.mean(estimated**2)) == pytest.approx(0.2, rel=0.02)  # 55000 numbers: 0.3 %


def test_refined_poses_are_better_on_short_arcs():
    """On a part of the edge the algebraic fit is biased; the refined one has smaller residuals and errors."""
    rng = np.random.default_rng(4)
    T = circle(rng, tilt=(0.7, 0.8))
    arc = project(LENS, edge(T, np.linspace(0, 2.5, 80)))
    pixels = arc + 0.3 * rng.normal(size=(300, 80, 2))
    errors = []
    for refine in (False, True):
        found = circle_poses(LENS, pixels, R, refine=refine)
        far = np.linalg.norm(found.T_camera_circle[:, :, :3, 3] - T[:3, 3], axis=-1).min(axis=1)
        errors.append((np.median(far), found.rms.mean()))
    assert errors[1][0] < errors[0][0] and errors[1][1] < errors[0][1]


# --- ellipses ---------------------------------------------------------------------------------------------------------


def ellipse(center, axes, angle, t=ANGLES):
    c, s = np.cos(angle), np.sin(angle)
    return center + np.stack([axes[0] * np.cos(t), axes[1] * np.sin(t)], axis=-1) @ np.array([[c, s], [-s, c]])


@pytest.mark.parametrize("seed", range(4))
def test_ellipses_are_found_in_any_units(seed):
    rng = np.random.default_rng(seed)
    center, angle = rng.uniform(-1e3, 1e3, 2), rng.uniform(-1.5, 1.5)
    axes = np.sort(rng.uniform(1, 50, 2))[::-1]
    for scale in (1e-6, 1.0, 1e6):
        found = conic_ellipse(ellipse_conic(scale * ellipse(center, axes, angle)))
        np.testing.assert_allclose(found.center, scale * center, rtol=1e-9, atol=1e-9 * scale * 1e3)
        np.testing.assert_allclose(found.axes, scale * axes, rtol=1e-6)
        assert np.abs(np.sin(found.angle - angle)) < 1e-5


def test_the_direct_fit_is_that_of_opencv():
    points = ellipse([3.0, 1], [40, 25], 0.4) + 0.5 * np.random.default_rng(0).normal(size=(60, 2))
    (u, v), (a, b), _ = cv2.fitEllipseDirect(points.astype(np.float32))
    found = conic_ellipse(ellipse_conic(points))
    # OpenCV computes in float32 with coordinates of its own normalisation, which changes the algebraic weights little.
    np.testing.assert_allclose(found.center, [u, v], atol=5e-3)
    np.testing.assert_allclose(found.axes, np.sort([a, b])[::-1] / 2, rtol=1e-3)


def test_batches_have_bad_samples_of_their_own():
    points = np.stack([ellipse([0.0, 0], [3, 2], 0.1)] * 4)
    points[1] = np.nan
    points[2, :, 1] = 2 * points[2, :, 0]  # a line
    points[3, 4:] = np.nan  # four points
    found = ellipse_conic(points)
    np.testing.assert_array_equal(np.isnan(found[:, 0, 0]), [False, True, True, True])
    seen = circle_poses(LENS.replace(distortion=()), points * 10 + 200, R)
    np.testing.assert_array_equal(np.isnan(seen.rms), [False, True, True, True])
    assert np.isnan(seen.T_camera_circle[1:, :, :3, 3]).all()


def test_conics_that_are_no_ellipses_have_nan():
    hyperbola, empty = np.diag([1.0, -1, -1]), np.diag([1.0, 1, 1])
    assert np.isnan(conic_ellipse([hyperbola, empty]).axes).all()
    assert np.isnan(cone_circles(np.eye(3), 1.0).centers).all()
    for call, message in (
        (lambda: conic_ellipse(np.eye(2)), "is needed"),
        (lambda: ellipse_conic(np.zeros((4, 2))), "n >= 5"),
        (lambda: circle_poses(LENS, np.zeros((5, 2)), R), "6 or more"),
        (lambda: circle_poses(LENS, np.zeros((9, 2)), -R), "radius"),
        (lambda: circle_poses(LENS, np.zeros((9, 3)), R), "'pixels' has shape"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
