"""The folders of the library. The disk cache and the tracer ask here, so that files may move between folders."""

from __future__ import annotations

import os

__all__ = ["COMPILER", "LIBRARY"]

LIBRARY = os.path.dirname(__file__) + os.sep
"""The folder of the package `adjoint`, with a separator at its end, since other folders may begin with its name."""

COMPILER = os.path.join(LIBRARY, "compile") + os.sep
"""The folder of the package `adjoint.compile`, with a separator at its end."""
