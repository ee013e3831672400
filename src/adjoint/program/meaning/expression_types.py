"""Types and units of expressions, and what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import nearest
from ..instructions.diagnostics import Diagnostic
from ..instructions.expressions import (
    Aggregate,
    Binary,
    Call,
    Expression,
    Here,
    Index,
    Literal,
    Name,
    Quantity,
    Reading,
    Unary,
    UnitName,
    Wrt,
)  # fmt: skip
from ..instructions.sources import Source, Span
from ..instructions.statements import Procedure
from ..instructions.value_types import (
    AGGREGATE,
    ANY,
    BOOLEAN,
    FORCE,
    FRAME,
    JOINTS,
    LENGTH,
    NUMBER,
    ROTATION,
    TEXT,
    TORQUE,
    Type,
    scalar,
    vector,
)  # fmt: skip
from .constants import CONSTANTS
from .functions import FUNCTIONS, ProgramFunction
from .operator_types import UNIT_TYPES, ZERO, ZEROS, binary_type, fits, in_words, same_unit, unit_hint

__all__: list[str] = []

MOST = 200  # findings of one program
_READINGS = {"force": FORCE, "torque": TORQUE, "width": LENGTH, "signal": BOOLEAN, "done": BOOLEAN, "monitor": NUMBER}
_SHORT = 40  # characters of the text of an expression that a message shows


class ExpressionChecker:
    """Finds types of expressions, and reports what does not fit. `variables` has the types of variables so far."""

    def __init__(self, source: Source | None):
        self.source = source
        self.found: list[Diagnostic] = []
        self.variables: dict[str, Type] = {}
        self.arrays: dict[str, Type] = {}
        self.procedures: dict[str, Procedure] = {}
        self.unknown: list[tuple[str, Span]] = []
        self.arms: list[tuple[str, Span, str]] = []
        self.sensors: list[tuple[str, Span]] = []
        self.about_arm = False  # whether the statement names an arm, which readings without one then mean
        self.rules: dict[type, Callable[[Any], Type]] = {
            Literal: self._literal, Quantity: self._quantity, UnitName: self._quantity, Name: self._name,
            Unary: self._unary, Binary: self._binary, Call: self._call, Wrt: self._wrt, Here: self._here,
            Reading: self._reading, Aggregate: self._aggregate, Index: self._index,
        }  # fmt: skip

    # --- reports ------------------------------------------------------------------------------------------------------

    def report(self, message: str, at: Span, hint: str = "", code: str = "type", severity: str = "error") -> None:
        """Remember a finding."""
        if len(self.found) < MOST:
            self.found.append(Diagnostic(message, at, hint, severity, code))

    def shown(self, expression: Expression) -> str:
        """The text of an expression if it is short, else "this"."""
        if isinstance(expression, Literal) and not isinstance(expression.value, str):
            return f"{expression.value:g}"
        text = self.source[expression.at] if self.source is not None else ""
        if not text and isinstance(expression, Name):
            text = expression.name
        return f"'{text}'" if text and len(text) <= _SHORT and "\n" not in text else "this"

    def type_of(self, expression: Expression) -> Type:
        """The type of an expression; ANY if it is not known, or if something is wrong inside."""
        return self.rules[type(expression)](expression)

    def needs(self, what: str, expression: Expression, types: tuple[Type, ...], any_unit: bool = False) -> Type:
        """The type of an expression, which must be one of these."""
        found = self.rules[type(expression)](expression)
        for needed in types:
            if fits(found, needed, any_unit):
                return found
        one = types[0]
        wanted = "a number" if any_unit and one.kind == "scalar" else " or ".join(in_words(t) for t in types)
        message = f"{what} needs {wanted}, and {self.shown(expression)} is {in_words(found)}"
        unit = any(t.kind == found.kind for t in types)
        self.report(message, expression.at, unit_hint(expression, found, one), "unit" if unit else "type")
        return ANY

    # --- one rule for each class --------------------------------------------------------------------------------------

    def _literal(self, e: Literal) -> Type:
        value = e.value
        if value.__class__ is float or value.__class__ is int:
            return NUMBER if value else ZERO
        return BOOLEAN if isinstance(value, bool) else TEXT if isinstance(value, str) else NUMBER

    def _quantity(self, e: Quantity | UnitName) -> Type:
        return UNIT_TYPES[e.unit]

    def _name(self, e: Name) -> Type:
        found = self.variables.get(e.name)
        if found is not None:
            return found
        known = self.other_name(e.name)
        if known is not None:
            return known
        constant = CONSTANTS.get(e.name)
        if constant is not None:
            return constant[0]
        self.unknown.append((e.name, e.at))
        return ANY

    def other_name(self, name: str) -> Type | None:
        """The type of what the world calls so, or None."""
        raise NotImplementedError

    def _unary(self, e: Unary) -> Type:
        found = self.rules[type(e.value)](e.value)
        if e.operator == "not":
            if found.kind not in ("boolean", "any"):
                hint = "put the comparison into parentheses: NOT (a > b)" if found.kind == "scalar" else ""
                self.report(f"NOT needs a truth value, and {self.shown(e.value)} is {in_words(found)}", e.at, hint)
            return BOOLEAN
        if found.kind in ("scalar", "vector", "zero", "zeros", "any", "aggregate", "joints"):
            return found
        hint = "INVERSE(...) is the inverse" if found.kind in ("frame", "rotation") else ""
        self.report(f"'-' needs a number or a vector, and {self.shown(e.value)} is {in_words(found)}", e.at, hint)
        return ANY

    def _binary(self, e: Binary) -> Type:
        left, right = self.rules[type(e.left)](e.left), self.rules[type(e.right)](e.right)
        found = binary_type(e.operator, left, right)
        if found is not None:
            return found
        self._mismatch(e, left, right)
        return BOOLEAN if e.operator in ("<", "<=", ">", ">=", "=", "<>", "and", "or") else ANY

    def _mismatch(self, e: Binary, left: Type, right: Type) -> None:
        """Report two values that an operator cannot join."""
        kinds, code = (left.kind, right.kind), "type"
        text = f"{in_words(left)} {e.operator} {in_words(right)}"
        hint = ""
        if {left.kind, right.kind} <= {"scalar", "zero"} or kinds == ("vector", "vector"):
            code = "unit"
            hint = unit_hint(e.right, right, left) or unit_hint(e.left, left, right)
        elif kinds == ("frame", "vector"):
            code, hint = "unit", unit_hint(e.right, right, vector(m=1))
        if e.operator == "*" and kinds == ("vector", "vector"):
            code, hint = "type", "write DOT(v, w) or CROSS(v, w)"
        elif kinds == ("frame", "scalar") and e.operator in ("+", "-"):
            hint = f"frame {e.operator} vector shifts it: multiply the length by an axis, such as Z"
        elif kinds == ("vector", "frame"):
            hint = f"write the frame first: frame {e.operator} vector"
        elif e.operator in ("<", ">") and "frame" in kinds:
            hint = "compare numbers, such as NORM(POS(f) - POS(g))"
        elif e.operator in ("and", "or") and "scalar" in kinds:
            hint = "put comparisons on both sides"
        tail = "both sides need the same unit" if code == "unit" and "frame" not in kinds else "this has no meaning"
        self.report(f"{text}: {tail}", e.at, hint, code)

    def _wrt(self, e: Wrt) -> Type:
        value = self.rules[type(e.value)](e.value)
        if value.kind not in ("vector", "zeros", "any", "aggregate"):
            self.report(f"WRT needs a vector, and {self.shown(e.value)} is {in_words(value)}", e.value.at)
            value = ANY
        self.needs("WRT", e.frame, (FRAME, ROTATION))
        return value

    def _here(self, e: Here) -> Type:
        if e.arm or not self.about_arm:
            self.arms.append((e.arm, e.at, "arm"))
        return JOINTS if e.joints else FRAME

    def _reading(self, e: Reading) -> Type:
        if e.kind == "sensor":
            self.sensors.append((e.name, e.at))
        elif e.arm or (e.kind in ("force", "torque", "width", "joints", "done") and not self.about_arm):
            self.arms.append((e.arm, e.at, "arm"))
        if e.number is not None:
            number = self.rules[type(e.number)](e.number)
            if e.kind == "joints":
                return ANY if number.kind in ("aggregate", "any") else NUMBER
            if not fits(number, NUMBER):
                self.report(f"the number of a line is a plain number, not {in_words(number)}", e.number.at)
        return _READINGS.get(e.kind, ANY)

    def _aggregate(self, e: Aggregate) -> Type:
        for item in e.items:
            self.rules[type(item)](item)
        return AGGREGATE

    def _index(self, e: Index) -> Type:
        self.needs("an index", e.index, (NUMBER,))
        if isinstance(e.value, Name) and e.value.name in self.arrays:
            return self.arrays[e.value.name]
        value = self.rules[type(e.value)](e.value)
        kind = value.kind
        if kind in ("vector", "zeros"):
            return scalar(*value.dimension) if kind == "vector" else ZERO
        if kind == "rotation":
            return vector()
        if kind == "frame":
            number = e.index.value if isinstance(e.index, Literal) else None
            return vector(m=1) if number == 1 else ROTATION if number == 2 else ANY
        if kind not in ("aggregate", "any", "joints"):
            self.report(f"{self.shown(e.value)} is {in_words(value)}, which has no elements", e.at)
        return ANY

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, e: Call) -> Type:
        procedure = self.procedures.get(e.function)
        if procedure is not None:
            self.arguments(procedure, e.arguments, e.at)
            if procedure.result is None:
                self.report(f"the procedure '{e.function}' returns no value", e.at)
            return procedure.result or ANY
        function = FUNCTIONS.get(e.function) or FUNCTIONS.get(e.function.upper())
        if function is None:
            hint = nearest(e.function.upper(), [*FUNCTIONS, *self.procedures])
            self.report(f"there is no function '{e.function}'", e.at, hint, "name")
            for argument in e.arguments:
                self.rules[type(argument)](argument)
            return ANY
        return self._function(e, function)

    def _function(self, e: Call, function: ProgramFunction) -> Type:
        parameters, count = function.parameters, len(e.arguments)
        least = len(parameters)
        if count < least or (count > least and not function.repeats):
            here = f"{'is' if count == 1 else 'are'} {count}"
            self.report(f"{function.form} takes {least} argument{'s' * (least > 1)}, and here {here}", e.at)
            for argument in e.arguments:
                self.rules[type(argument)](argument)
            return function.result if function.infer is None else ANY
        types = []
        for k, argument in enumerate(e.arguments):
            parameter = parameters[k] if k < least else parameters[-1]
            found = self.rules[type(argument)](argument)
            for needed in parameter.types:
                if fits(found, needed, parameter.any_unit):
                    break
            else:
                found = self._misfit(function, parameter, argument, found)
            types.append(found)
        if function.needs == "same":
            return self._same(e, function, types)
        if function.infer is None:
            return function.result
        if any(t.kind in ("any", "aggregate", "zero", "zeros") for t in types):
            return ANY if function.name == "DOT" else function.infer([_definite(t) for t in types])
        return function.infer(types)

    def _misfit(self, function: ProgramFunction, parameter, argument: Expression, found: Type) -> Type:
        """Report an argument that a function does not take."""
        needed = parameter.types
        wanted = "a number" if parameter.any_unit and needed[0].kind == "scalar" else in_words(needed[0])
        what = f"the {parameter.name} of {function.name}"
        code = "unit" if any(t.kind == found.kind for t in needed) else "type"
        text = f"{what} needs {wanted}, and {self.shown(argument)} is {in_words(found)}"
        self.report(text, argument.at, unit_hint(argument, found, needed[0]), code)
        return ANY

    def _same(self, e: Call, function: ProgramFunction, types: list[Type]) -> Type:
        """The result of a function whose arguments have the same unit; 0 fits all."""
        definite = [t for t in types if t.kind == "scalar"]
        if not definite:
            kind = "zero" if all(t is ZERO for t in types) else "any"
            if function.name == "VECTOR":
                return ZEROS if kind == "zero" else ANY
            return function.result if function.name == "ATAN2" else ZERO if kind == "zero" else ANY
        for argument, found in zip(e.arguments, types, strict=True):
            if found.kind == "scalar" and not same_unit(found, definite[0]):
                text = f"{function.name}: {self.shown(argument)} is {in_words(found)}, and another argument is "
                self.report(text + in_words(definite[0]), argument.at, unit_hint(argument, found, definite[0]), "unit")
                return ANY
        if function.name == "VECTOR" and any(t.kind == "any" for t in types):
            return ANY if not any(definite[0].dimension) else vector(*definite[0].dimension)
        return function.infer(definite) if function.infer is not None else function.result

    def arguments(self, procedure: Procedure, given: tuple[Expression, ...], at: Span) -> None:
        """Check the arguments of a procedure."""
        if len(given) != len(procedure.parameters):
            names = ", ".join(p.name for p in procedure.parameters)
            here = f"{'is' if len(given) == 1 else 'are'} {len(given)}"
            self.report(f"{procedure.name}({names}) takes {len(procedure.parameters)} arguments, and here {here}", at)
        for k, argument in enumerate(given):
            parameter = procedure.parameters[k] if k < len(procedure.parameters) else None
            if parameter is None or parameter.type.kind == "any":
                self.rules[type(argument)](argument)
            else:
                self.needs(f"'{parameter.name}' of {procedure.name}", argument, (parameter.type,))


def _definite(type: Type) -> Type:
    return NUMBER if type is ZERO else vector() if type is ZEROS else type
