"""The disk cache of machine code: one file for each entry, checked before a byte of it is run.

A file holds a magic line, the SHA-256 of all that follows, a JSON header and raw object code; nothing is unpickled. An
entry is used only if the file and its folder belong to this user and nobody else can write them, and if size, checksum
and key agree; otherwise the code is compiled again. The folder is opened first and checked by its handle, and all files
are named relative to that handle, so it does not matter who could rename the folders above it. Where files have no
owner that can be asked for (Windows), only folders inside the user's profile are trusted.

The folder is `ADJOINT_CACHE` or the user's cache folder. Its size stays below `ADJOINT_CACHE_SIZE`: entries that were
not used for the longest time are deleted first. Writing is atomic, so processes may race. If the disk is full or
read-only, nothing is cached, and the program goes on. `cache_info` tells whether the cache is disabled, and why.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...folders import LIBRARY
from . import library_state

__all__ = ["CacheInfo", "Entry", "cache_info", "clear_cache", "key", "read", "write"]

_MAGIC = b"adjoint object cache 1\n"
_SUFFIX = ".ajo"
_TEMPORARY = ".new-"
# A file that grows by a byte for every page written; a sweep, which looks at all files, deletes it.
_LEDGER = ".written"
_PAGE = 4096  # bytes
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_HOUR = 3600.0
_ABANDONED = _HOUR  # age in seconds of a temporary file whose process must be gone
_UNUSED = 90 * 24 * _HOUR  # age in seconds of an entry that nobody seems to want any more
_counts = {"hits": 0, "misses": 0, "writes": 0}
_last_failure: str | None = None


class Entry(NamedTuple):
    """Object code, and what is needed to call it."""

    header: dict
    code: bytes


class CacheInfo(NamedTuple):
    """What `cache_info` returns: where the cache is, what it holds, and how this process used it.

    `entries` files take `bytes` of at most about `limit` bytes. This process found an entry `hits` times, found none
    `misses` times and stored `writes`. `disabled` is None, or the reason why nothing is read or stored.
    """

    path: str
    entries: int
    bytes: int
    hits: int
    misses: int
    writes: int
    limit: int
    disabled: str | None


class _Refused(Exception):
    """The cache cannot be used; the message says why."""


# --- keys -------------------------------------------------------------------------------------------------------------


@functools.cache
def _source_files() -> list[str]:
    return sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(LIBRARY) for name in names if name.endswith(".py")
    )


@functools.cache
def library_sources() -> str:
    """A hash of every source file of this library: code that another version compiled is never found."""
    h = hashlib.sha256()
    for path in _source_files():
        with open(path, "rb", buffering=0) as f:
            h.update(path.removeprefix(LIBRARY).replace(os.sep, "/").encode() + b"\0" + f.readall() + b"\0")
    return h.hexdigest()


@functools.cache
def _environment() -> str:
    """All that every entry depends on: the library's files, the machine, and the version of NumPy."""
    from . import jit

    return repr((library_sources(), jit.host(), np.__version__))


def key(*parts) -> str:
    """Return the name of an entry: a hash of everything that its machine code depends on."""
    return hashlib.sha256(repr((_environment(), parts)).encode()).hexdigest()


def _require_sources() -> None:
    """Refuse if the hash of the library's files does not tell which code this process runs."""
    files = _source_files()
    if not files:
        raise _Refused("the library's source files cannot be found, so its version is unknown")
    edited = [path for path in files if library_state.is_edited(os.stat(path))]
    if edited:
        raise _Refused(f"{edited[0]} was changed after this process had loaded the library; start the process again")


@functools.cache
def _sources_at_first() -> str | None:
    """What was wrong with the library's files when the cache was used first; None if nothing was."""
    try:
        _require_sources()
    except (_Refused, OSError) as e:
        return str(e)
    return None


# --- the folder -------------------------------------------------------------------------------------------------------


def _path() -> str:
    """The cache folder, with links in its path resolved."""
    chosen = os.environ.get("ADJOINT_CACHE")
    if chosen:
        return os.path.realpath(os.path.expanduser(chosen))
    import platformdirs

    return os.path.realpath(platformdirs.user_cache_dir("adjoint", appauthor=False))


def _limit() -> int:
    """The most bytes that entries may take: ADJOINT_CACHE_SIZE, or one gibibyte."""
    chosen = os.environ.get("ADJOINT_CACHE_SIZE") or "1G"
    number, unit = chosen.strip().upper().removesuffix("B").removesuffix("I"), ""
    if number[-1:] in _UNITS:
        number, unit = number[:-1], number[-1:]
    try:
        size = float(number) * _UNITS[unit]
        if not 0 <= size < 2**63:
            raise ValueError
    except ValueError:
        raise ArgumentError(
            f"the environment variable ADJOINT_CACHE_SIZE is {chosen!r}; it must be a number of bytes, such as "
            "500M or 2G; 0 disables the cache"
        ) from None
    return int(size)


class _Folder(NamedTuple):
    """An open folder. Names are relative to its handle; where folders have no handles, whole paths are used."""

    path: str
    handle: int | None

    def _name(self, name: str) -> str:
        return name if self.handle is not None else os.path.join(self.path, name)

    def open(self, name: str, flags: int) -> int:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return os.open(self._name(name), flags | getattr(os, "O_CLOEXEC", 0), 0o600, dir_fd=self.handle)

    def status(self, name: str) -> os.stat_result:
        return os.stat(self._name(name), dir_fd=self.handle, follow_symlinks=False)

    def replace(self, old: str, new: str) -> None:
        os.replace(self._name(old), self._name(new), src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def remove(self, name: str) -> bool:
        """Delete a file; returns whether it was there, for another process may have been faster."""
        try:
            os.unlink(self._name(name), dir_fd=self.handle)
        except OSError:
            return False
        return True

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the names of the regular files in the folder, and their status."""
        for name in os.listdir(self.path if self.handle is None else self.handle):
            with contextlib.suppress(OSError):
                status = self.status(name)
                if stat.S_ISREG(status.st_mode):
                    yield name, status


@contextlib.contextmanager
def _opened(create: bool = False) -> Iterator[_Folder]:
    """Open the cache folder, if it is safe."""
    path = _path()
    if create:
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.open not in os.supports_dir_fd:
        _require_private(os.lstat(path), path)
        yield _Folder(path, None)
        return
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0))
    try:
        _require_private(os.fstat(handle), path)
        yield _Folder(path, handle)
    finally:
        os.close(handle)


def _require_private(s: os.stat_result, path: str) -> None:
    """Refuse a folder, or a file, that somebody else could have written."""
    if not hasattr(os, "getuid"):
        home = os.path.realpath(os.path.expanduser("~"))
        if not os.path.normcase(path).startswith(os.path.normcase(home) + os.sep):
            raise _Refused(f"files have no owner here, and {path} is not inside your profile folder {home}")
    elif s.st_uid != os.getuid():
        raise _Refused(f"{path} belongs to another user")
    elif s.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _Refused(f"others can write {path}; use chmod go-w")


def _require_enabled() -> None:
    """Refuse if the cache is disabled."""
    if _limit() == 0:
        raise _Refused("ADJOINT_CACHE_SIZE is 0")
    if (trouble := _sources_at_first()) is not None:
        raise _Refused(trouble)


# --- entries ----------------------------------------------------------------------------------------------------------


def read(name: str) -> Entry | None:
    """Return the entry of this name, or None if there is none that can be trusted."""
    try:
        _require_enabled()
        with _opened() as folder:
            data = _contents(folder, name + _SUFFIX)
        magic, checksum, body = data[: len(_MAGIC)], data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
        if magic != _MAGIC or hashlib.sha256(body).digest() != checksum:
            raise ValueError("damaged")
        size = int.from_bytes(body[:8], "little")
        header = json.loads(body[8 : 8 + size])
        if header.pop("key") != name:
            raise ValueError("another entry's contents")
    except (OSError, _Refused, ValueError, KeyError, TypeError, AttributeError):
        _counts["misses"] += 1
        return None
    _counts["hits"] += 1
    return Entry(header, body[8 + size :])


def _contents(folder: _Folder, name: str) -> bytes:
    """Return what a regular file of this user holds.

    Nothing else is opened: a pipe would never end, a device may act.
    """
    if not stat.S_ISREG(folder.status(name).st_mode):
        raise ValueError("not a regular file")
    with open(folder.open(name, os.O_RDONLY), "rb") as f:
        s = os.fstat(f.fileno())
        if not stat.S_ISREG(s.st_mode) or s.st_size > _limit():
            raise ValueError("not an entry")
        _require_private(s, os.path.join(folder.path, name))
        data = f.read(s.st_size)
        # The file's time is that of its last use, by which entries are deleted.
        if abs(time.time() - s.st_mtime) > _HOUR:
            with contextlib.suppress(OSError):
                os.utime(f.fileno() if os.utime in os.supports_fd else os.path.join(folder.path, name))
    return data


def write(name: str, entry: Entry) -> None:
    """Store an entry; if the disk refuses, the program goes on."""
    global _last_failure
    header = json.dumps({**entry.header, "key": name}).encode()
    body = len(header).to_bytes(8, "little") + header + entry.code
    try:
        _require_enabled()
        _require_sources()
        with _opened(create=True) as folder:
            _store(folder, name + _SUFFIX, _MAGIC + hashlib.sha256(body).digest() + body)
            if _is_sweep_due(folder, len(body)):
                _sweep(folder)
        _last_failure = None
    except _Refused:
        pass  # `cache_info` says why
    except OSError as e:
        _last_failure = f"the last entry could not be stored: {e}"


def _store(folder: _Folder, name: str, data: bytes) -> None:
    """Write a file under a temporary name, and then give it its name."""
    if len(data) > _limit():
        raise OSError(errno.EFBIG, f"it takes {len(data)} bytes, more than ADJOINT_CACHE_SIZE")
    temporary = _TEMPORARY + os.urandom(8).hex()
    try:
        with open(folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as f:
            f.write(data)
        folder.replace(temporary, name)
    except BaseException:
        folder.remove(temporary)
        raise
    _counts["writes"] += 1


# --- size -------------------------------------------------------------------------------------------------------------


def _is_sweep_due(folder: _Folder, size: int) -> bool:
    """Return whether all processes have written a 64th of the limit since the last sweep, which takes time.

    Every process appends to one small file, whose length counts the pages written. If it is missing, a sweep is due:
    the size of the cache is not known.
    """
    try:
        handle = folder.open(_LEDGER, os.O_WRONLY | os.O_APPEND)
    except OSError:
        return True
    with open(handle, "ab") as f:
        f.write(bytes(-(-size // _PAGE)))
        f.flush()
        return os.fstat(handle).st_size * _PAGE > _limit() // 64


def _sweep(folder: _Folder) -> None:
    """Delete files of processes that were killed, entries not used for long, and the oldest of too many entries."""
    folder.remove(_LEDGER)
    now, entries = time.time(), []
    for name, s in folder.files():
        age = now - s.st_mtime
        if name.startswith(_TEMPORARY) and age > _ABANDONED:
            folder.remove(name)
        elif name.endswith(_SUFFIX):
            entries.append((age, s.st_size, name))
    size, limit = sum(e[1] for e in entries), _limit()
    # Leave room for what is written until the next sweep.
    goal = limit - limit // 8 if size > limit - limit // 32 else size
    for age, own, name in sorted(entries, reverse=True):
        if age > _UNUSED or size > goal:
            size -= own
            folder.remove(name)
    with contextlib.suppress(OSError):
        os.close(folder.open(_LEDGER, os.O_WRONLY | os.O_CREAT))


def cache_info() -> CacheInfo:
    """Return where compiled kernels are kept on disk, how many there are, and how often this process found one.

    >>> cache_info().disabled is None  # otherwise it is the reason, such as "/tmp/cache belongs to another user"
    True
    """
    disabled, sizes = _last_failure, []
    for look in (_sizes, _require_enabled, _require_sources):
        try:
            sizes = look() or sizes
        except FileNotFoundError:
            pass  # the first entry makes the folder
        except (OSError, _Refused) as e:
            disabled = str(e)
    return CacheInfo(_path(), len(sizes), sum(sizes), **_counts, limit=_limit(), disabled=disabled)


def _sizes() -> list[int]:
    """The sizes of all entries, in bytes."""
    with _opened() as folder:
        return [s.st_size for name, s in folder.files() if name.endswith(_SUFFIX)]


def clear_cache() -> int:
    """Delete every cached kernel from disk; returns how many there were.

        removed = aj.clear_cache()

    Kernels that are loaded already go on working.
    """
    try:
        with _opened() as folder:
            names = [name for name, _ in folder.files()]
            for name in names:
                if name == _LEDGER or name.startswith(_TEMPORARY):
                    folder.remove(name)
            return sum(folder.remove(name) for name in names if name.endswith(_SUFFIX))
    except (OSError, _Refused):
        return 0
