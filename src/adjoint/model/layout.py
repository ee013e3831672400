"""The places of each body's numbers in the arrays of a robot, and `Body` objects made of these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .joints import JOINTS
from .parts import Body, Joint, Mimic

if TYPE_CHECKING:
    from .robot_data import RobotData

__all__ = ["BodyList", "Layout", "layout_of"]


class Layout(NamedTuple):
    """The lengths of q and v, and the places where each body's numbers start; a mimic has the places of its leader."""

    nq: int
    nv: int
    q_start: list[int]  # of each body, in q
    v_start: list[int]  # of each body, in v
    dof_start: list[int]  # of each body, in the rows of `screws`; the last of these n + 1 is the number of rows


def layout_of(types: tuple[str, ...], mimics: Mapping[int, Mimic]) -> Layout:
    """Return the `Layout` of bodies with joints of these types, of which some mimic others."""
    nq = nv = dofs = 0
    q_start, v_start, dof_start = [], [], []
    for i, kind in enumerate(types):
        row = JOINTS[kind]
        dof_start.append(dofs)
        dofs += row.nv
        if i in mimics:
            q_start.append(-1)  # filled in below, since the leader may come later in the tree
            v_start.append(-1)
        else:
            q_start.append(nq)
            v_start.append(nv)
            nq, nv = nq + row.nq, nv + row.nv
    for i, mimic in mimics.items():
        q_start[i], v_start[i] = q_start[mimic.source], v_start[mimic.source]
    return Layout(nq, nv, q_start, v_start, [*dof_start, dofs])


class BodyList(Sequence):
    """The bodies of a robot, as a sequence that makes each `Body` when it is asked for."""

    def __init__(self, robot: RobotData):
        self._robot = robot

    def __len__(self) -> int:
        return len(self._robot.body_names)

    def __getitem__(self, i):  # type: ignore[override]
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        n, robot = len(self), self._robot
        if not -n <= i < n:
            raise IndexError(f"robot '{robot.name}' has {n} bodies")
        i %= n
        kind, at = robot.joint_types[i], robot.layout
        q = slice(at.q_start[i], at.q_start[i] + JOINTS[kind].nq)
        v = slice(at.v_start[i], at.v_start[i] + JOINTS[kind].nv)
        limits = robot.lower[q], robot.upper[q], robot.velocity_limit[v], robot.effort_limit[v]
        joint = Joint(robot.body_joint_names[i], kind, robot.screw(i).T, robot.mimics.get(i), q, v, *limits)
        return Body(i, robot.body_names[i], int(robot.parents[i]), robot.placements[i], joint, robot.inertias[i])

    def __iter__(self) -> Iterator[Body]:
        return map(self.__getitem__, range(len(self)))  # type: ignore[arg-type]
