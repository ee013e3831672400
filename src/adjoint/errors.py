"""The library's exceptions. Messages name the bad thing, where it is, and what would be valid."""


class AdjointError(Exception):
    """Base class of every error this library raises on purpose."""


class ArgumentError(AdjointError, ValueError):
    """An argument has a wrong value, shape, dtype or name."""


class MissingPackageError(ArgumentError, ImportError):
    """A package that only some functions need is not installed; the message names it, and how to install it."""


class ModelError(AdjointError, ValueError):
    """A model that is no robot; the message names file, line, element, and what would be valid."""


class TraceError(AdjointError, TypeError):
    """A function cannot be turned into a graph; the message names the line and the remedy."""


class DerivativeError(AdjointError, ValueError):
    """A derivative was asked for that does not exist or is not provided."""


class CompileError(AdjointError, RuntimeError):
    """Machine code could not be produced or loaded."""


class SolveError(AdjointError, RuntimeError):
    """A numerical problem has no solution, or none was found; the message says what stands in the way."""
