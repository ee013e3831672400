"""Parts as JSON, with all numbers exact; text from others is read without trust."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ...errors import ArgumentError, nearest
from ..features import Feature
from . import primitives
from .mesh_parts import mesh_part
from .part_trees import Part, combined
from .primitive_kinds import KINDS
from .sweeps import is_identity

__all__ = ["part_from_json", "part_to_data", "part_to_json"]

_BOOLEANS = ("union", "intersection", "difference")
_MOST_CHARACTERS = 200_000_000
_MOST_NODES, _MOST_DEPTH = 20_000, 100


def part_to_json(part: Part) -> str:
    """The JSON text of a part, from which `part_from_json` makes an equal part: no digit is lost.

    >>> part_from_json(part_to_json(aj.world.cuboid(0.1, 0.2, 0.3))) == aj.world.cuboid(0.1, 0.2, 0.3)
    True
    """
    return json.dumps(part_to_data(part), allow_nan=False)


def part_to_data(part: Part) -> dict[str, Any]:
    """A part as dictionaries, lists, strings and numbers, which other JSON can contain; see `part_to_json`.

    >>> part_to_data(aj.world.sphere(0.05))
    {'kind': 'sphere', 'radius': 0.05, 'density': 1000.0, 'colour': [0.7, 0.7, 0.7]}
    """
    if not isinstance(part, Part):
        raise ArgumentError(f"part_to_data: 'part' must be a Part, got {type(part).__name__}")
    data: dict[str, Any] = {"kind": part.kind}
    if part.name:
        data["name"] = part.name
    data |= {k: np.asarray(v).tolist() for k, v in part.sizes.items() if v is not None}
    if not part.operands:
        data["density"] = part.density
        data["colour"] = part.colour.tolist()
    if not is_identity(part.T_part_solid):
        data["at"] = part.T_part_solid.tolist()
    if part.added:
        data["features"] = [_feature_data(f) for f in part.added]
    if part.operands:
        data["operands"] = [part_to_data(p) for p in part.operands]
    return data


def _feature_data(feature: Feature) -> dict[str, Any]:
    data = {"name": feature.name, "kind": feature.kind, "at": feature.T_part_feature.tolist()}
    data |= {k: v for k, v in (("radius", feature.radius), ("length", feature.length)) if not np.isnan(v)}
    return data if feature.outline is None else data | {"outline": feature.outline.tolist()}


def part_from_json(text: str | dict[str, Any]) -> Part:
    """The part of a JSON text of `part_to_json`, or of the data of `part_to_data`.

        >>> part_from_json('{"kind": "cuboid", "x": 1, "y": 2, "z": 3, "name": "block"}')
        <Part 'block': cuboid x=1, y=2, z=3>

    Text that no part has written raises an `ArgumentError` that says where it is wrong: unknown kinds and names,
    numbers that are not finite, trees that are too deep or too large, meshes that are not closed.
    """
    data = text
    if isinstance(text, str | bytes):
        if len(text) > _MOST_CHARACTERS:
            raise ArgumentError(f"part_from_json: {len(text)} characters; at most {_MOST_CHARACTERS} are read")
        try:
            data = json.loads(text, parse_constant=_refused)
        except RecursionError:
            raise ArgumentError("part_from_json: the text is nested too deeply") from None
        except ValueError as error:
            raise ArgumentError(f"part_from_json: this is not the JSON of a part: {error}") from None
    return _part(data, "part", 1, [0])


def _refused(constant: str):
    raise ValueError(f"{constant} is not a finite number")


def _part(data: Any, where: str, depth: int, count: list[int]) -> Part:
    count[0] += 1
    if depth > _MOST_DEPTH or count[0] > _MOST_NODES:
        raise ArgumentError(
            f"part_from_json: the tree is deeper than {_MOST_DEPTH} levels or has more than {_MOST_NODES} nodes"
        )
    if not isinstance(data, dict):
        raise ArgumentError(f"part_from_json: {where} must be an object {{...}}, got {type(data).__name__}")
    data = dict(data)
    kind = data.pop("kind", None)
    kinds = [*KINDS, *_BOOLEANS]
    if not isinstance(kind, str) or kind not in kinds:
        raise ArgumentError(f"part_from_json: {where} has the unknown kind {kind!r:.60}; {nearest(kind, kinds)}")
    features = data.pop("features", [])
    if not isinstance(features, list) or not all(isinstance(f, dict) for f in features):
        raise ArgumentError(f"part_from_json: 'features' of {where} must be a list of objects")
    made = _primitive if kind in KINDS else _boolean
    try:
        part = made(kind, data, where, depth, count)
        for feature in map(dict, features):
            part = part.with_feature(
                feature.pop("name", ""), feature.pop("kind", ""), feature.pop("at", None), **feature
            )
    except (ArgumentError, TypeError) as error:
        if str(error).startswith("part_from_json"):
            raise
        raise ArgumentError(f"part_from_json: {where}: {error}") from None
    return part


def _only(data: dict, names: tuple[str, ...], where: str, kind: str) -> None:
    for name in data:
        if name not in names:
            raise ArgumentError(
                f"part_from_json: {where} of the kind {kind} has no {name!r:.60}; {nearest(name, list(names))}"
            )


def _primitive(kind: str, data: dict, where: str, depth: int, count: list[int]) -> Part:
    sizes = KINDS[kind].sizes
    _only(data, (*sizes, "at", "name", "density", "colour"), where, kind)
    missing = [x for x in sizes if x not in data and x not in ("facets", "top_radius")]
    if missing:
        raise ArgumentError(f"part_from_json: {where} of the kind {kind} lacks {', '.join(missing)}")
    if kind == "mesh":
        return mesh_part((data.pop("vertices"), data.pop("faces")), **data)
    return getattr(primitives, kind)(**data)


def _boolean(kind: str, data: dict, where: str, depth: int, count: list[int]) -> Part:
    _only(data, ("operands", "at", "name"), where, kind)
    found = data.get("operands")
    if not isinstance(found, list) or len(found) < 2:
        raise ArgumentError(f"part_from_json: {where} of the kind {kind} needs a list of two or more 'operands'")
    parts = [_part(x, f"{where}.operands[{k}]", depth + 1, count) for k, x in enumerate(found)]
    return combined(kind, parts, at=data.get("at"), name=data.get("name", ""))
