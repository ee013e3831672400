"""Specialisations: a kernel with its static arguments fixed, traced once and compiled once for each dtype and width."""

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
from ..graph import loops, trace_errors, tracing
from ..graph.expressions import MOST_NODES, Graph, TooLarge, at_most, digest
from ..graph.operation_counts import count_operations
from ..graph.program import Operand, Program
from ..machine import disk_cache, library_state
from ..machine.locks import compiling
from . import kept_kernels, progress
from .parameters import Parameter

__all__ = ["Specialisation", "TracedSpecialisation", "build_program", "record_class"]

LARGE = 1 << 18  # bytes of machine code that takes about a second to compile, or longer
BORROWED = 10_000  # samples that the code for another kind of call serves: a tenth of the time that compiling takes


class Specialisation:
    """A kernel with fixed static arguments: what it computes, and its machine code."""

    def __init__(self, name: str, inputs: tuple[Operand, ...]):
        self.name, self.inputs = name, inputs
        self.codes: dict[tuple, Any] = {}
        self.plans: dict[tuple, tuple] = {}
        self.call: Callable | None = None  # runs arrays given for all inputs; leaves the rest to `normal`
        self.normal: Callable | None = None
        self.called = 0  # codes there were when `call` was made
        self.borrowed: dict[tuple, int] = {}  # samples of each kind that the code for the other one served
        self.share = kept_kernels.Share()  # that of the kernel whose specialisation it is
        self._traced: tuple[Program, type | None] | None = None
        self._identity: tuple | None = None  # of what was traced
        self._nodes = 0  # that tracing it made
        self.most: float = MOST_NODES  # that its program may have

    def trace(self) -> tuple[Program, type | None]:
        """The program, and the NamedTuple class of its results if they are one."""
        raise NotImplementedError

    def here(self, values: list):
        """The function on one sample of numbers or traced values, by Python."""
        raise NotImplementedError

    @property
    def traced(self) -> tuple[Program, type | None]:
        """The program with nothing in it that is not needed, and the class of its results; made once."""
        with compiling:
            if self._traced is None:
                named = self.named()
                with progress.told(self.name) as note:
                    note.begin()
                    self._traced = self._trace_within_limits()
                self._identity = named if named == self.named() else None
                self._nodes = len(self.program.graph.nodes)
                self.share.nodes += self._nodes
            return self._traced

    def _trace_within_limits(self) -> tuple[Program, type | None]:
        try:
            with at_most(self.most):
                program, made = self.trace()
                found = iter(loops.prune(program.roots))
                results = tuple(tuple(next(found) for _ in r) for r in program.results)
                return replace(program, results=results), made
        except TooLarge:
            if loops.current_graph() is not None:  # a part of another program, which is too large
                raise
        raise CompileError(self._refusal())  # here, where no traceback holds the graph

    def _refusal(self) -> str:
        advice = [x.if_too_large for x in self.static_values() if hasattr(x, "if_too_large")]
        advice = advice or ["Python loops are unrolled: write long ones with scan or while_loop"]
        function, *derived = self.name.split(".")
        remedy = ".".join([f"{function}.bind(..., unroll=True)", *(f"{name}(...)" for name in derived)])
        return (
            f"{self.name} would become a program of more than {self.most:,.0f} operations, which takes minutes and "
            f"gigabytes to compile. To compile it all the same: {remedy}. To compute one sample without compiling: "
            f"{self.name}.eager(...). {'. '.join(advice)}"
        )

    def static_values(self) -> list:
        """Those of its static arguments."""
        raise NotImplementedError

    def drop_program(self) -> None:
        """Free the program, if tracing again would give the same: its function is known to have no side effects."""
        if self._traced is not None and self.identity() is not None:
            self._traced = None
            self.share.nodes -= self._nodes

    @property
    def program(self) -> Program:
        return self.traced[0]

    @cached_property
    def has_sequences(self) -> bool:
        return any(o.sequence for o in self.inputs)

    def named(self) -> tuple | None:
        """A name, if there is one, for the mathematics that tracing would find now."""
        return None

    def identity(self) -> tuple | None:
        """A name, if there is one, for the mathematics that was traced or, if it was not yet, would be."""
        return self.named() if self._traced is None else self._identity

    def _key(self) -> tuple:
        """What the machine code depends on: a name, or else the mathematics itself."""
        identity = self.identity()
        if identity is not None:
            return identity
        program, made = self.traced
        sides = [[(o.name, o.shape, o.sequence) for o in side] for side in (program.inputs, program.outputs)]
        return ("graph", digest(program.roots), sides, None if made is None else _describe(made))

    def compiled(self, dtype: str, single: bool = False, shared: frozenset[str] = frozenset()):
        """Machine code for a dtype, from memory, from disk, or made now; `single`: for one long sample."""
        found = self.codes.get((dtype, single, shared))
        if found is not None:
            return found
        with compiling:
            if (dtype, single, shared) not in self.codes:
                with progress.told(self.name):
                    self.codes[dtype, single, shared] = self._compile(dtype, single, shared)
                kept_kernels.trim()
            return self.codes[dtype, single, shared]

    def serving(self, samples: int, dtype: str, single: bool, shared: frozenset[str]):
        """Machine code for so many samples.

        Where code takes long to compile, and that for the other kind of call is there, batch or single, it serves this
        kind too until it has been used for many samples; the results are the same to the last bit.
        """
        other = self.codes.get((dtype, not single, shared))
        kind = dtype, single, shared
        if kind in self.codes or other is None or other[0].size < LARGE or self.has_sequences:
            return self.compiled(*kind)
        if kind not in self.borrowed and self._stored(*kind) is not None:
            return self.compiled(*kind)  # from disk
        if kind not in self.borrowed:
            which = "single calls are" if single else "batches are"
            progress.log(f"{self.name}: {which} served by the code there is; compile() makes the code for both ready")
        self.borrowed[kind] = self.borrowed.get(kind, 0) + samples
        return other if self.borrowed[kind] <= BORROWED else self.compiled(*kind)

    def lends(self, dtype: str, code, batch: tuple[int, ...]) -> bool:
        """Whether code goes on serving such a batch: it was made for it, or there were not too many samples yet."""
        if (code.width == 1) == _is_one(batch):
            return True
        kind = dtype, _is_one(batch), frozenset[str]()
        self.borrowed[kind] = self.borrowed.get(kind, 0) + math.prod(batch)
        return self.borrowed[kind] <= BORROWED and kind not in self.codes

    def fit(self, arrays: list[np.ndarray], dtype: str, name: str):
        """The code that serves these arrays, the class of its results, the batch shape and the sequences' length."""
        from ..machine.layouts import broadcast_batch

        batch, length = broadcast_batch(self.inputs, arrays, name)
        shared = frozenset(
            o.name
            for o, a in zip(self.inputs, arrays, strict=True)
            if o.sequence and a.ndim == len(o.shape) + 1 and batch
        )
        return *self.serving(math.prod(batch), dtype, _is_one(batch), shared), batch, length

    def keep_plan(self, key: tuple, plan: tuple) -> None:
        """Remember how calls with arrays of this layout are run; forget all when there are many."""
        if len(self.plans) >= 256:
            self.plans.clear()
        self.plans[key] = plan

    def _stored(self, dtype: str, single: bool, shared: frozenset[str]) -> disk_cache.Entry | None:
        """The entry of the disk cache with this code."""
        return disk_cache.read(self._name(dtype, single, shared))

    def _name(self, dtype: str, single: bool, shared: frozenset[str]) -> str:
        return disk_cache.key(self._key(), dtype, _width(dtype, single), sorted(shared))

    def _new(self, dtype: str, single: bool, shared: frozenset[str]) -> disk_cache.Entry:
        """This code, made now, and stored."""
        from ..codegen.body import emit
        from ..machine import jit

        with progress.told(self.name) as note:
            program, made = self.traced
            cost = sum(count_operations(program))
            note.begin(cost)
            text, scratch, scratch_rows = emit(program, _width(dtype, single), dtype, shared, jit.host().target)
            header = {
                "outputs": [[o.name, o.shape, o.sequence] for o in program.outputs],
                "scratch": scratch,
                "scratch_rows": scratch_rows,
                "result": None if made is None else _describe(made),
                "cost": cost,
            }
            entry = disk_cache.Entry(header, jit.compile_ir(text))
        # The name is made anew, for only the trace tells which state of the library the code belongs to.
        disk_cache.write(self._name(dtype, single, shared), entry)
        return entry

    def _compile(self, dtype: str, single: bool, shared: frozenset[str]):
        from ..machine.execution import Compiled

        entry = self._stored(dtype, single, shared) or self._new(dtype, single, shared)
        self.share.code += len(entry.code)
        h = entry.header
        outputs = tuple(Operand(name, tuple(shape), sequence) for name, shape, sequence in h["outputs"])
        width, scratch = _width(dtype, single), (h["scratch"], h["scratch_rows"])
        code = Compiled(self.name, self.inputs, outputs, width, dtype, entry.code, *scratch, h["cost"])
        if self._traced is not None:
            return code, self._traced[1]
        return code, None if h["result"] is None else _recall(*h["result"])


def _width(dtype: str, single: bool) -> int:
    """Lanes of vectors. One sample needs none: its numbers take an eighth of the memory."""
    from ..machine import jit

    return 1 if single else jit.host().width(dtype)


def _is_one(batch: tuple[int, ...]) -> bool:
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

    def here(self, values: list):
        return self._apply(dict(zip((p.name for p in self.present), values, strict=True)))

    def _apply(self, arguments: dict[str, Any]):
        """The function; static arguments whose numbers are inputs have stand-ins."""
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
        """The name of a function of this library that is what the library's files define; see `origin`."""
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
        """Static arguments by their fingerprints, if all have one."""
        marks = [
            (k, (list(self.lift[k]), v.fingerprint_without(tuple(self.lift[k]))) if k in self.lift else _fingerprint(v))
            for k, v in sorted(self.statics.items())
        ]
        return None if any(mark is None for _, mark in marks) else marks

    def trace(self) -> tuple[Program, type | None]:
        graph = Graph()
        arguments = {o.name: _traced_input(graph, o) for o in self.inputs}
        try:
            with loops.tracing(graph):
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
    if o.sequence:
        return loops.Sequence(graph.node("sequence", value=o.name), o.shape)
    return tracing.traced_array([graph.input(o.name, k) for k in range(o.size)], o.shape, frozen=True)


def build_program(graph: Graph, inputs, result, name: str) -> tuple[Program, type | None]:
    """A traced result (an array, a scalar, a sequence, or a NamedTuple of them) as a program."""
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
    """Names of the modules that define the classes of these static arguments, numbers and texts aside."""
    found = set()
    for v in values:
        if isinstance(v, tuple):
            found |= _homes(v)
        if not isinstance(v, bool | int | float | str) and type(v) not in (tuple, type(None)):
            found.add(type(v).__module__)
    return found


def _fingerprint(value) -> str | None:
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple):
        marks = [_fingerprint(v) for v in value]
        return None if None in marks else f"({', '.join(marks)})"  # type: ignore[arg-type]
    return getattr(value, "fingerprint", None)


# --- result classes, by name ---------------------------------------------------------------------------


@functools.cache
def record_class(name: str, fields: tuple[str, ...]) -> type:
    """The NamedTuple class of derivative results with these fields; they are pickled by what it is made of."""
    made = collections.namedtuple(name, fields)
    made.__reduce__ = lambda self: (_record, (name, fields, tuple(self)))  # type: ignore[method-assign]
    return made


def _record(name: str, fields: tuple[str, ...], values: tuple):
    return record_class(name, fields)(*values)


def _describe(made: type) -> list:
    return [made.__module__, made.__qualname__, list(made._fields)]  # type: ignore[attr-defined]


def _recall(module: str, qualname: str, fields: list[str]) -> type:
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if getattr(found, "_fields", None) == tuple(fields):
        return found  # type: ignore[return-value]
    return record_class(qualname.rpartition(".")[2], tuple(fields))
