"""Symbols for coordinates, rates and parameters, and the expressions that stand for a robot's numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import sympy

from ..errors import ArgumentError
from ..model.robot import Robot
from .reading import HIGHEST, read_polynomial
from .trig import TrigPoly, exact, variable

__all__ = ["Symbols", "make_symbols", "require_distinct"]


class Symbols(NamedTuple):
    """The symbols of the equations, and for each of the robot's numbers the expression that stands for it."""

    q: tuple[sympy.Symbol, ...]
    dq: tuple[sympy.Symbol, ...]
    ddq: tuple[sympy.Symbol, ...]
    parameters: dict[sympy.Symbol, float]  # {symbol: the robot's number}
    numbers: dict[str, sympy.Expr]  # {name of a number: the expression that stands for it}
    meaning: dict[str, TrigPoly]  # {name of a number: its polynomial}, also for numbers without symbols

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the variables 0, 1, ... of a `TrigPoly`."""
        return (*self.q, *self.dq, *self.parameters)


def make_symbols(
    robot: Robot, numbers: Mapping[str, float], names: Sequence[str] | None, symbols: bool | Mapping[str, object]
) -> Symbols:
    """Return the `Symbols` of a robot, of which `numbers` {name: number} are the numbers that are not 0.

    `names` and `symbols` are the arguments of `equations_of_motion`.
    """
    names = [f"q{k + 1}" for k in range(robot.nv)] if names is None else names
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if not listed or len(names) != robot.nv or not all(isinstance(n, str) and n for n in names):
        raise ArgumentError(
            f"equations_of_motion: names are {names!r}; {robot.nv} are needed, such as ['q1', 'q2', ...]"
        )
    q, dq, ddq = ([sympy.Symbol(dots + name) for name in names] for dots in ("", "d", "dd"))
    given = _given(numbers, symbols)
    chosen: list[Any] = list(dict.fromkeys(s for e in given.values() for s in sorted(e.free_symbols, key=str)))
    require_distinct([*q, *dq, *ddq, *chosen])
    values = _values(numbers, given, chosen)
    place = {s: variable(2 * robot.nv + k) for k, s in enumerate(chosen)}
    meaning = {name: _polynomial(given[name], place) if name in given else exact(x) for name, x in numbers.items()}
    return Symbols(tuple(q), tuple(dq), tuple(ddq), values, given, meaning)


def _given(numbers: Mapping[str, float], symbols: bool | Mapping[str, object]) -> dict[str, sympy.Expr]:
    """Return {name of a number: expression that stands for it}."""
    if isinstance(symbols, bool):
        return {name: sympy.Symbol(name) for name in numbers} if symbols else {}
    if not isinstance(symbols, Mapping):
        raise ArgumentError(
            f"equations_of_motion: symbols is {symbols!r}; it must be True, False or {{name: expression}}"
        )
    if unknown := set(symbols) - set(numbers):
        raise ArgumentError(
            f"equations_of_motion: symbols: the robot has no number {', '.join(sorted(map(str, unknown)))} "
            f"(or it is 0); there are {', '.join(numbers)}"
        )
    return {name: _expression(name, x) for name, x in symbols.items()}


def require_distinct(symbols: Sequence[sympy.Symbol]) -> None:
    """Raise an `ArgumentError` if two symbols have the same name, or if a name cannot be printed."""
    name, times = Counter(s.name for s in symbols).most_common(1)[0]
    if times > 1:
        raise ArgumentError(
            f"equations_of_motion: {name!r} stands for two things; coordinates, their rates d... and dd..., parameters "
            "and inner products must all have different names"
        )
    if bad := next((s.name for s in symbols if not s.name.isprintable()), None):
        raise ArgumentError(f"equations_of_motion: the name {bad!r} has characters that cannot be printed")


def _expression(name: str, x: object) -> sympy.Expr:
    """Return the expression of x: a SymPy expression, a number, or a text, in which every word is a symbol."""
    try:
        found = _parsed(x)
        terms = sympy.Poly(found, *found.free_symbols or [sympy.Dummy()])
        if terms.total_degree() <= HIGHEST and all(c.is_real and c.is_finite for c in terms.coeffs()):
            return found
    except (ValueError, sympy.PolynomialError):
        pass
    raise ArgumentError(
        f"equations_of_motion: symbols: {name} = {x!r:.80} is not a polynomial in symbols; it may be a number, a SymPy "
        f"expression, or text of numbers, names, + - * / and whole powers **, of a degree up to {HIGHEST}"
    )


def _parsed(x: object) -> sympy.Expr:
    """Return x as a SymPy expression; a `ValueError` if it is neither one nor a number nor a readable text."""
    if isinstance(x, str):
        return read_polynomial(x)
    if isinstance(x, bool) or not isinstance(x, (sympy.Expr, Real)):
        raise ValueError
    found: Any = sympy.sympify(x, strict=True)
    return found


def _values(numbers: Mapping[str, float], given: dict[str, sympy.Expr], chosen: list[sympy.Symbol]) -> dict:
    """Return {symbol: number} from those of the robot's numbers that a symbol alone stands for.

    The values of all other expressions must agree with the robot's numbers.
    """
    alone: dict[Any, float] = {e: numbers[name] for name, e in reversed(given.items()) if e.is_Symbol}
    if missing := [s.name for s in chosen if s not in alone]:
        raise ArgumentError(
            f"equations_of_motion: symbols: {', '.join(missing)} must stand for a number alone, such as "
            f"{{'{next(iter(given))}': '{missing[0]}'}}, to have a value"
        )
    for name, e in given.items():
        x = float(e.subs(alone))
        if abs(x - numbers[name]) > 1e-9 * abs(numbers[name]):
            raise ArgumentError(
                f"equations_of_motion: symbols: {name} = {e} is {x:g}, but the robot's {name} is {numbers[name]:g}"
            )
    return {s: alone[s] for s in chosen}


def _polynomial(e: sympy.Expr, place: Mapping[sympy.Symbol, TrigPoly]) -> TrigPoly:
    """Return the exact polynomial of an expression, where `place` has the variable of each symbol."""
    total = exact(0.0)
    terms: Any = sympy.Poly(e, *place).terms() if place else [((), e)]
    for powers, c in terms:
        term = exact(1.0) * (Fraction(c.p, c.q) if c.is_Rational else exact(float(c)))
        for x, power in zip(place.values(), powers, strict=True):
            for _ in range(power):
                term = term * x
        total = total + term
    return total
