"""Units against their exact definitions: the international inch and pound of 1959, and standard gravity."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.errors import ArgumentError
from adjoint.world import units
from adjoint.world.units import UNITS, convert, si

INCH, POUND, GRAVITY = Fraction("0.0254"), Fraction("0.45359237"), Fraction("9.80665")
EXACT = {
    "inch": INCH,
    "ft": 12 * INCH,
    "mm": Fraction(1, 1000),
    "lb": POUND,
    "oz": POUND / 16,
    "lbf": POUND * GRAVITY,
    "ozf": POUND * GRAVITY / 16,
    "ounces": POUND * GRAVITY / 16,
    "in-lbf": INCH * POUND * GRAVITY,
    "ozf-in": INCH * POUND * GRAVITY / 16,
    "ft-lbf": 12 * INCH * POUND * GRAVITY,
    "lb/in^3": POUND / INCH**3,
    "kgf": GRAVITY,
    "minute": Fraction(60),
    "g/cm^3": Fraction(1000),
}


@pytest.mark.parametrize("name", EXACT)
def test_factors_are_the_definitions_correctly_rounded(name):
    assert UNITS[name].factor == float(EXACT[name])


def test_the_book():
    """Digest: 1 in = 25.4 mm; 10 ozf = 2.7801 N; 12 in·lbf = 1.3558 N m; angles."""
    assert convert(1, "inch", "mm") == 25.4 and convert(1, "in", "cm") == 2.54
    assert round(si(10, "ounces"), 4) == 2.7801
    assert si(1, "ozf") == pytest.approx(0.27801385, rel=1e-8)
    assert round(si(12, "in-lbs"), 4) == 1.3558
    np.testing.assert_array_equal(si([180.0, 90], "degrees"), [np.pi, np.pi / 2])
    assert si(60, "rpm") == pytest.approx(2 * np.pi, rel=1e-15)


def test_constants_are_the_factors_of_their_names():
    names = {"INCH": "inch", "DEGREE": "degree", "OZF": "ozf", "LBF": "lbf", "IN_LBF": "in-lbf"}
    for constant, name in names.items():
        assert getattr(units, constant) == UNITS[name].factor and type(getattr(units, constant)) is float
    assert si(10, "ozf") == 10 * units.OZF


def test_products_of_units():
    assert si(3, "deg/s") == 3 * units.DEGREE
    assert si(1, "ozf*in") == pytest.approx(si(1, "ozf-in"), rel=1e-15)
    assert si(1, "lb/in^3") == pytest.approx(convert(1, "lb/in/in/in", "kg/m^3"), rel=1e-15)
    assert convert(9.80665, "m/s^2", "N/kg") == 9.80665
    assert convert(36, "km/h", "m/s") == pytest.approx(10, rel=1e-15)


def test_arrays_keep_their_shape():
    x = np.arange(6.0).reshape(2, 3)
    assert si(x, "inch").shape == (2, 3) and isinstance(si(1, "inch"), float)
    np.testing.assert_array_equal(si(x, "m"), x)
    assert np.isnan(si([np.nan, 1], "inch")).tolist() == [True, False]


@given(st.sampled_from(sorted(UNITS)), st.data(), st.floats(1e-6, 1e6))
def test_conversions_are_invertible_and_transitive(name, data, value):
    same = sorted(other for other, unit in UNITS.items() if unit.dimension == UNITS[name].dimension)
    other, third = data.draw(st.sampled_from(same)), data.draw(st.sampled_from(same))
    there = convert(value, name, other)
    assert convert(there, other, name) == pytest.approx(value, rel=4e-16 * 4)
    assert convert(there, other, third) == pytest.approx(convert(value, name, third), rel=4e-16 * 4)
    assert si(there, other) == pytest.approx(si(value, name), rel=4e-16 * 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: si(1, "incch"), "unknown unit 'incch'.*'inch'"),
        (lambda: si(1, "KG"), "did you mean 'kg'"),
        (lambda: si(1, "m^x"), "unknown unit 'm\\^x'"),
        (lambda: si(1, "m^99"), "unknown unit"),
        (lambda: si(1, "m//s"), "unknown unit ''"),
        (lambda: si(1, ""), "a unit must be a name"),
        (lambda: si(1, 3), "a unit must be a name"),
        (lambda: si(1, "m*" * 1000), "a unit must be a name"),
        (lambda: si("one", "m"), "value"),
        (lambda: convert(1, "inch", "degree"), "'inch' is in m and 'degree' in rad; a unit in m is needed: m, "),
        (lambda: convert(1, "ounce", "oz"), "in m kg s\\^-2 and 'oz' in kg"),
        (lambda: convert(1, "m*m", "s"), "in m\\^2 and 's' in s"),
    ],
)
def test_bad_units_are_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
