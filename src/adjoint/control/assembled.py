"""Kernels that are put together from parts: functions with parameters, and nested structures of arrays.

The parts are known only when a user has made a law, a force or a run. What machine code depends on (functions,
structures, shapes) is hashable here; numbers are kept apart, as inputs.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, kernel
from ..compile.front.arguments import as_input
from ..compile.graph.nested import leaves, map_leaves, rebuild, structure
from ..errors import ArgumentError
from .marks import mark_of

__all__ = [
    "Input",
    "Numbers",
    "Parts",
    "Template",
    "arrays_of",
    "assembled_kernel",
    "label_of",
    "parted",
    "with_numbers",
]


class Numbers(Mapping[str, np.ndarray]):
    """The numbers of a law or a force: {name: array}, not to be changed."""

    __slots__ = ("_known",)

    def __init__(self, known: Mapping[str, np.ndarray]):
        self._known = {k: _fixed(x) for k, x in known.items()}

    def __getitem__(self, name: str) -> np.ndarray:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return repr(self._known)

    def __reduce__(self):
        return Numbers, (self._known,)


def _fixed(x: np.ndarray) -> np.ndarray:
    if x.flags.writeable:
        x = x.copy()
        x.flags.writeable = False
    return x


class Input(NamedTuple):
    """An input of a kernel: the shape of one sample, whether it is a sequence, and its default (None: it has none)."""

    shape: tuple[int, ...] = ()
    sequence: bool = False
    default: Any = None


def assembled_kernel(name: str, inputs: Mapping[str, Input], body: Callable[[dict[str, Any]], Any], doc: str) -> Kernel:
    """The kernel `name` with these inputs, {name: `Input`}; `body({name: value})` computes its result."""

    def run(**values):
        return body(values)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(k, kind, default=inspect.Parameter.empty if x.default is None else np.array(x.default))
            for k, x in inputs.items()
        ]
    )
    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return kernel(run, **{k: (..., *x.shape) if x.sequence else x.shape for k, x in inputs.items()})


# --- nested structures of arrays --------------------------------------------------------------------------------------


def arrays_of(tree, label: str, caller: str):
    """A nested structure with its leaves as arrays of floats."""
    return map_leaves(lambda x: np.asarray(as_input(x, label, caller), dtype=float), tree)


class Template:
    """The structure of nested arrays and the shapes of its leaves; it is hashable, and equal for equal ones."""

    __slots__ = ("_known", "tree")

    def __init__(self, tree):
        self.tree = map_leaves(lambda x: np.zeros(np.shape(x)), tree)
        self._known = repr(structure(tree)), tuple(np.shape(x) for x in leaves(tree))

    def __hash__(self) -> int:
        return hash(self._known)

    def __eq__(self, other) -> bool:
        return isinstance(other, Template) and self._known == other._known

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the leaves."""
        return self._known[1]

    @property
    def described(self) -> str:
        """The structure in words, for messages."""
        return "None" if self.tree is None else f"{self._known[0]} of shapes {list(self.shapes)}"

    def names(self, prefix: str) -> list[str]:
        """Names of the leaves: prefix, prefix_q, prefix_0, ..."""
        found = _leaf_names(self.tree, prefix)
        twice = len(set(found)) < len(found)  # keys such as "a b" and "a_b"
        return [f"{name}_{k}" for k, name in enumerate(found)] if twice else found

    def inputs(self, prefix: str) -> dict[str, Input]:
        """The leaves as inputs of a kernel."""
        return {k: Input(shape) for k, shape in zip(self.names(prefix), self.shapes, strict=True)}

    def build(self, values) -> Any:
        """The structure with these values as its leaves."""
        return rebuild(self.tree, iter(values))

    def taken(self, given: Mapping[str, Any], prefix: str) -> Any:
        """The structure with the inputs of these names as its leaves."""
        return self.build([given[k] for k in self.names(prefix)])


def _leaf_names(tree, prefix: str) -> list[str]:
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [name for k in sorted(tree, key=repr) for name in _leaf_names(tree[k], f"{prefix}_{k}")]
    if isinstance(tree, tuple | list):
        keys = getattr(tree, "_fields", range(len(tree)))
        return [name for k, part in zip(keys, tree, strict=True) for name in _leaf_names(part, f"{prefix}_{k}")]
    return [re.sub(r"\W", "_", prefix)]


# --- functions with parameters ----------------------------------------------------------------------------------------


class Parameters(SimpleNamespace):
    """The object p of a law or a force; its attributes are the parameters."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ArgumentError(f"p.{name}: there is no parameter '{name}'; there are {', '.join(vars(self)) or 'none'}")


@dataclass(frozen=True)
class Parts:
    """A function and its parameters, as far as machine code depends on them.

    `options` are fixed in the machine code. `cores` has the shapes of one sample of the numbers, which are inputs. The
    function gets all of them as attributes of one object, `p.kp`. Parts are equal if they compute the same, by `mark`.
    """

    function: Callable = field(compare=False)
    options: tuple[tuple[str, Any], ...] = field(default=(), compare=False)
    cores: tuple[tuple[str, tuple[int, ...]], ...] = ()
    mark: Hashable = field(default=None, init=False, repr=False)  # of the function and its options

    def __post_init__(self):
        object.__setattr__(self, "mark", mark_of((self.function, self.options)))

    def __reduce__(self):
        return Parts, (self.function, self.options, self.cores)

    def now(self) -> Parts:
        """The same, with the mark of what the function reads now."""
        return Parts(self.function, self.options, self.cores)

    @property
    def has_changed(self) -> bool:
        """Whether something has changed that the function reads."""
        return self.mark != self.now().mark

    def inputs(self, prefix: str = "", defaults: Numbers | None = None) -> dict[str, Input]:
        """The numbers as inputs of a kernel; `defaults` that are a batch are left out."""
        plain = {k: x for k, x in (defaults or {}).items() if x.shape == dict(self.cores)[k]}
        return {prefix + k: Input(core, default=plain.get(k)) for k, core in self.cores}

    def namespace(self, given: Mapping[str, Any], prefix: str = "") -> Parameters:
        """The object p whose attributes are the parameters; `given` has the numbers, under their prefixed names."""
        return Parameters(**dict(self.options), **{k: given[prefix + k] for k, _ in self.cores})

    def joined(self, function: Callable, other: Parts, caller: str) -> Parts:
        """The parts of `function`, which has the parameters of both."""
        mine, more = ({k for k, _ in (*x.options, *x.cores)} for x in (self, other))
        if clash := mine & more:
            raise ArgumentError(f"{caller}: the law inside has a parameter '{sorted(clash)[0]}' already")
        return Parts(function, (*self.options, *other.options), (*self.cores, *other.cores))


def parted(function: Callable, given: Mapping[str, Any], caller: str) -> tuple[Parts, Numbers]:
    """The `Parts` of a function, and its numbers: numbers and arrays among the parameters are inputs of machine code.

    Everything else is an option: a name, a robot, a truth value.
    """
    if not callable(function):
        raise ArgumentError(f"{caller} needs a function; got {type(function).__name__}")
    for name in given:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ArgumentError(f"{caller}: '{name}' cannot be the name of a parameter: p.{name} is no Python")
    numbers = {k: _number(x, k, caller) for k, x in given.items() if _is_numeric(x)}
    options = tuple((k, x) for k, x in given.items() if k not in numbers)
    for name, x in options:
        try:
            hash(x)
        except TypeError:
            raise ArgumentError(
                f"{caller}: '{name}' is a {type(x).__name__}; a parameter is a number, an array of numbers, or "
                "something hashable, such as a name"
            ) from None
    return Parts(function, options, tuple((k, x.shape) for k, x in numbers.items())), Numbers(numbers)


def label_of(function, name: str | None, kind: str) -> str:
    """The name of a law or a force: the one that is given, or that of its function."""
    if name is not None and (not isinstance(name, str) or not name):
        raise ArgumentError(f"{kind}: name must be a text, got {name!r:.60}")
    own = getattr(function, "__name__", None)
    return name or (own.strip("_<>") if isinstance(own, str) else "") or kind


def with_numbers(parts: Parts, numbers: Numbers, changes: Mapping[str, Any], caller: str) -> Numbers:
    """The numbers with some changed; leading axes of an array, before its core shape, are a batch."""
    found, cores = dict(numbers), dict(parts.cores)
    for name, value in changes.items():
        if name in dict(parts.options):
            raise ArgumentError(
                f"{caller}: '{name}' is fixed in the machine code, so make '{caller}' anew with it; numbers that can "
                f"be replaced are {', '.join(found) or 'none'}"
            )
        if name not in found:
            raise ArgumentError(f"{caller}: there is no parameter '{name}'; there are {', '.join(found) or 'none'}")
        core, x = cores[name], _number(value, name, caller)
        x = np.full(core, x) if x.ndim == 0 else x
        if x.ndim < len(core) or x.shape[x.ndim - len(core) :] != core:
            wanted = ", ".join(map(str, ("...", *core)))
            raise ArgumentError(f"{caller}: '{name}' has shape {x.shape}; it must be ({wanted})")
        found[name] = x
    return Numbers(found)


def _is_numeric(x) -> bool:
    if isinstance(x, bool | np.bool_ | str | bytes) or x is None:
        return False
    some = isinstance(x, list | tuple) and len(x) > 0
    return isinstance(x, int | float | np.number | np.ndarray) or (some and all(map(_is_numeric, x)))


def _number(x, name: str, caller: str) -> np.ndarray:
    found = np.array(as_input(x, name, caller), dtype=float)
    if not np.isfinite(found).all():
        raise ArgumentError(f"{caller}: '{name}' contains NaN or infinity")
    return found
