"""The kinematic back end: arms are where their motions say, and fingers close at a steady speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ...world.state import World
from .backends import Ahead, ArmMotion, HandMotion
from .fingers import finger_stop, let_go, taken
from .joint_paths import speed_limits, ticks_of
from .touching import touch_wrench

__all__ = ["KinematicBackend"]


class _Hand(NamedTuple):
    """How the fingers of a robot go on: widths (ticks,), when they rest, and the part that they then hold."""

    widths: np.ndarray
    ended: int | None
    part: str | None
    opens: bool
    stop: list | None


@dataclass(frozen=True)
class KinematicBackend:
    """Robots that follow their planned motions exactly. `finger_speed` [m/s] is how fast the gap of a hand changes.

        >>> KinematicBackend().name
        'kinematic'

    Fingers that close stop at the part between them (`finger_stop`), which the hand then holds. Forces are those of
    `touch_wrench` at rest, asked only if a program reads them. The state is {"v": {robot: velocities}, "stops": {robot:
    where its closing fingers will stop}}.
    """

    finger_speed: float = 0.1
    name: str = "kinematic"
    lookahead: int = 100_000

    def start(self, world: World, period: float) -> dict[str, Any]:
        """All robots rest."""
        return {"period": period, "v": {}, "stops": {}}

    def ahead(
        self, world: World, state: Any, motions: Mapping[str, ArmMotion | HandMotion | None], ticks: int, felt: bool
    ) -> Ahead:
        """What would happen during the next ticks."""
        q, v, width, ended, hands = {}, {}, {}, {}, {}
        for name, known in world.robots.items():
            motion = motions.get(name)
            if isinstance(motion, ArmMotion):
                q[name], v[name] = _rows(motion.q, ticks), _rows(motion.v, ticks)
                if len(motion.q) <= ticks:
                    ended[name] = len(motion.q)
            else:
                q[name] = np.broadcast_to(known.q, (ticks, len(known.q)))
                v[name] = np.broadcast_to(0.0, (ticks, known.robot.nv))
            hand = motions.get(f"{name}.hand")
            if isinstance(hand, HandMotion):
                found = self._hand(world, state, hand, ticks, name in motions and motions[name] is not None)
                hands[name], width[name] = found, found.widths
                if found.ended is not None:
                    ended[f"{name}.hand"] = found.ended
            elif known.gripper is not None:
                width[name] = np.broadcast_to(known.width, (ticks,))
        wrench = {name: np.asarray(touch_wrench(world, name, rows)) for name, rows in q.items()} if felt else {}
        return Ahead(ticks, q, v, width, wrench, {}, ended, (frozenset(motions), hands))

    def _hand(self, world: World, state: Any, motion: HandMotion, ticks: int, carried: bool) -> _Hand:
        known = world.robots[motion.robot]
        assert known.gripper is not None
        goal = float(np.clip(motion.width, known.gripper.least, known.gripper.opening))
        part: str | None = None
        stop: list | None = None
        if not motion.opens and goal < known.width:
            stop = None if carried else state["stops"].get(motion.robot)
            if not _is_stop(stop):
                stop = list(finger_stop(world, motion.robot))
            if stop[1] is not None and stop[0] >= goal:
                goal, part = stop[0], stop[1]
        step = self.finger_speed * state["period"]
        way = goal - known.width
        last = max(1, ticks_of(abs(way), step))
        # Each tick adds a step to the width before it, so that the way does not depend on how ticks are grouped.
        steps = np.full(ticks + 1, np.sign(way) * step)
        steps[0] = known.width
        widths = np.add.accumulate(steps)[1:]
        widths[last - 1 :] = goal
        return _Hand(widths, last if last <= ticks else None, part, motion.opens, stop)

    def commit(self, world: World, state: Any, ahead: Ahead, ticks: int) -> tuple[World, Any]:
        """The first `ticks` of what was ahead happen."""
        moving, hands = ahead.inner
        v, stops = {}, dict(state["stops"])
        for name in world.robots:
            if name in moving:
                world = world.set_configuration(name, ahead.q[name][ticks - 1])
                row = ahead.v[name][ticks - 1]
                if row.any():
                    v[name] = row.tolist()
        for name, hand in hands.items():
            width = float(hand.widths[ticks - 1])
            if hand.opens and world.holding(name):
                world = let_go(world, name, width)
            elif hand.ended is not None and hand.ended <= ticks and hand.part is not None:
                offset = None if name in moving or hand.stop is None else hand.stop[2]
                world = taken(world, name, hand.part, width, offset=offset)
            else:
                world = world.set_gripper(name, width)
            stops.pop(name, None)
            if hand.stop is not None and (hand.ended is None or hand.ended > ticks):
                stops[name] = hand.stop
        return world, {"period": state["period"], "v": v, "stops": stops}

    def brake(self, world: World, state: Any, robot: str, period: float) -> ArmMotion:
        """The motion to rest, straight in the joints; the joint that needs the longest brakes as hard as it can."""
        known = world.robots[robot]
        v = np.array(state["v"].get(robot, np.zeros(known.robot.nv)), float)
        limits = speed_limits(known.robot)
        ticks = ticks_of(float((np.abs(v) / limits.acceleration).max(initial=0.0)), period)
        t = np.arange(1, ticks + 1)[:, None] * period
        T = max(ticks, 1) * period
        q = np.clip(known.q + v * (t - 0.5 * t * t / T), known.robot.lower, known.robot.upper)
        return ArmMotion(robot, q, v * (1 - t / T))


def _is_stop(data: Any) -> TypeGuard[list]:
    """Whether what a checkpoint has is what `finger_stop` gives."""
    if not isinstance(data, list) or len(data) != 3:
        return False
    width, part, offset = data
    return isinstance(part, str | None) and isinstance(width, float) and isinstance(offset, float)


def _rows(array: np.ndarray, ticks: int) -> np.ndarray:
    """The first rows of an array, the last one again and again if there are too few."""
    if len(array) >= ticks:
        return array[:ticks]
    return np.concatenate([array, np.broadcast_to(array[-1], (ticks - len(array), array.shape[1]))])
