"""In which order the nodes of a graph are computed, and which of them are one instruction or one call together."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from ..graph.expressions import Expr, reachable

__all__ = ["fused_products", "schedule", "sin_cos_pairs"]

_FREE = {"const", "bool", "input", "sequence"}  # kept in memory, read where they are used
_READ = _FREE | {"item"}  # so are elements of arrays, once the array is there
_REGISTERS = 24  # values alive from which the order cares for registers; a few are left for temporaries


def schedule(roots: Sequence[Expr]) -> list[Expr]:
    """An order of evaluation with few values alive: Goodman and Hsu's rule (1988).

    As long as registers suffice, nodes keep the order the algorithm made them in, which has short live ranges and
    parallel chains; when they do not, nodes that use a value for the last time come first.
    """
    nodes = [x for x in reachable(roots) if x.op not in _READ]
    graph_nodes, alive = roots[0].graph.nodes if roots else [], 0
    needs: list[list[int]] = [[]] * len(graph_nodes)
    users: list[list[int]] = [[]] * len(graph_nodes)
    for x in nodes:
        users[x.id] = []
        needs[x.id] = ids = [a.args[0].id if a.op == "item" else a.id for a in x.args if a.op not in _FREE]
        if len(ids) > 1:
            needs[x.id] = ids = list(dict.fromkeys(ids))
        for a in ids:
            users[a].append(x.id)
    waiting = [len(n) for n in needs]  # arguments still to come
    left = [len(u) for u in users]  # uses still to come
    ready = [x.id for x in nodes if not waiting[x.id]]
    last_uses: list[int] = []  # ready nodes that free a register
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
            elif left[a] == 1:  # its last use may come early now
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


def fused_products(order: list[Expr], roots: list[Expr]) -> dict[int, int]:
    """Sums and differences that swallow a product nobody else uses: sum -> product."""
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
    """Arguments of which both sine and cosine are needed: one reduction serves both."""
    sines = {x.args[0].id for x in order if x.op == "sin"}
    return {x.args[0].id: [] for x in order if x.op == "cos" and x.args[0].id in sines}
