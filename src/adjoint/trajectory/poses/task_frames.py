"""Poses of tasks: objects in frames that may move, held or touched by tools."""

from __future__ import annotations

import numpy as np

from ...compile import kernel
from ...lie import se3

__all__ = ["in_next_frame", "task_pose"]


@kernel(C=(4, 4), P=(4, 4), tool=(4, 4))
def task_pose(C, P, tool) -> np.ndarray:
    """The pose C P tool⁻¹ (4, 4) of an arm's last frame at which its tool is at the pose P in the frame C.

    `tool` (4, 4) is the tool in the arm's last frame. If C moves, as on a conveyor, `C @ path @ se3.inverse(tool)` is
    the motion in time, with motions C and path; of a function C(t), `pose_spline(C(times), times)` makes a motion. The
    poses must be rigid motions: as in all kernels, they are not checked, and NaN gives NaN. Fu, Gonzalez & Lee (1987),
    (4.4-1) to (4.4-3).

        >>> C, P, tool = se3.random(3, rng=0)
        >>> assert np.allclose(task_pose(C, P, tool) @ tool, C @ P)
    """
    return se3.compose(se3.compose(C, P), se3.inverse(tool))


@kernel(P=(4, 4), C=(4, 4), tool=(4, 4), next_C=(4, 4), next_tool=(4, 4))
def in_next_frame(P, C, tool, next_C, next_tool) -> np.ndarray:
    """The pose next_C⁻¹ C P tool⁻¹ next_tool (4, 4): where the next tool is in the next frame, while the arm rests.

    A motion from the pose P in the frame C to another one in `next_C` begins there, so that both of its ends are seen
    from the frame in which it ends: it stays straight there even if the frames move. Poses are as in `task_pose`. Fu,
    Gonzalez & Lee (1987), (4.4-5) to (4.4-9).

        >>> P, C, tool, next_C, next_tool = se3.random(5, rng=0)
        >>> begin = in_next_frame(P, C, tool, next_C, next_tool)
        >>> assert np.allclose(task_pose(next_C, begin, next_tool), task_pose(C, P, tool))
    """
    return se3.compose(se3.compose(se3.inverse(next_C), task_pose(C, P, tool)), next_tool)
