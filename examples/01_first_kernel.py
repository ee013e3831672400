"""A NumPy function becomes machine code, and draws a picture of a million double pendulums.

Each pixel of the picture is a double pendulum that is released at rest at two angles; in the middle of the picture both
rods are upright. The colour is the time until one of the rods first turns over. Pendulums that do not have the energy
to turn over are dark.

    python examples/01_first_kernel.py [pixels per side, by default 1000]
"""

import sys
import time
from pathlib import Path

import numpy as np

from adjoint import kernel, while_loop

STEP, LAST = 0.05, 60.0  # time step and longest time, in units of sqrt(length / gravity)


def acceleration(q, v):
    """The accelerations a (2,) that solve M(q) a + C(q, v) + φ(q) = 0, for two unit masses on rods of unit length."""
    s, c = np.sin(q[0] - q[1]), np.cos(q[0] - q[1])
    f0 = -s * v[1] ** 2 - 2 * np.sin(q[0])
    f1 = s * v[0] ** 2 - np.sin(q[1])
    return np.stack([f0 - c * f1, 2 * f1 - c * f0]) / (2 - c * c)


@kernel(q=2, v=2)
def runge_kutta(q, v):
    """One step of the classical fourth-order method: (q, v) at t + STEP, (4,)."""
    h = STEP
    a1 = acceleration(q, v)
    a2 = acceleration(q + h / 2 * v, v + h / 2 * a1)
    a3 = acceleration(q + h / 2 * (v + h / 2 * a1), v + h / 2 * a2)
    a4 = acceleration(q + h * (v + h / 2 * a2), v + h * a3)
    return np.concatenate([q + h * v + h * h / 6 * (a1 + a2 + a3), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)])


@kernel
def flip_time(a, b):
    """The time until a pendulum released at rest at the angles (a, b) turns over; LAST if it does not."""
    can = 2 * np.cos(a) + np.cos(b) <= 1  # it has the energy to turn over

    def upright(state):
        x, _ = state
        return can & (np.maximum(np.abs(x[0]), np.abs(x[1])) < np.pi)

    def step(state):
        x, n = state
        return runge_kutta(x[:2], x[2:]), n + 1

    x, n = while_loop(upright, step, (np.stack([a, b, 0 * a, 0 * a]), 0.0), max_iterations=int(LAST / STEP))
    over = np.maximum(np.abs(x[:2]) - np.pi, 0)
    late = np.max(np.where(over > 0, over / np.where(over > 0, np.abs(x[2:]), 1.0), 0.0))
    return np.where(late > 0, STEP * n - late, LAST)


def seconds(call, repeat=5) -> float:
    """The time of the fastest of several calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def show_compilation() -> None:
    """Prints how long compilation takes, and how fast the kernel is beside NumPy."""
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-3, 3, (100_000, 2)), rng.uniform(-1, 1, (100_000, 2))

    start = time.perf_counter()
    runge_kutta(q[:1], v[:1])
    print(f"runge_kutta: ready in {1e3 * (time.perf_counter() - start):.0f} ms (compiled, or loaded from the cache)")
    print(f"  operations of one sample: {runge_kutta.operations}")

    runge_kutta.threads = 1
    ours = seconds(lambda: runge_kutta(q, v))
    columns = [np.ascontiguousarray(x.T) for x in (q, v)]
    numpy = seconds(lambda: runge_kutta.__wrapped__(*columns))  # the same source works on columns of samples
    assert np.allclose(runge_kutta(q, v), runge_kutta.__wrapped__(*columns).T, rtol=0, atol=1e-12)
    print(f"  one thread, per step: {1e9 * ours / len(q):.1f} ns; NumPy: {1e9 * numpy / len(q):.0f} ns;", end=" ")
    print(f"ratio {numpy / ours:.1f}")


def draw(n: int, path: Path) -> None:
    """Draws the picture with n x n pendulums."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    angles = (np.arange(n) + 0.5) / n * 2 * np.pi - np.pi
    start = time.perf_counter()
    t = flip_time(angles[None, :], angles[::-1, None])  # leading axes broadcast
    print(f"flip_time: {n} x {n} pendulums, up to {LAST / STEP:.0f} steps each, in {time.perf_counter() - start:.1f} s")
    print(f"  {np.mean(t < LAST):.0%} of them turn over before t = {LAST:g}")

    t = np.roll(t, (n // 2, n // 2), (0, 1))  # this puts the upright pendulum into the middle
    first = np.quantile(t, 0.02)
    level = np.log(np.maximum(t, first) / first) / np.log(LAST / first)
    image = plt.get_cmap("twilight_shifted")((2.2 * level + 0.12) % 1.0)[..., :3] * (t < LAST)[..., None]
    path.parent.mkdir(parents=True, exist_ok=True)
    plt.imsave(path, image)
    print(f"  drawn in {path}")


if __name__ == "__main__":
    show_compilation()
    draw(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, Path(__file__).parent / "output" / "double_pendulum.png")
