"""Objects are found in rendered scenes whose truth is known; models, outlines and refinement obey their laws."""

import numpy as np
import pytest
from scipy import ndimage
from support.block_scenes import MODELS, SIZES, apart, depths, matched, picture, random_blocks, random_camera, scene_of

from adjoint.drawing import triangles
from adjoint.errors import AdjointError, ModelError, SolveError
from adjoint.lie import se3
from adjoint.sensing import Box, Cylinder, DirectionalLight, Mesh, Plane, Scene, depth_image, intensity_image
from adjoint.vision import (
    Camera,
    ObjectModel,
    block_model,
    cylinder_model,
    draw_located,
    locate,
    looking_at,
    mesh_model,
    prism_model,
    project,
    refine_model_pose,
)
from adjoint.vision.locating.image_edges import edge_map, offsets_along
from adjoint.vision.locating.outlines import outline

L_SHAPE = [(0, 0), (0.06, 0), (0.06, 0.02), (0.02, 0.02), (0.02, 0.05), (0, 0.05)]
TRIANGLE = prism_model([(0, 0), (0.03, 0), (0, 0.04)], 0.01)

# --- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "volume", "rests"),
    [
        (block_model((0.06, 0.04, 0.02)), 4.8e-5, [(0.02, 2), (0.04, 2), (0.06, 2)]),
        (block_model((0.04, 0.04, 0.02)), 3.2e-5, [(0.02, 4), (0.04, 2)]),
        (block_model((0.04, 0.04, 0.04)), 6.4e-5, [(0.04, 4)]),
        (TRIANGLE, 6e-6, [(0.01, 1), (0.01, 1), (0.024, 1), (0.03, 1), (0.04, 1)]),
    ],
)  # fmt: skip
def test_volume_and_ways_to_lie(model, volume, rests):
    """A block lies on three sides that differ, a cube on one; a right-angled triangle lies on its face and its back."""
    assert model.volume == pytest.approx(volume)
    assert [(pytest.approx(rest.height), rest.symmetry) for rest in model.rests] == rests
    for rest in model.rests:
        laid = model.vertices @ rest.T_plane_object[:3, :3].T + rest.T_plane_object[:3, 3]
        assert laid[:, 2].min() == pytest.approx(0, abs=1e-12)
        center = rest.T_plane_object @ np.append(model.center, 1)
        assert center[:2] == pytest.approx([0, 0], abs=1e-12)


def test_what_would_fall_over_is_no_way_to_lie():
    """A tall leaning prism stands on neither end, for its centre of mass is not above it."""
    leaning = np.array([[0, 0], [0.02, 0], [0.12, 0.1], [0.1, 0.1]])
    heights = [rest.height for rest in prism_model(leaning, 0.03).rests]
    assert np.round(heights, 3).tolist() == [0.014, 0.03, 0.03]  # on a long side, and on its face or its back


def test_a_cylinder_has_the_volume_of_its_prism_and_rolls_nowhere():
    model = cylinder_model(0.02, 0.05)
    assert model.volume == pytest.approx(np.pi * 0.02**2 * 0.05, rel=1e-3)
    lying, standing = model.rests
    assert lying.height == pytest.approx(0.04, rel=1e-3) and standing.height == 0.05 and standing.symmetry == 60


def test_a_ball_of_many_faces_has_few_ways_to_lie():
    """All faces of a fine ball bear it; they are thinned out at once, and models with notches are told from others."""
    ball = mesh_model(triangles.ball(0.02, sides=64))
    assert len(ball.faces) > 2000 and 1 <= len(ball.rests) <= 40
    assert all(rest.height == pytest.approx(0.04, rel=5e-3) for rest in ball.rests)
    assert ball.is_convex and MODELS["brick"].is_convex and not prism_model(L_SHAPE, 0.01).is_convex


def test_meshes_are_welded_and_must_be_closed():
    box = triangles.box(0.1, 0.2, 0.3)
    loose = triangles.Mesh(box.vertices[box.faces.ravel()], np.arange(36).reshape(12, 3))  # no two faces share a vertex
    assert len(mesh_model(loose).edges.ends) == 12
    with pytest.raises(ModelError, match="not closed"):
        _ = mesh_model(triangles.Mesh(box.vertices, box.faces[:-1])).edges
    with pytest.raises(ModelError, match="counterclockwise"):
        mesh_model(triangles.Mesh(box.vertices, box.faces[:, ::-1]))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: block_model((1, 2)), "three positive numbers"),
        (lambda: block_model((1, 2, -3)), "three positive numbers"),
        (lambda: block_model("abc"), "three positive numbers"),
        (lambda: cylinder_model(0, 1), "radius must be a positive number"),
        (lambda: prism_model(L_SHAPE[::-1], 0.01), "counterclockwise"),
        (lambda: prism_model([(0, 0), (1, 1), (1, 0), (0, 1)], 0.01), "must not cross itself"),
        (lambda: prism_model(L_SHAPE[:2], 0.01), "three points or more"),
        (lambda: mesh_model(7), "vertices and faces"),
        (lambda: ObjectModel(np.zeros((4, 3)), [[0, 1, 2]]), "faces must be whole numbers"),
        (lambda: ObjectModel(np.eye(3), np.full((4, 3), 3)), "names vertex 3; there are 3"),
        (lambda: block_model((1, 1, 1), colour=(1, 2)), "colour must have shape"),
    ],
)
def test_bad_models_are_refused(make, says):
    with pytest.raises(AdjointError, match=says):
        make()


# --- outlines and edges -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distortion", [(), (-0.2, 0.05, 0.002, -0.001, 0.01)])
def test_slopes_of_an_outline_are_its_derivatives(distortion):
    """A small motion moves each sample along its normal as its slopes say; errors are of second order."""
    rng = np.random.default_rng(0)
    camera = random_camera(rng, distortion=distortion)
    T = se3.exp([0.1, -0.2, 0.4, 0.01, 0.02, 0.03])
    first = outline(camera, MODELS["brick"], T)
    for _ in range(5):
        small = 1e-6 * rng.normal(size=6)
        then = outline(camera, MODELS["brick"], T @ se3.exp(small))
        moved = np.sum((then.pixels - first.pixels) * first.normals, axis=1)
        assert moved == pytest.approx(first.slopes @ small, abs=1e-7)  # pixels; second order is 1e-12 · 1e4


def test_contours_separate_the_object_from_the_rest():
    """A step along the normal of a contour leaves the silhouette, and a step back enters it."""
    from adjoint.vision.locating.candidates import silhouette

    camera = random_camera(np.random.default_rng(1))
    T = se3.exp([0, 0, 0.3, 0.02, 0.01, 0.01])
    samples = outline(camera, MODELS["brick"], T)
    shown = silhouette(camera, MODELS["brick"], T, "test")
    at = samples.pixels[samples.contour], samples.normals[samples.contour]
    for step, inside in ((2.0, False), (-2.0, True)):
        u, v = np.rint(at[0] + step * at[1]).astype(int).T
        assert (shown[v, u] == inside).mean() > 0.95  # a corner may be nearer than two pixels


def test_offsets_of_a_known_step_are_found_between_pixels():
    """An edge at u = 20.3, sampled with the exact share of each pixel, is found within a twentieth of a pixel."""
    u = np.arange(40)
    image = np.tile(np.clip(u - 20.3 + 0.5, 0, 1), (30, 1)).astype(np.float32)[..., None]
    edges = edge_map(image, "test")
    pixels = np.column_stack([np.linspace(17.5, 23.5, 13), np.full(13, 15.0)])
    found = offsets_along(edges, pixels, np.tile([1.0, 0.0], (13, 1)), 5.0, "test")
    assert pixels[:, 0] + found == pytest.approx(np.full(13, 20.3), abs=0.05)
    assert np.isnan(offsets_along(edges, np.array([[5.0, 15.0]]), np.array([[1.0, 0.0]]), 5.0, "test")).all()


# --- refinement -------------------------------------------------------------------------------------------------------


def test_a_pose_is_refined_in_six_directions():
    rng = np.random.default_rng(2)
    camera = random_camera(rng)
    T = se3.exp([0, 0, 0.5, 0.01, -0.02, 0.01])
    image = picture(scene_of([("brick", T)]), camera)
    start = T @ se3.exp([0.02, -0.02, 0.03, 0.002, 0.001, -0.002])
    found = refine_model_pose(image, camera, MODELS["brick"], start)
    assert apart(MODELS["brick"], found.T_world_object, T) < 3e-4 < apart(MODELS["brick"], start, T)
    assert found.rms < 0.3 and found.found > 0.8
    assert np.linalg.matrix_rank(found.covariance) == 6


def test_on_a_plane_only_three_motions_are_uncertain():
    camera = random_camera(np.random.default_rng(3))
    T = se3.exp([0, 0, 0.5, 0.01, -0.02, 0.01])
    image = picture(scene_of([("brick", T)]), camera)
    start = T @ se3.exp([0, 0, 0.03, 0.002, 0.001, 0])
    found = refine_model_pose(image, camera, MODELS["brick"], start, T_world_plane=np.eye(4))
    assert found.T_world_object[2, 2:] == pytest.approx([1, 0.01])
    assert np.linalg.matrix_rank(found.covariance) == 3
    assert apart(MODELS["brick"], found.T_world_object, T) < 5 * np.sqrt(np.trace(found.covariance[3:, 3:])) + 1e-4


def test_nothing_is_refined_where_nothing_is():
    camera = random_camera(np.random.default_rng(4))
    with pytest.raises(SolveError, match="too few edges"):
        refine_model_pose(np.full((480, 640), 0.5), camera, MODELS["brick"], np.eye(4))


# --- locate -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(8))
def test_all_blocks_of_random_scenes_are_found(batch):
    """200 scenes of 2 to 5 blocks, which hide parts of each other: each is found once, and nothing else.

    At 1 mm a pixel, edges that are good to 0.1 pixel give poses to about 0.1 mm.
    """
    errors, off = [], []
    for seed in range(25 * batch, 25 * batch + 25):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        truth = random_blocks(rng, int(rng.integers(2, 6)))
        for thing, T in matched(locate(picture(scene_of(truth), camera, rng), camera, MODELS), truth):
            errors.append(apart(MODELS[thing.name], thing.T_world_object, T))
            off.append(thing)
    assert np.median(errors) < 1e-4 and np.quantile(errors, 0.9) < 3e-4 and max(errors) < 3e-3
    assert all(np.isfinite(thing.covariance).all() and thing.score >= 0.6 for thing in off)


def test_covariances_tell_the_errors():
    """ξᵀ Σ⁻¹ ξ of the three free motions has the mean 3; within a factor of 4, for edges have systematic errors too."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        camera = random_camera(rng)
        truth = random_blocks(rng, 1, {"stick": MODELS["stick"]})
        for thing, T in matched(locate(picture(scene_of(truth), camera, rng), camera, MODELS), truth):
            free = np.linalg.eigh(thing.covariance)
            kept = free.eigenvalues > 1e-6 * free.eigenvalues.max()
            xi = min((se3.log(se3.inverse(thing.T_world_object) @ T @ G) for G in _symmetries()), key=np.linalg.norm)
            found.append(np.sum((xi @ free.eigenvectors[:, kept]) ** 2 / free.eigenvalues[kept]))
            assert kept.sum() == 3
    assert 3 / 4 < np.mean(found) < 3 * 4


def _symmetries() -> list[np.ndarray]:
    """The turns that bring a stick with a square section onto itself."""
    quarter = [se3.exp([k * np.pi / 2, 0, 0, 0, 0, 0]) for k in range(4)]
    return [T @ G for T in quarter for G in (np.eye(4), se3.exp([0, 0, np.pi, 0, 0, 0]))]


@pytest.mark.parametrize("seed", range(3))
def test_a_lens_with_distortion_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    camera = random_camera(rng, distortion=(-0.25, 0.08, 0.001, -0.002, 0.0))
    truth = random_blocks(rng, 3)
    for thing, T in matched(locate(picture(scene_of(truth), camera, rng), camera, MODELS), truth):
        assert apart(MODELS[thing.name], thing.T_world_object, T) < 5e-4


def test_the_plane_may_be_anywhere():
    rng = np.random.default_rng(5)
    plane = se3.exp([0.3, -0.2, 1.0, 0.5, 0.4, 0.3])
    camera = random_camera(rng)
    camera = camera.at(plane @ camera.T_world_camera)
    truth = random_blocks(rng, 3, plane=plane)
    image = picture(scene_of(truth, plane=plane), camera, rng)
    for thing, T in matched(locate(image, camera, MODELS, T_world_plane=plane), truth):
        assert apart(MODELS[thing.name], thing.T_world_object, T) < 5e-4


def test_colours_decide_between_equal_shapes():
    rng = np.random.default_rng(6)
    camera = random_camera(rng)
    paint = {"red": (0.9, 0.2, 0.1), "blue": (0.2, 0.3, 0.9), "green": (0.2, 0.8, 0.3)}
    models = {name: block_model(SIZES["cube"], colour=colour) for name, colour in paint.items()}
    truth = random_blocks(rng, 4, models)
    scene = Scene([Plane(colour=0.1), *(Box(SIZES["cube"], T_world_solid=T, colour=paint[n]) for n, T in truth)])
    matched(locate(picture(scene, camera, rng, colour=True), camera, models), truth, models)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 105, 128, 167])
def test_poses_from_a_depth_camera(seed):
    """With half a millimetre of noise at each pixel, all six directions are found to a few tenths of a millimetre.

    In the last three scenes refinement starts far from the pose; it must not end before it stands still.
    """
    rng = np.random.default_rng(seed)
    camera = random_camera(rng)
    truth = random_blocks(rng, 3)
    scene = scene_of(truth)
    for thing, T in matched(locate(None, camera, MODELS, depth=depths(scene, camera, rng)), truth):
        assert apart(MODELS[thing.name], thing.T_world_object, T) < 1e-3
        assert np.linalg.matrix_rank(thing.covariance) == 6


def test_parts_of_other_shapes_are_told_apart():
    """A can, an L-shaped plate and a block are given as solids of the scene itself, or as models."""
    camera = Camera.pinhole((640, 480), 0.75).at(looking_at([0.1, -0.35, 0.5], [0, 0, 0]))
    plate = prism_model(L_SHAPE, 0.012)
    shape = Mesh((plate.vertices, plate.faces), colour=0.9)
    can, block = Cylinder(0.02, 0.05, colour=0.9), Box(SIZES["brick"], colour=0.9)
    placed = {
        "can": can.at([-0.08, 0.02, 0.025]), "plate": shape.at(se3.exp([0, 0, 0.7, 0.03, 0.05, 0.006])),
        "block": block.at(se3.exp([0, 0, -0.4, 0.02, -0.06, 0.01])),
    }  # fmt: skip
    light = DirectionalLight([-0.4, 0.5, -0.7], intensity=0.6, shadows=False)
    image = intensity_image(
        Scene([Plane(colour=0.1), *placed.values()]), camera, light, ambient=0.3, samples=3, noise=0.005, rng=0
    )
    found = {thing.name: thing for thing in locate(image, camera, {"can": can, "plate": plate, "block": block})}
    assert found.keys() == placed.keys()
    for name, thing in found.items():
        away = thing.T_world_object[:3, 3] - placed[name].T_world_solid[:3, 3]
        assert np.linalg.norm(away) < 1e-3, name


def test_a_picture_of_the_empty_table_or_a_mask_may_be_given():
    rng = np.random.default_rng(8)
    camera = random_camera(rng)
    truth = random_blocks(rng, 2)
    wavy = 0.12 * np.sin(np.arange(640) / 25)  # a background that no smooth surface fits
    empty, image = (np.clip(picture(scene_of(b), camera, rng) / 255 + wavy, 0, 1) for b in ([], truth))
    matched(locate(image, camera, MODELS, background=empty), truth)
    mask = np.abs(image - empty) > 0.1
    matched(locate(image, camera, MODELS, mask=mask), truth)


def _patterned(seed: int):
    """(camera, blocks, image, image of the empty table, where blocks are): the table has a pattern."""
    rng = np.random.default_rng(seed)
    camera = random_camera(rng)
    truth = random_blocks(rng, int(rng.integers(2, 6)))
    pattern = ndimage.gaussian_filter(rng.normal(size=(480, 640)), 2)
    pattern *= 0.15 / pattern.std()
    covered = depths(scene_of(truth), camera, sigma=0) < depths(scene_of([]), camera, sigma=0) - 1e-4
    empty, image = (picture(scene_of(blocks), camera, rng) / 255 for blocks in ([], truth))
    image = np.where(covered, image, np.clip(image + 0.2 + pattern, 0, 1))
    return camera, truth, image, np.clip(empty + 0.2 + pattern, 0, 1), covered


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 204))
def test_a_picture_of_a_patterned_table_tells_its_edges_from_those_of_blocks(seed):
    """The table has edges everywhere, as strong as those of blocks."""
    camera, truth, image, empty, _ = _patterned(seed)
    for thing, T in matched(locate(image, camera, MODELS, background=empty), truth):
        assert apart(MODELS[thing.name], thing.T_world_object, T) < 1e-3


@pytest.mark.slow
def test_a_mask_on_a_patterned_table_finds_most_blocks():
    """A mask says nothing of edges beside blocks, so that a pose may be drawn to those of the table."""
    there = found = 0
    for seed in range(200, 204):
        camera, truth, image, _, covered = _patterned(seed)
        things = locate(image, camera, MODELS, mask=covered)
        there += len(truth)
        found += sum(
            any(x.name == n and apart(MODELS[n], x.T_world_object, T) < 5e-3 for x in things) for n, T in truth
        )
    assert found >= 0.9 * there


@pytest.mark.slow
@pytest.mark.parametrize("seed", [202, 207, 208])
def test_much_noise_hides_no_faces(seed):
    """With noise of 5 % at each pixel, a face must differ by 25 % to be seen pixel by pixel; means tell it earlier."""
    rng = np.random.default_rng(seed)
    camera = random_camera(rng)
    truth = random_blocks(rng, int(rng.integers(2, 6)))
    matched(locate(picture(scene_of(truth), camera, rng, noise=0.05), camera, MODELS), truth)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [200, 206])
def test_in_a_crowd_scores_stay_below_one(seed):
    """Twelve blocks hide parts of each other. What one hides of another must be forgiven once, not again and again."""
    rng = np.random.default_rng(seed)
    camera = random_camera(rng)
    truth = random_blocks(rng, 12)
    pairs = matched(locate(picture(scene_of(truth), camera, rng), camera, MODELS), truth)
    assert all(0.6 <= thing.score <= 1 for thing, _ in pairs)


@pytest.mark.slow
def test_large_images_give_more_precise_poses():
    rng = np.random.default_rng(200)
    camera = Camera.pinhole((1280, 960), 0.75).at(looking_at([0.1, -0.35, 0.5], [0, 0, 0]))
    truth = random_blocks(rng, 4)
    for thing, T in matched(locate(picture(scene_of(truth), camera, rng), camera, MODELS), truth):
        assert apart(MODELS[thing.name], thing.T_world_object, T) < 1e-4


def test_an_empty_table_has_no_objects():
    camera = random_camera(np.random.default_rng(9))
    assert locate(picture(scene_of([]), camera), camera, MODELS) == ()
    assert locate(np.zeros((480, 640), np.uint8), camera, MODELS) == ()
    assert locate(None, camera, MODELS, depth=depths(scene_of([]), camera)) == ()


def test_what_has_another_shape_is_not_named():
    camera = random_camera(np.random.default_rng(10))
    scene = Scene([Plane(colour=0.15), Box((0.12, 0.12, 0.01), T_world_solid=[0, 0, 0.005], colour=0.9)])
    assert locate(picture(scene, camera), camera, {"cube": MODELS["cube"]}) == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"image": np.zeros((480, 641))}, r"shape \(480, 641\); the camera's is \(480, 640\)"),
        ({"image": np.zeros((480, 640), complex)}, "real numbers"),
        ({"image": np.full((480, 640), np.nan)}, "NaN"),
        ({"image": None}, "give an image"),
        ({"camera": np.eye(3)}, "must be a Camera"),
        ({"models": {}}, "no models"),
        ({"models": 3}, "dictionary"),
        ({"models": {"a": "b"}}, "block_model"),
        ({"T_world_plane": np.zeros((4, 4))}, "not a rigid motion"),
        ({"mask": np.zeros((3, 3), bool)}, r"mask has shape \(3, 3\)"),
        ({"mask": np.arange(640 * 480).reshape(480, 640)}, "binary image"),
        ({"background": np.zeros((480, 640, 3))}, "background has shape"),
        ({"depth": np.zeros((3, 3))}, "depth"),
        ({"depth": np.zeros((480, 640), int)}, "millimetres"),
        ({"depth": np.ones((480, 640)), "mask": np.zeros((3, 3), bool)}, r"mask has shape \(3, 3\)"),
        ({"image": np.zeros((480, 640), np.int64)}, "int64 is not taken"),
        ({"image": np.full((480, 640), 255.0)}, "0 to 1 is needed"),
        ({"least_score": "x"}, "least_score"),
    ],
)
def test_bad_input_is_refused(change, says):
    arguments = {"image": np.zeros((480, 640)), "camera": random_camera(np.random.default_rng(0)), "models": MODELS}
    arguments |= change
    with pytest.raises(AdjointError, match=says):
        locate(arguments.pop("image"), arguments.pop("camera"), arguments.pop("models"), **arguments)


# --- mistakes that would give nothing, or nonsense --------------------------------------------------------------------


def test_a_camera_that_does_not_see_the_plane_is_told():
    blank = np.zeros((480, 640))
    with pytest.raises(AdjointError, match="does not look at the plane"):
        locate(blank, Camera.pinhole((640, 480), 0.75), MODELS)  # it lies in the plane
    with pytest.raises(AdjointError, match="does not look at the plane"):
        locate(blank, Camera.pinhole((640, 480), 0.75).at(looking_at([0, 0, 1], [0, 0, 2])), MODELS)


def test_wrong_units_are_told():
    camera = random_camera(np.random.default_rng(0))
    with pytest.raises(AdjointError, match="are its lengths in metres"):
        locate(np.zeros((480, 640)), camera, {"brick": block_model((60, 40, 20))})
    with pytest.raises(AdjointError, match="are they in millimetres"):
        locate(None, camera, MODELS, depth=np.full((480, 640), 600.0))
    with pytest.raises(AdjointError, match="scores are from 0 to 1"):
        locate(np.zeros((480, 640)), camera, MODELS, least_score=60)
    with pytest.raises(AdjointError, match="give an image, or depth="):
        locate(None, camera, MODELS)


def test_nothing_floats_between_stacked_blocks():
    """Objects lie on the plane; of a stack, what is found lies there too, and no pose between both is made up."""
    camera = Camera.pinhole((640, 480), 0.75).at(looking_at([0.1, -0.3, 0.5], [0, 0, 0]))
    block = Box((0.05, 0.05, 0.03))
    scene = Scene([Plane(), block.at([0, 0, 0.015]), block.at([0.005, 0, 0.045])])
    for thing in locate(None, camera, {"block": block}, depth=depth_image(scene, camera)):
        laid = block_model(block.size).vertices @ thing.T_world_object[:3, :3].T + thing.T_world_object[:3, 3]
        assert abs(laid[:, 2].min()) < 0.006


def test_what_was_found_is_drawn_over_the_image():
    rng = np.random.default_rng(1)
    camera = random_camera(rng)
    truth = random_blocks(rng, 3)
    image = picture(scene_of(truth), camera, rng)
    drawn = draw_located(image, camera, locate(image, camera, MODELS), MODELS)
    assert drawn.shape == (480, 640, 3) and drawn.dtype == np.uint8
    changed = (drawn != image[..., None]).any(axis=2)
    for name, T in truth:
        ends = project(camera, T[:3, :3] @ MODELS[name].vertices[0] + T[:3, 3])
        u, v = np.rint(ends).astype(int)
        assert changed[v - 25 : v + 26, u - 25 : u + 26].any()
    assert 100 < changed.sum() < 20_000
