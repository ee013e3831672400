"""The record that describes a kernel to the entry of `cpython_entry`: words in a fixed order."""

from __future__ import annotations

import struct

import numpy as np

from .execution import DTYPES, Compiled

__all__ = [
    "AXES_OF", "BYTES", "DEFAULT", "INPUT_WORDS", "LENGTHS", "MAX_AXES", "OFFSETS", "OUTPUT_WORDS", "PLACE",
    "READ_LATE", "RECORD", "entry_record",
]  # fmt: skip

# The words of the record, in this order; the words of each input follow, and then those of each output.
RECORD = (
    "python_calls",
    "fallback",
    "inputs",
    "outputs",
    "places",
    "words",  # of all operands together
    "single",  # code for one sample, see `cpython_entry`; 0 if there is none
    "single_work",
    "single_rows",
    "single_scratch",
    "batch",  # the same for batches
    "work",
    "rows",
    "scratch",
    "few",
    "most",
    "most_new",
    "array_type",
    "dtype",  # of all arrays: the object, and NumPy's number of it
    "type_number",
    "float_type",
    "float64_type",
    "tuple_type",
    "items",  # where those of a tuple begin
    "none",
    "out",  # the name of that argument
    "new_array",
    "to_scalar",
    "call",
    "incref",
    "decref",
    "release",
    "acquire",
    "malloc",
    "free",
    "no_memory",
    "make_tuple",
    "ask_table",
    "idle_watch",
    "restore",
)
READ_LATE = ("ask_table", "idle_watch", "restore")  # see `EntryCode._late`
MAX_AXES = 4  # of the core of an input or output
# An entry of an operand: its axes, its place among the operands' words, the offsets of the elements in a row if it is a
# sequence, else 0; its bytes in one sample, or row; lengths of its axes; of an input their strides, and its default.
AXES_OF, PLACE, OFFSETS, BYTES, LENGTHS = range(5)
DEFAULT = LENGTHS + 2 * MAX_AXES
INPUT_WORDS = DEFAULT + 1
OUTPUT_WORDS = LENGTHS + MAX_AXES


def entry_record(code: Compiled, values: dict[str, int], defaults: list, offsets: np.ndarray) -> bytes:
    """The words that describe a kernel: see `RECORD`."""
    dtype, operands = DTYPES[code.dtype], (*code.inputs, *code.outputs)
    at = np.cumsum([0, *(4 if o.sequence else 2 for o in operands)]).tolist()
    values = values | {"inputs": len(code.inputs), "outputs": len(code.outputs), "words": at[-1]}
    words = [values[k] for k in RECORD]
    table = offsets.ctypes.data
    known = [
        [len(o.shape), place, table if o.sequence else 0, dtype.itemsize * o.size]
        for o, place in zip(operands, at[:-1], strict=True)
    ]
    for o, start, default in zip(code.inputs, known[: len(code.inputs)], defaults, strict=True):
        strides, unused = np.empty(o.shape, dtype).strides, [0] * (MAX_AXES - len(o.shape))
        words += [*start, *o.shape, *unused, *strides, *unused, 0 if default is None else id(default)]
    for o, start in zip(code.outputs, known[len(code.inputs) :], strict=True):
        words += [*start, *o.shape, *[0] * (MAX_AXES - len(o.shape))]
    return struct.pack(f"={len(words)}q", *words)  # in this machine's byte order
