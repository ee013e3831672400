"""A long graph as several functions, one after the other: LLVM's time grows faster than a function's length.

A value made in one and used in another goes through scratch memory, as most would anyway for want of registers. Each
loop is a function of its own; what it starts from, reads, leaves and stacks is in memory too. The long body of a loop
is cut in the same way, its carry being in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from ..graph.expressions import Expr, apply, reachable
from ..graph.loops import Loop
from ..graph.operations import OPS
from .ir import FRAME, Buffer, Place, Value
from .scheduler import fused_products, schedule, sin_cos_pairs
from .watch import iteration_work, look, spend

if TYPE_CHECKING:
    from .body import Emitter

__all__ = ["LongLoop", "Segments", "has_long_body", "is_long"]

SEGMENT = 500  # steps of a straight line in one function
# A loop's body is cut only where LLVM would take too long: cut, it runs slower by a tenth or two.
LONG_BODY = 30_000  # nodes of one
LONG_ROWS = 1000  # inputs, elements of arrays and results of one: LLVM's time grows with their square
KEPT = 32  # steps after which a value is read again from memory, if it is there, rather than kept in a register
FEW = 16  # values from outside up to which a loop has them in registers
READ = {"const", "bool", "input", "item", "carry"}  # read wherever they are used: they have places of their own
ARRAYS = {"array", "stacked", "sequence"}
Step = tuple[Expr, tuple[Expr, ...], int]  # a node, the values that must be there before it; of an array, from which on


def is_long(nodes: list[Expr]) -> bool:
    """Whether the graph of the function that is compiled is to be cut."""
    return len(nodes) > SEGMENT


def has_long_body(loop: Loop) -> bool:
    """Whether the body of a loop is to be cut."""
    nodes = reachable(loop.roots)
    moved = len(loop.roots) + sum(x.op in ("item", "input") for x in nodes)
    return len(nodes) > LONG_BODY or moved > LONG_ROWS


class Segments:
    """A graph in the order of its nodes, cut into functions: the one that is compiled, or the body of a loop.

    `given` says where the inputs of a body are; it is None for the function's own graph.
    """

    def __init__(
        self, emitter: Emitter, order: list[Expr], roots: list[Expr], given: Mapping[int, Place | Buffer] | None = None
    ):
        self.emitter, self.given, self.top = emitter, given or {}, given is None
        self.fused = fused_products(order, roots)
        self.buffers: dict[int, Buffer] = {}
        self.carries: dict[int, int] = {}  # loop -> the place of its last carry in scratch memory
        self.parts = self._cut(order, {r.id for r in roots})
        self.places = self._pinned(order)
        self.stored: set[int] = set()
        self._place_rest()

    def call(self, done=lambda x, v: None) -> None:
        """Emit the functions, and calls of them; `done(x, value)` is told of every value of the function's graph."""
        for part in filter(None, self.parts):
            # Numbers without a name are faster to parse; those of a loop's head are not in their order.
            with self.emitter.another("x" if part[0][0].op == "loop" else ""):
                self._emit(part, done)

    def place(self, x: Expr) -> Place:
        """Where a value is that was computed, an element, or what a loop carried to its end."""
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
        swallowed, size = set(self.fused.values()), 0
        parts: list[list[Step]] = [[]]
        for x in order:
            if x.op in ("stacked", "sequence") or x.id in swallowed:
                continue
            if x.op in READ and (x.id not in wanted or not self.top):
                continue
            for step in self._steps(x):
                if size >= SEGMENT or (parts[-1] and "loop" in (x.op, parts[-1][-1][0].op)):
                    parts.append([])
                    size = 0
                parts[-1].append(step)
                size += max(len(step[1]), 1) if x.op == "array" else 1
        return parts

    def _steps(self, x: Expr) -> list[Step]:
        """A node with the values that must be there before it: those of the product, too, that a sum swallows."""
        if x.id in self.fused:
            a, b = x.args
            return [(x, (a, *b.args) if b.id == self.fused[x.id] else (*a.args, b), 0)]
        if x.op == "array":  # one that lies among the inputs is there already
            size = 0 if self._own(x) is None else len(x.args)
            return [(x, x.args[k : k + SEGMENT], k) for k in range(0, size, SEGMENT)]
        if x.op == "loop":
            return [(x, x.args[: len(x.args) - len(x.value.xs)], 0)]  # the rest are arrays
        return [(x, () if x.op in READ else x.args, 0)]

    def buffer(self, x: Expr) -> Buffer:
        """Where the elements of an array are."""
        if x.op == "input":
            known = self.given[x.id]
            assert isinstance(known, Buffer)
            return known
        if x.id not in self.buffers:
            self.buffers[x.id] = self.emitter.buffer(x, self.top)
        return self.buffers[x.id]

    def _own(self, x: Expr) -> int | None:
        """The place in scratch memory of an array that has to be filled."""
        place = self.buffer(x).place
        return place.index if place is not None and place.base is FRAME else None

    def _carry(self, loop: Expr) -> int:
        if loop.id not in self.carries:
            self.carries[loop.id] = self.emitter.reserve(len(loop.value.carry))
        return self.carries[loop.id]

    def _pinned(self, order: list[Expr]) -> dict[int, int]:
        """The places of values that are elements of arrays: there."""
        places: dict[int, int] = {}
        for x in order:
            if x.op == "array" and (first := self._own(x)) is not None:
                for k, a in enumerate(x.args):
                    if a.op in OPS and not a.mask:
                        places.setdefault(a.id, first + k)
        return places

    def _place_rest(self) -> None:
        """Places of the other values used in later segments; each is free again after the last of them."""
        home = {x.id: k for k, part in enumerate(self.parts) for x, *_ in part if x.op in OPS}
        last = {  # node -> the last segment that reads it from memory
            a.id: k
            for k, part in enumerate(self.parts)
            for _, before, _ in part
            for a in before
            if home.get(a.id, k) != k and a.id not in self.places
        }
        free: list[int] = []
        ends: list[list[int]] = [[] for _ in self.parts]  # what the values that end with a segment leave free
        for k, part in enumerate(self.parts):
            free += ends[k - 1] if k else []
            for x, *_ in part:
                if x.id in last:
                    self.places[x.id] = free.pop() if free else self.emitter.reserve(1)
                    ends[last[x.id]].append(self.places[x.id])

    # --- code --------------------------------------------------------------------------------------

    def _emit(self, part: list[Step], done) -> None:
        """The steps of one function."""
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
            self._provide(x, step)
            v = self.env[x.id]
            done(x, v)
            if x.id in self.places:  # truth values are kept as 1 and 0
                e.store(FRAME, self.places[x.id], e.b.select(v, 1.0, 0.0) if x.mask else v)
                self.stored.add(x.id)

    def _provide(self, x: Expr, step: int) -> None:
        """A value, made now or read from memory; read once more if it would have to be kept long for this use."""
        in_memory = x.id in self.stored or x.op in READ
        kept = step - self.used.get(x.id, step) <= KEPT or x.mask or not in_memory
        self.used[x.id] = step
        if x.id not in self.env or not kept:
            self.env[x.id] = self._read(x) if in_memory else self.emitter.node(x, self.env, self.fused, self.pairs)

    def _read(self, x: Expr) -> Value:
        if x.op in ("const", "bool"):
            return self.emitter.node(x, self.env, self.fused, self.pairs)
        return self.emitter.read(self.place(x), x.mask)

    def _fill(self, x: Expr, elements: tuple[Expr, ...], start: int, step: int) -> None:
        """Elements of an array that are not there by themselves: inputs, constants, elements of other arrays."""
        first = self._own(x)
        assert first is not None
        for k, a in enumerate(elements, first + start):
            if self.places.get(a.id) != k:
                self._provide(a, step)
                self.emitter.store(FRAME, k, self.env[a.id], apart=len(x.args) > SEGMENT)

    def _loop(self, x: Expr) -> None:
        """A loop; if it needs much that was made before, it reads it where it is, each time anew: registers are few."""
        loop: Loop = x.value
        n, m = len(loop.carry), len(loop.carry) + len(loop.captured)
        start = [self._outside(a, False) for a in x.args[:n]]
        captured = {
            inner.id: self._outside(a, m - n <= FEW) for inner, a in zip(loop.captured, x.args[n:m], strict=True)
        }
        rows = [self.buffer(a) for a in x.args[m:]]
        stacked = [self.buffer(x.graph.node("stacked", (x,), k)) for k in range(len(loop.ys))]
        carry = self.emitter.loop(loop, start, captured, rows, stacked)
        if n and type(carry[0]) is Place:
            self.carries[x.id] = carry[0].index
        else:
            for k, v in enumerate(carry):
                self.emitter.store(FRAME, self._carry(x) + k, v)

    def _outside(self, x: Expr, now: bool) -> Value | Place | Buffer:
        """What a loop gets of a value from outside: itself, read now, or its place."""
        if x.op in ARRAYS or isinstance(self.given.get(x.id), Buffer):
            return self.buffer(x)
        return self._read(x) if now or x.mask or x.op in ("const", "bool") else self.place(x)


class LongLoop:
    """A loop whose body is long, hence cut: all that its iterations start from and leave is in scratch memory.

    `carry` are the places of what the last one leaves.
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
        """Where a value is; it is put into scratch memory unless it is in memory already. Truth values are 1 and 0."""
        if type(v) is not Value:
            return v
        place = Place(FRAME, self.emitter.reserve(1))
        self.emitter.store(FRAME, place.index, self.emitter.b.select(v, 1.0, 0.0) if v.kind == "m" else v)
        return place

    def _store(self, start: list) -> None:
        """The first carry to its places; many numbers in several functions."""
        e = self.emitter
        if len(start) > SEGMENT:  # what has no name but is a constant is known in all of them
            start = [self._in_memory(v) if type(v) is Value and v.name.startswith("%") else v for v in start]
        for at in range(0, len(start), SEGMENT):
            with e.another("") if len(start) > SEGMENT else nullcontext():
                for k, v in enumerate(start[at : at + SEGMENT], at):
                    e.store(FRAME, self.first + k, e.read(v, False) if type(v) is Place else v)

    def _look(self) -> None:
        """In every iteration, which is much work."""
        spend(self.emitter.b, iteration_work(self.loop))
        look(self.emitter.b, "stopped")

    def _segments(self, *results: tuple[Expr, ...]) -> list[Buffer]:
        """Call the functions that compute results of the body: where each group of them is."""
        arrays = [e[0].graph.node("array", e) for e in results if e]
        segments = Segments(self.emitter, schedule(arrays), arrays, self.given)
        segments.call()
        found = iter([segments.buffer(x) for x in arrays])
        return [next(found) if e else Buffer(Place(FRAME, 0)) for e in results]

    @contextmanager
    def _each(self, buffer: Buffer, size: int) -> Iterator[tuple[str, str]]:
        """Access to the numbers of a buffer in scratch memory, in a machine loop: their address, and the counter."""
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
            self._look()
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
            self._look()
            (after,) = self._segments(self.loop.next_carry)
            carry = e.element(FRAME, self.first)
            with self._each(after, len(self.carry)) as (start, k):  # a lane that has stopped keeps its carry
                e.store(carry, k, b.select(go_on[0], e.load(start, k), e.load(carry, k)))
            return []

        e.repeat((), [], {}, more, step)
