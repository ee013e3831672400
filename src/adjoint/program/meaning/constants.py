"""Names that every program knows: axes, the frame of the station, and what does nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..instructions.value_types import BOOLEAN, FRAME, NUMBER, ROTATION, VECTOR, Type, vector

__all__ = ["CONSTANTS"]


def _fixed(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _table() -> dict[str, tuple[Type, Any]]:
    axes = {name: (vector(), _fixed(np.eye(3)[k])) for k, name in enumerate("XYZ")}
    rows = {
        "nilrot": (ROTATION, _fixed(np.eye(3))),
        "nilvect": (VECTOR, _fixed(np.zeros(3))),
        "niltrans": (FRAME, _fixed(np.eye(4))),
        "station": (FRAME, _fixed(np.eye(4))),
        "true": (BOOLEAN, True),
        "false": (BOOLEAN, False),
        "pi": (NUMBER, math.pi),
    }
    return axes | rows | {name.upper(): row for name, row in rows.items()}


CONSTANTS: dict[str, tuple[Type, Any]] = _table()
"""{name: (type, value)} of X, Y, Z, nilrot, nilvect, niltrans, station, true, false and pi, the latter in capitals too.

A variable of the same name goes before."""
