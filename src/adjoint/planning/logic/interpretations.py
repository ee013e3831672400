"""Interpretations of formulas over a few objects: whether formulas hold in them, and how countermodels look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AnySet
from dataclasses import dataclass, field
from typing import NamedTuple

from ...display import counted
from ...errors import ArgumentError, SolveError
from ...model.input_checks import count
from ..limits import check_kind
from .formula_reader import formula
from .formulas import And, Atom, Exists, ForAll, Formula, Iff, Implies, Not, Or
from .terms import Term, Variable

__all__ = ["Interpretation", "holds"]

_MOST_STEPS = 3_000_000  # formulas and terms that are looked at, once for all values of their variables each


@dataclass(frozen=True, repr=False)
class Interpretation:
    """What names mean over the objects 0, 1, ..., size - 1; `print` writes it as tables.

        >>> Interpretation(2, {("A", ()): 0}, frozenset({("P", (0,))}))
        <Interpretation: 2 objects, 1 true atom>

    `functions` is {(name, objects): object}, where constants have no objects; `relations` has (name, objects) of all
    atoms that are true. Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """

    size: int
    functions: Mapping[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    relations: AnySet[tuple[str, tuple[int, ...]]] = frozenset()

    def __post_init__(self):
        if count(self.size, "Interpretation: size") < 1:
            raise ArgumentError("Interpretation: size must be 1 or more; names need objects that they can mean")
        check_kind("Interpretation", self.functions, Mapping, "functions")
        check_kind("Interpretation", self.relations, AnySet, "relations")
        objects = range(self.size)
        for cell in (*self.functions, *self.relations):
            if not _is_cell(cell, objects):
                raise ArgumentError(
                    f"Interpretation: {cell!r:.60} is no pair of a name and a tuple of objects, such as ('P', (0,)); "
                    f"the objects are 0 to {self.size - 1}"
                )
        for cell, value in self.functions.items():
            if value not in objects:
                raise ArgumentError(
                    f"Interpretation: {_call(*cell)} is {value!r:.60}; the objects are 0 to {self.size - 1}"
                )

    def __str__(self) -> str:
        lines = [f"objects: {', '.join(map(str, range(self.size)))}"]
        lines += [f"{_call(*cell)} = {value}" for cell, value in sorted(self.functions.items(), key=_simple_first)]
        lines += [f"{_call(*atom)} is true" for atom in sorted(self.relations)]
        return "\n".join([*lines, "everything else is false"])

    def __repr__(self) -> str:
        return f"<Interpretation: {counted(self.size, 'object')}, {counted(len(self.relations), 'true atom')}>"


def _is_cell(cell: object, objects: range) -> bool:
    match cell:
        case (str(), tuple(inside)):
            return all(x in objects for x in inside)
    return False


def _simple_first(item) -> tuple:
    (name, objects), _ = item
    return len(objects), name, objects


def _call(name: str, objects: tuple[int, ...]) -> str:
    return f"{name}({', '.join(map(str, objects))})" if objects else name


def holds(text: str | Formula, interpretation: Interpretation) -> bool:
    """Whether a formula is true in an interpretation. Free variables are understood as bound by ∀.

        >>> two = Interpretation(2, {("A", ()): 0}, frozenset({("P", (0,))}))
        >>> holds("P(A)", two), holds("exists x. P(x)", two), holds("forall x. P(x)", two)
        (True, True, False)

    n variables stand for up to size^n values. What is not decided after three million parts of formulas and terms were
    looked at, which takes a few seconds, is refused with a `SolveError`.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    read = formula(text)
    check_kind("holds", interpretation, Interpretation, "the interpretation")
    for variable in sorted(read.free, key=lambda v: v.name):
        read = ForAll(variable, read)
    meaning = _Meaning(interpretation, iter(range(_MOST_STEPS)))
    try:
        return _value(read, meaning, {})
    except TimeoutError:
        inside = counted(_quantifiers(read), "quantifier")
        raise SolveError(
            f"holds: the formula is not decided after {_MOST_STEPS} steps; it has {counted(read.size, 'part')}, with "
            f"{inside} inside each other, and the interpretation has {counted(interpretation.size, 'object')}"
        ) from None


def _quantifiers(x: Formula) -> int:
    """How many quantifiers stand inside each other."""
    return isinstance(x, ForAll | Exists) + max(map(_quantifiers, x.parts), default=0)


class _Meaning(NamedTuple):
    interpretation: Interpretation
    steps: Iterator[int]  # those that are left

    def step(self) -> None:
        if next(self.steps, None) is None:
            raise TimeoutError


# Loops stand here where comprehensions could: those would be second frames of Python's stack for every level.


def _value(x: Formula, meaning: _Meaning, values: dict[Variable, int]) -> bool:
    meaning.step()
    match x:
        case Atom(name=name, arguments=arguments):
            return (name, _objects(arguments, meaning, values)) in meaning.interpretation.relations
        case Not(inside=inside):
            return not _value(inside, meaning, values)
        case And(left=a, right=b):
            return _value(a, meaning, values) and _value(b, meaning, values)
        case Or(left=a, right=b):
            return _value(a, meaning, values) or _value(b, meaning, values)
        case Implies(left=a, right=b):
            return not _value(a, meaning, values) or _value(b, meaning, values)
        case Iff(left=a, right=b):
            return _value(a, meaning, values) == _value(b, meaning, values)
        case ForAll(variable=v, inside=inside) | Exists(variable=v, inside=inside):
            exists = isinstance(x, Exists)
            for i in range(meaning.interpretation.size):
                if _value(inside, meaning, {**values, v: i}) == exists:
                    return exists
            return not exists
    raise AssertionError(x)


def _objects(terms: tuple[Term, ...], meaning: _Meaning, values: dict[Variable, int]) -> tuple[int, ...]:
    found = []
    for term in terms:
        meaning.step()
        if isinstance(term, Variable):
            found.append(values[term])
            continue
        cell = term.name, _objects(term.arguments, meaning, values)
        if cell not in meaning.interpretation.functions:
            raise ArgumentError(f"holds: the interpretation does not say what {_call(*cell)} is")
        found.append(meaning.interpretation.functions[cell])
    return tuple(found)
