"""What the rules of the model doctor ask of a robot: its links as the model states them, where they are, its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..lazy import cached_property
from ..lie import inertia as inertias
from .parts import Finding, JointSpec, Link
from .robot import Robot

__all__ = ["FAR", "Model", "is_moderate", "link_finding"]

FAR = 50.0
"""No link of a robot is longer than this [m]."""

_LARGEST = 1e60  # the rules multiply numbers, and products of numbers up to this one do not overflow


@dataclass(frozen=True)
class Model:
    """A robot, with what several rules need to know about it in its neutral configuration.

    `home` and `reach` have one entry for each of `links`.
    """

    robot: Robot
    links: Sequence[Link]
    home: list[np.ndarray]  # the placement (4, 4) of each link in the base frame
    reach: list[float]  # [m], from each link to the farthest one of those at most two joints away
    size: float  # [m], the diagonal of the box around the origins of all links
    specs: dict[str, JointSpec]  # {name of a joint: the joint as the model states it}

    @classmethod
    def of(cls, robot: Robot) -> Model:
        """Return the model of a robot; bodies take the place of links if the robot keeps no links."""
        names = enumerate(robot.body_names)
        links = robot.links or [Link(name, i, np.eye(4), robot.inertias[i]) for i, name in names]
        bodies = {-1: np.eye(4)}
        for body in robot.bodies:
            bodies[body.index] = bodies[body.parent] @ body.M
        home = [bodies[l.body] @ l.placement for l in links]
        points = np.array([np.zeros(3), *(T[:3, 3] for T in home)])
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        return cls(robot, links, home, _reaches(robot, links, points[1:]), size, {s.name: s for s in robot.specs})

    @cached_property
    def solid(self) -> list[tuple[Link, inertias.Central, float]]:
        """List (link, its inertia about the centre of mass, its reach) for the links that have mass."""
        return [
            (link, inertias.central.eager(link.inertia), reach)
            for link, reach in zip(self.links, self.reach, strict=True)
            if link.inertia is not None and link.inertia[0] > 0 and is_moderate(link.inertia)
        ]

    def joint(self, level: str, code: str, name: str, message: str) -> Finding:
        """Return a finding about the joint of this name."""
        spec = self.specs.get(name)
        return Finding(level, code, f"joint '{name}'", message, spec.where if spec else None)


def is_moderate(inertia: np.ndarray) -> bool:
    """Return whether the rules can compute with an inertia (10,): its numbers are finite, and none is absurd."""
    return bool(np.all(np.abs(inertia) < _LARGEST)) and not 0 < abs(inertia[0]) < 1 / _LARGEST


def link_finding(level: str, code: str, link: Link, message: str) -> Finding:
    """Return a finding about a link."""
    return Finding(level, code, f"link '{link.name}'", message, link.where)


def _reaches(robot: Robot, links: Sequence[Link], points: np.ndarray) -> list[float]:
    """Return the `reach` of each link; `points` (n, 3) are their origins."""
    near = {i: {i} for i in range(-1, len(robot.body_names))}  # bodies at most one joint away
    for i, parent in enumerate(robot.parents.tolist()):
        near[i].add(parent)
        near[parent].add(i)
    on = {i: [] for i in near}
    for link, point in zip(links, points, strict=True):
        on[link.body].append(point)
    found = []
    for link, point in zip(links, points, strict=True):
        bodies = set().union(*(near[k] for k in near[link.body]))
        around = np.array([point, *(p for k in bodies for p in on[k])])
        found.append(float(np.linalg.norm(around - point, axis=1).max()))
    return found
