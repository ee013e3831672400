"""Moves of arms and hands: statements become motions, and threads wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...world.units import UNITS
from ..instructions.statements import Move, MoveHand, MoveJoints
from ..meaning.arm_names import robot_named
from .arms import ArmSettings, mover_named, no_arm
from .backends import ArmMotion, Compliance, HandMotion
from .flat_code import Operation
from .flow import leave_bodies
from .joint_paths import velocities
from .machine_state import Busy, Thread
from .motions import Knot, knots_of, plan_joints, plan_move, planned

if TYPE_CHECKING:
    from .machine import Machine

__all__: list[str] = []

_AXES = {"x": 0, "y": 1, "z": 2}
_MOST_JOINED = 64  # moves that follow each other without a stop
_SLACK = 1e-9  # [m] of widths


def arm_named(machine: Machine, name: str, op: Operation) -> str:
    """The robot that an arm's or a hand's name means."""
    robot = robot_named(machine.state.world, name, machine.arms)
    if robot is None:
        raise no_arm(machine.state.world, name, op.statement.at, machine.code.program.source)
    return robot


def _free(machine: Machine, key: str, op: Operation) -> None:
    if key in machine.state.motions:
        machine.fail(f"'{key}' is moving already", op.statement, hint="wait for it, or do not move it in two threads")


def number(machine: Machine, thread: Thread, expression, op: Operation, what: str) -> float | None:
    """The value of an expression that must be a number, or None if there is none."""
    if expression is None:
        return None
    found = machine.asked(thread, expression)
    if isinstance(found, bool | str | tuple) or np.ndim(found) or not np.isfinite(found):
        machine.fail(f"{what} must be a finite number", op.statement, expression.at, code="type")
    return float(found)


def positive(machine: Machine, thread: Thread, expression, op: Operation, what: str) -> float | None:
    """The value of an expression that must be a number above 0, or None if there is none."""
    found = number(machine, thread, expression, op, what)
    if found is not None and not found > 0:
        machine.fail(f"{what} must be above 0, and it is {found:g}", op.statement, expression.at, code="limit")
    return found


# --- arms -------------------------------------------------------------------------------------------------------------


def move(machine: Machine, thread: Thread, op: Operation) -> None:
    """An arm, or what it holds, moves."""
    s, state = op.statement, machine.state
    assert isinstance(s, Move)
    mover = mover_named(state.world, s.mover, state.settings, machine.arms, s.at, machine.code.program.source)
    _free(machine, mover.robot, op)
    settings = state.settings.get(mover.robot, ArmSettings())
    fraction = positive(machine, thread, s.speed, op, "a speed")
    if fraction is None:
        fraction = settings.speed if settings.once is None else settings.once
    duration = positive(machine, thread, s.duration, op, "a duration")
    axes = _force_axes(machine, thread, s, op)
    compliance = _compliance(machine, thread, s, op, axes)
    start, marks = state.world.robots[mover.robot].q, []
    if s.avoiding:
        values = _places(machine, thread, s, settings)
        motion = plan_move(
            state.world, mover.robot, values["to"], via=values["via"], frame=mover.frame, offset=mover.T_frame_mover,
            speed=fraction, duration=duration, period=machine.period, avoiding=True, compliance=compliance,
            rng=machine.rng,
        )  # fmt: skip
    else:
        knots, ends = _joined(machine, thread, s, mover, settings)
        known = state.world.robots[mover.robot]
        found = planned(known.robot, mover.frame, start, knots, settings.flags, fraction, duration, machine.period)
        motion = ArmMotion(mover.robot, found.q, velocities(start, found.q, machine.period), compliance)
        marks = [(state.tick + found.reached[k - 1], pc) for k, pc in ends]
    if settings.once is not None:
        state.settings[mover.robot] = settings._replace(once=None)
    thread.busy = Busy("move", mover.robot, axes=axes, marks=marks)
    begin(machine, thread, mover.robot, motion)


def begin(machine: Machine, thread: Thread, key: str, motion: ArmMotion) -> None:
    """A motion begins, or is over at once if it lasts no tick."""
    assert thread.busy is not None
    if len(motion.q):
        machine.state.motions[key] = motion
    else:
        machine.motion_over(thread, thread.busy)


def _places(machine: Machine, thread: Thread, s: Move, settings: ArmSettings) -> dict[str, Any]:
    """Values of the places and directions of a move, in the station."""

    def place(expression) -> np.ndarray:
        found = machine.asked(thread, expression)
        if isinstance(found, tuple):
            found = np.array(found, float)
        if not isinstance(found, np.ndarray) or (found.shape != (4, 4) and found.ndim != 1):
            machine.fail("a move goes to a frame or to joint values", s, expression.at, code="type")
        return settings.meant(found) if found.shape == (4, 4) else found

    def direction(expression) -> np.ndarray | None:
        if expression is None:
            return None
        found = np.asarray(machine.asked(thread, expression), float)
        if found.shape != (3,) or not found.any():
            machine.fail("an approach or departure is a vector that is not 0", s, expression.at, code="type")
        return found if settings.base is None else np.array(settings.base)[:3, :3] @ found

    return {
        "to": place(s.to), "via": [place(v) for v in s.via], "approach": direction(s.approach),
        "departure": direction(s.departure), "straight": s.straight,
    }  # fmt: skip


def _joined(machine: Machine, thread: Thread, s: Move, mover, settings) -> tuple[list[Knot], list[tuple[int, int]]]:
    """The knots of a move and of those that follow it without a stop; (knots before, program counter) of the latter."""
    world = machine.state.world
    frame, hand = mover.frame, mover.T_frame_mover
    knots = knots_of(world, mover.robot, **_places(machine, thread, s, settings), frame=frame, hand=hand)
    ends: list[tuple[int, int]] = []
    pc, operations, last = thread.pc, machine.code.operations, s
    known = world.robots[mover.robot]
    while last.nonstop and not last.guards and len(ends) < _MOST_JOINED:
        pc += 1
        after = operations[pc]
        follows = after.statement
        if after.action != "do" or not isinstance(follows, Move) or follows.mover != s.mover or follows.avoiding:
            break
        if follows.guards or follows.forces or follows.departure is not None:
            break
        # The next move begins where this one ends: what it says about here is meant there.
        there = planned(known.robot, frame, known.q, knots, settings.flags, 1.0, None, machine.period).q
        kept, machine.state.world = machine.state.world, world.set_configuration(mover.robot, there[-1])
        try:
            values = _places(machine, thread, follows, settings)
        finally:
            machine.state.world = kept
        ends.append((len(knots), pc))
        knots = knots + knots_of(world, mover.robot, **values, frame=frame, hand=hand)
        last = follows
    return knots, ends


def _force_axes(machine: Machine, thread: Thread, s: Move, op: Operation) -> np.ndarray | None:
    if s.force_frame is None:
        return None
    found = np.asarray(machine.asked(thread, s.force_frame), float)
    if found.shape not in ((4, 4), (3, 3)):
        machine.fail("a force frame is a frame or a rotation", op.statement, s.force_frame.at, code="type")
    return np.array(found[:3, :3])


def _compliance(machine: Machine, thread: Thread, s: Move, op: Operation, axes) -> Compliance | None:
    if not s.forces:
        return None
    wrench, selected = np.zeros(6), np.zeros(6, bool)
    for clause in s.forces:
        k = _AXES[clause.axis] + (0 if clause.rotates else 3)
        value = number(machine, thread, clause.value, op, "a force")
        wrench[k], selected[k] = value, True
    return Compliance(np.eye(3) if axes is None else axes, wrench, selected)


def move_joints(machine: Machine, thread: Thread, op: Operation) -> None:
    """Some joints move."""
    s, state = op.statement, machine.state
    assert isinstance(s, MoveJoints)
    robot = arm_named(machine, s.arm, op)
    _free(machine, robot, op)
    model = state.world.robots[robot].robot
    joints, values = _listed(machine.asked(thread, s.joints)), _listed(machine.asked(thread, s.values))
    if len(joints) != len(values):
        machine.fail(f"{len(joints)} joints and {len(values)} values do not fit", s, code="type")
    if any(not 1 <= j <= model.nq or j != int(j) for j in joints):
        machine.fail(f"joints are numbers from 1 to {model.nq}, not {[float(j) for j in joints]}", s, code="name")
    slides = [model.joint_types[i] == "prismatic" for i in range(len(model.joint_types)) if i not in model.mimics]
    units = np.array([UNITS[s.length_unit if slides[int(j) - 1] else s.angle_unit].factor for j in joints])
    rates = {}
    for name in ("speed", "acceleration", "deceleration"):
        expression = getattr(s, name)
        if expression is not None:
            given = np.array(_listed(machine.asked(thread, expression)), float)
            rates["velocity" if name == "speed" else name] = given * units
    settings = state.settings.get(robot, ArmSettings())
    fraction = positive(machine, thread, s.speed_fraction, op, "a speed")
    if fraction is None:
        fraction = settings.speed if settings.once is None else settings.once
    motion = plan_joints(
        state.world, robot, [int(j) for j in joints], np.array(values, float) * units, relative=s.relative,
        speed=fraction, period=machine.period, **rates,
    )  # fmt: skip
    if settings.once is not None:
        state.settings[robot] = settings._replace(once=None)
    thread.busy = Busy("move", robot)
    _ask_afresh(machine, s)
    begin(machine, thread, robot, motion)


def _ask_afresh(machine: Machine, s: MoveJoints | MoveHand) -> None:
    """The monitors of a move have not stopped it yet."""
    for expression in s.monitors:
        monitor = machine.state.monitors.get(getattr(expression, "name", ""))
        if monitor is not None:
            monitor.triggered = False


def _listed(value: Any) -> list[float]:
    if isinstance(value, tuple):
        return [float(x) for x in value]
    return [float(x) for x in np.atleast_1d(value)]


# --- hands ------------------------------------------------------------------------------------------------------------


def move_hand(machine: Machine, thread: Thread, op: Operation) -> None:
    """Fingers open or close."""
    s, state = op.statement, machine.state
    assert isinstance(s, MoveHand)
    robot = arm_named(machine, s.hand, op)
    known = state.world.robots[robot]
    grip = known.gripper
    if grip is None:
        machine.fail(f"robot '{robot}' has no gripper", s, hint="World.add_robot(..., gripper=Gripper(...)) gives one")
    width = number(machine, thread, s.width, op, "a width")
    if width is not None and not s.grasp and not grip.least - _SLACK <= width <= grip.opening + _SLACK:
        machine.fail(
            f"the hand opens from {1e3 * grip.least:.4g} to {1e3 * grip.opening:.4g} mm, not to {1e3 * width:.4g} mm",
            s, code="limit",
        )  # fmt: skip
    goal = (grip.opening if s.opens else grip.least) if width is None or s.grasp else width
    opens = goal > known.width + _SLACK or (s.opens and abs(goal - known.width) <= _SLACK)
    key = f"{robot}.hand"
    if any(t.busy is not None and t.busy.key == key for t in state.threads):
        _free(machine, key, op)  # fingers that nobody waits for may be told otherwise, others may not
    state.motions[key] = HandMotion(robot, float(np.clip(goal, grip.least, grip.opening)), opens)
    _ask_afresh(machine, s)
    if s.wait:
        thread.busy = Busy("hand", key)
    else:
        machine.done(thread)


def hand_rests(machine: Machine, thread: Thread, op: Operation) -> None:
    """The fingers rest; GRASP asks whether something is between them."""
    s = op.statement
    assert isinstance(s, MoveHand)
    robot = arm_named(machine, s.hand, op)
    width = machine.state.world.robots[robot].width
    if s.grasp:
        needed = number(machine, thread, s.width, op, "a width") or 0.0
        if width < needed - _SLACK:
            if op.target < 0:
                machine.finish("aborted", f"{machine.where(s)}: nothing was grasped")
                return
            leave_bodies(thread, op.leaves)
            machine.done(thread, op.target)
            return
    machine.done(thread)
