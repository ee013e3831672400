"""What all attacks share: every try has a seed of its own, and the cache folder is private."""

import faulthandler
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable

import numpy as np

__all__ = ["repeat", "same"]

# This is set before `adjoint` is imported, so that an attack does not fill or damage the user's cache.
os.environ.setdefault("ADJOINT_CACHE", tempfile.mkdtemp(prefix="attack-"))
faulthandler.enable()


def repeat(attempt: Callable[[np.random.Generator], None]) -> None:
    """Tries one seed after the other until the time is over, then exits: with 1 if a try raised an exception.

    The command line gives the first seed and the seconds. Five findings end the attack early.
    """
    first, seconds = int(sys.argv[1]), float(sys.argv[2])
    end, found, seed = time.monotonic() + seconds, 0, first
    while seed == first or (time.monotonic() < end and found < 5):
        print("seed", seed, flush=True)
        try:
            attempt(np.random.default_rng(seed))
        except Exception:
            found += 1
            print(f"with seed {seed}: {traceback.format_exc()}", flush=True)
        seed += 1
    sys.exit(1 if found else 0)


def same(got, want, what: str) -> None:
    """Raises an error that says what differs, and where, unless all numbers are equal; NaN equals NaN."""
    got, want = np.asarray(got), np.asarray(want)
    differ = ~((got == want) | (np.isnan(got) & np.isnan(want)))
    if differ.any():
        at = tuple(int(k) for k in np.argwhere(differ)[0])
        raise AssertionError(f"{what}: {int(differ.sum())} numbers differ, at {at} {got[at]!r} instead of {want[at]!r}")
