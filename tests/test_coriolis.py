"""The Coriolis matrix: it belongs to the mass matrix, on every joint; and it is Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest
from support import robots as real
from support.trees import CATALOG, SEEDS, close, frictionless, on_free_base, sample, tree
from support.worked_examples import RPR, RRR, digits, rpr_example, rrr_example

import adjoint as aj
from adjoint import kernel, robots, static
from adjoint.dynamics.composite import mass_matrix
from adjoint.dynamics.coriolis import coriolis_matrix
from adjoint.dynamics.newton_euler import bias_force, gravity_torque

ALL = [*(tree(seed) for seed in SEEDS), on_free_base(tree(4, 6)), *CATALOG]
every_robot = pytest.mark.parametrize("robot", ALL, ids=lambda r: f"{r.name}-{r.nv}")


@kernel(robot=static, q="nq", v="nv")
def moved_mass_matrix(robot, q, v, t):
    return mass_matrix(robot, aj.integrate(robot, q, v, t))


def mass_matrix_rate(robot, q, v):
    """Ṁ when q moves with v: the derivative is the compiler's."""
    return moved_mass_matrix.bind(robot).jacobian("t").eager(q, v, 0.0)


@pytest.mark.slow
@every_robot
def test_it_belongs_to_the_mass_matrix(robot):
    """Ṁ = C + Cᵀ, so Ṁ - 2C = Cᵀ - C is skew."""
    q, v, _ = sample(robot)
    C, M = coriolis_matrix.eager(robot, q, v), mass_matrix.eager(robot, q)
    slack = 1e-13 * np.abs(M).max() * np.abs(v).max()  # in a chain of sliders nothing changes, and C = 0
    np.testing.assert_allclose(C + C.T, mass_matrix_rate(robot, q, v), atol=slack)


@every_robot
def test_it_gives_the_forces_of_motion(robot):
    robot = frictionless(robot)
    q, v, _ = sample(robot)
    bias = bias_force.eager(robot, q, v)
    Cv = bias - gravity_torque.eager(robot, q)
    np.testing.assert_allclose(coriolis_matrix.eager(robot, q, v) @ v, Cv, atol=1e-13 * np.abs(bias).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_linear_in_the_velocity(seed):
    q, v, w = sample(tree(seed))
    C_v, C_w, C = (coriolis_matrix.eager(tree(seed), q, x) for x in (v, w, 2 * v - 3 * w))
    close(C, 2 * C_v - 3 * C_w)


@pytest.mark.parametrize(
    "name, base", [("ur5_robot", "fixed"), ("panda.", "fixed"), ("panda.", "free"), ("hyq", "free")]
)
def test_it_is_pinocchio_s(name, base):
    path = real.urdf(name)
    robot, model = aj.load(path, base=base), real.pinocchio_model(path, base)
    q, v, _ = sample(robot)
    E = real.velocity_map(model, robot)
    want = pin.computeCoriolisMatrix(model, model.createData(), real.pinocchio_q(model, robot, q), E @ v)
    close(coriolis_matrix.eager(robot, q, v), E.T @ want @ E, 1e-10)


def test_numbers_of_the_examples():
    digits(
        coriolis_matrix.eager(rrr_example(), *RRR[:2]),
        [
            [-0.05310444087, 0.1256467541, -0.02952730273],
            [-0.1262377357, -0.02869424364, -0.01434712182],
            [0.02981390368, -0.01434712182, 0],
        ],
    )
    digits(
        coriolis_matrix.eager(rpr_example(), *RPR[:2]),
        [
            [-0.3231801271, 0.570659448, 0.01924788636],
            [-0.5351045273, 0, 0.1400657274],
            [0.001176339322, -0.01975273374, 0],
        ],
    )


def test_compiled_equals_eager():
    robot, rng = robots.stanford(), np.random.default_rng(0)
    q, v = aj.random_configuration(robot, 5, rng=rng), rng.normal(size=(5, 6))
    want = [coriolis_matrix.eager(robot, *sample) for sample in zip(q, v, strict=True)]
    close(coriolis_matrix(robot, q, v), want, 1e-14)
