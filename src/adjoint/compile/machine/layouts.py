"""How arrays lie in memory: batch shapes that broadcast, strides, and addresses."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ..graph.program import Operand

__all__ = ["DATA", "View", "address", "broadcast_batch", "collapse", "view_of"]

# Where in an array object of CPython the address of the data is: reading it there is ten times as fast as asking NumPy.
DATA = 16
_read = ctypes.c_ssize_t.from_address
_example = np.zeros(1)
_can_read = sys.implementation.name == "cpython" and _read(id(_example) + DATA).value == _example.ctypes.data


def address(a: np.ndarray) -> int:
    """Return where the data of an array begins."""
    return _read(id(a) + DATA).value if _can_read else a.ctypes.data


def broadcast_batch(operands: Sequence[Operand], arrays: Sequence[np.ndarray], function: str):
    """Return the common batch shape of the inputs, and the length of their sequences (0 if there are none)."""
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


@dataclass(frozen=True)
class View:
    """How an operand lies in memory: its strides over the batch, over rows (of a sequence) and over core axes."""

    operand: Operand
    batch: tuple[int, ...]
    row: int
    core: tuple[int, ...]

    @cached_property
    def offsets(self) -> np.ndarray:
        """The bytes from the start of a sample (or row) to each of its elements."""
        index = np.indices(self.operand.shape).reshape(len(self.operand.shape), self.operand.size)
        return np.array(self.core, dtype=np.int64) @ index

    def contiguous(self, itemsize: int) -> bool:
        """Return whether the elements of a sample follow each other in memory."""
        step = itemsize
        for n, s in zip(reversed(self.operand.shape), reversed(self.core), strict=True):
            if n > 1 and s != step:
                return False
            step *= n
        return True


def view_of(o: Operand, a: np.ndarray, axes: int) -> View:
    """Return how the array `a`, given for operand `o`, lies in memory; it is broadcast to a batch of so many axes."""
    core = len(o.shape)
    lead = a.ndim - core - o.sequence
    batch = [0 if n == 1 else s for s, n in zip(a.strides[:lead], a.shape[:lead], strict=True)]
    return View(o, (*[0] * (axes - lead), *batch), a.strides[lead] if o.sequence else 0, a.strides[a.ndim - core :])


def collapse(batch: tuple[int, ...], views: Sequence[View]) -> tuple[list[int], list[list[int]]]:
    """Join axes of the batch where the strides allow it; returns its new shape, and the new strides of each operand."""
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
