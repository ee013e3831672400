"""Robots and their motions to look at: `view` in the browser, `page` as one HTML file to send, `plot` as figures.

| file | contents |
|---|---|
| `live` | `view`, and the `Viewer` that it returns |
| `sessions` | the state of a viewer, and the one thread that changes it |
| `looks`, `drawn` | what is drawn of a robot; robots in the scene, one or thousands |
| `clips`, `charts`, `playback_panel` | motions to play; curves over time; the tab that plays them |
| `joint_panel` | sliders for the joints |
| `reaching`, `reach_panel` | configurations for a pose that somebody drags; the gizmo, and a button for each branch |
| `overlays`, `overlay_panel` | axes, ellipsoids, arrows and clouds, as numbers; their checkboxes |
| `swinging`, `physics_panel` | a robot in real time, pulled by a hand; the tab for it |
| `worlds_shown`, `beside` | worlds and plans: their robots, and the parts beside them |
| `showing` | what a robot, a run or a trajectory shows in a page: `Actor`s |
| `cell_reports` | the report of a cell at work, in a page |
| `static_pages` | `page`, and the `Page` that it returns |
| `plotting` | `plot`, by matplotlib |
"""

from .live import Viewer as Viewer
from .live import view as view
from .plotting import plot as plot
from .static_pages import Page as Page
from .static_pages import page as page

__all__ = ["Page", "Viewer", "page", "plot", "view"]


def __dir__() -> list[str]:
    return __all__
