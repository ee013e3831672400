"""The loop over a batch around a kernel's body: rows of samples to tiles of lanes and back.

`batch(start, stop, operands, work)` runs the body over samples whose elements are contiguous, transposing small blocks.
The last, incomplete group repeats its last sample in the idle lanes: they compute and store the same numbers once
more, so nothing past an end is read or written.
"""

from __future__ import annotations

from collections.abc import Iterator

from .ir import Builder, Coder, Module, float_literal
from .program import Program

__all__ = ["BYTES", "CONTEXT_HEAD", "batch_function", "constants_function", "sources", "whole_function"]

BYTES = {"f64": 8, "f32": 4}
_SCALAR = {"f64": "double", "f32": "float"}
UNROLLED = 24  # blocks of an operand up to which their moves are written out one after the other
LONG = 2000  # nodes of a program from which all moves are loops: a small part of its time, but not of LLVM's
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


def sources(program: Program) -> list[int]:
    """Where each element of the results is in the output tile; equal ones are stored once (symmetric matrices)."""
    results = [e for o, r in zip(program.outputs, program.results, strict=True) if not o.sequence for e in r]
    first: dict[int, int] = {}
    return [at if e.op == "const" else first.setdefault(e.id, at) for at, e in enumerate(results)]


def _constants(result) -> list[float | None]:
    """The value of each element of a result that is a constant."""
    return [e.number() if e.op == "const" else None for e in result]


def _runs(values: list[float | None], least: int) -> Iterator[tuple[int, int, float | None]]:
    """(start, stop, value): stretches of at least `least` equal constants, and what lies between them (None)."""
    start = open_at = 0
    while start < len(values):
        stop = start + 1
        while stop < len(values) and values[stop] is not None and repr(values[stop]) == repr(values[start]):
            stop += 1
        if values[start] is not None and stop - start >= least:
            if open_at < start:
                yield open_at, start, None
            yield start, stop, values[start]
            open_at = stop
        start = stop
    if open_at < len(values):
        yield open_at, len(values), None


class _Rows:
    """Moves between an operand's rows (one address a lane) and its part of a tile, which begins at `at`.

    `places`: where its elements are, if it is a result and some are stored elsewhere.
    """

    def __init__(self, b: Coder, addresses: list[str], tile: str, at: int, size: int, unrolled: int, places: list[int]):
        self.b, self.addresses, self.tile, self.at, self.size = b, addresses, tile, at, size
        self.unrolled, self.places = unrolled, places
        self.in_order = places == list(range(at, at + size))
        self.scalar = _SCALAR[b.dtype]

    def load(self, used: set[int]) -> None:
        """Rows to tile, but for blocks of elements that nobody reads."""
        self._each_block(0, self.size, self._load, lambda at, k: not used.isdisjoint(range(at, at + k)))

    def store(self, values: list[float | None]) -> None:
        """Tile to rows; stretches of equal constants do not come from the tile."""
        for start, stop, value in _runs(values, 2 * self.b.width):
            if value is None:
                self._each_block(start, stop, self._store)
            else:
                self._fill(start, stop, value)

    def _each_block(self, start: int, stop: int, move, wanted=lambda at, k: True) -> None:
        """The elements in blocks of 4, 2 and 1; many blocks are a loop, few are written out."""
        block = min(4, self.b.width)
        count = (stop - start) // block
        if count > self.unrolled:
            with self.b.loop(count) as i:
                move(self.b.add(self.b.mul(i, block), start), block)
            start += count * block
        for at, k in _blocks(stop - start, self.b.width):
            if wanted(start + at, k):
                move(start + at, k)

    def _fill(self, start: int, stop: int, value: float) -> None:
        """The same constant in elements of every row, a vector at a time; the last one may overlap the one before."""
        b, w = self.b, self.b.width
        store = f" store {b.type('f')} {b.const(value).name}, ptr {{}}, align {BYTES[b.dtype]}"
        count = (stop - start) // w
        for lane in range(w):
            if count > self.unrolled // 4:
                with b.loop(count) as i:
                    b.emit(store.format(self._element(lane, b.add(b.mul(i, w), start))))
            else:
                for k in range(count):
                    b.emit(store.format(self._element(lane, start + k * w)))
            if (stop - start) % w:
                b.emit(store.format(self._element(lane, stop - w)))

    def _tile(self, at, k: int) -> str:
        if isinstance(at, int):
            place = str(self.places[at + k])
        else:
            place = self.b.add(at, self.at + k)
            place = place if self.in_order else self.b.get("@sources", place)
        return self.b.op(f"getelementptr {self.b.type('f')}, ptr {self.tile}, i64 {place}", "p").name

    def _element(self, lane: int, at) -> str:
        return self.b.op(f"getelementptr {self.scalar}, ptr {self.addresses[lane]}, i64 {at}", "p").name

    def _join(self, parts: list[str], k: int) -> str:
        """Concatenate equal vectors of k lanes."""
        b, n = self.b, k
        while len(parts) > 1:
            small = f"<{n} x {self.scalar}>"
            mask = f"<{2 * n} x i32> <{', '.join(f'i32 {i}' for i in range(2 * n))}>"
            parts = [
                b.op(f"shufflevector {small} {x}, {small} {y}, {mask}", "f").name
                for x, y in zip(parts[::2], parts[1::2], strict=True)
            ]
            n *= 2
        return parts[0]

    def _load(self, at, k: int) -> None:
        b, t, w = self.b, self.b.type("f"), self.b.width
        if k == 1:
            v = "poison"
            for lane in range(w):
                e = b.op(f"load {self.scalar}, ptr {self._element(lane, at)}", "f").name
                v = e if w == 1 else b.op(f"insertelement {t} {v}, {self.scalar} {e}, i32 {lane}", "f").name
            columns = [v]
        else:
            small = f"<{k} x {self.scalar}>"
            rows = [
                b.op(f"load {small}, ptr {self._element(lane, at)}, align {BYTES[b.dtype]}", "f").name
                for lane in range(w)
            ]
            columns = _transpose(b, [self._join(rows[j::k], k) for j in range(k)], k)
        for j in range(k):
            b.emit(f" store {t} {columns[j]}, ptr {self._tile(at, j)}")

    def _store(self, at, k: int) -> None:
        b, t, w = self.b, self.b.type("f"), self.b.width
        columns = [b.op(f"load {t}, ptr {self._tile(at, j)}", "f").name for j in range(k)]
        columns = _transpose(b, columns, k)
        for lane in range(w):
            if k == 1:
                e = columns[0] if w == 1 else b.op(f"extractelement {t} {columns[0]}, i32 {lane}", "f").name
                b.emit(f" store {self.scalar} {e}, ptr {self._element(lane, at)}")
                continue
            first = lane // k * k
            mask = ", ".join(f"i32 {first + i}" for i in range(k))
            part = b.op(f"shufflevector {t} {columns[lane % k]}, {t} poison, <{k} x i32> <{mask}>", "f").name
            b.emit(f" store <{k} x {self.scalar}> {part}, ptr {self._element(lane, at)}, align {BYTES[b.dtype]}")


def batch_function(module: Module, width: int, dtype: str, program: Program) -> str:
    """`batch(start, stop, operands, work)`; operands: (address, stride) of every operand, then the context's words.

    A sequence operand has four words: address, stride over the batch, stride over the rows, element offsets.
    """
    b = Coder(module, width, dtype)
    vector = width * BYTES[dtype]
    used: dict[str, set[int]] = {}  # elements that the body reads
    unrolled = UNROLLED if len(program.nodes) < LONG else 0
    for x in program.nodes:
        if x.op == "input":
            used.setdefault(x.value[0], set()).add(x.value[1])
    tile_in = sum(o.size for o in program.inputs if not o.sequence)
    tile_out = sum(o.size for o in program.outputs if not o.sequence)
    b.emit(f" %out = getelementptr i8, ptr %work, i64 {tile_in * vector}")
    b.emit(" call void @constants(ptr %out)")
    b.emit(f" %context = getelementptr i8, ptr %work, i64 {(tile_in + tile_out) * vector}")
    at, words = 0, []
    for o in (*program.inputs, *program.outputs):
        words.append([b.get("%operands", at + k) for k in range(4 if o.sequence else 2)])
        at += len(words[-1])
    for k in range(CONTEXT_HEAD):
        b.put(b.get("%operands", at + k), "%context", k)
    places = {"%work": list(range(tile_in)), "%out": sources(program)}
    last = b.word("sub i64 %stop, 1")
    groups = b.word(f"sdiv i64 {b.add(b.word('sub i64 %stop, %start'), width - 1)}, {width}")
    module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
    with b.loop(groups) as group:
        first = b.add("%start", b.mul(group, width))
        lanes = [b.word(f"call i64 @llvm.smin.i64(i64 {b.add(first, n)}, i64 {last})") for n in range(width)]
        loads, stores, slot, begin = [], [], CONTEXT_HEAD, {"%work": 0, "%out": 0}
        for k, (o, (address, stride, *rest)) in enumerate(zip((*program.inputs, *program.outputs), words, strict=True)):
            rows = [b.add(address, b.mul(lane, stride)) for lane in lanes]
            if o.sequence:
                for word in (*rows, *rest):
                    b.put(word, "%context", slot)
                    slot += 1
                continue
            tile, moves = ("%work", loads) if k < len(program.inputs) else ("%out", stores)
            addresses = [b.pointer(row) for row in rows]
            at = begin[tile]
            moves.append(_Rows(b, addresses, tile, at, o.size, unrolled, places[tile][at : at + o.size]))
            begin[tile] += o.size
        for rows, o in zip(loads, (o for o in program.inputs if not o.sequence), strict=True):
            rows.load(used.get(o.name, set()))
        b.emit(" call void @body(ptr %work, ptr %out, ptr %context)")
        results = [r for o, r in zip(program.outputs, program.results, strict=True) if not o.sequence]
        for rows, result in zip(stores, results, strict=True):
            rows.store(_constants(result))
    head = "define void @batch(i64 %start, i64 %stop, ptr noalias %operands, ptr noalias %work) #0 {"
    return "\n".join([head, "entry:", *b.lines, " ret void", "}"])


def constants_function(module: Module, width: int, dtype: str, program: Program) -> str:
    """`constants(out)`: the constant results, written into the tile once; the body leaves them alone.

    Their places and values are a table, so that thousands of structural zeros cost nothing to compile.
    """
    b = Coder(module, width, dtype)
    results = [e for o, r in zip(program.outputs, program.results, strict=True) if not o.sequence for e in r]
    found = [(at, e.number()) for at, e in enumerate(results) if e.op == "const"]
    if found:
        n, scalar, t = len(found), _SCALAR[dtype], b.type("f")
        places = ", ".join(f"i64 {at}" for at, _ in found)
        values = ", ".join(f"{scalar} {float_literal(x, dtype)}" for _, x in found)  # type: ignore[arg-type]
        module.add("places", f"@places = private constant [{n} x i64] [{places}]")
        module.add("values", f"@values = private constant [{n} x {scalar}] [{values}]")
        with b.loop(n) as i:
            x = b.op(f"load {scalar}, ptr {b.op(f'getelementptr {scalar}, ptr @values, i64 {i}', 'p').name}", "f").name
            if width > 1:
                one = b.op(f"insertelement {t} poison, {scalar} {x}, i32 0", "f").name
                x = b.op(f"shufflevector {t} {one}, {t} poison, <{width} x i32> zeroinitializer", "f").name
            at = b.get("@places", i)
            b.emit(f" store {t} {x}, ptr {b.op(f'getelementptr {t}, ptr %out, i64 {at}', 'p').name}")
    return "\n".join(["define void @constants(ptr %out) #0 {", "entry:", *b.lines, " ret void", "}"])


def whole_function(module: Module, width: int, dtype: str, program: Program) -> str:
    """`whole(in, out, context)`: the body, and every element of the results in its own place of the tile."""
    b, found = Coder(module, width, dtype), sources(program)
    b.emit(" call void @body(ptr %in, ptr %out, ptr %context)")
    if found != list(range(len(found))):
        t, table = b.type("f"), ", ".join(f"i64 {k}" for k in found)
        module.add("sources", f"@sources = private constant [{len(found)} x i64] [{table}]")
        with b.loop(len(found)) as i:
            first = b.op(f"getelementptr {t}, ptr %out, i64 {b.get('@sources', i)}", "p").name
            x = b.op(f"load {t}, ptr {first}", "f").name
            b.emit(f" store {t} {x}, ptr {b.op(f'getelementptr {t}, ptr %out, i64 {i}', 'p').name}")
    head = "define void @whole(ptr noalias %in, ptr noalias %out, ptr noalias %context) #0 {"
    return "\n".join([head, "entry:", *b.lines, " ret void", "}"])
