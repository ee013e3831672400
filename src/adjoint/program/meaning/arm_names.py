"""Names of arms and hands in programs, and the robots of a world that they mean."""

from __future__ import annotations

from collections.abc import Mapping

from ...world.state import World

__all__: list[str] = []

_PAIRS = ("arm", "hand")


def robot_named(world: World, name: str, arms: Mapping[str, str] | None = None) -> str | None:
    """The robot of a world that a name of an arm or a hand means in a program; None if it means none."""
    given = arms or {}
    if name in given:
        return given[name] if given[name] in world.robots else None
    if name in world.robots:
        return name
    only = next(iter(world.robots)) if len(world.robots) == 1 else None
    if name == "":
        return only
    low = name.lower()
    for end in _PAIRS:
        if low.endswith(end):
            first = low[: -len(end)]
            for other in _PAIRS:
                for known in (*given, *world.robots):
                    if known.lower() == first + other:
                        return given.get(known, known)
            if len(first) <= 1:
                return only
    return None
