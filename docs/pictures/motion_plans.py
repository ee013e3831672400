"""The pictures of docs/motion_plans.md: `python docs/pictures/motion_plans.py` writes them to docs/images."""

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from saving import save

import adjoint as aj
from adjoint.collision import collision_model, is_free
from adjoint.drawing.style import house_style
from adjoint.sensing import Box, DirectionalLight, Plane, Scene, Sphere, intensity_image, robot_solids
from adjoint.vision import Camera, looking_at
from adjoint.world.motion import plan_motion, roadmap
from adjoint.world.motion.model_checks import model_checker
from adjoint.world.motion.spaces import configuration_space
from adjoint.world.motion.tree_search import StraightWays, Tree

matplotlib.use("Agg")
ORANGE, BLUE, GREEN, GREY = "#d9622b", "#2b6cb0", "#2f855a", "#b8b8b8"


def arm_model():
    """The planar arm of the page, among three posts."""
    arm = aj.robots.planar(2).replace(lower=np.full(2, -3.0), upper=np.full(2, 3.0))
    places = ((1.2, 0.9), (-0.9, 1.2), (0.3, -1.5))
    return collision_model(arm, [Sphere(0.15, T_world_solid=[x, y, 0.0]) for x, y in places], pairs=())


START, GOAL = np.array([-2.4, 0.6]), np.array([1.9, 0.4])


def background(axis, model):
    """The plane of both joints, with what is not free in grey."""
    q = np.linspace(-3, 3, 301)
    free = is_free(model, np.stack(np.meshgrid(q, q), axis=-1))
    axis.imshow(np.where(free, 1.0, 0.78), origin="lower", extent=(-3, 3, -3, 3), cmap="gray", vmin=0, vmax=1)
    axis.set_xlabel("joint 1 [rad]")
    axis.set_ylabel("joint 2 [rad]")


def trees(model):
    """Two trees that grow as in `connect_trees`, until they meet."""
    space = configuration_space(model.robot)
    ways = StraightWays(model_checker(model, space, 0.05))
    rng, pair, a, b = np.random.default_rng(4), (Tree(START[None]), Tree(GOAL[None])), 0, 1
    for _ in range(200):
        _, _, new = pair[a].grown(ways, ways.random(rng, 2), 0.7)
        new = new[new >= 0]
        if len(new) and pair[b].grown(ways, pair[a].nodes[new], np.inf)[0].met.any():
            break
        a, b = b, a
    return pair


def draw_space():
    """Trees, roadmap and paths in the plane of two joints."""
    model = arm_model()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.4, 3.9), layout="constrained")
    background(left, model)
    for tree, colour in zip(trees(model), (BLUE, ORANGE), strict=True):
        lines = [(tree.nodes[k], tree.nodes[p]) for k, p in enumerate(tree.parents) if p >= 0]
        left.add_collection(LineCollection(lines, colors=colour, linewidths=1.0))
        left.plot(*tree.nodes.T, ".", color=colour, markersize=4)
    left.set_title("RRT-Connect: two trees")
    background(middle, model)
    roads = roadmap(model, samples=250)
    middle.add_collection(LineCollection(roads.nodes[roads.edges], colors=GREY, linewidths=0.4))
    middle.plot(*roads.nodes.T, ".", color=BLUE, markersize=3)
    plan = plan_motion(model, None, START, GOAL, method="prm", roadmap=roads, shortcut=False, timing=None)
    middle.plot(*plan.path.T, "-", color=ORANGE, linewidth=2)
    middle.set_title("PRM*: a roadmap and its shortest path")
    background(right, model)
    rough = plan_motion(model, None, START, GOAL, shortcut=False, timing=None, rng=4)
    short = plan_motion(model, None, START, GOAL, rng=4)
    right.plot(*rough.path.T, ".-", color=GREY, label="as found")
    right.plot(*short.path.T, "o-", color=BLUE, markersize=4, label="with shortcuts")
    q = short.trajectory(np.linspace(0, short.trajectory.duration, 400)).q
    right.plot(*q.T, color=ORANGE, label="the motion in time")
    right.legend(loc="lower right", fontsize=8)
    right.set_title("Shortcuts, then rounded corners")
    for axis in (left, middle, right):
        axis.plot(*START, "s", color="black", markersize=6)
        axis.plot(*GOAL, "*", color="black", markersize=10)
        axis.set_xlim(-3, 3)
        axis.set_ylim(-3, 3)
    save(figure, "motion_plans_space", colours=128)
    plt.close(figure)
    return short


def shelf():
    """The shelf of the page."""
    wood = [0.72, 0.55, 0.36]
    boards = [
        Box([0.3, 0.9, 0.025], T_world_solid=[0.62, 0.0, z], name=f"board {k}", colour=wood)
        for k, z in enumerate((-0.1, 0.25, 0.6))
    ]
    sides = [
        Box([0.3, 0.025, 0.725], T_world_solid=[0.62, y, 0.25], name=f"side {y}", colour=wood) for y in (-0.45, 0.45)
    ]
    middle = Box([0.3, 0.025, 0.35], T_world_solid=[0.62, 0.0, 0.075], name="middle", colour=wood)
    return [*boards, *sides, middle]


def draw_puma():
    """A PUMA that moves around a shelf, at five moments of its plan."""
    robot = aj.robots.puma560()
    solids = shelf()
    model = collision_model(robot, solids)
    plan = plan_motion(model, None, first_free(model, compartment(-0.22)), compartment(0.22))
    print(plan, plan.recheck())
    camera = Camera.pinhole((420, 400), field_of_view=0.62).at(looking_at([-1.9, -1.9, 1.25], [0.3, 0.05, 0.1]))
    floor = Plane(T_world_solid=[0, 0, -0.7], colour=0.75)
    figure, axes = plt.subplots(1, 4, figsize=(11.4, 3.0), layout="constrained")
    for axis, part in zip(axes, (0.0, 0.35, 0.65, 1.0), strict=True):
        t = part * plan.trajectory.duration
        links = [s.replace(colour=[0.93, 0.62, 0.2]) for s in robot_solids(robot, plan.trajectory(t).q)]
        image = intensity_image(
            Scene([floor, *solids, *links]), camera, DirectionalLight([0.7, 0.5, -1.0]), ambient=0.35, background=0.95,
            colour=True, samples=4,
        )  # fmt: skip
        axis.imshow(image)
        axis.set_title(f"{t:.2f} s")
        axis.axis("off")
    save(figure, "motion_plans_shelf", colours=48)
    plt.close(figure)
    return plan


def compartment(y: float) -> list:
    """The goals that the tool points into a compartment of the shelf."""
    return [aj.goals.position("tool", [0.56, y, 0.1]), aj.goals.axis("tool", [1, 0, 0])]


def first_free(model, targets) -> np.ndarray:
    """A free configuration that meets goals, the nearest to zero of those found."""
    every = aj.find_configuration(model.robot, targets, start=aj.random_configuration(model.robot, 200, rng=1), seeds=0)
    q = every.q[every.success]
    q = q[is_free(model, q)]
    return q[np.argmin(np.abs(q).sum(axis=1))]


def draw_motion(plan):
    """Positions and velocities of the motion in time, with the limits."""
    t = np.linspace(0, plan.trajectory.duration, 600)
    sample = plan.trajectory(t)
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 2.9), layout="constrained")
    for axis, values, name in zip(
        axes, (sample.q, sample.v, sample.a), ("q [rad]", "v [rad/s]", "a [rad/s²]"), strict=True
    ):
        axis.plot(t, values, linewidth=1.2)
        axis.set_xlabel("t [s]")
        axis.set_title(name)
    save(figure, "motion_plans_timing")
    plt.close(figure)


if __name__ == "__main__":
    with house_style("motion_plans.py"):
        draw_space()
        draw_motion(draw_puma())
