"""Draws the pictures of docs/servoing.md: python docs/pictures/servoing.py"""

from pathlib import Path

import numpy as np

import adjoint as aj
from adjoint.drawing.style import CURVES, house_style, new_figure
from adjoint.lie import se3
from adjoint.vision.cameras import Camera, looking_at, pixel_of_point, project
from adjoint.vision.servoing import image_based_twist, image_servo, pose_based_twist, pose_servo

IMAGES = Path(__file__).parents[1] / "images"
SQUARE = 0.06 * np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])


def tracks() -> None:
    """Pixels of a PUMA's wrist camera on their way, by three laws, and the errors of 200 runs in time."""
    robot, camera = aj.robots.puma560(), Camera.pinhole((640, 480), focal_length=500)
    target = np.array([0.5, -0.1, -0.35])
    points, place = SQUARE + target, se3.from_rotation_translation(np.eye(3), target)
    T = looking_at(target + np.array([0, 0, 0.4]), target, up=[1, 0, 0])
    goal = project(camera.at(T), points)
    found = aj.inverse_kinematics(robot, T, "tool")
    q = found.q[np.flatnonzero(found.exact)[0]]
    start = aj.inverse_kinematics(robot, T @ se3.exp([0.15, -0.2, 1.0, 0.08, 0.03, -0.12]), "tool")
    start = start.q[np.flatnonzero(start.exact)[0]]
    common = {"frame": "tool", "gain": 1.5, "rate": 50.0}
    laws = {
        "image": image_servo(robot, goal, points=points, camera=camera, **common),
        "partitioned": image_servo(robot, goal, points=points, camera=camera, method="partitioned", **common),
        "position": pose_servo(robot, se3.inverse(T) @ place, T_base_target=place, **common),
    }
    figure = new_figure("servoing", (10, 2.9), layout="constrained")
    axes = figure.subplots(1, 4, width_ratios=[1, 1, 1, 1.1])
    for axis, (name, law) in zip(axes, laws.items(), strict=False):
        run = aj.simulate(robot, law, q=start, v=np.zeros(6), duration=6.0, dt=0.001, record=20)
        seen = pixel_of_point(points, (aj.forward_kinematics(robot, run.q, "tool"))[:, None], camera.matrix)
        for k in range(4):
            axis.plot(*seen[:, k].T, color=CURVES[k], lw=1.2)
            axis.plot(*seen[0, k], "o", color=CURVES[k], ms=4)
            axis.plot(*goal[k], "x", color="#2b2f36", ms=6)
        axis.set(xlim=(200, 460), ylim=(380, 120), aspect="equal", title=name, xlabel="u [px]")
    axes[0].set_ylabel("v [px]")
    n = 200
    starts = q + 0.1 * np.random.default_rng(0).normal(size=(n, 6))
    law = image_servo(robot, goal, points=points, camera=camera, frame="tool", gain=2.0, rate=100.0)
    run = aj.simulate(robot, law, q=starts, v=np.zeros((n, 6)), duration=3.0, dt=0.001, record=30)
    seen = pixel_of_point(points, aj.forward_kinematics(robot, run.q, "tool")[:, :, None], camera.matrix)
    e = np.linalg.norm((seen - goal).reshape(n, -1, 8), axis=-1)
    axes[3].semilogy(run.t, e.T, color=CURVES[1], lw=0.4, alpha=0.35)
    axes[3].semilogy(run.t, np.median(e[:, 0]) * np.exp(-2.0 * run.t), "--", color="#2b2f36", label=r"$e^{-\lambda t}$")
    axes[3].set(title="errors of 200 runs [px]", xlabel="t [s]", ylim=(0.1, None))
    axes[3].legend()
    figure.savefig(IMAGES / "servoing_tracks.png", dpi=100)


def retreat() -> None:
    """The distance of a free camera that must turn about its axis, for several angles, by three laws."""
    home = looking_at([0, 0, 0.4], [0, 0, 0], up=[1, 0, 0])

    def image_of(T):
        X = se3.act(se3.inverse(T)[..., None, :, :], SQUARE)
        return X[..., :2] / X[..., 2:], X[..., 2]

    goal = image_of(home)[0]
    figure = new_figure("servoing", (10, 2.8), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    angles = np.array([60, 120, 150, 170, 175])
    for axis, name in zip(axes, ("image", "partitioned", "position"), strict=True):
        T, distances, dt = home @ se3.exp(np.deg2rad(angles)[:, None] * np.eye(6)[2]), [], 0.01
        for _ in range(700):
            distances.append(T[:, 2, 3])
            if name == "position":
                twist = pose_based_twist(se3.inverse(T), se3.inverse(home))
            else:
                twist = image_based_twist(*image_of(T)[:1], goal, image_of(T)[1], method=name)
            T = T @ se3.exp(dt * twist)
        for k, angle in enumerate(angles):
            axis.plot(dt * np.arange(700), np.array(distances)[:, k], color=CURVES[k], label=f"{angle}°")
        axis.set(title=name, xlabel="t [s]", ylim=(0, 3))
    axes[0].set_ylabel("distance to the target [m]")
    axes[0].legend(ncols=2)
    figure.savefig(IMAGES / "servoing_retreat.png", dpi=100)


if __name__ == "__main__":
    with house_style("servoing"):
        tracks()
        retreat()
