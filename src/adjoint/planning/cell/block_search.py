"""`see_blocks`: where coloured blocks are, on a table and on each other, from one image; and the world made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...lie import se3
from ...vision.cameras import Camera, project
from ...vision.cameras.camera import need_camera
from ...vision.image_checks import colour, opencv
from ...vision.locating.finding import locate
from ...world.parts import Part
from ...world.state import World
from ..limits import check_kind
from .block_pixels import arm_pixels, block_labels, covered, outlines, window_of, with_neighbours
from .block_stands import LEVEL, Seen, Stand, agreeing, carrier_of, standing, standing_block
from .cell_scenes import TABLE, TABLE_TOP, flat_pose, part_size

__all__ = ["Sightings", "believed_world", "draw_sightings", "see_blocks"]

_FEW = 40  # [pixel] of a colour are no block
_CLEAR = 0.8, 0.35  # score at least and offsets of edges at most [pixel] of a block that nothing hides
_HIDDEN = 0.4, 0.6  # the same for a block that others hide in part
_SURE = 0.9, 0.15  # the same for a block on a plane that leaves no doubt
_NEARLY = 0.1  # less quality than that of the best sighting
_SHOWN = 0.6  # of the pixels of its colour that a block must explain
_STRANGE = 0.2  # of a block may look like something that is not known
_STRAY = 0.04  # of a block that has not moved may look as if it had
_GONE = 0.3  # of the place of a block shows what it should hide if it is not there
_LIKE_TABLE = 18  # of 255: pixels that differ less from the table show the table
_MOST = 5  # blocks on each other
_ASIDE = np.linspace(-0.012, 0.012, 7)  # [m] by what a block may be beside the middle of the one on it
_MISFIT = 0.35  # of the pixels of a hidden block may differ from its outline
_BEHIND = 100  # [pixel] that a block may stick out around the little of it that is seen
_ELSEWHERE = 3.0  # of them differ from an outline at a place where the block is not


class Sightings(NamedTuple):
    """What an image shows: `poses` {block: (4, 4) in the world}, `below` {block: what it lies on}, `scores` {block:
    the share of its edges that was found}, and `missing`, the names of blocks that were not seen. Of these, `lost` are
    surely not where they were believed."""

    poses: dict[str, np.ndarray]
    below: dict[str, str]
    scores: dict[str, float]
    missing: tuple[str, ...]
    lost: tuple[str, ...] = ()

    def __repr__(self) -> str:
        seen = ", ".join(f"{name} on {self.below[name]}" for name in self.poses)
        return f"<Sightings: {seen}{'; missing: ' + ', '.join(self.missing) if self.missing else ''}>"


def see_blocks(
    image: np.ndarray, camera: Camera, blocks: Mapping[str, Part], *, believed: World | None = None
) -> Sightings:
    """Find blocks of different colours in an image (rows, columns, 3) of 0 ... 255: on the table, and on each other.

        seen = see_blocks(camera_shot(scene.world, "eye").image, calibrate_cell(scene).camera, scene.blocks)

    `aj.vision.locate` finds objects on one plane. So each block is sought, among the pixels of its colour, on all
    planes on which it could lie: the table, and as high above it as blocks are. The size that it would have there tells
    the plane. What nothing hides is found first. It is then wiped out of the image, and what it hides is sought in the
    rest. With a `believed` world, its arms hide what is behind them, and blocks whose pixels are where they should be
    have not moved, and are not sought.
    """
    image = colour(image, "see_blocks")
    need_camera(camera, "see_blocks")
    if image.shape[:2] != tuple(camera.size)[::-1]:
        sizes = " x ".join(map(str, image.shape[1::-1])), " x ".join(map(str, camera.size))
        raise ArgumentError(f"see_blocks: the image has {sizes[0]} pixels, and the camera has {sizes[1]}")
    check_kind("see_blocks", blocks, Mapping, "'blocks'")
    for name, part in blocks.items():
        check_kind("see_blocks", part, Part, f"block '{name}'")
    if believed is not None:
        check_kind("see_blocks", believed, World, "'believed'")
    search = _Search(image, camera, blocks, believed)
    kept = {} if believed is None else search.unmoved(believed)
    for least, most in (_CLEAR, _HIDDEN, _HIDDEN, _HIDDEN):
        if not search.round(least, most) and least == _HIDDEN[0]:
            break
    return _settled(search, blocks, believed, kept)


class _Search:
    """The search for blocks in an image: what was found, and the image without that."""

    def __init__(self, image: np.ndarray, camera: Camera, blocks: Mapping[str, Part], believed: World | None):
        self.camera, self.image = camera, np.array(image)
        self.models = {name: standing_block(part_size(part)) for name, part in blocks.items()}
        self.numbers = {name: k for k, name in enumerate(blocks)}
        labels = block_labels(image, blocks)
        self.arms = np.zeros(labels.shape, bool) if believed is None else arm_pixels(camera, believed, labels, blocks)
        self.hidden = self.arms.copy()
        self.labels = np.where(self.hidden, -1, labels)
        self.table = np.median(image[(self.labels < 0) & ~self.hidden].reshape(-1, 3), axis=0).astype(image.dtype)
        self._bare = (np.abs(np.asarray(image, float) - self.table).max(axis=2) < _LIKE_TABLE) & ~self.hidden
        self.image[self.hidden] = self.table
        self.found: dict[str, list[Seen]] = {}
        self.left = {k: name for k, name in enumerate(blocks) if np.count_nonzero(self.labels == k) >= _FEW}
        self.levels = {name: _levels(name, blocks, believed) for name in blocks}

    def unmoved(self, believed: World) -> dict[str, np.ndarray]:
        """The poses of blocks whose pixels are all where they should be, and that are wiped out of the image."""
        known = [name for name in self.models if name in believed.parts]
        there = {}
        for k, name in self.left.items():
            if name not in known:
                continue
            T, own = believed.pose(name), self.labels == k
            inner, outer = outlines(self.camera, self.models[name], T)
            stray, gone, shown = (np.count_nonzero(x) for x in (own & ~outer, inner & self._bare, inner & ~self.hidden))
            if stray <= _STRAY * np.count_nonzero(own) and gone <= _STRAY * shown:
                there[k] = outer | own
        names = [self.left.pop(k) for k in there]
        for pixels in there.values():
            self._wipe(pixels)
        return {name: believed.pose(name) for name in names}

    def is_gone(self, name: str, T: np.ndarray, poses: Mapping[str, np.ndarray]) -> bool:
        """Whether the table is seen where a block was believed, or other blocks, at `poses`, that it would hide."""
        eye = self.camera.T_world_camera[:3, 3]

        def away(U: np.ndarray) -> float:
            return float(np.linalg.norm(U[:3, 3] - eye))

        behind = [self.numbers[other] for other, U in poses.items() if away(U) > away(T)]
        inner = outlines(self.camera, self.models[name], T)[0] & ~self.arms
        shown = inner & (self._bare | np.isin(self.labels, behind))
        return bool(np.count_nonzero(shown) > max(_FEW, _GONE * np.count_nonzero(inner)))

    def _wipe(self, pixels: np.ndarray) -> None:
        """Make pixels look like the table, but for those of blocks that are sought still."""
        pixels = pixels & ~np.isin(self.labels, list(self.left))
        self.hidden |= pixels
        self.image[pixels] = self.table

    def round(self, least: float, most: float) -> bool:
        """Seek all blocks that are left; those with good sightings are wiped out of the image. False if none had."""
        new = {k: good for k, name in self.left.items() if (good := self._good(k, name, least, most))}
        for k, good in new.items():
            self.found[self.left.pop(k)] = good
        for k, good in new.items():
            self._wipe(max(good, key=lambda s: s.quality).thing.pixels | (self.labels == k))
        return bool(new)

    def _good(self, k: int, name: str, least: float, most: float) -> list[Seen]:
        """Sightings of a block on all planes, if one is good enough, and those that are hardly worse: what lies below
        decides between planes of nearly the same height. The first that leaves no doubt is enough."""
        own, found = self.labels == k, []
        mask = with_neighbours(own, self.hidden)
        for level in self.levels[name]:
            seen = self._on_plane(name, level, mask, own)
            if seen is not None:
                found.append(seen)
                if seen.thing.score >= _SURE[0] and seen.thing.rms <= _SURE[1]:
                    break
        good = [seen.quality for seen in found if seen.thing.score >= least and seen.thing.rms <= most]
        return [seen for seen in found if good and seen.quality >= max(good) - _NEARLY]

    def hidden_below(self, stand: Stand) -> list[tuple[str, Stand]]:
        """Blocks that may carry one that was seen, from the little that is seen of them, the likeliest first."""
        found = []
        for k, name in self.left.items():
            level = stand.level - self.models[name].height
            if level < -LEVEL:
                continue
            misfit, T = self._silhouette(k, name, stand.T[:2, 3], level)
            if misfit < _MISFIT:
                found.append((misfit, name, Stand(0.0 if level < LEVEL else level, T, 0.0, -misfit)))
        return [(name, below) for _, name, below in sorted(found, key=lambda item: item[0])]

    def accept(self, name: str) -> dict[int, str]:
        """A block is sought no more, and hides what is behind it; the result is what it was in `left`."""
        k = self.numbers[name]
        self.hidden |= self.labels == k
        return {k: self.left.pop(k)} if k in self.left else {}

    def _silhouette(self, k: int, name: str, spot: np.ndarray, level: float) -> tuple[float, np.ndarray]:
        """The pose near a spot (2,) whose outline agrees best with the pixels of a colour, and what share differs."""
        model, window = self.models[name], window_of(self.labels == k, _BEHIND)
        own = self.labels[window] == k
        counted, area = own | ~self.hidden[window], np.count_nonzero(own)

        def misfit(x: float, y: float, turn: float) -> tuple[float, np.ndarray]:
            T = flat_pose(spot[0] + x, spot[1] + y, turn, TABLE_TOP + level + model.height / 2)
            return np.count_nonzero((covered(self.camera, model, T, window) ^ own) & counted) / area, T

        if misfit(0.0, 0.0, 0.0)[0] > _ELSEWHERE:
            return math.inf, np.eye(4)
        tries = product(_ASIDE, _ASIDE, np.arange(0.0, np.pi, 0.1))
        return min((misfit(*pose) for pose in tries), key=lambda found: found[0])

    def _on_plane(self, name: str, level: float, mask: np.ndarray, own: np.ndarray) -> Seen | None:
        """The block on a plane `level` above the table that explains the pixels of its colour, or None."""
        plane = flat_pose(0.0, 0.0, 0.0, TABLE_TOP + level)
        things = locate(
            self.image, self.camera, {name: self.models[name]}, T_world_plane=plane, mask=mask, least_score=_HIDDEN[0]
        )  # fmt: skip
        if not things:
            return None
        best = max(things, key=lambda thing: np.count_nonzero(thing.pixels & own))
        shown = np.count_nonzero(best.pixels & own) / np.count_nonzero(own)
        # What should be seen of it and is not must be behind something known: else the arm is before it.
        strange = np.count_nonzero(best.pixels & ~own & ~self.hidden) / np.count_nonzero(best.pixels)
        return Seen(level, best) if shown > _SHOWN and strange < _STRANGE else None


def _levels(name: str, blocks: Mapping[str, Part], believed: World | None) -> list[float]:
    """Heights [m] above the table at which a block can lie, the likely ones first."""
    heights = {round(float(part_size(part)[2]), 6) for other, part in blocks.items() if other != name}
    found = {0.0}
    for _ in range(min(_MOST, len(blocks)) - 1):
        found |= {round(a + b, 6) for a in found for b in heights}
    if believed is None or name not in believed.parts:
        return sorted(found)
    own = believed.pose(name)[2, 3] - part_size(blocks[name])[2] / 2 - TABLE_TOP
    return sorted(found, key=lambda level: abs(level - own))


def _settled(
    search: _Search, blocks: Mapping[str, Part], believed: World | None, kept: Mapping[str, np.ndarray]
) -> Sightings:
    """The sightings that agree with each other, from the table upward: each block lies on something."""
    known = {} if believed is None else {name: believed.pose(name) for name in blocks if name in believed.parts}
    stands = {name: standing(found, blocks[name], known.get(name)) for name, found in search.found.items()}
    chosen, carried = agreeing(stands, kept, blocks)
    search.left |= {search.numbers[name]: name for name in chosen if name not in carried}  # others may hide them
    poses, scores = dict(kept), dict.fromkeys(kept, 1.0)
    below = {name: believed.frames[name].parent for name in kept} if believed is not None else {}

    def placed(name: str, stand: Stand) -> bool:
        """Whether a block stands on something, if need be on blocks that are hidden nearly whole."""
        carrier = carrier_of(stand, poses.items(), blocks)
        if carrier is None:
            sought = search.accept(name)
            hidden = (item for item in search.hidden_below(stand) if item[0] not in poses)
            carrier = next((lower for lower, under in hidden if placed(lower, under)), None)
            if carrier is None:
                search.left |= sought
                return False
        top = TABLE_TOP if carrier == TABLE else poses[carrier][2, 3] + part_size(blocks[carrier])[2] / 2
        stand.T[2, 3] = top + part_size(blocks[name])[2] / 2
        poses[name], below[name], scores[name] = stand.T, carrier, stand.score
        search.accept(name)
        return True

    for name in sorted(chosen, key=lambda name: chosen[name][0].level):
        if name not in poses:
            any(placed(name, stand) for stand in chosen[name])
    missing = tuple(name for name in blocks if name not in poses)
    lost = tuple(name for name in missing if name in known and search.is_gone(name, known[name], poses))
    return Sightings(poses, below, scores, missing, lost)


def believed_world(told: World, seen: Sightings, blocks: Mapping[str, Part]) -> World:
    """The world as the program believes it: what it was told, with the blocks that were seen."""
    world = told
    for name, T in seen.poses.items():
        world = world.add(name, blocks[name], at=T)
    for name, carrier in seen.below.items():
        world = world.attach(name, carrier, "conditional")
    return world


def draw_sightings(image: np.ndarray, camera: Camera, seen: Sightings, blocks: Mapping[str, Part]) -> np.ndarray:
    """The image with the outlines and the names of the blocks that were seen."""
    cv2 = opencv("draw_sightings")
    drawn = np.array(image)
    for name, T in seen.poses.items():
        points = project(camera, se3.act(T, standing_block(part_size(blocks[name])).vertices)).astype(np.float32)
        hull = np.rint(cv2.convexHull(points)).astype(np.int32)
        cv2.polylines(drawn, [hull], True, (255, 255, 255), 2, cv2.LINE_AA)
        corner = hull[:, 0].max(axis=0)
        for shade, thick in (((0, 0, 0), 4), ((255, 255, 255), 1)):
            at = (int(corner[0]) + 4, int(corner[1]))
            cv2.putText(drawn, name, at, cv2.FONT_HERSHEY_SIMPLEX, 0.55, shade, thick, cv2.LINE_AA)
    return drawn
