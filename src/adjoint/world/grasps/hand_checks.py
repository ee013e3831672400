"""What a hand, and the part in it, meets at many poses at once: reasons and clearances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...sensing.scene import Solid
from ..state.grippers import Gripper
from .candidates import TOUCH, hand_hulls
from .separations import Hull, hull_of, separations

__all__: list[str] = []

FAR = 0.1  # [m] neighbours that are farther away than this do not count
RESTING = 1e-3  # [m] by which a part may be inside of what it lies on


class Neighbour(NamedTuple):
    """A solid of the world as hands meet it."""

    name: str
    hull: Hull


def neighbours(solids: Sequence[Solid]) -> list[Neighbour]:
    """The solids that hands can meet; pieces "shelf#2" of a part have the name of the part."""
    found = [(solid.name.partition("#")[0] or type(solid).__name__, hull_of(solid)) for solid in solids]
    return [Neighbour(name, hull) for name, hull in found if hull is not None]


def met(gripper: Gripper, T_grip: np.ndarray, apart: np.ndarray, around: Sequence[Neighbour]) -> np.ndarray:
    """The name of the neighbour that is met most deeply (n,) by the hand at grip frames (n, 4, 4); "" for none."""
    return _met(list(hand_hulls(gripper, T_grip, apart)), len(T_grip), around)


def held_met(pieces: Sequence[Hull], T_part: np.ndarray, around: Sequence[Neighbour]) -> np.ndarray:
    """The name of the neighbour that is met most deeply (n,) by pieces of a part at T (n, 4, 4); "" for none."""
    return _met([("", piece, T_part) for piece in pieces], len(T_part), around)


def leaving_met(pieces: Sequence[Hull], T_part: np.ndarray, around: Sequence[Neighbour]) -> np.ndarray:
    """The same for a part on its way from where it rests, T[0].

    Contact is compliant, and cameras err: a part that rests may be a little inside of what carries it. It may leave
    that, but not go in deeper.
    """
    return _met([("", piece, T_part) for piece in pieces], len(T_part), around, RESTING)


def _met(hulls: list, n: int, around: Sequence[Neighbour], resting: float = 0.0) -> np.ndarray:
    names, deepest = np.full(n, "", object), np.full(n, -TOUCH)
    for neighbour in around:
        for _, hull, at in hulls:
            d = separations(hull, at, neighbour.hull, 0.0)
            d += np.clip(-d[:1], 0.0, resting)
            worse = d < deepest
            names[worse], deepest[worse] = neighbour.name, d[worse]
    return names


def clearances(
    gripper: Gripper, T_grip: np.ndarray, apart: np.ndarray, around: Sequence[Neighbour], error: float
) -> np.ndarray:  # fmt: skip
    """The least distance (n,) [m] of the hand from neighbours, when it is off by ±`error` [m] along any of its axes.

    What is farther than `FAR` counts as `FAR`.
    """
    found = np.full(len(T_grip), FAR)
    steps = error * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    moved = np.repeat(T_grip[:, None], len(steps), axis=1)
    moved[..., :3, 3] += steps @ T_grip[:, :3, :3].transpose(0, 2, 1)
    moved, wide = moved.reshape(-1, 4, 4), np.repeat(apart, len(steps))
    for neighbour in around:
        for _, hull, at in hand_hulls(gripper, moved, wide):
            d = separations(hull, at, neighbour.hull, FAR)
            found = np.minimum(found, d.reshape(-1, len(steps)).min(axis=1))
    return found
