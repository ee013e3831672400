"""The book's state spaces and AND/OR graphs as ready problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ArgumentError
from ...model.input_checks import count
from ..limits import check_kind
from .and_or import AndOrProblem
from .state_spaces import SearchProblem

__all__ = [
    "and_or_example",
    "bar_path",
    "desk_with_two_objects",
    "missionaries_and_cannibals",
    "monkey_and_bananas",
    "moving_blocks",
    "tower_of_hanoi",
]


def monkey_and_bananas() -> SearchProblem:
    """A monkey, a box and bananas that hang above place C; the state is (monkey, on the box, box, has the bananas).

        >>> problem = monkey_and_bananas()
        >>> problem.initial, problem.result(problem.initial, "goto(B)")
        (('A', 0, 'B', 0), ('B', 0, 'B', 0))

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.1, Fig. 10.7.
    """

    def results(state) -> dict[str, tuple]:
        monkey, up, box, has = state
        found: dict[str, tuple] = {}
        if not up:
            found |= {f"goto({place})": (place, 0, box, has) for place in "ABC" if place != monkey}
        if not up and monkey == box:
            found |= {f"pushbox({place})": (place, 0, place, has) for place in "ABC" if place != box}
            found["climbbox"] = (monkey, 1, box, has)
        if (monkey, up, box, has) == ("C", 1, "C", 0):
            found["grasp"] = ("C", 1, "C", 1)
        return found

    return _from_table("monkey and bananas", ("A", 0, "B", 0), results, lambda state: state[3] == 1)


def missionaries_and_cannibals(people: int = 3, seats: int = 2) -> SearchProblem:
    """All cross a river; where missionaries are, cannibals must not be more. The state is (m, c, boat) across.

        >>> problem = missionaries_and_cannibals()
        >>> list(problem.actions(problem.initial))
        ['1C over', '2C over', '1M1C over']

    The state needs the side of the boat, which the book's hint leaves out.
    Reference: Fu, Gonzalez & Lee (1987), Prob. 10.1.
    """
    for name, number in (("people", people), ("seats", seats)):
        if count(number, f"missionaries_and_cannibals: {name}") < 1:
            raise ArgumentError(f"missionaries_and_cannibals: {name} must be >= 1, got {number}")
    loads = [(m, n - m) for n in range(1, seats + 1) for m in range(n + 1)]

    def safe(m: int, c: int) -> bool:
        return 0 <= m <= people and 0 <= c <= people and (m in (0, people) or m == c)

    def results(state) -> dict[str, tuple]:
        m, c, boat = state
        sign, way = (-1, "back") if boat else (1, "over")
        moved = {(dm, dc): (m + sign * dm, c + sign * dc) for dm, dc in loads}
        return {f"{_load(*load)} {way}": (*bank, 1 - boat) for load, bank in moved.items() if safe(*bank)}

    goal = (people, people, 1)
    return _from_table("missionaries and cannibals", (0, 0, 0), results, lambda state: state == goal, goals=(goal,))


def _load(m: int, c: int) -> str:
    return (f"{m}M" if m else "") + (f"{c}C" if c else "")


def tower_of_hanoi(discs: int = 2) -> SearchProblem:
    """Discs go from peg A to peg C, and never lie on smaller ones; the state has the peg of each, the smallest first.

        >>> problem = tower_of_hanoi(2)
        >>> problem.result(problem.initial, "1: A->B")
        'BA'

    Reference: Fu, Gonzalez & Lee (1987), Probs. 9.7 and 9.8.
    """
    if not 1 <= count(discs, "tower_of_hanoi: discs") <= 20:
        raise ArgumentError(f"tower_of_hanoi: discs must be 1 to 20, got {discs}")

    def results(state: str) -> dict[str, str]:
        found = {}
        for disc, peg in enumerate(state):
            for to in "ABC":
                if peg != to and not {peg, to} & set(state[:disc]):
                    found[f"{disc + 1}: {peg}->{to}"] = state[:disc] + to + state[disc + 1 :]
        return found

    goal = "C" * discs
    return _from_table(f"Tower of Hanoi, {discs} discs", "A" * discs, results, lambda s: s == goal, goals=(goal,))


BLOCKED = frozenset({(0, 3), (2, 0), (2, 4), (3, 2)})
"""The obstacles of `bar_path`; the book's own map is a figure."""


def bar_path(blocked: Iterable[tuple[int, int]] = BLOCKED) -> SearchProblem:
    """A bar of three cells moves among obstacles; the state is (x, y, a) with the bar along x (a = 0) or y (a = 1).

        >>> problem = bar_path()
        >>> list(problem.actions(problem.initial))
        ['left']

    The middle of the bar has 1 <= x <= 5 and 1 <= y <= 3. A step costs 2, a turn by 90 degrees costs 3, and
    h = 2 (|dx| + |dy|) + 3 |da|. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.2.1.
    """
    walls, start, goal = _cells(blocked), (2, 2, 1), (3, 3, 0)

    def free(x: int, y: int, a: int) -> bool:
        cells = {(x + k * (a == 0), y + k * (a == 1)) for k in (-1, 0, 1)}
        return 1 <= x <= 5 and 1 <= y <= 3 and not cells & walls

    def results(state) -> dict[str, tuple]:
        x, y, a = state
        moved = {"left": (x - 1, y, a), "right": (x + 1, y, a), "down": (x, y - 1, a), "up": (x, y + 1, a)}
        return {name: after for name, after in {**moved, "turn": (x, y, 1 - a)}.items() if free(*after)}

    def h(state) -> float:
        return 2.0 * (abs(state[0] - 3) + abs(state[1] - 3)) + 3.0 * (state[2] != 0)

    costs = {"turn": 3.0}
    return _from_table(
        "bar path", start, results, lambda s: s == goal, goals=(goal,),
        cost=lambda state, action: costs.get(action, 2.0), h=h,
    )  # fmt: skip


def _cells(blocked: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    try:
        return frozenset((x, y) for x, y in blocked)
    except (TypeError, ValueError):
        raise ArgumentError(f"bar_path: blocked must be cells (x, y), got {blocked!r:.60}") from None


def moving_blocks(start: str = "CA B", goal: str = "ABC") -> SearchProblem:
    """Blocks and MOVE(X,Y,Z): X goes from Y to Z, and T is the table. A word is a stack, its top first.

        >>> problem = moving_blocks()
        >>> {action: problem.result(problem.initial, action) for action in problem.actions(problem.initial)}
        {'MOVE(B,T,C)': 'BCA', 'MOVE(C,A,B)': 'A CB', 'MOVE(C,A,T)': 'A B C'}

    A state is the text of its stacks in the order of the alphabet. The table is always clear, which the rule in the
    book forgets after a MOVE onto it. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    for name, text in (("start", start), ("goal", goal)):
        check_kind("moving_blocks", text, str, name)
    blocks = sorted("".join(start.split()))
    if blocks != sorted("".join(goal.split())) or blocks != sorted(set(blocks)) or not blocks:
        raise ArgumentError(f"moving_blocks: start {start!r} and goal {goal!r} must have the same blocks, each once")

    def results(state: str) -> dict[str, str]:
        found = {}
        stacks = state.split()
        for source in stacks:
            x, rest = source[0], source[1:]
            others = [stack for stack in stacks if stack != source]
            for target in (*others, "") if rest else others:
                after = [stack for stack in others if stack != target] + [x + target] + [rest] * bool(rest)
                found[f"MOVE({x},{rest[:1] or 'T'},{target[:1] or 'T'})"] = _stacks(after)
        return dict(sorted(found.items()))

    last = _stacks(goal.split())
    return _from_table("moving blocks", _stacks(start.split()), results, lambda state: state == last, goals=(last,))


def _stacks(stacks: list[str]) -> str:
    return " ".join(sorted(stacks))


def desk_with_two_objects() -> SearchProblem:
    """A robot in room R0 takes a desk with two objects on it from room R1 to room R2.

        >>> problem = desk_with_two_objects()
        >>> problem.initial
        ('R0', 'R1', ('desk', 'desk'))

    The state is (robot, desk, places of b1 and b2), where an object is in a room, on the desk or in the hand. The
    operators are those of the table in the book with the conditions that it lacks: PICKUP and WALK need an empty hand,
    and CARRY needs the object in it. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.5.
    """

    def results(state) -> dict[str, tuple]:
        robot, desk, objects = state
        found: dict[str, tuple] = {}
        rooms = [room for room in ("R0", "R1", "R2") if room != robot]
        if "hand" not in objects:
            found |= {f"WALK({room})": (room, desk, objects) for room in rooms}
            if robot == desk and "desk" not in objects:
                found |= {f"PUSH(desk,{room})": (room, room, objects) for room in rooms}
        for k, place in enumerate(objects):
            name = f"b{k + 1}"
            if place == "hand":
                found |= {f"CARRY({name},{room})": (room, desk, objects) for room in rooms}
                found[f"PUTDOWN({name})"] = (robot, desk, _with(objects, k, robot))
                if robot == desk:
                    found[f"PLACE({name},desk)"] = (robot, desk, _with(objects, k, "desk"))
            elif "hand" not in objects and robot == (desk if place == "desk" else place):
                found[f"PICKUP({name})"] = (robot, desk, _with(objects, k, "hand"))
        return found

    goal = ("R2", ("desk", "desk"))
    return _from_table("desk with two objects", ("R0", "R1", ("desk", "desk")), results, lambda s: s[1:] == goal)


def _with(items: tuple[str, ...], k: int, item: str) -> tuple[str, ...]:
    return (*items[:k], item, *items[k + 1 :])


def _from_table(name: str, initial: Any, results: Any, is_goal: Any, goals: tuple = (), **more: Any) -> SearchProblem:
    """A problem from a function that gives {action: state afterwards}.

    Every step of these toys can be taken back in one step, so that the states before a state are among those after it.
    """

    def predecessors(state):
        return [
            (before, action)
            for before in dict.fromkeys(results(state).values())
            for action, after in results(before).items()
            if after == state
        ]

    return SearchProblem(
        initial, results, lambda state, action: results(state)[action], is_goal,
        goals=goals, predecessors=predecessors if goals else None, name=name, **more,
    )  # fmt: skip


def and_or_example(number: int = 1) -> AndOrProblem:
    """Two small AND/OR graphs: the first has the shape of Fig. 10.9, the second needs its estimates.

        >>> list(and_or_example(1).arcs("A"))
        [(3.0, ('B', 'C', 'D'))]

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.3.
    """
    if number == 1:
        arcs: dict[str, list] = {"A": [(3.0, ("B", "C", "D"))], "B": [(1.0, ("E",)), (1.0, ("F",))]}
        return AndOrProblem("A", lambda node: arcs.get(node, ()), "CDF".__contains__, name="Fig. 10.9")
    if number != 2:
        raise ArgumentError(f"and_or_example: number must be 1 or 2, got {number!r}")
    arcs = {
        "A": [(1.0, ("D",)), (2.0, ("B", "C"))], "D": [(2.0, ("E", "F"))], "B": [(1.0, ("G",)), (1.0, ("H",))],
    }  # fmt: skip
    h = {"B": 3.0, "C": 4.0, "D": 5.0, "E": 4.0, "F": 4.0, "G": 5.0, "H": 7.0}
    return AndOrProblem(
        "A", lambda node: arcs.get(node, ()), "CG".__contains__, lambda node: h.get(node, 0.0), name="second example"
    )
