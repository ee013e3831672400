"""Derivatives of kernels are kernels again, made from the graph of the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import ArgumentError, DerivativeError
from ..front.function import Function
from ..front.parameters import MISSING, Parameter
from ..front.specialisation import Specialisation, record_class
from ..graph import current, loops
from ..graph.expressions import Expr
from ..graph.program import Operand, Program
from . import autodiff
from .derived_kernels import Built, derived

__all__ = ["derivative_names", "free_name", "hessian", "jacobian", "jvp", "value_and_gradient", "vjp"]


def _before_options(parameters: list[Parameter], more: list[Parameter]) -> list[Parameter]:
    """Put further inputs after the inputs; static arguments with defaults follow, by keyword only."""
    options = [p for p in parameters if p.static and p.default is not MISSING]
    rest = [p for p in parameters if p not in options]
    return [*rest, *more, *(replace(p, keyword_only=True) for p in options)]


def free_name(name: str, taken) -> str:
    """Return the name, or one like it that is not taken."""
    while name in taken:
        name += "_"
    return name


def derivative_names(names, suffix: str) -> dict[str, str]:
    """Return {name: name of its derivative}: `x_dot` for x, or longer if that is taken already."""
    found: dict[str, str] = {}
    for name in names:
        found[name] = free_name(f"{name}{suffix}", {*names, *found.values()})
    return found


def _is_static(k: Function, name) -> bool:
    return isinstance(name, str) and any(p.static and p.name == name for p in k.parameters)


def _inputs(k: Function) -> list[Parameter]:
    """The inputs of a kernel that one can differentiate by."""
    return [p for p in k.parameters if not p.static and p.name not in k.statics and not p.hidden]


def _wanted(k: Function, names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Check the names of inputs to differentiate by; by default, these are all inputs."""
    inputs = [p.name for p in _inputs(k)]
    for name in names:
        if not isinstance(name, str) or name not in inputs:
            raise ArgumentError(
                f"{k.__name__}.{what} takes names of inputs: {', '.join(inputs)}; got {name!r:.60}"
                + (" (it is static; a float or array default makes an input)" if _is_static(k, name) else "")
            )
    return names or tuple(inputs)


def _elements(program: Program, name: str) -> tuple[list[Expr], Operand]:
    """The elements of an input as nodes, and the input itself."""
    o = next((o for o in program.inputs if o.name == name), None)
    if o is None:
        raise DerivativeError(f"input '{name}' is absent in this call, so there is nothing to differentiate by")
    if o.sequence:
        raise DerivativeError(f"derivatives by the sequence '{name}' are given by jvp only")
    return [program.graph.input(name, k) for k in range(o.size)], o


def _scalars_only(program: Program) -> None:
    """Raise an error if an output is a sequence."""
    for o in program.outputs:
        if o.sequence:
            raise DerivativeError(f"output '{o.name}' is a sequence; its derivatives are given by jvp only")


def _collect(program: Program, inputs, parts: dict[str, tuple[tuple[int, ...], list]], name: str) -> Built:
    """Make a program of named results, {name: (shape, elements)}; a single one is returned without a NamedTuple."""
    operands = tuple(Operand(k if len(parts) > 1 else "out", shape) for k, (shape, _) in parts.items())
    results = tuple(tuple(program.graph.lift(e) for e in elements) for _, elements in parts.values())
    made = record_class(name, tuple(parts)) if len(parts) > 1 else None
    return Program(tuple(inputs), operands, results, program.graph), made


def jacobian(k: Function, names: tuple[str, ...]) -> Function:
    """Make the kernel of first derivatives; see `Kernel.jacobian`."""
    names = _wanted(k, names, "jacobian")

    def build(specialisation: Specialisation) -> Built:
        program = specialisation.program.copy()
        _scalars_only(program)
        groups = [_elements(program, n) for n in names]
        table = autodiff.jacobian(program.graph, program.roots, [x for xs, _ in groups for x in xs])
        parts, row = {}, 0
        for o in program.outputs:
            column = 0
            for name, (xs, operand) in zip(names, groups, strict=True):
                block = [table[row + i][column + j] for i in range(o.size) for j in range(len(xs))]
                field = free_name(_field(o.name, name, len(program.outputs), len(names)), parts)
                parts[field] = ((*o.shape, *operand.shape), block)
                column += len(xs)
            row += o.size
        return _collect(program, specialisation.inputs, parts, "Jacobian")

    return derived(
        k,
        ("jacobian", *names),
        k.parameters,
        lambda v: v.inputs,
        build,
        f"Jacobian of {k.__name__} by {', '.join(names)}: shape of the output, then of the input.",
    )


def value_and_gradient(k: Function, names: tuple[str, ...]) -> Function:
    """Make the kernel of a number and its gradient; see `Kernel.value_and_gradient`."""
    names = _wanted(k, names, "value_and_gradient")

    def build(specialisation: Specialisation) -> Built:
        program = specialisation.program.copy()
        _scalars_only(program)
        if len(program.roots) != 1:
            shapes = ", ".join(f"{o.name} {o.shape}" for o in program.outputs)
            raise DerivativeError(
                f"{k.__name__}.value_and_gradient: a kernel of one number is needed; it gives {shapes}"
            )
        groups = [_elements(program, n) for n in names]
        wrt = [x for xs, _ in groups for x in xs]
        value, found = autodiff.value_and_gradient(program.graph, program.roots[0], wrt)
        left = iter(found)
        parts = {free_name("value", names): ((), [value])}
        parts |= {name: (o.shape, [next(left) for _ in xs]) for name, (xs, o) in zip(names, groups, strict=True)}
        return _collect(program, specialisation.inputs, parts, "Gradient")

    return derived(
        k,
        ("value_and_gradient", *names),
        k.parameters,
        lambda v: v.inputs,
        build,
        f"{k.__name__} and its gradient by {', '.join(names)}, in reverse.",
    )


def _field(output: str, name: str, outputs: int, inputs: int) -> str:
    """The name of the field with the derivative of an output by an input."""
    return name if outputs == 1 else output if inputs == 1 else f"{output}_{name}"


def hessian(k: Function, names: tuple[str, ...]) -> Function:
    """Make the kernel of second derivatives; see `Kernel.hessian`."""
    given, names = names, _wanted(k, names, "hessian")
    if len(names) not in (1, 2) or (len(names) == 2 and not given):
        raise ArgumentError(f"{k.__name__}.hessian takes one or two names of its inputs: {', '.join(names)}")
    if len(names) == 2 and names[0] != names[1]:
        return jacobian(jacobian(k, names[:1]), names[1:])
    name = names[0]

    def build(specialisation: Specialisation) -> Built:
        program = specialisation.program.copy()
        _scalars_only(program)
        xs, operand = _elements(program, name)
        first = autodiff.jacobian(program.graph, program.roots, xs)
        lower = []  # lower[i][root][j] for j <= i; the rest follows by symmetry
        for i in range(len(xs)):
            column = [program.graph.lift(row[i]) for row in first]
            lower.append(autodiff.jacobian(program.graph, column, xs[: i + 1]))
        parts, row = {}, 0
        for o in program.outputs:
            block = [
                lower[max(i, j)][row + r][min(i, j)]
                for r in range(o.size)
                for i in range(len(xs))
                for j in range(len(xs))
            ]
            parts[o.name] = ((*o.shape, *operand.shape, *operand.shape), block)
            row += o.size
        return _collect(program, specialisation.inputs, parts, "Hessian")

    return derived(
        k,
        ("hessian", name),
        k.parameters,
        lambda v: v.inputs,
        build,
        f"Second derivatives of {k.__name__} by {name}: shape of the output, then twice of the input.",
    )


def jvp(k: Function) -> Function:
    """Make the kernel of directional derivatives; see `Kernel.jvp`."""
    own = _inputs(k)
    dot = derivative_names([p.name for p in own], "_dot")
    # A tangent has the shape of its input, and no default unless the input itself may be left out.
    tangents = [replace(p, name=dot[p.name], default=None if p.default is None else MISSING) for p in own]

    def dots(specialisation: Specialisation) -> tuple[Operand, ...]:
        return tuple(replace(o, name=dot[o.name]) for o in specialisation.inputs if o.name in dot)

    def build(specialisation: Specialisation) -> Built:
        program = specialisation.program.copy()
        graph = program.graph
        seeds: dict[Expr, autodiff.Tangent] = {}
        for o in specialisation.inputs:
            if o.name not in dot:
                continue
            if o.sequence:
                seeds[graph.node("sequence", value=o.name)] = {0: graph.node("sequence", value=dot[o.name])}
            else:
                seeds |= {graph.input(o.name, j): {0: graph.input(dot[o.name], j)} for j in range(o.size)}
        roots, changes = autodiff.pushforward(graph, program.roots, seeds)
        found, moves = iter(roots), iter(changes)
        results = [tuple(next(found) for _ in result) for result in program.results]
        for o, result in zip(program.outputs, program.results, strict=True):
            results.append(tuple(_tangent(program, o, next(moves)) for _ in result))
        names = derivative_names([o.name for o in program.outputs], "_dot")
        outputs = (*program.outputs, *(replace(o, name=names[o.name]) for o in program.outputs))
        made = record_class("Jvp", tuple(o.name for o in outputs))
        return Program((*specialisation.inputs, *dots(specialisation)), outputs, tuple(results), graph), made

    return derived(
        k,
        ("jvp",),
        _before_options(k.parameters, tangents),
        lambda v: (*v.inputs, *dots(v)),
        build,
        f"{k.__name__} and its derivative along the tangents given after its arguments.",
    )


def _tangent(program: Program, o: Operand, t: autodiff.Tangent) -> Expr:
    """The tangent of a result as a node: zeros if it depends on no tangent."""
    if 0 in t or not o.sequence:
        return program.graph.lift(t.get(0, 0.0))
    source = next(i for i in program.inputs if i.sequence)  # for a sequence of zeros, which is as long as any other
    node = loops.Sequence(program.graph.node("sequence", value=source.name), source.shape)
    with current.tracing_into(program.graph):
        return loops.scan(lambda c, x: (c, np.zeros(o.shape)), 0.0, node)[1].node


def vjp(k: Function) -> Function:
    """Make the kernel of gradients; see `Kernel.vjp`."""
    own, wanted = [p.name for p in k.parameters], {p.name for p in _inputs(k)}

    def bars(specialisation: Specialisation) -> tuple[Operand, ...]:
        return tuple(Operand(free_name(f"{o.name}_bar", own), o.shape) for o in specialisation.program.outputs)

    # The outputs are known once the static arguments are; before that, one output is assumed.
    known = [free_name("out_bar", own)]
    if k.arguments.are_bound:
        known = [o.name for o in bars(k.only_specialisation("vjp"))]

    def inputs(specialisation: Specialisation) -> tuple[Operand, ...]:
        if [o.name for o in bars(specialisation)] != known:
            raise ArgumentError(f"{k.__name__}.vjp: it has several outputs; bind the static arguments first")
        return (*specialisation.inputs, *bars(specialisation))

    def build(specialisation: Specialisation) -> Built:
        program = specialisation.program.copy()
        graph = program.graph
        _scalars_only(program)
        groups = [_elements(program, o.name) for o in specialisation.inputs if o.name in wanted]
        seeds = [graph.input(o.name, j) for o in bars(specialisation) for j in range(o.size)]
        found = iter(autodiff.pullback(graph, program.roots, seeds, [x for xs, _ in groups for x in xs]))
        parts = {o.name: (o.shape, [next(found) for _ in xs]) for xs, o in groups}
        return _collect(program, inputs(specialisation), parts, "Vjp")

    return derived(
        k,
        ("vjp",),
        _before_options(k.parameters, [Parameter(name, False) for name in known]),
        inputs,
        build,
        f"Gradients of {k.__name__}: cotangents of the inputs from those of the outputs.",
    )
