"""Arms for tests of inverse kinematics: random ones of every family, and what their solutions must satisfy."""

import numpy as np

import adjoint as aj
from adjoint import Robot
from adjoint.inverse import Solutions
from adjoint.lie import se3

# Denavit-Hartenberg rows of an arm like the KUKA iiwa: spherical shoulder and wrist.
IIWA = [
    [0, d, 0, a]
    for d, a in zip((0.36, 0, 0.42, 0, 0.4, 0, 0.126), np.pi / 2 * np.array([-1, 1, 1, -1, -1, 1, 0]), strict=True)
]


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def arm(kinds: str, directions, points, name: str) -> Robot:
    """The arm with these revolute ("R") and prismatic ("P") axes at home, at a random base and with a random tool."""
    rng = np.random.default_rng(len(name))
    screws = [
        np.concatenate([d, np.cross(x, d)] if kind == "R" else [np.zeros(3), d])
        for kind, d, x in zip(kinds, directions, points, strict=True)
    ]
    P = se3.random(rng=rng, scale=0.5)
    moved = np.array(screws) @ se3.Ad(P).T
    return aj.from_screws(moved, P @ se3.random(rng=rng, scale=0.5), name=name)


def random_axes(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Directions and points (n, 3) of random axes."""
    return np.array([unit(x) for x in rng.normal(size=(n, 3))]), 0.4 * rng.normal(size=(n, 3))


def spherical(start: int, kinds: str, rng: np.random.Generator, meeting: bool = False) -> Robot:
    """An arm whose axes `start`, `start` + 1, `start` + 2 meet; `kinds` are those of the three others."""
    d, x = random_axes(6, rng)
    x[start : start + 3] = x[start]
    others = [i for i in range(6) if not start <= i < start + 3]
    if meeting:
        x[others[1]] = x[others[0]]
    every = ["R"] * 6
    for i, kind in zip(others, kinds, strict=True):
        every[i] = kind
    return arm("".join(every), d, x, f"spherical {start} {kinds} {meeting}")


def planar(start: int, kinds: str, rng: np.random.Generator, meeting: bool = False) -> Robot:
    """An arm whose three joints from `start` are parallel, or slide across the others."""
    d, x = random_axes(6, rng)
    k = d[start].copy()
    for i, kind in enumerate(kinds, start):
        d[i] = rng.choice([-1, 1]) * k if kind == "R" else unit(np.cross(k, d[i] + 1e-3))
    if meeting:
        first, second = {0: (3, 4), 1: (4, 5), 2: (1, 0), 3: (2, 1)}[start]
        x[first] = x[second] + 0.2 * d[second]
    every = ["R"] * 6
    every[start : start + 3] = kinds
    return arm("".join(every), d, x, f"planar {start} {kinds} {meeting}")


def general(rng: np.random.Generator) -> Robot:
    """Six revolute axes without any relation."""
    return arm("RRRRRR", *random_axes(6, rng), "general")


def nearly(robot: Robot, error: float, rng: np.random.Generator) -> Robot:
    """The robot after a calibration: every joint is off by about `error` [rad, m]."""
    off = error * rng.normal(size=(len(robot.body_names), 6))
    return robot.replace(placements=robot.placements @ se3.exp(off), name=f"{robot.name} calibrated")


def turned(x: np.ndarray) -> np.ndarray:
    """Angles in [-π, π]."""
    return x - 2 * np.pi * np.rint(x / (2 * np.pi))


def apart(robot: Robot, q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far configurations (..., nq) are apart, angles up to full turns."""
    turns = np.array([kind != "prismatic" for i, kind in enumerate(robot.joint_types) if i not in robot.mimics])
    return np.abs(np.where(turns, turned(q - other), q - other)).max(axis=-1)


def check_solutions(robot: Robot, frame: str, q: np.ndarray, found: Solutions, *, same: float = 1e-6) -> None:
    """Exact solutions are at the pose of q (B, nq), q is one of them, no two are equal, and their number is even."""
    T = aj.forward_kinematics(robot, q, frame)
    off = np.abs(aj.forward_kinematics(robot, found.q, frame) - T[:, None]).max(axis=(-2, -1))
    assert not np.isnan(found.q).any()
    assert off[found.exact].max() < 1e-10
    distance = np.where(found.exact, apart(robot, found.q, q[:, None]), np.inf)
    missed = distance.min(axis=1) > same
    # Where two solutions merge, the pose determines q to √ε only.
    assert not missed[~_singular(robot, frame, q)].any(), f"{missed.sum()} of {len(q)} are not found"
    k = found.q.shape[1]
    clear = ~_singular(robot, frame, q)
    for i in range(k):
        for j in range(i):
            both = found.exact[:, i] & found.exact[:, j] & clear
            equal = apart(robot, found.q[:, i], found.q[:, j])[both] < 1e-9
            assert equal.sum() <= 1e-4 * len(q), f"branches {i} and {j} are equal {equal.sum()} times"


def _singular(robot: Robot, frame: str, q: np.ndarray) -> np.ndarray:
    """Whether the smallest singular value of the Jacobian, over the largest, is that of a nearly singular arm."""
    J = aj.jacobian(robot, q, frame, "world")
    moving = np.abs(J).max(axis=(0, 1)) > 0
    values = np.linalg.svd(J[..., moving], compute_uv=False)
    return values[..., -1] < 1e-5 * values[..., 0]
