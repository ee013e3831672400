"""Rows of sequences and of arrays, as machine code reads and writes them: each lane may have a row of its own.

A caller's sequence stays where it is, so each lane has an address in it. An array in scratch memory has one vector of
lanes for each element. `copy_row` copies the row of a table that a program looks up, whose number is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..graph.expressions import Expr
from .batch_loop import CONTEXT_HEAD
from .ir import BYTES, FRAME, Buffer, Coder, Value

if TYPE_CHECKING:
    from .body import Emitter

__all__ = ["MANY_ELEMENTS", "OperandRow", "copy_row"]

MANY_ELEMENTS = 100
"""A row with more elements is copied by a loop, and stores to longer arrays are kept apart."""


def copy_row(e: Emitter, x: Expr, table: Buffer, index: Value, own: Buffer) -> None:
    """Copy row number `index` of a table into scratch memory, for each lane its own.

    Nothing is read from a sequence without rows, and the row is 0 then.
    """
    b, (size, count) = e.b, x.value
    assert own.place is not None
    to, length = e.element(own.place.base, own.place.index), e.context_word(0) if count is None else str(count)
    if count is not None:
        return _copy_lanes(e, table, _lane_rows(b, index, length), size, to)
    there = b.op(f"icmp sgt i64 {length}, 0", "m").name
    with b.when(there):
        _copy_lanes(e, table, _lane_rows(b, index, length), size, to)
    with b.when(b.op(f"xor i1 {there}, true", "m").name):
        _each_element(b, size, lambda k: e.store(to, k, b.const(0.0)))


def _lane_rows(b: Coder, index: Value, length: str) -> str:
    """The row of every lane, as a vector of words: its index rounded down, and clipped to the table."""
    scalar = "double" if b.dtype == "f64" else "float"
    last, words = b.word(f"sub i64 {length}, 1"), _words(b)
    end = _joined(b, [b.op(f"sitofp i64 {last} to {scalar}", "f").name])
    at = b.select(index > 0.0, index, 0.0)  # NaN is not above 0
    at = b.select(at < end, at, end)
    row, most = b.word(f"fptosi {b.type('f')} {at.name} to {words}"), _same_words(b, last)
    before = b.op(f"icmp slt {words} {row}, {most}", "m").name  # `end` may be rounded up to the next float
    return b.word(f"select {b.type('m')} {before}, {words} {row}, {words} {most}")


def _copy_lanes(e: Emitter, table: Buffer, rows: str, size: int, to: str) -> None:
    """Copy a row for each lane. If all lanes read the same row, as neighbouring samples often do, it is read once.

    If it is the row that was read last, it is still there: a word of scratch memory has its address.
    """
    b, start = e.b, e.start(table)
    if start is not None:
        own = _ScratchRows(e, start, rows, size)
        return _each_element(b, size, lambda k: e.store(to, k, own.load(k)))
    lanes = _TableRows(e, table, rows)
    if b.width == 1:
        return _each_element(b, size, lambda k: e.store(to, k, lanes.load(k)))
    first, differ = lanes.address(0), lanes.differ()
    e.memos.append(e.reserve(1))
    memo = e.element(FRAME, e.memos[-1])
    new = b.op(f"icmp ne i64 {first}, {b.get(memo, 0)}", "m").name
    with b.when(b.op(f"and i1 {new}, {b.op(f'xor i1 {differ}, true', 'm').name}", "m").name):
        _each_element(b, size, lambda k: e.store(to, k, lanes.load(k, 1)))
        b.put(first, memo, 0)
    with b.when(differ):
        _each_element(b, size, lambda k: e.store(to, k, lanes.load(k)))
        b.put(0, memo, 0)


def _each_element(b: Coder, size: int, copy: Callable) -> None:
    """Emit a copy of every element of a row: written out, or as a loop if there are many."""
    if size > MANY_ELEMENTS:
        with b.loop(size) as k:
            copy(k)
    else:
        for k in range(size):
            copy(k)


class OperandRow:
    """One row of a caller's sequence, in the caller's memory: each lane has an address of its own.

    The entry of a sequence in the context has an address for each lane, the stride over the rows, and the address of a
    table of offsets of the elements in a row. If the sequence is shared by all samples, only the first lane's address
    is used.
    """

    def __init__(self, emitter: Emitter, buffer: Buffer, row: str):
        e, b = emitter, emitter.b
        assert buffer.slot is not None
        self.b, self.lanes = b, 1 if e.is_shared(buffer) else b.width
        at = CONTEXT_HEAD + buffer.slot * (b.width + 2)
        step = b.mul(row, e.context_word(at + b.width))
        self.offsets = b.op(f"inttoptr i64 {e.context_word(at + b.width + 1)} to ptr", "p").name
        self.addresses = [b.add(e.context_word(at + lane), step) for lane in range(self.lanes)]

    def _address(self, k: int | str, lane: int) -> str:
        b = self.b
        p = b.op(f"getelementptr i64, ptr {self.offsets}, i64 {k}", "p").name
        offset = b.op(f"load i64, ptr {p}", "w").name
        word = b.op(f"add i64 {self.addresses[lane]}, {offset}", "w").name
        return b.op(f"inttoptr i64 {word} to ptr", "p").name

    def load(self, k: int | str) -> Value:
        b, scalar = self.b, "double" if self.b.dtype == "f64" else "float"
        places = [self._address(k, lane) for lane in range(self.lanes)]
        return _joined(b, [b.op(f"load {scalar}, ptr {p}", "f").name for p in places])

    def store(self, k: int | str, v: Value) -> None:
        b, scalar = self.b, "double" if self.b.dtype == "f64" else "float"
        for lane in range(self.lanes):
            e = v.name if b.width == 1 else b.op(f"extractelement {b.type('f')} {v.name}, i32 {lane}", "f").name
            b.emit(f" store {scalar} {e}, ptr {self._address(k, lane)}")


class _TableRows:
    """Rows of a caller's sequence, one for each lane. `rows` is a vector of their numbers."""

    def __init__(self, emitter: Emitter, buffer: Buffer, rows: str):
        e, b = emitter, emitter.b
        assert buffer.slot is not None
        at = CONTEXT_HEAD + buffer.slot * (b.width + 2)
        self.b, self.offsets = b, b.op(f"inttoptr i64 {e.context_word(at + b.width + 1)} to ptr", "p").name
        words, stride = _words(b), _same_words(b, e.context_word(at + b.width))
        first = b.op(f"getelementptr i64, ptr %context, i64 {at}", "p").name
        base = (
            _same_words(b, e.context_word(at)) if e.is_shared(buffer) else b.word(f"load {words}, ptr {first}, align 8")
        )
        self.addresses = b.word(f"add {words} {base}, {b.word(f'mul {words} {rows}, {stride}')}")

    def address(self, lane: int) -> str:
        """The address of a lane's row."""
        b = self.b
        return self.addresses if b.width == 1 else b.word(f"extractelement {_words(b)} {self.addresses}, i32 {lane}")

    def differ(self) -> str:
        """Whether not all lanes read the same row."""
        b, words = self.b, _words(self.b)
        first = f"shufflevector {words} {self.addresses}, {words} poison, <{b.width} x i32> zeroinitializer"
        return b.any(b.op(f"icmp ne {words} {self.addresses}, {b.word(first)}", "m"))

    def load(self, k: int | str, lanes: int = 0) -> Value:
        """Element k of every lane's row; of the first lane's row for all of them, with lanes=1."""
        b, scalar = self.b, "double" if self.b.dtype == "f64" else "float"
        offset = b.get(self.offsets, k)
        places = [b.pointer(b.add(self.address(lane), offset)) for lane in range(lanes or b.width)]
        return _joined(b, [b.op(f"load {scalar}, ptr {p}", "f").name for p in places])


class _ScratchRows:
    """Rows of an array in scratch memory, which has a vector of lanes for each element; each lane has a row of its own.

    `start` is the address of the array, `rows` a vector of the rows, and `size` the number of elements in a row.
    """

    def __init__(self, emitter: Emitter, start: str, rows: str, size: int):
        b = self.b = emitter.b
        self.step, words = b.width * BYTES[b.dtype], _words(b)
        steps = b.word(f"mul {words} {rows}, {_same_words(b, str(size * self.step))}")
        parts = [steps] if b.width == 1 else [
            b.word(f"extractelement {words} {steps}, i32 {lane}") for lane in range(b.width)
        ]  # fmt: skip
        first = b.word(f"ptrtoint ptr {start} to i64")
        self.places = [b.add(b.add(first, lane * BYTES[b.dtype]), part) for lane, part in enumerate(parts)]

    def load(self, k: int | str) -> Value:
        """Element k of every lane's row."""
        b, scalar = self.b, "double" if self.b.dtype == "f64" else "float"
        places = [b.pointer(b.add(place, b.mul(k, self.step))) for place in self.places]
        return _joined(b, [b.op(f"load {scalar}, ptr {p}", "f").name for p in places])


def _words(b: Coder) -> str:
    """The type of a vector of words, one for each lane."""
    return "i64" if b.width == 1 else f"<{b.width} x i64>"


def _same_words(b: Coder, word: str) -> str:
    """A vector that has the same word in every lane."""
    if b.width == 1:
        return b.word(f"add i64 {word}, 0")
    t = _words(b)
    first = b.word(f"insertelement {t} poison, i64 {word}, i32 0")
    return b.word(f"shufflevector {t} {first}, {t} poison, <{b.width} x i32> zeroinitializer")


def _joined(b: Coder, values: list[str]) -> Value:
    """A vector of lanes of these numbers; a single number is that of all lanes."""
    if b.width == 1:
        return Value(b, values[0], "f")
    t, v = b.type("f"), "poison"
    for lane, x in enumerate(values):
        v = b.op(f"insertelement {t} {v}, {'double' if b.dtype == 'f64' else 'float'} {x}, i32 {lane}", "f").name
    if len(values) == 1:
        return b.op(f"shufflevector {t} {v}, {t} poison, <{b.width} x i32> zeroinitializer", "f")
    return Value(b, v, "f")
