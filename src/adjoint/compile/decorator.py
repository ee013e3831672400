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
    known = declared_parameters(function, shapes)

    def make(statics: dict, present: list[str]) -> Specialisation:
        return TracedSpecialisation(function, name, known, statics, present)

    result = Kernel.new(name, known, make, fn.__doc__)
    result.__module__ = getattr(fn, "__module__", None) or "__main__"
    result.__qualname__ = getattr(fn, "__qualname__", name)
    result.__wrapped__ = fn
    return result
