"""Shapes of links and pairs of bodies on disk: found by another process, made anew if anything about them changed."""

import os
import shutil

import numpy as np
import pytest

import adjoint as aj
from adjoint.collision import body_pairs, shapes_of_links
from adjoint.collision.body_pairs import colliding_pairs
from adjoint.collision.shapes_of_links import LinkShapes, link_shapes
from adjoint.compile.machine import disk_cache

TETRAHEDRON = "".join(f"v {x} {y} {z}\n" for x, y, z in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
TETRAHEDRON += "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FIELDS = ("bodies", "starts", "ends", "radii", "excess", "hull_radii")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_require_enabled", lambda: None)  # it asks whether sources were edited meanwhile
    monkeypatch.setattr(disk_cache, "_require_sources", lambda: None)
    return tmp_path / "cache"


@pytest.fixture
def made(monkeypatch):
    """What was computed since the test began."""
    found = []
    for module, name in ((shapes_of_links, "_made"), (body_pairs, "_found")):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *x, f=original, name=name: found.append(name) or f(*x))
    return found


@pytest.fixture
def model(tmp_path):
    """The path of a model of one mesh; loading it again is what another process does."""
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    path = tmp_path / "model.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><collision><geometry><mesh filename="part.obj"/></geometry></collision></link>'
        '<link name="b"><collision><geometry><mesh filename="part.obj" scale="2 2 2"/></geometry></collision></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    return path


def check_same(a: LinkShapes, b: LinkShapes) -> None:
    assert (a.names, a.kind, a.notes, str(a)) == (b.names, b.kind, b.notes, str(b))
    for field in FIELDS:
        x, y = getattr(a, field), getattr(b, field)
        assert x.dtype == y.dtype and np.array_equal(x, y) and not y.flags.writeable
    assert len(a.hulls) == len(b.hulls) and all(map(np.array_equal, a.hulls, b.hulls))


@pytest.mark.parametrize("kind", ["capsules", "spheres"])
def test_another_process_finds_the_same_shapes(model, made, kind):
    first = link_shapes(aj.load(model), kind)
    assert made == ["_made"]
    check_same(first, link_shapes(aj.load(model), kind))
    assert made == ["_made"]
    link_shapes(aj.load(model), kind, tolerance=0.01)
    assert made == ["_made"] * 2


def test_another_process_finds_the_same_pairs(made):
    robots = [aj.robots.puma560().replace(name="another") for _ in range(2)]
    first, second = (colliding_pairs(x, link_shapes(x, most=1), samples=100) for x in robots)
    assert made == ["_made", "_found"]
    assert str(first) == str(second) and first.reasons == second.reasons
    assert np.array_equal(first.shape_pairs, second.shape_pairs) and second.shape_pairs.dtype == int
    colliding_pairs(robots[1], link_shapes(robots[1], most=1), samples=100, rng=1)
    assert made == ["_made", "_found", "_found"]


def test_another_mesh_in_the_same_file(model, made):
    first = link_shapes(aj.load(model))
    mesh = model.parent / "part.obj"
    status = mesh.stat()
    mesh.write_text(TETRAHEDRON.replace("v 1 0 0", "v 9 0 0"))
    os.utime(mesh, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert link_shapes(aj.load(model)).radii.max() > first.radii.max()
    assert made == ["_made"] * 2


def test_damaged_files_mean_that_shapes_are_made_again(model, made, folder):
    first = link_shapes(aj.load(model))
    for damage in (lambda x: x[:-9], lambda x: x[:-1] + bytes([x[-1] ^ 1]), lambda x: b"", lambda x: b"adjoint" * 99):
        for path in folder.glob("*.ajo"):
            path.write_bytes(damage(path.read_bytes()))
        made.clear()
        check_same(first, link_shapes(aj.load(model)))
        assert made == ["_made"]


def test_without_a_cache(model, made, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE", str(model))  # no folder
    check_same(link_shapes(aj.load(model)), link_shapes(aj.load(model)))
    assert made == ["_made"] * 2


def test_files_that_cannot_be_read_now_are_not_remembered(model, made):
    robot, again = aj.load(model), aj.load(model)
    shutil.move(model.parent / "part.obj", model.parent / "away.obj")
    assert "is no file" in link_shapes(robot).notes[0]
    shutil.move(model.parent / "away.obj", model.parent / "part.obj")
    assert not link_shapes(again).notes
    assert made == ["_made"] * 2
