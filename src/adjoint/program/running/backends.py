"""What a back end is: it makes planned motions happen, tick by tick, in kinematics, in dynamics, or on hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...world import World

__all__ = ["Ahead", "ArmMotion", "Backend", "Compliance", "HandMotion"]


@dataclass(frozen=True, eq=False)
class Compliance:
    """Forces that an arm exerts during a motion, along axes of a frame.

    `axes` (3, 3) has the axes of the force frame, along those of the station, in its columns. `wrench` (6,) is what the
    tool exerts on its surroundings along them, moments before forces [N m, N], where `selected` (6,) is true; along all
    other axes the position is controlled.
    """

    axes: np.ndarray
    wrench: np.ndarray
    selected: np.ndarray


@dataclass(frozen=True, eq=False)
class ArmMotion:
    """A planned motion of a robot of the world, sampled at every tick.

    `q` (N, nq) and `v` (N, nv) are the configurations and velocities at the times k · period, k = 1 ... N, after the
    motion begins: the last is where it ends. With a `compliance` they are what the position would be.
    """

    robot: str
    q: np.ndarray
    v: np.ndarray
    compliance: Compliance | None = None


@dataclass(frozen=True)
class HandMotion:
    """The fingers of a robot of the world move to a width [m], and stop at what they meet."""

    robot: str
    width: float
    opens: bool


@dataclass(frozen=True, eq=False)
class Ahead:
    """What would happen during the next ticks, k = 1 ... `ticks`, if nothing interrupts it.

    - `q`, `v`: {robot: (ticks, nq)}, {robot: (ticks, nv)}; `width`: {robot: (ticks,)} [m].
    - `wrench`: {robot: (ticks, 6)} what the surroundings exert on the tool, at its origin, along axes of the station,
      moments before forces [N m, N]; a robot that is not there feels nothing.
    - `tau`: {robot: (ticks, nv)} what its drives exert [N m or N], where that is known.
    - `readings`: {name: (ticks,)} of other sensors and of input lines ("signal 3").
    - `ended`: {robot: number of ticks after which its motion has ended}, for motions that end within these ticks.
    - `inner` is for the back end alone.
    """

    ticks: int
    q: Mapping[str, np.ndarray]
    v: Mapping[str, np.ndarray]
    width: Mapping[str, np.ndarray] = field(default_factory=dict)
    wrench: Mapping[str, np.ndarray] = field(default_factory=dict)
    readings: Mapping[str, np.ndarray] = field(default_factory=dict)
    ended: Mapping[str, int] = field(default_factory=dict)
    inner: Any = None
    tau: Mapping[str, np.ndarray] = field(default_factory=dict)


class Backend(Protocol):
    """A place where programs run. It is frozen; its state is a value that a checkpoint keeps.

    A program asks what would happen (`ahead`), evaluates its conditions over all of these ticks at once, and then lets
    as many of them happen as pass before the first event (`commit`). So conditions are asked at every tick, and ticks
    without events cost almost nothing.
    """

    @property
    def name(self) -> str:
        """Its name in traces."""
        ...

    @property
    def lookahead(self) -> int:
        """The most ticks that `ahead` is asked for at once; 1 on hardware."""
        ...

    def start(self, world: World, period: float) -> Any:
        """The state of all robots of a world at rest."""
        ...

    def ahead(
        self, world: World, state: Any, motions: Mapping[str, ArmMotion | HandMotion | None], ticks: int, felt: bool
    ) -> Ahead:
        """What would happen. `motions` has a key for each robot that moves, and may have others, which rest (None).

        A key is "arm" for an arm and "arm.hand" for its hand. `felt` tells whether any condition reads forces now.
        Of a motion under way, what is left of it is handed over: after a commit of k ticks it begins with row k of the
        whole motion, or has its last row alone until `ended` tells that it has ended. `ended` has the same keys as
        `motions` ("arm", "arm.hand"). Hands are as far open as the world says, and move on until they have ended.
        """
        ...

    def commit(self, world: World, state: Any, ahead: Ahead, ticks: int) -> tuple[World, Any]:
        """The first `ticks` of what was ahead happen: the world and the state after them.

        Fingers that have met a part hold it in the world from then on, and fingers that open let go of it.
        """
        ...

    def brake(self, world: World, state: Any, robot: str, period: float) -> ArmMotion:
        """The motion that brings a robot to rest from its present velocity as fast as its limits allow."""
        ...
