"""Machine code that every kernel shares: batches of any layout, asking Python whether to go on, waiting for threads.

`strided(start, stop, table, work, out, context, body)` runs a kernel's function `whole` over operands with any strides
and any number of batch axes that broadcast. `nested` runs a kernel's function `batch` over the second of two batch
axes, for each index of the first. `ask(watch)` lets Python run its signal handlers, see `codegen.watch`.
"""

from __future__ import annotations

import ctypes
import functools
import os
import time
from collections.abc import Callable
from typing import NamedTuple

from ..codegen.ir import Coder, Module
from ..codegen.watch import ASKED, BUDGET, KEPT, LEFT, STOP, TABLE, WATCH, WATCH_WORDS
from . import disk_cache, jit

__all__ = [
    "ENTRY_WORDS",
    "INPUT",
    "MAX_BATCH_AXES",
    "OUTPUT",
    "SEQUENCE",
    "TABLE_HEAD",
    "Door",
    "ask_table",
    "door",
    "idle_watch",
    "library",
    "nested_library",
    "shared",
]

MAX_BATCH_AXES = 16
# The words of the table that `strided` reads. First: numbers of operands and of batch axes, length of the sequences,
# addresses of scratch memory and of the watch; then the batch shape.
TABLE_HEAD = 5 + MAX_BATCH_AXES
# Then for each operand: its kind, address and size, its place in the tile (or, of a sequence, in the context), the
# address of the offsets of its elements, the stride over its rows; then its strides over the batch.
ENTRY_WORDS = 6 + MAX_BATCH_AXES
INPUT, OUTPUT, SEQUENCE = 0, 1, 2  # kinds of operands
_FLOAT = {"f64": "double", "f32": "float"}


# --- any layout --------------------------------------------------------------------------------------


class _Strided(Coder):
    """Writes `strided`.

    It gathers groups of samples, of any strides, into a *tile* (one vector for each element, one lane for each sample),
    runs the kernel on the tile, and scatters the results.
    """

    def __init__(self, module: Module, width: int, dtype: str):
        super().__init__(module, width, dtype)
        self.vector, self.scalar, self.lanes = self.type("f"), _FLOAT[dtype], range(width)
        module.add("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        self.emit(f" %index = alloca [{width * MAX_BATCH_AXES} x i64]")
        self.emit(f" %place = alloca [{width} x i64]\n %rest = alloca i64")
        self.operands, self.axes = self.get("%table", 0), self.get("%table", 1)

    def function(self) -> str:
        """The text of `strided`."""
        self.put(self.get("%table", 2), "%context", 0)
        self.put(self.get("%table", 3), "%context", 1)
        self.put(self.get("%table", 4), "%context", WATCH)
        stop = self.address(self.pointer(self.get("%table", 4)), STOP)
        last = self.word("sub i64 %stop, 1")
        span = self.add(self.word("sub i64 %stop, %start"), self.width - 1)
        with self.loop(self.word(f"sdiv i64 {span}, {self.width}")) as group:
            self._find_samples(self.add("%start", self.mul(group, self.width)), last)
            self._each_operand((INPUT, SEQUENCE), self._gather)
            self.emit(" call void %body(ptr %work, ptr %out, ptr %context)")
            self.require(self.same(self.word(f"load atomic i64, ptr {stop} monotonic, align 8"), 0), "stopped")
            self._each_operand((OUTPUT,), self._scatter)
        self.emit(" br label %stopped")
        self.label("stopped")
        self.emit(f" ret i64 {self.word(f'load i64, ptr {stop}')}")
        arguments = "i64 %start, i64 %stop, ptr %table, ptr %work, ptr %out, ptr %context, ptr %body"
        return "\n".join([f"define i64 @strided({arguments}) {{", "entry:", *self.lines, "}"])

    def _find_samples(self, first: str, last: str) -> None:
        """Write the batch index of each lane's sample to %index; lanes beyond the last sample repeat that one."""
        for lane in self.lanes:
            sample = self.word(f"call i64 @llvm.smin.i64(i64 {self.add(first, lane)}, i64 {last})")
            self.emit(f" store i64 {sample}, ptr %rest")
            with self.loop(self.axes) as k:
                d = self.word(f"sub i64 {self.word(f'sub i64 {self.axes}, 1')}, {k}")
                size, rest = self.get("%table", self.add(d, 5)), self.word("load i64, ptr %rest")
                self.put(self.word(f"urem i64 {rest}, {size}"), "%index", self.add(d, lane * MAX_BATCH_AXES))
                self.emit(f" store i64 {self.word(f'udiv i64 {rest}, {size}')}, ptr %rest")

    def _each_operand(self, wanted: tuple[int, ...], act: Callable[[str, int], None]) -> None:
        """Run act(entry, kind) for operands of the wanted kinds.

        %place then holds the address of each lane's sample.
        """
        with self.loop(self.operands) as k:
            entry = self.address("%table", self.add(self.mul(k, ENTRY_WORDS), TABLE_HEAD))
            kind = self.get(entry, 0)
            for w in wanted:
                with self.when(self.same(kind, w)):
                    for lane in self.lanes:
                        self.put(self.get(entry, 1), "%place", lane)
                    with self.loop(self.axes) as d:
                        stride = self.get(entry, self.add(d, 6))
                        for lane in self.lanes:
                            i = self.get("%index", self.add(d, lane * MAX_BATCH_AXES))
                            self.put(self.add(self.get("%place", lane), self.mul(i, stride)), "%place", lane)
                    act(entry, w)

    def _element(self, entry: str, e: str, lane: int) -> str:
        """The address of element e of an operand, in the sample of a lane."""
        offset = self.get(self.pointer(self.get(entry, 4)), e)
        return self.pointer(self.add(self.get("%place", lane), offset))

    def _tile(self, base: str, entry: str, e: str) -> str:
        """The address of the vector of element e of an operand in a tile."""
        return self.op(f"getelementptr {self.vector}, ptr {base}, i64 {self.add(self.get(entry, 3), e)}", "p").name

    def _gather(self, entry: str, kind: int) -> None:
        """Load an input into the tile, or write to the context where a sequence is."""
        if kind == SEQUENCE:
            slot = self.get(entry, 3)
            for lane in self.lanes:
                self.put(self.get("%place", lane), "%context", self.add(slot, lane))
            self.put(self.get(entry, 5), "%context", self.add(slot, self.width))
            self.put(self.get(entry, 4), "%context", self.add(slot, self.width + 1))
            return
        with self.loop(self.get(entry, 2)) as e:
            v = "poison"
            for lane in self.lanes:
                x = self.op(f"load {self.scalar}, ptr {self._element(entry, e, lane)}, align 1", "f").name
                inserted = f"insertelement {self.vector} {v}, {self.scalar} {x}, i32 {lane}"
                v = x if self.width == 1 else self.op(inserted, "f").name
            self.emit(f" store {self.vector} {v}, ptr {self._tile('%work', entry, e)}")

    def _scatter(self, entry: str, kind: int) -> None:
        """Store a result from the tile."""
        with self.loop(self.get(entry, 2)) as e:
            v = self.op(f"load {self.vector}, ptr {self._tile('%out', entry, e)}", "f").name
            for lane in self.lanes:
                x = v if self.width == 1 else self.op(f"extractelement {self.vector} {v}, i32 {lane}", "f").name
                self.emit(f" store {self.scalar} {x}, ptr {self._element(entry, e, lane)}, align 1")


# --- two axes ----------------------------------------------------------------------------------------


def _nested(module: Module) -> str:
    """The IR of `nested(start, stop, inner, count, words, growth, local, work, batch)`.

    For each index of the first axis from `start` to `stop` it runs `batch` over the `inner` samples of the second axis.
    The table that `batch` reads has `count` words; they are `words`, and grow by `growth` with each index. `local` is
    memory for that table. The result is 0, or what `batch` returned if the call had to stop.
    """
    b = Coder(module, 1, "f64")
    with b.loop(b.word("sub i64 %stop, %start")) as k:
        index = b.add("%start", k)
        with b.loop("%count") as word:
            b.put(b.add(b.get("%words", word), b.mul(b.get("%growth", word), index)), "%local", word)
        stopped = b.word("call i64 %batch(i64 0, i64 %inner, ptr %local, ptr %work)")
        b.emit(f" store i64 {stopped}, ptr %result")
        b.require(b.same(stopped, 0), "stopped")
    b.emit(" br label %stopped\nstopped:\n %found = load i64, ptr %result\n ret i64 %found")
    first = [" %result = alloca i64", " store i64 0, ptr %result"]
    arguments = (
        "i64 %start, i64 %stop, i64 %inner, i64 %count, ptr %words, ptr %growth, ptr %local, ptr %work, ptr %batch"
    )
    return "\n".join([f"define i64 @nested({arguments}) {{", "entry:", *first, *b.lines, "}"])


# --- asking Python -----------------------------------------------------------------------------------

PAUSE = 200  # milliseconds between two questions: each may wait some 5 ms for Python's global lock
# The functions of CPython that `ask` calls, in the order of its table: there they come after `ask` itself and the
# clock.
_ASKED = ("PyGILState_Ensure", "PyErr_CheckSignals", "PyErr_Fetch", "PyGILState_Release")


def _ask(module: Module) -> str:
    """The IR of `ask(watch)`, which lets signal handlers run if the last time is long enough ago.

    If a handler raises an exception, `ask` keeps it in the watch and returns 1; otherwise it returns 0.
    """
    b = Coder(module, 1, "f64")
    table = b.pointer(b.get("%watch", TABLE))
    clock, ensure, check, fetch, release = (b.pointer(b.get(table, 1 + k)) for k in range(1 + len(_ASKED)))
    b.put(BUDGET, "%watch", LEFT)
    now, asked = _milliseconds(b, clock), b.get("%watch", ASKED)
    # The first question comes `PAUSE` after the first call of `ask`.
    before = b.word(f"select i1 {b.same(asked, 0)}, i64 {now}, i64 {asked}")
    b.put(before, "%watch", ASKED)
    b.require(b.op(f"icmp sge i64 {b.word(f'sub i64 {now}, {before}')}, {PAUSE}", "m").name, "on")
    b.put(now, "%watch", ASKED)
    state = b.word(f"call i32 {ensure}()")
    raised = b.op(f"icmp ne i32 {b.word(f'call i32 {check}()')}, 0", "m").name
    with b.when(raised):
        kept = ", ".join(f"ptr {b.address('%watch', KEPT + k)}" for k in range(3))
        b.emit(f" call void {fetch}({kept})")
        b.put(1, "%watch", STOP)
    b.emit(f" call void {release}(i32 {state})")
    b.emit(f" ret i64 {b.word(f'zext i1 {raised} to i64')}\non:\n ret i64 0")
    return "\n".join(["define i64 @ask(ptr %watch) nounwind {", "entry:", *b.lines, "}"])


def _milliseconds(b: Coder, clock: str) -> str:
    """Emit a reading of the system's clock, see `_clock`."""
    if os.name == "nt":
        return b.word(f"call i64 {clock}()")
    now = b.op("alloca [2 x i64]", "p").name  # seconds, nanoseconds
    b.emit(f" call i32 {clock}(i32 {time.CLOCK_MONOTONIC}, ptr {now})")
    return b.add(b.mul(b.get(now, 0), 1000), b.word(f"sdiv i64 {b.get(now, 1)}, 1000000"))


def _clock():
    """The function of the operating system that reads a clock."""
    return ctypes.WinDLL("kernel32").GetTickCount64 if os.name == "nt" else ctypes.CDLL(None).clock_gettime


# --- a door ------------------------------------------------------------------------------------------

_SHUT = 1 << 62  # the bit of a door's word that says that it is shut; the other bits count the threads inside
_SLEEP = 100 if os.name != "nt" else 1  # microseconds, or milliseconds on Windows


def _enter(module: Module) -> str:
    """The IR of `enter(door)`: it counts a thread in and returns 1, or returns 0 if the door is shut."""
    b = Coder(module, 1, "f64")
    before = b.word("atomicrmw add ptr %door, i64 1 seq_cst")
    b.require(b.same(b.word(f"and i64 {before}, {_SHUT}"), 0), "shut")
    lines = [*b.lines, " ret i64 1", "shut:", " %gone = atomicrmw sub ptr %door, i64 1 seq_cst", " ret i64 0"]
    return "\n".join(["define i64 @enter(ptr %door) {", "entry:", *lines, "}"])


def _leave(module: Module) -> str:
    """The IR of `leave(door)`, which counts a thread out."""
    return "define void @leave(ptr %door) {\n %before = atomicrmw sub ptr %door, i64 1 seq_cst\n ret void\n}"


def _shut(module: Module) -> str:
    """The IR of `shut(sleep, door)`, which shuts the door, and sleeps until all threads have left."""
    return f"""define void @shut(ptr %sleep, ptr %door) {{
entry:
 %before = atomicrmw or ptr %door, i64 {_SHUT} seq_cst
 br label %wait
wait:
 %now = load atomic i64, ptr %door seq_cst, align 8
 %empty = icmp eq i64 %now, {_SHUT}
 br i1 %empty, label %done, label %again
again:
 call void %sleep(i32 {_SLEEP})
 br label %wait
done:
 ret void
}}"""


class Door(NamedTuple):
    """Functions on a *door*, a word in memory that counts the worker threads inside a call.

    The parts of a call `enter` and `leave`; `shut` lets no more in, and waits until all have left. Each is a single
    call of C, and `shut` goes on waiting whatever signals come.
    """

    enter: Callable[[int], int]
    leave: Callable[[int], None]
    shut: Callable[[int], None]


@jit.once
def door() -> Door:
    """Return the functions on doors; they take the address of a word that is 0 at first."""
    sleep = ctypes.WinDLL("kernel32").Sleep if os.name == "nt" else ctypes.CDLL(None).usleep
    known, word = _watching().address, ctypes.c_void_p
    return Door(
        ctypes.PYFUNCTYPE(ctypes.c_int64, word)(known["enter"]),
        ctypes.PYFUNCTYPE(None, word)(known["leave"]),
        # CFUNCTYPE releases Python's global lock meanwhile. A function written in Python would not do: signal handlers
        # run, and raise, in those.
        functools.partial(ctypes.CFUNCTYPE(None, word, word)(known["shut"]), ctypes.cast(sleep, word)),
    )


# --- loading -----------------------------------------------------------------------------------------


@jit.once
def _watching() -> jit.Library:
    """Load the machine code of `ask` and of doors."""
    return shared(("watching", os.name), {"ask": _ask, "enter": _enter, "leave": _leave, "shut": _shut})


@jit.once
def ask_table() -> int:
    """The address of the table by which machine code asks Python whether to go on; 0 if this Python cannot be asked."""
    try:
        functions = [_clock(), *(getattr(ctypes.pythonapi, name) for name in _ASKED)]
    except AttributeError:  # not CPython
        return 0
    return _for_ever([_watching().address["ask"], *(ctypes.cast(f, ctypes.c_void_p).value for f in functions)])


@jit.once
def idle_watch() -> int:
    """The address of a watch that all short calls share: it never tells them to stop, and never asks Python."""
    return _for_ever([2**62 if word == LEFT else 0 for word in range(WATCH_WORDS)])


def _for_ever(words: list) -> int:
    """Return the address of words that are never freed: when the interpreter ends, a thread may still be using them."""
    memory = (ctypes.c_int64 * len(words))(*words)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
    return ctypes.addressof(memory)


@jit.once
def library(width: int, dtype: str) -> jit.Library:
    """Load the code for batches of any layout, for one width and dtype; a machine compiles it once."""
    return shared(("strided", width, dtype), {"strided": lambda module: _Strided(module, width, dtype).function()})


@jit.once
def nested_library() -> jit.Library:
    """Load the code for batches of two axes."""
    return shared(("nested",), {"nested": _nested})


def shared(parts: tuple, functions: dict[str, Callable[[Module], str]]) -> jit.Library:
    """Load code that does not depend on a kernel: functions by their names, from the disk cache or compiled now."""
    key = disk_cache.key("runtime", *parts)
    entry = disk_cache.read(key)
    if entry is None:
        module = Module()
        for symbol, write in functions.items():
            module.add(symbol, write(module))
        entry = disk_cache.Entry({}, jit.compile_ir(module.text()))
        disk_cache.write(key, entry)
    return jit.load(entry.code, tuple(functions))
