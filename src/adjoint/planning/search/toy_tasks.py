"""The book's examples of means-ends analysis: tasks with facts and operators, and their difference tables."""

from __future__ import annotations

from ..strips.task_types import Condition, Domain, Fact, Operator, Parameter, Problem
from .difference_tables import Difference, DifferenceTable

__all__ = ["desk_task", "monkey_task"]


def _operator(
    head: str, needs: str, adds: str, deletes: str, absent: str = "", different: tuple[tuple[str, str], ...] = ()
) -> Operator:
    """An operator from short text: "walk ?a:room ?b:room", and facts with commas between them."""
    name, *variables = head.split()
    parameters = tuple(Parameter(v.partition(":")[0], (v.partition(":")[2],)) for v in variables)
    condition = Condition(_facts(needs), _facts(absent), (), different)
    return Operator(name, parameters, condition, _facts(adds), _facts(deletes))


def _facts(text: str) -> tuple[Fact, ...]:
    return tuple(tuple(fact.split()) for fact in text.split(",") if fact.strip())


_APART = (("?from", "?to"),)


def monkey_task() -> tuple[Problem, DifferenceTable]:
    """Monkey and bananas as facts and operators, and its difference table.

        >>> problem, table = monkey_task()
        >>> [row.name for row in table.rows]
        ['get the bananas', 'move the box', 'move the monkey', 'be on the box']

    Reference: Fu, Gonzalez & Lee (1987), Secs. 10.2.1 and 10.3, Prob. 10.4.
    """
    move = "?from:place ?to:place"
    operators = (
        _operator(f"goto {move}", "monkey-at ?from, on-floor", "monkey-at ?to", "monkey-at ?from", different=_APART),
        _operator(
            f"pushbox {move}", "monkey-at ?from, box-at ?from, on-floor", "monkey-at ?to, box-at ?to",
            "monkey-at ?from, box-at ?from", different=_APART,
        ),
        _operator("climbbox ?at:place", "monkey-at ?at, box-at ?at, on-floor", "on-box", "on-floor"),
        _operator("grasp", "monkey-at c, box-at c, on-box", "has-bananas", ""),
    )  # fmt: skip
    domain = Domain("monkey", operators, constants={"c": "place"})
    initial = frozenset(_facts("monkey-at a, box-at b, on-floor"))
    goal = Condition(_facts("has-bananas"))
    table = DifferenceTable((
        Difference("get the bananas", ("has-bananas",), ("grasp",)),
        Difference("move the box", ("box-at", "?place"), ("pushbox",)),
        Difference("move the monkey", ("monkey-at", "?place"), ("goto",)),
        Difference("be on the box", ("on-box",), ("climbbox",)),
    ))  # fmt: skip
    return Problem("monkey and bananas", domain, {"a": "place", "b": "place"}, initial, goal), table


def desk_task() -> tuple[Problem, DifferenceTable]:
    """The desk with two objects that a robot shall take to another room, and the table of Fig. 10.12.

        >>> problem, table = desk_task()
        >>> table.rows[0].operators
        ('carry', 'push')

    The operators have what the printed ones lack: deletions, PICKUP and WALK with an empty hand, and CARRY with the
    object in it. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.5.
    """
    move, both = "?from:room ?to:room", "robot-at ?to, at ?x ?to"
    left = "robot-at ?from, at ?x ?from"
    operators = (
        _operator(
            f"push ?x:thing {move}", f"{left}, large ?x, hand-empty", both, left, "on b1 ?x, on b2 ?x", _APART
        ),
        _operator(f"carry ?x:thing {move}", f"{left}, small ?x, holding ?x", both, left, different=_APART),
        _operator(f"walk {move}", "robot-at ?from, hand-empty", "robot-at ?to", "robot-at ?from", different=_APART),
        _operator(
            "pickup ?x:thing ?at:room", "robot-at ?at, at ?x ?at, small ?x, hand-empty", "holding ?x",
            "hand-empty, on ?x desk",
        ),
        _operator("putdown ?x:thing", "holding ?x", "hand-empty", "holding ?x"),
        _operator(
            "place ?x:thing ?y:thing ?at:room", "robot-at ?at, at ?x ?at, at ?y ?at, large ?y, holding ?x",
            "on ?x ?y, hand-empty", "holding ?x",
        ),
    )  # fmt: skip
    domain = Domain("desk", operators, constants={"desk": "thing", "b1": "thing", "b2": "thing"})
    initial = "robot-at r0, hand-empty, at desk r1, at b1 r1, at b2 r1, on b1 desk, on b2 desk"
    table = DifferenceTable((
        Difference("move object", ("at", "?x", "?room"), ("carry", "push")),
        Difference("move robot", ("robot-at", "?room"), ("walk",)),
        Difference("clear object", ("on", "?x", "?y"), ("pickup",), absent=True),
        Difference("get object on object", ("on", "?x", "?y"), ("place",)),
        Difference("get hand empty", ("hand-empty",), ("putdown", "place")),
        Difference("be holding object", ("holding", "?x"), ("pickup",)),
    ))  # fmt: skip
    problem = Problem(
        "desk with two objects", domain, {"r0": "room", "r1": "room", "r2": "room"},
        frozenset(_facts(f"{initial}, large desk, small b1, small b2")),
        Condition(_facts("at desk r2, on b1 desk, on b2 desk")),
    )  # fmt: skip
    return problem, table
