"""`Robot`: a frozen tree of rigid bodies with all that users do with it, the `Builder` of one, and its stand-in.

What a robot is made of is in `robot_data`; each method here is a function of another file, which has the details.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import change, lift, printing, reframe
from .assembly import assembled
from .builder import PartList
from .robot_data import RobotData

__all__ = ["Builder", "LiftedRobot", "Robot"]


@dataclass(frozen=True, eq=False, repr=False)
class Robot(RobotData):
    """A tree of rigid bodies joined by joints. Made by `load`, `from_dh`, `from_screws`, `Robot.builder` or `robots.*`.

    Equality and hash are those of `fingerprint`, which covers all but `visuals`, `links`, `specs` and `findings`.
    Nobody can change its arrays, not even by `flags.writeable`; `replace` gives a changed copy and shares the rest.
    """

    @staticmethod
    def builder(name: str = "robot", **options) -> Builder:
        """A `Builder`: add links and joints in code, then `build()`."""
        return Builder(name, **options)

    def reframed(self, Q) -> Robot:
        """This robot in other body frames Q (n, 4, 4), "joint", "com", "space", "minimal"; see `reframe.reframed`."""
        return reframe.reframed(self, Q)

    def locked(self, values: Mapping[str, object]) -> Robot:
        """The robot with joints locked, {joint name: its q}: their bodies become parts of others; `change.locked`."""
        return change.locked(self, values)

    def mounted(self, placement) -> Robot:
        """The robot that stands at `placement` (4, 4) in its base frame, under the same gravity; `change.mounted`."""
        return change.mounted(self, placement)

    def with_frame(self, name: str, frame: str, placement=None) -> Robot:
        """The robot with a frame `name` more, at `placement` (4, 4) in the frame `frame`."""
        return change.with_frame(self, name, frame, placement)

    def with_payload(self, frame: str, inertia) -> Robot:
        """The robot with a load of `inertia` (10,), given in `frame`, on the body this is fixed to."""
        return change.with_payload(self, frame, inertia)

    # --- numbers as inputs ------------------------------------------------------------------------------------------

    @property
    def liftable(self) -> dict[str, np.ndarray]:
        """{name: own numbers} of what can be an input of any kernel, `kernel.bind(robot, lift=names)`; see `lift`."""
        return lift.liftable(self)

    def lifted(self, arrays: dict[str, Any]) -> Robot:
        """The robot that stands for this one while a kernel runs with these arrays as inputs; see `lift`."""
        return LiftedRobot(self, arrays)

    @property
    def if_too_large(self) -> str:
        """What to do if a function of this robot becomes too large to compile."""
        n = len(self.body_names)
        return (
            f"Robot '{self.name}' has {n} bodies and {self.nv} degrees of freedom. Inverse and forward dynamics and "
            "their derivatives, the mass and Coriolis matrices, energies, placements and Jacobians run as loops over "
            "any number of bodies, if no joint follows another (mimics); take these, or a smaller robot: a part of it, "
            "or one with joints locked (robot.locked)"
        )

    def __reduce__(self):
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return Robot, tuple((fields | {"mimics": dict(self.mimics)}).values())

    def __str__(self) -> str:
        return printing.text(self)

    def _repr_html_(self) -> str:
        return printing.html(self)


class Builder(PartList):
    """Collects links and joints, then `build()`s the robot. Methods return the builder.

    >>> arm = (Robot.builder("arm").link("base").link("upper", inertia=rod)
    ...        .joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0)).build())
    """

    def build(self) -> Robot:
        """The robot; `ModelError` if links and joints do not form one tree."""
        with np.errstate(all="ignore"):  # overflow is found by the checks for infinity
            return Robot(**assembled(self))


class LiftedRobot(Robot):
    """Stands for a robot while an algorithm runs with some of its numbers as inputs. Made by `Robot.lifted`."""

    __hash__ = None  # type: ignore[assignment]  # no cache may keep it

    def __init__(self, robot: Robot, arrays: dict[str, Any]):
        numbers = lift.lifted_fields(robot, arrays)
        known = {k: x for k, x in vars(robot).items() if k not in ("fingerprint", "mass", "results")}
        vars(self).update(known | numbers, stands_for=(robot, arrays), varying=frozenset(numbers))

    @property
    def mass(self):  # type: ignore[override]
        """Total mass [kg] of the moving bodies, an input or not."""
        return self.inertias[:, 0].sum()

    def __eq__(self, other) -> bool:
        return self is other

    def replace(self, **changes) -> Robot:
        """A copy with some fields changed; those that were inputs are none any more."""
        robot, arrays = _known(self)
        changed, rest = robot.replace(**changes), {k: x for k, x in arrays.items() if k not in changes}
        return changed.lifted(rest) if rest else changed

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, inputs {', '.join(_known(self)[1])}>"


def _known(robot: Robot) -> tuple[Robot, dict[str, Any]]:
    assert robot.stands_for is not None
    return robot.stands_for
