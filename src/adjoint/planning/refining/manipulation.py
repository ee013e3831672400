"""Picking and placing as a planning task: the operators, and a world's state and goal as facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from types import MappingProxyType

from ...errors import ArgumentError, nearest
from ...world import World, facts
from ...world.relations.sources import Source
from ...world.state.attachment_edits import holder_of
from ..strips.task_types import Condition, Domain, Fact, Operator, Parameter, Problem
from .goal_facts import goal_condition, kept_goal
from .learned_facts import Learned
from .told_relations import Related, told_facts, with_told

__all__ = ["manipulation_domain", "problem_of", "sensed_facts"]

_TYPES = {"support": "object", "movable": "support", "fixed": "support", "robot": "object"}
_ROBOT, _PART = Parameter("?robot", ("robot",)), Parameter("?part", ("movable",))
_PREDICATES = {
    "on": (_PART, Parameter("?below", ("support",))),
    "clear": (Parameter("?x", ("support",)),),
    "holding": (_ROBOT, _PART),
    "handempty": (_ROBOT,),
    "obstructs": (_PART, Parameter("?x", ("support",))),
    "unreachable": (_ROBOT, _PART, Parameter("?x", ("support",))),
}
_NOTHING: Related = MappingProxyType({})
_REQUIREMENTS = (":strips", ":typing", ":negative-preconditions", ":equality")


def manipulation_domain(
    world: World, *, movable: Collection[str] | None = None, learned: Iterable[Learned] = ()
) -> Domain:
    """What robots can do with the parts of a world: pick, place on what is fixed, and stack on what is movable.

        >>> from adjoint.world import World, cuboid
        >>> cube = cuboid(0.05, 0.05, 0.05)
        >>> w = World().add("table", cuboid(0.5, 0.5, 0.05)).add("a", cube, at=[0, 0, 0.05]).add_robot("arm", robot)
        >>> manipulation_domain(w)
        <Domain manipulation: 3 operators (pick place stack), 6 predicates>

    | operator | needs | and then |
    |---|---|---|
    | (pick robot part from) | handempty, clear part, on part from | holding; `from` is clear |
    | (place robot part onto) | holding | on part onto; what is fixed, such as a table, stays clear |
    | (stack robot part onto) | holding, clear onto | on part onto; `onto` is not clear |

    Predicates are those of `adjoint.world.facts`, and two that geometry tells: (obstructs b x), b stands so near to x
    that no hand comes to x, and (unreachable robot part x). They forbid actions; an obstruction ends when b is picked.
    What cannot be reached with a part in the hand may be reached by another grasp, when it has been put down.

    - `movable` are names of parts; the default are those that lie on something or are held, are not rigidly attached
      to another part, and are narrow enough for a hand. All other parts are fixed.
    - `learned` are facts that failed refinements gave; see `refine`.

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6; a table is never covered, which the printed MOVE rule misses.
    """
    kinds = part_kinds(world, movable)
    found = [item.fact for item in _all_learned(learned)]
    blocking = list(dict.fromkeys(fact[1] for fact in found if fact[0] == "obstructs"))
    blocked = list(dict.fromkeys(fact[2] for fact in found if fact[0] == "obstructs"))
    named = {name: kinds[name] for name in dict.fromkeys((*blocking, *blocked))}
    grasped = [fact[1::2] for fact in found if fact[0] == "unreachable" and holder_of(world, fact[2]) is not None]
    named |= {name: kinds[name] for pair in grasped for name in pair}
    operators = _pick(blocking, blocked), _put("place", "fixed", blocking, grasped), _put("stack", "movable", blocking)
    return Domain("manipulation", operators, _PREDICATES, _TYPES, constants=named, requirements=_REQUIREMENTS)


def _pick(blocking: list[str], blocked: list[str]) -> Operator:
    away = (("unreachable", "?robot", "?part", "?from"), *(("obstructs", b, "?part") for b in blocking))
    return Operator(
        "pick", (_ROBOT, _PART, Parameter("?from", ("support",))),
        Condition(
            (("handempty", "?robot"), ("clear", "?part"), ("on", "?part", "?from")), away,
            different=(("?part", "?from"),),
        ),
        adds=(("holding", "?robot", "?part"), ("clear", "?from")),
        deletes=(
            ("handempty", "?robot"), ("on", "?part", "?from"), ("clear", "?part"),
            *(("obstructs", "?part", x) for x in blocked),
        ),
    )  # fmt: skip


def _put(name: str, kind: str, blocking: list[str], grasped: Iterable[tuple[str, ...]] = ()) -> Operator:
    """The operator that puts a part on a support: a movable one is not clear then (Sec. 10.6 forgets the table).

    `grasped` are pairs (robot, support) out of reach of the robot with the part as it holds it now.
    """
    away = (("unreachable", "?robot", "?part", "?onto"), *(("obstructs", b, "?onto") for b in blocking))
    one_place = (("clear", "?onto"),) if kind == "movable" else ()
    return Operator(
        name, (_ROBOT, _PART, Parameter("?onto", (kind,))),
        Condition((("holding", "?robot", "?part"), *one_place), away, different=(("?part", "?onto"),)),
        adds=(("on", "?part", "?onto"), ("clear", "?part"), ("handempty", "?robot")),
        deletes=(
            ("holding", "?robot", "?part"), *one_place,
            *(("unreachable", robot, "?part", support) for robot, support in grasped),
        ),
    )  # fmt: skip


def problem_of(
    world: World, goal, *, movable: Collection[str] | None = None, learned: Iterable[Learned] = (),
    previous: Collection[Fact] | None = None,
) -> Problem:  # fmt: skip
    """The task of reaching a goal from a world as it is.

        >>> from adjoint.world import Gripper, World, cuboid
        >>> w = World().add("table", cuboid(0.5, 0.5, 0.05)).add("a", cuboid(0.05, 0.05, 0.05), at=[0, 0, 0.05])
        >>> w = w.add_robot("arm", robot, gripper=Gripper(opening=0.08, T_tool_grip=[0, 0, 0.14]))
        >>> task = problem_of(w, "(holding arm a)")
        >>> sorted(task.initial)
        [('clear', 'a'), ('clear', 'table'), ('handempty', 'arm'), ('on', 'a', 'table')]

    The goal is one of these: facts such as [("on", "a", "b")], the goal of a PDDL problem as a text, a `Condition`, or
    relations of the world such as `on("a.bottom", "b.top")`. Relations also ask for the fact (as-told a b): a part that
    lies on the right one, but not as they say, is taken and put down again. `movable` and `learned` are those of
    `manipulation_domain`, `previous` that of `adjoint.world.facts`.
    """
    goal = kept_goal(goal)
    known = tuple(item for item in _all_learned(learned) if item.holds_in(world))
    kinds = part_kinds(world, movable)
    domain = manipulation_domain(world, movable=movable, learned=known)
    objects = {name: kind for name, kind in kinds.items() if name not in domain.constants}
    condition, related = goal_condition(world, goal, domain, kinds)
    initial = sensed_facts(world, movable=movable, learned=known, previous=previous, related=related)
    return with_told(Problem("task", domain, objects, initial, condition), related)


def sensed_facts(
    world: World, *, movable: Collection[str] | None = None, learned: Iterable[Learned] = (),
    previous: Collection[Fact] | None = None, related: Related = _NOTHING,
) -> frozenset[Fact]:  # fmt: skip
    """The facts of a world that the operators speak of: on, clear, holding, handempty, and learned ones that hold.

    What is fixed is always clear; what is held is not, as nothing can be put on it. A robot holds what is attached to
    its hand: fingers that have closed beside a part hold nothing, and count as open. `related` is that of a `TaskPlan`:
    (as-told a b) holds if a lies on b as these relations say, within 8 mm and 0.08 rad.
    """
    kinds = part_kinds(world, movable)
    found = facts(
        _with_empty_hands_open(world), previous, always_clear=[name for name, kind in kinds.items() if kind == "fixed"]
    )
    held = {fact[2] for fact in found if fact[0] == "holding"}
    used = {fact for fact in found if fact[0] in _PREDICATES and not (fact[0] == "clear" and fact[1] in held)}
    # What is fixed may lie on something, too, and robots may have no hand; no operator asks for it.
    used = {fact for fact in used if fact[1] in kinds and not (fact[0] == "on" and kinds[fact[1]] == "fixed")}
    lying = {fact: relations for fact, relations in related.items() if fact in used}
    told = told_facts(world, lying)
    return frozenset(used | told | {item.fact for item in _all_learned(learned) if item.holds_in(world)})


def _all_learned(learned: Iterable[Learned]) -> list[Learned]:
    found = list(learned)
    for item in found:
        if not isinstance(item, Learned):
            raise ArgumentError(f"manipulation_domain: 'learned' has {item!r:.60}, which is no Learned of refine")
    return found


def _with_empty_hands_open(world: World) -> World:
    for name, known in world.robots.items():
        if known.gripper is not None and not world.holding(name):
            world = world.set_gripper(name, known.gripper.opening)
    return world


def part_kinds(world: World, movable: Collection[str] | None) -> dict[str, str]:
    """{name: "movable", "fixed" or "robot"} of all parts and robots."""
    if not isinstance(world, World):
        raise ArgumentError(f"manipulation_domain: the first argument must be a World, got {type(world).__name__}")
    if movable is not None and (isinstance(movable, str) or not isinstance(movable, Collection)):
        raise ArgumentError(f"manipulation_domain: 'movable' must be names of parts, got {movable!r:.60}")
    for name in () if movable is None else movable:
        if name not in world.parts:
            known = nearest(name, list(world.parts))
            raise ArgumentError(f"manipulation_domain: 'movable' names {name!r:.60}, which is no part; {known}")
    chosen = movable_parts(world) if movable is None else set(movable)
    parts = {name: "movable" if name in chosen else "fixed" for name in world.parts}
    hands = (name for name, known in world.robots.items() if known.gripper is not None)
    return parts | dict.fromkeys(hands, "robot")  # a robot without a hand does nothing here


def movable_parts(world: World) -> set[str]:
    """The parts that lie on something or are held, are rigid with no other part, and are narrow enough for a hand."""
    hands = [known.gripper.opening for known in world.robots.values() if known.gripper is not None]
    widest = max(hands, default=float("inf"))
    loose = {fact[1] if fact[0] == "on" else fact[2] for fact in facts(world) if fact[0] in ("on", "holding")}
    fixed = {
        name for name, placed in world.frames.items() if placed.parent in world.parts and placed.attachment == "rigid"
    }
    source = Source(world, "manipulation_domain")
    return {name for name in loose - fixed if float(_extents(source, name).min()) < widest}


def _extents(source: Source, name: str):
    corners = source.corners(name)
    return corners.max(axis=0) - corners.min(axis=0)


def __dir__() -> list[str]:
    return __all__
