"""The equations of motion in inner products of screws, for robots of any size: Park, Bobrow & Ploen (1995), §4.

Numbers of equations are those of PBP = Park, Bobrow & Ploen (1995), "A Lie group formulation of robot dynamics", IJRR
14(6), here (40) and (60)-(64). A_i is the screw of joint i and D_i the inertia of body i, both seen from the base at
home. <x, y>_l is xᵀ D_l y, and Ad_l^i = Ad(exp(-A_l q_l) ··· exp(-A_i q_i)) along the path from joint i to body l, or 1
if that path is empty. Then

    m_ij     = Σ_l <Ad_l^{i+1} A_i, Ad_l^{j+1} A_j>_l                                                     (40)
    h_abc    = Σ_l <Ad_l^b [Ad_{b-1}^{a+1} A_a, A_b], Ad_l^{c+1} A_c>_l,   a before b
    φ_k      = -Σ_l <Ad_l^{k+1} A_k, Ad_l^1 γ>_l,   γ = (0, g)

where the sums are over the bodies l that all of the joints carry, and c_kj = Σ_i Γ_ijk q̇_i, where Γ_ijk is half a sum
of three h, (55)-(57). For two joints, with h = h_121 and k = h_122, these are c_11 = h q̇_2, c_12 = h q̇_1 + k q̇_2,
c_21 = -h q̇_1 and c_22 = 0. They are (61)-(64) without the slips of the print, where c_21 has the wrong sign and all
entries have one rate too many.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..compile.front.inline import eagerly
from ..dynamics.lagrangian import screws_and_slopes
from ..errors import ArgumentError
from ..kinematics.forward import body_placements
from ..lazy import cached_property
from ..lie import inertia, se3
from ..model.configuration import random_configuration
from ..model.robot import Robot
from . import page
from .expanded import Equations, bases, clean, friction, prove, with_parameters, written
from .motion import motions, require_small, space_screws_and_inertias
from .naming import Symbols, require_distinct
from .notation import Mark, Text
from .parameters import Parameters, filled, named, numbers_of, on_axes
from .trig import variable

__all__ = ["Factored", "InnerProduct", "factored_equations"]

_MOST_TERMS = 300  # if all h together have more terms, they are not written out

Twist = tuple[int, ...]
"""A twist of a body l in terms of joints, which are counted from 0: (i,) is Ad_l^{i+1} A_i, (a, b) is
Ad_l^b [Ad_{b-1}^{a+1} A_a, A_b], and () is Ad_l^1 γ."""


class InnerProduct(sympy.Symbol):
    """A SymPy symbol for Σ_l <x, y>_l over the `bodies` l. Its `twists` are x and y; `mark` says how it is written."""

    __slots__ = ("bodies", "mark", "twists")
    bodies: tuple[int, ...]
    twists: tuple[Twist, Twist]
    mark: Mark

    def __new__(cls, bodies: tuple[int, ...], x: Twist, y: Twist, mark: Mark) -> InnerProduct:
        self = super().__new__(cls, Text().mark(mark))
        self.bodies, self.twists, self.mark = bodies, (x, y), mark
        return self


def _inner(robot: Robot, joints: set[int], x: Twist, y: Twist) -> sympy.Expr:
    """Return Σ_l <x, y>_l over the bodies l that all the joints carry.

    It is one symbol with a summation sign if there are more than two such bodies in a serial chain, else a sum of
    symbols.
    """
    bodies = tuple(l for l in range(len(robot.body_names)) if joints <= set(robot.path(l)))
    serial = np.array_equal(robot.parents, np.arange(len(robot.body_names)) - 1)
    if serial and len(bodies) > 2:
        sign = ("subsup", "sum", ("row", "l", "=", str(bodies[0] + 1)), str(bodies[-1] + 1))
        return InnerProduct(bodies, x, y, ("row", sign, _mark(robot, None, x, y)))
    return sympy.Add(*(InnerProduct((l,), x, y, _mark(robot, l, x, y)) for l in bodies))


# --- how they are written ---------------------------------------------------------------------------------------------


def _mark(robot: Robot, l: int | None, x: Twist, y: Twist) -> Mark:
    """Return the mark <x, y>_l, where l is the letter itself if it is None."""
    return ("sub", ("row", "<", _twist(robot, l, x), ",", _twist(robot, l, y), ">"), _label(l))


def _label(l: int | None) -> str:
    """Return the number of a joint or body, counted from 1, or the letter l for None."""
    return "l" if l is None else str(l + 1)


def _twist(robot: Robot, l: int | None, x: Twist) -> Mark:
    """Return the mark of a `Twist` x of body l."""
    if not x:
        return _moved(robot, l, -1, "gamma")
    if len(x) == 1:
        return _moved(robot, l, x[0], _screw(x[0]))
    a, b = x
    bracket = ("row", "[", _moved(robot, int(robot.parents[b]), a, _screw(a)), ",", _screw(b), "]")
    return ("row", ("subsup", "Ad", _label(l), _label(b)), bracket)


def _screw(i: int) -> Mark:
    """Return the mark A_i."""
    return ("sub", "A", _label(i))


def _moved(robot: Robot, l: int | None, i: int, twist: Mark) -> Mark:
    """Return the mark Ad_l^{i+1} twist, where i + 1 stands for the joint after i on the way to l."""
    if l == i:
        return twist
    after = i + 1 if l is None else next(j for j in robot.path(l) if int(robot.parents[j]) == i)
    return ("row", ("subsup", "Ad", _label(l), _label(after)), twist)


# --- the equations ----------------------------------------------------------------------------------------------------


def _power(i: str) -> Mark:
    """Return the mark of the exponential exp(-A_i q_i)."""
    return ("sup", "e", ("row", "-", ("sub", "A", i), ("sub", "q", i)))


_DEFINITIONS = [
    page.Line(("row", ("sub", ("row", "<", "x", ",", "y", ">"), "l"), "=", ("sup", "x", "T"), ("sub", "D", "l"), "y")),
    page.Line(("row", ("subsup", "Ad", "l", "i"), "=", "Ad", "(", _power("l"), "⋯", _power("i"), ")")),
    page.Line(("row", "gamma", "=", "(", "0", ",", "g", ")")),
]


@dataclass(frozen=True, eq=False, repr=False)
class Factored(Equations):
    """`Equations` in inner products of screws: M, C and φ of a robot of any size.

    C is written in symbols h. `products` defines each h by `InnerProduct`s, and `expanded` writes it out for small
    robots. `screws` are the A_i (6, 1) and `inertias` the D_i (6, 6) that define the inner products.
    """

    screws: tuple[sympy.ImmutableMatrix, ...]
    inertias: tuple[sympy.ImmutableMatrix, ...]
    products: dict[sympy.Symbol, sympy.Expr]
    expanded: dict[sympy.Symbol, sympy.Expr]

    @cached_property
    def _in_products(self) -> tuple[list[InnerProduct], Callable]:
        """The inner products in M and φ, and the function that evaluates M, C, φ and friction.

        Its arguments are the values of q̇, of the parameters, of these inner products, and of the symbols h.
        """
        atoms: list[Any] = sorted(self.M.atoms(InnerProduct) | self.phi.atoms(InnerProduct), key=str)
        names = {atom: sympy.Dummy() for atom in atoms}
        variables = (self.symbols.dq, [*self.symbols.parameters], [*names.values()], [*self.products])
        formulas = [A.xreplace(names) for A in (self.M, self.C, self.phi, self.friction)]
        return atoms, sympy.lambdify(variables, formulas, "numpy", cse=True, dummify=True)

    def _matrices(self, q, v, given: Mapping) -> list:
        atoms, function = self._in_products
        of_h = [sorted(e.atoms(InnerProduct), key=str) for e in self.products.values()]  # the terms of each h
        robot = with_parameters(self.robot, self.symbols, given)
        found = _evaluated(robot, q, [*atoms, *itertools.chain(*of_h)])
        h = [sum(found[atom] for atom in parts) for parts in of_h]
        return function(v, [*given.values()], [found[atom] for atom in atoms], h)

    def _sections(self) -> list[page.Section]:
        screws = [page.Line(_screw(i), (A.T,)) for i, A in enumerate(self.screws)]
        inertias = [page.Line(("sub", "D", _label(i)), (D,)) for i, D in enumerate(self.inertias)]
        products = [
            page.Line(("symbol", h), (e, self.expanded[h]) if h in self.expanded else (e,))
            for h, e in self.products.items()
        ]
        return [
            *super()._sections(),
            *([page.Section("Inner products", products)] if products else []),
            page.Section("Screws and inertias, seen from the base at home", [*_DEFINITIONS, *screws, *inertias]),
        ]


def factored_equations(robot: Robot, symbols: Symbols) -> Factored:
    """Return the equations of a robot in inner products, verified against the kernels."""
    moved = on_axes(robot)
    numbers = filled(named(moved, numbers_of(moved)), symbols.meaning)
    write = functools.partial(written, symbols=symbols, bases=())
    screws, inertias = space_screws_and_inertias(moved, numbers)
    h = _products(robot)
    require_distinct([*symbols.variables, *symbols.ddq, *(symbol for symbol, _ in h.values())])
    found = Factored(
        robot=robot,
        symbols=symbols,
        M=_metric(robot) + sympy.diag(*(write(0 * variable(0) + x) for x in numbers.armature)),
        C=_coriolis(robot, h, symbols.dq),
        phi=_gravity(robot),
        friction=friction(symbols, numbers),
        screws=tuple(sympy.ImmutableMatrix([write(x) for x in A]) for A in screws),
        inertias=tuple(_symmetric(D, write) for D in inertias),
        products=dict(h.values()),
        expanded=_expanded(moved, numbers, symbols, h),
    )
    prove(found)
    return found


def _symmetric(D: np.ndarray, write: Callable) -> sympy.ImmutableMatrix:
    """Return a symmetric matrix D (6, 6) in SymPy, written from its upper triangle."""
    upper = {(i, j): write(D[i, j]) for i in range(6) for j in range(i, 6)}
    return sympy.ImmutableMatrix(6, 6, lambda i, j: upper[min(i, j), max(i, j)])


def _coordinates(robot: Robot) -> list[tuple[int, sympy.Expr]]:
    """Return, for every body, the coordinate that moves it, and the multiplier of a mimic, which is 1 for others."""
    scales = [robot.mimics[i].multiplier if i in robot.mimics else 1 for i in range(len(robot.body_names))]
    return [(k, sympy.nsimplify(x, rational=True)) for k, x in zip(robot.layout.v_start, scales, strict=False)]


def _metric(robot: Robot) -> sympy.ImmutableMatrix:
    """Return M without armature, PBP (40)."""
    M = sympy.zeros(robot.nv)
    for (a, (i, x)), (b, (j, y)) in itertools.product(enumerate(_coordinates(robot)), repeat=2):
        M[i, j] += x * y * _inner(robot, {a, b}, (min(a, b),), (max(a, b),))
    return M.as_immutable()


def _gravity(robot: Robot) -> sympy.ImmutableMatrix:
    """Return φ_k = -Σ_l <Ad_l^{k+1} A_k, Ad_l^1 γ>_l: gravity acts as if the base accelerated against it."""
    phi = sympy.zeros(robot.nv, 1)
    for a, (i, x) in enumerate(_coordinates(robot)):
        phi[i] -= x * _inner(robot, {a}, (a,), ())
    return phi.as_immutable()


# --- Christoffel symbols ----------------------------------------------------------------------------------------------


def _products(robot: Robot) -> dict[tuple[int, int, int], tuple[sympy.Symbol, sympy.Expr]]:
    """Return {(a, b, c): (symbol, h_abc)} of those h that are not always 0, which two random configurations tell."""
    found = {}
    for last in range(len(robot.body_names)):
        path = robot.path(last)
        for a, b, c in itertools.product(path, path, path):
            if a < b and last in (b, c):
                found[a, b, c] = _inner(robot, {b, c}, (a, b), (c,))
    rng = np.random.default_rng(0)
    atoms = sorted(set().union(*(e.atoms(InnerProduct) for e in found.values())), key=str)
    samples = [_evaluated(robot, random_configuration(robot, rng=rng), atoms) for _ in range(2)]
    least = 1e-12 * max((abs(x) for values in samples for x in values.values()), default=0.0)
    nonzero = {abc: e for abc, e in found.items() if any(abs(e.xreplace(values)) > least for values in samples)}
    return {abc: (_symbol(robot, abc), e) for abc, e in nonzero.items()}


def _symbol(robot: Robot, abc: tuple[int, int, int]) -> sympy.Symbol:
    """Return the symbol of h_abc, such as h121, or h1_12_1 for robots of ten bodies or more."""
    return sympy.Symbol("h" + ("" if len(robot.body_names) < 10 else "_").join(str(i + 1) for i in abc))


def _christoffel(h: dict, i: int, j: int, k: int) -> sympy.Expr:
    """Return Γ_ijk of joints i <= j and k by the three cases of PBP (55)-(57); it is 0 if they carry no common body."""

    def of(a: int, b: int, c: int) -> sympy.Expr:
        return h[a, b, c][0] if (a, b, c) in h else sympy.Integer(0)

    if k <= i:  # (55)
        return (of(k, i, j) + of(k, j, i) + of(i, j, k)) / 2
    if k <= j:  # (56)
        return (of(k, j, i) + of(i, j, k) - of(i, k, j)) / 2
    return (of(i, j, k) - of(i, k, j) - of(j, k, i)) / 2  # (57)


def _coriolis(robot: Robot, h: dict, rates: tuple[sympy.Symbol, ...]) -> sympy.ImmutableMatrix:
    """Return C_kj = Σ_i Γ_ijk q̇_i."""
    of_rates: dict = defaultdict(list)
    for (k, (K, x)), (j, (J, y)), (i, (I, z)) in itertools.product(enumerate(_coordinates(robot)), repeat=3):
        of_rates[K, J, I].append(x * y * z * _christoffel(h, min(i, j), max(i, j), k))
    C = sympy.zeros(robot.nv)
    for (K, J, I), parts in of_rates.items():
        C[K, J] += rates[I] * sympy.factor_terms(sympy.Add(*parts))
    return C.as_immutable()


# --- numbers, and formulas, of inner products -------------------------------------------------------------------------


def _evaluated(robot: Robot, q, atoms: list[InnerProduct]) -> dict[InnerProduct, float]:
    """Return the values of the inner products at a configuration."""
    with eagerly():
        space = robot.reframed("space")
        of_bodies, T = screws_and_slopes(space, q), body_placements(space, q)
        gamma = np.concatenate([np.zeros(3), robot.gravity])
        D = [inertia.matrix(J) for J in space.inertias]

        def twist(l: int, x: Twist) -> np.ndarray:
            u, t = of_bodies[l]
            return t[x] if len(x) == 2 else u[x[0]] if x else se3.Ad_inv_action(T[l], gamma)

        return {e: float(sum(twist(l, e.twists[0]) @ D[l] @ twist(l, e.twists[1]) for l in e.bodies)) for e in atoms}


def _expanded(moved: Robot, numbers: Parameters, symbols: Symbols, h: dict) -> dict:
    """Return {symbol: h_abc written out}, with h_abc = Σ_l <∂u_a/∂q_b, u_c>_l by PBP (53), or {} if they are long."""
    if moved.mimics:
        return {}
    found = {}
    try:
        bodies = motions(moved, numbers, _MOST_TERMS)
        for (a, b, c), (symbol, _) in h.items():
            total = 0 * variable(0)
            for body in bodies:
                if {a, b, c} <= set(body.twists):
                    slope = np.array([(0 * variable(0) + x).slope(b) for x in body.twists[a]])
                    total = total + slope @ (body.inertia @ body.twists[c])
            found[symbol] = total
            require_small(moved, found.values(), _MOST_TERMS)
    except ArgumentError:
        return {}
    shown = clean(np.array([*found.values()], dtype=object))
    return {symbol: written(f, symbols, bases(moved)) for symbol, f in zip(found, shown, strict=True)}
