"""Robots: frozen trees of bodies, joints and frames, their configuration spaces, and the ways to get one."""

from .build import Builder as Builder
from .build import ModelError as ModelError
from .configuration import difference as difference
from .configuration import distance as distance
from .configuration import integrate as integrate
from .configuration import interpolate as interpolate
from .configuration import neutral as neutral
from .configuration import random_configuration as random_configuration
from .joints import JOINTS as JOINTS
from .joints import JointType as JointType
from .model import GRAVITY as GRAVITY
from .model import Body as Body
from .model import Finding as Finding
from .model import Frame as Frame
from .model import Joint as Joint
from .model import Link as Link
from .model import Mimic as Mimic
from .model import Robot as Robot
from .model import Visual as Visual
from .model import Where as Where
