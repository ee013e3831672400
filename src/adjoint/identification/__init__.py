"""Identification finds the inertias and friction of a robot from recorded motions and torques.

The usual way through this package is: plan a motion with `excitation`, record it on the robot, read the recording with
`read_samples`, and call `identify`.

| file | contents |
|---|---|
| `base` | which combinations of the parameters the torques depend on (`base_parameters`) |
| `exciting_motions` | motions whose torques reveal the parameters (`excitation`) |
| `data` | recordings in memory (`Samples`), their velocities and accelerations (`differentiate`), `resample` |
| `files` | recordings in CSV and Parquet files |
| `estimate` | `identify` itself |
| `plausibility` | does a recording look wrong: degrees, signs, the order of joints? |
| `linear` | least squares with many rows |
| `physical` | parameters that a physical robot can have |
| `report`, `drawing` | the result, `Identification`, and its plots |
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
