"""The elementary functions against exact references, over the whole range of their arguments.

Checked per run: 4.9 million float64 values against 80-bit NumPy (whose own error is below 0.001 ulp); of these 2.1
million - random samples, all points chosen for their difficulty, and the worst of the bulk - against mpmath; 2.8
million float32 values against float64 NumPy; and every function bit for bit at all widths. Run with `-n 0 -s` for the
table of the worst errors seen.
"""

from __future__ import annotations

import ctypes
import platform
import re
from functools import cache

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest

from adjoint.compile.codegen import ir, vecmath

LIMIT = 2.0  # ulp
NUMPY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "pow": "power",
}
BINARY = {"atan2", "pow", "fmod", "hypot", "copysign", "minimum", "maximum"}
EXACT = ["floor", "ceil", "trunc", "rint", "abs", "sign", "sqrt"]
EXACT_BINARY = ["fmod", "copysign", "minimum", "maximum"]
UNARY = [n for n in vecmath.FUNCTIONS if n not in BINARY and n not in EXACT]
MEASURED_BINARY = ["atan2", "pow", "hypot"]
FLOAT = {"f64": np.float64, "f32": np.float32}
EXTENDED = np.finfo(np.longdouble).nmant >= 63
MAX, TINY, LEAST = np.finfo(float).max, np.finfo(float).tiny, 5e-324

SPECIAL = np.array(
    [
        0.0,
        LEAST,
        TINY - LEAST,
        TINY,
        1e-300,
        2.0**-54,
        2.0**-28,
        1e-8,
        0.5 - 2.0**-54,
        0.5,
        0.75,
        1 - 2.0**-53,
        1.0,
        1 + 2.0**-52,
        1.5,
        2.0,
        2.5,
        3.0,
        10.0,
        20.0,
        709.782712893384,
        710.4758600739439,
        745.1332191019412,
        1023.0,
        1024.0,
        1074.0,
        1075.0,
        2.0**26,
        2.0**52 + 0.5,
        2.0**53 - 1,
        2.0**53,
        1e22,
        1e300,
        MAX,
        np.inf,
        np.nan,
    ]
)
SPECIAL = np.concatenate([SPECIAL, -SPECIAL])


@pytest.fixture(autouse=True, scope="module")
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def table():
    """Collects rows (name, f64 worst, f32 worst) and prints them at the end."""
    rows: dict[str, dict[str, float]] = {}
    yield rows
    print(
        "\nworst error seen, in ulp\n"
        + "".join(
            f"  {name:8s}" + "".join(f"  {dtype} {rows[name].get(dtype, 0.0):.3f}" for dtype in ("f64", "f32")) + "\n"
            for name in rows
        )
    )


# --- the functions under test, compiled ---------------------------------------------------------


def target(cpu: str | None = None, features: str = "") -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = features or llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu or llvm.get_host_cpu_name(), features=features, opt=2
    )


def module_text(name: str, width: int, dtype: str) -> str:
    """A module with one function that applies `name` to arrays whose length is a multiple of the width."""
    arity = 2 if name in BINARY else 1
    module = ir.Module()
    b = ir.Builder(module, width, dtype)
    lanes, scalar = b.type("f"), ir.Builder(module, 1, dtype).type("f")
    b.block = "loop"
    args = []
    for i in range(arity):
        place = b.op(f"getelementptr {scalar}, ptr %in{i}, i64 %i", "f")
        args.append(b.op(f"load {lanes}, ptr {place.name}, align 4", "f"))
    y = vecmath.FUNCTIONS[name](b, *args)
    place = b.op(f"getelementptr {scalar}, ptr %out, i64 %i", "f")
    b.emit(f" store {lanes} {y.name}, ptr {place.name}, align 4")
    pointers = "".join(f"ptr %in{i}, " for i in range(arity))
    module.add(
        "apply",
        "\n".join(
            [
                f"define void @apply({pointers}ptr %out, i64 %n) {{",
                "entry:",
                " br label %loop",
                "loop:",
                f" %i = phi i64 [0, %entry], [%next, %{b.block}]",
                *b.lines,
                f" %next = add i64 %i, {width}",
                " %more = icmp ult i64 %next, %n",
                " br i1 %more, label %loop, label %done",
                "done:",
                " ret void",
                "}",
            ]
        ),
    )
    return module.text()


class Compiled:
    """A function of `FUNCTIONS` at one width and dtype, called on arrays."""

    def __init__(self, name: str, width: int, dtype: str) -> None:
        self.width, self.dtype = width, FLOAT[dtype]
        module = llvm.parse_assembly(module_text(name, width, dtype))
        module.verify()
        self.engine = llvm.create_mcjit_compiler(module, target())
        self.engine.finalize_object()
        pointers = [ctypes.c_void_p] * (3 if name in BINARY else 2)
        self.entry = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)(self.engine.get_function_address("apply"))

    def __call__(self, *args: np.ndarray) -> np.ndarray:
        count = args[0].size
        padded = -(-count // self.width) * self.width
        args = tuple(np.resize(np.asarray(a, self.dtype), padded) for a in args)
        out = np.empty(padded, self.dtype)
        self.entry(*(a.ctypes.data for a in args), out.ctypes.data, padded)
        return out[:count]


@cache
def compiled(name: str, width: int = 8, dtype: str = "f64") -> Compiled:
    return Compiled(name, width, dtype)


def reference(name: str):
    return getattr(np, NUMPY.get(name, name))


# --- points -------------------------------------------------------------------------------------


def any_bits(rng: np.random.Generator, n: int, dtype: str = "f64") -> np.ndarray:
    kind = {"f64": np.uint64, "f32": np.uint32}[dtype]
    return rng.integers(0, np.iinfo(kind).max, n, kind, endpoint=True).view(FLOAT[dtype])


def spread(rng: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """Both signs, magnitudes 2**low to 2**high with even exponents."""
    return np.exp2(rng.uniform(low, high, n)) * rng.choice([-1.0, 1.0], n)


def neighbours(x: np.ndarray, steps: int = 3) -> np.ndarray:
    """x and the floats next to each."""
    out, up, down = [x], x, x
    for _ in range(steps):
        up, down = np.nextafter(up, np.inf), np.nextafter(down, -np.inf)
        out += [up, down]
    return np.concatenate(out)


def near_quarter_turns() -> np.ndarray:
    """The float64 numbers of every exponent that come closest to multiples of pi/2: convergents of pi/2 / 2**e."""
    with mpmath.workprec(2400):
        digits = int(mpmath.pi * mpmath.mpf(2) ** 1199)
    found = [6381956970095103 * 2.0**797]  # the closest of all, |cos| = 4.7e-19
    for exponent in range(-60, 971):
        n, d = digits, 1 << (1200 + exponent)
        before, m = 0, 1
        while d and m < 2**53:
            found += [m * 2.0**exponent]
            before, m = m, n // d * m + before
            n, d = d, n % d
    return np.unique(found)


def points(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(bulk, chosen): many random points over all ranges, and those near zeros, poles and edges."""
    n = 25_000
    bulk = np.concatenate(
        [
            any_bits(rng, n),
            rng.uniform(-1, 1, n),
            rng.uniform(-10, 10, n),
            rng.uniform(-760, 760, n),
            spread(rng, -60, 10, n),
            spread(rng, -1074, 1024, n),
            1 + spread(rng, -53, -1, n),
            rng.uniform(-1100, 1100, n),
        ]
    )
    chosen = neighbours(np.concatenate([SPECIAL, np.arange(-30, 31) * np.log(2) / 2, np.arange(-20, 21) / 4]))
    if name in ("sin", "cos", "tan"):
        turns = np.concatenate([np.arange(-500, 500), rng.integers(-(2**27), 2**27, 1500)])
        chosen = np.concatenate([chosen, neighbours(turns * (np.pi / 2), 1), near_quarter_turns()])
    if name in ("asin", "acos", "atanh"):
        bulk = np.concatenate([bulk, np.copysign(1 - np.exp2(rng.uniform(-53, -1, n)), rng.uniform(-1, 1, n))])
    if name in ("exp", "exp2", "expm1", "sinh", "cosh"):  # overflow, underflow and the subnormal results
        edge = np.concatenate([rng.uniform(-746, -707, n), rng.uniform(709, 711, n // 5)])
        bulk = np.concatenate([bulk, edge * (1 / np.log(2) if name == "exp2" else 1)])
    return bulk, chosen


def pairs(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n = 40_000
    grid = np.exp2(np.arange(-1074, 1024, 20.0)) * 1.2345
    first, second = np.meshgrid(grid, grid)
    base = spread(rng, -1074, 1023, n)
    x = [any_bits(rng, n), rng.uniform(-1, 1, n), spread(rng, -5, 5, n), base, first.ravel()]
    y = [any_bits(rng, n), rng.uniform(-1, 1, n), spread(rng, -3, 3, n), base * spread(rng, -60, 5, n), second.ravel()]
    if name == "pow":
        whole = rng.integers(-40, 40, n).astype(float)
        positive = np.abs(base)
        x += [positive, np.exp2(rng.uniform(-1, 1, n)), 1 + spread(rng, -53, -3, n), positive, -positive]
        y += [
            spread(rng, -10, 1, n),
            rng.uniform(-700, 700, n),
            spread(rng, 0, 60, n),
            rng.uniform(-1080, 1030, n) / np.log2(positive),
            whole,
        ]
    return np.concatenate(x), np.concatenate(y)


# --- errors -------------------------------------------------------------------------------------


def ulps(y: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """|y - exact| in units of the last place of y's type at `exact`, which comes in a wider type."""
    rounded = exact.astype(y.dtype)
    unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(y.dtype).max)).astype(exact.dtype)
    same = (y == rounded) | (np.isnan(y) & np.isnan(rounded))
    error = np.abs(y.astype(exact.dtype) - exact) / unit
    error = np.where(np.isfinite(y) & np.isfinite(exact), error, np.where(same, 0.0, np.inf))
    wrong_zero = (y == 0) & (exact == 0) & (np.signbit(y) != np.signbit(exact))
    return np.where(wrong_zero, np.inf, error).astype(float)


def exact_ulps(y: np.ndarray, exact: list) -> np.ndarray:
    """|y - exact| in ulp of float64, in exact integer arithmetic down to 2**-50 ulp."""
    errors = []
    for value, e in zip(y.tolist(), exact, strict=True):
        if not np.isfinite(value) or e == 0:
            overflow = abs(e) >= mpmath.mpf(2) ** 1024 * (1 - mpmath.mpf(2) ** -54)
            errors.append(0.0 if value == e or (overflow and value == np.inf * mpmath.sign(e)) else np.inf)
            continue
        unit = max(mpmath.frexp(e)[1] - 53, -1074)
        errors.append(abs(float(mpmath.ldexp(e - value, -unit))))
    return np.array(errors)


MPMATH = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "pow": mpmath.power,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
}


def mp_function(name: str):
    return MPMATH.get(name) or getattr(mpmath, name)


def mp_domain(name: str, *args: np.ndarray) -> np.ndarray:
    """Where mpmath can tell a real, finite value in reasonable time; NumPy's own table covers the rest."""
    x = args[0]
    good = np.logical_and.reduce([np.isfinite(a) for a in args])
    if name in ("exp", "exp2", "expm1", "sinh", "cosh", "tanh"):
        good &= np.abs(x) < 5000
    if name in ("log", "log2", "log10"):
        good &= x > 0
    if name == "log1p":
        good &= x > -1
    if name == "acosh":
        good &= x >= 1
    if name in ("asin", "acos"):
        good &= np.abs(x) <= 1
    if name == "atanh":
        good &= np.abs(x) < 1
    if name == "pow":
        y = args[1]
        good &= (x > 0) & (np.abs(y * np.log2(np.abs(x))) < 5000)
    return good


def check_exactly(name: str, y: np.ndarray, *args: np.ndarray) -> float:
    """The worst error against mpmath."""
    good = mp_domain(name, *args)
    y, args = y[good], tuple(a[good] for a in args)
    f = mp_function(name)
    with mpmath.workprec(220 if name in ("acosh", "asinh", "atanh", "tanh") else 120):
        exact = [f(*(mpmath.mpf(v) for v in row)) for row in zip(*(a.tolist() for a in args), strict=True)]
        error = exact_ulps(y, exact)
    worst = int(np.argmax(error))
    assert error[worst] <= LIMIT, (name, [a[worst] for a in args], y[worst], error[worst])
    return float(error[worst])


def check_measured(name: str, bulk: tuple[np.ndarray, ...], chosen: tuple[np.ndarray, ...], sample: int) -> float:
    """The worst error over all points: 80-bit NumPy for all of them, mpmath for a sample, the chosen and the worst."""
    rng = np.random.default_rng(99)
    some = rng.choice(bulk[0].size, sample, replace=False)
    y = compiled(name)(*bulk)
    if EXTENDED:
        error = ulps(y, reference(name)(*(a.astype(np.longdouble) for a in bulk)))
        worst = int(np.argmax(error))
        assert error[worst] <= LIMIT, (name, [a[worst] for a in bulk], y[worst], error[worst])
        some = np.concatenate([some, np.argsort(-error)[:200]])
    args = tuple(np.concatenate([a[some], c]) for a, c in zip(bulk, chosen, strict=True))
    return check_exactly(name, compiled(name)(*args), *args)


# --- the tests ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_unary_accuracy(name, table):
    """About 200 000 points each, 110 000 of them and all chosen ones against mpmath, if in its reach."""
    bulk, chosen = points(name, np.random.default_rng(1))
    table.setdefault(name, {})["f64"] = check_measured(name, (bulk,), (chosen,), 110_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED_BINARY)
def test_binary_accuracy(name, table):
    """170 000 to 370 000 pairs each, 110 000 of them against mpmath, if in its reach."""
    bulk = pairs(name, np.random.default_rng(2))
    none = np.empty(0)
    table.setdefault(name, {})["f64"] = check_measured(name, bulk, (none, none), 110_000)


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Equal bits, or both NaN."""
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", [n for n in vecmath.FUNCTIONS if n not in BINARY])
def test_special_values(name, dtype):
    """Zeros, infinities, NaN, exact and extreme arguments give what NumPy gives, within 2 ulp where not exact."""
    x = SPECIAL.astype(FLOAT[dtype])
    y, expected = compiled(name, 8, dtype)(x), reference(name)(x)
    peculiar = (expected == 0) | ~np.isfinite(expected) | ~np.isfinite(y)
    ok = same(y, expected) | (~peculiar & (np.abs(y - expected) <= 3 * np.spacing(np.abs(expected))))
    assert ok.all(), [(x[i], y[i], expected[i]) for i in np.flatnonzero(~ok)]


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", sorted(BINARY))
def test_special_pairs(name, dtype):
    """All pairs of special values, as in NumPy."""
    values = np.unique(SPECIAL.astype(FLOAT[dtype]))
    values = np.concatenate([values, [-0.0]]).astype(FLOAT[dtype])
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    z, expected = compiled(name, 8, dtype)(x, y), reference(name)(x, y)
    peculiar = (expected == 0) | ~np.isfinite(expected) | ~np.isfinite(z)
    ok = same(z, expected) | (~peculiar & (np.abs(z - expected) <= 3 * np.spacing(np.abs(expected))))
    if name in ("minimum", "maximum"):  # NumPy leaves open which of two equal zeros it returns
        ok |= (x == 0) & (y == 0) & (z == 0)
    assert ok.all(), [(x[i], y[i], z[i], expected[i]) for i in np.flatnonzero(~ok)]


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", EXACT)
def test_exact_unary(name, dtype):
    rng = np.random.default_rng(3)
    n = 50_000
    x = np.concatenate([any_bits(rng, n, dtype), rng.uniform(-10, 10, n), np.arange(-50, 51) / 4]).astype(FLOAT[dtype])
    assert same(compiled(name, 8, dtype)(x), reference(name)(x)).all()


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_binary(name, dtype):
    rng = np.random.default_rng(4)
    n = 50_000
    x = np.concatenate([any_bits(rng, n, dtype), rng.uniform(-10, 10, n), rng.integers(-99, 99, n) / 4])
    y = np.concatenate([any_bits(rng, n, dtype), rng.uniform(-3, 3, n), rng.integers(-9, 9, n) / 4])
    x, y = x.astype(FLOAT[dtype]), y.astype(FLOAT[dtype])
    assert same(compiled(name, 8, dtype)(x, y), reference(name)(x, y)).all()


@pytest.mark.parametrize("name", UNARY + MEASURED_BINARY)
def test_float32_accuracy(name, table):
    """120 000 float32 points or pairs each against float64 NumPy."""
    rng = np.random.default_rng(5)
    n = 20_000
    sets = [
        [
            any_bits(rng, n, "f32"),
            rng.uniform(-1, 1, n),
            rng.uniform(-10, 10, n),
            rng.uniform(-110, 110, n),
            spread(rng, -149, 128, n),
            np.round(rng.uniform(-1e5, 1e5, n)) * (np.pi / 2),
        ]
        for _ in range(2)
    ]
    args = [np.concatenate(s).astype(np.float32) for s in sets[: 2 if name in BINARY else 1]]
    y = compiled(name, 16, "f32")(*args)
    error = ulps(y, reference(name)(*(a.astype(np.float64) for a in args)))
    worst = int(np.argmax(error))
    assert error[worst] <= LIMIT, (name, [a[worst] for a in args], y[worst], error[worst])
    table.setdefault(name, {})["f32"] = float(error[worst])


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", list(vecmath.FUNCTIONS))
def test_width_does_not_matter(name, dtype):
    """Every lane depends on its own argument only: same bits at every width and position, cold neighbours or not."""
    rng = np.random.default_rng(6)
    n = 1500
    args = [
        np.concatenate([any_bits(rng, n, dtype), rng.uniform(-9, 9, 2 * n), SPECIAL]).astype(FLOAT[dtype])
        for _ in range(2 if name in BINARY else 1)
    ]
    order = rng.permutation(args[0].size)
    args = [a[order] for a in args]
    scalar = compiled(name, 1, dtype)(*args)
    for width in (2, 4, 8) if dtype == "f64" else (4, 8, 16):
        f = compiled(name, width, dtype)
        assert same(f(*args), scalar).all()
        assert same(f(*(a[1:] for a in args)), scalar[1:]).all()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", list(vecmath.FUNCTIONS))
def test_self_contained(name, dtype):
    """Nothing is called but the two internal functions, on a plain AVX2 machine."""
    module = llvm.parse_assembly(module_text(name, 4, dtype))
    assembly = target("haswell", "+avx2,+fma").emit_assembly(module)
    mentioned = set(re.findall(r"(?:call\w*\s+|movabsq\s+\$|jmp\s+)([A-Za-z_][\w.]*)", assembly))
    assert all(m.startswith(("adjoint.reduce", "adjoint.fmod")) for m in mentioned), mentioned
