"""Robots: frozen trees of bodies, joints and frames, their configuration spaces, and the ways to get one."""

from ..errors import ModelError as ModelError
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
from .doctor import Report as Report
from .doctor import check as check
from .joints import JOINTS as JOINTS
from .joints import JointType as JointType
from .loading import load as load
from .meshes import mesh_file as mesh_file
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
