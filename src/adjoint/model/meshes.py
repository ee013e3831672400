"""Where the mesh files are that a model names: `package://`, `file://`, and paths, inside the folders it may read from.

A model is data of unknown origin: it may name files of its own package, of other packages around it, and below the
folders the user gives; a file elsewhere is refused. Its own package is the folder above it with a package.xml; without
one, the model's folder, or the one above if the model is in a folder called urdf, mjcf or the like. Folders around it
are packages if they have a package.xml; those above it, if they have the name that the model asks for. The user's home
and what is above it, `/` and the folders in it are nobody's package. A model that is given as text has none of its own.
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
_SHOWN = 6  # folders that a message names
_LEVELS = 3  # folders above the model's in which packages beside its own are looked for
_MODEL_FOLDERS = {"urdf", "xml", "mjcf", "robots", "model", "models"}  # inside a package, beside its meshes


class Place(NamedTuple):
    """Where a mesh is, as far as it is known: its path, or the name it has in the model, and what is wrong with it."""

    path: str
    fault: str = ""  # "" if it can be opened
    outside: bool = False  # the model may not read from there; see `Meshes.remedy`
    note: str = ""  # what is good to know about a mesh that can be opened


def mesh_file(visual: Visual) -> str:
    """The path of a visual's mesh, for those who open it; `ModelError` if it was not found, or must not be opened."""
    if visual.mesh is None or visual.fault:
        raise ModelError(f"frame '{visual.frame}': mesh '{visual.mesh}' {visual.fault or 'has no file'}")
    return visual.mesh


class Meshes:
    """Finds the mesh files of one model; asks the disk once for each package and folder.

    `file` is the path of the model, None if it is given as text: then names are relative to the current folder.
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
        """The place of a mesh; one that cannot be found keeps the name it has."""
        if uri not in self._found:  # what is seen is often what collides
            self._found[uri] = self._find(uri)
        return self._found[uri]

    def outside(self, path: str) -> str | None:
        """Of a file that is going to be opened, the path that is outside: its own, or through links its real place."""
        if self._is_outside(os.path.abspath(path)):
            return os.path.abspath(path)
        real = os.path.realpath(path)
        roots = [
            *map(os.path.realpath, self._roots()),
            *([] if self._is_text else [_own(os.path.realpath(self._file))]),
        ]
        return None if any(_below(real, root) for root in roots) else real

    def remedy(self, paths: Collection[str]) -> str:
        """What to say of different files outside, one of them named before: which folders would allow all of them."""
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
        name, _, rest = path.lstrip("/").partition("/")  # package:///name/... is seen, too
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
        above = (folder for folder in _above(self._folder) if os.path.basename(folder) == name)
        beside = (os.path.join(folder, name) for folder in islice(_above(self._folder), _LEVELS + 1))
        return next(filter(self._is_package, chain(above, beside)), None)

    def _above_by_name(self, name: str, rest: str) -> str | None:
        """The folder above the model that has the package's name and the file; it has no package.xml."""
        named = (folder for folder in _above(self._folder) if os.path.basename(folder) == name)
        has = (folder for folder in named if _may_be_package(folder) and os.path.isfile(os.path.join(folder, rest)))
        return None if self._is_text else next(has, None)

    def _is_package(self, folder: str) -> bool:
        """Whether a folder has a package.xml, or is one of the model's own package, as in collections of robots."""
        if self._is_text:
            return False
        return _has_manifest(folder) or (_below(folder, self._root()) and os.path.isdir(folder))

    def _root(self) -> str:
        self._own = self._own or _own(self._file)
        return self._own

    def _roots(self) -> list[str]:
        """The folders that the model may read from, its own package first, if it has one."""
        return self._given if self._is_text else [self._root(), *self._given]

    def _is_outside(self, path: str) -> bool:
        return not any(_below(path, root) for root in self._roots())

    def _at(self, path: str) -> Place:
        """The place of a path, relative to the model's folder."""
        found = os.path.normpath(os.path.join(self._folder, path))
        if self._is_outside(found) and (".." in path or os.path.lexists(found)):
            return Place(found, outside=True)
        return self._existing(found)

    def _existing(self, path: str) -> Place:
        folder, _, name = path.rpartition("/")
        if folder not in self._listings:
            try:
                self._listings[folder] = set(os.listdir(folder))
            except (OSError, ValueError):
                self._listings[folder] = set()
        return Place(path, "" if name in self._listings[folder] else "does not exist")


def _above(folder: str) -> Iterable[str]:
    """The folder and those above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _outermost(folders: Iterable[str]) -> list[str]:
    """Those that are not inside others, in order."""
    kept: list[str] = []
    for folder in sorted(folders, key=lambda x: x.split(os.sep)):  # what is inside a folder comes next after it
        if not kept or not _below(folder, kept[-1]):
            kept.append(folder)
    return kept


def _common(folders: list[str]) -> str | None:
    """The folder that all are in; None if they are on different drives."""
    try:
        return os.path.commonpath(folders)
    except ValueError:
        return None


def _named(name: str, folders: list[str]) -> str | None:
    """The folder of that name, among those given or inside one of them."""
    for folder in folders:
        if os.path.basename(folder) == name:
            return folder
    inside = (os.path.join(folder, name) for folder in folders)
    return next(filter(os.path.isdir, inside), None)


def _ros_folders() -> list[str]:
    return list(filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)))


def _own(file: str) -> str:
    """The folder of the package a model is in, see above."""
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
    above = os.path.dirname(folder)
    return os.path.dirname(above) != above and not _below(os.path.expanduser("~"), folder)
