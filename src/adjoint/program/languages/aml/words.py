"""The words of AML: what each means, and which of them no variable may have as its name."""

from __future__ import annotations

from ...texts.scanner import Words

__all__ = ["AML_WORDS"]

LENGTH_UNIT, ANGLE_UNIT, FORCE_UNIT, TORQUE_UNIT, TIME_UNIT = "inch", "deg", "ozf", "ozf-in", "s"

# A string without its end is a token, too: the parser then says so at its place.
CLOSED_STRING = r"'(?:[^'\n]|'')*'|\"[^\"\n]*\""
AML_TOKENS = Words(
    comment=r"--[^\n]*",
    operators=(":=", "<>", "<=", ">=", "<", ">", "=", "(", ")", "[", "]", ",", ";", ":", "+", "-", "*", "/"),
    string=rf"{CLOSED_STRING}|'(?:[^'\n]|'')*|\"[^\"\n]*",
).pattern()

SENSORS = ("SLP", "SLS", "SLT", "SRP", "SRS", "SRT")
"""Force sensors of the RS-1's fingers: left or right; pinch, side or tip."""

READING_WORDS = ("QPOSITION", "QMONITOR", "SENSIO", "DEFIO", "FORCE", "TORQUE")

OPERATORS: dict[str, tuple[int, str]] = {
    "OR": (1, "or"),
    "AND": (2, "and"),
    "EQ": (4, "="), "=": (4, "="),
    "NE": (4, "<>"), "<>": (4, "<>"),
    "LT": (4, "<"), "<": (4, "<"),
    "LE": (4, "<="), "<=": (4, "<="),
    "GT": (4, ">"), ">": (4, ">"),
    "GE": (4, ">="), ">=": (4, ">="),
    "+": (5, "+"), "-": (5, "-"),
    "*": (6, "*"), "/": (6, "/"), "MOD": (6, "mod"),
}  # fmt: skip
"""{key: (precedence, operator of `Binary`)}; NOT binds between AND and comparisons, the sign - above all."""
NEGATION, COMPARISON, SIGN = 3, 4, 7  # precedences

# Inside < ... > these are brackets; comparisons there are words, or stand in parentheses.
INNER_OPERATORS = {key: row for key, row in OPERATORS.items() if key not in ("<", ">", ">=")}

FUNCTIONS = (
    "EULERROT", "DOT", "INVERSE", "SQRT", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN2", "ABS", "INT", "ROUND", "MIN",
    "MAX", "EXP", "LOG",
)  # fmt: skip
OF_ANGLES = ("EULERROT", "SIN", "COS", "TAN")  # their arguments are degrees
ANGLES = ("ASIN", "ACOS", "ATAN2")  # their results are degrees

AML_WORDS: dict[str, str] = {
    "MOVE": "Joints go to values: MOVE(<1, 4>, <10, 20>) moves joint 1 to 10 inches and joint 4 to 20 degrees. "
    "An aggregate <speed, acceleration, deceleration> and monitors may follow: MOVE(<1>, <10>, <1, 1, 1>, fmons).",
    "DMOVE": "Joints go by values, from where they are: DMOVE(<3>, <-1>) moves joint 3 by -1 inch.",
    "GRIPPER": "The fingers, as a joint whose value is their opening in inches: MOVE(GRIPPER, 2.5).",
    "QPOSITION": "Where joints are now, in inches and degrees: QPOSITION(<1, 5>), QPOSITION(GRIPPER).",
    "MONITOR": "A monitor stops the moves that name it: m = MONITOR(<SLP, SRP>, 1, 0, f) triggers where a reading "
    "leaves the range from 0 to f; the second argument is the type of the test.",
    "QMONITOR": "1 if the monitor has stopped the last move that named it, else 0: IF QMONITOR(m) EQ 1 THEN ...",
    "SENSIO": "What an input line or a sensor says: SENSIO(3) is line 3, SENSIO('light') the sensor of this name.",
    "DEFIO": "The number of a line, to give it a name: part_there = DEFIO(3).",
    "WRITEO": "Sets an output line: WRITEO(1, 1) turns line 1 on, WRITEO(1, 0) off (the spelling is that of AML/E).",
    "FORCE": "What the surroundings exert on the hand along an axis, in ounces: FORCE(Z). It is not IBM's: it lets "
    "AML programs feel without finger sensors.",
    "TORQUE": "What the surroundings exert on the hand about an axis, in ounces times inches: TORQUE(Z). Not IBM's.",
    "EULERROT": "The rotation by three angles in degrees about the fixed axes x, then y, then z: EULERROT(<0, 0, 90>).",
    "DOT": "The product of frames <position, rotation>, of rotations, or of these with a vector: "
    "DOT(base, <<15, 0, 0>, EULERROT(<180, 0, 0>)>).",
    "INVERSE": "The inverse of a rotation or of a frame.",
    "SQRT": "The square root: SQRT(2).",
    "SIN": "The sine of an angle in degrees: SIN(30) is 0.5.",
    "COS": "The cosine of an angle in degrees: COS(60) is 0.5.",
    "TAN": "The tangent of an angle in degrees: TAN(45) is 1.",
    "ASIN": "The angle with this sine, in degrees: ASIN(0.5) is 30.",
    "ACOS": "The angle with this cosine, in degrees: ACOS(0.5) is 60.",
    "ATAN2": "The angle of the point (x, y) in degrees: ATAN2(y, x).",
    "ABS": "The absolute value: ABS(-3) is 3.",
    "INT": "The whole part of a number, cut towards 0: INT(2.7) is 2. After NEW it is a type.",
    "ROUND": "The whole number that is nearest: ROUND(2.7) is 3.",
    "MIN": "The smallest of numbers: MIN(a, b).",
    "MAX": "The largest of numbers: MAX(a, b).",
    "EXP": "The exponential function: EXP(1).",
    "LOG": "The natural logarithm: LOG(10).",
    "SUBR": "A subroutine: pick: SUBR(bin, height); ... END; Its parameters are local.",
    "END": "The end of a subroutine, or of BEGIN.",
    "RETURN": "A subroutine ends, with a value if one is given: RETURN(width).",
    "NEW": "A variable of its own for the subroutine: tries: NEW 0; A type may stand for a value: name: NEW STRING;",
    "REAL": "The type of numbers, after NEW: sum: NEW REAL;",
    "STRING": "The type of texts, after NEW: answer: NEW STRING;",
    "IF": "A choice: IF tries LT 3 THEN pick(bin); or IF ... THEN ... ELSE ...; No ';' stands before ELSE.",
    "THEN": "What is done if the condition of IF holds.",
    "ELSE": "What is done if the condition of IF does not hold.",
    "WHILE": "A loop: WHILE i LE 3 DO BEGIN ... END;",
    "DO": "What WHILE repeats.",
    "REPEAT": "A loop whose statements run at least once: REPEAT ... UNTIL i GT 3;",
    "UNTIL": "The condition that ends REPEAT.",
    "BEGIN": "Statements up to END that are one statement: IF found THEN BEGIN ... END;",
    "DELAY": "The program waits for seconds: DELAY(0.5);",
    "WAIT": "The program waits until a condition holds: WAIT(SENSIO(3) EQ 1); It is not IBM's.",
    "WAITMOVE": "The program waits until the arm rests. MOVE and DMOVE wait anyway.",
    "DISPLAY": "Values are shown to the user: DISPLAY('bins filled:', n);",
    "ABORT": "Everything stops, with a message: ABORT('no part');",
    "QUIT": "The program ends.",
    "AND": "Both hold: a LT b AND b LT c.",
    "OR": "One of both holds, or both do.",
    "NOT": "The opposite of what follows: NOT (a EQ b).",
    "EQ": "Equal: a EQ b, or a = b.",
    "NE": "Not equal: a NE b, or a <> b.",
    "LT": "Less than: a LT b, or a < b outside of < ... >.",
    "LE": "Less than or equal: a LE b, or a <= b.",
    "GT": "Greater than: a GT b, or a > b outside of < ... >.",
    "GE": "Greater than or equal: a GE b, or a >= b outside of < ... >.",
    "MOD": "The remainder of a division: 7 MOD 3 is 1.",
    "TRUE": "The truth value that holds.",
    "FALSE": "The truth value that does not hold.",
    "SLP": "The force sensor of the left finger for pinching, as the back end reads it.",
    "SLS": "The force sensor of the left finger for forces from the side.",
    "SLT": "The force sensor of the left finger for forces on its tip.",
    "SRP": "The force sensor of the right finger for pinching.",
    "SRS": "The force sensor of the right finger for forces from the side.",
    "SRT": "The force sensor of the right finger for forces on its tip.",
}
"""{word of AML: what it means, with an example}."""

RESERVED = frozenset(AML_WORDS) - frozenset(FUNCTIONS) - {"INT", "REAL", "STRING"}
"""Words, in capitals, that no variable and no subroutine may have as its name in any spelling."""
