"""`Listing`: a text beside a motion, whose lines light up as they are run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Listing"]


class Listing(NamedTuple):
    """A text, and which of its lines runs when.

    From the time t[k] [s] on, `line[k]` is the line that runs, counted from 1; 0 is none. `note[k]` is shown below the
    text from then on: what the line did, such as "aborted: No hole"; it may be empty.
    """

    title: str
    text: str
    t: np.ndarray
    line: np.ndarray
    note: tuple[str, ...] = ()
