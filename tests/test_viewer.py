"""The live viewer: the numbers behind it, and the page itself in a real browser."""

import socket
import subprocess
import sys
import threading
import time
import webbrowser
from types import SimpleNamespace

import numpy as np
import pytest
from support.browser import Browser
from support.command_line import environment

import adjoint as aj
from adjoint import robots
from adjoint.drawing.axes import upright
from adjoint.errors import ArgumentError, MissingPackageError
from adjoint.lie import inertia, se3, so3
from adjoint.program.teaching import Lesson
from adjoint.viewer import Viewer, live, looks, overlays, reaching, swinging, view
from adjoint.viewer.clips import clips_of, poses_of_clip
from adjoint.viewer.joint_panel import knobs_of, random_pose, reading, turned
from adjoint.viewer.playback_panel import APART, grid

PUMA = robots.puma560()
Q = np.radians([30, -45, 120, 20, 40, -60])
TWISTS = np.pi / 2 * np.array([-1, 1, 1, -1, -1, 1, 0])
ROWS = [[0, d, 0, twist] for d, twist in zip((0.36, 0, 0.42, 0, 0.4, 0, 0.126), TWISTS, strict=True)]
SEVEN = aj.from_dh(ROWS, lower=-2.9, upper=2.9)
Q7 = np.array([0.3, 0.6, -0.2, -1.4, 0.4, 0.9, 0.1])


# --- sliders ----------------------------------------------------------------------------------------------------------


def odd_robot():
    """One joint of every kind that has sliders, on a free base."""
    builder, before = aj.Robot.builder("odd", base="fixed").link("base"), "base"
    for k, kind in enumerate(("free", "revolute", "prismatic", "spherical", "planar", "revolute")):
        axis = {} if kind in ("free", "spherical") else {"axis": (0, 0, 1)}
        limits = {"lower": -0.5, "upper": 1.5} if kind in ("revolute", "prismatic") else {}
        builder.link(f"b{k}", inertia=inertia.sphere(1.0, 0.1)).joint(f"j{k}", kind, before, f"b{k}", **axis, **limits)
        before = f"b{k}"
    return builder.build()


def test_knobs_show_degrees_and_millimetres():
    knobs = knobs_of(odd_robot())
    assert [k.label.rpartition(" ")[2] for k in knobs] == ["[°]", "[mm]", *3 * ["[°]"], "[mm]", "[mm]", "[°]", "[°]"]
    assert (knobs[0].low, knobs[0].high) == pytest.approx((np.degrees(-0.5), np.degrees(1.5)))
    assert (knobs[1].low, knobs[1].high) == pytest.approx((-500, 1500))


def test_a_knob_reads_what_it_was_turned_to():
    robot, rng = odd_robot(), np.random.default_rng(0)
    for knob in knobs_of(robot):
        q = aj.random_configuration(robot, rng=1)
        half = 0.4 * (knob.high - knob.low) if knob.part is None else 60.0
        value = (knob.low + knob.high) / 2 + rng.uniform(-half, half)
        then = turned(knob, q if knob.part is None else aj.neutral(robot), value)
        assert reading(knob, then) == pytest.approx(value)
    assert np.array_equal(turned(knobs_of(PUMA)[2], Q, 90.0), np.where(np.arange(6) == 2, np.pi / 2, Q))


def test_a_knob_takes_full_turns_off():
    knob = knobs_of(robots.planar(1))[0]
    assert reading(knob, np.array([2 * np.pi + 0.5])) == pytest.approx(np.degrees(0.5))
    assert reading(knobs_of(PUMA)[0], np.full(6, 9.0)) == knobs_of(PUMA)[0].high  # it has limits


def test_random_leaves_free_bodies_in_place():
    robot, q = odd_robot(), aj.random_configuration(odd_robot(), rng=3)
    found = random_pose(robot, q)
    assert np.array_equal(found[:7], q[:7]) and np.abs(found[7:9] - q[7:9]).min() > 0


# --- inverse kinematics -----------------------------------------------------------------------------------------------


def pose_error(robot, q, frame, T) -> float:
    return float(np.abs(aj.forward_kinematics(robot, q, frame) - T).max())


def test_a_pose_is_reached_in_the_nearest_branch():
    way = reaching.way_of(PUMA, "tool")
    assert len(way.branches) == 8 and "above" in way.branches[0] and way.redundancy is None
    T = aj.forward_kinematics(PUMA, Q, "tool")
    here = reaching.reach(PUMA, way, T, Q)
    assert here.reached and np.allclose(here.q, Q)
    T[:3, 3] += [0.02, -0.03, 0.01]
    near = reaching.reach(PUMA, way, T, Q)
    assert near.reached and near.branch == here.branch and pose_error(PUMA, near.q, "tool", T) < 1e-9


def test_branches_are_all_there_is():
    way, T = reaching.way_of(PUMA, "tool"), aj.forward_kinematics(PUMA, Q, "tool")
    here = reaching.reach(PUMA, way, T, Q)
    assert here.exists.all() and 1 < here.inside.sum() < 8
    for k in range(8):
        there = reaching.in_branch(PUMA, way, T, Q, k, None)
        assert there.reached == here.inside[k]
        if there.reached:
            assert there.branch == k and pose_error(PUMA, there.q, "tool", T) < 1e-9
            assert (there.q >= PUMA.lower - 1e-9).all() and (there.q <= PUMA.upper + 1e-9).all()
        else:
            assert np.array_equal(there.q, Q) and "does not exist" in there.text
    assert not reaching.in_branch(PUMA, way, T, Q, 99, None).reached


def test_a_pose_out_of_reach_is_told_and_approached():
    way = reaching.way_of(PUMA, "tool")
    T = aj.forward_kinematics(PUMA, Q, "tool")
    before = np.linalg.norm(T[:3, 3] - [3.0, 0, 0])
    T[:3, 3] = [3.0, 0, 0]
    found = reaching.reach(PUMA, way, T, Q)
    assert not found.reached and found.text == "out of reach" and not found.exists.any()
    assert (found.q >= PUMA.lower - 1e-9).all() and (found.q <= PUMA.upper + 1e-9).all()
    assert np.linalg.norm(aj.forward_kinematics(PUMA, found.q, "tool")[:3, 3] - [3.0, 0, 0]) < before


@pytest.mark.slow
def test_the_redundancy_of_seven_joints_leaves_the_pose():
    way, T = reaching.way_of(SEVEN, "tool"), aj.forward_kinematics(SEVEN, Q7, "tool")
    assert way.redundancy is not None and way.low < 0 < way.high
    same = reaching.reach(SEVEN, way, T, Q7)
    assert np.allclose(same.q, Q7)
    psi = float(aj.inverse.redundancy_of(SEVEN, Q7, "tool"))
    turned_about = reaching.reach(SEVEN, way, T, Q7, psi + 0.3)
    assert turned_about.reached and pose_error(SEVEN, turned_about.q, "tool", T) < 1e-9
    assert np.abs(turned_about.q - Q7).max() > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("robot", [robots.scara(), robots.planar(3), robots.chain(40)], ids=lambda r: r.name)
def test_other_robots_follow_by_steps(robot):
    frame = robot.frame_names[-1]
    way = reaching.way_of(robot, frame)
    assert way.branches == ()
    q = np.clip(np.full(robot.nq, 0.2), robot.lower, robot.upper)
    then = np.clip(q + 0.1 * np.cos(np.arange(robot.nq)), robot.lower, robot.upper)
    T = aj.forward_kinematics(robot, then, frame)
    found = reaching.reach(robot, way, T, q)
    off = np.linalg.norm(aj.forward_kinematics(robot, found.q, frame)[:3, 3] - T[:3, 3])
    assert found.reached and off < 1e-3


# --- overlays ---------------------------------------------------------------------------------------------------------


def test_inertia_ellipsoids_have_the_inertia_of_their_bodies():
    robot = robots.random_tree(1, 5)
    found = overlays.inertia_ellipsoids(robot, aj.neutral(robot))
    mass, _, tensor = inertia.central(robot.inertias)
    T = aj.forward_kinematics(robot, aj.neutral(robot))
    for k in range(5):
        R = so3.from_quat_wxyz(found.wxyz[k])
        squares = found.axes[k] ** 2
        own = mass[k] / 5 * (squares.sum() - squares)
        assert np.allclose(T[k, :3, :3].T @ (R * own) @ R.T @ T[k, :3, :3], tensor[k], atol=1e-9 * own.max() + 1e-12)


def test_ellipsoids_of_velocity_and_force_are_dual():
    J = aj.jacobian(PUMA, Q, "tool", "world")[3:]
    velocity = overlays.tool_ellipsoid(PUMA, Q, "tool", 1.0)
    force = overlays.tool_ellipsoid(PUMA, Q, "tool", 1.0, force=True)
    R = so3.from_quat_wxyz(velocity.wxyz[0])
    D = R.T @ (J @ J.T) @ R
    assert np.allclose(D, np.diag(np.diagonal(D)), atol=1e-12)
    assert np.allclose(velocity.axes[0], np.sqrt(np.diagonal(D)) / np.sqrt(D.max()))
    product = velocity.axes[0] * force.axes[0]
    assert np.allclose(product, product[0])


def test_axes_stay_where_their_joint_turns():
    arrows, turns = overlays.joint_axes(PUMA, Q, 0.3)
    assert turns.all() and np.allclose(np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1), 0.3)
    for k in range(6):
        then, _ = overlays.joint_axes(PUMA, Q + 0.4 * (np.arange(6) == k), 0.3)
        assert np.allclose(then[: k + 1], arrows[: k + 1])
    assert not overlays.joint_axes(robots.stanford(), np.zeros(6), 1.0)[1].all()


def test_arrows_of_the_jacobian_are_velocities():
    arrows, h = overlays.tool_arrows(PUMA, Q, "tool", 1.0), 1e-6
    moved = [aj.forward_kinematics(PUMA, Q + h * (np.arange(6) == k), "tool")[:3, 3] for k in range(6)]
    rates = (np.array(moved) - arrows[0, 0]) / h
    assert np.allclose(arrows[:, 1] - arrows[:, 0], rates / np.linalg.norm(rates, axis=1).max(), atol=1e-5)


def test_the_workspace_is_inside_the_reach():
    cloud = overlays.workspace(PUMA, "tool", 2000)
    extent = looks.extent_of(PUMA, looks.look_of(PUMA), Q)
    assert cloud.points.shape == (2000, 3) and (cloud.measure >= 0).all() and (cloud.measure <= 1).all()
    assert np.linalg.norm(cloud.points, axis=1).max() < 1.2 * extent.reach


def test_frames_that_stay_together_have_one_label():
    assert overlays.frame_groups(PUMA)[0] == (0, "base, link1")


# --- looks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [PUMA, robots.chain(50), robots.random_tree(3, 6)], ids=lambda r: r.name)
def test_spots_are_where_their_bodies_are(robot):
    look = looks.look_of(robot)
    q = aj.random_configuration(robot, 3, rng=0)
    poses = looks.poses_of(robot, look, q)
    n = len(robot.body_names)
    T = aj.forward_kinematics(robot, q)
    assert np.allclose(poses.xyz[:, :n], T[..., :3, 3], atol=1e-5)
    assert np.allclose(so3.from_quat_wxyz(poses.wxyz[:, :n].astype(float)), T[..., :3, :3], atol=1e-5)


def test_equal_links_are_one_part():
    assert len(looks.look_of(robots.chain(100)).parts) <= 3


def test_atoms_of_a_molecule_are_few_parts():
    helix = aj.polymer.polypeptide("AGSAGS", phi=np.radians(-57.8), psi=np.radians(-47.0))
    look, q = looks.look_of(helix.robot), helix.q + 0.3
    assert len(look.parts) < 20 < len(look.bodies)
    balls = [p for p in look.parts if np.ptp(np.linalg.norm(p.mesh.vertices, axis=1)) < 1e-4]
    spots = np.concatenate([p.spots for p in balls])
    shown, atoms = looks.poses_of(helix.robot, look, q).xyz[spots], helix.positions(q)
    assert len(shown) == len(atoms)
    away = np.linalg.norm(shown[:, None] - atoms, axis=-1)
    assert away.min(axis=0).max() < 1e-4 and away.min(axis=1).max() < 1e-4
    oxygen = next(k for k, e in enumerate(helix.elements) if e == "O")
    colors = np.concatenate([p.colors for p in balls])
    assert np.ptp(colors[away.argmin(axis=0)[[k for k, e in enumerate(helix.elements) if e == "O"]]], axis=0).max() == 0
    assert colors[away.argmin(axis=0)[oxygen]][0] > 0.5  # red


def test_all_kinds_of_solids_are_drawn_together():
    builder = aj.Robot.builder("solids", base="fixed").link("base")
    sizes = {"sphere": (0.1,), "cylinder": (0.1, 0.3), "capsule": (0.1, 0.3), "box": (0.1, 0.2, 0.3)}
    for k in range(80):
        builder.link(f"b{k}", inertia=inertia.sphere(1.0, 0.1))
        builder.joint(f"j{k}", "revolute", f"b{k - 1}" if k else "base", f"b{k}", axis=(0, 0, 1))
    kinds = list(sizes)
    visuals = [aj.model.Visual(f"b{k}", np.eye(4), kinds[k % 4], sizes[kinds[k % 4]]) for k in range(80)]
    robot = builder.build().replace(visuals=visuals)
    look = looks.look_of(robot)
    assert sorted(len(p.spots) for p in look.parts) == [20] * 4 and look.placements is not None
    assert len(looks.look_of(robot, meshes=False).parts) < 4


def test_gravity_points_down():
    for robot in (
        PUMA,
        PUMA.replace(gravity=(0, 9.81, 0)),
        PUMA.replace(gravity=(3, -2, 1)),
        PUMA.replace(gravity=(0, 0, 0)),
    ):
        R = upright(robot)
        assert np.allclose(R @ R.T, np.eye(3)) and np.linalg.det(R) == pytest.approx(1)
        assert np.allclose(R @ robot.gravity, [0, 0, -np.linalg.norm(robot.gravity)])


def test_robots_side_by_side_do_not_stand_on_each_other():
    places = grid(1000, 1.5)
    assert places.shape == (1000, 3) and len(np.unique(places, axis=0)) == 1000
    assert np.allclose(places.min(axis=0)[:2], -places.max(axis=0)[:2], atol=1.5)


# --- clips ------------------------------------------------------------------------------------------------------------


def some_run(batch=(), duration=0.2):
    q = Q + 0.1 * np.arange(np.prod(batch, dtype=int)).reshape(*batch, 1) if batch else Q
    return aj.simulate(PUMA, q=q, duration=duration, dt=0.001, record=10)


@pytest.mark.slow
def test_clips_of_all_motions():
    run, line = some_run((3,)), aj.trajectory.quintic(Q, Q + 0.1, 0.5)
    clips = clips_of({"run": run, "line": line}, PUMA, "view")
    assert [c.count for c in clips] == [3, 1] and clips[1].duration == pytest.approx(0.5)
    which = clips[0].charted()
    curves = {c.name: c for c in clips[0].curves(2, which)}
    assert np.array_equal(curves["positions"].values, run.q[2][which])
    assert np.allclose(curves["joint forces"].values, 0)
    total = curves["energy"].values
    assert np.allclose(total[:, 0] + total[:, 1], total[:, 2])
    torques = clips[1].curves(0, clips[1].charted())[2].values
    assert np.allclose(torques[0], aj.inverse_dynamics(PUMA, Q, np.zeros(6), line(0.0).a))
    frames, poses = poses_of_clip(clips[0], looks.look_of(PUMA))
    assert np.allclose(poses.xyz[-1, 1, :6], aj.forward_kinematics(PUMA, run.q[1, frames[-1]])[:, :3, 3], atol=1e-6)


def test_states_of_a_molecule_are_a_clip():
    beads = aj.polymer.bead_chain(6)
    states = aj.polymer.langevin(
        beads.robot, beads.q, np.zeros(beads.robot.nv), dt=0.002, steps=20, kT=2.5, friction=0.5, rng=0
    )
    (clip,) = clips_of(states, beads, "view")
    assert clip.count == 1 and np.array_equal(clip.q[0], states.q)


def test_a_run_that_is_lost_stays_where_it_was():
    run = some_run()
    run.q[5:] = np.nan
    (clip,) = clips_of(run, None, "view")
    assert np.array_equal(clip.q[0, -1], run.q[4])
    run.q[0] = np.nan
    with pytest.raises(ArgumentError, match="starts with finite numbers"):
        clips_of(run, None, "view")


def test_of_a_batch_the_runs_that_can_be_shown_are_shown():
    batch = some_run((3,))
    batch.q[1] = np.nan
    (clip,) = clips_of(batch, None, "view")
    assert np.array_equal(clip.q, batch.q[[0, 2]])
    which = clip.charted()
    assert np.array_equal(clip.curves(1, which)[0].values, batch.q[2][which])


# --- physics ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_chunks_are_the_run_itself():
    settings = swinging.Settings(integrator="semi_implicit")
    moving = swinging.begun(PUMA, settings, Q)
    for until in (0.0105, 0.011, 0.05, 0.2):
        moving = swinging.advanced(moving, until)
    whole = aj.simulate(PUMA, q=Q, duration=0.2, dt=0.001)
    assert moving.time == pytest.approx(0.2) and np.allclose(moving.q, whole.q[-1], atol=1e-12)


@pytest.mark.slow
def test_without_damping_energy_stays():
    moving = swinging.begun(PUMA, swinging.Settings(), Q)
    start = swinging.energies(moving)
    for k in range(1, 31):
        moving = swinging.advanced(moving, k / 30)
    T, _, E = swinging.energies(moving)
    assert T > 1 and abs(E - start[2]) < 1e-6 * T
    damped = swinging.advanced(swinging.begun(PUMA, swinging.Settings(damping=2.0), Q), 1.0)
    assert swinging.energies(damped)[2] < start[2] - 1


@pytest.mark.slow
def test_a_spring_pulls_along_its_gradient():
    """Without velocity, the joint forces are minus the slope of ½ k |hand - x|²."""
    moving = swinging.begun(PUMA, swinging.Settings(), Q)
    x = aj.forward_kinematics(PUMA, Q, "link4")[:3, 3] + [0.02, 0.03, -0.01]
    grab = swinging.grab_at(PUMA, Q, 3, x, 100.0)._replace(hand=x + np.array([0.1, -0.2, 0.3]))
    line = swinging.arrow_of(swinging.grabbed(swinging.begun(PUMA, swinging.Settings(), Q), grab))
    assert line is not None and np.allclose(line[1], grab.hand) and np.linalg.norm(line[0] - x) < 1e-4

    def energy(q):
        T = aj.forward_kinematics(PUMA, q, "link4")
        return 50.0 * np.sum((grab.hand - T[:3, :3] @ grab.point - T[:3, 3]) ** 2)

    h = 1e-6 * np.eye(6)
    slope = [(energy(Q + e) - energy(Q - e)) / 2e-6 for e in h]
    (pull,) = swinging._forces(PUMA, moving.settings, grab)
    tau = aj.simulate(PUMA, q=Q, duration=1e-6, dt=1e-6, forces=pull, integrator="semi_implicit")
    free = aj.simulate(PUMA, q=Q, duration=1e-6, dt=1e-6, integrator="semi_implicit")
    gained = aj.mass_matrix(PUMA, Q) @ (tau.v[-1] - free.v[-1]) / 1e-6
    assert np.allclose(gained, -np.array(slope), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("controller", swinging.HOLDS)
def test_controllers_hold_a_target(controller):
    target = Q + 0.3
    moving = swinging.begun(PUMA, swinging.Settings(controller), Q, target=target)
    moving = swinging.advanced(moving, 3.0)
    assert np.abs(moving.q - target).max() < 0.02


@pytest.mark.slow
def test_gravity_compensation_rests():
    moving = swinging.advanced(swinging.begun(PUMA, swinging.Settings("gravity compensation"), Q), 1.0)
    assert np.abs(moving.q - Q).max() < 1e-6


def test_unknown_settings_are_refused():
    with pytest.raises(ArgumentError, match="controller"):
        swinging.begun(PUMA, swinging.Settings("magic"), Q)
    with pytest.raises(ArgumentError, match="integrator"):
        swinging.begun(PUMA, swinging.Settings(integrator="magic"), Q)


# --- the function -----------------------------------------------------------------------------------------------------


BAD = {
    "no robot": ({"thing": 3}, "got int; give a Robot, Polymer, Run"),
    "a robot twice": ({"thing": PUMA, "robot": PUMA}, "robot= is for trajectories"),
    "a name": ({"thing": aj.trajectory.quintic(Q, Q + 1, 1.0), "robot": "puma"}, "robot must be a Robot"),
    "no robot for a trajectory": ({"thing": aj.trajectory.quintic(Q, Q + 1, 1.0)}, r"give view\(\.\.\., robot=robot\)"),
    "too few joints": ({"thing": aj.trajectory.quintic([0.0], [1.0], 1.0), "robot": PUMA}, "moves 1 coordinates"),
    "nothing in the dict": ({"thing": {}}, "nothing to show"),
    "a robot in the dict": ({"thing": {"a": PUMA}}, "'a' is a Robot; of several things, all must move"),
    "no motion in the dict": ({"thing": {"a": 3}}, "'a' is int; give"),
    "q of another robot": ({"thing": PUMA, "q": np.zeros(5)}, r"q has shape \(5,\)"),
    "several q": ({"thing": PUMA, "q": np.zeros((2, 6))}, "one robot is shown"),
    "q of a motion": ({"thing": aj.trajectory.quintic(Q, Q + 1, 1.0), "robot": PUMA, "q": Q}, "q belongs to a robot"),
    "no such host": ({"thing": PUMA, "host": "nosuch.invalid"}, "cannot be served at nosuch.invalid"),
    "a strange host": ({"thing": PUMA, "host": "a" * 70}, "cannot be served at"),
    "port 0": ({"thing": PUMA, "port": 0}, "port must be from 1 to 65535"),
    "a port as text": ({"thing": PUMA, "port": "8080"}, "port"),
    "no host": ({"thing": PUMA, "host": ""}, "host must be a name"),
    "no truth": ({"thing": PUMA, "meshes": 2}, "meshes"),
    "browser": ({"thing": PUMA, "open_browser": "yes"}, "open_browser"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    given, message = BAD[case]
    with pytest.raises(ArgumentError, match=message):
        view(**given)


def test_a_run_of_another_robot():
    with pytest.raises(ArgumentError, match="robot= is another one"):
        view(some_run(), robot=robots.scara())


def test_without_viser_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingPackageError, match=r"view needs viser: pip install 'adjoint\[view\]'"):
        view(PUMA)


def test_without_matplotlib_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"^plot needs matplotlib: pip install 'adjoint\[plot\]'"):
        aj.plot(PUMA)


@pytest.fixture
def no_browser(monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda *_: pytest.fail("a browser was opened"))


@pytest.mark.parametrize(
    ("environment", "modules", "wanted"),
    [
        ({"DISPLAY": ":0"}, {}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, {}, True),
        ({}, {}, False),  # no screen
        ({"DISPLAY": ":0", "PYTEST_CURRENT_TEST": "this"}, {}, False),
        ({"DISPLAY": ":0"}, {"ipykernel": sys}, False),  # a notebook
    ],
)
def test_when_a_browser_is_opened(monkeypatch, environment, modules, wanted):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "PYTEST_CURRENT_TEST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name, value in modules.items():
        monkeypatch.setitem(sys.modules, name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    assert live._wants_browser(None, "view") == wanted
    assert live._wants_browser(True, "view") and not live._wants_browser(False, "view")


@pytest.mark.slow
def test_a_viewer_without_a_browser(no_browser, capsys):
    with view(PUMA) as viewer:
        assert viewer.url.startswith("http://127.0.0.1:") and viewer.url in repr(viewer)
        assert viewer.url in viewer._repr_html_() and "iframe" in viewer._repr_html_()
        viewer.q = Q
        assert np.array_equal(viewer.q, Q) and viewer._session.idle()
        viewer.q[0] = 9.0  # a copy
        assert np.array_equal(viewer.q, Q)
        for bad in (np.zeros(5), np.full(6, np.nan), np.zeros((2, 6)), "no"):
            with pytest.raises(ArgumentError):
                viewer.q = bad
        port = int(viewer.url.rpartition(":")[2])
        with pytest.raises(ArgumentError, match=f"port {port} is in use"):
            view(PUMA, port=port)
        with view(PUMA) as other:
            assert other.url != viewer.url
    assert "closed" in repr(viewer) and "iframe" not in viewer._repr_html_()
    with pytest.raises(ArgumentError, match="it is closed"):
        viewer.q = Q
    viewer.close()
    with socket.socket() as listener:  # the port is free again
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_wait_ends_with_ctrl_c(monkeypatch, capsys):
    viewer = view(PUMA)

    def press(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "time", SimpleNamespace(sleep=press))
    viewer.wait()
    assert "Ctrl-C" in capsys.readouterr().out and "closed" in repr(viewer)


def position(scene, name: str) -> np.ndarray:
    """Where something is in the scene."""
    handle = scene.get_handle_by_name(name)
    assert handle is not None, name
    return handle.position


def until(true, seconds: float = 120.0):
    """Wait until a function gives something true, and return it."""
    found = happens(true, seconds)
    assert found, "it did not happen"
    return found


def happens(true, seconds: float):
    """What a function gives when it is something true, or at the end of these seconds."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


@pytest.mark.slow
def test_a_robot_without_joints():
    with view(robots.chain(0)) as viewer:
        assert viewer._session.idle() and viewer.q.shape == (0,)


@pytest.mark.slow
def test_where_it_stands_at_first():
    with view(PUMA, q=Q) as viewer:
        assert np.array_equal(viewer.q, Q)


@pytest.mark.slow
def test_what_a_program_says_counts_under_physics():
    with view(robots.two_link()) as viewer:
        session, physics = viewer._session, viewer._panels["physics"]
        session.post("on", lambda: physics.switch(True))
        assert session.idle(60) and physics.moving is not None
        viewer.q = goal = np.array([1.0, -1.0])
        until(lambda: physics.moving is not None and np.abs(physics.moving.q - goal).max() < 0.5, 60)
        physics._controller.value = "PD hold"
        session.post("again", physics._again)
        assert session.idle(60)
        for k in range(20):  # none of these is lost, whenever it comes
            viewer.q = np.array([0.01 * k, 0.5])
            session.idle(60)
            assert np.array_equal(physics.moving.target, [0.01 * k, 0.5])


@pytest.mark.slow
def test_close_while_physics_runs():
    before = set(threading.enumerate())
    viewer = view(robots.two_link())
    viewer._session.post("on", lambda: viewer._panels["physics"].switch(True))
    viewer.close()
    until(lambda: set(threading.enumerate()) <= before)


@pytest.mark.slow
def test_a_program_that_ends_says_nothing():
    script = "import adjoint as aj; viewer = aj.view(aj.robots.two_link(), open_browser=False); print('end')"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_addresses():
    def url(host: str) -> str:
        server = SimpleNamespace(get_host=lambda: host, get_port=lambda: 8080)
        return Viewer(SimpleNamespace(server=server), {}).url  # type: ignore[arg-type]

    assert url("127.0.0.1") == "http://127.0.0.1:8080" and url("::1") == "http://[::1]:8080"
    assert url("0.0.0.0") == url("::") == "http://localhost:8080"


def test_limits_that_mean_none_do_not_stretch_the_sliders():
    endless = robots.two_link().replace(lower=np.array([-1e16, -2.0]), upper=np.array([1e16, 1e300]))
    first, second = knobs_of(endless)
    assert (first.low, first.high) == (pytest.approx(-180), pytest.approx(180))
    assert second.high - second.low == pytest.approx(360)


@pytest.mark.slow
def test_a_lesson_is_recorded_edited_and_played(no_browser):
    with view(PUMA) as viewer:
        panel, session = viewer._panels["teach"], viewer._session
        places = [Q, Q + 0.2, Q - 0.1]
        for q in places:
            viewer.q = q
            session.post("record", panel.record)
            assert session.idle()
        np.testing.assert_array_equal([p.q for p in viewer.lesson.points], places)
        session.post("delete", panel._delete)  # the last one, which is chosen
        assert session.idle() and len(viewer.lesson.points) == 2
        panel._speed.value = 1.0
        session.post("play", panel.play)
        until(lambda: panel._began is None and np.allclose(viewer.q, places[1]))
        assert len(viewer.lesson.program().statements) == 2
        viewer.lesson = viewer.lesson.record(Q)
        assert session.idle() and len(panel.lesson.points) == 3
        with pytest.raises(ArgumentError, match="6 coordinates"):
            viewer.lesson = Lesson("x").record([1.0])
    balls = robots.random_tree(0, 3, ["spherical"])
    with view(balls) as viewer, pytest.raises(ArgumentError, match="taught"):
        _ = viewer.lesson


# --- in the browser ---------------------------------------------------------------------------------------------------


@pytest.fixture
def browser():
    with Browser(1300, 850) as browser:
        yield browser


def opened(browser, viewer):
    """Open the page, and wait until the server knows of it; the client."""
    browser.open(viewer.url)
    browser.wait("document.querySelector('canvas') && document.body.innerText.includes('Show')", 60)
    clients = until(viewer._session.server.get_clients)
    assert viewer._session.idle(60)
    return next(iter(clients.values()))


def complaints(browser) -> list[str]:
    """What the page complains about, but for three warnings of the client's own libraries."""
    theirs = "THREE.Clock", "GPU stall", "preventDefault inside passive"
    return [x for x in browser.complaints if not any(words in x for words in theirs)]


LEAF = "[...document.querySelectorAll('*')].filter(x => !x.children.length && x.offsetParent && x.innerText"


def place(browser, element: str) -> tuple[float, float]:
    """The middle of an element, when it has come to rest: a page that is still growing moves it."""
    middle = f"(b => [b.x + b.width / 2, b.y + b.height / 2])(({element}).getBoundingClientRect())"
    two_pictures = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

    def at_rest():
        before = browser.run(middle)
        browser.run(two_pictures)
        time.sleep(0.1)
        return before if browser.run(middle) == before else None

    x, y = until(at_rest)
    return x, y


def click_text(browser, text: str) -> None:
    found = f"{LEAF}?.trim().startsWith({text!r})).pop()"
    browser.wait(f"!!{found}")
    browser.click(place(browser, found))


def open_tab(browser, name: str, content: str) -> None:
    """Click a tab until its content is there: a page that is still growing moves under the mouse."""
    for _ in range(20):
        click_text(browser, name)
        if happens(lambda: browser.run(f"!!{LEAF}?.trim() == {content!r}).pop()"), 5):
            return
    raise AssertionError(f"the tab {name} does not open")


def press(browser, text: str, done) -> None:
    """Click a button with this text until something is done."""
    button = f"[...document.querySelectorAll('button')].filter(x => x.innerText.trim() == {text!r}).pop()"
    for _ in range(5):
        browser.wait(f"!!{button}")
        browser.click(place(browser, button))
        if happens(done, 30):
            return
    raise AssertionError(f"the button {text} does nothing")


def click_box(browser, label: str) -> None:
    """Click the checkbox after a label."""
    box = (
        "(() => { const boxes = [...document.querySelectorAll('input[type=checkbox]')].filter(x => x.offsetParent);"
        f"const label = {LEAF}?.trim() == {label!r}).pop(); if (!label) return null;"
        "const y = label.getBoundingClientRect().y; return boxes.sort((a, b) => "
        "Math.abs(a.getBoundingClientRect().y - y) - Math.abs(b.getBoundingClientRect().y - y))[0]; })()"
    )
    browser.wait(f"!!{box}")
    browser.click(place(browser, box))


def pixel(browser, client, point) -> tuple[float, float]:
    """Where a point of the world is in the window."""
    camera = client.camera
    R = so3.from_quat_wxyz(camera.wxyz)
    x, y, z = R.T @ (np.asarray(point) - camera.position)  # OpenCV: x right, y down, z forward
    left, top, width, height = browser.run(
        "(b => [b.x, b.y, b.width, b.height])(document.querySelector('canvas').getBoundingClientRect())"
    )
    f = height / 2 / np.tan(camera.fov / 2)
    return left + width / 2 + f * x / z, top + height / 2 + f * y / z


def held(browser, ends, done) -> tuple[float, float]:
    """Press the mouse at the first of `ends()`, move it slowly to the second, and hold it there; where that is.

    A slow computer must draw what is under the mouse first. If nothing is `done`, the mouse is let go, and all is tried
    again, ever more slowly.
    """
    for pause in (0.1, 0.2, 0.4, 0.8, 1.6):
        start, end = ends()
        browser._mouse("mouseMoved", (start[0] - 3, start[1]))
        time.sleep(3 * pause)
        browser._mouse("mouseMoved", start)
        time.sleep(5 * pause)
        browser._mouse("mousePressed", start, button="left", buttons=1, clickCount=1)
        for k in range(1, 13):
            at = tuple(a + (b - a) * k / 12 for a, b in zip(start, end, strict=True))
            time.sleep(pause)
            browser._mouse("mouseMoved", at, button="left", buttons=1)
        if happens(done, 50 * pause):
            return end
        let_go(browser, end)
        time.sleep(5 * pause)
    raise AssertionError("the mouse holds nothing")


def let_go(browser, at) -> None:
    browser._mouse("mouseReleased", at, button="left", clickCount=1)


def scene_changes(browser, before: bytes) -> None:
    """Wait until the picture is another one."""
    until(lambda: browser.screenshot() != before)


@pytest.mark.slow
def test_a_slider_moves_the_arm(browser):
    with view(PUMA) as viewer:
        opened(browser, viewer)
        thumb = "[...document.querySelectorAll('[role=slider]')].filter(x => x.offsetParent)[0]"
        browser.wait(f"!!{thumb}")
        x, y = place(browser, thumb)
        before = browser.screenshot()
        browser.drag((x, y), (x + 30, y))
        until(lambda: viewer.q[0] > 0.2)
        assert np.array_equal(viewer.q[1:], np.zeros(5))
        scene_changes(browser, before)
        click_text(browser, "Home")
        until(lambda: viewer.q[0] == 0)
        viewer.q = Q
        browser.wait("[...document.querySelectorAll('input')].some(x => x.value == '30')")
        assert complaints(browser) == []


@pytest.mark.slow
def test_the_arm_follows_a_drag_and_switches_branches(browser):
    with view(PUMA) as viewer:
        viewer.q = Q
        client = opened(browser, viewer)
        open_tab(browser, "Reach", "Drag the frame")
        click_box(browser, "Drag the frame")
        browser.wait("document.body.innerText.includes('of 8 branches')")
        panel = viewer._panels["reach"]
        T = aj.forward_kinematics(PUMA, Q, "tool")
        arm = 0.22 * viewer._session.extent.reach * T[:3, 0]  # of the gizmo, along x

        def ends():
            return tuple(pixel(browser, client, T[:3, 3] + s * arm) for s in (0.85, 1.2))

        let_go(browser, held(browser, ends, lambda: not np.allclose(viewer.q, Q)))
        until(lambda: not panel._held)
        assert viewer._session.idle(120)
        now = aj.forward_kinematics(PUMA, viewer.q, "tool")
        way = now[:3, 3] - T[:3, 3]
        assert np.linalg.norm(way) > 0.2 * np.linalg.norm(arm) and np.allclose(now[:3, :3], T[:3, :3], atol=1e-5)
        assert np.dot(way, T[:3, 0]) > 0.99 * np.linalg.norm(way)  # along the arrow that was dragged
        here = viewer.q
        last = panel._last
        other = next(k for k in np.flatnonzero(last.inside) if k != last.branch)
        click_text(browser, f"{other}: ")
        until(lambda: not np.allclose(viewer.q, here))
        assert pose_error(PUMA, viewer.q, "tool", now) < 1e-6 and panel._last.branch == other
        assert complaints(browser) == []


@pytest.mark.slow
def test_out_of_reach_is_shown(browser):
    with view(PUMA) as viewer:
        viewer.q = Q
        opened(browser, viewer)
        panel = viewer._panels["reach"]
        open_tab(browser, "Reach", "Drag the frame")
        click_box(browser, "Drag the frame")
        browser.wait("document.body.innerText.includes('of 8 branches')")
        panel._held = True
        panel._gizmo.position = (4.0, 0.0, 0.0)
        viewer._session.post(panel, panel._drag)
        browser.wait("document.body.innerText.includes('Out of reach')")
        assert panel._mark.visible
        panel._held = False
        viewer._session.post(panel, panel._drag)
        until(lambda: np.linalg.norm(panel._gizmo.position) < 2)
        assert not panel._mark.visible and complaints(browser) == []


@pytest.mark.slow
def test_the_seventh_joint_has_a_slider(browser):
    with view(SEVEN) as viewer:
        viewer.q = Q7
        opened(browser, viewer)
        open_tab(browser, "Reach", "Drag the frame")
        click_box(browser, "Drag the frame")
        browser.wait("document.body.innerText.includes('of 8 branches')")
        T = aj.forward_kinematics(SEVEN, Q7, "tool")
        thumb = "[...document.querySelectorAll('[role=slider]')].filter(x => x.offsetParent)[0]"
        browser.wait(f"!!{thumb}")
        x, y = place(browser, thumb)
        browser.drag((x, y), (x + 8, y))
        until(lambda: not np.allclose(viewer.q, Q7, atol=1e-3))
        assert pose_error(SEVEN, viewer.q, "tool", T) < 1e-6 and complaints(browser) == []


@pytest.mark.slow
def test_overlays_appear_and_go(browser):
    with view(PUMA) as viewer:
        viewer.q = Q
        opened(browser, viewer)
        open_tab(browser, "Show", "Frames")
        scene = viewer._session.server.scene
        panel = viewer._panels["overlays"]
        for name in panel._kinds:
            click_box(browser, name)
            until(lambda name=name: name in panel._handles)
        viewer.q = Q + 0.1
        assert viewer._session.idle(120)
        c = aj.center_of_mass(PUMA, Q + 0.1)
        until(lambda: np.allclose(position(scene, "/stage/robot/center"), c))
        for name in panel._kinds:
            click_box(browser, name)
            until(lambda name=name: name not in panel._handles)
        assert scene.get_handle_by_name("/stage/robot/center") is None
        click_box(browser, "Dark background")
        browser.wait("document.documentElement.dataset.mantineColorScheme == 'dark'")
        assert complaints(browser) == []


@pytest.mark.slow
def test_runs_play_beside_each_other(browser):
    run = some_run(duration=2.0)
    other = aj.simulate(
        PUMA, aj.control.computed_torque(PUMA, Q + 0.5, kp=30.0), q=Q, duration=2.0, dt=0.001, record=20
    )
    with view({"swinging": run, "held": other}) as viewer:
        opened(browser, viewer)
        assert browser.run("document.body.innerText.includes('held') && document.body.innerText.includes('swinging')")
        browser.wait("document.querySelectorAll('.uplot canvas').length >= 3")
        playback = viewer._panels["playback"]
        assert list(playback._charts) == ["positions", "velocities", "energy"]  # nothing drives it: no joint forces
        ghost = playback._tracks[1].drawn.handles[-1]
        still = ghost.batched_wxyzs.copy()
        press(browser, "Play", lambda: playback.playing)
        until(lambda: playback.now > 0.3)
        assert not np.array_equal(viewer.q, Q) and not np.array_equal(ghost.batched_wxyzs, still)
        press(browser, "Pause", lambda: not playback.playing)
        viewer._session.post("test", lambda: playback._scrub(1.0))
        assert viewer._session.idle(120)
        assert np.array_equal(viewer.q, run.q[run.t.searchsorted(1.0 - 1e-9)])
        assert complaints(browser) == []


@pytest.mark.slow
def test_physics_swings_and_is_pulled_with_the_mouse(browser):
    with view(PUMA) as viewer:
        viewer.q = Q
        client = opened(browser, viewer)
        open_tab(browser, "Physics", "Controller")
        click_box(browser, "Physics")
        physics = viewer._panels["physics"]
        until(lambda: physics.moving is not None and physics.moving.time > 0.3, 90)
        first, before = time.monotonic(), physics.moving.time
        start = swinging.energies(physics.moving)[2]
        until(lambda: physics.moving.time > before + 0.5)
        moving = physics.moving
        assert moving.time - before <= time.monotonic() - first + 0.2  # never ahead of the clock
        assert not np.allclose(viewer.q, Q) and abs(swinging.energies(moving)[2] - start) < 1e-3
        viewer._session.post("test", lambda: setattr(physics._controller, "value", "gravity compensation"))
        viewer._session.post("again", lambda: (physics._again(), physics._rest()))
        until(lambda: physics.moving.settings.controller == "gravity compensation", 90)
        viewer.q = Q
        until(lambda: np.allclose(physics.moving.q, Q, atol=1e-6))
        spot = aj.forward_kinematics(PUMA, Q, "link4")[:3, 3]

        def ends():
            x, y = pixel(browser, client, aj.forward_kinematics(PUMA, viewer.q, "link4")[:3, 3])
            return (x, y), (x, y - 90)

        at = held(browser, ends, lambda: physics.moving.grab is not None)
        until(lambda: physics.moving.grab.hand[2] > spot[2] and physics._arrow.visible)
        until(lambda: aj.forward_kinematics(PUMA, viewer.q, "link4")[2, 3] > spot[2] + 0.02)
        let_go(browser, at)
        until(lambda: physics.moving.grab is None)
        viewer._session.post("off", lambda: physics.switch(False))
        assert viewer._session.idle(120)
        assert physics.moving is None and complaints(browser) == []


@pytest.mark.slow
def test_a_thousand_robots(browser):
    run = aj.simulate(PUMA, q=aj.random_configuration(PUMA, 1000, rng=0), duration=0.5, dt=0.002, record=10)
    with view(run) as viewer:
        opened(browser, viewer)
        playback = viewer._panels["playback"]
        drawn = playback._tracks[0].drawn
        look = viewer._session.look
        assert len(drawn.handles) == len(look.parts)  # not one for each of the thousand
        assert all(
            len(h.batched_positions) == 1000 * len(p.spots) for h, p in zip(drawn.handles, look.parts, strict=True)
        )
        viewer._session.post("test", lambda: playback.go(0.3))
        assert viewer._session.idle(120)
        k = run.t.searchsorted(0.3 - 1e-9)
        part = next(n for n, p in enumerate(look.parts) if (look.bodies[p.spots] == 5).any())
        which = int(np.flatnonzero(look.bodies[look.parts[part].spots] == 5)[0])
        shown = drawn.handles[part].batched_positions.reshape(1000, -1, 3)[:, which]
        places = grid(1000, APART * viewer._session.extent.reach)
        truth = aj.forward_kinematics(PUMA, run.q[:, k], "link6")[:, :3, 3] + places
        assert np.allclose(shown, truth, atol=1e-4)
        viewer._session.post("test", lambda: (setattr(playback._which, "value", 700), playback._choose()))
        assert viewer._session.idle(120)
        assert np.allclose(position(viewer._session.server.scene, "/stage/robot"), places[700])
        assert np.array_equal(viewer.q, run.q[700, k])
        assert np.allclose(playback._charts["positions"]._lines[0], run.q[700, 0])
        assert complaints(browser) == []


@pytest.mark.slow
@pytest.mark.parametrize("thing", ["long chain", "molecule", "free base"])
def test_other_things_load(browser, thing):
    helix = aj.polymer.polypeptide("AGSAGS", phi=np.radians(-57.8), psi=np.radians(-47.0))
    shown = {"long chain": robots.chain(200), "molecule": helix, "free base": odd_robot()}[thing]
    with view(shown) as viewer:
        opened(browser, viewer)
        assert complaints(browser) == []


def test_a_free_body_goes_where_its_gizmo_is():
    from adjoint.viewer.joint_panel import _Base

    class Handle:
        position, wxyz = np.array([0.3, -0.2, 0.5]), so3.to_quat_wxyz(so3.exp([0.3, 0.2, 0.1]))

    class Session:
        robot, q = odd_robot(), aj.random_configuration(odd_robot(), rng=0)

        def ask(self, q):
            self.q = q

    base = _Base.__new__(_Base)
    session = Session()
    vars(base).update(_session=session, _body=0, _gizmo=Handle, _own=slice(0, 7))
    base._drag()
    T = aj.forward_kinematics(Session.robot, session.q)[0]
    assert np.allclose(T, se3.from_xyz_quat_wxyz(np.concatenate([Handle.position, Handle.wxyz])))
