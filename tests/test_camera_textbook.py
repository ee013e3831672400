"""The textbook's camera: its matrices, its worked examples with their errata, and the way to pixels."""

import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.lie import so3
from adjoint.vision.cameras import (
    Camera,
    GimbalCamera,
    book_image_point,
    book_object_point,
    book_to_pixels,
    clockwise_matrix,
    gimbal_camera,
    gimbal_image_point,
    gimbal_matrix,
    gimbal_project,
    inverse_perspective_matrix,
    perspective_matrix,
    pixels_to_book,
    project,
    scaling_matrix,
    translation_matrix,
)

X9 = GimbalCamera((0, 0, 1.0), np.radians(135), np.radians(135), 0.035, offset=(0.03, 0.02, 0.02))


def test_rotations_are_transposes_of_chapter_2():
    for k, axis in enumerate("xyz"):
        found = clockwise_matrix(0.7, axis)
        np.testing.assert_allclose(found[:3, :3], so3.exp(0.7 * np.eye(3)[k]).T, atol=1e-15)
        np.testing.assert_allclose(found @ clockwise_matrix(-0.7, axis), np.eye(4), atol=1e-15)
    with pytest.raises(ArgumentError, match="axis is 'w'"):
        clockwise_matrix(0.7, "w")


def test_translations_and_scalings_act_on_sets_of_points():
    V = np.vstack([np.random.default_rng(0).normal(size=(3, 5)), np.ones(5)])
    np.testing.assert_allclose((translation_matrix([1.0, 2, 3]) @ V)[:3], V[:3] + np.array([[1], [2], [3]]))
    np.testing.assert_allclose((scaling_matrix([1.0, 2, 3]) @ V)[:3], V[:3] * np.array([[1], [2], [3]]))


def test_perspective_and_its_inverse():
    lam, w = 0.035, np.array([0.2, 0.1, 1.5])
    P, back = perspective_matrix(lam), inverse_perspective_matrix(lam)
    np.testing.assert_allclose(P @ back, np.eye(4), atol=1e-12)
    c = P @ np.append(w, 1)
    np.testing.assert_allclose(c[:2] / c[3], book_image_point(w, lam), rtol=1e-14)
    # (7.4-28): an image point alone leads back to itself, not to the object.
    image = np.array([*book_image_point(w, lam), 0, 1])
    np.testing.assert_allclose(back @ image, image)
    # (7.4-36), (7.4-37): with one known coordinate it does.
    np.testing.assert_allclose(book_object_point(image[:2], 1.5, lam), w, rtol=1e-14)
    assert np.isnan(book_image_point([0.1, 0.1, 0.02], lam)).all()  # between image plane and lens


def test_the_camera_example_with_its_errata():
    """X9: the book prints y = +0.009; the numerator is +0.4143 and the denominator -1.5457 + λ."""
    c = gimbal_matrix(X9) @ [1, 1, 0.2, 1]
    np.testing.assert_allclose(c, [-0.03, 0.414315, 1.545685, -43.16244], rtol=1e-5)
    found = gimbal_project(X9, [1, 1, 0.2])
    np.testing.assert_allclose(found, [0.000695, -0.009599], atol=5e-7)
    np.testing.assert_allclose(found, c[:2] / c[3], rtol=1e-12)
    assert np.all(np.abs(found) < 0.0127)  # inside of a sensor of one inch
    long = gimbal_image_point([1, 1, 0.2], X9.position, X9.pan, X9.tilt, 0.2, X9.offset)
    np.testing.assert_allclose(long, [0.004459, -0.061577], atol=1e-6)
    assert np.abs(long).max() > 0.0127


def test_problem_7_4_is_on_the_optical_axis():
    """X10: the point is seen in the middle of the image, with the denominator -1 + λ."""
    gimbal = GimbalCamera((0, 0, np.sqrt(2)), np.radians(135), np.radians(135), 0.05)
    w = np.array([0.5, 0.5, np.sqrt(2) / 2])
    np.testing.assert_allclose(gimbal_project(gimbal, w), 0, atol=1e-15)
    assert (gimbal_matrix(gimbal) @ np.append(w, 1))[3] == pytest.approx((-1 + 0.05) / 0.05)


def test_without_turns_the_gimbal_is_the_plain_lens():
    w = np.random.default_rng(0).uniform([-1, -1, 1], [1, 1, 3], (20, 3))
    found = gimbal_project(GimbalCamera((0, 0, 0), 0, 0, 0.035), w)
    np.testing.assert_allclose(found, book_image_point(w, 0.035), rtol=1e-12)


def test_a_gimbal_camera_is_a_camera():
    rng = np.random.default_rng(1)
    for _ in range(5):
        gimbal = GimbalCamera(rng.normal(size=3), *rng.uniform(-3, 3, 2), 0.035, offset=0.05 * rng.normal(size=3))
        camera = gimbal_camera(gimbal, (512, 400), 20e-6)
        w = rng.normal(size=(200, 3)) * 3
        image = gimbal_project(gimbal, w)
        front = ~np.isnan(image[:, 0])
        assert 20 < front.sum() < 180
        np.testing.assert_array_equal(np.isnan(project(camera, w)[:, 0]), ~front)
        pixels = book_to_pixels(camera, image[front], 0.035)
        np.testing.assert_allclose(project(camera, w[front]), pixels, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(pixels_to_book(camera, pixels, 0.035), image[front], rtol=1e-9, atol=1e-12)


def test_gimbal_angles_have_derivatives():
    """The slope by the pan, from the graph, is that of differences."""
    J = gimbal_image_point.jacobian("pan")(np.array([1, 1, 0.2]), X9.position, X9.pan, X9.tilt, 0.035, X9.offset)
    h = 1e-6
    ends = [gimbal_image_point([1, 1, 0.2], X9.position, X9.pan + s * h, X9.tilt, 0.035, X9.offset) for s in (1, -1)]
    np.testing.assert_allclose(J, (ends[0] - ends[1]) / (2 * h), rtol=1e-7, atol=1e-10)


def test_bad_gimbals():
    with pytest.raises(ArgumentError, match="focal_length"):
        GimbalCamera((0, 0, 0), 0, 0, -1.0)
    with pytest.raises(ArgumentError, match="'position' has shape"):
        GimbalCamera((0, 0), 0, 0, 1.0)
    with pytest.raises(ArgumentError, match="no distortion"):
        book_to_pixels(Camera.pinhole((10, 10), 1.0, distortion=[0.1, 0, 0, 0]), [0, 0], 0.03)
    with pytest.raises(ArgumentError, match="pixel_size"):
        gimbal_camera(X9, (10, 10), 0.0)
