"""Kernels and CasADi: a kernel as a `casadi.Function`, and kernels called with CasADi's symbols."""

from __future__ import annotations

from ...errors import AdjointError, ArgumentError
from ...extras import package
from ..graph import interpreter
from ..graph.operations import OPS
from ..graph.program import Operand
from .specialisation import Specialisation

__all__ = ["call_casadi", "symbolic"]


def symbolic(specialisation: Specialisation):
    """Return a casadi.Function with the kernel's inputs and outputs; loops of known length are unrolled."""
    casadi = package("casadi", "casadi", f"{specialisation.name}.symbolic")

    program = specialisation.program
    if any(o.sequence for o in program.inputs):
        raise AdjointError(
            f"{specialisation.name}.symbolic: CasADi has no sequences of unknown length; "
            "declare a length, or scan over an array"
        )
    inputs = [casadi.SX.sym(o.name, *_casadi_shape(o)) for o in program.inputs]
    values = {
        (o.name, k): x[_casadi_index(o, k)] for o, x in zip(program.inputs, inputs, strict=True) for k in range(o.size)
    }
    found = iter(
        interpreter.evaluate(
            program.roots,
            interpreter.Inputs(
                values,
                apply=lambda op, *a: OPS[op].casadi(casadi, *a),
                number=casadi.SX,
                choose=lambda c, a, b: casadi.if_else(c, a, b),
            ),
        )
    )
    outputs = []
    for o in program.outputs:
        x = casadi.SX(*_casadi_shape(o))
        for k in range(o.size):
            x[_casadi_index(o, k)] = next(found)
        outputs.append(x)
    names = [o.name for o in program.inputs], [o.name for o in program.outputs]
    return casadi.Function(specialisation.name.replace(".", "_").strip("_<>") or "kernel", inputs, outputs, *names)


def _casadi_shape(o: Operand) -> tuple[int, int]:
    """CasADi has matrices only: vectors are columns, and further axes are joined to the second."""
    return (1, 1) if not o.shape else (o.shape[0], o.size // o.shape[0] if o.shape[0] else 1)


def _casadi_index(o: Operand, k: int) -> tuple[int, int]:
    return divmod(k, _casadi_shape(o)[1])


def call_casadi(specialisation: Specialisation, values: list):
    """Call a kernel with CasADi matrices; the results are CasADi matrices."""
    for o, x in zip(specialisation.inputs, values, strict=True):
        shape = getattr(x, "shape", None)  # checked here, because CasADi would repeat a scalar
        if shape is not None and shape not in ((o.size, 1), (1, o.size), o.shape):
            raise ArgumentError(f"{specialisation.name}: argument '{o.name}' has shape {shape}; {o.shape} is needed")
    results = symbolic(specialisation).call(values)
    made = specialisation.traced[1]
    return results[0] if made is None else made(*results)
