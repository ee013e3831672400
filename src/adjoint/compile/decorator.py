"""`kernel`: the decorator that turns a NumPy function of one sample into a `Kernel`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from ..errors import ArgumentError
from .front.parameters import declared_parameters, function_name
from .front.specialisation import Specialisation, TracedSpecialisation
from .kernels import Kernel, P, R

__all__ = ["kernel"]


@overload
def kernel(fn: Callable[P, R], /, **shapes) -> Kernel[P, R]: ...
@overload
def kernel(**shapes) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def kernel(fn: Callable | None = None, /, **shapes) -> Any:
    """Turn a NumPy function of one sample into a compiled function of any batch of samples.

    Use it as `@kernel`, `@kernel(x=3, T=(4, 4))` or `kernel(fn, x=3)`. A keyword gives the *core shape* of an argument,
    that of one sample: a whole number, a tuple of them, or names of attributes of static arguments (`q="nq"`). A
    leading `...` makes a sequence, whose length is known when the kernel is called, and which is used in `scan`.
    `static` marks a static argument: its value is fixed when the kernel is compiled.

    An argument without a declared shape is

    - a scalar input, if it has no default or a float as its default;
    - an input of the default's shape, if the default is an array;
    - static, if it has any other default (None, str, bool, int, tuple).

    An argument with a declared shape and the default None is an input that may be left out. The function returns one
    array or scalar, or a NamedTuple of them.

    The result is a `Kernel`. Call it with arrays of shape `(..., *core shape)`, whose leading axes broadcast. See its
    `eager`, `bind`, `jacobian`, `jvp`, `vjp`, `hessian`, `packed`, `compile`, `operations`, `source`, `symbolic` and
    `threads`.

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
    known = declared_parameters(function, shapes)

    def make(statics: dict, present: list[str]) -> Specialisation:
        return TracedSpecialisation(function, name, known, statics, present)

    result = Kernel.new(name, known, make, fn.__doc__)
    result.__module__ = getattr(fn, "__module__", None) or "__main__"
    result.__qualname__ = getattr(fn, "__qualname__", name)
    result.__wrapped__ = fn
    return result
