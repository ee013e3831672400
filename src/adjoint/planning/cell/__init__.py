"""A cell that shows it all: a PUMA, a camera, a table with blocks; calibrate, look, plan, act, watch, recover.

| file | contents |
|---|---|
| `cell_scenes` | `random_cell`, `CellScene`: the robot, the table, blocks in random places, and the camera |
| `meddling` | `random_goal`, `Meddler`: what someone wants, and someone who moves blocks meanwhile |
| `camera_setting` | `calibrate_cell`, `CellCalibration`: lens and place of the camera, from photos of a board |
| `block_search` | `see_blocks`, `Sightings`, `draw_sightings`: where blocks are, on the table and on each other |
| `block_pixels` | pixels of coloured blocks: which colour they have, what arms hide, what an object covers |
| `cell_runs` | `run_cell`, `CellRun`, `CellLook`: the whole story |
| `motion_recheck` | `CellContact`: a second look at all motions, by convex hulls at every tick |

`adjoint.viewer.page` makes one HTML page of a `CellRun`. Reference: Fu, Gonzalez & Lee (1987), Chapters 5 to 10.
"""

from .block_search import Sightings as Sightings
from .block_search import draw_sightings as draw_sightings
from .block_search import see_blocks as see_blocks
from .camera_setting import CellCalibration as CellCalibration
from .camera_setting import calibrate_cell as calibrate_cell
from .cell_runs import CellLook as CellLook
from .cell_runs import CellRun as CellRun
from .cell_runs import run_cell as run_cell
from .cell_scenes import CellScene as CellScene
from .cell_scenes import random_cell as random_cell
from .meddling import Meddler as Meddler
from .meddling import random_goal as random_goal
from .motion_recheck import CellContact as CellContact

__all__ = [
    "CellCalibration",
    "CellContact",
    "CellLook",
    "CellRun",
    "CellScene",
    "Meddler",
    "Sightings",
    "calibrate_cell",
    "draw_sightings",
    "random_cell",
    "random_goal",
    "run_cell",
    "see_blocks",
]


def __dir__() -> list[str]:
    return __all__
