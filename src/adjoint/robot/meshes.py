"""Where the mesh files are that a model names: `package://`, `file://`, and paths, inside the folders it may read from.

A model is data of unknown origin: it may name files of its own package, of other packages around it, and below the
folders the user gives; a file elsewhere is refused. Its own package is the folder above it with a package.xml; without
one, the model's folder, or the one above if the model is in a folder called urdf, mjcf or the like. Folders around it
are packages if they have a package.xml. The user's home, `/` and the folders in it are nobody's package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import chain, islice

from ..errors import ArgumentError

__all__ = ["Meshes", "OutsideError"]

_PACKAGE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LEVELS = 3  # folders above the model's in which packages beside its own are looked for
_MODEL_FOLDERS = {"urdf", "xml", "mjcf", "robots", "model", "models"}  # inside a package, beside its meshes


class OutsideError(ValueError):
    """A mesh path leaves the folders the model may read from."""


class Meshes:
    """Finds the mesh files of one model; asks the disk once for each package and folder."""

    def __init__(self, file: str, package_dirs: str | os.PathLike | Iterable[str | os.PathLike] = ()):
        if isinstance(package_dirs, str | os.PathLike):
            package_dirs = [package_dirs]
        try:
            self._given = [os.path.abspath(os.path.expanduser(folder)) for folder in package_dirs]
        except TypeError:
            raise ArgumentError(f"package_dirs must be a list of paths, got {package_dirs!r}") from None
        self._file = os.path.abspath(file)
        self._folder = os.path.dirname(self._file)
        self._packages: dict[str, str | None] = {}
        self._listings: dict[str, set[str]] = {}
        self._own: str | None = None
        self._found: dict[str, tuple[str, str]] = {}

    def find(self, uri: str) -> tuple[str, str]:
        """(path, what is wrong with it, if anything); a mesh that cannot be found keeps the name it has."""
        if uri not in self._found:  # what is seen is often what collides
            self._found[uri] = self._find(uri)
        return self._found[uri]

    def check_opened(self, path: str) -> None:
        """Refuse a file that is going to be opened: its name and, through links, its place must both be inside."""
        self._at(path)
        real = os.path.realpath(path)
        roots = [*(os.path.realpath(root) for root in (self._root(), *self._given)), _own(os.path.realpath(self._file))]
        if not any(_below(real, root) for root in roots):
            raise OutsideError(f"is a link to {real}, {self._outside(real)}")

    def _find(self, uri: str) -> tuple[str, str]:
        scheme, mark, rest = uri.partition("://")
        if not mark or scheme == "file":
            return self._existing(self._at(rest if mark else uri))
        if scheme in ("package", "model"):
            return self._in_package(rest)
        if scheme in ("http", "https"):
            return uri, "is on the network; meshes are never fetched"
        return uri, f"has the unknown scheme '{scheme}://'; there are package://, model:// and file://"

    def _in_package(self, path: str) -> tuple[str, str]:
        name, _, rest = path.lstrip("/").partition("/")  # package:///name/... is seen, too
        if name not in self._packages:
            self._packages[name] = self._package(name)
        root = self._packages[name]
        if root is None:
            return f"package://{path}", f"is in package '{name}', which was not found; give its folder in package_dirs"
        found = f"{root}/{rest}"
        if ".." in rest:
            found = os.path.normpath(found)
            if not _below(found, root):
                raise OutsideError(f"leaves its package {root}")
        return self._existing(found)

    def _package(self, name: str) -> str | None:
        """The folder of a package: one given, or above the model, that has its name; or one of its name inside them."""
        if not _PACKAGE_NAME.fullmatch(name):
            raise OutsideError(f"has the package name '{name}', which is none")
        return _named(name, self._given) or self._around(name) or _named(name, _ros_folders())

    def _around(self, name: str) -> str | None:
        above = (folder for folder in _above(self._folder) if os.path.basename(folder) == name)
        beside = (os.path.join(folder, name) for folder in islice(_above(self._folder), _LEVELS + 1))
        return next(filter(self._is_package, chain(above, beside)), None)

    def _is_package(self, folder: str) -> bool:
        """Whether a folder has a package.xml, or is one of the model's own package, as in collections of robots."""
        return _has_manifest(folder) or (_below(folder, self._root()) and os.path.isdir(folder))

    def _root(self) -> str:
        self._own = self._own or _own(self._file)
        return self._own

    def _at(self, path: str) -> str:
        """A path, relative to the model's folder: below a folder the model may read from, or of no file at all."""
        found = os.path.normpath(os.path.join(self._folder, path))
        inside = any(_below(found, root) for root in (self._root(), *self._given))
        if not inside and (".." in path or os.path.lexists(found)):
            raise OutsideError(f"is {self._outside(found)}")
        return found

    def _outside(self, path: str) -> str:
        remedy = f"to allow it, load with package_dirs=['{os.path.dirname(path)}'], or a folder above that"
        return f"outside of {self._root()}; {remedy}"

    def _existing(self, path: str) -> tuple[str, str]:
        folder, _, name = path.rpartition("/")
        if folder not in self._listings:
            try:
                self._listings[folder] = set(os.listdir(folder))
            except (OSError, ValueError):
                self._listings[folder] = set()
        return path, "" if name in self._listings[folder] else "does not exist"


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
    return os.path.dirname(above) != above and folder != os.path.expanduser("~")
