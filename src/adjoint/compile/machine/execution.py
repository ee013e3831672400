"""Machine code that is loaded, and how it runs on arrays of a layout, on one thread or several."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ..codegen.batch_loop import CONTEXT_HEAD, context_size, tile_sizes
from ..codegen.ir import BYTES
from ..codegen.watch import STOP
from . import jit, strided_loop
from .layouts import View, address, collapse, view_of
from .thread_pool import new_watches, raise_kept, run_together, start_watch
from .work_memory import keep_work, take_work

__all__ = [
    "DTYPES",
    "LOCK_WORK",
    "THREAD_WORK",
    "Compiled",
    "Plan",
]

DTYPES = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}
THREAD_WORK = 500_000  # a further thread pays only if it gets more operations than this
LEAST_GROUPS = 2  # of two axes, the second one is at least so many groups of lanes long
LOCK_WORK = 20_000  # releasing Python's global lock pays only for more operations than this
_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_NESTED = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4, *[ctypes.c_void_p] * 5)
_STRIDED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 5)


@dataclass
class Plan:
    """All there is to know of a call but addresses; it is made once for arrays of some shapes and strides.

    `words` is the table of operands that the machine code reads, and `places` says which words of it are the addresses
    of the arrays. `keep` owns the memory that other words of the table point to.
    """

    code: Compiled
    batch: tuple[int, ...]
    length: int
    plain: bool  # `batch` serves the call: samples are contiguous and lie along one axis, or two; else `strided` does
    words: np.ndarray
    places: list[int]
    keep: list[np.ndarray]
    growth: np.ndarray | None = None  # of two axes: by how much each of the words grows with the index of the first one
    inner: int = 0  # the length of the second one

    @property
    def total(self) -> int:
        """The number of samples."""
        return math.prod(self.batch)

    def run(self, arrays: Sequence[np.ndarray], threads: Callable[[], int]) -> None:
        """Compute all samples, with inputs and results laid out as planned, on as many threads as pay."""
        words = self.words.copy()
        for k, a in zip(self.places, arrays, strict=True):
            words[k] = address(a)
        total, code = self.total, self.code
        work = total * max(code.cost + code.cost_rows * self.length, 1)
        # Threads share the samples in whole groups of lanes; or, of two axes, the indices of the first one.
        units, grain = (total, code.width) if self.growth is None else (total // max(self.inner, 1), 1)
        parts = min(threads(), work // THREAD_WORK, -(-units // grain)) if work >= 2 * THREAD_WORK else 1
        if parts <= 1:
            if total:
                self._part(words, 0, units)
            return
        step = -(-units // (parts * grain)) * grain
        starts = range(0, units, step)
        watches = new_watches(len(starts))
        # Every part owns the arrays that it works on: it may outlive the caller's names for them.
        runs = [
            partial(self._part, words.copy(), start, min(start + step, units), watch, arrays)
            for start, watch in zip(starts, watches, strict=True)
        ]
        run_together(runs, partial(watches[:, STOP].fill, 1))

    def _part(self, words: np.ndarray, start: int, stop: int, watch: np.ndarray | None = None, held=()) -> None:
        """Compute some of the samples in this thread; `held` keeps the arrays alive whose addresses are in `words`."""
        code = self.code
        work = take_work(code.work_size(self.length))
        if watch is None:
            watch = work.watch
        else:
            start_watch(watch)
        at = len(words) - 2 if self.plain else 3
        words[at], words[at + 1] = work.start + code.fixed, address(watch)
        if self.growth is not None:
            local, batch = np.empty_like(words), code.library.address["batch"]
            tables = address(words), address(self.growth), address(local)
            stopped = code.nested(start, stop, self.inner, len(words), *tables, work.start, batch)
        elif self.plain:
            stopped = code.batch(start, stop, address(words), work.start)
        else:
            out = work.start + code.tile_in
            stopped = code.strided(start, stop, address(words), work.start, out, out + code.tile_out, code.whole)
        if stopped:
            raise_kept(watch)
        keep_work(work)


class Compiled:
    """Loaded machine code of one kernel for one dtype and width.

    `cost` and `cost_rows` are the numbers of operations that one sample takes: always, and for each row of the
    sequences. `scratch` and `scratch_rows` are the vectors of scratch memory that it needs, in the same way.
    """

    def __init__(
        self,
        name: str,
        inputs,
        outputs,
        width: int,
        dtype: str,
        object_code: bytes,
        scratch: int,
        scratch_rows: int,
        cost: int,
        cost_rows: int,
    ):
        self.name, self.inputs, self.outputs = name, tuple(inputs), tuple(outputs)
        self.width, self.dtype, self.size = width, dtype, len(object_code)
        self.cost, self.cost_rows = cost, cost_rows
        self.library = jit.load(object_code, ("whole", "batch"))
        self.whole = self.library.address["whole"]
        self.batch = _BATCH(self.library.address["batch"])
        vector = width * BYTES[dtype]
        self.tile_in, self.tile_out = (n * vector for n in tile_sizes(self.inputs, self.outputs, width))
        context = 8 * context_size(self.inputs, self.outputs, width)
        # Scratch memory comes after so many bytes.
        self.fixed = (self.tile_in + self.tile_out + context + 63) // 64 * 64
        self._scratch, self._scratch_rows = scratch * vector, scratch_rows * vector

    @cached_property
    def strided(self):
        """The function `strided` of `strided_loop`, which serves arrays of any layout."""
        return _STRIDED(strided_loop.library(self.width, self.dtype).address["strided"])

    @cached_property
    def nested(self):
        """The function `nested` of `strided_loop`, which serves batches of two axes."""
        return _NESTED(strided_loop.nested_library().address["nested"])

    @property
    def memory(self) -> tuple[int, int, int]:
        """Work memory: its bytes, further bytes for each row of the sequences, and where scratch memory begins."""
        return self.fixed + self._scratch, self._scratch_rows, self.fixed

    def work_size(self, length: int) -> int:
        """Return how many bytes of work memory are needed for sequences of this length."""
        fixed, row, _ = self.memory
        return fixed + row * length

    def plan(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], batch, length: int) -> Plan:
        """Return the plan for arrays laid out like these; outputs must not share memory with inputs."""
        arrays = (*inputs, *outputs)
        views = [view_of(o, a, len(batch)) for o, a in zip((*self.inputs, *self.outputs), arrays, strict=True)]
        shape, strides = collapse(batch, views)
        nested = len(shape) == 2 and shape[1] >= LEAST_GROUPS * self.width
        plain = (len(shape) <= 1 or nested) and all(
            v.operand.sequence or (a.flags.aligned and v.contiguous(BYTES[self.dtype]))
            for v, a in zip(views, arrays, strict=True)
        )
        words, places = self._words(views, strides, length) if plain else self._table(views, shape, strides, length)
        found = Plan(self, tuple(batch), length, plain, words, places, [v.offsets for v in views])
        if plain and nested:
            found.growth, found.inner = np.zeros_like(words), shape[1]
            found.growth[places] = [s[0] for s in strides]
        return found

    def _words(self, views: list[View], strides: list[list[int]], length: int) -> tuple[np.ndarray, list[int]]:
        """The table of operands for `batch`, and the places of the addresses in it."""
        words: list[int] = []
        places: list[int] = []
        for v, s in zip(views, strides, strict=True):
            places.append(len(words))
            words += [0, s[-1] if s else 0]
            if v.operand.sequence:
                words += [v.row, address(v.offsets)]
        return np.array([*words, length, 0, 0], np.int64), places

    def _table(self, views: list[View], shape: list[int], strides, length: int) -> tuple[np.ndarray, list[int]]:
        """The table of operands for `strided`, and the places of the addresses in it."""
        if len(shape) > strided_loop.MAX_BATCH_AXES:
            raise ArgumentError(
                f"{self.name}: at most {strided_loop.MAX_BATCH_AXES} batch axes of different strides are supported"
            )
        table = np.zeros(strided_loop.TABLE_HEAD + len(views) * strided_loop.ENTRY_WORDS, np.int64)
        table[:3] = len(views), len(shape), length
        table[5 : 5 + len(shape)] = shape
        at = {strided_loop.INPUT: 0, strided_loop.OUTPUT: 0, strided_loop.SEQUENCE: CONTEXT_HEAD}
        places = []
        for k, (v, s) in enumerate(zip(views, strides, strict=True)):
            kind = (
                strided_loop.SEQUENCE
                if v.operand.sequence
                else strided_loop.INPUT
                if k < len(self.inputs)
                else strided_loop.OUTPUT
            )
            entry = strided_loop.TABLE_HEAD + k * strided_loop.ENTRY_WORDS
            table[entry : entry + 6] = kind, 0, v.operand.size, at[kind], address(v.offsets), v.row
            table[entry + 6 : entry + 6 + len(s)] = s
            places.append(entry + 1)
            at[kind] += self.width + 2 if kind == strided_loop.SEQUENCE else v.operand.size
        return table, places
