"""Packed results: of every result only the numbers that can differ, each once, and where they belong.

Results for trees of bodies are symmetric and mostly zeros: of the 24 389 Christoffel symbols of a humanoid with 29
joints, 822 differ by more than their sign. Large batches take longer to write to memory than to compute, unless the
rest is left out, and the graph of a program tells what that is.
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
    """Where the numbers x of a packed result belong: the whole result is `factors * np.append(x, 1)[places]`.

    Both arrays have the shape of the whole result. For an element that is the number x[k], the place is k and the
    factor is 1; if it is -x[k], the factor is -1. For an element that does not depend on the inputs, such as a zero,
    the factor is its value, and the place is that of the 1, after the `size` numbers.
    """

    places: np.ndarray
    factors: np.ndarray
    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole result of one sample."""
        return self.places.shape

    @cached_property
    def nonzero(self) -> tuple[np.ndarray, ...]:
        """The indices, one array for each axis, of the elements that are not always zero, in order."""
        return np.nonzero(self.factors)

    def data(self, values) -> np.ndarray:
        """Return the `nonzero` elements of whole results, (..., elements), from packed ones, (..., size)."""
        from ..front.arguments import as_input

        values = as_input(values, "values", "data")
        if values.shape[-1:] != (self.size,):
            raise ArgumentError(f"packed values have shape {values.shape}; (..., {self.size}) is needed")
        with np.errstate(over="ignore"):  # constants that are too large for float32 become infinite
            factors = self.factors[self.nonzero].astype(values.dtype)
        numbers = np.concatenate([values, np.ones((*values.shape[:-1], 1), values.dtype)], axis=-1)
        return factors * numbers[..., self.places[self.nonzero]]

    def sparse(self, values):
        """Return the whole result of one sample, a vector or a matrix, as a `scipy.sparse.coo_array`."""
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
    """Where the numbers of packed results belong; see `Kernel.packing`."""
    k = _packed_from(k) or k
    program, made = _checked(k, k.only_specialisation(wanted)).traced
    found = [_packing(o, elements) for o, elements in zip(program.outputs, program.results, strict=True)]
    return found[0] if made is None else made(*found)


def _packing(o: Operand, elements: tuple[Expr, ...]) -> Packing:
    """The packing of one result."""
    numbers = _numbers(elements)
    place = {x.id: k for k, x in enumerate(numbers)}
    places = [place.get(_unsigned(e).id, len(numbers)) for e in elements]
    factors = [(-1.0 if e.op == "neg" else 1.0) if e.number() is None else e.number() for e in elements]
    arrays = np.array(places, np.intp).reshape(o.shape), np.array(factors, float).reshape(o.shape)
    for array in arrays:
        array.flags.writeable = False
    return Packing(*arrays, len(numbers))


def _numbers(elements: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The elements that are not constant, each once; of x and -x only x."""
    return tuple({(x := _unsigned(e)).id: x for e in elements if e.number() is None}.values())


def _unsigned(e: Expr) -> Expr:
    """x for the elements x and -x."""
    return e.args[0] if e.op == "neg" else e


def _packed_from(k: Function) -> Function | None:
    """Return the kernel of the whole results, if k is one of packed results; None otherwise."""
    if k.origin is None:
        return None
    parent, how, given = k.origin
    if how == "bind" and (whole := _packed_from(parent)):
        return whole.bind(**given)
    return parent if how == "packed" else None


def packed(k: Function) -> Function:
    """Make the kernel of packed results; see `Kernel.packed`."""
    if _packed_from(k):
        return k
    # Which elements are zero depends on options and on which inputs are given: they are fixed here as `packing` assumes
    # them.
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
    """Make the parameters after one that is left out keyword-only, so that no argument takes the place of another."""
    first = next((k for k, p in enumerate(parameters) if p.name in left_out), len(parameters))
    return parameters[:first] + [replace(p, keyword_only=True) for p in parameters[first:]]


def _checked(k: Function, specialisation: Specialisation) -> Specialisation:
    """Return the specialisation, or raise an error if its results cannot be packed."""
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
    """Make the kernel that makes packed results whole; see `Kernel.unpack`."""
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
    """One whole result from its packed numbers."""
    signs = {1.0: lambda x: x, -1.0: lambda x: -x}
    elements = [
        factor if place == p.size else signs[factor](values[place])
        for place, factor in zip(p.places.flat, p.factors.flat, strict=True)
    ]
    return np.reshape(np.stack(elements), p.shape) if elements else np.zeros(p.shape)
