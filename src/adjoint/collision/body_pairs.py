"""`colliding_pairs`: which bodies of a robot are to be checked against each other, and why the others are not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..display import html_table
from ..errors import ArgumentError, nearest
from ..model.input_checks import count, positive, truth
from ..model.needs import need_robot
from ..model.once import once_a_robot
from ..model.robot import Robot
from ..model.xml_files import read
from ..randomness import Rng, generator, rng_by_keyword
from .shape_keeping import constant, keep, kept, key_of_arrays
from .shape_meetings import Meetings, shape_meetings
from .shapes_of_links import LinkShapes, need_shapes

__all__ = ["BodyPairs", "colliding_pairs", "disabled_links"]

_OFTEN = 0.95  # shapes that touch in this part of the samples count as always touching
_SELDOM = 0.005  # links that meet in less than this part of the samples may be left out for the neutral configuration
_KINDS = ("checked", "adjacent", "always", "neutral", "never", "disabled")
_ARRAYS = (*_KINDS, "shape_pairs")  # of `BodyPairs`


@dataclass(frozen=True, eq=False, repr=False)
class BodyPairs:
    """Pairs of bodies that are checked for self-collision, and those that are not: see `colliding_pairs`.

    All of these are arrays (k, 2) of the numbers of bodies, the smaller one first; -1 is the base.

    - `checked`: they may touch, or not.
    - `adjacent`: a joint connects them, or joints and bodies without shapes.
    - `always`: they touch in 95 % of the samples or more.
    - `neutral`: they touch in the neutral configuration, by no more than the excess of their shapes, and seldom else.
    - `never`: they were never nearer than `margin` [m], in any sample and by search from the nearest ones.
    - `disabled`: the user, or an SRDF file, says so.

    `shape_pairs` (s, 2) are the numbers of the shapes that are checked. A pair of bodies is checked if a pair of their
    shapes is; other shapes of the same two bodies may be left out for one of the reasons above.
    `reasons` is {pair of bodies: a sentence}, and `samples` the number of configurations.
    """

    checked: np.ndarray
    shape_pairs: np.ndarray
    adjacent: np.ndarray
    always: np.ndarray
    neutral: np.ndarray
    never: np.ndarray
    disabled: np.ndarray
    reasons: Mapping[tuple[int, int], str]
    samples: int
    margin: float
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.checked)

    def name(self, body: int) -> str:
        """The name of a body; -1 is the base."""
        return self.names[body]

    def verdict(self, a: int, b: int) -> str:
        """The name of the field that has a pair of bodies: "checked", "adjacent", ...; "" if it is in none."""
        pair = (min(a, b), max(a, b))
        return next((kind for kind in _KINDS if any(tuple(row) == pair for row in getattr(self, kind))), "")

    def __repr__(self) -> str:
        left = ", ".join(f"{len(getattr(self, kind))} {kind}" for kind in _KINDS[1:] if len(getattr(self, kind)))
        checked = f"{len(self.checked)} pairs of bodies to check, by {len(self.shape_pairs)} of shapes"
        return f"<BodyPairs: {checked}{'; left out are ' * bool(left)}{left}>"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        rows = [(kind, tuple(int(x) for x in pair)) for kind in _KINDS for pair in getattr(self, kind)]
        return [(self.names[a], self.names[b], kind, self.reasons.get((a, b), "")) for kind, (a, b) in rows]

    def __str__(self) -> str:
        rows = [("body", "body", "", "why"), *self._rows()]
        wide = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join([*(text.ljust(w) for text, w in zip(row, wide, strict=False)), row[3]]) for row in rows]
        return "\n".join([repr(self)[1:-1], *lines])

    def _repr_html_(self) -> str:
        return html_table(repr(self)[1:-1], ["body", "body", "", "why"], self._rows())


@rng_by_keyword
def colliding_pairs(
    robot: Robot, shapes: LinkShapes, *, samples: int = 10_000, margin: float = 0.01, neutral: bool = True, disabled=(),
    rng: Rng = 0
) -> BodyPairs:  # fmt: skip
    """Which bodies of a robot are to be checked for self-collision, by its tree and by random configurations.

        >>> from adjoint.collision.shapes_of_links import link_shapes
        >>> pairs = colliding_pairs(robot, link_shapes(robot), samples=500)
        >>> pairs.verdict(0, 1)
        'adjacent'

    Left out are pairs of shapes

    - of one body, or of bodies that a joint connects, also through bodies without shapes;
    - that touch in 95 % of the samples or more, of the first 1024 of all `samples`;
    - that touch in the neutral configuration, moved into the limits, by no more than the excess of both, if the parts
      in them meet in less than 0.5 % of the samples, or the shapes touch in 95 %: these shapes may touch only since
      they are larger than their links. Of other shapes, the neutral configuration counts as a collision, which is a
      smaller evil than to miss real ones. `neutral=False` keeps all of them;
    - that were never nearer than `margin` [m]: in no sample, and not after a random search towards each other, which
      starts from the nearest samples. A pair of shapes that meet in a part p of all configurations is missed by the
      samples alone with the probability (1 - p)^samples: for p = 0.001 and 10 000 samples it is below 5e-5;
    - of `disabled` links: pairs of names of links or bodies, or the path of an SRDF file (see `disabled_links`).

    "Near" and "touch" are said of the convex hulls of the parts that the shapes are around, `shapes.hulls`, which are
    nearer to the links than the shapes are: so shapes that overlap while their links never meet are left out, and the
    reason tells. Only the neutral configuration is judged by the shapes themselves, which are what is checked later.
    Configurations are uniform inside the limits (see `random_configuration`). A `margin` of a collision model that is
    larger than this one needs pairs that were found with at least that margin. The robot keeps the result for a seed.
    """
    who = "colliding_pairs"
    need_robot(robot, who)
    need_shapes(robot, shapes, who)
    number = count(samples, f"{who}: samples")
    if number < 1:
        raise ArgumentError(f"{who}: samples must be 1 or more, got {samples!r}")
    margin = positive(margin, f"{who}: margin", or_zero=True)
    off, random = _disabled_shapes(robot, shapes, disabled), generator(rng, who)
    if isinstance(rng, int | np.integer) and not off.any():
        return _kept(robot, shapes, number, margin, truth(neutral, f"{who}: neutral"), int(rng))
    return _found(robot, shapes, number, margin, truth(neutral, f"{who}: neutral"), off, random)


@once_a_robot
def _kept(robot: Robot, shapes: LinkShapes, samples: int, margin: float, neutral: bool, seed: int) -> BodyPairs:
    """The pairs by a seed, which the robot keeps, and the disk for the next process."""
    numbers = (shapes.bodies, shapes.starts, shapes.ends, shapes.radii, shapes.excess, shapes.hull_radii)
    name = key_of_arrays(robot, [*numbers, *shapes.hulls], "colliding_pairs", samples, margin, neutral, seed)
    known = kept(name)
    if known is None:
        none = np.zeros((len(shapes), len(shapes)), bool)
        found = _found(robot, shapes, samples, margin, neutral, none, np.random.default_rng(seed))
        keep(
            name,
            {"reasons": [[*pair, text] for pair, text in found.reasons.items()]},
            [getattr(found, field) for field in _ARRAYS],
        )
        return found
    arrays = {field: constant(x.astype(int)) for field, x in zip(_ARRAYS, known.arrays, strict=True)}
    reasons = {(a, b): text for a, b, text in known.facts["reasons"]}
    return _pairs(robot, arrays, reasons, samples, margin)


def _found(
    robot: Robot, shapes: LinkShapes, samples: int, margin: float, neutral: bool, off: np.ndarray,
    rng: np.random.Generator,
) -> BodyPairs:  # fmt: skip
    a, b = np.triu_indices(len(shapes), 1)
    apart = shapes.bodies[a] != shapes.bodies[b]
    pairs = np.stack([a[apart], b[apart]], axis=1)
    verdicts = np.full(len(pairs), "checked", dtype="U8")
    verdicts[_adjacent(robot, shapes)[tuple(shapes.bodies[pairs].T)]] = "adjacent"
    verdicts[off[tuple(pairs.T)] & (verdicts == "checked")] = "disabled"
    rest = np.flatnonzero(verdicts == "checked")
    found = shape_meetings(robot, shapes, pairs[rest], samples, margin, rng)
    excess = shapes.excess[pairs[rest]].sum(axis=1)
    verdicts[rest[found.least > margin]] = "never"
    spared = (found.share < _SELDOM) | (found.shape_share >= _OFTEN)  # others really collide, and can do without
    verdicts[rest[(found.neutral <= 0) & (-found.neutral <= excess) & spared & neutral]] = "neutral"
    verdicts[rest[found.share >= _OFTEN]] = "always"
    return _by_bodies(robot, shapes, pairs, verdicts, rest, found, samples, margin)


def _adjacent(robot: Robot, shapes: LinkShapes) -> np.ndarray:
    """Whether (n + 1, n + 1) two bodies, or the last one, the base, are joined; bodies without shapes join others."""
    n = len(robot.body_names)
    found = np.zeros((n + 1, n + 1), bool)
    shaped = {int(body) for body in shapes.bodies} | {-1}
    above = []  # the nearest body with a shape above each body
    for body in range(n):
        parent = int(robot.parents[body])
        above.append(parent if parent in shaped else above[parent])
        if body in shaped:
            found[body, above[body]] = found[above[body], body] = True
    return found


def _by_bodies(
    robot: Robot, shapes: LinkShapes, pairs: np.ndarray, verdicts: np.ndarray, rest: np.ndarray, found: Meetings,
    samples: int, margin: float,
) -> BodyPairs:  # fmt: skip
    """Verdicts on pairs of bodies from those on pairs of shapes: a pair is checked if one of its shapes is."""
    seen = np.full((len(pairs), 3), np.nan)
    seen[rest] = np.stack([found.share, found.shape_share, found.least], axis=1)
    bodies = np.sort(shapes.bodies[pairs], axis=1)
    lists: dict[str, list] = {kind: [] for kind in _KINDS}
    reasons = {}
    for pair in np.unique(bodies, axis=0):
        own = (bodies == pair).all(axis=1)
        kind = next(kind for kind in _KINDS if (verdicts[own] == kind).any())
        lists[kind].append(pair)
        own &= verdicts == kind
        reasons[int(pair[0]), int(pair[1])] = _reason(kind, *seen[own].T)
    arrays = {kind: constant(np.array(rows, int).reshape(-1, 2)) for kind, rows in lists.items()}
    return _pairs(robot, arrays | {"shape_pairs": constant(pairs[verdicts == "checked"])}, reasons, samples, margin)


def _pairs(robot: Robot, arrays: dict[str, np.ndarray], reasons: dict, samples: int, margin: float) -> BodyPairs:
    names = (*robot.body_names, robot.base_name)
    return BodyPairs(**arrays, reasons=MappingProxyType(reasons), samples=samples, margin=margin, names=names)


def _reason(kind: str, share: np.ndarray, shape_share: np.ndarray, least: np.ndarray) -> str:
    if kind == "adjacent":
        return "a joint connects them"
    if kind == "disabled":
        return "it was told not to"
    near, often = f"{1e3 * max(float(least.min()), 0.0):.0f} mm", f"{100 * share.max():.3g} % of the samples"
    if kind == "never":
        wide = f"; only their shapes touch, in {100 * shape_share.max():.3g} % of the samples"
        return f"never nearer than {near}{wide * bool(shape_share.max() > 0)}"
    if kind == "checked" and share.max() == 0:
        return f"touch in no sample, but come as near as {near}"
    where = "the neutral configuration, by less than their excess, and in " if kind == "neutral" else ""
    return f"touch in {where}{often}"


def disabled_links(path: str | os.PathLike) -> tuple[tuple[str, str], ...]:
    """The pairs of links that an SRDF file says are not to be checked: its `<disable_collisions link1= link2=/>`.

    >>> from adjoint.collision.shapes_of_links import link_shapes
    >>> pairs = colliding_pairs(robot, link_shapes(robot), samples=100, disabled=disabled_links("<robot name='r'/>"))
    """
    root = read(path).root
    found = [(x.get("link1"), x.get("link2")) for x in root.iter("disable_collisions")]
    bad = next((pair for pair in found if None in pair), None)
    if bad is not None:
        raise ArgumentError(f"disabled_links: '{path!s:.80}' disables collisions of {bad}; link1 and link2 are needed")
    return tuple((str(a), str(b)) for a, b in found)


def _disabled_shapes(robot: Robot, shapes: LinkShapes, disabled) -> np.ndarray:
    """Whether (k, k) two shapes are disabled by the names of their links, or of their bodies."""
    if isinstance(disabled, str | os.PathLike):
        disabled = disabled_links(disabled)
        known = {*shapes.links, *robot.frame_names, *robot.body_names, robot.base_name}
        disabled = [pair for pair in disabled if known.issuperset(pair)]  # files also name links of other versions
    found = np.zeros((len(shapes), len(shapes)), bool)
    for pair in _name_pairs(disabled):
        a, b = (_shapes_of(robot, shapes, name) for name in pair)
        found |= np.outer(a, b) | np.outer(b, a)
    return found


def _name_pairs(disabled: Iterable) -> list[tuple[str, str]]:
    found: list[tuple]
    try:
        found = [tuple(pair) for pair in disabled]
    except TypeError:
        found = [()]
    if any(len(pair) != 2 or not all(isinstance(name, str) for name in pair) for pair in found):
        raise ArgumentError("colliding_pairs: 'disabled' must be pairs of names, or the path of an SRDF file")
    return [(str(a), str(b)) for a, b in found]


def _shapes_of(robot: Robot, shapes: LinkShapes, name: str) -> np.ndarray:
    """Whether (k,) shapes belong to a link, or to the body of this name if no link has it."""
    links = np.array([link == name for link in shapes.links], bool)
    if links.any():
        return links
    names = (*robot.body_names, robot.base_name)
    if name in names:
        return shapes.bodies == (names.index(name) if name != robot.base_name else -1)
    if name in robot.frame_names:  # a link without any shape
        return links
    raise ArgumentError(f"colliding_pairs: 'disabled' names '{name:.60}'; {nearest(name, [*shapes.links, *names])}")
