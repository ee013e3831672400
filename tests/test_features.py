"""Features: their frames after RAPT, their names through booleans, and which of them are left on a part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.world.features import FEATURE_KINDS, Feature, feature_frame
from adjoint.world.parts import (
    cone,
    cuboid,
    cylinder,
    hemisphere,
    lamination,
    mesh_part,
    revolution,
    sphere,
    union,
    wedge,
)
from adjoint.world.parts.surface_queries import inside_mesh

from .support.random_parts import L_SHAPE, placed_polyhedra, placed_primitives


def outline_area(feature: Feature) -> float:
    x, y = feature.outline.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)


def kinds(part) -> dict[str, str]:
    return {name: f.kind for name, f in part.features.items() if f.kind not in ("edge", "vertex")}


# --- frames -----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_frames_are_rigid_motions_with_the_given_axis(seed):
    rng = np.random.default_rng(seed)
    p, x, y = rng.normal(size=(3, 3))
    for T in (feature_frame(p, x), feature_frame(p, x, y)):
        np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-14)
        assert np.linalg.det(T[:3, :3]) == pytest.approx(1)
        np.testing.assert_allclose(T[:3, 0], x / np.linalg.norm(x), atol=1e-15)
        np.testing.assert_array_equal(T[:3, 3], p)
    assert y @ feature_frame(p, x, y)[:3, 1] > 0 and abs(y @ feature_frame(p, x, y)[:3, 2]) < 1e-12


def test_the_rule_for_the_other_axes():
    """y is the part's axis to which x is least parallel, the first of them, in spite of rounding errors."""
    axes = {(1, 0, 0): (0, 1, 0), (0, 1, 0): (1, 0, 0), (0, 0, 1): (1, 0, 0), (0, 0, -1): (1, 0, 0)}
    for x, y in axes.items():
        np.testing.assert_array_equal(feature_frame([0, 0, 0], x)[:3, 1], y)
        near = feature_frame([0, 0, 0], np.add(x, [1e-13, -1e-13, 2e-13]))
        np.testing.assert_allclose(near[:3, 1], y, atol=1e-12)


def test_features_are_equal_by_content_and_move():
    top = Feature("top", "face", feature_frame([0, 0, 1], [0, 0, 1]), outline=[[0, 0], [1, 0], [0, 1]])
    T = se3.random(rng=3)
    assert top == Feature("top", "face", top.T_part_feature, outline=top.outline) and hash(top) == hash(
        top.at(np.eye(4))
    )
    assert top != top.renamed("lid") and top != top.at([0, 0, 1]) and top != 3
    np.testing.assert_allclose(top.at(T).T_part_feature, T @ top.T_part_feature, atol=1e-15)
    np.testing.assert_allclose(top.at(T).corners(), top.corners() @ T[:3, :3].T + T[:3, 3], atol=1e-15)
    assert Feature("v", "vertex", None).corners() is None
    with pytest.raises(ValueError, match="read-only"):
        top.outline[0] = 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Feature("", "face", None), "'name' must be a string"),
        (lambda: Feature("a", "fase", None), "did you mean 'face'"),
        (lambda: Feature("a", ["face"], None), "'kind' of 'a'"),
        (lambda: Feature("a", "face", np.ones((4, 4))), "'a': 'T_part_feature' is not a rigid motion"),
        (lambda: Feature("a", "shaft", None, radius=-1), "'radius' must be above 0"),
        (lambda: Feature("a", "shaft", None, length=np.inf), "'length'"),
        (lambda: Feature("a", "face", None, outline=[[0, 0], [1, 1]]), "three corners"),
        (lambda: Feature("a", "face", None, outline=[[0, 0], [1, 1], [np.nan, 0]]), "'outline'"),
        (lambda: Feature("a", "face", None, outline=np.zeros((4, 3))), "'outline'"),
        (lambda: feature_frame([0, 0, 0], [0, 0, 0]), "'x_axis' is zero"),
        (lambda: feature_frame([0, 0, 0], [0, 0, 1], [0, 0, 2]), "parallel"),
        (lambda: cuboid(1, 1, 1).with_feature("top", "lid", None), "'kind'"),
    ],
)
def test_bad_features_are_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


# --- primitives -------------------------------------------------------------------------------------------------------


def test_the_features_of_a_cuboid():
    part = cuboid(0.2, 0.4, 0.6)
    found = part.features
    assert [sum(f.kind == k for f in found.values()) for k in ("face", "edge", "vertex")] == [6, 12, 8]
    normals = {"top": (0, 0, 1), "bottom": (0, 0, -1), "front": (0, -1, 0), "back": (0, 1, 0)}
    normals |= {"left": (-1, 0, 0), "right": (1, 0, 0)}
    for name, normal in normals.items():
        np.testing.assert_allclose(found[name].axis, normal, atol=1e-15)
        np.testing.assert_allclose(found[name].origin, np.array(normal) * [0.1, 0.2, 0.3], atol=1e-15)
        assert outline_area(found[name]) > 0  # counterclockwise seen from outside
    assert outline_area(found["top"]) == pytest.approx(0.08)
    edge = found["top-front"]
    assert edge.length == 0.2 and edge.T_part_feature[:3, 0].tolist() == [1, 0, 0]
    np.testing.assert_allclose(edge.T_part_feature[:3, 1], [0, -(0.5**0.5), 0.5**0.5])  # y points outwards
    np.testing.assert_allclose(found["top-front-left"].origin, [-0.1, -0.2, 0.3])
    np.testing.assert_allclose(found["top-front-left"].axis, np.array([-1, -1, 1]) / 3**0.5)


def test_the_features_of_the_other_primitives():
    assert kinds(cylinder(1, 2)) == {"top": "face", "bottom": "face", "shaft": "shaft"}
    shaft = cylinder(1, 2).features["shaft"]
    assert (shaft.radius, shaft.length, shaft.origin.tolist()) == (1, 2, [0, 0, 1])
    assert len(kinds(cylinder(1, 2, 6))) == 2 + 1 + 6
    assert kinds(cone(1, 2)) == {"bottom": "face"} and cone(1, 2).features["tip"].kind == "vertex"
    assert kinds(cone(1, 2, 0.5)) == {"top": "face", "bottom": "face"}
    assert kinds(sphere(1)) == {"sphere": "sphere"}
    assert kinds(hemisphere(1)) == {"bottom": "face", "dome": "sphere"}
    assert set(kinds(wedge(1, 2, 3))) == {"bottom", "front", "back", "left", "slope"}
    assert set(kinds(lamination(L_SHAPE, 0.1))) == {"top", "bottom", *(f"side{k}" for k in range(6))}
    ring = revolution([[1, 0], [2, 0], [2, 1], [1, 1]])
    assert kinds(ring) == {"face0": "face", "shaft1": "shaft", "face2": "face", "hole3": "hole", "hole3-far": "hole"}
    assert ring.features["hole3"].radius == 1 and ring.features["hole3"].axis.tolist() == [0, 0, 1]
    np.testing.assert_allclose(ring.features["hole3-far"].T_part_feature[:3, [0, 3]].T, [[0, 0, -1], [0, 0, 0]])


@settings(max_examples=60, deadline=None)
@given(placed_primitives)
def test_every_face_of_a_primitive_has_the_part_behind_it(part):
    """A step along the x axis of a face leaves the part, a step back enters it: normals point outwards."""
    size = np.ptp(part.mesh.vertices, axis=0).max()
    for feature in part.features.values():
        assert feature.kind in FEATURE_KINDS
        if feature.kind == "face" and part.kind not in ("lamination", "revolution"):
            step = 1e-6 * size * feature.axis
            assert inside_mesh(part.mesh, [feature.origin + step, feature.origin - step]).tolist() == [False, True]
        if feature.outline is not None:
            assert outline_area(feature) > 0


# --- booleans ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(placed_polyhedra, placed_polyhedra)
def test_features_that_are_left_are_on_the_surface(a, b):
    """Each corner and the middle of what is left of a face lies on the surface of the whole; parts keep their names."""
    part = a.named("a") | b.named("b")
    size = np.ptp(part.mesh.vertices, axis=0).max()
    all_names = {f"a.{n}" for n in a.features} | {f"b.{n}" for n in b.features}
    assert set(part.features) <= all_names
    for feature in part.features.values():
        if feature.kind != "face":
            continue
        corners = feature.corners()
        before, after = np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0)
        for p, q, s in zip(before, corners, after, strict=True):
            # Near a convex corner of the outline, just inside of it.
            inner = (p + s) / 2 - q
            turn = np.cross(q - p, s - q) @ feature.axis
            if turn > 1e-6 * size**2:
                near = q + 1e-3 * inner
                step = 1e-7 * size * feature.axis
                assert inside_mesh(part.mesh, [near + step, near - step]).tolist() == [False, True]


def test_what_is_covered_or_cut_off_is_no_feature():
    block = cuboid(1, 1, 1)
    tower = union(block, block.named("upper"), at=[0, 0, 1])
    assert "top" not in tower.features and "upper.bottom" not in tower.features
    assert {"bottom", "upper.top", "front", "upper.front"} <= set(tower.features)
    cut = block - cuboid(2, 2, 2, at=[0, 0, 1.2])
    assert "top" not in cut.features and "top-front" not in cut.features and "bottom-front" in cut.features
    face = cut.features["cut-bottom"]  # the face that the cutter left behind, whose normal points up
    np.testing.assert_allclose(face.axis, [0, 0, 1], atol=1e-15)
    assert outline_area(face) == pytest.approx(1)
    assert outline_area(cut.features["front"]) == pytest.approx(0.7)
    lens = sphere(1) & sphere(1, at=[0, 0, 1])
    assert set(lens.features) == {"sphere", "sphere2"}
    cube = sphere(1) & cuboid(1, 1, 1)  # the ball is around the whole cube
    assert {"top", "top-front", "top-front-left"} <= set(cube.features) and "sphere" not in cube.features
    assert "tip" not in (cone(1, 1) - cuboid(1, 1, 1, at=[0, 0, 0.8])).features


def test_a_drilled_hole():
    block = cuboid(0.4, 0.4, 0.2, name="block") - cylinder(0.05, 1.0, at=[0.1, 0, 0])
    assert block.name == "block" and {"top", "hole", "hole-far"} <= set(block.features)
    hole, far = block.features["hole"], block.features["hole-far"]
    np.testing.assert_allclose(hole.T_part_feature[:3, [0, 3]].T, [[0, 0, 1], [0.1, 0, 0.1]], atol=1e-12)
    np.testing.assert_allclose(far.T_part_feature[:3, [0, 3]].T, [[0, 0, -1], [0.1, 0, -0.1]], atol=1e-12)
    assert hole.radius == 0.05 and hole.length == pytest.approx(0.2)
    # A blind hole from below: one mouth, out of which the axis points, and a floor.
    blind = cuboid(0.4, 0.4, 0.2) - cylinder(0.05, 0.1, at=[0, 0, -0.1])
    assert [n for n, f in blind.features.items() if f.kind == "hole"] == ["hole"]
    np.testing.assert_allclose(blind.features["hole"].axis, [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(
        blind.features["cut-top"].T_part_feature[:3, [0, 3]].T, [[0, 0, -1], [0, 0, -0.05]], atol=1e-12
    )
    assert blind.features["hole"].length == pytest.approx(0.05)
    # A cavity inside has no mouth; a plug closes one.
    assert not any(f.kind == "hole" for f in (cuboid(1, 1, 1) - cylinder(0.1, 0.1)).features.values())
    plugged = block | cylinder(0.05, 0.2, at=[0.1, 0, 0])
    assert not any(f.kind == "hole" for f in plugged.features.values())


def test_a_clevis_has_one_hole_in_each_lug():
    clevis = cuboid(0.2, 0.2, 0.3) - cuboid(0.3, 0.1, 0.2, at=[0, 0, 0.1])
    turn = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0.08], [0, 0, 0, 1.0]])
    part = clevis - cylinder(0.03, 1.0, at=turn)
    holes = {name: f for name, f in part.features.items() if f.kind == "hole"}
    assert set(holes) == {"hole", "hole-far", "hole-2", "hole-2-far"}
    mouths = sorted(round(f.origin[1], 9) for f in holes.values())
    np.testing.assert_allclose(mouths, [-0.1, -0.05, 0.05, 0.1], atol=1e-9)
    assert all(f.length == pytest.approx(0.05) for f in holes.values())


def test_a_counterbore_in_either_order():
    plate = cuboid(1, 1, 0.2)
    wide, narrow = cylinder(0.2, 0.1, at=[0, 0, 0.1], name="wide"), cylinder(0.1, 1, name="narrow")
    for part in (plate - wide - narrow, plate - narrow - wide):
        assert part.features["wide.hole"].origin[2] == pytest.approx(0.1)
        assert part.features["narrow.hole"].origin[2] == pytest.approx(0.05)
        assert part.features["narrow.hole-far"].origin[2] == pytest.approx(-0.1)
        assert part.features["wide.bottom"].axis.tolist() == [0, 0, 1]  # the shoulder


def test_the_axis_of_a_shaft_points_out_of_its_free_end():
    head, shaft = cylinder(0.45, 0.3, 6, name="head"), cylinder(0.25, 1.0, 16, name="shaft")
    bolt = union(shaft, head, at=[0, 0, 0.65])
    np.testing.assert_allclose(bolt.features["shaft.shaft"].T_part_feature[:3, [0, 3]].T, [[0, 0, -1], [0, 0, -0.5]])
    below = union(shaft, head, at=[0, 0, -0.65])
    np.testing.assert_allclose(below.features["shaft.shaft"].T_part_feature[:3, [0, 3]].T, [[0, 0, 1], [0, 0, 0.5]])
    # The part of a shaft that a plate swallows does not count.
    stud = union(cuboid(1, 1, 0.2), cylinder(0.1, 1.0))
    assert stud.features["shaft"].length == pytest.approx(1.0)
    flush = union(cuboid(1, 1, 0.2), cylinder(0.1, 0.5), at=[0, 0, 0.25])
    assert flush.features["shaft"].length == pytest.approx(0.4)
    assert "bottom2" not in flush.features and "top2" in flush.features


def test_sockets_and_pins_by_cutting_twice():
    ball = cuboid(1, 1, 1) - sphere(0.3, at=[0, 0, 0.5])
    socket = ball.features["socket"]
    assert (socket.kind, socket.radius, socket.origin.tolist()) == ("socket", 0.3, [0, 0, 0.5])
    # A tube that is cut out of a block leaves a pin in a hole.
    tube = cylinder(0.3, 1.0) - cylinder(0.1, 2.0)
    part = cuboid(1, 1, 1) - tube.at([0, 0, 0.3])
    assert part.features["hole"].radius == 0.3 and part.features["shaft"].radius == 0.1
    np.testing.assert_allclose(part.features["shaft"].origin, [0, 0, 0.5], atol=1e-12)


def test_placements_move_features():
    T = se3.random(rng=8)
    part = (cuboid(0.4, 0.4, 0.2) - cylinder(0.05, 1.0)) | sphere(0.15, at=[0.2, 0.2, 0.1], name="knob")
    there, here = part.at(T).features, part.features
    assert list(there) == list(here)
    for name, feature in here.items():
        np.testing.assert_allclose(there[name].T_part_feature, T @ feature.T_part_feature, atol=1e-9)
        assert there[name].kind == feature.kind


def test_names_of_operands_and_numbers():
    a = cuboid(1, 1, 1)
    row = a | a.at([2, 0, 0]) | a.at([4, 0, 0])
    assert [row.features[n].origin[0] for n in ("top", "top2", "top3")] == [0, 2, 4]
    nested = union((a | a.at([2, 0, 0])).named("pair"), a.named("single"), at=[5, 0, 0])
    assert {"pair.top", "pair.top2", "single.top"} <= set(nested.features)


def test_features_of_users():
    part = cuboid(1, 1, 1).with_feature("grip", "edge", feature_frame([0, 0, 0.5], [1, 0, 0]), length=0.3)
    assert part.features["grip"].length == 0.3
    moved = part.at([0, 0, 1]).features["grip"]
    np.testing.assert_allclose(moved.origin, [0, 0, 1.5])
    assert "box.grip" in (part.named("box") | sphere(0.1)).features
    assert "grip" in (part - sphere(0.1)).features and "grip" not in (cuboid(3, 3, 3) - part).features
    other = part.with_feature("top", "face", [0, 0, 0.5])  # in the place of the cuboid's own
    assert other.features["top"].outline is None and len(other.features) == len(part.features)
    assert part.with_feature("grip", "vertex", None).features["grip"].kind == "vertex"


def test_plane_facets_of_meshes():
    peg = cuboid(1, 2, 3).at(se3.random(rng=4)) - cylinder(0.2, 9.0).at(se3.random(rng=4))
    mesh = mesh_part(peg.mesh)
    faces = list(mesh.features.values())
    areas = [outline_area(f) for f in faces]
    np.testing.assert_allclose(areas[:6], [6, 6, 3, 3, 2, 2], rtol=1e-9)
    originals = [peg.features[n] for n in ("left", "right", "front", "back", "top", "bottom")]
    for face in faces[:6]:
        assert any(np.allclose(face.axis, f.axis, atol=1e-9) for f in originals)
    # The order of the triangles makes no difference.
    shuffled = mesh_part((peg.mesh.vertices, np.random.default_rng(0).permutation(peg.mesh.faces)))
    for a, b in zip(faces[:6], list(shuffled.features.values())[:6], strict=True):
        np.testing.assert_allclose(a.T_part_feature, b.T_part_feature, atol=1e-9)
    assert len(mesh_part(sphere(1).mesh).features) <= 200
