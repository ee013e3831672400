"""`follow`: where everything in a world is while a robot of it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...kinematics import forward_kinematics
from ...model.input_checks import floats
from ...sensing.scene.scene_checks import number
from ...simulation import Run
from ...trajectory import Trajectory
from ..state import World
from ..state.frame_tree import head_of, is_base, subtree
from ..state.placements import inverted
from ..state.world_edits import known_robot

__all__ = ["Followed", "follow"]

_RATE = 50.0  # pictures a second of a trajectory, unless times are given


@dataclass(frozen=True, eq=False, repr=False)
class Followed:
    """A world while one of its robots moves: see `follow`.

    - `start`: the world at the beginning; `robot`: the name of the robot that moves.
    - `t` (N,) [s], `q` (N, nq): times, and configurations of the robot.
    - `carried`: {frame that the robot moves: poses (N, 4, 4) in the world}. All other frames stay where they are.
    """

    start: World
    robot: str
    t: np.ndarray
    q: np.ndarray
    carried: dict[str, np.ndarray]

    def poses(self, name: str) -> np.ndarray:
        """The poses (N, 4, 4) in the world of a frame of the tree, or of a frame of a robot such as "arm.tool"."""
        head, _, tail = name.partition(".")
        if head == self.robot and tail and not is_base(self.start, name):
            known = self.start.robots[head].robot
            return self.start.pose(head) @ np.asarray(forward_kinematics(known, self.q, tail))
        T = self.start.pose(name)
        if head not in self.carried:
            return np.broadcast_to(T, (len(self.t), 4, 4))
        return self.carried[head] @ (inverted(self.start.pose(head)) @ T)

    def world(self, k: int) -> World:
        """The world at time number k; what gravity does not hold any more on its way falls there."""
        return self.start.set_configuration(self.robot, self.q[k])

    @property
    def end(self) -> World:
        """The world after the motion."""
        return self.world(-1)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<Followed: '{self.robot}' at {len(self)} times, {self.t[0]:g} to {self.t[-1]:g} s>"


def follow(world: World, robot: str, motion: Any, t=None) -> Followed:
    """Where everything is while a robot of a world moves: what it holds moves with its hand, all at once.

        >>> w = World().add_robot("arm", robot).add("bolt", at=[0, 0, 0.05], parent="arm.tool")
        >>> way = follow(w, "arm", np.linspace(np.zeros(6), q, 20), t=np.linspace(0, 1, 20))
        >>> way.poses("bolt").shape
        (20, 4, 4)

    The `motion` is a `Run`, a `Trajectory`, a plan with a trajectory, or configurations (N, nq) at the times `t`. Times
    `t` (N,) [s] are those of the run by default, and 50 a second of a trajectory. Other robots and all that is not
    attached stay where they are.
    """
    who = "follow"
    if not isinstance(world, World):
        raise ArgumentError(f"{who}: 'world' must be a World, got {type(world).__name__}")
    known = known_robot(world, robot, who)
    times, q = _sampled(motion, t, known.robot.nq, who)
    bodies = np.asarray(forward_kinematics(known.robot, q))
    base, carried = world.pose(robot), {}
    for name, placed in world.frames.items():
        if head_of(placed.parent) == robot and not is_base(world, placed.parent):
            frame = known.robot.frame(placed.parent.partition(".")[2])
            hand = base @ bodies[:, frame.body] @ frame.placement
            now = inverted(world.pose(placed.parent))
            for below in subtree(world, name):
                carried[below] = hand @ (placed.T_parent_frame if below == name else now @ world.pose(below))
    return Followed(world, robot, times, q, carried)


def _sampled(motion, t, nq: int, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (N,) and configurations (N, nq) of a motion."""
    if getattr(motion, "trajectory", None) is not None:
        motion = motion.trajectory
    if isinstance(motion, Run):
        if motion.batch:
            raise ArgumentError(f"{caller}: the run has a batch {motion.batch}; take one of it, such as run[0]")
        times, q = motion.t, motion.q
        if t is not None:
            picked = np.searchsorted(times, _times(t, caller), side="right") - 1
            times, q = _times(t, caller), q[np.clip(picked, 0, len(times) - 1)]
    elif isinstance(motion, Trajectory):
        end = number(motion.duration, "duration", caller)
        times = np.linspace(0, end, max(2, int(np.ceil(end * _RATE)) + 1)) if t is None else _times(t, caller)
        q = np.asarray(motion(times).q)
    else:
        q = np.array(floats(motion))
        times = np.arange(len(q) if q.ndim else 0, dtype=float) if t is None else _times(t, caller)
    if q.ndim != 2 or q.shape != (len(times), nq) or not len(q) or not np.isfinite(q).all():
        shape = f"({len(times) or 'N'}, {nq})"
        raise ArgumentError(
            f"{caller}: 'motion' must be a Run, a Trajectory, or finite configurations of shape {shape}, "
            f"one for each time; got {f'shape {q.shape}' if q.ndim else type(motion).__name__}"
        )
    return np.asarray(times, float), q


def _times(t, caller: str) -> np.ndarray:
    found = np.atleast_1d(floats(t))
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all() or (np.diff(found) < 0).any():
        raise ArgumentError(
            f"{caller}: 't' must be finite times (N,) [s] that do not decrease, got shape {found.shape}"
        )
    return found
