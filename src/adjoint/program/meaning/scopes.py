"""What an expression asks while it is evaluated: values of names, where arms are, and what sensors say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..instructions.expressions import Reading

__all__ = ["Scope", "VariableScope"]


class Scope(Protocol):
    """What `evaluate` asks. Values are in SI units; a name, an arm or a sensor that is not there is a `KeyError`.

    Anything may be given at N ticks at once, with a leading axis (N, ...). `here` and `reading` return such arrays as
    they are; `value` wraps numbers and vectors at ticks in `values.OverTicks`, since the shape alone cannot tell a
    vector from a number at three ticks. Arrays that a program declared with bounds are {index: value}.

    A scope may have two more methods, which are asked only if they are there: `call(name, arguments)` runs a procedure
    of the program that an expression calls, and `names()` gives all names, for suggestions.
    """

    def value(self, name: str) -> Any:
        """The value of a variable or of a frame of the world, or the width of a hand [m]."""
        ...

    def here(self, arm: str, joints: bool) -> Any:
        """The pose of an arm's tool (4, 4) in the station, or with `joints` its configuration (nq,)."""
        ...

    def reading(self, reading: Reading, number: Any) -> Any:
        """What a sensor says; `number` is the value of the reading's number, or None."""
        ...


class VariableScope:
    """A scope of variables alone, without arms and sensors.

    >>> from adjoint.program.instructions import Binary, Literal, Name
    >>> from adjoint.program.meaning import evaluate
    >>> evaluate(Binary("<", Name("tries"), Literal(3.0)), VariableScope({"tries": 2.0}))
    True
    """

    def __init__(self, variables: Mapping[str, Any] | None = None):
        self.variables = dict(variables or {})

    def value(self, name: str) -> Any:
        """The value of a variable."""
        return self.variables[name]

    def here(self, arm: str, joints: bool) -> Any:
        """There are no arms here."""
        raise KeyError(arm)

    def reading(self, reading: Reading, number: Any) -> Any:
        """There are no sensors here."""
        raise KeyError(reading.kind)

    def names(self) -> list[str]:
        """The names of all variables."""
        return list(self.variables)
