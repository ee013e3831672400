"""`Kernel`: what users hold, a function of one sample that is callable on any batch and run as machine code.

This class is a list of what a kernel can do. `function` has what a kernel is and remembers, `dispatch` the way of a
call, `binding` kernels with static arguments fixed, `inline` kernels that run as plain Python, `transform` the kernels
of derivatives and of packed results.
"""

from __future__ import annotations

import functools
import html
import math
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from ..errors import ArgumentError
from ..lazy import cached_property
from .front import binding, dispatch, inline, kept_kernels
from .front.function import Function
from .front.parameters import Parameter
from .front.tracebacks import folded
from .graph.operation_counts import count_operations
from .machine.locks import compiling

__all__ = ["Kernel", "Operations"]

P = ParamSpec("P")
R = TypeVar("R")


class Operations(NamedTuple):
    """How many operations one sample takes; a loop counts its body once for each iteration (once, if unknown)."""

    adds: int
    muls: int
    divs: int
    sqrts: int
    transcendental: int
    comparisons: int


class Kernel(Function, Generic[P, R]):
    """A function of one sample, callable on any batch of them. `kernel` makes kernels; nobody makes one directly."""

    # --- calling -----------------------------------------------------------------------------------

    if TYPE_CHECKING:  # `out` is understood by every kernel, and is no parameter of its function

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, *args: Any, out: np.ndarray | tuple[np.ndarray, ...], **kwargs: Any) -> R: ...
        def __call__(self, *args, **kwargs) -> Any: ...

    else:

        def __call__(self, *args, out=None, **kwargs):
            """Compute all samples. Batch axes broadcast; `out` receives the result(s) instead of new arrays."""
            memory = self.memory
            try:
                recent = memory.recent if out is None and not kwargs else None
                if recent is not None and len(args) == recent.places and args[0] is recent.static:
                    return recent.bound(*args[1:])
                form = (len(args), *kwargs)
                if (known := memory.forms.get(form)) is not None:
                    found = known.call(args, kwargs, out)
                    if found is not NotImplemented:
                        return found
                return dispatch.call(self, form, args, kwargs, out)
            except Exception as error:
                raise folded(error)  # noqa: B904 (the same error, with a shorter traceback)

    def eager(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The plain Python function on float64 arrays, one sample at a time: the reference, and what one debugs."""
        try:
            return inline.eager(self, args, kwargs)
        except Exception as error:
            raise folded(error)  # noqa: B904 (the same error, with a shorter traceback)

    def instead(self, make: Callable[[dict, tuple[str, ...]], Callable | None]) -> Callable:
        """A decorator: calls are left to what `make(statics, names of the inputs given)` makes, unless it is None.

        That is a function of {name: array}, batches and all. For what cannot be unrolled, as robots with a million
        bodies. Eagerly, and inside kernels, this kernel's own function is run.
        """
        self.other = make
        return make

    @property
    def threads(self) -> int:
        """Threads a large batch is split over; settable. Default: ADJOINT_THREADS, or the processors available.

        A kernel made from another one (bound, or a derivative) follows that one until it is set itself.
        """
        from .machine.thread_count import default_threads

        if self.own_threads is None and self.origin is not None:
            return self.origin.parent.threads
        return self.own_threads or default_threads()

    @threads.setter
    def threads(self, value: int | None) -> None:
        from .machine.thread_count import check_threads

        self.own_threads = None if value is None else check_threads(value, "threads")
        self.forget_callers()

    # --- specialising --------------------------------------------------------------------------------

    def bind(self, /, *args, lift: str | tuple[str, ...] = (), unroll: bool = False, **statics) -> Kernel[..., R]:
        """This kernel with static arguments fixed; positional ones fill the static parameters in order.

        `lift` names numbers of a static argument, as "inertias" of a Robot, that become inputs: by keyword, the
        argument's own numbers by default. So they can be batches, and there are derivatives by them. (Where the
        function has another argument of that name, "damping" is lifted as `damping_`.)

        A function becomes a program without loops but those it is written with, and a program of more than 600 000
        operations is refused with a `CompileError`. `unroll=True` compiles it all the same, the kernels made from this
        one too, and does not use loops that stand in for it (as for robots with many bodies).
        """
        return binding.bind(self, args, lift, unroll, statics)

    def with_other_inputs(self, parameters: list[Parameter], statics: dict[str, Any]) -> Kernel[..., Any]:
        """The kernel of the same function with other inputs, which one of its static arguments knows how to take.

        That argument has a method `runs(function, inputs, statics)`: it calls the function with what stands for these
        inputs, and returns a result.
        """
        return binding.with_other_inputs(self, parameters, statics)

    def compile(self, *optional: str, dtype=np.float64) -> Kernel[P, R]:
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
        statics, present = self.arguments.left_out("compile")
        choice = [p.name for p in self.arguments.free if not p.static and p.default is None]
        if unknown := [name for name in optional if name not in choice]:
            raise ArgumentError(
                f"{self.__name__}.compile: {', '.join(map(repr, unknown))} is no input that may be left out; "
                f"there are: {', '.join(choice) or 'none'}"
            )
        names = [p.name for p in self.parameters if p.name in {*present, *optional}]
        if (other := self.instead_of_this(statics, names)) is not None:
            for batch in ((), (2,)):  # what is called there compiles what it needs
                with np.errstate(all="ignore"):
                    dispatch.call_elsewhere(self, other, self._zeros(statics, names, batch), statics, None)
            return self
        for name in optional:
            statics.pop(name)
        found = self.specialisation(statics, names)
        for o in found.inputs:
            if o.name in optional and o.note:
                raise ArgumentError(f"{self.__name__}.compile: '{o.name}' would be empty{o.note}; fix it by bind first")
        dispatch.load_callers()
        for single in (True, False):
            code, _ = found.compiled(kind, single)
            _ = code.strided  # loaded now
        dispatch.make_callers(self, found)
        return self

    def _zeros(self, statics: dict[str, Any], names: list[str], batch: tuple[int, ...]) -> dict[str, np.ndarray]:
        operands = self.specialisation(statics, names).inputs
        return {o.name: np.zeros((*batch, *o.shape)) for o in operands}

    # --- looking inside ------------------------------------------------------------------------------

    @property
    def operations(self) -> Operations:
        """Operations one sample takes, counted on the graph.

        Of a robot with many bodies they are those of the loops that run, over all bodies.
        """
        statics, present = self.arguments.left_out("operations")
        if (other := self.instead_of_this(statics, present)) is not None:
            return self._operations_elsewhere(other, statics, present)
        return Operations(*count_operations(self.only_specialisation("operations").program))

    def _operations_elsewhere(self, other: Callable, statics: dict[str, Any], present: list[str]) -> Operations:
        """Those of all kernels that run on one sample, if `instead` leaves it to other functions."""
        sample = self._zeros(statics, present, ())
        with np.errstate(all="ignore"):
            dispatch.call_elsewhere(self, other, sample, statics, None)  # what is checked once is no part of it
            with dispatch.noting_calls() as calls:
                dispatch.call_elsewhere(self, other, sample, statics, None)
        counts = np.zeros(len(Operations._fields), int)
        for found, arrays in calls:
            *_, batch, length = found.fit(arrays, "f64", self.__name__)
            counts += math.prod(batch) * np.array(count_operations(found.program, length))
        return Operations(*counts.tolist())

    def source(self, language: str, name: str | None = None) -> str:
        """The kernel as text: "llvm" (IR), "c" (one self-contained C99 file) or "asm" (the host's assembly).

        `name` is that of the C function; by default the kernel's own, with a `_` if it is taken in C.
        """
        from .front import export

        return export.source(self.only_specialisation("source"), language, name)

    def symbolic(self):
        """The kernel as a `casadi.Function`, for NLP and MPC users; needs casadi: pip install 'adjoint[casadi]'."""
        from .front import casadi_functions

        return casadi_functions.symbolic(self.only_specialisation("symbolic"))

    # --- derivatives ---------------------------------------------------------------------------------

    @overload
    def jacobian(self: Kernel[P, np.ndarray], name: str, /) -> Kernel[P, np.ndarray]: ...
    @overload
    def jacobian(self, *names: str) -> Kernel[P, Any]: ...
    def jacobian(self, *names) -> Any:
        """The kernel of d(output)/d(input), shape output + input; several names or outputs give a NamedTuple.

        Fields are named after the inputs; of several outputs, after the outputs, or `output_input` if both are several.
        """
        return self._derivative("jacobian", names)

    @overload
    def hessian(self: Kernel[P, np.ndarray], name: str, /) -> Kernel[P, np.ndarray]: ...
    @overload
    def hessian(self, *names: str) -> Kernel[P, Any]: ...
    def hessian(self, *names) -> Any:
        """The kernel of second derivatives, shape output + input + input; one or two input names."""
        return self._derivative("hessian", names)

    @property
    def jvp(self) -> Kernel[..., Any]:
        """The kernel (inputs, their tangents `x_dot`) -> (outputs, their tangents): directional derivatives."""
        return self._derivative("jvp")

    @property
    def vjp(self) -> Kernel[..., Any]:
        """The kernel (inputs, cotangents of the outputs `out_bar`) -> cotangents of the inputs: gradients."""
        return self._derivative("vjp")

    def _derivative(self, kind: str, *arguments) -> Any:
        from .transform import derivative_kernels

        return self._made_once(getattr(derivative_kernels, kind), *arguments)

    def _made_once(self, make: Callable[..., Any], *arguments) -> Any:
        """The kernel that `make` makes from this one."""
        key = repr((make.__name__, *arguments))
        with compiling:
            found = self.memory.made.get(key)
            if found is None:
                found = self.memory.made[key] = make(self, *arguments)
            return kept_kernels.use(found)

    # --- packed results ------------------------------------------------------------------------------

    @property
    def packed(self) -> Kernel[..., R]:
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
    def unpack(self) -> Kernel[..., R]:
        """The kernel of the whole results, from those of `packed`: `unpack(values)`, of several `unpack(*values)`."""
        from .transform import packed_results

        return self._made_once(packed_results.unpack)

    # --- Python's protocols --------------------------------------------------------------------------

    @classmethod
    def new(cls, name, parameters, make, doc, statics=None) -> Any:
        """A kernel, in a class of its own: `__call__` is looked up on the class, and is replaced by machine code."""
        return type("Kernel", (Kernel,), {"__module__": __name__})(name, parameters, make, doc, statics)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        first = self.parameters[0] if self.parameters else None
        if first is not None and first.static and first.name not in self.statics:
            return self.bind(instance)  # a method: its object is static
        return functools.partial(self, instance)

    def __dir__(self) -> list[str]:
        return sorted({*_PUBLIC, *(name for name in object.__dir__(self) if name.startswith("__"))})

    def __repr__(self) -> str:
        return f"<kernel {self.arguments.described}>"

    def _repr_html_(self) -> str:
        """For notebooks: the signature, the first sentence of the docstring, and what the kernel can do."""
        first, _, _ = (self.__doc__ or "").strip().partition("\n\n")
        methods = ", ".join(f"<code>.{name}</code>" for name in _PUBLIC)
        parts = f"<b>kernel</b> <code>{html.escape(self.arguments.described)}</code>", html.escape(first), methods
        return "<br>".join(part for part in parts if part)

    def __copy__(self) -> Kernel[P, R]:
        return self

    def __deepcopy__(self, memo) -> Kernel[P, R]:
        return self

    def __reduce__(self):
        if self.origin is not None:
            return binding.remake, tuple(self.origin)
        if "<" in self.__qualname__:
            raise pickle.PicklingError(f"{self!r} cannot be pickled: define it at the top of a module")
        return _import, (self.__module__, self.__qualname__)


_PUBLIC = (
    "bind", "compile", "eager", "hessian", "instead", "jacobian", "jvp", "operations", "packed", "packing", "source",
    "symbolic", "threads", "unpack", "vjp",
)  # fmt: skip


def _import(module: str, qualname: str) -> Kernel:
    """A kernel by the name it is defined under (how kernels are pickled)."""
    import importlib

    return functools.reduce(getattr, qualname.split("."), importlib.import_module(module))  # type: ignore[return-value]


def _dtype_name(dtype, function: str) -> str:
    """What machine code for arrays of a dtype is called."""
    try:
        return {"d": "f64", "f": "f32"}[np.dtype(dtype).char]
    except (TypeError, KeyError):
        raise ArgumentError(f"{function}.compile: dtype must be float64 or float32; got {dtype!r:.60}") from None
