"""Terms of predicate logic, variables, constants and functions of terms, and substitutions of terms for variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import ArgumentError

__all__ = ["Function", "Substitution", "Term", "Variable"]

DEEPEST = 200  # functions inside each other: walks over a deeper term would fill Python's stack
LARGEST = 1_000_000  # symbols of a term


@dataclass(frozen=True, repr=False)
class Variable:
    """A variable of a formula. A variable that no quantifier binds is written with a question mark, as in P(?x).

        >>> print(Variable("x"))
        ?x

    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """

    name: str

    size = depth = 1

    def __post_init__(self):
        check_name("Variable", self.name)

    @property
    def variables(self) -> frozenset[Variable]:
        """The variable itself."""
        return frozenset((self,))

    def __str__(self) -> str:
        return f"?{self.name}"

    def __repr__(self) -> str:
        return f"term({str(self)!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Function:
    """A function of terms such as father(JOHN), or without arguments a constant such as JOHN.

        >>> print(Function("father", (Function("JOHN"),)))
        father(JOHN)

    `size` counts the symbols, `depth` the levels, and `variables` are all variables inside.
    Reference: Fu, Gonzalez & Lee (1987), Sec. 10.4.
    """

    name: str
    arguments: tuple[Term, ...] = ()
    size: int = field(init=False)
    depth: int = field(init=False)
    variables: frozenset[Variable] = field(init=False)
    _hash: int = field(init=False)

    def __post_init__(self):
        check_name("Function", self.name)
        check_arguments("Function", self.name, self.arguments)
        # Terms share their parts, so a term can stand for far more symbols than it has objects. These numbers are
        # kept because a walk over all symbols could take forever.
        inside = self.arguments
        keep = object.__setattr__
        keep(self, "size", 1 + sum(term.size for term in inside))
        keep(self, "depth", 1 + max((term.depth for term in inside), default=0))
        keep(self, "variables", frozenset().union(*(term.variables for term in inside)))
        keep(self, "_hash", hash((self.name, inside)))
        if self.depth > DEEPEST or self.size > LARGEST:
            raise ArgumentError(
                f"a term of {self.name} is too large: terms have at most {DEEPEST} levels and {LARGEST} symbols"
            )

    def __eq__(self, other) -> bool:
        if self is other:
            return True
        if not isinstance(other, Function) or self._hash != other._hash:
            return False
        return self.name == other.name and self.arguments == other.arguments

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return call_text(self.name, self.arguments)

    def __repr__(self) -> str:
        return f"term({str(self)!r})"


Term = Variable | Function
"""What stands for an object: a variable, or a function of other terms; a constant is a function of none."""
Substitution = Mapping[Variable, Term]
"""Terms that stand for variables, all at the same time."""


def check_name(kind: str, name: object) -> None:
    """Refuse what is no name of a variable, function or predicate."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"{kind}: a name is a text such as 'P', got {name!r:.60}")


def check_arguments(kind: str, name: str, arguments: object) -> None:
    """Refuse arguments of a function or predicate that are no tuple of terms."""
    if not isinstance(arguments, tuple):
        raise ArgumentError(f"{kind} {name}: the arguments are a tuple of terms, got {type(arguments).__name__}")
    for number, argument in enumerate(arguments, 1):
        if not isinstance(argument, Variable | Function):
            raise ArgumentError(
                f"{kind} {name}: argument {number} is no term but {argument!r:.60}; term('f(?x)') makes a term"
            )


def call_text(name: str, arguments: tuple[Term, ...], bound: frozenset[Variable] = frozenset()) -> str:
    """A predicate or function with its arguments; variables that are `bound` have no question mark."""
    shown = []
    for term in arguments:  # no comprehension, which would be a second frame of Python's stack for every level
        if isinstance(term, Function):
            shown.append(call_text(term.name, term.arguments, bound))
        else:
            shown.append(term.name if term in bound else str(term))
    return f"{name}({', '.join(shown)})" if shown else name


def replaced(term: Term, to: Substitution) -> Term:
    """The term with other terms in the place of its variables."""
    if isinstance(term, Variable):
        return to.get(term, term)
    if term.variables.isdisjoint(to):
        return term
    return Function(term.name, tuple([replaced(inside, to) for inside in term.arguments]))


def functions_in(term: Term) -> set[Function]:
    """All functions and constants of a term."""
    seen: set[Function] = set()
    ahead = [term]
    while ahead:
        found = ahead.pop()
        if isinstance(found, Function) and found not in seen:
            seen.add(found)
            ahead += found.arguments
    return seen
