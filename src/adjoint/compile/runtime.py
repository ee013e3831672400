"""Machine code that every kernel shares: batches of any layout, and calls on one sample straight from CPython.

`strided(start, stop, table, work, body)` runs a kernel's body over operands with any strides and any number of
broadcast batch axes. `call` is a CPython function (METH_FASTCALL) that checks its arguments, makes the results and runs
a kernel's batch function without a line of Python; whatever it does not know it hands to a Python fallback.
"""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import cache, jit
from .batch import CONTEXT_HEAD
from .ir import Builder, Module
from .loops import python_calls

__all__ = ["ENTRY_WORDS", "MAX_BATCH_AXES", "TABLE_HEAD", "library", "thin_caller"]

MAX_BATCH_AXES = 16
TABLE_HEAD = 4 + MAX_BATCH_AXES  # operands, batch axes, length, scratch; then the batch shape
ENTRY_WORDS = 6 + MAX_BATCH_AXES  # kind, address, size, place, element offsets, row stride; then batch strides
INPUT, OUTPUT, SEQUENCE = 0, 1, 2
STACK_LIMIT = 1 << 15  # bytes of tiles a thin call may put on the stack: threads may have little of it
_FLOAT = {"f64": "double", "f32": "float"}


# --- a little structured code on top of the builder ------------------------------------------------


class Coder(Builder):
    """A builder for address arithmetic: 64-bit words, memory and counted loops."""

    def word(self, text: str) -> str:
        return self.op(text, "w").name

    def address(self, base: str, words) -> str:
        return self.op(f"getelementptr i64, ptr {base}, i64 {words}", "p").name

    def get(self, base: str, words) -> str:
        return self.word(f"load i64, ptr {self.address(base, words)}")

    def put(self, value, base: str, words) -> None:
        self.emit(f" store i64 {value}, ptr {self.address(base, words)}")

    def add(self, a, b) -> str:
        return self.word(f"add i64 {a}, {b}")

    def mul(self, a, b) -> str:
        return self.word(f"mul i64 {a}, {b}")

    def pointer(self, word) -> str:
        return self.op(f"inttoptr i64 {word} to ptr", "p").name

    def same(self, a, b, type: str = "i64") -> str:
        return self.op(f"icmp eq {type} {a}, {b}", "m").name

    @contextmanager
    def loop(self, count) -> Iterator[str]:
        """Code repeated `count` times; yields the counter."""
        before, head, end = self.block, self.fresh_label("loop"), self.fresh_label("end")
        self.emit(f" br i1 {self.op(f'icmp sgt i64 {count}, 0', 'm').name}, label %{head}, label %{end}")
        self.label(head)
        counter, at = self.fresh(), len(self.lines)
        self.emit("")
        yield counter
        after = self.add(counter, 1)
        self.lines[at] = f" {counter} = phi i64 [0, %{before}], [{after}, %{self.block}]"
        self.emit(f" br i1 {self.op(f'icmp slt i64 {after}, {count}', 'm').name}, label %{head}, label %{end}")
        self.label(end)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Code run only if the condition holds."""
        then, end = self.fresh_label("then"), self.fresh_label("end")
        self.emit(f" br i1 {condition}, label %{then}, label %{end}")
        self.label(then)
        yield
        self.emit(f" br label %{end}")
        self.label(end)

    def require(self, condition: str, otherwise: str) -> None:
        """Go on if the condition holds, else jump to the label `otherwise`."""
        go_on = self.fresh_label("ok")
        self.emit(f" br i1 {condition}, label %{go_on}, label %{otherwise}")
        self.label(go_on)


# --- any layout --------------------------------------------------------------------------------------


def _strided(module: Module, width: int, dtype: str) -> str:
    b = Coder(module, width, dtype)
    vector, scalar = b.type("f"), _FLOAT[dtype]
    lanes = range(width)
    b.emit(f" %index = alloca [{width * MAX_BATCH_AXES} x i64]\n %place = alloca [{width} x i64]\n %rest = alloca i64")
    operands, axes = b.get("%table", 0), b.get("%table", 1)
    b.put(b.get("%table", 2), "%context", 0)
    b.put(b.get("%table", 3), "%context", 1)
    last = b.word("sub i64 %stop, 1")
    span = b.add(b.word("sub i64 %stop, %start"), width - 1)
    module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")

    def each_operand(wanted: tuple[int, ...], act: Callable) -> None:
        """Run act(entry, kind) for operands of the wanted kinds, with %place holding the address of each lane."""
        with b.loop(operands) as k:
            entry = b.address("%table", b.add(b.mul(k, ENTRY_WORDS), TABLE_HEAD))
            kind = b.get(entry, 0)
            for w in wanted:
                with b.when(b.same(kind, w)):
                    for lane in lanes:
                        b.put(b.get(entry, 1), "%place", lane)
                    with b.loop(axes) as d:
                        stride = b.get(entry, b.add(d, 6))
                        for lane in lanes:
                            i = b.get("%index", b.add(d, lane * MAX_BATCH_AXES))
                            b.put(b.add(b.get("%place", lane), b.mul(i, stride)), "%place", lane)
                    act(entry, w)

    def element(entry: str, e: str, lane: int) -> str:
        offset = b.get(b.pointer(b.get(entry, 4)), e)
        return b.pointer(b.add(b.get("%place", lane), offset))

    def tile(base: str, entry: str, e: str) -> str:
        return b.op(f"getelementptr {vector}, ptr {base}, i64 {b.add(b.get(entry, 3), e)}", "p").name

    def gather(entry: str, kind: int) -> None:
        if kind == SEQUENCE:
            slot = b.get(entry, 3)
            for lane in lanes:
                b.put(b.get("%place", lane), "%context", b.add(slot, lane))
            b.put(b.get(entry, 5), "%context", b.add(slot, width))
            b.put(b.get(entry, 4), "%context", b.add(slot, width + 1))
            return
        with b.loop(b.get(entry, 2)) as e:
            v = "poison"
            for lane in lanes:
                x = b.op(f"load {scalar}, ptr {element(entry, e, lane)}, align 1", "f").name
                v = x if width == 1 else b.op(f"insertelement {vector} {v}, {scalar} {x}, i32 {lane}", "f").name
            b.emit(f" store {vector} {v}, ptr {tile('%work', entry, e)}")

    def scatter(entry: str, kind: int) -> None:
        with b.loop(b.get(entry, 2)) as e:
            v = b.op(f"load {vector}, ptr {tile('%out', entry, e)}", "f").name
            for lane in lanes:
                x = v if width == 1 else b.op(f"extractelement {vector} {v}, i32 {lane}", "f").name
                b.emit(f" store {scalar} {x}, ptr {element(entry, e, lane)}, align 1")

    with b.loop(b.word(f"sdiv i64 {span}, {width}")) as group:
        first = b.add("%start", b.mul(group, width))
        for lane in lanes:
            sample = b.word(f"call i64 @llvm.smin.i64(i64 {b.add(first, lane)}, i64 {last})")
            b.emit(f" store i64 {sample}, ptr %rest")
            with b.loop(axes) as k:
                d = b.word(f"sub i64 {b.word(f'sub i64 {axes}, 1')}, {k}")
                size, rest = b.get("%table", b.add(d, 4)), b.word("load i64, ptr %rest")
                b.put(b.word(f"urem i64 {rest}, {size}"), "%index", b.add(d, lane * MAX_BATCH_AXES))
                b.emit(f" store i64 {b.word(f'udiv i64 {rest}, {size}')}, ptr %rest")
        each_operand((INPUT, SEQUENCE), gather)
        b.emit(" call void %body(ptr %work, ptr %out, ptr %context)")
        each_operand((OUTPUT,), scatter)
    b.emit(" ret void")
    head = (
        "define void @strided(i64 %start, i64 %stop, ptr %table, ptr %work, ptr %out, ptr %context, ptr %body) {\n"
        "entry:\n"
    )
    return head + "\n".join(b.lines) + "\n}"


# --- small calls, straight from CPython --------------------------------------------------------------

# Words of the record that describes a kernel to `call`, in this order; then those of each input, those of each output.
_RECORD = (
    "python_calls",
    "fallback",
    "inputs",
    "outputs",
    "places",
    "batch",
    "work",
    "scratch",
    "few",
    "most",
    "array_type",
    "float64",
    "float_type",
    "float64_type",
    "new_array",
    "to_scalar",
    "call",
    "decref",
    "release",
    "acquire",
    "make_tuple",
)
MAX_AXES = 4  # of the core of an input or output
_INPUT_WORDS = 2 + 2 * MAX_AXES  # default, axes; lengths; strides
_OUTPUT_WORDS = 2 + MAX_AXES  # axes, bytes; lengths
_BYTES_PAYLOAD = 32  # offset of the contents of a bytes object, which carries the record


def _call(module: Module) -> str:
    """One sample, or a batch along one axis that is too small for threads; everything else goes to the fallback."""
    b = Coder(module, 1, "f64")
    b.emit(f" %record = getelementptr i8, ptr %self, i64 {_BYTES_PAYLOAD}")
    r = {name: b.get("%record", k) for k, name in enumerate(_RECORD)}
    addresses = ("batch", "new_array", "to_scalar", "call", "decref", "release", "acquire", "array_type")
    p = {name: b.pointer(r[name]) for name in addresses}
    b.emit(" %count = alloca i64\n store i64 -1, ptr %count")  # samples; -1: one, without a batch axis
    operands = b.add(r["inputs"], r["outputs"])
    words = b.op(f"alloca i64, i64 {b.add(b.mul(operands, 2), CONTEXT_HEAD)}", "p").name
    results = b.op(f"alloca ptr, i64 {b.add(r['outputs'], 1)}", "p").name
    dims = b.op(f"alloca i64, i64 {MAX_AXES + 1}", "p").name
    work = b.op(f"alloca i8, i64 {r['work']}, align 64", "p").name
    b.require(b.same("%kwnames", "null", "ptr"), "slow")
    b.require(b.same(b.get(b.pointer(r["python_calls"]), 0), 0), "slow")
    b.require(b.op(f"icmp sle i64 %nargs, {r['places']}", "m").name, "slow")

    def field(obj: str, offset: int, type: str) -> str:
        q = b.op(f"getelementptr i8, ptr {obj}, i64 {offset}", "p").name
        return b.op(f"load {type}, ptr {q}", "w").name

    def place(operand: str, address: str, stride: str) -> None:
        b.put(address, words, b.mul(operand, 2))
        b.put(stride, words, b.add(b.mul(operand, 2), 1))

    with b.loop(r["inputs"]) as k:
        entry = b.address("%record", b.add(b.mul(k, _INPUT_WORDS), len(_RECORD)))
        given = b.op(f"icmp slt i64 {k}, %nargs", "m").name
        argument = b.op(f"getelementptr ptr, ptr %args, i64 {k}", "p").name
        obj = b.word(f"load ptr, ptr {b.op(f'select i1 {given}, ptr {argument}, ptr {entry}', 'p').name}")
        b.require(b.op(f"icmp ne ptr {obj}, null", "m").name, "slow")
        kind, axes = field(obj, 8, "i64"), b.get(entry, 1)
        array, number, done = b.fresh_label("array"), b.fresh_label("number"), b.fresh_label("done")
        b.emit(f" br i1 {b.same(kind, r['array_type'])}, label %{array}, label %{number}")
        b.label(number)  # a Python float or a NumPy float64: its value lies behind the head of the object
        is_float = b.op(f"or i1 {b.same(kind, r['float_type'])}, {b.same(kind, r['float64_type'])}", "m").name
        b.require(b.op(f"and i1 {is_float}, {b.same(axes, 0)}", "m").name, "slow")
        place(k, b.add(b.word(f"ptrtoint ptr {obj} to i64"), 16), "0")
        b.emit(f" br label %{done}")
        b.label(array)  # of float64, aligned, its core of the right shape and contiguous
        b.require(b.same(field(obj, 56, "i64"), r["float64"]), "slow")
        aligned = b.word(f"and i32 {field(obj, 64, 'i32')}, 256")
        b.require(b.op(f"icmp ne i32 {aligned}, 0", "m").name, "slow")
        nd = b.word(f"sext i32 {field(obj, 24, 'i32')} to i64")
        extra = b.word(f"sub i64 {nd}, {axes}")
        b.require(b.op(f"icmp ule i64 {extra}, 1", "m").name, "slow")
        shape, strides = field(obj, 32, "ptr"), field(obj, 40, "ptr")
        with b.loop(axes) as d:
            e = b.add(d, extra)
            b.require(b.same(b.get(shape, e), b.get(entry, b.add(d, 2))), "slow")
            b.require(b.same(b.get(strides, e), b.get(entry, b.add(d, 2 + MAX_AXES))), "slow")
        place(k, field(obj, 16, "i64"), "0")
        with b.when(b.same(extra, 1)):
            n, known = b.get(shape, 0), b.word("load i64, ptr %count")
            new = b.op(f"or i1 {b.same(known, -1)}, {b.same(known, n)}", "m").name
            b.require(new, "slow")
            b.emit(f" store i64 {n}, ptr %count")
            b.put(b.get(strides, 0), words, b.add(b.mul(k, 2), 1))
        b.emit(f" br label %{done}")
        b.label(done)

    count = b.word("load i64, ptr %count")
    single = b.same(count, -1)
    samples = b.word(f"select i1 {single}, i64 1, i64 {count}")
    b.require(b.op(f"icmp ne i64 {samples}, 0", "m").name, "slow")
    b.require(b.op(f"icmp sle i64 {samples}, {r['most']}", "m").name, "slow")
    extra = b.word(f"select i1 {single}, i64 0, i64 1")
    b.put(samples, dims, 0)
    b.emit(" %made = alloca i64\n store i64 0, ptr %made")
    first_output = b.add(b.mul(r["inputs"], _INPUT_WORDS), len(_RECORD))
    with b.loop(r["outputs"]) as k:
        entry = b.address("%record", b.add(b.mul(k, _OUTPUT_WORDS), first_output))
        axes = b.get(entry, 0)
        with b.loop(axes) as d:
            b.put(b.get(entry, b.add(d, 2)), dims, b.add(d, 1))
        nd = b.word(f"trunc i64 {b.add(axes, extra)} to i32")
        start = b.address(dims, b.word(f"sub i64 1, {extra}"))
        made = b.word(
            f"call ptr {p['new_array']}(ptr {p['array_type']}, i32 {nd}, ptr {start}, "
            "i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        b.require(b.op(f"icmp ne ptr {made}, null", "m").name, "fail")
        b.emit(f" store ptr {made}, ptr {b.op(f'getelementptr ptr, ptr {results}, i64 {k}', 'p').name}")
        b.emit(f" store i64 {b.add(k, 1)}, ptr %made")
        place(b.add(k, r["inputs"]), field(made, 16, "i64"), b.get(entry, 1))
    b.put(0, words, b.mul(operands, 2))
    scratch = b.add(b.word(f"ptrtoint ptr {work} to i64"), r["scratch"])
    b.put(scratch, words, b.add(b.mul(operands, 2), 1))
    b.emit(" %state = alloca ptr\n store ptr null, ptr %state")
    many = b.op(f"icmp sgt i64 {samples}, {r['few']}", "m").name
    with b.when(many):  # let other Python threads run meanwhile
        state = b.word(f"call ptr {p['release']}()")
        b.emit(f" store ptr {state}, ptr %state")
    b.emit(f" call void {p['batch']}(i64 0, i64 {samples}, ptr {words}, ptr {work})")
    with b.when(many):
        b.emit(f" call void {p['acquire']}(ptr {b.word('load ptr, ptr %state')})")

    with b.when(single), b.loop(r["outputs"]) as k:
        entry = b.address("%record", b.add(b.mul(k, _OUTPUT_WORDS), first_output))
        with b.when(b.same(b.get(entry, 0), 0)):  # no axes: NumPy's scalar, as its own functions return
            q = b.op(f"getelementptr ptr, ptr {results}, i64 {k}", "p").name
            scalar = b.word(f"call ptr {p['to_scalar']}(ptr {b.word(f'load ptr, ptr {q}')})")
            b.emit(f" store ptr {scalar}, ptr {q}")
    one, several = b.fresh_label("one"), b.fresh_label("several")
    b.emit(f" br i1 {b.same(r['make_tuple'], 0)}, label %{one}, label %{several}")
    b.label(one)
    b.emit(f" ret ptr {b.word(f'load ptr, ptr {results}')}")
    b.label(several)
    value = b.word(
        f"call ptr {p['call']}(ptr {b.pointer(r['make_tuple'])}, ptr {results}, i64 {r['outputs']}, ptr null)"
    )
    with b.loop(r["outputs"]) as k:
        q = b.op(f"getelementptr ptr, ptr {results}, i64 {k}", "p").name
        b.emit(f" call void {p['decref']}(ptr {b.word(f'load ptr, ptr {q}')})")
    b.emit(f" ret ptr {value}")
    b.label("slow")
    value = b.word(f"call ptr {p['call']}(ptr {b.pointer(r['fallback'])}, ptr %args, i64 %nargs, ptr %kwnames)")
    b.emit(f" ret ptr {value}")
    b.label("fail")  # an exception is set: give back what was made before
    with b.loop(b.word("load i64, ptr %made")) as k:
        q = b.op(f"getelementptr ptr, ptr {results}, i64 {k}", "p").name
        b.emit(f" call void {p['decref']}(ptr {b.word(f'load ptr, ptr {q}')})")
    b.emit(" ret ptr null")
    return "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {\nentry:\n" + "\n".join(b.lines) + "\n}"


@jit.once
def library(width: int, dtype: str) -> jit.Library:
    """The code for batches of any layout, for one width and type; compiled once a machine."""
    return _shared(("strided", width, dtype), "strided", lambda module: _strided(module, width, dtype))


@jit.once
def _caller() -> jit.Library:
    return _shared(("call",), "call", _call)


def _shared(parts: tuple, symbol: str, write: Callable[[Module], str]) -> jit.Library:
    key = cache.key("runtime", *parts)
    entry = cache.read(key)
    if entry is None:
        module = Module()
        module.add(symbol, write(module))
        entry = cache.Entry({}, jit.compile_ir(module.text()))
        cache.write(key, entry)
    return jit.load(entry.code, (symbol,))


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@jit.once
def _python_api() -> dict[str, Any] | None:
    """Addresses inside CPython and NumPy that `call` uses, or None unless every offset it assumes is seen to hold."""
    if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info < (3, 16) or struct.calcsize("P") != 8:
        return None
    if getattr(sys, "_is_gil_enabled", lambda: True)() is False or (hasattr(sys, "abiflags") and "t" in sys.abiflags):
        return None
    try:
        a = np.arange(6.0).reshape(2, 3)[:, ::2]

        def at(obj, offset: int, kind=ctypes.c_ssize_t):
            return kind.from_address(id(obj) + offset).value

        payload = b"0123456789abcdef"
        layout_holds = (
            at(a, 8) == id(np.ndarray)
            and at(a, 16) == a.ctypes.data
            and at(a, 24, ctypes.c_int) == 2
            and [ctypes.c_ssize_t.from_address(at(a, 32) + 8 * k).value for k in range(2)] == list(a.shape)
            and [ctypes.c_ssize_t.from_address(at(a, 40) + 8 * k).value for k in range(2)] == list(a.strides)
            and at(a, 56) == id(np.dtype(np.float64))
            and at(a, 64, ctypes.c_int) & 0x100
            and at(1.25, 16, ctypes.c_double) == 1.25
            and at(np.float64(2.5), 16, ctypes.c_double) == 2.5
            and ctypes.string_at(id(payload) + _BYTES_PAYLOAD, len(payload)) == payload
        )
        if not layout_holds:
            return None
        from numpy._core import _multiarray_umath  # pyright: ignore

        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = ctypes.cast(get(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))  # pyright: ignore
        if table[2] != id(np.ndarray):  # PyArray_Type
            return None
        functions = {
            "call": "PyObject_Vectorcall",
            "decref": "Py_DecRef",
            "release": "PyEval_SaveThread",
            "acquire": "PyEval_RestoreThread",
        }
        return {
            "array_type": id(np.ndarray),
            "float64": id(np.dtype(np.float64)),
            "float_type": id(float),
            "float64_type": id(np.float64),
            "new_array": table[93],
            "to_scalar": table[76],
            **{k: ctypes.cast(getattr(ctypes.pythonapi, f), ctypes.c_void_p).value for k, f in functions.items()},
        }
    except (ImportError, AttributeError, ValueError):
        return None


def thin_caller(
    name: str,
    batch: int,
    inputs: list[tuple[int, ...]],
    outputs: list[tuple[int, ...]],
    places: int,
    work: int,
    scratch: int,
    few: int,
    most: int,
    defaults: list[np.ndarray | None],
    make_tuple: type | None,
    fallback: Callable,
    keep: object,
):
    """A builtin function that runs up to `most` samples itself and calls `fallback` for everything else.

    `batch` is the address of the kernel's batch function; `inputs` and `outputs` are core shapes; positional arguments
    fill the first `places` inputs; `work` and `scratch` are the size of its memory and where in it scratch begins;
    above `few` samples it lets go of Python's global lock; `keep` owns the machine code. None if not possible here.
    """
    api = _python_api()
    if api is None or any(len(s) > MAX_AXES for s in (*inputs, *outputs)) or work > STACK_LIMIT:
        return None
    values = {
        "python_calls": ctypes.addressof(python_calls),
        "fallback": id(fallback),
        "inputs": len(inputs),
        "outputs": len(outputs),
        "places": places,
        "batch": batch,
        "work": work,
        "scratch": scratch,
        "few": few,
        "most": most,
        "make_tuple": 0 if make_tuple is None else id(make_tuple),
        **api,
    }
    words = [values[k] for k in _RECORD]
    for shape, default in zip(inputs, defaults, strict=True):
        strides = np.empty(shape).strides
        unused = [0] * (MAX_AXES - len(shape))
        words += [0 if default is None else id(default), len(shape), *shape, *unused, *strides, *unused]
    for shape in outputs:
        words += [len(shape), 8 * math.prod(shape), *shape, *[0] * (MAX_AXES - len(shape))]
    record = struct.pack(f"<{len(words)}q", *words)
    method = _MethodDef(name.encode(), _caller().address["call"], 0x80 | 0x02, b"compiled by adjoint")
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    # The function owns its third argument (its "module"): all that the record points to lives as long as it does.
    return new(ctypes.addressof(method), record, (method, defaults, make_tuple, fallback, keep))
