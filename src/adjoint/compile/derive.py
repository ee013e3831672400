"""Derivatives of graphs: forward (`pushforward`) and reverse (`pullback`), node by node from the table of operations.

Structural zeros are never multiplied out, so the sparsity of a Jacobian is found by computing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import DerivativeError
from .graph import Expr, Graph, apply, reachable
from .loops import Loop
from .ops import OPS

__all__ = ["jacobian", "pullback", "pushforward"]

Tangent = dict[int, "Expr | float"]  # direction -> derivative; directions that are missing are zero


def _partials(x: Expr):
    op = OPS[x.op]
    if op.mask or op.partials is None:
        return (None,) * len(x.args)
    return op.partials(apply, *x.args, x)


def pushforward(graph: Graph, roots: Sequence[Expr], seeds: dict[Expr, Tangent]) -> tuple[list[Expr], list[Tangent]]:
    """Derivatives of the roots along several directions at once.

    `seeds` gives the tangents of chosen nodes. Returns the roots themselves (read from the differentiated loops where
    there are any, so that no loop runs twice) and their tangents.
    """
    new: dict[int, Expr] = {}  # every node as it is after loops were differentiated
    tangents: dict[int, Tangent] = {x.id: t for x, t in seeds.items()}  # by the node as it was
    for x in reachable(roots):
        if x.id in new:  # a result of a loop that was differentiated
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
    return _chain_rule(x, below) if x.op in OPS else {}


def _chain_rule(x: Expr, below: list[Tangent]) -> Tangent:
    if x.op == "select":  # choose between tangents: a NaN of the branch not taken must not come through
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
    """Extend a loop by the tangents of its carry, its rows and its results; record them for the nodes that read it."""
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
    """New inputs of the body for tangents of captured values and rows: seeds; rows and buffers; inputs and values."""
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
    """New inputs for the carries that have tangents, the body's results, and their tangents.

    A carry is active in a direction if it starts so or becomes so: the set grows until it stays.
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
    """What the loop stacks, the tangents it stacks beside, and (which one, direction) of each of those."""
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
    """Sum over the roots of cotangent * d(root)/d(x), for each x in `wrt`."""
    nodes = reachable(roots)
    chosen = {x.id for x in wrt}
    active = set(chosen)
    for x in nodes:
        if any(a.id in active for a in x.args):
            active.add(x.id)
    bar: dict[int, Expr | float] = {}

    def add(x: Expr, t) -> None:
        if x.id in active:
            bar[x.id] = apply("add", bar[x.id], t) if x.id in bar else t

    for r, t in zip(roots, cotangents, strict=True):
        add(r, t)
    for x in reversed(nodes):
        t = bar.get(x.id)
        if t is None or x.id in chosen or not x.args:
            continue
        if x.op not in OPS:
            raise DerivativeError(
                "reverse derivatives through scan and while_loop are not provided; "
                "use jvp, or jacobian (which works forward through loops)"
            )
        if x.op == "select":
            c, a, b = x.args
            add(a, apply("select", c, t, 0.0))
            add(b, apply("select", c, 0.0, t))
            continue
        for a, p in zip(x.args, _partials(x), strict=True):
            if p is not None:
                add(a, _guarded_product(p, t))
    return [bar.get(x.id, 0.0) for x in wrt]


def _guarded_product(p, t):
    """p * t, where an infinite p in a branch that was not taken (t = 0 there) must not make NaN of it."""
    if isinstance(t, Expr) and t.op == "select":
        c, a, b = t.args
        if b.number() == 0.0:
            return apply("select", c, _guarded_product(p, a), 0.0)
        if a.number() == 0.0:
            return apply("select", c, 0.0, _guarded_product(p, b))
    return apply("mul", p, t)


def jacobian(graph: Graph, roots: Sequence[Expr], wrt: Sequence[Expr]) -> list[list]:
    """d(root)/d(x) for every root and x, forward or in reverse, whichever touches fewer nodes."""
    nodes = reachable(roots)
    if any(x.op == "loop" for x in nodes) or _forward_is_cheaper(nodes, roots, wrt):
        _, tangents = pushforward(graph, roots, {x: {k: 1.0} for k, x in enumerate(wrt)})
        return [[t.get(k, 0.0) for k in range(len(wrt))] for t in tangents]
    return [pullback(graph, [r], [1.0], wrt) for r in roots]


def _forward_is_cheaper(nodes: list[Expr], roots: Sequence[Expr], wrt: Sequence[Expr]) -> bool:
    """Compare the number of (node, direction) pairs that each sweep visits; a reverse visit costs about twice."""
    inputs: dict[int, int] = {x.id: 1 << k for k, x in enumerate(wrt)}  # which inputs a node depends on, as bits
    for x in nodes:
        for a in x.args:
            inputs[x.id] = inputs.get(x.id, 0) | inputs.get(a.id, 0)
    outputs: dict[int, int] = {}  # which roots depend on a node
    for k, r in enumerate(roots):
        outputs[r.id] = outputs.get(r.id, 0) | 1 << k
    for x in reversed(nodes):
        for a in x.args:
            outputs[a.id] = outputs.get(a.id, 0) | outputs.get(x.id, 0)
    forward = sum(inputs.get(x.id, 0).bit_count() for x in nodes)
    reverse = sum(outputs.get(x.id, 0).bit_count() for x in nodes if inputs.get(x.id, 0))
    return forward <= 1.5 * reverse
