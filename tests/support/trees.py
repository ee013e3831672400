"""Robots for the tests of dynamics: random trees of every joint type with all that resists, and second formulations."""

import functools

import numpy as np

import adjoint as aj
from adjoint import robots
from adjoint.lie import inertia, se3
from adjoint.model import Frame, Robot
from adjoint.model.joints import standard_screws

SEEDS = range(3)
CATALOG = [
    robots.puma560(), robots.stanford(), robots.two_link(), robots.park3r(), robots.scara(), robots.planar(4),
    robots.chain(5), robots.random_tree(1, 6, ["prismatic"]), robots.random_tree(2, 1, ["free"]),
]  # fmt: skip


INDEPENDENT = (*aj.model.JOINTS, "universal")


@functools.cache
def tree(seed: int, n: int = 12, types: tuple[str, ...] | None = None) -> Robot:
    """A random tree with damping, dry friction and armature at every degree of freedom, gravity in any direction.

    All joint types by default; trees of odd seeds have no mimics, for which most algorithms take another way.
    """
    rng = np.random.default_rng(seed)
    types = INDEPENDENT if types is None and seed % 2 else types
    robot = robots.random_tree(rng, n, types)
    resists = {name: rng.uniform(0.1, 1, robot.nv) for name in ("damping", "friction", "armature")}
    return robot.replace(gravity=rng.normal(size=3) * 5, **resists)


def frictionless(robot: Robot) -> Robot:
    return robot.replace(damping=0 * robot.damping, friction=0 * robot.friction)


def sample(robot: Robot, seed: int = 0):
    """q, v, a: one configuration inside the limits, normally distributed rates."""
    rng = np.random.default_rng(seed)
    return aj.random_configuration(robot, rng=rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def close(got, want, slack=1e-11):
    """Equal to `slack` times the largest number wanted."""
    want = np.asarray(want)
    np.testing.assert_allclose(got, want, rtol=0, atol=slack * np.abs(want).max(initial=1e-300))


def dense_mass_matrix(robot: Robot, q) -> np.ndarray:
    """M = Σ J_iᵀ 𝓘_i J_i + armature, with body Jacobians: Park, Bobrow & Ploen (1995), (40)."""
    M = np.diag(robot.armature)
    for body in robot.bodies:
        J = aj.jacobian.eager(robot, q, body.name)
        M = M + J.T @ inertia.matrix.eager(body.inertia) @ J
    return M


def armature_bias(robot: Robot, v) -> np.ndarray:
    """-Sᵀ ad(S v)ᵀ S α v of every joint with several degrees of freedom: Euler and Poincaré, with 6x6 matrices."""
    found = np.zeros(robot.nv)
    for body in robot.bodies:
        if body.joint.type in ("free", "spherical", "planar"):
            S, at = standard_screws(body.joint.type), body.joint.v
            found[at] = -S @ se3.ad.eager(S.T @ v[at]).T @ S.T @ (robot.armature[at] * v[at])
    return found


def dense_bias(robot: Robot, q, v) -> np.ndarray:
    """d'Alembert: Σ J_iᵀ (𝓘_i (J̇_i v - g_i) - ad(V_i)ᵀ 𝓘_i V_i), with g_i gravity seen from the body; joints."""
    found = robot.damping * v + robot.friction * np.sign(v) + armature_bias(robot, v)
    for body in robot.bodies:
        J = aj.jacobian.eager(robot, q, body.name)
        dJ = aj.jacobian_rate.eager(robot, q, v, body.name)
        R = aj.forward_kinematics.eager(robot, q, body.name)[:3, :3]
        I, V = inertia.matrix.eager(body.inertia), J @ v
        dV = dJ @ v - np.concatenate([np.zeros(3), R.T @ robot.gravity])
        found = found + J.T @ (I @ dV - se3.ad.eager(V).T @ I @ V)
    return found


def on_free_base(robot: Robot) -> Robot:
    """The robot, its base a body of its own that flies."""
    none = np.zeros(6)
    at_first = {"damping": none, "friction": none, "armature": none}
    at_first |= {"velocity_limit": none + np.inf, "effort_limit": none + np.inf}
    return robot.replace(
        base_name="world",
        body_names=(robot.base_name, *robot.body_names),
        body_joint_names=("flight", *robot.body_joint_names),
        joint_types=("free", *robot.joint_types),
        parents=np.concatenate([[-1], robot.parents + 1]),
        placements=np.concatenate([np.eye(4)[None], robot.placements]),
        screws=np.concatenate([np.eye(6), robot.screws]),
        inertias=np.concatenate([robot.base_inertia[None], robot.inertias]),
        base_inertia=np.zeros(10),
        mimics={i + 1: m._replace(source=m.source + 1) for i, m in robot.mimics.items()},
        lower=np.concatenate([np.full(7, -np.inf), robot.lower]),
        upper=np.concatenate([np.full(7, np.inf), robot.upper]),
        frames=tuple(Frame(f.name, f.body + 1, f.placement) for f in robot.frames),
        **{name: np.concatenate([first, getattr(robot, name)]) for name, first in at_first.items()},
    )


SINGLE = tuple(kind for kind, row in aj.model.JOINTS.items() if row.nv == 1)


def random_chain(seed: int, n: int):
    """n bodies one after the other, joints of one degree of freedom of any kind, no armature."""
    tree = robots.random_tree(seed, n, SINGLE)
    return tree.replace(parents=np.arange(-1, n - 1), armature=np.zeros(n))


ONE_DOF = ("revolute", "prismatic", "helical", "screw", "mimic")
COORDINATES = [*(tree(seed, 8, ONE_DOF) for seed in SEEDS), *(r for r in CATALOG if "free" not in r.joint_types)]
ALL = [*(tree(seed) for seed in SEEDS), tree(9, 20), *CATALOG]
