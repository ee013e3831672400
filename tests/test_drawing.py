"""What robots look like: meshes are closed and seen from outside, files are read without trust, figures show it all."""

import json
import re
import struct
import sys
from typing import Any

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose
from support.robots import urdf

import adjoint as aj
from adjoint.drawing import Mesh, shape_notes, shapes
from adjoint.drawing.axes import joint_layout
from adjoint.drawing.mesh_files import read_pieces
from adjoint.drawing.plots import draw_robot
from adjoint.drawing.shading import corner_normals, cut, rendered
from adjoint.drawing.simplification import clustered, shares, simplified, welded
from adjoint.drawing.skeletons import skeleton
from adjoint.drawing.triangles import along, ball, bar, box, drum, joined, lathe, limb, moved, tube
from adjoint.errors import ArgumentError, MissingPackageError, ModelError
from adjoint.lie import se3
from adjoint.viewer.plotting import plot

ARM = aj.robots.puma560()
Q = np.array([0.4, -0.6, 0.4, 0.3, 0.6, 0.0])


def signed_volume(mesh: Mesh) -> float:
    """The volume [m³] inside a closed mesh; negative if its faces are seen clockwise from outside."""
    a, b, c = mesh.vertices.astype(float)[mesh.faces].transpose(1, 0, 2)
    return float(np.sum(a * np.cross(b, c)) / 6)


def is_closed(mesh: Mesh) -> bool:
    """Whether every edge is passed once in each direction, after vertices at one place became one."""
    faces = welded(mesh).faces
    edges = np.concatenate([faces[:, [k, (k + 1) % 3]] for k in range(3)])
    there = {tuple(edge) for edge in edges.tolist()}
    return len(there) == len(edges) and all((b, a) in there for a, b in there)


def world(robot: aj.Robot, q: np.ndarray) -> np.ndarray:
    """All vertices of a robot's shapes at q, in its base."""
    T = np.concatenate([aj.forward_kinematics(robot, q), np.eye(4)[None]])
    return np.concatenate([s.mesh.vertices @ T[s.body, :3, :3].T + T[s.body, :3, 3] for s in shapes(robot)])


# --- solids -----------------------------------------------------------------------------------------------------------

SOLIDS = {
    "box": (box(0.2, 0.3, 0.4), 0.024),
    "bar": (bar(0.2, 0.3, -0.1, 0.3), 0.024),
    "tube": (tube(0.5, 2.0, sides=400), np.pi * 0.5),
    "cone": (tube(0.5, 3.0, 0.0, sides=400), np.pi * 0.25),
    "ball": (ball(0.5, sides=200), np.pi / 6),
    "capsule": (ball(0.5, 2.0, sides=200), np.pi / 6 + np.pi * 0.5),
    "drum": (drum(1.0, 4.0, 0.0, sides=400), 4 * np.pi),
    "limb": (limb(1.0, 1.0, 2.0, 0.0, sides=400), 2 * np.pi),
    "lathe": (lathe([(0, 0), (1, 0), (0, 1)], 400), np.pi / 3),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_and_have_the_volume_of_their_formula(name):
    mesh, volume = SOLIDS[name]
    assert is_closed(mesh)
    assert mesh.vertices.dtype == np.float32 and mesh.faces.dtype == np.int32
    assert_allclose(signed_volume(mesh), volume, rtol=2e-3)


def test_a_mirrored_mesh_has_a_negative_volume():
    mesh = box(1, 1, 1)
    assert signed_volume(Mesh(mesh.vertices * [-1, 1, 1], mesh.faces)) == pytest.approx(-1)


def test_motions_keep_volumes_and_joining_adds_them():
    T = se3.exp(np.array([0.3, -0.2, 0.9, 1.0, 2.0, 3.0]))
    parts = [moved(box(1, 2, 3), T), ball(0.5)]
    assert_allclose(signed_volume(joined(parts)), sum(map(signed_volume, parts)), rtol=1e-5)
    assert is_closed(joined(parts))


def test_along_has_z_in_the_direction():
    for direction in np.random.default_rng(0).normal(size=(20, 3)):
        T = along(np.ones(3), direction)
        assert_allclose(T[:3, :3] @ [0, 0, 1], direction / np.linalg.norm(direction), atol=1e-12)
        assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-12)
        assert np.linalg.det(T[:3, :3]) > 0


# --- fewer triangles --------------------------------------------------------------------------------------------------


def test_welding_joins_what_is_at_one_place():
    soup = box(1, 1, 1)
    apart = Mesh(soup.vertices[soup.faces].reshape(-1, 3), np.arange(36, dtype=np.int32).reshape(-1, 3))
    assert len(welded(apart).vertices) == 8 and is_closed(apart)
    assert len(welded(Mesh(np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.int32))).faces) == 0


@pytest.mark.parametrize("cell", [0.05, 0.2, 0.7])
def test_clustering_keeps_extents_within_a_cell(cell):
    mesh = moved(ball(1.0, 2.0, 80), se3.exp(np.array([0.4, 0.2, -0.3, 5.0, 0.0, 1.0])))
    less = clustered(mesh, cell)
    assert len(less.faces) < len(mesh.faces)
    for end in (np.min, np.max):
        assert np.abs(end(less.vertices, axis=0) - end(mesh.vertices, axis=0)).max() <= cell


def test_simplification_keeps_to_the_budget_and_near_the_shape():
    mesh = ball(1.0, sides=200)
    less = simplified(mesh, 3000)
    assert 1500 < len(less.faces) <= 3000
    assert_allclose(np.linalg.norm(less.vertices, axis=1), 1.0, atol=0.01)
    assert_allclose(signed_volume(less), 4 / 3 * np.pi, rtol=0.02)
    assert simplified(mesh, 10**6) is mesh


def test_flat_sides_stay_flat_and_corners_stay():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 30)] * 2, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    a = np.arange(900).reshape(30, 30)
    halves = [(a[:-1, :-1], a[1:, :-1], a[1:, 1:]), (a[:-1, :-1], a[1:, 1:], a[:-1, 1:])]
    faces = np.concatenate([np.stack([x.ravel() for x in half], -1) for half in halves])
    less = clustered(Mesh(grid.astype(np.float32), faces.astype(np.int32)), 0.21)
    assert_allclose(less.vertices[:, 2], 0.0, atol=1e-6)


def test_small_meshes_keep_all_their_triangles():
    assert shares([10, 1000, 100, 5000], 1110) == [10, 500, 100, 500]
    assert shares([10, 20], 100) == [10, 20]


# --- robots without shapes --------------------------------------------------------------------------------------------

CATALOG = {
    "puma560": ARM, "stanford": aj.robots.stanford(), "scara": aj.robots.scara(), "two_link": aj.robots.two_link(),
    "park3r": aj.robots.park3r(), "planar": aj.robots.planar(4), "chain": aj.robots.chain(100),
    **{f"tree{k}": aj.robots.random_tree(k, 11) for k in range(4)},
}  # fmt: skip


@pytest.mark.parametrize("name", CATALOG)
def test_robots_are_drawn_from_their_kinematics(name):
    robot = CATALOG[name]
    found = shapes(robot)
    assert {s.body for s in found} >= set(range(len(robot.body_names)))
    for shape in found:
        assert is_closed(shape.mesh) and signed_volume(shape.mesh) > 0
        assert np.isfinite(shape.mesh.vertices).all() and all(0 <= x <= 1 for x in shape.color)
    assert sum(len(s.mesh.faces) for s in found) < 70_000


def test_shapes_do_not_change_with_the_base():
    T = se3.exp(np.array([0.0, 0, 0.7, 1.0, 2.0, 0.5]))
    moved_arm = ARM.mounted(T)
    own = [s for s in shapes(ARM) if s.body >= 0]
    other = [s for s in shapes(moved_arm) if s.body >= 0]
    assert [s.body for s in own] == [s.body for s in other]


def test_links_end_on_the_axes_of_joints():
    at = joint_layout(ARM)
    for i in range(6):
        M = ARM.placements[i]
        arrived = M[:3, :3].T @ (at.arrival[i] - M[:3, 3])
        for point in (arrived, at.start[i]):  # both are on the axis, which the joint does not move
            assert_allclose(np.cross(point - at.own[i].point, at.own[i].direction), 0, atol=1e-9)
    assert_allclose(at.start[1][2], 0.0, atol=1e-12)  # PUMA's upper arm is beside its shoulder, by 0.149 m
    assert_allclose(np.linalg.norm(at.arrival[2] - at.start[1]), 0.4318, rtol=1e-12)


def test_long_chains_are_light():
    found = shapes(aj.robots.chain(2000))
    assert sum(len(s.mesh.faces) for s in found) < 200_000


def test_a_robot_without_bodies_or_lengths_is_drawn():
    point = aj.Robot.builder("point").link("base").link("a").joint("j", "revolute", "base", "a").build()
    assert shapes(point) and np.isfinite(world(point, np.zeros(1))).all()
    stone = aj.Robot.builder("base only").link("base").build()
    assert [shape.body for shape in shapes(stone)] == [-1]  # a cube, so that there is something to see
    assert draw_robot(stone).axes


def test_skeletons_join_all_bodies():
    points, links, tips, base = skeleton(ARM, np.stack([Q, 0 * Q]))
    assert points.shape == (2, 8, 3) and base == 7 and tips == [6] and len(links) == 7
    assert_allclose(points[..., 6, :], aj.forward_kinematics(ARM, np.stack([Q, 0 * Q]), "tool")[..., :3, 3], atol=1e-12)


@pytest.mark.slow
def test_molecules_are_balls_and_sticks_and_long_ones_tubes():
    small = aj.polymer.polypeptide("GAF")
    visuals = small.robot.visuals
    assert sum(v.shape == "sphere" for v in visuals) == len(small.atoms)
    assert sum(v.shape == "cylinder" for v in visuals) == len(small.atoms)  # a tree has one bond less; one ring
    x = small.positions()
    balls = [v for v in visuals if v.shape == "sphere"]
    T = [aj.forward_kinematics(small.robot, small.q, v.frame) @ v.placement for v in balls]
    nearest = np.linalg.norm(np.array(T)[:, None, :3, 3] - x, axis=-1).min(axis=1)
    assert_allclose(nearest, 0, atol=1e-9)
    long = aj.polymer.bead_chain(2000)
    assert {v.shape for v in long.robot.visuals} == {"capsule"}
    assert all(is_closed(s.mesh) for s in shapes(small.robot))


def test_bonds_across_torsions_stay_between_their_atoms():
    chain = aj.polymer.bead_chain(8)
    q = chain.q.copy()
    q[7:] += np.linspace(-2, 2, len(q) - 7)
    x = chain.positions(q)
    sticks = [v for v in chain.robot.visuals if v.shape == "cylinder"]
    T = np.array([aj.forward_kinematics(chain.robot, q, v.frame) @ v.placement for v in sticks])
    ends = [T[:, :3, 3] + side / 2 * v.size[1] * T[:, :3, 2] for v in sticks[:1] for side in (-1, 1)]
    for end in ends:
        assert_allclose(np.linalg.norm(end[:, None] - x, axis=-1).min(axis=1), 0, atol=1e-9)


# --- shapes of model files --------------------------------------------------------------------------------------------


def bounds_by_trimesh(robot: aj.Robot, q: np.ndarray) -> np.ndarray:
    """The lowest and highest corner of all meshes to draw, as trimesh reads and places them."""
    scene = trimesh.Scene()
    for visual in robot.visuals:
        if not visual.collision:
            T = aj.forward_kinematics(robot, q, visual.frame) @ visual.placement @ np.diag([*visual.size, 1.0])
            loaded: Any = trimesh.load(visual.mesh)
            scene.add_geometry(loaded, transform=T) if isinstance(loaded, trimesh.Trimesh) else [
                scene.add_geometry(mesh, transform=T) for mesh in loaded.dump()
            ]
    return scene.bounds


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5_robot", "panda.", "g1_29dof_rev", "go2"])
def test_extents_are_those_of_trimesh(name):
    robot = aj.load(urdf(name))
    q = aj.random_configuration(robot, rng=1)
    x, expected = world(robot, q), bounds_by_trimesh(robot, q)
    assert shape_notes(robot) == ()
    assert_allclose([x.min(axis=0), x.max(axis=0)], expected, atol=0.01)  # a cell of the simplification


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5_robot", "anymal", "g1_29dof_rev", "so100", "tiago.", "hyq", "double_pendulum."])
def test_real_robots_are_drawn(name):
    robot = aj.load(urdf(name))
    found = shapes(robot)
    assert 0 < sum(len(s.mesh.faces) for s in found) < 75_000
    assert all(np.isfinite(s.mesh.vertices).all() and len(s.color) == 4 for s in found)
    assert shapes(robot) is found  # the robot keeps them


URDF = """<robot name="r"><link name="a"/><link name="b"><visual><origin xyz="0 0 1"/><geometry>{}</geometry>{}</visual>
</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
RED = '<material name="red"><color rgba="1 0 0 0.5"/></material>'
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def loaded(folder, geometry: str, material: str = "") -> aj.Robot:
    (folder / "r.urdf").write_text(URDF.format(geometry, material))
    return aj.load(folder / "r.urdf")


@pytest.mark.parametrize(
    "geometry, volume",
    [
        ('<box size="1 2 3"/>', 6.0),
        ('<sphere radius="0.5"/>', np.pi / 6),
        ('<cylinder radius="0.5" length="2"/>', np.pi / 2),
        ('<mesh filename="m.obj"/>', 1 / 6),
        ('<mesh filename="m.obj" scale="2 2 2"/>', 8 / 6),
        ('<mesh filename="m.obj" scale="-2 2 2"/>', 8 / 6),
    ],
)
def test_stated_shapes(tmp_path, geometry, volume):
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    (shape,) = shapes(loaded(tmp_path, geometry, RED))
    assert shape.body == 0 and shape.color == (1, 0, 0, 0.5)
    assert is_closed(shape.mesh)
    assert_allclose(signed_volume(shape.mesh), volume, rtol=0.05)
    assert shape.mesh.vertices[:, 2].max() >= 1.0


def test_colors_of_a_file_come_before_those_of_the_model(tmp_path):
    (tmp_path / "m.mtl").write_text("newmtl blue\nKd 0 0 1\n")
    (tmp_path / "m.obj").write_text("mtllib m.mtl\n" + TETRAHEDRON.replace("f 1 3 2", "usemtl blue\nf 1 3 2"))
    (shape,) = shapes(loaded(tmp_path, '<mesh filename="m.obj"/>', RED))
    assert shape.color == (0, 0, 1, 1)


def test_robots_with_equal_kinematics_keep_their_own_shapes(tmp_path):
    one, other = loaded(tmp_path, '<box size="1 1 1"/>'), loaded(tmp_path, '<box size="2 2 2"/>')
    assert one == other
    assert signed_volume(shapes(one)[0].mesh) == pytest.approx(1)
    assert signed_volume(shapes(other)[0].mesh) == pytest.approx(8)


def test_collision_shapes_are_drawn_if_there_are_no_others(tmp_path):
    text = URDF.format('<box size="1 1 1"/>', "").replace("visual>", "collision>")
    robot = aj.load(text)
    assert signed_volume(shapes(robot)[0].mesh) == pytest.approx(1)


def test_a_body_whose_mesh_is_missing_is_drawn_from_its_joints(tmp_path):
    robot = loaded(tmp_path, '<mesh filename="gone.stl"/>')
    assert {s.body for s in shapes(robot)} >= {0}
    (note,) = shape_notes(robot)
    assert "gone.stl" in note and "drawn from its joints" in note
    assert shapes(robot, meshes=False) and shape_notes(ARM) == ()


def test_mesh_files_need_trimesh(tmp_path, monkeypatch):
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    robot = loaded(tmp_path, '<mesh filename="m.obj"/>')
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingPackageError, match=r"meshes=False .* needs trimesh: pip install 'adjoint\[view\]'"):
        shapes(robot)
    assert shapes(robot, meshes=False)
    assert shapes(loaded(tmp_path, '<box size="1 1 1"/>'))


# --- files without trust ----------------------------------------------------------------------------------------------

DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>
<library_nodes>{}</library_nodes><library_visual_scenes><visual_scene id="s"><node><instance_node url="#n0"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def doubling(levels: int) -> str:
    """Nodes that use the next one twice: 2^levels geometries."""
    inner = "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
        for k in range(levels)
    )
    return DAE.format(inner + f'<node id="n{levels}"><instance_geometry url="#g"/></node>')


def glb(header: dict) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text


HOSTILE = {
    "empty.stl": (b"", "is empty"),
    "short.stl": (b"\0" * 80 + struct.pack("<I", 10**9), "cannot be read|no triangles"),
    "text.obj": (b"hello", "no triangles|cannot be read"),
    "nan.obj": (b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite|cannot be read|no triangles"),
    "far.obj": (b"v 0 0 0\nf 1 2 99999999\n", "cannot be read|no triangles"),
    "entities.dae": (b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>', "defines entities"),
    "laughs.dae": (doubling(40).encode(), "more than 20000 times"),
    "circle.dae": (DAE.format('<node id="n0"><instance_node url="#n0"/></node>').encode(), "more than 20000 times"),
    "damaged.dae": (b"<COLLADA", "no DAE file"),
    "bindings.dae": (DAE.format("<node id='n0'/><!--" + "<bind_material>" * 100_000 + "-->").encode(), "no triangles"),
    "units.dae": (
        DAE.replace('<unit meter="1"/>', "").format(f"<node id='n0'/><!--{'<unit meter ' * 100_000}-->").encode(),
        "no triangles",
    ),
    "utf16.dae": ("<COLLADA/>".encode("utf-16"), "not in UTF-8"),
    "huge.glb": (glb({"asset": {"version": "2.0"}, "accessors": [{"count": 10**12}]}), "larger than the file"),
    "graph.glb": (glb({"nodes": [{"children": [1]}, {"children": [1]}]}), "several parents"),
    "none.glb": (b"glTX" + b"\0" * 40, "no GLB file"),
    "huge.ply": (b"ply\nformat ascii 1.0\nelement vertex 999999999999\nend_header\n", "more elements"),
    "page.html": (b"<html>", "unknown format; known are stl"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_meshes_are_refused_with_a_message(tmp_path, name):
    data, message = HOSTILE[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError, match=message) as error:
        read_pieces(str(tmp_path / name))
    assert name in str(error.value)


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "folder.stl").mkdir()
    for name in ("folder.stl", "gone.stl"):
        with pytest.raises(ModelError, match="is no file"):
            read_pieces(str(tmp_path / name))


def test_large_files_are_refused(tmp_path):
    with open(tmp_path / "large.stl", "wb") as file:
        file.truncate(300_000_000)  # takes no room on the disk
    with pytest.raises(ModelError, match="300 MB, more than 200"):
        read_pieces(str(tmp_path / "large.stl"))


def test_files_beside_a_mesh_are_not_read(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.mtl").write_text("newmtl red\nKd 1 0 0\n")
    text = TETRAHEDRON.replace("f 1 3 2", "usemtl red\nf 1 3 2")
    (tmp_path / "inner" / "m.obj").write_text(f"mtllib ../secret.mtl\n{text}")
    assert read_pieces(str(tmp_path / "inner" / "m.obj"))[0].color != (1, 0, 0, 1)
    (tmp_path / "inner" / "secret.mtl").write_text((tmp_path / "secret.mtl").read_text())
    assert read_pieces(str(tmp_path / "inner" / "m.obj"))[0].color == (1, 0, 0, 1)


@pytest.mark.parametrize("unit", [1.0, 0.001])
def test_units_of_dae_files(tmp_path, unit):
    mesh = trimesh.creation.box((1, 2, 3))
    exported: Any = mesh.export(file_type="dae")
    text = exported.decode()
    text = re.sub(r"<asset>.*?</asset>", f'<asset><unit name="u" meter="{unit}"/></asset>', text, flags=re.S)
    (tmp_path / "m.dae").write_text(text)
    (piece,) = read_pieces(str(tmp_path / "m.dae"))
    assert_allclose(np.ptp(piece.mesh.vertices, axis=0), np.array([1, 2, 3]) * unit, rtol=1e-5)


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "glb", "off", "dae"])
def test_formats(tmp_path, kind):
    trimesh.creation.box((1, 2, 3)).export(tmp_path / f"m.{kind}")
    pieces = read_pieces(str(tmp_path / f"m.{kind}"))
    assert_allclose(signed_volume(joined([piece.mesh for piece in pieces])), 6.0, rtol=1e-5)


# --- light ------------------------------------------------------------------------------------------------------------


def test_normals_are_smooth_on_a_ball_and_sharp_on_a_box():
    mesh = ball(1.0, sides=40)
    assert_allclose(corner_normals(mesh), mesh.vertices[mesh.faces], atol=0.1)
    edges = np.abs(corner_normals(box(1, 2, 3)))
    assert_allclose(np.sort(edges, axis=-1)[..., :2], 0.0, atol=1e-12)


def test_cutting_keeps_the_area():
    x = moved(box(1, 2, 3), np.eye(4)).vertices[box(1, 1, 1).faces].astype(float)
    colors = np.arange(36.0).reshape(12, 3)
    pieces, kept = cut(0.3, x, colors)

    def area(x: np.ndarray) -> float:
        return float(np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=-1).sum() / 2)

    assert_allclose(area(pieces), area(x), rtol=1e-9)
    assert len(kept) == len(pieces) > 100
    assert np.linalg.norm(np.roll(pieces, 1, axis=1) - pieces, axis=-1).max() <= 0.3


def test_the_nearest_triangle_is_seen():
    square = np.array([[[0.0, 0, 0], [20, 0, 0], [20, 20, 0]], [[0, 0, 0], [20, 20, 0], [0, 20, 0]]])
    near = square * [0.5, 1, 1] + [0, 0, 1.0]  # the left half
    x = np.concatenate([near, square])
    up = np.broadcast_to([0.0, 0, 1], x.shape)
    colors = np.repeat([[1.0, 0, 0], [0, 0, 1.0]], 2, axis=0)
    image = rendered(x, up, colors, 24)
    assert (image[4:, :10, 0] > 0.5).all() and (image[4:, :10, 2] < 0.5).all()
    assert (image[4:, 10:20, 2] > 0.5).all() and (image[4:, 10:20, 0] < 0.5).all()
    assert (image[4:, :20, 3] == 1).all() and (image[:4, :, 3] == 0).all() and (image[:, 20:, 3] == 0).all()


def test_tilted_triangles_cut_each_other_where_they_meet():
    flat = np.array([[[0.0, 0, 5], [60, 0, 5], [0, 60, 5]]])
    tilted = np.array([[[0.0, 0, 0], [60, 0, 12], [0, 60, 0]]])  # z = x / 5: in front where x > 25
    x = np.concatenate([flat, tilted])
    colors = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    image = rendered(x, np.broadcast_to([0.0, 0, 1], x.shape), colors, 60)
    assert (image[-10:, :24, 0] > 0.5).all() and (image[-10:, 26:45, 2] > 0.5).all()


# --- figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_robot_is_drawn_with_all_that_is_asked_for():
    plain = draw_robot(ARM, Q, floor=False, size=1.0).axes[0]
    assert len(plain.images) == 1 and not plain.collections and not plain.texts
    axes = draw_robot(ARM, Q, frames=["tool", "link3"], axes=True, names=True, center_of_mass=True, size=1.0).axes[0]
    assert len(axes.texts) == 2 * 3 + 6 + 6  # arrows of two frames, arrows of six joints, and their names
    assert {text.get_text() for text in axes.texts} == {"", *ARM.joint_names}
    assert len(axes.collections) == 2  # the grid and the shadow
    (x,), (y,) = axes.lines[0].get_data()
    drawn = draw_robot(ARM, Q, vector=True, floor=False, size=1.0).axes[0]
    assert len(drawn.collections[0].get_paths()) > 1000 and not drawn.images
    assert axes.get_xlim()[0] < x < axes.get_xlim()[1] and axes.get_ylim()[0] < y < axes.get_ylim()[1]


@pytest.mark.slow
def test_further_configurations_are_pale_and_one_base_is_enough():
    one, two = (draw_robot(ARM, q, vector=True, floor=False, size=1.0).axes[0] for q in (Q, [Q, Q + 0.5]))
    count, more = (len(axes.collections[0].get_paths()) for axes in (one, two))
    assert count < more < 2 * count
    colors = two.collections[0].get_facecolor()[:, :3]
    assert (colors.min(axis=1) > 0.6).any()


@pytest.mark.slow
@pytest.mark.parametrize("ending, start", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_are_written_whole(tmp_path, ending, start):
    path = tmp_path / "new" / f"arm.{ending}"
    figure: Any = plot(ARM, Q, path=path, size=1.5)
    assert path.read_bytes().startswith(start)
    assert [x.name for x in path.parent.iterdir()] == [path.name]
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_notebooks_show_figures():
    from IPython.core.formatters import DisplayFormatter

    figure = plot(aj.trajectory.cubic([0.0], [1.0], 1.0))
    data, _ = DisplayFormatter().format(figure)
    assert data["image/png"]


@pytest.mark.slow
def test_plot_draws_what_there_is():
    path = aj.trajectory.quintic(np.zeros(6), Q, duration=1.0)
    assert len(plot(path).axes) == 3 and len(plot(path, robot=ARM).axes) == 4
    screw = aj.trajectory.screw_motion(np.eye(4), se3.exp(np.array([0, 0, 1.0, 0.2, 0, 0])), duration=2.0)
    figure = plot(screw)
    assert [axes.get_ylabel() for axes in figure.axes] == ["position [m]", "angular velocity [rad/s]", "velocity [m/s]"]
    x = figure.axes[0].lines[0]
    speed = figure.axes[2].lines[0]
    slope = np.gradient(x.get_ydata(), x.get_xdata(), edge_order=2)
    assert_allclose(slope, speed.get_ydata(), atol=1e-3)  # the velocity along x of space
    run = aj.simulate(ARM, q=Q, duration=0.05, dt=1e-3)
    assert len(plot(run).axes) == 3
    assert len(plot(aj.polymer.polypeptide("GA"), size=1.0).axes[0].images) == 1


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: plot(3), "plot draws a Robot, Polymer, Run, .* got int"),
        (lambda: plot(ARM, np.zeros(5)), r"q has shape \(5,\); it must be \(6,\)"),
        (lambda: plot(ARM, np.zeros((51, 6))), "at most 50 configurations"),
        (lambda: plot(ARM, np.zeros((0, 6))), "q has shape"),
        (lambda: plot(ARM, [np.nan] * 6), "q"),
        (lambda: plot(ARM, colour="red"), "a Robot has no option 'colour'; it has view, frames"),
        (lambda: plot(ARM, view=(1.0,)), "view"),
        (lambda: plot(ARM, size=-1), "size"),
        (lambda: plot(ARM, axes="yes"), "axes"),
        (lambda: plot(ARM, frames=["hand"]), "no frame 'hand'"),
        (lambda: plot(ARM, frames=3), "frames must be True, False"),
        (lambda: plot(aj.trajectory.cubic([0.0], [1.0], 1.0), [0.0]), "q belongs to a robot, not to a Trajectory"),
        (lambda: plot(aj.trajectory.cubic([0.0], [1.0], 1.0), axes=True), "no option 'axes'; it has robot"),
        (lambda: plot(aj.trajectory.cubic([0.0], [1.0], 1.0), path="a.xyz"), r"a\.xyz: the ending must be one of"),
        (lambda: shapes(ARM, meshes="no"), "meshes"),
        (lambda: shapes("puma"), "shapes"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
