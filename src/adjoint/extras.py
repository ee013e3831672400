"""Packages that only some functions need: they are loaded when they are used, and asked for by name if missing."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingPackageError

__all__ = ["package"]


def package(module: str, extra: str, who: str) -> Any:
    """The module, or a `MissingPackageError` that says who needs its package, and which extra installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise MissingPackageError(f"{who} needs {name}: pip install 'adjoint[{extra}]'") from None
