"""Robots that differ from each other: numbers for `simulate(..., lift=...)`."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..lie import inertia, se3
from ..model.input_checks import positive
from ..model.needs import need_robot
from ..model.robot import Robot
from ..randomness import Rng, batch_shape, generator, rng_by_keyword

__all__ = ["randomised"]


@rng_by_keyword
def randomised(
    robot: Robot, shape: int | tuple[int, ...], *, mass: float = 0.0, center: float = 0.0, damping: float = 0.0,
    friction: float = 0.0, armature: float = 0.0, gravity: float = 0.0, rng: Rng = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Random numbers for a batch of robots like this one: {name: (*shape, *shape of the robot's own)}, to `lift`.

        >>> robots = randomised(robot, 1000, mass=0.1, center=0.01, friction=0.5, rng=0)
        >>> run = aj.simulate(robot, q=q, duration=0.1, dt=0.001, record=100, lift=robots)
        >>> run.q.shape
        (1000, 2, 6)

    mass, damping, friction, armature and gravity are the largest parts by which numbers differ: 0.1 makes them uniform
    in 0.9 to 1.1 times the robot's own. The mass of each body has a factor of its own, and its inertia the same. Its
    center of mass, with all of its matter, is shifted by up to `center` [m] along each axis. All of the bodies are
    possible ones. Factors of damping, friction and armature are drawn for each joint.
    """
    need_robot(robot, "randomised")
    rng, batch = generator(rng, "randomised"), batch_shape(shape, "randomised")
    parts = {"mass": mass, "damping": damping, "friction": friction, "armature": armature, "gravity": gravity}
    for name, part in parts.items():
        if positive(part, f"randomised: {name}", or_zero=True) > 1:
            raise ArgumentError(f"randomised: {name} is {part:g}; it is a part, from 0 to 1")
    found, n, center = {}, len(robot.inertias), positive(center, "randomised: center", or_zero=True)
    if mass or center:
        factors = rng.uniform(1 - mass, 1 + mass, (*batch, n, 1))
        shifts = np.concatenate([np.zeros((*batch, n, 3)), rng.uniform(-center, center, (*batch, n, 3))], axis=-1)
        found["inertias"] = inertia.transform(se3.exp(shifts), robot.inertias * factors)
    for name in ("damping", "friction", "armature"):
        if parts[name]:
            own = getattr(robot, name)
            found[name] = own * rng.uniform(1 - parts[name], 1 + parts[name], (*batch, *own.shape))
    if gravity:
        found["gravity"] = robot.gravity * rng.uniform(1 - gravity, 1 + gravity, (*batch, 1))
    if not found:
        raise ArgumentError(f"randomised: nothing varies; give one of {', '.join([*parts, 'center'])}")
    return found
