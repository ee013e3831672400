"""Specialisations: a kernel with its static arguments fixed, traced once and compiled once for each dtype and width.

There are two codes for each dtype: one for single samples, without vectors, and one for batches, whose vectors hold one
sample in each lane. Where one of them takes long to compile, the other is *borrowed* for a while.
"""

from __future__ import annotations

import collections
import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import AdjointError, CompileError, TraceError
from ...lazy import cached_property
from ..graph import current, loops, trace_errors, tracing
from ..graph.expressions import MOST_NODES, Graph, TooLarge, at_most, digest
from ..graph.operation_counts import count_operations
from ..graph.program import Operand, Program
from ..machine import disk_cache, library_state
from ..machine.locks import compiling
from . import kept_kernels, progress
from .parameters import Parameter

__all__ = ["Specialisation", "TracedSpecialisation", "build_program", "record_class"]

LARGE = 1 << 18  # machine code of more bytes than this takes about a second or longer to compile
# The most samples that borrowed code serves: they take about a tenth of the time that compiling takes.
BORROWED = 10_000


class Specialisation:
    """A kernel with fixed static arguments: what it computes, and its machine code."""

    def __init__(self, name: str, inputs: tuple[Operand, ...]):
        self.name, self.inputs = name, inputs
        self.codes: dict[tuple, Any] = {}  # (dtype, single, shared sequences) -> (code, class of its results)
        self.plans: dict[tuple, tuple] = {}  # layout of arrays -> the plan of calls with such arrays, and more
        self.call: Callable | None = None  # runs on arrays given for all inputs; leaves other calls to `call_as_arrays`
        self.call_as_arrays: Callable | None = None  # makes arrays of the inputs first; see `dispatch`
        self.codes_in_call = 0  # how many codes there were when `call` was made
        self.borrowed: dict[tuple, int] = {}  # kind of code -> samples that the other kind served in its place
        self.usage = kept_kernels.MemoryUsage()  # the memory that the kernel takes whose specialisation this is
        self._traced: tuple[Program, type | None] | None = None
        self._identity: tuple | None = None  # the name of what was traced, see `named`
        self._nodes = 0  # how many nodes tracing made
        self.node_limit: float = MOST_NODES  # how many nodes the program may have

    def trace(self) -> tuple[Program, type | None]:
        """Return the program, and the NamedTuple class of its results (None for a single result)."""
        raise NotImplementedError

    def run_in_python(self, values: list):
        """Run the function on one sample of numbers or traced values, in Python."""
        raise NotImplementedError

    @property
    def traced(self) -> tuple[Program, type | None]:
        """The program without anything that is not needed, and the class of its results; it is traced once."""
        with compiling:
            if self._traced is None:
                named = self.named()
                with progress.reported(self.name) as note:
                    note.begin()
                    self._traced = self._trace_within_limits()
                self._identity = named if named == self.named() else None
                self._nodes = len(self.program.graph.nodes)
                self.usage.nodes += self._nodes
            return self._traced

    def _trace_within_limits(self) -> tuple[Program, type | None]:
        try:
            with at_most(self.node_limit):
                program, made = self.trace()
                found = iter(loops.prune(program.roots))
                results = tuple(tuple(next(found) for _ in r) for r in program.results)
                return replace(program, results=results), made
        except TooLarge:
            if current.current_graph() is not None:  # this program is a part of another one, which is too large
                raise
        raise CompileError(self._refusal())  # raised here, where no traceback keeps the graph alive

    def _refusal(self) -> str:
        """The message about a program that is too large."""
        advice = [x.if_too_large for x in self.static_values() if hasattr(x, "if_too_large")]
        advice = advice or ["Python loops are unrolled: write long ones with scan or while_loop"]
        function, *derived = self.name.split(".")
        remedy = ".".join([f"{function}.bind(..., unroll=True)", *(f"{name}(...)" for name in derived)])
        if not derived:  # the program of a derivative is needed whether it is compiled or not
            remedy += f". To compute one sample without compiling: {self.name}.eager(...)"
        return (
            f"{self.name} would become a program of more than {self.node_limit:,.0f} operations, which takes minutes "
            f"and gigabytes to compile. To compile it all the same: {remedy}. {'. '.join(advice)}"
        )

    def static_values(self) -> list:
        """Return the values of the static arguments."""
        raise NotImplementedError

    def drop_program(self) -> None:
        """Free the program, if tracing again would give the same one: its function is known to have no side effects."""
        if self._traced is not None and self.identity() is not None:
            self._traced = None
            self.usage.nodes -= self._nodes

    @property
    def program(self) -> Program:
        return self.traced[0]

    @cached_property
    def has_sequences(self) -> bool:
        return any(o.sequence for o in self.inputs)

    def named(self) -> tuple | None:
        """Return a name for the mathematics that tracing would find now; None if only tracing can tell."""
        return None

    def identity(self) -> tuple | None:
        """Return the name of the mathematics that was traced, or that tracing would find; None if there is no name."""
        return self.named() if self._traced is None else self._identity

    def _key(self) -> tuple:
        """What the machine code depends on: the name of the mathematics, or else the mathematics itself."""
        identity = self.identity()
        if identity is not None:
            return identity
        program, made = self.traced
        sides = [[(o.name, o.shape, o.sequence) for o in side] for side in (program.inputs, program.outputs)]
        return ("graph", digest(program.roots), sides, None if made is None else _describe(made))

    def compiled(self, dtype: str, single: bool = False, shared: frozenset[str] = frozenset()):
        """Return machine code for a dtype, from memory, from disk, or made now, and the class of its results.

        `single` asks for code without vectors, for single samples. `shared` names the sequences that all samples have
        in common.
        """
        found = self.codes.get((dtype, single, shared))
        if found is not None:
            return found
        with compiling:
            if (dtype, single, shared) not in self.codes:
                with progress.reported(self.name):
                    self.codes[dtype, single, shared] = self._compile(dtype, single, shared)
                kept_kernels.trim()
            return self.codes[dtype, single, shared]

    def code_for(self, samples: int, dtype: str, single: bool, shared: frozenset[str]):
        """Return the machine code that serves a call with so many samples, and the class of its results.

        If the code for this kind of call (batch or single) would take long to compile, and that for the other kind is
        there, the latter is borrowed until it has served many samples of this kind. The results are the same to the
        last bit.
        """
        other = self.codes.get((dtype, not single, shared))
        kind = dtype, single, shared
        if kind in self.codes or other is None or other[0].size < LARGE or self.has_sequences:
            return self.compiled(*kind)
        if kind not in self.borrowed and self._stored(*kind) is not None:
            return self.compiled(*kind)  # it is loaded from disk
        if kind not in self.borrowed:
            which = "single calls are" if single else "batches are"
            progress.log(f"{self.name}: {which} served by the code there is; compile() makes the code for both ready")
        self.borrowed[kind] = self.borrowed.get(kind, 0) + samples
        return other if self.borrowed[kind] <= BORROWED else self.compiled(*kind)

    def may_serve(self, dtype: str, code, batch: tuple[int, ...]) -> bool:
        """Return whether code goes on serving such a batch.

        It does if it was made for this kind of batch, or if it is borrowed and has not served too many samples yet.
        """
        if (code.width == 1) == _is_one(batch):
            return True
        kind = dtype, _is_one(batch), frozenset[str]()
        self.borrowed[kind] = self.borrowed.get(kind, 0) + math.prod(batch)
        return self.borrowed[kind] <= BORROWED and kind not in self.codes

    def fit(self, arrays: list[np.ndarray], dtype: str, name: str):
        """Return the code that serves these arrays, the class of its results, the batch shape and the length."""
        from ..machine.layouts import broadcast_batch

        batch, length = broadcast_batch(self.inputs, arrays, name)
        shared = frozenset(
            o.name
            for o, a in zip(self.inputs, arrays, strict=True)
            if o.sequence and a.ndim == len(o.shape) + 1 and batch
        )
        return *self.code_for(math.prod(batch), dtype, _is_one(batch), shared), batch, length

    def keep_plan(self, key: tuple, plan: tuple) -> None:
        """Remember how calls with arrays of this layout run; all plans are forgotten when there are many."""
        if len(self.plans) >= 256:
            self.plans.clear()
        self.plans[key] = plan

    def _stored(self, dtype: str, single: bool, shared: frozenset[str]) -> disk_cache.Entry | None:
        """The entry of the disk cache with this code, if there is one."""
        return disk_cache.read(self._name(dtype, single, shared))

    def _name(self, dtype: str, single: bool, shared: frozenset[str]) -> str:
        """The name of this code in the disk cache."""
        return disk_cache.key(self._key(), dtype, _width(dtype, single), sorted(shared))

    def _new(self, dtype: str, single: bool, shared: frozenset[str]) -> disk_cache.Entry:
        """Make this code now, and store it in the disk cache."""
        from ..codegen.body import emit
        from ..machine import jit

        with progress.reported(self.name) as note:
            program, made = self.traced
            cost = [sum(count_operations(program, length)) for length in (0, 1)]
            note.begin(cost[1])
            text, scratch, scratch_rows = emit(program, _width(dtype, single), dtype, shared, jit.host().target)
            header = {
                "outputs": [[o.name, o.shape, o.sequence] for o in program.outputs],
                "scratch": scratch,
                "scratch_rows": scratch_rows,
                "result": None if made is None else _describe(made),
                "cost": cost[0],
                "cost_rows": cost[1] - cost[0],
            }
            entry = disk_cache.Entry(header, jit.compile_ir(text))
        # The name is computed again here, because only tracing tells which state of the library the code belongs to.
        disk_cache.write(self._name(dtype, single, shared), entry)
        return entry

    def _compile(self, dtype: str, single: bool, shared: frozenset[str]):
        """Load this code, from disk or made now."""
        from ..machine.execution import Compiled

        entry = self._stored(dtype, single, shared) or self._new(dtype, single, shared)
        self.usage.code += len(entry.code)
        h = entry.header
        outputs = tuple(Operand(name, tuple(shape), sequence) for name, shape, sequence in h["outputs"])
        width, scratch = _width(dtype, single), (h["scratch"], h["scratch_rows"])
        cost = h["cost"], h["cost_rows"]
        code = Compiled(self.name, self.inputs, outputs, width, dtype, entry.code, *scratch, *cost)
        if self._traced is not None:
            return code, self._traced[1]
        return code, None if h["result"] is None else _recall(*h["result"])


def _width(dtype: str, single: bool) -> int:
    """The number of lanes of vectors. Code for one sample has no vectors: it needs an eighth of the memory."""
    from ..machine import jit

    return 1 if single else jit.host().width(dtype)


def _is_one(batch: tuple[int, ...]) -> bool:
    """Return whether a batch of this shape is a single sample."""
    return batch in ((), (1,))


class TracedSpecialisation(Specialisation):
    """A specialisation of a Python function."""

    def __init__(
        self, fn: Callable, name: str, parameters: list[Parameter], statics: dict[str, Any], present: list[str]
    ):
        self.fn, self.statics = fn, statics
        self.present = [p for p in parameters if p.name in present]
        self.lift: dict[str, dict[str, str]] = {}  # {static argument: {name of its numbers: input}}
        for p in self.present:
            if p.lifted_from is not None:
                self.lift.setdefault(p.lifted_from[0], {})[p.lifted_from[1]] = p.name
        super().__init__(name, tuple(p.operand(statics, name) for p in self.present))

    def static_values(self) -> list:
        return list(self.statics.values())

    def run_in_python(self, values: list):
        return self._apply(dict(zip((p.name for p in self.present), values, strict=True)))

    def _apply(self, arguments: dict[str, Any]):
        """Call the function; static arguments whose numbers are inputs are replaced by stand-ins, see `Liftable`."""
        statics = dict(self.statics)
        if (runner := next((x for x in statics.values() if hasattr(x, "runs")), None)) is not None:
            return runner.runs(self.fn, arguments, statics)
        for name, lift in self.lift.items():
            statics[name] = statics[name].lifted({k: arguments[given] for k, given in lift.items()})
        if self.lift:
            own = inspect.signature(self.fn).parameters
            arguments = {k: x for k, x in arguments.items() if k in own}
        return self.fn(**arguments, **statics)

    def named(self) -> tuple | None:
        """The name of a function of this library that is what the library's files define.

        See `machine.library_state`.
        """
        if not library_state.is_published(self.fn) or self._marks is None:
            return None
        stands = [self.statics[name].lifted({}) for name in self.lift]
        state = library_state.state({self.fn.__module__, *_homes([*self.statics.values(), *stands])})
        if state is None:
            return None
        inputs = [(o.name, o.shape, o.sequence) for o in self.inputs]
        return self.fn.__module__, self.fn.__qualname__, self._marks, inputs, state

    @cached_property
    def _marks(self) -> list | None:
        """The static arguments by their fingerprints; None if one has none."""
        marks = [
            (k, (list(self.lift[k]), v.fingerprint_without(tuple(self.lift[k]))) if k in self.lift else _fingerprint(v))
            for k, v in sorted(self.statics.items())
        ]
        return None if any(mark is None for _, mark in marks) else marks

    def trace(self) -> tuple[Program, type | None]:
        graph = Graph()
        arguments = {o.name: _traced_input(graph, o) for o in self.inputs}
        try:
            with current.tracing_into(graph):
                result = self._apply(arguments)
        except AdjointError:
            raise
        except Exception as e:
            explained = trace_errors.explain(e, self.name)
            if explained is e:
                raise
            raise explained from e
        return build_program(graph, self.inputs, result, self.name)


def _traced_input(graph: Graph, o: Operand):
    """The symbols that stand for an input."""
    if o.sequence:
        return loops.Sequence(graph.node("sequence", value=o.name), o.shape)
    return tracing.traced_array([graph.input(o.name, k) for k in range(o.size)], o.shape, frozen=True)


def build_program(graph: Graph, inputs, result, name: str) -> tuple[Program, type | None]:
    """Make a program of a traced result: an array, a scalar, a sequence, or a NamedTuple of them."""
    made = type(result) if isinstance(result, tuple) and hasattr(result, "_fields") else None
    if (made is None and isinstance(result, tuple | dict)) or result is None:
        raise TraceError(f"{name} returned {type(result).__name__}; return one array, or a NamedTuple of arrays")
    fields = dict(zip(made._fields, result, strict=True)) if made else {"out": result}  # type: ignore[arg-type]
    outputs, results, used = [], [], set()
    for field, value in fields.items():
        if isinstance(value, loops.Sequence):
            if value.node.op != "stacked" or value.node in used:
                value = loops.copy_sequence(graph, value)
            used.add(value.node)
            outputs.append(Operand(field, value.row_shape, True))
            results.append((value.node,))
        else:
            shape, elements = tracing.flatten(value, f"{name}: the result" + (f" '{field}'" if made else ""))
            outputs.append(Operand(field, tuple(shape)))
            results.append(tuple(graph.lift(loops.plain_number(e)) for e in elements))
    return Program(tuple(inputs), tuple(outputs), tuple(results), graph), made


def _homes(values: Iterable) -> set[str]:
    """The names of the modules that define the classes of these static arguments, but for numbers and texts."""
    found = set()
    for v in values:
        if isinstance(v, tuple):
            found |= _homes(v)
        if not isinstance(v, bool | int | float | str) and type(v) not in (tuple, type(None)):
            found.add(type(v).__module__)
    return found


def _fingerprint(value) -> str | None:
    """A text that stands for a static value and is the same in every process; None if there is none."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple):
        marks = [_fingerprint(v) for v in value]
        return None if None in marks else f"({', '.join(marks)})"  # type: ignore[arg-type]
    return getattr(value, "fingerprint", None)


# --- result classes, by name ---------------------------------------------------------------------------


@functools.cache
def record_class(name: str, fields: tuple[str, ...]) -> type:
    """Return the NamedTuple class of derivative results with these fields.

    Its instances are pickled by name and fields.
    """
    made = collections.namedtuple(name, fields)
    made.__reduce__ = lambda self: (_record, (name, fields, tuple(self)))  # type: ignore[method-assign]
    return made


def _record(name: str, fields: tuple[str, ...], values: tuple):
    return record_class(name, fields)(*values)


def _describe(made: type) -> list:
    """What the disk cache stores of a NamedTuple class."""
    return [made.__module__, made.__qualname__, list(made._fields)]  # type: ignore[attr-defined]


def _recall(module: str, qualname: str, fields: list[str]) -> type:
    """Return the NamedTuple class that `_describe` described."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if getattr(found, "_fields", None) == tuple(fields):
        return found  # type: ignore[return-value]
    return record_class(qualname.rpartition(".")[2], tuple(fields))
