"""Derivatives of graphs: forward (`pushforward`) and reverse (`pullback`), node by node from the table of operations.

A *tangent* is the derivative of a node along directions; a *cotangent* is the derivative of a result by a node. Zeros
that are known from the structure are never multiplied out, so the sparsity of a Jacobian is found by computing it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...errors import DerivativeError
from ..graph.expressions import Expr, Graph, apply, reachable, substitute
from ..graph.loops import Loop
from ..graph.operations import OPS

__all__ = ["jacobian", "only_forward", "pullback", "pushforward", "value_and_gradient"]

Tangent = dict[int, "Expr | float"]  # direction -> derivative; missing directions are zero


def _partials(x: Expr):
    """The partial derivatives of a node by its arguments; None where they are zero."""
    op = OPS[x.op]
    if op.mask or op.partials is None:
        return (None,) * len(x.args)
    return op.partials(apply, *x.args, x)


def pushforward(graph: Graph, roots: Sequence[Expr], seeds: dict[Expr, Tangent]) -> tuple[list[Expr], list[Tangent]]:
    """Return derivatives of the roots along several directions at once.

    `seeds` gives the tangents of chosen nodes. Returns the roots themselves and their tangents. If there are loops, the
    roots are read from the differentiated loops, which compute both, so that no loop runs twice.
    """
    new: dict[int, Expr] = {}  # node -> the node in its place, which reads differentiated loops
    tangents: dict[int, Tangent] = {x.id: t for x, t in seeds.items()}  # by the node before that replacement
    for x in reachable(roots):
        if x.id in new:  # x is a result of a loop that was differentiated
            continue
        args = tuple(new[a.id] for a in x.args)
        same = all(a is b for a, b in zip(args, x.args, strict=True))
        new[x.id] = x if same else graph.node(x.op, args, x.value, x.mask)
        if x.id in tangents:
            continue
        below = [tangents.get(a.id, {}) for a in x.args]
        if x.op == "loop":
            _differentiate_loop(graph, x, new, below, tangents)
        elif any(below):
            t = _tangent(graph, new[x.id], below)
            if t:
                tangents[x.id] = t
    return [new[r.id] for r in roots], [tangents.get(r.id, {}) for r in roots]


def _tangent(graph: Graph, x: Expr, below: list[Tangent]) -> Tangent:
    """The tangent of a node from those of its arguments."""
    if x.op == "array":
        directions = {d for t in below for d in t}
        return {d: graph.node("array", tuple(graph.lift(t.get(d, 0.0)) for t in below)) for d in directions}
    if x.op == "item":
        return {d: graph.node("item", (b,), x.value) for d, b in below[0].items()}  # type: ignore[misc]
    if x.op == "row":  # of the table; its number has no slope
        return {d: graph.node("row", (b, x.args[1]), x.value) for d, b in below[0].items()}  # type: ignore[misc]
    return _chain_rule(x, below) if x.op in OPS else {}


def _chain_rule(x: Expr, below: list[Tangent]) -> Tangent:
    """The tangent of an operation from those of its arguments."""
    if x.op == "select":  # choose between tangents, so that a NaN in the branch that is not taken has no effect
        _, ta, tb = below
        return {d: apply("select", x.args[0], ta.get(d, 0.0), tb.get(d, 0.0)) for d in {**ta, **tb}}
    result: Tangent = {}
    for p, t in zip(_partials(x), below, strict=True):
        if p is not None:
            for d, v in t.items():
                term = apply("mul", p, v)
                result[d] = apply("add", result[d], term) if d in result else term
    return {d: t for d, t in result.items() if isinstance(t, Expr) or t != 0.0}


def _differentiate_loop(
    graph: Graph, node: Expr, new: dict[int, Expr], below: list[Tangent], tangents: dict[int, Tangent]
) -> None:
    """Extend a loop by the tangents of its carry, its rows and its results.

    The tangents are recorded for the nodes that read the loop.
    """
    if not any(below):
        return
    loop: Loop = node.value
    body = loop.roots[0].graph
    n, m = len(loop.carry), len(loop.captured)
    parts = slice(n), slice(n, n + m), slice(n + m, None)
    start, captured, buffers = (new[node.id].args[k] for k in parts)
    t_start, t_captured, t_buffers = (below[k] for k in parts)
    mark = f"tangent{len(body.nodes)}"

    seeds, rows, values = _tangent_inputs(loop, body, mark, t_captured, t_buffers)
    dots, roots, results = _active_carry(loop, body, mark, t_start, seeds)
    ys, more_ys, stacked = _stacked_tangents(loop, body, roots, results)
    longer = replace(
        loop,
        carry=(*loop.carry, *dots.values()),
        xs=(*loop.xs, *(row for row, _ in rows)),
        captured=(*loop.captured, *(dot for dot, _ in values)),
        next_carry=(*roots[:n], *(body.lift(results[k].get(d, 0.0)) for k, d in dots)),
        ys=(*ys, *more_ys),
        condition=None if loop.condition is None else roots[-1],
    )
    more_start = [graph.lift(t_start[k].get(d, 0.0)) for k, d in dots]
    pieces = (*start, *more_start, *captured, *(graph.lift(t) for _, t in values), *buffers, *(b for _, b in rows))
    extra = graph.node("loop", pieces, longer)
    for kind, count, found in (("carry", n, list(dots)), ("stacked", len(loop.ys), stacked)):
        for k in range(count):
            result = graph.node(kind, (node,), k)
            new[result.id] = graph.node(kind, (extra,), k)
            t = {d: graph.node(kind, (extra,), count + j) for j, (i, d) in enumerate(found) if i == k}
            if t:
                tangents[result.id] = t  # type: ignore[assignment]


def _tangent_inputs(loop: Loop, body: Graph, mark: str, t_captured: list[Tangent], t_buffers: list[Tangent]):
    """Make new inputs of the body for the tangents of captured values and of rows.

    Returns the seeds of the body, (inputs, buffer) of each row of tangents, and (input, value) of each captured
    tangent.
    """
    seeds: dict[Expr, Tangent] = {}
    values: list[tuple[Expr, Expr | float]] = []
    for inner, tangent in zip(loop.captured, t_captured, strict=True):
        for d, t in tangent.items():
            dot = body.input(f"{mark}.captured", len(values))
            seeds.setdefault(inner, {})[d] = dot
            values.append((dot, t))
    rows: list[tuple[tuple[Expr, ...], Any]] = []
    for row, tangent in zip(loop.xs, t_buffers, strict=True):
        for d, buffer in tangent.items():
            dots = tuple(body.input(f"{mark}.row{len(rows)}", k) for k in range(len(row)))
            rows.append((dots, buffer))
            for x, dot in zip(row, dots, strict=True):
                seeds.setdefault(x, {})[d] = dot
    return seeds, rows, values


def _active_carry(loop: Loop, body: Graph, mark: str, t_start: list[Tangent], seeds: dict[Expr, Tangent]):
    """Make new inputs for the carries that have tangents; returns these, the body's results, and their tangents.

    A carry is active in a direction if it has a tangent at the start or gets one in an iteration: the set of active
    ones grows until it stays the same.
    """
    active = {(k, d) for k, t in enumerate(t_start) for d in t}
    while True:
        dots = {kd: body.input(f"{mark}.carry", j) for j, kd in enumerate(sorted(active))}
        all_seeds = {x: dict(t) for x, t in seeds.items()}
        for (k, d), dot in dots.items():
            all_seeds.setdefault(loop.carry[k], {})[d] = dot
        roots, results = pushforward(body, loop.roots, all_seeds)
        grown = active | {(k, d) for k in range(len(loop.carry)) for d in results[k]}
        if grown == active:
            return dots, roots, results
        active = grown


def _stacked_tangents(loop: Loop, body: Graph, roots: list[Expr], results: list[Tangent]):
    """Return what the loop stacks, the tangents that it stacks besides, and which tangents these are.

    The latter are pairs (number of the stack, direction).
    """
    ys, more, stacked, at = [], [], [], len(loop.carry)
    for k, y in enumerate(loop.ys):
        here = slice(at, at + len(y))
        ys.append(tuple(roots[here]))
        for d in sorted({d for t in results[here] for d in t}):
            more.append(tuple(body.lift(t.get(d, 0.0)) for t in results[here]))
            stacked.append((k, d))
        at += len(y)
    return ys, more, stacked


def pullback(graph: Graph, roots: Sequence[Expr], cotangents: Sequence, wrt: Sequence[Expr]) -> list:
    """Return the sum over the roots of cotangent * d(root)/d(x), for each x in `wrt`."""
    return _Reverse(graph, roots, wrt).run(cotangents)


def value_and_gradient(graph: Graph, root: Expr, wrt: Sequence[Expr]) -> tuple[Expr, list]:
    """Return the root and d(root)/d(x) for each x in `wrt`; loops run once for both."""
    sweep = _Reverse(graph, [root], wrt)
    found = sweep.run([1.0])
    return sweep.renewed([root])[0], found


class _Reverse:
    """One reverse sweep.

    Cotangents of numbers are kept by node; those of arrays are kept by element, or as whole buffers.
    """

    def __init__(self, graph: Graph, roots: Sequence[Expr], wrt: Sequence[Expr]):
        self.graph, self.roots, self.wrt, self.nodes = graph, roots, wrt, reachable(roots)
        self.chosen = {x.id for x in wrt}
        self.active = set(self.chosen)
        for x in self.nodes:
            if any(a.id in self.active for a in x.args):
                self.active.add(x.id)
        self.bar: dict[int, Expr | float] = {}
        self.elements: dict[int, dict[int, Any]] = {}
        self.buffers: dict[int, list[Expr]] = {}
        # Results of loops -> the same results of the loops that replace them, which also stack every carry.
        self.moved: dict[int, Expr] = {}

    def run(self, cotangents: Sequence) -> list:
        """Return the cotangents of the nodes `wrt`."""
        for r, t in zip(self.roots, cotangents, strict=True):
            self._add(r, t)
        for x in reversed(self.nodes):
            if x.id not in self.chosen and x.id in self.active:
                self._visit(x)
        return self.renewed([self.bar.get(x.id, 0.0) for x in self.wrt])

    def renewed(self, found: list) -> list:
        """The same numbers and nodes, computed from the loops that replace others."""
        nodes = [t for t in found if isinstance(t, Expr)]
        renewed = iter(substitute(nodes, self.moved) if self.moved else nodes)
        return [next(renewed) if isinstance(t, Expr) else t for t in found]

    def _add(self, x: Expr, t) -> None:
        """Add to the cotangent of a node."""
        if x.id in self.active:
            self.bar[x.id] = apply("add", self.bar[x.id], t) if x.id in self.bar else t

    def _visit(self, x: Expr) -> None:
        """Pass the cotangent of a node on to its arguments."""
        t = self.bar.get(x.id)
        if x.op == "loop":
            self._loop(x)
        elif x.op == "row" and x.args[0].id in self.active and x.id in self.elements:
            raise DerivativeError("reverse derivatives by a table that row_at looks up are not provided; use jvp")
        elif x.op == "array":
            for k, a in enumerate(x.args):
                self._add(a, self._element(x, k))
        elif t is None or x.op not in (*OPS, "item"):
            return
        elif x.op == "item":
            known = self.elements.setdefault(x.args[0].id, {})
            known[x.value] = apply("add", known[x.value], t) if x.value in known else t
        elif x.op == "select":
            c, a, b = x.args
            self._add(a, apply("select", c, t, 0.0))
            self._add(b, apply("select", c, 0.0, t))
        else:
            for a, p in zip(x.args, _partials(x), strict=True):
                if p is not None:
                    self._add(a, _guarded_product(p, t))

    # --- loops: the steps are pulled back from the last to the first, each at the carry it started from ----

    def _element(self, buffer: Expr, k: int):
        """The cotangent of element k of an array."""
        total = self.elements.get(buffer.id, {}).get(k, 0.0)
        for b in self.buffers.get(buffer.id, []):
            total = apply("add", total, self.graph.node("item", (b,), k))
        return total

    def _rows(self, stacked: Expr, loop: Loop, size: int) -> Expr | None:
        """The cotangents of what a loop stacked, as a buffer; None if there are none."""
        whole = self.buffers.get(stacked.id, [])
        if stacked.id not in self.elements and len(whole) < 2:
            return whole[0] if whole else None
        if loop.length is None:
            raise DerivativeError(
                "reverse derivatives of a sequence that is scanned over twice are not provided; use jvp"
            )
        return self.graph.node(
            "array", tuple(self.graph.lift(self._element(stacked, k)) for k in range(loop.length * size))
        )

    def _loop(self, x: Expr) -> None:
        """Pass the cotangents of a loop's results on, by a second loop that runs backward.

        The first loop is replaced by one that also stacks the carry that every iteration starts from.
        """
        graph, loop, n, m = self.graph, x.value, len(x.value.carry), len(x.value.captured)
        results = [graph.node("carry", (x,), k) for k in range(n)]
        stacked = [graph.node("stacked", (x,), k) for k in range(len(loop.ys))]
        rows = {k: r for k, y in enumerate(loop.ys) if (r := self._rows(stacked[k], loop, len(y))) is not None}
        if not rows and not any(c.id in self.bar for c in results):
            return
        if loop.condition is not None:
            raise DerivativeError("reverse derivatives through while_loop are not provided; use jvp, or jacobian")
        values = [j for j, a in enumerate(x.args[n : n + m]) if a.id in self.active and not a.mask]
        if any(x.args[n + j].op in ("array", "stacked", "sequence") for j in values):
            raise DerivativeError(
                "reverse derivatives through a loop that scans an outer array are not provided; use jvp"
            )
        leaves = [k for k, a in enumerate(x.args[n + m :]) if a.id in self.active]

        backward = _backward_loop(loop, list(rows), values, leaves)
        forward = graph.node("loop", x.args, replace(loop, ys=(*loop.ys, loop.carry)))
        self.moved |= {c.id: graph.node("carry", (forward,), k) for k, c in enumerate(results)}
        self.moved |= {s.id: graph.node("stacked", (forward,), k) for k, s in enumerate(stacked)}
        start = [graph.lift(self.bar.get(c.id, 0.0)) for c in results] + [graph.constant(0.0)] * len(values)
        kept = graph.node("stacked", (forward,), len(loop.ys))
        node = graph.node("loop", (*start, *x.args[n : n + m], kept, *x.args[n + m :], *rows.values()), backward)
        for k, a in enumerate((*x.args[:n], *(x.args[n + j] for j in values))):
            self._add(a, graph.node("carry", (node,), k))
        for j, k in enumerate(leaves):
            self.buffers.setdefault(x.args[n + m + k].id, []).append(graph.node("stacked", (node,), j))


def _backward_loop(loop: Loop, rows: list[int], values: list[int], leaves: list[int]) -> Loop:
    """The loop that pulls cotangents back through the iterations of `loop`.

    It carries the cotangents of the carry, and sums of the cotangents of the captured values number `values`. It reads
    the carries that iterations started from, the rows that `loop` reads, and the cotangents of its stacks number
    `rows`. It stacks the cotangents of the rows of the buffers number `leaves`.
    """
    body = loop.roots[0].graph
    mark = f"cotangent{len(body.nodes)}"
    carry = [body.input(f"{mark}.carry", k) for k in range(len(loop.carry))]
    sums = [body.input(f"{mark}.sum", j) for j in values]
    dots = {k: tuple(body.input(f"{mark}.row{k}", j) for j in range(len(loop.ys[k]))) for k in rows}
    step = pullback(
        body,
        [*loop.next_carry, *(e for k in rows for e in loop.ys[k])],
        [*carry, *(e for row in dots.values() for e in row)],
        [*loop.carry, *(loop.captured[j] for j in values), *(e for k in leaves for e in loop.xs[k])],
    )
    found = iter(step)
    next_carry = [body.lift(next(found)) for _ in carry]
    next_sums = [body.lift(apply("add", s, next(found))) for s in sums]
    more = tuple(tuple(body.lift(next(found)) for _ in loop.xs[k]) for k in leaves)
    return Loop(
        (*carry, *sums), (loop.carry, *loop.xs, *dots.values()), loop.captured, (*next_carry, *next_sums), more,
        loop.length, not loop.reverse,
    )  # fmt: skip


def _guarded_product(p, t):
    """p * t. Where t is 0 in a branch that was not taken, an infinite p there must not make it NaN."""
    if isinstance(t, Expr) and t.op == "select":
        c, a, b = t.args
        if b.number() == 0.0:
            return apply("select", c, _guarded_product(p, a), 0.0)
        if a.number() == 0.0:
            return apply("select", c, 0.0, _guarded_product(p, b))
    return apply("mul", p, t)


def jacobian(graph: Graph, roots: Sequence[Expr], wrt: Sequence[Expr]) -> list[list]:
    """Return d(root)/d(x) for every root and x, forward or in reverse, whichever visits fewer nodes.

    Where reverse derivatives are not provided, as through while loops, they are taken forward.
    """
    nodes = reachable(roots)
    has_loops = any(x.op == "loop" for x in nodes)
    if not (2 * len(roots) >= len(wrt) if has_loops else _forward_is_cheaper(nodes, roots, wrt)):
        with contextlib.suppress(DerivativeError):
            return [pullback(graph, [r], [1.0], wrt) for r in roots]
    _, tangents = pushforward(graph, roots, {x: {k: 1.0} for k, x in enumerate(wrt)})
    return [[t.get(k, 0.0) for k in range(len(wrt))] for t in tangents]


def only_forward(loop: Loop) -> bool:
    """Return whether reverse derivatives through this loop may not be provided.

    This holds for a while loop, and for one that has such loops, or tables that are looked up, inside.
    """
    inside = reachable(loop.roots)
    return loop.condition is not None or any(
        x.op == "row" or (x.op == "loop" and only_forward(x.value)) for x in inside
    )


def _forward_is_cheaper(nodes: list[Expr], roots: Sequence[Expr], wrt: Sequence[Expr]) -> bool:
    """Compare the number of (node, direction) pairs that each sweep visits.

    A reverse visit costs about 1.5 times as much.
    """
    inputs: dict[int, int] = {x.id: 1 << k for k, x in enumerate(wrt)}  # node -> the inputs that it depends on, as bits
    for x in nodes:
        for a in x.args:
            inputs[x.id] = inputs.get(x.id, 0) | inputs.get(a.id, 0)
    outputs: dict[int, int] = {}  # node -> the roots that depend on it, as bits
    for k, r in enumerate(roots):
        outputs[r.id] = outputs.get(r.id, 0) | 1 << k
    for x in reversed(nodes):
        for a in x.args:
            outputs[a.id] = outputs.get(a.id, 0) | outputs.get(x.id, 0)
    forward = sum(inputs.get(x.id, 0).bit_count() for x in nodes)
    reverse = sum(outputs.get(x.id, 0).bit_count() for x in nodes if inputs.get(x.id, 0))
    return forward <= 1.5 * reverse
