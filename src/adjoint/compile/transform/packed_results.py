"""Packed results: of every result only the numbers that can differ, each once, and where they belong.

What trees of bodies give is symmetric and mostly zeros: of 24 389 Christoffel symbols of a humanoid with 29 joints, 822
differ by more than their sign. Large batches take longer to write to memory than to compute, unless the rest is left
out, and the graph of a program knows what that is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...lazy import cached_property
from ..front.function import Function, Origin
from ..front.parameters import MISSING, Parameter
from ..front.specialisation import Specialisation, TracedSpecialisation
from ..graph.expressions import Expr
from ..graph.program import Operand
from .derived_kernels import Built, derived

__all__ = ["Packing", "packed", "packing", "unpack"]


@dataclass(frozen=True, eq=False)
class Packing:
    """Where the numbers x of a packed result belong: the whole is `factors * np.append(x, 1)[places]`.

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

    def data(self, values) -> np.ndarray:
        """(..., elements): the `nonzero` elements of the whole results, of packed ones (..., size)."""
        from ..front.arguments import as_input

        values = as_input(values, "values", "data")
        if values.shape[-1:] != (self.size,):
            raise ArgumentError(f"packed values have shape {values.shape}; (..., {self.size}) is needed")
        with np.errstate(over="ignore"):  # constants too large for float32 are infinite there
            factors = self.factors[self.nonzero].astype(values.dtype)
        numbers = np.concatenate([values, np.ones((*values.shape[:-1], 1), values.dtype)], axis=-1)
        return factors * numbers[..., self.places[self.nonzero]]

    def sparse(self, values):
        """The whole result of one sample, a vector or a matrix, as a `scipy.sparse.coo_array` of `nonzero` elements."""
        from scipy.sparse import coo_array

        data = self.data(values)
        if data.ndim > 1:
            raise ArgumentError(f"sparse: values have shape {np.shape(values)}; one sample is needed, ({self.size},)")
        if len(self.shape) not in (1, 2):
            raise ArgumentError(
                f"sparse: results have shape {self.shape}; of other than vectors and matrices use `nonzero` and `data`"
            )
        return coo_array((data, self.nonzero), shape=self.shape)

    def __repr__(self) -> str:
        return f"<Packing of {self.shape}: {len(self.nonzero[0])} not zero, {self.size} of them differ>"


def packing(k: Function, wanted: str = "packing") -> Any:
    """See `Kernel.packing`."""
    k = _packed_from(k) or k
    program, made = _checked(k, k.only_specialisation(wanted)).traced
    found = [_packing(o, elements) for o, elements in zip(program.outputs, program.results, strict=True)]
    return found[0] if made is None else made(*found)


def _packing(o: Operand, elements: tuple[Expr, ...]) -> Packing:
    numbers = _numbers(elements)
    place = {x.id: k for k, x in enumerate(numbers)}
    places = [place.get(_unsigned(e).id, len(numbers)) for e in elements]
    factors = [(-1.0 if e.op == "neg" else 1.0) if e.number() is None else e.number() for e in elements]
    arrays = np.array(places, np.intp).reshape(o.shape), np.array(factors, float).reshape(o.shape)
    for array in arrays:
        array.flags.writeable = False
    return Packing(*arrays, len(numbers))


def _numbers(elements: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Those that are no constants, each once; of x and -x only x."""
    return tuple({(x := _unsigned(e)).id: x for e in elements if e.number() is None}.values())


def _unsigned(e: Expr) -> Expr:
    return e.args[0] if e.op == "neg" else e


def _packed_from(k: Function) -> Function | None:
    """The kernel of the whole results, if k is one of packed ones."""
    if k.origin is None:
        return None
    parent, how, given = k.origin
    if how == "bind" and (whole := _packed_from(parent)):
        return whole.bind(**given)
    return parent if how == "packed" else None


def packed(k: Function) -> Function:
    """See `Kernel.packed`."""
    if _packed_from(k):
        return k
    # What is zero depends on options and on the inputs there are: they are what `packing` takes them to be.
    left_out = {p.name: p.default for p in k.parameters if (p.static and p.default is not MISSING) or p.default is None}

    def build(specialisation: Specialisation) -> Built:
        program, made = _checked(k, specialisation).traced
        results = tuple(map(_numbers, program.results))
        outputs = tuple(replace(o, shape=(len(r),)) for o, r in zip(program.outputs, results, strict=True))
        return replace(program, outputs=outputs, results=results), made

    return derived(
        k,
        ("packed",),
        _named_after(k.parameters, left_out),
        lambda v: v.inputs,
        build,
        f"{k.__name__}, of every result the numbers that can differ, each once; `unpack` makes it whole.",
        left_out,
    )


def _named_after(parameters: list[Parameter], left_out) -> list[Parameter]:
    """Parameters after one that is left out are given by name, so that no argument takes the place of another."""
    first = next((k for k, p in enumerate(parameters) if p.name in left_out), len(parameters))
    return parameters[:first] + [replace(p, keyword_only=True) for p in parameters[first:]]


def _checked(k: Function, specialisation: Specialisation) -> Specialisation:
    names = [o.name for o in specialisation.inputs]
    traced = isinstance(specialisation, TracedSpecialisation)
    if traced and k.instead_of_this(specialisation.statics, names) is not None:
        raise ArgumentError(
            f"{k.__name__}: these arguments are served by loops of any length, whose results are not packed; "
            f"{k.__name__}.bind(..., unroll=True) is not"
        )
    for o in specialisation.program.outputs:
        if o.sequence:
            raise ArgumentError(f"{specialisation.name}: output '{o.name}' is a sequence; only arrays are packed")
    return specialisation


def unpack(k: Function) -> Function:
    """See `Kernel.unpack`."""
    found, name = packing(k, "unpack"), f"{k.__name__.removesuffix('.packed')}.unpack"
    parts = {"values": found} if isinstance(found, Packing) else found._asdict()

    def whole(**values):
        results = [_whole(p, values[field]) for field, p in parts.items()]
        return results[0] if isinstance(found, Packing) else type(found)(*results)

    parameters = [Parameter(field, False, (p.size,)) for field, p in parts.items()]
    doc = f"Results of {k.__name__} from those of {k.__name__}.packed."
    made = k.new(name, parameters, partial(TracedSpecialisation, whole, name, parameters), doc)
    made.origin = Origin(k, "unpack", ())
    return made


def _whole(p: Packing, values):
    signs = {1.0: lambda x: x, -1.0: lambda x: -x}
    elements = [
        factor if place == p.size else signs[factor](values[place])
        for place, factor in zip(p.places.flat, p.factors.flat, strict=True)
    ]
    return np.reshape(np.stack(elements), p.shape) if elements else np.zeros(p.shape)
