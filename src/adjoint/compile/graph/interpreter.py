"""Graphs evaluated node by node: on numbers (the reference for compiled code) or on nodes of another graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .expressions import Expr, Graph, apply, reachable
from .loops import Loop
from .operations import OPS

__all__ = ["Inputs", "evaluate", "inline"]


class Inputs(NamedTuple):
    """What a graph is evaluated on.

    `values` has a value for every input (name, index), `sequences` the rows of every sequence by name, and `length`
    their number. `apply(op, *arguments)` is the arithmetic, and `number` makes its numbers from constants.
    """

    values: dict
    sequences: Mapping[str, np.ndarray] = MappingProxyType({})
    length: int = 0
    apply: Callable = apply
    number: Callable = float
    # choose(condition, a, b) is set if conditions are symbolic: a while loop is then unrolled to its full length
    choose: Callable | None = None


def evaluate(roots: Sequence[Expr], inputs: Inputs) -> list:
    """Return the values of the roots."""
    return _run(roots, {}, inputs)


def _run(roots: Sequence[Expr], env: dict, inputs: Inputs) -> list:
    for x in reachable(roots):
        if x.id in env:
            continue
        if x.op == "const":
            env[x.id] = inputs.number(x.number())
        elif x.op == "bool":
            env[x.id] = x.value
        elif x.op == "input":
            env[x.id] = inputs.values[x.value]
        elif x.op == "sequence":
            env[x.id] = inputs.sequences[x.value]
        elif x.op == "array":
            env[x.id] = np.array([env[a.id] for a in x.args], dtype=object)
        elif x.op == "item":
            env[x.id] = np.ravel(env[x.args[0].id])[x.value]
        elif x.op == "row":
            env[x.id] = _row(x, env, inputs)
        elif x.op == "loop":
            env[x.id] = _loop(x, env, inputs)
        elif x.op in ("carry", "stacked"):
            env[x.id] = env[x.args[0].id][x.op == "stacked"][x.value]
        else:
            env[x.id] = inputs.apply(x.op, *(env[a.id] for a in x.args))
    return [env[r.id] for r in roots]


def _row(x: Expr, env: dict, inputs: Inputs) -> np.ndarray:
    (size, _), index = x.value, env[x.args[1].id]
    rows = np.reshape(env[x.args[0].id], (-1, size))
    if inputs.choose is None:
        return rows[int(min(max(index, 0), len(rows) - 1)) if index == index else 0] if len(rows) else np.zeros(size)
    found = rows[0]  # a symbolic index: the last row that does not begin after it
    for k in range(1, len(rows)):
        after = inputs.apply("le", inputs.number(float(k)), index)
        found = np.array([inputs.choose(after, new, old) for new, old in zip(rows[k], found, strict=True)], object)
    return found


def _loop(x: Expr, env: dict, inputs: Inputs) -> tuple[list, list]:
    loop: Loop = x.value
    n, m = len(loop.carry), len(loop.captured)
    carry = [env[a.id] for a in x.args[:n]]
    captured = {inner.id: env[a.id] for inner, a in zip(loop.captured, x.args[n : n + m], strict=True)}
    count = inputs.length if loop.length is None else loop.length
    buffers = [np.reshape(env[a.id], (count, len(row))) for a, row in zip(x.args[n + m :], loop.xs, strict=True)]
    stacked = [np.zeros((count, len(y)), dtype=object) for y in loop.ys]
    for i in reversed(range(count)) if loop.reverse else range(count):
        known = {**captured, **{e.id: v for e, v in zip(loop.carry, carry, strict=True)}}
        for row, buffer in zip(loop.xs, buffers, strict=True):
            known.update({e.id: v for e, v in zip(row, buffer[i], strict=True)})
        if loop.condition is not None:
            go_on = _run([loop.condition], known, inputs)[0]
            if inputs.choose is None and not go_on:
                break
        values, old = _run(loop.roots, known, inputs), carry
        carry, at = values[:n], n
        if loop.condition is not None and inputs.choose is not None:
            carry = [inputs.choose(go_on, new, before) for new, before in zip(carry, old, strict=True)]
        for y, buffer in zip(loop.ys, stacked, strict=True):
            buffer[i] = values[at : at + len(y)]
            at += len(y)
    return carry, stacked


def inline(graph: Graph, roots: Sequence[Expr], inputs: dict, sequences: dict[str, Expr] | None = None) -> list:
    """Return the roots rebuilt in another graph, with their inputs replaced by nodes or numbers."""
    env: dict[int, Expr | float | bool] = {}
    for x in reachable(roots):
        if x.op == "const":
            env[x.id] = x.number()  # type: ignore[assignment]
        elif x.op == "bool":
            env[x.id] = x.value
        elif x.op == "input":
            env[x.id] = inputs[x.value]
        elif x.op == "sequence":
            env[x.id] = (sequences or {})[x.value]
        elif x.op in OPS:
            env[x.id] = apply(x.op, *(env[a.id] for a in x.args))
        else:  # A loop, a row, or what reads one. The body of a loop has inputs of its own, so it serves in any graph.
            env[x.id] = graph.node(x.op, tuple(graph.lift(env[a.id]) for a in x.args), x.value)
    return [env[r.id] for r in roots]
