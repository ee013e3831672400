"""Goals and `find_configuration`: laws of errors, answers beside SciPy and Pinocchio, limits, batches, derivatives."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation
from support.robots import pinocchio_q, urdf

import adjoint as aj
from adjoint import goals, robots
from adjoint.compile.machine import cpython_entry, execution
from adjoint.errors import ArgumentError
from adjoint.goals.problem import problem_of
from adjoint.goals.sensitivity import goal_slopes, moved_errors
from adjoint.lie import se3
from adjoint.model import Robot

PUMA = robots.puma560()
EVERY = ["revolute", "prismatic", "mimic", "spherical", "planar", "helical", "free"]
TREE = robots.random_tree(3, 7, EVERY)  # with every type of joint
TOOL = TREE.frame_names[-1]


def panda() -> Robot:
    return aj.load(urdf("panda"))


def every_goal(robot: Robot, q, frame: str, other: str) -> dict:
    """Goals of every kind that q meets."""
    T, seen = aj.forward_kinematics(robot, q, frame), aj.forward_kinematics(robot, q, frame, other)
    point = np.array([0.1, -0.2, 0.3])
    z, ahead = T[..., :3, 2], T[..., :3, 3] + 0.7 * T[..., :3, 2]
    return {
        "pose": goals.pose(frame, T),
        "relative": goals.pose(frame, seen, relative_to=other),
        "position": goals.position(frame, se3.act(T, point), point=point),
        "orientation": goals.orientation(frame, T[..., :3, :3]),
        "axis": goals.axis(frame, 3.0 * z),
        "look_at": goals.look_at(frame, ahead),
        "distance": goals.distance(frame, np.linalg.norm(T[..., :3, 3] - point, axis=-1), point=point),
        "line": goals.line(frame, T[..., :3, 3] - 0.3 * point, 2.0 * point),
        "plane": goals.plane(frame, T[..., :3, 3] + np.cross(z, point), 3.0 * z),
        "center_of_mass": goals.center_of_mass(aj.center_of_mass(robot, q)),
        "posture": goals.posture(q),
        "manipulability": goals.manipulability(frame, least=0.9 * aj.manipulability(robot, q, frame), part="all"),
    }


KINDS = list(every_goal(PUMA, np.full(6, 0.3), "tool", "link2"))

# --- errors and slopes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_goal_is_met_where_it_was_made(kind):
    q = aj.random_configuration(PUMA, 20, rng=0)
    error = goals.goal_errors(PUMA, every_goal(PUMA, q, "tool", "link2")[kind], q)
    np.testing.assert_allclose(error, 0, rtol=0, atol=1e-14)


def test_errors_are_angles_and_distances():
    """The length of the error is 2 sin(angle / 2) for turns, and the distance for positions; SciPy has the angles."""
    q, p = aj.random_configuration(PUMA, (2, 30), rng=1)
    T, S = (aj.forward_kinematics(PUMA, x, "tool") for x in (q, p))
    angle = (Rotation.from_matrix(S[:, :3, :3]) * Rotation.from_matrix(T[:, :3, :3]).inv()).magnitude()
    turn = goals.goal_errors(PUMA, goals.orientation("tool", S[:, :3, :3]), q)[:, 0]
    np.testing.assert_allclose(turn, 2 * np.sin(angle / 2), rtol=1e-12)
    away = np.linalg.norm(S[:, :3, 3] - T[:, :3, 3], axis=1)
    np.testing.assert_allclose(goals.goal_errors(PUMA, {"tool": S[:, :3, 3]}, q)[:, 0], away, rtol=1e-13)
    np.testing.assert_allclose(goals.goal_errors(PUMA, {"tool": S}, q)[:, 0], np.maximum(turn, away), rtol=1e-13)
    between = np.arccos(np.clip(np.sum(S[:, :3, 2] * T[:, :3, 2], axis=1), -1, 1))
    tilt = goals.goal_errors(PUMA, goals.axis("tool", S[:, :3, 2]), q)[:, 0]
    np.testing.assert_allclose(tilt, 2 * np.sin(between / 2), rtol=1e-7)
    w = aj.manipulability(PUMA, q, "tool")
    least = goals.goal_errors(PUMA, goals.manipulability("tool", least=0.1), q)[:, 0]
    np.testing.assert_allclose(least, np.maximum(np.log(0.1 / w), 0), rtol=1e-9, atol=1e-12)


def test_distances_from_lines_and_planes():
    """A point at height h above a plane and at x beside a line in it, both oblique."""
    R, p = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix(), np.array([0.4, -0.1, 0.3])
    q = aj.random_configuration(PUMA, 20, rng=1)
    _, y, h = ((aj.forward_kinematics(PUMA, q, "tool")[:, :3, 3] - p) @ R).T
    both = [goals.line("tool", p, 7 * R[:, 0]), goals.plane("tool", p, -2 * R[:, 2])]
    np.testing.assert_allclose(goals.goal_errors(PUMA, both, q).T, [np.hypot(y, h), np.abs(h)], atol=1e-14)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "posture"])
@pytest.mark.parametrize("robot", [PUMA, TREE], ids=["puma", "tree"])
@pytest.mark.slow
def test_slopes_are_derivatives_of_errors(robot, kind):
    """Also far from the goal: central differences of fourth order along the motions that v describes."""
    frame, other = robot.frame_names[-1], robot.frame_names[2]
    there, q = aj.random_configuration(robot, 2, rng=4)
    goal = every_goal(robot, there, frame, other)[kind]
    if kind == "manipulability":
        goal = goals.manipulability(frame, least=100.0, part="translation")
    tasks, data, _ = problem_of(robot, goal, 1.0, "test")
    still, step = np.zeros(tasks.n_tangent), 1e-3

    def error(v):
        return moved_errors(robot, tasks, aj.integrate(robot, q, v), data, still)

    units = step * np.eye(robot.nv)
    slopes = np.stack([(8 * (error(-v) - error(v)) - error(-2 * v) + error(2 * v)) / (12 * step) for v in units], -1)
    J = goal_slopes(robot, tasks, q, data)
    assert np.abs(J).max() > 0
    if kind == "look_at":  # its slope is that across the line of sight
        sight = goal.target[3:] - aj.forward_kinematics(robot, q, frame)[:3, 3]
        slopes -= np.outer(sight, sight @ slopes) / (sight @ sight)
    np.testing.assert_allclose(J, slopes, rtol=0, atol=1e-9 * max(1, np.abs(J).max()))  # step⁴ = 1e-12


@pytest.mark.parametrize("types", [["revolute", "prismatic", "helical", "mimic"], EVERY], ids=["coordinates", "every"])
def test_slopes_of_postures(types):
    """They are exact at the goal and, far from it, along the error, by which a step leads to the goal.

    Where all joints have one coordinate, they are exact along every motion.
    """
    robot = robots.random_tree(5, 7, types)
    there, q = aj.random_configuration(robot, 2, rng=4)
    tasks, data, _ = problem_of(robot, goals.posture(there), 1.0, "test")
    still, step = np.zeros(tasks.n_tangent), 1e-3
    e = moved_errors(robot, tasks, q, data, still)
    every_motion = list(np.eye(robot.nv))
    cases = [(there, every_motion), (q, [e / np.linalg.norm(e), *(every_motion if types is not EVERY else [])])]
    for x, motions in cases:
        J = goal_slopes(robot, tasks, x, data)
        for v in motions:
            a, b, c, d = (
                moved_errors(robot, tasks, aj.integrate(robot, x, k * step * v), data, still) for k in (-2, -1, 1, 2)
            )
            np.testing.assert_allclose(J @ v, (8 * (b - c) - a + d) / (12 * step), rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        moved_errors(robot, tasks, aj.integrate(robot, q, e), data, still), 0, rtol=0, atol=1e-12
    )


# --- solutions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_reached(kind):
    q = aj.random_configuration(PUMA, 40, rng=2)
    goal = every_goal(PUMA, q, "tool", "link2")[kind]
    found = aj.find_configuration(PUMA, goal)
    assert found.success.all() and found.error.max() <= 1e-8
    assert goals.goal_errors(PUMA, goal, found.q).max() <= 1e-8
    assert np.all((found.q >= PUMA.lower) & (found.q <= PUMA.upper))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "frame"), [("panda", "panda_hand"), ("ur5_robot", "tool0"), ("xarm7", "link7")])
def test_real_arms_within_limits(name, frame):
    """Two thousand reachable poses; Pinocchio says where the frame is."""
    robot = aj.load(urdf(name))
    T = aj.forward_kinematics(robot, aj.random_configuration(robot, 2000, rng=5), frame)
    found = aj.find_configuration(robot, {frame: T})
    assert found.success.all()
    assert np.all((found.q >= robot.lower) & (found.q <= robot.upper))
    model = pin.buildModelFromUrdf(str(urdf(name)))
    data = model.createData()
    for q, want in zip(found.q[:100], T, strict=False):
        pin.framesForwardKinematics(model, data, pinocchio_q(model, robot, q))
        away = data.oMf[model.getFrameId(frame)].homogeneous - want
        assert np.abs(away).max() <= 1e-8 + 1e-12


@pytest.mark.slow
def test_several_frames_of_a_tree_with_every_joint():
    leaves = [name for i, name in enumerate(TREE.body_names) if i not in TREE.parents]
    q = aj.random_configuration(TREE, 30, rng=6)
    wanted = {name: aj.forward_kinematics(TREE, q, name) for name in leaves}
    found = aj.find_configuration(TREE, wanted, start=aj.random_configuration(TREE, 30, rng=7))
    assert found.success.all()
    for name, T in wanted.items():
        np.testing.assert_allclose(aj.forward_kinematics(TREE, found.q, name), T, rtol=0, atol=2e-8)


@pytest.mark.slow
def test_humanoid_with_hands_feet_and_centre_of_mass():
    robot = aj.load(urdf("g1_29dof_rev_1_0"), base="free")
    frames = ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"]
    home = np.clip(aj.neutral(robot), robot.lower, robot.upper)
    q = aj.interpolate(robot, home, aj.random_configuration(robot, 20, rng=8), 0.3)
    q[:, :7] = home[:7]
    wanted = [goals.pose(f, aj.forward_kinematics(robot, q, f)) for f in frames]
    wanted.append(goals.center_of_mass(aj.center_of_mass(robot, q)))
    found = aj.find_configuration(robot, wanted)
    assert found.success.all() and goals.goal_errors(robot, wanted, found.q).max() <= 1e-8
    assert np.all((found.q >= robot.lower) & (found.q <= robot.upper))


def test_out_of_reach_gives_the_nearest_configuration():
    """Two links of 1 m cannot reach 3 m: the best is 1 m away, stretched towards the target."""
    robot, angle = robots.two_link(), np.linspace(0, 3, 7)
    target = 3 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    found = aj.find_configuration(robot, {"tool": target})
    assert not found.success.any()
    reach = np.linalg.norm(aj.forward_kinematics(robot, np.zeros(2), "tool")[:3, 3])
    np.testing.assert_allclose(found.error, 3 - reach, rtol=1e-9)


@pytest.mark.slow
def test_no_solver_finds_a_better_answer_within_limits():
    """SciPy's bounded least squares, from our answers: |r|² of unreachable poses cannot be made smaller nearby."""
    rng = np.random.default_rng(9)
    T = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 6, rng=rng), "tool")
    T[:, :3, 3] *= 5.0
    found = aj.find_configuration(PUMA, {"tool": T})
    assert not found.success.any()
    for target, q in zip(T, found.q, strict=True):
        tasks, data, _ = problem_of(PUMA, {"tool": target}, 1.0, "test")
        r = moved_errors.bind(PUMA, tasks)
        bounds = PUMA.lower - 1e-9, PUMA.upper + 1e-9  # SciPy wants a start inside
        better = least_squares(lambda x, r=r, d=data: r(x, d, np.zeros(6)), q, bounds=bounds, xtol=1e-14, ftol=1e-14)
        ours = np.sum(r(q, data, np.zeros(6)) ** 2)
        assert ours <= 2 * better.cost * (1 + 1e-6)


def test_soft_goals_are_weighed_against_each_other():
    """With infinite tolerances the answer is the minimum of |r|², where its gradient Jᵀ r vanishes."""
    both = [
        goals.position("tool", [0.4, 0.2, 0.6], tolerance=np.inf),
        goals.posture(np.zeros(6), weight=0.2, tolerance=np.inf),
    ]
    found = aj.find_configuration(PUMA, both, start=np.full(6, 0.2), limits=False)
    tasks, data, _ = problem_of(PUMA, both, 1.0, "test")
    r, J = moved_errors(PUMA, tasks, found.q, data, np.zeros(tasks.n_tangent)), goal_slopes(PUMA, tasks, found.q, data)
    assert found.success and found.error == 0.0 and np.abs(r).max() > 0.01
    assert np.abs(J.T @ r).max() <= 1e-5 * np.abs(r).max()  # |r|² is flat to 1e-12 of itself, its slope to the root


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_of_all_kinds():
    q = aj.random_configuration(PUMA, 30, rng=10)
    T = aj.forward_kinematics(PUMA, q, "tool")
    outside = np.tile(PUMA.upper + 1.0, (30, 1))
    found = aj.find_configuration(PUMA, {"tool": T}, start=outside)
    assert found.success.all() and np.all((found.q >= PUMA.lower) & (found.q <= PUMA.upper))
    narrow = q - 0.2, q + 0.2  # one problem each: limits belong to the robot, not to the batch
    for k in range(3):
        one = aj.find_configuration(PUMA, {"tool": T[k]}, limits=(narrow[0][k], narrow[1][k]))
        assert one.success and np.all(np.abs(one.q - q[k]) <= 0.2)
    free = aj.find_configuration(PUMA, {"tool": T}, limits=False, start=q + 2 * np.pi)
    assert free.success.all() and (free.q > PUMA.upper).any()
    endless = PUMA.replace(lower=np.full(6, -np.inf), upper=np.append(PUMA.upper[:5], np.inf))
    assert aj.find_configuration(endless, {"tool": T}).success.all()


def test_answers_without_a_solution_are_within_limits_too():
    tight = PUMA.replace(lower=np.full(6, -0.1), upper=np.full(6, 0.1))
    found = aj.find_configuration(tight, {"tool": np.eye(4)}, seeds=8)
    assert not found.success and np.all(np.abs(found.q) <= 0.1) and np.any(np.abs(found.q) == 0.1)


# --- batches ----------------------------------------------------------------------------------------------------------


def test_results_depend_on_nothing_but_their_own_problem():
    robot = PUMA
    T = aj.forward_kinematics(robot, aj.random_configuration(robot, 70, rng=11), "tool")
    T[::7, :3, 3] += 0.5  # some take many restarts, some have no solution
    whole = aj.find_configuration(robot, {"tool": T}, seeds=12)
    turned = aj.find_configuration(robot, {"tool": T[::-1]}, seeds=12)
    for a, b in zip(whole, turned, strict=True):
        assert np.array_equal(a, b[::-1])
    for k in (0, 1, 69):
        one = aj.find_configuration(robot, {"tool": T[k]}, seeds=12)
        assert all(np.array_equal(a, b[k]) for a, b in zip(one, whole, strict=True))


@pytest.mark.parametrize(
    "options", [{}, {"seeds": 3}, {"seeds": 30, "start": np.full(6, 0.3)}, {"iterations": 6}], ids=str
)
def test_results_do_not_depend_on_the_size_of_the_batch(options):
    """Small batches run several rounds at once, large ones one after the other."""
    T = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 48, rng=19), "tool")
    T[::5, :3, 3] += 0.5
    whole = aj.find_configuration(PUMA, {"tool": T}, **options)
    assert len(set(whole.restarts.tolist())) > 2
    for size in (1, 3, 8):
        parts = [aj.find_configuration(PUMA, {"tool": T[k : k + size]}, **options) for k in range(0, 48, size)]
        for a, b in zip(whole, zip(*parts, strict=True), strict=True):
            assert np.array_equal(a, np.concatenate(b))


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    robot = PUMA.replace(upper=PUMA.upper - 0.1, screws=PUMA.screws + np.array([0, 0, 0, 1e-9, 0, 0]))  # new kernels
    T = aj.forward_kinematics(robot, aj.random_configuration(robot, 70, rng=11), "tool")
    T[::7, :3, 3] += 0.5
    split, together = set(), execution.run_together

    def noted(runs, stop):
        split.add(runs[0].func.__self__.code.name)
        together(runs, stop)

    monkeypatch.setattr(execution, "run_together", noted)
    for module in (execution, cpython_entry):
        monkeypatch.setattr(module, "THREAD_WORK", 1)  # batches are split however small they are
    found = []
    for threads, names in (("2", {"nearest_seed", "descend", "improve"}), ("1", set())):
        monkeypatch.setenv("ADJOINT_THREADS", threads)
        split.clear()
        found.append(aj.find_configuration(robot, {"tool": T}, seeds=12))
        found.append(
            aj.find_configuration(robot, {"tool": T[:, :3, 3]}, objectives=goals.posture(np.zeros(6)), seeds=12)
        )
        assert names == split & {"nearest_seed", "descend", "improve"}
    for two, one in zip(found[:2], found[2:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(two, one, strict=True))


def test_leading_axes_broadcast():
    q = aj.random_configuration(PUMA, 5, rng=12)
    T = aj.forward_kinematics(PUMA, q, "tool")
    found = aj.find_configuration(PUMA, {"tool": T}, start=np.zeros((3, 1, 6)))
    assert found.q.shape == (3, 5, 6) and found.success.shape == found.restarts.shape == (3, 5)
    assert np.array_equal(found.q[0], found.q[2])
    several = [goals.position("tool", T[:, :3, 3]), goals.axis("tool", T[:, None, :3, 2])]
    assert aj.find_configuration(PUMA, several, seeds=1).q.shape == (5, 5, 6)
    nothing = aj.find_configuration(PUMA, {"tool": np.zeros((0, 4, 4))})
    assert nothing.q.shape == (0, 6) and nothing.success.shape == (0,)


def test_nan_stays_in_its_own_sample():
    q = aj.random_configuration(PUMA, 6, rng=13)
    T = aj.forward_kinematics(PUMA, q, "tool")
    clean = aj.find_configuration(PUMA, {"tool": T})
    T[2, 1, 3], start = np.nan, np.full((6, 6), 0.1)
    found = aj.find_configuration(PUMA, {"tool": T})
    assert np.isnan(found.q[2]).all() and not found.success[2] and np.isnan(found.error[2])
    assert np.array_equal(np.delete(found.q, 2, 0), np.delete(clean.q, 2, 0))
    start[4, 0] = np.nan
    assert np.array_equal(
        aj.find_configuration(PUMA, {"tool": T}, start=start).success, np.isin(np.arange(6), [0, 1, 3, 5])
    )


def test_randomness_is_seeded():
    T = aj.forward_kinematics(PUMA, aj.random_configuration(PUMA, 10, rng=14), "tool")
    a, b, c = (aj.find_configuration(PUMA, {"tool": T}, rng=rng).q for rng in (1, 1, 2))
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    rng = np.random.default_rng(1)
    assert np.array_equal(aj.find_configuration(PUMA, {"tool": T}, rng=rng).q, a)
    assert not np.array_equal(aj.find_configuration(PUMA, {"tool": T}, rng=rng).q, a)


def test_a_start_that_meets_the_goals_stays():
    q = aj.random_configuration(PUMA, 5, rng=15)
    found = aj.find_configuration(PUMA, {"tool": aj.forward_kinematics(PUMA, q, "tool")}, start=q)
    assert np.array_equal(found.q, q) and not found.iterations.any() and not found.restarts.any()


# --- objectives -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_nearest_posture_is_as_near_as_scipy_finds_it():
    """SLSQP starts at our answer and minimises the distance with the pose as a constraint: it gains nothing."""
    robot = panda()
    middle = (robot.lower + robot.upper) / 2
    T = aj.forward_kinematics(robot, aj.random_configuration(robot, 5, rng=16), "panda_hand")
    plain = aj.find_configuration(robot, {"panda_hand": T})
    found = aj.find_configuration(robot, {"panda_hand": T}, objectives=goals.posture(middle))
    assert found.success.all() and np.all((found.q >= robot.lower) & (found.q <= robot.upper))
    away = [np.linalg.norm(x.q - middle, axis=1) for x in (plain, found)]
    assert np.all(away[1] < away[0])
    for q, target, ours in zip(found.q, T, away[1], strict=True):
        tasks, data, _ = problem_of(robot, {"panda_hand": target}, 1.0, "test")
        r, J = moved_errors.bind(robot, tasks), goal_slopes.bind(robot, tasks)
        constraint = {
            "type": "eq",
            "fun": lambda x, r=r, d=data: r(x, d, np.zeros(6)),
            "jac": lambda x, J=J, d=data: -J(x, d),
        }
        best = minimize(
            lambda x: np.sum((x - middle) ** 2), q, jac=lambda x: 2 * (x - middle), method="SLSQP",
            bounds=list(zip(robot.lower, robot.upper, strict=True)), constraints=[constraint], options={"ftol": 1e-12},
        )  # fmt: skip
        assert ours**2 <= best.fun + 1e-5 * ours**2


@pytest.mark.slow
def test_manipulability_grows_until_its_gradient_points_out_of_the_goals():
    """At the optimum, away from limits, the gradient of log w is a combination of the rows of J (Lagrange)."""
    robot = panda().replace(lower=np.full(8, -np.inf), upper=np.full(8, np.inf))
    T = aj.forward_kinematics(robot, aj.random_configuration(panda(), 10, rng=17), "panda_hand")
    plain = aj.find_configuration(robot, {"panda_hand": T})
    found = aj.find_configuration(robot, {"panda_hand": T}, objectives=goals.manipulability("panda_hand"))
    w = [aj.manipulability(robot, x.q, "panda_hand") for x in (plain, found)]
    assert found.success.all() and np.all(w[1] >= w[0]) and w[1].mean() > 1.02 * w[0].mean()
    tasks, data, _ = problem_of(robot, goals.manipulability("panda_hand", least=1e9), 1.0, "test")
    gradient = goal_slopes(robot, tasks, found.q, data)[:, 0]
    for q, g in zip(found.q, gradient, strict=True):
        J = aj.jacobian(robot, q, "panda_hand")
        along = g - J.T @ np.linalg.lstsq(J.T, g, rcond=None)[0]
        assert np.linalg.norm(along) <= 1e-2 * np.linalg.norm(g)  # the cost is flat to 1e-9, so the slope to its root


# --- derivatives ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*(kind for kind in KINDS if kind != "manipulability")])
def test_solutions_move_with_their_targets(kind):
    """Central differences of solutions of moved problems, each started at the solution."""
    q = aj.random_configuration(PUMA, 4, rng=18) * 0.5
    goal = every_goal(PUMA, q, "tool", "link2")[kind]
    D = goals.solution_derivatives(PUMA, goal, q, limits=False)
    step = 1e-4
    for k in range(D.shape[-1]):
        ends = []
        for sign in (1, -1):
            moved = moved_goal(kind, goal, sign * step * np.eye(D.shape[-1])[k])
            ends.append(aj.find_configuration(PUMA, moved, start=q, limits=False, tolerance=1e-12, seeds=0).q)
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(D[..., k], slope, rtol=0, atol=1e-5 * max(1, np.abs(D).max()) ** 3)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["all", "translation"])
def test_solutions_move_with_the_least_manipulability(part):
    """One-sided differences, since answers move only where the measure is not larger than it must be."""
    q, step = aj.random_configuration(PUMA, 4, rng=18) * 0.5, 1e-4
    w = aj.manipulability(PUMA, q, "tool", part=part)
    D = goals.solution_derivatives(
        PUMA, goals.manipulability("tool", least=w * (1 + 1e-12), part=part), q, limits=False
    )
    ends = [q]
    for x in (step, 2 * step):
        goal = goals.manipulability("tool", least=w * np.exp(x), part=part)
        found = aj.find_configuration(PUMA, goal, start=q, limits=False, tolerance=1e-12, seeds=0)
        assert found.success.all() and not np.array_equal(found.q, q)
        ends.append(found.q)
    slope = (4 * ends[1] - ends[2] - 3 * ends[0]) / (2 * step)
    np.testing.assert_allclose(D[..., 0], slope, rtol=0, atol=1e-5 * max(1, np.abs(D).max()) ** 3)
    larger = goals.manipulability("tool", least=0.9 * w, part=part)
    assert not goals.solution_derivatives(PUMA, larger, q, limits=False).any()
    assert np.array_equal(aj.find_configuration(PUMA, larger, start=q, limits=False).q, q)


def moved_goal(kind: str, goal: goals.Goal, x: np.ndarray) -> goals.Goal:
    """The goal with its target moved by x, by the public functions."""
    frame, other, t = goal.task.frame, goal.task.relative_to, goal.target
    if kind in ("pose", "relative"):
        T = np.concatenate([t.reshape(-1, 3, 4), np.tile([[[0.0, 0, 0, 1]]], (len(t), 1, 1))], axis=1)
        return goals.pose(frame, T @ se3.exp(x), relative_to=other)
    if kind == "orientation":
        return goals.orientation(frame, t.reshape(-1, 3, 3) @ Rotation.from_rotvec(x).as_matrix())
    if kind == "axis":
        return goals.axis(frame, t[:, 3:] + x - t[:, 3:] * (t[:, 3:] @ x)[:, None])
    changed = {
        "position": lambda: goals.position(frame, t[:, :3] + x, point=t[:, 3:]),
        "look_at": lambda: goals.look_at(frame, t[:, 3:] + x),
        "distance": lambda: goals.distance(frame, t[:, 3] + x[0], point=t[:, :3]),
        "line": lambda: goals.line(frame, t[:, :3] + x, t[:, 3:]),
        "plane": lambda: goals.plane(frame, t[:, :3] + x, t[:, 3:]),
        "center_of_mass": lambda: goals.center_of_mass(t + x),
        "posture": lambda: goals.posture(t + x),
    }
    return changed[kind]()


@pytest.mark.slow
def test_solutions_move_with_the_robot():
    """By offsets of the bodies, on a redundant arm: the least motion, as from differences of solved problems."""
    robot, frame, step = panda(), "panda_hand", 1e-5
    q = np.array([0.3, -0.4, 0.2, -1.8, 0.1, 1.6, 0.5, 0.01])
    T = aj.forward_kinematics(robot, q, frame)
    D = goals.solution_derivatives(robot, {frame: T}, q, ("offsets", "target"))
    assert D["offsets"].shape == (8, len(robot.body_names), 6) and D["target"].shape == (8, 6)
    x = np.random.default_rng(0).normal(size=(len(robot.body_names), 6))
    ends = []
    for sign in (1, -1):
        M = robot.placements @ se3.exp(sign * step * x)
        ends.append(aj.find_configuration(robot.replace(placements=M), {frame: T}, start=q, tolerance=1e-12, seeds=0).q)
    slope, want = (ends[0] - ends[1]) / (2 * step), np.einsum("nbk,bk->n", D["offsets"], x)
    np.testing.assert_allclose(want, slope, rtol=0, atol=1e-5 * np.abs(want).max())


def test_derivatives_hold_joints_on_their_limits():
    robot = PUMA.replace(upper=np.array([0.5, *PUMA.upper[1:]]))
    q = np.array([0.5, -0.3, 0.4, 0.2, 0.7, 0.1])
    goal = {"tool": aj.forward_kinematics(robot, q, "tool")[:3, 3]}
    D = goals.solution_derivatives(robot, goal, q)
    assert not D[0].any() and goals.solution_derivatives(robot, goal, q, limits=False)[0].any()
    batch = goals.solution_derivatives(robot, goal, np.stack([q, q * np.nan]))
    np.testing.assert_allclose(batch[0], D, rtol=0, atol=1e-14)
    assert np.isnan(batch[1]).all()
    with pytest.raises(ArgumentError, match="by is 'masses'; it must be one or several of target, inertias"):
        goals.solution_derivatives(robot, goal, q, "masses")


# --- bad input --------------------------------------------------------------------------------------------------------

EYE = np.eye(4)
SKEWED = np.stack([EYE, EYE, np.diag([1.0, 1, 2, 1])])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: aj.find_configuration("puma", {"tool": EYE}), "needs a Robot"),
        (lambda: aj.find_configuration(PUMA, {"hand": EYE}), "has no frame 'hand'"),
        (lambda: aj.find_configuration(PUMA, goals.pose(None, EYE)), "has no frame None"),
        (lambda: aj.find_configuration(PUMA, goals.pose("tool", EYE, relative_to="hand")), "has no frame 'hand'"),
        (lambda: aj.find_configuration(PUMA, {"tool": np.zeros(4)}), r"target of frame 'tool' has shape \(4,\)"),
        (lambda: aj.find_configuration(PUMA, {"tool": SKEWED}), r"target\[2\] is not a rigid motion"),
        (lambda: aj.find_configuration(PUMA, {"tool": np.diag([-1.0, 1, 1, 1])}), "the target is not a rigid motion"),
        (lambda: goals.orientation("tool", SKEWED[:, :3, :3]), r"target\[2\] is not a rotation"),
        (lambda: aj.find_configuration(PUMA, "up"), "goals are 'up'; give {frame: placement"),
        (lambda: aj.find_configuration(PUMA, []), "there are no goals"),
        (lambda: aj.find_configuration(PUMA, [EYE]), "a goal is"),
        (lambda: aj.find_configuration(PUMA, {"tool": goals.pose("tool", EYE)}), "names its frame itself"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, start=np.zeros(5)), r"'start' has shape \(5,\)"),
        (lambda: aj.find_configuration(PUMA, {"tool": SKEWED[:2]}, start=np.zeros((3, 6))), "axes do not match: goals"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, limits=(0, 1)), "limits must be True, False or a pair"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, limits=(np.ones(6), np.zeros(6))), "limit 1 is above"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, limits="hard"), "must be True or False"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, tolerance=0), "tolerance must be a positive"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, seeds=0), "nothing to try"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, seeds=-1), "seeds must be a whole number"),
        (lambda: aj.find_configuration(PUMA, {"tool": EYE}, rng="x"), "rng must be"),
        (lambda: aj.find_configuration(PUMA, goals.manipulability("tool")), "never met: give least="),
        (lambda: aj.find_configuration(PUMA, goals.posture(np.zeros(5))), r"robot '\S+' needs \(..., 6\)"),
        (lambda: aj.find_configuration(PUMA, goals.posture(np.zeros(6), weight=[1, 2])), "are 2 weights; 1 or 6"),
        (lambda: goals.pose("tool", EYE, weight=-1), "weight must be a number, 0 or more, or 2 of them"),
        (lambda: goals.pose("tool", EYE, tolerance=(1, 0)), "tolerance must be a positive number"),
        (lambda: goals.axis("tool", [0, 0, 0]), "direction is"),
        (lambda: goals.distance("tool", -1.0), "not negative"),
        (lambda: goals.line("tool", [0, 0, 0], [0, 0, 0]), "direction is .* no direction"),
        (lambda: goals.plane("tool", [0, 0, 0], [0, 0, 0]), "normal is .* no direction"),
        (lambda: goals.plane("tool", [0, 0], [0, 0, 1]), "point"),
        (lambda: goals.manipulability("tool", least=0), "least is 0"),
        (lambda: goals.manipulability("tool", part="x"), "part is 'x'"),
        (lambda: goals.position("tool", np.zeros((2, 3)), point=np.zeros((3, 3))), "leading axes of the arguments"),
        (lambda: goals.posture(1.0), "q is one number"),
        (lambda: goals.position("tool", "there"), "real numbers"),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_what_cannot_be_unrolled_is_refused_at_once():
    long = robots.random_tree(0, 60, ["revolute"])
    with pytest.raises(ArgumentError, match=r"at most 48 bodies, and robot '\S+' has 60; lock the joints"):
        aj.find_configuration(long, {long.body_names[-1]: EYE})


def test_a_robot_without_mass_has_no_centre():
    light = PUMA.replace(inertias=0 * PUMA.inertias)
    with pytest.raises(ArgumentError, match="no centre of mass"):
        aj.find_configuration(light, goals.center_of_mass(np.zeros(3)))
