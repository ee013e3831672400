"""From NumPy arrays to machine code: layouts, broadcasting, aliasing, threads."""

from __future__ import annotations

import contextlib
import ctypes
import math
import operator
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ..codegen.batch_loop import CONTEXT_HEAD, context_size, tile_sizes
from ..codegen.ir import BYTES
from ..codegen.watch import STOP
from ..graph.program import Operand
from . import jit, strided_loop
from .thread_pool import new_watches, raise_kept, start_watch, together

__all__ = [
    "Compiled",
    "Plan",
    "address",
    "broadcast_batch",
    "check_threads",
    "default_threads",
    "forget_memory",
    "prepare_out",
]

DTYPES = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}
THREAD_WORK = 500_000  # operations below which a further thread does not pay
LOCK_WORK = 20_000  # operations below which letting go of Python's global lock does not pay
_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_STRIDED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 5)


# --- threads -----------------------------------------------------------------------------------------


def check_threads(value, source: str) -> int:
    """A number of threads, or an error that says where it came from."""
    try:
        n = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        n = 0
    if n < 1:
        raise ArgumentError(f"{source} must be a whole number of threads, 1 or more; got {value!r}")
    return n


def default_threads() -> int:
    """ADJOINT_THREADS, or the number of processors this process may use."""
    chosen = os.environ.get("ADJOINT_THREADS")
    if chosen:
        return check_threads(chosen, "the environment variable ADJOINT_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- arguments ---------------------------------------------------------------------------------------


def broadcast_batch(operands: Sequence[Operand], arrays: Sequence[np.ndarray], function: str):
    """The common batch shape of the inputs, and the length of their sequences."""
    batch: tuple[int, ...] = ()
    length = None
    for o, a in zip(operands, arrays, strict=True):
        core = len(o.shape)
        lead = a.ndim - core
        if lead < o.sequence or a.shape[lead:] != o.shape:
            wanted = "".join(f", {d}" for d in o.shape)
            wanted = f"(..., length{wanted})" if o.sequence else f"(...{wanted})" if o.shape else "(...)"
            raise ArgumentError(
                f"{function}: argument '{o.name}' has shape {a.shape}; {wanted} is needed, with any leading batch axes"
                + o.note
            )
        if o.sequence:
            if length not in (None, a.shape[lead - 1]):
                raise ArgumentError(
                    f"{function}: sequence '{o.name}' has length {a.shape[lead - 1]}, another has {length}"
                )
            length = a.shape[lead - 1]
            lead -= 1
        if a.shape[:lead] != batch:
            try:
                batch = np.broadcast_shapes(batch, a.shape[:lead])
            except ValueError:
                shapes = ", ".join(f"{p.name}: {x.shape}" for p, x in zip(operands, arrays, strict=True))
                raise ArgumentError(f"{function}: the batch axes do not broadcast ({shapes})") from None
    return batch, length or 0


RECYCLED = range(1 << 19, 96 << 20)  # bytes of an array of results, or of work memory, that are used again
_waiting: deque[np.ndarray] = deque(maxlen=4)


def prepare_out(
    outputs: Sequence[Operand], out, batch, length: int, dtype: np.dtype, function: str
) -> list[np.ndarray]:
    """The arrays results go to: new ones, or those the caller gave, checked."""
    shapes = [(*batch, length, *o.shape) if o.sequence else (*batch, *o.shape) for o in outputs]
    if out is None:
        return [_new_array(s, dtype) for s in shapes]
    given = list(out) if isinstance(out, tuple | list) else [out]
    if len(given) != len(outputs):
        names = ", ".join(o.name for o in outputs)
        needed = f"a tuple of {len(outputs)} arrays, {names}" if len(outputs) > 1 else "one array"
        raise ArgumentError(f"{function}: out needs {needed}; got {len(given)}")
    for a, s, o in zip(given, shapes, outputs, strict=True):
        if not isinstance(a, np.ndarray):
            raise ArgumentError(f"{function}: out for '{o.name}' must be a NumPy array; got {type(a).__name__}")
        if a.shape != s or a.dtype != dtype:
            raise ArgumentError(
                f"{function}: out for '{o.name}' has shape {a.shape} and dtype {a.dtype}; {s} and {dtype} are needed"
            )
        if not a.flags.writeable:
            raise ArgumentError(f"{function}: out for '{o.name}' is read-only")
        if _repeats(a):
            raise ArgumentError(f"{function}: out for '{o.name}' repeats its own memory")
    for i, a in enumerate(given):
        if any(_overlap(a, b) for b in given[:i]):
            raise ArgumentError(f"{function}: the arrays given as out overlap each other")
    return given


class _Recycled:
    """Memory of one large array; when no array uses it any more, it waits for the next one of its size.

    New memory comes from the system page by page, cleared first: that takes longer than filling it with results.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, size: int):
        self.block = self._take(size)
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (address(self.block), False)
        }  # fmt: skip

    @staticmethod
    def _take(size: int) -> np.ndarray:
        with contextlib.suppress(IndexError):  # blocks come and go in other threads
            for _ in range(len(_waiting)):
                block = _waiting.pop()
                if block.nbytes == size:
                    return block
                _waiting.appendleft(block)
        return np.empty(size, np.uint8)

    def __del__(self, put_back=_waiting.append):
        if hasattr(self, "block"):  # not if making it was interrupted
            put_back(self.block)


def forget_memory() -> None:
    """Free the memory that waits for large results."""
    _waiting.clear()


def _new_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = math.prod(shape) * dtype.itemsize
    return np.asarray(_Recycled(shape, dtype, size)) if size in RECYCLED else np.empty(shape, dtype)


def _repeats(a: np.ndarray) -> bool:
    """Whether two elements of an array may share memory: some stride does not reach past the axes below it."""
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return a.size > 0
        reach = stride * n
    return False


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays share memory; yes, if that is hard to tell."""
    try:
        return np.shares_memory(a, b, max_work=100_000)
    except np.exceptions.TooHardError:
        return True


# --- layouts -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """How an operand lies in memory: strides over the batch, over rows (sequences only), and over the core."""

    operand: Operand
    batch: tuple[int, ...]
    row: int
    core: tuple[int, ...]

    @cached_property
    def offsets(self) -> np.ndarray:
        """Bytes from the start of a sample (or row) to each of its elements."""
        index = np.indices(self.operand.shape).reshape(len(self.operand.shape), self.operand.size)
        return np.array(self.core, dtype=np.int64) @ index

    def contiguous(self, itemsize: int) -> bool:
        """Whether the elements of a sample lie one after the other."""
        step = itemsize
        for n, s in zip(reversed(self.operand.shape), reversed(self.core), strict=True):
            if n > 1 and s != step:
                return False
            step *= n
        return True


def _view(o: Operand, a: np.ndarray, axes: int) -> View:
    core = len(o.shape)
    lead = a.ndim - core - o.sequence
    batch = [0 if n == 1 else s for s, n in zip(a.strides[:lead], a.shape[:lead], strict=True)]
    return View(o, (*[0] * (axes - lead), *batch), a.strides[lead] if o.sequence else 0, a.strides[a.ndim - core :])


def _collapse(batch: tuple[int, ...], views: Sequence[View]) -> tuple[list[int], list[list[int]]]:
    """The batch with as few axes as the strides allow: its shape, and the strides of each operand."""
    shape: list[int] = []
    strides: list[list[int]] = [[] for _ in views]
    for d, n in enumerate(batch):
        if n == 1:
            continue
        if shape and all(s[-1] == v.batch[d] * n for s, v in zip(strides, views, strict=True)):
            shape[-1] *= n
            for s, v in zip(strides, views, strict=True):
                s[-1] = v.batch[d]
        else:
            shape.append(n)
            for s, v in zip(strides, views, strict=True):
                s.append(v.batch[d])
    return shape, strides


DATA = 16  # where in CPython's array objects the address of the data is; NumPy tells it ten times as slowly
_read = ctypes.c_ssize_t.from_address
_example = np.zeros(1)
_can_read = sys.implementation.name == "cpython" and _read(id(_example) + DATA).value == _example.ctypes.data


def address(a: np.ndarray) -> int:
    """Where the data of an array begins."""
    return _read(id(a) + DATA).value if _can_read else a.ctypes.data


# --- running -----------------------------------------------------------------------------------------

_memory = threading.local()
_KEPT_MEMORY = 1 << 20  # bytes of work memory a thread keeps from call to call


class _Work(NamedTuple):
    """Work memory of one thread: bytes, where in them 64-byte lines begin; and the watch of its calls."""

    block: np.ndarray
    start: int
    watch: np.ndarray


def _take_work(size: int) -> _Work:
    """Work memory for one call, which nobody else has: a signal's handler may call kernels in the midst of it."""
    kept = getattr(_memory, "work", None)
    if kept is not None and len(kept.block) >= size + 64:
        _memory.work = None
        return kept
    step = max(size >> 3, 64)  # sizes are rounded up, so that memory fits calls of about the same length
    step = 1 << step.bit_length()
    block, (watch,) = _new_array((-(-size // step) * step + 64,), np.dtype(np.uint8)), new_watches(1)
    start_watch(watch)
    return _Work(block, (address(block) + 63) // 64 * 64, watch)


def _keep_work(work: _Work) -> None:
    """After a call that was not stopped: this thread's next one uses the same memory."""
    if len(work.block) <= _KEPT_MEMORY:
        _memory.work = work


def _forget_work() -> None:
    """In a forked child another thread may be the main one."""
    global _memory
    _memory = threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_work)


@dataclass
class Plan:
    """All there is to know of a call but the addresses: made once for shapes and strides, used for every such call."""

    code: Compiled
    batch: tuple[int, ...]
    length: int
    plain: bool  # rows are contiguous and lie along one batch axis
    words: np.ndarray  # the table for the machine code, with places for addresses
    places: list[int]
    keep: list[np.ndarray]

    @property
    def total(self) -> int:
        return math.prod(self.batch)

    def run(self, arrays: Sequence[np.ndarray], threads: Callable[[], int]) -> None:
        """Compute all samples of inputs and results that are laid out as planned, over as many threads as pay."""
        words = self.words.copy()
        for k, a in zip(self.places, arrays, strict=True):
            words[k] = address(a)
        total, code = self.total, self.code
        work = total * max(code.cost, 1) * max(self.length, 1)
        parts = min(threads(), work // THREAD_WORK, -(-total // code.width)) if work >= 2 * THREAD_WORK else 1
        if parts <= 1:
            if total:
                self._part(words, 0, total)
            return
        step = -(-total // (parts * code.width)) * code.width  # whole groups of lanes
        starts = range(0, total, step)
        watches = new_watches(len(starts))
        # Every part owns the arrays it works on.
        runs = [
            partial(self._part, words.copy(), start, min(start + step, total), watch, arrays)
            for start, watch in zip(starts, watches, strict=True)
        ]
        together(runs, partial(watches[:, STOP].fill, 1))

    def _part(self, words: np.ndarray, start: int, stop: int, watch: np.ndarray | None = None, held=()) -> None:
        """Some of the samples, in this thread; `held` is what the addresses in `words` belong to."""
        code = self.code
        work = _take_work(code.work_size(self.length))
        if watch is None:
            watch = work.watch
        else:
            start_watch(watch)
        at = len(words) - 2 if self.plain else 3
        words[at], words[at + 1] = work.start + code.fixed, address(watch)
        if self.plain:
            stopped = code.batch(start, stop, address(words), work.start)
        else:
            out = work.start + code.tile_in
            stopped = code.strided(start, stop, address(words), work.start, out, out + code.tile_out, code.body)
        if stopped:
            raise_kept(watch)
        _keep_work(work)


class Compiled:
    """Loaded machine code of one kernel for one dtype and width."""

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
    ):
        self.name, self.inputs, self.outputs = name, tuple(inputs), tuple(outputs)
        self.width, self.dtype, self.cost, self.size = width, dtype, cost, len(object_code)
        self.library = jit.load(object_code, ("whole", "batch"))
        self.body = self.library.address["whole"]
        self.batch = _BATCH(self.library.address["batch"])
        vector = width * BYTES[dtype]
        self.tile_in, self.tile_out = (n * vector for n in tile_sizes(self.inputs, self.outputs, width))
        context = 8 * context_size(self.inputs, self.outputs, width)
        self.fixed = (self.tile_in + self.tile_out + context + 63) // 64 * 64  # then comes scratch memory
        self._scratch, self._scratch_rows = scratch * vector, scratch_rows * vector

    @cached_property
    def strided(self):
        """The shared code for any layout."""
        return _STRIDED(strided_loop.library(self.width, self.dtype).address["strided"])

    @property
    def memory(self) -> tuple[int, int, int]:
        """Work memory: bytes, further bytes for each row of the sequences, and where in it scratch memory begins."""
        return self.fixed + self._scratch, self._scratch_rows, self.fixed

    def work_size(self, length: int) -> int:
        """Bytes of work memory for sequences of this length."""
        fixed, row, _ = self.memory
        return fixed + row * length

    def plan(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], batch, length: int) -> Plan:
        """How to run on arrays laid out like these; outputs must not share memory with inputs."""
        arrays = (*inputs, *outputs)
        views = [_view(o, a, len(batch)) for o, a in zip((*self.inputs, *self.outputs), arrays, strict=True)]
        shape, strides = _collapse(batch, views)
        plain = len(shape) <= 1 and all(
            v.operand.sequence or (a.flags.aligned and v.contiguous(BYTES[self.dtype]))
            for v, a in zip(views, arrays, strict=True)
        )
        words, places = self._words(views, strides, length) if plain else self._table(views, shape, strides, length)
        return Plan(self, tuple(batch), length, plain, words, places, [v.offsets for v in views])

    def _words(self, views: list[View], strides: list[list[int]], length: int) -> tuple[np.ndarray, list[int]]:
        words: list[int] = []
        places: list[int] = []
        for v, s in zip(views, strides, strict=True):
            places.append(len(words))
            words += [0, s[0] if s else 0]
            if v.operand.sequence:
                words += [v.row, address(v.offsets)]
        return np.array([*words, length, 0, 0], np.int64), places

    def _table(self, views: list[View], shape: list[int], strides, length: int) -> tuple[np.ndarray, list[int]]:
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
