"""LLVM IR as text: SSA values with operators, so that emitted mathematics reads like mathematics.

A `Builder` collects the instructions of one function. Its values are *lanes*: vectors of `width` numbers of one
floating type ("f64" or "f32"), integers of the same size, or masks of one bit per lane. Width 1 means plain scalars. No
fast-math flag is ever set: every instruction is exactly the IEEE operation that it names, so results do not depend on
the width, the position in a batch, or the optimiser.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["BYTES", "FRAME", "Buffer", "Builder", "Coder", "Module", "Place", "Value", "float_literal"]

_FLOAT = {"f64": "double", "f32": "float"}
_BITS = {"f64": 64, "f32": 32}
BYTES = {"f64": 8, "f32": 4}


def float_literal(x: float, dtype: str) -> str:
    """Return the IR literal of `x` rounded to `dtype`. LLVM writes both types as the bits of a double."""
    if dtype == "f32":
        try:
            x = struct.unpack("<f", struct.pack("<f", x))[0]
        except OverflowError:
            x = float("inf") if x > 0 else float("-inf")
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


@functools.cache
def _type(kind: str, dtype: str, width: int) -> str:
    scalar = {"f": _FLOAT[dtype], "i": f"i{_BITS[dtype]}", "m": "i1"}[kind]
    return scalar if width == 1 else f"<{width} x {scalar}>"


class Module:
    """The text of one LLVM module: functions and constants by name, each emitted once."""

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}

    def has(self, name: str) -> bool:
        return name in self._parts

    def add(self, name: str, text: str) -> None:
        """Add a global definition or declaration; a name that was added before is left as it is."""
        self._parts.setdefault(name, text)

    def text(self) -> str:
        return "\n".join(self._parts.values()) + "\n"


class Value:
    """An SSA value or literal; `kind` is "f" (float lanes), "i" (integer lanes) or "m" (mask)."""

    __slots__ = ("b", "kind", "name")

    def __init__(self, b: Builder, name: str, kind: str) -> None:
        self.b, self.name, self.kind = b, name, kind

    # fmt: off
    def __add__(self, o): return self.b._binary("add", self, o)
    def __radd__(self, o): return self.b._binary("add", o, self)
    def __sub__(self, o): return self.b._binary("sub", self, o)
    def __rsub__(self, o): return self.b._binary("sub", o, self)
    def __mul__(self, o): return self.b._binary("mul", self, o)
    def __rmul__(self, o): return self.b._binary("mul", o, self)
    def __truediv__(self, o): return self.b._binary("div", self, o)
    def __rtruediv__(self, o): return self.b._binary("div", o, self)
    def __and__(self, o): return self.b._integer("and", self, o)
    def __or__(self, o): return self.b._integer("or", self, o)
    def __xor__(self, o): return self.b._integer("xor", self, o)
    def __lshift__(self, o): return self.b._integer("shl", self, o)
    def __rshift__(self, o): return self.b._integer("lshr", self, o)  # logical
    def __invert__(self): return self.b._integer("xor", self, -1)
    def __neg__(self):
        if self.kind == "i":
            return 0 - self
        return self.b.op(f"fneg {self.b.type('f')} {self.name}", "f")
    def __lt__(self, o): return self.b._compare("lt", self, o)
    def __le__(self, o): return self.b._compare("le", self, o)
    def __gt__(self, o): return self.b._compare("gt", self, o)
    def __ge__(self, o): return self.b._compare("ge", self, o)
    def __eq__(self, o): return self.b._compare("eq", self, o)  # type: ignore[override]
    def __ne__(self, o): return self.b._compare("ne", self, o)  # type: ignore[override]
    __hash__ = None  # type: ignore[assignment]
    # fmt: on


FRAME = "frame"  # stands for the address of scratch memory, which each function knows by another name


@dataclass(frozen=True)
class Place:
    """A value in memory, which is read where it is used: the vector of lanes number `index`, counted from `base`."""

    base: str
    index: int


@dataclass(frozen=True)
class Buffer:
    """Where the rows of an array are in memory; it means the same in every function of a module.

    One of three attributes is set:
    - `place`: the place of the first vector of lanes;
    - `slot`: the array is a sequence of the caller's, and this is the number of its entry in the context;
    - `rows`: the array is in that part of scratch memory whose size depends on the length of the sequences. There it
      begins after `rows` vectors for each row of the sequences.
    """

    place: Place | None = None
    slot: int | None = None
    rows: int | None = None


class Builder:
    """Emits the instructions of one function.

    Names of values begin with `prefix`; without a prefix they are plain numbers.
    """

    def __init__(
        self, module: Module, width: int, dtype: str = "f64", lines: list[str] | None = None, prefix: str = "x"
    ):
        self.module, self.width, self.dtype = module, width, dtype
        self.lines: list[str] = [] if lines is None else lines
        self._prefix, self._count = prefix, [0]
        self.block = "entry"  # the label of the block that is being filled

    # --- types and literals -------------------------------------------------------------------

    def type(self, kind: str) -> str:
        return _type(kind, self.dtype, self.width)

    @property
    def suffix(self) -> str:
        """The suffix in names of intrinsics on float lanes, such as "v4f64" or "f32"."""
        return self.dtype if self.width == 1 else f"v{self.width}{self.dtype}"

    def _splat(self, scalar_type: str, literal: str) -> str:
        return literal if self.width == 1 else f"splat ({scalar_type} {literal})"

    def const(self, x: float) -> Value:
        return Value(self, self._splat(_FLOAT[self.dtype], float_literal(x, self.dtype)), "f")

    def iconst(self, n: int) -> Value:
        return Value(self, self._splat(f"i{_BITS[self.dtype]}", str(n)), "i")

    def mask(self, on: bool) -> Value:
        return Value(self, self._splat("i1", "true" if on else "false"), "m")

    def _lift(self, x, kind: str) -> Value:
        if isinstance(x, Value):
            return x
        return {"f": self.const, "i": self.iconst, "m": lambda v: self.mask(bool(v))}[kind](x)

    # --- instructions -------------------------------------------------------------------------

    def fresh(self) -> str:
        self._count[0] += 1
        return f"%{self._prefix}{self._count[0]}"

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def op(self, text: str, kind: str) -> Value:
        """Emit `%new = text`, and return it as a value of `kind`."""
        name = self.fresh()
        self.lines.append(f" {name} = {text}")
        return Value(self, name, kind)

    def _binary(self, op: str, a, b) -> Value:
        kind = a.kind if isinstance(a, Value) else b.kind
        a, b = self._lift(a, kind), self._lift(b, kind)
        return self.op(f"{'f' if kind == 'f' else ''}{op} {self.type(kind)} {a.name}, {b.name}", kind)

    def _integer(self, op: str, a, b) -> Value:
        kind = a.kind if isinstance(a, Value) else b.kind
        a, b = self._lift(a, kind), self._lift(b, kind)
        return self.op(f"{op} {self.type(kind)} {a.name}, {b.name}", kind)

    def _compare(self, op: str, a, b) -> Value:
        kind = a.kind if isinstance(a, Value) else b.kind
        a, b = self._lift(a, kind), self._lift(b, kind)
        if kind == "f":
            code = "fcmp " + ("une" if op == "ne" else "o" + op)  # as in C, all comparisons with NaN are false but !=
        else:
            code = "icmp " + (op if op in ("eq", "ne") else "s" + op)
        return self.op(f"{code} {self.type(kind)} {a.name}, {b.name}", "m")

    def _intrinsic(self, name: str, *args) -> Value:
        t = self.type("f")
        full = f"llvm.{name}.{self.suffix}"
        if not self.module.has(full):
            self.module.add(full, f"declare {t} @{full}({', '.join([t] * len(args))})")
        operands = ", ".join([f"{t} {self._lift(a, 'f').name}" for a in args])
        return self.op(f"call {t} @{full}({operands})", "f")

    def fma(self, a, b, c) -> Value:
        """a*b + c with one rounding."""
        return self._intrinsic("fma", a, b, c)

    # fmt: off
    def sqrt(self, a) -> Value: return self._intrinsic("sqrt", a)
    def abs(self, a) -> Value: return self._intrinsic("fabs", a)
    def floor(self, a) -> Value: return self._intrinsic("floor", a)
    def ceil(self, a) -> Value: return self._intrinsic("ceil", a)
    def trunc(self, a) -> Value: return self._intrinsic("trunc", a)
    def rint(self, a) -> Value: return self._intrinsic("rint", a)  # to nearest, ties to even
    def copysign(self, magnitude, sign) -> Value: return self._intrinsic("copysign", magnitude, sign)
    # fmt: on

    def select(self, mask: Value, a, b) -> Value:
        """a where the mask is set, else b."""
        kind = a.kind if isinstance(a, Value) else b.kind if isinstance(b, Value) else "f"
        a, b = self._lift(a, kind), self._lift(b, kind)
        t = self.type(kind)
        return self.op(f"select {self.type('m')} {mask.name}, {t} {a.name}, {t} {b.name}", kind)

    def bits(self, a: Value) -> Value:
        """The bits of float lanes as integer lanes."""
        return self.op(f"bitcast {self.type('f')} {a.name} to {self.type('i')}", "i")

    def from_bits(self, a: Value) -> Value:
        """Integer lanes reinterpreted as float lanes."""
        return self.op(f"bitcast {self.type('i')} {a.name} to {self.type('f')}", "f")

    def struct(self, type: str, parts: Iterable[Value]) -> str:
        """A struct of values, as functions with several results return it."""
        whole = "poison"
        for k, v in enumerate(parts):
            whole = self.op(f"insertvalue {type} {whole}, {self.type(v.kind)} {v.name}, {k}", "f").name
        return whole

    def poly(self, x: Value, coefficients) -> Value:
        """Horner's rule with fused steps; the coefficient of the highest power comes first."""
        first, *rest = coefficients
        p = self._lift(first, "f")
        for c in rest:
            p = self.fma(p, x, c)
        return p

    # --- control flow ---------------------------------------------------------------------------

    def any(self, mask: Value) -> str:
        """A scalar i1 that is true if any lane of the mask is set."""
        if self.width == 1:
            return mask.name
        bits = self.op(f"bitcast {self.type('m')} {mask.name} to i{self.width}", "i")
        return self.op(f"icmp ne i{self.width} {bits.name}, 0", "m").name

    def label(self, name: str) -> None:
        """Start the block `name`; the block before it must have ended with a branch."""
        self.lines.append(f"{name}:")
        self.block = name

    def rarely(self, mask: Value, usual: list[Value], replace) -> list[Value]:
        """Return `usual`, or what `replace()` emits instead if any lane of `mask` is set.

        LLVM is told that the latter is rare, and moves its code out of the way.
        """
        cold, join = self.fresh_label("cold"), self.fresh_label("join")
        self.module.add("!0", '!0 = !{!"branch_weights", i32 1, i32 100000}')
        hot = self.block
        self.emit(f" br i1 {self.any(mask)}, label %{cold}, label %{join}, !prof !0")
        self.label(cold)
        other = replace()
        end = self.block
        self.emit(f" br label %{join}")
        self.label(join)
        return [
            self.op(f"phi {self.type(u.kind)} [{u.name}, %{hot}], [{o.name}, %{end}]", u.kind)
            for u, o in zip(usual, other, strict=True)
        ]

    def fresh_label(self, stem: str) -> str:
        self._count[0] += 1
        return f"{stem}{self._count[0]}"


class Coder(Builder):
    """A builder for address arithmetic: 64-bit words, memory and counted loops."""

    def word(self, text: str) -> str:
        """Emit an instruction whose result is an integer or a pointer; returns its name."""
        return self.op(text, "w").name

    def address(self, base: str, words) -> str:
        """The address of a word: so many words after `base`."""
        return self.op(f"getelementptr i64, ptr {base}, i64 {words}", "p").name

    def get(self, base: str, words) -> str:
        """Load the word that is so many words after `base`."""
        return self.word(f"load i64, ptr {self.address(base, words)}")

    def put(self, value, base: str, words) -> None:
        """Store a word so many words after `base`."""
        self.emit(f" store i64 {value}, ptr {self.address(base, words)}")

    def add(self, a, b) -> str:
        return self.word(f"add i64 {a}, {b}")

    def mul(self, a, b) -> str:
        return self.word(f"mul i64 {a}, {b}")

    def pointer(self, word) -> str:
        """A word as a pointer."""
        return self.op(f"inttoptr i64 {word} to ptr", "p").name

    def same(self, a, b, type: str = "i64") -> str:
        """Whether a equals b."""
        return self.op(f"icmp eq {type} {a}, {b}", "m").name

    @contextmanager
    def loop(self, count) -> Iterator[str]:
        """Emit code that is repeated `count` times; yields the counter."""
        with self.fold(count, "", []) as (counter, _, _):
            yield counter

    @contextmanager
    def fold(self, count, type: str, start: list[str]) -> Iterator[tuple[str, list[str], list[str]]]:
        """Emit a loop that passes values from one iteration to the next.

        Yields the counter, the values of this iteration, and a list to fill with the values for the next one.
        """
        before, head, end = self.block, self.fresh_label("loop"), self.fresh_label("end")
        self.emit(f" br i1 {self.op(f'icmp sgt i64 {count}, 0', 'm').name}, label %{head}, label %{end}")
        self.label(head)
        counter, at, after = self.fresh(), len(self.lines), []
        values = [self.fresh() for _ in start]
        self.lines += [""] * (1 + len(start))  # room for the phis: the values that the loop ends with are not known yet
        yield counter, values, after
        following = self.add(counter, 1)
        for k, (v, t, x, y) in enumerate(
            zip([counter, *values], ["i64", *[type] * len(start)], ["0", *start], [following, *after], strict=True)
        ):
            self.lines[at + k] = f" {v} = phi {t} [{x}, %{before}], [{y}, %{self.block}]"
        self.emit(f" br i1 {self.op(f'icmp slt i64 {following}, {count}', 'm').name}, label %{head}, label %{end}")
        self.label(end)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Emit code that runs only if the condition holds."""
        then, end = self.fresh_label("then"), self.fresh_label("end")
        self.emit(f" br i1 {condition}, label %{then}, label %{end}")
        self.label(then)
        yield
        self.emit(f" br label %{end}")
        self.label(end)

    def require(self, condition: str, otherwise: str) -> None:
        """Emit code that goes on if the condition holds, and jumps to the label `otherwise` if not."""
        go_on = self.fresh_label("ok")
        self.emit(f" br i1 {condition}, label %{go_on}, label %{otherwise}")
        self.label(go_on)
