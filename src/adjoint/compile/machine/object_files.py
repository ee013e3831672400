"""Object files as LLVM writes them for this library's kernels: ELF for x86-64 and 64-bit ARM, COFF for x86-64.

`read` finds what a linker needs: the sections that are loaded, the symbols, and the *fixups*, places where numbers are
written that depend on addresses. Whatever it does not expect (another format, an unknown kind of section or fixup) it
refuses with `Unsupported`.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["Fixup", "Object", "Section", "Symbol", "Unsupported", "read"]


class Unsupported(Exception):
    """This object file needs a full linker."""


class Section(NamedTuple):
    """A section that is loaded into memory, at an address that is a multiple of `align`."""

    contents: bytes
    align: int


class Symbol(NamedTuple):
    """A name for a place: the number of its section, and the offset there. A symbol of another file has no section."""

    name: str
    section: int | None
    offset: int


class Fixup(NamedTuple):
    """A place where a number is written that depends on an address.

    The place is `offset` in the section; the address is that of the symbol plus `addend`. `linker` knows each `kind`.
    """

    kind: str
    section: int
    offset: int
    symbol: int
    addend: int


class Object(NamedTuple):
    """An object file: the machine it is for, its loaded sections by number, its symbols, and its fixups."""

    machine: str
    sections: dict[int, Section]
    symbols: list[Symbol]
    fixups: list[Fixup]


def read(code: bytes) -> Object:
    """Return the contents of an object file."""
    try:
        if code[:6] == b"\x7fELF\x02\x01":  # 64 bits, the lowest byte first
            return _checked(_read_elf(code))
        if code[:2] == _COFF_X86_64 or (code[:4] == b"\0\0\xff\xff" and code[6:8] == _COFF_X86_64):
            return _checked(_read_coff(code))
    except (struct.error, IndexError, OverflowError, ValueError) as e:
        raise Unsupported(f"damaged: {e}") from e
    raise Unsupported("neither an ELF nor a COFF file for this machine")


def _checked(found: Object) -> Object:
    """Return the object file, if every place lies inside of its section; none may need more than a page's alignment."""
    sizes = {k: len(s.contents) for k, s in found.sections.items()}
    if any(s.align > 4096 or s.align & s.align - 1 for s in found.sections.values()):
        raise Unsupported("a section that needs more than the alignment of a page")
    if any(s.section is not None and s.offset > sizes[s.section] for s in found.symbols):
        raise Unsupported("a symbol outside of its section")
    for f in found.fixups:
        if f.symbol >= len(found.symbols) or f.offset + (8 if f.kind == "absolute64" else 4) > sizes[f.section]:
            raise Unsupported("a fixup outside of its section, or of no symbol")
    return found


def _text(code: bytes, at: int) -> str:
    return code[at : code.index(b"\0", at)].decode()


# --- ELF: System V Application Binary Interface, chapter 4, and its processor supplements -----------------------------

_RELOCATABLE, _ALLOCATED = 1, 0x2
_PROGBITS, _SYMTAB, _RELA = 1, 2, 4
_UNWIND = 0x70000001  # SHT_X86_64_UNWIND: tables for exceptions, which this code never raises
_MACHINES = {62: "x86_64", 183: "aarch64"}
_ELF_FIXUPS = {  # by the number of the machine and the number of the relocation
    62: {1: "absolute64", 2: "relative32", 4: "relative32"},
    183: {
        257: "absolute64",
        261: "relative32",
        275: "page21",
        277: "low12/1",
        278: "low12/1",
        282: "branch26",
        283: "branch26",
        284: "low12/2",
        285: "low12/4",
        286: "low12/8",
        299: "low12/16",
    },
}


class _ElfSection(NamedTuple):
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


def _read_elf(code: bytes) -> Object:
    kind, number = struct.unpack_from("<HH", code, 16)
    if kind != _RELOCATABLE or number not in _MACHINES:
        raise Unsupported(f"ELF file of type {kind} for machine {number}")
    machine, kinds = _MACHINES[number], _ELF_FIXUPS[number]
    (table,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    found = [_ElfSection(*struct.unpack_from("<IIQQQQIIQQ", code, table + k * size)) for k in range(count)]
    sections, symbols, fixups = {}, [], []
    for k, s in enumerate(found):
        if s.flags & _ALLOCATED and s.size and s.type != _UNWIND:
            if s.type != _PROGBITS:
                raise Unsupported(f"section of type {s.type}")
            sections[k] = Section(code[s.offset : s.offset + s.size], max(s.align, 1))
    for s in found:
        entries = code[s.offset : s.offset + s.size]
        if s.type == _SYMTAB:
            names = found[s.link].offset
            for name, _, _, section, value, _ in struct.iter_unpack("<IBBHQQ", entries):
                symbols.append(Symbol(_text(code, names + name), section if section in sections else None, value))
        elif s.type == _RELA and s.info in sections:
            for offset, type, symbol, addend in struct.iter_unpack("<QIIq", entries):
                if type not in kinds:
                    raise Unsupported(f"relocation of type {type} for {machine}")
                fixups.append(Fixup(kinds[type], s.info, offset, symbol, addend))
    return Object(machine, sections, symbols, fixups)


# --- COFF: Microsoft's "PE Format" ------------------------------------------------------------------------------------

_COFF_X86_64 = b"\x64\x86"
# Flags of sections that are not loaded, and of sections that hold nothing but zeros.
_REMOVED, _ZEROS = 0x00000800, 0x00000080
_MANY = 0x01000000  # flag of sections with so many relocations that their number is stored in the first of them
_REL32 = 4  # the only relocation in our code: the distance from the end of four bytes, which hold the addend before


class _CoffKind(NamedTuple):
    """The two kinds of COFF files. Those with more than 65279 sections use longer numbers, in other places."""

    counts: int  # where the number of sections, the place of the symbols, and the number of symbols are
    sections: int
    symbol: str


_SMALL, _BIG = _CoffKind(2, 20, "<8sIHHBB"), _CoffKind(44, 56, "<8sIIHBB")


def _read_coff(code: bytes) -> Object:
    kind = _SMALL if code[:2] == _COFF_X86_64 else _BIG
    count, table, entries = struct.unpack_from("<H4xII" if kind is _SMALL else "<III", code, kind.counts)
    sections, fixups = {}, []
    for k in range(count):
        head = kind.sections + 40 * k
        size, start, relocations, _, number, _, flags = struct.unpack_from("<IIIIHHI", code, head + 16)
        if not size or flags & _REMOVED:
            continue
        if flags & _ZEROS:
            raise Unsupported("a section of zeros")
        sections[k + 1] = Section(code[start : start + size], 1 << max((flags >> 20 & 15) - 1, 0))
        first = 0
        if flags & _MANY:
            first, (number,) = 1, struct.unpack_from("<I", code, relocations)
        for at in range(relocations + 10 * first, relocations + 10 * number, 10):
            offset, symbol, type = struct.unpack_from("<IIH", code, at)
            if type != _REL32:
                raise Unsupported(f"relocation of type {type} for COFF")
            (addend,) = struct.unpack_from("<i", code, start + offset)
            fixups.append(Fixup("relative32", k + 1, offset, symbol, addend - 4))
    return Object("x86_64", sections, _coff_symbols(code, kind, table, entries, sections), fixups)


def _coff_symbols(code: bytes, kind: _CoffKind, table: int, entries: int, sections: dict) -> list[Symbol]:
    # `more` counts the entries that still belong to the symbol before them
    size, symbols, more = struct.calcsize(kind.symbol), [], 0
    names = table + size * entries
    for at in range(table, names, size):
        short, value, section, _, _, others = struct.unpack_from(kind.symbol, code, at)
        far = int.from_bytes(short[4:], "little") if short[:4] == bytes(4) else None
        name = "" if more else short.rstrip(b"\0").decode() if far is None else _text(code, names + far)
        symbols.append(Symbol(name, section if section in sections and not more else None, value))
        more = more - 1 if more else others
    return symbols
