"""Loops: `scan` and `while_loop`, traced once and emitted as machine loops; and `row_at`, which looks up a table.

In a graph a loop is one node whose arguments are the initial carry, the values its body captures, and the buffers it
reads; `carry` and `stacked` nodes read its results. Buffers are nodes too: `array` (elements computed before the
loop), `sequence` (an input whose length is known when the kernel is called), `stacked` (outputs of a loop, one row an
iteration), `row` (a copy of one row of another buffer, whose number is computed); `item` reads one element of a buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import ArgumentError, TraceError
from . import trace_errors, tracing
from .current import current_graph, tracing_into
from .expressions import Expr, Graph, apply, digest, reachable, substitute
from .nested import leaves, map_leaves, rebuild, structure

__all__ = [
    "Loop",
    "Sequence",
    "copy_sequence",
    "each_row",
    "plain_number",
    "prune",
    "row_at",
    "scan",
    "while_loop",
]


@dataclass(frozen=True, eq=False)
class Loop:
    """The body of a loop.

    The node of the loop in the outer graph has three groups of arguments: the initial carry, the values of the outer
    graph that the body uses (`captured`), and the buffers whose rows it reads (`xs`).
    """

    carry: tuple[Expr, ...]  # inputs of the body: the carry before this iteration
    xs: tuple[tuple[Expr, ...], ...]  # inputs of the body: this iteration's row of each buffer
    captured: tuple[Expr, ...]  # inputs of the body: values of the outer graph
    next_carry: tuple[Expr, ...]  # results of the body: the carry after this iteration
    ys: tuple[tuple[Expr, ...], ...]  # results of the body that are stacked, one row an iteration
    length: int | None  # the number of iterations; None stands for the common length of the kernel's sequences
    reverse: bool = False
    condition: Expr | None = None  # a while loop goes on while it holds, each lane on its own, at most `length` times

    @property
    def roots(self) -> list[Expr]:
        """All results of the body."""
        rows = [e for row in self.ys for e in row]
        return [*self.next_carry, *rows, *([] if self.condition is None else [self.condition])]

    def digest(self) -> str:
        """A hash of what the loop computes."""
        names = [[x.value for x in group] for group in (self.carry, self.captured, *self.xs)]
        return repr(
            (
                digest(self.roots),
                names,
                [len(y) for y in self.ys],
                self.length,
                self.reverse,
                self.condition is not None,
            )
        )


class Sequence:
    """A traced sequence: an argument declared with a leading `...`, or the stacked results of a scan over one.

    Its length is known only when the kernel is called, so all it can do is be scanned over, looked up, or be returned.
    """

    def __init__(self, node: Expr, shape: tuple[int, ...]):
        self.node, self.row_shape = node, shape

    def _refuse(self, *_, **__):
        raise trace_errors.error(
            "a sequence of unknown length cannot be used outside a scan",
            "pass it as the xs of scan(step, carry, xs) and compute inside the step, or read a row by row_at",
        )

    __getitem__ = __iter__ = __len__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __matmul__ = __rmatmul__ = __neg__ = __bool__ = __array__ = _refuse
    __array_ufunc__ = __array_function__ = _refuse


def _row_shape(source) -> tuple[int, ...]:
    return source.row_shape if isinstance(source, Sequence) else np.shape(source)[1:]


class each_row:
    """Given as the xs of a scan, it lets the step read rows itself: x.row(sequences) is their current row.

    `of` is a sequence, or a structure of sequences, that tells the number of rows; every sequence that the step reads
    must have as many. So a step reads what it needs where it needs it, and the loop reads nothing else.
    """

    def __init__(self, of):
        self.of = of


class _Rows:
    """The rows that the step of a traced loop asks for: they are inputs of the loop's body, in the order of asking."""

    def __init__(self, body: Graph, count: int | None):
        self._body, self._count = body, count
        self.sources: list = []
        self.inputs: list[list[Expr]] = []
        self._known: dict[tuple, Any] = {}
        self._size = 0

    def row(self, tree):
        """The current row of a sequence, or of a structure of them."""
        return map_leaves(self._one, tree)

    def _one(self, source):
        key = id(source.node if isinstance(source, Sequence) else source), _row_shape(source)
        if key not in self._known:
            if _length(source, None) != self._count:
                raise TraceError(f"a scan over {self._count} rows cannot read rows of {_length(source, None)}")
            (flat,), self._known[key] = _inputs(self._body, "row", source, [_row_shape(source)], first=self._size)
            self.sources.append(source)  # this also keeps the source alive, so that no other object gets its id
            self.inputs.append(flat)
            self._size += len(flat)
        return self._known[key]


class _RowNumber:
    """The rows that the step of a loop asks for when the loop runs in Python: rows of arrays."""

    def __init__(self, i: int | None, count: int):
        self._i, self._count = i, count

    def row(self, tree):
        """Row i of each array; zeros of its shape, where there is none."""
        return map_leaves(self._one, tree)

    def _one(self, source):
        if len(source) != self._count:
            raise TraceError(f"a scan over {self._count} rows cannot read rows of {len(source)}")
        return np.zeros(np.shape(source)[1:]) if self._i is None else np.asarray(source)[self._i]


# --- scan ------------------------------------------------------------------------------------------


def scan(step: Callable, carry, xs=None, length: int | None = None, *, reverse: bool = False):
    """Fold `step` over the rows of `xs`: `carry, y = step(carry, x)`; returns `(carry, ys)`.

        >>> def smooth(y, x):                                       # y is the carry, x a row
        ...     y = 0.5 * y + 0.5 * x
        ...     return y, y
        >>> scan(smooth, 0.0, np.ones(4))[1]
        array([0.5   , 0.75  , 0.875 , 0.9375])

    Parameters
    ----------
    step
        `(carry, x) -> (carry, y)`; y may be None. Written for one row, traced once.
    carry
        A number, an array, or any nesting of tuples, lists, NamedTuples and dicts of them; shapes stay the same.
    xs
        The same kind of nesting; each leaf is scanned over its first axis. A kernel argument declared with a leading
        `...` axis has its length given at call time. None: x is None and `length` says how often. `each_row(of=...)`:
        x reads rows itself, `x.row(sequences)`.
    reverse
        Run from the last row to the first; row i of ys still belongs to row i of xs.

    Eagerly this is a Python loop; inside a kernel it is one machine loop, whatever the length, and memory is used only
    for ys. Differentiable forward and in reverse; in reverse the carry of every step is kept.
    """
    _need_functions("scan", step=step)
    asked = isinstance(xs, each_row)
    count = _length(xs.of if asked else xs, length)
    graph = current_graph()
    if graph is None:
        return _eager_scan(step, carry, xs, count, reverse)

    body = Graph(graph)
    starts = [tracing.flatten(leaf, "the carry of a scan") for leaf in leaves(carry)]
    inputs, carry_now = _inputs(body, "carry", carry, [shape for shape, _ in starts], starts)
    rows = _Rows(body, count)
    x_now = rows if asked else rows.row(xs)
    with tracing_into(body):
        result = step(carry_now, x_now)
    carry_next, y = _pair(result)
    flat_next = _same_shapes(body, carry, carry_next, [shape for shape, _ in starts], "step")
    ys = [tracing.flatten(leaf, "the y of a scan") for leaf in leaves(y)]
    rows_next = tuple(tuple(body.lift(plain_number(e)) for e in elements) for _, elements in ys)
    loop = Loop(
        tuple(e for leaf in inputs for e in leaf),
        tuple(tuple(r) for r in rows.inputs),
        tuple(body.captured.values()),  # complete only now: lifting may capture
        tuple(flat_next),
        rows_next,
        count,
        reverse,
    )
    buffers = [_buffer(graph, s, count) for s in rows.sources]
    node = _loop_node(graph, loop, [e for _, es in starts for e in es], tuple(body.captured), buffers)
    finals = _results(graph, node, carry, starts)
    stacked = [_stacked(graph, node, k, shape, count) for k, (shape, _) in enumerate(ys)]
    return finals, rebuild(y, iter(stacked))


def _need_functions(caller: str, **functions) -> None:
    for name, value in functions.items():
        if not callable(value):
            raise ArgumentError(f"{caller}: {name} must be a function; got {type(value).__name__}")


def _pair(result) -> tuple:
    """What the step of a scan returns."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise trace_errors.error(
            "the step of a scan must return a pair (carry, y)", "return (carry, None) if nothing is stacked"
        )
    return result


def _length(xs, length: int | None) -> int | None:
    """The number of iterations; None if it is that of the kernel's sequences."""
    sources = leaves(xs)
    if any(isinstance(leaf, Sequence) for leaf in sources):
        if not all(isinstance(leaf, Sequence) for leaf in sources) or length is not None:
            raise TraceError("a scan over sequences of unknown length takes only such sequences, and no `length`")
        return None
    counts = {np.shape(leaf)[0] for leaf in sources if np.ndim(leaf)}
    if any(np.ndim(leaf) == 0 for leaf in sources):
        raise ArgumentError("scan: every leaf of xs needs a first axis to scan over; one is a scalar")
    if length is not None:
        counts.add(_whole(length, "scan: length"))
    if len(counts) != 1:
        raise ArgumentError(
            f"scan: xs and length must agree on one number of iterations; got {sorted(counts) or 'none'}"
        )
    return counts.pop()


def _whole(n, what: str) -> int:
    if isinstance(n, Expr) or not isinstance(n, int | np.integer) or n < 0:
        raise ArgumentError(f"{what} must be a whole number, 0 or more, known when tracing; got {n!r:.60}")
    return int(n)


def _as_numpy(tree):
    """Python's numbers as NumPy's, which follow the rules of traced numbers, as for `~` of a truth value."""
    scalars = {bool: np.bool_, int: np.float64, float: np.float64}
    return rebuild(tree, iter([scalars.get(type(leaf), lambda x: x)(leaf) for leaf in leaves(tree)]))


def _eager_scan(step, carry, xs, count, reverse):
    """A scan as a Python loop on numbers."""
    carry = _as_numpy(carry)
    rows: list = [None] * count

    def now(i: int | None):
        at = _RowNumber(i, count)
        return at if isinstance(xs, each_row) else at.row(xs)

    for i in reversed(range(count)) if reverse else range(count):
        carry, rows[i] = _pair(step(carry, now(i)))
    if count == 0:  # one step on zeros tells the shapes of the empty results
        _, y = _pair(step(carry, now(None)))
        return carry, rebuild(y, (np.zeros((0, *np.shape(leaf))) for leaf in leaves(y)))
    ys = (np.stack(leaf) for leaf in zip(*(leaves(r) for r in rows), strict=True))
    return carry, rebuild(rows[0], ys)


# --- while_loop --------------------------------------------------------------------------------------


def while_loop(condition: Callable, body: Callable, carry, *, max_iterations: int):
    """Repeat `carry = body(carry)` while `condition(carry)` holds, at most `max_iterations` times; returns the carry.

        >>> @aj.kernel
        ... def root(x):
        ...     far = lambda s: abs(s * s - x) > 1e-12 * x
        ...     return while_loop(far, lambda s: (s + x / s) / 2, x, max_iterations=60)
        >>> root(np.array([4.0, 9.0]))
        array([2., 3.])

    In a compiled kernel each sample of a batch stops on its own: its carry is frozen when its condition fails, so a
    result never depends on the sample's neighbours. Differentiable by `jvp`: the iterations taken are differentiated.
    """
    _need_functions("while_loop", condition=condition, body=body)
    limit = _whole(max_iterations, "while_loop: max_iterations")
    graph = current_graph()
    if graph is None:
        carry = _as_numpy(carry)
        for _ in range(limit):
            if not condition(carry):
                break
            carry = body(carry)
        return carry

    inner = Graph(graph)
    starts = [tracing.flatten(leaf, "the carry of a while_loop") for leaf in leaves(carry)]
    inputs, carry_now = _inputs(inner, "carry", carry, [shape for shape, _ in starts], starts)
    with tracing_into(inner):
        shape, elements = tracing.flatten(condition(carry_now), "the condition of a while_loop")
        if shape != ():
            raise trace_errors.error(
                f"the condition of a while_loop must be one truth value; it has shape {shape}",
                "reduce it with np.any or np.all",
            )
        (go_on,) = elements
        carry_next = body(carry_now)
    flat_next = _same_shapes(inner, carry, carry_next, [shape for shape, _ in starts], "body")
    go_on = inner.lift(
        go_on if isinstance(go_on, Expr) and go_on.mask else apply("ne", inner.lift(plain_number(go_on)), 0.0)
    )
    loop = Loop(
        tuple(e for leaf in inputs for e in leaf),
        (),
        tuple(inner.captured.values()),
        tuple(flat_next),
        (),
        limit,
        condition=go_on,
    )
    node = _loop_node(graph, loop, [e for _, es in starts for e in es], tuple(inner.captured), [])
    return _results(graph, node, carry, starts)


# --- tables ------------------------------------------------------------------------------------------


def row_at(rows, index):
    """Row number `index` of a table, where the index is computed: rows[index] for an index that is traced.

        >>> @aj.kernel(table=(...,), t=())
        ... def latest(table, t):                                   # of values that were taken every 10 ms
        ...     return row_at(table, t / 0.01)
        >>> print(latest(np.array([0.0, 1.0, 4.0, 9.0]), 0.025))
        4.0

    Parameters
    ----------
    rows
        An array, a kernel argument declared with a leading `...` axis, or any nesting of them; the table is read along
        the first axis.
    index
        A number. It is rounded down; below 0, and if it is NaN, it counts as 0, and beyond the last row as the last.

    The row is read from memory: a table may have millions of rows. Derivatives by the index are 0, and those by the
    table go forward only (`jvp`). Of a sequence without rows, the row is 0.
    """
    graph = current_graph()
    if graph is None:
        return map_leaves(lambda leaf: _eager_row(leaf, index), rows)
    shape, elements = tracing.flatten(index, "the index of row_at")
    if shape != ():
        raise trace_errors.error(
            f"the index of row_at must be one number; it has shape {shape}", "look up one row at a time"
        )
    number = graph.lift(plain_number(elements[0]))
    return map_leaves(lambda leaf: _traced_row(graph, leaf, number), rows)


def _eager_row(table, index) -> np.ndarray:
    try:
        rows, number = np.asarray(table, float), float(index)
    except (TypeError, ValueError, OverflowError):
        rows, number = np.zeros(()), 0.0
    if rows.ndim == 0:
        raise ArgumentError(
            f"row_at: rows must be numbers with a first axis to look up along, and index one number; "
            f"got {table!r:.60} and {index!r:.60}"
        )
    if len(rows) == 0:
        return np.zeros(rows.shape[1:])
    return rows[int(min(max(number, 0.0), len(rows) - 1)) if number == number else 0]


def _traced_row(graph: Graph, source, index: Expr):
    shape = _row_shape(source)
    count = None if isinstance(source, Sequence) else len(source)
    if count == 0:
        return np.zeros(shape)
    buffer = graph.lift(_buffer(_owner(graph, source), source, count))
    size = int(np.prod(shape))
    row = graph.node("row", (buffer, index), (size, count))
    return tracing.traced_array([graph.node("item", (row,), k) for k in range(size)], shape)


def _owner(graph: Graph, source) -> Graph:
    """The outermost graph in which all elements of an array are known: there, a loop fills it only once."""
    elements = [] if isinstance(source, Sequence) else tracing.flatten(source, "the rows of row_at")[1]
    depth = max((e.graph.depth for e in elements if isinstance(e, Expr)), default=0)
    while graph.depth > depth and graph.parent is not None:
        graph = graph.parent
    return graph


# --- building nodes ----------------------------------------------------------------------------------


def plain_number(x):
    """x as a number: loops carry and stack truth values as the numbers 0 and 1."""
    if isinstance(x, Expr) and x.mask:
        return apply("select", x, 1.0, 0.0)
    return x if isinstance(x, Expr) else float(x)


def _inputs(body: Graph, kind: str, tree, shapes, starts=None, first: int = 0) -> tuple[list[list[Expr]], Any]:
    """New inputs of a loop's body, numbered from `first` on: as flat lists, and in the structure of `tree`.

    An input whose start is a truth value is a truth value inside the body.
    """
    flat, arrays, k = [], [], first
    for n, shape in enumerate(shapes):
        size = int(np.prod(shape))
        flat.append([body.input(kind, k + j) for j in range(size)])
        seen = flat[-1] if starts is None else _as_before(flat[-1], starts[n][1])
        arrays.append(tracing.traced_array(seen, shape, frozen=True))
        k += size
    return flat, rebuild(tree, iter(arrays))


def _as_before(numbers: list[Expr], originals: list) -> list:
    """The numbers, where those that carry truth values are made truth values again."""
    return [
        apply("ne", x, 0.0) if isinstance(o, bool | np.bool_) or (isinstance(o, Expr) and o.mask) else x
        for x, o in zip(numbers, originals, strict=True)
    ]


def _same_shapes(body: Graph, before, carry, shapes, what: str) -> list[Expr]:
    """The elements of the carry that a step returned, or a `TraceError` if its structure or a shape has changed."""
    if structure(carry) != structure(before):
        raise TraceError(
            f"the carry must keep its structure: the {what} was given {structure(before)} "
            f"and returned {structure(carry)}"
        )
    flat = [tracing.flatten(leaf, f"the carry returned by the {what}") for leaf in leaves(carry)]
    if [shape for shape, _ in flat] != list(shapes):
        raise TraceError(
            f"the carry must keep its shapes: the {what} was given {list(shapes)} "
            f"and returned {[shape for shape, _ in flat]}"
        )
    return [body.lift(plain_number(e)) for _, elements in flat for e in elements]


def _buffer(graph: Graph, source, count: int | None) -> Expr:
    """The node of the buffer from which a scan reads the rows of `source`."""
    if isinstance(source, Sequence):
        return graph.lift(source.node)
    _, elements = tracing.flatten(source, "the xs of a scan")
    first = elements[0] if elements else None
    if isinstance(first, Expr) and first.op == "item" and first.graph is graph:
        # The stacked results of another scan, or a row of a table, whole and in order: read them where they are.
        whole = first.args[0]
        if len(elements) == _size(whole, count) and all(
            isinstance(e, Expr) and e.op == "item" and e.args[0] is whole and e.value == k
            for k, e in enumerate(elements)
        ):
            return whole
    return graph.node("array", tuple(graph.lift(plain_number(e)) for e in elements))


def _size(buffer: Expr, count: int | None) -> int:
    """The number of elements of a buffer that a scan of `count` iterations can read where it is; 0 for all others."""
    if buffer.op == "stacked":
        return (count or 0) * len(buffer.args[0].value.ys[buffer.value])
    return buffer.value[0] if buffer.op == "row" else 0


def _loop_node(graph: Graph, loop: Loop, start: list, captured, buffers: list[Expr]) -> Expr:
    """The node of a loop in the outer graph."""
    outer = [graph.lift(x) for x in captured]
    return graph.node("loop", (*(graph.lift(plain_number(e)) for e in start), *outer, *buffers), loop)


def _results(graph: Graph, node: Expr, tree, starts):
    """The carry after the last iteration, in the structure of `tree`."""
    arrays, k = [], 0
    for shape, elements in starts:
        finals = [graph.node("carry", (node,), k + j) for j in range(len(elements))]
        arrays.append(tracing.traced_array(_as_before(finals, elements), shape))
        k += len(elements)
    return rebuild(tree, iter(arrays))


def _stacked(graph: Graph, node: Expr, k: int, shape, count: int | None):
    """The rows that a loop stacks as its result k: an array, or a sequence if the number of rows is not known."""
    buffer = graph.node("stacked", (node,), k)
    if count is None:
        return Sequence(buffer, shape)
    size = count * int(np.prod(shape))
    items = [graph.node("item", (buffer,), j) for j in range(size)]
    return tracing.traced_array(items, (count, *shape)) if size else np.zeros((count, *shape))


def copy_sequence(graph: Graph, sequence: Sequence) -> Sequence:
    """A scan that returns its rows unchanged, so that every returned sequence is some loop's own output."""
    with tracing_into(graph):
        return scan(lambda c, x: (c, x), 0.0, sequence)[1]


def prune(roots: list[Expr]) -> list[Expr]:
    """The same roots, with loops that stack only what is read."""
    while True:
        nodes = reachable(roots)
        read = {(x.args[0].id, x.value) for x in nodes if x.op == "stacked"}
        wasteful = [x for x in nodes if x.op == "loop" and any((x.id, k) not in read for k in range(len(x.value.ys)))]
        if not wasteful:
            return roots
        node = wasteful[0]
        loop, graph = node.value, node.graph
        kept = [k for k in range(len(loop.ys)) if (node.id, k) in read]
        new = graph.node("loop", node.args, replace(loop, ys=tuple(loop.ys[k] for k in kept)))
        table = {graph.node("carry", (node,), k).id: graph.node("carry", (new,), k) for k in range(len(loop.carry))}
        table |= {graph.node("stacked", (node,), k).id: graph.node("stacked", (new,), j) for j, k in enumerate(kept)}
        roots = substitute(roots, table)
