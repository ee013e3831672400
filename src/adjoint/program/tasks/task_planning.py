"""`task_steps`: from a statement about parts to motions, hands and edits of the world."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...errors import AdjointError, ArgumentError, nearest
from ...world import World, is_clear
from ...world.predicates.contact_gaps import up_of
from ..instructions import Diagnostic, Operate, Place, ProgramError, RelationClause, TaskState
from .feature_names import named
from .operating import operate_steps
from .placing import place_steps
from .task_edits import Step, TaskPhase, applied
from .task_goals import missed

__all__ = ["state_holds", "task_steps"]

_INDICES = re.compile(r"\(([^()]*)\)")


def task_steps(
    world: World, statement: Place | Operate | TaskState, robot: str = "", period: float = 0.01, *,
    value: Callable[[str], Any] | None = None,
) -> tuple[Step, ...]:  # fmt: skip
    """How a robot of a world does what a statement says about parts: motions, hands, and edits of the world, in order.

        >>> from adjoint.program.instructions import Place
        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.6, 0.8, 0.05), at=[0.6, 0, -0.3])
        >>> w = w.add("box", cuboid(0.06, 0.06, 0.04), at=[0.5, -0.1, -0.255])
        >>> w = w.add("cube", cuboid(0.04, 0.04, 0.04), at=[0.5, 0.2, -0.255])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.12]))
        >>> steps = task_steps(w, Place("cube", "on", "box"), "arm")
        >>> [step.words for step in steps if hasattr(step, "words")][:4]
        ["free motion to 'cube'", "guarded approach to 'cube'", "'arm' takes 'cube'", "guarded departure with 'cube'"]

    - `robot` is the name of the robot; "" is the only one of the world. `period` [s] is the time between ticks.
    - A step is an `ArmMotion`, a `HandMotion`, or an edit with `apply(world)` and `words`.
    - `value` gives the value of a variable, for names with indices such as bin(I,J).

    Relations become placements (`adjoint.world.placements`), grasps and motions are those of `plan_pick_and_place`, and
    the transfer has four phases: guarded departure, free motion, guarded approach, compliant motion. A `ProgramError`
    at the statement says why a task cannot be done. Reference: Fu, Gonzalez & Lee (1987), Secs. 9.3.2, 9.3.3.
    """
    robot = _robot(world, robot)
    if not period > 0:
        raise ArgumentError(f"task_steps: 'period' must be above 0, got {period}")
    try:
        statement = _numbered(statement, value)
        if isinstance(statement, Place):
            return place_steps(world, statement, robot, period)
        if isinstance(statement, Operate):
            return operate_steps(world, statement, robot, period)
        if isinstance(statement, TaskState):
            return _state_steps(world, statement, robot, period)
    except LookupError as error:
        raise ProgramError(Diagnostic(str(error.args[0]), statement.at, code="task")) from None
    except ProgramError:
        raise
    except AdjointError as error:
        raise ProgramError(Diagnostic(str(error), statement.at, code="task")) from None
    raise ArgumentError(f"task_steps: {type(statement).__name__} is no task; Place, Operate and TaskState are")


def state_holds(world: World, state: TaskState | Sequence[RelationClause]) -> bool:
    """Whether all relations of a state hold in a world, up to 1 mm for faces that touch.

    >>> from adjoint.program.instructions import RelationClause
    >>> from adjoint.world import World, cuboid
    >>> w = World().add("Table", cuboid(1, 1, 0.1)).add("Block1", cuboid(0.1, 0.1, 0.1), at=[0, 0, 0.1])
    >>> state_holds(w, [RelationClause("against", "Block1.face1", "Table")])
    True
    >>> state_holds(w.move("Block1", [0, 0, 0.3]), [RelationClause("against", "Block1.face1", "Table")])
    False
    """
    clauses = state.relations if isinstance(state, TaskState) else tuple(state)
    try:
        return not missed(world, clauses)
    except LookupError as error:
        raise ArgumentError(f"state_holds: {error.args[0]}") from None


def _robot(world: World, robot: str) -> str:
    if robot in world.robots:
        return robot
    if not robot and len(world.robots) == 1:
        return next(iter(world.robots))
    known = nearest(robot, list(world.robots)) if world.robots else "it has none"
    raise ArgumentError(f"task_steps: the world has no robot '{robot}'; {known}")


# --- states -----------------------------------------------------------------------------------------------------------


def _state_steps(world: World, state: TaskState, robot: str, period: float) -> tuple[Step, ...]:
    """Nothing for a definition; nothing or an error for a check; placements one after the other for a goal."""
    if state.purpose == "define":
        return ()
    wrong = missed(world, state.relations)
    if state.purpose == "check":
        if wrong:
            told = " and ".join(f"{c.first} {c.relation} {c.second}" for c in wrong)
            raise LookupError(f"the state {state.name} does not hold: {told}".replace("state  ", "state "))
        return (TaskPhase(f"the state {state.name} holds".replace("state  ", "state ")),)
    steps: list[Step] = []
    for _ in range(2 * len(state.relations)):
        now = applied(world, steps)
        wrong = missed(now, state.relations)
        if not wrong:
            return tuple(steps)
        steps += place_steps(now, _next_place(now, state, wrong), robot, period)
    raise LookupError(f"the state {state.name} cannot be achieved by placing its parts one after the other")


def _next_place(world: World, state: TaskState, wrong: list[RelationClause]) -> Place:
    """The next part to place: it is clear, in no relation that holds, and what it goes to has its place already."""
    settled = {part for c in state.relations if c not in wrong for part in _parts(world, c)}
    waiting = {part for c in wrong for part in _below(world, c) if part not in settled}
    for clause in wrong:
        parts = [part for part in _parts(world, clause) if part not in settled]
        movable = [
            part for part in parts if is_clear(world, part) and all(x == part or x not in waiting for x in parts)
        ]
        if movable:
            part = movable[0]
            own = [c for c in state.relations if part in _parts(world, c)]
            ready = [c for c in own if all(x == part or x not in waiting for x in _parts(world, c))]
            return Place(part, relations=tuple(ready))
    names = sorted({part for c in wrong for part in _parts(world, c) if part not in settled})
    raise LookupError(f"no part can be placed next: {', '.join(names)} are not clear, or wait for each other")


def _below(world: World, clause: RelationClause) -> list[str]:
    """The parts whose own lower faces a relation speaks of: these have to be placed by it."""
    sides = [named(world, clause.first), named(world, clause.second)]
    up = up_of(world)
    return [
        s.part
        for s in sides
        if s.feature is not None and s.part and world.pose(s.part)[:3, :3] @ s.feature.axis @ up < -0.9
    ]


def _parts(world: World, clause: RelationClause) -> list[str]:
    return [side.part for side in (named(world, clause.first), named(world, clause.second)) if side.part]


# --- indices ----------------------------------------------------------------------------------------------------------


def _numbered(statement: Any, value: Callable[[str], Any] | None) -> Any:
    """The statement with numbers in the place of variables in its names: bin(I,J+1) becomes bin(2,4)."""
    if isinstance(statement, Place):
        relations = tuple(
            replace(c, first=_number(c.first, value), second=_number(c.second, value)) for c in statement.relations
        )
        names = {name: _number(getattr(statement, name), value) for name in ("part", "support", "grasp")}
        return replace(statement, relations=relations, **names)
    if isinstance(statement, Operate):
        names = {name: _number(getattr(statement, name), value) for name in ("tool", "part", "place")}
        return replace(statement, **names)
    return statement


def _number(name: str, value: Callable[[str], Any] | None) -> str:
    if "(" not in name:
        return name
    return _INDICES.sub(lambda found: f"({','.join(_index(x, value) for x in found[1].split(','))})", name)


def _index(text: str, value: Callable[[str], Any] | None) -> str:
    found = re.fullmatch(r"\s*([A-Za-z_]\w*)?\s*([+-])?\s*(\d+)?\s*", text)
    if found is None or not any(found.groups()):
        raise LookupError(f"'{text}' is no index")
    variable, sign, number = found.groups()
    base = 0
    if variable:
        if value is None:
            raise LookupError(f"the index '{variable}' has no value here")
        base = float(value(variable))
        if base != int(base):
            raise LookupError(f"the index '{variable}' is {base:g}, which is no whole number")
    return str(int(base) + (-1 if sign == "-" else 1) * int(number or 0))
