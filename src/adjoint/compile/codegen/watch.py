"""Long calls can be stopped: machine code looks, now and then, whether it shall go on.

Every call has a *watch*, a few words in memory that its context points to:

    stop   not 0: leave; written by whoever waits for the call, in any thread
    left   the work to be done before `runtime.ask` is called, which asks Python if it is time for that
    table  the address of a table: `ask` and the functions it calls; 0: Python is never asked
    asked  when Python was asked, in milliseconds; 0: not yet
    kept   three words: the exception that a handler of a signal raised, as CPython fetches it

Batches look between groups of samples, long loops between their iterations. Python runs the handlers of signals (that
of Ctrl-C raises KeyboardInterrupt) in its main thread only, and only where it is let: `ask` lets it, five times a
second and not more often, for it may have to wait for Python's global lock.
"""

from __future__ import annotations

from ..graph.expressions import Expr, reachable
from ..graph.loops import Loop
from ..graph.operation_counts import count_by_class
from .ir import Coder, Module

__all__ = ["ASKED", "BUDGET", "KEPT", "LEFT", "STOP", "TABLE", "WATCH", "WATCH_WORDS"]
__all__ += ["has_lasting_loops", "iteration_work", "lasts", "look", "repetitions", "spend", "stops_function", "weigh"]

WATCH = 2  # the word of a context that holds the address of the watch
STOP, LEFT, TABLE, ASKED, KEPT = range(5)  # words of the watch
WATCH_WORDS = 8  # a line of the cache: threads that look do not disturb each other
QUANTUM = 1 << 20  # the work between two looks: about a millisecond
BUDGET = 1 << 22  # the work between two calls of `ask`: some milliseconds
_WEIGHTS = {"div": 8, "sqrt": 8, "transcendental": 32}  # of one operation; all others weigh 1


def repetitions(work: int) -> int:
    """How often so much work may be done between two looks: a power of two."""
    return 1 << max(QUANTUM // max(work, 1), 1).bit_length() - 1


def weigh(nodes: list[Expr]) -> int:
    """How much work some nodes of a graph are: about one for an instruction; loops that last note theirs themselves."""
    work = sum(n * _WEIGHTS.get(kind, 1) for kind, n in count_by_class(nodes).items())
    loops = [(x.value, iteration_work(x.value)) for x in nodes if x.op == "loop"]
    return work + sum(loop.length * each for loop, each in loops if not lasts(loop, each))


def iteration_work(loop: Loop) -> int:
    """How much work one iteration is."""
    return max(weigh(reachable(loop.roots)), 1)


def lasts(loop: Loop, work: int) -> bool:
    """Whether a loop may take so long that it must look whether to stop, an iteration being so much work."""
    return loop.length is None or loop.length * work > QUANTUM


def has_lasting_loops(nodes: list[Expr]) -> bool:
    """Whether a loop among these nodes, or in the body of one, may last."""
    loops = [x.value for x in nodes if x.op == "loop"]
    return any(lasts(loop, iteration_work(loop)) or has_lasting_loops(reachable(loop.roots)) for loop in loops)


def spend(b: Coder, work) -> str:
    """Note that some work was done; yields whether it is time to look."""
    watch = b.pointer(b.get("%context", WATCH))
    left = b.word(f"sub i64 {b.get(watch, LEFT)}, {work}")
    b.put(left, watch, LEFT)
    return b.op(f"icmp slt i64 {left}, 0", "m").name


def look(b: Coder, otherwise: str) -> None:
    """Go on; or, if the call shall stop, jump to the label `otherwise`. The module needs `stops_function`."""
    stops, go_on = b.op("call i1 @stops(ptr %context)", "m").name, b.fresh_label("on")
    b.emit(f" br i1 {stops}, label %{otherwise}, label %{go_on}")
    b.label(go_on)


def stops_function(module: Module) -> str:
    """`stops(context)`: whether to stop; `ask` is called if enough work was done since the last time."""
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
