"""What commands have in common when something is wrong: one line on standard error, and an exit code."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import AdjointError, SolveError

__all__ = ["FAILED", "INTERRUPTED", "WRONG", "Commands", "note"]

FAILED, WRONG, INTERRUPTED = 1, 2, 130
"""Exit codes: a check failed or nothing was found; wrong input; Ctrl-C."""


def note(text: str) -> None:
    """Write a line about the work, which is no result, to standard error."""
    print(f"adjoint: {text}", file=sys.stderr)


class Commands(TyperGroup):
    """A group of commands that reports errors of the library and of files in one line, without a traceback.

    The environment variable ADJOINT_TRACEBACK=full shows the traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with one_line_errors():
            return super().invoke(ctx)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors of the library and of files, warnings, and Ctrl-C into one line each."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            yield
    except KeyboardInterrupt:
        print(file=sys.stderr)  # the terminal has written ^C
        note("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise  # the reader of a pipe has left; typer ends quietly
    except (AdjointError, OSError, UnicodeDecodeError) as error:  # standard input may be no text
        if os.environ.get("ADJOINT_TRACEBACK") == "full":
            raise
        note(f"error: {_described(error)}")
        raise typer.Exit(FAILED if isinstance(error, SolveError) else WRONG) from None


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    note(f"warning: {message}")
