"""Rehearsals: a program runs in kinematics, and all of its motions are looked at before anything real moves.

| file | contents |
|---|---|
| `dry_runs` | `dry_run`: findings at source lines, and the motions of a program |
| `rehearsing` | a session that goes on after a move that cannot be made, and remembers all moves |
| `motion_checks` | limits, speeds and jumps of a motion |
"""

from .dry_runs import DryMotion as DryMotion
from .dry_runs import DryRun as DryRun
from .dry_runs import dry_run as dry_run

__all__ = ["DryMotion", "DryRun", "dry_run"]


def __dir__() -> list[str]:
    return __all__
