"""The ground facts of a world, such as ("on", "a", "b"), for task planning; and its state by relations of faces."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ...errors import ArgumentError
from ...sensing.scene.scene_checks import number
from ..features import Feature
from ..relations.relation_makers import Relation, against
from ..relations.sources import Source
from ..state.worlds import World
from .contact_gaps import gaps, need_part, placed_solids, up_of
from .truths import ENTER, LEAVE, can_rest, carried, is_holding, lifted_parts, sticks_out

__all__ = ["facts", "state_relations"]

Fact = tuple[str, ...]


def facts(
    world: World,
    previous: Collection[Fact] | None = None,
    *,
    enter: float = ENTER,
    leave: float = LEAVE,
    always_clear: Iterable[str] = (),
) -> frozenset[Fact]:
    """The ground facts that hold in a world, evaluated from its geometry.

        >>> from adjoint.sensing import Box
        >>> box = Box([0.1, 0.1, 0.1])
        >>> w = World().add("table", box).add("a", box, at=[0, 0, 0.1]).add("b", box, at=[0, 0, 0.2])
        >>> sorted(facts(w))
        [('clear', 'b'), ('on', 'a', 'table'), ('on', 'b', 'a')]

    | fact | when |
    |---|---|
    | ("on", a, b) | part a lies on part b, and no robot holds a |
    | ("clear", a) | nothing lies on part a |
    | ("inside", a, b) | part a is inside of the box of part b |
    | ("holding", robot, a) | the robot holds part a |
    | ("handempty", robot) | the robot holds no part |

    `previous` are the facts before: what was true stays so up to `leave` [m], what was false becomes true up to
    `enter`. So facts do not flicker. Names in `always_clear` are clear whatever lies on them, as a table is in blocks
    worlds: there is always room for one more. Fu, Gonzalez & Lee (1987), Sec. 10.6.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"facts: the first argument must be a World, got {type(world).__name__}")
    before = frozenset(() if previous is None else previous)
    limits = number(enter, "enter", "facts"), number(leave, "leave", "facts")
    if not limits[0] <= limits[1]:
        raise ArgumentError(f"facts: enter must be at most leave, got {limits[0]:g} and {limits[1]:g}")
    free = {need_part(world, name, "facts") for name in always_clear}
    options = {"enter": limits[0], "leave": limits[1]}
    found: set[Fact] = set()
    lifted = lifted_parts(world)
    for robot, (held, _) in zip(world.robots, lifted, strict=True):
        holds = [p for p in world.parts if is_holding(world, robot, p, was=("holding", robot, p) in before, **options)]
        found |= {("holding", robot, part) for part in holds} or {("handempty", robot)}
        held.update(holds)
    found |= _resting(world, before, lifted, limits)
    covered = {fact[2] for fact in found if fact[0] == "on"}
    found |= {("clear", part) for part in world.parts if part not in covered or part in free}
    return frozenset(found)


def _resting(world: World, before: frozenset[Fact], lifted: list, limits: tuple[float, float]) -> set[Fact]:
    """The facts "on" and "inside" of all pairs of parts."""
    found: set[Fact] = set()
    up = up_of(world)
    solids = {part: placed_solids(world, part) for part in world.parts}
    endless = {part for part, all_ in solids.items() if any(solid.bounds is None for solid in all_)}
    source = Source(world, "facts")
    shapes = {part: (world.pose(part), source.corners(part)) for part in world.parts if part not in endless}
    for a in world.parts:
        for b in world.parts:
            if a == b or a in endless or not can_rest(a, b, lifted):
                continue
            was = ("on", a, b) in before
            if carried(gaps(solids[a], solids[b], limits[was]), up, was):
                found.add(("on", a, b))
            was = ("inside", a, b) in before
            if b not in endless and sticks_out(*shapes[a], *shapes[b]) <= limits[was]:
                found.add(("inside", a, b))
    return found


def state_relations(
    world: World,
    previous: Collection[Relation] = (),
    *,
    distance: float = ENTER,
    angle: float = 0.01,
    leave: float = 2.0,
) -> tuple[Relation, ...]:
    """The state of a world by spatial relations: all pairs of faces that are against each other.

        >>> from adjoint.sensing import Box
        >>> box = Box([0.1, 0.1, 0.1])
        >>> w = World().add("table", box).add("a", box, at=[0, 0, 0.1])
        >>> state_relations(w)
        (<Relation: a.bottom against table.top>,)

    Two faces count if their normals are opposed up to an `angle` [rad], they are at most `distance` [m] apart, and
    their outlines overlap; a face without an outline has no end. Relations that are in `previous` stay up to `leave`
    times both limits. The face that looks down comes first. Fu, Gonzalez & Lee (1987), Sec. 9.3.2, Table 9.9.
    """
    if not isinstance(world, World):
        raise ArgumentError(f"state_relations: the first argument must be a World, got {type(world).__name__}")
    limits = (
        number(distance, "distance", "state_relations", least=0),
        number(angle, "angle", "state_relations", least=0),
    )
    leave = number(leave, "leave", "state_relations", least=1)
    before = {relation.sides for relation in previous}
    source, up = Source(world, "state_relations"), up_of(world)
    faces = [
        (part, f"{part}.{name}", feature.at(world.pose(part)))
        for part in world.parts
        for name, feature in source.features(part).items()
        if feature.kind == "face"
    ]
    found = []
    for k, (part, label, f) in enumerate(faces):
        for other, name, g in faces[k + 1 :]:
            if part == other:
                continue
            pair = (label, name) if f.axis @ up <= g.axis @ up + 1e-9 else (name, label)
            factor = leave if pair in before else 1.0
            if _against(f, g, limits[0] * factor, limits[1] * factor):
                found.append(against(*pair))
    return tuple(sorted(found, key=lambda relation: relation.sides))


def _against(f: Feature, g: Feature, distance: float, angle: float) -> bool:
    if np.linalg.norm(f.axis + g.axis) > 2 * np.sin(min(angle, np.pi) / 2) + 1e-12:
        return False
    if abs(g.axis @ (f.origin - g.origin)) > distance:
        return False
    if f.outline is None or g.outline is None:
        return True
    corners: np.ndarray = f.corners()  # type: ignore[assignment]  # it has an outline
    seen = (corners - g.origin) @ g.T_part_feature[:3, 1:3]
    return _overlap(seen, g.outline)


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two polygons (k, 2) have an area in common: corners inside of the other, or edges that cross."""
    for one, other in ((a, b), (b, a)):
        inner = one + 1e-6 * (one.mean(axis=0) - one)
        middles = (inner + np.roll(inner, -1, axis=0)) / 2
        if _within(np.concatenate([inner, middles, one.mean(axis=0)[None]]), other).any():
            return True
    p, q = a[:, None], np.roll(a, -1, axis=0)[:, None]
    r, s = b[None], np.roll(b, -1, axis=0)[None]
    tiny = 1e-9 * max(np.ptp(a), np.ptp(b)) ** 2
    across = (_area(p, q, r) * _area(p, q, s) < -(tiny**2)) & (_area(r, s, p) * _area(r, s, q) < -(tiny**2))
    return bool(across.any())


def _area(p, q, r) -> np.ndarray:
    return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])


def _within(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """Whether points (k, 2) are inside of a polygon: a ray to the right crosses its edges an odd number of times."""
    x, y = points[:, :1], points[:, 1:]
    a, b = polygon, np.roll(polygon, -1, axis=0)
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    height = np.where(b[:, 1] == a[:, 1], 1.0, b[:, 1] - a[:, 1])
    return (crosses & (x < a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / height)).sum(axis=1) % 2 == 1


def __dir__() -> list[str]:
    return __all__
