"""Small calls go straight from CPython to machine code, without a line of Python.

`call` is one CPython function (METH_FASTCALL) in machine code, which serves all kernels. It checks its arguments, makes
the arrays for the results, or checks those given as `out`, and runs the kernel's function `batch`. It serves one
sample, or a batch along one axis that is too small to be split over threads and has its sequences in common. It hands
everything else to a fallback in Python. A *record*, a table of words, describes the kernel to it (see `entry_record`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import CompileError
from ..codegen.batch_loop import STREAM_BYTES
from ..graph.current import python_calls
from . import jit, strided_loop
from .entry_code import EntryCode
from .entry_record import MAX_AXES, entry_record
from .execution import DTYPES, LOCK_WORK, THREAD_WORK, Compiled
from .python_abi import python_api
from .result_arrays import RECYCLED

__all__ = ["direct_caller"]


@jit.once
def _caller() -> jit.Library | None:
    """Load the machine code of `call`; None if that is impossible here, and all calls go through Python."""
    try:
        return strided_loop.shared(("call",), {"call": lambda module: EntryCode(module).function()})
    except CompileError:
        return None


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Code(NamedTuple):
    """What `call` knows of machine code: the address of `batch`, and how much work memory it needs.

    `work` bytes are needed in all, and `rows` bytes more for each row of the sequences. Scratch memory begins at
    `scratch`.
    """

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
    """Return a builtin function that runs small calls itself, and calls `fallback` for everything else.

    If that is impossible here, it is the fallback itself. `single` serves one sample, and `batch` serves several
    samples with the same sequences: each is machine code with the NamedTuple class of its results, or None. Arrays have
    the dtype of the code, and Python's numbers are accepted by float64 code only. Positional arguments fill the first
    `places` inputs, and `defaults` fill the others; an input whose default is None has no default.
    """
    (code, make_tuple), *_ = known = [c for c in (single, batch) if c]
    dtype, api = DTYPES[code.dtype], python_api()
    if api is None or any(len(o.shape) > MAX_AXES for o in (*code.inputs, *code.outputs)):
        return fallback
    caller = _caller()
    if caller is None:
        return fallback
    # The offsets of contiguous elements; one table serves all sequences.
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
        **_limits(code, threads, batch is not None),
    }
    if dtype != np.float64:
        # No object has these types, so Python's numbers are left to the fallback.
        values |= {"float_type": 0, "float64_type": 0}
    record = entry_record(code, values, defaults, offsets)
    method = _MethodDef(name.encode(), caller.address["call"], 0x80 | 0x02, b"compiled by adjoint")
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    # The function owns its third argument (its "module"), and with it all that the record points to.
    keep = method, dtype, offsets, defaults, make_tuple, fallback, [c.library for c, _ in known]
    return new(ctypes.addressof(method), record, keep)


def _code_words(single, batch) -> dict[str, int]:
    """The words of the record about machine code: that for one sample, and that for batches."""
    one, many = (_Code(c[0].library.address["batch"], *c[0].memory) if c else _Code() for c in (single, batch))
    words = {"single": one.address, "single_work": one.work, "single_rows": one.rows, "single_scratch": one.scratch}
    return words | {"batch": many.address, "work": many.work, "rows": many.rows, "scratch": many.scratch}


def _limits(code: Compiled, threads: int, batches: bool) -> dict[str, int]:
    """The words of the record that limit what `call` does itself.

    They are numbers of samples, or of rows of sequences in all samples if there are any. Above `most_locked_rows`,
    `call` releases Python's global lock while the code runs. Above `most_rows`, it leaves the call to the fallback,
    which may use several threads. Above `most_new_rows`, it does so if it had to make new arrays for the results.
    """
    cost, sequences = max(code.cost + code.cost_rows, 1), any(o.sequence for o in (*code.inputs, *code.outputs))
    most = 2**62 if threads == 1 or (sequences and not batches) else 2 * THREAD_WORK // cost
    # The fallback reuses the memory of large results. The system's allocator does so by itself for one array, but not
    # for several.
    largest = max([1, *(DTYPES[code.dtype].itemsize * o.size for o in code.outputs)])
    limit = STREAM_BYTES if len(code.outputs) == 1 else RECYCLED.start
    return {"most_locked_rows": LOCK_WORK // cost, "most_rows": most, "most_new_rows": limit // largest}
