"""Nonlinear decoupled feedback: every output obeys a linear equation of its own.

Equation numbers are those of Fu, Gonzalez & Lee, "Robotics" (1987), §5.6, after Freund (1982), "Fast nonlinear control
with arbitrary pole-placement for industrial robots and manipulators", IJRR 1(1). For a system ẋ = A(x) + B(x) u with
outputs y = C(x), the Lie derivatives N_A^K C_i along A are the derivatives of y_i by time, up to the order d_i at which
the inputs appear. They come from the compiler's derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np

from ..compile import Kernel, kernel
from ..dynamics.newton_euler import inverse_dynamics
from ..errors import ArgumentError, SolveError
from ..model.configuration import difference
from ..model.input_checks import vectors
from ..model.needs import need_coordinates, need_robot
from ..model.robot import Robot
from .gains import gains
from .laws import Law, law

__all__ = ["Decoupling", "decoupled", "decoupling_law"]

_ROUNDING = 1e-11  # |∇f · b| up to this part of |∇f| |b| counts as 0
_DEPENDENT = 1e-9  # the least singular value of D*, with rows of length 1, at which D* counts as regular


# --- an arm -----------------------------------------------------------------------------------------------------------


def _decoupled(robot, p, state, t, q, v, reference):
    if p.tracks:  # w = (a_d + α_1 v_d + α_0 q_d)/λ
        a = reference.a + p.alpha_1 * (reference.v - v) + p.alpha_0 * difference(robot, q, reference.q)
    else:
        a = p.scale * reference - p.alpha_1 * v - p.alpha_0 * q
    # (5.6-20): u = h + c - D (α_1 θ̇ + α_0 θ - λ w)
    return inverse_dynamics(robot, q, v, a), state


def decoupled(robot: Robot, reference, *, alpha_0, alpha_1, scale=None) -> Law:
    """Nonlinear decoupled feedback of an arm: each joint obeys θ̈ + α_1 θ̇ + α_0 θ = λ w, with an input w of its own.

        >>> step = decoupled(robot, np.ones(6), alpha_0=16.0, alpha_1=8.0, scale=16.0)      # w = 1
        >>> follow = decoupled(robot, np.ones(6), alpha_0=16.0, alpha_1=8.0)                # rest at θ = 1
        >>> tau, _ = follow(robot, None, 0.0, q, v)

    With a `scale` λ, `reference` is the input w: an array (nv,) or a function of t. Without it, the law follows
    `reference`, an array q (nq,), a `Trajectory` or a function of t, by w = (θ̈_d + α_1 θ̇_d + α_0 θ_d)/λ; then this is
    computed torque with kp = α_0 and kd = α_1. The gains [1/s²] and [1/s] are numbers or (nv,).

    Reference: Fu, Gonzalez & Lee (1987), (5.6-14) to (5.6-24); the term D*_i u at the end of (5.6-21)
    does not belong there.
    """
    caller = "decoupled"
    need_robot(robot, caller)
    a_0, a_1 = (gains(x, robot.nv, f"{caller}: {name}") for x, name in ((alpha_0, "alpha_0"), (alpha_1, "alpha_1")))
    if scale is None:
        return law(_decoupled, reference=reference, model=robot, name=caller, tracks=True, alpha_0=a_0, alpha_1=a_1)
    need_coordinates(robot, "inputs w of decoupled joints are")
    scale = gains(scale, robot.nv, f"{caller}: scale")
    if not callable(reference):
        reference = vectors(reference, robot.nv, "reference", caller)
    return law(
        _decoupled, reference=reference, follows=None, model=robot, name=caller,
        tracks=False, alpha_0=a_0, alpha_1=a_1, scale=scale,
    )  # fmt: skip


# --- any system that is affine in its inputs --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Decoupling:
    """Decoupled feedback of ẋ = A(x) + B(x) u, y = C(x), as kernels of x (n,); `decoupling_law` makes one.

    - `degrees`: the relative degrees d_i, the first derivative of y_i in which the inputs appear.
    - `outputs(x)`: (m, r) with y_i and its derivatives by time in row i, up to the order d_i - 1, and zeros after them;
      r is the largest degree.
    - `bias(x)` and `matrix(x)`: C* (m,) and D* (m, m) of y^(d) = C*(x) + D*(x) u.
    - `law(x, w, alpha, scale)`: u (m,) for inputs w (m,). Row i of `alpha` (m, r) has α_0 ... α_{d-1} and zeros after
      them, and `scale` (m,) has all λ_i; both have defaults. Where D* is singular, u is not finite in that sample.
    """

    degrees: tuple[int, ...]
    outputs: Kernel = field(repr=False)
    bias: Kernel = field(repr=False)
    matrix: Kernel = field(repr=False)
    law: Kernel = field(repr=False)


def decoupling_law(
    A: Callable, B: Callable, C: Callable, x, *, poles=None, alpha: Sequence | None = None
) -> Decoupling:
    """Feedback that makes y_i^(d_i) + α_{d-1} y_i^(d_i - 1) + ... + α_0 y_i = λ_i w_i of ẋ = A(x) + B(x) u, y = C(x).

    `A`, `B` and `C` are NumPy functions of one state x (n,), as for kernels; they give (n,), (n, m) and (m,). `x` has
    states (..., n) at which the law is going to be used: the relative degrees are found there, and D* must be regular
    there. An elastic joint has degree 4:

        >>> def A(x): return np.stack([x[1], x[2] - x[0] - np.sin(x[0]), x[3], x[0] - x[2]])
        >>> def B(x): return np.array([[0.0], [0.0], [0.0], [1.0]])
        >>> def C(x): return x[:1]
        >>> found = decoupling_law(A, B, C, [0.1, 0.2, 0.3, 0.4], poles=2.0)
        >>> found.degrees
        (4,)
        >>> u = found.law([0.1, 0.2, 0.3, 0.4], [1.0])

    Give `poles` ω [1/s], one number or (m,), for (d/dt + ω)^d y = ω^d w; or `alpha`, for each output its d_i numbers,
    α_0 first. λ_i is α_0, so that y settles at w; the input `scale` of the kernel changes it. `SolveError` is raised if
    the inputs do not reach an output, or if D* is singular. Reference: Fu, Gonzalez & Lee (1987), (5.6-1) to (5.6-12).
    """
    states = _states(x)
    A, B, C, m = _checked(A, B, C, states)
    derivatives, rows = [], []
    for i in range(m):
        found, row = _lie_derivatives(A, B, C, states, i)
        derivatives.append(found)
        rows.append(row)
    degrees = tuple(len(found) - 1 for found in derivatives)
    system = _made(states.shape[1], derivatives, rows, _coefficients(degrees, poles, alpha))
    _need_regular(system, states)
    return system


def _states(x) -> np.ndarray:
    """The states as (N, n), finite."""
    found = np.atleast_2d(np.array(x, float))
    if found.ndim < 2 or found.size == 0 or not np.isfinite(found).all():
        raise ArgumentError(f"decoupling_law: x must be finite states (..., n), got shape {np.shape(x)}")
    return found.reshape(-1, found.shape[-1])


def _checked(A, B, C, states: np.ndarray) -> tuple[Kernel, Kernel, Kernel, int]:
    """The functions as kernels of x, and the number m of inputs and outputs."""
    for name, function in (("A", A), ("B", B), ("C", C)):
        if not callable(function):
            raise ArgumentError(f"decoupling_law: {name} must be a function of x, got {type(function).__name__}")
    n = states.shape[1]
    made = [kernel(lambda x, f=f: np.stack(list(f(x))), x=n) for f in (A, B, C)]
    shapes = [f(states[0]).shape for f in made]
    m = shapes[2][0] if len(shapes[2]) == 1 else 0
    if shapes[0] != (n,) or m == 0 or shapes[1] != (n, m):
        raise ArgumentError(
            f"decoupling_law: A, B, C give shapes {shapes[0]}, {shapes[1]}, {shapes[2]}; with states of {n} numbers "
            f"they must be ({n},), ({n}, m), (m,): as many outputs as inputs"
        )
    return made[0], made[1], made[2], m


def _lie_derivatives(A: Kernel, B: Kernel, C: Kernel, states: np.ndarray, i: int) -> tuple[list[Kernel], Kernel]:
    """The Lie derivatives N_A^K C_i, K = 0 ... d_i, and the row D*_i of `matrix`, as kernels of x."""
    n = states.shape[1]
    found = [kernel(lambda x: C(x)[i], x=n)]
    for _ in range(n):
        last = found[-1]
        slope = last.jacobian("x")
        # (5.6-2): N_A^K C_i = [∂/∂x N_A^{K-1} C_i] A
        found.append(kernel(lambda x, last=last: last.jvp(x, A(x))[1], x=n))
        if _reached(slope(states), B(states)):
            return found, kernel(lambda x, slope=slope: slope(x) @ B(x), x=n)
    raise SolveError(
        f"decoupling_law: none of the first {n} derivatives of output {i} depends on an input at the states given"
    )


def _reached(slopes: np.ndarray, B: np.ndarray) -> bool:
    """Whether a product of gradients (N, n) and columns of B (N, n, m) is more than rounding at some state."""
    products = np.abs(np.einsum("si,sij->sj", slopes, B))
    sizes = np.linalg.norm(slopes, axis=1)[:, None] * np.linalg.norm(B, axis=1)
    return bool((products > _ROUNDING * sizes).any())


def _coefficients(degrees: tuple[int, ...], poles, alpha) -> np.ndarray:
    """The numbers α (m, r) of all outputs, α_0 first, with zeros after α_{d-1}."""
    m, r = len(degrees), max(degrees)
    if (poles is None) == (alpha is None):
        raise ArgumentError("decoupling_law: give either poles or alpha")
    if alpha is None:
        omega = np.broadcast_to(gains(poles, m, "decoupling_law: poles"), m)
        rows = [[comb(d, k) * w ** (d - k) for k in range(d)] for d, w in zip(degrees, omega, strict=True)]
    else:
        rows = [np.atleast_1d(np.array(row, float)) for row in alpha]
        if [row.shape for row in rows] != [(d,) for d in degrees] or not all(np.isfinite(row).all() for row in rows):
            raise ArgumentError(f"decoupling_law: alpha must have {degrees} finite numbers for the {m} outputs")
    return np.stack([np.pad(row, (0, r - len(row))) for row in rows])


def _made(n: int, derivatives: list[list[Kernel]], rows: list[Kernel], alpha: np.ndarray) -> Decoupling:
    """The kernels of the feedback."""
    m, r = alpha.shape
    outputs = kernel(lambda x: np.stack([_padded([f(x) for f in found[:-1]], r) for found in derivatives]), x=n)
    bias = kernel(lambda x: np.stack([found[-1](x) for found in derivatives]), x=n)
    matrix = kernel(lambda x: np.stack([row(x) for row in rows]), x=n)

    def feedback(x, w, alpha=alpha, scale=alpha[:, 0]):
        # (5.6-4) to (5.6-9): u = -D*⁻¹ (C* + M* - Λ w)
        return np.linalg.solve(matrix(x), scale * w - np.sum(alpha * outputs(x), axis=1) - bias(x))

    found = kernel(feedback, x=n, w=m, alpha=(m, r), scale=m)
    return Decoupling(tuple(len(f) - 1 for f in derivatives), outputs, bias, matrix, found)


def _padded(values: list, size: int):
    return np.stack([*values, *[0.0] * (size - len(values))])


def _need_regular(system: Decoupling, states: np.ndarray) -> None:
    """Raise `SolveError` if the decoupling matrix is singular at one of the states."""
    D = system.matrix(states)
    lengths = np.linalg.norm(D, axis=-1, keepdims=True)
    least = np.linalg.svd(D / np.where(lengths > 0, lengths, 1.0), compute_uv=False)[:, -1]
    if not (least > _DEPENDENT).all():
        k = int(np.argmin(least))
        raise SolveError(
            f"decoupling_law: the decoupling matrix D* of the outputs with relative degrees {system.degrees} is "
            f"singular at state {k}, x = {states[k].tolist()}; choose other outputs, or add integrators to inputs"
        )
