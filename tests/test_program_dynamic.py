"""The dynamic back end: motions, forces, grips and brakes; what is seen ahead is what happens."""

from dataclasses import replace

import numpy as np
import pytest

import adjoint as aj
from adjoint.errors import ArgumentError
from adjoint.program.running.backends import ArmMotion, Compliance, HandMotion
from adjoint.program.running.dynamic import DynamicBackend
from adjoint.program.running.motions import plan_move
from adjoint.world import Gripper, World, cuboid, cylinder

Q = np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
PERIOD = 0.01
MEASURED = "q", "v", "wrench", "width"


def cell(**block):
    """A PUMA with a pin in its hand that points down, and a block below it; the pin's tip is `gap` above the block."""
    hand = Gripper(opening=0.05, depth=0.05, breadth=0.02, T_tool_grip=np.eye(4))
    w = World().add_robot("arm", aj.robots.puma560(), q=Q, at=[0.2, 0.1, 0.3], gripper=hand)
    goal = np.diag([1.0, -1, -1, 1])
    goal[:3, 3] = w.pose("arm.tool")[:3, 3] + [0, 0, -0.2]
    q = plan_move(w, "arm", goal).q[-1]
    w = w.set_configuration("arm", q)
    w = w.add("pin", cylinder(0.006, 0.04).with_density(7850), at=[0, 0, 0.01], parent="arm.tool").set_gripper(
        "arm", 0.012
    )
    gap = block.get("gap")
    if gap is not None:
        p = w.pose("arm.tool")[:3, 3] + [0, 0, -0.03 - gap - 0.05]
        w = w.add("block", cuboid(0.2, 0.2, 0.1), at=p)
    return w


def moved_down(w, by, **options):
    T = np.array(w.pose("arm.tool"))
    T[2, 3] -= by
    return plan_move(w, "arm", T, straight=True, period=PERIOD, **options)


def run(backend, w, state, motions, ticks, chunk=None, measured=MEASURED):
    """All ticks of what motions make happen: the world, the state, and what was measured of the arm."""
    found, left = [], dict(motions)
    done = 0
    while done < ticks:
        ahead = backend.ahead(w, state, left, min(chunk or ticks, ticks - done), True)
        found.append([np.array(getattr(ahead, k)["arm"]) for k in measured])
        w, state = backend.commit(w, state, ahead, ahead.ticks)
        done += ahead.ticks
        for key, motion in list(left.items()):
            if isinstance(motion, ArmMotion):
                rest = slice(ahead.ticks, None) if len(motion.q) > ahead.ticks else slice(-1, None)
                left[key] = replace(motion, q=motion.q[rest], v=motion.v[rest])
            if key in ahead.ended:
                del left[key]
    return w, state, [np.concatenate(x) for x in zip(*found, strict=True)]


def test_free_motions_are_followed_and_nothing_is_felt():
    w, backend = cell(), DynamicBackend()
    motion = moved_down(w, 0.1)
    end, state, (q, v, wrench, width) = run(backend, w, backend.start(w, PERIOD), {"arm": motion}, len(motion.q) + 30)
    np.testing.assert_allclose(q[: len(motion.q)], motion.q, atol=1e-4)
    np.testing.assert_allclose(q[-1], motion.q[-1], atol=1e-6)
    assert not wrench.any() and np.abs(v[-1]).max() < 1e-5 and (width == 0.012).all()
    np.testing.assert_array_equal(end.robots["arm"].q, q[-1])
    assert state.tick == len(motion.q) + 30


@pytest.mark.parametrize("chunk", [1, 7])
def test_what_is_seen_ahead_is_what_happens_tick_by_tick(chunk):
    w, backend = cell(gap=0.0005), DynamicBackend(noise=0.1, seed=3)
    compliance = Compliance(np.eye(3), np.array([0, 0, 0, 0, 0, -5.0]), np.array([0, 0, 0, 1, 1, 1], bool))
    for motion in (moved_down(w, 0.004), moved_down(w, 0.004, compliance=compliance)):
        start = backend.start(w, PERIOD)
        once = run(backend, w, start, {"arm": motion}, 40)
        again = run(backend, w, start, {"arm": motion}, 40, chunk)
        for a, b in zip(once[2], again[2], strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(once[1].arms["arm"].integral, again[1].arms["arm"].integral)
        assert once[0] == again[0] and np.abs(once[2][2][:, 5]).max() > 1


@pytest.mark.parametrize("force", [2.78, 15.0])
def test_pressing_at_rest_has_the_force_that_is_asked_for(force):
    w, backend = cell(gap=0.003), DynamicBackend()
    axes = np.eye(3)
    compliance = Compliance(axes, np.array([0, 0, 0, 0, 0, -force]), np.array([0, 0, 0, 1, 1, 1], bool))
    motion = moved_down(w, 0.01, duration=2.0, compliance=compliance)
    end, state, (q, v, wrench, _) = run(backend, w, backend.start(w, PERIOD), {"arm": motion}, len(motion.q))
    np.testing.assert_allclose(wrench[-20:, 5], force, rtol=0.02)
    np.testing.assert_allclose(wrench[-20:, 3:5], 0, atol=0.02 * force)
    assert np.abs(v[-1]).max() < 1e-3
    # The pin stands on the block as deep as its 16 points yield, and upright.
    tip = end.pose("pin") @ [0, 0, 0.02, 1]
    top = end.pose("block")[2, 3] + 0.05
    assert abs(top - tip[2] - force / (16 * 5e3)) < 2e-6
    # When the motion is over, the arm stays where it is.
    rest = run(backend, end, state, {}, 20)[2][0]
    assert np.abs(rest - q[-1]).max() < 1e-3


def test_drives_exert_what_moves_the_arm_and_what_it_holds():
    """With one step a tick, Newton's law holds to the last digits: v' = v + dt M⁻¹ (τ - h)."""
    w, backend = cell(), DynamicBackend(dt=PERIOD, stiffness=20.0)
    plant, start = w.mounted("arm"), backend.start(w, PERIOD)
    ahead = backend.ahead(w, start, {"arm": moved_down(w, 0.1)}, 60, True)
    q, v = (np.concatenate([[x], y["arm"]]) for x, y in ((w.robots["arm"].q, ahead.q), (np.zeros(6), ahead.v)))
    a = aj.forward_dynamics(plant, q[:-1], v[:-1], ahead.tau["arm"])
    np.testing.assert_allclose(np.diff(v, axis=0), PERIOD * a, atol=1e-10)


@pytest.mark.parametrize("known", [True, False])
def test_an_arm_at_rest_exerts_what_holds_it_and_its_load(known):
    """Also if the controller knows nothing of the load: the arm sags until its springs carry it."""
    w, backend = cell(), DynamicBackend(payload_known=known)
    _, _, (q, v, _, _, tau) = run(backend, w, backend.start(w, PERIOD), {}, 100, measured=(*MEASURED, "tau"))
    assert np.abs(v[-1]).max() < 1e-6
    np.testing.assert_allclose(tau[-1], aj.gravity_torque(w.mounted("arm"), q[-1]), atol=1e-3)


def test_drives_exert_no_more_than_they_can():
    w = cell()
    weak = w.robots["arm"].robot.replace(effort_limit=np.full(6, 5.0))
    w = w.changed(robots={"arm": replace(w.robots["arm"], robot=weak)})
    backend = DynamicBackend()
    tau = backend.ahead(w, backend.start(w, PERIOD), {}, 20, True).tau["arm"]
    assert np.abs(tau).max() <= 5.0 and np.abs(aj.gravity_torque(w.mounted("arm"), w.robots["arm"].q)).max() > 5.0


def test_forces_may_be_asked_for_along_other_axes():
    w, backend = cell(gap=0.003), DynamicBackend()
    axes = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # its second axis is up
    compliance = Compliance(axes, np.array([0, 0, 0, 0, -4.0, 0]), np.array([0, 0, 0, 0, 1, 0], bool))
    assert np.allclose(axes[:, 1], [0, 0, 1])
    motion = moved_down(w, 0.01, duration=1.5, compliance=compliance)
    wrench = run(backend, w, backend.start(w, PERIOD), {"arm": motion}, len(motion.q))[2][2]
    np.testing.assert_allclose(wrench[-10:, 5], 4.0, rtol=0.02)


def test_a_move_into_a_block_is_felt_and_the_brake_stops_it():
    w, backend = cell(gap=0.002), DynamicBackend()
    motion = moved_down(w, 0.02)
    start = backend.start(w, PERIOD)
    ahead = backend.ahead(w, start, {"arm": motion}, len(motion.q), True)
    hit = int(np.argmax(ahead.wrench["arm"][:, 5] > 5.0))
    assert 0 < hit < len(motion.q) - 1 and ahead.wrench["arm"][-1, 5] > 50
    world, state = backend.commit(w, start, ahead, hit + 1)
    stop = backend.brake(world, state, "arm", PERIOD)
    assert stop.robot == "arm" and not np.abs(stop.v[-1]).any()
    _, state, (_, v, wrench, _) = run(backend, world, state, {"arm": stop}, len(stop.q) + 60)
    assert np.abs(v[-1]).max() < 1e-3 and wrench[-1, 5] < 0.7 * ahead.wrench["arm"][-1, 5]


def test_a_load_that_the_controller_does_not_know_pulls_the_hand_down():
    w = cell().remove("pin").add("pin", cuboid(0.01, 0.01, 0.04).with_density(1e6), at=[0, 0, 0.01], parent="arm.tool")
    mass = 0.01 * 0.01 * 0.04 * 1e6
    for known in (True, False):
        backend = DynamicBackend(payload_known=known, stiffness=40.0)
        end, _, (q, *_) = run(backend, w, backend.start(w, PERIOD), {}, 100)
        drop = w.pose("arm.tool")[2, 3] - end.pose("arm.tool")[2, 3]
        if known:
            assert abs(drop) < 1e-9
            continue
        # Computed torque is a spring of the modelled inertia: M ω² e = the torque that is missing.
        robot = w.robots["arm"].robot
        short = aj.inverse_dynamics(w.mounted("arm"), q[-1], np.zeros(6), np.zeros(6))
        model = robot.mounted(w.pose("arm"))
        short = short - aj.inverse_dynamics(model, q[-1], np.zeros(6), np.zeros(6))
        sag = np.linalg.solve(aj.mass_matrix(robot, q[-1]), short) / 40.0**2
        np.testing.assert_allclose(w.robots["arm"].q - q[-1], sag, rtol=2e-3, atol=1e-6)
        assert drop > 1e-4 and mass > 3


def test_a_hand_takes_what_it_closes_on_and_lets_go_of_it():
    w = cell().detach("pin").set_gripper("arm", 0.04)
    backend = DynamicBackend(finger_speed=0.2)
    state = backend.start(w, PERIOD)
    close = HandMotion("arm", 0.005, False)
    ahead = backend.ahead(w, state, {"arm.hand": close}, 100, False)
    assert ahead.ticks == 14 and ahead.ended == {"arm.hand": 14}  # 28 mm at 2 mm a tick
    assert abs(ahead.width["arm"][-1] - 0.012) < 1e-8 and abs(ahead.width["arm"][0] - 0.038) < 1e-12
    early, _ = backend.commit(w, state, ahead, 5)
    assert not early.holding("arm") and abs(early.robots["arm"].width - 0.03) < 1e-12
    held, state = backend.commit(w, state, ahead, 14)
    assert held.holding("arm") == ["pin"]
    ahead = backend.ahead(held, state, {"arm.hand": HandMotion("arm", 0.03, True)}, 100, False)
    assert ahead.ticks == 1
    free, _ = backend.commit(held, state, ahead, 1)
    assert not free.holding("arm") and abs(free.robots["arm"].width - 0.014) < 1e-8


def test_empty_hands_close_as_far_as_they_are_asked_to():
    w = cell().remove("pin").set_gripper("arm", 0.04)
    backend = DynamicBackend()
    ahead = backend.ahead(w, backend.start(w, PERIOD), {"arm.hand": HandMotion("arm", 0.0355, False)}, 20, False)
    assert ahead.ended == {"arm.hand": 5} and (ahead.width["arm"][4:] == 0.0355).all() and ahead.ticks == 20


def test_noise_follows_from_its_seed():
    w = cell()
    one, two, other = (DynamicBackend(noise=0.5, seed=s) for s in (1, 1, 2))
    felt = [b.ahead(w, b.start(w, PERIOD), {}, 200, True).wrench["arm"] for b in (one, two, other)]
    np.testing.assert_array_equal(felt[0], felt[1])
    assert (felt[0] != felt[2]).any() and 0.4 < felt[0][:, 3:].std() < 0.6


def test_limits_of_effort_hold():
    robot = aj.robots.puma560().replace(effort_limit=np.full(6, 20.0))  # too weak to hold itself
    w = World().add_robot("arm", robot, q=[0, -0.8, 2.0, 0, 0, 0])
    backend = DynamicBackend()
    ahead = backend.ahead(w, backend.start(w, PERIOD), {}, 20, False)
    assert np.abs(ahead.q["arm"][-1] - w.robots["arm"].q).max() > 1e-3


@pytest.mark.parametrize(
    "bad", [{"dt": 0}, {"stiffness": -1.0}, {"noise": -1}, {"force_ki": 1e3}, {"finger_speed": "x"}]
)
def test_bad_numbers_are_refused(bad):
    with pytest.raises(ArgumentError, match=next(iter(bad))):
        DynamicBackend(**bad)


def test_robots_with_free_joints_are_refused():
    robot = aj.robots.random_tree(0, 2, ["free", "revolute"])
    with pytest.raises(ArgumentError, match="degrees of freedom"):
        DynamicBackend().start(World().add_robot("arm", robot), PERIOD)
