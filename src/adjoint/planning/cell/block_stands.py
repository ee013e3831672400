"""Which sightings of blocks agree with each other: each block stands on the table, or on another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from ...lazy import cached_property
from ...lie import se3
from ...vision.locating.candidates import LocatedObject
from ...vision.locating.object_models import ObjectModel, Rest, block_model, rests_of
from ...world.parts import Part
from .cell_scenes import TABLE, TABLE_TOP, flat_pose, part_size

__all__: list[str] = []

LEVEL = 6e-3  # [m] a block lies on another one if it is this near to its top
_OFF = 0.3  # what an offset of edges of 1 pixel counts against the score
_CHOICES = 1000  # of sightings of all blocks that are compared


class Seen(NamedTuple):
    """An object that was located on the plane at a level."""

    level: float
    """[m] above the table"""
    thing: LocatedObject

    @property
    def quality(self) -> float:
        return self.thing.score - _OFF * self.thing.rms


class Stand(NamedTuple):
    """A sighting as the pose of a block that stands upright."""

    level: float
    """[m] above the table"""
    T: np.ndarray
    score: float
    quality: float


class StandingBlock(ObjectModel):
    """A block that is not tipped over: it rests in ways that are as high as the block itself."""

    @cached_property
    def height(self) -> float:
        """[m]"""
        return float(np.ptp(self.vertices[:, 2]))

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """The ways to lie on a plane as high as the block is."""
        return tuple(rest for rest in rests_of(self) if abs(rest.height - self.height) < 1e-6)


def standing_block(size: np.ndarray) -> StandingBlock:
    """A block with edges `size` (3,) [m] that stands on its base."""
    block = block_model(size)
    return StandingBlock(block.vertices, block.faces)


def standing(found: list[Seen], block: Part, near: np.ndarray | None) -> list[Stand]:
    """The sightings of a block in which it is not tipped over, the best first."""
    size, near = part_size(block), np.eye(4) if near is None else near
    turned = [(seen, upright(seen.thing.T_world_object, size, near)) for seen in found]
    stands = [Stand(seen.level, T, seen.thing.score, seen.quality) for seen, T in turned if T is not None]
    return sorted(stands, key=lambda stand: -stand.quality)


def agreeing(
    stands: Mapping[str, list[Stand]], kept: Mapping[str, np.ndarray], blocks: Mapping[str, Part]
) -> tuple[dict[str, list[Stand]], set[str]]:
    """The stands of each block, the best choice first, and the names of blocks that something carries in these choices.

    As many blocks as possible lie on something, and among such choices quality counts. A block that shows only a stripe
    may look better in a wrong place, where it carries nothing.
    """
    every = [*kept.items(), *((name, stand.T) for name, own in stands.items() for stand in own)]
    carried = {
        name: [stand for stand in own if carrier_of(stand, [x for x in every if x[0] != name], blocks) is not None]
        for name, own in stands.items()
    }
    carried = {name: own for name, own in carried.items() if own}

    def supported(choice: tuple[Stand, ...]) -> dict[str, Stand]:
        found, poses = {}, dict(kept)
        for name, stand in sorted(zip(carried, choice, strict=True), key=lambda item: item[1].level):
            if carrier_of(stand, poses.items(), blocks) is not None:
                found[name], poses[name] = stand, stand.T
        return found

    def worth(found: dict[str, Stand]) -> tuple[int, float]:
        return len(found), sum(stand.quality for stand in found.values())

    best = max(map(supported, islice(product(*carried.values()), _CHOICES)), key=worth)
    chosen = {
        name: [best[name], *(stand for stand in own if stand is not best[name])] if name in best else own
        for name, own in stands.items() if own
    }  # fmt: skip
    return chosen, set(best)


def carrier_of(stand: Stand, poses: Iterable[tuple[str, np.ndarray]], blocks: Mapping[str, Part]) -> str | None:
    """What a block stands on: the table, or the block of {name, pose} whose top is just below it; None is nothing."""
    if stand.level == 0:
        return TABLE
    for name, T in poses:
        size = part_size(blocks[name])
        inside = np.abs(se3.act(se3.inverse(T), stand.T[:3, 3])[:2]) < size[:2] / 2
        if inside.all() and abs(T[2, 3] + size[2] / 2 - (TABLE_TOP + stand.level)) < LEVEL:
            return name
    return None


def upright(T: np.ndarray, size: np.ndarray, near: np.ndarray) -> np.ndarray | None:
    """The pose that looks the same as T, with z of the block up and the least turn from another one, `near`.

    Blocks here are not tipped over; None if this one would have to be.
    """
    cube = np.ptp(size) < 1e-9
    if not cube and abs(T[2, 2]) < 0.99:
        return None
    axis = int(np.argmin(np.abs(T[2, :3]))) if cube else 0
    turn, wanted = np.arctan2(T[1, axis], T[0, axis]), np.arctan2(near[1, 0], near[0, 0])
    step = np.pi / 2 if abs(size[0] - size[1]) < 1e-9 else np.pi
    turn += step * np.round((wanted - turn) / step)
    return flat_pose(T[0, 3], T[1, 3], float(turn), T[2, 3])
