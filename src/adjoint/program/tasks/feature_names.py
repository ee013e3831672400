"""From names of a task to places of a world: Block1-face3, bolt_tip, Table, part(3), and frames that parts carry."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ...errors import nearest
from ...world import Feature, World, feature_frame
from ...world.predicates.contact_gaps import up_of
from ...world.state.frame_tree import ancestors
from ...world.state.part_contents import features_of

__all__ = ["FACE_NUMBERS"]

FACE_NUMBERS: tuple[str, ...] = ("bottom", "front", "top", "back", "left", "right")
"""The faces of a cuboid in the order of their numbers: face1 is the bottom and face3 the top, as in Table 9.9."""
_ALONG = np.cos(np.radians(10))


class Named(NamedTuple):
    """What a name of a task stands for: a `part` of the world ("" for none) and a feature of it.

    `feature` is None for a whole part; `made` tells that the feature is a frame of the world, not one of the part's.
    """

    part: str
    feature: Feature | None
    made: bool = False

    @property
    def label(self) -> str:
        """The place as relations name it."""
        return self.part if self.feature is None else f"{self.part}.{self.feature.name}"


def found_part(world: World, name: str) -> str | None:
    """The part, frame or robot of this name, whatever its case is; bin(2,3) is bin(2,3), bin_2_3, bin23 or bin2_3."""
    plain = name.replace("(", "_").replace(")", "").replace(",", "_")
    forms = [name, plain, plain.replace("_", "", 1), re.sub(r"[(),]", "", name)] if "(" in name else [name]
    for form in forms:
        if form in world.frames:
            return form
    for form in forms:
        alike = [frame for frame in world.frames if frame.lower() == form.lower()]
        if len(alike) == 1:
            return alike[0]
    return None


def need_part(world: World, name: str) -> str:
    """The part of this name, or a `LookupError` with words."""
    found = found_part(world, name)
    if found is None or found not in world.parts:
        raise LookupError(f"the world has no part '{name}'; {nearest(name, list(world.parts))}")
    return found


def named(world: World, name: str) -> Named:
    """What a name stands for, or a `LookupError` with words.

    In this order: a part, or a frame that a part carries; "part.feature", where faceN is the face with this number; and
    a name such as bolt_tip, which is the feature "tip" of the part "bolt".
    """
    whole = found_part(world, name)
    if whole is not None:
        return Named(whole, None) if whole in world.parts else _carried(world, whole)
    for cut in [k for k, c in enumerate(name) if c in "._"]:
        part = found_part(world, name[:cut])
        if part is None or part not in world.parts:
            continue
        feature = _feature(world, part, name[cut + 1 :])
        if feature is not None:
            return Named(part, feature)
    head = name.partition(".")[0]
    part = found_part(world, head)
    if part is not None and part in world.parts:
        known = list(features_of(world.parts[part]))
        raise LookupError(f"part '{part}' has no feature '{name[len(head) + 1 :]}'; {nearest(name, known)}")
    raise LookupError(f"the world has no '{name}'; {nearest(head, list(world.frames))}")


def _feature(world: World, part: str, name: str) -> Feature | None:
    features = features_of(world.parts[part])
    if name in features:
        return features[name]
    alike = [key for key in features if key.lower() == name.lower()]
    if len(alike) == 1:
        return features[alike[0]]
    number = re.fullmatch(r"face(\d{1,4})", name, re.IGNORECASE)
    if number is None:
        return None
    faces = [key for key, feature in features.items() if feature.kind == "face"]
    order = FACE_NUMBERS if set(FACE_NUMBERS) == set(faces) else faces
    k = int(number[1])
    return features[order[k - 1]] if 1 <= k <= len(order) else None


def _carried(world: World, frame: str) -> Named:
    """A frame as a feature of the part that carries it: an axis along its z axis."""
    T = world.pose(frame)
    part = next((x for x in ancestors(world, frame) if x in world.parts), "")
    if part:
        T = world.pose(frame, part)
    return Named(part, Feature(frame, "edge", feature_frame(T[:3, 3], T[:3, 2])), True)


def faces_along(world: World, part: str, direction: np.ndarray) -> list[Feature]:
    """The faces of a part that look along a direction, those that are farthest that way first."""
    T = world.pose(part)
    faces = [f for f in features_of(world.parts[part]).values() if f.kind == "face"]
    good = [f for f in faces if T[:3, :3] @ f.axis @ direction > _ALONG]
    return sorted(good, key=lambda f: -round(float((T[:3, :3] @ f.origin + T[:3, 3]) @ direction), 9))


def facing(world: World, side: Named, moved: str) -> Named:
    """A side of a relation with a face: of a whole part that moves the lowest one, of others the uppermost one."""
    if side.feature is not None:
        return side
    up = up_of(world)
    faces = faces_along(world, side.part, -up if side.part == moved else up)
    if not faces:
        where = "down" if side.part == moved else "up"
        raise LookupError(f"no face of '{side.part}' looks {where}; name one of its features")
    return side._replace(feature=faces[0])


def with_feature(world: World, side: Named) -> Named:
    """A side of a relation of axes: of a whole part its only shaft or hole."""
    if side.feature is not None:
        return side
    axes = [f for f in features_of(world.parts[side.part]).values() if f.kind in ("shaft", "hole", "sphere", "socket")]
    if len(axes) != 1:
        raise LookupError(f"'{side.part}' has {len(axes)} shafts and holes; name one of its features")
    return side._replace(feature=axes[0])
