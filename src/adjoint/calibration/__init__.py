"""Calibration finds the screws, joint offsets, gears, base and tool of a robot from measurements of its tool.

The usual way through this package is: choose poses with `choose_poses`, measure the tool there, read the file with
`read_measurements`, and call `calibrate`.

| file | contents |
|---|---|
| `chain` | the product of exponentials with its numbers as inputs, and its slopes by them, as kernels |
| `measured` | what can be measured: `Poses`, `Positions`, `Distances`, `OnPlane`, `OnSphere` |
| `parameters` | which numbers are estimated, their names, and the robot that they make |
| `problem` | arguments become a problem: checks, first numbers, generic poses |
| `fit` | Levenberg-Marquardt with projection, for any number of samples |
| `robust` | losses that limit what outliers can do |
| `estimate` | `calibrate` itself |
| `pose_choice` | the poses that show the parameters best (`choose_poses`) |
| `unseen` | what measurements do not show, in words |
| `plausibility` | do measurements look wrong: degrees, millimetres? |
| `files` | measurements and results in files |
| `report`, `drawing` | the result, `Calibration`, and its plots |
"""

from .estimate import calibrate as calibrate
from .files import Recording as Recording
from .files import read_measurements as read_measurements
from .files import write_measurements as write_measurements
from .measured import Distances as Distances
from .measured import OnPlane as OnPlane
from .measured import OnSphere as OnSphere
from .measured import Poses as Poses
from .measured import Positions as Positions
from .parameters import Parameter as Parameter
from .pose_choice import PoseChoice as PoseChoice
from .pose_choice import choose_poses as choose_poses
from .report import Calibration as Calibration
from .report import CrossValidation as CrossValidation

__all__ = [
    "Calibration",
    "CrossValidation",
    "Distances",
    "OnPlane",
    "OnSphere",
    "Parameter",
    "PoseChoice",
    "Poses",
    "Positions",
    "Recording",
    "calibrate",
    "choose_poses",
    "read_measurements",
    "write_measurements",
]


def __dir__() -> list[str]:
    return __all__
