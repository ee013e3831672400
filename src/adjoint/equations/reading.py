"""Polynomials in symbols, read from text such as "m1*l**2/12". The text is parsed, never evaluated."""

from __future__ import annotations

import ast
import math
import operator

import sympy

__all__ = ["HIGHEST", "read_polynomial"]

HIGHEST = 16  # the highest degree of a polynomial
_LONGEST = 500  # characters of a text
_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def read_polynomial(text: str) -> sympy.Expr:
    """Return the expression that the text says: numbers, names as symbols, + - * / and whole powers.

    All else is a `ValueError`.
    """
    if len(text) > _LONGEST:
        raise ValueError
    try:
        return _read(ast.parse(text.strip(), mode="eval").body)[0]
    except (SyntaxError, RecursionError, MemoryError, OverflowError):
        raise ValueError from None


def _read(node: ast.expr) -> tuple[sympy.Expr, int]:
    """Return the expression and its size, a bound of 2^degree and of the number of its terms when multiplied out."""
    match node:
        case ast.Name(id=name):
            found, size = sympy.Symbol(name), 2
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and math.isfinite(number):
            found, size = sympy.sympify(number), 2
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
            e, size = _read(operand)
            found = -e if isinstance(node.op, ast.USub) else e
        case ast.BinOp(op=ast.Pow(), left=left, right=ast.Constant(value=int() as power)) if 0 <= power <= HIGHEST:
            e, base = _read(left)
            found, size = e**power, base**power
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            (x, of_x), (y, of_y) = _read(left), _read(right)
            found = _OPERATIONS[type(op)](x, y)
            size = of_x + of_y if isinstance(op, ast.Add | ast.Sub) else of_x * of_y
        case _:
            raise ValueError
    if size > 2**HIGHEST:
        raise ValueError
    return found, size
