"""Long calls can be stopped: machine code checks, now and then, whether it shall go on.

Every call has a *watch*, a few words in memory. The *context*, a table that is passed to all machine code of a call,
has its address. The words of a watch are:

    stop   if it is not 0, the call has to end; whoever waits for the call writes it, in any thread
    left   how much work may still be done before `ask` is called
    table  the address of a table with `ask` and the functions that `ask` calls; 0 if Python is never asked
    asked  when Python was asked last, in milliseconds; 0 if it was not yet
    kept   three words: the exception that a signal handler raised, as CPython's PyErr_Fetch gives it

`ask` is a function of `machine.strided_loop`. It asks Python to run its signal handlers: Python does so in its main
thread only, and only when it is asked (the handler of Ctrl-C raises KeyboardInterrupt). `ask` does this at most five
times a second, for it may have to wait for Python's global lock.

Batches check between groups of samples, long loops between iterations. *Work* is an estimate of the time that code
takes: about one unit for each instruction.
"""

from __future__ import annotations

from ..graph.expressions import Expr, reachable
from ..graph.loops import Loop
from ..graph.operation_counts import count_by_class
from .ir import Coder, Module

__all__ = [
    "ASKED", "BUDGET", "KEPT", "LEFT", "STOP", "TABLE", "WATCH", "WATCH_WORDS", "check_stop", "count_work",
    "has_long_running_loops", "iteration_work", "repetitions_between_checks", "runs_long", "stops_function", "work_of",
]  # fmt: skip

WATCH = 2  # which word of a context holds the address of the watch
STOP, LEFT, TABLE, ASKED, KEPT = range(5)  # which words of the watch these are
WATCH_WORDS = 8  # the size of a cache line, so that threads do not slow each other down by writing to one line
QUANTUM = 1 << 20  # the work between two checks: about a millisecond
BUDGET = 1 << 22  # the work between two calls of `ask`: some milliseconds
# The work of one operation of these classes; all others count as 1.
_WEIGHTS = {"div": 8, "sqrt": 8, "transcendental": 32}


def repetitions_between_checks(work: int) -> int:
    """Return how often some work may be repeated between two checks: a power of two."""
    return 1 << max(QUANTUM // max(work, 1), 1).bit_length() - 1


def work_of(nodes: list[Expr]) -> int:
    """Return how much work some nodes of a graph are, without long-running loops, which count their work themselves."""
    work = sum(n * _WEIGHTS.get(kind, 1) for kind, n in count_by_class(nodes).items())
    loops = [(x.value, iteration_work(x.value)) for x in nodes if x.op == "loop"]
    return work + sum(loop.length * each for loop, each in loops if not runs_long(loop, each))


def iteration_work(loop: Loop) -> int:
    """Return how much work one iteration of a loop is."""
    return max(work_of(reachable(loop.roots)), 1)


def runs_long(loop: Loop, work: int) -> bool:
    """Return whether a loop may run so long that it must check whether to stop. `work` is that of one iteration."""
    return loop.length is None or loop.length * work > QUANTUM


def has_long_running_loops(nodes: list[Expr]) -> bool:
    """Return whether a long-running loop is among these nodes, or in the body of a loop among them."""
    loops = [x.value for x in nodes if x.op == "loop"]
    return any(runs_long(loop, iteration_work(loop)) or has_long_running_loops(reachable(loop.roots)) for loop in loops)


def count_work(b: Coder, work) -> str:
    """Emit code that notes in the watch that work was done; returns a flag of the IR that says whether to check now."""
    watch = b.pointer(b.get("%context", WATCH))
    left = b.word(f"sub i64 {b.get(watch, LEFT)}, {work}")
    b.put(left, watch, LEFT)
    return b.op(f"icmp slt i64 {left}, 0", "m").name


def check_stop(b: Coder, otherwise: str) -> None:
    """Emit a check: code that jumps to the label `otherwise` if the call has to stop.

    The module needs `stops_function`.
    """
    stops, go_on = b.op("call i1 @stops(ptr %context)", "m").name, b.fresh_label("on")
    b.emit(f" br i1 {stops}, label %{otherwise}, label %{go_on}")
    b.label(go_on)


def stops_function(module: Module) -> str:
    """The IR of `stops(context)`, which returns whether to stop.

    It calls `ask` if enough work was done since the last time.
    """
    b = Coder(module, 1, "f64")
    watch = b.pointer(b.get("%context", WATCH))
    stop = b.word(f"load atomic i64, ptr {b.address(watch, STOP)} monotonic, align 8")
    b.require(b.same(stop, 0), "told")
    b.require(b.op(f"icmp slt i64 {b.get(watch, LEFT)}, 0", "m").name, "on")
    b.put(BUDGET, watch, LEFT)
    table = b.get(watch, TABLE)
    b.require(b.op(f"icmp ne i64 {table}, 0", "m").name, "on")
    answer = b.word(f"call i64 {b.pointer(b.get(b.pointer(table), 0))}(ptr {watch})")
    b.emit(f" ret i1 {b.op(f'icmp ne i64 {answer}, 0', 'm').name}\non:\n ret i1 false\ntold:\n ret i1 true")
    head = "define internal i1 @stops(ptr %context) nounwind noinline cold {"
    return "\n".join([head, "entry:", *b.lines, "}"])
