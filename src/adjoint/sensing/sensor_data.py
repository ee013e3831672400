"""`SensorData`: the frozen numbers of a sensor, as a static argument of kernels whose numbers can be lifted."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..compile.front.arguments import as_input
from ..errors import ArgumentError
from ..lazy import cached_property
from ..model.input_checks import count, floats
from .noise import Noise

__all__ = ["SensorData", "need_sensor"]


@dataclass(frozen=True, eq=False)
class SensorData:
    """The base of all sensors: frozen numbers, which kernels take as constants, or as inputs if they are lifted.

    A kernel such as `phase_distance(sensor, phase)` has machine code for each sensor. To vary the numbers of a sensor,
    or to differentiate by them, lift them: `phase_distance.bind(sensor, lift="frequency")` has an input `frequency`.
    Two sensors with the same numbers are equal.
    """

    POSITIVE: ClassVar[tuple[str, ...]] = ()  # fields that must be above 0
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ()  # fields that must be 0 or more
    WHOLE: ClassVar[tuple[str, ...]] = ()  # fields that are whole numbers
    SHAPES: ClassVar[Mapping[str, tuple[int | None, ...]]] = {}  # fields that are arrays; None stands for any length

    def __post_init__(self):
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, self._checked(field.name, getattr(self, field.name)))

    def _checked(self, name: str, value) -> Any:
        """The value of a field as it is kept, or an `ArgumentError` that names it."""
        label = f"{type(self).__name__}: {name}"
        if name == "noise":
            if not isinstance(value, Noise):
                raise ArgumentError(f"{label} must be a Noise, got {type(value).__name__}")
            return value
        if name in self.WHOLE:
            return count(value, label)
        shape = self.SHAPES.get(name, ())
        found = floats(value)
        if found.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, found.shape, strict=False)):
            wanted = f"numbers of shape {shape}".replace("None", "n") if shape else "one number"
            raise ArgumentError(f"{label} must be {wanted}, got {value!r:.60}")
        least = 0.0 if name in self.POSITIVE + self.NOT_NEGATIVE else -np.inf
        if not (np.isfinite(found) & (found >= least) & ~((found == 0) & (name in self.POSITIVE))).all():
            kind = ", positive" if name in self.POSITIVE else ", 0 or more" if least == 0 else ""
            raise ArgumentError(f"{label} must be finite{kind}, got {value!r:.60}")
        found.setflags(write=False)
        return found if shape else float(found)

    def replace(self, **changes) -> Self:
        """Return the sensor with some of its numbers changed."""
        names = [field.name for field in dataclasses.fields(self)]
        unknown = set(changes) - set(names)
        if unknown:
            raise ArgumentError(
                f"{type(self).__name__}.replace: there is no {min(unknown)!r}; it has {', '.join(names)}"
            )
        return dataclasses.replace(self, **changes)

    # --- what kernels ask of a static argument ------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the class and all numbers."""
        return self.fingerprint_without(())

    def fingerprint_without(self, names: tuple[str, ...]) -> str:
        """A hash of the class and all numbers but those that are named."""
        mark = hashlib.sha256(type(self).__qualname__.encode())
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            told = (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
            mark.update(f"{field.name}={'lifted' if field.name in names else repr(told)};".encode())
        return mark.hexdigest()

    @property
    def liftable(self) -> dict[str, np.ndarray]:
        """{name: number or array} of all that can be lifted."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {k: np.asarray(x) for k, x in found.items() if isinstance(x, float | np.ndarray)}

    def lifted(self, arrays: Mapping[str, Any]) -> Any:
        """Return the stand-in whose numbers are these inputs."""
        return _StandIn(self, dict(arrays))

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and other.fingerprint == self.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


class _StandIn:
    """A sensor with inputs of a kernel in the place of some numbers; its properties see the inputs."""

    __hash__ = None  # type: ignore[assignment]  # no cache keeps it

    def __init__(self, sensor: SensorData, arrays: dict[str, Any]):
        self.stands_for = sensor, arrays

    def __getattr__(self, name: str) -> Any:
        sensor, arrays = self.stands_for
        if name in arrays:
            return arrays[name]
        own = getattr(type(sensor), name, None)
        return own.fget(self) if isinstance(own, property) and own.fget else getattr(sensor, name)


def need_sensor(value, kind: type | tuple[type, ...], caller: str) -> None:
    """Raise `ArgumentError` if `value` is no sensor of this kind, nor a stand-in for one."""
    known = value.stands_for[0] if isinstance(value, _StandIn) else value
    if not isinstance(known, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(one.__name__ for one in kinds)
        article = "an" if names[0] in "AEIOU" else "a"
        raise ArgumentError(f"{caller}: 'sensor' must be {article} {names}, got {type(known).__name__}")


def readings_of(value, name: str, caller: str, *core: int | None) -> np.ndarray:
    """The value as floats (..., *core), where None stands for any length; else an `ArgumentError` that names it."""
    found = np.asarray(as_input(value, name, caller), float)
    own = found.shape[found.ndim - len(core) :] if found.ndim >= len(core) else None
    if own is None or any(n not in (None, m) for n, m in zip(core, own, strict=True)):
        wanted = ", ".join(["..."] + ["n" if n is None else str(n) for n in core])
        raise ArgumentError(f"{caller}: argument '{name}' has shape {found.shape}; ({wanted}) is needed")
    return found
