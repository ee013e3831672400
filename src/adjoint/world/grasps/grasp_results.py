"""`Grasp` and `Grasps`: places where a gripper can hold a part, ranked, and why others are not among them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ...sensing.scene.scene_checks import pose
from ..state.grippers import Gripper

__all__ = ["Grasp", "Grasps"]


@dataclass(frozen=True, eq=False, repr=False)
class Grasp:
    """One way to hold a part with two fingers.

    - `T_part_grip` (4, 4) is the pose of the gripper's grip frame in the frame of the part: fingers close along its y
      axis, and the hand comes along its z axis; see `Gripper`.
    - `width` [m] is how far apart the fingers are when they touch.
    - `kind` is "faces" for two parallel faces, whose names are `faces`, or "antipodal" for a line through the part.
    - `area` [m²] is the contact of one finger; 0 for points and lines of contact.
    - `cone_margin` [rad] is how far the line of the fingers is inside the friction cones: atan μ less the largest angle
      between the line and a normal.
    - `arm` [m] is the distance of the centre of mass from the line of the fingers, and `torque` [N m] the arm times the
      weight: the largest moment of gravity about the fingers.
    - `slip_margin` = 2 μ F / (m g) says how many weights friction can hold; infinite if the force F is not known.
    - `turn_margin` is the moment (4/3) μ F √(area/π) of the friction of both fingers, if their contacts were discs,
      over the torque.
    - `clearance` [m] is the least distance of the open gripper from neighbours under the pose error, at pick and place;
      infinite if nobody asked.
    - `score` from 0 to 1 ranks grasps; `rank_weights` of `find_grasps` explains it.
    - `reason` says why the grasp was pruned; it is empty for grasps that are left.
    """

    T_part_grip: np.ndarray
    width: float
    kind: str
    faces: tuple[str, str]
    area: float
    cone_margin: float
    arm: float
    torque: float
    slip_margin: float
    turn_margin: float
    clearance: float
    score: float
    reason: str

    def hand_pose(self, T_world_part) -> np.ndarray:
        """The pose (4, 4) of the grip frame in the world, if the part is at T_world_part (4, 4)."""
        return pose(T_world_part, "T_world_part", "Grasp.hand_pose") @ self.T_part_grip

    def __repr__(self) -> str:
        where = " and ".join(f"'{x}'" for x in self.faces if x) or "an antipodal line"
        why = f", pruned: {self.reason}" if self.reason else f", score {self.score:.3f}"
        return f"<Grasp of {where}, {1e3 * self.width:.4g} mm wide{why}>"


@dataclass(frozen=True, eq=False)
class GraspTable:
    """Columns of many grasps; see `Grasp` for what they are. Reasons are "" for grasps that are left."""

    T: np.ndarray
    width: np.ndarray
    kind: tuple[str, ...]
    faces: tuple[tuple[str, str], ...]
    area: np.ndarray
    cone_margin: np.ndarray
    arm: np.ndarray
    torque: np.ndarray
    slip_margin: np.ndarray
    turn_margin: np.ndarray
    clearance: np.ndarray
    score: np.ndarray
    reason: np.ndarray  # of str

    def __len__(self) -> int:
        return len(self.T)

    def grasp(self, k: int) -> Grasp:
        T = self.T[k].copy()
        T.setflags(write=False)
        numbers = (self.area, self.cone_margin, self.arm, self.torque, self.slip_margin, self.turn_margin)
        area, cone, arm, torque, slip, turn = (float(x[k]) for x in numbers)
        return Grasp(
            T, float(self.width[k]), self.kind[k], self.faces[k], area, cone, arm, torque, slip, turn,
            float(self.clearance[k]), float(self.score[k]), str(self.reason[k]),
        )  # fmt: skip


def _stage(reason: str) -> int:
    """How late a reason is in the search: that of the part alone is 0, then come pick and place, each in three steps.

    At each place the hand is checked first, then the reach, then the arm.
    """
    place = 2 if reason.endswith(" at place") else int(reason.endswith(" at pick"))
    step = 3 if reason.startswith("with the arm ") else 2 if reason.startswith("unreachable ") else 1
    return 3 * (place - 1) + step if place else 0


@dataclass(frozen=True, eq=False, repr=False)
class Grasps:
    """A sequence of `Grasp`, the best first, with those that were pruned and their reasons.

    `str` tells how many candidates there were and what became of them. `part` is the name of the part, `gripper` the
    `Gripper`. `counts` {reason: number} has the most frequent reason first, and `pruned` are the grasps with reasons.
    For grasps of a robot in a world, `configurations(k)` are those in which the robot holds the part, at pick and at
    place.
    """

    part: str
    gripper: Gripper
    table: GraspTable = field(repr=False)
    at_pick: tuple[np.ndarray, ...] | None = field(default=None, repr=False)
    at_place: tuple[np.ndarray, ...] | None = field(default=None, repr=False)

    @cached_property
    def order(self) -> np.ndarray:
        """The rows of the table that are left, the best first; equal scores keep the order of the candidates."""
        left = np.flatnonzero(self.table.reason == "")
        return left[np.argsort(-np.round(self.table.score[left], 9), kind="stable")]

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, k: int) -> Grasp:
        return self.table.grasp(int(self.order[k]))

    def __iter__(self) -> Iterator[Grasp]:
        return (self[k] for k in range(len(self)))

    @cached_property
    def pruned(self) -> tuple[Grasp, ...]:
        """The grasps that were pruned, in the order of the candidates."""
        return tuple(self.table.grasp(int(k)) for k in np.flatnonzero(self.table.reason != ""))

    @cached_property
    def counts(self) -> dict[str, int]:
        """{reason: how many grasps were pruned for it}, the most frequent first."""
        found = Counter(x for x in self.table.reason.tolist() if x)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    @property
    def candidates(self) -> int:
        """How many grasps there were before pruning."""
        return len(self.table)

    @property
    def reason(self) -> str:
        """Why no grasp is left: the most frequent reason, and what stopped the last ones; "" if one is left."""
        if len(self):
            return ""
        if not self.candidates:
            return f"'{self.part}' has no parallel faces and no antipodal points that fingers could close on"
        why, n = next(iter(self.counts.items()))
        found = f"none of {self.candidates} grasps of '{self.part}' is left: most ({n}) are {why}"
        last = max(map(_stage, self.counts))
        late = {reason: k for reason, k in self.counts.items() if _stage(reason) == last}
        if last == 0 or why in late:
            return found
        why, n = next(iter(late.items()))
        total = sum(late.values())
        return found + (f"; the last {n} are {why}" if n == total else f"; of the last {total}, most ({n}) are {why}")

    def kept(self, wanted: Callable[[Grasp], bool], reason: str) -> Grasps:
        """The same grasps, of which those that are not `wanted` are pruned for this reason."""
        reasons = self.table.reason.copy()
        for row in self.order.tolist():
            if not wanted(self.table.grasp(row)):
                reasons[row] = reason
        return dataclasses.replace(self, table=dataclasses.replace(self.table, reason=reasons))

    def configurations(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Configurations (m, nq) of the robot that holds the part by grasp k, at pick and at place."""
        if self.at_pick is None or self.at_place is None:
            raise ArgumentError("Grasps.configurations: these are grasps of a part alone; find_grasps asks a robot")
        row = int(self.order[k])
        return self.at_pick[row], self.at_place[row]

    def __str__(self) -> str:
        tail = ", ".join(f"{n} {why}" for why, n in self.counts.items())
        return f"{len(self)} of {self.candidates} candidates" + (f": {tail}" if tail else "")

    def __repr__(self) -> str:
        return f"<Grasps of '{self.part}': {self}>"
