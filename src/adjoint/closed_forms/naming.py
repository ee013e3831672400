"""Symbols for coordinates, rates and parameters, and what each of a robot's numbers is in terms of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import sympy

from ..errors import ArgumentError
from ..robot.model import Robot
from .trig import TrigPoly, exact, variable

__all__ = ["Symbols", "make_symbols"]


class Symbols(NamedTuple):
    """Symbols, and the polynomial {name of a number: TrigPoly} for every number of the robot."""

    q: tuple[sympy.Symbol, ...]
    dq: tuple[sympy.Symbol, ...]
    ddq: tuple[sympy.Symbol, ...]
    parameters: dict[sympy.Symbol, float]  # and the robot's numbers
    numbers: dict[str, sympy.Expr]  # {name of a number of the robot: what stands for it}
    meaning: dict[str, TrigPoly]  # the same in exact arithmetic, of all numbers

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """Symbols of the variables 0, 1, ... of a TrigPoly."""
        return (*self.q, *self.dq, *self.parameters)


def make_symbols(
    robot: Robot, numbers: Mapping[str, float], names: Sequence[str] | None, symbols: bool | Mapping[str, object]
) -> Symbols:
    """`numbers` {name: number} are the robot's; see `equations` for `names` and `symbols`."""
    names = [f"q{k + 1}" for k in range(robot.nv)] if names is None else list(names)
    if len(names) != robot.nv or len(set(names)) != robot.nv or not all(isinstance(n, str) and n for n in names):
        raise ArgumentError(f"equations: names are {names}; {robot.nv} different ones are needed, such as q1, q2, ...")
    q, dq, ddq = ([sympy.Symbol(dots + name) for name in names] for dots in ("", "d", "dd"))
    given = _given(numbers, symbols)
    chosen = list(dict.fromkeys(s for e in given.values() for s in sorted(e.free_symbols, key=str)))
    if clash := {*q, *dq, *ddq} & set(chosen):
        raise ArgumentError(
            f"equations: {', '.join(map(str, clash))} cannot be a parameter, it is a coordinate or rate"
        )
    values = _values(numbers, given, chosen)
    place = {s: variable(2 * robot.nv + k) for k, s in enumerate(chosen)}
    meaning = {name: _polynomial(given[name], place) if name in given else exact(x) for name, x in numbers.items()}
    return Symbols(tuple(q), tuple(dq), tuple(ddq), values, given, meaning)


def _given(numbers: Mapping[str, float], symbols: bool | Mapping[str, object]) -> dict[str, sympy.Expr]:
    """{name of a number: expression that stands for it}."""
    if isinstance(symbols, bool):
        return {name: sympy.Symbol(name) for name in numbers} if symbols else {}
    if unknown := set(symbols) - set(numbers):
        raise ArgumentError(
            f"equations: symbols: the robot has no number {', '.join(sorted(unknown))} (or it is 0); "
            f"there are {', '.join(numbers)}"
        )
    return {name: _expression(name, x) for name, x in symbols.items()}


def _expression(name: str, x: object) -> sympy.Expr:
    """What stands for a number, given as an expression or a text; every word in a text is a symbol."""
    words = {word: sympy.Symbol(word) for word in re.findall(r"[A-Za-z_]\w*", x)} if isinstance(x, str) else {}
    refused = ArgumentError(f"equations: symbols: {name} = {x} is not a polynomial in symbols")
    try:
        found = sympy.sympify(x, locals=words)
    except (sympy.SympifyError, TypeError, AttributeError, SyntaxError):
        raise refused from None
    if not isinstance(found, sympy.Expr) or not found.is_polynomial():
        raise refused
    return found


def _values(numbers: Mapping[str, float], given: dict[str, sympy.Expr], chosen: list[sympy.Symbol]) -> dict:
    """{symbol: number}, from the numbers that a symbol alone stands for; the others must agree with them."""
    alone = {e: numbers[name] for name, e in reversed(given.items()) if e.is_Symbol}
    if missing := [s.name for s in chosen if s not in alone]:
        raise ArgumentError(
            f"equations: symbols: {', '.join(missing)} must stand for a number alone, such as "
            f"{{'{next(iter(given))}': '{missing[0]}'}}, to have a value"
        )
    for name, e in given.items():
        x = float(e.subs(alone))
        if abs(x - numbers[name]) > 1e-9 * abs(numbers[name]):
            raise ArgumentError(
                f"equations: symbols: {name} = {e} is {x:g}, but the robot's {name} is {numbers[name]:g}"
            )
    return {s: alone[s] for s in chosen}


def _polynomial(e: sympy.Expr, place: Mapping[sympy.Symbol, TrigPoly]) -> TrigPoly:
    total = exact(0.0)
    for powers, c in sympy.Poly(e, *place).terms() if place else [((), e)]:
        term = exact(1.0) * (Fraction(c.p, c.q) if c.is_Rational else exact(float(c)))
        for x, power in zip(place.values(), powers, strict=True):
            for _ in range(power):
                term = term * x
        total = total + term
    return total
