"""Bodies of a labelled drawing: which regions are faces of one solid, and in which order solids can be taken away."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from .line_drawings import Drawing, line_regions
from .line_labels import labels_fit

__all__ = ["DrawingBodies", "drawing_bodies"]


class DrawingBodies(NamedTuple):
    """A drawing taken apart: `of_regions` (regions,) has the body of each region, from 1 on; 0 is the background.

    - `faces` are the regions of each body, body 1 first.
    - `in_front` are pairs (a, b): body a hides a part of body b, or of the background, 0.
    - `touching` are pairs (a, b), a < b, with a concave line between them; 0 is the ground.
    - `order` are the numbers of bodies as they can be taken away one after another, in groups: nothing that is left
      is in front of those of a group. Bodies that hide each other in a circle make one group, the last.
    """

    of_regions: np.ndarray
    faces: tuple[tuple[int, ...], ...]
    in_front: tuple[tuple[int, int], ...]
    touching: tuple[tuple[int, int], ...]
    order: tuple[tuple[int, ...], ...]


def drawing_bodies(drawing: Drawing, labels, *, straight: float = 1e-3) -> DrawingBodies:
    """The `DrawingBodies` of a `drawing` with `labels` for its lines, such as `label_lines` finds them.

        >>> from adjoint.vision.drawings.block_drawings import draw_blocks
        >>> from adjoint.vision.drawings.blocks import box_block
        >>> below = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]]
        >>> seen = draw_blocks([box_block((1, 1, 1)), box_block((4, 3, 1), below)])      # a cube on a base
        >>> found = drawing_bodies(seen.drawing, seen.labels)
        >>> [len(faces) for faces in found.faces], found.touching, found.order
        ([3, 3], ((1, 2),), ((1,), (2,)))

    Both regions beside a convex line are faces of one body. A concave line between regions that no convex lines join is
    where two bodies touch; if they do join them, it is a notch of one body. An occluding line has the body that hides
    to the right of its arrow. A region without a line of its own, whose lines are all concave or belong to what hides
    it, is a part of something behind, and counts as background. A body of which others hide the middle is two bodies
    here. `straight` [rad] is that of `drawing_junctions`.

    Reference: Fu, Gonzalez & Lee (1987), section 8.4.3, Fig. 8.49.
    """
    if not labels_fit(drawing, labels, straight=straight):
        raise ArgumentError("drawing_bodies: the labels do not fit at all junctions; label_lines finds those that do")
    regions, given = line_regions(drawing).tolist(), tuple(labels)
    number = list(range(max(max(pair) for pair in regions) + 1))
    own, hides, meets = set(), set(), set()
    for label, (left, right) in zip(given, regions, strict=True):
        if label == "+":
            own |= {left, right}
            one, other = number[left], number[right]
            number = [one if k == other else k for k in number]
        elif label == "-":
            meets.add((left, right))
        else:
            hides.add((right, left) if label == ">" else (left, right))
    own |= {front for front, _ in hides}
    heads = dict.fromkeys(number[k] for k in range(1, len(number)) if k in own)
    body = {head: k for k, head in enumerate(heads, 1)}
    of = [body.get(number[k], 0) if k in own else 0 for k in range(len(number))]
    of[0] = 0
    in_front = sorted({(of[a], of[b]) for a, b in hides if of[a] != of[b]})
    touching = sorted({(min(of[a], of[b]), max(of[a], of[b])) for a, b in meets if of[a] != of[b]})
    faces = tuple(tuple(k for k, one in enumerate(of) if one == j) for j in body.values())
    return DrawingBodies(np.array(of), faces, tuple(in_front), tuple(touching), _order(len(faces), in_front))


def _order(count: int, in_front: list[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Bodies 1 ... count in groups: those that nothing hides, then those that nothing else hides, and so on."""
    left, groups = set(range(1, count + 1)), []
    while left:
        hidden = {b for a, b in in_front if a in left}
        groups.append(tuple(sorted(left - hidden or left)))
        left -= set(groups[-1])
    return tuple(groups)


def __dir__() -> list[str]:
    return __all__
