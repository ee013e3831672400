"""A long program as several functions, one after the other: LLVM's time grows faster than a function's length.

A value made in one and used in another goes through scratch memory, as most would anyway for want of registers. Each
loop is a function of its own; what it reads and stacks is in scratch memory too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .graph import Expr
from .ir import Buffer, Place, Value
from .loops import Loop
from .ops import OPS
from .order import sin_cos_pairs
from .program import array_size

if TYPE_CHECKING:
    from .emit import Emitter

__all__ = ["SEGMENT", "emit_segments", "in_segments"]

SEGMENT = 500  # steps of a straight line in one function
KEPT = 32  # steps after which a value is read again from memory, if it is there, rather than kept in a register
READ = {"const", "bool", "input", "item"}  # read wherever they are used: elements of arrays have a place of their own
Step = tuple[Expr, tuple[Expr, ...]]  # a node, and the values that must be there before it


def in_segments(order: list[Expr]) -> bool:
    """Whether a program is long, and nothing in it depends on the length of sequences."""
    return len(order) > SEGMENT and all(
        x.op in OPS
        or x.op in READ
        or x.op in ("array", "stacked")
        or (x.op == "loop" and x.value.length is not None and x.value.condition is None and not x.value.carry)
        for x in order
    )


def emit_segments(emitter: Emitter, order: list[Expr], fused: dict[int, int], done) -> None:
    """Emit the functions and the calls; `done(x, value)` is told of every value, `fused` says what sums swallow."""
    segments = _Segments(emitter, order, fused)
    for k, part in enumerate(segments.parts):
        # Numbers without a name are faster to parse; those of a loop's head are not in their order.
        prefix = "x" if part[0][0].op == "loop" else ""
        with emitter.another(f"segment{k}", prefix):
            segments.emit(part, done)
        emitter.b.emit(f" call void @segment{k}(ptr %in, ptr %out, ptr %context)")


def _operands(x: Expr, fused: dict[int, int]) -> tuple[Expr, ...]:
    """The values that must be there before x: those of the product, too, that a sum swallows."""
    if x.id in fused:
        a, b = x.args
        return (a, *b.args) if b.id == fused[x.id] else (*a.args, b)
    if x.op == "loop":
        return x.args[: len(x.args) - len(x.value.xs)]  # the rest are arrays
    return () if x.op == "item" else x.args


class _Segments:
    def __init__(self, emitter: Emitter, order: list[Expr], fused: dict[int, int]):
        self.emitter, self.fused = emitter, fused
        swallowed, wanted = set(fused.values()), {r.id for r in emitter.program.roots}
        self.parts: list[list[Step]] = [[]]
        for x in order:
            if x.op == "stacked" or x.id in swallowed or (x.op in READ and x.id not in wanted):
                continue
            if len(self.parts[-1]) == SEGMENT or (self.parts[-1] and "loop" in (x.op, self.parts[-1][-1][0].op)):
                self.parts.append([])
            self.parts[-1].append((x, _operands(x, fused)))
        arrays = [x for x in order if x.op in ("array", "stacked") and x.id not in emitter.stacks]
        self.arrays = {x.id: emitter.reserve(array_size(x)) for x in arrays}
        self.places = self._pinned(order)
        self.stored: set[int] = set()
        self._place_rest()

    def _pinned(self, order: list[Expr]) -> dict[int, int]:
        """The places of values that are elements of arrays: there."""
        places: dict[int, int] = {}
        for x in order:
            if x.op == "array":
                for k, a in enumerate(x.args):
                    if a.op in OPS and not a.mask:
                        places.setdefault(a.id, self.arrays[x.id] + k)
        return places

    def _place_rest(self) -> None:
        """Places of the other values used in later segments; each is free again after the last of them."""
        home = {x.id: k for k, part in enumerate(self.parts) for x, _ in part if x.op in OPS}
        last = {  # node -> the last segment that reads it from memory
            a.id: k
            for k, part in enumerate(self.parts)
            for x, before in part
            for a in before
            if home.get(a.id, k) != k and a.id not in self.places
        }
        free: list[int] = []
        ends: list[list[int]] = [[] for _ in self.parts]  # what the values that end with a segment leave free
        for k, part in enumerate(self.parts):
            free += ends[k - 1] if k else []
            for x, _ in part:
                if x.id in last:
                    self.places[x.id] = free.pop() if free else self.emitter.reserve(1)
                    ends[last[x.id]].append(self.places[x.id])

    def emit(self, part: list[Step], done) -> None:
        """The steps of one function."""
        e = self.emitter
        self.frame, self.env, self.used = e.frame(), {}, {}
        self.pairs = sin_cos_pairs([x for x, _ in part])
        for step, (x, before) in enumerate(part):
            if x.op == "loop":
                self._loop(x)
                continue
            for a in before:
                self._provide(a, step)
            if x.op == "array":
                self._fill(x)
                continue
            self._provide(x, step)
            v = self.env[x.id]
            done(x, v)
            if x.id in self.places:  # truth values are kept as 1 and 0
                e.store(self.frame, self.places[x.id], e.b.select(v, 1.0, 0.0) if x.mask else v)
                self.stored.add(x.id)

    def _provide(self, x: Expr, step: int) -> None:
        """A value, made now or read from memory; read once more if it would have to be kept long for this use."""
        in_memory = x.id in self.stored or x.op in READ
        kept = step - self.used.get(x.id, step) <= KEPT or x.mask or not in_memory
        self.used[x.id] = step
        if x.id not in self.env or not kept:
            self.env[x.id] = self._read(x) if in_memory else self.emitter.node(x, self.env, self.fused, self.pairs)

    def _read(self, x: Expr) -> Value:
        if x.op == "item":
            return self.emitter.load(self._array(x.args[0]), x.value)
        if x.op in READ:
            return self.emitter.node(x, self.env, self.fused, self.pairs)
        number = self.emitter.load(self.frame, self.places[x.id])
        return number != 0.0 if x.mask else number

    def _array(self, x: Expr) -> str:
        """Where the elements of an array are."""
        b, stacks = self.emitter.b, self.emitter.stacks
        base, at = ("%out", stacks[x.id]) if x.id in stacks else (self.frame, self.arrays[x.id])
        return b.op(f"getelementptr {b.type('f')}, ptr {base}, i64 {at}", "p").name

    def _fill(self, x: Expr) -> None:
        """Elements of an array that are not there by themselves: inputs, constants, elements of other arrays."""
        for k, a in enumerate(x.args):
            place = self.arrays[x.id] + k
            if self.places.get(a.id) != place:
                self.emitter.store(self.frame, place, self.env[a.id])

    def _loop(self, x: Expr) -> None:
        """A loop; it reads what was made before where that is, each time anew: there are too few registers for all."""
        loop: Loop = x.value
        outside = x.args[: len(loop.captured)]
        captured = {inner.id: self._outside(a) for inner, a in zip(loop.captured, outside, strict=True)}
        rows = [Buffer(base=self._array(a)) for a in x.args[len(loop.captured) :]]
        stacked = [Buffer(base=self._array(x.graph.node("stacked", (x,), k))) for k in range(len(loop.ys))]
        self.emitter.scan(loop, [], captured, rows, stacked)

    def _outside(self, x: Expr) -> Value | Place:
        if x.op == "item":
            return Place(self._array(x.args[0]), x.value)
        return self._read(x) if x.op in READ or x.mask else Place(self.frame, self.places[x.id])
