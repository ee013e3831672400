"""Each command: its numbers are those of the library, its files are read by other commands, its failures are told."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.command_line import adjoint, as_json, refused
from support.pages import data_of
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint import trajectory
from adjoint.cli import racing, robots, showing
from adjoint.lie import se3
from adjoint.viewer import live

PUMA = aj.robots.puma560()
Q = "0.1,-0.8,1.6,0.2,0.5,-0.3"
q = np.array([0.1, -0.8, 1.6, 0.2, 0.5, -0.3])
T = aj.forward_kinematics(PUMA, q, "tool")
GOAL = "1,-0.8,2,0.3,0.7,0"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_data_are_in_radians_and_say_so():
    """--degrees is about what is given and about tables; data that programs read have one unit."""
    degrees = (",".join(map(str, np.degrees(q))), "--degrees")
    for name in ("fk", "jacobian", "torque"):
        data = as_json(name, "puma560", "--q", *degrees)
        assert data["units"] == "SI, angles in rad"
        close(data["q"], q, 1e-14)
    pose = as_json("ik", "puma560", "--pose", ",".join(map(str, T.ravel())), "--near", *degrees)
    assert pose["units"] == "SI, angles in rad"
    close(next(x["q"] for x in pose["solutions"] if x["branch"] == pose["nearest"]), q, 1e-9)
    assert as_json("simulate", "puma560", "--duration", "0.01")["units"] == "SI, angles in rad"
    table = adjoint("torque", "puma560", "--q", "0,30deg,90,0,0,0", "--degrees").stdout
    assert "angles in deg" in table and re.search(r"joint2 +30 ", table) and re.search(r"joint3 +90 ", table)


MESHES = """<robot name="m">
<link name="a"><visual><geometry><mesh filename="package://far/x.stl"/></geometry></visual></link>
<link name="b"><visual><geometry><mesh filename="../x.stl"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_messages_name_options_and_not_arguments_of_python(here):
    (here / "m.urdf").write_text(MESHES)
    (here / "d.csv").write_text("time,foo\n1,2\n2,3\n")
    said = adjoint("check", "m.urdf", code=0).stdout
    assert "give its folder by --package-dir" in said and f"to allow it, give --package-dir '{here.parent}'" in said
    for name in ("identify", "calibrate"):
        said += refused(name, "puma560", "d.csv")
        assert said.endswith("(--column OURS=THEIRS)\n")
    said += refused("ik", "puma560", "--pose", "0.4,0.1,0.3,0,0,0", "--redundancy", "1")
    assert "leave --redundancy out" in said
    with aj.view(PUMA, open_browser=False) as shown:
        port = shown.url.rpartition(":")[2]
        said += adjoint("view", "puma560", "--port", port, code=2).stderr
    assert f"port {port} is in use; without --port, the first free one is taken" in said
    assert "package_dirs" not in said and "columns=" not in said


# --- models -----------------------------------------------------------------------------------------------------------


def test_info():
    text, data = adjoint("info", "puma560").stdout, as_json("info", "puma560")
    assert text.startswith("puma560: 6 bodies, 6 joints (nq 6, nv 6), 8 frames\n") and "36.45 kg" in text
    assert data["mass"] == PUMA.mass and [joint["name"] for joint in data["joints"]] == list(PUMA.joint_names)
    close([joint["lower"][0] for joint in data["joints"]], PUMA.lower, 0)
    assert data["joints"][0]["effort"] == [None]  # there is no limit
    assert data["operations"]["inverse_dynamics"] == aj.inverse_dynamics.bind(PUMA).operations._asdict()
    some = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 1000, rng=5), "tool")[:, :3, 3]
    assert 0.95 < np.linalg.norm(some, axis=1).max() / data["reach"] < 1.05


@pytest.mark.slow
def test_info_of_trees_mimics_and_free_bases():
    text = adjoint("info", "panda").stdout
    assert "├─ panda_leftfinger" in text and "1 × panda_finger_joint1" in text
    data = as_json("info", urdf("go2"), "--base", "free")
    assert data["joints"][0]["q"] == list(range(7)) and data["joints"][0]["v"] == list(range(6))
    assert as_json("info", "random_tree:0:14")["nv"] == aj.robots.random_tree(0, 14).nv


@pytest.mark.slow
def test_info_of_a_long_chain():
    data = as_json("info", "chain:20000")
    assert data["nv"] == 20000 and "inverse_dynamics" in data["operations"] and data["reach"] is None
    assert "... and 19800 more" in adjoint("info", "chain:20000").stdout


def test_check(here):
    assert "impossible-inertia" in adjoint("check", "puma560").stdout
    adjoint("check", "puma560", "--strict", code=1)
    data = as_json("check", "puma560", "--strict", code=1)
    assert not data["ok"] and data["findings"][0]["code"] == "impossible-inertia"
    assert as_json("check", "stanford", "--strict")["ok"]
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    Path("bad.urdf").write_text(
        f'<robot name="bad">\n<link name="a">\n<inertial><mass value="-1"/>{inertia}</inertial></link></robot>'
    )
    found = as_json("check", "bad.urdf", code=1)["findings"][0]
    assert found["level"] == "error" and found["line"] == 2 and found["file"].endswith("bad.urdf")


@pytest.mark.parametrize(
    "target", ["arm.urdf", "arm.xml", "arm.dh.toml", "arm.dh.json", "arm.poe.toml", "arm.poe.json"]
)
def test_convert_and_back(target, here):
    arm = aj.robots.stanford()
    adjoint("convert", "stanford", target)
    again = robots.find_robot(target)
    x = aj.random_configuration(arm, 10, rng=0)
    close(aj.forward_kinematics(again, x, "tool"), aj.forward_kinematics(arm, x, "tool"), 1e-9)
    close(aj.mass_matrix(again, x), aj.mass_matrix(arm, x), 1e-9)


def test_convert_to_read(here):
    assert "alpha [deg]" in adjoint("convert", "puma560", "-", "--to", "dh").stdout
    assert "body form" in adjoint("convert", "puma560", "-", "--to", "poe", "--form", "body").stdout
    assert adjoint("convert", "puma560", "-", "--to", "urdf").stdout.lstrip().startswith("<")
    adjoint("convert", "puma560", "puma.dh.txt")
    assert "0.4318" in Path("puma.dh.txt").read_text()
    assert "must end in .json, .toml, .txt" in refused("convert", "puma560", "puma.pdf", "--to", "dh")


# --- kinematics -------------------------------------------------------------------------------------------------------


def test_fk():
    data = as_json("fk", "puma560", "--q", Q)
    close(data["T"], T, 0)
    close(data["position"], T[:3, 3], 0)
    close(aj.lie.so3.from_rpy(np.array(data["rpy"])), T[:3, :3], 1e-14)
    close(aj.lie.so3.from_quat_wxyz(np.array(data["quat_wxyz"])), T[:3, :3], 1e-14)
    degrees = ",".join(repr(x) for x in np.degrees(q).tolist())
    close(as_json("fk", "puma560", "--q", degrees, "--degrees")["T"], T, 1e-14)
    relative = as_json("fk", "puma560", "--q", Q, "--frame", "link5", "--relative-to", "link2")["T"]
    close(relative, aj.forward_kinematics(PUMA, q, "link5", relative_to="link2"), 0)
    text = adjoint("fk", "puma560", "--q", Q).stdout
    assert all(f"{x:.6g}" in text for x in T[:3, 3])


def test_fk_of_files_and_pipes(here):
    many = aj.random_configuration(PUMA, 30, rng=0)
    np.savetxt("q.csv", many, delimiter=",")
    wanted = aj.forward_kinematics(PUMA, many, "tool")
    adjoint("fk", "puma560", "--q", "q.csv", "--out", "poses.npz")
    with np.load("poses.npz") as arrays:
        close(arrays["T"], wanted, 1e-12)
    table = adjoint("fk", "puma560", "--q", "-", "--out", "-", input=Path("q.csv").read_text()).stdout.splitlines()
    assert table[0] == ",".join([*(f"q_joint{k}" for k in range(1, 7)), "x", "y", "z", "qw", "qx", "qy", "qz"])
    rows = np.array([[float(x) for x in line.split(",")] for line in table[1:]])
    close(rows[:, 6:9], wanted[:, :3, 3], 1e-12)
    text = adjoint("fk", "puma560", "--q", "q.csv").stdout
    assert len(text.splitlines()) == 22 and "... and 10 more" in text


def test_jacobian(here):
    close(as_json("jacobian", "puma560", "--q", Q)["J"], aj.jacobian(PUMA, q, "tool"), 0)  # defaults agree
    source = aj.jacobian.bind(PUMA, frame="tool").source("c")
    assert as_json("compile", "puma560", "--function", "jacobian")["source"] == source
    for expressed in ("world", "body", "space"):
        data = as_json("jacobian", "puma560", "--q", Q, "--expressed", expressed)
        close(data["J"], aj.jacobian(PUMA, q, "tool", expressed), 0)
    close(data["singular_values"], np.linalg.svd(aj.jacobian(PUMA, q, "tool", "space"))[1], 1e-12)
    assert "singular values" in adjoint("jacobian", "puma560", "--q", Q).stdout
    adjoint("jacobian", "puma560", "--q", f"{Q};0", "--out", "J.csv")
    assert np.loadtxt("J.csv", delimiter=",", skiprows=1).shape == (2, 42)
    assert len(adjoint("jacobian", "puma560", "--q", f"{Q};0").stdout.splitlines()) == 3


def pose_text(form: str) -> str:
    """The pose of the tool at q, in one of the forms that --pose takes."""
    R, p = T[:3, :3], T[:3, 3]
    numbers = {
        "rpy": [*p, *aj.lie.so3.to_rpy(R)],
        "quaternion": [*p, *aj.lie.so3.to_quat_wxyz(R)],
        "rows": T[:3].ravel(),
        "matrix": T.ravel(),
    }
    return ",".join(repr(float(x)) for x in numbers[form])


@pytest.mark.parametrize("form", ["rpy", "quaternion", "rows", "matrix"])
def test_ik_lists_all_branches(form):
    data = as_json("ik", "puma560", "--pose", pose_text(form), "--near", Q)
    wanted = aj.inverse_kinematics(PUMA, T, "tool")
    assert len(data["solutions"]) == 8
    for row, reference in zip(data["solutions"], aj.inverse.within_limits(PUMA, wanted).exact, strict=True):
        assert row["exact"] and row["within_limits"] == reference
        close(aj.forward_kinematics(PUMA, np.array(row["q"]), "tool"), T, 1e-9)
    close(data["solutions"][data["nearest"]]["q"], q, 1e-9)
    text = adjoint("ik", "puma560", "--pose", pose_text(form), "--near", Q).stdout
    assert re.search(rf"^> {data['nearest']} ", text, re.MULTILINE) and "LEFT ABOVE" in text


def test_ik_out_of_reach():
    data = as_json("ik", "puma560", "--pose", "2,0,0,0,0,0", code=1)
    assert data["nearest"] == -1 and not any(row["exact"] for row in data["solutions"])
    assert "no reach" in adjoint("ik", "puma560", "--pose", "2,0,0,0,0,0", code=1).stdout
    assert "1 of 1 poses" in adjoint("ik", "puma560", "--pose", "2,0,0", code=1).stderr


@pytest.mark.slow
def test_ik_without_a_closed_form():
    data = as_json("ik", "puma560", "--pose", "0.4,0.15,0.3")
    assert data["method"] == "numeric"
    close(aj.forward_kinematics(PUMA, np.array(data["q"][0]), "tool")[:3, 3], [0.4, 0.15, 0.3], 1e-7)
    panda = robots.find_robot("panda")
    wanted = aj.forward_kinematics(panda, aj.random_configuration(panda, rng=1), "panda_hand")
    pose = ",".join(map(repr, wanted.ravel().tolist()))
    done = adjoint("ik", "panda", "--frame", "panda_hand", "--pose", pose, "--json")
    assert "a pose leaves one number free" in done.stderr
    close(aj.forward_kinematics(panda, np.array(json.loads(done.stdout)["q"][0]), "panda_hand"), wanted, 1e-7)
    numeric = as_json("ik", "puma560", "--pose", pose_text("rpy"), "--numeric")
    close(aj.forward_kinematics(PUMA, np.array(numeric["q"][0]), "tool"), T, 1e-7)


@pytest.mark.slow
def test_ik_of_files(here):
    many = aj.random_configuration(PUMA, 5, rng=0)
    np.savetxt("q.csv", many, delimiter=",")
    wanted = aj.forward_kinematics(PUMA, many, "tool")
    for poses in ("poses.csv", "poses.npz"):
        adjoint("fk", "puma560", "--q", "q.csv", "--out", poses)
        adjoint("ik", "puma560", "--pose", poses, "--out", "found.csv")
        found = np.loadtxt("found.csv", delimiter=",", skiprows=1)
        close(aj.forward_kinematics(PUMA, found, "tool"), wanted, 1e-9)
    text = adjoint("ik", "puma560", "--pose", "-", input=Path("poses.csv").read_text()).stdout
    assert text.count("found") == 5
    Path("x.csv").write_text("a,b\n1,2\n")
    assert "has no columns of poses" in refused("ik", "puma560", "--pose", "x.csv")


# --- forces -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_torque(here):
    close(as_json("torque", "puma560", "--q", Q)["tau"], aj.gravity_torque(PUMA, q), 1e-12)
    data = as_json("torque", "puma560", "--q", Q, "--v", "1", "--a", "0,1,2,3,4,5", "--payload", "2.5")
    loaded = PUMA.with_payload("tool", aj.lie.inertia.sphere(2.5, 0.0))
    close(data["tau"], aj.inverse_dynamics(loaded, q, np.ones(6), np.arange(6.0)), 1e-12)
    pushed = as_json("torque", "puma560", "--q", Q, "--wrench", "0,0,0,0,0,10")["tau"]
    wanted = aj.inverse_dynamics(PUMA, q, 0 * q, 0 * q, frames="tool", applied_wrenches=[0, 0, 0, 0, 0, 10.0])
    close(pushed, wanted, 1e-12)
    moon = as_json("torque", "puma560", "--q", Q, "--gravity", "1.62")["tau"]
    close(np.array(moon) * 9.81 / 1.62, aj.gravity_torque(PUMA, q), 1e-9)
    assert "% of limit" in adjoint("torque", "panda").stdout


@pytest.mark.slow
def test_torque_writes_recordings_that_identify_reads(here):
    rng = np.random.default_rng(0)
    arm = aj.robots.planar(2)
    rows = np.concatenate([aj.random_configuration(arm, 200, rng=0), *rng.normal(size=(2, 200, 2))], axis=1)
    names = [f"{field}_{joint}" for field in "qva" for joint in arm.joint_names]
    np.savetxt("states.csv", rows, delimiter=",", header=",".join(names), comments="")
    given = ["--q", "states.csv", "--v", "states.csv", "--a", "states.csv"]
    adjoint("torque", "planar:2", *given, "--out", "recording.csv")
    adjoint("torque", "planar:2", *given)
    data = as_json("identify", "planar:2", "recording.csv", "--out", "better.urdf")
    assert data["samples"] == 200 and min(data["r_squared"]) > 0.999999
    base = aj.base_parameters(arm, joints=("armature", "damping", "friction", "offset"))
    assert len(data["parameters"]) == base.rank
    x = rows[:, :2]
    close(aj.mass_matrix(aj.load("better.urdf"), x), aj.mass_matrix(arm, x), 1e-3)
    assert "Identification of 'planar2'" in adjoint("identify", "planar:2", "recording.csv").stdout


@pytest.mark.slow
def test_identify_from_positions_alone(here):
    arm = aj.robots.planar(2).replace(damping=0.3)
    motion = aj.identification.excitation(aj.robots.planar(2), duration=8.0, rounds=0)
    time, x, v, a = motion.samples(200.0)
    table = np.column_stack([time, x, aj.inverse_dynamics(arm, x, v, a)])
    np.savetxt("log.csv", table, delimiter=",", header="t,q_joint1,q_joint2,tau_joint1,tau_joint2", comments="")
    assert "--cutoff" in refused("identify", "planar:2", "log.csv", "--column", "time=t")
    found = as_json("identify", "planar:2", "log.csv", "--column", "time=t", "--cutoff", "20")
    damping = next(row for row in found["parameters"] if row["name"].startswith("damping_joint2"))
    assert damping["estimate"] == pytest.approx(0.3, rel=0.05)
    assert "OURS=THEIRS" in refused("identify", "planar:2", "log.csv", "--column", "t")


@pytest.mark.slow
def test_calibrate(here):
    rng = np.random.default_rng(0)
    true = PUMA.replace(placements=PUMA.placements @ se3.exp(3e-3 * rng.normal(size=(6, 6))))
    x = aj.random_configuration(PUMA, 40, rng=rng)
    aj.calibration.write_measurements("poses.csv", PUMA, x, aj.forward_kinematics(true, x, "tool"))
    data = as_json("calibrate", "puma560", "poses.csv", "--out", "better.dh.toml", "--report", "report.json")
    assert data["rank"] == aj.calibrate(PUMA, "tool", x, aj.forward_kinematics(true, x, "tool")).rank
    assert json.loads(Path("report.json").read_text())
    better = robots.find_robot("better.dh.toml").mounted(np.array(data["base"]))
    other = aj.random_configuration(PUMA, 10, rng=rng)
    close(aj.forward_kinematics(better, other, "tool"), aj.forward_kinematics(true, other, "tool"), 1e-6)
    text = adjoint("calibrate", "puma560", "poses.csv", "--estimate", "offsets base", "--noise", "1e-3,1e-3").stdout
    assert text.startswith("Calibration of 'puma560', frame 'tool', from 40 poses")
    assert "'offset'" in refused("calibrate", "puma560", "poses.csv", "--estimate", "offset")
    assert "--noise" in refused("calibrate", "puma560", "poses.csv", "--noise", "a")


# --- motions ----------------------------------------------------------------------------------------------------------

MADE = {
    "cubic": ["--goal", GOAL, "--duration", "2"],
    "quintic": ["--goal", GOAL, "--duration", "2"],
    "septic": ["--goal", GOAL, "--duration", "2"],
    "trapezoidal": ["--goal", GOAL, "--velocity", "2", "--acceleration", "5"],
    "s_curve": ["--goal", GOAL, "--velocity", "2", "--acceleration", "5", "--jerk", "50"],
    "spline": ["--via", "0;0.2;0.1", "--duration", "2"],
    "minimum_time_spline": ["--via", "0;0.2;0.1", "--velocity", "2", "--acceleration", "5", "--jerk", "50"],
    "time_optimal": ["--via", "0;0.2;0.5", "--velocity", "2", "--acceleration", "5"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_trajectory_make(kind, here):
    data = as_json("trajectory", "make", "puma560", "--kind", kind, *MADE[kind], "--out", "move.npz")
    motion = trajectory.Trajectory.load("move.npz", PUMA)
    assert data["duration"] == motion.duration and data["limits_hold"]
    ends = {"spline": 0.1, "minimum_time_spline": 0.1, "time_optimal": 0.5}
    close(motion(motion.duration).q, ends.get(kind, np.array([1, -0.8, 2, 0.3, 0.7, 0])), 1e-9)
    assert np.abs(motion(0.0).q).max() < 1e-12


def test_trajectory_is_that_of_the_library(here):
    adjoint("trajectory", "make", "puma560", "--start", Q, "--goal", GOAL, "--duration", "1.5", "--out", "move.json")
    wanted = trajectory.quintic(q, [1, -0.8, 2, 0.3, 0.7, 0], duration=1.5)
    close(trajectory.Trajectory.load("move.json").coefficients, wanted.coefficients, 0)


@pytest.mark.slow
def test_trajectory_line(here):
    goal = T @ se3.exp([0, 0, 0, 0.0, 0.05, -0.1])
    pose = ",".join(map(repr, goal.ravel().tolist()))
    words = ["--kind", "line", "--start", Q, "--pose", pose, "--duration", "2"]
    adjoint("trajectory", "make", "puma560", *words, "--out", "line.npz")
    motion = trajectory.Trajectory.load("line.npz", PUMA)
    way = aj.forward_kinematics(PUMA, motion(np.linspace(0, 2, 20)).q, "tool")[:, :3, 3] - T[:3, 3]
    along = goal[:3, 3] - T[:3, 3]
    assert np.abs(np.cross(way, along / np.linalg.norm(along))).max() < 2e-6
    assert np.abs(way[-1] - along).max() < 2e-6
    far = refused("trajectory", "make", "puma560", *words[:-3], "9,0,0,0,0,0", "--duration", "2", code=1)
    assert "out of reach" in far
    assert "needs --pose" in refused("trajectory", "make", "puma560", "--kind", "line", "--duration", "1")


@pytest.mark.slow
def test_trajectory_check_and_retime(here):
    adjoint("trajectory", "make", "puma560", "--goal", GOAL, "--duration", "1.5", "--out", "move.npz")
    adjoint("trajectory", "check", "puma560", "move.npz")
    text = adjoint("trajectory", "check", "puma560", "move.npz", "--velocity", "2", code=1).stdout
    assert "limit exceeded: velocity of joint 'joint3' is 2.5 rad/s" in text and "over" in text
    assert not as_json("trajectory", "check", "puma560", "move.npz", "--velocity", "2", code=1)["limits_hold"]
    data = as_json("trajectory", "retime", "puma560", "move.npz", "--duration", "3", "--out", "slow.npz")
    assert data["duration"] == 3.0
    adjoint("trajectory", "check", "puma560", "slow.npz", "--velocity", "2")
    fast = as_json(
        "trajectory", "retime", "puma560", "move.npz", "--fastest", "--acceleration", "5", "--out", "fast.npz"
    )
    assert fast["limits_hold"] and fast["worst"]["kind"] == "acceleration" and fast["worst"]["relative"] > -1e-6
    assert fast["duration"] == pytest.approx(2 * np.sqrt(2 / 5), rel=1e-3)  # 2 rad from rest to rest at 5 rad/s²
    assert "either --duration or --fastest" in refused("trajectory", "retime", "puma560", "move.npz")
    assert "degrees of freedom" in refused("trajectory", "check", "planar:2", "move.npz")


def test_trajectory_sample_and_plot(here):
    adjoint("trajectory", "make", "puma560", "--goal", GOAL, "--duration", "1", "--out", "move.npz")
    lines = adjoint("trajectory", "sample", "puma560", "move.npz", "--rate", "10").stdout.splitlines()
    assert len(lines) == 12 and lines[0].startswith("time,q_joint1") and lines[0].endswith("tau_joint6")
    row = np.array([float(x) for x in lines[6].split(",")])
    at = trajectory.Trajectory.load("move.npz")(row[0])
    close(row[1:], np.concatenate([at.q, at.v, at.a, aj.inverse_dynamics(PUMA, at.q, at.v, at.a)]), 1e-9)
    adjoint("trajectory", "sample", "puma560", "move.npz", "--out", "move.csv")
    assert "tau" in as_json("torque", "puma560", "--q", "move.csv", "--v", "move.csv", "--a", "move.csv")


@pytest.mark.slow
def test_pictures(here):
    adjoint("trajectory", "make", "puma560", "--goal", GOAL, "--duration", "1", "--out", "move.npz")
    adjoint("trajectory", "plot", "puma560", "move.npz", "--out", "move.png")
    adjoint("simulate", "puma560", "--trajectory", "move.npz", "--plot", "run.png", "--animate", "run.html")
    assert Path("move.png").read_bytes()[:4] == Path("run.png").read_bytes()[:4] == b"\x89PNG"
    assert Path("run.html").read_text().lstrip().lower().startswith("<!doctype html")


# --- simulation -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_simulate_freely():
    data = as_json("simulate", "puma560", "--start", Q, "--duration", "0.5")
    run = aj.simulate(PUMA, q=q, duration=0.5, dt=0.001)
    close(data["q"], run.q[-1], 0)
    close(data["energy"]["end"], run.energy.total[-1], 1e-9)
    assert data["controller"] == "none" and "error" not in data
    text = adjoint("simulate", "puma560", "--start", Q, "--duration", "0.5", "--integrator", "rk4").stdout
    assert "puma560, none: 0.5 s in 500 steps" in text


@pytest.mark.slow
def test_simulate_under_control(here):
    for controller in ("pd", "computed-torque"):
        data = as_json("simulate", "puma560", "--goal", GOAL, "--controller", controller, "--frequency", "20")
        close(data["q"], [1, -0.8, 2, 0.3, 0.7, 0], 1e-3)
        assert np.abs(data["error"]).max() < 1e-3
    motion = trajectory.quintic(0 * q, [1, -0.8, 2, 0.3, 0.7, 0], 1.0, robot=PUMA)
    law = aj.control.computed_torque(PUMA, motion, kp=400.0)
    wanted = aj.simulate(PUMA, law, q=0 * q, duration=2.0, dt=0.001)
    close(data["q"], wanted.q[-1], 1e-12)
    motion.save("move.npz")
    same = as_json("simulate", "puma560", "--trajectory", "move.npz", "--frequency", "20", "--out", "run.npz")
    assert same["duration"] == 1.0
    close(aj.simulation.Run.load("run.npz", PUMA).q[-1], wanted.q[1000], 1e-12)
    weak = as_json("simulate", "panda", "--goal", "0,0,0,-1.5,0,1.5,0,0", "--duration", "0.2", "--saturate")
    assert np.all(np.array(weak["largest_tau"]) <= robots.find_robot("panda").effort_limit + 1e-9)
    assert "either --goal or --trajectory" in refused("simulate", "puma560", "--goal", "1", "--trajectory", "move.npz")


def test_a_run_that_does_not_stay_finite_fails():
    words = ["simulate", "puma560", "--goal", "1", "--controller", "pd", "--kp", "1e9", "--kd", "1e9", "--dt", "0.01"]
    assert not as_json(*words, code=1)["finite"]
    said = adjoint(*words, code=1).stderr
    assert re.search(r"the simulation diverged: numbers are not finite from [\d.]+ s on, and joint 'joint\d'", said)
    assert "--saturate: robot 'puma560' has no effort limits" in refused(*words, "--saturate")


def test_accelerations_that_jump_are_told():
    words = ["trajectory", "make", "puma560", "--goal", "1,0,0.5,0,0,0", "--acceleration", "5", "--velocity", "1"]
    rows = {line.split()[0]: line.split()[-1] for line in adjoint(*words, "--kind", "trapezoidal").stdout.splitlines()}
    assert rows["joint1"] == rows["joint3"] == "jumps" and rows["joint2"] == "0"
    assert "jumps" not in adjoint(*words, "--kind", "s_curve", "--jerk", "50").stdout
    assert "jumps" not in adjoint(*words[:5], "--duration", "1").stdout


# --- mathematics ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_equations(here):
    text = adjoint("equations", "two_link").stdout
    assert (
        "cos(q2) + 5/3" in text
        and text.rstrip() == str(aj.equations.equations_of_motion(aj.robots.two_link())).rstrip()
    )
    assert r"\cos" in adjoint("equations", "two_link", "--to", "latex", "--symbols").stdout
    adjoint("equations", "two_link", "--out", "page.html")
    adjoint("equations", "two_link", "--out", "page.tex")
    assert "<math" in Path("page.html").read_text() and r"\begin" in Path("page.tex").read_text()
    assert "latex" in as_json("equations", "two_link")
    assert "--out equations.html" in refused("equations", "two_link", "--to", "html")


@pytest.mark.slow
def test_compile(here):
    bound = aj.forward_dynamics.bind(PUMA)
    for language in ("c", "llvm", "asm"):
        adjoint("compile", "puma560", "--function", "forward_dynamics", "--to", language, "--out", "fd.txt")
        assert Path("fd.txt").read_text().strip() == bound.source(language).strip()
    data = as_json("compile", "puma560", "--function", "jacobian", "--expressed", "body")
    assert data["source"] == aj.jacobian.bind(PUMA, frame="tool", expressed="body").source("c")
    assert data["operations"] == aj.jacobian.bind(PUMA, frame="tool", expressed="body").operations._asdict()
    assert "void slope(" in adjoint("compile", "two_link", "--derivative", "q", "--name", "slope").stdout
    assert "'x'" in refused("compile", "two_link", "--derivative", "x")


# --- races, pages, the cache ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_bench_compares_before_it_races():
    data = as_json("bench", "stanford", "--seconds", "0.002")
    assert data["peers"] == ["pinocchio", "mujoco"]
    for row in data["seconds"].values():
        assert "pinocchio" in row["peers"]
        for entry in row["peers"].values():
            assert 0 <= entry["difference"] < 1e-6 and entry["ratio_call"] == entry["call"] / row["call"] > 0
    text = adjoint("bench", "panda", "--seconds", "0.002").stdout
    assert "×batch" in text and "results of pinocchio differ by at most" in text


@pytest.mark.slow
def test_bench_of_one_joint():
    rows = as_json("bench", "planar:1", "--seconds", "0.001")["seconds"]
    assert all("pinocchio" in row["peers"] for row in rows.values())


@pytest.mark.slow
def test_bench_tells_who_differs(monkeypatch):
    wrong = {"mass_matrix": racing.Call(lambda: None, lambda: np.zeros((6, 6)))}
    monkeypatch.setattr(racing, "_pinocchio", lambda task: wrong)
    monkeypatch.setattr(racing, "_mujoco", lambda task: (_ for _ in ()).throw(ImportError("No module named 'mujoco'")))
    done = adjoint("bench", "stanford", "--seconds", "0.002", code=1)
    assert "differs" in done.stdout and "results differ: pinocchio: mass_matrix" in done.stderr
    assert "mujoco does not take part: No module named 'mujoco'; pip install mujoco" in done.stderr


def test_view_is_served_until_ctrl_c(monkeypatch):
    def press(_):
        raise KeyboardInterrupt

    opened = []
    monkeypatch.setattr(showing.webbrowser, "open", opened.append)
    monkeypatch.setattr(live, "time", SimpleNamespace(sleep=press))
    for words, count in (((), 0), (("--no-open",), 0), (("--open",), 1)):  # by default, tests open nothing
        opened.clear()
        done = adjoint("view", "planar:2", *words)
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+", done.stdout)
        assert opened == [url] * count
    with aj.view(PUMA, open_browser=False) as first:  # its port is taken, so that the next one is
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+", adjoint("view", "planar:2").stdout)
        assert url != first.url
    assert "--port" in adjoint("view", "planar:2", "--port", "0", code=2).stderr
    assert "no-such-host" in adjoint("view", "planar:2", "--host", "no-such-host.invalid", code=2).stderr


def test_view_saves_pages(here):
    folder = Path("other")
    folder.mkdir()
    for path in ("run.npz", folder / "run.npz"):
        aj.simulate(PUMA, q=q, duration=0.01, dt=0.001).save(path)
    for path in ("move.npz", folder / "move.npz"):
        trajectory.quintic(0 * q, q, 1.0).save(path)
    adjoint("view", "puma560", "--run", "run.npz", "--save", "run.html")
    assert [x["name"] for x in data_of(Path("run.html").read_text())["actors"]] == ["passive"]
    runs, moves = ("run.npz", "other/run.npz"), ("move.npz", "other/move.npz")
    options = [word for x in runs for word in ("--run", x)] + [word for x in moves for word in ("--trajectory", x)]
    adjoint("view", "puma560", *options, "--save", "all.html")
    names = [x["name"] for x in data_of(Path("all.html").read_text())["actors"]]
    assert names == ["run", "other/run.npz", "move", "other/move.npz"]
    assert "--save: run.txt must end in .html" in adjoint("view", "puma560", "--save", "run.txt", code=2).stderr
    assert not Path("run.txt").exists()


@pytest.mark.slow
def test_demo(here, monkeypatch):
    opened = []
    monkeypatch.setattr(showing.webbrowser, "open", opened.append)
    text = adjoint("demo", "--folder", "shown", "--open").stdout
    page = Path("shown/puma.html").read_text()
    assert (
        "all limits hold" in text
        and page.count("<iframe") == 1
        and opened == [Path("shown/puma.html").absolute().as_uri()]
    )
    errors = [float(x) for x in re.findall(r"tool off by ([\d.]+) mm at most", text)]
    assert errors[1] < errors[0] < 50
    for line in re.findall(r"^  adjoint (.*)$", text, re.MULTILINE):  # the commands that it ends with
        adjoint(*line.split())
    assert aj.simulation.Run.load("shown/pd.npz", showing._puma()).finite


def test_demos_that_cannot_be_shown_are_named(here):
    assert "there is no demo 'zoo'; there are arm and cell" in adjoint("demo", "zoo", code=2).stderr
    assert "--goal is for the cell" in adjoint("demo", "--goal", "(on red green)", code=2).stderr
    assert "there is no object 'pink'" in adjoint("demo", "cell", "--goal", "(on red pink)", code=2).stderr


def test_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "cache"))
    aj.forget()
    assert adjoint("cache", "where").stdout.strip() == aj.cache_info().path == as_json("cache", "info")["path"]
    adjoint("fk", "planar:2", "--q", "0.1")
    count = as_json("cache", "info")["entries"]
    assert count > 0 and f"functions  {count}" in adjoint("cache", "info").stdout
    assert adjoint("cache", "clear").stdout.startswith(f"deleted {count} compiled")
    assert as_json("cache", "clear") == {"deleted": 0}


@pytest.mark.slow
def test_demo_of_a_cell(here):
    text = adjoint("demo", "cell", "--folder", "shown", "--seed", "5", "--goal", "(on red green)").stdout
    assert "camera: 16 photos" in text and "run (stack puma red green)" in text
    page = Path("shown/cell.html").read_text()
    assert "It was reached in" in page and page.count("<iframe") == 1
    assert "no demo 'cel'" in adjoint("demo", "cel", code=2).stderr
