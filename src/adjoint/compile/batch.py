"""The loop over a batch around a kernel's body: rows of samples to tiles of lanes and back.

`batch(start, stop, operands, work)` runs the body over samples whose elements are contiguous, transposing small blocks.
The last, incomplete group repeats its last sample in the idle lanes: they compute and store the same numbers once
more, so nothing past an end is read or written.
"""

from __future__ import annotations

from .graph import reachable
from .ir import Builder, Module
from .program import Program

__all__ = ["BYTES", "CONTEXT_HEAD", "batch_function"]

BYTES = {"f64": 8, "f32": 4}
CONTEXT_HEAD = 2  # words before the sequence entries of a context: length of the sequences, scratch memory


def _transpose(b: Builder, columns: list[str], k: int) -> list[str]:
    """Transpose k vectors whose lanes are blocks of k: out[e] holds element e of every row (its own inverse)."""
    w, t = b.width, b.type("f")

    def shuffle(x: str, y: str, mask: list[int]) -> str:
        lanes = ", ".join(f"i32 {m}" for m in mask)
        return b.op(f"shufflevector {t} {x}, {t} {y}, <{w} x i32> <{lanes}>", "f").name

    half = 1
    while half < k:  # exchange ever larger blocks between vectors `half` apart
        low = [i if i // half % 2 == 0 else w + i - half for i in range(w)]
        high = [i + half if i // half % 2 == 0 else w + i for i in range(w)]
        for i in range(k):
            if i // half % 2 == 0:
                x, y = columns[i], columns[i + half]
                columns[i], columns[i + half] = shuffle(x, y, low), shuffle(x, y, high)
        half *= 2
    return columns


def _blocks(size: int, width: int):
    """(start, k): the elements of a row in blocks of 4, 2 and 1, no larger than the width."""
    at = 0
    while at < size:
        k = next(k for k in (4, 2, 1) if k <= min(size - at, width))
        yield at, k
        at += k


class _Rows:
    """Moves between an operand's rows (one address a lane) and its part of a tile."""

    def __init__(self, b: Builder, addresses: list[str], tile: str, at: int, size: int, used: set[int]):
        self.b, self.addresses, self.tile, self.at, self.size, self.used = b, addresses, tile, at, size, used
        self.scalar = "double" if b.dtype == "f64" else "float"

    def _tile(self, k: int) -> str:
        return self.b.op(f"getelementptr {self.b.type('f')}, ptr {self.tile}, i64 {self.at + k}", "p").name

    def _element(self, lane: int, k: int) -> str:
        return self.b.op(f"getelementptr {self.scalar}, ptr {self.addresses[lane]}, i64 {k}", "p").name

    def _join(self, parts: list[str], k: int) -> str:
        """Concatenate equal vectors of k lanes."""
        b, n = self.b, k
        while len(parts) > 1:
            mask = ", ".join(f"i32 {i}" for i in range(2 * n))
            parts = [
                b.op(
                    f"shufflevector <{n} x {self.scalar}> {x}, <{n} x {self.scalar}> {y}, <{2 * n} x i32> <{mask}>", "f"
                ).name
                for x, y in zip(parts[::2], parts[1::2], strict=True)
            ]
            n *= 2
        return parts[0]

    def load(self) -> None:
        b, w = self.b, self.b.width
        for at, k in _blocks(self.size, w):
            if self.used.isdisjoint(range(at, at + k)):
                continue
            if k == 1:
                self._load_column(at)
                continue
            small = f"<{k} x {self.scalar}>"
            rows = [
                b.op(f"load {small}, ptr {self._element(lane, at)}, align {BYTES[b.dtype]}", "f").name
                for lane in range(w)
            ]
            columns = _transpose(b, [self._join(rows[j::k], k) for j in range(k)], k)
            for j in range(k):
                b.emit(f" store {b.type('f')} {columns[j]}, ptr {self._tile(at + j)}")

    def _load_column(self, at: int) -> None:
        b = self.b
        v = "poison"
        for lane in range(b.width):
            e = b.op(f"load {self.scalar}, ptr {self._element(lane, at)}", "f").name
            v = e if b.width == 1 else b.op(f"insertelement {b.type('f')} {v}, {self.scalar} {e}, i32 {lane}", "f").name
        b.emit(f" store {b.type('f')} {v}, ptr {self._tile(at)}")

    def store(self) -> None:
        b, w, t = self.b, self.b.width, self.b.type("f")
        for at, k in _blocks(self.size, w):
            columns = [b.op(f"load {t}, ptr {self._tile(at + j)}", "f").name for j in range(k)]
            if w == 1:
                b.emit(f" store {self.scalar} {columns[0]}, ptr {self._element(0, at)}")
                continue
            columns = _transpose(b, columns, k)
            for lane in range(w):
                j, first = lane % k, lane // k * k
                if k == 1:
                    part = b.op(f"extractelement {t} {columns[0]}, i32 {lane}", "f").name
                    b.emit(f" store {self.scalar} {part}, ptr {self._element(lane, at)}")
                    continue
                mask = ", ".join(f"i32 {first + i}" for i in range(k))
                part = b.op(f"shufflevector {t} {columns[j]}, {t} poison, <{k} x i32> <{mask}>", "f").name
                b.emit(f" store <{k} x {self.scalar}> {part}, ptr {self._element(lane, at)}, align {BYTES[b.dtype]}")


def batch_function(module: Module, width: int, dtype: str, program: Program) -> str:
    """`batch(start, stop, operands, work)`; operands: (address, stride) of every operand, then the context's words.

    A sequence operand has four words: address, stride over the batch, stride over the rows, element offsets.
    """
    b = Builder(module, width, dtype)
    vector = width * BYTES[dtype]
    used: dict[str, set[int]] = {}  # elements that the body reads
    for x in reachable(program.roots):
        if x.op == "input":
            used.setdefault(x.value[0], set()).add(x.value[1])
    tile_in = sum(o.size for o in program.inputs if not o.sequence)
    tile_out = sum(o.size for o in program.outputs if not o.sequence)
    b.emit(f" %out = getelementptr i8, ptr %work, i64 {tile_in * vector}")
    b.emit(f" %context = getelementptr i8, ptr %work, i64 {(tile_in + tile_out) * vector}")
    at, words = 0, []
    for o in (*program.inputs, *program.outputs):
        words.append([_load_word(b, "%operands", at + k) for k in range(4 if o.sequence else 2)])
        at += len(words[-1])
    for k in range(CONTEXT_HEAD):
        b.emit(f" store i64 {_load_word(b, '%operands', at + k)}, ptr {_word_address(b, '%context', k)}")
    b.emit(" %last = sub i64 %stop, 1\n br label %group\ngroup:\n %first = phi i64 [%start, %entry], [%next, %group]")
    lanes = [b.op(f"add i64 %first, {lane}", "w").name for lane in range(width)]
    module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
    lanes = [b.op(f"call i64 @llvm.smin.i64(i64 {lane}, i64 %last)", "w").name for lane in lanes]
    loads, stores, slot, at = [], [], 0, {"in": 0, "out": 0}
    for k, (o, (address, stride, *rest)) in enumerate(zip((*program.inputs, *program.outputs), words, strict=True)):
        steps = [b.op(f"mul i64 {lane}, {stride}", "w").name for lane in lanes]
        places = [b.op(f"add i64 {address}, {step}", "w").name for step in steps]
        if o.sequence:
            head = CONTEXT_HEAD + slot * (width + 2)
            for j, word in enumerate([*places, *rest]):
                b.emit(f" store i64 {word}, ptr {_word_address(b, '%context', head + j)}")
            slot += 1
            continue
        pointers = [b.op(f"inttoptr i64 {place} to ptr", "p").name for place in places]
        side = "in" if k < len(program.inputs) else "out"
        (loads if side == "in" else stores).append(
            _Rows(b, pointers, "%work" if side == "in" else "%out", at[side], o.size, used.get(o.name, set()))
        )
        at[side] += o.size
    for rows in loads:
        rows.load()
    b.emit(" call void @body(ptr %work, ptr %out, ptr %context)")
    for rows in stores:
        rows.store()
    b.emit(f" %next = add i64 %first, {width}\n %more = icmp slt i64 %next, %stop")
    b.emit(" br i1 %more, label %group, label %end\nend:\n ret void")
    head = "define void @batch(i64 %start, i64 %stop, ptr noalias %operands, ptr noalias %work) #0 {\nentry:\n"
    return head + "\n".join(b.lines) + "\n}"


def _word_address(b: Builder, base: str, k: int) -> str:
    return b.op(f"getelementptr i64, ptr {base}, i64 {k}", "p").name


def _load_word(b: Builder, base: str, k: int) -> str:
    return b.op(f"load i64, ptr {_word_address(b, base, k)}", "w").name
