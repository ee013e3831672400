"""`VectorEnv`: many simulated robots as one environment for reinforcement learning, in gymnasium's vector API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compile import Kernel, scan
from ..compile.front.arguments import as_input
from ..compile.front.specialisation import record_class
from ..compile.graph.nested import leaves, map_leaves
from ..control.assembled import Input, Template, assembled_kernel
from ..errors import ArgumentError
from ..extras import package
from ..model.configuration import neutral
from ..model.input_checks import count, floats
from ..model.robot import Robot
from .integrators import Integrator
from .rollouts import mover
from .setups import Setup, Surroundings, set_up

try:
    from gymnasium.vector import VectorEnv as _Base
except ImportError:  # `VectorEnv` says what is missing
    _Base = object

__all__ = ["VectorEnv"]

_SEEN = "observation", "reward", "terminated"  # what a step gives besides the state
_DTYPES = (np.float32, np.float64, "float32", "float64")


class VectorEnv(_Base):  # type: ignore[misc,valid-type]
    """Robots in simulation as a `gymnasium.vector.VectorEnv`: one call of machine code steps all of them.

        env = VectorEnv(robot, 4096, dt=0.002, steps_per_action=5, reward=lambda t, q, v, action: -(q @ q))
        observations, info = env.reset(seed=0)
        observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())

    Parameters
    ----------
    robot, num_envs
        The robot, and how many of it.
    dt, steps_per_action
        The step of the simulation [s], and how many of them an action lasts.
    act
        act(t, q, v, action) -> joint forces (nv,), at every step. By default the actions are the joint forces.
    observe
        observe(t, q, v) -> observation (m,). By default it is q and v.
    reward
        reward(t, q, v, action) -> a number, after the last step of the action. By default it is 0.
    terminated
        terminated(t, q, v) -> whether the episode has ended. A robot whose state is not finite has ended, too.
    start
        start(rng, n) -> q (n, nq) and v (n, nv): n random starts. By default robots start at rest at home.
    action_low, action_high
        Bounds (m,) of the actions, to which `step` clips them: by default plus and minus the robot's effort limits. A
        joint without an effort limit has bounds of -1 and 1: give your own for robots such as `puma560`.
    max_episode_steps
        After so many actions an episode is truncated.
    surroundings
        As for `simulate`: `forces`, `changes`, `loops`, `base`, `lift`; arrays have a first axis of `num_envs`.

    act, observe, reward and terminated are NumPy functions of one robot; they become machine code. An episode that has
    ended starts anew at the next step, whose action is not used: `AutoresetMode.NEXT_STEP` of gymnasium. Results are
    arrays of `dtype`. A new environment has been reset; `reset(seed=...)` makes its starts reproducible. This needs
    gymnasium: pip install 'adjoint[learn]'.
    """

    def __init__(
        self, robot: Robot, num_envs: int, *, dt, steps_per_action: int = 1, act: Callable | None = None,
        observe: Callable | None = None, reward: Callable | None = None, terminated: Callable | None = None,
        start: Callable | None = None, action_low=None, action_high=None, max_episode_steps: int = 1000,
        integrator: str | Integrator = "semi_implicit", dtype=np.float32, **surroundings,
    ):  # fmt: skip
        gym = package("gymnasium", "learn", "VectorEnv")
        around = Surroundings.of(surroundings, "VectorEnv", "stop", "sensors")
        self._setup = set_up(robot, None, dt, integrator, 1, around)
        if robot.nv == 0:
            raise ArgumentError(f"VectorEnv: robot '{robot.name}' has no joints to move")
        self.num_envs = _at_least_one(num_envs, "num_envs")
        if self._setup.batch() not in ((), (1,), (self.num_envs,)):
            raise ArgumentError(f"VectorEnv: arrays of the surroundings have leading axes {self._setup.batch()}; "
                                f"they must be ({self.num_envs},)")  # fmt: skip
        given = {"act": act, "observe": observe, "reward": reward, "terminated": terminated, "start": start}
        for name, f in given.items():
            if f is not None and not callable(f):
                raise ArgumentError(f"VectorEnv: {name} must be a function or None; got {type(f).__name__}")
        functions = act or _forces, observe or _state, reward or _nothing, terminated or _never
        self._start = start or _at_home
        self._limit = _at_least_one(max_episode_steps, "max_episode_steps")
        self._bounds = low, high = _bounds(robot, action_low, action_high)
        steps = _at_least_one(steps_per_action, "steps_per_action")
        self._kernel = _step_kernel(self._setup, functions, steps, len(low))
        if not isinstance(dtype, str | type | np.dtype) or dtype not in _DTYPES:
            raise ArgumentError(f"VectorEnv: dtype must be numpy.float32 or numpy.float64; got {dtype!r:.60}")
        self._dtype = np.dtype(dtype)
        self.metadata = {"autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP, "render_modes": []}
        self.single_action_space = gym.spaces.Box(low.astype(self._dtype), high.astype(self._dtype), dtype=self._dtype)
        self._robot = robot
        self.reset()
        size = self._now["observation"].shape[-1]
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), dtype=self._dtype)
        batched = gym.vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batched(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Start all episodes anew; returns observations (num_envs, m) and an empty dict. `options` are not used."""
        super().reset(seed=None if seed is None else count(seed, "VectorEnv.reset: seed"), options=options)
        n, robot = self.num_envs, self._robot
        self._fresh = self._starts(n)
        memory = {k: np.zeros((n, *x.shape)) for k, x in _memory(self._setup).inputs("memory").items()}
        self._spare = ()
        self._now = {"q": np.zeros((n, robot.nq)), "v": np.zeros((n, robot.nv)), **memory, "count": np.zeros(n)}
        self._ended = np.ones(n)  # so that the step only takes the fresh starts over
        self._call(np.zeros((n, self.single_action_space.shape[0])))
        self._ended = np.zeros(n)
        return self._observation(), {}

    def step(self, actions):
        """One action (num_envs, m) each; returns observations, rewards, terminated, truncated and an empty dict.

        Actions beyond their bounds are clipped.
        """
        actions = np.asarray(as_input(actions, "actions", "VectorEnv.step"), float)
        if actions.shape != (self.num_envs, *self.single_action_space.shape):
            wanted = (self.num_envs, *self.single_action_space.shape)
            raise ArgumentError(f"VectorEnv.step: actions have shape {actions.shape}; they must be {wanted}")
        if np.any(ended := self._ended > 0):
            for mine, new in zip(self._fresh, self._starts(int(np.count_nonzero(ended))), strict=True):
                mine[ended] = new
        self._call(np.clip(actions, *self._bounds))
        terminated, truncated = self._now["terminated"] > 0, self._now["count"] >= self._limit
        self._ended = (terminated | truncated).astype(float)
        rewards = self._now["reward"].astype(self._dtype, copy=False)
        return self._observation(), rewards, terminated, truncated & ~terminated, {}

    def close(self, **options) -> None:
        """There is nothing to close."""

    @property
    def q(self) -> np.ndarray:
        """The configurations (num_envs, nq) of the robots."""
        return self._now["q"].copy()

    @property
    def v(self) -> np.ndarray:
        """The velocities (num_envs, nv) of the robots."""
        return self._now["v"].copy()

    def _observation(self) -> np.ndarray:
        return self._now["observation"].astype(self._dtype, copy=False)

    def _starts(self, n: int) -> list[np.ndarray]:
        """Fresh starts, checked."""
        found, sizes = self._start(self.np_random, n), (self._robot.nq, self._robot.nv)
        if found is None:
            found = np.tile(neutral(self._robot), (n, 1)), np.zeros((n, self._robot.nv))
        if (
            not isinstance(found, tuple | list)
            or len(found) != 2
            or [np.shape(x) for x in found] != [(n, k) for k in sizes]
        ):
            shapes = " and ".join(str((n, k)) for k in sizes)
            raise ArgumentError(f"VectorEnv: start(rng, {n}) must give q and v of shapes {shapes}")
        return [np.array(as_input(x, "start", "VectorEnv"), float) for x in found]

    def _call(self, actions: np.ndarray) -> None:
        """Step all robots."""
        names = ("q", "v", *_memory(self._setup).names("memory"), "count")
        fresh, ended = self._fresh, self._ended
        if len(ended) and not ended.any():  # one row stands for all, as none is used: there is less to read
            fresh, ended = [x[0] for x in fresh], ended[0]
        state = {k: self._now[k] for k in names}
        # The arrays of the state before the last are written again, which saves asking for memory.
        out = (*self._spare, *(np.empty_like(self._now[k]) for k in _SEEN)) if self._spare else None
        found = self._kernel(
            **state, action=actions, fresh_q=fresh[0], fresh_v=fresh[1], ended=ended, **self._setup.numbers, out=out
        )
        self._spare, self._now = tuple(state.values()), found._asdict()


def _memory(setup: Setup) -> Template:
    return setup.plan.memory


def _step_kernel(setup: Setup, functions: tuple, steps: int, size: int) -> Kernel:
    """The kernel of one action of one robot."""
    plan, robot, dt = setup.plan, setup.robot, setup.dt
    act, observe, reward, terminated = functions
    inputs = {"q": Input((robot.nq,)), "v": Input((robot.nv,))} | plan.memory.inputs("memory")
    inputs |= {"count": Input(), "action": Input((size,)), "fresh_q": Input((robot.nq,)), "fresh_v": Input((robot.nv,))}
    inputs |= {"ended": Input()} | plan.plant.inputs()
    names = plan.memory.names("memory")
    made = record_class("Stepped", ("q", "v", *names, "count", *_SEEN))

    def body(given: dict[str, Any]):
        move, first = mover(plan, given), given["count"] * steps

        def step(carry, _):
            k, q, v, memory = carry
            t = (first + k) * dt
            tau = act(t, q, v, given["action"])
            if np.shape(tau) != (robot.nv,):
                raise ArgumentError(f"VectorEnv: act gives shape {np.shape(tau)}; it must be ({robot.nv},)")
            return (k + 1.0, *move(t, tau, q, v, memory, dt)), None

        carry = 0.0, given["q"], given["v"], plan.memory.taken(given, "memory")
        (_, q, v, memory), _ = step(carry, None) if steps == 1 else scan(step, carry, None, steps)
        anew = given["ended"] > 0
        fresh = given["fresh_q"], given["fresh_v"], plan.integrator.memory(robot)
        q, v, memory = map_leaves(lambda new, old: np.where(anew, new, old), fresh, (q, v, memory))
        number = np.where(anew, 0.0, given["count"] + 1)
        t = number * steps * dt
        finite = np.sum(np.abs(q)) + np.sum(np.abs(v)) < np.inf
        ends = ~anew & (_of_axes(terminated(t, q, v), 0, "terminated", "one truth value") | ~finite)
        gain = _of_axes(reward(t, q, v, given["action"]), 0, "reward", "one number")
        seen = _of_axes(observe(t, q, v), 1, "observe", "an array (m,)")
        return made(q, v, *leaves(memory), number, seen, np.where(anew, 0.0, gain), ends)

    return assembled_kernel("step", inputs, body, f"One action of robot '{robot.name}'.")


def _of_axes(x: Any, axes: int, name: str, wanted: str):
    """What a function gives, if it has so many axes."""
    if x is None or isinstance(x, str) or np.ndim(x) != axes:
        what: Any = f"{x!r:.60}" if x is None or isinstance(x, str) else f"shape {np.shape(x)}"
        raise ArgumentError(f"VectorEnv: {name} must give {wanted}; it gives {what}")
    return x


def _at_least_one(n, name: str) -> int:
    if count(n, f"VectorEnv: {name}") == 0:
        raise ArgumentError(f"VectorEnv: {name} must be 1 or more")
    return int(n)


def _bounds(robot: Robot, low, high) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of the actions."""
    limit = np.where(np.isfinite(robot.effort_limit) & (robot.effort_limit > 0), robot.effort_limit, 1.0)
    lower, upper = np.atleast_1d(floats(-limit if low is None else low), floats(limit if high is None else high))
    if lower.shape != upper.shape or lower.ndim != 1 or not (lower < upper).all():
        raise ArgumentError(
            f"VectorEnv: action_low {lower.shape} and action_high {upper.shape} must be (m,), low < high"
        )
    return lower, upper


def _forces(t, q, v, action):
    return action


def _state(t, q, v):
    return np.concatenate([q, v])


def _nothing(t, q, v, action):
    return 0.0 * action[0]


def _never(t, q, v):
    return t < 0.0


def _at_home(rng, n: int) -> None:
    return None
