"""Where the mesh files are that a model names: `package://`, `file://`, and paths, inside the folders it may read from.

A model is data of unknown origin: it may name files of its own package, of packages beside it, and below the folders
the user gives; a file elsewhere is refused. Names are compared, links of the file system are not followed: they are
the user's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ..errors import ArgumentError

__all__ = ["Meshes", "OutsideError"]

_PACKAGE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LEVELS = 3  # folders above the model's in which packages beside its own are looked for


class OutsideError(ValueError):
    """A mesh path leaves the folders the model may read from."""


class Meshes:
    """Finds the mesh files of one model; asks the disk once for each package and folder."""

    def __init__(self, file: str, package_dirs: str | os.PathLike | Iterable[str | os.PathLike] = ()):
        if isinstance(package_dirs, str | os.PathLike):
            package_dirs = [package_dirs]
        try:
            self._given = [os.path.abspath(folder) for folder in package_dirs]
        except TypeError:
            raise ArgumentError(f"package_dirs must be a list of paths, got {package_dirs!r}") from None
        self._folder = os.path.dirname(os.path.abspath(file))
        self._packages: dict[str, str | None] = {}
        self._listings: dict[str, set[str]] = {}
        self._roots: list[str] = []
        self._found: dict[str, tuple[str, str]] = {}

    def find(self, uri: str) -> tuple[str, str]:
        """(path, what is wrong with it, if anything); a mesh that cannot be found keeps the name it has."""
        if uri not in self._found:  # what is seen is often what collides
            self._found[uri] = self._find(uri)
        return self._found[uri]

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
        above = list(_above(self._folder))
        beside = [folder for folder in above[: _LEVELS + 1] if os.path.dirname(folder) != folder]
        ros = list(filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)))
        for folders, parents in ((self._given, self._given), (above, beside), (ros, ros)):
            for folder in folders:
                if os.path.basename(folder) == name:
                    return folder
            for folder in parents:
                if os.path.isdir(os.path.join(folder, name)):
                    return os.path.join(folder, name)
        return None

    def _at(self, path: str) -> str:
        """A path, relative to the model's folder: below a folder the model may read from, or of no file at all."""
        found = os.path.normpath(os.path.join(self._folder, path))
        self._roots = self._roots or [self._own_package(), *self._given]
        if not any(_below(found, root) for root in self._roots) and (".." in path or os.path.lexists(found)):
            raise OutsideError(f"is outside of {self._roots[0]}; give a folder above it in package_dirs to allow it")
        return found

    def _own_package(self) -> str:
        """The folder above the model with a package.xml; else the one above its own, as in `x_description/urdf/`."""
        for folder in _above(self._folder):
            if os.path.isfile(os.path.join(folder, "package.xml")):
                return folder
        parent = os.path.dirname(self._folder)
        return self._folder if os.path.dirname(parent) == parent else parent

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
