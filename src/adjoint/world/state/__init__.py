"""The state of a world: frames, parts, robots and sensors, what is attached to what, and what follows from edits.

| file | contents |
|---|---|
| `worlds` | `World`: tables of frames, parts, robots and sensors, and the methods that edit and read them |
| `placements` | `Placed` and `WorldRobot`: what the tables have in them |
| `grippers` | `Gripper`: two parallel fingers and a palm, as data and as solids |
| `part_contents` | what a world asks of its parts: solids, features, mass, vertices |
| `frame_tree` | names, parents, what moves rigidly together, and poses in the world |
| `world_edits`, `attachment_edits` | the edits: what comes, goes and moves; what hangs on what |
| `held_parts` | scenes, and what robots carry |
| `support`, `support_polygons`, `settling` | conditional attachments: what gravity holds, and what falls |
| `world_changes` | `changes`: how two worlds differ, in words |
| `histories` | `History`: undo and redo |
| `world_files`, `robot_json`, `thing_json`, `json_reading` | worlds as JSON, read without trust |
| `pointing` | `frame_from_points`, and `hand_target`, where a hand has to go |
"""

from .grippers import Gripper as Gripper
from .grippers import gripper_solids as gripper_solids
from .histories import History as History
from .placements import Placed as Placed
from .placements import PlacedSensor as PlacedSensor
from .placements import WorldRobot as WorldRobot
from .pointing import frame_from_points as frame_from_points
from .pointing import hand_target as hand_target
from .settling import Settled as Settled
from .settling import settle as settle
from .world_changes import Changes as Changes
from .world_changes import Configured as Configured
from .world_changes import Moved as Moved
from .world_changes import Reattached as Reattached
from .world_changes import changes as changes
from .worlds import Assembly as Assembly
from .worlds import World as World

__all__ = [
    "Assembly",
    "Changes",
    "Configured",
    "Gripper",
    "History",
    "Moved",
    "Placed",
    "PlacedSensor",
    "Reattached",
    "Settled",
    "World",
    "WorldRobot",
    "changes",
    "frame_from_points",
    "gripper_solids",
    "hand_target",
    "settle",
]


def __dir__() -> list[str]:
    return __all__
