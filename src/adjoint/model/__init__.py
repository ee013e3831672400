"""Robots: frozen trees of bodies, joints and frames, their configuration spaces, and the ways to get one."""

from . import catalog as catalog
from .build import Builder as Builder
from .build import JointSpec as JointSpec
from .build import LinkSpec as LinkSpec
from .build import ModelError as ModelError
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
from .doctor import Report as Report
from .doctor import check as check
from .joints import JOINTS as JOINTS
from .joints import JointType as JointType
from .loading import load as load
from .meshes import mesh_file as mesh_file
from .reframe import reframed as reframed
from .robot import GRAVITY as GRAVITY
from .robot import Body as Body
from .robot import Finding as Finding
from .robot import Frame as Frame
from .robot import Joint as Joint
from .robot import Link as Link
from .robot import Mimic as Mimic
from .robot import Robot as Robot
from .robot import Visual as Visual
from .robot import Where as Where
from .screws import PoE as PoE
from .screws import body_screws as body_screws
from .screws import change_frames as change_frames
from .screws import from_screws as from_screws
from .screws import space_screws as space_screws
from .urdf_writer import to_urdf as to_urdf

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
    "to_urdf",
]


def __dir__() -> list[str]:
    return __all__
