"""The machine code of a graph: `body(in, out, context)` computes one group of samples, each in a SIMD lane of its own.

Inputs and results lie in *tiles*, memory with one vector of lanes for each element; `batch_loop` moves numbers there
and back. Loops of the graph become loops of the machine: their carry is in registers, and what they stack is in
*scratch* memory, which belongs to the call, or in the caller's own arrays. The *context* is a table of words for the
code of a call: the length of the sequences, the address of scratch memory, that of the watch (see `watch`), and where
sequences and results are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..graph.expressions import Expr, reachable
from ..graph.loops import Loop
from ..graph.operations import OPS
from ..graph.program import Program, array_size, stack_of
from . import vecmath
from .batch_loop import CONTEXT_HEAD, are_results_scattered, batch_function, body_stores_results, whole_function
from .ir import BYTES, FRAME, Buffer, Builder, Coder, Module, Place, Value
from .rows import MANY_ELEMENTS, OperandRow, copy_row
from .scheduler import fused_products, schedule, sin_cos_pairs
from .segments import LongLoop, Segments, has_long_body, is_long
from .target import ANY, Target
from .watch import check_stop, count_work, iteration_work, repetitions_between_checks, runs_long, stops_function

__all__ = ["emit"]

MANY_NODES = 4000  # in programs with more nodes, LLVM is kept from joining stores of single numbers: see `store`
MANY_ZEROS = 16  # a result with more zeros than this is first cleared as a whole
_LOADED = {"const", "bool", "input", "item"}  # operations whose values are read wherever they are used


@dataclass
class Emitter:
    """Emits graphs (that of a kernel and those of its loops) into the function `body`."""

    module: Module
    b: Coder
    program: Program
    shared: frozenset[str]  # names of sequences that all samples of a batch have in common
    target: Target  # the kind of processor
    scratch: int = 0  # vectors of scratch memory that are needed, whatever the length of the sequences
    scratch_rows: int = 0  # vectors of scratch memory that are needed for each row of the sequences
    # Places in scratch memory of words that say what was read last; they are 0 when a call starts.
    memos: list[int] = field(default_factory=list)
    # ("in" or "out", name of a sequence) -> the number of its entry in the context
    slots: dict[tuple[str, str], int] = field(default_factory=dict)
    frame: str = ""  # the address of scratch memory, by its name in the function that is being emitted
    # Number of a result -> its address, by its name in that function.
    _results: dict[int, str] = field(default_factory=dict)
    _functions: int = 0  # how many functions were made besides `body`
    _has_many_nodes: bool = False  # whether the program has so many nodes that the time LLVM takes matters

    def function(self) -> str:
        """Return the text of `body`."""
        p = self.program
        sequences = [("in", o.name) for o in p.inputs if o.sequence] + [
            ("out", o.name) for o in p.outputs if o.sequence
        ]
        self.slots = {key: k for k, key in enumerate(sequences)}
        offsets, at = {}, 0
        for o in p.inputs:
            if not o.sequence:
                offsets[o.name], at = at, at + o.size
        self.stacks = p.tile.stacks
        self._offsets = offsets
        self._targets = {
            result[0].id: self.slots["out", o.name]
            for o, result in zip(p.outputs, p.results, strict=True)
            if o.sequence
        }
        self.module.add("#0", 'attributes #0 = { "no-trapping-math"="true" }')
        # LLVM keeps vectors for which there is no register on the stack; on an unaligned one they would cross cache
        # lines.
        self.module.add("#1", 'attributes #1 = { "no-trapping-math"="true" "stackrealign" }')
        self.frame = self.context_word(1, "ptr")
        bodies = [len(reachable(x.value.roots)) for x in p.nodes if x.op == "loop"]
        self._has_many_nodes = len(p.nodes) + sum(bodies) > MANY_NODES
        stores = self._stores_in_place() if body_stores_results(p, self.b.width) else self._stores_in_tile()

        def done(x: Expr, v: Value) -> None:
            for result, place in stores.get(x.id, ()):
                self.store(self._result(result), place, v, apart=result is not None)

        roots = list(dict.fromkeys([stack_of(e) if stack_of(e).id in self.stacks else e for e in p.roots]))
        order = schedule(roots)
        if is_long(order):
            Segments(self, order, p.roots).call(done)
        else:
            self._graph(order, roots, {}, done, top=True)
        return self.text("body")

    def _stores_in_tile(self) -> dict[int, list[tuple[int | None, int]]]:
        """Return {node: where it is stored}: (None, its place in the tile of results)."""
        placed = zip(self.program.elements, self.program.tile.places, strict=True)
        return {e.id: [(None, place)] for e, place in placed if stack_of(e).id not in self.stacks}

    def _stores_in_place(self) -> dict[int, list[tuple[int | None, int]]]:
        """Return {node: where it is stored}: (the number of a result, the place in it).

        A node may be stored several times.

        Results with many zeros are cleared here, and their zeros are not stored.
        """
        stores: dict[int, list[tuple[int | None, int]]] = {}
        for number, result in enumerate(self.program.results):
            # -0.0 is no such zero
            zeros = {k for k, e in enumerate(result) if e.op == "const" and str(e.number()) == "0.0"}
            if len(zeros) > MANY_ZEROS:
                self._clear(self._result(number), len(result))
            for k, e in enumerate(result):
                if k not in zeros or len(zeros) <= MANY_ZEROS:
                    stores.setdefault(e.id, []).append((number, k))
        return stores

    def _result(self, number: int | None) -> str:
        """Return the address of a result in memory, or that of the tile of all results (`number` is None)."""
        if number is None:
            return "%out"
        if number not in self._results:
            self._results[number] = self.context_word(CONTEXT_HEAD + number, "ptr")
        return self._results[number]

    def _clear(self, at: str, size: int) -> None:
        """Emit a loop that sets `size` numbers from an address on to zero."""
        b, wide = self.b, self.target.width(self.b.dtype)
        scalar = b.type("f")
        with b.loop(size // wide) as i:
            p = b.op(f"getelementptr <{wide} x {scalar}>, ptr {at}, i64 {i}", "p").name
            b.emit(f" store <{wide} x {scalar}> zeroinitializer, ptr {p}, align {BYTES[b.dtype]}")
        for k in range(size // wide * wide, size):
            self.store(at, k, b.const(0.0))

    @contextmanager
    def separate_function(self, prefix: str) -> Iterator[None]:
        """What is emitted within this context becomes a function of its own, which is called here.

        It has the arguments of `body`.
        """
        before, name = (self.b, self._results, self.frame), f"segment{self._functions}"
        self._functions += 1
        self.b, self._results = Coder(self.module, self.b.width, self.b.dtype, prefix=prefix), {}
        self.frame = self.context_word(1, "ptr")
        yield
        self.module.add(name, self.text(name).replace("define", "define internal", 1))
        self.b, self._results, self.frame = before
        self.b.emit(f" call void @{name}(ptr %in, ptr %out, ptr %context)")

    def text(self, name: str) -> str:
        """The text of a function made of all that was emitted."""
        head = f"define void @{name}(ptr noalias %in, ptr noalias %out, ptr noalias %context) #1 {{"
        return "\n".join([head, "entry:", *self.b.lines, " br label %stopped", "stopped:", " ret void", "}"])

    # --- straight-line code ------------------------------------------------------------------------

    def _graph(self, order: list[Expr], roots: list[Expr], env: dict, done=lambda x, v: None, top=False) -> None:
        """Emit what the roots need, in this order.

        Constants, inputs and elements of arrays are read where they are first used.

        `env` has the values of nodes by their ids. `done(x, value)` is called for each node that is computed. `top`
        says that this is the graph of the kernel, and not that of a loop's body.
        """
        fused = fused_products(order, roots)
        pairs = sin_cos_pairs(order)
        skip, wanted = set(fused.values()), {r.id for r in roots}
        for x in order:
            if x.id in skip or (x.op in _LOADED and x.id not in wanted):
                continue
            if x.id not in env:
                env[x.id] = self.node(x, env, fused, pairs, top)
            done(x, env[x.id])

    def _value(self, x: Expr, env: dict):
        """The value of a node that was emitted before, or that can be read anywhere."""
        v = env.get(x.id)
        if v is None:
            v = env[x.id] = self.node(x, env, {}, {})
        return self.read(v, x.mask) if type(v) is Place else v

    def read(self, place: Place, mask: bool) -> Value:
        """Load a value from memory, where truth values are 1 and 0."""
        number = self.load(place.base, place.index)
        return number != 0.0 if mask else number

    def node(self, x: Expr, env: dict, fused: dict[int, int], pairs: dict, top: bool = False) -> Any:
        """Emit one node, and return its value.

        This is a `Value`, the buffer of an array, or, for a loop, its last carry and the buffers that it stacked.
        """
        if x.op in OPS:
            return self._operation(x, env, fused, pairs)
        if x.op == "const":
            return self.b.const(x.number())  # type: ignore[arg-type]
        if x.op == "bool":
            return self.b.mask(x.value)
        if x.op == "input":
            place = self.input_place(x)
            return self.load(place.base, place.index)
        if x.op in ("sequence", "array"):
            return self._array(x, env)
        if x.op == "row":
            own, table = self.buffer(x, False), self._value(x.args[0], env)
            assert isinstance(table, Buffer)
            copy_row(self, x, table, self._value(x.args[1], env), own)
            return own
        if x.op == "loop":
            return self._loop(x, env, top)
        if x.op == "item":
            first = env[x.args[0].id].place
            return self.load(first.base, first.index + x.value)
        carries, stacked = env[x.args[0].id]
        found = (carries if x.op == "carry" else stacked)[x.value]
        return self.read(found, False) if type(found) is Place else found

    def _operation(self, x: Expr, env: dict, fused: dict[int, int], pairs: dict) -> Value:
        if x.id in fused:
            return self._multiply_add(x, env, fused[x.id])
        args = [self._value(a, env) for a in x.args]
        if x.op in _INSTRUCTION:
            return self.b.op(f"{_INSTRUCTION[x.op]} {self.b.type('f')} {args[0].name}, {args[1].name}", "f")
        if x.op in ("sin", "cos") and x.args[0].id in pairs:
            pair = pairs[x.args[0].id]
            if not pair:
                pair.extend(self._call("sincos", args, results=2))
            return pair[x.op == "cos"]
        return _EMIT[x.op](self.b, *args) if x.op in _EMIT else self._call(x.op, args)[0]

    def _call(self, name: str, args: list[Value], results: int = 1) -> list[Value]:
        """Emit a call of a function of vecmath, which is emitted once.

        Operations of a few instructions are emitted in place.

        Calls keep the code, and the time that LLVM takes, small. Their calling convention leaves half of the registers
        alone.
        """
        b, t = self.b, self.b.type("f")
        if name in OPS and OPS[name].counted != "transcendental":
            return [vecmath.FUNCTIONS[name](b, *args)]
        returned = t if results == 1 else "{" + ", ".join([t] * results) + "}"
        if not self.module.has(f"lanes.{name}"):
            inner = Builder(self.module, b.width, b.dtype)
            emitter = vecmath.sincos if name == "sincos" else vecmath.FUNCTIONS[name]
            made: Any = emitter(inner, *(Value(inner, f"%a{k}", "f") for k in range(len(args))))
            result = made.name if results == 1 else inner.struct(returned, made)
            arguments = ", ".join(f"{t} %a{k}" for k in range(len(args)))
            head = f"define internal {self.target.vector_call} {returned} @lanes.{name}({arguments}) #0 {{"
            lines = [head, "entry:", *inner.lines, f" ret {returned} {result}", "}"]
            self.module.add(f"lanes.{name}", "\n".join(lines))
        operands = ", ".join([f"{t} {a.name}" for a in args])
        got = b.op(f"call {self.target.vector_call} {returned} @lanes.{name}({operands})", "f")
        if results == 1:
            return [got]
        return [b.op(f"extractvalue {returned} {got.name}, {k}", "f") for k in range(results)]

    def _multiply_add(self, x: Expr, env: dict, product: int) -> Value:
        """x = a + m, a - m or m - a with the product m = p * q, rounded once."""
        first, second = x.args
        m, a = (first, second) if first.id == product else (second, first)
        p, q, rest = (self._value(e, env) for e in (*m.args, a))
        if x.op == "sub":
            if m is second:
                p = -p
            else:
                rest = -rest
        return self.b.fma(p, q, rest)

    def load(self, base: str, k: int | str) -> Value:
        """Load vector of lanes number k, counted from `base`."""
        t = self.b.type("f")
        return self.b.op(f"load {t}, ptr {self.element(base, k)}", "f")

    def store(self, base: str, k: int | str, v: Value, apart: bool = False) -> None:
        # LLVM tries to join stores of single numbers. The time for that grows with the square of their number, and LLVM
        # leaves volatile stores alone.
        """Store a vector of lanes as number k, counted from `base`.

        `apart` keeps LLVM from joining this store with others.
        """
        apart = self.b.width == 1 and (apart or self._has_many_nodes)
        how, place = "volatile " if apart else "", self.element(base, k)
        self.b.emit(f" store {how}{self.b.type('f')} {v.name}, ptr {place}")

    def element(self, base: str, k: int | str) -> str:
        """The address of vector of lanes number k, counted from `base`.

        K may be a value that is known only when the code runs.
        """
        base = self.frame if base is FRAME else base
        return self.b.op(f"getelementptr {self.b.type('f')}, ptr {base}, i64 {k}", "p").name

    # --- buffers -----------------------------------------------------------------------------------

    def context_word(self, k: int, type: str = "i64") -> str:
        """Load word k of the context.

        Addresses are loaded as pointers: LLVM then sees that they point to none of the function's arguments.
        """
        p = self.b.op(f"getelementptr i64, ptr %context, i64 {k}", "p")
        return self.b.op(f"load {type}, ptr {p.name}", "w").name

    def reserve(self, vectors: int) -> int:
        """Reserve vectors of scratch memory; returns the number of the first one."""
        self.scratch += vectors
        return self.scratch - vectors

    def input_place(self, x: Expr) -> Place:
        """Return where an input of the kernel is."""
        name, k = x.value
        return Place("%in", self._offsets[name] + k)

    def buffer(self, x: Expr, top: bool) -> Buffer:
        """Choose the memory for an array, a sequence or what a loop stacks.

        `top` says that the node belongs to the graph of the kernel, and not to that of a loop's body. Results of the
        kernel are stacked where they belong, and an array of consecutive inputs is read where the inputs are.
        """
        if x.op == "sequence":
            return Buffer(slot=self.slots["in", x.value])
        if top and x.id in self._targets:
            return Buffer(slot=self._targets[x.id])
        if top and x.id in self.stacks:
            return Buffer(Place("%out", self.stacks[x.id]))
        if top and x.op == "array" and _is_run(x.args):
            return Buffer(self.input_place(x.args[0]))
        if x.op == "stacked" and x.args[0].value.length is None:
            self.scratch_rows += len(x.args[0].value.ys[x.value])
            return Buffer(rows=self.scratch_rows - len(x.args[0].value.ys[x.value]))
        return Buffer(Place(FRAME, self.reserve(array_size(x))))

    def _array(self, x: Expr, env: dict) -> Buffer:
        """Return the buffer of a sequence or an array; an array in scratch memory is filled."""
        buffer = self.buffer(x, x.graph is self.program.graph)
        if buffer.place is not None and buffer.place.base is FRAME:
            for k, a in enumerate(x.args):
                self.store(FRAME, buffer.place.index + k, self._value(a, env), apart=len(x.args) > MANY_ELEMENTS)
        return buffer

    def start(self, buffer: Buffer) -> str | None:
        """The address of a buffer's first row.

        None for the caller's sequences, where each lane has an address of its own.
        """
        if buffer.place is not None:
            return self.element(buffer.place.base, buffer.place.index)
        if buffer.rows is None:
            return None
        # Buffers whose size is known only when the kernel is called come after all others. `emit` replaces @SCRATCH@ by
        # the size of those.
        step = self.b.width * BYTES[self.b.dtype]
        rows = self.b.op(f"mul i64 {self.context_word(0)}, {buffer.rows * step}", "w").name
        offset = self.b.op(f"add i64 {rows}, @SCRATCH@", "w").name
        return self.b.op(f"getelementptr i8, ptr {self.frame}, i64 {offset}", "p").name

    def row(self, buffer: Buffer, start: str | None, size: int, row: str):
        """Return two functions for row number `row` of a buffer: load(k) reads its element k, store(k, v) writes it."""
        b = self.b
        if start is not None:
            at = b.op(f"mul i64 {row}, {size}", "w").name
            p = b.op(f"getelementptr {b.type('f')}, ptr {start}, i64 {at}", "p").name
            return (lambda k: self.load(p, k)), (lambda k, v: self.store(p, k, v))
        row_of = OperandRow(self, buffer, row)
        return row_of.load, row_of.store

    def is_shared(self, buffer: Buffer) -> bool:
        """Return whether a buffer is a sequence that all samples of a batch have in common."""
        slots = self.slots.items()
        return any(k == buffer.slot and side == "in" and name in self.shared for (side, name), k in slots)

    # --- loops -------------------------------------------------------------------------------------

    def _loop(self, x: Expr, env: dict, top: bool):
        """Emit the node of a loop; returns its last carry, and the buffers that it stacked."""
        loop: Loop = x.value
        n, m = len(loop.carry), len(loop.captured)
        start = [self._value(a, env) for a in x.args[:n]]
        captured = {inner.id: self._value(a, env) for inner, a in zip(loop.captured, x.args[n : n + m], strict=True)}
        buffers: list[Any] = [self._value(a, env) for a in x.args[n + m :]]
        stacked = [self.buffer(x.graph.node("stacked", (x,), k), top) for k in range(len(loop.ys))]
        return self.loop(loop, start, captured, buffers, stacked), stacked

    def loop(self, loop: Loop, start: list, env: dict, buffers: list[Buffer], stacked: list[Buffer]) -> list:
        """Emit a loop; returns its last carry, as values or places. `start` has the first carry in the same form.

        `env` has the captured values; the loop reads rows from `buffers` and stacks rows into `stacked`.
        """
        if has_long_body(loop):
            return LongLoop(self, loop, start, env, buffers, stacked).carry
        start = [self.read(v, False) if type(v) is Place else v for v in start]
        if loop.condition is None:
            return self._scan(loop, start, env, buffers, stacked)
        return self._while(loop, start, env)

    def _scan(self, loop: Loop, start: list[Value], env: dict, buffers: list[Buffer], stacked: list[Buffer]):
        """Emit a loop over rows, with its carry in registers."""
        length, row_at = self.count(loop)
        read, written = ([(buffer, self.start(buffer)) for buffer in side] for side in (buffers, stacked))

        def more(count: str, end: str, env: dict) -> str:
            return self.b.op(f"icmp slt i64 {count}, {end}", "m").name

        def step(count: str, env: dict) -> list[Value]:
            row = row_at(count)
            for inner, buffer in zip(loop.xs, read, strict=True):
                load, _ = self.row(*buffer, len(inner), row)
                env.update({e.id: load(k) for k, e in enumerate(inner)})
            self._graph(schedule(loop.roots), loop.roots, env)
            for y, buffer in zip(loop.ys, written, strict=True):
                _, store = self.row(*buffer, len(y), row)
                for k, e in enumerate(y):
                    store(k, self._value(e, env))
            return [self._value(e, env) for e in loop.next_carry]

        return self._stoppable_loop(loop, length, start, env, more, step)

    def count(self, loop: Loop) -> tuple[str, Callable[[str], str]]:
        """Return how often a scan is repeated, and a function that gives the row of an iteration."""
        length = self.context_word(0) if loop.length is None else str(loop.length)
        if not loop.reverse:
            return length, lambda count: count
        last = self.b.op(f"sub i64 {length}, 1", "w").name
        return length, lambda count: self.b.op(f"sub i64 {last}, {count}", "w").name

    def _while(self, loop: Loop, start: list[Value], env: dict):
        """Emit a while loop. It runs until the condition has failed in all lanes."""
        b, condition = self.b, loop.condition
        assert condition is not None

        def more(count: str, end: str, env: dict) -> str:
            self._graph(schedule([condition]), [condition], env)
            early = b.op(f"icmp slt i64 {count}, {end}", "m").name
            return b.op(f"and i1 {b.any(env[condition.id])}, {early}", "m").name

        def step(count: str, env: dict) -> list[Value]:
            roots = list(loop.next_carry)
            self._graph(schedule(roots), roots, env)
            go_on = env[condition.id]  # a lane whose condition has failed keeps its carry
            return [b.select(go_on, self._value(e, env), env[c.id]) for e, c in zip(roots, loop.carry, strict=True)]

        return self._stoppable_loop(loop, str(loop.length), start, env, more, step)

    def _stoppable_loop(self, loop: Loop, length: str, start: list[Value], env: dict, more, step) -> list[Value]:
        """Emit a loop of at most `length` iterations that can be stopped; returns the last carry.

        It goes on while `more(count, end, env)` holds. A loop that may run long is cut into pieces: two loops, one in
        the other. The inner one ends at `end`, after about a millisecond; between the pieces the code checks whether to
        stop.
        """
        b, work = self.b, iteration_work(loop)
        if not runs_long(loop, work):
            return self.repeat(loop.carry, start, env, lambda count, env: more(count, length, env), step)[1]
        before, again, pause, end = b.block, b.fresh_label("again"), b.fresh_label("pause"), b.fresh_label("end")
        b.emit(f" br label %{again}")
        b.label(again)
        first, phis = b.fresh(), len(b.lines)
        carry = [Value(b, b.fresh(), "f") for _ in start]
        b.lines.extend("" for _ in range(1 + len(start)))
        self.module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        stop = b.word(f"call i64 @llvm.smin.i64(i64 {b.add(first, repetitions_between_checks(work))}, i64 {length})")
        count, left = self.repeat(loop.carry, carry, env, lambda count, env: more(count, stop, env), step, first)
        unfinished = b.op(f"icmp slt i64 {stop}, {length}", "m").name
        if loop.condition is None:
            count = stop
        else:
            unfinished = b.op(f"and i1 {b.same(count, stop)}, {unfinished}", "m").name
        due = count_work(b, b.mul(b.word(f"sub i64 {count}, {first}"), work))
        usual = b.block
        b.emit(f" br i1 {b.op(f'or i1 {due}, {unfinished}', 'm').name}, label %{pause}, label %{end}")
        b.label(pause)
        kept = self._check_stop(left)
        b.emit(f" br i1 {unfinished}, label %{again}, label %{end}")
        self._phis(phis, [(first, "i64", "0", count), *self._carried(carry, start, kept)], before)
        paused = b.block
        b.label(end)
        t = b.type("f")
        both = zip(left, kept, strict=True)
        return [b.op(f"phi {t} [{x.name}, %{usual}], [{y.name}, %{paused}]", "f") for x, y in both]

    def _check_stop(self, values: list[Value]) -> list[Value]:
        """Emit a check whether to stop, across which the values go through memory.

        If they stayed in registers during the call, LLVM would keep them in memory all through the loop that ends here.
        """
        place = self.reserve(len(values))
        for k, v in enumerate(values):
            self.store(FRAME, place + k, v)
        check_stop(self.b, "stopped")
        return [self.load(FRAME, place + k) for k in range(len(values))]

    def repeat(self, inner: Sequence[Expr], start: list[Value], env: dict, more, step, first: str = "0"):
        """Emit a machine loop with the carry in registers: while more(count, env), carry = step(count, env).

        The count begins at `first`. Returns the last count and the last carry.
        """
        b = self.b
        head, body, end, before = b.fresh_label("loop"), b.fresh_label("body"), b.fresh_label("end"), b.block
        b.emit(f" br label %{head}")
        b.label(head)
        count, after, phis = b.fresh(), b.fresh(), len(b.lines)
        carry = [Value(b, b.fresh(), "f") for _ in start]
        # Room for the phis: the values that the loop ends with are not known yet.
        b.lines.extend("" for _ in range(1 + len(start)))
        env = {**env, **{e.id: v for e, v in zip(inner, carry, strict=True)}}
        b.emit(f" br i1 {more(count, env)}, label %{body}, label %{end}")
        b.label(body)
        final = step(count, env)
        b.emit(f" {after} = add i64 {count}, 1\n br label %{head}")
        self._phis(phis, [(count, "i64", first, after), *self._carried(carry, start, final)], before)
        b.label(end)
        return count, carry

    def _carried(self, carry: list[Value], start: list[Value], final: list[Value]) -> list[tuple[str, str, str, str]]:
        """The phis of a carry: (name, type, first value, value after an iteration) of each."""
        t = self.b.type("f")
        return [(c.name, t, s.name, f.name) for c, s, f in zip(carry, start, final, strict=True)]

    def _phis(self, at: int, rows: list[tuple[str, str, str, str]], before: str) -> None:
        """Fill in the phis of a loop that ends here. A row is (name, type, the first value, the value from here)."""
        for k, (name, t, x, y) in enumerate(rows):
            self.b.lines[at + k] = f" {name} = phi {t} [{x}, %{before}], [{y}, %{self.b.block}]"


# Operations that are one instruction, and those that the Builder has; all others are in vecmath.
_INSTRUCTION = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_EMIT = {
    "neg": lambda b, x: -x,
    "lt": lambda b, x, y: x < y,
    "le": lambda b, x, y: x <= y,
    "eq": lambda b, x, y: x == y,
    "ne": lambda b, x, y: x != y,
    "and": lambda b, x, y: x & y,
    "or": lambda b, x, y: x | y,
    "not": lambda b, x: ~x,
    "select": lambda b, c, x, y: b.select(c, x, y),
}


def _is_run(nodes: Sequence[Expr]) -> bool:
    """Return whether many nodes read one input element after element."""
    if len(nodes) <= 16 or any(x.op != "input" for x in nodes):
        return False
    name, first = nodes[0].value
    return [x.value for x in nodes] == [(name, first + k) for k in range(len(nodes))]


def emit(
    program: Program, width: int, dtype: str, shared: frozenset[str] = frozenset(), target: Target = ANY
) -> tuple[str, int, int]:
    """Return the IR of a program, and how much scratch memory it needs: vectors in all, and vectors for each row.

    `width` is the number of lanes, and `shared` names the sequences that all samples have in common. The rows are those
    of the program's sequences. The module defines `batch`, the loop over a batch (see `batch_loop`), and `whole`, which
    computes one group of samples in tiles.
    """
    module = Module()
    emitter = Emitter(module, Coder(module, width, dtype), program, shared, target)
    module.add("body", emitter.function())
    fixed = emitter.scratch * width * BYTES[dtype]
    if are_results_scattered(program, width):
        emitter.scratch = max(emitter.scratch, len(program.tile.places))  # `whole` sorts the results there
    module.add("whole", whole_function(module, width, dtype, program, emitter.memos))
    module.add("batch", batch_function(module, width, dtype, program, emitter.memos))
    module.add("stops", stops_function(module))
    return module.text().replace("@SCRATCH@", str(fixed)), emitter.scratch, emitter.scratch_rows


assert _INSTRUCTION.keys() | _EMIT.keys() <= OPS.keys()
