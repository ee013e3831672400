"""Which facts explain that an action cannot be done: from the reasons of grasps to (obstructs b a)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ...errors import AdjointError
from ...world import World, facts
from .learned_facts import Learned, learned
from .transfers import Transfer

__all__: list[str] = []

_QUOTED = re.compile(r"'([^']+)'")
_MOST = 6  # parts that may stand in the way at once


def blame(
    world: World, robot: str, part: str, pick_from: str, onto: str, failed: Transfer,
    attempt: Callable[[World], Transfer], movable: set[str],
) -> tuple[Learned, ...]:  # fmt: skip
    """The facts behind a failure: a smallest set of parts without which the action could be done.

    Parts that reasons name are taken away, with all that lies on them; what can be put back without harm is put back.
    """
    above = _above(world)
    names = [x for x in _named(failed.reasons) if x in movable and not {x, *above(x)} & {part, onto}][:_MOST]
    if not names or attempt(_without(world, names, above)).reason:
        site = onto if _at_place(failed) else pick_from
        return (learned(world, ("unreachable", robot, part, site), failed.reason),)
    guilty = list(names)
    for name in reversed(names):  # those that are named least are put back first
        rest = [x for x in guilty if x != name]
        if rest and not attempt(_without(world, rest, above)).reason:
            guilty = rest
    site = onto if all("at place" in why for why in failed.reasons if any(f"'{x}'" in why for x in guilty)) else part
    names = " and ".join(f"'{x}'" for x in guilty)
    told = f"no hand comes to '{site}' while {names} {'is' if len(guilty) == 1 else 'are'} there"
    return tuple(learned(world, ("obstructs", name, site), told) for name in guilty)


def _named(reasons: dict[str, int]) -> list[str]:
    """The names in reasons, the most frequent first."""
    counts: dict[str, int] = {}
    for why, often in reasons.items():
        for name in _QUOTED.findall(why):
            counts[name] = counts.get(name, 0) + often
    return sorted(counts, key=lambda name: -counts[name])


def _at_place(failed: Transfer) -> bool:
    """Whether the action got as far as the place: some grasp was good where the part is."""
    return any(why.endswith("at place") or "transfer" in why for why in failed.reasons)


def _above(world: World) -> Callable[[str], set[str]]:
    """All parts that lie on a part, or on those."""
    lies = {(fact[1], fact[2]) for fact in facts(world) if fact[0] == "on"}

    def above(name: str) -> set[str]:
        found, todo = set(), [name]
        while todo:
            below = todo.pop()
            new = {a for a, b in lies if b == below} - found
            found |= new
            todo += new
        return found

    return above


def _without(world: World, names: Iterable[str], above: Callable[[str], set[str]]) -> World:
    for name in {x for each in names for x in (each, *above(each))}:
        try:
            world = world.remove(name)
        except AdjointError:  # something rigid hangs on it, which stays
            continue
    return world
