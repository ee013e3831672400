"""The order in which the nodes of a graph are computed, and which of them become one instruction or call together."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from ..graph.expressions import Expr, reachable

__all__ = ["fused_products", "schedule", "sin_cos_pairs"]

# Operations whose values are in memory (or constants) and are read where they are used.
_FREE = {"const", "bool", "input", "sequence"}
_READ = _FREE | {"item"}  # elements of arrays are read like that too, but only after the array was filled
# If more values than this wait in registers, the next node is chosen so that it frees one; temporaries need the rest.
_REGISTERS = 24


def schedule(roots: Sequence[Expr]) -> list[Expr]:
    """Return an order of evaluation in which few values wait in registers: Goodman and Hsu's rule (1988).

    As long as registers suffice, nodes keep the order in which the algorithm made them: it has short live ranges and
    parallel chains. When registers run short, nodes that use some value for the last time come first.
    """
    nodes = [x for x in reachable(roots) if x.op not in _READ]
    graph_nodes, alive = roots[0].graph.nodes if roots else [], 0
    needs, users = _dependencies(nodes, len(graph_nodes))
    waiting = [len(n) for n in needs]  # how many arguments of each node are not computed yet
    left = [len(u) for u in users]  # how many uses of each node are still to come
    ready = [x.id for x in nodes if not waiting[x.id]]
    last_uses: list[int] = []  # ready nodes whose computation frees a register
    order: list[Expr] = []
    placed = bytearray(len(graph_nodes))
    while ready or last_uses:
        heap = last_uses if last_uses and (alive > _REGISTERS or not ready) else ready
        i = heapq.heappop(heap)
        if placed[i]:
            continue
        x = graph_nodes[i]
        placed[i] = 1
        for a in x.args:
            if a.op in _READ and not placed[a.id]:
                placed[a.id] = 1
                order.append(a)
        order.append(x)
        if users[i]:
            alive += 1
        for a in needs[i]:
            left[a] -= 1
            if left[a] == 0:
                alive -= 1
            elif left[a] == 1:  # only one use is left: that node, if it is ready, frees a register
                for u in users[a]:
                    if not waiting[u] and not placed[u]:
                        heapq.heappush(last_uses, u)
        for u in users[i]:
            waiting[u] -= 1
            if not waiting[u]:
                heapq.heappush(ready, u)
                for a in needs[u]:
                    if left[a] == 1:
                        heapq.heappush(last_uses, u)
                        break
    for r in roots:
        if not placed[r.id]:
            placed[r.id] = 1
            order.append(r)
    return order


def _dependencies(nodes: list[Expr], count: int) -> tuple[list[list[int]], list[list[int]]]:
    """For each node of a graph with so many, the ids of computed nodes that it needs, and of those that use it."""
    needs: list[list[int]] = [[]] * count
    users: list[list[int]] = [[]] * count
    for x in nodes:
        users[x.id] = []
        needs[x.id] = ids = [a.args[0].id if a.op == "item" else a.id for a in x.args if a.op not in _FREE]
        if len(ids) > 1:
            needs[x.id] = ids = list(dict.fromkeys(ids))
        for a in ids:
            users[a].append(x.id)
    return needs, users


def fused_products(order: list[Expr], roots: list[Expr]) -> dict[int, int]:
    """Return {sum or difference: product} for products that nobody else uses: both become one fused multiply-add."""
    uses = Counter([a.id for x in order for a in x.args])
    uses.update([r.id for r in roots])
    fused = {}
    for x in order:
        if x.op in ("add", "sub"):
            for a in reversed(x.args):
                if a.op == "mul" and uses[a.id] == 1:
                    fused[x.id] = a.id
                    break
    return fused


def sin_cos_pairs(order: list[Expr]) -> dict[int, list]:
    """Return the arguments of which both sine and cosine are needed: one range reduction serves both.

    The lists are empty; the emitter puts the two values into them.
    """
    sines = {x.args[0].id for x in order if x.op == "sin"}
    return {x.args[0].id: [] for x in order if x.op == "cos" and x.args[0].id in sines}
