"""Robots with many bodies: the algorithms of this library as loops over the bodies, compiled once for all of them.

The compiler unrolls small robots, body after body, with their numbers folded into the code. For a chain of a million
links the same functions run on a stand-in for the robot (`stand_in`): its sweeps are machine loops (`scan`), and the
numbers of the bodies are inputs of these loops (`rows`). `calls` lets kernels do so: a kernel decorated with `rolls`
takes robots with more than `MOST` bodies like any others.
"""

from .calls import rolls as rolls
from .rows import MOST as MOST
from .rows import for_loops as for_loops
from .rows import is_long as is_long

__all__ = ["MOST", "for_loops", "is_long", "rolls"]
