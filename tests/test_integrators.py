"""Integrators: measured orders, other formulations of the same motion, and what happens at their limits."""

# pyright: reportAttributeAccessIssue=false
# (mujoco's compiled module has no types)

from pathlib import Path

import mpmath
import mujoco
import numpy as np
import pytest
from scipy.linalg import expm
from support.mujoco_models import by_mujoco, qpos_of, rates_map
from support.trees import frictionless, tree

import adjoint as aj
from adjoint import control, robots
from adjoint.dynamics.closed_loops import Loop
from adjoint.errors import ArgumentError
from adjoint.lie import inertia, so3
from adjoint.simulation import adaptive, change, force, scipy_run, simulate, variational
from adjoint.simulation.integrators import INTEGRATORS
from adjoint.simulation.rollouts import rollout_kernel

MODELS = Path(__file__).parent / "models"
ORDERS = {"semi_implicit": 1, "rk4": 4, "rkmk4": 4, "implicit": 2, "variational": 2}
MANIFOLD = tree(1, 3, ("free", "spherical", "planar"))
EXACT = adaptive(rtol=1e-13, atol=1e-13)


def start(robot, seed=0):
    rng = np.random.default_rng(seed)
    return {"q": aj.random_configuration(robot, rng=rng), "v": rng.normal(size=robot.nv)}


def apart(robot, one, other):
    """The largest difference of the last states of two runs."""
    return max(np.abs(aj.difference(robot, one.q[-1], other.q[-1])).max(), np.abs(one.v[-1] - other.v[-1]).max())


def measured_order(robot, integrator, exact, dts, **options):
    """The slope of log(error) over log(dt)."""
    runs = [simulate(robot, duration=0.16, dt=dt, integrator=integrator, **options) for dt in dts]
    first, second = (apart(robot, run, exact) for run in runs)
    return np.log(first / second) / np.log(dts[0] / dts[1])


def moving_wrench(robot, p, t, q, v):
    return np.concatenate([p.moment * np.cos(9 * t) - 0.1 * v[:3], np.sin(q[:3])])


# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDERS)
def test_order_for_joints_of_one_degree_of_freedom(name):
    robot = frictionless(robots.puma560())
    begin = start(robot)
    exact = simulate(robot, **begin, duration=0.16, dt=0.08, integrator=EXACT)
    found = measured_order(robot, name, exact, (0.01, 0.005), **begin)
    assert found == pytest.approx(ORDERS[name], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDERS)
def test_order_for_all_joints(name):
    """Damping and a wrench that depends on time and state take part. Without dexp⁻¹, rk4 is of order 2 here."""
    robot = MANIFOLD.replace(friction=np.zeros(MANIFOLD.nv))
    acting = force(moving_wrench, frame="tool", moment=np.ones(3))
    begin = {**start(robot), "forces": acting}
    exact = simulate(robot, **begin, duration=0.16, dt=0.08, integrator=EXACT)
    found = measured_order(robot, name, exact, (0.005, 0.0025), **begin)
    assert found == pytest.approx(2 if name == "rk4" else ORDERS[name], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["variational", "implicit"])
def test_order_with_mimics(name):
    robot = frictionless(tree(0, 5, ("revolute", "mimic", "spherical")))
    assert robot.mimics
    begin = start(robot)
    exact = simulate(robot, **begin, duration=0.16, dt=0.08, integrator=EXACT)
    assert measured_order(robot, name, exact, (0.005, 0.0025), **begin) == pytest.approx(2, abs=0.1)


def test_munthe_kaas_is_runge_kutta_where_joints_have_one_degree_of_freedom():
    robot = robots.puma560()
    one, other = (simulate(robot, **start(robot), duration=0.1, dt=0.01, integrator=k) for k in ("rk4", "rkmk4"))
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.v, other.v)


@pytest.mark.parametrize("name", ["rk4", "rkmk4"])
def test_stages_are_the_same_in_a_loop(name):
    """Large robots have their stages in a loop."""
    robot, step, begin = MANIFOLD, INTEGRATORS[name].step, start(MANIFOLD)

    def plant(t, q, v):
        return aj.forward_dynamics(robot, q, v, np.cos(t) - v)

    given = robot, plant, 0.3, begin["q"], begin["v"], 0.01
    for one, other in zip(step._means(*given), step._means_by_loop(*given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_order_of_a_large_robot():
    robot = frictionless(robots.chain(14))
    begin = {"q": start(robot)["q"] * 0.2, "v": np.zeros(14)}
    exact = simulate(robot, **begin, duration=0.16, dt=0.01, integrator=EXACT)
    assert measured_order(robot, "rk4", exact, (0.004, 0.002), **begin) == pytest.approx(4, abs=0.1)


# --- references -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_double_pendulum_as_taylor_series_have_it():
    """mpmath's Taylor series of 30 digits; M and the gravity of a double pendulum have five numbers."""
    robot = frictionless(robots.two_link())
    M_0, M_1 = aj.mass_matrix(robot, [0.0, 0.0]), aj.mass_matrix(robot, [0.0, np.pi / 2])
    b, d = M_0[0, 1] - M_1[0, 1], M_0[1, 1]  # M_12 = d + b cos q_2
    second = aj.gravity_torque(robot, [0.0, 0.0])[1]
    first = aj.gravity_torque(robot, [0.0, 0.0])[0] - second

    def rates(_, y):
        q_1, q_2, v_1, v_2 = y
        c, s = mpmath.cos(q_2), mpmath.sin(q_2)
        M = mpmath.matrix([[M_1[0, 0] + 2 * b * c, d + b * c], [d + b * c, d]])
        g_2 = second * mpmath.cos(q_1 + q_2)
        bias = [-b * s * (2 * v_1 * v_2 + v_2**2) + first * mpmath.cos(q_1) + g_2, b * s * v_1**2 + g_2]
        a = mpmath.lu_solve(M, mpmath.matrix([-x for x in bias]))
        return [v_1, v_2, a[0], a[1]]

    with mpmath.workdps(30):
        exact = np.array(mpmath.odefun(rates, 0, [mpmath.mpf(1), 0.5, 0, 0])(0.25), float)

    def error(integrator, dt):
        run = simulate(robot, q=[1.0, 0.5], duration=0.25, dt=dt, integrator=integrator)
        return np.abs(np.concatenate([run.q[-1], run.v[-1]]) - exact).max()

    assert error(EXACT, 0.05) < 1e-12
    for name, order in ORDERS.items():
        assert np.log2(error(name, 0.005) / error(name, 0.0025)) == pytest.approx(order, abs=0.1)


def spinning_top():
    """A free body with two equal moments of inertia."""
    J = inertia.cylinder(2.0, 0.1, 0.5)
    robot = robots.random_tree(0, 1, ["free"])
    return robot.replace(
        inertias=np.array([J]), gravity=np.zeros(3), placements=np.eye(4)[None], screws=np.eye(6),
        damping=np.zeros(6), friction=np.zeros(6), armature=np.zeros(6),
    ), J  # fmt: skip


def top_error(integrator, dt):
    """How far a top is from R(t) = exp(t L/I) exp(t (1 - I₃/I) ω₃ e₃), the sum of two steady rotations, after 2 s."""
    robot, J = spinning_top()
    I, w, t = inertia.moments(J).second, np.array([1.0, -0.5, 4.0]), 2.0
    run = simulate(robot, v=[*w, 0.3, 0.1, 0], duration=t, dt=dt, integrator=integrator)
    turned = expm(t * so3.hat(I @ w / I[0, 0])) @ expm(t * so3.hat([0, 0, (1 - I[2, 2] / I[0, 0]) * w[2]]))
    q, v = run.q[-1], run.v[-1]
    errors = so3.from_quat_wxyz(q[3:]) - turned, turned @ I @ v[:3] - I @ w, q[:3] - [0.3 * t, 0.1 * t, 0]
    return max(np.abs(error).max() for error in errors)


@pytest.mark.slow
def test_symmetric_top_moves_as_euler_has_it():
    assert top_error(EXACT, 0.1) < 1e-11
    for name, order in (ORDERS | {"rk4": 2}).items():
        assert np.log2(top_error(name, 0.01) / top_error(name, 0.005)) == pytest.approx(order, abs=0.1)


@pytest.mark.slow
def test_scipy_runs_the_same_motion():
    robot = frictionless(MANIFOLD)
    begin = {**start(robot), "duration": 0.2, "dt": 0.1}
    exact = simulate(robot, **begin, integrator=EXACT)
    for method, slack in (("DOP853", 1e-9), ("RK45", 1e-7), ("Radau", 1e-9), ("LSODA", 1e-6), ("BDF", 1e-6)):
        run = scipy_run(robot, **begin, method=method)
        assert apart(robot, run, exact) < slack
        np.testing.assert_allclose(run.t, exact.t)
        assert run.a.shape == run.v.shape


@pytest.mark.slow
def test_scipy_asks_a_controller_continuously():
    """The held torques of `simulate` come near to it with dt."""
    robot = frictionless(robots.two_link())
    law = control.pd(np.zeros(2), kp=30.0, kd=10.0)
    exact = scipy_run(robot, law, q=[0.3, 0.4], duration=0.5, dt=0.25)
    errors = [
        apart(robot, simulate(robot, law, q=[0.3, 0.4], duration=0.5, dt=dt, integrator="rk4"), exact)
        for dt in (0.002, 0.001)
    ]
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.1)
    along = aj.trajectory.quintic([0, 0], [0.2, 0.1], duration=0.5)
    law = control.computed_torque(robot, along, kp=100.0, kd=20.0)
    run = scipy_run(robot, law, q=[0.0, 0.0], duration=0.5, dt=0.25)
    np.testing.assert_allclose(run.q[-1], [0.2, 0.1], atol=1e-7)


# --- MuJoCo -----------------------------------------------------------------------------------------------------------


def mujoco_pair(name, integrator, dt):
    robot = frictionless(aj.load(MODELS / name))
    model, data = by_mujoco(MODELS / name)
    model.opt.timestep, model.opt.integrator = dt, integrator
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_EULERDAMP
    model.dof_damping[:], model.dof_frictionloss[:] = 0, 0
    return robot, model, data


def mujoco_end(robot, model, data, q, v, steps):
    data.qpos[:], data.qvel[:] = qpos_of(robot, model, q), rates_map(robot, model, q) @ v
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return data.qpos.copy(), data.qvel.copy()


@pytest.mark.parametrize("name, theirs", [("semi_implicit", "mjINT_EULER"), ("rk4", "mjINT_RK4")])
def test_arms_move_as_in_mujoco(name, theirs):
    """Step by step, to rounding: 100 steps of an arm without friction, whose motion doubles errors a few times."""
    robot, model, data = mujoco_pair("arm.xml", getattr(mujoco.mjtIntegrator, theirs), 0.002)
    begin = start(robot)
    run = simulate(robot, **begin, duration=0.2, dt=0.002, integrator=name)
    qpos, qvel = mujoco_end(robot, model, data, **begin, steps=100)
    np.testing.assert_allclose(qpos_of(robot, model, run.q[-1]), qpos, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.v[-1], qvel, rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name, theirs, order", [("semi_implicit", "mjINT_EULER", 1), ("rk4", "mjINT_RK4", 2)])
def test_a_free_base_moves_as_in_mujoco_to_the_order_of_the_method(name, theirs, order):
    """MuJoCo moves free joints along straight lines, we move them along screws: both come near to the same motion."""
    robot, *_ = mujoco_pair("floating.xml", 0, 0.01)
    begin = start(robot)

    def gap(dt):
        robot, model, data = mujoco_pair("floating.xml", getattr(mujoco.mjtIntegrator, theirs), dt)
        run = simulate(robot, **begin, duration=0.16, dt=dt, integrator=name)
        qpos, _ = mujoco_end(robot, model, data, **begin, steps=round(0.16 / dt))
        return np.abs(aj.difference(robot, run.q[-1], qpos)).max()

    assert np.log2(gap(0.004) / gap(0.002)) == pytest.approx(order, abs=0.2)


# --- one run and a batch, compiled and eager --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_batch_has_the_same_bits_as_single_runs(name):
    robot = tree(1, 2, ("revolute", "spherical"))
    rng = np.random.default_rng(3)
    q, v = aj.random_configuration(robot, 11, rng=rng), 3 * rng.normal(size=(11, robot.nv))
    options = {"duration": 0.1, "dt": 0.02, "integrator": name}
    batch = simulate(robot, q=q, v=v, **options)
    for k in range(0, 11, 5):
        one = simulate(robot, q=q[k], v=v[k], **options)
        assert np.array_equal(one.q, batch.q[k])
        assert np.array_equal(one.v, batch.v[k])


@pytest.mark.parametrize("name", INTEGRATORS)
def test_compiled_runs_are_eager_runs(name):
    robot = frictionless(robots.two_link())
    run = simulate(robot, q=[1.0, 0.5], duration=0.04, dt=0.02, integrator=name)
    memory = {k: np.zeros(()) for k in run.setup.plan.memory.names("memory")}
    found = rollout_kernel(run.setup.plan).eager(
        q=run.q[0], v=run.v[0], blocks=np.arange(2.0), first=0.0, t_0=0.0, dt=0.02, stopped=np.inf, **memory
    )
    np.testing.assert_allclose(found.q, run.q[1:], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.v, run.v[1:], rtol=0, atol=1e-12)


def test_integrators_of_the_same_options_are_the_same():
    assert adaptive(1e-6, 1e-7) == adaptive(1e-6, 1e-7)
    assert adaptive(1e-6, 1e-7) != adaptive(1e-6, 1e-8)
    assert variational() == INTEGRATORS["variational"]


# --- adaptive ---------------------------------------------------------------------------------------------------------


def test_adaptive_errors_follow_the_tolerance():
    robot = frictionless(robots.two_link())
    options = {"q": [1.0, 0.5], "duration": 2.0, "dt": 0.5}
    exact = simulate(robot, **options, integrator=EXACT)
    errors = [
        apart(robot, simulate(robot, **options, integrator=adaptive(tol, tol)), exact) for tol in (1e-4, 1e-6, 1e-8)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-5


def test_adaptive_steps_belong_to_their_run():
    """A fast run takes shorter steps than a slow one beside it."""
    robot = frictionless(robots.two_link())
    run = simulate(robot, q=[1.0, 0.5], v=[[0.0, 0], [30, -20]], duration=0.5, dt=0.1, integrator="adaptive")
    slow, fast = run.end.ends["memory_step"]
    assert fast < slow / 3


@pytest.mark.slow
def test_long_intervals_at_narrow_tolerances_need_more_steps():
    robot, options = aj.robots.puma560(), {"q": np.full(6, 0.1), "duration": 10.0}
    finite = [
        simulate(robot, dt=dt, integrator=adaptive(1e-12, 1e-12, most), **options).finite
        for dt, most in ((10.0, 1000), (10.0, 10000), (1.0, 1000))
    ]
    assert finite == [False, True, True]


def test_adaptive_runs_out_of_steps_in_its_own_run():
    robot = frictionless(robots.two_link())
    v = [[0.0, 0], [300, -200], [np.nan, 0]]
    few = adaptive(1e-6, 1e-8, max_steps=20)
    run = simulate(robot, q=[1.0, 0.5], v=v, duration=0.2, dt=0.1, integrator=few)
    assert np.isfinite(run.q[0]).all()
    assert np.isnan(run.q[1:, -1]).all()
    alone = simulate(robot, q=[1.0, 0.5], v=v[0], duration=0.2, dt=0.1, integrator=few)
    assert np.array_equal(alone.q, run.q[0])


# --- implicit ---------------------------------------------------------------------------------------------------------


def stiff_spring(robot, p, t, q, v):
    return -p.stiffness * (q - 0.1) - p.damping * v


@pytest.mark.parametrize("stiffness, damping", [(1e8, 0.0), (1e8, 1e4), (1e3, 1e7)])
def test_implicit_steps_of_any_size_stay_bounded(stiffness, damping):
    """Explicit methods blow up: a period of the spring is far below dt. It comes to rest where gravity is balanced."""
    robot = frictionless(robots.two_link())
    options = {"q": [0.2, 0.2], "forces": force(stiff_spring, stiffness=stiffness, damping=damping)}
    run = simulate(robot, duration=2.0, dt=0.01, integrator="implicit", **options)
    assert np.abs(run.q - 0.1).max() < 0.2
    if stiffness == 1e8:
        rest = 0.1 - aj.gravity_torque(robot, run.q[-1]) / stiffness
        np.testing.assert_allclose(run.q[-1], rest, rtol=0, atol=1e-9)
    with np.errstate(all="ignore"):
        for name in ("semi_implicit", "rk4"):
            assert not np.abs(simulate(robot, duration=2.0, dt=0.01, integrator=name, **options).q[-1]).max() < 10


def test_implicit_is_l_stable():
    """One step of a hard spring: what is left of a deflection tends to 0 with 1/stiffness, at least."""
    robot = frictionless(robots.two_link()).replace(gravity=np.zeros(3))
    left = []
    for stiffness in (1e6, 1e8, 1e10):
        acting = force(stiff_spring, stiffness=stiffness, damping=stiffness)
        run = simulate(robot, q=[0.101, 0.1], duration=0.1, dt=0.1, integrator="implicit", forces=acting)
        left.append(np.abs(run.v[-1]).max())
    assert left[1] < 0.02
    assert left[2] <= 1.1 * left[1] <= 1.3 * left[0]


def test_implicit_agrees_with_radau():
    robot = robots.two_link()
    options = {"q": [0.2, 0.2], "duration": 0.5, "forces": force(stiff_spring, stiffness=1e4, damping=1e5)}
    exact = scipy_run(robot, dt=0.25, **options)
    run = simulate(robot, dt=0.005, integrator="implicit", **options)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_implicit_steps_of_closed_loops_and_moving_bases():
    """A triangle whose tip is pinned to the base, and a base that is shaken: of order 2, too."""
    robot = frictionless(robots.planar(4))
    loop = Loop("base", "tool", "point")
    q = aj.dynamics.close_loops(robot, [loop], [0.3, 1.5, 1.2, 1.9])
    shaken = change(lambda r, p, t: (r.gravity, np.zeros(6), np.stack([0 * t, 0, 0, np.sin(9 * t), 0, 0])))
    for options in ({"loops": loop, "q": q}, {"base": shaken, "q": [0.1, 0.2, 0.3, 0.4]}):
        exact = simulate(robot, duration=0.16, dt=0.0005, integrator="rk4", **options)
        assert measured_order(robot, "implicit", exact, (0.01, 0.005), **options) == pytest.approx(2, abs=0.2)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda r: simulate(r, duration=1, dt=0.1, integrator="rk5"), "'rk5'; there are 'semi_implicit'"),
        (lambda r: simulate(r, duration=1, dt=0.1, integrator="Radau"), r"scipy_run\(..., method='Radau'\)"),
        (lambda r: simulate(r, duration=1, dt=0.1, integrator=4), "integrator is 4"),
        (lambda r: adaptive(rtol=0), "adaptive: rtol"),
        (lambda r: adaptive(atol=np.nan), "adaptive: atol"),
        (lambda r: adaptive(max_steps=0), "max_steps must be 1 or more"),
        (lambda r: variational(-1e-12), "variational: tolerance"),
        (lambda r: scipy_run(r, duration=1, dt=0.1, method="rk4"), "method is 'rk4'; it must be one of 'RK23'"),
        (lambda r: scipy_run(r, duration=1, dt=0.1, rtol=-1), "scipy_run: rtol"),
        (lambda r: scipy_run(r, q=np.zeros((3, 2)), duration=1, dt=0.1), r"leading axes \(3,\)"),
        (lambda r: scipy_run(r, q=np.zeros(3), duration=1, dt=0.1), r"\(\.\.\., 2\) is needed"),
        (lambda r: scipy_run(r, duration=1, dt=0.3), "not a whole number of steps"),
        (lambda r: scipy_run(r, counting(), duration=1, dt=0.1), "the law has a state"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(robots.two_link())


def _counted(robot, p, state, t, q, v, reference):
    return np.zeros(robot.nv), state + 1


def counting():
    return control.law(_counted, state=0.0, follows=None)


@pytest.mark.slow
def test_scipy_says_why_it_stops():
    robot = robots.two_link()
    wild = force(lambda robot, p, t, q, v: 1e3 * v * np.sum(v * v))
    for method in ("LSODA", "Radau"):
        with pytest.raises(aj.errors.SolveError, match="no motion after t = 0 s"), np.errstate(all="ignore"):
            scipy_run(robot, v=[1.0, 1.0], duration=10.0, dt=0.1, forces=wild, method=method)
