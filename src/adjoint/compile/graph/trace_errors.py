"""Errors about functions that cannot be traced. They name the user's own line, and a remedy."""

from __future__ import annotations

import os
import sys
import traceback

import numpy as np

from ...errors import TraceError
from ...folders import COMPILER

__all__ = ["error", "explain"]

_NUMPY = os.path.join(os.path.dirname(np.__file__), "")
# Files of frames that no user wrote: Python's import machinery, and NumPy's dispatcher.
_GENERATED = ("<frozen", "<__array_function__")


def _user_line() -> str:
    """The innermost line of the call stack that is neither the compiler's nor NumPy's."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((COMPILER, _NUMPY, *_GENERATED)):
            return f"{name}:{frame.f_lineno}, in {frame.f_code.co_name}"
        frame = frame.f_back
    return "unknown line"


def error(problem: str, remedy: str) -> TraceError:
    """Return a TraceError that names the user's line, the problem and the remedy."""
    return TraceError(f"cannot trace {_user_line()}: {problem}; {remedy}")


def explain(failure: Exception, name: str) -> Exception:
    """Return the error to raise for an exception inside a function that was being traced.

    This is a TraceError that names the line and a remedy, or `failure` itself if the function raised it on purpose.
    """
    last = traceback.extract_tb(failure.__traceback__)[-1]
    if not last.filename.startswith((COMPILER, _NUMPY)) and (last.line or "").lstrip().startswith(("raise", "assert")):
        return failure
    frames = [
        f
        for f in traceback.extract_tb(failure.__traceback__)
        if not f.filename.startswith((COMPILER, _NUMPY, *_GENERATED))
    ]
    if not frames:
        return TraceError(f"cannot trace {name}: {failure}")
    last = frames[-1]
    line = f" `{last.line}`" if last.line else ""
    if "read-only" in str(failure):
        remedy = "arguments must not be written to; build a new array instead of filling one"
    elif "not subscriptable" in str(failure) or "has no len" in str(failure) or "for @: 'Expr'" in str(failure):
        remedy = "undeclared arguments are scalars: declare the shape, as in @kernel(x=3)"
    elif isinstance(failure, IndexError):
        remedy = "an index must be known when tracing: choose with np.where(condition, a, b), keep numbers as they are"
    elif "has no callable" in str(failure) or "dtype('O')" in str(failure):
        remedy = "np.array of traced values is a plain object array; make it with np.stack or np.concatenate"
    else:
        remedy = "if the call is not supported on traced values, write it with elementary NumPy functions"
    return TraceError(
        f"cannot trace {last.filename}:{last.lineno}, in {last.name}:{line} raised "
        f"{type(failure).__name__}: {failure}; {remedy}"
    )
