"""Teaching: points that someone led an arm through, and frames that someone pointed at, as programs.

| file | contents |
|---|---|
| `lessons` | teach and playback: record, edit and play configurations |
| `pointed_frames` | POINTY: declarations of frames from what an arm points at |
"""

from .lessons import Lesson as Lesson
from .lessons import TaughtPoint as TaughtPoint
from .lessons import lesson_from_json as lesson_from_json
from .lessons import lesson_trajectory as lesson_trajectory
from .pointed_frames import declare_frames as declare_frames
from .pointed_frames import pointed_frame as pointed_frame

__all__ = [
    "Lesson",
    "TaughtPoint",
    "declare_frames",
    "lesson_from_json",
    "lesson_trajectory",
    "pointed_frame",
]


def __dir__() -> list[str]:
    return __all__
