"""Expression graphs: interned scalar nodes, simplified as they are made.

The same operation on the same arguments is the same object, so common sub-expressions are shared by construction and a
graph has one canonical form. Simplification is exact, but for the liberties that structural zeros need: 0 * x, 0 / x
and x - x become 0 and x + 0 becomes x, whatever x is (NaN and infinities included), and sums and differences do not
keep the sign of a zero.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import local

import numpy as np

from ...errors import AdjointError
from .operations import OPS, fold
from .trace_errors import error

__all__ = [
    "MOST_NODES",
    "Expr",
    "Graph",
    "TooLarge",
    "apply",
    "arithmetic",
    "as_number",
    "at_most",
    "copied",
    "digest",
    "reachable",
    "substitute",
]

# The most nodes of a program that is compiled without `unroll=True`: compiling it takes about half a minute and a
# gigabyte.
MOST_NODES = 600_000

_LOGIC = {"and", "or", "not"}
_COMMUTATIVE = {"add", "mul", "minimum", "maximum", "eq", "ne", "and", "or", "hypot"}


class TooLarge(AdjointError):
    """A graph would get more nodes than it may have.

    `Specialisation.traced` turns this into a message with remedies.
    """


_limits = local()


@contextmanager
def at_most(nodes: float) -> Iterator[None]:
    """Limit the number of nodes of every graph made within this context; the outermost of nested contexts counts."""
    if getattr(_limits, "nodes", None) is not None:
        yield
        return
    _limits.nodes = nodes
    try:
        yield
    finally:
        _limits.nodes = None


class Graph:
    """The nodes made while one function (or one body of a loop) is traced.

    The graph of a loop's body has a `parent`, the graph that the loop is in. A value of an outer graph that the body
    uses is *captured*: an input of the body stands for it.
    """

    def __init__(self, parent: Graph | None = None):
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.nodes: list[Expr] = []  # in the order in which they were made, which puts arguments before results
        self._most: float = getattr(_limits, "nodes", None) or math.inf
        self._interned: dict[tuple, Expr] = {}
        self.captured: dict[Expr, Expr] = {}  # node of an outer graph -> the input that stands for it here

    def node(self, op: str, args: tuple[Expr, ...] = (), value=None, mask: bool = False) -> Expr:
        """Return the one node with this operation, arguments and value."""
        key = (op, value, *[a.id for a in args])
        found = self._interned.get(key)
        if found is None:
            count = len(self.nodes)
            if count >= self._most:
                raise TooLarge(f"more than {self._most:.0f} operations")
            found = self._interned[key] = Expr(self, count, op, args, value, mask)
            self.nodes.append(found)
        return found

    def constant(self, x: float) -> Expr:
        return self.node("const", value=struct.pack("<d", x))

    def input(self, name: str, index: int) -> Expr:
        return self.node("input", value=(name, index))

    def lift(self, x) -> Expr:
        """Return x, a number or a node of this graph or of an enclosing one, as a node of this graph."""
        if not isinstance(x, Expr):
            if isinstance(x, bool):
                return self.node("bool", value=x, mask=True)
            return self.constant(float(x))
        if x.graph is self:
            return x
        if x.op == "const":
            return self.node("const", value=x.value)
        found = self.captured.get(x)
        if found is None:
            if not self._inside(x.graph):
                raise error(
                    "a traced value is used outside the kernel or the loop step it was made in",
                    "return it from there, or carry it through the loop",
                )
            found = self.captured[x] = self.node("input", value=("captured", len(self.captured)), mask=x.mask)
        return found

    def _inside(self, other: Graph) -> bool:
        graph = self.parent
        while graph is not None and graph is not other:
            graph = graph.parent
        return graph is other


class Expr:
    """A traced scalar: a node of a graph.

    It has the operators of a number, and NumPy's functions accept it (see `tracing`).

    `id` is its place in `graph.nodes`; `op` is an operation of the table, or "const", "bool", "input", or one of the
    kinds of nodes that `loops` makes; `value` is what else defines it. `mask` is True for truth values.
    """

    __slots__ = ("__weakref__", "args", "graph", "id", "mask", "op", "value")

    def __init__(self, graph: Graph, id: int, op: str, args: tuple[Expr, ...], value, mask: bool):
        self.graph, self.id, self.op, self.args, self.value, self.mask = graph, id, op, args, value, mask

    def number(self) -> float | None:
        """The value of a constant node, else None."""
        return struct.unpack("<d", self.value)[0] if self.op == "const" else None

    __hash__ = object.__hash__  # by identity, because == makes a node

    # --- numbers -----------------------------------------------------------------------------------

    # fmt: off
    def __add__(self, o): return _binary("add", self, o)
    def __radd__(self, o): return _binary("add", o, self)
    def __sub__(self, o): return _binary("sub", self, o)
    def __rsub__(self, o): return _binary("sub", o, self)
    def __mul__(self, o): return _binary("mul", self, o)
    def __rmul__(self, o): return _binary("mul", o, self)
    def __truediv__(self, o): return _binary("div", self, o)
    def __rtruediv__(self, o): return _binary("div", o, self)
    def __pow__(self, o): return _binary("pow", self, o)
    def __rpow__(self, o): return _binary("pow", o, self)
    def __mod__(self, o): return _numpy(np.remainder, self, o)
    def __rmod__(self, o): return _numpy(np.remainder, o, self)
    def __floordiv__(self, o): return _numpy(np.floor_divide, self, o)
    def __rfloordiv__(self, o): return _numpy(np.floor_divide, o, self)
    def __lt__(self, o): return _binary("lt", self, o)
    def __le__(self, o): return _binary("le", self, o)
    def __gt__(self, o): return _binary("lt", o, self)
    def __ge__(self, o): return _binary("le", o, self)
    def __eq__(self, o): return _binary("eq", self, o)  # type: ignore[override]
    def __ne__(self, o): return _binary("ne", self, o)  # type: ignore[override]
    def __and__(self, o): return _binary("and", self, o)
    def __rand__(self, o): return _binary("and", o, self)
    def __or__(self, o): return _binary("or", self, o)
    def __ror__(self, o): return _binary("or", o, self)
    def __invert__(self): return arithmetic("not", self)
    def __neg__(self): return arithmetic("neg", self)
    def __pos__(self): return self
    def __abs__(self): return apply("abs", self)
    def __floor__(self): return apply("floor", self)
    def __ceil__(self): return apply("ceil", self)
    def __trunc__(self): return apply("trunc", self)
    # fmt: on

    # --- a zero-dimensional array, as NumPy's own scalars are --------------------------------------

    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    @property
    def T(self) -> Expr:
        return self

    def conjugate(self) -> Expr:
        return self

    @classmethod
    def learn(cls, ufunc: Callable, function: Callable, methods: dict[str, str]) -> None:
        """Set the functions by which traced scalars serve NumPy's calls.

        `tracing`, which imports this file, has them.
        """
        cls._ufunc, cls._function, cls._methods = staticmethod(ufunc), staticmethod(function), methods

    _methods: dict[str, str]  # {method that NumPy calls on elements of an array of objects: operation}

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return self._ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return self._function(func, args, kwargs)

    def __getattr__(self, name: str):
        # NumPy computes np.sin of a plain array of objects by calling the method sin of each element.
        if (op := Expr._methods.get(name)) is not None:
            return lambda *rest: apply(op, self, *rest)
        raise AttributeError(f"a traced scalar has no attribute '{name}'")

    # --- what a traced value cannot do -------------------------------------------------------------

    def __bool__(self) -> bool:
        raise error(
            "a Python `if`, `while`, `and`, `or`, `not` or `bool()` needs a truth value, but this one is "
            "known only when the kernel runs",
            "use np.where(condition, a, b), `&`, `|`, `~`, or while_loop; to compare traced scalars as an array, make "
            "it with np.stack (np.array makes a plain array of objects)",
        )

    def _refuse(self, *_):
        raise error(
            "a traced value cannot become a Python number or be written into a float array",
            "build arrays with np.stack or np.concatenate instead of filling them, use np.sin instead of math.sin, "
            "leave out dtype=float, loop with scan or while_loop, and keep numbers as they are",
        )

    __float__ = __int__ = __index__ = __complex__ = _refuse

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.number())
        return f"<traced {'truth value' if self.mask else 'number'}: {self.op}>"


_BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "lt": np.less,
    "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip


def _numpy(ufunc: Callable, a, b):
    """Call a function of NumPy on traced scalars; it comes back through `Expr.__array_ufunc__`."""
    return ufunc(a, b)


def _binary(name: str, a, b):
    """The result of an operator on a and b; what is no scalar is left to NumPy or to the other operand."""
    usual = name not in _LOGIC
    for x in (a, b):
        if type(x) is Expr:
            usual = usual and not x.mask
        elif type(x) is not float:
            if isinstance(x, np.ndarray):
                return _BINARY[name](a, b)
            if not isinstance(x, Expr | float | int | np.number | np.bool_):
                return NotImplemented
            usual = False
    return apply(name, a, b) if usual else arithmetic(name, a, b)


def arithmetic(name: str, *args):
    """The result of an operator on scalars, with NumPy's rules for truth values.

    The sum of truth values is their "or", they have no difference, and only they can be combined by `&`, `|` and `~`.
    """
    masks = 0
    for a in args:
        if a.mask if type(a) is Expr else isinstance(a, bool | np.bool_):
            masks += 1
    if not masks and name not in _LOGIC:
        return apply(name, *args)
    if masks == len(args) and name == "add":
        name = "or"
    elif masks == len(args) and name in ("sub", "neg"):
        raise error("NumPy has no `-` for truth values", "use `~`, np.logical_xor or np.where(mask, 1.0, 0.0)")
    elif masks < len(args) and name in _LOGIC:
        raise error("`&`, `|` and `~` are for truth values, and this is a number", "compare it first: x > 0, x != 0")
    return apply(name, *args)


def _number(x) -> float | bool | None:
    """x as a plain number if it is a constant, else None."""
    if type(x) is not Expr:
        return x
    if x.op == "const":
        return x.number()
    return x.value if x.op == "bool" else None


def apply(name: str, *args):
    """The simplified result of an operation on nodes and numbers; it is a number if all arguments are constant."""
    constant = numbers = True
    for a in args:
        if type(a) is Expr:
            constant = constant and (a.op == "const" or a.op == "bool")
            numbers = numbers and not a.mask
        elif type(a) is not float:
            numbers = False
    if constant:
        return fold(name, *map(_number, args))  # type: ignore[arg-type]
    if name in _LOGIC:
        args = tuple(map(_as_mask, args))
    elif name == "select":
        args = (_as_mask(args[0]), as_number(args[1]), as_number(args[2]))
    elif not numbers:
        args = tuple(map(as_number, args))
    rule = _RULES.get(name)
    if rule is not None:
        simple = rule(*args)
        if simple is not None:
            return simple
    graph = None
    for a in args:
        if type(a) is Expr and (graph is None or a.graph.depth > graph.depth):
            graph = a.graph
    nodes = tuple([a if type(a) is Expr and a.graph is graph else graph.lift(a) for a in args])  # type: ignore[union-attr]
    if name in _COMMUTATIVE and nodes[0].id > nodes[1].id:
        nodes = (nodes[1], nodes[0])
    return graph.node(name, nodes, mask=OPS[name].mask)  # type: ignore[union-attr]


def as_number(x):
    """Return a truth value as 1 or 0, and a number as it is."""
    if isinstance(x, Expr) and x.mask:
        return x.graph.node("select", (x, x.graph.constant(1.0), x.graph.constant(0.0)))
    return float(x) if isinstance(x, bool) else x


def _as_mask(x):
    if isinstance(x, Expr):
        return x if x.mask else apply("ne", x, 0.0)
    return bool(x)


# --- simplification: one small function per operation; None means "nothing to simplify" ----------


def _is(x, op: str) -> bool:
    return type(x) is Expr and x.op == op


def _add(a, b):
    if _number(a) == 0.0:
        return b
    if _number(b) == 0.0:
        return a
    if _is(b, "neg"):
        return apply("sub", a, b.args[0])
    if _is(a, "neg"):
        return apply("sub", b, a.args[0])


def _sub(a, b):
    if _number(b) == 0.0:
        return a
    if _number(a) == 0.0:
        return apply("neg", b)
    if a is b:
        return 0.0
    if _is(b, "neg"):
        return apply("add", a, b.args[0])
    if _is(a, "neg"):
        return apply("neg", apply("add", a.args[0], b))


def _mul(a, b):
    c, x = _number(a), b
    if c is None:
        c, x = _number(b), a
    if c is not None:  # x is not constant: `apply` computes products of constants itself
        if c == 0.0:
            return 0.0
        if c == 1.0:
            return x
        if c == -1.0:
            return apply("neg", x)
        return apply("mul", -c, x.args[0]) if x.op == "neg" else None
    if _is(a, "neg"):
        return apply("neg", apply("mul", a.args[0], b))
    if _is(b, "neg"):
        return apply("neg", apply("mul", a, b.args[0]))


def _div(a, b):
    c = _number(b)
    if _number(a) == 0.0:
        return 0.0
    if c is not None and c != 0.0 and math.frexp(c)[0] in (0.5, -0.5) and 2.0**-1000 < abs(c) < 2.0**1000:
        return apply("mul", a, 1.0 / c)  # exact for powers of two
    if _is(a, "neg"):
        return apply("neg", apply("div", a.args[0], b))
    if _is(b, "neg"):
        return apply("neg", apply("div", a, b.args[0]))


def _neg(a):
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub":
        return apply("sub", a.args[1], a.args[0])


def _odd(name):
    return lambda a: apply("neg", apply(name, a.args[0])) if a.op == "neg" else None


def _even(name):
    return lambda a: apply(name, a.args[0]) if a.op == "neg" else None


def _pow(a, b):
    n = _number(b)
    if n is None:
        return None
    if n == 0.5:
        return apply("sqrt", a)
    if not abs(n) <= 16 or n != int(n):
        return None
    power, base, k = 1.0, a, abs(int(n))
    while k:  # repeated squaring
        power, base, k = (apply("mul", power, base) if k & 1 else power), apply("mul", base, base), k >> 1
    return apply("div", 1.0, power) if n < 0 else power


def _select(c, a, b):
    if _number(c) is not None:
        return a if _number(c) else b
    x, y = _number(a), _number(b)
    if a is b or (x is not None and y is not None and x == y and math.copysign(1, x) == math.copysign(1, y)):
        return a
    if _is(c, "not"):
        return apply("select", c.args[0], b, a)


def _and(a, b):
    for c, x in ((_number(a), b), (_number(b), a)):
        if c is not None:
            return x if c else False
    return a if a is b else None


def _or(a, b):
    for c, x in ((_number(a), b), (_number(b), a)):
        if c is not None:
            return True if c else x
    return a if a is b else None


def _same(a, b):
    return a if a is b else None


_RULES = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "neg": _neg, "pow": _pow, "select": _select,
    "and": _and, "or": _or, "not": lambda a: a.args[0] if a.op == "not" else None,
    "minimum": _same, "maximum": _same, "cos": _even("cos"), "cosh": _even("cosh"), "abs": _even("abs"),
    **{name: _odd(name) for name in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "cbrt", "sign")},
}  # fmt: skip


# --- walking -------------------------------------------------------------------------------------


def reachable(roots: Sequence[Expr]) -> list[Expr]:
    """Return every node that the roots (of one graph) depend on, arguments before results; the roots are included."""
    if not roots:
        return []
    wanted = bytearray(max(r.id for r in roots) + 1)
    for r in roots:
        wanted[r.id] = 1
    nodes = roots[0].graph.nodes[: len(wanted)]
    for x in reversed(nodes):
        if wanted[x.id]:
            for a in x.args:
                wanted[a.id] = 1
    return list(itertools.compress(nodes, wanted))


def substitute(roots: Sequence[Expr], table: dict[int, Expr]) -> list[Expr]:
    """Return the roots with some nodes replaced by others of the same graph.

    `table` is {id of the old node: new node}.
    """
    new: dict[int, Expr] = dict(table)
    for x in reachable(roots):
        if x.id not in new:
            args = tuple(new[a.id] for a in x.args)
            same = all(a is b for a, b in zip(args, x.args, strict=True))
            new[x.id] = x if same else x.graph.node(x.op, args, x.value, x.mask)
    return [new[r.id] for r in roots]


def copied(graph: Graph, roots: Sequence[Expr]) -> list[Expr]:
    """Return the roots copied into another graph.

    Bodies of loops have inputs of their own, so they serve in any graph.
    """
    new: dict[int, Expr] = {}
    for x in reachable(roots):
        new[x.id] = graph.node(x.op, tuple([new[a.id] for a in x.args]), x.value, x.mask)
    return [new[r.id] for r in roots]


def digest(roots: Sequence[Expr]) -> str:
    """A hash of the mathematics below the roots; it is the same for the same function in every process."""
    nodes = reachable(roots)
    place = {x.id: k for k, x in enumerate(nodes)}
    operations = [x.op for x in nodes]
    values = [x.value.digest() if x.op == "loop" else x.value for x in nodes]
    arities = [len(x.args) for x in nodes]
    arguments = [place[a.id] for x in nodes for a in x.args]
    everything = operations, values, arities, arguments, [place[r.id] for r in roots]
    return hashlib.sha256(repr(everything).encode()).hexdigest()
