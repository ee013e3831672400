"""The arrays that results go to: new ones, memory that is used again, or those that a caller gave as `out`."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from ...errors import ArgumentError
from ..graph.program import Operand
from .layouts import address

__all__ = ["RECYCLED", "forget_memory", "new_array", "prepare_out"]

# Sizes in bytes of memory that is used again: that of an array of results, or work memory.
RECYCLED = range(1 << 17, 96 << 20)
_waiting: deque[np.ndarray] = deque(maxlen=8)  # memory that waits to be used again


def prepare_out(
    outputs: Sequence[Operand], out, batch, length: int, dtype: np.dtype, function: str
) -> list[np.ndarray]:
    """Return the arrays that results go to: new ones, or those that the caller gave as `out`, after checks."""
    shapes = [(*batch, length, *o.shape) if o.sequence else (*batch, *o.shape) for o in outputs]
    if out is None:
        return [new_array(s, dtype) for s in shapes]
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
    """The memory of one large array. When no array uses it any more, it waits for the next one of its size.

    The operating system hands out new memory page by page, and clears it first. That takes longer than filling it with
    results.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, size: int):
        self.block = self._take(size)
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (address(self.block), False)
        }  # fmt: skip

    @staticmethod
    def _take(size: int) -> np.ndarray:
        with contextlib.suppress(IndexError):  # other threads take blocks and put them back meanwhile
            for _ in range(len(_waiting)):
                block = _waiting.pop()
                if block.nbytes == size:
                    return block
                _waiting.appendleft(block)
        return np.empty(size, np.uint8)

    def __del__(self, put_back=_waiting.append):
        if hasattr(self, "block"):  # an interrupt may have come before it was set
            put_back(self.block)


def forget_memory() -> None:
    """Free the memory that waits for large results."""
    _waiting.clear()


def new_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a new array, not filled; a large one may get memory that was used before."""
    size = math.prod(shape) * dtype.itemsize
    return np.asarray(_Recycled(shape, dtype, size)) if size in RECYCLED else np.empty(shape, dtype)


def _repeats(a: np.ndarray) -> bool:
    """Return whether elements of an array may share memory: a stride is smaller than what the axes within it span."""
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return a.size > 0
        reach = stride * n
    return False


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays share memory; if that is hard to find out, the answer is yes."""
    try:
        return np.shares_memory(a, b, max_work=100_000)  # pyright: ignore[reportArgumentType] (any whole number)
    except np.exceptions.TooHardError:
        return True
