"""Where a part shall go: relations of a task become relations of the world, and these become poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import AdjointError
from ...world import (
    ContradictionError,
    Family,
    Feature,
    Part,
    Relation,
    World,
    against,
    aligned,
    at_angle,
    at_distance,
    centred,
    coincident,
    coplanar,
    fits,
    in_,
    on,
    parallel,
    perpendicular,
    placements,
    state_relations,
)
from ...world.predicates.contact_gaps import up_of
from ...world.relations.relation_systems import relation_system
from ...world.relations.sources import source_of
from ...world.state.part_contents import features_of
from ..instructions import Expression, Place, Quantity, RelationClause
from .feature_names import Named, faces_along, facing, named, need_part, with_feature

__all__: list[str] = []

_FACES = ("against", "on", "coplanar", "parallel", "perpendicular", "at_distance", "centred")
_MAKERS = {
    "against": against, "aligned": aligned, "at_angle": at_angle, "at_distance": at_distance, "centred": centred,
    "coincident": coincident, "coplanar": coplanar, "fits": fits, "in_": in_, "on": on, "parallel": parallel,
    "perpendicular": perpendicular,
}  # fmt: skip
_RINGS = (0.03, 0.06, 0.09, 0.12, 0.16, 0.2, 0.26)  # [m] around the nearest placement
_MIDDLE = 4.0  # a face is put on the middle of another that is at most so many times as large
_HOLDS = 2e-3  # [m, rad] by which a relation of a state may be missed
MOST = 12  # poses that are handed to the planner


class Related:
    """Relations of a task about a part that moves; frames of the world are features of the parts that carry them."""

    def __init__(self, world: World, moved: str):
        self.world, self.moved = world, moved
        self.extra: dict[str, list[Feature]] = {}

    def relation(self, clause: RelationClause) -> Relation:
        """The relation of the world that a clause says; a `LookupError` says what there is not."""
        if clause.relation not in _MAKERS:
            raise LookupError(f"there is no relation '{clause.relation}'")
        first, second = named(self.world, clause.first), named(self.world, clause.second)
        if clause.relation in _FACES:
            first, second = facing(self.world, first, self.moved), facing(self.world, second, self.moved)
        elif clause.relation != "in_":
            first, second = with_feature(self.world, first), with_feature(self.world, second)
        value = [] if clause.value is None else [quantity(clause.value)]
        return _MAKERS[clause.relation](self._side(first), self._side(second), *value)

    def _side(self, side: Named) -> Any:
        if not side.part:
            return side.feature
        if side.made and side.feature is not None:
            self.extra.setdefault(side.part, []).append(side.feature)
        return side.label

    def source(self) -> Any:
        """The world, or its parts with the features that frames made."""
        if not self.extra:
            return self.world
        found: dict[str, Any] = {}
        for name, part in self.world.parts.items():
            for feature in self.extra.get(name, ()):
                if isinstance(part, Part):
                    part = part.with_feature(feature.name, feature.kind, feature.T_part_feature)
                else:
                    part = {**features_of(part), feature.name: feature}
            found[name] = (self.world.pose(name), part)
        return found


def quantity(value: Expression) -> float:
    """A constant in SI units."""
    if not isinstance(value, Quantity):
        raise LookupError("a relation of a task has a constant value, such as 2 MM")
    return value.si


# --- goals of a part --------------------------------------------------------------------------------------------------


def goal_choices(world: World, statement: Place) -> list[Any]:
    """Lists of relations of which any may be fulfilled, each with its source of features, the best first."""
    part = need_part(world, statement.part)
    related = Related(world, part)
    own = [_touching(world, part, related.relation(clause)) for clause in statement.relations]
    if not statement.where:
        middle = _middle(world, own) if len(own) == 1 else []
        return [(related.source(), chosen) for chosen in ([*own, *middle], own)[not middle :]]
    support = named(world, statement.support)
    if not support.part:
        raise LookupError(f"'{statement.support}' belongs to no part")
    base = _on(world, part, support) if statement.where == "on" else _in(world, part, support)
    choices = [[*chosen, *own] for chosen in base]
    choices += [own] if own else []
    if not choices:
        raise LookupError(f"'{part}' has neither a shaft nor a face that could be {statement.where} '{support.part}'")
    return [(related.source(), chosen) for chosen in choices]


def _touching(world: World, moved: str, relation: Relation) -> Relation:
    """AGAINST of two faces means that they meet: the middle of the smaller one is inside of the other."""
    if relation.kind != "against" or not (isinstance(relation.first, str) and isinstance(relation.second, str)):
        return relation
    f, g = (named(world, side).feature for side in (relation.first, relation.second))
    if f is None or g is None or f.outline is None or g.outline is None:
        return relation
    sides = (relation.first, relation.second) if _area(f) <= _area(g) else (relation.second, relation.first)
    return on(*sides)


def _area(face: Feature) -> float:
    x, y = np.asarray(face.outline).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _middle(world: World, relations: Sequence[Relation]) -> list[Relation]:
    """The relation that puts a face on the middle of another, if that is not much larger."""
    relation = relations[0]
    if relation.kind != "on":
        return []
    f, g = named(world, relation.first).feature, named(world, relation.second).feature
    if f is None or g is None or f.outline is None or g.outline is None or _area(g) > _MIDDLE * _area(f):
        return []
    return [centred(relation.first, relation.second)]


def _on(world: World, part: str, support: Named) -> list[list[Relation]]:
    below = facing(world, support, part)
    return [[on(f"{part}.{face.name}", below.label)] for face in faces_along(world, part, -up_of(world))]


def _in(world: World, part: str, support: Named) -> list[list[Relation]]:
    """A shaft in a hole, or a part in a box, as deep as faces allow."""
    up = up_of(world)
    features, others = features_of(world.parts[part]), features_of(world.parts[support.part])
    chosen = others if support.feature is None else {support.feature.name: support.feature}
    base = [
        # A pin may go in with either end, so senses of axes do not count.
        (aligned if f.kind == "shaft" else fits)(f"{part}.{f.name}", f"{support.part}.{g.name}")
        for f in features.values()
        for g in chosen.values()
        if f.kind in ("shaft", "sphere") and g.kind in ("hole", "socket") and not f.radius > g.radius
    ]
    floors = faces_along(world, support.part, up)[::-1]
    floors = floors if support.feature is None or support.feature.kind != "face" else [support.feature]
    lowest = faces_along(world, part, -up)
    if base:
        touching = [(f, g) for g in floors for f in lowest]
        return [[b, against(f"{part}.{f.name}", f"{support.part}.{g.name}")] for f, g in touching for b in base]
    inside = [] if support.feature is not None else [in_(part, support.part)]
    inner = floors[:-1] if support.feature is None and len(floors) > 1 else floors  # the last one is the rim of a box
    lying = [on(f"{part}.{f.name}", f"{support.part}.{g.name}") for g in inner for f in lowest[:1]]
    # What is higher than the box may stand out of it.
    return [*([relation, *inside] for relation in lying), *([relation] for relation in lying if inside)]


def goals_of(world: World, part: str, choices: list[Any]) -> list[np.ndarray]:
    """Poses (4, 4) of the part that fulfil one of the choices, or a `LookupError` with the contradiction."""
    poses, fault = [], ""
    for source, relations in choices:
        try:
            found = placements(source, part, relations)
        except ContradictionError as error:
            fault = fault or str(error).partition(": ")[2]
            continue
        except AdjointError as error:
            raise LookupError(str(error)) from None
        poses += [T for family in found for T in [family.T_world_part, *_around(family)]]
    if not poses:
        raise LookupError(fault)
    return poses


def _around(family: Family) -> list[np.ndarray]:
    """Placements around the nominal one, nearest first: rings along two translations, or steps along one."""
    slides = [k for k, freedom in enumerate(family.freedoms) if freedom.kind == "translation"]
    if not slides:
        return []
    turns = np.arange(8) * np.pi / 4 if len(slides) > 1 else np.array([0.0, np.pi])
    found = []
    for radius in _RINGS:
        for angle in turns:
            s = np.zeros(family.dof)
            s[slides[:2]] = radius * np.array([np.cos(angle), np.sin(angle)])[: len(slides[:2])]
            T = family(s)
            if np.abs(family.residuals(T)).max() < 1e-6:
                found.append(T)
    return found


# --- states -----------------------------------------------------------------------------------------------------------


def missed(world: World, clauses: Sequence[RelationClause]) -> list[RelationClause]:
    """The relations of a state that do not hold in a world."""
    contacts = {frozenset(map(str, relation.sides)) for relation in state_relations(world)}
    return [clause for clause in clauses if not _holds(world, clause, contacts)]


def _holds(world: World, clause: RelationClause, contacts: set) -> bool:
    related = Related(world, _upper(world, clause))
    relation = related.relation(clause)
    if relation.kind == "against" and frozenset(map(str, relation.sides)) in contacts:
        return True
    source = source_of(related.source(), "state")
    sides = [side.part for side in source.sides(relation) if side.part in source.parts]
    system = relation_system(source, sides[:1], (relation,))
    if relation.kind == "against" and not related.extra:
        relation = _touching(world, sides[0], relation)
        system = relation_system(source, sides[:1], (relation,))
    x = system.variables(np.array([world.pose(sides[0])]))
    return bool(np.abs(system.residuals(x)).max() <= _HOLDS)


def _upper(world: World, clause: RelationClause) -> str:
    """The part of a relation that lies on the other one, if one of them is a whole part."""
    first, second = named(world, clause.first), named(world, clause.second)
    if first.feature is None and second.feature is not None:
        return second.part
    if second.feature is None and first.feature is not None:
        return first.part
    up = up_of(world)
    heights = [float(world.pose(side.part)[:3, 3] @ up) if side.part else -np.inf for side in (first, second)]
    return (first, second)[int(np.argmax(heights))].part
