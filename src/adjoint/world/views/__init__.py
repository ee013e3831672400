"""What a world is for others: images for cameras, motions in time, surfaces and falls for simulations, drawings.

| file | contents |
|---|---|
| `camera_views` | `seen_by`: what a camera of a world sees |
| `following` | `follow`: where everything is while a robot moves |
| `world_drawing` | `world_props`: parts as meshes with poses over time, for pages and viewers |
| `touch_surfaces` | `world_surfaces`: parts as surfaces that simulated robots touch |
| `dropping`, `falling_points` | `dropped`: a free part falls and comes to rest |
"""

from .camera_views import CameraView as CameraView
from .camera_views import seen_by as seen_by
from .dropping import Dropped as Dropped
from .dropping import dropped as dropped
from .following import Followed as Followed
from .following import follow as follow
from .touch_surfaces import world_surfaces as world_surfaces
from .world_drawing import world_props as world_props

__all__ = ["CameraView", "Dropped", "Followed", "dropped", "follow", "seen_by", "world_props", "world_surfaces"]


def __dir__() -> list[str]:
    return __all__
