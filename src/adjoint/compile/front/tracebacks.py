"""Tracebacks that show the user's own lines: frames of the compiler are taken out.

An error in a function that is traced or run eagerly passes through a dozen frames of this folder, in which nothing is
wrong. `folded` takes them out. The environment variable ADJOINT_TRACEBACK=full keeps them.
"""

from __future__ import annotations

import os
import sys
import warnings

from ...errors import AdjointError
from ...folders import COMPILER, LIBRARY

__all__ = ["folded", "warn_user"]


def folded(error: Exception) -> Exception:
    """Return the error without frames of the compiler, in it and in the errors that it was raised from.

    Errors that this library raises on purpose lose all frames of the library. Faults of the compiler itself keep them.
    An error that the caller was handling already, the context of this one, is not touched.
    """
    if os.environ.get("ADJOINT_TRACEBACK") == "full":
        return error
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        _fold(link)
        link = link.__cause__
    return error


def _fold(error: BaseException) -> None:
    """Take the frames out of one error."""
    frames = []
    tb = error.__traceback__
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    on_purpose = isinstance(error, AdjointError)
    ours = LIBRARY if on_purpose else COMPILER
    shown = [tb for tb in frames if not tb.tb_frame.f_code.co_filename.startswith(ours)]
    if not frames or (not on_purpose and frames[-1] not in shown):  # the compiler itself failed
        return
    for tb, after in zip(shown, [*shown[1:], None], strict=False):
        tb.tb_next = after
    BaseException.with_traceback(error, shown[0] if shown else None)  # whatever attributes its class lets one set


def warn_user(message: str) -> None:
    """Warn (`UserWarning`) at the line that called into this library."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
