"""Values of expressions of programs: operators, functions, ticks, frames of Tables 9.2 and 9.3, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.errors import ArgumentError
from adjoint.lie import se3, so3
from adjoint.program.instructions import (
    Aggregate,
    Binary,
    Call,
    Here,
    Index,
    Literal,
    Name,
    ProgramError,
    Quantity,
    Reading,
    Span,
    Unary,
    UnitName,
    Wrt,
)  # fmt: skip
from adjoint.program.meaning import CONSTANTS, FUNCTIONS, VariableScope, evaluate, type_in_words, value_in_words
from adjoint.program.meaning.values import OverTicks

INCH = 0.0254


def number(x):
    return Literal(float(x))


def call(name, *arguments):
    return Call(name, arguments)


def triple(x, y, z):
    return Binary("*", call("VECTOR", number(x), number(y), number(z)), UnitName("inches"))


def frame(rotation, x, y, z):
    return call("FRAME", rotation, triple(x, y, z))


NIL = Name("nilrot")
QUARTER = call("ROT", Name("Z"), Quantity(90.0, "deg"))
HALF_X = call("ROT", Name("X"), Quantity(180.0, "deg"))


def refused(expression, scope=None) -> str:
    with pytest.raises(ProgramError) as found:
        evaluate(expression, scope)
    return str(found.value)


class Ticks(VariableScope):
    """An arm that falls, and feels a force that grows, over N ticks."""

    def __init__(self, N, variables=None):
        super().__init__(variables)
        self.N = N

    def here(self, arm, joints):
        if joints:
            return np.zeros((self.N, 6))
        T = np.tile(np.eye(4), (self.N, 1, 1))
        T[:, 2, 3] = 1 - 0.1 * np.arange(self.N)
        return T

    def reading(self, reading, number):
        if reading.kind == "signal":
            return np.arange(self.N) >= number
        return np.arange(self.N, dtype=float)


def test_frames_of_the_tables():
    base, beam, feeder = frame(NIL, 20, 0, 15), frame(QUARTER, 20, 15, 0), frame(NIL, 25, 20, 0)
    values = {"base": evaluate(base), "beam": evaluate(beam), "feeder": evaluate(feeder)}
    T6 = Binary("*", Name("base"), call("TRANS", HALF_X, triple(15, 0, 0)))
    values["T6"] = evaluate(T6, values)
    np.testing.assert_allclose(values["T6"][:3, 3] / INCH, [35, 0, 15], atol=1e-12)
    np.testing.assert_allclose(values["T6"][:3, :3], np.diag([1, -1, -1]), atol=1e-12)
    E = evaluate(Binary("*", Name("T6"), call("TRANS", NIL, triple(0, 0, 5))), values)
    np.testing.assert_allclose(E[:3, 3] / INCH, [35, 0, 10], atol=1e-12)
    bore = evaluate(Binary("*", Name("beam"), call("TRANS", NIL, triple(0, 2, 3))), values)
    np.testing.assert_allclose(bore[:3, 3] / INCH, [18, 15, 3], atol=1e-12)
    np.testing.assert_allclose(bore[:3, :3], so3.rotation_z(np.pi / 2), atol=1e-12)
    values["hand"] = E
    down = evaluate(
        Binary("-", Name("hand"), Binary("*", Binary("*", number(1), Name("Z")), UnitName("inches"))), values
    )
    np.testing.assert_allclose(down[:3, 3] / INCH, [35, 0, 9], atol=1e-12)  # along axes of the station


def test_affixed_motion():
    """The hand that brings the tip of the bolt into the bore: bore · (hand⁻¹ · tip)⁻¹."""
    hand = se3.from_rotation_translation(so3.rotation_x(np.pi), np.array([25, 20, 1]) * INCH)
    tip = se3.from_rotation_translation(np.eye(3), np.array([25, 20, 0]) * INCH)
    bore = se3.from_rotation_translation(so3.rotation_z(np.pi / 2), np.array([18, 15, 3]) * INCH)
    carried = Binary("*", call("INVERSE", Name("hand")), Name("tip"))
    goal = evaluate(Binary("*", Name("bore"), call("inverse", carried)), {"hand": hand, "tip": tip, "bore": bore})
    np.testing.assert_allclose(goal[:3, 3] / INCH, [18, 15, 4], atol=1e-9)
    np.testing.assert_allclose(goal[:3, :3], [[0, 1, 0], [1, 0, 0], [0, 0, -1]], atol=1e-12)


def test_grasp_of_problem_9_1_in_both_spellings():
    turn = call("ROT", Name("Y"), Quantity(65.0, "deg"))
    first = evaluate(call("TRANS", turn, triple(4, 6, 0)))
    np.testing.assert_allclose(first[:3, 3] / INCH, [4, 6, 0], atol=1e-12)
    np.testing.assert_allclose(first[0, :3], [0.4226, 0, 0.9063], atol=5e-5)
    turned = Binary("*", call("TRANS", turn, Name("nilvect")), call("TRANS", NIL, triple(4, 6, 0)))
    np.testing.assert_allclose(evaluate(turned)[:3, 3] / INCH, [1.6905, 6, -3.6252], atol=5e-5)


def test_aml_aggregates_are_frames_where_frames_are_needed():
    def aggregate(*items):
        return Aggregate(tuple(i if not isinstance(i, int) else number(i) for i in items))

    degrees = Binary("*", aggregate(0, 0, 90), UnitName("deg"))
    beam = aggregate(aggregate(20, 15, 0), call("EULERROT", degrees))
    step = aggregate(aggregate(0, 2, 3), call("EULERROT", aggregate(0, 0, 0)))
    bore = evaluate(call("DOT", beam, step))
    np.testing.assert_allclose(bore[:3, 3], [18, 15, 3], atol=1e-12)
    np.testing.assert_allclose(evaluate(Index(Name("bore"), number(1)), {"bore": bore}), [18, 15, 3], atol=1e-12)
    np.testing.assert_allclose(evaluate(Index(Name("bore"), number(2)), {"bore": bore}), bore[:3, :3])
    assert evaluate(Binary("+", aggregate(1, 2), aggregate(3, 4))) == (4.0, 6.0)
    assert evaluate(Binary("*", number(2), aggregate(1, aggregate(2, 3)))) == (2.0, (4.0, 6.0))
    assert evaluate(Binary("=", aggregate(1, 2), aggregate(1, 2))) is True


def test_wrt_binds_a_direction_to_a_frame():
    values = {"beam": evaluate(frame(QUARTER, 20, 15, 0))}
    np.testing.assert_allclose(evaluate(Wrt(Name("X"), Name("beam")), values), [0, 1, 0], atol=1e-15)
    assert "WRT needs a vector and a frame" in refused(Wrt(number(1), Name("beam")), values)


@given(st.floats(0.01, 10), st.floats(-1e-10, 1e-10))
def test_numbers_that_touch_are_equal(diameter, slip):
    values = {"width": diameter + slip, "diameter": diameter}
    width, bolt = Name("width"), Name("diameter")
    expected = {"<": False, ">": False, "=": True, "<=": True, ">=": True, "<>": False}
    assert {o: evaluate(Binary(o, width, bolt), values) for o in expected} == expected
    values["width"] = diameter * 0.999
    assert evaluate(Binary("<", width, bolt), values) is True
    many = Ticks(3, {"width": OverTicks(np.array([diameter + slip] * 3)), "diameter": diameter})
    assert {o: bool(evaluate(Binary(o, width, bolt), many)[2]) for o in expected} == expected


def test_conditions_over_ticks_are_those_of_each_tick():
    N = 50
    scope = Ticks(N, {"limit": 20.0, "bhand": OverTicks(np.linspace(0.05, 0, N))})
    felt = Binary(">", Reading("force", axis="z"), Quantity(10.0, "N"))
    low = Binary("<", Index(call("POS", Here()), number(3)), Quantity(-1.0, "m"))
    closed = Binary("<", Name("bhand"), Quantity(1.0, "inch"))
    line = Unary("not", Reading("signal", number=Name("limit")))
    condition = Binary("or", Binary("and", felt, line), Binary("and", low, closed))
    k = np.arange(N)
    z = 1 - 0.1 * k
    expected = ((k > 10) & ~(k >= 20)) | ((z < -1 - 1e-9) & (np.linspace(0.05, 0, N) < INCH))
    np.testing.assert_array_equal(evaluate(condition, scope), expected)


@pytest.mark.parametrize("N", [1, 3, 4, 7])
def test_every_function_takes_ticks(N):
    """Numbers of ticks that look like vectors, rotations and frames, too."""
    rng = np.random.default_rng(N)
    R, T, v = so3.random(N, rng=rng), se3.random(N, rng=rng), rng.normal(size=(N, 3))
    given = {"scalar": rng.uniform(0.1, 0.9, N), "vector": v, "rotation": R, "frame": T}
    for function in FUNCTIONS.values():
        kinds = [p.types[0].kind for p in function.parameters]
        if "aggregate" in kinds:
            kinds = ["vector"]
        names = [Name(f"{kind}{k}") for k, kind in enumerate(kinds)]
        arrays = {n.name: given[kind] for n, kind in zip(names, kinds, strict=True)}
        arrays = {n: rng.normal(size=(N, 3)) if a is v else a for n, a in arrays.items()}
        at_once = evaluate(call(function.name, *names), {n: OverTicks(a) for n, a in arrays.items()})
        one = [evaluate(call(function.name, *names), {n: a[i] for n, a in arrays.items()}) for i in range(N)]
        np.testing.assert_allclose(at_once, one, atol=1e-12, err_msg=function.name)


@pytest.mark.parametrize("N", [3, 4])
def test_operators_over_ticks_with_constants(N):
    rng = np.random.default_rng(N)
    values = {"s": rng.normal(size=N), "v": rng.normal(size=(N, 3)), "R": so3.random(N, rng=rng)}
    values["T"] = se3.random(N, rng=rng)
    constant = {f"{n}0": a[0] if a[0].ndim else float(a[0]) for n, a in values.items()}
    pairs = ["s+s", "s*v", "v*s", "v/s", "v+v", "v-v", "T*T", "T*v", "R*v", "R*R", "T+v", "T-v", "T*R", "v=v", "T=T"]
    for left, operator, right in pairs:
        for a, b in ((left, right + "0"), (left + "0", right), (left, right)):
            expression = Binary(operator, Name(a), Name(b))
            at_once = evaluate(expression, {n: OverTicks(x) for n, x in values.items()} | constant)
            one = [evaluate(expression, {n: x[i] for n, x in values.items()} | constant) for i in range(N)]
            np.testing.assert_allclose(at_once, one, err_msg=f"{a} {operator} {b}")


def test_plain_arrays_of_numbers_are_ticks_unless_they_look_like_vectors():
    np.testing.assert_array_equal(
        evaluate(Binary("<", Name("w"), number(3)), {"w": np.arange(5.0)}), [True, True, True, False, False]
    )
    np.testing.assert_array_equal(evaluate(Unary("not", Name("b")), {"b": np.array([True, False, True])}), [0, 1, 0])


def test_short_circuits_skip_what_need_not_be_known():
    assert evaluate(Binary("or", Name("true"), Name("nothing"))) is True
    assert evaluate(Binary("and", Name("FALSE"), Name("nothing"))) is False


def test_names_functions_and_constants():
    assert evaluate(Name("pi")) == pytest.approx(np.pi)
    assert evaluate(Name("X"), {"X": 3.0}) == 3.0  # a variable goes before the constant
    assert evaluate(call("sqrt", number(9))) == 3.0
    assert evaluate(call("Max", number(1), number(5), number(2))) == 5.0
    assert evaluate(call("int", number(-2.7))) == -2.0
    assert evaluate(call("Distance", number(1)), type("S", (VariableScope,), {"call": lambda s, n, a: (n, a)})()) == (
        "Distance", (1.0,)
    )  # fmt: skip
    T = evaluate(call("CONSTRUCT", triple(1, 1, 0), triple(1, 5, 0), triple(-2, 2, 0)))
    np.testing.assert_allclose(T[:3, :3], so3.rotation_z(np.pi / 2), atol=1e-12)
    np.testing.assert_array_equal(CONSTANTS["STATION"][1], np.eye(4))
    array = {"bins": {0: 5.0, 1: 7.0}}
    assert evaluate(Index(Name("bins"), number(0)), array) == 5.0
    assert "elements are 0 to 1" in refused(Index(Name("bins"), number(2)), array)


@pytest.mark.parametrize(
    "expression, words",
    [
        (Binary("+", Name("f"), Quantity(1.0, "inch")), "a frame + a length [m] has no meaning"),
        (Binary("*", Name("Z"), Name("Z")), "DOT(v, w) or CROSS(v, w)"),
        (Binary("+", Name("Z"), Name("f")), "frame + vector"),
        (Binary("<", Name("f"), Name("f")), "a frame < a frame"),
        (Binary("/", number(1), number(0)), "'/' by 0"),
        (Binary("/", Name("Z"), number(0)), "'/' by 0"),
        (Binary("mod", number(1), number(0)), "'mod' by 0"),
        (Binary("and", number(1), Name("true")), "a number and a truth value"),
        (Unary("not", number(1)), "'not' needs a truth value"),
        (Unary("-", Name("f")), "'-' needs a number or a vector, and this is a frame"),
        (Name("felder"), "did you mean 'feeder'"),
        (call("VEKTOR", number(1)), "did you mean 'VECTOR'?"),
        (call("ROT", Name("Z")), "ROT(axis, angle) takes 2 arguments, and here is 1"),
        (call("ROT", number(1), number(2)), "ROT: axis is a vector"),
        (call("ROT", Name("nilvect"), number(2)), "has no value for these arguments"),
        (call("SQRT", number(-1)), "has no value"),
        (call("DOT", Name("Z"), Name("f")), "a vector is the last factor"),
        (Index(Name("Z"), number(4)), "there is no element 4"),
        (Index(number(4), number(1)), "a number has no elements"),
        (Index(Name("Z"), number(1.5)), "an index is a whole number"),
        (Here("barm"), "where the arm 'barm' is"),
        (Reading("sensor", name="SLP"), "no sensor 'SLP'"),
        (Binary("+", Aggregate((number(1),)), Aggregate((number(1), number(2)))), "an aggregate + an aggregate"),
    ],
)
def test_what_cannot_be_is_refused(expression, words):
    values = {"f": np.eye(4), "feeder": np.eye(4)}
    assert words in refused(expression, values)


def test_errors_are_at_their_places():
    bad = Binary("+", Name("f"), Quantity(1.0, "inch"), at=Span(4, 9))
    with pytest.raises(ProgramError) as found:
        evaluate(Binary("*", bad, number(2)), {"f": np.eye(4)})
    assert found.value.diagnostics[0].span == Span(4, 9)


def test_values_stay_small_and_expressions_shallow():
    big = ("x",) * 5000
    assert "at most" in refused(Aggregate((Name("a"), Name("a"))), {"a": big})
    assert "at most" in refused(Binary("+", Name("t"), Name("t")), {"t": "x" * 6000})
    deep = number(1)
    for _ in range(100_000):
        deep = Binary("+", deep, number(1))
    assert "too deep" in refused(deep)


def test_words():
    assert value_in_words((1.0,)) == "an aggregate"
    assert type_in_words(FUNCTIONS["ANGLE"].result) == "an angle [rad]"


# --- numbers that are none, and values that do not fit ----------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400, None, 1j])
def test_numbers_of_programs_are_finite(value):
    for make in (Literal, lambda x: Quantity(x, "mm")):
        with pytest.raises(ArgumentError, match="finite"):
            make(value)


def test_truth_values_are_no_numbers():
    assert Literal(True) != Literal(1.0) and Literal(False) != Literal(0.0) and Literal(1) == Literal(1.0)
    assert len({Literal(True), Literal(1.0), Literal(1)}) == 2 and Literal(1.0) != Name("a")


@pytest.mark.parametrize(
    "expression, says",
    [
        (Binary("*", Literal(1e308), Literal(10.0)), "no finite number"),
        (Binary("*", Name("v"), Literal(1e308)), "no finite number"),
        (Binary("/", Name("one"), Literal(0.0)), "by 0"),
        (Index(Name("v"), Name("inf")), "an index is a whole number"),
        (Index(Name("v"), Name("nan")), "an index is a whole number"),
        (Call("EULERROT", (Aggregate((Literal(1.0),)),)), "three angles"),
        (Call("EULERROT", (Aggregate((Literal(1.0), Literal("a"), Literal("b"))),)), "EULERROT"),
        (Call("NORM", (Binary("*", Name("v"), Literal(1e300)),)), "no value"),
        (Binary("<", Name("joints"), Name("ticks")), "has no meaning"),
    ],
    ids=str,
)
def test_what_has_no_value_is_an_error_at_its_place(expression, says):
    scope = {"v": np.array([1e3, 1e3, 0]), "one": np.float64(1.0), "inf": float("inf"), "nan": float("nan"),
             "joints": np.zeros(6), "ticks": OverTicks(np.arange(4.0))}  # fmt: skip
    with pytest.raises(ProgramError, match=says):
        evaluate(expression, scope)
