"""Files that appear whole or not at all, and archives of arrays that are read without trust."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from .errors import ArgumentError

__all__ = ["read_npz", "whole_file"]


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Gives the path of a file to write, which takes the place of `path` at the end; after an error nothing is left."""
    if path.is_dir():
        raise ArgumentError(f"'{path}' is a folder; the name of a file is needed")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_npz(path: Path, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an archive that `np.savez` wrote: those of these names that it has, or all.

    Nothing is unpacked or unpickled: an array takes no more memory than the file has. Arrays are of float64.
    """
    found = {}
    with _errors_of(path), zipfile.ZipFile(path) as archive:
        there = [entry.removesuffix(".npy") for entry in archive.namelist()]
        for name in there if names is None else [name for name in names if name in there]:
            entry = archive.getinfo(f"{name}.npy")
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > path.stat().st_size:
                raise ArgumentError(f"{path}: '{name}' is compressed; np.savez does not compress")
            with archive.open(entry) as file:
                found[name] = _read_npy(file, entry.file_size, f"{path}: '{name}'")
    return found


@contextlib.contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turns errors about the contents of an archive into an `ArgumentError` that names it."""
    try:
        yield
    except ArgumentError:
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:  # it is about a place that the file cannot have
            raise
        raise ArgumentError(f"{path}: a damaged file: {error}") from None
    except (zipfile.BadZipFile, struct.error, NotImplementedError, OverflowError, EOFError) as error:
        raise ArgumentError(f"{path}: not a .npz file, or a damaged one: {error}") from None
    except (ValueError, KeyError, RuntimeError) as error:
        raise ArgumentError(f"{path}: not an archive of arrays: {error}") from None


def _read_npy(file, size: int, label: str) -> np.ndarray:
    """The array of a .npy file that has `size` bytes."""
    form = np.lib.format
    version = form.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ArgumentError(f"{label} has version {version} of the format .npy; it must be 1.0 or 2.0")
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if dtype.kind != "f" or dtype.itemsize != 8:
        raise ArgumentError(f"{label} has dtype {dtype}; it must be float64")
    count = 1
    for length in shape:
        count *= length  # of Python's own numbers, which do not overflow
    if min(shape, default=0) < 0 or 8 * count != size - file.tell():
        raise ArgumentError(f"{label} has shape {shape}, but {size - file.tell()} bytes of numbers")
    x = np.frombuffer(file.read(8 * count), dtype)
    return x.reshape(shape, order="F" if fortran else "C").astype(float)
