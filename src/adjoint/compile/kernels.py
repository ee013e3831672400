"""`Kernel`: what users hold, a function of one sample that is callable on any batch and run as machine code.

This class is a list of what a kernel can do. The work is done elsewhere: `front.function` has what a kernel is and
remembers, `front.dispatch` serves calls, `front.binding` fixes static arguments, `front.inline` runs kernels as plain
Python, and `transform` makes the kernels of derivatives and of packed results.
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
from .graph.expressions import digest
from .graph.operation_counts import count_operations
from .machine.locks import compiling

__all__ = ["Kernel", "Operations"]

P = ParamSpec("P")
R = TypeVar("R")


class Operations(NamedTuple):
    """How many operations one sample takes.

    The body of a loop counts once for each iteration, or once if the number of iterations is known only in a call.
    """

    adds: int
    muls: int
    divs: int
    sqrts: int
    transcendental: int
    comparisons: int


class Kernel(Function, Generic[P, R]):
    """A function of one sample, callable on any batch of samples as machine code.

    The decorator `kernel` makes kernels.

        M = aj.mass_matrix(robot, q)                        # q (..., 6) is any batch
        M = aj.mass_matrix.eager(robot, q[0])               # the Python function itself, for one sample
        dM = aj.mass_matrix.jacobian("q")(robot, q)         # (..., 6, 6, 6): the derivative is a kernel, too
        fast = aj.mass_matrix.bind(robot)                   # a kernel of q alone
        print(fast.operations, fast.source("c"))            # operations of one sample, and C
    """

    # --- calling -----------------------------------------------------------------------------------

    if TYPE_CHECKING:  # every kernel understands `out`, which is no parameter of its function

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, *args: Any, out: np.ndarray | tuple[np.ndarray, ...], **kwargs: Any) -> R: ...
        def __call__(self, *args, **kwargs) -> Any: ...

    else:

        def __call__(self, *args, out=None, **kwargs):
            """Compute all samples of a batch.

            Arguments are arrays of shape (..., *core shape); their leading axes, the batch, broadcast. The results go
            to new arrays, or to `out`: an array, or a tuple of one array for each result.
            """
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
        """Run the plain Python function on one sample of float64 arrays: the reference, and the way to debug it."""
        try:
            return inline.eager(self, args, kwargs)
        except Exception as error:
            raise folded(error)  # noqa: B904 (the same error, with a shorter traceback)

    def instead(self, make: Callable[[dict, tuple[str, ...]], Callable | None]) -> Callable:
        """Register another way to serve calls, for what cannot be unrolled, such as robots with a million bodies.

        `make(statics, names)` is given the static arguments of a call and the names of its inputs. It returns None, and
        this kernel serves the call itself; or a function of {name: array} that serves it, with batches of any shape.
        Eager calls, and calls inside other kernels, always run this kernel's own function. Returns `make`, so that
        `instead` can be a decorator.
        """
        self.other = make
        return make

    @property
    def threads(self) -> int:
        """The number of threads that a large batch is split over; it can be set.

        The default is ADJOINT_THREADS, or the number of processors available. A kernel made from another one (by
        `bind`, or a derivative) has the number of that one until its own is set.
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
        """Return this kernel with static arguments fixed; positional ones fill the static parameters in order.

        Parameters
        ----------
        lift
            Names of numbers in a static argument, such as "inertias" of a Robot, that become inputs of the kernel. They
            are given by keyword, and the argument's own numbers are their defaults. So they can be batches, and there
            are derivatives by them. (If the function has another argument of that name, "damping" is lifted as
            `damping_`.)
        unroll
            Compile programs of any size. A program has no loops but those written with `scan` and `while_loop`, and
            one of more than 600 000 operations is refused with a `CompileError` unless `unroll=True`. The loops that
            stand in for a kernel, as they do for robots with many bodies, are then not used. Kernels made from this
            one inherit it.

        >>> import adjoint as aj
        >>> torques = aj.inverse_dynamics.bind(aj.robots.puma560())
        >>> torques([0.0] * 6, [0.0] * 6, [0.0] * 6).shape
        (6,)
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

        Calls compile the code that they need when they need it first. Of a large function, only one of the two codes,
        for single calls or for batches, is compiled until both kinds of calls are frequent. After `compile`, no call of
        any shape and strides compiles anything, and small calls go straight from CPython to machine code. It costs
        nothing if the code is there already, and little if it is in the disk cache.

        Parameters
        ----------
        optional
            Names of inputs that may be left out (their default is None) and that the calls are going to have.
        dtype
            The dtype of the arrays in these calls: float64 or float32.

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
        for name in optional:
            statics.pop(name)
        if (other := self.instead_of_this(statics, names)) is not None:
            for batch in ((), (2,)):  # the calls there compile what they need
                with np.errstate(all="ignore"):
                    dispatch.call_elsewhere(self, other, self._zeros(statics, names, batch), statics, None)
            return self
        found = self.specialisation(statics, names)
        for o in found.inputs:
            if o.name in optional and o.note:
                raise ArgumentError(f"{self.__name__}.compile: '{o.name}' would be empty{o.note}; fix it by bind first")
        dispatch.load_callers()
        for single in (True, False):
            code, _ = found.compiled(kind, single)
            _ = code.strided  # this loads the code for any strides now
        dispatch.make_callers(self, found)
        return self

    def _zeros(self, statics: dict[str, Any], names: list[str], batch: tuple[int, ...]) -> dict[str, np.ndarray]:
        """Zeros for the inputs with these names, of a given batch shape."""
        operands = self.specialisation(statics, names).inputs
        return {o.name: np.zeros((*batch, *o.shape)) for o in operands}

    # --- looking inside ------------------------------------------------------------------------------

    @property
    def operations(self) -> Operations:
        """The number of operations that one sample takes, counted on the graph.

        For a robot with many bodies they are counted in the loops that run, over all bodies.
        """
        statics, present = self.arguments.left_out("operations")
        if (other := self.instead_of_this(statics, present)) is not None:
            return self._operations_elsewhere(other, statics, present)
        return Operations(*count_operations(self.only_specialisation("operations").program))

    def _operations_elsewhere(self, other: Callable, statics: dict[str, Any], present: list[str]) -> Operations:
        """The operations of all kernels that run for one sample, if `instead` leaves it to another function."""
        sample = self._zeros(statics, present, ())
        with np.errstate(all="ignore"):
            # The first call may check the robot; what is done once for each robot is not counted.
            dispatch.call_elsewhere(self, other, sample, statics, None)
            with dispatch.noting_calls() as calls:
                dispatch.call_elsewhere(self, other, sample, statics, None)
        counts = np.zeros(len(Operations._fields), int)
        for found, arrays in calls:
            *_, batch, length = found.fit(arrays, "f64", self.__name__)
            counts += math.prod(batch) * np.array(count_operations(found.program, length))
        return Operations(*counts.tolist())

    def source(self, language: str, name: str | None = None) -> str:
        """Return the kernel as text: "llvm" (IR), "c" (one self-contained C99 file) or "asm" (the host's assembly).

        `name` is the name of the C function; by default it is the kernel's own, with a `_` if C uses that name already.
        """
        from .front import export

        return export.source(self.only_specialisation("source"), language, name)

    def symbolic(self):
        """Return the kernel as a `casadi.Function`, for NLP and MPC.

        This needs casadi: pip install 'adjoint[casadi]'.
        """
        from .front import casadi_functions

        return casadi_functions.symbolic(self.only_specialisation("symbolic"))

    # --- derivatives ---------------------------------------------------------------------------------

    @overload
    def jacobian(self: Kernel[P, np.ndarray], name: str, /) -> Kernel[P, np.ndarray]: ...
    @overload
    def jacobian(self, *names: str) -> Kernel[P, Any]: ...
    def jacobian(self, *names) -> Any:
        """Return the kernel of the derivatives d(output)/d(input), each of shape output + input.

        Names of inputs are given; by default it is all of them. Several inputs or outputs give a NamedTuple. Its fields
        are named after the inputs if there is one output, after the outputs if there is one input, and
        `output_input` if there are several of both.

            dtau_dq = aj.inverse_dynamics.bind(robot).jacobian("q")
        """
        return self._derivative("jacobian", names)

    def digest(self) -> str:
        """Return a hash of the mathematics of this kernel; it is the same for the same function in every process."""
        program = self.only_specialisation("digest").program
        return digest(program.roots)

    def value_and_gradient(self, *names: str) -> Kernel[P, Any]:
        """Return the kernel of a number and its gradient: a NamedTuple of `value` and a field for each named input.

        It is for kernels that give one number, such as a cost. By default the gradient is by all inputs. It is taken in
        reverse, whatever the number of inputs, and loops run forward once for both.

            cost_and_gradient = cost.value_and_gradient("q")
        """
        return self._derivative("value_and_gradient", names)

    @overload
    def hessian(self: Kernel[P, np.ndarray], name: str, /) -> Kernel[P, np.ndarray]: ...
    @overload
    def hessian(self, *names: str) -> Kernel[P, Any]: ...
    def hessian(self, *names) -> Any:
        """Return the kernel of the second derivatives by one or two inputs, of shape output + input + input."""
        return self._derivative("hessian", names)

    @property
    def jvp(self) -> Kernel[..., Any]:
        """The kernel of directional derivatives: (inputs, their tangents) -> (outputs, their tangents).

        The tangent of `x` is called `x_dot`.
        """
        return self._derivative("jvp")

    @property
    def vjp(self) -> Kernel[..., Any]:
        """The kernel of gradients: (inputs, cotangents of the outputs) -> cotangents of the inputs.

        The cotangent of the output `y` is called `y_bar`; that of a single output is called `out_bar`.
        """
        return self._derivative("vjp")

    def _derivative(self, kind: str, *arguments) -> Any:
        from .transform import derivative_kernels

        return self._made_once(getattr(derivative_kernels, kind), *arguments)

    def _made_once(self, make: Callable[..., Any], *arguments) -> Any:
        """Return the kernel that `make(self, *arguments)` makes; it is made once."""
        key = repr((make.__name__, *arguments))
        with compiling:
            found = self.memory.made.get(key)
            if found is None:
                found = self.memory.made[key] = make(self, *arguments)
            return kept_kernels.mark_used(found)

    # --- packed results ------------------------------------------------------------------------------

    @property
    def packed(self) -> Kernel[..., R]:
        """The kernel of the same results without zeros and repetitions, each of shape (..., m).

        Elements that do not depend on the inputs are left out. Of elements that are equal, or differ in sign only, for
        all inputs by the way they are computed (as in symmetric matrices), one is kept. `unpack` makes the results
        whole again. This is for large batches of sparse results, which take longer to write than to compute. Options
        are bound first; inputs that can be None are left out.
        """
        from .transform import packed_results

        return self._made_once(packed_results.packed)

    @cached_property
    def packing(self) -> Any:
        """Where the numbers of `packed` belong: a `Packing`, or a NamedTuple with one for each result."""
        from .transform import packed_results

        return packed_results.packing(self)

    @property
    def unpack(self) -> Kernel[..., R]:
        """The kernel that makes the results of `packed` whole: `unpack(values)`, or `unpack(*values)` for several."""
        from .transform import packed_results

        return self._made_once(packed_results.unpack)

    # --- Python's protocols --------------------------------------------------------------------------

    @classmethod
    def new(cls, name, parameters, make, doc, statics=None) -> Any:
        """Make a kernel in a class of its own.

        Python looks `__call__` up on the class, and machine code replaces it there.
        """
        return type("Kernel", (Kernel,), {"__module__": __name__})(name, parameters, make, doc, statics)

    def __get__(self, instance, owner=None) -> Any:
        if instance is None:
            return self
        first = self.parameters[0] if self.parameters else None
        if first is not None and first.static and first.name not in self.statics:
            return self.bind(instance)  # a kernel that is a method has its object as a static argument
        return functools.partial(self, instance)

    def __dir__(self) -> list[str]:
        return sorted({*_PUBLIC, *(name for name in object.__dir__(self) if name.startswith("__"))})

    def __repr__(self) -> str:
        signature, bracket, fixed = self.arguments.described.partition(")")
        by = f" by {', '.join(self.origin.arguments)}" if self.origin and self.origin.how in _BY_NAMES else ""
        return f"<kernel {signature}{bracket}{by}{fixed}>"

    def _repr_html_(self) -> str:
        """For notebooks: the signature, the first paragraph of the docstring, and what the kernel can do."""
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


_BY_NAMES = ("jacobian", "hessian")  # methods whose arguments are names of inputs
_PUBLIC = (
    "bind", "compile", "eager", "hessian", "instead", "jacobian", "jvp", "operations", "packed", "packing", "source",
    "symbolic", "threads", "unpack", "vjp",
)  # fmt: skip


def _import(module: str, qualname: str) -> Kernel:
    """Return a kernel by the name it is defined under; this is how kernels are unpickled."""
    import importlib

    return functools.reduce(getattr, qualname.split("."), importlib.import_module(module))  # type: ignore[return-value]


def _dtype_name(dtype, function: str) -> str:
    """Return the name that machine code for arrays of a dtype has: "f64" or "f32"."""
    try:
        return {"d": "f64", "f": "f32"}[np.dtype(dtype).char]
    except (TypeError, KeyError):
        raise ArgumentError(f"{function}.compile: dtype must be float64 or float32; got {dtype!r:.60}") from None
