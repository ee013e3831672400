"""Where CPython and NumPy keep what machine code reads: offsets in their objects, and addresses of their functions.

Each of them is checked before it is used for the first time. Where one does not hold, calls go through Python.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any

import numpy as np

from . import jit, strided_loop
from .layouts import DATA

__all__ = [
    "ALIGNED", "AXES", "BYTES_PAYLOAD", "CONTIGUOUS", "DTYPE", "FLAGS", "FLOAT_VALUE", "ITEMS", "LENGTH", "OUT",
    "SHAPE", "STRIDES", "TYPE", "WRITEABLE", "python_api",
]  # fmt: skip

OUT = sys.intern("out")
BYTES_PAYLOAD = 32  # where the contents of a bytes object, which carries the record, begin
# Offsets in objects: the type, the value of a float, and fields of an array.
TYPE, FLOAT_VALUE, AXES, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
LENGTH, ITEMS = 16, tuple.__basicsize__  # offsets in a tuple; ITEMS is not the same in all versions of CPython
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400  # flags of NumPy's arrays

_FUNCTIONS = {  # functions of CPython, by their names in the record
    "call": "PyObject_Vectorcall",
    "incref": "Py_IncRef",
    "decref": "Py_DecRef",
    "release": "PyEval_SaveThread",
    "acquire": "PyEval_RestoreThread",
    "malloc": "PyMem_RawMalloc",
    "free": "PyMem_RawFree",
    "no_memory": "PyErr_NoMemory",
    "restore": "PyErr_Restore",
}


@jit.once
def python_api() -> dict[str, Any] | None:
    """The addresses in CPython and NumPy that `call` uses.

    None unless every offset that `call` assumes is seen to hold.
    """
    if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info < (3, 16) or struct.calcsize("P") != 8:
        return None
    if getattr(sys, "_is_gil_enabled", lambda: True)() is False or (hasattr(sys, "abiflags") and "t" in sys.abiflags):
        return None
    try:
        if not _layout_holds():
            return None
        from numpy._core import _multiarray_umath  # pyright: ignore

        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = ctypes.cast(get(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))  # pyright: ignore
        if table[2] != id(np.ndarray) or not _is_known(table):  # PyArray_Type
            return None
        return {
            "array_type": id(np.ndarray),
            "float_type": id(float),
            "float64_type": id(np.float64),
            "tuple_type": id(tuple),
            "items": ITEMS,
            "none": id(None),
            "out": id(OUT),
            "new_array": table[93],
            "to_scalar": table[76],
            "ask_table": strided_loop.ask_table(),
            "idle_watch": strided_loop.idle_watch(),
            **{k: ctypes.cast(getattr(ctypes.pythonapi, f), ctypes.c_void_p).value for k, f in _FUNCTIONS.items()},
        }
    except (ImportError, AttributeError, TypeError, ValueError):
        return None


def _layout_holds() -> bool:
    """Return whether the fields of CPython's and NumPy's objects are where `call` looks for them."""
    a = np.arange(6.0).reshape(2, 3)[:, ::2]

    def at(obj, offset: int, kind: Any = ctypes.c_ssize_t):
        return kind.from_address(id(obj) + offset).value

    payload, pair = b"0123456789abcdef", (a, OUT)
    return bool(
        at(a, TYPE) == id(np.ndarray)
        and at(a, DATA) == a.ctypes.data
        and at(a, AXES, ctypes.c_int) == 2
        and [ctypes.c_ssize_t.from_address(at(a, SHAPE) + 8 * k).value for k in range(2)] == list(a.shape)
        and [ctypes.c_ssize_t.from_address(at(a, STRIDES) + 8 * k).value for k in range(2)] == list(a.strides)
        and at(a, DTYPE) == id(np.dtype(np.float64))
        and at(a, FLAGS, ctypes.c_int) & (CONTIGUOUS | ALIGNED | WRITEABLE) == ALIGNED | WRITEABLE
        and at(a.copy(), FLAGS, ctypes.c_int) & CONTIGUOUS
        and [at(pair, k) for k in (LENGTH, ITEMS, ITEMS + 8)] == [2, id(a), id(OUT)]
        and at(1.25, FLOAT_VALUE, ctypes.c_double) == 1.25
        and at(np.float64(2.5), FLOAT_VALUE, ctypes.c_double) == 2.5
        and ctypes.string_at(id(payload) + BYTES_PAYLOAD, len(payload)) == payload
    )


def _is_known(table: Any) -> bool:
    """Return whether NumPy says that its table of functions is that of NumPy 2, whose entries are used here."""
    # PyArray_GetNDArrayCVersion and PyArray_GetNDArrayCFeatureVersion
    binary, features = (ctypes.PYFUNCTYPE(ctypes.c_uint)(table[k])() for k in (0, 211))
    return binary == 0x02000000 and features >= 0x12
