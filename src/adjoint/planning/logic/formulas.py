"""Well-formed formulas of propositional and predicate logic, as frozen data that prints itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import ArgumentError
from ..limits import check_kind
from .terms import LARGEST, Substitution, Term, Variable, call_text, check_arguments, check_name, functions_in, replaced

__all__ = ["And", "Atom", "Exists", "ForAll", "Formula", "Iff", "Implies", "Not", "Or"]

TALLEST = 200  # formulas inside each other; a taller one would fill Python's stack


@dataclass(frozen=True, repr=False)
class Formula:
    """A well-formed formula; `print` writes it with the symbols ~ ∧ ∨ ⇒ ⇔ ∀ ∃, which `formula` reads again.

        >>> Or(Atom("P"), Not(Atom("Q")))
        formula('P ∨ ~Q')

    `free` are the variables that no quantifier binds, `size` counts connectives and atoms, `height` their levels.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """

    size: int = field(init=False, repr=False, compare=False)
    height: int = field(init=False, repr=False, compare=False)
    free: frozenset[Variable] = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        # Formulas share their parts as terms do: see `Function`.
        inside = self.parts
        for part in inside:
            if not isinstance(part, Formula):
                kind = type(self).__name__
                raise ArgumentError(f"{kind}: its parts are formulas, got {part!r:.60}; formula('P') makes a formula")
        keep = object.__setattr__
        keep(self, "size", 1 + sum(part.size for part in inside))
        keep(self, "height", 1 + max((part.height for part in inside), default=0))
        keep(self, "free", self._free())
        if self.height > TALLEST:
            raise ArgumentError(f"a formula has more than {TALLEST} levels; split it into several formulas")
        if self.size > LARGEST:
            raise ArgumentError(f"a formula has more than {LARGEST} parts; split it into several formulas")

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas directly inside of this one."""
        return ()

    def _free(self) -> frozenset[Variable]:
        return frozenset().union(*(part.free for part in self.parts))

    def __str__(self) -> str:
        return formula_text(self)

    def __repr__(self) -> str:
        return f"formula({str(self)!r})"


@dataclass(frozen=True, repr=False)
class Atom(Formula):
    """A predicate of terms such as INROOM(ROBOT, R1), or without terms a proposition such as RAINING.

    >>> print(Atom("INROOM", (Variable("x"),)))
    INROOM(?x)
    """

    name: str
    arguments: tuple[Term, ...] = ()

    def _free(self) -> frozenset[Variable]:
        check_name("Atom", self.name)
        check_arguments("Atom", self.name, self.arguments)
        return frozenset().union(*(term.variables for term in self.arguments))


@dataclass(frozen=True, repr=False)
class Not(Formula):
    """~P.

    >>> print(Not(Atom("P")))
    ~P
    """

    inside: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formula that is negated."""
        return (self.inside,)


@dataclass(frozen=True, repr=False)
class _Binary(Formula):
    left: Formula
    right: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The left and the right formula."""
        return self.left, self.right


class And(_Binary):
    """P ∧ Q.

    >>> print(And(Atom("P"), Atom("Q")))
    P ∧ Q
    """


class Or(_Binary):
    """P ∨ Q.

    >>> print(Or(Atom("P"), Atom("Q")))
    P ∨ Q
    """


class Implies(_Binary):
    """P ⇒ Q.

    >>> print(Implies(Atom("P"), Atom("Q")))
    P ⇒ Q
    """


class Iff(_Binary):
    """P ⇔ Q: both or neither.

    >>> print(Iff(Atom("P"), Atom("Q")))
    P ⇔ Q
    """


@dataclass(frozen=True, repr=False)
class _Quantified(Formula):
    variable: Variable
    inside: Formula

    def __post_init__(self):
        check_kind(type(self).__name__, self.variable, Variable, "the variable")
        super().__post_init__()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formula in which the variable is bound."""
        return (self.inside,)

    def _free(self) -> frozenset[Variable]:
        return self.inside.free - {self.variable}


class ForAll(_Quantified):
    """∀x. P(x).

    >>> x = Variable("x")
    >>> print(ForAll(x, Atom("P", (x,))))
    ∀x. P(x)
    """


class Exists(_Quantified):
    """∃x. P(x).

    >>> x = Variable("x")
    >>> print(Exists(x, Atom("P", (x,))))
    ∃x. P(x)
    """


# --- text -------------------------------------------------------------------------------------------------------------

SYMBOLS = {And: "∧", Or: "∨", Implies: "⇒", Iff: "⇔", ForAll: "∀", Exists: "∃"}
BINDING = {Iff: 1, Implies: 2, Or: 3, And: 4}
"""How tightly connectives bind; ~ and atoms bind tightest, and a quantifier reaches to the end of its parentheses."""
_TIGHTEST = 5


def formula_text(formula: Formula, bound: frozenset[Variable] = frozenset(), least: int = 0) -> str:
    """A formula as text, in parentheses if it binds less tightly than `least`."""
    if isinstance(formula, Atom):
        return call_text(formula.name, formula.arguments, bound)
    if isinstance(formula, Not):
        return f"~{formula_text(formula.inside, bound, _TIGHTEST)}"
    if isinstance(formula, _Quantified):
        text, binding = _quantified_text(formula, bound), 0
    else:
        assert isinstance(formula, _Binary)
        binding = BINDING[type(formula)]
        # ⇒ groups to the right, the others to the left: what groups the other way has parentheses.
        to_right = isinstance(formula, Implies)
        left = formula_text(formula.left, bound, binding + to_right)
        text = f"{left} {SYMBOLS[type(formula)]} {formula_text(formula.right, bound, binding + (not to_right))}"
    return f"({text})" if binding < least else text


def _quantified_text(formula: _Quantified, bound: frozenset[Variable]) -> str:
    names, kind = [], type(formula)
    inside: Formula = formula
    while isinstance(inside, _Quantified) and type(inside) is kind:
        names.append(inside.variable)
        inside = inside.inside
    head = " ".join(variable.name for variable in names)
    return f"{SYMBOLS[kind]}{head}. {formula_text(inside, bound.union(names))}"


# --- walks ------------------------------------------------------------------------------------------------------------


def atoms_in(formula: Formula) -> Iterator[Atom]:
    """All atoms of a formula from left to right, as often as they stand there."""
    if isinstance(formula, Atom):
        yield formula
    for part in formula.parts:
        yield from atoms_in(part)


def signature(formula: Formula) -> set[tuple[str, int]]:
    """The functions and constants of a formula, as names with numbers of arguments."""
    terms = {term for atom in set(atoms_in(formula)) for term in atom.arguments}
    return {(f.name, len(f.arguments)) for term in terms for f in functions_in(term)}


def with_parts(formula: Formula, parts: tuple[Formula, ...]) -> Formula:
    """The formula with other formulas in the place of its parts; if these are the same, the formula itself."""
    if all(new is old for new, old in zip(parts, formula.parts, strict=True)):
        return formula
    if isinstance(formula, _Quantified):
        return type(formula)(formula.variable, *parts)
    return type(formula)(*parts)


def formula_replaced(formula: Formula, to: Substitution) -> Formula:
    """The formula with terms in the place of free variables, which must not be bound where the terms come to stand."""
    if formula.free.isdisjoint(to):
        return formula
    if isinstance(formula, Atom):
        return Atom(formula.name, tuple(replaced(term, to) for term in formula.arguments))
    if isinstance(formula, _Quantified) and formula.variable in to:
        to = {variable: term for variable, term in to.items() if variable != formula.variable}
    return with_parts(formula, tuple([formula_replaced(part, to) for part in formula.parts]))
