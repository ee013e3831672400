"""`kernel`: a NumPy function of one sample becomes a function of any batch, run as machine code."""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import local
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ..errors import ArgumentError
from ..lazy import cached_property
from . import kept_kernels
from .arguments import Arguments, Form, as_input, tupled
from .call_forms import InputForm, StaticForm, one_dtype
from .graph import loops
from .graph import tracing as trace
from .graph.expressions import Expr
from .graph.program import Operand, count_operations
from .machine.locks import compiling
from .parameters import MISSING, Parameter, function_name, lifted_parameters, parameters
from .specialisation import TracedVariant, Variant

__all__ = ["Kernel", "kernel"]

_mode = local()
_F64 = np.dtype(np.float64)
MOST_FORMS = 64  # of calls that a kernel remembers: there are as many as orders of keywords
_PLAIN = {str, int, bool, type(None)}  # types whose values are equal only if nothing can tell them apart


@contextmanager
def eagerly() -> Iterator[None]:
    """Within this context every kernel runs as plain Python."""
    outer = getattr(_mode, "eager", False)
    _mode.eager = True
    try:
        with loops.tracing(None):
            yield
    finally:
        _mode.eager = outer


@contextmanager
def _noting_calls() -> Iterator[list[tuple[Variant, list[np.ndarray]]]]:
    """The kernels that this thread runs within this context, and on what."""
    _mode.calls = []
    try:
        with loops.tracing(None):  # all calls go by Python
            yield _mode.calls
    finally:
        _mode.calls = None


# --- the kernel ----------------------------------------------------------------------------------------


class Operations(NamedTuple):
    """How many operations one sample takes; a loop counts its body once for each iteration (once, if unknown)."""

    adds: int
    muls: int
    divs: int
    sqrts: int
    transcendental: int
    comparisons: int


class _Recent(NamedTuple):
    """The last call with one static argument, in the first place: that, the number of all, and the kernel it bound."""

    static: Any
    places: int
    bound: Kernel


class _Sample(NamedTuple):
    """One sample, all inputs given by place, of a kernel that leaves it to another function; see `Kernel.instead`."""

    function: Callable[[dict[str, np.ndarray]], Any]
    names: list[str]
    shapes: list[tuple[int, ...]]

    def fits(self, args: tuple) -> bool:
        """Whether these are arrays of float64 of exactly its shapes, and no function is being traced or run eagerly."""
        if len(args) != len(self.shapes) or loops.python_calls.value:
            return False
        for a, shape in zip(args, self.shapes, strict=True):
            if type(a) is not np.ndarray or a.dtype is not _F64 or a.shape != shape:
                return False
        return True

    def run(self, args: tuple):
        return self.function(dict(zip(self.names, args, strict=True)))


class _Inline(NamedTuple):
    """A kernel bound to a static argument that no code is made for by itself: its function runs within another one."""

    kernel: Any  # a `Kernel`, which as the attribute of a class would be a method
    statics: dict[str, Any]

    def __call__(self, *args, **kwargs):
        kernel = self.kernel
        inputs, statics = Arguments(kernel.__name__, kernel._parameters, self.statics).sort(args, kwargs)
        return kernel.__wrapped__(**inputs, **statics)


class Kernel:
    """A function of one sample, callable on any batch of them. Made by `kernel`, never directly."""

    def __init__(
        self,
        name: str,
        parameters: list[Parameter],
        make: Callable[[dict, list[str]], Variant],
        doc: str | None,
        statics: dict[str, Any] | None = None,
    ):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self._parameters, self._make, self._statics = parameters, make, dict(statics or {})
        self._arguments = Arguments(name, parameters, self._statics)
        self._made: WeakValueDictionary[Any, Kernel] = WeakValueDictionary()  # from this one; `kept` holds them
        self._variants: dict[tuple[str, ...], Variant] = {}  # with these inputs, static arguments as they are
        self._share = kept_kernels.Share()
        self._recent: _Recent | None = None  # calls like that one are bound at once
        self._forms: dict[tuple, StaticForm | InputForm] = {}  # and calls of these forms are served so
        self._threads: int | None = None
        self._origin: tuple | None = None  # the kernel this one was made from, and how
        self._unrolled = False  # whatever its size
        self._other: Callable | None = None  # see `instead`
        self._others: dict[tuple[str, ...], Callable | None] = {}  # what it made, static arguments as they are
        self._sample: _Sample | None = None  # which calls go there at once
        self._shapes: dict[tuple[str, ...], list[Operand]] = {}

    # --- calling -----------------------------------------------------------------------------------

    def __call__(self, *args, out=None, **kwargs):
        """Compute all samples. Batch axes broadcast; `out` receives the result(s) instead of new arrays."""
        recent = self._recent if out is None and not kwargs else None
        if recent is not None and len(args) == recent.places and args[0] is recent.static:
            return recent.bound(*args[1:])
        form = (len(args), *kwargs)
        if (known := self._forms.get(form)) is not None:
            found = known.call(args, kwargs, out)
            if found is not NotImplemented:
                return found
        if self._sample is not None and not kwargs and out is None and self._sample.fits(args):
            return self._sample.run(args)
        if self._arguments.free_statics and (split := self._arguments.form(len(args), tuple(kwargs))):
            bound = self._bound_to(form, split, [args[k] for k in split.statics] + [kwargs[k] for k in split.named])
            more = {k: kwargs[k] for k in split.rest}
            return bound(*[args[k] for k in split.inputs], **(more if out is None else {"out": out, **more}))
        inputs, statics = self._arguments.sort(args, kwargs)
        if (
            getattr(_mode, "eager", False)
            or loops.current_graph() is not None
            or any(map(trace.is_traced, inputs.values()))
        ):
            if out is not None:
                raise ArgumentError(f"{self.__name__}: `out` cannot be used inside a kernel; use the result instead")
            return self._inline(inputs, statics)
        if self._other is not None and (other := self._instead(statics, tuple(inputs))) is not None:
            if len(args) == len(inputs) and not kwargs:
                shapes = [o.shape for o in self._operands(tuple(inputs), statics)]
                self._sample = _Sample(other, list(inputs), shapes)
            return self._elsewhere(other, inputs, statics, out)
        variant = self._variant(statics, list(inputs))
        if any(type(x).__module__.startswith("casadi") for x in inputs.values()):
            from .export import call_casadi

            return call_casadi(variant, list(inputs.values()))
        arrays, dtype = self._arrays(inputs)
        if (calls := getattr(_mode, "calls", None)) is not None:
            calls.append((variant, arrays))
        result = self._run(variant, arrays, dtype, out)
        self._remember(form, variant)
        return result

    def _bound_to(self, form: tuple, split: Form, fixed: list) -> Kernel:
        """`bind`, found at once for static values that equal others of their type only if they are the same."""
        types = [type(x) for x in fixed]
        try:
            bound = kept_kernels.use(self._made[(split.names, *types, *fixed)])
        except (KeyError, TypeError):  # new, or not hashable: `bind` says what is wrong
            bound = self.bind(**dict(zip(split.names, fixed, strict=True)))
            if not all(map(_is_plain, fixed)):
                return bound
            self._made[(split.names, *types, *fixed)] = bound
        self._keep_form(form, StaticForm.of(split, form[1:], form[0], fixed, bound))
        if split.statics == (0,) and len(form) == 1:
            self._recent = _Recent(fixed[0], form[0], bound)
        return bound

    def _remember(self, form: tuple, variant: Variant) -> None:
        """Serve further calls of this form at once, if all that is given are inputs of the variant and none is None."""
        given = [p.name for p in self._arguments.places[: form[0]]] + list(form[1:])
        if form not in self._forms and set(given) <= {o.name for o in variant.inputs}:
            defaults = {p.name: p.default for p in self._arguments.free}
            tried = len(form) == 1 and type(self).__call__ is not Kernel.__call__ and variant is self._only("call")
            self._keep_form(form, InputForm(variant, given, defaults, tried))

    def _keep_form(self, form: tuple, known: StaticForm | InputForm) -> None:
        """Remember how calls of a form are served; forget all others when there are many."""
        if form not in self._forms and len(self._forms) >= MOST_FORMS:
            self._forms.clear()
        self._forms[form] = known

    def instead(self, make: Callable[[dict, tuple[str, ...]], Callable | None]) -> Callable:
        """A decorator: calls are left to what `make(statics, names of the inputs given)` makes, unless it is None.

        That is a function of {name: array}, batches and all. For what cannot be unrolled, as robots with a million
        bodies. Eagerly, and inside kernels, this kernel's own function is run.
        """
        self._other = make
        return make

    def _instead(self, statics: dict[str, Any], names: tuple[str, ...]) -> Callable | None:
        """What `instead` makes; remembered of a kernel whose static arguments are fixed."""
        assert self._other is not None
        if self._arguments.free_statics and self._arguments.other_than_defaults(statics):
            return self._other(statics, names)
        if names not in self._others:
            self._others[names] = self._other(statics, names)
        return self._others[names]

    def _elsewhere(self, other: Callable, inputs: dict[str, Any], statics: dict[str, Any], out):
        """What another function makes of arrays of the shapes that this kernel takes."""
        from .machine.execution import broadcast_batch

        arrays = {k: as_input(x, k, self.__name__) for k, x in inputs.items()}
        broadcast_batch(self._operands(tuple(inputs), statics), list(arrays.values()), self.__name__)
        found = other(arrays)
        parts = found if isinstance(found, tuple) else (found,)
        if all(a.dtype == np.float32 for a in arrays.values()):  # computed in float64 all the same
            parts = tuple(x.astype(np.float32) for x in parts)
        if out is None:
            return type(found)(*parts) if isinstance(found, tuple) else parts[0]
        self._copied(parts, out if isinstance(found, tuple) and isinstance(out, tuple | list) else (out,))
        return out

    def _copied(self, parts: tuple, out: Iterable) -> None:
        """Write results to the arrays that are to receive them."""
        outs = list(out)
        if len(outs) != len(parts):
            raise ArgumentError(f"{self.__name__}: out has {len(outs)} arrays; {len(parts)} are needed")
        for found, given in zip(parts, outs, strict=True):
            if not isinstance(given, np.ndarray) or (given.shape, given.dtype) != (found.shape, found.dtype):
                what = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
                needed = f"an array of {found.dtype} {found.shape} is needed"
                raise ArgumentError(f"{self.__name__}: out is {what}; {needed}")
            if not given.flags.writeable:
                raise ArgumentError(f"{self.__name__}: out is read-only")
        for found, given in zip(parts, outs, strict=True):
            np.copyto(given, found)

    def _operands(self, names: tuple[str, ...], statics: dict[str, Any]) -> list[Operand]:
        """These inputs with their shapes in numbers; remembered of a kernel whose static arguments are fixed."""
        known = self._shapes.get(names)
        if known is None:
            known = [p.operand(statics, self.__name__) for p in self._parameters if p.name in names]
            if not self._arguments.free_statics:
                self._shapes[names] = known
        return known

    def eager(self, *args, **kwargs):
        """The plain Python function on float64 arrays, one sample at a time: the reference, and what one debugs."""
        inputs, statics = self._arguments.sort(args, kwargs)
        variant = self._variant(statics, list(inputs))
        values = []
        for o, (name, x) in zip(variant.inputs, inputs.items(), strict=True):
            a = np.array(as_input(x, name, f"{self.__name__}.eager"), dtype=np.float64)
            if a.shape[o.sequence :] != o.shape or a.ndim != len(o.shape) + o.sequence:
                raise ArgumentError(
                    f"{self.__name__}.eager: argument '{name}' has shape {a.shape}; it takes one sample, "
                    f"of shape {('length', *o.shape) if o.sequence else o.shape}{o.note}"
                )
            a.flags.writeable = False
            values.append(a if a.ndim else a[()])
        with eagerly():
            return variant.here(values)

    def _variant(self, statics: dict[str, Any], present: list[str]) -> Variant:
        """This kernel with these static arguments: a variant of its own, or of the kernel that is bound to them."""
        if others := self._arguments.other_than_defaults(statics):
            return self.bind(**others)._variant(statics, present)
        found = self._variants.get(tuple(present))
        if found is None:
            # Without the lock, for plain Python needs none: modules run `eager` while another thread, which holds the
            # lock, may be waiting for them. Of two threads that make the same variant the first one's is kept.
            made = self._make(statics, present)
            made.share = self._share
            if self._unrolled:
                made.most = math.inf
            found = self._variants.setdefault(tuple(present), made)
        return found

    def _arrays(self, given: dict[str, Any]) -> tuple[list[np.ndarray], str]:
        """The inputs as arrays of one dtype, and which: float32 if all arrays have it."""
        _load_callers()
        from .machine.execution import DTYPES

        arrays = [as_input(x, k, self.__name__) for k, x in given.items()]
        strong = [a.dtype for a, x in zip(arrays, given.values(), strict=True) if not self._arguments.is_weak(x)]
        dtype = "f32" if strong and all(d == np.float32 for d in strong) else "f64"
        return [a if a.dtype == DTYPES[dtype] else a.astype(DTYPES[dtype]) for a in arrays], dtype

    def _run(self, variant: Variant, arrays: list[np.ndarray], dtype: str, out):
        from .machine.execution import DTYPES, prepare_out

        name = self.__name__
        layouts = [(a.shape, a.strides, a.flags.aligned) for a in arrays]
        if out is not None:
            given = out if isinstance(out, tuple | list) else (out,)
            layouts += [(a.shape, a.strides, a.flags.aligned) for a in given if isinstance(a, np.ndarray)]
        known = variant.plans.get((dtype, *layouts))
        if known and variant.borrowed and not variant.lends(dtype, known[1], known[3]):
            known = None
        code, made, batch, length = known[1:] if known else variant.fit(arrays, dtype, name)
        results = prepare_out(code.outputs, out, batch, length, DTYPES[dtype], name)
        # Results that share memory with an input are computed beside it first.
        targets = results
        if out is not None:
            targets = [np.empty_like(r) if any(np.may_share_memory(r, a) for a in arrays) else r for r in results]
        direct = out is None or all(t is r for t, r in zip(targets, results, strict=True))
        plan = known[0] if known and direct else code.plan(arrays, targets, batch, length)
        if known is None and direct:
            variant.keep_plan((dtype, *layouts), (plan, code, made, batch, length))
        plan.run([*arrays, *targets], lambda: self.threads)
        if out is None:
            results = [r if r.ndim else r[()] for r in results]
        elif not direct:
            for r, t in zip(results, targets, strict=True):
                if t is not r:
                    r[...] = t
        if variant.called < len(variant.codes):
            self._make_thin(variant)
        return results[0] if made is None else made(*results)

    def _normal(self, variant: Variant, *values, out=None):
        """A call that machine code does not serve as it is: by the same road, once its arguments are arrays."""
        found = one_dtype(values, self._arguments.weak)
        if found is None:
            return NotImplemented
        arrays, dtype, changed = found
        call = variant.call  # read once: another thread may let go of it
        if changed and call is not None:
            return call(*arrays) if out is None else call(*arrays, out=out)
        return self._run(variant, arrays, dtype, out)

    def _make_thin(self, variant: Variant) -> None:
        """After the first call: let CPython call the machine code itself (see thin_caller).

        The kernel's own call serves positional arguments with every static and optional one left out.
        """
        variant.called = len(variant.codes)
        variant.normal = functools.partial(self._normal, variant)
        variant.call = self._caller(variant, len(variant.inputs), [None] * len(variant.inputs), variant.normal)
        if not self._arguments.are_bound or variant is not self._only("call"):
            return
        given = {p.name: p for p in self._arguments.free}
        names = [o.name for o in variant.inputs]
        places = 0  # inputs that positional arguments fill; the others must have defaults
        for p, name in zip(given.values(), names, strict=False):
            if p.name != name or p.keyword_only:
                break
            places += 1
        if any(given[name].default is MISSING for name in names[places:]):
            return
        defaults = [None if given[n].default is MISSING else given[n].default for n in names]
        long_way = functools.partial(Kernel.__call__, self)
        call = self._caller(variant, places, defaults, long_way)
        if call is not long_way:
            type(self).__call__ = call  # each kernel has a class of its own, see _of

    def _caller(self, variant: Variant, places: int, defaults: list, call: Callable) -> Callable:
        """A function that runs a variant's code itself where it can, and leaves the rest to `call`."""
        from .machine.cpython_entry import thin_caller

        for dtype in ("f32", "f64"):
            # Of sequences it serves one sample.
            kinds = [(dtype, True, frozenset()), None if variant.has_sequences else (dtype, False, frozenset())]
            found = [variant.codes.get(kind) for kind in kinds]
            if any(found):
                # float32 is for calls with such an array, which no default is.
                weak = [None, *(d if self._arguments.is_weak(d) else None for d in defaults[1:])]
                known = defaults if dtype == "f64" else weak
                call = thin_caller(self.__name__, *found, places, known, self.threads, call)
        return call

    def _inline(self, inputs: dict[str, Any], statics: dict[str, Any]):
        """The function itself, on traced or eager values; further leading axes are looped over."""
        variant = self._variant(statics, list(inputs))
        values = [x if isinstance(x, loops.Sequence | Expr) else trace.as_operand(x) for x in inputs.values()]
        extra = [
            x.shape[: x.ndim - len(o.shape)] if isinstance(x, np.ndarray) and not o.sequence else ()
            for x, o in zip(values, variant.inputs, strict=True)
        ]
        for x, o, e in zip(values, variant.inputs, extra, strict=True):
            if not isinstance(x, loops.Sequence) and not o.sequence and np.shape(x)[len(e) :] != o.shape:
                raise ArgumentError(
                    f"{self.__name__}: argument '{o.name}' has shape {np.shape(x)}; "
                    f"{o.shape} is needed, after any batch axes{o.note}"
                )
        batch = np.broadcast_shapes(*extra) if extra else ()
        if batch == ():
            return variant.here(values)
        wide: list[Any] = [
            x if isinstance(x, loops.Sequence) or o.sequence else _broadcast(x, batch + o.shape)
            for x, o in zip(values, variant.inputs, strict=True)
        ]
        rows = [
            variant.here(
                [
                    w if isinstance(w, loops.Sequence) or o.sequence else w[i]
                    for w, o in zip(wide, variant.inputs, strict=True)
                ]
            )
            for i in np.ndindex(batch)
        ]
        if isinstance(rows[0], tuple):
            return type(rows[0])(*(_stack(list(column), batch) for column in zip(*rows, strict=True)))
        return _stack(rows, batch)

    # --- specialising --------------------------------------------------------------------------------

    def bind(self, /, *args, lift: str | tuple[str, ...] = (), unroll: bool = False, **statics) -> Kernel:
        """This kernel with static arguments fixed; positional ones fill the static parameters in order.

        `lift` names numbers of a static argument, as "inertias" of a Robot, that become inputs: by keyword, the
        argument's own numbers by default. So they can be batches, and there are derivatives by them. (Where the
        function has another argument of that name, "damping" is lifted as `damping_`.)

        A function becomes a program without loops but those it is written with, and a program of more than 600 000
        operations is refused with a `CompileError`. `unroll=True` compiles it all the same, the kernels made from this
        one too, and does not use loops that stand in for it (as for robots with many bodies).
        """
        names = [p.name for p in self._parameters if p.static and p.name not in self._statics]
        if len(args) > len(names):
            raise ArgumentError(
                f"{self._arguments.signature}.bind takes at most {len(names)} static arguments; got {len(args)}"
            )
        fixed = {k: tupled(x) for k, x in {**dict(zip(names, args, strict=False)), **statics}.items()}
        unknown = [k for k in fixed if k not in names]
        if unknown:
            raise ArgumentError(
                f"{self.__name__} has no free static argument {', '.join(unknown)}; it has {', '.join(names) or 'none'}"
            )
        lift = _names(lift)
        if any(getattr(value, "runs_inline", False) for value in fixed.values()):
            return _Inline(self, {**self._statics, **fixed})  # type: ignore[return-value]
        if any(map(_stands_for, fixed.values())):
            return self._lifted(fixed, lift, unroll)
        try:
            key = "bind", tuple((name, _mark(value)) for name, value in fixed.items()), lift, bool(unroll)
            bound = self._made.get(key)
        except TypeError:
            bad = next(k for k, v in fixed.items() if not _hashable(v))
            raise ArgumentError(
                f"{self._arguments.signature}: argument '{bad}' must be a value such as a Robot or a name, got "
                f"{type(fixed[bad]).__name__}; is an argument missing? ('{bad}' is static, so it must be hashable; "
                "whoever writes a kernel makes an argument an input by a float as its default, 1.0 for 1, or a shape)"
            ) from None
        if bound is None:
            from_origin = lift or (unroll and self._origin is not None)
            bound = self._lifted(fixed, lift, unroll) if from_origin else self._specialised(fixed, unroll)
            bound = self._made.setdefault(key, bound)
        return kept_kernels.use(bound)

    def _specialised(self, fixed: dict[str, Any], unroll: bool) -> Kernel:
        bound = Kernel._of(self.__name__, self._parameters, self._make, self.__doc__, {**self._statics, **fixed})
        bound._origin = self, "bind", {**fixed, **({"unroll": True} if unroll else {})}
        bound._unrolled, bound._other = unroll or self._unrolled, None if unroll else self._other
        return bound

    def _lifted(self, fixed: dict[str, Any], lift: tuple[str, ...], unroll: bool) -> Kernel:
        """`bind` with options: made from the kernel of the function itself, then derived as this one is."""
        if self._origin is not None:
            parent, how, given = self._origin
            if how != "bind":
                return _remake(parent.bind(**fixed, lift=lift, unroll=unroll), how, given)
            options = {"lift": (*given.get("lift", ()), *lift), "unroll": unroll or self._unrolled}
            return parent.bind(**{**given, **fixed, **options})
        arrays: dict[tuple[str, str], Any] = {}
        for name, value in fixed.items():
            if (known := _stands_for(value)) is not None:
                fixed = {**fixed, name: known[0]}
                arrays |= {(name, k): x for k, x in known[1].items()}
        if arrays:
            return self.bind(**fixed, lift=(*lift, *(k for _, k in arrays)), unroll=unroll)._given(arrays)
        parameters = lifted_parameters(self._parameters, fixed, lift, self.__name__)
        make = functools.partial(TracedVariant, self.__wrapped__, self.__name__, parameters)  # type: ignore[attr-defined]
        bound = Kernel._of(self.__name__, parameters, make, self.__doc__, fixed)
        bound._origin, bound._unrolled = (self, "bind", {**fixed, "lift": lift, "unroll": unroll}), unroll
        return bound

    def over(self, parameters: list[Parameter], **statics) -> Kernel:
        """The kernel of the same function with other inputs, which one of its static arguments knows how to take.

        That argument has a method `runs(function, inputs, statics)`: it calls the function with what stands for these
        inputs, and returns a result.
        """
        make = functools.partial(TracedVariant, self.__wrapped__, self.__name__, parameters)  # type: ignore[attr-defined]
        made = Kernel._of(self.__name__, parameters, make, self.__doc__, statics)
        made._origin = self, "over", (parameters, statics)
        return made

    def _given(self, arrays: dict[tuple[str, str], Any]) -> Kernel:
        """This kernel with values for lifted inputs, for use inside another one's function; not remembered."""
        parameters = [
            replace(p, default=arrays[p.lifted_from], hidden=True) if p.lifted_from in arrays else p
            for p in self._parameters
        ]
        made = Kernel._of(self.__name__, parameters, self._make, self.__doc__, self._statics)
        made._variants = self._variants
        return made

    @classmethod
    def _of(cls, name, parameters, make, doc, statics=None) -> Kernel:
        # A class of its own for every kernel: `__call__` is looked up on the class, and is replaced by machine code.
        return type("Kernel", (Kernel,), {"__module__": __name__})(name, parameters, make, doc, statics)

    def _only(self, wanted: str) -> Variant:
        """The variant of a kernel whose static arguments are all known."""
        return self._variant(*self._arguments.left_out(wanted))

    @property
    def threads(self) -> int:
        """Threads a large batch is split over; settable. Default: ADJOINT_THREADS, or the processors available.

        A kernel made from another one (bound, or a derivative) follows that one until it is set itself.
        """
        from .machine.execution import default_threads

        if self._threads is None and self._origin is not None:
            return self._origin[0].threads
        return self._threads or default_threads()

    @threads.setter
    def threads(self, value: int | None) -> None:
        from .machine.execution import check_threads

        self._threads = None if value is None else check_threads(value, "threads")
        self._forget_thin()

    def _forget_thin(self) -> None:
        """Thin callers know the number of threads: have them made again, here and in kernels made from this one."""
        self._let_go()
        for k in list(self._made.values()):
            k._forget_thin()

    # --- being kept: see that file -------------------------------------------------------------------

    def _is_wanted(self) -> bool:
        """Whether this kernel is not to be let go yet: it was told its threads, or was the last its parent ran.

        The parent no longer thinks of it then, so the next answer may be another.
        """
        parent = self._origin[0] if self._origin else None
        known = list(parent._forms.items()) if parent else []
        mine = [form for form, k in known if isinstance(k, StaticForm) and k.bound is self]
        for form in mine:
            parent._forms.pop(form, None)  # type: ignore[union-attr]
        is_recent = parent is not None and parent._recent is not None and parent._recent.bound is self
        if is_recent:
            parent._recent = None  # type: ignore[union-attr]
        return bool(mine) or is_recent or self._threads is not None

    def _let_go(self) -> None:
        """No longer be held by this kernel's own class and codes, whose callers know it; the next call makes others."""
        type(self).__call__ = Kernel.__call__
        self._forms.clear()
        for variant in list(self._variants.values()):
            variant.call, variant.normal, variant.called = None, None, 0

    def _is_made_for(self, value) -> bool:
        """Whether this is one of its static arguments."""
        return any(type(x) is type(value) and x == value for x in self._statics.values())

    def _drop_programs(self) -> kept_kernels.Share:
        """Free the programs that tracing again would give, of functions of the library; returns what is left."""
        for variant in list(self._variants.values()):
            variant.drop_program()
        return self._share

    # --- ahead of time -------------------------------------------------------------------------------

    def compile(self, *optional: str, dtype=np.float64) -> Kernel:
        """Make the machine code for single calls and for batches ready, ahead of a control loop; returns this kernel.

        Calls compile what they need when it is first needed, and large functions are compiled for single calls and for
        batches only where both are used much. After `compile`, no call does, of any shape and strides, and all go
        straight from CPython to machine code. It costs nothing if the code is there already, or in the disk cache.

        Parameters
        ----------
        optional
            Names of inputs that may be left out (their default is None) and that the calls are going to have.
        dtype
            float64 or float32: of the arrays in those calls.

        >>> import adjoint as aj
        >>> torques = aj.inverse_dynamics.bind(aj.robots.puma560()).compile()
        >>> torques([0.0] * 6, [0.0] * 6, [0.0] * 6).shape
        (6,)
        """
        kind = _dtype_name(dtype, self.__name__)
        statics, present = self._arguments.left_out("compile")
        choice = [p.name for p in self._arguments.free if not p.static and p.default is None]
        if unknown := [name for name in optional if name not in choice]:
            raise ArgumentError(
                f"{self.__name__}.compile: {', '.join(map(repr, unknown))} is no input that may be left out; "
                f"there are: {', '.join(choice) or 'none'}"
            )
        if self._other is not None:
            names = tuple(p.name for p in self._parameters if p.name in {*present, *optional})
            if (other := self._instead(statics, names)) is not None:
                self._run_elsewhere(other, statics, names)
                return self
        for name in optional:
            statics.pop(name)
        variant = self._variant(statics, [p.name for p in self._parameters if p.name in {*present, *optional}])
        for o in variant.inputs:
            if o.name in optional and o.note:
                raise ArgumentError(f"{self.__name__}.compile: '{o.name}' would be empty{o.note}; fix it by bind first")
        _load_callers()
        for single in (True, False):
            code, _ = variant.compiled(kind, single)
            _ = code.strided  # loaded now
        self._make_thin(variant)
        return self

    def _run_elsewhere(self, other: Callable, statics: dict[str, Any], names: tuple[str, ...]) -> None:
        """Have what `instead` made compile what it needs: for a sample of zeros, and a batch of two."""
        operands = self._operands(names, statics)
        for batch in ((), (2,)):
            with np.errstate(all="ignore"):
                self._elsewhere(other, {o.name: np.zeros((*batch, *o.shape)) for o in operands}, statics, None)

    # --- looking inside ------------------------------------------------------------------------------

    @property
    def operations(self) -> Operations:
        """Operations one sample takes, counted on the graph.

        Of a robot with many bodies they are those of the loops that run, over all bodies.
        """
        statics, present = self._arguments.left_out("operations")
        if self._other is not None and (other := self._instead(statics, tuple(present))) is not None:
            return self._operations_elsewhere(other, statics, present)
        return Operations(*count_operations(self._only("operations").program))

    def _operations_elsewhere(self, other: Callable, statics: dict[str, Any], present: list[str]) -> Operations:
        """Those of all kernels that run on one sample, if `instead` leaves it to other functions."""
        sample = {o.name: np.zeros(o.shape) for o in self._operands(tuple(present), statics)}
        with np.errstate(all="ignore"):
            self._elsewhere(other, sample, statics, None)  # what is checked once of a robot is no part of it
            with _noting_calls() as calls:
                self._elsewhere(other, sample, statics, None)
        counts = np.zeros(len(Operations._fields), int)
        for variant, arrays in calls:
            *_, batch, length = variant.fit(arrays, "f64", self.__name__)
            counts += math.prod(batch) * np.array(count_operations(variant.program, length))
        return Operations(*counts.tolist())

    def source(self, language: str, name: str | None = None) -> str:
        """The kernel as text: "llvm" (IR), "c" (one self-contained C99 file) or "asm" (the host's assembly).

        `name` is that of the C function; by default the kernel's own, with a `_` if it is taken in C.
        """
        from . import export

        return export.source(self._only("source"), language, name)

    def symbolic(self):
        """The kernel as a `casadi.Function`, for NLP and MPC users."""
        from . import export

        return export.symbolic(self._only("symbolic"))

    # --- derivatives ---------------------------------------------------------------------------------

    def jacobian(self, *names: str) -> Kernel:
        """The kernel of d(output)/d(input), shape output + input; several names or outputs give a NamedTuple.

        Fields are named after the inputs; of several outputs, after the outputs, or `output_input` if both are several.
        """
        return self._derivative("jacobian", names)

    def hessian(self, *names: str) -> Kernel:
        """The kernel of second derivatives, shape output + input + input; one or two input names."""
        return self._derivative("hessian", names)

    @property
    def jvp(self) -> Kernel:
        """The kernel (inputs, their tangents `x_dot`) -> (outputs, their tangents): directional derivatives."""
        return self._derivative("jvp")

    @property
    def vjp(self) -> Kernel:
        """The kernel (inputs, cotangents of the outputs `out_bar`) -> cotangents of the inputs: gradients."""
        return self._derivative("vjp")

    def _derivative(self, kind: str, *arguments) -> Kernel:
        from .transform import derivative_kernels

        return self._made_once(getattr(derivative_kernels, kind), *arguments)

    def _made_once(self, make: Callable[..., Kernel], *arguments) -> Kernel:
        """The kernel that `make` makes from this one."""
        key = repr((make.__name__, *arguments))
        with compiling:
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = make(self, *arguments)
            return kept_kernels.use(found)

    # --- packed results ------------------------------------------------------------------------------

    @property
    def packed(self) -> Kernel:
        """The kernel of the same results without zeros and repetitions: each (..., m), made whole again by `unpack`.

        What does not depend on the inputs is left out, and of numbers that are equal, or differ in their sign, for all
        inputs by the way they are computed (symmetric matrices), one is kept. For large batches of sparse results,
        which take longer to write than to compute. Options are bound first; inputs that can be None are left out.
        """
        from .transform import packed_results

        return self._made_once(packed_results.packed)

    @cached_property
    def packing(self) -> Any:
        """Where the numbers of `packed` belong: a `Packing`, or a NamedTuple of one for each result."""
        from .transform import packed_results

        return packed_results.packing(self)

    @property
    def unpack(self) -> Kernel:
        """The kernel of the whole results, from those of `packed`: `unpack(values)`, of several `unpack(*values)`."""
        from .transform import packed_results

        return self._made_once(packed_results.unpack)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        first = self._parameters[0] if self._parameters else None
        if first is not None and first.static and first.name not in self._statics:
            return self.bind(instance)  # a method: its object is static
        return functools.partial(self, instance)

    def __setattr__(self, name: str, value) -> None:
        if not name.startswith("_") and name != "threads":
            raise AttributeError(f"a kernel has no attribute '{name}' to set; there is `threads`")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        free = ", ".join(p.name for p in self._parameters if p.name not in self._statics)
        fixed = "".join(f", {k}={_short(v)}" for k, v in self._statics.items())
        return f"<kernel {self.__name__}({free}){fixed}>"

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo) -> Kernel:
        return self

    def __reduce__(self):
        if self._origin is not None:
            return _remake, self._origin
        if "<" in self.__qualname__:
            raise pickle.PicklingError(f"{self!r} cannot be pickled: define it at the top of a module")
        return _import, (self.__module__, self.__qualname__)


def _import(module: str, qualname: str) -> Kernel:
    """A kernel by the name it is defined under (how kernels are pickled)."""
    import importlib

    return functools.reduce(getattr, qualname.split("."), importlib.import_module(module))


def _remake(parent: Kernel, how: str, given) -> Kernel:
    """A kernel made from another: bound, or a derivative."""
    made = getattr(parent, how)
    if how == "over":
        return made(given[0], **given[1])
    return made if isinstance(made, Kernel) else made(**given) if how == "bind" else made(*given)


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:36] + " ..."


def _mark(value):
    """A key under which only the same static value is found: 1, True and 1.0 differ, and so do 0.0 and -0.0."""
    if isinstance(value, float | complex):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return type(value), *map(_mark, value)
    return type(value), value


@functools.cache
def _load_callers() -> None:
    """Load the files that run machine code, before the first call: `import adjoint` is quicker without them.

    It is done under the lock, for which a thread that forks waits: the child would never get files that another thread
    was reading.
    """
    with compiling:
        from .machine import cpython_entry, execution  # noqa: F401


def _dtype_name(dtype, function: str) -> str:
    """What machine code for arrays of a dtype is called."""
    try:
        return {"d": "f64", "f": "f32"}[np.dtype(dtype).char]
    except (TypeError, KeyError):
        raise ArgumentError(f"{function}.compile: dtype must be float64 or float32; got {dtype!r:.60}") from None


def _stands_for(value) -> tuple[Any, dict[str, Any]] | None:
    """What a stand-in stands for, see `Liftable`; None for all other values."""
    return getattr(value, "stands_for", None)


def _names(lift) -> tuple[str, ...]:
    """Names to lift, each once; one may be given bare."""
    given = (lift,) if isinstance(lift, str) else tuple(lift) if isinstance(lift, Iterable) else (None,)
    names = [name for name in given if isinstance(name, str)]
    if len(names) < len(given):
        raise ArgumentError(f"bind: lift must be a name such as 'inertias', or several of them, got {lift!r}")
    return tuple(dict.fromkeys(names))


def _is_plain(value) -> bool:
    """Whether it equals other values of its type only if nothing can tell them apart, and never changes."""
    return type(value) in _PLAIN or (_hashable(value) and hasattr(value, "fingerprint"))


def _hashable(v) -> bool:
    try:
        hash(v)
    except TypeError:
        return False
    return True


def _broadcast(x, shape):
    if isinstance(x, Expr):
        box = np.empty((), dtype=object)
        box[()] = x
        x = box.view(trace.Traced)
    return np.broadcast_to(x, shape, subok=True)


def _stack(rows: list, batch):
    return np.reshape(np.stack(rows), batch + np.shape(rows[0]))


def kernel(fn: Callable | None = None, /, **shapes) -> Any:
    """Turn a NumPy function of one sample into a compiled function of any batch.

    Use as `@kernel`, `@kernel(x=3, T=(4, 4))` or `kernel(fn, x=3)`. The keywords give core shapes: a whole number, a
    tuple of them, or names of attributes of static arguments (`q="nq"`). A leading `...` makes a sequence whose length
    is given at call time, to be used in `scan`. `static` marks a static argument.

    Arguments without a declared shape: no default or a float default, a scalar; an array default, an input of that
    shape; any other default (None, str, bool, int, tuple), static. A declared shape with default None is an optional
    input. The function returns one array or scalar, or a NamedTuple of them.

    The result is a `Kernel`: call it with arrays `(..., *core shape)`; see `eager`, `bind`, `jacobian`, `jvp`, `vjp`,
    `hessian`, `packed`, `compile`, `operations`, `source`, `symbolic`, `threads`.

    >>> @kernel(x=3)
    ... def norm(x):
    ...     return np.sqrt(x @ x)
    >>> norm(np.ones((5, 3))).shape
    (5,)
    """
    if fn is None:
        return lambda f: kernel(f, **shapes)
    if not callable(fn):
        raise ArgumentError(f"kernel needs a function; got {type(fn).__name__} {fn!r:.60}")
    function, name = fn, function_name(fn)
    known = parameters(function, shapes)

    def make(statics: dict, present: list[str]) -> Variant:
        return TracedVariant(function, name, known, statics, present)

    result = Kernel._of(name, known, make, fn.__doc__)
    result.__module__ = getattr(fn, "__module__", None) or "__main__"
    result.__qualname__ = getattr(fn, "__qualname__", name)
    result.__wrapped__ = fn  # type: ignore[attr-defined]
    return result
