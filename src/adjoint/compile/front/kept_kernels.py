"""The kernels that are kept: those made from others (bound, or derivatives) that were used last.

A kernel has only weak references to the kernels made from it. This file holds them, up to a number and to an amount of
memory; beyond that, it lets go of the least recently used. If somebody else holds such a kernel, it lives on, and is
found again. Otherwise its machine code and its memory are freed at once; when it is made again, its code is loaded from
the disk cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .function import Function

__all__ = ["MemoryUsage", "forget", "mark_used", "trim"]

MOST_KERNELS = 4096
MOST_BYTES = 256 << 20
_NODE_BYTES = 450  # measured size of one node of a program
_OWN_BYTES = 16 << 10  # size of a kernel itself, and of what lets CPython call its code

_kept: OrderedDict[Function, None] = OrderedDict()  # in the order of their last use


class MemoryUsage:
    """How much memory a kernel takes: bytes of machine code, and nodes of the programs that it traced."""

    __slots__ = ("code", "nodes")

    def __init__(self) -> None:
        self.code = self.nodes = 0

    @property
    def bytes(self) -> int:
        """An estimate of the bytes."""
        return _OWN_BYTES + self.code + _NODE_BYTES * self.nodes


def mark_used(kernel: Any) -> Any:
    """Note that a kernel is used now; returns the kernel."""
    try:
        _kept.move_to_end(kernel)
    except KeyError:
        _kept[kernel] = None
        if len(_kept) > MOST_KERNELS:
            _drop(len(_kept) - MOST_KERNELS, lambda kernel: 1)
    return kernel


def trim() -> None:
    """Free memory until kernels take at most `MOST_BYTES`; the caller must hold the lock `compiling`.

    Programs are freed first, because they are needed only to make more code. Then kernels are let go.
    """
    excess = sum(kernel.memory.usage.bytes for kernel in list(_kept)) - MOST_BYTES
    for kernel in list(_kept):
        if excess <= 0:
            return
        excess += -kernel.memory.usage.bytes + kernel.drop_programs().bytes
    _drop(excess, lambda kernel: kernel.memory.usage.bytes)


def _drop(excess: int, size: Callable[[Function], int]) -> None:
    """Let go of kernels, the least recently used first, until their sizes add up to `excess`; the last one stays."""
    for kernel in list(_kept)[:-1]:
        if excess <= 0:
            return
        if kernel.is_wanted():
            mark_used(kernel)
        else:
            excess -= size(kernel)
            _let_go(kernel)


def _let_go(kernel: Function) -> None:
    """Let go of one kernel."""
    _kept.pop(kernel, None)
    kernel.let_go()


def forget(value: Any = None) -> int:
    """Free the kernels that were made for `value`, such as a robot; by default, free all kernels made from others.

    Kernels that are held elsewhere, as by `fast = inverse_dynamics.bind(robot)`, go on working. The others are made
    again when they are needed, and their code is loaded from the disk cache. `forget()` also frees memory that waits
    for large results. Nobody has to call it: a process keeps at most 4096 such kernels, and about 256 MB.

    Returns how many kernels were let go.

    >>> import adjoint as aj
    >>> robot = aj.robots.puma560()
    >>> energy = aj.kinetic_energy(robot, [0.0] * 6, [1.0] * 6)
    >>> aj.forget(robot) > 0
    True
    """
    from ..machine import result_arrays

    found = [kernel for kernel in list(_kept) if value is None or kernel.is_made_for(value)]
    for kernel in found:
        kernel.is_wanted()  # this makes its parent forget the calls that it served
        _let_go(kernel)
    if value is None:
        result_arrays.forget_memory()
    return len(found)
