"""The exceptions of the library. A message names the bad thing, where it is, and what would be valid."""

import difflib
import re
from collections.abc import Sequence

__all__ = [
    "AdjointError",
    "ArgumentError",
    "CompileError",
    "DerivativeError",
    "MissingPackageError",
    "ModelError",
    "SolveError",
    "TraceError",
]

_WORD, _LINE = 300, 2000  # characters of one name, and of one line, that are shown
_MANY = 200  # names that are compared with one that was not found
_LONG_WORD = re.compile(rf"(?<![^\s(=])'[^'\n]{{{_WORD - 1},}}'|\S{{{_WORD + 1},}}")


def shortened(text: str) -> str:
    """Return the text of a message with every overlong name, and every overlong line, cut in its middle.

    Messages repeat names and values from files and from callers, which may have any length.
    """
    if len(text) <= _WORD:
        return text
    text = _LONG_WORD.sub(lambda word: _cut(word[0], _WORD), text)
    return "\n".join(_cut(line, _LINE) for line in text.split("\n"))


def _cut(text: str, most: int) -> str:
    """Return the text, or both of its ends if it is longer than `most` characters."""
    end = most // 3
    return text if len(text) <= most else f"{text[:end]} ... ({len(text) - 2 * end} characters) ... {text[-end:]}"


def nearest(name, names: Sequence[str]) -> str:
    """The names that look like `name`, or a few of all."""
    alike = _alike(str(name), names)
    close = difflib.get_close_matches(str(name), alike, 3, 0.5)
    if not close:  # a language without case, such as VAL, is often written in capitals
        spelt = {other.lower(): other for other in reversed(alike)}
        close = [spelt[other] for other in difflib.get_close_matches(str(name).lower(), spelt, 3, 0.5)]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(names[:12])
    return f"there are {shown}{', ...' if len(names) > 12 else ''}"


def _alike(name: str, names: Sequence[str]) -> Sequence[str]:
    """The names that are compared letter by letter: of very many only those of the same first letter and length."""
    if len(names) <= _MANY:
        return names
    first, most = name[:1].lower(), len(name) + 3
    return [x for x in names if len(name) - 3 <= len(x) <= most and x[:1].lower() == first][:_MANY]


class AdjointError(Exception):
    """The base class of every error that this library raises on purpose.

    >>> try:
    ...     aj.forward_kinematics(robot, q, "hand")
    ... except aj.AdjointError as error:
    ...     print(error)
    robot 'puma560' has no frame 'hand'; there are base, link1, link2, link3, link4, link5, link6, tool
    """

    def __init__(self, *args):
        super().__init__(*(shortened(arg) if isinstance(arg, str) else arg for arg in args))


class ArgumentError(AdjointError, ValueError):
    """An argument has a wrong value, shape, dtype or name. It is a `ValueError`, too.

    >>> aj.mass_matrix(robot, np.zeros(5))
    Traceback (most recent call last):
    adjoint.errors.ArgumentError: mass_matrix: argument 'q' has shape (5,); (..., 6) is needed, ...
    """


class MissingPackageError(ArgumentError, ImportError):
    """A package that only some functions need is not installed; the message names it and tells how to install it.

        try:
            equations = aj.equations.equations_of_motion(robot)
        except aj.MissingPackageError as error:
            print(error)                                # ... pip install 'adjoint[sym]'

    It is an `ImportError`, too.
    """


class ModelError(AdjointError, ValueError):
    """A model does not describe a valid robot; the message names file, line and element, and what would be valid.

    >>> aj.load('<robot name="r"><link name="a"/><link name="b"/></robot>')
    Traceback (most recent call last):
    adjoint.errors.ModelError: text:1: robot 'r' has 2 roots: a, b; one link, and only one, must be nobody's child
    """


class TraceError(AdjointError, TypeError):
    """A function cannot be turned into a graph; the message names the line and the remedy.

    >>> @aj.kernel
    ... def size(x):
    ...     return x if x > 0 else -x
    >>> size(1.0)
    Traceback (most recent call last):
    adjoint.errors.TraceError: cannot trace ..., in size: a Python `if`, ... use np.where(condition, a, b), ...
    """


class DerivativeError(AdjointError, ValueError):
    """A derivative was asked for that does not exist or is not provided.

    >>> @aj.kernel(x=(...,))
    ... def total(x):
    ...     return aj.scan(lambda sum, x: (sum + x, None), 0.0, x)[0]
    >>> total.jacobian("x")(np.ones(3))
    Traceback (most recent call last):
    adjoint.errors.DerivativeError: derivatives by the sequence 'x' are given by jvp only
    """


class CompileError(AdjointError, RuntimeError):
    """Machine code could not be produced or loaded, for example where a system allows no program to make code.

    The functions still run in Python, one sample at a time:

        try:
            M = aj.mass_matrix(robot, q)
        except aj.CompileError:
            M = aj.mass_matrix.eager(robot, q)
    """


class SolveError(AdjointError, RuntimeError):
    """A numerical problem has no solution, or none was found; the message says what stands in the way.

    >>> aj.control.lqr_gains(A=np.eye(2), B=np.zeros((2, 1)), Q=np.eye(2), R=np.eye(1))    # the input does nothing
    Traceback (most recent call last):
    adjoint.errors.SolveError: lqr_gains: no feedback was found that makes the system stable; no input acts ...
    """


def __dir__() -> list[str]:
    return __all__
