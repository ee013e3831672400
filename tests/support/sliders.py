"""Small plants for the tests of simulations: masses on sliders, free balls, and values of forces outside of a run."""

import numpy as np

import adjoint as aj
from adjoint.lie import inertia
from adjoint.model import Robot

G = 9.81


def slider(mass: float = 2.0, gravity=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), **numbers) -> Robot:
    """A mass [kg] on a rail."""
    builder = Robot.builder("slider", gravity=gravity).link("rail").link("block", inertia.sphere(mass, 0.1))
    return builder.joint("slide", "prismatic", "rail", "block", axis=axis).build().replace(**numbers)


def puck(mass: float = 1.0) -> Robot:
    """A mass that moves along x, y and z and does not turn; gravity is along -z."""
    builder = Robot.builder("puck").link("world")
    parent = "world"
    for axis, name in zip(np.eye(3), ("x", "y", "z"), strict=True):
        builder.link(name, inertia.sphere(mass if name == "z" else 0.0, 0.1))
        builder.joint(f"slide {name}", "prismatic", parent, name, axis=axis)
        parent = name
    return builder.build()


def ball(mass: float = 1.0, radius: float = 0.1) -> Robot:
    """A solid sphere that flies; gravity is along -z."""
    builder = Robot.builder("ball").link("world").link("ball", inertia.sphere(mass, radius))
    return builder.joint("flight", "free", "world", "ball").build()


def at(position) -> np.ndarray:
    """The q of a free body at this position."""
    return np.concatenate([position, [1.0, 0, 0, 0]])


def value(force: aj.simulation.Force, robot: Robot, t, q, v) -> np.ndarray:
    """What a force is at one instant: joint forces, or a wrench."""
    return force.parts.function(robot, force.parts.namespace(force.numbers), t, q, v)


def energy(robot: Robot, q, v) -> np.ndarray:
    """Kinetic and potential energy [J]."""
    return aj.dynamics.kinetic_energy(robot, q, v) + aj.dynamics.potential_energy(robot, q)
