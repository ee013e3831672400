"""What commands have in common when something is wrong: one line on standard error, and an exit code."""

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import AdjointError, SolveError

__all__ = ["FAILED", "INTERRUPTED", "WRONG", "Commands", "in_options", "note"]

FAILED, WRONG, INTERRUPTED = 1, 2, 130
"""Exit codes: a check failed or nothing was found; wrong input; Ctrl-C."""

_WORDS = {  # messages of the library name arguments of Python; these are their options
    r"load with package_dirs=\[([^\]]*)\]": r"give --package-dir \1",
    r"none of package_dirs": "no --package-dir",
    r"in package_dirs\b": "by --package-dir",
    r"\bpackage_dirs\b": "--package-dir",
    r"\(columns=\{[^}]*\}\)": "(--column OURS=THEIRS)",
    r"^Page\.save: ": "--save: ",
    r"^load: ": "",
    r'say arms=\{"(\w+)": "(\w+)"\}': r"give --arm \1=\2",
    r"\b(port|redundancy)=": r"--\1",
}


def note(text: str) -> None:
    """Write a line about the work, which is no result, to standard error, after the results so far."""
    sys.stdout.flush()
    print(f"adjoint: {text}", file=sys.stderr)


class Commands(TyperGroup):
    """A group of commands that reports errors of the library and of files in one line, without a traceback.

    The environment variable ADJOINT_TRACEBACK=full shows the traceback.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, whose help shows flags without the name of a type."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _bare_flags(command.get_params(ctx))
        return command

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the group, of which the same is true."""
        return _bare_flags(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with one_line_errors():
            return super().invoke(ctx)


def _bare_flags(options: Any) -> Any:
    for option in options:
        if getattr(option, "is_flag", False):
            option.metavar = ""
    return options


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors of the library and of files, warnings, and Ctrl-C into one line each."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            yield
            sys.stdout.flush()
    except KeyboardInterrupt:
        print(file=sys.stderr)  # the terminal has written ^C
        note("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise  # the reader of a pipe has left, as head does: typer ends quietly, and `main` gives the exit code
    except (AdjointError, OSError, UnicodeDecodeError) as error:  # standard input may be no text
        if os.environ.get("ADJOINT_TRACEBACK") == "full":
            raise
        note(f"error: {_described(error)}")
        raise typer.Exit(FAILED if isinstance(error, SolveError) else WRONG) from None


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return in_options(str(error))


def in_options(text: str) -> str:
    """Return a message of the library with options in place of arguments of Python."""
    for pattern, words in _WORDS.items():
        text = re.sub(pattern, words, text)
    return text


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    note(f"warning: {in_options(str(message))}")
