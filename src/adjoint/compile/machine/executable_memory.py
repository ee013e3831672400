"""Memory for machine code: it is written first and executable afterwards, never both at once.

Some systems forbid that memory becomes executable after it was written (systemd's MemoryDenyWriteExecute, SELinux's
execmem, `PR_SET_MDWE`). On Linux the code then goes to a file in memory (memfd), which is mapped as executable and was
never mapped as writable. Where that is forbidden too, the error says so.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import mmap
import os
import platform
import sys
from collections.abc import Callable
from typing import Any

from ...errors import CompileError

__all__ = ["Memory", "check_allowed", "executable", "machine"]

_FORBIDDEN = (
    "this process may not make memory executable, so no machine code can be loaded; systemd's MemoryDenyWriteExecute, "
    "SELinux's execmem or another sandbox forbids it. Allow it for this process, or run functions as plain Python: "
    "function.eager(...) takes one sample"
)


@functools.cache
def machine() -> str:
    """Return the processor that this Python was made for: "x86_64", "aarch64", or another name."""
    name = platform.machine()
    if sys.platform == "win32":  # Windows on ARM emulates x86-64, and `platform` tells the real processor
        import sysconfig

        name = sysconfig.get_platform().removeprefix("win-")
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name.lower(), name.lower())


@functools.cache
def _system() -> Any:
    """The operating system's functions for memory, with the types of their arguments."""
    word, pointer, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
    if sys.platform == "win32":
        system = ctypes.WinDLL("kernel32", use_last_error=True)
        kinds = {
            "VirtualAlloc": (pointer, [pointer, word, ctypes.c_uint32, ctypes.c_uint32]),
            "VirtualProtect": (number, [pointer, word, ctypes.c_uint32, pointer]),
            "VirtualFree": (number, [pointer, word, ctypes.c_uint32]),
            "GetCurrentProcess": (pointer, []),
            "FlushInstructionCache": (number, [pointer, pointer, word]),
        }
    else:
        system = ctypes.CDLL(None, use_errno=True)
        kinds = {
            "mmap": (pointer, [pointer, word, number, number, number, ctypes.c_int64]),
            "mprotect": (number, [pointer, word, number]),
            "munmap": (number, [pointer, word]),
        }
    for name, (result, arguments) in kinds.items():
        function = getattr(system, name)
        function.restype, function.argtypes = result, arguments
    return system


class Memory:
    """A part of the address space, which is freed with this object.

    It is not freed when the interpreter ends: a thread that Python does not wait for may still be running the code.
    """

    def __init__(self, address: int | None, size: int):
        self.address, self.size = address or 0, size
        if self.address in (0, 2**64 - 1):
            self.size = 0
            raise _refused()

    def __del__(self, ends=sys.is_finalizing):
        if not self.size or ends():
            return
        if sys.platform == "win32":
            _system().VirtualFree(self.address, 0, 0x8000)  # MEM_RELEASE
        else:
            _system().munmap(self.address, self.size)


def _refused() -> OSError:
    """The operating system's last error."""
    if sys.platform == "win32":
        return ctypes.WinError(ctypes.get_last_error())
    return OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


Contents = Callable[[int], bytes]  # from the address where memory begins to what is written there


def _written_then_protected(size: int, contents: Contents) -> Memory:
    """Memory that is written first, and then made executable."""
    system = _system()
    if sys.platform == "win32":
        memory = Memory(system.VirtualAlloc(None, size, 0x3000, 0x04), size)  # commit and reserve; read and write
        ctypes.memmove(memory.address, contents(memory.address), size)
        before = ctypes.c_uint32()
        if not system.VirtualProtect(memory.address, size, 0x20, ctypes.addressof(before)):  # execute and read
            raise _refused()
        return memory
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANON
    memory = Memory(system.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0), size)
    ctypes.memmove(memory.address, contents(memory.address), size)
    if system.mprotect(memory.address, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise _refused()
    return memory


def _file_mapped(size: int, contents: Contents) -> Memory:
    """Memory that is a file in memory, mapped as executable; the contents are written to the file."""
    if not hasattr(os, "memfd_create"):
        raise OSError("this system has no files in memory")
    file = os.memfd_create("adjoint")
    try:
        os.ftruncate(file, size)
        flags = mmap.MAP_SHARED
        memory = Memory(_system().mmap(None, size, mmap.PROT_READ | mmap.PROT_EXEC, flags, file, 0), size)
        os.pwrite(file, contents(memory.address), 0)
    finally:
        os.close(file)
    return memory


def executable(size: int, contents: Contents) -> Memory:
    """Return read-only memory that holds `contents(address)`, `size` bytes, and may be executed."""
    flush, refused = flush_instructions(), None
    for make in (_written_then_protected, _file_mapped):
        try:
            memory = make(size, contents)
        except OSError as e:
            refused = refused or e
        else:
            flush(memory.address, size)
            return memory
    raise _error(refused) from refused


def check_allowed() -> None:
    """Raise an error if memory that was written may not become executable.

    LLVM's own linker needs that, and ends the process if it is refused.
    """
    try:
        _written_then_protected(1, lambda _: b"\0")
    except OSError as e:
        raise _error(e) from e


def _error(refused: OSError | None) -> Exception:
    if refused is not None and refused.errno == errno.ENOMEM:
        return MemoryError("there is no memory left for machine code")
    return CompileError(f"{_FORBIDDEN} ({refused})")


@functools.cache
def flush_instructions() -> Callable[[int, int], Any]:
    """Return a function of an address and a size that lets the processor see the instructions that were written there.

    x86-64 needs nothing for that. 64-bit ARM keeps instructions in a cache of their own, which GCC's runtime library
    empties. An OSError says that there is no such function here.
    """
    if sys.platform == "win32":
        process, flush = _system().GetCurrentProcess(), _system().FlushInstructionCache
        return lambda address, size: flush(process, address, size)
    if machine() == "x86_64":
        return lambda address, size: None
    for library in (None, "libgcc_s.so.1"):
        with contextlib.suppress(OSError, AttributeError):
            clear = ctypes.CDLL(library).__clear_cache
            clear.restype, clear.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
            return lambda address, size: clear(address, address + size)
    raise OSError("no function __clear_cache was found")
