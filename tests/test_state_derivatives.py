"""Derivatives of inverse and forward dynamics by the state, and the linear systems made of them."""

import functools

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from support.robots import pinocchio_model, pinocchio_q, urdf, velocity_map
from support.trees import CATALOG, SEEDS, close, frictionless, on_free_base, sample, tree

import adjoint as aj
from adjoint import robots
from adjoint.compile.graph import interpreter
from adjoint.errors import ArgumentError

ONE_DOF = ("revolute", "continuous", "prismatic", "helical", "screw")


@aj.kernel(robot=aj.static, q="nq", dq="nv", v="nv", a="nv")
def moved_torque(robot, q, dq, v, a):
    return aj.inverse_dynamics(robot, aj.integrate(robot, q, dq), v, a)


@aj.kernel(robot=aj.static, q="nq", dq="nv", v="nv", tau="nv")
def moved_acceleration(robot, q, dq, v, tau):
    return aj.forward_dynamics(robot, aj.integrate(robot, q, dq), v, tau)


@functools.cache
def exact(kernel, robot):
    """Derivatives on the graph of a function of q moved by dq."""
    return kernel.bind(robot).jacobian("dq", "v", "tau" if kernel is moved_acceleration else "a")


def by_graph(kernel, robot, q, v, x):
    return exact(kernel, robot).eager(q, np.zeros(robot.nv), v, x)


# --- first derivatives ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_torque_derivatives_are_those_of_the_graph(seed):
    robot = tree(seed)
    q, v, a = sample(robot, seed)
    got = aj.inverse_dynamics_derivatives.eager(robot, q, v, a)
    for x, want in zip(got, by_graph(moved_torque, robot, q, v, a), strict=True):
        close(x, want, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_acceleration_derivatives_are_those_of_the_graph(seed):
    """The graph's derivative passes through articulated inertias, ours through M: as far apart as M⁻¹ is uncertain."""
    robot = tree(seed, 6)
    q, v, tau = sample(robot, seed)
    slack = 1e-14 * np.linalg.cond(aj.mass_matrix.eager(robot, q))
    got = aj.forward_dynamics_derivatives.eager(robot, q, v, tau)
    for x, want in zip(got, by_graph(moved_acceleration, robot, q, v, tau), strict=True):
        close(x, want, max(slack, 1e-12))


@pytest.mark.parametrize("seed", SEEDS)
def test_complex_step(seed):
    """f(x + ih)/h has no subtraction: its error is that of f. Only for coordinates that are numbers of their own."""
    robot = frictionless(tree(seed, 8, ONE_DOF))
    q, v, a = sample(robot, seed)
    got = aj.inverse_dynamics_derivatives.eager(robot, q, v, a)
    program = aj.inverse_dynamics.bind(robot).only_specialisation("test").program
    point = {(name, k): complex(y) for name, x in zip("qva", (q, v, a), strict=True) for k, y in enumerate(x)}
    for name, slopes in zip("qva", got, strict=True):
        steps = [point | {(name, k): point[name, k] + 1e-30j} for k in range(robot.nv)]
        inputs = [interpreter.Inputs(step, apply=complex_value, number=complex) for step in steps]
        close(slopes, np.stack([np.imag(interpreter.evaluate(program.roots, x)) for x in inputs], 1) / 1e-30, 1e-13)


def complex_value(op, *x):
    names = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative}
    return (names.get(op) or getattr(np, op))(*x)


@pytest.mark.parametrize("robot", CATALOG, ids=lambda r: r.name)
def test_catalog(robot):
    q, v, a = sample(robot)
    got = aj.inverse_dynamics_derivatives.eager(robot, q, v, a)
    for x, want in zip(got, by_graph(moved_torque, robot, q, v, a), strict=True):
        close(x, want, 1e-12)


def surroundings(robot, rng):
    frames = robot.frame_names[1:3]
    return {
        "gravity": rng.normal(size=3), "applied_wrenches": rng.normal(size=(2, 6)), "frames": frames,
        "base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=6),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_loads_and_moving_bases_count(seed):
    robot, rng = tree(seed, 6), np.random.default_rng(seed)
    q, v, a = sample(robot, seed)
    around = surroundings(robot, rng)

    @aj.kernel(robot=aj.static, q="nq", dq="nv", v="nv", a="nv", wrenches=(2, 6), gravity=3, V=6, A=6, frames=aj.static)
    def moved(robot, q, dq, v, a, wrenches, gravity, V, A, frames):
        q = aj.integrate(robot, q, dq)
        options = {"applied_wrenches": wrenches, "frames": frames, "gravity": gravity}
        return aj.inverse_dynamics(robot, q, v, a, **options, base_twist=V, base_acceleration=A)

    given = around["applied_wrenches"], around["gravity"], around["base_twist"], around["base_acceleration"]
    want = moved.bind(robot=robot, frames=around["frames"]).jacobian("dq", "v", "a")
    got = aj.inverse_dynamics_derivatives.eager(robot, q, v, a, **around)
    for x, y in zip(got, want.eager(q, np.zeros(robot.nv), v, a, *given), strict=True):
        close(x, y, 1e-12)
    tau = aj.inverse_dynamics.eager(robot, q, v, a, **around)
    dq, dv, dtau = aj.forward_dynamics_derivatives.eager(robot, q, v, tau, **around)
    M = got.da
    close(M @ dtau, np.eye(robot.nv), 1e-9)
    close(M @ dq, -got.dq, 1e-9)
    close(M @ dv, -got.dv, 1e-9)


@pytest.mark.parametrize("name, base", [("ur5_robot", "fixed"), ("panda", "fixed"), ("g1_29dof_rev_1_0", "free"),
                                        ("talos_reduced", "free"), ("solo12", "free"), ("icub", "fixed")])  # fmt: skip
def test_real_robots_against_pinocchio(name, base):
    robot, model = frictionless(aj.load(urdf(name), base=base)), pinocchio_model(urdf(name), base)
    robot = robot.replace(armature=0 * robot.armature)
    data, E = model.createData(), velocity_map(model, robot)
    model.armature[:] = 0
    for seed in range(3):
        q, v, a = sample(robot, seed)
        at = pinocchio_q(model, robot, q)
        want = pin.computeRNEADerivatives(model, data, at, E @ v, E @ a)
        M = np.triu(want[2]) + np.triu(want[2], 1).T
        got = aj.inverse_dynamics_derivatives.eager(robot, q, v, a)
        for x, y in zip(got, (want[0], want[1], M), strict=True):
            close(x, E.T @ y @ E, 1e-9)  # right angles, written with ten digits in URDF, are exact in ours
        if robot.mimics:
            continue  # Pinocchio's mimics move on their own
        slack = np.finfo(float).eps * np.linalg.cond(M) * 100
        tau = aj.inverse_dynamics.eager(robot, q, v, a)
        want = pin.computeABADerivatives(model, data, at, E @ v, E @ tau)
        for x, y in zip(aj.forward_dynamics_derivatives.eager(robot, q, v, tau), want, strict=True):
            y = np.triu(y) + np.triu(y, 1).T if y is want[2] else y
            close(x, E.T @ y @ E, max(slack, 1e-9))


def test_laws():
    """∂τ/∂a is M; ∂φ/∂q is symmetric (a Hessian); τ(v) is quadratic, so ∂τ/∂v at ±v differs by sign."""
    robot = frictionless(tree(1, 8, ONE_DOF))
    q, v, _ = sample(robot)
    rest = np.zeros(robot.nv)
    still = aj.inverse_dynamics_derivatives.eager(robot, q, rest, rest)
    close(still.da, aj.mass_matrix.eager(robot, q), 1e-13)
    close(still.dq, still.dq.T, 1e-13)
    close(still.dv, rest * rest[:, None], 1e-300)
    there = aj.inverse_dynamics_derivatives.eager(robot, q, v, rest).dv
    close(aj.inverse_dynamics_derivatives.eager(robot, q, -v, rest).dv, -there, 1e-14)
    # Euler's theorem of homogeneous functions
    close(there @ v / 2, aj.coriolis_matrix.eager(robot, q, v) @ v, 1e-12)


def test_other_frames_give_the_same():
    robot = tree(1, 8)
    q, v, a = sample(robot)
    got = aj.inverse_dynamics_derivatives.eager(robot, q, v, a)
    for x, y in zip(got, aj.inverse_dynamics_derivatives.eager(robot.reframed("com"), q, v, a), strict=True):
        close(y, x, 1e-11)


def test_a_free_base_does_not_feel_where_it_is():
    """Gravity is uniform: torques do not change as the base slides; without gravity, nor as it turns."""
    robot = on_free_base(robots.puma560())
    q, v, a = sample(robot)
    dq = aj.inverse_dynamics_derivatives.eager(robot, q, v, a).dq
    assert np.abs(dq[:, 3:6]).max() == 0
    weightless = aj.inverse_dynamics_derivatives.eager(robot, q, v, a, gravity=np.zeros(3)).dq
    assert np.abs(weightless[:, :6]).max() == 0


@pytest.mark.slow
def test_batches_run_as_machine_code():
    robot, rng = robots.puma560(), np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 17, 6))
    got = aj.inverse_dynamics_derivatives(robot, q, v, a)
    assert got.dq.shape == got.dv.shape == got.da.shape == (17, 6, 6)
    for k in (0, 16):
        for x, y in zip(got, aj.inverse_dynamics_derivatives.eager(robot, q[k], v[k], a[k]), strict=True):
            close(x[k], y, 1e-13)
    tau = aj.inverse_dynamics(robot, q, v, a)
    by = aj.forward_dynamics_derivatives(robot, q, v, tau)
    close(got.da @ by.dq, -got.dq, 1e-12)


def test_no_degrees_of_freedom():
    robot, empty = robots.chain(0), np.zeros(0)
    for fn in (aj.inverse_dynamics_derivatives, aj.forward_dynamics_derivatives):
        assert [x.shape for x in fn.eager(robot, empty, empty, empty)] == [(0, 0)] * 3
    for fn in (aj.dynamics.inverse_dynamics_second_derivatives, aj.dynamics.forward_dynamics_second_derivatives):
        assert [x.shape for x in fn.eager(robot, empty, empty, empty)] == [(0, 0, 0)] * 4
    for fn in (aj.dynamics.inverse_dynamics_hessian, aj.dynamics.forward_dynamics_hessian):
        assert [x.shape for x in fn.eager(robot, empty, empty, empty, empty)] == [(0, 0)] * 4
    assert aj.linearize(robot, empty, empty, empty).A.shape == (0, 0)


def test_a_singular_mass_matrix_is_named():
    robot = robots.planar(2)
    robot = robot.replace(inertias=0 * robot.inertias)
    with pytest.raises(ArgumentError, match="no inertia against joint"):
        aj.forward_dynamics_derivatives.eager(robot, *np.zeros((3, 2)))


# --- second derivatives -----------------------------------------------------------------------------------------------


def differences(first, robot, q, v, u, h=1e-5):
    """Central differences of first derivatives along q and v: (3, nv, nv, nv) each, last index the direction."""
    by_q, by_v = [], []
    for e in h * np.eye(robot.nv):
        up, down = (first(robot, aj.integrate.eager(robot, q, x), v, u) for x in (e, -e))
        by_q.append([(x - y) / (2 * h) for x, y in zip(up, down, strict=True)])
        up, down = first(robot, q, v + e, u), first(robot, q, v - e, u)
        by_v.append([(x - y) / (2 * h) for x, y in zip(up, down, strict=True)])
    return np.moveaxis(by_q, 0, -1), np.moveaxis(by_v, 0, -1)


PAIRS = {
    "inverse": (
        aj.dynamics.inverse_dynamics_second_derivatives,
        aj.dynamics.inverse_dynamics_hessian,
        aj.inverse_dynamics_derivatives,
    ),
    "forward": (
        aj.dynamics.forward_dynamics_second_derivatives,
        aj.dynamics.forward_dynamics_hessian,
        aj.forward_dynamics_derivatives,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("which", PAIRS)
@pytest.mark.parametrize("seed", [0, 1])  # with mimics, and with every kind of joint
def test_second_derivatives(which, seed):
    """Differences of the first ones; the contraction with weights; symmetry."""
    tensor, contracted, first = PAIRS[which]
    robot = tree(seed, 4)
    q, v, u = sample(robot)
    got = tensor.eager(robot, q, v, u)
    by_q, by_v = differences(first.eager, robot, q, v, u)
    symmetric = (by_q[0] + np.swapaxes(by_q[0], 1, 2)) / 2  # one motion after the other is not symmetric
    for x, want in zip(got, (symmetric, by_q[1], by_v[1], by_q[2]), strict=True):
        close(x, want, 1e-7)  # differences: h² and eps/h
    close(got.dqdq, np.swapaxes(got.dqdq, 1, 2), 1e-12)
    close(got.dvdv, np.swapaxes(got.dvdv, 1, 2), 1e-12)
    w = np.random.default_rng(0).normal(size=robot.nv)
    for x, y in zip(contracted.eager(robot, q, v, u, w), got, strict=True):
        close(x, np.tensordot(w, y, 1), 1e-11)


def test_second_derivatives_run_as_machine_code():
    robot, rng = robots.two_link(), np.random.default_rng(0)
    q, v, a, w = rng.normal(size=(4, 9, 2))
    got = aj.dynamics.inverse_dynamics_second_derivatives(robot, q, v, a)
    close(aj.dynamics.inverse_dynamics_hessian(robot, q, v, a, w).dqdq, np.einsum("bi,bijk->bjk", w, got.dqdq), 1e-12)
    assert got.dudq.shape == (9, 2, 2, 2)


# --- linear systems ---------------------------------------------------------------------------------------------------


def flow(robot, q, v, tau, dt):
    """The state after dt of the dynamics, by a Runge-Kutta method of order 8 in coordinates about q."""
    n = robot.nv

    def rate(_, x):
        here = aj.integrate.eager(robot, q, x[:n])
        # the coordinates' own rate: that of integrate along v
        return np.concatenate([slope(robot, q, x[:n], x[n:]), aj.forward_dynamics.eager(robot, here, x[n:], tau)])

    x = solve_ivp(rate, (0, dt), np.concatenate([np.zeros(n), v]), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return aj.integrate.eager(robot, q, x[:n]), x[n:]


def slope(robot, q, x, v, h=1e-6):
    """d/dt of the coordinates x, q ⊕ x moving with v, by central differences."""
    here = aj.integrate.eager(robot, q, x)
    up, down = (aj.difference.eager(robot, q, aj.integrate.eager(robot, here, s * h * v)) for s in (1, -1))
    return (up - down) / (2 * h)


def error_of(robot, state, other):
    return np.concatenate([aj.difference.eager(robot, state[0], other[0]), other[1] - state[1]])


@pytest.mark.slow
def test_the_discrete_system_follows_the_motion():
    """Errors of a state move as A and B say, up to what A changes within the step: O(dt²) for all of them."""
    robot = robots.random_tree(3, 3, ["free", "revolute", "spherical"])
    q, v, tau = sample(robot)
    h = 1e-4

    def defect(dt):
        A, B = aj.linearize(robot, q, v, tau, dt=dt)
        start = flow(robot, q, v, tau, dt)
        found = []
        for e in h * np.eye(3 * robot.nv)[:: robot.nv - 1]:
            dq, dv, du = np.split(e, 3)
            there = flow(robot, aj.integrate.eager(robot, q, dq), v + dv, tau + du, dt)
            expected = A @ np.concatenate([dq, dv]) + B @ du
            found.append(np.abs(error_of(robot, start, there) - expected).max() / h)
        return max(found)

    coarse, fine = defect(4e-2), defect(2e-2)
    assert fine < coarse / 3  # second order: 4
    assert fine < 0.1


def test_linearize_about_rest_is_exact():
    """A pendulum hanging at rest: x' = A x with frequency √(m g c/I), and its matrix exponential in discrete time."""
    robot = robots.planar(1).replace(gravity=np.array([0.0, -9.81, 0.0]))
    hanging = np.array([-np.pi / 2])
    zero = np.zeros(1)
    A, B = aj.linearize(robot, hanging, zero, zero)
    m, h, I = robot.inertias[0][0], robot.inertias[0][1], robot.inertias[0][9]
    assert m > 0
    close(A, [[0, 1], [-9.81 * h / I, 0]], 1e-12)
    close(B, [[0], [1 / I]], 1e-12)
    w, dt = np.sqrt(9.81 * h / I), 0.1
    Ad, Bd = aj.linearize(robot, hanging, zero, zero, dt=dt)
    close(Ad, [[np.cos(w * dt), np.sin(w * dt) / w], [-w * np.sin(w * dt), np.cos(w * dt)]], 1e-12)
    close(Bd, [[(1 - np.cos(w * dt)) / w**2 / I], [np.sin(w * dt) / w / I]], 1e-12)


@pytest.mark.slow
def test_linearize_a_trajectory_at_once():
    robot, rng = robots.scara(), np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 50, robot.nv))
    A, B = aj.linearize(robot, q, v, tau, dt=0.01)
    assert A.shape == (50, 2 * robot.nv, 2 * robot.nv) and B.shape == (50, 2 * robot.nv, robot.nv)
    one = aj.linearize(robot, q[7], v[7], tau[7], dt=0.01)
    close(A[7], one.A, 1e-12)
    close(B[7], one.B, 1e-12)


def test_linearize_speaks_of_itself():
    robot = robots.planar(2)
    with pytest.raises(ArgumentError, match=r"linearize: argument 'tau' has shape \(3,\)"):
        aj.linearize(robot, *np.zeros((2, 2)), np.zeros(3))
    with pytest.raises(ArgumentError, match="linearize needs a Robot"):
        aj.linearize("puma", *np.zeros((3, 2)))


def test_linear_systems_can_be_lifted():
    from adjoint.dynamics.linearization import continuous

    robot = robots.planar(2)
    heavier = continuous.bind(robot, lift="inertias")(*np.ones((3, 2)), inertias=2 * robot.inertias)
    close(heavier.A, aj.linearize(robot.replace(inertias=2 * robot.inertias), *np.ones((3, 2))).A)


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf, [0.1, 0.2], "fast"])
def test_bad_time_steps(dt):
    with pytest.raises(ArgumentError, match="time step dt"):
        aj.linearize(robots.planar(1), *np.zeros((3, 1)), dt=dt)
