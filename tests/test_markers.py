"""Targets and markers in rendered images: corners, numbers and poses are those that the scene has."""

import cv2
import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.vision.cameras import (
    Camera,
    CharucoBoard,
    calibrate_camera,
    charuco_corners,
    charuco_image,
    charuco_points,
    chessboard_corners,
    chessboard_points,
    circle_grid_centers,
    circle_grid_points,
    find_markers,
    marker_dictionaries,
    marker_image,
    marker_points,
    marker_poses,
    project,
    undistortion_map,
)

CAMERA = Camera.pinhole((640, 480), focal_length=700)
FACING = np.diag([1.0, -1, -1, 1])  # a target with y up and z towards the camera


def at(x, y, z, turn=(0.0, 0.0, 0.0), start=FACING) -> np.ndarray:
    T = se3.exp([*turn, 0, 0, 0]) @ start
    T[:3, 3] = x, y, z
    return T


def render(texture, corners, T_camera_target, camera=CAMERA, background=255) -> np.ndarray:
    """The image of a flat texture with its outer corners at `corners` (4, 3) [m], clockwise from upper left."""
    ideal, fine = camera.replace(distortion=()), 3
    h, w = texture.shape
    source = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]], np.float32)
    target = project(ideal.at(np.eye(4)), se3.act(T_camera_target, corners))
    target = ((target + 0.5) * fine - 0.5).astype(np.float32)
    size = (fine * ideal.size[0], fine * ideal.size[1])
    large = cv2.warpPerspective(
        texture, cv2.getPerspectiveTransform(source, target), size, flags=cv2.INTER_AREA, borderValue=background
    )
    return cv2.resize(large, ideal.size, interpolation=cv2.INTER_AREA)


def marker_scene(number, dictionary, T, length=0.08):
    texture = marker_image(number, dictionary, size=160, margin=32)
    return render(texture, marker_points(length * 224 / 160), T)


@pytest.mark.parametrize(("dictionary", "number"), [("4x4_50", 7), ("6x6_250", 113), ("apriltag_36h11", 42)])
def test_a_marker_is_found_with_its_pose(dictionary, number):
    T = at(0.05, -0.03, 0.5, turn=(0.5, 0.3, 0.4))
    found = find_markers(marker_scene(number, dictionary, T), dictionary)
    assert found.ids.tolist() == [number]
    want = project(CAMERA, se3.act(T, marker_points(0.08)))
    assert np.abs(found.corners[0] - want).max() < 0.5  # pixels
    poses = marker_poses(CAMERA, found.corners, 0.08)
    assert poses.T_camera_target.shape == (1, 2, 4, 4)
    # Half a pixel of 110 at 0.5 m.
    np.testing.assert_allclose(poses.T_camera_target[0, 0, :3, 3], T[:3, 3], atol=4e-3)
    angle = np.linalg.norm(se3.log(se3.inverse(poses.T_camera_target[0, 0]) @ T)[:3])
    assert angle < 0.05 and poses.rms[0, 1] > poses.rms[0, 0]


def test_several_markers_come_in_the_order_of_their_numbers():
    image = np.full((480, 640), 255, np.uint8)
    for number, (v, u) in {5: (40, 60), 3: (250, 400), 30: (60, 350)}.items():
        image[v : v + 120, u : u + 120] = marker_image(number, size=120)
    found = find_markers(np.stack([image] * 3, axis=-1))  # RGB
    assert found.ids.tolist() == [3, 5, 30]
    # The outline of black pixels 60 ... 179 is at 59.5 ... 179.5.
    np.testing.assert_allclose(found.corners[1, [0, 2]], [[59.5, 39.5], [179.5, 159.5]], atol=0.6)
    for other in (image.astype(np.uint16) * 200, image / 255.0, image > 100):
        assert find_markers(other).ids.tolist() == [3, 5, 30]


def test_an_image_without_markers():
    found = find_markers(np.zeros((50, 60), np.uint8))
    assert found.ids.shape == (0,) and found.corners.shape == (0, 4, 2)
    assert marker_poses(CAMERA, found.corners, 0.1).rms.shape == (0, 2)


def test_chessboards_are_found_with_their_corners():
    texture = np.kron(np.indices((7, 10)).sum(axis=0) % 2, np.ones((40, 40))).astype(np.uint8) * 255
    texture = np.pad(texture, 40, constant_values=255)
    side = 0.02
    # The first inner corner is the target's origin; the texture begins two squares before it.
    low, high = np.array([-2, -2, 0]) * side, np.array([10, 7, 0]) * side
    corners = np.array([[low[0], low[1], 0], [high[0], low[1], 0], [high[0], high[1], 0], [low[0], high[1], 0]])
    T = at(-0.08, -0.05, 0.4, turn=(0.3, -0.4, 0.1), start=np.eye(4))
    image = render(texture, corners, T)
    found = chessboard_corners(image, (9, 6))
    want = project(CAMERA, se3.act(T, chessboard_points((9, 6), side)))
    assert np.abs(found - want).max() < 0.15  # pixels
    assert np.isnan(chessboard_corners(image, (8, 6))).all()
    assert np.isnan(chessboard_corners(np.zeros((100, 100)), (9, 6))).all()


@pytest.mark.parametrize("asymmetric", [False, True])
def test_grids_of_circles(asymmetric):
    shape = (4, 9) if asymmetric else (7, 5)
    points = circle_grid_points(shape, 0.02, asymmetric=asymmetric)
    scale, pad = 2000.0, 60  # texture pixels per metre
    size = np.ceil(points[:, :2].max(axis=0) * scale).astype(int) + 2 * pad + 1
    v, u = np.indices(size[::-1])
    near = np.full(size[::-1], np.inf)
    for x, y in points[:, :2] * scale + pad:
        near = np.minimum(near, np.hypot(u - x, v - y))
    texture = np.clip((near - 13) * 255, 0, 255).astype(np.uint8)
    low, high = (-pad - 0.5) / scale, (size - pad - 0.5) / scale
    corners = np.array([[low, low, 0], [high[0], low, 0], [high[0], high[1], 0], [low, high[1], 0]])
    T = at(-0.06, -0.06, 0.45, turn=(0.1, 0.2, 0.05), start=np.eye(4))
    found = circle_grid_centers(render(texture, corners, T), shape, asymmetric=asymmetric)
    want = project(CAMERA, se3.act(T, points))
    order = np.abs(found - want).max() < 1 or np.abs(found[::-1] - want).max() < 1
    assert order  # OpenCV may begin at the other end
    assert np.isnan(circle_grid_centers(np.full((100, 100), 255, np.uint8), shape, asymmetric=asymmetric)).all()


def test_a_camera_is_calibrated_with_a_charuco_board_that_is_partly_seen():
    board = CharucoBoard((8, 6), square=0.03, marker=0.022)
    texture = np.pad(charuco_image(board, 60), 30, constant_values=255)
    points = charuco_points(board)
    assert points.shape == (35, 3) and np.ptp(points, axis=0)[:2].tolist() == pytest.approx([0.18, 0.12])
    low, high = np.array([-0.5, -0.5]) * 0.03, np.array([8.5, 6.5]) * 0.03
    corners = np.array([[low[0], low[1], 0], [high[0], low[1], 0], [high[0], high[1], 0], [low[0], high[1], 0]])
    rng, pixels = np.random.default_rng(0), []
    for _ in range(8):
        T = at(*rng.uniform([-0.2, -0.15, 0.3], [-0.05, -0.05, 0.45]), turn=rng.uniform(-0.6, 0.6, 3), start=np.eye(4))
        pixels.append(charuco_corners(render(texture, corners, T, background=120), board))
    seen = np.isfinite(pixels).all(axis=-1)
    assert 100 < seen.sum() < seen.size  # some corners are outside
    found = calibrate_camera(points, np.array(pixels), (640, 480), estimate=("f", "cx", "cy"), loss="huber")
    assert found.rms < 0.6
    np.testing.assert_allclose(found.camera.matrix[0, 0], 700, rtol=0.01)
    assert np.isnan(charuco_corners(np.zeros((100, 100), np.uint8), board)).all()


def test_maps_of_undistortion_bend_rendered_images_back():
    """A chessboard seen through a barrel has straight rows again after undistortion."""
    lens = CAMERA.replace(distortion=[-0.3, 0.1, 0, 0])
    v, u = np.indices((480, 640))
    x = np.stack([u, v], axis=-1).astype(float)
    ideal = np.where((np.floor(x[..., 0] / 60) + np.floor(x[..., 1] / 60)) % 2 == 0, 255, 0).astype(np.uint8)
    bent = cv2.remap(ideal, undistortion_map(lens.replace(distortion=()), lens), None, cv2.INTER_LINEAR)
    back = cv2.remap(bent, undistortion_map(lens), None, cv2.INTER_LINEAR)
    inside = np.zeros((480, 640), bool)
    inside[60:420, 60:580] = True
    assert np.mean(np.abs(back.astype(float) - ideal)[inside] > 128) < 0.02
    assert np.mean(np.abs(bent.astype(float) - ideal)[inside] > 128) > 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find_markers(np.zeros((5, 5)), "4x4_51"), "dictionary is '4x4_51'"),
        (lambda: find_markers(np.zeros((0, 5))), "no pixels"),
        (lambda: find_markers(np.zeros(5)), r"\(rows, columns\) is needed"),
        (lambda: find_markers(np.full((9, 9), np.inf)), "infinity"),
        (lambda: find_markers("no image"), "array of real numbers"),
        (lambda: marker_image(50), "has 0 to 49"),
        (lambda: marker_image(3, size=4), "6 cells across"),
        (lambda: marker_image(-1), "marker_id"),
        (lambda: marker_points(0.0), "length"),
        (lambda: marker_poses(CAMERA, np.zeros((3, 2)), 0.1), r"\(..., 4, 2\)"),
        (lambda: chessboard_points((1, 5), 0.1), "2 or more"),
        (lambda: chessboard_corners(np.zeros((5, 5)), 9), "'size'"),
        (lambda: CharucoBoard((5, 4), 0.02, 0.03), "smaller than a square"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_dictionaries_have_names():
    assert {"4x4_50", "7x7_1000", "apriltag_36h11", "aruco_original"} <= set(marker_dictionaries())
