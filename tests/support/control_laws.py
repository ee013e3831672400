"""Simple robots and laws that tests of control share."""

import numpy as np

import adjoint as aj
from adjoint.control import law
from adjoint.lie import inertia


def cart(mass=1.0):
    """One body that slides without gravity: mass · q'' = τ."""
    parts = (
        aj.model.Builder("cart", gravity=(0, 0, 0))
        .link("rail")
        .link("cart", inertia.from_moments(mass, np.zeros(3), np.eye(3)))
    )
    return parts.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0)).build()


def floating():
    """A free body with an arm: its q has a quaternion, so that nq = 8 and nv = 7."""
    return aj.model.catalog.random_tree(3, 2, ["free", "revolute"])


def _position(robot, p, state, t, q, v, reference):
    return aj.difference(robot, aj.neutral(robot), q), state


def _velocity(robot, p, state, t, q, v, reference):
    return v + 0.0, state


def _constant(robot, p, state, t, q, v, reference):
    return p.size * np.ones(robot.nv), state


def _counting(robot, p, state, t, q, v, reference):
    return np.full(robot.nv, 0.0) + state, state + 1


def position_probe(robot=None):
    """A law whose joint forces are the position that it is given, as a motion from `neutral`."""
    return law(_position, follows=None, model=robot, name="position_probe")


def velocity_probe(robot=None):
    """A law whose joint forces are the velocity that it is given."""
    return law(_velocity, follows=None, model=robot, name="velocity_probe")


def constant(size, robot=None):
    """A law with constant joint forces."""
    return law(_constant, follows=None, model=robot, name="constant", size=size)


def counter(robot=None):
    """A law whose joint forces, and whose state, count how often it was asked before."""
    return law(_counting, follows=None, model=robot, state=0.0, name="counter")


def asked(controller, robot, q, v, times):
    """The joint forces (N, ..., nv) and the last state of a law that is asked one time after another."""
    state, found = None, []
    for k, t in enumerate(times):
        tau, state = controller(robot, state, t, q[k], v[k])
        found.append(tau)
    return np.array(found), state
