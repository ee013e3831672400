"""`dry_run`: a program is run in kinematics, and limits, reach, branches and collisions of all moves are checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...errors import ArgumentError, nearest
from ...sensing.scene.scene_checks import number
from ...world.state import World
from ..instructions.diagnostics import Diagnostic, rendered
from ..instructions.programs import Program
from ..instructions.sources import Span
from ..instructions.statements import Move, Statement
from ..running.machine import RunLimits
from ..running.motion_contacts import motion_contacts
from ..running.program_runs import ProgramRun
from ..running.readings import Input
from .motion_checks import positions_beyond, speeds_beyond
from .rehearsing import Begun, RehearsingSession

__all__ = ["DryMotion", "DryRun", "dry_run"]

_LIMITS = RunLimits(ticks=100_000, statements=1_000_000, still=10_000)
_MOST = 3  # contacts of one motion that are reported


@dataclass(frozen=True, eq=False)
class DryMotion:
    """A motion of a dry run: the `robot`, the `line` and the `statement`, when it begins and ends [s], q (N, nq)."""

    robot: str
    line: int
    statement: Statement = field(repr=False)
    begins: float
    ends: float
    q: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class DryRun:
    """What `dry_run` found.

    - `findings`: diagnostics at places of the text, in its order, with the codes "reach", "limit", "branch" and
      "collision", or that of the error that ended the run.
    - `motions`: all motions, with their lines; `run`: the whole run, as `run` gives it, without the moves that cannot
      be made. `status` and `duration` [s] are those of the run.
    """

    findings: tuple[Diagnostic, ...]
    motions: tuple[DryMotion, ...]
    run: ProgramRun

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings may be there."""
        return not any(d.severity == "error" for d in self.findings)

    @property
    def status(self) -> str:
        """How the run ended: "done", "aborted", "failed", "limit" or "paused"."""
        return self.run.status

    @property
    def duration(self) -> float:
        """The time that the program takes [s]."""
        return self.run.duration

    def __str__(self) -> str:
        found = [rendered(d, self.run.program.source) for d in self.findings]
        return "\n".join(found) or f"{len(self.motions)} motions in {self.duration:g} s; nothing is wrong"

    def __repr__(self) -> str:
        return (
            f"<DryRun: {self.status}, {len(self.motions)} motions, {len(self.findings)} findings, {self.duration:g} s>"
        )


def dry_run(
    program: Program, world: World, *, arms: Mapping[str, str] | None = None, inputs: Mapping[str, Input] | None = None,
    period: float = 0.01, limit: int | RunLimits | None = None, tolerance: float = 1e-3,
    ignore: Iterable[tuple[str, str]] = (), rng: int = 0,
) -> DryRun:  # fmt: skip
    """Run a program in kinematics and check all of its motions, tick by tick, before anything real moves.

        >>> from adjoint.program import parse
        >>> w = aj.world.World().add_robot("arm", robot, q=[0.3, -0.8, 2.0, 0.3, 0.7, 0.0])
        >>> text = "BEGIN a  MOVE arm TO arm - 2*inches*Z;  MOVE arm TO arm + 50*inches*Z;  END a."
        >>> [(d.code, d.message) for d in dry_run(parse(text, "al"), w).findings]
        [('reach', 'this is out of reach')]

    - Joints must stay within their limits of position and speed, and must not jump between ticks.
    - Poses must be within reach, and lines must be without a change of branch. A move that cannot be made is reported
      and left out, and the program goes on with the next statement, with the arm where it was.
    - Links, hand and carried parts must not be more than `tolerance` [m] inside of parts, other robots or the robot
      itself. So a part may rest on a table, and lie between fingers. `ignore` has pairs of names (link or carried part,
      obstacle) that may touch; in moves with forces, the hand and what it holds may touch everything.

    `inputs` say what sensors and input lines tell, as in `run`; a program that waits for more than they say ends at the
    `limit` of ticks, which is a warning. Errors that `check` finds raise a `ProgramError`. Other robots count where
    they stand when a motion begins, and links and a hand that touch each other before anything moves may do so: a robot
    is modelled like that. What is thinner than the way between two ticks may be missed: a shorter `period`
    looks more closely.
    """
    tolerance = number(tolerance, "tolerance", "dry_run", least=0)
    session = RehearsingSession(
        program, world, arms=arms, inputs=inputs, period=period, limit=_LIMITS if limit is None else limit, rng=rng
    )
    run = session.go_on()
    machine = session.rehearsing
    found = {(d.span, d.code, d.message): d for d in machine.problems}
    motions = []
    ignored = _ignored(ignore, world)
    if machine.begun:
        ignored |= _touching_itself(world, tolerance)
    for begun, a, b in _intervals(machine.begun, len(run) - 1):
        motions += _pieces(run, begun, a, b)
        for key, diagnostic in _checked(run, begun, a, b, tolerance, ignored):
            found.setdefault(key, diagnostic)
    for d in _ended(run):
        found.setdefault((d.span, d.code, d.message), d)
    everything = list(found.values())
    everything.sort(key=lambda d: d.span.start)
    return DryRun(tuple(everything), tuple(motions), run)


def _intervals(begun: list[Begun], last: int) -> Iterator[tuple[Begun, int, int]]:
    """(what has begun, first tick, last tick) of all statements that move an arm."""
    after: dict[int, int] = {}
    found = []
    for one in reversed(begun):
        end = after.get(one.thread, last)
        after[one.thread] = one.tick
        if one.robot and end > one.tick:
            found.append((one, one.tick, end))
    return reversed(found)


def _pieces(run: ProgramRun, begun: Begun, a: int, b: int) -> list[DryMotion]:
    """The motion of a statement, without the ticks at which its robot has come to rest already."""
    q = run.q[begun.robot][a : b + 1]
    moving = np.flatnonzero((np.diff(q, axis=0) != 0).any(axis=1))
    if not len(moving):
        return []
    first, last = int(moving[0]), int(moving[-1]) + 1
    line = run.program.line_of(begun.statement.at)
    times = [float(run.t[a + k]) for k in (first, last)]
    return [DryMotion(begun.robot, line, begun.statement, times[0], times[1], q[first : last + 1])]


Key = tuple[Span, str, str]


def _checked(
    run: ProgramRun, begun: Begun, a: int, b: int, tolerance: float, ignore: frozenset[frozenset[str]]
) -> Iterator[tuple[Key, Diagnostic]]:
    """What is wrong with the motion of a statement from tick a to tick b; the keys are the same for the same fault."""
    at, q, robot = begun.statement.at, run.q[begun.robot][a : b + 1], run.start.robots[begun.robot].robot
    if words := positions_beyond(robot, q, run.period):
        yield (at, "limit", "position"), Diagnostic(words, at, code="limit")
    code, words = speeds_beyond(robot, q, run.period)
    if words:
        yield (at, code, "speed"), Diagnostic(words, at, "give it more time, or a lower speed", code=code)
    pressing = isinstance(begun.statement, Move) and bool(begun.statement.forces)
    for world, first, last in _worlds(run, begun.robot, a, b):
        rows = run.q[begun.robot][first : last + 1]
        for met in motion_contacts(world, begun.robot, rows, tolerance, pressing, ignore)[:_MOST]:
            when = (first - a + met.tick) * run.period
            message = f"{met.contact}, {when:.2f} s into the move"
            span = [(first - a + k) * run.period for k in (met.first, met.last)]
            hint = f"they touch from {span[0]:.2f} to {span[1]:.2f} s; go around it, or move it"
            yield (at, "collision", f"{met.contact.a} {met.contact.b}"), Diagnostic(message, at, hint, code="collision")


def _worlds(run: ProgramRun, robot: str, a: int, b: int) -> Iterator[tuple[World, int, int]]:
    """(world, first tick, last tick) of the pieces of a motion during which only joints and fingers move."""
    ticks = [tick for tick, _ in run.worlds]
    for (tick, world), after in zip(run.worlds, [*ticks[1:], len(run)], strict=True):
        first, last = max(a, tick), min(b, after)
        if first >= last or not (np.diff(run.q[robot][first : last + 1], axis=0) != 0).any():
            continue
        for name, known in world.robots.items():
            if name != robot:
                world = world.set_configuration(name, run.q[name][first])
            if known.gripper is not None:
                world = world.set_gripper(name, float(run.width[name][first]))
        yield world, first, last


def _ignored(ignore: Iterable[tuple[str, str]], world: World) -> frozenset[frozenset[str]]:
    """The pairs of names that may touch, or an `ArgumentError`."""
    known = [*world.parts, "palm", "finger"]
    for robot in world.robots.values():
        known += [*robot.robot.body_names, *robot.robot.frame_names]
    known += [f"{name}.{link}" for name, robot in world.robots.items() for link in robot.robot.body_names]
    found = []
    for pair in ignore:
        if isinstance(pair, str) or len(pair) != 2:
            raise ArgumentError(f"dry_run: 'ignore' has pairs of names, not {pair!r:.60}")
        for name in pair:
            if name not in known:
                raise ArgumentError(f"dry_run: 'ignore' names {name!r:.60}{nearest(str(name), known)}")
        found.append(frozenset(pair))
    return frozenset(found)


def _touching_itself(world: World, tolerance: float) -> frozenset[frozenset[str]]:
    """Pairs of a robot's own links and hand that touch before anything moves: so it is modelled."""
    found = []
    for name, known in world.robots.items():
        for met in motion_contacts(world, name, known.q[None], tolerance, False, frozenset()):
            if met.own:
                found.append(frozenset((met.contact.a, met.contact.b)))
    return frozenset(found)


def _ended(run: ProgramRun) -> list[Diagnostic]:
    """What the end of a run says about its program."""
    if run.error is not None:
        return list(run.error.diagnostics)
    if run.status == "limit":
        return [Diagnostic(f"the dry run stopped early: {run.message}", severity="warning", code="time")]
    if run.status == "aborted":
        return [Diagnostic(f"the program aborts: {run.message}", code="abort")]
    return []
