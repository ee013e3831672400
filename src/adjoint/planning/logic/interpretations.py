"""Interpretations of formulas over a few objects: whether formulas hold in them, and how countermodels look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import ArgumentError, SolveError
from ..limits import check_kind
from .formula_reader import formula
from .formulas import And, Atom, Exists, ForAll, Formula, Iff, Implies, Not, Or
from .terms import Function, Term, Variable

__all__ = ["Interpretation", "holds"]

_MOST_VALUES = 10_000_000  # of all bound variables together


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
    relations: frozenset[tuple[str, tuple[int, ...]]] = frozenset()

    def __str__(self) -> str:
        lines = [f"objects: {', '.join(map(str, range(self.size)))}"]
        lines += [f"{_call(*cell)} = {value}" for cell, value in sorted(self.functions.items(), key=_simple_first)]
        lines += [f"{_call(*atom)} is true" for atom in sorted(self.relations)]
        return "\n".join([*lines, "everything else is false"])

    def __repr__(self) -> str:
        return (
            f"<Interpretation: {self.size} objects, {len(self.relations)} true atom{'s' * (len(self.relations) != 1)}>"
        )


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
    """
    read = formula(text)
    check_kind("holds", interpretation, Interpretation, "the interpretation")
    if interpretation.size ** (len(read.free) + _quantifiers(read)) > _MOST_VALUES:
        raise SolveError(f"holds: the variables of {read} have more than {_MOST_VALUES} values")
    for variable in sorted(read.free, key=lambda v: v.name):
        read = ForAll(variable, read)
    return _value(read, interpretation, {})


def _quantifiers(x: Formula) -> int:
    """How many quantifiers stand inside each other."""
    return isinstance(x, ForAll | Exists) + max(map(_quantifiers, x.parts), default=0)


def _value(x: Formula, meaning: Interpretation, values: dict[Variable, int]) -> bool:
    match x:
        case Atom(name=name, arguments=arguments):
            return (name, tuple(_object(t, meaning, values) for t in arguments)) in meaning.relations
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
        case ForAll(variable=v, inside=inside):
            return all(_value(inside, meaning, {**values, v: i}) for i in range(meaning.size))
        case Exists(variable=v, inside=inside):
            return any(_value(inside, meaning, {**values, v: i}) for i in range(meaning.size))
    raise AssertionError(x)


def _object(term: Term, meaning: Interpretation, values: dict[Variable, int]) -> int:
    if isinstance(term, Variable):
        return values[term]
    assert isinstance(term, Function)
    cell = term.name, tuple(_object(inside, meaning, values) for inside in term.arguments)
    if cell not in meaning.functions:
        raise ArgumentError(f"holds: the interpretation does not say what {_call(*cell)} is")
    return meaning.functions[cell]
