"""Goals, and configurations that meet them: numeric inverse kinematics of any robot, in batches.

| where | what |
|---|---|
| `goal` | goals as data: `pose`, `position`, `orientation`, `axis`, `look_at`, `line`, `plane`, ... |
| `search`, `rounds` | `find_configuration`: from many starts at once, until all goals are met |
| `sensitivity` | `solution_derivatives`: how solutions move with their targets and with the robot's numbers |
| `differential` | `differential_step`: velocities towards goals within limits, as a quadratic program |
| `kinds`, `rows`, `problem` | the table of kinds of goals; all goals of a problem together |
| `lanes`, `objectives`, `qp` | the algorithms, for one sample each |
"""

from .differential import DifferentialStep as DifferentialStep
from .differential import differential_step as differential_step
from .goal import Goal as Goal
from .goal import axis as axis
from .goal import center_of_mass as center_of_mass
from .goal import distance as distance
from .goal import line as line
from .goal import look_at as look_at
from .goal import manipulability as manipulability
from .goal import orientation as orientation
from .goal import plane as plane
from .goal import pose as pose
from .goal import position as position
from .goal import posture as posture
from .search import Found as Found
from .search import find_configuration as find_configuration
from .search import goal_errors as goal_errors
from .sensitivity import solution_derivatives as solution_derivatives

__all__ = [
    "DifferentialStep",
    "Found",
    "Goal",
    "axis",
    "center_of_mass",
    "differential_step",
    "distance",
    "find_configuration",
    "goal_errors",
    "line",
    "look_at",
    "manipulability",
    "orientation",
    "plane",
    "pose",
    "position",
    "posture",
    "solution_derivatives",
]


def __dir__() -> list[str]:
    return __all__
