"""Derivatives of graphs: forward (`pushforward`) and reverse (`pullback`), node by node from the table of operations.

Structural zeros are never multiplied out, so the sparsity of a Jacobian is found by computing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import DerivativeError
from .graph import Expr, Graph, apply, reachable, substitute
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
    moved: dict[int, Expr] = {}  # results of differentiated loops, in place of those of the loops they extend
    tangents: dict[int, Tangent] = {x.id: t for x, t in seeds.items()}
    for x in reachable(roots):
        if x.id in tangents:
            continue
        if x.op in OPS:
            t = _chain_rule(x, tangents)
        elif x.op == "loop":
            _differentiate_loop(graph, x, tangents, moved)
            continue
        elif x.op == "array":
            t = _array_tangent(graph, x, tangents)
        elif x.op == "item":
            source = tangents.get(x.args[0].id, {})
            t = {d: graph.node("item", (b,), x.value) for d, b in source.items()}  # type: ignore[misc]
        else:
            continue
        if t:
            tangents[x.id] = t
    result = [tangents.get(r.id, {}) for r in roots]
    if not moved:
        return list(roots), result
    flat = [e for t in result for e in t.values() if isinstance(e, Expr)]
    renewed = substitute([*roots, *flat], moved)
    table = dict(zip([e.id for e in flat], renewed[len(roots) :], strict=True))
    return renewed[: len(roots)], [{d: table[e.id] if isinstance(e, Expr) else e for d, e in t.items()} for t in result]


def _chain_rule(x: Expr, tangents: dict[int, Tangent]) -> Tangent:
    if not any(a.id in tangents for a in x.args):
        return {}
    if x.op == "select":  # choose between tangents: a NaN of the branch not taken must not come through
        c, a, b = x.args
        ta, tb = tangents.get(a.id, {}), tangents.get(b.id, {})
        return {d: apply("select", c, ta.get(d, 0.0), tb.get(d, 0.0)) for d in {**ta, **tb}}
    result: Tangent = {}
    for a, p in zip(x.args, _partials(x), strict=True):
        if p is not None:
            for d, t in tangents.get(a.id, {}).items():
                term = apply("mul", p, t)
                result[d] = apply("add", result[d], term) if d in result else term
    return {d: t for d, t in result.items() if isinstance(t, Expr) or t != 0.0}


def _array_tangent(graph: Graph, x: Expr, tangents: dict[int, Tangent]) -> Tangent:
    directions = {d for a in x.args for d in tangents.get(a.id, {})}
    return {
        d: graph.node("array", tuple(graph.lift(tangents.get(a.id, {}).get(d, 0.0)) for a in x.args))
        for d in directions
    }


def _differentiate_loop(graph: Graph, node: Expr, tangents: dict[int, Tangent], moved: dict[int, Expr]) -> None:
    """Extend a loop by the tangents of its carry, its rows and its results; record them for the nodes that read it."""
    loop: Loop = node.value
    body = loop.next_carry[0].graph if loop.next_carry else loop.roots[0].graph
    n, m = len(loop.carry), len(loop.captured)
    start, captured, buffers = node.args[:n], node.args[n : n + m], node.args[n + m :]
    if not any(a.id in tangents for a in node.args):
        return
    fresh = f"tangent{len(body.nodes)}"

    # Tangents of captured values and rows are new inputs of the body.
    seeds: dict[Expr, Tangent] = {}
    more_captured: list[tuple[Expr, Expr]] = []
    for inner, outer in zip(loop.captured, captured, strict=True):
        for d, t in tangents.get(outer.id, {}).items():
            dot = body.input(f"{fresh}.captured", len(more_captured))
            seeds.setdefault(inner, {})[d] = dot
            more_captured.append((dot, graph.lift(t)))
    more_rows: list[tuple[tuple[Expr, ...], Expr]] = []
    for row, buffer in zip(loop.xs, buffers, strict=True):
        for d, b in tangents.get(buffer.id, {}).items():
            dots = tuple(body.input(f"{fresh}.row{len(more_rows)}", k) for k in range(len(row)))
            more_rows.append((dots, b))  # type: ignore[arg-type]
            for x, dot in zip(row, dots, strict=True):
                seeds.setdefault(x, {})[d] = dot

    # A carry is active in a direction if it starts so or becomes so: grow the set until it stays.
    active = {(k, d) for k, a in enumerate(start) for d in tangents.get(a.id, {})}
    while True:
        carried = sorted(active)
        dots = {kd: body.input(f"{fresh}.carry", j) for j, kd in enumerate(carried)}
        seeds_now = {x: dict(t) for x, t in seeds.items()}
        for (k, d), dot in dots.items():
            seeds_now.setdefault(loop.carry[k], {})[d] = dot
        roots, results = pushforward(body, loop.roots, seeds_now)
        grown = active | {(k, d) for k in range(n) for d in results[k]}
        if grown == active:
            break
        active = grown

    ys, y_tangents, at = [], [], n
    for y in loop.ys:
        ys.append(tuple(roots[at : at + len(y)]))
        y_tangents.append(results[at : at + len(y)])
        at += len(y)
    more_ys, stacked = [], []
    for k, ts in enumerate(y_tangents):
        for d in sorted({d for t in ts for d in t}):
            more_ys.append(tuple(body.lift(t.get(d, 0.0)) for t in ts))
            stacked.append((k, d))
    new = replace(
        loop,
        carry=(*loop.carry, *(dots[kd] for kd in carried)),
        xs=(*loop.xs, *(row for row, _ in more_rows)),
        captured=(*loop.captured, *(dot for dot, _ in more_captured)),
        next_carry=(*roots[:n], *(body.lift(results[k].get(d, 0.0)) for k, d in carried)),
        ys=(*ys, *more_ys),
        condition=None if loop.condition is None else roots[-1],
    )
    more_start = [graph.lift(tangents.get(start[k].id, {}).get(d, 0.0)) for k, d in carried]
    extra = graph.node(
        "loop",
        (*start, *more_start, *captured, *(t for _, t in more_captured), *buffers, *(b for _, b in more_rows)),
        new,
    )
    for k in range(n):
        result = graph.node("carry", (node,), k)
        moved[result.id] = graph.node("carry", (extra,), k)
        t = {d: graph.node("carry", (extra,), n + j) for j, (kk, d) in enumerate(carried) if kk == k}
        if t:
            tangents[result.id] = t  # type: ignore[assignment]
    for k in range(len(loop.ys)):
        result = graph.node("stacked", (node,), k)
        moved[result.id] = graph.node("stacked", (extra,), k)
        t = {d: graph.node("stacked", (extra,), len(loop.ys) + j) for j, (kk, d) in enumerate(stacked) if kk == k}
        if t:
            tangents[result.id] = t  # type: ignore[assignment]


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
                add(a, apply("mul", p, t))
    return [bar.get(x.id, 0.0) for x in wrt]


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
