"""Truth tables of formulas without quantifiers: which are valid, satisfiable or equivalent; the book's equivalences.

A column of a truth table is one Python integer, with a bit for each row, so connectives act on all rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...display import counted
from ...errors import ArgumentError
from .formula_reader import formula
from .formulas import And, Atom, Formula, Iff, Implies, Not, Or, atoms_in

__all__ = ["EQUIVALENCES", "MISPRINTED_LAW", "TruthTable", "equivalent", "is_satisfiable", "is_valid", "truth_table"]

MOST_ATOMS = 20
_MOST_SHOWN = 10  # atoms of a table that is written out

EQUIVALENCES: dict[str, tuple[tuple[str, str], ...]] = {
    "double negation": (("~~P", "P"),),
    "disjunction as implication": (("P | Q", "~P -> Q"),),
    "de Morgan": (("~(P | Q)", "~P & ~Q"), ("~(P & Q)", "~P | ~Q")),
    "distributive": (("P & (Q | R)", "(P & Q) | (P & R)"), ("P | (Q & R)", "(P | Q) & (P | R)")),
    "commutative": (("P & Q", "Q & P"), ("P | Q", "Q | P")),
    "associative": (("(P & Q) & R", "P & (Q & R)"), ("(P | Q) | R", "P | (Q | R)")),
    "contrapositive": (("P -> Q", "~Q -> ~P"),),
    "quantifiers": (("~exists x. P(x)", "forall x. ~P(x)"), ("~forall x. P(x)", "exists x. ~P(x)")),
}
"""The equivalences of Fu, Gonzalez & Lee (1987), Sec. 10.4, as {name of the law: pairs of formulas}."""

MISPRINTED_LAW = ("(P & Q) | R", "P & (Q & R)")
"""The first associative law as it is printed in Sec. 10.4; it is false, and `EQUIVALENCES` has it with & for |."""


@dataclass(frozen=True, repr=False)
class TruthTable:
    """Truth values of formulas for all values of their atoms; `print` writes T and F.

        >>> truth_table("P & ~P")
        <TruthTable of P ∧ ~P: 2 rows>

    `rows` are tuples of truth values, first those of the `atoms`, then those of the `formulas`.
    """

    atoms: tuple[Atom, ...]
    formulas: tuple[Formula, ...]
    rows: tuple[tuple[bool, ...], ...]

    def __str__(self) -> str:
        heads = [str(x) for x in (*self.atoms, *self.formulas)]
        lines = [heads] + [["FT"[value] for value in row] for row in self.rows]
        return "\n".join(
            "  ".join(f"{x:{len(head)}}" for x, head in zip(line, heads, strict=True)).rstrip() for line in lines
        )

    def __repr__(self) -> str:
        return f"<TruthTable of {', '.join(map(str, self.formulas))}: {counted(len(self.rows), 'row')}>"


def truth_table(*formulas: str | Formula) -> TruthTable:
    """The truth values of formulas without quantifiers, for all values of their atoms.

        >>> print(truth_table("P | Q", "P -> Q"))
        P  Q  P ∨ Q  P ⇒ Q
        T  T  T      T
        F  T  T      T
        T  F  T      F
        F  F  F      T

    The rows have the order of the book: the first atom changes in every row. At most 10 atoms are written out.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    read = tuple(formula(text) for text in formulas)
    atoms = _atoms("truth_table", *read, most=_MOST_SHOWN)
    columns = [column(x, atoms) for x in (*atoms, *read)]
    rows = tuple(tuple(bool(bits >> row & 1) for bits in columns) for row in range(2 ** len(atoms)))
    return TruthTable(atoms, read, rows)


def is_valid(text: str | Formula) -> bool:
    """Whether a formula without quantifiers is true whatever its atoms are (at most 20).

        >>> is_valid("P & (P -> Q) -> Q"), is_valid("P -> Q")
        (True, False)

    With more atoms, `prove([], formula, support="all")` tells it of formulas that have few clauses.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    read = formula(text)
    atoms = _atoms("is_valid", read)
    return column(read, atoms) == _all_rows(len(atoms))


def is_satisfiable(text: str | Formula) -> bool:
    """Whether a formula without quantifiers is true for some values of its atoms (at most 20).

        >>> is_satisfiable("P & ~Q"), is_satisfiable("P & ~P")
        (True, False)

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    read = formula(text)
    return column(read, _atoms("is_satisfiable", read)) != 0


def equivalent(a: str | Formula, b: str | Formula) -> bool:
    """Whether two formulas without quantifiers have the same value whatever their atoms are (at most 20).

        >>> equivalent("~(P | Q)", "~P & ~Q"), equivalent("(P & Q) | R", "P & (Q & R)")
        (True, False)

    For formulas with quantifiers, or with more atoms and few clauses, `prove` their equivalence.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """
    first, second = formula(a), formula(b)
    atoms = _atoms("equivalent", first, second)
    return column(first, atoms) == column(second, atoms)


def _atoms(caller: str, *formulas: Formula, most: int = MOST_ATOMS) -> tuple[Atom, ...]:
    """The atoms of the formulas in their order; they are refused if there are quantifiers, or too many atoms."""
    found = tuple(dict.fromkeys(atom for x in formulas for atom in atoms_in(x)))
    if any(_has_quantifier(x) for x in formulas):
        raise ArgumentError(f"{caller}: a formula has a quantifier, and truth tables have none; `prove` can answer")
    if len(found) > most:
        raise ArgumentError(
            f"{caller}: there are {len(found)} atoms; a truth table has at most {most}, and `prove` can do with more "
            "unless the clauses of a formula are too many"
        )
    return found


def _has_quantifier(x: Formula) -> bool:
    return not isinstance(x, Atom | Not | And | Or | Implies | Iff) or any(map(_has_quantifier, x.parts))


def _all_rows(atoms: int) -> int:
    return (1 << 2**atoms) - 1


def column(x: Formula, atoms: tuple[Atom, ...]) -> int:
    """The truth values of a formula without quantifiers in all rows, as the bits of an integer.

    In row r, the atom of number i is false if bit i of r is 1.
    """
    every = _all_rows(len(atoms))
    values: dict[Formula, int] = {}
    for i, atom in enumerate(atoms):
        period = 2**i
        # 2^i rows of T, 2^i rows of F, and so on: the geometric series repeats the first T's.
        values[atom] = ((1 << period) - 1) * (every // ((1 << 2 * period) - 1))
    return _column(x, values, every)


def _column(x: Formula, values: dict[Formula, int], every: int) -> int:
    match x:
        case Atom():
            return values[x]
        case Not(inside):
            return every ^ _column(inside, values, every)
    a, b = (_column(part, values, every) for part in x.parts)
    match x:
        case And():
            return a & b
        case Or():
            return a | b
        case Implies():
            return (every ^ a) | b
    return every ^ a ^ b
