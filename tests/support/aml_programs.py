"""Random programs of AML: instructions that AML can say, and texts that are nearly AML."""

import hypothesis.strategies as st

from adjoint.program.instructions import (
    ANY,
    NUMBER,
    TEXT,
    Abort,
    Aggregate,
    Assign,
    Binary,
    Block,
    Call,
    CallProcedure,
    Comment,
    Declare,
    DefineMonitor,
    Delay,
    If,
    Index,
    Literal,
    MoveHand,
    MoveJoints,
    Name,
    Parameter,
    Print,
    Procedure,
    Program,
    Reading,
    Repeat,
    Return,
    Signal,
    Stop,
    Unary,
    UnitName,
    Wait,
    While,
    expressions_in,
    statements_in,
)
from adjoint.program.languages.aml.plain_numbers import with_unit
from adjoint.program.languages.aml.words import FUNCTIONS
from adjoint.program.texts.scanner import HIDDEN

VARIABLES = ("a", "bin", "x_1", "Tray", "sin", "f", "g", "REAL")
SUBROUTINES = ("f", "g")
PLAIN = sorted(set(FUNCTIONS) - {"EULERROT", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN2"})
TEXTS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6).filter(
    lambda text: not HIDDEN.search(text)
)

numbers = st.one_of(st.integers(-9, 99).map(float), st.floats(allow_nan=False, allow_infinity=False))
names = st.sampled_from(VARIABLES).map(Name)


def plain_number(x) -> bool:
    return isinstance(x, Literal) and not isinstance(x.value, bool | str)


def _larger(inner):
    few = st.lists(inner, max_size=3).map(tuple)
    operators = st.sampled_from(["+", "-", "*", "/", "mod", "<", "<=", ">", ">=", "=", "<>", "and", "or"])
    deg = st.builds(lambda x: (with_unit(x, "deg"),), inner)
    return st.one_of(
        st.builds(Aggregate, few),
        st.builds(Index, inner, inner),
        # A sign belongs to its number, so -(2) is the only number with a sign of its own.
        st.builds(Unary, st.sampled_from(["-", "not"]), inner),
        st.builds(Binary, operators, inner, inner).filter(lambda b: not _is_line_state(b)),
        st.builds(Call, st.sampled_from([*PLAIN, *SUBROUTINES]), few),
        st.builds(Call, st.sampled_from(["SIN", "EULERROT"]), deg),
        st.builds(lambda f, x: Binary("/", Call(f, x), UnitName("deg")), st.sampled_from(["ASIN", "ATAN2"]), few),
        st.builds(lambda x: Reading("joints", number=x, length_unit="inch", angle_unit="deg"), inner),
        st.builds(lambda x: Reading("signal", number=x), inner.filter(_is_line)),
    )


def _is_line(x) -> bool:
    text = isinstance(x, Literal) and isinstance(x.value, str)
    return not text and not any(isinstance(y, Reading) for y in expressions_in(x))


def _is_line_state(b: Binary) -> bool:
    """SENSIO(3) = 1 is said as SENSIO(3)."""
    return isinstance(b.left, Reading) and b.left.kind == "signal" and b.operator in ("=", "<>")


atoms = st.one_of(
    numbers.map(Literal),
    st.booleans().map(Literal),
    TEXTS.map(Literal),
    names,
    st.sampled_from(["SLP", "SRT", "light", "it's"]).map(lambda x: Reading("sensor", name=x)),
    st.just(Reading("monitor", name="m")),
    st.just(Binary("/", Reading("width"), UnitName("inch"))),
    st.sampled_from("xyz").map(lambda x: Binary("/", Reading("force", axis=x), UnitName("ozf"))),
    st.sampled_from("xyz").map(lambda x: Binary("/", Reading("torque", axis=x), UnitName("ozf-in"))),
)
expressions = st.recursive(atoms, _larger, max_leaves=8)
_few = st.lists(expressions, max_size=3).map(tuple)
_monitors = st.lists(st.sampled_from(["m", "n"]).map(Name), max_size=2).map(tuple)


def _moved(joints, values, relative, speeds, monitors):
    v, a, d = speeds or (None, None, None)
    return MoveJoints(
        joints, values, relative, length_unit="inch", angle_unit="deg", speed=v, acceleration=a, deceleration=d,
        monitors=monitors,
    )  # fmt: skip


def _fits(move: MoveJoints) -> bool:
    a, b = move.joints, move.values
    return not (isinstance(a, Aggregate) and isinstance(b, Aggregate)) or len(a.items) == len(b.items)


def _hand(width, by, monitors):
    goal = with_unit(width, "inch")
    return MoveHand(
        "", True, Binary("+", Reading("width"), goal) if by else goal, either_way=True, monitors=monitors
    )  # fmt: skip


_readings = st.lists(atoms.filter(lambda x: isinstance(x, Reading)), min_size=1, max_size=3)
_sensors = _readings.map(lambda x: Aggregate(tuple(x)))
_targets = st.one_of(names, st.builds(Index, names, expressions))
simple = st.one_of(
    st.builds(Assign, _targets, expressions),
    st.builds(
        _moved, expressions, expressions, st.booleans(), st.none() | st.tuples(*[expressions] * 3), _monitors
    ).filter(_fits),
    st.builds(_hand, expressions.filter(lambda x: not isinstance(x, Aggregate)), st.booleans(), _monitors),
    st.builds(DefineMonitor, st.sampled_from(["m", "n"]), _sensors, expressions, expressions, expressions),
    st.builds(CallProcedure, st.sampled_from(SUBROUTINES), _few),
    st.builds(Return, st.none() | expressions),
    st.builds(lambda x: Delay(with_unit(x, "s")), expressions),
    st.builds(Print, _few),
    st.builds(Abort, expressions),
    st.just(Stop()),
    st.builds(Signal, expressions, st.booleans()),
    st.builds(Wait, expressions | st.just(Reading("done"))),
    st.builds(Declare, st.sampled_from([ANY, NUMBER, TEXT]), st.lists(names, min_size=1, max_size=2).map(
        lambda found: tuple(x.name for x in found))),
    TEXTS.map(lambda text: Comment(text.rstrip())),
)  # fmt: skip


def _compound(inner):
    body = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(If, expressions, body, body),
        st.builds(While, expressions, body),
        st.builds(Repeat, body, expressions),
        st.builds(Block, body),
    )


statements = st.recursive(simple, _compound, max_leaves=6)
bodies = st.lists(statements, max_size=4).map(tuple)


def _procedure(name, parameters, body):
    gives = any(isinstance(s, Return) and s.value is not None for s in statements_in(body))
    return Procedure(name, tuple(Parameter(x) for x in parameters), body, ANY if gives else None)


_parameters = st.lists(st.sampled_from(VARIABLES), unique=True, max_size=3)
programs = st.builds(
    lambda first, f, g: Program((_procedure("f", *f), *first, _procedure("g", *g))),
    bodies,
    st.tuples(_parameters, bodies),
    st.tuples(_parameters, bodies),
)

PIECES = [
    "<", ">", "<<", ">>", "<>", "(", ")", "[", "]", ",", ";", ":", "=", ":=", "-", "--", "+", "*", "/", "'", '"', "\n",
    " ", "1", "2.5", "1e9", "x", "f", "m", "MOVE", "DMOVE", "GRIPPER", "QPOSITION", "MONITOR", "SLP", "IF", "THEN",
    "ELSE", "WHILE", "DO", "REPEAT", "UNTIL", "BEGIN", "END", "SUBR", "NEW", "RETURN", "DELAY", "DISPLAY", "ABORT",
    "QUIT", "WRITEO", "WAIT", "SENSIO", "DEFIO", "FORCE", "Z", "AND", "OR", "NOT", "EQ", "LT", "MOD", "TRUE",
    "EULERROT", "DOT", "SIN", "f: SUBR(x);", "MOVE(<1>, <2>);", "x = <1, 2>;", "é", "\0", "#",
]  # fmt: skip
