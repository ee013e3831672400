"""Parameters of kernels: static ones, inputs with their shapes, and numbers of static arguments that become inputs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ...errors import ArgumentError
from ..graph.program import Operand

__all__ = ["MISSING", "Liftable", "Parameter", "declared_parameters", "function_name", "lifted_parameters", "static"]


class _Static:
    """The type of `static`, which marks a parameter as static."""

    def __repr__(self) -> str:
        return "static"


static = _Static()
"""Marks a parameter as static, as in `@kernel(robot=static, q="nq")`: its value is fixed when the kernel is compiled.

The value must be hashable. Each value has machine code of its own.

    @aj.kernel(robot=aj.static, q="nq")
    def height(robot, q):
        return aj.forward_kinematics(robot, q, "tool")[2, 3]
"""


# --- parameters --------------------------------------------------------------------------------------

MISSING = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter: static, or an input.

    The core shape of an input has numbers and names. A name is that of an attribute of a static argument, which gives
    the length, or that of a static argument itself, whose elements are counted.
    """

    name: str
    static: bool
    shape: tuple[int | str, ...] = ()
    sequence: bool = False
    default: Any = MISSING
    keyword_only: bool = False
    # (the static argument whose numbers these are, the name of the numbers there)
    lifted_from: tuple[str, str] | None = None
    hidden: bool = False  # its default is a value of the kernel that is being traced; there are no derivatives by it
    counted: bool = False  # it is static only because its default is a whole number, which may be a slip for 1.0

    def operand(self, statics: dict[str, Any], function: str) -> Operand:
        """Return the input with its shape in numbers.

        An axis that counts the elements of a static argument is missing if that argument is a single name.
        """
        dims = [d for d in self.shape if not (isinstance(d, str) and isinstance(statics.get(d), str))]
        empty = [d for d in dims if isinstance(d, str) and statics.get(d) == ()]
        note = f"; `{empty[0]}` is not given: it names one thing for each row, or one for a single row" if empty else ""
        return Operand(self.name, tuple(self._length(d, statics, function) for d in dims), self.sequence, note)

    def _length(self, d: int | str, statics: dict[str, Any], function: str) -> int:
        """The length of one axis."""
        if isinstance(d, int):
            return d
        if d in statics:  # as many as that argument has elements
            if not isinstance(statics[d], tuple):
                raise ArgumentError(f"{function}: '{d}' must be one name, or a tuple or list, not {statics[d]!r}")
            return len(statics[d])
        for value in statics.values():
            if hasattr(value, d):
                return int(getattr(value, d))
        given = ", ".join(f"{k} is a {type(v).__name__}" for k, v in statics.items() if v is not None)
        raise ArgumentError(
            f"{function}: the shape of '{self.name}' is the '{d}' of a static argument (a Robot has nq and nv), "
            f"and none has it: {given or 'there are none; declare one, as in @kernel(robot=static, ...)'}"
        )


def function_name(fn: Callable) -> str:
    """Return the name of a function, of the function in a functools.partial, or of a callable object's class."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__name__", type(fn).__name__)


_BIND = {  # options of `Kernel.bind`, and what they say
    "lift": "which numbers of a static argument become inputs",
    "unroll": "that a program is compiled whatever its size",
}


def declared_parameters(fn: Callable, shapes: dict[str, Any]) -> list[Parameter]:
    """Return the parameters of a function, with the core shapes declared for them."""
    try:
        signature = inspect.signature(fn)
    except ValueError as error:  # functions of other languages may have no signature
        raise ArgumentError(f"kernel: {error}; wrap it into a Python function") from None
    unknown = set(shapes) - set(signature.parameters)
    if unknown:
        raise ArgumentError(
            f"kernel: {function_name(fn)} has no parameter {', '.join(sorted(unknown))}; "
            f"it has {', '.join(signature.parameters) or 'none'}"
        )
    found = [_parameter(p, shapes.get(p.name, MISSING), function_name(fn)) for p in signature.parameters.values()]
    for name, says in _BIND.items():
        if any(p.static and p.name == name for p in found):
            raise ArgumentError(
                f"kernel: {function_name(fn)} has a static parameter '{name}'; in `bind`, that name says {says}: "
                "choose another"
            )
    return found


def _parameter(p: inspect.Parameter, shape, function: str) -> Parameter:
    """One parameter, with the shape that is declared for it, if any."""
    if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
        raise ArgumentError(f"kernel: {function} takes *{p.name}; a kernel needs named parameters")
    if p.name == "out":
        raise ArgumentError(
            f"kernel: {function} has a parameter 'out'; that name says where results go, choose another"
        )
    only = p.kind is p.KEYWORD_ONLY
    if shape is static:
        return Parameter(p.name, True, default=p.default, keyword_only=only)
    if shape is MISSING:
        if p.default is MISSING or isinstance(p.default, float | np.floating):
            return Parameter(p.name, False, default=p.default, keyword_only=only)
        if isinstance(p.default, np.ndarray):
            return Parameter(p.name, False, p.default.shape, default=p.default, keyword_only=only)
        try:
            hash(p.default)
        except TypeError:
            raise ArgumentError(
                f"kernel: the default of '{p.name}' in {function} is a {type(p.default).__name__}; "
                "use np.array(...) for an input, a tuple for a static argument"
            ) from None
        counted = isinstance(p.default, int) and not isinstance(p.default, bool)
        return Parameter(p.name, True, default=p.default, keyword_only=only, counted=counted)
    dims = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    sequence = bool(dims) and dims[0] is Ellipsis
    dims = dims[sequence:]
    for d in dims:
        if not isinstance(d, int | str) or isinstance(d, bool) or (isinstance(d, int) and d < 0):
            raise ArgumentError(
                f"kernel: the shape of '{p.name}' in {function} must be made of whole numbers and names; got {shape!r}"
            )
    return Parameter(p.name, False, dims, sequence, p.default, only)


# --- numbers of static arguments as inputs -------------------------------------------------------------


class Liftable(Protocol):
    """A static value, such as a Robot, whose numbers can become inputs by `bind(value, lift=names)`.

    This is all that the compiler knows of it. The function that is traced gets a *stand-in*: the value with arrays of
    inputs in place of numbers. The stand-in has an attribute `stands_for`, (the value itself, the arrays by name), and
    is not hashable, so that no cache keeps it.
    """

    @property
    def liftable(self) -> Mapping[str, np.ndarray]:
        """The numbers that can be lifted, by name."""
        ...

    def lifted(self, arrays: dict[str, Any]) -> Any:
        """Return the stand-in with these arrays."""
        ...

    def fingerprint_without(self, names: tuple[str, ...]) -> str:
        """A hash of all that results may depend on, but for the numbers that are lifted."""
        ...


def _numbers(statics: dict[str, Any], name: str, function: str) -> tuple[str, np.ndarray]:
    """Return the static argument that has numbers of this name, and the numbers."""
    choice = {argument: value.liftable for argument, value in statics.items() if hasattr(value, "liftable")}
    owners = [argument for argument, numbers in choice.items() if name in numbers]
    if len(owners) == 1:
        return owners[0], choice[owners[0]][name]
    if owners:
        raise ArgumentError(f"{function}.bind: {' and '.join(owners)} both have {name}; only one of them can be lifted")
    there = "; ".join(f"{argument} has {', '.join(numbers)}" for argument, numbers in choice.items())
    there = there or f"bind the static argument that has them as well: {function}.bind(robot, lift=...)"
    raise ArgumentError(f"{function}.bind: there is no {name!r} to lift; {there}")


def lifted_parameters(
    known: list[Parameter], statics: dict[str, Any], names: tuple[str, ...], function: str
) -> list[Parameter]:
    """Return the parameters, and further inputs for the numbers `names` of static arguments.

    These inputs are given by keyword, and the numbers are their defaults. If the function itself has an optional input
    of such a name (its own `gravity` instead of the robot's), that input stays, and the robot's numbers become its
    default.
    """
    found = list(known)
    for name in names:
        argument, numbers = _numbers(statics, name, function)
        same = next((p for p in known if p.name == name), None)
        if same and not same.static and same.default is None and same.operand(statics, function).shape == numbers.shape:
            found[known.index(same)] = replace(same, default=numbers, lifted_from=(argument, name))
        else:
            own = name + "_" * (same is not None)
            found.append(Parameter(own, False, numbers.shape, False, numbers, True, (argument, name)))
    return found
