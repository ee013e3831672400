"""Arguments of collision models: obstacles, margins, carried solids and pairs, as users give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..errors import ArgumentError, nearest
from ..model.robot import Robot
from ..sensing.scene.scene_checks import number
from ..sensing.scene.scenes import Scene
from ..sensing.scene.solids import Solid
from .model_carried import covering_capsules
from .shapes_of_links import LinkShapes

__all__: list[str] = []


def link_of(name: str) -> str:
    """The link that a shape belongs to: "link#2" belongs to "link"."""
    return name.partition("#")[0]


def scene_of(obstacles, caller: str) -> Scene:
    """The obstacles as a scene."""
    if isinstance(obstacles, Scene):
        return obstacles
    if isinstance(obstacles, Solid):
        raise ArgumentError(f"{caller}: 'obstacles' must be a Scene or a list of solids, got one solid; write [solid]")
    try:
        return Scene(obstacles)
    except TypeError:
        raise ArgumentError(
            f"{caller}: 'obstacles' must be a Scene or a list of solids, got {type(obstacles).__name__}"
        ) from None


def margins_of(margin, scene: Scene, caller: str) -> np.ndarray:
    """The margins (n,) of the solids of a scene."""
    if isinstance(margin, Mapping):
        found = np.zeros(len(scene))
        for name, value in margin.items():
            found[scene.index(name)] = number(value, f"margin['{name}']", caller, least=0)
        return found
    try:
        found = np.array(margin, float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape not in ((), (len(scene),)) or not (np.isfinite(found) & (found >= 0)).all():
        raise ArgumentError(
            f"{caller}: 'margin' must be one length [m] of at least 0, one for each of the {len(scene)} obstacles, or "
            f"{{name: length}}; got {margin!r:.60}"
        )
    return np.broadcast_to(found, len(scene)).copy()


def carried_of(robot: Robot, carried, caller: str) -> tuple[tuple[str, Solid], ...]:
    """The carried solids, checked: their frames exist, and they have an end."""
    found = []
    for entry in carried:
        if not (isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[1], Solid)):
            raise ArgumentError(f"{caller}: 'carried' must be pairs (frame of the robot, solid), got {entry!r:.60}")
        robot.frame(entry[0])
        covering_capsules(entry[1], caller)
        found.append((entry[0], entry[1]))
    return tuple(found)


def ignored_pairs(ignore, caller: str) -> frozenset[tuple[str, str]]:
    """Pairs of names."""
    pairs = list(ignore) if isinstance(ignore, Iterable) and not isinstance(ignore, str) else [ignore]
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(x, str) for x in pair)):
            raise ArgumentError(
                f"{caller}: 'ignore' must be pairs of names (part of the robot, obstacle), got {pair!r:.60}"
            )
    return frozenset((a, b) for a, b in pairs)


def common_margin(margins: np.ndarray, caller: str) -> float:
    """The margin that all obstacles have."""
    if len(margins) and np.ptp(margins) > 0:
        raise ArgumentError(f"{caller}: this model has several margins, so 'margin' must be given with other obstacles")
    return float(margins[0]) if len(margins) else 0.0


def body_numbers(robot: Robot, pairs) -> np.ndarray:
    """Pairs of bodies, given by names or numbers, as numbers (p, 2)."""
    names = {name: k for k, name in enumerate((robot.base_name, *robot.body_names), -1)}
    found = []
    for pair in pairs:
        if not (np.ndim(pair) == 1 and len(pair) == 2):
            raise ArgumentError(f"collision_model: 'pairs' must be pairs of bodies, got {pair!r:.60}")
        numbers = []
        for x in pair:
            if isinstance(x, str) and x not in names:
                raise ArgumentError(f"collision_model: 'pairs' names '{x}'; {nearest(x, list(names))}")
            k = names[x] if isinstance(x, str) else x
            if not isinstance(k, int | np.integer) or not -1 <= k < len(robot.body_names):
                raise ArgumentError(
                    f"collision_model: 'pairs' has {k!r:.40}; bodies are names or numbers from -1 (the base) to "
                    f"{len(robot.body_names) - 1}"
                )
            numbers.append(int(k))
        found.append(sorted(numbers))
    return np.array(sorted(map(tuple, found)), int).reshape(-1, 2)


def shape_pairs_of(shapes: LinkShapes, bodies: np.ndarray) -> np.ndarray:
    """The pairs of shapes (p, 2) of pairs of bodies."""
    groups, none = shapes.groups, np.zeros(0, int)
    found = [(i, j) for a, b in bodies.tolist() for i in groups.get(a, none) for j in groups.get(b, none)]
    return np.array(found, int).reshape(-1, 2)
