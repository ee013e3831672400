"""Small calls straight from CPython, without a line of Python.

`call` is one CPython function (METH_FASTCALL) in machine code for all kernels: it checks its arguments, makes the
results, or checks the arrays given as `out`, and runs a kernel's batch function. It serves one sample, of sequences
too, or a batch along one axis too small for threads; whatever else it meets it hands to a Python fallback. A record of
words describes the kernel to it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import CompileError
from ..codegen.batch_loop import STREAMED
from ..graph.loops import python_calls
from . import jit, strided_loop
from .entry_code import EntryCode
from .entry_record import MAX_AXES, entry_record
from .execution import DTYPES, LOCK_WORK, THREAD_WORK, Compiled
from .python_abi import python_api
from .result_arrays import RECYCLED

__all__ = ["direct_caller"]


@jit.once
def _caller() -> jit.Library | None:
    """The machine code of `call`, or None if it cannot be had here: calls then go by Python's own road."""
    try:
        return strided_loop.shared(("call",), {"call": lambda module: EntryCode(module).function()})
    except CompileError:
        return None


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Code(NamedTuple):
    """Machine code: the address of its batch function, and its memory: bytes, bytes a row, where scratch begins."""

    address: int = 0
    work: int = 0
    rows: int = 0
    scratch: int = 0


def direct_caller(
    name: str,
    single: tuple[Compiled, type | None] | None,
    batch: tuple[Compiled, type | None] | None,
    places: int,
    defaults: list,
    threads: int,
    fallback: Callable,
) -> Callable:
    """A builtin function that runs samples itself if they are few, and calls `fallback` for everything else.

    It is the fallback itself if that is not possible here. `single` serves one sample, `batch` several, without
    sequences: machine code, and the type that its results are put in. Arrays must have its dtype; Python's numbers are
    taken as float64 only. Positional arguments fill the first `places` inputs, `defaults` the others, None is none.
    """
    (code, make_tuple), *_ = known = [c for c in (single, batch) if c]
    dtype, api = DTYPES[code.dtype], python_api()
    if api is None or any(len(o.shape) > MAX_AXES for o in (*code.inputs, *code.outputs)):
        return fallback
    caller = _caller()
    if caller is None:
        return fallback
    # Of elements one after the other, of any operand.
    offsets = dtype.itemsize * np.arange(max([1, *(o.size for o in (*code.inputs, *code.outputs))]))
    defaults = [None if d is None else np.asarray(d, dtype) for d in defaults]
    values = api | {
        "python_calls": ctypes.addressof(python_calls),
        "fallback": id(fallback),
        "places": places,
        "make_tuple": 0 if make_tuple is None else id(make_tuple),
        "dtype": id(dtype),
        "type_number": dtype.num,
        **_code_words(single, batch),
        **_limits(code, threads),
    }
    if dtype != np.float64:
        values |= {"float_type": 0, "float64_type": 0}  # no object is of these types
    record = entry_record(code, values, defaults, offsets)
    method = _MethodDef(name.encode(), caller.address["call"], 0x80 | 0x02, b"compiled by adjoint")
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    # The function owns its third argument (its "module"): all that the record points to lives as long as it does.
    keep = method, dtype, offsets, defaults, make_tuple, fallback, [c.library for c, _ in known]
    return new(ctypes.addressof(method), record, keep)


def _code_words(single, batch) -> dict[str, int]:
    one, many = (_Code(c[0].library.address["batch"], *c[0].memory) if c else _Code() for c in (single, batch))
    words = {"single": one.address, "single_work": one.work, "single_rows": one.rows, "single_scratch": one.scratch}
    return words | {"batch": many.address, "work": many.work, "rows": many.rows, "scratch": many.scratch}


def _limits(code: Compiled, threads: int) -> dict[str, int]:
    """Samples, or rows of sequences: above `few` it lets go of Python's global lock, above `most` it leaves them.

    So it does above `most_new`, if it has to make new arrays.
    """
    cost, sequences = max(code.cost, 1), any(o.sequence for o in (*code.inputs, *code.outputs))
    most = 2**62 if threads == 1 or sequences else 2 * THREAD_WORK // cost
    # Larger results go to memory that is used again. The system's allocator keeps that of one array, not of several.
    largest = max([1, *(DTYPES[code.dtype].itemsize * o.size for o in code.outputs)])
    limit = STREAMED if len(code.outputs) == 1 else RECYCLED.start
    return {"few": LOCK_WORK // cost, "most": most, "most_new": limit // largest}
