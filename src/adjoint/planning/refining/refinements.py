"""`refine`: from a ground action to the motions that do it, or to the facts that stand in the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...errors import ArgumentError, nearest
from ...program.instructions import Program, TaskState
from ...program.running.backends import ArmMotion
from ...program.tasks.task_edits import Step, applied
from ...world import Grasp, Relation, World
from ...world.state.attachment_edits import holder_of
from ..strips.task_types import Action, Fact
from .learned_facts import Learned, is_near, learned
from .manipulation import movable_parts
from .reasons import blame
from .transfers import PERIOD, Transfer, picked, put, start_fault, transferred

__all__ = ["Refinement", "refine"]

_NEAR = 0.01  # [rad, m] an arm that is so near to where motions begin is there
_SAME = 2e-3  # [m] the widths of two hands that are as open as each other
PUTS = ("place", "stack")


@dataclass(frozen=True, eq=False, repr=False)
class Refinement:
    """What `refine` found for an action; it is true if it is `solved`.

    - `steps` are motions of the arm and the hand, and edits of the world; `before` and `after` are the worlds at both
      ends. `program` has them as one statement, which `run_refinement` runs as often as `fits` allows.
    - `grasp` is the grasp of a pick. `following` is the refinement of the action `then`, if one was given: one grasp
      serves both.
    - `reason` tells why there are no steps, and `learned` are the facts behind it; see `Learned`.
    """

    action: Action
    before: World
    after: World
    steps: tuple[Step, ...] = ()
    grasp: Grasp | None = None
    following: Refinement | None = None
    reason: str = ""
    learned: tuple[Learned, ...] = field(default=())

    @property
    def solved(self) -> bool:
        """Whether there are steps."""
        return not self.reason

    def __bool__(self) -> bool:
        return self.solved

    @property
    def robot(self) -> str:
        """The robot that acts."""
        return self.action.arguments[0]

    @property
    def program(self) -> Program:
        """A program of one statement, the action."""
        return Program((TaskState(str(self.action), purpose="achieve", arm=self.robot),), name=str(self.action))

    @property
    def duration(self) -> float:
        """[s] of the motions of the arm."""
        return PERIOD * sum(len(step.q) for step in self.steps if isinstance(step, ArmMotion))

    def fits(self, world: World) -> bool:
        """Whether the steps do the same in another world: parts, arms and hands are where they were, and hold it."""
        was = self.before
        return (
            self.solved
            and world.parts.keys() == was.parts.keys()
            and all(is_near(world.pose(name), was.pose(name)) for name in was.parts)
            and all(abs(world.robots[r].q - was.robots[r].q).max() < _NEAR for r in was.robots)
            and all(world.holding(r) == was.holding(r) for r in was.robots)
            and all(abs(world.robots[r].width - was.robots[r].width) < _SAME for r in was.robots if not was.holding(r))
        )

    def __repr__(self) -> str:
        if not self.solved:
            return f"<Refinement of {self.action}: failed: {self.reason}>"
        return f"<Refinement of {self.action}: {len(self.steps)} steps, {self.duration:.3g} s>"


def refine(
    world: World, action: Action, *, then: Action | None = None,
    relations: Mapping[Fact, Sequence[Relation]] | None = None, movable: Collection[str] | None = None,
) -> Refinement:  # fmt: skip
    """Find the motions that do an action of `manipulation_domain` in a world, or the facts that stand in the way.

        >>> from adjoint.planning.refining import manipulation_domain
        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.5, 0.7, 0.05), at=[0.6, 0, -0.325])
        >>> w = w.add("a", cuboid(0.05, 0.05, 0.05), at=[0.5, -0.1, -0.275])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.14]))
        >>> domain = manipulation_domain(w)
        >>> pick, put = (domain.operator(x).ground("arm", "a", "table") for x in ("pick", "place"))
        >>> found = refine(w, pick, then=put)
        >>> found.solved, found.after.holding("arm"), found.following.after.holding("arm")
        (True, ['a'], [])

    - `then` is the action that puts down what is picked. Both are planned together, with one grasp that is good for
      both; the result is that of the pick, with the other one in `following`.
    - `relations` {("on", a, b): relations} tell how parts shall lie; without them a part lies in the middle of what is
      not much larger, else where there is room.
    - `movable` are names of parts that could be moved out of the way, as in `manipulation_domain`.

    The action goes from relations to placements, to a grasp, to a motion plan, and to the four phases of a transfer:
    guarded departure, free motion, guarded approach, compliant motion. If no grasp is left, the reasons of all of them
    name what they met. Of the movable parts among these, those whose removal makes the action possible are learned as
    ("obstructs", b, x); if nothing helps, the learned fact is ("unreachable", robot, part, x).
    Reference: Fu, Gonzalez & Lee (1987), Secs. 9.3.3, 10.8.3, 10.9.3.
    """
    robot, part, other = _arguments(world, action)
    known = relations or {}
    onto = other
    if action.name in PUTS:
        if then is not None:
            raise ArgumentError(f"refine: 'then' follows a pick; {action} is none")
        _need_held(world, robot, part, action)
        attempt = partial(put, robot=robot, part=part, onto=onto, relations=known.get(("on", part, onto), ()))
    elif then is None:
        attempt = partial(picked, robot=robot, part=part)
    else:
        onto = _putting_down(world, action, then)
        attempt = partial(transferred, robot=robot, part=part, onto=onto, relations=known.get(("on", part, onto), ()))
    found = attempt(world)
    if found.reason and (fault := start_fault(world, robot)):
        told = f"'{robot}' cannot move from where it stands: {fault}"
        facts = (learned(world, ("unreachable", robot, part, other), told, stuck=True),)
        return Refinement(action, world, world, reason=told, learned=facts)
    if found.reason:
        loose = movable_parts(world) if movable is None else set(movable)
        facts = blame(world, robot, part, other, onto, found, attempt, loose)
        return Refinement(action, world, world, reason=found.reason, learned=facts)
    return _refined(world, action, then, found)


def _putting_down(world: World, action: Action, then: Action) -> str:
    """Where the action `then` puts down what is picked."""
    if not isinstance(then, Action) or then.name not in PUTS or then.arguments[:2] != action.arguments[:2]:
        raise ArgumentError(f"refine: 'then' must put down what {action} takes; got {then!s:.60}")
    return _arguments(world, then)[2]


def _refined(world: World, action: Action, then: Action | None, found: Transfer) -> Refinement:
    first = found.place if action.name in PUTS else found.pick
    after = applied(world, first)
    following = None
    if then is not None:
        following = Refinement(then, after, applied(after, found.place), found.place)
    grasp = None if found.plan is None else found.plan.grasp
    return Refinement(action, world, after, first, grasp, following)


def _arguments(world: World, action: Action) -> tuple[str, str, str]:
    """The robot, the part and the support of an action, which must be in the world."""
    if not isinstance(world, World):
        raise ArgumentError(f"refine: the first argument must be a World, got {type(world).__name__}")
    if isinstance(action, str):
        raise ArgumentError("refine: an Action is needed, not a text; problem_of(world, goal).action(name, ...) is one")
    if not isinstance(action, Action) or action.name not in ("pick", *PUTS) or len(action.arguments) != 3:
        raise ArgumentError(
            f"refine: the action must be one of manipulation_domain: pick, place or stack; got {action!s:.60}"
        )
    robot, part, other = action.arguments
    for name, there in ((robot, world.robots), (part, world.parts), (other, world.parts)):
        if name not in there:
            known = nearest(name, list(there)) if there else "it has none"
            raise ArgumentError(f"refine: {action} names '{name}', which is not in the world; {known}")
    return robot, part, other


def _need_held(world: World, robot: str, part: str, action: Action) -> None:
    holder = holder_of(world, part)
    if holder is None or holder[0] != robot:
        raise ArgumentError(f"refine: {action} needs '{part}' in the hand of '{robot}', which does not hold it")


def __dir__() -> list[str]:
    return __all__
