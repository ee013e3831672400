"""How a call gets to its machine code, and how further calls like it get there faster.

`call` serves any call, in Python. After the first call, CPython calls the machine code itself (see
`machine.cpython_entry`) wherever it can.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import contextmanager
from threading import local
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..graph import current
from ..machine.locks import compiling
from . import kept_kernels
from .arguments import Places, as_input
from .binding import is_plain
from .call_forms import ElsewhereForm, InputForm, StaticForm, one_dtype
from .function import Function, Recent
from .inline import inline, is_inline
from .parameters import MISSING
from .specialisation import Specialisation

__all__ = ["call", "call_elsewhere", "load_callers", "make_callers", "noting_calls"]

_noted = local()


@contextmanager
def noting_calls():
    """Within this context, a list collects the specialisations that this thread runs, each with its arrays."""
    _noted.calls = []
    try:
        with current.tracing_into(None):  # this makes all calls go through Python
            yield _noted.calls
    finally:
        _noted.calls = None


def call(function: Function, form: tuple, args: tuple, kwargs: dict, out):
    """The result of any call.

    `form` is the number of positional arguments and the names of the others.
    """
    arguments = function.arguments
    if arguments.free_statics and (split := arguments.split(len(args), tuple(kwargs))):
        bound = _bound_to(function, form, split, [args[k] for k in split.statics] + [kwargs[k] for k in split.named])
        more = {k: kwargs[k] for k in split.rest}
        return bound(*[args[k] for k in split.inputs], **(more if out is None else {"out": out, **more}))
    inputs, statics = arguments.sort(args, kwargs)
    if is_inline(inputs):
        if out is not None:
            raise ArgumentError(f"{function.__name__}: `out` cannot be used inside a kernel; use the result instead")
        return inline(function, inputs, statics)
    if any(type(x).__module__.startswith("casadi") for x in inputs.values()):
        from .casadi_functions import call_casadi

        return call_casadi(function.specialisation(statics, list(inputs)), list(inputs.values()))
    if function.other is not None and (other := function.instead_of_this(statics, inputs)) is not None:
        if len(args) == len(inputs) and not kwargs:
            shapes = [o.shape for o in function.specialisation(statics, list(inputs)).inputs]
            function.memory.keep_form(form, ElsewhereForm(other, list(inputs), shapes))
        return call_elsewhere(function, other, inputs, statics, out)
    found = function.specialisation(statics, list(inputs))
    arrays, dtype = _arrays(function, inputs)
    if (calls := getattr(_noted, "calls", None)) is not None:
        calls.append((found, arrays))
    result = _run(function, found, arrays, dtype, out)
    _remember(function, form, found)
    return result


def _bound_to(function: Function, form: tuple, split: Places, fixed: list) -> Function:
    """Return the kernel bound to these static arguments.

    It is found at once if the values are plain (see `is_plain`): such values are equal only if they are the same.
    """
    memory, types = function.memory, [type(x) for x in fixed]
    try:
        bound = kept_kernels.mark_used(memory.made[(split.names, *types, *fixed)])
    except (KeyError, TypeError):  # the values are new, or not hashable; `bind` says what is wrong
        bound = function.bind(**dict(zip(split.names, fixed, strict=True)))
        if not all(map(is_plain, fixed)):
            return bound
        memory.made[(split.names, *types, *fixed)] = bound
    memory.keep_form(form, StaticForm.of(split, form[1:], form[0], fixed, bound))
    if split.statics == (0,) and len(form) == 1:
        memory.recent = Recent(fixed[0], form[0], bound)
    return bound


def _remember(function: Function, form: tuple, found: Specialisation) -> None:
    """Serve further calls of this form at once, if all arguments given are inputs and none is None."""
    arguments = function.arguments
    given = [p.name for p in arguments.places[: form[0]]] + list(form[1:])
    if form not in function.memory.forms and set(given) <= {o.name for o in found.inputs}:
        defaults = {p.name: p.default for p in arguments.free}
        has_own_call = type(function).__call__ is not function.python_call
        tried = len(form) == 1 and has_own_call and found is function.only_specialisation("call")
        function.memory.keep_form(form, InputForm(found, given, defaults, tried))


def call_elsewhere(function: Function, other: Callable, inputs: dict[str, Any], statics: dict[str, Any], out):
    """The result of `other`, which `Kernel.instead` made, on arrays whose shapes are checked as this kernel's are."""
    from ..machine.layouts import broadcast_batch

    name = function.__name__
    arrays = {k: as_input(x, k, name) for k, x in inputs.items()}
    broadcast_batch(function.specialisation(statics, list(inputs)).inputs, list(arrays.values()), name)
    found = other(arrays)
    parts = found if isinstance(found, tuple) else (found,)
    if all(a.dtype == np.float32 for a in arrays.values()):  # the other function computes in float64
        parts = tuple(x.astype(np.float32) for x in parts)
    if out is None:
        return type(found)(*parts) if isinstance(found, tuple) else parts[0]
    _copy(parts, out if isinstance(found, tuple) and isinstance(out, tuple | list) else (out,), name)
    return out


def _copy(parts: tuple, outs: tuple | list, name: str) -> None:
    """Write results to the arrays that are to receive them."""
    if len(outs) != len(parts):
        raise ArgumentError(f"{name}: out has {len(outs)} arrays; {len(parts)} are needed")
    for found, out in zip(parts, outs, strict=True):
        if not isinstance(out, np.ndarray) or (out.shape, out.dtype) != (found.shape, found.dtype):
            what = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise ArgumentError(f"{name}: out is {what}; an array of {found.dtype} {found.shape} is needed")
        if not out.flags.writeable:
            raise ArgumentError(f"{name}: out is read-only")
    for found, out in zip(parts, outs, strict=True):
        np.copyto(out, found)


@functools.cache
def load_callers() -> None:
    """Import the modules that run machine code, before the first call: `import adjoint` is quicker without them.

    This is done under the lock, which a thread waits for before it forks: if another thread were importing them, the
    imports would never end in the child.
    """
    with compiling:
        from ..machine import cpython_entry, execution  # noqa: F401


def _arrays(function: Function, given: dict[str, Any]) -> tuple[list[np.ndarray], str]:
    """Return the inputs as arrays of one dtype, and which one: "f32" if all arrays are of float32, else "f64"."""
    load_callers()
    from ..machine.execution import DTYPES

    arrays = [as_input(x, k, function.__name__) for k, x in given.items()]
    strong = [a.dtype for a, x in zip(arrays, given.values(), strict=True) if not function.arguments.is_weak(x)]
    dtype = "f32" if strong and all(d == np.float32 for d in strong) else "f64"
    return [a if a.dtype == DTYPES[dtype] else a.astype(DTYPES[dtype]) for a in arrays], dtype


def _run(function: Function, found: Specialisation, arrays: list[np.ndarray], dtype: str, out):
    """The result of machine code on arrays of one dtype.

    The *plan* of a call (see `machine.execution.Plan`) is kept for further calls with arrays of the same layout.
    """
    from ..machine.execution import DTYPES
    from ..machine.result_arrays import prepare_out

    name = function.__name__
    layouts = [(a.shape, a.strides, a.flags.aligned) for a in arrays]
    if out is not None:
        given = out if isinstance(out, tuple | list) else (out,)
        layouts += [(a.shape, a.strides, a.flags.aligned) for a in given if isinstance(a, np.ndarray)]
    known = found.plans.get((dtype, *layouts))
    if known and found.borrowed and not found.may_serve(dtype, known[1], known[3]):
        known = None
    code, made, batch, length = known[1:] if known else found.fit(arrays, dtype, name)
    results = prepare_out(code.outputs, out, batch, length, DTYPES[dtype], name)
    # A result that shares memory with an input is computed in an array of its own first, and copied at the end.
    targets = results
    if out is not None:
        targets = [np.empty_like(r) if any(np.may_share_memory(r, a) for a in arrays) else r for r in results]
    direct = out is None or all(t is r for t, r in zip(targets, results, strict=True))
    plan = known[0] if known and direct else code.plan(arrays, targets, batch, length)
    if known is None and direct:
        found.keep_plan((dtype, *layouts), (plan, code, made, batch, length))
    plan.run([*arrays, *targets], lambda: function.threads)
    if out is None:
        results = [r if r.ndim else r[()] for r in results]
    elif not direct:
        for r, t in zip(results, targets, strict=True):
            if t is not r:
                r[...] = t
    if found.codes_in_call < len(found.codes):
        make_callers(function, found)
    return results[0] if made is None else made(*results)


def _call_as_arrays(function: Function, found: Specialisation, *values, out=None):
    """Serve a call that machine code does not serve as it is: its arguments are made arrays first.

    Answers NotImplemented if one of them is of an unknown kind.
    """
    ready = one_dtype(values, function.arguments.weak)
    if ready is None:
        return NotImplemented
    arrays, dtype, changed = ready
    serve = found.call  # read once: another thread may set it to None
    if changed and serve is not None:
        return serve(*arrays) if out is None else serve(*arrays, out=out)
    return _run(function, found, arrays, dtype, out)


def make_callers(function: Function, found: Specialisation) -> None:
    """Let CPython call the machine code of a specialisation itself, after a call has compiled it.

    The kernel's own `__call__` then serves positional arguments, if all static and optional arguments are left out.
    """
    found.codes_in_call = len(found.codes)
    found.call_as_arrays = functools.partial(_call_as_arrays, function, found)
    found.call = _caller(function, found, len(found.inputs), [None] * len(found.inputs), found.call_as_arrays)
    if not function.arguments.are_bound or found is not function.only_specialisation("call"):
        return
    given = {p.name: p for p in function.arguments.free}
    names = [o.name for o in found.inputs]
    places = 0  # inputs that positional arguments fill; all others must have defaults
    for p, name in zip(given.values(), names, strict=False):
        if p.name != name or p.keyword_only:
            break
        places += 1
    if any(given[name].default is MISSING for name in names[places:]):
        return
    defaults = [None if given[n].default is MISSING else given[n].default for n in names]
    by_python = functools.partial(function.python_call, function)
    caller = _caller(function, found, places, defaults, by_python)
    if caller is not by_python:
        type(function).__call__ = caller  # each kernel has a class of its own, see `Kernel.new`


def _caller(function: Function, found: Specialisation, places: int, defaults: list, rest: Callable) -> Callable:
    """Return a function that runs a specialisation's code itself where it can, and leaves all other calls to `rest`."""
    from ..machine.cpython_entry import direct_caller

    for dtype in ("f32", "f64"):
        # In a batch, sequences of all samples are served, and results that are sequences are not.
        shared = frozenset(o.name for o in found.inputs if o.sequence)
        single, batch = (found.codes.get(kind) for kind in ((dtype, True, frozenset()), (dtype, False, shared)))
        if batch and any(o.sequence for o in batch[0].outputs):
            batch = None
        if single or batch:
            # Code for float32 serves calls in which all arrays are of float32. So the first input must be given, and
            # the others may only have defaults that do not decide the dtype.
            weak = [None, *(d if function.arguments.is_weak(d) else None for d in defaults[1:])]
            known = defaults if dtype == "f64" else weak
            rest = direct_caller(function.__name__, single, batch, places, known, function.threads, rest)
    return rest
