"""The choice among solutions: limits, turns, nearness, paths, and the redundancy of arms with seven joints."""

import numpy as np
import pytest
from support.arms import IIWA, apart
from support.robots import urdf
from support.trees import close

import adjoint as aj
from adjoint.inverse import (
    Solutions,
    best_redundancy,
    branches,
    follow_path,
    inverse_kinematics,
    nearest_solution,
    redundancy_of,
    with_turns,
    within_limits,
)

puma = aj.robots.puma560()
ur5 = aj.load(urdf("ur5_robot"))
panda = aj.load(urdf("panda"))
iiwa = aj.from_dh(IIWA, name="iiwa", lower=-2.9, upper=2.9)


def test_solutions_within_limits_are_inside_and_at_the_pose():
    q = aj.random_configuration(puma, 5000, rng=0)
    T = aj.forward_kinematics(puma, q, "tool")
    found = within_limits(puma, inverse_kinematics(puma, T, "tool"))
    reached = found.q[found.exact]
    assert ((reached >= puma.lower - 1e-9) & (reached <= puma.upper + 1e-9)).all()
    off = np.abs(aj.forward_kinematics(puma, found.q, "tool") - T[:, None]).max(axis=(-2, -1))
    assert off[found.exact].max() < 1e-10
    assert found.exact.any(axis=1).all()  # q itself is inside
    # th2 in [-225, 45] and th3 in [-45, 225] degrees: angles in (-π, π] alone would not do.
    plain = inverse_kinematics(puma, T, "tool")
    inside = ((plain.q >= puma.lower) & (plain.q <= puma.upper)).all(axis=-1) & plain.exact
    assert found.exact.sum() > inside.sum()


def test_all_turns_are_all_configurations_inside_the_limits():
    q = aj.random_configuration(ur5, 20, rng=0)  # limits of ±2π: two copies of every angle
    T = aj.forward_kinematics(ur5, q, "tool0")
    solutions = inverse_kinematics(ur5, T, "tool0")
    found = with_turns(ur5, solutions)
    low, high = ur5.lower - 1e-9, ur5.upper + 1e-9
    for i in range(20):
        mine = found.q[i][found.exact[i]]
        count = 0
        for one in solutions.q[i][solutions.exact[i]]:
            copies = [
                [x + 2 * np.pi * n for n in range(-3, 4) if low[k] <= x + 2 * np.pi * n <= high[k]]
                for k, x in enumerate(one)
            ]
            count += np.prod([len(c) for c in copies])
        assert len(mine) == count == len(np.unique(np.round(mine, 9), axis=0))
        assert np.abs(mine - q[i]).max(axis=1).min() < 1e-6
        close(aj.forward_kinematics(ur5, mine, "tool0"), np.broadcast_to(T[i], (count, 4, 4)), 1e-10)


def test_angles_without_limits_have_one_copy():
    robot = puma.replace(lower=-np.inf, upper=np.inf)
    solutions = inverse_kinematics(robot, aj.forward_kinematics(robot, np.ones(6), "tool"), "tool")
    for f in (with_turns, within_limits):
        found = f(robot, solutions)
        assert np.array_equal(found.exact, solutions.exact)
        close(found.q, solutions.q, 1e-12)


@pytest.mark.slow
def test_the_nearest_solution_is_nearest():
    q = aj.random_configuration(ur5, 500, rng=0)
    T = aj.forward_kinematics(ur5, q, "tool0")
    solutions = inverse_kinematics(ur5, T, "tool0")
    off = q + np.random.default_rng(0).normal(scale=0.3, size=q.shape)
    chosen = nearest_solution(ur5, solutions, off)
    assert (chosen.branch >= 0).all()
    every = with_turns(ur5, solutions)
    far = np.where(every.exact, np.linalg.norm(every.q - off[:, None], axis=-1), np.inf)
    close(chosen.distance, far.min(axis=1), 1e-9)
    close(np.linalg.norm(chosen.q - off, axis=-1), chosen.distance, 1e-12)
    at_home = nearest_solution(ur5, solutions, q)
    assert at_home.distance.max() < 1e-5
    heavy = nearest_solution(ur5, solutions, off, weights=[100, 1, 1, 1, 1, 1])
    assert (np.abs(heavy.q - off)[:, 0] <= np.abs(chosen.q - off)[:, 0] + 1e-12).all()


def test_no_solution_is_said_so():
    T = np.eye(4)
    T[0, 3] = 5.0
    solutions = inverse_kinematics(puma, np.stack([T, aj.forward_kinematics(puma, np.full(6, 0.3), "tool")]), "tool")
    chosen = nearest_solution(puma, solutions, np.zeros(6))
    assert chosen.branch[0] == -1 and np.isnan(chosen.q[0]).all() and np.isnan(chosen.distance[0])
    assert chosen.branch[1] >= 0


# --- paths ------------------------------------------------------------------------------------------------------------


def path(robot, q0, q1, frame, n=200):
    s = np.linspace(0, 1, n)[:, None]
    q = (1 - s) * q0 + s * q1
    return q, aj.forward_kinematics(robot, q, frame)


@pytest.mark.parametrize(("robot", "frame"), [(puma, "tool"), (ur5, "tool0")], ids=["puma", "ur5"])
def test_paths_are_followed_without_jumps(robot, frame):
    rng = np.random.default_rng(1)
    followed = 0
    for _ in range(20):
        q0, q1 = aj.random_configuration(robot, 2, rng=rng)
        q, T = path(robot, q0, q0 + 0.3 * (q1 - q0), frame)
        smallest = np.linalg.svd(aj.jacobian(robot, q, frame, "world"), compute_uv=False)[:, -1].min()
        if smallest < 0.01:  # near a singularity another branch is as near
            continue
        found = follow_path(robot, T, frame, start=q[0])
        assert found.jumps == ()
        close(found.q, q, 1e-5)
        assert len(set(found.branch)) == 1
        followed += 1
    assert followed >= 5


def test_full_turns_are_followed():
    q, T = path(
        ur5, np.array([-4.0, -1.2, 1.0, 0.4, 0.9, -5.0]), np.array([4.0, -1.2, 1.0, 0.4, 0.9, 5.0]), "tool0", 400
    )
    found = follow_path(ur5, T, "tool0", start=q[0])
    assert found.jumps == ()
    close(found.q, q, 1e-6)


def test_jumps_name_their_place_and_reason():
    # Joint 5 of the PUMA has limits of ±100 degrees.
    q, T = path(puma, np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0]), np.array([0.3, -0.8, 2.0, 0.3, 2.5, 0.0]), "tool")
    found = follow_path(puma, T, "tool", start=q[0])
    first = int(np.argmax(q[:, 4] > puma.upper[4]))
    assert found.jumps[0].index == first
    assert "joint5" in found.jumps[0].reason or "outside of the joint limits" in found.jumps[0].reason
    # A straight line out of reach.
    T = np.tile(aj.forward_kinematics(puma, np.array([0.3, -0.8, 2.0, 0.3, 0.7, 0.0]), "tool"), (100, 1, 1))
    T[:, :3, 3] *= np.linspace(1, 2, 100)[:, None]
    found = follow_path(puma, T, "tool")
    last = found.jumps[-1]
    assert "out of reach" in last.reason and last.until == 100 and (found.branch[last.index :] == -1).all()
    assert not np.isnan(found.q[: last.index]).any()


def test_a_path_that_ends_out_of_reach_is_followed_up_to_there():
    q0 = np.array([0.2, -1.2, 1.6, -1.9, -1.5, 0.3])
    T0, far = aj.forward_kinematics(ur5, q0, "tool0"), np.eye(4)
    far[0, 3] = 9.0
    found = follow_path(ur5, np.stack([T0, T0, far]), "tool0", start=q0)
    close(found.q[:2], np.stack([q0, q0]), 1e-9)
    assert found.jumps == ((2, 3, "the pose is out of reach"),)


def test_fingers_stay_where_they_are():
    home = np.array([0, -0.3, 0.1, -2, 0, 1.8, 0.5, 0.02])
    T = aj.forward_kinematics(panda, home, "panda_hand")
    solutions = inverse_kinematics(panda, T, "panda_hand", redundancy=0.5)
    close(nearest_solution(panda, solutions, home, frame="panda_hand").q, home, 1e-9)
    close(follow_path(panda, T[None], "panda_hand", start=home, redundancy=0.5).q[0], home, 1e-9)


def test_limits_of_any_kind():
    T = aj.forward_kinematics(ur5, np.full(6, 0.5), "tool0")
    wide = ur5.replace(lower=-1e9, upper=1e9)
    with pytest.raises(aj.ArgumentError, match=r"allow .* copies"):
        with_turns(wide, inverse_kinematics(wide, T, "tool0"))
    above = ur5.replace(lower=4.0, upper=np.inf)
    solutions = inverse_kinematics(above, T, "tool0")
    for f in (with_turns, within_limits):
        found = f(above, solutions)
        assert found.exact.sum() == solutions.exact.sum() and (found.q[found.exact] >= 4.0 - 1e-9).all()


def test_the_start_that_needs_no_jump_is_chosen():
    """Without a start, the path begins on the branch that it can stay on to its end."""
    _, T = path(puma, np.array([0.3, -0.8, 2.0, -1.0, 0.9, 0.0]), np.array([0.3, -0.8, 2.0, 1.5, 0.9, 0.0]), "tool")
    free = follow_path(puma, T, "tool")
    assert free.jumps == () and np.abs(np.diff(free.q, axis=0)).max() < 0.1


def test_arms_whose_branches_have_no_order_are_followed_too():
    robot = aj.from_dh(
        [
            [0, d, a, t]
            for d, a, t in zip(
                (0.3, 0.1, 0.05, 0.4, 0.1, 0.1),
                (0.1, 0.4, 0.1, 0.05, 0.1, 0.0),
                (1.3, 0.2, 1.4, -1.5, 1.2, 0.3),
                strict=True,
            )
        ]
    )
    assert "general" in branches(robot, "tool").method
    q, T = path(robot, np.array([0.1, 0.5, -0.7, 0.3, 1.0, 0.2]), np.array([0.9, 0.1, -1.2, 0.8, 0.6, 1.2]), "tool")
    found = follow_path(robot, T, "tool", start=q[0])
    assert found.jumps == ()
    close(found.q, q, 1e-6)


# --- seven joints -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("robot", "frame"), [(panda, "panda_hand"), (iiwa, "tool")], ids=["panda", "iiwa"])
def test_self_motion_keeps_the_pose(robot, frame):
    q = 0.5 * (robot.lower + robot.upper)
    q[1:6] += [0.2, 0.3, -0.2, 0.4, 0.1]
    T = aj.forward_kinematics(robot, q, frame)
    psi = redundancy_of(robot, q, frame)
    assert psi.shape == ()
    around = inverse_kinematics(robot, T, frame, redundancy=psi + np.linspace(-0.2, 0.2, 41))
    branch = int(apart_arm(around.q[20], q).argmin())
    moving = around.q[:, branch]
    assert around.exact[:, branch].all()
    close(aj.forward_kinematics(robot, moving, frame), np.broadcast_to(T, (41, 4, 4)), 1e-10)
    # Its direction is in the null space of the Jacobian.
    slope = (moving[21] - moving[19]) / np.linalg.norm(moving[21] - moving[19])
    assert np.abs(aj.jacobian(robot, moving[20], frame) @ slope).max() < 1e-3


def apart_arm(q, other):
    return np.abs(q[..., :7] - other[:7]).max(axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "frame"), [(panda, "panda_hand"), (iiwa, "tool")], ids=["panda", "iiwa"])
def test_best_redundancy(robot, frame):
    q = aj.random_configuration(robot, 30, rng=0)
    T = aj.forward_kinematics(robot, q, frame)
    near = best_redundancy(robot, T, frame, "nearest", q=q)
    assert near.value.max() < 1e-3  # q itself is a solution; the grid ends at 3e-7 rad of the parameter
    for objective, value in (
        (
            "limits",
            lambda x: (np.minimum(x - robot.lower, robot.upper - x) / (0.5 * (robot.upper - robot.lower)))[:, :7].min(
                axis=1
            ),
        ),
        ("manipulability", lambda x: aj.manipulability(robot, x, frame)),
    ):
        best = best_redundancy(robot, T, frame, objective)
        close(value(best.q), best.value, 1e-9)
        close(aj.forward_kinematics(robot, best.q, frame), T, 1e-10)
        assert (best.value >= value(q) - 1e-6).all()
        # No value on a fine grid is better by more than the grid can hide.
        for psi in np.linspace(-2.8, 2.8, 200):
            found = within_limits(robot, inverse_kinematics(robot, T, frame, redundancy=psi))
            other = value(found.q.reshape(-1, robot.nq)).reshape(30, -1)
            assert (np.where(found.exact, other, -np.inf).max(axis=1) <= best.value + 0.02).all()


def test_redundancy_broadcasts():
    q = aj.random_configuration(iiwa, 5, rng=0)
    T = aj.forward_kinematics(iiwa, q, "tool")
    found = inverse_kinematics(iiwa, T[:, None], "tool", redundancy=np.linspace(-1, 1, 7))
    assert found.q.shape == (5, 7, 8, 7)
    one = inverse_kinematics(iiwa, T[2], "tool", redundancy=1.0)
    close(found.q[2, 6], one.q, 1e-12)


# --- bad input --------------------------------------------------------------------------------------------------------


def test_messages():
    T = aj.forward_kinematics(puma, np.ones(6), "tool")
    solutions = inverse_kinematics(puma, T, "tool")
    with pytest.raises(aj.ArgumentError, match="within_limits needs the Solutions"):
        within_limits(puma, 3)
    with pytest.raises(aj.ArgumentError, match="exact must be"):
        nearest_solution(puma, Solutions(solutions.q, solutions.exact[:3]), np.zeros(6))
    with pytest.raises(aj.ArgumentError, match=r"argument 'q' has shape \(5,\)"):
        nearest_solution(puma, solutions, np.zeros(5))
    with pytest.raises(aj.ArgumentError, match="weights must be one number or 6"):
        nearest_solution(puma, solutions, np.zeros(6), weights=[1, 2])
    with pytest.raises(aj.ArgumentError, match="do not broadcast"):
        nearest_solution(puma, inverse_kinematics(puma, np.stack([T] * 3), "tool"), np.zeros((2, 6)))
    with pytest.raises(aj.AdjointError, match=r"start must have shape \(6,\)"):
        follow_path(puma, T[None], "tool", start=np.zeros((2, 6)))
    with pytest.raises(aj.ArgumentError, match=r"T must be poses \(..., 4, 4\)"):
        best_redundancy(iiwa, "T", "tool")
    with pytest.raises(aj.ArgumentError, match="one path"):
        follow_path(puma, T, "tool")
    with pytest.raises(aj.ArgumentError, match="max_step"):
        follow_path(puma, T[None], "tool", max_step=0)
    with pytest.raises(aj.ArgumentError, match="leaves none of them free"):
        best_redundancy(puma, T, "tool")
    with pytest.raises(aj.ArgumentError, match="objective is 'fast'"):
        best_redundancy(iiwa, T, "tool", "fast")
    with pytest.raises(aj.ArgumentError, match="q= is needed"):
        best_redundancy(iiwa, T, "tool", "nearest")
    with pytest.raises(aj.ArgumentError, match="not built like a PUMA"):
        aj.inverse.indicators(ur5, np.zeros(6), "tool0")
    assert follow_path(puma, np.zeros((0, 4, 4)), "tool").q.shape == (0, 6)


def test_unreachable_poses_of_a_redundant_arm_give_nan():
    T = np.eye(4)
    T[0, 3] = 9.0
    best = best_redundancy(iiwa, T, "tool")
    assert np.isnan(best.q).all() and np.isnan(best.value)


def test_apart_counts_full_turns():
    assert apart(puma, np.full(6, np.pi), np.full(6, -np.pi)) < 1e-12
