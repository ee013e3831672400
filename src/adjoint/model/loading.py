"""`load`: read a robot from a file of any format that is supported."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from ..errors import ArgumentError, ModelError
from . import xml_files
from .parts import GRAVITY
from .robot import Robot

__all__ = ["load"]

SUPPORTED = "URDF (.urdf, or .xml with <robot>) and MJCF (.mjcf, or .xml with <mujoco>)"


def load(
    path: str | os.PathLike,
    base: str | None = None,
    package_dirs: Iterable[str | os.PathLike] = (),
    gravity: Sequence[float] | None = None,
    limits: float = 1,
) -> Robot:
    """Return the robot that a URDF or MJCF model describes.

        robot = load("arm.urdf")
        humanoid = load("humanoid.urdf", base="free", package_dirs=["~/ros/src"])

    - `path` names a file ("~" is the home folder), or is the text of a model: a str that begins with "<".
    - `base` is "fixed", or "free" for a joint of six degrees of freedom between the base and the root link. None means
      "fixed" for URDF, and what the file says for MJCF.
    - `package_dirs` are folders that are packages, or that contain packages, for meshes named by `package://`.
    - `gravity` (3,) [m/s²] is (0, 0, -9.81) by default, or what an MJCF file says.
    - `limits` is multiplied into the limits on bytes, elements and meshes, which keep hostile models from taking all
      time and memory.

    Files that the model names must be below `package_dirs` or in the model's own package: the folder above it that has
    a package.xml, else the model's folder, or the folder above this one if it is called urdf, mjcf or the like. A model
    given as text has no package of its own, and its file names are relative to the current folder. Meshes of a URDF are
    not opened; findings name those that are elsewhere, and `mesh_file` refuses them.

    `robot.findings` lists every default that was filled in and everything that was not understood; `check(robot)` shows
    it. A `ModelError` names file, line and element of what cannot be a robot.

    >>> load('<robot name="r"><link name="a"/></robot>').base_name
    'a'
    """
    if not isinstance(limits, int | float) or not 1 <= limits < math.inf:
        raise ArgumentError(f"limits is {limits!r}; it must be a number of 1 or more, by which limits are multiplied")
    file = os.fspath(path) if isinstance(path, os.PathLike) else path
    if isinstance(file, str) and not xml_files.is_text(file) and os.path.splitext(file)[1].lower() == ".xacro":
        robot = PurePath(file).stem.removesuffix(".urdf")
        raise ModelError(f"{file}: xacro must be expanded first: xacro {file} > {robot}.urdf")
    document = xml_files.read(path, limits)
    tag = document.root.tag
    if tag == "robot":
        from . import urdf

        return urdf.read(document, base or "fixed", package_dirs, GRAVITY if gravity is None else gravity)
    if tag == "mujoco":
        from . import mjcf

        return mjcf.read(document, base, package_dirs, gravity, limits)
    raise ModelError(f"{document.where(document.root)}: <{tag}> is no robot model; there are {SUPPORTED}")
