"""Kernels whose programs are made from those of another kernel: derivatives, packed results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..front.function import Function, Origin
from ..front.parameters import Parameter
from ..front.specialisation import Specialisation
from ..graph import current, interpreter, loops, tracing
from ..graph.program import Operand, Program

__all__ = ["Built", "DerivedSpecialisation", "derived"]

Built = tuple[Program, "type | None"]


class DerivedSpecialisation(Specialisation):
    """A specialisation whose program is made from that of another one, `parent`, by the function `build`.

    `what` says how: the name of the method of `Kernel`, and its arguments.
    """

    def __init__(
        self, parent: Specialisation, what: tuple, inputs: tuple[Operand, ...], build: Callable[[Specialisation], Built]
    ):
        super().__init__(f"{parent.name}.{what[0]}", inputs)
        self.parent, self._what, self._build = parent, what, build

    def named(self) -> tuple | None:
        found = self.parent.identity()
        return None if found is None else (*found, self._what)

    def trace(self) -> Built:
        return self._build(self.parent)

    def static_values(self) -> list:
        return self.parent.static_values()

    def run_in_python(self, values: list):
        program, made = self.traced
        flat, rows, length = {}, {}, 0
        for o, x in zip(self.inputs, values, strict=True):
            if isinstance(x, loops.Sequence):
                rows[o.name] = x.node
            elif o.sequence:
                rows[o.name], length = np.asarray(x), len(x)
            else:
                _, elements = tracing.flatten(x, f"argument '{o.name}'")
                flat |= {(o.name, k): e for k, e in enumerate(elements)}
        graph = current.current_graph()
        if graph is not None:
            found = iter(interpreter.inline(graph, program.roots, flat, rows))
        else:
            numbers = {k: float(e) for k, e in flat.items()}
            found = iter(interpreter.evaluate(program.roots, interpreter.Inputs(numbers, rows, length)))
        results = [_result(o, found, graph is None, length) for o in program.outputs]
        return results[0] if made is None else made(*results)


def _result(o: Operand, found, numeric: bool, length: int):
    """The next result among the values `found`: an array of numbers, a traced array, or a sequence."""
    if o.sequence:
        node = next(found)
        return np.reshape(node, (length, *o.shape)).astype(float) if numeric else loops.Sequence(node, o.shape)
    elements = [next(found) for _ in range(o.size)]
    return np.array(elements, dtype=float).reshape(o.shape)[()] if numeric else tracing.traced_array(elements, o.shape)


def derived(
    parent: Function,
    what: tuple,
    parameters: list[Parameter],
    inputs: Callable[[Specialisation], tuple[Operand, ...]],
    build: Callable[[Specialisation], Built],
    doc: str,
    left_out: Mapping[str, Any] = {},
) -> Function:
    """Return a kernel that is made from `parent`, with the same static arguments.

    `what` is the name of the method of `Kernel` and its arguments. `inputs(specialisation)` and `build(specialisation)`
    give the inputs and the program. Parameters in `left_out` have the values there, and cannot be given.
    """

    def make(statics: dict, present: list[str]) -> Specialisation:
        own = {p.name for p in parent.parameters}
        # The tangent of an input that is left out is left out too, and `parent` does not know it.
        statics = {name: value for name, value in statics.items() if name in own}
        specialisation = parent.specialisation(statics, [name for name in present if name in own])
        return DerivedSpecialisation(specialisation, what, inputs(specialisation), build)

    statics = {**left_out, **parent.statics}
    made = parent.new(f"{parent.__name__}.{what[0]}", parameters, make, doc, statics)
    made.origin, made.unrolled = Origin(parent, what[0], what[1:]), parent.unrolled
    return made
