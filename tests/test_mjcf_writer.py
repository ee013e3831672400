"""MJCF that is written: MuJoCo's dynamics of it are ours, and reading it gives the same robot."""

# pyright: reportAttributeAccessIssue=false
# (mujoco's and lxml's compiled modules have no types)

import mujoco
import numpy as np
import pytest
from lxml import etree
from support.robots import urdf
from support.trees import sample

import adjoint as aj
from adjoint import robots
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, se3, so3
from adjoint.model import Frame, ModelError, Robot, Visual, load, to_mjcf
from adjoint.sweep import coordinates, rates

TYPES = ("revolute", "continuous", "prismatic", "planar", "spherical", "free", "universal")
REAL = ("ur5_robot", "panda", "g1_29dof_rev", "talos_full_v2.", "kinova")


def random_robot(seed: int) -> Robot:
    """A random tree of all joints that MJCF has, with losses that it can have."""
    rng = np.random.default_rng(seed)
    robot = robots.random_tree(rng, 14, TYPES).reframed("joint")
    losses = {name: np.array(getattr(robot, name)) for name in ("damping", "armature")}
    for body in robot.bodies:
        for numbers in losses.values():
            numbers[body.joint.v] = rng.uniform(0.1, 1)
        if body.joint.type == "planar":
            losses["damping"][body.joint.v.start] *= 2  # its turn may differ from its slides
    return robot.replace(gravity=rng.normal(size=3) * 5, **losses)


ROBOTS = [
    *(pytest.param(random_robot(seed), id=f"tree{seed}") for seed in range(4)),
    *(
        pytest.param(load(urdf(name), base=base).replace(visuals=()), id=f"{name}-{base}", marks=pytest.mark.slow)
        for name in REAL
        for base in ("fixed", "free")
    ),
]


# --- the two models side by side --------------------------------------------------------------------------------------


class Pair:
    """MuJoCo's model of a robot, without constraints, and the maps to it: qvel = G v, qacc = G a + drift."""

    def __init__(self, robot: Robot):
        self.robot = robot
        self.model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)

    def set(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Put MuJoCo's model at (q, v), and return G (MuJoCo's nv, nv) and the drift."""
        G, drift = np.zeros((self.model.nv, self.robot.nv)), np.zeros(self.model.nv)
        all_rates = np.eye(self.robot.nv)
        for i, body in enumerate(self.robot.bodies):
            own, speed = coordinates(self.robot, q, i), rates(self.robot, v, i)
            rows = rates(self.robot, all_rates, i)
            for name, qpos, block, moved in _parts(self.robot, body, own, speed):
                joint = self.model.joint(name)
                self.data.qpos[joint.qposadr[0] : joint.qposadr[0] + len(qpos)] = qpos
                at = slice(joint.dofadr[0], joint.dofadr[0] + len(block))
                G[at], drift[at] = block @ rows, moved
        self.data.qvel[:] = G @ v
        return G, drift


def _parts(robot, body, q, v):
    """(MuJoCo's joint, its qpos, B (its nv, nv), drift) with qvel = B v and qacc = B a + drift, for a body's joint."""
    name, kind = body.joint.name, body.joint.type
    if kind == "planar":
        R = so3.rotation_z(q[2])
        block = np.concatenate([np.zeros((2, 1)), R[:2, :2]], axis=1)
        drift = np.cross([0, 0, v[0]], R @ [*v[1:], 0])[:2]
        return [
            (f"{name}.x", q[:1], block[:1], drift[:1]), (f"{name}.y", q[1:2], block[1:], drift[1:]),
            (name, q[2:], np.eye(3)[:1], np.zeros(1)),
        ]  # fmt: skip
    if kind == "free":
        T = se3.from_xyz_quat_wxyz(q)
        T = body.M @ T if body.parent < 0 else T
        R, turns, shifts = T[:3, :3], np.eye(6)[:3], np.eye(6)[3:]
        drift = R @ np.cross(v[:3], v[3:])
        if body.parent < 0:
            pose = np.concatenate([T[:3, 3], so3.to_quat_wxyz(R)])
            return [(name, pose, np.concatenate([R @ shifts, turns]), np.concatenate([drift, np.zeros(3)]))]
        slides = [(f"{name}.{c}", q[k : k + 1], (R @ shifts)[k : k + 1], drift[k : k + 1]) for k, c in enumerate("xyz")]
        return [*slides, (name, q[3:], turns, np.zeros(3))]
    return [(name, q, np.eye(len(v)), np.zeros(len(v)))]


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_dynamics_of_mujoco_are_ours(robot):
    pair, smooth = Pair(robot), robot.replace(friction=0.0)
    model, data = pair.model, pair.data
    for seed in range(3):
        q, v, tau = sample(robot, seed)
        G, drift = pair.set(q, v)
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        ours = aj.mass_matrix.eager(robot, q)
        np.testing.assert_allclose(G.T @ M @ G, ours, rtol=0, atol=1e-12 * np.abs(ours).max())
        bias = aj.inverse_dynamics.eager(smooth, q, v, np.zeros(robot.nv))
        theirs = G.T @ (data.qfrc_bias - data.qfrc_passive + M @ drift)
        np.testing.assert_allclose(
            theirs, bias, rtol=0, atol=1e-12 * max(np.abs(bias).max(), np.abs(data.qfrc_bias).max())
        )
        if robot.mimics:
            continue  # MuJoCo's followers move on their own, but for its constraints
        data.qfrc_applied[:] = np.linalg.solve(G.T, tau)
        mujoco.mj_forward(model, data)
        a = aj.forward_dynamics.eager(smooth, q, v, tau)
        # Rounding of the forces, about 1e-14 of them, times the condition of M, which is 1e4 at least for humanoids.
        np.testing.assert_allclose(data.qacc, G @ a + drift, rtol=0, atol=1e-10 * np.abs(data.qacc).max())


@pytest.mark.parametrize("robot", ROBOTS)
def test_frames_are_where_they_were(robot):
    pair = Pair(robot)
    q, v, _ = sample(robot, 4)
    pair.set(q, v)
    mujoco.mj_kinematics(pair.model, pair.data)
    merged = {name for name in robot.body_names if mujoco.mj_name2id(pair.model, mujoco.mjtObj.mjOBJ_BODY, name) < 0}
    for name in set(robot.body_names) - merged - {"world"}:
        T = aj.forward_kinematics.eager(robot, q, name)
        found = pair.data.body(name)
        np.testing.assert_allclose(found.xpos, T[:3, 3], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.xmat.reshape(3, 3), T[:3, :3], rtol=0, atol=1e-12)
    for frame in robot.frames:
        T = aj.forward_kinematics.eager(robot, q, frame.name)
        np.testing.assert_allclose(pair.data.site(frame.name).xpos, T[:3, 3], rtol=0, atol=1e-12)


# --- and back ---------------------------------------------------------------------------------------------------------

SAME = (
    "name", "body_names", "body_joint_names", "joint_types", "parents", "lower", "upper", "damping", "friction",
    "armature", "effort_limit", "gravity", "placements", "screws", "inertias", "base_inertia",
)  # fmt: skip


def plain(seed: int) -> Robot:
    """A random tree of joints that MJCF has itself, in MuJoCo's order."""
    tree = robots.random_tree(seed, 8, ["revolute", "continuous", "prismatic", "spherical"]).reframed("joint")
    robot = load(to_mjcf(tree))
    effort = np.array(robot.effort_limit)
    for body in robot.bodies:
        effort[body.joint.v] = np.inf if body.joint.type == "spherical" else 5.0 + body.index
    return robot.replace(effort_limit=effort)


@pytest.mark.parametrize(
    "robot",
    [
        *(pytest.param(plain(seed), id=f"tree{seed}") for seed in range(4)),
        *(
            pytest.param(load(urdf(name), base="free").replace(visuals=()), id=name)
            for name in ("panda", "talos_full_v2.")
        ),
    ],
)
def test_reading_gives_the_same_robot(robot):
    again = load(to_mjcf(robot))
    for field in SAME:
        ours, theirs = getattr(robot, field), getattr(again, field)
        if isinstance(ours, np.ndarray) and ours.dtype == float:
            np.testing.assert_allclose(theirs, ours, rtol=1e-14, atol=1e-14, err_msg=field)
        else:
            assert np.array_equal(ours, theirs), field
    assert again.mimics == dict(robot.mimics)
    ours = {frame.name: (frame.body, frame.placement) for frame in robot.frames}
    theirs = {frame.name: (frame.body, frame.placement) for frame in again.frames}
    assert ours.keys() <= theirs.keys()
    for name, (body, placement) in ours.items():
        assert theirs[name][0] == body
        np.testing.assert_allclose(theirs[name][1], placement, rtol=0, atol=1e-14)


def arm(**options) -> Robot:
    builder = Robot.builder("arm").link("base").link("upper", inertia.box(1.0, (0.1, 0.2, 0.3)))
    return builder.joint("shoulder", "revolute", "base", "upper", **options).build()


def test_limits_of_one_side_and_joints_that_cannot_move():
    for lower, upper in ((-np.inf, 1.0), (0.5, np.inf), (-1.0, 2.0)):
        again = load(to_mjcf(arm(lower=lower, upper=upper)))
        assert (again.lower[0], again.upper[0]) == (lower, upper)
    again = load(to_mjcf(arm(lower=0.3, upper=0.3, effort=0.0)))
    np.testing.assert_allclose([again.lower[0], again.upper[0]], 0.3, rtol=1e-15)
    assert again.effort_limit[0] <= 1e-300


def test_joints_of_massless_bodies_become_joints_of_the_next_body():
    robot = Robot.builder("hip").link("base").link("yaw").link("roll").link("thigh", inertia.box(1.0, (0.1, 0.2, 0.3)))
    turn = se3.exp.eager(np.array([0.3, 0.2, -0.5, 0.1, 0.2, 0.3]))
    robot.joint("a", "revolute", "base", "yaw", turn).joint("b", "prismatic", "yaw", "roll", turn, axis=(1, 0, 0))
    robot.joint("c", "revolute", "roll", "thigh", turn, axis=(0, 1, 0))
    robot = robot.build()
    text = to_mjcf(robot)
    bodies = etree.fromstring(text).findall(".//body")
    assert [body.get("name") for body in bodies] == ["base", "thigh"] and len(bodies[1].findall("joint")) == 3
    again, (q, v, tau) = load(text), sample(robot)
    np.testing.assert_allclose(aj.forward_dynamics(again, q, v, tau), aj.forward_dynamics(robot, q, v, tau), rtol=1e-11)
    T = aj.forward_kinematics(robot, q, "thigh")
    np.testing.assert_allclose(aj.forward_kinematics(again, q, "thigh"), T, rtol=0, atol=1e-14)


def test_a_robot_read_from_mjcf_is_written_and_read_as_it_was():
    text = """<mujoco model="m"><worldbody><body name="b"><joint name="j1"/><joint name="j2" axis="1 0 0" pos="0 0 1"/>
              <inertial pos="0 0 0.2" mass="2" diaginertia="1 2 2.5"/><site name="s" pos="1 2 3"/></body></worldbody>
              </mujoco>"""
    robot = load(text)
    assert load(to_mjcf(robot)) == robot


def test_names_are_escaped_and_unique():
    name = "a<b> & \"c\" 'd' é/\t"
    builder = Robot.builder(name).link("base").link(name, inertia.box(1.0, (0.1, 0.2, 0.3)))
    builder.joint(name, "revolute", "base", name).frame(name + "!", name)
    again = load(to_mjcf(builder.build()))
    assert (again.name, again.body_names, again.body_joint_names) == (name, (name,), (name,))
    assert name + "!" in again.frame_names
    planar = Robot.builder("p").link("base").link("world", inertia.box(1.0, (0.1, 0.2, 0.3)))
    planar.link("b", inertia.box(1.0, (0.1, 0.2, 0.3))).joint("j", "planar", "base", "world")
    planar.joint("j.x", "revolute", "world", "b")
    again = load(to_mjcf(planar.build()))
    assert again.body_joint_names == ("j.x_", "j.y", "j", "j.x") and "world_" in again.body_names


def test_shapes_are_written_where_they_were():
    T = se3.exp.eager(np.array([0.3, 0.2, -0.5, 0.1, 0.2, 0.3]))
    shapes = [
        Visual("upper", T, "box", (0.1, 0.2, 0.3), color=(1.0, 0.5, 0.25, 1.0)), Visual("upper", T, "sphere", (0.1,)),
        Visual("upper", T, "cylinder", (0.1, 0.4), collision=True), Visual("tip", T, "capsule", (0.1, 0.4)),
        Visual("base", T, "sphere", (0.2,)), Visual("upper", T, "mesh", (1.0, 1.0, 1.0), "arm.stl"),
    ]  # fmt: skip
    robot = arm().replace(visuals=shapes, frames=(Frame("tip", 0, T),))
    again = load(to_mjcf(robot))
    want = [x for x in shapes if x.shape != "mesh"]
    assert len(again.visuals) == len(want)
    q = np.array([0.7])
    for one in want:
        alike = [x for x in again.visuals if (x.shape, x.collision) == (one.shape, one.collision)]
        poses = [aj.forward_kinematics(again, q, x.frame) @ x.placement for x in alike]
        pose = aj.forward_kinematics(robot, q, one.frame) @ one.placement
        assert any(np.allclose(x, pose, rtol=0, atol=1e-14) for x in poses)
        assert any(np.allclose(x.size, one.size, rtol=1e-15) for x in alike)
    np.testing.assert_allclose(again.inertias, robot.inertias, rtol=1e-14, atol=1e-16)  # shapes add no mass


def test_a_thin_plate_has_the_moments_that_it_has():
    plate = arm().replace(inertias=inertia.from_central(1.0, np.zeros(3), np.diag([0.1, 0.2, 0.1 + 0.2]))[None])
    np.testing.assert_allclose(load(to_mjcf(plate)).inertias, plate.inertias, rtol=1e-15)


# --- files ------------------------------------------------------------------------------------------------------------


def test_the_file_is_the_text(tmp_path):
    file = tmp_path / "arm.xml"
    text = to_mjcf(arm(), file)
    assert file.read_text(encoding="utf-8") == text and load(file) == load(text)
    assert [x.name for x in tmp_path.iterdir()] == ["arm.xml"]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(ModelError, match="cannot be written: No such file"):
        to_mjcf(arm(), tmp_path / "no folder" / "arm.xml")
    with pytest.raises(ModelError, match="is no path"):
        to_mjcf(arm(), "a\0b")
    with pytest.raises(ArgumentError, match="path must be a str"):
        to_mjcf(arm(), 3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="to_mjcf needs a Robot"):
        to_mjcf("arm")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


# --- what MJCF cannot express -----------------------------------------------------------------------------------------


def with_joint(kind: str, **options) -> Robot:
    builder = Robot.builder("r").link("base").link("b", inertia.box(1.0, (0.1, 0.2, 0.3)))
    return builder.joint("j", kind, "base", "b", **options).build()


TURNED = se3.exp.eager(np.array([0.3, 0.2, -0.5, 0.1, 0.2, 0.3]))
BALL = np.eye(6)[:3] @ se3.Ad.eager(TURNED).T


@pytest.mark.parametrize(
    ("robot", "says"),
    [
        (with_joint("helical", pitch=0.1), r"joint 'j' \(helical\): it moves along its axis as it turns"),
        (with_joint("spherical", screw=BALL), r"its frame is not the body's; use robot.reframed\(\"joint\"\)"),
        (with_joint("free", screw=se3.Ad.eager(TURNED).T), "its frame is not the body's"),
        (with_joint("spherical", damping=(1, 2, 3)), "its damping differs between its degrees of freedom; MJCF"),
        (with_joint("planar", armature=(1, 2, 3)), "its armature differs"),
        (with_joint("free", lower=(-1.0,) * 3 + (-np.inf,) * 4), "MJCF has no limits of free joints"),
        (arm().replace(lower=[1.0], upper=[-1.0]), "its lower limit, 1, is above its upper limit, -1"),
        (arm().replace(inertias=np.zeros((1, 10))), "body 'upper': it moves and has no mass"),
        (arm().replace(inertias=[[1.0] + [0] * 9]), "its least moment of inertia is 0 kg m²"),
        (arm().replace(inertias=[[0.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]]), "it moves and has no mass"),
        (arm().replace(inertias=[[1.0, 0, 0, 0, 1, 0, 0, 1, 0, 3]]), r"no body has its principal moments, 1 \+ 1 < 3"),
        (arm().replace(base_inertia=[0.0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), "body 'base': it has moments, but no mass"),
        (arm().replace(name="a\0"), "has characters XML cannot hold"),
    ],
)  # fmt: skip
def test_what_mjcf_cannot_express(robot, says):
    with pytest.raises(ModelError, match=says):
        to_mjcf(robot)


def test_reframing_helps_where_it_is_said_to():
    robot = with_joint("spherical", screw=BALL).reframed("joint")
    assert load(to_mjcf(robot)).joint_types == ("spherical",)
