"""Images of scenes: pixels are rays, culling changes none, light obeys Lambert, edges lie where geometry says."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.solid_scenes import icosphere, looking, pinhole, random_scene

from adjoint.errors import ArgumentError
from adjoint.sensing.scene import (
    BackLight,
    Box,
    Capsule,
    Cylinder,
    DiffuseLight,
    DirectionalLight,
    LightSheet,
    Mesh,
    Plane,
    RangeNoise,
    Scene,
    Sphere,
    StructuredLight,
    Textured,
    cast_rays,
    depth_image,
    double_light_plane,
    intensity_image,
    range_image,
    segmentation_image,
)
from adjoint.sensing.scene.lenses import distorted
from adjoint.sensing.scene.views import lattice, nearest_depths, pixel_directions, view_of
from adjoint.vision.cameras import Camera, project, rays

DOWN = looking([0, 0, 2.0], [0, 0, 0])
LENS = (-0.25, 0.08, 0.002, -0.003, 0.01, 0.02, 0.0, 0.0)
MIRRORED = np.array([[-60.0, 0, 31.5], [0, 60, 23.5], [0, 0, 1]])


def cameras():
    T = looking([1.0, 0.3, 0.7], [0, 0, 0.1])
    return {
        "plain": pinhole(T),
        "lens": pinhole(T, distortion=LENS),
        "skew": pinhole(T, skew=5.0),
        "above": pinhole(DOWN),
        "inside": pinhole(looking([0.0, 0.0, 0.15], [1.0, 0.2, 0.1])),
        "mirrored": SimpleNamespace(matrix=MIRRORED, size=(64, 48), T_world_camera=T),
    }


@pytest.mark.parametrize("name", cameras())
def test_a_depth_image_is_ray_by_ray_what_rays_meet(name):
    camera, rng = cameras()[name], np.random.default_rng(0)
    scene = random_scene(rng, 12, meshes=3)
    view = view_of(camera, "test")
    d = pixel_directions(view)
    hits = cast_rays(scene, camera.T_world_camera[:3, 3], d)
    np.testing.assert_allclose(range_image(scene, camera), hits.distance, rtol=1e-11)
    np.testing.assert_allclose(depth_image(scene, camera), hits.distance / np.linalg.norm(d, axis=-1), rtol=1e-11)
    assert (segmentation_image(scene, camera) == hits.solid).mean() > 0.9995
    for backfaces in (True, False):
        z = hits_depth(scene, camera, d, backfaces)
        np.testing.assert_allclose(depth_image(scene, camera, backfaces=backfaces), z, rtol=1e-11)


def hits_depth(scene, camera, d, backfaces):
    hits = cast_rays(scene, camera.T_world_camera[:3, 3], d, backfaces=backfaces)
    return hits.distance / np.linalg.norm(d, axis=-1)


@pytest.mark.parametrize("name", ["plain", "lens", "skew", "inside", "mirrored"])
@pytest.mark.parametrize("seed", range(4))
def test_rectangles_cut_no_pixel_off(name, seed):
    """Solids anywhere: behind, beside, around and through the plane of the lens."""
    rng = np.random.default_rng(seed)
    camera, eye = cameras()[name], cameras()[name].T_world_camera[:3, 3]
    scene = random_scene(rng, 40, spread=1.5, meshes=4)
    scene = scene.move({}).add(*[Sphere(0.3, T_world_solid=eye + 0.5 * rng.normal(size=3)) for _ in range(10)])
    for named in (True, False):
        culled = nearest_depths(scene, view_of(camera, "test"), named=named)
        whole = nearest_depths(scene, view_of(camera, "test"), named=named, culled=False)
        np.testing.assert_array_equal(culled.depth, whole.depth)
        if named:
            np.testing.assert_array_equal(culled.solid, whole.solid)
            np.testing.assert_array_equal(culled.triangle, whole.triangle)


def test_cameras_of_vision_see_where_they_project():
    for camera in (
        Camera.pinhole((64, 48), focal_length=60, distortion=LENS).at(looking([1.0, 0.3, 0.7], [0, 0, 0.1])),
        Camera.pinhole((64, 48), focal_length=60).at(DOWN),
    ):
        scene = random_scene(np.random.default_rng(1), 10)
        distance = range_image(scene, camera)
        o, d = rays(camera)
        np.testing.assert_allclose(distance, cast_rays(scene, o, d).distance, rtol=1e-10)
        met = np.isfinite(distance)
        seen = project(camera, (o + distance[..., None] * d)[met])
        v, u = np.nonzero(met)
        np.testing.assert_allclose(seen, np.stack([u, v], axis=1), atol=1e-8)


def test_a_camera_inside_of_a_solid_sees_it_from_inside():
    scene = Scene([Sphere(1.0), Plane(T_world_solid=[0, 0, -3.0])])
    camera = pinhole(looking([0, 0, 0.0], [0, 0, -1.0]))
    np.testing.assert_allclose(range_image(scene, camera), 1.0, rtol=1e-14)
    assert (segmentation_image(scene, camera) == 0).all()
    np.testing.assert_allclose(depth_image(scene, camera, backfaces=False), 3.0, rtol=1e-14)
    image = intensity_image(scene, camera, DirectionalLight([0, 0, -1.0], shadows=False), dtype=float)
    assert (image >= 0).all()


def test_an_empty_scene_is_background():
    camera = pinhole(DOWN)
    assert (depth_image(Scene(), camera) == np.inf).all()
    assert (segmentation_image(Scene(), camera) == -1).all()
    assert (intensity_image(Scene(), camera, background=0.5) == 128).all()
    assert (intensity_image(Scene(), camera, BackLight(), colour=True) == 255).all()
    behind = Scene([Sphere(0.5, T_world_solid=[0, 0, 5.0])])
    assert (depth_image(behind, camera) == np.inf).all()


def test_distortion_is_inverted():
    view = view_of(pinhole(DOWN, distortion=LENS), "test")
    back = distorted(np.stack([view.x, view.y], axis=-1), np.array(LENS))
    u, v = np.arange(64.0), np.arange(48.0)[:, None]
    np.testing.assert_allclose(back[..., 0], np.broadcast_to((u - 31.5) / 60, (48, 64)), atol=1e-13)
    np.testing.assert_allclose(back[..., 1], np.broadcast_to((v - 23.5) / 60, (48, 64)), atol=1e-13)


def test_pixels_that_a_lens_cannot_show_see_nothing():
    """With k1 = -0.5, r (1 - 0.5 r²) has its largest value 0.544 at r = 0.816: beyond that circle nothing is shown."""
    camera = pinhole(DOWN, focal=40, distortion=(-0.5, 0, 0, 0))
    view = view_of(camera, "test")
    u, v = (np.arange(64) - 31.5) / 40, (np.arange(48)[:, None] - 23.5) / 40
    inside = np.hypot(u, v) < (2 / 3) ** 1.5
    np.testing.assert_array_equal(np.isfinite(view.x), inside)
    assert np.hypot(view.x, view.y)[inside].max() < np.sqrt(2 / 3)
    for image in (depth_image, range_image):
        np.testing.assert_array_equal(np.isfinite(image(Scene([Plane(), Sphere(0.2)]), camera)), inside)
    assert (intensity_image(Scene([Plane()]), camera, background=1.0)[~inside] == 255).all()
    known = Camera.pinhole((64, 48), focal_length=40, distortion=(-0.5, 0, 0, 0)).at(DOWN)
    np.testing.assert_array_equal(np.isfinite(rays(known).directions[..., 0]), inside)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"matrix": np.eye(4)}, "'matrix'"),
        ({"matrix": np.zeros((3, 3))}, "fx and fy not 0"),
        ({"matrix": np.full((3, 3), np.nan)}, "finite"),
        ({"size": (0, 4)}, "'size'"),
        ({"size": (3.5, 4)}, "'size'"),
        ({"distortion": [1, 2]}, "'distortion'"),
        ({"T_world_camera": 2 * np.eye(4)}, "rigid motion"),
    ],
)
def test_bad_cameras_are_named(fields, words):
    camera = SimpleNamespace(**(vars(pinhole(DOWN)) | fields))
    with pytest.raises(ArgumentError, match=words):
        depth_image(Scene([Plane()]), camera)


def test_bad_arguments_are_named():
    camera, scene = pinhole(DOWN), Scene([Plane()])
    with pytest.raises(ArgumentError, match="has no matrix"):
        depth_image(scene, object())
    with pytest.raises(ArgumentError, match="must be a Scene"):
        intensity_image([Plane()], camera)  # type: ignore[arg-type]
    for options, words in (
        ({"samples": 0}, "samples"),
        ({"samples": 1.5}, "samples"),
        ({"dtype": np.int32}, "dtype"),
        ({"ambient": -1}, "ambient"),
        ({"noise": -1}, "noise"),
        ({"lights": ["sun"]}, "lights are"),
        ({"lights": BackLight(panel="lamp")}, "no solid 'lamp'"),
    ):
        with pytest.raises(ArgumentError, match=words):
            intensity_image(scene, camera, **options)
    for make, words in (
        (lambda: DirectionalLight([0, 0, 0]), "zero"),
        (lambda: StructuredLight(DOWN, pattern="waves"), "pattern"),
        (lambda: StructuredLight(DOWN, period=0.1, width=0.2), "'width'"),
        (lambda: LightSheet(DOWN, thickness=0), "thickness"),
        (lambda: double_light_plane([0, 0, 0], [0, 0, 1]), "horizontal"),
        (lambda: BackLight(panel=1), "panel"),
    ):
        with pytest.raises(ArgumentError, match=words):
            make()


# --- light ------------------------------------------------------------------------------------------------------------


def test_lambert_and_diffuse_light_on_a_ball():
    scene, camera = Scene([Sphere(0.5, colour=0.6)]), pinhole(DOWN)
    hits = cast_rays(scene, [0, 0, 2.0], pixel_directions(view_of(camera, "test")))
    met = hits.solid == 0
    light = DirectionalLight([1.0, 0.5, -1.0], intensity=0.9)
    image = intensity_image(scene, camera, light, ambient=0.1, dtype=float)
    cosine = np.maximum(hits.normal @ -light.direction, 0)
    np.testing.assert_allclose(image[met], 0.6 * (0.1 + 0.9 * cosine[met]), atol=1e-12)
    assert (image[~met] == 0).all()
    sky = intensity_image(scene, camera, DiffuseLight(0.8), dtype=float)
    np.testing.assert_allclose(sky[met], 0.6 * 0.8 * (1 + hits.normal[met][:, 2]) / 2, atol=1e-12)
    both = intensity_image(scene, camera, [light, DiffuseLight(0.8)], ambient=0.1, dtype=float)
    np.testing.assert_allclose(both, image + sky, atol=1e-12)


def test_colours_gray_levels_and_dtypes():
    scene, camera = Scene([Plane(colour=[0.2, 0.5, 0.9])]), pinhole(DOWN)
    colour = intensity_image(scene, camera, colour=True, dtype=float)
    np.testing.assert_allclose(colour, np.broadcast_to([0.2, 0.5, 0.9], (48, 64, 3)), atol=1e-12)
    gray = intensity_image(scene, camera, dtype=np.float32)
    assert gray.dtype == np.float32
    np.testing.assert_allclose(gray, 0.299 * 0.2 + 0.587 * 0.5 + 0.114 * 0.9, rtol=1e-6)
    assert (intensity_image(scene, camera, colour=True)[0, 0] == [51, 128, 230]).all()
    assert (intensity_image(scene, camera, DiffuseLight(9.0)) == 255).all()  # too bright


def test_highlights_are_where_the_mirror_law_says():
    scene = Scene([Plane(colour=0.0, specular=1.0, shininess=200.0)])
    camera, light = pinhole(looking([0, -1.0, 1.0], [0, 0, 0])), DirectionalLight([0, -1.0, -1.0], shadows=False)
    image = intensity_image(scene, camera, light, dtype=float)
    row, column = np.unravel_index(np.argmax(image), image.shape)
    assert abs(row - 23.5) <= 1 and abs(column - 31.5) <= 1  # the mirrored beam goes along the axis
    assert image.max() > 0.98 and image[0, 0] < 1e-3


def test_shadows_lie_where_rays_to_the_light_are_blocked():
    ball, light = Sphere(0.2, T_world_solid=[0, 0, 0.5]), DirectionalLight([1.0, 0, -1.0])
    scene, camera = Scene([Plane(colour=1.0), ball]), pinhole(DOWN, size=(160, 120), focal=150)
    image = intensity_image(scene, camera, light, dtype=float)
    solids = segmentation_image(scene, camera)
    floor = solids == 0
    points = cast_rays(scene, [0, 0, 2.0], pixel_directions(view_of(camera, "test"))).point
    # The shadow of a ball about c along l: points whose distance from the line c + s l is below its radius.
    away = points - np.array([0, 0, 0.5])
    off = np.linalg.norm(np.cross(away, light.direction), axis=-1)
    np.testing.assert_allclose(image[floor & (off > 0.2 + 1e-6)], np.sqrt(0.5), rtol=1e-12)
    assert (image[floor & (off < 0.2 - 1e-6)] == 0).all()
    assert (floor & (off < 0.2)).sum() > 100
    bright = intensity_image(scene, camera, DirectionalLight([1.0, 0, -1.0], shadows=False), dtype=float)
    np.testing.assert_allclose(bright[floor], np.sqrt(0.5), rtol=1e-12)


def test_backlight_shows_silhouettes():
    scene, camera = Scene([Plane(name="table"), Box([0.5, 0.5, 0.2])]), pinhole(DOWN)
    image = intensity_image(scene, camera, BackLight(panel="table"))
    np.testing.assert_array_equal(image, np.where(segmentation_image(scene, camera) == 0, 255, 0))
    free = Scene([Sphere(0.4)])
    np.testing.assert_array_equal(
        intensity_image(free, camera, BackLight()), np.where(segmentation_image(free, camera) < 0, 255, 0)
    )


def test_stripes_grids_and_dots_on_a_floor():
    camera, floor = pinhole(DOWN), Scene([Plane(colour=1.0)])
    points = cast_rays(floor, [0, 0, 2.0], pixel_directions(view_of(camera, "test"))).point
    for pattern in ("stripes", "grid", "dots"):
        light = StructuredLight([0.1003, 0.2007, 1.5], pattern=pattern, period=0.2, width=0.07, field=0.5)
        image = intensity_image(floor, camera, light, dtype=float)
        a, b = (points[..., 0] - 0.1003) / 1.5, -(points[..., 1] - 0.2007) / 1.5
        on = [np.abs((w + 0.1) % 0.2 - 0.1) <= 0.035 for w in (a, b)]
        lit = {"stripes": on[0], "grid": on[0] | on[1], "dots": on[0] & on[1]}[pattern]
        lit &= (np.abs(a) <= 0.5) & (np.abs(b) <= 0.5)
        np.testing.assert_array_equal(image > 0, lit)
        assert 0.01 < lit.mean() < 0.9


def test_a_stripe_on_a_block_is_displaced_by_its_height():
    """Triangulation (section 6.2.2): a sheet under 45° meets a block of height h where it is h nearer to the source."""
    T = np.eye(4)
    z = np.array([-1.0, 0, -1.0]) / np.sqrt(2)
    T[:3, :3], T[:3, 3] = np.stack([np.cross([0, 1.0, 0], z), [0, 1.0, 0], z], axis=1), -2 * z
    height = 0.25
    block = Box([1.0, 0.4, height], T_world_solid=[0, 0.3, height / 2])
    scene = Scene([Plane(colour=1.0), block])
    camera = pinhole(looking([0, 0, 4.0], [0, 0, 0]), size=(240, 240), focal=400)
    image = intensity_image(scene, camera, LightSheet(T, thickness=0.02), dtype=float)
    depth, solid = depth_image(scene, camera), segmentation_image(scene, camera)
    view = view_of(camera, "test")
    d = pixel_directions(view)
    points = d * depth[..., None] + [0, 0, 4.0]
    on_floor, on_block = points[(image > 0) & (solid == 0)], points[(image > 0) & (solid == 1) & (points[..., 2] > 0.2)]
    assert len(on_floor) > 100 and len(on_block) > 50
    assert abs(on_floor[:, 0].mean()) < 0.01
    assert abs(on_block[:, 0].mean() - height) < 0.01


def test_two_light_planes_break_only_under_the_camera():
    """Figure 7.10: an object beside the line shadows one sheet at most; on the line it breaks both."""
    lights = double_light_plane([0, 0, 0], [0, 1.0, 0], height=1.0, thickness=0.01)
    camera = pinhole(looking([0, 0, 3.0], [0, 0, 0]), size=(101, 101), focal=400)
    line = (slice(None), 50) if abs(camera.T_world_camera[0, 0]) > 0.5 else (50, slice(None))

    def seen(x, lights):
        block = Box([0.1, 0.2, 0.2], T_world_solid=[x, 0, 0.1], colour=1.0)
        return intensity_image(Scene([Plane(colour=1.0), block]), camera, lights, dtype=float)[line]

    alone = intensity_image(Scene([Plane(colour=1.0)]), camera, lights, dtype=float)[line]
    assert (alone > 1.3).all()
    for x in (0.12, -0.12):  # beside the line: one sheet is shadowed there, the other one shines
        both = seen(x, lights)
        assert (both > 0.6).all() and (both < 0.8).any()
        assert min(seen(x, lights[0]).min(), seen(x, lights[1]).min()) == 0  # one source would show a break
    assert (seen(0.0, lights) == 0).any()


# --- samples and textures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 4, 16, 17, 64])
def test_samples_are_even_along_both_axes(count):
    points = lattice(count)
    for k in (0, 1):
        np.testing.assert_allclose(np.sort(points[:, k]), (np.arange(count) + 0.5) / count - 0.5, atol=1e-15)


@pytest.mark.parametrize("turn", [0.0, 0.1, 0.7])
def test_with_samples_an_edge_is_found_to_a_part_of_a_pixel(turn):
    """A bright half-plane: the sum of a row is the place of its edge, up to 1/samples of a pixel."""
    camera = pinhole(DOWN, size=(80, 60), focal=50)
    c, s = np.cos(turn), np.sin(turn)
    T = np.array([[c, -s, 0, 0.013], [s, c, 0, 0.0], [0, 0, 1, 0], [0, 0, 0, 1]])
    patch = Textured([40.0, 40.0], np.array([[1.0, 0.0]]), T_world_solid=T)
    image = intensity_image(Scene([patch]), camera, samples=64, dtype=float)
    rows = np.arange(20, 40)
    # The edge is the line through (0.013, 0) along (-s, c) of the world; y of the world goes up in the image.
    y = (23.5 + 6 - rows) / 50 * 2
    x = 0.013 - s / c * y
    want = x / 2 * 50 + 39.5
    T_x = camera.T_world_camera[0, 0]
    found = image[rows].sum(axis=1) - 0.5 if T_x > 0 else 79.5 - image[rows].sum(axis=1)
    np.testing.assert_allclose(found, want if T_x > 0 else 79 - want, atol=0.03)


def test_textures_are_upright_seen_from_the_side_of_z():
    picture = np.zeros((3, 4, 3))
    picture[0, 0], picture[0, 3], picture[2, 3] = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    patch = Textured([0.4, 0.3], picture, colour=0.0)
    T = np.diag([1.0, -1, -1, 1])
    T[2, 3] = 1.0  # x of the camera is x of the world, its y is -y
    camera = pinhole(T, size=(40, 30), focal=100)
    image = intensity_image(Scene([patch]), camera, colour=True)
    assert image.shape == (30, 40, 3)
    for r in range(3):
        for c in range(4):
            np.testing.assert_array_equal(image[10 * r + 5, 10 * c + 5], 255 * picture[r, c])
    seen = project(Camera(camera.matrix, camera.size, T_world_camera=T), patch.corners())
    np.testing.assert_allclose(seen, [[-0.5, -0.5], [39.5, -0.5], [39.5, 29.5], [-0.5, 29.5]], atol=1e-9)
    back = looking([0, 0, -1.0], [0, 0, 0])
    assert (intensity_image(Scene([patch]), pinhole(back, size=(40, 30), focal=100), ambient=1.0) == 0).all()


def test_corners_of_a_rendered_chessboard_are_found_where_they_project():
    import cv2

    squares = np.indices((7, 9)).sum(axis=0) % 2
    board = Textured([0.36, 0.28], squares, T_world_solid=looking([0.02, 0.01, 0.0], [0.1, 0.2, 1.0]))
    camera = Camera.pinhole((320, 240), focal_length=300, distortion=(-0.1, 0.02, 0, 0)).at(
        looking([0.1, -0.15, 0.75], [0.0, 0.0, 0.0])
    )
    scene = Scene([board, Plane(T_world_solid=[0, 0, -0.5], colour=0.6)])
    image = intensity_image(scene, camera, DiffuseLight(), samples=36)
    x, y = (np.arange(1, 9) / 9 - 0.5) * 0.36, (0.5 - np.arange(1, 7) / 7) * 0.28
    local = np.stack([*np.broadcast_arrays(x, y[:, None], 0.0)], axis=-1).reshape(-1, 3)
    T = board.T_world_solid
    want = project(camera, local @ T[:3, :3].T + T[:3, 3])
    start = (want + np.random.default_rng(0).uniform(-1, 1, want.shape)).astype(np.float32)
    found = cv2.cornerSubPix(image, start.reshape(-1, 1, 2), (5, 5), (-1, -1), (3, 100, 1e-4)).reshape(-1, 2)
    error = np.linalg.norm(found - want, axis=1)
    assert np.abs((found - want).mean(axis=0)).max() < 0.02
    assert np.sqrt((error**2).mean()) < 0.05 and error.max() < 0.1  # that of cornerSubPix itself


# --- noise ------------------------------------------------------------------------------------------------------------


def test_noise_of_images():
    scene, camera = Scene([Plane(colour=0.5)]), pinhole(DOWN, size=(200, 150))
    image = intensity_image(scene, camera, noise=0.02, rng=0, dtype=float)
    assert abs(image.mean() - 0.5) < 4 * 0.02 / np.sqrt(image.size)
    assert abs(image.std() - 0.02) < 4 * 0.02 / np.sqrt(2 * image.size)
    np.testing.assert_array_equal(image, intensity_image(scene, camera, noise=0.02, rng=0, dtype=float))
    depth = depth_image(scene, camera, noise=RangeNoise(sigma=0.001, quadratic=0.001), rng=1)
    clean = depth_image(scene, camera)
    cosine = clean / range_image(scene, camera)  # the floor is at right angles to the axis
    scaled = (depth - clean) / (0.001 + 0.001 * clean**2) * cosine
    assert abs(scaled.std() - 1) < 4 / np.sqrt(2 * scaled.size)
    lost = depth_image(scene, camera, noise=RangeNoise(dropout=0.25), rng=2)
    assert abs(np.isinf(lost).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / lost.size)
    grazing = range_image(scene, pinhole(looking([0, 0, 0.2], [1.0, 0, 0.1])), noise=RangeNoise(grazing=1.4), rng=3)
    whole = range_image(scene, pinhole(looking([0, 0, 0.2], [1.0, 0, 0.1])))
    np.testing.assert_array_equal(np.isfinite(grazing), 0.2 / whole >= np.cos(1.4))


def test_other_solids_are_shaded_too():
    solids = [
        Cylinder(0.1, 0.3, T_world_solid=[0.2, 0, 0.1], colour=0.8),
        Capsule(0.1, 0.2, T_world_solid=[-0.2, 0, 0.1], colour=0.8),
        Mesh(icosphere(3, 0.1), T_world_solid=[0, 0.25, 0.1], colour=0.8),
        Sphere(0.1, T_world_solid=[0, -0.25, 0.1], colour=0.8),
    ]
    camera, light = pinhole(looking([0.3, 0.5, 1.0], [0, 0, 0]), focal=80), DirectionalLight([0.2, 0.1, -1])
    scene = Scene(solids)
    hits = cast_rays(scene, camera.T_world_camera[:3, 3], pixel_directions(view_of(camera, "test")))
    image = intensity_image(scene, camera, DirectionalLight([0.2, 0.1, -1], shadows=False), dtype=float)
    met = hits.solid >= 0
    assert set(hits.solid[met]) == {0, 1, 2, 3}
    np.testing.assert_allclose(image[met], 0.8 * np.maximum(hits.normal[met] @ -light.direction, 0), atol=1e-9)
    shadowed = intensity_image(scene, camera, light, dtype=float)
    assert (shadowed <= image + 1e-12).all() and (shadowed == image).mean() > 0.9
