"""Large results leave a tile as whole cache lines.

A *tile* holds a group of samples: one vector for each element, one lane of the vector for each sample. A vector stored
across two cache lines costs as much as several stores inside one line, and the rows of results (one for each sample)
begin anywhere in a line. So each lane is stored one whole, aligned line at a time.

The samples of a group lie one after the other in memory, `size` elements apart. Relative to the first lane, the lines
of a lane are therefore shifted by a constant: the number of the lane times `size`, modulo the width. One transposed
block of the elements [at, at + width) serves all lanes. The line of a lane begins at element `at - shift`: its first
part is the end of that lane's part of the block before, and the rest is the beginning of its part of this block.

Results too large for the caches go straight to memory (non-temporal stores), so that the processor does not first read
what is going to be overwritten.
"""

from __future__ import annotations

from .ir import BYTES, Coder, Module

__all__ = ["SPARE_AFTER", "SPARE_BEFORE", "fetch_ends", "least_size", "line_function", "transpose"]

# Blocks reach beyond the ends of a result in its tile. So many times the width of elements may be read before and after
# it, though they are not used.
SPARE_BEFORE, SPARE_AFTER = 1, 2


def least_size(width: int) -> int:
    """Return from how many elements on a result is stored as lines.

    Two samples share most of the lines of smaller results. Vectors of at least four lanes are needed.
    """
    return 4 * width if width >= 4 else 1 << 62


def transpose(b: Coder, columns: list[str], k: int) -> list[str]:
    """Transpose k vectors whose lanes are blocks of k: result e holds element e of every row. It is its own inverse."""
    w = b.width
    half = 1
    while half < k:  # exchange ever larger blocks between vectors that are `half` apart
        low = [i if i // half % 2 == 0 else w + i - half for i in range(w)]
        high = [i + half if i // half % 2 == 0 else w + i for i in range(w)]
        for i in range(k):
            if i // half % 2 == 0:
                x, y = columns[i], columns[i + half]
                columns[i], columns[i + half] = _shuffle(b, x, y, low), _shuffle(b, x, y, high)
        half *= 2
    return columns


def _shuffle(b: Coder, x: str, y: str, mask: list[int]) -> str:
    t, lanes = b.type("f"), ", ".join(f"i32 {m}" for m in mask)
    return b.op(f"shufflevector {t} {x}, {t} {y}, <{b.width} x i32> <{lanes}>", "f").name


def line_function(module: Module, width: int, dtype: str, size: int, scattered: bool) -> str:
    """Return the name of `lines(row, tile, places, stream)`, which stores one result of a full group of samples.

    `row` is the address of the first sample's result. If the elements are `scattered`, the table `places` says which
    vector of the tile holds each; otherwise they follow each other. If `stream` is true, lines go past the caches.
    """
    name = f"{'scattered' if scattered else 'lines'}{size}"
    if not module.has(name):
        b = _Lines(module, width, dtype, size, scattered)
        b.function()
        head = f"define internal void @{name}(i64 %row, ptr %tile, ptr %places, i1 %stream) #0 {{"
        module.add(name, "\n".join([head, "entry:", *b.lines, " ret void", "}"]))
    return name


class _Lines(Coder):
    """Writes the function `lines`."""

    def __init__(self, module: Module, width: int, dtype: str, size: int, scattered: bool):
        super().__init__(module, width, dtype)
        self.size, self.scattered, self.line = size, scattered, width * BYTES[dtype]
        self.shifts = [lane * size % width for lane in range(width)]
        module.add("!1", "!1 = !{i32 1}")
        t, m = self.type("f"), self.type("m")
        self.masked = f"@llvm.masked.store.{self.suffix}.p0"
        module.add(self.masked, f"declare void {self.masked}({t}, ptr, i32, {m})")

    def function(self) -> None:
        w, t, most = self.width, self.type("f"), max(self.shifts)
        outside = self.word(f"and i64 %row, {self.line - 1}")  # how many bytes of the first line lie before the row
        start = self.word(f"sub i64 0, {self.word(f'udiv i64 {outside}, {BYTES[self.dtype]}')}")
        line = self.word(f"sub i64 %row, {outside}")
        count = self.word(f"udiv i64 {self.word(f'sub i64 {self.size + most + w - 1}, {start}')}, {w}")
        with self.fold(count, t, ["zeroinitializer"] * w) as (i, before, now):
            at = self.add(start, self.mul(i, w))  # the number of the first element in this block
            now += transpose(self, self._columns(at), w)
            values = [
                _shuffle(self, x, y, list(range(w - shift, 2 * w - shift))) if shift else y
                for x, y, shift in zip(before, now, self.shifts, strict=True)
            ]
            here = self.pointer(self.add(line, self.mul(i, self.line)))
            inside = self.word(f"icmp ult i64 {self.add(at, -most)}, {self.size - w - most + 1}")
            with self.when(inside):
                with self.when("%stream"):
                    self._store(here, values, ", !nontemporal !1")
                with self.when(self.word("xor i1 %stream, true")):
                    self._store(here, values, "")
            with self.when(self.word(f"xor i1 {inside}, true")):
                self._store_own(here, values, at)

    def _columns(self, at: str) -> list[str]:
        """Load the vectors of the elements from `at` on."""
        t, base = self.type("f"), "%tile"
        if self.scattered:
            table = self.address("%places", at)
            places = [self.get(table, j) for j in range(self.width)]
        else:
            base, places = self.op(f"getelementptr {t}, ptr {base}, i64 {at}", "p").name, range(self.width)
        found = [self.op(f"getelementptr {t}, ptr {base}, i64 {place}", "p").name for place in places]
        return [self.op(f"load {t}, ptr {p}", "f").name for p in found]

    def _line(self, here: str, lane: int) -> str:
        """The address where a lane's line begins."""
        offset = (lane * self.size - self.shifts[lane]) * BYTES[self.dtype]
        return self.op(f"getelementptr i8, ptr {here}, i64 {offset}", "p").name

    def _store(self, here: str, values: list[str], how: str) -> None:
        """Store a whole line of every lane."""
        for lane, v in enumerate(values):
            self.emit(f" store {self.type('f')} {v}, ptr {self._line(here, lane)}, align {self.line}{how}")

    def _store_own(self, here: str, values: list[str], at: str) -> None:
        """Store lines at the ends of rows: of each lane only those elements that belong to its own row."""
        w, t, i, m = self.width, self.type("f"), self.type("i"), self.type("m")
        scalar = i.split()[-1].rstrip(">")
        first = at if scalar == "i64" else self.word(f"trunc i64 {at} to {scalar}")
        one = self.op(f"insertelement {i} poison, {scalar} {first}, i32 0", "i").name
        splat = self.op(f"shufflevector {i} {one}, {i} poison, <{w} x i32> zeroinitializer", "i").name
        for lane, v in enumerate(values):
            steps = ", ".join(f"{scalar} {k - self.shifts[lane]}" for k in range(w))
            element = self.op(f"add {i} {splat}, <{steps}>", "i").name
            own = self.op(f"icmp ult {i} {element}, {self.iconst(self.size).name}", "m").name
            self.emit(f" call void {self.masked}({t} {v}, ptr {self._line(here, lane)}, i32 {self.line}, {m} {own})")


def fetch_ends(b: Coder, ends: list[str]) -> None:
    """Prefetch the lines where rows end.

    Two samples share such a line, so its contents are needed to change a part of it.
    """
    b.module.add("llvm.prefetch", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    for end in ends:
        b.emit(f" call void @llvm.prefetch.p0(ptr {b.pointer(end)}, i32 1, i32 3, i32 1)")
