"""The disk cache of machine code: one file an entry, checked before a byte of it is run.

A file holds a magic line, the SHA-256 of all that follows, a JSON header and raw object code; nothing is unpickled.
An entry is used only if the file and its folder belong to this user and nobody else can write them, and if size,
checksum and key agree; anything else is compiled again. The folder is `ADJOINT_CACHE` or the user's cache folder.
Writing is atomic, so processes may race; a full or read-only disk costs only the caching.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["CacheInfo", "Entry", "cache_info", "clear_cache", "key", "read", "write"]

_MAGIC = b"adjoint object cache 1\n"
_SUFFIX = ".ajo"
_counts = {"hits": 0, "misses": 0, "writes": 0}


class Entry(NamedTuple):
    """Object code and what is needed to call it."""

    header: dict
    code: bytes


class CacheInfo(NamedTuple):
    """What `cache_info` returns: where the cache is, what it holds, and how this process used it."""

    path: str
    entries: int
    bytes: int
    hits: int
    misses: int
    writes: int


def _folder() -> Path:
    chosen = os.environ.get("ADJOINT_CACHE")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("adjoint", appauthor=False))


@functools.cache
def library_sources() -> str:
    """A hash of every source file of this library: code compiled by another version is never found."""
    h = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        h.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return h.hexdigest()


@functools.cache
def _environment() -> str:
    from . import jit

    return repr((library_sources(), jit.host(), np.__version__))


def key(*parts) -> str:
    """The name of an entry: everything its machine code depends on."""
    return hashlib.sha256(repr((_environment(), parts)).encode()).hexdigest()


def _private(s: os.stat_result) -> bool:
    """Whether only this user can write what has this status."""
    if not hasattr(os, "getuid"):
        return True  # Windows: the user's profile folder is private
    return s.st_uid == os.getuid() and not s.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(s.st_mode)


def read(name: str) -> Entry | None:
    """The entry of this name, or None if there is none that can be trusted whole."""
    path = _folder() / (name + _SUFFIX)
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb") as f:
            if not (_private(os.fstat(f.fileno())) and _private(os.lstat(path.parent))):
                raise ValueError("others can write it")
            data = f.read()
        magic, checksum, body = data[: len(_MAGIC)], data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
        if magic != _MAGIC or hashlib.sha256(body).digest() != checksum:
            raise ValueError("damaged")
        size = int.from_bytes(body[:8], "little")
        header = json.loads(body[8 : 8 + size])
        if header.pop("key") != name:
            raise ValueError("another entry's contents")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        _counts["misses"] += 1
        return None
    _counts["hits"] += 1
    return Entry(header, body[8 + size :])


def write(name: str, entry: Entry) -> None:
    """Store an entry; whatever the disk says, the program goes on."""
    header = json.dumps({**entry.header, "key": name}).encode()
    body = len(header).to_bytes(8, "little") + header + entry.code
    folder = _folder()
    temporary = None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _private(os.lstat(folder)):
            return  # what others can write would never be read
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")  # created with mode 0600
        with os.fdopen(handle, "wb") as f:
            f.write(_MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(temporary, folder / (name + _SUFFIX))
        _counts["writes"] += 1
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _files() -> list[Path]:
    try:
        return [p for p in _folder().iterdir() if p.suffix == _SUFFIX]
    except OSError:
        return []


def cache_info() -> CacheInfo:
    """Where compiled kernels are kept on disk, how many there are, and how often this process found one."""
    sizes = []
    for p in _files():
        with contextlib.suppress(OSError):
            sizes.append(p.stat().st_size)
    return CacheInfo(str(_folder()), len(sizes), sum(sizes), **_counts)


def clear_cache() -> int:
    """Delete every cached kernel from disk; returns how many. Kernels already loaded go on working."""
    removed = 0
    for p in _files():
        with contextlib.suppress(OSError):
            p.unlink()
            removed += 1
    return removed
