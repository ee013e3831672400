"""Robots whose numbers are printed in papers and books, and builders of small ones with known inertias."""

import numpy as np

from adjoint import robots
from adjoint.lie import inertia, se3
from adjoint.lie.so3 import rotation_x, rotation_y, rotation_z
from adjoint.model import Robot, from_dh


def from_central(masses, centers, moments):
    rows = zip(masses, centers, moments, strict=True)
    return [inertia.from_central.eager(m, np.array(r, float), _matrix(I)) for m, r, I in rows]


def _matrix(I):
    return np.diag(I) if np.ndim(I) == 1 else np.array(I)


def pose(R=None, x=0.0, y=0.0, z=0.0):
    return se3.from_rotation_translation.eager(np.eye(3) if R is None else R, np.array([x, y, z]))


def serial(name, kinds, placements, axes, inertias, tool):
    builder = Robot.builder(name).link("0")
    for i, (kind, M, axis, J) in enumerate(zip(kinds, placements, axes, inertias, strict=True)):
        builder.link(str(i + 1), J).joint(f"j{i + 1}", kind, str(i), str(i + 1), M, axis=axis)
    return builder.frame("tool", str(len(kinds)), tool).build()


TIP = np.array([0.1, -0.2, 0.3, 1, 2, -1.5])


def digits(got, want, n=10):
    """All n significant digits of the largest number."""
    want = np.asarray(want)
    np.testing.assert_allclose(got, want, rtol=0, atol=1.01 * 10.0**-n * 10 ** np.ceil(np.log10(np.abs(want).max())))


def rrr_example() -> Robot:
    """Park (1994), Example 1, with links of L_1 = 0.5 m, L_2 = 0.4 m."""
    J = from_central(
        (3, 2, 1),
        [(0, 0, 0.05), (0.25, 0, 0), (0.2, 0.01, 0)],
        [(0.02, 0.02, 0.01), (0.004, 0.05, 0.05), [[0.002, 0.0005, 0], [0.0005, 0.02, 0], [0, 0, 0.021]]],
    )
    homes = [pose(), pose(), pose(x=0.5)]
    return serial("RRR", ["revolute"] * 3, homes, [(0, 0, 1), (0, -1, 0), (0, -1, 0)], J, pose(x=0.4))


def rpr_example() -> Robot:

    J = from_central(
        (2, 1.5, 1),
        [(0.05, 0.02, 0.1), (0.1, 0, 0.03), (0, 0.02, 0.15)],
        [(0.03, 0.02, 0.025), [[0.012, 0.001, 0], [0.001, 0.02, -0.002], [0, -0.002, 0.015]], (0.006, 0.007, 0.003)],
    )
    homes = [
        pose(z=0.3),
        pose(rotation_x.eager(0.3), x=0.2, z=0.1),
        pose(rotation_y.eager(-0.5), y=0.1, z=0.4),
    ]
    axes = [(0, 0, 1), (1, 0, 0), (0, 1, 0)]
    tool = pose(rotation_z.eager(0.2), x=0.1, z=0.2)
    return serial("RPR", ["revolute", "prismatic", "revolute"], homes, axes, J, tool)


def puma_like_example() -> Robot:
    rows = [(0, 0, 0), (-90, 0, 0.2435), (0, 0.4318, -0.0934), (90, -0.0203, 0.4331), (-90, 0, 0), (90, 0, 0)]
    J = from_central(
        (8, 17, 5, 1, 0.4, 0.1),
        [(0, 0, -0.05), (0.07, 0.006, -0.016), (0, -0.07, 0.014), (0, 0, -0.02), (0, 0, 0), (0, 0, 0.03)],
        [
            (0.4, 0.4, 0.3), (0.13, 0.52, 0.54), (0.19, 0.015, 0.2), (0.002, 0.002, 0.0013), (0.0004, 0.0003, 0.0003),
            (0.00015, 0.00015, 0.00004),
        ],
    )  # fmt: skip
    table = [(0, d, a, np.radians(alpha)) for alpha, a, d in rows]
    return from_dh(table, "modified", inertias=J, tool=pose(z=0.1))


RRR = ([0.3, -0.5, 0.8], [0.7, -0.2, 0.4], [0.1, 0.5, -0.3])
RPR = ([0.4, 0.25, -0.6], [0.5, -0.3, 0.9], [-0.2, 0.6, 0.4])
PUMA_LIKE = (
    [0.1, -0.2, 0.3, 0.4, -0.5, 0.6],
    [0.2, 0.1, -0.3, 0.5, 0.4, -0.6],
    [0.3, -0.1, 0.2, 0.6, -0.4, 0.5],
)
PUMA_RATES = ([0.5, -0.4, 0.3, 0.8, -0.6, 1], [1, 0.5, -0.7, 0.2, 0.9, -1.5])


def puma_with_invented_bodies() -> Robot:
    """Frames of Fu, Gonzalez & Lee, Fig. 2.11."""
    J = from_central(
        (10, 17, 5, 1, 0.4, 0.1),
        [(0, 0.1, 0.05), (-0.25, 0.01, 0.06), (0.02, -0.01, 0.08), (0, 0.2, 0), (0, 0, 0.01), (0, 0, -0.02)],
        [
            (0.3, 0.2, 0.3), (0.13, 0.52, 0.54), (0.07, 0.09, 0.02), (0.002, 0.001, 0.002), (0.0004, 0.0004, 0.0003),
            (0.00015, 0.00015, 0.00004),
        ],
    )  # fmt: skip
    return robots.puma560().replace(inertias=J, armature=np.zeros(6), gravity=(0, 0, -9.8062))


def planar_2r(masses=(1.3, 0.9), length=0.7, centers=(0.31, 0.42), moments=(0.08, 0.05)) -> Robot:
    J = from_central(masses, [(c, 0, 0) for c in centers], [(i, i, i) for i in moments])
    return serial("2R", ["revolute"] * 2, [pose(), pose(x=length)], [(0, 0, 1)] * 2, J, pose())


def spherical_pendulum(mass=2.0, length=0.7) -> Robot:
    J = from_central((1.0, mass), [(0, 0, 0), (length, 0, 0)], [(0, 0, 0)] * 2)
    return serial("pendulum", ["revolute"] * 2, [pose(), pose()], [(0, 0, 1), (0, 1, 0)], J, pose(x=length))


def sliders() -> Robot:
    return robots.random_tree(1, 4, ["prismatic"])


def acrobot(gravity=(0.0, 0.0, -9.81)) -> Robot:
    """Two links of 1 kg and 1 m that hang at q = 0; their joints turn about y."""
    link = inertia.from_central(1.0, [0.0, 0.0, -0.5], np.diag([0.1, 0.1, 0.02]))
    parts = Robot.builder("acrobot", gravity=gravity).link("base").link("upper", link).link("lower", link)
    parts.joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0))
    return parts.joint("elbow", "revolute", "upper", "lower", pose(z=-1.0), axis=(0, 1, 0)).build()
