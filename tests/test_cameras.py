"""Cameras: projection against OpenCV, rays as its inverse, derivatives, frames, and images of changed size."""

import copy
import pickle

import cv2
import numpy as np
import pytest

from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.vision.cameras import (
    Camera,
    camera_from_info,
    camera_from_opencv,
    camera_info,
    camera_to_opencv,
    circle_poses,
    crop_camera,
    depth_points,
    direction_of_pixel,
    distorted,
    flip_camera,
    from_camera_frame,
    looking_at,
    on_plane,
    pixel_of_point,
    planar_poses,
    pose_from_points,
    project,
    project_derivatives,
    rays,
    resize_camera,
    to_camera_frame,
    undistort_image,
    undistort_points,
    undistorted,
    undistortion_map,
    visible,
)

BARREL = [-0.28, 0.07, 0.001, -0.0006, 0.004]
RATIONAL = [-0.28, 0.07, 0.001, -0.0006, 0.004, 0.05, -0.01, 0.003]
PINCUSHION = [0.2, 0.05, -0.002, 0.001]
LENSES = [(), BARREL, RATIONAL, PINCUSHION]


def camera(distortion=(), skew=0.0) -> Camera:
    K = [[520.0, skew, 331.0], [0, 480.0, 236.5], [0, 0, 1]]
    return Camera(K, (640, 480), distortion, looking_at([0.6, -0.4, 1.2], [0.05, 0.1, 0], up=[0.2, 1, 0.3]))


def points(n=500) -> np.ndarray:
    """Points that the camera sees in its image, with some outside."""
    return np.random.default_rng(3).uniform(-0.6, 0.6, (n, 3)) * [1, 1, 0.4]


# --- projection -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lens", LENSES)
def test_pixels_are_those_of_opencv(lens):
    seen = camera(lens)
    K, distortion, rvec, tvec = camera_to_opencv(seen)
    want = cv2.projectPoints(points(), rvec, tvec, K, distortion)[0].reshape(-1, 2)
    # Sums of some ten terms of up to 1e3 pixels.
    np.testing.assert_allclose(project(seen, points()), want, rtol=0, atol=1e-10)


def test_skew_and_batches_of_cameras():
    seen = camera(BARREL, skew=3.0)
    local = se3.act(seen.T_camera_world, points())
    bent = distorted(local[:, :2] / local[:, 2:], seen.distortion)
    want = np.column_stack([bent, np.ones(len(bent))]) @ seen.matrix[:2].T
    np.testing.assert_allclose(project(seen, points()), want, atol=1e-10)
    poses = seen.T_world_camera @ se3.exp(0.05 * np.random.default_rng(0).normal(size=(7, 6)))
    many = pixel_of_point(points(20), poses[:, None], seen.matrix, seen.distortion)
    assert many.shape == (7, 20, 2)
    np.testing.assert_allclose(many[4], project(seen.at(poses[4]), points(20)), atol=1e-10)


def test_points_in_and_behind_the_lens_have_no_pixel():
    seen = Camera.pinhole((64, 48), 1.0, distortion=[-0.1, 0, 0, 0])
    for lens in (seen, seen.replace(distortion=())):
        found = project(lens, [[0, 0, 1.0], [0.1, 0, 0.0], [0, 0, -1.0], [np.nan, 0, 1]])
        np.testing.assert_array_equal(np.isnan(found).any(axis=1), [False, True, True, True])


@pytest.mark.parametrize("lens", LENSES)
def test_rays_go_through_the_points_whose_pixels_they_have(lens):
    seen = camera(lens)
    X = points()[visible(seen, points())]
    assert len(X) > 200
    found = rays(seen, project(seen, X))
    want = X - seen.T_world_camera[:3, 3]
    want /= np.linalg.norm(want, axis=1, keepdims=True)
    np.testing.assert_allclose(found.directions, want, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.origins[0], seen.T_world_camera[:3, 3])
    one = direction_of_pixel(project(seen, X[0]), seen.T_world_camera, seen.matrix, seen.distortion)
    np.testing.assert_allclose(one, want[0], atol=1e-12)


def test_rays_of_all_pixels_are_those_of_each():
    seen = Camera.pinhole((7, 5), 1.0, distortion=[-0.1, 0, 0, 0])
    v, u = np.indices((5, 7)).astype(float)
    np.testing.assert_array_equal(rays(seen).directions, rays(seen, np.stack([u, v], -1)).directions)
    np.testing.assert_allclose(np.linalg.norm(rays(seen).directions, axis=-1), 1, rtol=1e-15)


def test_undistortion_is_the_inverse_up_to_the_fold_and_nan_beyond():
    """r (1 - 0.3 r²) grows up to r = 1/√0.9, where it is 0.7027; no point is shown farther out."""
    lens = np.array([-0.3, 0, 0, 0, 0, 0, 0, 0.0])
    seen = Camera.pinhole((100, 100), 1.0, distortion=lens)
    fold = 1 / np.sqrt(0.9)
    assert seen.largest_radius == pytest.approx(fold, rel=1e-12)
    edge = fold * (1 - 0.3 * fold**2)
    r = np.concatenate([np.linspace(0, 0.999, 300), [0.99999]]) * fold
    angle = np.linspace(0, 20, len(r))
    x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1)
    back = undistorted(distorted(x, lens), lens, seen.largest_radius)
    # Near the fold the slope 1 - (r/fold)² divides rounding errors.
    error = np.linalg.norm(back - x, axis=1)
    assert np.all(error < 1e-15 / (1 - (r / fold) ** 2) + 1e-15)
    assert np.isnan(undistorted([edge * 1.0001, 0], lens, seen.largest_radius)).all()
    assert np.isnan(undistorted([5.0, 0], lens, seen.largest_radius)).all()
    assert np.isnan(undistorted([np.nan, 0], lens, seen.largest_radius)).all()


@pytest.mark.parametrize("lens", LENSES)
def test_undistorted_pixels_are_those_of_the_ideal_camera(lens):
    seen = camera(lens)
    X = points()[visible(seen, points())]
    np.testing.assert_allclose(
        undistort_points(seen, project(seen, X)), project(seen.replace(distortion=()), X), atol=1e-9
    )


def test_visible_knows_borders_and_folds():
    seen = Camera.pinhole((100, 80), focal_length=50.0, distortion=[-0.3, 0, 0, 0])
    x = np.array([0.0, 0.5, 1.7])  # the polynomial folds 1.7 back into the image
    X = np.stack([x, 0 * x, 1 + 0 * x], axis=1)
    assert np.all(np.abs(project(seen, X)[:, 0] - 49.5) < 49)
    np.testing.assert_array_equal(visible(seen, X), [True, True, False])


def test_depth_images_and_planes_are_met_where_pixels_look():
    seen = camera(BARREL)
    depth = np.random.default_rng(0).uniform(0.5, 2, (480, 640))
    depth[0, :4] = 0, -1, np.nan, np.inf
    X = depth_points(seen, depth)
    assert np.isnan(X[0, :4]).all()
    v, u = np.indices(depth.shape)
    np.testing.assert_allclose(project(seen, X)[1:], np.stack([u, v], -1)[1:], atol=1e-9)
    np.testing.assert_allclose(se3.act(seen.T_camera_world, X)[1:, :, 2], depth[1:], atol=1e-12)
    table = se3.exp([0.1, 0.2, 0.3, 0.1, -0.1, 0.2])
    X = on_plane(seen, [[100.0, 200], [400, 300]], table)
    np.testing.assert_allclose(se3.act(se3.inverse(table), X)[:, 2], 0, atol=1e-14)
    np.testing.assert_allclose(project(seen, X), [[100, 200], [400, 300]], atol=1e-9)
    behind = seen.T_world_camera @ se3.exp([0, 0, 0, 0, 0, -1.0])
    assert np.isnan(on_plane(seen, [100.0, 200], behind)).all()
    along = seen.T_world_camera @ se3.exp([np.pi / 2, 0, 0, 0, 0, 0])  # its plane holds the optical axis
    assert np.isnan(on_plane(seen.replace(distortion=()), seen.matrix[:2, 2], along)).all()


# --- derivatives ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lens", [BARREL, RATIONAL])
def test_derivatives_are_those_of_the_kernel_and_of_small_motions(lens):
    seen = camera(lens, skew=2.0)
    X = points(50)
    found = project_derivatives(seen, X)
    J = pixel_of_point.jacobian("point", "matrix", "distortion")(X, seen.T_world_camera, seen.matrix, seen.distortion)
    np.testing.assert_allclose(found.pixels, project(seen, X), atol=1e-10)
    np.testing.assert_allclose(found.point, J.point, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.distortion, J.distortion, rtol=1e-10, atol=1e-10)
    places = ([0, 1, 0, 1, 0], [0, 1, 2, 2, 1])  # fx, fy, cx, cy, s
    np.testing.assert_allclose(found.intrinsics, J.matrix[..., places[0], places[1]], atol=1e-12)
    h = 1e-5
    for k, xi in enumerate(h * np.eye(6)):
        ahead, back = (project(seen.at(seen.T_world_camera @ se3.exp(s * xi)), X) for s in (1, -1))
        # Central differences: the third derivative h²/6, some 1e4 pixels, and rounding 1e-13 / h.
        np.testing.assert_allclose((ahead - back) / (2 * h), found.pose[..., k], atol=1e-6)


def test_eager_compiled_and_exported_agree():
    seen = camera(RATIONAL)
    X, u = points(1)[0], np.array([200.0, 300])
    for kernel, arguments in (
        (pixel_of_point, (X, seen.T_world_camera, seen.matrix, seen.distortion)),
        (direction_of_pixel, (u, seen.T_world_camera, seen.matrix, seen.distortion)),
        (undistorted, (np.array([0.3, -0.2]), seen.distortion)),
    ):
        np.testing.assert_allclose(kernel.eager(*arguments), kernel(*arguments), rtol=1e-13, atol=1e-15)
    assert "double" in pixel_of_point.source("c", name="pixel")


def test_cameras_are_pickled_and_copied():
    seen = camera(BARREL)
    for again in (pickle.loads(pickle.dumps(seen)), copy.deepcopy(seen)):
        np.testing.assert_array_equal(project(again, points(9)), project(seen, points(9)))


# --- conventions ------------------------------------------------------------------------------------------------------


def test_opencv_there_and_back():
    seen = camera(RATIONAL)
    K, distortion, rvec, tvec = camera_to_opencv(seen)
    np.testing.assert_allclose(so3.exp(rvec), cv2.Rodrigues(rvec)[0], atol=1e-14)
    again = camera_from_opencv(K, seen.size, distortion, rvec.reshape(3, 1), tvec)
    np.testing.assert_allclose(again.T_world_camera, seen.T_world_camera, atol=1e-14)
    np.testing.assert_array_equal(again.distortion, seen.distortion)


@pytest.mark.parametrize(
    ("convention", "forward", "up"),
    [
        ("opencv", [0, 0, 1], [0, -1, 0]),
        ("ros_optical", [0, 0, 1], [0, -1, 0]),
        ("ros_body", [1, 0, 0], [0, 0, 1]),
        ("opengl", [0, 0, -1], [0, 1, 0]),
        ("blender", [0, 0, -1], [0, 1, 0]),
    ],
)
def test_frames_of_others(convention, forward, up):
    """What another convention calls forward and up is the camera's z, and -y."""
    T = se3.random(rng=0)
    found = to_camera_frame(T, convention)
    np.testing.assert_allclose(found[:3, 2], T[:3, :3] @ forward, atol=1e-14)
    np.testing.assert_allclose(-found[:3, 1], T[:3, :3] @ up, atol=1e-14)
    np.testing.assert_allclose(found[:3, 3], T[:3, 3])
    np.testing.assert_allclose(np.linalg.det(found[:3, :3]), 1, rtol=1e-12)
    np.testing.assert_allclose(from_camera_frame(found, convention), T, atol=1e-14)
    with pytest.raises(ArgumentError, match="belongs to the convention 'textbook'"):
        to_camera_frame(T, convention, focal_length=0.03)


def test_the_textbook_frame_is_behind_the_lens():
    T = to_camera_frame(np.eye(4), "textbook", focal_length=0.05)
    np.testing.assert_allclose(T[:3, 3], [0, 0, 0.05])
    np.testing.assert_allclose(from_camera_frame(T, "textbook", focal_length=0.05), np.eye(4), atol=1e-16)
    with pytest.raises(ArgumentError, match="convention is 'openvg'"):
        to_camera_frame(np.eye(4), "openvg")


@pytest.mark.parametrize("lens", [(), BARREL, RATIONAL])
def test_camera_info_there_and_back(lens):
    seen = camera(lens)
    info = camera_info(seen)
    assert info["distortion_model"] == ("rational_polynomial" if len(lens) == 8 else "plumb_bob")
    for names in (str.lower, lambda n: n.upper() if len(n) == 1 else n):  # ROS 2, ROS 1
        again = camera_from_info({names(n): v for n, v in info.items()}, T_world_camera=seen.T_world_camera)
        np.testing.assert_allclose(project(again, points(20)), project(seen, points(20)), atol=1e-12)
    part = camera_from_info(
        info | {"roi": {"x_offset": 100, "y_offset": 50, "width": 200, "height": 100}, "binning_x": 2}
    )
    assert part.size == (100, 100)
    with pytest.raises(ArgumentError, match="distortion_model is 'equidistant'"):
        camera_from_info(info | {"distortion_model": "equidistant"})
    with pytest.raises(ArgumentError, match="k are missing"):
        camera_from_info({"width": 3, "height": 4})


def test_cameras_of_changed_images():
    seen = camera(BARREL)
    u = project(seen, points(50))
    small = resize_camera(seen, (320, 120))
    np.testing.assert_allclose(project(small, points(50)) + 0.5, (u + 0.5) * [0.5, 0.25], atol=1e-10)
    part = crop_camera(seen, (100, 30), (200, 150))
    assert part.size == (200, 150)
    np.testing.assert_allclose(project(part, points(50)), u - [100, 30], atol=1e-10)
    for direction, mirror in (("left-right", [1, 0]), ("up-down", [0, 1]), ("both", [1, 1])):
        flipped = flip_camera(seen, direction)
        want = np.where(mirror, np.array([639, 479]) - u, u)
        np.testing.assert_allclose(project(flipped, points(50)), want, atol=1e-10)
        pixel = want[0]
        np.testing.assert_allclose(rays(flipped, pixel).directions, rays(seen, u[0]).directions, atol=1e-12)
    np.testing.assert_allclose(flip_camera(seen).field_of_view, seen.field_of_view, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_resizing_is_that_of_opencv(seed):
    """A blob of light keeps its place in the resized image: its centre of gravity is where the camera says."""
    seen = Camera.pinhole((128, 96), 1.0)
    v, u = np.indices((96, 128))
    middle = np.random.default_rng(seed).uniform([40, 40], [80, 60])
    image = np.exp(-((u - middle[0]) ** 2 + (v - middle[1]) ** 2) / 60)
    small = cv2.resize(image, (64, 48), interpolation=cv2.INTER_AREA)
    y, x = np.indices(small.shape)
    center = np.array([np.sum(x * small), np.sum(y * small)]) / np.sum(small)
    X = np.append((middle - seen.matrix[:2, 2]) / seen.matrix[0, 0], 1.0)
    np.testing.assert_allclose(project(resize_camera(seen, (64, 48)), X), center, atol=1e-3)


# --- images -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64, np.int32, bool])
def test_undistorted_images_keep_their_dtype_and_are_opencvs(dtype):
    seen = Camera.pinhole((160, 120), 1.0, distortion=BARREL)
    v, u = np.indices((120, 160))
    image = (100 + 50 * np.sin(u / 9) + 40 * np.cos(v / 7)).astype(dtype)
    found = undistort_image(seen, image)
    assert found.dtype == dtype
    if dtype in (np.uint8, np.float32):
        want = cv2.undistort(image, seen.matrix, seen.distortion)
        # OpenCV's maps are rounded to 1/32 pixel, the slope of the image is 8 levels per pixel.
        assert np.abs(found.astype(float) - want)[2:-2, 2:-2].max() < 1.5


def test_maps_show_nothing_beyond_the_fold():
    seen = Camera.pinhole((160, 120), 1.0, distortion=[-0.5, 0, 0, 0])
    wide = Camera.pinhole((160, 120), 1.9)
    places, directions = undistortion_map(seen, wide), rays(wide).directions
    folded = np.hypot(directions[..., 0], directions[..., 1]) > seen.largest_radius * directions[..., 2]
    assert 0.1 < folded.mean() < 0.9
    np.testing.assert_array_equal((places == -10000).all(axis=-1), folded)
    assert not undistort_image(seen, np.full((120, 160), 255, np.uint8), onto=wide)[folded].any()


def test_undistortion_turns_and_zooms():
    seen = Camera.pinhole((160, 120), 1.0, distortion=BARREL)
    other = Camera.pinhole((80, 90), 0.5).at(se3.exp([0.02, 0.1, 0.03, 0, 0, 0]))
    places = undistortion_map(seen, other)
    assert places.shape == (90, 80, 2)
    np.testing.assert_allclose(places[10, 20], project(seen, rays(other, [20.0, 10]).directions), atol=1e-3)
    colour = np.random.default_rng(0).integers(0, 255, (120, 160, 3)).astype(np.uint8)
    assert undistort_image(seen, colour, onto=other, interpolation="nearest").shape == (90, 80, 3)
    with pytest.raises(ArgumentError, match="same place"):
        undistortion_map(seen, other.at(se3.exp([0, 0, 0, 1.0, 0, 0])))
    with pytest.raises(ArgumentError, match="has shape"):
        undistort_image(seen, colour[1:])
    with pytest.raises(ArgumentError, match="interpolation"):
        undistort_image(seen, colour, interpolation="sharp")


# --- making cameras, and bad input ------------------------------------------------------------------------------------


def test_field_of_view_and_looking_at():
    seen = Camera.pinhole((640, 480), field_of_view=1.2)
    np.testing.assert_allclose(seen.field_of_view[0], 1.2, rtol=1e-14)
    np.testing.assert_allclose(project(seen, [np.tan(0.6), 0, 1.0])[0], 639.5, rtol=1e-14)
    T = looking_at([1, 2, 3.0], [0, 0.5, 0])
    np.testing.assert_allclose(project(seen.at(T), [0, 0.5, 0]), [319.5, 239.5], atol=1e-10)
    above = project(seen.at(T), [0, 0.5, 0.1])
    assert above[1] < 239 and above[0] == pytest.approx(319.5)  # up is up


def test_cameras_cannot_be_changed():
    seen = camera(BARREL)
    for array in (seen.matrix, seen.distortion, seen.T_world_camera, seen.T_camera_world):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert seen.replace(size=(10, 20)).size == (10, 20)
    with pytest.raises(ArgumentError, match="no field 'pose'"):
        seen.replace(pose=np.eye(4))


K = np.array([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Camera(np.eye(4), (640, 480)), r"'matrix' must be finite numbers of shape"),
        (lambda: Camera(K.T, (640, 480)), "must be .*fx, s, cx"),
        (lambda: Camera(0 * K, (640, 480)), "must be .*fx, s, cx"),
        (lambda: Camera(K * np.nan, (640, 480)), "finite numbers"),
        (lambda: Camera(K, (640.5, 480)), "two positive whole numbers"),
        (lambda: Camera(K, 640), "two positive whole numbers"),
        (lambda: Camera(K, (640, 0)), "two positive whole numbers"),
        (lambda: Camera(K, (640, 480), np.zeros(6)), "0, 4, 5 or 8 numbers"),
        (lambda: Camera(K, (640, 480), [np.inf, 0, 0, 0]), "NaN or infinity"),
        (lambda: Camera(K, (640, 480), (), 2 * np.eye(4)), "not a rigid motion"),
        (lambda: Camera.pinhole((640, 480)), "either 'field_of_view'"),
        (lambda: Camera.pinhole((640, 480), 3.2), "below π"),
        (lambda: Camera.pinhole((640, 480), -1.0), "positive number"),
        (lambda: project(camera(), np.zeros((3, 2))), r"'points' has shape \(3, 2\)"),
        (lambda: project(camera(), "abc"), "points"),
        (lambda: rays(camera(), np.zeros(3)), r"\(..., 2\) is needed"),
        (lambda: depth_points(camera(), np.ones((480, 640), np.uint16)), "depth / 1000"),
        (lambda: depth_points(camera(), np.ones((640, 480))), r"the camera's is \(480, 640\)"),
        (lambda: on_plane(camera(), [0, 0], np.zeros((4, 4))), "not a rigid motion"),
        (lambda: flip_camera(camera(), "sideways"), "direction is 'sideways'"),
        (lambda: crop_camera(camera(), (0, 0, 0), (10, 10)), "'corner'"),
    ],
)  # fmt: skip
def test_bad_input_is_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


NO_CAMERA = {
    "project": lambda c: project(c, np.ones(3)),
    "visible": lambda c: visible(c, np.ones(3)),
    "rays": lambda c: rays(c, np.ones(2)),
    "depth_points": lambda c: depth_points(c, np.ones((3, 4))),
    "on_plane": lambda c: on_plane(c, np.ones(2), np.eye(4)),
    "undistort_points": lambda c: undistort_points(c, np.ones(2)),
    "undistortion_map": lambda c: undistortion_map(c),
    "undistort_image": lambda c: undistort_image(c, np.zeros((3, 4), np.uint8)),
    "project_derivatives": lambda c: project_derivatives(c, np.ones(3)),
    "pose_from_points": lambda c: pose_from_points(c, np.eye(4)[:, :3], np.ones((4, 2))),
    "planar_poses": lambda c: planar_poses(c, np.eye(4)[:, :3], np.ones((4, 2))),
    "circle_poses": lambda c: circle_poses(c, np.ones((8, 2)), 0.1),
}


@pytest.mark.parametrize("name", NO_CAMERA)
def test_what_is_no_camera_is_named(name):
    """An intrinsic matrix, as OpenCV's functions take it, is the likely mistake."""
    with pytest.raises(ArgumentError, match=f"^{name}: 'camera' must be a Camera, got ndarray"):
        NO_CAMERA[name](np.eye(3))


# --- what users of OpenCV and ROS bring -------------------------------------------------------------------------------


def test_a_camera_looks_straight_down_without_more_words():
    assert looking_at([0, 0, 1], [0, 0, 0])[:3, 1].tolist() == [0, -1, 0]  # y of the world is up in the image
    with pytest.raises(ArgumentError, match="same point"):
        looking_at([1, 2, 3], [1, 2, 3])
    with pytest.raises(ArgumentError, match="looks along 'up'"):
        looking_at([0, 0, 1], [0, 0, 0], up=[0, 0, 2])


def test_thin_prisms_and_tilts_that_are_zero_do_no_harm():
    K = camera().matrix
    lens = Camera(K, (640, 480), [0.1, 0.2, 0, 0, 0, 0.01, 0, 0, *np.zeros(6)])
    assert lens.distortion.tolist() == [0.1, 0.2, 0, 0, 0, 0.01, 0, 0]
    with pytest.raises(ArgumentError, match="thin prisms"):
        Camera(K, (640, 480), np.full(14, 0.1))


def test_messages_and_files_of_ros_are_cameras():
    from types import SimpleNamespace

    lens = camera([0.1, -0.2, 0.01, 0.02, 0.03])
    info = camera_info(lens)
    message = SimpleNamespace(**{**info, "roi": SimpleNamespace(**info["roi"])})
    file = {
        "image_width": 640, "image_height": 480, "camera_matrix": {"rows": 3, "cols": 3, "data": info["k"]},
        "distortion_model": "plumb_bob", "distortion_coefficients": {"rows": 1, "cols": 5, "data": info["d"]},
    }  # fmt: skip
    for given in (info, message, file):
        found = camera_from_info(given)
        np.testing.assert_array_equal(found.matrix, lens.matrix)
        np.testing.assert_array_equal(found.distortion, lens.distortion)
