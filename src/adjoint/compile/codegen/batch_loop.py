"""The loop over a batch, around the body of a kernel: it moves rows of samples into tiles of lanes and back.

A *row* holds the elements of one sample, as the caller's arrays do. A *tile* holds a group of samples: one vector for
each element, one *lane* of the vector for each sample. `batch(start, stop, operands, work)` runs the body over samples
whose elements are contiguous, and transposes small blocks. In the last, incomplete group the idle lanes repeat the last
sample: they compute and store the same numbers once more, so nothing beyond an end is read or written. An input that
is the same for all samples is moved once.

`work` is the memory of the call: the tile of inputs, the tile of results, the context (a table of words that the body
reads, see `body`), and scratch memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.program import Operand, Program
from .ir import BYTES, Coder, Module
from .line_stores import SPARE_AFTER, SPARE_BEFORE, fetch_ends, least_size, line_function, transpose
from .watch import STOP, WATCH, check_stop, count_work, has_long_running_loops, repetitions_between_checks, work_of

__all__ = [
    "CONTEXT_HEAD",
    "STREAM_BYTES",
    "are_results_scattered",
    "batch_function",
    "body_stores_results",
    "context_size",
    "tile_sizes",
    "whole_function",
]

_SCALAR = {"f64": "double", "f32": "float"}
MOST_UNROLLED = 24  # the moves of an operand of at most so many blocks are written out; more of them become a loop
# In programs with so many nodes all moves are loops: moving takes little of their time, but much of LLVM's.
LONG_PROGRAM = 2000
FEW_SAMPLES = 2  # groups of at most so many samples store long results element by element: idle lanes would cost more
MOST_REPEATED = 4  # a body stores its results itself if it has at most so many for each node, see `body_stores_results`
# So many bytes of results are quicker to write past the caches, even if they are read once afterwards.
STREAM_BYTES = 5 << 20
CONTEXT_HEAD = 3  # the words at the start of a context: length of the sequences, addresses of scratch memory and watch
BRIEF_WORK = 1 << 12  # a sample of less work (see `watch`) is so short that thousands need no check whether to stop
MOVE_WORK = 8  # the work of reading or writing one element: most of it is waiting for memory


def _blocks(size: int, width: int):
    """Yield (start, k): the elements of a row in blocks of 4, 2 and 1, no larger than the width."""
    at = 0
    while at < size:
        k = next(k for k in (4, 2, 1) if k <= min(size - at, width))
        yield at, k
        at += k


def tile_sizes(inputs: Sequence[Operand], outputs: Sequence[Operand], width: int) -> tuple[int, int]:
    """Return how many vectors the tiles of inputs and of results have.

    They include the vectors around the results that `lines` (see `line_stores`) may read.
    """
    n, m = (sum(o.size for o in operands if not o.sequence) for operands in (inputs, outputs))
    return max(n, SPARE_BEFORE * width), m + SPARE_AFTER * width


def body_stores_results(program: Program, width: int) -> bool:
    """Return whether the body stores its results where they belong, and not in a tile; only code for one lane does.

    The words at the end of the context then say where each result goes. If there are far more elements to store than
    nodes to compute, the results go through a tile all the same: a loop over a table of places stores them, while LLVM
    would have to compile each store of the body.
    """
    sequences = any(o.sequence for o in (*program.inputs, *program.outputs))
    return width == 1 and not sequences and not program.tile.stacks and program.repetitions <= MOST_REPEATED


def context_size(inputs: Sequence[Operand], outputs: Sequence[Operand], width: int) -> int:
    """Return how many words a context has: its head, the entries of sequences, and the addresses of results."""
    return CONTEXT_HEAD + sum(o.sequence for o in (*inputs, *outputs)) * (width + 2) + len(outputs)


def _in_order(places: list[int]) -> range | list[int]:
    """Return the same places, as a range if they follow each other."""
    run = range(places[0], places[0] + len(places)) if places else range(0)
    return run if places == list(run) else places


def _table(b: Coder, places: Sequence[int], at: int) -> str:
    """Return the address of the entry of element `at` in a table of the places of all elements."""
    before, after = [0] * SPARE_BEFORE * b.width, [0] * SPARE_AFTER * b.width
    entries = ", ".join(f"i64 {k}" for k in (*before, *places, *after))
    b.module.add("places", f"@places = private constant [{len(before) + len(places) + len(after)} x i64] [{entries}]")
    return b.address("@places", len(before) + at)


class _Rows:
    """Emits moves between rows of an operand, one for each lane, and a tile.

    `places` says which vectors of the tile hold the elements. If they do not follow each other, `table` is the address
    of a table of them. More than `unrolled` blocks are moved by a loop.
    """

    def __init__(self, b: Coder, rows: list[str], tile: str, places: range | list[int], table: str, unrolled: int):
        self.b, self.rows, self.tile, self.places, self.table = b, rows, tile, places, table
        self.size, self.unrolled, self.scalar = len(places), unrolled, _SCALAR[b.dtype]
        self.addresses = [b.pointer(row) for row in rows]

    def load(self, used: set[int]) -> None:
        """Move rows to the tile, without the blocks of elements that nobody reads."""
        self._each_block(0, self.size, self._load, lambda at, k: not used.isdisjoint(range(at, at + k)))

    def store(self) -> None:
        """Move the tile to rows."""
        self._each_block(0, self.size, self._store)

    def _each_block(self, start: int, stop: int, move, wanted=lambda at, k: True) -> None:
        """Move the elements in blocks of 4, 2 and 1: many blocks by a loop, few by code for each."""
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
        """The address of the vector of element at + k."""
        if isinstance(at, int):
            place = str(self.places[at + k])
        elif isinstance(self.places, range):
            place = self.b.add(at, self.places[0] + k)
        else:
            place = self.b.get(self.table, self.b.add(at, k))
        return self.b.op(f"getelementptr {self.b.type('f')}, ptr {self.tile}, i64 {place}", "p").name

    def _element(self, lane: int, at) -> str:
        """The address of an element in the row of a lane."""
        return self.b.op(f"getelementptr {self.scalar}, ptr {self.addresses[lane]}, i64 {at}", "p").name

    def _join(self, parts: list[str], k: int) -> str:
        """Concatenate vectors of k lanes."""
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
    """Writes the function `batch`."""

    def __init__(self, module: Module, width: int, dtype: str, program: Program, memos: Sequence[int]):
        super().__init__(module, width, dtype)
        self.program, self.places, self.memos = program, program.tile.places, memos
        self.unrolled = MOST_UNROLLED if len(program.nodes) < LONG_PROGRAM else 0
        self.used: dict[str, set[int]] = {}  # input -> the elements that the body reads
        for x in program.nodes:
            if x.op == "input":
                self.used.setdefault(x.value[0], set()).add(x.value[1])
        self.has_lines = any(self._as_lines(o) for o in program.outputs)
        self.body_stores_results = body_stores_results(program, width)

    def _as_lines(self, o: Operand) -> bool:
        """Return whether a result is stored as whole cache lines, if the group is full (see `line_stores`)."""
        return not o.sequence and o.size >= least_size(self.width)

    def function(self) -> str:
        """The text of `batch`."""
        p, w, size = self.program, self.width, BYTES[self.dtype]
        tile_in, tile_out = tile_sizes(p.inputs, p.outputs, w)
        self.emit(f" %out = getelementptr i8, ptr %work, i64 {tile_in * w * size}")
        self.emit(f" %context = getelementptr i8, ptr %work, i64 {(tile_in + tile_out) * w * size}")
        words = self._operand_words()
        _clear_memos(self, self.memos)
        samples, last = self.word("sub i64 %stop, %start"), self.word("sub i64 %stop, 1")
        self.emit(f" %stream = icmp sge i64 {self.mul(samples, len(self.places) * size)}, {STREAM_BYTES}")
        self.module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        with self.loop(self.word(f"sdiv i64 {self.add(samples, w - 1)}, {w}")) as group:
            self._check_stop(group)
            first = self.add("%start", self.mul(group, w))
            lanes = [self.word(f"call i64 @llvm.smin.i64(i64 {self.add(first, n)}, i64 {last})") for n in range(w)]
            left = self.word(f"sub i64 %stop, {first}")
            count = self.word(f"call i64 @llvm.smin.i64(i64 {left}, i64 {w})")
            self._group(words, lanes, count, self.same(group, 0))
        self.emit(" br label %stopped")
        self.label("stopped")
        if self.has_lines:
            # Stores past the caches must reach memory before anybody is told that the call has ended.
            with self.when("%stream"):
                self.emit(" fence seq_cst")
        self.emit(f" ret i64 {self._stop_word()}")
        head = "define i64 @batch(i64 %start, i64 %stop, ptr noalias %operands, ptr noalias %work) #0 {"
        return "\n".join([head, "entry:", *self.lines, "}"])

    def _check_stop(self, group: str) -> None:
        """Check whether to stop: between groups, after every millisecond of work.

        Code for one lane runs a single sample. If code for a batch takes long to compile, it runs some thousand samples
        in its place (see `Specialisation.code_for`), which is short enough if one sample is little work.
        """
        work = _work(self.program)
        if self.width == 1 and work < BRIEF_WORK:
            return
        often = repetitions_between_checks(work)
        with self.when(self.same(self.word(f"and i64 {group}, {often - 1}"), often - 1)):
            count_work(self, often * work)
            check_stop(self, "stopped")

    def _stop_word(self) -> str:
        """The word of the watch that says whether to stop."""
        return self.get(self.pointer(self.get("%context", WATCH)), STOP)

    def _operand_words(self) -> list[list[str]]:
        """Load what the caller says of each operand, and copy the words after that to the head of the context."""
        at, words = 0, []
        for o in (*self.program.inputs, *self.program.outputs):
            words.append([self.get("%operands", at + k) for k in range(4 if o.sequence else 2)])
            at += len(words[-1])
        for k in range(CONTEXT_HEAD):
            self.put(self.get("%operands", at + k), "%context", k)
        return words

    def _group(self, words: list[list[str]], lanes: list[str], count: str, first: str) -> None:
        """Compute one group of `count` samples; `first` says whether it is the first one."""
        p = self.program
        rows = [[self.add(address, self.mul(lane, stride)) for lane in lanes] for address, stride, *_ in words]
        self._put_sequences(words, rows)
        self._load_inputs(words, rows, first)
        results = list(zip(p.outputs, rows[len(p.inputs) :], words[len(p.inputs) :], strict=True))
        if self.has_lines:
            with self.when("%stream"):
                for o, lane_rows, (_, stride, *_) in results:
                    if self._as_lines(o):
                        fetch_ends(self, [*lane_rows, self.add(lane_rows[-1], stride)])
        if self.body_stores_results:
            for k, (_, (row,), _) in enumerate(results):
                self.put(row, "%context", CONTEXT_HEAD + k)
        self.emit(" call void @body(ptr %work, ptr %out, ptr %context)")
        if has_long_running_loops(p.nodes):
            self.require(self.same(self._stop_word(), 0), "stopped")
        if self.body_stores_results:
            return
        at = 0
        for o, lane_rows, (_, stride, *_) in results:
            if not o.sequence:
                self._store(o, at, lane_rows, stride, count)
                at += o.size

    def _put_sequences(self, words: list[list[str]], rows: list[list[str]]) -> None:
        """Write to the context where the sequences are: they stay where they are, and the body reads them there."""
        slot = CONTEXT_HEAD
        for (_, _, *more), lane_rows in zip(words, rows, strict=True):
            if more:
                for word in (*lane_rows, *more):
                    self.put(word, "%context", slot)
                    slot += 1

    def _load_inputs(self, words: list[list[str]], rows: list[list[str]], first: str) -> None:
        """Move the inputs from their rows to the tile; one that is the same for all samples only in the first group."""
        at = 0
        for o, (_, stride, *_), lane_rows in zip(self.program.inputs, words, rows, strict=False):
            if o.sequence:
                continue
            places = range(at, at + o.size)
            differs = self.op(f"icmp ne i64 {stride}, 0", "m").name
            with self.when(self.op(f"or i1 {differs}, {first}", "m").name):
                _Rows(self, lane_rows, "%work", places, "", self.unrolled).load(self.used.get(o.name, set()))
            at += o.size

    def _store(self, o: Operand, at: int, rows: list[str], stride: str, count: str) -> None:
        """Move a result from its tile to rows.

        A long result is stored as whole cache lines if the group is full and there are no gaps between the rows.
        """
        places = _in_order(self.places[at : at + o.size])
        table = "" if isinstance(places, range) else _table(self, self.places, at)
        if not self._as_lines(o):
            return _Rows(self, rows, "%out", places, table, self.unrolled).store()
        tile = self.op(f"getelementptr {self.type('f')}, ptr %out, i64 {0 if table else places[0]}", "p").name
        dense = self.same(stride, o.size * BYTES[self.dtype])
        lines = self.op(f"and i1 {self.same(count, self.width)}, {dense}", "m").name
        few = self.op(f"icmp sle i64 {count}, {FEW_SAMPLES}", "m").name
        with self.when(lines):
            name = line_function(self.module, self.width, self.dtype, o.size, bool(table))
            self.emit(f" call void @{name}(i64 {rows[0]}, ptr {tile}, ptr {table or 'null'}, i1 %stream)")
        with self.when(few):
            self._store_each(tile, table, o.size, rows[0], stride, count)
        with self.when(self.same(lines, few, "i1")):  # at most one of the two holds: if they are the same, neither does
            _Rows(self, rows, "%out", places, table, 0).store()

    def _store_each(self, tile: str, table: str, size: int, row: str, stride: str, count: str) -> None:
        """Store a result sample by sample, element by element."""
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
    """Return how much work one group is: its body, and moving its inputs and results."""
    moved = sum(o.size for o in (*program.inputs, *program.outputs) if not o.sequence)
    return work_of(program.nodes) + MOVE_WORK * moved


def _clear_memos(b: Coder, memos: Sequence[int]) -> None:
    """Emit code that forgets what was read last: another call may have other tables at the same address."""
    if memos:
        scratch = b.pointer(b.get("%context", 1))
        for k in memos:
            place = b.op(f"getelementptr {b.type('f')}, ptr {scratch}, i64 {k}", "p").name
            b.put(0, place, 0)


def batch_function(module: Module, width: int, dtype: str, program: Program, memos: Sequence[int] = ()) -> str:
    """The IR of `batch(start, stop, operands, work)`, which computes the samples from `start` to `stop`.

    `operands` has two words for every operand, its address and its stride over the batch, and then the words of the
    context's head. A sequence has four words: address, stride over the batch, stride over the rows, and the address of
    a table of the offsets of its elements. The result is 0 if all samples were computed; otherwise it is the word
    `stop` of the watch. `memos` are places in scratch memory whose words are 0 at the start.
    """
    return _Batch(module, width, dtype, program, memos).function()


def _move(b: Coder, source: str, i: str, target: str, k: str) -> None:
    """Copy vector i of `source` to vector k of `target`."""
    t = b.type("f")
    x = b.op(f"load {t}, ptr {b.op(f'getelementptr {t}, ptr {source}, i64 {i}', 'p').name}", "f").name
    b.emit(f" store {t} {x}, ptr {b.op(f'getelementptr {t}, ptr {target}, i64 {k}', 'p').name}")


def are_results_scattered(program: Program, width: int) -> bool:
    """Return whether some results, as the body leaves them, are not in their own places of the tile.

    Elements that are the same number share a vector, see `graph.program.Tile`.
    """
    found = program.tile.places
    return not body_stores_results(program, width) and found != list(range(len(found)))


def whole_function(module: Module, width: int, dtype: str, program: Program, memos: Sequence[int] = ()) -> str:
    """The IR of `whole(in, out, context)`, which computes one group of samples in tiles.

    It runs the body, and then puts every element of the results in its own place of the tile.
    """
    b, t = Coder(module, width, dtype), Coder(module, width, dtype).type("f")
    count_work(b, _work(program))
    check_stop(b, "stopped")
    if body_stores_results(program, width):
        at = 0
        for k, o in enumerate(program.outputs):
            place = b.op(f"getelementptr {t}, ptr %out, i64 {at}", "p").name
            b.put(b.word(f"ptrtoint ptr {place} to i64"), "%context", CONTEXT_HEAD + k)
            at += o.size
    _clear_memos(b, memos)
    b.emit(" call void @body(ptr %in, ptr %out, ptr %context)")
    if are_results_scattered(program, width):
        found = program.tile.places
        table, scratch = _table(b, found, 0), b.pointer(b.get("%context", 1))  # the body no longer needs scratch memory
        with b.loop(len(found)) as k:
            _move(b, "%out", b.get(table, k), scratch, k)
        with b.loop(len(found)) as k:
            _move(b, scratch, k, "%out", k)
    b.emit(" br label %stopped")
    head = "define void @whole(ptr noalias %in, ptr noalias %out, ptr noalias %context) #0 {"
    return "\n".join([head, "entry:", *b.lines, "stopped:", " ret void", "}"])
