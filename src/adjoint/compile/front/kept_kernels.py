"""The kernels that are kept: those made from others (bound, or derivatives) that were used last.

A kernel knows the kernels made from it only weakly. This file holds them, up to a number and to an amount of memory;
beyond, it lets go of the least recently used. A kernel that somebody else holds lives on, and is found again; of the
others machine code and memory are freed at once, and making them again loads their code from the disk cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .function import Function

__all__ = ["Share", "forget", "trim", "use"]

MOST_KERNELS = 4096
MOST_BYTES = 256 << 20
_NODE_BYTES = 450  # of one node of a program, as measured
_OWN_BYTES = 16 << 10  # of a kernel itself, and of what lets CPython call its code

_kept: OrderedDict[Function, None] = OrderedDict()  # the one used last is last


class Share:
    """How much memory a kernel takes: bytes of machine code, and nodes of programs it traced."""

    __slots__ = ("code", "nodes")

    def __init__(self) -> None:
        self.code = self.nodes = 0

    @property
    def bytes(self) -> int:
        """An estimate."""
        return _OWN_BYTES + self.code + _NODE_BYTES * self.nodes


def use(kernel: Any) -> Any:
    """Note that a kernel is used now; returns it."""
    try:
        _kept.move_to_end(kernel)
    except KeyError:
        _kept[kernel] = None
        if len(_kept) > MOST_KERNELS:
            _drop(len(_kept) - MOST_KERNELS, lambda kernel: 1)
    return kernel


def trim() -> None:
    """Keep to `MOST_BYTES`; for callers that hold the lock `compiling`.

    Programs go first, for they are needed only if more code is to be made of them, then kernels.
    """
    excess = sum(kernel.memory.share.bytes for kernel in list(_kept)) - MOST_BYTES
    for kernel in list(_kept):
        if excess <= 0:
            return
        excess += -kernel.memory.share.bytes + kernel.drop_programs().bytes
    _drop(excess, lambda kernel: kernel.memory.share.bytes)


def _drop(excess: int, size: Callable[[Function], int]) -> None:
    """Let go of kernels, the least recently used first, until their sizes come to `excess`; the last one stays."""
    for kernel in list(_kept)[:-1]:
        if excess <= 0:
            return
        if kernel.is_wanted():
            use(kernel)
        else:
            excess -= size(kernel)
            _let_go(kernel)


def _let_go(kernel: Function) -> None:
    _kept.pop(kernel, None)
    kernel.let_go()


def forget(value: Any = None) -> int:
    """Free the kernels that were made for `value`, such as a robot; all kernels made from others by default.

    Kernels that are held elsewhere, as by `fast = inverse_dynamics.bind(robot)`, go on working. The others are made
    again when they are needed, from the disk cache. `forget()` also frees memory that waits for large results. Nobody
    has to call it: a process keeps at most 4096 such kernels, and about 256 MB.

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
        kernel.is_wanted()  # no more: its parent no longer thinks of it
        _let_go(kernel)
    if value is None:
        result_arrays.forget_memory()
    return len(found)
