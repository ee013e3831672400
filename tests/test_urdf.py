"""URDF in and out: all robots of example-robot-data against Pinocchio, a small model for each feature, round trips."""

import os
import textwrap

import numpy as np
import pytest
from support import robots

from adjoint.errors import AdjointError
from adjoint.kinematics import forward_kinematics
from adjoint.lie import inertia as inertias
from adjoint.lie import se3, so3
from adjoint.model import (
    ModelError,
    Robot,
    catalog,
    load,
    neutral,
    random_configuration,
    to_urdf,
    urdf_numbers,
    xml_files,
)
from adjoint.model.meshes import mesh_file

BASES = ("fixed", "free")
TEN = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # our order of Pinocchio's dynamic parameters

every_robot = pytest.mark.parametrize("path", robots.URDFS, ids=lambda p: p.stem)


@pytest.fixture
def write(tmp_path):
    """Write the inside of a <robot> to a file, and give its path."""

    def write(body: str, name: str = "model.urdf"):
        path = tmp_path / name
        path.write_text(f'<robot name="r">\n{textwrap.dedent(body).strip()}\n</robot>\n', encoding="utf-8")
        return path

    return write


def joined(joint: str, links: str = '<link name="a"/><link name="b"/>') -> str:
    """Two links and a joint j from a to b: its attributes, `>`, and its children."""
    return f'{links}\n<joint name="j" {joint}\n<parent link="a"/><child link="b"/></joint>'


def codes(robot) -> list[str]:
    return [finding.code for finding in robot.findings]


# --- real robots ------------------------------------------------------------------------------------------------------


def test_all_robots_are_there():
    assert len(robots.URDFS) == 68


@every_robot
def test_frames_are_where_pinocchio_has_them(path):
    """The bound is the issue's; angles within 1e-11 of a quarter turn, over long arms, explain 3e-11."""
    for base in BASES:
        robot, model = load(path, base), robots.pinocchio_model(path, base)
        q = random_configuration(robot, 20, rng=0)
        ours, theirs = robots.placements(robot, q), robots.pinocchio_placements(model, robot, q)
        assert ours.keys() - theirs.keys() <= ({robot.base_name} if base == "free" else set())
        worst = max(np.abs(ours[name] - theirs[name]).max() for name in theirs)
        assert worst < 1e-10


@pytest.fixture
def as_written(monkeypatch):
    """Angles near a quarter turn are read as they are written, as Pinocchio does."""
    monkeypatch.setattr(urdf_numbers, "_sin_cos", lambda angles: (np.sin(angles), np.cos(angles)))


@every_robot
def test_frames_agree_to_rounding_without_exact_quarter_turns(path, as_written):
    robot, model = load(path), robots.pinocchio_model(path)
    q = random_configuration(robot, 3, rng=1)
    ours, theirs = robots.placements(robot, q), robots.pinocchio_placements(model, robot, q)
    assert max(np.abs(ours[name] - theirs[name]).max() for name in theirs) < 1e-13


@every_robot
def test_inertias_are_pinocchios(path, as_written):
    """Bodies with the links fixed to them, the base, and the total mass, relative to the largest number."""
    for base in BASES:
        robot, model = load(path, base), robots.pinocchio_model(path, base)
        for i, k in [(-1, 0), *enumerate(robots.joint_ids(model, robot))]:
            theirs = model.inertias[k].toDynamicParameters()[TEN]
            ours = robot.inertias[i] if i >= 0 else robot.base_inertia
            assert np.abs(ours - theirs).max() <= 1e-14 * max(1.0, np.abs(theirs).max())
        total = sum(inertia.mass for inertia in model.inertias)
        assert robot.mass + robot.base_inertia[0] == pytest.approx(total, rel=1e-14)


@every_robot
def test_limits_are_pinocchios(path):
    robot, model = load(path), robots.pinocchio_model(path)
    for i, k in enumerate(robots.joint_ids(model, robot)):
        if i in robot.mimics:
            continue
        body, q, v = robot.bodies[i], model.idx_qs[k], model.idx_vs[k]
        if body.joint.type in ("revolute", "prismatic"):
            assert robot.lower[body.joint.q] == model.lowerPositionLimit[q]
            assert robot.upper[body.joint.q] == model.upperPositionLimit[q]
        else:
            assert np.isinf(robot.lower[body.joint.q]) and np.isinf(robot.upper[body.joint.q])
        for name, theirs in (("velocity_limit", model.velocityLimit), ("effort_limit", model.effortLimit)):
            assert getattr(robot, name)[body.joint.v] == theirs[v], (body.joint.name, name)
    E = robots.velocity_map(model, robot)  # a leader feels its followers' damping and friction too
    np.testing.assert_allclose(robot.damping, model.damping @ E**2, rtol=1e-15)
    np.testing.assert_allclose(robot.friction, model.friction @ abs(E), rtol=1e-15)


@every_robot
def test_what_is_written_is_read_back(path, tmp_path):
    for base in BASES:
        robot = load(path, base)
        text = to_urdf(robot, tmp_path / "copy.urdf")
        assert (tmp_path / "copy.urdf").read_text(encoding="utf-8") == text
        assert_same(robot, load(tmp_path / "copy.urdf", base, package_dirs=["/"]))


def assert_same(robot: Robot, copy: Robot) -> None:
    """Structure exactly, numbers to the rounding of angles and of inertias moved to the com and back."""
    for name in ("name", "body_names", "body_joint_names", "joint_types", "mimics", "frame_names", "base_name"):
        assert getattr(robot, name) == getattr(copy, name), name
    for name in (
        "parents",
        "screws",
        "lower",
        "upper",
        "velocity_limit",
        "effort_limit",
        "damping",
        "friction",
        "armature",
    ):
        np.testing.assert_array_equal(getattr(robot, name), getattr(copy, name), name)
    for name in ("placements", "inertias", "base_inertia"):
        ours = getattr(robot, name)
        np.testing.assert_allclose(
            getattr(copy, name), ours, rtol=0, atol=2e-15 * max(1.0, np.abs(ours).max(initial=0))
        )
    for ours, theirs in zip(robot.frames, copy.frames, strict=True):
        assert ours[:2] == theirs[:2]
        np.testing.assert_allclose(theirs.placement, ours.placement, rtol=0, atol=2e-15)

    def shapes(r):
        return sorted(r.visuals, key=lambda v: (r.frame_names.index(v.frame), v.collision))

    for ours, theirs in zip(shapes(robot), shapes(copy), strict=True):
        np.testing.assert_allclose(theirs.placement, ours.placement, rtol=0, atol=2e-15)
        assert ours._replace(placement=None) == theirs._replace(placement=None)


@pytest.mark.slow
def test_mimics_obey_their_constraint():
    """Every mimic of the real robots has the coordinate the file's <mimic> gives it."""
    seen = 0
    for path in robots.URDFS:
        robot = load(path)
        q = random_configuration(robot, rng=3)
        for spec in robot.specs:
            if spec.mimic is not None:
                source, multiplier, offset = spec.mimic
                own, lead = (
                    robots.sweep.coordinates(robot, q, robot.body_joint_names.index(n)) for n in (spec.name, source)
                )
                np.testing.assert_allclose(own, multiplier * lead + offset, rtol=1e-15)
                seen += 1
    assert seen > 40


def test_meshes_of_real_robots_are_found():
    robot = load(robots.urdf("g1_29dof_rev"))
    meshes = {v.mesh for v in robot.visuals if v.shape == "mesh"}
    assert len(meshes) > 30 and all(os.path.isfile(mesh) for mesh in meshes)
    assert not robot.findings


def test_the_empty_robot_of_the_collection():
    with pytest.raises(ModelError, match="has no links"):
        load(robots.EMPTY)


# --- one feature each -------------------------------------------------------------------------------------------------


def test_links_without_inertial(write):
    robot = load(write(joined('type="continuous"><axis xyz="0 0 1"/>')))
    assert not robot.inertias.any() and robot.links[1].inertia is None
    assert str(robot.links[1].where).endswith("model.urdf:2")


def test_rotated_inertial_frame(write):
    """The same body stated in its own frame, and in a turned one."""
    inertial = """
        <inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/><mass value="2"/>
        <inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="-0.03" izz="0.5"/></inertial>"""
    links = f'<link name="a"/><link name="b">{inertial}</link>'
    robot = load(write(joined('type="continuous"><axis xyz="0 0 1"/>', links)))
    R = so3.from_rpy([0.4, 0.5, -0.6])
    I = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.5]])
    expected = inertias.from_central(2.0, np.array([0.1, -0.2, 0.3]), R @ I @ R.T)
    np.testing.assert_allclose(robot.inertias[0], expected, rtol=0, atol=1e-16)


def test_inertial_without_tensor_is_a_point_mass(write):
    links = '<link name="a"/><link name="b"><inertial><origin xyz="0 0 1"/><mass value="3"/></inertial></link>'
    robot = load(write(joined('type="continuous"><axis xyz="0 0 1"/>', links)))
    np.testing.assert_array_equal(robot.inertias[0], [3, 0, 0, 3, 3, 0, 0, 3, 0, 0])
    assert codes(robot) == ["no-inertia"]


def test_nested_fixed_joints_merge(write):
    """Two fixed joints in a row: the last link's frame and inertia are in the first moving body."""
    body = """
        <link name="base"/><link name="arm"/><link name="flange"/>
        <link name="tool"><inertial><mass value="2"/>
          <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
        <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
          <limit lower="-1" upper="1" effort="3" velocity="4"/></joint>
        <joint name="f1" type="fixed"><origin xyz="1 0 0" rpy="0 0 1.57079632679"/>
          <parent link="arm"/><child link="flange"/></joint>
        <joint name="f2" type="fixed"><origin xyz="0 2 0"/><parent link="flange"/><child link="tool"/></joint>"""
    robot = load(write(body))
    assert robot.body_names == ("arm",) and robot.frame_names == ("base", "arm", "flange", "tool")
    T = np.array([[0.0, -1, 0, -1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(robot.frame("tool").placement, T)
    expected = inertias.transform(T, inertias.from_central(2.0, np.zeros(3), np.eye(3)))
    np.testing.assert_allclose(robot.inertias[0], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("kind", "ours", "S"),
    [
        ("revolute", "revolute", [[0, 0.6, 0.8, 0, 0, 0]]),
        ("continuous", "continuous", [[0, 0.6, 0.8, 0, 0, 0]]),
        ("prismatic", "prismatic", [[0, 0, 0, 0, 0.6, 0.8]]),
        ("floating", "free", np.eye(6)),
    ],
)
def test_types_of_joints(write, kind, ours, S):
    robot = load(
        write(joined(f'type="{kind}"><axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'))
    )
    assert robot.joint_types == (ours,)
    np.testing.assert_allclose(robot.screws, S, rtol=0, atol=1e-16)
    assert np.isfinite(robot.lower).all() == (kind in ("revolute", "prismatic"))


def test_planar_joint_has_its_axis_as_normal(write):
    robot = load(write(joined('type="planar"><axis xyz="0 1 0"/>')))
    turn, x, y = robot.screws
    np.testing.assert_array_equal(turn, [0, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(np.cross(x[3:], y[3:]), [0, 1, 0], rtol=0, atol=1e-16)
    assert robot.nq == robot.nv == 3


def test_floating_joint_inside_the_tree_moves_as_a_pose(write):
    robot = load(write(joined('type="floating"><origin xyz="1 2 3"/>')))
    q = np.array([0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5])
    ours = robots.placements(robot, q[None])["b"][0]
    np.testing.assert_allclose(
        ours, se3.from_rotation_translation(np.eye(3), np.array([1.0, 2, 3])) @ se3.from_xyz_quat_wxyz(q)
    )


def test_axis_defaults_to_x(write):
    robot = load(write(joined('type="continuous">')))
    np.testing.assert_array_equal(robot.screws, [[1, 0, 0, 0, 0, 0]])
    assert codes(robot) == ["default-axis"]


def test_axis_is_normalised_and_told(write):
    path = write(joined('type="continuous"><axis xyz="0 0 -2"/>'))
    robot = load(path)
    np.testing.assert_array_equal(robot.screws, [[0, 0, -1, 0, 0, 0]])
    assert codes(robot) == ["axis-not-unit"]
    assert robot.findings[0].where == (str(path), 3)


def test_limits_left_out(write):
    robot = load(write(joined('type="revolute"><axis xyz="0 0 1"/>')))
    assert codes(robot) == ["no-limits"]
    assert (robot.lower[0], robot.upper[0], robot.effort_limit[0], robot.velocity_limit[0]) == (-np.inf, *[np.inf] * 3)
    robot = load(write(joined('type="prismatic"><axis xyz="0 0 1"/><limit upper="2" effort="5"/>')))
    assert codes(robot) == ["default-limit"] and "no lower (0), no velocity (unlimited)" in robot.findings[0].message
    assert (robot.lower[0], robot.upper[0], robot.effort_limit[0], robot.velocity_limit[0]) == (0, 2, 5, np.inf)


def test_dynamics(write):
    robot = load(write(joined('type="continuous"><axis xyz="0 0 1"/><dynamics damping="0.5" friction="0.25"/>')))
    assert (robot.damping[0], robot.friction[0], robot.armature[0]) == (0.5, 0.25, 0)


def test_mimics_follow_chains_and_forward_references(write):
    body = """
        <link name="l0"/><link name="l1"/><link name="l2"/><link name="l3"/>
        <joint name="c" type="continuous"><parent link="l0"/><child link="l1"/><axis xyz="0 0 1"/>
          <mimic joint="b" multiplier="2" offset="1"/></joint>
        <joint name="b" type="prismatic"><parent link="l1"/><child link="l2"/><axis xyz="0 0 1"/>
          <mimic joint="a" multiplier="-3" offset="0.5"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
        <joint name="a" type="continuous"><parent link="l2"/><child link="l3"/><axis xyz="0 0 1"/></joint>"""
    robot = load(write(body))
    assert robot.joint_names == ("a",) and robot.nq == 1
    assert robot.mimics == {0: (2, -6.0, 2.0), 1: (2, -3.0, 0.5)}
    q = np.array([0.7])
    T = robots.placements(robot, q[None])["l3"][0]
    np.testing.assert_allclose(T[:3, :3], so3.rotation_z(-6 * 0.7 + 2 + 0.7), rtol=0, atol=1e-15)
    np.testing.assert_allclose(T[:3, 3], [0, 0, -3 * 0.7 + 0.5], rtol=0, atol=1e-15)


def test_mimic_defaults(write):
    body = joined('type="continuous"><axis xyz="0 0 1"/>') + (
        '<link name="c"/><joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>'
        '<mimic joint="j"/></joint>'
    )
    assert load(write(body)).mimics == {1: (0, 1.0, 0.0)}


def test_mimic_of_a_missing_joint_is_told(write):
    robot = load(write(joined('type="continuous"><axis xyz="0 0 1"/><mimic joint="nowhere"/>')))
    assert robot.nv == 1 and codes(robot) == ["missing-mimic"] and robot.findings[0].level == "error"


@pytest.mark.parametrize("angle", ["1.57079632679", "-3.14159265359", "3.14159265358979", "4.71238898038"])
def test_quarter_turns_are_exact(write, angle):
    robot = load(write(joined(f'type="continuous"><origin rpy="{angle} 0 {angle}"/><axis xyz="0 0 1"/>')))
    R = robot.placements[0, :3, :3]
    assert set(np.abs(R).ravel().tolist()) == {0.0, 1.0}
    np.testing.assert_allclose(R, so3.from_rpy([float(angle), 0, float(angle)]), rtol=0, atol=3e-11)


def test_other_angles_are_as_written(write):
    robot = load(write(joined('type="continuous"><origin rpy="1.5708 0.3 3.1416"/><axis xyz="0 0 1"/>')))
    np.testing.assert_allclose(robot.placements[0, :3, :3], so3.from_rpy([1.5708, 0.3, 3.1416]), rtol=0, atol=1e-16)


def test_free_base_and_its_names(write):
    robot = load(write(joined('type="continuous"><axis xyz="0 0 1"/>')), base="free")
    assert robot.joint_names == ("root_joint", "j") and robot.base_name == "world" and robot.nq == 8
    robot = load(write('<link name="world"/>'), base="free")
    assert robot.frame_names == ("world_", "world")


def test_gravity(write):
    path = write('<link name="a"/>')
    np.testing.assert_array_equal(load(path).gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(load(path, gravity=(1, 2, 3)).gravity, [1, 2, 3])


def test_order_is_depth_first_in_the_order_of_the_file(write):
    links = "".join(f'<link name="{n}"/>' for n in "zabcd")
    pairs = [("z", "b"), ("a", "c"), ("z", "a"), ("b", "d")]
    joints = "".join(
        f'<joint name="{p}{c}" type="continuous"><parent link="{p}"/><child link="{c}"/><axis xyz="0 0 1"/></joint>'
        for p, c in pairs
    )
    assert load(write(links + joints)).body_joint_names == ("zb", "bd", "za", "ac")


def test_visuals(write, tmp_path):
    (tmp_path / "m.stl").write_bytes(b"")
    body = """
        <material name="red"><color rgba="1 0 0 1"/></material>
        <link name="a">
          <visual><origin xyz="1 2 3" rpy="0 0 1.57079632679"/><geometry><box size="1 2 3"/></geometry>
            <material name="red"/></visual>
          <visual><geometry><mesh filename="m.stl" scale="1e-3 1e-3 1e-3"/></geometry>
            <material name="own"><color rgba="0 1 0 0.5"/></material></visual>
          <visual><geometry><sphere radius="0.5"/></geometry><material name="own"/></visual>
          <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>
          <collision><geometry><capsule radius="0.1" length="2"/></geometry></collision>
        </link>"""
    robot = load(write(body))
    assert robot.findings == ()
    box, mesh, sphere, cylinder, capsule = robot.visuals
    assert box[2:] == ("box", (1, 2, 3), None, (1, 0, 0, 1), False, "")
    np.testing.assert_array_equal(box.placement, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    assert mesh[2:] == ("mesh", (1e-3,) * 3, str(tmp_path / "m.stl"), (0, 1, 0, 0.5), False, "")
    assert sphere[2:] == ("sphere", (0.5,), None, (0, 1, 0, 0.5), False, "")
    assert cylinder[2:] == ("cylinder", (0.1, 2), None, None, True, "") and capsule.shape == "capsule"
    assert {v.frame for v in robot.visuals} == {"a"}


def mesh(uri: str) -> str:
    return f'<link name="a"><visual><geometry><mesh filename="{uri}"/></geometry></visual></link>'


def test_packages_are_looked_for(tmp_path, monkeypatch):
    """Given folders first, then the model's own package and those beside it, then ROS_PACKAGE_PATH."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)

    def make(*where: str) -> str:
        path = tmp_path.joinpath(*where, "meshes", "m.stl")
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        return str(path)

    model = tmp_path / "src" / "own" / "urdf" / "r.urdf"
    model.parent.mkdir(parents=True)

    def found(package: str, **options) -> str:
        model.write_text(f'<robot name="r">{mesh(f"package://{package}/meshes/m.stl")}</robot>')
        return str(load(model, **options).visuals[0].mesh)

    assert found("own").endswith("src/own/meshes/m.stl")
    own, beside, given, far = make("src", "own"), make("src", "beside"), make("else", "given"), make("ros", "far")
    assert found("own") == own and found("beside") == "package://beside/meshes/m.stl"
    (tmp_path / "src" / "beside" / "package.xml").write_text("<package/>")
    assert found("beside") == beside
    assert found("given") == "package://given/meshes/m.stl"
    assert found("given", package_dirs=[tmp_path / "else"]) == given
    assert found("given", package_dirs=tmp_path / "else" / "given") == given
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere{os.pathsep}{tmp_path / 'ros'}")
    assert found("far") == far


@pytest.mark.parametrize(
    "uri", ["http://x.org/m.stl", "https://x.org/m.stl", "package://no_such/m.stl", "gone.stl", "ftp://x/m.stl"]
)
def test_meshes_that_are_not_there_are_told(write, uri):
    robot = load(write(mesh(uri)))
    assert codes(robot) == ["mesh-missing"] and uri in robot.findings[0].message
    assert str(robot.visuals[0].mesh).endswith(uri)


def test_paths_beside_the_model(tmp_path):
    folder = tmp_path / "pkg" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "pkg" / "m.stl").write_bytes(b"")
    for uri in ("../m.stl", f"file://{tmp_path}/pkg/m.stl", str(tmp_path / "pkg" / "m.stl"), "file://../m.stl"):
        (folder / "r.urdf").write_text(f'<robot name="r">{mesh(uri)}</robot>')
        assert load(folder / "r.urdf").visuals[0].mesh == str(tmp_path / "pkg" / "m.stl")


HOME = ["package://alice/id_rsa", "package://bob/id_rsa", "package://home/bob/id_rsa"]


@pytest.mark.parametrize("uri", [*HOME, "../id_rsa", "../../bob/id_rsa"])
@pytest.mark.parametrize("folder", ["Downloads", "urdf"])
def test_files_of_people_are_no_meshes(uri, folder, tmp_path, monkeypatch):
    """Folders around the model are packages only if they say so, or by name above it; a home never is."""
    for name in ("alice", "bob"):
        (tmp_path / "home" / name).mkdir(parents=True)
        (tmp_path / "home" / name / "id_rsa").write_text("secret")
    home = tmp_path / "home" / "alice"
    monkeypatch.setenv("HOME", str(home))
    (home / "package.xml").write_text("<package/>")
    model = home / folder / "r.urdf"
    model.parent.mkdir()
    model.write_text(f'<robot name="r">{mesh(uri)}</robot>')
    if uri in HOME:
        assert codes(robot := load(model)) == ["mesh-missing"] and robot.visuals[0].mesh == uri
    else:
        robot = load(model)
        assert codes(robot) == ["mesh-outside"]
        with pytest.raises(ModelError, match=r"mesh .* is outside of .*; to allow it, load with package_dirs="):
            mesh_file(robot.visuals[0])


def test_collections_of_robots_in_one_package(tmp_path):
    """Folders inside a package count as packages of their names, as in example-robot-data."""
    model = tmp_path / "all" / "robots" / "arm" / "urdf" / "r.urdf"
    model.parent.mkdir(parents=True)
    model.write_text(f'<robot name="r">{mesh("package://arm/m.stl")}</robot>')
    (tmp_path / "all" / "robots" / "arm" / "m.stl").write_bytes(b"")
    assert load(model).visuals[0].mesh == str(tmp_path / "all" / "robots" / "arm" / "m.stl")
    model.write_text(f'<robot name="r">{mesh("package://robots/arm/m.stl")}</robot>')
    assert codes(load(model)) == ["package-by-name"]  # it has no package.xml, but is above the model, and has the file
    assert mesh_file(load(model).visuals[0]) == str(tmp_path / "all" / "robots" / "arm" / "m.stl")
    (tmp_path / "all" / "package.xml").write_text("<package/>")
    assert load(model).findings == ()
    model.write_text(f'<robot name="r">{mesh("package://robots/arm/gone.stl")}</robot>')
    assert codes(load(model)) == ["mesh-missing"]


def test_materials_of_the_file_count_before_those_of_links(write):
    body = """
        <link name="a">
          <visual><geometry><sphere radius="1"/></geometry><material name="m"/></visual>
          <visual><geometry><sphere radius="1"/></geometry>
            <material name="m"><color rgba="1 0 0 1"/></material></visual>
        </link>
        <material name="m"><color rgba="0 1 0 1"/></material>
        <material name="m"><color rgba="0 1 0 1"/></material>"""
    robot = load(write(body))
    assert [v.color for v in robot.visuals] == [(0, 1, 0, 1), (1, 0, 0, 1)] and robot.findings == ()


def test_known_tags_are_silent_and_unknown_ones_told_once(write):
    body = """
        <link name="a"><colour/></link><link name="b"><colour/></link>
        <transmission name="t"><joint name="j"/></transmission><gazebo reference="a"><visual/></gazebo>
        <ros2_control name="x" type="system"><joint name="j"/></ros2_control>
        <joint name="j" type="fixed"><parent link="a"/><child link="b"/><calibration rising="0"/>
          <safety_controller k_velocity="1"/></joint>
        <limbs/>"""
    path = write(body)
    robot = load(path)
    assert [(f.code, f.where) for f in robot.findings] == [("unknown-tag", (str(path), line)) for line in (2, 7)]
    assert "<colour> in <link>" in robot.findings[0].message and "1 more" in robot.findings[0].message


def test_repeated_tags_are_told(write):
    robot = load(write(joined('type="continuous"><axis xyz="0 1 0"/><axis xyz="0 0 1"/>')))
    np.testing.assert_array_equal(robot.screws, [[0, 1, 0, 0, 0, 0]])
    assert codes(robot) == ["repeated-tag"]


def test_robot_without_a_name(tmp_path):
    (tmp_path / "r.urdf").write_text('<robot><link name="a"/></robot>')
    robot = load(tmp_path / "r.urdf")
    assert robot.name == "robot" and codes(robot) == ["no-name"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(tmp_path, encoding):
    declared = "utf-8" if encoding.startswith("utf-8") else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?><robot name="böt"><link name="ä"/></robot>'
    (tmp_path / "r.urdf").write_bytes(text.encode(encoding))
    robot = load(tmp_path / "r.urdf")
    assert (robot.name, robot.base_name) == ("böt", "ä")


def test_default_namespace_comments_and_suffixes(tmp_path):
    text = '<?pi x?><!-- c --><robot xmlns="http://x.org" name="r"><!-- c --><link name="a"/></robot>'
    for name in ("r.urdf", "r.xml", "r"):
        (tmp_path / name).write_text(text)
        assert load(str(tmp_path / name)).base_name == "a"


@pytest.mark.slow
def test_a_long_chain(write):
    """Ten thousand links in a row are no nesting."""
    n = 10_000
    links = "".join(f'<link name="l{i}"/>' for i in range(n + 1))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/>'
        f"{f'<mimic joint={chr(34)}j{i - 1}{chr(34)}/>' if i else ''}</joint>"
        for i in range(n)
    )
    robot = load(write(links + joints))
    assert len(robot.body_names) == n and robot.nv == 1


# --- out --------------------------------------------------------------------------------------------------------------


def arm(**options) -> Robot:
    options = {"type": "revolute"} | options
    return Robot.builder("arm").link("a").link("b").joint("j", parent="a", child="b", **options).build()


def test_unlimited_joints_and_armature_round_trip(tmp_path):
    for options in ({}, {"lower": -1.0}, {"type": "prismatic", "upper": 2.0}, {"type": "planar", "axis": (0, 1, 0)},
                    {"type": "free"}, {"type": "continuous", "armature": 0.1, "effort": 3.0},
                    {"type": "universal"}):  # fmt: skip
        robot = arm(**options)
        to_urdf(robot, tmp_path / "r.urdf")
        assert_same(robot, load(tmp_path / "r.urdf"))


@pytest.mark.parametrize("leader", [{"lower": -1.0, "upper": 2.0}, {}])
@pytest.mark.parametrize("kind", ["continuous", "revolute", "prismatic"])
@pytest.mark.parametrize("multiplier", [-2.0, 0.0, 1.0])
def test_mimics_round_trip(leader, kind, multiplier, tmp_path):
    """A follower has the limits its leader gives it, where URDF has limits; with the multiplier 0 it stays."""
    builder = Robot.builder("r").link("a").link("b").link("c").joint("j", "revolute", "a", "b", **leader)
    robot = builder.joint("k", kind, "b", "c", mimic=("j", multiplier, 0.5)).build()
    text = to_urdf(robot, tmp_path / "r.urdf")
    assert "nan" not in text
    assert_same(robot, load(tmp_path / "r.urdf"))
    limited = kind != "continuous" and (leader or multiplier == 0)
    lower, upper = sorted([0.5 - multiplier, 0.5 + 2 * multiplier])
    assert (f'lower="{lower:g}" upper="{upper:g}"' in text) == bool(limited)


def test_meshes_round_trip_with_the_folder_that_the_finding_names(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "m.stl").write_bytes(b"")
    (tmp_path / "one" / "r.urdf").write_text(f'<robot name="r">{mesh("m.stl")}</robot>')
    robot = load(tmp_path / "one" / "r.urdf")
    to_urdf(robot, tmp_path / "two" / "r.urdf")
    (found,) = load(tmp_path / "two" / "r.urdf").findings
    assert found.code == "mesh-outside"
    named = found.message.split("to allow it, load with package_dirs=['")[1].split("']")[0]
    assert_same(robot, load(tmp_path / "two" / "r.urdf", package_dirs=[named]))


def test_one_folder_allows_all_meshes_outside(tmp_path):
    for name in ("a/one.stl", "b/deep/two.stl", "c/urdf/r.urdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    shapes = [mesh(f"../../{name}").replace('"a"', f'"l{k}"') for k, name in enumerate(("a/one.stl", "b/deep/two.stl"))]
    ends = '<joint name="j" type="fixed"><parent link="l0"/><child link="l1"/></joint>'
    (tmp_path / "c/urdf/r.urdf").write_text(f'<robot name="r">{"".join(shapes)}{ends}</robot>')
    (found,) = load(tmp_path / "c/urdf/r.urdf").findings
    assert "as is 1 other file" in found.message
    named = found.message.split("package_dirs=['")[1].split("']")[0]
    robot = load(tmp_path / "c/urdf/r.urdf", package_dirs=[named])
    assert robot.findings == () and [mesh_file(v).endswith(".stl") for v in robot.visuals] == [True, True]


def test_files_that_cannot_be_written(tmp_path):
    lost = tmp_path / "no" / "r.urdf"
    for path, words in ((lost, f"{lost}: cannot be written: No such file"), (tmp_path, f"'{tmp_path}' is a folder")):
        with pytest.raises(ModelError, match=words):
            to_urdf(arm(), path)


def test_screws_that_urdf_can_say(tmp_path):
    turning, sliding = arm(type="screw", screw=[0, 0, 1, 0, 0, 0]), arm(type="screw", screw=[0, 0, 0, 0, 1, 0])
    for robot, kind in ((turning, "revolute"), (sliding, "prismatic")):
        to_urdf(robot, tmp_path / "r.urdf")
        copy = load(tmp_path / "r.urdf")
        assert copy.joint_types == (kind,)
        np.testing.assert_array_equal(copy.screws, robot.screws)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"type": "helical", "pitch": 0.1}, "joint 'j' .*helical"),
        ({"type": "revolute", "screw": [0, 0, 1, 0, 1, 0]}, "joint 'j' .*misses the origin.*reframed"),
        ({"type": "spherical"}, "joint 'j' .*no spherical joints; there are revolute"),
        ({"type": "planar", "damping": (1, 2, 3)}, "joint 'j' .*damping differs"),
        ({"type": "planar", "lower": -1.0}, "joint 'j' .*no limits of planar"),
    ],
)
def test_joints_that_urdf_cannot_say(options, message):
    with pytest.raises(ModelError, match=message):
        to_urdf(arm(**options))


def test_names_are_escaped_or_refused(tmp_path):
    robot = Robot.builder('<"&>').link("a & b").build()
    to_urdf(robot, tmp_path / "r.urdf")
    assert load(tmp_path / "r.urdf") == robot
    with pytest.raises(ModelError, match="characters XML cannot hold"):
        to_urdf(Robot.builder("r").link("a\0").build())


def test_mass_without_moments_and_moments_without_mass(tmp_path):
    light = Robot.builder().link("a", [0, 0, 0, 0, 1, 0, 0, 1, 0, 1]).build()
    to_urdf(light, tmp_path / "r.urdf")
    assert_same(light, load(tmp_path / "r.urdf"))
    with pytest.raises(ModelError, match="link 'a': it has moments of mass but no mass"):
        to_urdf(Robot.builder().link("a", [0, 1, 0, 0, 1, 0, 0, 1, 0, 1]).build())


# --- load -------------------------------------------------------------------------------------------------------------


def test_load_takes_paths_and_texts(write):
    path = write('<link name="ä"/>')
    assert load(str(path)) == load(path) == load(path.read_text())
    assert load(f'<?xml version="1.0" encoding="latin-1"?>\n{path.read_text()}') == load(path)
    with pytest.raises(ModelError, match=r"^text:1: "):
        load('<robot name="r"/>')
    with pytest.raises(ModelError, match=r"^text:1: is not well-formed"):
        load("<robot")
    for wrong in (3, None, [path]):
        with pytest.raises(AdjointError, match="path must be a str"):
            load(wrong)


def test_a_text_has_no_package_of_its_own(tmp_path, monkeypatch):
    """Its names are relative to the current folder, which it may read from only if it is given."""
    (tmp_path / "m.stl").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    text = f'<robot name="r">{mesh("m.stl")}</robot>'
    (found,) = load(text).findings
    assert found.code == "mesh-outside" and "is in none of package_dirs" in found.message
    assert mesh_file(load(text, package_dirs=["."]).visuals[0]) == str(tmp_path / "m.stl")


def test_frames_of_drake_and_spherical_joints():
    robot = load("""<robot name="r"><link name="a"/><link name="b"/><frame name="f" link="b" xyz="1 2 3" rpy="0 0 1"/>
        <joint name="j" type="spherical"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/>
        <dynamics damping="0.5"/></joint></robot>""")
    assert robot.joint_types == ("spherical",) and np.all(robot.damping == 0.5)
    T = forward_kinematics.eager(robot, neutral(robot), "f")
    np.testing.assert_allclose(T[:3, 3], [1, 2, 4], atol=1e-15)
    np.testing.assert_allclose(T[:2, 0], [np.cos(1), np.sin(1)], atol=1e-15)


def test_links_without_mass_are_errors_for_the_doctor_only():
    robot = load('<robot name="r"><link name="a"><inertial><inertia ixx="1"/></inertial></link></robot>')
    assert not robot.base_inertia.any() and [f.level for f in robot.findings] == ["error"]


@pytest.mark.parametrize("limits", [0, 0.5, float("nan"), float("inf"), "2", None])
def test_limits_are_factors(limits):
    with pytest.raises(AdjointError, match=r"limits is .*; it must be a number of 1 or more"):
        load('<robot name="r"><link name="a"/></robot>', limits=limits)


def test_limits_can_be_raised():
    text = f'<robot name="r"><link name="a"/>{" " * xml_files.SIZE_LIMIT}</robot>'
    with pytest.raises(ModelError, match=r"bytes; at most 8388608 are read; .*load\(..., limits=2\) allows it"):
        load(text)
    assert load(text, limits=2).base_name == "a"


def test_home_is_expanded(write, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    robot = load(write('<link name="a"/>'))
    assert load("~/model.urdf") == robot
    to_urdf(robot, "~/copy.urdf")
    assert load(tmp_path / "copy.urdf") == robot
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "m.stl").write_bytes(b"")
    found = load(write(mesh("package://pkg/m.stl")), package_dirs="~/pkg")
    assert found.visuals[0].mesh == str(tmp_path / "pkg" / "m.stl")


def test_mjcf_is_told_apart_by_its_root(tmp_path):
    text = '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'
    for name in ("m.xml", "m.mjcf"):
        (tmp_path / name).write_text(text)
        assert load(tmp_path / name).joint_names == ("j",)


def test_neutral_is_the_home_of_the_file(write):
    robot = load(write(joined('type="continuous"><origin xyz="0 0 1"/><axis xyz="0 0 1"/>')))
    assert robots.placements(robot, neutral(robot)[None])["b"][0, 2, 3] == 1


def test_others_read_what_is_written(tmp_path):
    """Armature alone makes a <dynamics> that Pinocchio's reader accepts."""
    robot = catalog.puma560().reframed("joint")
    to_urdf(robot, tmp_path / "puma.urdf")
    model = robots.pin.buildModelFromUrdf(str(tmp_path / "puma.urdf"))
    assert model.nv == 6
    np.testing.assert_array_equal(load(tmp_path / "puma.urdf").armature, robot.armature)
