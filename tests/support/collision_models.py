"""Robots among obstacles for tests: random shapes, scenes of all kinds, and distances by a second way."""

from __future__ import annotations

import functools

import numpy as np
from scipy.spatial.transform import Rotation

import adjoint as aj
from adjoint.collision.collision_models import CollisionModel, collision_model
from adjoint.collision.collision_solids import ConvexHull
from adjoint.collision.shapes_of_links import LinkShapes, shape_solids
from adjoint.collision.solid_distances import solid_distance
from adjoint.kinematics import forward_kinematics
from adjoint.model import Robot
from adjoint.sensing import Box, Capsule, Cylinder, Plane, Scene, Solid, Sphere

KINDS = ("sphere", "capsule", "box", "plane", "cylinder", "hull")


def random_pose(rng: np.random.Generator, spread: float = 1.0) -> np.ndarray:
    """A pose (4, 4) with any rotation, about the origin."""
    T = np.eye(4)
    T[:3, :3] = Rotation.random(rng=rng).as_matrix()
    T[:3, 3] = spread * rng.normal(size=3)
    return T


def random_solid(rng: np.random.Generator, kind: str, name: str = "", spread: float = 1.0) -> Solid:
    """A solid of a few decimetres."""
    T = random_pose(rng, spread)
    if kind == "sphere":
        return Sphere(rng.uniform(0.05, 0.3), T_world_solid=T, name=name)
    if kind == "capsule":
        return Capsule(rng.uniform(0.02, 0.1), rng.uniform(0.0, 0.6), T_world_solid=T, name=name)
    if kind == "box":
        return Box(rng.uniform(0.05, 0.5, 3), T_world_solid=T, name=name)
    if kind == "cylinder":
        return Cylinder(rng.uniform(0.05, 0.2), rng.uniform(0.1, 0.5), T_world_solid=T, name=name)
    if kind == "hull":
        return ConvexHull(points=0.2 * rng.normal(size=(12, 3)), T_world_solid=T, name=name)
    T[:3, 3] = -2.5 * T[:3, 2]  # a half-space that ends 2.5 m from the origin
    return Plane(T_world_solid=T, name=name)


def random_scene(seed: int, count: int = 8, kinds: tuple[str, ...] = KINDS, spread: float = 1.0) -> Scene:
    """A scene of solids of these kinds in turn, named "solid0", "solid1", ..."""
    rng = np.random.default_rng(seed)
    return Scene([random_solid(rng, kinds[k % len(kinds)], f"solid{k}", spread) for k in range(count)])


def random_shapes(robot: Robot, seed: int = 0, each: int = 2) -> LinkShapes:
    """Capsules and balls about the origin of every body and of the base."""
    rng = np.random.default_rng(seed)
    bodies = np.repeat(np.arange(-1, len(robot.body_names)), each)
    starts = 0.15 * rng.normal(size=(len(bodies), 3))
    ends = starts + 0.2 * rng.normal(size=(len(bodies), 3))
    ends[::3] = starts[::3]
    names = (robot.base_name, *robot.body_names)
    return LinkShapes(
        bodies, starts, ends, rng.uniform(0.02, 0.08, len(bodies)), np.zeros(len(bodies)),
        tuple(names[b + 1] + (f"#{k % each + 1}" if k % each else "") for k, b in enumerate(bodies)),
    )  # fmt: skip


@functools.cache
def tree() -> Robot:
    """A tree with joints of all types, a mimic and a free one among them."""
    types = ["free", "revolute", "prismatic", "mimic", "spherical", "helical", "planar"]
    return aj.robots.random_tree(3, 7, types)


@functools.cache
def tree_model() -> CollisionModel:
    """The tree among nothing, with pairs of bodies that are checked."""
    robot = tree()
    return collision_model(robot, shapes=random_shapes(robot), pairs=[(0, 4), (-1, 3), (2, 6), (1, 5)])


@functools.cache
def arm_model() -> CollisionModel:
    """A PUMA 560 among nothing, with the shapes of its drawing."""
    return collision_model(aj.robots.puma560())


def slow_clearance(model: CollisionModel, q: np.ndarray) -> float:
    """The clearance at one q, from solids at their places, pair by pair."""
    robot, shapes = model.robot, model.shapes
    solids = shape_solids(robot, shapes, q, T_world_base=model.T_world_base)
    found = [np.inf]
    for i, j in model._plan.pairs:
        found.append(float(solid_distance(solids[i], solids[j]).distance))
    for solid, body in zip(solids, shapes.bodies, strict=True):
        if body >= 0:
            found += [
                float(solid_distance(solid, obstacle).distance) - margin
                for obstacle, margin in zip(model.obstacles, model.margins, strict=True)
            ]
    return min(found)


def carried_pose(model: CollisionModel, q: np.ndarray, k: int) -> np.ndarray:
    """The pose (4, 4) of a carried solid in the world."""
    frame, solid = model.carried[k]
    return model.T_world_base @ forward_kinematics(model.robot, q, frame) @ solid.T_world_solid


def differences(f, robot: Robot, q: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """The derivative (nv,) of f at q by central differences along the manifold of configurations."""
    moves = step * np.eye(robot.nv)
    return (f(aj.integrate(robot, q, moves)) - f(aj.integrate(robot, q, -moves))) / (2 * step)
