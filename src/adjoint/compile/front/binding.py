"""Kernels with static arguments fixed (`bind`), and with numbers of static arguments as inputs (`lift`)."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import ArgumentError
from . import kept_kernels
from .arguments import Arguments, tupled
from .function import Function, Origin
from .parameters import Parameter, lifted_parameters
from .specialisation import TracedSpecialisation
from .tracebacks import warn_user

MOST_NUMBERS = 4  # so many different values of a static argument with a whole number as its default lead to a warning

__all__ = ["bind", "is_plain", "remake", "with_other_inputs"]

_PLAIN = {str, int, bool, type(None)}  # types whose values are equal only if nothing can tell them apart


def bind(function: Function, args: tuple, lift, unroll: bool, statics: dict[str, Any]) -> Any:
    """Fix static arguments; see `Kernel.bind`."""
    names = [p.name for p in function.parameters if p.static and p.name not in function.statics]
    if len(args) > len(names):
        raise ArgumentError(
            f"{function.arguments.signature}.bind takes at most {len(names)} static arguments; got {len(args)}"
        )
    fixed = {k: tupled(x) for k, x in {**dict(zip(names, args, strict=False)), **statics}.items()}
    unknown = [k for k in fixed if k not in names]
    if unknown:
        raise ArgumentError(
            f"{function.__name__} has no free static argument {', '.join(unknown)}; it has {', '.join(names) or 'none'}"
        )
    lift = _names(lift)
    if any(getattr(value, "runs_inline", False) for value in fixed.values()):
        return _Inline(function, {**function.statics, **fixed})
    if any(map(_stands_for, fixed.values())):
        return _lifted(function, fixed, lift, unroll)
    try:
        key = "bind", tuple((name, _mark(value)) for name, value in fixed.items()), lift, bool(unroll)
        bound = function.memory.made.get(key)
    except TypeError:
        raise _not_hashable(function, fixed) from None
    if bound is None:
        from_origin = lift or (unroll and function.origin is not None)
        make = _lifted(function, fixed, lift, unroll) if from_origin else _specialised(function, fixed, unroll)
        bound = function.memory.made.setdefault(key, make)
    return kept_kernels.mark_used(bound)


class _Inline(NamedTuple):
    """A kernel bound to a static argument that no code is made for by itself: its function runs within another one."""

    function: Any  # a `Function`, which as the attribute of a class would be a method
    statics: dict[str, Any]

    def __call__(self, *args, **kwargs):
        function = self.function
        inputs, statics = Arguments(function.__name__, function.parameters, self.statics).sort(args, kwargs)
        return function.__wrapped__(**inputs, **statics)


def with_other_inputs(function: Function, parameters: list[Parameter], statics: dict[str, Any]) -> Any:
    """See `Kernel.with_other_inputs`."""
    make = functools.partial(TracedSpecialisation, function.__wrapped__, function.__name__, parameters)
    made = function.new(function.__name__, parameters, make, function.__doc__, statics)
    made.origin = Origin(function, "with_other_inputs", (parameters, statics))
    return made


def _not_hashable(function: Function, fixed: dict[str, Any]) -> ArgumentError:
    """The error about a static argument that is not hashable."""
    bad = next(k for k, v in fixed.items() if not _hashable(v))
    return ArgumentError(
        f"{function.arguments.signature}: argument '{bad}' must be a value such as a Robot or a name, got "
        f"{type(fixed[bad]).__name__}; is an argument missing? ('{bad}' is static, so it must be hashable; "
        "whoever writes a kernel makes an argument an input by a float as its default, 1.0 for 1, or a shape)"
    )


def _specialised(function: Function, fixed: dict[str, Any], unroll: bool) -> Function:
    """Make the kernel with these static arguments fixed."""
    _doubt_numbers(function, fixed)
    statics = {**function.statics, **fixed}
    bound = function.new(function.__name__, function.parameters, function.make, function.__doc__, statics)
    bound.origin = Origin(function, "bind", {**fixed, **({"unroll": True} if unroll else {})})
    bound.unrolled, bound.other = unroll or function.unrolled, None if unroll else function.other
    return bound


def _doubt_numbers(function: Function, fixed: dict[str, Any]) -> None:
    """Warn once that every value of a static argument with a whole number as its default is compiled on its own."""
    for p in function.parameters:
        value = fixed.get(p.name)
        if not p.counted or type(value) not in (int, float):
            continue
        seen = function.memory.numbers.setdefault(p.name, set())
        if seen is None:  # it was told already
            continue
        seen.add(value)
        if len(seen) == MOST_NUMBERS or type(value) is float:
            function.memory.numbers[p.name] = None
            warn_user(
                f"{function.__name__}: argument '{p.name}' is static, for its default {p.default!r} is a whole number: "
                f"each of its values ({', '.join(map(repr, sorted(seen)))}) is compiled on its own. The default "
                f"{float(p.default)!r} makes it an input of the machine code; {p.name}=static in @kernel(...) keeps it "
                "static without this warning"
            )


def _lifted(function: Function, fixed: dict[str, Any], lift: tuple[str, ...], unroll: bool) -> Function:
    """Bind with options (`lift`, `unroll`), or with stand-ins.

    The new kernel is made from the kernel of the function itself, by the steps that led to this kernel.
    """
    if function.origin is not None:
        parent, how, given = function.origin
        if how != "bind":
            return remake(parent.bind(**fixed, lift=lift, unroll=unroll), how, given)
        options = {"lift": (*given.get("lift", ()), *lift), "unroll": unroll or function.unrolled}
        return parent.bind(**{**given, **fixed, **options})
    arrays: dict[tuple[str, str], Any] = {}
    for name, value in fixed.items():
        if (known := _stands_for(value)) is not None:
            fixed = {**fixed, name: known[0]}
            arrays |= {(name, k): x for k, x in known[1].items()}
    if arrays:
        return _given(function.bind(**fixed, lift=(*lift, *(k for _, k in arrays)), unroll=unroll), arrays)
    parameters = lifted_parameters(function.parameters, fixed, lift, function.__name__)
    make = functools.partial(TracedSpecialisation, function.__wrapped__, function.__name__, parameters)
    bound = function.new(function.__name__, parameters, make, function.__doc__, fixed)
    bound.origin, bound.unrolled = Origin(function, "bind", {**fixed, "lift": lift, "unroll": unroll}), unroll
    return bound


def _given(function: Function, arrays: dict[tuple[str, str], Any]) -> Function:
    """Return the kernel with values for lifted inputs, for use inside another kernel's function.

    Nobody remembers it.
    """
    parameters = [
        replace(p, default=arrays[p.lifted_from], hidden=True) if p.lifted_from in arrays else p
        for p in function.parameters
    ]
    made = function.new(function.__name__, parameters, function.make, function.__doc__, function.statics)
    made.memory.specialisations = function.memory.specialisations
    return made


def remake(parent: Function, how: str, given) -> Any:
    """Make a kernel from another one again, by the method `how`; see `Origin`."""
    made = getattr(parent, how)
    return made if isinstance(made, Function) else made(**given) if how == "bind" else made(*given)


def is_plain(value) -> bool:
    """Return whether a value never changes, and equals others of its type only if nothing can tell them apart."""
    return type(value) in _PLAIN or (_hashable(value) and hasattr(value, "fingerprint"))


def _hashable(value) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _mark(value):
    """A key under which only the same static value is found: 1, True and 1.0 differ, and so do 0.0 and -0.0."""
    if isinstance(value, float | complex):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return type(value), *map(_mark, value)
    return type(value), value


def _stands_for(value) -> tuple[Any, dict[str, Any]] | None:
    """Return what a stand-in stands for, see `Liftable`; None for all other values."""
    return getattr(value, "stands_for", None)


def _names(lift) -> tuple[str, ...]:
    """The names to lift, each once; one name may be given as a text."""
    given = (lift,) if isinstance(lift, str) else tuple(lift) if isinstance(lift, Iterable) else (None,)
    names = [name for name in given if isinstance(name, str)]
    if len(names) < len(given):
        raise ArgumentError(f"bind: lift must be a name such as 'inertias', or several of them, got {lift!r}")
    return tuple(dict.fromkeys(names))
