"""A small linker for the object code this library writes: ELF on x86-64 Linux, so that a warm start needs no LLVM.

Sections are copied into one private mapping, relocations within them are applied, and the mapping is made executable
and read-only. Whatever is not expected here (another format, a symbol from outside) is refused with `Unsupported`, and
LLVM's own linker takes over.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from typing import NamedTuple

__all__ = ["Image", "Unsupported", "supported"]

_X86_64 = 62
_ALLOCATED = 0x2
_PROGBITS, _SYMTAB, _RELA, _NOBITS = 1, 2, 4, 8
_ABSOLUTE, _RELATIVE, _RELATIVE_CALL = 1, 2, 4  # R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32
_UNWIND = 0x70000001  # SHT_X86_64_UNWIND: tables for exceptions, which this code never raises


class Unsupported(Exception):
    """This object code needs a real linker."""


def supported() -> bool:
    """Whether this process can use images at all."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


class Image:
    """Object code in memory, ready to run; freed with this object."""

    def __init__(self, code: bytes):
        if code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", code, 16) != (1, _X86_64):
            raise Unsupported("not a relocatable ELF file for x86-64")
        (table,) = struct.unpack_from("<Q", code, 40)
        size, count = struct.unpack_from("<HH", code, 58)
        sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", code, table + k * size)) for k in range(count)]
        places, total = {}, 0
        for k, s in enumerate(sections):
            if s.flags & _ALLOCATED and s.size:
                if s.type not in (_PROGBITS, _UNWIND):
                    raise Unsupported(f"section of type {s.type}")
                places[k] = total = -(-total // max(s.align, 1)) * max(s.align, 1)
                total += s.size
        self._memory = mmap.mmap(-1, max(total, 1), prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for k, at in places.items():
            s = sections[k]
            self._memory[at : at + s.size] = code[s.offset : s.offset + s.size]
        symbols = self._symbols(code, sections, places)
        for s in sections:
            if s.type == _RELA and s.info in places and sections[s.info].type != _UNWIND:
                self._relocate(code, s, places[s.info], symbols)
        self.address = {name: a for name, a in symbols if name and a is not None}
        libc = ctypes.CDLL(None, use_errno=True)
        length = -(-max(total, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        if libc.mprotect(ctypes.c_void_p(self._base), ctypes.c_size_t(length), mmap.PROT_READ | mmap.PROT_EXEC):
            raise Unsupported("the system forbids executable memory")

    def _symbols(self, code: bytes, sections: list[_Section], places: dict[int, int]) -> list[tuple[str, int | None]]:
        """Name and address of every symbol; the address of what is not in this file is None."""
        found = []
        for table in (s for s in sections if s.type == _SYMTAB):
            names = sections[table.link].offset
            for at in range(table.offset, table.offset + table.size, 24):
                name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", code, at)
                end = code.index(b"\0", names + name)
                place = places.get(section)
                found.append((code[names + name : end].decode(), None if place is None else self._base + place + value))
        return found

    def _relocate(self, code: bytes, table: _Section, at: int, symbols: list[tuple[str, int | None]]) -> None:
        for entry in range(table.offset, table.offset + table.size, 24):
            offset, info, addend = struct.unpack_from("<QQq", code, entry)
            name, target = symbols[info >> 32]
            kind = info & 0xFFFFFFFF
            if target is None:
                raise Unsupported(f"the symbol {name!r} is not in this file")
            if kind in (_RELATIVE, _RELATIVE_CALL):
                struct.pack_into("<i", self._memory, at + offset, target + addend - (self._base + at + offset))
            elif kind == _ABSOLUTE:
                struct.pack_into("<q", self._memory, at + offset, target + addend)
            else:
                raise Unsupported(f"relocation of type {kind}")
