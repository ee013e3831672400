"""The command line `adjoint`: what the library does, for people at a terminal and for scripts.

    adjoint info puma560
    adjoint torque arm.urdf --q 0,0.5,1 --json

`main` is the program. Its parts, from below to above; a file uses only files before it:

- `output` prints tables, JSON and progress, and writes files; `values` reads numbers that are typed, in files or piped.
- `tables` are robots as tables of numbers (DH, POE) in JSON, TOML and text; `robots` finds the robot that is meant.
- `guard` turns errors, warnings and Ctrl-C into one line each; `options` has what several commands take.
- The commands: `models` (info, check, convert), `poses` (fk, jacobian), `reaching` (ik), `forces` (torque),
  `motions` (trajectory), `simulating` (simulate), `formulas` (equations, compile), `recordings` (identify, calibrate),
  `programs` (program, with `program_options`, `program_inputs` and `program_reports`), `tasks` (plan),
  `racing` (bench), `showing` (view, demo), `keeping` (cache).
- `app` joins them into one program.

Modules of this folder import NumPy and the rest of the library inside functions, so that help and completion are fast.
"""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process, and leave the process with an exit code.

    The codes are 0 if all is well, 1 if a check failed or nothing was found, 2 for wrong input, 130 after Ctrl-C,
    and 141 if nobody reads the output any more.
    """
    try:
        run = _program()
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "click"):
            raise
        print(f"adjoint: the command line needs {error.name}: pip install 'adjoint[cli]'", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        run(prog_name="adjoint")
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # typer and rich say 1, as if a check had failed
            _leave_unread()
        try:
            sys.stdout.flush()  # what is still kept may be what nobody reads
        except BrokenPipeError:
            _leave_unread()
        raise


def _leave_unread() -> NoReturn:
    """Leave the process, whose output nobody reads; Python would complain about what it could not write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)


def _program() -> Callable:
    from .app import app

    return app
