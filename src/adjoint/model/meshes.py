"""Where the mesh files are that a model names, by `package://`, by `file://` or by paths, and whether it may read them.

A model is data of unknown origin. It may name files of its own package, of other packages around it, and below the
folders that the user gives; a file elsewhere is refused. These folders are packages:

- The model's own package is the folder above it that has a package.xml. Without one, it is the model's folder, or the
  folder above this one if it is called urdf, mjcf or the like.
- Folders around the model's are packages if they have a package.xml. A folder above the model without package.xml is
  also one, if it has the name that the model asks for.
- The user's home, the folders above it, `/` and the folders in `/` are never packages.

A model that is given as text has no package of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from itertools import chain, islice
from typing import NamedTuple

from ..errors import ArgumentError, ModelError
from .parts import Visual

__all__ = ["Meshes", "Place", "mesh_file"]

_PACKAGE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_SHOWN = 6  # a message names at most this many folders
_LEVELS = 3  # other packages are looked for in the model's folder and this many above it
_MODEL_FOLDERS = {"urdf", "xml", "mjcf", "robots", "model", "models"}  # folders inside a package, beside its meshes


class Place(NamedTuple):
    """Where a mesh is: its path, or the name it has in the model if it was not found, and what is wrong with it."""

    path: str
    fault: str = ""  # why it cannot be opened
    outside: bool = False  # whether it is in a folder that the model may not read from; see `Meshes.remedy`
    note: str = ""  # what users should know about a mesh that can be opened


def mesh_file(visual: Visual) -> str:
    """Return the path of a visual's mesh file, to open it; `ModelError` if it was not found or must not be opened.

        for visual in robot.visuals:
            if visual.shape == "mesh":
                path = mesh_file(visual)

    Use it instead of `visual.mesh`: a model may name any file on the disk, and only those in its own package or below
    the `package_dirs` of `load` may be opened.
    """
    if visual.mesh is None or visual.fault:
        raise ModelError(f"frame '{visual.frame}': mesh '{visual.mesh}' {visual.fault or 'has no file'}")
    return visual.mesh


class Meshes:
    """The mesh files of one model; the disk is asked once for each package and folder.

    `file` is the path of the model, or None if the model is given as text: then paths are relative to the current
    folder.
    """

    def __init__(self, file: str | None, package_dirs: str | os.PathLike | Iterable[str | os.PathLike] = ()):
        if isinstance(package_dirs, str | os.PathLike):
            package_dirs = [package_dirs]
        try:
            self._given = [os.path.abspath(os.path.expanduser(folder)) for folder in package_dirs]
        except TypeError:
            raise ArgumentError(f"package_dirs must be a list of paths, got {package_dirs!r}") from None
        self._is_text, self._file = file is None, os.path.abspath(file or "text")
        self._folder = os.path.dirname(self._file)
        self._packages: dict[str, str | None] = {}
        self._listings: dict[str, set[str]] = {}
        self._own: str | None = None
        self._found: dict[str, Place] = {}

    def find(self, uri: str) -> Place:
        """Return the place of a mesh that the model names `uri`."""
        if uri not in self._found:  # many meshes are named twice, to draw and to collide with
            self._found[uri] = self._find(uri)
        return self._found[uri]

    def outside(self, path: str) -> str | None:
        """Return the path of a file that is going to be opened if it is outside of the folders to read from, or None.

        If links lead outside, it is the path they lead to.
        """
        if self._is_outside(os.path.abspath(path)):
            return os.path.abspath(path)
        real = os.path.realpath(path)
        roots = [
            *map(os.path.realpath, self._roots()),
            *([] if self._is_text else [_own(os.path.realpath(self._file))]),
        ]
        return None if any(_below(real, root) for root in roots) else real

    def remedy(self, paths: Collection[str]) -> str:
        """Return what a message says about files that are outside, after naming one: which folders would allow all."""
        folders = _outermost({os.path.dirname(path) for path in paths})
        common = _common([*folders, *([] if self._is_text else [self._root()])])
        if common is not None and _may_be_package(common):
            folders = [common]
        place = "in none of package_dirs" if self._is_text else f"outside of {self._root()}"
        others = {1: "", 2: ", as is 1 other file"}.get(len(paths), f", as are {len(paths) - 1} other files")
        more = f" and {len(folders) - _SHOWN} more folders" if len(folders) > _SHOWN else ""
        return f"{place}{others}; to allow it, load with package_dirs={folders[:_SHOWN]}{more}"

    def _find(self, uri: str) -> Place:
        scheme, mark, rest = uri.partition("://")
        if "$" in uri and ("$(" in uri or "${" in uri):
            return Place(uri, "has an expression of xacro in its name, which must be expanded first")
        if not mark or scheme == "file":
            return self._at(rest if mark else uri)
        if scheme in ("package", "model"):
            return self._in_package(rest)
        if scheme in ("http", "https"):
            return Place(uri, "is on the network; meshes are never fetched")
        return Place(uri, f"has the unknown scheme '{scheme}://'; there are package://, model:// and file://")

    def _in_package(self, path: str) -> Place:
        """Return the place of the file `path`, which begins with the name of a package."""
        name, _, rest = path.lstrip("/").partition("/")  # some models write package:///name/...
        if name not in self._packages:
            if not _PACKAGE_NAME.fullmatch(name):
                return Place(f"package://{path}", f"has the package name '{name}', which is none")
            self._packages[name] = _named(name, self._given) or self._around(name) or _named(name, _ros_folders())
        root, note = self._packages[name], ""
        if root is None:
            root, note = self._above_by_name(name, rest), f"is in a folder '{name}' without package.xml above the model"
        if root is None:
            fault = f"is in package '{name}', which was not found; give its folder in package_dirs"
            return Place(f"package://{path}", fault)
        found = f"{root}/{rest}"
        if ".." in rest:
            found = os.path.normpath(found)
            if not _below(found, root):
                return Place(found, outside=True)
        return self._existing(found)._replace(note=note) if note else self._existing(found)

    def _around(self, name: str) -> str | None:
        """Return the package of this name above the model, or beside the model's folder or those above it."""
        above = (folder for folder in _above(self._folder) if os.path.basename(folder) == name)
        beside = (os.path.join(folder, name) for folder in islice(_above(self._folder), _LEVELS + 1))
        return next(filter(self._is_package, chain(above, beside)), None)

    def _above_by_name(self, name: str, rest: str) -> str | None:
        """Return the folder above the model that has the package's name and contains the file, or None."""
        named = (folder for folder in _above(self._folder) if os.path.basename(folder) == name)
        has = (folder for folder in named if _may_be_package(folder) and os.path.isfile(os.path.join(folder, rest)))
        return None if self._is_text else next(has, None)

    def _is_package(self, folder: str) -> bool:
        """Return whether a folder has a package.xml or is inside of the model's own package.

        Collections of robots have packages without package.xml inside.
        """
        if self._is_text:
            return False
        return _has_manifest(folder) or (_below(folder, self._root()) and os.path.isdir(folder))

    def _root(self) -> str:
        """Return the folder of the model's own package."""
        self._own = self._own or _own(self._file)
        return self._own

    def _roots(self) -> list[str]:
        """Return the folders that the model may read from: its own package, if it has one, and those of the user."""
        return self._given if self._is_text else [self._root(), *self._given]

    def _is_outside(self, path: str) -> bool:
        return not any(_below(path, root) for root in self._roots())

    def _at(self, path: str) -> Place:
        """Return the place of a path, which is relative to the model's folder."""
        found = os.path.normpath(os.path.join(self._folder, path))
        if self._is_outside(found) and (".." in path or os.path.lexists(found)):
            return Place(found, outside=True)
        return self._existing(found)

    def _existing(self, path: str) -> Place:
        """Return the place of a path, with a fault if there is no such file."""
        folder, _, name = path.rpartition("/")
        if folder not in self._listings:
            try:
                self._listings[folder] = set(os.listdir(folder))
            except (OSError, ValueError):
                self._listings[folder] = set()
        return Place(path, "" if name in self._listings[folder] else "does not exist")


def _above(folder: str) -> Iterable[str]:
    """Yield the folder and those above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that are not inside others, in order."""
    kept: list[str] = []
    for folder in sorted(folders, key=lambda x: x.split(os.sep)):  # so folders inside a folder follow it
        if not kept or not _below(folder, kept[-1]):
            kept.append(folder)
    return kept


def _common(folders: list[str]) -> str | None:
    """Return the folder that all are in, or None if they are on different drives."""
    try:
        return os.path.commonpath(folders)
    except ValueError:
        return None


def _named(name: str, folders: list[str]) -> str | None:
    """Return the folder of that name among `folders` or inside one of them, or None."""
    for folder in folders:
        if os.path.basename(folder) == name:
            return folder
    inside = (os.path.join(folder, name) for folder in folders)
    return next(filter(os.path.isdir, inside), None)


def _ros_folders() -> list[str]:
    return list(filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)))


def _own(file: str) -> str:
    """Return the folder of the package that a model file belongs to, as the head of this file explains."""
    folder = os.path.dirname(file)
    parent = os.path.dirname(folder)
    if os.path.basename(folder) in _MODEL_FOLDERS and _may_be_package(parent):
        default = parent
    else:
        default = folder
    return next(filter(_has_manifest, _above(folder)), default)


def _has_manifest(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "package.xml")) and _may_be_package(folder)


def _may_be_package(folder: str) -> bool:
    """Return whether a folder may be a package: it is not `/`, not directly in `/`, and not the home or above it."""
    above = os.path.dirname(folder)
    return os.path.dirname(above) != above and not _below(os.path.expanduser("~"), folder)
