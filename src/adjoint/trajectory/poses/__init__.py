"""Motions of a frame in space: lines, arcs, screw motions and splines, all of them a `PoseTrajectory`.

| file | contents |
|---|---|
| `pose_trajectory` | `PoseTrajectory`: pieces of products of exponentials, sampled, cut, timed, multiplied |
| `straight` | `line`, `lines` (Taylor's), `screw_motion` |
| `paul` | `drive_transform`, `drive`, `paul_lines` |
| `arcs` | `arc`, `circle` |
| `pose_splines` | `pose_spline` |
| `task_frames` | `task_pose`, `in_next_frame`: objects in frames that may move, and tools |
| `checks` | poses and points that people give |
"""

from .arcs import arc as arc
from .arcs import circle as circle
from .paul import drive as drive
from .paul import drive_transform as drive_transform
from .paul import paul_lines as paul_lines
from .pose_splines import pose_spline as pose_spline
from .pose_trajectory import PoseSample as PoseSample
from .pose_trajectory import PoseTrajectory as PoseTrajectory
from .straight import line as line
from .straight import lines as lines
from .straight import screw_motion as screw_motion
from .straight import segment_durations as segment_durations
from .task_frames import in_next_frame as in_next_frame
from .task_frames import task_pose as task_pose

__all__ = [
    "PoseSample",
    "PoseTrajectory",
    "arc",
    "circle",
    "drive",
    "drive_transform",
    "in_next_frame",
    "line",
    "lines",
    "paul_lines",
    "pose_spline",
    "screw_motion",
    "segment_durations",
    "task_pose",
]


def __dir__() -> list[str]:
    return __all__
