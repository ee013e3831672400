"""Robots and their motions to look at: `page` makes one HTML file that needs nothing else, `plot` makes figures.

| file | contents |
|---|---|
| `showing` | what a robot, a run or a trajectory shows: `Actor`s |
| `static_pages` | `page`, and the `Page` that it returns |
| `plotting` | `plot`, by matplotlib |
"""

from .plotting import plot as plot
from .static_pages import Page as Page
from .static_pages import page as page

__all__ = ["Page", "page", "plot"]


def __dir__() -> list[str]:
    return __all__
