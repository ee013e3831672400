"""Robots with many bodies: the algorithms of this library as loops over the bodies, compiled once for all of them.

Small robots are unrolled by the compiler, body after body, their numbers folded in. For a chain of a million links the
same functions run on a stand-in of the robot (`stand_in`), for which the sweeps of `sweep` are machine loops (`scan`)
and the bodies' numbers their inputs (`rows`). `calls` lets kernels do so: what is decorated with `rolls` takes robots
with more than `MOST` bodies, without anyone asking for it.
"""

from .calls import rolls as rolls
from .rows import MOST as MOST
from .rows import for_loops as for_loops
from .rows import is_long as is_long

__all__ = ["MOST", "for_loops", "is_long", "rolls"]
