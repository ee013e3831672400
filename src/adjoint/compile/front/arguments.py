"""Arguments of calls: which are static, which are inputs, which are missing or do not belong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from .parameters import MISSING, Parameter

__all__ = ["Arguments", "Places", "as_input", "tupled", "unmasked"]


class Places(NamedTuple):
    """Where the static arguments and the inputs of a call are."""

    statics: tuple[int, ...]  # positions of static arguments
    named: tuple[str, ...]  # names of static arguments given by name
    inputs: tuple[int, ...]  # positions of inputs
    rest: tuple[str, ...]  # names of inputs given by name
    names: tuple[str, ...]  # names of all static arguments of the call


class Arguments:
    """What a kernel of this name takes, with some static arguments fixed."""

    def __init__(self, name: str, parameters: list[Parameter], statics: dict[str, Any]):
        self.name, self.parameters, self.statics = name, parameters, statics
        self.free = [p for p in parameters if p.name not in statics]
        self.places = [p for p in self.free if not p.keyword_only]
        self.free_statics = frozenset(p.name for p in self.free if p.static)
        self.weak = {id(p.default) for p in self.free if p.lifted_from}  # see `is_weak`
        self._splits: dict[tuple, Places | None] = {}

    @property
    def are_bound(self) -> bool:
        """Whether all static arguments are fixed, or have defaults."""
        return not self._unknown()

    def _unknown(self) -> list[str]:
        return [p.name for p in self.free if p.static and p.default is MISSING]

    def is_weak(self, value) -> bool:
        """Return whether a value does not decide the dtype of a call.

        Python's numbers do not, and neither do the defaults of lifted inputs.
        """
        return type(value) in (float, int, bool) or id(value) in self.weak

    def split(self, places: int, names: tuple[str, ...]) -> Places | None:
        """Return where the static arguments and inputs are in a call with so many positional and these named arguments.

        None is returned if the call has no static arguments, or if something is wrong with it.
        """
        try:
            return self._splits[places, names]
        except KeyError:
            pass
        given = [p.name for p in self.places[:places]]
        statics = tuple(k for k, p in enumerate(self.places[:places]) if p.static)
        named = tuple(n for n in names if n in self.free_statics)
        odd = places > len(self.places) or not set(names).isdisjoint(given)  # `sort` says what is wrong
        found = None
        if (statics or named) and not odd:
            inputs = tuple(k for k in range(places) if k not in statics)
            rest = tuple(n for n in names if n not in named)
            found = Places(statics, named, inputs, rest, (*(given[k] for k in statics), *named))
        self._splits[places, names] = found
        return found

    def sort(self, args: tuple, kwargs: dict) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments of a call by name: inputs in the order of the parameters, and static arguments."""
        if len(args) > len(self.places):
            raise ArgumentError(
                f"{self.signature} takes at most {len(self.places)} positional arguments; got {len(args)}"
            )
        given = dict(zip((p.name for p in self.places), args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise ArgumentError(f"{self.signature} got argument '{name}' twice")
            if all(p.name != name for p in self.free):
                raise ArgumentError(f"{self.signature} has no argument '{name}'" + self._hint(name))
            given[name] = value
        inputs, statics = {}, dict(self.statics)
        for p in self.free:
            value = given.get(p.name, p.default)
            if value is None and p.lifted_from:
                value = p.default
            if value is MISSING:
                one_tuple = len(args) == 1 and isinstance(args[0], tuple)
                hint = f"; of a tuple write {self.name}(*values)" if one_tuple else ""
                raise ArgumentError(f"{self.signature} needs argument '{p.name}'{hint}")
            if p.static or (value is None and p.default is None):
                statics[p.name] = tupled(value)
            else:
                inputs[p.name] = value
        return inputs, statics

    def _hint(self, name: str) -> str:
        """A hint for users who give an argument that would have to be bound or lifted first."""
        if any(p.static and p.name == name for p in self.parameters):
            return "; it is fixed already: to have another, bind that on the kernel this one was made from"
        hint = "; it is left out here: write a kernel of your own that gives it" if name in self.statics else ""
        taken = {p.name for p in self.parameters}
        for value in self.statics.values():
            renamed = getattr(value, "renamed_arguments", ())
            hint += "".join(f"; {text}" for old, new, text in renamed if old == name and new in taken)
        owner = next(
            (p.name for p in self.parameters if p.static and hasattr(self.statics.get(p.name), "liftable")), ""
        )
        if name == "lift" or (owner and name in self.statics[owner].liftable):
            what = "..." if name == "lift" else f"{name!r}"
            hint += f"; numbers of {owner or 'a static argument'} become inputs by .bind({owner or '...'}, lift={what})"
        return hint

    def other_than_defaults(self, statics: dict[str, Any]) -> dict[str, Any]:
        """Return those static arguments that are not fixed and differ from their defaults."""
        if not self.free_statics:
            return {}
        return {p.name: statics[p.name] for p in self.free if p.static and statics[p.name] is not p.default}

    @property
    def signature(self) -> str:
        """The kernel's name and parameters.

        Those that are fixed are shown with "=...", and those after * need their names.
        """
        names = [p.name + ("=..." if p.name in self.statics else "") for p in self.parameters]
        only = next((k for k, p in enumerate(self.parameters) if p.keyword_only), len(names))
        return f"{self.name}({', '.join(names[:only] + ['*', *names[only:]] * (only < len(names)))})"

    @property
    def described(self) -> str:
        """The kernel's name and free parameters, and the values of those that are fixed, cut if they are long."""
        free = ", ".join(p.name for p in self.parameters if p.name not in self.statics)
        return f"{self.name}({free})" + "".join(f", {k}={_short(v)}" for k, v in self.statics.items())

    def left_out(self, wanted: str) -> tuple[dict[str, Any], list[str]]:
        """Return all static arguments and the names of the inputs of a call that leaves out all that may be left out.

        `wanted` names what the user asked for, in an error.
        """
        if missing := self._unknown():
            raise ArgumentError(
                f"{self.name}.{wanted} needs the static argument(s) {', '.join(missing)}; "
                f"use {self.name}.bind({', '.join(f'{m}=...' for m in missing)}).{wanted}"
            )
        statics, present = dict(self.statics), []
        for p in self.parameters:
            if p.static:
                statics.setdefault(p.name, p.default)
            elif p.default is None:
                statics[p.name] = None
            elif p.name not in statics:
                present.append(p.name)
        return statics, present


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:36] + " ..."


def as_input(x, name: str, function: str) -> np.ndarray:
    """Return x as an array of real numbers, or raise an error that names the argument."""
    if type(x) is np.ndarray and x.dtype.char in "df" and x.dtype.isnative:
        return x
    try:
        array = np.asarray(unmasked(x))
    except (ValueError, TypeError) as e:
        raise ArgumentError(f"{function}: argument '{name}' is not an array of numbers: {e}") from None
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size == 4:
        return array.astype(np.float32, copy=False)  # this changes the byte order to the machine's
    if kind in "biuf" and size <= 8:
        return array.astype(np.float64, copy=False)
    what = f"has dtype {array.dtype}" if isinstance(x, np.ndarray) or array.ndim else f"is a {type(x).__name__}"
    raise ArgumentError(f"{function}: argument '{name}' {what}; real numbers (float64 or float32) are needed")


def unmasked(value):
    """Return `value`; raise a `ValueError` if it is a masked array with masked numbers, which are unknown."""
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise ValueError("some of its numbers are masked; x.filled(value) gives them values")
    return value


def tupled(value):
    """Return a list of names or numbers, given for a static argument, as a tuple; other values as they are."""
    return tuple(value) if type(value) is list else value
