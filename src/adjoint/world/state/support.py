"""Conditional attachments: whether gravity holds a frame on what carries it, and what falls when it does not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import ArgumentError
from .frame_tree import ROOT, ancestors, head_of, subtree, world_pose
from .part_contents import lowest_points, mass_and_center, surface_of
from .placements import Placed, rigid
from .support_polygons import clipped, hull, outside_by

if TYPE_CHECKING:
    from .worlds import World

__all__ = ["checked", "support_fault"]

TOUCHING = 1e-3
"""Surfaces this near to each other [m] touch."""
_STEEP = 0.05  # faces whose normal has less than this along up carry nothing
_LEAN = np.tan(np.radians(1.0))  # a face that leans by less stands on all of its corners
_FAR = 1e3  # half the side of the square [m] that stands for a plane


def checked(world: World, edited: Iterable[str], before: World) -> World:
    """The world after an edit of these frames, in which what gravity holds no more hangs on nothing but the world.

    Conditional attachments are looked at where the frame has moved, where what it carries has changed, and where an
    edited frame is, or was in the world `before`, rigid with its carrier.
    """
    while world.conditional:
        own, loads, carriers = set(edited), set(), set()
        for at in (before, world):
            for name in own & at.frames.keys():
                loads.update(ancestors(at, name))
                carriers.add(_carrier(at, name))
        faults = {}
        for name in world.conditional:
            parent = head_of(world.frames[name].parent)
            touched = name in loads or (parent != ROOT and _carrier(world, parent) in carriers)
            if touched or own.intersection(ancestors(world, name)):
                fault = support_fault(world, name)
                if fault is not None:
                    faults[name] = fault
        if not faults:
            break
        before, world, edited = world, let_fall(world, faults), faults  # what falls leaves its carrier lighter
    return world


def let_fall(world: World, faults: dict[str, str]) -> World:
    """The world in which these frames are attached to nothing, for these reasons; they have not moved yet."""
    if not faults:
        return world
    frames = dict(world.frames)
    for name in faults:
        frames[name] = Placed(ROOT, rigid(world_pose(world, name, "settle")), "rigid", frames[name].friction)
    return world.changed(frames=frames, fallen=world.fallen | faults)


def need_support(world: World, names: Iterable[str], caller: str) -> World:
    """The same world, or an `ArgumentError` if gravity does not hold one of these frames on its parent."""
    for name in names:
        if world.frames[name].attachment == "conditional":
            fault = support_fault(world, name)
            if fault is not None:
                parent = world.frames[name].parent
                raise ArgumentError(
                    f"{caller}: gravity does not hold '{name}' on '{parent}': {fault}; move it first, or attach "
                    "it 'nonrigid'"
                )
    return world


# --- one attachment ---------------------------------------------------------------------------------------------------


class _Contact(NamedTuple):
    """A face that carries something: its unit normal (3,), a point (3,) on it, and the polygon (k, 3) of contact."""

    normal: np.ndarray
    point: np.ndarray
    polygon: np.ndarray


def support_fault(world: World, name: str) -> str | None:
    """Why gravity does not hold a frame on its parent, in words; None if it does."""
    placed = world.frames[name]
    if placed.parent == ROOT:
        return None
    size = float(np.linalg.norm(world.gravity))
    up = -world.gravity / (size or 1.0)
    points, center = _load(world, name, up)
    if points is None:
        return None  # a bare frame has no weight
    if not size > 0:
        return "there is no gravity"
    carriers = _surfaces(world, head_of(placed.parent), leave_out=name)
    contacts = _contacts(carriers, points, up) if carriers else [_on_frame(world, placed.parent, points)]
    if not contacts:
        return f"it does not touch '{placed.parent}'"
    faults = [_fault(contact, center, up, placed) for contact in contacts]
    return None if None in faults else faults[0]


def _fault(contact: _Contact, center: np.ndarray, up: np.ndarray, placed: Placed) -> str | None:
    tilt = float(np.degrees(np.arccos(np.clip(contact.normal @ up, -1.0, 1.0))))
    most = float(np.degrees(np.arctan(placed.friction)))
    if tilt > most + 1e-6:
        return f"'{placed.parent}' is tilted by {tilt:.1f}°, and friction {placed.friction:g} holds up to {most:.1f}°"
    # The centre of mass, moved along gravity into the plane of contact.
    drop = (contact.point - center) @ contact.normal / (up @ contact.normal)
    beyond = outside_by(center + drop * up, contact.polygon, contact.normal)
    if beyond > TOUCHING * 1e-3:
        return f"its centre of mass is {1e3 * beyond:.3g} mm beyond the edge of what carries it on '{placed.parent}'"
    return None


def _load(world: World, name: str, up: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The points (k, 3) of what is rigid with a frame, and the centre of mass (3,) of all that it carries."""
    below = _rigidly_below(world, name)
    points = []
    for frame in below:
        if frame in world.parts and (surface := surface_of(world.parts[frame])) is not None:
            T = world_pose(world, frame, "settle")
            points.append(surface[0] @ T[:3, :3].T + T[:3, 3])
            points.append(lowest_points(world.parts[frame], T, up))
    weights, first = 0.0, np.zeros(3)
    for frame in subtree(world, name):
        if frame in world.parts:
            mass, center = mass_and_center(world.parts[frame])
            T = world_pose(world, frame, "settle")
            weights, first = weights + mass, first + mass * (T[:3, :3] @ center + T[:3, 3])
    if not points or not weights > 0:
        return None, np.zeros(3)
    return np.concatenate(points), first / weights


def _rigidly_below(world: World, name: str, leave_out: str = "") -> list[str]:
    """A frame and all that is rigidly attached below it."""
    found = [name]
    for frame in found:
        found += [x for x in world.children.get(frame, ()) if world.frames[x].attachment == "rigid" and x != leave_out]
    return found


def _carrier(world: World, name: str) -> str:
    """The uppermost frame that is rigid with a frame; frames of robots and features end the way up."""
    while world.frames[name].attachment == "rigid" and "." not in world.frames[name].parent:
        above = world.frames[name].parent
        if above == ROOT:
            break
        name = above
    return name


def _surfaces(world: World, carrier: str, leave_out: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Triangles (vertices, faces) in the world of the parts that are rigid with a frame."""
    found = []
    for frame in _rigidly_below(world, _carrier(world, carrier), leave_out):
        if frame in world.parts:
            T = world_pose(world, frame, "settle")
            surface = surface_of(world.parts[frame]) or _square()
            found.append((surface[0] @ T[:3, :3].T + T[:3, 3], surface[1]))
    return found


def _square() -> tuple[np.ndarray, np.ndarray]:
    """What stands for the surface of a half-space."""
    return np.array([[-_FAR, -_FAR, 0], [_FAR, -_FAR, 0], [_FAR, _FAR, 0], [-_FAR, _FAR, 0]]), np.array(
        [[0, 1, 2], [0, 2, 3]]
    )


def _contacts(carriers: list[tuple[np.ndarray, np.ndarray]], points: np.ndarray, up: np.ndarray) -> list[_Contact]:
    """The faces of the carriers on which points of the load stand; the largest polygon comes first."""
    planes: dict[tuple, list[np.ndarray]] = {}
    found = []
    for vertices, faces in carriers:
        corners = vertices[faces]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(across, axis=1)
        normals = across / np.where(area > 0, area, 1.0)[:, None]
        for k in np.flatnonzero((area > 0) & (normals @ up > _STEEP)):
            height = normals[k] @ corners[k, 0]
            if np.abs(points @ normals[k] - height).min() <= TOUCHING:
                key = (*np.round(normals[k], 4), round(height, 4))
                planes.setdefault(key, []).append(corners[k])
    for triangles in planes.values():
        a, b, c = triangles[0]
        n = np.cross(b - a, c - a)
        n /= np.linalg.norm(n)
        polygon = clipped(hull(_standing(points, n, a), n), np.array(triangles), n)
        if len(polygon):
            found.append(_Contact(n, a, polygon))
    return sorted(found, key=lambda x: -np.ptp(x.polygon, axis=0).max())


def _standing(points: np.ndarray, normal: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The points on which a load stands: those near a plane, without those that curve away from the lowest of them."""
    heights = (points - point) @ normal
    near, heights = points[np.abs(heights) <= TOUCHING], heights[np.abs(heights) <= TOUCHING]
    low = int(np.argmin(heights))
    away = np.linalg.norm(near - near[low], axis=1)
    return near[heights - heights[low] <= np.maximum(_LEAN * away, 1e-9)]


def _on_frame(world: World, parent: str, points: np.ndarray) -> _Contact:
    """The contact with a frame that has no part: a plane across its z axis, as high as the lowest points."""
    n = world_pose(world, parent, "settle")[:3, 2]
    low = points[np.argmin(points @ n)]
    return _Contact(n, low, hull(_standing(points, n, low), n))
