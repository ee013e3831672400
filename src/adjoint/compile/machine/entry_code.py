"""The machine code of `call`, the function of `cpython_entry` that CPython calls for all kernels.

Each step of it checks something. A check that fails jumps to the label "slow", where the Python fallback takes over.
"""

from __future__ import annotations

from ..codegen.batch_loop import CONTEXT_HEAD
from ..codegen.ir import Coder, Module
from ..codegen.watch import ASKED, BUDGET, KEPT, LEFT, STOP, TABLE, WATCH, WATCH_WORDS
from .entry_record import (
    AXES_OF,
    BYTES,
    DEFAULT,
    INPUT_WORDS,
    LENGTHS,
    MAX_AXES,
    OFFSETS,
    OUTPUT_WORDS,
    PLACE,
    READ_LATE,
    RECORD,
)  # fmt: skip
from .layouts import DATA
from .python_abi import (
    ALIGNED,
    AXES,
    BYTES_PAYLOAD,
    CONTIGUOUS,
    DTYPE,
    FLAGS,
    FLOAT_VALUE,
    LENGTH,
    SHAPE,
    STRIDES,
    TYPE,
    WRITEABLE,
)  # fmt: skip

__all__ = ["HEAP_LIMIT", "STACK_LIMIT", "EntryCode"]

# Bytes of work memory up to which it is on the stack, for threads may have small stacks; larger memory is malloc'ed.
STACK_LIMIT = 1 << 15
HEAP_LIMIT = 1 << 22  # with more bytes of work memory than this, going through Python costs little in comparison


class EntryCode(Coder):
    """Writes `call(self, args, nargs, kwnames)`. `self` is a bytes object that holds the record, see `entry_record`."""

    def __init__(self, module: Module):
        super().__init__(module, 1, "f64")
        self.emit(f" %record = getelementptr i8, ptr %self, i64 {BYTES_PAYLOAD}")
        self.r = r = {name: self.get("%record", k) for k, name in enumerate(RECORD) if name not in READ_LATE}
        # The number of samples, or -1 for one sample without a batch axis.
        self.emit(" %count = alloca i64\n store i64 -1, ptr %count")
        # The length of the sequences, or -1 if there are none.
        self.emit(" %length = alloca i64\n store i64 -1, ptr %length")
        # How many arrays for results were made already.
        self.emit(" %made = alloca i64\n store i64 0, ptr %made")
        # What the caller gave as `out`, or null.
        self.emit(" %out = alloca ptr\n store ptr null, ptr %out")
        self.watch = self.op(f"alloca [{WATCH_WORDS} x i64]", "p").name
        self.words = self.op(f"alloca i64, i64 {self.add(r['words'], CONTEXT_HEAD)}", "p").name
        self.results = self.op(f"alloca ptr, i64 {self.add(r['outputs'], 1)}", "p").name
        self.dims = self.op(f"alloca i64, i64 {MAX_AXES + 2}", "p").name
        self.emit(" %heap = alloca ptr\n store ptr null, ptr %heap")
        self.first_output = self.add(self.mul(r["inputs"], INPUT_WORDS), len(RECORD))

    def function(self) -> str:
        """The text of `call`."""
        r = self.r
        with self.when(self.test("ne", "%kwnames", "null", "ptr")):
            self._read_out()
        self.require(self.same(self.get(self.pointer(r["python_calls"]), 0), 0), "slow")
        self.require(self.test("sle", "%nargs", r["places"]), "slow")
        with self.loop(r["inputs"]) as k:
            self._read_argument(k)
        count = self.word("load i64, ptr %count")
        single = self.same(count, -1)
        samples = self.word(f"select i1 {single}, i64 1, i64 {count}")
        length = self.word("load i64, ptr %length")
        rows = self.word(f"select i1 {self.same(length, -1)}, i64 {samples}, i64 {self.mul(samples, length)}")
        self.require(self.test("ne", samples, 0), "slow")
        self.require(self.test("sle", rows, r["most_rows"]), "slow")
        alone = self.same(samples, 1)
        code, fixed, for_row, scratch = (
            self.word(f"select i1 {alone}, i64 {r[f'single{part}']}, i64 {r[part[1:] or 'batch']}")
            for part in ("", "_work", "_rows", "_scratch")
        )
        self.require(self.test("ne", code, 0), "slow")
        sequence_rows = self.word(f"select i1 {self.same(length, -1)}, i64 0, i64 {length}")
        size = self.add(fixed, self.mul(for_row, sequence_rows))
        self.require(self.test("sle", size, HEAP_LIMIT), "slow")
        extra = self.word(f"select i1 {single}, i64 0, i64 1")
        new = self.same(self.word("load ptr, ptr %out"), "null", "ptr")
        given = self.op(f"xor i1 {new}, true", "m").name
        with self.when(new):
            self.require(self.test("sle", rows, r["most_new_rows"]), "slow")
        with self.when(given), self.loop(r["outputs"]) as k:
            self._take_result(k, samples, extra)
        work = self._work_memory(size)
        with self.when(new), self.loop(r["outputs"]) as k:
            self._make_result(k, samples, length, extra)
        self._run(code, samples, rows, sequence_rows, work, scratch)
        with self.when(self.op(f"and i1 {single}, {new}", "m").name), self.loop(r["outputs"]) as k:
            self._scalar_if_no_axes(k)
        self._return(given)
        head = "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {"
        return "\n".join([head, "entry:", *self.lines, "}"])

    # --- small steps -------------------------------------------------------------------------------

    def test(self, how: str, a, b, type: str = "i64") -> str:
        """Compare a with b; `how` is an LLVM condition such as "sle"."""
        return self.op(f"icmp {how} {type} {a}, {b}", "m").name

    def field(self, obj: str, offset: int, type: str) -> str:
        """Load a field of a Python object."""
        place = self.op(f"getelementptr i8, ptr {obj}, i64 {offset}", "p").name
        return self.op(f"load {type}, ptr {place}", "w").name

    def function_call(self, name: str, arguments: str, result: str = "ptr") -> str:
        """Call a function whose address is in the record."""
        text = f"call {result} {self.pointer(self.r[name])}({arguments})"
        if result == "void":
            self.emit(f" {text}")
            return ""
        return self.word(text)

    def item(self, pair: str, k) -> str:
        """The address of item k of a tuple."""
        items = self.op(f"getelementptr i8, ptr {pair}, i64 {self.r['items']}", "p").name
        return self.op(f"getelementptr ptr, ptr {items}, i64 {k}", "p").name

    def input(self, k: str) -> str:
        """The address of the words of input k in the record."""
        return self.address("%record", self.add(self.mul(k, INPUT_WORDS), len(RECORD)))

    def output(self, k: str) -> str:
        """The address of the words of output k in the record."""
        return self.address("%record", self.add(self.mul(k, OUTPUT_WORDS), self.first_output))

    def result(self, k: str) -> str:
        """The address where result k is kept."""
        return self.op(f"getelementptr ptr, ptr {self.results}, i64 {k}", "p").name

    def place(self, entry: str, address: str, stride: str, row: str = "0") -> None:
        """Write for `batch` where an operand is and how far its samples are apart.

        Of a sequence, also how far its rows are.
        """
        place, offsets = self.get(entry, PLACE), self.get(entry, OFFSETS)
        self.put(address, self.words, place)
        self.put(stride, self.words, self.add(place, 1))
        with self.when(self.test("ne", offsets, 0)):
            self.put(row, self.words, self.add(place, 2))
            self.put(offsets, self.words, self.add(place, 3))

    def agree(self, known: str, n: str) -> None:
        """Note that a length is n; if it was noted before, it must be the same."""
        before = self.word(f"load i64, ptr {known}")
        self.require(self.op(f"or i1 {self.same(before, -1)}, {self.same(before, n)}", "m").name, "slow")
        self.emit(f" store i64 {n}, ptr {known}")

    # --- the parts ---------------------------------------------------------------------------------

    def _read_out(self) -> None:
        """Read `out`, the only argument that may be given by name: an array, or a tuple of one for each result."""
        self.require(self.same(self.field("%kwnames", LENGTH, "i64"), 1), "slow")
        self.require(self.same(self.word(f"load i64, ptr {self.item('%kwnames', 0)}"), self.r["out"]), "slow")
        obj = self.word("load ptr, ptr " + self.op("getelementptr ptr, ptr %args, i64 %nargs", "p").name)
        given = self.test("ne", self.word(f"ptrtoint ptr {obj} to i64"), self.r["none"])
        with self.when(given):
            self.emit(f" store ptr {obj}, ptr %out")
        several = self.test("ne", self.r["make_tuple"], 0)
        with self.when(self.op(f"and i1 {given}, {several}", "m").name):
            kind = self.field(obj, TYPE, "i64")
            a_tuple = f"{self.same(kind, self.r['tuple_type'])}, {self.same(kind, self.r['make_tuple'])}"
            self.require(self.op(f"or i1 {a_tuple}", "m").name, "slow")
            self.require(self.same(self.field(obj, LENGTH, "i64"), self.r["outputs"]), "slow")

    def _take_result(self, k: str, samples: str, extra: str) -> None:
        """Use an array that the caller gave for result k.

        It must be like one that would be made for the result, and share no memory with inputs and with the results
        before it.
        """
        entry, out = self.output(k), self.word("load ptr, ptr %out")
        place = self.result(k)
        self.emit(f" store ptr {out}, ptr {place}")
        with self.when(self.test("ne", self.r["make_tuple"], 0)):
            self.emit(f" store ptr {self.word(f'load ptr, ptr {self.item(out, k)}')}, ptr {place}")
        array = self.word(f"load ptr, ptr {place}")
        self.require(self.same(self.field(array, TYPE, "i64"), self.r["array_type"]), "slow")
        self.require(self.same(self.field(array, DTYPE, "i64"), self.r["dtype"]), "slow")
        needed = CONTIGUOUS | ALIGNED | WRITEABLE
        flags = self.word(f"and i32 {self.field(array, FLAGS, 'i32')}, {needed}")
        self.require(self.same(flags, needed, "i32"), "slow")
        self.require(self.same(self.get(entry, OFFSETS), 0), "slow")
        axes, shape = self.get(entry, AXES_OF), self.field(array, SHAPE, "ptr")
        nd = self.word(f"sext i32 {self.field(array, AXES, 'i32')} to i64")
        self.require(self.same(nd, self.add(axes, extra)), "slow")
        with self.when(self.same(extra, 1)):
            self.require(self.same(self.get(shape, 0), samples), "slow")
        with self.loop(axes) as d:
            n = self.get(shape, self.add(d, extra))
            self.require(self.same(n, self.get(entry, self.add(d, LENGTHS))), "slow")
        self.place(entry, self.field(array, DATA, "i64"), self.get(entry, BYTES))
        start, end = self._extent(entry, samples)
        for count, other in ((self.r["inputs"], self.input), (k, self.output)):
            with self.loop(count) as j:
                first, last = self._extent(other(j), samples)
                apart = f"{self.test('sle', last, start)}, {self.test('sle', end, first)}"
                self.require(self.op(f"or i1 {apart}", "m").name, "slow")

    def _extent(self, entry: str, samples: str) -> tuple[str, str]:
        """Return where the memory of an operand begins and ends.

        Sequences, and samples in reverse order, are left to the fallback.
        """
        place = self.get(entry, PLACE)
        start, stride = self.get(self.words, place), self.get(self.words, self.add(place, 1))
        self.require(self.same(self.get(entry, OFFSETS), 0), "slow")
        self.require(self.test("sge", stride, 0), "slow")
        before_last = self.mul(stride, self.word(f"sub i64 {samples}, 1"))
        return start, self.add(self.add(start, before_last), self.get(entry, BYTES))

    def _read_argument(self, k: str) -> None:
        """Read argument k, or its default: an array or a number."""
        entry = self.input(k)
        argument = self.op(f"getelementptr ptr, ptr %args, i64 {k}", "p").name
        default = self.address(entry, DEFAULT)
        source = self.op(f"select i1 {self.test('slt', k, '%nargs')}, ptr {argument}, ptr {default}", "p").name
        obj = self.word(f"load ptr, ptr {source}")
        self.require(self.test("ne", obj, "null", "ptr"), "slow")
        kind = self.field(obj, TYPE, "i64")
        array, number, done = self.fresh_label("array"), self.fresh_label("number"), self.fresh_label("done")
        self.emit(f" br i1 {self.same(kind, self.r['array_type'])}, label %{array}, label %{number}")
        self.label(number)  # a Python float or a NumPy float64: its value comes after the head of the object
        a_float = self.op(
            f"or i1 {self.same(kind, self.r['float_type'])}, {self.same(kind, self.r['float64_type'])}", "m"
        )
        shapeless = self.same(self.word(f"or i64 {self.get(entry, AXES_OF)}, {self.get(entry, OFFSETS)}"), 0)
        self.require(self.op(f"and i1 {a_float.name}, {shapeless}", "m").name, "slow")
        self.place(entry, self.add(self.word(f"ptrtoint ptr {obj} to i64"), FLOAT_VALUE), "0")
        self.emit(f" br label %{done}")
        self.label(array)
        self._read_array(obj, entry)
        self.emit(f" br label %{done}")
        self.label(done)

    def _read_array(self, obj: str, entry: str) -> None:
        """Read an array.

        It must have the right dtype, be aligned, and have a contiguous core of the right shape and at most one batch
        axis. A sequence has one more axis, that of its rows, and is the same for all samples: code for batches whose
        samples have sequences of their own is left to the fallback.
        """
        self.require(self.same(self.field(obj, DTYPE, "i64"), self.r["dtype"]), "slow")
        aligned = self.word(f"and i32 {self.field(obj, FLAGS, 'i32')}, {ALIGNED}")
        self.require(self.test("ne", aligned, 0, "i32"), "slow")
        sequence, axes = self.test("ne", self.get(entry, OFFSETS), 0), self.get(entry, AXES_OF)
        nd = self.word(f"sext i32 {self.field(obj, AXES, 'i32')} to i64")
        lead = self.word(f"sub i64 {nd}, {axes}")
        extra = self.word(f"sub i64 {lead}, {self.word(f'zext i1 {sequence} to i64')}")
        self.require(self.test("ule", extra, 1), "slow")
        shape, strides = self.field(obj, SHAPE, "ptr"), self.field(obj, STRIDES, "ptr")
        with self.loop(axes) as d:
            e = self.add(d, lead)
            n, stride = self.get(shape, e), self.get(strides, e)
            self.require(self.same(n, self.get(entry, self.add(d, LENGTHS))), "slow")
            contiguous = self.same(stride, self.get(entry, self.add(d, LENGTHS + MAX_AXES)))
            short = self.test("sle", n, 1)  # the stride of an axis of length 1 means nothing
            self.require(self.op(f"or i1 {contiguous}, {short}", "m").name, "slow")
        self.place(entry, self.field(obj, DATA, "i64"), "0")
        place = self.get(entry, PLACE)
        with self.when(sequence):
            self.agree("%length", self.get(shape, extra))
            self.put(self.get(strides, extra), self.words, self.add(place, 2))
            with self.when(self.same(extra, 1)):
                self.require(self.same(self.get(shape, 0), 1), "slow")
        with self.when(self.same(extra, 1)):
            self.agree("%count", self.get(shape, 0))
            self.put(self.get(strides, 0), self.words, self.add(place, 1))

    def _make_result(self, k: str, samples: str, length: str, extra: str) -> None:
        """Make the array of result k."""
        entry = self.output(k)
        axes, size = self.get(entry, AXES_OF), self.get(entry, BYTES)
        sequence = self.word(f"zext i1 {self.test('ne', self.get(entry, OFFSETS), 0)} to i64")
        self.put(samples, self.dims, 0)
        self.put(length, self.dims, 1)
        with self.loop(axes) as d:
            self.put(self.get(entry, self.add(d, LENGTHS)), self.dims, self.add(self.add(d, sequence), 1))
        nd = self.word(f"trunc i64 {self.add(self.add(axes, sequence), extra)} to i32")
        start = self.address(self.dims, self.word(f"sub i64 1, {extra}"))
        number = self.word(f"trunc i64 {self.r['type_number']} to i32")
        made = self.function_call(
            "new_array",
            f"ptr {self.pointer(self.r['array_type'])}, i32 {nd}, ptr {start}, i32 {number}, ptr null, ptr null, "
            "i32 0, i32 0, ptr null",
        )
        self.require(self.test("ne", made, "null", "ptr"), "fail")
        self.emit(f" store ptr {made}, ptr {self.result(k)}\n store i64 {self.add(k, 1)}, ptr %made")
        self.place(entry, self.field(made, DATA, "i64"), size, size)

    def _work_memory(self, size: str) -> str:
        """Emit code that provides work memory; returns its address, a multiple of 64."""
        large = self.test("sgt", size, STACK_LIMIT)
        on_stack = self.word(f"select i1 {large}, i64 64, i64 {size}")
        stack = self.op(f"alloca i8, i64 {on_stack}, align 64", "p").name
        with self.when(large):
            memory = self.function_call("malloc", f"i64 {self.add(size, 64)}")
            self.emit(f" store ptr {memory}, ptr %heap")
            self.require(self.test("ne", memory, "null", "ptr"), "full")
        heap = self.word("ptrtoint ptr " + self.word("load ptr, ptr %heap") + " to i64")
        aligned = self.pointer(self.word(f"and i64 {self.add(heap, 63)}, -64"))
        return self.op(f"select i1 {large}, ptr {aligned}, ptr {stack}", "p").name

    def _run(self, code: str, samples: str, rows: str, length: str, work: str, start: str) -> None:
        """Run `batch` on all samples; `length` is that of the sequences, and `rows` tells how much there is to do."""
        self.put(length, self.words, self.r["words"])
        scratch = self.add(self.word(f"ptrtoint ptr {work} to i64"), start)
        self.put(scratch, self.words, self.add(self.r["words"], 1))
        watch = self.add(self.r["words"], WATCH)
        self.put(self._late("idle_watch"), self.words, watch)
        self.emit(" %state = alloca ptr\n store ptr null, ptr %state")
        many = self.test("sgt", rows, self.r["most_locked_rows"])
        # Release Python's global lock, so that other threads run meanwhile, and let signal handlers stop the call.
        with self.when(many):
            self.put(self.word(f"ptrtoint ptr {self.watch} to i64"), self.words, watch)
            for word, value in ((STOP, 0), (LEFT, BUDGET), (TABLE, self._late("ask_table")), (ASKED, 0)):
                self.put(value, self.watch, word)
            self.emit(f" store ptr {self.function_call('release', '')}, ptr %state")
        stopped = self.word(f"call i64 {self.pointer(code)}(i64 0, i64 {samples}, ptr {self.words}, ptr {work})")
        with self.when(many):
            self.function_call("acquire", f"ptr {self.word('load ptr, ptr %state')}", "void")
            self.require(self.same(stopped, 0), "stopped")
        self._free()

    def _late(self, name: str) -> str:
        """Load a word of the record where it is used, and not at the beginning: registers are few."""
        return self.get("%record", RECORD.index(name))

    def _free(self) -> None:
        """Free work memory on the heap, if there is any."""
        self.function_call("free", f"ptr {self.word('load ptr, ptr %heap')}", "void")
        self.emit(" store ptr null, ptr %heap")

    def _scalar_if_no_axes(self, k: str) -> None:
        """Turn a result without axes into a NumPy scalar, which NumPy's own functions return too."""
        entry = self.output(k)
        with self.when(self.same(self.word(f"or i64 {self.get(entry, AXES_OF)}, {self.get(entry, OFFSETS)}"), 0)):
            place = self.result(k)
            array = self.word(f"load ptr, ptr {place}")
            # This function takes over the array even if it fails.
            scalar = self.function_call("to_scalar", f"ptr {array}")
            self.emit(f" store ptr {scalar}, ptr {place}")
            self.require(self.test("ne", scalar, "null", "ptr"), "fail")

    def _return(self, given: str) -> None:
        """Return the result or the tuple of results; then come the labels for all other ways to end."""
        one, several = self.fresh_label("one"), self.fresh_label("several")
        self.emit(f" br i1 {self.same(self.r['make_tuple'], 0)}, label %{one}, label %{several}")
        self.label(one)
        result = self.word(f"load ptr, ptr {self.results}")
        with self.when(given):
            self.function_call("incref", f"ptr {result}", "void")
        self.emit(f" ret ptr {result}")
        self.label(several)
        made = f"ptr {self.pointer(self.r['make_tuple'])}, ptr {self.results}, i64 {self.r['outputs']}, ptr null"
        value = self.function_call("call", made)
        self._give_back()
        self.emit(f" ret ptr {value}")
        self.label("slow")
        arguments = f"ptr {self.pointer(self.r['fallback'])}, ptr %args, i64 %nargs, ptr %kwnames"
        self.emit(f" ret ptr {self.function_call('call', arguments)}")
        self.label("full")
        self.emit(f" ret ptr {self.function_call('no_memory', '')}")
        self.label("stopped")  # a signal handler raised an exception, which stopped the call
        kept = ", ".join(f"ptr {self.pointer(self.get(self.watch, KEPT + k))}" for k in range(3))
        self.emit(f" call void {self.pointer(self._late('restore'))}({kept})")
        self.emit(" br label %fail")
        self.label("fail")  # an exception is set
        self._give_back()
        self._free()
        self.emit(" ret ptr null")

    def _give_back(self) -> None:
        """Release the results that were made."""
        with self.loop(self.word("load i64, ptr %made")) as k:
            # Py_DecRef accepts null, which stands for a result that could not be made.
            self.function_call("decref", f"ptr {self.word(f'load ptr, ptr {self.result(k)}')}", "void")
