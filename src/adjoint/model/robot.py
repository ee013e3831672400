"""`Robot`, a frozen tree of rigid bodies, with its methods; `Builder`, which makes one in code; and `LiftedRobot`.

`robot_data` has the fields of a robot. Each method here calls a function of another file, which has the details.
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
    """A tree of rigid bodies that joints connect; all functions of the library take it as their first argument.

    `load`, `from_dh`, `from_screws`, `Robot.builder` and the functions of `robots` make one:

        robot = adjoint.load("arm.urdf")
        print(robot)                                          # the tree: one line for each body
        robot.nq, robot.nv, robot.joint_names                 # lengths of q and v, and the order of their joints
        floating = robot.replace(gravity=(0, 0, 0))           # a changed copy

    Body i moves by its joint J_i and sits at M_i J_i(q_i) in its parent; the base is body number -1. The fields, with n
    bodies, d degrees of freedom of their joints, mimics included, and SI units:

    - `body_names`, `body_joint_names`, `joint_types`: n names each, parents before children. `parents` (n,): numbers.
    - `placements` (n, 4, 4): the M_i. `screws` (d, 6): the S_i, one screw per row, in the frame of their body.
    - `inertias` (n, 10): [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] in the frame of the body; see `lie.inertia`.
    - `mimics`: {number of a body: `Mimic`} for joints that follow others.
    - `lower`, `upper` (nq,); `velocity_limit`, `effort_limit`, `damping`, `friction`, `armature` (nv,).
    - `frames`: the `Frame`s beside those of the bodies and the base, such as tools and links behind fixed joints.
    - `gravity` (3,) [m/s²] in the base frame; `base_name`; `base_inertia` (10,).
    - `visuals`, `links`, `specs`, `findings`: shapes, and what the model file states; see `check`.

    Two robots are equal, and have the same hash, if they have the same `fingerprint`, which covers all fields but
    `visuals`, `links`, `specs` and `findings`. Nobody can change the arrays of a robot, not even by `flags.writeable`;
    `replace` returns a changed copy, which shares the rest.
    """

    @staticmethod
    def builder(name: str = "robot", **options) -> Builder:
        """Return a `Builder`, to which links and joints are added in code before `build()` returns the robot."""
        return Builder(name, **options)

    def reframed(self, Q) -> Robot:
        """Return this robot in other body frames: Q (n, 4, 4), "joint", "com", "space" or "minimal".

        `model.reframed` explains the choices. Results in q, v and tau do not change.
        """
        return reframe.reframed(self, Q)

    def locked(self, values: Mapping[str, object]) -> Robot:
        """Return the robot with some joints locked: `values` is {joint name: its q}.

        The value is one number [rad or m], or (nq,) for a joint of several coordinates. A body whose joint is locked
        becomes part of its parent; its name, and all frames, stay names of frames. Joints that mimic a locked one are
        locked with it, where it leads them. Results are those of the whole robot with these joints at rest there: the
        mass matrix, for example, loses their rows and columns.

            arm = robot.locked({"finger_left": 0.02, "finger_right": 0.02})
        """
        return change.locked(self, values)

    def mounted(self, placement) -> Robot:
        """Return the robot moved to `placement` P (4, 4) in its base frame, under the same gravity: f'(q) = P f(q).

        Space Jacobians become Ad(P) J; body Jacobians and M(q) stay; Park (1994), §III. The mass and the shapes of the
        base move too. Gravity does not turn with the robot: `mounted(P)` alone hangs an arm from the ceiling. Where P
        only means another choice of the base frame, turn gravity too:
        `robot.mounted(P).replace(gravity=P[:3, :3] @ robot.gravity)`.
        """
        return change.mounted(self, placement)

    def with_frame(self, name: str, frame: str, placement=None) -> Robot:
        """Return the robot with one more frame, `name`, at `placement` (4, 4) in the frame `frame`.

        The placement is the identity by default.
        """
        return change.with_frame(self, name, frame, placement)

    def with_payload(self, frame: str, inertia) -> Robot:
        """Return the robot with a load of `inertia` (10,), given in `frame`, on the body that has this frame.

        Functions of `lie.inertia` return such inertias:

            loaded = robot.with_payload("tool", lie.inertia.sphere(0.5, 0.03))       # 0.5 kg, radius 3 cm
        """
        return change.with_payload(self, frame, inertia)

    # --- numbers as inputs ------------------------------------------------------------------------------------------

    @property
    def liftable(self) -> dict[str, np.ndarray]:
        """List, as {name: its numbers}, what can become an input of a kernel by `kernel.bind(robot, lift=names)`.

        Names are fields, such as "inertias", and "offsets", "lengths" and "frame_offsets"; see `model.lift`.
        """
        return lift.liftable(self)

    def lifted(self, arrays: dict[str, Any]) -> Robot:
        """Return a stand-in for this robot, used while a kernel runs with these arrays as inputs; see `model.lift`."""
        return LiftedRobot(self, arrays)

    @property
    def if_too_large(self) -> str:
        """Say, for an error message, what to do if a function of this robot becomes too large to compile."""
        n = len(self.body_names)
        return (
            f"Robot '{self.name}' has {n} bodies and {self.nv} degrees of freedom. These functions run as loops over "
            "any number of bodies, if no joint follows another (mimics): inverse_dynamics, forward_dynamics, and their "
            "derivatives as inverse_dynamics_derivatives and forward_dynamics_derivatives; mass_matrix, "
            "coriolis_matrix, energies, forward_kinematics and jacobian. Take these, or a smaller robot: a part of it, "
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
    """A `Builder` collects links, joints and frames, and `build()` returns the robot; `Robot.builder` makes one.

    All other methods return the builder itself, so that calls can be chained:

    >>> rod = lie.inertia.rod(1.0, 0.5)                                                     # 1 kg, 0.5 m
    >>> arm = (Robot.builder("arm").link("base").link("upper", inertia=rod)
    ...        .joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0)).build())
    """

    def build(self) -> Robot:
        """Return the robot; raise `ModelError` if links and joints do not form one tree."""
        with np.errstate(all="ignore"):  # the checks for infinity find overflow
            return Robot(**assembled(self))


class LiftedRobot(Robot):
    """A `LiftedRobot` stands for a robot while an algorithm runs with some of its numbers as inputs; see `lift`."""

    __hash__ = None  # type: ignore[assignment]  # no cache may keep such a robot

    def __init__(self, robot: Robot, arrays: dict[str, Any]):
        numbers = lift.lifted_fields(robot, arrays)
        known = {k: x for k, x in vars(robot).items() if k not in ("fingerprint", "mass", "results")}
        vars(self).update(known | numbers, stands_for=(robot, arrays), varying=frozenset(numbers))

    @property
    def mass(self):  # type: ignore[override]
        """Total mass [kg] of the moving bodies: a traced number if the inertias are inputs."""
        return self.inertias[:, 0].sum()

    def __eq__(self, other) -> bool:
        return self is other

    def replace(self, **changes) -> Robot:
        """Return a copy with some fields changed; a changed field is no input any more."""
        robot, arrays = _original(self)
        changed, rest = robot.replace(**changes), {k: x for k, x in arrays.items() if k not in changes}
        return changed.lifted(rest) if rest else changed

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, inputs {', '.join(_original(self)[1])}>"


def _original(robot: Robot) -> tuple[Robot, dict[str, Any]]:
    """Return the robot that a `LiftedRobot` stands for, and its inputs by name."""
    assert robot.stands_for is not None
    return robot.stands_for
