"""`DynamicBackend`: programs run on simulated arms with masses, controllers, contact and wrist forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...world.state import World
from ...world.state.placements import WorldRobot
from .backends import Ahead, ArmMotion, Compliance, HandMotion
from .dynamic_steps import ticks_kernel
from .fingers import finger_stop, let_go, taken
from .joint_paths import speed_limits
from .touching import ContactNumbers, Touching, all_touching, in_rooms, near_way, turned

__all__ = ["ArmState", "DynamicBackend", "DynamicState"]

_ALONG = 2e-3  # [rad, m] a reference that is this near to where a motion begins leads on to it
_NEAR = 0.02  # [m] parts this near to the way may be touched
_FREE = Compliance(np.eye(3), np.zeros(6), np.zeros(6, bool))
_BOUNDLESS = 1e12


@dataclass(frozen=True, eq=False)
class ArmState:
    """An arm at one tick: where it is, and where its controller wants it to be.

    `q`, `v` (n,) are those of the arm; `q_aim`, `v_aim` (n,) those of the reference; `integral` (6,) is the state of
    the force law, and `compliant` tells whether it acts.
    """

    q: np.ndarray
    v: np.ndarray
    q_aim: np.ndarray
    v_aim: np.ndarray
    integral: np.ndarray
    compliant: bool = False


@dataclass(frozen=True, eq=False)
class DynamicState:
    """The state of all arms of a world, {robot: `ArmState`}, and the number of the tick."""

    arms: Mapping[str, ArmState]
    period: float
    tick: int = 0


class _Hand(NamedTuple):
    """What a hand does: its widths (N,), the ticks until it rests, the part that it then takes, whether it lets go."""

    width: np.ndarray
    ended: int
    takes: str | None
    lets_go: bool


class _Arm(NamedTuple):
    """What an arm does: q, v, integral, wrench and tau (N, ...), its reference, and whether it is compliant."""

    ticked: Any
    q_aim: np.ndarray
    v_aim: np.ndarray
    compliant: bool


@dataclass(frozen=True, kw_only=True)
class DynamicBackend:
    """A place where programs run in dynamics: arms with masses under control, in contact with parts.

        >>> backend = DynamicBackend(stiffness=50.0)
        >>> backend.lookahead
        500

    - Arms follow planned motions by computed torque, with q̈ = q̈_d + 2 ω ė + ω² e, where ω is `stiffness` [1/s]: this is
      the gain to choose. It is stable only if ω dt is well below 1.
      Motions with a `Compliance` are controlled in force along its axes (hybrid control), with the gains `force_kp`
      [1/kg], `force_ki` [1/(kg s)] and `force_kd` [1/s], and not faster than `force_speed` [m/s].
    - A tick is simulated in steps of `dt` [s], or a little shorter, semi-implicitly; the controller acts at each step.
    - `contact` are the numbers of compliant contact of what hands hold, and of fingertips, with parts.
    - An arm that is stopped slows down `braking` times as fast as planned motions do.
    - Fingers move with `finger_speed` [m/s] and stop at what they meet; see `finger_stop`.
    - `payload_known`: whether the controller knows the mass of what the hand holds; the arm always carries it. Force
      control compensates it in any case: it is what the wrist has tared.
    - `noise` [N, and 0.1 N m for each N] is the standard deviation of what wrists feel; it follows from `seed`.

    Wrists feel contact alone, as a mean over each tick: the weight of what is held is tared. Joints have one degree of
    freedom each. References: Fu, Gonzalez & Lee (1987), Secs. 5.3, 5.8 and 9.2.3.
    """

    name: str = "dynamic"
    lookahead: int = 500
    dt: float = 1e-3
    stiffness: float = 60.0
    contact: ContactNumbers = field(default_factory=ContactNumbers)
    finger_speed: float = 0.1
    force_kp: float = 0.6
    force_ki: float = 4.0
    force_kd: float = 80.0
    force_speed: float = 0.01
    braking: float = 4.0
    payload_known: bool = True
    noise: float = 0.0
    seed: int = 0

    def __post_init__(self):
        numbers = ("dt", "stiffness", "finger_speed", "force_kp", "force_kd", "force_speed", "braking")
        for name in numbers:
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 < value < np.inf):
                raise ArgumentError(f"DynamicBackend: '{name}' must be a number above 0, got {value!r:.60}")
        for name in ("force_ki", "noise"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 <= value < np.inf):
                raise ArgumentError(f"DynamicBackend: '{name}' must be a number of at least 0, got {value!r:.60}")
        if self.force_ki >= self.force_kp * self.force_kd:
            raise ArgumentError(
                f"DynamicBackend: 'force_ki' {self.force_ki:g} must be below force_kp · force_kd = "
                f"{self.force_kp * self.force_kd:g}, or pressing is not stable (Routh)"
            )

    # --- the protocol of a back end -----------------------------------------------------------------------------------

    def start(self, world: World, period: float) -> DynamicState:
        """The state of all robots of a world at rest."""
        arms = {}
        for name, known in world.robots.items():
            if known.robot.nq != known.robot.nv:
                raise ArgumentError(
                    f"DynamicBackend: robot '{name}' has joints with several degrees of freedom (nq {known.robot.nq}, "
                    f"nv {known.robot.nv}); the kinematic back end runs it"
                )
            rest = np.zeros(known.robot.nv)
            arms[name] = ArmState(known.q, rest, known.q, rest, np.zeros(6))
        return DynamicState(MappingProxyType(arms), float(period))

    def ahead(
        self, world: World, state: DynamicState, motions: Mapping[str, ArmMotion | HandMotion | None], ticks: int,
        felt: bool,
    ) -> Ahead:  # fmt: skip
        """What would happen in the next ticks; fewer if a motion ends, or a hand takes or lets go of a part, before."""
        # What is beyond the end of a motion is not asked for: the arm then rests, or the next motion begins.
        ends = [max(1, len(m.q)) for m in motions.values() if isinstance(m, ArmMotion)]
        hands, ticks = self._hands(world, state, motions, max(1, min([ticks, *ends])))
        arms, ended = {}, {}
        for name in world.robots:
            motion = motions.get(name)
            arms[name] = self._arm(world, state, name, motion, hands.get(name), ticks)  # type: ignore[arg-type]
            if isinstance(motion, ArmMotion) and len(motion.q) <= ticks:
                ended[name] = max(1, len(motion.q))
            if name in hands and isinstance(motions.get(f"{name}.hand"), HandMotion) and hands[name].ended <= ticks:
                ended[f"{name}.hand"] = hands[name].ended
        wrench = {name: self._felt(world, name, arm.ticked.wrench, state.tick) for name, arm in arms.items()}
        return Ahead(
            ticks,
            q={name: arm.ticked.q for name, arm in arms.items()},
            v={name: arm.ticked.v for name, arm in arms.items()},
            width={name: hand.width for name, hand in hands.items()},
            wrench=wrench,
            ended=ended,
            inner=(arms, hands),
            tau={name: np.asarray(arm.ticked.tau) for name, arm in arms.items()},
        )

    def commit(self, world: World, state: DynamicState, ahead: Ahead, ticks: int) -> tuple[World, DynamicState]:
        """The first `ticks` of what was ahead happen."""
        if not 0 < ticks <= ahead.ticks:
            return world, state
        arms, hands = ahead.inner
        k, states = ticks - 1, {}
        for name, arm in arms.items():
            q = np.array(arm.ticked.q[k])
            world = world.set_configuration(name, q)
            states[name] = ArmState(
                q, np.array(arm.ticked.v[k]), arm.q_aim[k], arm.v_aim[k], np.array(arm.ticked.integral[k]),
                arm.compliant,
            )  # fmt: skip
        for name, hand in hands.items():
            width = float(hand.width[k])
            if hand.lets_go:
                world = let_go(world, name, width)
            elif hand.takes is not None and ticks >= hand.ended:
                world = taken(world, name, hand.takes, width)
            elif width != world.robots[name].width:
                world = world.set_gripper(name, width)
        return world, replace(state, arms=MappingProxyType(states), tick=state.tick + ticks)

    def brake(self, world: World, state: DynamicState, robot: str, period: float) -> ArmMotion:
        """The motion that brings a robot to rest from its present velocity as fast as its limits allow."""
        arm = state.arms[robot]
        return braking_motion(world, robot, arm.q, arm.v, period, self.braking)

    # --- hands --------------------------------------------------------------------------------------------------------

    def _hands(self, world: World, state: DynamicState, motions, ticks: int) -> tuple[dict[str, _Hand], int]:
        """What the hands do, and how many ticks can be seen ahead until one takes or lets go of a part."""
        found = {}
        for name, known in world.robots.items():
            if known.gripper is None:
                continue
            motion = motions.get(f"{name}.hand")
            if not isinstance(motion, HandMotion):
                found[name] = _Hand(np.full(ticks, known.width), 1, None, False)
                continue
            found[name] = hand = self._hand(world, known, name, motion, state.period, ticks)
            if hand.lets_go or isinstance(motions.get(name), ArmMotion):
                ticks = 1  # what is between the fingers changes while the arm moves
            elif hand.takes is not None:
                ticks = min(ticks, hand.ended)
        return {name: hand._replace(width=hand.width[:ticks]) for name, hand in found.items()}, ticks

    def _hand(
        self, world: World, known: WorldRobot, name: str, motion: HandMotion, period: float, ticks: int
    ) -> _Hand:  # fmt: skip
        assert known.gripper is not None
        goal, part = float(np.clip(motion.width, known.gripper.least, known.gripper.opening)), None
        lets_go = motion.opens and goal > known.width and bool(world.holding(name))
        if not motion.opens:
            stop = finger_stop(world, name)
            if stop.part is not None and stop.width > goal:
                goal, part = min(stop.width, known.width), stop.part
        widths, width, ended = [], known.width, 0
        step = self.finger_speed * period
        while len(widths) < ticks or not ended:
            width = max(goal, width - step) if goal < width else min(goal, width + step)
            widths.append(width)
            if width == goal and not ended:
                ended = len(widths)
        return _Hand(np.array(widths), ended, part, lets_go)

    # --- arms ---------------------------------------------------------------------------------------------------------

    def _arm(
        self, world: World, state: DynamicState, name: str, motion: ArmMotion | None, hand: _Hand | None, ticks: int
    ) -> _Arm:  # fmt: skip
        """What an arm does in the next ticks."""
        known, arm, period = world.robots[name], state.arms[name], state.period
        compliance = motion.compliance if motion is not None else None
        if compliance is not None and not np.any(compliance.selected):
            compliance = None
        q_a, v_a, q_b, v_b = references(arm, motion, period, ticks, compliance is not None)
        # Along axes of force an arm may get off its planned way, but not faster than it is allowed to.
        margin = _NEAR + (2 * self.force_speed * period * ticks if compliance is not None else 0.0)
        touching = self._touching(world, name, known, np.concatenate([arm.q[None], q_b]), margin)
        points, table, counts = in_rooms(touching)
        robot, mounted = known.robot, world.mounted(name)
        R = world.pose(name)[:3, :3]
        steps = max(1, int(np.ceil(period / self.dt - 1e-9)))
        inertias = np.asarray(mounted.inertias)
        kernel = ticks_kernel(robot, known.tool, steps, len(table), compliance is not None)
        wanted = compliance or _FREE
        ticked = kernel(
            q_a, v_a, q_b, v_b, np.zeros(ticks) if hand is None else hand.width[:ticks], arm.q, arm.v,
            arm.integral if compliance is not None and arm.compliant else np.zeros(6),
            points, table, counts, np.array(self.contact, float), inertias,
            inertias if self.payload_known or compliance is not None else np.asarray(robot.inertias),
            R.T @ world.gravity,
            np.stack([np.full(robot.nv, self.stiffness**2), np.full(robot.nv, 2 * self.stiffness)]),
            np.minimum(robot.effort_limit, _BOUNDLESS), R.T @ np.asarray(wanted.axes, float),
            np.asarray(wanted.wrench, float), np.asarray(wanted.selected, float),
            np.array([self.force_kp, self.force_ki, self.force_kd, self.force_speed]), period,
        )  # fmt: skip
        if not np.isfinite(ticked.q).all():
            raise ArgumentError(
                f"DynamicBackend: the simulation of robot '{name}' went wrong; is it inside of a part? A 'stiffness' "
                f"below {self.stiffness:g}, a 'dt' below {self.dt:g} s or a softer 'contact' may help"
            )
        return _Arm(ticked, q_b, v_b, compliance is not None)

    def _touching(self, world: World, name: str, known: WorldRobot, q: np.ndarray, margin: float) -> Touching:
        width = known.gripper.opening if known.gripper is not None else 0.0
        return near_way(all_touching(world, name), known.robot, known.tool, q, width, margin)

    def _felt(self, world: World, name: str, wrench: np.ndarray, tick: int) -> np.ndarray:
        """The wrench that a wrist feels, along axes of the station."""
        felt = turned(world.pose(name)[:3, :3], np.asarray(wrench))
        if self.noise:
            scale = self.noise * np.array([0.1, 0.1, 0.1, 1, 1, 1])
            number = list(world.robots).index(name)
            noise = [np.random.default_rng([self.seed, number, tick + k]).normal(size=6) for k in range(len(felt))]
            felt = felt + scale * np.array(noise)
        return felt


def references(arm: ArmState, motion: ArmMotion | None, period: float, ticks: int, compliant: bool) -> tuple:
    """The ends (ticks, n) of the reference in each tick: q and v at its beginning, q and v at its end.

    The reference goes on from where it was, if the motion begins there; else the motion was planned from where the arm
    is, as after a contact. An arm that rests stays where its reference is; after a compliant motion, where it is.
    """
    led = not arm.compliant or compliant
    q_0, v_0 = (arm.q_aim, arm.v_aim) if led else (arm.q, np.zeros_like(arm.v))
    if motion is None or not len(motion.q):
        q_b, v_b = np.tile(q_0, (ticks, 1)), np.zeros((ticks, len(v_0)))
    else:
        last = np.minimum(np.arange(ticks), len(motion.q) - 1)
        q_b = np.asarray(motion.q, float)[last]
        v_b = np.where(np.arange(ticks)[:, None] < len(motion.q), np.asarray(motion.v, float)[last], 0.0)
        begins = q_b[0] - period * (v_b[0] + v_0) / 2
        if np.abs(begins - q_0).max() > _ALONG:
            q_0, v_0 = arm.q, arm.v
            begins = q_b[0] - period * (v_b[0] + v_0) / 2
            if compliant or np.abs(begins - q_0).max() > _ALONG:
                q_0, v_0 = q_b[0] - period * v_b[0], v_b[0]
    return np.concatenate([q_0[None], q_b[:-1]]), np.concatenate([v_0[None], v_b[:-1]]), q_b, v_b


def braking_motion(
    world: World, robot: str, q: np.ndarray, v: np.ndarray, period: float, faster: float = 1.0
) -> ArmMotion:  # fmt: skip
    """The motion to rest from q and v: all joints slow down evenly, none faster than its limit times `faster`."""
    limits = speed_limits(world.robots[robot].robot)
    seconds = float(np.max(np.abs(v) / (faster * limits.acceleration), initial=0.0))
    ticks = max(1, int(np.ceil(seconds / period - 1e-9)))
    end = ticks * period
    t = period * np.arange(1, ticks + 1)[:, None]
    return ArmMotion(robot, q + v * (t - t * t / (2 * end)), v * (1 - t / end))
