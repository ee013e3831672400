"""Gradients of a cost over a whole run: by where it starts, by gains, by numbers of the robot and of forces.

Derivatives are taken in reverse through the loop of the run, which needs the states of all N steps. They are kept where
`MOST_KEPT` bytes suffice. A longer run is cut into blocks: going forward, only the states at the starts of blocks are
kept; going back, the steps of one block at a time are done once more and kept. With blocks of √N steps, this takes
memory for about 2 √N states, for each run that is computed at the same time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, scan
from ..control.assembled import Numbers, Parts, assembled_kernel
from ..errors import ArgumentError, DerivativeError
from ..model.needs import need_robot
from ..model.robot import Robot
from .advance import kernel_inputs
from .integrators import Integrator
from .rollouts import RunPlan, run_inputs, start_of, stepper, through_block
from .running import divisor_near, start_of_run, steps_of
from .setups import Setup, Surroundings, set_up

__all__ = ["Gradient", "gradient"]

MOST_KEPT = 1 << 24  # bytes for the states of the runs that one thread computes at the same time
_COSTS = "t, q, v, tau", "t, q, v, tau, reference"  # the arguments that a cost may have
_VECTOR = 64  # bytes of a vector, which has one number of each of these runs


class Gradient(NamedTuple):
    """A cost `value` (...,), and its derivatives {name: (..., *shape of what is named)}."""

    value: np.ndarray
    by: Mapping[str, np.ndarray]


def gradient(
    cost: Callable | None, robot: Robot, controller=None, *, by: str | Sequence[str],
    final_cost: Callable | None = None, q=None, v=None, duration, dt, integrator: str | Integrator = "semi_implicit",
    **surroundings,
) -> Gradient:  # fmt: skip
    """The cost ∫ cost(t, q, v, τ) dt + final_cost(q, v) of a simulated run, and its exact gradient.

        >>> law = aj.control.pd(np.zeros(6), kp=50.0, kd=5.0)
        >>> found = gradient(lambda t, q, v, tau: q @ q, robot, law, by=("kp", "kd"), q=q, duration=0.1, dt=0.001)
        >>> sorted(found.by)
        ['kd', 'kp']

    Parameters
    ----------
    cost, final_cost
        NumPy functions of one instant that give one number: cost(t, q, v, tau) is summed over the steps, times dt, and
        final_cost(q, v) is taken at the end. One of them may be None. A cost with a fifth argument,
        cost(t, q, v, tau, reference), also gets what the law follows at that instant, such as a `Target`: the error is
        `reference.q - q`.
    by
        What to differentiate by: "q" and "v" at the start, numbers of the law ("kp"), numbers of the robot ("inertias",
        "damping", ...: see `robot.liftable`), and numbers of forces and changes ("force0_stiffness").
    q, v, duration, dt, integrator, surroundings
        As for `simulate`: `forces`, `changes`, `loops`, `base`, `lift`, `stop`, `sensors`.

    Leading axes are a batch, one gradient for each run. The derivative is that of the computation itself, to rounding.
    Derivatives by q are by its numbers; a run takes four to six times as long as without a gradient. The integrators
    "adaptive" and "variational" have no gradient, because motion decides how often they iterate; all others have one.
    """
    if cost is None and final_cost is None:
        raise ArgumentError("gradient: give a cost, a final_cost, or both")
    for f in (cost, final_cost):
        if f is not None and not callable(f):
            raise ArgumentError(f"gradient: cost and final_cost must be functions or None; got {type(f).__name__}")
    follows = cost is not None and _takes(cost, "cost", _COSTS) == _COSTS[1]
    if final_cost is not None:
        _takes(final_cost, "final_cost", ("q, v",))
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, Sequence) else (by,)
    around = _with_lift(robot, Surroundings.of(surroundings, "gradient"), names)
    setup = set_up(robot, controller, dt, integrator, 1, around)
    if follows and (setup.law is None or setup.law.reference is None):
        raise ArgumentError("gradient: cost has the argument 'reference', but there is no law that follows one")
    steps = steps_of(duration, setup)
    size = _size_of_blocks(setup.plan, steps)
    setup = setup.recording(size)
    start = start_of_run(setup, q, v)
    inputs = _inputs_of(setup, names)
    parts = (None if f is None else Parts(f) for f in (cost, final_cost))
    try:
        compiled = _cost_kernel(setup.plan, *parts, follows).value_and_gradient(*inputs.values())
        found = compiled(**kernel_inputs(setup, start, steps // size))
    except DerivativeError as error:
        raise DerivativeError(
            f"gradient: {error}. The integrators 'adaptive' and 'variational' have such loops; 'semi_implicit', 'rk4', "
            "'rkmk4', 'implicit' and dry_friction() have gradients"
        ) from None
    return Gradient(found[0], Numbers({name: getattr(found, k) for name, k in inputs.items()}))


def _takes(function: Callable, name: str, forms: Sequence[str]) -> str:
    """That one of the forms, such as "q, v", of which a function has the arguments; a default is none of them."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function in C need not have one
        return forms[0]
    for form in forms if "reference" not in signature.parameters else forms[::-1]:
        try:
            signature.bind(*form.split(", "))
        except TypeError:
            continue
        return form
    wanted = " or ".join(f"{name}({form})" for form in forms)
    raise ArgumentError(f"gradient: {name} must be a function {wanted}; it takes {signature}")


def _size_of_blocks(plan: RunPlan, steps: int) -> int:
    """The number of steps in a block: 1 if the states of all steps are kept."""
    robot = plan.plant.robot
    numbers = robot.nq + robot.nv + sum(prod(shape) for shape in (*plan.state.shapes, *plan.memory.shapes))
    if steps * numbers * _VECTOR <= MOST_KEPT:
        return 1
    return divisor_near(steps, isqrt(steps))


def _with_lift(robot: Robot, around: Surroundings, names: Sequence[str]) -> Surroundings:
    """The surroundings, in which the robot's numbers that are differentiated by are inputs."""
    need_robot(robot, "gradient")
    if around.lift is not None and not isinstance(around.lift, Mapping):
        return around  # `set_up` says what is wrong
    own, known = dict(around.lift or {}), robot.liftable
    wanted = [name.removeprefix("lift_") for name in names if isinstance(name, str)]
    return replace(around, lift=own | {name: known[name] for name in wanted if name in known and name not in own})


def _inputs_of(setup: Setup, names: Sequence[str]) -> dict[str, str]:
    """{name: the input of the kernel that it is}."""
    given = {*setup.numbers, "q", "v"}
    short = {k.removeprefix("law_").removeprefix("lift_"): k for k in sorted(given)} | {k: k for k in given}
    for name in names:
        if not isinstance(name, str) or name not in short:
            plain = {k for k in short if not k.startswith(("law_", "lift_"))} | set(setup.robot.liftable)
            raise ArgumentError(
                f"gradient: there is no {name!r:.60} to differentiate by; there are {', '.join(sorted(plain))}"
            )
        if {f"law_{name}", f"lift_{name}"} <= given:
            raise ArgumentError(
                f"gradient: both the law and the robot have '{name}'; write by='law_{name}' or by='lift_{name}'"
            )
    if not names:
        raise ArgumentError("gradient: by needs a name, such as 'q' or a number of the law")
    return {name: short[name] for name in names}


@lru_cache(maxsize=64)
def _cost_kernel(plan: RunPlan, cost: Parts | None, final_cost: Parts | None, follows: bool) -> Kernel:
    """The kernel of the cost of a run; `follows` tells that the cost takes the reference."""

    def body(given: dict[str, Any]):
        advanced = stepper(plan, given)

        def step(k, carry, reference):
            now, total = carry
            if cost is not None:
                t = given["t_0"] + k * given["dt"]
                tau, _ = plan.control(given, now.state, t, now.q, now.v, reference)
                more = (plan.followed(t, reference),) if follows else ()
                total = total + _number(cost.function(t, now.q, now.v, tau, *more), "cost") * given["dt"]
            return advanced(k, now, reference), total

        def block(carry, i):
            return through_block(plan, given, i, carry, step), None

        (end, total), _ = scan(block, (start_of(plan, given), 0.0), given["blocks"])
        return total if final_cost is None else total + _number(final_cost.function(end.q, end.v), "final_cost")

    return assembled_kernel(
        "run_cost", run_inputs(plan), body, f"The cost of a run of robot '{plan.plant.robot.name}'."
    )


def _number(x, name: str):
    if np.shape(x) != ():
        raise ArgumentError(f"gradient: {name} must give one number; it gives shape {np.shape(x)}")
    return x
