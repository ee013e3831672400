"""Robots: frozen trees of bodies, joints and frames, the spaces of their configurations, and the ways to get one.

    robot = load("arm.urdf")                                # or from_dh, from_screws, Robot.builder, catalog.puma560
    print(robot, check(robot), sep="\\n\\n")                  # its tree, and what is odd about its model
    q = random_configuration(robot, 100, rng=0)             # (100, nq)

These are the files of the folder, from below to above: a file uses only files before it.

- Data: `joints` is the table of joint types; `parts` has the plain data (`Frame`, `Body`, `Finding`, ...);
  `input_checks` checks numbers that users and files give; `whole_arrays` moves the inertias and frames of all bodies at
  once; `lines` has lines in space and their common normals.
- The robot: `layout` says where each body's numbers are in q and v; `robot_checks` checks the fields of a robot, and
  `robot_data` holds them; `once` keeps results in the robot they belong to; `needs` checks what a function needs of a
  robot.
- What robots can do: `lift` makes their numbers inputs of kernels; `reframe` changes body frames; `change` locks joints
  and adds frames and loads; `printing` draws the tree. `builder` collects links and joints, `joint_tables` and
  `assembly` make the fields of a robot of them. `robot` has the classes `Robot` and `Builder`, which use all of these.
- Robots from numbers: `screws` (products of exponentials), `dh` (Denavit-Hartenberg tables), `catalog` (arms of the
  literature, and families of any size).
- Robots from files: `xml_files` and `meshes` read files of unknown origin. `urdf_tags` (the vocabulary),
  `urdf_numbers`, `urdf_elements`, `urdf_joints` and `urdf_shapes` are the parts of `urdf`, which reads URDF;
  `mjcf_files` checks MJCF, and `mjcf` reads it. `loading` chooses between the formats. `urdf_writer` and `mjcf_writer`
  write them, with `xml_writing`.
- `configuration` has the configuration space as a manifold.
- The model doctor: `doctor_report` is what it returns, `doctor_model` is what its rules look at, `doctor_inertias`,
  `doctor_limits` and `doctor_sides` are rules, and `doctor` applies all of them.
"""

from typing import TYPE_CHECKING

from ..errors import ModelError as ModelError
from ..lazy import later
from . import catalog as catalog
from .configuration import difference as difference
from .configuration import distance as distance
from .configuration import integrate as integrate
from .configuration import interpolate as interpolate
from .configuration import neutral as neutral
from .configuration import random_configuration as random_configuration
from .dh import DH as DH
from .dh import dh_matrix as dh_matrix
from .dh import from_dh as from_dh
from .dh import to_dh as to_dh
from .joints import JOINTS as JOINTS
from .joints import JointType as JointType
from .parts import GRAVITY as GRAVITY
from .parts import Body as Body
from .parts import Finding as Finding
from .parts import Frame as Frame
from .parts import Joint as Joint
from .parts import JointSpec as JointSpec
from .parts import Link as Link
from .parts import LinkSpec as LinkSpec
from .parts import Mimic as Mimic
from .parts import Visual as Visual
from .parts import Where as Where
from .reframe import reframed as reframed
from .robot import Builder as Builder
from .robot import Robot as Robot
from .screws import PoE as PoE
from .screws import body_screws as body_screws
from .screws import change_frames as change_frames
from .screws import from_screws as from_screws
from .screws import space_screws as space_screws

if TYPE_CHECKING:
    from .doctor import Report as Report
    from .doctor import check as check
    from .loading import load as load
    from .meshes import mesh_file as mesh_file
    from .mjcf_writer import to_mjcf as to_mjcf
    from .urdf_writer import to_urdf as to_urdf
else:  # these need packages or files that most processes have no use for
    __getattr__ = later(
        __name__,
        {
            "Report": "doctor",
            "check": "doctor",
            "load": "loading",
            "mesh_file": "meshes",
            "to_mjcf": "mjcf_writer",
            "to_urdf": "urdf_writer",
        },
    )

__all__ = [
    "DH",
    "GRAVITY",
    "JOINTS",
    "Body",
    "Builder",
    "Finding",
    "Frame",
    "Joint",
    "JointSpec",
    "JointType",
    "Link",
    "LinkSpec",
    "Mimic",
    "ModelError",
    "PoE",
    "Report",
    "Robot",
    "Visual",
    "Where",
    "body_screws",
    "catalog",
    "change_frames",
    "check",
    "dh_matrix",
    "difference",
    "distance",
    "from_dh",
    "from_screws",
    "integrate",
    "interpolate",
    "load",
    "mesh_file",
    "neutral",
    "random_configuration",
    "reframed",
    "space_screws",
    "to_dh",
    "to_mjcf",
    "to_urdf",
]


def __dir__() -> list[str]:
    return __all__
