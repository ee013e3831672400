"""Checks of the numbers of laws and forces: gains, limits and scales, one for all joints or one for each."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..model.input_checks import floats
from ..model.robot import Robot

__all__ = ["at_least_zero", "fit_joints", "gains"]


def at_least_zero(value, name: str, caller: str, *, above: bool = False) -> np.ndarray:
    """The value as finite floats of any shape, none of them negative, and none 0 if they must be `above` it."""
    x = floats(value)
    bad = ~(np.isfinite(x) & ((x > 0) if above else (x >= 0)))
    if bad.any():
        place = f"[{', '.join(map(str, np.argwhere(bad)[0]))}]" if x.ndim else ""
        shown = value if x.ndim == 0 and not isinstance(value, np.ndarray) else float(x[bad][0])
        kind = "positive" if above else "0 or more"
        raise ArgumentError(f"{caller}: {name}{place} is {shown!r:.60}; it must be a finite number, {kind}")
    return x


def gains(
    value, size: int | None, label: str, *, or_zero: bool = False, signed: bool = False, endless: bool = False
) -> np.ndarray:
    """The gains as one number or (size,), finite and positive, or 0 with `or_zero`, or of any sign if `signed`.

    If they are limits, which may be `endless`, the largest float stands for infinity, so that numbers stay finite.
    `label` names the law and the gain. The size None is that of a robot that is not known yet: `fit_joints` looks at it
    later. A batch of gains is given to `Law.replace`.
    """
    found = floats(np.nan if _has_text(value) else value)
    if endless:
        found = np.clip(found, -np.finfo(float).max, np.finfo(float).max)
    if found.ndim > 1 or (found.ndim == 1 and size not in (None, len(found))):
        wanted = "nv" if size is None else size
        raise ArgumentError(f"{label} has shape {found.shape}; it must be a number or ({wanted},)")
    wrong = ~(np.isfinite(found) & (signed | ((found >= 0) if or_zero else (found > 0))))
    if wrong.any():
        given = f"{value!r:.60}" if found.ndim == 0 else f"{found[wrong][0]:g} at place {int(np.argmax(wrong))}"
        kind = "" if signed else f" and positive{' or 0' * or_zero}"
        raise ArgumentError(f"{label} must be finite{kind}, got {given}")
    return found


def _has_text(value) -> bool:
    return isinstance(value, str | bytes) or (isinstance(value, list | tuple) and any(map(_has_text, value)))


def fit_joints(robot: Robot, p, caller: str, *names: str) -> None:
    """Raise `ArgumentError` if a parameter is neither one number for all joints nor (nv,), now that nv is known."""
    for name in names:
        x = getattr(p, name)
        if x is not None and np.shape(x) not in ((), (robot.nv,)):
            raise ArgumentError(
                f"{caller}: {name} has shape {np.shape(x)}; robot '{robot.name}' needs a number or ({robot.nv},)"
            )
