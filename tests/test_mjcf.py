"""MJCF against MuJoCo itself: where bodies and sites are, how they move, what they weigh; and models that are none."""

# pyright: reportAttributeAccessIssue=false
# (mujoco's and lxml's compiled modules have no types)

import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
from itertools import islice
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from support.mujoco_models import by_mujoco, qpos_of, rates_map

from adjoint.errors import AdjointError, ArgumentError, MissingPackageError
from adjoint.kinematics import center_of_mass, forward_kinematics, jacobian
from adjoint.lie import inertia as inertias
from adjoint.model import ModelError, mjcf_files, random_configuration
from adjoint.model.joints import JOINTS
from adjoint.model.loading import load

MODELS = Path(__file__).parent / "models"
SHIPPED = sorted((Path(mujoco.__file__).parent / "testdata").glob("*.xml"))
ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
FILES = [*sorted(MODELS.glob("*.xml")), *SHIPPED]

# Poses are products of at most ten 4x4 matrices with entries up to ten: rounding stays below 1e-13.
# MuJoCo normalises quaternions and axes once more at each step. The issue asks for 1e-10.
CLOSE = 1e-12


# --- the two models side by side --------------------------------------------------------------------------------------


def placements(positions, matrices):
    T = np.tile(np.eye(4), (len(positions), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = matrices.reshape(-1, 3, 3), positions
    return T


@pytest.fixture(params=FILES, ids=lambda f: f.stem)
def pair(request):
    return (load(request.param), *by_mujoco(request.param))


def body_frames(robot, model):
    """Our names of MuJoCo's bodies: the last of the links that each body's joints make."""
    links = iter(robot.links)
    return [list(islice(links, max(1, n)))[-1].name for n in model.body_jntnum]


def site_frames(robot, model):
    bodies = body_frames(robot, model)
    return [f.name for f in robot.frames if f.name not in bodies][: model.nsite]


def test_bodies_and_sites_are_where_mujoco_has_them(pair):
    robot, model, data = pair
    bodies, sites = body_frames(robot, model), site_frames(robot, model)
    assert len(sites) == model.nsite
    for q in random_configuration(robot, 20, rng=1):
        data.qpos[:] = qpos_of(robot, model, q)
        mujoco.mj_kinematics(model, data)
        found = forward_kinematics(robot, q, (*bodies, *sites))
        expected = placements([*data.xpos, *data.site_xpos], np.array([*data.xmat, *data.site_xmat]))
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)


def test_names_are_those_of_the_file(pair):
    robot, model, _ = pair
    for kind, count, ours in (
        ("body", model.nbody, body_frames(robot, model)),
        ("joint", model.njnt, robot.body_joint_names),
        ("site", model.nsite, site_frames(robot, model)),
    ):
        type = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        for k, name in zip(range(count), ours, strict=True):
            told = [f for f in robot.findings if f.element == f"{kind} '{name}'" and f.code in ("unnamed", "renamed")]
            assert (mujoco.mj_id2name(model, type, k) == name) != bool(told)


def test_jacobians_are_mujocos(pair):
    robot, model, data = pair
    for q in random_configuration(robot, 2, rng=2):
        data.qpos[:] = qpos_of(robot, model, q)
        mujoco.mj_fwdPosition(model, data)
        G = rates_map(robot, model, q)
        for b, name in enumerate(body_frames(robot, model)):
            linear, angular = np.zeros((2, 3, model.nv))
            mujoco.mj_jacBody(model, data, linear, angular, b)
            expected = np.concatenate([angular, linear]) @ G
            np.testing.assert_allclose(jacobian.eager(robot, q, name, "world"), expected, rtol=0, atol=CLOSE)


def test_masses_are_mujocos(pair):
    """Total mass, centre of mass, and the mass matrix Σ Jᵀ I J, which holds every inertia in every direction."""
    robot, model, data = pair
    base = robot.base_inertia
    np.testing.assert_allclose(robot.mass + base[0], model.body_mass.sum(), rtol=1e-14)
    for q in random_configuration(robot, 2, rng=3):
        data.qpos[:] = qpos_of(robot, model, q)
        mujoco.mj_fwdPosition(model, data)
        if robot.mass > 0:
            moment = center_of_mass.eager(robot, q) * robot.mass + base[1:4]
            np.testing.assert_allclose(moment / model.body_mass.sum(), data.subtree_com[0], rtol=0, atol=CLOSE)
        G = rates_map(robot, model, q)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        expected = G.T @ (M - np.diag(model.dof_armature)) @ G
        found = np.zeros((robot.nv, robot.nv))
        for body in robot.bodies:
            J = jacobian.eager(robot, q, body.name)
            found += J.T @ inertias.matrix.eager(body.inertia) @ J
        # Cancellation leaves errors of the size of the largest entry.
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * max(1, abs(expected).max(initial=0)))


def test_limits_and_joint_dynamics_are_mujocos(pair):
    robot, model, _ = pair
    for i, body in enumerate(robot.bodies):
        joint, dof = body.joint, model.jnt_dofadr[i]
        if joint.mimic:
            continue
        dofs = slice(dof, dof + JOINTS[joint.type].nv)
        assert np.array_equal(robot.damping[joint.v], model.dof_damping[dofs])
        assert np.array_equal(robot.friction[joint.v], model.dof_frictionloss[dofs])
        assert np.array_equal(robot.armature[joint.v], model.dof_armature[dofs])
        limited = model.jnt_limited[i] and JOINTS[joint.type].nq == 1
        lower, upper = model.jnt_range[i] if limited else (-np.inf, np.inf)
        assert np.all(robot.lower[joint.q] == lower) and np.all(robot.upper[joint.q] == upper)
        effort = abs(model.jnt_actfrcrange[i]).max() if model.jnt_actfrclimited[i] else np.inf
        assert np.all(robot.effort_limit[joint.v] == effort)
    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    assert np.array_equal(robot.gravity, np.zeros(3) if off else model.opt.gravity)


# --- what models say --------------------------------------------------------------------------------------------------


def test_every_feature_is_in_a_model():
    """The models together have what the comparisons above are meant to see."""
    robots = [load(file) for file in FILES]
    kinds = {kind for robot in robots for kind in robot.joint_types}
    assert kinds == {"revolute", "continuous", "prismatic", "spherical", "free"}
    for field in ("damping", "friction", "armature"):
        assert any(np.any(getattr(robot, field)) for robot in robots)
    assert any(np.any(np.isfinite(robot.effort_limit)) for robot in robots)
    assert SHIPPED and len(FILES) >= 12


def test_the_mimics_of_couplings():
    """y - y_0 = a_0 + a_1 (x - x_0), through chains; the others are told."""
    robot = load(MODELS / "couplings.xml")
    assert robot.joint_names == ("left", "thumb_2", "nail")
    found = {j: robot.joint(j).mimic for j in robot.body_joint_names if robot.joint(j).mimic}
    names = {j: (robot.body_joint_names[m.source], m.multiplier, m.offset) for j, m in found.items() if m}
    assert names == {
        "wrist": ("left", 0.0, 0.4),
        "right": ("left", -1.0, pytest.approx(0.05 + 0.01 + 0.1)),
        "left_tip": ("left", -3.0, pytest.approx(-0.3 + 0.2 + 3 * (0.16 - 0.05))),
        "right_tip": ("left", -3.0, pytest.approx(0.23 + 0.3)),
        "thumb_1": ("thumb_2", 0.5, 0.0),
    }
    told = [f.element.split("'")[1] for f in robot.findings if f.code == "constraint"]
    assert told == ["cubic", "still", "idle", "twice", "circle", "pin", "glue", "rope"]


def test_the_mimics_hold_mujocos_constraint():
    """At any q of the robot MuJoCo sees no violation in the couplings that became mimics."""
    robot = load(MODELS / "couplings.xml")
    spec = mujoco.MjSpec.from_file(str(MODELS / "couplings.xml"))
    for e in list(spec.equalities)[5:]:
        spec.delete(e)
    model = spec.compile()
    data = mujoco.MjData(model)
    for q in random_configuration(robot, 5, rng=4):
        data.qpos[:] = qpos_of(robot, model, q)
        mujoco.mj_fwdPosition(model, data)
        assert data.ne == 5 and abs(data.efc_pos[:5]).max() < CLOSE


def test_findings_and_links_have_file_and_line():
    robot = load(MODELS / "floating.xml")
    text = (MODELS / "floating.xml").read_text().splitlines()
    places = {f.element: f.where for f in robot.findings} | {l.name: l.where for l in robot.links}
    for element, says in (("joint 'root'", 'name="root"'), ("joint 'hip'", 'name="hip"'), ("shank", 'name="shank"')):
        where = places[element]
        assert where and where.line and where.file.endswith("floating.xml") and says in text[where.line - 1]


def test_names_that_collide_or_lack():
    robot = load(MODELS / "forest.xml")
    assert robot.name == "forest" and robot.base_name == "world"
    assert {
        "body_2",
        "body_4",
        "body_4_body",
        "body_4_site",
        "puck",
        "puck_site",
        "puck_site_",
        "rail.x",
        "rail.x_",
    } <= set(robot.frame_names)
    assert "chase" not in robot.frame_names and len(set(robot.frame_names)) == len(robot.frame_names)
    codes = {f.code for f in robot.findings}
    assert {"unnamed", "renamed", "camera", "home", "ignored", "visual"} <= codes


def test_reversed_limits_that_mujoco_drops_are_told(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text(BODY.format('<joint name="j" range="1 -1"/>'))
    robot = load(file)
    assert np.isinf(robot.lower[0]) and str(robot.findings[0]).endswith("limits nothing [limits-reversed]")


def test_where_a_free_body_starts_is_told():
    robot = load(MODELS / "floating.xml")
    home = next(f for f in robot.findings if f.code == "home")
    model, _ = by_mujoco(MODELS / "floating.xml")
    assert np.allclose([float(x) for x in home.message.split()[-7:]], model.qpos0[:7], atol=1e-5)


@pytest.mark.parametrize("suffix", [".mjcf", ".XML"])
def test_files_of_any_ending(suffix, tmp_path):
    """MuJoCo itself opens only those that end in .xml."""
    shutil.copytree(MODELS / "parts", tmp_path / "parts")
    shutil.copy(MODELS / "included.xml", tmp_path / f"included{suffix}")
    assert load(tmp_path / f"included{suffix}") == load(MODELS / "included.xml")
    mesh = with_mesh(tmp_path, "")
    assert Path(load(mesh.rename(mesh.with_suffix(suffix))).visuals[0].mesh).samefile(tmp_path / "meshes" / "t.obj")


def test_gravity_may_be_given():
    assert np.array_equal(load(MODELS / "arm.xml", gravity=(1, 2, 3)).gravity, [1, 2, 3])


# --- the same robot in two formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur5_robot", "panda", "g1_29dof_rev_1_0", "solo12", "talos_reduced", "tiago_pro"])
def test_a_urdf_that_mujoco_rewrites_stays_the_same_robot(name, tmp_path):
    """Frames, inertias, limits and mimics, through MuJoCo's reader of URDF and its writer of MJCF."""
    urdf = next(file for folder in sys.path for file in Path(folder, ROBOTS).rglob(f"{name}.urdf"))
    root = etree.parse(urdf).getroot()
    for element in list(root.iter("visual", "collision")):
        element.getparent().remove(element)
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", fusestatic="false")
    spec = mujoco.MjSpec.from_string(etree.tostring(root).decode())
    spec.compile()
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    ours, theirs = load(urdf), load(tmp_path / "robot.xml")
    assert ours.joint_names == theirs.joint_names and {"world", *ours.frame_names} == set(theirs.frame_names)
    # The writer keeps six digits: 5e-7 in each number, over a dozen joints and arms of a metre or two.
    six_digits = 2e-5
    for q in random_configuration(ours, 3, rng=6):
        placed = [forward_kinematics.eager(robot, q, ours.frame_names[1:]) for robot in (ours, theirs)]
        np.testing.assert_allclose(*placed, rtol=0, atol=six_digits)
    np.testing.assert_allclose(ours.inertias, theirs.inertias, rtol=0, atol=six_digits * ours.inertias.max())
    np.testing.assert_allclose(ours.lower, theirs.lower, rtol=six_digits, atol=six_digits)
    np.testing.assert_allclose(ours.upper, theirs.upper, rtol=six_digits, atol=six_digits)


# --- base -------------------------------------------------------------------------------------------------------------


def test_base_fixed_takes_the_free_joint_away():
    robot, (model, data) = load(MODELS / "floating.xml", base="fixed"), by_mujoco(MODELS / "floating.xml")
    assert robot.joint_types == ("spherical", "revolute")
    data.qpos[:] = model.qpos0
    q = random_configuration(robot, rng=5)
    data.qpos[7:] = q
    mujoco.mj_kinematics(model, data)
    for name in ("trunk", "foot", "skull"):
        expected = placements([data.body(name).xpos], data.body(name).xmat)[0]
        np.testing.assert_allclose(forward_kinematics.eager(robot, q, name), expected, rtol=0, atol=CLOSE)


def test_base_free_is_what_a_freejoint_in_the_file_is(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text((MODELS / "arm.xml").read_text().replace('"30 0 0">', '"30 0 0"><freejoint name="root_joint"/>'))
    freed, expected = load(MODELS / "arm.xml", base="free"), load(file)
    assert expected.joint_types[0] == "free" and freed == expected
    assert load(file, base="free") == expected and load(file, base="fixed") == load(MODELS / "arm.xml")


@pytest.mark.parametrize(
    ("model", "base", "says"),
    [
        ("forest", "free", "needs one body on the world, there are 7"),
        ("forest", "fixed", "needs one body with a free joint, there are 2: 'puck', 'dice'"),
        ("refs", "free", "'first' has joints to the world"),
        ("msh", "free", "there are 0: none"),
    ],
)
def test_base_that_makes_no_sense(model, base, says):
    file = next(f for f in FILES if f.stem == model)
    with pytest.raises(ModelError, match=says):
        load(file, base=base)


def test_base_of_another_word():
    with pytest.raises(ArgumentError, match="'fixed', 'free', or None"):
        load(MODELS / "arm.xml", base="floating")


# --- shapes -----------------------------------------------------------------------------------------------------------


def test_shapes_of_geoms():
    robot = load(MODELS / "geoms.xml")
    drawn = [(v.frame, v.shape, v.size, v.color) for v in robot.visuals if not v.collision]
    red, blue, grey = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5), (0.5, 0.5, 0.5, 1.0)
    assert drawn == [
        ("one", "sphere", (0.1,), red), ("one", "box", (0.2, 0.4, 0.6), blue), ("one", "cylinder", (0.1, 0.4), grey),
        ("two", "box", (0.2, 0.4, 0.6), grey),
    ]  # fmt: skip
    touched = [(v.frame, v.shape) for v in robot.visuals if v.collision]
    assert touched == [("one", "sphere"), ("one", "box"), ("one", "capsule"), ("one", "box"), ("two", "box")]
    told = [f.element.split("'")[1] for f in robot.findings if f.code == "visual"]
    assert told == ["floor", "ground", "egg", "spire"]


TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])


def with_mesh(folder, asset, more=()):
    rows = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON] + ["f 1 3 2", "f 1 2 4", "f 2 3 4", "f 1 4 3", *more]
    (folder / "meshes").mkdir()
    (folder / "meshes" / "t.obj").write_text("\n".join(rows))
    (folder / "model.xml").write_text(
        f"""<mujoco><compiler meshdir="meshes"/><asset><mesh file="t.obj" {asset}/></asset><worldbody><body name="b">
        <freejoint/><geom type="mesh" mesh="t" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>"""
    )
    return folder / "model.xml"


@pytest.mark.parametrize(
    "asset",
    [
        'scale="0.1 0.2 0.3"',
        'scale="0.1 0.2 0.3" refpos="1 2 3"',
        'scale="2 2 2" refpos="1 2 3" refquat="1 2 3 4"',
    ],
)
def test_meshes_are_drawn_where_mujoco_draws_them(tmp_path, asset):
    """MuJoCo moves vertices to the principal axes of the mesh; ours are those of the file, scaled and placed."""
    file = with_mesh(tmp_path, asset)
    visual = load(file).visuals[0]
    assert visual.shape == "mesh" and Path(visual.mesh).samefile(tmp_path / "meshes" / "t.obj")
    ours = (visual.size * TETRAHEDRON) @ visual.placement[:3, :3].T + visual.placement[:3, 3]
    model, data = by_mujoco(file)
    mujoco.mj_kinematics(model, data)
    theirs = model.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    gaps = np.linalg.norm(ours[:, None] - theirs[None], axis=2).min(axis=1)
    assert gaps.max() < 1e-6 * max(1, abs(theirs).max())  # MuJoCo keeps vertices as float32


def test_meshes_sheared_by_their_scale_are_told(tmp_path):
    robot = load(with_mesh(tmp_path, 'scale="1 2 3" refquat="1 2 3 4"'))
    assert not robot.visuals and "visual" in {f.code for f in robot.findings}


def test_files_outside_of_the_package_are_refused(tmp_path):
    (tmp_path / "robot" / "mjcf").mkdir(parents=True)
    file = with_mesh(tmp_path, "").rename(tmp_path / "robot" / "mjcf" / "model.xml")
    text = file.read_text()
    for folder in ("../../meshes", str(tmp_path / "meshes")):
        file.write_text(text.replace('"meshes"', f'"{folder}"'))
        with pytest.raises(ModelError, match=r"<mesh> names 't.obj', which is outside of .*package_dirs"):
            load(file)
        assert load(file, package_dirs=[tmp_path]).visuals
    (tmp_path / "meshes").rename(tmp_path / "robot" / "meshes")
    file.write_text(text.replace('"meshes"', '"../meshes"'))
    assert load(file).visuals


def test_links_to_other_folders_are_refused(tmp_path):
    """MuJoCo would open them; a model that is itself a link may name files beside what it links to."""
    (tmp_path / "robot").mkdir()
    file = with_mesh(tmp_path, "").rename(tmp_path / "robot" / "model.xml")
    (tmp_path / "robot" / "meshes").mkdir()
    os.symlink(tmp_path / "meshes" / "t.obj", tmp_path / "robot" / "meshes" / "t.obj")
    with pytest.raises(ModelError, match=r"is a link to .*t.obj, outside of .*package_dirs="):
        load(file)
    assert load(file, package_dirs=[tmp_path / "meshes"]).visuals
    (tmp_path / "robot" / "model.xml").rename(tmp_path / "model.xml")
    os.symlink(tmp_path / "model.xml", tmp_path / "robot" / "model.xml")
    assert load(file).visuals


INNER = """<mujoco><asset><mesh name="t" file="{}"/></asset></mujoco>"""
OUTER = """<mujoco>\n{}<worldbody><body name="b"><joint/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>"""
COMMENT = "+ADwAIQAtAC0-{}+AC0ALQA+-"  # <!--{}--> in UTF-7


@pytest.fixture
def hidden(tmp_path):
    """A model beside inner.xml, which names a mesh outside; what the mesh's place is."""
    with_mesh(tmp_path, "").unlink()
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "inner.xml").write_text(INNER.format(tmp_path / "meshes" / "t.obj"))
    return tmp_path / "robot" / "model.xml"


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ('<include file="inner.xml"/>', "inner.xml:1: <mesh> names .* is outside of"),
        ('<include xmlns="u" file="inner.xml"/>', ":2: <{u}include> has a namespace"),
        ('<include xmlns:a="u" file="inner.xml"/>', ":2: <include> has a namespace"),
        ('<a:include xmlns:a="u" file="inner.xml"/>', ":2: <{u}include> has a namespace"),
        ('<xml:include file="inner.xml"/>', ":2: .* has a namespace"),
        ('<compiler xmlns="u" meshdir="../meshes"/>', ":2: <{u}compiler> has a namespace"),
        ('<compiler meshdir="../meshes"/><asset><mesh file="t.obj"/></asset>', "is outside of"),
        ('<asset><mesh file="../../no.obj"/></asset>', "does not exist in"),
        ('<asset><mesh file="..&#47;meshes/t.obj"/></asset>', "is outside of"),
    ],
)
def test_what_is_checked_is_what_mujoco_reads(inside, says, hidden):
    hidden.write_text(OUTER.format(inside))
    with pytest.raises(ModelError, match=says):
        load(hidden)


def test_what_an_encoding_hides_stays_hidden(hidden):
    """MuJoCo reads all as UTF-8, and would not see this comment; it gets the text without it."""
    text = OUTER.format(COMMENT.format('<include file="inner.xml"/>'))
    hidden.write_text(f'<?xml version="1.0" encoding="UTF-7"?>{text}')
    with pytest.raises(ModelError, match=r"MuJoCo cannot read this model: .*mesh 't'"):
        load(hidden)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(encoding, tmp_path):
    declared = "utf-8" if encoding.startswith("utf-8") else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?>{BODY.format("")}'
    (tmp_path / "m.xml").write_bytes(text.replace('"a"', '"ä"').encode(encoding))
    assert load(tmp_path / "m.xml").frame_names == ("world", "ä")


def test_models_are_found_as_mujoco_finds_them(tmp_path):
    """Beside the model, else beside the file that includes; attached models have folders and names of their own."""
    (tmp_path / "parts" / "limb").mkdir(parents=True)
    with_mesh(tmp_path / "parts" / "limb", "")
    world = "<mujocoinclude><worldbody><body name='{}'><geom size='1'/></body></worldbody></mujocoinclude>"
    (tmp_path / "parts" / "both.xml").write_text("<mujocoinclude><include file='x.xml'/></mujocoinclude>")
    (tmp_path / "parts" / "x.xml").write_text(world.format("beside"))
    file = tmp_path / "model.xml"
    file.write_text(
        "<mujoco><include file='parts/both.xml'/><asset><model name='m' file='parts/limb/model.xml'/></asset>"
        "<worldbody><attach model='m' body='b' prefix='p_'/></worldbody></mujoco>"
    )
    for name in ("beside", "above"):
        robot, (model, _) = load(file), by_mujoco(file)
        assert [name in robot.frame_names, model.body(name).id > 0] == [True, True] and "p_b" in robot.frame_names
        assert Path(robot.visuals[-1].mesh).samefile(tmp_path / "parts" / "limb" / "meshes" / "t.obj")
        (tmp_path / "x.xml").write_text(world.format("above"))


PLACES = ("", "a", "b", "sub", "sub/a", "x", "a/x", "sub/x")  # of t.obj, whose tetrahedra have sizes 1, 2, ...
INCLUDE = '<include file="sub/inner.xml"/>'
FLEX = """<worldbody><body name="p"><flexcomp name="f" type="mesh" file="{}" dim="2" mass="1" radius="0.01"><edge
    equality="true"/></flexcomp></body></worldbody>"""
BODY_OF_T = """<asset><mesh name="t" file="{}"/></asset>
    <worldbody><body name="b"><joint/><geom type="mesh" mesh="t"/></body></worldbody>"""

# what the model and the included file say (T stands for what uses the mesh), the mesh's name, the places it is at
MESH_PLACES = {
    "beside the model": ("T", "", "t.obj", PLACES),
    "meshdir that an include brings": (INCLUDE, "<compiler meshdir='a'/>T", "t.obj", PLACES),
    "meshdir of the model": ("<compiler meshdir='a'/>" + INCLUDE, "T", "t.obj", PLACES),
    "the last meshdir counts": ("<compiler meshdir='b'/>" + INCLUDE, "<compiler meshdir='a'/>T", "t.obj", PLACES),
    "meshdir after the include": (INCLUDE + "<compiler meshdir='b'/>", "<compiler meshdir='a'/>T", "t.obj", PLACES),
    "assetdir": ("<compiler assetdir='a'/>" + INCLUDE, "T", "t.obj", PLACES),
    "meshdir beats assetdir": ("<compiler assetdir='a' meshdir='b'/>T", "", "t.obj", PLACES),
    "assetdir after meshdir": ("<compiler meshdir='b'/><compiler assetdir='a'/>T", "", "t.obj", PLACES),
    "beside the included file": ("<compiler meshdir='a'/>" + INCLUDE, "T", "t.obj", ("sub", "sub/a")),
    "not meshdir beside the include": ("<compiler meshdir='a'/>" + INCLUDE, "T", "t.obj", ("", "sub/a")),
    "folders in names": ("<compiler meshdir='a'/>" + INCLUDE, "T", "x/t.obj", PLACES),
    "strippath": ("<compiler meshdir='a' strippath='true'/>" + INCLUDE, "T", "x/t.obj", PLACES),
    "strippath of a full name": ("<compiler meshdir='a' strippath='true'/>T", "", "/no/such/t.obj", PLACES),
    "strippath, and nothing there": ("<compiler meshdir='a' strippath='true'/>T", "", "x/t.obj", ("x", "a/x")),
    "no strippath after all": ("<compiler strippath='true'/><compiler strippath='false'/>T", "", "x/t.obj", PLACES),
}


@pytest.mark.parametrize("uses", [BODY_OF_T, FLEX], ids=["mesh", "flexcomp"])
@pytest.mark.parametrize("case", MESH_PLACES)
def test_meshes_are_found_where_mujoco_finds_them(case, uses, tmp_path, monkeypatch):
    """Whatever the current folder is: the same file, told by its size, or none."""
    outer, inner, name, places = MESH_PLACES[case]
    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere"
    elsewhere.mkdir()
    for size, place in enumerate(PLACES, 1):
        (folder / place).mkdir(parents=True, exist_ok=True)
        if place in places:
            rows = [f"v {size * x} {size * y} {size * z}" for x, y, z in TETRAHEDRON]
            (folder / place / "t.obj").write_text("\n".join([*rows, "f 1 3 2", "f 1 2 4", "f 2 3 4", "f 1 4 3"]))
    for path, text in (("model.xml", outer), ("sub/inner.xml", inner)):
        (folder / path).write_text(f"<mujoco>{text.replace('T', uses.format(name))}</mujoco>")
    monkeypatch.chdir(elsewhere)
    try:
        model, data = by_mujoco(folder / "model.xml")
    except ValueError:
        with pytest.raises(ModelError, match=r"names '.*t.obj', which does not exist in "):
            load(folder / "model.xml")
        return
    robot = load(folder / "model.xml")
    found = np.array([joint.placement[:3, 3] for joint in robot.specs]) if uses is FLEX else robot.inertias[:, 4]
    expected = model.body_pos[1:] if uses is FLEX else model.body_inertia[1:, 0]
    q = random_configuration(robot, rng=0)
    data.qpos[:] = qpos_of(robot, model, q)
    mujoco.mj_fwdPosition(model, data)
    assert abs(found).max() > 0.1 * abs(expected).max()
    placed = [forward_kinematics.eager(robot, q, name)[:3, 3] for name in body_frames(robot, model)]
    np.testing.assert_allclose(placed, data.xpos, rtol=0, atol=1e-12 * max(1, abs(data.xpos).max()))
    np.testing.assert_allclose(robot.mass, model.body_mass.sum(), rtol=1e-12)


def test_included_files_without_anything_of_a_robot(tmp_path):
    """What is left out of them leaves nothing, which MuJoCo would not include."""
    (tmp_path / "looks.xml").write_text(
        "<mujoco><visual><map znear='0.1'/></visual><statistic extent='1'/><sensor><clock/></sensor></mujoco>"
    )
    (tmp_path / "model.xml").write_text(BODY.format("").replace("<mujoco>", "<mujoco><include file='looks.xml'/>"))
    assert load(tmp_path / "model.xml").frame_names == ("world", "a")


def test_included_elements_are_known_by_their_own_file_and_line(tmp_path):
    (tmp_path / "part.xml").write_text(
        "<mujoco>\n\n<body name='a'>\n<joint name='j' stiffness='1'/>\n<geom size='1'/></body></mujoco>"
    )
    (tmp_path / "model.xml").write_text(
        "<mujoco><worldbody>\n<include file='part.xml'/>\n<body name='b'/></worldbody></mujoco>"
    )
    robot = load(tmp_path / "model.xml")
    places = {link.name: str(link.where) for link in robot.links}
    assert places["a"].endswith("part.xml:3") and places["b"].endswith("model.xml:3")
    assert str(robot.findings[0]).startswith(f"{tmp_path}/part.xml:4: warning: joint 'j'")
    (tmp_path / "part.xml").write_text("<mujoco>\n<body>\n<wheel/></body></mujoco>")
    with pytest.raises(ModelError, match=r"part.xml:3: MuJoCo cannot read this model: .*unrecognized element"):
        load(tmp_path / "model.xml")


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ("<include file='a.xml'/><include file='a.xml'/>", ":1: 'a.xml' is already included"),
        ("<include file='loop.xml'/>", "loop.xml:1: 'model.xml' is already included"),
        ("<include file='a.xml'><body/></include>", "<include> cannot have elements inside"),
        ("<include/>", "<include> names '', which does not exist"),
        ("<Include file='a.xml'/>", "<Include> must be written in small letters"),
        ("<include file='a.urdf'/>", "<include> names 'a.urdf', which does not exist in"),
    ],
)
def test_includes_that_are_none(inside, says, tmp_path):
    (tmp_path / "a.xml").write_text("<mujoco><option timestep='0.1'/></mujoco>")
    (tmp_path / "loop.xml").write_text("<mujoco><include file='model.xml'/></mujoco>")
    (tmp_path / "model.xml").write_text(f"<mujoco>{inside}</mujoco>")
    with pytest.raises(ModelError, match=says):
        load(tmp_path / "model.xml")


def test_includes_that_grow_too_much(tmp_path):
    """Deeper and deeper, or more and more: refused before much time is spent."""
    for k in range(20):
        inner = f"<include file='{k + 1}.xml'/>"
        (tmp_path / f"{k}.xml").write_text("<mujoco>" + "<body>" * 100 + inner + "</body>" * 100 + "</mujoco>")
    (tmp_path / "model.xml").write_text("<mujoco><worldbody><include file='0.xml'/></worldbody></mujoco>")
    with pytest.raises(ModelError, match=r"2.xml:1: elements are nested more than 256 deep"):
        load(tmp_path / "model.xml")
    for k in range(20):
        (tmp_path / f"{k}.xml").write_text(f"<mujoco>{'<option/>' * 20_000}<include file='{k + 1}.xml'/></mujoco>")
    (tmp_path / "model.xml").write_text("<mujoco><include file='0.xml'/></mujoco>")
    with pytest.raises(ModelError, match=r"9.xml: with it the model has more than 200000 elements; .*limits=2"):
        load(tmp_path / "model.xml")


def test_one_folder_allows_all_files_outside(tmp_path):
    """Includes that stay closed may name more: the folder that all have in common serves them too."""
    home = tmp_path / "all"
    for folder in ("robot", "scenes", "other"):
        (home / folder).mkdir(parents=True)
    with_mesh(home / "other", "")
    (home / "robot" / "robot.xml").write_text("<mujoco><include file='../other/part.xml'/></mujoco>")
    (home / "other" / "part.xml").write_text("<mujoco><worldbody><body name='part'/></worldbody></mujoco>")
    (home / "scenes" / "scene.xml").write_text(
        "<mujoco><include file='../robot/robot.xml'/><asset><mesh file='../other/meshes/t.obj'/></asset></mujoco>"
    )
    says = r"<include> names '../robot/robot.xml', which is outside of .*, as is 1 other file; to allow"
    with pytest.raises(ModelError, match=says) as caught:
        load(home / "scenes" / "scene.xml")
    named = str(caught.value).split("package_dirs=['")[1].split("']")[0]
    assert named == str(home) and "part" in load(home / "scenes" / "scene.xml", package_dirs=[named]).frame_names


def test_limits_of_copies_can_be_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(mjcf_files, "_ELEMENT_LIMIT", 100)
    file = tmp_path / "model.xml"
    file.write_text(BODY.format("<replicate count='40' offset='1 0 0'><site/><site/><site/></replicate>"))
    with pytest.raises(ModelError, match=r"elements, .*; 100 is most; .*load\(..., limits=2\) allows it"):
        load(file)
    assert len(load(file, limits=2).frames) == 1 + 120


def test_models_as_text(tmp_path, monkeypatch):
    text = BODY.format("").replace("<mujoco>", "<mujoco model='m'>")
    (tmp_path / "model.xml").write_text(text)
    assert load(text) == load(tmp_path / "model.xml") and str(load(text).links[1].where) == "text:3"
    mesh = with_mesh(tmp_path, "").read_text()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=r"text:1: <mesh> names 't.obj', which is in none of package_dirs"):
        load(mesh)
    assert Path(load(mesh, package_dirs=["."]).visuals[0].mesh).samefile(tmp_path / "meshes" / "t.obj")


def test_what_is_no_robot_is_not_read(tmp_path):
    """Textures, terrains, sensors, keyframes: neither their files nor their sizes matter; geoms keep their terrain."""
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><asset><texture name="t" file="no.png"/><material name="m" texture="t" rgba="1 0 0 1"/>
        <hfield file="no.png" size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="no"/><light texture="t"/>
        <body name="b"><joint name="j"/><geom size="1" material="m"/></body></worldbody>
        <sensor><jointpos joint="j"/></sensor><keyframe><key qpos="1"/></keyframe></mujoco>"""
    )
    robot = load(file)
    assert robot.joint_names == ("j",) and robot.visuals[0].color == (1, 0, 0, 1)


# --- models that are none ---------------------------------------------------------------------------------------------

BODY = '<mujoco>\n<worldbody>\n<body name="a">\n{}<geom size="0.1"/></body></worldbody></mujoco>'

BROKEN = {
    "empty": ("", "is empty"),
    "no XML": ("robot", "not well-formed"),
    "tags that cross": ("<mujoco>\n<worldbody></mujoco></worldbody>", ":2: is not well-formed"),
    "another format": ('<sdf version="1.6"/>', "<sdf> is no robot model"),
    "an entity": ('<!DOCTYPE m [<!ENTITY x "y">]><mujoco model="&x;"/>', "DOCTYPE"),
    "an external entity": ('<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco>&x;</mujoco>', "DOCTYPE"),
    "unknown element": (BODY.format("<wheel/>"), ":4: .*unrecognized element"),
    "unknown attribute": (BODY.format('<joint colour="red"/>'), ":4: .*unrecognized attribute"),
    "word for a number": (BODY.format('<joint axis="a b c"/>'), ":4: .*'axis'"),
    "too few numbers": (BODY.format('<joint axis="0 1"/>'), ":4: .*does not have enough data"),
    "axis of length 0": (BODY.format('<joint axis="0 0 0"/>'), ":4: .*axis too small"),
    "NaN": (BODY.replace('"a"', '"a" pos="nan 0 0"').format(""), "NaN"),
    "limits reversed": (BODY.format('<joint limited="true" range="1 -1"/>'), ":4: .*range"),
    "free inside": (BODY.format('<body><freejoint/><geom size="1"/></body>'), "top level"),
    "free and more": (BODY.format("<freejoint/><joint/>"), "dofs"),
    "no mass": ('<mujoco><worldbody><body name="a"><joint/></body></worldbody></mujoco>', "mass and inertia"),
    "negative mass": (BODY.format('<joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), "mass and inertia"),
    "triangle": (BODY.format('<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'), "A . B >= C"),
    "two of a name": (BODY.format('<body name="a"/>'), ":4: .*repeated name"),
    "coupling of nothing": (
        "<mujoco>\n<equality><joint joint1='p' joint2='q'/></equality></mujoco>",
        "unknown element 'p'",
    ),
    "include of nothing": ("<mujoco>\n<include file='no.xml'/></mujoco>", ":2: .*no.xml"),
    "include of itself": ("<mujoco>\n<include file='model.xml'/></mujoco>", "already included"),
    "include of a bomb": ("<mujoco><include file='bomb.xml'/></mujoco>", "bomb.xml: has a <!DOCTYPE>"),
    "mesh of nothing": ("<mujoco><asset><mesh file='no.obj'/></asset></mujoco>", "no.obj"),
    "mesh that is a folder": (
        "<mujoco>\n<asset><mesh file='folder.obj'/></asset></mujoco>",
        ":2: .*not a regular file",
    ),
    "mesh that never ends": ("<mujoco>\n<asset><mesh file='pipe.obj'/></asset></mujoco>", ":2: .*not a regular file"),
    "mesh of the network": ("<mujoco>\n<asset><mesh file='http://a.b/c.obj'/></asset></mujoco>", ":2: .*no path"),
    "mesh of noise": ("<mujoco><asset><mesh file='noise.obj'/></asset></mujoco>", "model.xml"),
    "very deep": ("<mujoco><worldbody>" + "<body>" * 100_000, "256 deep"),
    "deep": ("<mujoco><worldbody>" + "<body>" * 200 + "</body>" * 200 + "</worldbody></mujoco>", None),
    "a plugin of nobody": ("<mujoco>\n<extension><plugin plugin='no.such'/></extension></mujoco>", ":2: .*no.such"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_no_model_gets_a_clear_error(case, tmp_path, monkeypatch, capfd):
    text, says = BROKEN[case]
    (tmp_path / "bomb.xml").write_text('<!DOCTYPE m [<!ENTITY x "y">]><mujoco model="&x;"/>')
    (tmp_path / "folder.obj").mkdir()
    os.mkfifo(tmp_path / "pipe.obj")
    (tmp_path / "noise.obj").write_bytes(bytes(range(256)))
    file = tmp_path / "model.xml"
    file.write_text(text)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    if says is None:
        load(file)
    else:
        with pytest.raises(AdjointError, match=says) as caught:
            load(file)
        assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before  # no MUJOCO_LOG.TXT
    assert capfd.readouterr() == ("", "")


ODD = st.sampled_from(
    ["nan", "inf", "-1", "0", "1e308", "1e-320", "", "free", "ball", "mesh", "world", "0 0 0 0", "&", "é"]
)


STRICTER = r"is not well-formed XML|NaN or infinit|got nan|overflows|screw is zero"  # an axis of 1e308 m
NO_BODIES = re.compile(r"<(sensor|keyframe)>.*?</\1>", re.DOTALL)  # they refer to joints, and we leave them out


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(file=st.sampled_from(FILES), at=st.floats(0, 1), word=ODD, cut=st.sampled_from([0, 0, 0, 1, 10]))
def test_damaged_models_get_mujocos_verdict(file, at, word, cut, tmp_path):
    """One attribute becomes another word or loses characters: a robot of the same masses, or an error, as in MuJoCo.

    We refuse more of what is not XML, or no number. MuJoCo refuses more of what makes no difference to the bodies.
    """
    text = NO_BODIES.sub("", file.read_text())
    values = list(re.finditer(r'(?<==")[^"]*', text))
    value = values[int(at * (len(values) - 1))]
    damaged = tmp_path / "model.xml"
    damaged.write_text(text[: value.start()] + word + text[value.end() + cut :])
    try:
        with warnings.catch_warnings(action="ignore"):  # of MuJoCo's own
            model, _ = by_mujoco(damaged)
    except (ValueError, RuntimeError):
        model = None
    try:
        robot = load(damaged)
    except AdjointError as e:
        assert model is None or re.search(STRICTER, str(e)), f"MuJoCo accepts it: {e}"
        return
    if model is None:
        damaged.write_text(text)
        whole = load(damaged)
        for field in ("parents", "placements", "screws", "inertias"):  # names may differ: sensors refer to them
            assert np.array_equal(getattr(robot, field), getattr(whole, field))
    else:
        assert len(robot.body_names) == model.njnt
        np.testing.assert_allclose(robot.mass + robot.base_inertia[0], model.body_mass.sum(), rtol=1e-14)


@pytest.mark.parametrize("path", ["nowhere.xml", "."])
def test_paths_that_are_no_file(path, tmp_path):
    with pytest.raises(ModelError, match=str(tmp_path)):
        load(tmp_path / path)


def test_without_mujoco_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'adjoint\[mjcf\]'"):
        load(MODELS / "arm.xml")


def test_mujocos_own_warnings_are_findings_and_its_handler_stays(tmp_path):
    heard = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        file = with_mesh(tmp_path, "", ["vt 0 0", "f 1/9 3/9 2/9"])
        assert "mujoco" in {f.code for f in load(file).findings}
        assert mujoco.get_mju_user_warning() == heard.append and not heard
    finally:
        mujoco.set_mju_user_warning(None)


@pytest.mark.slow
def test_models_that_mujoco_gives_up_do_not_spoil_the_next(tmp_path):
    """MuJoCo 4.0 never ended at a warning, here of a NaN, after an exception that it does not know: an empty anchor."""
    text = (MODELS / "couplings.xml").read_text()
    code = """if True:
        import sys
        from adjoint import load
        from adjoint.errors import ModelError

        try:
            load(sys.argv[1])
        except ModelError:
            print(load(sys.argv[2]).findings)
    """
    files = [tmp_path / "broken.xml", tmp_path / "odd.xml"]
    files[0].write_text(text.replace('body2="right_tip" anchor="0 0 0"', 'body2="right_tip" anchor=""'))
    files[1].write_text(text.replace("</mujoco>", '<actuator><velocity joint="left" kv="nan"/></actuator></mujoco>'))
    assert files[0].read_text() != text
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, timeout=60)
    assert "NaN" in done.stdout, done.stderr


@pytest.mark.slow
def test_threads_leave_mujocos_handler_as_it_was():
    mujoco.set_mju_user_warning(heard := [].append)
    loads = [threading.Thread(target=lambda: [load(MODELS / "arm.xml") for _ in range(20)]) for _ in range(8)]
    try:
        for thread in loads:
            thread.start()
        for thread in loads:
            thread.join()
        assert mujoco.get_mju_user_warning() == heard
    finally:
        mujoco.set_mju_user_warning(None)
