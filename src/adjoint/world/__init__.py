"""A world to work in: parts, frames and what is attached to what; relations, motion plans and grasps.

A `World` never changes: every edit gives a new one. Lengths are in m and angles in rad; `si` converts others. The
packages that parts and exact checks call (trimesh, manifold3d, coal) are the extra `adjoint[world]`.

| where | what |
|---|---|
| `features` | Features of parts: the faces, shafts, holes, edges, vertices and balls that relations speak of, each with a frame |
| `state` | The state of a world: frames, parts, robots and sensors, what is attached to what, and what follows from edits |
"""

from typing import TYPE_CHECKING

from ..lazy import later, suggesting

if TYPE_CHECKING:
    from .features import FEATURE_KINDS as FEATURE_KINDS
    from .features import Feature as Feature
    from .features import feature_frame as feature_frame
    from .state import Assembly as Assembly
    from .state import Gripper as Gripper
    from .state import Placed as Placed
    from .state import PlacedSensor as PlacedSensor
    from .state import World as World
    from .state import WorldRobot as WorldRobot
    from .state import frame_from_points as frame_from_points
    from .state import gripper_solids as gripper_solids
    from .state import hand_target as hand_target

# Where each name is defined: a file or folder is loaded when one of its names is first used. A test keeps this table and
# the imports above, which editors and type checkers read, the same.
_HOMES = {
    "features": "FEATURE_KINDS Feature feature_frame",
    "state": "Assembly Gripper Placed PlacedSensor World WorldRobot frame_from_points gripper_solids hand_target",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]

if not TYPE_CHECKING:
    __getattr__ = later(__name__, _HOME_OF | {home: home for home in _HOMES}, suggesting(__all__))


def __dir__() -> list[str]:
    return __all__
