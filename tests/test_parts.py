"""Parts: volumes and inertias against closed forms and trimesh, booleans, equality, JSON, and what is refused."""

import json
import pickle

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as aj
from adjoint.errors import ArgumentError, MissingPackageError
from adjoint.lie import inertia as lie_inertia
from adjoint.lie import se3
from adjoint.world.parts import (
    Part,
    center,
    cone,
    cuboid,
    cylinder,
    difference,
    hemisphere,
    inertia,
    intersection,
    lamination,
    mass,
    mesh_part,
    part_from_json,
    part_solids,
    part_to_data,
    part_to_json,
    revolution,
    sphere,
    union,
    volume,
    wedge,
)
from adjoint.world.parts.moments import inertia_of, mesh_moments
from adjoint.world.units import si

from .support.random_parts import L_SHAPE, placed_polyhedra, placed_primitives, poses


def as_trimesh(part: Part):
    return trimesh.Trimesh(*part.mesh, process=False)


def mesh_volume(part: Part) -> float:
    return float(mesh_moments(*part.mesh)[3, 3])


# --- primitives -------------------------------------------------------------------------------------------------------

r, h, x, y, z = 0.3, 0.7, 0.2, 0.3, 0.5
CLOSED = {  # part: volume, and the height of its centre
    "cuboid": (cuboid(x, y, z), x * y * z, 0),
    "cylinder": (cylinder(r, h), np.pi * r**2 * h, 0),
    "prism": (cylinder(r, h, 6), 3 * r**2 * np.sin(np.pi / 3) * h, 0),
    "wedge": (wedge(x, y, z), x * y * z / 2, -z / 6),
    "cone": (cone(r, h), np.pi * r**2 * h / 3, -h / 4),
    "frustum": (cone(r, h, r / 2), np.pi * h / 3 * r**2 * 1.75, -h / 2 + h / 4 * (1 + 1 + 0.75) / 1.75),
    "sphere": (sphere(r), 4 / 3 * np.pi * r**3, 0),
    "hemisphere": (hemisphere(r), 2 / 3 * np.pi * r**3, 3 * r / 8),
    "lamination": (lamination(L_SHAPE, h), 0.05 * h, 0),
    "ring": (revolution([[0.1, 0], [0.3, 0], [0.3, 1], [0.1, 1]]), np.pi * 0.08, 0.5),
}


@pytest.mark.parametrize("name", CLOSED)
def test_volumes_and_centres_have_closed_forms(name):
    part, expected, height = CLOSED[name]
    assert volume(part) == pytest.approx(expected, rel=1e-14)
    assert center(part)[2] == pytest.approx(height, abs=1e-15)


def test_inertias_of_primitives_are_those_of_the_library():
    m = 2500 * x * y * z
    np.testing.assert_allclose(inertia(cuboid(x, y, z, density=2500)), lie_inertia.box(m, [x, y, z]), atol=1e-15)
    m = 1000 * np.pi * r**2 * h
    np.testing.assert_allclose(inertia(cylinder(r, h)), lie_inertia.cylinder(m, r, h), rtol=1e-13, atol=1e-13)
    m = 1000 * 4 / 3 * np.pi * r**3
    np.testing.assert_allclose(inertia(sphere(r)), lie_inertia.sphere(m, r), rtol=1e-14)
    # A cone about its tip: 3/5 m (r²/4 + h²) across, 3/10 m r² along.
    tip = cone(r, h, at=[0, 0, -h / 2])
    m = mass(tip)
    np.testing.assert_allclose(inertia(tip)[[4, 7, 9]], m * np.array([0.6 * (r**2 / 4 + h**2)] * 2 + [0.3 * r**2]))
    # A hemisphere about the centre of the ball: that of the whole ball of twice the mass, halved.
    np.testing.assert_allclose(inertia(hemisphere(r))[[4, 7, 9]], 0.4 * mass(hemisphere(r)) * r**2)


@pytest.mark.parametrize("name", CLOSED)
def test_meshes_are_closed_and_agree_with_trimesh(name):
    part = CLOSED[name][0].at(se3.random(rng=5)).with_density(1.0)
    peer = as_trimesh(part)
    assert peer.is_watertight and peer.is_winding_consistent and peer.volume > 0
    ours = inertia_of(mesh_moments(*part.mesh))
    np.testing.assert_allclose(ours[0], peer.volume, rtol=1e-12)
    np.testing.assert_allclose(lie_inertia.central(ours).com, peer.center_mass, atol=1e-12)
    np.testing.assert_allclose(lie_inertia.central(ours).inertia, peer.moment_inertia, rtol=1e-9, atol=1e-12)
    # 64 facets with corners on the surface: a ball of the radius cos²(π/64) r is inside the mesh of a ball.
    lost = 1 - np.cos(np.pi / 64) ** 6
    assert (1 - lost) * volume(part) <= ours[0] <= (1 + 1e-12) * volume(part)
    np.testing.assert_allclose(inertia(part), ours, rtol=2 * lost, atol=2 * lost * np.abs(ours).max())


def test_the_mesh_of_a_circle_is_as_close_as_the_docstring_says():
    vertices, faces = sphere(1.0).mesh
    assert np.allclose(np.linalg.norm(vertices, axis=1), 1)
    middles = cylinder(1.0, 1.0).mesh.vertices[cylinder(1.0, 1.0).mesh.faces].mean(axis=1)
    assert 1 - np.cos(np.pi / 64) == pytest.approx(0.0012, abs=5e-5)
    assert len(faces) == 64 * 62 and len(middles) == 64 * 4


def test_a_revolution_makes_the_other_round_primitives():
    same = [
        (cylinder(r, h), revolution([[0, -h / 2], [r, -h / 2], [r, h / 2], [0, h / 2]])),
        (cone(r, h), revolution([[0, -h / 2], [r, -h / 2], [0, h / 2]])),
        (cone(r, h, 0.1, 7), revolution([[0.1, h / 2], [0, h / 2], [0, -h / 2], [r, -h / 2]], 7)),
    ]
    for a, b in same:
        np.testing.assert_allclose(inertia(a), inertia(b), rtol=1e-13, atol=1e-12)
        assert mesh_volume(a) == pytest.approx(mesh_volume(b), rel=1e-12)


def test_an_outline_may_be_written_in_any_way():
    """Clockwise, closed, and with corners on straight lines: the same plate."""
    plain = lamination(L_SHAPE, 0.1)
    ways = [L_SHAPE[::-1], [*L_SHAPE, L_SHAPE[0]], [L_SHAPE[0], [0.1, 0], *L_SHAPE[1:]]]
    for way in ways:
        assert volume(lamination(way, 0.1)) == pytest.approx(volume(plain), rel=1e-14)
        assert as_trimesh(lamination(way, 0.1)).is_watertight
    assert lamination(ways[1], 0.1) == plain


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(3, 40))
def test_plates_of_any_outline_are_filled(seed, k):
    """A star-shaped polygon of random radii: the plate's mesh is closed and has its volume."""
    radii = np.random.default_rng(seed).uniform(0.2, 1.0, size=k)
    angles = 2 * np.pi * np.arange(k) / k
    points = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    part = lamination(points, 0.5)
    area = np.sum(radii * np.roll(radii, -1)) * np.sin(2 * np.pi / k) / 2
    assert volume(part) == pytest.approx(area * 0.5, rel=1e-12)
    assert as_trimesh(part).is_watertight


# --- placements, booleans ---------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(placed_primitives, poses(2.0))
def test_moving_a_part_moves_its_inertia(part, T):
    """Rigid motions and parallel axes: the inertia of the moved part is Ad⁻ᵀ J Ad⁻¹ of lie.inertia."""
    moved = part.at(T)
    assert volume(moved) == pytest.approx(volume(part), rel=1e-13)
    np.testing.assert_allclose(center(moved), (T @ [*center(part), 1])[:3], atol=1e-13)
    scale = np.abs(inertia(moved)).max()
    np.testing.assert_allclose(inertia(moved), lie_inertia.transform(T, inertia(part)), atol=1e-12 * scale)
    assert not lie_inertia.faults(inertia(moved))


@settings(max_examples=40, deadline=None)
@given(placed_polyhedra, placed_polyhedra)
def test_inclusion_and_exclusion(a, b):
    """V(A ∪ B) + V(A ∩ B) = V(A) + V(B), V(A \\ B) + V(A ∩ B) = V(A), for meshes, and volumes are those of meshes."""
    whole = mesh_volume(a | b)
    common = 0.0 if _apart(a, b) else mesh_volume(a & b)
    tiny = 1e-10 * (volume(a) + volume(b))
    assert whole + common == pytest.approx(volume(a) + volume(b), abs=tiny)
    assert volume(a | b) == pytest.approx(whole, abs=tiny)
    for part in [a | b] if _apart(a, b) else [a | b, a & b]:
        assert as_trimesh(part).is_watertight
        np.testing.assert_allclose(inertia(part), 1000 * inertia_of(mesh_moments(*part.mesh)), atol=1e3 * tiny)
    if volume(a) - common > 1e-6 * volume(a):
        assert mesh_volume(a - b) == pytest.approx(volume(a) - common, abs=tiny)
        assert volume(a - b) == pytest.approx(volume(a) - common, abs=tiny)


def _apart(a: Part, b: Part) -> bool:
    try:
        return mesh_volume(a & b) < 1e-12
    except ArgumentError:
        return True


def test_placements_compose_and_operators_are_functions():
    T, S = se3.random(rng=1), se3.random(rng=2)
    a, b = cuboid(1, 2, 3, name="a"), sphere(0.9)
    np.testing.assert_allclose(a.at(T).at(S).T_part_solid, S @ T, atol=1e-15)
    np.testing.assert_allclose(a.at(T).mesh.vertices, a.mesh.vertices @ T[:3, :3].T + T[:3, 3], atol=1e-14)
    assert a | b == union(a, b) and a & b == intersection(a, b) and a - b == difference(a, b)
    assert union(a, b, at=T) == a | b.at(T)
    assert len((b | b.at(T) | b.at(S)).operands) == 3  # a chain is one node
    moved = (a | b).at(T)
    assert mesh_volume(moved) == pytest.approx(mesh_volume(a | b), rel=1e-12)


def test_the_bolt_of_table_9_8():
    """GDP: a shaft of 16 facets and a head of 6, stacked: .19134 + .15783 = .34917 (digest W8), and by placement."""

    def bolt(shaft_height, shaft_radius, shaft_facets, head_height, head_radius, head_facets):
        shaft = cylinder(shaft_radius, shaft_height, shaft_facets, name="shaft")
        head = cylinder(head_radius, head_height, head_facets, name="head")
        return union(shaft, head, at=[0, 0, (shaft_height + head_height) / 2])

    part = bolt(1, 0.25, 16, 0.3, 0.45, 6)
    shaft, head = (volume(p) for p in part.operands)
    assert (round(shaft, 5), round(head, 5), round(volume(part), 5)) == (0.19134, 0.15783, 0.34917)
    assert mesh_volume(part) == pytest.approx(shaft + head, rel=1e-12)
    assert as_trimesh(part).is_watertight
    assert center(part)[2] == pytest.approx(head * 0.65 / (shaft + head), rel=1e-12)
    # The book gives no placement: with both at one origin the shaft swallows most of the head's place.
    merged = part.operands[0] | part.operands[1].at([0, 0, -0.65])
    inside = 0.3 * shaft
    assert volume(merged) == pytest.approx(shaft + head - inside, rel=1e-12)
    # In inches, as the book has it.
    inch = si(1, "inch")
    small = bolt(inch, inch / 4, 16, 0.3 * inch, 0.45 * inch, 6)
    assert volume(small) == pytest.approx(volume(part) * inch**3, rel=1e-12)


def test_round_holes_are_precise_beyond_their_facets():
    plate = cuboid(0.2, 0.2, 0.02)
    hole = np.pi * 0.03**2 * 0.02
    assert volume(plate - cylinder(0.03, 0.1)) == pytest.approx(0.0008 - hole, abs=1e-6 * hole)
    # A hole that ends at the surface is a cylinder inside the plate: exact.
    blind = plate - cylinder(0.03, 0.01, at=[0, 0, 0.005])
    assert volume(blind) == pytest.approx(0.0008 - hole / 2, rel=1e-14)
    # Two balls of radius 1 at a distance d: a lens of the volume π (4 + d)(2 - d)² / 12.
    d = 0.8
    lens = intersection(sphere(1), sphere(1), at=[d, 0, 0])
    assert volume(lens) == pytest.approx(np.pi * (4 + d) * (2 - d) ** 2 / 12, rel=1e-6)
    # Two cylinders of radius 1 that cross at right angles: Steinmetz' solid, 16/3.
    across = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    assert volume(cylinder(1, 4) & cylinder(1, 4, at=across)) == pytest.approx(16 / 3, rel=2e-6)


def test_materials_of_several_densities():
    """A lead core (11340) in an aluminium block (2700): the first operand prevails where both are."""
    core, block = sphere(0.1, density=11340), cuboid(0.4, 0.4, 0.4, density=2700)
    ball = 4 / 3 * np.pi * 0.1**3
    assert np.isnan((core | block).density)
    assert mass(core | block) == pytest.approx(11340 * ball + 2700 * (0.4**3 - ball), rel=1e-12)
    assert mass(block | core) == pytest.approx(2700 * 0.4**3, rel=1e-12)
    assert (block - core).density == 2700
    assert mass((core | block) - cuboid(1, 1, 1, at=[0.5, 0, 0])) == pytest.approx(mass(core | block) / 2, rel=1e-5)
    assert mass((core | block) & cuboid(1, 1, 1, at=[0.5, 0, 0])) == pytest.approx(mass(core | block) / 2, rel=1e-5)
    half = ((core | block).at([0.3, 0, 0]) | cuboid(0.1, 0.1, 0.1, at=[9, 0, 0])) - cuboid(1, 1, 1, at=[0.8, 0, 0])
    assert mass(half) == pytest.approx(mass(core | block) / 2 + 1, rel=1e-5)
    one = (core | block).with_density(1.0)
    assert one.density == 1 and mass(one) == pytest.approx(0.4**3, rel=1e-12)
    assert not lie_inertia.faults(inertia(core | block))


def test_a_robot_that_holds_a_part_feels_its_weight():
    """τ = m g r about a horizontal axis, for a part held out at a distance r; docs/parts.md."""
    robot = aj.from_screws([[0, 1, 0, 0, 0, 0]], np.eye(4), inertias=[lie_inertia.sphere(1.0, 0.1)])
    part = cuboid(0.1, 0.1, 0.1, density=7850).at([0.5, 0, 0]) - cylinder(0.02, 0.2, at=[0.5, 0, 0])
    loaded = robot.with_payload(robot.frame_names[-1], inertia(part))
    q = np.zeros(1)
    extra = aj.gravity_torque(loaded, q) - aj.gravity_torque(robot, q)
    g = np.linalg.norm(robot.gravity)
    np.testing.assert_allclose(np.abs(extra), mass(part) * g * 0.5, rtol=1e-12)


# --- equality, caching, files -----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(placed_primitives, placed_primitives)
def test_parts_survive_json_and_pickle_exactly(a, b):
    part = ((a.named("a") | b) - a.at([0.1, 0, 0])).with_feature("grip", "shaft", [0, 0, 1 / 3], radius=0.1)
    for way in (
        part_from_json(part_to_json(part)),
        part_from_json(part_to_data(part)),
        pickle.loads(pickle.dumps(part)),
    ):
        assert way == part and hash(way) == hash(part)
        assert part_to_json(way) == part_to_json(part)
        assert way.added == part.added


def test_equality_is_by_content():
    assert cuboid(1, 2, 3) == cuboid(1.0, 2, 3, at=np.eye(4)) and len({cuboid(1, 2, 3), cuboid(1, 2, 3)}) == 1
    a = cuboid(1, 2, 3)
    others = [a.at([0, 0, 1e-16]), a.named("a"), a.with_density(2), a.with_colour(0.5), cuboid(1, 3, 2), wedge(1, 2, 3)]
    others += [cylinder(1, 2), cylinder(1, 2, 8), a | a, a & a, a - a, a.with_feature("f", "vertex", [0, 0, 0])]
    assert len({a, *others}) == 1 + len(others)
    assert cuboid(1, 2, 3, at=[-0.0, 0, 0]) == a
    assert (a | a.named("b")) != (a | a)
    assert (a - sphere(1)).mesh is (cuboid(1, 2, 3) - sphere(1)).mesh  # made once for all equal parts


def test_arrays_of_parts_cannot_be_written_to():
    part = cuboid(1, 2, 3) - sphere(0.5)
    for array in (*part.mesh, *cuboid(1, 1, 1).mesh, part.T_part_solid, part.colour, lamination(L_SHAPE, 1).values[0]):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 7


def deep(levels: int) -> str:
    ball = '{"kind":"sphere","radius":1}'
    return f'{{"kind":"union","operands":[{ball},' * levels + ball + "]}" * levels


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not the JSON"),
        ("[]", "must be an object"),
        ("{}", "unknown kind None"),
        ('{"kind": "cubiod"}', "did you mean 'cuboid'"),
        ('{"kind": ["cuboid"]}', "unknown kind"),
        ('{"kind": "cuboid", "x": 1, "y": 1}', "lacks z"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": NaN}', "NaN is not a finite number"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1e999}', "finite"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": -1}', "'z' must be above 0"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": "one"}', "'z'"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1, "radius": 2}', "has no 'radius'"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1, "name": 3}', "'name' must be a string"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1, "at": [[1]]}', "'at'"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1, "features": [3]}', "list of objects"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1, "features": [{"name": "a"}]}', "'kind'"),
        ('{"kind": "cuboid", "x": 1, "y": 1, "z": 1, "features": [{"name": "a", "kind": "edge", "b": 1}]}', "'b'"),
        ('{"kind": "union", "operands": []}', "two or more 'operands'"),
        ('{"kind": "union", "operands": [1, 2]}', "operands\\[0\\] must be an object"),
        ('{"kind": "cylinder", "radius": 1, "height": 1, "facets": 2.5}', "'facets'"),
        ('{"kind": "cylinder", "radius": 1, "height": 1, "facets": 99999999}', "'facets'"),
        ('{"kind": "lamination", "outline": [[0, 0], [1, 0]], "thickness": 1}', "'outline'"),
        ('{"kind": "mesh", "vertices": [[0,0,0],[1,0,0],[0,1,0]], "faces": [[0,1,2]]}', "open: 3 edges"),
        ('{"kind": "mesh", "vertices": [[0,0,0]], "faces": [[0,1,2]]}', "vertices"),
        (deep(300), "deeper"),
        (deep(100_000), "too deeply"),
        ("[" * 100_000, "too deeply"),
    ],
)
def test_hostile_json_is_refused(text, words):
    with pytest.raises(ArgumentError, match=words):
        part_from_json(text)


def test_reading_data_does_not_change_it():
    data = part_to_data(cuboid(1, 1, 1).with_feature("a", "vertex", [0, 0, 0]) | sphere(1))
    before = json.dumps(data)
    part_from_json(data)
    assert json.dumps(data) == before


# --- meshes from outside ----------------------------------------------------------------------------------------------

BOX = (cuboid(1, 1, 1).mesh.vertices, cuboid(1, 1, 1).mesh.faces)


def test_mesh_files_become_parts(tmp_path):
    peer = trimesh.creation.icosphere(subdivisions=2, radius=50.0)
    path = tmp_path / "ball.stl"
    peer.export(path)  # an STL has three vertices of its own for each triangle
    part = mesh_part(path, scale=0.001)
    assert volume(part) == pytest.approx(peer.volume * 1e-9, rel=1e-6)
    assert len(part.mesh.vertices) == len(peer.vertices)
    np.testing.assert_allclose(inertia(part)[4] / 1e3, peer.moment_inertia[0, 0] * 1e-15, rtol=1e-5)
    assert mesh_part(peer, scale=0.001).kind == "mesh"
    assert volume(part - cuboid(1, 1, 1, at=[0.5, 0, 0])) == pytest.approx(volume(part) / 2, rel=1e-6)


def torn(faces):
    return BOX[0], np.delete(BOX[1], faces, axis=0)


TURNED = BOX[1].copy()
TURNED[3] = TURNED[3][::-1]
TWICE = np.concatenate([BOX[0], BOX[0] + [1, 0, 0]]), np.concatenate([BOX[1], BOX[1] + 8])
CORNERS = np.concatenate([BOX[0], BOX[0] + [1, 1, 1]]), np.concatenate([BOX[1], BOX[1] + 8])
EDGES = np.concatenate([BOX[0], BOX[0] + [1, 1, 0]]), np.concatenate([BOX[1], BOX[1] + 8])


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (torn([0]), "open: 3 edges belong to one triangle only"),
        (torn([0, 1]), "open: 4 edges"),
        ((BOX[0], BOX[1][:, ::-1]), "inside out: its volume is -1 m³; repair=True may help"),
        ((BOX[0], TURNED), "look to different sides"),
        (EDGES, "touches itself: 1 edges belong to more than two"),
        (CORNERS, "touches itself in 1 vertices"),
        ((BOX[0], np.concatenate([BOX[1], [[0, 1, 1]]])), "1 of 13 triangles have no area"),
        ((BOX[0] * [1, 1, 0], BOX[1]), "no area|no volume"),
        ((BOX[0] * 0, BOX[1]), "one point"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [2, 1, 0]]), "no volume"),
        ((BOX[0] * np.nan, BOX[1]), "not finite"),
        ((BOX[0], [[0, 1, 99]]), "faces name the vertices"),
        ((BOX[0], np.zeros((0, 3), int)), "faces"),
        ("no such file.stl", "no such file"),
        (3, "pair"),
    ],
)
def test_meshes_that_are_no_solids_are_refused(mesh, words):
    with pytest.raises(Exception, match=words) as error:
        mesh_part(mesh)
    assert isinstance(error.value, aj.AdjointError)


def test_small_faults_can_be_repaired():
    for faces in (BOX[1][:, ::-1], TURNED, np.concatenate([BOX[1], [[0, 1, 1]]])):
        assert volume(mesh_part((BOX[0], faces), repair=True)) == pytest.approx(1, rel=1e-14)
    with pytest.raises(ArgumentError, match="open"):
        mesh_part(torn([0]), repair=True)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cuboid(1, 0, 1), "cuboid: 'y' must be above 0"),
        (lambda: cuboid(1, 1, np.nan), "'z'"),
        (lambda: cuboid(1, 1, 1e-30), "sizes must be"),
        (lambda: cylinder(1, -1), "'height' must be above 0"),
        (lambda: cylinder(1, 1, 2), "'facets' must be a whole number from 3"),
        (lambda: cone(1, 1, -0.1), "'top_radius'"),
        (lambda: sphere(0), "'radius'"),
        (lambda: sphere(1, density=0), "'density' must be above 0"),
        (lambda: sphere(1, density=np.nan), "'density'"),
        (lambda: sphere(1, colour=2), "'colour'"),
        (lambda: sphere(1, at=np.ones((4, 4))), "not a rigid motion"),
        (lambda: sphere(1, name=3), "'name'"),
        (lambda: lamination([[0, 0], [1, 0], [2, 0]], 1), "no area"),
        (lambda: lamination([[0, 0], [1, 1], [1, 0], [0, 1]], 1), "no area|cross"),
        (lambda: lamination([[0, 0], [2, 2], [2, 0], [0, 1]], 1), "sides 0 and 2 of 'outline' meet"),
        (lambda: lamination([[0, 0], [0, 0], [1, 0], [0, 1]], 1), "corners 0 and 1 of 'outline' are the same"),
        (lambda: lamination([[0, 0], [1, 0], [np.inf, 1]], 1), "corner 2 of 'outline' is not finite"),
        (lambda: lamination(L_SHAPE, 0), "'thickness'"),
        (lambda: revolution([[-1, 0], [1, 0], [1, 1]]), "radii of 'outline' must be 0 or more"),
        (lambda: revolution([[0, 0], [1, 0], [1, 1]]), "touches the axis alone"),
        (lambda: revolution([[0, 0], [1, 0], [0, 1], [0.0, 2], [2, 1], [2, -1], [0, -1]]), "axis|same|meet"),
        (lambda: volume(intersection(sphere(1), sphere(1), at=[3, 0, 0])), "the intersection is empty"),
        (lambda: (cuboid(1, 1, 1) - cuboid(2, 2, 2)).mesh, "the difference is empty: nothing is left"),
        (lambda: union(sphere(1), 3), "second argument must be a Part"),
        (lambda: sphere(1) | 3, "unsupported operand"),
        (lambda: sphere(1).feature("spheer"), "no feature 'spheer'; did you mean 'sphere'"),
        (lambda: mesh_part(BOX, scale=-1), "'scale'"),
    ],
)
def test_degenerate_solids_are_refused(call, words):
    with pytest.raises((ArgumentError, TypeError), match=words):
        call()


def test_what_needs_no_package_works_without(monkeypatch):
    """Primitives, masses of parts that lie apart, features of primitives, and JSON; a boolean names the extra."""

    def missing(module, extra, who):
        raise MissingPackageError(f"{who} needs {module}: pip install 'adjoint[{extra}]'")

    monkeypatch.setattr("adjoint.world.parts.part_meshes.package", missing)
    for part in (p for p, *_ in CLOSED.values()):
        part = part.with_density(1234.5)  # of which nothing has been computed
        assert mass(part) > 0 and part.mesh and part.features is not None
        assert part_from_json(part_to_json(part)) == part
    stacked = cylinder(0.25, 1, 16, density=77) | cylinder(0.45, 0.3, 6, density=77, at=[0, 0, 0.65])
    assert mass(stacked) == pytest.approx(77 * 0.3491748, rel=1e-6)
    assert len(part_solids(stacked)) == 2 and len(part_solids(cuboid(1, 1, 7.7) - cuboid(0.5, 0.5, 9))) == 4
    with pytest.raises(MissingPackageError, match=r"unions, .* of parts needs manifold3d: .*adjoint\[world\]"):
        (cuboid(1, 1, 7.7) - sphere(0.77)).mesh  # noqa: B018


def test_trees_that_grow_without_end_are_refused():
    part = sphere(1)
    with pytest.raises(ArgumentError, match="at most 10000"):
        for _ in range(40):
            part = part | part.at([1, 0, 0])
