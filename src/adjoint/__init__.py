"""Adjoint: geometric robotics, written as the papers print it and run as machine code."""

from .compile import Kernel as Kernel
from .compile import cache_info as cache_info
from .compile import check_grads as check_grads
from .compile import clear_cache as clear_cache
from .compile import kernel as kernel
from .compile import scan as scan
from .compile import static as static
from .compile import while_loop as while_loop

__version__ = "0.1.0"
__all__ = ["Kernel", "cache_info", "check_grads", "clear_cache", "kernel", "scan", "static", "while_loop"]


def __getattr__(name: str):
    """`adjoint.lie`, imported when it is first used."""
    if name == "lie":
        import importlib

        return importlib.import_module("adjoint.lie")
    raise AttributeError(f"module 'adjoint' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "lie"]
