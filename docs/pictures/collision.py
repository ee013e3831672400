"""The pictures of docs/collision.md: `python docs/pictures/collision.py` writes docs/images/collision_*.png."""

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Circle, Polygon
from saving import save

import adjoint as aj
from adjoint.collision import LinkShapes, clearance, clearance_gradient, collision_model, edge_motions, edges_certified
from adjoint.drawing.style import CURVES, house_style
from adjoint.sensing import Box, Sphere

matplotlib.use("Agg")
START, END = np.array([-0.5, 1.35]), np.array([0.95, 1.6])


def placed(x, y, turn):
    T = np.eye(4)
    T[:2, :2], T[:2, 3] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]], (x, y)
    return T


def planar_model():
    """A planar arm of two links, 1 m each, among a ball and two boxes."""
    robot = aj.robots.two_link()
    # The frames of the bodies are at the far ends of the links.
    shapes = LinkShapes(
        np.array([0, 1]),
        np.array([[-1.0, 0, 0], [-1.0, 0, 0]]),
        np.zeros((2, 3)),
        np.array([0.08, 0.06]),
        np.zeros(2),
        ("link1", "link2"),
    )
    obstacles = [
        Sphere(0.2, T_world_solid=[1.45, 1.2, 0], name="ball"),
        Box([0.5, 0.3, 0.3], T_world_solid=placed(-0.9, 1.2, 0.4), name="box"),
        Box([0.3, 0.6, 0.3], T_world_solid=placed(0.9, -1.2, -0.3), name="block"),
    ]
    return collision_model(robot, obstacles, shapes=shapes, pairs=())


def draw_arm(axes, q, colour, **options):
    a, b = q[0], q[0] + q[1]
    elbow = np.array([np.cos(a), np.sin(a)])
    tip = elbow + np.array([np.cos(b), np.sin(b)])
    for (p, r), width in (((np.zeros(2), elbow), 0.16), ((elbow, tip), 0.12)):
        n = np.array([-(r - p)[1], (r - p)[0]]) * width / 2
        axes.add_patch(Polygon([p + n, r + n, r - n, p - n], facecolor=colour, edgecolor="none", **options))
        for end in (p, r):
            axes.add_patch(Circle(end, width / 2, facecolor=colour, edgecolor="none", **options))


def draw_obstacles(axes, model):
    for solid in model.obstacles:
        T = solid.T_world_solid
        if isinstance(solid, Sphere):
            patch = Circle(T[:2, 3], solid.radius)
        else:
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * solid.size[:2] / 2
            patch = Polygon(corners @ T[:2, :2].T + T[:2, 3])
        patch.set(facecolor="#8a9099", edgecolor="none")
        axes.add_patch(patch)


def field(model):
    """Where the arm is, and how far it is from obstacles in all configurations."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.3), layout="constrained")
    draw_obstacles(left, model)
    for s, part in ((0.0, 1.0), (0.33, 0.45), (0.66, 0.45), (1.0, 1.0)):
        colour = CURVES[1] if part == 1 else "#9dc3e6"
        draw_arm(left, START + s * (END - START), colour, alpha=0.9)
    left.set(xlim=(-1.6, 2.2), ylim=(-1.7, 2.1), xlabel="x [m]", ylabel="y [m]", title="A planar arm and an edge")
    left.set_aspect("equal")
    n = 241
    angles = np.linspace(-np.pi, np.pi, n)
    q = np.stack(np.meshgrid(angles, angles), axis=-1)
    d = clearance(model, q)
    shown = right.contourf(angles, angles, d, levels=np.linspace(-0.4, 1.2, 17), cmap="RdYlBu", extend="both")
    right.contour(angles, angles, d, levels=[0.0], colors="#2b2f36", linewidths=1.6)
    few = q[12::24, 12::24].reshape(-1, 2)
    g = clearance_gradient(model, few).gradient
    right.quiver(*few.T, *g.T, color="#2b2f36", alpha=0.55, width=0.0028, scale=28)
    right.plot(*np.stack([START, END]).T, color=CURVES[1], linewidth=2.2, marker="o", markersize=4)
    right.set(xlabel="q1 [rad]", ylabel="q2 [rad]", title="Clearance [m], its gradient, and contact (black)")
    right.set_aspect("equal")
    right.grid(visible=False)
    figure.colorbar(shown, ax=right, shrink=0.9)
    save(figure, "collision_field", colours=128)
    plt.close(figure)


def proof(model):
    """The clearance along an edge, and what each sample proves about its neighbourhood."""
    s = np.linspace(0, 1, 801)
    d = clearance(model, aj.interpolate(model.robot, START, END, s))
    moved = float(edge_motions(model, START, END))
    parts, samples = [(0.0, 1.0)], [0.0, 1.0]

    def at(x):
        return float(clearance(model, aj.interpolate(model.robot, START, END, x)))

    while parts:
        low, high = parts.pop()
        if at(low) + at(high) <= moved * (high - low):
            middle = (low + high) / 2
            samples.append(middle)
            parts += [(low, middle), (middle, high)]
    figure, axes = plt.subplots(figsize=(7.6, 3.4), layout="constrained")
    for x in sorted(samples):
        height = at(x)
        reach = height / moved
        tent = np.array([[x - reach, 0], [x, height], [x + reach, 0]])
        axes.add_patch(Polygon(tent, facecolor=CURVES[2], alpha=0.22, edgecolor=CURVES[2], linewidth=0.7))
        axes.plot(x, height, "o", color=CURVES[2], markersize=4)
    axes.plot(s, d, color=CURVES[1], linewidth=2)
    axes.set(xlim=(0, 1), ylim=(0, 1.1 * d.max()), xlabel="part s of the edge", ylabel="clearance [m]")
    axes.set_title(f"{len(samples)} samples prove that the edge is free: their tents meet")
    assert edges_certified(model, START, END).free
    save(figure, "collision_proof")
    plt.close(figure)


if __name__ == "__main__":
    with house_style("pictures"):
        planar = planar_model()
        field(planar)
        proof(planar)
