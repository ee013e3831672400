"""`load`: a robot from a file of any format that is supported."""

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
    """The robot of a model: URDF or MJCF.

    `path` names a file, "~" being the home folder, or is the text of a model: a str that begins with "<". `base`:
    "fixed" or "free" (a joint of six degrees of freedom before the root); None is "fixed" for URDF, and what the file
    says for MJCF. `package_dirs`: folders that are packages or have them inside, for meshes named by `package://`;
    files that the model names must be in them or in the model's own package: the folder above it with a package.xml,
    else its folder, or the one above that if it is called urdf, mjcf or the like. A text has no package of its own; its
    names are relative to the current folder. Meshes of a URDF are not opened: those elsewhere are findings, and
    `mesh_file` refuses them. `gravity` (3,) [m/s²]; None is (0, 0, -9.81), or what an MJCF file says. `limits`: a
    factor of the limits on bytes, elements and meshes, which keep hostile models from taking all time and memory.

    `robot.findings` tells every default that was filled in and what was not understood; `check(robot)` shows it. What
    is no robot is a `ModelError` that names file, line and element.

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
