"""Where this library's files lie. The disk cache and the tracer ask here, so that files may move between folders."""

from __future__ import annotations

import os

__all__ = ["COMPILER", "LIBRARY"]

LIBRARY = os.path.dirname(__file__) + os.sep
"""The folder of the package `adjoint`, with a separator at its end: other folders may begin with the same name."""

COMPILER = os.path.join(LIBRARY, "compile") + os.sep
"""The folder of the package `adjoint.compile`, likewise."""
