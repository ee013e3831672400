"""Identification: which parameters torques depend on, motions that show them, and their values from recordings.

`base` finds the identifiable combinations, `excitation` plans motions, `data` has recordings, `files` reads and writes
them. `estimate` is `identify` itself, which calls on `doubts` (does the recording look right?), `linear` (least
squares) and `physical` (a robot that can exist) and returns the `report`, drawn by `drawing`.
"""

from .base import BaseParameters as BaseParameters
from .base import base_parameters as base_parameters
from .data import Samples as Samples
from .data import differentiate as differentiate
from .data import resample as resample
from .estimate import identify as identify
from .exciting_motions import Course as Course
from .exciting_motions import Excitation as Excitation
from .exciting_motions import excitation as excitation
from .files import read_samples as read_samples
from .files import stream_samples as stream_samples
from .files import write_samples as write_samples
from .report import Identification as Identification

__all__ = [
    "BaseParameters",
    "Course",
    "Excitation",
    "Identification",
    "Samples",
    "base_parameters",
    "differentiate",
    "excitation",
    "identify",
    "read_samples",
    "resample",
    "stream_samples",
    "write_samples",
]


def __dir__() -> list[str]:
    return __all__
