"""Goals, and configurations that meet them: numeric inverse kinematics of any robot, in batches.

| where | what |
|---|---|
| `goal` | goals as data: `pose`, `position`, `orientation`, `axis`, `look_at`, `distance`, ... |
| `search` | `find_configuration`: from many starts at once, until all goals are met |
"""

from .goal import Goal as Goal
from .goal import axis as axis
from .goal import center_of_mass as center_of_mass
from .goal import distance as distance
from .goal import look_at as look_at
from .goal import manipulability as manipulability
from .goal import orientation as orientation
from .goal import pose as pose
from .goal import position as position
from .goal import posture as posture
from .search import Found as Found
from .search import find_configuration as find_configuration

__all__ = [
    "Found",
    "Goal",
    "axis",
    "center_of_mass",
    "distance",
    "find_configuration",
    "look_at",
    "manipulability",
    "orientation",
    "pose",
    "position",
    "posture",
]


def __dir__() -> list[str]:
    return __all__
