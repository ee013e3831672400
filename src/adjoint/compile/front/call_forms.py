"""Calls of every form, brought to the one that machine code serves: contiguous arrays of one dtype, given by position.

The *form* of a call is the number of positional arguments and the names of the others. A kernel remembers the forms of
its calls. For each it knows where its inputs are among the arguments (`InputForm`), which bound kernel they are for
(`StaticForm`), or which other function serves them (`ElsewhereForm`). A list, a number, an array of whole numbers or a
small array with other strides becomes a contiguous array by a copy. A form answers NotImplemented to calls that it
cannot serve; these are left to `dispatch`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..graph import current

if TYPE_CHECKING:
    from .arguments import Places
    from .function import Function
    from .specialisation import Specialisation

__all__ = ["ElsewhereForm", "Form", "InputForm", "StaticForm", "one_dtype"]

COPIED = 4096  # an array of at most so many numbers is copied, because that costs less than code for any strides
_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)
_SCALARS = {np.dtype(c).type for c in "dfbBhHiIlLqQ?"}


class StaticForm(NamedTuple):
    """A form with static arguments: where they are, their values in the last call, and the kernel bound to them."""

    places: tuple[int, ...]  # where the static arguments are among all arguments; those given by name come last
    values: tuple
    inputs: tuple[int, ...]  # where the positional inputs are
    names: tuple[str, ...]  # the names of the other inputs
    bound: Function

    @staticmethod
    def of(split: Places, keywords: tuple[str, ...], places: int, values: list, bound: Function) -> StaticForm:
        named = tuple(places + keywords.index(name) for name in split.named)
        return StaticForm((*split.statics, *named), tuple(values), split.inputs, split.rest, bound)

    def call(self, args: tuple, kwargs: dict, out) -> Any:
        given = (*args, *kwargs.values()) if kwargs else args
        for k, value in zip(self.places, self.values):  # noqa: B905 (as many by construction)
            if given[k] is not value:
                return NotImplemented
        inputs = [args[k] for k in self.inputs]
        if out is not None:
            return self.bound(*inputs, out=out, **{k: kwargs[k] for k in self.names})
        if self.names:
            return self.bound(*inputs, **{k: kwargs[k] for k in self.names})
        return self.bound(*inputs)


class InputForm:
    """A form with inputs only: how to take the inputs of a specialisation from the arguments and from defaults.

    `tried` says that the kernel's own `__call__` has already met these arguments in this order, and left them to
    Python.
    """

    def __init__(self, specialisation: Specialisation, given: list[str], defaults: dict[str, Any], tried: bool):
        missing = [o.name for o in specialisation.inputs if o.name not in given]
        order = [(given + missing).index(o.name) for o in specialisation.inputs]
        self.defaults = tuple(defaults[name] for name in missing)
        self.take: Callable[[tuple], tuple] | None = itemgetter(*order) if len(order) > 1 else None
        if order == list(range(len(given))):
            self.take = None  # the arguments are in order already
        self.specialisation, self.tried = specialisation, tried

    def call(self, args: tuple, kwargs: dict, out) -> Any:
        serve = self.specialisation.call_as_arrays if self.tried else self.specialisation.call
        if serve is None or current.python_calls.value:
            return NotImplemented
        values = (*args, *kwargs.values(), *self.defaults) if kwargs or self.defaults else args
        if self.take is not None:
            values = self.take(values)
        return serve(*values) if out is None else serve(*values, out=out)


class ElsewhereForm(NamedTuple):
    """A call of one sample, all inputs given by place, that another function serves; see `Kernel.instead`."""

    function: Callable[[dict[str, np.ndarray]], Any]
    names: list[str]
    shapes: list[tuple[int, ...]]

    def call(self, args: tuple, kwargs: dict, out) -> Any:
        """Only for arrays of float64 of exactly these shapes, while no function is traced or run eagerly."""
        if out is not None or current.python_calls.value:
            return NotImplemented
        for a, shape in zip(args, self.shapes, strict=True):
            if type(a) is not np.ndarray or a.dtype is not _F64 or a.shape != shape:
                return NotImplemented
        return self.function(dict(zip(self.names, args, strict=True)))


Form = StaticForm | InputForm | ElsewhereForm


def one_dtype(values: tuple, weak: set[int]) -> tuple[list[np.ndarray], str, bool] | None:
    """Return values as arrays of one dtype, the name of it, and whether any array is not the value that was given.

    None is returned if a value is of no known kind. The dtype is float32 if all arrays have it; Python's numbers, and
    the objects whose ids are in `weak`, do not count, and get the dtype of the others.
    """
    arrays: list[np.ndarray] = []
    changed = single = double = False
    for x in values:
        kind = type(x)
        if kind is float:
            arrays.append(np.array(x))
            continue
        a = x if kind is np.ndarray else _as_array(x, kind)
        if a is None:
            return None
        if a.dtype is not _F64 and a.dtype is not _F32:
            if a.dtype.kind not in "biu":
                return None
            a = a.astype(_F64)
        elif a.size <= COPIED and not ((flags := a.flags).c_contiguous and flags.aligned):
            a = a.copy()
        arrays.append(a)
        changed = changed or a is not x
        if kind is not int and kind is not bool and id(x) not in weak:
            single, double = single or a.dtype is _F32, double or a.dtype is _F64
    wanted = _F32 if single and not double else _F64
    for k, a in enumerate(arrays):
        if a.dtype is not wanted:
            arrays[k], changed = a.astype(wanted), True
    return arrays, "f32" if wanted is _F32 else "f64", changed


def _as_array(x, kind: type) -> np.ndarray | None:
    """A number, or a list of numbers, as an array; None if it is something else."""
    if kind is list or kind is tuple or kind in _SCALARS:
        try:
            return np.array(x)
        except (ValueError, TypeError, OverflowError):  # `dispatch` says what is wrong
            return None
    if kind is int or kind is bool:
        try:
            return np.array(float(x))
        except OverflowError:
            return None
    return None
