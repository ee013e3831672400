"""A small linker for the object code that this library writes, so that a warm start needs no LLVM.

Sections are laid out one after the other, and the addresses within them are filled in. Whatever is not expected here
(another format, a symbol from outside) is refused with `Unsupported`, and LLVM's own linker takes over.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys

from . import executable_memory, object_files
from .object_files import Object, Section, Symbol, Unsupported

__all__ = ["CALLED", "Image", "Unsupported", "layout", "link", "supported", "with_library_calls"]


@functools.cache
def supported() -> bool:
    """Return whether this process can use images at all."""
    if sys.platform not in ("linux", "win32") or struct.calcsize("P") != 8:
        return False
    if executable_memory.machine() not in ("x86_64", "aarch64"):
        return False
    try:
        executable_memory.flush_instructions()
    except OSError:
        return False
    return True


class Image:
    """Object code in memory, ready to run; it is freed with this object."""

    def __init__(self, code: bytes):
        found = with_library_calls(object_files.read(code))
        if found.machine != executable_memory.machine():
            raise Unsupported(f"code for {found.machine}")
        places, size = layout(found)
        if not size:
            raise Unsupported("nothing to load")
        self._memory = executable_memory.executable(size, lambda base: link(found, base))
        base = self._memory.address
        self.address = {
            s.name: base + places[s.section] + s.offset for s in found.symbols if s.name and s.section is not None
        }


# Functions of the C library that LLVM's code calls on processors without instructions for them: x86-64 before FMA and
# SSE4.1.
CALLED = frozenset(f + end for f in ("fma", "ceil", "floor", "rint", "trunc") for end in ("", "f"))


def with_library_calls(found: Object) -> Object:
    """Return the same code with jumps to those functions of the C library that it calls.

    The functions themselves may be too far away for the code's own calls.
    """
    sections, symbols = dict(found.sections), list(found.symbols)
    for k in sorted({f.symbol for f in found.fixups}):
        name = symbols[k].name
        if symbols[k].section is None and name in CALLED and found.machine == "x86_64":
            number = max(sections) + 1
            jump = b"\xff\x25\0\0\0\0"  # jump to the address that follows
            sections[number] = Section(jump + struct.pack("<Q", _library_function(name)), 8)
            symbols[k] = Symbol(name, number, 0)
    return found._replace(sections=sections, symbols=symbols)


def _library_function(name: str) -> int:
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def layout(found: Object) -> tuple[dict[int, int], int]:
    """Return the offset at which each section begins, and the size of all."""
    places, total = {}, 0
    for k, s in found.sections.items():
        places[k] = total = -(-total // s.align) * s.align
        total += len(s.contents)
    return places, total


def link(found: Object, base: int) -> bytes:
    """Return the sections as they are in memory from the address `base` on."""
    places, size = layout(found)
    image = bytearray(size)
    for k, s in found.sections.items():
        image[places[k] : places[k] + len(s.contents)] = s.contents
    known = [None if s.section is None else base + places[s.section] + s.offset for s in found.symbols]
    for kind, section, offset, symbol, addend in found.fixups:
        target = known[symbol]
        if target is None:
            raise Unsupported(f"the symbol {found.symbols[symbol].name!r} is not in this file")
        _fix(image, kind, places[section] + offset, base, target + addend)
    return bytes(image)


def _fix(image: bytearray, kind: str, at: int, base: int, target: int) -> None:
    """Write what depends on the address `target` at the offset `at`.

    Instructions of 64-bit ARM hold their part of the address in some of their 32 bits, which are zero before ("ELF for
    the Arm 64-bit Architecture", section 5.7).
    """
    distance = target - (base + at)
    if kind == "relative32":
        return struct.pack_into("<i", image, at, _within(distance, 32))
    if kind == "absolute64":
        return struct.pack_into("<Q", image, at, target)
    if kind == "branch26":
        bits = _within(distance // 4, 26) & 0x3FFFFFF
    elif kind == "page21":
        pages = _within((target >> 12) - (base + at >> 12), 21)
        bits = (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    else:  # "low12/n": the lowest 12 bits of the address, in units of n bytes
        unit = int(kind.removeprefix("low12/"))
        if target % unit:
            raise Unsupported(f"an address that is no multiple of {unit}")
        bits = (target & 0xFFF) // unit << 10
    (instruction,) = struct.unpack_from("<I", image, at)
    struct.pack_into("<I", image, at, instruction | bits)


def _within(number: int, bits: int) -> int:
    """Return the number, if it fits into so many bits."""
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise Unsupported(f"{number} needs more than {bits} bits")
    return number
