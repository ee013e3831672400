"""Scenes: immutable lists of solids with names, changed copies, robots as solids, and what is refused."""

import dataclasses

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.lie import se3
from adjoint.sensing.scene import (
    Box,
    Capsule,
    Cylinder,
    Mesh,
    Plane,
    Scene,
    Sphere,
    Textured,
    cast_rays,
    ray_distances,
    robot_solids,
)


def test_changed_scenes_are_new_scenes():
    ball = Sphere(0.1, name="ball")
    scene = Scene([Plane(name="floor"), ball])
    assert len(scene) == 2 and list(scene) == [scene["floor"], ball] and scene[-1] is ball
    more = scene.add(Box([1, 1, 1], name="box"))
    moved = more.move("ball", [1.0, 2, 3]).move({"box": se3.random(rng=0), "floor": [0, 0, -1.0]})
    assert len(scene) == 2 and len(more) == 3
    np.testing.assert_array_equal(scene["ball"].T_world_solid, np.eye(4))
    np.testing.assert_array_equal(moved["ball"].T_world_solid[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(moved["box"].T_world_solid, se3.random(rng=0))
    assert [s.name for s in moved.remove("ball", 0)] == ["box"]
    assert more.replace(Cylinder(0.1, 0.2, name="ball"))["ball"].KIND == "cylinder"
    assert "3 solids" in repr(more) and "Sphere 'ball'" in repr(more)


def test_solids_are_frozen():
    ball = Sphere(0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ball.radius = 0.2  # type: ignore[misc]
    for array in (ball.T_world_solid, ball.colour, Box([1, 1, 1]).size, Textured([1, 1], np.zeros((2, 2))).image):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    assert ball.replace(radius=0.3, colour=[1, 0, 0]).radius == 0.3
    assert ball.at([0, 0, 1.0]).radius == 0.1


def test_moving_solids_compiles_nothing_anew(monkeypatch):
    from adjoint.compile.machine import jit

    scene = Scene([Sphere(0.1), Box([1, 1, 1]), Plane(T_world_solid=[0, 0, -1.0])])
    o, d = np.random.default_rng(0).normal(size=(2, 64, 3))
    cast_rays(scene, o, d)
    monkeypatch.setattr(jit, "load", lambda *a: pytest.fail("compiled again"))
    for k in range(5):
        cast_rays(scene.move(0, [k, 0, 0]).add(*[Sphere(0.1 * (j + 1)) for j in range(k)]), o, d)


def test_names_and_numbers_that_do_not_exist_are_named():
    scene = Scene([Plane(name="floor"), Sphere(0.1, name="ball")])
    for which, words in (("bal", "did you mean 'ball'"), ("", "no solid"), (2, "2 solids"), (1.5, "none of them")):
        with pytest.raises(ArgumentError, match=words):
            scene[which]  # type: ignore[index]
    with pytest.raises(ArgumentError, match="two solids have the name 'ball'"):
        scene.add(Box([1, 1, 1], name="ball"))
    with pytest.raises(ArgumentError, match="where to"):
        scene.move("ball")
    with pytest.raises(ArgumentError, match="Scene\\(\\[solid\\]\\)"):
        Scene(Plane())
    with pytest.raises(ArgumentError, match="got int"):
        Scene([3])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere(0.0), "'radius' must be above 0"),
        (lambda: Sphere(-1.0), "'radius' must be above 0"),
        (lambda: Sphere(np.nan), "'radius' must be a finite number"),
        (lambda: Sphere([1, 2]), "'radius' must be a finite number"),
        (lambda: Box([1, 2]), "shape \\(3,\\)"),
        (lambda: Box([1, 2, 0]), "above 0"),
        (lambda: Cylinder(0.1, 0.0), "'length' must be above 0"),
        (lambda: Capsule(0.1, -0.1), "'length' must be at least 0"),
        (lambda: Plane(T_world_solid=2 * np.eye(4)), "not a rigid motion"),
        (lambda: Plane(T_world_solid=np.diag([1.0, 1, -1, 1])), "not a rigid motion"),
        (lambda: Plane(T_world_solid=[1, 2]), "a pose \\(4, 4\\) or a position \\(3,\\)"),
        (lambda: Plane(T_world_solid=[np.inf, 0, 0]), "finite"),
        (lambda: Plane(T_world_solid=[[1, 2], [3]]), "T_world_solid"),
        (lambda: Plane(T_world_solid="here"), "T_world_solid"),
        (lambda: Plane(colour=1.5), "from 0 to 1"),
        (lambda: Plane(colour=[1, 0]), "red, green, blue"),
        (lambda: Plane(specular=2), "at most 1"),
        (lambda: Plane(name=3), "'name' must be a string"),
        (lambda: Plane().replace(radius=2), "radius"),
        (lambda: Textured([1, 1], np.zeros((0, 3))), "rows, columns"),
        (lambda: Textured([1, 1], np.zeros((2, 2, 4))), "rows, columns"),
        (lambda: Textured([1, 1], np.full((2, 2), 7.0)), "from 0 to 1"),
        (lambda: Textured([1, 1], np.array([["a"]])), "real numbers"),
        (lambda: Textured([1, 1], [[1, 2], [3]]), "real numbers"),
    ],
)
def test_bad_solids_are_named(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


def test_poses_with_few_digits_become_exact():
    T = np.round(se3.random(rng=1), 8)
    R = Sphere(1.0, T_world_solid=T).T_world_solid[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)


def test_a_robot_stands_in_a_scene_where_its_kinematics_say():
    robot = aj.robots.puma560()
    q = np.array([0.3, -0.5, 0.4, 0.1, 0.6, -0.2])
    base = se3.from_xyz_quat_wxyz([0.5, 0, 0.2, 1, 0, 0, 0.3])
    parts = robot_solids(robot, q, T_world_base=base)
    assert {p.name.split(".")[1].split("#")[0] for p in parts} >= {"base", "link2", "link6"}
    places = base @ aj.forward_kinematics(robot, q)
    names = [body.name for body in robot.bodies]
    for part in parts:
        body = part.name.split(".")[1].split("#")[0]
        want = base if body == "base" else places[names.index(body)]
        np.testing.assert_allclose(part.T_world_solid, want, atol=1e-14)
    scene = Scene([Plane()]).add(*parts)
    # Rays at the middles of triangles of its surface, from outside along their normals, meet the robot at once.
    part = max(parts, key=lambda p: len(p.triangles))
    T = part.T_world_solid
    x = part.triangles.corners.mean(axis=1) @ T[:3, :3].T + T[:3, 3]
    n = part.triangles.normals @ T[:3, :3].T
    assert (ray_distances(scene, x + 1e-4 * n, -n) <= 1e-4 + 1e-9).all()
    moved = scene.replace(*robot_solids(robot, q + 0.1, T_world_base=base))
    assert len(moved) == len(scene)
    pairs = [(a, b) for a, b in zip(scene, moved, strict=True) if isinstance(a, Mesh) and isinstance(b, Mesh)]
    assert len(pairs) == len(parts) and all(a.triangles is b.triangles for a, b in pairs)
    with pytest.raises(ArgumentError, match="'q' must be"):
        robot_solids(robot, np.zeros(5))
    with pytest.raises(ArgumentError):
        robot_solids("puma", q)  # type: ignore[arg-type]
