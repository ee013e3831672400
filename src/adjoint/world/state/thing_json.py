"""Solids, sensors and grippers as JSON: the name of the class and its fields, to the last bit."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import Any

import numpy as np

from ...collision.collision_solids import ConvexHull, HeightField, HullTables
from ...errors import AdjointError, ArgumentError, nearest
from ...sensing import Box, Capsule, Cylinder, Mesh, Noise, Plane, Solid, Sphere, Textured
from ...sensing.sensor_data import SensorData
from ...vision.cameras.camera import Camera
from .grippers import Gripper
from .json_reading import WHO, items, listing, numbers, plain, record, whole, word

__all__ = ["gripper_from_data", "sensor_from_data", "sensor_to_data", "solid_from_data", "solid_to_data"]

_SOLIDS: dict[str, tuple[Any, dict[str, tuple]]] = {
    "Plane": (Plane, {}),
    "Sphere": (Sphere, {"radius": ()}),
    "Box": (Box, {"size": (3,)}),
    "Cylinder": (Cylinder, {"radius": (), "length": ()}),
    "Capsule": (Capsule, {"radius": (), "length": ()}),
    "ConvexHull": (ConvexHull, {"points": (None, 3)}),
    "HeightField": (HeightField, {"heights": (None, None), "spacing": (2,)}),
}
_LOOKS = {"colour": (3,), "specular": (), "shininess": ()}


# --- solids -----------------------------------------------------------------------------------------------------------


def solid_to_data(solid: Solid) -> dict[str, Any]:
    """What JSON says of a solid; its pose is that of its frame."""
    kind = type(solid).__name__
    found: dict[str, Any] = {"solid": kind} | {name: plain(getattr(solid, name)) for name in _LOOKS}
    if type(solid) is Mesh:
        return found | {"vertices": plain(solid.triangles.vertices), "faces": plain(solid.triangles.faces)}
    if type(solid) is Textured:
        return found | {"size": plain(solid.size), "image": plain(solid.image)}
    if kind not in _SOLIDS or type(solid) is not _SOLIDS[kind][0]:
        raise ArgumentError(f"World.to_json: a {kind} cannot be written; a Mesh can")
    return found | {name: plain(getattr(solid, name)) for name in _SOLIDS[kind][1]}


def solid_from_data(data, where: str) -> Solid:
    """The solid that JSON describes, or an `ArgumentError`."""
    kind = word(items(data, where).get("solid"), f"{where}.solid")
    if kind == "Mesh":
        own = {"vertices": (None, 3), "faces": (None, 3)}
    elif kind == "Textured":
        own = {"size": (2,), "image": (None,) * _depth(data.get("image"))}
    elif kind in _SOLIDS:
        own = _SOLIDS[kind][1]
    else:
        raise ArgumentError(f"{WHO}: {where} is a {kind!r:.60}; {nearest(kind, ['Mesh', 'Textured', *_SOLIDS])}")
    record(data, where, ("solid", *own), tuple(_LOOKS))
    values: dict[str, Any] = {
        name: numbers(data[name], shape, f"{where}.{name}") for name, shape in (own | _LOOKS).items() if name in data
    }
    looks: dict[str, Any] = {name: values.pop(name) for name in _LOOKS if name in values}
    try:
        if kind == "Mesh":
            return Mesh((values["vertices"], values["faces"]), **looks)
        if kind == "Textured":
            return Textured(values["size"], values["image"], **looks)
        if kind == "ConvexHull":
            return _hull(values["points"], looks)
        return _SOLIDS[kind][0](**{k: x if x.ndim else float(x) for k, x in values.items()}, **looks)
    except AdjointError as error:
        raise ArgumentError(f"{WHO}: {where}: {error}") from None


def _hull(points: np.ndarray, looks: dict[str, Any]) -> ConvexHull:
    """The hull of points that are its corners already: they are kept to the last bit."""
    found = ConvexHull(points=points, **looks)
    tables: HullTables = found.tables
    if tables.vertices.shape == points.shape and np.allclose(tables.vertices, points, rtol=1e-12, atol=1e-12):
        points.setflags(write=False)
        return ConvexHull(points=dataclasses.replace(tables, vertices=points), **looks)
    return found


def _depth(value) -> int:
    depth = 0
    while isinstance(value, list) and value and depth < 3:
        value, depth = value[0], depth + 1
    return max(depth, 2)


# --- sensors ----------------------------------------------------------------------------------------------------------


def check_sensor(sensor, caller: str) -> Any:
    """A camera or a sensor of `adjoint.sensing`, or an `ArgumentError`."""
    if not isinstance(sensor, Camera | SensorData):
        raise ArgumentError(
            f"{caller}: a sensor is a Camera of adjoint.vision, or one of adjoint.sensing; got {type(sensor).__name__}"
        )
    return sensor.at(np.eye(4)) if isinstance(sensor, Camera) else sensor


def sensor_to_data(sensor) -> dict[str, Any]:
    """What JSON says of a sensor; its pose is that of its frame."""
    kind = type(sensor).__name__
    if isinstance(sensor, Camera):
        return {"sensor": kind, "matrix": plain(sensor.matrix), "size": list(sensor.size),
                "distortion": plain(sensor.distortion)}  # fmt: skip
    if kind not in _sensing().__all__:
        raise ArgumentError(f"World.to_json: a {kind} is no sensor of adjoint.sensing, and cannot be written")
    found: dict[str, Any] = {"sensor": kind}
    for field in dataclasses.fields(sensor):
        value = getattr(sensor, field.name)
        found[field.name] = plain(dataclasses.asdict(value)) if isinstance(value, Noise) else plain(value)
    return found


def sensor_from_data(data, where: str) -> Any:
    """The sensor that JSON describes, or an `ArgumentError`."""
    kind = word(items(data, where).get("sensor"), f"{where}.sensor")
    try:
        if kind == "Camera":
            record(data, where, ("sensor", "matrix", "size", "distortion"))
            size = [whole(n, f"{where}.size") for n in data["size"]]
            distortion = numbers(data["distortion"], (None,), f"{where}.distortion")
            return Camera(numbers(data["matrix"], (3, 3), f"{where}.matrix"), tuple(size), distortion)  # type: ignore
        return _of_sensing(kind, data, where)
    except (AdjointError, TypeError) as error:
        text = str(error)
        raise ArgumentError(text if text.startswith(WHO) else f"{WHO}: {where}: {text}") from None


def _of_sensing(kind: str, data: dict[str, Any], where: str) -> SensorData:
    known = getattr(_sensing(), kind) if kind in _sensing().__all__ else None
    if not (isinstance(known, type) and issubclass(known, SensorData)):
        raise ArgumentError(f"{WHO}: {where} is a {kind!r:.60}, which is no sensor of adjoint.sensing")
    fields = [field.name for field in dataclasses.fields(known)]
    record(data, where, ("sensor",), tuple(fields))
    values = {k: _value(x, f"{where}.{k}") for k, x in data.items() if k != "sensor"}
    if isinstance(values.get("noise"), dict):
        noise = record(values["noise"], f"{where}.noise", (), tuple(f.name for f in dataclasses.fields(Noise)))
        values["noise"] = Noise(**noise)
    return known(**values)


def _sensing() -> ModuleType:
    """The package of sensors; not imported at the top, so that names loaded there later are none of this module's."""
    from ... import sensing

    return sensing


def _value(value, where: str) -> Any:
    """Numbers, words for those that are not finite, lists of them, and objects (the noise)."""
    if isinstance(value, dict):
        return {k: _value(x, where) for k, x in value.items()}
    if isinstance(value, list):
        return tuple(_value(x, where) for x in value)
    if isinstance(value, str):
        return float(numbers(value, (), where, infinite=True))
    return value


# --- grippers ---------------------------------------------------------------------------------------------------------


def gripper_to_data(gripper: Gripper | None) -> dict[str, Any] | None:
    """What JSON says of a gripper."""
    return None if gripper is None else {f.name: plain(getattr(gripper, f.name)) for f in dataclasses.fields(gripper)}


def gripper_from_data(data, where: str) -> Gripper | None:
    """The gripper that JSON describes, or an `ArgumentError`."""
    if data is None:
        return None
    names = tuple(field.name for field in dataclasses.fields(Gripper))
    record(data, where, ("opening",), names)
    values: dict[str, Any] = {
        k: float(numbers(x, (), f"{where}.{k}", infinite=k == "force"))
        for k, x in data.items()
        if k not in ("T_tool_grip", "links")
    }
    if "links" in data:
        values["links"] = tuple(word(x, f"{where}.links") for x in listing(data["links"], f"{where}.links"))
    if "T_tool_grip" in data:
        values["T_tool_grip"] = numbers(data["T_tool_grip"], (4, 4), f"{where}.T_tool_grip")
    try:
        return Gripper(**values)
    except AdjointError as error:
        raise ArgumentError(f"{WHO}: {where}: {error}") from None
