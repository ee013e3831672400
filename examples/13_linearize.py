"""The exact linear system of a robot: a two-link arm with a motor only at its shoulder is balanced upside down.

python examples/13_linearize.py     writes output/linearize.png
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_discrete_are

import adjoint as aj

robot = aj.robots.planar(2).replace(gravity=np.array([0.0, -9.81, 0.0]))
upright, rest = np.array([np.pi / 2, 0.0]), np.zeros(2)
dt = 0.01

# Near upright the state x = (δq, δv) follows x_next = A x + B u; only the shoulder has a motor.
A, B = aj.linearize(robot, upright, rest, rest, dt=dt)
B = B[:, :1]
print("eigenvalues of A, per step:", np.round(np.linalg.eigvals(A), 4))
reach = np.linalg.matrix_rank(np.hstack([np.linalg.matrix_power(A, k) @ B for k in range(4)]))
print("the shoulder reaches", reach, "of 4 states")

# The linear-quadratic regulator u = -K x minimises Σ xᵀ Q x + r u².
Q, r = np.diag([1.0, 1.0, 0.1, 0.1]), np.array([[1e-2]])
P = solve_discrete_are(A, B, Q, r)
K = np.linalg.solve(r + B.T @ P @ B, B.T @ P @ A)
print("feedback K:", np.round(K, 2))


def simulate(x0: np.ndarray, steps: int) -> np.ndarray:
    """The states (steps, 4) of the nonlinear arm under u = -K x, with 20 substeps in each step."""
    q, v, found = upright + x0[:2], x0[2:].copy(), []
    for _ in range(steps):
        x = np.concatenate([aj.difference(robot, upright, q), v])
        found.append(x)
        tau = np.array([-(K @ x)[0], 0.0])
        for _ in range(20):  # symplectic Euler
            v = v + dt / 20 * aj.forward_dynamics(robot, q, v, tau)
            q = aj.integrate(robot, q, dt / 20 * v)
    return np.array(found)


start = np.array([0.4, -0.55, 0.0, 0.0])
true = simulate(start, 300)
linear = np.array([np.linalg.matrix_power(A - B @ K, k) @ start for k in range(300)])
print(f"after 3 s the arm is {np.abs(true[-1, :2]).max():.1e} rad from upright")
print(f"the linear system was off by {np.abs(true - linear)[:, :2].max():.3f} rad at most")

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
t = dt * np.arange(300)
for k, name in enumerate(("shoulder", "elbow")):
    axes[0].plot(t, true[:, k], color=f"C{k}", label=name)
    axes[0].plot(t, linear[:, k], color=f"C{k}", linestyle=":", label=f"{name}, linear system")
axes[0].set(xlabel="t [s]", ylabel="error [rad]", title="balanced upside down by the shoulder alone")
axes[0].legend()
for x in true[:120:6]:
    a, b = upright[0] + x[0], upright[0] + x[0] + x[1]
    points = np.cumsum([[0, 0], [np.cos(a), np.sin(a)], [np.cos(b), np.sin(b)]], axis=0)
    axes[1].plot(*points.T, "o-", color="C0", alpha=0.25, markersize=3)
axes[1].set(aspect="equal", title="the first 1.2 s", xlim=(-1.2, 1.2), ylim=(-0.1, 2.2))
path = Path(__file__).parent / "output" / "linearize.png"
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=120)
print("drawn:", path)
