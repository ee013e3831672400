"""The pictures of docs/classic_plans.md: this script writes docs/images/classic_plans_*.png."""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle, Polygon
from saving import save

from adjoint.collision import edges_free
from adjoint.drawing.style import CURVES, house_style
from adjoint.sensing import Box, Cylinder, Sphere
from adjoint.world.motion import descend_field, find_freeways, force_field, plan_by_freeways, plan_in_plane, smooth_path
from adjoint.world.motion.fields import field_potential, field_torque
from adjoint.world.motion.hypotheses import enclosing_sphere, hypothesize_and_test
from adjoint.world.motion.plane_grids import configuration_grid, plan_on_grid

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from support.gantries import collision_model, flat_arm, gantry, u_trap

matplotlib.use("Agg")
ORANGE, BLUE, GREEN, PURPLE = CURVES[:4]
SOLID, GROWN = "#5c6570", "#c9ced6"


def fill(axis, polygon, **style):
    axis.add_patch(Polygon(polygon, closed=True, **style))


def rectangle(x0, y0, x1, y1):
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)


def equal(axis, x, y):
    axis.set(xlim=x, ylim=y, aspect="equal")
    axis.grid(False)


def placed(robot, pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return robot @ np.array([[c, s], [-s, c]]) + pose[:2]


def along(path, n):
    way = np.concatenate(
        [[0], np.cumsum(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1) + 0.4 * np.abs(np.diff(path[:, 2])))]
    )
    s = np.linspace(0, way[-1], n)
    return np.stack([np.interp(s, way, c) for c in path.T], axis=1)


def visibility():
    """The fixture, and a scene with more obstacles."""
    square = rectangle(0, 0, 1, 1)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 3.7), layout="constrained")
        plan = plan_in_plane(square, [rectangle(2, 1, 4, 3)], [0, 1], [6, 1])
        _draw_plan(axes[0], plan, [rectangle(2, 1, 4, 3)], square)
        axes[0].set_title(f"grown by a unit square: {plan.length:.4f} m")
        equal(axes[0], (-0.5, 7.3), (-0.5, 3.6))
        rng = np.random.default_rng(4)
        centres = [[x, y] for x in (1.6, 4.6, 7.8) for y in (-2.0, 0.1, 2.2)] + rng.uniform(-0.4, 0.4, (9, 2))
        obstacles = [_star(rng) * rng.uniform(0.6, 1.0) + x for x in centres]
        robot = np.array([[-0.2, -0.25], [0.3, -0.15], [0.0, 0.3]])
        plan = plan_in_plane(robot, obstacles, [-0.4, 0], [10.4, 0])
        _draw_plan(axes[1], plan, obstacles, robot)
        axes[1].set_title("a triangle among nine obstacles, which overlap when grown")
        equal(axes[1], (-1, 11), (-3.4, 3.6))
        save(figure, "classic_plans_visibility")
        plt.close(figure)


def _star(rng, corners=7):
    angles = (np.arange(corners) + rng.uniform(0, 0.7, corners)) * 2 * np.pi / corners
    radii = rng.uniform(0.5, 1, corners)
    return radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _draw_plan(axis, plan, obstacles, robot):
    for p in plan.region.polygons:
        fill(axis, p, color=GROWN, lw=0)
    for p in obstacles:
        fill(axis, p, color=SOLID, lw=0)
    nodes, edges = plan.graph.nodes, plan.graph.edges
    axis.add_collection(LineCollection(nodes[edges], colors=BLUE, lw=0.5, alpha=0.45))
    axis.plot(nodes[:, 0], nodes[:, 1], ".", color=BLUE, ms=3)
    axis.plot(plan.path[:, 0], plan.path[:, 1], "-", color=ORANGE, lw=2.2)
    for x in plan.path[[0, -1]]:
        fill(axis, robot + x, fc="none", ec=ORANGE, lw=1.2)
        axis.plot(*x, "o", color=ORANGE, ms=4)


def turns():
    """A bar that turns to pass a door, on the shortest way and on freeways."""
    bar = np.array([[-1.5, -0.2], [1.5, -0.2], [1.5, 0.2], [-1.5, 0.2]])
    door = {"low": rectangle(3, -4, 4, -0.5), "high": rectangle(3, 0.5, 4, 4), "block": rectangle(6.5, -4, 7.5, -1.2)}
    room = ([-3, -4], [10, 4])
    start, goal = [-1, -1.5, np.pi / 2], [8.8, -1.5, np.pi / 2]
    shortest = plan_in_plane(bar, door, start, goal, rotate=32, bounds=room)
    middle = plan_by_freeways(bar, door, start, goal, slices=32, bounds=room)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 3.7), layout="constrained")
        for axis, plan, title in (
            (axes[0], shortest, "shortest, 32 slices of angles"),
            (axes[1], middle, "on freeways"),
        ):
            for p in door.values():
                fill(axis, p, color=SOLID, lw=0)
            if plan is middle:
                _draw_freeways(axis, find_freeways(door, bounds=room))
            for pose in along(plan.path, 26):
                fill(axis, placed(bar, pose), fc="none", ec=ORANGE, lw=0.7, alpha=0.8)
            axis.plot(plan.path[:, 0], plan.path[:, 1], "-", color=BLUE, lw=1.8)
            fill(axis, rectangle(-3, -4, 10, 4), fc="none", ec=SOLID, lw=1.5)
            axis.set_title(f"{title}: {plan.length:.2f} m")
            equal(axis, (-3.2, 10.2), (-4.2, 4.2))
        save(figure, "classic_plans_turns")
        plt.close(figure)


def _draw_freeways(axis, freeways):
    for k, f in enumerate(freeways):
        fill(axis, f.outline, color=CURVES[k % len(CURVES)], alpha=0.1, lw=0)
        ends = f.point([f.low, f.high])
        axis.plot(ends[:, 0], ends[:, 1], "-", color=GREEN, lw=0.8, alpha=0.8)


def freeways():
    """Generalized cones between obstacles, and a path that keeps to the middle."""
    rng = np.random.default_rng(1)
    centres = [[1.5, -2], [5.2, -2.2], [1.8, 2.0], [5.4, 1.8]]
    obstacles = [_star(rng, 5) * 1.35 + c for c in centres]
    room = ([-1.5, -4.5], [8.5, 4.5])
    robot = np.array([[-0.45, -0.12], [0.45, -0.12], [0.45, 0.12], [-0.45, 0.12]])
    found = find_freeways(obstacles, bounds=room)
    plan = plan_by_freeways(robot, obstacles, [-0.8, -3.5, 0.0], [7.8, 3.4, 1.2], bounds=room, slices=24)
    shortest = plan_in_plane(robot, obstacles, [-0.8, -3.5, 0.0], [7.8, 3.4, 1.2], bounds=room, rotate=24)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained")
        for axis in axes:
            for p in obstacles:
                fill(axis, p, color=SOLID, lw=0)
            fill(axis, rectangle(*room[0], *room[1]), fc="none", ec=SOLID, lw=1.5)
            equal(axis, (-1.7, 8.7), (-4.7, 4.7))
        _draw_freeways(axes[0], found)
        axes[0].set_title(f"{len(found)} freeways: cones and their spines")
        for pose in along(plan.path, 40):
            fill(axes[1], placed(robot, pose), fc="none", ec=ORANGE, lw=0.7)
        axes[1].plot(plan.path[:, 0], plan.path[:, 1], "-", color=BLUE, lw=1.8, label=f"freeways, {plan.length:.2f} m")
        axes[1].plot(*shortest.path[:, :2].T, "--", color=PURPLE, lw=1.3, label=f"shortest, {shortest.length:.2f} m")
        axes[1].legend(loc="lower right")
        axes[1].set_title("a bar along spines, beside the shortest way")
        save(figure, "classic_plans_freeways", colours=160)
        plt.close(figure)


def joint_space():
    """The configuration space of an arm with two joints."""
    arm = flat_arm()
    solids = [Sphere(0.25, T_world_solid=[1.2, 1.1, 0]), Box([0.5, 0.4, 0.4], T_world_solid=[-0.9, 1.1, 0])]
    model = collision_model(arm, solids)
    grid = configuration_grid(model, 240)
    start, goal = np.array([0.2, 0.4]), np.array([1.5, 0.7])
    plan = plan_on_grid(grid, start, goal)
    smooth = smooth_path(model, plan.path, clearance=0.08)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
        axis = axes[0]
        axis.add_patch(Circle((1.2, 1.1), 0.25, color=SOLID))
        fill(axis, rectangle(-1.15, 0.9, -0.65, 1.3), color=SOLID)
        path = smooth.path
        for k, q in enumerate(path[np.linspace(0, len(path) - 1, 14).astype(int)]):
            joints = np.cumsum([[0, 0], *[[np.cos(a), np.sin(a)] for a in np.cumsum(q)]], axis=0)
            axis.plot(*joints.T, "-", color=matplotlib.colormaps["viridis"](k / 14), lw=2.2, solid_capstyle="round")
        equal(axis, (-2.1, 2.1), (-1.4, 2.2))
        axis.set(title="the arm among its obstacles", xlabel="x [m]", ylabel="y [m]")
        axis, extent = axes[1], [-np.pi, np.pi, -np.pi, np.pi]
        axis.imshow(
            grid.free.T, origin="lower", extent=extent, cmap=matplotlib.colors.ListedColormap([SOLID, "#ffffff"])
        )
        axis.plot(*plan.path.T, "-", color=BLUE, lw=1.3, label=f"cells, {plan.length:.2f} rad")
        axis.plot(*smooth.path.T, "-", color=ORANGE, lw=2.0, label=f"smoothed, {smooth.after.length:.2f} rad")
        axis.plot(*np.stack([start, goal], axis=1), "o", color=ORANGE, ms=5)
        axis.grid(False)
        axis.set(title="the same in joint space: free cells are white", xlabel="q₁ [rad]", ylabel="q₂ [rad]",
                 xlim=(-np.pi, np.pi), ylim=(-np.pi, np.pi))  # fmt: skip
        axis.legend(loc="lower right", frameon=True)
        save(figure, "classic_plans_joint_space", colours=128)
        plt.close(figure)


def field():
    """Lines of Khatib's field, a way to the goal, and a trap."""
    ball = gantry(0.05)
    posts = [Cylinder(0.22, 2, T_world_solid=[-0.1, 0.35, 0]), Box([0.3, 0.5, 1], T_world_solid=[0.45, -0.35, 0])]
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
        for axis, solids, title in ((axes[0], posts, "two obstacles"), (axes[1], u_trap(), "a trap")):
            f = force_field(ball, solids, goal={"ball": [1.2, 0, 0]}, reach=0.25, attraction=20.0)
            x, y = np.meshgrid(np.linspace(-1.4, 1.6, 151), np.linspace(-1, 1, 101))
            q = np.stack([x, y, 0 * x], axis=-1)
            U, tau = np.minimum(field_potential(f, q), 130.0), field_torque(f, q)
            size = np.maximum(np.linalg.norm(tau, axis=-1, keepdims=True), 1e-12)
            axis.contour(x, y, U, levels=22, cmap="viridis", linewidths=0.7, alpha=0.8)
            lines = (tau / size)[..., :2].transpose(2, 0, 1)
            axis.streamplot(x, y, *lines, color="#9aa1ab", density=0.9, linewidth=0.5,
                            arrowsize=0.6)  # fmt: skip
            _draw_solids(axis, solids)
            for k, start in enumerate(([-1.2, 0.45, 0], [-1.2, 0.02, 0], [-1.0, -0.7, 0])):
                found = descend_field(f, start)
                axis.plot(found.path[:, 0], found.path[:, 1], "-", color=(ORANGE, BLUE, PURPLE)[k], lw=2)
                axis.plot(*found.path[-1][:2], "o" if found.reached else "X", color=(ORANGE, BLUE, PURPLE)[k], ms=7)
            axis.plot(1.2, 0, "*", color="#c4453a", ms=12)
            equal(axis, (-1.4, 1.6), (-1, 1))
            axis.set(title=title, xlabel="x [m]", ylabel="y [m]")
        save(figure, "classic_plans_field", colours=128)
        plt.close(figure)


def _draw_solids(axis, solids):
    for s in solids:
        x, y = s.T_world_solid[:2, 3]
        if isinstance(s, Box):
            a, b = s.size[:2] / 2
            fill(axis, rectangle(x - a, y - b, x + a, y + b), color=SOLID, zorder=3)
        else:
            axis.add_patch(Circle((x, y), s.radius, color=SOLID, zorder=3))


def hypotheses():
    """A straight path bends around enclosing spheres; in clutter it does not get through."""
    ball = gantry(0.05).locked({"slide_ball": 0.0})
    few = [Box([0.3, 0.5, 0.1], T_world_solid=[-0.6, 0.05, 0]), Sphere(0.25, T_world_solid=[0.7, -0.05, 0])]
    rng = np.random.default_rng(3)
    many = [Sphere(0.13, T_world_solid=[x, y, 0]) for x in (-0.5, 0.0, 0.5) for y in np.arange(-2.8, 2.9, 0.35)]
    many = [s.at(s.T_world_solid[:3, 3] + np.append(rng.uniform(-0.06, 0.06, 2), 0)) for s in many]
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
        for axis, solids, title in ((axes[0], few, "few obstacles"), (axes[1], many, "clutter")):
            found = hypothesize_and_test(collision_model(ball, solids), [-1.4, 0], [1.4, 0], trials=8)
            _draw_solids(axis, [s for s in solids if abs(s.T_world_solid[2, 3]) < 0.1])
            for s in solids if len(solids) < 5 else []:
                centre, radius = enclosing_sphere(s)
                axis.add_patch(Circle(centre[:2], radius, fc="none", ec=GREEN, lw=1.4, ls="--", zorder=5))
            axis.plot([-1.4, 1.4], [0, 0], ":", color=SOLID, lw=1)
            axis.plot(*found.path[:, :2].T, "-o", color=ORANGE if found.found else "#c4453a", lw=2, ms=4)
            word = "free" if found.found else "fails"
            axis.set_title(f"{title}: {len(found.path) - 2} waypoints added, {word}")
            equal(axis, (-1.6, 1.6), (-0.9, 0.9))
        save(figure, "classic_plans_hypotheses")
        plt.close(figure)


def smoothing():
    """A zigzag of a Panda-like arm before and after, in the plane of an arm with two links and over its path."""
    arm = flat_arm((0.6, 0.5, 0.4))
    solids = [Sphere(0.2, T_world_solid=[0.9, 0.75, 0]), Box([0.4, 0.3, 0.4], T_world_solid=[-0.5, 0.95, 0])]
    model = collision_model(arm, solids)
    path = _zigzag(model, np.array([-0.4, 0.3, 0.2]), np.array([2.8, 0.3, 0.1]))
    found = smooth_path(model, path, clearance=0.1)
    with house_style("pictures"):
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
        for axis, q, title in ((axes[0], path, "before"), (axes[1], found.path, "after")):
            _draw_solids(axis, solids)
            angles = np.cumsum(_dense(q), axis=1)
            tips = np.stack([(np.array([0.6, 0.5, 0.4]) * g(angles)).sum(axis=1) for g in (np.cos, np.sin)], axis=1)
            axis.plot(*tips.T, "-", color=ORANGE, lw=2)
            for row in _dense(q)[:: max(1, len(_dense(q)) // 16)]:
                steps = np.array([0.6, 0.5, 0.4])[:, None] * np.stack(
                    [np.cos(np.cumsum(row)), np.sin(np.cumsum(row))], 1
                )
                axis.plot(
                    *np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]).T, "-", color=BLUE, lw=1, alpha=0.45
                )
            measures = found.before if q is path else found.after
            axis.set_title(f"{title}: {measures.length:.2f} rad, {1e3 * measures.clearance:.0f} mm")
            equal(axis, (-1.6, 1.6), (-0.8, 1.6))
        for k in range(3):
            for q, style in ((path, ":"), (found.path, "-")):
                dense = _dense(q)
                axes[2].plot(np.linspace(0, 1, len(dense)), dense[:, k], style, color=CURVES[k], lw=1.6)
        axes[2].set(title="joints along the path", xlabel="part of the path", ylabel="q [rad]")
        save(figure, "classic_plans_smoothing")
        plt.close(figure)
    return found


def _zigzag(model, start, goal):
    """A free path with many corners: a random tree that grows from the start, without any shortcut."""
    rng, nodes, parents = np.random.default_rng(5), [start], [-1]
    while nodes[-1] is not goal:
        aim = goal if rng.random() < 0.15 else rng.uniform(-3, 3, 3)
        k = int(np.argmin(np.linalg.norm(np.array(nodes) - aim, axis=1)))
        way = aim - nodes[k]
        new = goal if aim is goal and np.linalg.norm(way) < 0.6 else nodes[k] + way * min(1, 0.6 / np.linalg.norm(way))
        if edges_free(model, nodes[k], new):
            nodes.append(new)
            parents.append(k)
    path, k = [], len(nodes) - 1
    while k >= 0:
        path.append(nodes[k])
        k = parents[k]
    return np.array(path[::-1])


def _dense(path, n=240):
    way = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return np.stack([np.interp(np.linspace(0, way[-1], n), way, c) for c in path.T], axis=1)


if __name__ == "__main__":
    for draw in (visibility, turns, freeways, joint_space, field, hypotheses, smoothing):
        draw()
