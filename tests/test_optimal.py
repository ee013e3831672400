"""Optimal motions: closed forms, exact derivatives, limits at every time, optimality, and failures that explain."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.robots import urdf

import adjoint as aj
from adjoint import Robot, goals, robots
from adjoint.errors import ArgumentError, SolveError
from adjoint.lie import inertia
from adjoint.trajectory import optimal_motion, spline_motion
from adjoint.trajectory.optimal.kinetic import Kinetic
from adjoint.trajectory.optimal.motion import straight
from adjoint.trajectory.optimal.path import conditions_of
from adjoint.trajectory.optimal.problem import Bounds, Problem
from adjoint.trajectory.optimal.reaching import reach
from adjoint.trajectory.optimal.solver import solve
from adjoint.trajectory.optimal.splines import inner, through
from adjoint.trajectory.torque import Torque

HANGING, UPRIGHT = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 2, 0.0])
TWO_LINK = robots.two_link().replace(effort_limit=np.array([25.0, 10.0]))
PUMA = robots.puma560().replace(effort_limit=np.array([97.0, 186, 89, 24, 20, 21]), velocity_limit=np.full(6, 3.0))
MASS = 2.0


def slider(**changes) -> Robot:
    """A mass on a rail without gravity: the double integrator."""
    builder = Robot.builder("slider", gravity=(0, 0, 0)).link("rail").link("mass", inertia.sphere.eager(MASS, 0.1))
    return builder.joint("x", "prismatic", "rail", "mass").build().replace(**changes)


def over_limits(robot, motion) -> float:
    """The largest excess on a grid far denser than any that the library looks at, torques by `inverse_dynamics`."""
    t = np.linspace(0, motion.duration, 20001)
    at, tau = motion(t), motion.torques(t).tau
    assert_allclose(tau, aj.inverse_dynamics(robot, at.q, at.v, at.a), atol=1e-9)
    return max(
        np.max(robot.lower - at.q),
        np.max(at.q - robot.upper),
        np.max(np.abs(at.v) - robot.velocity_limit),
        np.max(np.abs(tau) / robot.effort_limit - 1),
    )


# --- derivatives ------------------------------------------------------------------------------------------------------


def path_of(robot: Robot) -> tuple:
    """Equations and inequalities of frames, also of one frame seen from another; none of them is met."""
    held = [
        goals.axis("tool", [1, 2, 3]),
        goals.line("tool", [0, 0, 1], [1, 0, 1], relative_to=robot.frame_names[1]),
        goals.position("tool", [0, 0, 0], weight=(0, 1, 0)),
    ]
    within = [goals.pose("tool", np.eye(4), tolerance=(0.3, 2.0)), goals.distance("tool", 1.0, tolerance=0.5)]
    return conditions_of(robot, (*held, *within), np.ones((1, robot.nq))).each(0.1)


def problem_of(kind: str, duration=(1.3, 1.3), frame: str | None = None, path: bool = False) -> Problem:
    """A tree with a mimic, friction and damping, and both ends in motion."""
    robot = robots.random_tree(5, 4, ["revolute", "prismatic", "mimic", "helical"])
    n = robot.nv
    start, goal = np.random.default_rng(1).normal(size=(2, 2, n))
    limit = np.append(np.full(n - 1, 30.0), np.inf)  # of speed and torque; the last joint has none
    end = reach(robot, frame, np.eye(4), "goal") if frame else None
    cost = np.arange(1.0, n + 1) * (kind == "effort"), 7.0 * (kind == "energy")
    kinetic = Kinetic(robot) if kind == "kinetic" else None
    bounds = Bounds(robot.lower, robot.upper, limit, limit)
    goal[1] *= end is None
    torque, along = Torque(robot, np.full(n, 0.3)), path_of(robot) if path else ()
    return Problem(torque, *cost, 3, start, goal, duration, bounds, end, kinetic, along)


def straight_points(problem: Problem, duration: float) -> np.ndarray:
    """Control points of the straight spline between the ends of a problem."""
    ends = problem.start, problem.goal
    q = straight(problem.torque.robot, *ends, duration)(duration * inner(problem.segments)).q
    return through(q, *ends, duration)


def dense(pattern, values) -> np.ndarray:
    matrix = np.zeros(pattern.shape)
    matrix[pattern.rows, pattern.columns] = values
    return matrix


def differences(fn, x, step=1e-4) -> np.ndarray:
    """∂fn/∂x by central differences of fourth order: error ~ step⁴, and rounding / step ~ 1e-12 relative."""

    def at(k, e):
        return fn(x + k * step * e)

    columns = [(8 * (at(1, e) - at(-1, e)) - (at(2, e) - at(-2, e))) / (12 * step) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["effort", "energy", "kinetic"])
@pytest.mark.parametrize(
    ("duration", "frame", "path"),
    [
        ((1.3, 1.3), None, False),
        ((1.0, 2.0), None, False),
        ((1.0, 2.0), "tool", False),
        ((1.3, 1.3), None, True),
        ((1.0, 2.0), "tool", True),
    ],
)
def test_derivatives_are_exact(kind, duration, frame, path):
    problem = problem_of(kind, duration, frame, path)
    rng = np.random.default_rng(2)
    x = problem.pack(straight_points(problem, 1.3), 1.3)
    x += 0.1 * rng.normal(size=x.shape)
    J, lam = dense(problem.jacobian_pattern, problem.jacobian(x)), rng.normal(size=problem.range[0].shape)
    H = dense(problem.hessian_pattern, problem.hessian(x, 0.7, lam))

    def lagrangian_gradient(x):
        return 0.7 * problem.gradient(x) + lam @ dense(problem.jacobian_pattern, problem.jacobian(x))

    gradient = problem.gradient(x)
    assert_allclose(gradient, differences(problem.cost, x), atol=1e-8 * np.abs(gradient).max())
    assert_allclose(J, differences(problem.constraints, x), atol=1e-8 * np.abs(J).max())
    assert_allclose(H, np.triu(differences(lagrangian_gradient, x)), atol=1e-8 * np.abs(H).max())


def test_unknowns_are_packed_and_unpacked():
    problem = problem_of("energy", (1.0, 2.0))
    c = straight_points(problem, 1.3)
    back, T = problem.unpack(problem.pack(c, 1.3))
    assert T == 1.3
    assert_allclose(back, c, atol=1e-12)


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("v_0", "v_1"), [(0.0, 0.0), (1.0, -1.0), (-0.5, 2.0)])
def test_least_effort_of_a_mass_is_a_cubic(v_0, v_1):
    """½ m² ∫ a² dt = m² (2 (v_0² + v_0 v_1 + v_1²) / T - 6 d (v_0 + v_1) / T² + 6 d² / T³)."""
    d, T = 3.0, 2.0
    motion = optimal_motion(slider(), ([0.0], [v_0]), ([d], [v_1]), T, segments=4)
    least = 2 * (v_0**2 + v_0 * v_1 + v_1**2) / T - 6 * d * (v_0 + v_1) / T**2 + 6 * d**2 / T**3
    assert motion.cost == pytest.approx(MASS**2 * least, rel=1e-9)
    s = np.linspace(0, 1, 101)
    hermite = d * (3 * s**2 - 2 * s**3) + T * v_0 * (s - 2 * s**2 + s**3) + T * v_1 * (s**3 - s**2)
    assert_allclose(motion(T * s).q[:, 0], hermite, atol=1e-6)


def test_least_effort_of_a_mass_with_a_weak_motor():
    """a = clip(α (1 - 2s), ±U/m): saturated for s < β with (d m) / (U T²) = β/2 + ... ; splines come within 1e-4.

    With 1 - 2s = x, the torque U min(1, x / x_b) on 0 < x < 1 moves d = U T² / m · (1/4 - x_b² / 12).
    """
    d, T, x_b = 1.0, 2.0, 0.5
    limit = d * MASS / T**2 / (1 / 4 - x_b**2 / 12)
    least = limit**2 * T / 2 * (1 - x_b + x_b / 3)
    motion = optimal_motion(slider(effort_limit=np.array([limit])), [0.0], [d], T, weights=[1.0], segments=32)
    assert least * (1 - 1e-9) < motion.cost < least * (1 + 2e-3)
    assert motion.peaks.tau[0] <= limit


def test_least_energy_of_a_mass_is_bang_coast_bang():
    """Full force to the speed u, coasting, braking: d = u T - m u² / U, and the work is m u²."""
    d, T, u = 1.0, 2.0, 0.6
    limit = MASS * u**2 / (u * T - d)
    motion = optimal_motion(slider(effort_limit=np.array([limit])), [0.0], [d], T, cost="energy", segments=32)
    assert MASS * u**2 * (1 - 1e-9) < motion.energy < MASS * u**2 * 1.02
    assert motion.improvement > 0.4  # the quintic's top speed is 15/8 d / T: 1.76 J of work, not 0.72
    assert over_limits(motion.robot, motion) <= 0


# --- a two-link arm ---------------------------------------------------------------------------------------------------


def test_two_link_beats_the_spline_and_keeps_the_limits():
    """From hanging to upright in 1.5 s: 80 % less effort, by swinging; the spline needs more torque than there is."""
    motion = optimal_motion(TWO_LINK, HANGING, UPRIGHT, 1.5)
    assert motion.converged
    assert motion.improvement > 0.7  # the best of several local minima near by saves 82 %
    assert over_limits(TWO_LINK, motion) <= 0
    assert spline_motion(TWO_LINK, HANGING, UPRIGHT, 1.5).excess[2].max() > 0.1
    ends = motion([0, 1.5])
    assert_allclose(ends.q, [HANGING, UPRIGHT], atol=1e-12)
    assert_allclose(ends.v, 0, atol=1e-12)


def test_every_limit_at_once():
    robot = TWO_LINK.replace(
        lower=np.array([-2.0, -1.5]), upper=np.array([2.0, 1.5]), velocity_limit=np.array([3.0, 4])
    )
    robot = robot.replace(effort_limit=np.array([25.0, 6]))
    motion = optimal_motion(robot, HANGING, UPRIGHT, 1.6)
    assert over_limits(robot, motion) <= 0
    assert motion.peaks.q[1] == pytest.approx(1.5, abs=0.05)
    assert motion.peaks.v[0] > 2.7  # active ones
    assert motion.peaks.tau[1] > 5.7


def test_stationary():
    """Gradients of cost and of active limits balance (Karush, Kuhn & Tucker), by multipliers of the right sign."""
    robot = TWO_LINK.replace(effort_limit=np.array([14.0, 5]))
    rest = np.zeros(2)
    ends = np.stack([HANGING, rest]), np.stack([UPRIGHT, rest])
    bounds = Bounds(robot.lower, robot.upper, robot.velocity_limit, robot.effort_limit)
    problem = Problem(Torque(robot, np.ones(2)), np.ones(2), 0.0, 12, *ends, (1.5, 1.5), bounds)
    x = problem.pack(straight_points(problem, 1.5), 1.5)
    scale = problem.cost(x)
    found = solve(problem, x, scale)
    assert found.converged
    J, lam = dense(problem.jacobian_pattern, problem.jacobian(found.x)), found.multipliers
    gradient = problem.gradient(found.x) / scale
    assert np.abs(gradient + J.T @ lam).max() < 1e-6 < 1e-3 < np.abs(gradient).max()
    g = problem.constraints(found.x)
    assert np.abs(lam[np.abs(g) < 0.99]).max() < 1e-5 < np.abs(lam).max()
    assert np.all(lam[g > 0.99] > -1e-8) and np.all(lam[g < -0.99] < 1e-8)


def test_refining_lowers_the_cost_and_converges():
    """Splines of 4, 8, 16, 32 segments contain each other."""
    free = robots.two_link()
    costs = [optimal_motion(free, HANGING, UPRIGHT, 1.5, segments=k).cost for k in (4, 8, 16, 32)]
    drops = -np.diff(costs)
    assert np.all(drops > 0)
    assert np.all(drops[1:] < drops[:-1] / 4)
    assert drops[-1] < 3e-3 * costs[-1]


@pytest.mark.slow
def test_effort_and_energy_are_different_aims():
    least_effort, least_energy = (
        optimal_motion(TWO_LINK, [-1, 1], [1, -0.5], 1.0, cost=c) for c in ("effort", "energy")
    )
    assert least_effort.effort < 0.95 * least_energy.effort
    assert least_energy.energy < 0.95 * least_effort.energy
    assert least_energy.improvement > 0.4
    assert over_limits(TWO_LINK, least_energy) <= 0
    # No motors can do with less than the rise of the arm's potential energy.
    rise = np.diff(aj.potential_energy(TWO_LINK, np.array([[-1.0, 1], [1, -0.5]])))[0]
    assert least_energy.energy > rise


@pytest.mark.slow
def test_free_duration_is_the_best_one():
    free = optimal_motion(TWO_LINK, HANGING, UPRIGHT, (0.5, 6.0))
    assert 0.6 < free.duration < 5.9
    for factor in (0.95, 1.05):
        other = optimal_motion(TWO_LINK, HANGING, UPRIGHT, factor * free.duration)
        assert other.cost > free.cost


@pytest.mark.slow
def test_friction_and_mimics():
    robot = TWO_LINK.replace(friction=np.array([1.0, 0.5]), damping=np.array([0.3, 0.2]))
    motion = optimal_motion(robot, HANGING, UPRIGHT, 1.5, segments=8)
    assert over_limits(robot, motion) <= 0
    assert motion.improvement > 0.5
    tree = robots.random_tree(3, 4, ["revolute", "mimic"]).replace(friction=np.zeros(2))
    motion = optimal_motion(tree, [-0.3, 0.2], [0.4, -0.2], 1.0)
    assert 0.01 < motion.improvement < 1


# --- the least kinetic energy -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("robot", [robots.two_link(), robots.planar(3)], ids=["two", "three"])
def test_least_kinetic_energy_without_limits_is_a_geodesic(robot):
    """Of length d, run at constant speed: ∫ ½ vᵀ M v dt = d² / (2 T). Gravity and friction do not count.

    Splines of h = 1/16 come within h¹⁰ of the cost (twice the order of their speed), if the ends have its velocities.
    """
    free = np.full(robot.nv, np.inf)
    robot = robot.replace(lower=-free, upper=free, friction=np.full(robot.nv, 0.3))
    q_0, q_1, T = np.linspace(-0.5, 0.4, robot.nv), np.linspace(0.6, -0.2, robot.nv), 1.5
    path = aj.geometry.geodesic_between(robot, q_0, q_1)
    motion = optimal_motion(robot, (q_0, path.v[0] / T), (q_1, path.v[-1] / T), T, cost="kinetic")
    least = path.length**2 / (2 * T)
    assert least * (1 - 1e-9) < motion.kinetic < least * (1 + 1e-6)
    at = motion(T * path.t)
    assert_allclose(at.q, path.q, atol=1e-3)  # the root of the error of the cost
    assert_allclose(aj.kinetic_energy(robot, at.q, at.v), least / T, rtol=1e-2)
    assert motion.cost == motion.kinetic and motion.improvement > 0


@pytest.mark.slow
def test_least_kinetic_energy_within_limits():
    """Limits cost something, rest at both ends too; of a pair of durations, the longer one is best."""
    q_0, q_1, T = np.array([-1.0, 0.5]), np.array([1.0, -0.8]), 1.5
    least = aj.geometry.geodesic_between(TWO_LINK, q_0, q_1).length ** 2 / (2 * T)
    free, limited = (optimal_motion(r, q_0, q_1, T, cost="kinetic") for r in (robots.two_link(), TWO_LINK))
    assert least < free.cost < limited.cost and limited.improvement > 0
    assert over_limits(TWO_LINK, limited) <= 0
    longer = optimal_motion(TWO_LINK, q_0, q_1, (1.0, 2.0), cost="kinetic")
    assert longer.duration == pytest.approx(2.0, rel=1e-6) and longer.cost < limited.cost


# --- goals all along the path -----------------------------------------------------------------------------------------


def gantry() -> Robot:
    """A mass that two rails move in a plane, without gravity."""
    builder = Robot.builder("gantry", gravity=(0, 0, 0)).link("base").link("rail")
    builder.link("tool", inertia.sphere.eager(MASS, 0.1)).joint("x", "prismatic", "base", "rail", axis=[1, 0, 0])
    return builder.joint("y", "prismatic", "rail", "tool", axis=[0, 1, 0]).build()


def test_a_mass_on_a_circle_keeps_its_speed():
    """The geodesic of the circle: ∫ ½ m v² dt = m (r φ)² / (2 T). Splines stay on the circle as far as they can."""
    r, phi, T = 2.0, 1.2, 1.5
    direction = np.array([[1.0, 0], [np.cos(phi), np.sin(phi)]])
    states = [(r * e, r * phi / T * np.array([-e[1], e[0]])) for e in direction]
    motion = optimal_motion(gantry(), *states, T, cost="kinetic", path=goals.distance("tool", r))
    assert motion.cost == pytest.approx(MASS * (r * phi) ** 2 / (2 * T), rel=1e-8)
    t = np.linspace(0, T, 4001)
    assert np.abs(np.linalg.norm(motion(t).q, axis=1) - r).max() <= motion.path_deviation[0] * 1.01 < 1e-6
    assert_allclose(np.linalg.norm(motion(t).v, axis=1), r * phi / T, rtol=1e-4)


def test_a_mass_on_an_oblique_line_moves_like_one_on_a_rail():
    d, T = np.array([3.0, 4.0]), 2.0
    line = goals.line("tool", [0, 0, 0], [*d, 0])
    bent = optimal_motion(gantry(), [0, 0], d, T, path=[line, goals.axis("tool", [0, 0, 1])])  # the second always holds
    assert bent.cost == pytest.approx(MASS**2 * 6 * (d @ d) / T**3, rel=1e-9)
    assert bent.path_deviation.max() < 1e-12


START = np.array([0.2, -0.4, 0.6, 0.5, 0.6, 0.1])
PLACE = aj.forward_kinematics.eager(PUMA, START, "tool")
FURTHER = PLACE[:3, 3] + [-0.1, 0.2, -0.25]
HELD = {
    "cup": [goals.axis("tool", PLACE[:3, 2])],
    "orientation": [goals.orientation("tool", PLACE[:3, :3])],
    "line": [goals.line("tool", PLACE[:3, 3], FURTHER - PLACE[:3, 3])],
    "plane": [goals.plane("tool", PLACE[:3, 3], np.cross([0, 0, 1], FURTHER - PLACE[:3, 3]))],
    "seam": [
        goals.line("tool", PLACE[:3, 3], FURTHER - PLACE[:3, 3]),
        goals.orientation("tool", PLACE[:3, :3]),
        goals.axis("tool", PLACE[:3, 2]),  # the two before imply both of these
        goals.plane("tool", PLACE[:3, 3], np.cross([0, 0, 1], FURTHER - PLACE[:3, 3])),
    ],
}  # fmt: skip


def on_path(path: list, p: np.ndarray) -> np.ndarray:
    """A configuration of the PUMA that meets the goals of a path, with its tool at p."""
    found = aj.find_configuration(PUMA, [*path, goals.position("tool", p)], start=START)
    assert found.success
    return found.q


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_a_puma_keeps_goals_along_its_path(name):
    """The limits hold, the path is kept on a grid far denser than the points where the search enforces it."""
    path, goal = HELD[name], on_path(HELD[name], FURTHER)
    motion = optimal_motion(PUMA, START, goal, 0.5, path=path)
    free = optimal_motion(PUMA, START, goal, 0.5)
    assert motion.converged and over_limits(PUMA, motion) <= 0
    assert free.cost < motion.cost and motion.improvement > 0
    errors = goals.goal_errors(PUMA, path, motion(np.linspace(0, 0.5, 10001)).q).max(axis=0)
    assert np.all(errors <= 1.01 * motion.path_deviation + 1e-12) and motion.path_deviation.max() < 1e-5
    assert goals.goal_errors(PUMA, path, free(0.25).q).max() > 1e-3  # the free motion leaves it
    assert_allclose(motion(0.5).q, goal, atol=1e-12)
    assert repr(path[0]) in motion.summary()


@pytest.mark.slow
def test_a_tolerance_is_used_and_not_exceeded():
    """The cup may tilt by 0.02 rad: cheaper than not at all, dearer than as much as it likes."""
    goal = on_path(HELD["cup"], FURTHER)
    within = [goals.axis("tool", PLACE[:3, 2], tolerance=0.02)]
    held, loose, free = (optimal_motion(PUMA, START, goal, 0.5, path=path) for path in (HELD["cup"], within, None))
    assert free.cost < loose.cost < held.cost
    tilt = goals.goal_errors(PUMA, within, loose(np.linspace(0, 0.5, 10001)).q)
    assert 0.0195 < tilt.max() < 0.02 * (1 + 1e-6)
    assert over_limits(PUMA, loose) <= 0


@pytest.mark.slow
def test_a_frame_is_brought_to_a_place_along_a_path():
    """The end is free where the goal leaves it free; what a placement implies of the path is no second equation."""
    cup, target = HELD["cup"], aj.forward_kinematics(PUMA, on_path(HELD["cup"], FURTHER), "tool")
    positioned, placed = (
        optimal_motion(PUMA, START, x, 0.6, frame="tool", path=cup, segments=8) for x in (FURTHER, target)
    )
    for motion in (positioned, placed):
        assert motion.converged and over_limits(PUMA, motion) <= 0
        assert motion.path_deviation.max() < 1e-4
        assert_allclose(aj.forward_kinematics(PUMA, motion(0.6).q, "tool")[:3, 3], FURTHER, atol=1e-6)
    assert_allclose(aj.forward_kinematics(PUMA, placed(0.6).q, "tool"), target, atol=1e-6)
    assert positioned.cost <= placed.cost * (1 + 1e-6)


@pytest.mark.slow
def test_segments_are_added_until_the_path_is_kept():
    """A long line of the tool: two segments deviate by more than 1e-4 m, more do not."""
    start, goal = np.array([0.3, 1.0]), np.array([2.3, 1.0])
    path = goals.line("tool", *_chord(TWO_LINK, start, goal))
    coarse, fine = (optimal_motion(TWO_LINK, start, goal, 2.0, segments=k, path=path) for k in (2, 16))
    assert coarse.trajectory.pieces > 2 and coarse.path_deviation[0] < 1e-4
    assert fine.path_deviation[0] < 1e-4
    assert coarse.cost == pytest.approx(fine.cost, rel=0.05)


def _chord(robot: Robot, start, goal) -> tuple[np.ndarray, np.ndarray]:
    """A point and the direction of the line between the tool's places at two configurations."""
    a, b = aj.forward_kinematics(robot, np.stack([start, goal]), "tool")[:, :3, 3]
    return a, b - a


@pytest.mark.slow
def test_singularities_are_kept_away_from():
    """A least manipulability holds at every time; the free motion has a third of it on its way."""
    start, goal = aj.random_configuration(PUMA, 2, rng=9) / 2

    def measure(motion) -> np.ndarray:
        return aj.manipulability(PUMA, motion(np.linspace(0, 1.5, 5001)).q, "tool", part="translation")

    free = optimal_motion(PUMA, start, goal, 1.5, segments=8)
    least = 0.95 * min(measure(free)[[0, -1]])
    motion = optimal_motion(
        PUMA, start, goal, 1.5, segments=8, path=goals.manipulability("tool", least=least, part="translation")
    )
    assert measure(free).min() < 0.6 * least < least * (1 - 1e-5) < measure(motion).min()
    assert free.cost < motion.cost and over_limits(PUMA, motion) <= 0


@pytest.mark.slow
def test_a_path_that_leads_out_of_reach_is_explained():
    """The chord comes within 1.13 m of the base, and the elbow bends so far that the tool is 1.46 m away at least."""
    arm = TWO_LINK.replace(lower=np.array([-4, 0.5]), upper=np.array([4, 1.5]))
    start, goal = np.array([0.0, 1.2]), np.array([np.pi / 2, 1.2])
    with pytest.raises(SolveError, match=r"leaves its path: it misses <goal line of 'tool'.*> by 0\.\d+ m at t"):
        optimal_motion(arm, start, goal, 2.0, segments=8, path=goals.line("tool", *_chord(arm, start, goal)))


def test_a_goal_out_of_reach_on_a_path_is_explained():
    with pytest.raises(SolveError, match=r"joint limits and on the path: .* misses <goal plane of 'tool'"):
        below = goals.plane("tool", [0, -2, 0], [0, 1, 0])
        optimal_motion(TWO_LINK, HANGING, [1.0, 1, 0], 1.0, frame="tool", path=below)


def test_a_path_too_fast_is_explained():
    start, goal = np.array([0.3, 1.0]), np.array([1.3, 1.0])
    path = goals.line("tool", *_chord(TWO_LINK, start, goal))
    with pytest.raises(SolveError, match=r"times its limit.* The spline bent onto the path needs \d"):
        optimal_motion(TWO_LINK, start, goal, 0.2, path=path, segments=8)


BENT = np.array([0.0, 1.0])
LEVEL = goals.plane("tool", aj.forward_kinematics.eager(TWO_LINK, BENT, "tool")[:3, 3], [0, 1, 0])


@pytest.mark.parametrize(
    ("start", "path", "message"),
    [
        (BENT + 0.1, LEVEL, r"start is not on the path: it misses <goal plane .* by 0\.\d+ m, and 1e-06 is"),
        (BENT, [LEVEL, goals.distance("tool", 1.0, tolerance=0.5)], "misses <goal distance .* and 0.5 is allowed"),
        ((BENT, [1.0, 0.0]), LEVEL, r"start has a velocity that leaves the path, at 1\.54 rad/s or m/s"),
        (BENT, "level", "path: goals are 'level'"),
        (BENT, [1], "path: a goal is 1"),
        (BENT, goals.plane("tol", [0, 0, 0], [0, 0, 1]), "did you mean 'tool'"),
        (BENT, goals.plane("tool", np.zeros((2, 3)), [0, 0, 1]), "must have one target"),
        (BENT, goals.plane("tool", [0, np.nan, 0], [0, 0, 1]), "finite"),
        (BENT, goals.plane("tool", [0, 0, 0], [0, 0, 1], weight=0.0), "asks for nothing"),
        (BENT, goals.manipulability("tool"), "give least="),
    ],
)
def test_bad_paths(start, path, message):
    with pytest.raises(ArgumentError, match=message):
        optimal_motion(TWO_LINK, start, BENT, 1.0, path=path)


# --- harder ones ------------------------------------------------------------------------------------------------------


def test_pendulum_swings_up_with_a_motor_too_weak_to_hold_it():
    """2 N m against the 4.9 N m of the horizontal rod: it must swing to and fro first."""
    pendulum = robots.planar(1).replace(effort_limit=np.array([2.0]))
    motion = optimal_motion(pendulum, HANGING[:1], UPRIGHT[:1], 4.0)
    assert over_limits(pendulum, motion) <= 0
    assert np.sum(np.diff(np.sign(motion(motion.times[1:-1]).v[:, 0])) != 0) >= 2
    t = np.linspace(0, 4, 50)
    at = motion(t)
    assert_allclose(aj.forward_dynamics(pendulum, at.q, at.v, motion.torques(t).tau), at.a, atol=1e-9)


@pytest.mark.slow
def test_puma_lifts_its_arm():
    motion = optimal_motion(PUMA, [0, 0, np.pi / 2, 0, 0, 0], [1, -np.pi / 2, np.pi / 2, 0, 0, 0], 0.8)
    assert over_limits(PUMA, motion) <= 0
    assert motion.improvement > 0.2
    assert motion.peaks.v.max() > 2.9


@pytest.mark.slow
def test_a_frame_is_brought_to_a_place():
    """Position alone leaves joints free to be where it is cheapest; so does not a placement."""
    start, last = np.array([0, -1.0, 1, 0, 0.3, 0]), np.array([0.8, -0.5, 0.7, 0.3, 0.5, 0.2])
    target = aj.forward_kinematics.eager(PUMA, last, "tool")
    placed = optimal_motion(PUMA, start, target, 1.0, frame="tool", segments=8)
    positioned = optimal_motion(PUMA, start, target[:3, 3], 1.0, frame="tool", segments=8)
    assert_allclose(aj.forward_kinematics(PUMA, placed(1.0).q, "tool"), target, atol=1e-7)
    assert_allclose(aj.forward_kinematics(PUMA, positioned(1.0).q, "tool")[:3, 3], target[:3, 3], atol=1e-7)
    assert positioned.cost < placed.cost
    assert_allclose(placed(1.0).v, 0, atol=1e-12)
    assert max(over_limits(PUMA, placed), over_limits(PUMA, positioned)) <= 0


@pytest.mark.slow
def test_a_real_arm_with_a_gripper():
    """Speed limits are met for a while, and one finger follows the other."""
    panda = aj.load(urdf("panda"))
    start, goal = [0.8, -0.8, -2.6, -3.0, 1.8, 3.4, 0.6, 0.03], [0.3, 0.2, -1.6, -3.0, 2.0, 2.4, 1.3, 0.01]
    motion = optimal_motion(panda, start, goal, 1.0, segments=12)
    assert motion.converged and motion.improvement > 0.1
    assert over_limits(panda, motion) <= 0
    assert np.sum(motion.peaks.v / panda.velocity_limit > 0.999) >= 2


def test_branches_do_not_couple():
    """Torques of one branch do not depend on the other: a third of the Jacobian is not there."""
    builder = Robot.builder("fork").link("base")
    for name, parent in (("trunk", "base"), ("left", "trunk"), ("right", "trunk")):
        builder.link(name, inertia.box.eager(1.0, [1, 1.0, 2])).joint(name, "revolute", parent, name, axis=[1, 0.5, 0])
    coupled = Torque(builder.build(), np.ones(3)).coupled
    assert_allclose(coupled, [[1, 1, 1], [1, 1, 0], [1, 0, 1]])


@pytest.mark.slow
def test_more_starts_never_cost_more():
    pendulum = robots.planar(1).replace(effort_limit=np.array([2.0]))
    one, three, again = (
        optimal_motion(pendulum, HANGING[:1], UPRIGHT[:1], 5.0, starts=k, segments=12) for k in (1, 3, 3)
    )
    assert three.cost <= one.cost
    assert three.cost == again.cost  # the random ones have a seed


# --- what users see ---------------------------------------------------------------------------------------------------


def test_progress(capsys):
    seen = []
    motion = optimal_motion(slider(), [0.0], [1.0], 1.0, progress=seen.append)
    assert tuple(seen) == motion.history
    assert motion.history[-1].cost == pytest.approx(motion.cost)
    assert capsys.readouterr().out == ""
    optimal_motion(slider(), [0.0], [1.0], 1.0, progress=True)
    assert "iteration   0: cost" in capsys.readouterr().out


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_in_progress_reaches_the_caller(error, capfd):
    def interrupt(step):
        raise error

    with pytest.raises(error):
        optimal_motion(slider(), [0.0], [1.0], 1.0, progress=interrupt)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_motion_is_a_function_of_time(tmp_path):
    motion = optimal_motion(slider(), [0.0], [1.0], 2.0, segments=4)
    assert motion(1.0).q == pytest.approx(0.5)
    assert motion.torques(np.zeros((2, 3))).tau.shape == (2, 3, 1)
    for bad in (-0.1, 2.1, np.nan):
        with pytest.raises(ArgumentError, match="trajectory of 2 s has no time"):
            motion(bad)
    with pytest.raises(ValueError, match="read-only"):
        motion.trajectory.coefficients[0] = 1.0
    assert "30.0% less than a spline's" in repr(motion)  # 6 against 60/7
    assert "x" in motion.summary() and "Solve_Succeeded" in motion.summary()
    assert motion.plot(tmp_path / "new" / "motion.png").stat().st_size > 10_000


def test_spline_motion():
    motion = spline_motion(slider(), [0.0], [1.0], 2.0)
    assert motion.cost == pytest.approx(MASS**2 * 60 / 7 / 2**3)  # ½ m² ∫ (60 s - 180 s² + 120 s³)² ds / T³
    assert motion.energy == pytest.approx(MASS * (15 / 8 / 2) ** 2, rel=1e-4)
    assert motion.improvement == 0.0


def test_staying_where_it_is_costs_nothing():
    motion = optimal_motion(slider(), [0.5], [0.5], 1.0)
    assert motion.cost < 1e-12 and motion.improvement == 0.0


@pytest.mark.parametrize("most", [1, 3])
def test_stopping_early_is_a_warning(most):
    with pytest.warns(RuntimeWarning, match=f"ended with Maximum_Iterations_Exceeded after iteration {most}, "):
        motion = optimal_motion(robots.two_link(), HANGING, UPRIGHT, 1.5, max_iterations=most)
    assert not motion.converged and "not converged" in repr(motion)


def test_nothing_cheaper_than_the_spline_is_a_warning(monkeypatch):
    """A search that ends with something dearer: the spline itself is returned."""

    def astray(problem, x, scale, **options):
        return solve(problem, x, scale, **options)._replace(x=x + 1.0)

    monkeypatch.setattr("adjoint.trajectory.optimal.solver.solve", astray)
    with pytest.warns(RuntimeWarning, match="ended with no improvement on the spline, the cost may not be the least"):
        motion = optimal_motion(slider(), [0.0], [1.0], 1.0)
    assert not motion.converged and motion.improvement == 0
    assert motion.cost == spline_motion(slider(), [0.0], [1.0], 1.0).cost


WEAK = TWO_LINK.replace(effort_limit=np.array([12.0, 10]))
BOXED = TWO_LINK.replace(lower=np.full(2, -1.0), upper=np.full(2, 1.0))


@pytest.mark.parametrize(
    ("robot", "goal", "duration", "message"),
    [
        (TWO_LINK, UPRIGHT, 0.3, r"takes a torque of 541\.6 in joint 'joint1' at t = .*, 21\.7 times its limit 25"),
        (TWO_LINK, UPRIGHT, 0.3, "The straight spline needs 1.7"),
        (WEAK, [0, 0], 0.4, "At the goal, joint 'joint1' cannot even hold still: gravity takes 19.61 of its 12"),
        (WEAK, [0, 0], 0.4, "A slower motion does not help along the straight spline"),
        (TWO_LINK.replace(velocity_limit=np.full(2, 1.0)), UPRIGHT, 2.0, "Speed limits alone need 3.142 s"),
    ],
)
def test_failures_are_explained(robot, goal, duration, message):
    with pytest.raises(SolveError, match=message):
        optimal_motion(robot, HANGING, goal, duration, segments=8)


@pytest.mark.slow
def test_the_nearest_motion_is_no_worse_than_the_spline():
    """The solver's last iterate may take many times what the spline does: 510 N m, where the spline takes 153."""
    spline = spline_motion(WEAK, HANGING, [0, 0], 0.4)
    with pytest.raises(SolveError) as raised:
        optimal_motion(WEAK, HANGING, [0, 0], 0.4)
    torques = re.findall(r"a torque of (\S+) in joint", str(raised.value))
    assert len(torques) == 1 and float(torques[0]) < 1.001 * spline.peaks.tau[0]


def test_out_of_reach():
    with pytest.raises(SolveError, match=r"frame 'tool' is out of reach .* configuration found is 1 m away"):
        optimal_motion(TWO_LINK, HANGING, [3.0, 0, 0], 1.0, frame="tool")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"robot": "arm"}, "needs a Robot"),
        ({"robot": robots.random_tree(0, 2, ["spherical"])}, "joint 'joint1' .* several degrees of freedom"),
        ({"robot": TWO_LINK.replace(effort_limit=np.array([0.0, 1]))}, "joint 'joint1' .* has effort limit 0"),
        ({"robot": robots.two_link(), "cost": "energy"}, "has no torque limit"),
        ({"start": [0, 0, 0]}, r"start must be q \(2,\) or a pair"),
        ({"goal": [0, np.nan]}, "goal must be .* finite"),
        ({"goal": "up"}, "goal must be"),
        (
            {"start": ([0, 0], [9, 0]), "robot": TWO_LINK.replace(velocity_limit=np.full(2, 8.0))},
            "v of joint 'joint1' is 9",
        ),
        ({"goal": [4, 0], "robot": TWO_LINK.replace(upper=np.full(2, 3.0))}, "q of joint 'joint1' is 4, outside"),
        ({"start": ([1, 0], [1, 0]), "robot": BOXED}, "start: joint 'joint1' is on its limit 1 and goes on beyond it"),
        ({"goal": ([0, -1], [0, 2]), "robot": BOXED}, "goal: joint 'joint2' is on its limit -1 and comes from beyond"),
        ({"duration": 0}, r"duration \[s\] must be a positive number, got 0"),
        ({"duration": "long"}, "must be a positive number"),
        ({"duration": (2, 1)}, "2 to 1 s"),
        ({"duration": (1, 2, 3)}, "seconds or a pair"),
        ({"cost": "time"}, "must be one of 'effort', 'energy', 'kinetic'"),
        ({"weights": [1]}, r"optimal_motion: weights must be numbers \(2,\)"),
        ({"weights": [1, 1], "cost": "energy"}, "weights are those of the effort"),
        ({"segments": 0}, "segments must be 1 or more"),
        ({"starts": 1.5}, "starts must be a whole number"),
        ({"frame": "tol"}, "did you mean 'tool'"),
        ({"frame": "tool"}, r"placement \(4, 4\) of 'tool' or its position"),
    ],
)
def test_bad_arguments(changes, message):
    arguments = {"robot": TWO_LINK, "start": [0, 0], "goal": UPRIGHT, "duration": 1.0} | changes
    with pytest.raises(ArgumentError, match=message):
        optimal_motion(**arguments)
