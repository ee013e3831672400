"""Packed results: of every result only the numbers that can differ, each once, and where they belong.

What trees of bodies give is symmetric and mostly zeros: of 24 389 Christoffel symbols of a humanoid with 29 joints, 917
differ by more than their sign. Large batches take longer to write to memory than to compute, unless the rest is left
out, and the graph of a program knows what that is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import ArgumentError
from .derived import Built, derived
from .graph import Expr
from .kernel import Kernel
from .program import Operand
from .trace import is_traced
from .variant import Variant

__all__ = ["Packing", "packed", "packing"]


@dataclass(frozen=True, eq=False)
class Packing:
    """Where the numbers of a packed result belong: the whole is `factors` · (numbers, 1)[`places`].

    Both arrays have the shape of the whole result. A factor is 1, or -1 of a number with its sign changed. Elements
    that do not depend on the inputs, as zeros, are factors themselves, and their place is that of the 1, after the
    `size` numbers.
    """

    places: np.ndarray
    factors: np.ndarray
    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole result of one sample."""
        return self.places.shape

    @cached_property
    def nonzero(self) -> tuple[np.ndarray, ...]:
        """Indices, one array for each axis, of the elements that are not always zero, in order."""
        return np.nonzero(self.factors)

    def unpack(self, values):
        """The whole results (..., *shape) of packed ones (..., size)."""
        values = self._checked(values)
        whole = _with_one(values)[..., self.places]
        whole *= self.factors
        return whole

    def sparse(self, values):
        """The whole result of one sample, with one or two axes, as a `scipy.sparse.coo_array` of `nonzero` elements."""
        from scipy.sparse import coo_array

        values = self._checked(values)
        if values.ndim > 1 or len(self.shape) not in (1, 2):
            raise ArgumentError(
                f"sparse takes one sample of a vector or a matrix; got {values.shape[:-1]} of shape {self.shape}"
            )
        data = self.factors[self.nonzero] * _with_one(values)[self.places[self.nonzero]]
        return coo_array((data, self.nonzero), shape=self.shape)

    def _checked(self, values):
        from .call import as_input

        values = values if is_traced(values) else as_input(values, "values", "unpack")
        if values.shape[-1:] != (self.size,):
            raise ArgumentError(f"unpack: values have shape {values.shape}; (..., {self.size}) is needed")
        return values


def _with_one(values):
    """(..., size + 1): the numbers, and a 1."""
    return np.concatenate([values, np.ones((*values.shape[:-1], 1), values.dtype)], axis=-1)


def _numbers(elements: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Those that are no constants, each once; of x and -x only x."""
    return tuple({(x := _unsigned(e)).id: x for e in elements if e.number() is None}.values())


def _unsigned(e: Expr) -> Expr:
    return e.args[0] if e.op == "neg" else e


def _packing(o: Operand, elements: tuple[Expr, ...]) -> Packing:
    numbers = _numbers(elements)
    place = {x.id: k for k, x in enumerate(numbers)}
    places = [place.get(_unsigned(e).id, len(numbers)) for e in elements]
    factors = [(-1.0 if e.op == "neg" else 1.0) if e.number() is None else e.number() for e in elements]
    arrays = np.array(places, np.intp).reshape(o.shape), np.array(factors, float).reshape(o.shape)
    for array in arrays:
        array.flags.writeable = False
    return Packing(*arrays, len(numbers))


def packing(k: Kernel):
    """See `Kernel.packing`."""
    program, made = _without_sequences(k._only("packing")).traced
    found = [_packing(o, elements) for o, elements in zip(program.outputs, program.results, strict=True)]
    return found[0] if made is None else made(*found)


def packed(k: Kernel) -> Kernel:
    """See `Kernel.packed`."""
    # Which numbers are zero depends on the inputs there are: those that may be left out are, as in `packing`.
    optional = [p.name for p in k._parameters if not p.static and p.default is None]

    def build(variant: Variant) -> Built:
        program, made = _without_sequences(variant).traced
        results = tuple(map(_numbers, program.results))
        outputs = tuple(replace(o, shape=(len(r),)) for o, r in zip(program.outputs, results, strict=True))
        return replace(program, outputs=outputs, results=results), made

    return derived(
        k,
        ("packed",),
        k._parameters,
        lambda v: v.inputs,
        build,
        f"{k.__name__}, of every result the numbers that can differ, each once; `unpack` makes it whole.",
        optional,
    )


def _without_sequences(variant: Variant) -> Variant:
    for o in variant.program.outputs:
        if o.sequence:
            raise ArgumentError(f"{variant.name}: output '{o.name}' is a sequence; only arrays are packed")
    return variant
