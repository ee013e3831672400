"""`Law`: a control law as frozen data and a function of one instant, to run alone, in batches and in simulations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..compile.front.specialisation import record_class
from ..compile.graph.nested import leaves, rebuild, structure
from ..compile.graph.tracing import is_traced
from ..errors import ArgumentError
from ..model.configuration import integrate, neutral
from ..model.needs import need_robot
from ..model.robot import Robot
from .assembled import (
    Input,
    Numbers,
    Parts,
    Template,
    arrays_of,
    assembled_kernel,
    label_of,
    parted,
    with_numbers,
)
from .references import (
    PoseTarget,
    Target,
    check_reference,
    form,
    is_function,
    is_sampled,
    need_arguments,
    need_fitting,
    reference_at,
)
from .repeatability import need_repeatable

__all__ = ["NO_REFERENCE", "Control", "Law", "LawPlan", "Wrapped", "as_law", "law", "wrapped"]


NO_REFERENCE = (
    "the law has no reference; law.replace(reference=...) gives it one, and a law that needs none is made with "
    "control.law(..., follows=None)"
)


class Control(NamedTuple):
    """What a law gives: the joint forces tau (..., nv) [N m, N], and its state after this instant."""

    tau: Any
    state: Any


class LawPlan(NamedTuple):
    """What the machine code of a law depends on."""

    name: str
    parts: Parts
    robot: Robot  # the robot that the law computes with
    state: Template
    reference: Template

    def control(self, p, state, t, q, v, reference) -> Control:
        """One instant, on numbers or traced values; p has the parameters as attributes."""
        if is_traced(q):
            _need_repeatable(self)
        found = self.parts.function(self.robot, p, state, t, q, v, reference)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise ArgumentError(
                f"{self.name}: the function of a law must return a pair (tau, state); got {_shown(found)}"
            )
        tau, new = found
        if not _is_numeric(tau):
            raise ArgumentError(f"{self.name}: the controller must return tau ({self.robot.nv},); got {_shown(tau)}")
        if Template(new) != self.state:
            raise ArgumentError(
                f"{self.name}: the function of a law must return a state like the one it is given, "
                f"{self.state.described}; it returned {Template(new).described}"
            )
        if np.shape(tau) != (self.robot.nv,):
            raise ArgumentError(
                f"{self.name}: the law gives tau of shape {np.shape(tau)}; robot '{self.robot.name}' needs "
                f"({self.robot.nv},)"
            )
        return Control(tau, new)


def _is_numeric(x) -> bool:
    if isinstance(x, list | tuple):
        return all(map(_is_numeric, x))
    return is_traced(x) or np.asarray(x).dtype.kind in "biuf"


def _shown(x) -> str:
    """A result that is wrong, for messages."""
    return "None" if x is None else f"a {type(x).__name__} of shape {np.shape(x)}" if _is_numeric(x) else f"{x!r:.60}"


@lru_cache(maxsize=256)
def _need_repeatable(plan: LawPlan) -> None:
    """Raise `TraceError` if the law's function gives different results for the same inputs."""
    robot, numbers = plan.robot, {name: np.full(core, 0.5) for name, core in plan.parts.cores}

    def ask(t, q, v):
        p, reference = plan.parts.namespace(numbers), plan.reference.tree
        if isinstance(reference, Target):
            reference = reference._replace(q=neutral(robot))
        if isinstance(reference, PoseTarget):
            reference = reference._replace(T=np.eye(4))
        return plan.parts.function(robot, p, plan.state.tree, t, q, v, reference)

    def instant(t: float):
        v = np.linspace(t, 2 * t, robot.nv)
        return t, integrate(robot, neutral(robot), v), v

    need_repeatable(plan.name, plan.parts.function, ask, instant(0.25), instant(0.375))


class _Ready(NamedTuple):
    """A law that is compiled for a robot."""

    robot: Robot | None  # as it was given
    model: Robot  # the robot that the law computes with
    kernel: Kernel
    numbers: tuple[np.ndarray, ...]
    reference: list | None  # the leaves of the law's own reference, if it has one that is constant
    has_state: bool


@dataclass(frozen=True, eq=False, repr=False)
class Law:
    """A control law: `tau, state = law(robot, state, t, q, v, reference)`; `law` and its relatives make one.

        pd = control.pd(q_goal, kp=100.0, kd=20.0)
        tau, _ = pd(robot, None, 0.0, q, v)                     # one sample, or arrays with leading axes
        run = simulate(robot, pd, q=q, v=v, duration=1.0, dt=0.001)
        many = pd.replace(kp=np.linspace(50, 200, 1000))        # 1000 laws at once; no new machine code

    - `parts` and `numbers`: its function, the options fixed in it, and its numbers, {name: array}.
    - `state`: the state it starts with, any nesting of arrays; None if it has none.
    - `reference`: what it follows: a constant, a `Trajectory`, a `PoseTrajectory`, or a function of t.
    - `follows`: what its function gets as `reference`: a `Target`, a `PoseTarget`, or, if None, what it is given.
    - `model`: the robot it computes with; None stands for the robot that it controls.
    """

    name: str
    parts: Parts
    numbers: Numbers
    state: Any = None
    reference: Any = None
    follows: type | None = Target
    model: Robot | None = None
    form: Template | None = None  # the state of one law, where `state` is that of a batch of laws
    _recent: list = field(default_factory=lambda: [None], init=False, compare=False)  # as it was called last, `_Ready`

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_recent": [None]}

    def replace(self, *, reference=None, state=None, **numbers) -> Law:
        """Return the law with other numbers, another reference, or another state to start with.

        Numbers and leaves of the state keep their shapes; leading axes before them are a batch of laws. No machine code
        is made anew for other numbers.
        """
        changes: dict[str, Any] = {"numbers": with_numbers(self.parts, self.numbers, numbers, self.name)}
        if reference is not None:
            changes["reference"] = check_reference(self.name, self.follows, reference)
        if state is not None:
            changes |= {"state": self._checked_state(state), "form": self.one_state}
        return dataclasses.replace(self, **changes)

    @property
    def one_state(self) -> Template:
        """The structure and the shapes of the state of one law."""
        return Template(self.state) if self.form is None else self.form

    def _checked_state(self, state):
        """The state as arrays; its leaves may have leading axes before their own shapes."""
        one, alike = self.one_state, structure(state) == structure(self.state)
        found = arrays_of(state, "state", self.name) if alike else None
        if not alike or any(x.shape[x.ndim - len(c) :] != c for x, c in zip(leaves(found), one.shapes, strict=True)):
            raise ArgumentError(f"{self.name}: the state must be {one.described}, or a batch of such states")
        return found

    def _model(self, robot: Robot | None) -> Robot:
        """The robot that the law computes with, if it controls this one."""
        found = self.model if self.model is not None else robot
        if found is None:
            raise ArgumentError(f"{self.name}: this law has no model of its own; give the robot that it controls")
        need_robot(found, self.name)
        return found

    def plan(self, robot: Robot | None) -> LawPlan:
        """What the law's machine code depends on, if it controls this robot."""
        found = self._model(robot)
        need_fitting(found, self.name, self.follows, self.reference)
        reference = Template(form(found, self.follows, self.reference))
        return LawPlan(self.name, self.parts.now(), found, self.one_state, reference)

    # --- one instant --------------------------------------------------------------------------------------------------

    def __call__(self, robot: Robot | None, state, t, q, v, reference=None) -> Control:
        """The joint forces at the time t [s], at configuration q (..., nq) and velocity v (..., nv), and the new state.

        `state` None is the state that the law starts with; `reference` None is the law's own at the time t. Leading
        axes of all arrays are a batch.
        """
        ready = self._recent[0]
        if ready is None or ready.robot is not robot:
            ready = self._recent[0] = self._made_ready(robot)
        parts = ready.reference
        if reference is not None or parts is None:
            parts = self._parts_of(ready.model, reference, t)
        if not ready.has_state:
            return Control(ready.kernel(t, q, v, *parts, *ready.numbers), self.state)
        found = ready.kernel(t, q, v, *parts, *leaves(self.state if state is None else state), *ready.numbers)
        return Control(found[0], rebuild(self.state, iter(found[1:])))

    def _made_ready(self, robot: Robot | None) -> _Ready:
        plan, varies = self.plan(robot), is_sampled(self.reference) or is_function(self.reference)
        missing = self.reference is None and self.follows is not None
        parts = None if varies or missing else self._parts_of(plan.robot, None, 0.0)
        return _Ready(robot, plan.robot, _kernel(plan), tuple(self.numbers.values()), parts, bool(plan.state.shapes))

    def _parts_of(self, model: Robot, reference, t) -> list:
        """The leaves of a reference at the time t; None stands for the law's own reference."""
        own = self.reference if reference is None else check_reference(self.name, self.follows, reference)
        if own is None and self.follows is not None:
            raise ArgumentError(f"{self.name}: {NO_REFERENCE}")
        if reference is None or not isinstance(own, tuple):
            own = reference_at(model, self.follows, own, t)
        return list(own) if self.follows else leaves(own)

    def kernel(self, robot: Robot | None = None) -> Kernel:
        """The compiled law of one instant, as a kernel with named inputs; a call of it takes about a microsecond.

            control = law.kernel(robot)
            tau = control(t, q, v, reference_q, reference_v, reference_a)

        Inputs are t, q, v, the parts of the reference, the parts of the state, and the numbers, whose defaults are
        those of the law. It gives tau; for a law with a state, a NamedTuple of tau and the parts of the new state.
        """
        return _assembled(self.plan(robot), self.numbers)

    def source(self, language: str = "c", robot: Robot | None = None, name: str | None = None) -> str:
        """The source text of one instant of the law: "c" for C99; `Law.kernel` tells its arguments."""
        return self.kernel(robot).source(language, name or self.name)

    def __repr__(self) -> str:
        known = [f"{k} {x.tolist() if x.size < 8 else x.shape}" for k, x in self.numbers.items()]
        model = [] if self.model is None else [f"model '{self.model.name}'"]
        return f"<Law {', '.join([self.name, *known, *model])}>"


@lru_cache(maxsize=64)
def _kernel(plan: LawPlan) -> Kernel:
    """The kernel of one instant, without defaults."""
    return _assembled(plan, None)


def _assembled(plan: LawPlan, defaults: Numbers | None) -> Kernel:
    robot, names = plan.robot, plan.state.names("state")
    inputs = {"t": Input(), "q": Input((robot.nq,)), "v": Input((robot.nv,))}
    inputs |= plan.reference.inputs("reference") | plan.state.inputs("state")
    own = plan.parts.inputs(defaults=defaults)
    made = record_class("Control", ("tau", *names)) if names else None

    def body(given: dict[str, Any]):
        state, reference = plan.state.taken(given, "state"), plan.reference.taken(given, "reference")
        p = plan.parts.namespace(given)
        tau, new = plan.control(p, state, given["t"], given["q"], given["v"], reference)
        return tau if made is None else made(tau, *leaves(new))

    doc = f"One instant of the law '{plan.name}' of robot '{robot.name}'."
    return assembled_kernel(plan.name, inputs | own, body, doc)


# --- making laws ------------------------------------------------------------------------------------------------------


def law(
    function: Callable, /, *, reference=None, state=None, follows: type | None = Target, model: Robot | None = None,
    name: str | None = None, **parameters,
) -> Law:  # fmt: skip
    """Make a control law of a NumPy function of one instant, with its parameters, state and reference.

    The function is `f(robot, p, state, t, q, v, reference) -> (tau, state)`:

        >>> def spring(robot, p, state, t, q, v, reference):
        ...     return p.k * (reference.q - q) - p.d * v, state
        >>> held = law(spring, reference=np.zeros(robot.nq), k=50.0, d=5.0)
        >>> tau, _ = held(robot, None, 0.0, q, v)

    What the function reads besides its arguments, such as a constant of its module, is fixed at the first call of a law
    with a robot. `simulate` sees changes of it. The same arguments must give the same result: a function with a hidden
    state, or with random numbers, is refused (`TraceError`).

    Parameters
    ----------
    parameters
        Numbers and arrays are inputs of the machine code: other values need no new code, and `Law.replace` takes a
        batch of them. Everything else (names, robots, truth values) is fixed in the machine code.
    reference
        What the law follows. A `Trajectory` of joints, an array q (nq,) to rest at, or a function of t that gives q or
        a `Target(q, v, a)`; the law's function gets a `Target`. With `follows=PoseTarget`: a `PoseTrajectory`, a pose T
        (4, 4), or a function of t; the function gets a `PoseTarget`. With `follows=None`: any nesting of arrays, or a
        function of t that gives one; the function gets just that.
    state
        The state that the law starts with: a number, an array, or any nesting of them.
    model
        The robot that the function gets; by default the robot that is controlled.
    """
    label = label_of(function, name, "law")
    parts, numbers = _parted(function, parameters, label)
    message = f"{label}: the function of a law is f(robot, p, state, t, q, v, reference) -> (tau, state)"
    need_arguments(function, 7, message)
    if model is not None:
        need_robot(model, label)
    start = arrays_of(state, "state", label)
    return Law(label, parts, numbers, start, check_reference(label, follows, reference), follows, model)


def _parted(function: Callable, parameters: dict[str, Any], name: str) -> tuple[Parts, Numbers]:
    """The parts and the numbers of a law, whose parameters do not have names of other inputs of its kernel."""
    for key in parameters:
        if key in ("t", "q", "v", "out") or key.split("_")[0] in ("state", "reference"):
            raise ArgumentError(f"{name}: a parameter cannot be called '{key}'; that is another input")
    return parted(function, parameters, name)


@dataclass(frozen=True)
class Wrapped:
    """The function of a law around another law; see `wrapped`."""

    outer: Callable
    inner: Callable

    def __call__(self, robot, p, state, t, q, v, reference):
        def inside(own, t, q, v, reference):
            return self.inner(robot, p, own, t, q, v, reference)

        return self.outer(inside, robot, p, state, t, q, v, reference)


def wrapped(inner: Law, outer: Callable, *, state=None, name: str, **parameters) -> Law:
    """A law around another law. Its parameters are those of both, and its state is a pair: its own, and the inner one.

    `outer(inside, robot, p, state, t, q, v, reference) -> (tau, state)` asks the law inside by
    `tau, inner_state = inside(state[1], t, q, v, reference)`, with other arguments or at another time if it likes.
    """
    if not isinstance(inner, Law):
        raise ArgumentError(f"{name} needs a Law; got {type(inner).__name__}")
    more, numbers = _parted(outer, parameters, name)
    parts = inner.parts.joined(Wrapped(outer, inner.parts.function), more, name)
    own = arrays_of(state, "state", name)
    start, form = (own, inner.state), Template((own, inner.one_state.tree))
    both = Numbers({**inner.numbers, **numbers})
    return Law(f"{name}_{inner.name}", parts, both, start, inner.reference, inner.follows, inner.model, form)


def as_law(controller, caller: str) -> Law:
    """A controller as a law: a `Law` itself, or a function `f(t, q, v) -> tau`."""
    if isinstance(controller, Law):
        return controller
    if not callable(controller):
        raise ArgumentError(
            f"{caller}: controller must be a Law, a function f(t, q, v) -> tau, or None; "
            f"got {type(controller).__name__}"
        )
    label = label_of(controller, None, "controller")
    need_arguments(controller, 3, f"{caller}: the controller '{label}' must take (t, q, v)")
    return law(_Feedback(controller), follows=None, name=label)


@dataclass(frozen=True)
class _Feedback:
    """The function of a law that is a plain function of t, q and v."""

    function: Callable

    def __call__(self, robot, p, state, t, q, v, reference):
        return self.function(t, q, v), state
