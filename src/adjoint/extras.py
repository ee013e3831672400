"""Packages that only some functions need are imported when they are used; if one is missing, the error names it."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingPackageError

__all__ = ["package"]


def package(module: str, extra: str, who: str) -> Any:
    """Import and return a module that belongs to an optional package.

    If it is not installed, a `MissingPackageError` says that `who` needs it and which `extra` of adjoint installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise MissingPackageError(f"{who} needs {name}: pip install 'adjoint[{extra}]'") from None
