"""The loop over a batch around a kernel's body: rows of samples to tiles of lanes and back.

`batch(start, stop, operands, work)` runs the body over samples whose elements are contiguous, transposing small blocks.
The last, incomplete group repeats its last sample in the idle lanes: they compute and store the same numbers once
more, so nothing past an end is read or written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.program import Operand, Program
from .ir import BYTES, Coder, Module
from .line_stores import SPARE_AFTER, SPARE_BEFORE, fetch_ends, least_size, line_function, transpose
from .watch import STOP, WATCH, has_lasting_loops, look, repetitions, spend, weigh

__all__ = [
    "CONTEXT_HEAD",
    "STREAMED",
    "batch_function",
    "context_size",
    "is_moved",
    "stores_itself",
    "tile_sizes",
    "whole_function",
]

_SCALAR = {"f64": "double", "f32": "float"}
UNROLLED = 24  # blocks of an operand up to which their moves are written out one after the other
LONG = 2000  # nodes of a program from which all moves are loops: a small part of its time, but not of LLVM's
FEW = 2  # samples up to which long results are stored an element at a time: idle lanes would cost more
REPEATED = 4  # results for every node of a program, zeros aside, up to which each is stored by itself
STREAMED = 5 << 20  # bytes of results that are quicker to write past the caches, reading them once included
CONTEXT_HEAD = 3  # words before the sequence entries of a context: length of the sequences, scratch memory, watch
BRIEF = 1 << 12  # the work of one sample of which some thousand take no time to speak of, see `watch`
MOVED = 8  # what an element read or written weighs, see `watch`: most of it is waiting for memory


def _blocks(size: int, width: int):
    """(start, k): the elements of a row in blocks of 4, 2 and 1, no larger than the width."""
    at = 0
    while at < size:
        k = next(k for k in (4, 2, 1) if k <= min(size - at, width))
        yield at, k
        at += k


def tile_sizes(inputs: Sequence[Operand], outputs: Sequence[Operand], width: int) -> tuple[int, int]:
    """Vectors of the tiles of inputs and of results, with what `lines` may read around the latter."""
    n, m = (sum(o.size for o in operands if not o.sequence) for operands in (inputs, outputs))
    return max(n, SPARE_BEFORE * width), m + SPARE_AFTER * width


def stores_itself(program: Program, width: int) -> bool:
    """Whether the body stores the results where they belong, and not in a tile: those of one sample.

    Its context says, after the words it always has, where each of them goes. Not if far more are to be stored than
    computed: a loop that reads a table does that without being compiled for each.
    """
    sequences = any(o.sequence for o in (*program.inputs, *program.outputs))
    return width == 1 and not sequences and not program.tile.stacks and program.repetitions <= REPEATED


def context_size(inputs: Sequence[Operand], outputs: Sequence[Operand], width: int) -> int:
    """Words of the context: its head, those of sequences, and the places of results."""
    return CONTEXT_HEAD + sum(o.sequence for o in (*inputs, *outputs)) * (width + 2) + len(outputs)


def _in_order(places: list[int]) -> range | list[int]:
    """The same places, as a range if they are one after the other."""
    run = range(places[0], places[0] + len(places)) if places else range(0)
    return run if places == list(run) else places


def _table(b: Coder, places: Sequence[int], at: int) -> str:
    """The address of the entry of element `at` in the table of all places."""
    before, after = [0] * SPARE_BEFORE * b.width, [0] * SPARE_AFTER * b.width
    entries = ", ".join(f"i64 {k}" for k in (*before, *places, *after))
    b.module.add("places", f"@places = private constant [{len(before) + len(places) + len(after)} x i64] [{entries}]")
    return b.address("@places", len(before) + at)


class _Rows:
    """Moves between an operand's rows (one address a lane) and a tile.

    `places`: where in the tile its elements are; if not one after the other, `table` is the address of a table of them.
    """

    def __init__(self, b: Coder, rows: list[str], tile: str, places: range | list[int], table: str, unrolled: int):
        self.b, self.rows, self.tile, self.places, self.table = b, rows, tile, places, table
        self.size, self.unrolled, self.scalar = len(places), unrolled, _SCALAR[b.dtype]
        self.addresses = [b.pointer(row) for row in rows]

    def load(self, used: set[int]) -> None:
        """Rows to tile, but for blocks of elements that nobody reads."""
        self._each_block(0, self.size, self._load, lambda at, k: not used.isdisjoint(range(at, at + k)))

    def store(self) -> None:
        """Tile to rows."""
        self._each_block(0, self.size, self._store)

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

    def _tile(self, at, k: int) -> str:
        if isinstance(at, int):
            place = str(self.places[at + k])
        elif isinstance(self.places, range):
            place = self.b.add(at, self.places[0] + k)
        else:
            place = self.b.get(self.table, self.b.add(at, k))
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
            columns = transpose(b, [self._join(rows[j::k], k) for j in range(k)], k)
        for j in range(k):
            b.emit(f" store {t} {columns[j]}, ptr {self._tile(at, j)}")

    def _store(self, at, k: int) -> None:
        b, t, w = self.b, self.b.type("f"), self.b.width
        columns = [b.op(f"load {t}, ptr {self._tile(at, j)}", "f").name for j in range(k)]
        columns = transpose(b, columns, k)
        for lane in range(w):
            if k == 1:
                e = columns[0] if w == 1 else b.op(f"extractelement {t} {columns[0]}, i32 {lane}", "f").name
                b.emit(f" store {self.scalar} {e}, ptr {self._element(lane, at)}")
                continue
            first = lane // k * k
            mask = ", ".join(f"i32 {first + i}" for i in range(k))
            part = b.op(f"shufflevector {t} {columns[lane % k]}, {t} poison, <{k} x i32> <{mask}>", "f").name
            b.emit(f" store <{k} x {self.scalar}> {part}, ptr {self._element(lane, at)}, align {BYTES[b.dtype]}")


class _Batch(Coder):
    """Writes `batch`."""

    def __init__(self, module: Module, width: int, dtype: str, program: Program):
        super().__init__(module, width, dtype)
        self.program, self.places = program, program.tile.places
        self.unrolled = UNROLLED if len(program.nodes) < LONG else 0
        self.used: dict[str, set[int]] = {}  # elements that the body reads
        for x in program.nodes:
            if x.op == "input":
                self.used.setdefault(x.value[0], set()).add(x.value[1])
        self.has_lines = any(self._as_lines(o) for o in program.outputs)
        self.stores_itself = stores_itself(program, width)

    def _as_lines(self, o: Operand) -> bool:
        return not o.sequence and o.size >= least_size(self.width)

    def function(self) -> str:
        p, w, size = self.program, self.width, BYTES[self.dtype]
        tile_in, tile_out = tile_sizes(p.inputs, p.outputs, w)
        self.emit(f" %out = getelementptr i8, ptr %work, i64 {tile_in * w * size}")
        self.emit(f" %context = getelementptr i8, ptr %work, i64 {(tile_in + tile_out) * w * size}")
        words = self._operand_words()
        samples, last = self.word("sub i64 %stop, %start"), self.word("sub i64 %stop, 1")
        self.emit(f" %stream = icmp sge i64 {self.mul(samples, len(self.places) * size)}, {STREAMED}")
        self.module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        with self.loop(self.word(f"sdiv i64 {self.add(samples, w - 1)}, {w}")) as group:
            self._look(group)
            first = self.add("%start", self.mul(group, w))
            lanes = [self.word(f"call i64 @llvm.smin.i64(i64 {self.add(first, n)}, i64 {last})") for n in range(w)]
            left = self.word(f"sub i64 %stop, {first}")
            self._group(words, lanes, self.word(f"call i64 @llvm.smin.i64(i64 {left}, i64 {w})"))
        self.emit(" br label %stopped")
        self.label("stopped")
        if self.has_lines:
            with self.when("%stream"):  # nobody sees the results before they are in memory
                self.emit(" fence seq_cst")
        self.emit(f" ret i64 {self._stop_word()}")
        head = "define i64 @batch(i64 %start, i64 %stop, ptr noalias %operands, ptr noalias %work) #0 {"
        return "\n".join([head, "entry:", *self.lines, "}"])

    def _look(self, group: str) -> None:
        """Between groups, every so often: look whether to stop.

        Code for one lane runs a single sample, or, if it took long to compile, some thousand: see
        `Specialisation.serving`.
        """
        work = _work(self.program)
        if self.width == 1 and work < BRIEF:
            return
        often = repetitions(work)
        with self.when(self.same(self.word(f"and i64 {group}, {often - 1}"), often - 1)):
            spend(self, often * work)
            look(self, "stopped")

    def _stop_word(self) -> str:
        return self.get(self.pointer(self.get("%context", WATCH)), STOP)

    def _operand_words(self) -> list[list[str]]:
        """What the caller says of each operand; what it says besides goes to the context."""
        at, words = 0, []
        for o in (*self.program.inputs, *self.program.outputs):
            words.append([self.get("%operands", at + k) for k in range(4 if o.sequence else 2)])
            at += len(words[-1])
        for k in range(CONTEXT_HEAD):
            self.put(self.get("%operands", at + k), "%context", k)
        return words

    def _group(self, words: list[list[str]], lanes: list[str], count: str) -> None:
        """One group of `count` samples."""
        p = self.program
        rows = [[self.add(address, self.mul(lane, stride)) for lane in lanes] for address, stride, *_ in words]
        self._put_sequences(words, rows)
        self._load_inputs(rows)
        results = list(zip(p.outputs, rows[len(p.inputs) :], words[len(p.inputs) :], strict=True))
        if self.has_lines:
            with self.when("%stream"):
                for o, lane_rows, (_, stride, *_) in results:
                    if self._as_lines(o):
                        fetch_ends(self, [*lane_rows, self.add(lane_rows[-1], stride)])
        if self.stores_itself:
            for k, (_, (row,), _) in enumerate(results):
                self.put(row, "%context", CONTEXT_HEAD + k)
        self.emit(" call void @body(ptr %work, ptr %out, ptr %context)")
        if has_lasting_loops(p.nodes):
            self.require(self.same(self._stop_word(), 0), "stopped")
        if self.stores_itself:
            return
        at = 0
        for o, lane_rows, (_, stride, *_) in results:
            if not o.sequence:
                self._store(o, at, lane_rows, stride, count)
                at += o.size

    def _put_sequences(self, words: list[list[str]], rows: list[list[str]]) -> None:
        """Sequences stay where they are: the body learns where that is."""
        slot = CONTEXT_HEAD
        for (_, _, *more), lane_rows in zip(words, rows, strict=True):
            if more:
                for word in (*lane_rows, *more):
                    self.put(word, "%context", slot)
                    slot += 1

    def _load_inputs(self, rows: list[list[str]]) -> None:
        at = 0
        for o, lane_rows in zip(self.program.inputs, rows, strict=False):
            if not o.sequence:
                places = range(at, at + o.size)
                _Rows(self, lane_rows, "%work", places, "", self.unrolled).load(self.used.get(o.name, set()))
                at += o.size

    def _store(self, o: Operand, at: int, rows: list[str], stride: str, count: str) -> None:
        """A result from its tile to rows; a long one as whole lines, if the group is full and rows leave no gaps."""
        places = _in_order(self.places[at : at + o.size])
        table = "" if isinstance(places, range) else _table(self, self.places, at)
        if not self._as_lines(o):
            return _Rows(self, rows, "%out", places, table, self.unrolled).store()
        tile = self.op(f"getelementptr {self.type('f')}, ptr %out, i64 {0 if table else places[0]}", "p").name
        dense = self.same(stride, o.size * BYTES[self.dtype])
        lines = self.op(f"and i1 {self.same(count, self.width)}, {dense}", "m").name
        few = self.op(f"icmp sle i64 {count}, {FEW}", "m").name
        with self.when(lines):
            name = line_function(self.module, self.width, self.dtype, o.size, bool(table))
            self.emit(f" call void @{name}(i64 {rows[0]}, ptr {tile}, ptr {table or 'null'}, i1 %stream)")
        with self.when(few):
            self._store_each(tile, table, o.size, rows[0], stride, count)
        with self.when(self.same(lines, few, "i1")):  # neither
            _Rows(self, rows, "%out", places, table, 0).store()

    def _store_each(self, tile: str, table: str, size: int, row: str, stride: str, count: str) -> None:
        """One sample after the other, one element after the other."""
        scalar = _SCALAR[self.dtype]

        def element(base: str, at: str) -> str:
            return self.op(f"getelementptr {scalar}, ptr {base}, i64 {at}", "p").name

        with self.loop(count) as lane:
            to = self.pointer(self.add(row, self.mul(lane, stride)))
            with self.loop(size) as e:
                at = self.add(self.mul(self.get(table, e) if table else e, self.width), lane)
                x = self.op(f"load {scalar}, ptr {element(tile, at)}", "f").name
                self.emit(f" store {scalar} {x}, ptr {element(to, e)}")


def _work(program: Program) -> int:
    """How much work one group is: its body, and moving its inputs and results."""
    return weigh(program.nodes) + MOVED * sum(o.size for o in (*program.inputs, *program.outputs) if not o.sequence)


def batch_function(module: Module, width: int, dtype: str, program: Program) -> str:
    """`batch(start, stop, operands, work)`; operands: (address, stride) of every operand, then the context's words.

    A sequence operand has four words: address, stride over the batch, stride over the rows, element offsets. The
    result is 0 if all samples were computed, else what the watch says of stopping.
    """
    return _Batch(module, width, dtype, program).function()


def _move(b: Coder, source: str, i: str, target: str, k: str) -> None:
    """Vector i from one place in memory to vector k from another."""
    t = b.type("f")
    x = b.op(f"load {t}, ptr {b.op(f'getelementptr {t}, ptr {source}, i64 {i}', 'p').name}", "f").name
    b.emit(f" store {t} {x}, ptr {b.op(f'getelementptr {t}, ptr {target}, i64 {k}', 'p').name}")


def is_moved(program: Program, width: int) -> bool:
    """Whether the results, as the body leaves them, are not all in their own places of the tile."""
    found = program.tile.places
    return not stores_itself(program, width) and found != list(range(len(found)))


def whole_function(module: Module, width: int, dtype: str, program: Program) -> str:
    """`whole(in, out, context)`: the body, and every element of the results in its own place of the tile."""
    b, t = Coder(module, width, dtype), Coder(module, width, dtype).type("f")
    spend(b, _work(program))
    look(b, "stopped")
    if stores_itself(program, width):
        at = 0
        for k, o in enumerate(program.outputs):
            place = b.op(f"getelementptr {t}, ptr %out, i64 {at}", "p").name
            b.put(b.word(f"ptrtoint ptr {place} to i64"), "%context", CONTEXT_HEAD + k)
            at += o.size
    b.emit(" call void @body(ptr %in, ptr %out, ptr %context)")
    if is_moved(program, width):
        found = program.tile.places
        table, scratch = _table(b, found, 0), b.pointer(b.get("%context", 1))  # which the body needs no more
        with b.loop(len(found)) as k:
            _move(b, "%out", b.get(table, k), scratch, k)
        with b.loop(len(found)) as k:
            _move(b, scratch, k, "%out", k)
    b.emit(" br label %stopped")
    head = "define void @whole(ptr noalias %in, ptr noalias %out, ptr noalias %context) #0 {"
    return "\n".join([head, "entry:", *b.lines, "stopped:", " ret void", "}"])
