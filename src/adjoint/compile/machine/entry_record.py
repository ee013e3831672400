"""The *record* that describes a kernel to `call`, the function of `cpython_entry`: words in a fixed order."""

from __future__ import annotations

import struct

import numpy as np

from .execution import DTYPES, Compiled

__all__ = [
    "AXES_OF", "BYTES", "DEFAULT", "INPUT_WORDS", "LENGTHS", "MAX_AXES", "OFFSETS", "OUTPUT_WORDS", "PLACE",
    "READ_LATE", "RECORD", "entry_record",
]  # fmt: skip

# The words of the record, in this order; the words of each input follow, and then those of each output. Objects and
# functions of Python and NumPy are given by their addresses.
RECORD = (
    "python_calls",  # address of the number of functions being traced or run eagerly; if it is not 0, Python serves
    "fallback",  # the Python function for all calls that `call` does not serve
    "inputs",  # how many inputs there are
    "outputs",  # how many outputs there are
    "places",  # how many inputs can be given by position
    "words",  # how many words `batch` reads for all operands together
    "single",  # address of `batch` in the code for one sample; 0 if there is none
    "single_work",  # its work memory in bytes
    "single_rows",  # further bytes for each row of the sequences
    "single_scratch",  # where scratch memory begins in it
    "batch",  # these four words tell the same of the code for batches
    "work",
    "rows",
    "scratch",
    "most_locked_rows",  # limits, see `cpython_entry._limits`
    "most_rows",
    "most_new_rows",
    "array_type",  # np.ndarray
    "dtype",  # the dtype of all arrays
    "type_number",  # NumPy's number of that dtype
    "float_type",  # float and np.float64, or 0 if numbers are not accepted
    "float64_type",
    "tuple_type",  # tuple
    "items",  # where the items of a tuple begin in its object
    "none",  # None
    "out",  # the text "out", the name of that argument
    "new_array",  # functions of NumPy and CPython, see `python_abi`
    "to_scalar",
    "call",
    "incref",
    "decref",
    "release",
    "acquire",
    "malloc",
    "free",
    "no_memory",
    "make_tuple",  # the NamedTuple class of the results; 0 if there is one result
    "ask_table",  # see `strided_loop`
    "idle_watch",
    "restore",
)
READ_LATE = ("ask_table", "idle_watch", "restore")  # words that are read where they are used, see `EntryCode._late`
MAX_AXES = 4  # the most core axes of an input or output
# The words of one operand: the number of its core axes; its place among the words that `batch` reads; the address of
# the offsets of its elements if it is a sequence, else 0; the bytes of one sample (or row); the lengths of its axes. An
# input also has the strides of its axes, and its default (0 if it has none).
AXES_OF, PLACE, OFFSETS, BYTES, LENGTHS = range(5)
DEFAULT = LENGTHS + 2 * MAX_AXES
INPUT_WORDS = DEFAULT + 1
OUTPUT_WORDS = LENGTHS + MAX_AXES


def entry_record(code: Compiled, values: dict[str, int], defaults: list, offsets: np.ndarray) -> bytes:
    """Return the record of a kernel: the words `RECORD` and those of its operands, as bytes."""
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
