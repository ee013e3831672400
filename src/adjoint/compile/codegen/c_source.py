"""A program as one self-contained C99 file."""

from __future__ import annotations

import math
import re

from ..graph.expressions import Expr
from ..graph.loops import Loop
from ..graph.operations import OPS
from ..graph.program import Operand, Program
from .scheduler import schedule, sin_cos_pairs
from .vecmath.circular import TRIG

__all__ = ["c_file"]


def _sincos() -> str:
    """The C text of sine and cosine of one angle, computed as in machine code where multiply-adds are fast.

    It takes less time than calls of the C library, before which all registers must be saved. The library reduces very
    large angles, and does everything where multiply-adds are slow.
    """
    k = TRIG["f64"]
    half, rest, last = k["parts"]  # of pi/2
    pairs = list(zip(k["sin"], k["cos"], strict=True))
    steps = [f"        s = fma(z, s, {a!r}), c = fma(z, c, {b!r});" for a, b in pairs[1:]]
    text = f"""static inline void adjoint_sincos(double x, double *sine, double *cosine)
{{
#ifdef FP_FAST_FMA
    if (fabs(x) < {k["limit"]!r}) {{
        const double n = rint(x * {1 / half!r}) + 0.0; /* x = n pi/2 + r - e */
        const double r_1 = fma(n, {-half!r}, x), r = fma(n, {-rest!r}, r_1);
        const double e = fma(n, {last!r}, fma(n, {rest!r}, r - r_1)), z = fma(r, r, r * (e * -2.0));
        double s = {pairs[0][0]!r}, c = {pairs[0][1]!r};
STEPS
        s = r - fma(r * z, s, e), c = fma(z, fma(z, c, -0.5), 1.0);
        const long quarter = (long)n;
        const double u = quarter & 1 ? c : s, w = quarter & 1 ? s : c;
        *sine = quarter & 2 ? -u : u, *cosine = (quarter + 1) & 2 ? -w : w;
        return;
    }}
#endif
    *sine = sin(x), *cosine = cos(x);
}}"""
    return text.replace("STEPS", "\n".join(steps))


_C_HELPERS = {
    "adjoint_sincos": _sincos(),
    "adjoint_sign": "static double adjoint_sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; }",
    "adjoint_minimum": "static double adjoint_minimum(double x, double y) { return x < y || x != x ? x : y; }",
    "adjoint_maximum": "static double adjoint_maximum(double x, double y) { return x > y || x != x ? x : y; }",
}


_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim "
    "floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint "
    "lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn signbit sin "
    "sinh sqrt tan tanh tgamma trunc "
).split()
_RESERVED = {  # names that a C compiler or <math.h> knows already, and names that this file defines
    *(f"{name}{suffix}" for name in _MATH for suffix in ("", "f", "l")),
    *"auto break case char const continue default do double else enum extern float for goto if inline int long".split(),
    *"register restrict return short signed sizeof static struct switch typedef union unsigned void volatile".split(),
    *"while main length work isnan isinf isfinite isnormal fpclassify isgreater isless isunordered".split(),
    *"NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL j0 j1 jn y0 y1 yn gamma significand drem signgam pow10 exp10".split(),
    *_C_HELPERS,
}


def _c_name(name: str, taken: set[str]) -> str:
    """Return a C identifier like `name` that has no other meaning in the file, and add it to `taken`."""
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in name) or "kernel"
    word = word if not word[0].isdigit() else f"k{word}"
    while word in _RESERVED or word in taken or re.fullmatch(r"t\d+|_.*", word):
        word = f"k{word}" if word.startswith("_") else f"{word}_"
    taken.add(word)
    return word


def _literal(x: float) -> str:
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "(-INFINITY)"
    return repr(x) if x >= 0 and math.copysign(1.0, x) > 0 else f"({x!r})"


class _CWriter:
    """Writes one program as C99: straight-line code, and a `for` for every loop."""

    def __init__(self, program: Program, name: str):
        self.program = program
        taken: set[str] = set()
        self.name = _c_name(name, taken)
        self.inputs = {o.name: _c_name(o.name, taken) for o in program.inputs}
        self.outputs = [_c_name(o.name, taken) for o in program.outputs]
        self.lines: list[str] = []
        self.count = 0
        self.indent = 1
        self.buffers: list[str] = []
        # For each buffer of unknown length, the numbers in one row of it: the caller gives memory for them.
        self.work: list[int] = []

    def fresh(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def file(self) -> str:
        """The text of the file."""
        p = self.program
        outputs = list(zip(self.outputs, p.outputs, p.results, strict=True))
        self.targets = {result[0].id: name for name, o, result in outputs if o.sequence}
        env: dict[int, str] = {}
        self._graph(p.roots, env, top=True)
        for name, o, result in outputs:
            if not o.sequence:
                for k, e in enumerate(result):
                    self.emit(f"{name}[{k}] = {env[e.id]};")
        body = "\n".join(self.buffers + self.lines)
        unused = [name for name in self.inputs.values() if not re.search(rf"\b{name}\b", body)]
        arguments = [f"const double *{name}" for name in self.inputs.values()] + [f"double *{n}" for n in self.outputs]
        if any(o.sequence for o in p.inputs):
            arguments.insert(0, "long length")
            unused += [] if re.search(r"\blength\b", body) else ["length"]
        if self.work:
            arguments.append("double *work")
        body = "\n".join([*(f"    (void){name};" for name in unused), body])
        helpers = [text for name, text in _C_HELPERS.items() if f"{name}(" in body]
        signature = f"void {self.name}({', '.join(arguments) or 'void'})"
        return "\n".join([*self._comment(), "#include <math.h>", "", *helpers, "", signature, "{", body, "}", ""])

    def _comment(self) -> list[str]:
        """The comment at the top of the file: the shapes of all arguments."""

        def line(side: str, name: str, o: Operand) -> str:
            return f" *   {side} {name}: {'length x ' if o.sequence else ''}{' x '.join(map(str, o.shape)) or 'scalar'}"

        p = self.program
        lines = [line("in ", self.inputs[o.name], o) for o in p.inputs]
        lines += [line("out", name, o) for name, o in zip(self.outputs, p.outputs, strict=True)]
        if self.work:
            lines.append(f" *   work: {sum(self.work)} * length numbers of scratch memory")
        head = f"/* {self.name}, generated by Adjoint. C99, no dependency but the C mathematical library."
        return [head, " * Arrays are of double, row-major:", *lines, " */"]

    def _graph(self, roots: list[Expr], env: dict, top: bool = False) -> None:
        order = schedule(roots)
        pairs = sin_cos_pairs(order)
        for x in order:
            if x.id not in env:
                paired = x.op in ("sin", "cos") and x.args[0].id in pairs
                env[x.id] = self._sin_or_cos(x, env, pairs) if paired else self._node(x, env, top)

    def _sin_or_cos(self, x: Expr, env: dict, pairs: dict[int, list]) -> str:
        """Write both at once when the first of them is needed."""
        pair = pairs[x.args[0].id]
        if not pair:
            pair.extend((self.fresh(), self.fresh()))
            self.emit(f"double {pair[0]}, {pair[1]};")
            self.emit(f"adjoint_sincos({env[x.args[0].id]}, &{pair[0]}, &{pair[1]});")
        return pair[x.op == "cos"]

    def _node(self, x: Expr, env: dict, top: bool):
        if x.op == "const":
            return _literal(x.number())  # type: ignore[arg-type]
        if x.op == "bool":
            return str(int(x.value))
        if x.op == "input":
            return f"{self.inputs[x.value[0]]}[{x.value[1]}]"
        if x.op == "sequence":
            return self.inputs[x.value]
        if x.op == "array":
            name = self._local(len(x.args))
            for k, a in enumerate(x.args):
                self.emit(f"{name}[{k}] = {env[a.id]};")
            return name
        if x.op == "row":
            return self._row(x, env)
        if x.op == "item":
            return f"{env[x.args[0].id]}[{x.value}]"
        if x.op == "loop":
            return self._loop(x, env, top)
        if x.op in ("carry", "stacked"):
            return env[x.args[0].id][x.op == "stacked"][x.value]
        name = self.fresh()
        text = OPS[x.op].c.format(*(env[a.id] for a in x.args))
        self.emit(f"const {'int' if x.mask else 'double'} {name} = {text};")
        return name

    def _row(self, x: Expr, env: dict) -> str:
        """Write a pointer to the row of a table; to zeros if a sequence has no rows."""
        (size, count), (table, index) = x.value, (env[a.id] for a in x.args)
        i, row, last = self.fresh(), self.fresh(), "length - 1" if count is None else str(count - 1)
        self.emit(f"const long {i} = {index} > 0 ? ({index} < {last} ? (long)({index}) : {last}) : 0;")
        there = f"{table} + {i} * {size}"
        if count is None:
            zeros = self.fresh()
            self.buffers.append(f"    const double {zeros}[{max(size, 1)}] = {{0}};")
            there = f"length > 0 ? {there} : {zeros}"
        self.emit(f"const double *const {row} = {there};")
        return row

    def _local(self, size: int) -> str:
        """Declare a local array; returns its name."""
        name = self.fresh()
        self.buffers.append(f"    double {name}[{max(size, 1)}];")
        return name

    def _loop(self, x: Expr, env: dict, top: bool) -> tuple[list[str], list[str]]:
        """Write a loop; returns the names of its carry and of its stacks."""
        loop: Loop = x.value
        n, m = len(loop.carry), len(loop.captured)
        carry = [self.fresh() for _ in range(n)]
        for c, a in zip(carry, x.args[:n], strict=True):
            self.emit(f"double {c} = {env[a.id]};")
        stacked = []
        for k, y in enumerate(loop.ys):
            target = self.targets.get(x.graph.node("stacked", (x,), k).id) if top else None
            stacked.append(target or self._memory(loop.length, len(y)))
        inner = {e.id: env[a.id] for e, a in zip(loop.captured, x.args[n : n + m], strict=True)}
        inner |= {e.id: c for e, c in zip(loop.carry, carry, strict=True)}
        i, length = self.fresh(), "length" if loop.length is None else str(loop.length)
        way = f"long {i} = {length}; {i}-- > 0;" if loop.reverse else f"long {i} = 0; {i} < {length}; ++{i}"
        self.emit(f"for ({way}) {{")
        self.indent += 1
        for row, a in zip(loop.xs, x.args[n + m :], strict=True):
            inner |= {e.id: f"{env[a.id]}[{i} * {len(row)} + {k}]" for k, e in enumerate(row)}
        if loop.condition is not None:
            self._graph([loop.condition], inner)
            self.emit(f"if (!({inner[loop.condition.id]})) break;")
        self._graph(loop.roots, inner)
        for y, name in zip(loop.ys, stacked, strict=True):
            for k, e in enumerate(y):
                self.emit(f"{name}[{i} * {len(y)} + {k}] = {inner[e.id]};")
        new = [self.fresh() for _ in carry]
        # The next carry is complete before any part of it is overwritten.
        for name, e in zip(new, loop.next_carry, strict=True):
            self.emit(f"const double {name} = {inner[e.id]};")
        for c, name in zip(carry, new, strict=True):
            self.emit(f"{c} = {name};")
        self.indent -= 1
        self.emit("}")
        return carry, stacked

    def _memory(self, length: int | None, size: int) -> str:
        """Return the name of a local array, or of a part of the caller's scratch memory if its length is unknown."""
        if length is not None:
            return self._local(length * size)
        name = self.fresh()
        self.buffers.append(f"    double *{name} = work + {sum(self.work)} * length;")
        self.work.append(size)
        return name


def c_file(program: Program, name: str) -> str:
    """The text of a C99 file with a function of this name, which computes one sample."""
    return _CWriter(program, name).file()
