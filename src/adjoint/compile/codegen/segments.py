"""Long graphs are cut into *segments*, functions that are called one after the other.

LLVM's time grows faster than the length of a function. A value that one segment makes and another uses goes through
scratch memory, as most values would anyway, because registers are few. Each loop is a segment of its own: all that it
starts from, reads, leaves and stacks is in memory too. If the body of a loop is long, it is cut in the same way, and
its carry is in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from ..graph.expressions import Expr, apply, reachable
from ..graph.loops import Loop
from ..graph.operations import OPS
from .ir import FRAME, Buffer, Place, Value
from .rows import copy_row
from .scheduler import fused_products, schedule, sin_cos_pairs
from .watch import check_stop, count_work, iteration_work

if TYPE_CHECKING:
    from .body import Emitter

__all__ = ["LongLoop", "Segments", "has_long_body", "is_long"]

SEGMENT = 500  # steps of straight-line code in one segment
# The body of a loop is cut only where LLVM would take too long otherwise: it runs 10 to 20 % slower when it is cut.
LONG_BODY = 30_000  # a body with more nodes is cut
LONG_ROWS = 1000  # so is one with more inputs, array elements and results: LLVM's time grows with their square
REREAD_AFTER = 32  # a value that was used more steps ago is read again from memory, if it is there: registers are few
FEW_CAPTURED = 16  # a loop that captures at most so many values has them in registers
# Values that have places of their own, and are read where they are used.
READ_ANYWHERE = {"const", "bool", "input", "item", "carry"}
ARRAYS = {"array", "stacked", "sequence", "row"}
# A step is (a node, the values that must be known before it, 0). A long array is filled in several steps: the values
# are then a part of its elements, and the number is that of the first one.
Step = tuple[Expr, tuple[Expr, ...], int]


def is_long(nodes: list[Expr]) -> bool:
    """Return whether a graph with so many nodes is to be cut into segments."""
    return len(nodes) > SEGMENT


def has_long_body(loop: Loop) -> bool:
    """Return whether the body of a loop is to be cut into segments."""
    nodes = reachable(loop.roots)
    moved = len(loop.roots) + sum(x.op in ("item", "input") for x in nodes)
    return len(nodes) > LONG_BODY or moved > LONG_ROWS


class Segments:
    """A graph, in the order of its nodes, cut into segments: the graph of a kernel (`top`), or the body of a loop.

    `given` says where the inputs of a loop's body are; it is None for the graph of a kernel.
    """

    def __init__(
        self, emitter: Emitter, order: list[Expr], roots: list[Expr], given: Mapping[int, Place | Buffer] | None = None
    ):
        self.emitter, self.given, self.top = emitter, given or {}, given is None
        self.fused = fused_products(order, roots)
        self.buffers: dict[int, Buffer] = {}
        self.carries: dict[int, int] = {}  # loop -> where its last carry is in scratch memory
        self.parts = self._cut(order, {r.id for r in roots})
        self.places = self._pinned(order)  # value -> where it is in scratch memory
        self.stored: set[int] = set()  # values whose stores were emitted already
        self._place_rest()

    def call(self, done=lambda x, v: None) -> None:
        """Emit the segments, and calls of them; `done(x, value)` is called for every value that is computed."""
        for part in filter(None, self.parts):
            # LLVM parses IR values that are plain numbers (%1, %2) faster, but wants them in order, and a loop's head
            # refers to later values.
            with self.emitter.separate_function("x" if part[0][0].op == "loop" else ""):
                self._emit(part, done)

    def place(self, x: Expr) -> Place:
        """Return where a value is: one that was computed, an element of an array, or what a loop carried to its end."""
        if x.op == "item":
            first = self.buffer(x.args[0]).place
            assert first is not None
            return Place(first.base, first.index + x.value)
        if x.op == "carry":
            return Place(FRAME, self._carry(x.args[0]) + x.value)
        if x.op == "input":
            known = self.emitter.input_place(x) if self.top else self.given[x.id]
            assert isinstance(known, Place)
            return known
        return Place(FRAME, self.places[x.id])

    # --- what goes where ---------------------------------------------------------------------------

    def _cut(self, order: list[Expr], wanted: set[int]) -> list[list[Step]]:
        """Cut the order into segments of at most `SEGMENT` steps; each loop is a segment of its own."""
        swallowed, size = set(self.fused.values()), 0
        parts: list[list[Step]] = [[]]
        for x in order:
            if x.op in ("stacked", "sequence") or x.id in swallowed:
                continue
            if x.op in READ_ANYWHERE and (x.id not in wanted or not self.top):
                continue
            for step in self._steps(x):
                if size >= SEGMENT or (parts[-1] and "loop" in (x.op, parts[-1][-1][0].op)):
                    parts.append([])
                    size = 0
                parts[-1].append(step)
                size += max(len(step[1]), 1) if x.op == "array" else 1
        return parts

    def _steps(self, x: Expr) -> list[Step]:
        """Return the steps that compute a node.

        For a fused sum, the arguments of its product must be known before it.
        """
        if x.id in self.fused:
            a, b = x.args
            return [(x, (a, *b.args) if b.id == self.fused[x.id] else (*a.args, b), 0)]
        if x.op == "array":  # an array that lies among the inputs is in memory already
            size = 0 if self._own(x) is None else len(x.args)
            return [(x, x.args[k : k + SEGMENT], k) for k in range(0, size, SEGMENT)]
        if x.op == "row":  # its table is in memory
            return [(x, x.args[1:], 0)]
        if x.op == "loop":
            # The last arguments are arrays, which are in memory.
            return [(x, x.args[: len(x.args) - len(x.value.xs)], 0)]
        return [(x, () if x.op in READ_ANYWHERE else x.args, 0)]

    def buffer(self, x: Expr) -> Buffer:
        """Return where the elements of an array are."""
        if x.op == "input":
            known = self.given[x.id]
            assert isinstance(known, Buffer)
            return known
        if x.id not in self.buffers:
            self.buffers[x.id] = self.emitter.buffer(x, self.top)
        return self.buffers[x.id]

    def _own(self, x: Expr) -> int | None:
        """Return where in scratch memory an array is that has to be filled; None if it is elsewhere."""
        place = self.buffer(x).place
        return place.index if place is not None and place.base is FRAME else None

    def _carry(self, loop: Expr) -> int:
        """Return where in scratch memory the last carry of a loop is."""
        if loop.id not in self.carries:
            self.carries[loop.id] = self.emitter.reserve(len(loop.value.carry))
        return self.carries[loop.id]

    def _pinned(self, order: list[Expr]) -> dict[int, int]:
        """Return the places of computed values that are elements of arrays: they are stored into the array at once."""
        places: dict[int, int] = {}
        for x in order:
            if x.op == "array" and (first := self._own(x)) is not None:
                for k, a in enumerate(x.args):
                    if a.op in OPS and not a.mask:
                        places.setdefault(a.id, first + k)
        return places

    def _place_rest(self) -> None:
        """Find places for the other values that later segments use.

        A place is free again after the last of these segments.
        """
        home = {x.id: k for k, part in enumerate(self.parts) for x, *_ in part if x.op in OPS}
        last = {  # value -> the last segment that reads it from memory
            a.id: k
            for k, part in enumerate(self.parts)
            for _, before, _ in part
            for a in before
            if home.get(a.id, k) != k and a.id not in self.places
        }
        free: list[int] = []
        ends: list[list[int]] = [[] for _ in self.parts]  # for each segment, the places that are free after it
        for k, part in enumerate(self.parts):
            free += ends[k - 1] if k else []
            for x, *_ in part:
                if x.id in last:
                    self.places[x.id] = free.pop() if free else self.emitter.reserve(1)
                    ends[last[x.id]].append(self.places[x.id])

    # --- code --------------------------------------------------------------------------------------

    def _emit(self, part: list[Step], done) -> None:
        """Emit the steps of one segment."""
        e = self.emitter
        self.env, self.used = {}, {}
        self.pairs = sin_cos_pairs([x for x, *_ in part])
        for step, (x, before, start) in enumerate(part):
            if x.op == "loop":
                self._loop(x)
                continue
            if x.op == "array":
                self._fill(x, before, start, step)
                continue
            for a in before:
                self._provide(a, step)
            if x.op == "row":
                copy_row(e, x, self.buffer(x.args[0]), self.env[x.args[1].id], self.buffer(x))
                continue
            self._provide(x, step)
            v = self.env[x.id]
            done(x, v)
            if x.id in self.places:  # truth values are stored as 1 and 0
                e.store(FRAME, self.places[x.id], e.b.select(v, 1.0, 0.0) if x.mask else v)
                self.stored.add(x.id)

    def _provide(self, x: Expr, step: int) -> None:
        """Have a value in a register.

        It is computed now, read from memory, or still there from its last use if that is recent.
        """
        in_memory = x.id in self.stored or x.op in READ_ANYWHERE
        kept = step - self.used.get(x.id, step) <= REREAD_AFTER or x.mask or not in_memory
        self.used[x.id] = step
        if x.id not in self.env or not kept:
            self.env[x.id] = self._read(x) if in_memory else self.emitter.node(x, self.env, self.fused, self.pairs)

    def _read(self, x: Expr) -> Value:
        if x.op in ("const", "bool"):
            return self.emitter.node(x, self.env, self.fused, self.pairs)
        return self.emitter.read(self.place(x), x.mask)

    def _fill(self, x: Expr, elements: tuple[Expr, ...], start: int, step: int) -> None:
        """Store those elements of an array that are not there yet: inputs, constants, elements of other arrays."""
        first = self._own(x)
        assert first is not None
        for k, a in enumerate(elements, first + start):
            if self.places.get(a.id) != k:
                self._provide(a, step)
                self.emitter.store(FRAME, k, self.env[a.id], apart=len(x.args) > SEGMENT)

    def _loop(self, x: Expr) -> None:
        """Emit a loop.

        If it captures many values, it reads each from memory whenever it is used, because registers are few.
        """
        loop: Loop = x.value
        n, m = len(loop.carry), len(loop.carry) + len(loop.captured)
        start = [self._outside(a, False) for a in x.args[:n]]
        few = m - n <= FEW_CAPTURED
        captured = {inner.id: self._outside(a, few) for inner, a in zip(loop.captured, x.args[n:m], strict=True)}
        rows = [self.buffer(a) for a in x.args[m:]]
        stacked = [self.buffer(x.graph.node("stacked", (x,), k)) for k in range(len(loop.ys))]
        carry = self.emitter.loop(loop, start, captured, rows, stacked)
        if n and type(carry[0]) is Place:
            self.carries[x.id] = carry[0].index
        else:
            for k, v in enumerate(carry):
                self.emitter.store(FRAME, self._carry(x) + k, v)

    def _outside(self, x: Expr, now: bool) -> Value | Place | Buffer:
        """Return what a loop gets of a value from outside: the value, if it is to be read now, or its place."""
        if x.op in ARRAYS or isinstance(self.given.get(x.id), Buffer):
            return self.buffer(x)
        return self._read(x) if now or x.mask or x.op in ("const", "bool") else self.place(x)


class LongLoop:
    """A loop whose body is cut into segments: all that an iteration starts from and leaves is in scratch memory.

    `carry` has the places of the carry, which hold the last one after the loop.
    """

    def __init__(
        self, emitter: Emitter, loop: Loop, start: list, env: dict, buffers: list[Buffer], stacked: list[Buffer]
    ):
        self.emitter, self.loop = emitter, loop
        self.first = emitter.reserve(len(loop.carry))
        self.carry = [Place(FRAME, self.first + k) for k in range(len(loop.carry))]
        self._store(start)
        self.given = {e.id: place for e, place in zip(loop.carry, self.carry, strict=True)}
        self.given |= {k: self._in_memory(v) for k, v in env.items()}
        if loop.condition is None:
            self._scan(buffers, stacked)
        else:
            self._while(loop.condition)

    def _in_memory(self, v) -> Place | Buffer:
        """Return where a value is in memory, after storing it into scratch memory if needed.

        Truth values become 1 and 0.
        """
        if type(v) is not Value:
            return v
        place = Place(FRAME, self.emitter.reserve(1))
        self.emitter.store(FRAME, place.index, self.emitter.b.select(v, 1.0, 0.0) if v.kind == "m" else v)
        return place

    def _store(self, start: list) -> None:
        """Store the first carry to its places; many values are stored in several segments."""
        e = self.emitter
        if len(start) > SEGMENT:  # a value with a name is known only in the function that made it; constants have none
            start = [self._in_memory(v) if type(v) is Value and v.name.startswith("%") else v for v in start]
        for at in range(0, len(start), SEGMENT):
            with e.separate_function("") if len(start) > SEGMENT else nullcontext():
                for k, v in enumerate(start[at : at + SEGMENT], at):
                    e.store(FRAME, self.first + k, e.read(v, False) if type(v) is Place else v)

    def _check_stop(self) -> None:
        """Check in every iteration whether to stop: an iteration is much work."""
        count_work(self.emitter.b, iteration_work(self.loop))
        check_stop(self.emitter.b, "stopped")

    def _segments(self, *results: tuple[Expr, ...]) -> list[Buffer]:
        """Emit calls of the segments that compute results of the body; returns where each group of results is."""
        arrays = [e[0].graph.node("array", e) for e in results if e]
        segments = Segments(self.emitter, schedule(arrays), arrays, self.given)
        segments.call()
        found = iter([segments.buffer(x) for x in arrays])
        return [next(found) if e else Buffer(Place(FRAME, 0)) for e in results]

    @contextmanager
    def _each(self, buffer: Buffer, size: int) -> Iterator[tuple[str, str]]:
        """Emit a machine loop over the numbers of a buffer in scratch memory; yields their address, and the counter."""
        start = self.emitter.start(buffer)
        assert start is not None
        with self.emitter.b.loop(size) as k:
            yield start, k

    def _scan(self, buffers: list[Buffer], stacked: list[Buffer]) -> None:
        e, loop = self.emitter, self.loop
        length, row_at = e.count(loop)
        read, written = ([(buffer, e.start(buffer)) for buffer in side] for side in (buffers, stacked))
        rows = [Buffer(Place(FRAME, e.reserve(len(inner)))) for inner in loop.xs]
        for inner, buffer in zip(loop.xs, rows, strict=True):
            assert buffer.place is not None
            self.given |= {x.id: Place(FRAME, buffer.place.index + k) for k, x in enumerate(inner)}
        with e.b.loop(length) as count:
            self._check_stop()
            row = row_at(count)
            for known, buffer, inner in zip(read, rows, loop.xs, strict=True):
                load, _ = e.row(*known, len(inner), row)
                with self._each(buffer, len(inner)) as (start, k):
                    e.store(start, k, load(k))
            after, *ys = self._segments(loop.next_carry, *loop.ys)
            for known, buffer, y in zip(written, ys, loop.ys, strict=True):
                _, store = e.row(*known, len(y), row)
                with self._each(buffer, len(y)) as (start, k):
                    store(k, e.load(start, k))
            carry = e.element(FRAME, self.first)
            with self._each(after, len(self.carry)) as (start, k):
                e.store(carry, k, e.load(start, k))

    def _while(self, condition: Expr) -> None:
        e, b = self.emitter, self.emitter.b
        holds = condition.graph.lift(apply("select", condition, 1.0, 0.0))
        go_on: list[Value] = []

        def more(count: str, env: dict) -> str:
            (found,) = self._segments((holds,))
            assert found.place is not None
            go_on.append(e.read(found.place, True))
            early = b.op(f"icmp slt i64 {count}, {self.loop.length}", "m").name
            return b.op(f"and i1 {b.any(go_on[0])}, {early}", "m").name

        def step(count: str, env: dict) -> list[Value]:
            self._check_stop()
            (after,) = self._segments(self.loop.next_carry)
            carry = e.element(FRAME, self.first)
            # The carry of a lane whose condition has failed stays as it is.
            with self._each(after, len(self.carry)) as (start, k):
                e.store(carry, k, b.select(go_on[0], e.load(start, k), e.load(carry, k)))
            return []

        e.repeat((), [], {}, more, step)
